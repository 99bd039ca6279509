//! DROP of relations and indexes.

use crate::binder::{Binder, find_table, unsupported_statement};
use crate::{Bound, CatalogView, Definition};
use frazil_catalog::{DropBehavior, DropIndexes, DropRelations, RelationKind, WrittenName, not_a_table};
use frazil_types::{Error, Result};
use sqlparser::ast::{ObjectName, Statement as Ast};

/// The behavior of a DROP with or without CASCADE.
pub(crate) fn drop_behavior(cascade: bool) -> DropBehavior {
    match cascade {
        true => DropBehavior::Cascade,
        false => DropBehavior::Restrict,
    }
}

/// Binds DROP INDEX.
pub(crate) fn drop_indexes(
    binder: &Binder,
    ast: &Ast,
    names: &[ObjectName],
    if_exists: bool,
) -> Result<Bound> {
    refuse_drop_options(ast)?;
    let names = names.iter().map(|n| binder.name_to_drop(n));
    Ok(Bound::plain(Definition::DropIndexes(DropIndexes {
        names: names.collect::<Result<_>>()?,
        if_exists,
        behavior: drop_behavior(matches!(ast, Ast::Drop { cascade: true, .. })),
        path: binder.catalog.path().clone(),
    })))
}

/// 0A000 for words of DROP that PostgreSQL does not know.
pub(crate) fn refuse_drop_options(ast: &Ast) -> Result<()> {
    match ast {
        Ast::Drop {
            purge,
            temporary,
            table,
            ..
        } if *purge || *temporary || table.is_some() => {
            Err(Error::unsupported("DROP with TEMPORARY, PURGE or ON"))
        }
        _ => Ok(()),
    }
}

/// Binds DROP of tables, views, materialized views or sequences.
pub(crate) fn drop_relations(binder: &Binder, ast: &Ast, kind: RelationKind) -> Result<Bound> {
    let Ast::Drop {
        if_exists,
        names,
        cascade,
        ..
    } = ast
    else {
        return Err(unsupported_statement(ast));
    };
    refuse_drop_options(ast)?;
    let names = names.iter().map(|n| binder.name_to_drop(n));
    Ok(Bound::plain(Definition::Drop(DropRelations {
        kind,
        names: names.collect::<Result<_>>()?,
        if_exists: *if_exists,
        behavior: drop_behavior(*cascade),
        path: binder.catalog.path().clone(),
    })))
}

/// 42809 for a materialized view where a table must be.
pub(crate) fn refuse_materialized(catalog: &dyn CatalogView, written: &WrittenName) -> Result<()> {
    match find_table(catalog, written)?.materialized {
        Some(_) => Err(not_a_table(&written.name)),
        None => Ok(()),
    }
}
