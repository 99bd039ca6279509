//! FETCH FIRST … WITH TIES: the first rows of an order, and the rows after them that are equal to the last one in the
//! order.
//!
//! A row is among them if its rank is within the rows that are skipped and fetched, and its number is behind the
//! skipped ones: the last row and all rows equal to it have one rank.

use super::limit::unsorted;
use super::query::Tail;
use super::rows::filtered;
use super::select::ordered;
use super::windows::{Definition, OrderKey, Windows};
use super::{Binder, Relation, error};
use frazil_functions::Operand;
use frazil_plan::{COUNT, ColumnId, Expr, Frame, RowCount, WindowCall, WindowFunction};
use frazil_types::{Error, Result, Span, SqlState, Value};
use sqlparser::ast::{Expr as SqlExpr, LimitClause, Value as Literal};

/// Number of rows in a [`RowCount`], as an expression; `None` for a constant that is not a bigint, because there are
/// fewer rows.
fn number(rows: RowCount) -> Option<Operand> {
    match rows {
        RowCount::Constant(n) => i64::try_from(n).ok().map(constant),
        RowCount::Value(e) => Some((*e).into()),
        RowCount::Column(_) => None,
    }
}

/// A constant number of rows.
fn constant(n: i64) -> Operand {
    Expr::constant(Value::Int(n.into()), COUNT).into()
}

impl<'a> Binder<'a> {
    /// Rows in an order, bounded with ties. 42601 without an order, 2201W for NULL rows.
    pub(super) fn with_ties(&mut self, relation: Relation, tail: &Tail<'a>) -> Result<Relation> {
        let limited = match tail.limit {
            Some(LimitClause::LimitOffset { limit, .. }) => limit.as_ref(),
            Some(LimitClause::OffsetCommaLimit { .. }) | None => None,
        };
        let fetched = tail.fetch.and_then(|fetch| fetch.quantity.as_ref());
        if let Some(limit) = limited.into_iter().chain(fetched).find(|e| is_null(e)) {
            let message = "row count cannot be null in FETCH FIRST ... WITH TIES clause";
            return Err(error(SqlState("2201W"), message, self.leaf_span(limit)));
        }
        let (limit, offset) = self.bounds(tail)?;
        let Relation { op, columns } = relation;
        let Some((op, keys)) = unsorted(op) else {
            let message = "WITH TIES cannot be specified without ORDER BY clause";
            return Err(Error::new(SqlState::SYNTAX_ERROR, message));
        };
        let Some(limit) = limit else {
            return Ok(self.limited(ordered(Relation::new(op, columns), keys), None, offset));
        };
        // An expression may hold a subquery, which a plan has once: each use is bound anew.
        let (checked, skipped) = match (&limit, &offset) {
            (RowCount::Constant(_), RowCount::Constant(_)) => ((None, RowCount::Constant(0)), offset.clone()),
            _ => (self.bound_checks(tail)?, self.bounds(tail)?.1),
        };
        let rank = self.columns.add("rank", COUNT, false);
        let row = self.columns.add("row_number", COUNT, false);
        self.own(rank);
        self.own(row);
        let order = (keys.iter())
            .map(|key| {
                let e = Expr::column(key.column, &self.columns);
                OrderKey {
                    ty: e.ty,
                    e,
                    descending: key.descending,
                    nulls_first: key.nulls_first,
                }
            })
            .collect();
        let ranks = Windows {
            named: Vec::new(),
            definitions: vec![Definition {
                partition: Vec::new(),
                order,
                calls: vec![
                    (rank, call(WindowFunction::Rank)),
                    (row, call(WindowFunction::RowNumber)),
                ],
            }],
        };
        let op = self.windowed(op, ranks);
        let predicates = [self.rank_within(rank, limit, offset)?, self.behind(row, skipped)?];
        let op = predicates.into_iter().fold(op, filtered);
        let relation = ordered(Relation::new(op, columns), keys);
        Ok(self.limited(relation, checked.0, checked.1))
    }

    /// The condition that a rank is within the rows skipped and fetched; `None` if each is.
    fn rank_within(&mut self, rank: ColumnId, limit: RowCount, offset: RowCount) -> Result<Option<Expr>> {
        let rank: Operand = Expr::column(rank, &self.columns).into();
        if let (RowCount::Constant(limit), RowCount::Constant(offset)) = (&limit, &offset) {
            let last = match limit {
                0 => 0,
                limit => limit.saturating_add(*offset),
            };
            let Some(last) = number(RowCount::Constant(last)) else {
                return Ok(None);
            };
            return self.condition(rank, "<=", last).map(Some);
        }
        let (Some(limit), Some(offset)) = (number(limit), number(offset)) else {
            return Ok(None);
        };
        let skipped = self.at_least_zero(offset)?;
        let fetched = self
            .typing
            .infix("-", rank, skipped, Span::NONE, &mut self.columns)?;
        // Rows equal to skipped ones are there if one row is fetched.
        let parts = vec![fetched, constant(1)];
        let fetched = self.typing.greatest(parts, Span::NONE, &mut self.columns)?;
        let is_within = self
            .typing
            .infix("<=", fetched, limit, Span::NONE, &mut self.columns)?;
        // A limit of NULL is none.
        let parts = vec![is_within, Expr::truth(true).into()];
        let e = self.typing.coalesce(parts, Span::NONE, &mut self.columns)?;
        self.typing.predicate(e, "LIMIT").map(Some)
    }

    /// The condition that a row's number is behind the skipped ones; `None` if each is.
    fn behind(&mut self, row: ColumnId, offset: RowCount) -> Result<Option<Expr>> {
        if offset.is_zero() {
            return Ok(None);
        }
        // More rows than there are leave none.
        let skipped = number(offset).unwrap_or_else(|| constant(i64::MAX));
        let skipped = self.at_least_zero(skipped)?;
        let row = Expr::column(row, &self.columns).into();
        self.condition(row, ">", skipped).map(Some)
    }

    fn condition(&mut self, left: Operand, op: &str, right: Operand) -> Result<Expr> {
        let e = self
            .typing
            .infix(op, left, right, Span::NONE, &mut self.columns)?;
        self.typing.predicate(e, "LIMIT")
    }

    /// The number, or zero for NULL and for a negative one, which [`Binder::bound_checks`] refuses.
    fn at_least_zero(&mut self, number: Operand) -> Result<Operand> {
        self.typing
            .greatest(vec![number, constant(0)], Span::NONE, &mut self.columns)
    }

    /// Bounds that keep all rows but are errors where those of the query are: 2201W, 2201X.
    fn bound_checks(&mut self, tail: &Tail<'a>) -> Result<(Option<RowCount>, RowCount)> {
        let (limit, offset) = self.bounds(tail)?;
        let limit = limit.map(|rows| self.negative(rows)).transpose()?;
        Ok((limit, self.negative(offset)?))
    }

    /// NULL, or the number if it is negative.
    fn negative(&mut self, rows: RowCount) -> Result<RowCount> {
        let RowCount::Value(e) = rows else {
            return Ok(RowCount::Value(Box::new(Expr::constant(Value::Null, COUNT))));
        };
        let least = self
            .typing
            .least(vec![(*e).into(), constant(0)], Span::NONE, &mut self.columns)?;
        let e = self
            .typing
            .nullif(least, constant(0), Span::NONE, &mut self.columns)?;
        Ok(RowCount::Value(Box::new(self.typing.settle(e)?)))
    }
}

/// True for the literal NULL.
fn is_null(e: &SqlExpr) -> bool {
    match e {
        SqlExpr::Nested(e) => is_null(e),
        SqlExpr::Value(value) => value.value == Literal::Null,
        _ => false,
    }
}

/// A call over all rows.
fn call(function: WindowFunction) -> WindowCall {
    WindowCall {
        function,
        arguments: Vec::new(),
        filter: None,
        ignore_nulls: false,
        frame: Frame::to_peers(),
        ty: COUNT,
    }
}
