//! Values of any type as JSON, and documents of json and jsonb alike.

use crate::vector::{Row, check_length, invalid_parameter};
use frazil_plan::Expr;
use frazil_types::array::ArrayRef;
use frazil_types::json::{self, Json, raw_elements, raw_kind, raw_members, raw_string};
use frazil_types::logical_type::WITHOUT_LENGTH;
use frazil_types::{Category, Counts, DocumentForm, Error, LogicalType, Result, Value};
use std::fmt::Write;

/// A document: the text of a json, or the binary form of a jsonb.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Document<'a> {
    /// The text of a json.
    Text(&'a str),
    /// The binary form of a jsonb.
    Binary(&'a [u8]),
}

/// The keys and values of an object.
pub(crate) type Members<'a> = Vec<(String, Document<'a>)>;

impl<'a> Document<'a> {
    /// An argument that is a json or jsonb.
    pub fn of(row: &'a Row<'_>, argument: usize) -> Document<'a> {
        let bytes = row.bytes(argument);
        match row.ty(argument).document() {
            Some(DocumentForm::Binary) => Document::Binary(bytes),
            _ => Document::Text(std::str::from_utf8(bytes).unwrap_or("null")),
        }
    }

    /// The name of its kind, as json_typeof gives it.
    pub fn kind(self) -> &'static str {
        match self {
            Document::Text(text) => raw_kind(text),
            Document::Binary(binary) => Json::new(binary).kind(),
        }
    }

    /// Whether it is neither an object nor an array.
    fn is_scalar(self) -> bool {
        !matches!(self.kind(), "object" | "array")
    }

    /// Its bytes, as values of its type have them.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Document::Text(text) => text.as_bytes(),
            Document::Binary(binary) => binary,
        }
    }

    /// The elements of an array; `None` for what is no array.
    pub fn elements(self) -> Option<Vec<Document<'a>>> {
        match self {
            Document::Text(text) => {
                let elements = raw_elements(text)?;
                Some(elements.into_iter().map(Document::Text).collect())
            }
            Document::Binary(binary) => match Json::new(binary) {
                Json::Array(array) => Some(array.elements().map(Document::Binary).collect()),
                _ => None,
            },
        }
    }

    /// The members of an object; `None` for what is no object.
    pub fn members(self) -> Result<Option<Members<'a>>> {
        Ok(match self {
            Document::Text(text) => raw_members(text)?.map(|members| {
                let members = members.into_iter();
                members.map(|(key, text)| (key, Document::Text(text))).collect()
            }),
            Document::Binary(binary) => match Json::new(binary) {
                Json::Object(object) => {
                    let member = |(key, binary): (&str, _)| (key.to_owned(), Document::Binary(binary));
                    Some(object.members().map(member).collect())
                }
                _ => None,
            },
        })
    }

    /// The value of a key; of several the last one's.
    pub fn member(self, key: &str) -> Result<Option<Document<'a>>> {
        match self {
            Document::Binary(binary) => Ok(json::member(binary, key).map(Document::Binary)),
            Document::Text(_) => {
                let members = self.members()?.unwrap_or_default();
                let found = members.into_iter().rev().find(|(own, _)| own == key);
                Ok(found.map(|(_, value)| value))
            }
        }
    }

    /// The element at a position from 0, or from the end if negative.
    pub fn element(self, index: i64) -> Option<Document<'a>> {
        match self {
            Document::Binary(binary) => json::element(binary, index).map(Document::Binary),
            Document::Text(_) => {
                let elements = self.elements()?;
                let from = if index < 0 { elements.len() as i64 } else { 0 };
                elements.get(usize::try_from(index + from).ok()?).copied()
            }
        }
    }

    /// What lies at the end of a path of keys and positions.
    pub fn at_path(self, path: &[&str]) -> Result<Option<Document<'a>>> {
        if let Document::Binary(binary) = self {
            return Ok(json::at_path(binary, path).map(Document::Binary));
        }
        let mut at = match self {
            // As PostgreSQL has it, the whole document keeps the blanks before a scalar.
            Document::Text(text) if self.is_scalar() => Document::Text(text.trim_ascii_end()),
            Document::Text(text) => Document::Text(text.trim_ascii()),
            binary => binary,
        };
        for step in path {
            let next = match at.kind() {
                "object" => at.member(step)?,
                "array" => {
                    let index = step.trim_ascii_start().parse::<i32>().ok();
                    index.and_then(|index| at.element(index.into()))
                }
                _ => None,
            };
            match next {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// What `->>` gives: the characters of a string, the text of all else; `None` for null.
    pub fn shown(self) -> Result<Option<String>> {
        if self.kind() == "null" {
            return Ok(None);
        }
        let characters = match self {
            Document::Text(text) => raw_string(text)?,
            Document::Binary(binary) => match Json::new(binary) {
                Json::String(characters) => Some(characters.to_owned()),
                _ => None,
            },
        };
        Ok(Some(characters.unwrap_or_else(|| self.to_text())))
    }

    /// Its text.
    pub fn to_text(self) -> String {
        match self {
            Document::Text(text) => text.to_owned(),
            Document::Binary(binary) => {
                let mut text = String::new();
                let _ = json::write_compact(&mut text, binary);
                text
            }
        }
    }
}

/// A text as a value of json or jsonb. Errors 22P02, 22P05, 22003, 54001.
pub(crate) fn bytes_of_text(text: String, ty: LogicalType) -> Result<Vec<u8>> {
    match ty.document() {
        Some(DocumentForm::Binary) => json::binary_of_text(&text),
        _ => Ok(text.into_bytes()),
    }
}

/// Appends a value as JSON: numbers bare, dates and times in the form of ISO 8601, arrays as arrays, what has no form
/// of its own as the string that shows it. Error 54000.
pub(crate) fn push_json(out: &mut String, value: &Value, ty: LogicalType) -> Result<()> {
    let shown = || value.display(ty).to_string();
    match (value, ty.element()) {
        (Value::Null, _) => out.push_str("null"),
        (Value::Bool(b), _) => out.push_str(if *b { "true" } else { "false" }),
        (Value::Double(d), _) if d.is_finite() => out.push_str(&shown()),
        (Value::Int(_), _) if ty.info().category == Category::Numeric => out.push_str(&shown()),
        _ if ty.is_unscaled() || ty.document().is_some() => out.push_str(&shown()),
        (Value::Bytes(bytes), Some(element)) => {
            let array = ArrayRef::new(bytes, element)?;
            let values = array.elements().collect::<Result<Vec<_>>>()?;
            let lengths: Vec<usize> = array.dimensions().map(|d| d.length as usize).collect();
            push_array(out, &values, &lengths, (array.element(), ","))?;
        }
        _ if ty.info().counts == Counts::Micros => {
            let _ = json::write_string(out, &iso(shown()));
        }
        _ => {
            let text = shown_text(value, ty)?;
            check_length(out.len() + text.len())?;
            let _ = json::write_string(out, &text);
        }
    }
    check_length(out.len())
}

/// The text before an array or a row in a list of them.
pub(crate) const LINE: &str = "\n ";

/// 0A000 for a row, or an array of rows, whose columns are not known any more.
pub(crate) fn refuse_records(values: &[Expr]) -> Result<()> {
    let is_record = |e: &&Expr| e.ty.element().unwrap_or(e.ty) == LogicalType::Record;
    match values.iter().find(is_record) {
        None => Ok(()),
        Some(e) => {
            let what = "JSON of a row that is neither a relation nor written as one";
            Err(Error::unsupported(what)
                .with_hint("make JSON of the row where its columns are known, as in row_to_json(t)")
                .at_span(e.span))
        }
    }
}

/// The text that shows a value, with the blanks at its end that its type's length asks for.
pub(crate) fn shown_text(value: &Value, ty: LogicalType) -> Result<String> {
    let mut text = value.display(ty).to_string();
    if let Some(length) = ty.length().filter(|n| ty.is_padded() && *n != WITHOUT_LENGTH) {
        let missing = (length as usize).saturating_sub(text.chars().count());
        check_length(missing)?;
        text.extend(std::iter::repeat_n(' ', missing));
    }
    Ok(text)
}

/// Appends an array as JSON whose outermost elements stand on lines of their own.
pub(crate) fn push_array_in_lines(out: &mut String, bytes: &[u8], ty: LogicalType) -> Result<()> {
    let array = ArrayRef::new(bytes, ty.element().unwrap_or(ty))?;
    let values = array.elements().collect::<Result<Vec<_>>>()?;
    let lengths: Vec<usize> = array.dimensions().map(|d| d.length as usize).collect();
    push_array(out, &values, &lengths, (array.element(), ",\n "))?;
    check_length(out.len())
}

fn push_array(
    out: &mut String,
    values: &[Value],
    lengths: &[usize],
    (element, between): (LogicalType, &str),
) -> Result<()> {
    out.push('[');
    if let [length, inner @ ..] = lengths {
        for (at, part) in values.chunks(values.len() / (*length).max(1)).enumerate() {
            out.push_str(if at == 0 { "" } else { between });
            match inner.is_empty() {
                true => push_json(out, &part[0], element)?,
                false => push_array(out, part, inner, (element, ","))?,
            }
        }
    }
    out.push(']');
    Ok(())
}

/// The text of a timestamp with a T, and with minutes of its offset.
fn iso(shown: String) -> String {
    let Some((day, time)) = shown.split_once(' ') else {
        return shown;
    };
    let (time, era) = match time.strip_suffix(" BC") {
        Some(time) => (time, " BC"),
        None => (time, ""),
    };
    let minutes = match time.find(['+', '-']) {
        Some(sign) if !time[sign..].contains(':') => ":00",
        _ => "",
    };
    format!("{day}T{time}{minutes}{era}")
}

/// Appends a value as an object's key. Error 22023 for what is no scalar.
pub(crate) fn push_key(out: &mut String, value: &Value, ty: LogicalType) -> Result<()> {
    if ty.element().is_some() || ty.document().is_some() {
        let message = "key value must be scalar, not array, composite, or json";
        return Err(invalid_parameter(message));
    }
    let start = out.len();
    push_json(out, value, ty)?;
    if !out[start..].starts_with('"') {
        out.insert(start, '"');
        let _ = out.write_char('"');
    }
    Ok(())
}
