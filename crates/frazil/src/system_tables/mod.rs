//! Tables that the database makes of its own state, as a list of data: PostgreSQL's `pg_catalog` and
//! `information_schema`, and the `frazil_…` tables.
//!
//! A [`VirtualTable`] has a schema, a name, columns, and a function that makes its rows from a [`Context`].
//! [`relations`] reads PostgreSQL's column sets from `relations.txt`; a table that has nothing to show is empty.
//! Tables that show the catalog alone are made once for each version of the catalog and kept while it is in use; for a
//! plan that needs few of their rows ([`wanted`]), only these are made.

mod activity_counts;
mod built_in;
mod catalog_rows;
mod cells;
mod comments;
mod constraints;
mod depend;
mod fixed;
mod indexes;
mod information_schema;
mod joined_keys;
mod kept;
mod named_relations;
mod numbers;
mod privileges;
mod relations;
mod roles;
mod sequences;
mod sessions;
mod standard_columns;
mod standard_constraints;
mod standard_usage;
mod state;
mod types;
mod virtual_table;
mod wanted;
mod writers;

pub(crate) use comments::class_of;
use frazil_catalog::{SYSTEM_SCHEMA, WrittenName};
use frazil_types::{Error, Result, SqlState};
pub use joined_keys::{wanted_by, wanted_by_scan};
pub(crate) use numbers::DATABASE;
pub use numbers::namespaces;
use std::collections::BTreeMap;
use std::sync::LazyLock;
pub(crate) use virtual_table::schema;
pub use virtual_table::{Context, STANDARD_SCHEMA, VirtualTable};
pub use wanted::Wanted;

/// Most system tables; a test counts them.
pub const MOST_TABLES: usize = 192;

static TABLES: LazyLock<Vec<VirtualTable>> = LazyLock::new(|| {
    let all: Result<Vec<VirtualTable>> = state::tables().chain(relations::tables()).collect();
    // A test reads the list.
    all.unwrap_or_default()
});

static BY_NAME: LazyLock<BTreeMap<(&'static str, &'static str), usize>> = LazyLock::new(|| {
    let named = TABLES
        .iter()
        .enumerate()
        .map(|(place, table)| ((table.schema, table.name.as_str()), place));
    named.collect()
});

/// The tables in the order of their places.
pub fn tables() -> &'static [VirtualTable] {
    &TABLES
}

/// The place of the table of a name.
pub fn place_of(schema: &str, name: &str) -> Option<usize> {
    BY_NAME.get(&(schema, name)).copied()
}

/// The system table of an oid.
pub fn named_by(oid: u32) -> Option<&'static VirtualTable> {
    TABLES.iter().find(|table| table.oid == Some(oid))
}

/// The oid of a system table.
pub fn oid_of(schema: &str, name: &str) -> Option<u32> {
    TABLES[place_of(schema, name)?].oid
}

/// True if a view reads a system table under the name.
pub fn is_one(name: &WrittenName) -> bool {
    place_of(name.schema.as_deref().unwrap_or(SYSTEM_SCHEMA), &name.name).is_some()
}

/// 42P07 for the name of one of Frazil's own tables.
pub fn refuse_name(name: &str) -> Result<()> {
    let is_own = |place: usize| TABLES[place].oid.is_none();
    match place_of(SYSTEM_SCHEMA, name).is_some_and(is_own) {
        true => Err(Error::new(
            SqlState::DUPLICATE_TABLE,
            format!("\"{name}\" is a system table"),
        )),
        false => Ok(()),
    }
}

/// Names of all tables of `pg_catalog`.
pub fn names() -> impl Iterator<Item = &'static str> {
    let own = TABLES.iter().filter(|table| table.schema == SYSTEM_SCHEMA);
    own.map(|table| table.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_catalog::SearchPath;
    use frazil_storage::Store;

    #[test]
    fn every_table_can_be_read() {
        let store = Store::new();
        let snapshot = store.snapshot();
        let context = Context {
            snapshot: &snapshot,
            path: &SearchPath::default(),
            user: frazil_frontend::UserRoles::SUPERUSER,
            session: None,
            directory: None,
            system: tables(),
            wanted: &Wanted::All,
        };
        assert!(tables().len() > 100 && tables().len() <= MOST_TABLES);
        for (place, table) in tables().iter().enumerate() {
            assert_eq!(place_of(table.schema, &table.name), Some(place));
            let made = table.table(&context).unwrap();
            assert_eq!(made.schema().columns.len(), table.columns.columns.len());
        }
        for filled in relations::filled() {
            assert!(place_of(filled.0, filled.1).is_some(), "{filled:?}");
        }
    }
}
