//! Rights that definitions and other statements without a query need: to own what they change, to create in a schema.

use super::rights::{check_predefined, permits};
use crate::{Bound, CatalogView, CopyEnd, Definition, LockMode, LockTable, Statement, Writing};
use frazil_catalog::{
    AlterAction, Catalog, CommentTarget, Demand, Guarded, NewConstraint, NewConstraintKind, QualifiedName,
    Rights, RoleId, is_temporary_schema,
};
use frazil_types::{ColumnDef, Error, LogicalType, ObjectId, Result, SqlState, session_settings};

/// The way out for a role that may not touch the server's files.
const COPY_HINT: &str =
    "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.";

/// The roles and the catalog that a statement's rights are asked of.
struct Judge<'a> {
    role: RoleId,
    guard: &'a Catalog,
}

/// A bound statement, if the current role may run it or `asks_rights` is false. 42501.
pub(crate) fn permitted(catalog: &dyn CatalogView, asks_rights: bool, bound: Bound) -> Result<Bound> {
    if asks_rights {
        check_statement(catalog, &bound.statement)?;
    }
    Ok(bound)
}

/// 42501 unless the current role may run a statement. The rights of its queries are asked for where they are bound.
fn check_statement(catalog: &dyn CatalogView, statement: &Statement) -> Result<()> {
    let role = catalog.user().current;
    if role == RoleId::SUPERUSER {
        return Ok(());
    }
    let guard = catalog.guard();
    let judge = Judge { role, guard };
    match statement {
        Statement::Writing(writing) => judge.writing(catalog, writing),
        Statement::CopyTo {
            target: CopyEnd::File(_),
            ..
        } => check_predefined(catalog, RoleId::WRITE_SERVER_FILES, "COPY to a file", COPY_HINT),
        Statement::Backup { .. } => {
            let what = "BACKUP to a directory";
            check_predefined(catalog, RoleId::WRITE_SERVER_FILES, what, "")
        }
        Statement::Checkpoint => match permits(catalog, role, &Demand::PrivilegesOf(RoleId::CHECKPOINT)) {
            true => Ok(()),
            false => Err(refused(
                "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT",
            )),
        },
        Statement::ExplainFreeze { table, .. } => judge.owner(*table),
        Statement::LockTable(lock) => judge.lock(lock),
        Statement::Query(_)
        | Statement::Prepared(_)
        | Statement::CopyTo { .. }
        | Statement::Begin { .. }
        | Statement::Commit { .. }
        | Statement::Rollback { .. }
        | Statement::SetTransaction { .. }
        | Statement::SetSessionTransaction { .. }
        | Statement::SetConstraints(_)
        | Statement::Savepoint { .. }
        | Statement::RollbackTo { .. }
        | Statement::Release { .. }
        | Statement::Setting(_)
        | Statement::Notification(_)
        | Statement::Cursor(_)
        | Statement::Alone { .. }
        | Statement::Checked { .. }
        | Statement::Explain { .. } => Ok(()),
    }
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
}

impl Judge<'_> {
    fn writing(&self, catalog: &dyn CatalogView, writing: &Writing) -> Result<()> {
        match writing {
            Writing::Write(_) | Writing::With { .. } => Ok(()),
            Writing::CreateTable {
                name,
                constraints,
                schema,
                ..
            } => {
                self.create_in(&name.schema)?;
                self.types(&schema.columns)?;
                constraints
                    .iter()
                    .try_for_each(|constraint| self.references(constraint))
            }
            Writing::Freeze { table, .. } => self.owner(*table),
            Writing::CopyFrom {
                table,
                columns,
                source,
                options,
                ..
            } => {
                if matches!(source, CopyEnd::File(_)) {
                    let what = "COPY from a file";
                    check_predefined(catalog, RoleId::READ_SERVER_FILES, what, COPY_HINT)?;
                }
                if let Some(rejects) = &options.rejects_table {
                    let schema = rejects.schema.clone().unwrap_or_default();
                    self.create_in(&schema)?;
                }
                self.columns(*table, Rights::INSERT, columns)
            }
            Writing::Define(definition) => self.definition(definition),
        }
    }

    fn definition(&self, definition: &Definition) -> Result<()> {
        match definition {
            // The catalog asks for the rights of these.
            Definition::Access(_) => Ok(()),
            Definition::AlterOptions { table, .. } => self.owner(*table),
            Definition::AlterTable { table, actions, .. } => match table {
                Some(table) => self.alter_table(*table, actions),
                None => Ok(()),
            },
            Definition::CommentOn(new) => self.comment(&new.target),
            Definition::CreateSchema(new) => {
                self.rights(Guarded::Database, Rights::CREATE)?;
                match new.owner {
                    Some(owner) if !self.guard.access().is_member(self.role, owner) => {
                        let name = self.guard.access().role_name(owner);
                        Err(refused(format!("must be member of role \"{name}\"")))
                    }
                    Some(_) | None => Ok(()),
                }
            }
            Definition::DropSchemas { drop, .. } => (drop.names.iter())
                .filter_map(|name| self.guard.schema(name))
                .try_for_each(|schema| self.owner(schema.id)),
            Definition::CreateView(view) | Definition::CreateMaterialized { view, .. } => {
                self.create_in(&view.name.schema)?;
                self.types(&view.schema.columns)?;
                match self.guard.relation(&view.name) {
                    Some(existing) if view.existing == frazil_catalog::ExistingView::Replace => {
                        self.owner(existing.id())
                    }
                    Some(_) | None => Ok(()),
                }
            }
            Definition::Refresh { table, .. } => self.owner(*table),
            Definition::Rename { renamed, .. } => match renamed {
                Some(renamed) => self.rename(renamed.id()),
                None => Ok(()),
            },
            Definition::CreateIndex(new) => self.owner(new.table),
            Definition::CreateSequence(new) => self.create_in(&new.name.schema),
            Definition::AlterSequence(altered) => match altered {
                Some((sequence, _)) => self.owner(*sequence),
                None => Ok(()),
            },
            Definition::Drop(drop) => drop.names.iter().try_for_each(|name| self.drop(name)),
            Definition::DropIndexes(drop) => drop.names.iter().try_for_each(|name| self.drop(name)),
            Definition::CreateType { name, .. } => self.create_in(&name.schema),
            Definition::CreateDomain { name, domain } => {
                self.create_in(&name.schema)?;
                self.type_of(domain.base)
            }
            Definition::AlterType { id, .. } => self.owner(*id),
            Definition::DropTypes { drop, .. } => (drop.names.iter())
                .filter_map(|name| self.guard.user_type(name))
                .try_for_each(|entry| self.owner_or_schema(entry.id, entry.namespace)),
            Definition::Truncate { tables, .. } => {
                (tables.iter()).try_for_each(|table| self.rights(Guarded::Object(*table), Rights::TRUNCATE))
            }
        }
    }

    fn rights(&self, of: Guarded, rights: Rights) -> Result<()> {
        self.guard.check_rights(self.role, of, rights)
    }

    fn owner(&self, id: ObjectId) -> Result<()> {
        self.guard.check_owner(self.role, Guarded::Object(id))
    }

    /// The owner of an object, or of its schema.
    fn owner_or_schema(&self, id: ObjectId, schema: ObjectId) -> Result<()> {
        let of_schema = Demand::Ownership(Guarded::Object(schema));
        match self.guard.permits(self.role, &of_schema) {
            true => Ok(()),
            false => self.owner(id),
        }
    }

    /// The right to create something in a schema; of a temporary object, the right to create such.
    fn create_in(&self, schema: &str) -> Result<()> {
        if is_temporary_schema(schema) {
            let demand = Demand::All(Guarded::Database, Rights::TEMPORARY);
            return match self.guard.permits(self.role, &demand) {
                true => Ok(()),
                false => Err(refused(format!(
                    "permission denied to create temporary tables in database \"{}\"",
                    session_settings::database()
                ))),
            };
        }
        match self.guard.schema(schema) {
            Some(schema) => self.rights(Guarded::Object(schema.id), Rights::CREATE),
            None => Ok(()),
        }
    }

    /// The right to use the types of columns that come.
    fn types(&self, columns: &[ColumnDef]) -> Result<()> {
        columns.iter().try_for_each(|column| match column.domain_id() {
            Some(domain) => self.rights(Guarded::Object(domain), Rights::USAGE),
            None => self.type_of(column.ty),
        })
    }

    /// The right to use a type.
    fn type_of(&self, ty: LogicalType) -> Result<()> {
        match ty.element().unwrap_or(ty).enumeration() {
            Some(of) => self.rights(Guarded::Object(ObjectId(of.id())), Rights::USAGE),
            None => Ok(()),
        }
    }

    fn alter_table(&self, table: ObjectId, actions: &[AlterAction]) -> Result<()> {
        self.owner(table)?;
        for action in actions {
            match action {
                AlterAction::SetSchema { schema } => self.create_in(schema)?,
                AlterAction::RenameTable { .. } => self.rename(table)?,
                AlterAction::AddConstraint(constraint) => self.references(constraint)?,
                AlterAction::SetType(set) => self.type_of(set.ty)?,
                AlterAction::AddColumn { column } => self.types(std::slice::from_ref(column))?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The right to refer to the columns of another table.
    fn references(&self, constraint: &NewConstraint) -> Result<()> {
        match &constraint.kind {
            NewConstraintKind::ForeignKey(key) => match key.parent {
                Some(parent) => self.parent(parent, &key.parent_columns),
                None => Ok(()),
            },
            NewConstraintKind::PrimaryKey { .. }
            | NewConstraintKind::Unique { .. }
            | NewConstraintKind::Check { .. } => Ok(()),
        }
    }

    /// The right to refer to columns of a table by their names, or to its primary key.
    fn parent(&self, parent: ObjectId, names: &[String]) -> Result<()> {
        let Some(table) = self.guard.table_by_id(parent) else {
            return Ok(());
        };
        let key = table
            .indexes
            .iter()
            .find(|index| index.unique && index.constraint.is_some());
        let positions: Vec<usize> = match names.is_empty() {
            true => key
                .iter()
                .flat_map(|index| index.keys.iter().map(|key| key.column))
                .collect(),
            false => names
                .iter()
                .filter_map(|name| table.schema.index_of(name))
                .collect(),
        };
        self.columns(parent, Rights::REFERENCES, &positions)
    }

    /// A right on a table, or on columns of it.
    fn columns(&self, table: ObjectId, right: Rights, positions: &[usize]) -> Result<()> {
        let of = Guarded::Object(table);
        let has = |of: Guarded| self.guard.permits(self.role, &Demand::All(of, right));
        let mut keys = positions
            .iter()
            .map(|position| self.guard.column_key(table, *position));
        match has(of) || !positions.is_empty() && keys.all(|key| key.is_some_and(has)) {
            true => Ok(()),
            false => Err(self.guard.denied(of)),
        }
    }

    /// Another name for a relation or type needs its owner, who may create in its schema.
    fn rename(&self, id: ObjectId) -> Result<()> {
        self.owner(id)?;
        if self.guard.schema_of(id).is_some() {
            return self.rights(Guarded::Database, Rights::CREATE);
        }
        match self.guard.relation_of(id) {
            Some(relation) => {
                let schema = self.guard.qualified(relation.namespace(), "").schema;
                self.create_in(&schema)
            }
            None => Ok(()),
        }
    }

    /// A relation, sequence or index that is dropped, if it is there.
    fn drop(&self, name: &QualifiedName) -> Result<()> {
        let relation = self.guard.relation(name).map(|relation| relation.id());
        let sequence = || self.guard.sequence(name).map(|sequence| sequence.id);
        let index = || self.guard.index(name).map(|index| index.id);
        let found = relation.or_else(sequence).or_else(index);
        match (found, self.guard.schema(&name.schema)) {
            (Some(id), Some(schema)) => self.owner_or_schema(id, schema.id),
            _ => Ok(()),
        }
    }

    fn comment(&self, target: &CommentTarget) -> Result<()> {
        let guard = self.guard;
        let of = match target {
            CommentTarget::Database => Some(Guarded::Database),
            CommentTarget::Schema(name) => guard.schema(name).map(|schema| Guarded::Object(schema.id)),
            CommentTarget::Relation(_, name)
            | CommentTarget::Column(name, _)
            | CommentTarget::Constraint(_, name) => {
                let relation = guard.relation(name).map(|relation| relation.id());
                let sequence = || guard.sequence(name).map(|sequence| sequence.id);
                let index = || guard.index(name).map(|index| index.id);
                relation.or_else(sequence).or_else(index).map(Guarded::Object)
            }
            CommentTarget::Type(name, _) | CommentTarget::DomainConstraint(_, name) => {
                guard.user_type(name).map(|entry| Guarded::Object(entry.id))
            }
        };
        let is_column = matches!(target, CommentTarget::Column(..));
        match of {
            Some(of) if is_column && !guard.permits(self.role, &Demand::Ownership(of)) => Err(refused(
                format!("must be owner of relation {}", guard.guarded_name(of)),
            )),
            Some(of) => guard.check_owner(self.role, of),
            None => Ok(()),
        }
    }

    /// LOCK TABLE: the rights on rows that the mode keeps from others.
    fn lock(&self, lock: &LockTable) -> Result<()> {
        let writes = Rights::UPDATE | Rights::DELETE | Rights::TRUNCATE;
        let any = match lock.mode {
            LockMode::AccessShare => writes | Rights::INSERT | Rights::SELECT,
            LockMode::RowShare | LockMode::RowExclusive => writes | Rights::INSERT,
            LockMode::ShareUpdateExclusive
            | LockMode::Share
            | LockMode::ShareRowExclusive
            | LockMode::Exclusive
            | LockMode::AccessExclusive => writes,
        };
        for table in &lock.tables {
            let of = Guarded::Object(table.table);
            if !self.guard.permits(self.role, &Demand::Any(of, any)) {
                return Err(self.guard.denied(of));
            }
        }
        Ok(())
    }
}
