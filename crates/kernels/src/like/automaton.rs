//! Patterns without `_` as automata over bytes, and over the codes of a symbol table (FSST): a string is matched as it
//! is stored, by one look-up for each code, and is never decompressed.
//!
//! A state is how much of the pattern has been read: bytes of the prefix, then of each needle, then of the suffix.
//! Behind the needles the longest beginning of the needle that the text ends in is kept, as Knuth, Morris and Pratt do.
//! A code leads from a state to the state that the bytes of its symbol lead to: this is computed once for a table, not
//! once for each row.

use super::{LikePattern, Shape};

/// States of the largest automaton. An escape doubles them, and twice as many have to fit into a byte.
const MOST_STATES: usize = 120;
/// Strings whose codes are read side by side, so that the look-ups of one do not wait for those of another.
const LANES: usize = 8;
/// Codes by which the longest of [`LANES`] strings may exceed twice the mean before they are read one by one.
const LEEWAY: usize = 8;
/// The state that no byte leads out of, and which does not accept.
const DEAD: u8 = 0;

/// An automaton over bytes that accepts the strings that a pattern matches.
#[derive(Debug)]
pub struct ByteAutomaton {
    /// `steps[s][b]` is the state that byte `b` leads to from state `s`.
    steps: Vec<[u8; 256]>,
    /// `accepts[s]`: a string that ends in state `s` matches.
    accepts: Vec<bool>,
    start: u8,
}

impl LikePattern {
    /// The automaton of the pattern; `None` if the pattern has a `_` or is too long.
    pub fn automaton(&self) -> Option<ByteAutomaton> {
        match &self.shape {
            Shape::Exact(exact) => ByteAutomaton::exact(exact),
            Shape::Literal {
                prefix,
                needles,
                suffix,
            } => {
                let needles: Vec<&[u8]> = needles.iter().map(|n| n.needle()).collect();
                ByteAutomaton::new(prefix, &needles, End::Suffix(suffix))
            }
            Shape::Single(_) | Shape::General { .. } => None,
        }
    }
}

/// Ends of strings that match, behind the prefix and the needles.
enum End<'a> {
    /// Nothing more.
    Here,
    /// Any bytes, and then these.
    Suffix(&'a [u8]),
}

impl ByteAutomaton {
    /// Accepts one string; `None` if the string is too long.
    pub fn exact(string: &[u8]) -> Option<ByteAutomaton> {
        ByteAutomaton::new(string, &[], End::Here)
    }

    /// Accepts the strings that begin with a prefix; `None` if the prefix is too long.
    pub fn prefix(prefix: &[u8]) -> Option<ByteAutomaton> {
        ByteAutomaton::new(prefix, &[], End::Suffix(&[]))
    }

    fn new(prefix: &[u8], needles: &[&[u8]], end: End) -> Option<ByteAutomaton> {
        let last = match end {
            End::Here => 0,
            End::Suffix(suffix) => suffix.len(),
        };
        let states = 2 + prefix.len() + needles.iter().map(|n| n.len()).sum::<usize>() + last;
        if states > MOST_STATES {
            return None;
        }
        let mut steps = vec![[DEAD; 256]];
        for &byte in prefix {
            let mut step = [DEAD; 256];
            step[usize::from(byte)] = steps.len() as u8 + 1;
            steps.push(step);
        }
        for needle in needles {
            search(needle, &mut steps);
        }
        match end {
            End::Here => steps.push([DEAD; 256]),
            End::Suffix(suffix) => {
                let fallback = search(suffix, &mut steps);
                let again = match suffix {
                    [] => [steps.len() as u8; 256],
                    _ => steps[fallback],
                };
                steps.push(again);
            }
        }
        let mut accepts = vec![false; steps.len()];
        accepts[states - 1] = true;
        Some(ByteAutomaton {
            steps,
            accepts,
            start: 1,
        })
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.steps.len()
    }

    /// The automaton over codes: code `c` stands for `symbols[c]`, and the byte behind the code `escape` for itself. A
    /// code without a symbol stands for nothing.
    pub fn over_codes(&self, symbols: &[&[u8]], escape: u8) -> CodeAutomaton {
        let states = self.steps.len();
        let mut steps = vec![[DEAD; 256]; states * 2];
        let (plain, escaped) = steps.split_at_mut(states);
        for (state, step) in plain.iter_mut().enumerate() {
            step.fill(state as u8);
            for (to, bytes) in step.iter_mut().zip(symbols) {
                *to = (bytes.iter()).fold(*to, |s, &b| self.steps[usize::from(s)][usize::from(b)]);
            }
            step[usize::from(escape)] = (states + state) as u8;
        }
        escaped.copy_from_slice(&self.steps);
        let mut accepts = self.accepts.clone();
        accepts.resize(states * 2, false);
        CodeAutomaton {
            steps,
            accepts,
            start: self.start,
        }
    }
}

/// Adds a state for each byte of a needle that has been read. The needle's end leads to the next state to be added.
/// Returns the state whose steps are those of the needle's end while the search goes on.
fn search(needle: &[u8], steps: &mut Vec<[u8; 256]>) -> usize {
    let first = steps.len();
    // The state of the longest beginning that the bytes read so far, without the first of them, end in.
    let mut fallback = first;
    for (i, &byte) in needle.iter().enumerate() {
        let mut step = match i {
            0 => [first as u8; 256],
            _ => steps[fallback],
        };
        let back = usize::from(step[usize::from(byte)]);
        step[usize::from(byte)] = (first + i + 1) as u8;
        steps.push(step);
        if i > 0 {
            fallback = back;
        }
    }
    fallback
}

/// An automaton over the codes of one symbol table. A code of another table means nothing to it.
#[derive(Debug)]
pub struct CodeAutomaton {
    /// `steps[s][c]` is the state that code `c` leads to from state `s`. The second half of the states are those behind
    /// an escape.
    steps: Vec<[u8; 256]>,
    accepts: Vec<bool>,
    start: u8,
}

impl CodeAutomaton {
    /// True if the string of these codes is accepted.
    #[inline]
    pub fn matches(&self, codes: &[u8]) -> bool {
        let end = codes
            .iter()
            .fold(self.start, |state, &code| self.step(state, code));
        self.accepts[usize::from(end)]
    }

    #[inline(always)]
    fn step(&self, state: u8, code: u8) -> u8 {
        self.steps[usize::from(state)][usize::from(code)]
    }

    /// Sets bit `i` of `out` if the string of codes `heap[offsets[i]..offsets[i + 1]]` is accepted, and clears the bit
    /// if not. `out` has `(offsets.len() - 1).div_ceil(64)` words.
    pub fn match_heap(&self, heap: &[u8], offsets: &[u32], out: &mut [u64]) {
        let rows = offsets.len().saturating_sub(1);
        assert_eq!(out.len(), rows.div_ceil(64), "words of match bits");
        out.fill(0);
        let mut row = 0;
        while let Some(ends) = offsets
            .get(row..)
            .and_then(|rest| rest.first_chunk::<{ LANES + 1 }>())
        {
            let word = self.match_lanes(heap, ends);
            // A multiple of LANES: the bits are in one word.
            out[row / 64] |= u64::from(word) << (row % 64);
            row += LANES;
        }
        for row in row..rows {
            let codes = &heap[offsets[row] as usize..offsets[row + 1] as usize];
            out[row / 64] |= u64::from(self.matches(codes)) << (row % 64);
        }
    }

    /// Bit `i` is set if string `i` of [`LANES`] is accepted.
    #[inline(always)]
    fn match_lanes(&self, heap: &[u8], ends: &[u32; LANES + 1]) -> u8 {
        let lens: [usize; LANES] = std::array::from_fn(|i| (ends[i + 1] - ends[i]) as usize);
        let longest = lens.into_iter().max().unwrap_or(0);
        let all = (ends[LANES] - ends[0]) as usize;
        let codes = &heap[ends[0] as usize..ends[LANES] as usize];
        let starts: [usize; LANES] = std::array::from_fn(|i| (ends[i] - ends[0]) as usize);
        if longest > all / LANES * 2 + LEEWAY {
            return (0..LANES).fold(0, |word, i| {
                word | u8::from(self.matches(&codes[starts[i]..starts[i] + lens[i]])) << i
            });
        }
        let mut states = [self.start; LANES];
        for at in 0..longest {
            for i in 0..LANES {
                // A string that has ended reads on, in vain: a branch there would be mispredicted once a string.
                let next = self.step(states[i], codes[(starts[i] + at).min(all - 1)]);
                states[i] = if at < lens[i] { next } else { states[i] };
            }
        }
        (0..LANES).fold(0, |word, i| {
            word | u8::from(self.accepts[usize::from(states[i])]) << i
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ESCAPE: u8 = 255;
    /// Symbols of codes 0 to 5.
    const SYMBOLS: [&[u8]; 6] = [b"a", b"b", b"ab", b"aab", b"bba", "é".as_bytes()];

    /// Codes that stand for a text: the longest symbol, or an escape if `escaped` says so or no symbol fits.
    fn encode(text: &[u8], mut escaped: impl FnMut() -> bool) -> Vec<u8> {
        let (mut codes, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let fits = |&&c: &&usize| text[at..].starts_with(SYMBOLS[c]);
            let code = [0, 1, 2, 3, 4, 5]
                .iter()
                .filter(fits)
                .max_by_key(|&&c| SYMBOLS[c].len());
            match code {
                Some(&code) if !escaped() => {
                    codes.push(code as u8);
                    at += SYMBOLS[code].len();
                }
                _ => {
                    codes.extend([ESCAPE, text[at]]);
                    at += 1;
                }
            }
        }
        codes
    }

    proptest! {
        #[test]
        fn accepts_what_the_pattern_matches(
            pattern in "[ab%é]{0,9}",
            texts in prop::collection::vec("[abcé]{0,12}|[ab]{0,80}", 0..100),
            every in 1..5usize,
        ) {
            let compiled = LikePattern::compile(&pattern, None).expect("no escape");
            let bytes = compiled.automaton().expect("short, and without _");
            let automaton = bytes.over_codes(&SYMBOLS, ESCAPE);
            let (mut heap, mut offsets, mut count) = (vec![7; 3], vec![3], 0);
            for text in &texts {
                heap.extend(encode(text.as_bytes(), || { count += 1; count % every == 0 }));
                offsets.push(heap.len() as u32);
            }
            let mut bits = vec![!0; texts.len().div_ceil(64)];
            automaton.match_heap(&heap, &offsets, &mut bits);
            for i in 0..bits.len() * 64 {
                let wanted = texts.get(i).is_some_and(|text| compiled.matches(text.as_bytes()));
                prop_assert_eq!(bits[i / 64] >> (i % 64) & 1 == 1, wanted, "{} of {:?}", pattern, texts.get(i));
            }
        }
    }

    #[test]
    fn has_a_state_for_each_byte_or_is_none() {
        let automaton = |pattern: &str| {
            LikePattern::compile(pattern, None)
                .expect("no escape")
                .automaton()
        };
        assert_eq!(automaton("ab%cde%f").expect("short").states(), 8);
        assert!(automaton("a_").is_none());
        assert!(automaton(&"x".repeat(MOST_STATES)).is_none());
        let most = automaton(&"x".repeat(MOST_STATES - 2)).expect("just short enough");
        let codes = most.over_codes(&[b"", b"xx"], ESCAPE);
        assert!(codes.matches(&[1; (MOST_STATES - 2) / 2]));
        assert!(!codes.matches(&[1; MOST_STATES / 2]));
    }
}
