//! Lists of privileges as `pg_class.relacl` shows them: arrays of texts such as `role=rw*/grantor`.
//!
//! PostgreSQL's type for an item is `aclitem`; here an item is its text.

use crate::function::{Function, asking, functions};
use crate::session_catalog::catalog_of;
use crate::type_rules::Kind::{Array, Boolean, InternalChar, Oid, Text};
use crate::vector::{Output, Row};
use frazil_catalog::{Acl, AclItem, Rights, RoleId};
use frazil_types::array::encode_list;
use frazil_types::{Error, LogicalType, Result, SqlState, Value};

/// The rights of PUBLIC and of the owner on a new object, by PostgreSQL's letter for its kind.
const NEW: &[(&str, Rights, Rights)] = &[
    ("c", Rights::NONE, Rights::NONE),
    ("r", Rights::NONE, Rights(0x7f)),
    (
        "s",
        Rights::NONE,
        Rights(Rights::SELECT.0 | Rights::UPDATE.0 | Rights::USAGE.0),
    ),
    (
        "d",
        Rights(Rights::TEMPORARY.0 | Rights::CONNECT.0),
        Rights(Rights::CREATE.0 | Rights::TEMPORARY.0 | Rights::CONNECT.0),
    ),
    ("f", Rights::EXECUTE, Rights::EXECUTE),
    ("l", Rights::USAGE, Rights::USAGE),
    ("L", Rights::NONE, Rights(Rights::SELECT.0 | Rights::UPDATE.0)),
    ("n", Rights::NONE, Rights(Rights::USAGE.0 | Rights::CREATE.0)),
    ("p", Rights::NONE, Rights(Rights::SET.0 | Rights::ALTER_SYSTEM.0)),
    ("t", Rights::NONE, Rights::CREATE),
    ("F", Rights::NONE, Rights::USAGE),
    ("S", Rights::NONE, Rights::USAGE),
    ("T", Rights::USAGE, Rights::USAGE),
];

fn role(oid: i64) -> RoleId {
    RoleId(u32::try_from(oid).unwrap_or(0))
}

/// XX000 for a letter that is no kind.
fn default(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let kind = row.text(0);
    let Some((_, of_public, of_owner)) = NEW.iter().find(|known| known.0 == kind) else {
        return Err(Error::internal(format!(
            "unrecognized objtype abbreviation: {kind}"
        )));
    };
    let owner = role(row.int(1));
    let item = |grantee, rights| AclItem {
        grantee,
        grantor: owner,
        rights,
        grantable: Rights::NONE,
    };
    let mut acl = Acl(vec![item(RoleId::PUBLIC, *of_public), item(owner, *of_owner)]);
    acl.0.retain(|item| !item.rights.is_empty());
    let session = catalog_of(row)?;
    let texts = acl.texts(session.catalog().access());
    let values: Vec<Value> = texts.into_iter().map(Value::Text).collect();
    out.bytes(&encode_list(&values, LogicalType::Text)?)
}

/// An item of one privilege. 22023 for another word.
fn make(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let Some(rights) = Rights::named(&row.text(2).to_lowercase()) else {
        let message = format!("unrecognized privilege type: \"{}\"", row.text(2));
        return Err(Error::new(SqlState::INVALID_PARAMETER, message));
    };
    let item = AclItem {
        grantee: role(row.int(0)),
        grantor: role(row.int(1)),
        rights,
        grantable: match row.bool(3) {
            true => rights,
            false => Rights::NONE,
        },
    };
    out.text(&item.text(catalog_of(row)?.catalog().access()))
}

pub(crate) const FUNCTIONS: &[Function] = functions! {
    "acldefault", [asking(&[InternalChar, Oid], default, Array)],
        "the privileges of a new object of a kind (`r`: a table) and an owner, as texts";
    "makeaclitem", [asking(&[Oid, Oid, Text, Boolean], make, Text)],
        "an item of a list of privileges: one privilege of a grantee from a grantor";
};

/// The rights of the items of a list, one by one: the item, the right, and true if it may be granted further.
fn exploded(row: &Row<'_>) -> Result<Vec<(AclItem, &'static str, bool)>> {
    let session = catalog_of(row)?;
    let mut all = Vec::new();
    for element in row.array(0)?.elements() {
        let Value::Text(text) = element? else {
            let message = "ACL arrays must not contain null values";
            return Err(Error::new(SqlState("22004"), message));
        };
        let item = AclItem::read(&text, session.catalog().access())?;
        let held = Rights::ALL.iter().filter(|right| item.rights.has(right.rights));
        all.extend(held.map(|right| (item, right.word, item.grantable.has(right.rights))));
    }
    Ok(all)
}

/// Puts a column of the rows of `aclexplode`.
fn put(
    row: &Row<'_>,
    out: &mut Output<'_>,
    column: fn((AclItem, &'static str, bool)) -> Value,
) -> Result<()> {
    let values: Vec<Value> = exploded(row)?.into_iter().map(column).collect();
    let element = out.ty().element().unwrap_or(out.ty());
    out.bytes(&encode_list(&values, element)?)
}

pub(crate) fn grantors(row: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(row, out, |(item, ..)| Value::Int(item.grantor.0.into()))
}

pub(crate) fn grantees(row: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(row, out, |(item, ..)| Value::Int(item.grantee.0.into()))
}

pub(crate) fn privileges(row: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(row, out, |(_, word, _)| Value::Text(word.to_uppercase()))
}

pub(crate) fn grantable(row: &Row<'_>, _: &str, out: &mut Output<'_>) -> Result<()> {
    put(row, out, |(.., is_grantable)| Value::Bool(is_grantable))
}
