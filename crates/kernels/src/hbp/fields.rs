//! Where a code lies in horizontally packed words: the arithmetic all of this folder agrees on.

/// Bytes of a vector of the format, on every instruction set: one word of each of eight segments.
pub(super) const VECTOR: usize = 64;
/// Segments of a group.
pub(super) const SEGMENTS: usize = 8;

/// Width and number of the fields of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    /// Bits of a field, which are the words of a segment: the code and its delimiter. 1 for codes of
    /// which a word holds only one: they have the word to themselves and need no delimiter.
    pub width: usize,
    /// Fields of a word.
    pub per_word: usize,
}

impl Fields {
    /// Those of codes of `bits` bits.
    #[inline(always)]
    pub const fn of(bits: u32) -> Fields {
        let width = bits as usize + 1;
        match bits {
            ..32 => Fields {
                width,
                per_word: 64 / width,
            },
            _ => Fields {
                width: 1,
                per_word: 1,
            },
        }
    }

    /// Rows of a segment.
    #[inline(always)]
    pub const fn segment(self) -> usize {
        self.width * self.per_word
    }

    /// Rows of a group.
    #[inline(always)]
    pub const fn group(self) -> usize {
        self.segment() * SEGMENTS
    }

    /// Bytes of a group.
    #[inline(always)]
    pub const fn group_bytes(self) -> usize {
        self.width * VECTOR
    }

    /// Byte of the word that holds the code of `row`, and the bits of it below the code.
    #[inline(always)]
    pub const fn place(self, row: usize) -> (usize, u32) {
        let (group, row) = (row / self.group(), row % self.group());
        let (segment, row) = (row / self.segment(), row % self.segment());
        let (field, word) = (row / self.width, row % self.width);
        let byte = group * self.group_bytes() + word * VECTOR + segment * 8;
        (byte, (field * self.width) as u32)
    }
}
