//! Conditions and choices: BETWEEN, IN, CASE, COALESCE, NULLIF, GREATEST, LEAST, row values, truth.

use crate::build::{
    TEXT, and, boolean, case, constant_of, is_null, is_null_constant, is_simple, known_unless_null, not,
    null, once, or,
};
use crate::compare::{compare_as, comparison_kind};
use crate::convert::{convert, type_of_kind};
use crate::numeric::as_numeric;
use crate::type_rules::{Category, Kind};
use crate::typing::{BetweenKind, Truth};
use crate::{Operand, Typing, UnknownKind};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, subquery};
use frazil_types::value_ops::CastLength;
use frazil_types::{CompareOp, Counts, Error, LogicalType, Order, Result, Span, SqlState, Value};
use std::collections::HashSet;

/// Parts of COALESCE that are to be computed, each inside what the one before leaves open, up to so many.
const NESTED_PARTS: usize = 8;

/// True if an operand reads no column and no subquery.
fn reads_nothing(x: &Operand) -> bool {
    match x {
        Operand::Typed(e) => e.columns_read().is_empty() && !subquery::has_subquery(e),
        Operand::Unknown(_) => true,
    }
}

/// Columns that stand for operands, and the operands.
#[derive(Debug)]
pub struct Named(Vec<(ColumnId, Expr)>);

impl Typing {
    /// `x BETWEEN low AND high`.
    pub fn between(
        &self,
        x: Operand,
        low: Operand,
        high: Operand,
        kind: BetweenKind,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let within = |x: Operand, low: Operand, high: Operand| -> Result<Expr> {
            let from = self.compare(CompareOp::Ge, x.clone(), low, span)?;
            let to = self.compare(CompareOp::Le, x, high, span)?;
            Ok(and(vec![from, to]).at(span))
        };
        let e = self.once_operand(x, columns, |x, columns| match kind {
            BetweenKind::Ordered => within(x, low, high),
            BetweenKind::Symmetric => self.once_operand(low, columns, |low, columns| {
                self.once_operand(high, columns, |high, _| {
                    let ordered = within(x.clone(), low.clone(), high.clone())?;
                    Ok(or(vec![ordered, within(x, high, low)?]).at(span))
                })
            }),
        })?;
        Ok(e.at(span).into())
    }

    /// [`once`] of an operand; one without type stands for itself.
    fn once_operand(
        &self,
        x: Operand,
        columns: &mut Columns,
        body: impl FnOnce(Operand, &mut Columns) -> Result<Expr>,
    ) -> Result<Expr> {
        match x {
            Operand::Typed(e) => once(e, columns, |e, columns| body(e.into(), columns)),
            unknown => body(unknown, columns),
        }
    }

    /// Operands that may be used several times: a column stands for each that is to be computed, and is given its value
    /// by [`Typing::with_named`] around what they are used in.
    pub fn named(&self, parts: Vec<Operand>, columns: &mut Columns) -> (Named, Vec<Operand>) {
        let (mut named, mut uses) = (Vec::new(), Vec::with_capacity(parts.len()));
        for part in parts {
            match part {
                Operand::Typed(e) if !is_simple(&e) => {
                    let column = columns.add("", e.ty, e.nullable);
                    uses.push(Expr::column(column, columns).at(e.span).into());
                    named.push((column, e));
                }
                simple => uses.push(simple),
            }
        }
        (Named(named), uses)
    }

    /// The body in which columns stand for operands.
    pub fn with_named(&self, named: Named, body: Operand) -> Result<Operand> {
        let mut body = self.settle(body)?;
        for (column, value) in named.0.into_iter().rev() {
            let (ty, nullable, span) = (body.ty, body.nullable, body.span);
            let (value, inner) = (Box::new(value), Box::new(body));
            let kind = ExprKind::Let {
                column,
                value,
                body: inner,
            };
            body = Expr::new(kind, ty, nullable).at(span);
        }
        Ok(body.into())
    }

    /// `x IN (list)`. As in PostgreSQL, items that read no column come to the type that they and `x` have in common, if
    /// there are several and there is such a type; each other item is compared by itself. Constants become a set. The
    /// list is not empty.
    pub fn in_list(
        &self,
        x: Operand,
        list: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let together: Vec<&Operand> = list.iter().filter(|item| reads_nothing(item)).collect();
        let common = match together.len() {
            0 | 1 => None,
            _ => {
                let parts: Vec<&Operand> = [&x].into_iter().chain(together).collect();
                self.compared_type(&parts)
            }
        };
        let list = match common {
            // Each item is compared by itself, in the order of the list.
            None => list,
            Some(ty) => {
                let (together, apart): (Vec<Operand>, Vec<Operand>) =
                    list.into_iter().partition(reads_nothing);
                let together = together
                    .into_iter()
                    .map(|item| self.part(item, ty).map(Operand::from));
                together
                    .chain(apart.into_iter().map(Ok))
                    .collect::<Result<Vec<_>>>()?
            }
        };
        match (x, common) {
            (Operand::Typed(x), _) => self.in_typed(x, list, span, columns),
            (x, Some(ty)) => self.in_typed(self.part(x, ty)?, list, span, columns),
            (x, None) => {
                let equal = |item| self.compare(CompareOp::Eq, x.clone(), item, span);
                let equal = list.into_iter().map(equal).collect::<Result<_>>()?;
                Ok(or(equal).at(span).into())
            }
        }
    }

    /// `x = ANY (elements)`, which have one type already.
    pub(crate) fn among(
        &self,
        x: Operand,
        elements: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        match x {
            Operand::Typed(x) => self.in_typed(x, elements, span, columns),
            x => self.in_list(x, elements, span, columns),
        }
    }

    fn in_typed(&self, x: Expr, list: Vec<Operand>, span: Span, columns: &mut Columns) -> Result<Operand> {
        // Comparisons are made with a column in place of x, which costs nothing to repeat.
        let placeholder = if is_simple(&x) {
            x.clone()
        } else {
            Expr::column(columns.add("", x.ty, x.nullable), columns).at(x.span)
        };
        let parts = self.in_parts(&placeholder, list, span)?;
        let InParts {
            constants,
            mut rest,
            is_known_false,
        } = parts;
        if rest.is_empty() && !constants.is_empty() {
            return Ok(in_constants(x, constants).at(span).into());
        }
        if !constants.is_empty() {
            rest.insert(0, in_constants(placeholder.clone(), constants));
        } else if is_known_false && rest.is_empty() {
            rest.push(known_unless_null(placeholder.clone(), false));
        }
        let found = or(rest);
        Ok(match (&placeholder.kind, is_simple(&x)) {
            (ExprKind::Column(column), false) => {
                let (ty, nullable) = (found.ty, found.nullable);
                let kind = ExprKind::Let {
                    column: *column,
                    value: Box::new(x),
                    body: Box::new(found),
                };
                Expr::new(kind, ty, nullable)
            }
            _ => found,
        }
        .at(span)
        .into())
    }

    fn in_parts(&self, x: &Expr, list: Vec<Operand>, span: Span) -> Result<InParts> {
        let mut parts = InParts::default();
        let mut seen = HashSet::new();
        for item in list {
            let is_unknown = item.ty().is_none();
            let left = Operand::Typed(x.clone());
            let kind = comparison_kind("=", &left, &item, span)?;
            let item = self.operand_of_kind(kind, item, Some(x.ty))?;
            let is_constant = constant_of(&item).is_some();
            let left = self.operand_of_kind(kind, left, Some(item.ty))?;
            let equal = compare_as(kind, CompareOp::Eq, left, item).at(span);
            match &equal.kind {
                ExprKind::Compare(CompareOp::Eq, l, r) if **l == *x => match constant_of(r) {
                    Some(v) if r.ty == x.ty || x.ty.is_string() && r.ty.is_string() => {
                        if seen.insert(key_of(v)) {
                            parts.constants.push(v.clone());
                        }
                    }
                    _ => parts.rest.push(equal),
                },
                // Beyond the range of x: equal to none of its values.
                ExprKind::Case { .. } if is_constant && !is_unknown => parts.is_known_false = true,
                _ => parts.rest.push(equal),
            }
        }
        Ok(parts)
    }

    /// CASE: with an operand each branch's first part is compared with it, else it is a condition.
    pub fn case(
        &self,
        operand: Option<Operand>,
        branches: Vec<(Operand, Operand)>,
        otherwise: Option<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let otherwise = otherwise.unwrap_or_else(|| Operand::null(span));
        let parts: Vec<&Operand> = [&otherwise]
            .into_iter()
            .chain(branches.iter().map(|b| &b.1))
            .collect();
        let ty = self.common_type(&parts, "CASE")?;
        let build = |operand: Option<Operand>| -> Result<Expr> {
            let mut out = Vec::with_capacity(branches.len());
            for (when, then) in branches {
                let at = when.span();
                let condition = match &operand {
                    Some(operand) => self.compare(CompareOp::Eq, operand.clone(), when, at)?,
                    None => self.predicate(when, "CASE/WHEN")?,
                };
                out.push((condition, self.part(then, ty)?));
            }
            let otherwise = self.part(otherwise, ty)?;
            Ok(case(out, otherwise).at(span))
        };
        // As PostgreSQL: what nothing types is a text, whatever it is compared with.
        let operand = match operand {
            Some(Operand::Unknown(u)) if !matches!(u.kind, UnknownKind::Parameter(_)) => {
                Some(self.settle(Operand::Unknown(u))?.into())
            }
            operand => operand,
        };
        let e = match operand {
            None => build(None)?,
            Some(operand) => self.once_operand(operand, columns, |operand, _| build(Some(operand)))?,
        };
        Ok(e.at(span).into())
    }

    /// COALESCE: parts behind the first that is not NULL are not computed.
    pub fn coalesce(&self, parts: Vec<Operand>, span: Span, columns: &mut Columns) -> Result<Operand> {
        let ty = self.common_type(&parts.iter().collect::<Vec<_>>(), "COALESCE")?;
        // All parts are converted, also those behind a constant: a literal that is not of the type is an error.
        let parts: Vec<Expr> = parts
            .into_iter()
            .map(|p| match p {
                // The decimal keeps its type here; the choice converts it to numeric.
                Operand::Typed(e) if ty.is_unscaled() && e.ty.scale().is_some() => Ok(e),
                p => self.part(p, ty),
            })
            .collect::<Result<_>>()?;
        let mut typed = Vec::with_capacity(parts.len());
        for part in parts {
            let ends = constant_of(&part).is_some_and(|v| !v.is_null());
            if !is_null_constant(&part) {
                typed.push(part);
            }
            if ends {
                break;
            }
        }
        if typed.is_empty() {
            return Ok(null(ty).at(span).into());
        }
        Ok(first_known(typed, ty, columns)?.at(span).into())
    }

    /// NULLIF.
    pub fn nullif(&self, x: Operand, y: Operand, span: Span, columns: &mut Columns) -> Result<Operand> {
        // What is returned is the first operand of the comparison, in the type it is compared as.
        let kind = comparison_kind("=", &x, &y, span)?;
        let (xt, yt) = (x.ty(), y.ty());
        let y = self.operand_of_kind(kind, y, xt)?;
        let x = match x {
            Operand::Typed(e) if Kind::of(e.ty) == kind || stays(e.ty, kind) => match kind {
                // Values of varchar and char(n) are compared as text.
                _ if e.ty.is_string() && kind == Kind::of(TEXT) => convert(e, TEXT, CastLength::Refuse),
                _ => e,
            },
            Operand::Typed(e)
                if kind.number_rank().is_some()
                    || kind.info().counts == Counts::Micros
                    || kind.info().order == Order::Span =>
            {
                let ty = type_of_kind(kind, Some(e.ty)).in_zone(self.zone);
                convert(e, ty, CastLength::Refuse)
            }
            other => self.operand_of_kind(kind, other, yt)?,
        };
        let e = once(x, columns, |x, _| {
            let equal = compare_as(kind, CompareOp::Eq, x.clone(), y);
            Ok(match constant_of(&equal) {
                Some(Value::Bool(true)) => null(x.ty),
                Some(_) => x,
                None => case(vec![(equal, null(x.ty))], x),
            })
        })?;
        Ok(e.at(span).into())
    }

    /// GREATEST: NULL only if all are.
    pub fn greatest(&self, parts: Vec<Operand>, span: Span, columns: &mut Columns) -> Result<Operand> {
        self.extreme(CompareOp::Ge, "GREATEST", parts, span, columns)
    }

    /// LEAST: NULL only if all are.
    pub fn least(&self, parts: Vec<Operand>, span: Span, columns: &mut Columns) -> Result<Operand> {
        self.extreme(CompareOp::Le, "LEAST", parts, span, columns)
    }

    fn extreme(
        &self,
        op: CompareOp,
        place: &str,
        parts: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let ty = self.common_type(&parts.iter().collect::<Vec<_>>(), place)?;
        let kind = match Kind::of(ty) {
            kind if kind.borrows_operators() => kind.category().preferred().unwrap_or(kind),
            kind => kind,
        };
        if parts.is_empty() {
            return Err(Error::new(
                SqlState::SYNTAX_ERROR,
                format!("{place} needs an argument"),
            ));
        }
        if !ty.is_comparable() {
            let message = format!("could not identify a comparison function for type {}", ty.name());
            return Err(Error::new(SqlState::UNDEFINED_FUNCTION, message).at_span(span));
        }
        let mut typed = Vec::with_capacity(parts.len());
        for part in parts {
            let e = self.part(part, ty)?;
            if !is_null_constant(&e) {
                typed.push(e);
            }
        }
        if typed.is_empty() {
            return Ok(null(ty).at(span).into());
        }
        Ok(extreme_of((kind, op), typed, columns)?.at(span).into())
    }

    /// IS NULL.
    pub fn is_null(&self, x: Operand, span: Span) -> Result<Operand> {
        let e = match x {
            Operand::Unknown(u) => match u.kind {
                crate::UnknownKind::Null => boolean(true),
                crate::UnknownKind::Literal(_) => boolean(false),
                // Its type stays open: another use has to give it.
                crate::UnknownKind::Parameter(index) => {
                    is_null(Expr::new(ExprKind::Parameter(index), TEXT, true).at(u.span))
                }
            },
            Operand::Typed(e) => is_null(e),
        };
        Ok(e.at(span).into())
    }

    /// IS TRUE, IS FALSE, IS UNKNOWN: never NULL.
    pub fn is_truth(&self, x: Operand, truth: Truth, span: Span) -> Result<Operand> {
        let (place, e) = match truth {
            Truth::True => ("IS TRUE", x),
            Truth::False => ("IS FALSE", x),
            Truth::Unknown => ("IS UNKNOWN", x),
        };
        let e = self.predicate(e, place)?;
        let condition = match truth {
            Truth::Unknown => return Ok(is_null(e).at(span).into()),
            Truth::True => e,
            Truth::False => not(e),
        };
        Ok(match constant_of(&condition) {
            Some(v) => boolean(*v == Value::Bool(true)),
            None => case(vec![(condition, boolean(true))], boolean(false)),
        }
        .at(span)
        .into())
    }

    /// NOT.
    pub fn not(&self, x: Operand, span: Span) -> Result<Operand> {
        Ok(not(self.predicate(x, "NOT")?).at(span).into())
    }

    /// A conjunction of any number of parts.
    pub fn and(&self, parts: Vec<Operand>, span: Span) -> Result<Operand> {
        let parts = parts.into_iter().map(|p| self.predicate(p, "AND"));
        Ok(and(parts.collect::<Result<_>>()?).at(span).into())
    }

    /// A disjunction of any number of parts.
    pub fn or(&self, parts: Vec<Operand>, span: Span) -> Result<Operand> {
        let parts = parts.into_iter().map(|p| self.predicate(p, "OR"));
        Ok(or(parts.collect::<Result<_>>()?).at(span).into())
    }

    /// Row values compared: equal where all parts are, ordered by the first that differ. 42601 for rows of different
    /// lengths, 42883.
    pub fn row_compare(
        &self,
        op: &str,
        l: Vec<Operand>,
        r: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        if l.len() != r.len() || l.is_empty() {
            let message = "unequal number of entries in row expressions";
            return Err(Error::new(SqlState::SYNTAX_ERROR, message).at_span(span));
        }
        let mut pairs = l.into_iter().zip(r);
        let combined = match op {
            "=" | "is not distinct from" => {
                let parts = pairs.map(|(l, r)| self.infix(op, l, r, span, columns));
                return self.and(parts.collect::<Result<_>>()?, span);
            }
            "<>" | "!=" | "is distinct from" => {
                let parts = pairs.map(|(l, r)| self.infix(op, l, r, span, columns));
                return self.or(parts.collect::<Result<_>>()?, span);
            }
            "<" => (CompareOp::Lt, CompareOp::Lt),
            "<=" => (CompareOp::Lt, CompareOp::Le),
            ">" => (CompareOp::Gt, CompareOp::Gt),
            ">=" => (CompareOp::Gt, CompareOp::Ge),
            other => {
                if let Some((l, r)) = pairs.next()
                    && let Some(ty) = self.infix(op, l, r, span, columns)?.ty()
                    && !ty.is_condition()
                {
                    let message = format!("row comparison operator must yield type boolean, not type {ty}");
                    return Err(Error::new(SqlState::DATATYPE_MISMATCH, message).at_span(span));
                }
                return Err(Error::unsupported(format!("the operator {other} of row values")).at_span(span));
            }
        };
        let e = self.row_order(combined, pairs.collect(), span, columns)?;
        Ok(e.at(span).into())
    }

    /// Rows in order: `l1 < r1 OR (l1 = r1 AND (…))`, the last pair by the operator itself. Built from the last pair
    /// on, without a frame for each.
    fn row_order(
        &self,
        (strict, last): (CompareOp, CompareOp),
        pairs: Vec<(Operand, Operand)>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Expr> {
        let mut ordered: Option<Expr> = None;
        for (l, r) in pairs.into_iter().rev() {
            ordered = Some(match ordered {
                None => self.compare(last, l, r, span)?,
                Some(rest) => self.once_operand(l, columns, |l, columns| {
                    self.once_operand(r, columns, |r, _| {
                        let before = self.compare(strict, l.clone(), r.clone(), span)?;
                        let equal = self.compare(CompareOp::Eq, l, r, span)?;
                        Ok(or(vec![before, and(vec![equal, rest])]).at(span))
                    })
                })?,
            });
        }
        ordered.ok_or_else(|| Error::internal("a comparison of rows without parts"))
    }
}

/// True if a value of a type has operators with others of a kind without a conversion: a string as text, an integer
/// beside a wider one, a real beside a double, a date beside a timestamp.
fn stays(ty: LogicalType, kind: Kind) -> bool {
    let is_text = kind.category() == Category::String && kind.is_preferred();
    let is_time = |counts: Counts| matches!(counts, Counts::Days | Counts::Micros);
    ty.is_string() && is_text
        || ty.is_integer() && kind.is_integer()
        || ty.is_float() && kind.is_float()
        || is_time(ty.info().counts) && is_time(kind.info().counts)
}

/// What the items of an IN list come to.
#[derive(Default)]
struct InParts {
    constants: Vec<Value>,
    rest: Vec<Expr>,
    is_known_false: bool,
}

/// A value by which equal constants are found.
fn key_of(v: &Value) -> (i128, Vec<u8>) {
    let number = match v {
        Value::Double(d) => i128::from(d.to_bits()),
        Value::Bool(b) => i128::from(*b),
        Value::Int(v) => *v,
        Value::Interval(i) => i.to_native(),
        Value::Null | Value::Text(_) | Value::Bytes(_) => 0,
    };
    (number, v.as_bytes().unwrap_or_default().to_owned())
}

fn in_constants(x: Expr, mut constants: Vec<Value>) -> Expr {
    let nullable = x.nullable;
    if constants.len() == 1 {
        let ty = if x.ty.is_text() { TEXT } else { x.ty };
        let constant = Expr::constant(constants.remove(0), ty);
        let kind = ExprKind::Compare(CompareOp::Eq, Box::new(x), Box::new(constant));
        return Expr::boolean(kind, nullable);
    }
    let kind = ExprKind::InList {
        value: Box::new(x),
        list: constants,
        negated: false,
    };
    Expr::boolean(kind, nullable)
}

/// The part that `op` prefers, the first of several such; NULL only if all are. The winners of both halves are
/// compared, so that the expression is as deep as the logarithm of the number of parts.
fn extreme_of((kind, op): (Kind, CompareOp), mut parts: Vec<Expr>, columns: &mut Columns) -> Result<Expr> {
    let second = parts.split_off(parts.len().div_ceil(2));
    if second.is_empty() {
        return Ok(parts.remove(0));
    }
    let best = extreme_of((kind, op), parts, columns)?;
    let rival = extreme_of((kind, op), second, columns)?;
    once(best, columns, |best, columns| {
        once(rival, columns, |rival, _| {
            let wins = compare_as(kind, op, best.clone(), rival.clone());
            let keeps = or(vec![wins, is_null(rival.clone())]);
            Ok(match constant_of(&keeps) {
                Some(Value::Bool(true)) => best,
                Some(_) => rival,
                None => case(vec![(keeps, best)], rival),
            })
        })
    })
}

/// The first part that is not NULL, as `ty`, those behind it not computed. Many parts are halved, so that the
/// expression is as deep as the logarithm of their number.
fn first_known(mut parts: Vec<Expr>, ty: LogicalType, columns: &mut Columns) -> Result<Expr> {
    let as_chosen = |e: Expr| match ty.is_unscaled() {
        true => as_numeric(e),
        false => e,
    };
    let chosen = |e: Expr| (not(is_null(e.clone())), as_chosen(e));
    let computed = parts.iter().filter(|e| !is_simple(e)).count();
    if computed > NESTED_PARTS {
        let second = parts.split_off(parts.len() / 2);
        let (first, rest) = (
            first_known(parts, ty, columns)?,
            first_known(second, ty, columns)?,
        );
        return once(first, columns, |e, _| Ok(coalesced(vec![chosen(e)], rest)));
    }
    let last = parts.pop();
    let last = last.ok_or_else(|| Error::internal("a choice among no parts"))?;
    let mut otherwise = as_chosen(last);
    let mut branches = Vec::new();
    for part in parts.into_iter().rev() {
        if is_simple(&part) {
            branches.push(chosen(part));
            continue;
        }
        let rest = choice(&mut branches, otherwise);
        otherwise = once(part, columns, |e, _| Ok(coalesced(vec![chosen(e)], rest)))?;
    }
    Ok(choice(&mut branches, otherwise))
}

/// The first branch, collected back to front, whose value is not NULL, else `otherwise`.
fn choice(branches: &mut Vec<(Expr, Expr)>, otherwise: Expr) -> Expr {
    let mut branches = std::mem::take(branches);
    branches.reverse();
    if branches.is_empty() {
        return otherwise;
    }
    coalesced(branches, otherwise)
}

/// A CASE whose branches give values only where these are not NULL.
fn coalesced(branches: Vec<(Expr, Expr)>, otherwise: Expr) -> Expr {
    let nullable = otherwise.nullable;
    let mut e = case(branches, otherwise);
    e.nullable = nullable;
    e
}
