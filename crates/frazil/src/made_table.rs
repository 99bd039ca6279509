//! Tables outside of every catalog, made of rows that a statement reads: system tables and files.

use frazil_catalog::{QualifiedName, TableOptions};
use frazil_storage::{Conflict, NewRows, Store, TableSnapshot};
use frazil_types::string_ref::INLINE_BYTES;
use frazil_types::{Cancel, ColumnVector, NativeType, Reservation, Result, RowBatch, Schema};
use std::sync::Arc;
use std::time::Duration;

/// A table of these rows. The memory of their strings is added to `memory`, if it is given. 53200 over the budget.
pub fn make(
    name: &str,
    schema: Schema,
    rows: Vec<RowBatch>,
    mut memory: Option<&mut Reservation>,
    cancel: &Cancel,
) -> Result<Arc<TableSnapshot>> {
    let store = Store::unshared();
    let mut transaction = store.begin(Duration::ZERO, cancel)?;
    let entry = transaction.create_table(
        QualifiedName::in_public(name),
        Arc::new(schema),
        TableOptions::default(),
    )?;
    for batch in rows {
        cancel.check()?;
        if let Some(memory) = &mut memory {
            memory.grow(string_bytes(&batch))?;
        }
        let rows = NewRows::of(&batch);
        transaction.writer(entry.id)?.insert(&rows, Conflict::Fail)?;
    }
    transaction.commit()?;
    Ok(store.snapshot().table(entry.id)?.clone())
}

/// Bytes of the strings that a table stores apart from their columns.
fn string_bytes(rows: &RowBatch) -> usize {
    let strings = rows.columns.iter().filter(|c| c.native() == NativeType::String);
    let of_column = |column: &ColumnVector| -> usize {
        let lengths = (0..rows.rows).map(|row| column.string(row).len());
        lengths.filter(|length| *length > INLINE_BYTES).sum()
    };
    strings.map(of_column).sum()
}
