//! The experiment `locks`: the cost of claims and table locks that meet nobody. Scale factor 1 is a million rows.

use super::trials::{self, Metrics, Trial};
use crate::report::Report;
use frazil_locks::{Locks, Mode, Owner, TableMode};
use frazil_types::{CHUNK_ROWS, MemoryBudget, ObjectId, Result, RowId};
use std::hint::black_box;

/// Rows at scale factor 1.
const ROWS: f64 = 1e6;
const TABLE: ObjectId = ObjectId(1);

/// Names of the figures.
const PER_ROW: Metrics = Metrics {
    ns: "ns_per_row",
    cycles: "cycles_per_row",
    events: [
        "instructions_per_row",
        "counted_cycles_per_row",
        "cache_misses_per_row",
        "branch_misses_per_row",
    ],
};

/// Runs the experiment: each case `runs` times.
pub fn run(name: &'static str, runs: usize, scale_factor: f64) -> Result<Report> {
    let count = (ROWS * scale_factor.min(1.0)).max(1000.0) as u64;
    let locks = Locks::new(MemoryBudget::unlimited());
    let trial = |case: &str, work: fn(&Locks, u64)| {
        let locks = locks.clone();
        Trial {
            case: case.to_owned(),
            units: count as f64,
            work: Box::new(move || work(&locks, count)),
        }
    };
    let trials = vec![
        trial("claim/one_by_one", one_by_one),
        trial("claim/transaction_each", transaction_each),
        trial("claim/kept", kept),
        trial("claim/by_chunk", by_chunk),
        trial("lock/table", table_locks),
    ];
    let mut report = Report::default();
    for outcome in trials::run(runs, trials) {
        outcome.add_to(&mut report, name, PER_ROW);
    }
    for case in ["claim/one_by_one", "claim/transaction_each", "claim/by_chunk"] {
        report.compare(case, "claim/kept", PER_ROW.ns);
    }
    Ok(report)
}

/// One transaction claims a row and gives it back, row by row.
fn one_by_one(locks: &Locks, count: u64) {
    let claims = locks.claims(TABLE);
    let mut owner = locks.begin();
    let mark = owner.mark();
    for row in 0..count {
        let _ = black_box(claims.claim(RowId(row), Mode::Update, &owner));
        owner.free_since(mark);
    }
}

/// A transaction for each row.
fn transaction_each(locks: &Locks, count: u64) {
    let claims = locks.claims(TABLE);
    for row in 0..count {
        let owner = locks.begin();
        let _ = black_box(claims.claim(RowId(row), Mode::Update, &owner));
    }
}

/// One transaction claims all rows, one by one.
fn kept(locks: &Locks, count: u64) {
    let claims = locks.claims(TABLE);
    let owner = locks.begin();
    for row in 0..count {
        let _ = black_box(claims.claim(RowId(row), Mode::Update, &owner));
    }
}

/// One transaction claims all rows, chunk by chunk.
fn by_chunk(locks: &Locks, count: u64) {
    let claims = locks.claims(TABLE);
    let owner = locks.begin();
    let offsets: Vec<u16> = (0..count.min(CHUNK_ROWS as u64))
        .map(|offset| offset as u16)
        .collect();
    for chunk in 0..count.div_ceil(CHUNK_ROWS as u64) {
        let _ = black_box(claims.claim_all(chunk as u32, &offsets, Mode::Update, &owner));
    }
}

/// A transaction locks a table that others write, and gives it back.
fn table_locks(locks: &Locks, count: u64) {
    let others: Vec<Owner> = (0..100).map(|_| locks.begin()).collect();
    for other in &others {
        let _ = black_box(other.lock_table(TABLE, TableMode::RowExclusive));
    }
    let mut owner = locks.begin();
    let mark = owner.mark();
    for _ in 0..count {
        let _ = black_box(owner.lock_table(TABLE, TableMode::RowExclusive));
        owner.free_since(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_measured() {
        let shown = run("locks", 2, 0.0001).unwrap().to_string();
        for case in ["one_by_one", "transaction_each", "kept", "by_chunk", "table"] {
            assert!(shown.contains(case), "{shown}");
        }
    }
}
