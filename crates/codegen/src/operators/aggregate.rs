//! The aggregation sink: the row's group is found, then its states are advanced.
//!
//! Groups are found by hash, or by an index where the keys are few small integers. Without groups the
//! states of the one row live in registers while the loop runs, unless they are more than [`MOST_IN_REGISTERS`].

use crate::breakers::groups::{GroupLayout, State};
use crate::failures::FailurePoint;
use crate::objects::ObjectSpec;
use crate::sql_value::SqlValue;
use crate::stage_work::{Cell, GroupHeads, StateCells};
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, Block, InstBuilder, StackSlot, types};
use frazil_kernels::hash::MULTIPLIER;
use frazil_runtime::functions::Function;
use frazil_runtime::row_layout::{HASH_OFFSET, NEXT_OFFSET};
use frazil_runtime::{AggregateTable, FieldPlace, GroupAddressing, StateKind};
use frazil_types::{CompareOp, LogicalType, NativeType, Result};
use std::mem::offset_of;

/// Groups of short strings that are kept on the stack.
const RECENT: usize = 64;
/// Expected groups up to which recent ones are kept. A row of one of 10,000 groups hardly ever finds it among them.
const MOST_WITH_RECENT: usize = 16 * RECENT;
/// Key columns that they have at most.
const RECENT_KEYS: usize = 2;
/// Bytes of each as a power of two: the row, then the head and tail of each key.
const RECENT_SHIFT: usize = 6;
const RECENT_ROW: i32 = 0;
const RECENT_FIRST_KEY: i32 = 8;

/// Parts of states that are kept in registers at most. More are not faster there, they are spilled; and a loop takes the square of
/// its variables to build.
const MOST_IN_REGISTERS: usize = 32;

impl<'p> Translator<'_, 'p> {
    /// Loads the states of an aggregation without groups.
    pub fn open_states(&mut self, layout: &GroupLayout) {
        if layout.spec.groups > 0 {
            self.open_last_group(layout);
            return;
        }
        let directory = self.object_field(ObjectSpec::Part, offset_of!(AggregateTable, directory));
        let row = self.load_word(directory, 0);
        let fields = &layout.spec.layout.fields;
        let in_memory = fields.len() > MOST_IN_REGISTERS;
        let cell = |(&field, kind): (&FieldPlace, &StateKind)| match in_memory || kind.is_chunks() {
            true => (field, Cell::Memory(row, field)),
            false => {
                let state = self.field(row, field);
                let value = self.variable(state.value);
                (
                    field,
                    Cell::Registers(value, state.valid.map(|v| self.variable(v))),
                )
            }
        };
        let cells = fields.iter().zip(&layout.spec.states).map(cell).collect();
        self.work.states = Some(StateCells { row, cells });
    }

    /// Keys that come in runs, as those of a clustered table do, find their group without a look-up: the
    /// one found last is kept in registers. Short strings are mostly few: the groups of [`RECENT`] of them are kept on the
    /// stack, each where one multiplication leads to, while hashing, probing and comparing a string take four times
    /// the instructions.
    fn open_last_group(&mut self, layout: &GroupLayout) {
        let GroupAddressing::Hash { expected } = layout.spec.addressing else {
            return;
        };
        let key = layout.spec.layout.fields[0];
        let keys = &layout.spec.layout.fields[..layout.spec.groups];
        let has_nulls = keys.iter().any(|key| key.validity.is_some());
        if has_nulls || keys.len() > RECENT_KEYS {
            return;
        }
        let zero = self.word(0);
        // If groups were looked for before the loop, they are many.
        let looked_up = self.work.group_heads.is_some();
        let are_few = !looked_up && expected <= MOST_WITH_RECENT;
        if are_few && keys.iter().all(|key| key.native == NativeType::String) {
            let recent = self.stack_slot(RECENT << RECENT_SHIFT);
            self.forget_recent(recent);
            self.work.recent_groups = Some(recent);
        }
        match key.native {
            _ if keys.len() > 1 => {}
            NativeType::I16 | NativeType::I32 | NativeType::I64 => {
                let (key, row) = (self.variable(zero), self.variable(zero));
                self.work.last_group = Some((key, row));
            }
            _ => {}
        }
    }

    /// Says of each place of the recent groups that there is none. In a loop: it is made for every function, and runs
    /// once for a vector.
    fn forget_recent(&mut self, recent: StackSlot) {
        let (head, end) = (self.block(&[types::I64]), self.b.create_block());
        let zero = self.word(0);
        self.jump(head, &[zero]);
        let number = self.enter(head)[0];
        let places = self.b.ins().stack_addr(types::I64, recent, 0);
        let place = self.element(places, number, 1 << RECENT_SHIFT);
        self.store(zero, place, RECENT_ROW);
        let next = self.b.ins().iadd_imm_s(number, 1);
        let more = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, next, RECENT as i64);
        let args: [ir::BlockArg; 1] = [next.into()];
        self.b.ins().brif(more, head, &args, end, &[]);
        self.enter(end);
    }

    /// Stores those that are in registers.
    pub fn close_states(&mut self) {
        let Some(cells) = self.work.states.take() else {
            return;
        };
        for (field, cell) in cells.cells {
            let Cell::Registers(value, valid) = cell else {
                continue;
            };
            let value = self.b.use_var(value);
            let valid = valid.map(|v| self.b.use_var(v));
            let state = SqlValue {
                value,
                valid,
                native: field.native,
            };
            self.set_field(cells.row, field, state);
        }
    }

    /// Adds the row to its group.
    pub fn aggregate(&mut self, layout: &'p GroupLayout, done: Block) -> Result<()> {
        let fields = &layout.spec.layout.fields[layout.spec.groups..];
        if let Some(cells) = &self.work.states {
            let cells: Vec<Cell> = cells.cells.iter().map(|c| c.1).collect();
            self.advance_all(layout, &cells)?;
        } else {
            let row = self.group_row(layout)?;
            let cells: Vec<Cell> = fields.iter().map(|f| Cell::Memory(row, *f)).collect();
            self.advance_all(layout, &cells)?;
        }
        self.jump(done, &[]);
        Ok(())
    }

    /// The row of the group, made where it is not there yet.
    fn group_row(&mut self, layout: &GroupLayout) -> Result<ir::Value> {
        if let GroupAddressing::Array { slots } = layout.spec.addressing {
            return self.row_by_index(layout, slots as u64);
        }
        if let Some(GroupHeads { cells, .. }) = &self.work.group_heads {
            let cells = *cells;
            let keys = self.group_keys(layout)?;
            let row = self.row_by_hash(layout, &keys)?;
            if let Some(cells) = cells {
                let cell = self.slot_value(cells)?.value;
                self.note_in_cell(cell, row);
            }
            return Ok(row);
        }
        if let Some(cells) = self.work.group_cells {
            return self.row_by_code(layout, cells);
        }
        let keys = self.group_keys(layout)?;
        self.row_by_hash(layout, &keys)
    }

    /// The slot of a group of an array.
    pub fn group_slot(&mut self, layout: &GroupLayout, keys: &[SqlValue], slots: u64) -> Result<ir::Value> {
        let mut index = None;
        for (key, &(min, stride)) in keys.iter().zip(&layout.array) {
            let wide = match key.native {
                NativeType::Bool => self.b.ins().uextend(types::I64, key.value),
                _ => self.coerce(*key, NativeType::I64).value,
            };
            // Digit 0 is NULL's.
            let mut digit = self.b.ins().iadd_imm_s(wide, 1i64.wrapping_sub(min));
            if let Some(valid) = key.valid {
                let zero = self.word(0);
                digit = self.b.ins().select(valid, digit, zero);
            }
            let part = match stride {
                1 => digit,
                _ => self.b.ins().imul_imm_s(digit, stride as i64),
            };
            index = Some(match index {
                Some(index) => self.b.ins().iadd(index, part),
                None => part,
            });
        }
        let index = match index {
            Some(index) => index,
            None => self.word(0),
        };
        // The bounds the plan was compiled for hold, unless a block is damaged.
        let outside = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, index, slots as i64);
        self.fail_if(outside, FailurePoint::BOUNDS);
        Ok(index)
    }

    fn row_by_index(&mut self, layout: &GroupLayout, slots: u64) -> Result<ir::Value> {
        let (insert, found) = (self.b.create_block(), self.block(&[types::I64]));
        self.b.set_cold_block(insert);
        let (index, keys) = match self.group_head()? {
            Some((index, head)) => {
                let look = self.b.create_block();
                self.b.set_cold_block(look);
                let args: [ir::BlockArg; 1] = [head.into()];
                self.b.ins().brif(head, found, &args, look, &[]);
                self.enter(look);
                (index, None)
            }
            None => {
                let keys = self.group_keys(layout)?;
                (self.group_slot(layout, &keys, slots)?, Some(keys))
            }
        };
        let spec = ObjectSpec::Part;
        let directory = self.object_field(spec.clone(), offset_of!(AggregateTable, directory));
        let address = self.element(directory, index, 8);
        let entry = self.load_word(address, 0);
        let args: [ir::BlockArg; 1] = [entry.into()];
        self.b.ins().brif(entry, found, &args, insert, &[]);
        self.enter(insert);
        let table = self.object(spec);
        let context = self.context;
        let row = self.call_row(Function::AggregateInsertAt, &[context, table, index])?;
        // What is loaded here is not loaded where there was a group.
        let mark = self.scope.mark();
        let keys = match keys {
            Some(keys) => keys,
            None => self.group_keys(layout)?,
        };
        self.write_keys(table, row, layout, &keys)?;
        self.scope.back_to(mark);
        self.jump(found, &[row]);
        Ok(self.enter(found)[0])
    }

    pub(super) fn row_by_hash(&mut self, layout: &GroupLayout, keys: &[SqlValue]) -> Result<ir::Value> {
        if let Some(recent) = self.work.recent_groups {
            return self.row_of_strings(recent, layout, keys);
        }
        let Some((last_key, last_row)) = self.work.last_group else {
            return self.look_up(layout, keys);
        };
        let key = self.coerce(keys[0], NativeType::I64).value;
        let (before, row) = (self.b.use_var(last_key), self.b.use_var(last_row));
        let same = self.icmp(IntCC::Equal, key, before);
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, row, 0);
        let again = self.b.ins().band(same, some);
        let (other, found) = (self.b.create_block(), self.block(&[types::I64]));
        let args: [ir::BlockArg; 1] = [row.into()];
        self.b.ins().brif(again, found, &args, other, &[]);
        self.enter(other);
        let row = self.look_up(layout, keys)?;
        self.b.def_var(last_key, key);
        self.b.def_var(last_row, row);
        self.jump(found, &[row]);
        Ok(self.enter(found)[0])
    }

    /// The row of a group whose keys are strings that are never NULL, which may be among the `recent` ones. Those are short, so that
    /// being the same takes no look at bytes elsewhere, which may have changed since.
    fn row_of_strings(
        &mut self,
        recent: StackSlot,
        layout: &GroupLayout,
        keys: &[SqlValue],
    ) -> Result<ir::Value> {
        let mut words = Vec::with_capacity(keys.len());
        let mut product = self.word(0);
        for key in keys {
            let (head, tail) = self.b.ins().isplit(key.value);
            let mixed = self.b.ins().bxor(head, tail);
            let mixed = self.b.ins().bxor(product, mixed);
            product = self.b.ins().imul_imm_s(mixed, MULTIPLIER as i64);
            words.push((head, tail));
        }
        let number = self
            .b
            .ins()
            .ushr_imm_u(product, i64::from(64 - RECENT.trailing_zeros()));
        // Its address is computed here: in front of the loop it would take up a register in all of it.
        let recent = self.b.ins().stack_addr(types::I64, recent, 0);
        let place = self.element(recent, number, 1 << RECENT_SHIFT);
        let row = self.load_word(place, RECENT_ROW);
        let mut known = self.b.ins().icmp_imm_s(IntCC::NotEqual, row, 0);
        for (&(head, tail), offset) in words.iter().zip((RECENT_FIRST_KEY..).step_by(16)) {
            let recent_head = self.load_word(place, offset);
            let recent_tail = self.load_word(place, offset + 8);
            let heads = self.icmp(IntCC::Equal, head, recent_head);
            let tails = self.icmp(IntCC::Equal, tail, recent_tail);
            let same = self.b.ins().band(heads, tails);
            known = self.b.ins().band(known, same);
        }
        let found = self.block(&[types::I64]);
        let (other, note) = (self.b.create_block(), self.b.create_block());
        let args: [ir::BlockArg; 1] = [row.into()];
        self.b.ins().brif(known, found, &args, other, &[]);
        self.enter(other);
        let row = self.look_up(layout, keys)?;
        let mut is_long = self.b.ins().iconst(types::I8, 0);
        for &(head, _) in &words {
            let this = self.is_long(head);
            is_long = self.b.ins().bor(is_long, this);
        }
        let args: [ir::BlockArg; 1] = [row.into()];
        self.b.ins().brif(is_long, found, &args, note, &[]);
        self.enter(note);
        for (&(head, tail), offset) in words.iter().zip((RECENT_FIRST_KEY..).step_by(16)) {
            self.store(head, place, offset);
            self.store(tail, place, offset + 8);
        }
        self.store(row, place, RECENT_ROW);
        self.jump(found, &[row]);
        Ok(self.enter(found)[0])
    }

    fn look_up(&mut self, layout: &GroupLayout, keys: &[SqlValue]) -> Result<ir::Value> {
        let table = self.object(ObjectSpec::Part);
        let (hash, head) = match self.group_head()? {
            Some(found) => found,
            None => {
                let hash = self.hash_values(keys)?;
                (hash, self.chain_of_groups(table, hash))
            }
        };
        let found_before = self.work.group_heads.is_some();
        let candidate = match found_before {
            true => self.block(&[types::I64, types::I64]),
            false => self.block(&[types::I64]),
        };
        let found = self.block(&[types::I64]);
        let (some, next, none) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let of_chain = |row: ir::Value, head: ir::Value| match found_before {
            true => vec![row, head],
            false => vec![row],
        };
        self.jump(candidate, &of_chain(head, head));
        let walk = self.enter(candidate).to_vec();
        let (row, head) = (walk[0], walk[walk.len() - 1]);
        self.branch(row, some, none);
        self.enter(some);
        let have = self.load_word(row, HASH_OFFSET);
        let mut same = self.icmp(IntCC::Equal, have, hash);
        let fields = &layout.spec.layout.fields[..layout.spec.groups];
        let compared = if is_told_by_hash(fields) { &[] } else { keys };
        for (key, field) in compared.iter().zip(&layout.spec.layout.fields) {
            let on = self.b.create_block();
            self.branch(same, on, next);
            self.enter(on);
            let stored = self.field(row, *field);
            same = self.same_values(*key, stored)?;
        }
        let args: [ir::BlockArg; 1] = [row.into()];
        self.b.ins().brif(same, found, &args, next, &[]);
        self.enter(next);
        let following = self.load_word(row, NEXT_OFFSET);
        self.jump(candidate, &of_chain(following, head));
        self.enter(none);
        if found_before {
            // Rows of the vector before this one have made groups: the chain has another head then.
            let (insert, again) = (self.b.create_block(), self.b.create_block());
            let now = self.chain_of_groups(table, hash);
            let same = self.icmp(IntCC::Equal, now, head);
            self.branch(same, insert, again);
            self.enter(again);
            self.jump(candidate, &[now, now]);
            self.enter(insert);
        }
        let context = self.context;
        let fresh = self.call_row(Function::AggregateInsert, &[context, table, hash])?;
        self.write_keys(table, fresh, layout, keys)?;
        self.jump(found, &[fresh]);
        Ok(self.enter(found)[0])
    }

    /// The head of the chain in which groups of a hash are.
    fn chain_of_groups(&mut self, table: ir::Value, hash: ir::Value) -> ir::Value {
        // Both may change with every new group.
        let directory = self.load_word(table, offset_of!(AggregateTable, directory) as i32);
        let shift = self.load_word(table, offset_of!(AggregateTable, shift) as i32);
        self.tagged_entry(directory, shift, hash)
    }

    fn write_keys(
        &mut self,
        table: ir::Value,
        row: ir::Value,
        layout: &GroupLayout,
        keys: &[SqlValue],
    ) -> Result<()> {
        let heap = self.table_heap(table);
        for (key, field) in keys.iter().zip(&layout.spec.layout.fields) {
            let key = self.kept(*key, heap)?;
            self.set_field(row, *field, key);
        }
        Ok(())
    }

    pub(super) fn state(&mut self, cell: Cell, native: NativeType) -> SqlValue {
        match cell {
            Cell::Memory(row, field) => self.field(row, field),
            Cell::Registers(value, valid) => SqlValue {
                value: self.b.use_var(value),
                valid: valid.map(|v| self.b.use_var(v)),
                native,
            },
        }
    }

    pub(super) fn set_state(&mut self, cell: Cell, state: SqlValue) {
        match cell {
            Cell::Memory(row, field) => self.set_field(row, field, state),
            Cell::Registers(value, valid) => {
                self.b.def_var(value, state.value);
                if let Some(variable) = valid {
                    let valid = match state.valid {
                        Some(valid) => valid,
                        None => self.byte(true),
                    };
                    self.b.def_var(variable, valid);
                }
            }
        }
    }

    pub(super) fn advance_all(&mut self, layout: &GroupLayout, cells: &[Cell]) -> Result<()> {
        let own = layout.states.iter().zip(cells).filter(|s| s.0.list.is_none());
        // A picked value goes by what its state was before this row.
        let is_picked = |state: &State| matches!(state.kind, StateKind::Picked { .. });
        let (first, then): (Vec<_>, Vec<_>) = own.partition(|s| is_picked(s.0));
        let mut states = first.into_iter().chain(then);
        states.try_for_each(|(state, cell)| self.advance(layout, state, *cell, cells))
    }

    /// Advances a state by the row; `cells` are those of all states.
    fn advance(&mut self, layout: &GroupLayout, state: &State, cell: Cell, cells: &[Cell]) -> Result<()> {
        let Some(filter) = &state.filter else {
            return self.advance_by(layout, state, cell, cells);
        };
        let (yes, skip) = (self.b.create_block(), self.b.create_block());
        let mark = self.scope.mark();
        self.branch_on(filter, true, yes, skip)?;
        self.enter(yes);
        self.advance_by(layout, state, cell, cells)?;
        self.jump(skip, &[]);
        self.scope.back_to(mark);
        self.enter(skip);
        Ok(())
    }

    fn advance_by(&mut self, layout: &GroupLayout, state: &State, cell: Cell, cells: &[Cell]) -> Result<()> {
        if let StateKind::Rows(list) = state.kind {
            return self.keep_row(&layout.lists[list], &layout.spec.lists[list], list, cell);
        }
        let argument = match &state.argument {
            Some(e) => Some(self.expression(e)?),
            None => None,
        };
        match (state.kind, argument) {
            (StateKind::Count, argument) => {
                let old = self.state(cell, state.field.native);
                let value = match argument.and_then(|a| a.valid) {
                    Some(valid) => {
                        let one = self.b.ins().uextend(types::I64, valid);
                        self.b.ins().iadd(old.value, one)
                    }
                    None => self.b.ins().iadd_imm_s(old.value, 1),
                };
                self.set_state(cell, SqlValue { value, ..old });
                Ok(())
            }
            (StateKind::Sum, Some(argument)) => self.add(state, cell, argument),
            (StateKind::Min, Some(argument)) => self.extreme(state, cell, argument, CompareOp::Lt),
            (StateKind::Max, Some(argument)) => self.extreme(state, cell, argument, CompareOp::Gt),
            (kind @ (StateKind::BitAnd | StateKind::BitOr | StateKind::BitXor), Some(argument)) => {
                self.bits(state, cell, argument, kind)
            }
            (StateKind::Deviations { count, sums }, Some(argument)) => {
                let others = [cells[count], cells[sums[0]], cells[sums[1]]];
                self.deviations(state, cell, argument, others)
            }
            (StateKind::Picked { by }, Some(argument)) => self.pick(
                state.field.native,
                cell,
                argument,
                (&layout.states[by], cells[by]),
            ),
            (StateKind::Sketch, Some(argument)) => self.sketch(cell, argument),
            (StateKind::Rows(_) | StateKind::Made, Some(_)) | (_, None) => Ok(()),
        }
    }

    fn add(&mut self, state: &State, cell: Cell, argument: SqlValue) -> Result<()> {
        let native = state.field.native;
        let old = self.state(cell, native);
        let mut term = self.coerce(argument, native);
        if let Some(valid) = term.valid {
            let zero = self.int(native, 0);
            term.value = self.b.ins().select(valid, term.value, zero);
        }
        let value = match native {
            NativeType::F64 => {
                let sum = self.b.ins().fadd(old.value, term.value);
                self.fail_if_overflown(sum, [old.value, term.value]);
                sum
            }
            _ => match state.checked {
                None => self.b.ins().iadd(old.value, term.value),
                Some(ty) => {
                    let (sum, overflow) = self.b.ins().sadd_overflow(old.value, term.value);
                    self.fail_if(overflow, FailurePoint::range(ty));
                    sum
                }
            },
        };
        let valid = match (old.valid, term.valid) {
            (Some(old), Some(new)) => Some(self.b.ins().bor(old, new)),
            _ => None,
        };
        self.set_state(cell, SqlValue { value, valid, native });
        Ok(())
    }

    /// Fails with 22003 if a sum is infinite although its terms are finite, as PostgreSQL does. The terms are looked at
    /// only if the sum is infinite, which almost never happens: a row costs one comparison beside the addition.
    fn fail_if_overflown(&mut self, sum: ir::Value, terms: [ir::Value; 2]) {
        let (infinite, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(infinite);
        let is_infinite = self.is_infinite(sum);
        self.branch(is_infinite, infinite, on);
        self.enter(infinite);
        let [first, second] = terms.map(|term| self.is_infinite(term));
        let either = self.b.ins().bor(first, second);
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, either, 0);
        self.fail_if(none, FailurePoint::range(LogicalType::Double));
        self.jump(on, &[]);
        self.enter(on);
    }

    fn is_infinite(&mut self, double: ir::Value) -> ir::Value {
        let size = self.b.ins().fabs(double);
        let infinity = self.b.ins().f64const(f64::INFINITY);
        self.b.ins().fcmp(FloatCC::Equal, size, infinity)
    }

    fn extreme(&mut self, state: &State, cell: Cell, argument: SqlValue, better: CompareOp) -> Result<()> {
        let native = state.field.native;
        let argument = self.coerce(argument, native);
        let (check, take, skip) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        if let Some(valid) = argument.valid {
            self.go_if(valid, skip);
        }
        let old = self.state(cell, native);
        match old.valid {
            Some(valid) => self.branch(valid, check, take),
            None => self.jump(check, &[]),
        }
        self.enter(check);
        let improves = self.compare_values(better, argument.with_valid(None), old)?;
        self.branch(improves, take, skip);
        self.enter(take);
        let mut new = argument.with_valid(None);
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

    fn bits(&mut self, state: &State, cell: Cell, argument: SqlValue, kind: StateKind) -> Result<()> {
        let native = state.field.native;
        let argument = self.coerce(argument, native);
        let skip = self.b.create_block();
        if let Some(valid) = argument.valid {
            self.go_if(valid, skip);
        }
        let old = self.state(cell, native);
        let (x, y) = (old.value, argument.value);
        let both = match kind {
            StateKind::BitAnd => self.b.ins().band(x, y),
            StateKind::BitOr => self.b.ins().bor(x, y),
            _ => self.b.ins().bxor(x, y),
        };
        let value = match old.valid {
            Some(valid) => self.b.ins().select(valid, both, y),
            None => both,
        };
        self.set_state(cell, SqlValue::certain(value, native));
        self.jump(skip, &[]);
        self.enter(skip);
        Ok(())
    }

    /// Youngs and Cramer's way to add to a sum of products of deviations, step by step as PostgreSQL: it takes away nothing.
    /// The others are the count and the sums, to which the row has been added.
    fn deviations(&mut self, state: &State, cell: Cell, x: SqlValue, others: [Cell; 3]) -> Result<()> {
        let native = NativeType::F64;
        let y = match &state.second {
            Some(e) => Some(self.expression(e)?),
            None => None,
        };
        let skip = self.b.create_block();
        for value in [Some(x), y].into_iter().flatten() {
            if let Some(valid) = value.valid {
                self.go_if(valid, skip);
            }
        }
        let [count, sum_x, sum_y] = others;
        let count = self.state(count, NativeType::I64).value;
        let n = self.b.ins().fcvt_from_sint(types::F64, count);
        let deviation = |t: &mut Self, value: SqlValue, sum: Cell| {
            let sum = t.state(sum, native).value;
            let all = t.b.ins().fmul(value.value, n);
            t.b.ins().fsub(all, sum)
        };
        let dx = deviation(self, x, sum_x);
        let before = self.b.ins().iadd_imm_s(count, -1);
        let before = self.b.ins().fcvt_from_sint(types::F64, before);
        // Of the first value the deviation is zero, and no number if it is infinite.
        let one = self.b.ins().f64const(1.0);
        let product = self.b.ins().fmul(n, before);
        let is_first = self.b.ins().icmp_imm_s(IntCC::Equal, count, 1);
        let divisor = self.b.ins().select(is_first, one, product);
        let more = match y {
            None => {
                let square = self.b.ins().fmul(dx, dx);
                self.b.ins().fdiv(square, divisor)
            }
            Some(y) => {
                let dy = deviation(self, y, sum_y);
                let scale = self.b.ins().fdiv(one, divisor);
                let both = self.b.ins().fmul(dx, dy);
                self.b.ins().fmul(both, scale)
            }
        };
        let old = self.state(cell, native);
        let value = self.b.ins().fadd(old.value, more);
        // Products with an infinite value are NaN: only finite values give infinity.
        let beyond = self.is_infinite(value);
        self.fail_if(beyond, FailurePoint::range(LogicalType::Double));
        self.set_state(cell, SqlValue::certain(value, native));
        self.jump(skip, &[]);
        self.enter(skip);
        Ok(())
    }

    pub(super) fn go_if(&mut self, condition: ir::Value, otherwise: Block) {
        let on = self.b.create_block();
        self.branch(condition, on, otherwise);
        self.enter(on);
    }
}

/// True if groups with equal hashes are equal: the hash of a single integer that is never NULL is a bijection.
fn is_told_by_hash(keys: &[FieldPlace]) -> bool {
    let [key] = keys else {
        return false;
    };
    let is_word = matches!(
        key.native,
        NativeType::Bool | NativeType::I16 | NativeType::I32 | NativeType::I64
    );
    is_word && key.validity.is_none()
}
