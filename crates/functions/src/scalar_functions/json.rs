//! Functions of json and jsonb: PostgreSQL's manual, 9.16.

use crate::build::TEXT;
use crate::function::{Function, functions, rows as call, total};
use crate::json::{Document, bytes_of_text, push_array_in_lines, push_json, push_key, refuse_records};
use crate::resolve::no_function;
use crate::type_rules::Kind::{Array, Boolean, Integer, Json, Jsonb, Text};
use crate::vector::{OnNull, Output, Row, RowFn, invalid_parameter, rows};
use crate::{CastContext, Operand, Subscript, Typing};
use frazil_plan::{CONDITION, Expr};
use frazil_types::array::{self, ArrayRef};
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value, json};
use std::fmt::Write;

pub(crate) const JSON: LogicalType = LogicalType::Json;
pub(crate) const JSONB: LogicalType = LogicalType::Jsonb;

/// Functions behind operators that PostgreSQL has no such names for.
pub(crate) const OPERATORS: &[Function] = functions! {
    "json_at_path", [call(&[Json, Array], at_path, Json)], "what lies at a path";
    "json_at_path_text", [call(&[Json, Array], at_path_text, Text)], "what lies at a path, as a text";
    "jsonb_at_path", [total(&[Jsonb, Array], at_path, Jsonb)], "what lies at a path";
    "jsonb_at_path_text", [call(&[Jsonb, Array], at_path_text, Text)], "what lies at a path, as a text";
};

pub(crate) const FUNCTIONS: &[Function] = functions! {
    "json_array_element", [call(&[Json, Integer], element, Json)], "`->`: an element of an array by its position from 0, or from the end if negative";
    "json_array_element_text", [call(&[Json, Integer], element_text, Text)], "`->>`: like `->`, as a text";
    "json_array_length", [call(&[Json], array_length, Integer)], "the number of elements of an array";
    "json_object", [call(&[Array], object_of_texts, Json), call(&[Array, Array], object_of_keys, Json)],
        "an object of keys and texts, which alternate or are in two arrays";
    "json_object_field", [call(&[Json, Text], field, Json)], "`->`: the value of a key";
    "json_object_field_text", [call(&[Json, Text], field_text, Text)], "`->>`: like `->`, as a text";
    "json_strip_nulls", [call(&[Json], strip_nulls, Json)], "the document without members that are null, at any depth";
    "json_typeof", [total(&[Json], kind, Text)], "object, array, string, number, boolean or null";
    "jsonb_array_element", [total(&[Jsonb, Integer], element, Jsonb)], "`->`: an element of an array by its position from 0, or from the end if negative";
    "jsonb_array_element_text", [total(&[Jsonb, Integer], element_text, Text)], "`->>`: like `->`, as a text";
    "jsonb_array_length", [call(&[Jsonb], array_length, Integer)], "the number of elements of an array";
    "jsonb_contained", [total(&[Jsonb, Jsonb], |r, o| o.bool(json::contains(r.bytes(1), r.bytes(0))), Boolean)], "`<@`: true if the second contains the first";
    "jsonb_contains", [total(&[Jsonb, Jsonb], |r, o| o.bool(json::contains(r.bytes(0), r.bytes(1))), Boolean)], "`@>`: true if the first contains the second";
    "jsonb_exists", [total(&[Jsonb, Text], |r, o| o.bool(json::has_key(r.bytes(0), r.text(1))), Boolean)], "`?`: true if a text is a key of the object or a string of the array";
    "jsonb_exists_all", [call(&[Jsonb, Array], |r, o| exists(r, |found, all| found == all, o), Boolean)], "`?&`: true if all texts are keys";
    "jsonb_exists_any", [call(&[Jsonb, Array], |r, o| exists(r, |found, _| found > 0, o), Boolean)], "`?|`: true if one of the texts is a key";
    "jsonb_object", [call(&[Array], object_of_texts, Jsonb), call(&[Array, Array], object_of_keys, Jsonb)],
        "an object of keys and texts, which alternate or are in two arrays";
    "jsonb_object_field", [total(&[Jsonb, Text], field, Jsonb)], "`->`: the value of a key";
    "jsonb_object_field_text", [total(&[Jsonb, Text], field_text, Text)], "`->>`: like `->`, as a text";
    "jsonb_pretty", [call(&[Jsonb], pretty, Text)], "the document as a text, indented, with one line for each member and element";
    "jsonb_strip_nulls", [call(&[Jsonb], strip_nulls, Jsonb)], "the document without members that are null, at any depth";
    "jsonb_typeof", [total(&[Jsonb], kind, Text)], "object, array, string, number, boolean or null";
};

/// Functions of arguments of any types and number: how they are called, the description.
pub(super) const OF_ANYTHING: &[(&str, &str, &str)] = &[
    (
        "array_to_json",
        "array_to_json(anyarray [, boolean]) → json",
        "the array as a JSON array, optionally with each element on its own line",
    ),
    (
        "json_build_array",
        "json_build_array(any, …) → json",
        "an array of the arguments",
    ),
    (
        "json_build_object",
        "json_build_object(any, …) → json",
        "an object of keys and values, which alternate",
    ),
    (
        "json_extract_path",
        "json_extract_path(json, text, …) → json",
        "the value at a path of keys and positions",
    ),
    (
        "json_extract_path_text",
        "json_extract_path_text(json, text, …) → text",
        "the value at a path of keys and positions, as a text",
    ),
    (
        "jsonb_build_array",
        "jsonb_build_array(any, …) → jsonb",
        "an array of the arguments",
    ),
    (
        "jsonb_build_object",
        "jsonb_build_object(any, …) → jsonb",
        "an object of keys and values, which alternate",
    ),
    (
        "jsonb_extract_path",
        "jsonb_extract_path(jsonb, text, …) → jsonb",
        "the value at a path of keys and positions",
    ),
    (
        "jsonb_extract_path_text",
        "jsonb_extract_path_text(jsonb, text, …) → text",
        "the value at a path of keys and positions, as a text",
    ),
    (
        "row_to_json",
        "row_to_json(record [, boolean]) → json",
        "the row as an object of JSON, its columns on lines of their own if so wished",
    ),
    ("to_json", "to_json(any) → json", "the value as JSON"),
    ("to_jsonb", "to_jsonb(any) → jsonb", "the value as JSON"),
];

impl Typing {
    /// `jsonb[step] …`: what lies at a path of keys and positions. 42804 for a step that is neither, and for slices.
    pub(crate) fn document_subscript(
        &self,
        document: Operand,
        steps: Vec<Subscript>,
        span: Span,
    ) -> Result<Operand> {
        let mut arguments = vec![document];
        for step in steps {
            let Subscript::Index(step) = step else {
                let message = "jsonb subscript does not support slices";
                return Err(Error::new(SqlState::DATATYPE_MISMATCH, message).at_span(span));
            };
            if let Some(ty) = step.ty().filter(|ty| !ty.is_integer() && !ty.is_string()) {
                let message = format!("subscript type {ty} is not supported");
                let error = Error::new(SqlState::DATATYPE_MISMATCH, message).at_span(step.span());
                return Err(error.with_hint("a subscript of jsonb is an integer or a text"));
            }
            let step = self.cast(step, TEXT, CastContext::Explicit, Span::NONE)?;
            arguments.push(step.into());
        }
        let call = self.json_call("jsonb_extract_path", &arguments)?;
        let call = call.ok_or_else(|| Error::internal("no paths into jsonb"))?;
        Ok(call.at(span).into())
    }

    /// A call of a function of [`OF_ANYTHING`]; `None` for what is none of them. 42883.
    pub(super) fn json_call(&self, name: &str, arguments: &[Operand]) -> Result<Option<Expr>> {
        let Some((name, ..)) = OF_ANYTHING.iter().find(|f| f.0 == name) else {
            return Ok(None);
        };
        let ty = if name.contains("jsonb") { JSONB } else { JSON };
        let missing = || no_function(name, arguments);
        let settled = || {
            let parts = arguments.iter().map(|x| self.settle(x.clone()));
            let parts = parts.collect::<Result<Vec<_>>>()?;
            refuse_records(&parts).map(|()| parts)
        };
        let (on_null, run, ty): (_, RowFn, _) = match (*name, arguments) {
            ("to_json" | "to_jsonb", [_]) => (OnNull::Null, value_as_json, ty),
            ("array_to_json", [Operand::Typed(e)]) if e.ty.element().is_some() => {
                (OnNull::Null, value_as_json, ty)
            }
            ("array_to_json", [Operand::Typed(e), in_lines]) if e.ty.element().is_some() => {
                let parts = vec![e.clone(), self.argument_of(in_lines, CONDITION)?];
                return Ok(Some(rows(name, OnNull::Null, array_in_lines, parts, ty)));
            }
            ("json_build_array" | "jsonb_build_array", _) => (OnNull::Called, build_array, ty),
            ("json_build_object" | "jsonb_build_object", _) => (OnNull::Called, build_object, ty),
            (_, [_, _, ..]) if name.contains("extract_path") => {
                let mut parts = vec![self.argument_of(&arguments[0], ty)?];
                for step in &arguments[1..] {
                    parts.push(self.argument_of(step, TEXT)?);
                }
                let (run, ty): (RowFn, _) = match name.ends_with("_text") {
                    true => (|r, o| put_text(along(r)?, o), TEXT),
                    false => (|r, o| put(along(r)?, o), ty),
                };
                return Ok(Some(rows(name, OnNull::Null, run, parts, ty)));
            }
            _ => return Err(missing()),
        };
        Ok(Some(rows(name, on_null, run, settled()?, ty)))
    }

    fn argument_of(&self, x: &Operand, ty: LogicalType) -> Result<Expr> {
        self.cast(x.clone(), ty, CastContext::Implicit, Span::NONE)
    }
}

/// The document at the path of the arguments behind the first.
fn along<'a>(row: &'a Row<'_>) -> Result<Option<Document<'a>>> {
    let path: Vec<&str> = (1..row.arguments()).map(|at| row.text(at)).collect();
    Document::of(row, 0).at_path(&path)
}

/// Gives a document, or NULL.
fn put(found: Option<Document<'_>>, out: &mut Output<'_>) -> Result<()> {
    match found {
        Some(document) => out.bytes(document.bytes()),
        None => out.null(),
    }
}

/// Gives what `->>` shows of a document, or NULL.
fn put_text(found: Option<Document<'_>>, out: &mut Output<'_>) -> Result<()> {
    match found.map(Document::shown).transpose()?.flatten() {
        Some(text) => out.text(&text),
        None => out.null(),
    }
}

fn field(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    put(Document::of(row, 0).member(row.text(1))?, out)
}

fn field_text(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    put_text(Document::of(row, 0).member(row.text(1))?, out)
}

fn element(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    put(Document::of(row, 0).element(row.int(1)), out)
}

fn element_text(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    put_text(Document::of(row, 0).element(row.int(1)), out)
}

/// The texts of an argument that is an array; `None` stands for NULL.
pub(super) fn texts(row: &Row<'_>, argument: usize) -> Result<Vec<Option<String>>> {
    let element = row.ty(argument).element().unwrap_or(TEXT);
    let array = ArrayRef::new(row.bytes(argument), element)?;
    let text = |value: Value| (!value.is_null()).then(|| value.display(element).to_string());
    array.elements().map(|value| Ok(text(value?))).collect()
}

/// What lies at a path in an array of texts; with NULL among them nothing does.
fn found_at<'a>(row: &'a Row<'_>) -> Result<Option<Document<'a>>> {
    let path: Option<Vec<String>> = texts(row, 1)?.into_iter().collect();
    let Some(path) = path else { return Ok(None) };
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    Document::of(row, 0).at_path(&path)
}

fn at_path(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    put(found_at(row)?, out)
}

fn at_path_text(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    put_text(found_at(row)?, out)
}

/// Whether so many of the texts that are not NULL are keys.
fn exists(row: &Row<'_>, holds: fn(usize, usize) -> bool, out: &mut Output<'_>) -> Result<()> {
    let texts: Vec<String> = texts(row, 1)?.into_iter().flatten().collect();
    let found = texts
        .iter()
        .filter(|text| json::has_key(row.bytes(0), text))
        .count();
    out.bool(holds(found, texts.len()))
}

fn kind(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    out.text(Document::of(row, 0).kind())
}

fn array_length(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let document = Document::of(row, 0);
    match document.elements() {
        Some(elements) => out.int(elements.len() as i128),
        None if document.kind() == "object" => {
            Err(invalid_parameter("cannot get array length of a non-array"))
        }
        None => Err(invalid_parameter("cannot get array length of a scalar")),
    }
}

/// Gives a text as a json or jsonb.
fn made(text: String, out: &mut Output<'_>) -> Result<()> {
    let ty = out.ty();
    out.bytes(&bytes_of_text(text, ty)?)
}

fn value_as_json(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let mut text = String::new();
    push_json(&mut text, &row.value(0), row.ty(0))?;
    made(text, out)
}

fn array_in_lines(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if !row.bool(1) {
        return value_as_json(row, out);
    }
    let mut text = String::new();
    push_array_in_lines(&mut text, row.bytes(0), row.ty(0))?;
    made(text, out)
}

fn build_array(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let mut text = String::from("[");
    for at in 0..row.arguments() {
        text.push_str(if at == 0 { "" } else { ", " });
        push_json(&mut text, &row.value(at), row.ty(at))?;
    }
    text.push(']');
    made(text, out)
}

fn build_object(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if !row.arguments().is_multiple_of(2) {
        let name = if out.ty() == JSONB {
            "jsonb_build_object()"
        } else {
            "json_build_object()"
        };
        let hint = format!("The arguments of {name} must consist of alternating keys and values.");
        return Err(invalid_parameter("argument list must have even number of elements").with_hint(hint));
    }
    let mut text = String::from("{");
    for key in (0..row.arguments()).step_by(2) {
        if row.is_null(key) {
            return Err(match out.ty() {
                JSONB => invalid_parameter(format!("argument {}: key must not be null", key + 1)),
                _ => invalid_parameter(format!("argument {} cannot be null", key + 1))
                    .with_hint("Object keys should be text."),
            });
        }
        text.push_str(if key == 0 { "" } else { ", " });
        push_key(&mut text, &row.value(key), row.ty(key))?;
        text.push_str(" : ");
        push_json(&mut text, &row.value(key + 1), row.ty(key + 1))?;
    }
    text.push('}');
    made(text, out)
}

fn object(pairs: Vec<(Option<String>, Option<String>)>, out: &mut Output<'_>) -> Result<()> {
    let mut text = String::from("{");
    for (at, (key, value)) in pairs.into_iter().enumerate() {
        let null = || {
            Error::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                "null value not allowed for object key",
            )
        };
        text.push_str(if at == 0 { "" } else { ", " });
        let _ = json::write_string(&mut text, &key.ok_or_else(null)?);
        text.push_str(" : ");
        match value {
            Some(value) => json::write_string(&mut text, &value).unwrap_or_default(),
            None => text.push_str("null"),
        }
    }
    text.push('}');
    made(text, out)
}

/// The error 2202E of arrays that are no keys and values.
fn not_pairs(message: &str) -> Error {
    Error::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

fn dimensions(row: &Row<'_>, argument: usize) -> Result<Vec<array::Dimension>> {
    let element = row.ty(argument).element().unwrap_or(TEXT);
    Ok(ArrayRef::new(row.bytes(argument), element)?
        .dimensions()
        .collect())
}

fn object_of_texts(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match dimensions(row, 0)?[..] {
        [] => {}
        [line] if line.length.is_multiple_of(2) => {}
        [_] => return Err(not_pairs("array must have even number of elements")),
        [_, pair] if pair.length == 2 => {}
        [_, _] => return Err(not_pairs("array must have two columns")),
        _ => return Err(not_pairs("wrong number of array subscripts")),
    }
    let mut texts = texts(row, 0)?.into_iter();
    let mut pairs = Vec::new();
    while let Some((key, value)) = texts.next().zip(texts.next()) {
        pairs.push((key, value));
    }
    object(pairs, out)
}

fn object_of_keys(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if dimensions(row, 0)?.len() > 1 || dimensions(row, 1)?.len() > 1 {
        return Err(not_pairs("wrong number of array subscripts"));
    }
    let (keys, values) = (texts(row, 0)?, texts(row, 1)?);
    if keys.len() != values.len() {
        return Err(not_pairs("mismatched array dimensions"));
    }
    object(keys.into_iter().zip(values).collect(), out)
}

fn strip_nulls(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let mut text = String::new();
    push_stripped(&mut text, Document::of(row, 0))?;
    made(text, out)
}

fn push_stripped(out: &mut String, document: Document<'_>) -> Result<()> {
    if let Some(elements) = document.elements() {
        out.push('[');
        for (at, element) in elements.into_iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "," });
            push_stripped(out, element)?;
        }
        out.push(']');
    } else if let Some(mut members) = document.members()? {
        members.retain(|(_, value)| value.kind() != "null");
        out.push('{');
        for (at, (key, value)) in members.into_iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "," });
            let _ = json::write_string(out, &key);
            out.push(':');
            push_stripped(out, value)?;
        }
        out.push('}');
    } else if let Some(string) = document.shown()?.filter(|_| document.kind() == "string") {
        // Written anew, as keys are.
        let _ = json::write_string(out, &string);
    } else {
        out.push_str(&document.to_text());
    }
    Ok(())
}

fn pretty(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let mut text = String::new();
    push_pretty(&mut text, Document::of(row, 0), 0)?;
    out.text(&text)
}

/// Appends a document whose first line is indented by `depth` steps already.
fn push_pretty(out: &mut String, document: Document<'_>, depth: usize) -> Result<()> {
    let line = |out: &mut String, depth: usize| {
        let _ = write!(out, "\n{:1$}", "", 4 * depth);
    };
    let (open, close, members) = match (document.elements(), document.members()?) {
        (Some(elements), _) => (
            '[',
            ']',
            elements.into_iter().map(|e| (None, e)).collect::<Vec<_>>(),
        ),
        (None, Some(members)) => ('{', '}', members.into_iter().map(|(k, v)| (Some(k), v)).collect()),
        (None, None) => {
            out.push_str(&document.to_text());
            return Ok(());
        }
    };
    out.push(open);
    for (at, (key, value)) in members.into_iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        line(out, depth + 1);
        if let Some(key) = key {
            let _ = json::write_string(out, &key);
            out.push_str(": ");
        }
        push_pretty(out, value, depth + 1)?;
        crate::vector::check_length(out.len())?;
    }
    line(out, depth);
    out.push(close);
    Ok(())
}
