//! Loads of whole chunks: their rows are frozen once, and the log names the blocks. They survive whatever comes after them in the log, and
//! nothing is left of those that end otherwise.

use crate::{rows, state};
use frazil::{ColumnVector, Connection, Database, LogicalType, RawValue as Value, RowBatch, SqlState};
use frazil_testkit::{Failure, SimVfs};
use std::ops::Range;
use std::path::Path;

/// Rows of a chunk.
const CHUNK: i64 = 65_536;

/// Opens a database in which nothing happens by itself.
fn try_open(sim: &SimVfs) -> Result<Connection, frazil::Error> {
    let c = Database::open_over(sim.vfs(), Path::new("/db"))?.connect();
    rows(
        &c,
        "set threads = 1; set frazil.freeze_after = off; set max_wal_size = off; set checkpoint_timeout = off",
    );
    Ok(c)
}

fn open(sim: &SimVfs) -> Connection {
    try_open(sim).expect("it opens")
}

/// What a power cut leaves, opened again.
fn after_power_cut(sim: &SimVfs) -> (SimVfs, Connection) {
    let sim = sim.restart_after_power_cut();
    let c = open(&sim);
    (sim, c)
}

/// Rows of numbers and their texts, 1,000 times as small.
fn batch(numbers: Range<i64>) -> RowBatch {
    let ints: Vec<Value> = numbers.clone().map(|n| Value::Int(n.into())).collect();
    let texts: Vec<Value> = numbers
        .map(|n| Value::Text(format!("text {}", n / 1_000)))
        .collect();
    RowBatch {
        rows: ints.len(),
        columns: vec![
            ColumnVector::from_values(LogicalType::Integer, &ints),
            ColumnVector::from_values(LogicalType::Text, &texts),
        ],
    }
}

/// Appends rows in batches of so many.
fn try_load(c: &Connection, table: &str, numbers: Range<i64>, step: i64) -> Result<u64, frazil::Error> {
    let mut appender = c.appender(table)?;
    let mut from = numbers.start;
    while from < numbers.end {
        let to = numbers.end.min(from + step);
        appender.append(batch(from..to))?;
        from = to;
    }
    appender.finish()
}

fn load(c: &Connection, table: &str, numbers: Range<i64>) {
    try_load(c, table, numbers, 30_000).expect("it can be loaded");
}

fn table(c: &Connection, name: &str) {
    rows(c, &format!("create table {name} (a integer not null, b text)"));
}

/// Count, sum and texts of a table.
fn sums(c: &Connection, table: &str) -> String {
    rows(
        c,
        &format!("select count(*), sum(a), count(b), min(b), max(a) from {table}"),
    )
}

fn expected(numbers: Range<i64>) -> String {
    let (count, sum) = (numbers.end - numbers.start, numbers.clone().sum::<i64>());
    let least = numbers.clone().map(|n| format!("text {}", n / 1_000)).min();
    let least = least.unwrap_or_default();
    format!("{count}|{sum}|{count}|{least}|{}", numbers.end - 1)
}

/// The frozen chunks of a table, and their rows.
fn frozen(c: &Connection, table: &str) -> String {
    rows(
        c,
        &format!(
            "select count(*), coalesce(sum(rows), 0) from frazil_blocks where table_name = '{table}' and column_name = 'a' and encoding <> 'hot'"
        ),
    )
}

fn segments(sim: &SimVfs) -> Vec<String> {
    let mut names: Vec<String> = (sim.vfs().list(Path::new("/db/segments")).expect("it is there"))
        .into_iter()
        .map(|name| name.into_string().expect("a name of ours"))
        .collect();
    names.sort();
    names
}

#[test]
fn the_log_names_what_a_load_froze() {
    let sim = SimVfs::new(1);
    let c = open(&sim);
    table(&c, "t");
    rows(&c, "insert into t select 0, 'text 0'");
    load(&c, "t", 1..3 * CHUNK + 100);
    let all = expected(0..3 * CHUNK + 100);
    assert_eq!(sums(&c, "t"), all);
    // The first chunk had a row of another transaction, and the last one is not full.
    assert_eq!(frozen(&c, "t"), format!("2|{}", 2 * CHUNK));
    assert_eq!(rows(&c, "select count(*) from frazil_checkpoints"), "0");
    assert_eq!(segments(&sim).len(), 1);
    let (sim, c) = after_power_cut(&sim);
    assert_eq!(sums(&c, "t"), all);
    assert_eq!(frozen(&c, "t"), format!("2|{}", 2 * CHUNK));
    assert_eq!(
        rows(&c, "select recovered_commits, recovered_rows from frazil_wal"),
        format!("3|{}", 3 * CHUNK + 100)
    );
    // A checkpoint writes what was not written, and no block a second time.
    rows(&c, "checkpoint");
    assert_eq!(rows(&c, "select blocks from frazil_checkpoints"), "2");
    assert_eq!(segments(&sim).len(), 2);
    let (_, c) = after_power_cut(&sim);
    assert_eq!(sums(&c, "t"), all);
    assert_eq!(rows(&c, "select recovered_commits from frazil_wal"), "0");
}

#[test]
fn a_load_is_followed_by_whatever_comes_then() {
    let sim = SimVfs::new(2);
    let c = open(&sim);
    rows(&c, "create table keyed (a integer primary key, b text)");
    rows(&c, "create index keyed_b on keyed (b)");
    load(&c, "keyed", 0..2 * CHUNK);
    rows(&c, "delete from keyed where a % 1000 = 0");
    rows(&c, "update keyed set b = 'new' where a % 1000 = 1");
    for (name, sql) in [
        ("emptied", "truncate emptied"),
        ("dropped", "drop table dropped"),
        ("altered", "alter table altered add column c integer default 7"),
        ("frozen", "freeze table frozen order by a"),
    ] {
        table(&c, name);
        load(&c, name, 0..CHUNK + 10);
        rows(&c, sql);
    }
    load(&c, "emptied", 5..CHUNK + 7);
    rows(&c, "alter table altered drop column b");
    rows(&c, "delete from altered where a < 10");
    let check = |c: &Connection| {
        let (count, sum) = (2 * CHUNK, (0..2 * CHUNK).filter(|a| a % 1_000 != 0).sum::<i64>());
        let gone = (count + 999) / 1_000;
        assert_eq!(
            rows(c, "select count(*), sum(a) from keyed"),
            format!("{}|{sum}", count - gone)
        );
        assert_eq!(
            rows(c, "select count(*) from keyed where b = 'new'"),
            gone.to_string()
        );
        for (key, found) in [(70_000, ""), (70_001, "new"), (70_002, "text 70")] {
            assert_eq!(
                rows(c, &format!("select b from keyed where a = {key}")),
                found,
                "{key}"
            );
        }
        assert_eq!(
            state(c, "insert into keyed values (70002, '')"),
            SqlState::UNIQUE_VIOLATION
        );
        assert_eq!(sums(c, "emptied"), expected(5..CHUNK + 7));
        assert_eq!(sums(c, "frozen"), expected(0..CHUNK + 10));
        assert_eq!(state(c, "select * from dropped"), SqlState::UNDEFINED_TABLE);
        assert_eq!(
            rows(c, "select count(*), min(a), max(c) from altered"),
            format!("{CHUNK}|10|7")
        );
    };
    check(&c);
    let (sim, c) = after_power_cut(&sim);
    check(&c);
    rows(&c, "insert into keyed values (70000, 'again')");
    rows(&c, "delete from keyed where a = 70000; checkpoint");
    // What the log named and nobody has any more is gone with the log.
    let (sim, c) = after_power_cut(&sim);
    check(&c);
    drop(c);
    let c = open(&sim.restart_after_kill());
    check(&c);
}

#[test]
fn a_transaction_names_what_it_keeps() {
    let sim = SimVfs::new(3);
    let c = open(&sim);
    // 256 rows, and a table that is made and filled by the same transaction.
    rows(&c, "create table few (a integer not null, b text)");
    load(&c, "few", 0..256);
    let many = "select x.a * 256 + y.a, 'text ' || (x.a * 256 + y.a) / 1000 from few x, few y";
    rows(
        &c,
        "begin; create table t (a integer not null, b text); insert into t values (-1, 'text 0')",
    );
    rows(&c, "savepoint s");
    rows(&c, &format!("insert into t {many}; rollback to s"));
    rows(&c, "delete from t");
    rows(&c, &format!("insert into t {many} order by 1"));
    rows(&c, "savepoint s");
    rows(
        &c,
        &format!("insert into t select a + 65536, b from ({many}) as m (a, b)"),
    );
    rows(
        &c,
        "rollback to s; delete from t where a = 5; insert into t values (5, 'text 0')",
    );
    rows(&c, "commit");
    assert_eq!(sums(&c, "t"), expected(0..CHUNK));
    // A row without which the chunk is full, and rows that conflict with it.
    rows(
        &c,
        "create table u (a integer primary key, b text); insert into u values (7, 'seven')",
    );
    rows(&c, &format!("insert into u {many} on conflict do nothing"));
    rows(&c, "update u set b = 'text 0' where a = 7");
    assert_eq!(sums(&c, "u"), expected(0..CHUNK));
    assert_eq!(
        state(
            &c,
            &format!("insert into u select a + 65530, b from ({many}) as m (a, b)")
        ),
        SqlState::UNIQUE_VIOLATION
    );
    let left = segments(&sim);
    let (sim, c) = after_power_cut(&sim);
    assert_eq!(segments(&sim), left);
    for name in ["t", "u"] {
        assert_eq!(sums(&c, name), expected(0..CHUNK), "{name}");
    }
    assert_eq!(rows(&c, "select b from u where a = 65535"), "text 65");
}

#[test]
fn rows_too_long_for_a_record_are_frozen_before_their_chunk_is_full() {
    let sim = SimVfs::new(4);
    let c = open(&sim);
    rows(&c, "create table t (a integer, b text)");
    let mut appender = c.appender("t").expect("the table is there");
    let long = "x".repeat(1 << 20);
    for n in 0..150 {
        appender
            .append(RowBatch {
                rows: 1,
                columns: vec![
                    ColumnVector::from_values(LogicalType::Integer, &[Value::Int(n)]),
                    ColumnVector::from_values(LogicalType::Text, &[Value::Text(long.clone())]),
                ],
            })
            .expect("it can be loaded");
    }
    appender.finish().expect("it can be committed");
    let found = "select count(*), sum(a), min(length(b)) from t";
    assert_eq!(rows(&c, found), "150|11175|1048576");
    assert_eq!(rows(&c, "select count(*) from frazil_checkpoints"), "0");
    assert!(frozen(&c, "t").starts_with("2|"), "{}", frozen(&c, "t"));
    let (_, c) = after_power_cut(&sim);
    assert_eq!(rows(&c, found), "150|11175|1048576");
}

#[test]
fn a_load_that_is_given_up_leaves_no_file() {
    let sim = SimVfs::new(5);
    let c = open(&sim);
    table(&c, "t");
    let mut appender = c.appender("t").expect("the table is there");
    appender.append(batch(0..CHUNK + 5)).expect("it can be loaded");
    assert_eq!(segments(&sim).len(), 1);
    drop(appender);
    assert_eq!(segments(&sim), Vec::<String>::new());
    // A process that dies leaves one, which the next open removes.
    let mut appender = c.appender("t").expect("the table is there");
    appender.append(batch(0..CHUNK + 5)).expect("it can be loaded");
    let (killed, other) = {
        let sim = sim.restart_after_kill();
        let other = open(&sim);
        (sim, other)
    };
    assert_eq!(segments(&killed), Vec::<String>::new());
    assert_eq!(rows(&other, "select count(*) from t"), "0");
}

#[test]
fn a_load_survives_the_power_being_cut_anywhere_or_leaves_nothing() {
    // The operations of the load alone.
    let life = |sim: &SimVfs, cut: Option<u64>| -> (u64, bool) {
        let c = open(sim);
        table(&c, "t");
        load(&c, "t", 0..10);
        let begun = sim.operations();
        if let Some(cut) = cut {
            sim.fail_at(begun + cut, Failure::PowerCut);
        }
        let done = try_load(&c, "t", 10..2 * CHUNK, CHUNK).is_ok();
        (sim.operations() - begun, done)
    };
    let (operations, done) = life(&SimVfs::new(6), None);
    assert!(done && operations >= 5, "{operations} operations");
    for cut in 0..operations {
        let sim = SimVfs::new(6 + cut);
        let (_, done) = life(&sim, Some(cut));
        assert!(!sim.struck().is_empty());
        let (sim, c) = after_power_cut(&sim);
        let found = sums(&c, "t");
        let whole = expected(0..2 * CHUNK);
        assert!(
            found == whole || !done && found == expected(0..10),
            "cut {cut}: {found}"
        );
        let named = usize::from(found == whole);
        assert_eq!(segments(&sim).len(), named, "cut {cut}");
        // And once more, before and after a checkpoint.
        let (sim, c) = after_power_cut(&sim);
        assert_eq!(sums(&c, "t"), found);
        load(&c, "t", 2 * CHUNK..4 * CHUNK);
        rows(&c, "checkpoint");
        let (_, c) = after_power_cut(&sim);
        assert_eq!(
            rows(&c, "select count(*) from t where a >= 131072"),
            (2 * CHUNK).to_string()
        );
    }
}

#[test]
fn every_operation_of_a_load_may_fail() {
    for failure in [Failure::Undone, Failure::Done, Failure::Short, Failure::Full] {
        for at in 0.. {
            let sim = SimVfs::new(at);
            let c = open(&sim);
            table(&c, "t");
            sim.fail_at(sim.operations() + at, failure);
            let done = try_load(&c, "t", 0..CHUNK + 10, CHUNK + 10);
            if sim.struck().is_empty() {
                done.expect("nothing failed");
                break;
            }
            let all = expected(0..CHUNK + 10);
            let is_unknown =
                (done.as_ref().err()).is_some_and(|e| e.state() == SqlState::TRANSACTION_RESOLUTION_UNKNOWN);
            if done.is_ok() {
                assert_eq!(sums(&c, "t"), all);
            } else {
                assert_eq!(rows(&c, "select count(*) from t"), "0");
            }
            if !is_unknown && done.is_err() && c.execute("insert into t values (1, '')").is_ok() {
                // It heals.
                rows(&c, "delete from t");
                load(&c, "t", 0..CHUNK + 10);
                assert_eq!(sums(&c, "t"), all);
            }
            let now = rows(&c, "select count(*) from t");
            let (_, c) = after_power_cut(&sim);
            let found = rows(&c, "select count(*) from t");
            let is_whole = found == (CHUNK + 10).to_string();
            assert!(
                found == now || is_unknown && (is_whole || found == "0"),
                "{failure:?} {at}: {found}"
            );
        }
    }
}

#[test]
fn a_block_that_cannot_be_written_takes_no_earlier_one_along() {
    for at in 0.. {
        let sim = SimVfs::new(8 + at);
        let c = open(&sim);
        rows(&c, "create table few (a integer not null, b text)");
        load(&c, "few", 0..256);
        table(&c, "t");
        let many = "from few x, few y";
        rows(&c, "begin");
        // A block of few bytes, which wait to be written.
        rows(&c, &format!("insert into t select 1, 'few' {many}"));
        rows(&c, "savepoint s");
        let sums = |c: &Connection| rows(c, "select count(*), sum(a), count(b), max(b) from t");
        let before = sums(&c);
        sim.fail_at(sim.operations() + at, Failure::Undone);
        let long =
            format!("insert into t select x.a * 256 + y.a, repeat(x.a || y.b || y.a || x.b, 9) {many}");
        let failed = c.execute(&long).err().map(|e| e.state());
        sim.heal();
        if failed.is_none() {
            assert!(at > 0, "nothing was written: {:#?}", sim.trace());
            break;
        }
        assert_eq!(failed, Some(SqlState::IO_ERROR));
        rows(&c, "rollback to s");
        assert_eq!(sums(&c), before);
        rows(&c, "insert into t values (7, 'late'); commit");
        let found = sums(&c);
        let (_, c) = after_power_cut(&sim);
        assert_eq!(sums(&c), found);
    }
}

#[test]
fn damage_of_a_segment_that_the_log_names_is_told() {
    let make = |first: i64| {
        let sim = SimVfs::new(7);
        let c = open(&sim);
        table(&c, "t");
        load(&c, "t", first..first + 2 * CHUNK + 3);
        let name = segments(&sim).remove(0);
        (sim.restart_after_power_cut(), name)
    };
    let refused = |sim: &SimVfs| {
        let error = try_open(sim).and_then(|c| c.execute("select sum(a), max(b) from t").map(drop));
        error.expect_err("it is damaged")
    };
    let (sim, name) = make(200_000);
    let path = Path::new("/db/segments").join(&name);
    let whole = sim.read(&path).expect("it is there");
    // Cut off, changed in the header and in the rows, another file, no file.
    for damage in 0..4 {
        sim.tamper(&path, |bytes| {
            *bytes = whole.clone();
            match damage {
                0 => bytes.truncate(whole.len() / 2),
                1 => bytes[70] ^= 1,
                2 => {
                    let middle = whole.len() / 2;
                    bytes[middle - 500..middle + 500]
                        .iter_mut()
                        .for_each(|byte| *byte ^= 1);
                }
                _ => bytes[..64].fill(b'x'),
            }
        });
        let error = refused(&sim.copy(1));
        assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{damage}: {error:?}");
        assert!(error.message().contains(&name), "{damage}: {error:?}");
        // Nothing is removed.
        assert_eq!(segments(&sim), std::slice::from_ref(&name));
    }
    // The blocks of another load, as large as they are.
    let (other, _) = make(400_000);
    let other = other.read(&path).expect("it is there");
    assert!(other.len() == whole.len() && other != whole);
    sim.tamper(&path, |bytes| *bytes = other);
    let error = refused(&sim.copy(1));
    assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error:?}");
    assert!(
        error.message().contains("not the block that the log names"),
        "{error:?}"
    );
    sim.tamper(&path, |bytes| *bytes = whole.clone());
    assert_eq!(
        sums(&open(&sim.copy(2)), "t"),
        expected(200_000..200_000 + 2 * CHUNK + 3)
    );
    sim.vfs().remove(&path).expect("it is there");
    let error = refused(&sim);
    assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error:?}");
    assert!(error.message().contains(&name), "{error:?}");
}
