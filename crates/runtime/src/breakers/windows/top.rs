//! The first rows of each partition: where only ranks up to a number are asked for, workers drop what is behind them while
//! they gather rows.
//!
//! Where keys are short and few ranks are asked for, a worker knows the best keys of each partition, and drops what is behind them
//! (`best_keys.rs`). Otherwise it sorts every so often what it has and keeps the rows of its best ranks. For each partition that has enough
//! of them it remembers the last key that counts; rows behind that key are dropped without a sort. A row's rank among a worker's rows is at
//! most its rank among all, so none is dropped that counts, and ranks of those that are kept stay what they are. Where that does not drop
//! enough, as partitions are many and small, the rows of all workers are scattered into buckets that fit a cache, and each bucket drops
//! what is behind its best keys before it is sorted ([`first_entries`]).

use super::best_keys::BestKeys;
use crate::breakers::alone::Alone;
use crate::breakers::array::Array;
use crate::breakers::order::{Boundary, Entry, Order};
use crate::breakers::sorter::sorted_rows::{GroupCounts, Prunes, SortField, SortSpec};
use crate::integer_hash::Mixing;
use crate::row_layout::RowLayout;
use crate::row_pages::RowPages;
use frazil_types::{Cancel, MemoryBudget, Reservation, Result};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Rows that are gathered before the first are dropped: short ones lie in the second-level cache then.
const FEWEST: usize = 8 << 10;
/// Rows that are not worth a sort.
const FEW: usize = 1 << 10;
/// Tries that keep most rows before it is given up, and how many times as many rows the next one has.
const MOST_TRIES: u32 = 3;
const MORE: usize = 16;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct TopSpec {
    /// The rank that is limited.
    pub rank: TopRank,
    /// The greatest one that is asked for.
    pub most: u64,
}

/// A rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopRank {
    /// row_number().
    RowNumber,
    /// rank().
    Rank,
    /// dense_rank().
    DenseRank,
}

/// A worker's rows of the first ranks.
#[derive(Debug)]
pub struct TopRows {
    spec: TopSpec,
    layout: RowLayout,
    keys: Vec<SortField>,
    partition: usize,
    /// The keys of partitions, and the others, as 128 bits each.
    of_partition: SortSpec,
    of_order: SortSpec,
    /// For partitions with enough rows the last key that counts.
    last: Last,
    /// Whether a key of the order is held whole.
    is_exact: bool,
    /// Rows, the first of all, that were looked at.
    seen: usize,
    /// Number of rows at which some are dropped again.
    due: usize,
    /// How often most rows were kept.
    tries: u32,
    budget: MemoryBudget,
    cancel: Cancel,
}

/// Keys by partition.
#[derive(Debug)]
enum Last {
    /// Partitions do not fit 128 bits: no key is known.
    Unknown,
    /// Both fit 64 bits, and few ranks are asked for.
    Narrow(Box<BestKeys>),
    Wide(Map<u128>),
}

type Map<K> = HashMap<K, K, BuildHasherDefault<Mixing>>;

impl TopRows {
    /// For a worker whose rows are ordered by `keys`, of which the first `partition` make partitions. Error 53200.
    pub fn new(
        spec: &TopSpec,
        layout: &RowLayout,
        keys: &[SortField],
        partition: usize,
        (budget, cancel): (&MemoryBudget, &Cancel),
    ) -> Result<TopRows> {
        let part = |keys: &[SortField]| SortSpec {
            layout: layout.clone(),
            keys: keys.to_vec(),
            groups: 0,
            limit: None,
            offset: 0,
            counts: GroupCounts::default(),
        };
        let (of_partition, of_order) = (part(&keys[..partition]), part(&keys[partition..]));
        let last = match BestKeys::of(spec, layout, keys, partition, budget)? {
            Some(best) => Last::Narrow(Box::new(best)),
            None if of_partition.prefix_decides() => Last::Wide(Map::default()),
            None => Last::Unknown,
        };
        Ok(TopRows {
            spec: spec.clone(),
            layout: layout.clone(),
            keys: keys.to_vec(),
            partition,
            last,
            is_exact: of_order.prefix_decides(),
            of_partition,
            of_order,
            seen: 0,
            due: FEWEST,
            tries: 0,
            budget: budget.clone(),
            cancel: cancel.clone(),
        })
    }

    /// Whether a row may be among those that are asked for.
    ///
    /// # Safety
    /// A live row of the layout, its strings alive.
    unsafe fn may_count(&self, row: *const u8) -> bool {
        let Last::Wide(last) = &self.last else {
            return true;
        };
        // SAFETY: by contract.
        let order = unsafe {
            let last = last.get(&self.of_partition.prefix(row));
            last.map(|last| self.of_order.prefix(row).cmp(last))
        };
        match order {
            None | Some(Ordering::Less) => true,
            Some(Ordering::Equal) => self.spec.rank != TopRank::RowNumber || !self.is_exact,
            Some(Ordering::Greater) => false,
        }
    }

    /// Notes the last row of a partition that counts.
    ///
    /// # Safety
    /// A live row of the layout, its strings alive.
    unsafe fn note(&mut self, row: *const u8) {
        if let Last::Wide(last) = &mut self.last {
            // SAFETY: by contract.
            unsafe { last.insert(self.of_partition.prefix(row), self.of_order.prefix(row)) };
        }
    }

    /// The entries of the first ranks; notes where they end.
    fn rank(&mut self, found: Vec<Entry>, held: Reservation) -> Result<Vec<Entry>> {
        let alone = Alone {
            budget: &self.budget,
            cancel: &self.cancel,
        };
        // SAFETY: an entry is two words of any bits; all are written.
        let mut entries = unsafe { Array::<Entry>::stale(found.len(), &self.budget)? };
        entries.copy_from_slice(&found);
        drop((found, held));
        let order = Order::of(&self.layout, &self.keys, &entries, &alone)?;
        let rows = entries.len();
        order.sort(&mut entries, rows, &alone)?;
        let (partition, peers) = (order.boundary(self.partition), order.boundary(self.keys.len()));
        let mut last_rows = Vec::new();
        let (mut kept, mut number, mut rank) = (Vec::new(), 0_u64, 0_u64);
        for at in 0..entries.len() {
            let before = at.checked_sub(1).map(|before| &entries[before]);
            let entry = &entries[at];
            let is_first = before.is_none_or(|before| order.differ(&partition, before, entry));
            let is_peer = !is_first && before.is_some_and(|before| !order.differ(&peers, before, entry));
            number = if is_first { 1 } else { number + 1 };
            rank = match self.spec.rank {
                TopRank::RowNumber => number,
                TopRank::Rank if is_peer => rank,
                TopRank::Rank => number,
                TopRank::DenseRank if is_first => 1,
                TopRank::DenseRank => rank + u64::from(!is_peer),
            };
            if rank > self.spec.most {
                continue;
            }
            kept.push(*entry);
            let is_enough = match self.spec.rank {
                TopRank::RowNumber | TopRank::Rank => number == self.spec.most,
                TopRank::DenseRank => rank == self.spec.most,
            };
            if is_enough {
                last_rows.push(entry.row);
            }
        }
        // SAFETY: live rows of the layout.
        (last_rows.into_iter()).for_each(|row| unsafe { self.note(row) });
        Ok(kept)
    }
}

impl TopRows {
    /// Whether so many rows hardly have a partition in common: then more of them do not have many, either.
    fn has_small_partitions(&self, rows: usize) -> bool {
        matches!(&self.last, Last::Narrow(best) if best.partitions() > rows / 8 * 7)
    }

    /// The rows that may count, of those at hand.
    fn first(&mut self, pages: &RowPages) -> Result<Vec<*mut u8>> {
        let rows = pages.rows();
        let _held = self.budget.reserve(rows * size_of::<*mut u8>())?;
        if let Last::Narrow(best) = &mut self.last {
            let mut found: Vec<*mut u8> = pages.iter().take(self.seen).collect();
            let mut offered = self.seen;
            for page in 0..pages.pages() {
                let (start, rows) = pages.page(page);
                let (before, size) = (offered.min(rows), pages.row_size());
                let first = start.wrapping_add(before * size);
                // SAFETY: live rows of the layout, each offered once.
                unsafe { best.offer((first, rows - before, size), &mut found)? };
                offered = offered.saturating_sub(rows);
            }
            // SAFETY: as above; all were offered.
            found.retain(|row| unsafe { best.holds(*row) });
            return Ok(found);
        }
        let held = self.budget.reserve(rows * size_of::<Entry>())?;
        let mut entries: Vec<Entry> = Vec::new();
        for (at, row) in pages.iter().enumerate() {
            // SAFETY: live rows of the layout.
            if at < self.seen || unsafe { self.may_count(row) } {
                entries.push(Entry { key: 0, row });
            }
        }
        if entries.len() > 2 * self.seen.max(FEW) {
            entries = self.rank(entries, held)?;
        }
        Ok(entries.into_iter().map(|entry| entry.row).collect())
    }
}

/// Brings those entries of a bucket to the front that may be of the ranks that are asked for: the others need no sort. How many
/// they are. Error 53200.
pub fn first_entries(
    spec: &TopSpec,
    order: &Order<'_>,
    partition: usize,
    entries: &mut [Entry],
    budget: &MemoryBudget,
) -> Result<usize> {
    let (rows, most) = (entries.len(), usize::try_from(spec.most).unwrap_or(usize::MAX));
    let below = match order.boundary(partition) {
        Boundary::Bits(below) if order.is_exact() && spec.rank != TopRank::DenseRank => below,
        _ => return Ok(rows),
    };
    let partition_of = |entry: &Entry| entry.key >> below;
    let partitions = entries.iter().map(partition_of);
    let (Some(least), Some(greatest)) = (partitions.clone().min(), partitions.max()) else {
        return Ok(rows);
    };
    // A bucket has the partitions of a range: their number is their place.
    let wanted = (greatest - least).saturating_add(1).saturating_mul(spec.most);
    if most == 0 || wanted >= rows as u64 {
        return Ok(rows);
    }
    let mut best = Array::words(u64::MAX, wanted as usize, budget)?;
    let place = |entry: &Entry| (partition_of(entry) - least) as usize * most;
    for entry in &*entries {
        // Words of a partition are in the order of its keys: each goes where it belongs, and pushes greater ones on.
        let mut word = entry.key;
        for held in &mut best[place(entry)..][..most] {
            (*held, word) = ((*held).min(word), (*held).max(word));
        }
    }
    let mut kept = 0;
    for at in 0..rows {
        let entry = entries[at];
        entries[kept] = entry;
        kept += usize::from(entry.key <= best[place(&entry) + most - 1]);
    }
    Ok(kept)
}

impl Prunes for TopRows {
    fn prune(&mut self, pages: &mut RowPages) -> Result<bool> {
        let rows = pages.rows();
        if rows < self.due {
            return Ok(false);
        }
        self.cancel.check()?;
        let kept = self.first(pages)?;
        self.seen = kept.len();
        if kept.len() > rows / 4 * 3 {
            self.tries += 1;
            if self.tries < MOST_TRIES && !(self.tries > 1 && self.has_small_partitions(rows)) {
                self.seen = rows;
                self.due = rows.saturating_mul(MORE);
            } else {
                self.due = usize::MAX;
                self.last = Last::Unknown;
            }
            return Ok(false);
        }
        self.due = (4 * kept.len()).max(FEWEST);
        pages.keep(&kept)?;
        Ok(true)
    }
}
