//! LIMIT, OFFSET and FETCH FIRST.

use super::query::Tail;
use super::scope::{Clause, Item, Level};
use super::{Binder, Relation, error};
use crate::parse::TIES_OF_LIMIT;
use frazil_functions::CastContext;
use frazil_plan::operators::{Limit, Sort};
use frazil_plan::{COUNT, Operator, RowCount, SortKey};
use frazil_types::{Error, Result, SqlState, Value};
use sqlparser::ast::{Expr as SqlExpr, Fetch, LimitClause, Value as Literal};

impl<'a> Binder<'a> {
    /// LIMIT and OFFSET of a query.
    pub(super) fn bounds(&mut self, tail: &Tail<'a>) -> Result<(Option<RowCount>, RowCount)> {
        let (mut limit, mut offset) = (None, None);
        match tail.limit {
            None => {}
            Some(LimitClause::LimitOffset {
                limit: rows,
                offset: skipped,
                limit_by,
            }) => {
                if !limit_by.is_empty() {
                    return Err(Error::unsupported("LIMIT BY"));
                }
                limit = rows.as_ref();
                offset = skipped.as_ref().map(|o| &o.value);
            }
            Some(LimitClause::OffsetCommaLimit { .. }) => {
                let message = "LIMIT #,# syntax is not supported";
                return Err(Error::new(SqlState::SYNTAX_ERROR, message)
                    .with_hint("Use separate LIMIT and OFFSET clauses."));
            }
        }
        let mut fetched = None;
        if let Some(fetch) = tail.fetch
            && !is_of_limit(fetch)
        {
            if limit.is_some() {
                let message = "multiple LIMIT clauses not allowed";
                return Err(Error::new(SqlState::SYNTAX_ERROR, message));
            }
            match self.fetch(fetch)? {
                Some(rows) => limit = Some(rows),
                None => fetched = Some(RowCount::Constant(1)),
            }
        }
        let read = std::mem::take(&mut self.read);
        let limit = match limit {
            Some(e) => self.row_count(e, Clause::Limit, &read)?,
            None => fetched,
        };
        let offset = match offset {
            Some(e) => self.row_count(e, Clause::Offset, &read)?,
            None => None,
        };
        Ok((limit, offset.unwrap_or(RowCount::Constant(0))))
    }

    /// Bounds rows by LIMIT and OFFSET.
    pub(super) fn limited(&self, relation: Relation, limit: Option<RowCount>, offset: RowCount) -> Relation {
        limited(relation, limit, offset)
    }

    /// The rows that FETCH FIRST asks for; `None`: one.
    fn fetch(&self, fetch: &'a Fetch) -> Result<Option<&'a SqlExpr>> {
        if fetch.percent {
            return Err(Error::unsupported("FETCH FIRST … PERCENT"));
        }
        Ok(fetch.quantity.as_ref())
    }

    /// A number of rows; `None` for NULL. 42P10 where it reads a column of the rows that it counts.
    fn row_count(&mut self, e: &'a SqlExpr, clause: Clause, read: &[Item]) -> Result<Option<RowCount>> {
        let (place, state) = match clause {
            Clause::Offset => ("OFFSET", "2201X"),
            _ => ("LIMIT", "2201W"),
        };
        self.levels.push(Level {
            clause,
            items: read.to_vec(),
            ..Level::default()
        });
        let first = self.references.len();
        let bound = self.expression(e);
        let depth = self.depth();
        let own = self.references.get(first..).unwrap_or_default().iter();
        let own = own.copied().find(|r| self.owner(r.id) == depth);
        self.levels.pop();
        if let (Ok(_), Some(own)) = (&bound, own) {
            let message = format!("argument of {place} must not contain variables");
            return Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, own.span));
        }
        let bound = bound?;
        let span = bound.span();
        let e = self.typing.cast(bound, COUNT, CastContext::Assignment, span)?;
        match e.as_constant() {
            Some(Value::Null) => Ok(None),
            Some(Value::Int(n)) => {
                let rows = u64::try_from(*n).map_err(|_| {
                    let message = format!("{place} must not be negative");
                    error(SqlState(state), message, span)
                })?;
                Ok(Some(RowCount::Constant(rows)))
            }
            _ => Ok(Some(RowCount::Value(Box::new(e)))),
        }
    }
}

/// True for the FETCH that stands behind a LIMIT for `FETCH FIRST (expression) ROWS WITH TIES`.
fn is_of_limit(fetch: &Fetch) -> bool {
    match &fetch.quantity {
        Some(SqlExpr::Value(value)) => {
            matches!(&value.value, Literal::SingleQuotedString(text) if text == TIES_OF_LIMIT)
        }
        _ => false,
    }
}

/// Bounded rows. The bound of sorted rows is the sort's.
fn limited(relation: Relation, limit: Option<RowCount>, offset: RowCount) -> Relation {
    let Relation { mut op, columns } = relation;
    if let Operator::Sort(Sort {
        limit: kept @ None,
        offset: skipped @ RowCount::Constant(0),
        ..
    }) = &mut op
    {
        (*kept, *skipped) = (limit, offset);
        return Relation { op, columns };
    }
    if limit.is_some() || !offset.is_zero() {
        let input = Box::new(op);
        op = Operator::Limit(Limit { input, limit, offset });
    }
    Relation { op, columns }
}

/// The input of a sort, and its keys; `None` for rows without an order.
pub(super) fn unsorted(op: Operator) -> Option<(Operator, Vec<SortKey>)> {
    let Operator::Sort(Sort { input, keys, .. }) = op else {
        return None;
    };
    Some((*input, keys))
}

/// The first row.
pub(super) fn first_row(op: Operator) -> Operator {
    limited(
        Relation::new(op, Vec::new()),
        Some(RowCount::Constant(1)),
        RowCount::Constant(0),
    )
    .op
}
