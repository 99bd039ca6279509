//! GRANT and REVOKE of rights on objects, by PostgreSQL's rules: who counts as the grantor, and what that one may give.

use super::acl::{Acl, AclItem, Judge, Rights};
use super::defaults::DefaultsChange;
use super::{AccessRules, DefaultKind, DefaultsOf, Guarded, GuardedKind, RoleId};
use crate::{Catalog, DropBehavior};
use frazil_types::{Error, ObjectId, Result, SqlState};

/// GRANT or REVOKE, without its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// False for REVOKE.
    pub is_grant: bool,
    /// WITH GRANT OPTION, GRANT OPTION FOR.
    pub grant_option: bool,
    /// The roles, [`RoleId::PUBLIC`] among them.
    pub grantees: Vec<RoleId>,
    /// CASCADE or RESTRICT of REVOKE, for rights that a grantee has granted further.
    pub behavior: DropBehavior,
}

/// Rights on an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantTarget {
    /// The object.
    pub of: Guarded,
    /// The rights.
    pub rights: Rights,
    /// True for ALL PRIVILEGES: nobody is warned that some cannot be granted.
    pub is_all: bool,
}

/// A change of a list, by which each grantee gets or loses rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ItemChange {
    pub is_grant: bool,
    pub grant_option: bool,
    pub grantees: Vec<RoleId>,
    pub behavior: DropBehavior,
    pub rights: Rights,
}

impl ItemChange {
    fn of(grant: &Grant, rights: Rights) -> ItemChange {
        ItemChange {
            is_grant: grant.is_grant,
            grant_option: grant.grant_option,
            grantees: grant.grantees.clone(),
            behavior: grant.behavior,
            rights,
        }
    }

    /// Changes a list. 0LP01 for grant options of PUBLIC and in circles, 2BP01 with RESTRICT.
    pub(super) fn apply(&self, acl: &Acl, grantor: RoleId, rights: Rights, judge: &Judge<'_>) -> Result<Acl> {
        let mut acl = acl.clone();
        for grantee in &self.grantees {
            if self.grant_option && self.is_grant && *grantee == RoleId::PUBLIC {
                let message = "grant options can only be granted to roles";
                return Err(Error::new(SqlState::INVALID_GRANT, message));
            }
            let chosen = |is_meant: bool| if is_meant { rights } else { Rights::NONE };
            let item = AclItem {
                grantee: *grantee,
                grantor,
                rights: chosen(self.is_grant || !self.grant_option),
                grantable: chosen(!self.is_grant || self.grant_option),
            };
            acl = match self.is_grant {
                true => acl.add(item, judge)?,
                false => acl.remove(item, judge)?,
            };
        }
        Ok(acl)
    }
}

/// A warning of GRANT or REVOKE, with its SQLSTATE.
type Warning = (SqlState, String);

impl Catalog {
    /// The next version, with other privileges, and warnings about those that the role may not grant. 42501 for a role
    /// without any right on an object; the errors of the change of a list.
    pub fn grant(
        &self,
        by: RoleId,
        grant: &Grant,
        targets: &[GrantTarget],
    ) -> Result<(Catalog, Vec<Warning>)> {
        let (mut next, mut warnings) = (self.clone(), Vec::new());
        for target in targets {
            let (changed, warning) = next.grant_on(by, grant, target)?;
            next = changed;
            warnings.extend(warning);
            // REVOKE on a table is REVOKE on its columns, too.
            let kind = next.guarded_kind(target.of);
            if !grant.is_grant && kind.is_some_and(GuardedKind::has_columns) {
                let rights = target.rights & GuardedKind::Column.rights();
                for of in next
                    .columns_with_acl(target.of)
                    .into_iter()
                    .filter(|_| !rights.is_empty())
                {
                    let column = GrantTarget {
                        of,
                        rights,
                        is_all: true,
                    };
                    next = next.grant_on(by, grant, &column)?.0;
                }
            }
        }
        Ok((next, warnings))
    }

    fn columns_with_acl(&self, of: Guarded) -> Vec<Guarded> {
        let columns = self.access.acls.keys();
        let of_table = |known: &&Guarded| matches!(known, Guarded::Column(id, _) if Some(*id) == of.id());
        columns.filter(of_table).copied().collect()
    }

    fn grant_on(
        &self,
        by: RoleId,
        grant: &Grant,
        target: &GrantTarget,
    ) -> Result<(Catalog, Option<Warning>)> {
        let (of, old) = (target.of, self.acl(target.of));
        let judge = self.judge(of, grant.behavior);
        let merged = match of {
            Guarded::Column(table, _) => {
                let of_table = self.acl(Guarded::Object(table));
                Acl([of_table.0, old.0.clone()].concat())
            }
            Guarded::Database | Guarded::Object(_) => old.clone(),
        };
        let (grantor, available) = best_grantor(by, target.rights, &merged, &judge);
        if !available.has_any(target.rights) {
            let kind = self.guarded_kind(of).unwrap_or(GuardedKind::Column);
            let any = self.rights(by, of) | self.rights(by, self.owning(of));
            if !any.has_any(kind.rights()) && !self.grantable_rights(by, of).has_any(kind.rights()) {
                return Err(self.denied(of));
            }
        }
        let rights = target.rights & available;
        let warning = self.warning(grant, target, rights);
        let acl = ItemChange::of(grant, rights).apply(&old, grantor, rights, &judge)?;
        if acl == old && self.stored_acl(of).is_none() && matches!(of, Guarded::Column(..)) {
            return Ok((self.clone(), warning));
        }
        let mut access = AccessRules::clone(&self.access);
        match matches!(of, Guarded::Column(..)) && acl.0.is_empty() {
            true => drop(access.acls.remove(&of)),
            false => drop(access.acls.insert(of, acl)),
        }
        Ok((self.with_access(access), warning))
    }

    fn warning(&self, grant: &Grant, target: &GrantTarget, rights: Rights) -> Option<Warning> {
        let name = self.guarded_name(target.of);
        let name = match target.of {
            Guarded::Column(table, _) => {
                let relation = self.guarded_name(Guarded::Object(table));
                format!("column \"{name}\" of relation \"{relation}\"")
            }
            Guarded::Database | Guarded::Object(_) => format!("\"{name}\""),
        };
        let all = match (rights.is_empty(), rights == target.rights || target.is_all) {
            (true, _) => "no",
            (false, false) => "not all",
            (false, true) => return None,
        };
        Some(match grant.is_grant {
            true => (
                SqlState::PRIVILEGE_NOT_GRANTED,
                format!("{all} privileges were granted for {name}"),
            ),
            false => (
                SqlState::PRIVILEGE_NOT_REVOKED,
                format!("{all} privileges could be revoked for {name}"),
            ),
        })
    }

    /// The next version, with other privileges of objects to come, of some roles and in some schemas; with an empty list
    /// anywhere. 42501; 0LP01 for schemas in a schema.
    pub fn alter_default_privileges(
        &self,
        by: RoleId,
        (roles, schemas): (&[RoleId], &[ObjectId]),
        (kind, rights): (DefaultKind, Rights),
        grant: &Grant,
    ) -> Result<Catalog> {
        if kind == DefaultKind::Schemas && !schemas.is_empty() {
            let message = "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS";
            return Err(Error::new(SqlState::INVALID_GRANT, message));
        }
        let schemas: Vec<Option<ObjectId>> = match schemas.is_empty() {
            true => vec![None],
            false => schemas.iter().copied().map(Some).collect(),
        };
        let mut next = self.clone();
        for role in roles {
            for schema in &schemas {
                let of = DefaultsOf {
                    role: *role,
                    schema: *schema,
                    kind,
                };
                let grant = ItemChange::of(grant, rights);
                next = next.alter_defaults(by, &DefaultsChange { of, grant })?;
            }
        }
        Ok(next)
    }
}

/// The role that counts as the grantor: the owner if `by` has its privileges, else `by` or one of its roles, whichever
/// may grant the most; and the rights that it may grant.
fn best_grantor(by: RoleId, rights: Rights, acl: &Acl, judge: &Judge<'_>) -> (RoleId, Rights) {
    if judge.access.has_privileges_of(by, judge.owner) {
        return (judge.owner, !Rights::NONE);
    }
    let own = |role: RoleId| {
        let items = acl.0.iter().filter(|item| item.grantee == role);
        items.fold(Rights::NONE, |all, item| all | item.grantable) & rights
    };
    let (mut best, mut most) = (by, Rights::NONE);
    for role in judge.access.inherited(by) {
        let available = own(role);
        if available == rights {
            return (role, available);
        }
        if available.0.count_ones() > most.0.count_ones() {
            (best, most) = (role, available);
        }
    }
    (best, most)
}
