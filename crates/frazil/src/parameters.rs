//! Values given for `$1`, `$2` and so on, made values of the types the statement wants.

use frazil_frontend::HiddenParameter;
use frazil_types::date::MICROS_PER_DAY;
use frazil_types::value_ops::casts::{self, CastContext};
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{DocumentForm, Error, LogicalType, Result, SqlState, Value};
use frazil_types::{array, json};
use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// The value as one of type `ty`: as what is assigned to a column, and a text as what it shows. 42804 where there is no such
/// cast; the errors of the cast; 22P02 for a fraction where a whole number is wanted; 22021 for a text that holds character 0.
pub fn convert(value: &Value, ty: LogicalType) -> Result<Value> {
    if holds_zero(value) {
        return Err(Error::new(
            SqlState::CHARACTER_NOT_IN_REPERTOIRE,
            "invalid byte sequence for encoding \"UTF8\": 0x00",
        ));
    }
    if let (Value::Bytes(bytes), Some(element)) = (value, ty.element()) {
        array::check(bytes, element)?;
        return Ok(value.clone());
    }
    if let (Value::Bytes(bytes), Some(form)) = (value, ty.document()) {
        match (form, std::str::from_utf8(bytes)) {
            (DocumentForm::Text, Ok(text)) => json::check(text)?,
            _ => json::check_binary(bytes)?,
        }
        return Ok(value.clone());
    }
    let from = own_type(value);
    // A comparison would otherwise find the row of another number.
    if let Value::Double(v) = value
        && ty.is_integer()
        && v.is_finite()
        && v.fract() != 0.0
    {
        let message = format!("invalid input syntax for type {ty}: \"{}\"", value.display(from));
        let hint =
            "a parameter has the type of what it is compared with or assigned to; cast it if that is wrong";
        return Err(Error::new(SqlState::INVALID_TEXT, message).with_hint(hint));
    }
    let is_assigned = || {
        let cast = casts::between(from, ty);
        cast.is_some_and(|cast| cast.context <= CastContext::Assignment)
    };
    if value.is_null() || value.as_text().is_some() || is_assigned() {
        return value_ops::cast(value, from, ty, CastLength::Refuse);
    }
    let message = format!("a parameter of type {ty} cannot be {value:?}");
    Err(Error::new(SqlState::DATATYPE_MISMATCH, message))
}

/// Whether a value is one of a type as it is: [`convert`] would make a copy of it.
fn is_converted(value: &Value, ty: LogicalType) -> bool {
    match value {
        Value::Null => true,
        Value::Int(v) => ty.is_integer() && ty.range().is_some_and(|(min, max)| min <= *v && *v <= max),
        value => own_type(value) == ty && !holds_zero(value),
    }
}

/// Whether it is a text with the character that no text has.
fn holds_zero(value: &Value) -> bool {
    value.as_text().is_some_and(|text| text.contains('\0'))
}

/// The values as those of a statement's parameters, a copy where some of them become others; 42P02 if there are more or fewer.
pub fn converted<'v>(types: &[LogicalType], given: &'v [Value]) -> Result<Cow<'v, [Value]>> {
    if types.len() != given.len() {
        return Err(Error::new(
            SqlState::UNDEFINED_PARAMETER,
            format!(
                "the statement has {} parameters, but {} values were given",
                types.len(),
                given.len()
            ),
        ));
    }
    let values = given.iter().zip(types);
    if values.clone().all(|(value, ty)| is_converted(value, *ty)) {
        return Ok(Cow::Borrowed(given));
    }
    let values = values.enumerate();
    values
        .map(|(i, (value, ty))| convert(value, *ty).map_err(|e| e.in_context(format!("${}", i + 1))))
        .collect()
}

/// The type a value has by itself, for statements that leave it open.
pub fn own_type(value: &Value) -> LogicalType {
    LogicalType::of_value(value)
}

/// Microseconds since 1970, now.
pub fn now_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as i64
}

/// The value of a parameter that follows the statement's own; `now`, the transaction's start, and `started`, the statement's, in
/// microseconds since 1970.
pub(crate) fn hidden_value(hidden: &HiddenParameter, now: i64, started: i64) -> Value {
    match hidden {
        HiddenParameter::StatementStart => Value::Int(started.into()),
        HiddenParameter::Now => Value::Int(now.into()),
        HiddenParameter::CurrentDate(zone) => {
            let local = zone.local(now).unwrap_or(now);
            Value::Int(local.div_euclid(MICROS_PER_DAY).into())
        }
        // The keys of a hasher are random.
        HiddenParameter::Seed => Value::Double((RandomState::new().build_hasher().finish() >> 12) as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_what_the_statement_wants() {
        let money = LogicalType::Decimal {
            precision: 15,
            scale: 2,
        };
        let text = |t: &str| Value::Text(t.to_owned());
        let state = |r: Result<Value>| r.map_err(|e| e.state());
        assert_eq!(state(convert(&Value::Int(3), money)), Ok(Value::Int(300)));
        assert_eq!(state(convert(&text("3.14"), money)), Ok(Value::Int(314)));
        assert_eq!(
            state(convert(&text("1970-01-02"), LogicalType::Date)),
            Ok(Value::Int(1))
        );
        assert_eq!(
            state(convert(&text("x"), LogicalType::Char(1))),
            Ok(Value::Int(120))
        );
        assert_eq!(
            state(convert(&text("abc  "), LogicalType::Varchar(4))),
            Ok(text("abc "))
        );
        assert_eq!(
            state(convert(&text("ab  "), LogicalType::Char(3))),
            Ok(text("ab"))
        );
        for ty in [LogicalType::Varchar(2), LogicalType::Char(2)] {
            assert_eq!(state(convert(&text("abc"), ty)), Err(SqlState::STRING_TRUNCATION));
        }
        assert_eq!(
            state(convert(&Value::Int(70_000), LogicalType::SmallInt)),
            Err(SqlState::NUMERIC_OUT_OF_RANGE)
        );
        assert_eq!(
            state(convert(&text("x"), LogicalType::Integer)),
            Err(SqlState::INVALID_TEXT)
        );
        for ty in [LogicalType::Text, LogicalType::Varchar(9), LogicalType::Char(1)] {
            let given = [text("\0")];
            let refused = converted(&[ty], &given).map_err(|e| e.state());
            assert_eq!(refused, Err(SqlState::CHARACTER_NOT_IN_REPERTOIRE));
        }
    }
}
