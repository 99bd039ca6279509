//! Mutants: faults of a line or two that would lose what was committed or break a rule of locks, each with the test
//! that must notice it. A test that lets its mutant live cannot fail where it should.
//!
//! A copy of the tree has all of them at once: at each place both the line and its fault stand, and a number that the
//! copy reads from its environment when it starts chooses ([`one_tree`]). So the test programs are built once. Each
//! test runs without a fault, where it must pass, and then with each of its mutants, where it must fail ([`run`]).
//!
//! The product has nothing of this. [`check`] sees that each mutant still has its lines and its test.

mod lock_faults;
mod log_faults;
mod one_tree;
mod run;
mod version_faults;

use std::fs;
use std::path::Path;

pub use run::run;

/// A fault, and the test that notices it.
#[derive(Debug)]
pub struct Mutant {
    /// The fault, in words.
    pub name: &'static str,
    /// The file, below `crates`.
    pub file: &'static str,
    /// Texts that stand once in the file each, and what the fault makes of them.
    pub places: &'static [(&'static str, Fault)],
    /// The program of the test.
    pub program: Program,
    /// The test's path in its program.
    pub test: &'static str,
    /// The end of the test.
    pub death: Death,
}

/// A test program, or [`WITHIN`], and the file of the test below `crates`.
pub type Program = (&'static str, &'static str);

/// The tests within a crate.
pub const WITHIN: &str = "--lib";

/// Puts a line and its fault into one program. In the texts, [`SWITCH`] is true if the fault is awake.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// The statement is left out.
    Dropped,
    /// Other statements, or another expression, take the place of these.
    Replaced(&'static str),
    /// Statements that come before the line.
    Preceded(&'static str),
    /// This text has both forms.
    Both(&'static str),
}

/// Asks, in a text, if the fault is awake.
pub const SWITCH: &str = "MUTANT";

/// The end of a test that notices its mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// The test fails.
    Fails,
    /// The test does not end, because somebody waits for ever.
    Hangs,
}

/// All of them. The number of a mutant, from 1 on, is its place here.
pub fn all() -> impl Iterator<Item = (u32, &'static Mutant)> {
    let lists = [log_faults::MUTANTS, lock_faults::MUTANTS, version_faults::MUTANTS];
    (1..).zip(lists.into_iter().flatten())
}

impl Mutant {
    /// The folder of the crate whose test program it is.
    fn tested_in(&self) -> &'static str {
        self.program.1.split('/').next().unwrap_or_default()
    }

    /// The name of the test program in the copy. [`one_tree`] makes one of the tests within a crate.
    fn target(&self) -> String {
        match self.program.0 {
            WITHIN => format!("within_{}", self.tested_in()),
            name => name.to_string(),
        }
    }

    /// True if its test is there.
    fn has_test(&self, root: &Path) -> bool {
        let function = self.test.rsplit("::").next().unwrap_or(self.test);
        let text = fs::read_to_string(root.join("crates").join(self.program.1));
        text.is_ok_and(|text| text.contains(&format!("fn {function}()")))
    }
}

/// Lists what is wrong with the mutants: lines that are gone or no longer unique, and tests that are not there.
pub fn check(root: &Path) -> Vec<String> {
    let mut wrong = one_tree::of(root).err().unwrap_or_default();
    let untested = all().filter(|(_, mutant)| !mutant.has_test(root));
    wrong.extend(untested.map(|(_, m)| format!("{} has no test {}", m.program.1, m.test)));
    wrong
}
