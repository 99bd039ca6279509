//! Codes in the bytes of a layout: what the kernels of `bitpack`, `byteslice`, `vbp` and `hbp` take.

/// Unsigned codes of `bits` bits in the bytes of a layout, which the module that is asked knows.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    /// The layout's bytes, padding included.
    pub bytes: &'a [u8],
    /// Number of codes.
    pub rows: usize,
    /// Width of a code, 1 to 64.
    pub bits: u32,
}

impl Packed<'_> {
    /// The largest code of this width.
    pub fn top(&self) -> u64 {
        top(self.bits)
    }
}

/// The largest code of `bits` bits, 1 to 64.
#[inline(always)]
pub fn top(bits: u32) -> u64 {
    debug_assert!((1..=64).contains(&bits));
    !0 >> (64 - bits)
}

/// Bits of the smallest code width that holds `code`, at least 1.
pub fn bits_of(code: u64) -> u32 {
    (64 - code.leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_hold_their_codes() {
        assert_eq!([0, 1, 2, 255, 256, u64::MAX].map(bits_of), [1, 1, 2, 8, 9, 64]);
        for bits in 1..=64 {
            assert_eq!(bits_of(top(bits)), bits);
        }
    }
}
