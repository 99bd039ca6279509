//! The text of a value, and how wide it is.

use frazil::ColumnVector;
use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of the terminal between two tabulators.
const TAB: usize = 8;

/// The text of a value; `None` for NULL.
pub fn cell(column: &ColumnVector, row: usize) -> Option<Cow<'_, str>> {
    if column.is_null(row) {
        return None;
    }
    let ty = column.ty();
    if ty.is_text() {
        return Some(Cow::Borrowed(column.text(row)));
    }
    Some(Cow::Owned(column.value(row).display(ty).to_string()))
}

/// The lines of a value as a table shows them: tabulators are blanks up to the next multiple of 8, other control
/// characters `\r` or `\x1B`, so that nothing that is not seen moves what follows.
pub fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(|line| visible(line).into_owned()).collect()
}

/// A line without control characters.
fn visible(line: &str) -> Cow<'_, str> {
    if !line.contains(|c: char| c.is_control()) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len() + TAB);
    for c in line.chars() {
        match c {
            '\t' => out.extend(std::iter::repeat_n(' ', TAB - out.width() % TAB)),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                // A String takes all that is written.
                let _ = write!(out, "\\x{:02X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Cuts a line into parts of at most `width` terminal columns; a character that is wider stands alone.
pub fn wrap(line: &str, width: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut used = 0;
    for c in line.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide > width && used > 0 {
            parts.push(String::new());
            used = 0;
        }
        used += wide;
        parts.last_mut().expect("it begins with one part").push(c);
    }
    parts
}

/// Blanks that bring `text` to `width` terminal columns.
pub fn blanks(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_seen() {
        assert_eq!(lines("a\tb\n\u{1b}[1m\r"), ["a       b", "\\x1B[1m\\r"]);
        assert_eq!(wrap("abcde", 2), ["ab", "cd", "e"]);
        assert_eq!(wrap("漢字", 1), ["漢", "字"]);
    }
}
