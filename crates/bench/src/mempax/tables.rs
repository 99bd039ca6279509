//! Tables of four columns of one width, and the two queries over them (figure 2).

use super::number;
use frazil::{Connection, Outcome};
use frazil_types::{ColumnVector, Error, LogicalType, Result, RowBatch, Value};

/// Bytes of a table at scale 1: out of cache.
pub const BYTES: f64 = 64e6;

/// The queries by their names in the paper.
pub const QUERIES: [(&str, &str); 2] = [("q1", "min(a + b + c + d)"), ("q2", "sum(a * b * c * d)")];

/// Types of the columns. SQL has no integer of one byte: the narrowest is smallint.
pub const SCHEMAS: [(LogicalType, &str); 3] = [
    (LogicalType::SmallInt, "smallint"),
    (LogicalType::Integer, "int"),
    (LogicalType::BigInt, "long"),
];

/// Rows of a table whose rows have so many bytes.
pub fn rows(scale: f64, bytes: usize) -> usize {
    ((BYTES * scale) as usize / bytes).max(256)
}

/// Makes and fills the table of a type and k; its name.
pub fn fill(connection: &Connection, ty: LogicalType, k: usize, rows: usize) -> Result<String> {
    let name = format!("t{k}");
    let columns: Vec<String> = ["a", "b", "c", "d"]
        .iter()
        .map(|c| format!("{c} {ty} not null"))
        .collect();
    connection.execute(&format!(
        "create table {name} ({}) with (pax_rows = {k})",
        columns.join(", ")
    ))?;
    let mut appender = connection.appender(&name)?;
    const BATCH: usize = 1 << 16;
    for from in (0..rows).step_by(BATCH) {
        let count = BATCH.min(rows - from);
        let columns = (0..4).map(|column| vector(ty, column, from, count)).collect();
        appender.append(RowBatch { columns, rows: count })?;
    }
    appender.finish()?;
    Ok(name)
}

fn vector(ty: LogicalType, column: usize, from: usize, count: usize) -> ColumnVector {
    let mut out = ColumnVector::new(ty, count);
    out.resize(count);
    let numbers = (from..from + count).map(|i| number(column, i));
    match ty {
        LogicalType::SmallInt => {
            let to = out.values_mut::<i16>().iter_mut();
            to.zip(numbers).for_each(|(to, n)| *to = n.into());
        }
        LogicalType::Integer => {
            let to = out.values_mut::<i32>().iter_mut();
            to.zip(numbers).for_each(|(to, n)| *to = n.into());
        }
        _ => {
            let to = out.values_mut::<i64>().iter_mut();
            to.zip(numbers).for_each(|(to, n)| *to = n.into());
        }
    }
    out
}

/// Runs a query that gives one number: nanoseconds a row of `rows`, and the number.
pub fn run(connection: &Connection, sql: &str, rows: usize) -> Result<(f64, Value)> {
    let response = connection.execute(sql)?;
    let Outcome::Rows(found) = &response.outcome else {
        return Err(Error::internal("a query without rows"));
    };
    let row = found.raw().next();
    let value = row.and_then(|r| r.into_iter().next());
    let value = value.ok_or_else(|| Error::internal("a query without a value"))?;
    Ok((response.timing.execute.as_secs_f64() * 1e9 / rows as f64, value))
}

/// All that are given must be the same.
pub fn same(known: &mut Option<Value>, found: Value, case: &str) -> Result<()> {
    if *known.get_or_insert(found.clone()) == found {
        return Ok(());
    }
    Err(Error::internal(format!(
        "{case} has another answer than the others"
    )))
}
