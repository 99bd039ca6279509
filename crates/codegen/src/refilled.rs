//! Stage vectors that are refilled: rows stay in them until they are full, across vectors of the source (Relaxed
//! Operator Fusion, section 4.1).
//!
//! A vector that is handed on behind each source vector is nearly empty if few rows reach it: prefetching then waits
//! for each of them. So the number of its rows is kept in the stage memory between two calls of the stage. What lies
//! in such a vector must outlive the source vector: it has the values of source columns instead of a row's number, and
//! no string but those of build rows. [`PipelineContext::drain`](frazil_runtime::abi::PipelineContext) tells all
//! stages to hand on what they have.

use crate::breakers::PlanLayouts;
use crate::may_pause::may_pause;
use crate::pipeline_function::live_at;
use crate::source_shape::SourceShape;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend::Variable;
use frazil_plan::ColumnId;
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink, Source};
use frazil_runtime::abi::PipelineContext;
use frazil_types::{NativeType, Result};
use std::collections::HashSet;
use std::mem::offset_of;

/// Columns of a refilled vector at most: their values are copied even for rows that a later probe drops.
const MOST_COLUMNS: usize = 12;

/// When the stage vectors of a pipeline are handed on though they are not full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Drained {
    /// Behind each vector of the source.
    #[default]
    EachVector,
    /// Behind each morsel, because the sink tells rows of one from those of another.
    EachMorsel,
    /// When the worker ends.
    AtTheEnd,
}

/// The boundaries of a pipeline whose vectors are refilled.
pub(crate) fn refilled(plan: &PipelinePlan, layouts: &PlanLayouts, pipeline: &Pipeline) -> Vec<usize> {
    let calls = |o: &PipelineOperator| matches!(o, PipelineOperator::Call(_) | PipelineOperator::Expand(_));
    let has_many_vectors = matches!(
        pipeline.source,
        Source::Scan { .. } | Source::Of { late: None, .. }
    );
    // Cells of groups are those of the open chunk.
    let by_code = SourceShape::of(plan, layouts, pipeline).cells().is_some();
    if !has_many_vectors || by_code || pipeline.operators.iter().any(calls) || may_pause(plan, pipeline) {
        return vec![];
    }
    let wanted = |&k: &usize| drops_rows(pipeline, k) && outlives_sources(plan, layouts, pipeline, k);
    pipeline.boundaries.iter().copied().filter(wanted).collect()
}

/// When the vectors of a pipeline with some refilled ones are to be drained.
pub(crate) fn drained(layouts: &PlanLayouts, pipeline: &Pipeline, refilled: &[usize]) -> Drained {
    if refilled.is_empty() {
        return Drained::EachVector;
    }
    let tells_morsels = match &pipeline.sink {
        Sink::Mark => false,
        Sink::Into(id, _) => layouts.of_breaker(*id).tells_morsels(),
    };
    if tells_morsels {
        Drained::EachMorsel
    } else {
        Drained::AtTheEnd
    }
}

/// True if some rows of the source do not reach operator `k`, so that vectors in front of it are not full by
/// themselves.
fn drops_rows(pipeline: &Pipeline, k: usize) -> bool {
    let drops = |operator: &PipelineOperator| match operator {
        PipelineOperator::Filter(_) | PipelineOperator::Probe { .. } => true,
        PipelineOperator::Map(_) | PipelineOperator::Call(_) | PipelineOperator::Expand(_) => false,
    };
    let is_restricted = match &pipeline.source {
        Source::Scan {
            restrictions,
            disjunctions,
            early_probes,
            ..
        } => !restrictions.is_empty() || !disjunctions.is_empty() || !early_probes.is_empty(),
        _ => false,
    };
    is_restricted || pipeline.operators[..k].iter().any(drops)
}

/// True if all that a vector in front of operator `k` holds outlives the source vector.
fn outlives_sources(plan: &PipelinePlan, layouts: &PlanLayouts, pipeline: &Pipeline, k: usize) -> bool {
    let probed = pipeline.operators[..k]
        .iter()
        .filter(|o| o.looks_into().is_some());
    let of_build_rows: HashSet<ColumnId> = probed.flat_map(|o| o.adds(plan)).collect();
    let live = live_at(plan, pipeline, k);
    let strings = live
        .iter()
        .filter(|&&id| plan.columns[id].native() == NativeType::String);
    let groups = pipeline.sink.breaker().and_then(|id| layouts.groups(id));
    let groups = groups.filter(|_| k == pipeline.operators.len());
    let mut keys = groups.iter().flat_map(|layout| &layout.groups);
    live.len() <= MOST_COLUMNS
        && strings.into_iter().all(|id| of_build_rows.contains(id))
        && keys.all(|(_, e)| e.as_column().is_some() || e.ty.native() != NativeType::String)
}

impl Translator<'_, '_> {
    /// The number of rows that the output vector has when the stage begins.
    pub fn rows_left(&mut self) -> ir::Value {
        if !self.work.refills {
            return self.word(0);
        }
        let at = self.memory.room(size_of::<u64>());
        self.work.rows_left = Some(at);
        self.place_word(at)
    }

    /// Ends the stage with `count` rows in its output vector: hands them on, or keeps them for its next call.
    pub fn close_vector(&mut self, count: Variable) -> Result<()> {
        let rows = self.b.use_var(count);
        let hands_on = match (self.work.refills, self.work.passes_drain) {
            (false, false) => return self.flush_rest(count),
            (false, true) => {
                let drain = self.drain_word();
                self.b.ins().bor(rows, drain)
            }
            (true, true) => self.drain_word(),
            (true, false) => {
                let (drain, zero) = (self.drain_word(), self.word(0));
                let drains = self.b.ins().icmp_imm_s(IntCC::NotEqual, drain, 0);
                self.b.ins().select(drains, rows, zero)
            }
        };
        let (some, none) = (self.b.create_block(), self.b.create_block());
        let end = self.b.create_block();
        self.branch(hands_on, some, none);
        self.enter(some);
        self.hand_on(rows)?;
        if let Some(at) = self.work.rows_left {
            let zero = self.word(0);
            self.keep_word(zero, at);
        }
        self.jump(end, &[]);
        self.enter(none);
        if let Some(at) = self.work.rows_left {
            self.keep_word(rows, at);
        }
        self.jump(end, &[]);
        self.enter(end);
        Ok(())
    }

    fn drain_word(&mut self) -> ir::Value {
        let context = self.context;
        self.load_word(context, offset_of!(PipelineContext, drain) as i32)
    }

    /// Counts rows that are handed on in a stage vector, and those that it has room for.
    pub fn count_handed(&mut self, rows: ir::Value) {
        let most = self.work.output_rows as u64;
        let most = self.word(most);
        let fields = [
            (offset_of!(PipelineContext, handed_rows), rows),
            (offset_of!(PipelineContext, handed_room), most),
        ];
        for (offset, more) in fields {
            let context = self.context;
            let before = self.load_word(context, offset as i32);
            let now = self.b.ins().iadd(before, more);
            self.store(now, context, offset as i32);
        }
    }
}
