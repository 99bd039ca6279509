//! PostgreSQL's system information functions: of a session, its server, its types and its functions. A function that
//! asks for an object of a kind that has no numbers finds none.

use super::find;
use super::privileges::{function_privilege, of_object};
use crate::Operand;
use crate::build::{TEXT, null, text};
use crate::built_in::{self, BuiltInFunction, BuiltInOperator, element_of, kind_of};
use crate::function::{Function, Overload, Run, asking, functions, rows, volatile};
use crate::named_oids::{SCHEMAS, name, type_named};
use crate::operators::{has_operator, operators_named};
use crate::session_catalog;
use crate::type_rules::Category;
use crate::type_rules::Kind::{self, BigInt, Boolean, Integer, Oid, Regclass, Text, TimestampTz};
use crate::vector::{OnNull, Output, Row, RowFn};
use frazil_plan::Expr;
use frazil_types::session_settings::{self, SessionSettings};
use frazil_types::{Error, Result, SqlState, USER};

/// The catalog keeps expressions as SQL.
const EXPRESSION: RowFn = |row, out| out.text(row.text(0));

/// Asks of an object by its number, of which there are none.
const OF_NO_NUMBER: RowFn = |_, out| out.null();
/// The definition of an object, by its number.
const DEFINITION: [Overload; 1] = [rows(&[Oid], OF_NO_NUMBER, Text)];
/// The same, with PostgreSQL's flag for a pretty one.
const PRETTY_DEFINITION: [Overload; 2] = [
    rows(&[Oid], OF_NO_NUMBER, Text),
    rows(&[Oid, Boolean], OF_NO_NUMBER, Text),
];
/// Whether an object of a number is visible.
const VISIBLE: [Overload; 1] = [rows(&[Oid], OF_NO_NUMBER, Boolean)];

pub(super) const FUNCTIONS: &[Function] = functions! {
    "col_description", [asking(&[Oid, Integer], session_catalog::column_comment, Text)],
        "the comment on a column, by its table and number";
    "current_database", [rows(&[], |_, o| o.text(&session_settings::database()), Text)],
        "the name by which a server serves the database, else `frazil`";
    "current_schema", [rows(&[], |_, o| o.text(SCHEMAS[0]), Text)], "the first schema of `search_path` that exists";
    "current_user", [rows(&[], |_, o| o.text(&user(|session| session.user())), Text)],
        "the role by whose rights statements run: SET ROLE changes it";
    "format_type", [Overload { parameters: &[Oid, Integer], run: Run::Catalog(format_type, OnNull::Called, Text) }],
        "the name of a type by its oid, with its length or digits";
    "getdatabaseencoding", [rows(&[], |_, o| o.text("UTF8"), Text)], "`UTF8`, the one encoding";
    "has_function_privilege", of_object!(|row, out| function_privilege(row, |text| Ok(signature(text)?.is_some()), out)),
        "true for EXECUTE of a function with its argument types, or by its oid";
    "inet_client_port", [rows(&[], |_, o| o.null(), Integer)], "NULL: sessions run in the process";
    "inet_server_port", [rows(&[], |_, o| o.null(), Integer)], "NULL: sessions run in the process";
    "obj_description", [
        asking(&[Oid], session_catalog::object_comment, Text),
        asking(&[Oid, Text], session_catalog::object_comment, Text),
    ], "the comment on an object, which the named table of `pg_catalog` shows";
    "pg_advisory_unlock_all", [rows(&[], |_, o| o.text(""), Text)],
        "nothing, as an empty text: there are no advisory locks to release";
    "pg_char_to_encoding", [rows(&[Text], encoding_number, Integer)],
        "PostgreSQL's number for an encoding, -1 if it has none";
    "pg_client_encoding", [volatile(&[], client_encoding, Text)],
        "the encoding of the client's texts: `client_encoding`";
    "pg_collation_is_visible", VISIBLE, "NULL: collations have no numbers";
    "pg_conversion_is_visible", VISIBLE, "NULL: conversions have no numbers";
    "pg_conf_load_time", [rows(&[], |_, o| o.int(super::clock::start_of_process().into()), TimestampTz)],
        "the time when the process opened its first database, because settings belong to sessions";
    "pg_current_logfile", [rows(&[], |_, o| o.null(), Text), rows(&[Text], |_, o| o.null(), Text)],
        "NULL: there is no file of messages";
    "pg_describe_object", [rows(&[Oid, Oid, Integer], OF_NO_NUMBER, Text)], "NULL: objects have no numbers";
    "pg_encoding_to_char", [rows(&[Integer], encoding_name, Text)],
        "the name of an encoding by PostgreSQL's number for it, empty if it has none";
    "pg_function_is_visible", [rows(&[Oid], function_is_visible, Boolean)],
        "true if a function has the oid: all are found without their schema";
    "pg_last_committed_xact", [rows(&[], |_, _| Err(no_commit_times()), Text)],
        "error 55000: commit times are not stored";
    "pg_xact_commit_timestamp", [rows(&[BigInt], |_, _| Err(no_commit_times()), TimestampTz)],
        "error 55000: commit times are not stored";
    "pg_xact_commit_timestamp_origin", [rows(&[BigInt], |_, _| Err(no_commit_times()), Text)],
        "error 55000: commit times are not stored";
    "pg_get_constraintdef", [
        asking(&[Oid], session_catalog::constraint_definition, Text),
        asking(&[Oid, Boolean], session_catalog::constraint_definition, Text),
    ], "the definition of a constraint, as SQL";
    "pg_get_expr", [rows(&[Text, Oid], EXPRESSION, Text), rows(&[Text, Oid, Boolean], EXPRESSION, Text)],
        "the text of an expression of `pg_attrdef`, `pg_constraint` or `pg_index`";
    "pg_get_function_arguments", [rows(&[Oid], |r, o| of_function(r, o, |f| Some(f.arguments_text())), Text)],
        "the arguments of a function by its oid, with their modes, names and defaults";
    "pg_get_function_identity_arguments",
        [rows(&[Oid], |r, o| of_function(r, o, |f| Some(f.identity_text())), Text)],
        "the arguments by which a function is told from others of its name, by its oid";
    "pg_get_function_result", [rows(&[Oid], |r, o| of_function(r, o, |f| Some(f.result_text())), Text)],
        "the type of a function's result by its oid";
    "pg_get_function_arg_default", [rows(&[Oid, Integer], argument_default, Text)],
        "the default of an argument of a function, by the function's oid and the argument's number from 1";
    "pg_get_function_sqlbody", DEFINITION, "NULL: no function is written in SQL";
    "pg_get_functiondef", [rows(&[Oid], function_definition, Text)],
        "the CREATE FUNCTION statement of a function by its oid";
    "pg_get_indexdef", [
        asking(&[Oid], session_catalog::index_definition, Text),
        asking(&[Oid, Integer, Boolean], session_catalog::index_definition, Text),
    ], "the CREATE INDEX statement of an index, or one of its columns";
    "pg_get_partition_constraintdef", DEFINITION, "NULL: tables have no partitions";
    "pg_get_partkeydef", DEFINITION, "NULL: tables have no numbers";
    "pg_get_ruledef", PRETTY_DEFINITION, "NULL: rules have no numbers";
    "pg_get_statisticsobjdef", DEFINITION, "NULL: statistics have no numbers";
    "pg_get_statisticsobjdef_columns", DEFINITION, "NULL: statistics have no numbers";
    "pg_get_triggerdef", PRETTY_DEFINITION, "NULL: triggers have no numbers";
    "pg_get_userbyid", [asking(&[Oid], session_catalog::role_by_number, Text)], "the name of a role by its oid";
    "pg_get_viewdef", [
        asking(&[Oid], session_catalog::view_definition, Text),
        asking(&[Oid, Boolean], session_catalog::view_definition, Text),
    ], "the query of a view, as it was written";
    "pg_index_column_has_property", [rows(&[Oid, Integer, Text], OF_NO_NUMBER, Boolean)],
        "NULL: indexes have no numbers";
    "pg_index_has_property", [rows(&[Oid, Text], OF_NO_NUMBER, Boolean)], "NULL: indexes have no numbers";
    "pg_indexam_has_property", [rows(&[Oid, Text], OF_NO_NUMBER, Boolean)],
        "NULL: kinds of indexes have no numbers";
    "pg_is_in_recovery", [rows(&[], |_, o| o.bool(false), Boolean)], "false: there are no standby servers";
    "pg_is_other_temp_schema", [rows(&[Oid], |_, o| o.bool(false), Boolean)],
        "false: temporary tables have no schema";
    "pg_jit_available", [rows(&[], |_, o| o.bool(true), Boolean)], "true: every statement is compiled";
    "pg_my_temp_schema", [rows(&[], |_, o| o.int(0), BigInt)], "0: temporary tables have no schema";
    "pg_opclass_is_visible", [rows(&[Oid], |_, o| o.bool(true), Boolean)], "true: all operator classes are built in";
    "pg_operator_is_visible", [rows(&[Oid], operator_is_visible, Boolean)],
        "true if an operator has the oid: all are found without their schema";
    "pg_opfamily_is_visible", [rows(&[Oid], |_, o| o.bool(true), Boolean)], "true: all operator families are built in";
    "pg_postmaster_start_time", [rows(&[], |_, o| o.int(super::clock::start_of_process().into()), TimestampTz)],
        "the time when the process opened its first database";
    "pg_relation_is_publishable", [rows(&[Oid], |_, o| o.bool(false), Boolean)],
        "false: there are no publications";
    "pg_statistics_obj_is_visible", VISIBLE, "NULL: statistics have no numbers";
    "pg_table_is_visible", [asking(&[Oid], session_catalog::relation_is_visible, Boolean)],
        "true if a relation is found without its schema";
    "pg_tablespace_location", [rows(&[Oid], OF_NO_NUMBER, Text)], "NULL: tablespaces have no numbers";
    "pg_trigger_depth", [rows(&[], |_, o| o.int(0), Integer)], "0: there are no triggers";
    "pg_ts_config_is_visible", VISIBLE, "NULL: there are no configurations of text search";
    "pg_ts_dict_is_visible", VISIBLE, "NULL: there are no dictionaries of text search";
    "pg_ts_parser_is_visible", VISIBLE, "NULL: there are no parsers of text search";
    "pg_ts_template_is_visible", VISIBLE, "NULL: there are no templates of text search";
    "pg_type_is_visible", [asking(&[Oid], type_is_visible, Boolean)],
        "true if a type is found without its schema";
    "session_user", [rows(&[], |_, o| o.text(&user(|session| session.session_user())), Text)],
        "the role of the session: SET SESSION AUTHORIZATION changes it";
    "shobj_description", [asking(&[Oid, Text], session_catalog::object_comment, Text)],
        "the comment on the database";
    "to_regcollation", [rows(&[Text], collation, Text)], "the name of a collation, NULL if there is none";
    "to_regnamespace", [rows(&[Text], |r, o| known(name(r.text(0)), &SCHEMAS, o), Text)],
        "the name of a schema, NULL if there is none";
    "to_regoper", [rows(&[Text], operator, Text)], "the name of an operator, NULL if there is none or several";
    "to_regoperator", [rows(&[Text], operator_of_types, Text)],
        "the name of an operator with its operand types, NULL if there is none";
    "to_regproc", [rows(&[Text], function, Text)], "the name of a function, NULL if there is none or several";
    "to_regprocedure", [rows(&[Text], function_of_types, Text)],
        "the name of a function with its argument types, NULL if there is none";
    "to_regrole", [asking(&[Text], session_catalog::to_role, Text)],
        "the name of a role, NULL if there is none";
    "to_regtype", [rows(&[Text], type_name, Text)], "the name of a type, NULL if there is none";
    "version", [rows(&[], |_, o| o.text(VERSION), Text)],
        "the version of PostgreSQL whose rules Frazil keeps, and its own";
};

/// Clients read PostgreSQL's version behind its name at the front.
const VERSION: &str = concat!("PostgreSQL 15.0 (Frazil ", env!("CARGO_PKG_VERSION"), ")");

fn type_is_visible(row: &Row<'_>, out: &mut Output) -> Result<()> {
    match kind_of(row.int(0)) {
        None if element_of(row.int(0)).is_none() => session_catalog::type_is_visible(row, out),
        Some(_) | None => out.bool(true),
    }
}

/// A role of the session whose statement runs; the superuser outside of sessions.
fn user(role: impl FnOnce(&dyn SessionSettings) -> String) -> String {
    let session = session_settings::of_statement();
    session.map_or_else(|| USER.to_owned(), |session| role(&*session))
}

/// The encodings that a client may ask for, with PostgreSQL's numbers.
const ENCODINGS: [(i64, &str); 3] = [(0, "SQL_ASCII"), (6, "UTF8"), (8, "LATIN1")];

/// The encoding that the session's client asked for; that of stored texts outside of sessions.
fn client_encoding(_: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let session = session_settings::of_statement();
    let shown = session
        .map(|session| session.show("client_encoding"))
        .transpose()?;
    out.text(shown.flatten().as_deref().unwrap_or("UTF8"))
}

fn encoding_name(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let named = ENCODINGS.iter().find(|(number, _)| *number == row.int(0));
    out.text(named.map_or("", |(_, name)| name))
}

fn encoding_number(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let asked = row.text(0).to_ascii_uppercase().replace('-', "");
    let numbered = ENCODINGS.iter().find(|(_, name)| *name == asked);
    out.int(numbered.map_or(-1, |(number, _)| i128::from(*number)))
}

// --- Types -------------------------------------------------------------------------------------

/// The function of the first argument, an oid.
fn function_of(row: &Row<'_>) -> Option<&'static BuiltInFunction> {
    u32::try_from(row.int(0)).ok().and_then(built_in::function_of)
}

/// A text of the function of an oid; NULL if there is none.
fn of_function(
    row: &Row<'_>,
    out: &mut Output<'_>,
    text: impl FnOnce(&BuiltInFunction) -> Option<String>,
) -> Result<()> {
    match function_of(row).and_then(text) {
        Some(text) => out.text(&text),
        None => out.null(),
    }
}

/// 42809 for an aggregate.
fn function_definition(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match function_of(row) {
        Some(function) if function.kind == 'a' => {
            let message = format!("\"{}\" is an aggregate function", function.name);
            Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message))
        }
        _ => of_function(row, out, BuiltInFunction::definition),
    }
}

fn argument_default(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let number = usize::try_from(row.int(1)).unwrap_or(0);
    of_function(row, out, |function| {
        let without = function.arguments.len().checked_sub(function.defaults.len())?;
        let default = number.checked_sub(without + 1)?;
        function
            .defaults
            .get(default)
            .map(|default| (*default).to_owned())
    })
}

fn function_is_visible(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match function_of(row) {
        Some(_) => out.bool(true),
        None => out.null(),
    }
}

fn operator_is_visible(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match u32::try_from(row.int(0)).ok().and_then(BuiltInOperator::of) {
        Some(_) => out.bool(true),
        None => out.null(),
    }
}

/// format_type(number, modifier), of which either may be NULL.
fn format_type(row: &Row<'_>, out: &mut Output) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let modifier = (!row.is_null(1)).then(|| row.int(1));
    match (kind_of(row.int(0)), element_of(row.int(0))) {
        (Some(kind), _) => out.text(&formatted(kind, modifier)),
        (None, Some(element)) => out.text(&format!("{}[]", formatted(element, modifier))),
        (None, None) if row.int(0) == 0 => out.text("-"),
        (None, None) => match u32::try_from(row.int(0)).ok().and_then(built_in::pseudo_name) {
            Some(name) => out.text(name),
            None => out.text(session_catalog::type_name(row)?.as_deref().unwrap_or("???")),
        },
    }
}

/// The name of a type with a modifier. A type that has a short name of its own shows that if the modifier says that
/// there is no length.
fn formatted(kind: Kind, modifier: Option<i64>) -> String {
    match modifier {
        Some(m) if m < 0 && kind.info().typname == "bpchar" => "bpchar".to_owned(),
        modifier => with_modifier(kind, modifier.unwrap_or(-1)),
    }
}

/// The fields of an interval, by the bits of its modifier.
const FIELDS: [(i64, &str); 6] = [
    (1 << 2, "year"),
    (1 << 1, "month"),
    (1 << 3, "day"),
    (1 << 10, "hour"),
    (1 << 11, "minute"),
    (1 << 12, "second"),
];

/// A type's name with what PostgreSQL's modifier says; a negative one says nothing.
fn with_modifier(kind: Kind, modifier: i64) -> String {
    let name = kind.info().name;
    if modifier < 0 {
        return name.to_string();
    }
    let has_length = (kind.info().of_modifiers)(&[1]).is_some();
    match kind.category() {
        // Modifiers of decimals and strings are 4 more than what they say.
        Category::Numeric if kind == Kind::Numeric && modifier >= 4 => {
            let scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024;
            format!("{name}({},{scale})", ((modifier - 4) >> 16) & 0xffff)
        }
        Category::Numeric | Category::Boolean => name.to_string(),
        Category::String if has_length && modifier > 4 => format!("{name}({})", modifier - 4),
        Category::String if has_length => name.to_string(),
        Category::DateTime => match name.split_once(' ') {
            Some((first, rest)) => format!("{first}({modifier}) {rest}"),
            None => format!("{name}({modifier})"),
        },
        Category::Timespan => {
            let named: Vec<&str> =
                (FIELDS.iter().filter(|f| modifier >> 16 & f.0 != 0).map(|f| f.1)).collect();
            let fields = match named.as_slice() {
                [only] => format!(" {only}"),
                [first, .., last] if named.len() < FIELDS.len() => format!(" {first} to {last}"),
                _ => String::new(),
            };
            match modifier & 0xffff {
                0xffff => format!("{name}{fields}"),
                digits => format!("{name}{fields}({digits})"),
            }
        }
        Category::String | Category::Array | Category::UserDefined => format!("{name}({modifier})"),
    }
}

fn type_name(row: &Row<'_>, out: &mut Output) -> Result<()> {
    if row.text(0).trim().is_empty() {
        let message = format!("invalid type name \"{}\"", row.text(0));
        return Err(Error::new(SqlState::SYNTAX_ERROR, message));
    }
    let element = row.text(0).trim_end().strip_suffix("[]");
    match type_named(element.unwrap_or(row.text(0))) {
        Some(kind) if element.is_some() => out.text(kind.info().array_name),
        Some(kind) => out.text(kind.info().name),
        None => out.null(),
    }
}

// --- Names -------------------------------------------------------------------------------------

/// A name if it is among those that there are, else NULL.
fn known(name: String, names: &[&str], out: &mut Output) -> Result<()> {
    match names.contains(&name.as_str()) {
        true => out.text(&name),
        false => out.null(),
    }
}

fn collation(row: &Row<'_>, out: &mut Output) -> Result<()> {
    match name(row.text(0)).as_str() {
        "default" => out.text("\"default\""),
        "ucs_basic" => out.text("ucs_basic"),
        "C" => out.text("\"C\""),
        "POSIX" => out.text("\"POSIX\""),
        _ => out.null(),
    }
}

fn operator(row: &Row<'_>, out: &mut Output) -> Result<()> {
    match operators_named(row.text(0).trim()) {
        1 => out.text(row.text(0).trim()),
        _ => out.null(),
    }
}

/// `+(integer,integer)`, or `-(NONE,integer)`. Error 22P02 without parentheses.
fn operator_of_types(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (name, types) = name_and_types(row.text(0))?;
    let kinds: Option<Vec<Kind>> = types
        .iter()
        .copied()
        .filter(|t| !is_none(t))
        .map(type_named)
        .collect();
    let Some(kinds) = kinds.filter(|kinds| has_operator(name.trim(), kinds)) else {
        return out.null();
    };
    let shown: Vec<&str> = kinds.iter().map(|kind| kind.info().name).collect();
    let none = if types.len() > kinds.len() { "NONE," } else { "" };
    out.text(&format!("{}({none}{})", name.trim(), shown.join(",")))
}

/// What stands for the left operand of a prefix operator.
fn is_none(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("none")
}

fn function(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let name = name(row.text(0));
    let one = match find(&name) {
        Some(function) => function.overloads.len() == 1,
        None => crate::list().any(|f| f.name == name && f.signatures.len() == 1),
    };
    if one { out.text(&name) } else { out.null() }
}

/// The name and the types of `abs(integer)`. Error 22P02 without parentheses.
fn name_and_types(text: &str) -> Result<(&str, Vec<&str>)> {
    let refused = |message: &str| Error::new(SqlState::INVALID_TEXT, message);
    let (name, rest) = text
        .split_once('(')
        .ok_or_else(|| refused("expected a left parenthesis"))?;
    let inside = rest.trim_end().strip_suffix(')');
    let inside = inside.ok_or_else(|| refused("expected a right parenthesis"))?;
    let types = inside.split(',').filter(|_| !inside.trim().is_empty());
    Ok((name, types.collect()))
}

/// The function that `abs(int)` names, as `abs(integer)`; `None` if there is no such type or function. Error 22P02
/// without parentheses.
fn signature(text: &str) -> Result<Option<String>> {
    let (before, types) = name_and_types(text)?;
    let kinds: Option<Vec<Kind>> = types.into_iter().map(type_named).collect();
    let Some((kinds, function)) = kinds.zip(find(&name(before))) else {
        return Ok(None);
    };
    let is_there = function.overloads.iter().any(|o| o.parameters == kinds);
    let names: Vec<&str> = kinds.iter().map(|kind| kind.info().name).collect();
    Ok(is_there.then(|| format!("{}({})", function.name, names.join(","))))
}

fn function_of_types(row: &Row<'_>, out: &mut Output) -> Result<()> {
    match signature(row.text(0))? {
        Some(found) => out.text(&found),
        None => out.null(),
    }
}

/// Relations by their names.
pub(super) const OF_RELATIONS: &[Function] = functions! {
    "pg_get_serial_sequence", [asking(&[Text, Text], session_catalog::serial_sequence, Text)],
        "the name of the sequence that a column owns, NULL if it owns none";
    "row_security_active", [rows(&[Text], |_, o| o.bool(false), Boolean)], "false for a table: rows are not hidden";
    "to_regclass", [asking(&[Text], session_catalog::to_relation, Regclass)],
        "a relation by its name, NULL if there is none";
};

/// The name of the collation of a value. Error 42804 for a value that is not a text.
pub(super) fn collation_for(x: &Operand) -> Result<Expr> {
    match x.ty() {
        None => Ok(null(TEXT)),
        Some(ty) if ty.is_string() => Ok(text("\"default\"")),
        Some(ty) => {
            let message = format!("collations are not supported by type {}", ty.name());
            Err(Error::new(SqlState::DATATYPE_MISMATCH, message))
        }
    }
}

fn no_commit_times() -> Error {
    Error::new(SqlState("55000"), "could not get commit timestamp data")
        .with_hint("pg_current_xact_id() is the start of the transaction")
}
