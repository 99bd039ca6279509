//! Compiling a whole plan.

use crate::jit::{Jit, JitCode, StageFunction};
use crate::objects::ObjectSpec;
use crate::pipeline_function::{PipelineParts, compile_pipeline};
use crate::plan_layouts::PlanLayouts;
use crate::source_shape::SourceShape;
use crate::stage_vector::Slot;
use crate::translator::{FailurePoint, Unit};
use crate::vector_calls;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_module::FuncId;
use frazil_kernels::Isa;
use frazil_plan::pipeline::PipelinePlan;
use frazil_types::{Error, Result};
use std::time::{Duration, Instant};

/// How to compile.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompileOptions {
    /// Let Cranelift optimize: somewhat slower to compile, somewhat faster to run.
    pub optimize: bool,
    /// Let Cranelift verify what it is given: for tests, as it costs half the compile time again.
    pub verify: bool,
    /// Keep the CLIF text.
    pub text: bool,
    /// Use no instruction beyond this set; the machine's best if `None`.
    pub isa: Option<Isa>,
}

/// A plan in machine code. It can be executed any number of times, by any number of threads.
#[derive(Debug)]
pub struct CompiledPlan {
    /// The pipelines, in the order in which they run.
    pub pipelines: Vec<CompiledPipeline>,
    /// How rows in memory look.
    pub layouts: PlanLayouts,
    /// Time spent generating code.
    pub compile_time: Duration,
    failures: Vec<FailurePoint>,
    code: JitCode,
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
    pub(crate) output: Vec<Slot>,
    pub(crate) memory_bytes: usize,
    pub(crate) entry: StageFunction,
}

/// Compiles a plan.
pub fn compile(plan: &PipelinePlan, options: &CompileOptions) -> Result<CompiledPlan> {
    let started = Instant::now();
    let hoisted = vector_calls::hoist(plan);
    let plan = hoisted.as_ref().unwrap_or(plan);
    let layouts = PlanLayouts::of(plan)?;
    let mut unit = Unit {
        plan,
        layouts: &layouts,
        jit: Jit::new(options)?,
        failures: Vec::new(),
    };
    let mut contexts = FunctionBuilderContext::new();
    let parts: Vec<PipelineParts> = (0..plan.pipelines.len())
        .map(|p| compile_pipeline(&mut unit, &mut contexts, p))
        .collect::<Result<_>>()?;
    let entries: Vec<FuncId> = parts.iter().map(|p| p.stages[0]).collect();
    let (jit, failures) = (unit.jit, unit.failures);
    let (code, entries) = jit.finish(&entries)?;
    let pipelines = parts
        .into_iter()
        .zip(entries)
        .map(|(parts, entry)| CompiledPipeline {
            objects: parts.objects.0,
            source: parts.source,
            stages: parts.stages.len(),
            output: parts.output.slots,
            memory_bytes: parts.memory.bytes(),
            entry,
        })
        .collect();
    Ok(CompiledPlan {
        pipelines,
        layouts,
        compile_time: started.elapsed(),
        failures,
        code,
    })
}

impl CompiledPlan {
    /// The CLIF text of all stage functions; empty unless [`CompileOptions::text`] asked for it.
    pub fn clif(&self) -> &str {
        self.code.text.as_deref().unwrap_or_default()
    }

    /// The error behind a failure point noted by generated code.
    pub(crate) fn failure(&self, point: u64) -> Error {
        match self.failures.get(point as usize) {
            Some(point) => point.error(),
            None => Error::internal("generated code failed at an unknown place"),
        }
    }
}
