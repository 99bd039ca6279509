//! Runs one statement: binds it and sends it where its kind belongs.

use crate::parameters;
use crate::rows::{Outcome, Response, Rows, Timing};
use crate::session::Session;
use crate::statement_tables::StatementTables;
use crate::{copy, ddl, explain, explain_freeze, query};
use frazil_frontend::{Bound, HiddenParameter, ParsedStatement, PlanSettings, Statement};
use frazil_plan::{Operator, Plan};
use frazil_storage::Transaction;
use frazil_types::{ColumnDef, ColumnVector, Error, LogicalType, Result, RowBatch, Schema, SqlState, Value};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// A bound statement with what it reads and is given.
pub struct Bundle {
    /// The tables it was bound to.
    pub tables: StatementTables,
    /// Values of its parameters, the hidden ones at the end.
    pub parameters: Vec<Value>,
    /// When its planning began.
    pub started: Instant,
    /// What the plan cache needs to know, if its plan may be kept.
    pub origin: Option<Origin>,
}

/// Where a plan comes from.
pub struct Origin {
    /// The statement's text.
    pub text: String,
    /// Types of its parameters.
    pub parameters: Vec<LogicalType>,
    /// Parameters that follow its own.
    pub hidden: Vec<HiddenParameter>,
}

/// Runs a query from the plan cache, if the text is there and its tables are the same.
pub fn run_cached(session: &mut Session, text: &str, parameters: &[Value]) -> Option<Result<Response>> {
    if session.transaction().reads_its_own() || session.transaction().check().is_err() {
        return None;
    }
    let started = Instant::now();
    let tables = StatementTables::new(session.snapshot());
    let runner = query::Runner::new(session);
    let text = text.trim().trim_end_matches(';').trim_end();
    let cached = runner.cached(text, &tables)?;
    let parameters = parameter_values(&cached.parameters, &cached.hidden, parameters);
    let work = AssertUnwindSafe(|| {
        let bundle = Bundle {
            tables,
            parameters: parameters?,
            started,
            origin: None,
        };
        query::select_again(&runner, &cached.query, bundle)
    });
    let result = catch_unwind(work).unwrap_or_else(|panic| Err(panicked(&*panic)));
    if result.is_err() {
        session.transaction_mut().fail();
    }
    Some(result)
}

/// Runs a statement. A failure ends the transaction it was part of.
pub fn run(session: &mut Session, parsed: &ParsedStatement, parameters: &[Value]) -> Result<Response> {
    // A panic is a defect of ours; the connection and everyone else's go on.
    let work = AssertUnwindSafe(|| {
        frazil_frontend::on_deep_stack(parsed.depth(), || run_bound(session, parsed, parameters))
    });
    let result = catch_unwind(work).unwrap_or_else(|panic| Err(panicked(&*panic)));
    if result.is_err() {
        session.transaction_mut().fail();
    }
    result
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = (panic.downcast_ref::<&str>().copied())
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Error::internal(format!("panic: {}", text.unwrap_or("without a message")))
}

fn run_bound(session: &mut Session, parsed: &ParsedStatement, parameters: &[Value]) -> Result<Response> {
    let started = Instant::now();
    let tables = StatementTables::new(session.snapshot());
    let (statement, bundle) = bind(parsed, tables, parameters, started)?;
    if !matches!(statement, Statement::Commit | Statement::Rollback) {
        session.transaction().check()?;
    }
    match statement {
        Statement::Query(plan) => query::select(session, plan, bundle),
        Statement::Explain {
            mode,
            analyze,
            statement,
        } => explain::run(session, mode, analyze, *statement, bundle),
        Statement::ExplainFreeze {
            table,
            order_by,
            analyze,
        } => explain_freeze::run(session, table, order_by, analyze, bundle),
        Statement::Begin => session.transaction_mut().begin().map(|()| done("BEGIN", started)),
        Statement::Commit => session.transaction_mut().commit().map(|tag| done(tag, started)),
        Statement::Rollback => (session.transaction_mut().rollback()).map(|()| done("ROLLBACK", started)),
        Statement::Set { name, value } => session.set(&name, &value).map(|()| done("SET", started)),
        Statement::Show { name } => {
            let value = session.show(&name)?;
            Ok(text_rows(&name, vec![value], started))
        }
        Statement::Checkpoint => {
            if session.transaction().is_open() {
                return Err(Error::new(
                    SqlState::ACTIVE_TRANSACTION,
                    "CHECKPOINT cannot run inside a transaction",
                ));
            }
            session.database().checkpoint()?;
            Ok(done("CHECKPOINT", started))
        }
        writing => run_writing(session, parsed, parameters, writing, bundle),
    }
}

/// A writing statement sees what its transaction sees: if another one committed since it was bound,
/// it is bound again.
fn run_writing(
    session: &mut Session,
    parsed: &ParsedStatement,
    parameters: &[Value],
    statement: Statement,
    bundle: Bundle,
) -> Result<Response> {
    let runner = query::Runner::new(session);
    session.write(|_, transaction| {
        let snapshot = transaction.snapshot();
        let (statement, bundle) = match Arc::ptr_eq(&snapshot, bundle.tables.snapshot()) {
            true => (statement, bundle),
            false => bind(parsed, StatementTables::new(snapshot), parameters, bundle.started)?,
        };
        write(&runner, transaction, statement, bundle)
    })
}

fn write(
    runner: &query::Runner,
    transaction: &mut Transaction,
    statement: Statement,
    bundle: Bundle,
) -> Result<Response> {
    let started = bundle.started;
    match statement {
        Statement::Insert(plan) => {
            refuse_system_table(&plan)?;
            query::write(runner, transaction, plan, bundle, "INSERT")
        }
        Statement::Delete(plan) => {
            refuse_system_table(&plan)?;
            query::write(runner, transaction, plan, bundle, "DELETE")
        }
        Statement::CreateTable {
            name,
            schema,
            if_not_exists,
            options,
            as_query,
        } => {
            let create = ddl::Create {
                name: &name,
                schema,
                if_not_exists,
                options: &options,
            };
            ddl::create_table(runner, transaction, create, as_query, bundle)
        }
        Statement::AlterOptions { table, options } => {
            ddl::alter_options(transaction, &table, &options)?;
            Ok(done("ALTER TABLE", started))
        }
        Statement::DropTable { names, if_exists } => {
            ddl::drop_tables(transaction, &names, if_exists)?;
            Ok(done("DROP TABLE", started))
        }
        Statement::Freeze { table, order_by } => {
            let blocks = ddl::freeze(runner, transaction, &table, order_by)?;
            Ok(counted("FREEZE", blocks, started))
        }
        Statement::CopyFrom {
            name,
            columns,
            path,
            options,
            ..
        } => {
            let rows = copy::from_file(runner, transaction, &name, &columns, &path, &options)?;
            Ok(counted("COPY", rows, started))
        }
        other => Err(Error::internal(format!("{other:?} is no writing statement"))),
    }
}

/// Binds a statement to tables and its parameters to their types.
fn bind(
    parsed: &ParsedStatement,
    tables: StatementTables,
    parameters: &[Value],
    started: Instant,
) -> Result<(Statement, Bundle)> {
    let settings = PlanSettings::default();
    let open: Vec<Option<LogicalType>> = vec![None; parameters.len()];
    let mut lasting = true;
    let bound = match frazil_frontend::bind(parsed, &tables, &settings, &open) {
        // A parameter whose type nothing tells is of its value's own type.
        Err(e) if !parameters.is_empty() && lacks_types(e.state()) => {
            lasting = false;
            let own: Vec<_> = (parameters.iter())
                .map(|v| Some(parameters::own_type(v)))
                .collect();
            frazil_frontend::bind(parsed, &tables, &settings, &own)?
        }
        other => other?,
    };
    let Bound {
        statement,
        parameters: types,
        hidden,
    } = bound;
    let bundle = Bundle {
        parameters: parameter_values(&types, &hidden, parameters)?,
        started,
        origin: lasting.then(|| Origin {
            text: parsed.text.trim().to_owned(),
            parameters: types,
            hidden,
        }),
        tables,
    };
    Ok((statement, bundle))
}

/// Whether a statement fails so whose parameters nothing types.
fn lacks_types(state: SqlState) -> bool {
    [
        SqlState::UNDEFINED_PARAMETER,
        SqlState::INDETERMINATE_TYPE,
        SqlState::AMBIGUOUS_FUNCTION,
    ]
    .contains(&state)
}

/// The values of all parameters, as the types the statement wants.
fn parameter_values(
    types: &[LogicalType],
    hidden: &[HiddenParameter],
    given: &[Value],
) -> Result<Vec<Value>> {
    if types.len() != given.len() {
        return Err(Error::new(
            SqlState::UNDEFINED_PARAMETER,
            format!(
                "the statement has {} parameters, but {} values were given",
                types.len(),
                given.len()
            ),
        ));
    }
    let mut values = Vec::with_capacity(types.len() + hidden.len());
    for (i, (value, ty)) in given.iter().zip(types).enumerate() {
        values.push(parameters::convert(value, *ty).map_err(|e| e.in_context(format!("${}", i + 1)))?);
    }
    let now = parameters::now_micros();
    values.extend(hidden.iter().map(|h| hidden_value(h, now)));
    Ok(values)
}

fn hidden_value(hidden: &HiddenParameter, now: i64) -> Value {
    match hidden {
        HiddenParameter::Now => Value::Int(now.into()),
        HiddenParameter::CurrentDate => Value::Int(now.div_euclid(86_400_000_000).into()),
    }
}

fn refuse_system_table(plan: &Plan) -> Result<()> {
    let (Operator::Insert { table, name, .. } | Operator::Delete { table, name, .. }) = &plan.root else {
        return Ok(());
    };
    match StatementTables::is_system_table(*table) {
        true => Err(Error::unsupported(format!("writing to the system table {name}"))),
        false => Ok(()),
    }
}

/// The response of a command without rows.
pub fn done(tag: &'static str, started: Instant) -> Response {
    Response {
        outcome: Outcome::Command { tag, rows: None },
        timing: execution_since(started),
    }
}

/// The response of a command that counts rows, or blocks.
pub fn counted(tag: &'static str, rows: u64, started: Instant) -> Response {
    Response {
        outcome: Outcome::Command {
            tag,
            rows: Some(rows),
        },
        timing: execution_since(started),
    }
}

/// Lines of text as a result of one column.
pub fn text_rows(name: &str, lines: Vec<String>, started: Instant) -> Response {
    let rows: Vec<Vec<Value>> = lines.into_iter().map(|line| vec![Value::Text(line)]).collect();
    let schema = Schema::new(vec![ColumnDef::new(name, LogicalType::Text)]);
    table_rows(schema, &rows, started)
}

/// Rows as a result.
pub fn table_rows(schema: Schema, rows: &[Vec<Value>], started: Instant) -> Response {
    let columns = schema.columns.iter().enumerate().map(|(i, c)| {
        let values: Vec<Value> = rows.iter().map(|r| r[i].clone()).collect();
        ColumnVector::from_values(c.ty, &values)
    });
    let batch = RowBatch {
        columns: columns.collect(),
        rows: rows.len(),
    };
    Response {
        outcome: Outcome::Rows(Rows::new(schema, vec![batch])),
        timing: execution_since(started),
    }
}

fn execution_since(started: Instant) -> Timing {
    Timing {
        execute: started.elapsed(),
        ..Timing::default()
    }
}
