//! GRANT, REVOKE, ALTER DEFAULT PRIVILEGES and OWNER TO: the objects and roles that they name.

use super::naming::{
    find_relation, find_sequence, find_type, index_named, missing_relation, missing_type, schema_name,
};
use super::roles::{role, role_statement, roles};
use crate::access_change::AccessChange;
use crate::parse::{
    GrantObjects, Object, WrittenAccess, WrittenDefaults, WrittenGrant, WrittenOwner, WrittenRight,
    WrittenRole,
};
use crate::{CatalogView, Definition, PlanSettings, Relation};
use frazil_catalog::{
    DefaultKind, Grant, GrantTarget, Guarded, GuardedKind, Rights, RoleId, WrittenName, missing_schema,
    not_a_sequence,
};
use frazil_types::session_settings::{self, DATABASE};
use frazil_types::{Error, ObjectId, Result, SqlState};

/// Binds a statement about roles, owners or privileges.
pub(crate) fn access(
    catalog: &dyn CatalogView,
    written: &WrittenAccess,
    settings: &PlanSettings,
) -> Result<Definition> {
    match written {
        WrittenAccess::Role(statement) => role_statement(catalog, statement, settings),
        WrittenAccess::Grant(written) => grant(catalog, written),
        WrittenAccess::Defaults(written) => default_privileges(catalog, written),
        WrittenAccess::Owner(written) => owner(catalog, written),
    }
}

/// Binds GRANT or REVOKE. 0LP01 for rights that the objects do not have, 42P01, 42703, 42704, 3D000, 3F000 for names
/// that name nothing.
fn grant(catalog: &dyn CatalogView, written: &WrittenGrant) -> Result<Definition> {
    let grantor = written.grantor.as_ref().map(|by| role(catalog, by)).transpose()?;
    if grantor.is_some_and(|by| by != catalog.user().current) {
        let message = "grantor must be current user";
        return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    let mut targets = Vec::new();
    match &written.objects {
        GrantObjects::Functions(schemas) => {
            schemas
                .iter()
                .try_for_each(|name| schema(catalog, name).map(drop))?;
        }
        GrantObjects::InSchemas(kind, schemas) => {
            check_rights(kind.kind(), &written.rights)?;
            for name in schemas {
                let schema = schema(catalog, name)?;
                for of in in_schema(catalog, schema, *kind) {
                    object(catalog, of, &written.rights, &mut targets)?;
                }
            }
        }
        GrantObjects::Named(kind, names) => {
            check_rights(*kind, &written.rights)?;
            for name in names {
                let of = named(catalog, *kind, name)?;
                object(catalog, of, &written.rights, &mut targets)?;
            }
        }
    }
    let grant = Grant {
        is_grant: written.is_grant,
        grant_option: written.grant_option,
        grantees: grantees(catalog, &written.grantees)?,
        behavior: written.behavior,
    };
    Ok(Definition::Access(Box::new(AccessChange::Grant {
        grant,
        targets,
    })))
}

fn grantees(catalog: &dyn CatalogView, written: &[WrittenRole]) -> Result<Vec<RoleId>> {
    let grantee = |written: &WrittenRole| match written {
        WrittenRole::Public => Ok(RoleId::PUBLIC),
        named => role(catalog, named),
    };
    written.iter().map(grantee).collect()
}

/// 0LP01 for a right that objects of a kind do not have, or that columns do not have.
fn check_rights(kind: GuardedKind, rights: &[WrittenRight]) -> Result<()> {
    for written in rights {
        let Some(right) = written.rights else { continue };
        let (allowed, what) = match (written.columns.is_empty(), kind) {
            (false, _) => (GuardedKind::Column.rights(), "column"),
            // Sequences are named like tables, too.
            (true, GuardedKind::Table) => (kind.rights() | Rights::USAGE, "relation"),
            (true, kind) => (kind.rights(), kind.name()),
        };
        if !allowed.has(right) {
            let word = Rights::ALL.iter().find(|known| known.rights == right);
            let word = word.map_or(String::new(), |known| known.word.to_uppercase());
            let message = format!("invalid privilege type {word} for {what}");
            return Err(Error::new(SqlState::INVALID_GRANT, message));
        }
        if !written.columns.is_empty() && kind != GuardedKind::Table {
            let message = "column privileges are only valid for relations";
            return Err(Error::new(SqlState::INVALID_GRANT, message));
        }
    }
    Ok(())
}

/// 0LP01 for USAGE of a table, which [`check_rights`] lets pass because sequences are named like tables. `what`: the
/// word of the message.
fn refuse_usage(kind: GuardedKind, rights: &[WrittenRight], what: &str) -> Result<()> {
    let mut all = rights.iter().filter_map(|written| written.rights);
    match kind.has_columns() && all.any(|right| right == Rights::USAGE) {
        true => {
            let message = format!("invalid privilege type USAGE for {what}");
            Err(Error::new(SqlState::INVALID_GRANT, message))
        }
        false => Ok(()),
    }
}

/// Adds the rights on an object and on its columns.
fn object(
    catalog: &dyn CatalogView,
    of: Guarded,
    rights: &[WrittenRight],
    targets: &mut Vec<GrantTarget>,
) -> Result<()> {
    let guard = catalog.guard();
    let kind = guard.guarded_kind(of).unwrap_or(GuardedKind::Table);
    let whole = rights.iter().filter(|written| written.columns.is_empty());
    let is_all = whole.clone().any(|written| written.rights.is_none());
    let all = whole.fold(Rights::NONE, |all, written| {
        all | written.rights.unwrap_or(kind.rights())
    });
    refuse_usage(kind, rights, "table")?;
    if !all.is_empty() {
        targets.push(GrantTarget {
            of,
            rights: all & kind.rights(),
            is_all,
        });
    }
    let mut of_columns: Vec<GrantTarget> = Vec::new();
    for written in rights {
        for column in &written.columns {
            let of = column_of(catalog, of, column)?;
            let rights = written.rights.unwrap_or(GuardedKind::Column.rights());
            let is_all = written.rights.is_none();
            match of_columns.iter_mut().find(|target| target.of == of) {
                Some(target) => target.rights = target.rights | rights,
                None => of_columns.push(GrantTarget { of, rights, is_all }),
            }
        }
    }
    targets.extend(of_columns);
    Ok(())
}

/// A column of a table or view. 42703.
fn column_of(catalog: &dyn CatalogView, of: Guarded, column: &str) -> Result<Guarded> {
    let guard = catalog.guard();
    let missing = || {
        let relation = guard.guarded_name(of);
        let message = format!("column \"{column}\" of relation \"{relation}\" does not exist");
        Error::new(SqlState::UNDEFINED_COLUMN, message)
    };
    let relation = of.id().and_then(|id| guard.relation_of(id)).ok_or_else(missing)?;
    let columns = relation.columns();
    let position = columns.iter().position(|known| known.name == column);
    let key = position.and_then(|at| guard.column_key(relation.id(), at));
    key.ok_or_else(missing)
}

/// The objects of a schema that ALL … IN SCHEMA means.
fn in_schema(catalog: &dyn CatalogView, schema: ObjectId, kind: DefaultKind) -> Vec<Guarded> {
    let guard = catalog.guard();
    match kind {
        DefaultKind::Relations => {
            let all = guard
                .relations()
                .filter(|relation| relation.namespace() == schema);
            all.map(|relation| Guarded::Object(relation.id())).collect()
        }
        DefaultKind::Sequences => {
            let all = guard.sequences().filter(|sequence| sequence.namespace == schema);
            all.map(|sequence| Guarded::Object(sequence.id)).collect()
        }
        DefaultKind::Types | DefaultKind::Schemas => Vec::new(),
    }
}

/// The identity of a schema. 3F000.
fn schema(catalog: &dyn CatalogView, name: &str) -> Result<ObjectId> {
    let name = schema_name(catalog, name);
    catalog.schema_id(&name).ok_or_else(|| missing_schema(&name))
}

/// 3D000 unless the database has the name. Names of the database that clients try count, too.
fn database(name: &str) -> Result<Guarded> {
    match name == session_settings::database() || [DATABASE, "postgres"].contains(&name) {
        true => Ok(Guarded::Database),
        false => Err(Error::new(
            SqlState::INVALID_CATALOG_NAME,
            format!("database \"{name}\" does not exist"),
        )),
    }
}

/// The object that a name in GRANT means.
fn named(catalog: &dyn CatalogView, kind: GuardedKind, name: &WrittenName) -> Result<Guarded> {
    match kind {
        GuardedKind::Database => database(&name.name),
        GuardedKind::Schema => schema(catalog, &name.name).map(Guarded::Object),
        GuardedKind::Type => match find_type(catalog, catalog.path(), name) {
            Some((_, entry)) => Ok(Guarded::Object(entry.id)),
            None => Err(missing_type(catalog, name)),
        },
        GuardedKind::Sequence => {
            find_sequence(catalog, catalog.path(), name).map(|sequence| Guarded::Object(sequence.id))
        }
        GuardedKind::Table
        | GuardedKind::View
        | GuardedKind::MaterializedView
        | GuardedKind::Index
        | GuardedKind::Column => {
            let of = relation(catalog, name)?;
            match catalog.guard().guarded_kind(of) {
                Some(GuardedKind::Index) => Err(Error::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("\"{}\" is an index", name.name),
                )),
                _ => Ok(of),
            }
        }
    }
}

/// A table, view, sequence or index. 42P01; 0A000 for a system table.
fn relation(catalog: &dyn CatalogView, name: &WrittenName) -> Result<Guarded> {
    if let Some((_, found)) = find_relation(catalog, catalog.path(), name) {
        let id = match found {
            Relation::Table(table) => catalog.catalog_id(table.id),
            Relation::View(view) => Some(view.id),
        };
        return id.map(Guarded::Object).ok_or_else(|| {
            Error::unsupported(format!(
                "changed privileges on the system table \"{}\"",
                name.name
            ))
        });
    }
    if let Ok(sequence) = find_sequence(catalog, catalog.path(), name) {
        return Ok(Guarded::Object(sequence.id));
    }
    match index_named(catalog, name) {
        Some(index) => Ok(Guarded::Object(index)),
        None => Err(missing_relation(catalog, name)),
    }
}

/// Binds ALTER DEFAULT PRIVILEGES. 42704, 3F000, 0LP01.
fn default_privileges(catalog: &dyn CatalogView, written: &WrittenDefaults) -> Result<Definition> {
    let roles = match written.roles.is_empty() {
        true => vec![catalog.user().current],
        false => roles(catalog, &written.roles)?,
    };
    let schemas = written.schemas.iter().map(|name| schema(catalog, name));
    let schemas = schemas.collect::<Result<_>>()?;
    let rights = match written.kind {
        None => None,
        Some(kind) => {
            check_rights(kind.kind(), &written.rights)?;
            refuse_usage(kind.kind(), &written.rights, "relation")?;
            let all = kind.kind().rights();
            let rights = written.rights.iter();
            let rights = rights.fold(Rights::NONE, |sum, one| sum | one.rights.unwrap_or(all));
            Some((kind, rights))
        }
    };
    let grant = Grant {
        is_grant: written.is_grant,
        grant_option: written.grant_option,
        grantees: grantees(catalog, &written.grantees)?,
        behavior: written.behavior,
    };
    Ok(Definition::Access(Box::new(AccessChange::Defaults {
        roles,
        schemas,
        rights,
        grant,
    })))
}

/// Binds OWNER TO. 42P01, 42704, 3F000, 3D000; 42809 for an object of another kind.
fn owner(catalog: &dyn CatalogView, written: &WrittenOwner) -> Result<Definition> {
    let of = match owned(catalog, written) {
        Ok(of) => of,
        Err(e) if written.if_exists && e.state() == SqlState::UNDEFINED_TABLE => None,
        Err(e) => return Err(e),
    };
    Ok(Definition::Access(Box::new(AccessChange::Owner {
        of,
        owner: role(catalog, &written.owner)?,
        tag: written.tag,
    })))
}

/// The object of OWNER TO; `None` for an index, whose owner is that of its table.
fn owned(catalog: &dyn CatalogView, written: &WrittenOwner) -> Result<Option<Guarded>> {
    let name = &written.name;
    let wrong = |what: &str| {
        let message = format!("\"{}\" is not {what}", name.name);
        Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message))
    };
    let of = match written.object {
        Object::Database => database(&name.name)?,
        Object::Schema => named(catalog, GuardedKind::Schema, name)?,
        Object::Type => named(catalog, GuardedKind::Type, name)?,
        Object::Table | Object::View | Object::MaterializedView | Object::Index | Object::Sequence => {
            relation(catalog, name)?
        }
    };
    let kind = catalog.guard().guarded_kind(of);
    match (written.object, kind) {
        (_, Some(GuardedKind::Index)) => Ok(None),
        (Object::View, Some(kind)) if kind != GuardedKind::View => wrong("a view"),
        (Object::MaterializedView, Some(kind)) if kind != GuardedKind::MaterializedView => {
            wrong("a materialized view")
        }
        (Object::Sequence, Some(kind)) if kind != GuardedKind::Sequence => Err(not_a_sequence(&name.name)),
        _ => Ok(Some(of)),
    }
}
