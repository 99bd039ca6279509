//! Our layouts as codecs, and values as they are.

use super::{Codec, FRAMES, ROWS, Scratch, Stored, pick};
use frazil_block::{AlignedBytes, Layout};
use frazil_kernels::bitpack::FRAME;
use frazil_kernels::{Isa, Packed, Selection, bitpack, byteslice, packed};

pub(super) fn codecs(values: &[u32]) -> Vec<Box<dyn Codec>> {
    let mut codecs: Vec<Box<dyn Codec>> = vec![
        Box::new(BitPacked(Bytes::new(Layout::BitPacked, values))),
        Box::new(ByteSlice(Bytes::new(Layout::ByteSlice, values))),
        byte_packed(values),
        Box::new(Unencoded(values.iter().copied().chain([0]).collect())),
    ];
    if let Some(frames) = Frames::new(values) {
        codecs.push(Box::new(frames));
    }
    codecs
}

/// Codes of a packed layout.
struct Bytes {
    bytes: AlignedBytes,
    layout: Layout,
    bits: u32,
    short_list: usize,
}

impl Bytes {
    fn new(layout: Layout, values: &[u32]) -> Bytes {
        let codes: Vec<u64> = values.iter().map(|&value| value.into()).collect();
        let bits = layout.code_bits(codes.iter().copied().max().unwrap_or_default());
        let mut bytes = AlignedBytes::default();
        let out = bytes.extend_zeroed(layout.bytes(codes.len(), bits));
        match layout {
            Layout::ByteSlice => byteslice::pack(&codes, bits, out),
            _ => bitpack::pack(&codes, bits, out),
        }
        Bytes {
            bytes,
            layout,
            bits,
            short_list: Bytes::short_list(bits),
        }
    }

    /// Shorter lists are fetched at their positions: reading everything would take longer. Codes of up to
    /// 16 bits are unpacked to narrow words, of which more are in cache when they are picked.
    fn short_list(bits: u32) -> usize {
        match bits {
            ..=16 => ROWS / 16,
            _ => ROWS / 4,
        }
    }

    /// The codes as they lie, if they are words of the machine side by side.
    fn words(&self) -> Option<&[[u8; 4]]> {
        (self.layout == Layout::BitPacked && self.bits == 32).then(|| self.bytes.as_slice().as_chunks().0)
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
                match (positions, out) {
                    ([position], [value]) => {
                        *value = $kernels::get(self.0.codes(), *position as usize) as u32;
                    }
                    (_, out) => self.fetch_list(positions, scratch, out),
                }
            }
        }

        impl $codec {
            #[inline(never)]
            fn fetch_list(&self, positions: &[u16], scratch: &mut Scratch, out: &mut [u32]) {
                let codes = self.0.codes();
                let (isa, all) = (Isa::detect(), Selection::all(0..ROWS as u32));
                if positions.len() < self.0.short_list {
                    $kernels::unpack(isa, codes, Selection::Positions(positions), out);
                    return;
                }
                if let Some(words) = self.0.words() {
                    return pick(words, positions, out);
                }
                match self.0.bits {
                    ..=8 => {
                        $kernels::unpack(isa, codes, all, &mut scratch.bytes);
                        pick(&scratch.bytes, positions, out);
                    }
                    9..=16 => {
                        $kernels::unpack(isa, codes, all, &mut scratch.shorts);
                        pick(&scratch.shorts, positions, out);
                    }
                    _ => {
                        let words = scratch.words.words();
                        $kernels::unpack(isa, codes, all, words);
                        pick(words, positions, out);
                    }
                }
            }
        }
    };
}

packed_codec!(BitPacked, bitpack, "bit_packed");
packed_codec!(ByteSlice, byteslice, "byteslice");

/// Bit-packed with a frame of reference for each 128 values: how Frazil holds values that drift, unless it is told otherwise.
struct Frames {
    minima: Vec<u32>,
    codes: Bytes,
}

impl Frames {
    /// `None` where frames have no narrower codes than all values together, or codes of more than 16 bits.
    fn new(values: &[u32]) -> Option<Frames> {
        let minimum = |frame: &[u32]| frame.iter().copied().min().unwrap_or_default();
        let minima: Vec<u32> = values.chunks(FRAME).map(minimum).collect();
        let deltas: Vec<u32> = (values.iter().enumerate())
            .map(|(row, value)| value - minima[row / FRAME])
            .collect();
        let bits = |values: &[u32]| packed::bits_of(values.iter().copied().max().unwrap_or_default().into());
        (bits(&deltas) < bits(values).min(17)).then(|| Frames {
            minima,
            codes: Bytes::new(Layout::BitPacked, &deltas),
        })
    }

    #[inline(never)]
    fn fetch_list(&self, positions: &[u16], scratch: &mut Scratch, out: &mut [u32]) {
        let (isa, codes) = (Isa::detect(), self.codes.codes());
        // So many that no position is of a frame beyond them.
        let minima: &[u32; (1 << u16::BITS) / FRAME] = self.minima.first_chunk().expect("all frames");
        if positions.len() < self.codes.short_list {
            bitpack::unpack(isa, codes, Selection::Positions(positions), out);
            for (out, &position) in out.iter_mut().zip(positions) {
                *out += minima[position as usize / FRAME];
            }
            return;
        }
        bitpack::unpack(isa, codes, Selection::all(0..ROWS as u32), &mut scratch.shorts);
        let codes: &[u16; 1 << u16::BITS] = scratch.shorts.first_chunk().expect("a code for each position");
        for (out, &position) in out.iter_mut().zip(positions) {
            *out = minima[position as usize / FRAME] + u32::from(codes[position as usize]);
        }
    }
}

impl Codec for Frames {
    fn name(&self) -> &'static str {
        FRAMES
    }

    fn bytes(&self) -> usize {
        self.codes.bytes.len() + size_of_val(&self.minima[..])
    }

    fn decode(&self, out: &mut [u32]) {
        bitpack::unpack_frames(
            Isa::detect(),
            self.codes.codes(),
            0..ROWS,
            &self.minima,
            &mut out[..ROWS],
        );
    }

    fn fetch(&self, positions: &[u16], scratch: &mut Scratch, out: &mut [u32]) {
        match (positions, out) {
            ([position], [value]) => {
                let code = bitpack::get(self.codes.codes(), *position as usize) as u32;
                *value = self.minima[*position as usize / FRAME] + code;
            }
            (_, out) => self.fetch_list(positions, scratch, out),
        }
    }
}

fn byte_packed(values: &[u32]) -> Box<dyn Codec> {
    match values.iter().copied().max().unwrap_or_default() {
        0..=0xff => Box::new(BytePacked::new(values, |value| value as u8)),
        0x100..=0xffff => Box::new(BytePacked::new(values, |value| value as u16)),
        _ => Box::new(BytePacked::new(values, |value| value)),
    }
}

/// Codes, and one more at the end for [`pick`].
struct BytePacked<T>(Vec<T>);

impl<T> BytePacked<T> {
    fn new(values: &[u32], code: impl Fn(u32) -> T) -> BytePacked<T> {
        BytePacked(values.iter().copied().chain([0]).map(code).collect())
    }
}

impl<T: Stored> Codec for BytePacked<T> {
    fn name(&self) -> &'static str {
        "byte_packed"
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.0[..ROWS])
    }

    fn decode(&self, out: &mut [u32]) {
        for (out, &code) in out.iter_mut().zip(&self.0[..ROWS]) {
            *out = code.value();
        }
    }

    fn fetch(&self, positions: &[u16], _scratch: &mut Scratch, out: &mut [u32]) {
        pick(&self.0, positions, out);
    }
}

/// Values as they are: what encoding is measured by. And one more at the end for [`pick`].
struct Unencoded(Vec<u32>);

impl Codec for Unencoded {
    fn name(&self) -> &'static str {
        "unencoded"
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.0[..ROWS])
    }

    fn decode(&self, out: &mut [u32]) {
        out[..ROWS].copy_from_slice(&self.0[..ROWS]);
    }

    fn fetch(&self, positions: &[u16], _scratch: &mut Scratch, out: &mut [u32]) {
        pick(&self.0, positions, out);
    }
}
