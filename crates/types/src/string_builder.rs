//! Builds a column of strings that owns their bytes, without unsafe code on the caller's side.

use crate::{ColumnVector, LogicalType, StringRef, string_ref::INLINE_BYTES};
use std::sync::Arc;

/// Bytes of a heap, unless one string needs more.
const HEAP_BYTES: usize = 1 << 18;

/// Collects strings one by one; [`StringVectorBuilder::finish`] makes them a [`ColumnVector`].
#[derive(Debug)]
pub struct StringVectorBuilder {
    ty: LogicalType,
    refs: Vec<StringRef>,
    nulls: Vec<usize>,
    // A heap is filled up to its capacity and never grows, so that its bytes never move.
    filling: Vec<u8>,
    full: Vec<Vec<u8>>,
}

impl StringVectorBuilder {
    /// An empty column of a string type that will hold about `capacity` rows.
    pub fn new(ty: LogicalType, capacity: usize) -> StringVectorBuilder {
        StringVectorBuilder {
            ty,
            refs: Vec::with_capacity(capacity),
            nulls: Vec::new(),
            filling: Vec::new(),
            full: Vec::new(),
        }
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.refs.len()
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.refs.is_empty()
    }

    /// Appends a string. Its length must fit in 31 bits.
    pub fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if bytes.len() <= INLINE_BYTES {
            self.refs.push(StringRef::inline(bytes));
            return;
        }
        if self.filling.len() + bytes.len() > self.filling.capacity() {
            let next = Vec::with_capacity(HEAP_BYTES.max(bytes.len()));
            let filled = std::mem::replace(&mut self.filling, next);
            if !filled.is_empty() {
                self.full.push(filled);
            }
        }
        let start = self.filling.len();
        self.filling.extend_from_slice(bytes);
        // SAFETY: the heap had room, so its bytes do not move; `finish` hands it to the column that
        // holds the reference.
        self.refs.push(unsafe { StringRef::new(&self.filling[start..]) });
    }

    /// Appends NULL.
    pub fn push_null(&mut self) {
        self.nulls.push(self.refs.len());
        self.refs.push(StringRef::default());
    }

    /// The column.
    pub fn finish(mut self) -> ColumnVector {
        let mut out = ColumnVector::new(self.ty, self.refs.len());
        out.resize(self.refs.len());
        out.values_mut::<StringRef>().copy_from_slice(&self.refs);
        self.nulls.iter().for_each(|&row| out.set_null(row));
        if !self.filling.is_empty() {
            self.full.push(self.filling);
        }
        if !self.full.is_empty() {
            out.keep(Arc::new(self.full));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_every_length_come_back() {
        let mut builder = StringVectorBuilder::new(LogicalType::Text, 0);
        let long = "x".repeat(HEAP_BYTES + 1);
        let mut texts: Vec<String> = (0..40).map(|n| "é".repeat(n)).collect();
        texts.push(long);
        for round in 0..5000 {
            builder.push(&texts[round % texts.len()]);
        }
        builder.push_null();
        let column = builder.finish();
        assert_eq!(column.len(), 5001);
        for round in 0..5000 {
            assert_eq!(column.text(round), texts[round % texts.len()]);
        }
        assert!(column.is_null(5000) && !column.is_null(0));
    }
}
