//! GRANT, REVOKE and ALTER … OWNER TO, read from their tokens. One role owns everything and may do everything, so that
//! the statements are checked and change nothing.

use super::cursor::Cursor;
use super::parsed::ParsedKind;
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result, SqlState, USER};
use sqlparser::tokenizer::Token;

/// GRANT, REVOKE or OWNER TO as written.
#[derive(Clone, Debug)]
pub(crate) struct Privileges {
    /// The tag of the command.
    pub tag: &'static str,
    /// The objects; with IF EXISTS they may be missing.
    pub objects: Vec<(Object, WrittenName)>,
    pub if_exists: bool,
    /// Columns that privileges name.
    pub columns: Vec<String>,
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Relation,
    Type,
    Schema,
}

/// A kind of objects in GRANT: its word, what it is, the privileges that it has.
type Kind = (&'static str, Object, &'static [&'static str]);

const TABLE: Kind = (
    "table",
    Object::Relation,
    &[
        "select",
        "insert",
        "update",
        "delete",
        "truncate",
        "references",
        "trigger",
    ],
);
const KINDS: [Kind; 5] = [
    TABLE,
    ("sequence", Object::Relation, &["usage", "select", "update"]),
    ("type", Object::Type, &["usage"]),
    ("domain", Object::Type, &["usage"]),
    ("schema", Object::Schema, &["create", "usage"]),
];

/// All privileges of PostgreSQL.
const PRIVILEGES: [&str; 13] = [
    "select",
    "insert",
    "update",
    "delete",
    "truncate",
    "references",
    "trigger",
    "usage",
    "create",
    "connect",
    "temporary",
    "temp",
    "execute",
];

/// Kinds of objects with an owner: the word behind ALTER, the kind, the tag.
const OWNED: [(&str, Object, &str); 8] = [
    ("table", Object::Relation, "ALTER TABLE"),
    ("view", Object::Relation, "ALTER VIEW"),
    // The word VIEW follows.
    ("materialized", Object::Relation, "ALTER MATERIALIZED VIEW"),
    ("index", Object::Relation, "ALTER INDEX"),
    ("sequence", Object::Relation, "ALTER SEQUENCE"),
    ("type", Object::Type, "ALTER TYPE"),
    ("domain", Object::Type, "ALTER DOMAIN"),
    ("schema", Object::Schema, "ALTER SCHEMA"),
];

/// True if the statement is ALTER of an object that has an owner and ends with OWNER TO and a name.
pub(super) fn is_owner(cursor: &Cursor) -> bool {
    let word = |token: &Token| match token {
        Token::Word(w) => w.value.to_lowercase(),
        _ => String::new(),
    };
    let words: Vec<String> = cursor.rest().iter().map(|t| word(&t.token)).collect();
    let is_set = matches!(&words[..], [.., owner, to, _] if owner == "owner" && to == "to");
    is_set
        && words
            .get(1)
            .is_some_and(|kind| OWNED.iter().any(|owned| owned.0 == *kind))
}

/// ALTER kind [IF EXISTS] [ONLY] name OWNER TO role. 42704 for an unknown role.
pub(super) fn owner(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.expect_word("alter")?;
    let kind = cursor.word().unwrap_or_default();
    let Some((_, object, tag)) = OWNED.iter().find(|owned| owned.0 == kind) else {
        return Err(cursor.error());
    };
    cursor.next();
    if kind == "materialized" {
        cursor.expect_word("view")?;
    }
    let if_exists = *object == Object::Relation && cursor.take("if");
    if if_exists {
        cursor.expect_word("exists")?;
    }
    if kind == "table" {
        cursor.take("only");
    }
    let name = cursor.table_name()?;
    cursor.expect_word("owner")?;
    cursor.expect_word("to")?;
    role(cursor, false)?;
    cursor.end()?;
    Ok(ParsedKind::Privileges(Privileges {
        tag,
        objects: vec![(*object, name)],
        if_exists,
        columns: Vec::new(),
    }))
}

/// GRANT … ON … TO …, REVOKE … ON … FROM …. 0A000 for roles as members of roles and for objects that there are not,
/// 0LP01 for a privilege that the objects do not have, 42704 for an unknown role.
pub(super) fn grant(cursor: &mut Cursor, is_revoke: bool) -> Result<ParsedKind> {
    cursor.next();
    if is_revoke && cursor.take("grant") {
        cursor.expect_word("option")?;
        cursor.expect_word("for")?;
    }
    let (privileges, columns) = privileges(cursor)?;
    if !cursor.take("on") {
        let members = cursor.word().is_some_and(|word| word == "to" || word == "from");
        return Err(match members {
            true => Error::unsupported("membership in roles"),
            false => cursor.error(),
        });
    }
    if let Some(unknown) = privileges.iter().find(|one| !PRIVILEGES.contains(&one.as_str())) {
        let message = format!("unrecognized privilege type \"{unknown}\"");
        return Err(Error::new(SqlState::SYNTAX_ERROR, message));
    }
    let (kind, objects) = objects(cursor)?;
    if let Some(wrong) = privileges.iter().find(|one| !kind.2.contains(&one.as_str())) {
        let kind = if kind.1 == Object::Relation {
            "relation"
        } else {
            kind.0
        };
        let message = format!("invalid privilege type {} for {kind}", wrong.to_uppercase());
        return Err(Error::new(SqlState::INVALID_GRANT, message));
    }
    cursor.expect_word(if is_revoke { "from" } else { "to" })?;
    roles(cursor)?;
    if !is_revoke && cursor.take("with") {
        cursor.expect_word("grant")?;
        cursor.expect_word("option")?;
    }
    if cursor.take("granted") {
        cursor.expect_word("by")?;
        role(cursor, false)?;
    }
    if is_revoke && !cursor.take("cascade") {
        cursor.take("restrict");
    }
    cursor.end()?;
    Ok(ParsedKind::Privileges(Privileges {
        tag: if is_revoke { "REVOKE" } else { "GRANT" },
        objects: objects.into_iter().map(|name| (kind.1, name)).collect(),
        if_exists: false,
        columns,
    }))
}

/// ALL [PRIVILEGES], or privileges separated by commas, each perhaps with columns.
fn privileges(cursor: &mut Cursor) -> Result<(Vec<String>, Vec<String>)> {
    let (mut privileges, mut columns) = (Vec::new(), Vec::new());
    loop {
        match cursor.take("all") {
            true => drop(cursor.take("privileges")),
            false => privileges.push(cursor.label()?),
        }
        if cursor.take_token(&Token::LParen) {
            columns.push(cursor.name()?);
            while cursor.take_token(&Token::Comma) {
                columns.push(cursor.name()?);
            }
            cursor.expect(&Token::RParen)?;
        }
        if !cursor.take_token(&Token::Comma) {
            return Ok((privileges, columns));
        }
    }
}

/// The objects behind ON: `[TABLE] name, …`, or `ALL TABLES IN SCHEMA name, …`, which are the schemas.
fn objects(cursor: &mut Cursor) -> Result<(Kind, Vec<WrittenName>)> {
    if cursor.take("all") {
        let word = cursor.label()?;
        let Some(kind) = KINDS.iter().find(|kind| word == format!("{}s", kind.0)) else {
            return Err(Error::unsupported(format!(
                "privileges on {}",
                word.to_uppercase()
            )));
        };
        cursor.expect_word("in")?;
        cursor.expect_word("schema")?;
        return Ok(((kind.0, Object::Schema, kind.2), names(cursor)?));
    }
    let word = cursor.word().unwrap_or_default();
    let is_kind = matches!(cursor.peek_behind(), Some(Token::Word(w)) if !is_end(&w.value));
    let kind = KINDS.iter().find(|kind| is_kind && kind.0 == word);
    match kind {
        None if is_kind => Err(Error::unsupported(format!(
            "privileges on {}",
            word.to_uppercase()
        ))),
        None => Ok((TABLE, names(cursor)?)),
        Some(kind) => {
            cursor.next();
            Ok((*kind, names(cursor)?))
        }
    }
}

/// True for the words behind the objects.
fn is_end(word: &str) -> bool {
    word.eq_ignore_ascii_case("to") || word.eq_ignore_ascii_case("from")
}

fn names(cursor: &mut Cursor) -> Result<Vec<WrittenName>> {
    let mut names = vec![cursor.table_name()?];
    while cursor.take_token(&Token::Comma) {
        names.push(cursor.table_name()?);
    }
    Ok(names)
}

fn roles(cursor: &mut Cursor) -> Result<()> {
    loop {
        cursor.take("group");
        role(cursor, true)?;
        if !cursor.take_token(&Token::Comma) {
            return Ok(());
        }
    }
}

/// The one role, under one of its names, or PUBLIC where it may be. 42704.
fn role(cursor: &mut Cursor, may_be_public: bool) -> Result<()> {
    let at = cursor.error_of(SqlState::UNDEFINED_OBJECT, "");
    let name = cursor.label()?;
    let known = [USER, "current_user", "session_user", "current_role"];
    if known.contains(&name.as_str()) || may_be_public && name == "public" {
        return Ok(());
    }
    let message = format!("role \"{name}\" does not exist");
    let error = Error::new(SqlState::UNDEFINED_OBJECT, message).with_hint(format!(
        "the one role is {USER}; pg_dump --no-owner --no-acl leaves roles out"
    ));
    Err(match at.position() {
        Some(position) => error.at_position(position),
        None => error,
    })
}
