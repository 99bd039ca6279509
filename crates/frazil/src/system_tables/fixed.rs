//! Rows that are the same in every database: access methods, collations, languages, the one database.

use super::cells::{self, Cells};
use super::numbers::{self, BTREE, DATABASE, HEAP, OWNER};
use super::roles::acl;
use super::virtual_table::Context;
use frazil_catalog::{Guarded, SYSTEM_SCHEMA};
use frazil_types::sql_type::{C_COLLATION, DEFAULT_COLLATION};
use frazil_types::zone::ListedZone;
use frazil_types::{Interval, Kind, Order, Result, Value, Zone, statement_clock};

/// The encoding of all texts: PostgreSQL's number of UTF8.
const UTF8: i32 = 6;
/// The collation of all texts: they are ordered by their bytes.
const BY_BYTES: &str = "C";
/// PostgreSQL's number of the tablespace of all tables.
const DEFAULT_SPACE: u32 = 1663;

pub(super) fn access_methods(_: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |(oid, name, kind)| {
        Cells::new()
            .with("oid", oid)
            .with("amname", name)
            .with("amtype", kind)
    };
    Ok([(HEAP, "heap", "t"), (BTREE, "btree", "i")].map(row).into())
}

/// A collation: its oid, name, provider, encoding (-1: any) and locale.
type Collation = (u32, &'static str, &'static str, i32, Option<&'static str>);

pub(super) const COLLATIONS: [Collation; 3] = [
    (DEFAULT_COLLATION, "default", "d", -1, None),
    (C_COLLATION, "C", "c", -1, Some("C")),
    (951, "POSIX", "c", -1, Some("POSIX")),
];

pub(super) fn collations(_: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |(oid, name, provider, encoding, locale): &Collation| {
        Cells::new()
            .with("oid", *oid)
            .with("collname", *name)
            .with("collnamespace", numbers::system_namespace(SYSTEM_SCHEMA))
            .with("collowner", OWNER)
            .with("collprovider", *provider)
            .with("collisdeterministic", true)
            .with("collencoding", *encoding)
            .with("collcollate", *locale)
            .with("collctype", *locale)
    };
    Ok(COLLATIONS.iter().map(row).collect())
}

/// The time zones, and their clocks at the time of the statement.
pub(super) fn time_zones(_: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |zone: ListedZone| {
        let offset = Interval {
            months: 0,
            days: 0,
            micros: i64::from(zone.offset.seconds) * 1_000_000,
        };
        Cells::new()
            .with("name", zone.name)
            .with("abbrev", zone.offset.abbreviation)
            .with("utc_offset", Value::Interval(offset))
            .with("is_dst", zone.is_daylight)
    };
    Ok(Zone::all(statement_clock::start()).map(row).collect())
}

pub(super) fn databases(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    Ok(vec![
        Cells::new()
            .with("oid", DATABASE)
            .with("datname", cells::DATABASE)
            .with("datdba", catalog.owner_of(Guarded::Database).0)
            .with(
                "datacl",
                acl(catalog, catalog.stored_acl(Guarded::Database).as_ref())?,
            )
            .with("encoding", UTF8)
            .with("datlocprovider", "c")
            .with("datallowconn", true)
            .with("datconnlimit", -1)
            .with("dattablespace", DEFAULT_SPACE)
            .with("datcollate", BY_BYTES)
            .with("datctype", BY_BYTES),
    ])
}

pub(super) fn languages(_: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |(oid, name, trusted): (u32, _, bool)| {
        Cells::new()
            .with("oid", oid)
            .with("lanname", name)
            .with("lanowner", OWNER)
            .with("lanpltrusted", trusted)
    };
    Ok([(12, "internal", false), (14, "sql", true)].map(row).into())
}

/// PostgreSQL's B-tree operator families, with their numbers and the types of their classes by PostgreSQL's names. A
/// family without a class has operators in `pg_amop`.
const FAMILIES: &[(u32, &str, &[&str])] = &[
    (397, "array_ops", &[]),
    (424, "bool_ops", &["bool"]),
    (426, "bpchar_ops", &["bpchar"]),
    (428, "bytea_ops", &["bytea"]),
    (429, "char_ops", &["char"]),
    (434, "datetime_ops", &["date", "timestamp", "timestamptz"]),
    (1970, "float_ops", &["float4", "float8"]),
    (1976, "integer_ops", &["int2", "int4", "int8"]),
    (1982, "interval_ops", &["interval"]),
    (1988, "numeric_ops", &["numeric"]),
    (1989, "oid_ops", &["oid"]),
    (1994, "text_ops", &["text", "varchar", "name"]),
    (1996, "time_ops", &["time"]),
    (2095, "text_pattern_ops", &[]),
    (2097, "bpchar_pattern_ops", &[]),
    (2789, "tid_ops", &["tid"]),
    (2968, "uuid_ops", &["uuid"]),
    (3522, "enum_ops", &["anyenum"]),
    (4033, "jsonb_ops", &["jsonb"]),
];

/// The number of the operator family of a type's class.
fn operator_family(kind: Kind) -> u32 {
    let found = FAMILIES
        .iter()
        .find(|(.., types)| types.contains(&kind.info().typname));
    found.map_or(0, |(oid, ..)| *oid)
}

pub(super) fn operator_families(_: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |(oid, name, _): &(u32, &'static str, _)| {
        Cells::new()
            .with("oid", *oid)
            .with("opfmethod", BTREE)
            .with("opfname", *name)
            .with("opfnamespace", numbers::system_namespace(SYSTEM_SCHEMA))
            .with("opfowner", OWNER)
    };
    Ok(FAMILIES.iter().map(row).collect())
}

pub(super) fn operator_classes(_: &Context<'_>) -> Result<Vec<Cells>> {
    let sorted = Kind::ALL.into_iter().filter(|kind| {
        kind.info().order != Order::Absent && kind.info().is_stored && operator_family(*kind) != 0
    });
    let rows = sorted.filter_map(|kind| {
        let ty = kind.plain()?;
        Some(
            Cells::new()
                .with("oid", numbers::operator_class(ty))
                .with("opcmethod", BTREE)
                .with("opcname", format!("{}_ops", kind.info().typname))
                .with("opcnamespace", numbers::system_namespace(SYSTEM_SCHEMA))
                .with("opcowner", OWNER)
                .with("opcfamily", operator_family(kind))
                .with("opcintype", kind.info().oid)
                .with("opcdefault", true),
        )
    });
    Ok(rows.collect())
}

pub(super) fn tablespaces(_: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |(oid, name): (u32, _)| {
        Cells::new()
            .with("oid", oid)
            .with("spcname", name)
            .with("spcowner", OWNER)
    };
    Ok([(DEFAULT_SPACE, "pg_default"), (1664, "pg_global")]
        .map(row)
        .into())
}
