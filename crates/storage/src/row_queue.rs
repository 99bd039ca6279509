//! The queue of rows that a statement wrote and whose foreign keys and deferrable keys are still to be checked: ids of
//! rows, by table, in the order in which they were written. Every way into a table fills the queue, so that INSERT,
//! COPY and an Appender are checked alike, once, at the end of the statement.

use frazil_catalog::Catalog;
use frazil_types::{ObjectId, RowId};

/// Rows of one table that were written together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedRows {
    /// The table.
    pub table: ObjectId,
    /// Rows of the table that were written.
    pub rows: WrittenRows,
}

/// Rows by the way in which they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenRows {
    /// Rows that were inserted.
    Inserted(Vec<RowRun>),
    /// Rows that were deleted. They can still be fetched.
    Deleted(Vec<RowId>),
    /// Rows that were updated: each with its id before, which can still be fetched, and its new one.
    Updated(Vec<(RowId, RowId)>),
    /// Rows that entered a deferrable index in which another row may have their key. If the table is part of a foreign
    /// key, they are queued a second time, directly behind, as they were written.
    Contested {
        /// The index.
        index: ObjectId,
        /// The rows.
        rows: Vec<RowId>,
    },
}

impl WrittenRows {
    /// True if they are rows that the table has since then.
    pub fn has_new(&self) -> bool {
        match self {
            WrittenRows::Inserted(_) | WrittenRows::Updated(_) | WrittenRows::Contested { .. } => true,
            WrittenRows::Deleted(_) => false,
        }
    }
}

/// Rows that entered deferrable indexes and may share their keys: the index, and the row.
pub(crate) type Contested = Vec<(ObjectId, RowId)>;

/// Rows of one chunk at consecutive offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRun {
    /// The first row.
    pub first: RowId,
    /// Number of rows.
    pub rows: u32,
}

impl RowRun {
    /// The ids of its rows.
    pub fn ids(self) -> impl Iterator<Item = RowId> {
        let (chunk, from) = (self.first.chunk(), u32::from(self.first.offset()));
        (from..from + self.rows).map(move |offset| RowId::new(chunk, offset as u16))
    }

    /// True if a row comes directly behind the last one.
    fn precedes(self, row: RowId) -> bool {
        row.chunk() == self.first.chunk()
            && u32::from(row.offset()) == u32::from(self.first.offset()) + self.rows
    }
}

/// The queue of a transaction.
#[derive(Debug, Default)]
pub(crate) struct RowQueue {
    queued: Vec<QueuedRows>,
}

impl RowQueue {
    /// True if rows of a table are queued: a foreign key has the table as its child or parent.
    pub fn wants(catalog: &Catalog, table: ObjectId) -> bool {
        catalog.is_in_foreign_key(table)
    }

    /// Adds a row that was inserted.
    pub fn inserted(&mut self, table: ObjectId, row: RowId) {
        if let Some(QueuedRows {
            table: last,
            rows: WrittenRows::Inserted(runs),
        }) = self.queued.last_mut()
            && *last == table
        {
            match runs.last_mut() {
                Some(run) if run.precedes(row) => run.rows += 1,
                _ => runs.push(RowRun { first: row, rows: 1 }),
            }
            return;
        }
        let runs = vec![RowRun { first: row, rows: 1 }];
        self.push(table, WrittenRows::Inserted(runs));
    }

    /// Adds a chunk of rows that were inserted.
    pub fn inserted_chunk(&mut self, table: ObjectId, number: u32, rows: u32) {
        let first = RowId::new(number, 0);
        self.push(table, WrittenRows::Inserted(vec![RowRun { first, rows }]));
    }

    /// Adds a row that was deleted.
    pub fn deleted(&mut self, table: ObjectId, row: RowId) {
        if let Some(QueuedRows {
            table: last,
            rows: WrittenRows::Deleted(rows),
        }) = self.queued.last_mut()
            && *last == table
        {
            return rows.push(row);
        }
        self.push(table, WrittenRows::Deleted(vec![row]));
    }

    /// Adds a row that was updated.
    pub fn updated(&mut self, table: ObjectId, before: RowId, after: RowId) {
        if let Some(QueuedRows {
            table: last,
            rows: WrittenRows::Updated(rows),
        }) = self.queued.last_mut()
            && *last == table
        {
            return rows.push((before, after));
        }
        self.push(table, WrittenRows::Updated(vec![(before, after)]));
    }

    /// Adds rows that entered deferrable indexes in which other rows may have their keys.
    pub fn contested(&mut self, table: ObjectId, contested: Contested) {
        for (index, row) in contested {
            if let Some(QueuedRows {
                table: last,
                rows: WrittenRows::Contested { index: same, rows },
            }) = self.queued.last_mut()
                && (*last, *same) == (table, index)
            {
                rows.push(row);
                continue;
            }
            let rows = vec![row];
            self.push(table, WrittenRows::Contested { index, rows });
        }
    }

    fn push(&mut self, table: ObjectId, rows: WrittenRows) {
        self.queued.push(QueuedRows { table, rows });
    }

    pub fn is_empty(&self) -> bool {
        self.queued.is_empty()
    }

    /// Empties the queue.
    pub fn take(&mut self) -> Vec<QueuedRows> {
        std::mem::take(&mut self.queued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_kind_are_joined_and_the_order_stays() {
        let (t, u) = (ObjectId(1), ObjectId(2));
        let mut queue = RowQueue::default();
        for offset in [3, 4, 5, 9] {
            queue.inserted(t, RowId::new(7, offset));
        }
        queue.inserted(t, RowId::new(8, 10));
        queue.deleted(t, RowId::new(1, 1));
        queue.deleted(u, RowId::new(1, 2));
        queue.updated(u, RowId::new(1, 3), RowId::new(1, 4));
        queue.updated(u, RowId::new(1, 5), RowId::new(1, 6));
        queue.inserted_chunk(t, 9, 65_536);
        let contested = [(5, 1), (5, 2), (6, 2)];
        queue.contested(
            t,
            contested
                .map(|(i, row)| (ObjectId(i), RowId::new(1, row)))
                .to_vec(),
        );
        let taken = queue.take();
        assert!(queue.is_empty());
        let runs = |rows: &WrittenRows| match rows {
            WrittenRows::Inserted(runs) => runs.iter().flat_map(|run| run.ids()).count(),
            WrittenRows::Deleted(rows) => rows.len(),
            WrittenRows::Updated(rows) => rows.len(),
            WrittenRows::Contested { rows, .. } => rows.len(),
        };
        let shape: Vec<(u32, usize)> = taken.iter().map(|q| (q.table.0, runs(&q.rows))).collect();
        assert_eq!(
            shape,
            [(1, 5), (1, 1), (2, 1), (2, 2), (1, 65_536), (1, 2), (1, 1)]
        );
        let WrittenRows::Inserted(first) = &taken[0].rows else {
            panic!("inserted rows come first");
        };
        assert_eq!(first.len(), 3);
        assert_eq!(first[0].ids().last(), Some(RowId::new(7, 5)));
    }
}
