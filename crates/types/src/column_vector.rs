//! Owned columns of rows: what a loader hands to storage and what a result is made of.

use crate::string_ref::INLINE_BYTES;
use crate::{LogicalType, MatchBits, Native, NativeType, StringRef, Value, dispatch_native};
use std::sync::Arc;

/// Values of one column in their native form (`ty.native()`), owned. Strings point into heaps that
/// the vector keeps alive.
///
/// The values buffer has [`READ_PADDING`](crate::READ_PADDING) readable bytes behind its end.
#[derive(Clone, Debug)]
pub struct ColumnVector {
    ty: LogicalType,
    rows: usize,
    words: Vec<u128>,
    nulls: Option<MatchBits>,
    heaps: Vec<Arc<dyn StringBytes>>,
}

/// Bytes that [`StringRef`]s point into, kept alive by whoever holds them.
pub trait StringBytes: Send + Sync + std::fmt::Debug {}
impl<T: Send + Sync + std::fmt::Debug> StringBytes for T {}

impl ColumnVector {
    /// An empty column that will hold about `capacity` rows.
    pub fn new(ty: LogicalType, capacity: usize) -> ColumnVector {
        let bytes = capacity * ty.native().size() + crate::READ_PADDING;
        ColumnVector {
            ty,
            rows: 0,
            words: Vec::with_capacity(bytes.div_ceil(16)),
            nulls: None,
            heaps: Vec::new(),
        }
    }

    /// A column of so many zeros, none of them NULL.
    pub fn zeroed(ty: LogicalType, rows: usize) -> ColumnVector {
        let native = ty.native();
        let bytes = rows * native.size() + crate::READ_PADDING;
        ColumnVector {
            ty,
            rows,
            words: vec![0; bytes.div_ceil(16)],
            nulls: None,
            heaps: Vec::new(),
        }
    }

    /// A column of these values, none of them NULL. Panics if `T` is not the native type of `ty`.
    pub fn of_slice<T: Native>(ty: LogicalType, values: &[T]) -> ColumnVector {
        assert_eq!(T::TYPE, ty.native());
        let bytes = size_of_val(values);
        let words = (bytes + crate::READ_PADDING).div_ceil(16);
        let mut out = ColumnVector::new(ty, values.len());
        out.rows = values.len();
        // SAFETY: the buffer has room for so many words; the values, which are plain bytes, and zeros behind them fill all of it, before
        // its length says so.
        unsafe {
            let start = out.words.as_mut_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), start, bytes);
            std::ptr::write_bytes(start.add(bytes), 0, words * 16 - bytes);
            out.words.set_len(words);
        }
        out
    }

    /// Type of the column.
    #[inline]
    pub fn ty(&self) -> LogicalType {
        self.ty
    }

    /// Native type of the values.
    #[inline]
    pub fn native(&self) -> NativeType {
        self.ty.native()
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether it has no rows.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Sets the number of rows; new values are zero and not NULL.
    pub fn resize(&mut self, rows: usize) {
        let bytes = rows * self.native().size() + crate::READ_PADDING;
        self.words.resize(bytes.div_ceil(16), 0);
        if let Some(old) = self.nulls.take() {
            let mut grown = MatchBits::zeros(rows);
            old.iter()
                .take_while(|&r| r < rows)
                .for_each(|r| grown.set(r, true));
            self.nulls = Some(grown);
        }
        self.rows = rows;
    }

    /// The values. Panics if `T` is not the column's native type.
    #[inline]
    pub fn values<T: Native>(&self) -> &[T] {
        assert_eq!(T::TYPE, self.native());
        // SAFETY: `words` holds at least `rows` values of T, whose alignment divides 16; every Native
        // is plain bytes, and all bytes of the buffer are initialised.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast::<T>(), self.rows) }
    }

    /// The values, to be written. Panics if `T` is not the column's native type.
    #[inline]
    pub fn values_mut<T: Native>(&mut self) -> &mut [T] {
        assert_eq!(T::TYPE, self.native());
        // SAFETY: as in `values`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast::<T>(), self.rows) }
    }

    /// The bytes of the values buffer, as many as [`ColumnVector::bytes`].
    pub fn value_bytes(&self) -> &[u8] {
        // SAFETY: the buffer holds the values, and all its bytes are initialised.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast::<u8>(), self.bytes()) }
    }

    /// Start of the values buffer.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }

    /// Start of the values buffer, to be written.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// Rows that are NULL; `None` when none is.
    #[inline]
    pub fn nulls(&self) -> Option<&MatchBits> {
        self.nulls.as_ref()
    }

    /// Marks a row NULL.
    pub fn set_null(&mut self, row: usize) {
        let rows = self.rows;
        self.nulls
            .get_or_insert_with(|| MatchBits::zeros(rows))
            .set(row, true);
    }

    /// Whether a row is NULL.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|n| n.get(row))
    }

    /// Keeps `heap` alive as long as the column: its strings may point into it.
    pub fn keep(&mut self, heap: Arc<dyn StringBytes>) {
        self.heaps.push(heap);
    }

    /// What the column keeps alive.
    #[inline]
    pub fn heaps(&self) -> &[Arc<dyn StringBytes>] {
        &self.heaps
    }

    /// The text of one row of a string column; of a NULL row it is empty. Panics if the column holds
    /// no texts.
    pub fn text(&self, row: usize) -> &str {
        self.strings().text(row)
    }

    /// The bytes of one row of a column of texts or bytes; of a NULL row there are none. Panics if the column is held otherwise.
    pub fn string(&self, row: usize) -> &[u8] {
        self.strings().bytes(row)
    }

    /// The texts or bytes of all rows, for whoever reads many: the type is looked at here, not once a row. Panics if the column is
    /// held otherwise.
    #[inline]
    pub fn strings(&self) -> Strings<'_> {
        Strings {
            strings: self.values::<StringRef>(),
            nulls: self.nulls.as_ref(),
            is_binary: self.ty.is_binary(),
        }
    }

    /// The value of one row, for display and tests.
    pub fn value(&self, row: usize) -> Value {
        if self.is_null(row) {
            return Value::Null;
        }
        match self.native() {
            NativeType::Bool => Value::Bool(self.values::<u8>()[row] != 0),
            NativeType::F64 => Value::Double(self.values::<f64>()[row]),
            // SAFETY: the strings of a column of texts are UTF-8.
            NativeType::String => unsafe { Value::of_string(self.string(row), self.ty) },
            NativeType::I16 => Value::Int(self.values::<i16>()[row].into()),
            NativeType::I32 => Value::Int(self.values::<i32>()[row].into()),
            NativeType::I64 => Value::Int(self.values::<i64>()[row].into()),
            NativeType::I128 => Value::from_wide(self.values::<i128>()[row], self.ty),
        }
    }

    /// A column of these values, e.g. of a VALUES list. Values must be of type `ty`.
    pub fn from_values(ty: LogicalType, values: &[Value]) -> ColumnVector {
        let mut out = ColumnVector::new(ty, values.len());
        out.refill(values.iter());
        out
    }

    /// Makes it a column of other values of its type. Where they are as many as before, none is NULL and no text among them is
    /// long, nothing is allocated.
    pub fn refill<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a Value> + Clone) {
        self.nulls = None;
        self.heaps.clear();
        // A column that is new has no padding yet.
        if values.len() != self.rows || self.words.is_empty() {
            self.words.clear();
            self.resize(values.len());
        }
        match self.native() {
            NativeType::Bool => self.fill(values, |v| match v {
                Value::Bool(b) => u8::from(*b),
                other => unreachable!("{other:?} in a column of booleans"),
            }),
            NativeType::F64 => self.fill(values, |v| match v {
                Value::Double(d) => *d,
                other => unreachable!("{other:?} in a column of doubles"),
            }),
            NativeType::I16 => self.fill(values, |v| integer(v) as i16),
            NativeType::I32 => self.fill(values, |v| integer(v) as i32),
            NativeType::I64 => self.fill(values, |v| integer(v) as i64),
            NativeType::I128 => self.fill(values, wide),
            NativeType::String => self.fill_texts(values),
        }
    }

    /// Overwrites all cells: NULL cells hold zeros.
    fn fill<'a, T: Native>(
        &mut self,
        values: impl Iterator<Item = &'a Value>,
        mut of: impl FnMut(&Value) -> T,
    ) {
        for (row, value) in values.enumerate() {
            self.values_mut::<T>()[row] = match value {
                Value::Null => {
                    self.set_null(row);
                    T::default()
                }
                value => of(value),
            };
        }
    }

    fn fill_texts<'a>(&mut self, values: impl Iterator<Item = &'a Value> + Clone) {
        let lengths = values.clone().filter_map(Value::as_bytes).map(<[u8]>::len);
        let mut heap = Vec::with_capacity(lengths.filter(|&len| len > INLINE_BYTES).sum());
        let is_binary = self.ty.is_binary();
        self.fill(values, |value| {
            let text = match value {
                Value::Text(text) if !is_binary => text.as_bytes(),
                Value::Bytes(bytes) if is_binary => bytes,
                other => unreachable!("{other:?} in a column of strings"),
            };
            let start = heap.len();
            let bytes = match text.len() > INLINE_BYTES {
                true => {
                    heap.extend_from_slice(text);
                    &heap[start..]
                }
                false => text,
            };
            // SAFETY: short ones lie in the reference; for the others the capacity was reserved, so the heap does not move, and
            // it is kept below.
            unsafe { StringRef::new(bytes) }
        });
        if !heap.is_empty() {
            self.keep(Arc::new(heap));
        }
    }

    /// Values of several columns of one type, each given by the position of its column among `parts` and its row there.
    pub fn gathered(ty: LogicalType, parts: &[&ColumnVector], places: &[(usize, usize)]) -> ColumnVector {
        let mut out = ColumnVector::new(ty, places.len());
        out.resize(places.len());
        dispatch_native!(ty.native(), T => {
            let to = out.values_mut::<T>();
            let from: Vec<&[T]> = parts.iter().map(|part| part.values::<T>()).collect();
            to.iter_mut().zip(places).for_each(|(value, &(part, row))| *value = from[part][row]);
        });
        for (at, &(part, row)) in places.iter().enumerate() {
            if parts[part].is_null(row) {
                out.set_null(at);
            }
        }
        parts
            .iter()
            .for_each(|part| out.heaps.extend_from_slice(&part.heaps));
        out
    }

    /// Its values at some rows, in their order.
    pub fn selected(&self, rows: &[usize]) -> ColumnVector {
        let mut out = ColumnVector::new(self.ty, rows.len());
        out.resize(rows.len());
        dispatch_native!(self.native(), T => {
            let (from, to) = (self.values::<T>(), out.values_mut::<T>());
            to.iter_mut().zip(rows).for_each(|(value, &row)| *value = from[row]);
        });
        if self.nulls.is_some() {
            let nulls = rows.iter().enumerate().filter(|(_, row)| self.is_null(**row));
            nulls.for_each(|(at, _)| out.set_null(at));
        }
        out.heaps.clone_from(&self.heaps);
        out
    }

    /// Bytes of the values buffer (heaps apart).
    pub fn bytes(&self) -> usize {
        dispatch_native!(self.native(), T => self.rows * size_of::<T>())
    }
}

/// The strings of a [`ColumnVector`].
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a> {
    strings: &'a [StringRef],
    nulls: Option<&'a MatchBits>,
    is_binary: bool,
}

impl<'a> Strings<'a> {
    /// The bytes of one row; of a NULL row there are none.
    #[inline]
    pub fn bytes(&self, row: usize) -> &'a [u8] {
        if self.nulls.is_some_and(|nulls| nulls.get(row)) {
            return &[];
        }
        // SAFETY: the column, which is borrowed, keeps the heaps alive that its strings point into.
        unsafe { self.strings[row].bytes() }
    }

    /// The text of one row; of a NULL row it is empty. Panics if the column holds no texts.
    #[inline]
    pub fn text(&self, row: usize) -> &'a str {
        assert!(!self.is_binary);
        // SAFETY: the column holds texts, which are validated where they enter the database.
        unsafe { std::str::from_utf8_unchecked(self.bytes(row)) }
    }
}

fn integer(value: &Value) -> i128 {
    match value {
        Value::Int(v) => *v,
        other => unreachable!("{other:?} in a column of integers"),
    }
}

fn wide(value: &Value) -> i128 {
    match value {
        Value::Interval(i) => i.to_native(),
        value => integer(value),
    }
}

/// Rows as columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct RowBatch {
    /// The columns.
    pub columns: Vec<ColumnVector>,
    /// Number of rows (also where there are no columns).
    pub rows: usize,
}
