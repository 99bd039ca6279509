//! String functions: calls into the runtime, made only for values that are not NULL.

use crate::failures::FailurePoint;
use crate::objects::ObjectSpec;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::{self, InstBuilder, types};
use frazil_plan::{Expr, ExprKind, ScalarFunction};
use frazil_runtime::functions::Function;
use frazil_types::{Error, NativeType, Result, StringRef};

/// The size of a string in memory.
const STRING_BYTES: usize = size_of::<StringRef>();

impl Translator<'_, '_> {
    /// LIKE.
    pub fn like(
        &mut self,
        value: &Expr,
        pattern: &str,
        escape: Option<char>,
        negated: bool,
    ) -> Result<SqlValue> {
        let v = self.text_argument(value)?;
        let spec = ObjectSpec::Like {
            pattern: pattern.to_string(),
            escape,
        };
        let mut found = self.where_valid(v.valid, NativeType::Bool, |t| {
            let pattern = t.object(spec);
            let place = t.spill(v.value);
            let found = t.call_value(Function::Like, &[pattern, place])?;
            Ok(t.b.ins().ireduce(types::I8, found))
        })?;
        if negated {
            found.value = self.not(found.value);
        }
        Ok(found)
    }

    /// A text; a char(1) as the text of its character.
    fn text_argument(&mut self, e: &Expr) -> Result<SqlValue> {
        let v = self.expression(e)?;
        if !e.ty.is_code_point() {
            return Ok(v);
        }
        self.where_valid(v.valid, NativeType::String, |t| {
            t.call_out(Function::CodePointToText, &[v.value], NativeType::String)
        })
    }

    /// A function of strings.
    pub fn string_function(
        &mut self,
        e: &Expr,
        function: ScalarFunction,
        arguments: &[Expr],
    ) -> Result<SqlValue> {
        let arguments = match function {
            ScalarFunction::Concat => joined_texts(arguments),
            _ => arguments.iter().collect(),
        };
        let mut values = Vec::with_capacity(arguments.len());
        let mut valid = None;
        for argument in arguments {
            let v = if argument.ty.is_string() {
                self.text_argument(argument)?
            } else {
                self.expression(argument)?
            };
            valid = self.both(valid, v.valid);
            values.push(v);
        }
        let native = e.ty.native();
        if function == ScalarFunction::Concat {
            return self.where_valid(valid, native, |t| t.concatenated(&values));
        }
        if let (ScalarFunction::Length, [text]) = (function, &values[..]) {
            // The scan gives the number where nothing else of the text is needed: see `counted_texts`.
            if text.native == NativeType::I64 {
                return Ok(self.coerce(*text, native));
            }
            return self.where_valid(valid, native, |t| t.length(text.value, native));
        }
        self.where_valid(valid, native, |t| {
            let places: Vec<ir::Value> = values
                .iter()
                .map(|v| match v.native {
                    NativeType::String => t.spill(v.value),
                    _ => t.coerce(*v, NativeType::I64).value,
                })
                .collect();
            t.call_string_function(e, function, &places)
        })
    }

    /// The number of characters of a text. Its reference goes by value: see `abi`.
    fn length(&mut self, text: ir::Value, native: NativeType) -> Result<ir::Value> {
        let (head, tail) = self.b.ins().isplit(text);
        let wide = self.call_value(Function::StringLength, &[head, tail])?;
        Ok(self
            .coerce(SqlValue::certain(wide, NativeType::I64), native)
            .value)
    }

    /// All texts one behind the other, by one call.
    fn concatenated(&mut self, parts: &[SqlValue]) -> Result<ir::Value> {
        let places = self.stack_array(parts.len() * STRING_BYTES);
        for (at, part) in parts.iter().enumerate() {
            self.store(part.value, places, (at * STRING_BYTES) as i32);
        }
        let count = self.word(parts.len() as u64);
        let arguments = [self.context, places, count];
        self.call_out_checked(
            Function::Concat,
            &arguments,
            NativeType::String,
            FailurePoint::CALL,
        )
    }

    fn call_string_function(
        &mut self,
        e: &Expr,
        function: ScalarFunction,
        places: &[ir::Value],
    ) -> Result<ir::Value> {
        use ScalarFunction::*;
        let native = NativeType::String;
        let context = self.context;
        match function {
            Position => {
                let wide = self.call_value(Function::Position, places)?;
                Ok(self
                    .coerce(SqlValue::certain(wide, NativeType::I64), e.ty.native())
                    .value)
            }
            Substring => {
                let length = match places.get(2) {
                    Some(&length) => length,
                    None => self.word(i64::MAX as u64),
                };
                let args = [places[0], places[1], length];
                self.call_out_checked(Function::Substring, &args, native, FailurePoint::SUBSTRING)
            }
            Lower => {
                self.call_out_checked(Function::Lower, &[context, places[0]], native, FailurePoint::CALL)
            }
            Upper => {
                self.call_out_checked(Function::Upper, &[context, places[0]], native, FailurePoint::CALL)
            }
            Trim | TrimStart | TrimEnd => {
                let sides = match function {
                    TrimStart => 1,
                    TrimEnd => 2,
                    _ => 3,
                };
                let characters = match places.get(1) {
                    Some(&characters) => characters,
                    None => {
                        let blank = self.text(" ");
                        self.spill(blank)
                    }
                };
                let sides = self.small(sides);
                self.call_out(Function::Trim, &[places[0], characters, sides], native)
            }
            Replace => {
                let args = [context, places[0], places[1], places[2]];
                self.call_out_checked(Function::Replace, &args, native, FailurePoint::CALL)
            }
            other => Err(Error::unsupported(format!("the function {other:?}"))),
        }
    }
}

/// What is joined, in order, where what is joined is itself joined of texts: `a || b || c`.
fn joined_texts(arguments: &[Expr]) -> Vec<&Expr> {
    let mut waiting: Vec<&Expr> = arguments.iter().rev().collect();
    let mut texts = Vec::with_capacity(arguments.len());
    while let Some(e) = waiting.pop() {
        if let ExprKind::Function(ScalarFunction::Concat, parts) = &e.kind {
            waiting.extend(parts.iter().rev());
        } else {
            texts.push(e);
        }
    }
    texts
}
