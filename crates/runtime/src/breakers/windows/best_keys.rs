//! The best keys of each partition, for ranks up to a small number: a row is behind them or among them by one look into a table,
//! without a sort.

use super::top::{TopRank, TopSpec};
use crate::breakers::sorter::sorted_rows::{SortField, normalized};
use crate::row_layout::{FieldPlace, RowLayout};
use frazil_types::{MemoryBudget, NativeType, Reservation, Result};
use std::ops::BitXor;

/// Most keys of a partition that are held: they are searched one by one.
const MOST_KEYS: u64 = 16;
/// Slots of a table at first.
const FEWEST_SLOTS: usize = 256;

/// The keys of the first ranks, by partition.
#[derive(Debug)]
pub struct BestKeys {
    partition: Words,
    order: Words,
    rank: TopRank,
    /// Keys of a partition.
    most: usize,
    /// Found by a hash of the partition, a power of two, at most half of them used.
    slots: Vec<Slot>,
    /// For each slot how many keys it has, and room for `most`, ascending; a slot without keys is free.
    keys: Vec<u64>,
    partitions: usize,
    held: Reservation,
}

/// What tells most rows: a cache line has four.
#[derive(Clone, Copy, Debug)]
struct Slot {
    partition: u64,
    /// This key and greater ones are behind those that count, save the greatest word, which this does not tell.
    behind: u64,
}

const FREE: Slot = Slot {
    partition: 0,
    behind: u64::MAX,
};

impl BestKeys {
    /// For rows ordered by `keys`, of which the first `partition` make partitions. `None` where they do not fit a word each, or
    /// many ranks are asked for. Error 53200.
    pub fn of(
        spec: &TopSpec,
        layout: &RowLayout,
        keys: &[SortField],
        partition: usize,
        budget: &MemoryBudget,
    ) -> Result<Option<BestKeys>> {
        let words = (
            Words::of(&keys[..partition], layout),
            Words::of(&keys[partition..], layout),
        );
        let ((Some(partition), Some(order)), 1..=MOST_KEYS) = (words, spec.most) else {
            return Ok(None);
        };
        let mut best = BestKeys {
            partition,
            order,
            rank: spec.rank,
            most: spec.most as usize,
            slots: Vec::new(),
            keys: Vec::new(),
            partitions: 0,
            held: budget.reservation(),
        };
        best.make_room(FEWEST_SLOTS)?;
        Ok(Some(best))
    }

    /// Counts `count` rows, one every `size` bytes from `start` on, and adds those to `found` that may be among those that are
    /// asked for. Error 53200.
    ///
    /// # Safety
    /// Live rows of the layout, none of which was offered before.
    pub unsafe fn offer(
        &mut self,
        (start, count, size): (*mut u8, usize, usize),
        found: &mut Vec<*mut u8>,
    ) -> Result<()> {
        let rows = (0..count).map(|row| start.wrapping_add(row * size));
        let plain = (self.partition.plain, self.order.plain);
        // SAFETY: by contract. Which form keys have is asked here: a row would take twice as long.
        unsafe {
            match plain {
                (Some(Plain::Narrow(partition)), Some(Plain::Narrow(order))) => {
                    self.offer_words(rows, found, |row| (partition.word(row), order.word(row)))
                }
                (Some(Plain::Narrow(partition)), Some(Plain::Wide(order))) => {
                    self.offer_words(rows, found, |row| (partition.word(row), order.word(row)))
                }
                (Some(Plain::Wide(partition)), Some(Plain::Narrow(order))) => {
                    self.offer_words(rows, found, |row| (partition.word(row), order.word(row)))
                }
                (Some(Plain::Wide(partition)), Some(Plain::Wide(order))) => {
                    self.offer_words(rows, found, |row| (partition.word(row), order.word(row)))
                }
                (None, _) | (_, None) => {
                    for row in rows {
                        let word = (self.partition.word(row), self.order.word(row));
                        self.offer_words(std::iter::once(row), found, |_| word)?;
                    }
                    Ok(())
                }
            }
        }
    }

    /// [`BestKeys::offer`] of rows whose words of partition and order a function gives.
    #[inline]
    fn offer_words(
        &mut self,
        rows: impl Iterator<Item = *mut u8>,
        found: &mut Vec<*mut u8>,
        words: impl Fn(*const u8) -> (u64, u64),
    ) -> Result<()> {
        for row in rows {
            let (partition, key) = words(row);
            let slot = &self.slots[self.first_slot(partition)];
            let is_behind = slot.partition == partition && key.wrapping_add(1) > slot.behind;
            if !is_behind && self.insert(partition, key)? {
                found.push(row);
            }
        }
        Ok(())
    }

    /// Counts a key that may be among those that are asked for; whether it is.
    #[inline(never)]
    fn insert(&mut self, partition: u64, key: u64) -> Result<bool> {
        let mut slot = self.find(partition);
        if self.keys_of(slot)[0] == 0 {
            slot = self.add(partition)?;
        }
        let (held, keys) = self.keys[slot * (1 + self.most)..][..1 + self.most].split_at_mut(1);
        let count = held[0] as usize;
        if count == keys.len() && key >= keys[count - 1] {
            // Of peers of the last row any may be the one that is numbered.
            return Ok(key == keys[count - 1] && self.rank != TopRank::RowNumber);
        }
        let place = keys[..count].partition_point(|held| *held < key);
        if self.rank == TopRank::DenseRank && keys[..count].get(place) == Some(&key) {
            return Ok(true);
        }
        let end = (count + 1).min(keys.len());
        keys.copy_within(place..end - 1, place + 1);
        keys[place] = key;
        held[0] = end as u64;
        if end == keys.len() {
            let last = keys[end - 1];
            self.slots[slot].behind = match self.rank {
                TopRank::RowNumber => last,
                TopRank::Rank | TopRank::DenseRank => last.saturating_add(1),
            };
        }
        Ok(true)
    }

    /// Whether a row that was offered is still among them, or a peer of the last one.
    ///
    /// # Safety
    /// A live row of the layout.
    pub unsafe fn holds(&self, row: *const u8) -> bool {
        // SAFETY: by contract.
        let (partition, key) = unsafe { (self.partition.word(row), self.order.word(row)) };
        let keys = self.keys_of(self.find(partition));
        (keys[0] as usize) < self.most || key <= keys[self.most]
    }

    /// How many partitions were offered.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    fn keys_of(&self, slot: usize) -> &[u64] {
        &self.keys[slot * (1 + self.most)..][..1 + self.most]
    }

    /// Where a partition is looked for first: the highest bits of a product say it.
    #[inline]
    fn first_slot(&self, partition: u64) -> usize {
        let hash = partition.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    /// The slot of a partition, or the free one where it would be.
    fn find(&self, partition: u64) -> usize {
        let mut slot = self.first_slot(partition);
        while self.slots[slot].partition != partition && self.keys_of(slot)[0] > 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    /// The slot of a partition that has none.
    #[cold]
    fn add(&mut self, partition: u64) -> Result<usize> {
        if self.partitions * 2 >= self.slots.len() {
            self.make_room(self.slots.len() * 2)?;
        }
        self.partitions += 1;
        let slot = self.find(partition);
        self.slots[slot].partition = partition;
        Ok(slot)
    }

    /// Goes over to so many slots. Error 53200.
    fn make_room(&mut self, wanted: usize) -> Result<()> {
        let width = 1 + self.most;
        let bytes = |slots: usize| slots * (size_of::<Slot>() + width * size_of::<u64>());
        self.held.grow(bytes(wanted))?;
        let slots = std::mem::replace(&mut self.slots, vec![FREE; wanted]);
        let keys = std::mem::replace(&mut self.keys, vec![0; wanted * width]);
        for (slot, keys) in slots.iter().zip(keys.chunks_exact(width)) {
            if keys[0] > 0 {
                let at = self.find(slot.partition);
                self.slots[at] = *slot;
                self.keys[at * width..][..width].copy_from_slice(keys);
            }
        }
        self.held.shrink(bytes(slots.len()));
        Ok(())
    }
}

/// Keys that fit a word together, in the order of rows.
#[derive(Debug)]
struct Words {
    keys: Vec<(FieldPlace, SortField)>,
    /// Where they are one number.
    number: Option<Number>,
    /// Where that is never NULL.
    plain: Option<Plain>,
}

/// A number that is never NULL, by its width.
#[derive(Clone, Copy, Debug)]
enum Plain {
    Narrow(PlainNumber<u32>),
    Wide(PlainNumber<u64>),
}

/// Where such a number lies, and its bits that are flipped.
#[derive(Clone, Copy, Debug)]
struct PlainNumber<T> {
    offset: isize,
    flipped: T,
}

impl<T: Into<u64> + BitXor<Output = T>> PlainNumber<T> {
    /// # Safety
    /// A live row with the number.
    #[inline]
    unsafe fn word(self, row: *const u8) -> u64 {
        // SAFETY: by contract, the field lies there.
        let bits = unsafe { row.offset(self.offset).cast::<T>().read_unaligned() };
        (bits ^ self.flipped).into()
    }
}

/// A number of a row as a word of its order: its bits, some of which are flipped, below one that tells NULL from others.
#[derive(Clone, Copy, Debug)]
struct Number {
    offset: isize,
    is_wide: bool,
    flipped: u64,
    validity: Option<isize>,
    nulls_first: bool,
}

impl Words {
    /// `None` where they do not fit.
    fn of(keys: &[SortField], layout: &RowLayout) -> Option<Words> {
        let keys: Vec<_> = keys.iter().map(|key| (layout.fields[key.field], *key)).collect();
        let bits: usize = (keys.iter())
            .map(|(place, _)| place.native.size() * 8 + usize::from(place.validity.is_some()))
            .sum();
        let number = match &keys[..] {
            [(place, key)] => Number::of(place, key),
            _ => None,
        };
        let plain = number.and_then(Number::plain);
        (bits <= 64).then_some(Words { keys, number, plain })
    }

    /// # Safety
    /// A live row of the layout.
    #[inline]
    unsafe fn word(&self, row: *const u8) -> u64 {
        match self.number {
            // SAFETY: by contract, the field lies there.
            Some(number) => unsafe { number.word(row) },
            // SAFETY: by contract.
            None => unsafe { self.packed(row) },
        }
    }

    /// # Safety
    /// A live row of the layout.
    unsafe fn packed(&self, row: *const u8) -> u64 {
        let mut word = 0_u64;
        for (place, key) in &self.keys {
            // SAFETY: by contract, with the type the field says it has.
            let (valid, (value, width)) = unsafe { (place.is_valid(row), normalized(place, row)) };
            if place.validity.is_some() {
                word = word << 1 | u64::from(valid == key.nulls_first);
            }
            let mask = u64::MAX >> (64 - width);
            let value = value as u64 ^ if key.descending { mask } else { 0 };
            word = word.checked_shl(width).unwrap_or(0) | if valid { value } else { 0 };
        }
        word
    }
}

impl Number {
    fn of(place: &FieldPlace, key: &SortField) -> Option<Number> {
        let (is_wide, sign, mask) = match place.native {
            NativeType::I32 => (false, 1 << 31, u64::from(u32::MAX)),
            NativeType::I64 => (true, 1 << 63, u64::MAX),
            _ => return None,
        };
        Some(Number {
            offset: place.offset as isize,
            is_wide,
            flipped: if key.descending { sign ^ mask } else { sign },
            validity: place.validity.map(|offset| offset as isize),
            nulls_first: key.nulls_first,
        })
    }

    fn plain(self) -> Option<Plain> {
        let Number { offset, flipped, .. } = self;
        match (self.validity, self.is_wide) {
            (Some(_), _) => None,
            (None, true) => Some(Plain::Wide(PlainNumber { offset, flipped })),
            (None, false) => Some(Plain::Narrow(PlainNumber {
                offset,
                flipped: flipped as u32,
            })),
        }
    }

    /// # Safety
    /// A live row with the number; one of 64 bits has no validity.
    #[inline]
    unsafe fn word(self, row: *const u8) -> u64 {
        // SAFETY: by contract, the field lies there.
        let bits = unsafe {
            let field = row.offset(self.offset);
            match self.is_wide {
                true => field.cast::<u64>().read_unaligned(),
                false => u64::from(field.cast::<u32>().read_unaligned()),
            }
        };
        let Some(validity) = self.validity else {
            return bits ^ self.flipped;
        };
        // SAFETY: by contract, it is a byte of the row.
        let valid = unsafe { row.offset(validity).read() } != 0;
        let value = (bits ^ self.flipped) & u64::from(valid).wrapping_neg();
        u64::from(valid == self.nulls_first) << 32 | value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_layout::RowField;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A partition and a key.
    type Row = (Option<i32>, Option<i32>);

    /// Which rows are kept.
    fn best(spec: &TopSpec, descending: bool, nulls_first: bool, rows: &[Row]) -> Vec<bool> {
        let has_null = |(partition, key): &Row| partition.is_none() || key.is_none();
        let field = RowField::new(NativeType::I32, rows.iter().any(has_null));
        let layout = RowLayout::new(0, &[field, field], false);
        let keys = [(0, false), (1, descending)].map(|(field, descending)| SortField {
            field,
            descending,
            nulls_first,
        });
        let budget = MemoryBudget::new(usize::MAX);
        let mut best = BestKeys::of(spec, &layout, &keys, 1, &budget).unwrap().unwrap();
        let words = layout.size.div_ceil(8);
        // What lies where there is no value counts for nothing.
        let mut memory = vec![u64::MAX; words * rows.len()];
        let start = memory.as_mut_ptr();
        let at = |row: usize| start.wrapping_add(row * words).cast::<u8>();
        // SAFETY: each row has room, and is written before it is offered.
        unsafe {
            for (number, (partition, key)) in rows.iter().enumerate() {
                for (place, value) in layout.fields.iter().zip([partition, key]) {
                    if let Some(validity) = place.validity {
                        at(number)
                            .offset(validity as isize)
                            .write(u8::from(value.is_some()));
                    }
                    if let Some(value) = value {
                        let field = at(number).offset(place.offset as isize);
                        field.cast::<i32>().write_unaligned(*value);
                    }
                }
            }
            let mut found = Vec::new();
            best.offer((start.cast(), rows.len(), words * 8), &mut found)
                .unwrap();
            let holds = |row: usize| found.contains(&at(row)) && best.holds(at(row));
            (0..rows.len()).map(holds).collect()
        }
    }

    /// The key of the last rank that counts, if there are as many.
    fn last_of<K: Ord + Copy>(mut keys: Vec<K>, spec: &TopSpec) -> Option<K> {
        keys.sort_unstable();
        if spec.rank == TopRank::DenseRank {
            keys.dedup();
        }
        keys.get(spec.most as usize - 1).copied()
    }

    proptest! {
        #[test]
        fn no_row_of_the_first_ranks_is_dropped_and_none_behind_them_is_kept(
            rows in prop::collection::vec((prop::option::of(-9..30_i32), prop::option::of(-20..40_i32)), 0..1_500),
            most in 1..6_u64,
            descending: bool,
            nulls_first: bool,
            is_plain: bool,
        ) {
            let whole = |key: Option<i32>| if is_plain { key.or(Some(0)) } else { key };
            let rows: Vec<Row> = rows.into_iter().map(|(partition, key)| (whole(partition), whole(key))).collect();
            for rank in [TopRank::RowNumber, TopRank::Rank, TopRank::DenseRank] {
                let spec = TopSpec { rank, most };
                let kept = best(&spec, descending, nulls_first, &rows);
                let mut of_partition: BTreeMap<_, Vec<_>> = BTreeMap::new();
                for ((partition, key), kept) in rows.iter().zip(kept) {
                    let value = key.map(|key| if descending { -key } else { key });
                    let key = (key.is_some() == nulls_first, value);
                    of_partition.entry(*partition).or_default().push((key, kept));
                }
                for rows in of_partition.into_values() {
                    let last = last_of(rows.iter().map(|(key, _)| *key).collect(), &spec);
                    let kept = rows.iter().filter(|(_, kept)| *kept).count();
                    for (key, kept) in &rows {
                        match last {
                            Some(last) if *key == last && rank == TopRank::RowNumber => {}
                            Some(last) => prop_assert_eq!(*kept, *key <= last),
                            None => prop_assert!(*kept),
                        }
                    }
                    prop_assert!(kept as u64 >= most.min(rows.len() as u64) || rank == TopRank::DenseRank);
                }
            }
        }
    }
}
