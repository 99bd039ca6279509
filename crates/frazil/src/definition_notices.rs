//! Notices of CREATE, ALTER, DROP and TRUNCATE: objects that are there already or not at all, and what CASCADE takes.

use crate::notice::Notice;
use crate::rows::{Response, done};
use frazil_catalog::{
    AlterAction, AlterDomain, AlterType, Catalog, DropBehavior, DropIndexes, DropRelations, DropSchemas,
    DropTypes, ExistingView, NewIndex, QualifiedName, SearchPath, TableEntry, WrittenName,
};
use frazil_frontend::{Definition, Skipped};
use frazil_types::{ColumnDef, ColumnDefault, ObjectId, Result, SqlState};
use std::collections::BTreeSet;
use std::time::Instant;

/// Dependents that a detail lists at most.
const LISTED: usize = 100;

/// Returns the notices of a definition, with the catalog before it. 0A000 for a TRUNCATE that RESTRICT refuses.
pub fn of(catalog: &Catalog, definition: &Definition) -> Result<Vec<Notice>> {
    Ok(match definition {
        Definition::CreateSchema(new) if new.if_not_exists && catalog.schema(&new.name).is_some() => {
            let message = format!("schema \"{}\" already exists, skipping", new.name);
            vec![Notice::of_state(SqlState::DUPLICATE_SCHEMA, message)]
        }
        Definition::CreateSequence(new) if new.if_not_exists && catalog.has_relation(&new.name) => {
            vec![existing_relation(&new.name.name)]
        }
        Definition::CreateMaterialized { view, .. }
            if view.existing == ExistingView::Keep && catalog.has_relation(&view.name) =>
        {
            vec![existing_relation(&view.name.name)]
        }
        Definition::CreateIndex(new) => of_index(catalog, new).into_iter().collect(),
        Definition::AlterType { id, action, .. } => {
            let notice = of_label(catalog, *id, action).or_else(|| of_check(catalog, *id, action));
            notice.into_iter().collect()
        }
        Definition::AlterTable {
            table,
            actions,
            skipped,
        } => {
            let of_skipped = skipped.iter().map(|(state, text)| Notice::of_state(*state, text));
            let entry = table.and_then(|table| catalog.table_by_id(table));
            let of_actions = entry.map(|entry| of_actions(catalog, entry, actions));
            of_skipped.chain(of_actions.into_iter().flatten()).collect()
        }
        Definition::Drop(drop) => of_relations(catalog, drop),
        Definition::DropIndexes(drop) => of_indexes(catalog, drop),
        Definition::DropSchemas { drop, columns } => of_schemas(catalog, drop, &readers(columns)),
        Definition::DropTypes { drop, columns } => of_types(catalog, drop, &readers(columns)),
        Definition::Truncate {
            tables,
            behavior: DropBehavior::Cascade,
            ..
        } => of_truncate(catalog, tables)?,
        Definition::Access(_)
        | Definition::CommentOn(_)
        | Definition::CreateSchema(_)
        | Definition::CreateSequence(_)
        | Definition::AlterOptions { .. }
        | Definition::AlterSequence(_)
        | Definition::CreateView(_)
        | Definition::CreateMaterialized { .. }
        | Definition::Refresh { .. }
        | Definition::Rename { .. }
        | Definition::CreateType { .. }
        | Definition::CreateDomain { .. }
        | Definition::Truncate { .. } => Vec::new(),
    })
}

/// The response of a statement that changes nothing, with notices of what it does not make or drop.
pub fn skipped(tag: &'static str, skipped: Vec<Skipped>, started: Instant) -> Response {
    let notice = |skipped: Skipped| Notice::of_state(skipped.state, skipped.message);
    Response {
        notices: skipped.into_iter().map(notice).collect(),
        ..done(tag, started)
    }
}

/// The notice of CREATE IF NOT EXISTS for a table, index, view or sequence that is there.
pub fn existing_relation(name: &str) -> Notice {
    let message = format!("relation \"{name}\" already exists, skipping");
    Notice::of_state(SqlState::DUPLICATE_TABLE, message)
}

fn of_index(catalog: &Catalog, new: &NewIndex) -> Option<Notice> {
    let name = new.name.as_ref().filter(|_| new.if_not_exists)?;
    let namespace = catalog.table_by_id(new.table)?.namespace;
    let known = catalog.has_relation(&catalog.qualified(namespace, name));
    known.then(|| existing_relation(name))
}

fn of_label(catalog: &Catalog, id: ObjectId, action: &AlterType) -> Option<Notice> {
    let AlterType::AddValue {
        label,
        if_not_exists: true,
        ..
    } = action
    else {
        return None;
    };
    catalog.user_type_of(id)?.as_enumeration()?.position(label)?;
    let message = format!("enum label \"{label}\" already exists, skipping");
    Some(Notice::of_state(SqlState::DUPLICATE_OBJECT, message))
}

/// The notice of ALTER DOMAIN … DROP CONSTRAINT IF EXISTS for a constraint that is not there.
fn of_check(catalog: &Catalog, id: ObjectId, action: &AlterType) -> Option<Notice> {
    let AlterType::Domain(AlterDomain::DropCheck {
        name,
        if_exists: true,
    }) = action
    else {
        return None;
    };
    let entry = catalog.user_type_of(id)?;
    let message = format!(
        "constraint \"{name}\" of domain \"{}\" does not exist, skipping",
        entry.name
    );
    entry
        .as_domain()?
        .check(name)
        .is_none()
        .then(|| Notice::new(message))
}

/// The notices of actions of ALTER TABLE: what CASCADE drops, each object once, and what IF EXISTS does not find.
fn of_actions(catalog: &Catalog, table: &TableEntry, actions: &[AlterAction]) -> Vec<Notice> {
    let mut notices = Vec::new();
    // Positions of the columns that are left, as they were before.
    let mut left: Vec<usize> = (0..table.schema.columns.len()).collect();
    let (mut gone, mut before): (Vec<(usize, &[ObjectId])>, Vec<usize>) = Default::default();
    let (mut told, mut plain) = (BTreeSet::new(), BTreeSet::new());
    let mut tell = |dropped: Vec<String>| {
        let new = dropped.into_iter().filter(|object| told.insert(object.clone()));
        cascade(new.collect())
    };
    for action in actions {
        match action {
            AlterAction::DropColumn {
                column,
                behavior,
                readers,
                path,
                is_dependent,
            } => {
                gone.push((left.remove(*column), readers));
                if *is_dependent {
                    continue;
                }
                if *behavior == DropBehavior::Cascade {
                    notices.extend(tell(catalog.cascade_of_columns(table, &gone, &before, path)));
                }
                before.extend(gone.drain(..).map(|(column, _)| column));
            }
            AlterAction::DropConstraint {
                name,
                behavior: DropBehavior::Cascade,
                readers,
                path,
                ..
            } => notices.extend(tell(catalog.cascade_of_constraint(table, name, readers, path))),
            AlterAction::DropIdentity { column, if_exists } => {
                let column = &table.schema.columns[left[*column]];
                let is_one = matches!(column.default, Some(ColumnDefault::Identity { .. }));
                if *if_exists && (!is_one || plain.contains(&column.number)) {
                    notices.push(not_of_kind(table, column, "an identity column"));
                }
                plain.insert(column.number);
            }
            AlterAction::DropExpression { column, if_exists } => {
                let column = &table.schema.columns[left[*column]];
                if *if_exists && (!column.is_generated() || plain.contains(&column.number)) {
                    notices.push(not_of_kind(table, column, "a stored generated column"));
                }
                plain.insert(column.number);
            }
            _ => {}
        }
    }
    notices
}

fn not_of_kind(table: &TableEntry, column: &ColumnDef, kind: &str) -> Notice {
    let (column, table) = (&column.name, &table.name);
    Notice::new(format!(
        "column \"{column}\" of relation \"{table}\" is not {kind}, skipping"
    ))
}

fn of_relations(catalog: &Catalog, drop: &DropRelations) -> Vec<Notice> {
    let id = |name: &QualifiedName| {
        let relation = catalog.relation(name).map(|relation| relation.id());
        relation.or(catalog.sequence(name).map(|sequence| sequence.id))
    };
    let named: Vec<ObjectId> = drop.names.iter().filter_map(id).collect();
    let missing = drop.names.iter().filter(|name| id(name).is_none());
    let mut notices: Vec<Notice> = missing
        .map(|name| missing_in_schema(catalog, drop.kind.name(), name, &name.name))
        .collect();
    if drop.behavior == DropBehavior::Cascade {
        notices.extend(cascade(catalog.cascade(&named, &[], &drop.path)));
    }
    notices
}

fn of_indexes(catalog: &Catalog, drop: &DropIndexes) -> Vec<Notice> {
    let id = |name: &QualifiedName| catalog.index(name).map(|index| index.id);
    let named: Vec<ObjectId> = drop.names.iter().filter_map(id).collect();
    let missing = drop.names.iter().filter(|name| id(name).is_none());
    let mut notices: Vec<Notice> = missing
        .map(|name| missing_in_schema(catalog, "index", name, &name.name))
        .collect();
    if drop.behavior == DropBehavior::Cascade {
        notices.extend(cascade(catalog.cascade(&named, &[], &drop.path)));
    }
    notices
}

fn of_schemas(catalog: &Catalog, drop: &DropSchemas, readers: &[ObjectId]) -> Vec<Notice> {
    let id = |name: &String| catalog.schema(name).map(|schema| schema.id);
    let named: Vec<ObjectId> = drop.names.iter().filter_map(id).collect();
    let missing = drop.names.iter().filter(|name| id(name).is_none());
    let mut notices: Vec<Notice> = missing.map(|name| missing_object("schema", name)).collect();
    if drop.behavior == DropBehavior::Cascade {
        notices.extend(cascade(catalog.cascade(&named, readers, &drop.path)));
    }
    notices
}

fn of_types(catalog: &Catalog, drop: &DropTypes, readers: &[ObjectId]) -> Vec<Notice> {
    let id = |name: &QualifiedName| catalog.user_type(name).map(|entry| entry.id);
    let named: Vec<ObjectId> = drop.names.iter().filter_map(id).collect();
    let missing = drop.names.iter().filter(|name| id(name).is_none());
    let mut notices: Vec<Notice> = missing
        .map(|name| missing_in_schema(catalog, "type", name, &shown(name, &drop.path)))
        .collect();
    if drop.behavior == DropBehavior::Cascade {
        notices.extend(cascade(catalog.cascade(&named, readers, &drop.path)));
    }
    notices
}

/// A type's name as PostgreSQL shows it here: with its schema if a search does not find it without.
fn shown(name: &QualifiedName, path: &SearchPath) -> String {
    let bare = WrittenName {
        schema: None,
        name: name.name.clone(),
    };
    match path.candidates(&bare).contains(name) {
        true => name.name.clone(),
        false => format!("{}.{}", name.schema, name.name),
    }
}

fn of_truncate(catalog: &Catalog, tables: &[ObjectId]) -> Result<Vec<Notice>> {
    let all = catalog.tables_to_truncate(tables, true)?;
    let more = all.into_iter().filter(|table| !tables.contains(table));
    let entries = more.filter_map(|table| catalog.table_by_id(table));
    let notice = |name: &str| Notice::new(format!("truncate cascades to table \"{name}\""));
    Ok(entries.map(|entry| notice(&entry.name)).collect())
}

/// The views that read columns which go with types.
fn readers(columns: &[(ObjectId, Vec<AlterAction>)]) -> Vec<ObjectId> {
    let actions = columns.iter().flat_map(|(_, actions)| actions);
    let readers = actions.filter_map(|action| match action {
        AlterAction::DropColumn { readers, .. } => Some(readers),
        _ => None,
    });
    readers.flatten().copied().collect()
}

/// The notice of DROP IF EXISTS for an object that is not there, or whose schema is not.
fn missing_in_schema(catalog: &Catalog, kind: &str, name: &QualifiedName, shown: &str) -> Notice {
    match catalog.schema(&name.schema) {
        Some(_) => missing_object(kind, shown),
        None => missing_object("schema", &name.schema),
    }
}

fn missing_object(kind: &str, name: &str) -> Notice {
    Notice::new(format!("{kind} \"{name}\" does not exist, skipping"))
}

/// The notice of what CASCADE drops.
fn cascade(mut dropped: Vec<String>) -> Option<Notice> {
    match &dropped[..] {
        [] => None,
        [one] => Some(Notice::new(format!("drop cascades to {one}"))),
        several => {
            let count = several.len();
            dropped.truncate(LISTED);
            let mut lines: Vec<String> = dropped
                .iter()
                .map(|object| format!("drop cascades to {object}"))
                .collect();
            if count > LISTED {
                lines.push(format!("and {} other objects", count - LISTED));
            }
            let message = format!("drop cascades to {count} other objects");
            Some(Notice::new(message).with_detail(lines.join("\n")))
        }
    }
}
