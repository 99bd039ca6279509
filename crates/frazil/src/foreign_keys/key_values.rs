//! The values of a foreign key: as the parent has them and as the child has them.

use super::equal_values::Equality;
use frazil_catalog::{Catalog, Constraint, ForeignKey, TableEntry};
use frazil_types::{Error, KeyPart, KeySpec, LogicalType, ObjectId, Result, SqlState, Value};
use std::sync::Arc;

/// A foreign key with its tables, and the positions and types of its columns in them.
pub(crate) struct KeyPair {
    /// The identity of the constraint.
    pub id: ObjectId,
    /// The name of the constraint.
    pub name: String,
    /// The key.
    pub key: ForeignKey,
    /// The child.
    pub child: Arc<TableEntry>,
    /// The parent.
    pub parent: Arc<TableEntry>,
    /// Positions of the key's columns in the child.
    pub child_columns: Vec<usize>,
    /// Positions of the key's columns in the parent.
    pub parent_columns: Vec<usize>,
    /// Types of the child's columns.
    pub child_types: Vec<LogicalType>,
    /// Types of the parent's columns.
    pub parent_types: Vec<LogicalType>,
}

impl KeyPair {
    /// A key of a child. An internal error if the parent or a column is not there.
    pub fn new(
        catalog: &Catalog,
        child: &Arc<TableEntry>,
        constraint: &Constraint,
        key: &ForeignKey,
    ) -> Result<KeyPair> {
        let parent = catalog.table_by_id(key.parent);
        let parent = parent.ok_or_else(|| Error::internal("a foreign key to a table that is not there"))?;
        let child_columns = child.positions_of(&key.columns)?;
        let parent_columns = parent.positions_of(&key.parent_columns)?;
        let types = |table: &TableEntry, columns: &[usize]| {
            let types = columns.iter().map(|&column| table.schema.columns[column].ty);
            types.collect::<Vec<_>>()
        };
        Ok(KeyPair {
            id: constraint.id,
            name: constraint.name.clone(),
            key: key.clone(),
            child_types: types(child, &child_columns),
            parent_types: types(parent, &parent_columns),
            child: child.clone(),
            parent: parent.clone(),
            child_columns,
            parent_columns,
        })
    }

    /// A foreign key of a child by its identity; `None` if there is none any more.
    pub fn find(catalog: &Catalog, child: ObjectId, constraint: ObjectId) -> Result<Option<KeyPair>> {
        let Some(child) = catalog.table_by_id(child) else {
            return Ok(None);
        };
        let found = child.foreign_keys().find(|(c, _)| c.id == constraint);
        let pair = |(constraint, key)| KeyPair::new(catalog, child, constraint, key);
        found.map(pair).transpose()
    }

    /// The parent's key that equals a child's key; `None` if no parent can have it.
    pub fn as_parent(&self, key: &[Value]) -> Option<Vec<Value>> {
        let values = key.iter().zip(self.types());
        let values = values
            .map(|(value, (child, parent))| Equality::between(child, parent).as_parent(value, child, parent));
        values.collect()
    }

    /// The child's key that equals a parent's key; `None` if no child can have it. Meaningful only if
    /// [`KeyPair::has_one_child_key`].
    pub fn as_child(&self, key: &[Value]) -> Option<Vec<Value>> {
        let values = key.iter().zip(self.types());
        let values = values
            .map(|(value, (child, parent))| Equality::between(child, parent).as_child(value, child, parent));
        values.collect()
    }

    /// True if all children of one parent have equal keys, so that an index of the child finds them by one key.
    pub fn has_one_child_key(&self) -> bool {
        let mut types = self.types();
        types.all(|(child, parent)| Equality::between(child, parent).has_one_child(child, parent))
    }

    /// True if child and parent have the same types.
    pub fn is_of_same_types(&self) -> bool {
        self.child_types == self.parent_types
    }

    /// Makes comparable bytes of keys that have the parent's types and no NULL: equal keys have equal bytes.
    pub fn spec(&self) -> KeySpec {
        let part = |ty: &LogicalType| KeyPart {
            ty: *ty,
            nullable: false,
            descending: false,
            nulls_first: false,
        };
        KeySpec::new(self.parent_types.iter().map(part).collect())
    }

    /// The child's and the parent's type of each column.
    fn types(&self) -> impl Iterator<Item = (LogicalType, LogicalType)> {
        (self.child_types.iter().copied()).zip(self.parent_types.iter().copied())
    }

    /// 23503: a child's key is not one of the parent.
    pub fn orphan(&self, key: &[Value]) -> Error {
        let columns = names(&self.child, &self.child_columns);
        let values = texts(key, &self.child_types);
        let (parent, message) = (&self.parent.name, self.child_message());
        self.violated(message).with_detail(format!(
            "Key ({columns})=({values}) is not present in table \"{parent}\"."
        ))
    }

    /// 23503: NULL in some columns of a MATCH FULL key and not in all.
    pub fn mixed(&self) -> Error {
        let detail = "MATCH FULL does not allow mixing of null and nonnull key values.";
        self.violated(self.child_message()).with_detail(detail)
    }

    /// 23503: children refer to a key of the parent that went.
    pub fn still_referenced(&self, key: &[Value]) -> Error {
        let message = format!(
            "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
            self.parent.name, self.name, self.child.name
        );
        let columns = names(&self.parent, &self.parent_columns);
        let values = texts(key, &self.parent_types);
        self.violated(message).with_detail(format!(
            "Key ({columns})=({values}) is still referenced from table \"{}\".",
            self.child.name
        ))
    }

    fn child_message(&self) -> String {
        format!(
            "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
            self.child.name, self.name
        )
    }

    fn violated(&self, message: String) -> Error {
        Error::new(SqlState::FOREIGN_KEY_VIOLATION, message)
            .of_table(&self.child.name)
            .in_namespace(self.child.namespace)
            .of_constraint(&self.name)
    }
}

fn names(table: &TableEntry, columns: &[usize]) -> String {
    let names = columns
        .iter()
        .map(|&column| table.schema.columns[column].name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

fn texts(key: &[Value], types: &[LogicalType]) -> String {
    let texts = key
        .iter()
        .zip(types)
        .map(|(value, ty)| value.display(*ty).to_string());
    texts.collect::<Vec<_>>().join(", ")
}
