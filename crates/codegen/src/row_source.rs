//! Sources of rows that lie in memory, brought into the form of source vectors: gathered from rows of
//! groups, sorters and join tables, or lent from batches.

use crate::compile::CompiledPipeline;
use crate::compile_options::PaxCode;
use crate::late_fetch::LateFetch;
use crate::source_shape::{SourceColumn, SourceShape};
use frazil_plan::breakers::Which;
use frazil_runtime::abi::{Partitions, VectorColumn};
use frazil_runtime::breakers::join::join_hash_table::EarlyFilter;
use frazil_runtime::breakers::{Finished, Shape};
use frazil_runtime::expansion_rows::{ExpansionCursor, ExpansionRows};
use frazil_runtime::{CodeGroups, FieldPlace, ScanSource};
use frazil_storage::TableScan;
use frazil_types::{
    CHUNK_ROWS, ColumnVector, MemoryBudget, Native, Result, RowBatch, STAGE_ROWS, dispatch_native,
};
use std::sync::Arc;

/// A pipeline's source, shared by its workers.
#[derive(Debug)]
pub enum PipelineSource {
    /// A table.
    Scan {
        /// The scan.
        scan: Arc<TableScan>,
        /// Whether the row id is the last column.
        row_id: bool,
        /// What its early probes test; held for the memory they count.
        _filters: Vec<EarlyFilter>,
    },
    /// Rows of a finished breaker.
    Of {
        /// The breaker.
        finished: Arc<dyn Finished>,
        /// Where they lie in columns: of its columns these, in order.
        columns: Vec<usize>,
        /// Which of its rows.
        which: Which,
        /// What is fetched of the rows of a table that they come from.
        late: Option<LateFetch>,
    },
    /// Rows that were given to the plan; of their columns these, in order.
    Batches(Arc<Vec<RowBatch>>, Vec<usize>),
    /// Rows of a VALUES list, what generated code computes left NULL.
    Values(Vec<ColumnVector>, usize),
    /// Rows of functions.
    Expansion(Arc<ExpansionRows>),
    /// Rows that are given to the worker: see [`crate::OneRow`].
    Given,
}

impl PipelineSource {
    /// Number of morsels.
    pub fn morsels(&self) -> usize {
        match self {
            PipelineSource::Scan { scan, .. } => scan.morsels(),
            PipelineSource::Of { finished, .. } => finished.morsels(),
            PipelineSource::Batches(batches, _) => batches.len(),
            PipelineSource::Values(..) => 1,
            PipelineSource::Expansion(rows) => rows.morsels(),
            PipelineSource::Given => 0,
        }
    }

    /// Number of rows, at most; of functions none is known.
    pub fn most_rows(&self) -> u64 {
        match self {
            PipelineSource::Scan { scan, .. } => (scan.morsels() * CHUNK_ROWS) as u64,
            PipelineSource::Of { finished, .. } => finished.row_count(),
            PipelineSource::Batches(batches, _) => batches.iter().map(|batch| batch.rows as u64).sum(),
            PipelineSource::Values(_, rows) => *rows as u64,
            PipelineSource::Expansion(_) => u64::MAX,
            PipelineSource::Given => 0,
        }
    }

    /// The rows in memory that make a morsel; none for sources of columns.
    fn rows(&self, morsel: usize, out: &mut Vec<*const u8>) {
        match self {
            PipelineSource::Of { finished, which, .. } => finished.rows(morsel, *which, out),
            PipelineSource::Scan { .. }
            | PipelineSource::Batches(..)
            | PipelineSource::Values(..)
            | PipelineSource::Expansion(_)
            | PipelineSource::Given => {}
        }
    }
}

/// One worker's way through a source, vector by vector.
pub(crate) enum SourceCursor {
    /// A scan's.
    Scan(Box<ScanSource>),
    /// Over rows in memory.
    Rows(Gatherer),
    /// Over columns in memory.
    Columns(Lender),
    /// Over rows of functions.
    Expansion(ExpansionCursor),
}

impl SourceCursor {
    /// A cursor at no morsel.
    pub fn new(source: &PipelineSource, pipeline: &CompiledPipeline, budget: &MemoryBudget) -> SourceCursor {
        let shape = &pipeline.source;
        match source {
            PipelineSource::Scan { scan, row_id, .. } => {
                let read: Vec<bool> = shape.columns.iter().map(|c| c.read).collect();
                let in_place = pipeline.pax_code != PaxCode::Gathered;
                let keys = shape.code_keys.as_ref();
                let groups = keys.map(|keys| CodeGroups::new(keys.clone(), budget));
                let is_counted: Vec<bool> = (0..read.len()).map(|i| shape.counted.contains(&i)).collect();
                let source = ScanSource::new(scan, &read, *row_id, in_place, groups);
                SourceCursor::Scan(Box::new(source.counting(&is_counted)))
            }
            PipelineSource::Of { finished, late, .. } => match finished.shape() {
                Shape::Rows => SourceCursor::Rows(Gatherer::new(shape, late.clone())),
                Shape::Columns => SourceCursor::Columns(Lender::default()),
            },
            PipelineSource::Expansion(rows) => SourceCursor::Expansion(rows.cursor()),
            PipelineSource::Batches(..) | PipelineSource::Values(..) | PipelineSource::Given => {
                SourceCursor::Columns(Lender::default())
            }
        }
    }

    /// Address of the cells of groups that are found by codes, for as long as the cursor lives; null if it has none.
    pub fn code_groups(&mut self) -> *mut CodeGroups {
        match self {
            SourceCursor::Scan(scan) => scan.code_groups(),
            SourceCursor::Rows(_) | SourceCursor::Columns(_) | SourceCursor::Expansion(_) => {
                std::ptr::null_mut()
            }
        }
    }

    /// Begins a morsel.
    pub fn open(&mut self, source: &PipelineSource, morsel: usize) -> Result<()> {
        match self {
            SourceCursor::Scan(scan) => return scan.open(morsel),
            SourceCursor::Rows(gatherer) => {
                gatherer.rows.clear();
                gatherer.at = 0;
                source.rows(morsel, &mut gatherer.rows);
                gatherer.make_room();
            }
            SourceCursor::Expansion(cursor) => {
                if let PipelineSource::Expansion(rows) = source {
                    cursor.open(rows, morsel);
                }
            }
            SourceCursor::Columns(lender) => match source {
                PipelineSource::Of {
                    finished, columns, ..
                } => {
                    if let Some(batch) = finished.batch(morsel) {
                        lender.lend(columns.iter().map(|&c| &batch.columns[c]), batch.rows);
                    }
                }
                PipelineSource::Batches(batches, columns) => {
                    let batch = &batches[morsel];
                    lender.lend(columns.iter().map(|&c| &batch.columns[c]), batch.rows);
                }
                PipelineSource::Values(columns, rows) => lender.lend(columns.iter(), *rows),
                _ => {}
            },
        }
        Ok(())
    }

    /// Moves to the next vector; its rows, or `None` at the morsel's end.
    pub fn next(&mut self) -> Result<Option<usize>> {
        match self {
            SourceCursor::Scan(scan) => scan.next(),
            SourceCursor::Rows(gatherer) => gatherer.next(),
            SourceCursor::Expansion(cursor) => cursor.next(),
            SourceCursor::Columns(lender) => Ok(Some(std::mem::take(&mut lender.rows)).filter(|&r| r > 0)),
        }
    }

    /// How the rows of the current vector lie.
    pub fn partitions(&self) -> Partitions {
        match self {
            SourceCursor::Scan(scan) => scan.partitions(),
            SourceCursor::Rows(_) | SourceCursor::Columns(_) | SourceCursor::Expansion(_) => {
                Partitions::SIDE_BY_SIDE
            }
        }
    }

    /// The columns of the current vector.
    pub fn columns(&self) -> &[VectorColumn] {
        match self {
            SourceCursor::Scan(scan) => scan.columns(),
            SourceCursor::Rows(gatherer) => &gatherer.columns,
            SourceCursor::Columns(lender) => lender.lent.columns(),
            SourceCursor::Expansion(cursor) => cursor.columns(),
        }
    }
}

/// Lends whole batches.
#[derive(Default)]
pub(crate) struct Lender {
    lent: frazil_runtime::LentColumns,
    rows: usize,
}

impl Lender {
    fn lend<'a>(&mut self, columns: impl Iterator<Item = &'a ColumnVector>, rows: usize) {
        self.lent.lend(columns, 0);
        self.rows = rows;
    }
}

/// Gathers fields of rows into dense columns, a stage vector's rows at a time.
pub(crate) struct Gatherer {
    rows: Vec<*const u8>,
    at: usize,
    fields: Vec<Option<GatheredColumn>>,
    columns: Vec<VectorColumn>,
    /// What gives the last of the columns.
    late: Option<LateFetch>,
}

/// Rows, and bytes behind the values, for which there is room at least: a register of the widest instruction set.
const ROOM: usize = 64;

struct GatheredColumn {
    place: FieldPlace,
    values: Vec<u128>,
    validity: Vec<u8>,
}

impl GatheredColumn {
    fn new(column: &SourceColumn) -> Option<GatheredColumn> {
        let place = column.field.filter(|_| column.read)?;
        Some(GatheredColumn {
            place,
            values: Vec::new(),
            validity: Vec::new(),
        })
    }

    /// Makes room for vectors of `rows` rows, and for kernels that read whole registers.
    fn make_room(&mut self, rows: usize) {
        let rows = rows.next_multiple_of(ROOM);
        if self.validity.len() < rows {
            let words = rows * self.place.native.size() / size_of::<u128>();
            self.values.resize(words + ROOM / size_of::<u128>(), 0);
            self.validity.resize(rows, 1);
        }
    }

    fn column(&self) -> VectorColumn {
        let column = VectorColumn::flat(self.values.as_ptr().cast());
        match self.place.validity {
            Some(_) => column.with_validity(self.validity.as_ptr()),
            None => column,
        }
    }

    /// Fetches the field of each row.
    ///
    /// # Safety
    /// Live rows of the field's layout, for as many of which there is room.
    unsafe fn gather(&mut self, rows: &[*const u8]) {
        /// # Safety
        /// As above; `out` has room for them.
        unsafe fn values<T: Native>(place: FieldPlace, rows: &[*const u8], out: *mut T) {
            for (i, &row) in rows.iter().enumerate() {
                // SAFETY: by contract.
                unsafe { out.add(i).write(place.get::<T>(row)) };
            }
        }
        let out = self.values.as_mut_ptr();
        debug_assert!(rows.len() <= self.validity.len());
        // SAFETY: by contract; the buffer has room for as many values of the field's type.
        dispatch_native!(self.place.native, T => unsafe { values::<T>(self.place, rows, out.cast()) });
        if self.place.validity.is_some() {
            for (to, &row) in self.validity.iter_mut().zip(rows) {
                // SAFETY: by contract.
                *to = u8::from(unsafe { self.place.is_valid(row) });
            }
        }
    }
}

impl Gatherer {
    fn new(shape: &SourceShape, late: Option<LateFetch>) -> Gatherer {
        let fields: Vec<_> = shape.columns.iter().map(GatheredColumn::new).collect();
        Gatherer {
            rows: Vec::new(),
            at: 0,
            columns: vec![VectorColumn::null(); fields.len()],
            fields,
            late,
        }
    }

    /// Makes room for the longest vector of the rows at hand: few rows need little memory.
    fn make_room(&mut self) {
        let longest = self.rows.len().min(STAGE_ROWS);
        for (column, field) in self.columns.iter_mut().zip(&mut self.fields) {
            if let Some(field) = field {
                field.make_room(longest);
                *column = field.column();
            }
        }
    }

    fn next(&mut self) -> Result<Option<usize>> {
        let rest = &self.rows[self.at..];
        let rows = &rest[..rest.len().min(STAGE_ROWS)];
        for field in self.fields.iter_mut().flatten() {
            // SAFETY: the source keeps its rows alive, and they have the layout the shape was made of; there is room
            // for them.
            unsafe { field.gather(rows) };
        }
        if let Some(late) = &mut self.late {
            // SAFETY: as above.
            let fetched = unsafe { late.fetch(rows) }?;
            let first = self.columns.len() - fetched.len();
            self.columns[first..].copy_from_slice(fetched);
        }
        self.at += rows.len();
        Ok((!rows.is_empty()).then_some(rows.len()))
    }
}
