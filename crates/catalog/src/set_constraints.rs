//! The names in SET CONSTRAINTS.

use crate::{
    Catalog, Constraint, ConstraintKind, Deferral, SearchPath, TableEntry, WrittenName, missing_schema,
};
use frazil_types::{Error, ObjectId, Result, SqlState};

impl TableEntry {
    /// When a constraint of the table is checked.
    pub fn deferral_of(&self, constraint: &Constraint) -> Deferral {
        match &constraint.kind {
            ConstraintKind::ForeignKey(key) => key.deferral,
            ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } => {
                self.index(*index).map_or(Deferral::Never, |index| index.deferral)
            }
            ConstraintKind::Check { .. } => Deferral::Never,
        }
    }
}

impl Catalog {
    /// The deferrable constraints that names mean, each those of the first schema on the path that has any. 42704 for
    /// an unknown name, 3F000 for an unknown schema, 42809 if a constraint is to be deferred that cannot be.
    pub fn constraints_to_set(
        &self,
        names: &[WrittenName],
        is_deferred: bool,
        path: &SearchPath,
    ) -> Result<Vec<ObjectId>> {
        let mut found = Vec::new();
        for written in names {
            for (table, constraint) in self.constraints_named(written, path)? {
                match table.deferral_of(constraint) {
                    Deferral::Immediate | Deferral::Deferred => found.push(constraint.id),
                    Deferral::Never if is_deferred => {
                        let message = format!("constraint \"{}\" is not deferrable", written.name);
                        return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
                    }
                    Deferral::Never => {}
                }
            }
        }
        Ok(found)
    }

    fn constraints_named(
        &self,
        written: &WrittenName,
        path: &SearchPath,
    ) -> Result<Vec<(&TableEntry, &Constraint)>> {
        let named = match &written.schema {
            Some(schema) if self.namespace(schema).is_err() => return Err(missing_schema(schema)),
            Some(schema) => std::slice::from_ref(schema),
            None => path.schemas(),
        };
        for schema in named {
            let Ok(namespace) = self.namespace(schema) else {
                continue;
            };
            let tables = self.tables().filter(|table| table.namespace == namespace);
            let constraints = tables.filter_map(|table| Some((&**table, table.constraint(&written.name)?)));
            let constraints: Vec<(&TableEntry, &Constraint)> = constraints.collect();
            if !constraints.is_empty() {
                return Ok(constraints);
            }
        }
        let message = format!("constraint \"{}\" does not exist", written.name);
        Err(Error::new(SqlState::UNDEFINED_OBJECT, message))
    }
}
