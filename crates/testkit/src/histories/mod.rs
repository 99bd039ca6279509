//! Histories of transactions, and the anomalies that they prove.
//!
//! A history says what each transaction read and wrote, and how it ended. [`check`] looks for anomalies by the method
//! of Kingsbury and Alvaro, *Elle: Inferring Isolation Anomalies from Experimental Observations* (VLDB 2020), with the
//! names of Adya, *Weak Consistency* (1999). The workload makes the order of versions visible:
//!
//! - A **list** only grows. Each transaction appends values that nobody else appends, so whoever reads the list at the
//!   end reads the order of all its versions.
//! - A **register** holds one value. Whoever writes it learns which value it overwrites, so each version names the one
//!   before. A register may be deleted; whoever inserts it again does not learn which delete came before. So its
//!   versions are several chains, and the checker claims nothing about their order.
//!
//! From the versions follow three kinds of dependencies between committed transactions: *ww*, to the transaction that
//! overwrites a version; *wr*, to a transaction that reads it; *rw*, from a transaction that read it to the one that
//! overwrites it. A cycle of them is an anomaly, and its name depends on the number of rw ([`Anomaly`]).
//! A checker that misses something finds too little, never too much: every finding is a proof.

mod dependencies;
mod graph;
#[cfg(test)]
mod planted;
mod versions;

use std::collections::BTreeMap;
use std::fmt;

/// Number of a list or a register. Lists and registers do not share numbers.
pub type Key = u64;

/// One thing that a transaction did. No two writes of a history have the same value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Read a whole list.
    ReadList {
        /// The list.
        key: Key,
        /// All values in it.
        list: Vec<u64>,
    },
    /// Appended a value to a list.
    Append {
        /// The list.
        key: Key,
        /// A new value.
        value: u64,
    },
    /// Read a register.
    ReadRegister {
        /// The register.
        key: Key,
        /// `None` if it is not there.
        value: Option<u64>,
    },
    /// Wrote, inserted or deleted a register.
    Write {
        /// The register.
        key: Key,
        /// A new value. A delete has one of its own, which nobody reads.
        value: u64,
        /// The value that the write overwrote; `None` if the register was not there.
        before: Option<u64>,
        /// True for a delete.
        deletes: bool,
    },
    /// Went back to a savepoint: undid the writes since the operation with this number.
    BackTo(usize),
}

/// A transaction of a history.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    /// It was acknowledged as committed.
    pub committed: bool,
    /// A number of a clock that all transactions share, taken before the first statement was sent.
    pub began: u64,
    /// A number of the same clock, taken after the last statement was answered.
    pub ended: u64,
    /// Reads and writes in the order of their statements. A statement that failed did nothing.
    pub operations: Vec<Operation>,
}

impl Transaction {
    /// True if the write `position` was undone before operation `at`.
    fn is_undone(&self, position: usize, at: usize) -> bool {
        let later = &self.operations[position..at];
        later
            .iter()
            .any(|operation| matches!(operation, Operation::BackTo(first) if *first <= position))
    }
}

/// The operations of all transactions, and the lists when all have ended.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// In any order.
    pub transactions: Vec<Transaction>,
    /// The lists at the end.
    pub lists: BTreeMap<Key, Vec<u64>>,
}

/// Kinds of anomalies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    /// G0: a cycle of ww.
    DirtyWrite,
    /// G1a: a value was read that was rolled back, undone, or never written.
    AbortedRead,
    /// G1b: a value was read that its own transaction overwrote.
    IntermediateRead,
    /// G1c: a cycle of ww and wr.
    CircularInformation,
    /// A committed write without a place in the order of versions: the list at the end lacks it, or another write
    /// overwrote the same version.
    LostWrite,
    /// Two readers of a list saw orders of which neither continues the other.
    IncompatibleOrder,
    /// A transaction did not see its own writes, or saw what it had undone.
    Internal,
    /// A transaction read a version that had been overwritten by a commit that was acknowledged before it began.
    StaleRead,
    /// G-single: a cycle with one rw.
    ReadSkew,
    /// G-single of two transactions on one key: both read a version, and both overwrote it.
    LostUpdate,
    /// G2-item: a cycle with several rw, and none with fewer among its transactions.
    WriteSkew,
}

/// An anomaly of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub anomaly: Anomaly,
    /// Positions of the transactions that prove it, in the order of the cycle if it is one.
    pub transactions: Vec<usize>,
    /// List or register on which the proof ends.
    pub key: Key,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding {
            anomaly,
            transactions,
            key,
        } = self;
        write!(f, "{anomaly:?} of transactions {transactions:?}, key {key}")
    }
}

/// All anomalies of a history.
pub fn check(history: &History) -> Vec<Finding> {
    let (versions, mut findings) = versions::Versions::of(history);
    let (graph, of_reads) = dependencies::dependencies(history, &versions);
    findings.extend(of_reads);
    findings.extend(graph.cycles(&history.transactions));
    findings
}
