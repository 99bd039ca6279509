//! Temporary objects of a store: their definition by a transaction, and their fate at its end and at that of the
//! session. The essay on why nobody needs to be kept away is the catalog's (`catalog/src/temporary.rs`).

use crate::log::Acknowledge;
use crate::store::Store;
use crate::transaction::Transaction;
use frazil_catalog::{Catalog, OnCommit, is_temporary_schema};
use frazil_types::{Cancel, ObjectId, Result};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

impl Transaction {
    /// Prepares a definition in a schema: nobody else changes the catalog from now on. A schema of temporary objects is
    /// made instead, if it does not exist. The errors of [`Transaction::define`].
    pub(crate) fn define_in(&mut self, schema: &str) -> Result<()> {
        if !is_temporary_schema(schema) {
            return self.define();
        }
        match self.view().catalog().create_temporary_schema(schema) {
            Some(_) => {
                self.store().drop_abandoned();
                let made = self.view().catalog().create_temporary_schema(schema);
                made.map_or(Ok(()), |catalog| self.set_catalog(catalog))
            }
            None => Ok(()),
        }
    }

    /// As [`Transaction::define`], unless an object, or the schema of a new one, is temporary: nobody else changes
    /// that.
    pub(crate) fn define_with(&mut self, object: ObjectId) -> Result<()> {
        match object.is_temporary() {
            true => Ok(()),
            false => self.define(),
        }
    }

    /// Writes down that it goes over to another version of the catalog. An internal error, and nothing is written
    /// down, if recovery would refuse that version.
    pub(crate) fn note_catalog(&mut self, after: &Catalog) -> Result<()> {
        let Some(log) = self.log() else { return Ok(()) };
        let before = self.view().catalog().clone();
        let change = match before.has_temporary() || after.has_temporary() {
            true if after.has_lasting_of(&before) => {
                self.redo().leave_out();
                return Ok(());
            }
            true => log.catalog_change(&before.lasting(), &after.lasting())?,
            false => log.catalog_change(&before, after)?,
        };
        self.redo().catalog(&change);
        Ok(())
    }

    /// Sets the fate of a temporary table at the end of a transaction.
    pub fn set_on_commit(&mut self, table: ObjectId, on_commit: OnCommit) -> Result<()> {
        let (catalog, entry) = self.view().catalog().set_on_commit(table, on_commit)?;
        self.set_catalog(catalog)?;
        self.redefine(entry)
    }

    /// Drops a schema of temporary objects with all that is in it, if there is one.
    pub fn drop_temporary_schema(&mut self, name: &str) -> Result<()> {
        let dropped = self.view().catalog().drop_temporary_schema(name);
        self.go_over_to_dropped(dropped)
    }

    fn go_over_to_dropped(&mut self, dropped: Option<(Catalog, Vec<ObjectId>)>) -> Result<()> {
        let Some((catalog, relations)) = dropped else {
            return Ok(());
        };
        self.set_catalog(catalog)?;
        for id in relations {
            self.remove_table(id);
        }
        Ok(())
    }

    /// Does at the end of the transaction what ON COMMIT says of the temporary tables that it wrote to. Views that read
    /// a table, and foreign keys that refer to it, go with the table.
    pub(crate) fn end_temporary(&mut self) -> Result<()> {
        let written: Vec<ObjectId> = self
            .memory()
            .own
            .iter()
            .map(|(id, _)| *id)
            .filter(|id| id.is_temporary())
            .collect();
        let fate = |id: &ObjectId| {
            let table = self.view().catalog().table_by_id(*id)?;
            Some((*id, table.on_commit))
        };
        let mut tables: Vec<(ObjectId, OnCommit)> = written.iter().filter_map(fate).collect();
        tables.dedup_by_key(|(id, _)| *id);
        for (id, on_commit) in tables {
            match on_commit {
                OnCommit::Preserve => {}
                OnCommit::Delete => self.truncate(id)?,
                OnCommit::Drop => {
                    let dropped = self.view().catalog().drop_temporary_table(id)?;
                    self.go_over_to_dropped(dropped)?;
                    self.follow_catalog()?;
                }
            }
        }
        Ok(())
    }
}

impl Store {
    /// Drops the schema of temporary objects of a session that has ended. If somebody writes alone, that is done when
    /// the next session ends or begins to have such objects.
    pub fn abandon_temporary(self: &Arc<Store>, schema: &str) {
        self.abandoned().push(schema.to_string());
        self.drop_abandoned();
    }

    fn abandoned(&self) -> MutexGuard<'_, Vec<String>> {
        self.abandoned.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Drops the schemas of sessions that have ended. Those that cannot be dropped without waiting stay.
    fn drop_abandoned(self: &Arc<Store>) {
        let schemas = std::mem::take(&mut *self.abandoned());
        if !schemas.is_empty() && self.drop_schemas_at_once(&schemas).is_err() {
            self.abandoned().extend(schemas);
        }
    }

    fn drop_schemas_at_once(self: &Arc<Store>, schemas: &[String]) -> Result<()> {
        let mut transaction = self.begin(Duration::ZERO, &Cancel::new())?;
        for schema in schemas {
            transaction.drop_temporary_schema(schema)?;
        }
        transaction.commit_as(Acknowledge::Placed).map(drop)
    }
}
