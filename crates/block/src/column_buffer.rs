//! Where unpacked values go: a reused, padded, 64-byte-aligned buffer of one column's values.

use crate::bytes::AlignedBytes;
use crate::layouts::codes::CodeScratch;
use frazil_types::{Native, NativeType, READ_PADDING, Value};

/// Values of one column for the current vector: dense, native, with validity bytes where some may be
/// NULL. 64 bytes behind the last value are readable.
#[derive(Debug)]
pub struct ColumnBuffer {
    native: NativeType,
    rows: usize,
    constant: bool,
    nullable: bool,
    values: AlignedBytes,
    validity: AlignedBytes,
    /// Decompressed strings; references into it are transient.
    pub(crate) heap: Vec<u8>,
    /// Codes on their way to values.
    pub(crate) codes: CodeScratch,
}

impl Default for ColumnBuffer {
    fn default() -> ColumnBuffer {
        ColumnBuffer::new()
    }
}

impl ColumnBuffer {
    /// An empty buffer.
    pub fn new() -> ColumnBuffer {
        ColumnBuffer {
            native: NativeType::Bool,
            rows: 0,
            constant: false,
            nullable: false,
            values: AlignedBytes::default(),
            validity: AlignedBytes::default(),
            heap: Vec::new(),
            codes: CodeScratch::default(),
        }
    }

    /// Number of rows it stands for.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether it stands for no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Native type of the values.
    pub fn native(&self) -> NativeType {
        self.native
    }

    /// Whether all rows have the value (and validity) at index 0, the only one that is there.
    pub fn is_constant(&self) -> bool {
        self.constant
    }

    /// Start of the values.
    pub fn values_ptr(&self) -> *const u8 {
        self.values.as_slice().as_ptr()
    }

    /// Start of the validity bytes (1 = valid), if some may be NULL.
    pub fn validity_ptr(&self) -> Option<*const u8> {
        self.nullable.then(|| self.validity.as_slice().as_ptr())
    }

    /// Number of values that are there: one for a constant.
    fn stored(&self) -> usize {
        if self.constant {
            self.rows.min(1)
        } else {
            self.rows
        }
    }

    /// The values that are there. Panics if `T` is not the native type.
    pub fn values<T: Native>(&self) -> &[T] {
        assert_eq!(T::TYPE, self.native);
        // SAFETY: the buffer is 64-byte aligned and holds at least `stored` initialised values of T
        // (`prepare` made room), and any bytes are a T.
        unsafe { std::slice::from_raw_parts(self.values_ptr().cast(), self.stored()) }
    }

    /// The validity bytes that are there.
    pub fn validity(&self) -> Option<&[u8]> {
        self.nullable.then(|| &self.validity.as_slice()[..self.stored()])
    }

    /// Makes the buffer ready for `rows` rows and returns room for the values.
    pub fn prepare<T: Native>(&mut self, rows: usize) -> &mut [T] {
        self.reset(T::TYPE, rows);
        self.values_mut()
    }

    /// Room for the values. Panics if `T` is not the native type.
    pub fn values_mut<T: Native>(&mut self) -> &mut [T] {
        assert_eq!(T::TYPE, self.native);
        let stored = self.stored();
        // SAFETY: as in `values`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_mut_slice().as_mut_ptr().cast(), stored) }
    }

    /// Makes the buffer ready for `rows` flat rows of a type, without validity.
    pub fn reset(&mut self, native: NativeType, rows: usize) -> &mut ColumnBuffer {
        self.native = native;
        self.rows = rows;
        self.constant = false;
        self.nullable = false;
        let wanted = rows * native.size() + READ_PADDING;
        let have = self.values.len();
        if have < wanted {
            self.values.extend_zeroed(wanted - have);
        }
        self
    }

    /// Makes the buffer ready for `rows` rows that share one value.
    pub fn reset_constant(&mut self, native: NativeType, rows: usize) {
        self.reset(native, 1);
        self.rows = rows;
        self.constant = true;
    }

    /// Room for the validity bytes, all of which are to be written.
    pub fn validity_mut(&mut self) -> &mut [u8] {
        self.nullable = true;
        let stored = self.stored();
        let wanted = stored + READ_PADDING;
        let have = self.validity.len();
        if have < wanted {
            self.validity.extend_zeroed(wanted - have);
        }
        &mut self.validity.as_mut_slice()[..stored]
    }

    /// Repeats the value of a constant for every row, for readers that know no constants.
    pub fn flatten(&mut self) {
        if !self.constant {
            return;
        }
        let (native, rows, nullable) = (self.native, self.rows, self.nullable);
        frazil_types::dispatch_native!(native, T => {
            let value = self.values::<T>().first().copied().unwrap_or_default();
            self.prepare::<T>(rows).fill(value);
        });
        if nullable {
            let valid = self.validity.as_slice()[0];
            self.validity_mut().fill(valid);
        }
    }

    /// The value of one row, for display and tests.
    pub fn value(&self, row: usize) -> Value {
        let at = if self.constant { 0 } else { row };
        if self.validity().is_some_and(|v| v[at] == 0) {
            return Value::Null;
        }
        match self.native {
            NativeType::Bool => Value::Bool(self.values::<u8>()[at] != 0),
            NativeType::I16 => Value::Int(self.values::<i16>()[at].into()),
            NativeType::I32 => Value::Int(self.values::<i32>()[at].into()),
            NativeType::I64 => Value::Int(self.values::<i64>()[at].into()),
            NativeType::I128 => Value::Int(self.values::<i128>()[at]),
            NativeType::F64 => Value::Double(self.values::<f64>()[at]),
            NativeType::String => {
                let string = self.values::<frazil_types::StringRef>()[at];
                // SAFETY: whoever filled the buffer keeps the strings alive for the vector.
                let bytes = unsafe { string.bytes() };
                Value::Text(String::from_utf8_lossy(bytes).into_owned())
            }
        }
    }
}
