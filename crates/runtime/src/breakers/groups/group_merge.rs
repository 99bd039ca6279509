//! From the workers' partial groups to the groups of the whole aggregation.
//!
//! The workers' tables become one by hash partitions: [`GroupMerge`] scatters the row pointers of each
//! table (one task a table), then combines each partition (one task a partition) by linking the
//! existing rows into a fresh directory. No row is copied. Tables addressed by arrays need neither hash nor
//! scatter: equal groups stand in equal slots, so a task goes through a range of slots of all of them. A single
//! table is taken as it is.

use super::aggregate_hash_table::{AggregateSpec, AggregateTable, GroupAddressing, hash_of, link};
use super::ordered;
use crate::breakers::Workers;
use crate::breakers::join::join_hash_table::{POINTER_MASK, tags};
use crate::memory::Memory;
use crate::row_layout::NEXT_OFFSET;
use crate::string_heap::StringHeap;
use frazil_kernels::prefetch::prefetch_read;
use frazil_types::{Error, Result};
use std::ops::Range;
use std::sync::OnceLock;

/// Partitions of a merge: by the upper bits of the hash.
const PARTITION_BITS: u32 = 6;
const PARTITIONS: usize = 1 << PARTITION_BITS;
/// Rows of a partition whose slots are on their way to the cache while a row is linked. Twice as many rows are on their
/// way themselves.
const ROWS_AHEAD: usize = 16;

type Scattered = Vec<Vec<*mut u8>>;

/// Row pointers that threads hand to each other.
#[derive(Debug, Default)]
struct Pointers<T>(T);

// SAFETY: the rows pointed to are owned by the merge and used by one task at a time.
unsafe impl<T> Send for Pointers<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Pointers<T> {}

/// Workers' tables on their way to becoming one. Call [`GroupMerge::scatter`] for each table, then
/// [`GroupMerge::merge`] for each partition, by any threads, then [`GroupMerge::finish`].
#[derive(Debug)]
pub struct GroupMerge {
    tables: Vec<AggregateTable>,
    scattered: Vec<OnceLock<Pointers<Scattered>>>,
    merged: Vec<OnceLock<Pointers<Vec<*mut u8>>>>,
}

impl GroupMerge {
    /// Begins the merge of at least one table, all of one spec.
    pub fn new(tables: Vec<AggregateTable>) -> GroupMerge {
        GroupMerge {
            scattered: tables.iter().map(|_| OnceLock::new()).collect(),
            merged: (0..PARTITIONS).map(|_| OnceLock::new()).collect(),
            tables,
        }
    }

    fn is_trivial(&self) -> bool {
        self.tables.len() <= 1
    }

    /// Number of scatter tasks.
    pub fn scatter_tasks(&self) -> usize {
        if self.is_trivial() || self.slots().is_some() {
            0
        } else {
            self.tables.len()
        }
    }

    /// The slots among which all groups are, if the tables are arrays.
    fn slots(&self) -> Option<Range<usize>> {
        match self.tables.first()?.spec.addressing {
            GroupAddressing::Array { .. } => {
                let filled = self
                    .tables
                    .iter()
                    .map(|t| t.filled.clone())
                    .filter(|f| !f.is_empty());
                let hull = |a: Range<usize>, b: Range<usize>| a.start.min(b.start)..a.end.max(b.end);
                Some(filled.reduce(hull).unwrap_or(0..0))
            }
            _ => None,
        }
    }

    /// Sorts the rows of a table by partition.
    pub fn scatter(&self, table: usize) {
        let mut parts: Scattered = vec![Vec::new(); PARTITIONS];
        for row in self.tables[table].pages.iter() {
            // SAFETY: live rows.
            let hash = unsafe { hash_of(row) };
            parts[(hash >> (64 - PARTITION_BITS)) as usize].push(row);
        }
        // A task is given out once; a second result would be the same.
        let _ = self.scattered[table].set(Pointers(parts));
    }

    /// Number of merge tasks.
    pub fn merge_tasks(&self) -> usize {
        if self.is_trivial() { 0 } else { PARTITIONS }
    }

    /// Combines the rows of a partition. Errors: 22003 where a sum overflows, 53200.
    pub fn merge(&self, partition: usize) -> Result<()> {
        let groups = match self.slots() {
            Some(slots) => {
                let each = slots.len().div_ceil(PARTITIONS);
                let place = |partition: usize| slots.end.min(slots.start + each * partition);
                self.merge_slots(place(partition)..place(partition + 1))?
            }
            None => self.merge_hashed(partition)?,
        };
        let _ = self.merged[partition].set(Pointers(groups));
        Ok(())
    }

    /// Combines the groups of some slots.
    fn merge_slots(&self, slots: Range<usize>) -> Result<Vec<*mut u8>> {
        let spec = &self.tables[0].spec;
        let mut groups = Vec::new();
        for slot in slots {
            let mut group: *mut u8 = std::ptr::null_mut();
            for table in &self.tables {
                // SAFETY: every table has the spec's slots, and those of this range are this task's alone.
                let row = unsafe { table.directory.add(slot).read() } as *mut u8;
                if row.is_null() {
                    continue;
                }
                if group.is_null() {
                    group = row;
                } else {
                    // SAFETY: live rows of the spec's layout.
                    unsafe { spec.combine(group, row)? };
                }
            }
            if !group.is_null() {
                groups.push(group);
            }
        }
        Ok(groups)
    }

    fn merge_hashed(&self, partition: usize) -> Result<Vec<*mut u8>> {
        let spec = &self.tables[0].spec;
        let parts: Vec<&Vec<*mut u8>> = self
            .scattered
            .iter()
            .map(|s| {
                let all = s
                    .get()
                    .ok_or_else(|| Error::internal("a merge before its scatter"))?;
                Ok(&all.0[partition])
            })
            .collect::<Result<_>>()?;
        let rows: usize = parts.iter().map(|p| p.len()).sum();
        let slots = rows.max(2).next_power_of_two();
        let mut reservation = self.tables[0].budget.reservation();
        reservation.grow(slots * 8)?;
        let memory = Memory::zeroed(slots * 8)?;
        let directory = memory.as_ptr().cast::<u64>();
        let shift = 64 - slots.trailing_zeros();
        let mut groups = Vec::with_capacity(parts[0].len());
        let slot_of = |hash: u64| hash << PARTITION_BITS >> shift;
        for part in parts {
            for (at, &row) in part.iter().enumerate() {
                if let Some(&far) = part.get(at + 2 * ROWS_AHEAD) {
                    prefetch_read(far);
                }
                // SAFETY: rows of this partition are used by this task alone; slots are below 2^(64 - shift).
                unsafe {
                    if let Some(&near) = part.get(at + ROWS_AHEAD) {
                        prefetch_read(directory.wrapping_add(slot_of(hash_of(near)) as usize));
                    }
                    let hash = hash_of(row);
                    let slot = slot_of(hash);
                    match find(spec, *directory.add(slot as usize), row, hash) {
                        Some(group) => spec.combine(group, row)?,
                        None => {
                            link(directory, slot, row, hash);
                            groups.push(row);
                        }
                    }
                }
            }
        }
        Ok(groups)
    }

    /// The groups, once all tasks are done.
    pub fn finish(self) -> Groups {
        let merged = if self.is_trivial() {
            Vec::new()
        } else {
            self.merged
                .into_iter()
                .map(|m| m.into_inner().unwrap_or_default().0)
                .collect()
        };
        Groups {
            tables: self.tables,
            strings: Vec::new(),
            merged,
        }
    }

    /// Does all tasks in this thread.
    pub fn run(tables: Vec<AggregateTable>) -> Result<Groups> {
        if tables.len() <= 1 {
            return Ok(Groups {
                tables,
                strings: Vec::new(),
                merged: Vec::new(),
            });
        }
        let merge = GroupMerge::new(tables);
        (0..merge.scatter_tasks()).for_each(|t| merge.scatter(t));
        (0..merge.merge_tasks()).try_for_each(|p| merge.merge(p))?;
        Ok(merge.finish())
    }
}

/// The row of the same group in the chain of a slot.
///
/// # Safety
/// `row` and the chain must be live rows of the spec's layout.
unsafe fn find(spec: &AggregateSpec, entry: u64, row: *const u8, hash: u64) -> Option<*mut u8> {
    if entry & tags(hash) != tags(hash) {
        return None;
    }
    let mut candidate = (entry & POINTER_MASK) as *mut u8;
    // SAFETY: by contract.
    unsafe {
        while !candidate.is_null() {
            if hash_of(candidate) == hash && spec.same_group(candidate, row) {
                return Some(candidate);
            }
            candidate = candidate.offset(NEXT_OFFSET as isize).cast::<u64>().read() as *mut u8;
        }
    }
    None
}

/// Finished groups, to be read by the pipeline behind the aggregation.
#[derive(Debug)]
pub struct Groups {
    tables: Vec<AggregateTable>,
    /// Bytes of the strings that aggregates made of rows.
    strings: Vec<StringHeap>,
    /// Of several tables: the rows of each partition. Else the pages of the one table count.
    merged: Vec<Vec<*mut u8>>,
}

// SAFETY: the rows are owned by the tables and no longer written.
unsafe impl Send for Groups {}
// SAFETY: as above.
unsafe impl Sync for Groups {}

impl Groups {
    /// Number of parts, the morsels of a pipeline that reads them.
    pub(super) fn parts(&self) -> usize {
        if self.merged.is_empty() {
            self.tables.iter().map(|t| t.pages.pages()).sum()
        } else {
            self.merged.len()
        }
    }

    /// Makes the states that come of rows which groups have kept. Errors: 53200, 54000, 57014, 22003, 22008.
    pub(super) fn with_rows_read(mut self, workers: &dyn Workers) -> Result<Groups> {
        let spec = match self.tables.first() {
            Some(table) => table.spec.clone(),
            None => return Ok(self),
        };
        self.strings = ordered::finish(&self, &spec, workers)?;
        Ok(self)
    }

    /// Number of rows of a part.
    pub(super) fn rows_in(&self, part: usize) -> usize {
        match self.merged.get(part) {
            Some(rows) => rows.len(),
            None => self.tables[0].pages.page(part).1,
        }
    }

    /// A row of a part.
    pub(super) fn row_at(&self, part: usize, at: usize) -> *mut u8 {
        match self.merged.get(part) {
            Some(rows) => rows[at],
            None => {
                let pages = &self.tables[0].pages;
                pages.page(part).0.wrapping_add(at * pages.row_size())
            }
        }
    }

    /// Appends the rows of a part.
    pub(super) fn rows_of(&self, part: usize, out: &mut Vec<*const u8>) {
        match self.merged.get(part) {
            Some(rows) => out.extend(rows.iter().map(|r| r.cast_const())),
            None => {
                let pages = &self.tables[0].pages;
                let (start, rows) = pages.page(part);
                out.extend((0..rows).map(|r| start.wrapping_add(r * pages.row_size()).cast_const()));
            }
        }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        match self.merged.is_empty() {
            true => self.tables.iter().map(AggregateTable::groups).sum(),
            false => self.merged.iter().map(Vec::len).sum(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakers::groups::aggregate_hash_table::{GroupAddressing, StateKind};
    use crate::row_layout::RowField;
    use frazil_kernels::hash::{NULL_WORD, combine, fold_string};
    use frazil_types::StringRef;
    use frazil_types::{MemoryBudget, NativeType, SqlState};
    use std::cmp::Ordering;
    use std::collections::{BTreeMap, BTreeSet};

    type Key = (Option<i32>, String);

    /// What a group should hold: count, sums, smallest and largest value.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Expected {
        count: i64,
        sum: Option<i128>,
        min: Option<i64>,
        max: Option<String>,
    }

    fn spec(addressing: GroupAddressing) -> AggregateSpec {
        let groups = [
            RowField::new(NativeType::I32, true),
            RowField::new(NativeType::String, false),
        ];
        let states = [
            (StateKind::Count, RowField::new(NativeType::I64, false)),
            (StateKind::Sum, RowField::new(NativeType::I128, true)),
            (StateKind::Min, RowField::new(NativeType::I64, true)),
            (StateKind::Max, RowField::new(NativeType::String, true)),
        ];
        AggregateSpec::new(&groups, &states, addressing)
    }

    fn key(i: u64) -> Key {
        let number = (!i.is_multiple_of(7)).then_some((i % 5003) as i32);
        (number, format!("group of number {}", i % 3))
    }

    /// Find or insert, as generated code does it.
    fn group(table: &mut AggregateTable, key: &Key) -> *mut u8 {
        let fields = table.spec.layout.fields.clone();
        let text = table.heap.copy(key.1.as_bytes()).unwrap();
        let number = key.0.map_or(NULL_WORD, |n| i64::from(n) as u64);
        // SAFETY: live rows of the spec's layout; strings live in the table's heap.
        unsafe {
            let hash = fold_string(combine(0, number), text);
            let entry = *table.directory.add((hash >> table.shift) as usize);
            let mut row = (entry & POINTER_MASK) as *mut u8;
            if entry & tags(hash) != tags(hash) {
                row = std::ptr::null_mut();
            }
            while !row.is_null() {
                let same = fields[0].is_valid(row) == key.0.is_some()
                    && key.0.is_none_or(|n| fields[0].get::<i32>(row) == n)
                    && fields[1].get::<StringRef>(row).equal(text);
                if same {
                    return row;
                }
                row = row.cast::<u64>().read() as *mut u8;
            }
            let row = table.insert(hash).unwrap();
            fields[0].set_valid(row, key.0.is_some());
            fields[0].set(row, key.0.unwrap_or(0));
            fields[1].set(row, text);
            row
        }
    }

    fn update(table: &mut AggregateTable, row: *mut u8, i: u64) {
        let f = table.spec.layout.fields.clone();
        let text = table.heap.copy(format!("value {i:020}").as_bytes()).unwrap();
        // SAFETY: as above.
        unsafe {
            f[2].set(row, f[2].get::<i64>(row) + 1);
            if i.is_multiple_of(2) {
                return;
            }
            f[3].set(row, f[3].get::<i128>(row) + i128::from(i) * (1 << 70));
            f[3].set_valid(row, true);
            if !f[4].is_valid(row) || f[4].get::<i64>(row) > i as i64 {
                f[4].set(row, i as i64);
                f[4].set_valid(row, true);
            }
            if !f[5].is_valid(row) || f[5].get::<StringRef>(row).compare(text) == Ordering::Less {
                f[5].set(row, text);
                f[5].set_valid(row, true);
            }
        }
    }

    fn read(groups: &Groups, spec: &AggregateSpec) -> BTreeMap<Key, Expected> {
        let f = &spec.layout.fields;
        let mut rows = Vec::new();
        (0..groups.parts()).for_each(|p| groups.rows_of(p, &mut rows));
        assert_eq!(rows.len(), groups.len());
        let read = |row: *const u8| {
            // SAFETY: live rows of the spec's layout; strings live in the tables' heaps.
            unsafe {
                let number = f[0].is_valid(row).then(|| f[0].get::<i32>(row));
                let expected = Expected {
                    count: f[2].get(row),
                    sum: f[3].is_valid(row).then(|| f[3].get(row)),
                    min: f[4].is_valid(row).then(|| f[4].get(row)),
                    max: f[5]
                        .is_valid(row)
                        .then(|| f[5].get::<StringRef>(row).text().to_owned()),
                };
                ((number, f[1].get::<StringRef>(row).text().to_owned()), expected)
            }
        };
        let all: BTreeMap<Key, Expected> = rows.iter().map(|&r| read(r)).collect();
        assert_eq!(all.len(), rows.len(), "a group occurs once");
        all
    }

    fn oracle(rows: u64) -> BTreeMap<Key, Expected> {
        let mut all: BTreeMap<Key, Expected> = BTreeMap::new();
        for i in 0..rows {
            let e = all.entry(key(i)).or_default();
            e.count += 1;
            if i % 2 == 1 {
                *e.sum.get_or_insert(0) += i128::from(i) * (1 << 70);
                e.min = Some(e.min.unwrap_or(i64::MAX).min(i as i64));
                e.max = e.max.take().max(Some(format!("value {i:020}")));
            }
        }
        all
    }

    #[test]
    fn workers_groups_become_one() {
        const ROWS: u64 = 60_000;
        let spec = spec(GroupAddressing::Hash { expected: 10 });
        for workers in 1..4u64 {
            let budget = MemoryBudget::unlimited();
            let tables = (0..workers).map(|w| {
                let mut table = AggregateTable::new(spec.clone(), &budget).unwrap();
                for i in (w..ROWS).step_by(workers as usize) {
                    let row = group(&mut table, &key(i));
                    update(&mut table, row, i);
                }
                table
            });
            let groups = GroupMerge::run(tables.collect()).unwrap();
            assert_eq!(read(&groups, &spec), oracle(ROWS), "{workers} workers");
        }
    }

    #[test]
    fn tasks_of_a_merge_run_on_any_thread() {
        const ROWS: u64 = 20_000;
        let spec = spec(GroupAddressing::Hash { expected: 10 });
        let tables = (0..2).map(|w| {
            let mut table = AggregateTable::new(spec.clone(), &MemoryBudget::unlimited()).unwrap();
            for i in (w..ROWS).step_by(2) {
                let row = group(&mut table, &key(i));
                update(&mut table, row, i);
            }
            table
        });
        let merge = GroupMerge::new(tables.collect());
        assert!(merge.merge(0).is_err(), "a merge before its scatter");
        std::thread::scope(|s| {
            (0..merge.scatter_tasks()).for_each(|t| {
                drop(s.spawn({
                    let m = &merge;
                    move || m.scatter(t)
                }))
            })
        });
        std::thread::scope(|s| {
            (0..merge.merge_tasks()).for_each(|t| {
                drop(s.spawn({
                    let m = &merge;
                    move || m.merge(t).unwrap()
                }))
            })
        });
        assert_eq!(read(&merge.finish(), &spec), oracle(ROWS));
    }

    #[test]
    fn arrays_and_single_rows_merge_like_any_other() {
        let states = [
            (StateKind::Count, RowField::new(NativeType::I64, false)),
            (StateKind::Sum, RowField::new(NativeType::F64, true)),
        ];
        let group = [RowField::new(NativeType::I32, false)];
        let spec = AggregateSpec::new(&group, &states, GroupAddressing::Array { slots: 100 });
        let budget = MemoryBudget::unlimited();
        let tables = (0..2).map(|w| {
            let mut table = AggregateTable::new(spec.clone(), &budget).unwrap();
            for slot in (w..100).step_by(2 - w) {
                let row = table.insert_at(slot).unwrap();
                // SAFETY: a fresh row of the layout.
                unsafe {
                    spec.layout.fields[0].set(row, slot as i32);
                    spec.layout.fields[1].set(row, 1i64);
                    assert_eq!(table.directory.add(slot).read(), row as u64);
                }
            }
            assert!(table.insert_at(100).is_err());
            table
        });
        assert_eq!(GroupMerge::run(tables.collect()).unwrap().len(), 100);

        // Groups at few of the slots, in some tables none.
        for filled in [
            vec![],
            vec![(1, 99)],
            vec![(0, 7), (2, 98)],
            vec![(1, 40), (2, 40), (2, 41)],
        ] {
            let mut tables: Vec<_> = (0..3)
                .map(|_| AggregateTable::new(spec.clone(), &budget).unwrap())
                .collect();
            let mut slots = BTreeSet::new();
            for &(table, slot) in &filled {
                let row = tables[table].insert_at(slot).unwrap();
                // SAFETY: a fresh row of the layout.
                unsafe { spec.layout.fields[0].set(row, slot as i32) };
                slots.insert(slot as i32);
            }
            let groups = GroupMerge::run(tables).unwrap();
            let mut rows = Vec::new();
            (0..groups.parts()).for_each(|p| groups.rows_of(p, &mut rows));
            // SAFETY: live rows of the layout.
            let found = rows
                .iter()
                .map(|&row| unsafe { spec.layout.fields[0].get::<i32>(row) });
            assert_eq!(found.collect::<Vec<_>>(), slots.into_iter().collect::<Vec<_>>());
        }

        let spec = AggregateSpec::new(&[], &states, GroupAddressing::Single);
        let tables: Vec<_> = (0..3)
            .map(|_| AggregateTable::new(spec.clone(), &budget).unwrap())
            .collect();
        let groups = GroupMerge::run(tables).unwrap();
        let mut rows = Vec::new();
        (0..groups.parts()).for_each(|p| groups.rows_of(p, &mut rows));
        assert_eq!(rows.len(), 1);
        // SAFETY: a live row of the layout.
        assert!(unsafe { !spec.layout.fields[1].is_valid(rows[0]) });
    }

    #[test]
    fn a_sum_that_overflows_in_the_merge_is_an_error() {
        let states = [(StateKind::Sum, RowField::new(NativeType::I128, true))];
        let spec = AggregateSpec::new(&[], &states, GroupAddressing::Single);
        let tables = (0..2).map(|_| {
            let table = AggregateTable::new(spec.clone(), &MemoryBudget::unlimited()).unwrap();
            // SAFETY: the single row of the layout.
            unsafe {
                let row = table.directory.read() as *mut u8;
                spec.layout.fields[0].set(row, i128::MAX);
                spec.layout.fields[0].set_valid(row, true);
            }
            table
        });
        let error = GroupMerge::run(tables.collect()).unwrap_err();
        assert_eq!(error.state(), SqlState::NUMERIC_OUT_OF_RANGE);
    }
}
