//! What DataFusion's planner would read past without a word is refused here by name.

use datafusion_sql::sqlparser::ast::{
    BinaryOperator, Distinct, Expr, GroupByExpr, LimitClause, OrderByKind, Query, Select, SetExpr,
    SetOperator, SetQuantifier, TableFactor, Visit, Visitor,
};
use frazil_types::{Error, Result};
use std::ops::ControlFlow;

/// Refuses clauses that are not supported anywhere in a query.
pub(crate) fn check(query: &Query) -> Result<()> {
    match query.visit(&mut Check) {
        ControlFlow::Break(what) => Err(Error::unsupported(what)),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Check;

/// Breaks with the first name whose condition holds.
fn first(conditions: &[(bool, &str)]) -> ControlFlow<String> {
    match conditions.iter().find(|c| c.0) {
        Some((_, what)) => ControlFlow::Break((*what).to_string()),
        None => ControlFlow::Continue(()),
    }
}

/// Multisets but UNION ALL: DataFusion plans them as if without ALL.
fn unknown_set_operation(body: &SetExpr) -> bool {
    let SetExpr::SetOperation {
        op,
        set_quantifier,
        left,
        right,
    } = body
    else {
        return false;
    };
    let known = match set_quantifier {
        SetQuantifier::None | SetQuantifier::Distinct => true,
        SetQuantifier::All => *op == SetOperator::Union,
        _ => false,
    };
    !known || unknown_set_operation(left) || unknown_set_operation(right)
}

impl Visitor for Check {
    type Break = String;

    fn pre_visit_query(&mut self, q: &Query) -> ControlFlow<String> {
        let by = |l: &Option<LimitClause>| matches!(l, Some(LimitClause::LimitOffset { limit_by, .. }) if !limit_by.is_empty());
        let order_all = q
            .order_by
            .as_ref()
            .is_some_and(|o| matches!(o.kind, OrderByKind::All(_)) || o.interpolate.is_some());
        let fill = q.order_by.as_ref().is_some_and(|o| match &o.kind {
            OrderByKind::Expressions(e) => e.iter().any(|e| e.with_fill.is_some()),
            OrderByKind::All(_) => false,
        });
        first(&[
            (!q.locks.is_empty(), "FOR UPDATE or FOR SHARE"),
            (q.fetch.is_some(), "FETCH FIRST (write LIMIT)"),
            (q.for_clause.is_some(), "FOR XML or FOR JSON"),
            (q.settings.is_some(), "SETTINGS"),
            (q.format_clause.is_some(), "FORMAT"),
            (!q.pipe_operators.is_empty(), "the pipe operator |>"),
            (q.with.as_ref().is_some_and(|w| w.recursive), "WITH RECURSIVE"),
            (by(&q.limit_clause), "LIMIT BY"),
            (
                matches!(q.limit_clause, Some(LimitClause::OffsetCommaLimit { .. })),
                "LIMIT offset, count (write LIMIT … OFFSET …)",
            ),
            (order_all, "ORDER BY ALL"),
            (fill, "ORDER BY … WITH FILL"),
            (
                !matches!(
                    *q.body,
                    SetExpr::Select(_)
                        | SetExpr::Query(_)
                        | SetExpr::SetOperation { .. }
                        | SetExpr::Values(_)
                ),
                "a modifying statement or TABLE inside a query",
            ),
            (
                unknown_set_operation(&q.body),
                "EXCEPT ALL, INTERSECT ALL or a set operation BY NAME",
            ),
        ])
    }

    fn pre_visit_select(&mut self, s: &Select) -> ControlFlow<String> {
        let modifiers = match &s.group_by {
            GroupByExpr::All(_) => true,
            GroupByExpr::Expressions(_, modifiers) => !modifiers.is_empty(),
        };
        first(&[
            (s.top.is_some(), "TOP (write LIMIT)"),
            (s.into.is_some(), "SELECT INTO (write CREATE TABLE AS)"),
            (s.select_modifiers.is_some(), "MySQL's SELECT modifiers"),
            (!s.optimizer_hints.is_empty(), "an optimizer hint"),
            (s.exclude.is_some(), "EXCLUDE"),
            (!s.lateral_views.is_empty(), "LATERAL VIEW"),
            (s.prewhere.is_some(), "PREWHERE"),
            (!s.connect_by.is_empty(), "CONNECT BY"),
            (!s.cluster_by.is_empty(), "CLUSTER BY"),
            (!s.distribute_by.is_empty(), "DISTRIBUTE BY"),
            (!s.sort_by.is_empty(), "SORT BY"),
            (!s.named_window.is_empty(), "WINDOW"),
            (s.qualify.is_some(), "QUALIFY"),
            (s.value_table_mode.is_some(), "SELECT AS VALUE"),
            (matches!(s.distinct, Some(Distinct::On(_))), "DISTINCT ON"),
            (modifiers, "GROUP BY ALL or WITH ROLLUP, CUBE, TOTALS"),
        ])
    }

    fn pre_visit_expr(&mut self, e: &Expr) -> ControlFlow<String> {
        match e {
            Expr::Function(f) => first(&[
                (f.over.is_some(), "a window function"),
                (!f.within_group.is_empty(), "WITHIN GROUP"),
                (f.null_treatment.is_some(), "IGNORE or RESPECT NULLS"),
            ]),
            // sqlparser gives IS DISTINCT FROM all that follows, AND and OR included.
            Expr::IsDistinctFrom(_, right) | Expr::IsNotDistinctFrom(_, right) => first(&[(
                matches!(
                    **right,
                    Expr::BinaryOp {
                        op: BinaryOperator::And | BinaryOperator::Or,
                        ..
                    }
                ),
                "IS DISTINCT FROM before AND or OR, without parentheses around it,",
            )]),
            Expr::Collate { .. } => first(&[(true, "COLLATE")]),
            Expr::AtTimeZone { .. } => first(&[(true, "AT TIME ZONE")]),
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_table_factor(&mut self, t: &TableFactor) -> ControlFlow<String> {
        match t {
            TableFactor::Table {
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_hints,
                ..
            } => first(&[
                (args.is_some(), "a table function"),
                (!with_hints.is_empty(), "a table hint"),
                (version.is_some(), "FOR SYSTEM_TIME"),
                (*with_ordinality, "WITH ORDINALITY"),
                (!partitions.is_empty(), "PARTITION"),
                (json_path.is_some(), "a JSON path"),
                (sample.is_some(), "TABLESAMPLE"),
                (!index_hints.is_empty(), "an index hint"),
            ]),
            TableFactor::Derived { lateral, sample, .. } => {
                first(&[(*lateral, "LATERAL"), (sample.is_some(), "TABLESAMPLE")])
            }
            TableFactor::NestedJoin { .. } => ControlFlow::Continue(()),
            other => {
                let text = other.to_string();
                ControlFlow::Break(format!("{text} in FROM"))
            }
        }
    }
}
