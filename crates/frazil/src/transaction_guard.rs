//! Transactions and savepoints that end with a Rust scope.

use crate::connection::Connection;
use crate::rows::Outcome;
use frazil_types::{Error, Result, SqlState};
use std::ops::Deref;

/// An open transaction of a connection. Its statements run on the guard itself, which is also the connection. Dropped
/// without [`Transaction::commit`], it is rolled back.
///
/// ```
/// # let connection = frazil::Database::memory()?.connect();
/// connection.execute("create table t (a integer)")?;
/// let transaction = connection.transaction()?;
/// transaction.execute("insert into t values (1)")?;
/// transaction.commit()?;
/// assert_eq!(connection.query_row("select count(*) from t", ())?.get::<i64>(0)?, 1);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction<'c> {
    connection: &'c Connection,
    is_open: bool,
}

/// A savepoint of an open transaction. Dropped without [`Savepoint::release`], it undoes what was done since.
#[derive(Debug)]
#[must_use = "a savepoint that is dropped undoes what was done since"]
pub struct Savepoint<'t> {
    connection: &'t Connection,
    depth: usize,
    is_open: bool,
}

impl Connection {
    /// Begins a transaction. 25001 if one is open on the connection.
    pub fn transaction(&self) -> Result<Transaction<'_>> {
        if self.in_transaction() {
            let message = "there is already a transaction in progress";
            return Err(Error::new(SqlState::ACTIVE_TRANSACTION, message)
                .with_hint("a savepoint nests in it; another connection has a transaction of its own"));
        }
        self.execute("begin")?;
        Ok(Transaction {
            connection: self,
            is_open: true,
        })
    }
}

impl Transaction<'_> {
    /// Makes what was done durable and visible. 25P02 if a statement failed: then the transaction is rolled back. The
    /// errors of a COMMIT.
    pub fn commit(mut self) -> Result<()> {
        self.is_open = false;
        let response = self.connection.execute("commit")?;
        match response.outcome {
            Outcome::Command { tag: "ROLLBACK", .. } => Err(Error::new(
                SqlState::IN_FAILED_TRANSACTION,
                "a statement of the transaction failed, so it was rolled back",
            )),
            Outcome::Command { .. } | Outcome::Rows(_) => Ok(()),
        }
    }

    /// Undoes what was done.
    pub fn rollback(mut self) -> Result<()> {
        self.is_open = false;
        self.connection.execute("rollback").map(drop)
    }

    /// Sets a savepoint.
    pub fn savepoint(&mut self) -> Result<Savepoint<'_>> {
        Savepoint::begin(self.connection, 0)
    }
}

impl<'t> Savepoint<'t> {
    fn begin(connection: &'t Connection, depth: usize) -> Result<Savepoint<'t>> {
        connection.execute(&format!("savepoint {}", name(depth)))?;
        Ok(Savepoint {
            connection,
            depth,
            is_open: true,
        })
    }

    /// Sets a savepoint within this one.
    pub fn savepoint(&mut self) -> Result<Savepoint<'_>> {
        Savepoint::begin(self.connection, self.depth + 1)
    }

    /// Keeps what was done since, as a part of the transaction. 25P02 if a statement failed: then it is undone.
    pub fn release(mut self) -> Result<()> {
        if self.connection.in_failed_transaction() {
            self.undo()?;
            return Err(Error::new(
                SqlState::IN_FAILED_TRANSACTION,
                "a statement behind the savepoint failed, so all behind it was undone",
            ));
        }
        self.is_open = false;
        let release = format!("release savepoint {}", name(self.depth));
        self.connection.execute(&release).map(drop)
    }

    /// Undoes what was done since. A transaction in which a statement failed goes on.
    pub fn rollback(mut self) -> Result<()> {
        self.undo()
    }

    fn undo(&mut self) -> Result<()> {
        self.is_open = false;
        let name = name(self.depth);
        self.connection
            .execute(&format!("rollback to savepoint {name}"))?;
        self.connection
            .execute(&format!("release savepoint {name}"))
            .map(drop)
    }
}

/// The name of a savepoint within `depth` others.
fn name(depth: usize) -> String {
    format!("frazil_savepoint_{depth}")
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Deref for Savepoint<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open && self.connection.in_transaction() {
            // Nobody is left to hear of a failure; a rollback has none but a closed database, which has undone it.
            let _ = self.connection.execute("rollback");
        }
    }
}

impl Drop for Savepoint<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // It fails if the transaction has ended, which has undone it.
            let _ = self.undo();
        }
    }
}
