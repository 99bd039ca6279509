//! The objects of a catalog, each found by its name in a schema or by its id in one step.

use crate::sequence_entry::SequenceEntry;
use crate::{IndexEntry, PUBLIC, QualifiedName, Relation, SchemaEntry, TypeEntry};
use frazil_types::{FIRST_TEMPORARY, ObjectId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Anything that has an id.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    /// A schema.
    Schema(Arc<SchemaEntry>),
    /// A table or view.
    Relation(Relation),
    /// An index, which its table's entry has, too.
    Index(Arc<IndexEntry>),
    /// A type.
    Type(Arc<TypeEntry>),
    /// A sequence.
    Sequence(Arc<SequenceEntry>),
}

/// The names in a schema.
#[derive(Clone, Debug, Default)]
struct Names {
    /// Tables, views, indexes and sequences, which share their names.
    relations: BTreeMap<String, ObjectId>,
    types: BTreeMap<String, ObjectId>,
}

/// All objects of one version of the catalog.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    by_id: BTreeMap<ObjectId, Object>,
    /// The ids of schemas by their names.
    schemas: BTreeMap<String, ObjectId>,
    /// The names in each schema. A version shares those of the schemas that it does not change.
    names: BTreeMap<ObjectId, Arc<Names>>,
    /// (parent, child) for each pair of tables with a foreign key.
    references: BTreeSet<(ObjectId, ObjectId)>,
}

impl Default for Objects {
    /// The schema `public`, and nothing in it.
    fn default() -> Objects {
        let mut objects = Objects::none();
        objects.put_schema(SchemaEntry::new(SchemaEntry::PUBLIC_ID, PUBLIC));
        objects
    }
}

impl Objects {
    /// No objects, and no schema either.
    pub fn none() -> Objects {
        Objects {
            by_id: BTreeMap::new(),
            schemas: BTreeMap::new(),
            names: BTreeMap::new(),
            references: BTreeSet::new(),
        }
    }

    pub fn schema(&self, name: &str) -> Option<&Arc<SchemaEntry>> {
        self.schema_of(*self.schemas.get(name)?)
    }

    pub fn schema_of(&self, id: ObjectId) -> Option<&Arc<SchemaEntry>> {
        match self.by_id.get(&id)? {
            Object::Schema(schema) => Some(schema),
            Object::Relation(_) | Object::Index(_) | Object::Type(_) | Object::Sequence(_) => None,
        }
    }

    /// The schemas by name.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<SchemaEntry>> {
        self.schemas.values().filter_map(|id| self.schema_of(*id))
    }

    fn names_in(&self, schema: &str) -> Option<&Names> {
        Some(&**self.names.get(self.schemas.get(schema)?)?)
    }

    pub fn relation(&self, name: &QualifiedName) -> Option<&Relation> {
        self.relation_of(*self.names_in(&name.schema)?.relations.get(&name.name)?)
    }

    pub fn relation_of(&self, id: ObjectId) -> Option<&Relation> {
        match self.by_id.get(&id)? {
            Object::Relation(relation) => Some(relation),
            Object::Schema(_) | Object::Index(_) | Object::Type(_) | Object::Sequence(_) => None,
        }
    }

    pub fn index(&self, name: &QualifiedName) -> Option<&Arc<IndexEntry>> {
        match self
            .by_id
            .get(self.names_in(&name.schema)?.relations.get(&name.name)?)?
        {
            Object::Index(index) => Some(index),
            Object::Schema(_) | Object::Relation(_) | Object::Type(_) | Object::Sequence(_) => None,
        }
    }

    pub fn index_of(&self, id: ObjectId) -> Option<&Arc<IndexEntry>> {
        match self.by_id.get(&id)? {
            Object::Index(index) => Some(index),
            Object::Schema(_) | Object::Relation(_) | Object::Type(_) | Object::Sequence(_) => None,
        }
    }

    pub fn sequence(&self, name: &QualifiedName) -> Option<&Arc<SequenceEntry>> {
        self.sequence_of(*self.names_in(&name.schema)?.relations.get(&name.name)?)
    }

    pub fn sequence_of(&self, id: ObjectId) -> Option<&Arc<SequenceEntry>> {
        match self.by_id.get(&id)? {
            Object::Sequence(sequence) => Some(sequence),
            Object::Schema(_) | Object::Relation(_) | Object::Index(_) | Object::Type(_) => None,
        }
    }

    /// The sequences by schema and name.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<SequenceEntry>> {
        let ids = self.schemas.values().filter_map(|id| self.names.get(id));
        ids.flat_map(|names| names.relations.values())
            .filter_map(|id| self.sequence_of(*id))
    }

    /// True if a table, view, index or sequence has the name.
    pub fn has_relation(&self, name: &QualifiedName) -> bool {
        self.names_in(&name.schema)
            .is_some_and(|names| names.relations.contains_key(&name.name))
    }

    pub fn user_type(&self, name: &QualifiedName) -> Option<&Arc<TypeEntry>> {
        self.user_type_of(*self.names_in(&name.schema)?.types.get(&name.name)?)
    }

    pub fn user_type_of(&self, id: ObjectId) -> Option<&Arc<TypeEntry>> {
        match self.by_id.get(&id)? {
            Object::Type(entry) => Some(entry),
            Object::Schema(_) | Object::Relation(_) | Object::Index(_) | Object::Sequence(_) => None,
        }
    }

    /// True if any table has a foreign key.
    pub fn has_references(&self) -> bool {
        !self.references.is_empty()
    }

    /// The ids of the tables with foreign keys whose parent is a table, ascending.
    pub fn children_of(&self, parent: ObjectId) -> impl Iterator<Item = ObjectId> {
        let pairs = (parent, ObjectId(0))..=(parent, ObjectId(u32::MAX));
        self.references.range(pairs).map(|(_, child)| *child)
    }

    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.by_id.get(&id)
    }

    /// The tables and views by schema and name.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        let ids = self.schemas.values().filter_map(|id| self.names.get(id));
        ids.flat_map(|names| names.relations.values())
            .filter_map(|id| self.relation_of(*id))
    }

    /// The types by schema and name.
    pub fn types(&self) -> impl Iterator<Item = &Arc<TypeEntry>> {
        let ids = self.schemas.values().filter_map(|id| self.names.get(id));
        ids.flat_map(|names| names.types.values())
            .filter_map(|id| self.user_type_of(*id))
    }

    /// The names of tables, views, indexes and sequences of a schema.
    pub fn relation_names(&self, schema: &str) -> impl Iterator<Item = &str> {
        let names = self.names_in(schema).into_iter();
        names.flat_map(|names| names.relations.keys().map(String::as_str))
    }

    fn names_mut(&mut self, schema: ObjectId) -> &mut Names {
        Arc::make_mut(self.names.entry(schema).or_default())
    }

    /// The temporary objects by their ids.
    pub fn temporary(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        let from = self.by_id.range(ObjectId(FIRST_TEMPORARY)..);
        from.map(|(id, object)| (*id, object))
    }

    /// The other objects by their ids.
    pub fn lasting(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        let before = self.by_id.range(..ObjectId(FIRST_TEMPORARY));
        before.map(|(id, object)| (*id, object))
    }

    pub fn put_schema(&mut self, schema: SchemaEntry) {
        self.schemas.insert(schema.name.clone(), schema.id);
        self.names.entry(schema.id).or_default();
        self.by_id.insert(schema.id, Object::Schema(Arc::new(schema)));
    }

    /// Puts a schema in the place of the one of its id, whose objects it keeps.
    pub fn rename_schema(&mut self, schema: SchemaEntry) {
        if let Some(old) = self.schema_of(schema.id).map(|old| old.name.clone()) {
            self.schemas.remove(&old);
        }
        self.put_schema(schema);
    }

    /// Puts a table with its indexes, or a view, in the place of the one of its id, whose names go.
    pub fn put_relation(&mut self, relation: Relation) {
        self.remove(relation.id());
        let names = self.names_mut(relation.namespace());
        names.relations.insert(relation.name().to_string(), relation.id());
        if let Relation::Table(table) = &relation {
            for index in &table.indexes {
                names.relations.insert(index.name.clone(), index.id);
            }
            let parents = table.foreign_keys().map(|(_, key)| (key.parent, table.id));
            self.references.extend(parents);
            let indexes = table.indexes.iter();
            self.by_id
                .extend(indexes.map(|index| (index.id, Object::Index(index.clone()))));
        }
        self.by_id.insert(relation.id(), Object::Relation(relation));
    }

    /// Puts a sequence in the place of the one of its id, whose name goes.
    pub fn put_sequence(&mut self, entry: Arc<SequenceEntry>) {
        self.remove(entry.id);
        let names = self.names_mut(entry.namespace);
        names.relations.insert(entry.name.clone(), entry.id);
        self.by_id.insert(entry.id, Object::Sequence(entry));
    }

    /// Puts a type in the place of the one of its id, whose name goes.
    pub fn put_type(&mut self, entry: Arc<TypeEntry>) {
        self.remove(entry.id);
        let names = self.names_mut(entry.namespace);
        names.types.insert(entry.name.clone(), entry.id);
        self.by_id.insert(entry.id, Object::Type(entry));
    }

    /// Removes an object, a table with its indexes. A schema must be empty. Nothing happens if there is no such object.
    pub fn remove(&mut self, id: ObjectId) {
        match self.by_id.remove(&id) {
            None => {}
            Some(Object::Schema(schema)) => {
                self.schemas.remove(&schema.name);
                self.names.remove(&id);
            }
            Some(Object::Type(entry)) => {
                self.names_mut(entry.namespace).types.remove(&entry.name);
            }
            Some(Object::Sequence(entry)) => {
                self.names_mut(entry.namespace).relations.remove(&entry.name);
            }
            Some(Object::Relation(relation)) => {
                let names = self.names_mut(relation.namespace());
                names.relations.remove(relation.name());
                if let Relation::Table(table) = &relation {
                    for index in &table.indexes {
                        names.relations.remove(&index.name);
                    }
                    for index in &table.indexes {
                        self.by_id.remove(&index.id);
                    }
                    for (_, key) in table.foreign_keys() {
                        self.references.remove(&(key.parent, table.id));
                    }
                }
            }
            // The table's entry has it, and goes on with it or without.
            Some(Object::Index(index)) => {
                self.by_id.insert(id, Object::Index(index));
            }
        }
    }
}
