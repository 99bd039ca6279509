//! Distrust of ourselves: a block that was just built is compared with the rows it was built of, before it takes
//! their place. A defect of an encoder then costs an error, and no data.
//!
//! Two things are checked of every column. What a reader of the file would check ([`crate::verify`]: a block that it
//! would refuse is lost). And that every value comes back, and lies within the SMA. So a code is right for scans as
//! well: an encoding whose codes are within its bounds and decode to the values has them in the values' order.

use crate::block::Block;
use crate::column_buffer::ColumnBuffer;
use crate::encodings::numbers::Integer;
use crate::format::FLAG_SMA;
use crate::input::{ColumnInput, Nulls, Values};
use crate::sma::ordinal_of_f64;
use frazil_kernels::{Isa, Selection};
use frazil_types::{Error, Native, Result, StringRef};
use std::ops::Range;

/// Rows that are decoded together: values and what they are compared with stay in the first-level cache.
const ROWS: usize = 2048;

impl Block {
    /// Checks that this block, which [`crate::BlockBuilder`] has just built, holds these columns. XX000 naming the column
    /// and what differs if it does not: a defect of Frazil.
    pub fn check_holds(&self, columns: &[ColumnInput], buffer: &mut ColumnBuffer) -> Result<()> {
        if columns.len() != self.columns() {
            return Err(Error::internal(
                "a block has not the columns that it was built of",
            ));
        }
        for (i, input) in columns.iter().enumerate() {
            self.check_column_holds(i, input, buffer)
                .map_err(|e| input.blame(i, e))?;
        }
        Ok(())
    }

    fn check_column_holds(
        &self,
        column: usize,
        input: &ColumnInput,
        buffer: &mut ColumnBuffer,
    ) -> Result<()> {
        let entry = self.entry(column);
        if self.rows() as usize != input.rows || entry.native != input.ty.native() {
            return Err(defect("rows or type are not those it was built of"));
        }
        self.verify_data(column).map_err(|e| defect(e.message()))?;
        for start in (0..input.rows).step_by(ROWS) {
            let rows = start..input.rows.min(start + ROWS);
            let selection = Selection::all(rows.start as u32..rows.end as u32);
            self.unpack(Isa::detect(), column, selection, buffer)?;
            buffer.flatten();
            self.compare(column, input, rows, buffer)?;
        }
        Ok(())
    }

    /// Compares decoded rows with the input's.
    fn compare(
        &self,
        column: usize,
        input: &ColumnInput,
        rows: Range<usize>,
        decoded: &ColumnBuffer,
    ) -> Result<()> {
        let valid = Validity::new(input, rows.clone());
        if valid.differs(decoded.validity()) {
            return Err(defect("a NULL became a value, or a value NULL"));
        }
        let entry = self.entry(column);
        let bounds = entry.has(FLAG_SMA).then_some((entry.min, entry.max));
        let differs = match input.values {
            Values::Bool(v) => integers_differ(&v[rows], decoded.values(), bounds, &valid),
            Values::I16(v) => integers_differ(&v[rows], decoded.values(), bounds, &valid),
            Values::I32(v) => integers_differ(&v[rows], decoded.values(), bounds, &valid),
            Values::I64(v) => integers_differ(&v[rows], decoded.values(), bounds, &valid),
            Values::I128(v) => integers_differ(&v[rows], decoded.values(), bounds, &valid),
            Values::F64(v) => {
                let of = |bits: i128| ordinal_of_f64(f64::from_bits(bits as u64));
                let bounds = bounds.map(|(min, max)| of(min)..=of(max));
                // All NaNs are one value.
                valid.any(&v[rows], decoded.values(), |a: f64, b| {
                    let ordinal = ordinal_of_f64(a);
                    ordinal != ordinal_of_f64(b) || !bounds.as_ref().is_some_and(|b| b.contains(&ordinal))
                })
            }
            Values::String(v) => {
                let bounds = self.string_bounds(column);
                valid.any(&v[rows], decoded.values(), |a: StringRef, b: StringRef| {
                    // SAFETY: the maker of the input vouches for its strings; those of the buffer lie in it or
                    // in this block. A NULL has none, and is not asked for.
                    let (a, b) = unsafe { (a.bytes(), b.bytes()) };
                    a != b || !bounds.is_some_and(|(min, max)| min <= a && a <= max)
                })
            }
        };
        match differs {
            true => Err(defect("a value came back as another, or lies outside the SMA")),
            false => Ok(()),
        }
    }
}

/// An error of the block's builder.
fn defect(what: &str) -> Error {
    Error::internal(format!("the block that was built from it is not valid: {what}"))
}

/// Validity bytes of some rows of an input, 0 for NULL; `None` if its maker says that none is NULL.
struct Validity(Option<Vec<u8>>);

impl Validity {
    fn new(input: &ColumnInput, rows: Range<usize>) -> Validity {
        Validity(match input.nulls {
            Nulls::None => None,
            Nulls::Bits(bits, first) => Some(rows.map(|row| u8::from(!bits.get(first + row))).collect()),
            Nulls::ValidityBytes(bytes) => Some(bytes[rows].iter().map(|&b| u8::from(b != 0)).collect()),
        })
    }

    /// Whether decoded validity bytes say otherwise; `None` means that all rows are valid.
    fn differs(&self, decoded: Option<&[u8]>) -> bool {
        match (self.0.as_deref(), decoded) {
            (None, None) => false,
            (Some(valid), Some(decoded)) => valid != decoded,
            (Some(valid), None) | (None, Some(valid)) => valid.contains(&0),
        }
    }

    /// Whether `differs` holds of the given and the decoded value of a row that is valid. It goes on behind the first, so
    /// that integers are compared by vectors.
    fn any<T: Native>(&self, given: &[T], decoded: &[T], differs: impl Fn(T, T) -> bool) -> bool {
        let pairs = given.iter().zip(decoded);
        match &self.0 {
            None => pairs.fold(false, |any, (&a, &b)| any | differs(a, b)),
            Some(valid) => (pairs.zip(valid)).fold(false, |any, ((&a, &b), &valid)| {
                any | (valid != 0 && differs(a, b))
            }),
        }
    }
}

/// Whether a valid integer came back as another or lies outside the SMA; without an SMA, whether any is valid.
fn integers_differ<T: Integer + TryFrom<i128>>(
    given: &[T],
    decoded: &[T],
    bounds: Option<(i128, i128)>,
    valid: &Validity,
) -> bool {
    let within = |v: i128| T::try_from(v).ok();
    match bounds.and_then(|(min, max)| within(min).zip(within(max))) {
        Some((min, max)) => valid.any(given, decoded, |a, b| (a != b) | (a < min) | (a > max)),
        None => valid.any(given, decoded, |_, _| true),
    }
}
