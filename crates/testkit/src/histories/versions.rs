//! The order of the versions of lists and registers.

use super::{Anomaly, Finding, History, Key, Operation, Transaction};
use std::collections::{BTreeMap, BTreeSet};

/// The writer of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    /// Position of the transaction.
    pub by: usize,
    /// It was committed and not undone.
    pub is_effective: bool,
    /// Its transaction wrote the key no later, save what was undone.
    pub is_last: bool,
}

/// Values with their writers, and the versions that follow each other.
#[derive(Debug, Default)]
pub(super) struct Versions<'a> {
    written: BTreeMap<(Key, u64), Written>,
    /// The version that overwrote a version.
    next: BTreeMap<(Key, u64), u64>,
    /// All versions of each list.
    lists: BTreeMap<Key, &'a [u64]>,
}

/// Key and value of a write.
fn write_of(operation: &Operation) -> Option<(Key, u64)> {
    match operation {
        Operation::Append { key, value } | Operation::Write { key, value, .. } => Some((*key, *value)),
        Operation::ReadList { .. } | Operation::ReadRegister { .. } | Operation::BackTo(_) => None,
    }
}

/// Writes of a transaction that stand before operation `at`, in their order.
pub(super) fn standing(
    transaction: &Transaction,
    at: usize,
) -> impl DoubleEndedIterator<Item = (usize, Key, u64)> + '_ {
    let before = transaction.operations[..at].iter().enumerate();
    before
        .filter_map(|(position, operation)| write_of(operation).map(|(key, value)| (position, key, value)))
        .filter(move |(position, ..)| !transaction.is_undone(*position, at))
}

impl<'a> Versions<'a> {
    /// The order of versions, and the anomalies that it shows by itself.
    pub fn of(history: &'a History) -> (Versions<'a>, Vec<Finding>) {
        let mut versions = Versions::default();
        for (by, transaction) in history.transactions.iter().enumerate() {
            versions.note_writes(by, transaction);
        }
        let mut findings = Vec::new();
        for (key, list) in &history.lists {
            versions.note_list(*key, list, &mut findings);
        }
        for (by, transaction) in history.transactions.iter().enumerate() {
            versions.follow_registers(by, transaction, &mut findings);
            findings.extend(versions.missing_appends(by, transaction));
        }
        (versions, findings)
    }

    fn note_writes(&mut self, by: usize, transaction: &Transaction) {
        for (key, value) in transaction.operations.iter().filter_map(write_of) {
            let written = Written {
                by,
                is_effective: false,
                is_last: false,
            };
            let twice = self.written.insert((key, value), written);
            assert!(twice.is_none(), "two writes of the value {value}");
        }
        if !transaction.committed {
            return;
        }
        let mut later = BTreeSet::new();
        for (_, key, value) in standing(transaction, transaction.operations.len()).rev() {
            if let Some(written) = self.written.get_mut(&(key, value)) {
                written.is_effective = true;
                written.is_last = later.insert(key);
            }
        }
    }

    fn note_list(&mut self, key: Key, list: &'a [u64], findings: &mut Vec<Finding>) {
        for pair in list.windows(2) {
            self.next.insert((key, pair[0]), pair[1]);
        }
        let mut found = |anomaly, transactions| {
            findings.push(Finding {
                anomaly,
                transactions,
                key,
            });
        };
        let mut seen = BTreeSet::new();
        for value in list {
            match self.written.get(&(key, *value)) {
                Some(written) if !seen.insert(value) => {
                    found(Anomaly::IncompatibleOrder, vec![written.by]);
                }
                Some(written) if written.is_effective => {}
                Some(written) => found(Anomaly::AbortedRead, vec![written.by]),
                None => found(Anomaly::AbortedRead, Vec::new()),
            }
        }
        self.lists.insert(key, list);
    }

    /// Reads from the writes of registers which version followed which.
    fn follow_registers(&mut self, by: usize, transaction: &Transaction, findings: &mut Vec<Finding>) {
        for operation in &transaction.operations {
            let Operation::Write {
                key,
                value,
                before: Some(before),
                ..
            } = operation
            else {
                continue;
            };
            if !self.is_effective(*key, *value) {
                continue;
            }
            if let Some(other) = self.next.insert((*key, *before), *value) {
                let other = self.writer(*key, other);
                findings.push(Finding {
                    anomaly: Anomaly::LostWrite,
                    transactions: other.into_iter().chain([by]).collect(),
                    key: *key,
                });
            }
        }
    }

    /// Committed appends that the list at the end does not hold.
    fn missing_appends(&self, by: usize, transaction: &Transaction) -> Vec<Finding> {
        let appends = transaction
            .operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::Append { key, value } => Some((*key, *value)),
                _ => None,
            });
        let missing = appends
            .filter(|(key, value)| self.is_effective(*key, *value) && !self.list(*key).contains(value));
        let finding = |(key, _)| Finding {
            anomaly: Anomaly::LostWrite,
            transactions: vec![by],
            key,
        };
        missing.map(finding).collect()
    }

    pub fn written(&self, key: Key, value: u64) -> Option<Written> {
        self.written.get(&(key, value)).copied()
    }

    pub fn is_effective(&self, key: Key, value: u64) -> bool {
        self.written(key, value)
            .is_some_and(|written| written.is_effective)
    }

    /// Position of the transaction that wrote a version. `None` if that is not in the order of versions.
    pub fn writer(&self, key: Key, value: u64) -> Option<usize> {
        let written = self.written(key, value)?;
        written.is_effective.then_some(written.by)
    }

    /// All versions of a list, in their order.
    pub fn list(&self, key: Key) -> &'a [u64] {
        self.lists.get(&key).copied().unwrap_or_default()
    }

    /// The version that overwrote a version.
    pub fn next(&self, key: Key, value: u64) -> Option<u64> {
        self.next.get(&(key, value)).copied()
    }

    /// Pairs of versions, the second of which overwrote the first.
    pub fn pairs(&self) -> impl Iterator<Item = (Key, u64, u64)> + '_ {
        self.next.iter().map(|((key, value), next)| (*key, *value, *next))
    }
}
