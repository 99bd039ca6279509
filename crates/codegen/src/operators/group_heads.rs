//! Groups of the rows of a whole vector, looked for before its loop (Relaxed Operator Fusion, section 4.3).
//!
//! The stage in front of the boundary computes where each row's group is looked for, the hash of its keys or the slot of an array.
//! Before the loop over the vector the runtime fetches what these places lead to, and notes the head of each chain. A group that an
//! earlier row of the vector made is not among them: a row that finds no group that way looks into the directory itself.

use crate::breakers::groups::GroupLayout;
use crate::objects::ObjectSpec;
use crate::operators::group_cells::KeysOfCell;
use crate::sql_value::SqlValue;
use crate::stage_vector::{SlotContent, StageVector};
use crate::stage_work::GroupHeads;
use crate::translator::Translator;
use cranelift_codegen::ir::{self, InstBuilder};
use frazil_plan::ExprKind;
use frazil_runtime::GroupAddressing;
use frazil_runtime::functions::Function;
use frazil_types::{NativeType, Result};

impl Translator<'_, '_> {
    /// What a stage vector carries for the groups behind it.
    pub fn group_contents(
        &mut self,
        layout: &GroupLayout,
        cell: Option<KeysOfCell>,
    ) -> Result<Vec<(SlotContent, SqlValue)>> {
        let is_with_cell = cell.is_some();
        let (cell, keys) = match cell {
            Some(KeysOfCell { cell, keys }) => (Some(cell), keys),
            None => (None, self.group_keys(layout)?),
        };
        let place = match layout.spec.addressing {
            GroupAddressing::Array { slots } => self.group_slot(layout, &keys, slots as u64)?,
            GroupAddressing::Hash { .. } | GroupAddressing::Single => self.hash_values(&keys)?,
        };
        let computed = |(_, (_, e)): &(usize, &(_, frazil_plan::Expr))| {
            is_with_cell || !matches!(e.kind, ExprKind::Column(_))
        };
        let computed = layout.groups.iter().enumerate().filter(computed);
        let mut contents: Vec<_> = computed
            .map(|(number, _)| (SlotContent::GroupKey(number), keys[number]))
            .collect();
        contents.extend(cell.map(|cell| (SlotContent::GroupCell, SqlValue::certain(cell, NativeType::I64))));
        let place = SqlValue::certain(place, NativeType::I64);
        contents.push((SlotContent::GroupPlace, place));
        Ok(contents)
    }

    /// Looks for the groups of all rows of a vector.
    pub fn find_group_heads(&mut self, vector: &StageVector) -> Result<()> {
        let Some(places) = vector.find(SlotContent::GroupPlace) else {
            return Ok(());
        };
        let most = self.unit.vector_rows;
        let heads = (self.memory).slot(SlotContent::GroupPlace, NativeType::I64, false, most);
        let table = self.object(ObjectSpec::Part);
        let memory = self.stage_memory();
        let from = self.b.ins().iadd_imm_s(memory, places.values as i64);
        let out = self.b.ins().iadd_imm_s(memory, heads.values as i64);
        let rows = self.rows;
        self.call(Function::AggregateHeads, &[table, from, rows, out])?;
        let keys = vector.slots.iter().filter_map(|slot| match slot.content {
            SlotContent::GroupKey(number) => Some((number, *slot)),
            _ => None,
        });
        self.work.group_heads = Some(GroupHeads {
            places,
            heads,
            cells: vector.find(SlotContent::GroupCell),
            keys: keys.collect(),
        });
        Ok(())
    }

    /// Where the row's group is looked for and the head that was found there, if the vector was looked through.
    pub fn group_head(&mut self) -> Result<Option<(ir::Value, ir::Value)>> {
        let Some(GroupHeads { places, heads, .. }) = self.work.group_heads else {
            return Ok(None);
        };
        let (place, head) = (self.slot_value(places)?.value, self.slot_value(heads)?.value);
        Ok(Some((place, head)))
    }

    /// The values of the row's group keys.
    pub fn group_keys(&mut self, layout: &GroupLayout) -> Result<Vec<SqlValue>> {
        let plan = self.unit.plan;
        let mut keys = Vec::with_capacity(layout.groups.len());
        for (number, (column, e)) in layout.groups.iter().enumerate() {
            let known = self.work.group_heads.iter().flat_map(|found| &found.keys);
            let known = known.copied().find(|(of, _)| *of == number);
            let key = match known {
                Some((_, slot)) => self.slot_value(slot)?,
                None => {
                    let value = self.expression(e)?;
                    self.coerce(value, plan.columns[*column].native())
                }
            };
            keys.push(key);
        }
        Ok(keys)
    }
}
