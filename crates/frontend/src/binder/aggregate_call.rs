//! Calls of aggregates: their arguments, order and filter, and the query that each belongs to.

use super::expression::row_span;
use super::function::{Arguments, Written};
use super::scope::Clause;
use super::{Binder, error};
use frazil_functions::{AggregateArguments, Aggregated, Operand, OrderedBy};
use frazil_plan::{AggregateCall, ColumnId, Expr};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{Expr as SqlExpr, FunctionArg, FunctionArgExpr, FunctionArguments, OrderByExpr};

/// The values that an aggregate takes.
struct Counted {
    /// The name of the aggregate: `count(*)` is one of its own.
    name: String,
    values: Vec<Operand>,
    /// True if `count` takes rows, whose columns are the values.
    of_rows: bool,
    /// NULL in the rows of an outer join that lack the relation which is counted.
    present: Option<Expr>,
}

impl<'a> Binder<'a> {
    pub(super) fn aggregate(
        &mut self,
        name: &str,
        written: Written<'a>,
        filter: Option<&'a SqlExpr>,
        span: Span,
    ) -> Result<Operand> {
        let first_inside = self.references.len();
        let (aggregate, whole) = self.aggregate_call(name, written, filter, span)?;
        let placed = (aggregate.calls, aggregate.grouped);
        let made = self.place_aggregates(name, placed, span, first_inside)?;
        Ok(frazil_functions::value_of(made, aggregate.value)?
            .at(whole)
            .into())
    }

    /// A call of an aggregate with its arguments bound, and where it stands.
    pub(super) fn aggregate_call(
        &mut self,
        name: &str,
        written: Written<'a>,
        filter: Option<&'a SqlExpr>,
        span: Span,
    ) -> Result<(Aggregated, Span)> {
        let before = self.rows_functions();
        let Counted {
            name,
            values,
            of_rows,
            present,
        } = self.values_of(name, &written, span)?;
        let mut order = Vec::with_capacity(written.order.len());
        for item in written.order {
            self.ordered_by(item, written.is_within || written.distinct, &mut order)?;
        }
        let filter = match filter {
            Some(condition) => {
                let bound = self.in_clause_allowing(condition)?;
                Some(self.typing.predicate(bound, "FILTER")?)
            }
            None => None,
        };
        let filter = self.filter_of_present(filter, present, span)?;
        self.arguments_without_rows(before, "aggregate", span)?;
        let whole = span.to(row_span(&values));
        let aggregate = match of_rows && order.is_empty() {
            true => self.typing.count_of_rows(values, written.distinct, filter)?,
            false => {
                let call = AggregateArguments {
                    values,
                    distinct: written.distinct,
                    order,
                    is_within: written.is_within,
                    filter,
                };
                self.typing.aggregate(&name, call, span)?
            }
        };
        Ok((aggregate, whole))
    }

    /// The values that an aggregate takes. 42809 without arguments.
    fn values_of(&mut self, name: &str, written: &Written<'a>, span: Span) -> Result<Counted> {
        let values = |name: &str, values: Vec<Operand>| Counted {
            name: name.to_string(),
            values,
            of_rows: false,
            present: None,
        };
        match &written.arguments {
            Arguments::Rows if name == "count" => Ok(values("count(*)", Vec::new())),
            Arguments::Rows => Ok(values(name, Vec::new())),
            Arguments::RowsOf(relation) if name == "count" && !written.distinct => {
                let item = self.wildcard_item(relation)?;
                let marker = item
                    .marker
                    .ok_or_else(|| Error::unsupported("count of the rows of this relation").at_span(span))?;
                self.refer(marker, span);
                Ok(values(name, vec![Expr::column(marker, &self.columns).into()]))
            }
            Arguments::RowsOf(_) => Err(Error::unsupported("a row as an argument").at_span(span)),
            Arguments::List(list) if list.is_empty() && !written.is_within => {
                let message = format!("{name}(*) must be used to call a parameterless aggregate function");
                Err(error(SqlState::WRONG_OBJECT_TYPE, message, span))
            }
            Arguments::List(list) => match list[..] {
                [only] if name == "count" => self.count_argument(only),
                _ => Ok(values(name, self.arguments_of(name, list.clone())?)),
            },
        }
    }

    /// The argument of `count`: a row counts as one value.
    fn count_argument(&mut self, only: &'a SqlExpr) -> Result<Counted> {
        let name = "count".to_string();
        if let Some(row) = self.whole_row(only)? {
            let record = self.record_of(row);
            return Ok(Counted {
                name,
                values: record.values.into_iter().map(Operand::from).collect(),
                of_rows: true,
                present: record.mark,
            });
        }
        let row = row_of(only);
        Ok(Counted {
            name,
            of_rows: row.is_some(),
            values: self.each(row.unwrap_or_else(|| vec![only]))?,
            present: None,
        })
    }

    /// A filter that takes the rows for which `present` is not NULL, too.
    fn filter_of_present(
        &self,
        filter: Option<Expr>,
        present: Option<Expr>,
        span: Span,
    ) -> Result<Option<Expr>> {
        let Some(present) = present else {
            return Ok(filter);
        };
        let is_there = self
            .typing
            .not(self.typing.is_null(present.into(), span)?, span)?;
        let all = filter.map(Operand::from).into_iter().chain([is_there]);
        let all = self.typing.and(all.collect(), span)?;
        self.typing.predicate(all, "FILTER").map(Some)
    }

    /// Adds what rows are ordered by in a call: a value, or the columns of a whole row, in which NULLs are greater than
    /// all other values. A row stays `whole` where it is what the aggregate takes.
    fn ordered_by(&mut self, item: &'a OrderByExpr, whole: bool, order: &mut Vec<OrderedBy>) -> Result<()> {
        if item.with_fill.is_some() {
            return Err(Error::unsupported("ORDER BY … WITH FILL"));
        }
        let descending = item.options.asc == Some(false);
        let nulls_first = item.options.nulls_first.unwrap_or(descending);
        let row = match whole {
            true => None,
            false => self.whole_row(&item.expr)?,
        };
        let Some(row) = row else {
            order.push(OrderedBy {
                value: self.expression(&item.expr)?,
                descending,
                nulls_first,
            });
            return Ok(());
        };
        let span = row.span();
        let record = self.record_of(row);
        if let Some(mark) = record.mark {
            order.push(OrderedBy {
                value: self.typing.is_null(mark.into(), span)?,
                descending: nulls_first,
                nulls_first: false,
            });
        }
        order.extend(record.values.into_iter().map(|value| OrderedBy {
            value: value.into(),
            descending,
            nulls_first: descending,
        }));
        Ok(())
    }

    /// Binds the condition of FILTER, in which aggregates of this query are refused.
    fn in_clause_allowing(&mut self, condition: &'a SqlExpr) -> Result<Operand> {
        self.in_clause(Clause::Filter, |b| b.expression(condition))
    }

    /// Gives the aggregates of a call to the query that its columns belong to: the innermost of them, this one if it
    /// has none. What is named in it are the references from `first_inside` on. 42803 where that query is in a clause
    /// without aggregates, and for an aggregate of an aggregate.
    fn place_aggregates(
        &mut self,
        name: &str,
        (calls, grouped): (Vec<AggregateCall>, Vec<Expr>),
        span: Span,
        first_inside: usize,
    ) -> Result<Vec<Expr>> {
        let mut inside = self.references.split_off(first_inside);
        // Subqueries inside have columns of their own.
        inside.retain(|r| self.owner(r.id) <= self.depth());
        let read: Vec<ColumnId> = inside.iter().map(|r| r.id).collect();
        let depth = read.iter().map(|id| self.owner(*id)).max().filter(|d| *d > 0);
        let depth = depth.unwrap_or_else(|| self.depth());
        if let Some(clause) = self.clause_without_aggregates(depth) {
            let message = format!("aggregate functions are not allowed in {clause}");
            return Err(error(SqlState::GROUPING_ERROR, message, span));
        }
        let Some(level) = self.levels.get_mut((depth as usize).saturating_sub(1)) else {
            let message = "aggregate functions are not allowed here";
            return Err(error(SqlState::GROUPING_ERROR, message, span));
        };
        let windows = level.windows.first_of(&read);
        let nested = level.aggregates.first_of(&read);
        let groupings = read
            .iter()
            .find(|id| level.groupings.iter().any(|g| g.id == **id));
        if let Some(inner) = windows.or(nested).or(groupings.copied()) {
            let message = match windows {
                Some(_) => "aggregate function calls cannot contain window function calls",
                None => "aggregate function calls cannot be nested",
            };
            let at = inside.iter().find(|r| r.id == inner).map_or(span, |r| r.span);
            return Err(error(SqlState::GROUPING_ERROR, message, at));
        }
        level.aggregates.grouped.extend(grouped);
        let columns = &mut self.columns;
        let mut made = Vec::with_capacity(calls.len());
        for call in calls {
            let nullable = !call.function.counts();
            made.push((level.aggregates).column_of(call, |ty| columns.add(name, ty, nullable)));
        }
        made.iter().for_each(|id| self.own_at(*id, depth));
        // Columns of that query may be named in its aggregates, whatever it groups by; those around it are still read.
        inside.retain(|r| self.owner(r.id) < depth);
        self.references.append(&mut inside);
        made.iter().for_each(|id| self.refer(*id, span));
        Ok(made.iter().map(|id| Expr::column(*id, &self.columns)).collect())
    }
}

/// The values of `(a, b)` or `ROW(a, …)`.
fn row_of(e: &SqlExpr) -> Option<Vec<&SqlExpr>> {
    match e {
        SqlExpr::Tuple(parts) => Some(parts.iter().collect()),
        SqlExpr::Function(call) if call.name.to_string().eq_ignore_ascii_case("row") => {
            let FunctionArguments::List(list) = &call.args else {
                return None;
            };
            let parts = list.args.iter().map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
                _ => None,
            });
            parts.collect()
        }
        _ => None,
    }
}
