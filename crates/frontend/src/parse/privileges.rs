//! GRANT, REVOKE, ALTER DEFAULT PRIVILEGES and ALTER … OWNER TO, read from their tokens.

use super::cursor::Cursor;
use super::roles::{self, RoleStatement, WrittenRole, behavior, role, roles};
use frazil_catalog::{DefaultKind, DropBehavior, GuardedKind, Rights, WrittenName};
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::Token;

/// A statement about roles, owners or privileges as written.
#[derive(Clone, Debug)]
pub(crate) enum WrittenAccess {
    /// CREATE, ALTER or DROP ROLE, GRANT of roles, REASSIGN OWNED, DROP OWNED.
    Role(RoleStatement),
    /// GRANT, REVOKE.
    Grant(WrittenGrant),
    /// ALTER DEFAULT PRIVILEGES.
    Defaults(WrittenDefaults),
    /// OWNER TO.
    Owner(WrittenOwner),
}

/// ALTER … OWNER TO as written.
#[derive(Clone, Debug)]
pub(crate) struct WrittenOwner {
    pub object: Object,
    pub name: WrittenName,
    /// IF EXISTS.
    pub if_exists: bool,
    pub owner: WrittenRole,
    /// The tag of the command.
    pub tag: &'static str,
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Table,
    View,
    MaterializedView,
    Index,
    Sequence,
    Type,
    Schema,
    Database,
}

/// GRANT or REVOKE as written.
#[derive(Clone, Debug)]
pub(crate) struct WrittenGrant {
    pub is_grant: bool,
    pub grant_option: bool,
    pub rights: Vec<WrittenRight>,
    pub objects: GrantObjects,
    pub grantees: Vec<WrittenRole>,
    pub grantor: Option<WrittenRole>,
    pub behavior: DropBehavior,
}

/// A right with the columns that it is for.
#[derive(Clone, Debug)]
pub(crate) struct WrittenRight {
    /// `None` for ALL.
    pub rights: Option<Rights>,
    pub columns: Vec<String>,
}

/// The objects of GRANT.
#[derive(Clone, Debug)]
pub(crate) enum GrantObjects {
    /// Objects of a kind by their names.
    Named(GuardedKind, Vec<WrittenName>),
    /// ALL … IN SCHEMA.
    InSchemas(DefaultKind, Vec<String>),
    /// ALL FUNCTIONS IN SCHEMA, of which there are none.
    Functions(Vec<String>),
}

/// ALTER DEFAULT PRIVILEGES as written.
#[derive(Clone, Debug)]
pub(crate) struct WrittenDefaults {
    /// FOR ROLE; none: the current role.
    pub roles: Vec<WrittenRole>,
    /// IN SCHEMA.
    pub schemas: Vec<String>,
    /// The kind of objects; `None` for functions, of which there are none.
    pub kind: Option<DefaultKind>,
    pub rights: Vec<WrittenRight>,
    pub is_grant: bool,
    pub grant_option: bool,
    pub grantees: Vec<WrittenRole>,
    pub behavior: DropBehavior,
}

/// Kinds of objects with an owner: the word behind ALTER, the kind, the tag.
const OWNED: [(&str, Object, &str); 9] = [
    ("table", Object::Table, "ALTER TABLE"),
    ("view", Object::View, "ALTER VIEW"),
    // The word VIEW follows.
    (
        "materialized",
        Object::MaterializedView,
        "ALTER MATERIALIZED VIEW",
    ),
    ("index", Object::Index, "ALTER INDEX"),
    ("sequence", Object::Sequence, "ALTER SEQUENCE"),
    ("type", Object::Type, "ALTER TYPE"),
    ("domain", Object::Type, "ALTER DOMAIN"),
    ("schema", Object::Schema, "ALTER SCHEMA"),
    ("database", Object::Database, "ALTER DATABASE"),
];

/// Reads a statement about roles, owners or privileges, whose first word is given; `None` for any other.
pub(super) fn parse(cursor: &mut Cursor, first: &str) -> Result<Option<WrittenAccess>> {
    let read = match first {
        "grant" | "revoke" => grant(cursor, first == "revoke")?,
        "reassign" => WrittenAccess::Role(roles::reassign(cursor)?),
        "alter" if is_defaults(cursor) => WrittenAccess::Defaults(defaults(cursor)?),
        "alter" if roles::is_of_database(cursor) => WrittenAccess::Role(roles::of_database(cursor)?),
        "alter" if is_owner(cursor) => WrittenAccess::Owner(owner(cursor)?),
        "create" | "alter" | "drop" if roles::is_next(cursor) => WrittenAccess::Role(roles::parse(cursor)?),
        _ => return Ok(None),
    };
    Ok(Some(read))
}

/// True if the statement is ALTER of an object that has an owner and ends with OWNER TO and a name.
fn is_owner(cursor: &Cursor) -> bool {
    let word = |token: &Token| match token {
        Token::Word(w) => w.value.to_lowercase(),
        _ => String::new(),
    };
    let words: Vec<String> = cursor.rest().iter().map(|t| word(&t.token)).collect();
    let is_set = match &words[..] {
        [.., before, owner, to, _] => {
            owner == "owner" && to == "to" && !["rename", "column"].contains(&before.as_str())
        }
        _ => false,
    };
    is_set
        && words
            .get(1)
            .is_some_and(|kind| OWNED.iter().any(|owned| owned.0 == *kind))
}

/// ALTER kind [IF EXISTS] [ONLY] name OWNER TO role.
fn owner(cursor: &mut Cursor) -> Result<WrittenOwner> {
    cursor.expect_word("alter")?;
    let kind = cursor.word().unwrap_or_default();
    let Some((_, object, tag)) = OWNED.iter().find(|owned| owned.0 == kind) else {
        return Err(cursor.error());
    };
    cursor.next();
    if kind == "materialized" {
        cursor.expect_word("view")?;
    }
    let has_schema = !matches!(object, Object::Type | Object::Schema | Object::Database);
    let if_exists = has_schema && cursor.take("if");
    if if_exists {
        cursor.expect_word("exists")?;
    }
    if kind == "table" {
        cursor.take("only");
    }
    let name = cursor.table_name()?;
    cursor.expect_word("owner")?;
    cursor.expect_word("to")?;
    let owner = role(cursor)?;
    cursor.end()?;
    Ok(WrittenOwner {
        object: *object,
        name,
        if_exists,
        owner,
        tag,
    })
}

/// GRANT … ON … TO …, REVOKE … ON … FROM …, and those of roles. 42601 for a word that names no right, 0LP01 for columns
/// of roles, 0A000 for kinds of objects that there are not.
fn grant(cursor: &mut Cursor, is_revoke: bool) -> Result<WrittenAccess> {
    cursor.next();
    let mut grant_option = false;
    if is_revoke {
        for word in ["grant", "admin"] {
            if cursor.word().as_deref() == Some(word) && next_is(cursor, "option") {
                cursor.next();
                cursor.next();
                cursor.expect_word("for")?;
                if word == "admin" {
                    let words = words(cursor)?;
                    return membership(cursor, words, is_revoke, true);
                }
                grant_option = true;
            }
        }
    }
    let words = words(cursor)?;
    if !cursor.take("on") {
        return membership(cursor, words, is_revoke, grant_option);
    }
    let rights = rights(words)?;
    let objects = objects(cursor)?;
    let (grantees, with_option) = grantees(cursor, is_revoke)?;
    let grantor = granted_by(cursor)?;
    let behavior = match is_revoke {
        true => behavior(cursor),
        false => DropBehavior::Restrict,
    };
    cursor.end()?;
    Ok(WrittenAccess::Grant(WrittenGrant {
        is_grant: !is_revoke,
        grant_option: grant_option || with_option,
        rights,
        objects,
        grantees,
        grantor,
        behavior,
    }))
}

fn next_is(cursor: &Cursor, word: &str) -> bool {
    matches!(cursor.peek_behind(), Some(Token::Word(w)) if w.value.eq_ignore_ascii_case(word))
}

/// TO or FROM with roles, and WITH GRANT OPTION.
fn grantees(cursor: &mut Cursor, is_revoke: bool) -> Result<(Vec<WrittenRole>, bool)> {
    cursor.expect_word(if is_revoke { "from" } else { "to" })?;
    let mut grantees = Vec::new();
    loop {
        cursor.take("group");
        grantees.push(role(cursor)?);
        if !cursor.take_token(&Token::Comma) {
            break;
        }
    }
    let with_option = !is_revoke && cursor.take("with");
    if with_option {
        cursor.expect_word("grant")?;
        cursor.expect_word("option")?;
    }
    Ok((grantees, with_option))
}

fn granted_by(cursor: &mut Cursor) -> Result<Option<WrittenRole>> {
    if !cursor.take("granted") {
        return Ok(None);
    }
    cursor.expect_word("by")?;
    role(cursor).map(Some)
}

/// The rest of GRANT and REVOKE of roles, whose names were read.
fn membership(
    cursor: &mut Cursor,
    words: Vec<(Option<String>, Vec<String>)>,
    is_revoke: bool,
    admin_option: bool,
) -> Result<WrittenAccess> {
    cursor.expect_word(if is_revoke { "from" } else { "to" })?;
    let members = roles(cursor)?;
    let mut admin_option = admin_option;
    if !is_revoke && cursor.take("with") {
        cursor.expect_word("admin")?;
        cursor.expect_word("option")?;
        admin_option = true;
    }
    let grantor = granted_by(cursor)?;
    if is_revoke {
        behavior(cursor);
    }
    cursor.end()?;
    if words.iter().any(|(_, columns)| !columns.is_empty()) {
        let message = "column names cannot be included in GRANT/REVOKE ROLE";
        return Err(Error::new(SqlState::INVALID_GRANT, message));
    }
    let roles = words
        .into_iter()
        .map(|(word, _)| word.unwrap_or_else(|| "all".to_owned()));
    Ok(WrittenAccess::Role(RoleStatement::Grant {
        is_grant: !is_revoke,
        admin_option,
        roles: roles.collect(),
        members,
        grantor,
        tag: if is_revoke { "REVOKE ROLE" } else { "GRANT ROLE" },
    }))
}

/// ALL [PRIVILEGES], or words separated by commas, each perhaps with columns. `None` stands for ALL.
fn words(cursor: &mut Cursor) -> Result<Vec<(Option<String>, Vec<String>)>> {
    let mut words = Vec::new();
    loop {
        let word = match words.is_empty() && cursor.take("all") {
            true => {
                cursor.take("privileges");
                None
            }
            false => Some(cursor.label()?),
        };
        let mut columns = Vec::new();
        if cursor.take_token(&Token::LParen) {
            columns.push(cursor.name()?);
            while cursor.take_token(&Token::Comma) {
                columns.push(cursor.name()?);
            }
            cursor.expect(&Token::RParen)?;
        }
        let is_all = word.is_none();
        words.push((word, columns));
        if is_all || !cursor.take_token(&Token::Comma) {
            return Ok(words);
        }
    }
}

/// The rights that words name. 42601.
fn rights(words: Vec<(Option<String>, Vec<String>)>) -> Result<Vec<WrittenRight>> {
    let rights = words.into_iter().map(|(word, columns)| {
        let rights = match word {
            None => None,
            Some(word) => Some(Rights::named(&word).ok_or_else(|| {
                let message = format!("unrecognized privilege type \"{word}\"");
                Error::new(SqlState::SYNTAX_ERROR, message)
            })?),
        };
        Ok(WrittenRight { rights, columns })
    });
    rights.collect()
}

/// The words behind ON that name a kind, and the kind.
const KINDS: [(&str, GuardedKind); 6] = [
    ("table", GuardedKind::Table),
    ("sequence", GuardedKind::Sequence),
    ("type", GuardedKind::Type),
    ("domain", GuardedKind::Type),
    ("schema", GuardedKind::Schema),
    ("database", GuardedKind::Database),
];

/// The objects behind ON: `[TABLE] name, …`, or `ALL TABLES IN SCHEMA name, …`.
fn objects(cursor: &mut Cursor) -> Result<GrantObjects> {
    if cursor.word().as_deref() == Some("all") && !matches!(cursor.peek_behind(), Some(Token::Comma)) {
        cursor.next();
        let word = cursor.label()?;
        cursor.expect_word("in")?;
        cursor.expect_word("schema")?;
        let schemas = listed(cursor)?;
        return match word.as_str() {
            "tables" => Ok(GrantObjects::InSchemas(DefaultKind::Relations, schemas)),
            "sequences" => Ok(GrantObjects::InSchemas(DefaultKind::Sequences, schemas)),
            "functions" | "procedures" | "routines" => Ok(GrantObjects::Functions(schemas)),
            _ => Err(unsupported(&word)),
        };
    }
    let word = cursor.word().unwrap_or_default();
    let is_kind = matches!(cursor.peek_behind(), Some(Token::Word(w)) if !is_end(&w.value));
    let kind = KINDS.iter().find(|kind| is_kind && kind.0 == word);
    match kind {
        None if is_kind => Err(unsupported(&word)),
        None => Ok(GrantObjects::Named(GuardedKind::Table, names(cursor)?)),
        Some((_, kind)) => {
            cursor.next();
            Ok(GrantObjects::Named(*kind, names(cursor)?))
        }
    }
}

fn unsupported(word: &str) -> Error {
    Error::unsupported(format!("privileges on {}", word.to_uppercase()))
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

/// Names without schemas, separated by commas.
fn listed(cursor: &mut Cursor) -> Result<Vec<String>> {
    let mut names = vec![cursor.name()?];
    while cursor.take_token(&Token::Comma) {
        names.push(cursor.name()?);
    }
    Ok(names)
}

/// True if the statement is ALTER DEFAULT PRIVILEGES.
fn is_defaults(cursor: &Cursor) -> bool {
    cursor.word().as_deref() == Some("alter") && next_is(cursor, "default")
}

/// ALTER DEFAULT PRIVILEGES [FOR ROLE role, …] [IN SCHEMA name, …] GRANT … | REVOKE ….
fn defaults(cursor: &mut Cursor) -> Result<WrittenDefaults> {
    cursor.expect_word("alter")?;
    cursor.expect_word("default")?;
    cursor.expect_word("privileges")?;
    let (mut of, mut schemas) = (Vec::new(), Vec::new());
    loop {
        if cursor.take("for") {
            if !cursor.take("role") {
                cursor.expect_word("user")?;
            }
            of.extend(roles(cursor)?);
        } else if cursor.take("in") {
            cursor.expect_word("schema")?;
            schemas.extend(listed(cursor)?);
        } else {
            break;
        }
    }
    let is_revoke = cursor.take("revoke");
    if !is_revoke {
        cursor.expect_word("grant")?;
    }
    let grant_option = is_revoke && cursor.take("grant");
    if grant_option {
        cursor.expect_word("option")?;
        cursor.expect_word("for")?;
    }
    let words = words(cursor)?;
    if words.iter().any(|(_, columns)| !columns.is_empty()) {
        let message = "default privileges cannot be set for columns";
        return Err(Error::new(SqlState::INVALID_GRANT, message));
    }
    let rights = rights(words)?;
    cursor.expect_word("on")?;
    let word = cursor.label()?;
    let kind = match word.as_str() {
        "tables" => Some(DefaultKind::Relations),
        "sequences" => Some(DefaultKind::Sequences),
        "types" => Some(DefaultKind::Types),
        "schemas" => Some(DefaultKind::Schemas),
        "functions" | "routines" => None,
        _ => return Err(cursor.error_before()),
    };
    let (grantees, with_option) = grantees(cursor, is_revoke)?;
    let behavior = behavior(cursor);
    cursor.end()?;
    Ok(WrittenDefaults {
        roles: of,
        schemas,
        kind,
        rights,
        is_grant: !is_revoke,
        grant_option: grant_option || with_option,
        grantees,
        behavior,
    })
}
