//! Byte-packed: each code an unsigned little-endian integer of 1, 2, 4 or 8 bytes (Data Blocks,
//! section 3.3: truncation), so that a code is reached by its position alone.

/// Bytes that codes up to `largest` need.
pub fn width(largest: u64) -> usize {
    match largest {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

/// Writes codes at `width` bytes each.
pub fn pack(codes: &[u64], width: usize, out: &mut [u8]) {
    match width {
        1 => out.iter_mut().zip(codes).for_each(|(o, &c)| *o = c as u8),
        2 => {
            for (o, &c) in out.as_chunks_mut::<2>().0.iter_mut().zip(codes) {
                *o = (c as u16).to_le_bytes();
            }
        }
        4 => {
            for (o, &c) in out.as_chunks_mut::<4>().0.iter_mut().zip(codes) {
                *o = (c as u32).to_le_bytes();
            }
        }
        _ => {
            for (o, &c) in out.as_chunks_mut::<8>().0.iter_mut().zip(codes) {
                *o = c.to_le_bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn packs_little_endian() {
        let mut out = [0; 4];
        super::pack(&[1, 0x1234], 2, &mut out);
        assert_eq!(out, [1, 0, 0x34, 0x12]);
        assert_eq!(
            [255, 256, 65_535, 65_536, u64::MAX].map(super::width),
            [1, 2, 2, 4, 8]
        );
    }
}
