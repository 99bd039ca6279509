//! Statements of dumps on objects of kinds that Frazil does not have: DROP … IF EXISTS finds none, and the extension
//! plpgsql, which every database of PostgreSQL has, is there already. All others are refused by [`super::objects`].

use super::cursor::Cursor;
use frazil_catalog::WrittenName;
use frazil_types::Result;
use sqlparser::tokenizer::Token;

/// The extension that every database of PostgreSQL has.
pub(crate) const PLPGSQL: &str = "plpgsql";

/// Such a statement.
#[derive(Clone, Debug)]
pub(crate) enum AbsentObjects {
    /// DROP … IF EXISTS of functions, procedures, routines or aggregates.
    Routines {
        kind: &'static str,
        /// Each name, and its arguments as messages show them.
        names: Vec<(WrittenName, String)>,
        tag: &'static str,
    },
    /// DROP … IF EXISTS of a trigger, a rule or a policy on a relation.
    OnRelation {
        kind: &'static str,
        name: String,
        relation: WrittenName,
        tag: &'static str,
    },
    /// DROP … IF EXISTS of objects without a schema.
    Named {
        kind: &'static str,
        names: Vec<String>,
        tag: &'static str,
    },
    /// CREATE EXTENSION plpgsql; true with IF NOT EXISTS.
    CreatePlpgsql(bool),
    /// COMMENT ON EXTENSION plpgsql.
    CommentOnPlpgsql,
}

const ROUTINES: [(&str, &str); 4] = [
    ("function", "DROP FUNCTION"),
    ("procedure", "DROP PROCEDURE"),
    ("routine", "DROP ROUTINE"),
    ("aggregate", "DROP AGGREGATE"),
];
const ON_RELATIONS: [(&str, &str); 3] = [
    ("trigger", "DROP TRIGGER"),
    ("rule", "DROP RULE"),
    ("policy", "DROP POLICY"),
];
const NAMED: [(&str, &str); 5] = [
    ("event trigger", "DROP EVENT TRIGGER"),
    ("extension", "DROP EXTENSION"),
    ("language", "DROP LANGUAGE"),
    ("publication", "DROP PUBLICATION"),
    ("server", "DROP SERVER"),
];
/// Languages that PostgreSQL has.
const LANGUAGES: [&str; 4] = ["c", "internal", PLPGSQL, "sql"];

/// Reads such a statement; `None` for any other one. 42601.
pub(super) fn parse(mut cursor: Cursor<'_>) -> Result<Option<AbsentObjects>> {
    let cursor = &mut cursor;
    if cursor.take("create") && cursor.take("extension") {
        return create_extension(cursor);
    }
    if cursor.take("comment") && cursor.take("on") && cursor.take("extension") {
        let is_there = cursor.label()? == PLPGSQL;
        return Ok(is_there.then_some(AbsentObjects::CommentOnPlpgsql));
    }
    match cursor.take("drop") {
        true => dropped(cursor),
        false => Ok(None),
    }
}

/// Reads behind CREATE EXTENSION.
fn create_extension(cursor: &mut Cursor) -> Result<Option<AbsentObjects>> {
    let if_not_exists = cursor.take("if") && cursor.take("not") && cursor.take("exists");
    if cursor.label()? != PLPGSQL {
        return Ok(None);
    }
    cursor.take("with");
    loop {
        if cursor.take("schema") {
            cursor.name()?;
        } else if cursor.take("version") {
            cursor.next();
        } else if !cursor.take("cascade") {
            break;
        }
    }
    cursor.end()?;
    Ok(Some(AbsentObjects::CreatePlpgsql(if_not_exists)))
}

/// Reads behind DROP.
fn dropped(cursor: &mut Cursor) -> Result<Option<AbsentObjects>> {
    cursor.take("procedural");
    let mut kind = cursor.word().unwrap_or_default();
    cursor.next();
    if kind == "event" && cursor.take("trigger") {
        kind = "event trigger".to_string();
    }
    if !(cursor.take("if") && cursor.take("exists")) {
        return Ok(None);
    }
    let of = |kinds: &[(&'static str, &'static str)]| kinds.iter().find(|(name, _)| *name == kind).copied();
    let read = if let Some((kind, tag)) = of(&ROUTINES) {
        let names = list(cursor, |cursor| Ok((cursor.table_name()?, arguments(cursor)?)))?;
        AbsentObjects::Routines { kind, names, tag }
    } else if let Some((kind, tag)) = of(&ON_RELATIONS) {
        let name = cursor.name()?;
        cursor.expect_word("on")?;
        let relation = cursor.table_name()?;
        AbsentObjects::OnRelation {
            kind,
            name,
            relation,
            tag,
        }
    } else if let Some((kind, tag)) = of(&NAMED) {
        let names = list(cursor, |cursor| cursor.name())?;
        let exists = |name: &String| match kind {
            "extension" => name == PLPGSQL,
            "language" => LANGUAGES.contains(&name.as_str()),
            _ => false,
        };
        if names.iter().any(exists) {
            return Ok(None);
        }
        AbsentObjects::Named { kind, names, tag }
    } else {
        return Ok(None);
    };
    let _ = cursor.take("cascade") || cursor.take("restrict");
    cursor.end()?;
    Ok(Some(read))
}

/// Reads items between commas.
fn list<T>(cursor: &mut Cursor, item: impl Fn(&mut Cursor) -> Result<T>) -> Result<Vec<T>> {
    let mut items = vec![item(cursor)?];
    while cursor.take_token(&Token::Comma) {
        items.push(item(cursor)?);
    }
    Ok(items)
}

/// Reads the arguments of a routine, if they are written, and returns their types as PostgreSQL's messages show them.
fn arguments(cursor: &mut Cursor) -> Result<String> {
    if cursor.peek() != Some(&Token::LParen) {
        return Ok(String::new());
    }
    let words = cursor.parenthesized()?;
    let (mut types, mut words_of_type, mut depth) = (Vec::new(), Vec::new(), 0_usize);
    for word in &words {
        match &word.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Comma if depth == 0 => types.extend(type_shown(&std::mem::take(&mut words_of_type))),
            token if depth == 0 => words_of_type.push(token.to_string()),
            _ => {}
        }
    }
    types.extend(type_shown(&words_of_type));
    Ok(types.join(","))
}

/// Words of types that are keywords, and the names that these have in `pg_catalog`.
const KEYWORD_TYPES: [(&str, &str); 18] = [
    ("int", "int4"),
    ("integer", "int4"),
    ("smallint", "int2"),
    ("bigint", "int8"),
    ("real", "float4"),
    ("float", "float8"),
    ("double", "float8"),
    ("numeric", "numeric"),
    ("decimal", "numeric"),
    ("dec", "numeric"),
    ("boolean", "bool"),
    ("bit", "bit"),
    ("char", "bpchar"),
    ("character", "bpchar"),
    ("varchar", "varchar"),
    ("interval", "interval"),
    ("time", "time"),
    ("timestamp", "timestamp"),
];

/// The type of an argument as a message shows it; `None` for `*` and for an argument that only returns a value.
fn type_shown(words: &[String]) -> Option<String> {
    let is = |at: usize, any: &[&str]| {
        let word = words.get(at);
        word.is_some_and(|word| any.iter().any(|w| word.eq_ignore_ascii_case(w)))
    };
    if words.is_empty() || is(0, &["*", "out"]) {
        return None;
    }
    let words = &words[usize::from(is(0, &["in", "inout", "variadic"]))..];
    let known = |word: &String| {
        let known = KEYWORD_TYPES
            .iter()
            .find(|(name, _)| word.eq_ignore_ascii_case(name));
        known.map(|(_, name)| *name)
    };
    let is_name = |word: &String| word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '"');
    let is_named = |words: &[String]| match words {
        [name, ty, ..] => known(name).is_none() && is_name(name) && is_name(ty),
        _ => false,
    };
    // A name may stand before the type.
    let words = if is_named(words) { &words[1..] } else { words };
    let has = |wanted: &str| words.iter().any(|word| word.eq_ignore_ascii_case(wanted));
    let brackets: String = words
        .iter()
        .filter(|word| ["[", "]"].contains(&word.as_str()))
        .cloned()
        .collect();
    let Some(name) = words.first().and_then(known) else {
        return Some(words.concat());
    };
    let name = match name {
        "bpchar" if has("varying") => "varchar",
        "timestamp" if has("with") => "timestamptz",
        "time" if has("with") => "timetz",
        name => name,
    };
    Some(format!("pg_catalog.{name}{brackets}"))
}
