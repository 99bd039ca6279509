//! ALTER DEFAULT PRIVILEGES: the privileges of objects that a role will create.

use super::acl::Acl;
use super::{AccessRules, Guarded, GuardedKind, RoleId, refused};
use crate::{Catalog, Rights};
use frazil_types::{ObjectId, Result};

/// The kind of objects that default privileges are for: the letter in `pg_default_acl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefaultKind {
    /// Tables and views.
    Relations,
    /// Sequences.
    Sequences,
    /// Types and domains.
    Types,
    /// Schemas.
    Schemas,
}

impl DefaultKind {
    /// All kinds.
    pub const ALL: [DefaultKind; 4] = [
        DefaultKind::Relations,
        DefaultKind::Sequences,
        DefaultKind::Types,
        DefaultKind::Schemas,
    ];

    /// The letter in `pg_default_acl.defaclobjtype`.
    pub fn letter(self) -> &'static str {
        match self {
            DefaultKind::Relations => "r",
            DefaultKind::Sequences => "S",
            DefaultKind::Types => "T",
            DefaultKind::Schemas => "n",
        }
    }

    /// The objects in ALTER DEFAULT PRIVILEGES, and in messages.
    pub fn words(self) -> &'static str {
        match self {
            DefaultKind::Relations => "relations",
            DefaultKind::Sequences => "sequences",
            DefaultKind::Types => "types",
            DefaultKind::Schemas => "schemas",
        }
    }

    /// A kind of object that it is for.
    pub fn kind(self) -> GuardedKind {
        match self {
            DefaultKind::Relations => GuardedKind::Table,
            DefaultKind::Sequences => GuardedKind::Sequence,
            DefaultKind::Types => GuardedKind::Type,
            DefaultKind::Schemas => GuardedKind::Schema,
        }
    }

    fn of(kind: GuardedKind) -> Option<DefaultKind> {
        match kind {
            GuardedKind::Table | GuardedKind::View | GuardedKind::MaterializedView => {
                Some(DefaultKind::Relations)
            }
            GuardedKind::Sequence => Some(DefaultKind::Sequences),
            GuardedKind::Type => Some(DefaultKind::Types),
            GuardedKind::Schema => Some(DefaultKind::Schemas),
            GuardedKind::Database | GuardedKind::Index | GuardedKind::Column => None,
        }
    }
}

/// The objects that default privileges are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DefaultsOf {
    /// The role that creates them.
    pub role: RoleId,
    /// The schema in which it does; `None`: anywhere.
    pub schema: Option<ObjectId>,
    /// Their kind.
    pub kind: DefaultKind,
}

/// ALTER DEFAULT PRIVILEGES.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DefaultsChange {
    pub of: DefaultsOf,
    pub grant: super::grants::ItemChange,
}

impl AccessRules {
    /// The default privileges of a kind for the whole database.
    fn global(&self, of: DefaultsOf) -> Acl {
        let stored = self.defaults.get(&DefaultsOf { schema: None, ..of });
        stored.cloned().unwrap_or_else(|| of.kind.kind().new_acl(of.role))
    }

    /// Stores default privileges, unless they are what they would be without.
    pub(super) fn set_default(&mut self, of: DefaultsOf, acl: Acl) {
        let plain = match of.schema {
            None => of.kind.kind().new_acl(of.role),
            Some(_) => Acl::default(),
        };
        match acl.is_same_set(&plain) {
            true => drop(self.defaults.remove(&of)),
            false => drop(self.defaults.insert(of, acl.sorted())),
        }
    }
}

impl Catalog {
    /// The privileges of a new object by its owner's default privileges; `None` if they are those of any new object.
    pub(super) fn default_acl(&self, of: Guarded, owner: RoleId) -> Option<Acl> {
        let kind = self.guarded_kind(of)?;
        let base = DefaultsOf {
            role: owner,
            schema: None,
            kind: DefaultKind::of(kind)?,
        };
        let mut acl = self.access.global(base);
        let schema = self.schema_of_guarded(of);
        let judge = self.judge(of, crate::DropBehavior::Restrict);
        let judge = super::acl::Judge { owner, ..judge };
        if let Some(more) = schema.and_then(|schema| {
            let schema = Some(schema);
            self.access.defaults.get(&DefaultsOf { schema, ..base })
        }) {
            for item in &more.0 {
                acl = acl.add(*item, &judge).ok()?;
            }
        }
        (!acl.is_same_set(&kind.new_acl(owner))).then(|| acl.sorted())
    }

    /// The next version, with other default privileges. 42501 unless `by` has the privileges of the role.
    pub(crate) fn alter_defaults(&self, by: RoleId, change: &DefaultsChange) -> Result<Catalog> {
        let of = change.of;
        if !self.access.is_member(by, of.role) {
            return Err(refused(format!(
                "must be member of role \"{}\"",
                self.access.role_name(of.role)
            )));
        }
        if let Some(schema) = of.schema {
            // The role must be able to create there.
            self.check_rights(of.role, Guarded::Object(schema), Rights::CREATE)?;
        }
        let old = match of.schema {
            None => self.access.global(of),
            Some(_) => self.access.defaults.get(&of).cloned().unwrap_or_default(),
        };
        let judge = super::acl::Judge {
            access: &self.access,
            owner: of.role,
            behavior: change.grant.behavior,
        };
        let acl = change.grant.apply(&old, of.role, change.grant.rights, &judge)?;
        let mut access = AccessRules::clone(&self.access);
        access.set_default(of, acl);
        Ok(self.with_access(access))
    }
}
