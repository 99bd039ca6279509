//! What becomes of the rows of INSERT and DELETE.
//!
//! Their pipelines end in a [`RowBuffer`](crate::RowBuffer), as a statement never sees its own effects and may fail
//! half-way: only when all rows are known do they enter the one writing transaction.

use frazil_storage::Transaction;
use frazil_types::{ColumnVector, ObjectId, Result, RowBatch, RowId};

/// Appends the rows; returns how many. Error 23502 for NULL in a NOT NULL column: then the transaction
/// may hold earlier batches, and the caller rolls back to where the statement began.
pub fn insert(transaction: &mut Transaction, table: ObjectId, batches: &[RowBatch]) -> Result<u64> {
    let mut rows = 0;
    for batch in batches {
        transaction.append(table, batch)?;
        rows += batch.rows as u64;
    }
    Ok(rows)
}

/// Deletes rows by their ids; returns how many there were that had not been deleted before.
pub fn delete(transaction: &mut Transaction, table: ObjectId, row_ids: &[i64]) -> Result<u64> {
    let rows: Vec<RowId> = row_ids.iter().map(|&id| RowId::from_bigint(id)).collect();
    transaction.delete(table, &rows)
}

/// Deletes the rows whose ids are the only column of each batch.
pub fn delete_batches(transaction: &mut Transaction, table: ObjectId, batches: &[RowBatch]) -> Result<u64> {
    let ids = batches.iter().flat_map(|b| b.columns.first());
    let ids: Vec<i64> = ids.flat_map(ColumnVector::values::<i64>).copied().collect();
    delete(transaction, table, &ids)
}
