//! Numeric functions.

use crate::failures::FailurePoint;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types};
use frazil_plan::{Expr, ExprKind, ScalarFunction};
use frazil_runtime::functions::Function;
use frazil_types::decimal::POWERS_OF_TEN;
use frazil_types::{Error, NativeType, Result, Value};

impl Translator<'_, '_> {
    /// A function that generated code knows.
    pub fn scalar_function(
        &mut self,
        e: &Expr,
        function: ScalarFunction,
        arguments: &[Expr],
    ) -> Result<SqlValue> {
        use ScalarFunction::*;
        let Some(first) = arguments.first() else {
            return Err(Error::internal(format!("{function:?} without arguments")));
        };
        match function {
            Abs => self.absolute(e, first),
            Round => self.round(e, first, arguments.get(1)),
            Ceil | Floor => self.whole(e, first, function),
            Compare(op) => self.compare_scales(op, arguments),
            FloorToScale | CeilToScale if first.ty.is_unscaled() => self.numeric_bound(e, first, function),
            FloorToScale | CeilToScale => self.rounded_to_scale(e, first, function),
            NumericKey => self.numeric_key(first),
            WithScale => self.numeric_with_scale(arguments),
            Sqrt => self.double_function(Function::Sqrt, arguments),
            Power => self.double_function(Function::Power, arguments),
            Ln => self.double_function(Function::Ln, arguments),
            Exp => self.double_function(Function::Exp, arguments),
            Single => self.single(first, arguments),
            Substring | Length | Lower | Upper | Concat | Trim | TrimStart | TrimEnd | Replace | Position => {
                self.string_function(e, function, arguments)
            }
        }
    }

    /// The value of a scalar subquery with so many rows.
    fn single(&mut self, value: &Expr, arguments: &[Expr]) -> Result<SqlValue> {
        let [_, rows] = arguments else {
            return Err(Error::internal("a single value without its number of rows"));
        };
        let rows = self.expression(rows)?;
        let mut several = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, rows.value, 1);
        if let Some(valid) = rows.valid {
            several = self.b.ins().band(several, valid);
        }
        self.fail_if(several, FailurePoint::SEVERAL_ROWS);
        self.expression(value)
    }

    fn double_function(&mut self, function: Function, arguments: &[Expr]) -> Result<SqlValue> {
        let mut valid = None;
        let mut values = vec![self.context];
        for argument in arguments {
            let mut v = self.expression(argument)?;
            if v.native != NativeType::F64 {
                v = self.exact_to_double(v, argument.ty)?;
            }
            valid = self.both(valid, v.valid);
            values.push(v.value);
        }
        self.where_valid(valid, NativeType::F64, |t| {
            t.call_out_checked(function, &values, NativeType::F64, FailurePoint::CALL)
        })
    }

    /// A decimal with fewer digits after the point, rounded down or up.
    fn rounded_to_scale(&mut self, e: &Expr, value: &Expr, function: ScalarFunction) -> Result<SqlValue> {
        let v = self.expression(value)?;
        let (native, up) = (self.form(e), function == ScalarFunction::CeilToScale);
        let drop = value.ty.scale().unwrap_or(0) - e.ty.scale().unwrap_or(0);
        let power = POWERS_OF_TEN[usize::from(drop)];
        if v.native.size() <= 8 && i64::try_from(power).is_ok() {
            let wide = self.coerce(v, NativeType::I64);
            let power = self.int(NativeType::I64, power);
            let quotient = self.b.ins().sdiv(wide.value, power);
            let rest = self.b.ins().srem(wide.value, power);
            // The quotient is rounded towards 0.
            let value = if up {
                let above = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, rest, 0);
                let above = self.b.ins().uextend(types::I64, above);
                self.b.ins().iadd(quotient, above)
            } else {
                let below = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, rest, 0);
                let below = self.b.ins().uextend(types::I64, below);
                self.b.ins().isub(quotient, below)
            };
            return Ok(self.coerce(SqlValue { value, ..wide }, native));
        }
        let function = if up {
            Function::DecimalCeil
        } else {
            Function::DecimalFloor
        };
        self.where_valid(v.valid, native, |t| {
            let place = t.wide_place(v);
            let drop = t.small(u32::from(drop));
            let wide = t.call_out(function, &[place, drop], NativeType::I128)?;
            Ok(t.coerce(SqlValue::certain(wide, NativeType::I128), native).value)
        })
    }

    /// round(value [, constant digits]).
    fn round(&mut self, e: &Expr, value: &Expr, digits: Option<&Expr>) -> Result<SqlValue> {
        let digits = match digits.map(|d| &d.kind) {
            None => 0,
            Some(ExprKind::Constant(Value::Int(d))) => i32::try_from(*d).unwrap_or(0),
            Some(ExprKind::Cast(inner)) => match inner.as_constant() {
                Some(Value::Int(d)) => i32::try_from(*d).unwrap_or(0),
                _ => return Err(Error::unsupported("round with digits that are not a constant")),
            },
            Some(_) => return Err(Error::unsupported("round with digits that are not a constant")),
        };
        let v = self.expression(value)?;
        if v.native == NativeType::F64 {
            let digits = self.small(digits as u32);
            let value = self.call_value(Function::DoubleRound, &[v.value, digits])?;
            return Ok(SqlValue { value, ..v });
        }
        let native = self.form(e);
        let from = i32::from(value.ty.scale().unwrap_or(0));
        let to = i32::from(e.ty.scale().unwrap_or(0));
        let precision = e.ty.decimal_digits().map_or(38, |(precision, _)| precision);
        let point = FailurePoint::range(e.ty);
        self.where_valid(v.valid, native, |t| {
            // To the digits asked for first, then to the scale of the result.
            let mut place = t.wide_place(v);
            let precision = t.small(u32::from(precision));
            let most = t.small(38);
            let kept = digits.min(from);
            let mut at = from;
            if kept < from {
                let (x, y) = (t.small(from as u32), t.small(kept as u32));
                let rounded = t.call_out_checked(
                    Function::DecimalRescale,
                    &[place, x, y, most],
                    NativeType::I128,
                    point,
                )?;
                place = t.spill(rounded);
                at = kept;
            }
            let (x, y) = (t.small(at as u32), t.small(to as u32));
            let wide = t.call_out_checked(
                Function::DecimalRescale,
                &[place, x, y, precision],
                NativeType::I128,
                point,
            )?;
            Ok(t.coerce(SqlValue::certain(wide, NativeType::I128), native).value)
        })
    }

    /// ceil and floor.
    fn whole(&mut self, e: &Expr, value: &Expr, function: ScalarFunction) -> Result<SqlValue> {
        let v = self.expression(value)?;
        let up = function == ScalarFunction::Ceil;
        if v.native == NativeType::F64 {
            let value = if up {
                self.b.ins().ceil(v.value)
            } else {
                self.b.ins().floor(v.value)
            };
            return Ok(SqlValue { value, ..v });
        }
        let native = self.form(e);
        let scale = value.ty.scale().unwrap_or(0);
        let function = if up {
            Function::DecimalCeil
        } else {
            Function::DecimalFloor
        };
        let to = e.ty.scale().unwrap_or(0);
        let point = FailurePoint::range(e.ty);
        self.where_valid(v.valid, native, |t| {
            let place = t.wide_place(v);
            let scale = t.small(u32::from(scale));
            let mut wide = t.call_out(function, &[place, scale], NativeType::I128)?;
            if to > 0 {
                let place = t.spill(wide);
                let (zero, to, most) = (t.small(0), t.small(u32::from(to)), t.small(38));
                wide = t.call_out_checked(
                    Function::DecimalRescale,
                    &[place, zero, to, most],
                    NativeType::I128,
                    point,
                )?;
            }
            t.fit(wide, e.ty);
            Ok(t.coerce(SqlValue::certain(wide, NativeType::I128), native).value)
        })
    }
}
