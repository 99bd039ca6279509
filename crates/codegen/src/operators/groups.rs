//! Finished groups as a source: aggregates are made from their states.

use crate::breakers::groups::{Finish, GroupLayout};
use crate::failures::FailurePoint;
use crate::source_shape::SourceShape;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types};
use frazil_plan::{ArithmeticOp, COUNT};
use frazil_types::{LogicalType, NativeType, Result};

impl Translator<'_, '_> {
    /// Computes the aggregates of the group in hand.
    pub fn finished_groups(&mut self, layout: &GroupLayout, source: &SourceShape) -> Result<()> {
        let plan = self.unit.plan;
        let first = layout.spec.groups;
        let state =
            |t: &mut Self, index: usize| t.source_value(source.columns[first + index].cell(first + index));
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
                Finish::Average { sum, count, of } => {
                    let (sum, count) = (state(self, sum)?, state(self, count)?);
                    self.average((sum, of), count)?
                }
            };
            self.define(column, value);
        }
        Ok(())
    }

    /// A sum over a count; NULL if nothing was counted.
    fn average(&mut self, (sum, sum_ty): (SqlValue, LogicalType), count: SqlValue) -> Result<SqlValue> {
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
