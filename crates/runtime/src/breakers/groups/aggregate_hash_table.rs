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
//! [`GroupMerge`](crate::GroupMerge) makes one of the workers' tables.

use super::double_sums::{Deviations, check_overflow, summed};
use super::lists::{Chunk, ListSpec, Lists};
use super::sketch;
use crate::breakers::join::join_hash_table::{POINTER_MASK, tags};
use crate::memory::Memory;
use crate::row_layout::{FieldPlace, HASH_OFFSET, NEXT_OFFSET, RowField, RowLayout, prefetch_strings};
use crate::row_pages::RowPages;
use crate::string_heap::StringHeap;
use frazil_kernels::hash::hash_u64;
use frazil_kernels::prefetch::prefetch_read;
use frazil_types::{
    Error, MemoryBudget, NativeType, Reservation, Result, STAGE_ROWS, SqlState, dispatch_native,
};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

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
    /// The bits that all values have.
    BitAnd,
    /// The bits that some value has.
    BitOr,
    /// The bits that an odd number of values have.
    BitXor,
    /// A sum of products of deviations from the mean, an `F64`.
    Deviations {
        /// The state in front of it that counts the values.
        count: usize,
        /// Those that are their sums.
        sums: [usize; 2],
    },
    /// A value of a row in which another state, one of [`StateKind::Min`] or [`StateKind::Max`], found its value.
    Picked {
        /// That state, behind this one.
        by: usize,
    },
    /// The rows that a group keeps, as the address of a [`Chunk`]: the number of their [`ListSpec`].
    Rows(usize),
    /// About how many different values there are: the address of a chunk of hashes, in the end the number.
    Sketch,
    /// What is made of kept rows, when all groups are there.
    Made,
}

impl StateKind {
    /// Whether it is the address of a chunk while rows come.
    pub fn is_chunks(self) -> bool {
        matches!(self, StateKind::Rows(_) | StateKind::Sketch)
    }
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
    /// The rows that groups keep.
    pub lists: Vec<ListSpec>,
    /// Number of groups after which no more rows are needed.
    pub enough: usize,
}

impl AggregateSpec {
    /// Rows of these group keys and states; groups keep no rows. A state's field is nullable if it can be empty.
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
            lists: Vec::new(),
            enough: usize::MAX,
        }
    }

    /// Whether two rows are of one group; NULLs are equal.
    ///
    /// # Safety
    /// Live rows of this layout, their strings alive.
    pub(crate) unsafe fn same_group(&self, a: *const u8, b: *const u8) -> bool {
        // SAFETY: by contract.
        self.layout.fields[..self.groups]
            .iter()
            .all(|f| unsafe { f.equal(a, b) })
    }

    /// Adds the states of `from` to those of `to`.
    ///
    /// # Safety
    /// As [`AggregateSpec::same_group`]; nobody else uses `to`.
    pub(crate) unsafe fn combine(&self, to: *mut u8, from: *const u8) -> Result<()> {
        let fields = &self.layout.fields[self.groups..];
        for (place, &kind) in fields.iter().zip(&self.states) {
            if let StateKind::Picked { by } = kind
                // SAFETY: by contract.
                && unsafe { improves(&fields[by], self.states[by], to, from) }
            {
                // SAFETY: by contract.
                unsafe { take(place, to, from) };
            }
        }
        // Deviations are of counts and sums in front of them, which are not yet added then.
        for (place, &kind) in fields.iter().zip(&self.states).rev() {
            // SAFETY: by contract.
            unsafe {
                match kind {
                    StateKind::Deviations { count, sums } => {
                        let others = [&fields[count], &fields[sums[0]], &fields[sums[1]]];
                        combine_deviations(place, others, to, from)?;
                    }
                    _ => combine_state(place, kind, to, from)?,
                }
            }
        }
        Ok(())
    }
}

/// Combines as PostgreSQL does. Error 22003.
///
/// # Safety
/// As [`AggregateSpec::combine`]; the others are the count and the sums.
unsafe fn combine_deviations(
    place: &FieldPlace,
    others: [&FieldPlace; 3],
    to: *mut u8,
    from: *const u8,
) -> Result<()> {
    // SAFETY: by contract, with the types that the fields have.
    unsafe {
        if !place.is_valid(from) {
            return Ok(());
        }
        let [count, sum_x, sum_y] = others;
        let part = |row: *const u8| {
            let sums = [sum_x.get(row), sum_y.get(row)];
            Deviations::of(count.get(row), sums, place.get(row))
        };
        let all = match place.is_valid(to) {
            true => part(to).merged(part(from)),
            false => part(from),
        };
        place.set(to, all.products()?);
        place.set_valid(to, true);
    }
    Ok(())
}

/// # Safety
/// As [`AggregateSpec::combine`].
unsafe fn combine_state(place: &FieldPlace, kind: StateKind, to: *mut u8, from: *const u8) -> Result<()> {
    // SAFETY: by contract, with the type the field says it has.
    unsafe {
        match kind {
            StateKind::Picked { .. } | StateKind::Made => return Ok(()),
            StateKind::Rows(_) | StateKind::Sketch => {
                let chunks = |row| place.get::<i64>(row) as *mut Chunk;
                place.set(to, Chunk::link(chunks(to), chunks(from)) as i64);
                return Ok(());
            }
            _ if improves(place, kind, to, from) => {
                take(place, to, from);
                return Ok(());
            }
            _ if !place.is_valid(from) => return Ok(()),
            _ => {}
        }
        match kind {
            StateKind::Count | StateKind::Sum => add(place, to, from)?,
            StateKind::BitAnd => bits(place, to, from, |a, b| a & b),
            StateKind::BitOr => bits(place, to, from, |a, b| a | b),
            StateKind::BitXor => bits(place, to, from, |a, b| a ^ b),
            StateKind::Min
            | StateKind::Max
            | StateKind::Deviations { .. }
            | StateKind::Picked { .. }
            | StateKind::Rows(_)
            | StateKind::Sketch
            | StateKind::Made => {}
        }
    }
    Ok(())
}

/// Whether a state is what that of `from` is: it is empty, or not the least or greatest.
///
/// # Safety
/// As [`AggregateSpec::combine`].
unsafe fn improves(place: &FieldPlace, kind: StateKind, to: *const u8, from: *const u8) -> bool {
    // SAFETY: by contract.
    unsafe {
        if !place.is_valid(from) || !place.is_valid(to) {
            return place.is_valid(from);
        }
        match kind {
            StateKind::Min => place.compare(from, to) == Ordering::Less,
            StateKind::Max => place.compare(from, to) == Ordering::Greater,
            _ => false,
        }
    }
}

/// # Safety
/// As [`AggregateSpec::combine`].
unsafe fn take(place: &FieldPlace, to: *mut u8, from: *const u8) {
    // SAFETY: by contract, with the type the field says it has.
    unsafe {
        dispatch_native!(place.native, T => place.set::<T>(to, place.get::<T>(from)));
        place.set_valid(to, place.is_valid(from));
    }
}

/// Adds a row's value, which is not NULL, to a state of a group that counts, sums or combines bits.
///
/// # Safety
/// Live rows; the places are the state's in the group, and the value's in the row.
pub(super) unsafe fn advance(
    state: &FieldPlace,
    kind: StateKind,
    group: *mut u8,
    value: Option<&FieldPlace>,
    row: *const u8,
) -> Result<()> {
    // SAFETY: by contract, with the types that the fields have.
    unsafe {
        let whole = |place: &FieldPlace| match place.native {
            NativeType::Bool => i128::from(place.get::<u8>(row)),
            NativeType::I16 => place.get::<i16>(row).into(),
            NativeType::I32 => place.get::<i32>(row).into(),
            NativeType::I64 => place.get::<i64>(row).into(),
            _ => place.get::<i128>(row),
        };
        match (kind, value) {
            (StateKind::Count, _) => state.set(group, state.get::<i64>(group) + 1),
            (StateKind::Sum, Some(value)) if state.native == NativeType::F64 => {
                let (sum, is_overflown) = summed(state.get(group), value.get(row));
                check_overflow(is_overflown)?;
                state.set::<f64>(group, sum);
            }
            (StateKind::Sum, Some(value)) => add_whole(state, group, whole(value))?,
            (StateKind::BitXor, Some(value)) => match state.native {
                NativeType::I16 => state.set(group, state.get::<i16>(group) ^ whole(value) as i16),
                NativeType::I32 => state.set(group, state.get::<i32>(group) ^ whole(value) as i32),
                _ => state.set(group, state.get::<i64>(group) ^ whole(value) as i64),
            },
            _ => return Err(Error::internal("a state that no kept row advances")),
        }
        state.set_valid(group, true);
    }
    Ok(())
}

/// # Safety
/// As [`AggregateSpec::combine`].
unsafe fn bits(place: &FieldPlace, to: *mut u8, from: *const u8, f: fn(i64, i64) -> i64) {
    // SAFETY: by contract, with the type the field says it has.
    unsafe {
        match place.native {
            NativeType::I16 => {
                let both = f(place.get::<i16>(to).into(), place.get::<i16>(from).into());
                place.set(to, both as i16);
            }
            NativeType::I32 => {
                let both = f(place.get::<i32>(to).into(), place.get::<i32>(from).into());
                place.set(to, both as i32);
            }
            _ => place.set(to, f(place.get::<i64>(to), place.get::<i64>(from))),
        }
    }
}

/// # Safety
/// As [`AggregateSpec::combine`].
unsafe fn add(place: &FieldPlace, to: *mut u8, from: *const u8) -> Result<()> {
    // SAFETY: by contract, with the type the field says it has.
    unsafe {
        match place.native {
            NativeType::I64 => add_whole(place, to, place.get::<i64>(from).into()),
            NativeType::I128 => add_whole(place, to, place.get::<i128>(from)),
            NativeType::F64 => {
                let (sum, is_overflown) = summed(place.get(to), place.get(from));
                place.set::<f64>(to, sum);
                check_overflow(is_overflown)
            }
            other => Err(Error::internal(format!("a sum held as {other:?}"))),
        }
    }
}

/// Adds to a sum of 64 or 128 bits. Error 22003.
///
/// # Safety
/// As [`AggregateSpec::combine`].
unsafe fn add_whole(place: &FieldPlace, to: *mut u8, value: i128) -> Result<()> {
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
                let value = i64::try_from(value).ok();
                let sum = value.and_then(|value| place.get::<i64>(to).checked_add(value));
                place.set::<i64>(to, sum.ok_or_else(overflow)?);
            }
            _ => {
                let sum = place.get::<i128>(to).checked_add(value);
                place.set::<i128>(to, sum.ok_or_else(overflow)?);
            }
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
    /// Rows that groups keep.
    pub lists: Lists,
    slots: usize,
    /// Of an array the slots among which all groups are: bounds of keys are assumed wider than keys are.
    pub(crate) filled: Range<usize>,
    groups: usize,
    pub(crate) spec: Arc<AggregateSpec>,
    memory: Memory,
    pub(crate) budget: MemoryBudget,
    reservation: Reservation,
}

// SAFETY: all pointers go to memory the table owns.
unsafe impl Send for AggregateTable {}
// SAFETY: nothing is written through a shared reference.
unsafe impl Sync for AggregateTable {}

/// Fewest slots of a hash directory, and most it starts with. A directory of the fewest takes a part of the
/// first-level cache, and no more lines of it than it has groups; with 64 slots every other aggregation into a
/// dozen groups would have two of them in one chain, and a branch that nobody foresees for every row.
const SLOTS: std::ops::RangeInclusive<usize> = 1024..=1 << 20;

/// Groups from which on neither rows nor directory stay in the caches of a core, and chains are kept short.
const MANY_GROUPS: usize = 1 << 15;

/// Slots that are on their way while one is looked at.
const SLOTS_AHEAD: usize = 32;

impl AggregateTable {
    /// No groups yet (of [`GroupAddressing::Single`] the one).
    pub fn new(spec: impl Into<Arc<AggregateSpec>>, budget: &MemoryBudget) -> Result<AggregateTable> {
        let spec = spec.into();
        let slots = match spec.addressing {
            GroupAddressing::Hash { expected } => {
                // Each row of a chain is a line of memory to wait for, an empty slot takes the eighth part of one.
                let roomy = if expected >= MANY_GROUPS {
                    expected * 2
                } else {
                    expected
                };
                roomy.clamp(*SLOTS.start(), *SLOTS.end()).next_power_of_two()
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
            lists: Lists::new(budget),
            slots,
            filled: 0..0,
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

    /// Bytes that groups and directory have taken from the budget.
    pub(super) fn bytes_taken(&self) -> usize {
        self.pages.bytes() + self.heap.bytes() + self.lists.bytes() + self.reservation.bytes()
    }

    /// Bytes that look-ups go through: groups, and the places that lead to them.
    pub fn bytes_looked_up(&self) -> usize {
        let places = match self.spec.addressing {
            GroupAddressing::Hash { .. } => self.slots,
            // Few of the slots may be in use.
            GroupAddressing::Array { .. } | GroupAddressing::Single => self.groups,
        };
        self.groups * self.spec.layout.size + places * size_of::<u64>()
    }

    /// A new row of a list, to be written by the caller; `cell` is where the group's state for it lies. Error 53200.
    ///
    /// # Safety
    /// The cell lies in a live row of this table.
    pub unsafe fn append(&mut self, list: usize, cell: *mut u8) -> Result<*mut u8> {
        let Some(spec) = self.spec.lists.get(list) else {
            return Err(Error::internal(format!(
                "list {list} of {}",
                self.spec.lists.len()
            )));
        };
        // SAFETY: by contract.
        unsafe { self.lists.append(spec, cell.cast()) }
    }

    /// Notes the hash of a value in the sketch of which a group's state lies at `cell`. Error 53200.
    ///
    /// # Safety
    /// As [`AggregateTable::append`].
    pub unsafe fn sketch(&mut self, cell: *mut u8, hash: u64) -> Result<()> {
        // SAFETY: by contract.
        unsafe { sketch::add(self.lists.heap(), cell.cast(), hash) }
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Whether a group has a value for the state at a position.
    pub fn has_state(&self, state: usize) -> bool {
        let place = &self.spec.layout.fields[self.spec.groups + state];
        let mut rows = self.pages.iter();
        // SAFETY: a live row of the layout.
        rows.any(|row| unsafe { place.is_valid(row) })
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
            row.write_bytes(0, self.spec.layout.size);
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
        self.filled = match self.groups {
            0 => index..index + 1,
            _ => self.filled.start.min(index)..self.filled.end.max(index + 1),
        };
        self.groups += 1;
        // SAFETY: a fresh row of the layout; the index was checked.
        unsafe {
            row.write_bytes(0, self.spec.layout.size);
            row.offset(HASH_OFFSET as isize)
                .cast::<u64>()
                .write(hash_u64(index as u64));
            self.directory.add(index).write(row as u64);
        }
        Ok(row)
    }

    /// For each place, a hash or the slot of an array, the first row of that hash in its chain, or the group; null where there is
    /// none. A place is on its way to the cache before it is looked at, and so is every row of a chain (Relaxed Operator
    /// Fusion, section 4.3): chains of a vector are walked side by side, a step of each at a time.
    ///
    /// # Safety
    /// Slots of an array lie within it; at most [`STAGE_ROWS`] places.
    pub unsafe fn heads(&self, places: &[u64], out: &mut [*const u8]) {
        match self.spec.addressing {
            // SAFETY: a hash shifted by `shift` is below the number of slots.
            GroupAddressing::Hash { .. } => unsafe {
                self.heads_at(places, out, |hash| (hash >> self.shift) as usize, tags);
                walk_chains(places, out);
                prefetch_strings(&self.spec.layout.fields[..self.spec.groups], &out[..places.len()]);
            },
            // SAFETY: by contract.
            GroupAddressing::Array { .. } | GroupAddressing::Single => unsafe {
                self.heads_at(places, out, |slot| slot as usize, |_| 0);
            },
        }
    }

    /// # Safety
    /// `slot` gives places within the directory.
    #[inline(always)]
    unsafe fn heads_at(
        &self,
        places: &[u64],
        out: &mut [*const u8],
        slot: impl Fn(u64) -> usize,
        tags: impl Fn(u64) -> u64,
    ) {
        let directory = self.directory.cast_const();
        let last_byte = self.spec.layout.size - 1;
        for &place in places.iter().take(SLOTS_AHEAD) {
            prefetch_read(directory.wrapping_add(slot(place)));
        }
        for (i, (&place, head)) in places.iter().zip(out).enumerate() {
            if let Some(&ahead) = places.get(i + SLOTS_AHEAD) {
                prefetch_read(directory.wrapping_add(slot(ahead)));
            }
            // SAFETY: by contract.
            let entry = unsafe { directory.add(slot(place)).read() };
            let wanted = tags(place);
            let row = match entry & wanted == wanted {
                true => (entry & POINTER_MASK) as *const u8,
                false => std::ptr::null(),
            };
            prefetch_read(row);
            prefetch_read(row.wrapping_add(last_byte));
            *head = row;
        }
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
        // Rows follow each other in memory, their slots do not.
        let mut ahead = self.pages.iter().skip(SLOTS_AHEAD);
        for row in self.pages.iter() {
            // SAFETY: live rows; slots are below 2^(64 - shift).
            unsafe {
                if let Some(next) = ahead.next() {
                    prefetch_read(
                        self.directory
                            .wrapping_add((hash_of(next) >> self.shift) as usize),
                    );
                }
                let hash = hash_of(row);
                link(self.directory, hash >> self.shift, row, hash);
            }
        }
        Ok(())
    }
}

/// Walks from each head to the first row of its hash; null where the chain has none.
///
/// # Safety
/// Heads are live rows with hash headers, or null; at most [`STAGE_ROWS`] hashes.
unsafe fn walk_chains(hashes: &[u64], heads: &mut [*const u8]) {
    let mut others = [0u16; STAGE_ROWS];
    let mut count = 0;
    // Whether a row goes on is no branch: nobody foresees it.
    // SAFETY: by contract.
    let mut step = |i: usize, others: &mut [u16; STAGE_ROWS], count: &mut usize| unsafe {
        let row = heads[i];
        if row.is_null() {
            return;
        }
        let goes_on = hash_of(row) != hashes[i];
        let next = row.offset(NEXT_OFFSET as isize).cast::<*const u8>().read();
        let row = if goes_on { next } else { row };
        heads[i] = row;
        prefetch_read(row);
        others[*count] = i as u16;
        *count += usize::from(goes_on);
    };
    for i in 0..hashes.len() {
        step(i, &mut others, &mut count);
    }
    while count > 0 {
        let these = std::mem::take(&mut count);
        for at in 0..these {
            step(usize::from(others[at]), &mut others, &mut count);
        }
    }
}

/// # Safety
/// `row` must be a live row with a hash header.
pub(crate) unsafe fn hash_of(row: *const u8) -> u64 {
    // SAFETY: by contract.
    unsafe { row.offset(HASH_OFFSET as isize).cast::<u64>().read() }
}

/// Puts `row` before the chain of a slot.
///
/// # Safety
/// `row` must be a live row with a hash header, `slot` within the directory, both used by nobody else.
pub(crate) unsafe fn link(directory: *mut u64, slot: u64, row: *mut u8, hash: u64) {
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
