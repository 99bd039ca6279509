//! Dates and timestamps.

use crate::failures::FailurePoint;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use frazil_plan::{DatePart, Expr};
use frazil_runtime::functions::{Function, date_part_code};
use frazil_types::date::{INFINITE_DAY, INFINITE_MICROS, MINUS_INFINITE_DAY, MINUS_INFINITE_MICROS};
use frazil_types::{Error, Interval, NativeType, Result};

impl Translator<'_, '_> {
    /// EXTRACT.
    pub fn extract(&mut self, part: DatePart, inner: &Expr) -> Result<SqlValue> {
        let mut v = self.expression(inner)?;
        let function = match inner.ty {
            day if day.is_day() => Function::DatePart,
            time if time.is_local_time() => Function::TimestampPart,
            other => return Err(Error::unsupported(format!("EXTRACT from {other}"))),
        };
        if !part.grows() {
            v = self.null_where_infinite(v, inner.ty.is_day());
        }
        self.where_valid(v.valid, NativeType::I64, |t| {
            let code = t.small(date_part_code(part));
            t.call_value(function, &[code, v.value])
        })
    }

    /// A date, or a timestamp, that is NULL if it is infinite.
    fn null_where_infinite(&mut self, v: SqlValue, is_day: bool) -> SqlValue {
        let (first, last) = match is_day {
            true => (MINUS_INFINITE_DAY.into(), INFINITE_DAY.into()),
            false => (MINUS_INFINITE_MICROS, INFINITE_MICROS),
        };
        let after = self.b.ins().icmp_imm_s(IntCC::NotEqual, v.value, first);
        let before = self.b.ins().icmp_imm_s(IntCC::NotEqual, v.value, last);
        let finite = self.b.ins().band(after, before);
        let valid = match v.valid {
            Some(valid) => self.b.ins().band(valid, finite),
            None => finite,
        };
        v.with_valid(Some(valid))
    }

    /// A date or timestamp plus an interval.
    pub fn add_interval(&mut self, e: &Expr, inner: &Expr, interval: Interval) -> Result<SqlValue> {
        let mut v = self.expression(inner)?;
        if inner.ty.is_day() && e.ty.is_local_time() {
            v = self.days_to_micros(v, false)?;
        }
        let function = match e.ty {
            day if day.is_day() => Function::DateAdd,
            time if time.is_local_time() => Function::TimestampAdd,
            other => return Err(Error::unsupported(format!("{other} plus an interval"))),
        };
        let native = e.ty.native();
        self.where_valid(v.valid, native, |t| {
            let months = t.small(interval.months as u32);
            let days = t.small(interval.days as u32);
            let micros = t.word(interval.micros as u64);
            let point = FailurePoint::range(e.ty);
            t.call_out_checked(function, &[v.value, months, days, micros], native, point)
        })
    }
}
