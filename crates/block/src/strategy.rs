//! How the tests of a window are joined (ByteSlice, section 3.1.2; Data Blocks, section 4.2): what
//! `frazil bench conjunction` measured, as a rule.
//!
//! - **Column-first**: a test is given the match bits so far and skips vectors in which they decide
//!   everything. It costs a look at the bits for each vector, and the machine foresees less.
//! - **Baseline**: the test is made on all rows, then joined. Codes of layouts whose tests of a whole
//!   window are much quicker than those of a piece lose less by it than by looking.
//! - **Reduce**: rows become positions, at which the codes are fetched and tested.
//!
//! Predicate-first is what windows are: all tests on one before any on the next. In pieces as small as a
//! vector it is several times as slow as any of these.

use crate::format::ColumnEntry;
use crate::layouts::Layout;

/// Rows in a thousand, for each byte of a code, below which positions are reduced rather than bits joined: a
/// reduced position costs about 1.5 cycles, a compared byte of codes 0.015.
const REDUCE_BELOW_PERMILLE_A_BYTE: usize = 8;

/// Undecided rows in a thousand below which a test of bit-packed codes is given the bits so far. Its vectors
/// are groups of 512 rows, and one of a group alone costs twice its share of a window.
const PIPELINE_BIT_PACKED_BELOW_PERMILLE: usize = 2;

/// Whether a test of codes is given the match bits so far (column-first), of which so many rows of all are
/// undecided.
pub(crate) fn pipelines(entry: &ColumnEntry, undecided: usize, rows: usize) -> bool {
    entry.layout != Layout::BitPacked || undecided * 1000 < rows * PIPELINE_BIT_PACKED_BELOW_PERMILLE
}

/// Rows in a thousand below which a test of codes is better done at positions.
pub(crate) fn reduce_below(entry: &ColumnEntry) -> usize {
    usize::from(entry.code_bits).div_ceil(8) * REDUCE_BELOW_PERMILLE_A_BYTE
}
