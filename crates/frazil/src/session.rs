//! What a connection's statements work on.

use crate::cursors::NamedCursors;
use crate::database::Database;
use crate::deadline::{Clock, Deadline};
use crate::frame_tables::Frames;
use crate::notice::Notice;
use crate::notifications::{Listening, Outbox};
use crate::panics;
use crate::prepared_statements::PreparedStatements;
use crate::session_view::SessionView;
use crate::settings::{self, Around, Board, Change, Settings, User};
use crate::settled::Answer;
use crate::transaction::{self, Modes, TransactionState};
pub use crate::writing::{Extent, Writing};
use frazil_catalog::temporary_schema;
use frazil_exec::Progress;
use frazil_frontend::{Limits, ParsedStatement, Script, TransactionModes};
use frazil_storage::{Snapshot, Transaction};
use frazil_types::session_settings::{self, SessionNumber};
use frazil_types::{Cancel, Error, Result, SqlState};
use std::sync::Arc;

/// State of a connection.
#[derive(Debug)]
pub struct Session {
    database: Database,
    settings: Arc<Settings>,
    transaction: TransactionState,
    /// The settings to which RESET goes back.
    start: Arc<Settings>,
    /// The settings around the open transaction, if there is one.
    around: Option<Around>,
    cancel: Cancel,
    clock: Clock,
    progress: Arc<Progress>,
    /// What finds frames by their names.
    frames: Option<Arc<dyn Frames>>,
    /// The settings as SHOW and functions see them.
    board: Arc<Board>,
    /// By which functions find the board.
    number: SessionNumber,
    /// True if the open transaction began without BEGIN, to hold several statements of one message.
    is_implicit: bool,
    /// The statements that PREPARE named.
    prepared: PreparedStatements,
    /// The cursors that DECLARE named.
    cursors: NamedCursors,
    /// Number of transactions that COMMIT or ROLLBACK ended.
    ended: u64,
    /// LISTEN, UNLISTEN and notifications of the open transaction, which take effect when it commits.
    outbox: Outbox,
}

impl Session {
    /// Default settings, no transaction.
    pub fn new(database: Database, cancel: Cancel, progress: Arc<Progress>) -> Session {
        let of_no_session = Settings {
            file_access: database.file_access().clone(),
            has_indexes: database
                .directory()
                .is_none_or(|directory| directory.has_indexes()),
            ..Settings::default()
        };
        let settings = Arc::new(of_no_session.clone());
        let board = Arc::new(Board::new(database.clone(), settings, cancel.clone()));
        database.exchange().join(board.mailbox());
        let weak = Arc::downgrade(&board);
        let number = session_settings::register(weak);
        let view: Arc<dyn SessionView> = board.clone();
        database.roster().enter(number.get(), Arc::downgrade(&view));
        let temporary = temporary_schema(number.get());
        let settings = Arc::new(Settings {
            search_path: of_no_session.search_path.of_session(&temporary, false),
            ..of_no_session
        });
        Session {
            database,
            settings,
            transaction: TransactionState::None,
            start: Arc::default(),
            around: None,
            number,
            clock: Clock::new(cancel.clone()),
            cancel,
            progress,
            frames: None,
            cursors: NamedCursors::new(board.listed_cursors().clone()),
            prepared: PreparedStatements::new(board.listed_statements().clone()),
            board,
            ended: 0,
            outbox: Outbox::default(),
            is_implicit: false,
        }
    }

    /// Opens a transaction for statements that belong together without BEGIN, unless one is open.
    pub fn begin_implicit(&mut self) -> Result<()> {
        if !self.transaction.is_open() {
            self.transaction
                .begin(self.default_modes(), TransactionModes::default())?;
            self.is_implicit = true;
        }
        Ok(())
    }

    /// From now on names may mean temporary objects.
    pub fn begin_temporary(&mut self) {
        let path = &self.settings.search_path;
        let Some(name) = path.temporary().filter(|_| !path.has_temporary()) else {
            return;
        };
        let path = path.of_session(name, true);
        let in_sight = |settings: &mut Arc<Settings>| {
            let settings = Arc::make_mut(settings);
            settings.search_path = settings.search_path.in_session_of(&path);
        };
        in_sight(&mut self.settings);
        if let Some(around) = &mut self.around {
            in_sight(&mut around.lasting);
        }
        self.tell();
    }

    /// Drops the temporary objects: DISCARD TEMP. The errors of [`Session::write`].
    pub fn drop_temporary(&mut self) -> Result<()> {
        let path = self.settings.search_path.clone();
        match path.temporary().filter(|_| path.has_temporary()) {
            Some(schema) => self.write(Extent::Rows, |_, transaction| {
                transaction.drop_temporary_schema(schema)
            }),
            None => Ok(()),
        }
    }

    /// True inside a transaction that [`Session::begin_implicit`] opened.
    pub fn is_implicit(&self) -> bool {
        self.is_implicit
    }

    /// True inside a transaction that BEGIN opened.
    pub fn is_in_block(&self) -> bool {
        self.transaction.is_open() && !self.is_implicit
    }

    /// Forgets the values that it took from sequences: DISCARD SEQUENCES.
    pub fn forget_sequences(&self) {
        self.board.sequences().forget();
    }

    /// Begins a statement for the functions of sequences.
    pub fn begin_sequences(&self) {
        let modes = self.transaction.modes().unwrap_or_else(|| self.default_modes());
        let is_read_only = modes.read_only || self.database.is_read_only();
        self.board.sequences().begin_statement(is_read_only);
    }

    /// What PREPARE named.
    pub fn prepared(&self) -> &PreparedStatements {
        &self.prepared
    }

    /// Returns the prepared statements, to be changed.
    pub fn prepared_mut(&mut self) -> &mut PreparedStatements {
        &mut self.prepared
    }

    /// Returns the number of transactions that COMMIT or ROLLBACK ended.
    pub fn ended(&self) -> u64 {
        self.ended
    }

    /// Returns the cursors that DECLARE named.
    pub fn cursors(&self) -> &NamedCursors {
        &self.cursors
    }

    /// Returns the cursors, to be changed.
    pub fn cursors_mut(&mut self) -> &mut NamedCursors {
        &mut self.cursors
    }

    /// Counts a statement that ran without pipelines. `frazil.direct_statements` shows how many did.
    pub fn count_direct(&self) {
        self.board.count_direct();
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
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// The number by which functions find the settings.
    pub fn number(&self) -> u64 {
        self.number.get()
    }

    /// The transaction state.
    pub fn transaction(&self) -> &TransactionState {
        &self.transaction
    }

    /// The transaction state, to be changed.
    pub fn transaction_mut(&mut self) -> &mut TransactionState {
        &mut self.transaction
    }

    /// 25001 inside a transaction, for a statement that cannot be part of one.
    pub fn refuse_transaction(&self, what: &str) -> Result<()> {
        match self.transaction.is_open() {
            true => Err(Error::new(
                SqlState::ACTIVE_TRANSACTION,
                format!("{what} cannot run inside a transaction"),
            )),
            false => Ok(()),
        }
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

    /// SET with the values as written, `None` for DEFAULT; SET LOCAL ends with the transaction, or with ROLLBACK TO a
    /// savepoint before it. Outside a transaction SET LOCAL does nothing, and a warning says so. 22023, 42704. 0A000
    /// for a value that is not supported, and for SET LOCAL of a setting of the database.
    pub fn set(&mut self, name: &str, values: Option<&[String]>, is_local: bool) -> Result<Option<Notice>> {
        let joined = |values| match settings::find(name) {
            Some(setting) => setting.joined(values),
            None => settings::joined_custom(name, values),
        };
        let value = values.map(joined).transpose()?;
        self.set_text(name, value.as_deref(), is_local)
    }

    fn set_text(&mut self, name: &str, value: Option<&str>, is_local: bool) -> Result<Option<Notice>> {
        let setting = settings::find(name);
        if let Some(setting) = setting.filter(|setting| setting.is_of_transaction()) {
            let default = self.board.text(name).unwrap_or_default();
            let modes = settings::modes(setting, value.unwrap_or(&default))?;
            return self.set_transaction(modes);
        }
        if let Some(setting) = setting.filter(|setting| setting.is_of_database()) {
            self.board.check_superuser(name)?;
            return match is_local {
                true => Err(Error::unsupported(format!(
                    "SET LOCAL {name}, which is a setting of the database,"
                ))),
                false => setting.set_in(&self.database, value).map(|()| None),
            };
        }
        if is_local && name.eq_ignore_ascii_case("file_access") {
            return Err(Error::unsupported("SET LOCAL file_access")
                .with_hint("SET file_access narrows it for the rest of the session"));
        }
        let start = self.start.clone();
        let user = match settings::is_role(name) {
            true => Some(self.look(|seen| self.settings.user.set(name, value, seen.catalog().access()))?),
            false => None,
        };
        let change = |settings: &mut Settings| match value {
            _ if user.is_some() => {
                user.clone().into_iter().for_each(|user| settings.set_user(user));
                Ok(())
            }
            Some(_) => settings.set(name, value),
            None => settings.reset(name, &start),
        };
        if is_local && !self.transaction.is_open() {
            change(&mut Settings::clone(&self.settings))?;
            return Ok(Some(Notice::of_error(&transaction::outside("SET LOCAL"))));
        }
        change(Arc::make_mut(&mut self.settings))?;
        if let Some(around) = self.around.as_mut().filter(|_| !is_local) {
            change(Arc::make_mut(&mut around.lasting))?;
        }
        self.tell();
        Ok(None)
    }

    /// Makes it the session of a role that logged in. Settings of the role that are not valid any more are left out.
    pub fn log_in(&mut self, user: User) {
        let role = user.roles().session;
        Arc::make_mut(&mut self.settings).set_user(user);
        for (name, value) in self.look(|seen| seen.catalog().access().settings_at_login(role)) {
            let _ = self.set_text(&name, Some(&value), false);
        }
        self.tell();
    }

    /// Makes it the session of a client of a server.
    pub fn serve(&mut self) {
        Arc::make_mut(&mut self.settings).is_served = true;
        self.tell();
    }

    /// Makes the settings those to which RESET goes back: the client's first packet gave them.
    pub fn begin_session(&mut self) {
        Arc::make_mut(&mut self.settings).begin_session();
        self.start = self.settings.clone();
        self.board.set_start(self.start.clone());
        self.tell();
    }

    /// RESET ALL: the connection's settings are those that it began with. Those of the database and the access to files
    /// stay as they are.
    pub fn reset_all(&mut self) {
        let user = self.settings.user.clone();
        let mut defaults = self.settings.rolled_back_to(&self.start);
        defaults.set_user(user);
        self.settings = Arc::new(defaults);
        if let Some(around) = &mut self.around {
            around.lasting = self.settings.clone();
        }
        self.tell();
    }

    /// DISCARD ALL: the session is as a new one. 25001 inside a transaction is the caller's to give.
    pub fn discard_all(&mut self) -> Result<()> {
        self.drop_temporary()?;
        self.forget_sequences();
        self.cursors.close(None)?;
        self.outbox.listen(Listening::ToNothing);
        self.set_text("session_authorization", None, false)?;
        self.reset_all();
        self.prepared.remove(None).map(|_| ())
    }

    /// The changes by calls of `set_config` in the statement that ended become the session's, if it succeeded.
    pub fn take_changes(&mut self, has_succeeded: bool) -> Result<()> {
        if !self.board.has_changes() {
            return Ok(());
        }
        let changes = self.board.take_changes();
        let is_open = self.transaction.is_open();
        let is_kept = |change: &Change| has_succeeded && (is_open || !change.is_local);
        for change in changes.into_iter().filter(is_kept) {
            self.set_text(&change.name, change.value.as_deref(), change.is_local)?;
        }
        self.tell();
        Ok(())
    }

    /// Adds the calls of `pg_notify` since the last statement: its own, and those of cursors and portals, whose rows
    /// are computed between statements.
    pub fn take_notified(&mut self) {
        if self.board.has_notified() {
            let notified = self.board.take_notified().into_iter();
            notified.for_each(|sent| self.outbox.add(sent));
        }
    }

    /// Returns the notifications of the open transaction, to be changed.
    pub fn outbox_mut(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// Returns the settings as functions see them, with the session's mailbox.
    pub fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// Puts settings and modes where SHOW and functions see them.
    fn tell(&self) {
        let modes = self.transaction.modes().map(|modes| TransactionModes {
            isolation: Some(modes.isolation),
            read_only: Some(modes.read_only),
        });
        self.board.tell(&self.settings, modes);
    }

    /// The modes of transactions that do not name any.
    fn default_modes(&self) -> Modes {
        Modes::default().with(self.settings.modes())
    }

    /// BEGIN.
    pub fn begin(&mut self, modes: TransactionModes) -> Result<Option<Notice>> {
        let notice = match std::mem::take(&mut self.is_implicit) {
            true => self.transaction.set_modes(modes).map(|()| None)?,
            false => self.transaction.begin(self.default_modes(), modes)?,
        };
        self.around.get_or_insert_with(|| Around::new(&self.settings));
        self.tell();
        Ok(notice)
    }

    /// SET TRANSACTION.
    pub fn set_transaction(&mut self, modes: TransactionModes) -> Result<Option<Notice>> {
        if !self.transaction.is_open() {
            return Ok(Some(Notice::of_error(&transaction::outside("SET TRANSACTION"))));
        }
        self.transaction.set_modes(modes)?;
        self.tell();
        Ok(None)
    }

    /// SET SESSION CHARACTERISTICS AS TRANSACTION.
    pub fn set_session_transaction(&mut self, modes: TransactionModes) -> Result<()> {
        let modes = self.default_modes().with(modes);
        let read_only = settings::shown_flag(modes.read_only);
        self.set_text(
            "default_transaction_isolation",
            Some(&modes.isolation.to_string()),
            false,
        )?;
        self.set_text("default_transaction_read_only", Some(read_only), false)?;
        Ok(())
    }

    /// The settings after a transaction, or after one before another in a chain.
    fn end_settings(&mut self, is_committed: bool) {
        self.ended += 1;
        let statistics = self.database.statistics();
        statistics.count_transaction(self.number.get(), is_committed);
        if let Some(around) = self.around.take() {
            match is_committed {
                true => self.settings = around.lasting,
                false if Arc::ptr_eq(&self.settings, &around.before) => {}
                false => self.settings = Arc::new(self.settings.rolled_back_to(&around.before)),
            }
        }
        self.around = (self.transaction.is_open()).then(|| Around::new(&self.settings));
        if !is_committed {
            let committed = self.database.store().look();
            self.forget_undone_sequences(&committed);
        }
        self.tell();
    }

    /// Forgets the values of sequences that a ROLLBACK undid. `left`: what it left.
    fn forget_undone_sequences(&self, left: &Snapshot) {
        let catalog = left.catalog();
        self.board
            .sequences()
            .keep_existing(|sequence| catalog.sequence_of(sequence).is_some());
    }

    /// COMMIT of a transaction whose checks were all done: [`crate::deferred_commit::commit`] does them.
    pub fn commit_checked(&mut self, chain: bool) -> Result<(&'static str, Option<Notice>)> {
        if self.transaction.check().is_ok()
            && let Err(error) = self.cursors.hold(&self.cancel)
        {
            self.rollback(false)?;
            return Err(error);
        }
        let is_implicit = std::mem::take(&mut self.is_implicit);
        if chain && is_implicit {
            self.is_implicit = true;
            return Err(transaction::outside("COMMIT AND CHAIN"));
        }
        let database = self.database.clone();
        self.take_notified();
        let sending = match self.transaction.check() {
            Ok(()) => database.exchange().begin_for(&self.outbox),
            Err(_) => Ok(None),
        };
        let sending = match sending {
            Ok(sending) => sending,
            Err(error) => {
                self.rollback(false)?;
                return Err(error);
            }
        };
        let result = self.transaction.commit(self.settings.synchronous_commit, chain);
        let is_committed = matches!(result, Ok(("COMMIT", _)));
        match sending.filter(|_| is_committed) {
            Some(sending) => sending.send(&mut self.outbox, self.board.mailbox()),
            None => self.outbox = Outbox::default(),
        }
        self.cursors.end_transaction(is_committed);
        self.end_settings(is_committed);
        result.map(|(tag, notice)| match is_implicit {
            true => (tag, Some(transaction::no_transaction())),
            false => (tag, notice),
        })
    }

    /// ROLLBACK.
    pub fn rollback(&mut self, chain: bool) -> Result<Option<Notice>> {
        let is_implicit = std::mem::take(&mut self.is_implicit);
        if chain && is_implicit {
            self.is_implicit = true;
            return Err(transaction::outside("ROLLBACK AND CHAIN"));
        }
        let result = self.transaction.rollback(chain);
        self.board.take_notified();
        self.outbox = Outbox::default();
        self.cursors.end_transaction(false);
        self.end_settings(false);
        result.map(|notice| match is_implicit {
            true => Some(transaction::no_transaction()),
            false => notice,
        })
    }

    /// SAVEPOINT.
    pub fn savepoint(&mut self, name: String) -> Result<()> {
        if self.is_implicit {
            return Err(transaction::outside("SAVEPOINT"));
        }
        let Some(around) = &mut self.around else {
            return self.transaction.savepoint(name, 0);
        };
        let noted = name.clone();
        // Savepoints between which no setting changes share a moment.
        let is_same = around.moments.last().is_some_and(|(settings, lasting)| {
            Arc::ptr_eq(settings, &self.settings) && Arc::ptr_eq(lasting, &around.lasting)
        });
        let number = around.moments.len() - usize::from(is_same);
        self.transaction.savepoint(name, number)?;
        self.cursors.savepoint(&noted);
        self.outbox.savepoint(&noted);
        if !is_same {
            let moment = (self.settings.clone(), around.lasting.clone());
            around.moments.push(moment);
        }
        Ok(())
    }

    /// RELEASE of a savepoint.
    pub fn release(&mut self, name: &str) -> Result<()> {
        self.transaction.release(name)?;
        self.cursors.release(name);
        self.outbox.release(name);
        Ok(())
    }

    /// ROLLBACK TO.
    pub fn rollback_to(&mut self, name: &str) -> Result<()> {
        let number = self.transaction.rollback_to(name)?;
        self.cursors.rollback_to(name);
        self.outbox.rollback_to(name);
        if let Some(around) = &mut self.around
            && let Some((settings, lasting)) = around.moments.get(number)
        {
            self.settings = Arc::new(self.settings.rolled_back_to(settings));
            around.lasting = Arc::new(around.lasting.rolled_back_to(lasting));
            around.moments.truncate(number);
            around
                .moments
                .push((self.settings.clone(), around.lasting.clone()));
        }
        self.look(|left| self.forget_undone_sequences(left));
        self.tell();
        Ok(())
    }

    /// The text of a setting. 42704.
    pub fn show(&self, name: &str) -> Result<String> {
        self.board.text(name).ok_or_else(|| settings::unknown(name))
    }

    /// Name and text of the settings that clients of a server are told.
    pub fn reported(&self) -> Vec<(&'static str, String)> {
        settings::all()
            .filter(|setting| setting.is_reported)
            .map(|setting| (setting.name, self.board.text(setting.name).unwrap_or_default()))
            .collect()
    }

    /// Name, text and description of every setting, by name.
    pub fn show_all(&self) -> Vec<[String; 3]> {
        let mut all: Vec<[String; 3]> = settings::all()
            .filter(|setting| settings::is_listed(setting))
            .map(|setting| {
                let text = self.board.text(setting.name).unwrap_or_default();
                [setting.name.to_owned(), text, setting.about.to_owned()]
            })
            .collect();
        all.sort_by_key(|row| row[0].to_lowercase());
        all
    }

    /// The parts of the session that a writing statement works with.
    pub fn writing(&self) -> Writing<'_> {
        Writing {
            settings: &self.settings,
            cancel: &self.cancel,
            budget: self.database.budget(),
            database: &self.database,
            progress: &self.progress,
            frames: self.frames.as_ref(),
            board: &self.board,
        }
    }

    /// Runs a writing statement: see [`TransactionState::write`].
    pub fn write<T: Answer>(
        &mut self,
        extent: Extent,
        mut work: impl FnMut(Writing<'_>, &mut Transaction) -> Result<T>,
    ) -> Result<T> {
        let writing = Writing {
            settings: &self.settings,
            cancel: &self.cancel,
            budget: self.database.budget(),
            database: &self.database,
            progress: &self.progress,
            frames: self.frames.as_ref(),
            board: &self.board,
        };
        (self.transaction).write(self.database.store(), writing, extent, |t| work(writing, t))
    }

    /// Runs LOCK TABLE: see [`TransactionState::lock`].
    pub fn lock(&mut self, nowait: bool, work: impl FnMut(&mut Transaction) -> Result<()>) -> Result<()> {
        let writing = Writing {
            settings: &self.settings,
            cancel: &self.cancel,
            budget: self.database.budget(),
            database: &self.database,
            progress: &self.progress,
            frames: self.frames.as_ref(),
            board: &self.board,
        };
        (self.transaction).lock(self.database.store(), writing, nowait, work)
    }
}

impl Drop for Session {
    /// Rolls back, and drops the temporary objects. Where somebody writes alone meanwhile, they are dropped later.
    fn drop(&mut self) {
        self.transaction = TransactionState::None;
        self.database.roster().leave(self.number.get());
        let path = &self.settings.search_path;
        if let Some(schema) = path.temporary().filter(|_| path.has_temporary()) {
            self.database.store().abandon_temporary(schema);
        }
    }
}

/// 42601 for text that is not exactly one statement.
fn not_one(count: usize) -> Error {
    Error::new(
        SqlState::SYNTAX_ERROR,
        format!("a prepared statement is one statement, not {count}"),
    )
}
