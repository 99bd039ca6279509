//! The functions that give rows of a query while it is bound.

use super::computed::Computed;
use frazil_functions::{ArrayLines, Record, TypedRowsCall, numbered_elements};
use frazil_plan::operators::Expand;
use frazil_plan::{ColumnId, Columns, Expansion, Expr, Operator, RowsCall};
use frazil_types::LogicalType;

/// The calls in the select list of a query, and in what orders and groups it.
#[derive(Default)]
pub(super) struct RowsCalls {
    calls: Vec<(ColumnId, TypedRowsCall)>,
    /// Calls bound so far, equal ones counted each.
    pub bound: usize,
}

impl RowsCalls {
    /// The column of an equal call, if there is one.
    pub fn find(&self, call: &TypedRowsCall) -> Option<ColumnId> {
        self.calls.iter().find(|c| c.1 == *call).map(|c| c.0)
    }

    /// Adds a call with its column.
    pub fn add(&mut self, id: ColumnId, call: TypedRowsCall) {
        self.calls.push((id, call));
    }

    /// The columns that stand for calls.
    pub fn columns(&self) -> impl Iterator<Item = ColumnId> {
        self.calls.iter().map(|c| c.0)
    }

    /// The arguments of all calls, to be changed.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.calls.iter_mut().flat_map(|c| c.1.arguments_mut())
    }

    /// Takes out the calls whose columns are among `read`, and those that they read.
    pub fn take_read(&mut self, read: impl Iterator<Item = ColumnId>) -> RowsCalls {
        let mut wanted: Vec<ColumnId> = read.filter(|id| self.columns().any(|c| c == *id)).collect();
        let mut at = 0;
        while let Some(id) = wanted.get(at).copied() {
            let call = self.calls.iter().find(|c| c.0 == id);
            let inner = call
                .iter()
                .flat_map(|c| c.1.arguments())
                .flat_map(Expr::columns_read);
            for id in inner.collect::<Vec<_>>() {
                if !wanted.contains(&id) && self.columns().any(|c| c == id) {
                    wanted.push(id);
                }
            }
            at += 1;
        }
        let (taken, left) = std::mem::take(&mut self.calls)
            .into_iter()
            .partition(|c| wanted.contains(&c.0));
        self.calls = left;
        RowsCalls {
            calls: taken,
            bound: 0,
        }
    }

    /// The rows that the calls make of those of `op`.
    pub fn above(self, op: Operator, columns: &mut Columns) -> Operator {
        let (mut op, mut left) = (op, self.calls);
        while !left.is_empty() {
            let waiting: Vec<ColumnId> = left.iter().map(|c| c.0).collect();
            let reads = |call: &TypedRowsCall| {
                let mut read = call.arguments().iter().flat_map(Expr::columns_read);
                read.any(|id| waiting.contains(&id))
            };
            let (later, calls) = left.into_iter().partition(|c| reads(&c.1));
            op = expanded(op, calls, None, columns);
            left = later;
        }
        op
    }
}

/// A row value whose fields `parts` give side by side, each in a column of its own.
fn row_of(
    fields: Vec<(&'static str, LogicalType)>,
    parts: [RowsCall; 2],
    made: &mut Vec<(ColumnId, RowsCall)>,
    columns: &mut Columns,
) -> Expr {
    let mut record = Record {
        names: Vec::new(),
        values: Vec::new(),
        open: Vec::new(),
        mark: None,
    };
    for ((name, ty), part) in fields.into_iter().zip(parts) {
        let column = columns.add(name, ty, true);
        made.push((column, part));
        record.names.push(name.to_owned());
        record.values.push(Expr::column(column, columns));
    }
    record.value()
}

/// The rows of functions for each row of `op`. Lines of arrays are looked up by their positions, above the rows of
/// those; such arrays are computed once, below.
pub(super) fn expanded(
    op: Operator,
    calls: Vec<(ColumnId, TypedRowsCall)>,
    ordinality: Option<ColumnId>,
    columns: &mut Columns,
) -> Operator {
    let (mut below, mut above) = (Computed::default(), Computed::default());
    let mut made = Vec::with_capacity(calls.len());
    for (id, call) in calls {
        let fields = call.fields();
        let array = match call {
            TypedRowsCall::Call(call) => {
                made.push((id, call));
                continue;
            }
            TypedRowsCall::Over {
                columns,
                values,
                call,
            } => {
                below.expressions.extend(columns.into_iter().zip(values));
                made.push((id, call));
                continue;
            }
            TypedRowsCall::Lines(array) | TypedRowsCall::Numbered(array) => array,
        };
        let is_read_at_once = array.as_column().is_some() || array.as_constant().is_some();
        let array = if is_read_at_once {
            array
        } else {
            let column = columns.add("array", array.ty, array.nullable);
            below.expressions.push((column, array));
            Expr::column(column, columns)
        };
        if !fields.is_empty() {
            let parts = numbered_elements(array);
            above
                .expressions
                .push((id, row_of(fields, parts, &mut made, columns)));
            continue;
        }
        let lines = ArrayLines::of(array);
        let numbers = lines.numbers.clone();
        let number = columns.add("number", numbers.ty, true);
        above
            .expressions
            .push((id, lines.row(Expr::column(number, columns))));
        made.push((number, numbers));
    }
    let expand = Operator::Expand(Expand {
        input: Box::new(below.above(op)),
        expansion: Expansion {
            calls: made,
            ordinality,
        },
    });
    above.above(expand)
}
