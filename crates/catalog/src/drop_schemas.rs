//! DROP SCHEMA.

use crate::dependents::{Dropping, Part};
use crate::{Catalog, DropBehavior, SYSTEM_SCHEMA, SearchPath, missing_schema};
use frazil_types::{Error, ObjectId, Result, SqlState};

/// DROP SCHEMA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropSchemas {
    /// The names.
    pub names: Vec<String>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE or RESTRICT.
    pub behavior: DropBehavior,
    /// The path by which errors name objects.
    pub path: SearchPath,
}

impl Catalog {
    /// The next version without some schemas, and the ids of the tables and views that went with them; without any
    /// schema to drop, this version.
    ///
    /// 3F000 for a name that there is not, unless it need not be there. 2BP01 for the schema of the system, with
    /// RESTRICT if anything is in a schema, and with CASCADE while a column of another schema has a type of one: it
    /// must be dropped before.
    pub fn drop_schemas(&self, drop: &DropSchemas) -> Result<(Catalog, Vec<ObjectId>)> {
        let mut named: Vec<Part> = Vec::new();
        for name in &drop.names {
            let part = match self.schema(name) {
                Some(schema) => Part::whole(schema.id),
                None if name == SYSTEM_SCHEMA => {
                    let message =
                        format!("cannot drop schema {name} because it is required by the database system");
                    return Err(Error::new(SqlState::DEPENDENT_OBJECTS, message));
                }
                None if drop.if_exists => continue,
                None => return Err(missing_schema(name)),
            };
            if !named.contains(&part) {
                named.push(part);
            }
        }
        if named.is_empty() {
            return Ok((self.clone(), Vec::new()));
        }
        let gone = self.parts_to_drop(&Dropping {
            named,
            behavior: drop.behavior,
            path: &drop.path,
        })?;
        Ok(self.without(&gone))
    }
}
