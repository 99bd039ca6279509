//! DISTINCT and DISTINCT ON.

use super::list_limits;
use super::order_by::By;
use super::select::ordered;
use super::select_list::Target;
use super::{Binder, Relation, error};
use frazil_plan::operators::TopPerGroup;
use frazil_plan::{ColumnId, Expr, ExprKind, Operator, RowCount, SortKey};
use frazil_types::{Result, Span, SqlState};
use sqlparser::ast::Expr as SqlExpr;

/// An expression of DISTINCT ON.
pub(super) struct OnKey<'a> {
    pub by: By<'a>,
    pub span: Span,
}

impl<'a> Binder<'a> {
    pub(super) fn distinct_on(
        &mut self,
        list: &'a [SqlExpr],
        targets: &[Target<'a>],
    ) -> Result<Vec<OnKey<'a>>> {
        if list.is_empty() {
            let message = "DISTINCT ON needs an expression";
            return Err(frazil_types::Error::new(SqlState::SYNTAX_ERROR, message));
        }
        let mut keys = Vec::new();
        list_limits::targets(list.len(), self.last_span(list))?;
        for e in list {
            let by = self.by(e, targets, "DISTINCT ON")?;
            let span = match &by {
                By::Target(at) => targets[*at].value.span(),
                By::Expression(e, _) => e.span,
            };
            keys.push(OnKey { by, span });
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
}

/// Of the rows that agree in the columns `on` the first in the order. 42P10 for an order that begins otherwise.
pub(super) fn first_of_each(
    relation: Relation,
    on: Vec<ColumnId>,
    keys: Vec<SortKey>,
    span: Span,
) -> Result<Relation> {
    if keys.iter().take(on.len()).any(|k| !on.contains(&k.column)) {
        let message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
        return Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, span));
    }
    let op = Operator::TopPerGroup(TopPerGroup {
        input: Box::new(relation.op),
        groups: on,
        keys: keys.clone(),
        limit: Some(RowCount::Constant(1)),
        offset: RowCount::Constant(0),
    });
    Ok(ordered(Relation::new(op, relation.columns), keys))
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
