//! Rows about roles: `pg_authid`, `pg_roles`, `pg_auth_members` and what shows a part of them.

use super::cells::{Cell, Cells, list};
use super::numbers::DATABASE;
use super::sessions::texts;
use super::virtual_table::Context;
use frazil_catalog::{Acl, Catalog, Guarded, Role, RoleId, SettingsOf};
use frazil_types::{LogicalType, ObjectId, Result, Value};
use std::sync::Arc;

/// A moment in microseconds since 1970.
struct Moment(Option<i64>);

impl Cell for Moment {
    fn cell(self) -> Value {
        self.0.map_or(Value::Null, |micros| Value::Int(micros.into()))
    }
}

fn roles<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Arc<Role>> {
    context.catalog().access().roles.values()
}

/// The owner of the object of an oid: the first superuser of what the system has.
pub(super) fn owner_of(catalog: &Catalog, oid: u32) -> RoleId {
    let id = ObjectId::of_oid(oid);
    id.map_or(RoleId::SUPERUSER, |id| catalog.owner_of(Guarded::Object(id)))
}

/// The name of the owner of the object of an oid.
pub(super) fn owner_name(catalog: &Catalog, oid: u32) -> String {
    catalog.access().role_name(owner_of(catalog, oid))
}

/// A list of privileges; NULL for that of a new object.
pub(super) fn acl(catalog: &Catalog, acl: Option<&Acl>) -> Result<Value> {
    match acl {
        Some(acl) => texts(acl.texts(catalog.access())),
        None => Ok(Value::Null),
    }
}

/// The list of privileges of the object of an oid.
pub(super) fn acl_of(catalog: &Catalog, oid: u32) -> Result<Value> {
    let of = ObjectId::of_oid(oid).map(Guarded::Object);
    acl(catalog, of.and_then(|of| catalog.stored_acl(of)).as_ref())
}

/// Default privileges: ALTER DEFAULT PRIVILEGES.
pub(super) fn defaults(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let all = catalog.current_access();
    let rows = all.defaults.iter().zip(0_u32..).map(|((of, list), at)| {
        Ok(Cells::new()
            .with("oid", super::numbers::FIRST_UNNAMED + (3 << 27) + at)
            .with("defaclrole", of.role.0)
            .with("defaclnamespace", of.schema.map_or(0, ObjectId::oid))
            .with("defaclobjtype", of.kind.letter())
            .with("defaclacl", acl(catalog, Some(list))?))
    });
    rows.collect()
}

/// The part of `pg_authid` that `pg_roles` shows, too.
fn role(role: &Role) -> Cells {
    let attributes = role.attributes;
    Cells::new()
        .with("oid", role.id.0)
        .with("rolname", role.name.as_str())
        .with("rolsuper", attributes.is_superuser)
        .with("rolinherit", attributes.inherits)
        .with("rolcreaterole", attributes.creates_roles)
        .with("rolcreatedb", attributes.creates_databases)
        .with("rolcanlogin", attributes.can_log_in)
        .with("rolreplication", attributes.replicates)
        .with("rolbypassrls", attributes.bypasses_rls)
        .with("rolconnlimit", role.connection_limit)
        .with("rolvaliduntil", Moment(role.valid_until))
}

pub(super) fn authids(context: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |of: &Arc<Role>| role(of).with("rolpassword", of.verifier.as_deref());
    Ok(roles(context).map(row).collect())
}

pub(super) fn shown(context: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |of: &Arc<Role>| {
        let row = role(of).with("rolpassword", "********");
        Ok(row.with("rolconfig", config(context, of.id)?))
    };
    roles(context).map(row).collect()
}

/// Settings as `name=value`; NULL if there are none.
fn assignments(settings: Option<&Vec<(String, String)>>) -> Result<Value> {
    match settings {
        Some(settings) => texts(
            settings
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
        ),
        None => Ok(Value::Null),
    }
}

/// The settings that sessions of a role begin with, in every database.
fn config(context: &Context<'_>, role: RoleId) -> Result<Value> {
    let of = SettingsOf {
        role,
        in_database: false,
    };
    assignments(context.catalog().access().settings.get(&of))
}

/// The settings that sessions begin with: `pg_db_role_setting`.
pub(super) fn settings(context: &Context<'_>) -> Result<Vec<Cells>> {
    let all = context.catalog().access().settings.iter();
    let row = |(of, settings): (&SettingsOf, &Vec<(String, String)>)| {
        let database = if of.in_database { DATABASE } else { 0 };
        Ok(Cells::new()
            .with("setdatabase", database)
            .with("setrole", of.role.0)
            .with("setconfig", assignments(Some(settings))?))
    };
    all.map(row).collect()
}

pub(super) fn members(context: &Context<'_>) -> Result<Vec<Cells>> {
    let members = context.catalog().access().members.iter();
    let row = |((role, member), membership): (
        &(frazil_catalog::RoleId, frazil_catalog::RoleId),
        &frazil_catalog::Membership,
    )| {
        Cells::new()
            .with("roleid", role.0)
            .with("member", member.0)
            .with("grantor", membership.grantor.0)
            .with("admin_option", membership.is_admin)
    };
    Ok(members.map(row).collect())
}

/// The roles that can log in, with their passwords: `pg_shadow`.
pub(super) fn shadows(context: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |role: &Arc<Role>| {
        let row = user(role).with("passwd", role.verifier.as_deref());
        Ok(row.with("useconfig", config(context, role.id)?))
    };
    logins(context).map(row).collect()
}

/// The roles that can log in: `pg_user`.
pub(super) fn users(context: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |role: &Arc<Role>| {
        let row = user(role).with("passwd", "********");
        Ok(row.with("useconfig", config(context, role.id)?))
    };
    logins(context).map(row).collect()
}

fn logins<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Arc<Role>> {
    roles(context).filter(|role| role.attributes.can_log_in)
}

fn user(role: &Role) -> Cells {
    let attributes = role.attributes;
    Cells::new()
        .with("usename", role.name.as_str())
        .with("usesysid", role.id.0)
        .with("usecreatedb", attributes.creates_databases)
        .with("usesuper", attributes.is_superuser)
        .with("userepl", attributes.replicates)
        .with("usebypassrls", attributes.bypasses_rls)
        .with("valuntil", Moment(role.valid_until))
}

/// The roles that cannot log in, with their members: `pg_group`.
pub(super) fn groups(context: &Context<'_>) -> Result<Vec<Cells>> {
    let access = context.catalog().access();
    let groups = roles(context).filter(|role| !role.attributes.can_log_in);
    let row = |role: &Arc<Role>| {
        let members = access.members.keys().filter(|(of, _)| *of == role.id);
        let members: Vec<i64> = members.map(|(_, member)| member.0.into()).collect();
        Ok(Cells::new()
            .with("groname", role.name.as_str())
            .with("grosysid", role.id.0)
            .with("grolist", list(&members, LogicalType::Oid)?))
    };
    groups.map(row).collect()
}
