//! What every translator of operators and expressions works with: the function in the making, the columns of the row
//! in hand, and the work of the stage.

use crate::breakers::PlanLayouts;
use crate::compile_options::{HotLayoutOf, PaxCode};
use crate::emitter::Emitter;
use crate::scope::Scope;
use crate::stage_vector::StageMemory;
use crate::stage_work::StageWork;
use frazil_plan::pipeline::PipelinePlan;
use frazil_plan::{Expr, ValueBounds};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

/// What is known of a plan while it is compiled.
#[derive(Clone, Copy)]
pub(crate) struct Unit<'p> {
    pub plan: &'p PipelinePlan,
    pub layouts: &'p PlanLayouts,
    pub pax_code: PaxCode,
    /// Rows of a stage vector.
    pub vector_rows: usize,
    /// Rows of a stage vector whose build rows are asked for together; 0: none are.
    pub prefetch_rows: usize,
    pub hot_layout: &'p HotLayoutOf<'p>,
}

/// The translation of a stage. What the [`Emitter`] can do it can do as well.
pub(crate) struct Translator<'a, 'p> {
    emitter: Emitter<'a>,
    pub unit: Unit<'p>,
    pub memory: &'a mut StageMemory,
    pub scope: Scope,
    pub work: StageWork<'p>,
    /// What is known of the parts of the expression in hand, by their addresses: empty between expressions.
    pub known: HashMap<*const Expr, ValueBounds>,
    /// Which of these parts may be NULL, of those that were asked for.
    pub nullable: HashMap<*const Expr, bool>,
}

impl<'a, 'p> Translator<'a, 'p> {
    /// Begins a stage's function.
    pub fn new(
        emitter: Emitter<'a>,
        unit: Unit<'p>,
        memory: &'a mut StageMemory,
        scope: Scope,
        work: StageWork<'p>,
    ) -> Translator<'a, 'p> {
        Translator {
            emitter,
            unit,
            memory,
            scope,
            work,
            known: HashMap::new(),
            nullable: HashMap::new(),
        }
    }

    /// Ends the function.
    pub fn finish(self) {
        self.emitter.finish();
    }
}

impl<'a> Deref for Translator<'a, '_> {
    type Target = Emitter<'a>;

    fn deref(&self) -> &Emitter<'a> {
        &self.emitter
    }
}

impl<'a> DerefMut for Translator<'a, '_> {
    fn deref_mut(&mut self) -> &mut Emitter<'a> {
        &mut self.emitter
    }
}
