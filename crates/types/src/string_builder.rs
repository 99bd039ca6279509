//! Builds a column of strings that owns their bytes, without unsafe code on the caller's side.

use crate::{
    ColumnVector, Error, LogicalType, MemoryBudget, Reservation, Result, SqlState, StringRef,
    string_ref::INLINE_BYTES,
};
use std::sync::Arc;

/// Bytes of the first heap of a budgeted column; each further heap is twice as large, up to [`HEAP_BYTES`].
const FIRST_HEAP_BYTES: usize = 1 << 12;
/// Bytes of a heap, unless one string needs more.
const HEAP_BYTES: usize = 1 << 18;

/// Longest text value, in bytes. PostgreSQL has the same limit.
pub const MAX_TEXT_BYTES: usize = 1 << 30;

/// `Ok` for a text of at most [`MAX_TEXT_BYTES`] bytes, else error 54000.
pub fn check_text_bytes(bytes: usize) -> Result<()> {
    if bytes <= MAX_TEXT_BYTES {
        return Ok(());
    }
    let message = format!("a string of {bytes} bytes is longer than the limit of {MAX_TEXT_BYTES}");
    Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
}

/// Collects strings one by one; [`StringVectorBuilder::finish`] makes them a [`ColumnVector`].
#[derive(Debug)]
pub struct StringVectorBuilder {
    ty: LogicalType,
    refs: Vec<StringRef>,
    nulls: Vec<usize>,
    // A heap is filled up to its capacity and never grows, so that its bytes never move.
    filling: Vec<u8>,
    full: Vec<Vec<u8>>,
    // Covers the heaps of a budgeted column; the finished column holds it.
    reservation: Option<Reservation>,
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
            reservation: None,
        }
    }

    /// As [`StringVectorBuilder::new`]; what [`StringVectorBuilder::try_push`] keeps is taken from `budget`
    /// until the finished column is dropped.
    pub fn budgeted(ty: LogicalType, capacity: usize, budget: &MemoryBudget) -> StringVectorBuilder {
        StringVectorBuilder {
            reservation: Some(budget.reservation()),
            ..StringVectorBuilder::new(ty, capacity)
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
            self.begin_heap(Vec::with_capacity(HEAP_BYTES.max(bytes.len())));
        }
        let start = self.filling.len();
        self.filling.extend_from_slice(bytes);
        self.push_from(start);
    }

    /// Appends a string. Errors: 54000 for more than [`MAX_TEXT_BYTES`] bytes, 53200 over the budget.
    pub fn try_push(&mut self, text: &str) -> Result<()> {
        self.try_push_pieces(text.len(), std::iter::once(text))
    }

    /// Appends the concatenation of `pieces`, without making it elsewhere first; `bytes` is the length of all
    /// pieces together. Errors: as [`StringVectorBuilder::try_push`], and XX000 for another length.
    pub fn try_push_pieces<'t>(&mut self, bytes: usize, pieces: impl Iterator<Item = &'t str>) -> Result<()> {
        self.append(bytes, pieces.map(str::as_bytes))
    }

    /// Appends bytes. Errors: as [`StringVectorBuilder::try_push`]. Panics unless the column is one of bytes.
    pub fn try_push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        assert!(self.ty.is_binary());
        if bytes.len() <= INLINE_BYTES {
            self.refs.push(StringRef::inline(bytes));
            return Ok(());
        }
        self.append(bytes.len(), std::iter::once(bytes))
    }

    fn append<'t>(&mut self, bytes: usize, pieces: impl Iterator<Item = &'t [u8]>) -> Result<()> {
        check_text_bytes(bytes)?;
        if self.filling.capacity() - self.filling.len() < bytes {
            self.grow(bytes)?;
        }
        let start = self.filling.len();
        for piece in pieces {
            if self.filling.len() - start + piece.len() > bytes {
                break;
            }
            self.filling.extend_from_slice(piece);
        }
        if self.filling.len() - start != bytes {
            self.filling.truncate(start);
            return Err(Error::internal(format!(
                "a string of {bytes} bytes was made of pieces of another length"
            )));
        }
        if bytes <= INLINE_BYTES {
            self.refs.push(StringRef::inline(&self.filling[start..]));
            self.filling.truncate(start);
        } else {
            self.push_from(start);
        }
        Ok(())
    }

    /// Appends NULL.
    pub fn push_null(&mut self) {
        self.nulls.push(self.refs.len());
        self.refs.push(StringRef::default());
    }

    /// Takes the last rows away, so that `rows` are left. Their bytes are free again, if the heap that is being filled has them.
    pub fn truncate(&mut self, rows: usize) {
        for last in self.refs.drain(rows.min(self.refs.len())..).rev() {
            let start = self.filling.len().saturating_sub(last.len());
            if !last.is_inline() && self.filling[start..].as_ptr() as u64 == last.tail {
                self.filling.truncate(start);
            }
        }
        while self.nulls.last().is_some_and(|&row| row >= rows) {
            self.nulls.pop();
        }
    }

    /// The string that the filling heap holds from `start` on.
    fn push_from(&mut self, start: usize) {
        // SAFETY: the heap had room, so its bytes do not move; `finish` hands it to the column that
        // holds the reference.
        self.refs.push(unsafe { StringRef::new(&self.filling[start..]) });
    }

    /// A heap with room for `bytes` bytes. 53200 over the budget, or if the system has none left.
    #[cold]
    fn grow(&mut self, bytes: usize) -> Result<()> {
        let next = (self.filling.capacity() * 2).clamp(FIRST_HEAP_BYTES, HEAP_BYTES);
        let size = next.max(bytes);
        if let Some(reservation) = &mut self.reservation {
            reservation.grow(size)?;
        }
        let mut heap = Vec::new();
        heap.try_reserve_exact(size).map_err(|_| {
            let message = format!("out of memory: the system refused {size} bytes");
            Error::new(SqlState::OUT_OF_MEMORY, message)
        })?;
        self.begin_heap(heap);
        Ok(())
    }

    fn begin_heap(&mut self, heap: Vec<u8>) {
        let filled = std::mem::replace(&mut self.filling, heap);
        if !filled.is_empty() {
            self.full.push(filled);
        }
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
            out.keep(Arc::new((self.full, self.reservation)));
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

    #[test]
    fn rows_that_are_taken_away_leave_no_trace() {
        let budget = MemoryBudget::new(1 << 20);
        let mut builder = StringVectorBuilder::budgeted(LogicalType::Text, 0, &budget);
        builder.try_push("a text that is not inline").unwrap();
        for round in 0..100_000 {
            builder.try_push("another text that is not inline").unwrap();
            if round % 2 == 0 {
                builder.push_null();
            }
            builder.truncate(1);
        }
        builder.try_push("short").unwrap();
        builder.truncate(1);
        builder.try_push("the second text, not inline").unwrap();
        let column = builder.finish();
        assert_eq!(column.len(), 2);
        assert_eq!(column.text(0), "a text that is not inline");
        assert_eq!(column.text(1), "the second text, not inline");
    }

    #[test]
    fn a_budgeted_column_holds_its_bytes_until_it_is_dropped() {
        let budget = MemoryBudget::new(1 << 20);
        let mut builder = StringVectorBuilder::budgeted(LogicalType::Text, 0, &budget);
        for n in 0..100 {
            let pieces = ["é", "-"].into_iter().cycle().take(2 * n);
            builder.try_push_pieces(3 * n, pieces).unwrap();
        }
        let column = builder.finish();
        assert!((0..100).all(|n| column.text(n) == "é-".repeat(n)));
        assert!(budget.used() >= 100 * 99 / 2 * 3);
        drop(column);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn what_is_too_long_is_refused() {
        let budget = MemoryBudget::new(1 << 20);
        let mut builder = StringVectorBuilder::budgeted(LogicalType::Text, 0, &budget);
        let long = "x".repeat(1 << 20);
        builder.try_push("short").unwrap();
        let refused = builder.try_push(&long).and_then(|()| builder.try_push(&long));
        assert_eq!(refused.unwrap_err().state(), SqlState::OUT_OF_MEMORY);
        let endless = builder.try_push_pieces(MAX_TEXT_BYTES + 1, std::iter::empty());
        assert_eq!(endless.unwrap_err().state(), SqlState::PROGRAM_LIMIT_EXCEEDED);
        let other = builder.try_push_pieces(20, ["ab"].into_iter());
        assert_eq!(other.unwrap_err().state(), SqlState::INTERNAL_ERROR);
        assert_eq!(builder.len(), 1);
        drop(builder);
        assert_eq!(budget.used(), 0);
    }
}
