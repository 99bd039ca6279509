//! What generated code and Rust agree on: the context of a pipeline, the columns of a vector, status
//! codes, and the form of the entries of the function table.
//!
//! Conventions of every function that generated code calls (the table is `functions.rs`):
//!
//! - `extern "C"`; parameters and results are [`AbiType`]s only. Pointers are `I64`. Booleans are `I32`.
//! - A value of 16 bytes (i128, `StringRef`) goes by pointer, in and out: `*const i128`,
//!   `*const StringRef`, `*mut i128`, `*mut StringRef`. Results come last among the parameters.
//!   Functions that hash, compare or measure strings take them by value, as two words (head, then tail): they are
//!   called for every row, and a load of 16 bytes waits long for the two stores in front of it.
//! - A function that can fail returns a status as `I32`: [`STATUS_OK`] or [`STATUS_FAILED`]. Generated code
//!   then notes the failing expression in the [`ErrorSlot`] and leaves. A function that knows more than
//!   the expression does (the text that is no number, memory over the budget) takes the context as its
//!   first parameter and puts a whole error there with [`PipelineContext::fail`].
//! - A function that makes strings takes the context first and keeps their bytes in
//!   [`PipelineContext::scratch`], marked transient.
//! - NULL never reaches a function: generated code tests validity before.

use crate::memory::Memory;
use frazil_storage::HotLayout;
use frazil_types::string_builder::check_text_bytes;
use frazil_types::{Cancel, Error, MemoryBudget, Reservation, Result, StringRef};

/// All went well; go on.
pub const STATUS_OK: u32 = 0;
/// An expression or a runtime function failed: the error slot says which.
pub const STATUS_FAILED: u32 = 1;
/// The sink has all rows it wants (LIMIT): stop without an error.
pub const STATUS_ENOUGH: u32 = 2;
/// The cancel flag was seen.
pub const STATUS_CANCELED: u32 = 3;
/// The sink has enough rows for now: generated code that can go on in the middle of a vector leaves, to be called
/// again. No other code is told so.
pub const STATUS_PAUSED: u32 = 4;

/// One column of a vector of rows: the value of row `r` is at `values + (r & value_mask) * size`, its
/// validity byte (1: not NULL) at `validity + (r & validity_mask)`; in partitions see [`Partitions`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VectorColumn {
    /// The values in the column's native storage form.
    pub values: *const u8,
    /// All ones for a flat column, 0 for a constant.
    pub value_mask: u64,
    /// Validity bytes; never null: a column without NULLs points at [`ALL_VALID`] with mask 0.
    pub validity: *const u8,
    /// All ones for a byte a row, 0 for one byte for all rows.
    pub validity_mask: u64,
}

/// The validity byte of columns without NULLs.
pub static ALL_VALID: u8 = 1;

impl VectorColumn {
    /// A flat column without NULLs.
    #[inline]
    pub fn flat(values: *const u8) -> VectorColumn {
        VectorColumn {
            values,
            value_mask: u64::MAX,
            validity: &raw const ALL_VALID,
            validity_mask: 0,
        }
    }

    /// A column of one value for all rows.
    pub fn constant(value: *const u8) -> VectorColumn {
        VectorColumn {
            value_mask: 0,
            ..VectorColumn::flat(value)
        }
    }

    /// The same column with a validity byte a row.
    #[inline]
    pub fn with_validity(mut self, validity: *const u8) -> VectorColumn {
        self.validity = validity;
        self.validity_mask = u64::MAX;
        self
    }
}

/// Bits behind the point of [`Partitions::reciprocal`].
pub const RECIPROCAL_BITS: u32 = 40;

/// How the rows of a source vector lie in memory: `rows` at a time in columns, as in a hot chunk in memPAX(k)
/// (Runtime Fragility, section 2), or side by side, which is a single partition that does not end.
///
/// Row `i` of the vector is row `r = start + i` of the memory. It lies in partition `p = r / rows`, its cell in a
/// column at `values + p * stride + (r - p * rows) * size`, its validity byte likewise. What a column keeps
/// under a mask of 0 stands for all rows of all partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Partitions {
    /// Where the first partition begins; null for rows side by side.
    pub cells: *const u8,
    /// Rows of a partition: k; [`Partitions::ENDLESS`] for rows side by side.
    pub rows: u64,
    /// Bytes from one partition to the next.
    pub stride: u64,
    /// 2^[`RECIPROCAL_BITS`] / `rows`, rounded up: `r * reciprocal >> RECIPROCAL_BITS` is the partition of
    /// any row `r` up to 65,536.
    pub reciprocal: u64,
    /// The vector's first row.
    pub start: u64,
    /// Fingerprint of the layout ([`HotLayout::fingerprint`](frazil_storage::HotLayout::fingerprint)); 0 for rows side by side.
    pub layout: u64,
}

impl Partitions {
    /// More rows than any partition of a chunk has.
    pub const ENDLESS: u64 = 1 << 20;

    /// Rows side by side.
    pub const SIDE_BY_SIDE: Partitions = Partitions {
        cells: std::ptr::null(),
        rows: Partitions::ENDLESS,
        stride: 0,
        reciprocal: reciprocal(Partitions::ENDLESS),
        start: 0,
        layout: 0,
    };

    /// Partitions as a layout has them, the first one at `cells`; a vector from row `start` on.
    pub fn new(cells: *const u8, layout: &HotLayout, start: usize) -> Partitions {
        let rows = layout.rows_per_partition() as u64;
        Partitions {
            cells,
            rows,
            stride: layout.partition_bytes() as u64,
            reciprocal: reciprocal(rows),
            start: start as u64,
            layout: layout.fingerprint(),
        }
    }
}

/// See [`Partitions::reciprocal`].
pub const fn reciprocal(rows: u64) -> u64 {
    (1u64 << RECIPROCAL_BITS).div_ceil(rows)
}

/// A parameter, hidden parameter or scalar subquery's value.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct ParameterCell {
    /// The value in its type's native storage form, from the first byte on.
    pub value: [u8; 16],
    /// 1, or 0 for NULL.
    pub valid: u64,
    /// Keeps the next cell aligned.
    pub reserved: u64,
}

impl ParameterCell {
    /// NULL.
    pub const NULL: ParameterCell = ParameterCell {
        value: [0; 16],
        valid: 0,
        reserved: 0,
    };

    /// The value as a column of one row, which lives as long as the cell stays in its place and keeps the value.
    pub fn column(&self) -> VectorColumn {
        // The first byte of `valid` is its lowest one.
        VectorColumn::flat(self.value.as_ptr()).with_validity((&raw const self.valid).cast())
    }
}

/// Where a failure is noted.
#[derive(Debug)]
#[repr(C)]
pub struct ErrorSlot {
    /// Which expression failed: an index into the compiled plan's failures.
    pub point: u64,
    /// The whole error, where a runtime function knew it.
    pub error: Option<Box<Error>>,
}

/// The state generated code works on: one per worker and pipeline.
#[derive(Debug)]
#[repr(C)]
pub struct PipelineContext {
    /// Columns of the source vector in hand.
    pub source: *const VectorColumn,
    /// How the rows of that vector lie; side by side unless the code was made for partitions.
    pub partitions: Partitions,
    /// Parameters, hidden ones after the statement's own, scalar subqueries after those.
    pub parameters: *const ParameterCell,
    /// One pointer per object the pipeline uses.
    pub objects: *const *mut u8,
    /// The stage vectors, at offsets known to generated code.
    pub stage_memory: *mut u8,
    /// Non-zero there asks to leave.
    pub cancel: *const u32,
    /// Where functions keep the bytes of strings they make: see [`Scratch`]; emptied before each source vector.
    pub scratch: *mut Scratch,
    /// Where a failure is noted.
    pub error: ErrorSlot,
    /// Non-zero: stages hand on all rows that they have before they return.
    pub drain: u64,
    /// Rows that were handed on in stage vectors.
    pub handed_rows: u64,
    /// Rows that these vectors have room for.
    pub handed_room: u64,
}

impl PipelineContext {
    /// Notes a whole error; the status to return.
    #[cold]
    pub fn fail(&mut self, error: Error) -> u32 {
        self.error.error = Some(Box::new(error));
        STATUS_FAILED
    }
}

/// Bytes of the strings that functions make for the rows in hand: a stack of pages, taken from the statement's budget.
///
/// **Who frees them.** Code that makes strings in a loop over rows or matches notes [`Scratch::position`] before the
/// loop, a **mark**. At the end of a turn no string made since the mark is in use except by rows in the stage's
/// output vector: sinks copy what they keep, and what a stage called meanwhile made is dead when it
/// returns, because each stage hands on what it has before. So once more than [`SCRATCH_LOOP_BYTES`] lie above the mark, the
/// loop hands on its output vector and releases the stack down to the mark. Strings that stages and loops around it
/// made lie below the mark.
#[derive(Debug)]
#[repr(C)]
pub struct Scratch {
    /// Bytes between the bottom of the stack and its top, with what was left free at the ends of pages.
    pub position: u64,
    pages: Vec<ScratchPage>,
    /// A page of the usual size that waits to be used again.
    spare: Option<Memory>,
    /// Whether the spare page is taken from the budget.
    counts_spare: bool,
    reservation: Reservation,
    /// Asked for every page and by functions that take long: a single vector of long strings may take seconds.
    cancel: Cancel,
}

#[derive(Debug)]
struct ScratchPage {
    memory: Memory,
    /// Position of its first byte.
    begin: u64,
}

/// Bytes of a page of scratch strings, unless one string needs more.
const SCRATCH_PAGE: usize = 64 << 10;

/// So many bytes of strings a loop makes before it releases them: few enough to stay in the second-level cache.
pub const SCRATCH_LOOP_BYTES: u64 = 256 << 10;

impl Scratch {
    /// An empty stack; its pages are taken from `budget`, and none is once `cancel` is set.
    pub fn new(budget: &MemoryBudget, cancel: &Cancel) -> Scratch {
        Scratch {
            position: 0,
            pages: Vec::new(),
            spare: None,
            counts_spare: true,
            reservation: budget.reservation(),
            cancel: cancel.clone(),
        }
    }

    /// Has another flag stop it.
    pub fn stop_by(&mut self, cancel: &Cancel) {
        self.cancel = cancel.clone();
    }

    /// Forgets all strings; keeps one page.
    pub fn clear(&mut self) {
        if self.position > 0 {
            self.release(0);
        }
    }

    /// Forgets all strings, and gives back what was taken of the budget: nothing runs until the next string is made.
    pub fn rest(&mut self) {
        self.clear();
        if self.spare.is_some() && self.counts_spare {
            self.counts_spare = false;
            self.reservation.shrink(SCRATCH_PAGE);
        }
    }

    /// Forgets the strings above a position that [`Scratch::position`] had before.
    pub fn release(&mut self, mark: u64) {
        while self.pages.last().is_some_and(|page| page.begin >= mark)
            && let Some(page) = self.pages.pop()
        {
            if page.memory.bytes() == SCRATCH_PAGE && self.spare.is_none() {
                self.spare = Some(page.memory);
            } else {
                self.reservation.shrink(page.memory.bytes());
            }
        }
        self.position = mark;
    }

    /// Room for a string of `len` bytes that stays in place until it is released. The content is arbitrary. Errors:
    /// 54000 above the longest string, 53200 over the budget.
    pub fn allocate(&mut self, len: usize) -> Result<&mut [u8]> {
        let room = |page: &ScratchPage| page.begin + page.memory.bytes() as u64 - self.position;
        if self.pages.last().is_none_or(|page| room(page) < len as u64) {
            self.grow(len)?;
        }
        let Some(page) = self.pages.last() else {
            return Err(Error::internal("scratch without a page"));
        };
        let start = page
            .memory
            .as_ptr()
            .wrapping_add((self.position - page.begin) as usize);
        self.position += len as u64;
        // SAFETY: the page has the room, its bytes are initialised, and nobody was handed these since they
        // were released.
        Ok(unsafe { std::slice::from_raw_parts_mut(start, len) })
    }

    #[cold]
    fn grow(&mut self, len: usize) -> Result<()> {
        check_text_bytes(len)?;
        self.cancel.check()?;
        let begin = self.pages.last().map_or(0, |p| p.begin + p.memory.bytes() as u64);
        if self.spare.is_some() && !self.counts_spare {
            self.reservation.grow(SCRATCH_PAGE)?;
            self.counts_spare = true;
        }
        let memory = match self.spare.take() {
            Some(spare) if len <= SCRATCH_PAGE => spare,
            kept => {
                self.spare = kept;
                let bytes = len.max(SCRATCH_PAGE);
                self.reservation.grow(bytes)?;
                let mut memory = Memory::stale(bytes)?;
                if bytes > SCRATCH_PAGE {
                    memory.touch(|| self.cancel.check())?;
                }
                memory
            }
        };
        self.pages.push(ScratchPage { memory, begin });
        self.position = begin;
        Ok(())
    }

    /// Error 57014 once the statement is to end.
    pub fn check(&self) -> Result<()> {
        self.cancel.check()
    }

    /// Takes `bytes` of the statement's budget for as long as the reservation lives. 53200.
    pub fn reserve(&self, bytes: usize) -> Result<Reservation> {
        self.reservation.budget().reserve(bytes)
    }

    /// Keeps a string; the reference is marked transient. Errors as [`Scratch::allocate`].
    pub fn keep(&mut self, bytes: &[u8]) -> Result<StringRef> {
        if bytes.len() <= frazil_types::string_ref::INLINE_BYTES {
            return Ok(StringRef::inline(bytes));
        }
        let room = self.allocate(bytes.len())?;
        room.copy_from_slice(bytes);
        // SAFETY: pages do not move and live until the string is released, which is what the transient mark says.
        Ok(unsafe { StringRef::new(room) }.as_transient())
    }
}

/// A type of a parameter or result of a runtime function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbiType {
    /// 32 bits: status, boolean, i32.
    I32,
    /// 64 bits: pointer, i64, count.
    I64,
    /// A double.
    F64,
}

/// An entry of the function table.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeFunction {
    /// Its name, as CLIF text shows it.
    pub name: &'static str,
    /// Types of its parameters.
    pub parameters: &'static [AbiType],
    /// Type of its result.
    pub result: Option<AbiType>,
    /// Where it is.
    pub address: *const u8,
}

// SAFETY: the address is that of code, which all threads may call.
unsafe impl Send for RuntimeFunction {}
// SAFETY: see above.
unsafe impl Sync for RuntimeFunction {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_find_the_partition_of_every_row() {
        for rows in (1..=130).chain([
            448,
            511,
            512,
            513,
            1000,
            4095,
            32_769,
            65_535,
            65_536,
            Partitions::ENDLESS,
        ]) {
            let r = reciprocal(rows);
            for row in 0..=65_536 {
                assert_eq!((row * r) >> RECIPROCAL_BITS, row / rows, "row {row}, k {rows}");
            }
        }
    }

    #[test]
    fn scratch_strings_stay_until_released() {
        let budget = MemoryBudget::new(4 << 20);
        let mut scratch = Scratch::new(&budget, &Cancel::new());
        let texts: Vec<String> = (0..5000)
            .map(|i| format!("a string of some length {i}"))
            .collect();
        let keep = |scratch: &mut Scratch, part: &[String]| -> Vec<StringRef> {
            part.iter().map(|t| scratch.keep(t.as_bytes()).unwrap()).collect()
        };
        let below = keep(&mut scratch, &texts[..2500]);
        let mark = scratch.position;
        for _ in 0..100 {
            let above = keep(&mut scratch, &texts[2500..]);
            scratch.keep(&vec![b'x'; 1 << 20]).unwrap();
            for (text, string) in texts.iter().zip(below.iter().chain(&above)) {
                assert!(string.is_transient());
                // SAFETY: not released yet.
                assert_eq!(unsafe { string.text() }, text);
            }
            scratch.release(mark);
            assert_eq!(scratch.position, mark);
        }
        let refused = scratch.keep(&vec![b'x'; 5 << 20]).unwrap_err();
        assert_eq!(refused.state().0, "53200");
        assert_eq!(scratch.allocate((1 << 30) + 1).unwrap_err().state().0, "54000");
        assert!(budget.used() < 1 << 20);
        scratch.clear();
        assert_eq!(scratch.keep(b"short").unwrap().len(), 5);
        scratch.rest();
        assert_eq!(budget.used(), 0);
        assert!(scratch.keep(b"longer than twelve bytes").is_ok() && budget.used() > 0);
        scratch.rest();
        assert_eq!(budget.used(), 0);
        drop(scratch);
        assert_eq!(budget.used(), 0);
    }
}
