//! Text fields → native values, column by column.

use crate::date_form::DateForm;
use frazil_types::decimal::POWERS_OF_TEN;
use frazil_types::{
    ColumnDef, ColumnVector, Error, LogicalType, MemoryBudget, NativeType, Result, SqlState,
    StringVectorBuilder, Value, date, value_ops,
};

/// Bytes of a field that an error shows.
const SHOWN: usize = 100;

/// A column under construction.
pub struct ColumnBuilder {
    def: ColumnDef,
    form: PlainForm,
    /// How dates are written.
    dates: DateForm,
    values: ColumnVector,
    strings: StringVectorBuilder,
    nulls: Vec<usize>,
    row: usize,
}

impl ColumnBuilder {
    /// An empty column for up to `capacity` rows; the bytes of its strings are taken from `budget`.
    pub fn new(def: ColumnDef, dates: DateForm, capacity: usize, budget: &MemoryBudget) -> ColumnBuilder {
        let is_string = def.ty.native() == NativeType::String;
        let mut values = ColumnVector::new(def.ty, if is_string { 0 } else { capacity });
        if !is_string {
            values.resize(capacity);
        }
        ColumnBuilder {
            strings: StringVectorBuilder::budgeted(def.ty, capacity, budget),
            form: match dates {
                DateForm::Said(_) => PlainForm::Other,
                _ => PlainForm::of(def.ty),
            },
            dates,
            def,
            values,
            nulls: Vec::new(),
            row: 0,
        }
    }

    /// The type of the values.
    pub fn ty(&self) -> LogicalType {
        self.def.ty
    }

    /// Appends NULL. Error 23502 if the column is NOT NULL.
    pub fn push_null(&mut self) -> Result<()> {
        if !self.def.nullable {
            let message = format!(
                "null value in column \"{}\" violates not-null constraint",
                self.def.name
            );
            return Err(Error::new(SqlState::NOT_NULL_VIOLATION, message).of_column(&self.def.name));
        }
        if self.def.ty.native() == NativeType::String {
            self.strings.push_null();
        } else {
            self.nulls.push(self.row);
        }
        self.row += 1;
        Ok(())
    }

    /// Appends the value a text stands for. Errors are those of a cast; of a long field they show the beginning.
    pub fn push(&mut self, field: &[u8]) -> Result<()> {
        let (row, ty) = (self.row, self.def.ty);
        let native = ty.native();
        if ty.is_binary() {
            if let Value::Bytes(bytes) = read(field, ty)? {
                self.strings.try_push_bytes(&bytes)?;
            }
            self.row += 1;
            return Ok(());
        }
        if native == NativeType::String {
            let kept = value_ops::kept_text(text(field)?, ty)?;
            self.strings.try_push(kept)?;
            self.row += 1;
            return Ok(());
        }
        let value = match self.form.read(field) {
            Some(value) => value.into(),
            None if self.dates != DateForm::Iso => {
                let iso = self.dates.to_iso(text(field)?);
                if let (None, DateForm::Said(pattern)) = (&iso, &self.dates) {
                    return Err(pattern.refused(text(field)?));
                }
                read(iso.as_deref().map_or(field, str::as_bytes), ty)?.to_wide()
            }
            None => read(field, ty)?.to_wide(),
        };
        match native {
            NativeType::Bool => self.values.values_mut::<u8>()[row] = value as u8,
            NativeType::I16 => self.values.values_mut::<i16>()[row] = value as i16,
            NativeType::I32 => self.values.values_mut::<i32>()[row] = value as i32,
            NativeType::I64 => self.values.values_mut::<i64>()[row] = value as i64,
            NativeType::I128 => self.values.values_mut::<i128>()[row] = value,
            NativeType::F64 => self.values.values_mut::<f64>()[row] = f64::from_bits(value as u64),
            NativeType::String => unreachable!("strings are appended above"),
        }
        self.row += 1;
        Ok(())
    }

    /// Takes the last rows away, so that `rows` are left.
    pub fn truncate(&mut self, rows: usize) {
        if self.def.ty.native() == NativeType::String {
            self.strings.truncate(rows);
        }
        while self.nulls.last().is_some_and(|&row| row >= rows) {
            self.nulls.pop();
        }
        self.row = self.row.min(rows);
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

/// The form in which most files have the fields of a column, which is read without a detour.
#[derive(Clone, Copy)]
enum PlainForm {
    /// Digits, perhaps with a sign, of a number within these bounds.
    Integer { min: i64, max: i64 },
    /// `-123.45`.
    Decimal { precision: u8, scale: u8 },
    /// `YYYY-MM-DD`.
    Day,
    /// None: the cast reads it.
    Other,
}

impl PlainForm {
    fn of(ty: LogicalType) -> PlainForm {
        match (ty.decimal_digits(), ty.range()) {
            (Some((precision, scale)), _) if ty.native() == NativeType::I64 => {
                PlainForm::Decimal { precision, scale }
            }
            _ if ty.is_day() => PlainForm::Day,
            (_, Some((min, max))) if ty.is_integer() => PlainForm::Integer {
                min: min as i64,
                max: max as i64,
            },
            _ => PlainForm::Other,
        }
    }

    /// The value of a field of this form; `None` for a field of another one, which may be a value still.
    fn read(self, field: &[u8]) -> Option<i64> {
        match self {
            PlainForm::Integer { min, max } => plain_integer(field).filter(|v| (min..=max).contains(v)),
            PlainForm::Decimal { precision, scale } => plain_decimal(field, precision, scale),
            PlainForm::Day => plain_date(field).map(i64::from),
            PlainForm::Other => None,
        }
    }
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
fn read(field: &[u8], ty: LogicalType) -> Result<Value> {
    value_ops::read(text(field)?, ty).map_err(|e| {
        if field.len() <= SHOWN {
            return e;
        }
        let shown = String::from_utf8_lossy(&field[..SHOWN]);
        let message = match e.state() {
            SqlState::NUMERIC_OUT_OF_RANGE | SqlState::DATETIME_OVERFLOW => {
                format!("value \"{shown}\" is out of range for type {ty}")
            }
            SqlState::INVALID_TEXT | SqlState::INVALID_DATETIME => {
                format!("invalid input syntax for type {ty}: \"{shown}\"")
            }
            _ => return e,
        };
        Error::new(e.state(), message)
    })
}

fn plain_integer(field: &[u8]) -> Option<i64> {
    let (negative, digits) = match field.first() {
        Some(b'-') => (true, &field[1..]),
        _ => (false, field),
    };
    // Eighteen digits fit in any case.
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value: i64 = 0;
    for d in digits {
        if !d.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(d - b'0');
    }
    Some(if negative { -value } else { value })
}

fn plain_decimal(field: &[u8], precision: u8, scale: u8) -> Option<i64> {
    let (negative, digits) = match field.first() {
        Some(b'-') => (true, &field[1..]),
        _ => (false, field),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value: i64 = 0;
    let mut point = None;
    for (i, &b) in digits.iter().enumerate() {
        match b {
            b'0'..=b'9' => value = value * 10 + i64::from(b - b'0'),
            b'.' if point.is_none() => point = Some(i),
            _ => return None,
        }
    }
    let fraction = point.map_or(0, |p| digits.len() - p - 1);
    if fraction > usize::from(scale) || digits.len() == usize::from(point.is_some()) {
        return None;
    }
    let value = value.checked_mul(POWERS_OF_TEN[usize::from(scale) - fraction] as i64)?;
    let fits = i128::from(value) < POWERS_OF_TEN[usize::from(precision)];
    fits.then_some(if negative { -value } else { value })
}

fn plain_date(field: &[u8]) -> Option<i32> {
    let [a, b, c, d, b'-', e, f, b'-', g, h] = *field else {
        return None;
    };
    if ![a, b, c, d, e, f, g, h].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let n = |digits: &[u8]| digits.iter().fold(0, |v, d| v * 10 + u32::from(d - b'0'));
    let (year, month, day) = (n(&[a, b, c, d]) as i32, n(&[e, f]), n(&[g, h]));
    let is_day = (1..=12).contains(&month) && day >= 1 && day <= date::days_in_month(year, month);
    is_day.then(|| date::days_from_civil(year, month, day))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONEY: LogicalType = LogicalType::Decimal {
        precision: 15,
        scale: 2,
    };

    /// The plain form of a field reads nothing, or what a cast of its text gives.
    fn agree(field: &str, ty: LogicalType) -> bool {
        let plain = PlainForm::of(ty).read(field.as_bytes());
        if let Some(plain) = plain {
            let cast = value_ops::read(field, ty).map_err(|e| e.state());
            assert_eq!(cast, Ok(Value::Int(plain.into())), "{field} as {ty}");
        }
        plain.is_some()
    }

    #[test]
    fn plain_fields_are_what_casts_of_them_are() {
        for field in ["0", "-0.5", "12.34", "999999999999.99", "1.", ".5", "-7"] {
            assert!(agree(field, MONEY), "{field}");
        }
        for field in [
            "2026-01-31",
            "0001-01-01",
            "0000-02-29",
            "9999-12-31",
            "1996-02-29",
        ] {
            assert!(agree(field, LogicalType::Date), "{field}");
        }
        for field in ["0", "-1", "32767", "-32768"] {
            assert!(agree(field, LogicalType::SmallInt), "{field}");
        }
        assert!(agree("-999999999999999999", LogicalType::BigInt));
    }

    #[test]
    fn other_fields_are_cast() {
        for field in [
            "",
            ".",
            "-",
            "1,2",
            "x",
            "1.234",
            "1e2",
            " 1",
            "99999999999999.99",
        ] {
            assert!(!agree(field, MONEY), "{field}");
        }
        for field in [
            "2026-01-31 10:00:00",
            "2026-02-30",
            "1997-02-29",
            "26-1-1",
            "20260131",
        ] {
            assert!(!agree(field, LogicalType::Date), "{field}");
        }
        for field in ["", "-", "+1", " 1", "32768", "9223372036854775807", "1_0"] {
            assert!(!agree(field, LogicalType::SmallInt), "{field}");
        }
        let state = |field: &str, ty| read(field.as_bytes(), ty).map_err(|e| e.state());
        assert_eq!(
            state("2026-01-31 10:00:00", LogicalType::Date),
            state("2026-01-31", LogicalType::Date)
        );
        let least = "-9223372036854775808";
        assert_eq!(state(least, LogicalType::BigInt), Ok(Value::Int(i64::MIN.into())));
        assert_eq!(
            state(&least[1..], LogicalType::BigInt),
            Err(SqlState::NUMERIC_OUT_OF_RANGE)
        );
        assert_eq!(
            state("1997-02-29", LogicalType::Date),
            Err(SqlState::DATETIME_OVERFLOW)
        );
        assert_eq!(state("1,2", MONEY), Err(SqlState::INVALID_TEXT));
    }

    #[test]
    fn an_error_shows_the_beginning_of_a_long_field() {
        let long = "7".repeat(1000);
        let error = read(long.as_bytes(), LogicalType::Integer).unwrap_err();
        assert_eq!(error.state(), SqlState::NUMERIC_OUT_OF_RANGE);
        assert!(error.message().len() < 200, "{}", error.message());
    }
}
