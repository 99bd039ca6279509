//! Whole rows of lineitem by their ids, in no order, by k: what row layout is for.

use super::{COLUMN, LINEITEM, Out, Plan, in_turns};
use frazil_catalog::{QualifiedName, TableOptions};
use frazil_storage::{Conflict, NewRows, RowFetch, Store};
use frazil_tpch::Table;
use frazil_types::{Cancel, Error, Result, RowId};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows fetched in one call, and calls of a run.
const ROWS: usize = 1024;
const CALLS: usize = 16;
const METRIC: &str = "ns_per_row";

/// Measures it.
pub fn run(out: &mut Out, plan: &Plan, scale: f64, runs: usize) -> Result<()> {
    let store = Store::new();
    let mut transaction = store.begin(Duration::ZERO, &Cancel::new())?;
    let mut tables = Vec::new();
    for &k in plan.lineitem_ks {
        let options = TableOptions {
            pax_rows: k as u32,
            ..TableOptions::default()
        };
        let schema = Arc::new(Table::Lineitem.schema());
        tables.push(
            transaction
                .create_table(QualifiedName::in_public(format!("t{k}")), schema, options)?
                .id,
        );
    }
    for batch in frazil_tpch::generate(Table::Lineitem, LINEITEM * scale, 1, 1) {
        for &table in &tables {
            let rows = NewRows::of(&batch);
            transaction.writer(table)?.insert(&rows, Conflict::Fail)?;
        }
    }
    let snapshot = transaction.snapshot();
    let mut fetches = Vec::new();
    for &table in &tables {
        fetches.push(RowFetch::new(snapshot.table(table)?));
    }
    // Chunks are numbered from 0 and full but for the last: a row's number is its id.
    let count = match tables.first() {
        Some(&table) => snapshot.table(table)?.rows(),
        None => return Err(Error::internal("no k to fetch rows by")),
    };
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let found = in_turns(tables.len(), runs, |i| {
        let mut spent = Duration::ZERO;
        for _ in 0..CALLS {
            let ids: Vec<RowId> = (0..ROWS)
                .map(|_| {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    RowId((random >> 11) % count)
                })
                .collect();
            let begun = Instant::now();
            black_box(fetches[i].fetch(&ids)?);
            spent += begun.elapsed();
        }
        Ok(spent.as_secs_f64() * 1e9 / (ROWS * CALLS) as f64)
    })?;
    let case = |k: usize| format!("row_fetch/k_{k}");
    let names: Vec<String> = plan.lineitem_ks.iter().map(|&k| case(k)).collect();
    for (name, values) in names.iter().zip(found) {
        out.measured(name.clone(), METRIC, "ns", values);
    }
    out.judge("row_fetch", &names, METRIC);
    for &k in plan.lineitem_ks.iter().filter(|k| **k != COLUMN) {
        out.report.compare(&case(k), &case(COLUMN), METRIC);
    }
    Ok(())
}
