//! Roles, owners and privileges: who may do what with which object.
//!
//! Owners and privileges are kept beside the entries of the catalog, by the ids of objects, like comments. An object
//! without an owner here belongs to the first superuser, and one without a list of privileges has the list that
//! PostgreSQL gives a new object. So a database whose only role is the superuser stores nothing, and its definitions
//! pay nothing.
//!
//! Ids are never given again. Dropping an object therefore does not look for its owner and its privileges: those of
//! objects that are gone are never shown, and [`Catalog::restore`](crate::Catalog::restore) forgets them.

mod acl;
mod checks;
mod defaults;
mod drop_owned;
mod dropped_roles;
mod grants;
mod memberships;
mod owners;
mod role_definitions;
mod settings;
mod text;

pub use acl::{Acl, AclItem, Right, Rights};
pub use checks::{Demand, GuardedKind};
pub use defaults::{DefaultKind, DefaultsOf};
pub use drop_owned::DropOwned;
pub use grants::{Grant, GrantTarget};
pub use memberships::GrantRoles;
pub use role_definitions::{NewRole, RoleOptions};
pub use settings::SettingChange;

use crate::{Catalog, Commented};
use frazil_types::{Error, ObjectId, Result, SqlState, USER};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// An object that has an owner or privileges: addressed as for comments.
pub type Guarded = Commented;

/// The number of a role: its oid in `pg_authid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RoleId(pub u32);

impl RoleId {
    /// The superuser of a new database. Always a superuser, and never dropped.
    pub const SUPERUSER: RoleId = RoleId(10);
    /// PUBLIC, in lists of privileges.
    pub const PUBLIC: RoleId = RoleId(0);
    /// `pg_database_owner`, whose one member is the owner of the database.
    pub const DATABASE_OWNER: RoleId = RoleId(6171);
    /// `pg_read_all_data`.
    pub const READ_ALL_DATA: RoleId = RoleId(6181);
    /// `pg_write_all_data`.
    pub const WRITE_ALL_DATA: RoleId = RoleId(6182);
    /// `pg_monitor`.
    pub const MONITOR: RoleId = RoleId(3373);
    /// `pg_read_all_settings`.
    pub const READ_ALL_SETTINGS: RoleId = RoleId(3374);
    /// `pg_read_all_stats`.
    pub const READ_ALL_STATS: RoleId = RoleId(3375);
    /// `pg_read_server_files`.
    pub const READ_SERVER_FILES: RoleId = RoleId(4569);
    /// `pg_write_server_files`.
    pub const WRITE_SERVER_FILES: RoleId = RoleId(4570);
    /// `pg_signal_backend`.
    pub const SIGNAL_BACKEND: RoleId = RoleId(4200);

    /// `pg_checkpoint`.
    pub const CHECKPOINT: RoleId = RoleId(4544);

    /// True for roles that no statement made.
    pub fn is_predefined(self) -> bool {
        self.0 <= frazil_types::FIRST_USER_OID
    }
}

/// PostgreSQL 15's predefined roles, with their oids.
const PREDEFINED: [(RoleId, &str); 12] = [
    (RoleId::DATABASE_OWNER, "pg_database_owner"),
    (RoleId::READ_ALL_DATA, "pg_read_all_data"),
    (RoleId::WRITE_ALL_DATA, "pg_write_all_data"),
    (RoleId::MONITOR, "pg_monitor"),
    (RoleId::READ_ALL_SETTINGS, "pg_read_all_settings"),
    (RoleId::READ_ALL_STATS, "pg_read_all_stats"),
    (RoleId(3377), "pg_stat_scan_tables"),
    (RoleId::READ_SERVER_FILES, "pg_read_server_files"),
    (RoleId::WRITE_SERVER_FILES, "pg_write_server_files"),
    (RoleId(4571), "pg_execute_server_program"),
    (RoleId::SIGNAL_BACKEND, "pg_signal_backend"),
    (RoleId::CHECKPOINT, "pg_checkpoint"),
];

/// The predefined roles that `pg_monitor` is a member of.
const OF_MONITOR: [RoleId; 3] = [RoleId::READ_ALL_SETTINGS, RoleId::READ_ALL_STATS, RoleId(3377)];

/// The attributes of a role, which go beyond privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// SUPERUSER: the role may do everything.
    pub is_superuser: bool,
    /// INHERIT: the role has the privileges of the roles that it is a member of.
    pub inherits: bool,
    /// CREATEROLE.
    pub creates_roles: bool,
    /// CREATEDB.
    pub creates_databases: bool,
    /// LOGIN.
    pub can_log_in: bool,
    /// REPLICATION.
    pub replicates: bool,
    /// BYPASSRLS.
    pub bypasses_rls: bool,
}

/// A role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its number.
    pub id: RoleId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// Its attributes.
    pub attributes: Attributes,
    /// Most sessions of it at a time; -1: any number.
    pub connection_limit: i32,
    /// The verifier of its password, as `pg_authid` shows it.
    pub verifier: Option<Arc<str>>,
    /// The time from which on the password is not accepted, in microseconds since 1970.
    pub valid_until: Option<i64>,
}

impl Role {
    fn predefined(id: RoleId, name: &str) -> Role {
        Role {
            id,
            name: name.to_owned(),
            attributes: Attributes {
                is_superuser: false,
                inherits: true,
                creates_roles: false,
                creates_databases: false,
                can_log_in: false,
                replicates: false,
                bypasses_rls: false,
            },
            connection_limit: -1,
            verifier: None,
            valid_until: None,
        }
    }

    fn superuser() -> Role {
        Role {
            attributes: Attributes {
                is_superuser: true,
                inherits: true,
                creates_roles: true,
                creates_databases: true,
                can_log_in: true,
                replicates: true,
                bypasses_rls: true,
            },
            ..Role::predefined(RoleId::SUPERUSER, USER)
        }
    }
}

/// A role's membership in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The role that granted it.
    pub grantor: RoleId,
    /// WITH ADMIN OPTION: the member may grant and revoke membership.
    pub is_admin: bool,
}

/// The sessions that begin with some settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettingsOf {
    /// Their role, or [`RoleId::PUBLIC`] for those of every role.
    pub role: RoleId,
    /// True for ALTER DATABASE and IN DATABASE.
    pub in_database: bool,
}

/// All roles, owners and privileges of one version of the catalog.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessRules {
    /// Roles by number.
    pub roles: BTreeMap<RoleId, Arc<Role>>,
    /// Memberships by role and member.
    pub members: BTreeMap<(RoleId, RoleId), Membership>,
    /// The owners of objects that do not belong to the first superuser.
    pub owners: BTreeMap<Guarded, RoleId>,
    /// The privileges of objects that do not have those of a new object.
    pub acls: BTreeMap<Guarded, Acl>,
    /// Privileges of objects to come: ALTER DEFAULT PRIVILEGES.
    pub defaults: BTreeMap<DefaultsOf, Acl>,
    /// Names and values of the settings that sessions begin with, in the order in which they were made.
    pub settings: BTreeMap<SettingsOf, Vec<(String, String)>>,
}

static INITIAL: LazyLock<Arc<AccessRules>> = LazyLock::new(|| {
    let predefined = PREDEFINED.iter().map(|(id, name)| Role::predefined(*id, name));
    let roles = predefined.chain([Role::superuser()]);
    let of_monitor = |role| {
        let membership = Membership {
            grantor: RoleId::SUPERUSER,
            is_admin: false,
        };
        ((role, RoleId::MONITOR), membership)
    };
    Arc::new(AccessRules {
        roles: roles.map(|role| (role.id, Arc::new(role))).collect(),
        members: OF_MONITOR.map(of_monitor).into(),
        owners: BTreeMap::new(),
        acls: BTreeMap::new(),
        defaults: BTreeMap::new(),
        settings: BTreeMap::new(),
    })
});

impl Default for AccessRules {
    /// Roles, owners and privileges of a new database.
    fn default() -> AccessRules {
        AccessRules::clone(&INITIAL)
    }
}

impl AccessRules {
    /// Returns those of a new database.
    pub fn initial() -> Arc<AccessRules> {
        INITIAL.clone()
    }

    /// Returns a role by its number.
    pub fn role(&self, id: RoleId) -> Option<&Arc<Role>> {
        self.roles.get(&id)
    }

    /// Returns a role by its name.
    pub fn role_named(&self, name: &str) -> Option<&Arc<Role>> {
        self.roles.values().find(|role| role.name == name)
    }

    /// Returns a role by its name. 42704.
    pub fn find_role(&self, name: &str) -> Result<&Arc<Role>> {
        self.role_named(name).ok_or_else(|| missing_role(name))
    }

    /// The name of a role for messages: the number of one that is gone.
    pub fn role_name(&self, id: RoleId) -> String {
        self.role(id)
            .map_or_else(|| id.0.to_string(), |role| role.name.clone())
    }

    /// True for a role with SUPERUSER.
    pub fn is_superuser(&self, id: RoleId) -> bool {
        id == RoleId::SUPERUSER || self.role(id).is_some_and(|role| role.attributes.is_superuser)
    }

    /// Keeps only what is about objects that are there.
    fn retain(&mut self, is_there: impl Fn(Guarded) -> bool) {
        self.owners.retain(|of, _| is_there(*of));
        self.acls.retain(|of, _| is_there(*of));
        let schema_is_there =
            |schema: Option<ObjectId>| schema.is_none_or(|id| is_there(Guarded::Object(id)));
        self.defaults.retain(|of, _| schema_is_there(of.schema));
    }
}

/// 42704.
pub(crate) fn missing_role(name: &str) -> Error {
    Error::new(
        SqlState::UNDEFINED_OBJECT,
        format!("role \"{name}\" does not exist"),
    )
}

/// 42501.
pub(crate) fn refused(message: impl Into<String>) -> Error {
    Error::new(SqlState::INSUFFICIENT_PRIVILEGE, message.into())
}

impl Catalog {
    /// The roles, owners and privileges.
    pub fn access(&self) -> &Arc<AccessRules> {
        &self.access
    }

    /// Rules about objects that are in the catalog.
    pub fn current_access(&self) -> Arc<AccessRules> {
        let is_there = |of: Guarded| match of {
            Guarded::Database => true,
            Guarded::Object(id) => self.objects.get(id).is_some(),
            Guarded::Column(id, _) => self.has_column_key(of, id),
        };
        let access = &self.access;
        let mut all = access.owners.keys().chain(access.acls.keys());
        let schemas = access.defaults.keys().filter_map(|of| of.schema);
        if all.all(|of| is_there(*of)) && schemas.map(Guarded::Object).all(is_there) {
            return access.clone();
        }
        let mut current = AccessRules::clone(access);
        current.retain(is_there);
        Arc::new(current)
    }

    /// The next version, with other rules.
    pub(crate) fn with_access(&self, access: AccessRules) -> Catalog {
        let mut next = self.next();
        next.access = Arc::new(access);
        next
    }

    /// True if two versions have the same rules but for temporary objects.
    pub fn has_access_of(&self, other: &Catalog) -> bool {
        if Arc::ptr_eq(&self.access, &other.access) {
            return true;
        }
        let (a, b) = (&self.access, &other.access);
        let lasting = |of: &Guarded| !of.is_temporary();
        a.roles == b.roles
            && a.members == b.members
            && a.defaults == b.defaults
            && a.settings == b.settings
            && (a.owners.iter().filter(|(of, _)| lasting(of)))
                .eq(b.owners.iter().filter(|(of, _)| lasting(of)))
            && (a.acls.iter().filter(|(of, _)| lasting(of))).eq(b.acls.iter().filter(|(of, _)| lasting(of)))
    }

    /// Takes owners and privileges of temporary objects from another version.
    pub(crate) fn take_temporary_access(&mut self, other: &Catalog) {
        let has_any = |access: &AccessRules| {
            access.owners.keys().any(Guarded::is_temporary) || access.acls.keys().any(Guarded::is_temporary)
        };
        if Arc::ptr_eq(&self.access, &other.access) || !(has_any(&self.access) || has_any(&other.access)) {
            return;
        }
        let access = Arc::make_mut(&mut self.access);
        access.owners.retain(|of, _| !of.is_temporary());
        access.acls.retain(|of, _| !of.is_temporary());
        let owners = other.access.owners.iter().filter(|(of, _)| of.is_temporary());
        access.owners.extend(owners.map(|(of, owner)| (*of, *owner)));
        let acls = other.access.acls.iter().filter(|(of, _)| of.is_temporary());
        access.acls.extend(acls.map(|(of, acl)| (*of, acl.clone())));
    }

    /// Forgets owners and privileges of temporary objects.
    pub(crate) fn forget_temporary_access(&mut self) {
        let all = self.access.owners.keys().chain(self.access.acls.keys());
        if all.into_iter().any(Guarded::is_temporary) {
            Arc::make_mut(&mut self.access).retain(|of| !of.is_temporary());
        }
    }
}
