//! LIKE over a heap or a vector of strings.

use super::{LikePattern, find_in_order};
use crate::{Combine, Isa, Kernel, counters};
use frazil_types::StringRef;
use frazil_types::string_ref::TRANSIENT_BIT;
use memchr::memmem::Finder;

/// Runs of fewer adjacent strings are matched one by one.
const SHORTEST_RUN: usize = 4;

impl LikePattern {
    /// Matches string `i`, `heap[offsets[i]..offsets[i + 1]]`, into bit `i` of `out`, which has
    /// `(offsets.len() - 1).div_ceil(64)` words. Offsets ascend and end within the heap.
    pub fn match_heap(&self, isa: Isa, heap: &[u8], offsets: &[u32], combine: Combine, out: &mut [u64]) {
        let rows = offsets.len().saturating_sub(1);
        assert_eq!(out.len(), rows.div_ceil(64), "words of match bits");
        counters::enter(Kernel::Like, isa);
        let mut fresh = vec![0u64; out.len()];
        let end = |row: usize| offsets[row + 1] as usize;
        match self.as_contains() {
            Some((first, others)) if rows > 0 => {
                let start = offsets[0] as usize;
                search_run(first, others, heap, start, rows, end, |row| {
                    fresh[row / 64] |= 1 << (row % 64)
                });
            }
            _ => {
                for row in 0..rows {
                    let text = &heap[offsets[row] as usize..end(row)];
                    fresh[row / 64] |= u64::from(self.matches(text)) << (row % 64);
                }
            }
        }
        for (word, fresh) in out.iter_mut().zip(fresh) {
            *word = combine.apply(*word, fresh);
        }
    }

    /// Matches each string into a byte, 1 for a match. Strings that lie one after the other in memory
    /// are searched in one go. NULLs (`validity` byte 0) are not looked at and yield 0.
    ///
    /// # Safety
    /// The bytes of every string that is not NULL must be alive.
    pub unsafe fn match_strings(
        &self,
        isa: Isa,
        strings: &[StringRef],
        validity: Option<&[u8]>,
        out: &mut [u8],
    ) {
        let out = &mut out[..strings.len()];
        out.fill(0);
        counters::enter(Kernel::Like, isa);
        let mut row = 0;
        while row < strings.len() {
            if validity.is_some_and(|v| v[row] == 0) {
                row += 1;
                continue;
            }
            let run = match (validity, self.as_contains()) {
                (None, Some(_)) => adjacent(&strings[row..]),
                _ => 1,
            };
            match self.as_contains() {
                Some((first, others)) if run >= SHORTEST_RUN => {
                    let strings = &strings[row..row + run];
                    let start = address(strings[0]);
                    let end = |i: usize| address(strings[i]) - start + strings[i].len();
                    // SAFETY: the strings of a run are alive and without gaps, so these bytes are theirs.
                    let heap = unsafe { std::slice::from_raw_parts(start as *const u8, end(run - 1)) };
                    let out = &mut out[row..row + run];
                    search_run(first, others, heap, 0, run, end, |i| out[i] = 1);
                }
                // SAFETY: by contract.
                _ => out[row] = u8::from(self.matches(unsafe { strings[row].bytes() })),
            }
            row += if run >= SHORTEST_RUN { run } else { 1 };
        }
    }
}

fn address(string: StringRef) -> usize {
    (string.tail & !TRANSIENT_BIT) as usize
}

/// How many of the first strings are held by pointer and follow each other without a gap.
fn adjacent(strings: &[StringRef]) -> usize {
    if strings[0].is_inline() {
        return 1;
    }
    let follows =
        |pair: &&[StringRef]| !pair[1].is_inline() && address(pair[1]) == address(pair[0]) + pair[0].len();
    1 + strings.windows(2).take_while(follows).count()
}

/// Calls `hit` for each of `rows` strings in which `first` and then `others` are found. String `i`
/// ends at `end(i)` and begins where the one before ends, the first at `start`.
fn search_run(
    first: &Finder<'static>,
    others: &[Finder<'static>],
    heap: &[u8],
    start: usize,
    rows: usize,
    end: impl Fn(usize) -> usize,
    mut hit: impl FnMut(usize),
) {
    let needle = first.needle().len();
    let heap = &heap[..end(rows - 1)];
    let (mut at, mut row) = (start, 0);
    while let Some(found) = heap.get(at..).and_then(|rest| first.find(rest)) {
        let position = at + found;
        while end(row) <= position {
            row += 1;
        }
        let row_end = end(row);
        if position + needle > row_end {
            // It straddles two strings.
            at = position + 1;
            continue;
        }
        if find_in_order(others, &heap[position + needle..row_end]) {
            hit(row);
        }
        at = row_end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(pattern: &[char], text: &[char]) -> bool {
        match (pattern.first(), text.first()) {
            (None, None) => true,
            (Some('%'), _) => naive(&pattern[1..], text) || (!text.is_empty() && naive(pattern, &text[1..])),
            (Some('_'), Some(_)) => naive(&pattern[1..], &text[1..]),
            (Some(p), Some(t)) if p == t => naive(&pattern[1..], &text[1..]),
            _ => false,
        }
    }

    fn check(pattern: &str, texts: &[String]) {
        let compiled = LikePattern::compile(pattern, None).unwrap();
        let chars = |s: &str| s.chars().collect::<Vec<_>>();
        let expected: Vec<bool> = texts.iter().map(|t| naive(&chars(pattern), &chars(t))).collect();
        let heap = texts.concat().into_bytes();
        let mut offsets = vec![0u32];
        texts
            .iter()
            .for_each(|t| offsets.push(offsets[offsets.len() - 1] + t.len() as u32));
        let mut bits = vec![!0u64; texts.len().div_ceil(64)];
        compiled.match_heap(Isa::detect(), &heap, &offsets, Combine::Replace, &mut bits);
        let refs: Vec<StringRef> = offsets
            .windows(2)
            // SAFETY: `heap` outlives the references.
            .map(|o| unsafe { StringRef::new(&heap[o[0] as usize..o[1] as usize]) })
            .collect();
        let mut bytes = vec![9; texts.len()];
        // SAFETY: as above.
        unsafe { compiled.match_strings(Isa::detect(), &refs, None, &mut bytes) };
        for (i, text) in texts.iter().enumerate() {
            assert_eq!(
                compiled.matches(text.as_bytes()),
                expected[i],
                "{pattern} on {text}"
            );
            assert_eq!(
                bits[i / 64] >> (i % 64) & 1 == 1,
                expected[i],
                "{pattern} on {text} in the heap"
            );
            assert_eq!(bytes[i] == 1, expected[i], "{pattern} on {text} in the vector");
        }
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_the_naive_matcher(
            pattern in "[ab%_é]{0,7}",
            texts in proptest::collection::vec("[abé]{0,24}", 0..100),
        ) {
            check(&pattern, &texts);
        }
    }

    #[test]
    fn finds_needles_in_order_but_not_across_strings() {
        let texts: Vec<String> = [
            "the special packages and requests wait",
            "requests that are special in themselves",
            "no such thing in this comment: speci",
            "al requests begin the next string here",
            "special",
            "special requests",
        ]
        .map(String::from)
        .to_vec();
        check("%special%requests%", &texts);
        check("the%special%wait", &texts);
        check("special", &texts);
        check("spec%", &texts);
    }

    #[test]
    fn escapes_and_their_end() {
        let percent = LikePattern::compile("10\\%%", Some('\\')).unwrap();
        assert!(percent.matches(b"10% off") && !percent.matches(b"100 off"));
        assert_eq!(percent.as_prefix(), Some(&b"10%"[..]));
        let error = LikePattern::compile("ab\\", Some('\\')).unwrap_err();
        assert_eq!(error.state().0, "22025");
        assert_eq!(
            LikePattern::compile("abc", None).unwrap().as_exact(),
            Some(&b"abc"[..])
        );
    }
}
