//! Arguments by the names of parameters: `make_interval(days => 10)`.

use super::{Binder, error, fold};
use frazil_functions::{parameter_defaults, parameters_of};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{Expr as SqlExpr, FunctionArg, FunctionArgExpr, FunctionArgOperator, Value};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What parameters are that a call leaves out, by the default's text.
static DEFAULTS: LazyLock<HashMap<&str, SqlExpr>> = LazyLock::new(|| {
    let literal = |text: &'static str| {
        let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
        let value = match (quoted, text) {
            (Some(quoted), _) => Value::SingleQuotedString(quoted.to_owned()),
            (None, "true" | "false") => Value::Boolean(text == "true"),
            (None, number) => Value::Number(number.to_owned(), false),
        };
        (text, SqlExpr::Value(value.into()))
    };
    parameter_defaults().map(literal).collect()
});

impl<'a> Binder<'a> {
    /// The arguments in the order of the parameters, of which some are named. 42601 for what stands behind a named one, or is named
    /// twice; 42883 for names that the function has not, and for parameters that are left out.
    pub(super) fn named_arguments(
        &self,
        arguments: &'a [FunctionArg],
        function: &str,
        span: Span,
    ) -> Result<Vec<&'a SqlExpr>> {
        let missing = |what: String| {
            let message = format!("function {function} {what}");
            error(SqlState::UNDEFINED_FUNCTION, message, span)
        };
        let parameters =
            parameters_of(function).ok_or_else(|| missing("has no named parameters".to_owned()))?;
        let mut given: Vec<Option<&'a SqlExpr>> = vec![None; parameters.len()];
        let mut is_named = false;
        for (at, argument) in arguments.iter().enumerate() {
            let (place, argument) = match argument {
                FunctionArg::Unnamed(_) if is_named => {
                    let message = "positional argument cannot follow named argument";
                    return Err(error(SqlState::SYNTAX_ERROR, message, span));
                }
                FunctionArg::Unnamed(argument) => (at, argument),
                FunctionArg::Named {
                    name,
                    arg,
                    operator: FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment,
                } => {
                    is_named = true;
                    let name = fold(name);
                    let place = parameters.iter().position(|p| p.name == name);
                    (
                        place.ok_or_else(|| missing(format!("has no parameter \"{name}\"")))?,
                        arg,
                    )
                }
                other => return Err(Error::unsupported(format!("the argument {other}")).at_span(span)),
            };
            let FunctionArgExpr::Expr(e) = argument else {
                return Err(Error::unsupported("* as a named argument").at_span(span));
            };
            let Some(slot) = given.get_mut(place) else {
                return Err(missing(format!("has {} parameters", parameters.len())));
            };
            if slot.replace(e).is_some() {
                let name = parameters[place].name;
                let message = format!("argument name \"{name}\" used more than once");
                return Err(error(SqlState::SYNTAX_ERROR, message, span));
            }
        }
        let last = given.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let all = given
            .into_iter()
            .zip(parameters)
            .take(last)
            .map(|(given, parameter)| match given {
                Some(e) => Ok(e),
                None => {
                    let default = parameter.default.and_then(|text| DEFAULTS.get(text));
                    default.ok_or_else(|| missing(format!("needs its parameter \"{}\"", parameter.name)))
                }
            });
        all.collect()
    }
}
