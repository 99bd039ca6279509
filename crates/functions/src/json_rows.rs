//! Functions that give the parts of a json or jsonb as rows, and others like them. Each column's values are made as
//! one array, whose elements are the rows.

use crate::build::TEXT;
use crate::json::{Document, Members};
use crate::jsonpath::{Form, query};
use crate::keywords;
use crate::resolve::no_function;
use crate::rows::{BIGINTS, Once, TypedRowsCall};
use crate::scalar_functions::{grantable, grantees, grantors, open_at_snapshot, privileges_of_list};
use crate::typing::HiddenParameter;
use crate::vector::{OnNull, Output, Row, RowFn, rows};
use crate::{CastContext, Operand, Typing};
use frazil_plan::{CONDITION, Columns, RowsCall};
use frazil_types::Kind::{Boolean, Integer, InternalChar, Json, Jsonb, Oid, Regclass};
use frazil_types::array::encode_list;

use frazil_types::session_settings;
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value};

/// A column: its name, where the alias of the table does not give it one, how its values are made, as which array.
type Column = (Option<&'static str>, RowFn, LogicalType);

/// A function of one name.
pub(crate) struct JsonRows {
    pub name: &'static str,
    pub signature: &'static str,
    /// The types of its arguments, of which all but the first ones may be left out.
    pub takes: &'static [LogicalType],
    needed: usize,
    /// The argument behind those that are given.
    hidden: Option<Hidden>,
    columns: &'static [Column],
    pub description: &'static str,
}

/// An argument that no call gives.
#[derive(Clone, Copy)]
enum Hidden {
    /// The statement's start.
    Start,
    /// The number of the statement's catalog.
    Catalog,
}

/// What a function takes.
struct Takes {
    takes: &'static [LogicalType],
    needed: usize,
    hidden: Option<Hidden>,
}

const JSON: Takes = one(&[LogicalType::Json]);
const JSONB: Takes = one(&[LogicalType::Jsonb]);
const PATH: Takes = Takes {
    takes: &[
        LogicalType::Jsonb,
        LogicalType::JsonPath,
        LogicalType::Jsonb,
        CONDITION,
    ],
    needed: 2,
    hidden: None,
};
const ZONED_PATH: Takes = Takes {
    hidden: Some(Hidden::Start),
    ..PATH
};

/// Nothing but the statement's start, so that each run of a statement calls the function.
const STARTED: Takes = Takes {
    takes: &[],
    needed: 0,
    hidden: Some(Hidden::Start),
};
const NOTHING: Takes = Takes {
    takes: &[],
    needed: 0,
    hidden: None,
};
const SNAPSHOT: Takes = one(&[TEXT]);
const OPTIONS: Takes = one(&[TEXTS]);
const RELATION: Takes = one(&[LogicalType::Regclass]);
const PARSER: Takes = one(&[LogicalType::Oid]);

const fn one(takes: &'static [LogicalType]) -> Takes {
    Takes {
        takes,
        needed: 1,
        hidden: None,
    }
}

/// A list of privileges, whose roles the catalog knows.
const ACL: Takes = Takes {
    hidden: Some(Hidden::Catalog),
    ..one(&[TEXTS])
};

const TEXTS: LogicalType = LogicalType::TEXT_ARRAY;
const JSONS: LogicalType = LogicalType::array_of(Json);
const JSONBS: LogicalType = LogicalType::array_of(Jsonb);
const RELATIONS: LogicalType = LogicalType::array_of(Regclass);
const BOOLEANS: LogicalType = LogicalType::array_of(Boolean);
const CHARS: LogicalType = LogicalType::array_of(InternalChar);
const OIDS: LogicalType = LogicalType::array_of(Oid);
const INTEGERS: LogicalType = LogicalType::array_of(Integer);

const KEY: Option<&str> = Some("key");
const VALUE: Option<&str> = Some("value");

macro_rules! json_rows {
    ($($name:literal($takes:ident) -> $gives:literal, [$(($column:expr, $f:ident, $ty:ident)),*], $description:literal;)*) => {
        &[$(JsonRows {
            name: $name,
            signature: concat!($name, $gives),
            takes: $takes.takes,
            needed: $takes.needed,
            hidden: $takes.hidden,
            columns: &[$(($column, |r, o| $f(r, $name, o), $ty)),*],
            description: $description,
        }),*]
    };
}

pub(crate) static JSON_ROWS: &[JsonRows] = json_rows! {
    "aclexplode"(ACL) -> "(text[]) → rows of (grantor oid, grantee oid, privilege_type text, is_grantable boolean)",
        [(Some("grantor"), grantors, OIDS), (Some("grantee"), grantees, OIDS),
        (Some("privilege_type"), privileges_of_list, TEXTS), (Some("is_grantable"), grantable, BOOLEANS)],
        "the privileges of a list such as `pg_class.relacl`, one by one; in FROM";
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
    "jsonb_path_query"(PATH) -> "(jsonb, jsonpath [, jsonb [, boolean]]) → rows of jsonb", [(None, found, JSONBS)],
        "the values that a path finds; optionally with variables, and silent about errors";
    "jsonb_path_query_tz"(ZONED_PATH) -> "(jsonb, jsonpath [, jsonb [, boolean]]) → rows of jsonb", [(None, found_by_clock, JSONBS)],
        "like `jsonb_path_query`; dates and times without a zone are in the session's zone";
    "pg_get_keywords"(NOTHING) ->
        "() → rows of (word text, catcode \"char\", barelabel boolean, catdesc text, baredesc text)",
        [(Some("word"), keyword_words, TEXTS), (Some("catcode"), keyword_classes, CHARS),
        (Some("barelabel"), keyword_bare, BOOLEANS), (Some("catdesc"), keyword_class_texts, TEXTS),
        (Some("baredesc"), keyword_bare_texts, TEXTS)],
        "the words of the grammar, with what each can name; in FROM";
    "pg_listening_channels"(STARTED) -> "() → rows of text", [(None, channels, TEXTS)],
        "the channels that the session listens to";
    "pg_options_to_table"(OPTIONS) -> "(text[]) → rows of (option_name text, option_value text)",
        [(Some("option_name"), option_names, TEXTS), (Some("option_value"), option_values, TEXTS)],
        "options like `name=value`, each as a row; in FROM";
    "pg_partition_ancestors"(RELATION) -> "(regclass) → rows of regclass", [(Some("relid"), nothing, RELATIONS)],
        "no rows: there are no partitions";
    "pg_partition_tree"(RELATION) ->
        "(regclass) → rows of (relid regclass, parentrelid regclass, isleaf boolean, level integer)",
        [(Some("relid"), nothing, RELATIONS), (Some("parentrelid"), nothing, RELATIONS),
        (Some("isleaf"), nothing, BOOLEANS), (Some("level"), nothing, INTEGERS)],
        "no rows: there are no partitions; in FROM";
    "pg_snapshot_xip"(SNAPSHOT) -> "(text) → rows of bigint", [(None, open_transactions, BIGINTS)],
        "the transactions that had not ended at a snapshot";
    "ts_token_type"(PARSER) -> "(oid) → rows of (tokid integer, alias text, description text)",
        [(Some("tokid"), nothing, INTEGERS), (Some("alias"), nothing, TEXTS), (Some("description"), nothing, TEXTS)],
        "no rows: there are no parsers of text search; in FROM";
    "txid_snapshot_xip"(SNAPSHOT) -> "(text) → rows of bigint", [(None, open_transactions, BIGINTS)],
        "like `pg_snapshot_xip`";
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
        columns: &mut Columns,
    ) -> Result<Vec<(Option<&'static str>, TypedRowsCall)>> {
        let missing = no_function(function.name, &arguments).at_span(span);
        let takes = function.takes;
        let becomes = |given: LogicalType, ty: LogicalType| {
            given == ty || (ty == LogicalType::Regclass && given == LogicalType::Oid)
        };
        let is_taken = |(x, ty): (&Operand, &LogicalType)| x.ty().is_none_or(|given| becomes(given, *ty));
        if !(function.needed..=takes.len()).contains(&arguments.len())
            || !arguments.iter().zip(takes).all(is_taken)
        {
            return Err(missing);
        }
        let given = arguments.into_iter().zip(takes);
        let given = given.map(|(x, ty)| self.cast(x, *ty, CastContext::Implicit, span));
        let mut given = given.collect::<Result<Vec<_>>>()?;
        match function.hidden {
            Some(Hidden::Start) => given.push(self.settle(self.statement_start())?),
            Some(Hidden::Catalog) => given.push(self.hidden(HiddenParameter::Catalog)),
            None => {}
        }
        // The first call brings what all of them read.
        let mut once = match function.columns.len() {
            1 => None,
            _ => Once::of(given.iter_mut(), columns),
        };
        let column = |(name, run, ty): &Column| {
            let array = rows(function.name, OnNull::Null, *run, given.clone(), *ty);
            let call = RowsCall::elements(array);
            let call = match once.take() {
                Some(once) => once.below(call),
                None => call.into(),
            };
            (*name, call)
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

fn found(row: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    let items = query(row, Form::Call, out)?;
    put(items.into_iter().map(Ok), out)
}

fn found_by_clock(row: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    let items = query(row, Form::Zoned, out)?;
    put(items.into_iter().map(Ok), out)
}

/// `pg_listening_channels`.
fn channels(_: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    let session = session_settings::of_statement();
    let channels = session.map(|session| session.channels()).unwrap_or_default();
    put(channels.into_iter().map(|channel| Ok(Value::Text(channel))), out)
}

fn keyword_words(_: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(keywords::words(), out)
}

fn keyword_classes(_: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(keywords::classes(), out)
}

fn keyword_bare(_: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(keywords::bare(), out)
}

fn keyword_class_texts(_: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(keywords::class_texts(), out)
}

fn keyword_bare_texts(_: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(keywords::bare_texts(), out)
}

/// The rows of functions about what there is none of.
fn nothing(_: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(std::iter::empty(), out)
}

fn option_names(row: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(options(row)?.into_iter().map(|option| Ok(option.0)), out)
}

fn option_values(row: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(options(row)?.into_iter().map(|option| Ok(option.1)), out)
}

/// Names and values of `name=value`; an option without `=` has the value NULL. NULLs are left out.
fn options(row: &Row<'_>) -> Result<Vec<(Value, Value)>> {
    let all = row.array(0)?.elements().collect::<Result<Vec<Value>>>()?;
    let texts = all.into_iter().filter_map(|value| match value {
        Value::Text(text) => Some(text),
        _ => None,
    });
    let split = texts.map(|text| match text.split_once('=') {
        Some((name, value)) => (Value::Text(name.to_owned()), Value::Text(value.to_owned())),
        None => (Value::Text(text), Value::Null),
    });
    Ok(split.collect())
}

fn open_transactions(row: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    let numbers = open_at_snapshot(row.text(0))?;
    put(
        numbers.into_iter().map(|number| Ok(Value::Int(number.into()))),
        out,
    )
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
