//! The first rows of each partition: where only ranks up to a number are asked for, workers drop what is behind them while
//! they gather rows.
//!
//! Every so often a worker sorts what it has and keeps the rows of its best ranks. For each partition that has enough of them
//! it remembers the last key that counts; rows behind that key are dropped without a sort. A row's rank among a worker's rows is at
//! most its rank among all, so none is dropped that counts, and ranks of those that are kept stay what they are.

use super::array::Array;
use super::order::{Entry, Order};
use crate::breakers::sorter::sorted_rows::{GroupCounts, Prunes, SortField, SortSpec, normalized};
use crate::breakers::{Task, Workers};
use crate::row_layout::{FieldPlace, RowLayout};
use crate::row_pages::RowPages;
use frazil_types::{Cancel, MemoryBudget, NativeType, Reservation, Result};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Rows that are gathered before the first are dropped.
const FEWEST: usize = 32 << 10;
/// Rows that are not worth a sort.
const FEW: usize = 1 << 10;
/// Tries that keep most rows before it is given up.
const MOST_TRIES: u32 = 2;

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
    /// Both fit 64 bits.
    Narrow(Words, Words, Map<u64>),
    Wide(Map<u128>),
}

type Map<K> = HashMap<K, K, BuildHasherDefault<Mixing>>;

/// Keys that fit 64 bits together, in the order of rows.
#[derive(Debug)]
struct Words(Vec<(FieldPlace, SortField)>);

impl Words {
    /// `None` where they do not fit.
    fn of(keys: &[SortField], layout: &RowLayout) -> Option<Words> {
        let keys: Vec<_> = keys.iter().map(|key| (layout.fields[key.field], *key)).collect();
        let bits: usize = (keys.iter())
            .map(|(place, _)| place.native.size() * 8 + usize::from(place.validity.is_some()))
            .sum();
        (bits <= 64).then_some(Words(keys))
    }

    /// # Safety
    /// A live row of the layout.
    #[inline]
    unsafe fn word(&self, row: *const u8) -> u64 {
        let mut word = 0_u64;
        for (place, key) in &self.0 {
            // SAFETY: by contract, with the type the field says it has.
            let (valid, (value, width)) = unsafe { (place.is_valid(row), narrow(place, row)) };
            if place.validity.is_some() {
                word = word << 1 | u64::from(valid == key.nulls_first);
            }
            let mask = u64::MAX >> (64 - width);
            let value = if key.descending { value ^ mask } else { value };
            let value = if valid { value } else { 0 };
            word = word.checked_shl(width).unwrap_or(0) | value;
        }
        word
    }
}

/// A value of at most 64 bits as an unsigned number of its order, and its bits.
///
/// # Safety
/// A live row of the layout that the place is of.
#[inline]
unsafe fn narrow(place: &FieldPlace, row: *const u8) -> (u64, u32) {
    // SAFETY: by contract.
    unsafe {
        match place.native {
            NativeType::I32 => (u64::from(place.get::<i32>(row) as u32 ^ 1 << 31), 32),
            NativeType::I64 => (place.get::<i64>(row) as u64 ^ 1 << 63, 64),
            _ => {
                let (value, width) = normalized(place, row);
                (value as u64, width)
            }
        }
    }
}

/// Hashes 128 bits by two multiplications, 64 by one.
#[derive(Debug, Default)]
struct Mixing(u64);

impl Hasher for Mixing {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u128(u128::from(*b)));
    }

    fn write_u64(&mut self, v: u64) {
        self.0 = v.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }

    fn write_u128(&mut self, v: u128) {
        let folded = (v as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (v >> 64) as u64;
        self.0 = (self.0 ^ folded).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.0 ^= self.0 >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A worker as all there are.
struct Alone<'a> {
    budget: &'a MemoryBudget,
    cancel: &'a Cancel,
}

impl Workers for Alone<'_> {
    fn threads(&self) -> usize {
        1
    }

    fn budget(&self) -> &MemoryBudget {
        self.budget
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }

    fn run(&self, tasks: usize, task: Task) -> Result<()> {
        (0..tasks).try_for_each(|t| {
            self.cancel.check()?;
            task(t)
        })
    }
}

impl TopRows {
    /// For a worker whose rows are ordered by `keys`, of which the first `partition` make partitions.
    pub fn new(
        spec: &TopSpec,
        layout: &RowLayout,
        keys: &[SortField],
        partition: usize,
        (budget, cancel): (&MemoryBudget, &Cancel),
    ) -> TopRows {
        let part = |keys: &[SortField]| SortSpec {
            layout: layout.clone(),
            keys: keys.to_vec(),
            groups: 0,
            limit: None,
            offset: 0,
            counts: GroupCounts::default(),
        };
        let (of_partition, of_order) = (part(&keys[..partition]), part(&keys[partition..]));
        let words = |keys: &[SortField]| Words::of(keys, layout);
        let last = match (words(&keys[..partition]), words(&keys[partition..])) {
            (Some(partition), Some(order)) => Last::Narrow(partition, order, Map::default()),
            _ if of_partition.prefix_decides() => Last::Wide(Map::default()),
            _ => Last::Unknown,
        };
        TopRows {
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
        }
    }

    /// Whether a row may be among those that are asked for.
    ///
    /// # Safety
    /// A live row of the layout, its strings alive.
    unsafe fn may_count(&self, row: *const u8) -> bool {
        // SAFETY: by contract.
        let order = unsafe {
            match &self.last {
                Last::Unknown => None,
                Last::Narrow(partition, order, last) => {
                    let last = last.get(&partition.word(row));
                    last.map(|last| order.word(row).cmp(last))
                }
                Last::Wide(last) => {
                    let last = last.get(&self.of_partition.prefix(row));
                    last.map(|last| self.of_order.prefix(row).cmp(last))
                }
            }
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
        // SAFETY: by contract.
        unsafe {
            match &mut self.last {
                Last::Unknown => {}
                Last::Narrow(partition, order, last) => {
                    last.insert(partition.word(row), order.word(row));
                }
                Last::Wide(last) => {
                    last.insert(self.of_partition.prefix(row), self.of_order.prefix(row));
                }
            }
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
        order.sort(&mut entries, &alone)?;
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

impl Prunes for TopRows {
    fn prune(&mut self, pages: &RowPages) -> Result<Option<RowPages>> {
        let rows = pages.rows();
        if rows < self.due {
            return Ok(None);
        }
        self.cancel.check()?;
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
        if entries.len() > rows / 4 * 3 {
            self.tries += 1;
            self.due = match self.tries < MOST_TRIES {
                true => rows.saturating_mul(16),
                false => usize::MAX,
            };
            return Ok(None);
        }
        let mut kept = RowPages::new(self.layout.size, &self.budget);
        for entry in &entries {
            let row = kept.allocate()?;
            // SAFETY: both rows are live, apart, and of the layout's size.
            unsafe { row.copy_from_nonoverlapping(entry.row, self.layout.size) };
        }
        self.seen = entries.len();
        self.due = (4 * entries.len()).max(FEWEST);
        Ok(Some(kept))
    }
}
