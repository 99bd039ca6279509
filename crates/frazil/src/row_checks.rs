//! Computes generated columns and CHECK constraints of rows that no plan computed: those of COPY and of an Appender,
//! and those that foreign keys change. The expressions of a table are compiled once, as queries over the
//! rows that they are given.

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
use frazil_types::{ColumnDef, ColumnVector, Error, LogicalType, ObjectId, Result, RowBatch, Value};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The generated columns and CHECK constraints of a table.
#[derive(Debug)]
pub struct RowChecks {
    /// Positions of the generated columns, ascending.
    generated: Vec<usize>,
    /// A column for each generated one.
    values: Option<RowExpressions>,
    /// Names of the constraints.
    names: Vec<String>,
    /// A boolean column for each constraint.
    conditions: Option<RowExpressions>,
    runner: Runner,
}

/// Values that were computed of some rows.
#[derive(Debug, Default)]
pub struct Computed {
    /// Values of generated columns, by the columns' positions.
    pub generated: Vec<(usize, ColumnVector)>,
    /// The results of the CHECK constraints for each row, one boolean column a constraint.
    pub holds: Vec<ColumnVector>,
}

/// Gives the values that rows have in the column at a position.
pub type ValuesOf<'a> = dyn FnMut(usize) -> Result<ColumnVector> + 'a;

impl RowChecks {
    /// The expressions of a table that `snapshot` shows; `None` if it has none.
    pub fn of(runner: &Runner, snapshot: Arc<Snapshot>, entry: &TableEntry) -> Result<Option<RowChecks>> {
        let checks = entry.constraints.iter().filter_map(|c| match &c.kind {
            ConstraintKind::Check { expression, .. } => Some((c.name.clone(), format!("({expression}\n)"))),
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::ForeignKey(_) => None,
        });
        let (names, conditions): (Vec<String>, Vec<String>) = checks.unzip();
        let generated: Vec<usize> = entry.generated().collect();
        if names.is_empty() && generated.is_empty() {
            return Ok(None);
        }
        // What is known of the rows of the table need not hold for new ones.
        let runner = runner.without_proofs();
        let name = snapshot.catalog().qualified(entry.namespace, &entry.name);
        let tables = || runner.own_tables(snapshot.clone());
        let values = match generated.is_empty() {
            true => None,
            false => {
                let bound = frazil_frontend::bind_generated(&name, &tables(), &limits_of(&runner))?;
                let types = (entry.stored_columns().filter(|column| column.is_generated()))
                    .map(|column| column.ty)
                    .collect();
                Some(RowExpressions::of(&runner, tables(), bound, types)?)
            }
        };
        let conditions = match names.is_empty() {
            true => None,
            false => {
                let text = format!("select {} from {name}", conditions.join(", "));
                let parsed = parse(&text, &limits_of(&runner))?;
                let [parsed] = &parsed[..] else {
                    return Err(Error::internal("CHECK constraints that are not one query"));
                };
                let bound = frazil_frontend::bind(parsed, &tables(), &PlanSettings::default(), &[])?;
                let types = vec![CONDITION; names.len()];
                Some(RowExpressions::of(&runner, tables(), bound, types)?)
            }
        };
        Ok(Some(RowChecks {
            generated,
            values,
            names,
            conditions,
            runner,
        }))
    }

    /// The names of the CHECK constraints.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Computes the generated columns, and the CHECK constraints with their values. `values` gives those of the other
    /// columns.
    pub fn compute(&self, rows: usize, values: &mut ValuesOf<'_>) -> Result<Computed> {
        let made = match &self.values {
            Some(expressions) => expressions.compute(&self.runner, rows, values)?,
            None => Vec::new(),
        };
        let generated: Vec<(usize, ColumnVector)> = self.generated.iter().copied().zip(made).collect();
        let holds = match &self.conditions {
            Some(expressions) => expressions.compute(&self.runner, rows, &mut |position| match generated
                .iter()
                .find(|(at, _)| *at == position)
            {
                Some((_, vector)) => Ok(vector.clone()),
                None => values(position),
            })?,
            None => Vec::new(),
        };
        Ok(Computed { generated, holds })
    }

    /// Rows with a column for each that the table stores, of rows that lack the hidden columns, or all generated ones.
    fn widened<'b>(&self, entry: &TableEntry, batch: &'b RowBatch) -> Cow<'b, RowBatch> {
        let (visible, given) = (entry.schema.columns.len(), batch.columns.len());
        let stored = visible + entry.hidden.len();
        let lacks: fn(&ColumnDef, usize, usize) -> bool = match given {
            _ if given == stored => return Cow::Borrowed(batch),
            _ if given == visible => |_, at, visible| at >= visible,
            _ if given + self.generated.len() == stored => |column, _, _| column.is_generated(),
            _ => return Cow::Borrowed(batch),
        };
        let mut given = batch.columns.iter();
        let columns = entry.stored_columns().enumerate().map(|(at, column)| {
            let known = match lacks(column, at, visible) {
                true => None,
                false => given.next().cloned(),
            };
            known.unwrap_or_else(|| ColumnVector::from_values(column.ty, &vec![Value::Null; batch.rows]))
        });
        Cow::Owned(RowBatch {
            columns: columns.collect(),
            rows: batch.rows,
        })
    }
}

impl Computed {
    /// The results of CHECK constraints of these names.
    pub fn results<'r>(&'r self, names: &'r [String]) -> Vec<CheckResult<'r>> {
        let results = names.iter().zip(&self.holds);
        results.map(|(name, holds)| CheckResult { name, holds }).collect()
    }
}

/// Expressions over the rows of a table, compiled.
#[derive(Debug)]
struct RowExpressions {
    query: RowQuery,
    reading: Reading,
    /// The types of the expressions.
    types: Vec<LogicalType>,
}

impl RowExpressions {
    /// The expressions of a query over the rows of one table.
    fn of(
        runner: &Runner,
        tables: StatementTables,
        bound: Bound,
        types: Vec<LogicalType>,
    ) -> Result<RowExpressions> {
        let Bound {
            statement: Statement::Query(mut plan),
            hidden,
            depth,
            ..
        } = bound
        else {
            return Err(Error::internal("expressions over rows that are not a query"));
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
        Ok(RowExpressions {
            query,
            reading: Reading::of_parameters(parameters),
            types,
        })
    }

    /// The values of the expressions for some rows, one column an expression.
    fn compute(&self, runner: &Runner, rows: usize, values: &mut ValuesOf<'_>) -> Result<Vec<ColumnVector>> {
        let reads = self.query.reads().iter();
        let given = RowBatch {
            columns: reads.map(|&position| values(position)).collect::<Result<_>>()?,
            rows,
        };
        let found = runner.run_rows(&self.query, &self.reading, vec![given])?;
        let places: Vec<(usize, usize)> = (found.iter().enumerate())
            .flat_map(|(part, batch)| (0..batch.rows).map(move |row| (part, row)))
            .collect();
        if places.len() != rows {
            return Err(Error::internal("expressions of other rows than were given"));
        }
        let column = |(at, ty): (usize, &LogicalType)| {
            let parts: Vec<&ColumnVector> = found.iter().map(|batch| &batch.columns[at]).collect();
            ColumnVector::gathered(*ty, &parts, &places)
        };
        Ok(self.types.iter().enumerate().map(column).collect())
    }
}

fn limits_of(runner: &Runner) -> Limits {
    Limits {
        cancel: runner.cancel().clone(),
        budget: runner.budget().clone(),
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
        return Err(Error::internal("expressions that read more than a row"));
    };
    let columns = std::mem::take(columns);
    columns
        .iter()
        .for_each(|(id, _)| plan.columns[*id].nullable = true);
    *op = Operator::Given(Given { columns });
    Ok(())
}

/// Inserts rows that no plan computed, after `checks` has computed their expressions. They may lack the generated
/// columns. Returns how many. 23502, 23505, 23514, and the errors of the expressions of generated columns.
pub fn insert(
    transaction: &mut Transaction,
    table: ObjectId,
    batch: &RowBatch,
    checks: Option<&RowChecks>,
) -> Result<u64> {
    let Some(checks) = checks else {
        let mut writer = transaction.writer(table)?;
        return Ok(writer.insert(&NewRows::of(batch), Conflict::Fail)?.count);
    };
    let entry = transaction.view().table(table)?.table().entry().clone();
    let mut batch = checks.widened(&entry, batch);
    let mut writer = transaction.writer(table)?;
    writer.check_shape(&batch)?;
    let computed = checks.compute(batch.rows, &mut |position| Ok(batch.columns[position].clone()))?;
    if !computed.generated.is_empty() {
        let columns = &mut batch.to_mut().columns;
        for (position, vector) in &computed.generated {
            columns[*position] = vector.clone();
        }
    }
    let rows = NewRows {
        batch: &batch,
        checks: &computed.results(checks.names()),
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
