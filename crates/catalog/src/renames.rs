//! RENAME and SET SCHEMA of views and indexes, and RENAME of schemas and of columns of views. Those of tables are
//! actions of ALTER TABLE, and those of types and sequences are with these.

use crate::view::taken;
use crate::{AlterAction, Catalog, Relation, SYSTEM_SCHEMA, SchemaEntry, TableEntry, ViewEntry, identifier};
use frazil_types::{Error, ObjectId, Result, SqlState};
use std::sync::Arc;

/// Another name, or another schema, for an object.
#[derive(Clone, Debug, PartialEq)]
pub enum RenameObject {
    /// ALTER VIEW … RENAME TO.
    View {
        /// The view.
        id: ObjectId,
        /// Its new name.
        name: String,
    },
    /// ALTER VIEW … RENAME COLUMN.
    ViewColumn {
        /// The view.
        id: ObjectId,
        /// The column's position.
        column: usize,
        /// Its new name.
        name: String,
    },
    /// ALTER VIEW … SET SCHEMA.
    MoveView {
        /// The view.
        id: ObjectId,
        /// The new schema.
        schema: String,
    },
    /// ALTER MATERIALIZED VIEW … RENAME TO, RENAME COLUMN and SET SCHEMA, as of its table.
    Materialized {
        /// The table.
        id: ObjectId,
        /// The action on it.
        action: AlterAction,
    },
    /// ALTER INDEX … RENAME TO.
    Index {
        /// The index.
        id: ObjectId,
        /// Its new name.
        name: String,
    },
    /// ALTER SCHEMA … RENAME TO.
    Schema {
        /// The schema.
        id: ObjectId,
        /// Its new name.
        name: String,
    },
}

impl RenameObject {
    /// The object.
    pub fn id(&self) -> ObjectId {
        match self {
            RenameObject::View { id, .. }
            | RenameObject::ViewColumn { id, .. }
            | RenameObject::MoveView { id, .. }
            | RenameObject::Materialized { id, .. }
            | RenameObject::Index { id, .. }
            | RenameObject::Schema { id, .. } => *id,
        }
    }
}

impl Catalog {
    /// The next version, in which an object has another name or schema, and the entry of the table that changed with
    /// it, if one did.
    ///
    /// 42P07, 42710 and 42P06 for a name that is taken, 42701 for that of a column, 42939 for a reserved one, 3F000
    /// without the schema; 0A000 for a schema if a kept text names one of its types, or if only one of two schemas is
    /// temporary.
    pub fn rename(&self, renamed: &RenameObject) -> Result<(Catalog, Option<Arc<TableEntry>>)> {
        match renamed {
            RenameObject::View { id, name } => {
                let mut view = self.view_to_rename(*id)?;
                self.refuse_relation_name(&self.qualified(view.namespace, name))?;
                view.name.clone_from(name);
                Ok((self.with_view(view), None))
            }
            RenameObject::MoveView { id, schema } => {
                let mut view = self.view_to_rename(*id)?;
                let namespace = self.namespace_to_move(view.namespace, schema)?;
                if namespace == view.namespace {
                    return Ok((self.clone(), None));
                }
                self.refuse_relation_name(&self.qualified(namespace, &view.name))?;
                view.namespace = namespace;
                Ok((self.with_view(view), None))
            }
            RenameObject::ViewColumn { id, column, name } => {
                let mut view = self.view_to_rename(*id)?;
                if view.schema.index_of(name).is_some() {
                    let message = format!("column \"{name}\" of relation \"{}\" already exists", view.name);
                    return Err(Error::new(SqlState::DUPLICATE_COLUMN, message));
                }
                Arc::make_mut(&mut view.schema).columns[*column]
                    .name
                    .clone_from(name);
                Ok((self.with_view(view), None))
            }
            RenameObject::Materialized { id, action } => {
                let (catalog, entry) = self.alter_table(*id, action.clone())?;
                Ok((catalog, Some(entry)))
            }
            RenameObject::Index { id, name } => self.rename_index(*id, name),
            RenameObject::Schema { id, name } => Ok((self.rename_schema(*id, name)?, None)),
        }
    }

    fn view_to_rename(&self, id: ObjectId) -> Result<ViewEntry> {
        match self.relation_of(id) {
            Some(Relation::View(view)) => Ok(ViewEntry::clone(view)),
            Some(Relation::Table(_)) | None => Err(Error::internal(format!("view {} is not there", id.0))),
        }
    }

    fn with_view(&self, view: ViewEntry) -> Catalog {
        let mut next = self.next();
        next.objects.put_relation(Relation::View(Arc::new(view)));
        next
    }

    /// Renames an index, and the constraint to which it belongs.
    fn rename_index(&self, id: ObjectId, name: &str) -> Result<(Catalog, Option<Arc<TableEntry>>)> {
        let missing = || Error::internal(format!("index {} is not there", id.0));
        let index = self.objects.index_of(id).ok_or_else(missing)?;
        let mut entry = (*self.by_id(index.table)?).clone();
        if self.has_relation(&self.qualified(entry.namespace, name)) {
            return Err(taken(name));
        }
        if let Some(from) = &index.constraint {
            self.rename_constraint(&mut entry, from, name.to_string())?;
        } else {
            for index in entry.indexes.iter_mut().filter(|index| index.id == id) {
                Arc::make_mut(index).name = name.to_string();
            }
        }
        let mut next = self.next();
        let entry = next.put(entry);
        Ok((next, Some(entry)))
    }

    fn rename_schema(&self, id: ObjectId, name: &str) -> Result<Catalog> {
        let missing = || Error::internal(format!("schema {} is not there", id.0));
        self.schema_of(id).ok_or_else(missing)?;
        if self.schema(name).is_some() || name == SYSTEM_SCHEMA {
            let message = format!("schema \"{name}\" already exists");
            return Err(Error::new(SqlState::DUPLICATE_SCHEMA, message));
        }
        crate::schemas::refuse_reserved(name)?;
        for entry in self.types().filter(|entry| entry.namespace == id) {
            self.refuse_texts(&identifier(&entry.name))?;
        }
        let mut next = self.next();
        next.objects.rename_schema(SchemaEntry::new(id, name));
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewSchema, QualifiedName, TableOptions};
    use frazil_types::{ColumnDef, LogicalType, Schema};

    #[test]
    fn a_schema_keeps_its_objects_under_another_name() {
        let new = NewSchema {
            name: "s".to_string(),
            if_not_exists: false,
            owner: None,
        };
        let catalog = Catalog::new().create_schema(&new).unwrap();
        let columns = Arc::new(Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]));
        let name = QualifiedName::new("s", "t");
        let (catalog, table) = catalog
            .create_table(&name, columns, TableOptions::default())
            .unwrap();
        let id = catalog.schema("s").unwrap().id;
        let rename = |name: &str| {
            let name = name.to_string();
            catalog.rename(&RenameObject::Schema { id, name })
        };
        let (renamed, _) = rename("r").unwrap();
        let found = renamed.table(&QualifiedName::new("r", "t")).unwrap();
        assert!(found.id == table.id && renamed.schema("s").is_none() && renamed.find(&name).is_none());
        let refused = [
            ("public", SqlState::DUPLICATE_SCHEMA),
            ("pg_r", SqlState::RESERVED_NAME),
        ];
        for (name, state) in refused {
            assert_eq!(rename(name).unwrap_err().state(), state);
        }
    }
}
