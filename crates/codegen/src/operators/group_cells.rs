//! Groups of strings that are found by their codes in a block (Data Blocks, appendix E): see
//! `runtime/code_groups.rs`.

use crate::breakers::groups::GroupLayout;
use crate::objects::ObjectSpec;
use crate::scope::SourceCell;
use crate::sql_value::{SqlValue, clif_type};
use crate::stage_work::Cell;
use crate::translator::Translator;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use frazil_runtime::functions::Function;
use frazil_types::{NativeType, Result};

/// The keys of a row whose group is not known by its cell.
pub(crate) struct KeysOfCell {
    /// The cell; 0 if the row has none.
    pub cell: ir::Value,
    /// The group keys.
    pub keys: Vec<SqlValue>,
}

impl<'p> Translator<'_, 'p> {
    /// The row of the group. A cell that knows it gives it without a look at the keys.
    pub fn row_by_code(&mut self, layout: &GroupLayout, cells: SourceCell) -> Result<ir::Value> {
        let found = self.block(&[types::I64]);
        let KeysOfCell { cell, keys } = self.look_into_cell(layout, cells, found)?;
        let row = self.row_by_hash(layout, &keys)?;
        self.note_in_cell(cell, row);
        self.jump(found, &[row]);
        Ok(self.enter(found)[0])
    }

    /// Adds the row to its group and goes to `done` if its cell knows the group. The block in hand is behind that.
    pub fn settle_by_cell(
        &mut self,
        layout: &'p GroupLayout,
        cells: SourceCell,
        done: Block,
    ) -> Result<KeysOfCell> {
        let found = self.block(&[types::I64]);
        let unknown = self.look_into_cell(layout, cells, found)?;
        let on = self.b.create_block();
        self.jump(on, &[]);
        let row = self.enter(found)[0];
        let mark = self.scope.mark();
        let fields = &layout.spec.layout.fields[layout.spec.groups..];
        let states: Vec<Cell> = fields.iter().map(|field| Cell::Memory(row, *field)).collect();
        self.advance_all(layout, &states)?;
        self.scope.back_to(mark);
        self.jump(done, &[]);
        self.enter(on);
        Ok(unknown)
    }

    /// Goes to `found` with the row of the group if the row's cell knows it. The block in hand is behind that.
    fn look_into_cell(
        &mut self,
        layout: &GroupLayout,
        cells: SourceCell,
        found: Block,
    ) -> Result<KeysOfCell> {
        let cell = self.source_value(cells)?.value;
        let (coded, plain) = (self.b.create_block(), self.b.create_block());
        let first = self.b.create_block();
        self.branch(cell, coded, plain);

        self.enter(plain);
        let mark = self.scope.mark();
        let keys = self.group_keys(layout)?;
        self.scope.back_to(mark);
        let look = self.b.create_block();
        for key in &keys {
            self.b.append_block_param(look, clif_type(key.native));
            if key.valid.is_some() {
                self.b.append_block_param(look, types::I8);
            }
        }
        self.jump(look, &parts(&keys));

        self.enter(coded);
        let known = self.load_word(cell, 0);
        self.branch_with(known, (found, &[known]), (first, &[]));

        self.enter(first);
        self.b.set_cold_block(first);
        let of_cell = self.keys_of_cell(cell, &keys)?;
        self.jump(look, &parts(&of_cell));

        let values = self.enter(look);
        let mut at = 0;
        let mut next = || {
            at += 1;
            values[at - 1]
        };
        let keys = keys
            .iter()
            .map(|key| SqlValue {
                value: next(),
                valid: key.valid.map(|_| next()),
                native: key.native,
            })
            .collect();
        Ok(KeysOfCell { cell, keys })
    }

    /// Keeps the row of a group in the cell that leads to it, if the cell is not 0.
    pub fn note_in_cell(&mut self, cell: ir::Value, row: ir::Value) {
        let (note, on) = (self.b.create_block(), self.b.create_block());
        self.branch(cell, note, on);
        self.enter(note);
        self.store(row, cell, 0);
        self.jump(on, &[]);
        self.enter(on);
    }

    /// The keys of the group of a cell, in the form of `keys`.
    fn keys_of_cell(&mut self, cell: ir::Value, keys: &[SqlValue]) -> Result<Vec<SqlValue>> {
        let groups = self.object(ObjectSpec::CodeGroups);
        let out = self.stack_place();
        let mut of_cell = Vec::with_capacity(keys.len());
        for (number, key) in keys.iter().enumerate() {
            let number = self.word(number as u64);
            let is_valid = self.call_value(Function::CodeGroupKey, &[groups, cell, number, out])?;
            let value = self.load(NativeType::String, out, 0);
            let valid = key.valid.map(|_| self.b.ins().ireduce(types::I8, is_valid));
            of_cell.push(SqlValue {
                value,
                valid,
                native: key.native,
            });
        }
        Ok(of_cell)
    }
}

/// The values of keys, each with its validity if it may be NULL, as the parameters of a block.
fn parts(keys: &[SqlValue]) -> Vec<ir::Value> {
    let parts = keys.iter().flat_map(|key| [Some(key.value), key.valid]);
    parts.flatten().collect()
}
