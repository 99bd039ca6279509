//! A statement of READ COMMITTED that meets a commit which it does not see is undone and runs again on the newest
//! version. Claims are kept, so that a row for which it waited is its own by then.
//!
//! A statement can be overtaken again and again: it is granted a row that is dead by then, runs again, and finds that
//! a newcomer has claimed the row which took the place of the dead one. So once a statement has run again
//! [`MOST_OVERTAKEN`] times, it locks the tables in which it was overtaken in EXCLUSIVE mode. Those who write there or
//! have claimed rows there end first, newcomers stand behind, and nobody overtakes the statement any more. *SHARE ROW
//! EXCLUSIVE lets in who has read a row FOR UPDATE: the statement waits for the row, the other one for the table as
//! soon as it writes the row. Of two writers of one row, one would be 40P01.*
//!
//! The statement gives back all that its runs took before it waits for such a lock. *Two statements hold ROW EXCLUSIVE
//! locks on a table, and each wants the stronger lock: a deadlock of two UPDATEs that would only have run again.* If
//! the transaction holds something, from statements before or of another such table, it does not wait, and runs beside
//! others until the lock can be had at once: *whoever writes to the table may wait for a row that it has claimed.*
//!
//! No wait is longer than [`ALONE_WITHIN`]: then the statement runs beside others once more. *A session has written
//! other rows of the table and sits idle in its transaction: the statement would wait for it, and all newcomers for the
//! statement.*

use crate::other_writers::Standing;
use crate::transaction::{Savepoint, Transaction};
use frazil_locks::TableMode;
use frazil_types::{ObjectId, Result};
use std::time::Duration;

/// Times that a statement runs again beside others.
const MOST_OVERTAKEN: usize = 3;
/// Longest wait for a lock that keeps others from overtaking a statement: long beside a statement that writes some
/// rows, short beside a person who waits.
const ALONE_WITHIN: Duration = Duration::from_millis(100);

/// The statement that runs, and how often it ran.
#[derive(Debug, Default)]
pub(crate) struct Reruns {
    /// The beginning of the statement, if it may have to be undone in order to run again.
    begun: Option<Savepoint>,
    /// Claims and locks that the transaction held before the first run, if it can give back what it holds more.
    held_before: Option<Standing>,
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
            let begun = self.savepoint();
            self.reruns.held_before.get_or_insert(begun.standing());
            self.reruns.begun = Some(begun);
        }
    }

    /// Begins a statement: see [`Transaction::runs_again`].
    pub fn begin_statement(&mut self) {
        self.others.take_behind();
        self.reruns.count = 0;
        self.reruns.overtaken.clear();
        self.reruns.held_before = None;
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
        if let Some(begun) = self.reruns.begun.take() {
            self.undo_to(&begun);
        }
        self.reruns.count += 1;
        if let Some(table) = table
            && let Err(at) = self.reruns.overtaken.binary_search(&table)
        {
            self.reruns.overtaken.insert(at, table);
        }
        // Commits have overtaken the visible version before the first run begins.
        let most = MOST_OVERTAKEN + usize::from(self.begins_visible);
        if self.reruns.count >= most {
            self.lock_overtaken()?;
        }
        self.renew()?;
        self.others.take_behind();
        self.begin_run();
        self.others.note_rerun();
        Ok(true)
    }

    /// Keeps others from overtaking a statement that was undone to its beginning.
    fn lock_overtaken(&mut self) -> Result<()> {
        if let Some(before) = self.reruns.held_before {
            self.others.free_since(before);
        }
        let mode = TableMode::Exclusive;
        for table in self.reruns.overtaken.clone() {
            if !table.is_temporary() {
                let waits = self.others.holds_no_table();
                let limit = if waits { ALONE_WITHIN } else { Duration::ZERO };
                self.others.lock_table_within(table, mode, limit)?;
            }
        }
        Ok(())
    }
}
