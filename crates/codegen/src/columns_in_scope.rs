//! Columns of the row in hand are loaded at their first use.

use crate::scope::{Anchor, Place};
use crate::sql_value::{SqlValue, VectorWords};
use crate::stage_vector::Slot;
use crate::translator::Translator;
use cranelift_codegen::ir::{self, InstBuilder, condcodes::IntCC, types};
use frazil_plan::ColumnId;
use frazil_runtime::FieldPlace;
use frazil_types::{Error, NativeType, Result};

impl Translator<'_, '_> {
    /// The row of the loop.
    pub fn row(&self) -> Result<ir::Value> {
        self.scope.row()
    }

    /// An anchor's value.
    pub fn anchor(&mut self, anchor: usize) -> Result<ir::Value> {
        match self.scope.anchor(anchor) {
            Some(Anchor::Value(value)) => Ok(value),
            Some(Anchor::Slot(slot)) => {
                let value = self.slot_value(slot)?.value;
                let value = match slot.native {
                    NativeType::I32 => self.b.ins().uextend(types::I64, value),
                    _ => value,
                };
                self.scope.load_anchor(anchor, slot, value);
                Ok(value)
            }
            None => Err(Error::internal(format!("anchor {anchor} is not in scope"))),
        }
    }

    /// A column's value, loaded at its first use.
    pub fn column(&mut self, id: ColumnId) -> Result<SqlValue> {
        if let Some(value) = self.scope.loaded(id) {
            return Ok(value);
        }
        let value = match self.scope.get(id)? {
            Place::Value(value) => return Ok(value),
            Place::Slot(slot) => self.slot_value(slot)?,
            Place::Source(cell) => self.source_value(cell)?,
            Place::Average { sum, count, of } => {
                let (sum, count) = (self.source_value(sum)?, self.source_value(count)?);
                let average = self.average((sum, of), count)?;
                self.coerce(average, self.unit.plan.columns[id].native())
            }
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
                let value = self.field(row, field);
                // Rows hold integers as narrow as their bounds allow.
                let mut value = self.coerce(value, self.unit.plan.columns[id].native());
                if optional {
                    let none = self.no_row();
                    let found = self.icmp(IntCC::NotEqual, row, none);
                    value.valid = self.both(value.valid, Some(found));
                }
                value
            }
        };
        self.scope.load(id, value);
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
