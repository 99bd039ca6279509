//! Tables outside of every catalog, made of rows that a statement reads: system tables and files.

use frazil_catalog::{QualifiedName, TableOptions};
use frazil_storage::{Conflict, NewRows, Store, TableSnapshot};
use frazil_types::{Cancel, Result, RowBatch, Schema};
use std::sync::Arc;
use std::time::Duration;

/// A table of these rows.
pub fn make(name: &str, schema: Schema, rows: Vec<RowBatch>, cancel: &Cancel) -> Result<Arc<TableSnapshot>> {
    let store = Store::unshared();
    let mut transaction = store.begin(Duration::ZERO, cancel)?;
    let entry = transaction.create_table(
        QualifiedName::in_public(name),
        Arc::new(schema),
        TableOptions::default(),
    )?;
    for batch in rows {
        cancel.check()?;
        let rows = NewRows::of(&batch);
        transaction.writer(entry.id)?.insert(&rows, Conflict::Fail)?;
    }
    transaction.commit()?;
    Ok(store.snapshot().table(entry.id)?.clone())
}
