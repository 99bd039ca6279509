//! Operators that clauses share: maps of what is no column yet, filters, groups of whole rows.

pub(super) use super::computed::Computed;
use super::{Binder, OutputColumn, Relation};
use frazil_plan::operators::{Aggregate, Filter, Values};
use frazil_plan::{AggregateCall, ColumnId, Expr, ExprKind, Operator};
use std::collections::HashMap;

/// Aggregates of all rows together.
pub(super) fn one_group(op: Operator, aggregates: Vec<(ColumnId, AggregateCall)>) -> Operator {
    Operator::Aggregate(Aggregate {
        input: Box::new(op),
        groups: Vec::new(),
        aggregates,
    })
}

impl Binder<'_> {
    /// An expression as a column of this query: itself if it is one, else computed.
    pub(super) fn as_column(&mut self, e: Expr, label: &str, computed: &mut Computed) -> ColumnId {
        if let ExprKind::Column(id) = e.kind
            && self.owner(id) == self.depth()
        {
            return id;
        }
        let id = self.columns.add(label, e.ty, e.nullable);
        self.own(id);
        self.keep_descent(id, &e);
        computed.expressions.push((id, e));
        id
    }

    /// Distinct rows: groups of all columns.
    pub(super) fn distinct_rows(&mut self, input: Relation) -> Relation {
        let mut groups: Vec<(ColumnId, Expr)> = Vec::new();
        let mut made: HashMap<ColumnId, ColumnId> = HashMap::new();
        let mut columns = Vec::with_capacity(input.columns.len());
        for OutputColumn { name, id, .. } in input.columns {
            let new = match made.get(&id) {
                Some(new) => *new,
                None => {
                    let e = Expr::column(id, &self.columns);
                    let new = self.columns.add(name.clone(), e.ty, e.nullable);
                    self.own(new);
                    self.keep_descent(new, &e);
                    made.insert(id, new);
                    groups.push((new, e));
                    new
                }
            };
            columns.push(OutputColumn::new(name, new));
        }
        let op = if groups.is_empty() {
            // Rows without columns are all equal.
            super::limit::first_row(input.op)
        } else {
            Operator::Aggregate(Aggregate {
                input: Box::new(input.op),
                groups,
                aggregates: Vec::new(),
            })
        };
        Relation { op, columns }
    }
}

/// A Filter above `op`, if there is a predicate.
pub(super) fn filtered(op: Operator, predicate: Option<Expr>) -> Operator {
    match predicate {
        Some(predicate) => Operator::Filter(Filter {
            input: Box::new(op),
            predicate,
        }),
        None => op,
    }
}

/// One row without columns: SELECT without FROM.
pub(super) fn one_row() -> Operator {
    Operator::Values(Values {
        columns: Vec::new(),
        rows: vec![Vec::new()],
    })
}
