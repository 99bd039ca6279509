//! The values that a session took from sequences: `currval` and `lastval` show them.
//!
//! A session sets its values while one of its statements runs ([`during`]), on each thread that works for the
//! statement.

use crate::ObjectId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// The values of one session. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct SequenceValues(Arc<Mutex<Values>>);

#[derive(Debug, Default)]
struct Values {
    /// The last value of each sequence.
    last: HashMap<ObjectId, i64>,
    /// The sequence that gave the last value of all.
    last_used: Option<ObjectId>,
    /// Values that the running statement took.
    taken: u64,
    /// True while the running statement may not write.
    is_read_only: bool,
}

impl SequenceValues {
    fn lock(&self) -> MutexGuard<'_, Values> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Begins a statement, which may not write if `is_read_only`.
    pub fn begin_statement(&self, is_read_only: bool) {
        let mut values = self.lock();
        values.taken = 0;
        values.is_read_only = is_read_only;
    }

    /// True if the running statement may not write.
    pub fn is_read_only(&self) -> bool {
        self.lock().is_read_only
    }

    /// Values that the running statement took from sequences so far.
    pub fn taken(&self) -> u64 {
        self.lock().taken
    }

    /// Notes that the running statement took `count` values from a sequence, the last of which is `last`.
    pub fn took(&self, sequence: ObjectId, last: i64, count: u64) {
        let mut values = self.lock();
        values.last.insert(sequence, last);
        values.last_used = Some(sequence);
        values.taken += count;
    }

    /// Notes that `setval` gave a sequence a last value.
    pub fn set(&self, sequence: ObjectId, last: i64) {
        self.lock().last.insert(sequence, last);
    }

    /// The last value that the session took from a sequence; `None` if it took none.
    pub fn current(&self, sequence: ObjectId) -> Option<i64> {
        self.lock().last.get(&sequence).copied()
    }

    /// The last value that the session took from any sequence; `None` if it took none.
    pub fn last(&self) -> Option<i64> {
        let values = self.lock();
        values.last.get(&values.last_used?).copied()
    }

    /// Forgets the values of sequences that a ROLLBACK undid: their identities are given to others. Asks `exists` for
    /// each sequence that has a value.
    pub fn keep_existing(&self, exists: impl Fn(ObjectId) -> bool) {
        let mut values = self.lock();
        values.last.retain(|id, _| exists(*id));
        values.last_used = values.last_used.filter(|id| exists(*id));
    }

    /// Forgets all values: DISCARD SEQUENCES.
    pub fn forget(&self) {
        let mut values = self.lock();
        values.last.clear();
        values.last_used = None;
    }
}

thread_local! {
    static CURRENT: RefCell<Option<SequenceValues>> = const { RefCell::new(None) };
}

/// The values of the session that this thread works for; `None` if the thread works for none.
pub fn of_session() -> Option<SequenceValues> {
    CURRENT.with_borrow(Option::clone)
}

/// Runs `work` with the values of a session set on this thread.
pub fn during<T>(values: Option<SequenceValues>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<SequenceValues>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.replace(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(values));
    work()
}
