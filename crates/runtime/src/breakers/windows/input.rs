//! What calls read, gathered from rows into columns in the order of a segment.

use super::WindowInput;
use super::segment::Segment;
use crate::breakers::array::Array;
use crate::breakers::order::Shared;
use crate::row_layout::FieldPlace;
use frazil_types::{MemoryBudget, Native, NativeType, Result, Value};
use std::ops::Range;

/// Values of a segment's rows.
#[derive(Debug)]
pub struct Column<T> {
    values: Values<T>,
    /// One byte a row, 1: not NULL; `None`: none is NULL.
    valid: Option<Array<u8>>,
}

#[derive(Debug)]
enum Values<T> {
    Each(Array<T>),
    All(T),
}

impl<T: Native> Column<T> {
    /// Value of a row; zero or stale where it is NULL.
    #[inline]
    pub fn value(&self, row: usize) -> T {
        match &self.values {
            Values::Each(values) => values[row],
            Values::All(value) => *value,
        }
    }

    /// Whether a row's value is not NULL.
    #[inline]
    pub fn is_valid(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid[row] != 0)
    }

    /// A row's value if it is not NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T> {
        self.is_valid(row).then(|| self.value(row))
    }

    /// The column with every value changed. Error 53200.
    pub fn map<U: Native>(self, budget: &MemoryBudget, f: impl Fn(T) -> U) -> Result<Column<U>> {
        let values = match self.values {
            Values::Each(values) => {
                // SAFETY: all values are written before one is read; every native value is plain bytes.
                let mut mapped = unsafe { Array::<U>::stale(values.len(), budget)? };
                for (to, from) in mapped.iter_mut().zip(values.iter()) {
                    *to = f(*from);
                }
                Values::Each(mapped)
            }
            Values::All(value) => Values::All(f(value)),
        };
        Ok(Column {
            values,
            valid: self.valid,
        })
    }

    /// Whether some value may be NULL.
    pub fn has_nulls(&self) -> bool {
        self.valid.is_some()
    }
}

/// A constant in native form; `None` for NULL.
fn constant<T: Native>(value: &Value) -> Option<T> {
    /// # Safety
    /// `A` and `T` are the same type.
    unsafe fn same<A: Copy, T: Copy>(value: A) -> T {
        // SAFETY: by contract.
        unsafe { std::mem::transmute_copy(&value) }
    }
    let whole = match value {
        Value::Null | Value::Text(_) | Value::Bytes(_) => return None,
        Value::Bool(b) => i128::from(*b),
        Value::Int(v) => *v,
        Value::Interval(i) => i.to_native(),
        // SAFETY: the types are those that `T` says it is.
        Value::Double(v) => return (T::TYPE == NativeType::F64).then(|| unsafe { same(*v) }),
    };
    // SAFETY: as above.
    unsafe {
        Some(match T::TYPE {
            NativeType::Bool => same::<u8, T>(whole as u8),
            NativeType::I16 => same::<i16, T>(whole as i16),
            NativeType::I32 => same::<i32, T>(whole as i32),
            NativeType::I64 => same::<i64, T>(whole as i64),
            NativeType::I128 => same::<i128, T>(whole),
            NativeType::F64 => same::<f64, T>(whole as f64),
            NativeType::String => return None,
        })
    }
}

/// A field as a value of `T`: the field's own type, or 128 bits of a field of 64.
///
/// # Safety
/// A live row of the layout.
#[inline]
unsafe fn field<T: Native>(place: &FieldPlace, row: *const u8) -> T {
    // SAFETY: by contract; a number of 128 bits is made of one of 64.
    unsafe {
        if T::TYPE == NativeType::I128 && place.native == NativeType::I64 {
            let wide = i128::from(place.get::<i64>(row));
            return std::mem::transmute_copy::<i128, T>(&wide);
        }
        place.get::<T>(row)
    }
}

/// An input's value in one row.
pub fn of_row<T: Native>(segment: &Segment<'_>, input: &WindowInput, row: usize) -> Option<T> {
    match input {
        WindowInput::Constant(value) => constant(value),
        WindowInput::Field(index) => {
            let place = &segment.order.layout.fields[*index];
            let row = segment.entries[row].row;
            // SAFETY: a live row of the layout.
            unsafe { place.is_valid(row).then(|| field::<T>(place, row)) }
        }
    }
}

/// The values of an input in all rows. Rows for which the filter is not true are NULL.
pub fn column<T: Native>(
    segment: &Segment<'_>,
    input: &WindowInput,
    filter: Option<&WindowInput>,
) -> Result<Column<T>> {
    let rows = segment.entries.len();
    let mut valid = valid_rows(segment, filter)?;
    let index = match input {
        WindowInput::Constant(value) => {
            let value = constant::<T>(value);
            if value.is_none() && rows > 0 {
                valid = Some(Array::filled(0, rows, segment.budget)?);
            }
            return Ok(Column {
                values: Values::All(value.unwrap_or_default()),
                valid,
            });
        }
        WindowInput::Field(index) => *index,
    };
    let place = &segment.order.layout.fields[index];
    // SAFETY: all values are written below; every native value is plain bytes.
    let mut values = unsafe { Array::<T>::stale(rows, segment.budget)? };
    let shared = Shared::new(&mut values);
    segment.for_blocks(&|block: Range<usize>| {
        // SAFETY: each block has its own places.
        let out = unsafe { shared.part(block.start, block.len()) };
        for (value, entry) in out.iter_mut().zip(&segment.entries[block]) {
            // SAFETY: a live row of the layout.
            *value = unsafe { field(place, entry.row) };
        }
        Ok(())
    })?;
    if place.validity.is_some() {
        let mut bytes = match valid {
            Some(valid) => valid,
            None => Array::filled(1, rows, segment.budget)?,
        };
        let shared = Shared::new(&mut bytes);
        segment.for_blocks(&|block: Range<usize>| {
            // SAFETY: each block has its own places.
            let out = unsafe { shared.part(block.start, block.len()) };
            for (valid, entry) in out.iter_mut().zip(&segment.entries[block]) {
                // SAFETY: a live row of the layout.
                *valid &= u8::from(unsafe { place.is_valid(entry.row) });
            }
            Ok(())
        })?;
        valid = Some(bytes);
    }
    Ok(Column {
        values: Values::Each(values),
        valid,
    })
}

/// Rows for which a filter is true; `None` without a filter.
fn valid_rows(segment: &Segment<'_>, filter: Option<&WindowInput>) -> Result<Option<Array<u8>>> {
    let Some(filter) = filter else {
        return Ok(None);
    };
    let rows = segment.entries.len();
    let mut valid = Array::filled(0, rows, segment.budget)?;
    let shared = Shared::new(&mut valid);
    segment.for_blocks(&|block: Range<usize>| {
        // SAFETY: each block has its own places.
        let out = unsafe { shared.part(block.start, block.len()) };
        for (valid, row) in out.iter_mut().zip(block) {
            *valid = u8::from(of_row::<u8>(segment, filter, row).is_some_and(|b| b != 0));
        }
        Ok(())
    })?;
    Ok(Some(valid))
}

/// Rows in which an input is not NULL, without one all rows, for which the filter is true: others are NULL.
pub fn presence(
    segment: &Segment<'_>,
    input: Option<&WindowInput>,
    filter: Option<&WindowInput>,
) -> Result<Column<u8>> {
    let rows = segment.entries.len();
    let mut valid = valid_rows(segment, filter)?;
    let is_null = matches!(input, Some(WindowInput::Constant(Value::Null)));
    let place = match input {
        Some(WindowInput::Field(index)) => Some(&segment.order.layout.fields[*index]),
        _ => None,
    };
    let nullable = place.filter(|place| place.validity.is_some());
    if valid.is_none() && (is_null || nullable.is_some()) {
        valid = Some(Array::filled(1, rows, segment.budget)?);
    }
    if let Some(valid) = valid.as_mut().filter(|_| is_null) {
        valid.fill(0);
    }
    if let (Some(valid), Some(place)) = (&mut valid, nullable) {
        let shared = Shared::new(valid);
        segment.for_blocks(&|block: Range<usize>| {
            // SAFETY: each block has its own places.
            let out = unsafe { shared.part(block.start, block.len()) };
            for (valid, entry) in out.iter_mut().zip(&segment.entries[block]) {
                // SAFETY: a live row of the layout.
                *valid &= u8::from(unsafe { place.is_valid(entry.row) });
            }
            Ok(())
        })?;
    }
    Ok(Column {
        valid,
        values: Values::All(1),
    })
}
