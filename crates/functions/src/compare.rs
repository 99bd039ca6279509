//! Comparisons.
//!
//! Constants yield to columns: `l_discount < 0.055` compares unscaled integers of the column's own scale with a
//! constant moved to it (here: `<= 0.05`), so that the comparison can be asked of a block's codes. Only where no
//! constant can yield is a column cast.

use crate::build::{
    TEXT, and, boolean, call, constant_of, function, int, is_null_constant, known_unless_null, not, null,
    text,
};
use crate::convert::{
    WIDEST, as_text, convert, decimal, digits, join_compared_types, type_of_kind, wider_decimal,
};
use crate::fixed_numeric::Fixed;
use crate::numeric::{as_numeric, is_any_unscaled};
use crate::resolve::{CallKind, Resolution, no_operator_between, resolve};
use crate::type_rules::{Category, Kind};
use crate::vector::{OnNull, Output, Row, RowFn, predicate, rows};
use crate::{CastContext, Operand, Typing, Unknown, UnknownKind};
use frazil_plan::{Expr, ExprKind, ScalarFunction};
use frazil_types::date;
use frazil_types::json;
use frazil_types::numeric::Numeric;
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{CompareOp, LogicalType, Order, Result, Span, Value};
use std::cmp::Ordering;

/// Whether a kind compares with itself. Varchar does as text or char.
fn is_comparable(kind: Kind) -> bool {
    !kind.borrows_operators() && kind.info().order != Order::Absent
}

/// A comparison whose operands have one type, or whose answer is known.
enum Aligned {
    Operands(CompareOp, Expr, Expr),
    Known(Expr),
}

/// Whether both are arrays whose elements have different kinds, or enumerations that are not the same one: only
/// decimals and strings are as different as their digits and lengths.
fn is_of_other_type(l: &Operand, r: &Operand) -> bool {
    let enumeration = |x: &Operand| x.ty().and_then(LogicalType::enumeration_within);
    if let (Some(l), Some(r)) = (enumeration(l), enumeration(r))
        && l != r
    {
        return true;
    }
    let elements = l
        .ty()
        .and_then(LogicalType::element)
        .zip(r.ty().and_then(LogicalType::element));
    elements.is_some_and(|(l, r)| l.kind() != r.kind() && !(l.is_string() && r.is_string()))
}

/// What a value is compared by, where that is not the value itself: the length of an interval, the key of what
/// [has one](LogicalType::has_order_key).
pub fn compared_by(e: Expr) -> Expr {
    if e.ty.is_span() {
        return interval_length(e);
    }
    if !e.ty.has_order_key() {
        return e;
    }
    let nullable = e.nullable;
    let bytes = LogicalType::of_value(&Value::Bytes(Vec::new()));
    if e.ty.is_unscaled() {
        return match constant_of(&e) {
            Some(Value::Bytes(number)) => Expr::constant(Value::Bytes(Numeric::key(number).to_vec()), bytes),
            Some(_) => null(bytes),
            None => call(ScalarFunction::NumericKey, vec![e]),
        };
    }
    let run = |row: &Row<'_>, out: &mut Output<'_>| out.bytes(&value_ops::order_key(row.bytes(0), row.ty(0)));
    let mut key = rows("order key", OnNull::Null, run, vec![e], bytes);
    key.nullable = nullable;
    key
}

/// The kind that two operands compare as. 42883, 42725.
pub(crate) fn comparison_kind(op: &str, l: &Operand, r: &Operand, span: Span) -> Result<Kind> {
    let arguments = [l.ty().map(Kind::of), r.ty().map(Kind::of)];
    let is_refused = |x: &Operand| x.ty().is_some_and(|ty| !ty.is_comparable());
    if is_of_other_type(l, r) || is_refused(l) || is_refused(r) {
        return Err(no_operator_between(op, l.ty(), r.ty(), Resolution::None).at_span(span));
    }
    // Two operands of one kind, or one with a literal, meet at the first step of the rules.
    if let [Some(kind), None] | [None, Some(kind)] = arguments
        && is_comparable(kind)
    {
        return Ok(kind);
    }
    if arguments[0] == arguments[1]
        && let Some(kind) = arguments[0]
        && is_comparable(kind)
    {
        return Ok(kind);
    }
    let comparable = Kind::ALL.iter().filter(|kind| is_comparable(**kind));
    let same = comparable.map(|&kind| [kind, kind]);
    // Reals are compared with other numbers as doubles.
    let floats = || Kind::ALL.into_iter().filter(|kind| kind.is_float());
    let mixed = floats().flat_map(|l| floats().filter(move |r| *r != l).map(move |r| [l, r]));
    let pairs: Vec<[Kind; 2]> = same.chain(mixed).collect();
    let candidates: Vec<&[Kind]> = pairs.iter().map(|p| &p[..]).collect();
    match resolve(&candidates, &arguments, CallKind::Operator) {
        Resolution::Found(at) => Ok(pairs[at][0].max(pairs[at][1])),
        // Two varchars, or one and a literal.
        other => match arguments.iter().flatten().next() {
            Some(kind) if arguments.iter().flatten().all(|k| k.borrows_operators()) => {
                Ok(kind.category().preferred().unwrap_or(*kind))
            }
            _ => Err(no_operator_between(op, l.ty(), r.ty(), other).at_span(span)),
        },
    }
}

impl Typing {
    /// A comparison. 42883 where the types do not compare.
    pub(crate) fn compare(&self, op: CompareOp, l: Operand, r: Operand, span: Span) -> Result<Expr> {
        let kind = comparison_kind(op.symbol(), &l, &r, span)?;
        let (l, r) = self.operands_of_kind(kind, l, r)?;
        Ok(compare_as(kind, op, l, r).at(span))
    }

    /// IS [NOT] DISTINCT FROM.
    pub(crate) fn distinct(&self, l: Operand, r: Operand, span: Span) -> Result<Expr> {
        let kind = comparison_kind("=", &l, &r, span)?;
        let (l, r) = self.operands_of_kind(kind, l, r)?;
        if is_null_constant(&l) || is_null_constant(&r) {
            let other = if is_null_constant(&l) { r } else { l };
            return Ok(not(crate::build::is_null(other)).at(span));
        }
        if kind == Kind::Numeric && !has_common_scale(l.ty, r.ty) && !is_any_unscaled(&[l.clone(), r.clone()])
        {
            let run = |row: &Row<'_>, out: &mut Output<'_>| out.bool(distinct_decimals(row));
            let e = predicate("is distinct from", OnNull::Called, run, vec![l, r]);
            return Ok(e.at(span));
        }
        let (left, right) = same_type(kind, l, r);
        if let (Some(a), Some(b)) = (constant_of(&left), constant_of(&right))
            && let Some(ordering) = value_ops::order(a, b)
        {
            return Ok(boolean(ordering.is_ne()).at(span));
        }
        let kind = ExprKind::Distinct {
            left: Box::new(left),
            right: Box::new(right),
            negated: false,
        };
        Ok(Expr::boolean(kind, false).at(span))
    }

    /// Two operands as values of a kind: literals read, char(n) without trailing blanks.
    fn operands_of_kind(&self, kind: Kind, l: Operand, r: Operand) -> Result<(Expr, Expr)> {
        let (lt, rt) = (l.ty(), r.ty());
        Ok((
            self.operand_of_kind(kind, l, rt)?,
            self.operand_of_kind(kind, r, lt)?,
        ))
    }

    pub(crate) fn operand_of_kind(
        &self,
        kind: Kind,
        x: Operand,
        partner: Option<LogicalType>,
    ) -> Result<Expr> {
        let span = x.span();
        let e = match x {
            Operand::Typed(e) => e,
            Operand::Unknown(u) => {
                if let (Kind::Numeric, UnknownKind::Literal(text)) = (kind, &u.kind)
                    && let Some((value, ty)) = crate::literal::exact_number(text.trim())
                {
                    return Ok(int(value, ty).at(span));
                }
                let is_parameter = matches!(u.kind, UnknownKind::Parameter(_));
                let ty = match (kind, partner) {
                    (_, Some(partner)) if kind.is_padded() && partner.is_padded() && !is_parameter => TEXT,
                    (_, Some(partner)) if Kind::of(partner) == kind => partner,
                    _ => type_of_kind(kind, partner),
                };
                let unknown = Operand::Unknown(Unknown { span, ..u });
                self.cast(unknown, ty, CastContext::Implicit, Span::NONE)?
            }
        };
        if !kind.is_padded() || e.ty.is_padded() {
            return Ok(e);
        }
        if let Some(Value::Text(t)) = constant_of(&e) {
            return Ok(text(t.trim_end_matches(' ')).at(span));
        }
        if is_null_constant(&e) {
            return Ok(e);
        }
        let trimmed = call(ScalarFunction::TrimEnd, vec![as_text(e), text(" ")]);
        Ok(trimmed.at(span))
    }
}

/// A comparison of two operands that were found to compare as `kind`.
pub(crate) fn compare_as(kind: Kind, op: CompareOp, l: Expr, r: Expr) -> Expr {
    let constant_left = constant_of(&l).is_some() && constant_of(&r).is_none();
    let (op, l, r) = if constant_left {
        (op.flip(), r, l)
    } else {
        (op, l, r)
    };
    if is_null_constant(&l) || is_null_constant(&r) {
        return Expr::unknown();
    }
    let (op, l, r) = match align(kind, op, l, r) {
        Aligned::Operands(op, l, r) => (op, l, r),
        Aligned::Known(e) => return e,
    };
    if let (Some(a), Some(b)) = (constant_of(&l), constant_of(&r))
        && let Some(ordering) = value_ops::order(a, b)
    {
        return boolean(op.holds(ordering));
    }
    let nullable = l.nullable || r.nullable;
    Expr::boolean(ExprKind::Compare(op, Box::new(l), Box::new(r)), nullable)
}

fn align(kind: Kind, op: CompareOp, l: Expr, r: Expr) -> Aligned {
    if kind.number_rank().is_some() {
        return align_numbers(op, l, r);
    }
    if l.ty.is_code_point()
        && constant_of(&l).is_none()
        && let Some(Value::Text(t)) = constant_of(&r)
    {
        let t = t.clone();
        return char_against_text(op, l, &t);
    }
    if let Some(Value::Int(v)) = constant_of(&r)
        && l.ty.is_day()
        && r.ty.is_local_time()
    {
        let day = i128::from(date::MICROS_PER_DAY);
        let infinite = i64::try_from(*v).ok().and_then(date::infinite_day_of_micros);
        let (days, exact) = match infinite {
            Some(days) => (days.into(), true),
            None => (v.div_euclid(day), v.rem_euclid(day) == 0),
        };
        return against_floor(op, l, days, exact);
    }
    let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(_));
    if kind.info().document.is_some() && constant_of(&r).is_some() && !is_column(&l) {
        return Aligned::Known(compare_json(op, l, r));
    }
    let (l, r) = same_type(kind, l, r);
    Aligned::Operands(op, l, r)
}

/// A comparison of what is computed with a constant: no key is made of it, because no index has its keys.
fn compare_json(op: CompareOp, l: Expr, r: Expr) -> Expr {
    fn order(row: &Row<'_>) -> Ordering {
        json::compare(row.bytes(0), row.bytes(1))
    }
    let (name, run): (&'static str, RowFn) = match op {
        CompareOp::Eq => ("jsonb_eq", |row, out| out.bool(order(row).is_eq())),
        CompareOp::Ne => ("jsonb_ne", |row, out| out.bool(order(row).is_ne())),
        CompareOp::Lt => ("jsonb_lt", |row, out| out.bool(order(row).is_lt())),
        CompareOp::Le => ("jsonb_le", |row, out| out.bool(order(row).is_le())),
        CompareOp::Gt => ("jsonb_gt", |row, out| out.bool(order(row).is_gt())),
        CompareOp::Ge => ("jsonb_ge", |row, out| out.bool(order(row).is_ge())),
    };
    let nullable = l.nullable || r.nullable;
    let mut e = predicate(name, OnNull::Null, run, vec![l, r]);
    e.nullable = nullable;
    e
}

/// Whether a decimal has room for the digits before the point and those behind it that two exact types have.
fn has_common_scale(l: LogicalType, r: LogicalType) -> bool {
    let ((pl, sl), (pr, sr)) = (digits(l), digits(r));
    (pl - sl).max(pr - sr) + sl.max(sr) <= WIDEST
}

/// A comparison of exact numbers for which no decimal has room. Equal columns are joined by the greatest and the
/// least value of the lesser scale around the one of the greater.
fn decimals(op: CompareOp, l: Expr, r: Expr) -> Expr {
    if let (Some(Value::Int(a)), Some(Value::Int(b))) = (constant_of(&l), constant_of(&r)) {
        let scale = |ty: LogicalType| ty.scale().unwrap_or(0);
        return boolean(op.holds(value_ops::compare_decimals((*a, scale(l.ty)), (*b, scale(r.ty)))));
    }
    let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(_));
    if op != CompareOp::Eq || !is_column(&l) || !is_column(&r) {
        return call(ScalarFunction::Compare(op), vec![l, r]);
    }
    let (coarse, fine) = if digits(l.ty).1 <= digits(r.ty).1 {
        (l, r)
    } else {
        (r, l)
    };
    let ty = decimal(WIDEST, digits(coarse.ty).1);
    let around = [ScalarFunction::FloorToScale, ScalarFunction::CeilToScale];
    let equal = around.map(|bound| {
        let bound = function(bound, vec![fine.clone()], ty);
        let value = convert(coarse.clone(), ty, CastLength::Refuse);
        let nullable = value.nullable || bound.nullable;
        Expr::boolean(ExprKind::Compare(op, Box::new(value), Box::new(bound)), nullable)
    });
    and(equal.into())
}

fn distinct_decimals(row: &Row<'_>) -> bool {
    let at = |i: usize| (row.wide(i), row.ty(i).scale().unwrap_or(0));
    match (row.is_null(0), row.is_null(1)) {
        (false, false) => value_ops::compare_decimals(at(0), at(1)).is_ne(),
        (l, r) => l != r,
    }
}

/// Both operands in one type that plans compare.
fn same_type(kind: Kind, l: Expr, r: Expr) -> (Expr, Expr) {
    match kind {
        _ if kind.category() == Category::Array => {
            let ty = join_compared_types(l.ty, r.ty).unwrap_or(l.ty);
            let [l, r] = [l, r].map(|e| compared_by(convert(e, ty, CastLength::Refuse)));
            (l, r)
        }
        _ if kind.info().order == Order::Span => {
            let ty = type_of_kind(kind, None);
            let [l, r] = [l, r].map(|e| compared_by(convert(e, ty, CastLength::Refuse)));
            (l, r)
        }
        _ if kind.info().order == Order::Key => (compared_by(l), compared_by(r)),
        _ if kind.category() == Category::String => match l.ty.is_code_point() && r.ty.is_code_point() {
            true => (l, r),
            false => (as_text(l), as_text(r)),
        },
        Kind::Numeric if l.ty.is_unscaled() || r.ty.is_unscaled() => {
            (compared_by(as_numeric(l)), compared_by(as_numeric(r)))
        }
        _ if l.ty == r.ty => (l, r),
        Kind::Numeric => {
            let common = wider_decimal(l.ty, r.ty);
            // Decimals of one scale and one native form compare as they are.
            let decimal = |t: LogicalType| t.decimal_digits().is_some();
            let same =
                |t: LogicalType| decimal(t) && t.scale() == common.scale() && t.native() == common.native();
            if same(l.ty) && same(r.ty) {
                return (l, r);
            }
            (
                convert(l, common, CastLength::Refuse),
                convert(r, common, CastLength::Refuse),
            )
        }
        _ => {
            let zone = if l.ty.is_zoned() { l.ty.zone() } else { r.ty.zone() };
            let ty = type_of_kind(kind, None).in_zone(zone);
            (
                convert(l, ty, CastLength::Refuse),
                convert(r, ty, CastLength::Refuse),
            )
        }
    }
}

fn align_numbers(op: CompareOp, l: Expr, r: Expr) -> Aligned {
    let [l, r] = [l, r].map(|e| Fixed::of(&e).map_or(e, |fixed| fixed.value));
    let r = match l.ty.scale() {
        Some(_) => scaled_constant(r),
        None => r,
    };
    if let (Some(scale), Some(Value::Int(v)), Some(from)) = (l.ty.scale(), constant_of(&r), r.ty.scale())
        && constant_of(&l).is_none()
    {
        let v = *v;
        return constant_at_scale(op, l, v, from, scale);
    }
    let kind = match (Kind::of(l.ty), Kind::of(r.ty)) {
        (a, b) if a == b => a,
        (a, b) if a.is_float() || b.is_float() => Category::Numeric.preferred().unwrap_or(a.max(b)),
        (Kind::Numeric, _) | (_, Kind::Numeric) => Kind::Numeric,
        (a, b) => a.max(b),
    };
    let is_unscaled = l.ty.is_unscaled() || r.ty.is_unscaled();
    if kind == Kind::Numeric && is_unscaled && is_ordered(op) {
        return numbers_in_order(op, l, r);
    }
    if kind == Kind::Numeric && !is_unscaled && !has_common_scale(l.ty, r.ty) {
        return Aligned::Known(decimals(op, l, r));
    }
    let (l, r) = same_type(kind, l, r);
    Aligned::Operands(op, l, r)
}

/// True for comparisons that say which operand is less.
fn is_ordered(op: CompareOp) -> bool {
    match op {
        CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => true,
        CompareOp::Eq | CompareOp::Ne => false,
    }
}

/// An order of two exact numbers, at least one of which is a numeric. Beside a decimal, a numeric is compared by the
/// nearest number of the decimal's scale on the side that decides: `d < n` is `d < ceil(n)`. So the decimal stays as it is, and
/// the bound is computed where the numeric comes from. A column that meets a constant is compared by its key, which
/// an index may have.
fn numbers_in_order(op: CompareOp, l: Expr, r: Expr) -> Aligned {
    let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(_));
    let (op, fixed, number) = match (l.ty.scale(), r.ty.scale()) {
        (Some(_), None) => (op, l, r),
        (None, Some(_)) if !(is_column(&l) && constant_of(&r).is_some()) => (op.flip(), r, l),
        _ => {
            let (l, r) = same_type(Kind::Numeric, l, r);
            return Aligned::Operands(op, l, r);
        }
    };
    let bound = match op {
        CompareOp::Lt | CompareOp::Ge => ScalarFunction::CeilToScale,
        CompareOp::Le | CompareOp::Gt | CompareOp::Eq | CompareOp::Ne => ScalarFunction::FloorToScale,
    };
    let (precision, scale) = digits(fixed.ty);
    let bound = function(bound, vec![number], decimal(WIDEST, scale));
    let fixed = match fixed.ty.is_integer() {
        true => convert(fixed, decimal(precision, scale), CastLength::Refuse),
        false => fixed,
    };
    match constant_of(&fixed) {
        Some(_) => Aligned::Operands(op.flip(), bound, fixed),
        None => Aligned::Operands(op, fixed, bound),
    }
}

/// A numeric constant as a decimal one, which compares with a decimal at its scale; anything else as it is.
fn scaled_constant(e: Expr) -> Expr {
    let number = match constant_of(&e) {
        Some(Value::Bytes(bytes)) if e.ty.is_unscaled() => Numeric::of_bytes(bytes).ok(),
        _ => None,
    };
    number.map_or(e.clone(), |number| {
        int(number.coefficient(), decimal(WIDEST, number.scale())).at(e.span)
    })
}

/// `l op v` with the constant `v` (at scale `from`) moved to the scale and range of `l`.
fn constant_at_scale(op: CompareOp, l: Expr, v: i128, from: u8, scale: u8) -> Aligned {
    let (floor, exact) = if scale >= from {
        (frazil_types::decimal::rescale(v, from, scale), true)
    } else {
        let divisor = frazil_types::decimal::POWERS_OF_TEN[usize::from(from - scale)];
        (Some(v.div_euclid(divisor)), v.rem_euclid(divisor) == 0)
    };
    match floor {
        Some(floor) => against_floor(op, l, floor, exact),
        None => against_floor(op, l, if v > 0 { i128::MAX } else { i128::MIN }, true),
    }
}

/// `l op v`, where `floor` is the largest value of l's type up to v, and `exact` tells that it is v.
fn against_floor(op: CompareOp, l: Expr, floor: i128, exact: bool) -> Aligned {
    use CompareOp::*;
    let (min, max) = l.ty.range().unwrap_or((i128::MIN, i128::MAX));
    let (above, below) = (floor > max, floor < min);
    if above || below {
        let holds = match op {
            Eq => false,
            Ne => true,
            Lt | Le => above,
            Gt | Ge => below,
        };
        return Aligned::Known(known_unless_null(l, holds));
    }
    let op = match (exact, op) {
        (true, same) => same,
        (false, Eq) => return Aligned::Known(known_unless_null(l, false)),
        (false, Ne) => return Aligned::Known(known_unless_null(l, true)),
        // Between two representable values: x < v and x <= v both mean x <= floor(v).
        (false, Lt | Le) => Le,
        (false, Gt | Ge) => Gt,
    };
    let constant = int(floor, l.ty);
    Aligned::Operands(op, l, constant)
}

/// A char(1) column, held as a code point, against a text. Trailing blanks do not count.
fn char_against_text(op: CompareOp, l: Expr, text: &str) -> Aligned {
    use CompareOp::*;
    let mut chars = text.trim_end_matches(' ').chars();
    let first = chars.next().map_or(32, |c| c as i128);
    let longer = chars.next().is_some();
    let op = match (longer, op) {
        (false, same) => same,
        (true, Eq) => return Aligned::Known(known_unless_null(l, false)),
        (true, Ne) => return Aligned::Known(known_unless_null(l, true)),
        // A single character that begins a longer text sorts before it.
        (true, Lt | Le) => Le,
        (true, Gt | Ge) => Gt,
    };
    let constant = int(first, l.ty);
    Aligned::Operands(op, l, constant)
}

/// An interval's length in microseconds, which intervals compare by.
fn interval_length(e: Expr) -> Expr {
    let run: RowFn = |row, out| out.int(value_ops::interval_span(row.interval(0)));
    rows("interval length", OnNull::Null, run, vec![e], decimal(38, 0))
}

/// The comparison that an operator is.
pub(crate) fn comparison(op: &str) -> Option<CompareOp> {
    Some(match op {
        "=" => CompareOp::Eq,
        "<>" | "!=" => CompareOp::Ne,
        "<" => CompareOp::Lt,
        "<=" => CompareOp::Le,
        ">" => CompareOp::Gt,
        ">=" => CompareOp::Ge,
        _ => return None,
    })
}
