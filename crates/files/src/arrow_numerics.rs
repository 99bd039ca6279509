//! Numerics without precision as Arrow's decimals, which have one scale for a whole column. No digit is lost: a value
//! that the scale has no room for is refused.

use arrow_array::Decimal128Array;
use arrow_buffer::NullBuffer;
use frazil_types::array::ArrayRef as ArrayBytes;
use frazil_types::decimal::POWERS_OF_TEN;
use frazil_types::logical_type::DECIMAL_MAX_DIGITS;
use frazil_types::numeric::Numeric;
use frazil_types::{ColumnVector, Error, LogicalType, Result, RowBatch, SqlState};

/// The scale of a column whose values are not known, or all fit: as many digits as PostgreSQL gives most quotients.
/// The scale leaves room for 18 digits before the point.
pub(crate) const USUAL_SCALE: u8 = 20;

/// Digits that the numerics of a column need.
#[derive(Clone, Copy, Debug, Default)]
struct Digits {
    /// Most digits before the point.
    before: u8,
    /// Most digits after the point, without zeros at the end.
    after: u8,
}

impl Digits {
    fn add(&mut self, value: Numeric) {
        let scale = value.scale();
        let digits = value.coefficient().unsigned_abs().checked_ilog10();
        let digits = digits.map_or(0, |most| most as u8 + 1);
        self.before = self.before.max(digits.saturating_sub(scale));
        if scale > USUAL_SCALE {
            self.after = self.after.max(value.trimmed().scale());
        }
    }

    /// [`USUAL_SCALE`] if all values fit it, else as many digits after the point as the values need. Fewer if the
    /// digits before the point leave no room: some value is refused then.
    fn scale(self) -> u8 {
        let room = DECIMAL_MAX_DIGITS - self.before.min(DECIMAL_MAX_DIGITS);
        self.after.max(USUAL_SCALE.min(room)).min(room)
    }
}

/// The scale at which the numerics of a column become decimals. `element`: the type of the elements if the column has
/// arrays of numerics. XX001 for damaged values.
pub(crate) fn scale_of(element: Option<LogicalType>, batches: &[RowBatch], column: usize) -> Result<u8> {
    let mut digits = Digits::default();
    match element {
        None => {
            for column in batches.iter().map(|batch| &batch.columns[column]) {
                for row in (0..column.len()).filter(|&row| !column.is_null(row)) {
                    digits.add(Numeric::of_bytes(column.strings().bytes(row))?);
                }
            }
        }
        Some(element) => {
            for column in batches.iter().map(|batch| &batch.columns[column]) {
                for row in (0..column.len()).filter(|&row| !column.is_null(row)) {
                    for value in ArrayBytes::new(column.string(row), element)?.elements() {
                        if let Some(bytes) = value?.as_bytes() {
                            digits.add(Numeric::of_bytes(bytes)?);
                        }
                    }
                }
            }
        }
    }
    Ok(digits.scale())
}

/// Numerics as decimals of 38 digits and one scale. 22003 for a value that has more digits after or before the point.
pub(crate) fn decimals(
    column: &ColumnVector,
    scale: u8,
    valid: Option<NullBuffer>,
) -> Result<Decimal128Array> {
    let value = |row| match column.is_null(row) {
        true => Ok(0),
        false => at_scale(Numeric::of_bytes(column.strings().bytes(row))?, scale),
    };
    let values = (0..column.len()).map(value).collect::<Result<Vec<i128>>>()?;
    let array = Decimal128Array::new(values.into(), valid);
    let array = array.with_precision_and_scale(DECIMAL_MAX_DIGITS, scale as i8);
    array.map_err(|e| Error::internal(format!("a result did not become Arrow: {e}")))
}

/// The coefficient of a value at a scale. 22003 if digits would be lost.
fn at_scale(value: Numeric, scale: u8) -> Result<i128> {
    let exact = match value.scale() > scale {
        true => value.trimmed(),
        false => value,
    };
    let most = POWERS_OF_TEN[usize::from(DECIMAL_MAX_DIGITS)];
    let fits = |v: &i128| exact.scale() <= scale && v.unsigned_abs() < most.unsigned_abs();
    exact.at_scale(scale).filter(fits).ok_or_else(|| {
        let message = format!("numeric {value} does not fit decimal({DECIMAL_MAX_DIGITS},{scale})");
        Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
            .with_detail(format!(
                "A column of type numeric is written with {scale} digits after the point and {} before it.",
                DECIMAL_MAX_DIGITS - scale
            ))
            .with_hint("cast the column to decimal(p,s) or to text")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArrowBatches, ArrowTexts, arrow_schema, column_of, record_batch};
    use arrow_array::Array;
    use frazil_types::{ColumnDef, MemoryBudget, Schema, Value};
    use std::sync::Arc;

    fn numbers(texts: &[&str]) -> Vec<Value> {
        let number = |text: &&str| Value::from(Numeric::read(text).expect("a number"));
        texts.iter().map(number).chain([Value::Null]).collect()
    }

    /// A column of the values in two batches, and a column of one array of them.
    fn batches(values: &[Value]) -> (Schema, Vec<RowBatch>) {
        let list = LogicalType::Numeric.array().expect("numeric[]");
        let whole = frazil_types::array::encode_list(values, LogicalType::Numeric).expect("an array");
        let batch = |values: &[Value]| RowBatch {
            columns: vec![
                ColumnVector::from_values(LogicalType::Numeric, values),
                ColumnVector::from_values(list, &vec![Value::Bytes(whole.clone()); values.len()]),
            ],
            rows: values.len(),
        };
        let (first, rest) = values.split_at(1);
        let columns = vec![
            ColumnDef::new("n", LogicalType::Numeric),
            ColumnDef::new("a", list),
        ];
        (Schema::new(columns), vec![batch(first), batch(rest)])
    }

    /// The numbers as they come back from Arrow, or the first error.
    fn back(schema: &Schema, batches: Vec<RowBatch>, texts: ArrowTexts) -> Result<Vec<Value>> {
        let arrow = ArrowBatches::new(schema, Arc::new(batches), texts)?;
        let mut all = Vec::new();
        for at in 0..arrow.len() {
            let record = arrow.batch(at)?;
            let read = |array, ty| column_of(array, ty, None, &MemoryBudget::unlimited()).map_err(|(_, e)| e);
            let column = read(record.column(0), LogicalType::Numeric)?;
            all.extend((0..column.len()).map(|row| column.value(row)));
            let ty = LogicalType::Numeric.array().expect("numeric[]");
            assert_eq!(read(record.column(1), ty)?.len(), record.column(1).len());
        }
        Ok(all)
    }

    fn equal(a: &Value, b: &Value) -> bool {
        let number = |v: &Value| {
            v.as_bytes()
                .map(|b| Numeric::of_bytes(b).expect("a number").trimmed())
        };
        match (number(a), number(b)) {
            (Some(a), Some(b)) => (a.coefficient(), a.scale()) == (b.coefficient(), b.scale()),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    #[test]
    fn numerics_keep_every_digit_or_are_refused() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |most: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % most
        };
        let (mut whole, mut refused) = (0, 0);
        for _ in 0..400 {
            let mut values = vec![Value::Null];
            let mut most = Digits::default();
            for _ in 0..=next(4) {
                let (digits, scale) = (next(39), next(39) as u8);
                let coefficient = (0..digits).fold(0_i128, |v, _| v * 10 + i128::from(next(10)));
                let sign = if next(2) == 0 { 1 } else { -1 };
                let value = Numeric::new(coefficient * sign, scale).expect("up to 38 digits");
                let trimmed = value.trimmed();
                let before = coefficient.to_string().len().saturating_sub(scale.into()) as u8;
                most.before = most.before.max(if coefficient == 0 { 0 } else { before });
                most.after = most.after.max(trimmed.scale());
                values.push(Value::from(value));
            }
            let (schema, batches) = batches(&values);
            for texts in [ArrowTexts::Copied, ArrowTexts::Views] {
                match back(&schema, batches.clone(), texts) {
                    Ok(read) => {
                        assert!(
                            read.iter().zip(&values).all(|(a, b)| equal(a, b)),
                            "{values:?}: {read:?}"
                        );
                        whole += 1;
                    }
                    Err(e) => {
                        assert_eq!(e.state(), SqlState::NUMERIC_OUT_OF_RANGE);
                        assert!(most.before + most.after > DECIMAL_MAX_DIGITS, "{values:?}: {e}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(whole > 200 && refused > 20, "{whole} whole, {refused} refused");
    }

    #[test]
    fn a_column_has_the_usual_scale_if_its_values_fit() {
        for (texts, scale) in [
            (&["1.5", "-123456789012345678.12345678901234567890"][..], 20),
            (&["1.5000000000000000000000000"], 20),
            (&["0", "0.0000000000000000000000000"], 20),
            (&["1e20"], 17),
            (&["1e-30", "1e7"], 30),
            (&["1e37"], 0),
            (&["12345678901234567890123456789012345678"], 0),
            (&["1e-38"], 38),
            // No scale has room for both.
            (&["1e30", "1e-30"], 7),
        ] {
            let (schema, batches) = batches(&numbers(texts));
            for (at, column) in schema.columns.iter().enumerate() {
                assert_eq!(
                    scale_of(column.ty.element(), &batches, at).expect("a scale"),
                    scale,
                    "{texts:?}"
                );
            }
        }
    }

    #[test]
    fn numerics_of_a_stream_are_not_rounded() {
        for (text, fits) in [
            ("1.12345678901234567890", true),
            ("1.123456789012345678901", false),
            ("1e17", true),
            ("1e18", false),
        ] {
            let (schema, batches) = batches(&numbers(&[text]));
            let made = record_batch(&arrow_schema(&schema), &batches[0]);
            assert_eq!(made.is_ok(), fits, "{text}");
            if let Err(e) = made {
                let number = Numeric::read(text).expect("a number");
                let shown = format!("column \"n\": numeric {number} does not fit decimal(38,20)");
                assert_eq!(
                    (e.state(), e.message()),
                    (SqlState::NUMERIC_OUT_OF_RANGE, &shown[..])
                );
            }
        }
    }
}
