//! The binary forms of a column's values: those of the types that tables are full of are written without making values.

use super::wire;
use crate::{ColumnVector, NativeType, Result, Strings};

/// A column whose values are sent.
pub struct SentColumn<'a> {
    column: &'a ColumnVector,
    values: Values<'a>,
}

/// The values of a column, by the way in which they are sent.
enum Values<'a> {
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    /// Doubles of eight bytes.
    Doubles(&'a [f64]),
    /// Texts, whose bytes are sent as they are held.
    Texts(Strings<'a>),
    /// Values that the functions of their types send.
    Others,
}

impl<'a> SentColumn<'a> {
    /// The values of a column.
    pub fn of(column: &'a ColumnVector) -> SentColumn<'a> {
        let ty = column.ty();
        let is_wide = ty.info().typlen == 8;
        let values = match ty.native() {
            NativeType::I16 if ty.is_integer() => Values::I16(column.values()),
            NativeType::I32 if ty.is_integer() => Values::I32(column.values()),
            NativeType::I64 if ty.is_integer() => Values::I64(column.values()),
            NativeType::F64 if is_wide => Values::Doubles(column.values()),
            NativeType::String if ty.is_text() && ty.info().typlen != 1 => Values::Texts(column.strings()),
            _ => Values::Others,
        };
        SentColumn { column, values }
    }

    /// Sends the value of a row behind the number of its bytes; -1 for NULL. 54000 if they are 2 GB or more.
    pub fn push(&self, out: &mut Vec<u8>, row: usize) -> Result<()> {
        if self.column.is_null(row) {
            out.extend((-1i32).to_be_bytes());
            return Ok(());
        }
        match &self.values {
            Values::I16(values) => push_bytes(out, &values[row].to_be_bytes()),
            Values::I32(values) => push_bytes(out, &values[row].to_be_bytes()),
            Values::I64(values) => push_bytes(out, &values[row].to_be_bytes()),
            Values::Doubles(values) => push_bytes(out, &values[row].to_be_bytes()),
            Values::Texts(strings) => push_bytes(out, strings.bytes(row)),
            Values::Others => wire::send_sized(out, &self.column.value(row), self.column.ty()),
        }
    }
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    let length = i32::try_from(bytes.len()).map_err(|_| wire::too_long())?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogicalType, Value};

    #[test]
    fn columns_are_sent_as_their_values() {
        let ints = [0, -1, 1, 255, 32_767, -32_768].map(Value::Int);
        let doubles = [0.0, -0.0, 1.5, f64::NAN, f64::INFINITY].map(Value::Double);
        let texts =
            ["", "a", "a text that is held outside of its row"].map(|text| Value::Text(text.to_owned()));
        for (ty, values) in [
            (LogicalType::SmallInt, &ints[..]),
            (LogicalType::Integer, &ints),
            (LogicalType::BigInt, &ints),
            (LogicalType::Date, &ints),
            (LogicalType::TIMESTAMP, &ints),
            (
                LogicalType::Decimal {
                    precision: 12,
                    scale: 2,
                },
                &ints,
            ),
            (LogicalType::Double, &doubles),
            (LogicalType::Real, &doubles),
            (LogicalType::Text, &texts),
            (LogicalType::Varchar(50), &texts),
        ] {
            let mut values = values.to_vec();
            values.push(Value::Null);
            let column = ColumnVector::from_values(ty, &values);
            let sent = SentColumn::of(&column);
            for (row, value) in values.iter().enumerate() {
                let (mut of_column, mut of_value) = (Vec::new(), Vec::new());
                sent.push(&mut of_column, row).unwrap();
                wire::send_sized(&mut of_value, value, ty).unwrap();
                assert_eq!(of_column, of_value, "{ty} {value:?}");
            }
        }
    }
}
