//! The memory a cursor unpacks a column into: allocated once, used for every vector.

use frazil_types::{Native, READ_PADDING};

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u64; 8]);

/// Values and validity bytes of one column of one vector, with readable padding.
#[derive(Debug, Default)]
pub struct VectorBuffer {
    values: Vec<Line>,
    validity: Vec<u8>,
}

impl VectorBuffer {
    /// Room for `rows` values of `T`.
    pub fn values_mut<T: Native>(&mut self, rows: usize) -> &mut [T] {
        let lines = (rows * size_of::<T>() + READ_PADDING).div_ceil(size_of::<Line>());
        if self.values.len() < lines {
            self.values.resize(lines, Line::default());
        }
        // SAFETY: that many bytes are there, initialised and aligned to 64; a native type takes any bytes.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_mut_ptr().cast(), rows) }
    }

    /// Room for `rows` validity bytes.
    pub fn validity_mut(&mut self, rows: usize) -> &mut [u8] {
        if self.validity.len() < rows + READ_PADDING {
            self.validity.resize(rows + READ_PADDING, 0);
        }
        &mut self.validity[..rows]
    }

    /// The first value.
    pub fn values_ptr(&self) -> *const u8 {
        self.values.as_ptr().cast()
    }

    /// The first validity byte.
    pub fn validity_ptr(&self) -> *const u8 {
        self.validity.as_ptr()
    }
}
