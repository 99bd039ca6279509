//! CASE: branches are computed only when reached.

use crate::sql_value::{SqlValue, clif_type};
use crate::translator::Translator;
use cranelift_codegen::ir::{Block, types};
use frazil_plan::{Expr, ExprKind};
use frazil_types::{NativeType, Result, Value};

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
        let mut parameters = vec![clif_type(native)];
        if nullable {
            parameters.push(types::I8);
        }
        let merge = self.block(&parameters);
        let mark = self.scope.mark();
        for (condition, result) in branches {
            let (yes, no) = (self.b.create_block(), self.b.create_block());
            self.branch_on(condition, true, yes, no)?;
            self.enter(yes);
            self.case_result(Some(result), native, nullable, merge)?;
            self.scope.back_to(mark);
            self.enter(no);
        }
        self.case_result(otherwise, native, nullable, merge)?;
        self.scope.back_to(mark);
        let values = self.enter(merge);
        Ok(SqlValue {
            value: values[0],
            valid: nullable.then(|| values[1]),
            native,
        })
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
            Some(r) if r.kind == ExprKind::Constant(Value::Null) => self.null(native),
            Some(r) => {
                let value = self.expression(r)?;
                self.coerce(value, native)
            }
        };
        if nullable {
            let valid = match value.valid {
                Some(valid) => valid,
                None => self.byte(true),
            };
            self.jump(merge, &[value.value, valid]);
        } else {
            self.jump(merge, &[value.value]);
        }
        Ok(())
    }
}
