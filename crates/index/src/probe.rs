//! A key and a row id as the tree compares them: big-endian words, so that the order of words is the order of bytes.

/// Words of a key that need no allocation.
const INLINE_WORDS: usize = 8;

/// An entry that is sought or added, or a bound of a range.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probe {
    inline: [u64; INLINE_WORDS],
    /// All words if they are more than `inline` holds.
    spilled: Vec<u64>,
    len: usize,
    /// The row id; 0 in a bound, which lies in front of all rows of its key.
    pub row: u64,
}

impl Probe {
    /// The probe of a key. Zeros fill up the last word, and further words up to `least_words`: they change no order, because
    /// no key is a proper prefix of another one.
    pub fn new(key: &[u8], row: u64, least_words: usize) -> Probe {
        let len = key.len().div_ceil(8).max(least_words);
        let mut probe = Probe {
            len,
            row,
            ..Probe::default()
        };
        if len > INLINE_WORDS {
            probe.spilled.resize(len, 0);
        }
        let words = if len > INLINE_WORDS {
            &mut probe.spilled[..]
        } else {
            &mut probe.inline[..]
        };
        let (whole, rest) = key.as_chunks::<8>();
        for (word, bytes) in words.iter_mut().zip(whole) {
            *word = u64::from_be_bytes(*bytes);
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            words[whole.len()] = u64::from_be_bytes(last);
        }
        probe
    }

    /// The probe of words.
    pub fn of_words(words: &[u64], row: u64) -> Probe {
        let mut probe = Probe {
            len: words.len(),
            row,
            ..Probe::default()
        };
        match probe.inline.get_mut(..words.len()) {
            Some(inline) => inline.copy_from_slice(words),
            None => probe.spilled = words.to_vec(),
        }
        probe
    }

    /// The words of the key.
    pub fn words(&self) -> &[u64] {
        if self.len > INLINE_WORDS {
            &self.spilled
        } else {
            &self.inline[..self.len]
        }
    }
}
