//! CASE: branches are computed only when reached.

use super::logic::is_cheap;
use crate::scope::Mark;
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
        let (branches, otherwise) = chain(branches, otherwise);
        let nullable =
            otherwise.is_none_or(|o| self.may_be_null(o)) || branches.iter().any(|b| self.may_be_null(b.1));
        if let (&[(condition, result)], Some(other)) = (&branches[..], otherwise)
            && [condition, result, other].into_iter().all(is_cheap)
        {
            return self.choice(condition, (result, other), native, nullable);
        }
        let mut parameters = vec![clif_type(native)];
        if nullable {
            parameters.push(types::I8);
        }
        let merge = self.block(&parameters);
        // What the first condition loads is there in all that follows, what others load is on the way to them alone.
        let mut after_first = None;
        let (mut meeting, mut meetings) = (merge, Vec::new());
        for (number, &(condition, result)) in branches.iter().enumerate() {
            if number % MEETING == 0 && branches.len() > MEETING {
                meeting = self.block(&parameters);
                meetings.push(meeting);
            }
            let (yes, no) = (self.b.create_block(), self.b.create_block());
            let mark = self.branch_in_chain(condition, yes, no)?;
            after_first.get_or_insert(mark);
            self.enter(yes);
            self.case_result(Some(result), native, nullable, meeting)?;
            self.scope.back_to(mark);
            self.enter(no);
        }
        self.case_result(otherwise, native, nullable, merge)?;
        if let Some(mark) = after_first {
            self.scope.back_to(mark);
        }
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

    /// Goes to `yes` where a condition holds, else to `no`. Returns the mark of what is loaded wherever it goes.
    ///
    /// A block's last successor is laid out behind it. `yes` is that one where it can be: were the results behind all
    /// conditions, what they need would count as live in every condition between, and a chain of n take n² steps.
    fn branch_in_chain(&mut self, condition: &Expr, yes: Block, no: Block) -> Result<Mark> {
        let by_parts = match condition.kind {
            ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Let { .. } => true,
            ExprKind::Not(_) => !is_cheap(condition),
            _ => false,
        };
        if by_parts {
            let mark = self.scope.mark();
            self.branch_on(condition, true, yes, no)?;
            return Ok(mark);
        }
        let value = self.expression(condition)?;
        let holds = match value.valid {
            Some(valid) => self.b.ins().band(value.value, valid),
            None => value.value,
        };
        let mark = self.scope.mark();
        let unless = self.not(holds);
        self.branch(unless, no, yes);
        Ok(mark)
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

/// The branches of a CASE and of those that are the rest of it: coalesce(a, coalesce(b, c)).
fn chain<'a>(
    branches: &'a [(Expr, Expr)],
    mut otherwise: Option<&'a Expr>,
) -> (Vec<(&'a Expr, &'a Expr)>, Option<&'a Expr>) {
    let mut all: Vec<_> = branches.iter().map(|(c, r)| (c, r)).collect();
    while let Some(ExprKind::Case {
        branches,
        otherwise: rest,
    }) = otherwise.map(|o| &o.kind)
    {
        all.extend(branches.iter().map(|(c, r)| (c, r)));
        otherwise = rest.as_deref();
    }
    (all, otherwise)
}
