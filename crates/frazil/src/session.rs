//! What a connection's statements work on.

use crate::background_freezer::{DEFAULT_COOLING, DEFAULT_REFREEZE_BUDGET};
use crate::database::Database;
use crate::deadline::{Clock, Deadline};
use crate::panics;
use crate::settings::{self, Settings};
use crate::transaction::TransactionState;
use frazil_exec::Progress;
use frazil_frontend::{Limits, ParsedStatement, Script};
use frazil_storage::{Snapshot, Transaction};
use frazil_types::{Cancel, Error, Result, SqlState, Value};
use std::cell::Cell;
use std::sync::Arc;

/// State of a connection.
#[derive(Debug)]
pub struct Session {
    database: Database,
    settings: Settings,
    transaction: TransactionState,
    cancel: Cancel,
    clock: Clock,
    progress: Arc<Progress>,
    /// Statements that ran without pipelines.
    direct: Cell<u64>,
}

impl Session {
    /// Default settings, no transaction.
    pub fn new(database: Database, cancel: Cancel, progress: Arc<Progress>) -> Session {
        Session {
            database,
            settings: Settings::default(),
            transaction: TransactionState::None,
            clock: Clock::new(cancel.clone()),
            cancel,
            progress,
            direct: Cell::new(0),
        }
    }

    /// Counts a statement that ran without pipelines. `frazil.direct_statements` shows how many did.
    pub fn count_direct(&self) {
        self.direct.set(self.direct.get() + 1);
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The transaction state.
    pub fn transaction(&self) -> &TransactionState {
        &self.transaction
    }

    /// The transaction state, to be changed.
    pub fn transaction_mut(&mut self) -> &mut TransactionState {
        &mut self.transaction
    }

    /// The flag that cancels the running statement.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Starts the time that a statement has, by `statement_timeout`.
    pub fn start_deadline(&self) -> Result<Deadline> {
        self.clock.start(self.settings.statement_timeout)
    }

    /// Where the running statement says how far it is.
    pub fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// What a reading statement sees.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.transaction.snapshot(self.database.store())
    }

    /// Cuts text into statements. An error inside a transaction ends it.
    pub fn script(&mut self, sql: &str) -> Result<Script> {
        self.database.check_open()?;
        let limits = Limits {
            cancel: self.cancel.clone(),
            budget: self.database.budget().clone(),
        };
        panics::survive(|| Script::new(sql, &limits)).inspect_err(|_| self.transaction.fail())
    }

    /// Reads the next statement. An error inside a transaction ends it.
    pub fn next_of(&mut self, script: &mut Script) -> Result<Option<ParsedStatement>> {
        panics::survive(|| script.next().transpose()).inspect_err(|_| self.transaction.fail())
    }

    /// Parses text that must be one statement.
    pub fn parse_one(&mut self, sql: &str) -> Result<ParsedStatement> {
        let mut script = self.script(sql)?;
        match script.len() {
            1 => self.next_of(&mut script)?.ok_or_else(|| not_one(0)),
            several => Err(not_one(several)),
        }
    }

    /// SET; NULL stands for DEFAULT.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<()> {
        match name {
            "memory_limit" => {
                let limit = match value.is_null() {
                    true => Database::default_memory_limit(),
                    false => settings::bytes(name, value)?,
                };
                self.database.budget().set_limit(limit);
                self.database.plan_cache().limit(limit);
                frazil_runtime::memory::limit_pool(limit);
            }
            "frazil.freeze_after" => {
                let cooling = match value {
                    Value::Null => Some(DEFAULT_COOLING),
                    given if settings::is_off(given) => None,
                    given => Some(settings::duration(name, given).map_err(or_off)?),
                };
                self.database.freezer().set_cooling(cooling);
            }
            "frazil.refreeze_budget" => {
                let bytes = match value {
                    Value::Null => DEFAULT_REFREEZE_BUDGET,
                    given if settings::is_off(given) => 0,
                    given => settings::bytes(name, given).map_err(or_off)? as u64,
                };
                self.database.freezer().set_refreeze_budget(bytes);
            }
            "frazil.background_failures" | "frazil.direct_statements" => {
                return Err(Error::new(
                    SqlState::CANT_CHANGE_PARAMETER,
                    format!("parameter \"{name}\" cannot be changed"),
                ));
            }
            _ => return self.settings.set(name, value),
        }
        Ok(())
    }

    /// SHOW.
    pub fn show(&self, name: &str) -> Result<String> {
        match name {
            "memory_limit" => Ok(format!("{}B", self.database.budget().limit())),
            "frazil.freeze_after" => Ok(match self.database.freezer().cooling() {
                Some(cooling) => format!("{}ms", cooling.as_millis()),
                None => "off".to_owned(),
            }),
            "frazil.direct_statements" => Ok(self.direct.get().to_string()),
            "frazil.background_failures" => Ok(self.database.freezer().failures().to_string()),
            "frazil.refreeze_budget" => Ok(match self.database.freezer().refreeze_budget() {
                0 => "off".to_owned(),
                bytes => format!("{bytes}B"),
            }),
            _ => self.settings.show(name),
        }
    }

    /// Runs a writing statement: see [`TransactionState::write`].
    pub fn write<T>(&mut self, work: impl FnOnce(&Settings, &mut Transaction) -> Result<T>) -> Result<T> {
        let settings = &self.settings;
        let limits = (self.database.budget(), &self.cancel);
        (self.transaction).write(self.database.store(), settings, limits, |t| work(settings, t))
    }
}

fn or_off(e: Error) -> Error {
    e.with_hint("off turns it off")
}

/// 42601 for text that is not exactly one statement.
fn not_one(count: usize) -> Error {
    Error::new(
        SqlState::SYNTAX_ERROR,
        format!("a prepared statement is one statement, not {count}"),
    )
}
