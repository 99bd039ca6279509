//! The text of arrays, PostgreSQL's: `{1,NULL,"a b"}`, `{{1,2},{3,4}}`, and with other lower bounds `[0:1]={1,2}`.

use super::{ArrayRef, Dimension, MAX_DIMENSIONS, encode, too_many_dimensions};
use crate::{Error, LogicalType, Result, SqlState, Value};
use std::fmt;

/// What blanks are between elements: PostgreSQL's array_isspace.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// Reads an array from its text. Errors 22P02 for a text that is not an array's, 2202E for bounds the wrong way round, 54000
/// beyond the limits, and those of an element that is not of its type.
pub fn read(text: &str, element: LogicalType) -> Result<Vec<u8>> {
    let malformed = |detail: String| {
        let message = format!("malformed array literal: \"{text}\"");
        Error::new(SqlState::INVALID_TEXT, message).with_detail(detail)
    };
    let (given, body) = bounds(text.trim_start_matches(is_blank), &malformed)?;
    if !body.starts_with('{') {
        let detail = match given {
            Some(_) => "Array contents must start with \"{\".",
            None => "Array value must start with \"{\" or dimension information.",
        };
        return Err(malformed(detail.to_owned()));
    }
    let mut reader = Reader {
        rest: body,
        ..Reader::default()
    };
    reader.array(element, &malformed)?;
    let dimensions = match given {
        None => reader
            .lengths
            .iter()
            .map(|n| Dimension { length: *n, lower: 1 })
            .collect(),
        Some(given) => given,
    };
    if !dimensions
        .iter()
        .map(|d| d.length)
        .eq(reader.lengths.iter().copied())
    {
        return Err(malformed(
            "Specified array dimensions do not match array contents.".to_owned(),
        ));
    }
    encode(&dimensions, &reader.elements, element)
}

/// The bounds before an array's elements, `[l:u]` or `[u]` for each dimension with `=` behind them, and what follows; `None` where
/// the text has none.
fn bounds<'a>(
    text: &'a str,
    malformed: &impl Fn(String) -> Error,
) -> Result<(Option<Vec<Dimension>>, &'a str)> {
    let mut dimensions = Vec::new();
    let mut rest = text;
    while let Some(inner) = rest.strip_prefix('[') {
        if dimensions.len() == MAX_DIMENSIONS {
            return Err(too_many_dimensions(dimensions.len() + 1));
        }
        let no_value = || malformed("\"[\" must introduce explicitly-specified array dimensions.".to_owned());
        let (first, behind) = bound(inner).ok_or_else(no_value)?;
        let (lower, upper, behind) = match behind.strip_prefix(':') {
            None => (1, first, behind),
            Some(behind) => {
                let (upper, behind) =
                    bound(behind).ok_or_else(|| malformed("Missing array dimension value.".to_owned()))?;
                (first, upper, behind)
            }
        };
        let Some(behind) = behind.strip_prefix(']') else {
            return Err(malformed("Missing \"]\" after array dimensions.".to_owned()));
        };
        if upper < lower {
            let message = "upper bound cannot be less than lower bound";
            return Err(Error::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
        }
        dimensions.push(Dimension {
            length: lower.abs_diff(upper).saturating_add(1),
            lower,
        });
        rest = behind.trim_start_matches(is_blank);
    }
    if dimensions.is_empty() {
        return Ok((None, text));
    }
    let Some(rest) = rest.strip_prefix('=') else {
        return Err(malformed("Missing \"=\" after array dimensions.".to_owned()));
    };
    Ok((Some(dimensions), rest.trim_start_matches(is_blank)))
}

/// The whole number that a text begins with, and what is behind; `None` if it does not or is beyond `i32`.
fn bound(text: &str) -> Option<(i32, &str)> {
    let signs = usize::from(text.starts_with(['-', '+']));
    let digits = text[signs..].bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(signs + digits);
    Some((number.parse().ok()?, rest))
}

/// What may come next within braces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Behind an opening brace.
    #[default]
    Opened,
    /// Behind a comma.
    Comma,
    /// Behind an element or a closing brace.
    Filled,
}

/// Reads what stands in braces.
#[derive(Debug, Default)]
struct Reader<'a> {
    rest: &'a str,
    elements: Vec<Value>,
    /// Entries of each open brace, outermost first.
    open: Vec<u32>,
    /// Length of each dimension that a closed brace has settled; 0 until then.
    lengths: Vec<u32>,
    /// Braces around an element, once there was one.
    depth: Option<usize>,
    place: Place,
}

impl Reader<'_> {
    /// Reads up to the last closing brace, behind which there are only blanks.
    fn array(&mut self, element: LogicalType, malformed: &impl Fn(String) -> Error) -> Result<()> {
        loop {
            self.rest = self.rest.trim_start_matches(is_blank);
            let Some(c) = self.rest.chars().next() else {
                return Err(malformed("Unexpected end of input.".to_owned()));
            };
            let unexpected = || malformed(format!("Unexpected \"{c}\" character."));
            match c {
                '{' => {
                    let is_allowed =
                        self.place != Place::Filled && self.depth.is_none_or(|d| self.open.len() < d);
                    is_allowed.then_some(()).ok_or_else(unexpected)?;
                    self.open_brace()?;
                }
                '}' => {
                    // Braces without elements are an array only by themselves.
                    let is_empty =
                        self.place == Place::Opened && self.open.len() == 1 && self.lengths.len() == 1;
                    if self.place != Place::Filled && !is_empty {
                        return Err(unexpected());
                    }
                    self.close_brace(malformed)?;
                }
                ',' => {
                    (self.place == Place::Filled)
                        .then_some(())
                        .ok_or_else(unexpected)?;
                    self.place = Place::Comma;
                }
                _ => {
                    let is_allowed =
                        self.place != Place::Filled && self.depth.is_none_or(|d| self.open.len() == d);
                    let misplaced = || malformed("Unexpected array element.".to_owned());
                    is_allowed.then_some(()).ok_or_else(misplaced)?;
                    self.element(element, malformed)?;
                    continue;
                }
            }
            self.rest = &self.rest[1..];
            if self.open.is_empty() {
                break;
            }
        }
        if !self.rest.trim_start_matches(is_blank).is_empty() {
            return Err(malformed("Junk after closing right brace.".to_owned()));
        }
        if self.elements.is_empty() {
            self.lengths.clear();
        }
        Ok(())
    }

    fn open_brace(&mut self) -> Result<()> {
        self.count_entry();
        self.open.push(0);
        if self.open.len() > MAX_DIMENSIONS {
            return Err(too_many_dimensions(self.open.len()));
        }
        if self.lengths.len() < self.open.len() {
            self.lengths.push(0);
        }
        self.place = Place::Opened;
        Ok(())
    }

    fn close_brace(&mut self, malformed: &impl Fn(String) -> Error) -> Result<()> {
        let entries = self.open.pop().unwrap_or_default();
        let length = &mut self.lengths[self.open.len()];
        if *length == 0 {
            *length = entries;
        }
        if *length != entries {
            return Err(malformed(
                "Multidimensional arrays must have sub-arrays with matching dimensions.".to_owned(),
            ));
        }
        self.place = Place::Filled;
        Ok(())
    }

    fn count_entry(&mut self) {
        if let Some(entries) = self.open.last_mut() {
            *entries += 1;
        }
    }

    /// Reads one element: in quotes, or up to a comma or brace without the blanks around it. NULL without quotes is NULL.
    fn element(&mut self, element: LogicalType, malformed: &impl Fn(String) -> Error) -> Result<()> {
        let ends = || malformed("Unexpected end of input.".to_owned());
        let is_quoted = self.rest.starts_with('"');
        let mut chars = self.rest[usize::from(is_quoted)..].chars();
        let mut text = String::new();
        // Bytes of `text` up to its last character that is not a blank or stands behind a backslash.
        let mut kept = 0;
        let mut has_backslash = false;
        loop {
            let before = chars.as_str();
            match chars.next().ok_or_else(ends)? {
                '\\' => {
                    text.push(chars.next().ok_or_else(ends)?);
                    has_backslash = true;
                    kept = text.len();
                }
                '"' if is_quoted => {
                    self.rest = chars.as_str();
                    break;
                }
                '"' => return Err(malformed("Unexpected array element.".to_owned())),
                '{' if !is_quoted => return Err(malformed("Unexpected \"{\" character.".to_owned())),
                ',' | '}' if !is_quoted => {
                    text.truncate(kept);
                    self.rest = before;
                    break;
                }
                c => {
                    text.push(c);
                    kept = if is_blank(c) { kept } else { text.len() };
                }
            }
        }
        let is_null = !is_quoted && !has_backslash && text.eq_ignore_ascii_case("null");
        let value = match is_null {
            true => Value::Null,
            false => (element.info().read)(&text, element)?,
        };
        self.elements.push(value);
        self.count_entry();
        self.depth = Some(self.open.len());
        self.place = Place::Filled;
        Ok(())
    }
}

/// Writes an array as PostgreSQL does: bounds only where a lower one is not 1, quotes only where an element needs them.
pub fn write(f: &mut dyn fmt::Write, bytes: &[u8], element: LogicalType) -> fmt::Result {
    let array = ArrayRef::new(bytes, element).map_err(|_| fmt::Error)?;
    let dimensions: Vec<Dimension> = array.dimensions().collect();
    if array.is_empty() {
        return f.write_str("{}");
    }
    if dimensions.iter().any(|d| d.lower != 1) {
        for d in &dimensions {
            write!(
                f,
                "[{}:{}]",
                d.lower,
                i64::from(d.lower) + i64::from(d.length) - 1
            )?;
        }
        f.write_char('=')?;
    }
    // Elements of a brace at each level, the innermost one first.
    let sizes: Vec<usize> = dimensions
        .iter()
        .rev()
        .scan(1, |size, d| {
            *size *= d.length as usize;
            Some(*size)
        })
        .collect();
    let mut text = String::new();
    for at in 0..array.len() {
        if at > 0 {
            f.write_char(',')?;
        }
        sizes
            .iter()
            .filter(|size| at % **size == 0)
            .try_for_each(|_| f.write_char('{'))?;
        match array.get(at).map_err(|_| fmt::Error)? {
            Value::Null => f.write_str("NULL")?,
            value => {
                text.clear();
                (element.info().write)(&mut text, &value, element)?;
                write_element(f, &text)?;
            }
        }
        let closed = sizes.iter().filter(|size| (at + 1) % **size == 0);
        closed.into_iter().try_for_each(|_| f.write_char('}'))?;
    }
    Ok(())
}

/// Writes an element's text, in quotes if it would not be read as it is without.
fn write_element(f: &mut dyn fmt::Write, text: &str) -> fmt::Result {
    let is_special = |c: char| matches!(c, '"' | '\\' | '{' | '}' | ',') || is_blank(c);
    if !text.is_empty() && !text.eq_ignore_ascii_case("null") && !text.contains(is_special) {
        return f.write_str(text);
    }
    f.write_char('"')?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, element: LogicalType) -> Result<String> {
        let mut out = String::new();
        write(&mut out, &read(text, element)?, element).unwrap();
        Ok(out)
    }

    #[test]
    fn reads_and_writes_as_postgresql() {
        for (text, expected) in [
            ("{}", "{}"),
            (" {} ", "{}"),
            ("{ }", "{}"),
            (
                r#"{a b , "c d" , \\e , nuLL, "null"}"#,
                r#"{"a b","c d","\\e",NULL,"null"}"#,
            ),
            (r#"{""}"#, r#"{""}"#),
            (r"{a\\,b}", r#"{"a\\",b}"#),
            (r#"{"a\"b", "c\\\\d"}"#, r#"{"a\"b","c\\\\d"}"#),
            (r"{\\null}", r#"{"\\null"}"#),
            (r"{\null}", r#"{"null"}"#),
            ("{{a,b},{c,d}}", "{{a,b},{c,d}}"),
            (
                "{{{1,2},{3,4}},{{5,6},{7,NULL}}}",
                "{{{1,2},{3,4}},{{5,6},{7,NULL}}}",
            ),
            ("[2:3]={1,2}", "[2:3]={1,2}"),
            ("[1:2] = {1,2}", "{1,2}"),
            ("[2]={1,2}", "{1,2}"),
            ("[0:0][2:3]={{1,2}}", "[0:0][2:3]={{1,2}}"),
            ("[-2:-1]={1,2}", "[-2:-1]={1,2}"),
        ] {
            assert_eq!(shown(text, LogicalType::Text).unwrap(), expected, "{text}");
        }
        assert_eq!(shown(" { 1 , 2 } ", LogicalType::Integer).unwrap(), "{1,2}");
        assert_eq!(shown("{t,false}", LogicalType::Boolean).unwrap(), "{t,f}");
    }

    #[test]
    fn refuses_as_postgresql() {
        let ragged = "Multidimensional arrays must have sub-arrays with matching dimensions.";
        let mismatch = "Specified array dimensions do not match array contents.";
        let start = "Array value must start with \"{\" or dimension information.";
        for (text, detail) in [
            ("{1,2", "Unexpected end of input."),
            ("", start),
            ("x", start),
            ("{1,}", "Unexpected \"}\" character."),
            ("{,1}", "Unexpected \",\" character."),
            ("{1,,2}", "Unexpected \",\" character."),
            ("{{1,2},{3}}", ragged),
            ("{{1},2}", "Unexpected array element."),
            ("{1,{2}}", "Unexpected \"{\" character."),
            ("{1}x", "Junk after closing right brace."),
            ("{{},{}}", "Unexpected \"}\" character."),
            ("{{}}", "Unexpected \"}\" character."),
            ("{{1,2}{3,4}}", "Unexpected \"{\" character."),
            (r#"{"1"2}"#, "Unexpected array element."),
            (r#"{1"2"}"#, "Unexpected array element."),
            (r#"{"1}"#, "Unexpected end of input."),
            ("[2:3]={1}", mismatch),
            ("[1:2]={{1},{2}}", mismatch),
            (
                "[a]={1}",
                "\"[\" must introduce explicitly-specified array dimensions.",
            ),
            ("[1:]={1}", "Missing array dimension value."),
            ("[1:2]{1}", "Missing \"=\" after array dimensions."),
            ("[1:2]=1", "Array contents must start with \"{\"."),
            ("[1:2={1,2}", "Missing \"]\" after array dimensions."),
        ] {
            let error = shown(text, LogicalType::Integer).unwrap_err();
            assert_eq!(error.state(), SqlState::INVALID_TEXT, "{text}");
            assert_eq!(error.message(), format!("malformed array literal: \"{text}\""));
            assert_eq!(error.detail(), Some(detail), "{text}");
        }
        for (text, state, message) in [
            ("{1,x}", "22P02", "invalid input syntax for type integer: \"x\""),
            ("{1 2}", "22P02", "invalid input syntax for type integer: \"1 2\""),
            ("[3:2]={}", "2202E", "upper bound cannot be less than lower bound"),
            (
                "{{{{{{{1}}}}}}}",
                "54000",
                "number of array dimensions (7) exceeds the maximum allowed (6)",
            ),
        ] {
            let error = shown(text, LogicalType::Integer).unwrap_err();
            assert_eq!((error.state().0, error.message()), (state, message), "{text}");
        }
    }
}
