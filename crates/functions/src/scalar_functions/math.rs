//! Functions of numbers.

use crate::arithmetic::numbers;
use crate::build::{constant_of, function, is_null_constant, null};
use crate::convert::{as_double, convert, decimal, digits};
use crate::function::{Function, Overload, Run, build, functions};
use crate::numeric;
use crate::type_rules::Kind::{BigInt, Double, Integer, Numeric, Real, SmallInt};
use crate::vector::{OnNull, Output, Row, RowFn, rows};
use frazil_plan::{Expr, ScalarFunction};
use frazil_types::decimal::{POWERS_OF_TEN, divide_round};
use frazil_types::numeric::Numeric as Number;
use frazil_types::value_ops::{ArithmeticOp, CastLength};
use frazil_types::{Error, LogicalType, Result, SqlState, Value};

/// A function of a double that gives a double.
pub(super) const fn doubles(f: RowFn) -> Overload {
    Overload {
        parameters: &[Double],
        run: Run::Rows(f, Double),
    }
}

/// The same of two.
pub(super) const fn pairs(f: RowFn) -> Overload {
    Overload {
        parameters: &[Double, Double],
        run: Run::Rows(f, Double),
    }
}

const fn plan(f: ScalarFunction) -> Overload {
    Overload {
        parameters: &[Double],
        run: Run::Plan(f, Double),
    }
}

const POWER: [Overload; 1] = [Overload {
    parameters: &[Double, Double],
    run: Run::Plan(ScalarFunction::Power, Double),
}];
const CEIL: [Overload; 5] = whole(ceil);
const FLOOR: [Overload; 5] = whole(floor);

const fn whole(f: fn(Vec<Expr>) -> Result<Expr>) -> [Overload; 5] {
    [
        build(&[SmallInt], same, SmallInt),
        build(&[Integer], same, Integer),
        build(&[BigInt], same, BigInt),
        build(&[Numeric], f, Numeric),
        build(&[Double], f, Double),
    ]
}

pub(super) const FUNCTIONS: &[Function] = functions! {
    "abs", [
        build(&[SmallInt], abs, SmallInt),
        build(&[Integer], abs, Integer),
        build(&[BigInt], abs, BigInt),
        build(&[Numeric], abs, Numeric),
        build(&[Real], abs, Real),
        build(&[Double], abs, Double),
    ], "the absolute value";
    "acos", [doubles(|r, o| domain(r, o, f64::acos, -1.0..=1.0))], "arc cosine, in radians";
    "acosh", [doubles(|r, o| domain(r, o, f64::acosh, 1.0..=f64::INFINITY))], "inverse hyperbolic cosine";
    "asin", [doubles(|r, o| domain(r, o, f64::asin, -1.0..=1.0))], "arc sine, in radians";
    "asinh", [doubles(|r, o| o.double(r.double(0).asinh()))], "inverse hyperbolic sine";
    "atan", [doubles(|r, o| o.double(r.double(0).atan()))], "arc tangent, in radians";
    "atan2", [Overload { parameters: &[Double, Double],
        run: Run::Rows(|r, o| o.double(r.double(0).atan2(r.double(1))), Double) }],
        "arc tangent of a quotient, in radians";
    "atanh", [doubles(|r, o| domain(r, o, f64::atanh, -1.0..=1.0))], "inverse hyperbolic tangent";
    "cbrt", [doubles(|r, o| o.double(r.double(0).cbrt()))], "cube root";
    "ceil", CEIL, "the least integer that is not less";
    "ceiling", CEIL, "the least integer that is not less";
    "cos", [doubles(|r, o| finite(r, o, f64::cos))], "cosine of radians";
    "cosh", [doubles(|r, o| o.double(r.double(0).cosh()))], "hyperbolic cosine";
    "cot", [doubles(|r, o| finite(r, o, |v| 1.0 / v.tan()))], "cotangent of radians";
    "degrees", [doubles(|r, o| checked(r, o, f64::to_degrees))], "radians as degrees";
    "div", [build(&[Numeric, Numeric], div, Numeric)], "the integer quotient, truncated towards zero";
    "exp", [plan(ScalarFunction::Exp)], "e to a power";
    "factorial", [build(&[BigInt], factorial, Numeric)], "the product of all numbers up to one";
    "floor", FLOOR, "the greatest integer that is not greater";
    "gcd", [
        Overload { parameters: &[Integer, Integer], run: Run::Rows(gcd, Integer) },
        Overload { parameters: &[BigInt, BigInt], run: Run::Rows(gcd, BigInt) },
        build(&[Numeric, Numeric], numeric_gcd, Numeric),
    ], "the greatest common divisor";
    "lcm", [
        Overload { parameters: &[Integer, Integer], run: Run::Rows(lcm, Integer) },
        Overload { parameters: &[BigInt, BigInt], run: Run::Rows(lcm, BigInt) },
        build(&[Numeric, Numeric], numeric_lcm, Numeric),
    ], "the least common multiple";
    "ln", [plan(ScalarFunction::Ln)], "natural logarithm";
    "log", [doubles(log10), build(&[Numeric, Numeric], log, Double)],
        "logarithm to base 10, or of the second argument to the base of the first";
    "log10", [doubles(log10)], "logarithm to base 10";
    "min_scale", [Overload { parameters: &[Numeric], run: Run::Rows(min_scale, Integer) }],
        "the number of digits after the point without trailing zeros";
    "mod", [
        build(&[SmallInt, SmallInt], modulo, SmallInt),
        build(&[Integer, Integer], modulo, Integer),
        build(&[BigInt, BigInt], modulo, BigInt),
        build(&[Numeric, Numeric], modulo, Numeric),
    ], "the remainder of a division, with the sign of the dividend";
    "pi", [Overload { parameters: &[], run: Run::Rows(|_, o| o.double(std::f64::consts::PI), Double) }],
        "π";
    "pow", POWER, "the first argument to the power of the second";
    "power", POWER, "the first argument to the power of the second";
    "radians", [doubles(|r, o| o.double(r.double(0).to_radians()))], "degrees as radians";
    "round", [
        build(&[SmallInt], same, SmallInt),
        build(&[Integer], same, Integer),
        build(&[BigInt], same, BigInt),
        build(&[Numeric], round, Numeric),
        build(&[Double], round, Double),
        build(&[Numeric, Integer], round_to, Numeric),
    ], "the number rounded to n digits after the point: decimals half away from zero, doubles half to even";
    "scale", [Overload { parameters: &[Numeric], run: Run::Rows(|r, o| o.int(r.numeric(0)?.scale().into()), Integer) }],
        "the number of digits after the point";
    "sign", [build(&[Numeric], sign, Numeric), doubles(|r, o| {
        let v = r.double(0);
        o.double(if v > 0.0 { 1.0 } else if v < 0.0 { -1.0 } else { 0.0 })
    })], "−1, 0 or 1";
    "sin", [doubles(|r, o| finite(r, o, f64::sin))], "sine of radians";
    "sinh", [doubles(|r, o| o.double(r.double(0).sinh()))], "hyperbolic sine";
    "sqrt", [plan(ScalarFunction::Sqrt)], "square root";
    "tan", [doubles(|r, o| finite(r, o, f64::tan))], "tangent of radians";
    "tanh", [doubles(|r, o| o.double(r.double(0).tanh()))], "hyperbolic tangent";
    "trim_scale", [build(&[Numeric], trim_scale, Numeric)],
        "the number without trailing zeros after the point";
    "trunc", [
        build(&[Numeric], truncate, Numeric),
        build(&[Numeric, Integer], truncate_to, Numeric),
        doubles(|r, o| o.double(r.double(0).trunc())),
    ], "the number truncated to n digits after the point";
    "width_bucket", [
        Overload { parameters: &[Numeric, Numeric, Numeric, Integer], run: Run::Rows(decimal_bucket, Integer) },
        Overload { parameters: &[Double, Double, Double, Integer], run: Run::Rows(double_bucket, Integer) },
    ], "the number of the bucket of a value, for n equal buckets between two bounds; 0 below and n + 1 above them";
};

/// The type of whole numbers of any length.
const WHOLE: LogicalType = LogicalType::widest_exact(0);

fn factorial(arguments: Vec<Expr>) -> Result<Expr> {
    Ok(rows("factorial", OnNull::Null, product_up_to, arguments, WHOLE))
}

/// Error 22003 for negative numbers and results of more than 38 digits.
fn product_up_to(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let n = row.wide(0);
    if n < 0 {
        return Err(out_of_range("factorial of a negative number is undefined"));
    }
    // 34! has 39 digits.
    let product = (1..=n.min(34)).try_fold(1_i128, |product, k| product.checked_mul(k));
    out.int(product.filter(|_| n < 34).ok_or_else(|| WHOLE.overflow())?)
}

fn min_scale(row: &Row<'_>, out: &mut Output) -> Result<()> {
    out.int(row.numeric(0)?.trimmed().scale().into())
}

/// Errors 2201G for what makes no parts.
fn checked_parts(count: i64, is_empty: bool) -> Result<()> {
    let refused = |message: &str| Err(Error::new(SqlState("2201G"), message));
    match (count <= 0, is_empty) {
        (true, _) => refused("count must be greater than zero"),
        (_, true) => refused("lower bound cannot equal upper bound"),
        (false, false) => Ok(()),
    }
}

fn decimal_bucket(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let bounds = [row.numeric(0)?, row.numeric(1)?, row.numeric(2)?];
    let scale = bounds.iter().map(|bound| bound.scale()).max().unwrap_or(0);
    let at = |i: usize| bounds[i].at_scale(scale);
    let beyond = || out_of_range("numeric field overflow");
    let (mut v, mut from, mut to) = (
        at(0).ok_or_else(beyond)?,
        at(1).ok_or_else(beyond)?,
        at(2).ok_or_else(beyond)?,
    );
    let count = row.int(3);
    checked_parts(count, from == to)?;
    if from > to {
        // Turned round, parts are still counted from the first bound.
        (v, from, to) = (-v, -from, -to);
    }
    let bucket = match v {
        v if v < from => 0,
        v if v >= to => i128::from(count) + 1,
        v => (v - from).checked_mul(count.into()).ok_or_else(beyond)? / (to - from) + 1,
    };
    out.int(bucket)
}

fn double_bucket(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (mut v, mut from, mut to, count) = (row.double(0), row.double(1), row.double(2), row.int(3));
    if [v, from, to].iter().any(|x| x.is_nan()) {
        let message = "operand, lower bound, and upper bound cannot be NaN";
        return Err(Error::new(SqlState("2201G"), message));
    }
    if from.is_infinite() || to.is_infinite() {
        return Err(Error::new(
            SqlState("2201G"),
            "lower and upper bounds must be finite",
        ));
    }
    checked_parts(count, from == to)?;
    if from > to {
        (v, from, to) = (-v, -from, -to);
    }
    let bucket = match v {
        v if v < from => 0,
        v if v >= to => i128::from(count) + 1,
        v => ((v - from) / (to - from) * count as f64) as i128 + 1,
    };
    out.int(bucket)
}

fn one(mut arguments: Vec<Expr>) -> Result<Expr> {
    arguments
        .pop()
        .ok_or_else(|| Error::internal("a function without its argument"))
}

fn two(mut arguments: Vec<Expr>) -> Result<(Expr, Expr)> {
    let second = arguments.pop();
    let pair = arguments.pop().zip(second);
    pair.ok_or_else(|| Error::internal("a function without its arguments"))
}

fn same(arguments: Vec<Expr>) -> Result<Expr> {
    one(arguments)
}

fn inline(f: ScalarFunction, e: Expr, ty: LogicalType) -> Expr {
    if is_null_constant(&e) {
        null(ty)
    } else {
        function(f, vec![e], ty)
    }
}

fn abs(arguments: Vec<Expr>) -> Result<Expr> {
    let e = one(arguments)?;
    if e.ty.is_unscaled() {
        return Ok(numeric::of(
            "abs",
            |r, o| numeric::one(r, o, Number::abs),
            vec![e],
        ));
    }
    let ty = e.ty;
    Ok(inline(ScalarFunction::Abs, e, ty))
}

fn whole_type(ty: LogicalType) -> LogicalType {
    let (precision, scale) = digits(ty);
    if ty.is_float() {
        ty
    } else {
        decimal(precision - scale + u8::from(scale > 0), 0)
    }
}

fn ceil(arguments: Vec<Expr>) -> Result<Expr> {
    let e = one(arguments)?;
    if e.ty.is_unscaled() {
        return Ok(inline(ScalarFunction::CeilToScale, e, WHOLE));
    }
    let ty = whole_type(e.ty);
    Ok(inline(ScalarFunction::Ceil, e, ty))
}

fn floor(arguments: Vec<Expr>) -> Result<Expr> {
    let e = one(arguments)?;
    if e.ty.is_unscaled() {
        return Ok(inline(ScalarFunction::FloorToScale, e, WHOLE));
    }
    let ty = whole_type(e.ty);
    Ok(inline(ScalarFunction::Floor, e, ty))
}

fn round(arguments: Vec<Expr>) -> Result<Expr> {
    let e = one(arguments)?;
    if e.ty.is_unscaled() {
        return round_to(vec![e, Expr::literal(Value::Int(0))]);
    }
    let ty = whole_type(e.ty);
    if ty.is_float() {
        return Ok(inline(ScalarFunction::Round, e, ty));
    }
    // Half away from zero, which is what a cast to fewer digits does.
    Ok(convert(e, ty, CastLength::Refuse))
}

/// Digits after the point up to which a numeric is rounded to a decimal, which then has room for at least 30 digits
/// before the point.
const FEW_DIGITS: i128 = 8;

/// Digits after the point that are left of a value: as many as a constant asks for and the value has, none if it asks for fewer than
/// none; all where rows ask.
fn kept_digits(value: &Expr, wanted: &Expr) -> u8 {
    let scale = value.ty.scale().unwrap_or(0);
    match constant_of(wanted) {
        Some(Value::Int(n)) => scale.min((*n).clamp(0, 38) as u8),
        _ => scale,
    }
}

fn round_to(arguments: Vec<Expr>) -> Result<Expr> {
    let (value, wanted) = two(arguments)?;
    if value.ty.is_unscaled() {
        if let Some(Value::Int(n @ 0..=FEW_DIGITS)) = constant_of(&wanted) {
            return Ok(convert(
                value,
                LogicalType::widest_exact(*n as u8),
                CastLength::Refuse,
            ));
        }
        let run: RowFn = |r, o| numeric::with_digits(r, o, Number::rounded);
        return Ok(numeric::of("round", run, vec![value, wanted]));
    }
    let (precision, scale) = digits(value.ty);
    let kept = kept_digits(&value, &wanted);
    if matches!(constant_of(&wanted), Some(Value::Int(n)) if *n >= 0) {
        let ty = decimal(precision - scale + kept + u8::from(kept < scale), kept);
        return Ok(convert(value, ty, CastLength::Refuse));
    }
    let ty = decimal((precision - scale + kept).saturating_add(1), kept);
    Ok(rows(
        "round",
        OnNull::Null,
        |r, o| to_digits(r, o, divide_round),
        vec![value, wanted],
        ty,
    ))
}

fn truncate(arguments: Vec<Expr>) -> Result<Expr> {
    let value = one(arguments)?;
    truncate_to(vec![value, Expr::literal(Value::Int(0))])
}

fn truncate_to(arguments: Vec<Expr>) -> Result<Expr> {
    let (value, wanted) = two(arguments)?;
    if value.ty.is_unscaled() {
        let run: RowFn = |r, o| numeric::with_digits(r, o, Number::truncated);
        return Ok(numeric::of("trunc", run, vec![value, wanted]));
    }
    let (precision, scale) = digits(value.ty);
    let kept = kept_digits(&value, &wanted);
    let ty = decimal(precision - scale + kept, kept);
    Ok(rows(
        "trunc",
        OnNull::Null,
        |r, o| to_digits(r, o, |v, power| v / power),
        vec![value, wanted],
        ty,
    ))
}

fn trim_scale(arguments: Vec<Expr>) -> Result<Expr> {
    let run: RowFn = |r, o| numeric::one(r, o, Number::trimmed);
    Ok(numeric::of("trim_scale", run, vec![one(arguments)?]))
}

/// A decimal cut to so many digits after the point, perhaps fewer than none, by `divide`.
fn to_digits(row: &Row<'_>, out: &mut Output, divide: fn(i128, i128) -> i128) -> Result<()> {
    let (from, to) = (row.ty(0).scale().unwrap_or(0), out.ty().scale().unwrap_or(0));
    let wanted = row.int(1).clamp(-38, i64::from(from));
    let value = match usize::try_from(i64::from(from) - wanted) {
        Ok(drop @ 0..=38) => divide(row.wide(0), POWERS_OF_TEN[drop]) * POWERS_OF_TEN[drop],
        _ => 0,
    };
    let rescaled = frazil_types::decimal::rescale(value, from, to);
    out.int(rescaled.ok_or_else(|| frazil_types::decimal::overflow(38, to))?)
}

fn modulo(arguments: Vec<Expr>) -> Result<Expr> {
    let (l, r) = two(arguments)?;
    Ok(numbers(ArithmeticOp::Rem, l, r))
}

fn div(arguments: Vec<Expr>) -> Result<Expr> {
    let (l, r) = two(arguments)?;
    if l.ty.is_unscaled() || r.ty.is_unscaled() {
        let run: RowFn = |row, out| numeric::pair(row, out, Number::whole_quotient);
        return Ok(numeric::of("div", run, vec![l, r]));
    }
    let (precision, scale) = digits(l.ty);
    let ty = decimal((precision - scale).saturating_add(r.ty.scale().unwrap_or(0)), 0);
    let run: RowFn = |row, out| {
        let scale = |i: usize| row.ty(i).scale().unwrap_or(0);
        if row.wide(1) == 0 {
            return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
        }
        let common = scale(0).max(scale(1));
        let at = |i: usize| {
            frazil_types::decimal::rescale(row.wide(i), scale(i), common)
                .ok_or_else(|| frazil_types::decimal::overflow(38, 0))
        };
        out.int(at(0)? / at(1)?)
    };
    Ok(rows("div", OnNull::Null, run, vec![l, r], ty))
}

fn sign(arguments: Vec<Expr>) -> Result<Expr> {
    let run: RowFn = |row, out| out.int(row.numeric(0)?.coefficient().signum());
    Ok(rows(
        "sign",
        OnNull::Null,
        run,
        vec![one(arguments)?],
        decimal(1, 0),
    ))
}

fn out_of_range(message: &str) -> Error {
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
}

fn domain(
    row: &Row<'_>,
    out: &mut Output,
    f: fn(f64) -> f64,
    range: std::ops::RangeInclusive<f64>,
) -> Result<()> {
    let v = row.double(0);
    if !v.is_nan() && !range.contains(&v) {
        return Err(out_of_range("input is out of range"));
    }
    out.double(f(v))
}

fn finite(row: &Row<'_>, out: &mut Output, f: fn(f64) -> f64) -> Result<()> {
    let v = row.double(0);
    if v.is_infinite() {
        return Err(out_of_range("input is out of range"));
    }
    out.double(f(v))
}

fn checked(row: &Row<'_>, out: &mut Output, f: fn(f64) -> f64) -> Result<()> {
    let (v, result) = (row.double(0), f(row.double(0)));
    if result.is_infinite() && v.is_finite() {
        return Err(out_of_range("value out of range: overflow"));
    }
    out.double(result)
}

fn logarithm_domain(v: f64) -> Result<()> {
    let error = |message| Err(Error::new(SqlState::INVALID_LOGARITHM, message));
    match v {
        0.0 => error("cannot take logarithm of zero"),
        v if v < 0.0 => error("cannot take logarithm of a negative number"),
        _ => Ok(()),
    }
}

fn log10(row: &Row<'_>, out: &mut Output) -> Result<()> {
    logarithm_domain(row.double(0))?;
    out.double(row.double(0).log10())
}

/// log(base, value).
fn log(arguments: Vec<Expr>) -> Result<Expr> {
    let arguments: Vec<Expr> = arguments.into_iter().map(as_double).collect();
    let double = arguments[0].ty;
    Ok(rows("log", OnNull::Null, log_of_base, arguments, double))
}

fn log_of_base(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (base, v) = (row.double(0), row.double(1));
    logarithm_domain(base)?;
    logarithm_domain(v)?;
    if base == 1.0 {
        return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
    }
    out.double(v.ln() / base.ln())
}

fn divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn gcd(row: &Row<'_>, out: &mut Output) -> Result<()> {
    out.int(divisor(row.wide(0), row.wide(1)))
}

fn lcm(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (a, b) = (row.wide(0), row.wide(1));
    if a == 0 || b == 0 {
        return out.int(0);
    }
    out.int((a / divisor(a, b) * b).abs())
}

fn numeric_gcd(arguments: Vec<Expr>) -> Result<Expr> {
    let (a, b) = two(arguments)?;
    let run: RowFn = |r, o| numeric::pair(r, o, Number::greatest_divisor);
    Ok(numeric::of("gcd", run, vec![a, b]))
}

fn numeric_lcm(arguments: Vec<Expr>) -> Result<Expr> {
    let (a, b) = two(arguments)?;
    let run: RowFn = |r, o| numeric::pair(r, o, Number::least_multiple);
    Ok(numeric::of("lcm", run, vec![a, b]))
}
