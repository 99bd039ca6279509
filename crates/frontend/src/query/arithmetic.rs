//! Arithmetic: result types, the casts they need, and folding of constants in checked arithmetic.

use super::convert::{check_range, convert};
use super::typing::{Typing, constant_of, digits, no_operator, wider_number};
use frazil_plan::{ArithmeticOp, Expr, ExprKind};
use frazil_types::{Error, Interval, LogicalType, Result, Span, SqlState, Value, date, decimal};

const WIDEST: u8 = 38;

/// The narrowest decimal type of an exact constant, so that `1 - l_discount` stays narrow.
fn exact_type(e: &Expr) -> LogicalType {
    match (constant_of(e), e.ty) {
        (Some(Value::Int(v)), ty) if ty.scale().is_some() => {
            let scale = ty.scale().unwrap_or(0);
            let count = v.unsigned_abs().checked_ilog10().map_or(1, |n| n as u8 + 1);
            LogicalType::Decimal {
                precision: count.max(scale).clamp(1, WIDEST),
                scale,
            }
        }
        (_, ty) => {
            let (precision, scale) = digits(ty);
            LogicalType::Decimal { precision, scale }
        }
    }
}

impl Typing {
    /// A binary arithmetic expression over numbers, dates and intervals.
    pub fn arithmetic(&self, op: ArithmeticOp, l: Expr, r: Expr) -> Result<Expr> {
        if l.ty == LogicalType::Interval || r.ty == LogicalType::Interval {
            return self.interval_arithmetic(op, l, r);
        }
        let (l, r) = match (self.is_untyped(&l), self.is_untyped(&r)) {
            (true, false) => {
                let ty = r.ty;
                (self.cast(l, ty)?, r)
            }
            (false, true) => {
                let ty = l.ty;
                (l, self.cast(r, ty)?)
            }
            (true, true) => (
                self.cast(l, LogicalType::Integer)?,
                self.cast(r, LogicalType::Integer)?,
            ),
            (false, false) => (l, r),
        };
        let (lt, rt) = (l.ty, r.ty);
        let common = wider_number(lt, rt).ok_or_else(|| no_operator(op.symbol(), lt, rt))?;
        let (l, r, ty) = match common {
            LogicalType::Decimal { .. } => self.decimal_operands(op, l, r)?,
            LogicalType::Double if op == ArithmeticOp::Rem => {
                return Err(no_operator("%", lt, rt));
            }
            ty => (self.cast(l, ty)?, self.cast(r, ty)?, ty),
        };
        Ok(fold_arithmetic(op, l, r, ty))
    }

    fn decimal_operands(&self, op: ArithmeticOp, l: Expr, r: Expr) -> Result<(Expr, Expr, LogicalType)> {
        let (lt, rt) = (exact_type(&l), exact_type(&r));
        let ((pl, sl), (pr, sr)) = (digits(lt), digits(rt));
        let decimal = |precision: u8, scale: u8| LogicalType::Decimal {
            precision: precision.clamp(1, WIDEST),
            scale,
        };
        match op {
            ArithmeticOp::Add | ArithmeticOp::Sub | ArithmeticOp::Rem => {
                let scale = sl.max(sr);
                let whole = (pl - sl).max(pr - sr);
                let carry = u8::from(op != ArithmeticOp::Rem);
                let rescaled = |e: Expr, p: u8, s: u8| {
                    if e.ty.scale() == Some(scale) && matches!(e.ty, LogicalType::Decimal { .. }) {
                        return Ok(e);
                    }
                    self.cast(e, decimal(p - s + scale, scale))
                };
                let (l, r) = (rescaled(l, pl, sl)?, rescaled(r, pr, sr)?);
                Ok((l, r, decimal(whole + scale + carry, scale)))
            }
            ArithmeticOp::Mul => {
                if sl + sr > WIDEST {
                    return Err(Error::unsupported(format!(
                        "a product of {} digits after the point",
                        sl + sr
                    ))
                    .with_hint("cast the factors to fewer digits"));
                }
                Ok((self.cast(l, lt)?, self.cast(r, rt)?, decimal(pl + pr, sl + sr)))
            }
            ArithmeticOp::Div => {
                let ty = decimal(WIDEST, sl.max(sr).max(6));
                Ok((self.cast(l, lt)?, self.cast(r, rt)?, ty))
            }
        }
    }

    fn interval_arithmetic(&self, op: ArithmeticOp, l: Expr, r: Expr) -> Result<Expr> {
        use ArithmeticOp::*;
        let (lt, rt) = (l.ty, r.ty);
        let time = |t| matches!(t, LogicalType::Date | LogicalType::Timestamp);
        let (value, interval) = match (op, lt, rt) {
            (Add | Sub, t, LogicalType::Interval) if time(t) => (l, interval_of(&r, op == Sub)?),
            (Add, LogicalType::Interval, t) if time(t) => (r, interval_of(&l, false)?),
            (Add | Sub, LogicalType::Interval, LogicalType::Interval) => {
                let (a, b) = (interval_of(&l, false)?, interval_of(&r, op == Sub)?);
                let sum = add_intervals(a, b).ok_or_else(interval_overflow)?;
                return Ok(Expr::constant(Value::Interval(sum), LogicalType::Interval));
            }
            (Mul, LogicalType::Interval, _) | (Mul, _, LogicalType::Interval) => {
                let (i, n) = if lt == LogicalType::Interval {
                    (l, r)
                } else {
                    (r, l)
                };
                return multiply_interval(&i, &n);
            }
            _ => return Err(no_operator(op.symbol(), lt, rt)),
        };
        let whole_days = interval.micros == 0;
        let ty = if value.ty == LogicalType::Date && whole_days {
            LogicalType::Date
        } else {
            LogicalType::Timestamp
        };
        let value = self.cast(value, ty)?;
        Ok(add_interval(value, interval, ty))
    }

    /// Date plus whole days, as integer arithmetic.
    pub fn date_plus_days(&self, value: Expr, days: Expr, minus: bool) -> Result<Expr> {
        let Some(Value::Int(n)) = constant_of(&days) else {
            return Err(Error::unsupported(
                "adding a number of days that is no constant to a date",
            ));
        };
        let n = if minus { -*n } else { *n };
        let days =
            i32::try_from(n).map_err(|_| Error::new(SqlState::DATETIME_OVERFLOW, "date out of range"))?;
        let value = self.cast(value, LogicalType::Date)?;
        let interval = Interval {
            days,
            ..Interval::default()
        };
        Ok(add_interval(value, interval, LogicalType::Date))
    }

    /// Unary minus.
    pub fn negate(&self, e: Expr) -> Result<Expr> {
        if let Some(Value::Interval(_)) = constant_of(&e) {
            let i = interval_of(&e, true)?;
            return Ok(Expr::constant(Value::Interval(i), LogicalType::Interval));
        }
        let e = if self.is_untyped(&e) {
            self.cast(e, LogicalType::Integer)?
        } else {
            e
        };
        if !e.ty.is_numeric() {
            return Err(Error::new(
                SqlState::UNDEFINED_FUNCTION,
                format!("operator does not exist: - {}", e.ty),
            ));
        }
        match constant_of(&e) {
            Some(Value::Int(v)) if check_range(-*v, e.ty).is_ok() => {
                return Ok(Expr::constant(Value::Int(-*v), e.ty));
            }
            Some(Value::Double(v)) => return Ok(Expr::constant(Value::Double(-*v), e.ty)),
            Some(Value::Null) => return Ok(e),
            _ => {}
        }
        let (ty, nullable) = (e.ty, e.nullable);
        Ok(Expr {
            kind: ExprKind::Negate(Box::new(e)),
            ty,
            nullable,
            span: Span::NONE,
        })
    }
}

fn interval_overflow() -> Error {
    Error::new(SqlState::DATETIME_OVERFLOW, "interval out of range")
}

fn interval_of(e: &Expr, negative: bool) -> Result<Interval> {
    let Some(Value::Interval(i)) = constant_of(e) else {
        return Err(Error::unsupported("an interval that is no constant"));
    };
    if !negative {
        return Ok(*i);
    }
    let negated = || {
        Some(Interval {
            months: i.months.checked_neg()?,
            days: i.days.checked_neg()?,
            micros: i.micros.checked_neg()?,
        })
    };
    negated().ok_or_else(interval_overflow)
}

fn add_intervals(a: Interval, b: Interval) -> Option<Interval> {
    Some(Interval {
        months: a.months.checked_add(b.months)?,
        days: a.days.checked_add(b.days)?,
        micros: a.micros.checked_add(b.micros)?,
    })
}

fn multiply_interval(interval: &Expr, n: &Expr) -> Result<Expr> {
    let i = interval_of(interval, false)?;
    let Some(Value::Int(n)) = constant_of(n).filter(|_| n.ty.is_integer()) else {
        return Err(Error::unsupported(
            "an interval times anything but a whole constant",
        ));
    };
    let product = || {
        Some(Interval {
            months: i.months.checked_mul(i32::try_from(*n).ok()?)?,
            days: i.days.checked_mul(i32::try_from(*n).ok()?)?,
            micros: i.micros.checked_mul(i64::try_from(*n).ok()?)?,
        })
    };
    let product = product().ok_or_else(interval_overflow)?;
    Ok(Expr::constant(Value::Interval(product), LogicalType::Interval))
}

fn add_interval(value: Expr, interval: Interval, ty: LogicalType) -> Expr {
    if let Some(Value::Int(v)) = constant_of(&value) {
        let moved = match ty {
            LogicalType::Date => {
                date::add_interval_to_date(*v as i32, interval).map(|d| Value::Int(d.into()))
            }
            _ => date::add_interval_to_timestamp(*v as i64, interval).map(|t| Value::Int(t.into())),
        };
        if let Ok(moved) = moved {
            return Expr::constant(moved, ty);
        }
    }
    let nullable = value.nullable;
    Expr {
        kind: ExprKind::AddInterval(Box::new(value), interval),
        ty,
        nullable,
        span: Span::NONE,
    }
}

/// Folds constants; what would fail stays, so that the error is raised where the row is reached.
fn fold_arithmetic(op: ArithmeticOp, l: Expr, r: Expr, ty: LogicalType) -> Expr {
    if let (Some(a), Some(b)) = (constant_of(&l), constant_of(&r))
        && let Some(value) = evaluate(op, (a, l.ty), (b, r.ty), ty)
    {
        return Expr::constant(value, ty);
    }
    let nullable = l.nullable || r.nullable;
    Expr {
        kind: ExprKind::Arithmetic(op, Box::new(l), Box::new(r)),
        ty,
        nullable,
        span: Span::NONE,
    }
}

fn evaluate(
    op: ArithmeticOp,
    (a, at): (&Value, LogicalType),
    (b, bt): (&Value, LogicalType),
    ty: LogicalType,
) -> Option<Value> {
    use ArithmeticOp::*;
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Some(Value::Null),
        (Value::Double(a), Value::Double(b)) => {
            let v = match op {
                Add => a + b,
                Sub => a - b,
                Mul => a * b,
                Div if *b != 0.0 => a / b,
                _ => return None,
            };
            v.is_finite().then_some(Value::Double(v))
        }
        (Value::Int(a), Value::Int(b)) => {
            let v = match op {
                Add => a.checked_add(*b)?,
                Sub => a.checked_sub(*b)?,
                Mul => a.checked_mul(*b)?,
                Rem => a.checked_rem(*b)?,
                Div if ty.is_integer() => a.checked_div(*b)?,
                Div => divide(*a, at.scale()?, *b, bt.scale()?, ty.scale()?)?,
            };
            check_range(v, ty).ok()
        }
        _ => None,
    }
}

/// Quotient of decimals at a wanted scale, half away from zero.
fn divide(a: i128, sa: u8, b: i128, sb: u8, scale: u8) -> Option<i128> {
    if b == 0 {
        return None;
    }
    // a/10^sa / (b/10^sb) * 10^scale = a * 10^(scale + sb - sa) / b
    let shift = i32::from(scale) + i32::from(sb) - i32::from(sa);
    let power = |n: i32| decimal::POWERS_OF_TEN.get(n as usize).copied();
    if shift >= 0 {
        Some(decimal::divide_round(a.checked_mul(power(shift)?)?, b))
    } else {
        Some(decimal::divide_round(a, b.checked_mul(power(-shift)?)?))
    }
}

/// A constant expression's value as `ty`, for defaults and INSERT.
pub(crate) fn constant_as(e: &Expr, ty: LogicalType) -> Option<Result<Value>> {
    constant_of(e).map(|v| convert(v, e.ty, ty))
}
