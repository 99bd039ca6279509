//! Aggregations without groups that take a vector as a whole: rows are counted by adding their number, and kernels sum
//! columns of the source or find their least and greatest values. Anything else about the rows, a filter or a computed
//! argument, goes through the loop over rows.

use crate::breakers::groups::{GroupLayout, State};
use crate::emitter::Hoisted;
use crate::failures::FailurePoint;
use crate::scope::{Place, SourceCell};
use crate::sql_value::{SqlValue, clif_type};
use crate::stage_work::{Cell, Cells};
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use frazil_runtime::StateKind;
use frazil_runtime::abi::{Partitions, PipelineContext, VectorColumn};
use frazil_runtime::functions::Function;
use frazil_types::{NativeType, Result};
use std::mem::offset_of;

/// What a state does with a vector.
#[derive(Clone, Copy)]
enum Whole {
    /// It counts the rows.
    Rows,
    /// It counts those whose value in a column is not NULL.
    Valid(SourceCell),
    /// It adds up a column.
    Sum(SourceCell),
    /// The least value of a column.
    Least(SourceCell),
    /// The greatest value of a column.
    Greatest(SourceCell),
}

/// Which vectors were taken as a whole.
pub enum Taken {
    /// None: a loop over rows follows.
    Never,
    /// All.
    Always,
    /// Those that lie in the first partition, behind which comes this block; the block in hand is for the others.
    WithinPartition(Block),
}

impl<'p> Translator<'_, 'p> {
    /// What each state does with a vector, if that is all that the stage does; with the aggregation.
    fn whole_states(&self, of_source: bool) -> Option<(&'p GroupLayout, Vec<Whole>)> {
        let layout = self.filled_states()?;
        let is_all = self.work.operators.is_empty() && self.work.next.is_none();
        let states = layout.states.iter().filter(|_| is_all);
        let wholes = states.map(|state| self.whole_state(state, of_source));
        let wholes = wholes.collect::<Option<Vec<Whole>>>()?;
        is_all.then_some((layout, wholes))
    }

    fn whole_state(&self, state: &State, of_source: bool) -> Option<Whole> {
        if state.filter.is_some() || state.list.is_some() {
            return None;
        }
        let cell = match &state.argument {
            None if matches!(state.kind, StateKind::Count) => return Some(Whole::Rows),
            Some(argument) => {
                let column = argument.as_column().filter(|_| of_source)?;
                let Ok(Place::Source(cell)) = self.scope.get(column) else {
                    return None;
                };
                cell
            }
            None => return None,
        };
        let is_short = matches!(cell.storage, NativeType::I16 | NativeType::I32 | NativeType::I64);
        match state.kind {
            StateKind::Count if is_short => Some(Whole::Valid(cell)),
            StateKind::Sum if is_short && state.field.native != NativeType::F64 => Some(Whole::Sum(cell)),
            StateKind::Min if is_short && state.field.native == cell.storage => Some(Whole::Least(cell)),
            StateKind::Max if is_short && state.field.native == cell.storage => Some(Whole::Greatest(cell)),
            _ => None,
        }
    }

    /// Takes the vector as a whole where that is all that is asked of its rows.
    pub fn take_whole_vector(&mut self, of_source: bool) -> Result<Taken> {
        let Some((layout, wholes)) = self.whole_states(of_source) else {
            return Ok(Taken::Never);
        };
        let cells = self.work.states.iter().flat_map(|states| &states.cells);
        let cells: Vec<Cell> = cells.map(|(_, cell)| *cell).collect();
        let states = layout.states.iter().zip(cells).zip(&wholes);
        let in_partitions = of_source && !matches!(self.work.cells, Cells::SideBySide);
        if !in_partitions || wholes.iter().all(|whole| matches!(whole, Whole::Rows)) {
            let start = self.word(0);
            for ((state, cell), whole) in states {
                self.take_whole(state, cell, *whole, start)?;
            }
            return Ok(Taken::Always);
        }
        let (take, rows, end) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let start = self.partitions_word(offset_of!(Partitions, start));
        let k = self.partitions_word(offset_of!(Partitions, rows));
        let rows_here = self.rows;
        let stop = self.b.ins().iadd(start, rows_here);
        let within_first = self.icmp(IntCC::UnsignedLessThanOrEqual, stop, k);
        self.branch(within_first, take, rows);
        self.enter(take);
        for ((state, cell), whole) in states {
            self.take_whole(state, cell, *whole, start)?;
        }
        self.jump(end, &[]);
        self.enter(rows);
        Ok(Taken::WithinPartition(end))
    }

    fn partitions_word(&mut self, offset: usize) -> ir::Value {
        self.hoist(Hoisted::Context(
            (offset_of!(PipelineContext, partitions) + offset) as i32,
        ))
    }

    /// Advances a state by the vector, whose rows begin at `start` of their columns.
    fn take_whole(&mut self, state: &State, cell: Cell, whole: Whole, start: ir::Value) -> Result<()> {
        let old = self.state(cell, state.field.native);
        let state = match whole {
            Whole::Rows => {
                let rows = self.rows;
                let value = self.b.ins().iadd(old.value, rows);
                SqlValue { value, ..old }
            }
            Whole::Valid(column) => {
                let (_, count) = self.sum_of_column(column, start)?;
                let value = self.b.ins().iadd(old.value, count);
                SqlValue { value, ..old }
            }
            Whole::Sum(column) => {
                let (sum, count) = self.sum_of_column(column, start)?;
                self.with_sum(state, old, sum, count)
            }
            Whole::Least(column) => self.with_extreme(old, column, start, IntCC::SignedLessThan)?,
            Whole::Greatest(column) => self.with_extreme(old, column, start, IntCC::SignedGreaterThan)?,
        };
        self.set_state(cell, state);
        Ok(())
    }

    /// The native type and the address of a column of the source, as the kernels take them.
    fn whole_column(&mut self, column: SourceCell) -> (ir::Value, ir::Value) {
        let columns = self.hoist(Hoisted::Context(offset_of!(PipelineContext, source) as i32));
        let distance = (column.index * size_of::<VectorColumn>()) as i64;
        let place = self.b.ins().iadd_imm_s(columns, distance);
        let kind = self.b.ins().iconst(types::I32, i64::from(column.storage as u32));
        (kind, place)
    }

    /// The sum of a column's values, as an `i128`, and their number.
    fn sum_of_column(&mut self, column: SourceCell, start: ir::Value) -> Result<(ir::Value, ir::Value)> {
        let (kind, place) = self.whole_column(column);
        let (rows, sum) = (self.rows, self.stack_place());
        let count = self.call_value(Function::SumColumn, &[kind, place, start, rows, sum])?;
        let sum = self.load(NativeType::I128, sum, 0);
        Ok((sum, count))
    }

    /// A state of a sum with the sum of `count` further values.
    fn with_sum(&mut self, state: &State, old: SqlValue, sum: ir::Value, count: ir::Value) -> SqlValue {
        let native = state.field.native;
        let value = match (native, state.checked) {
            (NativeType::I64, None) => {
                let sum = self.b.ins().ireduce(types::I64, sum);
                self.b.ins().iadd(old.value, sum)
            }
            (NativeType::I64, Some(ty)) => {
                let before = self.b.ins().sextend(types::I128, old.value);
                let after = self.b.ins().iadd(before, sum);
                let value = self.b.ins().ireduce(types::I64, after);
                let again = self.b.ins().sextend(types::I128, value);
                let differs = self.icmp(IntCC::NotEqual, after, again);
                self.fail_if(differs, FailurePoint::range(ty));
                value
            }
            // The values have 64 bits at most: their sum stays far below 2^127.
            _ => self.b.ins().iadd(old.value, sum),
        };
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, count, 0);
        let valid = old.valid.map(|valid| self.b.ins().bor(valid, some));
        SqlValue { value, valid, native }
    }

    /// A state of an extreme with the extreme of a column; `better` says which of two values is taken.
    fn with_extreme(
        &mut self,
        old: SqlValue,
        column: SourceCell,
        start: ir::Value,
        better: IntCC,
    ) -> Result<SqlValue> {
        let (kind, place) = self.whole_column(column);
        let greatest = self.small(u32::from(better == IntCC::SignedGreaterThan));
        let (rows, out) = (self.rows, self.stack_place());
        let arguments = [kind, place, start, rows, greatest, out];
        let count = self.call_value(Function::ExtremeOfColumn, &arguments)?;
        let new = self.load_word(out, 0);
        let new = match clif_type(old.native) {
            types::I64 => new,
            narrow => self.b.ins().ireduce(narrow, new),
        };
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, count, 0);
        let mut takes = self.icmp(better, new, old.value);
        if let Some(valid) = old.valid {
            let is_first = self.not(valid);
            takes = self.b.ins().bor(takes, is_first);
        }
        let takes = self.b.ins().band(takes, some);
        let value = self.b.ins().select(takes, new, old.value);
        let valid = old.valid.map(|valid| self.b.ins().bor(valid, some));
        Ok(SqlValue { value, valid, ..old })
    }
}
