//! The loop over the rows of a vector, and the cells of hot chunks that are read where they lie.
//!
//! Code that knows partitions (Runtime Fragility, section 2, dimension 6) walks them in two
//! nested loops: in the inner one a row is a step of its size in every column, in the outer one the pointers
//! into the columns move on by a partition. With k known when the code is made, these are one pointer
//! for each size of a cell, and everything else is a constant; in row layout the inner loop is gone. With k
//! known only at run time, each column has its pointer. Later stages, which come back to rows in any order, find
//! the partition by a multiplication.

use crate::emitter::Hoisted;
use crate::scope::{SOURCE_ROW, SourceCell};
use crate::sql_value::SqlValue;
use crate::sql_value::VectorWords;
use crate::stage_work::{Cells, InPartition, Pointer};
use crate::translator::Translator;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use frazil_runtime::abi::{Partitions, PipelineContext, RECIPROCAL_BITS, VectorColumn, reciprocal};
use frazil_types::{NativeType, Result};
use std::collections::HashMap;
use std::mem::offset_of;

/// A loop in the making; the current block is its body. Whether there is another row is asked where a row ends: one
/// jump a row, and one test before the first.
pub(crate) struct RowLoop {
    /// The row in hand.
    pub row: ir::Value,
    /// Where the next row begins.
    pub next: Block,
    head: Block,
    /// Where to go after the last row.
    past: Block,
    /// Rows of the loop end before this one.
    stop: ir::Value,
    /// Behind everything.
    end: Block,
    around: Around,
}

/// What is around the loop.
enum Around {
    Nothing,
    /// Each partition has a single row: the head takes its distance too.
    Rows {
        at: ir::Value,
    },
    /// A loop over partitions, with its head.
    Partitions {
        head: Block,
        at: ir::Value,
    },
}

/// A number that the context has, or that is known.
fn partition_word(offset: usize) -> Hoisted {
    Hoisted::Context((offset_of!(PipelineContext, partitions) + offset) as i32)
}

impl Translator<'_, '_> {
    fn rows_per_partition(&mut self) -> ir::Value {
        match &self.work.cells {
            Cells::CompileTime(known) => {
                let k = known.layout.rows_per_partition() as u64;
                self.word(k)
            }
            _ => self.hoist(partition_word(offset_of!(Partitions, rows))),
        }
    }

    fn stride(&mut self) -> ir::Value {
        match &self.work.cells {
            Cells::CompileTime(known) => {
                let stride = known.layout.partition_bytes() as u64;
                self.word(stride)
            }
            _ => self.hoist(partition_word(offset_of!(Partitions, stride))),
        }
    }

    /// The partition of a row of the memory, as bytes from the first one, and the row's number in it.
    fn partition_of(&mut self, row: ir::Value) -> (ir::Value, ir::Value) {
        let known = match &self.work.cells {
            Cells::CompileTime(known) => Some(known.layout.rows_per_partition() as u64),
            _ => None,
        };
        let reciprocal = match known {
            Some(k) => self.word(reciprocal(k)),
            None => self.hoist(partition_word(offset_of!(Partitions, reciprocal))),
        };
        let scaled = self.b.ins().imul(row, reciprocal);
        let partition = self.b.ins().ushr_imm_u(scaled, i64::from(RECIPROCAL_BITS));
        let (k, stride) = (self.rows_per_partition(), self.stride());
        let before = self.b.ins().imul(partition, k);
        let within = self.b.ins().isub(row, before);
        (self.b.ins().imul(partition, stride), within)
    }

    /// Leaves vectors of another layout than the one this code was made for to the stage that takes any.
    pub fn check_layout(&mut self) {
        let Cells::CompileTime(known) = &self.work.cells else {
            return;
        };
        let (fingerprint, otherwise) = (known.layout.fingerprint(), known.otherwise);
        let layout = self.hoist(partition_word(offset_of!(Partitions, layout)));
        let known = self.word(fingerprint);
        let same = self.icmp(IntCC::Equal, layout, known);
        let (go_on, leave) = (self.b.create_block(), self.b.create_block());
        self.branch(same, go_on, leave);
        self.enter(leave);
        let otherwise = self.stage_in(otherwise);
        let arguments = [self.context, self.rows];
        let call = self.b.ins().call(otherwise, &arguments);
        let status = self.b.inst_results(call)[0];
        self.b.ins().return_(&[status]);
        self.enter(go_on);
    }

    /// Begins the loop over all rows: of the source, or of a stage vector.
    pub fn open_row_loop(&mut self, of_source: bool) -> RowLoop {
        let single = match &self.work.cells {
            Cells::CompileTime(known) => known.layout.rows_per_partition() == 1,
            _ => false,
        };
        match self.work.cells {
            _ if !of_source => self.open_flat_loop(),
            Cells::SideBySide => self.open_flat_loop(),
            _ if single => self.open_single_rows(),
            _ => self.open_partitions(),
        }
    }

    fn open_flat_loop(&mut self) -> RowLoop {
        let (head, body) = (self.block(&[types::I64]), self.b.create_block());
        let (next, end) = (self.b.create_block(), self.b.create_block());
        let (begin, rows) = (self.begin_row(), self.rows);
        let any = self.icmp(IntCC::UnsignedLessThan, begin, rows);
        self.branch_with(any, (head, &[begin]), (end, &[]));
        let row = self.enter(head)[0];
        self.jump(body, &[]);
        self.enter(body);
        RowLoop {
            row,
            next,
            head,
            past: end,
            stop: self.rows,
            end,
            around: Around::Nothing,
        }
    }

    /// The row with which the loop begins.
    fn begin_row(&mut self) -> ir::Value {
        match self.work.first_row {
            Some(row) => row,
            None => self.word(0),
        }
    }

    fn first_partition(&mut self) -> (ir::Value, ir::Value) {
        let mut start = self.hoist(partition_word(offset_of!(Partitions, start)));
        if let Some(row) = self.work.first_row {
            start = self.b.ins().iadd(start, row);
        }
        self.partition_of(start)
    }

    /// The loop over rows each of which is a partition.
    fn open_single_rows(&mut self) -> RowLoop {
        let (first, _) = self.first_partition();
        let head = self.block(&[types::I64, types::I64]);
        let body = self.b.create_block();
        let (next, end) = (self.b.create_block(), self.b.create_block());
        let (begin, rows) = (self.begin_row(), self.rows);
        let any = self.icmp(IntCC::UnsignedLessThan, begin, rows);
        self.branch_with(any, (head, &[begin, first]), (end, &[]));
        let parameters = self.enter(head);
        let (row, at) = (parameters[0], parameters[1]);
        self.jump(body, &[]);
        self.enter(body);
        self.work.here = Some(InPartition {
            block: head,
            head,
            at,
            bias: None,
            pointers: HashMap::new(),
        });
        RowLoop {
            row,
            next,
            head,
            past: end,
            stop: self.rows,
            end,
            around: Around::Rows { at },
        }
    }

    /// A loop over partitions, and in it one over the rows of each.
    fn open_partitions(&mut self) -> RowLoop {
        let (first, within) = self.first_partition();
        let outer = self.block(&[types::I64, types::I64, types::I64]);
        let (run, head, body) = (
            self.b.create_block(),
            self.block(&[types::I64]),
            self.b.create_block(),
        );
        let (next, past, end) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let begin = self.begin_row();
        self.jump(outer, &[begin, within, first]);
        let parameters = self.enter(outer);
        let (begin, within, at) = (parameters[0], parameters[1], parameters[2]);
        let rows = self.rows;
        let more = self.icmp(IntCC::UnsignedLessThan, begin, rows);
        self.branch(more, run, end);

        self.enter(run);
        let k = self.rows_per_partition();
        let left = self.b.ins().isub(k, within);
        let rest = self.b.ins().isub(rows, begin);
        let fewer = self.icmp(IntCC::UnsignedLessThan, left, rest);
        let count = self.b.ins().select(fewer, left, rest);
        let stop = self.b.ins().iadd(begin, count);
        let bias = self.b.ins().isub(within, begin);
        self.jump(head, &[begin]);
        self.work.here = Some(InPartition {
            block: run,
            head,
            at,
            bias: Some(bias),
            pointers: HashMap::new(),
        });

        // There is a row: a partition that was begun is not at its end.
        let row = self.enter(head)[0];
        self.jump(body, &[]);
        self.enter(body);
        RowLoop {
            row,
            next,
            head,
            past,
            stop,
            end,
            around: Around::Partitions { head: outer, at },
        }
    }

    /// Ends the loop; the current block is the one behind it.
    pub fn close_row_loop(&mut self, rows: RowLoop) {
        let following = self.b.ins().iadd_imm_s(rows.row, 1);
        let mut again = vec![following];
        if let Around::Rows { at } = rows.around {
            let stride = self.stride();
            again.push(self.b.ins().iadd(at, stride));
        }
        let more = self.icmp(IntCC::UnsignedLessThan, following, rows.stop);
        self.branch_with(more, (rows.head, &again), (rows.past, &[]));
        if let Around::Partitions { head, at } = rows.around {
            self.enter(rows.past);
            let stride = self.stride();
            let at = self.b.ins().iadd(at, stride);
            let zero = self.word(0);
            self.jump(head, &[rows.stop, zero, at]);
        }
        self.work.here = None;
        self.enter(rows.end);
    }

    /// The value of this row in a column of the source vector.
    pub fn source_value(&mut self, cell: SourceCell) -> Result<SqlValue> {
        let row = self.anchor(SOURCE_ROW)?;
        if let Some(place) = self.known_place(cell) {
            return Ok(self.value_at_known_place(row, cell, place));
        }
        let words = self.source_words(cell);
        if matches!(self.work.cells, Cells::SideBySide) || cell.in_table.is_none() {
            return Ok(self.vector_value(row, words, cell.storage, cell.native, cell.nullable));
        }
        if self.work.here.is_some() {
            return Ok(self.value_in_partition(row, cell, words));
        }
        let (at, within) = self.partition_in_hand(row)?;
        let values = self.b.ins().iadd(words.values, at);
        let index = self.masked(within, words.value_mask);
        let address = self.element(values, index, cell.storage.size());
        let value = self.load(cell.native, address, 0);
        let valid = cell.nullable.then(|| {
            let distance = self.b.ins().iadd(at, within);
            let distance = self.masked(distance, words.validity_mask);
            let address = self.b.ins().iadd(words.validity, distance);
            self.load(NativeType::Bool, address, 0)
        });
        Ok(SqlValue {
            value,
            valid,
            native: cell.native,
        })
    }

    fn source_words(&mut self, cell: SourceCell) -> VectorWords {
        // Code for partitions keeps what it makes of them in front of its loops.
        let is_used_here = matches!(self.work.cells, Cells::SideBySide) || cell.in_table.is_none();
        let mut word = |offset: usize| {
            let word = Hoisted::SourceWord(cell.index, offset as i32);
            match is_used_here {
                true => self.hoist_if_few(word),
                false => self.hoist(word),
            }
        };
        let values = word(offset_of!(VectorColumn, values));
        let mut words = VectorWords {
            values,
            value_mask: (!cell.flat).then(|| word(offset_of!(VectorColumn, value_mask))),
            validity: values,
            validity_mask: None,
        };
        if cell.nullable {
            words.validity = word(offset_of!(VectorColumn, validity));
            words.validity_mask = Some(word(offset_of!(VectorColumn, validity_mask)));
        }
        words
    }

    /// How far a column's first cell is from the start of a partition, where that is known.
    fn known_place(&self, cell: SourceCell) -> Option<i32> {
        match &self.work.cells {
            Cells::CompileTime(known) => cell.in_table.map(|c| known.layout.column(c).values as i32),
            _ => None,
        }
    }

    /// The value of the row in hand in partitions of a known layout.
    fn value_at_known_place(&mut self, row: ir::Value, cell: SourceCell, place: i32) -> SqlValue {
        let size = cell.storage.size();
        let base = self.hoist(partition_word(offset_of!(Partitions, cells)));
        let pointer = self.in_partition(Pointer::Cells(size), base, size);
        let address = self.moved_to_row(pointer, row, size);
        SqlValue {
            value: self.load(cell.native, address, place),
            valid: self.valid_in_partition(row, cell),
            native: cell.native,
        }
    }

    /// The value of the row in hand while partitions of any size are walked.
    fn value_in_partition(&mut self, row: ir::Value, cell: SourceCell, words: VectorWords) -> SqlValue {
        let size = cell.storage.size();
        let pointer = self.in_partition(Pointer::Values(cell.index), words.values, size);
        let index = self.masked(row, words.value_mask);
        let address = self.element(pointer, index, size);
        SqlValue {
            value: self.load(cell.native, address, 0),
            valid: self.valid_in_partition(row, cell),
            native: cell.native,
        }
    }

    fn valid_in_partition(&mut self, row: ir::Value, cell: SourceCell) -> Option<ir::Value> {
        cell.nullable.then(|| {
            let words = self.source_words(cell);
            let pointer = self.validity_in_partition(cell.index, words);
            let index = self.masked(row, words.validity_mask);
            let address = match self.has_bias() {
                true => self.b.ins().iadd(pointer, index),
                false => pointer,
            };
            self.load(NativeType::Bool, address, 0)
        })
    }

    /// A pointer to cells of a size at the row: one for all columns of that size, computed where the row begins.
    fn moved_to_row(&mut self, pointer: ir::Value, row: ir::Value, size: usize) -> ir::Value {
        let here = self.work.here.as_ref().filter(|here| here.bias.is_some());
        let Some(here) = here else {
            return pointer;
        };
        if let Some(&address) = here.pointers.get(&Pointer::Row(size)) {
            return address;
        }
        let head = here.head;
        let mut cursor = FuncCursor::new(self.b.func).at_last_inst(head);
        // Sizes of cells are powers of two.
        let distance = cursor.ins().ishl_imm_u(row, i64::from(size.trailing_zeros()));
        let address = cursor.ins().iadd(pointer, distance);
        self.remember(Pointer::Row(size), address);
        address
    }

    fn remember(&mut self, what: Pointer, value: ir::Value) {
        if let Some(here) = &mut self.work.here {
            here.pointers.insert(what, value);
        }
    }

    fn has_bias(&self) -> bool {
        self.work.here.as_ref().is_some_and(|h| h.bias.is_some())
    }

    /// `base` moved to the partition, so that rows of the vector index it.
    fn in_partition(&mut self, what: Pointer, base: ir::Value, size: usize) -> ir::Value {
        self.once_a_partition(what, |ins, at, bias| {
            let pointer = ins.ins().iadd(base, at);
            match bias {
                Some(bias) => {
                    let distance = ins.ins().ishl_imm_u(bias, i64::from(size.trailing_zeros()));
                    ins.ins().iadd(pointer, distance)
                }
                None => pointer,
            }
        })
    }

    /// A validity byte that stands for all rows stays where it is.
    fn validity_in_partition(&mut self, index: usize, words: VectorWords) -> ir::Value {
        self.once_a_partition(Pointer::Validity(index), |ins, at, bias| {
            let mut distance = at;
            if let Some(bias) = bias {
                distance = ins.ins().iadd(distance, bias);
            }
            if let Some(mask) = words.validity_mask {
                distance = ins.ins().band(distance, mask);
            }
            ins.ins().iadd(words.validity, distance)
        })
    }

    /// A value computed at its first use, in front of the loop over the rows of a partition.
    fn once_a_partition(
        &mut self,
        what: Pointer,
        make: impl FnOnce(&mut FuncCursor, ir::Value, Option<ir::Value>) -> ir::Value,
    ) -> ir::Value {
        let here = self.work.here.as_ref();
        let here = here.expect("a loop over partitions is open");
        if let Some(&value) = here.pointers.get(&what) {
            return value;
        }
        let (block, at, bias) = (here.block, here.at, here.bias);
        let mut cursor = FuncCursor::new(self.b.func).at_last_inst(block);
        let value = make(&mut cursor, at, bias);
        self.remember(what, value);
        value
    }

    /// Partition and place of the row in hand, by its number in the vector.
    fn partition_in_hand(&mut self, row: ir::Value) -> Result<(ir::Value, ir::Value)> {
        if let Some(found) = self.scope.partition() {
            return Ok(found);
        }
        let start = self.hoist(partition_word(offset_of!(Partitions, start)));
        let row = self.b.ins().iadd(row, start);
        let found = self.partition_of(row);
        self.scope.set_partition(found);
        Ok(found)
    }
}
