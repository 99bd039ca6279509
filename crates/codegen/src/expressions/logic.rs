//! Kleene logic. Predicates that decide where a row goes are translated to branches: there NULL needs no
//! value, and what a conjunct guards is not computed. As values, AND and OR are computed without branches
//! where their parts are cheap and cannot fail.

use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::{self, Block, BlockArg, InstBuilder, types};
use frazil_plan::{Expr, ExprKind};
use frazil_types::{CompareOp, Result};

impl Translator<'_, '_> {
    /// Goes to `yes` where the predicate is definitely `wanted` (true or false), to `no` where it is the
    /// other or NULL. Ends the current block.
    pub fn branch_on(&mut self, e: &Expr, wanted: bool, yes: Block, no: Block) -> Result<()> {
        match &e.kind {
            ExprKind::Not(inner) => self.branch_on(inner, !wanted, yes, no),
            // All parts must be as wanted: true for AND, false for OR.
            ExprKind::And(parts) if wanted => self.branch_all(parts, wanted, yes, no),
            ExprKind::Or(parts) if !wanted => self.branch_all(parts, wanted, yes, no),
            ExprKind::And(parts) | ExprKind::Or(parts) => self.branch_any(parts, wanted, yes, no),
            ExprKind::Let { column, value, body } => {
                self.with(*column, value, |t| t.branch_on(body, wanted, yes, no))
            }
            _ => {
                let v = self.expression(e)?;
                let mut condition = v.value;
                if !wanted {
                    condition = self.not(condition);
                }
                if let Some(valid) = v.valid {
                    condition = self.b.ins().band(condition, valid);
                }
                self.branch(condition, yes, no);
                Ok(())
            }
        }
    }

    fn branch_all(&mut self, parts: &[Expr], wanted: bool, yes: Block, no: Block) -> Result<()> {
        let Some((last, first)) = parts.split_last() else {
            self.jump(yes, &[]);
            return Ok(());
        };
        for part in first {
            let next = self.b.create_block();
            self.branch_on(part, wanted, next, no)?;
            self.b.switch_to_block(next);
        }
        self.branch_on(last, wanted, yes, no)
    }

    fn branch_any(&mut self, parts: &[Expr], wanted: bool, yes: Block, no: Block) -> Result<()> {
        let Some((last, first)) = parts.split_last() else {
            self.jump(no, &[]);
            return Ok(());
        };
        let mark = self.scope.mark();
        for part in first {
            let next = self.b.create_block();
            self.branch_on(part, wanted, yes, next)?;
            // `yes` is reached from several parts: nothing loaded on the way is there for sure.
            self.scope.back_to(mark);
            self.b.switch_to_block(next);
        }
        self.branch_on(last, wanted, yes, no)?;
        self.scope.back_to(mark);
        Ok(())
    }

    /// AND as a value.
    pub fn conjunction(&mut self, e: &Expr, parts: &[Expr]) -> Result<SqlValue> {
        if parts.iter().all(is_cheap) {
            return self.eager(parts, true);
        }
        self.one_by_one(e, parts, true)
    }

    /// OR as a value.
    pub fn disjunction(&mut self, e: &Expr, parts: &[Expr]) -> Result<SqlValue> {
        if parts.iter().all(is_cheap) {
            return self.eager(parts, false);
        }
        self.one_by_one(e, parts, false)
    }

    /// Folds the parts: `neutral` is true for AND, false for OR.
    fn eager(&mut self, parts: &[Expr], neutral: bool) -> Result<SqlValue> {
        let mut all: Option<SqlValue> = None;
        for part in parts {
            let part = self.expression(part)?;
            all = Some(match all {
                Some(so_far) => self.fold_truth(so_far, part, neutral),
                None => part,
            });
        }
        let neutral = self.byte(neutral);
        Ok(all.unwrap_or(SqlValue::truth(neutral)))
    }

    fn fold_truth(&mut self, a: SqlValue, b: SqlValue, and: bool) -> SqlValue {
        if a.valid.is_none() && b.valid.is_none() {
            let value = if and {
                self.b.ins().band(a.value, b.value)
            } else {
                self.b.ins().bor(a.value, b.value)
            };
            return SqlValue::truth(value);
        }
        // The dominating value decides even beside NULL: false for AND, true for OR.
        let ((at, af), (bt, bf)) = (self.sides(a), self.sides(b));
        let (t, f) = if and {
            (self.b.ins().band(at, bt), self.b.ins().bor(af, bf))
        } else {
            (self.b.ins().bor(at, bt), self.b.ins().band(af, bf))
        };
        let valid = self.b.ins().bor(t, f);
        SqlValue::truth(t).with_valid(Some(valid))
    }

    /// Whether a truth value is definitely true, and definitely false.
    fn sides(&mut self, v: SqlValue) -> (ir::Value, ir::Value) {
        let not = self.not(v.value);
        match v.valid {
            Some(valid) => (self.b.ins().band(v.value, valid), self.b.ins().band(not, valid)),
            None => (v.value, not),
        }
    }

    /// AND (`neutral` is true) or OR as a value, part by part until one decides. Each part is translated once: what it
    /// holds may be such a value again.
    fn one_by_one(&mut self, e: &Expr, parts: &[Expr], neutral: bool) -> Result<SqlValue> {
        let nullable = self.may_be_null(e);
        let merge = self.block(&[types::I8, types::I8]);
        let mark = self.scope.mark();
        let (other, neutral_value, one) = (self.byte(!neutral), self.byte(neutral), self.byte(true));
        // Whether no part so far was NULL.
        let mut known = None;
        for part in parts {
            let v = self.expression(part)?;
            let mut decides = if neutral { self.not(v.value) } else { v.value };
            if let Some(valid) = v.valid {
                decides = self.b.ins().band(decides, valid);
            }
            known = self.both(known, v.valid);
            let next = self.b.create_block();
            let decided: [BlockArg; 2] = [other.into(), one.into()];
            self.b.ins().brif(decides, merge, &decided, next, &[]);
            self.b.switch_to_block(next);
        }
        self.jump(merge, &[neutral_value, known.unwrap_or(one)]);
        // Only what was loaded before the first part is there for sure.
        self.scope.back_to(mark);
        let values = self.enter(merge);
        Ok(SqlValue::truth(values[0]).with_valid(nullable.then_some(values[1])))
    }

    /// Whether an expression's value may be NULL where it is computed.
    pub fn may_be_null(&mut self, e: &Expr) -> bool {
        let place = std::ptr::from_ref(e);
        if let Some(&known) = self.nullable.get(&place) {
            return known;
        }
        let own = match &e.kind {
            ExprKind::Column(id) => self.unit.layouts.nullable(*id),
            ExprKind::Parameter(_) | ExprKind::ScalarSubquery(_) => true,
            ExprKind::Case { otherwise, .. } => otherwise.is_none(),
            ExprKind::Constant(_)
            | ExprKind::Subquery(_)
            | ExprKind::Let { .. }
            | ExprKind::Compare(..)
            | ExprKind::Distinct { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Not(_)
            | ExprKind::IsNull(_)
            | ExprKind::Arithmetic(..)
            | ExprKind::Negate(_)
            | ExprKind::Cast(_)
            | ExprKind::Like { .. }
            | ExprKind::InList { .. }
            | ExprKind::Extract(..)
            | ExprKind::AddInterval(..)
            | ExprKind::Function(..)
            | ExprKind::VectorFunction(..) => e.nullable,
        };
        let nullable = own || e.children().into_iter().any(|part| self.may_be_null(part));
        self.nullable.insert(place, nullable);
        nullable
    }
}

/// Whether computing it costs less than a mispredicted branch, and cannot fail.
pub(super) fn is_cheap(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Column(_)
        | ExprKind::Constant(_)
        | ExprKind::Parameter(_)
        | ExprKind::ScalarSubquery(_) => true,
        ExprKind::Compare(op, l, r) => {
            let order = l.ty.is_string() && !matches!(op, CompareOp::Eq | CompareOp::Ne);
            is_cheap(l) && is_cheap(r) && !order && l.ty.native() != frazil_types::NativeType::String
        }
        ExprKind::Not(inner) | ExprKind::IsNull(inner) => is_cheap(inner),
        ExprKind::And(parts) | ExprKind::Or(parts) => parts.len() < 4 && parts.iter().all(is_cheap),
        _ => false,
    }
}
