//! The transaction state of a connection.
//!
//! Outside BEGIN each statement is its own transaction. Inside, a statement reads what is committed when
//! it begins, and what the transaction itself did; the first statement that writes becomes the one
//! writer and stays it to the end. After a failure every statement but ROLLBACK, ROLLBACK TO (or COMMIT, which
//! then rolls back) is refused, so what the failed statement did is undone before anything reads again.
//!
//! A savepoint is a name for a moment. ROLLBACK TO undoes what was done since, drops the savepoints made since and
//! keeps the one it names; RELEASE drops that one and those made since. The latest of several of one name counts.

use crate::parameters;
use crate::session::Writing;
use frazil_storage::{Acknowledge, Savepoint, Snapshot, Store, Transaction};
use frazil_types::{Error, Result, SqlState};
use std::sync::Arc;

/// Where a connection stands.
#[derive(Debug, Default)]
pub enum TransactionState {
    /// Outside a transaction.
    #[default]
    None,
    /// Inside one.
    Open(OpenTransaction),
    /// Inside one that failed. The writer is there only if savepoints are: a ROLLBACK TO goes on with it.
    Failed(OpenTransaction),
}

/// A transaction between BEGIN and COMMIT.
#[derive(Debug)]
pub struct OpenTransaction {
    /// When it began, in microseconds since 1970.
    started: i64,
    /// Once it wrote.
    writer: Option<Transaction>,
    /// Its savepoints, in the order in which they were made.
    savepoints: Vec<NamedSavepoint>,
}

#[derive(Debug)]
struct NamedSavepoint {
    name: String,
    /// None: the transaction had not written yet.
    moment: Option<Savepoint>,
    /// Changes of settings by SET LOCAL before it.
    local: usize,
}

impl OpenTransaction {
    /// Position of the latest savepoint of a name. 3B001.
    fn find(&self, name: &str) -> Result<usize> {
        let found = self.savepoints.iter().rposition(|s| s.name == name);
        found.ok_or_else(|| {
            let message = format!("savepoint \"{name}\" does not exist");
            Error::new(SqlState::INVALID_SAVEPOINT, message)
        })
    }

    fn rollback_to(&mut self, name: &str) -> Result<usize> {
        let at = self.find(name)?;
        self.savepoints.truncate(at + 1);
        match (&self.savepoints[at].moment, &mut self.writer) {
            (Some(moment), Some(writer)) => writer.rollback_to(moment.clone()),
            // Nothing was written before the savepoint: the next writer is let in.
            _ => self.writer = None,
        }
        Ok(self.savepoints[at].local)
    }
}

impl TransactionState {
    /// When the open transaction began, in microseconds since 1970.
    pub fn started(&self) -> Option<i64> {
        match self {
            TransactionState::Open(open) => Some(open.started),
            TransactionState::None | TransactionState::Failed(_) => None,
        }
    }

    /// Whether it is inside a transaction.
    pub fn is_open(&self) -> bool {
        !matches!(self, TransactionState::None)
    }

    /// 25P02 inside a failed transaction.
    pub fn check(&self) -> Result<()> {
        match self {
            TransactionState::Failed(_) => Err(Error::new(
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
            savepoints: Vec::new(),
        });
        Ok(())
    }

    /// COMMIT; of a failed transaction it is ROLLBACK. Returns what was done. After an error nothing was, or that is unknown: 08007.
    pub fn commit(&mut self, acknowledge: Acknowledge) -> Result<&'static str> {
        match std::mem::take(self) {
            TransactionState::None => Err(no_transaction()),
            TransactionState::Failed(_) => Ok("ROLLBACK"),
            TransactionState::Open(open) => {
                if let Some(writer) = open.writer {
                    writer.commit_as(acknowledge)?;
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

    /// SAVEPOINT, after so many changes of settings by SET LOCAL. 25P01 outside a transaction.
    pub fn savepoint(&mut self, name: String, local: usize) -> Result<()> {
        let open = self.open("SAVEPOINT")?;
        let moment = open.writer.as_mut().map(Transaction::savepoint);
        open.savepoints.push(NamedSavepoint { name, moment, local });
        Ok(())
    }

    /// RELEASE. 25P01 outside a transaction, 3B001 for an unknown savepoint.
    pub fn release(&mut self, name: &str) -> Result<()> {
        let open = self.open("RELEASE SAVEPOINT")?;
        let at = open.find(name)?;
        open.savepoints.truncate(at);
        Ok(())
    }

    /// ROLLBACK TO, after which a failed transaction goes on. Returns how many changes by SET LOCAL stay. 25P01 outside a transaction,
    /// 3B001 for an unknown savepoint.
    pub fn rollback_to(&mut self, name: &str) -> Result<usize> {
        match std::mem::take(self) {
            TransactionState::None => Err(outside("ROLLBACK TO SAVEPOINT")),
            TransactionState::Open(mut open) => {
                let result = open.rollback_to(name);
                *self = TransactionState::Open(open);
                result
            }
            TransactionState::Failed(mut failed) => {
                let result = failed.rollback_to(name);
                *self = match result {
                    Ok(_) => TransactionState::Open(failed),
                    Err(_) => TransactionState::Failed(failed),
                };
                result
            }
        }
    }

    /// The transaction that `statement` is part of. 25P01 outside one, 25P02 in a failed one.
    fn open(&mut self, statement: &str) -> Result<&mut OpenTransaction> {
        self.check()?;
        match self {
            TransactionState::Open(open) => Ok(open),
            _ => Err(outside(statement)),
        }
    }

    /// A statement failed: of a transaction that it was part of only ROLLBACK is left, or ROLLBACK TO. Without a savepoint the
    /// writer lets the next one in.
    pub fn fail(&mut self) {
        *self = match std::mem::take(self) {
            TransactionState::Open(mut open) => {
                if open.savepoints.is_empty() {
                    open.writer = None;
                }
                TransactionState::Failed(open)
            }
            other => other,
        };
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

    /// The same, for a statement that is done with it in no time.
    pub fn look<T>(&self, store: &Store, work: impl FnOnce(&Snapshot) -> T) -> T {
        match self {
            TransactionState::Open(OpenTransaction {
                writer: Some(writer), ..
            }) => work(&writer.snapshot()),
            _ => work(&store.look()),
        }
    }

    /// Runs a writing statement: within the open transaction, or in one of its own that commits if `work`
    /// succeeds. A failure leaves no trace: the open transaction is failed then, and every way on undoes the statement.
    pub fn write<T>(
        &mut self,
        store: &Arc<Store>,
        Writing {
            settings,
            cancel,
            budget,
        }: Writing<'_>,
        work: impl FnOnce(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        let begin = || {
            let begun = store.begin(settings.lock_timeout, cancel)?;
            Ok(begun.within(budget, cancel))
        };
        match self {
            TransactionState::Open(open) => {
                let writer = match &mut open.writer {
                    Some(writer) => writer,
                    unwritten => unwritten.insert(begin()?),
                };
                let result = work(writer);
                writer.settle().and(result)
            }
            _ => {
                let mut writer = begin()?;
                match work(&mut writer) {
                    Ok(result) => writer.commit_as(settings.synchronous_commit).map(|_| result),
                    Err(e) => writer.settle().and(Err(e)),
                }
            }
        }
    }
}

/// 25P01 for a statement that only a transaction has.
pub fn outside(statement: &str) -> Error {
    let message = format!("{statement} can only be used in transaction blocks");
    Error::new(SqlState::NO_ACTIVE_TRANSACTION, message).with_hint("BEGIN starts a transaction")
}

fn no_transaction() -> Error {
    Error::new(
        SqlState::NO_ACTIVE_TRANSACTION,
        "there is no transaction in progress",
    )
}
