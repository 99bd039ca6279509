//! The catalog entries that a statement was bound to. A kept plan serves as long as every name and id that it looked up
//! still has the entry that it had: definitions of other objects do not concern it.

use frazil_catalog::{AccessRules, Catalog, QualifiedName, Relation, SchemaEntry, SequenceEntry, TypeEntry};
use frazil_types::ObjectId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A name or id that was looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lookup {
    /// A schema by its name.
    Schema(String),
    /// A table or view by its name.
    Relation(QualifiedName),
    /// A table or view by its id: a view reads it.
    RelationOf(ObjectId),
    /// A type by its name.
    Type(QualifiedName),
    /// A type by its id: a column has it.
    TypeOf(ObjectId),
    /// A sequence by its name.
    Sequence(QualifiedName),
    /// A sequence by its id: a default names it.
    SequenceOf(ObjectId),
}

/// The entry that was found.
#[derive(Clone, Debug)]
enum Entry {
    /// There was none: a built-in object or an object of the statement may have the name.
    None,
    /// A schema.
    Schema(Arc<SchemaEntry>),
    /// A table or view.
    Relation(Relation),
    /// A type.
    Type(Arc<TypeEntry>),
    /// A sequence.
    Sequence(Arc<SequenceEntry>),
}

/// Every lookup of a statement with the entry that it found.
#[derive(Clone, Debug, Default)]
pub struct EntriesRead {
    found: BTreeMap<Lookup, Entry>,
    /// The version of the catalog whose names were all listed, if any was: each definition concerns the statement.
    listed: Option<u64>,
    /// The roles, owners and privileges that were asked for.
    access: Option<Arc<AccessRules>>,
}

impl EntriesRead {
    /// Notes that the names of all objects were listed.
    pub fn list(&mut self, catalog: &Catalog) {
        self.listed = Some(catalog.version());
    }

    /// Notes that roles, owners or privileges were asked for.
    pub fn access(&mut self, catalog: &Catalog) {
        self.access = Some(catalog.access().clone());
    }

    /// Looks up a schema by its name.
    pub fn schema<'c>(&mut self, catalog: &'c Catalog, name: &str) -> Option<&'c Arc<SchemaEntry>> {
        let found = catalog.schema(name);
        self.note(Lookup::Schema(name.to_owned()), found.into());
        found
    }

    /// Looks up a table or view by its name.
    pub fn relation<'c>(&mut self, catalog: &'c Catalog, name: &QualifiedName) -> Option<&'c Relation> {
        let found = catalog.relation(name);
        self.note(Lookup::Relation(name.clone()), found.into());
        found
    }

    /// Looks up a table or view by its id.
    pub fn relation_of<'c>(&mut self, catalog: &'c Catalog, id: ObjectId) -> Option<&'c Relation> {
        let found = catalog.relation_of(id);
        self.note(Lookup::RelationOf(id), found.into());
        found
    }

    /// Looks up a type by its name.
    pub fn user_type<'c>(
        &mut self,
        catalog: &'c Catalog,
        name: &QualifiedName,
    ) -> Option<&'c Arc<TypeEntry>> {
        let found = catalog.user_type(name);
        self.note(Lookup::Type(name.clone()), found.into());
        found
    }

    /// Looks up a type by its id.
    pub fn user_type_of<'c>(&mut self, catalog: &'c Catalog, id: ObjectId) -> Option<&'c Arc<TypeEntry>> {
        let found = catalog.user_type_of(id);
        self.note(Lookup::TypeOf(id), found.into());
        found
    }

    /// Looks up a sequence by its name.
    pub fn sequence<'c>(
        &mut self,
        catalog: &'c Catalog,
        name: &QualifiedName,
    ) -> Option<&'c Arc<SequenceEntry>> {
        let found = catalog.sequence(name);
        self.note(Lookup::Sequence(name.clone()), found.into());
        found
    }

    /// Looks up a sequence by its id.
    pub fn sequence_of<'c>(&mut self, catalog: &'c Catalog, id: ObjectId) -> Option<&'c Arc<SequenceEntry>> {
        let found = catalog.sequence_of(id);
        self.note(Lookup::SequenceOf(id), found.into());
        found
    }

    fn note(&mut self, lookup: Lookup, entry: Entry) {
        self.found.insert(lookup, entry);
    }

    /// Returns the tables that were found, each once.
    pub fn tables(&self) -> Vec<ObjectId> {
        let found = self.found.values().filter_map(|entry| match entry {
            Entry::Relation(Relation::Table(table)) => Some(table.id),
            Entry::Relation(Relation::View(_))
            | Entry::None
            | Entry::Schema(_)
            | Entry::Type(_)
            | Entry::Sequence(_) => None,
        });
        let tables: BTreeSet<ObjectId> = found.collect();
        tables.into_iter().collect()
    }

    /// True if every lookup finds the same entry in `catalog`. Entries are immutable, so that comparing their addresses
    /// suffices.
    pub fn hold_in(&self, catalog: &Catalog) -> bool {
        if self.listed.is_some_and(|version| version != catalog.version()) {
            return false;
        }
        let same = |access: &Arc<AccessRules>| Arc::ptr_eq(access, catalog.access());
        if !self.access.as_ref().is_none_or(same) {
            return false;
        }
        self.found.iter().all(|(lookup, entry)| {
            let now: Entry = match lookup {
                Lookup::Schema(name) => catalog.schema(name).into(),
                Lookup::Relation(name) => catalog.relation(name).into(),
                Lookup::RelationOf(id) => catalog.relation_of(*id).into(),
                Lookup::Type(name) => catalog.user_type(name).into(),
                Lookup::TypeOf(id) => catalog.user_type_of(*id).into(),
                Lookup::Sequence(name) => catalog.sequence(name).into(),
                Lookup::SequenceOf(id) => catalog.sequence_of(*id).into(),
            };
            entry.is(&now)
        })
    }
}

impl Entry {
    fn is(&self, other: &Entry) -> bool {
        match (self, other) {
            (Entry::None, Entry::None) => true,
            (Entry::Schema(a), Entry::Schema(b)) => Arc::ptr_eq(a, b),
            (Entry::Relation(a), Entry::Relation(b)) => a.is_same_entry(b),
            (Entry::Type(a), Entry::Type(b)) => Arc::ptr_eq(a, b),
            (Entry::Sequence(a), Entry::Sequence(b)) => Arc::ptr_eq(a, b),
            (
                Entry::None | Entry::Schema(_) | Entry::Relation(_) | Entry::Type(_) | Entry::Sequence(_),
                _,
            ) => false,
        }
    }
}

impl From<Option<&Arc<SchemaEntry>>> for Entry {
    fn from(found: Option<&Arc<SchemaEntry>>) -> Entry {
        found.map_or(Entry::None, |schema| Entry::Schema(schema.clone()))
    }
}

impl From<Option<&Relation>> for Entry {
    fn from(found: Option<&Relation>) -> Entry {
        found.map_or(Entry::None, |relation| Entry::Relation(relation.clone()))
    }
}

impl From<Option<&Arc<TypeEntry>>> for Entry {
    fn from(found: Option<&Arc<TypeEntry>>) -> Entry {
        found.map_or(Entry::None, |entry| Entry::Type(entry.clone()))
    }
}

impl From<Option<&Arc<SequenceEntry>>> for Entry {
    fn from(found: Option<&Arc<SequenceEntry>>) -> Entry {
        found.map_or(Entry::None, |entry| Entry::Sequence(entry.clone()))
    }
}
