//! Row values, `(a, b)` and `ROW(a, b)`: compared with each other and with a subquery's row, in lists, in BETWEEN and
//! CASE.

use super::expression::row_span;
use super::rows::Computed;
use super::{Binder, error};
use frazil_functions::{BetweenKind, Kind, Operand, Unknown, UnknownKind};
use frazil_plan::{Expr, ExprKind, Subquery, SubqueryKind};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{CaseWhen, Expr as SqlExpr, FunctionArg, FunctionArgExpr, FunctionArguments, Query};

/// Whether an expression is a row value.
pub(super) fn is_row(e: &SqlExpr) -> bool {
    match e {
        SqlExpr::Tuple(_) => true,
        SqlExpr::Nested(inner) => is_row(inner),
        _ => call_of_row(e).is_some(),
    }
}

/// The expressions of a row value as they are written; `None` for any other expression, and for a row of `t.*`.
pub(super) fn row_expressions(e: &SqlExpr) -> Option<Vec<&SqlExpr>> {
    let expression = |argument| match argument {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref e)) => Some(e),
        _ => None,
    };
    match e {
        SqlExpr::Tuple(parts) => Some(parts.iter().collect()),
        SqlExpr::Nested(inner) => row_expressions(inner),
        _ => call_of_row(e)?.iter().map(expression).collect(),
    }
}

/// The arguments of `ROW(…)`.
fn call_of_row(e: &SqlExpr) -> Option<&[FunctionArg]> {
    let SqlExpr::Function(call) = e else { return None };
    let [name] = &call.name.0[..] else { return None };
    let ident = name.as_ident()?;
    let is_row = ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("row");
    match &call.args {
        FunctionArguments::List(list) if is_row && list.clauses.is_empty() => Some(&list.args),
        _ => None,
    }
}

/// The query that an expression is, in any parentheses.
pub(super) fn query_of(e: &SqlExpr) -> Option<&Query> {
    match e {
        SqlExpr::Subquery(query) => Some(query),
        SqlExpr::Nested(inner) => query_of(inner),
        _ => None,
    }
}

/// On which side of an operator an operand stands.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// What a row is compared with.
enum Partner<'a> {
    Row(Vec<Operand>),
    /// The one row of a subquery.
    Query(&'a Query),
}

impl Partner<'_> {
    fn span(&self) -> Span {
        match self {
            Partner::Row(parts) => row_span(parts),
            Partner::Query(_) => Span::NONE,
        }
    }
}

impl<'a> Binder<'a> {
    /// The parts of a row value; `None` for any other expression. 54011 for more than PostgreSQL's rows have.
    pub(super) fn row_value(&mut self, e: &'a SqlExpr) -> Result<Option<Vec<Operand>>> {
        let (count, arguments) = match e {
            SqlExpr::Tuple(parts) => (parts.len(), None),
            SqlExpr::Nested(inner) => return self.row_value(inner),
            _ => match call_of_row(e) {
                Some(arguments) => (arguments.len(), Some(arguments)),
                None => return Ok(None),
            },
        };
        let last = match (e, arguments) {
            (SqlExpr::Tuple(parts), _) => self.last_span(parts),
            _ => self.leaf_span(e),
        };
        super::list_limits::row_parts(count, last)?;
        self.nesting.row(count);
        match (e, arguments) {
            (SqlExpr::Tuple(parts), _) => self.expressions(parts).map(Some),
            (_, arguments) => self.row_arguments(arguments.unwrap_or_default()).map(Some),
        }
    }

    fn row_arguments(&mut self, arguments: &'a [FunctionArg]) -> Result<Vec<Operand>> {
        let mut parts = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => parts.push(self.expression(e)?),
                FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(name)) => {
                    let span = self.name_span(name);
                    let columns = self.wildcard_item(name)?.columns.clone();
                    for column in columns.iter() {
                        self.note_use(column.id);
                        parts.push(Expr::column(column.id, &self.columns).at(span).into());
                    }
                }
                other => {
                    let near = other.to_string();
                    return Err(self.syntax_error(&near, Span::NONE));
                }
            }
        }
        Ok(parts)
    }

    /// An operator with a row value on either side.
    pub(super) fn row_operator(
        &mut self,
        left: &'a SqlExpr,
        op: &str,
        right: &'a SqlExpr,
    ) -> Result<Operand> {
        if op == "OVERLAPS" {
            return self.overlaps(left, right);
        }
        let Some(l) = self.row_value(left)? else {
            let l = self.expression(left)?;
            let at = self.place.operator_after(l.span(), op.len());
            let r = self.row_value(right)?.unwrap_or_default();
            let l = self.beside_row(l, op, Side::Left, r.len(), at)?;
            let bound = self.typing.row_compare(op, l, r, at, &mut self.columns)?;
            return Ok(bound.at(at));
        };
        let first = row_span(&l);
        let at = self.place.operator_after(first, op.len());
        let partner = self.partner(op, right, l.len(), at)?;
        let last = partner.span();
        let bound = self.row_comparison(op, l, partner, at)?;
        Ok(bound.at(first.to(last)))
    }

    /// `(a, b) OVERLAPS (c, d)`. 42601 where a side has not two parts.
    fn overlaps(&mut self, left: &'a SqlExpr, right: &'a SqlExpr) -> Result<Operand> {
        let mut sides = Vec::with_capacity(4);
        for (side, name) in [(left, "left"), (right, "right")] {
            let parts = self.row_value(side)?.unwrap_or_default();
            if parts.len() != 2 {
                let message = format!("wrong number of parameters on {name} side of OVERLAPS expression");
                return Err(error(SqlState::SYNTAX_ERROR, message, self.leaf_span(side)));
            }
            sides.extend(parts);
        }
        let span = row_span(&sides);
        let sides = <[Operand; 4]>::try_from(sides).map_err(|_| Error::internal("sides of other parts"))?;
        self.typing.overlaps(sides, span, &mut self.columns)
    }

    /// What a row of so many parts is compared with by an operator.
    fn partner(&mut self, op: &str, e: &'a SqlExpr, width: usize, at: Span) -> Result<Partner<'a>> {
        match query_of(e) {
            Some(query) if op.starts_with(['=', '<', '>', '!']) => Ok(Partner::Query(query)),
            _ => self.row_item(op, e, width, at).map(Partner::Row),
        }
    }

    /// The parts of a row that stands beside a row of so many parts.
    fn row_item(&mut self, op: &str, e: &'a SqlExpr, width: usize, at: Span) -> Result<Vec<Operand>> {
        if let Some(row) = self.row_value(e)? {
            return Ok(row);
        }
        let value = self.expression(e)?;
        self.beside_row(value, op, Side::Right, width, at)
    }

    /// The parts of what stands beside a row of so many parts and is none: NULL is a row of NULLs. 42883, 0A000.
    fn beside_row(&self, x: Operand, op: &str, side: Side, width: usize, at: Span) -> Result<Vec<Operand>> {
        let span = x.span();
        match x {
            Operand::Unknown(Unknown {
                kind: UnknownKind::Null,
                ..
            }) if !op.ends_with("from") => Ok(vec![Operand::null(span); width]),
            Operand::Unknown(_) => Err(Error::unsupported("a literal or parameter as a row").at_span(span)),
            Operand::Typed(e) => {
                let ty = Kind::of(e.ty).name();
                let message = match side {
                    Side::Left => format!("operator does not exist: {ty} {op} record"),
                    Side::Right => format!("operator does not exist: record {op} {ty}"),
                };
                Err(error(SqlState::UNDEFINED_FUNCTION, message, at))
            }
        }
    }

    fn row_comparison(&mut self, op: &str, l: Vec<Operand>, r: Partner<'a>, at: Span) -> Result<Operand> {
        match r {
            Partner::Row(r) => self.typing.row_compare(op, l, r, at, &mut self.columns),
            Partner::Query(query) => self.compare_with_query(op, l, query, at),
        }
    }

    /// A row against the one row of a subquery: NULL if it has none, error 21000 if it has several. The subquery itself
    /// compares.
    fn compare_with_query(
        &mut self,
        op: &str,
        l: Vec<Operand>,
        query: &'a Query,
        at: Span,
    ) -> Result<Operand> {
        self.nesting.subquery()?;
        let span = self.query_span(query);
        let relation = self.query(query)?;
        let compared = self.condition_on(l, op, &relation, at)?;
        let compared = self.typing.predicate(compared, op)?;
        let id = self.columns.add_mark("", true);
        let computed = Computed {
            expressions: vec![(id, compared)],
        };
        let subquery = Subquery::new(SubqueryKind::Scalar, computed.above(relation.op), vec![id]);
        let kind = ExprKind::Subquery(Box::new(subquery));
        Ok(Expr::boolean(kind, true).at(span).into())
    }

    /// `(a, b) BETWEEN (1, 2) AND (3, 4)`.
    pub(super) fn row_between(
        &mut self,
        x: &'a SqlExpr,
        (low, high): (&'a SqlExpr, &'a SqlExpr),
        kind: BetweenKind,
        negated: bool,
    ) -> Result<Operand> {
        let Some(x) = self.row_value(x)? else {
            // A value beside rows: no bound is compared with it.
            let row = if is_row(low) { low } else { high };
            return self.row_operator(x, ">=", row);
        };
        let span = row_span(&x);
        let at = self.place.operator_after(span, "between".len());
        let low = self.partner(">=", low, x.len(), at)?;
        let high = self.partner("<=", high, x.len(), at)?;
        let (lets, x) = self.typing.named(x, &mut self.columns);
        let bound = match kind {
            BetweenKind::Ordered => self.row_within(x, low, high, at)?,
            BetweenKind::Symmetric => self.row_within_any_order(x, low, high, at)?,
        };
        let bound = self.typing.with_named(lets, bound)?;
        self.negated(bound, negated, span)
    }

    fn row_within(
        &mut self,
        x: Vec<Operand>,
        low: Partner<'a>,
        high: Partner<'a>,
        at: Span,
    ) -> Result<Operand> {
        let from = self.row_comparison(">=", x.clone(), low, at)?;
        let to = self.row_comparison("<=", x, high, at)?;
        self.typing.and(vec![from, to], at)
    }

    fn row_within_any_order(
        &mut self,
        x: Vec<Operand>,
        low: Partner<'a>,
        high: Partner<'a>,
        at: Span,
    ) -> Result<Operand> {
        let (Partner::Row(low), Partner::Row(high)) = (low, high) else {
            return Err(Error::unsupported("BETWEEN SYMMETRIC with a subquery's row").at_span(at));
        };
        let (lets_of_low, low) = self.typing.named(low, &mut self.columns);
        let (lets_of_high, high) = self.typing.named(high, &mut self.columns);
        let ordered = (Partner::Row(low.clone()), Partner::Row(high.clone()));
        let ordered = self.row_within(x.clone(), ordered.0, ordered.1, at)?;
        let turned = self.row_within(x, Partner::Row(high), Partner::Row(low), at)?;
        let either = self.typing.or(vec![ordered, turned], at)?;
        let either = self.typing.with_named(lets_of_high, either)?;
        self.typing.with_named(lets_of_low, either)
    }

    /// `(a, b) IN ((1, 2), …)`.
    pub(super) fn row_in(&mut self, x: &'a SqlExpr, list: &'a [SqlExpr], negated: bool) -> Result<Operand> {
        let Some(left) = self.row_value(x)? else {
            let row = list.iter().find(|e| is_row(e)).unwrap_or(x);
            return self.row_operator(x, "=", row);
        };
        let span = row_span(&left);
        let at = self.place.operator_after(span, "in".len());
        let (lets, left) = self.typing.named(left, &mut self.columns);
        let mut any = Vec::with_capacity(list.len());
        for item in list {
            let row = self.row_item("=", item, left.len(), at)?;
            any.push(
                self.typing
                    .row_compare("=", left.clone(), row, at, &mut self.columns)?,
            );
        }
        let bound = self.typing.or(any, span)?;
        let bound = self.typing.with_named(lets, bound)?;
        self.negated(bound, negated, span)
    }

    /// `CASE (a, b) WHEN (1, 2) THEN …`.
    pub(super) fn row_case(
        &mut self,
        row: &'a SqlExpr,
        conditions: &'a [CaseWhen],
        otherwise: Option<&'a SqlExpr>,
        span: Span,
    ) -> Result<Operand> {
        let row = self.row_value(row)?.unwrap_or_default();
        let (lets, row) = self.typing.named(row, &mut self.columns);
        let mut branches = Vec::with_capacity(conditions.len());
        for branch in conditions {
            let at = self.leaf_span(&branch.condition);
            let item = self.row_item("=", &branch.condition, row.len(), at)?;
            // Rows are compared as values, to which NULLs are equal; NULL itself is not a row.
            let op = if is_row(&branch.condition) {
                "is not distinct from"
            } else {
                "="
            };
            let condition = self
                .typing
                .row_compare(op, row.clone(), item, at, &mut self.columns)?;
            branches.push((condition, self.expression(&branch.result)?));
        }
        let otherwise = otherwise.map(|e| self.expression(e)).transpose()?;
        let bound = self
            .typing
            .case(None, branches, otherwise, span, &mut self.columns)?;
        Ok(self.typing.with_named(lets, bound)?.at(span))
    }
}
