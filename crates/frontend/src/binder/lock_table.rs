//! LOCK TABLE: the tables that it locks.

use super::naming::{find_relation, find_sequence, missing_relation, refuse_of_others, schema_name};
use crate::parse::LockedTables;
use crate::{CatalogView, LockTable, LockedName, Relation, Statement};
use frazil_catalog::{WrittenName, missing_schema};
use frazil_types::{Error, Result, SqlState};

/// The tables to lock, in the order in which they are written; of a view those that it reads. 42P01, 3F000; 42809 for a
/// sequence or an index; 0A000 for a table of the system.
pub(crate) fn lock_table(catalog: &dyn CatalogView, lock: &LockedTables) -> Result<Statement> {
    let mut locked = Vec::new();
    for written in &lock.tables {
        if let Some(schema) = &written.schema
            && !catalog.has_schema(&schema_name(catalog, schema))
            && find_relation(catalog, catalog.path(), written).is_none()
        {
            return Err(missing_schema(schema));
        }
        let Some((name, relation)) = find_relation(catalog, catalog.path(), written) else {
            return Err(not_lockable(catalog, written));
        };
        refuse_of_others(catalog, &name)?;
        add(catalog, relation, &mut locked)?;
    }
    Ok(Statement::LockTable(LockTable {
        tables: locked,
        mode: lock.mode,
        nowait: lock.nowait,
    }))
}

/// Adds a table, or the tables that a view reads, itself or by other views.
fn add(catalog: &dyn CatalogView, relation: Relation, locked: &mut Vec<LockedName>) -> Result<()> {
    let is_named = matches!(relation, Relation::Table(_));
    let mut left = vec![relation];
    while let Some(relation) = left.pop() {
        match relation {
            // A view that is locked leaves the materialized views that it reads alone.
            Relation::Table(table) if table.materialized.is_some() && !is_named => {}
            Relation::Table(table) => match catalog.catalog_id(table.id) {
                Some(id) => locked.push(LockedName {
                    table: id,
                    is_materialized: table.materialized.is_some(),
                    name: table.name,
                }),
                None if is_named => {
                    let what = format!("LOCK TABLE of the system table \"{}\"", table.name);
                    return Err(Error::unsupported(what));
                }
                // A view may read a table of the system, which nobody changes.
                None => {}
            },
            Relation::View(view) => {
                let read = view.reads.iter().rev();
                left.extend(read.filter_map(|reading| catalog.read_by(reading)));
            }
        }
    }
    Ok(())
}

/// 42809 for a sequence or an index, 42P01 for a name that means nothing.
fn not_lockable(catalog: &dyn CatalogView, written: &WrittenName) -> Error {
    let what = match () {
        () if find_sequence(catalog, catalog.path(), written).is_ok() => "sequences",
        () if catalog
            .path()
            .candidates(written)
            .iter()
            .any(|name| catalog.index_id(name).is_some()) =>
        {
            "indexes"
        }
        () => return missing_relation(catalog, written),
    };
    let message = format!("cannot lock relation \"{}\"", written.name);
    Error::new(SqlState::WRONG_OBJECT_TYPE, message)
        .with_detail(format!("This operation is not supported for {what}."))
}
