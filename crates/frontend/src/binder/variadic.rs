//! VARIADIC in a call: an array as the last arguments of a function that takes any number of them.

use super::expression::row_span;
use super::{Binder, error};
use crate::parse::VARIADIC;
use frazil_functions::{CastContext, Operand};
use frazil_types::{Error, Kind, LogicalType, Result, Span, SqlState};
use sqlparser::ast::Expr as SqlExpr;

/// What a function makes of an array of its last arguments.
#[derive(Clone, Copy)]
enum Meaning {
    /// The texts of its elements, with a text between them: the argument before, or none.
    Joined,
    /// What an operator makes of a document, which is the argument before and of the type of a name, and a path.
    Path(&'static str, &'static str),
    /// The elements of `ARRAY[…]` are the arguments.
    Spread,
}

/// Functions of any number of arguments, and how many stand before the array.
const FUNCTIONS: &[(&str, usize, Meaning)] = &[
    ("concat", 0, Meaning::Joined),
    ("concat_ws", 1, Meaning::Joined),
    ("format", 1, Meaning::Spread),
    ("json_build_array", 0, Meaning::Spread),
    ("json_build_object", 0, Meaning::Spread),
    ("json_extract_path", 1, Meaning::Path("json", "#>")),
    ("json_extract_path_text", 1, Meaning::Path("json", "#>>")),
    ("jsonb_build_array", 0, Meaning::Spread),
    ("jsonb_build_object", 0, Meaning::Spread),
    ("jsonb_delete", 1, Meaning::Path("jsonb", "-")),
    ("jsonb_extract_path", 1, Meaning::Path("jsonb", "#>")),
    ("jsonb_extract_path_text", 1, Meaning::Path("jsonb", "#>>")),
    ("num_nonnulls", 0, Meaning::Spread),
    ("num_nulls", 0, Meaning::Spread),
];

/// The array of a call whose last argument is VARIADIC.
pub(super) fn variadic_array<'a>(arguments: &[&'a SqlExpr]) -> Option<&'a SqlExpr> {
    match arguments.last()? {
        SqlExpr::Prefixed { prefix, value } if prefix.value == VARIADIC => Some(value),
        _ => None,
    }
}

/// Error 42883.
fn missing(name: &str, given: &str, span: Span) -> Error {
    let message = format!("function {name}(VARIADIC {given}) does not exist");
    error(SqlState::UNDEFINED_FUNCTION, message, span)
}

impl<'a> Binder<'a> {
    /// A call whose arguments end with VARIADIC and an array. 42883 for a function that takes none there, 42804 for what is no array,
    /// 0A000 for an array whose elements are not known before rows are read where a function needs them one by one.
    pub(super) fn variadic_call(
        &mut self,
        name: &str,
        (before, array): (&[&'a SqlExpr], &'a SqlExpr),
        span: Span,
    ) -> Result<Operand> {
        let mut arguments = Vec::with_capacity(before.len());
        for argument in before {
            arguments.push(self.expression(argument)?);
        }
        let known = FUNCTIONS.iter().find(|f| f.0 == name && f.1 == before.len());
        let &(_, _, meaning) = known.ok_or_else(|| missing(name, "array", span))?;
        let (called, whole) = match (meaning, array) {
            (Meaning::Spread, SqlExpr::Array(array)) => {
                arguments.extend(self.spread(&array.elem)?);
                let whole = span.to(row_span(&arguments));
                (self.call_by_name(name, arguments, span)?, whole)
            }
            (meaning, array) => {
                let array = self.expression(array)?;
                let whole = span.to(array.span());
                (
                    self.of_array(name, meaning, (arguments.pop(), array), span)?,
                    whole,
                )
            }
        };
        Ok(called.at(whole))
    }

    /// A call with an array that becomes its last arguments, and the one argument before, if there is one.
    fn of_array(
        &mut self,
        name: &str,
        meaning: Meaning,
        (before, array): (Option<Operand>, Operand),
        span: Span,
    ) -> Result<Operand> {
        let element = array.ty().map(LogicalType::element);
        match (meaning, before, element) {
            (Meaning::Path(document, op), Some(x), None) => {
                let path = self.implicitly(array, "text[]")?;
                let x = self.implicitly(x, document)?;
                self.typing.infix(op, x, path, span, &mut self.columns)
            }
            (Meaning::Path(document, op), Some(x), Some(Some(ty))) if ty.is_string() => {
                let x = self.implicitly(x, document)?;
                self.typing.infix(op, x, array, span, &mut self.columns)
            }
            (Meaning::Path(..), ..) => {
                let given = array.ty().map_or("unknown".to_string(), |ty| ty.to_string());
                Err(missing(name, &given, span).with_hint("a path is an array of texts"))
            }
            (_, _, None | Some(None)) => {
                let message = "VARIADIC argument must be an array";
                Err(error(SqlState::DATATYPE_MISMATCH, message, array.span()))
            }
            (Meaning::Joined, between, _) => {
                let between = between.unwrap_or_else(|| Operand::literal("", span));
                self.typing
                    .call("array_to_string", vec![array, between], span, &mut self.columns)
            }
            (Meaning::Spread, ..) => Err(self.unknown_elements(array.span())),
        }
    }

    /// An argument as a parameter of a type takes it. 42846.
    fn implicitly(&self, x: Operand, name: &str) -> Result<Operand> {
        let element = name.strip_suffix("[]");
        let ty = Kind::named(element.unwrap_or(name)).and_then(Kind::plain);
        let ty = match element {
            Some(_) => ty.and_then(LogicalType::array),
            None => ty,
        };
        let ty = ty.ok_or_else(|| Error::internal(format!("no type {name}")))?;
        let at = x.span();
        Ok(self.typing.cast(x, ty, CastContext::Implicit, at)?.into())
    }

    /// The elements of `ARRAY[…]`, all of one type.
    fn spread(&mut self, elements: &'a [SqlExpr]) -> Result<Vec<Operand>> {
        let mut parts = Vec::with_capacity(elements.len());
        for e in elements {
            parts.push(self.expression(e)?);
        }
        let inside = row_span(&parts);
        let array = self.typing.array(parts.clone(), None, inside)?;
        let Some(ty) = array.ty().and_then(LogicalType::element) else {
            return Err(self.unknown_elements(inside));
        };
        let mut arguments = Vec::with_capacity(parts.len());
        for part in parts {
            // Arrays of arrays have the elements of those.
            if part.ty().is_some_and(|ty| ty.element().is_some()) {
                return Err(self.unknown_elements(part.span()));
            }
            let at = part.span();
            arguments.push(
                self.typing
                    .cast(part, ty, CastContext::Implicit, at)?
                    .at(at)
                    .into(),
            );
        }
        Ok(arguments)
    }

    fn unknown_elements(&self, at: Span) -> Error {
        Error::unsupported(
            "VARIADIC of an array that is not written as ARRAY[…] of single values, in this call",
        )
        .with_hint("write the elements as arguments")
        .at_span(at)
    }
}
