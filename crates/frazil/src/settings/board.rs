//! The settings of a session as others see them: SHOW between statements, and the functions `current_setting` and
//! `set_config` while a statement runs, on whatever thread.

use super::setting::Access;
use super::{Setting, Settings, find, is_role, listed};
use crate::activity::{self, Activity};
use crate::database::Database;
use crate::lock_waits::LockTable;
use crate::notifications::{self, Mailbox};
use crate::session_view::{
    ListedCursor, ListedCursors, ListedSetting, ListedStatement, ListedStatements, SessionView,
};
use crate::statistics::DatabaseStatistics;
use frazil_catalog::RoleId;
use frazil_frontend::{Isolation, TransactionModes};
use frazil_types::sequence_values::SequenceValues;
use frazil_types::session_settings::SessionSettings;
use frazil_types::{Cancel, Error, Result, SqlState};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The messages of a session that may not be cancelled: a superuser's, and another's.
const CANCEL: [&str; 2] = [
    "must be a superuser to cancel superuser query",
    "must be a member of the role whose query is being canceled or member of pg_signal_backend",
];
/// The messages of a session that may not be ended: a superuser's, and another's.
const TERMINATE: [&str; 2] = [
    "must be a superuser to terminate superuser process",
    "must be a member of the role whose process is being terminated or member of pg_signal_backend",
];

/// Time between two looks for a session that is to end.
const PAUSE: Duration = Duration::from_millis(5);

/// The settings of a session.
#[derive(Debug)]
pub(crate) struct Board {
    database: Database,
    /// Statements that ran without pipelines.
    direct: AtomicU64,
    state: Mutex<State>,
    /// True if the running statement has changed a setting.
    has_changes: AtomicBool,
    sequences: SequenceValues,
    /// The statement that runs, as others see it.
    activity: Arc<Activity>,
    /// The statements that PREPARE named, as others see them.
    prepared: ListedStatements,
    /// The cursors that DECLARE named, as others see them.
    cursors: ListedCursors,
    /// The portals that a server has begun and that pause, as others see them.
    portals: ListedCursors,
    mailbox: Arc<Mailbox>,
    /// Calls of `pg_notify` in the running statement.
    notified: Mutex<Vec<(String, String)>>,
    /// True if there are some.
    has_notified: AtomicBool,
}

#[derive(Debug)]
struct State {
    settings: Arc<Settings>,
    /// The settings to which RESET goes back.
    start: Arc<Settings>,
    /// The modes of the open transaction.
    modes: Option<TransactionModes>,
    /// Calls of `set_config` in the running statement: of those that change one setting in one way, the last. By the
    /// setting's name in lower case, and true for a change that ends with the transaction.
    changes: BTreeMap<(String, bool), Pending>,
    /// Calls of `set_config` so far.
    calls: u64,
}

#[derive(Debug)]
struct Pending {
    /// The number of the call.
    at: u64,
    change: Change,
}

/// A call of `set_config`.
#[derive(Debug)]
pub(crate) struct Change {
    pub name: String,
    /// `None`: the default.
    pub value: Option<String>,
    /// True if it ends with the transaction.
    pub is_local: bool,
}

/// A state of a session, from which the values of its reported settings derive. Equal states have equal values.
#[derive(Clone, Debug)]
pub struct ReportedState {
    /// Settings that are held are copied before they are changed.
    settings: Arc<Settings>,
    /// The version of the catalog, which knows the roles.
    catalog: u64,
}

impl PartialEq for ReportedState {
    fn eq(&self, other: &ReportedState) -> bool {
        Arc::ptr_eq(&self.settings, &other.settings) && self.catalog == other.catalog
    }
}

impl Board {
    pub fn new(database: Database, settings: Arc<Settings>, cancel: Cancel) -> Board {
        Board {
            database,
            direct: AtomicU64::new(0),
            state: Mutex::new(State {
                start: Arc::default(),
                settings,
                modes: None,
                changes: BTreeMap::new(),
                calls: 0,
            }),
            has_changes: AtomicBool::new(false),
            sequences: SequenceValues::default(),
            activity: Arc::new(Activity::new(cancel)),
            prepared: ListedStatements::default(),
            cursors: ListedCursors::default(),
            portals: ListedCursors::default(),
            mailbox: Arc::new(Mailbox::new()),
            notified: Mutex::default(),
            has_notified: AtomicBool::new(false),
        }
    }

    /// The list in which the session shows its prepared statements.
    pub fn listed_statements(&self) -> &ListedStatements {
        &self.prepared
    }

    /// The list in which the session shows its cursors.
    pub fn listed_cursors(&self) -> &ListedCursors {
        &self.cursors
    }

    /// The list in which the session shows portals that pause.
    pub fn listed_portals(&self) -> &ListedCursors {
        &self.portals
    }

    /// The notifications that wait for the session.
    pub fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// Takes the calls of `pg_notify` by the statement that ran.
    pub fn take_notified(&self) -> Vec<(String, String)> {
        match self.has_notified.swap(false, Relaxed) {
            true => std::mem::take(&mut *self.notified.lock().unwrap_or_else(PoisonError::into_inner)),
            false => Vec::new(),
        }
    }

    /// True if the statement has called `pg_notify`.
    pub fn has_notified(&self) -> bool {
        self.has_notified.load(Relaxed)
    }

    /// The values that the session took from sequences.
    pub fn sequences(&self) -> &SequenceValues {
        &self.sequences
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Counts a statement that ran without pipelines. Only the session's thread counts.
    pub fn count_direct(&self) {
        self.direct.store(self.direct.load(Relaxed) + 1, Relaxed);
    }

    /// Statements that ran without pipelines.
    pub fn direct_statements(&self) -> u64 {
        self.direct.load(Relaxed)
    }

    /// The name of the current role and that of the session's.
    pub fn user_names(&self) -> (String, String) {
        let user = self.state().settings.user.clone();
        user.names(self.database.store().look().catalog().access())
    }

    /// The role of SET ROLE, or `none`.
    pub fn role_setting(&self) -> String {
        let user = self.state().settings.user.clone();
        user.role_setting(self.database.store().look().catalog().access())
    }

    /// 42501 unless the current role is a superuser, for a setting that all sessions share.
    pub fn check_superuser(&self, name: &str) -> Result<()> {
        match self.is_superuser() {
            true => Ok(()),
            false => Err(Error::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("permission denied to set parameter \"{name}\""),
            )),
        }
    }

    /// True if the current role is a superuser.
    pub fn is_superuser(&self) -> bool {
        let role = self.state().settings.user.roles().current;
        self.database.store().look().catalog().access().is_superuser(role)
    }

    /// 42501 unless the current role may signal a session: one of a role whose privileges it has, or any that is not a
    /// superuser's with the privileges of `pg_signal_backend`. `words` are the two messages.
    fn check_signal(&self, session: &dyn SessionView, words: [&str; 2]) -> Result<()> {
        let (of, by) = (
            RoleId(session.user().0),
            self.state().settings.user.roles().current,
        );
        let store = self.database.store().look();
        let access = store.catalog().access();
        let message = match access.is_superuser(of) {
            true if !access.is_superuser(by) => words[0],
            false
                if !access.has_privileges_of(by, of)
                    && !access.has_privileges_of(by, RoleId::SIGNAL_BACKEND) =>
            {
                words[1]
            }
            _ => return Ok(()),
        };
        Err(Error::new(SqlState::INSUFFICIENT_PRIVILEGE, message))
    }

    /// 42501 for a role that is not a superuser.
    fn check_execute(&self, function: &str) -> Result<()> {
        let by = self.state().settings.user.roles().current;
        if self.database.store().look().catalog().access().is_superuser(by) {
            return Ok(());
        }
        let message = format!("permission denied for function {function}");
        Err(Error::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
            .with_hint("superusers may call the function"))
    }

    fn modes(&self) -> TransactionModes {
        let state = self.state();
        state.modes.unwrap_or_else(|| state.settings.modes())
    }

    /// The isolation level of the open transaction, or of the next one.
    pub fn isolation(&self) -> Isolation {
        self.modes().isolation.unwrap_or_default()
    }

    /// True if the open transaction, or the next one, may not write.
    pub fn is_read_only(&self) -> bool {
        self.modes().read_only.unwrap_or_default()
    }

    /// Tells of the session's settings, and of the modes of its open transaction.
    pub fn tell(&self, settings: &Arc<Settings>, modes: Option<TransactionModes>) {
        let mut state = self.state();
        state.settings = settings.clone();
        state.modes = modes;
    }

    /// Keeps the settings to which RESET goes back.
    pub fn set_start(&self, start: Arc<Settings>) {
        self.state().start = start;
    }

    /// The state from which the values of reported settings derive.
    pub fn reported_state(&self) -> ReportedState {
        let settings = self.state().settings.clone();
        let catalog = self.database.store().look().catalog().version();
        ReportedState { settings, catalog }
    }

    /// The settings, and those to which RESET goes back.
    pub fn both_settings(&self) -> (Arc<Settings>, Arc<Settings>) {
        let state = self.state();
        (state.settings.clone(), state.start.clone())
    }

    /// The changes by the statement that ran, in order, without those that a later one replaced.
    pub fn take_changes(&self) -> Vec<Change> {
        if !self.has_changes.swap(false, Relaxed) {
            return Vec::new();
        }
        let changes = std::mem::take(&mut self.state().changes);
        let mut changes: Vec<Pending> = changes.into_values().collect();
        changes.sort_by_key(|pending| pending.at);
        changes.into_iter().map(|pending| pending.change).collect()
    }

    /// True if the statement has changed settings.
    pub fn has_changes(&self) -> bool {
        self.has_changes.load(Relaxed)
    }

    /// The text of a setting; `None` for an unknown name.
    pub fn text(&self, name: &str) -> Option<String> {
        match find(name).map(|setting| &setting.access) {
            Some(Access::Database { show, .. } | Access::Transaction(show) | Access::Shown(show)) => {
                Some(show(self))
            }
            Some(Access::Session { .. } | Access::Kept { .. } | Access::Constant(_)) | None => {
                let settings = self.state().settings.clone();
                settings.show(name)
            }
        }
    }
}

impl SessionView for Board {
    fn number(&self) -> i32 {
        self.mailbox.number()
    }

    fn user(&self) -> (u32, String) {
        let user = self.state().settings.user.clone();
        user.login(self.database.store().look().catalog().access())
    }

    fn application(&self) -> String {
        self.text("application_name").unwrap_or_default()
    }

    fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    fn settings(&self) -> Vec<ListedSetting> {
        listed(self)
    }

    fn cursors(&self) -> Vec<Arc<ListedCursor>> {
        let mut all = self.cursors.all();
        all.extend(self.portals.all());
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn prepared(&self) -> Vec<(String, ListedStatement)> {
        let prepared = self.prepared.list();
        let all = prepared
            .iter()
            .map(|(name, statement)| (name.clone(), statement.clone()));
        all.collect()
    }

    fn locks(&self) -> LockTable {
        LockTable::of(self.database.roster(), self.database.store().locks())
    }

    fn statistics(&self) -> &DatabaseStatistics {
        self.database.statistics()
    }
}

impl SessionSettings for Board {
    fn database(&self) -> String {
        self.database.name().to_owned()
    }

    fn show(&self, name: &str) -> Result<Option<String>> {
        Ok(self.text(name))
    }

    fn notify(&self, channel: &str, payload: &str) -> Result<()> {
        let sent = notifications::checked(channel, payload)?;
        let mut notified = self.notified.lock().unwrap_or_else(PoisonError::into_inner);
        notified.push(sent);
        self.has_notified.store(true, Relaxed);
        Ok(())
    }

    fn number(&self) -> i32 {
        self.mailbox.number()
    }

    fn cancel(&self, number: i32) -> Result<bool> {
        let Some(session) = self.database.roster().of_client(number) else {
            return Ok(false);
        };
        self.check_signal(&*session, CANCEL)?;
        session.activity().cancel();
        Ok(true)
    }

    fn terminate(&self, number: i32, patience: Duration) -> Result<bool> {
        let find = || self.database.roster().of_client(number);
        let Some(session) = find() else {
            return Ok(false);
        };
        self.check_signal(&*session, TERMINATE)?;
        session.activity().end(activity::terminated());
        drop(session);
        let begun = Instant::now();
        loop {
            if patience.is_zero() || find().is_none() {
                return Ok(true);
            }
            // The session's own end.
            if self.activity.is_cancelled() || begun.elapsed() >= patience {
                return Ok(false);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn reset_statistics(&self) -> Result<()> {
        self.check_execute("pg_stat_reset")?;
        self.statistics().reset(crate::parameters::now_micros());
        for table in self.database.store().look().tables() {
            table.table().row_counts().reset();
            table.indexes().iter().for_each(|index| index.reset_uses());
        }
        Ok(())
    }

    fn reset_statements(&self) -> Result<()> {
        self.check_execute("pg_stat_statements_reset")?;
        self.statistics().reset_statements();
        Ok(())
    }

    fn blocking(&self, number: i32) -> Vec<i32> {
        self.locks().blocking(number)
    }

    fn user(&self) -> String {
        self.user_names().0
    }

    fn session_user(&self) -> String {
        self.user_names().1
    }

    fn channels(&self) -> Vec<String> {
        self.mailbox.channels()
    }

    fn notification_usage(&self) -> f64 {
        self.database.exchange().usage()
    }

    fn sequences(&self) -> SequenceValues {
        self.sequences.clone()
    }

    fn set(&self, name: &str, value: Option<&str>, is_local: bool) -> Result<String> {
        if let Some(setting) = find(name)
            && (setting.is_of_database() || setting.is_of_transaction())
        {
            return Err(by_statement(setting));
        }
        let mut state = self.state();
        match value {
            _ if is_role(name) => {
                let store = self.database.store().look();
                let user = state.settings.user.set(name, value, store.catalog().access())?;
                Arc::make_mut(&mut state.settings).set_user(user);
            }
            Some(_) => Arc::make_mut(&mut state.settings).set(name, value)?,
            None => {
                let start = state.start.clone();
                Arc::make_mut(&mut state.settings).reset(name, &start)?;
            }
        }
        state.calls += 1;
        let change = Change {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            is_local,
        };
        let pending = Pending {
            at: state.calls,
            change,
        };
        state.changes.insert((name.to_lowercase(), is_local), pending);
        self.has_changes.store(true, Relaxed);
        drop(state);
        let shown = self.text(name);
        shown.ok_or_else(|| Error::internal(format!("no setting {name} after its change")))
    }
}

/// 0A000 for a setting that `set_config` does not change.
fn by_statement(setting: &Setting) -> Error {
    Error::unsupported(format!("set_config of {}", setting.name)).with_hint("SET changes it")
}
