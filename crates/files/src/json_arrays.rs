//! Arrays ↔ JSON's. Those of several dimensions nest; one whose subscripts do not begin with 1 is a string, because JSON has no bounds.

use crate::json_text::{not_json, push_scalar, push_string, text_of};
use frazil_types::array::{ArrayRef, MAX_DIMENSIONS, too_many_dimensions};
use frazil_types::{LogicalType, Result, Value};
use serde_json::value::RawValue;

/// Appends the JSON of an array of elements of a type; `shown`: its text.
pub(crate) fn push_array(out: &mut Vec<u8>, bytes: &[u8], element: LogicalType, shown: &str) -> Result<()> {
    let array = ArrayRef::new(bytes, element)?;
    if array.dimensions().any(|d| d.lower != 1) {
        push_string(out, shown);
        return Ok(());
    }
    if array.is_empty() {
        out.extend_from_slice(b"[]");
        return Ok(());
    }
    // Elements of a bracket at each level, the innermost one first.
    let lengths: Vec<usize> = array.dimensions().map(|d| d.length as usize).collect();
    let mut sizes = Vec::with_capacity(lengths.len());
    let mut size = 1;
    for length in lengths.iter().rev() {
        size *= length;
        sizes.push(size);
    }
    let mut text = String::new();
    for (at, value) in array.elements().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        sizes
            .iter()
            .filter(|size| at % **size == 0)
            .for_each(|_| out.push(b'['));
        let value = value?;
        text.clear();
        text.push_str(&value.display(element).to_string());
        match value {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Double(double) => push_scalar(out, &text, element, double.is_finite()),
            _ => push_scalar(out, &text, element, true),
        }
        sizes
            .iter()
            .filter(|size| (at + 1) % **size == 0)
            .for_each(|_| out.push(b']'));
    }
    Ok(())
}

/// The text of an array that JSON's array stands for: `[1,null,["a"]]` is `{1,NULL,{"a"}}`. What is no number is quoted, and objects
/// are the text that stands in the file. 54000 for more dimensions than arrays have.
pub(crate) fn array_text(json: &str) -> Result<String> {
    let mut out = String::with_capacity(json.len());
    push_array_text(&mut out, json, 1)?;
    Ok(out)
}

fn push_array_text(out: &mut String, json: &str, depth: usize) -> Result<()> {
    if depth > MAX_DIMENSIONS {
        return Err(too_many_dimensions(depth));
    }
    let elements: Vec<&RawValue> = serde_json::from_str(json).map_err(|e| not_json(&e))?;
    out.push('{');
    for (at, element) in elements.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        let json = element.get();
        match json.as_bytes().first() {
            Some(b'n') => out.push_str("NULL"),
            Some(b'[') => push_array_text(out, json, depth + 1)?,
            Some(b'"') => push_quoted(out, &text_of(json.as_bytes())?),
            Some(b'{') => push_quoted(out, json),
            _ => out.push_str(json),
        }
    }
    out.push('}');
    Ok(())
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::array;

    #[test]
    fn arrays_nest_as_they_do_in_json() {
        for (json, text) in [
            ("[]", "{}"),
            ("[1, -2.50,null]", "{1,-2.50,NULL}"),
            ("[[true],[false]]", "{{true},{false}}"),
            (
                r#"["a\"b\\","NULL","\u00e9", {"k": [1]}]"#,
                r#"{"a\"b\\","NULL","é","{\"k\": [1]}"}"#,
            ),
        ] {
            assert_eq!(array_text(json).expect("JSON"), text);
        }
        assert!(array_text("[1,").is_err());
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let error = array_text(&deep).expect_err("it has too many dimensions");
        assert_eq!(error.state(), frazil_types::SqlState::PROGRAM_LIMIT_EXCEEDED);
    }

    #[test]
    fn what_is_written_is_read() {
        for (element, text, json) in [
            (LogicalType::Integer, "{}", "[]"),
            (LogicalType::Integer, "{{1,2},{NULL,4}}", "[[1,2],[null,4]]"),
            (LogicalType::Integer, "[0:1]={1,2}", r#""[0:1]={1,2}""#),
            (LogicalType::Double, "{0.5,NaN}", r#"[0.5,"NaN"]"#),
            (LogicalType::Boolean, "{t,f}", "[true,false]"),
            (
                LogicalType::Text,
                r#"{"a,b","","null",NULL}"#,
                r#"["a,b","","null",null]"#,
            ),
            (LogicalType::Date, "{2024-02-29}", r#"["2024-02-29"]"#),
        ] {
            let bytes = array::read(text, element).expect("an array");
            let mut out = Vec::new();
            push_array(&mut out, &bytes, element, text).expect("it is sound");
            let out = String::from_utf8(out).expect("JSON is UTF-8");
            assert_eq!(out, json);
            if json.starts_with('[') {
                let back = array_text(&out).expect("JSON");
                assert_eq!(array::read(&back, element).expect("an array"), bytes, "{back}");
            }
        }
    }
}
