//! Functions that give the parts of a json or jsonb as rows. Each column's values are made as one array, whose elements are the rows.

use crate::aggregate::no_function;
use crate::json::{Document, Members};
use crate::rows::TypedRowsCall;
use crate::vector::{OnNull, Output, Row, RowFn, rows};
use crate::{CastContext, Operand, Typing};
use frazil_types::array::encode_list;
use frazil_types::sql_type::ElementType;
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value};

/// A column: its name, where the alias of the table does not give it one, how its values are made, as which array.
type Column = (Option<&'static str>, RowFn, LogicalType);

/// A function of one name.
pub(crate) struct JsonRows {
    pub name: &'static str,
    pub signature: &'static str,
    pub takes: LogicalType,
    columns: &'static [Column],
    pub description: &'static str,
}

const JSON: LogicalType = LogicalType::Json;
const JSONB: LogicalType = LogicalType::Jsonb;
const TEXTS: LogicalType = LogicalType::TEXT_ARRAY;
const JSONS: LogicalType = LogicalType::Array(ElementType::JSON);
const JSONBS: LogicalType = LogicalType::Array(ElementType::JSONB);

const KEY: Option<&str> = Some("key");
const VALUE: Option<&str> = Some("value");

macro_rules! json_rows {
    ($($name:literal($takes:ident) -> $gives:literal, [$(($column:expr, $f:ident, $ty:ident)),*], $description:literal;)*) => {
        &[$(JsonRows {
            name: $name,
            signature: concat!($name, $gives),
            takes: $takes,
            columns: &[$(($column, |r, o| $f(r, $name, o), $ty)),*],
            description: $description,
        }),*]
    };
}

pub(crate) static JSON_ROWS: &[JsonRows] = json_rows! {
    "json_array_elements"(JSON) -> "(json) → rows of json", [(VALUE, elements, JSONS)], "the elements of an array";
    "json_array_elements_text"(JSON) -> "(json) → rows of text", [(VALUE, element_texts, TEXTS)], "the elements of an array as texts";
    "json_each"(JSON) -> "(json) → rows of (key text, value json)", [(KEY, keys, TEXTS), (VALUE, values, JSONS)],
        "the members of an object; in FROM";
    "json_each_text"(JSON) -> "(json) → rows of (key text, value text)", [(KEY, keys, TEXTS), (VALUE, value_texts, TEXTS)],
        "the members of an object, their values as texts; in FROM";
    "json_object_keys"(JSON) -> "(json) → rows of text", [(None, keys, TEXTS)], "the keys of an object";
    "jsonb_array_elements"(JSONB) -> "(jsonb) → rows of jsonb", [(VALUE, elements, JSONBS)], "the elements of an array";
    "jsonb_array_elements_text"(JSONB) -> "(jsonb) → rows of text", [(VALUE, element_texts, TEXTS)], "the elements of an array as texts";
    "jsonb_each"(JSONB) -> "(jsonb) → rows of (key text, value jsonb)", [(KEY, keys, TEXTS), (VALUE, values, JSONBS)],
        "the members of an object; in FROM";
    "jsonb_each_text"(JSONB) -> "(jsonb) → rows of (key text, value text)", [(KEY, keys, TEXTS), (VALUE, value_texts, TEXTS)],
        "the members of an object, their values as texts; in FROM";
    "jsonb_object_keys"(JSONB) -> "(jsonb) → rows of text", [(None, keys, TEXTS)], "the keys of an object";
};

/// The function of a name, if it is one of them.
pub(crate) fn json_rows(name: &str) -> Option<&'static JsonRows> {
    JSON_ROWS.iter().find(|f| f.name == name)
}

impl Typing {
    /// The columns of a call with their names, of those that have one of their own. 42883.
    pub(crate) fn json_rows_call(
        &self,
        function: &'static JsonRows,
        arguments: Vec<Operand>,
        span: Span,
    ) -> Result<Vec<(Option<&'static str>, TypedRowsCall)>> {
        let missing = no_function(function.name, &arguments).at_span(span);
        let is_taken = |x: &Operand| x.ty().is_none_or(|ty| ty == function.takes);
        let mut arguments = arguments.into_iter();
        let (Some(document), None) = (arguments.next().filter(is_taken), arguments.next()) else {
            return Err(missing);
        };
        let document = self.cast(document, function.takes, CastContext::Implicit, span)?;
        let column = |(name, run, ty): &Column| {
            let array = rows(function.name, OnNull::Null, *run, vec![document.clone()], *ty);
            (*name, TypedRowsCall::Elements(array))
        };
        Ok(function.columns.iter().map(column).collect())
    }
}

fn put(values: impl Iterator<Item = Result<Value>>, out: &mut Output<'_>) -> Result<()> {
    let element = out.ty().element().unwrap_or(out.ty());
    out.bytes(&encode_list(&values.collect::<Result<Vec<_>>>()?, element)?)
}

fn refused(message: String) -> Error {
    Error::new(SqlState::INVALID_PARAMETER, message)
}

/// The elements of the argument. Error 22023 for what is no array.
fn elements_of<'a>(row: &'a Row<'_>, name: &str) -> Result<Vec<Document<'a>>> {
    let document = Document::of(row, 0);
    document.elements().ok_or_else(|| {
        refused(match (document, document.kind()) {
            (Document::Binary(_), "object") => "cannot extract elements from an object".to_owned(),
            (Document::Binary(_), _) => "cannot extract elements from a scalar".to_owned(),
            (Document::Text(_), "object") => format!("cannot call {name} on a non-array"),
            (Document::Text(_), _) => format!("cannot call {name} on a scalar"),
        })
    })
}

/// The members of the argument. Error 22023 for what is no object.
fn members_of<'a>(row: &'a Row<'_>, name: &str) -> Result<Members<'a>> {
    let document = Document::of(row, 0);
    document.members()?.ok_or_else(|| match document.kind() {
        "array" => refused(format!("cannot call {name} on an array")),
        _ => refused(format!("cannot call {name} on a scalar")),
    })
}

fn document(document: Document<'_>) -> Result<Value> {
    Ok(Value::Bytes(document.bytes().to_owned()))
}

fn shown(document: Document<'_>) -> Result<Value> {
    Ok(document.shown()?.map_or(Value::Null, Value::Text))
}

fn elements(row: &Row<'_>, name: &str, out: &mut Output<'_>) -> Result<()> {
    put(elements_of(row, name)?.into_iter().map(document), out)
}

fn element_texts(row: &Row<'_>, name: &str, out: &mut Output<'_>) -> Result<()> {
    put(elements_of(row, name)?.into_iter().map(shown), out)
}

fn keys(row: &Row<'_>, name: &str, out: &mut Output<'_>) -> Result<()> {
    put(
        members_of(row, name)?
            .into_iter()
            .map(|(key, _)| Ok(Value::Text(key))),
        out,
    )
}

fn values(row: &Row<'_>, name: &str, out: &mut Output<'_>) -> Result<()> {
    put(
        members_of(row, name)?
            .into_iter()
            .map(|(_, value)| document(value)),
        out,
    )
}

fn value_texts(row: &Row<'_>, name: &str, out: &mut Output<'_>) -> Result<()> {
    put(
        members_of(row, name)?.into_iter().map(|(_, value)| shown(value)),
        out,
    )
}
