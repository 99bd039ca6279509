//! Casts. Integers, decimals and doubles among each other are inline where bounds allow; texts go
//! through the runtime.

use crate::failures::FailurePoint;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use frazil_plan::bounds;
use frazil_plan::{Expr, ExprKind};
use frazil_runtime::functions::Function;
use frazil_types::date::MICROS_PER_DAY;
use frazil_types::decimal::POWERS_OF_TEN;
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
        match (from, to) {
            (f, t) if f.scale().is_some() && t.scale().is_some() => self.cast_exact(v, inner, e),
            (f, LogicalType::Double) if f.scale().is_some() => self.exact_to_double(v, f),
            (LogicalType::Double, t) if t.is_integer() => self.double_to_integer(v, t),
            (LogicalType::Double, LogicalType::Decimal { precision, scale }) => {
                self.double_to_decimal(v, precision, scale, native, to)
            }
            (LogicalType::Boolean, t) if t.is_integer() => {
                let value = self.b.ins().uextend(types::I64, v.value);
                Ok(self.coerce(
                    SqlValue {
                        value,
                        native: NativeType::I64,
                        ..v
                    },
                    native,
                ))
            }
            (f, LogicalType::Boolean) if f.is_integer() => {
                let value = self.b.ins().icmp_imm_s(IntCC::NotEqual, v.value, 0);
                Ok(SqlValue { value, native, ..v })
            }
            (LogicalType::Date, LogicalType::Timestamp) => {
                let days = self.b.ins().sextend(types::I64, v.value);
                let day = self.word(MICROS_PER_DAY as u64);
                let (value, overflow) = self.b.ins().smul_overflow(days, day);
                let overflow = match v.valid {
                    Some(valid) => self.b.ins().band(overflow, valid),
                    None => overflow,
                };
                self.fail_if(overflow, FailurePoint::range(to));
                Ok(SqlValue { value, native, ..v })
            }
            (LogicalType::Timestamp, LogicalType::Date) => {
                let day = self.word(MICROS_PER_DAY as u64);
                let quotient = self.b.ins().sdiv(v.value, day);
                let rest = self.b.ins().srem(v.value, day);
                let before = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, rest, 0);
                let before = self.b.ins().uextend(types::I64, before);
                let days = self.b.ins().isub(quotient, before);
                let value = self.b.ins().ireduce(types::I32, days);
                Ok(SqlValue { value, native, ..v })
            }
            (LogicalType::Date, t) | (t, LogicalType::Date) if t.is_integer() => {
                Ok(self.cast_small(v, native, to == LogicalType::BigInt, to))
            }
            (f, t) if t.is_string() && t != LogicalType::Char(1) => self.cast_to_text(v, f, t),
            (f, LogicalType::Char(1)) if f.is_string() => self.where_valid(v.valid, native, |t| {
                let place = t.spill(v.value);
                let args = [t.context, place];
                t.call_out_checked(Function::TextToCodePoint, &args, native, FailurePoint::CALL)
            }),
            (f, t) if f.is_string() => self.cast_from_text(v, f, t, native),
            (f, t) => Err(Error::unsupported(format!("a cast from {f} to {t}"))),
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
        let (precision, ty) = match e.ty {
            LogicalType::Decimal { precision, .. } => (precision, None),
            ty => (38, Some(ty)),
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
        if !(matches!(ty, LogicalType::Decimal { precision, .. } if precision <= 15)) {
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

    fn double_to_decimal(
        &mut self,
        v: SqlValue,
        precision: u8,
        scale: u8,
        native: NativeType,
        to: LogicalType,
    ) -> Result<SqlValue> {
        self.where_valid(v.valid, native, |t| {
            let [precision, scale] = [precision, scale].map(|d| t.small(u32::from(d)));
            let args = [v.value, precision, scale];
            let point = FailurePoint::range(to);
            let wide = t.call_out_checked(Function::DoubleToDecimal, &args, NativeType::I128, point)?;
            Ok(t.coerce(SqlValue::certain(wide, NativeType::I128), native).value)
        })
    }

    fn cast_to_text(&mut self, v: SqlValue, from: LogicalType, to: LogicalType) -> Result<SqlValue> {
        let native = NativeType::String;
        let limit = match to {
            LogicalType::Varchar(n) | LogicalType::Char(n) => Some(n),
            _ => None,
        };
        let shorter = match (from, to) {
            (LogicalType::Char(f), LogicalType::Char(t) | LogicalType::Varchar(t)) => f <= t,
            // To char(n) it loses the blanks at its end.
            (LogicalType::Varchar(f), LogicalType::Varchar(t)) => f <= t,
            _ => false,
        };
        if from.is_string() && from != LogicalType::Char(1) && (limit.is_none() || shorter) {
            return Ok(SqlValue { native, ..v });
        }
        self.where_valid(v.valid, native, |t| {
            let text = if from.is_string() && from != LogicalType::Char(1) {
                v.value
            } else {
                t.text_of(v, from)?
            };
            let Some(limit) = limit else { return Ok(text) };
            let place = t.spill(text);
            let limit = t.small(limit);
            let is_char = t.small(u32::from(matches!(to, LogicalType::Char(_))));
            let args = [t.context, place, limit, is_char];
            t.call_out_checked(Function::FitText, &args, native, FailurePoint::CALL)
        })
    }

    /// The text of a value that is not NULL.
    fn text_of(&mut self, v: SqlValue, from: LogicalType) -> Result<ir::Value> {
        let native = NativeType::String;
        let context = self.context;
        let point = FailurePoint::CALL;
        let (function, args) = match from {
            LogicalType::Char(1) => return self.call_out(Function::CodePointToText, &[v.value], native),
            LogicalType::Boolean => {
                let wide = self.b.ins().uextend(types::I32, v.value);
                (Function::BooleanToText, vec![context, wide])
            }
            LogicalType::SmallInt | LogicalType::Integer | LogicalType::BigInt => {
                let wide = self.coerce(v, NativeType::I64);
                (Function::IntegerToText, vec![context, wide.value])
            }
            LogicalType::Decimal { scale, .. } => {
                let place = self.wide_place(v);
                let scale = self.small(u32::from(scale));
                (Function::DecimalToText, vec![context, place, scale])
            }
            LogicalType::Double => (Function::DoubleToText, vec![context, v.value]),
            LogicalType::Date => (Function::DateToText, vec![context, v.value]),
            LogicalType::Timestamp => (Function::TimestampToText, vec![context, v.value]),
            LogicalType::Interval => {
                let place = self.spill(v.value);
                (Function::IntervalToText, vec![context, place])
            }
            LogicalType::Char(_) | LogicalType::Varchar(_) | LogicalType::Text => return Ok(v.value),
        };
        self.call_out_checked(function, &args, native, point)
    }

    fn cast_from_text(
        &mut self,
        v: SqlValue,
        from: LogicalType,
        to: LogicalType,
        native: NativeType,
    ) -> Result<SqlValue> {
        self.where_valid(v.valid, native, |t| {
            let text = if from == LogicalType::Char(1) {
                t.text_of(v, from)?
            } else {
                v.value
            };
            let place = t.spill(text);
            let context = t.context;
            let point = FailurePoint::CALL;
            let mut args = vec![context, place];
            let (function, out) = match to {
                LogicalType::Boolean => (Function::TextToBoolean, NativeType::Bool),
                LogicalType::SmallInt | LogicalType::Integer | LogicalType::BigInt => {
                    args.push(t.small(to.native().size() as u32 * 8));
                    (Function::TextToInteger, NativeType::I64)
                }
                LogicalType::Decimal { precision, scale } => {
                    args.extend([precision, scale].map(|d| t.small(u32::from(d))));
                    (Function::TextToDecimal, NativeType::I128)
                }
                LogicalType::Double => (Function::TextToDouble, NativeType::F64),
                LogicalType::Date => (Function::TextToDate, NativeType::I32),
                LogicalType::Timestamp => (Function::TextToTimestamp, NativeType::I64),
                to => return Err(Error::unsupported(format!("a cast from {from} to {to}"))),
            };
            let value = t.call_out_checked(function, &args, out, point)?;
            Ok(t.coerce(SqlValue::certain(value, out), native).value)
        })
    }
}
