//! Rows of constants and parameters: what INSERT … VALUES writes and a query without tables may return. They
//! are made as they are, without pipelines and generated code.

use frazil_plan::{ColumnId, Expr, ExprKind, Operator, Plan};
use frazil_types::{ColumnVector, LogicalType, RowBatch, Value};
use std::collections::HashMap;

/// Rows whose values are known once the parameters are.
#[derive(Debug)]
pub struct DirectRows {
    columns: Vec<DirectColumn>,
    rows: usize,
}

#[derive(Debug)]
struct DirectColumn {
    ty: LogicalType,
    cells: Vec<Cell>,
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
            Some(DirectColumn {
                ty: plan.columns[*id].ty,
                cells: known.get(id)?.clone(),
            })
        });
        Some(DirectRows {
            columns: columns.collect::<Option<_>>()?,
            rows,
        })
    }

    /// No rows of no columns.
    #[cfg(test)]
    pub fn none() -> DirectRows {
        DirectRows {
            columns: Vec::new(),
            rows: 0,
        }
    }

    /// The rows, given all parameters.
    pub fn batch(&self, parameters: &[Value]) -> RowBatch {
        let vector = |column: &DirectColumn| match &column.cells[..] {
            [Cell::Constant(value)] => ColumnVector::from_values(column.ty, std::slice::from_ref(value)),
            [Cell::Parameter(at)] => {
                ColumnVector::from_values(column.ty, std::slice::from_ref(&parameters[*at]))
            }
            cells => {
                let values = cells.iter().map(|cell| match cell {
                    Cell::Constant(value) => value.clone(),
                    Cell::Parameter(at) => parameters[*at].clone(),
                });
                ColumnVector::from_values(column.ty, &values.collect::<Vec<_>>())
            }
        };
        RowBatch {
            columns: self.columns.iter().map(vector).collect(),
            rows: self.rows,
        }
    }
}

/// Adds the columns of an operator, as long as all of them are direct; returns how many rows it has.
fn cells(op: &Operator, plan: &Plan, known: &mut HashMap<ColumnId, Vec<Cell>>) -> Option<usize> {
    match op {
        Operator::Values { columns, rows } => {
            for (i, id) in columns.iter().enumerate() {
                let cells = rows.iter().map(|row| direct_cell(&row[i], *id, plan));
                known.insert(*id, cells.collect::<Option<_>>()?);
            }
            Some(rows.len())
        }
        Operator::Map { input, expressions } => {
            let rows = cells(input, plan, known)?;
            for (id, e) in expressions {
                let column = match &e.kind {
                    ExprKind::Column(from) if e.ty == plan.columns[*id].ty => known.get(from)?.clone(),
                    _ => vec![direct_cell(e, *id, plan)?; rows],
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
