//! Rights that a query needs: on the relations that it reads and writes, and on their columns.
//!
//! While a statement is bound, each relation that is named is noted with the role whose rights count: the current one,
//! or the owner of the view that reads it. When all of it is bound, it is known which columns are read, and the rights
//! are asked for. So errors of names and types come first, as in PostgreSQL. Statements of the first superuser note
//! nothing.

use super::naming::schema_name;
use super::{Binder, OutputColumn};
use crate::{CatalogView, TableEntry};
use frazil_catalog::{Demand, Guarded, QualifiedName, Rights, RoleId, WrittenName};
use frazil_plan::ColumnId;
use frazil_types::{Error, ObjectId, Result, SqlState};
use std::collections::HashSet;

/// System tables that superusers alone read.
const SECRET: [&str; 2] = ["pg_authid", "pg_shadow"];

/// A relation that is read or written.
struct Needed {
    relation: ObjectId,
    /// Rights on the relation, or on each of the columns below.
    rights: Rights,
    /// The columns that may be read, in order of their positions. SELECT is needed on those that are.
    columns: Vec<ColumnId>,
    /// True if SELECT is needed though no column is read: the relation is in FROM.
    is_read: bool,
    /// Positions of the columns on which rights other than SELECT are needed.
    written: Vec<usize>,
}

/// The rights that a binder's queries need.
#[derive(Default)]
pub(super) struct NeededRights {
    needed: Vec<Needed>,
    used: HashSet<ColumnId>,
    /// The error of a view that reads what its owner may not.
    refused: Option<Error>,
}

/// True if a role has what a statement needs.
pub(super) fn permits(catalog: &dyn CatalogView, role: RoleId, demand: &Demand) -> bool {
    role == RoleId::SUPERUSER || catalog.guard().permits(role, demand)
}

/// 42501 unless a role may find names in a schema. Schemas that there are not are the caller's to miss.
pub(crate) fn check_schema(catalog: &dyn CatalogView, schema: &str) -> Result<()> {
    let role = catalog.user().current;
    if role == RoleId::SUPERUSER || catalog.path().temporary() == Some(schema) {
        return Ok(());
    }
    let guard = catalog.guard();
    match guard.schema(schema) {
        Some(schema) => guard.check_rights(role, Guarded::Object(schema.id), Rights::USAGE),
        None => Ok(()),
    }
}

/// 42501 unless the current role owns a table of the catalog.
pub(super) fn check_owner(catalog: &dyn CatalogView, table: ObjectId) -> Result<()> {
    let role = catalog.user().current;
    match catalog.catalog_id(table) {
        Some(id) if role != RoleId::SUPERUSER => catalog.guard().check_owner(role, Guarded::Object(id)),
        Some(_) | None => Ok(()),
    }
}

/// 42501 unless the current role has the privileges of a predefined one. `what`: what it asks for.
pub(crate) fn check_predefined(
    catalog: &dyn CatalogView,
    role: RoleId,
    what: &str,
    hint: &str,
) -> Result<()> {
    match permits(catalog, catalog.user().current, &Demand::PrivilegesOf(role)) {
        true => Ok(()),
        false => {
            let name = catalog.guard().access().role_name(role);
            let message = format!("must be superuser or have privileges of the {name} role to {what}");
            let error = Error::new(SqlState::INSUFFICIENT_PRIVILEGE, message);
            Err(if hint.is_empty() {
                error
            } else {
                error.with_hint(hint)
            })
        }
    }
}

impl Binder<'_> {
    /// 42501 unless the role may find names in the schema that a name is written with.
    pub(super) fn check_schema(&self, written: &WrittenName) -> Result<()> {
        match &written.schema {
            Some(schema) if self.reader != RoleId::SUPERUSER => {
                check_schema(self.catalog, &schema_name(self.catalog, schema))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// 42501 unless the current role may read files of the machine, also for PREPARE: binding opens the file.
    pub(super) fn check_file(&self) -> Result<()> {
        match self.catalog.user().current {
            RoleId::SUPERUSER => Ok(()),
            _ => check_predefined(self.catalog, RoleId::READ_SERVER_FILES, "read a file", ""),
        }
    }

    /// Notes the right that locks on rows of a relation of FROM need.
    pub(super) fn note_locked(&mut self, name: &QualifiedName) {
        if self.reader == RoleId::SUPERUSER {
            return;
        }
        let relation = self.catalog.guard().relation(name).map(|relation| relation.id());
        if let Some(relation) = relation {
            self.note_write(relation, Rights::UPDATE, Vec::new());
        }
    }

    /// 42501 unless the role may call a function of a sequence.
    pub(super) fn check_sequence(&self, sequence: ObjectId, any: Rights) -> Result<()> {
        let of = Guarded::Object(sequence);
        match permits(self.catalog, self.reader, &Demand::Any(of, any)) {
            true => Ok(()),
            false => Err(self.catalog.guard().denied(of)),
        }
    }

    /// Notes a relation of FROM with its columns.
    pub(super) fn note_read(
        &mut self,
        relation: ObjectId,
        name: &str,
        columns: &[OutputColumn],
    ) -> Result<()> {
        if self.reader == RoleId::SUPERUSER {
            return Ok(());
        }
        if self.catalog.catalog_id(relation).is_none() {
            return self.check_secret(name);
        }
        self.rights.needed.push(Needed {
            relation,
            rights: Rights::NONE,
            columns: columns.iter().map(|column| column.id).collect(),
            is_read: true,
            written: Vec::new(),
        });
        Ok(())
    }

    /// 42501 for a system table that superusers alone read.
    fn check_secret(&self, name: &str) -> Result<()> {
        if !SECRET.contains(&name) || permits(self.catalog, self.reader, &Demand::Superuser) {
            return Ok(());
        }
        let kind = if name == "pg_shadow" { "view" } else { "table" };
        let message = format!("permission denied for {kind} {name}");
        Err(Error::new(SqlState::INSUFFICIENT_PRIVILEGE, message))
    }

    /// Notes the rows of a table that is written, whose columns the statement may read.
    pub(super) fn note_target(&mut self, entry: &TableEntry, columns: &[OutputColumn]) {
        if self.reader != RoleId::SUPERUSER {
            self.rights.needed.push(Needed {
                relation: entry.id,
                rights: Rights::NONE,
                columns: columns.iter().map(|column| column.id).collect(),
                is_read: false,
                written: Vec::new(),
            });
        }
    }

    /// Notes a right on a table that is written, or on columns of it by their positions.
    pub(super) fn note_write(&mut self, relation: ObjectId, right: Rights, written: Vec<usize>) {
        if self.reader != RoleId::SUPERUSER {
            self.rights.needed.push(Needed {
                relation,
                rights: right,
                columns: Vec::new(),
                is_read: false,
                written,
            });
        }
    }

    /// Notes that a column is read.
    pub(super) fn note_right(&mut self, column: ColumnId) {
        if !self.rights.needed.is_empty() {
            self.rights.used.insert(column);
        }
    }

    /// Asks for the rights that were noted. 42501.
    pub(super) fn check_rights(&mut self) -> Result<()> {
        let rights = std::mem::take(&mut self.rights);
        for needed in &rights.needed {
            self.check_needed(needed, &rights.used)?;
        }
        rights.refused.map_or(Ok(()), Err)
    }

    /// Keeps the error of a view's owner until all of the statement is bound.
    pub(super) fn put_off_refusal(&mut self, refused: Option<Error>) {
        if self.rights.refused.is_none() {
            self.rights.refused = refused;
        }
    }

    fn check_needed(&self, needed: &Needed, used: &HashSet<ColumnId>) -> Result<()> {
        let read: Vec<usize> = (needed.columns.iter().enumerate())
            .filter_map(|(position, id)| used.contains(id).then_some(position))
            .collect();
        if needed.is_read || !read.is_empty() {
            self.check_columns(needed.relation, Rights::SELECT, &read)?;
        }
        match needed.rights.is_empty() {
            true => Ok(()),
            false => self.check_columns(needed.relation, needed.rights, &needed.written),
        }
    }

    /// 42501 unless the role has a right on a relation or on all these columns; without columns, on any.
    fn check_columns(&self, relation: ObjectId, right: Rights, positions: &[usize]) -> Result<()> {
        let guard = self.catalog.guard();
        let of = Guarded::Object(relation);
        let has = |of: Guarded| guard.permits(self.reader, &Demand::All(of, right));
        let is_whole = right.has_any(Rights::DELETE | Rights::TRUNCATE);
        let of_columns = || match positions {
            [] => guard.permits(self.reader, &Demand::AnyColumn(relation, right)),
            all => all
                .iter()
                .all(|position| guard.column_key(relation, *position).is_some_and(has)),
        };
        match has(of) || !is_whole && of_columns() {
            true => Ok(()),
            false => Err(guard.denied(of)),
        }
    }
}
