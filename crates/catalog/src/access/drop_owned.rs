//! DROP OWNED: a role's objects go, and its privileges on others.

use super::acl::{AclItem, Rights};
use super::{AccessRules, Guarded, RoleId, refused};
use crate::dependents::{Dropping, Part};
use crate::{Catalog, DropBehavior, SearchPath};
use frazil_types::{Error, ObjectId, Result, SqlState};

/// DROP OWNED.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropOwned {
    /// The roles.
    pub roles: Vec<RoleId>,
    /// CASCADE or RESTRICT.
    pub behavior: DropBehavior,
    /// The path by which errors name objects.
    pub path: SearchPath,
}

impl Catalog {
    /// The next version, without the objects and privileges of some roles, and the ids of the tables and views that
    /// went. 42501, 2BP01.
    pub fn drop_owned(&self, by: RoleId, drop: &DropOwned) -> Result<(Catalog, Vec<ObjectId>)> {
        for role in &drop.roles {
            if !self.access.has_privileges_of(by, *role) {
                return Err(refused("permission denied to drop objects"));
            }
            if role.is_predefined() {
                let message = format!(
                    "cannot drop objects owned by role {} because they are required by the database system",
                    self.access.role_name(*role)
                );
                return Err(Error::new(SqlState::DEPENDENT_OBJECTS, message));
            }
        }
        let owned = drop.roles.iter().flat_map(|role| self.owned_by(*role));
        let named: Vec<Part> = owned.filter_map(|of| of.id()).map(Part::whole).collect();
        let without = self.without_privileges(&drop.roles)?;
        if named.is_empty() {
            return Ok((without, Vec::new()));
        }
        let gone = without.parts_to_drop(&Dropping {
            named,
            behavior: drop.behavior,
            path: &drop.path,
        })?;
        Ok(without.without(&gone))
    }

    /// The next version, in which some roles have no privileges on objects of others, nor default privileges.
    fn without_privileges(&self, roles: &[RoleId]) -> Result<Catalog> {
        let mut access = AccessRules::clone(&self.access);
        for (of, acl) in &mut access.acls {
            *acl = self.acl_without(*of, acl, roles)?;
        }
        access
            .acls
            .retain(|of, acl| !matches!(of, Guarded::Column(..)) || !acl.0.is_empty());
        access.defaults.retain(|of, _| !roles.contains(&of.role));
        let defaults = std::mem::take(&mut access.defaults);
        for (of, mut acl) in defaults {
            acl.0.retain(|item| !roles.contains(&item.grantee));
            access.set_default(of, acl);
        }
        Ok(self.with_access(access))
    }

    fn acl_without(&self, of: Guarded, acl: &super::Acl, roles: &[RoleId]) -> Result<super::Acl> {
        let judge = self.judge(of, DropBehavior::Cascade);
        let mut acl = acl.clone();
        let is_of = |item: &&AclItem| {
            roles.contains(&item.grantee) && item.grantee != judge.owner && !item.rights.is_empty()
        };
        while let Some(item) = acl.0.iter().find(is_of).copied() {
            let all = AclItem {
                rights: !Rights::NONE,
                grantable: !Rights::NONE,
                ..item
            };
            acl = acl.remove(all, &judge)?;
        }
        Ok(acl)
    }
}
