//! Rows of constants and parameters: what INSERT … VALUES writes and a query without tables may return. They
//! are made as they are, without pipelines and generated code.

use frazil_plan::operators::{Map, Values};
use frazil_plan::{ColumnId, Expr, ExprKind, Operator, Plan};
use frazil_types::{ColumnVector, LogicalType, RowBatch, Value};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard};

/// Bytes of texts beyond which their memory is not kept.
const LONG: usize = 64 << 10;

/// Rows whose values are known once the parameters are.
#[derive(Debug)]
pub struct DirectRows {
    columns: Vec<DirectColumn>,
    rows: usize,
    /// The batch of an earlier run, whose memory serves again; one without columns if there is none.
    spare: Mutex<RowBatch>,
}

/// Rows that are read and not kept: their memory serves the next run of the statement.
#[derive(Debug)]
pub enum LentRows<'a> {
    /// In the memory that is kept, which others that run the statement meanwhile do not get.
    Kept(MutexGuard<'a, RowBatch>),
    /// In memory of their own.
    Own(RowBatch),
}

impl Deref for LentRows<'_> {
    type Target = RowBatch;

    fn deref(&self) -> &RowBatch {
        match self {
            LentRows::Kept(batch) => batch,
            LentRows::Own(batch) => batch,
        }
    }
}

impl Drop for LentRows<'_> {
    fn drop(&mut self) {
        // Long texts are not kept for their memory's sake.
        if let LentRows::Kept(batch) = self {
            let texts = batch.columns.iter().filter(|c| !c.heaps().is_empty());
            let bytes = |column: &ColumnVector| {
                (0..column.len())
                    .map(|row| column.string(row).len())
                    .sum::<usize>()
            };
            if texts.map(bytes).sum::<usize>() > LONG {
                **batch = RowBatch::default();
            }
        }
    }
}

#[derive(Debug)]
struct DirectColumn {
    ty: LogicalType,
    cells: Vec<Cell>,
    has_parameters: bool,
}

impl DirectColumn {
    fn new(ty: LogicalType, cells: Vec<Cell>) -> DirectColumn {
        DirectColumn {
            ty,
            has_parameters: cells.iter().any(|cell| matches!(cell, Cell::Parameter(_))),
            cells,
        }
    }
}

/// A value of its column's type.
#[derive(Clone, Debug)]
enum Cell {
    Constant(Value),
    /// The parameter at this position, hidden ones after the statement's own.
    Parameter(usize),
}

impl Cell {
    fn of(e: &Expr) -> Option<Cell> {
        match &e.kind {
            ExprKind::Constant(value) => Some(Cell::Constant(value.clone())),
            ExprKind::Parameter(position) => Some(Cell::Parameter(*position)),
            _ => None,
        }
    }
}

impl DirectRows {
    /// The rows of an operator in the order of `columns`; `None` where they take more than constants and parameters.
    pub fn of(op: &Operator, columns: &[ColumnId], plan: &Plan) -> Option<DirectRows> {
        let mut known = HashMap::new();
        let rows = cells(op, plan, &mut known)?;
        let columns = columns.iter().map(|id| {
            let cells = known.get(id)?.clone();
            Some(DirectColumn::new(plan.columns[*id].ty, cells))
        });
        Some(DirectRows {
            columns: columns.collect::<Option<_>>()?,
            rows,
            spare: Mutex::default(),
        })
    }

    /// No rows of no columns.
    #[cfg(test)]
    pub fn none() -> DirectRows {
        DirectRows {
            columns: Vec::new(),
            rows: 0,
            spare: Mutex::default(),
        }
    }

    /// The rows, given all parameters.
    pub fn batch(&self, parameters: &[Value]) -> RowBatch {
        let mut batch = RowBatch {
            columns: (self.columns.iter())
                .map(|column| ColumnVector::new(column.ty, self.rows))
                .collect(),
            rows: self.rows,
        };
        self.fill(&mut batch, |_| true, parameters);
        batch
    }

    /// The rows, given all parameters, to be read: running a statement again needs no memory for each column.
    pub fn lend(&self, parameters: &[Value]) -> LentRows<'_> {
        let Ok(mut batch) = self.spare.try_lock() else {
            return LentRows::Own(self.batch(parameters));
        };
        match batch.columns.len() == self.columns.len() && batch.rows == self.rows {
            // Constants are there already.
            true => self.fill(&mut batch, |column| column.has_parameters, parameters),
            false => *batch = self.batch(parameters),
        }
        LentRows::Kept(batch)
    }

    /// Fills the columns that `wanted` says yes to.
    fn fill(&self, batch: &mut RowBatch, wanted: impl Fn(&DirectColumn) -> bool, parameters: &[Value]) {
        let columns = self.columns.iter().zip(&mut batch.columns);
        for (column, vector) in columns.filter(|(column, _)| wanted(column)) {
            vector.refill(column.cells.iter().map(|cell| match cell {
                Cell::Constant(value) => value,
                Cell::Parameter(at) => &parameters[*at],
            }));
        }
    }
}

/// Adds the columns of an operator, as long as all of them are direct; returns how many rows it has.
fn cells(op: &Operator, plan: &Plan, known: &mut HashMap<ColumnId, Vec<Cell>>) -> Option<usize> {
    match op {
        Operator::Values(Values { columns, rows }) => {
            for (i, id) in columns.iter().enumerate() {
                let cells = rows.iter().map(|row| direct_cell(&row[i], *id, plan));
                known.insert(*id, cells.collect::<Option<_>>()?);
            }
            Some(rows.len())
        }
        Operator::Map(Map { input, expressions }) => {
            let rows = cells(input, plan, known)?;
            for (id, e) in expressions {
                let column = match e.as_column().filter(|_| e.ty == plan.columns[*id].ty) {
                    Some(from) => known.get(&from)?.clone(),
                    None => vec![direct_cell(e, *id, plan)?; rows],
                };
                known.insert(*id, column);
            }
            Some(rows)
        }
        _ => None,
    }
}

/// A constant or parameter of exactly the column's type: a value of another one would have to be cast.
fn direct_cell(e: &Expr, column: ColumnId, plan: &Plan) -> Option<Cell> {
    let ty = plan.columns[column].ty;
    match &e.kind {
        ExprKind::Parameter(at) if plan.parameters.get(*at) != Some(&ty) => None,
        _ if e.ty == ty => Cell::of(e),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_serves_again_and_long_texts_are_let_go() {
        let column = DirectColumn::new;
        let rows = DirectRows {
            columns: vec![
                column(LogicalType::Text, vec![Cell::Parameter(0), Cell::Parameter(1)]),
                column(
                    LogicalType::Integer,
                    vec![Cell::Constant(Value::Int(7)), Cell::Parameter(2)],
                ),
                column(
                    LogicalType::BigInt,
                    vec![Cell::Constant(Value::Null), Cell::Constant(Value::Int(8))],
                ),
            ],
            rows: 2,
            spare: Mutex::default(),
        };
        let text = |text: &str| Value::Text(text.to_string());
        let (heap, long) = ("a text of more than twelve bytes", "x".repeat(LONG + 1));
        for (given, is_kept) in [
            ([text("ab"), Value::Null, Value::Int(1)], true),
            ([Value::Null, text("twelve bytes"), Value::Null], true),
            ([text(heap), text("b"), Value::Int(3)], true),
            ([text("a"), text(heap), Value::Int(3)], true),
            ([text(&long), text("b"), Value::Int(3)], false),
            ([text(""), text("c"), Value::Int(4)], true),
        ] {
            let lent = rows.lend(&given);
            // A second call beside the first has its own memory.
            let expected = [rows.lend(&given).clone(), rows.batch(&given)];
            for batch in [&*lent, &expected[0], &expected[1]] {
                let value = |column: usize, row| batch.columns[column].value(row);
                assert_eq!([value(0, 0), value(0, 1)], [given[0].clone(), given[1].clone()]);
                assert_eq!([value(1, 0), value(1, 1)], [Value::Int(7), given[2].clone()]);
                assert_eq!([value(2, 0), value(2, 1)], [Value::Null, Value::Int(8)]);
            }
            drop(lent);
            assert_eq!(!rows.spare.lock().unwrap().columns.is_empty(), is_kept);
        }
    }
}
