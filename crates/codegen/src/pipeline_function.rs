//! A pipeline as a chain of stage functions.
//!
//! Stage 0 is called with vectors of the source, every further stage by the one before it, with a stage
//! vector. A stage hands on what is left in its output vector before it returns: whatever a source
//! vector's strings point at is still alive in all stages.

use crate::breakers::join::JoinLayout;
use crate::compile_options::PaxCode;
use crate::emitter::{Emitter, Module};
use crate::jit::{Allocation, builder};
use crate::may_pause::may_pause;
use crate::objects::Objects;
use crate::refilled::{Drained, drained, refilled};
use crate::scope::{Place, SOURCE_ROW, Scope};
use crate::source_shape::SourceShape;
use crate::stage_vector::{LEAST_SINK_ROWS, SlotContent, StageMemory, StageVector, sink_rows};
use crate::stage_work::{Cells, KnownLayout, StageWork};
use crate::translator::{Translator, Unit};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_module::FuncId;
use frazil_plan::ColumnId;
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Source};
use frazil_types::{Result, STAGE_ROWS};
use std::collections::BTreeSet;

/// What became of a pipeline.
pub(crate) struct PipelineParts {
    pub stages: Vec<FuncId>,
    /// What is called with vectors of the source.
    pub entry: FuncId,
    pub objects: Objects,
    pub memory: StageMemory,
    /// Columns handed to the sink, if it takes vectors.
    pub output: StageVector,
    pub source: SourceShape,
    /// How the source's hot chunks are read.
    pub pax_code: PaxCode,
    /// Rows of the partitions that a copy of the first stage was made for.
    pub known_partitions: Option<usize>,
    /// True if it can pause within a vector.
    pub pauses: bool,
    /// When its stage vectors are handed on though they are not full.
    pub drained: Drained,
    /// Offsets of the numbers of rows that stage vectors keep from call to call.
    pub rows_left: Vec<usize>,
}

/// The anchor of the build rows that the probe at `operator` finds.
pub(crate) fn build_anchor(operator: usize) -> usize {
    operator + 1
}

/// Columns read from operator `at` on that were made before it.
pub(crate) fn live_at(plan: &PipelinePlan, pipeline: &Pipeline, at: usize) -> Vec<ColumnId> {
    let mut live: BTreeSet<ColumnId> = pipeline.sink.reads(plan).into_iter().collect();
    for operator in pipeline.operators[at..].iter().rev() {
        match operator {
            PipelineOperator::Map(expressions) => {
                // Later expressions may read earlier ones.
                for (column, e) in expressions.iter().rev() {
                    live.remove(column);
                    live.extend(e.columns_read());
                }
            }
            other => {
                live.extend(other.reads());
                for column in other.adds(plan) {
                    live.remove(&column);
                }
                // A residual reads build columns even where the join shows none.
                for column in other.looks_into().iter().flat_map(|id| plan.keeps(*id).reads()) {
                    live.remove(&column);
                }
            }
        }
    }
    live.into_iter().collect()
}

/// Most values of a vector that a function is called for, 8 MB of integers: the vector lives as long as the pipeline runs.
const CALL_VALUES: usize = 1 << 20;

/// Compiles a pipeline.
pub(crate) fn compile_pipeline(
    unit: Unit<'_>,
    module: &mut Module,
    contexts: &mut FunctionBuilderContext,
    number: usize,
    allocation: Allocation,
) -> Result<PipelineParts> {
    let plan = unit.plan;
    let pipeline = &plan.pipelines[number];
    let source = SourceShape::of(plan, unit.layouts, pipeline);
    let (mut objects, mut memory) = (Objects::default(), StageMemory::default());
    memory.room(no_row_bytes(unit, pipeline)?);
    let starts = [&[0], &pipeline.boundaries[..]].concat();
    let (names, stages) = declared_stages(module, number, starts.len())?;
    let known = known_layout(unit, module, pipeline, stages[0])?;
    let (general, pax_code) = general_cells(unit, pipeline, known.is_some());
    let pauses = may_pause(plan, pipeline);
    let refilled = refilled(plan, unit.layouts, pipeline);
    let mut rows_left = Vec::new();
    let mut input: Option<StageVector> = None;
    for stage in 0..starts.len() {
        let end = starts.get(stage + 1).copied().unwrap_or(pipeline.operators.len());
        let work = |cells| {
            let next = stages.get(stage + 1).copied();
            let output_rows = output_rows(unit, pipeline, end, next.is_some());
            let work = StageWork::new(pipeline, starts[stage]..end, next, output_rows, cells);
            work.handing_on(&refilled, pauses)
        };
        let scope = |unit: Unit<'_>| match &input {
            None => Ok(source_scope(&source)),
            Some(vector) => stage_scope(unit, pipeline, vector, starts[stage]),
        };
        if let (0, Some((id, known))) = (stage, &known) {
            // The same work for one layout. Its output lies where that of the stage for any lies.
            let mut same_memory = memory.clone();
            let mut function = module.jit.begin(*id);
            let (scope, work) = (scope(unit)?, work(Cells::CompileTime(known.clone())));
            let builder = builder(&mut function, contexts);
            let emitter = Emitter::new(builder, module, &mut objects);
            let translator = Translator::new(emitter, unit, &mut same_memory, scope, work);
            translator.stage(None, &source)?;
            let name = format!("{}_k{}", names[0], known.layout.rows_per_partition());
            module.jit.define(*id, &name, function, allocation)?;
        }
        let mut function = module.jit.begin(stages[stage]);
        let (scope, work) = (scope(unit)?, work(general.clone()));
        let builder = builder(&mut function, contexts);
        let emitter = Emitter::new(builder, module, &mut objects);
        let translator = Translator::new(emitter, unit, &mut memory, scope, work);
        let ended = translator.stage(input.take(), &source)?;
        module
            .jit
            .define(stages[stage], &names[stage], function, allocation)?;
        rows_left.extend(ended.rows_left);
        input = Some(ended.output);
    }
    Ok(PipelineParts {
        pax_code,
        entry: known.as_ref().map_or(stages[0], |k| k.0),
        known_partitions: known.map(|k| k.1.layout.rows_per_partition()),
        stages,
        objects,
        memory,
        output: input.unwrap_or_default(),
        source,
        pauses,
        drained: drained(unit.layouts, pipeline, &refilled),
        rows_left,
    })
}

/// Names of a pipeline's `count` stages, and their functions, without code yet.
fn declared_stages(module: &mut Module, number: usize, count: usize) -> Result<(Vec<String>, Vec<FuncId>)> {
    let names: Vec<String> = (0..count).map(|s| format!("pipeline{number}_stage{s}")).collect();
    let stages = names.iter().map(|n| module.jit.declare_stage(n));
    let stages = stages.collect::<Result<_>>()?;
    Ok((names, stages))
}

/// Access to the cells of a chunk in the stages for any layout. `is_known`: a stage is compiled for one layout, too.
fn general_cells(unit: Unit<'_>, pipeline: &Pipeline, is_known: bool) -> (Cells, PaxCode) {
    let is_scan = matches!(pipeline.source, Source::Scan { .. });
    match is_known {
        true => (Cells::RunTime, PaxCode::CompileTime),
        false if is_scan && unit.pax_code == PaxCode::RunTime => (Cells::RunTime, PaxCode::RunTime),
        false => (Cells::SideBySide, PaxCode::Gathered),
    }
}

/// The layout that the first stage is also compiled for, and the function that will hold that code.
fn known_layout(
    unit: Unit<'_>,
    module: &mut Module,
    pipeline: &Pipeline,
    general: FuncId,
) -> Result<Option<(FuncId, KnownLayout)>> {
    let Source::Scan { table, .. } = &pipeline.source else {
        return Ok(None);
    };
    if unit.pax_code != PaxCode::CompileTime {
        return Ok(None);
    }
    let Some(layout) = (unit.hot_layout)(*table).filter(|l| KnownLayout::is_near(l)) else {
        return Ok(None);
    };
    let name = format!("known_layout{}", general.as_u32());
    let id = module.jit.declare_stage(&name)?;
    let known = KnownLayout {
        layout,
        otherwise: general,
    };
    Ok(Some((id, known)))
}

/// Rows of the output vector of the stage whose operators end at `end`. `is_inner`: another stage follows.
fn output_rows(unit: Unit<'_>, pipeline: &Pipeline, end: usize, is_inner: bool) -> usize {
    let rows = match is_inner {
        true => boundary_rows(pipeline, end, unit.vector_rows),
        false => sink_rows(unit.plan, &pipeline.sink),
    };
    rows.min(most_rows(pipeline)).min(unit.vector_rows)
}

/// Rows of the vector in front of operator `at`: fewer where a function of very many arguments is called.
fn boundary_rows(pipeline: &Pipeline, at: usize, usual: usize) -> usize {
    match pipeline.operators.get(at) {
        Some(PipelineOperator::Call(call)) => {
            (CALL_VALUES / call.arguments.len().max(1)).clamp(LEAST_SINK_ROWS, STAGE_ROWS)
        }
        _ => usual,
    }
}

/// Rows of vectors that are enough for all rows of a pipeline.
fn most_rows(pipeline: &Pipeline) -> usize {
    let adds_rows = |operator: &PipelineOperator| {
        matches!(
            operator,
            PipelineOperator::Probe { .. } | PipelineOperator::Expand(_)
        )
    };
    match pipeline.source {
        Source::Lookup(_) if !pipeline.operators.iter().any(adds_rows) => LEAST_SINK_ROWS,
        _ => usize::MAX,
    }
}

/// Bytes of the row of zeros that stands for "no match".
fn no_row_bytes(unit: Unit<'_>, pipeline: &Pipeline) -> Result<usize> {
    let joins = pipeline.operators.iter().filter_map(PipelineOperator::looks_into);
    let mut most = 8;
    for join in joins {
        most = most.max(unit.layouts.join(join)?.spec.layout.size);
    }
    Ok(most)
}

fn source_scope(source: &SourceShape) -> Scope {
    let mut scope = Scope::default();
    for (index, column) in source.columns.iter().enumerate() {
        if let Some(id) = column.id {
            scope.place(id, Place::Source(column.cell(index)));
        }
    }
    scope
}

/// The scope of a stage behind a boundary: what the stage vector holds, and what its anchors lead to.
fn stage_scope(unit: Unit<'_>, pipeline: &Pipeline, vector: &StageVector, start: usize) -> Result<Scope> {
    let plan = unit.plan;
    let mut scope = source_scope(&SourceShape::of(plan, unit.layouts, pipeline));
    for (at, operator) in pipeline.operators[..start].iter().enumerate() {
        if let PipelineOperator::Probe { join, kind, .. } = operator {
            place_build_row(unit.layouts.join(*join)?, &mut scope, at, *kind);
        }
    }
    for slot in &vector.slots {
        match slot.content {
            SlotContent::Column(id) => scope.place(id, Place::Slot(*slot)),
            SlotContent::Anchor(anchor) => scope.anchor_in(anchor, *slot),
            SlotContent::ProbeKey
            | SlotContent::GroupKey(_)
            | SlotContent::GroupCell
            | SlotContent::GroupPlace => {}
        }
    }
    Ok(scope)
}

/// Makes the payload of the probe at `operator` known.
pub(crate) fn place_build_row(
    layout: &JoinLayout,
    scope: &mut Scope,
    operator: usize,
    kind: frazil_plan::JoinKind,
) {
    use frazil_plan::JoinKind::{FullOuter, ProbeOuter};
    for &(column, field) in &layout.payload {
        scope.place(
            column,
            Place::BuildRow {
                anchor: build_anchor(operator),
                field: layout.spec.layout.fields[field],
                optional: matches!(kind, ProbeOuter | FullOuter),
            },
        );
    }
}

/// The anchors a set of columns needs.
pub(crate) fn anchors_of(scope: &Scope, columns: &[ColumnId]) -> Result<BTreeSet<usize>> {
    let mut anchors = BTreeSet::new();
    for &column in columns {
        match scope.get(column)? {
            Place::Source(_) => {
                anchors.insert(SOURCE_ROW);
            }
            Place::BuildRow { anchor, .. } => {
                anchors.insert(anchor);
            }
            Place::Slot(_) | Place::Value(_) | Place::Vector { .. } | Place::Average { .. } => {}
        }
    }
    Ok(anchors)
}
