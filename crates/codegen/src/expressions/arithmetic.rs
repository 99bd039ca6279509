//! Arithmetic. The value bounds of the result decide: what is proved to fit is one plain instruction, all else
//! is computed exactly and checked against its type. Decimals that need more than 64 bits are computed in 128.

use crate::failures::FailurePoint;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use frazil_plan::bounds;
use frazil_plan::{ArithmeticOp, Expr};
use frazil_runtime::functions::Function;
use frazil_types::logical_type::DECIMAL_MAX_DIGITS;
use frazil_types::{Error, LogicalType, NativeType, Result};

impl Translator<'_, '_> {
    /// Binary arithmetic.
    pub fn arithmetic(&mut self, e: &Expr, op: ArithmeticOp, l: &Expr, r: &Expr) -> Result<SqlValue> {
        let (a, b) = (self.expression(l)?, self.expression(r)?);
        match e.ty.native() {
            _ if e.ty.is_unscaled() => self.numeric_arithmetic(op, (l.ty, a), (r.ty, b)),
            NativeType::F64 => self.double_arithmetic(op, e.ty, a, b),
            _ if e.ty.decimal_digits().is_some() => self.decimal_arithmetic(e, op, a, b),
            native if native.is_integer() => self.integer_arithmetic(e, op, r, a, b),
            _ => Err(Error::unsupported(format!("{} of {}", op.symbol(), e.ty))),
        }
    }

    /// Whether the exact result lies within the type, so that no check is needed.
    pub fn proved(&self, e: &Expr) -> bool {
        self.known(e).proved().is_some()
    }

    fn integer_arithmetic(
        &mut self,
        e: &Expr,
        op: ArithmeticOp,
        divisor: &Expr,
        a: SqlValue,
        b: SqlValue,
    ) -> Result<SqlValue> {
        let native = e.ty.native();
        let (a, b) = (self.coerce(a, native), self.coerce(b, native));
        let valid = self.both(a.valid, b.valid);
        let value = match op {
            ArithmeticOp::Div | ArithmeticOp::Rem => return self.integer_division(e, op, divisor, a, b),
            _ if self.proved(e) => self.plain(op, a.value, b.value),
            _ => {
                let (value, overflow) = match op {
                    ArithmeticOp::Add => self.b.ins().sadd_overflow(a.value, b.value),
                    ArithmeticOp::Sub => self.b.ins().ssub_overflow(a.value, b.value),
                    _ => self.b.ins().smul_overflow(a.value, b.value),
                };
                self.fail_where(overflow, valid, FailurePoint::range(e.ty));
                value
            }
        };
        Ok(SqlValue { value, valid, native })
    }

    /// Fails where the condition holds for a value that is not NULL.
    pub fn fail_where(&mut self, condition: ir::Value, valid: Option<ir::Value>, point: FailurePoint) {
        let condition = match valid {
            Some(valid) => self.b.ins().band(condition, valid),
            None => condition,
        };
        self.fail_if(condition, point);
    }

    fn plain(&mut self, op: ArithmeticOp, a: ir::Value, b: ir::Value) -> ir::Value {
        match op {
            ArithmeticOp::Add => self.b.ins().iadd(a, b),
            ArithmeticOp::Sub => self.b.ins().isub(a, b),
            _ => self.b.ins().imul(a, b),
        }
    }

    fn integer_division(
        &mut self,
        e: &Expr,
        op: ArithmeticOp,
        divisor: &Expr,
        a: SqlValue,
        b: SqlValue,
    ) -> Result<SqlValue> {
        let native = a.native;
        let valid = self.both(a.valid, b.valid);
        let range = self.known(divisor).range();
        let may_be = |v: i128| range.is_none_or(|b| b.contains(v));
        let mut by = b.value;
        let one = self.int(native, 1);
        if may_be(0) {
            let zero = self.b.ins().icmp_imm_s(IntCC::Equal, by, 0);
            self.fail_where(zero, valid, FailurePoint::DIVISION);
        }
        if let Some(valid) = b.valid {
            // Bounds say nothing of a NULL: its value may be 0, at which the machine's division traps.
            by = self.b.ins().select(valid, by, one);
        }
        if valid.is_some() && may_be(0) {
            // Under a NULL dividend a division by 0 is no failure, but traps as well.
            let zero = self.b.ins().icmp_imm_s(IntCC::Equal, by, 0);
            by = self.b.ins().select(zero, one, by);
        }
        if may_be(-1) {
            let minus = self.b.ins().icmp_imm_s(IntCC::Equal, by, -1);
            if op == ArithmeticOp::Div {
                let least = self.int(native, -1 << (native.size() * 8 - 1));
                let least = self.icmp(IntCC::Equal, a.value, least);
                let overflow = self.b.ins().band(minus, least);
                self.fail_where(overflow, valid, FailurePoint::range(e.ty));
                if valid.is_some() {
                    by = self.b.ins().select(overflow, one, by);
                }
            } else {
                // The machine's division overflows where the remainder is 0.
                by = self.b.ins().select(minus, one, by);
            }
        }
        let value = match op {
            ArithmeticOp::Div => self.b.ins().sdiv(a.value, by),
            _ => self.b.ins().srem(a.value, by),
        };
        Ok(SqlValue { value, valid, native })
    }

    fn double_arithmetic(
        &mut self,
        op: ArithmeticOp,
        ty: LogicalType,
        a: SqlValue,
        b: SqlValue,
    ) -> Result<SqlValue> {
        let valid = self.both(a.valid, b.valid);
        if matches!(op, ArithmeticOp::Div | ArithmeticOp::Rem) {
            let zero = self.b.ins().f64const(0.0);
            let by_zero = self.b.ins().fcmp(FloatCC::Equal, b.value, zero);
            // NaN divided by anything is NaN.
            let number = self.b.ins().fcmp(FloatCC::Ordered, a.value, a.value);
            let by_zero = self.b.ins().band(by_zero, number);
            self.fail_where(by_zero, valid, FailurePoint::DIVISION);
        }
        let value = match op {
            ArithmeticOp::Add => self.b.ins().fadd(a.value, b.value),
            ArithmeticOp::Sub => self.b.ins().fsub(a.value, b.value),
            ArithmeticOp::Mul => self.b.ins().fmul(a.value, b.value),
            ArithmeticOp::Div => self.b.ins().fdiv(a.value, b.value),
            ArithmeticOp::Rem => self.call_value(Function::DoubleRem, &[a.value, b.value])?,
        };
        if op != ArithmeticOp::Rem {
            self.check_double(op, (value, ty), a, b, valid);
        }
        Ok(SqlValue::certain(value, NativeType::F64).with_valid(valid))
    }

    /// 22003 if doubles gave a result beyond the range of doubles. Operands are looked at only if the result is
    /// infinite or NaN, or 0 after a multiplication or division: all other results cost one test.
    fn check_double(
        &mut self,
        op: ArithmeticOp,
        (value, ty): (ir::Value, LogicalType),
        a: SqlValue,
        b: SqlValue,
        valid: Option<ir::Value>,
    ) {
        let (odd, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(odd);
        let bits = self.b.ins().bitcast(types::I64, MemFlagsData::new(), value);
        // Without their sign, infinity and NaN are the greatest bits, and those of 0 less one are, too.
        let magnitude = self.b.ins().ishl_imm_u(bits, 1);
        let infinity = f64::INFINITY.to_bits() << 1;
        let may_vanish = matches!(op, ArithmeticOp::Mul | ArithmeticOp::Div);
        let (magnitude, least) = match may_vanish {
            true => (self.b.ins().iadd_imm_s(magnitude, -1), infinity - 1),
            false => (magnitude, infinity),
        };
        let is_odd = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, magnitude, least as i64);
        self.branch(is_odd, odd, on);
        self.enter(odd);
        self.check_overflow((value, ty), a, b, valid);
        if may_vanish {
            self.check_underflow(op, value, a, b, valid);
        }
        self.jump(on, &[]);
        self.enter(on);
    }

    /// 22003 where finite doubles gave an infinite one.
    fn check_overflow(
        &mut self,
        (value, ty): (ir::Value, LogicalType),
        a: SqlValue,
        b: SqlValue,
        valid: Option<ir::Value>,
    ) {
        let infinity = self.b.ins().f64const(f64::INFINITY);
        let infinite = |t: &mut Self, v: ir::Value| {
            let magnitude = t.b.ins().fabs(v);
            t.b.ins().fcmp(FloatCC::Equal, magnitude, infinity)
        };
        let result = infinite(self, value);
        let (a, b) = (infinite(self, a.value), infinite(self, b.value));
        let before = self.b.ins().bor(a, b);
        let finite = self.not(before);
        let overflow = self.b.ins().band(result, finite);
        self.fail_where(overflow, valid, FailurePoint::range(ty));
    }

    /// 22003 where a product or quotient of numbers other than 0 became 0.
    fn check_underflow(
        &mut self,
        op: ArithmeticOp,
        value: ir::Value,
        a: SqlValue,
        b: SqlValue,
        valid: Option<ir::Value>,
    ) {
        let limit = match op {
            ArithmeticOp::Div => f64::INFINITY,
            _ => 0.0,
        };
        let (zero, limit) = (self.b.ins().f64const(0.0), self.b.ins().f64const(limit));
        let lost = self.b.ins().fcmp(FloatCC::Equal, value, zero);
        let some = self.b.ins().fcmp(FloatCC::NotEqual, a.value, zero);
        // A factor other than 0, a divisor that is not infinite.
        let magnitude = self.b.ins().fabs(b.value);
        let other = self.b.ins().fcmp(FloatCC::NotEqual, magnitude, limit);
        let lost = self.b.ins().band(lost, some);
        let lost = self.b.ins().band(lost, other);
        self.fail_where(lost, valid, FailurePoint::UNDERFLOW);
    }

    fn decimal_arithmetic(
        &mut self,
        e: &Expr,
        op: ArithmeticOp,
        a: SqlValue,
        b: SqlValue,
    ) -> Result<SqlValue> {
        let valid = self.both(a.valid, b.valid);
        let native = self.form(e);
        match op {
            ArithmeticOp::Div => Err(Error::internal("a quotient of decimals that is not a numeric")),
            ArithmeticOp::Rem => self.where_valid(valid, native, |t| {
                let (x, y) = (t.wide_place(a), t.wide_place(b));
                let point = FailurePoint::DIVISION;
                let rest = t.call_out_checked(Function::DecimalRem, &[x, y], NativeType::I128, point)?;
                t.fit(rest, e.ty);
                Ok(t.coerce(SqlValue::certain(rest, NativeType::I128), native).value)
            }),
            _ if self.proved(e) => {
                // The result fits, so that nothing is lost where operands are cut to the bits that matter.
                let (a, b) = (self.coerce(a, native), self.coerce(b, native));
                let value = self.plain(op, a.value, b.value);
                Ok(SqlValue { value, valid, native })
            }
            _ => self.checked_decimal(e.ty, op, a, b, valid),
        }
    }

    /// Decimals whose result may have more digits than its type.
    fn checked_decimal(
        &mut self,
        ty: LogicalType,
        op: ArithmeticOp,
        a: SqlValue,
        b: SqlValue,
        valid: Option<ir::Value>,
    ) -> Result<SqlValue> {
        let native = NativeType::I128;
        let point = FailurePoint::range(ty);
        let narrow = a.native != native && b.native != native;
        let wide = if op == ArithmeticOp::Mul && !narrow {
            self.where_valid(valid, native, |t| {
                let (x, y) = (t.wide_place(a), t.wide_place(b));
                let product = t.call_out_checked(Function::DecimalMul, &[x, y], native, point)?;
                t.fit(product, ty);
                Ok(product)
            })?
        } else {
            let (x, y) = (self.coerce(a, native).value, self.coerce(b, native).value);
            // Two values held in 64 bits give at most 127: no bit is lost. A wrapped sum of wider ones has a sign
            // that neither has.
            let value = self.plain(op, x, y);
            let mut beyond = self.beyond(value, ty);
            if !narrow {
                let y = match op {
                    ArithmeticOp::Sub => self.b.ins().bnot(y),
                    _ => y,
                };
                let wrapped = self.sign_overflow(x, y, value);
                beyond = self.b.ins().bor(beyond, wrapped);
            }
            self.fail_where(beyond, valid, point);
            SqlValue { value, valid, native }
        };
        Ok(self.coerce(wide, ty.native()))
    }

    /// Whether `sum = a + b` wrapped: both have a sign that the sum has not.
    fn sign_overflow(&mut self, a: ir::Value, b: ir::Value, sum: ir::Value) -> ir::Value {
        let ((_, a), (_, b), (_, s)) = (
            self.b.ins().isplit(a),
            self.b.ins().isplit(b),
            self.b.ins().isplit(sum),
        );
        let x = self.b.ins().bxor(a, s);
        let y = self.b.ins().bxor(b, s);
        let both = self.b.ins().band(x, y);
        self.b.ins().icmp_imm_s(IntCC::SignedLessThan, both, 0)
    }

    /// Whether a value held in 128 bits is outside a type.
    pub fn beyond(&mut self, value: ir::Value, ty: LogicalType) -> ir::Value {
        let Some(range) = bounds::of_type(ty) else {
            return self.byte(false);
        };
        let (most, least) = (
            self.int(NativeType::I128, range.max),
            self.int(NativeType::I128, range.min),
        );
        let above = self.icmp(IntCC::SignedGreaterThan, value, most);
        let below = self.icmp(IntCC::SignedLessThan, value, least);
        self.b.ins().bor(above, below)
    }

    /// Fails where a decimal of up to 38 digits, held in 128 bits, has more than its type.
    pub fn fit(&mut self, value: ir::Value, ty: LogicalType) {
        if !matches!(ty.decimal_digits(), Some((DECIMAL_MAX_DIGITS, _))) {
            let beyond = self.beyond(value, ty);
            self.fail_if(beyond, FailurePoint::range(ty));
        }
    }

    /// A decimal or integer on the stack as 128 bits; its address.
    pub fn wide_place(&mut self, v: SqlValue) -> ir::Value {
        let wide = self.coerce(v, NativeType::I128);
        self.spill(wide.value)
    }

    /// Unary minus.
    pub fn negate(&mut self, e: &Expr, inner: &Expr) -> Result<SqlValue> {
        let v = self.expression(inner)?;
        if v.native == NativeType::F64 {
            let value = self.b.ins().fneg(v.value);
            return Ok(SqlValue { value, ..v });
        }
        let native = self.form(e);
        let v = self.coerce(v, native);
        if e.ty.decimal_digits().is_some() || self.proved(e) {
            let value = self.b.ins().ineg(v.value);
            return Ok(SqlValue { value, ..v });
        }
        let zero = self.int(native, 0);
        let (value, overflow) = self.b.ins().ssub_overflow(zero, v.value);
        self.fail_where(overflow, v.valid, FailurePoint::range(e.ty));
        Ok(SqlValue { value, ..v })
    }

    /// Absolute value.
    pub fn absolute(&mut self, e: &Expr, inner: &Expr) -> Result<SqlValue> {
        let v = self.expression(inner)?;
        if v.native == NativeType::F64 {
            let value = self.b.ins().fabs(v.value);
            return Ok(SqlValue { value, ..v });
        }
        let v = self.coerce(v, self.form(e));
        let zero = self.int(v.native, 0);
        let negative = self.icmp(IntCC::SignedLessThan, v.value, zero);
        let minus = self.b.ins().isub(zero, v.value);
        let value = self.b.ins().select(negative, minus, v.value);
        if e.ty.decimal_digits().is_none() {
            // Only the least integer has no positive counterpart.
            let overflow = self.icmp(IntCC::SignedLessThan, value, zero);
            self.fail_where(overflow, v.valid, FailurePoint::range(e.ty));
        }
        Ok(SqlValue { value, ..v })
    }
}
