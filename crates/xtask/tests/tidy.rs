//! The tree keeps its rules.

#[test]
fn the_tree_is_tidy() {
    let violations = xtask::tidy::check(&xtask::root()).unwrap();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}
