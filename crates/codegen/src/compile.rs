//! Compiling a whole plan.

use crate::breakers::PlanLayouts;
use crate::compile_options::{CompileOptions, HotLayoutOf, PaxCode};
use crate::emitter::Module;
use crate::failures::Failures;
use crate::jit::{Allocation, Jit, JitCode, StageFunction};
use crate::moved_boundaries::Moved;
use crate::objects::ObjectSpec;
use crate::pipeline_function::{PipelineParts, compile_pipeline};
use crate::refilled::Drained;
use crate::source_shape::SourceShape;
use crate::stage_vector::Slot;
use crate::translator::Unit;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_module::FuncId;
use frazil_plan::pipeline::{PipelinePlan, Source};
use frazil_storage::HotLayout;
use frazil_types::{Cancel, Error, ObjectId, Result, STAGE_ROWS};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows of a pipeline that are few. The search for the best registers takes more than half of what compiling takes, a
/// quarter of a millisecond for a pipeline; without it a row costs some nanoseconds more. A guess that is wrong costs
/// time, never an answer.
const FEW_ROWS: f64 = 65_536.0;

/// A plan in machine code. It can be executed any number of times, by any number of threads.
#[derive(Debug)]
pub struct CompiledPlan {
    /// The pipelines, in the order in which they run.
    pub pipelines: Vec<CompiledPipeline>,
    /// How rows in memory look.
    pub layouts: PlanLayouts,
    /// Time spent generating code.
    pub compile_time: Duration,
    failures: Failures,
    code: JitCode,
    /// The options by which the plan was compiled, and by which pipelines are compiled once more.
    pub(crate) options: CompileOptions,
    pub(crate) moved: Moved,
    /// Layouts of hot chunks that code was made for, by table.
    pub(crate) hot_layouts: HashMap<ObjectId, Arc<HotLayout>>,
}

/// A pipeline in machine code.
#[derive(Debug)]
pub struct CompiledPipeline {
    /// The objects to be made for each worker, in the order of their addresses in the context.
    pub objects: Vec<ObjectSpec>,
    /// The source's columns.
    pub source: SourceShape,
    /// Number of stages.
    pub stages: usize,
    /// How it reads hot chunks.
    pub pax_code: PaxCode,
    /// Rows of the partitions that its first stage is also compiled for.
    pub known_partitions: Option<usize>,
    /// True if it can pause in the middle of a source vector, where its rows are handed over.
    pub pauses: bool,
    pub(crate) drained: Drained,
    /// Offsets in the stage memory of the numbers of rows that stage vectors keep from call to call.
    pub(crate) rows_left: Vec<usize>,
    pub(crate) output: Vec<Slot>,
    pub(crate) memory_bytes: usize,
    pub(crate) entry: StageFunction,
}

/// Compiles a plan; 57014 if it is cancelled. Code that is made for a layout of hot chunks (see [`PaxCode::CompileTime`]) asks `hot_layout` for it.
pub fn compile(
    plan: &PipelinePlan,
    options: &CompileOptions,
    hot_layout: &HotLayoutOf<'_>,
) -> Result<CompiledPlan> {
    let started = Instant::now();
    let layouts = PlanLayouts::of(plan)?;
    let all = 0..plan.pipelines.len();
    let tables = plan
        .pipelines
        .iter()
        .filter_map(|pipeline| match &pipeline.source {
            Source::Scan { table, .. } => Some(*table),
            _ => None,
        });
    let hot_layouts = tables.filter_map(|table| Some((table, hot_layout(table)?)));
    let (pipelines, failures, code) = compile_pipelines(plan, &layouts, options, hot_layout, all)?;
    Ok(CompiledPlan {
        pipelines,
        layouts,
        compile_time: started.elapsed(),
        failures,
        code,
        options: CompileOptions {
            cancel: Cancel::new(),
            helpers: None,
            ..options.clone()
        },
        moved: Moved::default(),
        hot_layouts: hot_layouts.collect(),
    })
}

/// Compiles some pipelines of a plan.
pub(crate) fn compile_pipelines(
    plan: &PipelinePlan,
    layouts: &PlanLayouts,
    options: &CompileOptions,
    hot_layout: &HotLayoutOf<'_>,
    numbers: Range<usize>,
) -> Result<(Vec<CompiledPipeline>, Failures, JitCode)> {
    let unit = Unit {
        plan,
        layouts,
        pax_code: options.pax_code,
        vector_rows: options.vector_rows.unwrap_or(STAGE_ROWS).max(1),
        prefetch_rows: options.prefetch_rows.unwrap_or(STAGE_ROWS),
        hot_layout,
    };
    let mut module = Module {
        jit: Jit::new(options)?,
        failures: Failures::default(),
    };
    let mut contexts = FunctionBuilderContext::new();
    let parts: Vec<PipelineParts> = numbers
        .map(|number| {
            options.cancel.check()?;
            let allocation = match plan.pipelines[number].estimated_rows <= FEW_ROWS {
                true => Allocation::SinglePass,
                false => Allocation::Backtracking,
            };
            compile_pipeline(unit, &mut module, &mut contexts, number, allocation)
        })
        .collect::<Result<_>>()?;
    let entries: Vec<FuncId> = parts.iter().map(|p| p.entry).collect();
    let Module { jit, failures } = module;
    let (code, entries) = jit.finish(&entries)?;
    let pipelines = parts
        .into_iter()
        .zip(entries)
        .map(|(parts, entry)| CompiledPipeline {
            objects: parts.objects.specs,
            source: parts.source,
            stages: parts.stages.len(),
            pax_code: parts.pax_code,
            known_partitions: parts.known_partitions,
            pauses: parts.pauses,
            drained: parts.drained,
            rows_left: parts.rows_left,
            output: parts.output.slots,
            memory_bytes: parts.memory.bytes(),
            entry,
        })
        .collect();
    Ok((pipelines, failures, code))
}

impl CompiledPlan {
    /// The CLIF text of all stage functions; empty unless [`CompileOptions::text`] asked for it.
    pub fn clif(&self) -> &str {
        self.code.text.as_deref().unwrap_or_default()
    }

    /// The error behind a failure point noted by generated code; `noted` is what a runtime function knew of it.
    pub(crate) fn failure(&self, point: u64, noted: Option<Error>) -> Error {
        self.failures.error(point, noted)
    }
}
