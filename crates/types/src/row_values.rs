//! A single row in one piece of memory: the result of a statement that finds its row by a key.

use crate::{ColumnVector, LogicalType, NativeType, RowBatch, Value};

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// The values of one row. What types they have, their reader has to know.
#[derive(Clone, Debug)]
pub struct RowValues {
    /// Two words for each column, a bit for each column that is set if it is NULL, and the bytes of the texts. The words of a text
    /// are its place among these bytes and its length.
    words: Vec<u64>,
    columns: usize,
    /// Bytes of texts that are there.
    filled: usize,
}

impl RowValues {
    /// A row of so many columns, all 0 and not NULL, with room for texts of `text_bytes` together.
    pub fn new(columns: usize, text_bytes: usize) -> RowValues {
        let words = 2 * columns + columns.div_ceil(BITS) + text_bytes.div_ceil(size_of::<u64>());
        RowValues {
            words: vec![0; words],
            columns,
            filled: 0,
        }
    }

    /// Makes a column NULL.
    #[inline]
    pub fn set_null(&mut self, column: usize) {
        self.words[2 * self.columns + column / BITS] |= 1 << (column % BITS);
    }

    /// Gives a column its value: an integer, or what stands for a value that is not a text.
    #[inline]
    pub fn set(&mut self, column: usize, value: i128) {
        let words = &mut self.words[2 * column..][..2];
        words[0] = value as u64;
        words[1] = (value >> BITS) as u64;
    }

    /// Gives a column its string. Panics where there is no room for it.
    ///
    /// # Safety
    /// Unless the column's type [is binary](LogicalType::is_binary), the bytes are UTF-8.
    #[inline]
    pub unsafe fn set_string(&mut self, column: usize, bytes: &[u8]) {
        let start = self.filled;
        self.filled += bytes.len();
        let end = self.filled;
        self.texts_mut()[start..end].copy_from_slice(bytes);
        let words = &mut self.words[2 * column..][..2];
        words[0] = start as u64;
        words[1] = bytes.len() as u64;
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The value of a column, which is of type `ty`.
    #[inline]
    pub fn value(&self, column: usize, ty: LogicalType) -> Value {
        if self.words[2 * self.columns + column / BITS] >> (column % BITS) & 1 == 1 {
            return Value::Null;
        }
        let words @ [low, high] = [self.words[2 * column], self.words[2 * column + 1]];
        match ty.native() {
            NativeType::String => {
                let text = &self.texts()[low as usize..][..high as usize];
                // SAFETY: only `set_string` writes there, and it wrote a whole string of the column's type to this place.
                unsafe { Value::of_string(text, ty) }
            }
            _ => Value::from_words(words, ty),
        }
    }

    /// The same row as columns of these types.
    pub fn to_batch(&self, types: impl Iterator<Item = LogicalType>) -> RowBatch {
        let column = |(i, ty)| ColumnVector::from_values(ty, &[self.value(i, ty)]);
        RowBatch {
            columns: types.enumerate().map(column).collect(),
            rows: 1,
        }
    }

    /// Words in front of the texts.
    fn head(&self) -> usize {
        2 * self.columns + self.columns.div_ceil(BITS)
    }

    fn texts(&self) -> &[u8] {
        let words = &self.words[self.head()..];
        // SAFETY: the bytes of these words, all of which are initialised.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
    }

    fn texts_mut(&mut self) -> &mut [u8] {
        let head = self.head();
        let words = &mut self.words[head..];
        // SAFETY: the bytes of these words, all of which are initialised, and any bytes are words.
        unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interval;

    const MONEY: LogicalType = LogicalType::Decimal {
        precision: 38,
        scale: 2,
    };

    #[test]
    fn values_come_back_by_their_types() {
        let interval = Interval {
            months: -1,
            days: 2,
            micros: -3,
        };
        let row = [
            (LogicalType::Boolean, Value::Bool(true)),
            (LogicalType::SmallInt, Value::Int(-5)),
            (LogicalType::Integer, Value::Null),
            (LogicalType::BigInt, Value::Int(i64::MIN.into())),
            (MONEY, Value::Int(-(10i128.pow(38) - 1))),
            (LogicalType::Double, Value::Double(-0.0)),
            (LogicalType::Text, Value::Text(String::new())),
            (LogicalType::Text, Value::Text("ein längerer Text".to_owned())),
            (LogicalType::Text, Value::Null),
            (LogicalType::Interval, Value::Interval(interval)),
            (LogicalType::Varchar(3), Value::Text("abc".to_owned())),
            (LogicalType::Bytea, Value::Bytes(vec![0, 255, 128])),
        ];
        let strings = row.iter().filter_map(|(_, value)| value.as_bytes());
        let mut values = RowValues::new(row.len(), strings.map(<[u8]>::len).sum());
        for (i, (_, value)) in row.iter().enumerate() {
            match value {
                Value::Null => values.set_null(i),
                Value::Bool(b) => values.set(i, (*b).into()),
                Value::Int(v) => values.set(i, *v),
                Value::Double(d) => values.set(i, d.to_bits().into()),
                Value::Interval(v) => values.set(i, v.to_native()),
                // SAFETY: bytes are those of a text, or in a column of bytes.
                Value::Text(_) | Value::Bytes(_) => unsafe {
                    values.set_string(i, value.as_bytes().unwrap());
                },
            }
        }
        let same = values.clone();
        drop(values);
        let batch = same.to_batch(row.iter().map(|(ty, _)| *ty));
        for (i, (ty, value)) in row.iter().enumerate() {
            assert_eq!(same.value(i, *ty), *value);
            assert_eq!(batch.columns[i].value(0), *value);
            assert_eq!(batch.columns[i].ty(), *ty);
        }
    }

    #[test]
    fn a_row_may_have_many_columns_or_none() {
        assert_eq!(RowValues::new(0, 0).to_batch(std::iter::empty()).columns.len(), 0);
        let mut values = RowValues::new(1600, 0);
        (0..1600).step_by(3).for_each(|i| values.set_null(i));
        for i in 0..1600 {
            assert_eq!(values.value(i, LogicalType::Integer).is_null(), i % 3 == 0);
        }
    }
}
