//! Values given for `$1`, `$2` and so on, made values of the types the statement wants.

use crate::given_values::GivenValues;
use frazil_frontend::HiddenParameter;
use frazil_types::date::MICROS_PER_DAY;
use frazil_types::numeric::Numeric;
use frazil_types::value_ops::casts::{self, CastContext};
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{ColumnVector, DocumentForm, Error, LogicalType, Result, SqlState, Value, Zone};
use frazil_types::{array, decimal, json};
use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// The value, of type `from`, as one of type `ty`: as what is assigned to a column, and a text as what it shows.
/// 42804 where there is no such cast; the errors of the cast; 22P02 for a fraction where a whole number is wanted;
/// 22021 for a text that holds character 0.
pub fn convert(value: &Value, from: LogicalType, ty: LogicalType) -> Result<Value> {
    refuse_zero(value)?;
    // Bytes without a type of their own may be those of an array or document.
    if let (Value::Bytes(bytes), LogicalType::Bytea, Some(element)) = (value, from, ty.element()) {
        array::check(bytes, element)?;
        return Ok(value.clone());
    }
    if let (Value::Bytes(bytes), LogicalType::Bytea, Some(form)) = (value, from, ty.document()) {
        match (form, std::str::from_utf8(bytes)) {
            (DocumentForm::Text, Ok(text)) => json::check(text)?,
            _ => json::check_binary(bytes)?,
        }
        return Ok(value.clone());
    }
    if let Some(converted) = as_text(value, from, ty) {
        return converted;
    }
    // A comparison would otherwise find the row of another number.
    if ty.element().unwrap_or(ty).is_integer() && has_fraction(value, from)? {
        let message = format!("invalid input syntax for type {ty}: \"{}\"", value.display(from));
        let hint =
            "a parameter has the type of what it is compared with or assigned to; cast it if that is wrong";
        return Err(Error::new(SqlState::INVALID_TEXT, message).with_hint(hint));
    }
    let is_assigned = || {
        let cast = casts::between(from, ty);
        cast.is_some_and(|cast| cast.context <= CastContext::Assignment)
    };
    if value.is_null() || value.as_text().is_some() || from == ty || is_assigned() {
        return value_ops::cast(value, from, ty, CastLength::Refuse);
    }
    let shown = value.display(from);
    let message = format!("a parameter of type {ty} cannot be the {} {shown}", from.name());
    Err(Error::new(SqlState::DATATYPE_MISMATCH, message))
}

/// The value as a `ty`, where no cast makes it so but what it shows is one: texts in an array are read as the
/// elements of another, and arrays, numbers and booleans are JSON.
fn as_text(value: &Value, from: LogicalType, ty: LogicalType) -> Option<Result<Value>> {
    let text = match (from.element(), ty.element(), ty.document()) {
        (Some(own), Some(wanted), _) if own.is_text() && !wanted.is_text() => {
            Ok(value.display(from).to_string())
        }
        // 22P02 says of a document that it is not an array.
        (None, Some(_), _) if from.document().is_some() => Ok(value.display(from).to_string()),
        (own, None, Some(_)) if own.is_some() || from.is_numeric() || from == LogicalType::Boolean => {
            frazil_files::json_of(&ColumnVector::from_values(from, std::slice::from_ref(value)), 0)
        }
        _ => return None,
    };
    let read = |text| value_ops::cast(&Value::Text(text), LogicalType::UNTYPED, ty, CastLength::Refuse);
    Some(text.and_then(read))
}

/// True for a finite number that is not whole, and for an array that has one.
fn has_fraction(value: &Value, ty: LogicalType) -> Result<bool> {
    match (value, ty) {
        (Value::Double(v), _) => Ok(v.is_finite() && v.fract() != 0.0),
        (Value::Int(v), LogicalType::Decimal { scale, .. }) => Ok(v % decimal::power_of_ten(scale) != 0),
        (Value::Bytes(bytes), LogicalType::Numeric) => Ok(Numeric::of_bytes(bytes)?.trimmed().scale() > 0),
        (Value::Bytes(bytes), LogicalType::Array(element)) if element.get().is_numeric() => {
            for value in array::ArrayRef::new(bytes, element.get())?.elements() {
                if has_fraction(&value?, element.get())? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Ok(false),
    }
}

/// True if the value at a position is one of a type as it is: [`convert`] would make a copy of it.
fn is_converted(given: &GivenValues<'_>, at: usize, ty: LogicalType) -> bool {
    let own = given.is_typed().then(|| given.own_type(at)).flatten();
    match (&given.values[at], own) {
        (Value::Null, _) => true,
        (value @ Value::Text(text), None) => is_kept_text(text, ty) && !holds_zero(value),
        (Value::Int(v), own) => is_same_number(*v, own, ty),
        (_, Some(own)) => own.in_zone(Zone::UTC) == ty.in_zone(Zone::UTC),
        (value, None) => LogicalType::of_value(value) == ty,
    }
}

/// True if a column of a type of texts stores a text as it is.
fn is_kept_text(text: &str, ty: LogicalType) -> bool {
    // Longer texts of a type with a bound of bytes are cut.
    let is_kept = ty.is_text() && ty.most_bytes().is_none();
    is_kept && value_ops::kept_text(text, ty).is_ok_and(|kept| kept.len() == text.len())
}

/// True if a number of type `own` is a `ty` without a change of its digits. `None`: the number tells its own type.
fn is_same_number(v: i128, own: Option<LogicalType>, ty: LogicalType) -> bool {
    let has_its_digits = match (own, ty) {
        (None, ty) => ty.is_integer(),
        (Some(own), ty) if own.in_zone(Zone::UTC) == ty.in_zone(Zone::UTC) => return true,
        (Some(LogicalType::Decimal { scale: own, .. }), LogicalType::Decimal { scale, .. }) => own == scale,
        (Some(own), ty) => own.is_integer() && ty.is_integer(),
    };
    has_its_digits && ty.range().is_some_and(|(min, max)| min <= v && v <= max)
}

/// 22021 for a text with the character that no text has.
pub fn refuse_zero(value: &Value) -> Result<()> {
    match holds_zero(value) {
        true => Err(Error::new(
            SqlState::CHARACTER_NOT_IN_REPERTOIRE,
            "invalid byte sequence for encoding \"UTF8\": 0x00",
        )),
        false => Ok(()),
    }
}

/// Whether it is a text with the character that no text has.
fn holds_zero(value: &Value) -> bool {
    value.as_text().is_some_and(|text| text.contains('\0'))
}

/// The values as those of a statement's parameters, a copy where some of them become others; 42P02 if there are more or fewer.
/// The clock of `zone` shows instants.
pub fn converted<'v>(types: &[LogicalType], given: GivenValues<'v>, zone: Zone) -> Result<Cow<'v, [Value]>> {
    if types.len() != given.values.len() {
        return Err(Error::new(
            SqlState::UNDEFINED_PARAMETER,
            format!(
                "the statement has {} parameters, but {} values were given",
                types.len(),
                given.values.len()
            ),
        ));
    }
    if (0..types.len()).all(|at| is_converted(&given, at, types[at])) {
        return Ok(Cow::Borrowed(given.values));
    }
    let mut converted = Vec::with_capacity(types.len());
    for (at, (value, ty)) in given.values.iter().zip(types).enumerate() {
        let from = given.converted_from(at, zone);
        let value = convert(value, from, *ty).map_err(|e| e.in_context(format!("${}", at + 1)))?;
        converted.push(value);
    }
    Ok(Cow::Owned(converted))
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
        // Only statements of a session have a catalog that functions find.
        HiddenParameter::Catalog => Value::Int(0),
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
        let convert = |value: &Value, ty| convert(value, LogicalType::of_value(value), ty);
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
        for ty in [
            LogicalType::Text,
            LogicalType::Varchar(9),
            LogicalType::Char(1),
            LogicalType::Char(9),
        ] {
            let given = [text("\0")];
            let refused = converted(&[ty], GivenValues::raw(&given), Zone::UTC).map_err(|e| e.state());
            assert_eq!(refused, Err(SqlState::CHARACTER_NOT_IN_REPERTOIRE));
        }
    }

    /// Values that are not copied are those that [`convert`] leaves as they are.
    #[test]
    fn a_value_is_borrowed_only_if_its_conversion_changes_nothing() {
        let decimal = |precision, scale| LogicalType::Decimal { precision, scale };
        let texts = ["", " ", "ab", "ab ", " ab", "abc", "äöü", "äöü ", "abcd", "\0"];
        let numbers = [
            0,
            1,
            -1,
            99,
            100,
            -100,
            32_767,
            32_768,
            999_999,
            1_000_000,
            1 << 31,
            1 << 63,
        ];
        let own = [
            LogicalType::SmallInt,
            LogicalType::Integer,
            LogicalType::BigInt,
            LogicalType::Oid,
            LogicalType::Date,
            LogicalType::TIMESTAMP,
            decimal(4, 2),
            decimal(18, 2),
            decimal(18, 0),
        ];
        let mut wanted = own.to_vec();
        wanted.extend([
            LogicalType::Text,
            LogicalType::Char(1),
            LogicalType::Char(3),
            LogicalType::Varchar(3),
            LogicalType::Name,
            LogicalType::Boolean,
            LogicalType::Json,
        ]);
        let mut given: Vec<(Value, Option<LogicalType>)> = Vec::new();
        given.push((Value::Null, None));
        given.extend(texts.map(|text| (Value::Text(text.to_owned()), None)));
        for ty in own {
            let (least, most) = ty.range().unwrap();
            let in_range = numbers.into_iter().filter(|n| (least..=most).contains(n));
            given.extend(in_range.map(|n| (Value::Int(n), Some(ty))));
        }
        let mut borrowed = 0;
        for (value, own) in &given {
            for &ty in &wanted {
                let (values, types) = ([value.clone()], [*own]);
                let given = GivenValues::typed(&values, &types);
                if is_converted(&given, 0, ty) {
                    borrowed += 1;
                    let from = given.converted_from(0, Zone::UTC);
                    assert_eq!(
                        convert(value, from, ty).as_ref().ok(),
                        Some(value),
                        "{value:?} of {own:?} as {ty}"
                    );
                }
            }
        }
        // Types of their own, and numbers and texts of others.
        assert!(borrowed > 100, "{borrowed}");
    }
}
