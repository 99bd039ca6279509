//! Dependencies between transactions, and the anomalies that a single read shows.

use super::graph::{Graph, Kind};
use super::versions::{Versions, standing};
use super::{Anomaly, Finding, History, Key, Operation, Transaction};

/// The dependencies of a history, and what its reads show.
pub(super) fn dependencies(history: &History, versions: &Versions<'_>) -> (Graph, Vec<Finding>) {
    let mut reads = Reads {
        history,
        versions,
        graph: Graph::new(history.transactions.len()),
        findings: Vec::new(),
    };
    for (key, version, next) in versions.pairs() {
        if let (Some(from), Some(to)) = (versions.writer(key, version), versions.writer(key, next)) {
            reads.graph.add(from, to, Kind::Ww, key);
        }
    }
    for (by, transaction) in history.transactions.iter().enumerate() {
        for (at, operation) in transaction.operations.iter().enumerate() {
            match operation {
                Operation::ReadList { key, list } => reads.list(by, at, *key, list),
                Operation::ReadRegister { key, value } => reads.register(by, at, *key, *value),
                Operation::Write { key, before, .. } => reads.register(by, at, *key, *before),
                Operation::Append { .. } | Operation::BackTo(_) => {}
            }
        }
    }
    (reads.graph, reads.findings)
}

/// Goes through the reads of a history. Aborted transactions have no dependencies, but what they read counts.
struct Reads<'a> {
    history: &'a History,
    versions: &'a Versions<'a>,
    graph: Graph,
    findings: Vec<Finding>,
}

impl<'a> Reads<'a> {
    fn transaction(&self, by: usize) -> &'a Transaction {
        &self.history.transactions[by]
    }

    fn found(&mut self, anomaly: Anomaly, transactions: &[usize], key: Key) {
        self.findings.push(Finding {
            anomaly,
            transactions: transactions.to_vec(),
            key,
        });
    }

    /// True if a value is the reader's own, or was committed and not undone. Else notes an aborted read.
    fn stands(&mut self, by: usize, key: Key, value: u64) -> bool {
        match self.versions.written(key, value) {
            Some(written) if written.by == by || written.is_effective => true,
            Some(written) => {
                self.found(Anomaly::AbortedRead, &[written.by, by], key);
                false
            }
            None => {
                self.found(Anomaly::AbortedRead, &[by], key);
                false
            }
        }
    }

    /// Transaction `by` read a list in its operation `at`.
    fn list(&mut self, by: usize, at: usize, key: Key, list: &[u64]) {
        // Each value is looked at: what does not stand is noted.
        let stand = list.iter().filter(|value| self.stands(by, key, **value)).count();
        if stand < list.len() {
            return;
        }
        let is_own = |value: &u64| {
            self.versions
                .written(key, *value)
                .is_some_and(|written| written.by == by)
        };
        let own: Vec<u64> = standing(self.transaction(by), at)
            .filter(|(_, of, _)| *of == key)
            .map(|(.., value)| value)
            .collect();
        let foreign = list.iter().take_while(|value| !is_own(value)).count();
        // Nobody appends to a list of which an open transaction wrote the last version.
        if list[foreign..] != own {
            self.found(Anomaly::Internal, &[by], key);
        }
        let order = self.versions.list(key);
        let read: Vec<u64> = (list.iter().copied())
            .filter(|value| self.versions.is_effective(key, *value))
            .collect();
        if !order.starts_with(&read) {
            self.found(Anomaly::IncompatibleOrder, &[by], key);
            return;
        }
        if let Some(value) = list.last() {
            self.intermediate(by, key, *value);
        }
        self.depends(by, key, read.last().copied(), order.get(read.len()).copied());
    }

    /// Transaction `by` read a register in its operation `at`, or learnt what it overwrote.
    fn register(&mut self, by: usize, at: usize, key: Key, value: Option<u64>) {
        let transaction = self.transaction(by);
        let own = standing(transaction, at).rfind(|(_, of, _)| *of == key);
        if let Some((position, _, written)) = own {
            let is_deleted = matches!(
                transaction.operations[position],
                Operation::Write { deletes: true, .. }
            );
            if value != (!is_deleted).then_some(written) {
                self.found(Anomaly::Internal, &[by], key);
            }
            return;
        }
        let Some(value) = value else { return };
        if let Some(written) = self.versions.written(key, value)
            && written.by == by
        {
            self.found(Anomaly::Internal, &[by], key);
            return;
        }
        if self.stands(by, key, value) {
            self.intermediate(by, key, value);
            self.depends(by, key, Some(value), self.versions.next(key, value));
        }
    }

    fn intermediate(&mut self, by: usize, key: Key, value: u64) {
        if let Some(written) = self.versions.written(key, value)
            && written.by != by
            && !written.is_last
        {
            self.found(Anomaly::IntermediateRead, &[written.by, by], key);
        }
    }

    /// Notes what follows from a read of `version`, which `next` overwrote.
    fn depends(&mut self, by: usize, key: Key, version: Option<u64>, next: Option<u64>) {
        let next = next.and_then(|next| self.versions.writer(key, next));
        let reader = self.transaction(by);
        if let Some(next) = next.filter(|next| *next != by)
            && self.transaction(next).ended < reader.began
        {
            self.found(Anomaly::StaleRead, &[next, by], key);
        }
        if !reader.committed {
            return;
        }
        let writer = version.and_then(|version| self.versions.writer(key, version));
        if let Some(writer) = writer {
            self.graph.add(writer, by, Kind::Wr, key);
        }
        if let Some(next) = next {
            self.graph.add(by, next, Kind::Rw, key);
        }
    }
}
