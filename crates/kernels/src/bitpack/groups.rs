//! Whole groups of bit-packed codes on vectors: one body for every width and instruction set.
//!
//! Each body is compiled once for each width up to 32 bits, most of them fully unrolled: which words of a lane a
//! code lies in and by how much it is shifted are then constants, and an unrolled group is straight code of
//! loads, immediate shifts and compares. What is bound by memory rather than by that, as unpacking is on 512-bit
//! vectors, loops over the vectors of all groups, so that the machine's prefetchers see streams.
//!
//! A range test does not mask. Codes are shifted to the top of their lanes; what is left below them, bits
//! of other codes, decides no comparison with a bound whose bits below are all ones, and a subtraction
//! of a bound with zeros there does not touch the code. So `code - low <= span`, modulo the code's width,
//! is one shift, one subtraction and one comparison.

use super::place::{FRAMES, GROUP, VECTOR, group_bytes};
use crate::CodeWord;
use crate::packed::top;
use crate::prefetch::prefetch_read;

/// Match words of a group.
pub(super) const GROUP_WORDS: usize = GROUP / 64;

/// A range test: codes at most `span` above `low`, modulo their width, match; `flip` inverts. In as many of
/// the first groups as `foreseen` says, the bytes [`AHEAD`] of a group are codes too, soon to be tested.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test {
    pub low: u64,
    pub span: u64,
    pub flip: u64,
    pub foreseen: usize,
}

/// Bytes from a group that is tested to the one that is asked for: what memory delivers while a line is on
/// its way. The machine's own prefetchers do not see a stream in a group's unrolled loads, each of which
/// steps by a group and soon leaves its page.
pub(super) const AHEAD: usize = 8192;

/// Asks for the bytes that are [`AHEAD`] of some codes.
#[inline(always)]
pub(super) fn ask_ahead(codes: *const u8, bytes: usize) {
    for line in (0..bytes).step_by(VECTOR) {
        prefetch_read(codes.wrapping_add(AHEAD + line));
    }
}

/// The functions of one width on one instruction set. All of them take the address of a group (of
/// several, but for `pack`: entering a function with its constants to load takes a tenth of the time a group does), the
/// width, and are unsafe to call unless the machine has the instruction set and the addresses hold what they say.
pub(super) struct Kernels {
    /// Writes the match bits of as many groups as there are in the last argument.
    pub between: unsafe fn(*const u8, u32, Test, &mut [[u64; GROUP_WORDS]]),
    /// Writes the codes of as many groups as the last argument says as lane words.
    pub unpack: unsafe fn(*const u8, u32, *mut u8, usize),
    /// Writes the codes of as many groups, of up to 32 bits, as words of 32 bits.
    pub unpack_to_32: unsafe fn(*const u8, u32, *mut u8, usize),
    /// Writes a group (the last argument) from 512 lane words, none wider than the width.
    pub pack: unsafe fn(*const u8, u32, *mut u8),
}

/// Writes codes of up to 16 bits of as many groups as words of 32 bits, each added to its frame's reference: of
/// [`FRAMES`] references a group.
pub(super) type UnpackFrames = unsafe fn(*const u8, *mut u8, &[[u32; FRAMES]]);

/// A vector of unsigned lanes of 8, 16 or 32 bits.
///
/// # Safety
/// All methods: the machine has the instruction set, and `BYTES` bytes at an address are there, or the group.
pub(super) trait Lanes: Copy {
    /// A lane.
    type Word: CodeWord;
    /// Bits of a lane.
    const BITS: u32;
    /// Bytes of the vector: a half or all of one of the format.
    const BYTES: usize;

    /// The vector at an address.
    unsafe fn load(from: *const u8) -> Self;
    /// Writes it.
    unsafe fn store(self, to: *mut u8);
    /// The low bits of a word in every lane.
    unsafe fn splat(word: u64) -> Self;
    /// Bits of both.
    unsafe fn and(self, other: Self) -> Self;
    /// Bits of either.
    unsafe fn or(self, other: Self) -> Self;
    /// Lanes shifted left; below there may come in a neighbour's bits.
    unsafe fn left(self, count: u32) -> Self;
    /// Lanes shifted right; above there may come in a neighbour's bits.
    unsafe fn right(self, count: u32) -> Self;
    /// The codes of vector `v` of a group at the tops of their lanes, anything below them.
    unsafe fn tops<const BITS: u32>(group: Group<BITS>, v: usize) -> Self;
    /// The match words of a group: codes at most `span` above `low`, all at the lanes' tops; `flip` inverts.
    unsafe fn between<const BITS: u32>(
        group: Group<BITS>,
        low: Self,
        span: Self,
        flip: u64,
        words: &mut [u64; GROUP_WORDS],
    );
    /// The match words of groups, of bounds as above.
    #[inline(always)]
    unsafe fn between_groups<const BITS: u32>(
        from: *const u8,
        low: Self,
        span: Self,
        test: Test,
        out: &mut [[u64; GROUP_WORDS]],
    ) {
        for (i, words) in out.iter_mut().enumerate() {
            let group = Group::<BITS>::nth(from, i);
            if i < test.foreseen {
                ask_ahead(group.0, group_bytes(BITS));
            }
            // SAFETY: by contract.
            unsafe { Self::between(group, low, span, test.flip, words) }
        }
    }
    /// Writes the codes of as many groups as the last argument says, row by row, as lane words.
    unsafe fn unpack_groups<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize);
    /// Writes the codes of as many groups as the last argument says, row by row, as words of 32 bits.
    unsafe fn unpack_groups_to_32<const BITS: u32>(from: *const u8, to: *mut u8, groups: usize);
    /// Packs a group from 512 lane words, none wider than the codes, which stand in the order of its lanes.
    unsafe fn pack<const BITS: u32>(from: *const u8, to: *mut u8);
}

/// Lanes of 8 or 16 bits, each of which goes on in the next vector of the format.
///
/// # Safety
/// As [`Lanes`].
pub(super) trait LongLanes: Lanes {
    /// Writes the codes of as many groups as have references, row by row, as words of 32 bits, each added to its
    /// frame's reference.
    unsafe fn unpack_groups_of_frames<const BITS: u32>(
        from: *const u8,
        to: *mut u8,
        references: &[[u32; FRAMES]],
    );
    /// The low half of lanes `high:low` shifted right by `count`, which is neither 0 nor a whole lane.
    unsafe fn join(low: Self, high: Self, count: u32) -> Self;
}

/// A group of codes of `BITS` bits at an address.
#[derive(Clone, Copy)]
pub(super) struct Group<const BITS: u32>(pub *const u8);

impl<const BITS: u32> Group<BITS> {
    /// Group `i` of those from an address on.
    #[inline(always)]
    pub fn nth(from: *const u8, i: usize) -> Self {
        Group(from.wrapping_add(i * group_bytes(BITS)))
    }

    /// Address of the word that holds the low bits of the codes of vector `v`, a vector as wide as the
    /// registers, and where in its lanes they begin.
    #[inline(always)]
    fn place<V: Lanes>(self, v: usize) -> (*const u8, u32) {
        let parts = VECTOR / V::BYTES;
        let bit = (v / parts) as u32 * BITS;
        let byte = (bit / V::BITS) as usize * VECTOR + v % parts * V::BYTES;
        (self.0.wrapping_add(byte), bit % V::BITS)
    }

    /// See [`Lanes::tops`].
    ///
    /// # Safety
    /// The group is there, `v` within it, and the machine has the lanes.
    #[inline(always)]
    pub unsafe fn tops<V: LongLanes>(self, v: usize) -> V {
        let (at, shift) = self.place::<V>(v);
        let end = shift + BITS;
        // SAFETY: by contract; a code that ends in the next word has one in the group.
        unsafe {
            let low = V::load(at);
            match end <= V::BITS {
                true => low.left(V::BITS - end),
                false => V::join(low, V::load(at.wrapping_add(VECTOR)), end - V::BITS),
            }
        }
    }

    /// The codes of vector `v`.
    ///
    /// # Safety
    /// As [`Group::tops`].
    #[inline(always)]
    pub unsafe fn codes<V: LongLanes>(self, v: usize) -> V {
        let (at, shift) = self.place::<V>(v);
        // SAFETY: as in `tops`.
        unsafe {
            let low = V::load(at);
            let codes = match shift + BITS <= V::BITS {
                true => low.right(shift),
                false => V::join(low, V::load(at.wrapping_add(VECTOR)), shift),
            };
            codes.and(V::splat(top(BITS)))
        }
    }
}

/// How codes that stand one behind the other are brought to the tops of lanes of 32 bits: `LANES` codes, the bytes
/// of which `BYTES` shuffled bytes are.
#[repr(align(64))]
pub(super) struct Shuffle<const LANES: usize, const BYTES: usize> {
    /// The last four bytes of a code.
    pub high: [u8; BYTES],
    /// The byte before them, as the lowest of the lane, where it has bits of the code; [`Shuffle::NONE`] elsewhere.
    pub low: [u8; BYTES],
    /// Bits of the last byte that are not the code's.
    pub left: [u32; LANES],
    /// Bits of the byte before the last four that are not the code's.
    pub right: [u32; LANES],
    /// Whether a code has more than four bytes.
    pub crosses: bool,
}

impl<const LANES: usize, const BYTES: usize> Shuffle<LANES, BYTES> {
    /// Yields zero, where shuffles can.
    pub const NONE: u8 = 0x80;

    /// Of `LANES` consecutive codes of `bits` bits; `starts` are the bytes at which loads begin, counted from the first
    /// code's first, of as many bytes as make up all together, and shuffled each for itself.
    pub const fn new<const LOADS: usize>(bits: u32, starts: [i32; LOADS]) -> Self {
        let mut shuffle = Shuffle {
            high: [Self::NONE; BYTES],
            low: [Self::NONE; BYTES],
            left: [0; LANES],
            right: [0; LANES],
            crosses: false,
        };
        let mut lane = 0;
        while lane < LANES {
            let start = starts[lane / (LANES / LOADS)];
            let end = (lane as u32 + 1) * bits;
            let last = (end as i32 - 1) / 8 - start;
            let left = (8 - end % 8) % 8;
            let mut byte = 0;
            while byte < 4 {
                let from = last - 3 + byte;
                if from >= 0 {
                    shuffle.high[lane * 4 + byte as usize] = from as u8;
                }
                byte += 1;
            }
            if left + bits > 32 {
                shuffle.low[lane * 4] = (last - 4) as u8;
                shuffle.crosses = true;
            }
            shuffle.left[lane] = left;
            shuffle.right[lane] = 8 - left;
            lane += 1;
        }
        shuffle
    }
}

/// How codes that stand one behind the other, of which four bytes hold any, are brought to lanes of 32 bits.
#[repr(align(64))]
pub(super) struct Windows<const LANES: usize, const BYTES: usize> {
    /// The bytes of a code, from the first on; [`Shuffle::NONE`] behind the last.
    pub bytes: [u8; BYTES],
    /// Bits of the first byte that are not the code's.
    pub right: [u32; LANES],
}

impl<const LANES: usize, const BYTES: usize> Windows<LANES, BYTES> {
    /// See [`Shuffle::new`].
    pub const fn new<const LOADS: usize>(bits: u32, starts: [i32; LOADS]) -> Self {
        let mut windows = Windows {
            bytes: [Shuffle::<LANES, BYTES>::NONE; BYTES],
            right: [0; LANES],
        };
        let mut lane = 0;
        while lane < LANES {
            let start = starts[lane / (LANES / LOADS)];
            let (first_bit, end) = (lane as u32 * bits, (lane as u32 + 1) * bits);
            let (first, last) = (first_bit / 8, (end - 1) / 8);
            let mut byte = 0;
            while byte < 4 && first + byte <= last {
                windows.bytes[lane * 4 + byte as usize] = ((first + byte) as i32 - start) as u8;
                byte += 1;
            }
            windows.right[lane] = first_bit % 8;
            lane += 1;
        }
        windows
    }
}

/// Expands `$body` for `$v` from 0 to 31, or as many as there are: no loop whose unrolling is a guess.
macro_rules! unroll {
    ($v:ident < $count:expr => $body:expr) => {
        unroll!(@ $v $count, $body,
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    (@ $v:ident $count:expr, $body:expr, $($i:literal)*) => {
        $({
            let $v: usize = $i;
            if $v < $count {
                $body
            }
        })*
    };
}
pub(super) use unroll;

/// See [`Kernels::between`].
///
/// # Safety
/// See [`Kernels`].
#[inline(always)]
pub(super) unsafe fn between<V: Lanes, const BITS: u32>(
    from: *const u8,
    test: Test,
    out: &mut [[u64; GROUP_WORDS]],
) {
    let below = V::BITS - BITS;
    // SAFETY: by contract.
    unsafe {
        let low = V::splat(test.low << below);
        let span = V::splat(test.span << below | !(!0 << below));
        V::between_groups::<BITS>(from, low, span, test, out);
    }
}

/// See [`Kernels::between`], of codes of one bit: they are match bits already, or their complement.
///
/// # Safety
/// See [`Kernels`].
#[inline(always)]
pub(super) unsafe fn between_bits(from: *const u8, test: Test, out: &mut [[u64; GROUP_WORDS]]) {
    // What is tested for is a single code: ranges of both or neither are known without a test.
    let flip = if test.low == 1 { test.flip } else { !test.flip };
    for (i, words) in out.iter_mut().enumerate() {
        let group = from.wrapping_add(i * VECTOR);
        if i < test.foreseen {
            ask_ahead(group, group_bytes(1));
        }
        // SAFETY: by contract.
        let codes = unsafe { group.cast::<[u64; GROUP_WORDS]>().read_unaligned() };
        *words = codes.map(|word| u64::from_le(word) ^ flip);
    }
}

/// Writes the 512 codes of lanes that go on in the next vector of the format, vector by vector.
///
/// # Safety
/// See [`Lanes`].
#[inline(always)]
pub(super) unsafe fn unpack_long<V: LongLanes, const BITS: u32>(group: Group<BITS>, to: *mut u8) {
    let parts = VECTOR / V::BYTES;
    // SAFETY: by contract.
    unsafe {
        unroll!(v < V::BITS as usize => {
            for part in 0..parts {
                let v = v * parts + part;
                group.codes::<V>(v).store(to.wrapping_add(v * V::BYTES));
            }
        });
    }
}

/// See [`Lanes::pack`]: lanes that go on in the next vector of the format.
///
/// # Safety
/// See [`Kernels`].
#[inline(always)]
pub(super) unsafe fn pack_long<V: LongLanes, const BITS: u32>(from: *const u8, to: *mut u8) {
    for part in 0..VECTOR / V::BYTES {
        let (from, to) = (
            from.wrapping_add(part * V::BYTES),
            to.wrapping_add(part * V::BYTES),
        );
        // SAFETY: by contract.
        unsafe {
            let mut word = V::splat(0);
            unroll!(v < V::BITS as usize => {
                let bit = v as u32 * BITS;
                let (shift, end) = (bit % V::BITS, bit % V::BITS + BITS);
                let codes = V::load(from.wrapping_add(v * VECTOR));
                // A mask keeps a neighbour's bits out of byte lanes; it does nothing to wider ones.
                word = word.or(codes.left(shift).and(V::splat(!0 << shift)));
                if end >= V::BITS {
                    word.store(to.wrapping_add((bit / V::BITS) as usize * VECTOR));
                }
                if end == V::BITS {
                    word = V::splat(0);
                }
                if end > V::BITS {
                    word = codes.right(V::BITS - shift).and(V::splat(top(end - V::BITS)));
                }
            });
        }
    }
}

/// See [`Lanes::pack`]: codes of 17 to 31 bits, one behind the other, or whole words.
///
/// # Safety
/// See [`Kernels`].
#[inline(always)]
pub(super) unsafe fn pack_in_a_row<const BITS: u32>(from: *const u8, to: *mut u8) {
    for some in 0..GROUP / 32 {
        let from = from.cast::<u32>().wrapping_add(some * 32);
        let to = to.wrapping_add(some * 4 * BITS as usize).cast::<u32>();
        unroll!(i < 32 => {
            let bit = i as u32 * BITS;
            let (word, end) = (bit as usize / 32, bit % 32 + BITS);
            // SAFETY: by contract: the last of the 32 codes ends with a word.
            unsafe {
                let code = u64::from(from.wrapping_add(i).read_unaligned()) << (bit % 32);
                let before = if bit.is_multiple_of(32) { 0 } else { to.wrapping_add(word).read_unaligned() };
                to.wrapping_add(word).write_unaligned((u32::from_le(before) | code as u32).to_le());
                if end > 32 {
                    to.wrapping_add(word + 1).write_unaligned(((code >> 32) as u32).to_le());
                }
            }
        });
    }
}
