//! Equality between the values of a child's column and those of a parent's column of another type, as the operator
//! `=` has it. A value has several forms: 2 and 2.000, 1 mon and 30 days, 0 and −0. So values are compared as keys of
//! an index, never as they are stored.

use frazil_types::value_ops::{self, CastLength};
use frazil_types::{LogicalType, Value};
use std::borrow::Cow;
use std::cmp::Ordering;

/// The way in which the values of a child's column are compared with those of a parent's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equality {
    /// Both columns have one type.
    Same,
    /// Both columns hold strings. Blanks at the end count unless the parent's type ignores them.
    Strings,
    /// The child's exact number becomes a float: several numbers may become the same float.
    AsFloat,
    /// By what the values mean. A value that the other type cannot hold equals none of its values.
    Exact,
}

impl Equality {
    /// The equality of a child's type with a parent's type.
    pub fn between(child: LogicalType, parent: LogicalType) -> Equality {
        if child == parent {
            return Equality::Same;
        }
        if child.is_string() && parent.is_string() {
            return Equality::Strings;
        }
        match parent.is_float() && !child.is_float() {
            true => Equality::AsFloat,
            false => Equality::Exact,
        }
    }

    /// The value of the parent's type that equals a child's value; `None` if no value does.
    pub fn as_parent(self, value: &Value, child: LogicalType, parent: LogicalType) -> Option<Value> {
        match self {
            Equality::Same => Some(value.clone()),
            Equality::Strings => same_string(value, child, parent),
            Equality::AsFloat => value_ops::cast(value, child, parent, CastLength::Refuse).ok(),
            Equality::Exact => same_meaning(value, child, parent),
        }
    }

    /// The value of the child's type that equals a parent's value; `None` if no value does. Meaningful only if
    /// [`Equality::has_one_child`].
    pub fn as_child(self, value: &Value, child: LogicalType, parent: LogicalType) -> Option<Value> {
        match self {
            Equality::Same => Some(value.clone()),
            Equality::Strings => {
                let there = same_string(value, parent, child)?;
                let back = same_string(&there, child, parent)?;
                (value_ops::order_as(&back, value, parent) == Some(Ordering::Equal)).then_some(there)
            }
            Equality::AsFloat | Equality::Exact => same_meaning(value, parent, child),
        }
    }

    /// True if all values of the child's type that equal one value of the parent equal each other, so that an index
    /// of the child has them under one key.
    pub fn has_one_child(self, child: LogicalType, parent: LogicalType) -> bool {
        match self {
            Equality::Same | Equality::Exact => true,
            Equality::Strings => child.is_padded() || !parent.is_padded(),
            Equality::AsFloat => false,
        }
    }
}

/// The string as a value of another string type. A padded type's blanks at the end are cut, because they do not count.
/// `None` if the type's native form cannot hold the string.
fn same_string(value: &Value, from: LogicalType, to: LogicalType) -> Option<Value> {
    let text: Cow<'_, str> = match value {
        Value::Text(text) => text.into(),
        code => value_ops::cast(code, from, LogicalType::UNTYPED, CastLength::Refuse)
            .ok()?
            .as_text()?
            .to_owned()
            .into(),
    };
    let text = match from.is_padded() {
        true => text.trim_end_matches(' '),
        false => &text,
    };
    let value = Value::Text(text.to_owned());
    match to.is_text() {
        true => Some(value),
        false => value_ops::cast(&value, LogicalType::UNTYPED, to, CastLength::Refuse).ok(),
    }
}

/// The value of another type that means the same; `None` if the cast to that type fails or loses something.
fn same_meaning(value: &Value, from: LogicalType, to: LogicalType) -> Option<Value> {
    let there = value_ops::cast(value, from, to, CastLength::Refuse).ok()?;
    let back = value_ops::cast(&there, to, from, CastLength::Refuse).ok()?;
    (value_ops::order_as(&back, value, from) == Some(Ordering::Equal)).then_some(there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::numeric::Numeric;

    fn numeric(digits: i128, scale: u8) -> Value {
        Value::from(Numeric::new(digits, scale).expect("it is a number"))
    }

    #[test]
    fn a_value_of_another_type_is_equal_or_none() {
        let day = 86_400_000_000i128;
        let decimal = |scale| LogicalType::Decimal { precision: 8, scale };
        let (timestamp, small) = (LogicalType::Timestamp(6), LogicalType::SmallInt);
        let (int, text) = (Value::Int, |text: &str| Value::Text(text.to_owned()));
        let (float, char5) = (LogicalType::Double, LogicalType::Char(5));
        for (value, child, parent, equal) in [
            (int(2), LogicalType::Integer, decimal(2), Some(int(200))),
            (int(250), decimal(2), decimal(1), Some(int(25))),
            (int(255), decimal(2), decimal(1), None),
            (
                numeric(2_000, 3),
                LogicalType::Numeric,
                decimal(2),
                Some(int(200)),
            ),
            (numeric(2_001, 3), LogicalType::Numeric, decimal(2), None),
            (int(1 << 40), LogicalType::BigInt, LogicalType::Integer, None),
            (int(7), LogicalType::BigInt, small, Some(int(7))),
            (int(3 * day), timestamp, LogicalType::Date, Some(int(3))),
            (int(3 * day + 1), timestamp, LogicalType::Date, None),
            (int(-3), LogicalType::Date, timestamp, Some(int(-3 * day))),
            (
                int((1 << 53) + 1),
                LogicalType::BigInt,
                float,
                Some(Value::Double((1u64 << 53) as f64)),
            ),
            (Value::Double(0.1), float, LogicalType::Real, None),
            (
                Value::Double(0.5),
                float,
                LogicalType::Real,
                Some(Value::Double(0.5)),
            ),
            (text("ab   "), char5, LogicalType::Text, Some(text("ab"))),
            (text("ab  "), LogicalType::Text, char5, Some(text("ab  "))),
            (
                int('a' as i128),
                LogicalType::Char(1),
                LogicalType::Text,
                Some(text("a")),
            ),
            (text("ab"), LogicalType::Text, LogicalType::Char(1), None),
        ] {
            let found = Equality::between(child, parent).as_parent(&value, child, parent);
            assert_eq!(found, equal, "{value:?} {child} {parent}");
        }
    }

    #[test]
    fn a_parent_that_no_child_equals_has_none() {
        let (text, padded) = (LogicalType::Text, LogicalType::Char(5));
        let equality = Equality::between(padded, text);
        let child = |value: &str| equality.as_child(&Value::Text(value.to_owned()), padded, text);
        assert_eq!(
            (child("a"), child("a ")),
            (Some(Value::Text("a".to_owned())), None)
        );
        assert!(equality.has_one_child(padded, text));
        assert!(!Equality::between(text, padded).has_one_child(text, padded));
        assert!(
            !Equality::between(LogicalType::Numeric, LogicalType::Double)
                .has_one_child(LogicalType::Numeric, LogicalType::Double)
        );
    }
}
