//! The type rules: how two operands come to one type, and which type an operator gives.
//!
//! Constants yield to columns: `l_discount < 0.055` compares unscaled integers of the column's own
//! scale with a constant moved to it (here: `<= 0.05`), so that the comparison can be asked of a
//! block's codes. Only where no constant can yield is a column cast. A quoted literal has no type of
//! its own and takes its partner's, as in PostgreSQL; so does a parameter whose type was not given.

use super::convert::{self, convert};
use frazil_plan::{Expr, ExprKind};
use frazil_types::{CompareOp, Error, LogicalType, Result, Span, SqlState, Value, decimal};
use std::cell::RefCell;

/// Types of parameters as far as they are known, and the rules that may learn them.
#[derive(Debug, Default)]
pub(crate) struct Typing {
    parameters: RefCell<Vec<Option<LogicalType>>>,
}

/// A boolean that is `value` for every value of `e`, NULL where `e` is NULL.
fn known_unless_null(e: Expr, value: bool) -> Expr {
    let constant = Expr::constant(Value::Bool(value), LogicalType::Boolean);
    if !e.nullable {
        return constant;
    }
    let null = Expr::constant(Value::Null, LogicalType::Boolean);
    let is_null = Expr::boolean(ExprKind::IsNull(Box::new(e)), false);
    Expr::boolean(
        ExprKind::Case {
            branches: vec![(is_null, null)],
            otherwise: Some(Box::new(constant)),
        },
        true,
    )
}

/// The constant in an expression.
pub(crate) fn constant_of(e: &Expr) -> Option<&Value> {
    match &e.kind {
        ExprKind::Constant(v) => Some(v),
        _ => None,
    }
}

fn is_quoted_literal(e: &Expr) -> bool {
    e.ty == LogicalType::Text && matches!(&e.kind, ExprKind::Constant(Value::Text(_)))
}

fn is_null(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Constant(Value::Null))
}

/// The narrowest type that holds all values of both exact or double types.
pub(crate) fn wider_number(a: LogicalType, b: LogicalType) -> Option<LogicalType> {
    use LogicalType::*;
    if !a.is_numeric() || !b.is_numeric() {
        return None;
    }
    if a == Double || b == Double {
        return Some(Double);
    }
    if a.is_integer() && b.is_integer() {
        let rank = |t| match t {
            SmallInt => 0,
            Integer => 1,
            _ => 2,
        };
        return Some(if rank(a) >= rank(b) { a } else { b });
    }
    let ((pa, sa), (pb, sb)) = (digits(a), digits(b));
    let scale = sa.max(sb);
    let precision = ((pa - sa).max(pb - sb) + scale).clamp(1, 38);
    Some(Decimal { precision, scale })
}

/// Precision and scale of an exact type, integers as decimals of all their digits.
pub(crate) fn digits(ty: LogicalType) -> (u8, u8) {
    match ty {
        LogicalType::Decimal { precision, scale } => (precision, scale),
        LogicalType::SmallInt => (5, 0),
        LogicalType::Integer => (10, 0),
        _ => (19, 0),
    }
}

/// 42883 for an operator without such operands.
pub(crate) fn no_operator(op: &str, l: LogicalType, r: LogicalType) -> Error {
    Error::new(
        SqlState::UNDEFINED_FUNCTION,
        format!("operator does not exist: {l} {op} {r}"),
    )
    .with_hint("you might need to add explicit casts")
}

impl Typing {
    pub fn new(given: &[Option<LogicalType>]) -> Typing {
        Typing {
            parameters: RefCell::new(given.to_vec()),
        }
    }

    /// The expression of a parameter, counted from 0.
    pub fn parameter(&self, index: usize) -> Expr {
        let mut known = self.parameters.borrow_mut();
        if known.len() <= index {
            known.resize(index + 1, None);
        }
        Expr {
            kind: ExprKind::Parameter(index),
            ty: known[index].unwrap_or(LogicalType::Text),
            nullable: true,
            span: Span::NONE,
        }
    }

    /// The types of all parameters; those that nothing determined are text.
    pub fn parameter_types(&self) -> Vec<LogicalType> {
        let known = self.parameters.borrow();
        known.iter().map(|t| t.unwrap_or(LogicalType::Text)).collect()
    }

    fn is_open_parameter(&self, e: &Expr) -> bool {
        // Hidden parameters are numbered beyond all others, and typed.
        matches!(e.kind, ExprKind::Parameter(i) if self.parameters.borrow().get(i) == Some(&None))
    }

    /// Whether it takes its partner's type: NULL, a quoted literal, a parameter of unknown type.
    pub fn is_untyped(&self, e: &Expr) -> bool {
        is_null(e) || is_quoted_literal(e) || self.is_open_parameter(e)
    }

    /// The expression as `ty`: constants at once, else by a checked cast.
    pub fn cast(&self, e: Expr, ty: LogicalType) -> Result<Expr> {
        if let ExprKind::Parameter(i) = e.kind
            && self.is_open_parameter(&e)
        {
            self.parameters.borrow_mut()[i] = Some(ty);
            return Ok(Expr { ty, ..e });
        }
        if e.ty == ty {
            return Ok(e);
        }
        if let ExprKind::Constant(value) = &e.kind {
            return Ok(Expr::constant(convert(value, e.ty, ty)?, ty));
        }
        if !castable(e.ty, ty) {
            return Err(convert::cannot_cast(e.ty, ty));
        }
        let nullable = e.nullable;
        Ok(Expr {
            kind: ExprKind::Cast(Box::new(e)),
            ty,
            nullable,
            span: Span::NONE,
        })
    }

    /// One type for branches of a CASE, rows of VALUES, inputs of UNION. 42804.
    pub fn common_type(&self, parts: &[&Expr], place: &str) -> Result<LogicalType> {
        let mut common: Option<LogicalType> = None;
        for part in parts.iter().filter(|p| !self.is_untyped(p)) {
            common = Some(match common {
                None => part.ty,
                Some(t) => join_types(t, part.ty).ok_or_else(|| {
                    Error::new(
                        SqlState::DATATYPE_MISMATCH,
                        format!("{place} types {t} and {} cannot be matched", part.ty),
                    )
                })?,
            });
        }
        Ok(common.unwrap_or(LogicalType::Text))
    }

    /// A comparison. 42883 where the types do not compare.
    pub fn compare(&self, op: CompareOp, l: Expr, r: Expr) -> Result<Expr> {
        let constant_left = constant_of(&l).is_some() && constant_of(&r).is_none();
        let (op, l, r) = if constant_left {
            (op.flip(), r, l)
        } else {
            (op, l, r)
        };
        if is_null(&l) || is_null(&r) {
            return Ok(Expr::constant(Value::Null, LogicalType::Boolean));
        }
        let (op, l, r) = match self.align(op, l, r)? {
            Aligned::Operands(op, l, r) => (op, l, r),
            Aligned::Known(e) => return Ok(e),
        };
        if let (Some(a), Some(b)) = (constant_of(&l), constant_of(&r))
            && let Some(ordering) = order(a, b)
        {
            return Ok(Expr::constant(
                Value::Bool(op.holds(ordering)),
                LogicalType::Boolean,
            ));
        }
        let nullable = l.nullable || r.nullable;
        Ok(Expr::boolean(
            ExprKind::Compare(op, Box::new(l), Box::new(r)),
            nullable,
        ))
    }

    /// Both sides of IS [NOT] DISTINCT FROM in one type. Unlike [`Typing::compare`] nothing is rewritten.
    pub fn pair(&self, l: Expr, r: Expr) -> Result<(Expr, Expr)> {
        let ty = self.common_type(&[&l, &r], "IS DISTINCT FROM")?;
        Ok((self.cast(l, ty)?, self.cast(r, ty)?))
    }

    fn align(&self, op: CompareOp, l: Expr, r: Expr) -> Result<Aligned> {
        let (l, r) = match (self.is_untyped(&l), self.is_untyped(&r)) {
            (false, true) if !l.ty.is_string() => {
                let ty = literal_type(&r, l.ty);
                (l, self.cast(r, ty)?)
            }
            (true, false) if !r.ty.is_string() => {
                let ty = literal_type(&l, r.ty);
                (self.cast(l, ty)?, r)
            }
            (false, true) if self.is_open_parameter(&r) => {
                let ty = l.ty;
                (l, self.cast(r, ty)?)
            }
            (true, false) if self.is_open_parameter(&l) => {
                let ty = r.ty;
                (self.cast(l, ty)?, r)
            }
            _ => (l, r),
        };
        if l.ty.is_numeric() && r.ty.is_numeric() {
            return self.align_numbers(op, l, r);
        }
        if l.ty.is_string() && r.ty.is_string() {
            return self.align_strings(op, l, r);
        }
        let times = |t| matches!(t, LogicalType::Date | LogicalType::Timestamp);
        if l.ty == r.ty {
            return Ok(Aligned::Operands(op, l, r));
        }
        if times(l.ty) && times(r.ty) {
            return self.align_times(op, l, r);
        }
        Err(no_operator(op.symbol(), l.ty, r.ty))
    }

    fn align_times(&self, op: CompareOp, l: Expr, r: Expr) -> Result<Aligned> {
        if let (LogicalType::Date, Some(Value::Int(v))) = (l.ty, constant_of(&r))
            && v.rem_euclid(i128::from(frazil_types::date::MICROS_PER_DAY)) == 0
        {
            return Ok(Aligned::Operands(op, l, self.cast(r, LogicalType::Date)?));
        }
        let (l, r) = (
            self.cast(l, LogicalType::Timestamp)?,
            self.cast(r, LogicalType::Timestamp)?,
        );
        Ok(Aligned::Operands(op, l, r))
    }

    fn align_numbers(&self, op: CompareOp, l: Expr, r: Expr) -> Result<Aligned> {
        if let (Some(scale), Some(Value::Int(v)), Some(from)) = (l.ty.scale(), constant_of(&r), r.ty.scale())
            && constant_of(&l).is_none()
        {
            let v = *v;
            return Ok(constant_at_scale(op, l, v, from, scale));
        }
        let common = wider_number(l.ty, r.ty).ok_or_else(|| no_operator(op.symbol(), l.ty, r.ty))?;
        // Decimals of one scale and one native form compare as they are.
        let same = |t: LogicalType| t.scale() == common.scale() && t.native() == common.native();
        let decimals = |t| matches!(t, LogicalType::Decimal { .. });
        if decimals(l.ty) && decimals(r.ty) && same(l.ty) && same(r.ty) {
            return Ok(Aligned::Operands(op, l, r));
        }
        Ok(Aligned::Operands(
            op,
            self.cast(l, common)?,
            self.cast(r, common)?,
        ))
    }

    fn align_strings(&self, op: CompareOp, l: Expr, r: Expr) -> Result<Aligned> {
        const CHAR1: LogicalType = LogicalType::Char(1);
        if l.ty == CHAR1 && r.ty == CHAR1 {
            return Ok(Aligned::Operands(op, l, r));
        }
        if l.ty == CHAR1
            && constant_of(&l).is_none()
            && let Some(Value::Text(text)) = constant_of(&r)
        {
            return Ok(char_against_text(op, l, text));
        }
        let padded = |t| matches!(t, LogicalType::Char(_));
        let (padded_l, padded_r) = (padded(l.ty), padded(r.ty));
        let trim = |e: Expr, partner_is_padded: bool| match &e.kind {
            ExprKind::Constant(Value::Text(t)) if partner_is_padded => {
                let trimmed = t.trim_end_matches(' ').to_string();
                Expr::constant(Value::Text(trimmed), LogicalType::Text)
            }
            _ => e,
        };
        let (l, r) = (trim(l, padded_r), trim(r, padded_l));
        let widen = |e: Expr| {
            if e.ty == CHAR1 {
                self.cast(e, LogicalType::Text)
            } else {
                Ok(e)
            }
        };
        Ok(Aligned::Operands(op, widen(l)?, widen(r)?))
    }
}

/// A comparison whose operands have one type, or whose answer is known.
enum Aligned {
    Operands(CompareOp, Expr, Expr),
    Known(Expr),
}

/// What a quoted literal becomes beside a typed partner: a number keeps digits that its partner's
/// scale would lose.
fn literal_type(literal: &Expr, partner: LogicalType) -> LogicalType {
    if let (LogicalType::Decimal { .. }, ExprKind::Constant(Value::Text(t))) = (partner, &literal.kind)
        && let Some((_, fraction)) = t.trim().split_once('.')
        && fraction.len() <= 38
    {
        let scale = partner.scale().unwrap_or(0).max(fraction.len() as u8);
        return LogicalType::Decimal { precision: 38, scale };
    }
    partner
}

/// `l op v` with the constant `v` (at scale `from`) moved to the scale and range of `l`.
fn constant_at_scale(op: CompareOp, l: Expr, v: i128, from: u8, scale: u8) -> Aligned {
    use CompareOp::*;
    let (floor, exact) = if scale >= from {
        (decimal::rescale(v, from, scale), true)
    } else {
        let divisor = decimal::POWERS_OF_TEN[usize::from(from - scale)];
        (Some(v.div_euclid(divisor)), v.rem_euclid(divisor) == 0)
    };
    let (min, max) = convert::range_of(l.ty).unwrap_or((i128::MIN, i128::MAX));
    let above = floor.is_none_or(|f| f > max) && v > 0;
    let below = floor.is_none_or(|f| f < min) && v < 0;
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
    let constant = Expr::constant(Value::Int(floor.unwrap_or(0)), l.ty);
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
    let constant = Expr::constant(Value::Int(first), LogicalType::Char(1));
    Aligned::Operands(op, l, constant)
}

fn join_types(a: LogicalType, b: LogicalType) -> Option<LogicalType> {
    if a == b {
        return Some(a);
    }
    if a.is_string() && b.is_string() {
        return Some(LogicalType::Text);
    }
    match (a, b) {
        (LogicalType::Date, LogicalType::Timestamp) | (LogicalType::Timestamp, LogicalType::Date) => {
            Some(LogicalType::Timestamp)
        }
        _ => wider_number(a, b),
    }
}

fn castable(from: LogicalType, to: LogicalType) -> bool {
    use LogicalType::*;
    match (from, to) {
        (Interval, _) | (_, Interval) => false,
        _ if from.is_string() || to.is_string() => true,
        _ if from.is_numeric() && to.is_numeric() => true,
        (Date, Timestamp) | (Timestamp, Date) | (Boolean, Integer) | (Integer, Boolean) => true,
        _ => false,
    }
}

fn order(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => match (a.is_nan(), b.is_nan()) {
            // As PostgreSQL orders them: NaN equals itself and is the largest.
            (false, false) => a.partial_cmp(b),
            (x, y) => Some(x.cmp(&y)),
        },
        _ => None,
    }
}
