//! A column of codes in a layout, block by block as the system has them.

use frazil_block::{AlignedBytes, Layout};
use frazil_kernels::byteslice::early_stop::between_reading_all;
use frazil_kernels::prefetch::prefetch_values;
use frazil_kernels::{
    Combine, Isa, Packed, RangeOp, Selection, bitpack, byteslice, compare, hbp, packed, unpack, vbp,
};
use std::ops::Range;

/// Codes of a width in a layout, in blocks of the same number of rows.
pub struct Column {
    layout: Layout,
    bits: u32,
    rows: usize,
    blocks: usize,
    store: Store,
}

/// Bytes of packed layouts, words of byte-packed codes.
enum Store {
    Packed(AlignedBytes),
    W8(Words<u8>),
    W16(Words<u16>),
    W32(Words<u32>),
}

/// Words that begin on a cache line.
struct Words<T> {
    words: Vec<T>,
    start: usize,
}

impl<T: Copy + Default> Words<T> {
    fn repeated(codes: &[u64], blocks: usize, word: impl Fn(u64) -> T) -> Words<T> {
        let padding = 64 / size_of::<T>();
        let mut words: Vec<T> = Vec::with_capacity(codes.len() * blocks + padding);
        let start = words.as_ptr().align_offset(64).min(padding);
        words.resize(start, T::default());
        words.extend(codes.iter().map(|&code| word(code)));
        for _ in 1..blocks {
            words.extend_from_within(start..start + codes.len());
        }
        Words { words, start }
    }

    fn block(&self, block: usize, rows: usize) -> &[T] {
        &self.words[self.start + block * rows..][..rows]
    }
}

/// Codes of the selected rows, in words as wide as byte-packed codes of the column's width.
pub struct Fetched {
    bytes: Vec<u8>,
    shorts: Vec<u16>,
    words: Vec<u32>,
    bits: u32,
}

impl Fetched {
    /// Room for `rows` codes.
    pub fn with_room(rows: usize) -> Fetched {
        Fetched {
            bytes: vec![0; rows],
            shorts: vec![0; rows],
            words: vec![0; rows],
            bits: 32,
        }
    }

    /// Code `at`, of those fetched last.
    #[cfg(test)]
    pub fn code(&self, at: usize) -> u64 {
        match self.bits {
            ..=8 => self.bytes[at].into(),
            9..=16 => self.shorts[at].into(),
            _ => self.words[at].into(),
        }
    }

    /// How many of the first `len` codes fetched are `low` or more.
    pub fn count_from(&self, len: usize, low: u64) -> usize {
        match self.bits {
            ..=8 => self.bytes[..len]
                .iter()
                .filter(|&&code| u64::from(code) >= low)
                .count(),
            9..=16 => self.shorts[..len]
                .iter()
                .filter(|&&code| u64::from(code) >= low)
                .count(),
            _ => self.words[..len]
                .iter()
                .filter(|&&code| u64::from(code) >= low)
                .count(),
        }
    }
}

/// Runs `$body` with `$kernels` naming the kernels of a layout of codes of any width.
macro_rules! with_kernels {
    ($layout:expr, $kernels:ident => $body:expr) => {
        match $layout {
            Layout::BitPacked => {
                use bitpack as $kernels;
                $body
            }
            Layout::ByteSlice => {
                use byteslice as $kernels;
                $body
            }
            Layout::Vbp => {
                use vbp as $kernels;
                $body
            }
            _ => {
                use hbp as $kernels;
                $body
            }
        }
    };
}

impl Column {
    /// `blocks` copies of a block of `codes`, which fit in `bits` bits, at most 32, and are as wide as the
    /// layout makes them.
    pub fn new(layout: Layout, bits: u32, codes: &[u64], blocks: usize) -> Column {
        let bits = layout.code_bits(packed::top(bits));
        let store = match (layout, bits) {
            (Layout::BytePacked, ..=8) => Store::W8(Words::repeated(codes, blocks, |code| code as u8)),
            (Layout::BytePacked, 9..=16) => Store::W16(Words::repeated(codes, blocks, |code| code as u16)),
            (Layout::BytePacked, _) => Store::W32(Words::repeated(codes, blocks, |code| code as u32)),
            _ => Store::Packed(packed_blocks(layout, bits, codes, blocks)),
        };
        Column {
            layout,
            bits,
            rows: codes.len(),
            blocks,
            store,
        }
    }

    /// Bytes of a block of codes that fit in `bits` bits, padding included.
    pub fn block_bytes(layout: Layout, bits: u32, rows: usize) -> usize {
        layout.bytes(rows, layout.code_bits(packed::top(bits)))
    }

    /// Its layout.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Rows of a block.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Bytes a row takes.
    pub fn bytes_per_row(&self) -> f64 {
        Column::block_bytes(self.layout, self.bits, self.rows) as f64 / self.rows as f64
    }

    /// The codes of a block in a layout other than byte-packed.
    pub fn packed(&self, block: usize) -> Packed<'_> {
        let Store::Packed(bytes) = &self.store else {
            unreachable!("byte-packed codes are words");
        };
        let size = self.layout.bytes(self.rows, self.bits);
        Packed {
            bytes: &bytes.as_slice()[block * size..][..size],
            rows: self.rows,
            bits: self.bits,
        }
    }

    /// Tests `rows`, which begin at a multiple of 64, of a block.
    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments of every layout's range test"
    )]
    pub fn between(
        &self,
        isa: Isa,
        block: usize,
        rows: Range<usize>,
        op: RangeOp,
        (low, high): (u64, u64),
        combine: Combine,
        out: &mut [u64],
    ) {
        macro_rules! words {
            ($words:expr, $word:ty) => {{
                let codes = &$words.block(block, self.rows)[rows];
                compare::between(isa, codes, op, low as $word, high as $word, combine, out)
            }};
        }
        match &self.store {
            Store::W8(words) => words!(words, u8),
            Store::W16(words) => words!(words, u16),
            Store::W32(words) => words!(words, u32),
            Store::Packed(_) => with_kernels!(self.layout, kernels => {
                kernels::between(isa, self.packed(block), rows, op, low, high, combine, out)
            }),
        }
    }

    /// Tests all rows of a block of ByteSlice codes without early stopping.
    pub fn between_reading_all(&self, isa: Isa, block: usize, (low, high): (u64, u64), out: &mut [u64]) {
        let (codes, rows) = (self.packed(block), 0..self.rows);
        between_reading_all(
            isa,
            codes,
            rows,
            RangeOp::Inside,
            low,
            high,
            Combine::Replace,
            out,
        );
    }

    /// Tests all rows of a block for membership in a bitmap by code.
    pub fn in_set(&self, isa: Isa, block: usize, set: &[u64], out: &mut [u64]) {
        let combine = Combine::Replace;
        match &self.store {
            Store::W8(words) => compare::in_set(isa, words.block(block, self.rows), set, combine, out),
            Store::W16(words) => compare::in_set(isa, words.block(block, self.rows), set, combine, out),
            Store::W32(words) => compare::in_set(isa, words.block(block, self.rows), set, combine, out),
            Store::Packed(_) => with_kernels!(self.layout, kernels => {
                kernels::in_set(isa, self.packed(block), 0..self.rows, set, combine, out)
            }),
        }
    }

    /// Fetches the codes of selected rows of a block.
    pub fn unpack(&self, isa: Isa, block: usize, selection: Selection<'_>, out: &mut Fetched) -> usize {
        let rows = self.rows;
        out.bits = self.bits;
        match &self.store {
            Store::W8(words) => unpack::copy_values(isa, words.block(block, rows), selection, &mut out.bytes),
            Store::W16(words) => {
                unpack::copy_values(isa, words.block(block, rows), selection, &mut out.shorts)
            }
            Store::W32(words) => {
                unpack::copy_values(isa, words.block(block, rows), selection, &mut out.words)
            }
            Store::Packed(_) => with_kernels!(self.layout, kernels => match self.bits {
                ..=8 => kernels::unpack(isa, self.packed(block), selection, &mut out.bytes),
                9..=16 => kernels::unpack(isa, self.packed(block), selection, &mut out.shorts),
                _ => kernels::unpack(isa, self.packed(block), selection, &mut out.words),
            }),
        }
    }

    /// Asks for the codes at positions of a block, to be in cache when they are fetched.
    pub fn prefetch(&self, block: usize, positions: &[u16]) {
        match &self.store {
            Store::W8(words) => prefetch_values(words.block(block, self.rows), positions),
            Store::W16(words) => prefetch_values(words.block(block, self.rows), positions),
            Store::W32(words) => prefetch_values(words.block(block, self.rows), positions),
            Store::Packed(_) => with_kernels!(self.layout, kernels => {
                kernels::prefetch(self.packed(block), positions)
            }),
        }
    }

    /// Follows a chain of single lookups, each of a row that follows from the code before it and the number of
    /// its step, and returns the last code. The number of all rows is a power of two.
    pub fn chase(&self, steps: Range<u64>) -> u64 {
        let all = (self.rows * self.blocks) as u64;
        assert!(all.is_power_of_two() && self.rows.is_power_of_two());
        let chain = Chain {
            steps,
            row_mask: self.rows - 1,
            row_bits: self.rows.trailing_zeros(),
            mask: all - 1,
        };
        match &self.store {
            Store::W8(words) => chain.follow(|block, row| u64::from(words.block(block, self.rows)[row])),
            Store::W16(words) => chain.follow(|block, row| u64::from(words.block(block, self.rows)[row])),
            Store::W32(words) => chain.follow(|block, row| u64::from(words.block(block, self.rows)[row])),
            Store::Packed(_) => with_kernels!(self.layout, kernels => {
                chain.follow(|block, row| kernels::get(self.packed(block), row))
            }),
        }
    }
}

/// Lookups that wait for one another.
struct Chain {
    steps: Range<u64>,
    row_mask: usize,
    row_bits: u32,
    mask: u64,
}

impl Chain {
    #[inline(always)]
    fn follow(&self, get: impl Fn(usize, usize) -> u64) -> u64 {
        let mut code = 1;
        for step in self.steps.clone() {
            // The step's number keeps the chain out of short circles. All of its bits have to tell: of 14 that do,
            // chains fall into circles of 2^14 steps, which are in cache.
            let mixed = (code ^ step.wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let next = mixed >> 32 & self.mask;
            let (block, row) = ((next >> self.row_bits) as usize, next as usize & self.row_mask);
            code = get(block, row);
        }
        code
    }
}

fn packed_blocks(layout: Layout, bits: u32, codes: &[u64], blocks: usize) -> AlignedBytes {
    let size = layout.bytes(codes.len(), bits);
    let mut bytes = AlignedBytes::with_capacity(size * blocks);
    with_kernels!(layout, kernels => kernels::pack(codes, bits, bytes.extend_zeroed(size)));
    let first = bytes.as_slice().to_vec();
    for _ in 1..blocks {
        bytes.extend(&first);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::micro::codes::uniform;

    #[test]
    fn chains_do_not_fall_into_circles() {
        let codes = uniform(1 << 16, 1 << 16);
        let chain = Chain {
            steps: 0..1 << 17,
            row_mask: (1 << 16) - 1,
            row_bits: 16,
            mask: (1 << 24) - 1,
        };
        let seen = std::cell::RefCell::new(std::collections::HashSet::new());
        chain.follow(|block, row| {
            seen.borrow_mut().insert((block, row));
            codes[row]
        });
        // At random 2^17 of 2^24 places are nearly all different.
        assert!(seen.into_inner().len() > 130_000);
    }

    #[test]
    fn layouts_agree() {
        let isa = Isa::detect();
        for bits in [1, 7, 8, 9, 16, 17, 32] {
            let codes = uniform(1_024, 1 << bits);
            let (low, high) = (1 << bits >> 2, 1 << bits >> 1);
            let set: Vec<u64> = vec![0x5555_5555_5555_5555; 4];
            let mut answers = Vec::new();
            for layout in Layout::ALL {
                let column = Column::new(layout, bits, &codes, 2);
                let mut out = vec![0; 16];
                column.between(
                    isa,
                    1,
                    0..1_024,
                    RangeOp::Inside,
                    (low, high),
                    Combine::Replace,
                    &mut out,
                );
                let mut members = vec![0; 16];
                column.in_set(isa, 1, &set, &mut members);
                let mut fetched = Fetched::with_room(1_024);
                let count = column.unpack(isa, 0, Selection::Positions(&[3, 700]), &mut fetched);
                assert_eq!((count, fetched.code(1)), (2, codes[700]), "{layout} {bits}");
                answers.push((out, members, column.chase(0..100)));
            }
            assert!(answers.iter().all(|a| *a == answers[0]), "{bits}");
            let wanted = (low..=high).contains(&codes[5]);
            assert_eq!(answers[0].0[0] >> 5 & 1 == 1, wanted);
        }
    }
}
