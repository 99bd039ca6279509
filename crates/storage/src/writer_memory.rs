//! Memory that serves one writing transaction after the other: what a transaction of a few rows needs beside its rows is there
//! already.

use crate::changes::{Changes, Mark, Versions};
use crate::index_log::IndexLog;
use crate::row_queue::RowQueue;
use crate::snapshot::Snapshot;
use frazil_types::{EncodedKeys, ObjectId, Result, RowId};
use std::sync::Arc;

/// Most bytes of one list that wait for the next writer.
const MOST_KEPT: usize = 64 << 10;

/// Lists of a writing transaction.
#[derive(Debug, Default)]
pub(crate) struct WriterMemory {
    /// Tables whose version is the transaction's own, in the order in which they were first changed, each with the
    /// number of changes before it.
    pub own: Vec<(ObjectId, usize)>,
    /// All that the transaction did.
    pub changes: Changes,
    /// Held by all versions that the transaction makes until they are committed, so that it knows if others have them.
    pub views: Arc<()>,
    /// What the transaction did to the entries of indexes.
    pub index_log: IndexLog,
    /// Rows whose foreign keys are still to be checked.
    pub queue: RowQueue,
    /// Keys of the rows that a statement writes, for each index of their table.
    pub keys: Vec<EncodedKeys>,
    /// Ids of the rows that a statement wrote.
    pub ids: Vec<RowId>,
}

impl WriterMemory {
    /// Does everything again on top of a later version: see [`Changes::rebase`].
    pub fn rebase(&mut self, versions: Versions<'_>) -> Result<Snapshot> {
        let tables = self.own.iter().map(|(id, _)| *id);
        self.changes.rebase(tables, versions, &self.views)
    }

    /// Merges everything into the newest version: see [`Changes::on`].
    pub fn merge(&self, versions: Versions<'_>) -> Result<Snapshot> {
        self.changes.on(self.own.iter().map(|(id, _)| *id), versions)
    }

    /// Returns what versions of the transaction hold that somebody else has: those that were stamped have let go of
    /// it. `None` if there are no such versions.
    pub fn views_that_others_have(&self) -> Option<Arc<()>> {
        (Arc::strong_count(&self.views) > 1).then(|| self.views.clone())
    }

    /// Undoes what was done since a moment, in the transaction's own version.
    pub fn undo_to(&mut self, mark: Mark, base: Option<&Snapshot>, own: &mut Snapshot) {
        self.changes.undo_to(mark, base, own);
        // Others may lock a table now of which all changes were undone: it is the base's, not one of the same rows.
        self.own.retain(|&(id, first)| {
            if mark.is_before(first)
                && let Some(theirs) = base.and_then(|base| base.tables.get(id.0))
            {
                own.tables.insert(id.0, theirs.clone());
            }
            // A table that was replaced may be one again that others have, too.
            own.tables.get(id.0).is_none_or(|table| table.is_private())
        });
    }

    /// Forgets what is in it; what a large transaction needed is given back.
    pub fn emptied(mut self) -> WriterMemory {
        let few = MOST_KEPT / size_of::<RowId>();
        self.own.clear();
        self.own.shrink_to(few);
        self.changes.clear();
        if Arc::get_mut(&mut self.views).is_none() {
            // The collector of index entries waits for versions that outlive the transaction.
            self.views = Arc::default();
        }
        self.index_log.clear();
        drop(self.queue.take());
        self.keys.retain(|keys| keys.capacity() <= MOST_KEPT);
        self.ids.clear();
        self.ids.shrink_to(few);
        self
    }
}
