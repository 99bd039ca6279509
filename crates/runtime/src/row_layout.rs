//! How a row lies in memory: fields after a header, wide ones first, then their validity bytes.
//!
//! Rows are 8-byte aligned; 16-byte values are read and written as two words, or unaligned.

use frazil_kernels::prefetch::prefetch_read;
use frazil_types::string_ref::TRANSIENT_BIT;
use frazil_types::{Native, NativeType, StringRef, dispatch_native};
use std::cmp::Ordering;

/// Bytes of the header of rows in a hash table: the next row of the chain, then the hash.
pub const HASH_HEADER: u32 = 16;
/// Bytes of the header of rows that hang in chains and hold no hash: the next row.
pub const CHAIN_HEADER: u32 = 8;
/// Offset of the pointer to the next row of the chain; null ends it.
pub const NEXT_OFFSET: i32 = 0;
/// Offset of the hash.
pub const HASH_OFFSET: i32 = 8;

/// A value kept in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowField {
    /// How it is held.
    pub native: NativeType,
    /// Whether it has a validity byte.
    pub nullable: bool,
}

/// Where a field lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// How it is held.
    pub native: NativeType,
    /// Bytes from the start of the row.
    pub offset: i32,
    /// Where its validity byte (1: not NULL) lies, if it has one.
    pub validity: Option<i32>,
}

/// Where everything in a row lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayout {
    /// The fields, in the order in which they were asked for.
    pub fields: Vec<FieldPlace>,
    /// Where the mark byte lies, if rows have one.
    pub mark: Option<i32>,
    /// Bytes from one row to the next: a multiple of 8, above 0.
    pub size: usize,
}

impl RowField {
    /// A field.
    pub fn new(native: NativeType, nullable: bool) -> RowField {
        RowField { native, nullable }
    }
}

impl RowLayout {
    /// Lays out `fields` behind a header of `header` bytes (a multiple of 8); `marked` adds a mark byte.
    pub fn new(header: u32, fields: &[RowField], marked: bool) -> RowLayout {
        RowLayout::with_last(header, fields, marked, None)
    }

    /// As [`RowLayout::new`], with a field, which is no wider than 8 bytes, behind all others and their validity bytes.
    pub fn with_last(header: u32, fields: &[RowField], marked: bool, last: Option<usize>) -> RowLayout {
        let mut places: Vec<FieldPlace> = fields
            .iter()
            .map(|f| FieldPlace {
                native: f.native,
                offset: 0,
                validity: None,
            })
            .collect();
        let mut end = header as i32;
        for size in [16, 8, 4, 2, 1] {
            let own = places.iter_mut().enumerate();
            for (_, place) in own.filter(|(i, p)| p.native.size() == size && Some(*i) != last) {
                place.offset = end;
                end += size as i32;
            }
        }
        for (place, field) in places.iter_mut().zip(fields) {
            if field.nullable {
                place.validity = Some(end);
                end += 1;
            }
        }
        let mark = marked.then_some(end);
        end += i32::from(marked);
        if let Some(place) = last.map(|last| &mut places[last]) {
            let size = place.native.size();
            place.offset = (end as usize).next_multiple_of(size) as i32;
            end = place.offset + size as i32;
        }
        RowLayout {
            fields: places,
            mark,
            size: (end as usize).next_multiple_of(8).max(8),
        }
    }

    /// A group's rows: chain header, group keys, states.
    pub fn of_groups(fields: &[RowField]) -> RowLayout {
        RowLayout::new(HASH_HEADER, fields, false)
    }

    /// A sorter's rows: no header.
    pub fn of_sort(fields: &[RowField]) -> RowLayout {
        RowLayout::new(0, fields, false)
    }
}

impl FieldPlace {
    /// Whether the field of `row` is not NULL.
    ///
    /// # Safety
    /// `row` must be a live row of the layout this place is of.
    #[inline]
    pub unsafe fn is_valid(&self, row: *const u8) -> bool {
        // SAFETY: by contract the offset lies within the row.
        self.validity
            .is_none_or(|at| unsafe { *row.offset(at as isize) } != 0)
    }

    /// Sets the validity byte, if the field has one.
    ///
    /// # Safety
    /// As [`FieldPlace::is_valid`]; nobody else reads the row.
    #[inline]
    pub unsafe fn set_valid(&self, row: *mut u8, valid: bool) {
        if let Some(at) = self.validity {
            // SAFETY: by contract.
            unsafe { *row.offset(at as isize) = u8::from(valid) };
        }
    }

    /// The field's value; zero or stale where it is NULL.
    ///
    /// # Safety
    /// As [`FieldPlace::is_valid`]; `T` must be the field's native type.
    #[inline]
    pub unsafe fn get<T: Native>(&self, row: *const u8) -> T {
        debug_assert_eq!(T::TYPE, self.native);
        // SAFETY: by contract.
        unsafe { row.offset(self.offset as isize).cast::<T>().read_unaligned() }
    }

    /// Writes the field's value.
    ///
    /// # Safety
    /// As [`FieldPlace::get`]; nobody else reads the row.
    #[inline]
    pub unsafe fn set<T: Native>(&self, row: *mut u8, value: T) {
        debug_assert_eq!(T::TYPE, self.native);
        // SAFETY: by contract.
        unsafe {
            row.offset(self.offset as isize)
                .cast::<T>()
                .write_unaligned(value)
        }
    }

    /// Order of the fields of two rows that are not NULL: doubles as PostgreSQL orders them (NaN
    /// above all else, −0 equal to 0), strings by bytes.
    ///
    /// # Safety
    /// Both rows must be live rows of the layout this place is of, and their strings alive.
    #[inline]
    pub unsafe fn compare(&self, a: *const u8, b: *const u8) -> Ordering {
        // SAFETY: by contract, with the type the field says it has.
        unsafe { dispatch_native!(self.native, T => self.get::<T>(a).order(self.get::<T>(b))) }
    }

    /// Whether the fields of two rows are equal, NULL equal to NULL.
    ///
    /// # Safety
    /// As [`FieldPlace::compare`].
    #[inline]
    pub unsafe fn equal(&self, a: *const u8, b: *const u8) -> bool {
        // SAFETY: by contract.
        unsafe {
            match (self.is_valid(a), self.is_valid(b)) {
                (true, true) => self.compare(a, b) == Ordering::Equal,
                (x, y) => x == y,
            }
        }
    }
}

/// Asks for the bytes of the long strings among some fields of rows: whoever compares them row by row would wait for
/// each. A NULL field may lead anywhere, which a prefetch takes without harm.
///
/// # Safety
/// Each row must be null, or a live row of the layout that the fields are of.
pub(crate) unsafe fn prefetch_strings(fields: &[FieldPlace], rows: &[*const u8]) {
    for field in fields.iter().filter(|field| field.native == NativeType::String) {
        for &row in rows.iter().filter(|row| !row.is_null()) {
            // SAFETY: by contract, with the type that the field has.
            let string = unsafe { field.get::<StringRef>(row) };
            if !string.is_inline() {
                let bytes = (string.tail & !TRANSIENT_BIT) as *const u8;
                prefetch_read(bytes);
                // Every other string of 31 bytes lies in two lines.
                prefetch_read(bytes.wrapping_add(string.len() - 1));
            }
        }
    }
}

/// The SQL order of native values.
pub trait SqlOrder: Copy {
    /// Order of two values.
    ///
    /// # Safety
    /// Strings must be alive.
    unsafe fn order(self, other: Self) -> Ordering;
}

macro_rules! sql_order {
    ($($type:ty),*) => {
        $(impl SqlOrder for $type {
            #[inline]
            unsafe fn order(self, other: Self) -> Ordering {
                self.cmp(&other)
            }
        })*
    };
}
sql_order!(u8, i16, i32, i64, i128);

impl SqlOrder for f64 {
    #[inline]
    unsafe fn order(self, other: f64) -> Ordering {
        self.partial_cmp(&other)
            .unwrap_or_else(|| self.is_nan().cmp(&other.is_nan()))
    }
}

impl SqlOrder for StringRef {
    #[inline]
    unsafe fn order(self, other: StringRef) -> Ordering {
        // SAFETY: by contract.
        unsafe { self.compare(other) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::NativeType::*;

    #[test]
    fn fields_do_not_overlap() {
        let fields = [Bool, I128, I16, String, I32, F64, I64, Bool].map(|n| RowField::new(n, n != I32));
        let layout = RowLayout::new(HASH_HEADER, &fields, true);
        let mut bytes = vec![0u8; layout.size];
        let mut claim = |from: i32, len: usize| {
            for b in &mut bytes[from as usize..from as usize + len] {
                *b += 1;
            }
        };
        claim(0, 16);
        claim(layout.mark.unwrap(), 1);
        for (place, field) in layout.fields.iter().zip(fields) {
            assert_eq!(place.native, field.native);
            assert_eq!(place.validity.is_some(), field.nullable);
            assert_eq!(place.offset as usize % place.native.size().min(8), 0);
            claim(place.offset, place.native.size());
            place.validity.into_iter().for_each(|v| claim(v, 1));
        }
        assert!(bytes.iter().all(|&b| b <= 1));
        assert_eq!(layout.size % 8, 0);
    }

    #[test]
    fn doubles_are_ordered_as_in_sql() {
        let order = [f64::NEG_INFINITY, -1.0, 0.0, 1.0, f64::INFINITY, f64::NAN];
        for (i, a) in order.iter().enumerate() {
            for (j, b) in order.iter().enumerate() {
                // SAFETY: no strings.
                assert_eq!(unsafe { a.order(*b) }, i.cmp(&j));
            }
        }
        // SAFETY: no strings.
        assert_eq!(unsafe { (-0.0f64).order(0.0) }, Ordering::Equal);
    }
}
