//! The transaction state of a connection.
//!
//! Outside BEGIN each statement is its own transaction. Inside, a statement of READ COMMITTED reads what is committed
//! when it begins, and what the transaction itself did. If it meets a row that another transaction has changed since,
//! it waits for that one and runs again. With REPEATABLE READ all statements read what was committed before the
//! first, and a write of a row that others have changed since is 40001. A transaction of SERIALIZABLE that writes
//! does so alone, and is 40001 if others have committed since: so what such transactions write is what they would
//! write one after the other. After a failure every statement but ROLLBACK, ROLLBACK TO (or COMMIT, which then rolls
//! back) is refused, so what the failed statement did is undone before anything reads again.
//!
//! A savepoint is a name for a moment. ROLLBACK TO undoes what was done since, drops the savepoints made since and
//! keeps the one it names; RELEASE drops that one and those made since. The latest of several of one name counts.

use crate::notice::Notice;
use crate::parameters;
use crate::session::{Extent, Writing};
use crate::settled::Answer;
use frazil_frontend::{Isolation, TransactionModes};
use frazil_storage::{Acknowledge, Savepoint, Snapshot, Store, Transaction};
use frazil_types::{Cancel, Error, Result, SqlState};
use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use std::time::Duration;

/// Where a connection stands.
#[derive(Debug, Default)]
pub enum TransactionState {
    /// Outside a transaction.
    #[default]
    None,
    /// Inside one.
    Open(OpenTransaction),
    /// Inside one that failed. The writer is there only if it had begun before the last savepoint: a ROLLBACK TO goes
    /// on with it.
    Failed(OpenTransaction),
}

/// The modes of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// Its isolation level.
    pub isolation: Isolation,
    /// True if it may not write.
    pub read_only: bool,
}

impl Modes {
    /// These with what a statement says.
    pub fn with(self, modes: TransactionModes) -> Modes {
        Modes {
            isolation: modes.isolation.unwrap_or(self.isolation),
            read_only: modes.read_only.unwrap_or(self.read_only),
        }
    }
}

/// A transaction between BEGIN and COMMIT.
#[derive(Debug)]
pub struct OpenTransaction {
    /// When it began, in microseconds since 1970.
    started: i64,
    /// Its modes.
    modes: Modes,
    /// True once a statement has read or written.
    is_used: Cell<bool>,
    /// The version that all its statements see, if they see one.
    seen: OnceCell<Arc<Snapshot>>,
    /// True once a statement that saw the version is over: it may have shown something of it.
    has_shown: Cell<bool>,
    /// True if the running statement is the first that reads or writes, but for LOCK TABLE.
    is_first: bool,
    /// True after LOCK TABLE, if the transaction has neither read nor written: it has not chosen the version that all
    /// its statements see.
    has_only_locked: bool,
    /// Once it wrote, or locked tables.
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
    /// One that begins now.
    fn new(modes: Modes) -> OpenTransaction {
        OpenTransaction {
            started: parameters::now_micros(),
            modes,
            is_used: Cell::new(false),
            seen: OnceCell::new(),
            has_shown: Cell::new(false),
            is_first: true,
            has_only_locked: false,
            writer: None,
            savepoints: Vec::new(),
        }
    }

    /// The version that a statement sees; `newest` is asked where the transaction does not say.
    fn view(&self, newest: impl FnOnce() -> Arc<Snapshot>) -> Arc<Snapshot> {
        self.is_used.set(true);
        if let Some(writer) = &self.writer {
            return writer.snapshot();
        }
        if !self.modes.isolation.keeps_snapshot() {
            return newest();
        }
        self.seen.get_or_init(newest).clone()
    }

    /// The writer, which begins if there is none, and sees what the next statement is to see. 40001, 55P03, 57014,
    /// 40P01.
    fn writer(
        &mut self,
        store: &Arc<Store>,
        writing: Writing<'_>,
        (extent, limit): (Extent, Duration),
    ) -> Result<&mut Transaction> {
        let cancel = writing.cancel;
        if self.writer.is_none() {
            let begun = match (self.modes.isolation, extent) {
                (Isolation::Serializable, _) => {
                    let begun = store.begin_alone(limit, cancel)?;
                    self.check_newest(&begun)?;
                    begun
                }
                (Isolation::RepeatableRead, _) => {
                    // A version that was only bound to may be old when there is room.
                    let seen = self.seen.get().filter(|_| self.has_shown.get()).cloned();
                    let begun = store.begin_at(seen, limit, cancel)?;
                    self.seen = OnceCell::from(begun.snapshot());
                    self.has_shown.set(true);
                    begun
                }
                (_, Extent::Everything) => store.begin_alone(limit, cancel)?,
                (_, Extent::Definitions) => store.begin_defining(limit, cancel)?,
                (_, Extent::Rows) => store.begin_visible(limit, cancel)?,
            };
            self.writer = Some(begun.within(writing.budget, cancel));
        }
        let Some(writer) = &mut self.writer else {
            return Err(Error::internal("a transaction without its writer"));
        };
        writer.check_log()?;
        writer.set_patience(limit, cancel);
        match extent {
            Extent::Everything => writer.alone()?,
            Extent::Definitions => writer.define()?,
            // The statement began with what it is to see.
            Extent::Rows => {}
        }
        Ok(writer)
    }

    /// Checks that a writer of SERIALIZABLE writes on top of what the transaction has shown. 40001.
    fn check_newest(&self, writer: &Transaction) -> Result<()> {
        let is_behind = |seen: &Arc<Snapshot>| seen.timestamp() != writer.view().timestamp();
        if self.has_shown.get() && self.seen.get().is_some_and(is_behind) {
            let message = "could not serialize access because another transaction has committed since";
            return Err(Error::new(SqlState::SERIALIZATION_FAILURE, message)
                .with_hint("the transaction might succeed if it is run again"));
        }
        Ok(())
    }

    /// Begins a statement, and lets it see what is committed by now if it sees that.
    fn begin_statement(&mut self) -> Result<()> {
        let has_seen = self.seen.get().is_some();
        if has_seen {
            self.has_shown.set(true);
        }
        let has_only_locked = std::mem::take(&mut self.has_only_locked);
        self.is_first = has_only_locked || self.writer.is_none() && !has_seen;
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        writer.see_visible()?;
        if has_only_locked {
            writer.keep_base(true);
            self.seen = OnceCell::from(writer.snapshot());
        }
        Ok(())
    }

    /// The writer for LOCK TABLE. Locks come before the version that all statements see, if the transaction has not
    /// chosen one: what others committed before the locks is to be seen.
    fn locker(
        &mut self,
        store: &Arc<Store>,
        writing: Writing<'_>,
        limit: Duration,
    ) -> Result<&mut Transaction> {
        let keeps_open = self.is_first && self.modes.isolation == Isolation::RepeatableRead;
        self.writer(store, writing, (Extent::Rows, limit))?;
        if keeps_open {
            self.forget_seen();
            self.has_only_locked = true;
        }
        let Some(writer) = &mut self.writer else {
            return Err(Error::internal("a transaction without its writer"));
        };
        if keeps_open {
            writer.keep_base(false);
            writer.renew()?;
        }
        Ok(writer)
    }

    /// Forgets the version that all statements see, of which nothing was shown.
    fn forget_seen(&mut self) {
        self.seen = OnceCell::new();
        self.has_shown.set(false);
    }

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

    /// When the open transaction began, also if it failed, in microseconds since 1970.
    pub fn began(&self) -> Option<i64> {
        match self {
            TransactionState::Open(open) | TransactionState::Failed(open) => Some(open.started),
            TransactionState::None => None,
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

    /// The modes of the open transaction.
    pub fn modes(&self) -> Option<Modes> {
        match self {
            TransactionState::Open(open) | TransactionState::Failed(open) => Some(open.modes),
            TransactionState::None => None,
        }
    }

    /// BEGIN. In an open transaction that is a warning, and only the modes change that are given.
    pub fn begin(&mut self, defaults: Modes, modes: TransactionModes) -> Result<Option<Notice>> {
        if let TransactionState::None = self {
            *self = TransactionState::Open(OpenTransaction::new(defaults.with(modes)));
            return Ok(None);
        }
        self.set_modes(modes)?;
        let message = "there is already a transaction in progress";
        Ok(Some(Notice::warning(SqlState::ACTIVE_TRANSACTION, message)))
    }

    /// Changes the modes of the open transaction. 25001 for those that must be said before its first query.
    pub fn set_modes(&mut self, modes: TransactionModes) -> Result<()> {
        let TransactionState::Open(open) = self else {
            return Ok(());
        };
        let isolates = modes.isolation.is_some_and(|level| level != open.modes.isolation);
        let lets_write = modes.read_only == Some(false) && open.modes.read_only;
        let message = match (isolates, lets_write) {
            (true, _) => "SET TRANSACTION ISOLATION LEVEL must be called before any query",
            (_, true) => "transaction read-write mode must be set before any query",
            (false, false) => "",
        };
        if open.is_used.get() && !message.is_empty() {
            return Err(Error::new(SqlState::ACTIVE_TRANSACTION, message));
        }
        open.modes = open.modes.with(modes);
        Ok(())
    }

    /// COMMIT; of a failed transaction it is ROLLBACK. Returns what was done, and a warning outside a transaction.
    /// After an error nothing was done, or that is unknown: 08007. With `chain` another transaction of the same modes
    /// begins.
    pub fn commit(
        &mut self,
        acknowledge: Acknowledge,
        chain: bool,
    ) -> Result<(&'static str, Option<Notice>)> {
        let modes = self.ending("COMMIT AND CHAIN", chain)?;
        let tag = match std::mem::take(self) {
            TransactionState::None => return Ok(("COMMIT", Some(no_transaction()))),
            TransactionState::Failed(_) => "ROLLBACK",
            TransactionState::Open(open) => {
                if let Some(writer) = open.writer {
                    writer.commit_as(acknowledge)?;
                }
                "COMMIT"
            }
        };
        self.chain(modes);
        Ok((tag, None))
    }

    /// ROLLBACK; outside a transaction a warning. With `chain` another transaction of the same modes begins.
    pub fn rollback(&mut self, chain: bool) -> Result<Option<Notice>> {
        let modes = self.ending("ROLLBACK AND CHAIN", chain)?;
        let notice = match std::mem::take(self) {
            TransactionState::None => Some(no_transaction()),
            TransactionState::Open(open) => {
                if let Some(writer) = open.writer {
                    writer.rollback_settled()?;
                }
                None
            }
            // The statement that failed waited for what the transaction saw.
            TransactionState::Failed(_) => None,
        };
        self.chain(modes);
        Ok(notice)
    }

    /// The modes of the transaction behind the one that ends, if there is to be one. 25P01 for a chain outside a
    /// transaction.
    fn ending(&self, statement: &str, chain: bool) -> Result<Option<Modes>> {
        match (chain, self.modes()) {
            (false, _) => Ok(None),
            (true, None) => Err(outside(statement)),
            (true, modes) => Ok(modes),
        }
    }

    fn chain(&mut self, modes: Option<Modes>) {
        if let Some(modes) = modes {
            *self = TransactionState::Open(OpenTransaction::new(modes));
        }
    }

    /// True if the open transaction put off checks.
    pub fn has_put_off(&self) -> bool {
        let writer = self.written();
        writer.is_some_and(|writer| writer.deferred().pending().next().is_some())
    }

    /// The writing part of the open transaction; `None` until it writes.
    pub fn written(&self) -> Option<&Transaction> {
        match self {
            TransactionState::Open(open) => open.writer.as_ref(),
            TransactionState::None | TransactionState::Failed(_) => None,
        }
    }

    /// The writer of the open transaction.
    pub fn open_writer(&mut self) -> Option<&mut Transaction> {
        match self {
            TransactionState::Open(open) => open.writer.as_mut(),
            TransactionState::None | TransactionState::Failed(_) => None,
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

    /// ROLLBACK TO, after which a failed transaction goes on. Returns how many changes by SET LOCAL stay. 25P01 outside
    /// a transaction, 3B001 for an unknown savepoint.
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

    /// A statement failed: of a transaction that it was part of only ROLLBACK is left, or ROLLBACK TO. The
    /// changes since the last savepoint, or all of them, are undone, and their claims are given back.
    pub fn fail(&mut self) {
        *self = match std::mem::take(self) {
            TransactionState::Open(mut open) => {
                // Changes since the last savepoint are undone at once, and their claims are given back.
                match (open.savepoints.last(), &mut open.writer) {
                    (
                        Some(NamedSavepoint {
                            moment: Some(moment), ..
                        }),
                        Some(writer),
                    ) => {
                        writer.rollback_to(moment.clone());
                    }
                    _ => open.writer = None,
                }
                TransactionState::Failed(open)
            }
            other => other,
        };
    }

    /// What a reading statement sees.
    pub fn snapshot(&self, store: &Store) -> Arc<Snapshot> {
        match self {
            TransactionState::Open(open) => open.view(|| store.snapshot()),
            TransactionState::None | TransactionState::Failed(_) => store.snapshot(),
        }
    }

    /// The same, for a statement that is done with it in no time.
    pub fn look<T>(&self, store: &Store, work: impl FnOnce(&Snapshot) -> T) -> T {
        match self {
            TransactionState::Open(open)
                if open.writer.is_some() || open.modes.isolation.keeps_snapshot() =>
            {
                work(&open.view(|| store.snapshot()))
            }
            TransactionState::Open(open) => {
                open.is_used.set(true);
                work(&store.look())
            }
            TransactionState::None | TransactionState::Failed(_) => work(&store.look()),
        }
    }

    /// Begins a statement of an open transaction, and lets it see what is committed by now if it sees that.
    pub fn refresh(&mut self) -> Result<()> {
        match self {
            TransactionState::Open(open) => open.begin_statement(),
            TransactionState::None | TransactionState::Failed(_) => Ok(()),
        }
    }

    /// Waits for what the open transaction saw of others before anybody hears of it: see [`Transaction::settle`].
    pub fn settle(&mut self) -> Result<()> {
        self.open_writer().map_or(Ok(()), Transaction::settle)
    }

    /// True if a version was chosen that all statements of the open transaction see.
    pub fn has_seen(&self) -> bool {
        matches!(self, TransactionState::Open(open) if open.seen.get().is_some())
    }

    /// True if the next statement sees what is committed by then.
    pub fn sees_later(&self) -> bool {
        !matches!(self, TransactionState::Failed(_)) && !self.has_seen()
    }

    /// Forgets that version, of which nothing was shown.
    pub fn forget_seen(&mut self) {
        if let TransactionState::Open(open) = self {
            open.forget_seen();
        }
    }

    /// Runs LOCK TABLE, which a read-only transaction may do. With `nowait`, nobody is waited for. 25P01 outside a
    /// transaction, 55P03, 57014, 40P01.
    pub fn lock(
        &mut self,
        store: &Arc<Store>,
        writing: Writing<'_>,
        nowait: bool,
        work: impl FnMut(&mut Transaction) -> Result<()>,
    ) -> Result<()> {
        let open = self.open("LOCK TABLE")?;
        let limit = match nowait {
            true => Duration::ZERO,
            false => writing.settings.lock_timeout,
        };
        let writer = open.locker(store, writing, limit)?;
        let result = run_until_it_sees_all(writer, (Extent::Rows, writing.cancel), work);
        writer.settle().and(result)
    }

    /// Runs a writing statement: within the open transaction, or in one of its own that commits if `work`
    /// succeeds. `work` runs again as long as it meets commits that it did not see ([`Transaction::runs_again`]). 25006
    /// where it is read-only, 40001 where others have changed what it writes and it must not run again, 40P01, 55P03. A
    /// failure leaves no trace: the open transaction is failed then, and every way on undoes the statement. An answer
    /// within a transaction that tells no more than a number of rows does not wait until what it saw is durable.
    pub fn write<T: Answer>(
        &mut self,
        store: &Arc<Store>,
        writing: Writing<'_>,
        extent: Extent,
        mut work: impl FnMut(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        let Writing {
            settings,
            cancel,
            budget,
            ..
        } = writing;
        if self.modes().map_or(settings.read_only, |modes| modes.read_only) {
            let message = "cannot change anything in a read-only transaction";
            return Err(Error::new(SqlState::READ_ONLY_TRANSACTION, message));
        }
        match self {
            TransactionState::Open(open) => {
                open.is_used.set(true);
                let writer = open.writer(store, writing, (extent, settings.lock_timeout))?;
                match run_until_it_sees_all(writer, (extent, cancel), work) {
                    Ok(answer) if !answer.tells_rows() => Ok(answer),
                    told => writer.settle().and(told),
                }
            }
            _ => {
                let writer = match (extent, settings.isolation) {
                    (Extent::Everything, _) | (_, Isolation::Serializable) => {
                        store.begin_alone(settings.lock_timeout, cancel)
                    }
                    (Extent::Definitions, _) => store.begin_defining(settings.lock_timeout, cancel),
                    (Extent::Rows, _) => store.begin(settings.lock_timeout, cancel),
                };
                let mut writer = writer?.within(budget, cancel);
                match run_until_it_sees_all(&mut writer, (extent, cancel), &mut work) {
                    Ok(result) => writer.commit_as(settings.synchronous_commit).map(|_| result),
                    Err(e) => writer.settle().and(Err(e)),
                }
            }
        }
    }
}

/// Runs a statement, and again if it met commits that it did not see.
fn run_until_it_sees_all<T>(
    writer: &mut Transaction,
    (extent, cancel): (Extent, &Cancel),
    mut work: impl FnMut(&mut Transaction) -> Result<T>,
) -> Result<T> {
    writer.begin_statement();
    loop {
        match extent {
            Extent::Rows => {}
            // A definition may come to a table that others have changed after it has changed something itself.
            Extent::Definitions | Extent::Everything => writer.guard_statement(),
        }
        match work(writer) {
            Err(error) if !writer.runs_again()? => return Err(error),
            Err(_) => cancel.check()?,
            done => return done,
        }
    }
}

/// 25P01 for a statement that only a transaction has.
pub fn outside(statement: &str) -> Error {
    let message = format!("{statement} can only be used in transaction blocks");
    Error::new(SqlState::NO_ACTIVE_TRANSACTION, message).with_hint("BEGIN starts a transaction")
}

/// The warning 25P01 of COMMIT and ROLLBACK outside a transaction block.
pub fn no_transaction() -> Notice {
    Notice::warning(
        SqlState::NO_ACTIVE_TRANSACTION,
        "there is no transaction in progress",
    )
}
