//! How the columns of a table are used: values tested, unpacked and fetched at positions, by column.
//!
//! A scan's cursor counts in plain integers of its own, and adds them to the table's counters once a chunk: to one
//! of several shards, where each column has a cache line, so that workers do not meet. The counts of the
//! shards only grow. Old habits fade by what is taken off again when the counters are read: after so many visits
//! of every chunk an epoch ends, and half of what is left counts as forgotten. Time alone changes nothing: a
//! table that nobody reads keeps its habits.

use crate::moved_columns::Moved;
use frazil_kernels::Selection;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Sets of counters of a table.
const SHARDS: usize = 16;

/// Visits of a chunk, on average of all chunks, after which an epoch ends.
const EPOCH_VISITS: u64 = 256;

/// What was asked of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnAccess {
    /// Values tested against restrictions, an upper bound: later tests of a conjunction may skip some.
    pub tested: u64,
    /// Values passed by unpacking ranges of rows.
    pub scanned: u64,
    /// Values fetched at sparse positions.
    pub fetched: u64,
    /// Chunks opened of which some value was asked for.
    pub visits: u64,
}

impl ColumnAccess {
    /// Whether nothing was asked.
    pub fn is_none(&self) -> bool {
        *self == ColumnAccess::default()
    }

    fn counts(self) -> [u64; 4] {
        [self.tested, self.scanned, self.fetched, self.visits]
    }

    fn of([tested, scanned, fetched, visits]: [u64; 4]) -> ColumnAccess {
        ColumnAccess {
            tested,
            scanned,
            fetched,
            visits,
        }
    }

    /// Count by count.
    fn with(self, other: ColumnAccess, f: impl Fn(u64, u64) -> u64) -> ColumnAccess {
        let (a, b) = (self.counts(), other.counts());
        ColumnAccess::of([0, 1, 2, 3].map(|i| f(a[i], b[i])))
    }
}

/// What was asked of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableAccess {
    /// By column.
    pub columns: Vec<ColumnAccess>,
    /// Chunks opened of which some value was asked for.
    pub visits: u64,
}

/// The counts of one column in one shard: a cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Counts([AtomicU64; 4]);

/// The counters of a table.
#[derive(Debug)]
pub struct AccessCounters {
    columns: usize,
    /// Of each column, and of the whole table at the end; made when first added to.
    shards: [OnceLock<Box<[Counts]>>; SHARDS],
    /// What of the sums has faded, likewise. Never more than they are.
    forgotten: Mutex<Vec<ColumnAccess>>,
}

impl AccessCounters {
    /// The counters of a table of so many columns.
    pub fn new(columns: usize) -> AccessCounters {
        AccessCounters {
            columns,
            shards: Default::default(),
            forgotten: Mutex::new(vec![ColumnAccess::default(); columns + 1]),
        }
    }

    /// The counters of the same table with other columns, of which a new one was never asked for.
    pub(crate) fn reshaped(&self, moved: &Moved) -> AccessCounters {
        let forgotten = self.forgotten.lock().unwrap_or_else(|e| e.into_inner());
        let every = |of: &dyn Fn(usize) -> ColumnAccess| {
            let columns: Vec<ColumnAccess> = (0..self.columns).map(of).collect();
            let mut moved = moved.of(&columns, ColumnAccess::default());
            moved.push(of(self.columns));
            moved
        };
        let sums = every(&|i| self.sum(i));
        let counters = AccessCounters::new(sums.len() - 1);
        for (i, sum) in sums.into_iter().enumerate() {
            counters.add(0, i, sum);
        }
        let gone = every(&|i| forgotten[i]);
        *counters.forgotten.lock().unwrap_or_else(|e| e.into_inner()) = gone;
        counters
    }

    /// What was asked of late.
    pub fn recent(&self) -> TableAccess {
        let forgotten = self.forgotten.lock().unwrap_or_else(|e| e.into_inner());
        // Summed under the lock: what others forgot is then part of the sums.
        let mut columns: Vec<ColumnAccess> = (0..=self.columns)
            .map(|i| self.sum(i).with(forgotten[i], u64::saturating_sub))
            .collect();
        let visits = columns.pop().unwrap_or_default().visits;
        TableAccess { columns, visits }
    }

    /// Chunks ever visited.
    pub fn all_visits(&self) -> u64 {
        self.sum(self.columns).visits
    }

    /// Halves what was asked of late if its epoch is over, in a table of `chunks` chunks. Returns whether it was.
    pub fn end_epoch(&self, chunks: usize) -> bool {
        let mut forgotten = self.forgotten.lock().unwrap_or_else(|e| e.into_inner());
        let visits = self.all_visits() - forgotten[self.columns].visits;
        if visits < EPOCH_VISITS * chunks.max(1) as u64 {
            return false;
        }
        for (i, gone) in forgotten.iter_mut().enumerate() {
            *gone = self
                .sum(i)
                .with(*gone, |all, gone| gone + (all - gone).div_ceil(2));
        }
        true
    }

    fn sum(&self, i: usize) -> ColumnAccess {
        let mut sum = ColumnAccess::default();
        for counts in self.shards.iter().filter_map(OnceLock::get) {
            let counts = ColumnAccess::of([0, 1, 2, 3].map(|c| counts[i].0[c].load(Ordering::Relaxed)));
            sum = sum.with(counts, u64::wrapping_add);
        }
        sum
    }

    fn add(&self, shard: usize, i: usize, access: ColumnAccess) {
        let made = || (0..=self.columns).map(|_| Counts::default()).collect();
        let shard = self.shards[shard].get_or_init(made);
        for (count, add) in shard[i].0.iter().zip(access.counts()) {
            if add > 0 {
                count.fetch_add(add, Ordering::Relaxed);
            }
        }
    }
}

/// What one cursor asked of a chunk's columns, until it is added to the table's counters.
#[derive(Debug)]
pub(crate) struct LocalAccess {
    shard: usize,
    /// By position in the table.
    columns: Vec<ColumnAccess>,
}

impl LocalAccess {
    /// Nothing yet, of a table of so many columns.
    pub fn new(columns: usize) -> LocalAccess {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        LocalAccess {
            shard: NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS,
            columns: vec![ColumnAccess::default(); columns],
        }
    }

    /// Of a column of the table.
    #[inline]
    pub fn column(&mut self, column: usize) -> &mut ColumnAccess {
        &mut self.columns[column]
    }

    /// Counts a column of the table that is unpacked.
    #[inline]
    pub fn note_fetch(&mut self, column: usize, selection: &Selection<'_>) {
        let access = &mut self.columns[column];
        match selection {
            Selection::All { len, .. } | Selection::Bits { len, .. } => access.scanned += u64::from(*len),
            Selection::Positions(positions) => access.fetched += positions.len() as u64,
        }
    }

    /// Adds the counts to the table's and begins anew. Returns whether there were any.
    pub fn flush(&mut self, counters: &AccessCounters) -> bool {
        self.flush_visits(counters, 1)
    }

    /// The same of so many visits, each of which asked for all columns that any asked for.
    pub fn flush_visits(&mut self, counters: &AccessCounters, visits: u64) -> bool {
        let mut any = false;
        for (i, access) in self.columns.iter_mut().enumerate() {
            if !access.is_none() {
                any = true;
                let access = std::mem::take(access);
                counters.add(self.shard, i, ColumnAccess { visits, ..access });
            }
        }
        if any {
            let table = ColumnAccess {
                visits,
                ..ColumnAccess::default()
            };
            counters.add(self.shard, counters.columns, table);
        }
        any
    }
}

/// How often a block was visited.
#[derive(Debug, Default)]
pub struct BlockVisits {
    /// All, those of the block that had the same rows before included.
    seen: AtomicU64,
    /// Those of them that have faded.
    forgotten: AtomicU64,
}

impl BlockVisits {
    /// Of a block of rows that were visited so often of late.
    pub fn inherited(recent: u64) -> BlockVisits {
        BlockVisits {
            seen: AtomicU64::new(recent),
            forgotten: AtomicU64::new(0),
        }
    }

    /// Counts one.
    pub(crate) fn count(&self) {
        self.seen.fetch_add(1, Ordering::Relaxed);
    }

    /// Visits of late.
    pub fn recent(&self) -> u64 {
        // What is forgotten was seen; read in this order it is not more.
        let forgotten = self.forgotten.load(Ordering::Acquire);
        self.seen.load(Ordering::Relaxed).saturating_sub(forgotten)
    }

    /// All visits, inherited ones among them.
    pub fn all(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Halves the visits of late.
    pub(crate) fn fade(&self) {
        self.forgotten
            .fetch_add(self.recent().div_ceil(2), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(counters: &AccessCounters, column: usize, fetched: u64) {
        let mut local = LocalAccess::new(3);
        local.column(column).fetched += fetched;
        assert!(local.flush(counters));
        assert!(!local.flush(counters), "it begins anew");
    }

    #[test]
    fn counts_of_all_shards_add_up() {
        let counters = AccessCounters::new(3);
        assert_eq!(counters.recent().visits, 0);
        for _ in 0..100 {
            visit(&counters, 1, 7);
        }
        visit(&counters, 2, 1);
        let recent = counters.recent();
        assert_eq!(recent.visits, 101);
        let expected = ColumnAccess {
            fetched: 700,
            visits: 100,
            ..ColumnAccess::default()
        };
        assert_eq!(recent.columns[1], expected);
        assert!(recent.columns[0].is_none());
    }

    #[test]
    fn old_habits_fade_by_epochs_of_use_and_are_gone_in_the_end() {
        let counters = AccessCounters::new(3);
        for _ in 0..EPOCH_VISITS {
            assert!(!counters.end_epoch(1));
            visit(&counters, 0, 10);
        }
        assert!(
            !counters.end_epoch(2),
            "a table of two chunks takes twice the visits"
        );
        assert!(counters.end_epoch(1));
        assert_eq!(counters.recent().columns[0].fetched, EPOCH_VISITS * 5);
        assert!(!counters.end_epoch(1), "no visit, no end of an epoch");
        // Another habit takes over.
        for _ in 0..20 * EPOCH_VISITS {
            visit(&counters, 1, 1);
            counters.end_epoch(1);
        }
        let recent = counters.recent();
        assert!(recent.columns[0].fetched < 10, "{recent:?}");
        assert!(recent.visits >= EPOCH_VISITS / 2, "{recent:?}");
        assert_eq!(counters.all_visits(), 21 * EPOCH_VISITS);
    }

    #[test]
    fn visits_of_a_block_outlive_it_and_fade() {
        let visits = BlockVisits::inherited(9);
        assert_eq!((visits.recent(), visits.all()), (9, 9));
        visits.count();
        assert_eq!((visits.recent(), visits.all()), (10, 10));
        for _ in 0..5 {
            visits.fade();
        }
        assert_eq!((visits.recent(), visits.all()), (0, 10));
    }

    #[test]
    fn nothing_is_lost_while_others_count() {
        let counters = AccessCounters::new(1);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut local = LocalAccess::new(1);
                    for _ in 0..1000 {
                        local.column(0).scanned += 3;
                        local.flush(&counters);
                    }
                });
            }
            for _ in 0..100 {
                assert!(counters.recent().columns[0].scanned <= 12_000);
            }
        });
        assert_eq!(counters.recent().columns[0].scanned, 12_000);
    }
}
