//! What lies in the text of a json, found without making anything of what lies beside. The texts are JSON, as
//! [`check`](super::check) found; of others some part is given.

use super::{Json, binary_of_text};
use crate::Result;

/// The name of a text's kind, as json_typeof gives it.
pub fn raw_kind(text: &str) -> &'static str {
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}

/// The texts of an array's elements; `None` for what is no array.
pub fn raw_elements(text: &str) -> Option<Vec<&str>> {
    let mut rest = text.trim_ascii_start().strip_prefix('[')?.trim_ascii_start();
    let mut elements = Vec::new();
    while !rest.is_empty() && !rest.starts_with(']') {
        let (element, behind) = rest.split_at(value_end(rest));
        elements.push(element);
        rest = next(behind);
    }
    Some(elements)
}

/// The keys and the texts of an object's values, in the order of the text; `None` for what is no object. Errors 22P02 and 22P05 for
/// keys whose escapes stand for no character.
pub fn raw_members(text: &str) -> Result<Option<Vec<(String, &str)>>> {
    let Some(inside) = text.trim_ascii_start().strip_prefix('{') else {
        return Ok(None);
    };
    let mut rest = inside.trim_ascii_start();
    let mut members = Vec::new();
    while rest.starts_with('"') {
        let (key, behind) = rest.split_at(value_end(rest));
        let value = behind.trim_start_matches([' ', '\t', '\n', '\r', ':']);
        let (value, behind) = value.split_at(value_end(value));
        members.push((raw_string(key)?.unwrap_or_default(), value));
        rest = next(behind);
    }
    Ok(Some(members))
}

/// The characters of a string; `None` for what is no string. Errors 22P02 and 22P05 for escapes that stand for no character.
pub fn raw_string(text: &str) -> Result<Option<String>> {
    if raw_kind(text) != "string" {
        return Ok(None);
    }
    let binary = binary_of_text(text)?;
    Ok(match Json::new(&binary) {
        Json::String(characters) => Some(characters.to_owned()),
        _ => None,
    })
}

/// What comes behind a value and the comma after it.
fn next(behind: &str) -> &str {
    behind.trim_start_matches([' ', '\t', '\n', '\r', ','])
}

/// Where the value at the beginning of a text ends.
fn value_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b'[' | b'{' => {
                depth += 1;
                at += 1;
                continue;
            }
            b']' | b'}' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b']' | b'}' | b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return at,
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// Where the string ends whose quote stands at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}
