//! Bulk loading through the API: batches in, one transaction.

use crate::api_names::resolved;
use crate::connection::Connection;
use crate::database::Database;
use crate::foreign_keys;
use crate::query::Runner;
use crate::row_checks::{self, RowChecks};
use arrow_array::RecordBatch;
use frazil_catalog::not_a_table;
use frazil_storage::{Acknowledge, TableMode, Transaction};
use frazil_types::{CHUNK_ROWS, ColumnDef, Error, ObjectId, Result, RowBatch, SqlState};

/// Appends rows to one table. Nothing is visible before [`Appender::finish`]; dropped without it, nothing
/// was appended. It is a transaction of its own. Others write beside it.
#[derive(Debug)]
pub struct Appender {
    database: Database,
    transaction: Transaction,
    table: ObjectId,
    /// Computes its generated columns and CHECK constraints.
    checks: Option<RowChecks>,
    /// Checks its foreign keys.
    runner: Runner,
    rows: u64,
    /// Rows were refused, and those before them may be there.
    has_failed: bool,
    acknowledge: Acknowledge,
}

impl Appender {
    pub(crate) fn new(connection: &Connection, table: &str) -> Result<Appender> {
        let session = connection.start()?;
        let _inside = connection.database().enter()?;
        let timeout = session.settings().lock_timeout;
        let mut transaction = session.database().store().begin(timeout, session.cancel())?;
        let find = |transaction: &Transaction| {
            let catalog = transaction.view().catalog();
            let name = resolved(catalog, &session.settings().search_path, table);
            let table = catalog.table(&name)?;
            match table.materialized {
                Some(_) => Err(not_a_table(&table.name)),
                None => Ok(table.clone()),
            }
        };
        let found = find(&transaction)?;
        transaction.lock_table(found.id, TableMode::RowExclusive)?;
        // The table may have been defined otherwise while the lock was waited for.
        let entry = find(&transaction)?;
        let runner = Runner::new(&session);
        let checks = RowChecks::of(&runner, transaction.snapshot(), &entry)?;
        Ok(Appender {
            database: connection.database().clone(),
            transaction,
            table: entry.id,
            checks,
            runner,
            rows: 0,
            has_failed: false,
            acknowledge: session.settings().synchronous_commit,
        })
    }

    /// Appends rows; their columns are the table's, in order, without generated columns. 23502 for NULL in a NOT NULL
    /// column, 23514 if a CHECK constraint is false. After an error nothing can be finished any more.
    pub fn append(&mut self, batch: RowBatch) -> Result<()> {
        let checks = self.checks.as_ref();
        let inserted = row_checks::insert(&mut self.transaction, self.table, &batch, checks);
        self.has_failed |= inserted.is_err();
        // An error may tell of rows that are not durable yet.
        self.rows += inserted.or_else(|e| self.transaction.settle().and(Err(e)))?;
        Ok(())
    }

    /// Appends the rows of a record batch; its columns are found by name where it has all the table's names, else they are in
    /// the table's order. 42804 for a type that does not fit, 42703 for a name that is not there.
    pub fn append_arrow(&mut self, batch: &RecordBatch) -> Result<()> {
        let table = self.transaction.snapshot().table(self.table)?.clone();
        let given = table
            .schema()
            .columns
            .iter()
            .filter(|column| !column.is_generated());
        let columns: Vec<ColumnDef> = given.cloned().collect();
        let sources = frazil_files::sources("the frame", &batch.schema(), &columns)?;
        let budget = self.database.budget().clone();
        for start in (0..batch.num_rows()).step_by(CHUNK_ROWS) {
            let part = batch.slice(start, CHUNK_ROWS.min(batch.num_rows() - start));
            let before = self.rows + 1;
            let place =
                |row: usize, column: &str| format!("row {}, column \"{column}\"", before + row as u64);
            let (arrays, rows) = (part.columns(), part.num_rows());
            self.append(frazil_files::rows_of(
                arrays, rows, &columns, &sources, &budget, &place,
            )?)?;
        }
        Ok(())
    }

    /// Makes the rows durable and visible; returns their number. 23503 for a row without its parent; 25P02 after rows were refused: nothing was appended then. 08003 once
    /// the database is closed; the errors of a COMMIT.
    pub fn finish(mut self) -> Result<u64> {
        let _inside = self.database.enter()?;
        if self.has_failed {
            return Err(Error::new(
                SqlState::IN_FAILED_TRANSACTION,
                "rows were refused, so nothing is appended",
            )
            .with_hint("create another appender"));
        }
        let checked = foreign_keys::finish_statement(&self.runner, &mut self.transaction)
            .and_then(|()| foreign_keys::finish_transaction(&self.runner, &mut self.transaction));
        if let Err(error) = checked {
            return self.transaction.settle().and(Err(error));
        }
        self.transaction.commit_as(self.acknowledge)?;
        Ok(self.rows)
    }
}
