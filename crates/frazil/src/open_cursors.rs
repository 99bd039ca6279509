//! Definitions of tables that open cursors of the session read: they are refused, as in PostgreSQL.

use crate::query::Runner;
use frazil_storage::Transaction;
use frazil_types::{Error, ObjectId, Result, SqlState};

/// 55006 if a cursor of the session reads a table. `what`: the statement.
pub fn refuse_open(runner: &Runner, transaction: &Transaction, table: ObjectId, what: &str) -> Result<()> {
    if !runner
        .cursors()
        .iter()
        .any(|cursor| cursor.tables.contains(&table))
    {
        return Ok(());
    }
    let entry = transaction.view().catalog().table_by_id(table);
    let name = entry.map_or("", |entry| entry.name.as_str());
    let message =
        format!("cannot {what} \"{name}\" because it is being used by active queries in this session");
    Err(Error::new(SqlState::OBJECT_IN_USE, message).with_hint("CLOSE closes the cursor that reads it"))
}
