//! Finished groups as a source: aggregates are made from their states.

use crate::breakers::groups::{Finish, GroupLayout};
use crate::failures::FailurePoint;
use crate::scope::Place;
use crate::source_shape::SourceShape;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types};
use frazil_plan::pipeline::PipelineOperator;
use frazil_plan::{ArithmeticOp, COUNT};
use frazil_types::{LogicalType, NativeType, Result};

impl Translator<'_, '_> {
    /// Computes the aggregates of the group in hand.
    pub fn finished_groups(&mut self, layout: &GroupLayout, source: &SourceShape) -> Result<()> {
        let plan = self.unit.plan;
        let first = layout.spec.groups;
        let cell = |index: usize| source.columns[first + index].cell(first + index);
        let state = |t: &mut Self, index: usize| t.source_value(cell(index));
        let averages_wait = self.averages_wait();
        for &(column, finish) in &layout.results {
            let ty = plan.columns[column].ty;
            let value = match finish {
                Finish::State(index) => {
                    let value = state(self, index)?;
                    if layout.states[index].checked.is_some() && value.native == NativeType::I128 {
                        let beyond = self.beyond(value.value, ty);
                        self.fail_if(beyond, FailurePoint::range(ty));
                    }
                    value
                }
                Finish::Average { sum, count, of } if averages_wait => {
                    let (sum, count) = (cell(sum), cell(count));
                    self.scope.place(column, Place::Average { sum, count, of });
                    continue;
                }
                Finish::Average { sum, count, of } => {
                    let (sum, count) = (state(self, sum)?, state(self, count)?);
                    self.average((sum, of), count)?
                }
            };
            self.define(column, value);
        }
        Ok(())
    }

    /// True if averages are made at their first use: a row that a filter or a sorter drops needs none. A loop over
    /// matches would make them for each match.
    fn averages_wait(&self) -> bool {
        let mut operators = self.work.pipeline.operators.iter();
        operators.all(|operator| match operator {
            PipelineOperator::Filter(_) | PipelineOperator::Map(_) => true,
            PipelineOperator::Call(_) | PipelineOperator::Probe { .. } | PipelineOperator::Expand(_) => false,
        })
    }

    /// A sum over a count; NULL if nothing was counted.
    pub fn average(&mut self, (sum, sum_ty): (SqlValue, LogicalType), count: SqlValue) -> Result<SqlValue> {
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, count.value, 0);
        if sum_ty.is_float() {
            let rows = self.b.ins().fcvt_from_sint(types::F64, count.value);
            let value = self.b.ins().fdiv(sum.value, rows);
            return Ok(SqlValue::certain(value, NativeType::F64).with_valid(Some(some)));
        }
        let (sum, count) = (sum.with_valid(Some(some)), count.with_valid(None));
        self.numeric_arithmetic(ArithmeticOp::Div, (sum_ty, sum), (COUNT, count))
    }
}
