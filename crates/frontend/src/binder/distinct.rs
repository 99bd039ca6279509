//! DISTINCT and DISTINCT ON.

use super::order_by::By;
use super::select::ordered;
use super::select_list::Target;
use super::{Binder, OutputColumn, Relation, error};
use frazil_plan::subquery::free_columns;
use frazil_plan::{ColumnId, Expr, ExprKind, Operator, SharedId, SortKey};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::Expr as SqlExpr;
use std::collections::HashMap;

/// An expression of DISTINCT ON: an item of the select list.
pub(super) struct OnKey {
    target: usize,
}

impl<'a> Binder<'a> {
    pub(super) fn distinct_on(&mut self, list: &'a [SqlExpr], targets: &mut [Target]) -> Result<Vec<OnKey>> {
        let mut keys = Vec::new();
        for e in list {
            match self.by(e, targets, "SELECT DISTINCT ON")? {
                By::Target(target) => keys.push(OnKey { target }),
                By::Expression(e) => {
                    let what = "DISTINCT ON an expression that is not in the select list";
                    return Err(Error::unsupported(what).at_span(e.span));
                }
            }
        }
        Ok(keys)
    }

    /// Distinct rows in an order of their columns. 42P10 for another order.
    pub(super) fn distinct_sorted(
        &mut self,
        relation: Relation,
        keys: Vec<SortKey>,
        spans: &[Span],
    ) -> Result<Relation> {
        let before: Vec<ColumnId> = relation.columns.iter().map(|c| c.id).collect();
        let relation = self.distinct_rows(relation);
        let mut sorted = Vec::with_capacity(keys.len());
        for (key, span) in keys.into_iter().zip(spans) {
            let Some(at) = before.iter().position(|id| *id == key.column) else {
                let message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
                return Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, *span));
            };
            let column = relation.columns[at].id;
            sorted.push(SortKey { column, ..key });
        }
        Ok(ordered(relation, sorted))
    }

    /// Of the rows that agree in the keys `on` the first in the order: for each combination of keys, the rows with
    /// it, sorted, and of these one.
    pub(super) fn first_of_each(
        &mut self,
        relation: Relation,
        on: Vec<OnKey>,
        keys: Vec<SortKey>,
    ) -> Result<Relation> {
        let first = on.first().map_or(Span::NONE, |k| relation.columns[k.target].span);
        let on: Vec<ColumnId> = on.iter().map(|k| relation.columns[k.target].id).collect();
        if keys.iter().take(on.len()).any(|k| !on.contains(&k.column)) {
            let message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
            return Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, first));
        }
        if !free_columns(&relation.op).is_empty() {
            return Err(Error::unsupported("DISTINCT ON in a correlated subquery"));
        }
        let mut read: Vec<ColumnId> = Vec::new();
        let wanted = relation
            .columns
            .iter()
            .map(|c| c.id)
            .chain(keys.iter().map(|k| k.column));
        for id in wanted {
            if !read.contains(&id) {
                read.push(id);
            }
        }
        self.shared.push(relation.op);
        let shared = SharedId(self.shared.len() - 1);
        let (combinations, outer) = self.read_shared(shared, &on);
        let (rows, inner) = self.read_shared(shared, &read);
        let mut groups = Vec::new();
        let mut equal = Vec::new();
        for id in &on {
            let e = Expr::column(outer[id], &self.columns);
            let group = self.columns.add("key", e.ty, e.nullable);
            groups.push((group, e));
            equal.push(null_safe_equal(
                Expr::column(inner[id], &self.columns),
                Expr::column(group, &self.columns),
            ));
        }
        let of_key = super::rows::filtered(rows, Expr::conjunction(equal));
        let sorted: Vec<SortKey> = keys
            .into_iter()
            .map(|k| SortKey {
                column: inner[&k.column],
                ..k
            })
            .collect();
        let columns: Vec<OutputColumn> = relation
            .columns
            .into_iter()
            .map(|c| OutputColumn::new(c.name, inner[&c.id]))
            .collect();
        for column in &columns {
            self.own(column.id);
        }
        let first = super::limit::first_row(ordered(Relation::new(of_key, Vec::new()), sorted.clone()).op);
        let op = Operator::DependentJoin {
            outer: Box::new(Operator::Aggregate {
                input: Box::new(combinations),
                groups,
                aggregates: Vec::new(),
            }),
            inner: Box::new(first),
            condition: None,
            keep_outer: false,
        };
        Ok(ordered(Relation::new(op, columns), sorted))
    }

    /// A reading of some columns of a shared subplan, and what they are called in it.
    fn read_shared(&mut self, id: SharedId, stored: &[ColumnId]) -> (Operator, HashMap<ColumnId, ColumnId>) {
        let mut made: HashMap<ColumnId, ColumnId> = HashMap::new();
        let mut columns = Vec::new();
        for from in stored {
            if !made.contains_key(from) {
                let info = self.columns[*from].clone();
                let new = self.columns.add(info.label, info.ty, info.nullable);
                made.insert(*from, new);
                columns.push((new, *from));
            }
        }
        (Operator::Shared { id, columns }, made)
    }
}

/// `l IS NOT DISTINCT FROM r`, of one type.
pub(super) fn null_safe_equal(left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Distinct {
        left: Box::new(left),
        right: Box::new(right),
        negated: true,
    };
    Expr::boolean(kind, false)
}
