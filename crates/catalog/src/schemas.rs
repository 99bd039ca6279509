//! Schemas: CREATE SCHEMA, and the names of objects as a session sees them. DROP SCHEMA is in [`crate::drop_schemas`].

use crate::qualified_name::{
    PUBLIC, PUBLIC_ALIAS, QualifiedName, SYSTEM_SCHEMA, SchemaEntry, WrittenName, missing_schema,
};
use crate::{Catalog, Guarded, RoleId, SearchPath, TableEntry, identifier};
use frazil_types::{Error, ObjectId, Result, SqlState};
use std::sync::Arc;

/// CREATE SCHEMA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSchema {
    /// Its name.
    pub name: String,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// AUTHORIZATION; `None`: the role that creates it.
    pub owner: Option<RoleId>,
}

/// 42939 for a name that only schemas of the system have.
pub(crate) fn refuse_reserved(name: &str) -> Result<()> {
    if !name.starts_with("pg_") {
        return Ok(());
    }
    let message = format!("unacceptable schema name \"{name}\"");
    let error = Error::new(SqlState::RESERVED_NAME, message);
    Err(error.with_detail("The prefix \"pg_\" is reserved for system schemas."))
}

impl Catalog {
    /// A schema by its name, if there is one.
    pub fn schema(&self, name: &str) -> Option<&Arc<SchemaEntry>> {
        self.objects.schema(name)
    }

    /// A schema by its identity, if there is one.
    pub fn schema_of(&self, id: ObjectId) -> Option<&Arc<SchemaEntry>> {
        self.objects.schema_of(id)
    }

    /// The schemas by name.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<SchemaEntry>> {
        self.objects.schemas()
    }

    /// The identity of a schema in which something is created. 3F000 if there is none of the name, 42501 for that of
    /// the system.
    pub(crate) fn namespace(&self, name: &str) -> Result<ObjectId> {
        match self.schema(name) {
            Some(schema) => Ok(schema.id),
            None if name == SYSTEM_SCHEMA => {
                let message = format!("permission denied for schema {name}");
                Err(Error::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
                    .with_hint("create it in another schema"))
            }
            None => Err(missing_schema(name)),
        }
    }

    /// The next version, with one more schema; this version if there may be one of the name and is. 42P06, 42939.
    pub fn create_schema(&self, new: &NewSchema) -> Result<Catalog> {
        refuse_reserved(&new.name)?;
        if self.schema(&new.name).is_some() {
            return match new.if_not_exists {
                true => Ok(self.clone()),
                false => {
                    let message = format!("schema \"{}\" already exists", new.name);
                    Err(Error::new(SqlState::DUPLICATE_SCHEMA, message))
                }
            };
        }
        let mut next = self.next();
        let id = next.take_id(SchemaEntry::PUBLIC_ID);
        next.objects.put_schema(SchemaEntry::new(id, &new.name));
        Ok(match new.owner {
            Some(owner) => next.with_owner(Guarded::Object(id), owner),
            None => next,
        })
    }

    /// A written name as it is looked for: [`PUBLIC_ALIAS`] means [`PUBLIC`], unless there is a schema of that name.
    pub fn without_alias(&self, written: &WrittenName) -> WrittenName {
        let is_alias = written.schema.as_deref() == Some(PUBLIC_ALIAS) && self.schema(PUBLIC_ALIAS).is_none();
        WrittenName {
            schema: match is_alias {
                true => Some(PUBLIC.to_string()),
                false => written.schema.clone(),
            },
            name: written.name.clone(),
        }
    }

    /// The name of something in a schema.
    pub fn qualified(&self, namespace: ObjectId, name: &str) -> QualifiedName {
        // Entries are of schemas that there are.
        let schema = self.schema_of(namespace).map_or("", |schema| &schema.name);
        QualifiedName::new(schema, name)
    }

    /// The name of a table as SQL text: without its schema if the path finds it so.
    pub fn shown_table(&self, table: &TableEntry, path: &SearchPath) -> String {
        self.shown_relation(table.namespace, &table.name, path)
    }

    /// The name of a table, view or index for messages: without its schema if the path finds it so.
    pub(crate) fn shown_relation(&self, namespace: ObjectId, name: &str, path: &SearchPath) -> String {
        self.shown(namespace, name, path, |candidate| {
            self.objects.has_relation(candidate)
        })
    }

    /// The name of a type for messages: without its schema if the path finds it so.
    pub(crate) fn shown_type(&self, namespace: ObjectId, name: &str, path: &SearchPath) -> String {
        self.shown(namespace, name, path, |candidate| {
            self.user_type(candidate).is_some()
        })
    }

    fn shown(
        &self,
        namespace: ObjectId,
        name: &str,
        path: &SearchPath,
        is_there: impl Fn(&QualifiedName) -> bool,
    ) -> String {
        let qualified = self.qualified(namespace, name);
        let candidates = path.candidates(&WrittenName::unqualified(name));
        match candidates.into_iter().find(is_there) {
            Some(found) if found == qualified => identifier(name),
            Some(_) | None => qualified.to_string(),
        }
    }
}
