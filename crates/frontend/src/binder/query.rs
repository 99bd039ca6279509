//! A query: its common table expressions, its body, and what orders and limits the body's rows.

use super::{Binder, OutputColumn, Relation, error};
use frazil_plan::{ColumnId, LockWait, Operator};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{Expr, Fetch, LimitClause, LockClause, OrderBy, OrderByKind, Query, SetExpr};

/// What becomes of quoted literals, NULLs and parameters in a select list that nothing types.
#[derive(Clone, Copy)]
pub(super) enum Literals<'t> {
    /// They are text.
    Settle,
    /// They stay open: a set operation types them.
    Keep,
    /// They are of these types, by position: those of the columns to be inserted.
    Targets(&'t [LogicalType]),
}

/// What stands behind a query's body.
#[derive(Clone, Default)]
pub(super) struct Tail<'a> {
    pub order_by: Option<&'a OrderBy>,
    pub limit: Option<&'a LimitClause>,
    pub fetch: Option<&'a Fetch>,
    /// FOR UPDATE and the like.
    pub locks: Vec<&'a LockClause>,
}

impl<'a> Tail<'a> {
    pub(super) fn of(query: &'a Query) -> Tail<'a> {
        Tail {
            order_by: query.order_by.as_ref(),
            limit: query.limit_clause.as_ref(),
            fetch: query.fetch.as_ref(),
            locks: query.locks.iter().collect(),
        }
    }

    fn bounds(&self) -> bool {
        self.limit.is_some() || self.fetch.is_some()
    }

    fn has_ties(&self) -> bool {
        self.fetch.is_some_and(|fetch| fetch.with_ties)
    }

    /// The first expression of its order.
    fn ordered_by(&self) -> Option<&'a Expr> {
        match &self.order_by?.kind {
            OrderByKind::Expressions(items) => items.first().map(|i| &i.expr),
            OrderByKind::All(_) => None,
        }
    }

    /// The expression of its limit.
    fn limited_by(&self) -> Option<&'a Expr> {
        match self.limit? {
            LimitClause::LimitOffset { limit, offset, .. } => {
                limit.as_ref().or(offset.as_ref().map(|o| &o.value))
            }
            LimitClause::OffsetCommaLimit { limit, .. } => Some(limit),
        }
    }
}

impl<'a> Binder<'a> {
    /// Binds a query whose literals settle.
    pub(super) fn query(&mut self, query: &'a Query) -> Result<Relation> {
        self.query_of(query, Literals::Settle)
    }

    pub(super) fn query_of(&mut self, query: &'a Query, literals: Literals) -> Result<Relation> {
        self.query_before(query, Tail::default(), literals)
    }

    fn query_before(&mut self, query: &'a Query, outer: Tail<'a>, literals: Literals) -> Result<Relation> {
        super::refuse::query(query)?;
        let tail = self.tail(outer, Tail::of(query))?;
        let known = self.ctes.len();
        match &query.with {
            Some(with) => self.with(with)?,
            None => self.may_write = false,
        }
        let relation = self.body(&query.body, tail, literals);
        self.ctes.truncate(known);
        relation
    }

    /// The tails within and around parentheses, of which there may be one of each clause. 42601.
    fn tail(&self, outer: Tail<'a>, inner: Tail<'a>) -> Result<Tail<'a>> {
        let twice = |what: &str, at: Option<&Expr>| {
            let span = at.map_or(Span::NONE, |e| self.leaf_span(e));
            let message = format!("multiple {what} clauses not allowed");
            Err(error(SqlState::SYNTAX_ERROR, message, span))
        };
        if outer.order_by.is_some() && inner.order_by.is_some() {
            return twice("ORDER BY", outer.ordered_by());
        }
        if outer.bounds() && inner.bounds() {
            return twice("LIMIT", outer.limited_by());
        }
        Ok(Tail {
            order_by: outer.order_by.or(inner.order_by),
            limit: outer.limit.or(inner.limit),
            fetch: outer.fetch.or(inner.fetch),
            locks: [inner.locks, outer.locks].concat(),
        })
    }

    fn body(&mut self, body: &'a SetExpr, tail: Tail<'a>, literals: Literals) -> Result<Relation> {
        let relation = match body {
            // Parentheses alone do not part a query from what stands behind them.
            SetExpr::Query(inner) if inner.with.is_none() => return self.query_before(inner, tail, literals),
            SetExpr::Select(select) => {
                self.locking.clauses = self.locking_clauses(&tail.locks);
                self.select(select, tail.order_by, literals)?
            }
            other => {
                let why = match other {
                    SetExpr::Values(_) => "cannot be applied to VALUES",
                    _ => "is not allowed with UNION/INTERSECT/EXCEPT",
                };
                self.refuse_locks(&self.locking_clauses(&tail.locks), why)?;
                let relation = self.set_expression(other, Literals::Settle)?;
                self.read.clear();
                match tail.order_by {
                    Some(order_by) => self.order_output(relation, order_by)?,
                    None => relation,
                }
            }
        };
        let locked = std::mem::take(&mut self.locking.tables);
        let skips_locked = locked.iter().any(|table| table.wait == LockWait::Skip);
        if tail.has_ties() {
            if skips_locked {
                let message = "SKIP LOCKED and WITH TIES options cannot be used together";
                return Err(Error::new(SqlState::SYNTAX_ERROR, message));
            }
            let relation = self.with_ties(relation, &tail)?;
            return self.locked_rows(relation, locked, None);
        }
        let (limit, offset) = self.bounds(&tail)?;
        match skips_locked {
            true => self.locked_rows(relation, locked, Some((limit, offset))),
            false => self.locked_rows(self.limited(relation, limit, offset), locked, None),
        }
    }

    /// What a set operation combines.
    pub(super) fn set_expression(&mut self, body: &'a SetExpr, literals: Literals) -> Result<Relation> {
        match body {
            SetExpr::Select(select) => self.select(select, None, literals),
            SetExpr::Query(query) => {
                let locks: Vec<&LockClause> = query.locks.iter().collect();
                let clauses = self.locking_clauses(&locks);
                self.refuse_locks(&clauses, "is not allowed with UNION/INTERSECT/EXCEPT")?;
                self.query(query)
            }
            SetExpr::Values(values) => self.values(values),
            SetExpr::SetOperation {
                op,
                set_quantifier,
                left,
                right,
            } => self.set_operation(*op, *set_quantifier, left, right),
            _ => Err(Error::unsupported("a modifying statement inside a query")),
        }
    }

    /// The one column of a subquery used as a value. 42601.
    pub(super) fn one_column(&self, relation: &Relation, span: Span) -> Result<ColumnId> {
        match &relation.columns[..] {
            [one] => Ok(one.id),
            _ => {
                let message = "subquery must return only one column";
                Err(error(SqlState::SYNTAX_ERROR, message, span))
            }
        }
    }
}

impl Relation {
    /// A relation without columns yet.
    pub fn new(op: Operator, columns: Vec<OutputColumn>) -> Relation {
        Relation { op, columns }
    }
}
