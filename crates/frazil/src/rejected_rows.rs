//! The table that takes the rows that COPY left out (REJECTS_TABLE), in the transaction of the statement: it has them if the rows that
//! were loaded are there, and not otherwise.

use crate::query::Runner;
use crate::row_checks::{self, RowChecks};
use crate::system_tables;
use frazil_catalog::{NewTable, PUBLIC, QualifiedName, TableOptions};
use frazil_files::{Reject, Rejects, Skipped};
use frazil_frontend::{CopyOnError, CopyOptions};
use frazil_storage::Transaction;
use frazil_types::{
    CHUNK_ROWS, ColumnDef, ColumnVector, Error, ObjectId, Result, RowBatch, Schema, SqlState, Value,
};
use std::sync::Arc;

/// Where a reader notes the rows that it leaves out; `None` if none is to be left out. A record of too few or too many fields is left out
/// only where a table keeps it: PostgreSQL, which has no such table, leaves out wrong values only.
pub fn begin(runner: &Runner, options: &CopyOptions) -> Option<Arc<Rejects>> {
    let keeps = options.rejects_table.is_some();
    let skipped = match keeps {
        true => Skipped::Records,
        false => Skipped::Values,
    };
    let rejects = Rejects::new(skipped, keeps, options.reject_limit, runner.budget());
    (options.on_error == CopyOnError::Ignore).then(|| Arc::new(rejects))
}

/// Appends the rows that were left out to their table, if the statement names one; returns how many were left out. `into`: the table
/// that COPY fills. Errors: those of [`table_of`] and of the table's constraints.
pub fn keep(
    runner: &Runner,
    transaction: &mut Transaction,
    into: ObjectId,
    options: &CopyOptions,
    rejects: &Rejects,
) -> Result<u64> {
    let Some(written) = &options.rejects_table else {
        return Ok(rejects.count());
    };
    let schema = written.schema.as_deref().unwrap_or(PUBLIC);
    let name = QualifiedName::new(schema, &written.name);
    let table = table_of(transaction, &name, into)?;
    let entry = transaction.snapshot().catalog().table(&name)?.clone();
    let checks = RowChecks::of(runner, transaction.snapshot(), &entry)?;
    let rows = rejects.take();
    for rows in rows.chunks(CHUNK_ROWS) {
        runner.cancel().check()?;
        row_checks::insert(transaction, table, &batch(rows), checks.as_ref())?;
    }
    Ok(rejects.count())
}

/// The table of a name, which is made if it is not there. 22023 for the table that COPY fills, 42804 for one of other columns.
fn table_of(transaction: &mut Transaction, name: &QualifiedName, into: ObjectId) -> Result<ObjectId> {
    let wanted = Reject::columns();
    if transaction.view().catalog().relation(name).is_none() {
        system_tables::refuse_name(&name.name)?;
        let made = transaction.create(NewTable {
            name: name.clone(),
            schema: Arc::new(Schema::new(wanted)),
            options: TableOptions::default(),
            constraints: Vec::new(),
        })?;
        return Ok(made.id);
    }
    let entry = transaction.view().catalog().table(name)?;
    if entry.id == into {
        let message = format!(
            "COPY REJECTS_TABLE \"{}\" is the table that COPY fills",
            name.name
        );
        return Err(Error::new(SqlState::INVALID_PARAMETER, message));
    }
    let is_same = |(own, wanted): (&ColumnDef, &ColumnDef)| own.name == wanted.name && own.ty == wanted.ty;
    let own = &entry.schema.columns;
    if own.len() != wanted.len() || !own.iter().zip(&wanted).all(is_same) {
        let message = format!("table \"{}\" does not have the columns of rejects", name.name);
        let columns = wanted.iter().map(|c| format!("\"{}\" {}", c.name, c.ty));
        let columns = columns.collect::<Vec<_>>().join(", ");
        return Err(
            Error::new(SqlState::DATATYPE_MISMATCH, message).with_hint(format!(
                "they are {columns}; a table that does not exist is created"
            )),
        );
    }
    Ok(entry.id)
}

/// Rows that were left out as those of their table.
fn batch(rows: &[Reject]) -> RowBatch {
    let text = |text: &String| Value::Text(text.clone());
    let value = |column: usize, row: &Reject| match column {
        0 => text(&row.file),
        1 => Value::Int(row.line.into()),
        2 => row.column.as_ref().map_or(Value::Null, text),
        3 => text(&row.text),
        _ => text(&row.reason),
    };
    let columns = Reject::columns().into_iter().enumerate().map(|(at, column)| {
        let values: Vec<Value> = rows.iter().map(|row| value(at, row)).collect();
        ColumnVector::from_values(column.ty, &values)
    });
    RowBatch {
        columns: columns.collect(),
        rows: rows.len(),
    }
}
