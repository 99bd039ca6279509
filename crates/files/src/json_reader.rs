//! Reads a JSON file: an array of objects, or objects one after the other. Its columns are the names that occur, in the
//! order in which they come; a value that an object lacks is NULL. What is nested stays JSON, as text.

use crate::ReadLimits;
use crate::compression::Compression;
use crate::file_input::{FileInput, Origin};
use crate::sniff::wider;
use frazil_types::{
    CHUNK_ROWS, ColumnDef, ColumnVector, Error, LogicalType, Result, RowBatch, SqlState, Value, date,
};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 1 << 20;

/// An object with its members in their order.
struct Object(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Object, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object a row")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Object, A::Error> {
                let mut members = Vec::with_capacity(map.size_hint().unwrap_or(0));
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// An array of objects, each handed to a function.
struct Array<'a>(&'a mut dyn FnMut(Object));

impl<'de> Visitor<'de> for Array<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<(), A::Error> {
        while let Some(object) = items.next_element()? {
            (self.0)(object);
        }
        Ok(())
    }
}

/// The columns of a file, and its rows, each a value a column; missing values at the end are left out.
pub struct JsonFile {
    /// Names and types.
    pub columns: Vec<ColumnDef>,
    /// The rows.
    rows: Vec<Vec<Json>>,
}

/// Reads a file. 22P04 with line and column for what is not JSON, 53200 if there is no room for it.
pub fn read(path: &Path, compression: Option<Compression>, limits: &ReadLimits) -> Result<JsonFile> {
    let mut input = FileInput::open(Origin::File(path), compression)?;
    let mut reserved = limits.budget.reservation();
    let mut text = Vec::new();
    loop {
        let start = text.len();
        // A tree takes several times its text.
        reserved.grow(4 * PIECE_BYTES)?;
        text.resize(start + PIECE_BYTES, 0);
        let count = input.read(&mut text[start..], limits)?;
        text.truncate(start + count);
        if count == 0 {
            break;
        }
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let bad = |error: serde_json::Error| {
        let place = format!(
            "file \"{}\", line {}, column {}",
            path.display(),
            error.line(),
            error.column()
        );
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or(&what).to_owned();
        Error::new(SqlState::BAD_COPY_FORMAT, format!("not a row of JSON: {what}")).in_context(place)
    };
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut names: Vec<String> = Vec::new();
    let mut rows: Vec<Vec<Json>> = Vec::new();
    let mut take = |object: Object| {
        let mut row = vec![Json::Null; names.len()];
        for (name, value) in object.0 {
            let place = *places.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() - 1
            });
            row.resize(row.len().max(place + 1), Json::Null);
            row[place] = value;
        }
        rows.push(row);
    };
    let is_array = text.trim_ascii_start().starts_with(b"[");
    if is_array {
        let mut reader = serde_json::Deserializer::from_slice(text);
        reader
            .deserialize_seq(Array(&mut take))
            .and_then(|()| reader.end())
            .map_err(bad)?;
    } else {
        for object in serde_json::Deserializer::from_slice(text).into_iter::<Object>() {
            take(object.map_err(bad)?);
        }
    }
    let mut types: Vec<Option<LogicalType>> = vec![None; names.len()];
    for row in &rows {
        for (value, ty) in row.iter().zip(&mut types) {
            if let Some(own) = type_of(value) {
                *ty = Some(ty.map_or(own, |ty| wider(ty, own)));
            }
        }
    }
    let folded: std::collections::HashSet<String> = names.iter().map(|n| n.to_lowercase()).collect();
    let folds = folded.len() == names.len();
    let columns = names.into_iter().zip(types).map(|(name, ty)| {
        let name = if folds { name.to_lowercase() } else { name };
        ColumnDef::new(name, ty.unwrap_or(LogicalType::Text))
    });
    Ok(JsonFile {
        columns: columns.collect(),
        rows,
    })
}

fn type_of(value: &Json) -> Option<LogicalType> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(_) => LogicalType::Boolean,
        Json::Number(n) if n.is_i64() => LogicalType::BigInt,
        Json::Number(_) => LogicalType::Double,
        Json::String(text) => {
            let looks_dated = text.len() >= 10 && text.as_bytes()[4] == b'-';
            match looks_dated {
                true if text.len() == 10 && date::parse_date(text).is_ok() => LogicalType::Date,
                true if date::parse_timestamp_in_utc(text).is_ok() => LogicalType::Timestamp,
                _ => LogicalType::Text,
            }
        }
        Json::Array(_) | Json::Object(_) => LogicalType::Text,
    })
}

impl JsonFile {
    /// The rows as batches of columns of these names and types.
    pub fn batches(self, columns: &[ColumnDef], path: &Path) -> Result<Vec<RowBatch>> {
        let places: Vec<Option<usize>> = (columns.iter())
            .map(|c| self.columns.iter().position(|own| own.name == c.name))
            .collect();
        let mut batches = Vec::new();
        for (number, part) in self.rows.chunks(CHUNK_ROWS).enumerate() {
            let mut vectors = Vec::with_capacity(columns.len());
            for (column, place) in columns.iter().zip(&places) {
                let mut values = Vec::with_capacity(part.len());
                for (at, row) in part.iter().enumerate() {
                    let json = place.and_then(|place| row.get(place)).unwrap_or(&Json::Null);
                    let value = value(json, column.ty).map_err(|e| {
                        let row = number * CHUNK_ROWS + at + 1;
                        e.in_context(format!(
                            "file \"{}\", row {row}, \"{}\"",
                            path.display(),
                            column.name
                        ))
                    })?;
                    values.push(value);
                }
                vectors.push(ColumnVector::from_values(column.ty, &values));
            }
            batches.push(RowBatch {
                columns: vectors,
                rows: part.len(),
            });
        }
        Ok(batches)
    }
}

fn value(json: &Json, ty: LogicalType) -> Result<Value> {
    Ok(match (json, ty) {
        (Json::Null, _) => Value::Null,
        (Json::Bool(b), LogicalType::Boolean) => Value::Bool(*b),
        (Json::Number(n), LogicalType::BigInt) => Value::Int(n.as_i64().unwrap_or_default().into()),
        (Json::Number(n), LogicalType::Double) => Value::Double(n.as_f64().unwrap_or(f64::NAN)),
        (Json::String(text), LogicalType::Date) => Value::Int(date::parse_date(text)?.into()),
        (Json::String(text), LogicalType::Timestamp) => Value::Int(date::parse_timestamp(text)?.into()),
        (Json::String(text), _) => Value::Text(text.clone()),
        (other, _) => Value::Text(other.to_string()),
    })
}
