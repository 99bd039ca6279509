//! CHECK constraints of rows that no plan computed: those of COPY and of an Appender. The conditions of a table are
//! compiled once, as a query over the rows that it is given.

use crate::bundle::{Bundle, TypedBy};
use crate::parameters::{hidden_value, now_micros};
use crate::query::{Reading, Runner};
use crate::row_query::RowQuery;
use crate::rows::Timing;
use crate::statement_tables::StatementTables;
use frazil_catalog::{ConstraintKind, TableEntry};
use frazil_frontend::{Bound, Limits, PlanSettings, Statement, parse};
use frazil_plan::operators::{Given, Map, Scan};
use frazil_plan::{CONDITION, Operator, Plan};
use frazil_storage::{CheckResult, Conflict, NewRows, Snapshot, Transaction};
use frazil_types::{ColumnVector, Error, ObjectId, Result, RowBatch, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The CHECK constraints of a table.
#[derive(Debug)]
pub struct RowChecks {
    /// Their names.
    names: Vec<String>,
    /// A boolean column for each constraint, over the table's columns.
    query: RowQuery,
    reading: Reading,
    runner: Runner,
}

impl RowChecks {
    /// The constraints of a table that `snapshot` shows; `None` if it has none.
    pub fn of(runner: &Runner, snapshot: Arc<Snapshot>, entry: &TableEntry) -> Result<Option<RowChecks>> {
        let checks = entry.constraints.iter().filter_map(|c| match &c.kind {
            ConstraintKind::Check { expression, .. } => Some((c.name.clone(), format!("({expression}\n)"))),
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::ForeignKey(_) => None,
        });
        let (names, conditions): (Vec<String>, Vec<String>) = checks.unzip();
        if names.is_empty() {
            return Ok(None);
        }
        let table = snapshot.catalog().qualified(entry.namespace, &entry.name);
        let text = format!("select {} from {table}", conditions.join(", "));
        // What is known of the rows of the table need not hold for new ones.
        let runner = runner.without_proofs();
        let limits = Limits {
            cancel: runner.cancel().clone(),
            budget: runner.budget().clone(),
        };
        let parsed = parse(&text, &limits)?;
        let [parsed] = &parsed[..] else {
            return Err(Error::internal("CHECK constraints that are not one query"));
        };
        let tables = StatementTables::new(snapshot);
        let bound = frazil_frontend::bind(parsed, &tables, &PlanSettings::default(), &[])?;
        let Bound {
            statement: Statement::Query(mut plan),
            hidden,
            depth,
            ..
        } = bound
        else {
            return Err(Error::internal("CHECK constraints that are not a query"));
        };
        give_rows(&mut plan)?;
        let now = now_micros();
        let parameters: Vec<Value> = hidden.iter().map(|h| hidden_value(h, now, now)).collect();
        let bundle = bundle(tables, parameters.clone(), depth);
        let query = frazil_frontend::on_deep_stack(depth, || {
            let mut timing = Timing::default();
            let plan = runner.optimize(plan, &bundle, &mut timing)?;
            RowQuery::of(plan, |plan| runner.code(plan, &bundle, &mut timing))
        })?;
        Ok(Some(RowChecks {
            names,
            query,
            reading: Reading::of_parameters(parameters),
            runner,
        }))
    }

    /// What the constraints say of each row of a batch, one column a constraint.
    fn holds(&self, batch: &RowBatch) -> Result<Vec<ColumnVector>> {
        let reads = self.reads().iter();
        self.hold_for(RowBatch {
            columns: reads.map(|&position| batch.columns[position].clone()).collect(),
            rows: batch.rows,
        })
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Positions of the columns that the constraints read, ascending.
    pub fn reads(&self) -> &[usize] {
        self.query.reads()
    }

    /// What the constraints say of each of some rows, of which the columns that they read are given; one column a
    /// constraint.
    pub fn hold_for(&self, given: RowBatch) -> Result<Vec<ColumnVector>> {
        let rows = given.rows;
        let found = self.runner.run_rows(&self.query, &self.reading, vec![given])?;
        let places: Vec<(usize, usize)> = (found.iter().enumerate())
            .flat_map(|(part, batch)| (0..batch.rows).map(move |row| (part, row)))
            .collect();
        if places.len() != rows {
            return Err(Error::internal("CHECK constraints of other rows than were given"));
        }
        let constraint = |at: usize| {
            let parts: Vec<&ColumnVector> = found.iter().map(|batch| &batch.columns[at]).collect();
            ColumnVector::gathered(CONDITION, &parts, &places)
        };
        Ok((0..self.names.len()).map(constraint).collect())
    }
}

/// Makes a query over the rows of a table one over rows that it is given, in which any column may be NULL: NOT NULL is
/// checked elsewhere.
fn give_rows(plan: &mut Plan) -> Result<()> {
    let mut op = &mut plan.root;
    while let Operator::Map(Map { input, .. }) = op {
        op = &mut **input;
    }
    let Operator::Scan(Scan { columns, .. }) = op else {
        return Err(Error::internal("CHECK constraints that read more than a row"));
    };
    let columns = std::mem::take(columns);
    columns
        .iter()
        .for_each(|(id, _)| plan.columns[*id].nullable = true);
    *op = Operator::Given(Given { columns });
    Ok(())
}

/// Inserts rows that no plan computed: of a table with CHECK constraints, after these are computed. Returns how many.
/// 23502, 23505, 23514.
pub fn insert(
    transaction: &mut Transaction,
    table: ObjectId,
    batch: &RowBatch,
    checks: Option<&RowChecks>,
) -> Result<u64> {
    let mut writer = transaction.writer(table)?;
    let Some(checks) = checks else {
        return Ok(writer.insert(&NewRows::of(batch), Conflict::Fail)?.count);
    };
    writer.check_shape(batch)?;
    let holds = checks.holds(batch)?;
    let results: Vec<CheckResult<'_>> = (checks.names.iter().zip(&holds))
        .map(|(name, holds)| CheckResult { name, holds })
        .collect();
    let rows = NewRows {
        batch,
        checks: &results,
    };
    Ok(writer.insert(&rows, Conflict::Fail)?.count)
}

fn bundle(tables: StatementTables, parameters: Vec<Value>, depth: usize) -> Bundle {
    Bundle {
        tables: tables.into(),
        parameters,
        started: Instant::now(),
        bind: Duration::ZERO,
        text: Arc::default(),
        types: Vec::new(),
        guessed: Vec::new(),
        hidden: Vec::new(),
        typed_by: TypedBy::Text,
        depth,
    }
}
