//! What generated code and Rust agree on: the context of a pipeline, the columns of a vector, status
//! codes, and the form of the entries of the function table.
//!
//! Conventions of every function that generated code calls (the table is `functions.rs`):
//!
//! - `extern "C"`; parameters and results are [`AbiType`]s only. Pointers are `I64`. Booleans are `I32`.
//! - A value of 16 bytes (i128, `StringRef`) goes by pointer, in and out: `*const i128`,
//!   `*const StringRef`, `*mut i128`, `*mut StringRef`. Results come last among the parameters.
//! - A function that can fail returns a status as `I32`: [`STATUS_OK`] or [`STATUS_FAILED`]. Generated code
//!   then notes the failing expression in the [`ErrorSlot`] and leaves. A function that knows more than
//!   the expression does (the text that is no number, memory over the budget) takes the context as its
//!   first parameter and puts a whole error there with [`PipelineContext::fail`].
//! - A function that makes strings takes the context first and keeps their bytes in
//!   [`PipelineContext::scratch`], marked transient.
//! - NULL never reaches a function: generated code tests validity before.

use frazil_types::{Error, StringRef};

/// All went well; go on.
pub const STATUS_OK: u32 = 0;
/// An expression or a runtime function failed: the error slot says which.
pub const STATUS_FAILED: u32 = 1;
/// The sink has all rows it wants (LIMIT): stop without an error.
pub const STATUS_ENOUGH: u32 = 2;
/// The cancel flag was seen.
pub const STATUS_CANCELED: u32 = 3;

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
    };

    /// Partitions of `rows` rows, each `stride` bytes behind the one before it; a vector from row `start` on.
    pub fn new(cells: *const u8, rows: usize, stride: usize, start: usize) -> Partitions {
        Partitions {
            cells,
            rows: rows as u64,
            stride: stride as u64,
            reciprocal: reciprocal(rows as u64),
            start: start as u64,
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
    /// Where functions keep the bytes of strings they make; emptied before each source vector.
    pub scratch: *mut Scratch,
    /// Where a failure is noted.
    pub error: ErrorSlot,
}

impl PipelineContext {
    /// Notes a whole error; the status to return.
    #[cold]
    pub fn fail(&mut self, error: Error) -> u32 {
        self.error.error = Some(Box::new(error));
        STATUS_FAILED
    }
}

/// Bytes of the strings that functions make while one source vector is worked on.
#[derive(Debug, Default)]
pub struct Scratch {
    pages: Vec<Vec<u8>>,
    current: usize,
}

/// Bytes of a page of scratch strings.
const SCRATCH_PAGE: usize = 64 << 10;

impl Scratch {
    /// Forgets all strings; keeps the memory.
    pub fn clear(&mut self) {
        if self.pages.is_empty() {
            return;
        }
        self.pages.retain(|p| p.capacity() <= SCRATCH_PAGE);
        self.pages.iter_mut().for_each(Vec::clear);
        self.current = 0;
    }

    /// Room for a string of `len` bytes, zeroed, that stays in place until `clear`.
    pub fn allocate(&mut self, len: usize) -> &mut [u8] {
        let fits = |p: &Vec<u8>| p.capacity() - p.len() >= len;
        while self.current < self.pages.len() && !fits(&self.pages[self.current]) {
            self.current += 1;
        }
        if self.current == self.pages.len() {
            self.pages.push(Vec::with_capacity(len.max(SCRATCH_PAGE)));
        }
        let page = &mut self.pages[self.current];
        let start = page.len();
        page.resize(start + len, 0);
        &mut page[start..]
    }

    /// Keeps a string; the reference is marked transient.
    pub fn keep(&mut self, bytes: &[u8]) -> StringRef {
        if bytes.len() <= frazil_types::string_ref::INLINE_BYTES {
            return StringRef::inline(bytes);
        }
        let room = self.allocate(bytes.len());
        room.copy_from_slice(bytes);
        // SAFETY: pages do not move their bytes (their capacity is never exceeded) and live until `clear`,
        // which is what the transient mark says.
        unsafe { StringRef::new(room) }.as_transient()
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
    fn scratch_strings_stay_until_cleared() {
        let mut scratch = Scratch::default();
        let texts: Vec<String> = (0..5000)
            .map(|i| format!("a string of some length {i}"))
            .collect();
        let kept: Vec<StringRef> = texts.iter().map(|t| scratch.keep(t.as_bytes())).collect();
        for (text, string) in texts.iter().zip(&kept) {
            assert!(string.is_transient());
            // SAFETY: not cleared yet.
            assert_eq!(unsafe { string.text() }, text);
        }
        scratch.clear();
        assert_eq!(scratch.keep(b"short").len(), 5);
    }
}
