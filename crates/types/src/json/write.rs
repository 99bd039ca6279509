//! jsonb as text.

use super::Json;
use std::fmt;

/// Writes a value as PostgreSQL shows jsonb: in one line, with a blank behind each comma and colon.
pub fn write_compact(f: &mut dyn fmt::Write, binary: &[u8]) -> fmt::Result {
    match Json::new(binary) {
        Json::Null => f.write_str("null"),
        Json::Boolean(value) => write!(f, "{value}"),
        Json::Number(digits) => f.write_str(digits),
        Json::String(text) => write_string(f, text),
        Json::Array(array) => {
            f.write_str("[")?;
            for (index, element) in array.elements().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                write_compact(f, element)?;
            }
            f.write_str("]")
        }
        Json::Object(object) => {
            f.write_str("{")?;
            for (index, (key, value)) in object.members().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                write_string(f, key)?;
                f.write_str(": ")?;
                write_compact(f, value)?;
            }
            f.write_str("}")
        }
    }
}

/// Writes a string in quotes, with the escapes that JSON requires and no others.
pub fn write_string(f: &mut dyn fmt::Write, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    let mut rest = text;
    while let Some(at) = rest.find(|c| matches!(c, '\0'..='\x1f' | '"' | '\\')) {
        f.write_str(&rest[..at])?;
        match rest.as_bytes()[at] {
            b'"' => f.write_str("\\\"")?,
            b'\\' => f.write_str("\\\\")?,
            0x08 => f.write_str("\\b")?,
            0x0c => f.write_str("\\f")?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            control => write!(f, "\\u{control:04x}")?,
        }
        rest = &rest[at + 1..];
    }
    f.write_str(rest)?;
    f.write_str("\"")
}
