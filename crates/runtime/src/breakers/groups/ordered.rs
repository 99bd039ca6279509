//! What aggregates make of the rows that groups have kept ([`super::lists`]), once all groups are there.
//!
//! Of each group's list the rows' addresses are gathered, sorted by packed keys as those of windows are ([`order`]), and
//! read in that order. Where only the rows of a few ranks are asked for, they are selected instead of sorting all. A worker does
//! the lists of many groups; a long list is sorted by all workers.

use super::aggregate_hash_table::{AggregateSpec, StateKind, advance};
use super::arrival::{self, Stretches};
use super::double_sums::Deviations;
use super::group_merge::Groups;
use super::lists::{Chunk, Delimiter, Fraction, ListOutput, ListSpec, MadeOfRows, Quantile};
use super::{arrays, sketch};
use crate::breakers::alone::Alone;
use crate::breakers::array::Array;
use crate::breakers::order::{Entry, Order};
use crate::breakers::run_borrowed::run_borrowed;
use crate::breakers::sorter::sorted_rows::compare_fields;
use crate::breakers::{Workers, order};
use crate::row_layout::FieldPlace;
use crate::string_heap::StringHeap;
use frazil_types::string_ref::INLINE_BYTES;
use frazil_types::value_ops::{Divide, add_intervals, multiply_interval, negate_interval};
use frazil_types::{Error, Interval, Result, SqlState, StringRef, dispatch_native};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A list of more rows is sorted by all workers.
const LONG: usize = 128 << 10;
/// Up to so many rows are compared field by field: packing keys takes longer.
const SHORT: usize = 6;
/// Groups of a task.
const GROUPS: usize = 1024;
/// Ranks of a list that are selected, one by one; more are found by sorting.
const FEW_RANKS: usize = 4;
/// Rows between two looks at the cancel flag.
const POLLED_ROWS: usize = 4096;

/// Makes the states that come of lists and sketches; the strings they hold are kept by the heaps. Errors: 53200, 54000 for a
/// string that is too long, 57014, 22003.
pub(super) fn finish(
    groups: &Groups,
    spec: &AggregateSpec,
    workers: &dyn Workers,
) -> Result<Vec<StringHeap>> {
    let finisher = Finisher {
        spec,
        states: &spec.layout.fields[spec.groups..],
    };
    if !spec.states.iter().any(|kind| kind.is_chunks()) {
        return Ok(Vec::new());
    }
    let mut parts: Vec<(usize, Range<usize>)> = Vec::new();
    for part in 0..groups.parts() {
        let rows = groups.rows_in(part);
        parts.extend(
            (0..rows)
                .step_by(GROUPS)
                .map(|from| (part, from..rows.min(from + GROUPS))),
        );
    }
    let (long, heaps) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let (budget, cancel) = (workers.budget(), workers.cancel());
    let is_alone = workers.threads() == 1;
    run_borrowed(workers, parts.len(), &|task| {
        let (part, range) = &parts[task];
        let alone = Alone { budget, cancel };
        let mut work = Work::new(&finisher, &alone);
        let rows = (range.clone()).map(|at| groups.row_at(*part, at));
        for group in rows {
            // SAFETY: live rows of the spec's layout, each of one task.
            let left = unsafe { work.group(group, is_alone)? };
            if !left.is_empty() {
                lock(&long).extend(left.into_iter().map(|list| (Group(group), list)));
            }
        }
        lock(&heaps).push(work.heap);
        Ok(())
    })?;
    let long = long.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut heaps = heaps.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut work = Work::new(&finisher, workers);
    for (Group(group), list) in long {
        // SAFETY: a live row of the spec's layout, used here alone.
        unsafe { work.list(group, list)? };
    }
    heaps.push(work.heap);
    Ok(heaps)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The row of a group that goes from one thread to another.
struct Group(*mut u8);

// SAFETY: the groups are owned by the merge that is finished, and one thread at a time uses one.
unsafe impl Send for Group {}

/// What is known for all groups.
struct Finisher<'a> {
    spec: &'a AggregateSpec,
    states: &'a [FieldPlace],
}

/// A thread's work, with the memory that it uses again.
struct Work<'a> {
    of: &'a Finisher<'a>,
    workers: &'a dyn Workers,
    heap: StringHeap,
    entries: Array<Entry>,
    stretches: Stretches,
}

/// A list of one group, in its order.
struct Rows<'a> {
    list: &'a ListSpec,
    entries: &'a [Entry],
    group: *mut u8,
}

impl<'a> Work<'a> {
    fn new(of: &'a Finisher<'a>, workers: &'a dyn Workers) -> Work<'a> {
        Work {
            of,
            workers,
            heap: StringHeap::new(workers.budget()),
            entries: Array::empty(workers.budget()),
            stretches: Stretches::new(workers.budget()),
        }
    }

    /// Makes the states of a group; gives the lists that are left to all workers.
    ///
    /// # Safety
    /// A live row of the spec's layout, used by nobody else.
    unsafe fn group(&mut self, group: *mut u8, all: bool) -> Result<Vec<usize>> {
        let mut left = Vec::new();
        for (place, kind) in self.of.states.iter().zip(&self.of.spec.states) {
            // SAFETY: by contract; such a state is the address of a chunk.
            unsafe {
                let last = || place.get::<i64>(group) as *mut Chunk;
                match kind {
                    StateKind::Sketch => place.set(group, sketch::estimate(last())),
                    StateKind::Rows(list) => {
                        let rows = Chunk::ring(last()).map(|c| (*c).used as usize).sum::<usize>();
                        match rows > LONG && !all {
                            true => left.push(*list),
                            false => self.rows_of(group, last(), *list, rows)?,
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(left)
    }

    /// Makes the states that come of a long list of a group.
    ///
    /// # Safety
    /// As [`Work::group`].
    unsafe fn list(&mut self, group: *mut u8, list: usize) -> Result<()> {
        let mut kinds = self.of.spec.states.iter();
        let at = kinds.position(|kind| *kind == StateKind::Rows(list));
        let place = at.map(|at| &self.of.states[at]);
        let place = place.ok_or_else(|| Error::internal("a list without its state"))?;
        // SAFETY: by contract.
        unsafe {
            let last = place.get::<i64>(group) as *mut Chunk;
            let rows = Chunk::ring(last).map(|c| (*c).used as usize).sum::<usize>();
            self.rows_of(group, last, list, rows)
        }
    }

    /// # Safety
    /// As [`Work::group`]; the ring has so many rows.
    unsafe fn rows_of(&mut self, group: *mut u8, last: *mut Chunk, list: usize, rows: usize) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        if rows > POLLED_ROWS {
            self.workers.cancel().check()?;
        }
        let list = &self.of.spec.lists[list];
        if arrival::is_all_that_counts(list) {
            // SAFETY: by contract.
            return unsafe { self.arrays_by_arrival(list, group, last, rows) };
        }
        if self.entries.len() < rows {
            let room = rows.next_power_of_two();
            self.entries = Array::empty(self.workers.budget());
            // SAFETY: an entry is two words of any bits; those that are read are written below.
            self.entries = unsafe { Array::stale(room, self.workers.budget())? };
        }
        let mut at = 0;
        // SAFETY: by contract.
        for chunk in unsafe { Chunk::ring(last) } {
            // SAFETY: by contract.
            let used = unsafe { (*chunk).used as usize };
            for (i, entry) in self.entries[at..at + used].iter_mut().enumerate() {
                let row = Chunk::start(chunk).wrapping_add(i * list.layout.size);
                *entry = Entry { key: 0, row };
            }
            at += used;
        }
        // SAFETY: the rows are live.
        unsafe {
            let rows = self.ordered(list, group, rows)?;
            let entries = &self.entries[..rows];
            let rows = Rows { list, entries, group };
            for output in &list.outputs {
                rows.make(output, self.of, &mut self.heap, self.workers)?;
            }
        }
        Ok(())
    }

    /// Makes arrays of rows in the order in which they came.
    ///
    /// # Safety
    /// As [`Work::rows_of`].
    unsafe fn arrays_by_arrival(
        &mut self,
        list: &ListSpec,
        group: *mut u8,
        last: *mut Chunk,
        rows: usize,
    ) -> Result<()> {
        // SAFETY: by contract.
        unsafe { self.stretches.fill(list, last)? };
        for output in &list.outputs {
            let MadeOfRows::Array { value, element } = output.what else {
                return Err(Error::internal("more than arrays of rows as they came"));
            };
            let to = &self.of.states[output.state];
            let size = list.layout.size;
            let values = arrays::Values {
                place: &list.layout.fields[value],
                size,
                element,
                rows,
            };
            let stretches = &self.stretches;
            // SAFETY: the stretches are those of live rows of the list; the group's row is used by nobody else.
            unsafe {
                let runs = |range| stretches.runs(size, range);
                to.set(group, values.array(runs, &mut self.heap, self.workers)?);
                to.set_valid(group, true);
            }
        }
        Ok(())
    }

    /// Brings the first entries into the list's order, or the entries of those ranks that count; gives how many count.
    ///
    /// # Safety
    /// Entries of live rows of the list.
    unsafe fn ordered(&mut self, list: &ListSpec, group: *mut u8, rows: usize) -> Result<usize> {
        if list.keys.is_empty() || rows == 1 {
            return Ok(rows);
        }
        let entries = &mut self.entries[..rows];
        if rows <= SHORT {
            // SAFETY: by contract.
            entries.sort_by(|a, b| unsafe { compare_fields(&list.layout, &list.keys, a.row, b.row) });
            let same = |a: &Entry, b: &Entry| {
                // SAFETY: by contract.
                unsafe { compare_fields(&list.layout, &list.keys, a.row, b.row).is_eq() }
            };
            return Ok(match list.distinct {
                true => order::without_repetition(entries, same),
                false => rows,
            });
        }
        let order = Order::of(&list.layout, &list.keys, entries, self.workers)?;
        // SAFETY: by contract.
        if let Some(ranks) = unsafe { self.of.ranks(list, group, rows)? } {
            order.select(&mut self.entries[..rows], &ranks, self.workers)?;
            return Ok(rows);
        }
        order.sort(&mut self.entries, rows, self.workers)?;
        if !list.distinct {
            return Ok(rows);
        }
        let boundary = order.boundary(list.keys.len());
        let same = |a: &Entry, b: &Entry| !order.differ(&boundary, a, b);
        Ok(order::without_repetition(&mut self.entries[..rows], same))
    }
}

impl Finisher<'_> {
    /// The ranks that a list's outputs ask for, ascending, if they are few.
    ///
    /// # Safety
    /// A live row of the spec's layout.
    unsafe fn ranks(&self, list: &ListSpec, group: *mut u8, rows: usize) -> Result<Option<Vec<usize>>> {
        if list.distinct || list.outputs.len() > FEW_RANKS {
            return Ok(None);
        }
        let mut ranks = Vec::with_capacity(2 * list.outputs.len());
        for output in &list.outputs {
            match &output.what {
                MadeOfRows::First { .. } => ranks.push(0),
                MadeOfRows::Last { .. } => ranks.push(rows - 1),
                MadeOfRows::Quantile { fraction, kind, .. } => {
                    // SAFETY: by contract.
                    if let Some(fraction) = unsafe { self.fraction(*fraction, group)? } {
                        let place = place_of(*kind, fraction, rows);
                        ranks.extend([place.first, place.second]);
                    }
                }
                MadeOfRows::Concatenation { .. }
                | MadeOfRows::Array { .. }
                | MadeOfRows::Mode { .. }
                | MadeOfRows::State { .. } => {
                    return Ok(None);
                }
            }
        }
        ranks.sort_unstable();
        ranks.dedup();
        Ok(Some(ranks))
    }

    /// A fraction; `None` for NULL. Error 22003 for one that is not between 0 and 1.
    ///
    /// # Safety
    /// A live row of the spec's layout.
    unsafe fn fraction(&self, fraction: Fraction, group: *const u8) -> Result<Option<f64>> {
        let value = match fraction {
            Fraction::Constant(value) => value,
            Fraction::State(at) => {
                let place = &self.states[at];
                // SAFETY: by contract; such a state is a double.
                match unsafe { place.is_valid(group).then(|| place.get::<f64>(group)) } {
                    Some(value) => value,
                    None => return Ok(None),
                }
            }
        };
        if !(0.0..=1.0).contains(&value) {
            let message = format!("percentile value {value} is not between 0 and 1");
            return Err(Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
        }
        Ok(Some(value))
    }
}

/// Where a part of rows lies: the ranks around it, and how far from the first to the second.
struct Place {
    first: usize,
    second: usize,
    between: f64,
}

/// As PostgreSQL computes it.
fn place_of(kind: Quantile, fraction: f64, rows: usize) -> Place {
    match kind {
        Quantile::Discrete => {
            let rank = ((fraction * rows as f64).ceil() as usize).clamp(1, rows) - 1;
            Place {
                first: rank,
                second: rank,
                between: 0.0,
            }
        }
        Quantile::BetweenDoubles | Quantile::BetweenIntervals => {
            let exact = fraction * (rows - 1) as f64;
            Place {
                first: exact.floor() as usize,
                second: (exact.ceil() as usize).min(rows - 1),
                between: exact - exact.floor(),
            }
        }
    }
}

impl Rows<'_> {
    /// Makes a state of the rows.
    ///
    /// # Safety
    /// Entries of live rows of the list, of which there is one at least, in their order; the group's row is used by nobody else.
    unsafe fn make(
        &self,
        output: &ListOutput,
        of: &Finisher<'_>,
        heap: &mut StringHeap,
        workers: &dyn Workers,
    ) -> Result<()> {
        let to = &of.states[output.state];
        let fields = &self.list.layout.fields;
        // SAFETY: by contract.
        unsafe {
            match &output.what {
                MadeOfRows::Concatenation { value, delimiter } => {
                    let text = self.concatenation(&fields[*value], delimiter, heap, workers)?;
                    to.set(self.group, text);
                    to.set_valid(self.group, true);
                }
                MadeOfRows::Array { value, element } => {
                    let values = arrays::Values {
                        place: &fields[*value],
                        size: self.list.layout.size,
                        element: *element,
                        rows: self.entries.len(),
                    };
                    let entries = self.entries;
                    let run = |entry: &Entry| arrays::Run {
                        first: entry.row,
                        rows: 1,
                    };
                    let runs = |range: Range<usize>| entries[range].iter().map(run);
                    to.set(self.group, values.array(runs, heap, workers)?);
                    to.set_valid(self.group, true);
                }
                MadeOfRows::Quantile {
                    value,
                    fraction,
                    kind,
                } => {
                    if let Some(fraction) = of.fraction(*fraction, self.group)? {
                        self.quantile(&fields[*value], to, fraction, *kind)?;
                    }
                }
                MadeOfRows::Mode { value } => self.copy(&fields[*value], to, self.most_frequent()),
                MadeOfRows::First { value } => self.copy(&fields[*value], to, 0),
                MadeOfRows::Last { value } => self.copy(&fields[*value], to, self.entries.len() - 1),
                MadeOfRows::State { argument, second } => {
                    let kind = of.spec.states[output.state];
                    let places = [*argument, *second].map(|field| field.map(|f| &fields[f]));
                    self.advance(kind, to, places)?;
                }
            }
        }
        Ok(())
    }

    /// # Safety
    /// As [`Rows::make`]; both places have one type.
    unsafe fn copy(&self, from: &FieldPlace, to: &FieldPlace, rank: usize) {
        let row = self.entries[rank].row;
        // SAFETY: by contract.
        unsafe {
            to.set_valid(self.group, from.is_valid(row));
            dispatch_native!(from.native, T => to.set::<T>(self.group, from.get::<T>(row)));
        }
    }

    /// # Safety
    /// As [`Rows::make`].
    unsafe fn concatenation(
        &self,
        value: &FieldPlace,
        delimiter: &Delimiter,
        heap: &mut StringHeap,
        workers: &dyn Workers,
    ) -> Result<StringRef> {
        let fields = &self.list.layout.fields;
        // SAFETY: by contract; strings live as long as the groups' tables, the delimiter as long as the list's spec.
        let parts = |at: usize| unsafe {
            let row = self.entries[at].row.cast_const();
            let between = match delimiter {
                _ if at == 0 => StringRef::default(),
                Delimiter::Constant(bytes) => StringRef::new(bytes),
                Delimiter::Field(field) if fields[*field].is_valid(row) => fields[*field].get(row),
                Delimiter::Field(_) => StringRef::default(),
            };
            [between, value.get::<StringRef>(row)]
        };
        let polled = |at: usize| match at % POLLED_ROWS {
            0 => workers.cancel().check(),
            _ => Ok(()),
        };
        let mut bytes = 0_usize;
        for at in 0..self.entries.len() {
            polled(at)?;
            bytes = parts(at)
                .iter()
                .fold(bytes, |sum, part| sum.saturating_add(part.len()));
        }
        let mut short = [0; INLINE_BYTES];
        let is_short = bytes <= INLINE_BYTES;
        let room = match is_short {
            true => &mut short[..bytes],
            false => heap.allocate(bytes)?,
        };
        let mut free = &mut *room;
        for at in 0..self.entries.len() {
            polled(at)?;
            for part in parts(at) {
                let (here, rest) = free.split_at_mut(part.len());
                // SAFETY: as above.
                here.copy_from_slice(unsafe { part.bytes() });
                free = rest;
            }
        }
        Ok(match is_short {
            true => StringRef::inline(room),
            // SAFETY: the heap lives as long as the groups.
            false => unsafe { StringRef::new(room) },
        })
    }

    /// # Safety
    /// As [`Rows::make`]; the places have the types that the kind says.
    unsafe fn quantile(
        &self,
        from: &FieldPlace,
        to: &FieldPlace,
        fraction: f64,
        kind: Quantile,
    ) -> Result<()> {
        let place = place_of(kind, fraction, self.entries.len());
        let rows = [place.first, place.second].map(|rank| self.entries[rank].row);
        // SAFETY: by contract.
        unsafe {
            match kind {
                Quantile::Discrete => self.copy(from, to, place.first),
                Quantile::BetweenDoubles => {
                    let [low, high] = rows.map(|row| from.get::<f64>(row));
                    let value = match place.first == place.second {
                        true => low,
                        false => low + place.between * (high - low),
                    };
                    to.set(self.group, value);
                    to.set_valid(self.group, true);
                }
                Quantile::BetweenIntervals => {
                    let [low, high] = rows.map(|row| Interval::from_native(from.get::<i128>(row)));
                    let value = match place.first == place.second {
                        true => low,
                        false => {
                            let apart = add_intervals(high, negate_interval(low)?)?;
                            add_intervals(multiply_interval(apart, place.between, Divide::No)?, low)?
                        }
                    };
                    to.set(self.group, value.to_native());
                    to.set_valid(self.group, true);
                }
            }
        }
        Ok(())
    }

    /// The rank of the first of the most frequent values.
    ///
    /// # Safety
    /// As [`Rows::make`].
    unsafe fn most_frequent(&self) -> usize {
        let (layout, keys) = (&self.list.layout, &self.list.keys);
        let (mut best, mut most) = (0, 0);
        let mut first = 0;
        for at in 1..=self.entries.len() {
            let ends = at == self.entries.len() || {
                let (a, b) = (self.entries[first].row, self.entries[at].row);
                // SAFETY: by contract.
                unsafe { compare_fields(layout, keys, a, b).is_ne() }
            };
            if ends {
                if at - first > most {
                    (best, most) = (first, at - first);
                }
                first = at;
            }
        }
        best
    }

    /// Advances a state by all rows, as generated code does it.
    ///
    /// # Safety
    /// As [`Rows::make`]; the places have the types that the state takes.
    unsafe fn advance(
        &self,
        kind: StateKind,
        to: &FieldPlace,
        [argument, second]: [Option<&FieldPlace>; 2],
    ) -> Result<()> {
        let group = self.group;
        if let StateKind::Deviations { .. } = kind {
            let mut all = Deviations::default();
            let Some(x) = argument else {
                return Err(Error::internal("an aggregate without its argument"));
            };
            for entry in self.entries {
                // SAFETY: by contract; the arguments are doubles.
                unsafe {
                    match second {
                        None => all.add(x.get(entry.row)),
                        Some(y) => all.add_pair(x.get(entry.row), y.get(entry.row)),
                    }
                }
            }
            // SAFETY: by contract.
            unsafe {
                to.set(group, all.products()?);
                to.set_valid(group, true);
            }
            return Ok(());
        }
        for entry in self.entries {
            // SAFETY: by contract.
            unsafe {
                let is_null = argument.is_some_and(|place| !place.is_valid(entry.row));
                if !is_null {
                    advance(to, kind, group, argument, entry.row)?;
                }
            }
        }
        Ok(())
    }
}
