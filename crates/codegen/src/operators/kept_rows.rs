//! What the aggregation sink does for aggregates that need more than a value: it keeps rows, notes values in sketches, and
//! picks the value of the row with the least or greatest key.

use crate::breakers::group_lists::GroupList;
use crate::breakers::groups::State;
use crate::failures::FailurePoint;
use crate::objects::ObjectSpec;
use crate::sql_value::SqlValue;
use crate::stage_work::Cell;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use frazil_runtime::breakers::groups::lists::{Chunk, ListSpec, Lists};
use frazil_runtime::functions::Function;
use frazil_runtime::{AggregateTable, StateKind};
use frazil_types::{CompareOp, Error, NativeType, Result};
use std::mem::offset_of;

impl Translator<'_, '_> {
    /// Appends the row to a list of the group; `cell` is the list's state.
    pub(super) fn keep_row(
        &mut self,
        list: &GroupList,
        spec: &ListSpec,
        number: usize,
        cell: Cell,
    ) -> Result<()> {
        let mark = self.scope.mark();
        let skip = self.b.create_block();
        let mut values = Vec::with_capacity(list.values.len());
        for (e, field) in list.values.iter().zip(&spec.layout.fields) {
            let value = self.expression(e)?;
            values.push(self.coerce(value, field.native));
        }
        for value in &mut values[..list.required] {
            if let Some(valid) = value.valid.take() {
                self.go_if(valid, skip);
            }
        }
        let table = self.object(ObjectSpec::Part);
        let heap = self.table_heap(table);
        for value in &mut values {
            *value = self.kept(*value, heap)?;
        }
        let place = self.chunk_place(cell)?;
        let row = self.list_row((spec, number), table, place)?;
        for (value, field) in values.into_iter().zip(&spec.layout.fields) {
            self.set_field(row, *field, value);
        }
        self.jump(skip, &[]);
        self.scope.back_to(mark);
        self.enter(skip);
        Ok(())
    }

    /// A new row of a list, to be written: where the last chunk has room here, else in the runtime. `place` is where the group knows the
    /// chunk.
    fn list_row(
        &mut self,
        (spec, number): (&ListSpec, usize),
        table: ir::Value,
        place: ir::Value,
    ) -> Result<ir::Value> {
        let (some, fast) = (self.b.create_block(), self.b.create_block());
        let (slow, found) = (self.b.create_block(), self.block(&[types::I64]));
        self.b.set_cold_block(slow);
        let chunk = self.load_word(place, 0);
        self.branch(chunk, some, slow);
        self.enter(some);
        let used = self.load(NativeType::I32, chunk, Chunk::USED);
        let capacity = self.load(NativeType::I32, chunk, Chunk::CAPACITY);
        let is_full = self.icmp(IntCC::Equal, used, capacity);
        self.branch(is_full, slow, fast);
        self.enter(fast);
        let wide = self.b.ins().uextend(types::I64, used);
        let row = self.element(chunk, wide, spec.layout.size);
        let row = self.b.ins().iadd_imm_s(row, i64::from(Chunk::ROWS));
        let more = self.b.ins().iadd_imm_s(used, 1);
        self.store(more, chunk, Chunk::USED);
        if let Some(field) = spec.ordinal {
            let at = offset_of!(AggregateTable, lists) as i32 + Lists::ORDINAL;
            let ordinal = self.load_word(table, at);
            self.store(ordinal, row, spec.layout.fields[field].offset);
            let next = self.b.ins().iadd_imm_s(ordinal, 1);
            self.store(next, table, at);
        }
        self.jump(found, &[row]);
        self.enter(slow);
        let number = self.word(number as u64);
        let context = self.context;
        let row = self.call_row(Function::AggregateAppend, &[context, table, number, place])?;
        self.jump(found, &[row]);
        Ok(self.enter(found)[0])
    }

    /// Notes a value in the sketch of which `cell` is the state.
    pub(super) fn sketch(&mut self, cell: Cell, argument: SqlValue) -> Result<()> {
        let skip = self.b.create_block();
        if let Some(valid) = argument.valid {
            self.go_if(valid, skip);
        }
        let hash = self.hash_values(&[argument.with_valid(None)])?;
        let table = self.object(ObjectSpec::Part);
        let place = self.chunk_place(cell)?;
        let context = self.context;
        let arguments = [context, table, place, hash];
        self.call_checked(Function::AggregateSketch, &arguments, FailurePoint::CALL)?;
        self.jump(skip, &[]);
        self.enter(skip);
        Ok(())
    }

    /// Takes the argument, as a state of a native type, where the row's key improves `key`, which is not advanced yet.
    pub(super) fn pick(
        &mut self,
        native: NativeType,
        cell: Cell,
        argument: SqlValue,
        (key, of_key): (&State, Cell),
    ) -> Result<()> {
        let Some(e) = &key.argument else {
            return Err(Error::internal("an aggregate without its key"));
        };
        let better = match key.kind {
            StateKind::Min => CompareOp::Lt,
            _ => CompareOp::Gt,
        };
        let value = self.expression(e)?;
        let value = self.coerce(value, key.field.native);
        let (check, take) = (self.b.create_block(), self.b.create_block());
        let skip = self.b.create_block();
        if let Some(valid) = value.valid {
            self.go_if(valid, skip);
        }
        let old = self.state(of_key, key.field.native);
        match old.valid {
            Some(valid) => self.branch(valid, check, take),
            None => self.jump(check, &[]),
        }
        self.enter(check);
        let improves = self.compare_values(better, value.with_valid(None), old)?;
        self.branch(improves, take, skip);
        self.enter(take);
        let mut new = self.coerce(argument, native);
        if native == NativeType::String {
            let table = self.object(ObjectSpec::Part);
            let heap = self.table_heap(table);
            new = self.kept(new, heap)?;
        }
        self.set_state(cell, new);
        self.jump(skip, &[]);
        self.enter(skip);
        Ok(())
    }

    /// Where the strings lie that the groups' rows keep.
    pub(super) fn table_heap(&mut self, table: ir::Value) -> ir::Value {
        let offset = offset_of!(AggregateTable, heap) as i64;
        self.b.ins().iadd_imm_s(table, offset)
    }

    /// The address of a state that is that of a chunk.
    fn chunk_place(&mut self, cell: Cell) -> Result<ir::Value> {
        match cell {
            Cell::Memory(row, field) => Ok(self.b.ins().iadd_imm_s(row, i64::from(field.offset))),
            Cell::Registers(..) => Err(Error::internal("a list in a register")),
        }
    }
}
