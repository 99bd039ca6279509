//! Structs, maps and lists of Arrow → documents: a struct is an object, a map an object whose keys are texts, a list an
//! array. What is in them is written as COPY writes JSON.

use crate::arrow_types::{AtRow, type_of};
use crate::batch_writer::push_text;
use crate::json_text::push_string;
use crate::json_writer::push_value;
use crate::parquet_column::column_of;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use frazil_types::{
    ColumnVector, Error, LogicalType, MemoryBudget, Result, StringVectorBuilder, Value, value_ops,
};

/// Values that become JSON; their rows are those of the array that they come from.
enum Node {
    /// Values of a type that Frazil has.
    Values(ColumnVector),
    /// Structs: `"name":` of each field, and its values.
    Objects(Vec<(Vec<u8>, Node)>, Option<NullBuffer>),
    /// Lists: the values of row `r` are those from `bounds[r]` to `bounds[r + 1]`.
    Lists(Vec<usize>, Box<Node>, Option<NullBuffer>),
    /// Maps, by the bounds of lists: keys and values.
    Maps(Vec<usize>, Box<(Node, Node)>, Option<NullBuffer>),
}

/// Structs, maps or lists as documents. Errors with the row that they stand at: those of the values in them, and of
/// documents that are too long.
pub fn documents(array: &ArrayRef, ty: LogicalType, budget: &MemoryBudget) -> AtRow<ColumnVector> {
    let node = Node::of(array, budget)?;
    let mut out = StringVectorBuilder::budgeted(ty, array.len(), budget);
    let (mut json, mut scratch) = (Vec::new(), String::new());
    for row in 0..array.len() {
        if node.is_null(row) {
            out.push_null();
            continue;
        }
        json.clear();
        let mut push = || {
            node.push(&mut json, row, &mut scratch)?;
            let text = std::str::from_utf8(&json).map_err(|_| Error::internal("JSON that is not UTF-8"))?;
            match value_ops::read(text, ty)? {
                Value::Bytes(bytes) => out.try_push_bytes(&bytes),
                Value::Text(text) => out.try_push(&text),
                other => Err(Error::internal(format!("{other:?} as {ty}"))),
            }
        };
        push().map_err(|e| (row, e))?;
    }
    Ok(out.finish())
}

/// Bounds of lists within the values from the first one on, and those values.
fn bounds<O: arrow_array::OffsetSizeTrait>(offsets: &[O]) -> (Vec<usize>, usize, usize) {
    let first = offsets.first().map_or(0, |offset| offset.as_usize());
    let bounds: Vec<usize> = offsets.iter().map(|offset| offset.as_usize() - first).collect();
    let count = bounds.last().copied().unwrap_or(0);
    (bounds, first, count)
}

/// The row of a list that has a value.
fn row_of(bounds: &[usize], value: usize) -> usize {
    bounds.partition_point(|&bound| bound <= value).saturating_sub(1)
}

impl Node {
    fn of(array: &ArrayRef, budget: &MemoryBudget) -> AtRow<Node> {
        let nulls = array.logical_nulls();
        let list = |(bounds, first, count): (Vec<usize>, usize, usize), values: &ArrayRef| {
            let values = Node::of(&values.slice(first, count), budget);
            let values = values.map_err(|(value, e)| (row_of(&bounds, value), e))?;
            Ok(Node::Lists(bounds, Box::new(values), nulls.clone()))
        };
        match array.data_type() {
            DataType::List(_) => {
                let lists = array.as_list::<i32>();
                list(bounds(lists.value_offsets()), lists.values())
            }
            DataType::LargeList(_) => {
                let lists = array.as_list::<i64>();
                list(bounds(lists.value_offsets()), lists.values())
            }
            DataType::FixedSizeList(_, length) => {
                let lists = array.as_fixed_size_list();
                let length = usize::try_from(*length).unwrap_or(0);
                let bounds = (0..=array.len()).map(|row| row * length).collect();
                list((bounds, 0, array.len() * length), lists.values())
            }
            DataType::Struct(fields) => {
                let columns = array.as_struct().columns();
                let field = |(field, column): (&arrow_schema::FieldRef, &ArrayRef)| {
                    Ok((member(field.name()), Node::of(column, budget)?))
                };
                let fields = fields.iter().zip(columns).map(field).collect::<AtRow<_>>()?;
                Ok(Node::Objects(fields, nulls))
            }
            DataType::Map(..) => {
                let maps = array.as_map();
                let (bounds, first, count) = bounds(maps.value_offsets());
                let part = |values: &ArrayRef| {
                    let values = Node::of(&values.slice(first, count), budget);
                    values.map_err(|(value, e)| (row_of(&bounds, value), e))
                };
                let parts = Box::new((part(maps.keys())?, part(maps.values())?));
                Ok(Node::Maps(bounds, parts, nulls))
            }
            other => {
                let ty = type_of(other).ok_or_else(|| {
                    let what = format!("a value of Arrow's type {other} in a struct, map or list");
                    (0, Error::unsupported(what))
                })?;
                Ok(Node::Values(column_of(array, ty, None, budget)?))
            }
        }
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Node::Values(column) => column.is_null(row),
            Node::Objects(_, nulls) | Node::Lists(_, _, nulls) | Node::Maps(_, _, nulls) => {
                nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
            }
        }
    }

    /// Appends the JSON of a row. `scratch` is anybody's.
    fn push(&self, out: &mut Vec<u8>, row: usize, scratch: &mut String) -> Result<()> {
        if self.is_null(row) {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        match self {
            Node::Values(column) => return push_value(out, column, row, scratch),
            Node::Objects(fields, _) => {
                out.push(b'{');
                for (at, (name, values)) in fields.iter().enumerate() {
                    comma(out, at);
                    out.extend_from_slice(name);
                    values.push(out, row, scratch)?;
                }
                out.push(b'}');
            }
            Node::Lists(bounds, values, _) => {
                out.push(b'[');
                for (at, value) in (bounds[row]..bounds[row + 1]).enumerate() {
                    comma(out, at);
                    values.push(out, value, scratch)?;
                }
                out.push(b']');
            }
            Node::Maps(bounds, parts, _) => {
                out.push(b'{');
                for (at, entry) in (bounds[row]..bounds[row + 1]).enumerate() {
                    comma(out, at);
                    push_string(out, &parts.0.key(entry, scratch)?);
                    out.push(b':');
                    parts.1.push(out, entry, scratch)?;
                }
                out.push(b'}');
            }
        }
        Ok(())
    }

    /// The text of a map's key: the key itself, or the JSON of one that is nested.
    fn key(&self, row: usize, scratch: &mut String) -> Result<String> {
        if let Node::Values(column) = self {
            let mut key = String::new();
            if !column.is_null(row) {
                push_text(&mut key, column, row);
            }
            return Ok(key);
        }
        let mut json = Vec::new();
        self.push(&mut json, row, scratch)?;
        String::from_utf8(json).map_err(|_| Error::internal("JSON that is not UTF-8"))
    }
}

fn comma(out: &mut Vec<u8>, at: usize) {
    if at > 0 {
        out.push(b',');
    }
}

/// `"name":`
fn member(name: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 3);
    push_string(&mut out, name);
    out.push(b':');
    out
}
