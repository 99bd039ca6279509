//! The texts of single values in JSON, and errors of texts that are not JSON.

use frazil_types::{Error, LogicalType, Result, SqlState};
use std::borrow::Cow;

/// The error for a text that is not JSON. 22P04.
pub(crate) fn not_json(error: &serde_json::Error) -> Error {
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or(&what);
    Error::new(SqlState::BAD_COPY_FORMAT, format!("not a row of JSON: {what}"))
}

/// The text of a string. 22P04 for escapes that mean nothing.
pub(crate) fn text_of(json: &[u8]) -> Result<Cow<'_, str>> {
    let bare = json.len() >= 2 && !json.contains(&b'\\');
    if let Some(text) = bare
        .then(|| std::str::from_utf8(&json[1..json.len() - 1]).ok())
        .flatten()
    {
        return Ok(Cow::Borrowed(text));
    }
    serde_json::from_slice(json)
        .map(Cow::Owned)
        .map_err(|e| not_json(&e))
}

/// Appends a value that is not NULL and no array, by its text; a number that is not finite is a string.
pub(crate) fn push_scalar(out: &mut Vec<u8>, text: &str, ty: LogicalType, is_finite: bool) {
    match ty {
        ty if ty.is_condition() && text == "t" => out.extend_from_slice(b"true"),
        ty if ty.is_condition() => out.extend_from_slice(b"false"),
        ty if ty.is_numeric() && is_finite => out.extend_from_slice(text.as_bytes()),
        _ => push_string(out, text),
    }
}

/// Appends a string.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    // A string always has a JSON form, and a Vec takes all that is written.
    let _ = serde_json::to_writer(out, text);
}
