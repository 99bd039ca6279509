//! Functions that make another jsonb of one: members and elements put in, replaced and taken out.

use super::json::{JSONB, texts};
use crate::function::{Function, Overload, build, functions, rows as call};
use crate::type_rules::Kind::{Array, Boolean, Integer, Jsonb, Text};
use crate::vector::{OnNull, Output, Row, invalid_parameter, rows};
use frazil_types::json::{Json, array_of, object_of, scalar_of};
use frazil_types::{Error, Result, SqlState};

pub(crate) const FUNCTIONS: &[Function] = functions! {
    "jsonb_concat", [call(&[Jsonb, Jsonb], concat, Jsonb)], "`||`: both joined into one object or array";
    "jsonb_delete", [
        call(&[Jsonb, Text], |r, o| delete(r, &[Some(r.text(1).to_owned())], o), Jsonb),
        call(&[Jsonb, Integer], delete_element, Jsonb),
        call(&[Jsonb, Array], |r, o| delete(r, &texts(r, 1)?, o), Jsonb),
    ], "`-`: the document without some keys, or without an element";
    "jsonb_delete_path", [call(&[Jsonb, Array], delete_path, Jsonb)], "`#-`: the document without the value at a path";
    "jsonb_insert", [call(&[Jsonb, Array, Jsonb], insert, Jsonb), call(&[Jsonb, Array, Jsonb, Boolean], insert, Jsonb)],
        "the document with a new value at a path; in arrays before the element there, or after it if the last argument is true";
    "jsonb_set", [call(&[Jsonb, Array, Jsonb], set, Jsonb), call(&[Jsonb, Array, Jsonb, Boolean], set, Jsonb)],
        "the document with another value at a path, which is created unless the last argument is false";
    "jsonb_set_lax", [
        lax(&[Jsonb, Array, Jsonb]),
        lax(&[Jsonb, Array, Jsonb, Boolean]),
        lax(&[Jsonb, Array, Jsonb, Boolean, Text]),
    ], "like `jsonb_set`; the last argument says what happens if the value is NULL: use_json_null, raise_exception, delete_key or return_target";
};

/// `jsonb_set_lax`, which sees NULLs.
const fn lax(parameters: &'static [crate::type_rules::Kind]) -> Overload {
    build(
        parameters,
        |arguments| Ok(rows("jsonb_set_lax", OnNull::Called, set_lax, arguments, JSONB)),
        Jsonb,
    )
}

/// What is done at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    /// The value that is there gives way.
    Replace,
    /// So it does, and where there is none the new one is added.
    Set,
    /// An element is put before the one that is there.
    Before,
    /// An element is put behind the one that is there.
    Behind,
    /// What is there is taken out.
    Delete,
}

impl Change {
    /// Whether a value is added where there is none.
    fn adds(self) -> bool {
        matches!(self, Change::Set | Change::Before | Change::Behind)
    }
}

fn is_scalar(json: Json<'_>) -> bool {
    !matches!(json, Json::Array(_) | Json::Object(_))
}

/// The keys and values of an object as its builder takes them.
fn owned(object: frazil_types::json::Object<'_>) -> Vec<(String, Vec<u8>)> {
    let member = |(key, value): (&str, &[u8])| (key.to_owned(), value.to_owned());
    object.members().map(member).collect()
}

fn set(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    change(row, set_or_replace(row), row.bytes(2), out)
}

/// What the argument of whether a path is made says.
fn set_or_replace(row: &Row<'_>) -> Change {
    match row.arguments() < 4 || row.bool(3) {
        true => Change::Set,
        false => Change::Replace,
    }
}

/// Errors 22023 for an unknown word, 22004 where NULL shall be an error.
fn set_lax(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let is_null = |argument| row.arguments() > argument && row.is_null(argument);
    if is_null(0) || is_null(1) || is_null(3) {
        return out.null();
    }
    let treatment = match row.arguments() {
        ..=4 => "use_json_null",
        _ if is_null(4) => return Err(unknown_treatment()),
        _ => row.text(4),
    };
    match treatment {
        _ if !is_null(2) => set(row, out),
        "use_json_null" => change(row, set_or_replace(row), &scalar_of(None), out),
        "delete_key" => change(row, Change::Delete, &[], out),
        "return_target" => out.bytes(row.bytes(0)),
        "raise_exception" => {
            let detail = "Exception was raised because null_value_treatment is \"raise_exception\".";
            let hint = "To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.";
            let error = Error::new(SqlState::NULL_VALUE_NOT_ALLOWED, "JSON value must not be null");
            Err(error.with_detail(detail).with_hint(hint))
        }
        _ => Err(unknown_treatment()),
    }
}

fn unknown_treatment() -> Error {
    invalid_parameter(
        "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"",
    )
}

fn insert(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let is_behind = row.arguments() > 3 && row.bool(3);
    let what = if is_behind { Change::Behind } else { Change::Before };
    change(row, what, row.bytes(2), out)
}

fn delete_path(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    change(row, Change::Delete, &[], out)
}

fn change(row: &Row<'_>, what: Change, new: &[u8], out: &mut Output<'_>) -> Result<()> {
    let path = texts(row, 1)?;
    if is_scalar(Json::new(row.bytes(0))) {
        return Err(invalid_parameter(match what {
            Change::Delete => "cannot delete path in scalar",
            _ => "cannot set path in scalar",
        }));
    }
    let is_empty = match Json::new(row.bytes(0)) {
        Json::Array(array) => array.elements().next().is_none(),
        Json::Object(object) => object.members().next().is_none(),
        _ => false,
    };
    // Where there is nothing that could change nobody reads the path.
    if path.is_empty() || is_empty && matches!(what, Change::Delete | Change::Replace) {
        return out.bytes(row.bytes(0));
    }
    let changed = changed(row.bytes(0), &path, 0, what, new)?;
    out.bytes(&changed)
}

/// A value with a change at the end of a path, of which `level` steps lie above the value. Errors 22004, 22P02, 22023.
fn changed(
    binary: &[u8],
    path: &[Option<String>],
    level: usize,
    what: Change,
    new: &[u8],
) -> Result<Vec<u8>> {
    let step = match (&path[level], Json::new(binary)) {
        (_, json) if is_scalar(json) => return Ok(binary.to_owned()),
        (Some(step), _) => step,
        (None, _) => {
            let message = format!("path element at position {} is null", level + 1);
            return Err(Error::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
        }
    };
    let is_last = level + 1 == path.len();
    let below = |binary: &[u8]| changed(binary, path, level + 1, what, new);
    match Json::new(binary) {
        Json::Object(object) => {
            let mut members = owned(object);
            match members.iter().position(|(key, _)| key == step) {
                at if is_last => change_member(&mut members, at, step, what, new)?,
                Some(at) => members[at].1 = below(&members[at].1)?,
                None => {}
            }
            Ok(object_of(members))
        }
        Json::Array(array) => {
            let mut elements: Vec<Vec<u8>> = array.elements().map(<[u8]>::to_owned).collect();
            let index = index_of(step, level, elements.len())?;
            match usize::try_from(index).ok().filter(|at| *at < elements.len()) {
                _ if is_last => change_element(&mut elements, index, what, new),
                Some(at) => elements[at] = below(&elements[at])?,
                None => {}
            }
            Ok(array_of(elements))
        }
        Json::Null | Json::Boolean(_) | Json::Number(_) | Json::String(_) => Ok(binary.to_owned()),
    }
}

/// Changes the member of a key, which is at position `at` if it is there. Error 22023 for an insert beside it.
fn change_member(
    members: &mut Vec<(String, Vec<u8>)>,
    at: Option<usize>,
    key: &str,
    what: Change,
    new: &[u8],
) -> Result<()> {
    match (at, what) {
        (Some(at), Change::Delete) => drop(members.remove(at)),
        (Some(at), Change::Set | Change::Replace) => members[at].1 = new.to_owned(),
        (Some(_), Change::Before | Change::Behind) => {
            let hint = "Try using the function jsonb_set to replace key value.";
            return Err(invalid_parameter("cannot replace existing key").with_hint(hint));
        }
        (None, what) if what.adds() => members.push((key.to_owned(), new.to_owned())),
        (None, _) => {}
    }
    Ok(())
}

/// The position in an array of `count` elements that a step of a path names: negative before the first one. Error 22P02.
fn index_of(step: &str, level: usize, count: usize) -> Result<i64> {
    let index: i32 = step.trim_ascii_start().parse().map_err(|_| {
        let message = format!(
            "path element at position {} is not an integer: \"{step}\"",
            level + 1
        );
        Error::new(SqlState::INVALID_TEXT, message)
    })?;
    let from_the_end = if index < 0 { count as i64 } else { 0 };
    Ok(from_the_end + i64::from(index))
}

/// Changes the element at a position. Beyond either end there is only room for one more.
fn change_element(elements: &mut Vec<Vec<u8>>, index: i64, what: Change, new: &[u8]) {
    match usize::try_from(index) {
        Err(_) if what.adds() => elements.insert(0, new.to_owned()),
        Ok(at) if at >= elements.len() && what.adds() => elements.push(new.to_owned()),
        Ok(at) if at < elements.len() => match what {
            Change::Delete => drop(elements.remove(at)),
            Change::Set | Change::Replace => elements[at] = new.to_owned(),
            Change::Before => elements.insert(at, new.to_owned()),
            Change::Behind => elements.insert(at + 1, new.to_owned()),
        },
        Ok(_) | Err(_) => {}
    }
}

/// Two objects become one; of all else the elements, a value that is no array being one of its own.
fn concat(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (l, r) = (row.bytes(0), row.bytes(1));
    if let (Json::Object(l), Json::Object(r)) = (Json::new(l), Json::new(r)) {
        return out.bytes(&object_of([owned(l), owned(r)].concat()));
    }
    let elements = |binary: &[u8]| match Json::new(binary) {
        Json::Array(array) => array.elements().map(<[u8]>::to_owned).collect(),
        _ => vec![binary.to_owned()],
    };
    out.bytes(&array_of([elements(l), elements(r)].concat()))
}

/// Without members of these keys, or elements that are such strings.
fn delete(row: &Row<'_>, keys: &[Option<String>], out: &mut Output<'_>) -> Result<()> {
    let binary = row.bytes(0);
    let is_kept = |text: &str| !keys.iter().flatten().any(|key| key == text);
    match Json::new(binary) {
        Json::Object(object) => {
            let mut members = owned(object);
            members.retain(|(key, _)| is_kept(key));
            out.bytes(&object_of(members))
        }
        Json::Array(array) => {
            let kept = |element: &&[u8]| match Json::new(element) {
                Json::String(text) => is_kept(text),
                _ => true,
            };
            out.bytes(&array_of(
                array.elements().filter(kept).map(<[u8]>::to_owned).collect(),
            ))
        }
        _ => Err(invalid_parameter("cannot delete from scalar")),
    }
}

fn delete_element(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match Json::new(row.bytes(0)) {
        Json::Array(array) => {
            let mut elements: Vec<Vec<u8>> = array.elements().map(<[u8]>::to_owned).collect();
            let index = row.int(1);
            let index = if index < 0 {
                elements.len() as i64 + index
            } else {
                index
            };
            if let Some(at) = usize::try_from(index).ok().filter(|&at| at < elements.len()) {
                elements.remove(at);
            }
            out.bytes(&array_of(elements))
        }
        Json::Object(_) => Err(invalid_parameter("cannot delete from object using integer index")),
        _ => Err(invalid_parameter("cannot delete from scalar")),
    }
}
