//! A statement of READ COMMITTED that meets a commit which it does not see is undone and runs again on the newest
//! version. Claims are kept, so that a row for which it waited is its own by then.
//!
//! A statement can be overtaken again and again: it is granted a row that is dead by then, runs again, and finds that
//! a newcomer has claimed the row which took the place of the dead one. So once a statement has run again
//! [`MOST_OVERTAKEN`] times, it locks the tables in which it was overtaken in SHARE ROW EXCLUSIVE mode. Those who write
//! there end first, newcomers stand behind, and nobody overtakes the statement any more.
//!
//! The statement gives back what it holds before it waits for such a lock. *Two statements hold ROW EXCLUSIVE locks
//! on a table, and each wants the stronger lock: a deadlock of two UPDATEs that would only have run again.* If the
//! transaction holds something from statements before, it does not wait, and runs beside others until the lock can be
//! had at once: *whoever writes to the table may wait for a row that an earlier statement has claimed.*

use crate::transaction::{Savepoint, Transaction};
use frazil_locks::TableMode;
use frazil_types::{ObjectId, Result};

/// Times that a statement runs again beside others.
const MOST_OVERTAKEN: usize = 3;

/// The statement that runs, and how often it ran.
#[derive(Debug, Default)]
pub(crate) struct Reruns {
    /// The beginning of the statement, if it may have to be undone in order to run again.
    begun: Option<Savepoint>,
    /// Times that it ran again.
    count: usize,
    /// Tables in which commits overtook it, in the order of their ids.
    overtaken: Vec<ObjectId>,
}

impl Reruns {
    /// True if the statement can be undone.
    pub fn can_be_undone(&self) -> bool {
        self.begun.is_some()
    }
}

impl Transaction {
    /// Notes the beginning of a statement that may have to run again after it has written something.
    pub fn guard_statement(&mut self) {
        if !self.reruns.can_be_undone() {
            self.reruns.begun = Some(self.savepoint());
        }
    }

    /// Begins a statement: see [`Transaction::runs_again`].
    pub fn begin_statement(&mut self) {
        self.others.take_behind();
        self.reruns.count = 0;
        self.reruns.overtaken.clear();
        self.begin_run();
    }

    fn begin_run(&mut self) {
        self.reruns.begun = None;
        if self.has_no_changes() {
            self.guard_statement();
        }
    }

    /// True if the statement that failed met a commit that it did not see, and is to run again: it was undone, its
    /// claims were kept, and the transaction sees that commit now. A statement that ran again several times has locked
    /// the tables of these commits. False for a transaction that sees one version to its end. 40P01, 55P03, 57014.
    pub fn runs_again(&mut self) -> Result<bool> {
        let Some(table) = self.others.take_behind() else {
            return Ok(false);
        };
        if self.others.keeps_base() {
            return Ok(false);
        }
        let begun = self.reruns.begun.take();
        if let Some(begun) = &begun {
            self.undo_to(begun);
        }
        self.reruns.count += 1;
        if let Some(table) = table
            && let Err(at) = self.reruns.overtaken.binary_search(&table)
        {
            self.reruns.overtaken.insert(at, table);
        }
        if self.reruns.count >= MOST_OVERTAKEN {
            self.lock_overtaken(begun)?;
        }
        self.renew()?;
        self.others.take_behind();
        self.begin_run();
        self.others.note_rerun();
        Ok(true)
    }

    /// Keeps others from overtaking a statement that was undone to its beginning. The tables are locked in the order
    /// of their ids, so that two such statements do not wait for each other.
    fn lock_overtaken(&mut self, begun: Option<Savepoint>) -> Result<()> {
        if let Some(begun) = begun {
            self.give_back(begun);
        }
        let waits = self.others.holds_no_table();
        let mode = TableMode::ShareRowExclusive;
        for table in self.reruns.overtaken.clone() {
            if waits {
                self.take_table(table, mode)?;
            } else if !table.is_temporary() && !self.others.has_table(table, mode) {
                self.others.try_lock_table(table, mode)?;
            }
        }
        Ok(())
    }
}
