//! The binary forms of a column's values: those of the types that tables are full of are written without making values.

use super::wire;
use crate::{ColumnVector, LogicalType, NativeType, Result, Strings};

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
    Booleans(&'a [u8]),
    /// Days since 1970.
    Dates(&'a [i32]),
    /// Microseconds since 1970.
    Timestamps(&'a [i64]),
    /// Decimals of at most 18 digits, and the number of digits behind the point.
    Decimals(&'a [i64], u8),
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
        let values = match (ty.native(), ty) {
            (NativeType::Bool, _) => Values::Booleans(column.values()),
            (NativeType::I32, LogicalType::Date) => Values::Dates(column.values()),
            (NativeType::I64, LogicalType::Timestamp(_) | LogicalType::TimestampTz(..)) => {
                Values::Timestamps(column.values())
            }
            (NativeType::I64, LogicalType::Decimal { scale, .. }) => Values::Decimals(column.values(), scale),
            (NativeType::I16, _) if ty.is_integer() => Values::I16(column.values()),
            (NativeType::I32, _) if ty.is_integer() => Values::I32(column.values()),
            (NativeType::I64, _) if ty.is_integer() => Values::I64(column.values()),
            (NativeType::F64, _) if is_wide => Values::Doubles(column.values()),
            (NativeType::String, _) if ty.is_text() && ty.info().typlen != 1 => {
                Values::Texts(column.strings())
            }
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
            Values::Booleans(values) => push_bytes(out, &[u8::from(values[row] != 0)]),
            Values::Dates(values) => push_bytes(
                out,
                &wire::counted_days(values[row], self.column.ty())?.to_be_bytes(),
            ),
            Values::Timestamps(values) => push_bytes(
                out,
                &wire::counted_micros(values[row], self.column.ty())?.to_be_bytes(),
            ),
            Values::Decimals(values, scale) => {
                let at = out.len();
                out.extend_from_slice(&[0; 4]);
                wire::send_short_decimal(out, values[row], *scale);
                let length = (out.len() - at - 4) as u32;
                out[at..at + 4].copy_from_slice(&length.to_be_bytes());
                Ok(())
            }
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
    use crate::{LogicalType, Value, date};

    fn decimal(precision: u8, scale: u8) -> LogicalType {
        LogicalType::Decimal { precision, scale }
    }

    #[test]
    fn columns_are_sent_as_their_values() {
        let ints = [0, -1, 1, 255, 32_767, -32_768].map(Value::Int);
        let moments = [
            0,
            -1,
            1_700_000_000_000_000,
            -62_000_000_000_000_000,
            i128::from(date::INFINITE_MICROS),
            i128::from(date::MINUS_INFINITE_MICROS),
        ]
        .map(Value::Int);
        let days = [
            0,
            -1,
            10_957,
            -700_000,
            date::INFINITE_DAY,
            date::MINUS_INFINITE_DAY,
        ];
        let days = days.map(|day| Value::Int(day.into()));
        let decimals = [
            0,
            1,
            -1,
            9_999,
            10_000,
            -10_001,
            100_000_000,
            123_456_789_012_345_678,
            999_999_999_999_999_999,
        ];
        let decimals = decimals.map(Value::Int);
        let booleans = [true, false].map(Value::Bool);
        let doubles = [0.0, -0.0, 1.5, f64::NAN, f64::INFINITY].map(Value::Double);
        let texts =
            ["", "a", "a text that is held outside of its row"].map(|text| Value::Text(text.to_owned()));
        for (ty, values) in [
            (LogicalType::SmallInt, &ints[..]),
            (LogicalType::Integer, &ints),
            (LogicalType::BigInt, &ints),
            (LogicalType::Date, &days),
            (LogicalType::TIMESTAMP, &moments),
            (LogicalType::TIMESTAMPTZ, &moments),
            (LogicalType::Boolean, &booleans),
            (decimal(18, 0), &decimals),
            (decimal(18, 1), &decimals),
            (decimal(18, 2), &decimals),
            (decimal(18, 3), &decimals),
            (decimal(18, 4), &decimals),
            (decimal(18, 17), &decimals),
            (decimal(18, 18), &decimals),
            (decimal(38, 2), &decimals),
            (decimal(38, 38), &decimals),
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
