//! Rows that groups keep for aggregates that need them one by one.
//!
//! A list is a ring of **chunks** of rows; a group's row points to the one that is written, behind which the oldest one comes.
//! Chunks grow from two rows to some hundred, so that small groups take little room and the rows of large ones lie together.
//! Two workers' lists of a group become one by linking their rings, whatever they hold. A **sketch** is a chunk as well, of
//! hashes instead of rows ([`super::sketch`]).
//!
//! What is made of lists when all groups are there: [`super::ordered`].

use crate::breakers::sorter::sorted_rows::SortField;
use crate::row_layout::{FieldPlace, RowLayout};
use crate::string_heap::StringHeap;
use frazil_types::{MemoryBudget, NativeType, Result};
use std::mem::offset_of;
use std::ptr::null_mut;

/// Rows of a list's first chunk.
const FIRST_ROWS: usize = 2;
/// Bytes of a chunk's rows at most, unless one row has more.
const MOST_BYTES: usize = 16 << 10;
/// Bits of an ordinal that count the rows of a morsel.
pub(super) const MORSEL_SHIFT: u32 = 40;

/// A list of every group.
#[derive(Clone, Debug)]
pub struct ListSpec {
    /// Its rows.
    pub layout: RowLayout,
    /// The order in which they are taken.
    pub keys: Vec<SortField>,
    /// Whether one row counts of those that are equal in all keys.
    pub distinct: bool,
    /// A field, the last key, that says in which order rows came.
    pub ordinal: Option<usize>,
    /// What is made of them.
    pub outputs: Vec<ListOutput>,
}

/// A state that is made of a list.
#[derive(Clone, Debug)]
pub struct ListOutput {
    /// Index of the state.
    pub state: usize,
    /// How it is made.
    pub what: MadeOfRows,
}

/// What is made of the rows of a list. Numbers are indices of its fields.
#[derive(Clone, Debug)]
pub enum MadeOfRows {
    /// The strings of a field, with another's between them.
    Concatenation {
        /// The strings, none of which is NULL.
        value: usize,
        /// What comes in front of each but the first.
        delimiter: Delimiter,
    },
    /// The values of a field as an array of one dimension, NULLs among them.
    Array {
        /// The values.
        value: usize,
        /// How the array holds them: as the field does, or as wider integers.
        element: NativeType,
    },
    /// The value where a part of the rows lies.
    Quantile {
        /// The values, none of which is NULL.
        value: usize,
        /// The part.
        fraction: Fraction,
        /// Which value it is.
        kind: Quantile,
    },
    /// The most frequent value.
    Mode {
        /// The values, none of which is NULL.
        value: usize,
    },
    /// The value of the first row.
    First {
        /// The values.
        value: usize,
    },
    /// The value of the last row.
    Last {
        /// The values.
        value: usize,
    },
    /// A state that generated code would advance, if all rows counted.
    State {
        /// Its argument; none for rows that are counted.
        argument: Option<usize>,
        /// Its second argument.
        second: Option<usize>,
    },
}

/// What comes between strings.
#[derive(Clone, Debug)]
pub enum Delimiter {
    /// The same everywhere.
    Constant(Box<[u8]>),
    /// A field of the row behind it; NULL is nothing.
    Field(usize),
}

/// A part of rows, between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fraction {
    /// The same for all groups.
    Constant(f64),
    /// A state, whose value is NULL where the result is.
    State(usize),
}

/// Which value a part of the rows gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantile {
    /// That of the row at which at least the part has come.
    Discrete,
    /// Between those of two rows, doubles.
    BetweenDoubles,
    /// Between those of two rows, intervals.
    BetweenIntervals,
}

/// The beginning of a chunk; what it holds lies behind it.
#[repr(C)]
#[derive(Debug)]
pub struct Chunk {
    /// The next chunk of the ring.
    pub(super) next: *mut Chunk,
    /// How many rows, or hashes, it holds.
    pub(super) used: u32,
    /// How many it has room for.
    pub(super) capacity: u32,
}

/// What a chunk's rows begin behind.
const HEADER: usize = size_of::<Chunk>();

impl Chunk {
    /// Where generated code finds how many rows a chunk holds: 32 bits.
    pub const USED: i32 = offset_of!(Chunk, used) as i32;
    /// Where it finds how many there is room for: 32 bits.
    pub const CAPACITY: i32 = offset_of!(Chunk, capacity) as i32;
    /// Where the first row lies.
    pub const ROWS: i32 = HEADER as i32;

    /// A ring of one empty chunk, with room for `capacity` things of `size` bytes, a multiple of 8. Error 53200.
    pub(super) fn new(heap: &mut StringHeap, capacity: usize, size: usize) -> Result<*mut Chunk> {
        // All pieces of the heap are multiples of 8 bytes, and so is where they lie.
        let chunk: *mut Chunk = heap.allocate(HEADER + capacity * size)?.as_mut_ptr().cast();
        let empty = Chunk {
            next: chunk,
            used: 0,
            capacity: capacity as u32,
        };
        // SAFETY: the piece is this chunk's alone, and has room for it.
        unsafe { chunk.write(empty) };
        Ok(chunk)
    }

    /// Where its rows begin.
    pub(super) fn start(chunk: *mut Chunk) -> *mut u8 {
        chunk.cast::<u8>().wrapping_add(HEADER)
    }

    /// Links the rings of two chunks, of which the second comes behind the first; gives the last chunk.
    ///
    /// # Safety
    /// Null, or chunks that nobody else uses.
    pub(super) unsafe fn link(first: *mut Chunk, second: *mut Chunk) -> *mut Chunk {
        if first.is_null() || second.is_null() {
            return if first.is_null() { second } else { first };
        }
        // SAFETY: by contract.
        unsafe { std::mem::swap(&mut (*first).next, &mut (*second).next) };
        second
    }

    /// The chunks of a ring, the oldest one first.
    ///
    /// # Safety
    /// Null, or a chunk of a ring that nobody writes.
    pub(super) unsafe fn ring(last: *mut Chunk) -> impl Iterator<Item = *mut Chunk> {
        // SAFETY: by contract.
        let next = move |chunk: *mut Chunk| unsafe { (*chunk).next };
        let first = if last.is_null() { last } else { next(last) };
        let mut at = first;
        std::iter::from_fn(move || {
            let chunk = (!at.is_null()).then_some(at)?;
            at = if chunk == last { null_mut() } else { next(chunk) };
            Some(chunk)
        })
    }
}

/// The chunks of a worker's groups.
#[derive(Debug)]
pub struct Lists {
    heap: StringHeap,
    /// The ordinal of the next row.
    ordinal: u64,
}

impl Lists {
    /// Where generated code finds the ordinal of the next row: a word.
    pub const ORDINAL: i32 = offset_of!(Lists, ordinal) as i32;

    /// No chunk yet.
    pub(super) fn new(budget: &MemoryBudget) -> Lists {
        Lists {
            heap: StringHeap::new(budget),
            ordinal: 0,
        }
    }

    /// Bytes taken from the budget.
    pub(super) fn bytes(&self) -> usize {
        self.heap.bytes()
    }

    /// Says which morsel rows come from.
    pub(super) fn begin_morsel(&mut self, morsel: u64) {
        self.ordinal = (morsel & u64::from(u32::MAX)) << MORSEL_SHIFT;
    }

    /// Where chunks lie.
    pub(super) fn heap(&mut self) -> &mut StringHeap {
        &mut self.heap
    }

    /// A new row of a list, to be written by the caller; `cell` points to where the group knows it. Error 53200.
    ///
    /// # Safety
    /// The cell is that of a list of this spec, in a live row.
    pub(super) unsafe fn append(&mut self, spec: &ListSpec, cell: *mut *mut Chunk) -> Result<*mut u8> {
        let size = spec.layout.size;
        // SAFETY: by contract.
        let row = unsafe {
            let mut chunk = cell.read_unaligned();
            if chunk.is_null() || (*chunk).used == (*chunk).capacity {
                chunk = Chunk::link(chunk, self.grown(chunk, size)?);
                cell.write_unaligned(chunk);
            }
            let row = Chunk::start(chunk).add((*chunk).used as usize * size);
            (*chunk).used += 1;
            row
        };
        if let Some(field) = spec.ordinal {
            let place: &FieldPlace = &spec.layout.fields[field];
            // SAFETY: a fresh row of the layout.
            unsafe { place.set::<i64>(row, self.ordinal as i64) };
            self.ordinal += 1;
        }
        Ok(row)
    }

    /// A chunk behind another one.
    ///
    /// # Safety
    /// Null, or a chunk.
    #[cold]
    unsafe fn grown(&mut self, chunk: *mut Chunk, size: usize) -> Result<*mut Chunk> {
        let rows = match chunk.is_null() {
            true => FIRST_ROWS,
            // SAFETY: by contract.
            false => unsafe { (*chunk).capacity as usize * 2 },
        };
        Chunk::new(&mut self.heap, rows.min(MOST_BYTES / size).max(FIRST_ROWS), size)
    }
}
