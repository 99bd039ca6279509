//! The array that is made of values which rows hold.

use crate::breakers::Workers;
use crate::row_layout::FieldPlace;
use crate::string_heap::StringHeap;
use frazil_types::array::ListShape;
use frazil_types::{Error, Native, NativeType, Result, StringRef, dispatch_native};

/// Elements between two looks at the cancel flag, a power of two.
const POLLED: usize = 1 << 16;

/// The values of a field in rows, of which an array is made.
pub(super) struct Values<'a> {
    /// Where they lie in each row.
    pub place: &'a FieldPlace,
    /// How the array holds them.
    pub element: NativeType,
    /// Number of rows, at least one.
    pub rows: usize,
}

impl Values<'_> {
    /// The array of the values of all rows, in that order. Errors: 53200, 54000 for one that is too large, 57014.
    ///
    /// # Safety
    /// As many live rows as there are said to be, of the layout that the place is of; strings are alive. The heap outlives the array.
    pub(super) unsafe fn array(
        &self,
        rows: impl Iterator<Item = *const u8> + Clone,
        heap: &mut StringHeap,
        workers: &dyn Workers,
    ) -> Result<StringRef> {
        let place = self.place;
        // SAFETY: by contract.
        let is_valid = |row: &*const u8| unsafe { place.is_valid(*row) };
        let width = self.element.size();
        let data = match (self.element, place.validity) {
            (NativeType::String, _) => {
                let valid = rows.clone().filter(is_valid);
                // SAFETY: by contract.
                let bytes = valid.map(|row| unsafe { place.get::<StringRef>(row).len() });
                bytes.fold(0, usize::saturating_add)
            }
            (_, None) => self.rows * width,
            (_, Some(_)) => rows.clone().filter(is_valid).count() * width,
        };
        let shape = ListShape::of(self.rows, data)?;
        workers.cancel().check()?;
        let room = heap.allocate(shape.bytes)?;
        let (nulls, ends, data) = shape.begin(room);
        let mut to = Elements {
            nulls,
            ends,
            data,
            at: 0,
            end: 0,
        };
        // SAFETY: by contract; the pairs of types are those that hold the same values.
        unsafe {
            match (place.native, self.element) {
                (NativeType::String, NativeType::String) => to.strings(place, rows, workers)?,
                (from, element) if from == element => {
                    dispatch_native!(from, T => to.fixed::<T, T>(place, rows, workers, |v| v)?);
                }
                (NativeType::I16, NativeType::I32) => {
                    to.fixed::<i16, i32>(place, rows, workers, i32::from)?
                }
                (NativeType::I16, NativeType::I64) => {
                    to.fixed::<i16, i64>(place, rows, workers, i64::from)?
                }
                (NativeType::I16, NativeType::I128) => {
                    to.fixed::<i16, i128>(place, rows, workers, i128::from)?
                }
                (NativeType::I32, NativeType::I64) => {
                    to.fixed::<i32, i64>(place, rows, workers, i64::from)?
                }
                (NativeType::I32, NativeType::I128) => {
                    to.fixed::<i32, i128>(place, rows, workers, i128::from)?
                }
                (NativeType::I64, NativeType::I128) => {
                    to.fixed::<i64, i128>(place, rows, workers, i128::from)?
                }
                (from, element) => {
                    return Err(Error::internal(format!(
                        "an array of {element:?} of values held as {from:?}"
                    )));
                }
            }
        }
        // SAFETY: by contract the heap outlives the array.
        Ok(unsafe { StringRef::new(room) })
    }
}

/// An array that is being written.
struct Elements<'a> {
    nulls: &'a mut [u8],
    ends: &'a mut [[u8; 4]],
    data: &'a mut [u8],
    /// Elements before the next one.
    at: usize,
    /// Their bytes.
    end: usize,
}

impl Elements<'_> {
    /// # Safety
    /// As [`Values::array`], of values held as `F`; there is room for all elements and their bytes, each as `T`.
    unsafe fn fixed<F: Native, T: Native>(
        &mut self,
        place: &FieldPlace,
        rows: impl Iterator<Item = *const u8>,
        workers: &dyn Workers,
        convert: impl Fn(F) -> T,
    ) -> Result<()> {
        let size = size_of::<T>();
        let nullable = place.validity.is_some();
        let (mut at, mut end) = (self.at, self.end);
        let mut rows = rows;
        rows.try_for_each(|row| {
            if at % POLLED == 0 {
                workers.cancel().check()?;
            }
            // SAFETY: by contract.
            let valid = !nullable || unsafe { place.is_valid(row) };
            if valid {
                let to = &mut self.data[end..end + size];
                // SAFETY: by contract; the slice has the room, and a native value is plain bytes.
                unsafe {
                    to.as_mut_ptr()
                        .cast::<T>()
                        .write_unaligned(convert(place.get::<F>(row)))
                };
                end += size;
            } else {
                self.nulls[at / 8] |= 1 << (at % 8);
            }
            self.ends[at] = (end as u32).to_le_bytes();
            at += 1;
            Ok::<(), Error>(())
        })?;
        (self.at, self.end) = (at, end);
        Ok(())
    }

    /// # Safety
    /// As [`Elements::fixed`], of strings.
    unsafe fn strings(
        &mut self,
        place: &FieldPlace,
        rows: impl Iterator<Item = *const u8>,
        workers: &dyn Workers,
    ) -> Result<()> {
        for row in rows {
            if self.at % POLLED == 0 {
                workers.cancel().check()?;
            }
            // SAFETY: by contract.
            if unsafe { place.is_valid(row) } {
                // SAFETY: by contract.
                let string = unsafe { place.get::<StringRef>(row) };
                // SAFETY: by contract the string is alive.
                let bytes = unsafe { string.bytes() };
                self.data[self.end..][..bytes.len()].copy_from_slice(bytes);
                self.end += bytes.len();
            } else {
                self.nulls[self.at / 8] |= 1 << (self.at % 8);
            }
            self.ends[self.at] = (self.end as u32).to_le_bytes();
            self.at += 1;
        }
        Ok(())
    }
}
