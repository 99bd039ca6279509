//! What a connection's statements work on.

use crate::background_checkpointer::{DEFAULT_LOG_BYTES, DEFAULT_TIMEOUT};
use crate::background_freezer::{DEFAULT_COOLING, DEFAULT_REFREEZE_BUDGET};
use crate::database::Database;
use crate::deadline::{Clock, Deadline};
use crate::frame_tables::Frames;
use crate::notice::Notice;
use crate::panics;
use crate::prepared_statements::PreparedStatements;
use crate::settings::{self, Settings};
use crate::transaction::{self, Modes, TransactionState};
use frazil_exec::Progress;
use frazil_frontend::{Limits, ParsedStatement, Script, TransactionModes};
use frazil_storage::{Snapshot, Transaction};
use frazil_types::{Cancel, Error, MemoryBudget, Result, SqlState, Value};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// Settings that all connections share.
const DATABASE_SETTINGS: [&str; 6] = [
    "memory_limit",
    "max_wal_size",
    "checkpoint_timeout",
    "frazil.freeze_after",
    "frazil.refreeze_budget",
    "frazil.background_failures",
];

/// State of a connection.
#[derive(Debug)]
pub struct Session {
    database: Database,
    settings: Settings,
    transaction: TransactionState,
    /// What SET LOCAL changed in the open transaction, in order: name and value before.
    local: Vec<(String, String)>,
    cancel: Cancel,
    clock: Clock,
    progress: Arc<Progress>,
    /// What finds frames by their names.
    frames: Option<Arc<dyn Frames>>,
    /// Statements that ran without pipelines.
    direct: Cell<u64>,
    /// What PREPARE named.
    prepared: PreparedStatements,
}

impl Session {
    /// Default settings, no transaction.
    pub fn new(database: Database, cancel: Cancel, progress: Arc<Progress>) -> Session {
        let settings = Settings {
            file_access: database.file_access().clone(),
            ..Settings::default()
        };
        Session {
            database,
            settings,
            transaction: TransactionState::None,
            local: Vec::new(),
            clock: Clock::new(cancel.clone()),
            cancel,
            progress,
            frames: None,
            direct: Cell::new(0),
            prepared: PreparedStatements::default(),
        }
    }

    /// What PREPARE named.
    pub fn prepared(&self) -> &PreparedStatements {
        &self.prepared
    }

    /// The same, to be changed.
    pub fn prepared_mut(&mut self) -> &mut PreparedStatements {
        &mut self.prepared
    }

    /// Counts a statement that ran without pipelines. `frazil.direct_statements` shows how many did.
    pub fn count_direct(&self) {
        self.direct.set(self.direct.get() + 1);
    }

    /// What finds frames by their names.
    pub fn frames(&self) -> Option<&Arc<dyn Frames>> {
        self.frames.as_ref()
    }

    /// Lets statements read frames.
    pub fn set_frames(&mut self, frames: Arc<dyn Frames>) {
        self.frames = Some(frames);
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

    /// The same, for a statement that is done with it in no time.
    pub fn look<T>(&self, work: impl FnOnce(&Snapshot) -> T) -> T {
        self.transaction.look(self.database.store(), work)
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
                self.database.footers().limit(limit);
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
            "max_wal_size" => {
                let bytes = match value {
                    Value::Null => DEFAULT_LOG_BYTES,
                    given if settings::is_off(given) => 0,
                    given => settings::bytes(name, given).map_err(or_off)? as u64,
                };
                let policy = self.database.checkpoints();
                policy.set_log_bytes(Some(bytes).filter(|&b| b > 0));
            }
            "checkpoint_timeout" => {
                let age = match value {
                    Value::Null => DEFAULT_TIMEOUT,
                    given if settings::is_off(given) => Duration::ZERO,
                    given => settings::duration(name, given).map_err(or_off)?,
                };
                let policy = self.database.checkpoints();
                policy.set_timeout(Some(age).filter(|age| !age.is_zero()));
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
            "transaction_isolation" | "transaction_read_only" => {
                self.set_transaction(settings::modes(name, value)?)?;
            }
            _ => {
                self.settings.set(name, value)?;
                // It outlives the transaction, as in PostgreSQL.
                self.local.retain(|(local, _)| local != name);
            }
        }
        Ok(())
    }

    /// SET LOCAL: the value before comes back with the end of the transaction, and with ROLLBACK TO a savepoint before.
    /// Outside a transaction it does nothing, and a warning says so. 0A000 for a setting of the database.
    pub fn set_local(&mut self, name: &str, value: &Value) -> Result<Option<Notice>> {
        if !self.transaction.is_open() {
            self.settings.clone().set(name, value)?;
            return Ok(Some(Notice::of_error(&transaction::outside("SET LOCAL"))));
        }
        if DATABASE_SETTINGS.contains(&name) {
            return Err(Error::unsupported(format!(
                "SET LOCAL {name}, which is a setting of the database,"
            )));
        }
        if name == "file_access" {
            return Err(Error::unsupported("SET LOCAL file_access")
                .with_hint("SET file_access narrows it for the rest of the session"));
        }
        let before = self.settings.show(name)?;
        self.settings.set(name, value)?;
        self.local.push((name.to_string(), before));
        Ok(None)
    }

    /// RESET ALL: the connection's settings are the defaults. Those of the database and the access to files stay as
    /// they are.
    pub fn reset_all(&mut self) {
        self.settings = Settings {
            // It is only narrowed.
            file_access: self.settings.file_access.clone(),
            ..Settings::default()
        };
        self.local.clear();
    }

    /// The modes of transactions to come.
    fn default_modes(&self) -> Modes {
        Modes {
            isolation: self.settings.isolation,
            read_only: self.settings.read_only,
        }
    }

    /// BEGIN.
    pub fn begin(&mut self, modes: TransactionModes) -> Result<Option<Notice>> {
        let defaults = self.default_modes();
        self.transaction.begin(defaults, modes)
    }

    /// SET TRANSACTION.
    pub fn set_transaction(&mut self, modes: TransactionModes) -> Result<Option<Notice>> {
        if !self.transaction.is_open() {
            return Ok(Some(Notice::of_error(&transaction::outside("SET TRANSACTION"))));
        }
        self.transaction.set_modes(modes).map(|()| None)
    }

    /// SET SESSION CHARACTERISTICS AS TRANSACTION.
    pub fn set_session_transaction(&mut self, modes: TransactionModes) {
        let modes = self.default_modes().with(modes);
        self.settings.isolation = modes.isolation;
        self.settings.read_only = modes.read_only;
    }

    /// Takes back what SET LOCAL changed since so many changes.
    fn undo_local(&mut self, count: usize) {
        for (name, before) in self.local.drain(count.min(self.local.len())..).rev() {
            let restored = self.settings.set(&name, &Value::Text(before));
            debug_assert!(restored.is_ok(), "{name} has been what it is shown as");
        }
    }

    /// COMMIT.
    pub fn commit(&mut self, chain: bool) -> Result<(&'static str, Option<Notice>)> {
        let result = self.transaction.commit(self.settings.synchronous_commit, chain);
        self.undo_local(0);
        result
    }

    /// ROLLBACK.
    pub fn rollback(&mut self, chain: bool) -> Result<Option<Notice>> {
        let result = self.transaction.rollback(chain);
        self.undo_local(0);
        result
    }

    /// SAVEPOINT.
    pub fn savepoint(&mut self, name: String) -> Result<()> {
        self.transaction.savepoint(name, self.local.len())
    }

    /// ROLLBACK TO.
    pub fn rollback_to(&mut self, name: &str) -> Result<()> {
        let local = self.transaction.rollback_to(name)?;
        self.undo_local(local);
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
            "max_wal_size" => Ok(match self.database.checkpoints().log_bytes() {
                Some(bytes) => format!("{bytes}B"),
                None => "off".to_owned(),
            }),
            "checkpoint_timeout" => Ok(match self.database.checkpoints().timeout() {
                Some(age) => format!("{}ms", age.as_millis()),
                None => "off".to_owned(),
            }),
            "frazil.background_failures" => Ok(self.database.freezer().failures().to_string()),
            "frazil.refreeze_budget" => Ok(match self.database.freezer().refreeze_budget() {
                0 => "off".to_owned(),
                bytes => format!("{bytes}B"),
            }),
            "transaction_isolation" | "transaction_read_only" => {
                let modes = self.transaction.modes().unwrap_or_else(|| self.default_modes());
                Ok(match name {
                    "transaction_isolation" => modes.isolation.to_string(),
                    _ => settings::shown_flag(modes.read_only),
                })
            }
            _ => self.settings.show(name),
        }
    }

    /// Runs a writing statement: see [`TransactionState::write`].
    pub fn write<T>(&mut self, work: impl FnOnce(Writing<'_>, &mut Transaction) -> Result<T>) -> Result<T> {
        let writing = Writing {
            settings: &self.settings,
            cancel: &self.cancel,
            budget: self.database.budget(),
        };
        (self.transaction).write(self.database.store(), writing, |t| work(writing, t))
    }
}

/// What a writing statement knows of its session.
#[derive(Clone, Copy)]
pub struct Writing<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// The flag that cancels the statement.
    pub cancel: &'a Cancel,
    /// What it takes memory from.
    pub budget: &'a MemoryBudget,
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
