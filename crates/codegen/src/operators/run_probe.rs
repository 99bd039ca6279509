//! Probes of build rows in an order (`plan/band.rs`): a binary search finds the first row of a run, and its
//! chain is walked to the end of the run.
//!
//! ```text
//! search(base, count) ── count = 0 ──▶ entry `base` heads the run, if there is one
//!    ▲        │
//!    │        ▼  half = count / 2, middle = base + half
//!    ├── row before the run: search(middle + 1, count - half - 1)
//!    └── else:               search(base, half)
//! ```
//!
//! An end that cannot be computed (it overflows) does not end the run: the run has all rows of the leading keys, and
//! the condition of the end is asked of each pair, behind the join's other conditions. So the error is raised if there
//! is such a pair, and only then.
//!
//! A run has equal leading keys, and the last key between two ends. If rows are sorted by the last key from the
//! greatest value down, the run begins at its high end.

use super::hash_join_build::JoinKeys;
use crate::breakers::join::JoinLayout;
use crate::sql_value::{SqlValue, clif_type};
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use frazil_plan::band::{End, Ends};
use frazil_plan::breakers::BreakerId;
use frazil_runtime::breakers::order::Entry;
use frazil_runtime::functions::Function;
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
    /// The leading keys of all rows of the run.
    equal: Vec<SqlValue>,
    /// The end at which the run begins.
    begin: Option<RunEnd>,
    /// The end beyond which it is over.
    end: Option<RunEnd>,
    /// True if the last key descends.
    descending: bool,
    /// True if no key and no end is NULL.
    valid: Option<ir::Value>,
    /// True if an end could not be computed; `None` if none can fail.
    failed: Option<ir::Value>,
    /// True if the computation of the low end can fail.
    low_may_fail: bool,
}

impl Translator<'_, '_> {
    /// Computes the ends of a run whose rows have the leading keys `keys`.
    pub fn run_ends(&mut self, layout: &JoinLayout, keys: &JoinKeys, ends: &Ends) -> Result<RunEnds> {
        let mut valid = keys.valid;
        let last = keys.values.len();
        let mut end = |t: &mut Self, end: &End| -> Result<RunEnd> {
            let value = t.expression(&end.value)?;
            valid = t.both(valid, value.valid);
            let value = t.coerce(value, layout.key_natives[last]);
            Ok(RunEnd {
                value: value.with_valid(None),
                included: end.included,
            })
        };
        let failing = self.b.create_block();
        let mark = self.scope.mark();
        self.catch(failing);
        let low = ends.low.as_ref().map(|low| end(self, low)).transpose();
        let low_may_fail = self.catch_no_more();
        self.catch(failing);
        let high = ends.high.as_ref().map(|high| end(self, high)).transpose();
        let high_may_fail = self.catch_no_more();
        let (mut low, mut high) = (low?, high?);
        let failed = match low_may_fail || high_may_fail {
            true => {
                let ends: Vec<&mut RunEnd> = low.iter_mut().chain(&mut high).collect();
                // Behind the place where both ways meet nothing is known that was loaded on one of them.
                self.scope.back_to(mark);
                Some(self.or_failed(failing, ends, &mut valid, keys.valid)?)
            }
            false => None,
        };
        let descending = layout.spec.order[last].descending;
        let (begin, end) = match descending {
            false => (low, high),
            true => (high, low),
        };
        Ok(RunEnds {
            equal: keys.values.clone(),
            begin,
            end,
            descending,
            valid,
            failed,
            low_may_fail,
        })
    }

    /// Joins the way on which ends were computed with `failing`, on which one could not be: ends are zeros there.
    /// Returns which way it was.
    fn or_failed(
        &mut self,
        failing: Block,
        ends: Vec<&mut RunEnd>,
        valid: &mut Option<ir::Value>,
        keys_are_valid: Option<ir::Value>,
    ) -> Result<ir::Value> {
        let mut types = vec![types::I8, types::I8];
        types.extend(ends.iter().map(|end| clif_type(end.value.native)));
        let merge = self.block(&types);
        let one = self.byte(true);
        let zero = self.byte(false);
        let mut values = vec![zero, valid.unwrap_or(one)];
        values.extend(ends.iter().map(|end| end.value.value));
        self.jump(merge, &values);
        self.enter(failing);
        self.b.set_cold_block(failing);
        let context = self.context;
        self.call(Function::ForgetError, &[context])?;
        let one = self.byte(true);
        let mut values = vec![one, keys_are_valid.unwrap_or(one)];
        for end in &ends {
            let nothing = self.null(end.value.native);
            values.push(nothing.value);
        }
        self.jump(merge, &values);
        let values = self.enter(merge);
        if valid.is_some() {
            *valid = Some(values[1]);
        }
        for (end, value) in ends.into_iter().zip(&values[2..]) {
            end.value.value = *value;
        }
        Ok(values[0])
    }

    /// Asks the conditions of a run's ends of a row, if an end could not be computed: what failed fails again. Goes on
    /// where they are true, else to `mismatch`.
    pub fn match_failed_ends(
        &mut self,
        run: &RunEnds,
        ends: &Ends,
        row: ir::Value,
        layout: &JoinLayout,
        mismatch: Block,
    ) -> Result<()> {
        let Some(failed) = run.failed else {
            return Ok(());
        };
        let (ask, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(ask);
        self.branch(failed, ask, on);
        self.enter(ask);
        let mark = self.scope.mark();
        let last = run.equal.len();
        let field = layout.spec.layout.fields[last];
        let low = ends.low.iter().map(|end| (end, [CompareOp::Gt, CompareOp::Ge]));
        let high = ends.high.iter().map(|end| (end, [CompareOp::Lt, CompareOp::Le]));
        let mut both: Vec<(&End, [CompareOp; 2])> = low.chain(high).collect();
        if run.low_may_fail {
            // The end that cannot fail, or the cheaper one, drops pairs before the other is computed.
            both.reverse();
        }
        for (end, ops) in both {
            let value = self.expression(&end.value)?;
            if let Some(valid) = value.valid {
                self.go_on_if(valid, mismatch);
            }
            let value = self.coerce(value, layout.key_natives[last]).with_valid(None);
            let key = SqlValue::certain(self.load(field.native, row, field.offset), field.native);
            let holds = self.compare_values(ops[usize::from(end.included)], key, value)?;
            self.go_on_if(holds, mismatch);
        }
        self.jump(on, &[]);
        self.scope.back_to(mark);
        self.enter(on);
        Ok(())
    }

    /// Finds the first row of a run, and jumps to `candidate` with it and `more`; with 0 if there is none. Ends
    /// the block.
    pub fn run_head(
        &mut self,
        join: BreakerId,
        run: &RunEnds,
        layout: &JoinLayout,
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
        if run.equal.is_empty() && run.begin.is_none() {
            let first = self.header(join, offset_of!(JoinHeader, first));
            self.jump(candidate, &with(first));
            return Ok(());
        }
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
        let below = self.is_before(run, entry, layout)?;
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

    /// True if an entry is before the run. Entries of a single key hold integers of up to 64 bits; other keys are read
    /// in the row.
    fn is_before(&mut self, run: &RunEnds, entry: ir::Value, layout: &JoinLayout) -> Result<ir::Value> {
        let last = run.equal.len();
        let place = layout.spec.layout.fields[last];
        let is_short = matches!(place.native, NativeType::I16 | NativeType::I32 | NativeType::I64);
        let mut before = match run.begin {
            None => self.byte(false),
            Some(begin) => {
                let value = match last == 0 && is_short {
                    true => {
                        let word = self.load_word(entry, offset_of!(Entry, key) as i32);
                        SqlValue::certain(word, NativeType::I64)
                    }
                    false => self.key_of_entry(entry, place),
                };
                let op = match (run.descending, begin.included) {
                    (false, true) => CompareOp::Lt,
                    (false, false) => CompareOp::Le,
                    (true, true) => CompareOp::Gt,
                    (true, false) => CompareOp::Ge,
                };
                let before = self.compare_values(op, value, begin.value)?;
                match run.failed {
                    Some(failed) => {
                        let known = self.not(failed);
                        self.b.ins().band(before, known)
                    }
                    None => before,
                }
            }
        };
        // Keys decide from the last one to the first.
        for (i, wanted) in run.equal.iter().enumerate().rev() {
            let value = self.key_of_entry(entry, layout.spec.layout.fields[i]);
            let less = self.compare_values(CompareOp::Lt, value, *wanted)?;
            let same = self.compare_values(CompareOp::Eq, value, *wanted)?;
            let later = self.b.ins().band(same, before);
            before = self.b.ins().bor(less, later);
        }
        Ok(before)
    }

    fn key_of_entry(&mut self, entry: ir::Value, place: FieldPlace) -> SqlValue {
        let row = self.load_word(entry, offset_of!(Entry, row) as i32);
        SqlValue::certain(self.load(place.native, row, place.offset), place.native)
    }

    /// Goes on if a row is not beyond the run; else jumps to `none`.
    pub fn within_run(
        &mut self,
        run: &RunEnds,
        row: ir::Value,
        layout: &JoinLayout,
        none: Block,
    ) -> Result<()> {
        let fields = &layout.spec.layout.fields;
        for (wanted, field) in run.equal.iter().zip(fields) {
            // Linked rows have no NULL keys.
            let value = SqlValue::certain(self.load(field.native, row, field.offset), field.native);
            let same = self.compare_values(CompareOp::Eq, value, *wanted)?;
            self.go_on_if(same, none);
        }
        let Some(end) = run.end else {
            return Ok(());
        };
        let field = fields[run.equal.len()];
        let value = SqlValue::certain(self.load(field.native, row, field.offset), field.native);
        let op = match (run.descending, end.included) {
            (false, true) => CompareOp::Le,
            (false, false) => CompareOp::Lt,
            (true, true) => CompareOp::Ge,
            (true, false) => CompareOp::Gt,
        };
        let mut within = self.compare_values(op, value, end.value)?;
        if let Some(failed) = run.failed {
            within = self.b.ins().bor(within, failed);
        }
        self.go_on_if(within, none);
        Ok(())
    }
}
