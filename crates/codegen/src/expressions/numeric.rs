//! Numerics without precision: the runtime computes them, from operands that are numerics, decimals or integers.

use crate::failures::FailurePoint;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir;
use frazil_plan::{ArithmeticOp, Expr, ScalarFunction};
use frazil_runtime::functions::{Function, OWN_SCALE, operation_code};
use frazil_types::{Error, LogicalType, NativeType, Result};

impl Translator<'_, '_> {
    /// `a op b` as a numeric, the operands with their types.
    pub fn numeric_arithmetic(
        &mut self,
        op: ArithmeticOp,
        (a_ty, a): (LogicalType, SqlValue),
        (b_ty, b): (LogicalType, SqlValue),
    ) -> Result<SqlValue> {
        let valid = self.both(a.valid, b.valid);
        self.where_valid(valid, NativeType::String, |t| {
            let op = t.small(operation_code(op));
            let (a, a_scale) = t.exact_operand(a, a_ty);
            let (b, b_scale) = t.exact_operand(b, b_ty);
            let arguments = [t.context, op, a, a_scale, b, b_scale];
            let function = Function::NumericArithmetic;
            t.call_out_checked(function, &arguments, NativeType::String, FailurePoint::CALL)
        })
    }

    /// The nearest number of the scale of `e` that is not above a numeric, or not below it.
    pub fn numeric_bound(&mut self, e: &Expr, value: &Expr, function: ScalarFunction) -> Result<SqlValue> {
        let v = self.expression(value)?;
        let above = u32::from(function == ScalarFunction::CeilToScale);
        self.where_valid(v.valid, NativeType::I128, |t| {
            let place = t.spill(v.value);
            let (scale, above) = (t.small(e.ty.scale().unwrap_or(0).into()), t.small(above));
            let arguments = [t.context, place, scale, above];
            t.call_out_checked(
                Function::NumericBound,
                &arguments,
                NativeType::I128,
                FailurePoint::CALL,
            )
        })
    }

    /// The bytes by which a numeric is ordered.
    pub fn numeric_key(&mut self, value: &Expr) -> Result<SqlValue> {
        let v = self.expression(value)?;
        self.where_valid(v.valid, NativeType::String, |t| {
            let place = t.spill(v.value);
            t.call_out(Function::NumericKey, &[place], NativeType::String)
        })
    }

    /// A decimal, the first argument, as a numeric with the second argument's number of digits after the point.
    pub fn numeric_with_scale(&mut self, arguments: &[Expr]) -> Result<SqlValue> {
        let [value, scale] = arguments else {
            return Err(Error::internal("a numeric without its number of digits"));
        };
        let (v, digits) = (self.expression(value)?, self.expression(scale)?);
        let valid = self.both(v.valid, digits.valid);
        self.where_valid(valid, NativeType::String, |t| {
            let (place, from) = t.exact_operand(v, value.ty);
            let digits = t.coerce(digits, NativeType::I32).value;
            let arguments = [t.context, place, from, digits];
            let function = Function::NumericWithScale;
            t.call_out_checked(function, &arguments, NativeType::String, FailurePoint::CALL)
        })
    }

    /// The place of an exact number on the stack, and its scale.
    fn exact_operand(&mut self, v: SqlValue, ty: LogicalType) -> (ir::Value, ir::Value) {
        match ty.scale() {
            Some(scale) => (self.wide_place(v), self.small(scale.into())),
            None => (self.spill(v.value), self.small(OWN_SCALE as u32)),
        }
    }
}
