//! A connection: settings, transaction state, and the statements run on it, one at a time.

use crate::activity::{Activity, Step};
use crate::api_names::resolved;
use crate::appender::Appender;
use crate::database::Database;
use crate::execute;
use crate::frame_tables::Frames;
use crate::given_values::GivenValues;
use crate::in_use::{InUse, Turns};
use crate::notifications::Listener;
use crate::params::Params;
use crate::row::Row;
use crate::row_sink::{CopyStreams, Delivery, RowSink};
use crate::rows::{Response, Rows};
use crate::sequence_info::SequenceInfo;
use crate::session::Session;
use crate::session_view::SessionView;
use crate::settings::{ReportedState, SessionTimeouts, User};
use crate::statement::Statement;
use crate::table_info::{DomainInfo, EnumInfo, TableInfo, ViewInfo};
use frazil_catalog::{Catalog, QualifiedName, Relation};
use frazil_exec::Progress;
use frazil_storage::Snapshot;
use frazil_types::{Cancel, ObjectId, Result};
use std::cell::RefCell;
use std::sync::{Arc, MutexGuard};
use std::time::Instant;

/// A connection to a database. Clones are the same connection: statements on them wait for each other.
#[derive(Clone, Debug)]
pub struct Connection(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    session: Turns,
    cancel: Cancel,
    progress: Arc<Progress>,
    database: Database,
}

/// Cancels what runs on a connection, from any thread.
#[derive(Clone, Debug)]
pub struct CancelHandle(Cancel);

impl CancelHandle {
    /// Cancels the statement that runs now; the connection lives on.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl Connection {
    pub(crate) fn new(database: Database) -> Connection {
        let cancel = Cancel::new();
        let progress = Arc::new(Progress::new());
        let session = Session::new(database.clone(), cancel.clone(), progress.clone());
        Connection(Arc::new(Shared {
            session: Turns::new(session),
            cancel,
            progress,
            database,
        }))
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.0.database
    }

    /// Runs one or several statements, separated by semicolons; returns what the last one gave.
    pub fn execute(&self, sql: &str) -> Result<Response> {
        self.execute_with(sql, ())
    }

    /// The same with values for `$1`, `$2` and so on.
    pub fn execute_with(&self, sql: &str, parameters: impl Params) -> Result<Response> {
        let mut last = None;
        self.execute_each(sql, parameters, &mut |response| {
            keep(&mut last, response);
            Ok(())
        })?;
        Ok(last.unwrap_or_default())
    }

    /// The rows of a query, or of what RETURNING shows. 02000 for a command without rows.
    pub fn query(&self, sql: &str, parameters: impl Params) -> Result<Rows> {
        self.execute_with(sql, parameters)?.outcome.into_rows()
    }

    /// The only row of a query. 02000 if there is none, 21000 if there are several.
    pub fn query_row(&self, sql: &str, parameters: impl Params) -> Result<Row> {
        self.query(sql, parameters)?.one()
    }

    /// The only row of a query, or none. 21000 if there are several.
    pub fn query_opt(&self, sql: &str, parameters: impl Params) -> Result<Option<Row>> {
        self.query(sql, parameters)?.at_most_one()
    }

    /// Runs statements as [`Connection::execute_with`] does, but hands rows over while they are computed: as much of
    /// a query's result is held as some megabytes a thread, or what a single vector of its source gives if that is
    /// more. The response says how many rows there were. A statement that fails may have handed over some.
    pub fn execute_into(
        &self,
        sql: &str,
        parameters: impl Params,
        sink: &mut dyn RowSink,
    ) -> Result<Response> {
        let mut last = None;
        let mut take = |response| {
            keep(&mut last, response);
            Ok(())
        };
        let parameters = parameters.parameters()?;
        let to = Delivery::Parts(&RefCell::new(sink));
        self.each(sql, parameters.given(), to, &mut take)?;
        Ok(last.unwrap_or_default())
    }

    /// Runs statements as [`Connection::execute`] does; COPY … FROM STDIN reads from `streams`, COPY … TO STDOUT writes
    /// to them.
    pub fn execute_copy(&self, sql: &str, streams: &mut dyn CopyStreams) -> Result<Response> {
        let mut last = None;
        let mut take = |response| {
            keep(&mut last, response);
            Ok(())
        };
        let to = Delivery::Copied(&RefCell::new(streams));
        self.each(sql, GivenValues::NONE, to, &mut take)?;
        Ok(last.unwrap_or_default())
    }

    /// Runs statements one after the other and hands each one's result to `take`. Stops at the first error.
    pub fn execute_each(
        &self,
        sql: &str,
        parameters: impl Params,
        take: &mut dyn FnMut(Response) -> Result<()>,
    ) -> Result<()> {
        self.each(sql, parameters.parameters()?.given(), Delivery::Whole, take)
    }

    fn each(
        &self,
        sql: &str,
        parameters: GivenValues<'_>,
        to: Delivery<'_>,
        take: &mut dyn FnMut(Response) -> Result<()>,
    ) -> Result<()> {
        let mut session = self.start()?;
        // The time of the first statement begins before its text is read.
        let mut deadline = Some(session.start_deadline()?);
        let compiled = {
            let _inside = self.0.database.enter()?;
            execute::cached(&session, sql, parameters)
                .and_then(|statement| execute::run_compiled(&mut session, &statement, parameters, to))
        };
        if let Some(result) = compiled {
            // The plan cache knows the text without what is around it.
            let (before, text) = sql.split_at(sql.len() - sql.trim_start().len());
            return take(result.map_err(|error| error.placed_behind(before, text))?);
        }
        let begun = Instant::now();
        let mut script = session.script(sql)?;
        let mut parse = begun.elapsed();
        loop {
            let begun = Instant::now();
            let Some(statement) = session.next_of(&mut script)? else {
                return Ok(());
            };
            parse += begun.elapsed();
            let mut response = {
                let _inside = self.0.database.enter()?;
                let _deadline = match deadline.take() {
                    Some(deadline) => deadline,
                    None => session.start_deadline()?,
                };
                execute::run(&mut session, &statement, parameters, to, &mut None)?
            };
            response.timing.parse = std::mem::take(&mut parse);
            take(response)?;
        }
    }

    /// Lets statements read frames: where no table and no view has a name, `frames` is asked for it.
    pub fn set_frames(&self, frames: Arc<dyn Frames>) {
        self.session().set_frames(frames);
    }

    /// Whether a text was compiled to a statement that runs without pipelines, and so ends at once unless it waits for
    /// another writer. False while a statement runs on the connection.
    pub fn is_direct(&self, sql: &str) -> bool {
        let session = self.0.session.try_look();
        session.is_some_and(|session| execute::is_cached_direct(&session, sql))
    }

    /// Parses one statement, to be run several times. It is bound and compiled when it first runs.
    pub fn prepare(&self, sql: &str) -> Result<Statement> {
        let mut session = self.start()?;
        let _deadline = session.start_deadline()?;
        let statement = session.parse_one(sql)?;
        Ok(Statement::new(self.clone(), statement))
    }

    /// Appends rows to a table in large batches, as one transaction.
    pub fn appender(&self, table: &str) -> Result<Appender> {
        Appender::new(self, table)
    }

    /// Cancels what runs here, from any thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle(self.0.cancel.clone())
    }

    /// Returns the activity of the connection, as other sessions see it, for a server.
    pub fn activity(&self) -> Arc<Activity> {
        self.session().board().activity().clone()
    }

    /// Notes that a text of a server's client begins to run.
    pub fn begin_activity(&self, text: &str) {
        let session = self.session();
        let transaction = session.transaction().began();
        session.board().activity().begin(text, transaction);
    }

    /// Notes that a server's session waits for its client.
    pub fn pause_activity(&self) {
        let session = self.session();
        let transaction = session.transaction().began();
        let step = match (transaction, session.transaction().check()) {
            (None, _) => Step::Idle,
            (Some(_), Ok(())) => Step::InTransaction,
            (Some(_), Err(_)) => Step::InFailedTransaction,
        };
        session.board().activity().pause(step, transaction);
    }

    /// The times after which a server ends the session.
    pub fn session_timeouts(&self) -> SessionTimeouts {
        self.session().settings().timeouts
    }

    /// Makes the roles of the session those of a login.
    pub(crate) fn become_user(&self, user: User) {
        self.session().log_in(user);
    }

    /// Makes the connection that of a client of a server, which can end the session.
    pub fn serve(&self) {
        self.session().serve();
    }

    /// Makes the settings those to which RESET goes back: a server's client asked for them at its start.
    pub fn begin_session(&self) {
        self.session().begin_session();
    }

    /// Takes the notifications of channels that the connection listens to.
    pub fn listener(&self) -> Listener {
        Listener::new(self.session().board().mailbox().clone())
    }

    /// How far the running statement is.
    pub fn progress(&self) -> &Progress {
        &self.0.progress
    }

    /// Whether a transaction is open; false while a statement runs on another thread.
    pub fn in_transaction(&self) -> bool {
        (self.0.session.try_look()).is_some_and(|s| s.transaction().is_open())
    }

    /// Whether a transaction is open that has failed: it takes ROLLBACK only. False while a statement runs on another
    /// thread.
    pub fn in_failed_transaction(&self) -> bool {
        (self.0.session.try_look()).is_some_and(|s| s.transaction().check().is_err())
    }

    /// Name and text of the settings that PostgreSQL's protocol tells clients: at first, and whenever one changes.
    pub fn reported_settings(&self) -> Vec<(&'static str, String)> {
        self.session().reported()
    }

    /// Returns the state from which the values of these settings derive: none of them changes while it stays equal.
    pub fn reported_state(&self) -> ReportedState {
        self.session().board().reported_state()
    }

    /// True for the schema of what the session sees: not for that of another session's temporary objects.
    fn sees(&self) -> impl Fn(&Catalog, ObjectId) -> bool + use<> {
        let path = self.session().settings().search_path.clone();
        move |catalog, namespace| {
            let name = || catalog.qualified(namespace, "").schema;
            !namespace.is_temporary() || path.temporary() == Some(&name())
        }
    }

    /// All tables by schema and name. Temporary ones are the session's own.
    pub fn tables(&self) -> Vec<TableInfo> {
        let sees = self.sees();
        let session = self.session();
        let (snapshot, path) = (session.snapshot(), session.settings().search_path.clone());
        let tables = snapshot.catalog().tables();
        let entries = tables
            .filter(|t| t.materialized.is_none() && sees(snapshot.catalog(), t.namespace))
            .map(|entry| {
                let rows = snapshot.table(entry.id).map_or(0, |t| t.rows());
                TableInfo::of(entry, rows, snapshot.catalog(), &path)
            });
        entries.collect()
    }

    /// All views, each behind those that it reads. Temporary ones are the session's own.
    pub fn views(&self) -> Vec<ViewInfo> {
        let sees = self.sees();
        let snapshot = self.session().snapshot();
        let views = snapshot.catalog().views_by_reading().into_iter();
        views
            .filter(|view| sees(snapshot.catalog(), view.namespace))
            .map(|view| ViewInfo::of(&view, snapshot.catalog()))
            .collect()
    }

    /// All sequences by schema and name. Temporary ones are the session's own.
    pub fn sequences(&self) -> Vec<SequenceInfo> {
        let sees = self.sees();
        let snapshot = self.session().snapshot();
        let catalog = snapshot.catalog();
        catalog
            .sequences()
            .filter(|sequence| sees(catalog, sequence.namespace))
            .map(|sequence| SequenceInfo::of(sequence, catalog))
            .collect()
    }

    /// The names of all schemas but those of temporary objects.
    pub fn schemas(&self) -> Vec<String> {
        let snapshot = self.session().snapshot();
        let schemas = snapshot.catalog().schemas();
        let lasting = schemas.filter(|schema| !schema.id.is_temporary());
        lasting.map(|schema| schema.name.clone()).collect()
    }

    /// All enumerations by schema and name.
    pub fn enumerations(&self) -> Vec<EnumInfo> {
        let snapshot = self.session().snapshot();
        snapshot
            .catalog()
            .types()
            .filter_map(|entry| EnumInfo::of(entry, snapshot.catalog()))
            .collect()
    }

    /// All domains by schema and name.
    pub fn domains(&self) -> Vec<DomainInfo> {
        let snapshot = self.session().snapshot();
        let domains = snapshot.catalog().domains();
        domains
            .map(|(entry, domain)| DomainInfo::of(entry, domain, snapshot.catalog()))
            .collect()
    }

    /// A view by its folded name, alone or behind its schema and a dot, if there is one.
    pub fn view(&self, name: &str) -> Option<ViewInfo> {
        let (name, snapshot) = self.resolved(name);
        match snapshot.catalog().relation(&name)? {
            Relation::View(view) => Some(ViewInfo::of(view, snapshot.catalog())),
            Relation::Table(_) => None,
        }
    }

    /// Resolves a name by the session's path; returns the snapshot in which it has the meaning.
    fn resolved(&self, name: &str) -> (QualifiedName, Arc<Snapshot>) {
        let session = self.session();
        let snapshot = session.snapshot();
        let name = resolved(snapshot.catalog(), &session.settings().search_path, name);
        (name, snapshot)
    }

    /// A table by its folded name, alone or behind its schema and a dot; 42P01 if there is none, 42809 if it is a
    /// view's.
    pub fn table(&self, name: &str) -> Result<TableInfo> {
        let (name, snapshot) = self.resolved(name);
        let table = snapshot.table_named(name)?;
        let entry = table.table().entry();
        let path = self.session().settings().search_path.clone();
        Ok(TableInfo::of(entry, table.rows(), snapshot.catalog(), &path))
    }

    /// Waits for the connection and makes it ready for a statement, which then has to come in ([`Database::enter`]).
    /// 08003 once the database is closed, and in a forked child, where nobody would ever give the connection back;
    /// 55006 for a [`RowSink`] of the statement that runs.
    pub(crate) fn start(&self) -> Result<InUse<'_>> {
        self.0.database.check_open()?;
        let session = self.0.session.begin()?;
        self.0.cancel.reset();
        self.0.progress.reset();
        Ok(session)
    }

    pub(crate) fn session(&self) -> MutexGuard<'_, Session> {
        self.0.session.look()
    }
}

/// Puts a statement's response in the place of that before it, whose notices stay.
fn keep(last: &mut Option<Response>, mut response: Response) {
    if let Some(before) = last.take() {
        response.notices.splice(0..0, before.notices);
    }
    *last = Some(response);
}

impl Database {
    /// A new connection with default settings.
    pub fn connect(&self) -> Connection {
        Connection::new(self.clone())
    }
}

impl From<Cancel> for CancelHandle {
    fn from(cancel: Cancel) -> CancelHandle {
        CancelHandle(cancel)
    }
}

impl From<CancelHandle> for Cancel {
    fn from(handle: CancelHandle) -> Cancel {
        handle.0
    }
}
