//! An order of rows: keys packed into one word, and a sort of words on all workers. Windows and the lists of groups are
//! sorted by it.
//!
//! A key is packed as its distance from the least one there is, so that most keys fit into 64 bits together, and the order
//! of words is the order of rows. Where they do not fit, equal words are compared row by row. Entries are first scattered
//! by the highest bits of their words into buckets that fit a cache, which are then sorted one by one. Short rows may be
//! copied into the order of the buckets, too: those who read them in their order then find them in the cache.

mod packed_key;
mod words;

use super::array::Array;
use crate::breakers::Workers;
use crate::breakers::run_borrowed::run_borrowed;
use crate::breakers::sorter::sorted_rows::{SortField, Sorter, compare_fields, polling, unless_canceled};
use crate::row_layout::RowLayout;
use frazil_types::{Cancel, Error, MemoryBudget, Result};
use packed_key::{Extent, PackedKey, pack_words};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
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
    let pages = (sorters.iter())
        .flat_map(|s| (0..s.pages.pages()).map(|page| (s.pages.row_size(), s.pages.page(page))));
    let mut rest = &mut entries[..];
    for (size, (start, rows)) in pages {
        let (of_page, others) = rest.split_at_mut(rows);
        for (number, entry) in of_page.iter_mut().enumerate() {
            let row = start.wrapping_add(number * size);
            *entry = Entry { key: 0, row };
        }
        rest = others;
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
        self.sort_some(entries, rows, &|bucket| Ok(bucket.len()), None, workers)
            .map(drop)
    }

    /// [`Order::sort`], which may move the rows: see [`Order::sort_some`]. Errors: 53200, 57014.
    pub fn sort_moving(
        &self,
        entries: &mut Array<Entry>,
        rows: usize,
        moved: &mut Option<Array<u8>>,
        workers: &dyn Workers,
    ) -> Result<()> {
        self.sort_some(entries, rows, &|bucket| Ok(bucket.len()), Some(moved), workers)
            .map(drop)
    }

    /// [`Order::sort`] of those entries that `keep` leaves of buckets. Returns how many they are. If the rows
    /// may be moved and that pays, they are copied bucket by bucket into an array, which `moved` holds then:
    /// those who read them in their order find the rows of a bucket in the cache. Errors: 53200, 57014, those
    /// of `keep`.
    pub fn sort_some(
        &self,
        entries: &mut Array<Entry>,
        rows: usize,
        keep: Keep<'_>,
        moved: Option<&mut Option<Array<u8>>>,
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
        let (bounds, mut spare) = self.scatter(entries, rows, digits, moved, workers)?;
        let (shared, cancel) = (Shared::new(entries), workers.cancel());
        let spare = SparePlaces::new(&mut spare, &bounds, workers.threads());
        let mut kept = vec![0; bounds.len() - 1];
        let shared_kept = Shared::new(&mut kept);
        run_borrowed(workers, bounds.len() - 1, &|bucket| {
            let (from, to) = (bounds[bucket], bounds[bucket + 1]);
            // SAFETY: each task has its own bucket, and its own count.
            let (bucket, kept) =
                unsafe { (shared.part(from, to - from), &mut shared_kept.part(bucket, 1)[0]) };
            *kept = keep(bucket)?;
            spare.with(from..to, |spare| {
                self.sort_alone(&mut bucket[..*kept], spare, cancel)
            })
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
            // SAFETY: live rows of the layout.
            unsafe { pack_words(&self.keys, entries) };
            return Ok(());
        }
        let all = Shared::new(entries);
        run_borrowed(workers, rows.div_ceil(PART), &|part| {
            let from = part * PART;
            // SAFETY: each task has its own part; live rows of the layout.
            unsafe { pack_words(&self.keys, all.part(from, PART.min(rows - from))) };
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

    /// Room for `rows` rows that are moved, if that pays and memory is left.
    fn room_of_moved(&self, rows: usize, budget: &MemoryBudget) -> Option<Array<u8>> {
        let (size, bytes) = (self.layout.size, rows * self.layout.size);
        let pays = size <= WIDEST_MOVED && bytes >= FEWEST_BYTES_MOVED;
        // SAFETY: any byte is one, and rows are written before one is read.
        pays.then(|| unsafe { Array::stale(bytes, budget) }.ok())?
    }

    /// Brings the first `rows` entries into buckets by the highest `digits` bits of their words, and their
    /// rows, too, if they may be moved and that pays: see [`Order::sort_some`]. Returns where each bucket
    /// begins, and the end; and the array in which the entries were. Errors: 53200, 57014.
    fn scatter(
        &self,
        entries: &mut Array<Entry>,
        rows: usize,
        digits: u32,
        moved: Option<&mut Option<Array<u8>>>,
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
        let mut room = match &moved {
            Some(_) => self.room_of_moved(rows, workers.budget()),
            None => None,
        };
        let out = Shared::new(&mut sorted);
        let shared = Shared::new(&mut counts);
        let words = room.as_ref().map_or(0, |_| self.layout.size / size_of::<u64>());
        let room_of_rows = room.as_deref_mut().map(Shared::new);
        run_borrowed(workers, parts, &|part| {
            // SAFETY: each part has its own counts.
            let places = unsafe { shared.part(part * buckets, buckets) };
            let room = room_of_rows.as_ref().map_or(std::ptr::null_mut(), |room| room.0);
            // SAFETY: a part writes the places that are counted for its entries; the rows are live, and as long
            // as the room was made for.
            unsafe {
                scatter_part(
                    &entries[part_of(part)],
                    places,
                    WORD - digits,
                    &out,
                    (room, words),
                )
            };
            Ok(())
        })?;
        if let Some(moved) = moved.filter(|_| room.is_some()) {
            *moved = room;
        }
        let spare = std::mem::replace(entries, sorted);
        Ok((bounds, spare))
    }
}

/// Places for the entries of buckets that are being sorted. Each task uses some again and again, so that they
/// stay in its cache; if a bucket is too large for that, each bucket has its own.
struct SparePlaces {
    places: Shared<Entry>,
    /// Places of a task, and the numbers of those that no task uses; `None` if each bucket has its own.
    reused: Option<(usize, Mutex<Vec<usize>>)>,
}

impl SparePlaces {
    /// Parts of an array that is as long as all buckets, for at most `tasks` at a time.
    fn new(spare: &mut [Entry], bounds: &[usize], tasks: usize) -> SparePlaces {
        let lengths = bounds.windows(2).map(|ends| ends[1] - ends[0]);
        let longest = lengths.max().unwrap_or(0);
        let are_reused = longest <= LARGEST_REUSED && longest * tasks <= spare.len();
        SparePlaces {
            places: Shared::new(spare),
            reused: are_reused.then(|| (longest, Mutex::new((0..tasks).collect()))),
        }
    }

    /// Runs a task with places for the entries of the bucket at `range`. An internal error if more tasks run
    /// than were announced.
    fn with(&self, range: Range<usize>, task: impl FnOnce(&mut [Entry]) -> Result<()>) -> Result<()> {
        let Some((length, free)) = &self.reused else {
            // SAFETY: the places of a bucket are its task's.
            return task(unsafe { self.places.part(range.start, range.len()) });
        };
        let free = || free.lock().unwrap_or_else(PoisonError::into_inner);
        let number = free().pop();
        let number = number.ok_or_else(|| Error::internal("more sorts at a time than threads"))?;
        // SAFETY: no other task has the number, and there are places for all numbers.
        let done = task(unsafe { self.places.part(number * length, *length) });
        free().push(number);
        done
    }
}

/// Most entries of a bucket whose task uses places again: 512 KB of them.
const LARGEST_REUSED: usize = 4 * BUCKET;

/// Longer rows are not moved: to copy them costs more than to wait for some of their cells.
const WIDEST_MOVED: usize = 64;
/// Rows of fewer bytes stay in the cache wherever they are.
const FEWEST_BYTES_MOVED: usize = 1 << 20;

/// Copies each entry to the next place of its bucket, the bits of its word from `shift` on, and its row of
/// `words` words to the place of that number in the room, if there are words.
///
/// # Safety
/// The places are of `out` and the room, and nobody else's; rows are live and of this length.
unsafe fn scatter_part(
    entries: &[Entry],
    places: &mut [usize],
    shift: u32,
    out: &Shared<Entry>,
    (room, words): (*mut u8, usize),
) {
    /// # Safety
    /// As above, with rows of `WORDS` words.
    unsafe fn scatter<const WORDS: usize>(
        entries: &[Entry],
        places: &mut [usize],
        shift: u32,
        out: &Shared<Entry>,
        room: *mut u8,
    ) {
        for entry in entries {
            let place = &mut places[(entry.key >> shift) as usize];
            let mut moved = *entry;
            if WORDS > 0 {
                moved.row = room.wrapping_add(*place * WORDS * size_of::<u64>());
                // SAFETY: by contract both rows have as many words, and a row is aligned to them.
                unsafe { (moved.row.cast::<[u64; WORDS]>()).write(entry.row.cast::<[u64; WORDS]>().read()) };
            }
            // SAFETY: by contract.
            unsafe { out.part(*place, 1)[0] = moved };
            *place += 1;
        }
    }
    // SAFETY: by contract.
    unsafe {
        match words {
            1 => scatter::<1>(entries, places, shift, out, room),
            2 => scatter::<2>(entries, places, shift, out, room),
            3 => scatter::<3>(entries, places, shift, out, room),
            4 => scatter::<4>(entries, places, shift, out, room),
            5 => scatter::<5>(entries, places, shift, out, room),
            6 => scatter::<6>(entries, places, shift, out, room),
            7 => scatter::<7>(entries, places, shift, out, room),
            8 => scatter::<8>(entries, places, shift, out, room),
            _ => scatter::<0>(entries, places, shift, out, room),
        }
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
