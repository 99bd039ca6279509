//! Functions of paths in jsonb: PostgreSQL's manual, 9.16.2. Those that give rows stand in `json_rows.rs`.

use crate::function::{Function, functions, rows as call};
use crate::jsonpath::{Form, exists, matches, query_array, query_first};
use crate::resolve::no_function;
use crate::type_rules::Kind::{Boolean, JsonPath, Jsonb, TimestampTz};
use crate::typing::HiddenParameter;
use crate::{Operand, Typing};
use frazil_plan::Expr;
use frazil_types::Result;

/// The calls of a function of a document and a path, and perhaps variables and whether errors of the document are passed over.
macro_rules! calls {
    ($f:ident, $ty:ident) => {
        [
            call(&[Jsonb, JsonPath], |r, o| $f(r, Form::Call, o), $ty),
            call(&[Jsonb, JsonPath, Jsonb], |r, o| $f(r, Form::Call, o), $ty),
            call(
                &[Jsonb, JsonPath, Jsonb, Boolean],
                |r, o| $f(r, Form::Call, o),
                $ty,
            ),
        ]
    };
}

/// The same with the statement's start in the session's zone behind the others.
macro_rules! zoned_calls {
    ($f:ident, $ty:ident) => {
        [
            call(&[Jsonb, JsonPath, TimestampTz], |r, o| $f(r, Form::Zoned, o), $ty),
            call(
                &[Jsonb, JsonPath, Jsonb, TimestampTz],
                |r, o| $f(r, Form::Zoned, o),
                $ty,
            ),
            call(
                &[Jsonb, JsonPath, Jsonb, Boolean, TimestampTz],
                |r, o| $f(r, Form::Zoned, o),
                $ty,
            ),
        ]
    };
}

pub(super) const FUNCTIONS: &[Function] = functions! {
    "jsonb_path_exists", calls!(exists, Boolean), "true if a path finds something; optionally with variables, and silent about errors";
    "jsonb_path_exists_opr", [call(&[Jsonb, JsonPath], |r, o| exists(r, Form::Operator, o), Boolean)],
        "`@?`: true if a path finds something; NULL on an error of the path";
    "jsonb_path_match", calls!(matches, Boolean), "the boolean that a path finds; optionally with variables, and silent about errors";
    "jsonb_path_match_opr", [call(&[Jsonb, JsonPath], |r, o| matches(r, Form::Operator, o), Boolean)],
        "`@@`: the boolean that a path finds; NULL if it finds something else, and on an error of the path";
    "jsonb_path_query_array", calls!(query_array, Jsonb), "the values that a path finds, as an array";
    "jsonb_path_query_first", calls!(query_first, Jsonb), "the first value that a path finds; NULL if it finds none";
};

/// Functions that read dates and times by the session's zone where they are compared: their last argument is not given.
pub(super) const ZONED: &[Function] = functions! {
    "jsonb_path_exists_tz", zoned_calls!(exists, Boolean), "";
    "jsonb_path_match_tz", zoned_calls!(matches, Boolean), "";
    "jsonb_path_query_array_tz", zoned_calls!(query_array, Jsonb), "";
    "jsonb_path_query_first_tz", zoned_calls!(query_first, Jsonb), "";
};

/// How the functions of [`ZONED`] are documented: how they are called, the description.
pub(super) const ZONED_CALLS: &[(&str, &str, &str)] = &[
    (
        "jsonb_path_exists_tz",
        "jsonb_path_exists_tz(jsonb, jsonpath [, jsonb [, boolean]]) → boolean",
        "like `jsonb_path_exists`; dates and times without a zone are in the session's zone",
    ),
    (
        "jsonb_path_match_tz",
        "jsonb_path_match_tz(jsonb, jsonpath [, jsonb [, boolean]]) → boolean",
        "like `jsonb_path_match`; dates and times without a zone are in the session's zone",
    ),
    (
        "jsonb_path_query_array_tz",
        "jsonb_path_query_array_tz(jsonb, jsonpath [, jsonb [, boolean]]) → jsonb",
        "like `jsonb_path_query_array`; dates and times without a zone are in the session's zone",
    ),
    (
        "jsonb_path_query_first_tz",
        "jsonb_path_query_first_tz(jsonb, jsonpath [, jsonb [, boolean]]) → jsonb",
        "like `jsonb_path_query_first`; dates and times without a zone are in the session's zone",
    ),
];

impl Typing {
    /// A call of a function of [`ZONED`]; `None` for what is none of them. 42883, 42725.
    pub(super) fn zoned_path_call(&self, name: &str, arguments: &[Operand]) -> Result<Option<Expr>> {
        let Some(function) = ZONED.iter().find(|f| f.name == name) else {
            return Ok(None);
        };
        if !(2..=4).contains(&arguments.len()) {
            return Err(no_function(name, arguments));
        }
        let arguments = [arguments, &[self.statement_start()]].concat();
        self.overload_call(function, arguments).map(Some)
    }

    /// The statement's start, by the session's clock.
    pub(crate) fn statement_start(&self) -> Operand {
        let start = self.hidden(HiddenParameter::StatementStart);
        debug_assert!(start.ty.is_zoned());
        start.into()
    }
}
