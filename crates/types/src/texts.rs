//! The texts of a column's values, as PostgreSQL writes them: the kinds that tables are full of are written without the
//! machinery of formatting.

use crate::{ColumnVector, NativeType, date};
use std::io::Write;

/// A column whose values are written.
pub enum Texts<'a> {
    /// Integers of 16 bits.
    I16(&'a [i16]),
    /// Integers of 32 bits.
    I32(&'a [i32]),
    /// Integers of 64 bits.
    I64(&'a [i64]),
    /// Decimals held in 64 bits, and the digits behind their point.
    Decimal(&'a [i64], usize),
    /// Days.
    Dates(&'a [i32]),
    /// Microseconds.
    Timestamps(&'a [i64]),
    /// Texts as they are.
    Strings(&'a ColumnVector),
    /// Values that write their own text.
    Others(&'a ColumnVector),
}

impl<'a> Texts<'a> {
    /// The texts of a column.
    pub fn of(column: &'a ColumnVector) -> Texts<'a> {
        let ty = column.ty();
        let is_short = ty.native().size() == 8;
        match ty.decimal_digits() {
            _ if ty.is_integer() => match ty.native() {
                NativeType::I16 => Texts::I16(column.values()),
                NativeType::I32 => Texts::I32(column.values()),
                _ => Texts::I64(column.values()),
            },
            Some((_, scale)) if is_short => Texts::Decimal(column.values(), scale.into()),
            _ if ty.is_day() => Texts::Dates(column.values()),
            _ if ty.is_local_time() => Texts::Timestamps(column.values()),
            _ if ty.is_text() => Texts::Strings(column),
            _ => Texts::Others(column),
        }
    }

    /// True if each text consists of digits, signs, points, colons, blanks and BC, or is an infinity.
    pub fn is_of_digits(&self) -> bool {
        !matches!(self, Texts::Strings(_) | Texts::Others(_))
    }

    /// Appends the text of a row, which is not NULL.
    pub fn push(&self, out: &mut Vec<u8>, row: usize) {
        let mut digits = itoa::Buffer::new();
        match self {
            Texts::I16(values) => out.extend_from_slice(digits.format(values[row]).as_bytes()),
            Texts::I32(values) => out.extend_from_slice(digits.format(values[row]).as_bytes()),
            Texts::I64(values) => out.extend_from_slice(digits.format(values[row]).as_bytes()),
            Texts::Decimal(values, scale) => push_decimal(out, values[row], *scale),
            Texts::Dates(values) => push_date(out, values[row]),
            Texts::Timestamps(values) => push_timestamp(out, values[row]),
            Texts::Strings(column) => out.extend_from_slice(column.string(row)),
            Texts::Others(column) => {
                // Memory takes all that is written.
                let _ = write!(out, "{}", column.value(row).display(column.ty()));
            }
        }
    }
}

fn push_decimal(out: &mut Vec<u8>, value: i64, scale: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value.unsigned_abs()).as_bytes();
    if value < 0 {
        out.push(b'-');
    }
    let whole = digits.len().saturating_sub(scale);
    if whole == 0 {
        out.push(b'0');
    }
    out.extend_from_slice(&digits[..whole]);
    if scale > 0 {
        out.push(b'.');
        out.extend(std::iter::repeat_n(b'0', scale.saturating_sub(digits.len())));
        out.extend_from_slice(&digits[whole..]);
    }
}

/// The digits of a number below 100.
fn two(number: u32) -> [u8; 2] {
    [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]
}

fn push_date(out: &mut Vec<u8>, days: i32) {
    let (year, month, day) = date::civil_from_days(days);
    if !date::is_finite_day(days) || !(1..10_000).contains(&year) {
        let mut shown = String::new();
        // A String takes all that is written.
        let _ = date::write_date(&mut shown, days);
        out.extend_from_slice(shown.as_bytes());
        return;
    }
    let year = year.unsigned_abs();
    let ([a, b], [c, d]) = (two(year / 100), two(year % 100));
    let ([e, f], [g, h]) = (two(month), two(day));
    out.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
}

fn push_timestamp(out: &mut Vec<u8>, micros: i64) {
    const DAY: i64 = 24 * 3600 * 1_000_000;
    let (year, _, _) = date::civil_from_days(micros.div_euclid(DAY) as i32);
    if !date::is_finite(micros) || !(1..10_000).contains(&year) {
        let mut shown = String::new();
        let _ = date::write_timestamp(&mut shown, micros);
        out.extend_from_slice(shown.as_bytes());
        return;
    }
    push_date(out, micros.div_euclid(DAY) as i32);
    let micros = micros.rem_euclid(DAY);
    let (seconds, fraction) = ((micros / 1_000_000) as u32, micros % 1_000_000);
    let ([a, b], [c, d], [e, f]) = (two(seconds / 3600), two(seconds / 60 % 60), two(seconds % 60));
    out.extend_from_slice(&[b' ', a, b, b':', c, d, b':', e, f]);
    if fraction != 0 {
        let _ = write!(out, ".{fraction:06}");
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogicalType, Value};

    fn check(ty: LogicalType, values: &[i128]) {
        let values: Vec<Value> = values.iter().map(|&v| Value::Int(v)).collect();
        let column = ColumnVector::from_values(ty, &values);
        let texts = Texts::of(&column);
        assert!(texts.is_of_digits());
        for (row, value) in values.iter().enumerate() {
            let mut out = Vec::new();
            texts.push(&mut out, row);
            assert_eq!(
                String::from_utf8(out).unwrap(),
                value.display(ty).to_string(),
                "{ty}"
            );
        }
    }

    #[test]
    fn texts_are_those_that_values_show() {
        let edges = [0, 1, -1, 9, 10, -10, 99, 100, -100, 12_345, -32_768, 32_767];
        check(LogicalType::SmallInt, &edges);
        let wide: Vec<i128> = edges
            .iter()
            .copied()
            .chain([i32::MIN.into(), i32::MAX.into()])
            .collect();
        check(LogicalType::Integer, &wide);
        check(LogicalType::Date, &wide[..12]);
        let days = [
            -719_528,
            -719_529,
            -719_162,
            2_932_896,
            2_932_897,
            738_000,
            11_016,
            -1,
            i32::MAX.into(),
        ];
        check(LogicalType::Date, &days);
        let wider: Vec<i128> = wide
            .iter()
            .copied()
            .chain([i64::MIN.into(), i64::MAX.into()])
            .collect();
        check(LogicalType::BigInt, &wider);
        for scale in [0, 1, 2, 5, 18] {
            let ty = LogicalType::Decimal { precision: 18, scale };
            check(ty, &wide);
        }
        let moments: Vec<i128> = wide.iter().map(|v| v * 987_654_321).collect();
        check(LogicalType::TIMESTAMP, &moments);
        check(
            LogicalType::TIMESTAMP,
            &[-1, 500_000, 999_999, i64::MAX.into(), -62_135_596_800_000_000],
        );
    }
}
