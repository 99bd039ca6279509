//! Arithmetic: result types, the casts they need, and folding of constants.

use crate::build::constant_of;
use crate::convert::{WIDEST, as_double, as_integer, convert, decimal, digits};
use crate::numeric::{of, one};
use crate::vector::{OnNull, Output, Row, rows};
use frazil_plan::{Expr, ExprKind};
use frazil_types::date;
use frazil_types::numeric::Numeric;
use frazil_types::value_ops::{self, ArithmeticOp, CastLength, Divide};
use frazil_types::{Error, Interval, LogicalType, NativeType, Result, SqlState, Value};

/// Digits after the point of a product that is rounded: 16 significant digits of every value from 0.0001 on.
const WANTED_SCALE: u8 = 20;
/// Digits after the point up to which products are exact, whatever the digits before it.
const PRODUCT_SCALE: u8 = 28;

/// The narrowest decimal type of an exact constant, so that `1 - l_discount` stays narrow.
fn exact_type(e: &Expr) -> LogicalType {
    match (constant_of(e), e.ty.scale()) {
        (Some(Value::Int(v)), Some(scale)) => {
            let count = v.unsigned_abs().checked_ilog10().map_or(1, |n| n as u8 + 1);
            decimal(count.max(scale), scale)
        }
        _ => {
            let (precision, scale) = digits(e.ty);
            decimal(precision, scale)
        }
    }
}

/// `l op r` of two numbers of one kind; integers and doubles have the kind's type already.
pub(crate) fn numbers(op: ArithmeticOp, l: Expr, r: Expr) -> Expr {
    if l.ty == r.ty && l.ty.is_integer() {
        let ty = l.ty;
        return fold(op, l, r, ty);
    }
    if l.ty.native() == NativeType::F64 {
        return reals(op, l, r);
    }
    if op == ArithmeticOp::Div || l.ty.is_unscaled() || r.ty.is_unscaled() {
        return numeric(op, l, r);
    }
    let (lt, rt) = (exact_type(&l), exact_type(&r));
    let ((pl, sl), (pr, sr)) = (digits(lt), digits(rt));
    match op {
        ArithmeticOp::Add | ArithmeticOp::Sub | ArithmeticOp::Rem => {
            let scale = sl.max(sr);
            let whole = (pl - sl).max(pr - sr);
            if op == ArithmeticOp::Rem && sl != sr && whole + scale > WIDEST {
                let ty = decimal(WIDEST, scale);
                return rows("%", OnNull::Null, remainder, vec![l, r], ty);
            }
            let carry = u8::from(op != ArithmeticOp::Rem);
            let rescaled = |e: Expr, p: u8, s: u8| {
                let is_decimal = e.ty.decimal_digits().is_some();
                if is_decimal && e.ty.scale() == Some(scale) {
                    return e;
                }
                convert(e, decimal(p - s + scale, scale), CastLength::Refuse)
            };
            fold(
                op,
                rescaled(l, pl, sl),
                rescaled(r, pr, sr),
                decimal(whole + scale + carry, scale),
            )
        }
        ArithmeticOp::Mul => {
            let (l, r) = (
                convert(l, lt, CastLength::Refuse),
                convert(r, rt, CastLength::Refuse),
            );
            if sl + sr > PRODUCT_SCALE && pl + pr > WIDEST {
                let ty = decimal(WIDEST, WANTED_SCALE.max(sl).max(sr));
                return rows("multiply", OnNull::Null, multiply_rounded, vec![l, r], ty);
            }
            fold(op, l, r, decimal(pl + pr, sl + sr))
        }
        ArithmeticOp::Div => numeric(op, l, r),
    }
}

/// `l op r` of exact numbers of any types, integers among them, as a numeric.
pub(crate) fn numeric(op: ArithmeticOp, l: Expr, r: Expr) -> Expr {
    fold(op, l, r, LogicalType::Numeric)
}

/// Two numbers of which one is real at least: those of doubles, rounded where both are real. A sum, product or quotient of reals
/// that is rounded twice is the one that is rounded once, because a double has more than twice a real's digits.
fn reals(op: ArithmeticOp, l: Expr, r: Expr) -> Expr {
    let own = (l.ty == r.ty).then_some(l.ty);
    let (l, r) = (as_double(l), as_double(r));
    let double = l.ty;
    let exact = fold(op, l, r, double);
    convert(exact, own.unwrap_or(double), CastLength::Refuse)
}

fn remainder(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let at = |i: usize| (row.wide(i), row.ty(i).scale().unwrap_or(0));
    if row.wide(1) == 0 {
        return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
    }
    out.int(value_ops::remainder(at(0), at(1)))
}

fn multiply_rounded(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let scale = out.ty().scale().unwrap_or(0);
    let drop = (row.ty(0).scale().unwrap_or(0) + row.ty(1).scale().unwrap_or(0)).saturating_sub(scale);
    let product = value_ops::multiply_round(row.wide(0), row.wide(1), drop);
    out.int(product.ok_or_else(|| frazil_types::decimal::overflow(WIDEST, scale))?)
}

/// Folds constants; what would fail stays, so that the error is raised where the row is reached.
fn fold(op: ArithmeticOp, l: Expr, r: Expr, ty: LogicalType) -> Expr {
    if let (Some(a), Some(b)) = (constant_of(&l), constant_of(&r))
        && let Ok(value) = value_ops::arithmetic(op, (a, l.ty), (b, r.ty), ty)
    {
        return Expr::constant(value, ty);
    }
    let nullable = l.nullable || r.nullable;
    Expr::new(ExprKind::Arithmetic(op, Box::new(l), Box::new(r)), ty, nullable)
}

/// −e. A literal beyond its type comes back into it: −2147483648 is an integer.
pub(crate) fn negate(e: Expr) -> Expr {
    let (ty, nullable) = (e.ty, e.nullable);
    if let Some(value) = constant_of(&e)
        && let Ok(value) = value_ops::negate(value, ty)
    {
        let least = match (ty.is_integer(), ty.scale()) {
            (true, _) => Some(i128::from(i32::MIN)),
            (false, Some(0)) => Some(i128::from(i64::MIN)),
            (false, _) => None,
        };
        let narrower = match &value {
            Value::Int(v) if Some(*v) == least => LogicalType::of_value(&value),
            _ => ty,
        };
        return Expr::constant(value, narrower);
    }
    if ty.is_unscaled() {
        return of("-", |row, out| one(row, out, Numeric::negated), vec![e]);
    }
    if ty.is_span() {
        return rows(
            "-",
            OnNull::Null,
            |row, out| out.interval(value_ops::negate_interval(row.interval(0))?),
            vec![e],
            ty,
        );
    }
    Expr::new(ExprKind::Negate(Box::new(e)), ty, nullable)
}

// --- dates and intervals -----------------------------------------------------------------------

/// Days between two dates.
pub(crate) fn date_difference(l: Expr, r: Expr) -> Expr {
    let (l, r) = (as_integer(l), as_integer(r));
    let days = l.ty;
    fold(ArithmeticOp::Sub, l, r, days)
}

/// The sign of what is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Plus,
    Minus,
}

/// A date moved by whole days.
pub(crate) fn date_plus_days(value: Expr, days: Expr, sign: Sign) -> Expr {
    if let Some(Value::Int(n)) = constant_of(&days) {
        let n = if sign == Sign::Minus { -*n } else { *n };
        if let Ok(days) = i32::try_from(n) {
            let interval = Interval {
                days,
                ..Interval::default()
            };
            let date = value.ty;
            return add_interval(value, interval, date);
        }
    }
    let run = match sign {
        Sign::Plus => |row: &Row<'_>, out: &mut Output| moved(row.int(0), row.int(1), out),
        Sign::Minus => |row: &Row<'_>, out: &mut Output| moved(row.int(0), -row.int(1), out),
    };
    let (name, date) = (if sign == Sign::Plus { "+" } else { "-" }, value.ty);
    rows(name, OnNull::Null, run, vec![value, days], date)
}

fn moved(date: i64, days: i64, out: &mut Output) -> Result<()> {
    let days =
        i32::try_from(days).map_err(|_| Error::new(SqlState::DATETIME_OVERFLOW, "date out of range"))?;
    let interval = Interval {
        days,
        ..Interval::default()
    };
    out.int(date::add_interval_to_date(date as i32, interval)?.into())
}

/// A date or timestamp and an interval: a timestamp, or an instant.
pub(crate) fn plus_interval(value: Expr, interval: Expr, sign: Sign) -> Expr {
    if value.ty.is_zoned() {
        let run = match sign {
            Sign::Plus => |row: &Row<'_>, out: &mut Output| instant_plus(row.int(0), row.interval(1), out),
            Sign::Minus => |row: &Row<'_>, out: &mut Output| {
                instant_plus(row.int(0), value_ops::negate_interval(row.interval(1))?, out)
            },
        };
        let (name, ty) = (if sign == Sign::Plus { "+" } else { "-" }, value.ty);
        return rows(name, OnNull::Null, run, vec![value, interval], ty);
    }
    if let Some(Value::Interval(i)) = constant_of(&interval) {
        let i = match sign {
            Sign::Plus => Ok(*i),
            Sign::Minus => value_ops::negate_interval(*i),
        };
        if let Ok(i) = i {
            let ty = LogicalType::TIMESTAMP;
            return add_interval(convert(value, ty, CastLength::Refuse), i, ty);
        }
    }
    let value = convert(value, LogicalType::TIMESTAMP, CastLength::Refuse);
    let run = match sign {
        Sign::Plus => |row: &Row<'_>, out: &mut Output| {
            out.int(date::add_interval_to_timestamp(row.int(0), row.interval(1))?.into())
        },
        Sign::Minus => |row: &Row<'_>, out: &mut Output| {
            let interval = value_ops::negate_interval(row.interval(1))?;
            out.int(date::add_interval_to_timestamp(row.int(0), interval)?.into())
        },
    };
    let name = if sign == Sign::Plus { "+" } else { "-" };
    rows(
        name,
        OnNull::Null,
        run,
        vec![value, interval],
        LogicalType::TIMESTAMP,
    )
}

/// An instant moved by an interval: months and days by the zone's calendar, the rest by what has gone by.
fn instant_plus(instant: i64, interval: Interval, out: &mut Output) -> Result<()> {
    out.int(date::add_interval_to_instant(instant, interval, out.ty().zone())?.into())
}

fn add_interval(value: Expr, interval: Interval, ty: LogicalType) -> Expr {
    if let Some(v) = constant_of(&value)
        && let Ok(moved) = value_ops::add_interval(v, value.ty, interval, ty)
    {
        return Expr::constant(moved, ty);
    }
    let nullable = value.nullable;
    Expr::new(ExprKind::AddInterval(Box::new(value), interval), ty, nullable)
}

/// The sum or difference of two intervals.
pub(crate) fn add_intervals(l: Expr, r: Expr, sign: Sign) -> Expr {
    let run = match sign {
        Sign::Plus => |row: &Row<'_>, out: &mut Output| {
            out.interval(value_ops::add_intervals(row.interval(0), row.interval(1))?)
        },
        Sign::Minus => |row: &Row<'_>, out: &mut Output| {
            let negated = value_ops::negate_interval(row.interval(1))?;
            out.interval(value_ops::add_intervals(row.interval(0), negated)?)
        },
    };
    let name = if sign == Sign::Plus { "+" } else { "-" };
    let ty = l.ty;
    rows(name, OnNull::Null, run, vec![l, r], ty)
}

/// An interval times or by a double.
pub(crate) fn scale_interval(interval: Expr, factor: Expr, divide: Divide) -> Expr {
    let (name, run) = match divide {
        Divide::No => (
            "*",
            (|row, out| {
                out.interval(value_ops::multiply_interval(
                    row.interval(0),
                    row.double(1),
                    Divide::No,
                )?)
            }) as fn(&Row<'_>, &mut Output) -> Result<()>,
        ),
        Divide::Yes => (
            "/",
            (|row, out| {
                out.interval(value_ops::multiply_interval(
                    row.interval(0),
                    row.double(1),
                    Divide::Yes,
                )?)
            }) as fn(&Row<'_>, &mut Output) -> Result<()>,
        ),
    };
    let ty = interval.ty;
    rows(name, OnNull::Null, run, vec![interval, factor], ty)
}

/// The interval between two timestamps.
pub(crate) fn timestamp_difference(l: Expr, r: Expr) -> Expr {
    rows(
        "-",
        OnNull::Null,
        |row, out| out.interval(value_ops::timestamp_difference(row.int(0), row.int(1))?),
        vec![l, r],
        LogicalType::of_value(&Value::Interval(Interval::default())),
    )
}
