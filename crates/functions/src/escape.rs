//! The escape character of LIKE and SIMILAR TO.

use frazil_types::{Error, Result, SqlState};

/// The one character of an ESCAPE text; none if it is empty. Error 22025.
pub(crate) fn escape_character(escape: &str) -> Result<Option<char>> {
    let mut chars = escape.chars();
    match (chars.next(), chars.next()) {
        (first, None) => Ok(first),
        _ => Err(Error::new(SqlState::INVALID_ESCAPE, "invalid escape string")
            .with_hint("escape string must be empty or one character")),
    }
}
