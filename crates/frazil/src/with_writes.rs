//! A statement with WITH queries that write: all read one snapshot, each runs to its end, once, whether it is read or
//! not, and the others see of it what its RETURNING shows.

use crate::bound_plans;
use crate::bundle::{Bundle, TypedBy};
use crate::made_table;
use crate::query::Runner;
use crate::row_sink::Delivery;
use crate::rows::{Outcome, Response};
use frazil_frontend::{Last, WithWrite};
use frazil_storage::Transaction;
use frazil_types::{ColumnDef, ColumnVector, Result, Schema};

/// Runs the queries, then the statement.
pub fn run(
    runner: &Runner,
    transaction: &mut Transaction,
    (writes, last): (Vec<WithWrite>, Last),
    bundle: Bundle,
    to: Delivery<'_>,
) -> Result<Response> {
    // The changes of the first ones are undone if a later one has to run again.
    transaction.guard_statement();
    // Each is compiled when those before it have run: it is planned for what they returned.
    let again = || Bundle {
        tables: bundle.tables.clone(),
        parameters: bundle.parameters.clone(),
        text: bundle.text.clone(),
        types: bundle.types.clone(),
        guessed: bundle.guessed.clone(),
        hidden: bundle.hidden.clone(),
        typed_by: TypedBy::Run,
        ..bundle
    };
    // Memory of the rows that the queries return.
    let mut memory = runner.budget().reservation();
    for write in writes {
        let response = bound_plans::write_plan(runner, transaction, write.plan, again(), &mut None)?;
        if let Outcome::Rows(rows) = response.outcome {
            // Two columns may have one name, which a table's do not.
            let columns = rows.schema().columns.iter().enumerate();
            let columns = columns.map(|(at, column)| ColumnDef::new(format!("c{at}"), column.ty));
            let schema = Schema::new(columns.collect());
            let batches = rows.batches().to_vec();
            let values = batches.iter().flat_map(|batch| &batch.columns);
            memory.grow(values.map(ColumnVector::bytes).sum())?;
            let returned =
                made_table::make(&write.name, schema, batches, Some(&mut memory), runner.cancel())?;
            bundle.tables.set_returned(write.table, returned)?;
        }
    }
    match last {
        Last::Query(plan) => {
            // Rows may be handed over while they are computed.
            transaction.settle()?;
            bound_plans::read(runner, plan, again(), &mut None, to)
        }
        Last::Write(plan) => bound_plans::write_plan(runner, transaction, plan, again(), &mut None),
    }
}
