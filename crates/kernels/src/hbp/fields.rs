//! Where a code lies in horizontally packed words: the arithmetic all of this folder agrees on.

/// Bytes of a vector of the format, on every instruction set: one word of each of eight segments.
pub(super) const VECTOR: usize = 64;
/// Segments of a group.
pub(super) const SEGMENTS: usize = 8;

/// Width and number of the fields of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// Bits of a field, which are the words of a segment: the code and its delimiter. 1 for codes of
    /// which a word holds only one: they have the word to themselves and need no delimiter.
    pub width: usize,
    /// Fields of a word.
    pub per_word: usize,
    /// 1 in every field.
    ones: u64,
    by_segment: Reciprocal<32>,
    by_width: Reciprocal<16>,
}

/// By width of a code; the first entry is none.
static FIELDS: [Fields; 65] = {
    let mut table = [Fields::compute(1); 65];
    let mut bits = 2;
    while bits <= 64 {
        table[bits as usize] = Fields::compute(bits);
        bits += 1;
    }
    table
};

impl Fields {
    /// Those of codes of `bits` bits.
    #[inline(always)]
    pub fn of(bits: u32) -> &'static Fields {
        &FIELDS[bits as usize]
    }

    const fn compute(bits: u32) -> Fields {
        let (width, per_word) = match bits {
            ..32 => (bits as usize + 1, 64 / (bits as usize + 1)),
            _ => (1, 1),
        };
        let mut ones = 0;
        let mut field = 0;
        while field < per_word {
            ones |= 1 << (field * width);
            field += 1;
        }
        Fields {
            width,
            per_word,
            ones,
            by_segment: Reciprocal::of(width * per_word),
            by_width: Reciprocal::of(width),
        }
    }

    /// Rows of a segment.
    #[inline(always)]
    pub const fn segment(&self) -> usize {
        self.width * self.per_word
    }

    /// Rows of a group.
    #[inline(always)]
    pub const fn group(&self) -> usize {
        self.segment() * SEGMENTS
    }

    /// Bytes of a group.
    #[inline(always)]
    pub const fn group_bytes(&self) -> usize {
        self.width * VECTOR
    }

    /// Byte of the word that holds the code of `row`, and the bits of it below the code.
    #[inline(always)]
    pub fn place(&self, row: usize) -> (usize, u32) {
        // Segments have up to 2^6 rows.
        let segment = match row < 1 << (32 - 6) {
            true => self.by_segment.divide(row),
            false => row / self.segment(),
        };
        let row = row - segment * self.segment();
        let shift = self.by_width.divide(row) * self.width;
        let (group, segment, word) = (segment / SEGMENTS, segment % SEGMENTS, row - shift);
        let byte = group * self.group_bytes() + word * VECTOR + segment * 8;
        (byte, shift as u32)
    }

    /// A value that fits in a field, in every field of a word.
    #[inline(always)]
    pub const fn replicate(&self, value: u64) -> u64 {
        value * self.ones
    }
}

/// A divisor whose quotients are found by a multiplication: a division takes longer than all the rest of
/// a look-up.
///
/// With m = ⌈2^S / d⌉, n·m / 2^S exceeds n / d by less than n / 2^S, which does not reach the next integer
/// while n·d < 2^S.
#[derive(Clone, Copy, Debug)]
struct Reciprocal<const S: u32>(u64);

impl<const S: u32> Reciprocal<S> {
    const fn of(divisor: usize) -> Self {
        Reciprocal((1u64 << S).div_ceil(divisor as u64))
    }

    /// Quotient of a dividend below 2^S / divisor.
    #[inline(always)]
    fn divide(self, dividend: usize) -> usize {
        ((dividend as u64 * self.0) >> S) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_exact() {
        for bits in 1..=64 {
            let fields = Fields::of(bits);
            let (segment, width) = (fields.segment(), fields.width);
            for row in (0..10_000).chain((1 << 26) - 600..1 << 26) {
                assert_eq!(fields.by_segment.divide(row), row / segment);
            }
            for row in 0..segment {
                assert_eq!(fields.by_width.divide(row), row / width);
            }
        }
    }
}
