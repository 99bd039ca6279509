//! The field's codecs: the crates `bitpacking`, a port of simdcomp with AVX2, and `fastlanes`, whose code
//! the compiler makes vectors of, for the instruction set the program is built for.

use super::{Codec, ROWS, Scratch, decode_and_pick};
use bitpacking::{BitPacker, BitPacker8x};
use fastlanes::BitPacking;

pub(super) fn codecs(values: &[u32]) -> Vec<Box<dyn Codec>> {
    vec![Box::new(Simdcomp::new(values)), Box::new(FastLanes::new(values))]
}

/// Blocks of 256 values, each with its width. No single access.
struct Simdcomp {
    packer: BitPacker8x,
    bytes: Vec<u8>,
    /// Where a block begins, and its width.
    blocks: Vec<(u32, u8)>,
}

/// Up to so many positions, decoding a block for each is cheaper than decoding all.
const FEW_BLOCKS: usize = 200;

impl Simdcomp {
    fn new(values: &[u32]) -> Simdcomp {
        let packer = BitPacker8x::new();
        let (mut bytes, mut blocks) = (Vec::new(), Vec::new());
        for chunk in values.chunks(BitPacker8x::BLOCK_LEN) {
            let mut block = [0; BitPacker8x::BLOCK_LEN];
            block[..chunk.len()].copy_from_slice(chunk);
            let bits = packer.num_bits(&block);
            blocks.push((bytes.len() as u32, bits));
            let mut room = [0; 4 * BitPacker8x::BLOCK_LEN];
            let len = packer.compress(&block, &mut room, bits);
            bytes.extend_from_slice(&room[..len]);
        }
        Simdcomp {
            packer,
            bytes,
            blocks,
        }
    }
}

impl Codec for Simdcomp {
    fn name(&self) -> &'static str {
        "bitpacking_crate"
    }

    fn bytes(&self) -> usize {
        self.bytes.len() + 5 * self.blocks.len()
    }

    fn decode(&self, out: &mut [u32]) {
        for (out, &(start, bits)) in out.chunks_exact_mut(BitPacker8x::BLOCK_LEN).zip(&self.blocks) {
            self.packer.decompress(&self.bytes[start as usize..], out, bits);
        }
    }

    fn fetch(&self, positions: &[u16], scratch: &mut Scratch, out: &mut [u32]) {
        if positions.len() > FEW_BLOCKS {
            return decode_and_pick(self, positions, scratch, out);
        }
        let mut block = [0; BitPacker8x::BLOCK_LEN];
        for (out, &position) in out.iter_mut().zip(positions) {
            let (start, bits) = self.blocks[position as usize / block.len()];
            self.packer
                .decompress(&self.bytes[start as usize..], &mut block, bits);
            *out = block[position as usize % block.len()];
        }
    }
}

/// Vectors of 1,024 values, all of one width, with single access.
struct FastLanes {
    words: Vec<u32>,
    bits: u32,
}

const VECTOR: usize = 1_024;

/// Shorter lists are fetched code by code.
const SHORT_LIST: usize = ROWS / 8;

/// Calls a function with the width, and the words of a vector of it, as constants.
macro_rules! with_width {
    ($bits:expr, $function:ident($($argument:expr),*)) => {
        with_width!(@ $bits, $function, ($($argument),*);
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
    };
    (@ $bits:expr, $function:ident, $arguments:tt; $($width:literal)*) => {
        match $bits {
            $($width => with_width!(@call $function, $width, $arguments),)*
            _ => unreachable!("widths are 1 to 32"),
        }
    };
    (@call $function:ident, $width:literal, ($($argument:expr),*)) => {
        $function::<$width, { 32 * $width }>($($argument),*)
    };
}

impl FastLanes {
    fn new(values: &[u32]) -> FastLanes {
        let bits = values.iter().fold(0, |all, value| all | value);
        let bits = (32 - bits.leading_zeros()).max(1);
        let mut words = Vec::new();
        for chunk in values.chunks(VECTOR) {
            let mut vector = [0; VECTOR];
            vector[..chunk.len()].copy_from_slice(chunk);
            with_width!(bits, pack(&vector, &mut words));
        }
        FastLanes { words, bits }
    }
}

fn pack<const W: usize, const WORDS: usize>(vector: &[u32; VECTOR], words: &mut Vec<u32>) {
    let mut out = [0; WORDS];
    <u32 as BitPacking>::pack::<W, WORDS>(vector, &mut out);
    words.extend_from_slice(&out);
}

fn unpack<const W: usize, const WORDS: usize>(words: &[u32], out: &mut [u32]) {
    let (vectors, outs) = (words.as_chunks::<WORDS>().0, out.as_chunks_mut::<VECTOR>().0);
    for (vector, out) in vectors.iter().zip(outs) {
        <u32 as BitPacking>::unpack::<W, WORDS>(vector, out);
    }
}

fn unpack_at<const W: usize, const WORDS: usize>(words: &[u32], positions: &[u16], out: &mut [u32]) {
    let vectors = words.as_chunks::<WORDS>().0;
    for (out, &position) in out.iter_mut().zip(positions) {
        let vector = &vectors[position as usize / VECTOR];
        *out = <u32 as BitPacking>::unpack_single::<W, WORDS>(vector, position as usize % VECTOR);
    }
}

impl Codec for FastLanes {
    fn name(&self) -> &'static str {
        "fastlanes_crate"
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.words[..])
    }

    fn decode(&self, out: &mut [u32]) {
        with_width!(self.bits, unpack(&self.words, out));
    }

    fn fetch(&self, positions: &[u16], scratch: &mut Scratch, out: &mut [u32]) {
        if positions.len() >= SHORT_LIST {
            return decode_and_pick(self, positions, scratch, out);
        }
        with_width!(self.bits, unpack_at(&self.words, positions, out));
    }
}
