//! Temporary objects: tables, views and sequences of one session, with what is in them.
//!
//! They are entries like others, in a schema of the session's own, `pg_temp_7`, where names without a schema are looked
//! for first. Their numbers are a range ([`ObjectId::is_temporary`]), so that whoever writes files leaves them out. No
//! other session changes them. So their definitions need nobody kept away: a commit puts those of its
//! session into the newest version ([`Catalog::merged`]).

use crate::dependents::{Dropping, Part};
use crate::objects::Object;
use crate::{Catalog, DropBehavior, OnCommit, SchemaEntry, SearchPath, TableEntry};
use frazil_types::{Error, FIRST_TEMPORARY, ObjectId, Result, SqlState};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// True if both are one entry.
fn is_same(a: &Object, b: &Object) -> bool {
    match (a, b) {
        (Object::Schema(a), Object::Schema(b)) => Arc::ptr_eq(a, b),
        (Object::Relation(a), Object::Relation(b)) => a.is_same_entry(b),
        (Object::Index(a), Object::Index(b)) => Arc::ptr_eq(a, b),
        (Object::Type(a), Object::Type(b)) => Arc::ptr_eq(a, b),
        (Object::Sequence(a), Object::Sequence(b)) => Arc::ptr_eq(a, b),
        (
            Object::Schema(_)
            | Object::Relation(_)
            | Object::Index(_)
            | Object::Type(_)
            | Object::Sequence(_),
            _,
        ) => false,
    }
}

impl Catalog {
    /// True if there are temporary objects.
    pub fn has_temporary(&self) -> bool {
        self.objects.temporary().next().is_some()
    }

    /// The version without temporary objects, under its number.
    pub fn lasting(&self) -> Catalog {
        let mut lasting = self.clone();
        lasting.remove_temporary(|_| true);
        lasting.forget_temporary_comments();
        lasting.forget_temporary_access();
        lasting
    }

    /// True if two versions have the same lasting objects.
    pub fn has_lasting_of(&self, other: &Catalog) -> bool {
        if !self.lasting_comments().eq(other.lasting_comments()) || !self.has_access_of(other) {
            return false;
        }
        let (mut own, mut others) = (self.objects.lasting(), other.objects.lasting());
        loop {
            match (own.next(), others.next()) {
                (None, None) => return true,
                (Some((a, own)), Some((b, other))) if a == b && is_same(own, other) => {}
                _ => return false,
            }
        }
    }

    /// The next version, with a schema of temporary objects of this name; `None` if there is one.
    pub fn create_temporary_schema(&self, name: &str) -> Option<Catalog> {
        if self.schema(name).is_some() {
            return None;
        }
        let mut next = self.next();
        let id = next.take_temporary_id();
        next.objects.put_schema(SchemaEntry::new(id, name));
        Some(next)
    }

    /// The next version without a schema of temporary objects and without these, and the ids of its tables and views;
    /// `None` without such a schema.
    pub fn drop_temporary_schema(&self, name: &str) -> Option<(Catalog, Vec<ObjectId>)> {
        let namespace = self.schema(name)?.id;
        let mut next = self.next();
        let relations = next.remove_temporary(|of| of == namespace);
        Some((next, relations))
    }

    /// The next version without a temporary table and what depends on it, and the ids of these tables and views; `None`
    /// without such a table.
    pub fn drop_temporary_table(&self, id: ObjectId) -> Result<Option<(Catalog, Vec<ObjectId>)>> {
        if self.table_by_id(id).is_none() {
            return Ok(None);
        }
        let gone = self.parts_to_drop(&Dropping {
            named: vec![Part::whole(id)],
            behavior: DropBehavior::Cascade,
            path: &SearchPath::default(),
        })?;
        Ok(Some(self.without(&gone)))
    }

    /// Removes the temporary objects of schemas, and the schemas. Returns the ids of tables and views.
    fn remove_temporary(&mut self, is_of: impl Fn(ObjectId) -> bool) -> Vec<ObjectId> {
        let (mut ids, mut schemas, mut relations) = (Vec::new(), Vec::new(), Vec::new());
        for (id, object) in self.objects.temporary() {
            match object {
                Object::Schema(_) if is_of(id) => schemas.push(id),
                Object::Relation(relation) if is_of(relation.namespace()) => {
                    relations.push(id);
                    ids.push(id);
                }
                Object::Sequence(sequence) if is_of(sequence.namespace) => ids.push(id),
                Object::Type(entry) if is_of(entry.namespace) => ids.push(id),
                // An index goes with its table.
                Object::Schema(_)
                | Object::Relation(_)
                | Object::Sequence(_)
                | Object::Type(_)
                | Object::Index(_) => {}
            }
        }
        for id in ids.into_iter().chain(schemas) {
            self.objects.remove(id);
        }
        relations
    }

    /// The version that a commit makes of the newest one, if the transaction began with `base` and has `self`. One of
    /// both differs from `base` in temporary objects only, because one transaction at a time changes lasting ones. An
    /// internal error else.
    pub fn merged(&self, newest: &Catalog, base: &Catalog) -> Result<Catalog> {
        if self.has_lasting_of(base) {
            Ok(self.with_temporary_changes(newest, base))
        } else if newest.has_lasting_of(base) {
            Ok(newest.with_temporary_changes(self, base))
        } else {
            Err(Error::internal("two transactions changed the catalog"))
        }
    }

    /// The next version of `other`, with what `self` changed of the temporary objects of `base`.
    fn with_temporary_changes(&self, other: &Catalog, base: &Catalog) -> Catalog {
        let mut next = other.next();
        let is_kept = |id: ObjectId, object: &Object| {
            let own = self.objects.get(id);
            own.is_some_and(|own| is_same(own, object))
        };
        let (mut gone, mut schemas) = (Vec::new(), Vec::new());
        for (id, object) in base
            .objects
            .temporary()
            .filter(|(id, object)| !is_kept(*id, object))
        {
            match object {
                Object::Schema(_) => schemas.push(id),
                Object::Relation(_) | Object::Index(_) | Object::Type(_) | Object::Sequence(_) => {
                    gone.push(id)
                }
            }
        }
        gone.into_iter()
            .chain(schemas)
            .for_each(|id| next.objects.remove(id));
        let is_new = |(id, object): &(ObjectId, &Object)| {
            let before = base.objects.get(*id);
            !before.is_some_and(|before| is_same(before, object))
        };
        next.take_temporary_comments(self);
        next.take_temporary_access(self);
        // Schemas first: the others are in them.
        for (_, object) in self.objects.temporary().filter(is_new) {
            if let Object::Schema(schema) = object {
                next.objects.put_schema(SchemaEntry::clone(schema));
            }
        }
        for (_, object) in self.objects.temporary().filter(is_new) {
            match object {
                Object::Schema(_) | Object::Index(_) => {}
                Object::Relation(relation) => next.objects.put_relation(relation.clone()),
                Object::Type(entry) => next.objects.put_type(entry.clone()),
                Object::Sequence(entry) => next.objects.put_sequence(entry.clone()),
            }
        }
        next
    }

    /// The next version, with another fate of a temporary table at the end of a transaction.
    pub fn set_on_commit(&self, table: ObjectId, on_commit: OnCommit) -> Result<(Catalog, Arc<TableEntry>)> {
        let mut entry = (*self.by_id(table)?).clone();
        entry.on_commit = on_commit;
        let mut next = self.next();
        let entry = next.put(entry);
        Ok((next, entry))
    }

    /// The identity of the schema that an object of another one is moved to. 3F000, 42501; 0A000 if one of them is
    /// temporary and the other is not.
    pub(crate) fn namespace_to_move(&self, from: ObjectId, schema: &str) -> Result<ObjectId> {
        let namespace = self.namespace(schema)?;
        match from.is_temporary() == namespace.is_temporary() {
            true => Ok(namespace),
            false => Err(Error::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot move objects into or out of temporary schemas",
            )),
        }
    }

    /// The identity of something new in a schema.
    pub(crate) fn take_id(&mut self, namespace: ObjectId) -> ObjectId {
        if namespace.is_temporary() {
            return self.take_temporary_id();
        }
        self.last_id += 1;
        ObjectId(self.last_id)
    }

    /// An identity that no temporary object has. Versions that are made side by side share the counter.
    fn take_temporary_id(&self) -> ObjectId {
        loop {
            let number = self.last_temporary.fetch_add(1, Ordering::Relaxed) % FIRST_TEMPORARY;
            let id = ObjectId(FIRST_TEMPORARY + number);
            if self.objects.get(id).is_none() {
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewTable, QualifiedName, TableOptions};
    use frazil_types::{ColumnDef, LogicalType, Schema};

    fn with_table(catalog: &Catalog, schema: &str, name: &str) -> Catalog {
        let made = catalog.create_temporary_schema(schema);
        let columns = Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]);
        let new = NewTable {
            name: QualifiedName::new(schema, name),
            schema: Arc::new(columns),
            options: TableOptions::default(),
            constraints: Vec::new(),
        };
        made.as_ref().unwrap_or(catalog).create(new).unwrap().0
    }

    fn names(catalog: &Catalog) -> Vec<String> {
        let name = |r: &crate::Relation| catalog.qualified(r.namespace(), r.name()).to_string();
        catalog.relations().map(name).collect()
    }

    #[test]
    fn temporary_objects_of_two_sessions_are_merged() {
        let base = Catalog::new();
        let (one, two) = (
            with_table(&base, "pg_temp_1", "t"),
            with_table(&base, "pg_temp_2", "t"),
        );
        let both = two.merged(&one, &base).unwrap();
        assert_eq!(names(&both), ["pg_temp_1.t", "pg_temp_2.t"]);
        let (without, gone) = both.drop_temporary_schema("pg_temp_1").unwrap();
        let more = with_table(&both, "pg_temp_2", "u");
        let merged = without.merged(&more, &both).unwrap();
        assert_eq!(
            (names(&merged), gone.len()),
            (vec!["pg_temp_2.t".to_string(), "pg_temp_2.u".to_string()], 1)
        );
        assert!(merged.version() > more.version() && merged.schema("pg_temp_1").is_none());
    }

    #[test]
    fn a_definition_is_merged_with_temporary_objects_of_others() {
        let base = with_table(&Catalog::new(), "pg_temp_1", "t");
        let own = with_table(&base, "public", "lasting");
        let (newest, _) = base.drop_temporary_schema("pg_temp_1").unwrap();
        let newest = with_table(&newest, "pg_temp_2", "t");
        let merged = own.merged(&newest, &base).unwrap();
        assert_eq!(names(&merged), ["pg_temp_2.t", "public.lasting"]);
        assert!(merged.version() > newest.version() && merged.version() > own.version());
        let other = with_table(&base, "public", "another");
        assert!(own.merged(&other, &base).is_err());
    }

    #[test]
    fn lasting_objects_are_told_apart() {
        let base = Catalog::new();
        let one = with_table(&base, "pg_temp_1", "t");
        assert!(one.has_lasting_of(&base) && one.has_temporary() && !one.lasting().has_temporary());
        assert_eq!(
            (one.last_id(), one.lasting().version()),
            (base.last_id(), one.version())
        );
        assert!(one.tables().all(|table| table.id.is_temporary()));
        let schema = Arc::new(Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]));
        let (two, _) = one
            .create_table(&"t".into(), schema, TableOptions::default())
            .unwrap();
        assert!(!two.has_lasting_of(&one));
        assert_eq!(names(&two.lasting()), ["public.t"]);
    }
}
