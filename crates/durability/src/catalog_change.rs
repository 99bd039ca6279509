//! What a commit changed in the catalog, as bytes for the log, and back: the entries that are new or others, as the manifest writes
//! them, and the ids of those that are gone.

use crate::access::{applied, difference};
use crate::comments::{read_comments, read_objects, write_comments, write_objects};
use crate::manifest::{read_entry, read_u32, read_view, write_entry, write_view};
use crate::manifest_keys::check_table;
use crate::manifest_schemas::{read_schemas, write_schemas};
use crate::sequences::{read_sequence, write_sequence};
use crate::type_names::{read_types, write_type};
use frazil_catalog::{
    AccessRules, Catalog, Commented, Comments, Entries, Relation, SchemaEntry, SequenceEntry, SequenceState,
    TypeEntry,
};
use frazil_types::{Error, ObjectId, Result};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::sync::Arc;

/// How one version of the catalog comes from another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CatalogChange {
    /// Version of the catalog that comes.
    version: u64,
    /// The greatest id that it ever gave.
    last_id: u32,
    /// Tables and views that are new, or others than before.
    pub changed: Vec<Relation>,
    /// Types that are new, or others than before.
    types: Vec<Arc<TypeEntry>>,
    /// Sequences that are new, or others than before. Where they stand is not among it.
    sequences: Vec<Arc<SequenceEntry>>,
    /// Comments that are new, or others than before.
    comments: Comments,
    /// Objects whose comments were removed.
    uncommented: Vec<Commented>,
    /// Roles, owners and privileges after the change, if they are others.
    access: Option<Arc<AccessRules>>,
    /// All schemas, if any came or went.
    schemas: Option<Vec<Arc<SchemaEntry>>>,
    /// Tables, views, types and sequences that are gone.
    pub dropped: Vec<ObjectId>,
}

impl CatalogChange {
    /// What is another in `after` than in `before`.
    pub fn between(before: &Catalog, after: &Catalog) -> CatalogChange {
        let mut old: HashMap<ObjectId, &Relation> = before.relations().map(|r| (r.id(), r)).collect();
        let changed = after.relations().filter(|new| {
            let same = old.remove(&new.id()).is_some_and(|old| old.is_same_entry(new));
            !same
        });
        let changed = changed.cloned().collect();
        let mut old_types: HashMap<ObjectId, &Arc<TypeEntry>> = before.types().map(|t| (t.id, t)).collect();
        let types = after.types().filter(|new| {
            let same = old_types.remove(&new.id).is_some_and(|old| Arc::ptr_eq(old, new));
            !same
        });
        let types = types.cloned().collect();
        let mut old_sequences: HashMap<ObjectId, &Arc<SequenceEntry>> =
            before.sequences().map(|s| (s.id, s)).collect();
        let sequences = after.sequences().filter(|new| {
            let same = old_sequences
                .remove(&new.id)
                .is_some_and(|old| Arc::ptr_eq(old, new));
            !same
        });
        let sequences = sequences.cloned().collect();
        let (comments, uncommented) = comments_between(before, after);
        let dropped = old.into_keys().chain(old_types.into_keys());
        CatalogChange {
            version: after.version(),
            last_id: after.last_id(),
            changed,
            types,
            schemas: (!before.schemas().eq(after.schemas())).then(|| after.schemas().cloned().collect()),
            sequences,
            comments,
            uncommented,
            access: (!after.has_access_of(before)).then(|| after.lasting().current_access()),
            dropped: dropped.chain(old_sequences.into_keys()).collect(),
        }
    }

    /// A change after which a catalog has the objects that it had: a commit of temporary objects.
    pub fn none(catalog: &Catalog) -> CatalogChange {
        CatalogChange {
            version: catalog.version(),
            last_id: catalog.last_id(),
            changed: Vec::new(),
            types: Vec::new(),
            sequences: Vec::new(),
            comments: Comments::new(),
            uncommented: Vec::new(),
            access: None,
            schemas: None,
            dropped: Vec::new(),
        }
    }

    /// The catalog that comes of one.
    pub fn apply(&self, before: &Catalog) -> Catalog {
        let is_gone = |id: ObjectId| self.dropped.contains(&id) || self.changed.iter().any(|r| r.id() == id);
        let kept = before.relations().filter(|r| !is_gone(r.id()));
        let entries = Entries {
            schemas: self.schemas_after(before),
            relations: kept.chain(&self.changed).cloned().collect(),
            types: types_after(before, &self.types, &self.dropped),
            sequences: self.sequences_after(before),
            comments: self.comments_after(before),
            access: self.access.clone().unwrap_or_else(|| before.access().clone()),
        };
        Catalog::restore(self.version, self.last_id, entries)
    }

    /// Sequences stand where they stood: a record of the log says where new ones and those that begin again stand.
    fn sequences_after(&self, before: &Catalog) -> Vec<Arc<SequenceEntry>> {
        let is_gone = |id: ObjectId| self.dropped.contains(&id) || self.sequences.iter().any(|s| s.id == id);
        let kept = before.sequences().filter(|s| !is_gone(s.id)).cloned();
        let changed = self.sequences.iter().map(|new| {
            let state = match before.sequence_of(new.id) {
                Some(old) => old.state.clone(),
                None => SequenceState::restored(new.definition.beginning()),
            };
            Arc::new(SequenceEntry {
                state,
                ..SequenceEntry::clone(new)
            })
        });
        kept.chain(changed).collect()
    }

    fn comments_after(&self, before: &Catalog) -> Comments {
        let mut comments = before.comments();
        self.uncommented.iter().for_each(|of| drop(comments.remove(of)));
        comments.extend(self.comments.iter().map(|(of, text)| (*of, text.clone())));
        comments
    }

    fn schemas_after(&self, before: &Catalog) -> Vec<Arc<SchemaEntry>> {
        match &self.schemas {
            Some(schemas) => schemas.clone(),
            None => before.schemas().cloned().collect(),
        }
    }

    /// The bytes, which recovery reads back as this change of `before`. An internal error, which names what recovery
    /// would refuse, if it would not.
    pub fn to_checked_bytes(&self, before: &Catalog) -> Result<Vec<u8>> {
        let bytes = self.to_bytes(before);
        match CatalogChange::from_bytes(&bytes, before) {
            Ok(read) => {
                debug_assert_eq!(
                    read.in_order(),
                    self.in_order(),
                    "a change of the catalog comes back as another one"
                );
                Ok(bytes)
            }
            Err(what) => Err(Error::internal(format!(
                "recovery would refuse the definition: {what}"
            ))),
        }
    }

    /// The change with its relations and types in the order of their ids: tables are read before views, and
    /// enumerations before domains.
    fn in_order(&self) -> CatalogChange {
        let mut change = self.clone();
        change.changed.sort_by_key(Relation::id);
        change.types.sort_by_key(|entry| entry.id);
        change.sequences.sort_by_key(|entry| entry.id);
        change
    }

    /// The bytes of a change of `before`.
    pub fn to_bytes(&self, before: &Catalog) -> Vec<u8> {
        let (mut tables, mut views) = (Vec::new(), Vec::new());
        for relation in &self.changed {
            match relation {
                Relation::Table(table) => tables.push(write_entry(table)),
                Relation::View(view) => views.push(write_view(view)),
            }
        }
        let mut json = json!({
            "version": self.version,
            "last_id": self.last_id,
            "tables": tables,
            "views": views,
            "types": self.types.iter().map(|t| write_type(t)).collect::<Vec<_>>(),
            "schemas": self.schemas.as_ref().map(|schemas| write_schemas(schemas)),
            "dropped": self.dropped.iter().map(|id| id.0).collect::<Vec<_>>(),
        });
        if !self.sequences.is_empty() {
            json["sequences"] = self.sequences.iter().map(|s| write_sequence(s)).collect();
        }
        if !self.comments.is_empty() {
            json["comments"] = write_comments(&self.comments);
        }
        if !self.uncommented.is_empty() {
            json["uncommented"] = write_objects(&self.uncommented);
        }
        if let Some(access) = &self.access {
            json["access"] = difference(before.access(), access);
        }
        json.to_string().into_bytes()
    }

    /// The change of a catalog; otherwise what is wrong with the bytes.
    pub fn from_bytes(bytes: &[u8], before: &Catalog) -> Result<CatalogChange, String> {
        let malformed = || "a field of a change of the catalog is missing or of the wrong kind".to_string();
        let json: Json = serde_json::from_slice(bytes).map_err(|_| malformed())?;
        let change = CatalogChange::from_json(&json, before).ok_or_else(malformed)?;
        for relation in &change.changed {
            if let Relation::Table(table) = relation {
                check_table(table).map_err(|what| format!("table \"{}\": {what}", table.name))?;
            }
        }
        Ok(change)
    }

    fn from_json(json: &Json, before: &Catalog) -> Option<CatalogChange> {
        let before_it: Vec<Arc<TypeEntry>> = before.types().cloned().collect();
        let types = read_types(&json["types"], &before_it)?;
        let dropped = json["dropped"].as_array()?.iter();
        let dropped: Vec<ObjectId> = dropped
            .map(|id| read_u32(id).map(ObjectId))
            .collect::<Option<_>>()?;
        let known = types_after(before, &types, &dropped);
        let mut changed = Vec::new();
        for table in json["tables"].as_array()? {
            changed.push(Relation::Table(Arc::new(read_entry(table, &known)?)));
        }
        for view in json["views"].as_array()? {
            changed.push(Relation::View(Arc::new(read_view(view, &known)?)));
        }
        let schemas = match &json["schemas"] {
            Json::Null => None,
            schemas => Some(read_schemas(schemas)?),
        };
        Some(CatalogChange {
            version: json["version"].as_u64()?,
            schemas,
            last_id: read_u32(&json["last_id"])?,
            changed,
            types,
            sequences: match &json["sequences"] {
                Json::Null => Vec::new(),
                sequences => (sequences.as_array()?.iter())
                    .map(|sequence| read_sequence(sequence).map(Arc::new))
                    .collect::<Option<_>>()?,
            },
            comments: read_comments(&json["comments"])?,
            uncommented: read_objects(&json["uncommented"])?,
            access: match &json["access"] {
                Json::Null => None,
                change => Some(applied(before.access(), change)?),
            },
            dropped,
        })
    }
}

/// The comments that are in `after` alone or others there, and the objects that have none any more: those that are gone
/// among them.
fn comments_between(before: &Catalog, after: &Catalog) -> (Comments, Vec<Commented>) {
    let (mut old, mut new) = (before.comments(), after.comments());
    new.retain(|of, text| old.remove(of).as_ref() != Some(text));
    (new, old.into_keys().collect())
}

/// The types of a catalog after some are changed and some are gone.
fn types_after(before: &Catalog, changed: &[Arc<TypeEntry>], dropped: &[ObjectId]) -> Vec<Arc<TypeEntry>> {
    let is_gone = |id: ObjectId| dropped.contains(&id) || changed.iter().any(|t| t.id == id);
    let kept = before.types().filter(|t| !is_gone(t.id));
    kept.chain(changed).cloned().collect()
}
