//! Stage boundaries: rows are gathered in a stage vector and handed on 1,024 at a time.

use crate::objects::ObjectSpec;
use crate::pipeline_function::{anchors_of, live_at};
use crate::scope::{Place, SOURCE_ROW};
use crate::sql_value::SqlValue;
use crate::stage_vector::{SlotContent, StageVector};
use crate::stage_work::ProbeHeads;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use cranelift_frontend::Variable;
use frazil_plan::ColumnId;
use frazil_plan::pipeline::PipelineOperator;
use frazil_runtime::functions::Function;
use frazil_types::{Error, NativeType, Result};
use std::collections::{HashMap, HashSet};

/// A row of the output vector that is being filled.
pub(crate) struct OutputRow {
    number: ir::Value,
    /// The address of the row's value, without the offset of a slot, by the bytes of a value.
    starts: HashMap<usize, ir::Value>,
}

impl Translator<'_, '_> {
    /// Puts the row into the stage vector in front of operator `at`.
    pub fn boundary(&mut self, at: usize, done: Block) -> Result<()> {
        let live = live_at(self.unit.plan, self.work.pipeline, at);
        let arguments: HashSet<ColumnId> = match self.work.pipeline.operators.get(at) {
            Some(PipelineOperator::Call(call)) => call.arguments.iter().chain(&call.guard).copied().collect(),
            _ => HashSet::new(),
        };
        let mut contents = Vec::new();
        let groups = self
            .filled_groups()
            .filter(|_| at == self.work.pipeline.operators.len());
        // A row whose group is known goes no further.
        let cell = match (groups, self.work.group_cells) {
            (Some(layout), Some(cells)) => Some(self.settle_by_cell(layout, cells, done)?),
            _ => None,
        };
        for anchor in anchors_of(&self.scope, &live)? {
            if anchor == SOURCE_ROW && self.work.refills {
                continue;
            }
            let mut value = self.anchor(anchor)?;
            let mut native = NativeType::I64;
            if anchor == SOURCE_ROW {
                value = self.b.ins().ireduce(types::I32, value);
                native = NativeType::I32;
            }
            contents.push((SlotContent::Anchor(anchor), SqlValue::certain(value, native)));
        }
        for &column in &live {
            let computed = match self.scope.get(column)? {
                Place::Slot(_) | Place::Value(_) | Place::Vector { .. } | Place::Average { .. } => true,
                // The source vector does not outlive a vector that is refilled.
                Place::Source(_) => self.work.refills,
                Place::BuildRow { .. } => false,
            };
            if computed || arguments.contains(&column) {
                contents.push((SlotContent::Column(column), self.column(column)?));
            }
        }
        if let Some(PipelineOperator::Probe { join, keys, .. }) = self.work.pipeline.operators.get(at)
            && !keys.is_empty()
            && !self.unit.plan.join(*join).in_order
        {
            let layout = self.unit.layouts.join(*join)?;
            let keys = self.join_keys(layout, keys)?;
            let key = match layout.spec.has_integer_key() {
                true => self.coerce(keys.values[0], NativeType::I64).value,
                false => self.hash_keys(&keys)?,
            };
            contents.push((SlotContent::ProbeKey, SqlValue::certain(key, NativeType::I64)));
        }
        if let Some(layout) = groups {
            contents.extend(self.group_contents(layout, cell)?);
        }
        let mut row = self.begin_output_row()?;
        for (content, value) in contents {
            self.put(content, &mut row, value);
        }
        self.end_output_row(row, done)
    }

    /// The next row of the output vector.
    pub fn begin_output_row(&mut self) -> Result<OutputRow> {
        let count = self.count_variable()?;
        Ok(OutputRow {
            number: self.b.use_var(count),
            starts: HashMap::new(),
        })
    }

    /// Puts a value into a row of the output vector.
    pub fn put(&mut self, content: SlotContent, row: &mut OutputRow, value: SqlValue) {
        let slot = (self.memory).slot(
            content,
            value.native,
            value.valid.is_some(),
            self.work.output_rows,
        );
        self.work.output.slots.push(slot);
        let start = self.start_of(row, slot.native.size());
        self.store(value.value, start, slot.values as i32);
        if let Some(at) = slot.validity {
            let valid = match value.valid {
                Some(valid) => valid,
                None => self.byte(true),
            };
            let start = self.start_of(row, 1);
            self.store(valid, start, at as i32);
        }
    }

    fn start_of(&mut self, row: &mut OutputRow, size: usize) -> ir::Value {
        if let Some(&start) = row.starts.get(&size) {
            return start;
        }
        let memory = self.stage_memory();
        let start = self.element(memory, row.number, size);
        row.starts.insert(size, start);
        start
    }

    /// Counts a row of the output vector, and hands the vector on when it is full.
    pub fn end_output_row(&mut self, row: OutputRow, done: Block) -> Result<()> {
        let count = self.count_variable()?;
        let following = self.b.ins().iadd_imm_s(row.number, 1);
        self.b.def_var(count, following);
        let most = self.work.output_rows;
        let full = self.b.ins().icmp_imm_s(IntCC::Equal, following, most as i64);
        let flush = self.b.create_block();
        self.branch(full, flush, done);
        self.enter(flush);
        let rows = self.word(most as u64);
        self.hand_on(rows)?;
        let zero = self.word(0);
        self.b.def_var(count, zero);
        self.jump(done, &[]);
        Ok(())
    }

    fn count_variable(&self) -> Result<Variable> {
        let count = self.work.count;
        count.ok_or_else(|| Error::internal("a stage without an output vector"))
    }

    /// Hands the output vector's rows to the next stage or the sink.
    pub fn hand_on(&mut self, rows: ir::Value) -> Result<()> {
        let status = match self.work.next {
            Some(next) => {
                self.count_handed(rows);
                let next = self.stage_in(next);
                let context = self.context;
                let call = self.b.ins().call(next, &[context, rows]);
                self.b.inst_results(call)[0]
            }
            None => {
                let columns = self.object(ObjectSpec::OutputColumns);
                let writer = self.object(ObjectSpec::Part);
                let context = self.context;
                self.call_value(Function::BufferAppend, &[context, writer, columns, rows])?
            }
        };
        self.pass_status_or_pause(status, self.work.next.map(|_| rows))
    }

    /// Hands on what is left.
    pub fn flush_rest(&mut self, count: Variable) -> Result<()> {
        let rows = self.b.use_var(count);
        let (some, none) = (self.b.create_block(), self.b.create_block());
        self.branch(rows, some, none);
        self.enter(some);
        self.hand_on(rows)?;
        self.jump(none, &[]);
        self.enter(none);
        Ok(())
    }

    /// Looks up the heads of all rows of a vector, with prefetching, where the first operator probes
    /// (Relaxed Operator Fusion, section 4.3).
    pub fn find_heads(&mut self, vector: &StageVector) -> Result<()> {
        let Some(keys) = vector.find(SlotContent::ProbeKey) else {
            return Ok(());
        };
        let operator = &self.work.pipeline.operators[self.work.operators.start];
        let PipelineOperator::Probe { join, .. } = operator else {
            return Ok(());
        };
        let most = self.unit.vector_rows;
        let heads = (self.memory).slot(SlotContent::ProbeKey, NativeType::I64, false, most);
        let table = self.object(ObjectSpec::Finished(*join));
        let memory = self.stage_memory();
        let from = self.b.ins().iadd_imm_s(memory, keys.values as i64);
        let out = self.b.ins().iadd_imm_s(memory, heads.values as i64);
        let (rows, together) = (self.rows, self.unit.prefetch_rows);
        let together = self.word(together as u64);
        self.call(Function::JoinHeads, &[table, from, rows, out, together])?;
        self.work.heads = Some(ProbeHeads { keys, heads });
        Ok(())
    }
}
