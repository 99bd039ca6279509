//! What SEARCH and CYCLE of WITH RECURSIVE keep of the rows that led to a row.
//!
//! PostgreSQL keeps records and arrays of records. Here a path is the keys of its rows one behind the other, as bytes: they are ordered as the
//! arrays would be, because no key is the beginning of another one. What people read of a path is a text, as PostgreSQL shows the array.

use crate::vector::{OnNull, Output, Row, predicate, rows};
use frazil_plan::Expr;
use frazil_types::value_ops::written;
use frazil_types::{KeyPart, KeySpec, LogicalType, Result, Value};

/// Type of what orders rows, and of the keys of a path.
pub const KEYS: LogicalType = LogicalType::Bytea;
/// Type of a path that people read.
pub const SHOWN: LogicalType = crate::build::TEXT;

/// Bytes of the number of rows before a row, in front of a key that orders by breadth.
const DEPTH_BYTES: usize = 8;

/// The path that ends in a row of these values: `before`, the path as far as the row before (bytea, empty for none), and the row's key.
pub fn keys_of_path(before: Option<Expr>, values: Vec<Expr>) -> Expr {
    let arguments = behind(before, Value::Bytes(Vec::new()), KEYS, values);
    rows("path", OnNull::Called, keys, arguments, KEYS)
}

/// True if `path` (bytea, of [`keys_of_path`]) has a row of these values.
pub fn is_on_path(path: Expr, values: Vec<Expr>) -> Expr {
    let arguments = [vec![path], values].concat();
    let mut found = predicate("on path", OnNull::Called, on_path, arguments);
    found.nullable = false;
    found
}

/// Bytes that order rows by how many rows led to them, then by these values. `before`: those of the row before.
pub fn breadth_first(before: Option<Expr>, values: Vec<Expr>) -> Expr {
    let arguments = behind(before, Value::Bytes(Vec::new()), KEYS, values);
    rows("breadth", OnNull::Called, breadth, arguments, KEYS)
}

/// The path that ends in a row of these values as PostgreSQL writes an array of records: `{(1),"(2,x)"}`. `before`: that of the row before.
pub fn text_of_path(before: Option<Expr>, values: Vec<Expr>) -> Expr {
    let arguments = behind(before, Value::Text(String::new()), SHOWN, values);
    rows("path as text", OnNull::Called, text, arguments, SHOWN)
}

fn behind(before: Option<Expr>, none: Value, ty: LogicalType, values: Vec<Expr>) -> Vec<Expr> {
    let before = before.unwrap_or_else(|| Expr::constant(none, ty));
    [vec![before], values].concat()
}

/// How the arguments behind the first one become a key: as records compare, NULLs last.
fn spec(row: &Row<'_>) -> KeySpec {
    let part = |argument| KeyPart {
        ty: row.ty(argument),
        nullable: true,
        descending: false,
        nulls_first: false,
    };
    KeySpec::new((1..row.arguments()).map(part).collect())
}

fn append_key(row: &Row<'_>, out: &mut Vec<u8>) {
    let values: Vec<Value> = (1..row.arguments()).map(|a| row.value(a)).collect();
    spec(row).encode(&values, out);
}

fn keys(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let mut path = row.bytes(0).to_vec();
    append_key(row, &mut path);
    out.bytes(&path)
}

fn on_path(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (mut key, spec) = (Vec::new(), spec(row));
    append_key(row, &mut key);
    let mut path = row.bytes(0);
    while !path.is_empty() {
        let (first, rest) = path.split_at(spec.bytes_of(spec.parts().len(), path));
        if first == key {
            return out.bool(true);
        }
        path = rest;
    }
    out.bool(false)
}

fn breadth(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let depth = match row.bytes(0).first_chunk::<DEPTH_BYTES>() {
        Some(depth) => u64::from_be_bytes(*depth) + 1,
        None => 0,
    };
    let mut key = depth.to_be_bytes().to_vec();
    append_key(row, &mut key);
    out.bytes(&key)
}

fn text(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let mut record = String::from("(");
    for argument in 1..row.arguments() {
        if argument > 1 {
            record.push(',');
        }
        append_field(&row.value(argument), row.ty(argument), &mut record);
    }
    record.push(')');
    let before = row.text(0).strip_suffix('}');
    out.room(before.map_or(0, str::len) + 2 * record.len() + 4)?;
    match before {
        Some(before) => {
            out.scratch.push_str(before);
            out.scratch.push(',');
        }
        None => out.scratch.push('{'),
    }
    append_element(&record, &mut out.scratch);
    out.scratch.push('}');
    out.scratch()
}

/// A field of a record: empty for NULL, in quotes where the text would not be read as one field.
fn append_field(value: &Value, ty: LogicalType, record: &mut String) {
    let text = match value {
        Value::Null => return,
        Value::Bool(true) => "t".into(),
        Value::Bool(false) => "f".into(),
        value => written(value, ty),
    };
    let is_special = |c: char| "(),\"\\".contains(c) || is_space(c);
    if !text.is_empty() && !text.contains(is_special) {
        return record.push_str(&text);
    }
    record.push('"');
    for c in text.chars() {
        if "\"\\".contains(c) {
            record.push(c);
        }
        record.push(c);
    }
    record.push('"');
}

/// A record as an element of an array: in quotes where its text would not be read as one element.
fn append_element(record: &str, array: &mut String) {
    let is_special = |c: char| "{},\"\\".contains(c) || is_space(c);
    if !record.contains(is_special) {
        return array.push_str(record);
    }
    array.push('"');
    for c in record.chars() {
        if "\"\\".contains(c) {
            array.push('\\');
        }
        array.push(c);
    }
    array.push('"');
}

/// What PostgreSQL takes for a space in texts of records and arrays.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(i: i128) -> Expr {
        Expr::literal(Value::Int(i))
    }

    fn text(t: &str) -> Expr {
        Expr::constant(Value::Text(t.into()), SHOWN)
    }

    fn constant(e: &Expr) -> &Value {
        crate::build::constant_of(e).expect("constants fold")
    }

    fn path(numbers: &[i128]) -> Expr {
        let all = numbers.iter().fold(None, |before, n| {
            Some(keys_of_path(before, vec![int(*n), text("x")]))
        });
        all.expect("a row")
    }

    #[test]
    fn paths_are_ordered_as_arrays_of_records() {
        let bytes = |numbers: &[i128]| match constant(&path(numbers)) {
            Value::Bytes(bytes) => bytes.to_vec(),
            other => panic!("{other:?}"),
        };
        assert!(bytes(&[1]) < bytes(&[1, -5]));
        assert!(bytes(&[1, 300]) < bytes(&[2]));
        assert!(bytes(&[-1]) < bytes(&[0, 0]));
    }

    #[test]
    fn a_row_is_found_at_its_own_place_alone() {
        let on = |numbers: &[i128], n, t: &str| {
            let found = is_on_path(path(numbers), vec![int(n), text(t)]);
            constant(&found) == &Value::Bool(true)
        };
        assert!(on(&[1, 2, 3], 2, "x"));
        assert!(!on(&[1, 2, 3], 4, "x"));
        assert!(!on(&[1, 2, 3], 2, ""));
    }

    #[test]
    fn the_text_is_that_of_an_array_of_records() {
        let first = text_of_path(None, vec![int(1)]);
        let null = Expr::constant(Value::Null, SHOWN);
        let second = text_of_path(Some(first.clone()), vec![int(2)]);
        assert_eq!(constant(&second), &Value::Text("{(1),(2)}".into()));
        let third = text_of_path(Some(first), vec![text("a,\"b\\"), null, text("")]);
        let shown = r#"{(1),"(\"a,\"\"b\\\\\",,\"\")"}"#;
        assert_eq!(constant(&third), &Value::Text(shown.into()));
    }
}
