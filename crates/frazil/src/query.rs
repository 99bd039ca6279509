//! A plan's way to rows: optimize, cut into pipelines and stages, compile, run.

use crate::assumptions;
use crate::bundle::{Bundle, TypedBy};
use crate::compiled_statement::{Action, CompiledQuery, CompiledStatement, WriteRows};
use crate::cursors::RunningQuery;
use crate::database::Database;
use crate::direct_rows::DirectRows;
use crate::frame_tables::Frames;
use crate::point_query::PointQuery;
use crate::row_query::RowQuery;
use crate::row_sink::{Delivery, Parts};
use crate::rows::{Outcome, ReadCounts, Response, Rows, Timing};
use crate::session::{Session, Writing};
use crate::session_view::{ListedCursor, SessionView};
use crate::settings::{Board, Settings};
use crate::statement_tables::StatementTables;
use crate::used_tables::UsedTables;
use crate::write::WriteAction;
use frazil_catalog::SearchPath;
use frazil_codegen::{CompileOptions, Helpers, OneRun};
use frazil_exec::{Environment, PlanResult, PlanStream, Progress};
use frazil_files::{ObjectFiles, ReadLimits};
use frazil_frontend::{ParsedStatement, UserRoles};
use frazil_optimizer::known_calls;
use frazil_plan::assumptions::ceiling_of_rows;
use frazil_plan::pipeline::{Pipeline, PipelinePlan, Source};
use frazil_plan::vector_function::CallContext;
use frazil_plan::{Assumption, Plan, Statistics};
use frazil_storage::{Snapshot, TableSnapshot, Transaction};
use frazil_types::statement_clock;
use frazil_types::{Cancel, ColumnDef, Error, MemoryBudget, ObjectId, Result, RowBatch, Schema, Value, Zone};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// What running a plan needs of the session, beside its transaction.
#[derive(Clone, Debug)]
pub struct Runner {
    database: Database,
    settings: Arc<Settings>,
    cancel: Cancel,
    progress: Arc<Progress>,
    /// What finds frames by their names.
    frames: Option<Arc<dyn Frames>>,
    /// The session as system tables show it.
    board: Weak<dyn SessionView>,
}

/// The session as others see it.
fn view_of(board: &Arc<Board>) -> Weak<dyn SessionView> {
    let view: Arc<dyn SessionView> = board.clone();
    Arc::downgrade(&view)
}

impl Runner {
    /// The session's.
    pub fn new(session: &Session) -> Runner {
        Runner {
            database: session.database().clone(),
            settings: session.settings().clone(),
            cancel: session.cancel().clone(),
            progress: session.progress().clone(),
            frames: session.frames().cloned(),
            board: view_of(session.board()),
        }
    }

    /// Makes the runner of a writing statement.
    pub fn of_writing(writing: Writing<'_>) -> Runner {
        Runner {
            database: writing.database.clone(),
            settings: writing.settings.clone(),
            cancel: writing.cancel.clone(),
            progress: writing.progress.clone(),
            frames: writing.frames.cloned(),
            board: view_of(writing.board),
        }
    }

    /// The roles of the session.
    pub fn user(&self) -> UserRoles {
        self.settings.user.roles()
    }

    /// The session's time zone.
    pub fn time_zone(&self) -> Zone {
        self.settings.time_zone
    }

    /// The same on one thread, for plans in which nothing is proved by the rows that tables hold now.
    pub fn without_proofs(&self) -> Runner {
        self.with(|settings| (settings.elide_checks, settings.threads) = (false, 1))
    }

    /// The same on one thread, which takes the rows of a table one behind the other.
    pub fn on_one_thread(&self) -> Runner {
        self.with(|settings| settings.threads = 1)
    }

    fn with(&self, change: impl FnOnce(&mut Settings)) -> Runner {
        let mut settings = Settings::clone(&self.settings);
        change(&mut settings);
        Runner {
            database: self.database.clone(),
            settings: Arc::new(settings),
            cancel: self.cancel.clone(),
            progress: self.progress.clone(),
            frames: self.frames.clone(),
            board: self.board.clone(),
        }
    }

    /// Makes it the runner of a query that outlives its statement, with a flag and a progress of its own.
    fn on_its_own(self, cancel: Cancel) -> Runner {
        Runner {
            cancel,
            progress: Arc::new(Progress::new()),
            ..self
        }
    }

    /// The flag that cancels the statement.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// The open cursors of the session.
    pub fn cursors(&self) -> Vec<Arc<ListedCursor>> {
        let board = self.board.upgrade();
        board.map_or_else(Vec::new, |board| board.cursors())
    }

    /// What the statement's memory is taken from.
    pub fn budget(&self) -> &MemoryBudget {
        self.database.budget()
    }

    /// What a statement that finds its row by a key is run with.
    fn one_run<'a>(&'a self, parameters: &'a [Value]) -> OneRun<'a> {
        OneRun {
            parameters,
            cancel: &self.cancel,
            count_access: self.settings.access_counters,
            scan: self.settings.scan_options(),
        }
    }

    /// What a statement sees of a snapshot.
    pub fn tables(&self, snapshot: Arc<Snapshot>) -> StatementTables {
        let directory = self.database.directory();
        StatementTables::new(snapshot)
            .searching(self.settings.search_path.clone())
            .of_user(self.settings.user.roles())
            .of_session(self.board.clone())
            .reading_within(self.read_limits(), self.frames.clone())
            .of_directory(directory.as_ref().map(Arc::downgrade).unwrap_or_default())
    }

    /// The tables of a snapshot as a statement is bound to them. `transaction`: its transaction, if that wrote.
    pub fn tables_for(
        &self,
        parsed: &ParsedStatement,
        transaction: Option<&Transaction>,
        snapshot: Arc<Snapshot>,
    ) -> StatementTables {
        let tables = self.tables(snapshot);
        match parsed.asks_for_used_tables() {
            true => tables.sparing(UsedTables::of(&self.cursors(), transaction)),
            false => tables,
        }
    }

    /// The tables that a statement of Frazil's own sees in a snapshot. Its names are those of the catalog's texts, and
    /// may have the schema of the session's temporary objects.
    pub fn own_tables(&self, snapshot: Arc<Snapshot>) -> StatementTables {
        let path = match self.settings.search_path.temporary() {
            Some(schema) => SearchPath::public().of_session(schema, false),
            None => SearchPath::public(),
        };
        StatementTables::new(snapshot).searching(path)
    }

    /// What the statement's files are read within.
    pub fn read_limits(&self) -> ReadLimits {
        ReadLimits {
            cancel: self.cancel.clone(),
            budget: self.budget().clone(),
            footers: Some(self.database.footers().clone()),
            access: self.settings.file_access.clone(),
            objects: ObjectFiles::default(),
        }
    }

    /// Where the statement says how far it is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Workers, the calling thread among them.
    pub fn threads(&self) -> usize {
        self.settings.threads
    }

    /// Whether loaded rows are frozen on their way in: they are where they will be kept.
    pub fn freezes_loads(&self) -> bool {
        self.database.is_durable()
    }
}

/// Finds the rows of a table.
type Resolve<'a> = &'a dyn Fn(ObjectId) -> Result<Arc<TableSnapshot>>;

/// What the queries of a statement that writes read.
#[derive(Debug)]
pub struct Reading {
    /// The tables, as they were before the statement wrote anything; `None` once they are let go.
    pub tables: Option<Arc<StatementTables>>,
    /// Values of its parameters, the hidden ones at the end.
    pub parameters: Vec<Value>,
}

impl Reading {
    /// Of queries over nothing but the rows that they are given.
    pub fn of_parameters(parameters: Vec<Value>) -> Reading {
        let tables = None;
        Reading { tables, parameters }
    }

    fn table(&self, id: ObjectId) -> Result<Arc<TableSnapshot>> {
        match &self.tables {
            Some(tables) => tables.resolve(id),
            None => Err(Error::internal("a table is read that was let go")),
        }
    }
}

/// A plan that is optimized and cut into pipelines.
pub struct PlannedQuery {
    /// Its pipelines.
    pub pipelines: PipelinePlan,
    /// Columns of the result.
    schema: Schema,
}

/// Whether the text of generated code is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CodeText {
    /// It is, for EXPLAIN.
    Kept,
    /// It is not.
    Dropped,
}

impl Runner {
    /// What the optimizer may do.
    pub fn optimizer_settings(&self) -> frazil_optimizer::Settings {
        let settings = self.settings.plan();
        frazil_optimizer::Settings {
            restrictions: settings.restrictions,
            elide_checks: settings.elide_checks,
            use_indexes: settings.use_indexes,
            ..Default::default()
        }
    }

    /// An optimized plan.
    pub fn optimize(&self, mut plan: Plan, bundle: &Bundle, timing: &mut Timing) -> Result<Plan> {
        let begun = Instant::now();
        timing.bind = bundle.bind;
        let settings = self.optimizer_settings();
        let tables = &*bundle.tables;
        if tables.names_system_tables() {
            // The plan is for this run alone.
            let context = CallContext::new(&self.cancel, self.budget());
            known_calls::plan(&mut plan, &bundle.parameters, &context);
        }
        if tables.waits_for_plans() {
            // The scans of this plan tell which files are read and which rows of system tables are made. The statement
            // is planned anew for these rows.
            let asking = frazil_optimizer::optimize(plan.clone(), tables, &settings, &self.cancel)?;
            tables.read_for(&asking, &bundle.parameters)?;
        }
        let plan = frazil_optimizer::optimize(plan, tables, &settings, &self.cancel);
        timing.optimize = begun.elapsed();
        plan
    }

    /// An optimized plan, cut into pipelines.
    pub fn cut(&self, plan: Plan, bundle: &Bundle, timing: &mut Timing) -> Result<PlannedQuery> {
        let begun = Instant::now();
        let schema = result_schema(&plan);
        let stages = self.settings.stages;
        let settings = self.optimizer_settings();
        let pipelines = frazil_optimizer::pipelines(plan, &*bundle.tables, &settings, stages, &self.cancel)?;
        timing.optimize += begun.elapsed();
        Ok(PlannedQuery { pipelines, schema })
    }

    /// Machine code.
    pub fn generate(
        &self,
        planned: PlannedQuery,
        bundle: &Bundle,
        text: CodeText,
        timing: &mut Timing,
    ) -> Result<CompiledQuery> {
        let PlannedQuery { pipelines, schema } = planned;
        let options = CompileOptions {
            text: text == CodeText::Kept,
            isa: Some(self.settings.isa),
            pax_code: self.settings.pax_code(),
            vector_rows: Some(self.settings.stage_rows),
            prefetch_rows: Some(self.settings.prefetch_rows),
            optimize: self.settings.optimize,
            cancel: self.cancel.clone(),
            helpers: self.helpers(),
            // Where our assertions run, Cranelift checks what it is given.
            verify: cfg!(debug_assertions),
        };
        let hot_layout = |id| {
            let table = bundle.tables.resolve(id).ok()?;
            let (layout, hot) = table.hot_layout()?;
            (self.settings.reads_in_place(hot, table.rows())).then_some(layout)
        };
        let code = frazil_codegen::compile(&pipelines, &options, &hot_layout)?;
        timing.compile += code.compile_time;
        Ok(CompiledQuery {
            pipelines: Arc::new(pipelines),
            code: Arc::new(code),
            schema: Arc::new(schema),
        })
    }

    /// The workers of the statement, which compile before they run it.
    fn helpers(&self) -> Option<Helpers> {
        let database = self.database.clone();
        (self.settings.threads > 1).then(|| Helpers {
            workers: self.settings.threads,
            run: Arc::new(move |workers, task| database.pool().run(workers, task)),
        })
    }

    /// Brings a query or a statement that writes into the form in which it runs, and keeps it for when its text comes
    /// again.
    pub fn compile(&self, plan: Plan, bundle: &Bundle, timing: &mut Timing) -> Result<Compiled> {
        let plan = self.optimize(plan, bundle, timing)?;
        let action = self.action(plan, bundle, timing)?;
        let mut assumptions = Vec::new();
        for query in action.queries() {
            assumptions.extend_from_slice(&query.pipelines.assumptions);
            assumptions.extend(sizes(&query.pipelines, &bundle.tables));
        }
        let assumptions = assumptions::by_table(&assumptions);
        let lasts = bundle.typed_by != TypedBy::Run
            && !bundle.tables.names_system_tables()
            && !statement_clock::was_asked();
        let statement = Arc::new(CompiledStatement {
            action,
            parameters: bundle.types.clone(),
            guessed: bundle.guessed.clone(),
            typed_by: bundle.typed_by.values().map(<[_]>::to_vec),
            hidden: bundle.hidden.clone(),
            settings: self.settings.plan(),
            entries: bundle.tables.entries_read(),
            catalog: bundle.tables.snapshot().catalog().version().into(),
            assumptions,
            counts: (!bundle.text.is_empty()).then(|| self.database.statistics().of_text(&bundle.text)),
        });
        if lasts && bundle.typed_by.is_kept_by_text() && self.settings.plan_cache {
            self.database.plan_cache().put(bundle.text.trim(), &statement);
        }
        Ok(Compiled { statement, lasts })
    }

    /// An optimized plan that nobody looks into, as machine code.
    pub fn code(&self, plan: Plan, bundle: &Bundle, timing: &mut Timing) -> Result<CompiledQuery> {
        let planned = self.cut(plan, bundle, timing)?;
        self.generate(planned, bundle, CodeText::Dropped, timing)
    }

    fn action(&self, plan: Plan, bundle: &Bundle, timing: &mut Timing) -> Result<Action> {
        let (input, columns) = match plan.root.write() {
            Some(write) => (&*write.input, write.change.kept()),
            None => (&plan.root, plan.output.iter().map(|(_, id)| *id).collect()),
        };
        let direct = DirectRows::of(input, &columns, &plan);
        let mut plan = plan;
        let Some(write) = plan.root.write_mut() else {
            return match direct {
                Some(rows) => Ok(Action::Rows(rows, Arc::new(result_schema(&plan)))),
                None => {
                    let query = self.point_query(plan, bundle, timing)?;
                    Ok(query.map_or_else(Action::Query, Action::Point))
                }
            };
        };
        let (update, returning) = (write.update.take(), write.returning.take());
        let change = write.change.clone();
        let schema = result_schema(returning.as_deref().unwrap_or(&plan));
        let mut query = |plan: Option<Box<Plan>>| {
            let query = |plan: Box<Plan>| RowQuery::of(*plan, |plan| self.code(plan, bundle, timing));
            plan.map(query).transpose()
        };
        let action = WriteAction::new(change, schema).with_queries(query(update)?, query(returning)?);
        let rows = match direct {
            Some(rows) => WriteRows::Direct(rows),
            None => {
                let query = self.point_query(plan, bundle, timing)?;
                query.map_or_else(WriteRows::Query, WriteRows::Point)
            }
        };
        Ok(Action::Write(action, rows))
    }

    /// A query as one of few rows, if it is one.
    fn point_query(
        &self,
        plan: Plan,
        bundle: &Bundle,
        timing: &mut Timing,
    ) -> Result<std::result::Result<PointQuery, CompiledQuery>> {
        let query = self.code(plan, bundle, timing)?;
        Ok(PointQuery::of(
            query,
            bundle.tables.snapshot(),
            self.settings.may_use_indexes(),
        ))
    }

    /// Runs a query; the rows, or the rows it wants to write, and what it took.
    pub fn run(&self, query: &CompiledQuery, bundle: Bundle, timing: &mut Timing) -> Result<PlanResult> {
        self.within(bundle, timing, |environment| {
            frazil_exec::run_plan(&query.pipelines, &query.code, environment)
        })
    }

    /// Runs a query over rows that it is given: batches of the columns that it reads.
    pub fn run_rows(
        &self,
        query: &RowQuery,
        reading: &Reading,
        given: Vec<RowBatch>,
    ) -> Result<Vec<RowBatch>> {
        query.run(given, |code, given| self.run_given(code, reading, given))
    }

    fn run_given(
        &self,
        query: &CompiledQuery,
        reading: &Reading,
        given: Vec<RowBatch>,
    ) -> Result<Vec<RowBatch>> {
        let tables = |id| reading.table(id);
        let environment = Environment {
            given: Arc::new(given),
            ..self.environment(&tables, reading.parameters.clone())
        };
        Ok(frazil_exec::run_plan(&query.pipelines, &query.code, environment)?.batches)
    }

    /// Runs a query, and hands its rows over while it runs; how many they were.
    pub fn stream(
        &self,
        query: &CompiledQuery,
        bundle: Bundle,
        timing: &mut Timing,
        sink: &dyn Parts,
    ) -> Result<u64> {
        sink.begin(&query.schema)?;
        let mut count = 0;
        let mut take = |batch: RowBatch| {
            count += batch.rows as u64;
            sink.rows(batch)
        };
        self.within(bundle, timing, |environment| {
            let mut stream = PlanStream::new(&query.pipelines, &query.code, &environment);
            while let Some(batch) = stream.next(&environment, u64::MAX)? {
                take(batch)?;
            }
            Ok(())
        })?;
        Ok(count)
    }

    /// Begins a query, whose rows are computed when they are asked for.
    fn begin(&self, query: &CompiledQuery, bundle: Bundle) -> RunningQuery {
        let (cancel, schema) = (Cancel::new(), query.schema.clone());
        let pipelines = &query.pipelines.pipelines;
        let tables = pipelines.iter().filter_map(|p| p.source.table()).collect();
        let runner = self.clone().on_its_own(cancel.clone());
        let query = query.clone();
        let mut stream = None;
        let work = move |wanted| {
            let tables = |id| bundle.tables.resolve(id);
            let parameters = match &stream {
                Some(_) => Vec::new(),
                None => bundle.parameters.clone(),
            };
            let environment = runner.environment(&tables, parameters);
            stream
                .get_or_insert_with(|| PlanStream::new(&query.pipelines, &query.code, &environment))
                .next(&environment, wanted)
        };
        RunningQuery::start(schema, tables, cancel, Box::new(work))
    }

    fn within<T>(
        &self,
        bundle: Bundle,
        timing: &mut Timing,
        run: impl FnOnce(Environment<'_>) -> Result<T>,
    ) -> Result<T> {
        let begun = Instant::now();
        let tables = |id| bundle.tables.resolve(id);
        let result = run(self.environment(&tables, bundle.parameters))?;
        timing.execute = begun.elapsed();
        Ok(result)
    }

    fn environment<'a>(&'a self, tables: Resolve<'a>, parameters: Vec<Value>) -> Environment<'a> {
        Environment {
            tables,
            parameters,
            given: Arc::default(),
            scan: self.settings.scan_options(),
            threads: self.settings.threads,
            max_recursion: self.settings.max_recursion,
            pool: self.database.pool(),
            budget: self.database.budget(),
            cancel: &self.cancel,
            progress: &self.progress,
        }
    }
}

/// What the order of joins relies on: a plan that was made for small tables is made anew when they have doubled.
fn sizes(plan: &PipelinePlan, tables: &StatementTables) -> Vec<Assumption> {
    let probes = |p: &Pipeline| p.operators.iter().any(|o| o.looks_into().is_some());
    if !plan.pipelines.iter().any(probes) {
        return Vec::new();
    }
    let scanned = plan.pipelines.iter().filter_map(|p| match p.source {
        Source::Scan { table, .. } => Some(table),
        _ => None,
    });
    let size = |table| Assumption::Rows {
        table,
        ceiling: ceiling_of_rows(tables.row_count(table)),
    };
    scanned.map(size).collect()
}

/// A statement that was just compiled.
pub struct Compiled {
    /// The statement.
    pub statement: Arc<CompiledStatement>,
    /// Whether it serves again.
    pub lasts: bool,
}

impl Compiled {
    /// Leaves the statement in `kept` if it serves again.
    pub fn keep(self, kept: &mut Option<Arc<CompiledStatement>>) -> Arc<CompiledStatement> {
        if self.lasts {
            *kept = Some(self.statement.clone());
        }
        self.statement
    }
}

/// The columns of what a plan returns.
pub fn result_schema(plan: &Plan) -> Schema {
    let columns = plan.output.iter().map(|(name, id)| {
        let info = &plan.columns[*id];
        let column = ColumnDef::new(name, info.ty);
        if info.nullable { column } else { column.not_null() }
    });
    let origins = plan.output.iter().map(|(_, id)| plan.columns[*id].origin);
    Schema::new(columns.collect()).with_origins(origins.collect())
}

/// Runs the action of a query. An internal error for one that writes.
pub fn read(
    runner: &Runner,
    action: &Action,
    bundle: Bundle,
    mut timing: Timing,
    to: Delivery<'_>,
) -> Result<Response> {
    let begun = Instant::now();
    let outcome = match action {
        Action::Rows(rows, schema) => direct_rows(rows, schema, &bundle.parameters),
        Action::Point(point) => {
            let run = runner.one_run(&bundle.parameters);
            match point.read(bundle.tables.snapshot(), runner.budget(), run)? {
                Some(outcome) => outcome,
                None => return run_query(runner, point.query(), bundle, timing, to),
            }
        }
        Action::Query(query) => return run_query(runner, query, bundle, timing, to),
        Action::Write(..) => return Err(Error::internal("a statement that writes is run as a query")),
    };
    timing.execute = begun.elapsed();
    Ok(Response::new(outcome, timing))
}

/// Runs the pipelines of a query.
fn run_query(
    runner: &Runner,
    query: &CompiledQuery,
    bundle: Bundle,
    mut timing: Timing,
    to: Delivery<'_>,
) -> Result<Response> {
    match to {
        Delivery::Parts(sink) => {
            let count = runner.stream(query, bundle, &mut timing, sink)?;
            return Ok(Response::new(Outcome::selected(count), timing));
        }
        Delivery::Begun(pieces) => {
            pieces.replace(Some(runner.begin(query, bundle)));
            return Ok(Response::new(Outcome::selected(0), timing));
        }
        Delivery::Whole | Delivery::Copied(_) => {}
    }
    let result = runner.run(query, bundle, &mut timing)?;
    let reads = ReadCounts::of(&result.metrics);
    let rows = Rows::new(query.schema.clone(), result.batches);
    Ok(Response {
        reads,
        ..Response::new(Outcome::Rows(rows), timing)
    })
}

/// The rows of a query without pipelines.
pub fn direct_rows(rows: &DirectRows, schema: &Arc<Schema>, parameters: &[Value]) -> Outcome {
    let batch = rows.batch(parameters);
    let batches = if batch.rows == 0 { Vec::new() } else { vec![batch] };
    Outcome::Rows(Rows::new(schema.clone(), batches))
}

/// Computes all rows of a write, then writes them.
pub fn write(
    runner: &Runner,
    transaction: &mut Transaction,
    (action, rows): (&WriteAction, &WriteRows),
    bundle: Bundle,
    mut timing: Timing,
) -> Result<Response> {
    let few = match rows {
        WriteRows::Direct(rows) => Some(vec![rows.batch(&bundle.parameters)]),
        WriteRows::Point(point) => {
            let run = runner.one_run(&bundle.parameters);
            point.run(bundle.tables.snapshot(), runner.budget(), run)?
        }
        WriteRows::Query(_) => None,
    };
    if action.has_queries() {
        let reading = Reading {
            tables: Some(bundle.tables),
            parameters: bundle.parameters,
        };
        let batches = match (few, rows.query()) {
            (Some(batches), _) => batches,
            (None, Some(query)) => runner.run_given(query, &reading, Vec::new())?,
            (None, None) => Vec::new(),
        };
        return action.run_with_queries(runner, transaction, batches, reading, timing);
    }
    // What it read is let go before it writes, so that the transaction need not copy it.
    let batches = match (few, rows.query()) {
        (None, Some(query)) => runner.run(query, bundle, &mut timing)?.batches,
        (few, _) => {
            drop(bundle);
            few.unwrap_or_default()
        }
    };
    action.run(transaction, batches, runner.cancel(), timing)
}

/// Runs a query inside another statement.
pub fn rows(runner: &Runner, plan: Plan, bundle: Bundle) -> Result<Rows> {
    let mut timing = Timing::default();
    let plan = runner.optimize(plan, &bundle, &mut timing)?;
    let query = runner.code(plan, &bundle, &mut timing)?;
    let result = runner.run(&query, bundle, &mut timing)?;
    Ok(Rows::new(query.schema.clone(), result.batches))
}

/// Runs a query inside another statement and hands its rows over while it runs; how many they were, and what it took.
pub fn stream(runner: &Runner, plan: Plan, bundle: Bundle, sink: &dyn Parts) -> Result<(u64, Timing)> {
    let mut timing = Timing::default();
    let plan = runner.optimize(plan, &bundle, &mut timing)?;
    let query = runner.code(plan, &bundle, &mut timing)?;
    let count = runner.stream(&query, bundle, &mut timing, sink)?;
    Ok((count, timing))
}
