//! Questions about rights: who owns an object, what a role may do with it, and the errors of what it may not.

use super::acl::{Acl, AclItem, Judge, Rights};
use super::{AccessRules, Guarded, RoleId, refused};
use crate::objects::Object;
use crate::{Catalog, DropBehavior, Relation, SchemaEntry, SequenceEntry, TypeKind};
use frazil_types::{Error, ObjectId, session_settings};

/// The kind of an object that has an owner or privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardedKind {
    /// The database.
    Database,
    /// A schema.
    Schema,
    /// A table.
    Table,
    /// A view.
    View,
    /// A materialized view.
    MaterializedView,
    /// A sequence.
    Sequence,
    /// An index, which belongs to the owner of its table.
    Index,
    /// A type.
    Type,
    /// A column of a table or view.
    Column,
}

impl GuardedKind {
    /// The word for it in messages.
    pub fn name(self) -> &'static str {
        match self {
            GuardedKind::Database => "database",
            GuardedKind::Schema => "schema",
            GuardedKind::Table => "table",
            GuardedKind::View => "view",
            GuardedKind::MaterializedView => "materialized view",
            GuardedKind::Sequence => "sequence",
            GuardedKind::Index => "index",
            GuardedKind::Type => "type",
            GuardedKind::Column => "column",
        }
    }

    /// All rights that there are on such an object.
    pub fn rights(self) -> Rights {
        match self {
            GuardedKind::Database => Rights::CREATE | Rights::TEMPORARY | Rights::CONNECT,
            GuardedKind::Schema => Rights::USAGE | Rights::CREATE,
            GuardedKind::Table | GuardedKind::View | GuardedKind::MaterializedView => Rights(0x7f),
            GuardedKind::Sequence => Rights::SELECT | Rights::UPDATE | Rights::USAGE,
            GuardedKind::Index => Rights::NONE,
            GuardedKind::Type => Rights::USAGE,
            GuardedKind::Column => Rights::INSERT | Rights::SELECT | Rights::UPDATE | Rights::REFERENCES,
        }
    }

    /// The rights that PUBLIC has on a new one.
    fn of_public(self) -> Rights {
        match self {
            GuardedKind::Database => Rights::TEMPORARY | Rights::CONNECT,
            GuardedKind::Type => Rights::USAGE,
            GuardedKind::Schema
            | GuardedKind::Table
            | GuardedKind::View
            | GuardedKind::MaterializedView
            | GuardedKind::Sequence
            | GuardedKind::Index
            | GuardedKind::Column => Rights::NONE,
        }
    }

    /// The privileges of a new object of an owner.
    pub(super) fn new_acl(self, owner: RoleId) -> Acl {
        let item = |grantee, rights| AclItem {
            grantee,
            grantor: owner,
            rights,
            grantable: Rights::NONE,
        };
        let owners = match self {
            GuardedKind::Column => Rights::NONE,
            kind => kind.rights(),
        };
        let mut items = vec![item(RoleId::PUBLIC, self.of_public()), item(owner, owners)];
        items.retain(|item| !item.rights.is_empty());
        Acl(items)
    }

    /// True for a table, a view and a materialized view.
    pub fn has_columns(self) -> bool {
        matches!(
            self,
            GuardedKind::Table | GuardedKind::View | GuardedKind::MaterializedView
        )
    }
}

/// Something that a statement needs a role to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// All rights of a set on an object.
    All(Guarded, Rights),
    /// A right of a set on an object.
    Any(Guarded, Rights),
    /// A right of a set on a table or view, or on a column of it.
    AnyColumn(ObjectId, Rights),
    /// To be the owner of an object, or a member of the owner.
    Ownership(Guarded),
    /// To have the privileges of a role.
    PrivilegesOf(RoleId),
    /// SUPERUSER.
    Superuser,
}

impl Catalog {
    /// The kind of an object; `None` if it is gone.
    pub fn guarded_kind(&self, of: Guarded) -> Option<GuardedKind> {
        let id = match of {
            Guarded::Database => return Some(GuardedKind::Database),
            Guarded::Column(..) => return Some(GuardedKind::Column),
            Guarded::Object(id) => id,
        };
        Some(match self.objects.get(id)? {
            Object::Schema(_) => GuardedKind::Schema,
            Object::Relation(Relation::Table(table)) if table.materialized.is_some() => {
                GuardedKind::MaterializedView
            }
            Object::Relation(Relation::Table(_)) => GuardedKind::Table,
            Object::Relation(Relation::View(_)) => GuardedKind::View,
            Object::Index(_) => GuardedKind::Index,
            Object::Sequence(_) => GuardedKind::Sequence,
            Object::Type(_) => GuardedKind::Type,
        })
    }

    /// The object that decides the owner of another: the table of an index, a column or an owned sequence.
    pub(super) fn owning(&self, of: Guarded) -> Guarded {
        let id = match of {
            Guarded::Database => return of,
            Guarded::Column(table, _) => return Guarded::Object(table),
            Guarded::Object(id) => id,
        };
        match self.objects.get(id) {
            Some(Object::Index(index)) => Guarded::Object(index.table),
            Some(Object::Sequence(sequence)) => Guarded::Object(table_of(sequence).unwrap_or(id)),
            Some(Object::Schema(_) | Object::Relation(_) | Object::Type(_)) | None => of,
        }
    }

    /// The owner of an object.
    pub fn owner_of(&self, of: Guarded) -> RoleId {
        let of = self.owning(of);
        match self.access.owners.get(&of) {
            Some(owner) => *owner,
            None if of == Guarded::Object(SchemaEntry::PUBLIC_ID) => RoleId::DATABASE_OWNER,
            None => RoleId::SUPERUSER,
        }
    }

    /// The privileges of an object; those of a new object if nobody changed them.
    pub fn acl(&self, of: Guarded) -> Acl {
        match self.stored_acl(of) {
            Some(acl) => acl,
            None => {
                let kind = self.guarded_kind(of).unwrap_or(GuardedKind::Column);
                kind.new_acl(self.owner_of(of))
            }
        }
    }

    /// The privileges of a new object of a kind and an owner.
    pub fn acl_of_new(&self, kind: GuardedKind, owner: RoleId) -> Acl {
        kind.new_acl(owner)
    }

    /// The privileges of an object, if they are not those of a new one: `pg_class.relacl`.
    pub fn stored_acl(&self, of: Guarded) -> Option<Acl> {
        if let Some(acl) = self.access.acls.get(&of) {
            return Some(acl.clone());
        }
        if of != Guarded::Object(SchemaEntry::PUBLIC_ID) || self.schema_of(SchemaEntry::PUBLIC_ID).is_none() {
            return None;
        }
        // Everybody finds names in the first schema `public`; its owner alone creates in it.
        let owner = self.owner_of(of);
        let item = |grantee, rights| AclItem {
            grantee,
            grantor: owner,
            rights,
            grantable: Rights::NONE,
        };
        Some(Acl(vec![
            item(owner, GuardedKind::Schema.rights()),
            item(RoleId::PUBLIC, Rights::USAGE),
        ]))
    }

    pub(super) fn judge(&self, of: Guarded, behavior: DropBehavior) -> Judge<'_> {
        Judge {
            access: &self.access,
            owner: self.owner_of(of),
            behavior,
        }
    }

    /// The rights of a role on an object, without those on a column's table.
    pub fn rights(&self, role: RoleId, of: Guarded) -> Rights {
        if self.access.is_superuser(role) {
            return !Rights::NONE;
        }
        self.acl(of).rights_of(role, &self.access) | self.predefined_rights(role, of)
    }

    /// The rights on an object that a role may grant, without those on a column's table.
    pub fn grantable_rights(&self, role: RoleId, of: Guarded) -> Rights {
        self.acl(of)
            .grantable_by(role, &self.judge(of, DropBehavior::Restrict))
    }

    /// The rights on objects of a kind that `pg_read_all_data` and `pg_write_all_data` give.
    fn predefined_rights(&self, role: RoleId, of: Guarded) -> Rights {
        let (reads, writes) = match self.guarded_kind(of) {
            Some(GuardedKind::Schema) => (Rights::USAGE, Rights::USAGE),
            Some(
                GuardedKind::Table
                | GuardedKind::View
                | GuardedKind::MaterializedView
                | GuardedKind::Sequence,
            ) => (Rights::SELECT, Rights::INSERT | Rights::UPDATE | Rights::DELETE),
            Some(GuardedKind::Database | GuardedKind::Index | GuardedKind::Type | GuardedKind::Column)
            | None => return Rights::NONE,
        };
        let given = |by, rights| match self.access.has_privileges_of(role, by) {
            true => rights,
            false => Rights::NONE,
        };
        given(RoleId::READ_ALL_DATA, reads) | given(RoleId::WRITE_ALL_DATA, writes)
    }

    /// True if a role has what a statement needs.
    pub fn permits(&self, role: RoleId, demand: &Demand) -> bool {
        if role == RoleId::SUPERUSER {
            return true;
        }
        let access = &self.access;
        match *demand {
            Demand::All(of, rights) => self.rights(role, of).has(rights),
            Demand::Any(of, rights) => self.rights(role, of).has_any(rights),
            Demand::AnyColumn(table, rights) => {
                let columns = access.acls.keys();
                let mut columns = columns.filter(|of| matches!(of, Guarded::Column(id, _) if *id == table));
                self.rights(role, Guarded::Object(table)).has_any(rights)
                    || columns.any(|of| self.rights(role, *of).has_any(rights))
            }
            Demand::Ownership(of) => access.has_privileges_of(role, self.owner_of(of)),
            Demand::PrivilegesOf(other) => access.has_privileges_of(role, other),
            Demand::Superuser => access.is_superuser(role),
        }
    }

    /// The name of an object in messages: of a schema, or without one.
    pub fn guarded_name(&self, of: Guarded) -> String {
        let id = match of {
            Guarded::Database => return session_settings::database(),
            Guarded::Object(id) => id,
            Guarded::Column(id, _) => {
                let column = self.column_of_key(of);
                return column.unwrap_or_else(|| id.to_string());
            }
        };
        match self.objects.get(id) {
            Some(Object::Schema(schema)) => schema.name.clone(),
            Some(Object::Relation(relation)) => relation.name().to_owned(),
            Some(Object::Index(index)) => index.name.clone(),
            Some(Object::Sequence(sequence)) => sequence.name.clone(),
            Some(Object::Type(entry)) if entry.namespace == SchemaEntry::PUBLIC_ID => entry.name.clone(),
            Some(Object::Type(entry)) => self.qualified(entry.namespace, &entry.name).to_string(),
            None => id.to_string(),
        }
    }

    /// 42501: `permission denied for table t`.
    pub fn denied(&self, of: Guarded) -> Error {
        let name = self.guarded_name(of);
        if let Guarded::Column(table, _) = of {
            let relation = self.guarded_name(Guarded::Object(table));
            return refused(format!(
                "permission denied for column \"{name}\" of relation \"{relation}\""
            ));
        }
        let kind = self.guarded_kind(of).map_or("object", GuardedKind::name);
        refused(format!("permission denied for {kind} {name}"))
    }

    /// 42501: `must be owner of table t`.
    pub fn not_owner(&self, of: Guarded) -> Error {
        let kind = self.guarded_kind(of).map_or("object", GuardedKind::name);
        refused(format!("must be owner of {kind} {}", self.guarded_name(of)))
    }

    /// 42501 unless a role owns an object.
    pub fn check_owner(&self, role: RoleId, of: Guarded) -> Result<(), Error> {
        match self.permits(role, &Demand::Ownership(of)) {
            true => Ok(()),
            false => Err(self.not_owner(of)),
        }
    }

    /// 42501 unless a role has all rights of a set on an object.
    pub fn check_rights(&self, role: RoleId, of: Guarded, rights: Rights) -> Result<(), Error> {
        match self.permits(role, &Demand::All(of, rights)) {
            true => Ok(()),
            false => Err(self.denied(of)),
        }
    }

    /// The schema of an object that is in one.
    pub(super) fn schema_of_guarded(&self, of: Guarded) -> Option<ObjectId> {
        match self.objects.get(of.id()?)? {
            Object::Schema(_) | Object::Index(_) => None,
            Object::Relation(relation) => Some(relation.namespace()),
            Object::Sequence(sequence) => Some(sequence.namespace),
            Object::Type(entry) => Some(entry.namespace),
        }
    }

    /// True if an object is a domain.
    pub fn is_domain(&self, id: ObjectId) -> bool {
        let entry = self.user_type_of(id);
        entry.is_some_and(|entry| matches!(entry.kind, TypeKind::Domain(_)))
    }
}

/// The table whose column owns a sequence.
pub(super) fn table_of(sequence: &SequenceEntry) -> Option<ObjectId> {
    sequence.owner.as_ref().map(|owner| owner.table)
}

impl AccessRules {
    /// True if roles were made or changed, or objects given to them: before, every check passes.
    pub fn is_initial(&self) -> bool {
        *self == *AccessRules::initial()
    }
}
