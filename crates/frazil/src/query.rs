//! A plan's way to rows: optimize, cut into pipelines and stages, compile, run.

use crate::database::Database;
use crate::execute::Bundle;
use crate::plan_cache::{CachedQuery, CompiledQuery};
use crate::rows::{Outcome, Response, Rows, Timing};
use crate::session::Session;
use crate::settings::{ScanMode, Settings};
use crate::statement_tables::{StatementTables, catalog_id};
use frazil_codegen::CompileOptions;
use frazil_exec::{Environment, PlanResult, Progress};
use frazil_frontend::ExplainMode;
use frazil_plan::{Operator, Plan};
use frazil_runtime::dml;
use frazil_storage::Transaction;
use frazil_types::{Cancel, ColumnDef, Error, MemoryBudget, Result, Schema};
use std::sync::Arc;
use std::time::Instant;

/// What running a plan needs of the session, beside its transaction.
pub struct Runner {
    database: Database,
    settings: Settings,
    cancel: Cancel,
    progress: Arc<Progress>,
}

impl Runner {
    /// The session's.
    pub fn new(session: &Session) -> Runner {
        Runner {
            database: session.database().clone(),
            settings: session.settings().clone(),
            cancel: session.cancel().clone(),
            progress: session.progress().clone(),
        }
    }

    /// The flag that cancels the statement.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// What the statement's memory is taken from.
    pub fn budget(&self) -> &MemoryBudget {
        self.database.budget()
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

/// A plan in machine code.
pub struct Prepared {
    /// The optimized plan's text, where EXPLAIN wants it.
    pub text: Option<String>,
    /// The code.
    pub query: Arc<CompiledQuery>,
    /// Time so far.
    pub timing: Timing,
}

impl Runner {
    /// Optimizes and compiles a plan.
    pub fn prepare(&self, plan: Plan, bundle: &Bundle, explain: Option<ExplainMode>) -> Result<Prepared> {
        let pushed = !matches!(self.settings.scan, ScanMode::Compiled | ScanMode::Vectorized);
        let settings = frazil_optimizer::Settings {
            restrictions: pushed,
            ..Default::default()
        };
        let schema = result_schema(&plan);
        let plan = frazil_optimizer::optimize(plan, &bundle.tables, &settings)?;
        let text =
            (explain == Some(ExplainMode::Plan)).then(|| frazil_optimizer::explain(&plan, &bundle.tables));
        let pipelines = frazil_optimizer::pipelines(plan, &bundle.tables, self.settings.stages);
        let planned = bundle.started.elapsed();
        let options = CompileOptions {
            text: explain == Some(ExplainMode::Clif),
            isa: Some(self.settings.isa),
            pax_code: self.settings.pax_code(),
            optimize: self.settings.optimize,
            // Where our assertions run, Cranelift checks what it is given.
            verify: cfg!(debug_assertions),
        };
        let hot_layout = |id| {
            let table = bundle.tables.resolve(id).ok()?;
            let (layout, hot) = table.hot_layout()?;
            (self.settings.reads_in_place(hot, table.rows())).then_some(layout)
        };
        let code = frazil_codegen::compile(&pipelines, &options, &hot_layout)?;
        Ok(Prepared {
            text,
            timing: Timing {
                plan: planned,
                compile: code.compile_time,
                ..Timing::default()
            },
            query: Arc::new(CompiledQuery {
                pipelines: Arc::new(pipelines),
                code: Arc::new(code),
                schema,
            }),
        })
    }

    /// Runs a query; the rows, or the rows it wants to write, and what it took.
    pub fn run(&self, query: &CompiledQuery, bundle: Bundle, timing: &mut Timing) -> Result<PlanResult> {
        let begun = Instant::now();
        let environment = Environment {
            tables: &|id| bundle.tables.resolve(id),
            parameters: bundle.parameters,
            scan: self.settings.scan_options(),
            threads: self.settings.threads,
            pool: self.database.pool(),
            budget: self.database.budget(),
            cancel: &self.cancel,
            progress: &self.progress,
        };
        let result = frazil_exec::run_plan(&query.pipelines, &query.code, environment)?;
        timing.execute = begun.elapsed();
        Ok(result)
    }

    /// The compiled query of a text, if it was run before and its tables are the same.
    pub fn cached(&self, text: &str, tables: &StatementTables) -> Option<Arc<CachedQuery>> {
        let cache = self.settings.plan_cache.then(|| self.database.plan_cache())?;
        cache.get(text, &self.settings, tables)
    }

    /// Remembers a query that was compiled from a text.
    fn remember(&self, query: &Arc<CompiledQuery>, bundle: &Bundle) {
        let Some(origin) = bundle.origin.as_ref().filter(|_| self.settings.plan_cache) else {
            return;
        };
        let (types, hidden) = (origin.parameters.clone(), origin.hidden.clone());
        if let Some(cached) = CachedQuery::new(query.clone(), types, hidden, &bundle.tables) {
            self.database
                .plan_cache()
                .put(&origin.text, &self.settings, cached);
        }
    }
}

fn result_schema(plan: &Plan) -> Schema {
    let columns = plan.output.iter().map(|(name, id)| {
        let info = &plan.columns[*id];
        let column = ColumnDef::new(name, info.ty);
        if info.nullable { column } else { column.not_null() }
    });
    Schema::new(columns.collect())
}

/// Runs a query.
pub fn select(session: &Session, plan: Plan, bundle: Bundle) -> Result<Response> {
    let runner = Runner::new(session);
    let mut prepared = runner.prepare(plan, &bundle, None)?;
    runner.remember(&prepared.query, &bundle);
    let result = runner.run(&prepared.query, bundle, &mut prepared.timing)?;
    Ok(Response {
        outcome: Outcome::Rows(Rows::new(prepared.query.schema.clone(), result.batches)),
        timing: prepared.timing,
    })
}

/// Runs a query that was compiled before.
pub fn select_again(runner: &Runner, query: &CompiledQuery, bundle: Bundle) -> Result<Response> {
    let mut timing = Timing {
        plan: bundle.started.elapsed(),
        ..Timing::default()
    };
    let result = runner.run(query, bundle, &mut timing)?;
    Ok(Response {
        outcome: Outcome::Rows(Rows::new(query.schema.clone(), result.batches)),
        timing,
    })
}

/// Runs a query inside another statement.
pub fn rows(runner: &Runner, plan: Plan, bundle: Bundle) -> Result<Rows> {
    let mut prepared = runner.prepare(plan, &bundle, None)?;
    let result = runner.run(&prepared.query, bundle, &mut prepared.timing)?;
    Ok(Rows::new(prepared.query.schema.clone(), result.batches))
}

/// Runs INSERT or DELETE: first all of the plan, then what it wants to write.
pub fn write(
    runner: &Runner,
    transaction: &mut Transaction,
    plan: Plan,
    bundle: Bundle,
    tag: &'static str,
) -> Result<Response> {
    let (table, inserts) = match &plan.root {
        Operator::Insert { table, .. } => (catalog_id(*table), true),
        Operator::Delete { table, .. } => (catalog_id(*table), false),
        other => return Err(Error::internal(format!("{other:?} writes nothing"))),
    };
    let mut prepared = runner.prepare(plan, &bundle, None)?;
    let result = runner.run(&prepared.query, bundle, &mut prepared.timing)?;
    let begun = Instant::now();
    let rows = match inserts {
        true => dml::insert(transaction, table, &result.batches)?,
        false => dml::delete_batches(transaction, table, &result.batches)?,
    };
    prepared.timing.execute += begun.elapsed();
    Ok(Response {
        outcome: Outcome::Command {
            tag,
            rows: Some(rows),
        },
        timing: prepared.timing,
    })
}
