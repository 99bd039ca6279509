//! Columns come to a table and go, and its rows stay where they are. A chunk knows by their numbers which columns it stores. Here
//! is the one place that says what it shows of the columns of a table: those that it stores, and for the others the value that
//! rows of before have. Whoever reads a chunk knows positions in the table alone.
//!
//! Nothing is rewritten: another chunk over the same cells or bytes takes the place of each chunk, when somebody first
//! looks at it. A [`Reshape`] is the [`Lens`] through which a version sees the chunks of the version before. Values of a column that was
//! dropped leave when their rows are frozen or moved, as blocks are built of what is shown.

use crate::chunk::{Chunk, FrozenChunk};
use crate::chunk_entry::ChunkEntry;
use crate::hot_chunk::{HotChunk, HotColumn};
use crate::hot_layout::HotLayout;
use crate::moved_columns::Moved;
use crate::persistent_map::Lens;
use frazil_block::{BuildOptions, Constant, ShownColumn};
use frazil_types::{ColumnDef, ColumnNumber, ColumnVector, Result, Schema};
use std::sync::{Arc, Mutex};

/// Shows chunks with the columns of a table.
#[derive(Debug)]
pub(crate) struct Reshape {
    schema: Arc<Schema>,
    numbers: Arc<[ColumnNumber]>,
    /// `None`: blocks were built for the table as it is.
    moved: Option<Moved>,
    known: Mutex<Known>,
}

/// Parts that were made for one chunk and serve the next one, which mostly stores the same columns.
#[derive(Debug, Default)]
struct Known {
    shape: Option<Shape>,
    options: Option<(Arc<BuildOptions>, Arc<BuildOptions>)>,
}

/// The columns that chunks show, if these are stored.
#[derive(Debug)]
struct Shape {
    stored: Arc<[ColumnNumber]>,
    shown: Vec<ShownColumn>,
    hot: Option<HotShape>,
}

/// The columns that hot chunks of one layout show.
#[derive(Debug)]
struct HotShape {
    cells: Arc<HotLayout>,
    columns: Option<Arc<[HotColumn]>>,
    layout: Arc<HotLayout>,
}

impl Lens<Arc<ChunkEntry>> for Arc<Reshape> {
    fn see(&self, entry: &Arc<ChunkEntry>) -> Arc<ChunkEntry> {
        let shown = self.show(entry);
        // The chunk has the columns that its entry lists, and `Reshape::new` made every constant.
        Arc::new(shown.expect("every column of a table is stored or constant"))
    }

    fn after(&self, first: &Arc<Reshape>) -> Arc<Reshape> {
        let moved = match (&self.moved, &first.moved) {
            (Some(moved), Some(first)) => Some(moved.after(first)),
            (one, None) | (None, one) => one.clone(),
        };
        Arc::new(Reshape {
            schema: self.schema.clone(),
            numbers: self.numbers.clone(),
            moved,
            known: Mutex::default(),
        })
    }
}

impl Reshape {
    /// Chunks are to show the columns of a schema; their blocks were built before columns moved. An internal error if a
    /// column cannot hold the value that rows without it have.
    pub fn new(schema: Arc<Schema>, moved: Option<Moved>) -> Result<Reshape> {
        for column in &schema.columns {
            constant(column)?;
        }
        Ok(Reshape {
            numbers: schema.numbers().collect(),
            schema,
            moved,
            known: Mutex::default(),
        })
    }

    /// The rows of an entry with the columns of the table.
    pub fn show(&self, entry: &ChunkEntry) -> Result<ChunkEntry> {
        let mut known = self.known.lock().unwrap_or_else(|e| e.into_inner());
        let chunk = match &**entry.chunk() {
            Chunk::Hot(hot) => Chunk::Hot(self.hot(&mut known, hot, entry.stored())?),
            Chunk::Frozen(frozen) => Chunk::Frozen(self.frozen(&mut known, frozen, entry.stored())?),
        };
        Ok(entry.reshaped(chunk))
    }

    fn hot(&self, known: &mut Known, hot: &HotChunk, stored: &Arc<[ColumnNumber]>) -> Result<HotChunk> {
        let is_all = *stored == self.numbers && !hot.has_filled();
        let shape = self.shape(known, stored)?;
        if let Some(known) = &shape.hot
            && Arc::ptr_eq(&known.cells, hot.cell_layout())
        {
            return Ok(hot.showing(known.columns.clone(), known.layout.clone()));
        }
        let columns = (self.schema.columns.iter().zip(&shape.shown)).map(|(def, shown)| match shown {
            ShownColumn::Stored(position) => hot.stored_column(*position),
            ShownColumn::Constant(constant) => {
                let value = std::slice::from_ref(constant.value());
                HotColumn::Constant(ColumnVector::from_values(def.ty, value))
            }
        });
        let made = HotShape {
            cells: hot.cell_layout().clone(),
            columns: (!is_all).then(|| columns.collect()),
            layout: hot.layout_showing(&shape.shown)?,
        };
        let reshaped = hot.showing(made.columns.clone(), made.layout.clone());
        shape.hot = Some(made);
        Ok(reshaped)
    }

    fn frozen(
        &self,
        known: &mut Known,
        frozen: &FrozenChunk,
        stored: &Arc<[ColumnNumber]>,
    ) -> Result<FrozenChunk> {
        let block = frozen.block.showing(&self.shape(known, stored)?.shown)?;
        let mut judgement = frozen.built_for.judgement().clone();
        judgement.options = (judgement.options).map(|options| self.moved_options(known, options));
        judgement.refused = (judgement.refused).map(|options| self.moved_options(known, options));
        Ok(frozen.reshaped(block, judgement))
    }

    fn moved_options(&self, known: &mut Known, before: Arc<BuildOptions>) -> Arc<BuildOptions> {
        let Some(moved) = &self.moved else { return before };
        match &known.options {
            Some((known, after)) if Arc::ptr_eq(known, &before) => after.clone(),
            _ => {
                let after = Arc::new(moved.options(&before));
                known.options = Some((before, after.clone()));
                after
            }
        }
    }

    /// The columns that chunks show which store these columns. An internal error if rows have a value in a column that the column
    /// cannot hold.
    fn shape<'a>(&self, known: &'a mut Known, stored: &Arc<[ColumnNumber]>) -> Result<&'a mut Shape> {
        let shown = |column: &ColumnDef| match stored.iter().position(|n| *n == column.number) {
            Some(position) => Ok(ShownColumn::Stored(position)),
            None => constant(column).map(ShownColumn::Constant),
        };
        let same = known.shape.take().filter(|shape| shape.stored == *stored);
        let shape = match same {
            Some(same) => same,
            None => Shape {
                stored: stored.clone(),
                shown: self.schema.columns.iter().map(shown).collect::<Result<_>>()?,
                hot: None,
            },
        };
        Ok(known.shape.insert(shape))
    }
}

/// The value that rows have in a column that came after them.
fn constant(column: &ColumnDef) -> Result<Constant> {
    Constant::new(column.ty.native(), column.missing.clone())
}
