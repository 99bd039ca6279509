//! CREATE, ALTER and DROP of roles, GRANT and REVOKE of roles, REASSIGN OWNED and DROP OWNED, read from their
//! tokens.

use super::cursor::Cursor;
use super::setting_values::{self, WrittenSetting};
use frazil_catalog::{DropBehavior, RoleOptions};
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::Token;

/// A role as a statement names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WrittenRole {
    /// By its name.
    Named(String),
    /// CURRENT_USER, CURRENT_ROLE.
    Current,
    /// SESSION_USER.
    Session,
    /// PUBLIC.
    Public,
}

/// A statement about roles.
#[derive(Clone, Debug)]
pub(crate) enum RoleStatement {
    /// CREATE ROLE.
    Create {
        name: String,
        options: Box<WrittenOptions>,
    },
    /// ALTER ROLE with options.
    Alter {
        role: WrittenRole,
        options: Box<WrittenOptions>,
    },
    /// ALTER ROLE … RENAME TO.
    Rename { name: String, to: String },
    /// DROP ROLE.
    Drop {
        roles: Vec<WrittenRole>,
        if_exists: bool,
    },
    /// GRANT and REVOKE of roles.
    Grant {
        is_grant: bool,
        admin_option: bool,
        roles: Vec<String>,
        members: Vec<WrittenRole>,
        grantor: Option<WrittenRole>,
        /// The tag of the command.
        tag: &'static str,
    },
    /// ALTER ROLE and ALTER DATABASE with SET or RESET.
    Settings {
        /// `None` for all roles.
        role: Option<WrittenRole>,
        database: Option<String>,
        setting: WrittenSetting,
        /// The tag of the command.
        tag: &'static str,
    },
    /// REASSIGN OWNED.
    Reassign {
        roles: Vec<WrittenRole>,
        to: WrittenRole,
    },
    /// DROP OWNED.
    DropOwned {
        roles: Vec<WrittenRole>,
        behavior: DropBehavior,
    },
}

/// The options of CREATE ROLE and ALTER ROLE.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenOptions {
    /// Those without roles and times; a password is as it is written.
    pub options: RoleOptions,
    /// VALID UNTIL.
    pub valid_until: Option<String>,
    /// IN ROLE.
    pub within: Vec<String>,
    /// ROLE, USER.
    pub members: Vec<WrittenRole>,
    /// ADMIN.
    pub admins: Vec<WrittenRole>,
}

/// True for the words ROLE, USER and GROUP.
fn is_kind(word: &str) -> bool {
    ["role", "user", "group"].contains(&word)
}

/// True if the statement is CREATE, ALTER or DROP of a role.
pub(super) fn is_next(cursor: &Cursor) -> bool {
    let word = |at: usize| match cursor.rest().get(at).map(|t| &t.token) {
        Some(Token::Word(w)) if w.quote_style.is_none() => w.value.to_lowercase(),
        _ => String::new(),
    };
    let is_mapping = word(1) == "user" && word(2) == "mapping";
    ["create", "alter", "drop"].contains(&word(0).as_str())
        && (is_kind(&word(1)) && !is_mapping || word(0) == "drop" && word(1) == "owned")
}

/// Reads CREATE, ALTER or DROP of roles, or DROP OWNED.
pub(super) fn parse(cursor: &mut Cursor) -> Result<RoleStatement> {
    let first = cursor.label()?;
    let kind = cursor.label()?;
    let statement = match (first.as_str(), kind.as_str()) {
        ("create", _) => create(cursor, &kind)?,
        ("alter", "group") => alter_group(cursor)?,
        ("alter", _) => alter(cursor)?,
        (_, "owned") => drop_owned(cursor)?,
        _ => {
            let if_exists = cursor.take("if");
            if if_exists {
                cursor.expect_word("exists")?;
            }
            let roles = roles(cursor)?;
            RoleStatement::Drop { roles, if_exists }
        }
    };
    cursor.end()?;
    Ok(statement)
}

/// True if the statement is ALTER DATABASE name with SET or RESET.
pub(super) fn is_of_database(cursor: &Cursor) -> bool {
    let word = |at: usize| match cursor.rest().get(at).map(|t| &t.token) {
        Some(Token::Word(w)) if w.quote_style.is_none() => w.value.to_lowercase(),
        _ => String::new(),
    };
    word(1) == "database" && ["set", "reset"].contains(&word(3).as_str())
}

/// ALTER DATABASE name SET, RESET.
pub(super) fn of_database(cursor: &mut Cursor) -> Result<RoleStatement> {
    cursor.expect_word("alter")?;
    cursor.expect_word("database")?;
    Ok(RoleStatement::Settings {
        role: None,
        database: Some(cursor.name()?),
        setting: setting_values::of_sessions(cursor)?,
        tag: "ALTER DATABASE",
    })
}

/// REASSIGN OWNED BY role, … TO role.
pub(super) fn reassign(cursor: &mut Cursor) -> Result<RoleStatement> {
    cursor.expect_word("reassign")?;
    cursor.expect_word("owned")?;
    cursor.expect_word("by")?;
    let roles = roles(cursor)?;
    cursor.expect_word("to")?;
    let to = role(cursor)?;
    cursor.end()?;
    Ok(RoleStatement::Reassign { roles, to })
}

/// DROP OWNED BY role, … [CASCADE | RESTRICT], behind its second word.
fn drop_owned(cursor: &mut Cursor) -> Result<RoleStatement> {
    cursor.expect_word("by")?;
    let roles = roles(cursor)?;
    let behavior = behavior(cursor);
    Ok(RoleStatement::DropOwned { roles, behavior })
}

/// CASCADE or RESTRICT, which is the default.
pub(super) fn behavior(cursor: &mut Cursor) -> DropBehavior {
    match cursor.take("cascade") {
        true => DropBehavior::Cascade,
        false => {
            cursor.take("restrict");
            DropBehavior::Restrict
        }
    }
}

/// A role that a statement names. PUBLIC is one in lists of privileges alone.
pub(super) fn role(cursor: &mut Cursor) -> Result<WrittenRole> {
    let words = [
        ("current_user", WrittenRole::Current),
        ("current_role", WrittenRole::Current),
        ("session_user", WrittenRole::Session),
    ];
    let word = cursor.word().unwrap_or_default();
    if let Some((_, role)) = words.into_iter().find(|(known, _)| *known == word) {
        cursor.next();
        return Ok(role);
    }
    let name = cursor.name()?;
    match name.as_str() {
        "public" => Ok(WrittenRole::Public),
        "none" => Err(Error::new(
            SqlState::RESERVED_NAME,
            "role name \"none\" is reserved",
        )),
        _ => Ok(WrittenRole::Named(name)),
    }
}

/// Roles, separated by commas.
pub(super) fn roles(cursor: &mut Cursor) -> Result<Vec<WrittenRole>> {
    let mut roles = vec![role(cursor)?];
    while cursor.take_token(&Token::Comma) {
        roles.push(role(cursor)?);
    }
    Ok(roles)
}

/// CREATE ROLE name [WITH] options, behind its second word.
fn create(cursor: &mut Cursor, kind: &str) -> Result<RoleStatement> {
    let name = match role(cursor)? {
        WrittenRole::Named(name) => name,
        WrittenRole::Public => return Err(reserved("public")),
        WrittenRole::Current => return Err(special("CURRENT_USER")),
        WrittenRole::Session => return Err(special("SESSION_USER")),
    };
    let mut options = options(cursor, true)?;
    if kind == "user" {
        options.options.login.get_or_insert(true);
    }
    Ok(RoleStatement::Create {
        name,
        options: Box::new(options),
    })
}

fn reserved(name: &str) -> Error {
    Error::new(
        SqlState::RESERVED_NAME,
        format!("role name \"{name}\" is reserved"),
    )
}

/// 42939 for a word in the place of a role's name.
fn special(word: &str) -> Error {
    let message = format!("{word} cannot be used as a role name here");
    Error::new(SqlState::RESERVED_NAME, message)
}

/// ALTER ROLE, ALTER USER, behind its second word.
fn alter(cursor: &mut Cursor) -> Result<RoleStatement> {
    let all = cursor.take("all");
    let role = match all {
        true => WrittenRole::Public,
        false => role(cursor)?,
    };
    let next = cursor.word().unwrap_or_default();
    if all || ["in", "set", "reset"].contains(&next.as_str()) {
        let database = match cursor.take("in") {
            true => {
                cursor.expect_word("database")?;
                Some(cursor.name()?)
            }
            false => None,
        };
        return Ok(RoleStatement::Settings {
            role: (!all).then_some(role),
            database,
            setting: setting_values::of_sessions(cursor)?,
            tag: "ALTER ROLE",
        });
    }
    if cursor.take("rename") {
        return renamed(cursor, role);
    }
    let options = Box::new(options(cursor, false)?);
    Ok(RoleStatement::Alter { role, options })
}

/// The rest of ALTER ROLE … RENAME.
fn renamed(cursor: &mut Cursor, of: WrittenRole) -> Result<RoleStatement> {
    cursor.expect_word("to")?;
    let name = |role| match role {
        WrittenRole::Named(name) => Ok(name),
        WrittenRole::Public => Err(reserved("public")),
        WrittenRole::Current => Err(special("CURRENT_USER")),
        WrittenRole::Session => Err(special("SESSION_USER")),
    };
    let to = name(role(cursor)?)?;
    let name = name(of)?;
    Ok(RoleStatement::Rename { name, to })
}

/// ALTER GROUP, behind its second word: ADD USER, DROP USER, RENAME TO.
fn alter_group(cursor: &mut Cursor) -> Result<RoleStatement> {
    let group = role(cursor)?;
    if cursor.take("rename") {
        return renamed(cursor, group);
    }
    let is_grant = cursor.take("add");
    if !is_grant {
        cursor.expect_word("drop")?;
    }
    cursor.expect_word("user")?;
    let WrittenRole::Named(group) = group else {
        return Err(special("CURRENT_USER"));
    };
    Ok(RoleStatement::Grant {
        is_grant,
        admin_option: false,
        roles: vec![group],
        members: roles(cursor)?,
        grantor: None,
        tag: "ALTER ROLE",
    })
}

/// 42601 for an option that is given twice.
fn twice() -> Error {
    Error::new(SqlState::SYNTAX_ERROR, "conflicting or redundant options")
}

fn put<T>(place: &mut Option<T>, value: T) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(twice()),
    }
}

/// A text in quotes.
fn quoted(cursor: &mut Cursor) -> Result<String> {
    match cursor.next() {
        Some(Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text)) => Ok(text),
        Some(Token::DollarQuotedString(text)) => Ok(text.value),
        _ => Err(cursor.error_before()),
    }
}

fn integer(cursor: &mut Cursor) -> Result<i32> {
    let sign = if cursor.take_token(&Token::Minus) { -1 } else { 1 };
    match cursor.next() {
        Some(Token::Number(digits, _)) => {
            let number = digits.parse::<i32>().map_err(|_| cursor.error_before())?;
            Ok(sign * number)
        }
        _ => Err(cursor.error_before()),
    }
}

/// The options of CREATE ROLE, or of ALTER ROLE.
fn options(cursor: &mut Cursor, creates: bool) -> Result<WrittenOptions> {
    cursor.take("with");
    let mut written = WrittenOptions::default();
    while !cursor.rest().is_empty() {
        let at = cursor.error();
        let word = cursor.word().ok_or_else(|| cursor.error())?;
        cursor.next();
        match word.as_str() {
            "in" if creates => {
                if !cursor.take("role") {
                    cursor.expect_word("group")?;
                }
                written.within.extend(named(cursor)?);
            }
            "role" | "user" if creates => written.members.extend(roles(cursor)?),
            // ALTER GROUP's old words for members.
            "user" => written.members.extend(roles(cursor)?),
            "admin" if creates => written.admins.extend(roles(cursor)?),
            "sysid" if creates => drop(integer(cursor)?),
            "valid" => {
                cursor.expect_word("until")?;
                put(&mut written.valid_until, quoted(cursor)?)?;
            }
            _ => option(cursor, &mut written.options, &word, at)?,
        }
    }
    Ok(written)
}

/// Roles by their names alone.
fn named(cursor: &mut Cursor) -> Result<Vec<String>> {
    let roles = roles(cursor)?.into_iter().map(|role| match role {
        WrittenRole::Named(name) => Ok(name),
        WrittenRole::Public => Ok("public".to_owned()),
        WrittenRole::Current => Err(special("CURRENT_USER")),
        WrittenRole::Session => Err(special("SESSION_USER")),
    });
    roles.collect()
}

/// An option that is one word, or one with a value. 42601 with `at` for another word.
fn option(cursor: &mut Cursor, options: &mut RoleOptions, word: &str, at: Error) -> Result<()> {
    match word {
        "connection" => {
            cursor.expect_word("limit")?;
            return put(&mut options.connection_limit, integer(cursor)?);
        }
        "encrypted" => {
            cursor.expect_word("password")?;
            return put(&mut options.password, Some(quoted(cursor)?));
        }
        "unencrypted" => {
            cursor.expect_word("password")?;
            let message = "UNENCRYPTED PASSWORD is no longer supported";
            let hint = "Remove UNENCRYPTED to store the password in encrypted form instead.";
            return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message).with_hint(hint));
        }
        "password" => {
            let password = match cursor.take("null") {
                true => None,
                false => Some(quoted(cursor)?),
            };
            return put(&mut options.password, password);
        }
        _ => {}
    }
    let (name, value) = match word.strip_prefix("no") {
        Some(rest) => (rest, false),
        None => (word, true),
    };
    let place = match name {
        "superuser" => &mut options.superuser,
        "createdb" => &mut options.create_db,
        "createrole" => &mut options.create_role,
        "inherit" => &mut options.inherit,
        "login" => &mut options.login,
        "replication" => &mut options.replication,
        "bypassrls" => &mut options.bypass_rls,
        _ => {
            let message = format!("unrecognized role option \"{word}\"");
            let error = Error::new(SqlState::SYNTAX_ERROR, message);
            return Err(match at.position() {
                Some(position) => error.at_position(position),
                None => error,
            });
        }
    };
    put(place, value)
}
