//! Stages and CLIF of 23 shapes of statements as texts. `FRAZIL_BLESS=1` writes them anew.

use crate::{memory, rows};
use std::fmt::Write;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/database/golden_code.txt");

/// Calling conventions are the platform's.
const CONVENTIONS: [&str; 3] = [" system_v", " apple_aarch64", " windows_fastcall"];

#[test]
fn generated_code_is_as_recorded() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer not null, g smallint not null, b bigint, s text, d decimal(9,2), f double precision, day date)",
    );
    rows(&c, "create table u (a integer not null, x text)");
    rows(
        &c,
        "insert into t values (1, 1, 2, 'three', 4.5, 6.5, '2026-01-01'), (2, 3, null, 'a longer string', 5.5, null, '2026-02-01')",
    );
    rows(&c, "insert into u values (1, 'x'), (2, null)");
    // Without it the columns that a table lends would say so for the rows it happens to have.
    rows(&c, "set frazil.pax_code = gathered");
    let recorded = std::fs::read_to_string(FILE).unwrap();
    let mut now = String::new();
    for section in recorded.split("=== ").filter(|s| !s.is_empty()) {
        let sql = section.split("\n\n").next().unwrap_or_default().trim();
        let stages = rows(&c, &format!("explain (stages) {sql}"));
        let mut clif = rows(&c, &format!("explain (clif) {sql}"));
        for convention in CONVENTIONS {
            clif = clif.replace(convention, "");
        }
        let _ = write!(
            now,
            "=== {sql}\n\n{}\n\n{}\n\n",
            stages.trim_end(),
            clif.trim_end()
        );
    }
    if std::env::var_os("FRAZIL_BLESS").is_some() {
        std::fs::write(FILE, now).unwrap();
        return;
    }
    for (was, is) in recorded.split("=== ").zip(now.split("=== ")) {
        assert_eq!(was, is);
    }
    assert_eq!(recorded, now);
}
