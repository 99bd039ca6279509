//! Casts, as the table in `types/value_ops/casts.rs` has them. Integers, decimals and doubles among each other are inline
//! where bounds allow; texts go through the runtime.

use crate::failures::FailurePoint;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use frazil_plan::bounds;
use frazil_plan::{Expr, ExprKind};
use frazil_runtime::functions::Function;
use frazil_types::date::{
    INFINITE_DAY, INFINITE_MICROS, MICROS_PER_DAY, MINUS_INFINITE_DAY, MINUS_INFINITE_MICROS,
};
use frazil_types::decimal::POWERS_OF_TEN;
use frazil_types::logical_type::WITHOUT_LENGTH;
use frazil_types::value_ops::casts::{self, CastMethod};
use frazil_types::{Error, LogicalType, NativeType, Result, Value};

impl Translator<'_, '_> {
    /// A cast to the type of `e`.
    pub fn cast(&mut self, e: &Expr, inner: &Expr) -> Result<SqlValue> {
        let native = self.form(e);
        if inner.kind == ExprKind::Constant(Value::Null) {
            return Ok(self.null(native));
        }
        let v = self.expression(inner)?;
        let (from, to) = (inner.ty, e.ty);
        if from == to {
            return Ok(self.coerce(v, native));
        }
        let Some(cast) = casts::between(from, to) else {
            return Err(Error::internal(format!("a cast from {from} to {to}")));
        };
        match cast.method {
            CastMethod::Keep => Ok(SqlValue { native, ..v }),
            CastMethod::ExactToDouble if from.is_unscaled() => self.cast_by_call(v, from, to, native),
            CastMethod::Rescale => self.cast_exact(v, inner, e),
            CastMethod::ExactToDouble => self.exact_to_double(v, from),
            CastMethod::DoubleToInteger => self.double_to_integer(v, to),
            CastMethod::DoubleToReal => Ok(self.double_to_real(v, to)),
            CastMethod::ExactToReal
            | CastMethod::ExactToNumeric
            | CastMethod::NumericToExact
            | CastMethod::DoubleToDecimal
            | CastMethod::RealToDecimal
            | CastMethod::Round
            | CastMethod::MicrosToTime
            | CastMethod::LocalToInstant
            | CastMethod::InstantToLocal
            | CastMethod::TimeToInterval
            | CastMethod::IntervalToTime
            | CastMethod::OfJson
            | CastMethod::OidOf => self.cast_by_call(v, from, to, native),
            CastMethod::Fit if from.is_code_point() => self.cast_to_text(v, from, to),
            CastMethod::Fit if keeps_all(from, to) => Ok(SqlValue { native, ..v }),
            CastMethod::Fit => self.where_valid(v.valid, native, |t| t.fitted(v.value, to)),
            CastMethod::Write => self.cast_to_text(v, from, to),
            CastMethod::Read => self.cast_from_text(v, from, to, native),
            // Vector functions cast elements.
            CastMethod::Elements => Err(Error::internal("a cast of arrays in generated code")),
            CastMethod::DaysToMicros => self.days_to_micros(v, self.proved(e)),
            CastMethod::MicrosToDays => Ok(self.micros_to_days(v)),
            CastMethod::BooleanToInteger => {
                let value = self.b.ins().uextend(types::I64, v.value);
                let wide = SqlValue {
                    value,
                    native: NativeType::I64,
                    ..v
                };
                Ok(self.coerce(wide, native))
            }
            CastMethod::IntegerToBoolean => {
                let value = self.b.ins().icmp_imm_s(IntCC::NotEqual, v.value, 0);
                Ok(SqlValue { value, native, ..v })
            }
            CastMethod::DayNumber => {
                if !self.proved(e) {
                    let (infinite, before) = (
                        self.is_day(v.value, INFINITE_DAY),
                        self.is_day(v.value, MINUS_INFINITE_DAY),
                    );
                    let infinite = self.b.ins().bor(infinite, before);
                    self.fail_where(infinite, v.valid, FailurePoint::infinite_day(to));
                }
                Ok(self.coerce(v, native))
            }
        }
    }

    /// A date as the timestamp of its midnight. `fits`: no check is needed.
    pub fn days_to_micros(&mut self, v: SqlValue, fits: bool) -> Result<SqlValue> {
        let native = NativeType::I64;
        let days = self.b.ins().sextend(types::I64, v.value);
        let day = self.word(MICROS_PER_DAY as u64);
        if fits {
            let value = self.b.ins().imul(days, day);
            return Ok(SqlValue { value, native, ..v });
        }
        let (value, overflow) = self.b.ins().smul_overflow(days, day);
        let (after, before) = (
            self.is_day(v.value, INFINITE_DAY),
            self.is_day(v.value, MINUS_INFINITE_DAY),
        );
        let infinite = self.b.ins().bor(after, before);
        let finite = self.b.ins().icmp_imm_s(IntCC::Equal, infinite, 0);
        let overflow = self.b.ins().band(overflow, finite);
        self.fail_where(overflow, v.valid, FailurePoint::NO_MIDNIGHT);
        let (last, first) = (
            self.word(INFINITE_MICROS as u64),
            self.word(MINUS_INFINITE_MICROS as u64),
        );
        let value = self.b.ins().select(after, last, value);
        let value = self.b.ins().select(before, first, value);
        Ok(SqlValue { value, native, ..v })
    }

    /// Whether a date is some day.
    fn is_day(&mut self, date: ir::Value, day: i32) -> ir::Value {
        self.b.ins().icmp_imm_s(IntCC::Equal, date, i64::from(day))
    }

    /// A timestamp's day.
    fn micros_to_days(&mut self, v: SqlValue) -> SqlValue {
        let day = self.word(MICROS_PER_DAY as u64);
        let quotient = self.b.ins().sdiv(v.value, day);
        let rest = self.b.ins().srem(v.value, day);
        let before = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, rest, 0);
        let before = self.b.ins().uextend(types::I64, before);
        let days = self.b.ins().isub(quotient, before);
        let mut value = self.b.ins().ireduce(types::I32, days);
        for (micros, day) in [
            (INFINITE_MICROS, INFINITE_DAY),
            (MINUS_INFINITE_MICROS, MINUS_INFINITE_DAY),
        ] {
            let infinite = self.b.ins().icmp_imm_s(IntCC::Equal, v.value, micros);
            let day = self.small(day as u32);
            value = self.b.ins().select(infinite, day, value);
        }
        SqlValue {
            value,
            native: NativeType::I32,
            ..v
        }
    }

    /// Between integers and decimals.
    fn cast_exact(&mut self, v: SqlValue, inner: &Expr, e: &Expr) -> Result<SqlValue> {
        let native = self.form(e);
        let (from, to) = (inner.ty.scale().unwrap_or(0), e.ty.scale().unwrap_or(0));
        let within = self.proved(e);
        let point = FailurePoint::range(e.ty);
        if from == to && v.native != NativeType::I128 && native != NativeType::I128 {
            return Ok(self.cast_small(v, native, within, e.ty));
        }
        if to >= from && within {
            let power = POWERS_OF_TEN[usize::from(to - from)];
            let wide = self.coerce(v, native);
            if power == 1 {
                return Ok(wide);
            }
            let factor = self.int(native, power);
            let value = self.b.ins().imul(wide.value, factor);
            return Ok(SqlValue { value, ..wide });
        }
        let (precision, ty) = match e.ty.decimal_digits() {
            Some((precision, _)) => (precision, None),
            None => (38, Some(e.ty)),
        };
        self.where_valid(v.valid, native, |t| {
            let place = t.wide_place(v);
            let [from, to, precision] = [from, to, precision].map(|d| t.small(u32::from(d)));
            let wide = t.call_out_checked(
                Function::DecimalRescale,
                &[place, from, to, precision],
                NativeType::I128,
                point,
            )?;
            let wide = SqlValue::certain(wide, NativeType::I128);
            if let Some(ty) = ty {
                t.check_integer(wide, ty);
            }
            Ok(t.coerce(wide, native).value)
        })
    }

    /// Between integers of up to 64 bits.
    fn cast_small(&mut self, v: SqlValue, native: NativeType, fits: bool, ty: LogicalType) -> SqlValue {
        if !fits && native.size() < 16 {
            let wide = self.coerce(v, NativeType::I64);
            self.check_integer(wide, ty);
        }
        self.coerce(v, native)
    }

    /// Fails where an integer is outside a type. A NULL's value is some value of its own type, so it is
    /// let pass by its validity.
    fn check_integer(&mut self, v: SqlValue, ty: LogicalType) {
        let Some(b) = bounds::of_type(ty) else { return };
        let (min, max) = (self.int(v.native, b.min), self.int(v.native, b.max));
        let below = self.icmp(IntCC::SignedLessThan, v.value, min);
        let above = self.icmp(IntCC::SignedGreaterThan, v.value, max);
        let mut outside = self.b.ins().bor(below, above);
        if let Some(valid) = v.valid {
            outside = self.b.ins().band(outside, valid);
        }
        self.fail_if(outside, FailurePoint::range(ty));
    }

    /// An integer or decimal as a double.
    pub fn exact_to_double(&mut self, v: SqlValue, ty: LogicalType) -> Result<SqlValue> {
        let native = NativeType::F64;
        let scale = ty.scale().unwrap_or(0);
        if v.native == NativeType::I128 || scale > 22 {
            return self.where_valid(v.valid, native, |t| {
                let place = t.wide_place(v);
                let scale = t.small(u32::from(scale));
                t.call_value(Function::DecimalToDouble, &[place, scale])
            });
        }
        let wide = self.coerce(v, NativeType::I64);
        let exact = self.b.ins().fcvt_from_sint(types::F64, wide.value);
        if scale == 0 {
            return Ok(SqlValue {
                value: exact,
                native,
                ..v
            });
        }
        if ty.decimal_digits().is_none_or(|(precision, _)| precision > 15) {
            // Above 2^53 the conversion itself would round, and the quotient again.
            return self.where_valid(v.valid, native, |t| {
                let place = t.wide_place(v);
                let scale = t.small(u32::from(scale));
                t.call_value(Function::DecimalToDouble, &[place, scale])
            });
        }
        let power = self.b.ins().f64const(POWERS_OF_TEN[usize::from(scale)] as f64);
        let value = self.b.ins().fdiv(exact, power);
        Ok(SqlValue { value, native, ..v })
    }

    fn double_to_integer(&mut self, v: SqlValue, to: LogicalType) -> Result<SqlValue> {
        let native = to.native();
        let Some(b) = bounds::of_type(to) else {
            return Err(Error::internal(format!("{to} has no bounds")));
        };
        self.where_valid(v.valid, native, |t| {
            let (min, max) = (t.word(b.min as u64), t.word(b.max as u64));
            let point = FailurePoint::range(to);
            let args = [v.value, min, max];
            let wide = t.call_out_checked(Function::DoubleToInteger, &args, NativeType::I64, point)?;
            Ok(t.coerce(SqlValue::certain(wide, NativeType::I64), native).value)
        })
    }

    /// A double as the nearest real; 22003 where that is infinite, or 0, and the double is not.
    fn double_to_real(&mut self, v: SqlValue, to: LogicalType) -> SqlValue {
        let narrow = self.b.ins().fdemote(types::F32, v.value);
        let value = self.b.ins().fpromote(types::F64, narrow);
        let infinity = self.b.ins().f64const(f64::INFINITY);
        let differs = self.b.ins().fcmp(FloatCC::NotEqual, value, v.value);
        let magnitude = self.b.ins().fabs(value);
        let overflow = self.b.ins().fcmp(FloatCC::Equal, magnitude, infinity);
        let overflow = self.b.ins().band(overflow, differs);
        self.fail_where(overflow, v.valid, FailurePoint::range(to));
        let zero = self.b.ins().f64const(0.0);
        let lost = self.b.ins().fcmp(FloatCC::Equal, value, zero);
        let lost = self.b.ins().band(lost, differs);
        self.fail_where(lost, v.valid, FailurePoint::UNDERFLOW);
        SqlValue { value, ..v }
    }

    /// A cast that `value_ops` does, of a value that is not a text to a type that is not text.
    fn cast_by_call(
        &mut self,
        v: SqlValue,
        from: LogicalType,
        to: LogicalType,
        native: NativeType,
    ) -> Result<SqlValue> {
        self.where_valid(v.valid, native, |t| {
            let words = t.words(v);
            let args = [t.context, t.spill(words), t.word(from.code()), t.word(to.code())];
            let value = t.call_out_checked(Function::CastValue, &args, to.native(), FailurePoint::CALL)?;
            Ok(t.coerce(SqlValue::certain(value, to.native()), native).value)
        })
    }

    /// What a string type keeps of a text that is not NULL.
    fn fitted(&mut self, text: ir::Value, to: LogicalType) -> Result<ir::Value> {
        if to.is_code_point() {
            return self.read(text, to);
        }
        let args = [self.context, self.spill(text), self.word(to.code())];
        self.call_out_checked(Function::FitText, &args, NativeType::String, FailurePoint::CALL)
    }

    fn cast_to_text(&mut self, v: SqlValue, from: LogicalType, to: LogicalType) -> Result<SqlValue> {
        self.where_valid(v.valid, to.native(), |t| {
            let text = t.text_of(v, from)?;
            match bounds_texts(to) {
                true => t.fitted(text, to),
                false => Ok(text),
            }
        })
    }

    /// The text of a value that is not NULL.
    fn text_of(&mut self, v: SqlValue, from: LogicalType) -> Result<ir::Value> {
        if from.is_text() {
            return Ok(v.value);
        }
        if from.is_code_point() {
            return self.call_out(Function::CodePointToText, &[v.value], NativeType::String);
        }
        let wide = self.words(v);
        let args = [self.context, self.spill(wide), self.word(from.code())];
        self.call_out_checked(
            Function::ValueToText,
            &args,
            NativeType::String,
            FailurePoint::CALL,
        )
    }

    /// The 16 bytes of a value, or of the reference of a string.
    pub fn words(&mut self, v: SqlValue) -> ir::Value {
        match v.native {
            NativeType::F64 => {
                let bits = self.b.ins().bitcast(types::I64, MemFlagsData::new(), v.value);
                self.b.ins().uextend(types::I128, bits)
            }
            NativeType::Bool => self.b.ins().uextend(types::I128, v.value),
            NativeType::String => v.value,
            NativeType::I16 | NativeType::I32 | NativeType::I64 | NativeType::I128 => {
                self.coerce(v, NativeType::I128).value
            }
        }
    }

    fn cast_from_text(
        &mut self,
        v: SqlValue,
        from: LogicalType,
        to: LogicalType,
        native: NativeType,
    ) -> Result<SqlValue> {
        self.where_valid(v.valid, native, |t| {
            let text = t.text_of(v, from)?;
            let value = t.read(text, to)?;
            Ok(t.coerce(SqlValue::certain(value, to.native()), native).value)
        })
    }

    /// The value of a type that a text shows, in the type's native form.
    fn read(&mut self, text: ir::Value, to: LogicalType) -> Result<ir::Value> {
        let args = [self.context, self.spill(text), self.word(to.code())];
        self.call_out_checked(Function::TextToValue, &args, to.native(), FailurePoint::CALL)
    }
}

/// True of string types that a text may be too long for: those with a length, and `name` and "char", which cut it.
fn bounds_texts(ty: LogicalType) -> bool {
    ty.length() != Some(WITHOUT_LENGTH)
}

/// Whether a string type keeps each text of another one as it is.
fn keeps_all(from: LogicalType, to: LogicalType) -> bool {
    // To char(n) a text loses the blanks at its end.
    let keeps_blanks = from.is_padded() || !to.is_padded();
    match (from.length(), to.length()) {
        (_, Some(WITHOUT_LENGTH)) => keeps_blanks,
        (Some(f), Some(t)) => keeps_blanks && f <= t,
        (None, _) | (_, None) => false,
    }
}
