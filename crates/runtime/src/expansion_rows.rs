//! Rows of functions as the source of a pipeline: every worker computes the rows of its morsel from their numbers.

use crate::abi::VectorColumn;
use frazil_types::array::ArrayRef;
use frazil_types::value_ops::Series;
use frazil_types::{
    ColumnVector, Error, LogicalType, Native, NativeType, Result, STAGE_ROWS, StringRef, Value,
    dispatch_native,
};
use std::sync::Arc;

/// Rows of a morsel.
const MORSEL_ROWS: u64 = 1 << 16;

/// What a function gives.
#[derive(Clone, Debug)]
pub enum FunctionRows {
    /// The values of a series of this type.
    Series(Series, LogicalType),
    /// One row.
    Once(ColumnVector),
    /// The elements of an array.
    Elements(ArrayElements),
}

/// The elements of an array from one of them on.
#[derive(Clone, Debug)]
pub struct ArrayElements {
    /// All of them sound.
    bytes: Arc<[u8]>,
    element: LogicalType,
    /// The next one.
    at: usize,
    count: usize,
}

impl ArrayElements {
    fn left(&self) -> usize {
        self.count - self.at
    }
}

impl FunctionRows {
    /// generate_series of a type. 22023 for a step of 0.
    pub fn series(arguments: &[Value], ty: LogicalType) -> Result<FunctionRows> {
        let series = match arguments {
            values if values.iter().any(Value::is_null) => Series::EMPTY,
            [Value::Int(start), Value::Int(stop), Value::Int(step)] => {
                Series::of_integers(*start, *stop, *step)?
            }
            [Value::Int(start), Value::Int(stop), Value::Interval(step)] => {
                Series::of_timestamps(*start as i64, *stop as i64, *step, ty.zone())?
            }
            other => return Err(Error::internal(format!("a series of {other:?}"))),
        };
        Ok(FunctionRows::Series(series, ty))
    }

    /// The elements of an array of such elements; none of NULL. XX001 where its bytes are damaged.
    pub fn elements(array: &Value, element: LogicalType) -> Result<FunctionRows> {
        let empty = 0_u32.to_le_bytes();
        let bytes: Arc<[u8]> = array.as_bytes().unwrap_or(&empty).into();
        let count = ArrayRef::new(&bytes, element)?.in_turn()?.count;
        Ok(FunctionRows::Elements(ArrayElements {
            bytes,
            element,
            at: 0,
            count,
        }))
    }

    fn native(&self) -> NativeType {
        match self {
            FunctionRows::Series(_, ty) => ty.native(),
            FunctionRows::Once(value) => value.native(),
            FunctionRows::Elements(array) => array.element.native(),
        }
    }

    fn rows(&self) -> u64 {
        match self {
            FunctionRows::Series(series, _) => series.left,
            FunctionRows::Once(_) => 1,
            FunctionRows::Elements(array) => array.left() as u64,
        }
    }

    fn is_even(&self) -> bool {
        match self {
            FunctionRows::Series(series, _) => series.is_uneven == 0,
            FunctionRows::Once(_) | FunctionRows::Elements(_) => true,
        }
    }
}

/// Rows of functions side by side: see [`frazil_plan::Expansion`].
#[derive(Debug)]
pub struct ExpansionRows {
    functions: Vec<FunctionRows>,
    /// Whether a column that counts the rows is the last one.
    counts: bool,
}

impl ExpansionRows {
    /// The rows of some functions; a column that counts them is added if it `counts`.
    pub fn new(functions: Vec<FunctionRows>, counts: bool) -> ExpansionRows {
        ExpansionRows { functions, counts }
    }

    /// Number of morsels: one if rows can only be found one after the other.
    pub fn morsels(&self) -> usize {
        let rows = self.functions.iter().map(FunctionRows::rows).max().unwrap_or(0);
        match self.functions.iter().all(FunctionRows::is_even) {
            true => usize::try_from(rows.div_ceil(MORSEL_ROWS)).unwrap_or(usize::MAX),
            false => 1,
        }
    }

    /// A worker's cursor, at no morsel.
    pub fn cursor(&self) -> ExpansionCursor {
        let mut columns: Vec<Column> = (self.functions.iter())
            .map(|function| Column::new(function.native()))
            .collect();
        columns.extend(self.counts.then(|| Column::new(NativeType::I64)));
        ExpansionCursor {
            left: Vec::new(),
            number: 0,
            end: 0,
            shown: columns.iter().map(Column::shown).collect(),
            columns,
        }
    }
}

/// A column of the vector in hand.
struct Column {
    native: NativeType,
    values: Vec<u128>,
    validity: Vec<u8>,
}

impl Column {
    fn new(native: NativeType) -> Column {
        Column {
            native,
            values: vec![0; STAGE_ROWS * native.size() / 16 + 4],
            validity: vec![1; STAGE_ROWS],
        }
    }

    fn shown(&self) -> VectorColumn {
        VectorColumn::flat(self.values.as_ptr().cast()).with_validity(self.validity.as_ptr())
    }

    /// The values, as many as a vector has.
    fn values_mut<T: Native>(&mut self) -> &mut [T] {
        assert_eq!(T::TYPE, self.native);
        // SAFETY: the buffer has the room for STAGE_ROWS values of the native type, whose alignment divides 16; every Native
        // is plain bytes, all of which are initialised.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_mut_ptr().cast::<T>(), STAGE_ROWS) }
    }

    /// Says that the values from row `from` on are NULL, and those before are not.
    fn null_from(&mut self, from: usize) {
        self.validity[..from].fill(1);
        self.validity[from..].fill(0);
    }

    /// The next rows of a function, at most `most`; how many they are.
    fn fill(&mut self, function: &mut FunctionRows, most: usize) -> Result<usize> {
        let rows = match function {
            FunctionRows::Series(series, _) if series.is_uneven == 1 => self.fill_uneven(series, most)?,
            FunctionRows::Series(series, _) => {
                let rows = most.min(usize::try_from(series.left).unwrap_or(usize::MAX));
                self.fill_even(series, rows);
                series.skip(rows as u64);
                rows
            }
            FunctionRows::Elements(array) => {
                let rows = most.min(array.left());
                self.null_from(rows);
                self.fill_elements(array, rows)?;
                array.at += rows;
                return Ok(rows);
            }
            FunctionRows::Once(value) => {
                let rows = most.min(value.len());
                if rows > 0 {
                    dispatch_native!(self.native, T => self.values_mut::<T>()[0] = value.values::<T>()[0]);
                }
                let is_null = !value.is_empty() && value.is_null(0);
                value.resize(value.len() - rows);
                self.null_from(if is_null { 0 } else { rows });
                return Ok(rows);
            }
        };
        self.null_from(rows);
        Ok(rows)
    }

    /// The next elements of an array. Strings live as long as its bytes.
    fn fill_elements(&mut self, array: &ArrayElements, rows: usize) -> Result<()> {
        let elements = ArrayRef::new(&array.bytes, array.element)?;
        for row in 0..rows {
            let Some(bytes) = elements.bytes(array.at + row)? else {
                self.validity[row] = 0;
                continue;
            };
            if self.native == NativeType::String {
                // SAFETY: the cursor and the rows that it came from hold the bytes.
                self.values_mut::<StringRef>()[row] = unsafe { StringRef::new(bytes) }.as_transient();
                continue;
            }
            dispatch_native!(self.native, T => {
                if bytes.len() != size_of::<T>() {
                    return Err(elements.damaged());
                }
                // SAFETY: as many bytes as the value has, which is plain bytes; that a boolean is 0 or 1 was seen when the array was opened.
                self.values_mut::<T>()[row] = unsafe { bytes.as_ptr().cast::<T>().read_unaligned() };
            });
        }
        Ok(())
    }

    fn fill_even(&mut self, series: &Series, rows: usize) {
        /// Wraps where the values do not: so do their differences.
        macro_rules! fill {
            ($type:ty) => {{
                let (mut value, step) = (series.value as $type, series.step as $type);
                for out in &mut self.values_mut::<$type>()[..rows] {
                    *out = value;
                    value = value.wrapping_add(step);
                }
            }};
        }
        match self.native {
            NativeType::I16 => fill!(i16),
            NativeType::I32 => fill!(i32),
            NativeType::I64 => fill!(i64),
            NativeType::I128 => fill!(i128),
            NativeType::Bool | NativeType::F64 | NativeType::String => {
                unreachable!("a series of {:?}", self.native)
            }
        }
    }

    /// As many rows as there are, which are timestamps.
    fn fill_uneven(&mut self, series: &mut Series, most: usize) -> Result<usize> {
        let mut rows = 0;
        while rows < most && series.left > 0 {
            self.values_mut::<i64>()[rows] = series.value as i64;
            rows += 1;
            series.advance()?;
        }
        Ok(rows)
    }
}

/// One worker's way through the rows of functions, vector by vector.
pub struct ExpansionCursor {
    /// What is left of each function.
    left: Vec<FunctionRows>,
    /// Rows before the next one.
    number: u64,
    /// Rows before the end of the morsel.
    end: u64,
    columns: Vec<Column>,
    shown: Vec<VectorColumn>,
}

// SAFETY: `shown` points into `columns`, whose memory is the cursor's own and stays where it is.
unsafe impl Send for ExpansionCursor {}

impl ExpansionCursor {
    /// Begins a morsel.
    pub fn open(&mut self, rows: &ExpansionRows, morsel: usize) {
        self.left.clone_from(&rows.functions);
        self.number = (morsel as u64).saturating_mul(MORSEL_ROWS);
        self.end = match rows.functions.iter().all(FunctionRows::is_even) {
            true => self.number.saturating_add(MORSEL_ROWS),
            false => u64::MAX,
        };
        for function in &mut self.left {
            match function {
                FunctionRows::Series(series, _) if series.is_uneven == 0 => series.skip(self.number),
                FunctionRows::Once(value) if self.number > 0 => value.resize(0),
                FunctionRows::Elements(array) => {
                    let before = usize::try_from(self.number).unwrap_or(usize::MAX);
                    array.at = before.min(array.count);
                }
                FunctionRows::Series(..) | FunctionRows::Once(_) => {}
            }
        }
    }

    /// Moves to the next vector; its rows, or `None` at the morsel's end. 22008 outside the calendar.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<usize>> {
        let most = STAGE_ROWS.min(usize::try_from(self.end - self.number).unwrap_or(usize::MAX));
        let mut rows = 0;
        for (column, function) in self.columns.iter_mut().zip(&mut self.left) {
            rows = rows.max(column.fill(function, most)?);
        }
        if let Some(numbers) = self.columns.get_mut(self.left.len()) {
            for (i, out) in numbers.values_mut::<i64>()[..rows].iter_mut().enumerate() {
                *out = (self.number + i as u64 + 1) as i64;
            }
        }
        self.number += rows as u64;
        Ok((rows > 0).then_some(rows))
    }

    /// The columns of the vector in hand.
    pub fn columns(&self) -> &[VectorColumn] {
        &self.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(functions: Vec<FunctionRows>) -> Vec<Vec<Option<i64>>> {
        let source = ExpansionRows::new(functions, true);
        let mut cursor = source.cursor();
        let mut found = Vec::new();
        for morsel in 0..source.morsels() {
            cursor.open(&source, morsel);
            while let Some(count) = cursor.next().unwrap() {
                for row in 0..count {
                    // SAFETY: the columns live until the next vector, hold bigints, and have `count` rows.
                    let value = |c: &VectorColumn| unsafe { c.is_valid(row).then(|| c.value::<i64>(row)) };
                    found.push(cursor.columns().iter().map(value).collect());
                }
            }
        }
        found
    }

    fn series(start: i128, stop: i128, step: i128) -> FunctionRows {
        let arguments = [start, stop, step].map(Value::Int);
        FunctionRows::series(&arguments, LogicalType::BigInt).unwrap()
    }

    #[test]
    fn morsels_go_on_where_others_end() {
        let found = rows(vec![series(10, 10 + 3 * 150_000, 3)]);
        assert_eq!(found.len(), 150_001);
        for (i, row) in (0i64..).zip(&found) {
            assert_eq!(row[..], [Some(10 + 3 * i), Some(i + 1)]);
        }
        assert!(rows(vec![series(2, 1, 1)]).is_empty());
    }

    #[test]
    fn what_is_shorter_is_filled_with_nulls() {
        let once = FunctionRows::Once(ColumnVector::from_values(LogicalType::BigInt, &[Value::Int(7)]));
        let found = rows(vec![series(1, 70_000, 1), series(5, 3, -1), once]);
        assert_eq!(found.len(), 70_000);
        assert_eq!(found[0], [Some(1), Some(5), Some(7), Some(1)]);
        assert_eq!(found[2], [Some(3), Some(3), None, Some(3)]);
        assert_eq!(found[69_999], [Some(70_000), None, None, Some(70_000)]);
    }

    #[test]
    fn a_trillion_rows_are_only_counted() {
        let source = ExpansionRows::new(vec![series(1, 1_000_000_000_000, 1)], false);
        let mut cursor = source.cursor();
        cursor.open(&source, source.morsels() - 1);
        assert_eq!(cursor.next().unwrap(), Some(STAGE_ROWS));
        // SAFETY: a column of bigints with a row.
        let first = unsafe { cursor.columns()[0].value::<i64>(0) };
        assert_eq!(first, 1 + (source.morsels() as i64 - 1) * MORSEL_ROWS as i64);
    }
}
