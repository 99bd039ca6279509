//! What a transaction defines: tables, views, indexes and types come, change and go. Each makes the next version of the
//! catalog, and of the tables concerned one that has their new entry. Nobody else changes the catalog meanwhile
//! ([`Transaction::define`]), and nobody writes to these tables ([`Transaction::lock_whole`]). Others write to other
//! tables. The few definitions whose tables are not known in advance keep all writers away ([`Transaction::alone`]).

use crate::snapshot::{Table, TableSnapshot};
use crate::table_options;
use crate::transaction::Transaction;
use frazil_catalog::{
    AlterAction, AlterType, Catalog, CopiedComments, Domain, DropIndexes, DropOwned, DropRelations,
    DropSchemas, DropTypes, IndexEntry, NewComment, NewIndex, NewSchema, NewTable, NewView, QualifiedName,
    RenameObject, RoleId, TableEntry, TableOptions, is_temporary_schema,
};
use frazil_locks::TableMode;
use frazil_types::{Cancel, ColumnDef, Error, MemoryBudget, ObjectId, Result, Schema};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The foreign keys of a table, each with its parent.
fn keys_of(child: &TableEntry) -> BTreeSet<(ObjectId, ObjectId)> {
    let keys = child.foreign_keys();
    keys.map(|(constraint, key)| (constraint.id, key.parent))
        .collect()
}

impl Transaction {
    /// Creates a table without constraints: see [`Transaction::create`].
    pub fn create_table(
        &mut self,
        name: impl Into<QualifiedName>,
        schema: Arc<Schema>,
        options: TableOptions,
    ) -> Result<Arc<TableEntry>> {
        self.create(NewTable {
            name: name.into(),
            schema,
            options,
            constraints: Vec::new(),
        })
    }

    /// Creates a table. A column of a type that is only an expression's is refused: 0A000. 22023 for options that its columns
    /// cannot have; the errors of [`Catalog::create`].
    pub fn create(&mut self, new: NewTable) -> Result<Arc<TableEntry>> {
        self.define_in(&new.name.schema)?;
        let columns = &new.schema.columns;
        // System tables have columns of regproc and its like; the catalog refuses them to statements.
        let is_refused = |c: &&ColumnDef| !c.ty.info().is_stored && !c.ty.kind().is_named_oid();
        if let Some(column) = columns.iter().find(is_refused) {
            return Err(Error::unsupported(format!(
                "column \"{}\" of type {}",
                column.name, column.ty
            )));
        }
        let options = table_options::checked(new.options, &new.schema)?;
        let (catalog, entry) = self.view().catalog().create(NewTable { options, ..new })?;
        self.lock_parents(entry.id, &keys_of(&entry))?;
        self.set_catalog(catalog)?;
        self.add_table(TableSnapshot::empty(Table::new(entry.clone(), 0)));
        Ok(entry)
    }

    /// Changes how a table's rows are to be held: rows that are written or frozen from now on. What there is
    /// stays as it is. 22023 for options that its columns cannot have.
    pub fn set_options(&mut self, table: ObjectId, options: TableOptions) -> Result<()> {
        self.define_with(table)?;
        self.lock_table(table, TableMode::Share)?;
        let options = table_options::checked(options, self.view().table(table)?.schema())?;
        let (catalog, entry) = self.view().catalog().set_options(table, options)?;
        self.set_catalog(catalog)?;
        self.redefine(entry)
    }

    /// Does an action of ALTER TABLE: see [`Catalog::alter_table`]. The index of a key that comes is built, with the errors of
    /// [`TableSnapshot::build_indexes`]. Whether the rows allow what else is asked of them must have been seen before.
    pub fn alter_table(
        &mut self,
        table: ObjectId,
        action: AlterAction,
        cancel: &Cancel,
    ) -> Result<Arc<TableEntry>> {
        self.define_with(table)?;
        self.lock_whole(table, TableMode::AccessExclusive)?;
        let before = keys_of(self.view().table(table)?.table().entry());
        let (catalog, entry) = self.view().catalog().alter_table(table, action)?;
        let after = keys_of(&entry);
        self.lock_parents(table, &before.symmetric_difference(&after).copied().collect())?;
        self.redefine_indexes(entry.clone(), cancel)?;
        self.set_catalog(catalog)?;
        self.follow_catalog()?;
        Ok(entry)
    }

    /// Removes all rows of a table. Its chunks are freed with the last snapshot that shows them.
    pub fn truncate(&mut self, table: ObjectId) -> Result<()> {
        self.lock_whole(table, TableMode::AccessExclusive)?;
        self.redo().truncate_table(table);
        self.table_mut(table)?.clear();
        Ok(())
    }

    /// Creates a schema; see [`Catalog::create_schema`].
    pub fn create_schema(&mut self, new: &NewSchema) -> Result<()> {
        self.define()?;
        let catalog = self.view().catalog().create_schema(new)?;
        self.set_catalog(catalog)
    }

    /// Goes over to a version of the catalog in which roles, owners or privileges are others.
    pub fn change_access<T>(&mut self, change: impl FnOnce(&Catalog) -> Result<(Catalog, T)>) -> Result<T> {
        self.define()?;
        let (catalog, told) = change(self.view().catalog())?;
        self.set_catalog(catalog)?;
        Ok(told)
    }

    /// Drops the objects and privileges of roles; see [`Catalog::drop_owned`].
    pub fn drop_owned(&mut self, by: RoleId, drop: &DropOwned) -> Result<()> {
        self.alone()?;
        let (catalog, ids) = self.view().catalog().drop_owned(by, drop)?;
        for id in &ids {
            self.lock_whole(*id, TableMode::AccessExclusive)?;
        }
        self.set_catalog(catalog)?;
        self.forget_tables(ids);
        self.follow_catalog()
    }

    /// Gives the objects that are not in `before` to a role; see [`Catalog::adopted`].
    pub fn adopt(&mut self, before: &Catalog, owner: RoleId) -> Result<()> {
        match self.view().catalog().adopted(before, owner) {
            Some(catalog) => self.set_catalog(catalog),
            None => Ok(()),
        }
    }

    /// Sets or removes a comment; see [`Catalog::set_comment`].
    pub fn set_comment(&mut self, new: &NewComment) -> Result<()> {
        self.define()?;
        let catalog = self.view().catalog().set_comment(new)?;
        self.set_catalog(catalog)
    }

    /// Gives a new table the comments of what was copied into it; see [`Catalog::copy_comments`].
    pub fn copy_comments(&mut self, table: &TableEntry, copied: &CopiedComments) -> Result<()> {
        let catalog = self.view().catalog().copy_comments(table, copied)?;
        self.set_catalog(catalog)
    }

    /// Drops schemas; see [`Catalog::drop_schemas`]. The chunks of their tables are freed with the last snapshot that
    /// shows them.
    pub fn drop_schemas(&mut self, drop: &DropSchemas) -> Result<()> {
        self.alone()?;
        let (catalog, ids) = self.view().catalog().drop_schemas(drop)?;
        self.set_catalog(catalog)?;
        self.forget_tables(ids);
        self.follow_catalog()
    }

    /// Gives an object another name or schema; see [`Catalog::rename`].
    pub fn rename(&mut self, renamed: &RenameObject) -> Result<()> {
        self.define_with(renamed.id())?;
        let (catalog, table) = self.view().catalog().rename(renamed)?;
        let lock = |entry: &Arc<TableEntry>| self.lock_whole(entry.id, TableMode::AccessExclusive);
        table.as_ref().map_or(Ok(()), lock)?;
        self.set_catalog(catalog)?;
        table.map_or(Ok(()), |entry| self.redefine(entry))
    }

    /// Creates a view or replaces its query; see [`Catalog::create_view`].
    pub fn create_view(&mut self, view: NewView) -> Result<()> {
        self.define_in(&view.name.schema)?;
        let catalog = self.view().catalog().create_view(view)?;
        self.set_catalog(catalog)
    }

    /// Creates a materialized view without rows; see [`Catalog::create_materialized`].
    pub fn create_materialized(&mut self, view: NewView) -> Result<Option<Arc<TableEntry>>> {
        self.define_in(&view.name.schema)?;
        let Some((catalog, entry)) = self.view().catalog().create_materialized(view)? else {
            return Ok(None);
        };
        self.set_catalog(catalog)?;
        self.add_table(TableSnapshot::empty(Table::new(entry.clone(), 0)));
        Ok(Some(entry))
    }

    /// Removes all rows of a materialized view, and notes whether those that come are its query's. Queries go on with
    /// the rows that they see.
    pub fn refresh(&mut self, table: ObjectId, is_populated: bool) -> Result<()> {
        self.define_with(table)?;
        self.lock_whole(table, TableMode::Exclusive)?;
        if let Some((catalog, entry)) = self.view().catalog().set_populated(table, is_populated)? {
            self.set_catalog(catalog)?;
            self.redefine(entry)?;
        }
        self.redo().truncate_table(table);
        self.table_mut(table)?.clear();
        Ok(())
    }

    /// Creates an enumeration; see [`Catalog::create_type`].
    pub fn create_type(&mut self, name: &QualifiedName, labels: &[String]) -> Result<()> {
        self.define()?;
        let catalog = self.view().catalog().create_type(name, labels)?;
        self.set_catalog(catalog)
    }

    /// Does an action of ALTER TYPE; see [`Catalog::alter_type`]. Rows stay as they are.
    pub fn alter_type(&mut self, id: ObjectId, action: &AlterType) -> Result<()> {
        self.alone()?;
        let (catalog, tables) = self.view().catalog().alter_type(id, action)?;
        self.set_catalog(catalog)?;
        tables.into_iter().try_for_each(|entry| self.redefine(entry))
    }

    /// Creates a domain; see [`Catalog::create_domain`].
    pub fn create_domain(&mut self, name: &QualifiedName, domain: Domain) -> Result<()> {
        self.define()?;
        let catalog = self.view().catalog().create_domain(name, domain)?;
        self.set_catalog(catalog)
    }

    /// Drops types; see [`Catalog::drop_types`].
    pub fn drop_types(&mut self, drop: &DropTypes) -> Result<()> {
        self.alone()?;
        let catalog = self.view().catalog().drop_types(drop)?;
        self.set_catalog(catalog)
    }

    /// Drops tables or views; see [`Catalog::drop_relations`]. The chunks of a table are freed with the last snapshot
    /// that shows them.
    pub fn drop_relations(&mut self, drop: &DropRelations) -> Result<()> {
        if drop.names.iter().any(|name| !is_temporary_schema(&name.schema)) {
            self.define()?;
        }
        let (catalog, ids) = self.view().catalog().drop_relations(drop)?;
        for id in &ids {
            self.lock_whole(*id, TableMode::AccessExclusive)?;
            let keys = self.view().catalog().table_by_id(*id).map(|entry| keys_of(entry));
            self.lock_parents(*id, &keys.unwrap_or_default())?;
        }
        self.set_catalog(catalog)?;
        self.forget_tables(ids);
        self.follow_catalog()
    }

    /// Keeps writers away from the parents of foreign keys of a table that come or go: those that began before do not
    /// know what they have to check.
    fn lock_parents(&mut self, child: ObjectId, keys: &BTreeSet<(ObjectId, ObjectId)>) -> Result<()> {
        let mut parents = keys.iter().map(|(_, parent)| *parent);
        parents.try_for_each(|parent| match parent == child {
            true => Ok(()),
            false => self.lock_whole(parent, TableMode::ShareRowExclusive),
        })
    }

    /// Lets go of the rows of tables that are not in the catalog any more.
    fn forget_tables(&mut self, ids: Vec<ObjectId>) {
        for id in ids {
            self.remove_table(id);
        }
    }

    /// Creates an index over the rows that there are; `None` if one of the name is there and may be. The errors of
    /// [`Catalog::create_index`] and of [`TableSnapshot::build_indexes`].
    pub fn create_index(&mut self, new: NewIndex, cancel: &Cancel) -> Result<Option<Arc<IndexEntry>>> {
        self.define_with(new.table)?;
        self.lock_whole(new.table, TableMode::Share)?;
        let Some((catalog, table, index)) = self.view().catalog().create_index(new)? else {
            return Ok(None);
        };
        self.redefine_indexes(table, cancel)?;
        self.set_catalog(catalog)?;
        Ok(Some(index))
    }

    /// Adds the hidden columns of an index that is going to be created: see [`Catalog::add_hidden_columns`]. Rows that
    /// there are have NULL in them.
    pub fn add_hidden_columns(&mut self, table: ObjectId, hidden: Vec<ColumnDef>) -> Result<()> {
        self.define_with(table)?;
        self.lock_whole(table, TableMode::Share)?;
        let (catalog, entry) = self.view().catalog().add_hidden_columns(table, hidden)?;
        self.set_catalog(catalog)?;
        self.redefine(entry)
    }

    /// Drops indexes: see [`Catalog::drop_indexes`].
    pub fn drop_indexes(&mut self, drop: &DropIndexes) -> Result<()> {
        if drop.names.iter().any(|name| !is_temporary_schema(&name.schema)) {
            self.define()?;
        }
        let (catalog, ..) = self.view().catalog().drop_indexes(drop)?;
        self.set_catalog(catalog)?;
        self.follow_catalog()
    }

    /// Gives each table the entry that the catalog has of it: constraints of other tables than the one
    /// that a statement names may be gone.
    pub(crate) fn follow_catalog(&mut self) -> Result<()> {
        let catalog = self.view().catalog().clone();
        for entry in catalog.tables() {
            let known = self.view().table(entry.id);
            if known.is_ok_and(|known| !Arc::ptr_eq(known.table().entry(), entry)) {
                self.redefine(entry.clone())?;
            }
        }
        Ok(())
    }

    /// Gives a table another entry.
    pub(crate) fn redefine(&mut self, entry: Arc<TableEntry>) -> Result<()> {
        self.redefine_indexes(entry, &Cancel::new())
    }

    /// Gives a table another entry, and builds the indexes that are new in it. 23505, 54000, 53200, 57014.
    pub(crate) fn redefine_indexes(&mut self, entry: Arc<TableEntry>, cancel: &Cancel) -> Result<()> {
        let id = entry.id;
        let mut next = self.table_mut(id)?.with_entry(entry)?;
        let mut unlimited = MemoryBudget::unlimited().reservation();
        next.build_indexes(cancel, self.held().unwrap_or(&mut unlimited))?;
        *self.table_mut(id)? = next;
        Ok(())
    }

    /// Goes over to another version of the catalog, if it is another. An internal error if recovery would refuse it, or
    /// if others might change the catalog.
    pub(crate) fn set_catalog(&mut self, catalog: Catalog) -> Result<()> {
        if !self.others().is_defining() && !catalog.has_lasting_of(self.view().catalog()) {
            return Err(Error::internal(
                "a transaction changes the catalog beside others that may",
            ));
        }
        if catalog.version() != self.view().catalog().version() {
            self.note_catalog(&catalog)?;
            self.replace_catalog(catalog);
        }
        Ok(())
    }
}
