//! The probe side of a join. The chain of a probe row is walked by an inner loop; for joins that give out
//! a row per match the rest of the stage is that loop's body.
//!
//! ```text
//!            lookup ──▶ candidate(row) ── row = 0 ──▶ no match
//!                         │    ▲
//!               not equal │    │ row.next
//!                         ▼    │
//!                       next(row) ◀── after a match
//! ```
//!
//! If the table is in order, `run_probe.rs` looks up the first row of a run, and a row beyond the run's end
//! leads to "no match".
//!
//! Outer joins carry along whether there was a match, and run the rest of the stage once more with a row
//! of zeros where there was none: it is translated once, behind a block that takes the build row.

use super::hash_join_build::JoinKeys;
use super::run_probe::RunEnds;
use crate::breakers::join::JoinLayout;
use crate::may_pause::gives_matches;
use crate::objects::ObjectSpec;
use crate::open_loops::{Carried, OpenLoop};
use crate::pipeline_function::{build_anchor, place_build_row};
use crate::scratch_marks::ScratchMark;
use crate::sql_value::SqlValue;
use crate::stage_work::ProbeHeads;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use frazil_plan::band::Ends;
use frazil_plan::breakers::BreakerId;
use frazil_plan::pipeline::PipelineOperator;
use frazil_plan::{ColumnId, Expr, FirstMatches, JoinKind};
use frazil_runtime::breakers::join::JoinFlags;
use frazil_runtime::breakers::join::join_hash_table::{KIND_ARRAY, KIND_FULL_ARRAY, KIND_HASH, POINTER_MASK};
use frazil_runtime::row_layout::{HASH_OFFSET, NEXT_OFFSET};
use frazil_runtime::{JoinHeader, JoinTable};
use frazil_types::{CompareOp, Error, NativeType, Result};
use std::mem::offset_of;

/// A probe being translated.
struct Probe<'p> {
    at: usize,
    join: BreakerId,
    layout: &'p JoinLayout,
    kind: JoinKind,
    residual: Option<&'p Expr>,
    null_aware: bool,
    keys: JoinKeys,
    /// Ends of the run of build rows that are candidates, if the table is in order.
    run: Option<RunEnds>,
    ends: Option<&'p Ends>,
    /// The hash of the keys, where it was computed in a block that all others follow.
    hash: Option<ir::Value>,
    done: Block,
}

impl Probe<'_> {
    /// The join, if its rows may be in an array.
    fn may_be_array(&self) -> Option<BreakerId> {
        self.layout.spec.may_be_array().then_some(self.join)
    }
}

impl Translator<'_, '_> {
    /// Looks up a join's table.
    pub fn probe(&mut self, at: usize, done: Block) -> Result<()> {
        let PipelineOperator::Probe {
            join,
            kind,
            keys,
            ends,
            residual,
            null_aware,
        } = &self.work.pipeline.operators[at]
        else {
            return Err(Error::internal("a probe that is none"));
        };
        if *null_aware && (keys.len() != 1 || residual.is_some()) {
            return Err(Error::unsupported(
                "NOT IN with several columns or a correlated condition",
            ));
        }
        if keys.is_empty() {
            self.poll_cancel();
        }
        let layout = self.unit.layouts.join(*join)?;
        let table = self.unit.plan.join(*join);
        let keys = self.join_keys(layout, keys)?;
        let run = ends
            .as_ref()
            .map(|ends| self.run_ends(layout, &keys, ends))
            .transpose()?;
        let mut probe = Probe {
            at,
            join: *join,
            layout,
            kind: *kind,
            residual: residual.as_ref(),
            null_aware: *null_aware,
            keys,
            run,
            ends: ends.as_deref(),
            hash: None,
            done,
        };
        place_build_row(layout, &mut self.scope, at, *kind);
        if *null_aware && *kind == JoinKind::BuildAnti {
            self.note_probe_side(&probe);
        }
        let single = layout.spec.has_integer_key();
        if !probe.keys.values.is_empty() && !single && probe.run.is_none() {
            probe.hash = Some(match self.found_before(at) {
                Some(found) => self.slot_value(found.keys)?.value,
                None => self.hash_keys(&probe.keys)?,
            });
        }
        match (kind, &table.first) {
            (JoinKind::ProbeOuter | JoinKind::FullOuter, _) => self.outer_probe(&probe),
            (_, Some(first)) => self.first_probe(&probe, first),
            (_, None) => self.plain_probe(&probe),
        }
    }

    /// Keys and heads of the probe of an operator, if they were found before the loop over the vector.
    fn found_before(&self, at: usize) -> Option<ProbeHeads> {
        self.work.heads.filter(|_| at == self.work.operators.start)
    }

    /// Inner, semi, anti and mark joins, and those that only mark build rows.
    fn plain_probe(&mut self, probe: &Probe<'_>) -> Result<()> {
        let candidate = self.block(&[types::I64]);
        let (none, next) = (self.b.create_block(), self.b.create_block());
        let scratch = self.scratch_mark(probe.at);
        let place = match gives_matches(probe.kind) {
            true => self.resume_chain(candidate, None),
            false => None,
        };
        self.head(probe, candidate, &[])?;
        let row = self.enter(candidate)[0];
        let array = probe.may_be_array();
        let open = place.map(|place| OpenLoop::Chain {
            place,
            row,
            carried: Carried::Nothing,
            array,
        });
        let some = self.b.create_block();
        self.branch(row, some, none);
        self.enter(some);
        let mark = self.scope.mark();
        self.scope.set_anchor(build_anchor(probe.at), row);
        self.match_or(probe, row, next, none)?;
        let rest = probe.at + 1;
        match probe.kind {
            JoinKind::Inner => self.within(open.clone(), |t| t.operators(rest, next))?,
            JoinKind::BuildOuter => {
                self.set_mark(probe, row)?;
                self.within(open.clone(), |t| t.operators(rest, next))?;
            }
            JoinKind::BuildSemi | JoinKind::BuildAnti => {
                self.set_mark(probe, row)?;
                self.jump(next, &[]);
            }
            JoinKind::ProbeSemi => self.operators(rest, probe.done)?,
            JoinKind::ProbeAnti => self.jump(probe.done, &[]),
            JoinKind::ProbeMark(column) => {
                return self.mark_probe(probe, column, mark, (row, candidate), (next, none), scratch);
            }
            JoinKind::ProbeOuter | JoinKind::FullOuter => {
                return Err(Error::internal("an outer probe in the wrong place"));
            }
        }
        self.enter(next);
        self.next_match(probe, row, candidate, none, (scratch, open))?;
        self.enter(none);
        if probe.kind == JoinKind::ProbeAnti {
            self.scope.back_to(mark);
            return self.anti_rest(probe);
        }
        self.jump(probe.done, &[]);
        Ok(())
    }

    /// A probe row without a match goes on, unless NOT IN is unknown.
    fn anti_rest(&mut self, probe: &Probe<'_>) -> Result<()> {
        if probe.null_aware {
            let (known, on) = (self.b.create_block(), self.b.create_block());
            let unknown = self.unknown(probe);
            self.b.ins().brif(unknown, probe.done, &[], known, &[]);
            self.enter(known);
            self.jump(on, &[]);
            self.enter(on);
        }
        self.operators(probe.at + 1, probe.done)
    }

    /// Whether IN is unknown for a probe row without a match: the build side is not empty, and the key
    /// is NULL here or in some build row.
    fn unknown(&mut self, probe: &Probe<'_>) -> ir::Value {
        let rows = self.header(probe.join, offset_of!(JoinHeader, rows));
        let nulls = self.header(probe.join, offset_of!(JoinHeader, null_keys));
        // Dropped NULL keys are not among the rows.
        let any = self.b.ins().bor(rows, nulls);
        let any = self.b.ins().icmp_imm_s(IntCC::NotEqual, any, 0);
        let mut null = self.b.ins().icmp_imm_s(IntCC::NotEqual, nulls, 0);
        if let Some(valid) = probe.keys.valid {
            let here = self.not(valid);
            null = self.b.ins().bor(null, here);
        }
        self.b.ins().band(any, null)
    }

    fn mark_probe(
        &mut self,
        probe: &Probe<'_>,
        column: ColumnId,
        mark: crate::scope::Mark,
        (row, candidate): (ir::Value, Block),
        (next, none): (Block, Block),
        scratch: ScratchMark,
    ) -> Result<()> {
        let merge = self.block(&[types::I8, types::I8]);
        let one = self.byte(true);
        self.jump(merge, &[one, one]);
        self.enter(next);
        self.next_match(probe, row, candidate, none, (scratch, None))?;
        self.enter(none);
        self.scope.back_to(mark);
        let zero = self.byte(false);
        let valid = if probe.null_aware {
            let unknown = self.unknown(probe);
            self.not(unknown)
        } else {
            self.byte(true)
        };
        self.jump(merge, &[zero, valid]);
        let values = self.enter(merge);
        let valid = probe.null_aware.then_some(values[1]);
        self.define(column, SqlValue::truth(values[0]).with_valid(valid));
        self.operators(probe.at + 1, probe.done)
    }

    /// Goes on with the row behind `row` in its chain, or to `none`. A chain may be as long as the build side: its walk hears
    /// of a cancel, and releases the strings it makes. `open`: the loop, if it gives a row for each match and may
    /// pause.
    fn next_match(
        &mut self,
        probe: &Probe<'_>,
        row: ir::Value,
        candidate: Block,
        none: Block,
        (scratch, open): (ScratchMark, Option<OpenLoop>),
    ) -> Result<()> {
        let open = open.unwrap_or(OpenLoop::Search);
        self.within(Some(open), |t| t.release_scratch(scratch))?;
        self.leave_array(probe, (none, &[]));
        let following = self.load_word(row, NEXT_OFFSET);
        let more = self.b.create_block();
        self.branch(following, more, none);
        self.enter(more);
        self.poll_cancel();
        self.jump(candidate, &[following]);
        Ok(())
    }

    /// Joins that also give out probe rows without a match.
    fn outer_probe(&mut self, probe: &Probe<'_>) -> Result<()> {
        let candidate = self.block(&[types::I64, types::I8]);
        let next = self.block(&[types::I64, types::I8]);
        let emit = self.block(&[types::I64]);
        let (none, after) = (self.b.create_block(), self.b.create_block());
        let zero = self.byte(false);
        let scratch = self.scratch_mark(probe.at);
        let place = self.resume_chain(candidate, Some(types::I8));
        self.head(probe, candidate, &[zero])?;
        let values = self.enter(candidate);
        let (row, matched) = (values[0], values[1]);
        let (some, mismatch) = (self.b.create_block(), self.b.create_block());
        self.branch(row, some, none);
        self.enter(some);
        let mark = self.scope.mark();
        self.scope.set_anchor(build_anchor(probe.at), row);
        self.match_or(probe, row, mismatch, none)?;
        if probe.kind == JoinKind::FullOuter {
            self.set_mark(probe, row)?;
        }
        self.jump(emit, &[row]);
        self.enter(mismatch);
        self.jump(next, &[row, matched]);
        self.enter(none);
        let unmatched = self.b.create_block();
        self.branch(matched, probe.done, unmatched);
        self.enter(unmatched);
        let no_row = self.no_row();
        self.jump(emit, &[no_row]);

        self.scope.back_to(mark);
        let row = self.enter(emit)[0];
        self.scope.set_anchor(build_anchor(probe.at), row);
        let one = self.byte(true);
        let array = probe.may_be_array();
        let open = |row, matched| {
            let carried = Carried::Matched(matched);
            place.map(|place| OpenLoop::Chain {
                place,
                row,
                carried,
                array,
            })
        };
        self.within(open(row, one), |t| t.operators(probe.at + 1, after))?;
        self.enter(after);
        let no_row = self.no_row();
        let last = self.icmp(IntCC::Equal, row, no_row);
        let one = self.byte(true);
        let args: [ir::BlockArg; 2] = [row.into(), one.into()];
        self.b.ins().brif(last, probe.done, &[], next, &args);
        let values = self.enter(next);
        let open = open(values[0], values[1]);
        self.within(open, |t| t.release_scratch(scratch))?;
        let zero = self.word(0);
        self.leave_array(probe, (candidate, &[zero, values[1]]));
        self.poll_cancel();
        let following = self.load_word(values[0], NEXT_OFFSET);
        self.jump(candidate, &[following, values[1]]);
        Ok(())
    }

    /// An inner join of which a probe row gets the first matches only: the loop counts them.
    fn first_probe(&mut self, probe: &Probe<'_>, first: &FirstMatches) -> Result<()> {
        let candidate = self.block(&[types::I64, types::I64]);
        let next = self.block(&[types::I64, types::I64]);
        let (none, some) = (self.b.create_block(), self.b.create_block());
        let (mismatch, after) = (self.b.create_block(), self.b.create_block());
        let zero = self.word(0);
        let scratch = self.scratch_mark(probe.at);
        let place = self.resume_chain(candidate, Some(types::I64));
        self.head(probe, candidate, &[zero])?;
        let values = self.enter(candidate);
        let (row, count) = (values[0], values[1]);
        self.branch(row, some, none);
        self.enter(some);
        self.scope.set_anchor(build_anchor(probe.at), row);
        self.match_or(probe, row, mismatch, none)?;
        let more = self.b.ins().iadd_imm_s(count, 1);
        if first.offset > 0 {
            let offset = self.word(first.offset);
            let skips = self.icmp(IntCC::UnsignedLessThan, count, offset);
            let given = self.b.create_block();
            self.branch_with(skips, (next, &[row, more]), (given, &[]));
            self.enter(given);
        }
        let most = first.most();
        let array = probe.may_be_array();
        let open = |row, before, behind| {
            let carried = Carried::Count { before, behind, most };
            place.map(|place| OpenLoop::Chain {
                place,
                row,
                carried,
                array,
            })
        };
        self.within(open(row, count, more), |t| t.operators(probe.at + 1, after))?;
        self.enter(after);
        let most = self.word(most);
        let is_last = self.icmp(IntCC::UnsignedGreaterThanOrEqual, more, most);
        self.branch_with(is_last, (probe.done, &[]), (next, &[row, more]));
        self.enter(mismatch);
        self.jump(next, &[row, count]);
        let values = self.enter(next);
        let open = open(values[0], values[1], values[1]);
        self.within(open, |t| t.release_scratch(scratch))?;
        self.leave_array(probe, (none, &[]));
        self.poll_cancel();
        let following = self.load_word(values[0], NEXT_OFFSET);
        self.jump(candidate, &[following, values[1]]);
        self.enter(none);
        self.jump(probe.done, &[]);
        Ok(())
    }

    /// Leads to a block if rows are in an array, which has one row for a key and no chains.
    fn leave_array(&mut self, probe: &Probe<'_>, to: (Block, &[ir::Value])) {
        if !probe.layout.spec.may_be_array() {
            return;
        }
        let is_array = self.is_array(probe.join);
        let chained = self.b.create_block();
        self.branch_with(is_array, to, (chained, &[]));
        self.enter(chained);
    }

    /// True if the rows of a table are in an array, full or not.
    pub(crate) fn is_array(&mut self, join: BreakerId) -> ir::Value {
        let kind = self.header(join, offset_of!(JoinHeader, kind));
        let first = IntCC::SignedGreaterThanOrEqual;
        self.b.ins().icmp_imm_s(first, kind, KIND_ARRAY as i64)
    }

    /// True if the payloads of a table's rows are in a full array.
    fn is_full_array(&mut self, join: BreakerId) -> ir::Value {
        let kind = self.header(join, offset_of!(JoinHeader, kind));
        self.b
            .ins()
            .icmp_imm_s(IntCC::Equal, kind, KIND_FULL_ARRAY as i64)
    }

    /// Goes on in the current block where the build row matches, to `mismatch` where it does not, and to `none`
    /// if no row behind it does.
    fn match_or(&mut self, probe: &Probe<'_>, row: ir::Value, mismatch: Block, none: Block) -> Result<()> {
        if let Some(run) = &probe.run {
            self.within_run(run, row, probe.layout, none)?;
        }
        if let Some(hash) = probe.hash {
            let found = self.load_word(row, HASH_OFFSET);
            let same = self.icmp(IntCC::Equal, found, hash);
            self.go_on_if(same, mismatch);
        }
        if probe.run.is_none() {
            self.match_keys(probe, row, mismatch)?;
        }
        if let Some(residual) = probe.residual {
            let yes = self.b.create_block();
            self.branch_on(residual, true, yes, mismatch)?;
            self.enter(yes);
        }
        match (&probe.run, probe.ends) {
            (Some(run), Some(ends)) => self.match_failed_ends(run, ends, row, probe.layout, mismatch),
            _ => Ok(()),
        }
    }

    /// Goes on in the current block where the build row has the keys of the probe row, to `mismatch` otherwise.
    fn match_keys(&mut self, probe: &Probe<'_>, row: ir::Value, mismatch: Block) -> Result<()> {
        let equal = self.b.create_block();
        if probe.layout.spec.may_be_full_array() {
            let is_full = self.is_full_array(probe.join);
            let compared = self.b.create_block();
            self.branch(is_full, equal, compared);
            self.enter(compared);
        }
        for (key, field) in probe.keys.values.iter().zip(&probe.layout.spec.layout.fields) {
            // Linked rows have no NULL keys.
            let value = self.load(field.native, row, field.offset);
            let value = SqlValue::certain(value, field.native);
            let same = self.compare_values(CompareOp::Eq, *key, value)?;
            self.go_on_if(same, mismatch);
        }
        self.jump(equal, &[]);
        self.enter(equal);
        Ok(())
    }

    pub(super) fn go_on_if(&mut self, condition: ir::Value, otherwise: Block) {
        let on = self.b.create_block();
        self.branch(condition, on, otherwise);
        self.enter(on);
    }

    fn set_mark(&mut self, probe: &Probe<'_>, row: ir::Value) -> Result<()> {
        let mark = probe.layout.spec.layout.mark;
        let mark = mark.ok_or_else(|| Error::internal("a join whose rows carry no mark"))?;
        let one = self.byte(true);
        self.store(one, row, mark);
        Ok(())
    }

    fn note_probe_side(&mut self, probe: &Probe<'_>) {
        let table = self.object(ObjectSpec::Finished(probe.join));
        let flags = offset_of!(JoinTable, flags);
        let one = self.byte(true);
        self.store(one, table, (flags + offset_of!(JoinFlags, any_row)) as i32);
        if let Some(valid) = probe.keys.valid {
            let (null, on) = (self.b.create_block(), self.b.create_block());
            self.b.set_cold_block(null);
            self.branch(valid, on, null);
            self.enter(null);
            self.store(one, table, (flags + offset_of!(JoinFlags, null_key)) as i32);
            self.jump(on, &[]);
            self.enter(on);
        }
    }

    pub(crate) fn header(&mut self, join: BreakerId, field: usize) -> ir::Value {
        self.object_field(ObjectSpec::Finished(join), field)
    }

    /// Finds the head of the row's chain and jumps to `candidate` with it, 0 for none. Ends the block.
    fn head(&mut self, probe: &Probe<'_>, candidate: Block, more: &[ir::Value]) -> Result<()> {
        let with =
            |row: ir::Value| -> Vec<ir::Value> { [row].into_iter().chain(more.iter().copied()).collect() };
        if let Some(run) = &probe.run {
            return self.run_head(probe.join, run, probe.layout, candidate, more);
        }
        if probe.keys.values.is_empty() {
            let first = self.header(probe.join, offset_of!(JoinHeader, first));
            self.jump(candidate, &with(first));
            return Ok(());
        }
        if let Some(valid) = probe.keys.valid {
            let found = self.b.create_block();
            let zero = self.word(0);
            let args: Vec<ir::BlockArg> = with(zero).into_iter().map(Into::into).collect();
            self.b.ins().brif(valid, found, &[], candidate, &args);
            self.enter(found);
        }
        if let Some(found) = self.found_before(probe.at) {
            let head = self.slot_value(found.heads)?.value;
            self.jump(candidate, &with(head));
            return Ok(());
        }
        if let Some(hash) = probe.hash {
            let row = self.head_by_hash(probe.join, hash);
            self.jump(candidate, &with(row));
            return Ok(());
        }
        // A single integer: the table decided, from the keys it has, how it is addressed.
        let (by_hash, by_key) = (self.b.create_block(), self.b.create_block());
        let kind = self.header(probe.join, offset_of!(JoinHeader, kind));
        let hashed = self.b.ins().icmp_imm_s(IntCC::Equal, kind, KIND_HASH as i64);
        self.branch(hashed, by_hash, by_key);
        self.enter(by_hash);
        let hash = self.hash_values(&probe.keys.values)?;
        let row = self.head_by_hash(probe.join, hash);
        self.jump(candidate, &with(row));
        self.enter(by_key);
        let key = self.coerce(probe.keys.values[0], NativeType::I64).value;
        let min = self.header(probe.join, offset_of!(JoinHeader, min_key));
        let slots = self.header(probe.join, offset_of!(JoinHeader, slots));
        let directory = self.header(probe.join, offset_of!(JoinHeader, directory));
        let slot = self.b.ins().isub(key, min);
        let inside = self.icmp(IntCC::UnsignedLessThan, slot, slots);
        let look = self.b.create_block();
        let zero = self.word(0);
        let args: Vec<ir::BlockArg> = with(zero).into_iter().map(Into::into).collect();
        self.b.ins().brif(inside, look, &[], candidate, &args);
        self.enter(look);
        if probe.layout.spec.may_be_array() {
            let behind_pointer = self.b.create_block();
            let row = self.row_in_array(probe, directory, slot, behind_pointer);
            self.jump(candidate, &with(row));
            self.enter(behind_pointer);
        }
        let address = self.element(directory, slot, 8);
        let row = self.load_word(address, 0);
        self.jump(candidate, &with(row));
        Ok(())
    }

    /// The row in a slot of an array, which may have another key unless the array is full. Leads to `otherwise` if the
    /// table is not in an array.
    fn row_in_array(
        &mut self,
        probe: &Probe<'_>,
        directory: ir::Value,
        slot: ir::Value,
        otherwise: Block,
    ) -> ir::Value {
        let spec = &probe.layout.spec;
        let is_array = self.is_array(probe.join);
        self.go_on_if(is_array, otherwise);
        if !spec.may_be_full_array() {
            return self.element(directory, slot, spec.array_stride());
        }
        let found = self.block(&[types::I64]);
        let (full, with_gaps) = (self.b.create_block(), self.b.create_block());
        let is_full = self.is_full_array(probe.join);
        self.branch(is_full, full, with_gaps);
        self.enter(full);
        let row = match spec.payload_stride() {
            0 => directory,
            stride => self.element(directory, slot, stride),
        };
        self.jump(found, &[row]);
        self.enter(with_gaps);
        let row = self.element(directory, slot, spec.array_stride());
        self.jump(found, &[row]);
        self.enter(found)[0]
    }

    fn head_by_hash(&mut self, join: BreakerId, hash: ir::Value) -> ir::Value {
        let directory = self.header(join, offset_of!(JoinHeader, directory));
        let shift = self.header(join, offset_of!(JoinHeader, shift));
        self.tagged_entry(directory, shift, hash)
    }

    /// The row a slot of a hash directory points at, or 0 where the tags rule a match out.
    pub fn tagged_entry(&mut self, directory: ir::Value, shift: ir::Value, hash: ir::Value) -> ir::Value {
        let slot = self.b.ins().ushr(hash, shift);
        let address = self.element(directory, slot, 8);
        let entry = self.load_word(address, 0);
        let tags = self.tags(hash);
        let present = self.b.ins().band(entry, tags);
        let may_match = self.icmp(IntCC::Equal, present, tags);
        let row = self.b.ins().band_imm_s(entry, POINTER_MASK as i64);
        let zero = self.word(0);
        self.b.ins().select(may_match, row, zero)
    }

    /// The tag bits of a hash, as `join_hash_table::tags` defines them.
    fn tags(&mut self, hash: ir::Value) -> ir::Value {
        let bit = self.word(1 << 48);
        let low = self.b.ins().band_imm_s(hash, 15);
        let first = self.b.ins().ishl(bit, low);
        let upper = self.b.ins().ushr_imm_u(hash, 4);
        let upper = self.b.ins().band_imm_s(upper, 15);
        let second = self.b.ins().ishl(bit, upper);
        self.b.ins().bor(first, second)
    }
}
