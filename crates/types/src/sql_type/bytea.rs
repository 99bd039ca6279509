//! bytea: bytes, ordered as such. They are held as strings are, and are not UTF-8.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, number_overflow,
    show_plain,
};
use super::wire;
use crate::{Error, LogicalType, NativeType, Result, SqlState, Value};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Bytea,
    oid: 17,
    typname: "bytea",
    name: "bytea",
    typlen: -1,
    catalog: CatalogRow::base(
        "U",
        ["i", "x"],
        [(1244, "byteain"), (31, "byteaout"), (2412, "bytearecv"), (2413, "byteasend")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 1001,
    array_name: "bytea[]",
    sql_names: &["bytea", "blob"],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: true,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Bytea),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, _| read(text).map(Value::Bytes),
    write,
    send: wire::send_bytes,
    receive: wire::receive_bytes,
};

/// Writes bytes as `\x` and two hexadecimal digits a byte.
fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let Value::Bytes(bytes) = value else {
        return Err(fmt::Error);
    };
    f.write_str("\\x")?;
    write_hex(f, bytes)
}

/// Writes two hexadecimal digits a byte.
pub fn write_hex(f: &mut dyn fmt::Write, bytes: &[u8]) -> fmt::Result {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    bytes.iter().try_for_each(|byte| {
        f.write_char(DIGITS[usize::from(byte >> 4)])?;
        f.write_char(DIGITS[usize::from(byte & 15)])
    })
}

/// Reads `\x` and hexadecimal digits, or what [`escaped_bytes`] reads. Errors 22023, 22P02.
fn read(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(digits) => hex_digits(digits),
        None => escaped_bytes(text),
    }
}

/// Reads characters with `\\` for a backslash and `\ooo` for the byte of three octal digits. Error 22P02 for another backslash.
pub fn escaped_bytes(text: &str) -> Result<Vec<u8>> {
    // As in PostgreSQL, the message does not show the text, which may be as long as the bytes.
    let invalid = || Error::new(SqlState::INVALID_TEXT, "invalid input syntax for type bytea");
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return Ok(out),
            [b'\\', b'\\', rest @ ..] => {
                out.push(b'\\');
                rest
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest
            }
            [b'\\', ..] => return Err(invalid()),
            [byte, rest @ ..] => {
                out.push(*byte);
                rest
            }
        };
    }
}

/// Reads two hexadecimal digits a byte; blanks may stand between bytes. Error 22023.
pub fn hex_digits(text: &str) -> Result<Vec<u8>> {
    let refused = |message: String| Error::new(SqlState::INVALID_PARAMETER, message);
    let digit = |c: char| {
        let wrong = || refused(format!("invalid hexadecimal digit: \"{c}\""));
        c.to_digit(16).map(|d| d as u8).ok_or_else(wrong)
    };
    let mut out = Vec::with_capacity(text.len() / 2);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if matches!(c, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let high = digit(c)?;
        let low = rest
            .next()
            .ok_or_else(|| refused("invalid hexadecimal data: odd number of digits".to_owned()))?;
        out.push(high << 4 | digit(low)?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_postgresql_reads() {
        let written = |text| {
            let value = Value::Bytes(read(text)?);
            Ok::<_, Error>(value.display(LogicalType::Bytea).to_string())
        };
        for (text, bytes) in [
            ("", "\\x"),
            ("\\x", "\\x"),
            ("\\xDEADbeef", "\\xdeadbeef"),
            ("\\x de\tad\n", "\\xdead"),
            ("abc", "\\x616263"),
            ("a\\\\b", "\\x615c62"),
            ("\\000\\377", "\\x00ff"),
            ("é", "\\xc3a9"),
            ("\\\\x41", "\\x5c783431"),
        ] {
            assert_eq!(written(text).unwrap(), bytes, "{text}");
        }
        for (text, state) in [
            ("\\x1", "22023"),
            ("\\x1g", "22023"),
            ("\\x1 2", "22023"),
            ("\\", "22P02"),
            ("\\8", "22P02"),
            ("\\400", "22P02"),
            ("\\12", "22P02"),
            ("a\\b", "22P02"),
        ] {
            assert_eq!(written(text).unwrap_err().state().0, state, "{text}");
        }
    }
}
