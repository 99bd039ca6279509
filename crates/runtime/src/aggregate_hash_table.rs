//! Groups of an aggregation.
//!
//! Each worker aggregates into a private [`AggregateTable`]. Its directory is addressed in one of three
//! ways, which the plan decides:
//!
//! - **hash**: slot = `hash >> shift`; entries and tags as in a join's directory. Generated code walks the
//!   chain, comparing hash and group keys, and calls [`AggregateTable::insert`] where no row is found; the
//!   directory doubles when there are more groups than slots, so `directory` and `shift` are read anew for every row.
//! - **array**: group keys within small known bounds; slot = a mixed-radix index. Entries are plain
//!   pointers; where one is null, [`AggregateTable::insert_at`] makes the row.
//! - **single**: no group keys; one row that is always there, at slot 0.
//!
//! A row holds chain header, group keys and states. A new row is all zero: generated code writes the
//! keys, and a state that is nullable is empty until its validity byte is set.
//!
//! The workers' tables become one by hash partitions: [`GroupMerge`] scatters the row pointers of each
//! table (one task a table), then combines each partition (one task a partition) by linking the
//! existing rows into a fresh directory. No row is copied. A single table is taken as it is.

use crate::join_hash_table::{POINTER_MASK, tags};
use crate::memory::Memory;
use crate::row_layout::{FieldPlace, HASH_OFFSET, NEXT_OFFSET, RowField, RowLayout};
use crate::row_pages::RowPages;
use crate::string_heap::StringHeap;
use frazil_kernels::hash::hash_u64;
use frazil_types::{Error, MemoryBudget, NativeType, Reservation, Result, SqlState, dispatch_native};
use std::cmp::Ordering;
use std::sync::OnceLock;

/// How two partial states become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// An `I64` that counts.
    Count,
    /// A sum: `I64` (proved to fit), `I128` (checked, 22003) or `F64`.
    Sum,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
}

/// How the directory is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupAddressing {
    /// By hash; starts with room for about this many groups.
    Hash {
        /// Groups expected.
        expected: usize,
    },
    /// By an index below `slots`.
    Array {
        /// Number of slots.
        slots: usize,
    },
    /// One row.
    Single,
}

/// How groups look.
#[derive(Clone, Debug)]
pub struct AggregateSpec {
    /// Rows: group keys first, then states.
    pub layout: RowLayout,
    /// Number of group keys.
    pub groups: usize,
    /// What each state is.
    pub states: Vec<StateKind>,
    /// How they are found.
    pub addressing: GroupAddressing,
}

impl AggregateSpec {
    /// Rows of these group keys and states. A state's field is nullable if it can be empty.
    pub fn new(
        groups: &[RowField],
        states: &[(StateKind, RowField)],
        addressing: GroupAddressing,
    ) -> AggregateSpec {
        let fields: Vec<RowField> = groups.iter().copied().chain(states.iter().map(|s| s.1)).collect();
        AggregateSpec {
            layout: RowLayout::of_groups(&fields),
            groups: groups.len(),
            states: states.iter().map(|s| s.0).collect(),
            addressing,
        }
    }

    /// Whether two rows are of one group; NULLs are equal.
    ///
    /// # Safety
    /// Live rows of this layout, their strings alive.
    unsafe fn same_group(&self, a: *const u8, b: *const u8) -> bool {
        // SAFETY: by contract.
        self.layout.fields[..self.groups]
            .iter()
            .all(|f| unsafe { f.equal(a, b) })
    }

    /// Adds the states of `from` to those of `to`.
    ///
    /// # Safety
    /// As [`AggregateSpec::same_group`]; nobody else uses `to`.
    unsafe fn combine(&self, to: *mut u8, from: *const u8) -> Result<()> {
        for (place, &kind) in self.layout.fields[self.groups..].iter().zip(&self.states) {
            // SAFETY: by contract.
            unsafe { combine_state(place, kind, to, from)? };
        }
        Ok(())
    }
}

/// # Safety
/// As [`AggregateSpec::combine`].
unsafe fn combine_state(place: &FieldPlace, kind: StateKind, to: *mut u8, from: *const u8) -> Result<()> {
    // SAFETY: by contract, with the type the field says it has.
    unsafe {
        if !place.is_valid(from) {
            return Ok(());
        }
        let take = !place.is_valid(to)
            || match kind {
                StateKind::Min => place.compare(from, to) == Ordering::Less,
                StateKind::Max => place.compare(from, to) == Ordering::Greater,
                StateKind::Count | StateKind::Sum => false,
            };
        if take {
            dispatch_native!(place.native, T => place.set::<T>(to, place.get::<T>(from)));
            place.set_valid(to, true);
        } else if matches!(kind, StateKind::Count | StateKind::Sum) {
            add(place, to, from)?;
        }
    }
    Ok(())
}

/// # Safety
/// As [`AggregateSpec::combine`].
unsafe fn add(place: &FieldPlace, to: *mut u8, from: *const u8) -> Result<()> {
    let overflow = || {
        Error::new(
            SqlState::NUMERIC_OUT_OF_RANGE,
            "numeric value out of range in a sum",
        )
    };
    // SAFETY: by contract, with the type the field says it has.
    unsafe {
        match place.native {
            NativeType::I64 => {
                let sum = place.get::<i64>(to).checked_add(place.get::<i64>(from));
                place.set::<i64>(to, sum.ok_or_else(overflow)?);
            }
            NativeType::I128 => {
                let sum = place.get::<i128>(to).checked_add(place.get::<i128>(from));
                place.set::<i128>(to, sum.ok_or_else(overflow)?);
            }
            NativeType::F64 => place.set::<f64>(to, place.get::<f64>(to) + place.get::<f64>(from)),
            other => return Err(Error::internal(format!("a sum held as {other:?}"))),
        }
    }
    Ok(())
}

/// A worker's groups. Generated code reads the first two words.
#[repr(C)]
#[derive(Debug)]
pub struct AggregateTable {
    /// First slot.
    pub directory: *mut u64,
    /// How far a hash is shifted to give its slot.
    pub shift: u64,
    /// The rows.
    pub pages: RowPages,
    /// Bytes of the strings that the rows keep.
    pub heap: StringHeap,
    slots: usize,
    groups: usize,
    spec: AggregateSpec,
    memory: Memory,
    budget: MemoryBudget,
    reservation: Reservation,
}

// SAFETY: all pointers go to memory the table owns.
unsafe impl Send for AggregateTable {}
// SAFETY: nothing is written through a shared reference.
unsafe impl Sync for AggregateTable {}

/// Fewest slots of a hash directory, and most it starts with.
const SLOTS: std::ops::RangeInclusive<usize> = 64..=1 << 20;

impl AggregateTable {
    /// No groups yet (of [`GroupAddressing::Single`] the one).
    pub fn new(spec: AggregateSpec, budget: &MemoryBudget) -> Result<AggregateTable> {
        let slots = match spec.addressing {
            GroupAddressing::Hash { expected } => {
                expected.clamp(*SLOTS.start(), *SLOTS.end()).next_power_of_two()
            }
            GroupAddressing::Array { slots } => slots.max(1),
            GroupAddressing::Single => 1,
        };
        let mut reservation = budget.reservation();
        reservation.grow(slots * 8)?;
        let memory = Memory::zeroed(slots * 8)?;
        let mut table = AggregateTable {
            directory: memory.as_ptr().cast(),
            shift: 64 - u64::from(slots.trailing_zeros()),
            pages: RowPages::new(spec.layout.size, budget),
            heap: StringHeap::new(budget),
            slots,
            groups: 0,
            spec,
            memory,
            budget: budget.clone(),
            reservation,
        };
        if table.spec.addressing == GroupAddressing::Single {
            table.insert_at(0)?;
        }
        Ok(table)
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// How groups look.
    pub fn spec(&self) -> &AggregateSpec {
        &self.spec
    }

    /// A new group of this hash; the caller made sure that it is not there, and writes its keys. Error
    /// 53200 over the budget.
    pub fn insert(&mut self, hash: u64) -> Result<*mut u8> {
        if self.groups >= self.slots {
            self.grow()?;
        }
        let row = self.pages.allocate()?;
        self.groups += 1;
        // SAFETY: a fresh row of the layout; the slot lies within the directory.
        unsafe {
            row.offset(HASH_OFFSET as isize).cast::<u64>().write(hash);
            link(self.directory, hash >> self.shift, row, hash);
        }
        Ok(row)
    }

    /// A new group at a slot that holds none yet; the caller writes its keys.
    pub fn insert_at(&mut self, index: usize) -> Result<*mut u8> {
        if index >= self.slots {
            return Err(Error::internal(format!("group {index} of {}", self.slots)));
        }
        let row = self.pages.allocate()?;
        self.groups += 1;
        // SAFETY: a fresh row of the layout; the index was checked.
        unsafe {
            row.offset(HASH_OFFSET as isize)
                .cast::<u64>()
                .write(hash_u64(index as u64));
            self.directory.add(index).write(row as u64);
        }
        Ok(row)
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        let slots = self.slots * 4;
        // The old directory's share stays with it until both are swapped.
        let mut reservation = self.budget.reservation();
        reservation.grow(slots * 8)?;
        let memory = Memory::zeroed(slots * 8)?;
        self.directory = memory.as_ptr().cast();
        self.shift = 64 - u64::from(slots.trailing_zeros());
        self.slots = slots;
        (self.memory, self.reservation) = (memory, reservation);
        for row in self.pages.iter() {
            // SAFETY: live rows; slots are below 2^(64 - shift).
            unsafe {
                let hash = hash_of(row);
                link(self.directory, hash >> self.shift, row, hash);
            }
        }
        Ok(())
    }
}

/// # Safety
/// `row` must be a live row with a hash header.
unsafe fn hash_of(row: *const u8) -> u64 {
    // SAFETY: by contract.
    unsafe { row.offset(HASH_OFFSET as isize).cast::<u64>().read() }
}

/// Puts `row` before the chain of a slot.
///
/// # Safety
/// `row` must be a live row with a hash header, `slot` within the directory, both used by nobody else.
unsafe fn link(directory: *mut u64, slot: u64, row: *mut u8, hash: u64) {
    // SAFETY: by contract.
    unsafe {
        let entry = directory.add(slot as usize);
        let old = *entry;
        row.offset(NEXT_OFFSET as isize)
            .cast::<u64>()
            .write(old & POINTER_MASK);
        *entry = row as u64 | tags(hash) | (old & !POINTER_MASK);
    }
}

/// Partitions of a merge: by the upper bits of the hash.
const PARTITION_BITS: u32 = 6;
const PARTITIONS: usize = 1 << PARTITION_BITS;

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
        if self.is_trivial() { 0 } else { self.tables.len() }
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
        for &row in parts.into_iter().flatten() {
            // SAFETY: rows of this partition are used by this task alone; slots are below 2^(64 - shift).
            unsafe {
                let hash = hash_of(row);
                let slot = hash << PARTITION_BITS >> shift;
                match find(spec, *directory.add(slot as usize), row, hash) {
                    Some(group) => spec.combine(group, row)?,
                    None => {
                        link(directory, slot, row, hash);
                        groups.push(row);
                    }
                }
            }
        }
        let _ = self.merged[partition].set(Pointers(groups));
        Ok(())
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
            merged,
        }
    }

    /// Does all tasks in this thread.
    pub fn run(tables: Vec<AggregateTable>) -> Result<Groups> {
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
    /// Of several tables: the rows of each partition. Else the pages of the one table count.
    merged: Vec<Vec<*mut u8>>,
}

// SAFETY: the rows are owned by the tables and no longer written.
unsafe impl Send for Groups {}
// SAFETY: as above.
unsafe impl Sync for Groups {}

impl Groups {
    /// Number of parts, the morsels of a pipeline that reads them.
    pub fn parts(&self) -> usize {
        if self.merged.is_empty() {
            self.tables.iter().map(|t| t.pages.pages()).sum()
        } else {
            self.merged.len()
        }
    }

    /// Appends the rows of a part.
    pub fn rows(&self, part: usize, out: &mut Vec<*const u8>) {
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
