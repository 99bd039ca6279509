//! The loops around the groups: ranges of rows, selections, and what lies in part of a group.
//!
//! Selected rows that stand close are fetched by unpacking their group into the first-level cache, a
//! few hundredths to tenths of a cycle a code, and taking them from there. Rows that stand apart are
//! extracted one by one: two independent loads and a shift.

use super::groups::{AHEAD, GROUP_WORDS, Kernels, Test, UnpackFrames};
use super::place::{FRAMES, GROUP, eight_rows_a_lane, group_bytes, lane_bits};
use super::sparse;
use crate::packed::top;
use crate::selection::masked_word;
use crate::{CodeWord, Combine, Isa, Packed, RangeOp, Selection, unpack};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Selected rows of a group from which on it pays to unpack it, by width of lane: unpacking a group of
/// wide lanes takes longer.
#[inline(always)]
const fn dense<L>() -> usize {
    match size_of::<L>() {
        1 => 28,
        2 => 40,
        4 => 60,
        _ => 120,
    }
}

/// Positions whose density is looked at together.
const SOME: usize = 256;
/// Rows of the ring of unpacked groups that positions are taken from.
pub(super) const RING: usize = 4096;
/// Words of match bits taken at a time.
const BATCH_WORDS: usize = 4 * GROUP_WORDS;
const BATCH: usize = BATCH_WORDS * 64;

/// An instruction set.
///
/// # Safety
/// The machine has it.
pub(super) unsafe trait Unit {
    /// Its name.
    const ISA: Isa;

    /// Its functions for a width.
    fn kernels(bits: u32) -> &'static Kernels;

    /// Its function for frames of codes of up to 16 bits.
    fn unpack_frames(bits: u32) -> UnpackFrames;
}

/// Address of the group of `row`.
#[inline(always)]
fn group_of(codes: Packed<'_>, row: usize) -> *const u8 {
    codes.bytes[row / GROUP * group_bytes(codes.bits)..].as_ptr()
}

/// See [`super::between`].
///
/// # Safety
/// The machine has the unit, the bytes are those of the rows, and the rows were checked.
#[inline(always)]
pub(super) unsafe fn between<U: Unit>(
    codes: Packed<'_>,
    rows: Range<usize>,
    op: RangeOp,
    (low, span): (u64, u64),
    combine: Combine,
    out: &mut [u64],
) {
    let flip = match op {
        RangeOp::Inside => 0,
        RangeOp::Outside => !0,
    };
    let mut test = Test {
        low,
        span,
        flip,
        foreseen: 0,
    };
    let skip = rows.start % GROUP / 64;
    let (head, rest) = match skip {
        0 => out.split_at_mut(0),
        _ => out.split_at_mut((GROUP_WORDS - skip).min(out.len())),
    };
    // SAFETY: by contract.
    unsafe {
        if !head.is_empty() {
            part_of_a_group::<U>(codes, rows.start, test, combine, head);
        }
        let first = rows.start + head.len() * 64;
        let (groups, tail) = rest.as_chunks_mut::<GROUP_WORDS>();
        if combine == Combine::Replace && !groups.is_empty() {
            let ahead = first / GROUP * group_bytes(codes.bits) + AHEAD;
            test.foreseen = codes.bytes.len().saturating_sub(ahead) / group_bytes(codes.bits);
            (U::kernels(codes.bits).between)(group_of(codes, first), codes.bits, test, groups);
        } else {
            for (i, words) in groups.iter_mut().enumerate() {
                part_of_a_group::<U>(codes, first + i * GROUP, test, combine, words);
            }
        }
        if !tail.is_empty() {
            part_of_a_group::<U>(codes, first + groups.len() * GROUP, test, combine, tail);
        }
    }
}

/// Tests the rows of one group that `words` speak of, from `first` on. Nothing is done if the bits there
/// decide the outcome already (column-first, ByteSlice, section 3.1.2).
///
/// # Safety
/// As [`between`].
#[inline(always)]
unsafe fn part_of_a_group<U: Unit>(
    codes: Packed<'_>,
    first: usize,
    test: Test,
    combine: Combine,
    words: &mut [u64],
) {
    let decided = match combine {
        Combine::Replace => false,
        Combine::And => words.iter().all(|&word| word == 0),
        Combine::Or => words.iter().all(|&word| word == !0),
    };
    if decided {
        return;
    }
    let mut fresh = [[0; GROUP_WORDS]];
    // SAFETY: by contract.
    unsafe { (U::kernels(codes.bits).between)(group_of(codes, first), codes.bits, test, &mut fresh) };
    let skip = first % GROUP / 64;
    for (word, &fresh) in words.iter_mut().zip(&fresh[0][skip..]) {
        *word = combine.apply(*word, fresh);
    }
}

/// Calls the function of this name for the lanes codes of `$bits` bits lie in.
macro_rules! by_lane {
    ($bits:expr, $unit:ty, $word:ty, $function:ident, $($argument:expr),*) => {
        match $crate::bitpack::place::lane_bits($bits) {
            8 => rows::$function::<$unit, u8, $word>($($argument),*),
            16 => rows::$function::<$unit, u16, $word>($($argument),*),
            32 => rows::$function::<$unit, u32, $word>($($argument),*),
            _ => rows::$function::<$unit, u64, $word>($($argument),*),
        }
    };
}
pub(super) use by_lane;

/// Room for unpacked codes, nothing in it at first: clearing it would cost as much as unpacking.
#[repr(align(64))]
pub(super) struct Buffer<L, const ROWS: usize>([MaybeUninit<L>; ROWS]);

impl<L: CodeWord, const ROWS: usize> Buffer<L, ROWS> {
    #[inline(always)]
    fn new() -> Self {
        Buffer([MaybeUninit::uninit(); ROWS])
    }

    /// Where the codes from `row` on are to be written.
    #[inline(always)]
    fn from(&mut self, row: usize) -> *mut u8 {
        self.0[row..].as_mut_ptr().cast()
    }

    /// Some rows.
    ///
    /// # Safety
    /// They were written.
    #[inline(always)]
    pub unsafe fn rows(&self, rows: Range<usize>) -> &[L] {
        let rows = &self.0[rows];
        // SAFETY: by contract.
        unsafe { std::slice::from_raw_parts(rows.as_ptr().cast(), rows.len()) }
    }

    /// One row.
    ///
    /// # Safety
    /// It was written.
    #[inline(always)]
    pub unsafe fn row(&self, row: usize) -> L {
        // SAFETY: by contract.
        unsafe { self.0[row].assume_init() }
    }
}

/// Writes codes as wider words; the compiler makes vectors of it.
#[inline(always)]
fn widen<L: CodeWord, C: CodeWord>(codes: &[L], out: &mut [C]) {
    for (out, code) in out.iter_mut().zip(codes) {
        *out = C::from_u64(code.to_u64());
    }
}

/// The codes of as many rows as there are words from `out` on, beginning with `row`.
///
/// # Safety
/// The machine has the unit, the bytes are those of the codes, the rows are some of them, `C` holds codes
/// in lanes of `L`, and `len` words can be written.
#[inline(always)]
pub(super) unsafe fn all<U: Unit, L: CodeWord, C: CodeWord>(
    codes: Packed<'_>,
    mut row: usize,
    mut out: *mut C,
    mut len: usize,
) {
    let kernels = U::kernels(codes.bits);
    // The function that writes a whole group in place, if there is one.
    let in_place = match (size_of::<L>(), size_of::<C>()) {
        (lane, word) if lane == word => Some(kernels.unpack),
        (1 | 2, 4) => Some(kernels.unpack_to_32),
        _ => None,
    };
    let mut buffer = Buffer::<L, GROUP>::new();
    while len > 0 {
        let skip = row % GROUP;
        let whole = if skip == 0 { len / GROUP } else { 0 };
        // SAFETY: by contract; whole groups are written in place by a function for words of that size.
        let count = unsafe {
            match in_place {
                Some(unpack) if whole > 0 => {
                    unpack(group_of(codes, row), codes.bits, out.cast(), whole);
                    whole * GROUP
                }
                _ => {
                    let count = (GROUP - skip).min(len);
                    (kernels.unpack)(group_of(codes, row), codes.bits, buffer.from(0), 1);
                    let out = std::slice::from_raw_parts_mut(out.cast::<MaybeUninit<C>>(), count);
                    for (out, code) in out.iter_mut().zip(buffer.rows(skip..GROUP)) {
                        out.write(C::from_u64(code.to_u64()));
                    }
                    count
                }
            }
        };
        (row, len, out) = (row + count, len - count, out.wrapping_add(count));
    }
}

/// See [`super::unpack_frames`]: groups of which rows are missing are unpacked whole, and the rest of them is dropped.
///
/// # Safety
/// The machine has the unit, the bytes are those of the codes, and the lengths were checked.
#[inline(always)]
pub(super) unsafe fn unpack_frames<U: Unit>(
    codes: Packed<'_>,
    rows: Range<usize>,
    references: &[u32],
    mut out: &mut [u32],
) {
    let unpack = U::unpack_frames(codes.bits);
    let mut row = rows.start;
    while row < rows.end {
        let skip = row % GROUP;
        let (groups, _) = references[row / GROUP * FRAMES..].as_chunks::<FRAMES>();
        let whole = if skip == 0 {
            (out.len() / GROUP).min(groups.len())
        } else {
            0
        };
        let count = if whole > 0 {
            // SAFETY: by contract; there is room for the words of whole groups.
            unsafe { unpack(group_of(codes, row), out.as_mut_ptr().cast(), &groups[..whole]) };
            whole * GROUP
        } else {
            let mut of_group = [0; FRAMES];
            for (reference, &of_frame) in of_group.iter_mut().zip(&references[row / GROUP * FRAMES..]) {
                *reference = of_frame;
            }
            let count = (GROUP - skip).min(out.len());
            let mut words = [0u32; GROUP];
            // SAFETY: by contract; there is room for the words of a group.
            unsafe { unpack(group_of(codes, row), words.as_mut_ptr().cast(), &[of_group]) };
            out[..count].copy_from_slice(&words[skip..][..count]);
            count
        };
        row += count;
        out = &mut std::mem::take(&mut out)[count..];
    }
}

/// The codes of rows with a set bit: unpacked and compressed where they are many, one by one where few.
///
/// # Safety
/// As [`all`]; `out` has exactly as many words as rows are selected.
#[inline(always)]
pub(super) unsafe fn by_bits<U: Unit, L: CodeWord, C: CodeWord>(
    codes: Packed<'_>,
    words: &[u64],
    start: usize,
    len: u32,
    mut out: &mut [C],
) {
    let mut unpacked = Buffer::<L, BATCH>::new();
    let mut compressed = [L::default(); BATCH];
    let mut positions = Buffer::<u16, { BATCH + AT_ONCE }>::new();
    for (i, words) in words.chunks(BATCH_WORDS).enumerate() {
        let first = start + i * BATCH;
        let len = (len - (i * BATCH) as u32).min(BATCH as u32);
        let rows = len as usize;
        let count = (0..words.len())
            .map(|i| masked_word(words, len, i).count_ones() as usize)
            .sum();
        let (now, later) = out.split_at_mut(count);
        out = later;
        let bits = Selection::Bits { words, start: 0, len };
        // SAFETY: by contract.
        unsafe {
            if count * GROUP < dense::<L>() / 2 * rows {
                write_positions(words, len, &mut positions);
                sparse::extract::<L, C>(codes, first, positions.rows(0..count), now);
                continue;
            }
            all::<U, L, L>(codes, first, unpacked.from(0).cast(), rows);
            let unpacked = unpacked.rows(0..rows);
            if size_of::<L>() == size_of::<C>() {
                // Code words of the same size are the same type.
                let now = std::slice::from_raw_parts_mut(now.as_mut_ptr().cast::<L>(), count);
                unpack::copy_values(U::ISA, unpacked, bits, now);
            } else {
                unpack::copy_values(U::ISA, unpacked, bits, &mut compressed);
                widen(&compressed, now);
            }
        }
    }
}

/// Positions written at once.
const AT_ONCE: usize = 4;

/// Writes the numbers of the set bits. Words have few or none, which no branch predictor foresees: so
/// some are written whether they are there or not.
#[inline(always)]
fn write_positions(words: &[u64], len: u32, out: &mut Buffer<u16, { BATCH + AT_ONCE }>) {
    let mut end = 0;
    for i in 0..words.len() {
        let mut word = masked_word(words, len, i);
        let count = word.count_ones() as usize;
        let mut written = 0;
        loop {
            for out in &mut out.0[end + written..][..AT_ONCE] {
                out.write((i * 64) as u16 + word.trailing_zeros() as u16);
                word &= word.wrapping_sub(1);
            }
            written += AT_ONCE;
            if written >= count {
                break;
            }
        }
        end += count;
    }
}

/// From the first to the last of the groups that have positions.
#[inline(always)]
fn groups(positions: &[u16]) -> Range<usize> {
    let least = positions.iter().fold(u16::MAX, |least, &p| least.min(p));
    let greatest = positions.iter().fold(0, |greatest, &p| greatest.max(p));
    least as usize / GROUP..greatest as usize / GROUP + 1
}

/// Whether a lot of positions is of so many codes in so few groups that unpacking those is faster than fetching them
/// one by one.
#[inline(always)]
fn are_close<L>(positions: &[u16]) -> bool {
    let groups = groups(positions).len();
    groups <= RING / GROUP && positions.len() >= dense::<L>() * groups
}

/// Whether no lot of the positions is close.
#[inline(always)]
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "called by lane, as functions that fetch codes are"
)]
pub(super) fn are_sparse<U: Unit, L: CodeWord, C: CodeWord>(bits: u32, positions: &[u16]) -> bool {
    bits as usize == 8 * size_of::<L>() || !positions.chunks(SOME).any(are_close::<L>)
}

/// The codes at positions that are sparse, or of whole words.
///
/// # Safety
/// As [`all`]; `out` has exactly as many words as rows are selected.
#[inline(always)]
pub(super) unsafe fn at_sparse_positions<U: Unit, L: CodeWord, C: CodeWord>(
    codes: Packed<'_>,
    positions: &[u16],
    out: &mut [C],
) {
    // SAFETY: by contract.
    unsafe {
        match codes.bits as usize == 8 * size_of::<L>() {
            true => sparse::words::<L, C>(codes, positions, out),
            false => sparse::extract::<L, C>(codes, 0, positions, out),
        }
    }
}

/// The codes at ascending positions: where groups have many of them they are unpacked.
///
/// # Safety
/// As [`all`]; `out` has exactly as many words as rows are selected.
#[inline(always)]
pub(super) unsafe fn at_positions<U: Unit, L: CodeWord, C: CodeWord>(
    codes: Packed<'_>,
    positions: &[u16],
    out: &mut [C],
) {
    let unpack = U::kernels(codes.bits).unpack;
    let mut ring = Buffer::<L, RING>::new();
    let mut unpacked = 0..0;
    for (positions, out) in positions.chunks(SOME).zip(out.chunks_mut(SOME)) {
        // SAFETY: by contract; the ring holds all groups of the positions when they are taken from it.
        unsafe {
            if !are_close::<L>(positions) {
                sparse::extract::<L, C>(codes, 0, positions, out);
                continue;
            }
            let groups = groups(positions);
            for group in groups.clone() {
                if !unpacked.contains(&group) {
                    let to = ring.from(group * GROUP % RING);
                    unpack(group_of(codes, group * GROUP), codes.bits, to, 1);
                }
            }
            unpacked = groups;
            sparse::take(&ring, positions, out);
        }
    }
}

/// See [`super::pack`].
///
/// # Safety
/// The machine has the unit, and `out` has the bytes of the codes.
#[inline(always)]
pub(super) unsafe fn pack<U: Unit>(codes: &[u64], bits: u32, out: &mut [u8]) {
    // SAFETY: by contract.
    unsafe {
        match lane_bits(bits) {
            8 => pack_lanes::<U, u8>(codes, bits, out),
            16 => pack_lanes::<U, u16>(codes, bits, out),
            32 => pack_lanes::<U, u32>(codes, bits, out),
            _ => pack_lanes::<U, u64>(codes, bits, out),
        }
    }
}

/// Narrows each group to lane words, in the order of the lanes, then packs it.
///
/// # Safety
/// As [`pack`].
#[inline(always)]
unsafe fn pack_lanes<U: Unit, L: CodeWord>(codes: &[u64], bits: u32, out: &mut [u8]) {
    let pack = U::kernels(bits).pack;
    let mut buffer = [L::default(); GROUP];
    for (group, out) in codes.chunks(GROUP).zip(out.chunks_exact_mut(group_bytes(bits))) {
        for (word, &code) in buffer.iter_mut().zip(group) {
            *word = L::from_u64(code & top(bits));
        }
        buffer[group.len()..].fill(L::default());
        if eight_rows_a_lane(bits) {
            let rows = buffer;
            for (lane, rows) in rows.as_chunks::<8>().0.iter().enumerate() {
                for (number, &word) in rows.iter().enumerate() {
                    buffer[number * (GROUP / 8) + lane] = word;
                }
            }
        }
        // SAFETY: by contract.
        unsafe { pack(buffer.as_ptr().cast(), bits, out.as_mut_ptr()) };
    }
}
