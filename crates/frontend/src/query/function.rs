//! Calls of functions.

use super::Translator;
use super::expression::{Context, is_null, not};
use super::typing::constant_of;
use crate::functions::{self, Meaning};
use crate::{HiddenParameter, vector_function};
use datafusion_expr::expr::ScalarFunction as DfFunction;
use frazil_plan::{ArithmeticOp, DatePart, Expr, ExprKind, ScalarFunction};
use frazil_types::{CompareOp, Error, LogicalType, Result, Span, SqlState, Value};

const INTEGER: LogicalType = LogicalType::Integer;

/// 42883 for a function without such arguments.
fn no_function(name: &str, arguments: &[Expr]) -> Error {
    let types: Vec<String> = arguments.iter().map(|a| a.ty.to_string()).collect();
    Error::new(
        SqlState::UNDEFINED_FUNCTION,
        format!("function {name}({}) does not exist", types.join(", ")),
    )
}

impl Translator {
    pub(super) fn function(&mut self, cx: &mut Context, f: &DfFunction) -> Result<Expr> {
        let mut arguments = f
            .args
            .iter()
            .map(|a| self.expression(cx, a))
            .collect::<Result<Vec<_>>>()?;
        if let (Some(ty), 1) = (functions::cast_target(&f.func), arguments.len()) {
            return self.explicit_cast(arguments.remove(0), ty);
        }
        let Some(named) = functions::named(&f.func) else {
            return vector_function::call(&f.func, arguments, &self.typing);
        };
        let (least, most) = named.arguments;
        if !(least..=most).contains(&arguments.len()) {
            return Err(no_function(f.func.name(), &arguments));
        }
        match named.meaning {
            Meaning::Scalar(function) => self.scalar(f.func.name(), function, arguments),
            Meaning::Concat => self.concat(arguments),
            Meaning::ConcatSkippingNull => {
                for argument in &mut arguments {
                    let text = self.typing.cast(argument.clone(), LogicalType::Text)?;
                    *argument = self.or_else(
                        text,
                        Expr::constant(Value::Text(String::new()), LogicalType::Text),
                    )?;
                }
                self.concat(arguments)
            }
            Meaning::DatePart => self.date_part(arguments),
            Meaning::Coalesce => {
                let last = arguments
                    .pop()
                    .ok_or_else(|| Error::internal("coalesce of nothing"))?;
                let mut out = last;
                for e in arguments.into_iter().rev() {
                    out = self.or_else(e, out)?;
                }
                Ok(out)
            }
            Meaning::NullIf => {
                let second = arguments.remove(1);
                let first = arguments.remove(0);
                let equal = self.typing.compare(CompareOp::Eq, first.clone(), second)?;
                let null = Expr::constant(Value::Null, first.ty);
                self.make_case(vec![equal], vec![null], first)
            }
            Meaning::Greatest => self.extreme(CompareOp::Ge, arguments),
            Meaning::Least => self.extreme(CompareOp::Le, arguments),
            Meaning::Mod => {
                let second = arguments.remove(1);
                self.typing
                    .arithmetic(ArithmeticOp::Rem, arguments.remove(0), second)
            }
            Meaning::DateDifference => self.date_difference(arguments),
            Meaning::DatePlusDays | Meaning::DateMinusDays => {
                let days = arguments.remove(1);
                let minus = named.meaning == Meaning::DateMinusDays;
                self.typing.date_plus_days(arguments.remove(0), days, minus)
            }
            Meaning::Now => Ok(self.hidden_parameter(HiddenParameter::Now)),
            Meaning::CurrentDate => Ok(self.hidden_parameter(HiddenParameter::CurrentDate)),
            Meaning::StartsWith => self.starts_with(arguments),
            Meaning::DateTrunc => self.date_trunc(arguments),
        }
    }

    /// coalesce of two.
    fn or_else(&self, first: Expr, second: Expr) -> Result<Expr> {
        if constant_of(&first) == Some(&Value::Null) {
            let ty = self.typing.common_type(&[&first, &second], "COALESCE")?;
            return self.typing.cast(second, ty);
        }
        if !first.nullable {
            let ty = self.typing.common_type(&[&first, &second], "COALESCE")?;
            return self.typing.cast(first, ty);
        }
        let never_null = !second.nullable;
        let mut case = self.make_case(vec![not(is_null(first.clone()))], vec![first], second)?;
        case.nullable &= !never_null;
        Ok(case)
    }

    /// greatest and least: NULL arguments do not count.
    fn extreme(&self, op: CompareOp, arguments: Vec<Expr>) -> Result<Expr> {
        let ty = self
            .typing
            .common_type(&arguments.iter().collect::<Vec<_>>(), "GREATEST")?;
        let mut out: Option<Expr> = None;
        for e in arguments {
            let e = self.typing.cast(e, ty)?;
            out = Some(match out {
                None => e,
                Some(best) => {
                    let wins = self.typing.compare(op, best.clone(), e.clone())?;
                    let mut conditions = vec![wins];
                    let mut results = vec![best.clone()];
                    if e.nullable {
                        conditions.push(is_null(e.clone()));
                        results.push(best);
                    }
                    self.make_case(conditions, results, e)?
                }
            });
        }
        out.ok_or_else(|| Error::internal("greatest of nothing"))
    }

    fn concat(&self, arguments: Vec<Expr>) -> Result<Expr> {
        let mut parts = Vec::new();
        for e in arguments {
            let e = self.typing.cast(e, LogicalType::Text)?;
            match e.kind {
                ExprKind::Function(ScalarFunction::Concat, inner) => parts.extend(inner),
                _ => parts.push(e),
            }
        }
        if parts.iter().any(|p| constant_of(p) == Some(&Value::Null)) {
            return Ok(Expr::constant(Value::Null, LogicalType::Text));
        }
        let texts: Option<Vec<&str>> = parts
            .iter()
            .map(|p| constant_of(p).and_then(Value::as_text))
            .collect();
        if let Some(texts) = texts {
            return Ok(Expr::constant(Value::Text(texts.concat()), LogicalType::Text));
        }
        Ok(call(ScalarFunction::Concat, parts, LogicalType::Text))
    }

    fn scalar(&self, name: &str, function: ScalarFunction, arguments: Vec<Expr>) -> Result<Expr> {
        use ScalarFunction as S;
        let text = LogicalType::Text;
        let types: &[LogicalType] = match function {
            S::Substring => &[text, INTEGER, INTEGER],
            S::Length | S::Lower | S::Upper => &[text],
            S::Trim | S::TrimStart | S::TrimEnd | S::Position => &[text, text],
            S::Replace => &[text, text, text],
            S::Sqrt | S::Ln | S::Exp => &[LogicalType::Double],
            S::Power => &[LogicalType::Double, LogicalType::Double],
            S::Abs | S::Round | S::Ceil | S::Floor => return self.numeric(name, function, arguments),
            S::Concat => return self.concat(arguments),
            S::Single => return Err(no_function(name, &arguments)),
        };
        let takes_text = types[0] == text;
        let fits = |e: &Expr, ty: &LogicalType| {
            self.typing.is_untyped(e)
                || match ty {
                    LogicalType::Text => e.ty.is_string(),
                    LogicalType::Double => e.ty.is_numeric(),
                    _ => e.ty.is_integer(),
                }
        };
        if !arguments.iter().zip(types).all(|(e, ty)| fits(e, ty)) {
            return Err(no_function(name, &arguments));
        }
        let cast = arguments.into_iter().zip(types).map(|(e, ty)| {
            // Strings of any declared length are texts already.
            if *ty == text && e.ty.is_string() && e.ty != LogicalType::Char(1) && !self.typing.is_untyped(&e)
            {
                return Ok(e);
            }
            self.typing.cast(e, *ty)
        });
        let arguments = cast.collect::<Result<Vec<_>>>()?;
        let ty = match function {
            S::Length | S::Position => INTEGER,
            _ if takes_text => text,
            _ => LogicalType::Double,
        };
        Ok(call(function, arguments, ty))
    }

    /// abs, round, ceil and floor: exact numbers stay exact.
    fn numeric(&self, name: &str, function: ScalarFunction, mut arguments: Vec<Expr>) -> Result<Expr> {
        use ScalarFunction as S;
        if self.typing.is_untyped(&arguments[0]) {
            arguments[0] = self.typing.cast(arguments[0].clone(), LogicalType::Double)?;
        }
        let ty = arguments[0].ty;
        if !ty.is_numeric() {
            return Err(no_function(name, &arguments));
        }
        let digits = match arguments.get(1) {
            None => 0,
            Some(e) => match constant_of(e) {
                Some(Value::Int(n)) if e.ty.is_integer() => (*n).clamp(-38, 38),
                _ => {
                    return Err(Error::unsupported(
                        "round to a number of digits that is no constant",
                    ));
                }
            },
        };
        let integer = ty.is_integer();
        if function == S::Abs || integer && digits >= 0 {
            let unchanged = integer && function != S::Abs;
            return Ok(if unchanged {
                arguments.remove(0)
            } else {
                call(function, arguments, ty)
            });
        }
        let LogicalType::Decimal { precision, scale } = ty else {
            if digits != 0 || integer {
                return Err(Error::unsupported(format!("{name} of {ty} to {digits} digits"))
                    .with_hint("cast the value to decimal"));
            }
            arguments.truncate(1);
            return Ok(call(function, arguments, ty));
        };
        if digits < 0 {
            return Err(Error::unsupported(format!(
                "{name} to a negative number of digits"
            )));
        }
        let kept = (digits as u8).min(scale);
        let ty = LogicalType::Decimal {
            precision: (precision - scale + kept + u8::from(kept < scale)).clamp(1, 38),
            scale: kept,
        };
        if function == S::Round {
            // Half away from zero, which is what a cast to fewer digits does.
            return self.typing.cast(arguments.remove(0), ty);
        }
        arguments.truncate(1);
        Ok(call(function, arguments, ty))
    }

    fn date_part(&self, mut arguments: Vec<Expr>) -> Result<Expr> {
        let value = arguments.remove(1);
        let Some(Value::Text(part)) = constant_of(&arguments[0]) else {
            return Err(Error::unsupported("date_part of a field that is no constant"));
        };
        let part = match part.to_ascii_lowercase().as_str() {
            "year" | "years" => DatePart::Year,
            "quarter" => DatePart::Quarter,
            "month" | "months" => DatePart::Month,
            "week" | "weeks" => DatePart::Week,
            "day" | "days" => DatePart::Day,
            "dow" | "dayofweek" => DatePart::DayOfWeek,
            "doy" | "dayofyear" => DatePart::DayOfYear,
            "hour" | "hours" => DatePart::Hour,
            "minute" | "minutes" => DatePart::Minute,
            "second" | "seconds" => DatePart::Second,
            "epoch" => DatePart::Epoch,
            other => return Err(Error::unsupported(format!("EXTRACT({other})"))),
        };
        let value = match value.ty {
            LogicalType::Date | LogicalType::Timestamp => value,
            _ if self.typing.is_untyped(&value) => self.typing.cast(value, LogicalType::Timestamp)?,
            other => return Err(Error::unsupported(format!("EXTRACT from {other}"))),
        };
        let nullable = value.nullable;
        Ok(Expr {
            kind: ExprKind::Extract(part, Box::new(value)),
            ty: LogicalType::BigInt,
            nullable,
            span: Span::NONE,
        })
    }

    /// Days between two dates. Dates are day numbers, but no type has arithmetic on them: the epoch
    /// in seconds does, exactly.
    fn date_difference(&self, mut arguments: Vec<Expr>) -> Result<Expr> {
        let days = |e: Expr| -> Result<Expr> {
            if let Some(Value::Int(v)) = constant_of(&e) {
                return Ok(Expr::constant(Value::Int(*v), LogicalType::BigInt));
            }
            let nullable = e.nullable;
            let seconds = Expr {
                kind: ExprKind::Extract(DatePart::Epoch, Box::new(e)),
                ty: LogicalType::BigInt,
                nullable,
                span: Span::NONE,
            };
            let day = Expr::constant(Value::Int(86_400), LogicalType::BigInt);
            self.typing.arithmetic(ArithmeticOp::Div, seconds, day)
        };
        let second = days(arguments.remove(1))?;
        let first = days(arguments.remove(0))?;
        let difference = self.typing.arithmetic(ArithmeticOp::Sub, first, second)?;
        self.typing.cast(difference, INTEGER)
    }

    fn starts_with(&self, mut arguments: Vec<Expr>) -> Result<Expr> {
        let prefix = arguments.remove(1);
        let value = self.typing.cast(arguments.remove(0), LogicalType::Text)?;
        let Some(Value::Text(prefix)) = constant_of(&prefix) else {
            return Err(Error::unsupported("starts_with a text that is no constant"));
        };
        let mut pattern = String::new();
        for c in prefix.chars() {
            if matches!(c, '%' | '_' | '\\') {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        pattern.push('%');
        let nullable = value.nullable;
        let kind = ExprKind::Like {
            value: Box::new(value),
            pattern,
            escape: Some('\\'),
            negated: false,
        };
        Ok(Expr::boolean(kind, nullable))
    }

    fn date_trunc(&self, mut arguments: Vec<Expr>) -> Result<Expr> {
        let value = self.typing.cast(arguments.remove(1), LogicalType::Timestamp)?;
        let Some(Value::Text(unit)) = constant_of(&arguments[0]) else {
            return Err(Error::unsupported("date_trunc to a unit that is no constant"));
        };
        vector_function::date_trunc(unit, value)
    }
}

/// A call, NULL where an argument is.
fn call(function: ScalarFunction, arguments: Vec<Expr>, ty: LogicalType) -> Expr {
    let nullable = arguments.iter().any(|a| a.nullable);
    Expr {
        kind: ExprKind::Function(function, arguments),
        ty,
        nullable,
        span: Span::NONE,
    }
}
