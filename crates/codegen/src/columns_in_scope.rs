//! Where the columns of the row in hand are, and their loading at first use.

use crate::operators::vector_call::VectorWords;
use crate::sql_value::SqlValue;
use crate::stage_vector::Slot;
use crate::translator::Translator;
use cranelift_codegen::ir::{self, InstBuilder, condcodes::IntCC, types};
use frazil_plan::ColumnId;
use frazil_runtime::FieldPlace;
use frazil_types::{Error, NativeType, Result};
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
    /// In registers.
    Value(SqlValue),
}

#[derive(Clone, Copy, Debug)]
enum Anchor {
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

impl Translator<'_, '_> {
    /// The row of the loop.
    pub fn row(&self) -> Result<ir::Value> {
        self.scope.row.ok_or_else(|| Error::internal("no row in hand"))
    }

    /// An anchor's value.
    pub fn anchor(&mut self, anchor: usize) -> Result<ir::Value> {
        match self.scope.anchors.get(&anchor).copied() {
            Some(Anchor::Value(value)) => Ok(value),
            Some(Anchor::Slot(slot)) => {
                let value = self.slot_value(slot)?.value;
                let value = match slot.native {
                    NativeType::I32 => self.b.ins().uextend(types::I64, value),
                    _ => value,
                };
                self.scope.anchors.insert(anchor, Anchor::Value(value));
                self.scope.log.push(Loaded::Anchor(anchor, slot));
                Ok(value)
            }
            None => Err(Error::internal(format!("anchor {anchor} is not in scope"))),
        }
    }

    /// A column's value, loaded at its first use.
    pub fn column(&mut self, id: ColumnId) -> Result<SqlValue> {
        if let Some(&value) = self.scope.loaded.get(&id) {
            return Ok(value);
        }
        let value = match self.scope.get(id)? {
            Place::Value(value) => return Ok(value),
            Place::Slot(slot) => self.slot_value(slot)?,
            Place::Source(cell) => self.source_value(cell)?,
            Place::Vector {
                words,
                storage,
                native,
            } => {
                let row = self.row()?;
                self.vector_value(row, words, storage, native, true)
            }
            Place::BuildRow {
                anchor,
                field,
                optional,
            } => {
                let row = self.anchor(anchor)?;
                let mut value = self.field(row, field);
                if optional {
                    let none = self.no_row();
                    let found = self.icmp(IntCC::NotEqual, row, none);
                    value.valid = self.both(value.valid, Some(found));
                }
                value
            }
        };
        self.scope.loaded.insert(id, value);
        self.scope.log.push(Loaded::Column(id));
        Ok(value)
    }

    /// The row of zeros that stands for "no match": it lies at the start of the stage memory.
    pub fn no_row(&mut self) -> ir::Value {
        self.stage_memory()
    }

    /// A field of a row in memory.
    pub fn field(&mut self, row: ir::Value, field: FieldPlace) -> SqlValue {
        let value = self.load(field.native, row, field.offset);
        let valid = field.validity.map(|at| self.load(NativeType::Bool, row, at));
        SqlValue {
            value,
            valid,
            native: field.native,
        }
    }

    /// Writes a field of a fresh row in memory.
    pub fn set_field(&mut self, row: ir::Value, field: FieldPlace, value: SqlValue) {
        self.store(value.value, row, field.offset);
        if let Some(at) = field.validity {
            let valid = match value.valid {
                Some(valid) => valid,
                None => self.byte(true),
            };
            self.store(valid, row, at);
        }
    }

    /// The value of a row of a vector.
    pub fn vector_value(
        &mut self,
        row: ir::Value,
        words: VectorWords,
        storage: NativeType,
        native: NativeType,
        nullable: bool,
    ) -> SqlValue {
        let at = self.masked(row, words.value_mask);
        let address = self.element(words.values, at, storage.size());
        // Where bounds prove that a wide decimal fits in 64 bits, its low half is the value.
        let value = self.load(native, address, 0);
        let valid = nullable.then(|| {
            let at = self.masked(row, words.validity_mask);
            let address = self.b.ins().iadd(words.validity, at);
            self.load(NativeType::Bool, address, 0)
        });
        SqlValue { value, valid, native }
    }

    /// A row, or the row that stands for all.
    pub fn masked(&mut self, row: ir::Value, mask: Option<ir::Value>) -> ir::Value {
        match mask {
            Some(mask) => self.b.ins().band(row, mask),
            None => row,
        }
    }

    /// The value of this row in a slot of the stage vector.
    pub fn slot_value(&mut self, slot: Slot) -> Result<SqlValue> {
        let row = self.row()?;
        let memory = self.stage_memory();
        let address = self.element(memory, row, slot.native.size());
        let value = self.load(slot.native, address, slot.values as i32);
        let valid = slot.validity.map(|at| {
            let address = self.b.ins().iadd(memory, row);
            self.load(NativeType::Bool, address, at as i32)
        });
        Ok(SqlValue {
            value,
            valid,
            native: slot.native,
        })
    }
}
