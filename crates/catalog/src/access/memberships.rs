//! Roles as members of roles: GRANT and REVOKE of them, and what a member may do.

use super::{AccessRules, Membership, RoleId, refused};
use crate::Catalog;
use frazil_types::{Error, Result, SqlState};
use std::collections::BTreeSet;

/// GRANT or REVOKE of roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRoles {
    /// False for REVOKE.
    pub is_grant: bool,
    /// WITH ADMIN OPTION, ADMIN OPTION FOR.
    pub admin_option: bool,
    /// The roles.
    pub roles: Vec<String>,
    /// Their members.
    pub members: Vec<RoleId>,
    /// GRANTED BY; `None`: the current role.
    pub grantor: Option<RoleId>,
}

impl AccessRules {
    /// The roles that a role is directly a member of. The database's owner is a member of `pg_database_owner`.
    fn direct(&self, member: RoleId) -> impl Iterator<Item = RoleId> {
        let granted = self.members.keys().filter(move |(_, of)| *of == member);
        let is_owner = self.database_owner() == member;
        let implied = is_owner.then_some(RoleId::DATABASE_OWNER);
        granted.map(|(role, _)| *role).chain(implied)
    }

    /// The owner of the database.
    pub fn database_owner(&self) -> RoleId {
        let owner = self.owners.get(&super::Guarded::Database);
        owner.copied().unwrap_or(RoleId::SUPERUSER)
    }

    /// True if a role is another one, or a member of it over any number of others that `passes` lets through.
    fn reaches(&self, member: RoleId, role: RoleId, passes: impl Fn(RoleId) -> bool) -> bool {
        if member == role {
            return true;
        }
        let (mut seen, mut open) = (BTreeSet::from([member]), vec![member]);
        while let Some(next) = open.pop().filter(|_| !seen.contains(&role)) {
            if passes(next) {
                open.extend(self.direct(next).filter(|of| seen.insert(*of)));
            }
            if seen.contains(&role) {
                return true;
            }
        }
        seen.contains(&role)
    }

    /// True if a role is another one, or a member of it, or a superuser.
    pub fn is_member(&self, member: RoleId, role: RoleId) -> bool {
        self.is_superuser(member) || self.is_plain_member(member, role)
    }

    /// True if a role is another one or a member of it.
    pub fn is_plain_member(&self, member: RoleId, role: RoleId) -> bool {
        self.reaches(member, role, |_| true)
    }

    /// True if a role has the privileges of another one: it is that role, a superuser, or a member that inherits.
    pub fn has_privileges_of(&self, member: RoleId, role: RoleId) -> bool {
        let inherits = |id: RoleId| self.role(id).is_some_and(|role| role.attributes.inherits);
        self.is_superuser(member) || self.reaches(member, role, inherits)
    }

    /// The roles whose privileges a role has, itself first.
    pub fn inherited(&self, member: RoleId) -> Vec<RoleId> {
        let mut found = vec![member];
        let mut at = 0;
        while let Some(next) = found.get(at).copied() {
            at += 1;
            if self.role(next).is_some_and(|role| role.attributes.inherits) {
                let direct: Vec<RoleId> = self.direct(next).filter(|of| !found.contains(of)).collect();
                found.extend(direct);
            }
        }
        found
    }

    /// True if a role may grant and revoke membership in another. No role may in itself unless it is a superuser.
    pub fn is_admin(&self, member: RoleId, role: RoleId) -> bool {
        let holders = || {
            let admins = self
                .members
                .iter()
                .filter(|((of, _), m)| *of == role && m.is_admin);
            admins.map(|((_, holder), _)| *holder)
        };
        self.is_superuser(member)
            || member != role && holders().any(|holder| self.is_plain_member(member, holder))
    }
}

impl Catalog {
    /// The next version, with other memberships, and the notices of those that are as asked already: true for a
    /// warning. 42704, 42501, 0LP01.
    pub fn grant_roles(&self, by: RoleId, change: &GrantRoles) -> Result<(Catalog, Vec<(bool, String)>)> {
        let mut access = AccessRules::clone(self.access());
        let mut notices = Vec::new();
        for name in &change.roles {
            let role = access.find_role(name)?.clone();
            let grantor = change.grantor.unwrap_or(by);
            access.check_admin(by, role.id, change.is_grant)?;
            if grantor != by && !access.is_superuser(by) {
                return Err(refused("must be superuser to set grantor"));
            }
            for member in &change.members {
                let notice = match change.is_grant {
                    true => access.join(role.id, *member, grantor, change.admin_option)?,
                    false => access.leave(role.id, *member, change.admin_option),
                };
                notices.extend(notice);
            }
        }
        Ok((self.with_access(access), notices))
    }
}

impl AccessRules {
    /// 42501 unless a role may change the members of another; 0LP01 for `pg_database_owner`.
    pub(super) fn check_admin(&self, by: RoleId, role: RoleId, is_grant: bool) -> Result<()> {
        let creates = self.role(by).is_some_and(|role| role.attributes.creates_roles);
        let name = self.role_name(role);
        if self.is_superuser(role) {
            if !self.is_superuser(by) {
                return Err(refused("must be superuser to alter superusers"));
            }
        } else if !creates && !self.is_admin(by, role) {
            return Err(refused(format!("must have admin option on role \"{name}\"")));
        }
        if is_grant && role == RoleId::DATABASE_OWNER {
            let message = format!("role \"{name}\" cannot have explicit members");
            return Err(Error::new(SqlState::INVALID_GRANT, message));
        }
        Ok(())
    }

    /// Makes a role a member of another one.
    pub(super) fn join(
        &mut self,
        role: RoleId,
        member: RoleId,
        grantor: RoleId,
        is_admin: bool,
    ) -> Result<Option<(bool, String)>> {
        let (name, of) = (self.role_name(member), self.role_name(role));
        let refused = |message| Err(Error::new(SqlState::INVALID_GRANT, message));
        if member == RoleId::DATABASE_OWNER {
            return refused(format!("role \"{name}\" cannot be a member of any role"));
        }
        if self.is_plain_member(role, member) {
            return refused(format!("role \"{of}\" is a member of role \"{name}\""));
        }
        let known = self.members.get(&(role, member));
        if known.is_some_and(|known| known.is_admin || !is_admin) {
            let message = format!("role \"{name}\" is already a member of role \"{of}\"");
            return Ok(Some((false, message)));
        }
        self.members
            .insert((role, member), Membership { grantor, is_admin });
        Ok(None)
    }

    /// Ends a membership, or its admin option alone.
    fn leave(&mut self, role: RoleId, member: RoleId, only_admin: bool) -> Option<(bool, String)> {
        match self.members.get_mut(&(role, member)) {
            Some(known) if only_admin => {
                known.is_admin = false;
                None
            }
            Some(_) => {
                self.members.remove(&(role, member));
                None
            }
            None => {
                let (name, of) = (self.role_name(member), self.role_name(role));
                Some((true, format!("role \"{name}\" is not a member of role \"{of}\"")))
            }
        }
    }
}
