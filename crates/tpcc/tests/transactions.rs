//! Databases of TPC-C, small ones with the ratios of the specification: the twelve conditions hold after loading, after
//! transactions, on hot and on frozen rows, and after the process was killed.

use frazil::{Connection, Database, Error, SqlState};
use frazil_tpcc::{
    Broken, CONDITIONS, Driven, Engine, FrazilEngine, Kind, Mix, Pace, Plan, Population, SINCE, Step, TABLES,
    Table, Until, Watch, broken_conditions, drive, load,
};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The directory of the database that a process of its own writes to.
const DIRECTORY: &str = "FRAZIL_TPCC_TEST";

const SMALL: Population = Population {
    warehouses: 2,
    items: 1_000,
    customers: 30,
};

fn filled(database: &Database, population: &Population) -> Connection {
    let connection = database.connect();
    let mut tables = 0;
    load(&connection, population, &mut |loading| {
        tables += usize::from(loading.is_complete);
        assert!(loading.rows > 0);
        Ok(())
    })
    .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(tables, TABLES.len());
    connection
}

fn plan(terminals: usize, mix: Mix, transactions: u64) -> Plan {
    Plan {
        terminals,
        mix,
        pace: Pace::AtOnce,
        until: Until::Transactions(transactions),
        seed: 42,
        now: SINCE + 1_000_000,
    }
}

fn driven(database: &Database, population: &Population, plan: &Plan) -> Driven {
    let engine = FrazilEngine::new(database);
    drive(&engine, population, plan, &Watch::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn assert_consistent(connection: &Connection, when: &str) {
    let broken = broken_conditions(connection).unwrap_or_else(|e| panic!("{e}"));
    assert!(broken.is_empty(), "{when}: {}", listed(&broken));
}

fn listed(broken: &[Broken]) -> String {
    broken.iter().map(|broken| format!("{broken}\n")).collect()
}

fn number(connection: &Connection, sql: &str) -> i64 {
    let row = connection
        .query_row(sql, ())
        .unwrap_or_else(|e| panic!("{sql}: {e}"));
    row.get::<Option<i64>>(0)
        .unwrap_or_else(|e| panic!("{sql}: {e}"))
        .unwrap_or(0)
}

fn freeze_all(connection: &Connection) {
    for table in TABLES {
        let sql = format!("freeze table {}", table.name());
        connection.execute(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}

#[test]
fn a_new_database_is_consistent_and_knows_its_sizes() {
    let database = Database::memory().expect("it opens");
    let population = Population::reduced(2, 100);
    let connection = filled(&database, &population);
    assert_consistent(&connection, "after loading");
    assert_eq!(Population::of(&connection).expect("it is filled"), population);
    let rows: i64 = (TABLES.iter())
        .map(|table| number(&connection, &format!("select count(*) from {}", table.name())))
        .sum();
    let wanted = population.rows() as f64;
    assert!(
        (rows as f64 / wanted - 1.0).abs() < 0.05,
        "{rows} rows, about {wanted} were wanted"
    );
    // Seven orders of ten are delivered.
    let waiting = number(&connection, "select count(*) from new_order");
    assert_eq!(waiting, 2 * 10 * 9);
}

#[test]
fn conditions_hold_after_transactions_on_hot_and_on_frozen_rows() {
    let database = Database::memory().expect("it opens");
    let connection = filled(&database, &SMALL);
    let hot = driven(&database, &SMALL, &plan(1, Mix::Standard, 230));
    assert_consistent(&connection, "hot");
    let counts = Kind::ALL.map(|kind| hot.tally.of(kind).latencies.count());
    assert_eq!(counts, [100, 100, 10, 10, 10]);
    assert_eq!(hot.tally.repeated(), 0);
    assert!(number(&connection, "select max(d_next_o_id) from district") > 31);
    freeze_all(&connection);
    driven(&database, &SMALL, &plan(1, Mix::Standard, 115));
    assert_consistent(&connection, "frozen");
    freeze_all(&connection);
    let reading = driven(&database, &SMALL, &plan(2, Mix::ReadOnly, 20));
    assert_eq!(reading.tally.transactions(), 40);
    assert_eq!(reading.tally.of(Kind::StockLevel).latencies.count(), 20);
    let verified = connection.verify().expect("it reads all rows");
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}

#[test]
fn conditions_hold_after_terminals_that_worked_side_by_side() {
    let database = Database::memory().expect("it opens");
    let connection = filled(&database, &SMALL);
    let before = number(&connection, "select sum(d_next_o_id) from district");
    let driven = driven(&database, &SMALL, &plan(6, Mix::Standard, 92));
    assert_consistent(&connection, "after six terminals");
    assert_eq!(driven.tally.transactions(), 6 * 92);
    let orders = driven.tally.of(Kind::NewOrder);
    let committed = orders.latencies.count() - orders.rolled_back;
    let after = number(&connection, "select sum(d_next_o_id) from district");
    assert_eq!(after - before, committed as i64);
}

/// A warehouse without orders that wait has nothing to deliver.
#[test]
fn deliveries_end_when_nothing_waits() {
    let database = Database::memory().expect("it opens");
    let population = Population {
        warehouses: 1,
        ..SMALL
    };
    let connection = filled(&database, &population);
    connection
        .execute("delete from new_order where no_o_id > 23")
        .expect("it deletes");
    connection
        .execute("update orders set o_carrier_id = 1 where o_id > 23")
        .expect("it updates");
    driven(&database, &population, &plan(1, Mix::Standard, 46));
    assert_eq!(
        number(&connection, "select count(*) from new_order where no_o_id < 24"),
        0
    );
}

/// Each change breaks the condition of its number, and conditions that say the same.
#[test]
fn conditions_find_what_breaks_them() {
    let changes: [(&str, &str); CONDITIONS] = [
        (
            "1:",
            "update district set d_ytd = d_ytd + 1 where d_w_id = 2 and d_id = 3",
        ),
        (
            "2:",
            "update district set d_next_o_id = d_next_o_id + 1 where d_w_id = 1 and d_id = 3",
        ),
        (
            "3:",
            "delete from new_order where no_w_id = 1 and no_d_id = 1 and no_o_id = 25",
        ),
        (
            "4:",
            "delete from order_line where ol_w_id = 1 and ol_d_id = 1 and ol_o_id = 25 and ol_number = 1",
        ),
        (
            "5:",
            "update orders set o_carrier_id = 3 where o_w_id = 1 and o_d_id = 1 and o_id = 30",
        ),
        (
            "6:",
            "update orders set o_ol_cnt = o_ol_cnt + 1 where o_w_id = 1 and o_d_id = 1 and o_id = 30",
        ),
        (
            "7:",
            "update order_line set ol_delivery_d = null where ol_w_id = 1 and ol_d_id = 1 and ol_o_id = 1",
        ),
        ("8:", "update warehouse set w_ytd = w_ytd - 0.01 where w_id = 1"),
        (
            "9:",
            "update history set h_d_id = 2 where h_w_id = 1 and h_d_id = 1 and h_c_id = 7",
        ),
        (
            "10:",
            "update customer set c_balance = c_balance + 1 where c_w_id = 1 and c_d_id = 1 and c_id = 1",
        ),
        (
            "11:",
            "update customer set c_delivery_cnt = 1 where c_w_id = 1 and c_d_id = 1 and c_id = 1",
        ),
        (
            "12:",
            "update customer set c_ytd_payment = 0 where c_w_id = 1 and c_d_id = 1 and c_id = 1",
        ),
    ];
    let database = Database::memory().expect("it opens");
    let connection = filled(&database, &SMALL);
    for (condition, sql) in changes {
        connection.execute("begin").expect("it begins");
        connection.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let broken = broken_conditions(&connection).unwrap_or_else(|e| panic!("{e}"));
        let found = broken
            .iter()
            .any(|broken| broken.condition.starts_with(condition));
        assert!(
            found,
            "{sql} breaks no condition {condition} but {}",
            listed(&broken)
        );
        connection.execute("rollback").expect("it rolls back");
    }
    assert_consistent(&connection, "after all rollbacks");
}

#[test]
fn loading_that_is_stopped_leaves_nothing() {
    let database = Database::memory().expect("it opens");
    let connection = database.connect();
    let stopped = load(
        &connection,
        &Population::reduced(1, 10),
        &mut |loading| match loading.table == Table::Stock {
            true => Err(Error::new(SqlState::QUERY_CANCELED, "stopped")),
            false => Ok(()),
        },
    );
    assert_eq!(
        stopped.expect_err("it was stopped").state(),
        SqlState::QUERY_CANCELED
    );
    assert!(connection.tables().is_empty());
    let error = Population::of(&connection).expect_err("there are no tables");
    assert_eq!(error.state(), SqlState::UNDEFINED_TABLE);
    filled(&database, &SMALL);
    connection.execute("delete from warehouse").expect("it deletes");
    let error = Population::of(&connection).expect_err("there is no warehouse");
    assert_eq!(error.state(), SqlState::NOT_IN_STATE);
    let again = load(&connection, &SMALL, &mut |_| Ok(())).expect_err("the tables are there");
    assert_eq!(again.state(), SqlState::DUPLICATE_TABLE);
    assert_eq!(connection.tables().len(), TABLES.len());
}

#[test]
fn an_error_of_a_terminal_ends_all() {
    let database = Database::memory().expect("it opens");
    let connection = filled(&database, &SMALL);
    connection.execute("drop table history").expect("it drops");
    let engine = FrazilEngine::new(&database);
    let watch = Watch::default();
    let error = drive(&engine, &SMALL, &plan(3, Mix::Standard, 1_000), &watch).expect_err("payments fail");
    assert_eq!(error.state().0, "42P01");
    assert!(watch.is_stopped() && watch.done() < 3_000);
}

/// The process that is killed: it fills a directory, says so, and then says which orders committed.
#[test]
#[ignore = "a process of conditions_hold_after_a_kill"]
fn process_that_is_killed() {
    let directory = PathBuf::from(std::env::var(DIRECTORY).expect("it is set"));
    let database = Database::open(&directory).expect("it opens");
    filled(&database, &SMALL);
    database.checkpoint().expect("it writes");
    println!("\nfilled");
    let watch = Watch::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !watch.is_stopped() {
                println!("\ndone {}", watch.done());
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        let engine = FrazilEngine::new(&database);
        let ended = drive(&engine, &SMALL, &plan(4, Mix::Standard, 1_000_000), &watch);
        watch.stop();
        ended.expect("it is killed before it ends");
    });
}

#[test]
fn conditions_hold_after_a_kill() {
    let directory = std::env::temp_dir().join(format!("frazil-tpcc-{}", std::process::id()));
    let process = std::env::current_exe().expect("it runs");
    let mut child = Command::new(process)
        .args(["--exact", "process_that_is_killed", "--ignored", "--nocapture"])
        .env(DIRECTORY, &directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut done = 0;
    let mut line = String::new();
    while done < 100 {
        line.clear();
        assert_ne!(
            output.read_line(&mut line).expect("it is read"),
            0,
            "the process ended by itself"
        );
        let said = line.trim().strip_prefix("done ");
        done = said.and_then(|count| count.parse().ok()).unwrap_or(done);
    }
    child.kill().and_then(|()| child.wait()).expect("it dies");
    let database = Database::open(&directory).expect("it opens again");
    let connection = database.connect();
    assert_consistent(&connection, "after the kill");
    // Ten of 23 transactions are payments, each with a row of history; four terminals may be in any part of a round.
    let payments = number(&connection, "select count(*) from history") - 2 * 10 * 30;
    assert!(
        payments >= done * 10 / 23 - 4 * 10,
        "{payments} payments of {done} transactions"
    );
    driven(&database, &SMALL, &plan(2, Mix::Standard, 46));
    assert_consistent(&connection, "after further transactions");
    drop(connection);
    database.close().expect("it closes");
    std::fs::remove_dir_all(&directory).expect("it is removed");
}

#[test]
fn sessions_prepare_every_statement() {
    let database = Database::memory().expect("it opens");
    filled(&database, &SMALL);
    let engine = FrazilEngine::new(&database);
    let ran = engine.with_session(&mut |session| {
        session.run(Step::Begin, &[])?;
        session.run(Step::Rollback, &[]).map(drop)
    });
    ran.expect("it runs");
}
