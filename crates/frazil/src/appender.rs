//! Bulk loading through the API: batches in, one transaction.

use crate::connection::Connection;
use crate::database::Database;
use frazil_storage::{Conflict, NewRows, Transaction};
use frazil_types::{ObjectId, Result, RowBatch};

/// Appends rows to one table. Nothing is visible before [`Appender::finish`]; dropped without it, nothing
/// was appended. It is a transaction of its own: other writers wait for it.
#[derive(Debug)]
pub struct Appender {
    database: Database,
    transaction: Transaction,
    table: ObjectId,
    rows: u64,
}

impl Appender {
    pub(crate) fn new(connection: &Connection, table: &str) -> Result<Appender> {
        let session = connection.start()?;
        let _inside = connection.database().enter()?;
        let timeout = session.settings().lock_timeout;
        let transaction = session.database().store().begin(timeout, session.cancel())?;
        let table = transaction.snapshot().catalog().table(table)?.id;
        Ok(Appender {
            database: connection.database().clone(),
            transaction,
            table,
            rows: 0,
        })
    }

    /// Appends rows; their columns are the table's, in order. 23502 for NULL in a NOT NULL column.
    pub fn append(&mut self, batch: RowBatch) -> Result<()> {
        let mut writer = self.transaction.writer(self.table)?;
        self.rows += writer.insert(&NewRows::of(&batch), Conflict::Fail)?.count;
        Ok(())
    }

    /// Makes the rows visible; returns their number. 08003 once the database is closed.
    pub fn finish(self) -> Result<u64> {
        let _inside = self.database.enter()?;
        self.transaction.commit();
        Ok(self.rows)
    }
}
