//! Bulk loading through the API: batches in, one transaction.

use crate::connection::Connection;
use frazil_catalog::TableId;
use frazil_storage::Transaction;
use frazil_types::{Result, RowBatch};

/// Appends rows to one table. Nothing is visible before [`Appender::finish`]; dropped without it, nothing
/// was appended. It is a transaction of its own: other writers wait for it.
#[derive(Debug)]
pub struct Appender {
    transaction: Transaction,
    table: TableId,
    rows: u64,
}

impl Appender {
    pub(crate) fn new(connection: &Connection, table: &str) -> Result<Appender> {
        let session = connection.start();
        session.database().check_open()?;
        let timeout = session.settings().lock_timeout;
        let transaction = session.database().store().begin(timeout, session.cancel())?;
        let table = transaction.snapshot().catalog().table(table)?.id;
        Ok(Appender {
            transaction,
            table,
            rows: 0,
        })
    }

    /// Appends rows; their columns are the table's, in order. 23502 for NULL in a NOT NULL column.
    pub fn append(&mut self, batch: RowBatch) -> Result<()> {
        self.transaction.append(self.table, &batch)?;
        self.rows += batch.rows as u64;
        Ok(())
    }

    /// Makes the rows visible; returns their number.
    pub fn finish(self) -> Result<u64> {
        self.transaction.commit();
        Ok(self.rows)
    }
}
