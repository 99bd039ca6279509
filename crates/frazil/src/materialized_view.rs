//! Materialized views. REFRESH runs the query of the view and replaces all rows in one transaction. Queries that began
//! before see the old rows.

use crate::ddl::refuse_frame;
use crate::own_queries::view_rows;
use crate::query::Runner;
use crate::row_checks;
use crate::system_tables;
use frazil_catalog::NewView;
use frazil_storage::Transaction;
use frazil_types::{Error, ObjectId, Result};

/// CREATE MATERIALIZED VIEW. With IF NOT EXISTS an existing relation of the name stays. `has_data` is false for WITH NO
/// DATA. Returns the number of its rows, `None` if none were computed. 42939, and 0A000 for a view that reads a frame.
pub fn create(
    runner: &Runner,
    transaction: &mut Transaction,
    view: NewView,
    has_data: bool,
) -> Result<Option<u64>> {
    system_tables::refuse_name(&view.name.name)?;
    refuse_frame(&view, "a materialized view")?;
    match transaction.create_materialized(view)? {
        Some(entry) if has_data => refresh(runner, transaction, entry.id, true).map(Some),
        Some(_) | None => Ok(None),
    }
}

/// REFRESH MATERIALIZED VIEW. Returns the number of its rows. 23505 if rows have one key of a unique index, and the
/// errors of the query.
pub fn refresh(
    runner: &Runner,
    transaction: &mut Transaction,
    table: ObjectId,
    has_data: bool,
) -> Result<u64> {
    let entry = transaction.view().table(table)?.table().entry().clone();
    let view = entry
        .as_view()
        .ok_or_else(|| Error::internal("a refresh of a table"))?;
    if !has_data {
        return transaction.refresh(table, false).map(|()| 0);
    }
    let rows = view_rows(runner, transaction.snapshot(), &view)?;
    transaction.refresh(table, true)?;
    let mut count = 0;
    for batch in rows.batches() {
        runner.cancel().check()?;
        count += row_checks::insert(transaction, table, batch, None)?;
    }
    Ok(count)
}
