//! Functions of the catalog: they ask, row by row, what an oid is called or how it is defined.
//!
//! Functions run without the session that calls them, so a statement that has such a call registers its catalog, and
//! gets the number of the registration as a hidden parameter. The calls find the catalog by this number, and a plan that
//! is kept finds the catalog of each run.

use crate::named_oids::missing;
use crate::vector::{Output, Row};
use frazil_catalog::{Catalog, Guarded, RoleId};
use frazil_types::sql_type::named_oid;
use frazil_types::{Error, Kind, Result, SqlState};
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// A question about an object that an oid names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The shortest name of a relation by which the session finds it.
    Relation,
    /// The shortest name of a type that a statement defined.
    Type,
    /// The name of a schema.
    Schema,
    /// The definition of a constraint, as SQL.
    Constraint,
    /// The CREATE INDEX statement of an index, with the schema of the table.
    Index,
    /// The CREATE INDEX statement of an index, with the shortest name by which the session finds the table.
    ShortIndex,
    /// The query of a view.
    View,
    /// The name of a sequence, if the relation is one.
    Sequence,
    /// The name of a role.
    Role,
    /// The name of the database.
    Database,
}

/// A column of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedColumn<'a> {
    /// By its name, as the catalog keeps it.
    Named(&'a str),
    /// By its `attnum`.
    Numbered(i64),
}

/// A part of a relation that has a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// The rows of a table, or the entries of an index.
    Own,
    /// The indexes of a table.
    Indexes,
}

/// The catalog of a statement, with the search path of its session.
pub trait SessionCatalog: Debug + Send + Sync {
    /// The catalog, to be asked for roles, owners and privileges.
    fn catalog(&self) -> &Catalog;
    /// The role by whose rights the statement runs.
    fn role(&self) -> RoleId;
    /// A column of a relation; `Some(None)` for one that has no privileges of its own, because the system made it.
    /// `None` without the column.
    fn column(&self, relation: u32, column: AskedColumn<'_>) -> Option<Option<Guarded>>;
    /// The answer; `None` if no such object has the oid.
    fn answer(&self, asked: Asked, oid: u32) -> Option<String>;
    /// True if the session finds the relation or type without its schema; `None` if none has the oid.
    fn is_visible(&self, asked: Asked, oid: u32) -> Option<bool>;
    /// The oid of the relation, type or schema that a text names; `None` if there is none.
    fn find(&self, asked: Asked, text: &str) -> Option<u32>;
    /// The name of the sequence that a column of a relation owns, `Some(None)` if it owns none; `None` without the
    /// column.
    fn owned_sequence(&self, relation: u32, column: &str) -> Option<Option<String>>;
    /// The comment on an object, or on its column of a number that is not 0. `class`: the table of `pg_catalog` that
    /// must show the object.
    fn comment(&self, oid: u32, column: i64, class: Option<&str>) -> Option<String>;
    /// The column of an index at a position from 1.
    fn index_column(&self, index: u32, position: i64) -> Option<String>;
    /// The bytes of a part of a relation, 0 if it has no such part; `None` if no relation has the oid.
    fn bytes(&self, relation: u32, of: Bytes) -> Option<u64>;
    /// The bytes of all tables and indexes.
    fn bytes_of_database(&self) -> u64;
}

static CATALOGS: LazyLock<Mutex<HashMap<i64, Arc<dyn SessionCatalog>>>> = LazyLock::new(Mutex::default);
static LAST: AtomicI64 = AtomicI64::new(0);

/// A registered catalog: calls find it until this is dropped.
#[derive(Debug)]
pub struct RegisteredCatalog(i64);

impl RegisteredCatalog {
    /// Registers a catalog.
    pub fn new(catalog: Arc<dyn SessionCatalog>) -> RegisteredCatalog {
        let number = 1 + LAST.fetch_add(1, Ordering::Relaxed);
        CATALOGS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(number, catalog);
        RegisteredCatalog(number)
    }

    /// The value of the hidden parameter.
    pub fn number(&self) -> i64 {
        self.0
    }
}

impl Drop for RegisteredCatalog {
    fn drop(&mut self) {
        CATALOGS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.0);
    }
}

/// The catalog that the last argument of a call names. 0A000 in a CHECK or a default, which have none.
pub(crate) fn catalog_of(row: &Row<'_>) -> Result<Arc<dyn SessionCatalog>> {
    let number = row.int(row.arguments() - 1);
    let catalogs = CATALOGS.lock().unwrap_or_else(PoisonError::into_inner);
    let found = catalogs.get(&number).cloned();
    found.ok_or_else(|| {
        Error::unsupported("a function of the catalog in a CHECK or a statement without a session")
    })
}

fn oid_of(row: &Row<'_>) -> u32 {
    u32::try_from(row.int(0)).unwrap_or(0)
}

fn text_or_null(answer: Option<String>, out: &mut Output<'_>) -> Result<()> {
    match answer {
        Some(text) => out.text(&text),
        None => out.null(),
    }
}

pub(crate) fn constraint_definition(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    text_or_null(catalog_of(row)?.answer(Asked::Constraint, oid_of(row)), out)
}

pub(crate) fn index_definition(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let catalog = catalog_of(row)?;
    let (column, is_pretty) = match row.arguments() > 2 {
        true => (row.int(1), row.bool(2)),
        false => (0, false),
    };
    let answer = match (column, is_pretty) {
        (0, false) => catalog.answer(Asked::Index, oid_of(row)),
        (0, true) => catalog.answer(Asked::ShortIndex, oid_of(row)),
        (position, _) => catalog.index_column(oid_of(row), position),
    };
    text_or_null(answer, out)
}

pub(crate) fn object_comment(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let class = (row.arguments() > 2).then(|| row.text(1));
    text_or_null(catalog_of(row)?.comment(oid_of(row), 0, class), out)
}

pub(crate) fn column_comment(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let comment = catalog_of(row)?.comment(oid_of(row), row.int(1), Some("pg_class"));
    text_or_null(comment, out)
}

/// The bytes of some parts of the relation that the first argument names or numbers; NULL for a number of nothing.
/// 42P01 for a name of nothing.
pub(crate) fn bytes_of_relation(row: &Row<'_>, parts: &[Bytes], out: &mut Output<'_>) -> Result<()> {
    let catalog = catalog_of(row)?;
    let oid = match row.ty(0).is_string() {
        true => find(row, Asked::Relation, row.text(0))?
            .ok_or_else(|| missing("42P01", "relation", row.text(0)))?,
        false => oid_of(row),
    };
    if catalog.bytes(oid, Bytes::Own).is_none() {
        return out.null();
    }
    let parts = parts.iter().filter_map(|part| catalog.bytes(oid, *part));
    out.int(parts.sum::<u64>().into())
}

pub(crate) fn bytes_of_database(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    out.int(catalog_of(row)?.bytes_of_database().into())
}

pub(crate) fn view_definition(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    text_or_null(catalog_of(row)?.answer(Asked::View, oid_of(row)), out)
}

pub(crate) fn relation_is_visible(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match catalog_of(row)?.is_visible(Asked::Relation, oid_of(row)) {
        Some(is_visible) => out.bool(is_visible),
        None => out.null(),
    }
}

pub(crate) fn type_is_visible(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match catalog_of(row)?.is_visible(Asked::Type, oid_of(row)) {
        Some(is_visible) => out.bool(is_visible),
        None => out.null(),
    }
}

/// `to_regrole`: NULL for a name that no role has.
pub(crate) fn to_role(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let catalog = catalog_of(row)?;
    let oid = catalog.find(Asked::Role, row.text(0));
    text_or_null(oid.and_then(|oid| catalog.answer(Asked::Role, oid)), out)
}

/// `pg_get_userbyid`.
pub(crate) fn role_by_number(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match catalog_of(row)?.answer(Asked::Role, oid_of(row)) {
        Some(name) => out.text(&name),
        None => out.text(&format!("unknown (OID={})", row.int(0))),
    }
}

/// The name of a type that a statement defined, or of its arrays; `None` if none has the oid.
pub(crate) fn type_name(row: &Row<'_>) -> Result<Option<String>> {
    Ok(catalog_of(row)?.answer(Asked::Type, oid_of(row)))
}

/// The question that values of a kind ask.
pub(crate) fn asked_of(kind: Kind) -> Option<Asked> {
    match kind {
        Kind::Regclass => Some(Asked::Relation),
        Kind::Regtype => Some(Asked::Type),
        Kind::Regnamespace => Some(Asked::Schema),
        _ => None,
    }
}

/// The oid of what `text` names: a number, `-` for nothing, or a name.
pub(crate) fn find(row: &Row<'_>, asked: Asked, text: &str) -> Result<Option<u32>> {
    match text.trim() {
        "-" => Ok(Some(0)),
        number if number.bytes().all(|b| b.is_ascii_digit()) && !number.is_empty() => Ok(number.parse().ok()),
        name => find_name(row, asked, name),
    }
}

/// The oid of what a name means to the session; `None` if there is nothing of the name.
pub(crate) fn find_name(row: &Row<'_>, asked: Asked, name: &str) -> Result<Option<u32>> {
    Ok(catalog_of(row)?.find(asked, name))
}

/// The text that shows an oid: a name, `-` for 0, or the number of what is not there.
pub(crate) fn shown(row: &Row<'_>, asked: Asked, oid: u32) -> Result<String> {
    if oid == 0 {
        return Ok("-".to_owned());
    }
    let answer = catalog_of(row)?.answer(asked, oid);
    Ok(answer.unwrap_or_else(|| oid.to_string()))
}

/// `to_regclass`: NULL for a name that names nothing.
pub(crate) fn to_relation(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match find(row, Asked::Relation, row.text(0))? {
        Some(oid) => out.bytes(&named_oid(oid, &shown(row, Asked::Relation, oid)?)),
        None => out.null(),
    }
}

/// `pg_get_serial_sequence`. 42P01, 42703.
pub(crate) fn serial_sequence(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (catalog, name, column) = (catalog_of(row)?, row.text(0), row.text(1));
    let Some(relation) = catalog.find(Asked::Relation, name) else {
        return Err(missing("42P01", "relation", name));
    };
    match catalog.owned_sequence(relation, column) {
        Some(sequence) => text_or_null(sequence, out),
        None => {
            let shown = catalog.answer(Asked::Relation, relation).unwrap_or_default();
            let message = format!("column \"{column}\" of relation \"{shown}\" does not exist");
            Err(Error::new(SqlState::UNDEFINED_COLUMN, message))
        }
    }
}
