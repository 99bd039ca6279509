//! The programs in `examples`: each runs to its end.

#[path = "../../examples/accounts.rs"]
mod accounts;
#[path = "../../examples/parcels.rs"]
mod parcels;

#[test]
fn examples_run() {
    accounts::main().expect("accounts");
    parcels::main().expect("parcels");
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).expect("the folder");
    assert_eq!(files.count(), 2, "an example that this test does not run");
}
