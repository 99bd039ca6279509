//! Groups of strings that are found by their codes in a block (Data Blocks, appendix E): see `runtime/code_groups.rs`.

use crate::breakers::groups::GroupLayout;
use crate::objects::ObjectSpec;
use crate::scope::SourceCell;
use crate::sql_value::{SqlValue, clif_type};
use crate::translator::Translator;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use frazil_runtime::functions::Function;
use frazil_types::{NativeType, Result};

impl Translator<'_, '_> {
    /// The row of the group. A cell that knows it gives it without a look at the keys.
    pub fn row_by_code(&mut self, layout: &GroupLayout, cells: SourceCell) -> Result<ir::Value> {
        let cell = self.source_value(cells)?.value;
        let (coded, plain, first) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let found = self.block(&[types::I64]);
        self.branch(cell, coded, plain);

        self.enter(plain);
        let mark = self.scope.mark();
        let keys = self.group_keys(layout)?;
        self.scope.back_to(mark);
        let parts = |keys: &[SqlValue]| -> Vec<ir::Value> {
            keys.iter()
                .flat_map(|key| [Some(key.value), key.valid])
                .flatten()
                .collect()
        };
        let forms = keys
            .iter()
            .flat_map(|key| [Some(clif_type(key.native)), key.valid.map(|_| types::I8)]);
        let look = self.block(&forms.flatten().collect::<Vec<_>>());
        self.jump(look, &parts(&keys));

        self.enter(coded);
        let known = self.load_word(cell, 0);
        let known_row: [BlockArg; 1] = [known.into()];
        self.b.ins().brif(known, found, &known_row, first, &[]);

        self.enter(first);
        self.b.set_cold_block(first);
        let of_cell = self.keys_of_cell(cell, &keys)?;
        self.jump(look, &parts(&of_cell));

        let values = self.enter(look).to_vec();
        let mut values = values.into_iter();
        let mut next = || values.next().expect("a parameter for each part of a key");
        let keys: Vec<SqlValue> = keys
            .iter()
            .map(|key| SqlValue {
                value: next(),
                valid: key.valid.map(|_| next()),
                native: key.native,
            })
            .collect();
        let row = self.row_by_hash(layout, &keys)?;
        let note = self.b.create_block();
        let row_found: [BlockArg; 1] = [row.into()];
        self.b.ins().brif(cell, note, &[], found, &row_found);
        self.enter(note);
        self.b.set_cold_block(note);
        self.store(row, cell, 0);
        self.jump(found, &[row]);
        Ok(self.enter(found)[0])
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
