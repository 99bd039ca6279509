//! An order of rows: keys packed into one word, and a sort of words on all workers. Windows and the lists of groups are
//! sorted by it.
//!
//! A key is packed as its distance from the least one there is, so that most keys fit into 64 bits together, and the order
//! of words is the order of rows. Where they do not fit, equal words are compared row by row. Entries are first scattered
//! by the highest bits of their words into buckets that fit a cache, which are then sorted one by one.

mod packed_key;
mod words;

use super::array::Array;
use crate::breakers::Workers;
use crate::breakers::run_borrowed::run_borrowed;
use crate::breakers::sorter::sorted_rows::{SortField, Sorter, compare_fields, polling, unless_canceled};
use crate::row_layout::RowLayout;
use frazil_types::{Cancel, Result};
use packed_key::{Extent, PackedKey};
use std::cmp::Ordering;
use std::sync::Mutex;
use words::{FEWEST_BY_DIGITS, sort_words};

/// Entries that a task packs or scatters.
const PART: usize = 64 << 10;
/// Entries of a bucket, about: 16 bytes each, in the second-level cache.
const BUCKET: usize = 8 << 10;
/// Most bits of a word by which entries are scattered.
const MOST_DIGITS: u32 = 12;
/// Bits of a word.
const WORD: u32 = 64;
/// A row with its packed key.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    /// The key, from the highest bit down.
    pub key: u64,
    /// The row.
    pub row: *mut u8,
}

// SAFETY: the rows are owned by the sorters of the statement that holds the entries, and each task writes rows of its own.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

/// A place of a slice that tasks write, each its own places.
pub struct Shared<T>(*mut T);

// SAFETY: whoever writes through it writes places that no other task touches.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    /// The places of a slice.
    pub fn new(slice: &mut [T]) -> Shared<T> {
        Shared(slice.as_mut_ptr())
    }

    /// Places `from..from + len`.
    ///
    /// # Safety
    /// They lie in the slice, which is alive, and nobody else uses them.
    #[allow(clippy::mut_from_ref, reason = "each task has places of its own")]
    pub unsafe fn part(&self, from: usize, len: usize) -> &mut [T] {
        // SAFETY: by contract.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(from), len) }
    }
}

/// Entries of all rows, their keys not packed yet. Error 53200.
pub fn entries(sorters: &[Sorter], workers: &dyn Workers) -> Result<Array<Entry>> {
    let rows: usize = sorters.iter().map(|s| s.pages.rows()).sum();
    // SAFETY: an entry is two words of any bits; all are written before a row is looked at.
    let mut entries = unsafe { Array::<Entry>::stale(rows, workers.budget())? };
    let all = sorters.iter().flat_map(|s| s.pages.iter());
    for (entry, row) in entries.iter_mut().zip(all) {
        *entry = Entry { key: 0, row };
    }
    Ok(entries)
}

/// The order of some rows.
#[derive(Debug)]
pub struct Order<'a> {
    /// How rows look.
    pub layout: &'a RowLayout,
    /// Its keys.
    pub fields: &'a [SortField],
    keys: Vec<PackedKey>,
    /// Whether words hold all keys whole.
    is_exact: bool,
}

/// Brings the entries that are wanted of some, whose words are packed, to the front, and says how many they are.
pub type Keep<'a> = &'a (dyn Fn(&mut [Entry]) -> Result<usize> + Sync);

/// What tells rows of one partition, or peers, from the next ones.
#[derive(Clone, Copy, Debug)]
pub enum Boundary {
    /// Nothing: all rows are alike.
    None,
    /// Words without so many of their lowest bits.
    Bits(u32),
    /// So many keys of the rows.
    Keys(usize),
}

impl<'a> Order<'a> {
    /// The order of some rows by keys; their entries' keys are not packed yet.
    pub fn of(
        layout: &'a RowLayout,
        fields: &'a [SortField],
        entries: &[Entry],
        workers: &dyn Workers,
    ) -> Result<Order<'a>> {
        if entries.len() <= PART {
            // SAFETY: live rows of the layout.
            let extents = fields
                .iter()
                .map(|key| unsafe { Extent::of(&layout.fields[key.field], entries) });
            // SAFETY: as above.
            return Ok(unsafe { Order::with(layout, fields, extents) });
        }
        let parts = entries.len().div_ceil(PART);
        let found: Vec<Mutex<Vec<Extent>>> = (0..parts).map(|_| Mutex::default()).collect();
        run_borrowed(workers, parts, &|part| {
            let rows = &entries[part * PART..entries.len().min((part + 1) * PART)];
            let extents = fields.iter().map(|key| {
                // SAFETY: live rows of the layout.
                unsafe { Extent::of(&layout.fields[key.field], rows) }
            });
            *found[part].lock().unwrap_or_else(|e| e.into_inner()) = extents.collect();
            Ok(())
        })?;
        let mut extents = vec![Extent::NOTHING; fields.len()];
        for part in found {
            let part = part.into_inner().unwrap_or_else(|e| e.into_inner());
            for (extent, more) in extents.iter_mut().zip(part) {
                // SAFETY: the strings of live rows are alive.
                *extent = unsafe { extent.and(more) };
            }
        }
        // SAFETY: as above.
        Ok(unsafe { Order::with(layout, fields, extents.into_iter()) })
    }

    /// # Safety
    /// The strings of the extents must be alive.
    unsafe fn with(
        layout: &'a RowLayout,
        fields: &'a [SortField],
        extents: impl Iterator<Item = Extent>,
    ) -> Order<'a> {
        let mut are_whole = true;
        let keys: Vec<PackedKey> = (fields.iter().zip(extents))
            .map(|(key, extent)| {
                // SAFETY: by contract.
                let key = unsafe { PackedKey::new(*key, layout.fields[key.field], extent) };
                // Behind a key whose values are cut off no other one may decide.
                let goes_on = are_whole && key.is_exact;
                match std::mem::replace(&mut are_whole, goes_on) {
                    true => key,
                    false => key.unpacked(),
                }
            })
            .collect();
        let bits: u32 = keys.iter().map(PackedKey::bits).sum();
        Order {
            layout,
            fields,
            is_exact: bits <= WORD && keys.iter().all(|k| k.is_exact),
            keys,
        }
    }

    /// The word of a row.
    ///
    /// # Safety
    /// A live row of the layout, its strings alive.
    unsafe fn word(&self, row: *const u8) -> u64 {
        let (mut word, mut used) = (0_u64, 0);
        let mut push = |bits: u128, width: u32| {
            let taken = width.min(WORD - used);
            if taken > 0 {
                word |= ((bits >> (width - taken)) as u64) << (WORD - used - taken);
                used += taken;
            }
        };
        for key in &self.keys {
            // SAFETY: by contract.
            let valid = unsafe { key.place.is_valid(row) };
            if key.null_bits > 0 {
                push(u128::from(valid == key.field.nulls_first), 1);
            }
            let distance = match valid {
                // SAFETY: by contract.
                true => match (unsafe { key.value(row) }, key.field.descending) {
                    (bits, false) => bits - key.least,
                    (bits, true) => key.greatest - bits,
                },
                false => 0,
            };
            push(distance, key.value_bits);
        }
        word
    }

    fn compare(&self, a: &Entry, b: &Entry) -> Ordering {
        match a.key.cmp(&b.key) {
            Ordering::Equal if self.is_exact => Ordering::Equal,
            // SAFETY: live rows of the layout.
            Ordering::Equal => unsafe { compare_fields(self.layout, self.fields, a.row, b.row) },
            order => order,
        }
    }

    /// Whether entries of equal words are peers.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// What tells rows that are equal in the first `keys` keys from others.
    pub fn boundary(&self, keys: usize) -> Boundary {
        let bits: u32 = self.keys[..keys].iter().map(PackedKey::bits).sum();
        match keys {
            0 => Boundary::None,
            _ if bits <= WORD && self.keys[..keys].iter().all(|k| k.is_exact) => match bits {
                0 => Boundary::None,
                bits => Boundary::Bits(WORD - bits),
            },
            _ => Boundary::Keys(keys),
        }
    }

    /// Whether two neighbours differ.
    pub fn differ(&self, boundary: &Boundary, a: &Entry, b: &Entry) -> bool {
        match *boundary {
            Boundary::None => false,
            Boundary::Bits(below) => (a.key ^ b.key) >> below != 0,
            // SAFETY: live rows of the layout.
            Boundary::Keys(keys) => unsafe {
                compare_fields(self.layout, &self.fields[..keys], a.row, b.row).is_ne()
            },
        }
    }

    /// Packs the keys of the first `rows` entries, and sorts those; what is behind them is lost. Errors: 53200, 57014.
    pub fn sort(&self, entries: &mut Array<Entry>, rows: usize, workers: &dyn Workers) -> Result<()> {
        self.sort_some(entries, rows, &|bucket| Ok(bucket.len()), workers)
            .map(drop)
    }

    /// [`Order::sort`] of those entries that `keep` leaves of buckets; how many they are. Errors: 53200, 57014, those of `keep`.
    pub fn sort_some(
        &self,
        entries: &mut Array<Entry>,
        rows: usize,
        keep: Keep<'_>,
        workers: &dyn Workers,
    ) -> Result<usize> {
        if self.keys.is_empty() {
            return Ok(rows);
        }
        self.pack(&mut entries[..rows], workers)?;
        let used: u32 = self.keys.iter().map(PackedKey::bits).sum::<u32>().min(WORD);
        let wanted = (rows / BUCKET).max(1).ilog2();
        let digits = wanted.min(used).min(MOST_DIGITS);
        if digits == 0 {
            // Few entries, or words without a bit: those are not sorted by digits.
            let spare = if rows < FEWEST_BY_DIGITS {
                0
            } else {
                rows.min(2 * BUCKET)
            };
            let mut spare = entries[..spare].to_vec();
            self.sort_alone(&mut entries[..rows], &mut spare, workers.cancel())?;
            return Ok(rows);
        }
        let (bounds, mut spare) = self.scatter(entries, rows, digits, workers)?;
        let (shared, cancel) = (Shared::new(entries), workers.cancel());
        let spare = Shared::new(&mut spare);
        let mut kept = vec![0; bounds.len() - 1];
        let shared_kept = Shared::new(&mut kept);
        run_borrowed(workers, bounds.len() - 1, &|bucket| {
            let (from, to) = (bounds[bucket], bounds[bucket + 1]);
            // SAFETY: each task has its own bucket, and its own count.
            let (bucket, spare, kept) = unsafe {
                (
                    shared.part(from, to - from),
                    spare.part(from, to - from),
                    &mut shared_kept.part(bucket, 1)[0],
                )
            };
            *kept = keep(bucket)?;
            self.sort_alone(&mut bucket[..*kept], spare, cancel)
        })?;
        let mut end = 0;
        for (from, kept) in bounds.iter().zip(kept) {
            if *from > end {
                entries.copy_within(*from..*from + kept, end);
            }
            end += kept;
        }
        Ok(end)
    }

    /// Packs the keys of entries, and brings those of some ranks, which ascend, to their places. Errors: 57014.
    pub fn select(&self, entries: &mut [Entry], ranks: &[usize], workers: &dyn Workers) -> Result<()> {
        self.pack(entries, workers)?;
        let mut from = 0;
        for rank in ranks {
            workers.cancel().check()?;
            let rest = &mut entries[from..];
            if self.is_exact {
                rest.select_nth_unstable_by_key(rank - from, |e| e.key);
            } else {
                let cancel = workers.cancel();
                unless_canceled(cancel, || {
                    let compare = polling(cancel, |a: &Entry, b: &Entry| self.compare(a, b));
                    rest.select_nth_unstable_by(rank - from, compare);
                })?;
            }
            from = *rank;
        }
        Ok(())
    }

    fn pack(&self, entries: &mut [Entry], workers: &dyn Workers) -> Result<()> {
        let rows = entries.len();
        if rows <= PART {
            for entry in entries {
                // SAFETY: live rows of the layout.
                entry.key = unsafe { self.word(entry.row) };
            }
            return Ok(());
        }
        let all = Shared::new(entries);
        run_borrowed(workers, rows.div_ceil(PART), &|part| {
            let from = part * PART;
            // SAFETY: each task has its own part.
            for entry in unsafe { all.part(from, PART.min(rows - from)) } {
                // SAFETY: live rows of the layout.
                entry.key = unsafe { self.word(entry.row) };
            }
            Ok(())
        })
    }

    /// Sorts entries, whose words are packed. `spare` has as many entries, of any value, unless all words are equal.
    /// Error 57014.
    fn sort_alone(&self, entries: &mut [Entry], spare: &mut [Entry], cancel: &Cancel) -> Result<()> {
        sort_words(entries, spare, cancel)?;
        if self.is_exact {
            return Ok(());
        }
        unless_canceled(cancel, || {
            let mut order = polling(cancel, |a: &Entry, b: &Entry| self.compare(a, b));
            for alike in entries.chunk_by_mut(|a, b| a.key == b.key) {
                if alike.len() > 1 {
                    alike.sort_unstable_by(&mut order);
                }
            }
        })
    }

    /// Brings the first `rows` entries into buckets by the highest `digits` bits of their words. Returns where each bucket
    /// begins, and the end; and the array in which the entries were. Errors: 53200, 57014.
    fn scatter(
        &self,
        entries: &mut Array<Entry>,
        rows: usize,
        digits: u32,
        workers: &dyn Workers,
    ) -> Result<(Vec<usize>, Array<Entry>)> {
        let buckets = 1_usize << digits;
        let parts = workers.threads().clamp(1, rows.div_ceil(PART));
        let rows_a_part = rows.div_ceil(parts);
        let part_of = |part: usize| part * rows_a_part..rows.min((part + 1) * rows_a_part);
        let bucket_of = |entry: &Entry| (entry.key >> (WORD - digits)) as usize;
        let mut counts = vec![0_usize; parts * buckets];
        let shared = Shared::new(&mut counts);
        run_borrowed(workers, parts, &|part| {
            // SAFETY: each part has its own counts.
            let counts = unsafe { shared.part(part * buckets, buckets) };
            entries[part_of(part)]
                .iter()
                .for_each(|e| counts[bucket_of(e)] += 1);
            Ok(())
        })?;
        // Places of the parts' entries in each bucket.
        let mut bounds = Vec::with_capacity(buckets + 1);
        let mut next = 0;
        for bucket in 0..buckets {
            bounds.push(next);
            for part in 0..parts {
                next += std::mem::replace(&mut counts[part * buckets + bucket], next);
            }
        }
        bounds.push(rows);
        // SAFETY: an entry is two words of any bits; every place is written below.
        let mut sorted = unsafe { Array::<Entry>::stale(rows, workers.budget())? };
        let out = Shared::new(&mut sorted);
        let shared = Shared::new(&mut counts);
        run_borrowed(workers, parts, &|part| {
            // SAFETY: each part has its own counts.
            let places = unsafe { shared.part(part * buckets, buckets) };
            for entry in &entries[part_of(part)] {
                let place = &mut places[bucket_of(entry)];
                // SAFETY: the place is this entry's alone.
                unsafe { out.part(*place, 1)[0] = *entry };
                *place += 1;
            }
            Ok(())
        })?;
        let spare = std::mem::replace(entries, sorted);
        Ok((bounds, spare))
    }
}

/// Moves the entries that are not the same as the one before them to the front; gives how many they are.
pub fn without_repetition(entries: &mut [Entry], same: impl Fn(&Entry, &Entry) -> bool) -> usize {
    let mut kept = 0;
    for at in 0..entries.len() {
        if at == 0 || !same(&entries[kept - 1], &entries[at]) {
            entries[kept] = entries[at];
            kept += 1;
        }
    }
    kept
}
