//! Which rows of a chunk to fetch: all of a range, those with a bit, or those at positions.

/// Rows of a chunk, ascending, in the form that is cheapest for their density.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// Every row of `start..start + len`.
    All {
        /// First row.
        start: u32,
        /// Number of rows.
        len: u32,
    },
    /// Row `start + i` for each set bit `i < len`.
    Bits {
        /// Exactly `len.div_ceil(64)` words, least significant bit first.
        words: &'a [u64],
        /// Row of the first bit.
        start: u32,
        /// Number of bits; those beyond it are ignored.
        len: u32,
    },
    /// These rows.
    Positions(&'a [u16]),
}

impl<'a> Selection<'a> {
    /// Every row of a range.
    #[inline]
    pub fn all(rows: std::ops::Range<u32>) -> Selection<'static> {
        Selection::All {
            start: rows.start,
            len: rows.end.saturating_sub(rows.start),
        }
    }

    /// Number of rows selected.
    pub fn count(&self) -> usize {
        match *self {
            Selection::All { len, .. } => len as usize,
            Selection::Bits { words, len, .. } => {
                let Some(last) = words.len().checked_sub(1) else {
                    return 0;
                };
                let tail = masked_word(words, len, last).count_ones() as usize;
                crate::count::ones(crate::Isa::detect(), &words[..last]) + tail
            }
            Selection::Positions(positions) => positions.len(),
        }
    }

    /// The rows, ascending: slow and plain.
    pub fn rows(self) -> Box<dyn Iterator<Item = usize> + 'a> {
        match self {
            Selection::All { start, len } => Box::new(start as usize..(start + len) as usize),
            Selection::Bits { words, start, len } => Box::new(
                (0..len as usize)
                    .filter(|i| words[i / 64] >> (i % 64) & 1 == 1)
                    .map(move |i| start as usize + i),
            ),
            Selection::Positions(positions) => Box::new(positions.iter().map(|&p| p as usize)),
        }
    }

    /// Panics unless every row lies within `len` values and `out` has room for all of them; returns
    /// their number. After it kernels may index without looking. (Inlined into each instruction set's
    /// kernel: counting bits without its instruction would cost as much as the kernel.)
    #[inline(always)]
    pub(crate) fn check(&self, values: usize, out: usize) -> usize {
        match *self {
            Selection::All { start, len } => {
                assert!(
                    start as usize + len as usize <= values,
                    "selection ends beyond the column"
                );
            }
            Selection::Bits { words, start, len } => {
                assert_eq!(words.len(), (len as usize).div_ceil(64), "words of match bits");
                assert!(
                    start as usize + len as usize <= values,
                    "selection ends beyond the column"
                );
            }
            Selection::Positions(positions) => {
                let last = positions.iter().copied().max();
                assert!(
                    last.is_none_or(|p| (p as usize) < values),
                    "position beyond the column"
                );
            }
        }
        let count = self.count();
        assert!(count <= out, "{count} rows selected, room for {out}");
        count
    }
}

/// Word `i` of match bits, without the bits beyond `len`.
#[inline(always)]
pub(crate) fn masked_word(words: &[u64], len: u32, i: usize) -> u64 {
    let beyond = (i + 1) * 64;
    let mask = if beyond <= len as usize {
        !0
    } else {
        !0u64 >> (beyond - len as usize).min(63)
    };
    words[i] & mask
}

/// The oracle of every kernel that takes a selection of `rows` rows: writes `value(row)` of each selected
/// row to the front of `out`, row by row, and returns their number.
#[inline(always)]
pub(crate) fn write_rows<T>(
    rows: usize,
    selection: Selection<'_>,
    out: &mut [T],
    value: impl Fn(usize) -> T,
) -> usize {
    let count = selection.check(rows, out.len());
    match selection {
        Selection::All { start, len } => {
            for (row, out) in (start as usize..(start + len) as usize).zip(out) {
                *out = value(row);
            }
        }
        Selection::Bits { words, start, len } => {
            let mut at = 0;
            for i in 0..words.len() {
                let mut word = masked_word(words, len, i);
                while word != 0 {
                    out[at] = value(start as usize + i * 64 + word.trailing_zeros() as usize);
                    at += 1;
                    word &= word - 1;
                }
            }
        }
        Selection::Positions(positions) => {
            for (out, &position) in out.iter_mut().zip(positions) {
                *out = value(position as usize);
            }
        }
    }
    count
}
