//! Functions that give records of json or jsonb: in FROM, behind them a list of columns that says which members are
//! read as which types, `json_to_recordset(…) AS x (a integer, b text)`.

use crate::build::{TEXT, case, is_null, null};
use crate::convert::convert;
use crate::function::call_of;
use crate::json::Document;
use crate::json_rows::json_rows;
use crate::resolve::no_function;
use crate::rows::TypedRowsCall;
use crate::scalar_functions::{JSON, JSON_FUNCTIONS, JSONB};
use crate::vector::{OnNull, Output, Row, rows};
use crate::{CastContext, Operand, Typing};
use frazil_plan::{Columns, Expr, RowsCall, RowsFunction};
use frazil_types::value_ops::CastLength;
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value};

/// A function of one name.
#[derive(Debug)]
pub struct JsonRecords {
    /// Its name.
    pub name: &'static str,
    pub(crate) signature: &'static str,
    pub(crate) description: &'static str,
    document: LogicalType,
    /// The function whose rows are the records; where there is none, the argument is the only one.
    elements: Option<&'static str>,
    /// The member of a name, and its text.
    member: [&'static str; 2],
}

const OF_JSON: [&str; 2] = ["json_object_field", "json_object_field_text"];
const OF_JSONB: [&str; 2] = ["jsonb_object_field", "jsonb_object_field_text"];

pub(crate) static JSON_RECORDS: [JsonRecords; 4] = [
    JsonRecords {
        name: "json_to_record",
        signature: "(json) → the row of a list of columns",
        description: "an object as a row; in FROM, before `AS x (a integer, …)`",
        document: JSON,
        elements: None,
        member: OF_JSON,
    },
    JsonRecords {
        name: "json_to_recordset",
        signature: "(json) → rows of a list of columns",
        description: "the objects of an array as rows; in FROM, before `AS x (a integer, …)`",
        document: JSON,
        elements: Some("json_array_elements"),
        member: OF_JSON,
    },
    JsonRecords {
        name: "jsonb_to_record",
        signature: "(jsonb) → the row of a list of columns",
        description: "an object as a row; in FROM, before `AS x (a integer, …)`",
        document: JSONB,
        elements: None,
        member: OF_JSONB,
    },
    JsonRecords {
        name: "jsonb_to_recordset",
        signature: "(jsonb) → rows of a list of columns",
        description: "the objects of an array as rows; in FROM, before `AS x (a integer, …)`",
        document: JSONB,
        elements: Some("jsonb_array_elements"),
        member: OF_JSONB,
    },
];

/// The function of a name, if it is one of them.
pub fn json_records(name: &str) -> Option<&'static JsonRecords> {
    JSON_RECORDS.iter().find(|f| f.name == name)
}

impl Typing {
    /// The objects of a call, a row each. 42883.
    pub fn records(
        &self,
        function: &'static JsonRecords,
        mut arguments: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<TypedRowsCall> {
        let is_taken = |x: &Operand| x.ty().is_none_or(|given| given == function.document);
        let missing = no_function(function.name, &arguments).at_span(span);
        let (Some(argument), true) = (arguments.pop(), arguments.is_empty()) else {
            return Err(missing);
        };
        if !is_taken(&argument) {
            return Err(missing);
        }
        if let Some(elements) = function.elements.and_then(json_rows) {
            let mut rows = self.json_rows_call(elements, vec![argument], span, columns)?;
            return rows.pop().map(|row| row.1).ok_or(missing);
        }
        let document = self.cast(argument, function.document, CastContext::Implicit, span)?;
        let call = RowsCall {
            function: RowsFunction::Once,
            ty: document.ty,
            arguments: vec![document],
        };
        Ok(call.into())
    }

    /// What [`Self::records`] gave as the object that it has to be. 22023 for what is none.
    pub fn object(&self, function: &JsonRecords, document: Expr) -> Expr {
        rows(
            function.name,
            OnNull::Null,
            only_object,
            vec![document],
            function.document,
        )
    }

    /// A member of an object as a type: as its text reads, documents as they stand. What is missing or null is NULL.
    /// 0A000 for arrays.
    pub fn member(&self, function: &JsonRecords, object: &Expr, name: &str, ty: LogicalType) -> Result<Expr> {
        if ty.element().is_some() {
            let what = format!("a column of type {ty} in {}", function.name);
            return Err(Error::unsupported(what)
                .with_hint("take it as json, and its elements by json_array_elements"));
        }
        let key = Expr::constant(Value::Text(name.to_owned()), TEXT);
        let [member, text] = function.member;
        let text = call_of(JSON_FUNCTIONS.iter(), text, vec![object.clone(), key.clone()])?;
        if ty != JSON && ty != JSONB {
            return Ok(convert(text, ty.in_zone(self.zone), CastLength::Refuse));
        }
        let member = call_of(JSON_FUNCTIONS.iter(), member, vec![object.clone(), key])?;
        let member = convert(member, ty, CastLength::Refuse);
        Ok(case(vec![(is_null(text), null(ty))], member))
    }
}

fn only_object(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let document = Document::of(row, 0);
    match document.kind() {
        "object" => out.bytes(document.bytes()),
        kind => {
            let message = format!("records are made of objects, not of a document of kind {kind}");
            Err(Error::new(SqlState::INVALID_PARAMETER, message))
        }
    }
}

/// 42601 for a call without its list of columns.
pub fn columns_needed() -> Error {
    let message = "a column definition list is required for functions returning \"record\"";
    Error::new(SqlState::SYNTAX_ERROR, message).with_hint("write AS x (a integer, b text) behind the call")
}
