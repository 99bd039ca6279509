//! The tree keeps its rules.

#[test]
fn the_tree_is_tidy() {
    let violations = xtask::tidy::check(&xtask::root()).unwrap();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn every_mutant_has_its_line_and_its_test() {
    let wrong = xtask::mutants::check(&xtask::root());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_operator_is_named_in_no_more_files_than_before() {
    let named = xtask::house::operators(&xtask::root()).unwrap();
    let wrong = xtask::house::check(&named);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
