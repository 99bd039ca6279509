//! Conversion of a value from one type to another.

use super::casts::{self, CastMethod};
use super::{check_range, read};
use crate::array::{self, ArrayRef, Dimension};
use crate::date::{self, MICROS_PER_DAY};
use crate::json::Json;
use crate::logical_type::MICRO_DIGITS;
use crate::numeric::Numeric;
use crate::sql_type::{oid_of, real_of_double};
use crate::{Counts, Error, Interval, LogicalType, NativeType, Order, Result, SqlState, Value, decimal};
use std::borrow::Cow;

/// What becomes of a string that is longer than char(n) or varchar(n).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastLength {
    /// It is cut, as CAST does.
    Cut,
    /// Error 22001 unless only blanks are lost, as an assignment does.
    Refuse,
}

/// Digits that an `i64` holds, whatever they are.
const DIGITS_OF_I64: usize = 18;
/// Significant digits of a double that its decimal keeps: PostgreSQL's DBL_DIG.
const DOUBLE_DIGITS: usize = 15;
/// Significant digits of a real that its decimal keeps: PostgreSQL's FLT_DIG.
const REAL_DIGITS: usize = 6;

/// The error 42846 for two types without a conversion.
pub fn cannot_cast(from: LogicalType, to: LogicalType) -> Error {
    Error::new(
        SqlState::CANNOT_COERCE,
        format!("cannot cast type {from} to {to}"),
    )
}

/// The value as `to`, as the [table of casts](super::casts) has it; NULL stays NULL, and so is the
/// time of day of an infinite timestamp. Errors 22003, 22007, 22008, 22P02,
/// 22001; 42846 where there is no cast.
pub fn cast(value: &Value, from: LogicalType, to: LogicalType, length: CastLength) -> Result<Value> {
    if value.is_null() || from == to {
        return Ok(value.clone());
    }
    let Some(cast) = casts::between(from, to) else {
        return Err(cannot_cast(from, to));
    };
    let all = to.with_all_digits();
    if all != to
        && !matches!(
            cast.method,
            CastMethod::Round | CastMethod::Keep | CastMethod::Read
        )
    {
        // What became one with all digits loses some.
        return super::cast(&super::cast(value, from, all, length)?, all, to, length);
    }
    match (cast.method, value) {
        (method, value) if is_of_numeric(method, from, to) => cast_numeric(method, value, from, to),
        (CastMethod::Keep, value) => Ok(value.clone()),
        (CastMethod::Rescale | CastMethod::MicrosToDays, Value::Int(v)) => {
            let exact = casts::exact(*v, from, to).ok_or_else(|| to.overflow())?;
            check_range(exact, to)
        }
        (CastMethod::ExactToDouble, Value::Int(v)) => {
            let mut text = String::new();
            let _ = decimal::write(&mut text, *v, from.scale().unwrap_or(0));
            Ok(Value::Double(text.parse().unwrap_or(f64::NAN)))
        }
        (CastMethod::DoubleToInteger, Value::Double(v)) => double_to_integer(*v, to),
        (CastMethod::ExactToReal, Value::Int(v)) => {
            let mut text = String::new();
            let _ = decimal::write(&mut text, *v, from.scale().unwrap_or(0));
            Ok(Value::Double(text.parse::<f32>().unwrap_or(f32::NAN).into()))
        }
        (CastMethod::DoubleToReal, Value::Double(v)) => real_of_double(*v).map(Value::Double),
        (CastMethod::DoubleToDecimal, Value::Double(v)) => {
            double_to_decimal(*v, from, to, DOUBLE_DIGITS).map(Value::Int)
        }
        (CastMethod::RealToDecimal, Value::Double(v)) => {
            double_to_decimal(*v, from, to, REAL_DIGITS).map(Value::Int)
        }
        (CastMethod::Fit, value) => to_string_type(&written(value, from), to, length),
        (CastMethod::Write, value) => to_string_type(&written(value, from), to, length),
        (CastMethod::Read, Value::Text(text)) => read(text, to),
        (CastMethod::Read, value) => read(&written(value, from), to),
        (CastMethod::Elements, Value::Bytes(bytes)) => {
            let elements = from.element().zip(to.element());
            let (from, to) = elements.ok_or_else(|| cannot_cast(from, to))?;
            let array = ArrayRef::new(bytes, from)?;
            let values = array
                .elements()
                .map(|value| super::cast(&value?, from, to, length));
            let dimensions: Vec<Dimension> = array.dimensions().collect();
            array::encode(&dimensions, &values.collect::<Result<Vec<_>>>()?, to).map(Value::Bytes)
        }
        (CastMethod::OfJson, Value::Bytes(bytes)) => of_json(bytes, to),
        (CastMethod::OidOf, Value::Bytes(bytes)) => check_range(oid_of(bytes).into(), to),
        (CastMethod::BooleanToInteger, Value::Bool(b)) => Ok(Value::Int(i128::from(*b))),
        (CastMethod::IntegerToBoolean, Value::Int(v)) => Ok(Value::Bool(*v != 0)),
        (method, value) => cast_time(method, value, from, to),
    }
}

/// As [`cast`] for a value held as bytes, which are read where they lie; `None` where the cast takes a value of its own.
pub fn cast_in_place(bytes: &[u8], from: LogicalType, to: LogicalType) -> Option<Result<Value>> {
    let cast = casts::between(from, to)?;
    (cast.method == CastMethod::OfJson && to.with_all_digits() == to).then(|| of_json(bytes, to))
}

/// True for a cast between a numeric without precision and another number.
fn is_of_numeric(method: CastMethod, from: LogicalType, to: LogicalType) -> bool {
    from.is_unscaled() != to.is_unscaled()
        && from.is_numeric()
        && to.is_numeric()
        && method != CastMethod::Keep
}

/// A number as a numeric without precision, or such a numeric as another number. Errors 22003; 0A000 for NaN.
fn cast_numeric(method: CastMethod, value: &Value, from: LogicalType, to: LogicalType) -> Result<Value> {
    match (method, value) {
        (CastMethod::ExactToNumeric, Value::Int(v)) => {
            Numeric::new(*v, from.scale().unwrap_or(0)).map(Value::from)
        }
        (CastMethod::DoubleToDecimal, Value::Double(v)) => {
            Numeric::of_double(*v, DOUBLE_DIGITS).map(Value::from)
        }
        (CastMethod::RealToDecimal, Value::Double(v)) => Numeric::of_double(*v, REAL_DIGITS).map(Value::from),
        (CastMethod::NumericToExact, Value::Bytes(bytes)) => {
            let exact = Numeric::of_bytes(bytes)?.at_scale(to.scale().unwrap_or(0));
            check_range(exact.ok_or_else(|| to.overflow())?, to)
        }
        (CastMethod::ExactToReal, Value::Bytes(bytes)) => {
            let text = Numeric::of_bytes(bytes)?.to_string();
            Ok(Value::Double(text.parse::<f32>().unwrap_or(f32::NAN).into()))
        }
        (CastMethod::ExactToDouble, Value::Bytes(bytes)) => {
            Ok(Value::Double(Numeric::of_bytes(bytes)?.to_double()))
        }
        (method, value) => Err(Error::internal(format!("{method:?} of {value:?}"))),
    }
}

/// The casts of dates and times.
fn cast_time(method: CastMethod, value: &Value, from: LogicalType, to: LogicalType) -> Result<Value> {
    match (method, value) {
        (CastMethod::Round, Value::Int(v)) => round_micros(*v as i64, to).map(|v| Value::Int(v.into())),
        (CastMethod::DayNumber, Value::Int(v)) => match date::is_finite_day(*v as i32) {
            true => Ok(value.clone()),
            false => Err(infinite_difference()),
        },
        (CastMethod::DaysToMicros, Value::Int(v)) => {
            if let Some(micros) = date::infinite_micros_of_day(*v as i32) {
                return Ok(Value::Int(micros.into()));
            }
            let micros = casts::exact(*v, from, to).ok_or_else(beyond_timestamps)?;
            check_range(micros, to).map_err(|_| beyond_timestamps())
        }
        (CastMethod::MicrosToTime, Value::Int(v)) if !date::is_finite(*v as i64) => Ok(Value::Null),
        (CastMethod::MicrosToTime, Value::Int(v)) => Ok(Value::Int(v.rem_euclid(MICROS_PER_DAY.into()))),
        (CastMethod::LocalToInstant, Value::Int(v)) => {
            let local = local_micros(*v, from).ok_or_else(beyond_timestamps)?;
            Ok(Value::Int(to.zone().instant(local)?.into()))
        }
        (CastMethod::InstantToLocal, Value::Int(v)) => {
            let local = from.zone().local(*v as i64)?;
            let infinite = date::infinite_day_of_micros(local);
            let day_number = infinite.map_or(local.div_euclid(MICROS_PER_DAY), i64::from);
            match to.info().counts {
                Counts::Days => check_range(day_number.into(), to),
                Counts::DayMicros if infinite.is_some() => Ok(Value::Null),
                Counts::DayMicros => Ok(Value::Int(local.rem_euclid(MICROS_PER_DAY).into())),
                Counts::Micros | Counts::Nothing => Ok(Value::Int(local.into())),
            }
        }
        (CastMethod::TimeToInterval, Value::Int(v)) => Ok(Value::Interval(Interval {
            micros: *v as i64,
            ..Interval::default()
        })),
        (CastMethod::IntervalToTime, Value::Interval(i)) => {
            Ok(Value::Int(i.micros.rem_euclid(MICROS_PER_DAY).into()))
        }
        (method, value) => Err(Error::internal(format!("{method:?} of {value:?}"))),
    }
}

/// The text that a value becomes. A boolean is spelled out, while in a result it is one letter; a char(1) that is a blank
/// becomes nothing.
pub fn written(value: &Value, ty: LogicalType) -> Cow<'_, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        Value::Bool(b) => Cow::Borrowed(if *b { "true" } else { "false" }),
        value => {
            let text = value.display(ty).to_string();
            match ty.order() {
                Order::WithoutBlanks => Cow::Owned(text.trim_end_matches(' ').to_owned()),
                Order::Native | Order::Span | Order::Key | Order::Absent => Cow::Owned(text),
            }
        }
    }
}

/// Microseconds of 2000-01-01, from which PostgreSQL counts: halves are rounded away from there.
const EPOCH_2000: i64 = 946_684_800_000_000;

/// An instant or a timestamp rounded to multiples of `unit` microseconds, halves away from 2000-01-01; `None` beyond 64 bits.
pub fn round_from_2000(micros: i64, unit: i64) -> Option<i64> {
    let since = micros.checked_sub(EPOCH_2000)?;
    let rounded = since.checked_abs()?.checked_add(unit / 2)? / unit * unit;
    (rounded * since.signum()).checked_add(EPOCH_2000)
}

/// Microseconds rounded to the digits of a second that their type has, those of a day half up; infinity stays. Error 22008 beyond the
/// type.
pub fn round_micros(micros: i64, ty: LogicalType) -> Result<i64> {
    let digits = ty.second_digits().unwrap_or(MICRO_DIGITS);
    if digits >= MICRO_DIGITS || !date::is_finite(micros) && !ty.is_time_of_day() {
        return Ok(micros);
    }
    let unit = 10_i64.pow(u32::from(MICRO_DIGITS - digits));
    let rounded = match ty.is_time_of_day() {
        true => (micros.checked_add(unit / 2)).map(|more| more.div_euclid(unit) * unit),
        false => round_from_2000(micros, unit),
    };
    let fits = rounded
        .filter(|v| check_range((*v).into(), ty).is_ok() && (date::is_finite(*v) || ty.is_time_of_day()));
    fits.ok_or_else(|| ty.overflow())
}

/// The boolean or number that a jsonb is, as a boolean or number; integers are rounded half away from zero. Errors 22023, 22003.
fn of_json(binary: &[u8], to: LogicalType) -> Result<Value> {
    match (Json::new(binary), to) {
        (Json::Boolean(value), to) if to.native() == NativeType::Bool => Ok(Value::Bool(value)),
        (Json::Number(digits), to) if to.is_integer() => {
            check_range(nearest(digits).ok_or_else(|| to.overflow())?, to)
        }
        (Json::Number(digits), to) if to.is_numeric() => read(digits, to),
        (json, to) => {
            let article = format!("cannot cast jsonb {} to type {}", json.kind(), to.name());
            Err(Error::new(SqlState::INVALID_PARAMETER, article))
        }
    }
}

/// The integer nearest to a number of jsonb, from zero away where two are as near; `None` beyond `i128`.
fn nearest(digits: &str) -> Option<i128> {
    let bytes = digits.as_bytes();
    if (1..=DIGITS_OF_I64).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_digit) {
        return Some(
            bytes
                .iter()
                .fold(0_i64, |v, digit| v * 10 + i64::from(digit - b'0'))
                .into(),
        );
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let away = i128::from(fraction.as_bytes().first().is_some_and(|&digit| digit >= b'5'));
    let whole: i128 = whole.parse().ok()?;
    Some(if digits.starts_with('-') {
        whole - away
    } else {
        whole + away
    })
}

/// A date or timestamp as microseconds since 1970-01-01; `None` beyond 64 bits.
fn local_micros(v: i128, from: LogicalType) -> Option<i64> {
    let unit = if from.is_day() {
        if let Some(micros) = date::infinite_micros_of_day(v as i32) {
            return Some(micros);
        }
        MICROS_PER_DAY
    } else {
        1
    };
    v.checked_mul(unit.into())?.try_into().ok()
}

/// The error of the days between dates of which one is infinite.
pub fn infinite_difference() -> Error {
    Error::new(SqlState::DATETIME_OVERFLOW, "cannot subtract infinite dates")
}

/// The error of a date whose midnight is not a timestamp.
pub fn beyond_timestamps() -> Error {
    Error::new(SqlState::DATETIME_OVERFLOW, "date out of range for timestamp")
}

/// A double as an integer, rounded half to even. Error 22003.
pub fn double_to_integer(v: f64, to: LogicalType) -> Result<Value> {
    let whole = v.round_ties_even();
    // Beyond 1e19 no integer type reaches.
    if whole.is_nan() || whole.abs() >= 1e19 {
        return Err(to.overflow());
    }
    check_range(whole as i128, to)
}

/// A double as an unscaled decimal, by so many most significant digits. Errors: 22003 for what does not fit, infinity
/// among it; 0A000 for NaN, which decimals lack.
fn double_to_decimal(v: f64, from: LogicalType, to: LogicalType, digits: usize) -> Result<i128> {
    let Some((precision, scale)) = to.decimal_digits() else {
        return Err(cannot_cast(from, to));
    };
    if v.is_nan() {
        return Err(Error::unsupported("a decimal NaN"));
    }
    if v.is_infinite() {
        return Err(to.overflow());
    }
    decimal::parse(&format!("{v:.*e}", digits - 1), precision, scale)
}

/// A text as a value of a string type. Error 22001.
pub(crate) fn to_string_type(text: &str, to: LogicalType, length: CastLength) -> Result<Value> {
    let Some(n) = to.length() else {
        return Ok(Value::Text(within(text, to).to_string()));
    };
    if !to.is_padded() {
        return fit(text, n, to, length).map(|t| Value::Text(t.to_string()));
    }
    let kept = fit(text.trim_end_matches(' '), n, to, length)?;
    Ok(match to.is_code_point() {
        true => Value::Int(kept.chars().next().map_or(32, |c| c as i128)),
        false => Value::Text(kept.trim_end_matches(' ').to_string()),
    })
}

/// The part of a text that a string type keeps: all of it but blanks at its end, of which char(n) keeps none and
/// varchar(n) as many as it has room for. 22001 where it is too long.
pub fn kept_text(text: &str, ty: LogicalType) -> Result<&str> {
    match ty.length() {
        Some(n) if ty.is_padded() => fit(text.trim_end_matches(' '), n, ty, CastLength::Refuse),
        Some(n) => fit(text, n, ty, CastLength::Refuse),
        None => Ok(within(text, ty)),
    }
}

/// The text up to the most bytes of its type, cut between two characters.
fn within(text: &str, ty: LogicalType) -> &str {
    match ty.most_bytes() {
        Some(most) if text.len() > most => &text[..text.floor_char_boundary(most)],
        Some(_) | None => text,
    }
}

fn fit(text: &str, n: u32, ty: LogicalType, length: CastLength) -> Result<&str> {
    if text.len() <= n as usize {
        return Ok(text);
    }
    let Some((at, _)) = text.char_indices().nth(n as usize) else {
        return Ok(text);
    };
    // Blanks beyond the length are cut without an error, as the SQL standard has it.
    if length == CastLength::Cut || text[at..].bytes().all(|b| b == b' ') {
        return Ok(&text[..at]);
    }
    let message = format!("value too long for type {}({n})", ty.name());
    Err(Error::new(SqlState::STRING_TRUNCATION, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONEY: LogicalType = LogicalType::Decimal {
        precision: 15,
        scale: 2,
    };

    #[test]
    fn converts_as_postgresql_does() {
        let text = |t: &str, ty| cast(&Value::Text(t.into()), LogicalType::Text, ty, CastLength::Refuse);
        assert_eq!(text("12.345", MONEY).unwrap(), Value::Int(1235));
        assert_eq!(text(" 7 ", LogicalType::Integer).unwrap(), Value::Int(7));
        assert_eq!(
            text("ab  ", LogicalType::Char(3)).unwrap(),
            Value::Text("ab".into())
        );
        assert_eq!(text("", LogicalType::Char(1)).unwrap(), Value::Int(32));
        assert_eq!(
            text("abc", LogicalType::Varchar(2)).unwrap_err().state().0,
            "22001"
        );
        let cut = cast(
            &Value::Text("abc".into()),
            LogicalType::Text,
            LogicalType::Varchar(2),
            CastLength::Cut,
        );
        assert_eq!(cut.unwrap(), Value::Text("ab".into()));
        let double = |d, ty| cast(&Value::Double(d), LogicalType::Double, ty, CastLength::Cut);
        assert_eq!(double(2.5, LogicalType::Integer).unwrap(), Value::Int(2));
        assert_eq!(double(0.125, MONEY).unwrap(), Value::Int(13));
        assert_eq!(
            double(f64::NAN, LogicalType::Integer).unwrap_err().state().0,
            "22003"
        );
        assert_eq!(double(f64::NAN, MONEY).unwrap_err().state().0, "0A000");
        let money = cast(&Value::Int(1250), MONEY, LogicalType::Double, CastLength::Cut);
        assert_eq!(money.unwrap(), Value::Double(12.5));
        let far = cast(
            &Value::Int(107_000_000),
            LogicalType::Date,
            LogicalType::TIMESTAMP,
            CastLength::Cut,
        );
        assert_eq!(far.unwrap_err().state().0, "22008");
    }
}
