//! The locks of a transaction on tables and on the catalog. A lock is taken first; then the transaction looks at the
//! newest version, as for rows. In the other order, a definition or a row that came between would not be seen.

use crate::changes;
use crate::other_writers::is_shared_by_writers;
use crate::transaction::Transaction;
use frazil_catalog::{Catalog, TableEntry};
use frazil_locks::{AnyMode, TableMode};
use frazil_types::{Error, ObjectId, Result, SqlState};
use std::sync::Arc;

impl Transaction {
    /// Waits until nobody else changes the catalog, and sees what the last one made of it. Nobody else changes the
    /// catalog until the transaction ends, or returns to a savepoint before. 55P03, 57014, 40P01; 40001 if it sees one
    /// version to its end, whose catalog is not the newest.
    pub fn define(&mut self) -> Result<()> {
        if self.others.is_defining() {
            return Ok(());
        }
        self.others.lock_catalog()?;
        if !self.others.keeps_base() {
            return self.renew();
        }
        let newest = self.store().newest();
        match &self.base {
            Some(base) if !base.catalog.has_lasting_of(&newest.catalog) => Err(self.others.newer()),
            Some(_) | None => Ok(()),
        }
    }

    /// Locks a table before a statement reads anything, and sees what others committed until then. 55P03, 57014, 40P01;
    /// 40001 if the transaction sees one version to its end, and the table was defined otherwise since.
    pub fn lock_table(&mut self, table: ObjectId, mode: TableMode) -> Result<()> {
        match self.take_table(table, mode)? {
            true => self.look_after_lock(table, mode),
            false => Ok(()),
        }
    }

    /// Locks a table as [`Transaction::lock_table`] does, unless somebody is in the way, or waits and came first.
    /// Returns true if the table is locked.
    pub fn try_lock_table(&mut self, table: ObjectId, mode: TableMode) -> Result<bool> {
        if table.is_temporary() || self.others.has_table(table, mode) {
            return Ok(true);
        }
        if !self.others.try_lock_table(table, mode)? {
            return Ok(false);
        }
        self.look_after_lock(table, mode).map(|()| true)
    }

    /// Looks at the newest version once a table is locked. A transaction that began with the visible version goes on
    /// with it, beside others that write rows: it looks at those one by one when it claims them. Whoever kept writers
    /// away before has left that behind.
    fn look_after_lock(&mut self, table: ObjectId, mode: TableMode) -> Result<()> {
        let stays = self.begins_visible && is_shared_by_writers(mode) && self.sees_what_it_follows();
        match self.others.keeps_base() || stays {
            true => self.check_definition(table),
            false => self.renew(),
        }
    }

    /// Locks a table that is going to be another one as a whole. Nobody else writes to the table from now on. 40001 if
    /// others have changed the table since the version that the transaction sees, so that the statement runs again;
    /// 55P03, 57014, 40P01.
    pub fn lock_whole(&mut self, table: ObjectId, mode: TableMode) -> Result<()> {
        self.take_table(table, mode)?;
        match self.base.as_ref().filter(|base| !self.store().is_newest(base)) {
            Some(base) if !changes::is_as_it_was(&self.store().newest(), base, table) => {
                Err(self.others.newer())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Locks a table. Returns false if the transaction had the lock, or if no other session sees the table.
    pub(crate) fn take_table(&mut self, table: ObjectId, mode: TableMode) -> Result<bool> {
        if table.is_temporary() {
            return Ok(false);
        }
        let taken = self.others.lock_table(table, mode);
        taken.map_err(|error| match error.state() {
            SqlState::LOCK_NOT_AVAILABLE => {
                let message = "canceling statement due to lock timeout";
                let name = self.name_of(table);
                Error::new(SqlState::LOCK_NOT_AVAILABLE, message)
                    .with_detail(format!(
                        "The statement waited for a lock {} on table \"{name}\".",
                        AnyMode::Table(mode)
                    ))
                    .with_hint("end the transaction in the way, or raise lock_timeout")
            }
            _ => error,
        })
    }

    /// The name of a table for messages.
    fn name_of(&self, table: ObjectId) -> String {
        match self.view().table(table) {
            Ok(version) => version.table().name().to_owned(),
            Err(_) => table.0.to_string(),
        }
    }

    /// 40001 if a table, or what its rows are checked against, is defined otherwise in the newest version than in the
    /// one that the transaction began with.
    pub(crate) fn check_definition(&self, id: ObjectId) -> Result<()> {
        let Some(base) = self.base.as_ref().filter(|base| !self.store().is_newest(base)) else {
            return Ok(());
        };
        let newest = self.store().newest();
        let is_same = match (base.tables.get(id.0), newest.tables.get(id.0)) {
            (Some(base), Some(now)) => Arc::ptr_eq(base.indexes(), now.indexes()),
            (Some(_), None) => false,
            (None, _) => true,
        };
        match is_same && is_defined_alike(&base.catalog, &newest.catalog, id) {
            true => Ok(()),
            false => Err(self.others.newer()),
        }
    }
}

/// True if two catalogs define a table alike, and what its rows are checked against: its constraints, those of tables
/// that refer to it, and types.
fn is_defined_alike(before: &Arc<Catalog>, now: &Arc<Catalog>, id: ObjectId) -> bool {
    if Arc::ptr_eq(before, now) {
        return true;
    }
    let is_same_table = match (before.table_by_id(id), now.table_by_id(id)) {
        (Some(before), Some(now)) => Arc::ptr_eq(before, now),
        (before, now) => before.is_none() && now.is_none(),
    };
    let children = |catalog: &Arc<Catalog>| -> Vec<*const TableEntry> {
        let references = catalog.references_to(id).into_iter();
        references.map(|reference| Arc::as_ptr(reference.child)).collect()
    };
    let mut types = before.types().zip(now.types());
    is_same_table
        && children(before) == children(now)
        && before.types().count() == now.types().count()
        && types.all(|(before, now)| Arc::ptr_eq(before, now))
}
