//! CHECK constraints of rows that no plan computed: those of COPY and of an Appender. The conditions of a table are
//! compiled once, as a query over a table of the same columns in a store of its own, which holds one batch at a time.

use crate::bundle::Bundle;
use crate::compiled_statement::CompiledQuery;
use crate::parameters::{hidden_value, now_micros};
use crate::query::Runner;
use crate::rows::Timing;
use crate::statement_tables::StatementTables;
use frazil_catalog::{ConstraintKind, TableEntry, TableOptions};
use frazil_frontend::{Bound, Limits, PlanSettings, Statement, parse};
use frazil_storage::{CheckResult, Conflict, NewRows, Snapshot, Store, Transaction};
use frazil_types::{
    Cancel, ColumnDef, ColumnVector, Error, LogicalType, ObjectId, Result, RowBatch, Schema, Value,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The CHECK constraints of a table.
#[derive(Debug)]
pub struct RowChecks {
    /// Their names.
    names: Vec<String>,
    table: String,
    /// The table's columns, nullable: NOT NULL is checked elsewhere.
    schema: Arc<Schema>,
    /// A boolean column for each constraint.
    query: CompiledQuery,
    parameters: Vec<Value>,
    runner: Runner,
}

impl RowChecks {
    /// The constraints of a table; `None` if it has none.
    pub fn of(runner: &Runner, entry: &TableEntry) -> Result<Option<RowChecks>> {
        let checks = entry.constraints.iter().filter_map(|c| match &c.kind {
            ConstraintKind::Check { expression, .. } => Some((c.name.clone(), format!("({expression}\n)"))),
            _ => None,
        });
        let (names, conditions): (Vec<String>, Vec<String>) = checks.unzip();
        if names.is_empty() {
            return Ok(None);
        }
        let columns = entry.schema.columns.iter().map(|c| ColumnDef::new(&c.name, c.ty));
        let schema = Arc::new(Schema::new(columns.collect()));
        let quoted = entry.name.replace('"', "\"\"");
        let text = format!("select {} from \"{quoted}\"", conditions.join(", "));
        // What is known of one batch need not hold for the next.
        let runner = runner.without_proofs();
        let nothing = RowBatch {
            columns: schema
                .columns
                .iter()
                .map(|c| ColumnVector::new(c.ty, 0))
                .collect(),
            rows: 0,
        };
        let tables = StatementTables::new(store_of(&entry.name, &schema, &nothing)?);
        let limits = Limits {
            cancel: runner.cancel().clone(),
            budget: runner.budget().clone(),
        };
        let parsed = parse(&text, &limits)?;
        let [parsed] = &parsed[..] else {
            return Err(Error::internal("CHECK constraints that are not one query"));
        };
        let bound = frazil_frontend::bind(parsed, &tables, &PlanSettings::default(), &[])?;
        let Bound {
            statement: Statement::Query(plan),
            hidden,
            depth,
            ..
        } = bound
        else {
            return Err(Error::internal("CHECK constraints that are not a query"));
        };
        let now = now_micros();
        let parameters: Vec<Value> = hidden.iter().map(|h| hidden_value(h, now)).collect();
        let bundle = bundle(tables, parameters.clone(), depth);
        let query = frazil_frontend::on_deep_stack(depth, || {
            let mut timing = Timing::default();
            let plan = runner.optimize(plan, &bundle, &mut timing)?;
            runner.code(plan, &bundle, &mut timing)
        })?;
        Ok(Some(RowChecks {
            names,
            table: entry.name.clone(),
            schema,
            query,
            parameters,
            runner,
        }))
    }

    /// What the constraints say of each row of a batch, one column a constraint.
    fn holds(&self, batch: &RowBatch) -> Result<Vec<ColumnVector>> {
        let tables = StatementTables::new(store_of(&self.table, &self.schema, batch)?);
        let bundle = bundle(tables, self.parameters.clone(), 0);
        let mut timing = Timing::default();
        let found = self.runner.run(&self.query, bundle, &mut timing)?.batches;
        let mut holds = Vec::with_capacity(self.names.len());
        for constraint in 0..self.names.len() {
            let values = found.iter().flat_map(|part| {
                let column = &part.columns[constraint];
                (0..part.rows).map(|row| column.value(row))
            });
            let values: Vec<Value> = values.collect();
            if values.len() != batch.rows {
                return Err(Error::internal("CHECK constraints of other rows than were given"));
            }
            holds.push(ColumnVector::from_values(LogicalType::Boolean, &values));
        }
        Ok(holds)
    }
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
        tables,
        parameters,
        started: Instant::now(),
        bind: Duration::ZERO,
        text: Arc::default(),
        types: Vec::new(),
        hidden: Vec::new(),
        is_typed_by_text: true,
        depth,
    }
}

/// A store with one table, of the same id in each store.
fn store_of(name: &str, schema: &Arc<Schema>, batch: &RowBatch) -> Result<Arc<Snapshot>> {
    let store = Store::new();
    let mut transaction = store.begin(Duration::ZERO, &Cancel::new())?;
    let entry = transaction.create_table(name, schema.clone(), TableOptions::default())?;
    (transaction.writer(entry.id)?).insert(&NewRows::of(batch), Conflict::Fail)?;
    transaction.commit();
    Ok(store.snapshot())
}
