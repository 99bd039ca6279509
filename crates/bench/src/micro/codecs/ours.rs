//! Our layouts as codecs, and values as they are.

use super::{Codec, ROWS, Scratch, pick};
use frazil_block::{AlignedBytes, Layout};
use frazil_kernels::{Isa, Packed, Selection, bitpack, byteslice, packed};

pub(super) fn codecs(values: &[u32]) -> Vec<Box<dyn Codec>> {
    vec![
        Box::new(BitPacked(Bytes::new(Layout::BitPacked, values))),
        Box::new(ByteSlice(Bytes::new(Layout::ByteSlice, values))),
        byte_packed(values),
        Box::new(Unencoded(values.to_vec())),
    ]
}

/// Codes of a packed layout.
struct Bytes {
    bytes: AlignedBytes,
    bits: u32,
}

impl Bytes {
    fn new(layout: Layout, values: &[u32]) -> Bytes {
        let codes: Vec<u64> = values.iter().map(|&value| value.into()).collect();
        let bits = packed::bits_of(codes.iter().copied().max().unwrap_or_default());
        let mut bytes = AlignedBytes::default();
        let out = bytes.extend_zeroed(layout.bytes(codes.len(), bits));
        match layout {
            Layout::ByteSlice => byteslice::pack(&codes, bits, out),
            _ => bitpack::pack(&codes, bits, out),
        }
        Bytes { bytes, bits }
    }

    /// Shorter lists are fetched at their positions: reading everything would take longer. Codes of up to
    /// 16 bits are unpacked to narrow words, of which more are in cache when they are picked; wider ones are
    /// fetched without much ado.
    fn short_list(&self) -> usize {
        match self.bits {
            ..=16 => ROWS / 16,
            _ => ROWS / 4,
        }
    }

    #[inline]
    fn codes(&self) -> Packed<'_> {
        Packed {
            bytes: self.bytes.as_slice(),
            rows: ROWS,
            bits: self.bits,
        }
    }
}

macro_rules! packed_codec {
    ($codec:ident, $kernels:ident, $name:literal) => {
        struct $codec(Bytes);

        impl Codec for $codec {
            fn name(&self) -> &'static str {
                $name
            }

            fn bytes(&self) -> usize {
                self.0.bytes.len()
            }

            fn decode(&self, out: &mut [u32]) {
                let all = Selection::all(0..ROWS as u32);
                $kernels::unpack(Isa::detect(), self.0.codes(), all, &mut out[..ROWS]);
            }

            fn fetch(&self, positions: &[u16], scratch: &mut Scratch, out: &mut [u32]) {
                match positions {
                    [position] => out[0] = $kernels::get(self.0.codes(), *position as usize) as u32,
                    _ => self.fetch_list(positions, scratch, out),
                }
            }
        }

        impl $codec {
            #[inline(never)]
            fn fetch_list(&self, positions: &[u16], scratch: &mut Scratch, out: &mut [u32]) {
                let codes = self.0.codes();
                let (isa, all) = (Isa::detect(), Selection::all(0..ROWS as u32));
                if positions.len() < self.0.short_list() {
                    $kernels::unpack(isa, codes, Selection::Positions(positions), out);
                    return;
                }
                match self.0.bits {
                    ..=8 => {
                        $kernels::unpack(isa, codes, all, &mut scratch.bytes);
                        pick(&scratch.bytes[..ROWS], positions, out);
                    }
                    9..=16 => {
                        $kernels::unpack(isa, codes, all, &mut scratch.shorts);
                        pick(&scratch.shorts[..ROWS], positions, out);
                    }
                    _ => {
                        $kernels::unpack(isa, codes, all, &mut scratch.words);
                        pick(&scratch.words[..ROWS], positions, out);
                    }
                }
            }
        }
    };
}

packed_codec!(BitPacked, bitpack, "bit_packed");
packed_codec!(ByteSlice, byteslice, "byteslice");

fn byte_packed(values: &[u32]) -> Box<dyn Codec> {
    match values.iter().copied().max().unwrap_or_default() {
        0..=0xff => Box::new(BytePacked(values.iter().map(|&value| value as u8).collect())),
        0x100..=0xffff => Box::new(BytePacked(values.iter().map(|&value| value as u16).collect())),
        _ => Box::new(BytePacked(values.to_vec())),
    }
}

struct BytePacked<T>(Vec<T>);

impl<T: Copy + Into<u32>> Codec for BytePacked<T> {
    fn name(&self) -> &'static str {
        "byte_packed"
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.0[..])
    }

    fn decode(&self, out: &mut [u32]) {
        for (out, &code) in out.iter_mut().zip(&self.0) {
            *out = code.into();
        }
    }

    fn fetch(&self, positions: &[u16], _scratch: &mut Scratch, out: &mut [u32]) {
        pick(&self.0, positions, out);
    }
}

/// Values as they are: what encoding is measured by.
struct Unencoded(Vec<u32>);

impl Codec for Unencoded {
    fn name(&self) -> &'static str {
        "unencoded"
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.0[..])
    }

    fn decode(&self, out: &mut [u32]) {
        out[..ROWS].copy_from_slice(&self.0);
    }

    fn fetch(&self, positions: &[u16], _scratch: &mut Scratch, out: &mut [u32]) {
        pick(&self.0, positions, out);
    }
}
