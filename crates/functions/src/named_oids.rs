//! Values of regclass, regtype, regnamespace, regproc, regprocedure and regoperator, made of texts and oids.

use crate::built_in::{self, BuiltInFunction, BuiltInOperator, element_of, kind_of};
use crate::session_catalog::{self, Asked};
use crate::vector::{Output, Row};
use frazil_types::array::encode_list;
use frazil_types::sql_type::named_oid;
use frazil_types::{Error, Kind, Result, SqlState, Value};

/// The name of every database.

/// Schemas of tables, and of functions and types.
pub(crate) const SCHEMAS: [&str; 2] = ["public", "pg_catalog"];

/// A type by one of its names, with or without a length or digits.
pub(crate) fn type_named(text: &str) -> Option<Kind> {
    let text = text.trim();
    let text = text.strip_prefix("\"pg_catalog\".").unwrap_or(text);
    // A name in quotes is the one of pg_type.
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let of_catalog = |name: &str| Kind::ALL.into_iter().find(|kind| kind.info().typname == name);
    if let Some(kind) = inner.and_then(of_catalog) {
        return Some(kind);
    }
    let text = text.to_ascii_lowercase();
    let text = text.strip_prefix("pg_catalog.").unwrap_or(&text);
    let plain = match (text.find('('), text.find(')')) {
        (Some(from), Some(to)) if from < to => format!("{}{}", text[..from].trim_end(), &text[to + 1..]),
        _ => text.to_string(),
    };
    Kind::named(&plain).or_else(|| of_catalog(&plain))
}

/// The error of an object that is not there.
pub(crate) fn missing(state: &'static str, what: &str, name: &str) -> Error {
    Error::new(SqlState(state), format!("{what} \"{name}\" does not exist"))
}

/// A name as the catalog keeps it, without the schema that it may stand in.
pub(crate) fn name(text: &str) -> String {
    let text = text.trim();
    let last = SCHEMAS
        .iter()
        .find_map(|schema| text.strip_prefix(schema)?.strip_prefix('.'));
    unquoted(last.unwrap_or(text))
}

/// A name in lower case, or as its quotes have it.
fn unquoted(text: &str) -> String {
    match text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => text.to_lowercase(),
    }
}

/// A text or an oid that a value is made of.
#[derive(Clone, Copy)]
enum Given<'a> {
    Text(&'a str),
    Oid(i64),
}

/// Makes a regclass, regtype or one of their like of a text or an oid. 42P01, 42704, 3F000, 42883 for a text that names
/// nothing, 22P02 for a text without its arguments.
pub(crate) fn make_named_oid(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let given = match row.ty(0).is_string() {
        true => Given::Text(row.text(0)),
        false => Given::Oid(row.int(0)),
    };
    let made = made(row, out.ty().kind(), given)?;
    out.bytes(&made)
}

/// Makes an array of such values of an array of texts or oids. The errors of [`make_named_oid`].
pub(crate) fn make_named_oids(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let ty = out.ty();
    let kind = ty.element().unwrap_or(ty).kind();
    let value = |element: Result<Value>| {
        let given = match &element? {
            Value::Text(text) => return made(row, kind, Given::Text(text)).map(Value::Bytes),
            Value::Int(oid) => i64::try_from(*oid).unwrap_or(0),
            _ => return Ok(Value::Null),
        };
        made(row, kind, Given::Oid(given)).map(Value::Bytes)
    };
    let values = row.array(0)?.elements().map(value).collect::<Result<Vec<_>>>()?;
    out.bytes(&encode_list(&values, ty.element().unwrap_or(ty))?)
}

/// The bytes of a value of a kind.
fn made(row: &Row<'_>, kind: Kind, given: Given<'_>) -> Result<Vec<u8>> {
    let Some(asked) = session_catalog::asked_of(kind) else {
        return match kind {
            Kind::Regprocedure => regprocedure(given),
            Kind::Regoperator => regoperator(given),
            _ => regproc(given),
        };
    };
    let known = match given {
        Given::Text(text) if asked == Asked::Type => built_in_of_text(text),
        Given::Text(_) => None,
        Given::Oid(oid) => u32::try_from(oid).ok(),
    };
    let oid = match (known, given) {
        (Some(oid), _) => oid,
        (None, Given::Text(text)) => match session_catalog::find(row, asked, text)? {
            Some(oid) => oid,
            None => return Err(missing_object(asked, row, text)?),
        },
        (None, Given::Oid(_)) => 0,
    };
    let number = i64::from(oid);
    let shown = match (asked, kind_of(number), element_of(number)) {
        (Asked::Type, Some(kind), _) => kind.info().name.to_owned(),
        (Asked::Type, None, Some(element)) => element.info().array_name.to_owned(),
        _ => match built_in::pseudo_name(oid).filter(|_| asked == Asked::Type) {
            Some(name) => name.to_owned(),
            None => session_catalog::shown(row, asked, oid)?,
        },
    };
    Ok(named_oid(oid, &shown))
}

/// The oid of the built-in type that a text names, or of its arrays.
fn built_in_of_text(text: &str) -> Option<u32> {
    let text = text.trim();
    let own = ["pg_catalog.", "\"pg_catalog\"."]
        .iter()
        .find_map(|schema| text.strip_prefix(schema));
    let own = own.unwrap_or(text);
    let quoted = own.strip_prefix("\"_").and_then(|name| name.strip_suffix('"'));
    match text
        .strip_suffix("[]")
        .or_else(|| own.strip_prefix('_'))
        .or(quoted)
    {
        Some(element) => type_named(element).map(|kind| kind.info().array_oid),
        None => type_named(text)
            .map(|kind| kind.info().oid)
            .or_else(|| built_in::pseudo_type(own)),
    }
}

/// The oid of the type that a text names, or of its arrays. 42704, 3F000.
pub(crate) fn oid_of_type(row: &Row<'_>, text: &str) -> Result<u32> {
    let own = || session_catalog::find_name(row, Asked::Type, text);
    match built_in_of_text(text).map_or_else(own, |oid| Ok(Some(oid)))? {
        Some(oid) => Ok(oid),
        None => Err(missing_object(Asked::Type, row, text)?),
    }
}

/// The error of a text that names nothing. 3F000 if its schema is missing.
pub(crate) fn missing_object(asked: Asked, row: &Row<'_>, name: &str) -> Result<Error> {
    if asked != Asked::Schema
        && let Some(schema) = written_schema(name)
        && session_catalog::find_name(row, Asked::Schema, schema)?.is_none()
    {
        return Ok(missing("3F000", "schema", &unquoted(schema)));
    }
    Ok(match asked {
        Asked::Type => missing("42704", "type", name),
        Asked::Schema => missing("3F000", "schema", name),
        Asked::Relation
        | Asked::Constraint
        | Asked::Index
        | Asked::ShortIndex
        | Asked::View
        | Asked::Sequence => missing("42P01", "relation", name),
        Asked::Role => missing("42704", "role", name),
        Asked::Database => missing("3D000", "database", name),
    })
}

/// The schema before the dot of a name, as it is written.
fn written_schema(name: &str) -> Option<&str> {
    let mut is_quoted = false;
    let dot = name.char_indices().find(|&(_, c)| {
        is_quoted ^= c == '"';
        c == '.' && !is_quoted
    });
    dot.map(|(at, _)| name[..at].trim())
}

/// The oid of a text of digits.
fn number(text: &str) -> Option<i64> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// The bytes of a value that shows a number: the number of something that is not there, or `none` for 0.
fn of_number(oid: i64, none: &str) -> Vec<u8> {
    let oid = u32::try_from(oid).unwrap_or(0);
    let shown = if oid == 0 {
        none.to_owned()
    } else {
        oid.to_string()
    };
    named_oid(oid, &shown)
}

/// The function of a number.
fn function_of(oid: i64) -> Option<&'static BuiltInFunction> {
    u32::try_from(oid).ok().and_then(built_in::function_of)
}

/// The bytes of a regproc. 42883, 42725 for a name of several functions.
fn regproc(given: Given<'_>) -> Result<Vec<u8>> {
    let shown = |function: &BuiltInFunction| named_oid(function.oid, &function.shown_name());
    let oid = match given {
        Given::Oid(oid) => oid,
        Given::Text("-") => 0,
        Given::Text(text) => match number(text) {
            Some(oid) => oid,
            None => {
                let name = name(text);
                let mut named = built_in::functions_named(&name);
                return match (named.next(), named.next()) {
                    (Some(function), None) => Ok(shown(function)),
                    (None, _) => Err(missing("42883", "function", text)),
                    (Some(_), Some(_)) => {
                        let message = format!("more than one function named \"{text}\"");
                        Err(Error::new(SqlState::AMBIGUOUS_FUNCTION, message))
                    }
                };
            }
        },
    };
    Ok(function_of(oid).map_or_else(|| of_number(oid, "-"), shown))
}

/// The bytes of a regprocedure. 22P02 for a text without parentheses, 42704 for a type that there is not, 42883.
fn regprocedure(given: Given<'_>) -> Result<Vec<u8>> {
    let shown = |function: &BuiltInFunction| named_oid(function.oid, &function.signature());
    let oid = match given {
        Given::Oid(oid) => oid,
        Given::Text("-") => 0,
        Given::Text(text) => match number(text) {
            Some(oid) => oid,
            None => {
                let (function, arguments) = signature(text)?;
                let mut named = built_in::functions_named(&name(function))
                    .collect::<Vec<_>>()
                    .into_iter();
                let found = named.find(|function| function.arguments == arguments);
                return found.map(shown).ok_or_else(|| missing("42883", "function", text));
            }
        },
    };
    Ok(function_of(oid).map_or_else(|| of_number(oid, "-"), shown))
}

/// The bytes of a regoperator. 22P02 for a text without parentheses, 42704 for a type that there is not, 42883.
fn regoperator(given: Given<'_>) -> Result<Vec<u8>> {
    let shown = |operator: &BuiltInOperator| named_oid(operator.oid, &operator.signature());
    let oid = match given {
        Given::Oid(oid) => oid,
        Given::Text(text) => match number(text) {
            Some(oid) => oid,
            None => {
                let (written, operands) = signature(text)?;
                let name = written
                    .trim()
                    .rsplit_once('.')
                    .map_or(written.trim(), |(_, name)| name);
                let is_it = |operator: &&BuiltInOperator| {
                    operator.name == name && operands == [operator.left, operator.right]
                };
                let found = built_in::operators().iter().find(is_it).map(shown);
                return found.ok_or_else(|| {
                    let message = format!("operator does not exist: {text}");
                    Error::new(SqlState::UNDEFINED_FUNCTION, message)
                });
            }
        },
    };
    let operator = u32::try_from(oid).ok().and_then(BuiltInOperator::of);
    Ok(operator.map_or_else(|| of_number(oid, "0"), shown))
}

/// A name, and the oids of the types in parentheses behind it; NONE is 0. 22P02 without parentheses, 42704.
fn signature(text: &str) -> Result<(&str, Vec<u32>)> {
    let Some((name, types)) = text.split_once('(') else {
        return Err(Error::new(SqlState::INVALID_TEXT, "expected a left parenthesis"));
    };
    let Some(types) = types.trim_end().strip_suffix(')') else {
        return Err(Error::new(SqlState::INVALID_TEXT, "expected a right parenthesis"));
    };
    let written = types.split(',').map(str::trim).filter(|ty| !ty.is_empty());
    let oid = |ty: &str| match ty.eq_ignore_ascii_case("none") {
        true => Ok(0),
        false => built_in_of_text(ty).ok_or_else(|| missing("42704", "type", ty)),
    };
    Ok((name, written.map(oid).collect::<Result<_>>()?))
}
