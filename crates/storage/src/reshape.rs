//! Columns come to a table and go, and its rows stay where they are. A chunk knows by their numbers which columns it stores. Here
//! is the one place that says what it shows of the columns of a table: those that it stores, and for the others the value that
//! rows of before have. Whoever reads a chunk knows positions in the table alone.
//!
//! Nothing is rewritten: another chunk over the same cells or bytes takes the place of each chunk. Values of a column that was
//! dropped leave when their rows are frozen or moved, as blocks are built of what is shown.

use crate::chunk::{Chunk, FrozenChunk};
use crate::chunk_entry::ChunkEntry;
use crate::hot_chunk::{HotChunk, HotColumn};
use crate::hot_layout::HotLayout;
use crate::moved_columns::Moved;
use frazil_block::{BuildOptions, Constant, ShownColumn};
use frazil_types::{ColumnDef, ColumnNumber, ColumnVector, Result, Schema};
use std::sync::Arc;

/// What chunks show of the columns of a table. What was made for a chunk serves the next one, which mostly stores the same.
pub(crate) struct Reshape<'a> {
    schema: &'a Schema,
    numbers: Arc<[ColumnNumber]>,
    /// `None`: blocks were built for the table as it is.
    moved: Option<Moved>,
    shape: Option<Shape>,
    options: Option<(Arc<BuildOptions>, Arc<BuildOptions>)>,
}

/// What chunks show that store some columns.
struct Shape {
    stored: Arc<[ColumnNumber]>,
    shown: Vec<ShownColumn>,
    hot: Option<HotShape>,
}

/// The same of hot chunks of one layout.
struct HotShape {
    cells: Arc<HotLayout>,
    columns: Option<Arc<[HotColumn]>>,
    layout: Arc<HotLayout>,
}

impl<'a> Reshape<'a> {
    /// Chunks are to show the columns of a schema, which have these numbers; their blocks were built before columns moved.
    pub fn new(schema: &'a Schema, numbers: Arc<[ColumnNumber]>, moved: Option<Moved>) -> Reshape<'a> {
        Reshape {
            schema,
            numbers,
            moved,
            shape: None,
            options: None,
        }
    }

    /// The rows of an entry with the columns of the table.
    pub fn show(&mut self, entry: &ChunkEntry) -> Result<ChunkEntry> {
        let chunk = match &**entry.chunk() {
            Chunk::Hot(hot) => Chunk::Hot(self.hot(hot, entry.stored())?),
            Chunk::Frozen(frozen) => Chunk::Frozen(self.frozen(frozen, entry.stored())?),
        };
        Ok(entry.reshaped(chunk))
    }

    fn hot(&mut self, hot: &HotChunk, stored: &Arc<[ColumnNumber]>) -> Result<HotChunk> {
        let (schema, is_all) = (self.schema, *stored == self.numbers && !hot.has_filled());
        let shape = self.shape(stored)?;
        if let Some(known) = &shape.hot
            && Arc::ptr_eq(&known.cells, hot.cell_layout())
        {
            return Ok(hot.showing(known.columns.clone(), known.layout.clone()));
        }
        let columns = (schema.columns.iter().zip(&shape.shown)).map(|(def, shown)| match shown {
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

    fn frozen(&mut self, frozen: &FrozenChunk, stored: &Arc<[ColumnNumber]>) -> Result<FrozenChunk> {
        let block = frozen.block.showing(&self.shape(stored)?.shown)?;
        let mut judgement = frozen.built_for.judgement().clone();
        judgement.options = judgement.options.map(|options| self.moved_options(options));
        judgement.refused = judgement.refused.map(|options| self.moved_options(options));
        Ok(frozen.reshaped(block, judgement))
    }

    fn moved_options(&mut self, before: Arc<BuildOptions>) -> Arc<BuildOptions> {
        let Some(moved) = &self.moved else { return before };
        match &self.options {
            Some((known, after)) if Arc::ptr_eq(known, &before) => after.clone(),
            _ => {
                let after = Arc::new(moved.options(&before));
                self.options = Some((before, after.clone()));
                after
            }
        }
    }

    /// Chunks that store these columns. An internal error if rows have a value in a column that the column cannot hold.
    fn shape(&mut self, stored: &Arc<[ColumnNumber]>) -> Result<&mut Shape> {
        let shown = |column: &ColumnDef| match stored.iter().position(|n| *n == column.number) {
            Some(position) => Ok(ShownColumn::Stored(position)),
            None => Constant::new(column.ty.native(), column.missing.clone()).map(ShownColumn::Constant),
        };
        let known = self.shape.take().filter(|shape| shape.stored == *stored);
        let shape = match known {
            Some(known) => known,
            None => Shape {
                stored: stored.clone(),
                shown: self.schema.columns.iter().map(shown).collect::<Result<_>>()?,
                hot: None,
            },
        };
        Ok(self.shape.insert(shape))
    }
}
