//! The bytes of an object from its first to its last.

use crate::object_store::{RANGE_BYTES, RANGES_AT_ONCE};
use crate::waiting::Task;
use crate::{ObjectMeta, ObjectStore};
use bytes::Bytes;
use frazil_types::{Cancel, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of the first range. Readers that only find out the format of an object need no more.
const FIRST_BYTES: usize = 1 << 20;

/// Reads an object in order, in large ranges. The further its reader gets, the more of them are on their way: at most
/// [`ReadAhead::MOST_BYTES`].
#[derive(Debug)]
pub struct ReadAhead {
    store: Arc<ObjectStore>,
    meta: ObjectMeta,
    cancel: Cancel,
    /// The byte at which the next request begins.
    next: u64,
    on_the_way: VecDeque<Task<Result<Bytes>>>,
    /// Number of ranges that the reader took.
    taken: usize,
}

impl ReadAhead {
    /// Bytes in memory at most: those on their way, and the range that the reader has.
    pub const MOST_BYTES: usize = (RANGES_AT_ONCE + 1) * RANGE_BYTES;

    /// Begins at the first byte. Nothing is asked of the store yet.
    pub fn new(store: Arc<ObjectStore>, meta: ObjectMeta, cancel: Cancel) -> ReadAhead {
        ReadAhead {
            store,
            meta,
            cancel,
            next: 0,
            on_the_way: VecDeque::new(),
            taken: 0,
        }
    }

    /// The next bytes; `None` at the end. Errors as of [`ObjectStore::read_at`].
    pub fn next_range(&mut self) -> Result<Option<Bytes>> {
        let most = (self.taken + 1).min(RANGES_AT_ONCE);
        while self.on_the_way.len() < most && self.next < self.meta.bytes {
            let bytes = match self.next {
                0 => FIRST_BYTES,
                _ => RANGE_BYTES,
            };
            let left = usize::try_from(self.meta.bytes - self.next).unwrap_or(usize::MAX);
            let bytes = bytes.min(left);
            let request = self.store.range(&self.meta, self.next, bytes)?;
            self.on_the_way.push_back(Task::begin(request)?);
            self.next += bytes as u64;
        }
        let Some(first) = self.on_the_way.pop_front() else {
            return Ok(None);
        };
        self.taken += 1;
        Ok(Some(first.wait(&self.cancel)??))
    }
}
