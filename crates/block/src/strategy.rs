//! How the tests of a window are joined (ByteSlice, section 3.1.2 and appendix E; Data Blocks, section 4.2): what
//! `frazil bench conjunction` measured of conjunctions and disjunctions, as a rule.
//!
//! - **Column-first**: a test is given the match bits so far and skips vectors in which they decide
//!   everything. On byte-packed codes, ByteSlice and VBP it costs as much as the baseline or up to a fifth
//!   less, whatever the bits.
//! - **Baseline**: the test is made on all rows, then joined. Bit-packed codes and HBP are quicker tested in a
//!   whole window than vector by vector, unless nearly all vectors are decided.
//! - **Reduce**: rows become positions, at which the codes are fetched and tested.
//!
//! Predicate-first is what windows are: all tests on one before any on the next. In pieces of 512 rows it is
//! 1.2 to 14 times as slow as the baseline.

use crate::format::ColumnEntry;
use crate::layouts::Layout;

/// Undecided rows in a thousand below which a test of bit-packed codes or HBP is given the bits so far: a third
/// of the groups of 512 rows then have none. At 1 in a thousand that gains 2 to 30 per cent, at 10 it loses up to
/// 15.
const PIPELINE_GROUPS_BELOW_PERMILLE: usize = 2;

/// Whether a test of codes is given the match bits so far (column-first), of which so many rows of all are
/// undecided.
pub(crate) fn pipelines(entry: &ColumnEntry, undecided: usize, rows: usize) -> bool {
    !matches!(entry.layout, Layout::BitPacked | Layout::Hbp)
        || undecided * 1000 < rows * PIPELINE_GROUPS_BELOW_PERMILLE
}

/// Rows in a thousand below which a test of codes is better done at positions. A test of a window costs its
/// bytes, but for ByteSlice, which mostly stops after the first; a reduced position costs some 1.5 cycles, and on
/// VBP a gather of bits from every plane.
pub(crate) fn reduce_below(entry: &ColumnEntry) -> usize {
    let bytes = usize::from(entry.code_bits).div_ceil(8);
    match entry.layout {
        Layout::ByteSlice => 4,
        Layout::Vbp => 0,
        Layout::BitPacked => 6 * bytes,
        Layout::None | Layout::BytePacked | Layout::Hbp => 8 * bytes,
    }
}
