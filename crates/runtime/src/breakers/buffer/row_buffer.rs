//! Rows kept in columns: results, shared subplans, rows on their way into a table.
//!
//! Each worker appends stage vectors to its [`BufferWriter`]; when all are done the writers become one
//! [`RowBuffer`]. Limit and offset are kept here: the workers count together how many rows they have
//! taken, and a worker stops when its morsel and those before it have enough. So a LIMIT without ORDER BY keeps the first
//! rows of its source, with any number of workers.

use crate::abi::VectorColumn;
use crate::one_row::RowCopy;
use crate::string_heap::StringHeap;
use frazil_types::{
    ColumnVector, Error, LogicalType, MemoryBudget, Native, NativeType, Reservation, Result, RowBatch,
    RowValues, SqlState, StringRef, Value, dispatch_native,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of a full batch.
const BATCH_ROWS: usize = 16 << 10;

/// A stored column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferColumn {
    /// Its type; it is stored in the type's native form.
    pub ty: LogicalType,
    /// The form in which it arrives: `ty.native()`, or `I64` for a wide decimal whose values fit.
    pub native: NativeType,
}

/// What a buffer keeps.
#[derive(Clone, Debug)]
pub struct BufferSpec {
    /// The columns.
    pub columns: Vec<BufferColumn>,
    /// Rows kept, after `offset`.
    pub limit: Option<u64>,
    /// Rows skipped.
    pub offset: u64,
    /// Whether all strings are copied, so that the rows outlive the statement (its result); otherwise
    /// only transient ones are.
    pub owns_strings: bool,
}

/// What the writers of one buffer share.
#[derive(Debug)]
struct Shared {
    spec: BufferSpec,
    /// Counted where there is a limit.
    taken: Mutex<Taken>,
}

/// How many rows the writers took.
#[derive(Debug, Default)]
struct Taken {
    /// Rows of morsels that are over, before all others.
    settled: u64,
    /// Rows of the others.
    by_morsel: BTreeMap<u64, u64>,
}

impl Taken {
    /// Takes at most `rows` of a morsel while it and those before it have fewer than `wanted`; how many, and whether
    /// that is enough.
    fn take(&mut self, morsel: u64, rows: usize, wanted: u64) -> (usize, bool) {
        let before = self.settled + self.by_morsel.range(..=morsel).map(|m| *m.1).sum::<u64>();
        let lack = wanted.saturating_sub(before);
        let rows = rows.min(usize::try_from(lack).unwrap_or(usize::MAX));
        *self.by_morsel.entry(morsel).or_default() += rows as u64;
        (rows, rows as u64 == lack)
    }
}

/// A buffer that is being filled: makes one writer for each worker.
#[derive(Clone, Debug)]
pub struct BufferBuild(Arc<Shared>);

impl BufferBuild {
    /// An empty buffer.
    pub fn new(spec: BufferSpec) -> BufferBuild {
        BufferBuild(Arc::new(Shared {
            spec,
            taken: Mutex::default(),
        }))
    }

    /// Says that all rows that were taken so far come before those that follow, whatever their morsels.
    pub fn settle(&self) {
        let mut taken = self.0.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let over = std::mem::take(&mut taken.by_morsel);
        taken.settled += over.into_values().sum::<u64>();
    }

    /// A writer for one worker.
    pub fn writer(&self, budget: &MemoryBudget) -> BufferWriter {
        BufferWriter {
            shared: self.0.clone(),
            batches: Vec::new(),
            morsel: 0,
            pause_at: usize::MAX,
            row: None,
            heap: StringHeap::new(budget),
            reservation: budget.reservation(),
        }
    }

    /// A writer of one row at a time, which is taken from it by [`BufferWriter::take_row`].
    pub fn row_writer(&self, budget: &MemoryBudget) -> BufferWriter {
        let columns = self.0.spec.columns.iter();
        let row = OneRow {
            copy: RowCopy::new(columns.map(|column| (column.ty, column.native))),
            form: RowForm::Columns,
            given: None,
        };
        BufferWriter {
            row: Some(Box::new(row)),
            ..self.writer(budget)
        }
    }

    /// All rows of all writers, in the order of their morsels, limit and offset applied.
    pub(super) fn finish_all(self, writers: Vec<BufferWriter>) -> RowBuffer {
        let mut left = self.left();
        let Part {
            batches,
            reservations,
        } = self.part(writers);
        let batches: Vec<RowBatch> = batches.into_iter().filter_map(|b| left.of(b.1)).collect();
        RowBuffer {
            rows: batches.iter().map(|b| b.rows).sum(),
            columns: self.0.spec.columns.clone(),
            batches,
            _reservations: reservations,
        }
    }

    /// What is left of the limit and the offset before the first part is given out.
    pub fn left(&self) -> Left {
        let spec = &self.0.spec;
        Left {
            skipped: spec.offset,
            kept: spec.limit.unwrap_or(u64::MAX),
        }
    }

    /// The rows of some writers, to be given out.
    pub fn part(&self, writers: Vec<BufferWriter>) -> Part {
        let mut batches = VecDeque::new();
        let mut reservations = Vec::new();
        for writer in writers {
            let heap: Arc<StringHeap> = Arc::new(writer.heap);
            for mut batch in writer.batches {
                for column in &mut batch.rows.columns {
                    column.resize(batch.filled);
                    if column.native() == NativeType::String {
                        column.keep(heap.clone());
                    }
                }
                batch.rows.rows = batch.filled;
                batches.push_back((batch.morsel, batch.rows));
            }
            reservations.push(writer.reservation);
        }
        // Stable: the batches of a morsel stay in their order.
        batches.make_contiguous().sort_by_key(|b| b.0);
        Part {
            batches,
            reservations,
        }
    }
}

/// Rows on their way out of a buffer, in the order of their morsels. They count against the budget.
#[derive(Debug, Default)]
pub struct Part {
    batches: VecDeque<(u64, RowBatch)>,
    reservations: Vec<Reservation>,
}

impl Part {
    /// Gives out the next rows that `left` keeps of the morsels up to `last`; `None` if there are none.
    pub fn next(&mut self, last: u64, left: &mut Left) -> Option<RowBatch> {
        while let Some((_, batch)) = self.batches.pop_front_if(|b| b.0 <= last) {
            if let Some(batch) = left.of(batch) {
                return Some(batch);
            }
        }
        None
    }
}

/// Rows of a buffer that are still to be skipped, and those that may be kept after them.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    skipped: u64,
    kept: u64,
}

impl Left {
    /// The rows of the next batch that are neither skipped nor too many.
    fn of(&mut self, mut batch: RowBatch) -> Option<RowBatch> {
        let skipped = self.skipped.min(batch.rows as u64) as usize;
        self.skipped -= skipped as u64;
        let kept = self.kept.min((batch.rows - skipped) as u64) as usize;
        self.kept -= kept as u64;
        if kept < batch.rows {
            for column in &mut batch.columns {
                *column = slice(column, skipped, kept);
            }
            batch.rows = kept;
        }
        (kept > 0).then_some(batch)
    }
}

fn slice(column: &ColumnVector, from: usize, rows: usize) -> ColumnVector {
    let mut out = ColumnVector::new(column.ty(), rows);
    out.resize(rows);
    dispatch_native!(column.native(), T => {
        out.values_mut::<T>().copy_from_slice(&column.values::<T>()[from..from + rows]);
    });
    (0..rows)
        .filter(|r| column.is_null(from + r))
        .for_each(|r| out.set_null(r));
    column.heaps().iter().for_each(|h| out.keep(h.clone()));
    out
}

#[derive(Debug)]
struct Batch {
    morsel: u64,
    filled: usize,
    capacity: usize,
    rows: RowBatch,
}

/// The row of a writer of one row at a time.
#[derive(Debug)]
struct OneRow {
    copy: RowCopy,
    form: RowForm,
    given: Option<GivenRow>,
}

/// What a writer of one row at a time makes of the row.
#[derive(Clone, Copy, Debug)]
pub enum RowForm {
    /// A batch.
    Columns,
    /// Its values.
    Values,
}

#[derive(Debug)]
enum GivenRow {
    Columns(RowBatch),
    Values(RowValues),
}

impl OneRow {
    /// # Safety
    /// As [`BufferWriter::append`].
    unsafe fn append(&mut self, columns: &[VectorColumn], rows: usize, budget: &MemoryBudget) -> Result<()> {
        match (rows, &self.given) {
            (0, _) => {}
            (1, None) => {
                let column = |i: usize| columns[i];
                // SAFETY: by contract.
                let row = unsafe {
                    match self.form {
                        RowForm::Columns => GivenRow::Columns(self.copy.row(column, budget)?),
                        RowForm::Values => GivenRow::Values(self.copy.values(column, budget)?),
                    }
                };
                self.given = Some(row);
            }
            _ => return Err(Error::internal("several rows where there is one at most")),
        }
        Ok(())
    }
}

/// The rows that a buffer wants after those it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// More.
    More,
    /// None for now: it has as many bytes as it was told to pause at.
    Later,
    /// None of this morsel and those behind it: there are enough.
    Nothing,
}

/// One worker's part of a buffer.
#[derive(Debug)]
pub struct BufferWriter {
    shared: Arc<Shared>,
    batches: Vec<Batch>,
    morsel: u64,
    /// Bytes of rows at which no more are wanted for now.
    pause_at: usize,
    /// The row of a writer of one row at a time; `None`: it keeps batches.
    row: Option<Box<OneRow>>,
    heap: StringHeap,
    reservation: Reservation,
}

impl BufferWriter {
    /// Says what a writer of one row at a time makes of it.
    pub fn make(&mut self, form: RowForm) {
        if let Some(row) = &mut self.row {
            row.form = form;
        }
    }

    /// The row that a writer of one row at a time was given since it was asked last, if it makes batches.
    pub fn take_row(&mut self) -> Option<RowBatch> {
        match self.row.as_mut()?.given.take()? {
            GivenRow::Columns(batch) => Some(batch),
            GivenRow::Values(_) => None,
        }
    }

    /// The row that a writer of one row at a time was given since it was asked last, if it makes values.
    pub fn take_values(&mut self) -> Option<RowValues> {
        match self.row.as_mut()?.given.take()? {
            GivenRow::Values(values) => Some(values),
            GivenRow::Columns(_) => None,
        }
    }

    /// Says which morsel the next rows come from: the finished buffer has the morsels in ascending order.
    pub(super) fn set_morsel(&mut self, morsel: u64) {
        self.morsel = morsel;
    }

    /// Makes room for rows that come one by one, so that they need no more than one batch. 53200.
    pub fn expect_rows(&mut self, rows: usize) -> Result<()> {
        match rows {
            0 => Ok(()),
            _ => self.room(rows).map(drop),
        }
    }

    /// Has [`BufferWriter::append`] say [`Wanted::Later`] once its rows take `bytes`.
    pub fn pause_at(&mut self, bytes: usize) {
        self.pause_at = bytes;
    }

    /// An empty part of the same buffer, for rows of the same morsel.
    pub fn emptied(&self) -> BufferWriter {
        let build = BufferBuild(self.shared.clone());
        BufferWriter {
            morsel: self.morsel,
            pause_at: self.pause_at,
            ..build.writer(self.reservation.budget())
        }
    }

    /// Bytes that its rows take.
    pub(super) fn bytes_taken(&self) -> usize {
        self.reservation.bytes() + self.heap.bytes()
    }

    /// Number of columns it takes.
    pub fn columns(&self) -> usize {
        self.shared.spec.columns.len()
    }

    /// Appends rows. Error 53200 over the budget.
    ///
    /// # Safety
    /// The columns must be those of the spec, with `rows` rows, their strings alive.
    pub unsafe fn append(&mut self, columns: &[VectorColumn], rows: usize) -> Result<Wanted> {
        if let Some(row) = &mut self.row {
            // SAFETY: by contract.
            unsafe { row.append(columns, rows, self.reservation.budget())? };
            return Ok(Wanted::More);
        }
        let (rows, enough) = self.wanted(rows);
        let mut done = 0;
        while done < rows {
            let room = self.room(rows - done)?;
            let part = done..done + room.min(rows - done);
            // SAFETY: by contract.
            unsafe { self.copy(columns, part.clone())? };
            done = part.end;
        }
        Ok(match enough {
            true => Wanted::Nothing,
            false if self.bytes_taken() >= self.pause_at => Wanted::Later,
            false => Wanted::More,
        })
    }

    /// How many of some more rows the limit lets in, and whether there are enough with them.
    fn wanted(&self, rows: usize) -> (usize, bool) {
        let spec = &self.shared.spec;
        let Some(limit) = spec.limit else {
            return (rows, false);
        };
        let wanted = limit.saturating_add(spec.offset);
        let mut taken = self.shared.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.take(self.morsel, rows, wanted)
    }

    /// Rows that fit in the current batch, or in a new one.
    fn room(&mut self, rows: usize) -> Result<usize> {
        let morsel = self.morsel;
        match self.batches.last() {
            Some(b) if b.morsel == morsel && b.filled < b.capacity => return Ok(b.capacity - b.filled),
            _ => {}
        }
        let spec = &self.shared.spec;
        let last = self.batches.last().map_or(0, |b| b.capacity);
        let capacity = (last * 2).min(BATCH_ROWS).max(rows.min(BATCH_ROWS));
        let bytes: usize = spec.columns.iter().map(|c| c.ty.native().size() * capacity).sum();
        self.reservation.grow(bytes)?;
        let columns = spec.columns.iter().map(|c| {
            let mut column = ColumnVector::new(c.ty, capacity);
            column.resize(capacity);
            column
        });
        let rows = RowBatch {
            columns: columns.collect(),
            rows: capacity,
        };
        self.batches.push(Batch {
            morsel,
            filled: 0,
            capacity,
            rows,
        });
        Ok(capacity)
    }

    /// # Safety
    /// As [`BufferWriter::append`].
    unsafe fn copy(&mut self, columns: &[VectorColumn], part: std::ops::Range<usize>) -> Result<()> {
        let spec = &self.shared.spec;
        let batch = self.batches.last_mut().expect("room was made");
        for ((to, from), column) in batch.rows.columns.iter_mut().zip(columns).zip(&spec.columns) {
            // SAFETY: by contract.
            unsafe {
                match (column.native, to.native()) {
                    (NativeType::I64, NativeType::I128) => {
                        copy_with(to, batch.filled, from, &part, |v: i64| i128::from(v));
                    }
                    (NativeType::String, _) => {
                        let all = spec.owns_strings;
                        copy_strings(to, batch.filled, from, &part, &mut self.heap, all)?;
                    }
                    (native, _) => {
                        dispatch_native!(native, T => copy_values::<T>(to, batch.filled, from, &part))
                    }
                }
                copy_nulls(to, batch.filled, from, &part);
            }
        }
        batch.filled += part.len();
        Ok(())
    }
}

/// # Safety
/// `from` must hold values of `T` in the rows of `part`.
unsafe fn copy_values<T: Native>(
    to: &mut ColumnVector,
    at: usize,
    from: &VectorColumn,
    part: &std::ops::Range<usize>,
) {
    if from.value_mask == 0 {
        // SAFETY: by contract.
        return unsafe { copy_with(to, at, from, part, |v: T| v) };
    }
    let out = &mut to.values_mut::<T>()[at..at + part.len()];
    // SAFETY: by contract the source holds that many values; it is copied as bytes, so that any
    // alignment will do, and every Native is plain bytes.
    unsafe {
        let start = from.values.add(part.start * size_of::<T>());
        start.copy_to_nonoverlapping(out.as_mut_ptr().cast(), size_of_val(out));
    }
}

/// # Safety
/// As [`copy_values`].
unsafe fn copy_with<F: Copy, T: Native>(
    to: &mut ColumnVector,
    at: usize,
    from: &VectorColumn,
    part: &std::ops::Range<usize>,
    convert: impl Fn(F) -> T,
) {
    for (out, row) in to.values_mut::<T>()[at..].iter_mut().zip(part.clone()) {
        // SAFETY: by contract.
        *out = convert(unsafe { from.value::<F>(row) });
    }
}

/// # Safety
/// As [`copy_values`]; strings that are not NULL must be alive.
unsafe fn copy_strings(
    to: &mut ColumnVector,
    at: usize,
    from: &VectorColumn,
    part: &std::ops::Range<usize>,
    heap: &mut StringHeap,
    all: bool,
) -> Result<()> {
    for (out, row) in to.values_mut::<StringRef>()[at..].iter_mut().zip(part.clone()) {
        // SAFETY: by contract.
        unsafe {
            if from.is_valid(row) {
                let string = from.value::<StringRef>(row);
                *out = if all {
                    heap.copy(string.bytes())?
                } else {
                    heap.keep(string)?
                };
            }
        }
    }
    Ok(())
}

/// # Safety
/// As [`copy_values`].
unsafe fn copy_nulls(to: &mut ColumnVector, at: usize, from: &VectorColumn, part: &std::ops::Range<usize>) {
    if from.all_valid() {
        return;
    }
    for row in part.clone() {
        // SAFETY: by contract.
        if !unsafe { from.is_valid(row) } {
            to.set_null(at + row - part.start);
        }
    }
}

/// A finished buffer.
#[derive(Debug)]
pub struct RowBuffer {
    columns: Vec<BufferColumn>,
    batches: Vec<RowBatch>,
    rows: usize,
    _reservations: Vec<Reservation>,
}

impl RowBuffer {
    /// The columns.
    pub fn columns(&self) -> &[BufferColumn] {
        &self.columns
    }

    /// Batches of at least one row; the morsels of a pipeline that reads the buffer.
    pub fn batches(&self) -> &[RowBatch] {
        &self.batches
    }

    /// The batches, to be given to the user; the rows no longer count against the budget.
    pub fn into_batches(self) -> Vec<RowBatch> {
        self.batches
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// A buffer of the same columns with these rows, which others count.
    pub(super) fn with_batches(&self, batches: Vec<RowBatch>) -> RowBuffer {
        RowBuffer {
            columns: self.columns.clone(),
            rows: batches.iter().map(|b| b.rows).sum(),
            batches,
            _reservations: vec![],
        }
    }

    /// The same rows, which others count.
    pub(super) fn uncounted(self) -> RowBuffer {
        RowBuffer {
            _reservations: vec![],
            ..self
        }
    }

    /// Bytes of its rows, those of strings apart, which their heaps count.
    pub(super) fn batch_bytes(&self) -> usize {
        self.rows * self.columns.iter().map(|c| c.ty.native().size()).sum::<usize>()
    }

    /// The value of a scalar subquery: of its only row, NULL without one. Error 21000 for more rows.
    pub fn scalar(&self) -> Result<Value> {
        match self.rows {
            0 => Ok(Value::Null),
            1 => Ok(self.batches[0].columns[0].value(0)),
            rows => Err(Error::new(
                SqlState::CARDINALITY_VIOLATION,
                "more than one row returned by a subquery used as an expression",
            )
            .with_detail(format!("it returned {rows} rows"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector_column::LentColumns;

    fn spec(limit: Option<u64>, offset: u64) -> BufferSpec {
        let column = |ty: LogicalType| BufferColumn {
            ty,
            native: ty.native(),
        };
        let wide = BufferColumn {
            ty: LogicalType::Decimal {
                precision: 38,
                scale: 2,
            },
            native: NativeType::I64,
        };
        BufferSpec {
            columns: vec![column(LogicalType::Integer), column(LogicalType::Text), wide],
            limit,
            offset,
            owns_strings: true,
        }
    }

    fn input(from: usize, rows: usize) -> Vec<ColumnVector> {
        let range = from..from + rows;
        let null = |i: usize, v: Value| if i.is_multiple_of(5) { Value::Null } else { v };
        let texts: Vec<Value> = range
            .clone()
            .map(|i| null(i, Value::Text("x".repeat(i % 30))))
            .collect();
        let numbers: Vec<Value> = range.map(|i| Value::Int(i as i128)).collect();
        vec![
            ColumnVector::from_values(LogicalType::Integer, &numbers),
            ColumnVector::from_values(LogicalType::Text, &texts),
            ColumnVector::from_values(LogicalType::BigInt, &numbers),
        ]
    }

    /// Appends rows. True if the buffer wants none of this morsel and those behind it.
    fn append(writer: &mut BufferWriter, from: usize, rows: usize) -> bool {
        let columns = input(from, rows);
        let mut lent = LentColumns::default();
        lent.lend(columns.iter(), 0);
        // SAFETY: the columns are alive and as the spec says.
        let wanted = unsafe { writer.append(lent.columns(), rows) }.unwrap();
        matches!(wanted, Wanted::Nothing)
    }

    fn check(buffer: &RowBuffer, expected: std::ops::Range<usize>) {
        let mut at = expected.start;
        for batch in buffer.batches() {
            for row in 0..batch.rows {
                assert_eq!(batch.columns[0].value(row), Value::Int(at as i128));
                assert_eq!(batch.columns[2].value(row), Value::Int(at as i128));
                let text = if at.is_multiple_of(5) {
                    Value::Null
                } else {
                    Value::Text("x".repeat(at % 30))
                };
                assert_eq!(batch.columns[1].value(row), text);
                at += 1;
            }
        }
        assert_eq!(at, expected.end);
        assert_eq!(buffer.len(), expected.len());
    }

    #[test]
    fn rows_come_back_in_the_order_of_morsels() {
        let build = BufferBuild::new(spec(None, 0));
        let budget = MemoryBudget::unlimited();
        let mut writers = [build.writer(&budget), build.writer(&budget)];
        for morsel in (0..40).rev() {
            let writer = &mut writers[morsel % 2];
            writer.set_morsel(morsel as u64);
            append(writer, morsel * 1500, 1000);
            append(writer, morsel * 1500 + 1000, 500);
        }
        check(&build.finish_all(writers.into()), 0..60_000);
    }

    #[test]
    fn a_limit_stops_early() {
        for (limit, offset) in [(0, 0), (1, 0), (10, 5), (3000, 0), (100_000, 10)] {
            let build = BufferBuild::new(spec(Some(limit), offset));
            let mut writer = build.writer(&MemoryBudget::unlimited());
            let mut given = 0;
            while given < 50_000 && !append(&mut writer, given, 1000) {
                given += 1000;
            }
            assert!(given as u64 <= limit + offset);
            let end = (limit + offset).min(50_000) as usize;
            check(&build.finish_all(vec![writer]), offset as usize..end);
        }
    }

    #[test]
    fn a_limit_keeps_the_first_morsels() {
        let build = BufferBuild::new(spec(Some(900), 100));
        let budget = MemoryBudget::unlimited();
        let (mut first, mut second) = (build.writer(&budget), build.writer(&budget));
        second.set_morsel(1);
        assert!(append(&mut second, 700, 2000), "no later morsel can be wanted");
        assert!(!append(&mut first, 0, 400));
        assert!(!append(&mut first, 400, 300));
        assert!(append(&mut second, 2700, 100));
        check(&build.finish_all(vec![second, first]), 100..1000);
    }

    #[test]
    fn morsels_that_are_over_come_before_all_others() {
        let build = BufferBuild::new(spec(Some(1000), 0));
        let mut writer = build.writer(&MemoryBudget::unlimited());
        writer.set_morsel(7);
        assert!(!append(&mut writer, 0, 600));
        build.settle();
        writer.set_morsel(0);
        assert!(append(&mut writer, 600, 600));
    }

    #[test]
    fn a_scalar_has_one_row_at_most() {
        for (rows, state) in [(0, None), (1, None), (2, Some("21000"))] {
            let build = BufferBuild::new(spec(None, 0));
            let mut writer = build.writer(&MemoryBudget::unlimited());
            append(&mut writer, 7, rows);
            let result = build.finish_all(vec![writer]).scalar();
            assert_eq!(result.as_ref().err().map(|e| e.state().0), state);
            if rows == 1 {
                assert_eq!(result.unwrap(), Value::Int(7));
            }
        }
    }
}
