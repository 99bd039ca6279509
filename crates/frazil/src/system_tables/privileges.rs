//! Rows of `information_schema` about privileges: on tables, views and their columns, on domains, sequences, collations
//! and functions. The views whose names begin with `role_` leave out what a role has as one of PUBLIC.

use super::cells::{Cells, DATABASE, yes_or_no};
use super::fixed;
use super::standard_usage::visible;
use super::virtual_table::Context;
use frazil_catalog::{AclItem, Guarded, Relation, Rights, RoleId, SYSTEM_SCHEMA};
use frazil_functions::built_in;
use frazil_types::{ObjectId, Result};

/// The rights that columns have, too.
const OF_COLUMNS: Rights = Rights(0b100111);

/// The rights of tables in the order in which they are shown.
const ORDER: [Rights; 7] = [
    Rights::INSERT,
    Rights::SELECT,
    Rights::UPDATE,
    Rights::DELETE,
    Rights::TRUNCATE,
    Rights::REFERENCES,
    Rights::TRIGGER,
];

/// True if a view shows an item of a list of privileges to the session's role.
fn is_shown(context: &Context<'_>, item: &AclItem, to_public: ToPublic) -> bool {
    let access = context.catalog().access();
    let is_enabled = |role| access.has_privileges_of(context.user.current, role);
    let is_public = item.grantee == RoleId::PUBLIC;
    is_enabled(item.grantor)
        || (!is_public && is_enabled(item.grantee))
        || (is_public && to_public == ToPublic::Shown)
}

/// Treatment of privileges that only PUBLIC has and no role of the session granted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ToPublic {
    Shown,
    LeftOut,
}

/// The name of a grantee.
fn grantee(context: &Context<'_>, role: RoleId) -> String {
    match role {
        RoleId::PUBLIC => "PUBLIC".to_owned(),
        role => context.catalog().access().role_name(role),
    }
}

/// True if the grantee of an item owns the object, whose rights it can then grant.
fn owns(context: &Context<'_>, item: &AclItem, owner: RoleId) -> bool {
    let access = context.catalog().access();
    item.grantee != RoleId::PUBLIC && access.has_privileges_of(item.grantee, owner)
}

/// The rows of an item of a list of privileges, if the session's role may see it.
fn of_item(
    context: &Context<'_>,
    (schema, relation): (&str, &Relation),
    item: &AclItem,
    among: Rights,
    to_public: ToPublic,
) -> Vec<(Rights, Cells)> {
    let access = context.catalog().access();
    let is_shown = is_shown(context, item, to_public);
    let owner = context.catalog().owner_of(Guarded::Object(relation.id()));
    let owns = owns(context, item, owner);
    let grantee = grantee(context, item.grantee);
    let held = ORDER
        .iter()
        .filter(|right| is_shown && (item.rights & among).has(**right));
    let row = |right: &Rights| {
        let word = Rights::ALL.iter().find(|known| known.rights == *right);
        let row = Cells::new()
            .with("grantor", access.role_name(item.grantor))
            .with("grantee", grantee.as_str())
            .with("table_catalog", DATABASE)
            .with("table_schema", schema)
            .with("table_name", relation.name())
            .with("privilege_type", word.map(|known| known.word.to_uppercase()))
            .with("is_grantable", yes_or_no(owns || item.grantable.has(*right)));
        (*right, row)
    };
    held.map(row).collect()
}

fn on_tables(context: &Context<'_>, to_public: ToPublic) -> Vec<Cells> {
    let mut rows = Vec::new();
    for (schema, relation) in visible(context) {
        let acl = context.catalog().acl(Guarded::Object(relation.id()));
        for item in &acl.0 {
            let of_item = of_item(context, (&schema, relation), item, !Rights::NONE, to_public);
            let row = |(right, row): (Rights, Cells)| {
                row.with("with_hierarchy", yes_or_no(right == Rights::SELECT))
            };
            rows.extend(of_item.into_iter().map(row));
        }
    }
    rows
}

/// `table_privileges`.
pub(super) fn of_tables(context: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(on_tables(context, ToPublic::Shown))
}

/// `role_table_grants`.
pub(super) fn roles_of_tables(context: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(on_tables(context, ToPublic::LeftOut))
}

fn on_columns(context: &Context<'_>, to_public: ToPublic) -> Vec<Cells> {
    let catalog = context.catalog();
    let mut rows = Vec::new();
    for (schema, relation) in visible(context) {
        let of_table = catalog.acl(Guarded::Object(relation.id()));
        for (position, column) in relation.columns().iter().enumerate() {
            let key = catalog.column_key(relation.id(), position);
            let own = key.and_then(|of| catalog.stored_acl(of)).unwrap_or_default();
            for item in of_table.0.iter().chain(&own.0) {
                let of_item = of_item(context, (&schema, relation), item, OF_COLUMNS, to_public);
                let row = |(_, row): (Rights, Cells)| row.with("column_name", column.name.as_str());
                rows.extend(of_item.into_iter().map(row));
            }
        }
    }
    rows
}

/// `column_privileges`.
pub(super) fn of_columns(context: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(on_columns(context, ToPublic::Shown))
}

/// `role_column_grants`.
pub(super) fn roles_of_columns(context: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(on_columns(context, ToPublic::LeftOut))
}

/// Rows of USAGE on an object with an owner.
fn usage_of(
    context: &Context<'_>,
    (id, namespace, name, kind): (ObjectId, ObjectId, &str, &'static str),
    to_public: ToPublic,
) -> Vec<Cells> {
    let catalog = context.catalog();
    let of = Guarded::Object(id);
    let owner = catalog.owner_of(of);
    let acl = catalog.acl(of);
    let held = acl
        .0
        .iter()
        .filter(|item| item.rights.has(Rights::USAGE) && is_shown(context, item, to_public));
    let row = |item: &AclItem| {
        let is_grantable = owns(context, item, owner) || item.grantable.has(Rights::USAGE);
        Cells::new()
            .with("grantor", catalog.access().role_name(item.grantor))
            .with("grantee", grantee(context, item.grantee))
            .with("object_catalog", DATABASE)
            .with("object_schema", catalog.qualified(namespace, "").schema)
            .with("object_name", name)
            .with("object_type", kind)
            .with("privilege_type", "USAGE")
            .with("is_grantable", yes_or_no(is_grantable))
    };
    held.map(row).collect()
}

/// The privileges of everybody on what the system has.
fn of_everybody(grantor: RoleId) -> AclItem {
    AclItem {
        grantee: RoleId::PUBLIC,
        grantor,
        rights: !Rights::NONE,
        grantable: Rights::NONE,
    }
}

fn on_usage(context: &Context<'_>, to_public: ToPublic) -> Vec<Cells> {
    let catalog = context.catalog();
    let mut rows = Vec::new();
    if is_shown(context, &of_everybody(RoleId::SUPERUSER), to_public) {
        rows.extend(fixed::COLLATIONS.iter().map(|(_, name, ..)| {
            Cells::new()
                .with("grantor", catalog.access().role_name(RoleId::SUPERUSER))
                .with("grantee", "PUBLIC")
                .with("object_catalog", DATABASE)
                .with("object_schema", SYSTEM_SCHEMA)
                .with("object_name", *name)
                .with("object_type", "COLLATION")
                .with("privilege_type", "USAGE")
                .with("is_grantable", "NO")
        }));
    }
    for (entry, _) in catalog.domains() {
        let of = (entry.id, entry.namespace, entry.name.as_str(), "DOMAIN");
        rows.extend(usage_of(context, of, to_public));
    }
    for sequence in catalog.sequences() {
        let of = (
            sequence.id,
            sequence.namespace,
            sequence.name.as_str(),
            "SEQUENCE",
        );
        rows.extend(usage_of(context, of, to_public));
    }
    rows
}

/// `usage_privileges`.
pub(super) fn of_usage(context: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(on_usage(context, ToPublic::Shown))
}

/// `role_usage_grants`.
pub(super) fn roles_of_usage(context: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(on_usage(context, ToPublic::LeftOut))
}

/// EXECUTE on the functions that the system has, all of which everybody may call.
fn on_functions(context: &Context<'_>, to_public: ToPublic) -> Vec<Cells> {
    let superuser = RoleId::SUPERUSER;
    let owners = AclItem {
        grantee: superuser,
        ..of_everybody(superuser)
    };
    let all = [of_everybody(superuser), owners];
    let shown: Vec<&AclItem> = all
        .iter()
        .filter(|item| is_shown(context, item, to_public))
        .collect();
    let grantor = context.catalog().access().role_name(superuser);
    let rows = built_in::functions().iter().flat_map(|function| {
        let (shown, grantor) = (&shown, grantor.as_str());
        shown.iter().map(move |item| {
            Cells::new()
                .with("grantor", grantor)
                .with("grantee", grantee(context, item.grantee))
                .with("specific_catalog", DATABASE)
                .with("specific_schema", SYSTEM_SCHEMA)
                .with("specific_name", format!("{}_{}", function.name, function.oid))
                .with("routine_catalog", DATABASE)
                .with("routine_schema", SYSTEM_SCHEMA)
                .with("routine_name", function.name)
                .with("privilege_type", "EXECUTE")
                .with("is_grantable", yes_or_no(item.grantee == superuser))
        })
    });
    rows.collect()
}

/// `routine_privileges`.
pub(super) fn of_functions(context: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(on_functions(context, ToPublic::Shown))
}

/// `role_routine_grants`.
pub(super) fn roles_of_functions(context: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(on_functions(context, ToPublic::LeftOut))
}

/// Memberships that the session's role can use, by grantee, role and whether the grantee can grant the role.
fn memberships(context: &Context<'_>) -> Vec<(RoleId, RoleId, bool)> {
    let access = context.catalog().access();
    let granted = access.members.iter();
    let granted = granted.map(|((role, member), of)| (*member, *role, of.is_admin));
    let implied = (access.database_owner(), RoleId::DATABASE_OWNER, false);
    let is_enabled = |member| access.has_privileges_of(context.user.current, member);
    let all = granted.chain([implied]);
    all.filter(|(member, _, _)| is_enabled(*member)).collect()
}

fn of_memberships(context: &Context<'_>, is_shown: fn(bool) -> bool) -> Vec<Cells> {
    let access = context.catalog().access();
    let all = memberships(context).into_iter();
    let shown = all.filter(|(_, _, is_grantable)| is_shown(*is_grantable));
    let row = |(member, role, is_grantable)| {
        Cells::new()
            .with("grantee", access.role_name(member))
            .with("role_name", access.role_name(role))
            .with("is_grantable", yes_or_no(is_grantable))
    };
    shown.map(row).collect()
}

/// `applicable_roles`.
pub(super) fn applicable_roles(context: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(of_memberships(context, |_| true))
}

/// `administrable_role_authorizations`.
pub(super) fn administrable_roles(context: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(of_memberships(context, |is_grantable| is_grantable))
}
