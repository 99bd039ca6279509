//! One row of a system table by the names of its columns.

use frazil_types::array::{Dimension, encode, encode_list};
use frazil_types::sql_type::named_oid;
use frazil_types::{Category, ColumnDef, Kind, LogicalType, NativeType, Result, Value, session_settings};

/// The name of the database, which is every catalog's.
pub(super) const DATABASE: DatabaseName = DatabaseName;

/// The name of the database of the session that reads a system table.
#[derive(Clone, Copy, Debug)]
pub(super) struct DatabaseName;

impl Cell for DatabaseName {
    fn cell(self) -> Value {
        Value::Text(session_settings::database())
    }
}

/// YES or NO.
pub(super) fn yes_or_no(truth: bool) -> &'static str {
    if truth { "YES" } else { "NO" }
}

/// The values of a row that say something.
#[derive(Debug, Default)]
pub struct Cells(pub Vec<(&'static str, Value)>);

/// A value of a cell.
pub trait Cell {
    fn cell(self) -> Value;
}

impl Cells {
    pub fn new() -> Cells {
        Cells::default()
    }

    /// The row with one more value.
    pub fn with(mut self, name: &'static str, value: impl Cell) -> Cells {
        self.0.push((name, value.cell()));
        self
    }
}

impl Cell for Value {
    fn cell(self) -> Value {
        self
    }
}

impl Cell for &str {
    fn cell(self) -> Value {
        Value::Text(self.to_owned())
    }
}

impl Cell for String {
    fn cell(self) -> Value {
        Value::Text(self)
    }
}

impl Cell for bool {
    fn cell(self) -> Value {
        Value::Bool(self)
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {
        $(impl Cell for $ty {
            fn cell(self) -> Value {
                Value::Int(self as i128)
            }
        })*
    };
}

integers!(u32, i32, i64, u64, usize);

impl<T: Cell> Cell for Option<T> {
    fn cell(self) -> Value {
        self.map_or(Value::Null, T::cell)
    }
}

/// The value of a column that a row does not name: NULL, or the least value of a column that is NOT NULL.
pub(super) fn empty(column: &ColumnDef) -> Value {
    if column.nullable {
        return Value::Null;
    }
    let ty = column.ty;
    if ty.kind().is_named_oid() {
        return Value::Bytes(named_oid(0, "-"));
    }
    match ty.native() {
        NativeType::Bool => Value::Bool(false),
        NativeType::F64 => Value::Double(0.0),
        NativeType::I16 | NativeType::I32 | NativeType::I64 | NativeType::I128 => match ty.kind() {
            Kind::TimestampTz | Kind::Interval => Value::Null,
            _ => Value::Int(0),
        },
        NativeType::String if ty.kind().category() == Category::String => Value::Text(String::new()),
        NativeType::String => match ty.element() {
            Some(element) => encode(&[], &[], element).map_or(Value::Null, Value::Bytes),
            None => Value::Null,
        },
    }
}

/// An array of numbers whose subscripts begin with 0, as `int2vector` and `oidvector` have them.
pub(super) fn vector(numbers: &[i64], element: LogicalType) -> Result<Value> {
    let values: Vec<Value> = numbers.iter().map(|n| Value::Int((*n).into())).collect();
    let line = Dimension {
        length: numbers.len() as u32,
        lower: 0,
    };
    let dimensions: &[Dimension] = if numbers.is_empty() { &[] } else { &[line] };
    encode(dimensions, &values, element).map(Value::Bytes)
}

/// An array of numbers.
pub(super) fn list(numbers: &[i64], element: LogicalType) -> Result<Value> {
    let values: Vec<Value> = numbers.iter().map(|n| Value::Int((*n).into())).collect();
    encode_list(&values, element).map(Value::Bytes)
}
