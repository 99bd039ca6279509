//! CREATE ROLE, ALTER ROLE and their errors.

use super::{AccessRules, Attributes, Role, RoleId, refused};
use crate::Catalog;
use frazil_types::{Error, ObjectId, Result, SqlState};
use std::sync::Arc;

/// The options of CREATE ROLE and ALTER ROLE that a statement gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleOptions {
    /// [NO]SUPERUSER.
    pub superuser: Option<bool>,
    /// [NO]INHERIT.
    pub inherit: Option<bool>,
    /// [NO]CREATEROLE.
    pub create_role: Option<bool>,
    /// [NO]CREATEDB.
    pub create_db: Option<bool>,
    /// [NO]LOGIN.
    pub login: Option<bool>,
    /// [NO]REPLICATION.
    pub replication: Option<bool>,
    /// [NO]BYPASSRLS.
    pub bypass_rls: Option<bool>,
    /// CONNECTION LIMIT.
    pub connection_limit: Option<i32>,
    /// PASSWORD, as its verifier, or PASSWORD NULL.
    pub password: Option<Option<String>>,
    /// VALID UNTIL, in microseconds since 1970.
    pub valid_until: Option<i64>,
}

/// CREATE ROLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRole {
    /// Its name.
    pub name: String,
    /// The options.
    pub options: RoleOptions,
    /// IN ROLE: roles that the new one becomes a member of.
    pub within: Vec<String>,
    /// ROLE: members of the new role.
    pub members: Vec<RoleId>,
    /// ADMIN: members with the admin option.
    pub admins: Vec<RoleId>,
}

impl RoleOptions {
    /// True if the password alone is given.
    fn is_password_alone(&self) -> bool {
        let rest = RoleOptions {
            password: None,
            ..self.clone()
        };
        rest == RoleOptions::default()
    }

    fn apply(&self, role: &mut Role) {
        let attributes = &mut role.attributes;
        for (given, known) in [
            (self.superuser, &mut attributes.is_superuser),
            (self.inherit, &mut attributes.inherits),
            (self.create_role, &mut attributes.creates_roles),
            (self.create_db, &mut attributes.creates_databases),
            (self.login, &mut attributes.can_log_in),
            (self.replication, &mut attributes.replicates),
            (self.bypass_rls, &mut attributes.bypasses_rls),
        ] {
            *known = given.unwrap_or(*known);
        }
        role.connection_limit = self.connection_limit.unwrap_or(role.connection_limit);
        if let Some(verifier) = &self.password {
            role.verifier = verifier.as_deref().map(Arc::from);
        }
        role.valid_until = self.valid_until.or(role.valid_until);
    }

    fn check(&self) -> Result<()> {
        match self.connection_limit {
            Some(limit) if limit < -1 => Err(Error::new(
                SqlState::INVALID_PARAMETER,
                format!("invalid connection limit: {limit}"),
            )),
            Some(_) | None => Ok(()),
        }
    }
}

/// 42939 for a name that no role can have.
fn check_name(name: &str) -> Result<()> {
    let error = || {
        Error::new(
            SqlState::RESERVED_NAME,
            format!("role name \"{name}\" is reserved"),
        )
    };
    if name.starts_with("pg_") {
        return Err(error().with_detail("Role names starting with \"pg_\" are reserved."));
    }
    match name {
        "public" | "none" => Err(error()),
        _ => Ok(()),
    }
}

impl AccessRules {
    /// The attributes of a role.
    fn attributes(&self, id: RoleId) -> Option<Attributes> {
        self.role(id).map(|role| role.attributes)
    }

    /// True for a superuser and a role with CREATEROLE.
    pub(super) fn creates_roles(&self, id: RoleId) -> bool {
        self.is_superuser(id) || self.attributes(id).is_some_and(|a| a.creates_roles)
    }

    /// 42710 for a name that a role has.
    fn refuse_taken(&self, name: &str) -> Result<()> {
        match self.role_named(name) {
            None => Ok(()),
            Some(_) => Err(Error::new(
                SqlState::DUPLICATE_OBJECT,
                format!("role \"{name}\" already exists"),
            )),
        }
    }

    /// 42501 unless `by` may make a role with these options.
    fn check_create(&self, by: RoleId, options: &RoleOptions) -> Result<()> {
        if self.is_superuser(by) {
            return Ok(());
        }
        let message = if options.superuser == Some(true) {
            "must be superuser to create superusers"
        } else if options.replication == Some(true) {
            "must be superuser to create replication users"
        } else if options.bypass_rls == Some(true) {
            "must be superuser to create bypassrls users"
        } else if !self.creates_roles(by) {
            "permission denied to create role"
        } else {
            return Ok(());
        };
        Err(refused(message))
    }

    /// 42501 unless `by` may change a role so.
    fn check_alter(&self, by: RoleId, role: &Role, options: &RoleOptions) -> Result<()> {
        let is_superuser = self.is_superuser(by);
        if role.id == RoleId::SUPERUSER && options.superuser == Some(false) {
            return Err(refused("permission denied: bootstrap user must be superuser"));
        }
        let message = if role.attributes.is_superuser || options.superuser.is_some() {
            "must be superuser to alter superuser roles or change superuser attribute"
        } else if role.attributes.replicates || options.replication.is_some() {
            "must be superuser to alter replication roles or change replication attribute"
        } else if options.bypass_rls.is_some() {
            "must be superuser to change bypassrls attribute"
        } else {
            let is_own = role.id == by && options.is_password_alone();
            return match is_own || self.creates_roles(by) {
                true => Ok(()),
                false => Err(refused("permission denied")),
            };
        };
        match is_superuser {
            true => Ok(()),
            false => Err(refused(message)),
        }
    }
}

impl Catalog {
    /// The next version, with one more role, and the notices of its memberships. 42710, 42704, 42939, 42501.
    pub fn create_role(&self, by: RoleId, new: &NewRole) -> Result<(Catalog, Vec<(bool, String)>)> {
        let old = self.access();
        new.options.check()?;
        old.check_create(by, &new.options)?;
        check_name(&new.name)?;
        old.refuse_taken(&new.name)?;
        let mut next = self.clone();
        // Schemas of lasting objects and roles count together.
        let id = RoleId(next.take_id(ObjectId(0)).oid());
        let mut role = Role::predefined(id, &new.name);
        new.options.apply(&mut role);
        let mut access = AccessRules::clone(old);
        access.roles.insert(id, Arc::new(role));
        let mut notices = Vec::new();
        for name in &new.within {
            let role = access.find_role(name)?.id;
            access.check_admin(by, role, true)?;
            notices.extend(access.join(role, id, by, false)?);
        }
        for member in &new.admins {
            notices.extend(access.join(id, *member, by, true)?);
        }
        for member in &new.members {
            notices.extend(access.join(id, *member, by, false)?);
        }
        Ok((next.with_access(access), notices))
    }

    /// The next version, with other options of a role. 42501.
    pub fn alter_role(&self, by: RoleId, role: RoleId, options: &RoleOptions) -> Result<Catalog> {
        options.check()?;
        let old = self.access();
        let known = old
            .role(role)
            .ok_or_else(|| super::missing_role(&role.0.to_string()))?;
        old.check_alter(by, known, options)?;
        let mut changed = Role::clone(known);
        options.apply(&mut changed);
        let mut access = AccessRules::clone(old);
        access.roles.insert(role, Arc::new(changed));
        Ok(self.with_access(access))
    }

    /// The next version, with another name of a role. 42704, 42710, 42939, 42501.
    pub fn rename_role(&self, by: RoleId, name: &str, to: &str) -> Result<Catalog> {
        let old = self.access();
        let known = old.find_role(name)?;
        if known.id.is_predefined() && known.id != RoleId::SUPERUSER {
            check_name(name)?;
        }
        check_name(to)?;
        old.refuse_taken(to)?;
        if !old.is_superuser(by) {
            let message = match (known.attributes.is_superuser, old.creates_roles(by)) {
                (true, _) => "must be superuser to rename superusers",
                (false, false) => "permission denied to rename role",
                (false, true) => "",
            };
            if !message.is_empty() {
                return Err(refused(message));
            }
        }
        let mut changed = Role::clone(known);
        changed.name = to.to_owned();
        let mut access = AccessRules::clone(old);
        access.roles.insert(changed.id, Arc::new(changed));
        Ok(self.with_access(access))
    }
}
