//! Runs one statement: binds it and sends it where its kind belongs.

use crate::access_statement::adopting;
use crate::bound_plans::{read, write_plan};
use crate::bundle::{Bundle, TypedBy};
use crate::checked_writes::{extent_of, write_checked};
use crate::compiled_runs;
use crate::compiled_statement::{Action, CompiledStatement};
use crate::deferred_commit;
use crate::definition_notices;
use crate::failed_statement;
use crate::given_values::GivenValues;
use crate::lock_table;
use crate::notification_statement;
use crate::panics::survive;
use crate::parameter_types;
use crate::parameters;
pub(crate) use crate::parameters::hidden_value;
use crate::prepared;
use crate::prepared_statements::Prepared;
use crate::row_sink::Delivery;
use crate::rows::{Response, Timing, counted, done, noted};
use crate::run_counts::Run;
use crate::session::Session;
use crate::setting_statement;
use crate::statement_tables::StatementTables;
use crate::statistics::StatementCounts;
use crate::{
    copy, copy_to, cursors, ddl, explain, explain_freeze, publish, query, settled, table_locks, with_writes,
};
use frazil_frontend::{
    Bound, Control, ExplainOptions, Explained, HiddenParameter, ParsedStatement, PlanSettings, Statement,
    Writing,
};
use frazil_storage::Transaction;
use frazil_types::statement_clock::{self, StatementClock};
use frazil_types::{Error, LogicalType, Result, Value, Zone};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// What a statement is called with.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Values for `$1`, `$2` and so on.
    given: GivenValues<'a>,
    /// When it began.
    started: Instant,
    /// Where rows go.
    pub(crate) to: Delivery<'a>,
    /// When the transaction began that is open, in microseconds since 1970.
    transaction: Option<i64>,
    /// The session's time zone.
    zone: Zone,
    /// Types of the values of a prepared statement, which they have already.
    prepared: Option<(&'a [LogicalType], &'a TypedBy)>,
}

impl<'a> Call<'a> {
    /// A statement of the session that begins now.
    pub fn new(session: &Session, given: GivenValues<'a>, to: Delivery<'a>) -> Call<'a> {
        Call {
            given,
            started: Instant::now(),
            to,
            transaction: session.transaction().started(),
            zone: session.settings().time_zone,
            prepared: None,
        }
    }

    /// When it began.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// The same call, of a prepared statement with values of its types.
    pub fn of_prepared<'b>(
        &'b self,
        values: &'b [Value],
        types: &'b [LogicalType],
        typed_by: &'b TypedBy,
    ) -> Call<'b> {
        Call {
            given: GivenValues::raw(values),
            prepared: Some((types, typed_by)),
            ..*self
        }
    }

    /// What the values of a prepared statement are computed with.
    pub fn bundle_of_values(&self, hidden: Vec<HiddenParameter>, tables: StatementTables) -> Result<Bundle> {
        let none = Call {
            given: GivenValues::NONE,
            ..*self
        };
        Ok(Bundle {
            parameters: none.values(&[], &hidden, Some(&tables))?.into_owned(),
            tables: tables.into(),
            started: self.started,
            bind: self.started.elapsed(),
            text: Arc::default(),
            types: Vec::new(),
            guessed: Vec::new(),
            hidden,
            typed_by: TypedBy::Run,
            depth: 0,
        })
    }

    /// Values of all parameters, as the types the statement wants.
    pub(crate) fn values(
        &self,
        types: &[LogicalType],
        hidden: &[HiddenParameter],
        tables: Option<&StatementTables>,
    ) -> Result<Cow<'a, [Value]>> {
        let mut values = match self.prepared {
            Some(_) => Cow::Borrowed(self.given.values),
            None => parameters::converted(types, self.given, self.zone)?,
        };
        if !hidden.is_empty() {
            // now() is the start of the transaction, or of the statement where it is its own.
            let now = statement_clock::start();
            let started = if self.transaction.is_some() {
                parameters::now_micros()
            } else {
                now
            };
            let hidden = hidden.iter().map(|h| match (h, tables) {
                (HiddenParameter::Catalog, Some(tables)) => Value::Int(tables.catalog_number().into()),
                _ => hidden_value(h, now, started),
            });
            values.to_mut().extend(hidden);
        }
        Ok(values)
    }

    /// What a compiled statement is run with.
    pub(crate) fn bundle(&self, statement: &CompiledStatement, tables: StatementTables) -> Result<Bundle> {
        Ok(Bundle {
            parameters: self
                .values(&statement.parameters, &statement.hidden, Some(&tables))?
                .into_owned(),
            tables: tables.into(),
            started: self.started,
            bind: self.started.elapsed(),
            text: Arc::default(),
            types: Vec::new(),
            guessed: Vec::new(),
            hidden: Vec::new(),
            typed_by: TypedBy::Text,
            depth: 0,
        })
    }

    pub(crate) fn timing(&self) -> Timing {
        Timing {
            bind: self.started.elapsed(),
            ..Timing::default()
        }
    }
}

/// The statement of a text, if it was compiled before for values of such types. It may no longer fit.
pub fn cached(session: &Session, text: &str, given: GivenValues<'_>) -> Option<Arc<CompiledStatement>> {
    if !session.settings().plan_cache {
        return None;
    }
    (session.database().plan_cache()).get(cache_key(text), session.settings().plan(), given)
}

/// The statement of a text whose parameters the text alone types, if it was compiled before. It may no longer fit.
pub fn cached_by_text(session: &Session, text: &str) -> Option<Arc<CompiledStatement>> {
    if !session.settings().plan_cache {
        return None;
    }
    (session.database().plan_cache()).typed_by_text(cache_key(text), session.settings().plan())
}

/// True if a text was compiled before, and runs without pipelines whatever its values are.
pub fn is_cached_direct(session: &Session, text: &str) -> bool {
    session.settings().plan_cache
        && (session.database().plan_cache()).is_direct(cache_key(text), session.settings().plan())
}

/// The text of a statement as the plan cache has it.
fn cache_key(text: &str) -> &str {
    text.trim().trim_end_matches(';').trim_end()
}

/// Runs a statement that was compiled before; `None` if it no longer fits, and then nothing was done. A failure ends
/// the transaction it was part of, and has a span in the statement's text, but no position.
pub fn run_compiled(
    session: &mut Session,
    statement: &CompiledStatement,
    given: GivenValues<'_>,
    to: Delivery<'_>,
) -> Option<Result<Response>> {
    let run_count = Run::begin(session);
    let result = guarded(session, |session| {
        session.transaction().check()?;
        if !statement.serves(given) {
            return Ok(None);
        }
        let call = Call::new(session, given, to);
        let response = run_kept(session, statement, &call)?;
        response.map(|response| response.delivered(to)).transpose()
    });
    let result = result.transpose();
    if let Some(result) = &result {
        run_count.end(session, result, statement.counts.as_deref());
    }
    result
}

/// Runs a statement that was compiled before, within another; `None` if it no longer fits.
pub(crate) fn run_kept(
    session: &mut Session,
    statement: &CompiledStatement,
    call: &Call<'_>,
) -> Result<Option<Response>> {
    match &statement.action {
        Action::Rows(..) | Action::Point(_) | Action::Query(_) => {
            session.transaction_mut().settle()?;
            compiled_runs::read(session, statement, call)
        }
        Action::Write(action, rows) => compiled_runs::write(session, statement, (action, rows), call),
    }
}

/// Runs a statement. A failure ends the transaction it was part of. What it was compiled to, if that serves again, is
/// left in `kept`.
pub fn run(
    session: &mut Session,
    parsed: &ParsedStatement,
    given: GivenValues<'_>,
    to: Delivery<'_>,
    kept: &mut Option<Arc<CompiledStatement>>,
) -> Result<Response> {
    let run_count = Run::begin(session);
    let result = guarded_parsed(session, parsed, |session| {
        let call = Call::new(session, given, to);
        let run = || run_bound(session, parsed, &call, kept);
        let response = frazil_frontend::on_deep_stack(parsed.depth(), run)?;
        told(session, response.delivered(to)?)
    });
    run_count.end_of_text(session, &result, (parsed, kept.as_deref()));
    result.map_err(|error| parsed.placed(error))
}

/// Runs a statement that begins or ends a transaction, as [`run`] does. `counts`: those of its text.
pub fn run_control(
    session: &mut Session,
    parsed: &ParsedStatement,
    what: Control,
    counts: &StatementCounts,
) -> Result<Response> {
    let run_count = Run::begin(session);
    let result = guarded_parsed(session, parsed, |session| {
        if !parsed.leaves_failure() {
            session.transaction().check()?;
        }
        let response = control(session, what, Instant::now())?;
        told(session, response)
    });
    run_count.end(session, &result, Some(counts));
    result.map_err(|error| parsed.placed(error))
}

/// Runs a prepared statement with values of its types, as [`run`] does.
pub fn run_prepared(
    session: &mut Session,
    statement: &Prepared,
    values: &[Value],
    to: Delivery<'_>,
) -> Result<Response> {
    let run_count = Run::begin(session);
    let result = guarded_parsed(session, &statement.parsed, |session| {
        if !statement.parsed.leaves_failure() {
            session.transaction().check()?;
        }
        let call = Call::new(session, GivenValues::NONE, to);
        let response = prepared::run_values(session, statement, values, &call)?;
        told(session, response.delivered(to)?)
    });
    run_count.end_of_prepared(session, &result, statement);
    result.map_err(|error| statement.parsed.placed(error))
}

/// The response with those of its notices that the session wants to be told.
fn told(session: &Session, mut response: Response) -> Result<Response> {
    let least = session.settings().least_notice;
    response.notices.retain(|notice| least.tells(notice.severity));
    Ok(response)
}

/// Runs work on a statement. A failure ends the transaction.
pub(crate) fn guarded<T>(session: &mut Session, work: impl FnOnce(&mut Session) -> Result<T>) -> Result<T> {
    guarded_after(session, Session::refresh, work)
}

/// Runs a parsed statement, as [`guarded`] does. One that reads nothing does not wait for an object store.
fn guarded_parsed<T>(
    session: &mut Session,
    parsed: &ParsedStatement,
    work: impl FnOnce(&mut Session) -> Result<T>,
) -> Result<T> {
    match parsed.reads_nothing() {
        true => guarded_after(session, Session::refresh_at_hand, work),
        false => guarded(session, work),
    }
}

fn guarded_after<T>(
    session: &mut Session,
    refresh: impl FnOnce(&mut Session) -> Result<()>,
    work: impl FnOnce(&mut Session) -> Result<T>,
) -> Result<T> {
    let clock = StatementClock::new(session.transaction().started(), session.settings().time_zone)
        .of_session(session.number());
    session.begin_sequences();
    session.take_notified();
    let cancel = session.cancel().clone();
    let result = refresh(session)
        .and_then(|()| survive(|| cancel.during(|| statement_clock::during(Some(clock), || work(session)))));
    let changed = session.take_changes(result.is_ok());
    let result = result.and_then(|done| changed.map(|()| done));
    let result = result.and_then(|done| notification_statement::end_statement(session).map(|()| done));
    result.or_else(|error| failed_statement::end(session, error))
}

/// Binds and runs a statement, within what keeps its errors.
pub(crate) fn run_bound(
    session: &mut Session,
    parsed: &ParsedStatement,
    call: &Call<'_>,
    kept: &mut Option<Arc<CompiledStatement>>,
) -> Result<Response> {
    if !parsed.leaves_failure() {
        session.transaction().check()?;
    }
    if let Some(what) = parsed.control().filter(|_| call.given.values.is_empty()) {
        return control(session, what, call.started);
    }
    let snapshot = match parsed.controls_session() {
        // What the transaction sees begins with its first query.
        true => session.database().store().snapshot(),
        false => session.snapshot(),
    };
    let tables = query::Runner::new(session).tables_for(parsed, session.transaction().written(), snapshot);
    let (statement, bundle) = bind(parsed, tables, call)?;
    settled::before(session, &statement)?;
    frazil_frontend::on_deep_stack(bundle.depth, || {
        run_as_bound(session, parsed, call, statement, bundle, kept)
    })
}

/// Runs a bound statement. A stack for its depth, with the views that it reads, is there.
fn run_as_bound(
    session: &mut Session,
    parsed: &ParsedStatement,
    call: &Call<'_>,
    statement: Statement,
    bundle: Bundle,
    kept: &mut Option<Arc<CompiledStatement>>,
) -> Result<Response> {
    let started = call.started;
    match statement {
        Statement::Query(plan) => {
            let runner = query::Runner::new(session);
            read(&runner, plan, bundle, kept, call.to)
        }
        Statement::Prepared(of_prepared) => {
            let text = bundle.text.clone();
            drop(bundle);
            prepared::run(session, of_prepared, &text, call)
        }
        Statement::CopyTo {
            plan,
            target,
            options,
        } => copy_to::run(
            &query::Runner::new(session),
            plan,
            bundle,
            &target,
            &options,
            call.to,
        ),
        Statement::Explain { options, statement } => explained(session, options, statement, bundle, call),
        Statement::ExplainFreeze {
            table,
            order_by,
            analyze,
        } => explain_freeze::run(session, table, order_by, analyze, bundle),
        Statement::Begin { modes, tag } => control(session, Control::Begin { modes, tag }, started),
        Statement::Commit { chain } => {
            // Lets go of the version that the commit replaces, so that entries of rows it deleted are collected.
            drop(bundle);
            control(session, Control::Commit { chain }, started)
        }
        Statement::Rollback { chain } => control(session, Control::Rollback { chain }, started),
        Statement::SetTransaction { modes } => {
            (session.set_transaction(modes)).map(|notice| noted("SET", notice, started))
        }
        Statement::SetSessionTransaction { modes } => {
            (session.set_session_transaction(modes)).map(|()| done("SET", started))
        }
        Statement::Setting(statement) => setting_statement::run(session, statement, started),
        Statement::LockTable(lock) => lock_table::run(session, &lock, bundle, started),
        Statement::Notification(statement) => notification_statement::run(session, statement, started),
        Statement::Alone { what, tag } => session.refuse_transaction(what).map(|()| done(tag, started)),
        Statement::Checked { tag, skipped } => Ok(definition_notices::skipped(tag, skipped, started)),
        Statement::SetConstraints(set) => deferred_commit::set_constraints(session, &set)
            .map(|notice| noted("SET CONSTRAINTS", notice, started)),
        Statement::Savepoint { name } => session.savepoint(name).map(|()| done("SAVEPOINT", started)),
        Statement::RollbackTo { name } => (session.rollback_to(&name)).map(|()| done("ROLLBACK", started)),
        Statement::Release { name } => session.release(&name).map(|()| done("RELEASE", started)),
        Statement::Cursor(statement) => cursors::run(session, statement, bundle, call.to),
        Statement::Checkpoint => checkpoint(session).map(|()| done("CHECKPOINT", started)),
        Statement::Backup { directory } => {
            backup(session, Path::new(&directory)).map(|()| done("BACKUP", started))
        }
        Statement::Publish(statement) => publish::run(session, &statement, started),
        Statement::Writing(writing) => run_writing(session, parsed, call, writing, bundle, kept),
    }
}

/// Begins or ends a transaction.
fn control(session: &mut Session, control: Control, started: Instant) -> Result<Response> {
    match control {
        Control::Begin { modes, tag } => session.begin(modes).map(|notice| noted(tag, notice, started)),
        Control::Commit { chain } => {
            (deferred_commit::commit(session, chain)).map(|(tag, notice)| noted(tag, notice, started))
        }
        Control::Rollback { chain } => {
            (session.rollback(chain)).map(|notice| noted("ROLLBACK", notice, started))
        }
    }
}

fn checkpoint(session: &Session) -> Result<()> {
    session.refuse_transaction("CHECKPOINT")?;
    session.database().checkpoint()
}

fn backup(session: &Session, directory: &Path) -> Result<()> {
    session.refuse_transaction("BACKUP")?;
    session.settings().file_access.check(directory)?;
    session.database().backup(directory, session.cancel())
}

fn explained(
    session: &mut Session,
    options: ExplainOptions,
    statement: Explained,
    bundle: Bundle,
    call: &Call<'_>,
) -> Result<Response> {
    match statement {
        Explained::Execute { name, values } => {
            prepared::explained(session, options, &name, values.as_deref(), call)
        }
        Explained::Plan(plan) => explain::run(session, options, *plan, bundle),
    }
}

/// Binds a writing statement to other tables than those that it was bound to.
fn rebound(parsed: &ParsedStatement, tables: StatementTables, call: &Call<'_>) -> Result<(Writing, Bundle)> {
    let (Statement::Writing(writing), bundle) = bind(parsed, tables, call)? else {
        return Err(Error::internal("a statement that does not write any more"));
    };
    Ok((writing, bundle))
}

/// A writing statement sees what its transaction sees: if another one committed since it was bound, or it runs again,
/// it is bound again.
fn run_writing(
    session: &mut Session,
    parsed: &ParsedStatement,
    call: &Call<'_>,
    writing: Writing,
    bundle: Bundle,
    kept: &mut Option<Arc<CompiledStatement>>,
) -> Result<Response> {
    if let Some(what) = parsed.concurrently() {
        session.refuse_transaction(what)?;
    }
    if writing.creates_temporary() {
        session.begin_temporary();
    }
    let runner = query::Runner::new(session);
    let (extent, locks) = (extent_of(&writing), table_locks::of_statement(&writing));
    let mut bound = Some((writing, bundle));
    write_checked(session, extent, |_, transaction| {
        table_locks::take(transaction, &locks)?;
        let snapshot = transaction.snapshot();
        let is_of = |bundle: &Bundle| Arc::ptr_eq(&snapshot, bundle.tables.snapshot());
        let (writing, bundle) = match bound.take().filter(|(_, bundle)| is_of(bundle)) {
            Some(bound) => bound,
            None => {
                let tables = |of: &Transaction, snapshot| runner.tables_for(parsed, Some(of), snapshot);
                let again = |of: &Transaction, snapshot| rebound(parsed, tables(of, snapshot), call);
                let (writing, bundle) = again(transaction, snapshot)?;
                table_locks::take(transaction, &table_locks::of_statement(&writing))?;
                let now = transaction.snapshot();
                match Arc::ptr_eq(&now, bundle.tables.snapshot()) {
                    true => (writing, bundle),
                    false => again(transaction, now)?,
                }
            }
        };
        // A view may have become another one since.
        frazil_frontend::on_deep_stack(bundle.depth, || {
            write(&runner, transaction, writing, bundle, kept, call.to)
        })
    })
}

fn write(
    runner: &query::Runner,
    transaction: &mut Transaction,
    writing: Writing,
    bundle: Bundle,
    kept: &mut Option<Arc<CompiledStatement>>,
    to: Delivery<'_>,
) -> Result<Response> {
    let started = bundle.started;
    match writing {
        Writing::Write(plan) => write_plan(runner, transaction, plan, bundle, kept),
        Writing::With { writes, last } => with_writes::run(runner, transaction, (writes, last), bundle, to),
        Writing::CreateTable {
            name,
            schema,
            if_not_exists,
            on_commit,
            options,
            constraints,
            sequences,
            indexes,
            comments,
            as_query,
        } => {
            let create = ddl::Create {
                name: &name,
                schema,
                if_not_exists,
                on_commit,
                constraints,
                sequences,
                indexes,
                comments,
                options: &options,
            };
            adopting(runner, transaction, |transaction| {
                ddl::create_table(runner, transaction, create, as_query, bundle)
            })
        }
        Writing::Freeze { table, order_by } => {
            let blocks = ddl::freeze(runner, transaction, table, order_by)?;
            Ok(counted("FREEZE", blocks, started))
        }
        Writing::CopyFrom {
            table,
            columns,
            source,
            options,
            ..
        } => {
            let source = (&source, to);
            let copied = copy::from_file(runner, transaction, table, &columns, source, &options)?;
            Ok(Response {
                notices: copied.notices(),
                ..counted("COPY", copied.rows, started)
            })
        }
        Writing::Define(definition) => {
            // What it was bound to is let go, so that the transaction need not copy it.
            drop(bundle);
            ddl::run(runner, transaction, definition, started)
        }
    }
}

/// Binds a statement to tables and its parameters to their types.
pub(crate) fn bind(
    parsed: &ParsedStatement,
    tables: StatementTables,
    call: &Call<'_>,
) -> Result<(Statement, Bundle)> {
    let begun = Instant::now();
    let settings = PlanSettings {
        zone: call.zone,
        ..PlanSettings::default()
    };
    let open: Vec<Option<LogicalType>> = match call.prepared {
        Some((types, _)) => types.iter().copied().map(Some).collect(),
        None => vec![None; call.given.values.len()],
    };
    let mut typed_by = call.prepared.map_or(TypedBy::Text, |p| p.1.clone());
    let bind_as = |types: &[Option<LogicalType>]| frazil_frontend::bind(parsed, &tables, &settings, types);
    let mut bound = bind_as(&open);
    if call.prepared.is_none()
        && let Some(again) = parameter_types::bound_by_values(&bound, call.given, bind_as)
    {
        bound = again.unwrap_or(bound);
        typed_by = TypedBy::Values(call.given.own_types().collect());
    }
    let bound = bound.map_err(|error| tables.take_error().unwrap_or(error))?;
    let Bound {
        statement,
        parameters: types,
        guessed,
        hidden,
        depth,
    } = bound;
    let bundle = Bundle {
        parameters: call.values(&types, &hidden, Some(&tables))?.into_owned(),
        started: call.started,
        bind: begun.elapsed(),
        text: parsed.text.as_str().into(),
        types,
        guessed,
        hidden,
        typed_by,
        tables: tables.into(),
        depth,
    };
    Ok((statement, bundle))
}
