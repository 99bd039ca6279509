//! Relations and sequences of which the rows of a system table are, found by the ids or names that a plan wants: a
//! query for one relation looks at that relation, however many others there are.

use super::virtual_table::Context;
use frazil_catalog::{Catalog, QualifiedName, Relation, SequenceEntry};
use frazil_types::{ObjectId, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The columns in which the rows of a system table name their relation; empty for a table that has no such column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Naming {
    /// The column of its oid.
    pub oid: &'static str,
    /// The column of its name.
    pub name: &'static str,
}

impl Naming {
    /// No column names the relation alone.
    pub const NONE: Naming = Naming { oid: "", name: "" };
}

/// Tables of the SQL standard name a relation by its name alone.
pub(super) const BY_TABLE_NAME: Naming = Naming {
    oid: "",
    name: "table_name",
};

/// Relations and sequences that are named.
#[derive(Default)]
pub(super) struct Named<'a> {
    relations: BTreeMap<ObjectId, &'a Relation>,
    sequences: BTreeMap<ObjectId, &'a Arc<SequenceEntry>>,
}

/// An index has the name or id: its table is not known by it.
struct NamesIndex;

impl<'a> Named<'a> {
    /// The objects that rows can be of, which name them by `naming`. `None` if they must be looked for among all.
    pub fn of(context: &'a Context<'_>, naming: Naming) -> Option<Named<'a>> {
        let catalog = context.catalog();
        let mut named = Named::default();
        if let Some(ids) = context.wanted.values_in(naming.oid) {
            ids.into_iter()
                .try_for_each(|id| named.add_id(catalog, id))
                .ok()?;
            return Some(named);
        }
        let names = context.wanted.values_in(naming.name)?;
        let schemas = super::namespaces(catalog);
        for name in names {
            let Value::Text(name) = name else { return None };
            for (schema, _) in &schemas {
                named.add_name(catalog, &QualifiedName::new(schema, name)).ok()?;
            }
        }
        Some(named)
    }

    /// The relations.
    pub fn relations(self) -> impl Iterator<Item = &'a Relation> {
        self.relations.into_values()
    }

    /// The sequences.
    pub fn sequences(self) -> impl Iterator<Item = &'a Arc<SequenceEntry>> {
        self.sequences.into_values()
    }

    fn add_id(&mut self, catalog: &'a Catalog, id: &Value) -> Result<(), NamesIndex> {
        let Value::Int(oid) = id else {
            return Err(NamesIndex);
        };
        let Some(id) = u32::try_from(*oid).ok().and_then(ObjectId::of_oid) else {
            return Ok(());
        };
        self.add(
            catalog.relation_of(id),
            catalog.sequence_of(id),
            catalog.index_by_id(id).is_some(),
        )
    }

    fn add_name(&mut self, catalog: &'a Catalog, name: &QualifiedName) -> Result<(), NamesIndex> {
        self.add(
            catalog.relation(name),
            catalog.sequence(name),
            catalog.index(name).is_some(),
        )
    }

    fn add(
        &mut self,
        relation: Option<&'a Relation>,
        sequence: Option<&'a Arc<SequenceEntry>>,
        is_index: bool,
    ) -> Result<(), NamesIndex> {
        self.relations
            .extend(relation.map(|relation| (relation.id(), relation)));
        self.sequences
            .extend(sequence.map(|sequence| (sequence.id, sequence)));
        match is_index {
            true => Err(NamesIndex),
            false => Ok(()),
        }
    }
}
