//! Merging what a transaction did to a chunk into the newest version of the chunk.
//!
//! A version of a chunk shows a slot or hides it. Hidden slots are marked, or lie behind the last slot that the version
//! knows. A transaction shows the slots that it filled, and hides rows that it deleted. Nobody else changes these
//! slots until the transaction ends: rows are claimed before they are deleted, and a slot is handed out once. So the
//! merged version hides a slot as the newest version does, unless the transaction's version differs there from the
//! version that it is made of.
//!
//! Slots are compared 64 at a time, and pages of marks that the transaction has not touched are passed over. So a
//! merge costs what was touched in the chunk, however many statements did it.

use crate::deleted_rows::{DeletedRows, different_words};
use frazil_types::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// The slots that a version of a chunk knows, and those of them that it marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownSlots<'a> {
    /// Number of slots.
    pub rows: u32,
    /// Marked slots; `None`: none.
    pub marks: Option<&'a DeletedRows>,
}

impl KnownSlots<'_> {
    /// Returns the 64 slots of a word as bits, set for those that are hidden.
    fn hidden(&self, word: usize) -> u64 {
        self.marked(word) | behind(self.rows, word)
    }

    /// Returns the 64 slots of a word as bits, set for those that are marked.
    fn marked(&self, word: usize) -> u64 {
        self.marks.map_or(0, |marks| marks.word(word))
    }
}

/// The slots of a word from slot `rows` on.
fn behind(rows: u32, word: usize) -> u64 {
    let known = (rows as usize).saturating_sub(64 * word);
    u64::MAX.checked_shl(known.min(64) as u32).unwrap_or(0)
}

/// The words that have some of these slots.
fn words_of(slots: Range<u32>) -> Range<usize> {
    match slots.is_empty() {
        true => 0..0,
        false => slots.start as usize / 64..(slots.end as usize).div_ceil(64),
    }
}

/// Merges the difference between `own`, the version of a transaction, and `base`, which it is made of, into the newest
/// version, of which `rows` slots are known and `marks` are marked. Returns the number of slots that are known then. An
/// internal error if others have deleted a row that the transaction deleted, or filled a slot that it filled.
pub(crate) fn merge_slots(
    (rows, marks): (u32, &mut Option<Arc<DeletedRows>>),
    base: KnownSlots<'_>,
    own: KnownSlots<'_>,
) -> Result<u32> {
    let before = marks.clone();
    let newest = KnownSlots {
        rows,
        marks: before.as_deref(),
    };
    let rows = newest.rows.max(own.rows);
    // The newest version knows all slots that the base does.
    let touched = different_words(base.marks, own.marks).chain(words_of(base.rows..own.rows));
    for word in touched {
        let (of_base, of_own, of_newest) = (base.hidden(word), own.hidden(word), newest.hidden(word));
        let (shown, deleted) = (of_base & !of_own, of_own & !of_base);
        if deleted & of_newest != 0 {
            return Err(Error::internal("two transactions deleted a row"));
        }
        if shown & !of_newest != 0 {
            return Err(Error::internal("two transactions filled a slot"));
        }
        let kept = of_newest & !shown;
        let merged = (kept | deleted) & !behind(rows, word);
        if merged != newest.marked(word) {
            Arc::make_mut(marks.get_or_insert_default()).set_word(word, merged);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_testkit::Random;
    use std::collections::BTreeSet;

    fn marks(of: &BTreeSet<u16>) -> Option<Arc<DeletedRows>> {
        let mut marks = DeletedRows::default();
        of.iter().for_each(|&slot| {
            marks.mark(slot);
        });
        Some(Arc::new(marks)).filter(|marks| marks.count() > 0)
    }

    /// A version: the number of slots, and those that are marked.
    type Version = (u32, BTreeSet<u16>);

    fn known<'a>(version: &Version, marks: &'a Option<Arc<DeletedRows>>) -> KnownSlots<'a> {
        KnownSlots {
            rows: version.0,
            marks: marks.as_deref(),
        }
    }

    /// Appends slots behind `taken`, shows some of them, and deletes rows that are live.
    fn write(version: &mut Version, taken: &mut u32, may_delete: impl Fn(u16) -> bool, random: &mut Random) {
        for _ in 0..random.below(4) {
            let slots = *taken..(*taken + 1 + random.below(100) as u32).min(65_536);
            *taken = slots.end;
            if slots.is_empty() || random.below(4) == 0 {
                // Others fill them, or nobody does.
                continue;
            }
            version.1.extend((version.0..slots.start).map(|slot| slot as u16));
            version.0 = slots.end;
        }
        let live: Vec<u16> = (0..version.0).map(|slot| slot as u16).collect();
        for _ in 0..random.below(40).min(live.len() as u64) {
            let slot = live[random.index(live.len())];
            if may_delete(slot) {
                version.1.insert(slot);
            }
        }
    }

    #[test]
    fn a_merge_has_what_both_did() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let mut taken = [0, 63, 64, 20_000, 65_500][random.index(5)];
            let mut base: Version = (taken, BTreeSet::new());
            write(&mut base, &mut taken, |_| true, &mut random);
            let (mut own, mut newest) = (base.clone(), base.clone());
            // Slots of the base that it marks as others' are shown by one of both.
            for &slot in &base.1 {
                match random.below(3) {
                    0 => own.1.remove(&slot),
                    1 => newest.1.remove(&slot),
                    _ => false,
                };
            }
            let is_even = |slot: u16| slot.is_multiple_of(2);
            let was_live = |slot: u16| u32::from(slot) < base.0 && !base.1.contains(&slot);
            match random.below(2) {
                0 => {
                    write(&mut own, &mut taken, is_even, &mut random);
                    write(
                        &mut newest,
                        &mut taken,
                        |slot| !is_even(slot) || !was_live(slot),
                        &mut random,
                    );
                }
                _ => {
                    write(
                        &mut newest,
                        &mut taken,
                        |slot| !is_even(slot) || !was_live(slot),
                        &mut random,
                    );
                    write(&mut own, &mut taken, is_even, &mut random);
                }
            }
            let is_hidden =
                |version: &Version, slot: u32| slot >= version.0 || version.1.contains(&(slot as u16));
            let rows = own.0.max(newest.0);
            let expected: BTreeSet<u16> = (0..rows)
                .filter(|&slot| match is_hidden(&own, slot) == is_hidden(&base, slot) {
                    true => is_hidden(&newest, slot),
                    false => is_hidden(&own, slot),
                })
                .map(|slot| slot as u16)
                .collect();
            let (base_marks, own_marks, mut merged) = (marks(&base.1), marks(&own.1), marks(&newest.1));
            let merged_rows = merge_slots(
                (newest.0, &mut merged),
                known(&base, &base_marks),
                known(&own, &own_marks),
            );
            assert_eq!(merged_rows.unwrap(), rows);
            let found: BTreeSet<u16> = merged.iter().flat_map(|marks| marks.iter()).collect();
            assert_eq!(found, expected, "seed {seed}");
            let counted = merged.map_or(0, |marks| marks.count());
            assert_eq!(counted as usize, expected.len());
        }
    }

    #[test]
    fn a_slot_that_both_changed_is_an_error() {
        let merge = |base: &Version, own: &Version, newest: &Version| {
            let (base_marks, own_marks, mut merged) = (marks(&base.1), marks(&own.1), marks(&newest.1));
            let merged = merge_slots(
                (newest.0, &mut merged),
                known(base, &base_marks),
                known(own, &own_marks),
            );
            merged.map_err(|error| error.message().to_string())
        };
        let (live, deleted) = ((100, BTreeSet::new()), (100, BTreeSet::from([70])));
        assert_eq!(
            merge(&live, &deleted, &deleted),
            Err("two transactions deleted a row".to_string())
        );
        assert_eq!(
            merge(&deleted, &live, &live),
            Err("two transactions filled a slot".to_string())
        );
        assert_eq!(merge(&live, &deleted, &live), Ok(100));
    }
}
