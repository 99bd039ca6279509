//! Columns that get values for the rows that there are. An UPDATE is planned and compiled; the values that it
//! computes go beside the rows ([`ColumnFill`]) instead of into new rows. The rows keep their ids, and indexes of
//! other columns their entries.

use crate::bundle::Bundle;
use crate::compiled_statement::{Action, WriteRows};
use crate::query::Runner;
use crate::row_sink::Parts;
use crate::rows::Timing;
use crate::write::{WriteAction, row_ids};
use frazil_plan::{ColumnId, Plan, WriteKind};
use frazil_storage::{ColumnFill, NewRows, Transaction};
use frazil_types::{Error, Result, RowBatch, Schema};
use std::cell::RefCell;
use std::sync::Arc;

/// Takes the rows of a running UPDATE.
struct Filling<'a> {
    action: &'a WriteAction,
    row_id: ColumnId,
    fill: RefCell<ColumnFill>,
}

impl Parts for Filling<'_> {
    fn begin(&self, _schema: &Arc<Schema>) -> Result<()> {
        Ok(())
    }

    fn rows(&self, batch: RowBatch) -> Result<()> {
        let given = self.action.given(batch);
        let checks = given.checks(&self.action.change.checks)?;
        let rows = NewRows {
            batch: &given.values,
            checks: &checks,
        };
        let ids = row_ids(given.column(self.row_id)?);
        self.fill.borrow_mut().take(&ids, &rows)
    }
}

/// Fills the columns that an UPDATE of all rows of a table sets. The columns came with the transaction, which keeps
/// other writers away from the table. 23502, 23514, the errors of the expressions and of building indexes, 53200,
/// 57014.
pub fn fill(runner: &Runner, transaction: &mut Transaction, plan: Plan, bundle: Bundle) -> Result<()> {
    let mut timing = Timing::default();
    let compiled = runner.compile(plan, &bundle, &mut timing)?;
    let Action::Write(action, rows) = &compiled.statement.action else {
        return Err(Error::internal("columns are filled by a query"));
    };
    let WriteKind::Update { row_id, set } = &action.change.kind else {
        return Err(Error::internal("columns are filled by another write than UPDATE"));
    };
    let columns = set.iter().map(|(column, _)| *column).collect();
    let fill = transaction.begin_fill(action.change.table, columns, runner.budget())?;
    let filling = Filling {
        action,
        row_id: *row_id,
        fill: RefCell::new(fill),
    };
    match rows {
        WriteRows::Query(query) => drop(runner.stream(query, bundle, &mut timing, &filling)?),
        WriteRows::Direct(rows) => filling.rows(rows.batch(&{ bundle }.parameters))?,
        WriteRows::Point(_) => return Err(Error::internal("columns are filled for a single row")),
    }
    transaction.end_fill(filling.fill.into_inner(), runner.cancel())
}
