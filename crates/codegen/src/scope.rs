//! Where the columns of the row in hand are.

use crate::sql_value::{SqlValue, VectorWords};
use crate::stage_vector::Slot;
use cranelift_codegen::ir;
use frazil_plan::ColumnId;
use frazil_runtime::FieldPlace;
use frazil_types::{Error, LogicalType, NativeType, Result};
use std::collections::HashMap;

/// The anchor that is the row's number in the source vector.
pub(crate) const SOURCE_ROW: usize = 0;

/// A column of the source vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceCell {
    /// Its number.
    pub index: usize,
    /// How its values are held in the vector.
    pub storage: NativeType,
    /// How generated code holds them.
    pub native: NativeType,
    pub nullable: bool,
    /// Whether there is a value for every row, never one for all.
    pub flat: bool,
    /// The table's column whose cells it may point at; none for row ids, and for what no scan gives.
    pub in_table: Option<usize>,
}

/// Where a column's value is to be found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In a column of the source vector.
    Source(SourceCell),
    /// In the stage vector this stage reads.
    Slot(Slot),
    /// In the row an anchor points at.
    BuildRow {
        anchor: usize,
        field: FieldPlace,
        /// Whether the anchor may point at the row of zeros that stands for "no match".
        optional: bool,
    },
    /// In a vector that a function made for this stage.
    Vector {
        words: VectorWords,
        storage: NativeType,
        native: NativeType,
    },
    /// Made of a sum and a count of the source vector, at the first use.
    Average {
        sum: SourceCell,
        count: SourceCell,
        /// Type of the values that were added up.
        of: LogicalType,
    },
    /// In registers.
    Value(SqlValue),
}

/// A pointer to a row, or a row's number, through which its columns are found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Slot(Slot),
    Value(ir::Value),
}

#[derive(Clone, Copy, Debug)]
enum Loaded {
    Column(ColumnId),
    Anchor(usize, Slot),
    Partition,
}

/// The columns a function knows.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    places: HashMap<ColumnId, Place>,
    anchors: HashMap<usize, Anchor>,
    loaded: HashMap<ColumnId, SqlValue>,
    log: Vec<Loaded>,
    /// The row of the loop.
    row: Option<ir::Value>,
    /// Where the source row's partition begins, in bytes, and its row there.
    partition: Option<(ir::Value, ir::Value)>,
}

/// A state of a scope to go back to: what is loaded in a block that runs only sometimes is forgotten
/// behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize);

impl Scope {
    /// Makes a column known.
    pub fn place(&mut self, column: ColumnId, place: Place) {
        self.places.insert(column, place);
    }

    /// Makes a column unknown again: the expression that it was made for ends.
    pub fn forget(&mut self, column: ColumnId) {
        self.places.remove(&column);
    }

    /// Where a column is.
    pub fn get(&self, column: ColumnId) -> Result<Place> {
        let place = self.places.get(&column).copied();
        place.ok_or_else(|| Error::internal(format!("column {} is not in scope", column.0)))
    }

    /// Sets an anchor.
    pub fn set_anchor(&mut self, anchor: usize, value: ir::Value) {
        self.anchors.insert(anchor, Anchor::Value(value));
    }

    /// Makes an anchor known that lies in the stage vector.
    pub fn anchor_in(&mut self, anchor: usize, slot: Slot) {
        self.anchors.insert(anchor, Anchor::Slot(slot));
    }

    /// Sets the row of the loop.
    pub fn set_row(&mut self, row: ir::Value) {
        self.row = Some(row);
    }

    /// The row of the loop.
    pub fn row(&self) -> Result<ir::Value> {
        self.row.ok_or_else(|| Error::internal("no row in hand"))
    }

    /// Where an anchor is.
    pub fn anchor(&self, anchor: usize) -> Option<Anchor> {
        self.anchors.get(&anchor).copied()
    }

    /// Remembers the value of an anchor that lies in the stage vector.
    pub fn load_anchor(&mut self, anchor: usize, slot: Slot, value: ir::Value) {
        self.anchors.insert(anchor, Anchor::Value(value));
        self.log.push(Loaded::Anchor(anchor, slot));
    }

    /// A column's value, if it was loaded.
    pub fn loaded(&self, column: ColumnId) -> Option<SqlValue> {
        self.loaded.get(&column).copied()
    }

    /// Remembers a column's value.
    pub fn load(&mut self, column: ColumnId, value: SqlValue) {
        self.loaded.insert(column, value);
        self.log.push(Loaded::Column(column));
    }

    /// The present state.
    pub fn mark(&self) -> Mark {
        Mark(self.log.len())
    }

    /// Forgets what was loaded since.
    pub fn back_to(&mut self, mark: Mark) {
        while self.log.len() > mark.0 {
            match self.log.pop() {
                Some(Loaded::Column(id)) => {
                    self.loaded.remove(&id);
                }
                Some(Loaded::Anchor(anchor, slot)) => {
                    self.anchors.insert(anchor, Anchor::Slot(slot));
                }
                Some(Loaded::Partition) => self.partition = None,
                None => {}
            }
        }
    }

    /// Where the source row's partition begins, in bytes, and its row there, if that was computed.
    pub fn partition(&self) -> Option<(ir::Value, ir::Value)> {
        self.partition
    }

    /// Remembers it.
    pub fn set_partition(&mut self, found: (ir::Value, ir::Value)) {
        self.partition = Some(found);
        self.log.push(Loaded::Partition);
    }
}
