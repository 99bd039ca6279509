//! The slots of a chunk that one version of a table marks: their rows were deleted, or the version does not know
//! them to be committed. Who reads treats both alike.

use frazil_types::CHUNK_ROWS;
use std::sync::Arc;

/// Words of a page: one of 16,384 rows takes 2 KiB, so that deleting a row does not copy a bit for each of the chunk. Smaller ones
/// are copied sooner, but a version counts a reference to each.
const PAGE_WORDS: usize = 256;
const PAGES: usize = CHUNK_ROWS / 64 / PAGE_WORDS;

/// A bit for each row of a chunk's capacity. A clone shares the pages, a change copies one.
#[derive(Clone, Debug, Default)]
pub struct DeletedRows {
    /// Page `p` is about the rows from `p * 16384` on; `None`: none of them is deleted.
    pages: [Option<Arc<[u64; PAGE_WORDS]>>; PAGES],
    count: u32,
}

impl DeletedRows {
    /// The rows whose bits are set in 1,024 words, the first row in the least significant bit of the first word.
    /// Words beyond those are ignored.
    pub fn from_words(words: impl Iterator<Item = u64>) -> DeletedRows {
        let mut deleted = DeletedRows::default();
        for (i, word) in words.take(CHUNK_ROWS / 64).enumerate().filter(|(_, w)| *w != 0) {
            let page = deleted.pages[i / PAGE_WORDS].get_or_insert_with(|| Arc::new([0; PAGE_WORDS]));
            Arc::make_mut(page)[i % PAGE_WORDS] = word;
            deleted.count += word.count_ones();
        }
        deleted
    }

    /// The 1,024 words that [`DeletedRows::from_words`] takes.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        const NONE: &[u64; PAGE_WORDS] = &[0; PAGE_WORDS];
        (self.pages.iter()).flat_map(|page| page.as_deref().unwrap_or(NONE).iter().copied())
    }

    /// Number of deleted rows.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether the row at an offset is deleted.
    pub fn contains(&self, offset: usize) -> bool {
        let page = self.pages[offset / 64 / PAGE_WORDS].as_deref();
        page.is_some_and(|page| page[offset / 64 % PAGE_WORDS] >> (offset % 64) & 1 == 1)
    }

    /// Offsets of the deleted rows, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u16> {
        (self.words().enumerate()).flat_map(|(i, word)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            let words = std::iter::successors(Some(word).filter(|word| *word != 0), rest);
            words.map(move |word| (i * 64) as u16 + word.trailing_zeros() as u16)
        })
    }

    /// Marks a row; whether it had not been deleted before.
    pub(crate) fn mark(&mut self, offset: u16) -> bool {
        let (word, bit) = (usize::from(offset) / 64, 1 << (offset % 64));
        let page = self.pages[word / PAGE_WORDS].get_or_insert_with(|| Arc::new([0; PAGE_WORDS]));
        if page[word % PAGE_WORDS] & bit != 0 {
            return false;
        }
        Arc::make_mut(page)[word % PAGE_WORDS] |= bit;
        self.count += 1;
        true
    }

    /// Clears the mark of a row.
    pub(crate) fn unmark(&mut self, offset: u16) {
        let (word, bit) = (usize::from(offset) / 64, 1 << (offset % 64));
        let Some(page) = &mut self.pages[word / PAGE_WORDS] else {
            return;
        };
        if page[word % PAGE_WORDS] & bit != 0 {
            Arc::make_mut(page)[word % PAGE_WORDS] &= !bit;
            self.count -= 1;
        }
    }

    /// Returns 64 slots as bits, from slot `64 * word` on: those that are marked.
    pub(crate) fn word(&self, word: usize) -> u64 {
        let page = self.pages[word / PAGE_WORDS].as_deref();
        page.map_or(0, |page| page[word % PAGE_WORDS])
    }

    /// Marks of 64 slots, from slot `64 * word` on, exactly those whose bits are set.
    pub(crate) fn set_word(&mut self, word: usize, marked: u64) {
        let page = self.pages[word / PAGE_WORDS].get_or_insert_with(|| Arc::new([0; PAGE_WORDS]));
        let word = &mut Arc::make_mut(page)[word % PAGE_WORDS];
        self.count = self.count - word.count_ones() + marked.count_ones();
        *word = marked;
    }

    /// Clears the bits of deleted rows in match bits of the rows from `first_word * 64` on.
    pub(crate) fn clear(&self, first_word: usize, words: &mut [u64]) {
        let mut at = first_word;
        for part in split_at_pages(first_word, words) {
            if let Some(page) = &self.pages[at / PAGE_WORDS] {
                let gone = &page[at % PAGE_WORDS..][..part.len()];
                part.iter_mut().zip(gone).for_each(|(word, gone)| *word &= !gone);
            }
            at += part.len();
        }
    }
}

/// The words of the pages that two versions of a chunk do not share: others have the same marks in both.
pub(crate) fn different_words(
    one: Option<&DeletedRows>,
    other: Option<&DeletedRows>,
) -> impl Iterator<Item = usize> {
    fn page(of: Option<&DeletedRows>, page: usize) -> Option<&Arc<[u64; PAGE_WORDS]>> {
        of.and_then(|of| of.pages[page].as_ref())
    }
    let differ = move |at: &usize| match (page(one, *at), page(other, *at)) {
        (Some(one), Some(other)) => !Arc::ptr_eq(one, other),
        (one, other) => one.is_some() || other.is_some(),
    };
    let is_same = match (one, other) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    let pages = if is_same { 0 } else { PAGES };
    (0..pages)
        .filter(differ)
        .flat_map(|page| page * PAGE_WORDS..(page + 1) * PAGE_WORDS)
}

/// The words in parts that lie in one page each.
fn split_at_pages(first_word: usize, words: &mut [u64]) -> impl Iterator<Item = &mut [u64]> {
    let begun = words
        .len()
        .min(first_word.next_multiple_of(PAGE_WORDS) - first_word);
    let (head, rest) = words.split_at_mut(begun);
    std::iter::once(head)
        .filter(|head| !head.is_empty())
        .chain(rest.chunks_mut(PAGE_WORDS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_testkit::Random;

    #[test]
    fn marks_are_counted_once_and_clear_match_bits_wherever_a_window_begins() {
        let mut random = Random::new(5);
        let mut deleted = DeletedRows::default();
        let mut expected = vec![false; CHUNK_ROWS];
        for _ in 0..3_000 {
            // One page stays empty.
            let offset = random.below(CHUNK_ROWS as u64) as usize;
            if offset / 64 / PAGE_WORDS != 2 {
                assert_eq!(deleted.mark(offset as u16), !expected[offset]);
                expected[offset] = true;
            }
        }
        let offsets: Vec<u16> = (0..CHUNK_ROWS)
            .filter(|&o| expected[o])
            .map(|o| o as u16)
            .collect();
        assert_eq!(deleted.iter().collect::<Vec<_>>(), offsets);
        assert_eq!(deleted.count() as usize, offsets.len());
        assert!((0..CHUNK_ROWS).all(|o| deleted.contains(o) == expected[o]));
        for (first, len) in [
            (0, 1024),
            (0, 1),
            (63, 2),
            (1, 1023),
            (200, 64),
            (130, 300),
            (1023, 1),
            (7, 0),
        ] {
            let mut words = vec![!0u64; len];
            deleted.clear(first, &mut words);
            for (i, word) in words.iter().enumerate() {
                let of = |bit: usize| !expected[(first + i) * 64 + bit];
                assert!((0..64).all(|bit| (word >> bit & 1 == 1) == of(bit)));
            }
        }
        let read = DeletedRows::from_words(deleted.words());
        assert_eq!(read.iter().collect::<Vec<_>>(), offsets);
        assert_eq!(read.count(), deleted.count());
        for &offset in offsets.iter().chain(&[40_000, 0]).step_by(2) {
            deleted.unmark(offset);
            deleted.unmark(offset);
        }
        let left: Vec<u16> = offsets.iter().copied().skip(1).step_by(2).collect();
        assert_eq!(deleted.iter().collect::<Vec<_>>(), left);
        assert_eq!(deleted.count() as usize, left.len());
    }

    #[test]
    fn a_clone_keeps_what_it_had() {
        let mut deleted = DeletedRows::default();
        deleted.mark(5);
        let before = deleted.clone();
        deleted.mark(6);
        deleted.mark(60_000);
        assert_eq!(before.iter().collect::<Vec<_>>(), [5]);
        assert_eq!(deleted.iter().collect::<Vec<_>>(), [5, 6, 60_000]);
    }
}
