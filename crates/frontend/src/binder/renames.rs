//! RENAME and SET SCHEMA of views, indexes, domains, types and schemas.

use super::naming::{find_relation, find_type, index_named, missing_relation, missing_type, schema_name};
use crate::parse::{MovedKind, RenameTo, RenamedObject};
use crate::{Bound, CatalogView, Definition, catalog_view};
use frazil_catalog::{
    AlterAction, AlterType, RenameObject, RowTexts, ViewEntry, WrittenName, missing_schema, not_materialized,
};
use frazil_types::{Error, Result, Span, SqlState};

/// Binds RENAME. The errors of [`rename_as`].
pub(crate) fn rename(catalog: &dyn CatalogView, renamed: &RenamedObject) -> Result<Bound> {
    let object = (renamed.kind, renamed.if_exists, &renamed.name);
    rename_as(catalog, object, renamed.to.clone())
}

/// Binds another name or schema for an object: its kind, IF EXISTS, its name. 42P01, 42704 and 3F000 for one that does
/// not exist, 42809 for one of another kind.
pub(super) fn rename_as(
    catalog: &dyn CatalogView,
    (kind, if_exists, written): (MovedKind, bool, &WrittenName),
    to: RenameTo,
) -> Result<Bound> {
    let renamed = match kind {
        MovedKind::Type | MovedKind::Domain => return of_type(catalog, kind, written, to),
        MovedKind::Schema => of_schema(catalog, written, to).map(Some),
        MovedKind::MaterializedView => of_materialized(catalog, written, to).map(Some),
        MovedKind::View | MovedKind::Index | MovedKind::Table => of_relation(catalog, kind, written, to),
    };
    let renamed = match renamed {
        Err(e) if if_exists && e.state() == SqlState::UNDEFINED_TABLE => None,
        renamed => renamed?,
    };
    let tag = kind.tag();
    Ok(Bound::plain(Definition::Rename { renamed, tag }))
}

fn of_type(catalog: &dyn CatalogView, kind: MovedKind, written: &WrittenName, to: RenameTo) -> Result<Bound> {
    let found = find_type(catalog, catalog.path(), written);
    let (_, entry) = found.ok_or_else(|| missing_type(catalog, written))?;
    if kind == MovedKind::Domain && entry.as_domain().is_none() {
        let message = format!("\"{written}\" is not a domain");
        return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
    }
    let action = match to {
        RenameTo::Name(name) => AlterType::Rename { name },
        RenameTo::Schema(schema) => AlterType::SetSchema { schema },
        RenameTo::Column { .. } => return Err(Error::internal("a type with columns")),
    };
    let (id, tag) = (entry.id, kind.tag());
    Ok(Bound::plain(Definition::AlterType { id, action, tag }))
}

/// 42P01, 42809 for another relation, 42703.
fn of_materialized(catalog: &dyn CatalogView, written: &WrittenName, to: RenameTo) -> Result<RenameObject> {
    let found = find_relation(catalog, catalog.path(), written);
    let Some((_, relation)) = found else {
        return Err(missing_relation(catalog, written));
    };
    let catalog_view::Relation::Table(table) = relation else {
        return Err(not_materialized(&written.name));
    };
    if table.materialized.is_none() {
        return Err(not_materialized(&written.name));
    }
    let texts = RowTexts::default();
    let action = match to {
        RenameTo::Name(name) => AlterAction::RenameTable { name, texts },
        RenameTo::Schema(schema) => AlterAction::SetSchema { schema },
        RenameTo::Column { from, to } => {
            super::system_columns::refuse_name(&to, Span::NONE)?;
            let column = table.schema.index_of(&from).ok_or_else(|| {
                let message = format!("column \"{from}\" does not exist");
                Error::new(SqlState::UNDEFINED_COLUMN, message)
            })?;
            AlterAction::RenameColumn {
                column,
                name: to,
                texts,
            }
        }
    };
    Ok(RenameObject::Materialized { id: table.id, action })
}

fn of_schema(catalog: &dyn CatalogView, written: &WrittenName, to: RenameTo) -> Result<RenameObject> {
    let name = schema_name(catalog, &written.name);
    let id = catalog.schema_id(&name).ok_or_else(|| missing_schema(&name))?;
    match to {
        RenameTo::Name(name) => Ok(RenameObject::Schema { id, name }),
        RenameTo::Column { .. } | RenameTo::Schema(_) => Err(Error::internal("a schema in a schema")),
    }
}

/// Another name for a view or an index; `None` for a table that ALTER TABLE renames. 42P01, 42809.
pub(super) fn of_relation(
    catalog: &dyn CatalogView,
    kind: MovedKind,
    written: &WrittenName,
    to: RenameTo,
) -> Result<Option<RenameObject>> {
    let index = index_named(catalog, written);
    match (find_relation(catalog, catalog.path(), written), index) {
        // As PostgreSQL, ALTER INDEX renames a view, too.
        (Some((_, catalog_view::Relation::View(view))), _) => return of_view(&view, to).map(Some),
        (Some(_), _) if kind == MovedKind::Table => return Ok(None),
        (None, Some(id)) if kind != MovedKind::View => {
            if let RenameTo::Name(name) = to {
                return Ok(Some(RenameObject::Index { id, name }));
            }
        }
        (None, None) => return Err(missing_relation(catalog, written)),
        (Some(_), _) | (None, Some(_)) => {}
    }
    let what = if kind == MovedKind::Index {
        "an index"
    } else {
        "a view"
    };
    let message = format!("\"{}\" is not {what}", written.name);
    Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message))
}

fn of_view(view: &ViewEntry, to: RenameTo) -> Result<RenameObject> {
    let id = view.id;
    Ok(match to {
        RenameTo::Name(name) => RenameObject::View { id, name },
        RenameTo::Schema(schema) => RenameObject::MoveView { id, schema },
        RenameTo::Column { from, to } => {
            let column = view.schema.index_of(&from).ok_or_else(|| {
                let message = format!("column \"{from}\" does not exist");
                Error::new(SqlState::UNDEFINED_COLUMN, message)
            })?;
            RenameObject::ViewColumn { id, column, name: to }
        }
    })
}
