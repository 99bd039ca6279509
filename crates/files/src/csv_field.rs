//! Text fields → native values, column by column.

use frazil_types::decimal::{self, POWERS_OF_TEN};
use frazil_types::{
    ColumnDef, ColumnVector, Error, LogicalType, MemoryBudget, NativeType, Result, SqlState,
    StringVectorBuilder, date, value_ops,
};

/// Bytes of a field that an error shows.
const SHOWN: usize = 100;

/// A column under construction.
pub struct ColumnBuilder {
    def: ColumnDef,
    values: ColumnVector,
    strings: StringVectorBuilder,
    nulls: Vec<usize>,
    row: usize,
}

impl ColumnBuilder {
    /// An empty column for up to `capacity` rows; the bytes of its strings are taken from `budget`.
    pub fn new(def: ColumnDef, capacity: usize, budget: &MemoryBudget) -> ColumnBuilder {
        let is_string = def.ty.native() == NativeType::String;
        let mut values = ColumnVector::new(def.ty, if is_string { 0 } else { capacity });
        if !is_string {
            values.resize(capacity);
        }
        ColumnBuilder {
            strings: StringVectorBuilder::budgeted(def.ty, capacity, budget),
            def,
            values,
            nulls: Vec::new(),
            row: 0,
        }
    }

    /// Appends NULL. Error 23502 if the column is NOT NULL.
    pub fn push_null(&mut self) -> Result<()> {
        if !self.def.nullable {
            let message = format!(
                "null value in column \"{}\" violates not-null constraint",
                self.def.name
            );
            return Err(Error::new(SqlState::NOT_NULL_VIOLATION, message));
        }
        if self.def.ty.native() == NativeType::String {
            self.strings.push_null();
        } else {
            self.nulls.push(self.row);
        }
        self.row += 1;
        Ok(())
    }

    /// Appends the value a text stands for. Errors name the type and the text.
    pub fn push(&mut self, field: &[u8]) -> Result<()> {
        let row = self.row;
        match self.def.ty {
            LogicalType::SmallInt => {
                self.values.values_mut::<i16>()[row] =
                    integer(field, self.def.ty, i16::MIN.into(), i16::MAX.into())? as i16;
            }
            LogicalType::Integer => {
                self.values.values_mut::<i32>()[row] =
                    integer(field, self.def.ty, i32::MIN.into(), i32::MAX.into())? as i32;
            }
            LogicalType::BigInt => {
                self.values.values_mut::<i64>()[row] = integer(field, self.def.ty, i64::MIN, i64::MAX)?;
            }
            LogicalType::Decimal { precision, scale } => match self.def.ty.native() {
                NativeType::I64 => {
                    self.values.values_mut::<i64>()[row] = short_decimal(field, precision, scale)?
                }
                _ => self.values.values_mut::<i128>()[row] = decimal::parse(text(field)?, precision, scale)?,
            },
            LogicalType::Date => self.values.values_mut::<i32>()[row] = iso_date(field)?,
            LogicalType::Timestamp => {
                self.values.values_mut::<i64>()[row] = date::parse_timestamp(text(field)?)?
            }
            LogicalType::Double => {
                self.values.values_mut::<f64>()[row] =
                    read(field, LogicalType::Double, value_ops::read_double)?
            }
            LogicalType::Boolean => {
                self.values.values_mut::<u8>()[row] =
                    read(field, LogicalType::Boolean, value_ops::read_boolean)?.into()
            }
            LogicalType::Char(1) => self.values.values_mut::<i32>()[row] = code_point(field)?,
            LogicalType::Char(n) => self.push_string(field, Some(n), true)?,
            LogicalType::Varchar(n) => self.push_string(field, Some(n), false)?,
            LogicalType::Text => self.push_string(field, None, false)?,
            LogicalType::Interval => return Err(Error::unsupported("a column of type interval")),
        }
        self.row += 1;
        Ok(())
    }

    fn push_string(&mut self, field: &[u8], max: Option<u32>, padded: bool) -> Result<()> {
        let valid = text(field)?;
        let kept = if padded {
            valid.trim_end_matches(' ')
        } else {
            valid
        };
        if let Some(max) = max
            && kept.len() > max as usize
            && kept.chars().count() > max as usize
        {
            return Err(Error::new(
                SqlState::STRING_TRUNCATION,
                format!("value too long for type {}", self.def.ty),
            ));
        }
        self.strings.try_push(kept)
    }

    /// The finished column.
    pub fn finish(self) -> ColumnVector {
        if self.def.ty.native() == NativeType::String {
            return self.strings.finish();
        }
        let mut out = self.values;
        out.resize(self.row);
        self.nulls.iter().for_each(|&row| out.set_null(row));
        out
    }
}

fn invalid(field: &[u8], ty: impl std::fmt::Display) -> Error {
    let shown = String::from_utf8_lossy(&field[..field.len().min(SHOWN)]);
    Error::new(
        SqlState::INVALID_TEXT,
        format!("invalid input syntax for type {ty}: \"{shown}\""),
    )
}

/// The field as a text, in which character 0 does not occur. Error 22021.
fn text(field: &[u8]) -> Result<&str> {
    let invalid = |at: usize| {
        let message = format!("invalid byte sequence for encoding UTF-8 at byte {}", at + 1);
        Error::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, message)
    };
    let text = std::str::from_utf8(field).map_err(|e| invalid(e.valid_up_to()))?;
    match field.iter().position(|byte| *byte == 0) {
        None => Ok(text),
        Some(at) => Err(invalid(at)),
    }
}

/// Reads a field as a cast of its text would. Of a long one the error shows the beginning.
fn read<T>(field: &[u8], ty: LogicalType, parse: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    parse(text(field)?).map_err(|e| match e.state() {
        _ if field.len() <= SHOWN => e,
        SqlState::NUMERIC_OUT_OF_RANGE => out_of_range(field, ty),
        _ => invalid(field, ty),
    })
}

fn integer(field: &[u8], ty: LogicalType, min: i64, max: i64) -> Result<i64> {
    let trimmed = field.trim_ascii();
    let (negative, digits) = match trimmed.first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(invalid(field, ty));
    }
    let mut value: i64 = 0;
    for d in digits {
        // Accumulates downwards: the least bigint has no positive twin.
        value = value
            .checked_mul(10)
            .and_then(|v| v.checked_sub(i64::from(d - b'0')))
            .ok_or_else(|| out_of_range(field, ty))?;
    }
    let value = if negative {
        value
    } else {
        value.checked_neg().ok_or_else(|| out_of_range(field, ty))?
    };
    if (min..=max).contains(&value) {
        Ok(value)
    } else {
        Err(out_of_range(field, ty))
    }
}

fn out_of_range(field: &[u8], ty: LogicalType) -> Error {
    let shown = String::from_utf8_lossy(&field[..field.len().min(SHOWN)]);
    Error::new(
        SqlState::NUMERIC_OUT_OF_RANGE,
        format!("value \"{shown}\" is out of range for type {ty}"),
    )
}

/// Reads the plain form `-123.45` without a detour; all else goes the general way.
fn short_decimal(field: &[u8], precision: u8, scale: u8) -> Result<i64> {
    let general = || decimal::parse(text(field)?, precision, scale).map(|v| v as i64);
    let (negative, digits) = match field.first() {
        Some(b'-') => (true, &field[1..]),
        _ => (false, field),
    };
    if digits.is_empty() || digits.len() > 18 {
        return general();
    }
    let mut value: i64 = 0;
    let mut point = None;
    for (i, &b) in digits.iter().enumerate() {
        match b {
            b'0'..=b'9' => value = value * 10 + i64::from(b - b'0'),
            b'.' if point.is_none() => point = Some(i),
            _ => return general(),
        }
    }
    let fraction = point.map_or(0, |p| digits.len() - p - 1);
    if fraction > usize::from(scale) || digits.len() == usize::from(point.is_some()) {
        return general();
    }
    let power = POWERS_OF_TEN[usize::from(scale) - fraction] as i64;
    match value.checked_mul(power) {
        Some(v) if i128::from(v) < POWERS_OF_TEN[usize::from(precision)] => Ok(if negative { -v } else { v }),
        _ => general(),
    }
}

/// Reads `YYYY-MM-DD` without a detour; all else goes the general way.
fn iso_date(field: &[u8]) -> Result<i32> {
    if let [a, b, c, d, b'-', e, f, b'-', g, h] = *field
        && [a, b, c, d, e, f, g, h].iter().all(u8::is_ascii_digit)
    {
        let n = |digits: &[u8]| digits.iter().fold(0, |v, d| v * 10 + u32::from(d - b'0'));
        let (year, month, day) = (n(&[a, b, c, d]) as i32, n(&[e, f]), n(&[g, h]));
        if (1..=12).contains(&month) && day >= 1 && day <= date::days_in_month(year, month) {
            return Ok(date::days_from_civil(year, month, day));
        }
    }
    read(field, LogicalType::Date, value_ops::read_date)
}

fn code_point(field: &[u8]) -> Result<i32> {
    let valid = text(field)?;
    let mut chars = valid.chars();
    // An empty char(1) is a blank: it is padded.
    let first = chars.next().unwrap_or(' ');
    if chars.all(|c| c == ' ') {
        return Ok(first as i32);
    }
    Err(Error::new(
        SqlState::STRING_TRUNCATION,
        "value too long for type char(1)",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_a_cast() {
        assert_eq!(
            iso_date(b"2026-01-31 10:00:00").unwrap(),
            iso_date(b"2026-01-31").unwrap()
        );
        for day in ["2026-01-31", "0001-01-01", "0000-02-29", "9999-12-31"] {
            let cast = value_ops::read_date(day).unwrap();
            assert_eq!(iso_date(day.as_bytes()).unwrap(), cast, "{day}");
        }
        assert!(iso_date(b"2026-02-30").is_err());
    }

    #[test]
    fn fast_paths_agree_with_the_general_ones() {
        for t in [
            "0",
            "-0.5",
            "12.34",
            "999999999999.99",
            "1.",
            ".5",
            "1.234",
            "1e2",
        ] {
            assert_eq!(
                short_decimal(t.as_bytes(), 15, 2).unwrap() as i128,
                decimal::parse(t, 15, 2).unwrap(),
                "{t}"
            );
        }
        for t in ["", ".", "-", "1,2", "x"] {
            assert_eq!(
                short_decimal(t.as_bytes(), 15, 2).unwrap_err().state(),
                SqlState::INVALID_TEXT,
                "{t}"
            );
        }
        assert_eq!(
            short_decimal(b"99999999999999.99", 15, 2).unwrap_err().state(),
            SqlState::NUMERIC_OUT_OF_RANGE
        );
        assert_eq!(
            iso_date(b"1996-02-29").unwrap(),
            date::parse_date("1996-02-29").unwrap()
        );
        assert_eq!(
            iso_date(b"1997-02-29").unwrap_err().state(),
            SqlState::DATETIME_OVERFLOW
        );
        assert_eq!(
            integer(b"-9223372036854775808", LogicalType::BigInt, i64::MIN, i64::MAX).unwrap(),
            i64::MIN
        );
        let above = integer(b"9223372036854775808", LogicalType::BigInt, i64::MIN, i64::MAX);
        assert_eq!(above.unwrap_err().state(), SqlState::NUMERIC_OUT_OF_RANGE);
    }
}
