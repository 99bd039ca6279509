//! Statements of READ COMMITTED that others overtake again and again come to their end.
//!
//! A mutant of `src/reruns.rs`: a statement that ran again several times locks no table (`if self.reruns.count >=
//! most {` is never true). [`a_statement_that_is_overtaken_each_time_runs_again_three_times`] notices it.

mod support;

use frazil_storage::{ScanOptions, Store, TableMode, Transaction};
use frazil_types::{Cancel, ColumnDef, Error, LogicalType, ObjectId, Result, RowId, Schema, SqlState, Value};
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;
use support::*;

fn schema() -> Arc<Schema> {
    let columns = ["k", "v"].map(|name| ColumnDef::new(name, LogicalType::Integer).not_null());
    Arc::new(Schema::new(columns.to_vec()))
}

/// A table with the counters 0 to 2, all zero.
fn counters() -> (Arc<Store>, ObjectId) {
    let (store, id) = store_with(schema(), 65_536);
    let mut transaction = begin(&store);
    let rows = (0..3).map(|k| vec![Value::Int(k), Value::Int(0)]);
    insert(&mut transaction, id, &batch(&schema(), &rows.collect::<Vec<_>>()));
    transaction.commit().unwrap();
    (store, id)
}

/// A counter as a transaction sees it.
fn read(transaction: &Transaction, table: ObjectId, k: i128) -> (RowId, i128) {
    let version = transaction.view().table(table).unwrap().clone();
    let rows = scan(&version, &[], ScanOptions::default());
    let (id, row) = rows.into_iter().find(|(_, row)| row[0] == Value::Int(k)).unwrap();
    (id, row[1].as_int().unwrap())
}

/// Adds one to a counter. `before_claim` comes between the look at the row and its claim.
fn step(
    transaction: &mut Transaction,
    (table, k): (ObjectId, i128),
    before_claim: impl FnOnce(),
) -> Result<()> {
    transaction.lock_table(table, TableMode::RowExclusive)?;
    let (row, value) = read(transaction, table, k);
    before_claim();
    transaction.claim(table, &[row])?;
    delete(transaction, table, &[row]);
    let new = vec![Value::Int(k), Value::Int(value + 1)];
    insert(transaction, table, &batch(&schema(), &[new]));
    Ok(())
}

/// A statement of its own that adds one to a counter.
fn overtake(store: &Arc<Store>, at: (ObjectId, i128)) -> Result<u64> {
    let mut other = begin(store);
    other.begin_statement();
    step(&mut other, at, || {})?;
    other.commit()
}

/// Runs a statement that adds one to a counter until it sees everything. `before_claim` gets the number of the run.
fn run(
    transaction: &mut Transaction,
    at: (ObjectId, i128),
    mut before_claim: impl FnMut(usize),
) -> Result<usize> {
    transaction.begin_statement();
    for runs in 1.. {
        match step(transaction, at, || before_claim(runs)) {
            Err(error) if !transaction.runs_again()? => return Err(error),
            Err(_) => assert!(runs < 20, "it runs for ever"),
            Ok(()) => return Ok(runs),
        }
    }
    unreachable!("it runs until it returns")
}

fn is_timeout(error: &Error) -> bool {
    error.state() == SqlState::LOCK_NOT_AVAILABLE
}

#[test]
fn a_statement_that_is_overtaken_each_time_runs_again_three_times() {
    let (store, table) = counters();
    let mut transaction = begin(&store);
    let mut overtaken = 0;
    let runs = run(&mut transaction, (table, 1), |runs| {
        match overtake(&store, (table, 1)) {
            Ok(_) => overtaken += 1,
            // Nobody comes between any more, whatever row is wanted.
            Err(error) => {
                assert!(runs == 4 && is_timeout(&error), "{error:?}");
                assert!(is_timeout(&overtake(&store, (table, 2)).unwrap_err()));
            }
        }
    });
    assert_eq!((runs.unwrap(), overtaken), (4, 3));
    transaction.commit().unwrap();
    overtake(&store, (table, 2)).unwrap();
    let reader = begin(&store);
    assert_eq!([1, 2].map(|k| read(&reader, table, k).1), [4, 1]);
}

/// The next statement of the transaction begins to count anew.
#[test]
fn a_statement_that_is_overtaken_less_often_locks_nobody_out() {
    let (store, table) = counters();
    let mut transaction = begin(&store);
    for k in [0, 1] {
        let runs = run(&mut transaction, (table, k), |runs| {
            if runs <= 2 {
                overtake(&store, (table, k)).unwrap();
            }
        });
        assert_eq!(runs.unwrap(), 3);
    }
    overtake(&store, (table, 2)).unwrap();
}

/// Two statements that were overtaken too often want the stronger lock at the same time. Each gives back its weaker lock
/// before it waits: else one of them would be 40P01.
#[test]
fn of_two_statements_that_want_to_be_alone_each_gets_its_turn() {
    let (store, table) = counters();
    for _ in 0..20 {
        let both_have_lost = Barrier::new(2);
        std::thread::scope(|scope| {
            for k in [0, 1] {
                let (store, both_have_lost) = (&store, &both_have_lost);
                scope.spawn(move || {
                    let mut transaction = begin(store);
                    transaction.set_patience(Duration::from_secs(60), &Cancel::new());
                    let runs = run(&mut transaction, (table, k), |runs| {
                        if runs <= 3 {
                            overtake(store, (table, k)).unwrap();
                        }
                        if runs == 3 {
                            both_have_lost.wait();
                        }
                    });
                    assert!(runs.unwrap() >= 4);
                    transaction.commit().unwrap();
                });
            }
        });
    }
    let reader = begin(&store);
    assert_eq!([0, 1].map(|k| read(&reader, table, k).1), [80; 2]);
}

/// A transaction that has written to the table does not wait for others that have: they may wait for its rows.
#[test]
fn a_transaction_that_holds_rows_is_alone_once_nobody_else_is_there() {
    let (store, table) = counters();
    let mut transaction = begin(&store);
    run(&mut transaction, (table, 0), |_| {}).unwrap();
    let mut open = Some(begin(&store));
    run(open.as_mut().unwrap(), (table, 2), |_| {}).unwrap();
    let mut overtaken = 0;
    let runs = run(&mut transaction, (table, 1), |runs| {
        if runs == 6 {
            open = None;
        }
        match overtake(&store, (table, 1)) {
            Ok(_) => overtaken += 1,
            Err(error) => assert!(is_timeout(&error), "{error:?}"),
        }
    });
    assert_eq!((runs.unwrap(), overtaken), (7, 6));
    transaction.commit().unwrap();
    let reader = begin(&store);
    assert_eq!([0, 1, 2].map(|k| read(&reader, table, k).1), [1, 7, 0]);
}

/// A transaction reads a row FOR UPDATE, which locks its table in ROW SHARE mode, and writes the row while a statement
/// that was overtaken too often wants it, too. *Were SHARE ROW EXCLUSIVE the stronger lock, the statement would have it
/// at once and wait for the row, and the transaction would wait for the table: a deadlock of two writers of one row.*
#[test]
fn who_has_read_a_row_for_update_can_write_it_beside_a_statement_that_wants_to_be_alone() {
    let (store, table) = counters();
    for _ in 0..10 {
        let mut reads = begin(&store);
        let (has_lost, loses) = mpsc::channel();
        let (has_claimed, claims) = mpsc::channel();
        std::thread::scope(|scope| {
            let store = &store;
            let statement = scope.spawn(move || {
                let mut transaction = begin(store);
                transaction.set_patience(Duration::from_secs(60), &Cancel::new());
                let runs = run(&mut transaction, (table, 0), |runs| {
                    if runs <= 3 {
                        overtake(store, (table, 0)).unwrap();
                    }
                    if runs == 3 {
                        has_lost.send(()).unwrap();
                        claims.recv().unwrap();
                    }
                });
                assert_eq!(runs?, 4);
                transaction.commit()
            });
            loses.recv().unwrap();
            reads.set_patience(Duration::from_secs(60), &Cancel::new());
            reads.begin_statement();
            reads.renew().unwrap();
            reads.lock_table(table, TableMode::RowShare).unwrap();
            let (row, _) = read(&reads, table, 0);
            reads.claim(table, &[row]).unwrap();
            has_claimed.send(()).unwrap();
            // The statement waits by then. Were it late, nothing would fail.
            std::thread::sleep(Duration::from_millis(20));
            step(&mut reads, (table, 0), || {}).unwrap();
            reads.commit().unwrap();
            statement.join().unwrap().unwrap();
        });
    }
    let reader = begin(&store);
    assert_eq!(read(&reader, table, 0).1, 50);
}
