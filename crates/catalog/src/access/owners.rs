//! Owners of objects: of new ones, and OWNER TO.

use super::checks::table_of;
use super::{AccessRules, Guarded, GuardedKind, Rights, RoleId, refused};
use crate::Catalog;
use crate::objects::Object;
use frazil_types::{Error, ObjectId, Result, SqlState};

impl Catalog {
    /// True if something is stored of a new object of a role: its owner, or privileges.
    pub fn notes_owner(&self, owner: RoleId) -> bool {
        owner != RoleId::SUPERUSER || self.access.defaults.keys().any(|of| of.role == owner)
    }

    /// The next version, in which a role owns the objects that are not in `before`, with its default privileges; `None`
    /// if nothing is to be stored.
    pub fn adopted(&self, before: &Catalog, owner: RoleId) -> Option<Catalog> {
        if !self.notes_owner(owner) {
            return None;
        }
        let new: Vec<ObjectId> = (self.objects.lasting())
            .filter(|(id, _)| id.0 > before.last_id())
            .chain(self.objects.temporary())
            .map(|(id, _)| id)
            .filter(|id| before.objects.get(*id).is_none())
            .collect();
        let mut access = AccessRules::clone(&self.access);
        for id in new {
            let of = Guarded::Object(id);
            let is_owned = self.owning(of) != of;
            if !is_owned && owner != RoleId::SUPERUSER && !access.owners.contains_key(&of) {
                access.owners.insert(of, owner);
            }
            if let Some(acl) = self.default_acl(of, owner) {
                access.acls.insert(of, acl);
            }
        }
        (access != *self.access).then(|| self.with_access(access))
    }

    /// The next version, in which a role owns a new schema; this version if it does.
    pub fn with_owner(&self, of: Guarded, owner: RoleId) -> Catalog {
        let mut access = AccessRules::clone(&self.access);
        access.set_owner(of, owner);
        self.with_access(access)
    }

    /// The next version, with another owner of an object, as OWNER TO asks of a role; this version if it has the owner.
    /// 42501, 0A000 for a sequence that a column owns.
    pub fn change_owner(&self, by: RoleId, of: Guarded, owner: RoleId) -> Result<Catalog> {
        if let Some(Object::Sequence(sequence)) = of.id().and_then(|id| self.objects.get(id))
            && let Some(table) = table_of(sequence)
        {
            let (name, table) = (&sequence.name, self.guarded_name(Guarded::Object(table)));
            let message = format!("cannot change owner of sequence \"{name}\"");
            let detail = format!("Sequence \"{name}\" is linked to table \"{table}\".");
            return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message).with_detail(detail));
        }
        let old = self.owner_of(of);
        if old == owner {
            return Ok(self.clone());
        }
        if !self.access.is_superuser(by) {
            self.check_new_owner(by, of, owner)?;
        }
        Ok(self.reowned(&[of], old, owner))
    }

    fn check_new_owner(&self, by: RoleId, of: Guarded, owner: RoleId) -> Result<()> {
        self.check_owner(by, of)?;
        if !self.access.is_member(by, owner) {
            let name = self.access.role_name(owner);
            return Err(refused(format!("must be member of role \"{name}\"")));
        }
        match self.guarded_kind(of) {
            Some(GuardedKind::Database) => {
                let role = self.access.role(by);
                match role.is_some_and(|role| role.attributes.creates_databases) {
                    true => Ok(()),
                    false => Err(refused("permission denied to change owner of database")),
                }
            }
            // The present role must be able to create the schema.
            Some(GuardedKind::Schema) => self.check_rights(by, Guarded::Database, Rights::CREATE),
            _ => match self.schema_of_guarded(of) {
                Some(schema) => self.check_rights(owner, Guarded::Object(schema), Rights::CREATE),
                None => Ok(()),
            },
        }
    }

    /// The next version, in which objects of one role belong to another one.
    pub(super) fn reowned(&self, objects: &[Guarded], old: RoleId, new: RoleId) -> Catalog {
        let mut access = AccessRules::clone(&self.access);
        for of in objects {
            access.set_owner(*of, new);
            for (known, acl) in &mut access.acls {
                if self.owning(*known) == *of {
                    *acl = acl.of_new_owner(old, new);
                }
            }
            if let Some(acl) = self.stored_acl(*of).filter(|_| !access.acls.contains_key(of)) {
                access.acls.insert(*of, acl.of_new_owner(old, new));
            }
        }
        self.with_access(access)
    }

    /// The objects that a role owns itself, in the order of their ids, the database first.
    pub(super) fn owned_by(&self, role: RoleId) -> Vec<Guarded> {
        let is_there = |of: &Guarded| of.id().is_none_or(|id| self.objects.get(id).is_some());
        let owned = self.access.owners.iter().filter(|(_, owner)| **owner == role);
        owned.map(|(of, _)| *of).filter(is_there).collect()
    }

    /// The next version, in which the objects of some roles belong to another one: REASSIGN OWNED. 42501, 2BP01 for
    /// roles of the system.
    pub fn reassign_owned(&self, by: RoleId, roles: &[RoleId], to: RoleId) -> Result<Catalog> {
        let refuses = |role: &&RoleId| !self.access.has_privileges_of(by, **role);
        if roles.iter().chain([&to]).any(|role| refuses(&role)) {
            return Err(refused("permission denied to reassign objects"));
        }
        let mut next = self.clone();
        for role in roles {
            if role.is_predefined() {
                let message = format!(
                    "cannot reassign ownership of objects owned by role {} because they are required by the \
                     database system",
                    self.access.role_name(*role)
                );
                return Err(Error::new(SqlState::DEPENDENT_OBJECTS, message));
            }
            next = next.reowned(&next.owned_by(*role), *role, to);
        }
        Ok(next)
    }
}

impl AccessRules {
    pub(super) fn set_owner(&mut self, of: Guarded, owner: RoleId) {
        let is_public = of == Guarded::Object(crate::SchemaEntry::PUBLIC_ID);
        match owner == RoleId::SUPERUSER && !is_public {
            true => drop(self.owners.remove(&of)),
            false => drop(self.owners.insert(of, owner)),
        }
    }
}
