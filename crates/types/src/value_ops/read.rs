//! Reading values from text.

use crate::sql_type::DocumentForm;
pub use crate::sql_type::{read_boolean, read_double};
use crate::{Error, LogicalType, Result, SqlState, Value};

/// The error 22P02 of a text that is not of a type.
pub(crate) fn invalid(ty: LogicalType, text: &str) -> Error {
    let message = format!("invalid input syntax for type {}: \"{text}\"", ty.name());
    Error::new(SqlState::INVALID_TEXT, message)
}

/// The error 22003 of an integer that its type does not hold.
fn integer_out_of_range(ty: LogicalType, text: &str) -> Error {
    let message = format!("value \"{text}\" is out of range for type {ty}");
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
}

/// The text without blanks around it.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c'])
}

/// Reads a value from text, blanks around it apart where the type is not a string. Errors: 22P02 for what is not of
/// the type, 22007 for dates and intervals, 22003, 22008 and 22001 for what does not fit.
pub fn read(text: &str, ty: LogicalType) -> Result<Value> {
    (ty.info().read)(text, ty)
}

/// Most bytes that [`read`] holds while it reads a text of such a type, beside the text: the elements of an array or of
/// a document are collected before they are written next to each other. 0 for short texts, and for types whose values
/// have no parts.
pub fn bytes_to_read(text: &str, ty: LogicalType) -> usize {
    let is_binary = ty.document() == Some(DocumentForm::Binary);
    if text.len() < LONG_TEXT || !is_binary && ty.element().is_none() {
        return 0;
    }
    let parts = text.bytes().filter(|byte| matches!(byte, b',' | b':')).count();
    parts.saturating_mul(PART_BYTES).saturating_add(2 * text.len())
}

/// Bytes of a text from which on what its reader holds is counted.
const LONG_TEXT: usize = 16 << 10;

/// Bytes that an element takes while an array or a document is read: its place in a list, which may be half empty, and
/// an allocation of its own.
const PART_BYTES: usize = 2 * size_of::<Value>() + 32;

/// Reads an integer of type `ty`. Errors 22P02, 22003.
pub fn read_integer(text: &str, ty: LogicalType) -> Result<i64> {
    let number = trimmed(text);
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(invalid(ty, text));
    }
    let value: i64 = number.parse().map_err(|_| integer_out_of_range(ty, text))?;
    match super::check_range(value.into(), ty) {
        Ok(_) => Ok(value),
        Err(_) => Err(integer_out_of_range(ty, text)),
    }
}

/// Whether a number that is written so was read as infinity, or as 0 although it is another number.
pub(crate) fn is_lost(word: &str, value: f64) -> bool {
    let mantissa = word.split(['e', 'E']).next().unwrap_or(word);
    let is_number = word.bytes().any(|b| b.is_ascii_digit());
    let is_zero = !mantissa.bytes().any(|b| (b'1'..=b'9').contains(&b));
    is_number && (value.is_infinite() || value == 0.0 && !is_zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(text: &str, ty: LogicalType) -> &'static str {
        read(text, ty).unwrap_err().state().0
    }

    #[test]
    fn booleans_are_read_by_their_shortest_prefix() {
        for text in ["t", "tru", " YES ", "on", "1", "y"] {
            assert_eq!(
                read(text, LogicalType::Boolean).unwrap(),
                Value::Bool(true),
                "{text}"
            );
        }
        for text in ["f", "fal", "n", "of", "off", "0"] {
            assert_eq!(
                read(text, LogicalType::Boolean).unwrap(),
                Value::Bool(false),
                "{text}"
            );
        }
        assert_eq!(state("o", LogicalType::Boolean), "22P02");
        assert_eq!(state("", LogicalType::Boolean), "22P02");
    }

    #[test]
    fn numbers_at_the_edges_of_their_types() {
        assert_eq!(
            read("-32768", LogicalType::SmallInt).unwrap(),
            Value::Int(-32_768)
        );
        assert_eq!(state("32768", LogicalType::SmallInt), "22003");
        assert_eq!(state("9223372036854775808", LogicalType::BigInt), "22003");
        assert_eq!(state("0x10", LogicalType::Integer), "22P02");
        assert_eq!(state("10e400", LogicalType::Double), "22003");
        assert_eq!(state("1e-400", LogicalType::Double), "22003");
        assert_eq!(read("0e-400", LogicalType::Double).unwrap(), Value::Double(0.0));
        assert_eq!(
            read("-inf", LogicalType::Double).unwrap(),
            Value::Double(f64::NEG_INFINITY)
        );
        assert_eq!(state("", LogicalType::Double), "22P02");
    }
}
