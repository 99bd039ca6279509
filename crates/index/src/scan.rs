//! Reading: the rows of a key, and ranges in both directions.

use crate::node::Visit;
use crate::ordered_index::{Direction, KeyRange};
use crate::probe::Probe;
use crate::tree::{Fences, Side, Tree};
use frazil_types::RowId;

/// Rows of a key that are read without allocation.
const FEW_ROWS: usize = 8;

/// Entries copied from a leaf, in ascending order.
#[derive(Default)]
struct Copied {
    /// The words of all keys, one behind the other.
    words: Vec<u64>,
    /// Row id of each entry, and the end of its key in `words`.
    entries: Vec<(u64, usize)>,
}

impl Copied {
    /// The key of an entry as bytes, in `out`.
    fn key(&self, entry: usize, out: &mut Vec<u8>) {
        let start = entry.checked_sub(1).map_or(0, |before| self.entries[before].1);
        out.clear();
        out.extend(
            self.words[start..self.entries[entry].1]
                .iter()
                .flat_map(|w| w.to_be_bytes()),
        );
    }
}

impl Tree {
    /// Shows the rows of a key until `found` gives false.
    pub(crate) fn rows_of(&self, low: &Probe, found: &mut dyn FnMut(RowId) -> bool) {
        let mut rows = [0; FEW_ROWS];
        let count = loop {
            let (leaf, beyond) = self.leaf_of_key(low);
            let copied = self.copy_rows(&leaf, beyond, low, &mut rows);
            if let Some(copied) = copied.filter(|_| leaf.is_valid()) {
                break copied;
            }
        };
        if let Some(count) = count {
            rows[..count].iter().all(|&row| found(RowId(row)));
            return;
        }
        // Many rows, or such as may go on in the next leaf.
        let mut high = low.clone();
        high.row = u64::MAX;
        self.ascend(low.clone(), Some(&high), &mut |copied| {
            copied.entries.iter().all(|&(row, _)| found(RowId(row)))
        });
    }

    /// True if the tree has the probe's entry, row id included.
    pub(crate) fn has_entry(&self, probe: &Probe) -> bool {
        loop {
            let leaf = self.leaf(probe, Side::Right, None);
            let found = self.is_in(&leaf, probe);
            if let Some(found) = found.filter(|_| leaf.is_valid()) {
                return found;
            }
        }
    }

    /// True if a leaf has the probe's entry. `None`: start again.
    fn is_in(&self, leaf: &Visit<'_>, probe: &Probe) -> Option<bool> {
        let at = self.position(leaf, probe, Side::Left)?;
        let is_row = at < leaf.count && leaf.row(&self.layout, at) == probe.row;
        Some(is_row && self.has_key(leaf, at, probe)?)
    }

    /// Copies the rows of a key from a leaf; how many, or `Some(None)` if there are more, or may be in the next leaf. `None`: start
    /// again.
    #[inline]
    fn copy_rows(
        &self,
        leaf: &Visit<'_>,
        beyond: bool,
        low: &Probe,
        rows: &mut [u64; FEW_ROWS],
    ) -> Option<Option<usize>> {
        let first = self.position(leaf, low, Side::Left)?;
        let mut count = 0;
        loop {
            let at = first + count;
            if at == leaf.count {
                return Some((!beyond).then_some(count));
            }
            if !self.has_key(leaf, at, low)? {
                return Some(Some(count));
            }
            if count == FEW_ROWS {
                return Some(None);
            }
            rows[count] = leaf.row(&self.layout, at);
            count += 1;
        }
    }

    /// Shows the entries of a range.
    pub(crate) fn scan(
        &self,
        range: KeyRange<'_>,
        direction: Direction,
        found: &mut dyn FnMut(&[u8], RowId) -> bool,
    ) {
        let from = range.from.map(|key| self.probe(key, 0));
        let to = range.to.map(|key| self.probe(key, 0));
        let mut key = Vec::new();
        let mut show = |copied: &Copied, entry: usize| {
            copied.key(entry, &mut key);
            found(&key, RowId(copied.entries[entry].0))
        };
        match direction {
            Direction::Ascending => {
                let from = from.unwrap_or_else(|| self.probe(&[], 0));
                self.ascend(from, to.as_ref(), &mut |copied| {
                    (0..copied.entries.len()).all(|i| show(copied, i))
                });
            }
            Direction::Descending => self.descend(from.as_ref(), to, &mut |copied| {
                (0..copied.entries.len()).rev().all(|i| show(copied, i))
            }),
        }
    }

    /// Shows the entries from `from` on and below `to`, leaf by leaf.
    fn ascend(&self, mut from: Probe, to: Option<&Probe>, show: &mut dyn FnMut(&Copied) -> bool) {
        let mut fences = Fences::default();
        let mut copied = Copied::default();
        loop {
            let leaf = self.leaf(&from, Side::Right, Some(&mut fences));
            if self.copy_range(&leaf, Some(&from), to, &mut copied).is_none() || !leaf.is_valid() {
                continue;
            }
            if !show(&copied) {
                return;
            }
            match fences.upper.take() {
                Some(upper) if to.is_none_or(|to| less(&upper, to)) => from = upper,
                _ => return,
            }
        }
    }

    /// Shows the entries from `from` on and below `to`, leaf by leaf from the last one.
    fn descend(&self, from: Option<&Probe>, mut to: Option<Probe>, show: &mut dyn FnMut(&Copied) -> bool) {
        let mut fences = Fences::default();
        let mut copied = Copied::default();
        loop {
            let leaf = match &to {
                Some(to) => self.leaf(to, Side::Left, Some(&mut fences)),
                None => self.last_leaf(&mut fences),
            };
            if self.copy_range(&leaf, from, to.as_ref(), &mut copied).is_none() || !leaf.is_valid() {
                continue;
            }
            if !show(&copied) {
                return;
            }
            match fences.lower.take() {
                Some(lower) if from.is_none_or(|from| less(from, &lower)) => to = Some(lower),
                _ => return,
            }
        }
    }

    fn last_leaf(&self, fences: &mut Fences) -> Visit<'_> {
        self.leaf(&Probe::default(), Side::Last, Some(fences))
    }

    /// Copies the entries of a leaf that lie in a range. `None`: start again.
    fn copy_range(
        &self,
        leaf: &Visit<'_>,
        from: Option<&Probe>,
        to: Option<&Probe>,
        out: &mut Copied,
    ) -> Option<()> {
        out.words.clear();
        out.entries.clear();
        let first = from.map_or(Some(0), |from| self.position(leaf, from, Side::Left))?;
        let end = to.map_or(Some(leaf.count), |to| self.position(leaf, to, Side::Left))?;
        for entry in first..end {
            self.copy_key(leaf, entry, &mut out.words)?;
            let row = leaf.row(&self.layout, entry);
            out.entries.push((row, out.words.len()));
        }
        Some(())
    }
}

/// True if one entry stands before another.
fn less(a: &Probe, b: &Probe) -> bool {
    let (x, y) = (a.words(), b.words());
    let word = |words: &[u64], i: usize| words.get(i).copied().unwrap_or(0);
    let unequal = (0..x.len().max(y.len())).find(|&i| word(x, i) != word(y, i));
    match unequal {
        Some(i) => word(x, i) < word(y, i),
        None => a.row < b.row,
    }
}
