//! Functions that give rows.

use crate::aggregate::no_function;
use crate::convert::wider_decimal;
use crate::resolve::{CallKind, Resolution, resolve};
use crate::type_rules::Kind;
use crate::{CastContext, Operand, Typing};
use frazil_plan::{Expr, RowsCall, RowsFunction};
use frazil_types::{Error, Result, Span, Value};

/// A function of one name.
pub(crate) struct RowsEntry {
    pub name: &'static str,
    function: RowsFunction,
    /// What its calls take.
    overloads: &'static [&'static [Kind]],
    pub description: &'static str,
}

/// All of them.
pub(crate) const ROWS_FUNCTIONS: &[RowsEntry] = &[RowsEntry {
    name: "generate_series",
    function: RowsFunction::Series,
    overloads: &[
        &[Kind::Integer, Kind::Integer],
        &[Kind::Integer, Kind::Integer, Kind::Integer],
        &[Kind::BigInt, Kind::BigInt],
        &[Kind::BigInt, Kind::BigInt, Kind::BigInt],
        &[Kind::Numeric, Kind::Numeric],
        &[Kind::Numeric, Kind::Numeric, Kind::Numeric],
        &[Kind::Timestamp, Kind::Timestamp, Kind::Interval],
        &[Kind::TimestampTz, Kind::TimestampTz, Kind::Interval],
    ],
    description: "the values from the first argument to the second, the third apart or 1",
}];

impl RowsEntry {
    /// Each way to call it, with what it gives.
    pub fn signatures(&self) -> Vec<String> {
        let signature = |parameters: &&[Kind]| {
            let names: Vec<&str> = parameters.iter().map(|kind| kind.name()).collect();
            let gives = names.first().copied().unwrap_or_default();
            format!("{}({}) → rows of {gives}", self.name, names.join(", "))
        };
        self.overloads.iter().map(signature).collect()
    }
}

fn no_arguments() -> Error {
    Error::internal("a function that gives rows of no arguments")
}

impl Typing {
    /// Whether a function of this name, in lower case, gives rows.
    pub fn gives_rows(name: &str) -> bool {
        ROWS_FUNCTIONS.iter().any(|f| f.name == name)
    }

    /// A call of a function that gives rows. 42883, 42725.
    pub fn rows_call(&self, name: &str, arguments: Vec<Operand>, span: Span) -> Result<RowsCall> {
        let missing = || no_function(name, &arguments).at_span(span);
        let entry = ROWS_FUNCTIONS.iter().find(|f| f.name == name);
        let entry = entry.ok_or_else(missing)?;
        let given: Vec<Option<Kind>> = arguments.iter().map(|a| a.ty().map(Kind::of)).collect();
        let parameters = match resolve(entry.overloads, &given, CallKind::Function) {
            Resolution::Found(at) => entry.overloads[at],
            other => return Err(crate::catalog::not_found(name, &arguments, other).at_span(span)),
        };
        let typed = arguments
            .into_iter()
            .zip(parameters)
            .map(|(a, kind)| self.argument(a, *kind));
        let mut arguments: Vec<Expr> = typed.collect::<Result<_>>()?;
        if parameters.first() == Some(&Kind::Numeric) {
            // All at one scale.
            let types = arguments.iter().map(|e| e.ty);
            let wide = types.reduce(wider_decimal);
            for e in &mut arguments {
                let span = e.span;
                let wide = wide.unwrap_or(e.ty);
                *e = self.cast(e.clone().into(), wide, CastContext::Implicit, Span::NONE)?;
                e.span = span;
            }
        }
        let ty = arguments.first().map(|e| e.ty).ok_or_else(no_arguments)?;
        if arguments.len() == 2 {
            let one = 10i128.pow(u32::from(ty.scale().unwrap_or(0)));
            arguments.push(Expr::constant(Value::Int(one), ty));
        }
        Ok(RowsCall {
            function: entry.function,
            arguments,
            ty,
        })
    }
}
