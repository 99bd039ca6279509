//! CASE: branches are computed only when reached.

use super::logic::is_cheap;
use crate::sql_value::{SqlValue, clif_type};
use crate::translator::Translator;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use frazil_plan::{Expr, ExprKind};
use frazil_types::{NativeType, Result, Value};

/// Branches that meet in a block of their own where there are more: a block with thousands of predecessors takes
/// the allocation of registers long.
const MEETING: usize = 64;

impl Translator<'_, '_> {
    /// CASE WHEN … END.
    pub fn case(
        &mut self,
        e: &Expr,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
    ) -> Result<SqlValue> {
        let native = self.form(e);
        let nullable =
            otherwise.is_none_or(|o| self.may_be_null(o)) || branches.iter().any(|b| self.may_be_null(&b.1));
        if let ([(condition, result)], Some(other)) = (branches, otherwise)
            && native != NativeType::String
            && [condition, result, other].into_iter().all(is_cheap)
        {
            return self.choice(condition, (result, other), native, nullable);
        }
        let mut parameters = vec![clif_type(native)];
        if nullable {
            parameters.push(types::I8);
        }
        let merge = self.block(&parameters);
        let mark = self.scope.mark();
        let (mut meeting, mut meetings) = (merge, Vec::new());
        for (number, (condition, result)) in branches.iter().enumerate() {
            if number % MEETING == 0 && branches.len() > MEETING {
                meeting = self.block(&parameters);
                meetings.push(meeting);
            }
            let (yes, no) = (self.b.create_block(), self.b.create_block());
            self.branch_on(condition, true, yes, no)?;
            self.enter(yes);
            self.case_result(Some(result), native, nullable, meeting)?;
            self.scope.back_to(mark);
            self.enter(no);
        }
        self.case_result(otherwise, native, nullable, merge)?;
        self.scope.back_to(mark);
        for meeting in meetings {
            let values = self.enter(meeting);
            self.jump(merge, &values);
        }
        let values = self.enter(merge);
        Ok(SqlValue {
            value: values[0],
            valid: nullable.then(|| values[1]),
            native,
        })
    }

    /// One of two results without a branch: where computing both costs less than a branch that is mispredicted.
    fn choice(
        &mut self,
        condition: &Expr,
        (result, other): (&Expr, &Expr),
        native: NativeType,
        nullable: bool,
    ) -> Result<SqlValue> {
        let condition = self.expression(condition)?;
        let mut holds = condition.value;
        if let Some(valid) = condition.valid {
            holds = self.b.ins().band(holds, valid);
        }
        let (result, other) = (self.result(result, native)?, self.result(other, native)?);
        let value = self.b.ins().select(holds, result.value, other.value);
        let valid = nullable.then(|| {
            let (yes, no) = (self.valid_byte(result), self.valid_byte(other));
            self.b.ins().select(holds, yes, no)
        });
        Ok(SqlValue { value, valid, native })
    }

    fn result(&mut self, e: &Expr, native: NativeType) -> Result<SqlValue> {
        if e.kind == ExprKind::Constant(Value::Null) {
            return Ok(self.null(native));
        }
        let value = self.expression(e)?;
        Ok(self.coerce(value, native))
    }

    fn valid_byte(&mut self, value: SqlValue) -> ir::Value {
        match value.valid {
            Some(valid) => valid,
            None => self.byte(true),
        }
    }

    fn case_result(
        &mut self,
        result: Option<&Expr>,
        native: NativeType,
        nullable: bool,
        merge: Block,
    ) -> Result<()> {
        let value = match result {
            None => self.null(native),
            Some(r) => self.result(r, native)?,
        };
        if nullable {
            let valid = self.valid_byte(value);
            self.jump(merge, &[value.value, valid]);
        } else {
            self.jump(merge, &[value.value]);
        }
        Ok(())
    }
}
