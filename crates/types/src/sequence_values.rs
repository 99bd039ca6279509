//! The values that a session took from sequences: `currval` and `lastval` show them.
//!
//! The values belong to the session and are found as its settings are ([`session_settings`]): a statement without
//! sequences pays two plain stores for them.

use crate::{ObjectId, session_settings};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

/// The values of one session. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct SequenceValues(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    last: Mutex<LastValues>,
    /// Values that the running statement took.
    taken: AtomicU64,
    /// True while the running statement may not write.
    is_read_only: AtomicBool,
}

#[derive(Debug, Default)]
struct LastValues {
    /// The last value of each sequence.
    of: HashMap<ObjectId, i64>,
    /// The sequence that gave the last value of all.
    last_used: Option<ObjectId>,
}

impl SequenceValues {
    fn lock(&self) -> MutexGuard<'_, LastValues> {
        self.0.last.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Begins a statement, which may not write if `is_read_only`. Called before threads work for the statement.
    pub fn begin_statement(&self, is_read_only: bool) {
        self.0.taken.store(0, Relaxed);
        self.0.is_read_only.store(is_read_only, Relaxed);
    }

    /// True if the running statement may not write.
    pub fn is_read_only(&self) -> bool {
        self.0.is_read_only.load(Relaxed)
    }

    /// Values that the running statement took from sequences so far.
    pub fn taken(&self) -> u64 {
        self.0.taken.load(Relaxed)
    }

    /// Notes that the running statement took `count` values from a sequence, the last of which is `last`.
    pub fn took(&self, sequence: ObjectId, last: i64, count: u64) {
        let mut values = self.lock();
        values.of.insert(sequence, last);
        values.last_used = Some(sequence);
        self.0.taken.fetch_add(count, Relaxed);
    }

    /// Notes that `setval` gave a sequence a last value.
    pub fn set(&self, sequence: ObjectId, last: i64) {
        self.lock().of.insert(sequence, last);
    }

    /// The last value that the session took from a sequence; `None` if it took none.
    pub fn current(&self, sequence: ObjectId) -> Option<i64> {
        self.lock().of.get(&sequence).copied()
    }

    /// The last value that the session took from any sequence; `None` if it took none.
    pub fn last(&self) -> Option<i64> {
        let values = self.lock();
        values.of.get(&values.last_used?).copied()
    }

    /// Forgets the values of sequences that a ROLLBACK undid: their identities are given to others. Asks `exists` for
    /// each sequence that has a value.
    pub fn keep_existing(&self, exists: impl Fn(ObjectId) -> bool) {
        let mut values = self.lock();
        values.of.retain(|id, _| exists(*id));
        values.last_used = values.last_used.filter(|id| exists(*id));
    }

    /// Forgets all values: DISCARD SEQUENCES.
    pub fn forget(&self) {
        let mut values = self.lock();
        values.of.clear();
        values.last_used = None;
    }
}

/// The values of the session whose statement this thread works for; `None` outside of statements.
pub fn of_session() -> Option<SequenceValues> {
    session_settings::of_statement().map(|session| session.sequences())
}
