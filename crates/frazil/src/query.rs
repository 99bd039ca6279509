//! A plan's way to rows: optimize, cut into pipelines and stages, compile, run.

use crate::database::Database;
use crate::execute::Bundle;
use crate::rows::{Outcome, Response, Rows, Timing};
use crate::session::Session;
use crate::settings::{ScanMode, Settings};
use crate::statement_tables::catalog_id;
use frazil_codegen::{CompileOptions, CompiledPlan};
use frazil_exec::{Environment, PlanResult, Progress};
use frazil_frontend::ExplainMode;
use frazil_plan::pipeline::PipelinePlan;
use frazil_plan::{Operator, Plan};
use frazil_runtime::dml;
use frazil_storage::Transaction;
use frazil_types::{Cancel, ColumnDef, Error, Result, Schema};
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
    /// Its pipelines.
    pub pipelines: Arc<PipelinePlan>,
    /// Their code.
    pub code: Arc<CompiledPlan>,
    /// Columns of the result.
    pub schema: Schema,
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
            ..CompileOptions::default()
        };
        let code = frazil_codegen::compile(&pipelines, &options)?;
        Ok(Prepared {
            text,
            schema,
            timing: Timing {
                plan: planned,
                compile: code.compile_time,
                ..Timing::default()
            },
            pipelines: Arc::new(pipelines),
            code: Arc::new(code),
        })
    }

    /// Runs a plan; the rows, or the rows it wants to write, and what it took.
    pub fn run(&self, prepared: &mut Prepared, bundle: Bundle) -> Result<PlanResult> {
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
        let result = frazil_exec::run_plan(&prepared.pipelines, &prepared.code, environment)?;
        prepared.timing.execute = begun.elapsed();
        Ok(result)
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
    let result = runner.run(&mut prepared, bundle)?;
    Ok(Response {
        outcome: Outcome::Rows(Rows::new(prepared.schema, result.batches)),
        timing: prepared.timing,
    })
}

/// Runs a query inside another statement.
pub fn rows(runner: &Runner, plan: Plan, bundle: Bundle) -> Result<Rows> {
    let mut prepared = runner.prepare(plan, &bundle, None)?;
    let result = runner.run(&mut prepared, bundle)?;
    Ok(Rows::new(prepared.schema, result.batches))
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
    let result = runner.run(&mut prepared, bundle)?;
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
