//! Sizes of relations and of the database in bytes, and how people read them: PostgreSQL's manual, 9.27.7. Tables and
//! indexes are measured in the statement's snapshot: blocks as they are encoded, other rows and indexes in memory.

use crate::function::{Function, asking, functions, rows};
use crate::json::shown_text;
use crate::named_oids::{missing, name};
use crate::session_catalog::{Bytes, bytes_of_database, bytes_of_relation};
use crate::type_rules::Kind::{BigInt, Numeric, Oid, Text};
use crate::vector::{Output, Row};
use frazil_types::{Error, Result, SqlState, session_settings};

/// The number of the database.
const DATABASE_NUMBER: i64 = 5;
/// The tablespace of all relations, and that of what all databases share: nothing.
const TABLESPACES: [(i64, &str); 2] = [(1663, "pg_default"), (1664, "pg_global")];

pub(super) const FUNCTIONS: &[Function] = functions! {
    "pg_database_size", [asking(&[Oid], database, BigInt), asking(&[Text], database, BigInt)],
        "the bytes of all tables and indexes";
    "pg_indexes_size", [
        asking(&[Oid], |r, o| bytes_of_relation(r, &[Bytes::Indexes], o), BigInt),
        asking(&[Text], |r, o| bytes_of_relation(r, &[Bytes::Indexes], o), BigInt),
    ], "the bytes of a table's indexes";
    "pg_relation_size", [
        asking(&[Oid], |r, o| bytes_of_relation(r, &[Bytes::Own], o), BigInt),
        asking(&[Text], |r, o| bytes_of_relation(r, &[Bytes::Own], o), BigInt),
        asking(&[Oid, Text], fork, BigInt),
        asking(&[Text, Text], fork, BigInt),
    ], "the bytes of a table's rows or of an index; of the fork `main` if one is named, others have none";
    "pg_size_pretty", [rows(&[BigInt], pretty, Text), rows(&[Numeric], pretty_numeric, Text)],
        "bytes as a text with a unit: `10 MB`";
    "pg_table_size", [
        asking(&[Oid], |r, o| bytes_of_relation(r, &[Bytes::Own], o), BigInt),
        asking(&[Text], |r, o| bytes_of_relation(r, &[Bytes::Own], o), BigInt),
    ], "the bytes of a table's rows";
    "pg_tablespace_size", [asking(&[Oid], tablespace, BigInt), asking(&[Text], tablespace, BigInt)],
        "the bytes of all tables and indexes for `pg_default`, 0 for `pg_global`";
    "pg_total_relation_size", [
        asking(&[Oid], |r, o| bytes_of_relation(r, &[Bytes::Own, Bytes::Indexes], o), BigInt),
        asking(&[Text], |r, o| bytes_of_relation(r, &[Bytes::Own, Bytes::Indexes], o), BigInt),
    ], "the bytes of a table's rows and indexes";
};

/// Error 3D000 for a name that is not the database's; NULL for another number.
fn database(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let is_named = row.ty(0).is_string();
    match is_named {
        true if name(row.text(0)) == session_settings::database() => bytes_of_database(row, out),
        true => Err(missing("3D000", "database", row.text(0))),
        false if row.int(0) == DATABASE_NUMBER => bytes_of_database(row, out),
        false => out.null(),
    }
}

/// Error 42704 for a name that no tablespace has; NULL for another number.
fn tablespace(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let is_named = row.ty(0).is_string();
    let found = match is_named {
        true => TABLESPACES.iter().find(|space| space.1 == name(row.text(0))),
        false => TABLESPACES.iter().find(|space| space.0 == row.int(0)),
    };
    match found {
        Some((_, "pg_default")) => bytes_of_database(row, out),
        Some(_) => out.int(0),
        None if is_named => Err(missing("42704", "tablespace", row.text(0))),
        None => out.null(),
    }
}

/// `pg_relation_size` of a fork. Error 22023 for a name that is not a fork's.
fn fork(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match row.text(1) {
        "main" => bytes_of_relation(row, &[Bytes::Own], out),
        "fsm" | "vm" | "init" => bytes_of_relation(row, &[], out),
        _ => Err(Error::new(SqlState::INVALID_PARAMETER, "invalid fork name")
            .with_hint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".")),
    }
}

/// Units, and the binary digits of each beyond bytes.
const UNITS: [(&str, u32); 6] = [
    ("bytes", 0),
    ("kB", 10),
    ("MB", 20),
    ("GB", 30),
    ("TB", 40),
    ("PB", 50),
];
/// Bytes are shown as bytes below this number.
const MOST_BYTES: i128 = 10 * 1024;
/// Halves of a unit are shown in the unit below this number.
const MOST_HALVES: i128 = 20 * 1024 - 1;

/// `size` in the first unit that has fewer than five digits; PostgreSQL rounds halves away from zero.
fn with_unit(size: i128) -> String {
    if size.abs() < MOST_BYTES {
        return format!("{size} bytes");
    }
    let mut last = (0, "PB");
    for (unit, digits) in &UNITS[1..] {
        let halves = size / (1 << (digits - 1));
        last = (halves, unit);
        if halves.abs() < MOST_HALVES {
            break;
        }
    }
    let (halves, unit) = last;
    format!("{} {unit}", (halves + halves.signum()) / 2)
}

fn pretty(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    out.text(&with_unit(row.int(0).into()))
}

/// Fractions show in bytes alone. Error 22003 for more than 38 digits.
fn pretty_numeric(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let text = shown_text(&row.value(0), row.ty(0))?;
    let whole = text.split('.').next().unwrap_or("0");
    let beyond = || Error::new(SqlState::NUMERIC_OUT_OF_RANGE, "a size of more than 38 digits");
    let size: i128 = match whole {
        "" | "-" => 0,
        whole => whole.parse().map_err(|_| beyond())?,
    };
    match size.abs() < MOST_BYTES {
        true => out.text(&format!("{text} bytes")),
        false => out.text(&with_unit(size)),
    }
}
