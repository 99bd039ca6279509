//! Sorting materialized rows.
//!
//! Generated code writes rows into a worker's private [`Sorter`] as it does into any [`RowPages`], calling
//! `sort_grow` where a page is full. With a limit of n rows that call is also the moment to forget: when
//! more than 2n rows have gathered, all but the first n are dropped, so a top-n never holds more. The first key of the last one
//! that is kept is the bound of the rows that still count: scans that feed the sorter leave out what lies behind it
//! ([`TopBound`]).
//!
//! Rows are ordered by a **normalized prefix**: the leading keys as 128 bits whose unsigned order is
//! the keys' order, NULLs and directions included. Only where two prefixes are equal, and do not hold all
//! keys whole, are the rows themselves compared.

use super::before::Before;
use crate::breakers::array::Array;
use crate::row_layout::{FieldPlace, RowLayout};
use crate::row_pages::RowPages;
use crate::scan_source::{Clause, count_of_rows};
use crate::string_heap::StringHeap;
use frazil_storage::TopBound;
use frazil_types::string_ref::leading_bytes;
use frazil_types::{Cancel, MemoryBudget, NativeType, Reservation, Result, StringRef, Value};
use std::cmp::Ordering;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Rows are not dropped below this many. To select the first ones takes as long as to write some hundred rows; to scan without a
/// bound takes longer.
const FEWEST_PRUNED: usize = 1024;

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortField {
    /// Index into the layout's fields.
    pub field: usize,
    /// Descending.
    pub descending: bool,
    /// NULLs before all else.
    pub nulls_first: bool,
}

/// What a sorter holds and how it is ordered.
#[derive(Clone, Debug)]
pub struct SortSpec {
    /// The rows.
    pub layout: RowLayout,
    /// The keys, most significant first.
    pub keys: Vec<SortField>,
    /// Number of leading keys that make a group. Limit and offset hold for each group; 0: for all rows.
    pub groups: usize,
    /// Rows given out, after `offset`.
    pub limit: Option<u64>,
    /// Rows skipped.
    pub offset: u64,
    /// Where each group says itself how many rows.
    pub counts: GroupCounts,
}

/// Fields of bigints, the same for all rows of a group, that stand in place of limit and offset. NULL: no limit, no row
/// skipped.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupCounts {
    /// Index of the limit's field.
    pub limit: Option<usize>,
    /// Index of the offset's field.
    pub offset: Option<usize>,
}

impl SortSpec {
    /// Rows that are of interest at all.
    pub(crate) fn rows_wanted(&self) -> Option<usize> {
        if self.counts_by_group() {
            return None;
        }
        let wanted = self.limit?.saturating_add(self.offset);
        Some(usize::try_from(wanted).unwrap_or(usize::MAX))
    }

    /// Whether the numbers of rows are those of groups, or stand in the rows: all rows are one group where there is no
    /// key for groups.
    fn counts_by_group(&self) -> bool {
        self.groups > 0 || self.counts.limit.is_some() || self.counts.offset.is_some()
    }

    /// Which rows of a row's group are given out, counted from 0. Errors: 2201W, 2201X.
    ///
    /// # Safety
    /// A live row of the layout.
    unsafe fn ranks_kept(&self, row: *const u8) -> Result<Range<u64>> {
        let count = |field: usize, clause: Clause| {
            let place = &self.layout.fields[field];
            // SAFETY: by contract; the field is a bigint.
            let value = unsafe { place.is_valid(row).then(|| place.get::<i64>(row)) };
            value.map(|n| count_of_rows(n.into(), clause)).transpose()
        };
        let limit = match self.counts.limit {
            Some(field) => count(field, Clause::Limit)?,
            None => self.limit,
        };
        let offset = match self.counts.offset {
            Some(field) => count(field, Clause::Offset)?.unwrap_or(0),
            None => self.offset,
        };
        Ok(offset..limit.map_or(u64::MAX, |limit| limit.saturating_add(offset)))
    }

    /// Order of two rows.
    ///
    /// # Safety
    /// Live rows of the layout, their strings alive.
    unsafe fn compare(&self, a: *const u8, b: *const u8) -> Ordering {
        // SAFETY: by contract.
        unsafe { self.compare_by(&self.keys, a, b) }
    }

    /// Order of two rows by some keys.
    ///
    /// # Safety
    /// As [`SortSpec::compare`].
    unsafe fn compare_by(&self, keys: &[SortField], a: *const u8, b: *const u8) -> Ordering {
        // SAFETY: by contract.
        unsafe { compare_fields(&self.layout, keys, a, b) }
    }

    /// The normalized prefix of a row.
    ///
    /// # Safety
    /// As [`SortSpec::compare`].
    pub(crate) unsafe fn prefix(&self, row: *const u8) -> u128 {
        let mut out = Prefix::default();
        for key in &self.keys {
            let place = &self.layout.fields[key.field];
            // SAFETY: by contract.
            let valid = unsafe { place.is_valid(row) };
            if place.validity.is_some() {
                out.push(u128::from(valid == key.nulls_first), 1);
            }
            let (bits, width) = if valid {
                // SAFETY: by contract; the type is the field's.
                unsafe { normalized(place, row) }
            } else {
                (0, width(place.native))
            };
            let flip = if key.descending && valid {
                !0 >> (128 - width)
            } else {
                0
            };
            out.push(bits ^ flip, width);
            if place.native == NativeType::String {
                break;
            }
        }
        out.bits
    }

    /// The value of the first key of a row; NULL if there is no key.
    ///
    /// # Safety
    /// As [`SortSpec::compare`].
    unsafe fn first_key(&self, row: *const u8) -> Value {
        let Some(key) = self.keys.first() else {
            return Value::Null;
        };
        let place = &self.layout.fields[key.field];
        // SAFETY: by contract; the types are the field's.
        unsafe {
            match place.native {
                _ if !place.is_valid(row) => Value::Null,
                NativeType::Bool => Value::Bool(place.get::<u8>(row) != 0),
                NativeType::I16 => Value::Int(place.get::<i16>(row).into()),
                NativeType::I32 => Value::Int(place.get::<i32>(row).into()),
                NativeType::I64 => Value::Int(place.get::<i64>(row).into()),
                NativeType::I128 => Value::Int(place.get::<i128>(row)),
                NativeType::F64 => Value::Double(place.get::<f64>(row)),
                // Bounds are compared by their bytes, whatever strings they are.
                NativeType::String => Value::Bytes(place.get::<StringRef>(row).bytes().to_owned()),
            }
        }
    }

    /// Whether the prefix holds all keys whole.
    pub(crate) fn prefix_decides(&self) -> bool {
        let mut bits = 0;
        self.keys.iter().all(|k| {
            let place = &self.layout.fields[k.field];
            bits += width(place.native) + u32::from(place.validity.is_some());
            place.native != NativeType::String && bits <= 128
        })
    }
}

/// Order of two rows by some keys.
///
/// # Safety
/// Live rows of the layout, their strings alive.
pub(crate) unsafe fn compare_fields(
    layout: &RowLayout,
    keys: &[SortField],
    a: *const u8,
    b: *const u8,
) -> Ordering {
    for key in keys {
        let place = &layout.fields[key.field];
        // SAFETY: by contract.
        let order = unsafe {
            match (place.is_valid(a), place.is_valid(b)) {
                (true, true) if key.descending => place.compare(b, a),
                (true, true) => place.compare(a, b),
                (x, y) if key.nulls_first => x.cmp(&y),
                (x, y) => y.cmp(&x),
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

#[derive(Default)]
struct Prefix {
    bits: u128,
    used: u32,
}

impl Prefix {
    fn push(&mut self, bits: u128, width: u32) {
        let taken = width.min(128 - self.used);
        if taken > 0 {
            self.bits |= (bits >> (width - taken)) << (128 - self.used - taken);
            self.used += taken;
        }
    }
}

fn width(native: NativeType) -> u32 {
    native.size() as u32 * 8
}

/// A value as an unsigned integer of the same order, and its width in bits.
///
/// # Safety
/// A live row of the layout that the place is of, its strings alive; the value is not NULL.
pub(crate) unsafe fn normalized(place: &FieldPlace, row: *const u8) -> (u128, u32) {
    // SAFETY: by contract; the types are the field's.
    unsafe {
        let bits = match place.native {
            NativeType::Bool => u128::from(place.get::<u8>(row)),
            NativeType::I16 => u128::from(place.get::<i16>(row) as u16 ^ 1 << 15),
            NativeType::I32 => u128::from(place.get::<i32>(row) as u32 ^ 1 << 31),
            NativeType::I64 => u128::from(place.get::<i64>(row) as u64 ^ 1 << 63),
            NativeType::I128 => place.get::<i128>(row) as u128 ^ 1 << 127,
            NativeType::F64 => u128::from(ordered_double(place.get::<f64>(row))),
            NativeType::String => leading_bytes(place.get::<StringRef>(row).bytes()),
        };
        (bits, width(place.native))
    }
}

/// A double as an integer of its SQL order.
pub(crate) fn ordered_double(v: f64) -> u64 {
    let bits = frazil_kernels::hash::double_word(v);
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// A row with its prefix.
#[derive(Clone, Copy)]
struct Entry {
    prefix: u128,
    row: *const u8,
}

/// A worker's rows to be sorted. Generated code sees the page cursor at offset 0.
#[repr(C)]
#[derive(Debug)]
pub struct Sorter {
    /// The rows.
    pub pages: RowPages,
    /// Bytes of the strings that the rows keep.
    pub heap: StringHeap,
    /// Address of the last row of those that were kept, if they are as many as are wanted; 0 until then. Generated
    /// code leaves out what comes behind that row.
    pub last: usize,
    pub(super) spec: Arc<SortSpec>,
    budget: MemoryBudget,
    cancel: Cancel,
    pruner: Option<Box<dyn Prunes>>,
    /// What tells scans which rows still count.
    bound: Option<Arc<TopBound>>,
    /// What tells that of most rows that come once as many as are wanted are kept.
    before: Option<Before>,
}

/// Drops rows of a sorter that nobody asks for.
pub trait Prunes: std::fmt::Debug + Send {
    /// Drops rows if it is time to, and says so; those that are kept may move. All rows are written. Errors: 53200, 57014.
    fn prune(&mut self, pages: &mut RowPages) -> Result<bool>;
}

impl Sorter {
    /// Frees the rows, and keeps the bytes of their strings.
    pub(crate) fn free_rows(&mut self) {
        self.pages = RowPages::new(self.spec.layout.size, &self.budget);
        self.last = 0;
    }

    /// No rows yet.
    pub fn new(spec: impl Into<Arc<SortSpec>>, budget: &MemoryBudget) -> Sorter {
        let spec = spec.into();
        Sorter {
            pages: RowPages::new(spec.layout.size, budget),
            heap: StringHeap::new(budget),
            last: 0,
            spec,
            budget: budget.clone(),
            cancel: Cancel::new(),
            pruner: None,
            bound: None,
            before: None,
        }
    }

    /// The same sorter, which says what rows it still needs.
    pub fn bounded_by(self, bound: Option<Arc<TopBound>>) -> Sorter {
        Sorter { bound, ..self }
    }

    /// The same sorter, of whose rows some are dropped while they come.
    pub fn pruned_by(self, pruner: Box<dyn Prunes>) -> Sorter {
        Sorter {
            pruner: Some(pruner),
            ..self
        }
    }

    /// The same sorter, for a statement that `cancel` stops.
    pub fn stopped_by(mut self, cancel: &Cancel) -> Sorter {
        self.cancel = cancel.clone();
        self
    }

    /// A new row where the current page is full; all rows taken before must be written. Error 53200.
    #[cold]
    pub fn grow(&mut self) -> Result<*mut u8> {
        if let Some(wanted) = self.spec.rows_wanted()
            && self.pages.rows() >= wanted.saturating_mul(2).max(FEWEST_PRUNED)
        {
            self.prune(wanted)?;
            return self.pages.allocate();
        }
        if let Some(pruner) = &mut self.pruner
            && pruner.prune(&mut self.pages)?
        {
            return self.pages.allocate();
        }
        self.pages.grow()
    }

    /// Keeps the first `wanted` rows. Bytes of strings that only dropped rows refer to stay in the heap.
    fn prune(&mut self, wanted: usize) -> Result<()> {
        let mut entries = self.entries();
        self.spec.select(&mut entries, wanted);
        if let Some(last) = entries.last() {
            if let Some(bound) = &self.bound {
                // SAFETY: the row is live and of the layout, its strings kept.
                bound.tighten(unsafe { self.spec.first_key(last.row) });
            }
            // SAFETY: as above.
            self.before = unsafe { Before::of(&self.spec.layout, &self.spec.keys, last.row) };
        }
        let mut kept = RowPages::new(self.spec.layout.size, &self.budget);
        for entry in &entries {
            let row = kept.allocate()?;
            // SAFETY: both rows are live, apart, and of the layout's size.
            unsafe { row.copy_from_nonoverlapping(entry.row, self.spec.layout.size) };
            // The last entry is the last row in the order.
            self.last = row as usize;
        }
        self.pages = kept;
        Ok(())
    }

    /// The rows, without those that are known to be behind the ones that are wanted.
    fn entries(&self) -> Vec<Entry> {
        let entry = |row: *mut u8| Entry {
            // SAFETY: live rows of the layout; their strings are kept by the worker or the query.
            prefix: unsafe { self.spec.prefix(row) },
            row,
        };
        match &self.before {
            // SAFETY: as above.
            Some(before) => unsafe { before.rows(&self.pages) }
                .into_iter()
                .map(entry)
                .collect(),
            None => self.pages.iter().map(entry).collect(),
        }
    }

    /// Sorts this worker's rows; the merge is quick then. May run beside other workers. Errors: 53200, 57014.
    pub fn sort(self) -> Result<SortedRun> {
        let reservation = self.budget.reserve(self.pages.rows() * size_of::<Entry>())?;
        let mut entries = self.entries();
        if let Some(wanted) = self.spec.rows_wanted() {
            self.spec.select(&mut entries, wanted);
        }
        unless_canceled(&self.cancel, || {
            entries.sort_unstable_by(polling(&self.cancel, self.spec.order(self.spec.prefix_decides())));
        })?;
        Ok(SortedRun {
            entries,
            sorter: self,
            _reservation: reservation,
        })
    }
}

impl SortSpec {
    fn order(&self, decides: bool) -> impl Fn(&Entry, &Entry) -> Ordering + '_ {
        move |a, b| match a.prefix.cmp(&b.prefix) {
            // SAFETY: entries are of live rows of the layout.
            Ordering::Equal if !decides => unsafe { self.compare(a.row, b.row) },
            order => order,
        }
    }

    /// Keeps the first `wanted` entries, the last of them at its place, the others in any order.
    fn select(&self, entries: &mut Vec<Entry>, wanted: usize) {
        if wanted > 0 && wanted < entries.len() {
            entries.select_nth_unstable_by(wanted - 1, self.order(self.prefix_decides()));
        }
        entries.truncate(wanted);
    }
}

/// Comparisons between two looks at the cancel flag: some 100 µs.
const COMPARISONS_A_POLL: u32 = 1 << 12;

/// What a comparison throws to leave a sort that nobody waits for any more. No message is printed for it.
struct Canceled;

/// The same order; throws [`Canceled`] once the statement is cancelled.
pub(crate) fn polling<'a, T>(
    cancel: &'a Cancel,
    order: impl Fn(&T, &T) -> Ordering + 'a,
) -> impl FnMut(&T, &T) -> Ordering + 'a {
    let mut left = COMPARISONS_A_POLL;
    move |a, b| {
        left -= 1;
        if left == 0 {
            left = COMPARISONS_A_POLL;
            if cancel.is_set() {
                resume_unwind(Box::new(Canceled));
            }
        }
        order(a, b)
    }
}

/// Runs a sort whose order is [`polling`]; 57014 if it was left.
pub(crate) fn unless_canceled(cancel: &Cancel, sort: impl FnOnce()) -> Result<()> {
    // The entries are in some order then, and dropped.
    match catch_unwind(AssertUnwindSafe(sort)) {
        Ok(()) => Ok(()),
        Err(thrown) if thrown.is::<Canceled>() => cancel.check(),
        Err(panic) => resume_unwind(panic),
    }
}

/// A worker's rows in order.
pub struct SortedRun {
    sorter: Sorter,
    entries: Vec<Entry>,
    _reservation: Reservation,
}

// SAFETY: the rows are owned by the sorter and no longer written.
unsafe impl Send for SortedRun {}

/// Of sorted rows those that limit and offset leave of each group. Errors: 2201W, 2201X for negative ones.
fn first_of_groups(spec: &SortSpec, rows: impl Iterator<Item = *const u8>) -> Result<Vec<*const u8>> {
    let keys = &spec.keys[..spec.groups];
    let mut group: Option<(*const u8, Range<u64>)> = None;
    let mut rank = 0;
    let mut kept = Vec::new();
    for row in rows {
        let ranks = match &group {
            // SAFETY: the rows are alive and of the layout.
            Some((first, ranks)) if unsafe { spec.compare_by(keys, *first, row) }.is_eq() => {
                rank += 1;
                ranks.clone()
            }
            _ => {
                rank = 0;
                // SAFETY: as above.
                let ranks = unsafe { spec.ranks_kept(row) }?;
                group.insert((row, ranks)).1.clone()
            }
        };
        if ranks.contains(&rank) {
            kept.push(row);
        }
    }
    Ok(kept)
}

/// All rows in order, after limit and offset.
#[derive(Debug)]
pub struct SortedRows {
    _sorters: Vec<Sorter>,
    /// Rows that were moved, and bytes that strings of the rows refer to beside those of the sorters.
    _bytes: Vec<Array<u8>>,
    rows: Vec<*const u8>,
    /// What `rows` takes; none where somebody else counts it.
    _held: Option<Reservation>,
}

// SAFETY: the rows are owned by the sorters and no longer written.
unsafe impl Send for SortedRows {}
// SAFETY: as above.
unsafe impl Sync for SortedRows {}

impl SortedRows {
    /// Merges the workers' runs. 57014 once the statement is cancelled; 53200; 2201W, 2201X where a group has a negative limit or
    /// offset.
    pub fn merge(runs: Vec<SortedRun>) -> Result<SortedRows> {
        let mut sorters = Vec::with_capacity(runs.len());
        let mut entries: Vec<Entry> = Vec::new();
        let count: usize = runs.iter().map(|run| run.entries.len()).sum();
        let budget = runs.first().map(|run| run.sorter.budget.clone());
        let budget = budget.unwrap_or_else(MemoryBudget::unlimited);
        // All entries, what the stable sort puts aside of them, and the rows: the runs are counted until they are in.
        let mut held = budget.reservation();
        if runs.len() > 1 {
            held.grow(count * size_of::<Entry>() * 3 / 2)?;
        }
        let mut own = Vec::with_capacity(runs.len());
        for run in runs {
            if entries.is_empty() {
                entries = run.entries;
            } else {
                entries.extend(run.entries);
            }
            sorters.push(run.sorter);
            own.push(run._reservation);
        }
        let Some(first) = sorters.first() else {
            return Ok(SortedRows::of(sorters, Vec::new(), Vec::new()));
        };
        let (spec, cancel) = (first.spec.clone(), first.cancel.clone());
        if sorters.len() > 1 {
            // The stable sort finds the runs and merges them.
            unless_canceled(&cancel, || {
                entries.sort_by(polling(&cancel, spec.order(spec.prefix_decides())));
            })?;
        }
        SortedRows::kept(sorters, &spec, entries.iter().map(|e| e.row), None, &budget)
    }

    /// Keeps those of all rows of some sorters, which come in their order, that limit and offset leave. `moved`
    /// holds rows that are not in the sorters' pages. Errors: 53200; 2201W, 2201X if a group has a negative
    /// limit or offset.
    pub(super) fn kept(
        sorters: Vec<Sorter>,
        spec: &SortSpec,
        rows: impl ExactSizeIterator<Item = *const u8>,
        moved: Option<Array<u8>>,
        budget: &MemoryBudget,
    ) -> Result<SortedRows> {
        let as_count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let rows = match spec.counts_by_group() {
            true => first_of_groups(spec, rows)?,
            false => {
                let kept = spec.limit.map_or(usize::MAX, as_count);
                rows.skip(as_count(spec.offset)).take(kept).collect()
            }
        };
        let mut sorted = SortedRows::of(sorters, rows, moved.into_iter().collect());
        sorted._held = Some(budget.reserve(sorted.rows.len() * size_of::<*const u8>())?);
        Ok(sorted)
    }

    /// Sorts and merges in this thread.
    pub fn run(sorters: Vec<Sorter>) -> Result<SortedRows> {
        let runs = sorters.into_iter().map(Sorter::sort).collect::<Result<_>>()?;
        SortedRows::merge(runs)
    }

    /// Rows of some sorters in the order in which they are given out, and bytes that they refer to.
    pub(crate) fn of(sorters: Vec<Sorter>, rows: Vec<*const u8>, bytes: Vec<Array<u8>>) -> SortedRows {
        SortedRows {
            _sorters: sorters,
            _bytes: bytes,
            rows,
            _held: None,
        }
    }

    /// The rows in their order.
    pub fn in_order(&self) -> &[*const u8] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_layout::RowField;
    use proptest::prelude::*;

    type Row = (Option<i32>, Option<f64>, Option<String>, i128);

    fn spec(keys: &[SortField], limit: Option<u64>, offset: u64) -> SortSpec {
        let fields = [
            RowField::new(NativeType::I32, true),
            RowField::new(NativeType::F64, true),
            RowField::new(NativeType::String, true),
            RowField::new(NativeType::I128, false),
        ];
        SortSpec {
            layout: RowLayout::of_sort(&fields),
            keys: keys.to_vec(),
            groups: 0,
            limit,
            offset,
            counts: GroupCounts::default(),
        }
    }

    fn fill(sorter: &mut Sorter, rows: &[Row]) {
        let fields = sorter.spec.layout.fields.clone();
        for (a, b, c, d) in rows {
            let full = sorter.pages.cursor.end as usize - (sorter.pages.cursor.next as usize)
                < sorter.pages.row_size();
            let row = if full {
                sorter.grow()
            } else {
                sorter.pages.allocate()
            }
            .unwrap();
            // SAFETY: a fresh row of the layout.
            unsafe {
                fields[0].set_valid(row, a.is_some());
                fields[0].set(row, a.unwrap_or(99));
                fields[1].set_valid(row, b.is_some());
                fields[1].set(row, b.unwrap_or(9.9));
                fields[2].set_valid(row, c.is_some());
                let text = c.as_deref().unwrap_or("null").as_bytes();
                fields[2].set(row, sorter.heap.copy(text).unwrap());
                fields[3].set(row, *d);
            }
        }
    }

    fn read(spec: &SortSpec, row: *const u8) -> Row {
        let f = &spec.layout.fields;
        // SAFETY: a live row of the layout.
        unsafe {
            (
                f[0].is_valid(row).then(|| f[0].get(row)),
                f[1].is_valid(row).then(|| f[1].get(row)),
                f[2].is_valid(row)
                    .then(|| f[2].get::<StringRef>(row).text().to_owned()),
                f[3].get(row),
            )
        }
    }

    fn ordered<T>(
        a: &Option<T>,
        b: &Option<T>,
        key: &SortField,
        cmp: impl Fn(&T, &T) -> Ordering,
    ) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) if key.descending => cmp(b, a),
            (Some(a), Some(b)) => cmp(a, b),
            (None, None) => Ordering::Equal,
            (None, _) if key.nulls_first => Ordering::Less,
            (None, _) => Ordering::Greater,
            (_, None) if key.nulls_first => Ordering::Greater,
            (_, None) => Ordering::Less,
        }
    }

    fn oracle(keys: &[SortField], a: &Row, b: &Row) -> Ordering {
        for key in keys {
            let order = match key.field {
                0 => ordered(&a.0, &b.0, key, Ord::cmp),
                1 => ordered(&a.1, &b.1, key, |x, y| match (x.is_nan(), y.is_nan()) {
                    (false, false) => x.partial_cmp(y).unwrap(),
                    (x, y) => x.cmp(&y),
                }),
                2 => ordered(&a.2, &b.2, key, |x, y| x.as_bytes().cmp(y.as_bytes())),
                _ => ordered(&Some(a.3), &Some(b.3), key, Ord::cmp),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    fn check(mut rows: Vec<Row>, keys: &[SortField], limit: Option<u64>, offset: u64, workers: usize) {
        let spec = spec(keys, limit, offset);
        let budget = MemoryBudget::unlimited();
        let share = rows.len().div_ceil(workers).max(1);
        let sorters: Vec<Sorter> = rows
            .chunks(share)
            .map(|part| {
                let mut sorter = Sorter::new(spec.clone(), &budget);
                fill(&mut sorter, part);
                sorter
            })
            .collect();
        let sorted = SortedRows::run(sorters).unwrap();
        rows.sort_by(|a, b| oracle(keys, a, b));
        let expected = rows
            .iter()
            .skip(offset as usize)
            .take(limit.unwrap_or(1 << 40) as usize);
        assert_eq!(sorted.in_order().len(), expected.clone().count());
        for (&row, wanted) in sorted.in_order().iter().zip(expected) {
            let found = read(&spec, row);
            assert_eq!(
                oracle(keys, &found, wanted),
                Ordering::Equal,
                "{found:?} {wanted:?}"
            );
        }
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let double = prop_oneof![
            Just(0.0),
            Just(-0.0),
            Just(f64::NAN),
            Just(f64::INFINITY),
            -2.0..2.0
        ];
        let text = proptest::collection::vec(prop_oneof![Just(0u8), Just(b'a'), Just(b'b')], 0..20)
            .prop_map(|b| String::from_utf8(b).unwrap());
        let row = (
            proptest::option::of(-3..3i32),
            proptest::option::of(double),
            proptest::option::of(text),
            prop_oneof![-2..2i128, Just(i128::MIN), Just(i128::MAX)],
        );
        proptest::collection::vec(row, 0..200)
    }

    fn keys() -> impl Strategy<Value = Vec<SortField>> {
        let key = (0..4usize, any::<bool>(), any::<bool>()).prop_map(|(field, descending, nulls_first)| {
            SortField {
                field,
                descending,
                nulls_first,
            }
        });
        proptest::collection::vec(key, 1..4)
    }

    proptest! {
        #[test]
        fn sorts_as_the_oracle(
            rows in rows(), keys in keys(), limit in proptest::option::of(0..30u64), offset in 0..5u64, workers in 1..4usize,
        ) {
            check(rows, &keys, limit, offset, workers);
        }
    }

    #[test]
    fn a_cancelled_sort_and_merge_are_left() {
        let rows: Vec<Row> = (0..50_000)
            .map(|i| (Some(i * 7919 % 100_003), None, None, i.into()))
            .collect();
        let key = SortField {
            field: 0,
            descending: false,
            nulls_first: false,
        };
        let (cancel, budget) = (Cancel::new(), MemoryBudget::unlimited());
        let filled = || {
            let mut sorter = Sorter::new(spec(&[key], None, 0), &budget).stopped_by(&cancel);
            fill(&mut sorter, &rows);
            sorter
        };
        let runs = vec![filled().sort().unwrap(), filled().sort().unwrap()];
        let unsorted = filled();
        cancel.time_out();
        for left in [SortedRows::merge(runs), SortedRows::run(vec![unsorted])] {
            assert!(left.unwrap_err().message().contains("statement timeout"));
        }
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_top_n_forgets_what_it_does_not_need() {
        let rows: Vec<Row> = (0..200_000)
            .map(|i| (Some(i * 7919 % 100_003), None, None, i.into()))
            .collect();
        let key = SortField {
            field: 0,
            descending: true,
            nulls_first: false,
        };
        let mut sorter = Sorter::new(spec(&[key], Some(10), 3), &MemoryBudget::unlimited());
        fill(&mut sorter, &rows);
        assert!(sorter.pages.rows() < 3 * FEWEST_PRUNED);
        check(rows, &[key], Some(10), 3, 2);
    }
}
