//! The transaction state of a connection.
//!
//! Outside BEGIN each statement is its own transaction. Inside, a statement reads what is committed when
//! it begins, and what the transaction itself did; the first statement that writes becomes the one
//! writer and stays it to the end. After a failure every statement but ROLLBACK (or COMMIT, which then
//! rolls back) is refused.

use crate::parameters;
use crate::settings::Settings;
use frazil_storage::{Snapshot, Store, Transaction};
use frazil_types::{Cancel, Error, Result, SqlState};
use std::sync::Arc;

/// Where a connection stands.
#[derive(Debug, Default)]
pub enum TransactionState {
    /// Outside a transaction.
    #[default]
    None,
    /// Inside one.
    Open(OpenTransaction),
    /// Inside one that failed.
    Failed,
}

/// A transaction between BEGIN and COMMIT.
#[derive(Debug)]
pub struct OpenTransaction {
    /// When it began, in microseconds since 1970.
    started: i64,
    /// Once it wrote.
    writer: Option<Transaction>,
}

impl TransactionState {
    /// When the open transaction began, in microseconds since 1970.
    pub fn started(&self) -> Option<i64> {
        match self {
            TransactionState::Open(open) => Some(open.started),
            TransactionState::None | TransactionState::Failed => None,
        }
    }

    /// Whether it is inside a transaction.
    pub fn is_open(&self) -> bool {
        !matches!(self, TransactionState::None)
    }

    /// 25P02 inside a failed transaction.
    pub fn check(&self) -> Result<()> {
        match self {
            TransactionState::Failed => Err(Error::new(
                SqlState::IN_FAILED_TRANSACTION,
                "current transaction is aborted, commands ignored until end of transaction block",
            )
            .with_hint("ROLLBACK ends it")),
            _ => Ok(()),
        }
    }

    /// BEGIN.
    pub fn begin(&mut self) -> Result<()> {
        if self.is_open() {
            return Err(Error::new(
                SqlState::ACTIVE_TRANSACTION,
                "there is already a transaction in progress",
            ));
        }
        *self = TransactionState::Open(OpenTransaction {
            started: parameters::now_micros(),
            writer: None,
        });
        Ok(())
    }

    /// COMMIT; of a failed transaction it is ROLLBACK. Returns what was done.
    pub fn commit(&mut self) -> Result<&'static str> {
        match std::mem::take(self) {
            TransactionState::None => Err(no_transaction()),
            TransactionState::Failed => Ok("ROLLBACK"),
            TransactionState::Open(open) => {
                if let Some(writer) = open.writer {
                    writer.commit();
                }
                Ok("COMMIT")
            }
        }
    }

    /// ROLLBACK.
    pub fn rollback(&mut self) -> Result<()> {
        match std::mem::take(self) {
            TransactionState::None => Err(no_transaction()),
            _ => Ok(()),
        }
    }

    /// A statement failed: a transaction it was part of is over, its writer lets the next one in.
    pub fn fail(&mut self) {
        if self.is_open() {
            *self = TransactionState::Failed;
        }
    }

    /// What a reading statement sees.
    pub fn snapshot(&self, store: &Store) -> Arc<Snapshot> {
        match self {
            TransactionState::Open(OpenTransaction {
                writer: Some(writer), ..
            }) => writer.snapshot(),
            _ => store.snapshot(),
        }
    }

    /// Runs a writing statement: within the open transaction, or in one of its own that commits if `work`
    /// succeeds. A failure leaves no trace of the statement.
    pub fn write<T>(
        &mut self,
        store: &Arc<Store>,
        settings: &Settings,
        cancel: &Cancel,
        work: impl FnOnce(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        match self {
            TransactionState::Open(open) => {
                let writer = match &mut open.writer {
                    Some(writer) => writer,
                    unwritten => unwritten.insert(store.begin(settings.lock_timeout, cancel)?),
                };
                work(writer)
            }
            _ => {
                let mut writer = store.begin(settings.lock_timeout, cancel)?;
                let result = work(&mut writer)?;
                writer.commit();
                Ok(result)
            }
        }
    }
}

fn no_transaction() -> Error {
    Error::new(
        SqlState::NO_ACTIVE_TRANSACTION,
        "there is no transaction in progress",
    )
}
