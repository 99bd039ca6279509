//! Single value: all rows are equal, or all are NULL (Data Blocks, section 3.3). The value is the SMA.

use super::{EncodedColumn, Encoding};
use crate::format::{ColumnEntry, FLAG_NULLS, FLAG_SMA};
use frazil_types::{Error, NativeType, Result, Value};

/// A value that every row of a column has, though no row stores it: NULL, or a value of the column's native type.
#[derive(Clone, Debug)]
pub struct Constant {
    native: NativeType,
    value: Value,
}

impl Constant {
    /// An internal error for a value that a column of the native type cannot hold.
    pub fn new(native: NativeType, value: Value) -> Result<Constant> {
        let is_held = match (&value, native) {
            (Value::Null, _)
            | (Value::Bool(_), NativeType::Bool)
            | (Value::Double(_), NativeType::F64)
            | (Value::Interval(_), NativeType::I128)
            | (Value::Text(_) | Value::Bytes(_), NativeType::String) => true,
            (Value::Int(v), native) => native.holds(*v),
            (
                Value::Bool(_) | Value::Double(_) | Value::Interval(_) | Value::Text(_) | Value::Bytes(_),
                _,
            ) => false,
        };
        match is_held {
            true => Ok(Constant { native, value }),
            false => Err(Error::internal(format!(
                "the constant {value:?} is not a value of a column that holds {native:?}"
            ))),
        }
    }

    /// NULL in every row.
    pub fn null(native: NativeType) -> Constant {
        Constant {
            native,
            value: Value::Null,
        }
    }

    /// The native type of the column.
    pub fn native(&self) -> NativeType {
        self.native
    }

    /// The value of every row.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The column of a block of `rows` rows.
    pub(crate) fn encode(&self, rows: usize) -> EncodedColumn {
        match &self.value {
            Value::Null => encode_null(self.native, rows),
            Value::Text(text) => encode_string(text.as_bytes()),
            Value::Bytes(bytes) => {
                let mut encoded = encode_string(bytes);
                encoded.entry.mark_binary(true);
                encoded
            }
            Value::Bool(_) | Value::Int(_) | Value::Double(_) | Value::Interval(_) => {
                encode_number(self.native, self.value.to_wide())
            }
        }
    }
}

/// A column whose rows are all NULL.
pub(crate) fn encode_null(native: NativeType, rows: usize) -> EncodedColumn {
    let mut entry = ColumnEntry::new(Encoding::Constant, native);
    entry.flags = FLAG_NULLS;
    entry.null_count = rows as u32;
    EncodedColumn::new(entry)
}

/// A column of one number; for doubles its bits.
pub(crate) fn encode_number(native: NativeType, value: i128) -> EncodedColumn {
    let mut entry = ColumnEntry::new(Encoding::Constant, native);
    entry.flags = FLAG_SMA;
    entry.min = value;
    entry.max = value;
    EncodedColumn::new(entry)
}

/// A column of one string. The heap holds it as well, so that references into the block stay in the
/// column's own extent.
pub(crate) fn encode_string(value: &[u8]) -> EncodedColumn {
    let mut entry = ColumnEntry::new(Encoding::Constant, NativeType::String);
    entry.flags = FLAG_SMA;
    let mut out = EncodedColumn::new(entry);
    out.sma = crate::sma::string_sma(value, value);
    out.heap = value.to_vec();
    out
}
