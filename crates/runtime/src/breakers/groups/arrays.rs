//! The array that is made of values which rows hold.

use crate::breakers::Workers;
use crate::breakers::run_borrowed::run_borrowed;
use crate::row_layout::FieldPlace;
use crate::string_heap::StringHeap;
use frazil_types::array::{ListRoom, ListShape};
use frazil_types::{Error, Native, NativeType, Result, StringRef, dispatch_native};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Elements of a piece, which one task writes. A multiple of 8, so that no byte of the bits of NULLs is two tasks'.
const PIECE: usize = 1 << 16;

/// Rows that lie one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first one.
    pub first: *const u8,
    /// How many they are.
    pub rows: usize,
}

/// The values of a field in rows, of which an array is made.
pub(super) struct Values<'a> {
    /// Where they lie in each row.
    pub place: &'a FieldPlace,
    /// Bytes of a row.
    pub size: usize,
    /// How the array holds them.
    pub element: NativeType,
    /// Number of rows, at least one.
    pub rows: usize,
}

/// What has to be known of values before the array has room.
#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    /// Bytes of strings.
    bytes: usize,
    /// Whether a value is NULL.
    has_nulls: bool,
}

/// Elements that follow each other in an array that is written.
struct Piece<'a> {
    /// A bit an element; empty where none is NULL.
    nulls: &'a mut [u8],
    /// Of strings, the ends of elements.
    ends: &'a mut [[u8; 4]],
    data: &'a mut [u8],
    /// Bytes of the elements before.
    before: usize,
}

impl Values<'_> {
    /// The array of the values of all rows; `runs` gives the rows of a range, in their order. Errors: 53200, 54000 for an array that
    /// is too large, 57014.
    ///
    /// # Safety
    /// As many live rows as there are said to be, of the layout that the place is of; strings are alive. The heap outlives the array.
    pub(super) unsafe fn array<I: Iterator<Item = Run>>(
        &self,
        runs: impl Fn(Range<usize>) -> I + Send + Sync,
        heap: &mut StringHeap,
        workers: &dyn Workers,
    ) -> Result<StringRef> {
        let pieces = self.rows.div_ceil(PIECE);
        if pieces > 1 {
            // SAFETY: by contract.
            return unsafe { self.in_pieces(pieces, runs, heap, workers) };
        }
        // SAFETY: by contract.
        let measure = unsafe { self.measure(runs(0..self.rows)) };
        let shape = self.shape(measure)?;
        let room = heap.allocate(shape.bytes)?;
        let ListRoom { nulls, ends, data } = shape.begin(room);
        let mut piece = Piece {
            nulls,
            ends,
            data,
            before: 0,
        };
        // SAFETY: by contract.
        unsafe {
            self.write(&mut piece, runs(0..self.rows))?;
            Ok(StringRef::new(room))
        }
    }

    /// The same for many rows: all workers measure and write pieces.
    ///
    /// # Safety
    /// As [`Values::array`].
    unsafe fn in_pieces<I: Iterator<Item = Run>>(
        &self,
        pieces: usize,
        runs: impl Fn(Range<usize>) -> I + Send + Sync,
        heap: &mut StringHeap,
        workers: &dyn Workers,
    ) -> Result<StringRef> {
        let range = |piece: usize| piece * PIECE..self.rows.min((piece + 1) * PIECE);
        let measures: Vec<Mutex<Measure>> = (0..pieces).map(|_| Mutex::default()).collect();
        if self.element == NativeType::String || self.place.validity.is_some() {
            run_borrowed(workers, pieces, &|piece| {
                // SAFETY: by contract.
                *lock(&measures[piece]) = unsafe { self.measure(runs(range(piece))) };
                Ok(())
            })?;
        }
        let all = measures.iter().fold(Measure::default(), |all, measure| {
            let measure = lock(measure);
            Measure {
                bytes: all.bytes.saturating_add(measure.bytes),
                has_nulls: all.has_nulls | measure.has_nulls,
            }
        });
        let shape = self.shape(all)?;
        let room = heap.allocate(shape.bytes)?;
        let mut left = shape.begin(room);
        let mut to: Vec<Mutex<Piece<'_>>> = Vec::with_capacity(pieces);
        let mut before = 0;
        for (piece, measure) in measures.iter().enumerate() {
            let bytes = lock(measure).bytes;
            let piece = self.piece(&mut left, range(piece).len(), bytes, before);
            to.push(Mutex::new(
                piece.ok_or_else(|| Error::internal("an array has too little room"))?,
            ));
            before += bytes;
        }
        run_borrowed(workers, pieces, &|piece| {
            // SAFETY: by contract; each piece is one task's.
            unsafe { self.write(&mut lock(&to[piece]), runs(range(piece))) }
        })?;
        drop(to);
        // SAFETY: by contract the heap outlives the array.
        Ok(unsafe { StringRef::new(room) })
    }

    fn shape(&self, measure: Measure) -> Result<ListShape> {
        match self.element {
            NativeType::String => ListShape::of_strings(self.rows, measure.bytes),
            number => ListShape::of_numbers(self.rows, number, measure.has_nulls),
        }
    }

    /// Takes the room of so many elements from what is left; `None` if that is less.
    fn piece<'r>(
        &self,
        left: &mut ListRoom<'r>,
        rows: usize,
        bytes: usize,
        before: usize,
    ) -> Option<Piece<'r>> {
        let (ends, data) = match self.element {
            NativeType::String => (rows, bytes),
            number => (0, rows * number.size()),
        };
        let nulls = if left.nulls.is_empty() {
            0
        } else {
            rows.div_ceil(8)
        };
        Some(Piece {
            nulls: left.nulls.split_off_mut(..nulls)?,
            ends: left.ends.split_off_mut(..ends)?,
            data: left.data.split_off_mut(..data)?,
            before,
        })
    }

    /// # Safety
    /// Live rows of the layout that the place is of; strings are alive.
    unsafe fn measure(&self, runs: impl Iterator<Item = Run>) -> Measure {
        let mut measure = Measure::default();
        let is_string = self.element == NativeType::String;
        if !is_string && self.place.validity.is_none() {
            return measure;
        }
        for run in runs {
            for row in run.rows(self.size) {
                // SAFETY: by contract.
                unsafe {
                    if !self.place.is_valid(row) {
                        measure.has_nulls = true;
                    } else if is_string {
                        let bytes = self.place.get::<StringRef>(row).len();
                        measure.bytes = measure.bytes.saturating_add(bytes);
                    }
                }
            }
        }
        measure
    }

    /// # Safety
    /// As [`Values::measure`], of as many rows as the piece has room for.
    unsafe fn write(&self, piece: &mut Piece<'_>, runs: impl Iterator<Item = Run>) -> Result<()> {
        // SAFETY: by contract; the pairs of types are those that hold the same values.
        unsafe {
            match (self.place.native, self.element) {
                (NativeType::String, NativeType::String) => self.strings(piece, runs),
                (from, element) if from == element => {
                    dispatch_native!(from, T => self.numbers::<T, T>(piece, runs, |v| v));
                }
                (NativeType::I16, NativeType::I32) => self.numbers::<i16, i32>(piece, runs, i32::from),
                (NativeType::I16, NativeType::I64) => self.numbers::<i16, i64>(piece, runs, i64::from),
                (NativeType::I16, NativeType::I128) => self.numbers::<i16, i128>(piece, runs, i128::from),
                (NativeType::I32, NativeType::I64) => self.numbers::<i32, i64>(piece, runs, i64::from),
                (NativeType::I32, NativeType::I128) => self.numbers::<i32, i128>(piece, runs, i128::from),
                (NativeType::I64, NativeType::I128) => self.numbers::<i64, i128>(piece, runs, i128::from),
                (from, element) => {
                    return Err(Error::internal(format!(
                        "an array of {element:?} of values held as {from:?}"
                    )));
                }
            }
        }
        Ok(())
    }

    /// # Safety
    /// As [`Values::write`], of values held as `F`, which the array holds as `T`.
    unsafe fn numbers<F: Native, T: Native>(
        &self,
        piece: &mut Piece<'_>,
        runs: impl Iterator<Item = Run>,
        convert: impl Fn(F) -> T,
    ) {
        let (mut at, has_nulls) = (0, !piece.nulls.is_empty());
        for run in runs {
            let slots = piece.data[at * size_of::<T>()..].chunks_exact_mut(size_of::<T>());
            for (i, (row, slot)) in run.rows(self.size).zip(slots).enumerate() {
                // SAFETY: by contract; the slot has the room, and a native value is plain bytes.
                unsafe {
                    if has_nulls && !self.place.is_valid(row) {
                        piece.nulls[(at + i) / 8] |= 1 << ((at + i) % 8);
                        slot.fill(0);
                        continue;
                    }
                    let value = convert(self.place.get::<F>(row));
                    slot.as_mut_ptr().cast::<T>().write_unaligned(value);
                }
            }
            at += run.rows;
        }
    }

    /// # Safety
    /// As [`Values::write`], of strings.
    unsafe fn strings(&self, piece: &mut Piece<'_>, runs: impl Iterator<Item = Run>) {
        let mut end = 0;
        let rows = runs.flat_map(|run| run.rows(self.size));
        for (at, row) in rows.enumerate() {
            // SAFETY: by contract.
            if unsafe { self.place.is_valid(row) } {
                // SAFETY: by contract.
                let string = unsafe { self.place.get::<StringRef>(row) };
                // SAFETY: by contract the string is alive.
                let bytes = unsafe { string.bytes() };
                piece.data[end..][..bytes.len()].copy_from_slice(bytes);
                end += bytes.len();
            } else {
                piece.nulls[at / 8] |= 1 << (at % 8);
            }
            piece.ends[at] = ((piece.before + end) as u32).to_le_bytes();
        }
    }
}

impl Run {
    /// The rows, each of so many bytes.
    fn rows(self, size: usize) -> impl Iterator<Item = *const u8> {
        (0..self.rows).map(move |at| self.first.wrapping_add(at * size))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
