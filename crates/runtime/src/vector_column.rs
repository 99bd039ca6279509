//! Reading the columns of a vector from Rust, and lending those of a batch.

use crate::abi::VectorColumn;
use frazil_types::ColumnVector;

/// A byte that says "NULL", for columns that are NULL throughout.
pub static NEVER_VALID: u8 = 0;

/// What a column that is NULL throughout points at.
#[repr(align(64))]
struct Zeros([u8; 64]);
static ZEROS: Zeros = Zeros([0; 64]);

impl VectorColumn {
    /// NULL in all rows.
    pub fn null() -> VectorColumn {
        VectorColumn {
            validity: &raw const NEVER_VALID,
            ..VectorColumn::constant(ZEROS.0.as_ptr())
        }
    }

    /// Whether no row is NULL for certain.
    pub fn all_valid(&self) -> bool {
        // SAFETY: `validity` points at one byte at least.
        self.validity_mask == 0 && unsafe { *self.validity } != 0
    }

    /// Whether a row's value is not NULL.
    ///
    /// # Safety
    /// The column must be alive and have more than `row` rows.
    #[inline]
    pub unsafe fn is_valid(&self, row: usize) -> bool {
        // SAFETY: by contract.
        unsafe { *self.validity.add(row & self.validity_mask as usize) != 0 }
    }

    /// A row's value.
    ///
    /// # Safety
    /// The column must be alive, hold values of type `T`, and have more than `row` rows.
    #[inline]
    pub unsafe fn value<T: Copy>(&self, row: usize) -> T {
        let index = row & self.value_mask as usize;
        // SAFETY: by contract.
        unsafe { self.values.cast::<T>().add(index).read_unaligned() }
    }
}

/// Lends the columns of a batch, with room for the validity bytes that [`ColumnVector`] keeps as bits.
#[derive(Debug, Default)]
pub struct LentColumns {
    columns: Vec<VectorColumn>,
    validity: Vec<Vec<u8>>,
}

impl LentColumns {
    /// Points at the rows `from..` of each column in turn; they must outlive the use of [`LentColumns::columns`].
    pub fn lend<'a>(&mut self, columns: impl Iterator<Item = &'a ColumnVector>, from: usize) {
        self.columns.clear();
        self.validity.clear();
        for column in columns {
            let values = column.as_ptr().wrapping_add(from * column.native().size());
            let mut lent = VectorColumn::flat(values);
            if let Some(nulls) = column.nulls() {
                let bytes: Vec<u8> = (from..column.len()).map(|r| u8::from(!nulls.get(r))).collect();
                self.validity.push(bytes);
                let last = self.validity.len() - 1;
                if !self.validity[last].is_empty() {
                    lent = lent.with_validity(self.validity[last].as_ptr());
                }
            }
            self.columns.push(lent);
        }
    }

    /// The columns lent last.
    pub fn columns(&self) -> &[VectorColumn] {
        &self.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{LogicalType, Value};

    #[test]
    fn lends_values_and_validity() {
        let column =
            ColumnVector::from_values(LogicalType::Integer, &[Value::Int(7), Value::Null, Value::Int(9)]);
        let mut lent = LentColumns::default();
        lent.lend([&column].into_iter(), 1);
        let c = lent.columns()[0];
        // SAFETY: `column` and `lent` are alive; two rows are lent.
        unsafe {
            assert!(!c.is_valid(0) && c.is_valid(1));
            assert_eq!(c.value::<i32>(1), 9);
            assert!(!VectorColumn::null().is_valid(5));
        }
        assert!(!c.all_valid() && VectorColumn::constant(c.values).all_valid());
    }
}
