//! DROP ROLE, and the objects that keep a role from being dropped.

use super::{AccessRules, Guarded, RoleId, missing_role, refused};
use crate::{Catalog, TypeKind};
use frazil_types::{Error, Result, SqlState};

/// Most dependent objects that an error names.
const MOST_NAMED: usize = 100;

impl Catalog {
    /// The next version, without some roles, and the names of those that there were none. 42704 unless a name may be
    /// missing, 42501, 55006 for the roles of the session, 2BP01 while objects depend on a role.
    pub fn drop_roles(
        &self,
        (current, session): (RoleId, RoleId),
        names: &[String],
        if_exists: bool,
    ) -> Result<(Catalog, Vec<String>)> {
        let old = self.access();
        if !old.creates_roles(current) {
            return Err(refused("permission denied to drop role"));
        }
        let mut access = AccessRules::clone(old);
        let mut missing = Vec::new();
        for name in names {
            let role = match access.role_named(name) {
                Some(role) => role.clone(),
                None if if_exists => {
                    missing.push(name.clone());
                    continue;
                }
                None => return Err(missing_role(name)),
            };
            let in_use = |who| Error::new(SqlState::OBJECT_IN_USE, format!("{who} user cannot be dropped"));
            if role.id == current {
                return Err(in_use("current"));
            }
            if role.id == session {
                return Err(in_use("session"));
            }
            if role.attributes.is_superuser && !old.is_superuser(current) {
                return Err(refused("must be superuser to drop superusers"));
            }
            if role.id.is_predefined() {
                let message =
                    format!("cannot drop role {name} because it is required by the database system");
                return Err(Error::new(SqlState::DEPENDENT_OBJECTS, message));
            }
            access
                .members
                .retain(|(of, member), _| *of != role.id && *member != role.id);
            let dependents = self.dependents_of_role(role.id);
            if !dependents.is_empty() {
                return Err(still_needed(name, dependents));
            }
            access.roles.remove(&role.id);
            access.settings.retain(|of, _| of.role != role.id);
        }
        // Memberships that the roles granted are the superuser's now.
        let gone = |id: &RoleId| !access.roles.contains_key(id);
        for membership in access.members.values_mut().filter(|m| gone(&m.grantor)) {
            membership.grantor = RoleId::SUPERUSER;
        }
        Ok((self.with_access(access), missing))
    }

    /// The objects that depend on a role, a line for each, in the order of the objects' ids.
    fn dependents_of_role(&self, role: RoleId) -> Vec<String> {
        let access = self.current_access();
        let mut found: Vec<(Guarded, bool, String)> = Vec::new();
        let owned = access.owners.iter().filter(|(_, owner)| **owner == role);
        for of in owned.map(|(of, _)| of) {
            found.extend(
                self.words(*of)
                    .map(|words| (*of, true, format!("owner of {words}"))),
            );
        }
        for (of, acl) in &access.acls {
            let is_in = acl
                .0
                .iter()
                .any(|item| item.grantee == role || item.grantor == role);
            if is_in && self.owner_of(*of) != role {
                let words = self.words(*of);
                found.extend(words.map(|words| (*of, false, format!("privileges for {words}"))));
            }
        }
        found.sort();
        let mut lines: Vec<String> = found.into_iter().map(|(_, _, line)| line).collect();
        for (of, acl) in &access.defaults {
            let within = of.schema.and_then(|id| self.schema_of(id));
            let within = within.map_or(String::new(), |schema| format!(" in schema {}", schema.name));
            let owner = access.role_name(of.role);
            let words = format!(
                "default privileges on new {} belonging to role {owner}{within}",
                of.kind.words()
            );
            if of.role == role {
                lines.push(format!("owner of {words}"));
            } else if acl
                .0
                .iter()
                .any(|item| item.grantee == role || item.grantor == role)
            {
                lines.push(format!("privileges for {words}"));
            }
        }
        lines
    }

    /// An object in the words of an error's detail.
    fn words(&self, of: Guarded) -> Option<String> {
        if let Guarded::Column(table, _) = of {
            let table = self.words(Guarded::Object(table))?;
            return Some(format!("column {} of {table}", self.column_of_key(of)?));
        }
        let words = self.comment_words(of)?;
        let domain = of.id().and_then(|id| self.user_type_of(id));
        match domain.is_some_and(|entry| matches!(entry.kind, TypeKind::Domain(_))) {
            true => Some(words.replacen("domain ", "type ", 1)),
            false => Some(words),
        }
    }
}

/// 2BP01.
fn still_needed(name: &str, mut lines: Vec<String>) -> Error {
    let message = format!("role \"{name}\" cannot be dropped because some objects depend on it");
    let more = lines.len().saturating_sub(MOST_NAMED);
    lines.truncate(MOST_NAMED);
    let mut detail = lines.join("\n");
    if more > 0 {
        detail += &format!("\nand {more} other objects (see server log for list)");
    }
    Error::new(SqlState::DEPENDENT_OBJECTS, message).with_detail(detail)
}
