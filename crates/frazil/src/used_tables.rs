//! Tables that the session itself uses: definitions of them are refused, as in PostgreSQL.

use crate::session_view::ListedCursor;
use frazil_catalog::Catalog;
use frazil_storage::Transaction;
use frazil_types::{Error, ObjectId, Result, SqlState};
use std::sync::Arc;

/// The reason why a table is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// A cursor reads it.
    Cursor,
    /// Checks of its rows were put off.
    Checks,
}

/// The tables that cursors of the session read, and those whose rows wait for deferred checks.
#[derive(Clone, Debug, Default)]
pub struct UsedTables(Vec<(ObjectId, Use)>);

impl UsedTables {
    /// The tables of a session with these cursors. `transaction`: its transaction, if that wrote.
    pub fn of(cursors: &[Arc<ListedCursor>], transaction: Option<&Transaction>) -> UsedTables {
        let read = cursors.iter().flat_map(|cursor| cursor.tables.iter().copied());
        let mut used: Vec<(ObjectId, Use)> = read.map(|table| (table, Use::Cursor)).collect();
        if let Some(transaction) = transaction {
            used.extend(UsedTables::put_off(transaction).0);
        }
        UsedTables(used)
    }

    /// The tables whose rows wait for checks that the transaction put off.
    pub fn put_off(transaction: &Transaction) -> UsedTables {
        let mut tables: Vec<ObjectId> = transaction.deferred().tables().collect();
        tables.sort_unstable();
        tables.dedup();
        UsedTables(tables.into_iter().map(|table| (table, Use::Checks)).collect())
    }

    /// 55006 if a table is used. `what`: the statement, which would move or drop rows.
    pub fn refuse(&self, catalog: &Catalog, table: ObjectId, what: &str) -> Result<()> {
        let Some((_, reason)) = self.0.iter().find(|(used, _)| *used == table) else {
            return Ok(());
        };
        let entry = catalog.table_by_id(table);
        let name = entry.map_or("", |entry| entry.name.as_str());
        let (reason, hint) = match reason {
            Use::Cursor => (
                "it is being used by active queries in this session",
                "CLOSE closes the cursor that reads it",
            ),
            Use::Checks => (
                "it has pending trigger events",
                "SET CONSTRAINTS ALL IMMEDIATE does the checks",
            ),
        };
        let message = format!("cannot {what} \"{name}\" because {reason}");
        Err(Error::new(SqlState::OBJECT_IN_USE, message).with_hint(hint))
    }

    /// 55006 if a table is used that is in one version of the catalog and not in a later one.
    pub fn refuse_gone(&self, before: &Catalog, after: &Catalog) -> Result<()> {
        let is_gone = |table| before.table_by_id(table).is_some() && after.table_by_id(table).is_none();
        let mut gone = self.0.iter().filter(|(table, _)| is_gone(*table));
        gone.try_for_each(|(table, _)| self.refuse(before, *table, "DROP TABLE"))
    }
}
