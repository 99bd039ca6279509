//! Probes of build rows in an order (`plan/band.rs`): a binary search finds the first row of a run, and its
//! chain is walked to the end of the run.
//!
//! ```text
//! search(base, count) ── count = 0 ──▶ entry `base` heads the run, if there is one
//!    ▲        │
//!    │        ▼  half = count / 2, middle = base + half
//!    ├── key below low: search(middle + 1, count - half - 1)
//!    └── else:          search(base, half)
//! ```

use crate::breakers::join::JoinLayout;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use frazil_plan::band::{End, Ends};
use frazil_plan::breakers::BreakerId;
use frazil_runtime::breakers::order::Entry;
use frazil_runtime::{FieldPlace, JoinHeader};
use frazil_types::{CompareOp, NativeType, Result};
use std::mem::offset_of;

/// An end of a run, in the form in which keys are kept, and whether keys equal to it belong to the run.
#[derive(Clone, Copy)]
struct RunEnd {
    value: SqlValue,
    included: bool,
}

/// The ends of the run of a probe row.
pub(crate) struct RunEnds {
    low: Option<RunEnd>,
    high: Option<RunEnd>,
    /// True if no end is NULL.
    valid: Option<ir::Value>,
}

impl Translator<'_, '_> {
    /// Computes the ends of a run.
    pub fn run_ends(&mut self, layout: &JoinLayout, ends: &Ends) -> Result<RunEnds> {
        let mut valid = None;
        let mut end = |t: &mut Self, end: &End| -> Result<RunEnd> {
            let value = t.expression(&end.value)?;
            valid = t.both(valid, value.valid);
            let value = t.coerce(value, layout.key_natives[0]);
            Ok(RunEnd {
                value: value.with_valid(None),
                included: end.included,
            })
        };
        let low = ends.low.as_ref().map(|low| end(self, low)).transpose()?;
        let high = ends.high.as_ref().map(|high| end(self, high)).transpose()?;
        Ok(RunEnds { low, high, valid })
    }

    /// Finds the first row of a run, and jumps to `candidate` with it and `more`; with 0 if there is none. Ends
    /// the block.
    pub fn run_head(
        &mut self,
        join: BreakerId,
        run: &RunEnds,
        key: &FieldPlace,
        candidate: Block,
        more: &[ir::Value],
    ) -> Result<()> {
        let with =
            |row: ir::Value| -> Vec<ir::Value> { [row].into_iter().chain(more.iter().copied()).collect() };
        let zero = self.word(0);
        let nothing: Vec<ir::BlockArg> = with(zero).into_iter().map(Into::into).collect();
        if let Some(valid) = run.valid {
            let known = self.b.create_block();
            self.b.ins().brif(valid, known, &[], candidate, &nothing);
            self.enter(known);
        }
        let Some(low) = run.low else {
            let first = self.header(join, offset_of!(JoinHeader, first));
            self.jump(candidate, &with(first));
            return Ok(());
        };
        let entries = self.header(join, offset_of!(JoinHeader, directory));
        let rows = self.header(join, offset_of!(JoinHeader, slots));
        let search = self.block(&[types::I64, types::I64]);
        let (step, found, inside) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        self.jump(search, &[zero, rows]);
        let values = self.enter(search);
        let (base, count) = (values[0], values[1]);
        self.branch(count, step, found);
        self.enter(step);
        let half = self.b.ins().ushr_imm_u(count, 1);
        let middle = self.b.ins().iadd(base, half);
        let entry = self.element(entries, middle, size_of::<Entry>());
        let below = self.is_below(low, entry, key)?;
        let above_middle = self.b.ins().iadd_imm_s(middle, 1);
        let rest = self.b.ins().isub(count, half);
        let rest = self.b.ins().iadd_imm_s(rest, -1);
        let base_now = self.b.ins().select(below, above_middle, base);
        let count_now = self.b.ins().select(below, rest, half);
        self.jump(search, &[base_now, count_now]);

        self.enter(found);
        let exists = self.icmp(IntCC::UnsignedLessThan, base, rows);
        self.b.ins().brif(exists, inside, &[], candidate, &nothing);
        self.enter(inside);
        let entry = self.element(entries, base, size_of::<Entry>());
        let row = self.load_word(entry, offset_of!(Entry, row) as i32);
        self.jump(candidate, &with(row));
        Ok(())
    }

    /// True if the key of an entry lies before the run. Entries hold integers of up to 64 bits; other keys are
    /// read in the row.
    fn is_below(&mut self, low: RunEnd, entry: ir::Value, key: &FieldPlace) -> Result<ir::Value> {
        let value = match key.native {
            NativeType::I16 | NativeType::I32 | NativeType::I64 => {
                let word = self.load_word(entry, offset_of!(Entry, key) as i32);
                SqlValue::certain(word, NativeType::I64)
            }
            NativeType::Bool | NativeType::I128 | NativeType::F64 | NativeType::String => {
                let row = self.load_word(entry, offset_of!(Entry, row) as i32);
                SqlValue::certain(self.load(key.native, row, key.offset), key.native)
            }
        };
        let op = if low.included {
            CompareOp::Lt
        } else {
            CompareOp::Le
        };
        self.compare_values(op, value, low.value)
    }

    /// True if a row is not beyond the high end of a run; `None` if the run has no such end.
    pub fn within_run(
        &mut self,
        run: &RunEnds,
        row: ir::Value,
        key: &FieldPlace,
    ) -> Result<Option<ir::Value>> {
        let Some(high) = run.high else {
            return Ok(None);
        };
        // Linked rows have no NULL keys.
        let value = SqlValue::certain(self.load(key.native, row, key.offset), key.native);
        let op = if high.included {
            CompareOp::Le
        } else {
            CompareOp::Lt
        };
        self.compare_values(op, value, high.value).map(Some)
    }
}
