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
fn operators_breakers_and_types_are_named_in_no_more_files_than_before() {
    use xtask::house::{AGGREGATES, BREAKERS, OPERATORS, TYPES, check, named};
    for house in [OPERATORS, BREAKERS, AGGREGATES, TYPES] {
        let named = named(&house, &xtask::root()).unwrap();
        let wrong = check(&house, &named);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
