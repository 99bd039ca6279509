//! Loops that make strings release them: see [`Scratch`] for why nobody uses them any more.
//!
//! Only stages whose expressions make strings have this code. A string lies in the scratch until the loop around
//! it has made [`SCRATCH_LOOP_BYTES`] of them, whatever number of rows or matches that takes.

use crate::breakers::groups::GroupLayout;
use crate::emitter::Hoisted;
use crate::failures::FailurePoint;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use frazil_plan::pipeline::{PipelineOperator, Source};
use frazil_plan::{Expr, ExprKind, ScalarFunction};
use frazil_runtime::abi::{PipelineContext, SCRATCH_LOOP_BYTES, Scratch};
use frazil_runtime::functions::Function;
use frazil_types::{NativeType, Result};
use std::mem::offset_of;

/// The scratch's position before a loop; none where the loop makes no strings.
pub(crate) type ScratchMark = Option<ir::Value>;

/// Whether a row's evaluation of an expression may make a string in the scratch.
fn makes_strings(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |part| {
        found |= match &part.kind {
            ExprKind::Cast(_) | ExprKind::Arithmetic(..) => part.ty.native() == NativeType::String,
            ExprKind::Function(f, _) => matches!(
                f,
                ScalarFunction::Lower
                    | ScalarFunction::Upper
                    | ScalarFunction::Concat
                    | ScalarFunction::Replace
                    | ScalarFunction::WithScale
            ),
            ExprKind::Column(_)
            | ExprKind::Constant(_)
            | ExprKind::Parameter(_)
            | ExprKind::ScalarSubquery(_)
            | ExprKind::Subquery(_)
            | ExprKind::Let { .. }
            | ExprKind::Compare(..)
            | ExprKind::Distinct { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Not(_)
            | ExprKind::IsNull(_)
            | ExprKind::Negate(_)
            | ExprKind::Case { .. }
            | ExprKind::Like { .. }
            | ExprKind::InList { .. }
            | ExprKind::Extract(..)
            | ExprKind::AddInterval(..)
            | ExprKind::VectorFunction(..) => false,
        }
    });
    found
}

fn operator_makes_strings(operator: &PipelineOperator) -> bool {
    match operator {
        PipelineOperator::Filter(e) => makes_strings(e),
        PipelineOperator::Map(list) => list.iter().any(|(_, e)| makes_strings(e)),
        PipelineOperator::Probe {
            keys, ends, residual, ..
        } => {
            let ends = ends.iter().flat_map(|ends| ends.values());
            keys.iter().chain(ends).chain(residual).any(makes_strings)
        }
        PipelineOperator::Expand(expansion) => expansion.arguments().any(makes_strings),
        PipelineOperator::Call(_) => false,
    }
}

impl Translator<'_, '_> {
    /// The mark of a loop whose body is the stage's operators from `at` on, taken in the current block.
    pub fn scratch_mark(&mut self, at: usize) -> ScratchMark {
        // The keys of a probe behind the boundary are computed in front of it, and those of groups.
        let operators = &self.work.pipeline.operators;
        let end = operators.len().min(self.work.operators.end + 1);
        let makes = (at == 0 && self.source_makes_strings())
            || operators[at.min(end)..end].iter().any(operator_makes_strings)
            || (self.work.operators.end == operators.len() && self.sink_makes_strings());
        makes.then(|| self.scratch_position())
    }

    /// True if the averages of finished groups are numerics.
    fn source_makes_strings(&self) -> bool {
        let Source::Of { breaker, .. } = &self.work.pipeline.source else {
            return false;
        };
        let groups = self.unit.layouts.groups(*breaker);
        groups.is_some_and(GroupLayout::makes_strings)
    }

    fn sink_makes_strings(&self) -> bool {
        let computed = self.work.pipeline.sink.expressions(self.unit.plan);
        computed.into_iter().any(makes_strings)
    }

    fn scratch_position(&mut self) -> ir::Value {
        let scratch = self.hoist(Hoisted::Context(offset_of!(PipelineContext, scratch) as i32));
        self.load_word(scratch, offset_of!(Scratch, position) as i32)
    }

    /// At the end of a turn of the loop: releases the strings made since its mark once they are many. Rows of the output
    /// vector may refer to them, so they are handed on first.
    pub fn release_scratch(&mut self, mark: ScratchMark) -> Result<()> {
        let Some(mark) = mark else { return Ok(()) };
        let position = self.scratch_position();
        let made = self.b.ins().isub(position, mark);
        let many = self
            .b
            .ins()
            .icmp_imm_s(IntCC::UnsignedGreaterThan, made, SCRATCH_LOOP_BYTES as i64);
        let (release, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(release);
        self.branch(many, release, on);
        self.enter(release);
        if let Some(count) = self.work.count {
            self.flush_rest(count)?;
            let zero = self.word(0);
            self.b.def_var(count, zero);
        }
        let context = self.context;
        self.call_checked(Function::ScratchRelease, &[context, mark], FailurePoint::CALL)?;
        self.jump(on, &[]);
        self.enter(on);
        Ok(())
    }

    /// At the end of a stage that made strings: what is left of them is dead, its rows having been handed on.
    pub fn release_all_scratch(&mut self, mark: ScratchMark) -> Result<()> {
        if let Some(mark) = mark {
            let context = self.context;
            self.call_checked(Function::ScratchRelease, &[context, mark], FailurePoint::CALL)?;
        }
        Ok(())
    }
}
