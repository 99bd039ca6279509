//! Databases that are opened to be read beside one that writes the same directory: what they show is what it has
//! committed.

use crate::{directory, rows, shown, state};
use frazil::{Access, Connection, Database, Opening, SqlState};
use frazil_durability::wal::WalOptions;
use frazil_testkit::{Failure, Random, SimVfs};
use std::path::Path;

const PLACE: &str = "/db";

/// Opens a database whose log has small files, so that many of them come and go.
fn open(sim: &SimVfs, access: Access) -> Connection {
    let log = WalOptions {
        first_file_bytes: 16 << 10,
        most_file_bytes: 32 << 10,
    };
    let opening = Opening {
        log,
        ..Opening::to(access)
    };
    let database = Database::open_over_as(sim.vfs(), Path::new(PLACE), &opening);
    database.unwrap_or_else(|e| panic!("{e:?}")).connect()
}

/// Number of times a reader has read the directory anew.
fn moves(reader: &Connection) -> u64 {
    rows(reader, "select moves from frazil_wal")
        .parse()
        .expect("a number")
}

fn assert_sound(reader: &Connection) {
    assert_eq!(
        reader.verify().expect("it reads all").findings,
        Vec::<String>::new()
    );
}

#[test]
fn what_is_committed_is_seen_by_the_next_statement() {
    let sim = SimVfs::new(5);
    let writer = open(&sim, Access::Write);
    rows(
        &writer,
        "create table t (k integer primary key, v integer, s text); insert into t values (1, 1, 'one')",
    );
    let readers = [open(&sim, Access::Read), open(&sim, Access::Read)];
    let agree = |sql: &str| {
        let expected = rows(&writer, sql);
        for reader in &readers {
            assert_eq!(rows(reader, sql), expected, "{sql}");
        }
        expected
    };
    let done = |sql: &str| drop(rows(&writer, sql));
    assert_eq!(agree("select * from t"), "1|1|one");
    done("insert into t values (2, 2, 'two'), (3, 3, null)");
    assert_eq!(agree("select v from t where k = 3"), "3");
    done("update t set v = v + 10 where k < 3; delete from t where k = 3");
    assert_eq!(agree("select * from t order by k"), "1|11|one\n2|12|two");
    done("create index on t (v); create view w as select sum(v) as n from t");
    assert_eq!(agree("select k from t where v = 12"), "2");
    assert_eq!(agree("select n from w"), "23");
    done("drop view w");
    done("alter table t add c integer default 7; insert into t values (4, 4, 'four', 44)");
    assert_eq!(agree("select k, c from t order by k"), "1|7\n2|7\n4|44");
    done("alter table t alter v type bigint; insert into t values (5, 5000000000, 'five', 55)");
    assert_eq!(agree("select k from t where v = 5000000000"), "5");
    // Values are logged some at a time, so that a reader sees what a crash would leave.
    done("create sequence q; select nextval('q')");
    for reader in &readers {
        assert_eq!(rows(reader, "select last_value >= 1 from q"), "t");
    }
    done("alter table t rename to r; alter table r drop column c");
    assert_eq!(agree("select count(*) from r"), "4");
    done("create table u as select k, v from r");
    assert_eq!(agree("select count(*) from u"), "4");
    done("freeze table r; checkpoint; delete from r where k = 1; insert into r values (6, 6, 'six')");
    assert_eq!(agree("select * from r order by k").lines().count(), 4);
    done("truncate r; insert into r values (1, 1, 'again')");
    assert_eq!(agree("select * from r where k = 1"), "1|1|again");
    done("drop table u; create table u (a integer); insert into u values (3)");
    assert_eq!(agree("select * from u"), "3");
    // A change that is rolled back is never seen.
    done("begin; insert into r values (9, 9, '')");
    assert_eq!(rows(&readers[0], "select count(*) from r"), "1");
    done("rollback");
    agree("select count(*) from r");
    for reader in &readers {
        assert_sound(reader);
        assert_eq!(moves(reader), 0);
        assert_eq!(
            state(reader, "insert into u values (1)"),
            SqlState::READ_ONLY_TRANSACTION
        );
    }
}

#[test]
fn a_transaction_that_keeps_its_version_keeps_it_and_others_do_not() {
    let sim = SimVfs::new(5);
    let writer = open(&sim, Access::Write);
    rows(
        &writer,
        "create table t (k integer primary key, v integer); insert into t select i, 0 from generate_series(1, 1000) i",
    );
    let reader = open(&sim, Access::Read);
    let other = reader.database().connect();
    let sum = "select count(*), sum(v) from t";
    rows(&reader, "begin isolation level repeatable read");
    assert_eq!(rows(&reader, sum), "1000|0");
    rows(
        &other,
        "begin; declare c cursor for select v from t; fetch 1 from c",
    );
    for turn in 1..=20 {
        rows(
            &writer,
            "update t set v = v + 1; delete from t where k = (select max(k) from t); freeze table t; checkpoint",
        );
        assert_eq!(rows(&reader, sum), "1000|0");
        assert_eq!(rows(&reader, "select v from t where k = 1000"), "0");
        let now = rows(&writer, sum);
        assert_eq!(rows(&other, sum), now, "turn {turn}");
    }
    assert_eq!(rows(&other, "fetch all from c").lines().count(), 999);
    rows(&reader, "commit");
    assert_eq!(rows(&reader, sum), rows(&writer, sum));
    assert_sound(&reader);
}

#[test]
fn slots_that_come_in_any_order_are_never_written_under_a_reader() {
    let sim = SimVfs::new(5);
    let writer = open(&sim, Access::Write);
    let others: Vec<Connection> = (0..4).map(|_| writer.database().connect()).collect();
    rows(
        &writer,
        "create table t (k integer primary key, s text); create index on t (s)",
    );
    let reader = open(&sim, Access::Read);
    let old = reader.database().connect();
    let all = "select k, s from t order by k";
    for round in 0..30 {
        for (i, other) in others.iter().enumerate() {
            let key = round * 10 + i;
            let text = "x".repeat(20 + i);
            rows(
                other,
                &format!("begin; insert into t values ({key}, '{text}{key}')"),
            );
        }
        rows(&old, "begin isolation level repeatable read");
        let before = rows(&old, all);
        // The later slots are committed first; the first of all never.
        for i in [3, 1, 2] {
            rows(&others[i], "commit");
            assert_eq!(rows(&reader, all), rows(&writer, all));
            assert_eq!(rows(&old, all), before);
        }
        rows(&others[0], "rollback");
        rows(&writer, &format!("delete from t where k = {}", round * 10 + 2));
        assert_eq!(rows(&reader, all), rows(&writer, all));
        assert_eq!(rows(&old, all), before);
        rows(&old, "commit");
        let text = format!("select k from t where s = '{}{}'", "x".repeat(21), round * 10 + 1);
        assert_eq!(rows(&reader, &text), (round * 10 + 1).to_string());
        if round % 7 == 6 {
            rows(&writer, "checkpoint");
        }
    }
    assert_sound(&reader);
    assert_eq!(moves(&reader), 0);
}

/// Something that a writer does, by chance.
fn step(writer: &Connection, random: &mut Random) -> String {
    let key = random.below(400);
    let more = 1 + random.below(60);
    match random.below(24) {
        0..6 => format!(
            "insert into t (k, v, s) select i, i % 17, 'row ' || i from generate_series({key}, {}) i \
             on conflict (k) do update set v = t.v + 1",
            key + more
        ),
        6..9 => format!("delete from t where k between {key} and {}", key + more),
        9..12 => format!("update t set v = v + 1, s = s || '.' where k % 7 = {}", key % 7),
        12 => "create index if not exists i on t (v)".to_owned(),
        13 => "drop index if exists i".to_owned(),
        14 => "freeze table t".to_owned(),
        15 | 16 => "checkpoint".to_owned(),
        17 => match rows(writer, "select count(*) from u").as_str() {
            "0" => format!(
                "insert into u select i, repeat('y', 100) from generate_series(1, {}) i",
                100 * more
            ),
            _ => "truncate u".to_owned(),
        },
        18 => "drop table u; create table u (a integer, b text)".to_owned(),
        19 => format!("alter table t drop column if exists c; alter table t add c integer default {key}"),
        20 => "begin; delete from t; rollback".to_owned(),
        21 => format!(
            "begin; update t set v = {key} where k = {key}; insert into u values ({key}, null); commit"
        ),
        22 => "begin; savepoint a; delete from u; rollback to a; insert into u values (1, 'one'); commit"
            .to_owned(),
        _ => "select nextval('q')".to_owned(),
    }
}

/// One writer and readers that look now and then; some sleep through checkpoints.
fn history(seed: u64, steps: u64) -> (u64, u64) {
    let mut random = Random::new(seed);
    let sim = SimVfs::new(seed);
    let mut writer = open(&sim, Access::Write);
    rows(
        &writer,
        "set max_wal_size = off; create table t (k integer primary key, v integer, s text); create sequence q; \
         create table u (a integer, b text)",
    );
    let mut readers: Vec<Connection> = (0..3).map(|_| open(&sim, Access::Read)).collect();
    let (mut looks, mut moved) = (0, 0);
    for at in 0..steps {
        let sql = step(&writer, &mut random);
        rows(&writer, &sql);
        if random.below(60) == 0 {
            // The writer goes, and comes back.
            writer.database().clone().close().expect("it closes");
            writer = open(&sim, Access::Write);
            rows(&writer, "set max_wal_size = off");
        }
        for (nth, reader) in readers.iter_mut().enumerate() {
            if random.below([1, 6, 60][nth]) != 0 {
                continue;
            }
            looks += 1;
            for sql in [
                "select * from t order by k",
                "select count(*), sum(a), min(b) from u",
                "select k from t where v = 5 order by k",
                "select v from t where k = 77",
            ] {
                assert_eq!(
                    rows(reader, sql),
                    rows(&writer, sql),
                    "seed {seed}, step {at}: {sql}"
                );
            }
            if random.below(10) == 0 {
                assert_sound(reader);
            }
            if random.below(30) == 0 {
                moved += moves(reader);
                *reader = open(&sim, Access::Read);
            }
        }
    }
    moved += readers.iter().map(moves).sum::<u64>();
    (looks, moved)
}

#[test]
fn histories_are_followed() {
    let (mut looks, mut moved) = (0, 0);
    for seed in 0..3 {
        let (some, times) = history(seed, 90);
        looks += some;
        moved += times;
    }
    println!("{looks} looks, {moved} moves");
    assert!(moved > 0, "nobody slept through a checkpoint");
}

#[test]
fn a_commit_that_a_checkpoint_has_in_the_place_of_the_log_is_seen() {
    let path = directory("following-whole");
    let writer = Database::open(&path).expect("it opens").connect();
    rows(
        &writer,
        "create table t (k integer, s text); insert into t values (0, '')",
    );
    let reader = Database::open_read_only(&path).expect("it opens").connect();
    let sum = "select count(*), sum(k), max(length(s)) from t";
    assert_eq!(rows(&reader, sum), rows(&writer, sum));
    rows(
        &writer,
        "set frazil.freeze_after = off; begin; \
         insert into t select i, repeat('z', 1000) || i from generate_series(1, 3000) i",
    );
    rows(
        &writer,
        "update t set s = s || 'u'; commit; insert into t values (-1, null)",
    );
    assert_eq!(rows(&reader, sum), rows(&writer, sum));
    rows(&writer, "update t set k = k + 1");
    assert_eq!(rows(&reader, sum), rows(&writer, sum));
    drop((reader, writer));
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn rows_that_were_followed_become_the_blocks_of_a_checkpoint() {
    let sim = SimVfs::new(5);
    let writer = open(&sim, Access::Write);
    rows(
        &writer,
        "set max_wal_size = off; set frazil.freeze_after = off; create table t (k integer primary key, s text)",
    );
    let reader = open(&sim, Access::Read);
    let hot = "select count(distinct chunk) from frazil_blocks where table_name = 't' and encoding = 'hot'";
    let (mut next, mut most) = (0, 0);
    for round in 0..6 {
        for _ in 0..12 {
            let last = next + 3_999;
            rows(
                &writer,
                &format!("insert into t select i, 'row ' || i from generate_series({next}, {last}) i"),
            );
            next = last + 1;
            assert_eq!(
                rows(&reader, "select count(*), max(k) from t"),
                format!("{next}|{last}")
            );
        }
        rows(
            &writer,
            &format!("delete from t where k = {round}; insert into t values ({round}, 'again')"),
        );
        // Rows that come to slots of a block later than it was written keep their chunk hot.
        rows(
            &writer,
            "freeze table t; checkpoint; insert into t values (-1, ''); delete from t where k = -1",
        );
        let sum = "select count(*), sum(k), sum(length(s)) from t";
        assert_eq!(rows(&reader, sum), rows(&writer, sum));
        most = most.max(rows(&reader, hot).parse().expect("a number"));
        let key = "select s from t where k = 4711";
        assert_eq!(rows(&reader, key), "row 4711");
    }
    assert!(most <= 3, "{most} hot chunks");
    assert_sound(&reader);
    assert_eq!(moves(&reader), 0);
}

#[test]
fn what_cannot_be_read_is_an_error_and_is_read_by_the_next_statement() {
    let sim = SimVfs::new(5);
    let writer = open(&sim, Access::Write);
    rows(
        &writer,
        "set max_wal_size = off; create table t (k integer primary key, s text); create table u (a integer)",
    );
    let reader = open(&sim, Access::Read);
    let sum = "select count(*), sum(k), max(s) from t";
    let (mut failed, mut answered) = (0, 0);
    for turn in 0..60 {
        let first = turn * 100;
        rows(
            &writer,
            &format!(
                "insert into t select i, repeat('z', 50) || i from generate_series({first}, {first} + 60) i"
            ),
        );
        match turn % 4 {
            0 => drop(rows(&writer, "checkpoint; insert into u values (1)")),
            1 => drop(rows(&writer, "drop table u; create table u (a integer)")),
            _ => {}
        }
        let expected = rows(&writer, sum);
        sim.fail_at(sim.operations() + turn % 30, Failure::Undone);
        match reader.execute(sum) {
            Ok(response) => {
                assert_eq!(shown(response.outcome), expected);
                answered += 1;
            }
            Err(error) => {
                assert_eq!(error.state(), SqlState::IO_ERROR, "{error}");
                failed += 1;
            }
        }
        sim.heal();
        assert_eq!(rows(&reader, sum), expected);
        assert_eq!(
            rows(&reader, &format!("select k from t where k = {first}")),
            first.to_string()
        );
    }
    assert!(
        failed > 10 && answered > 10,
        "{failed} failed, {answered} did not"
    );
    assert_sound(&reader);
}

#[test]
fn a_reader_may_be_told_to_look_less_often() {
    let sim = SimVfs::new(5);
    let writer = open(&sim, Access::Write);
    rows(&writer, "create table t (k integer)");
    let reader = open(&sim, Access::Read);
    assert_eq!(rows(&reader, "show read_lag"), "0");
    rows(&reader, "set read_lag = '1h'; select count(*) from t");
    rows(&writer, "insert into t values (1)");
    assert_eq!(rows(&reader, "select count(*) from t"), "0");
    rows(&reader, "set read_lag = 0");
    assert_eq!(rows(&reader, "select count(*) from t"), "1");
    assert_eq!(
        state(&reader, "set read_lag = 'soon'"),
        SqlState::INVALID_PARAMETER
    );
}

#[test]
fn the_writer_may_go_and_come_and_another_database_is_not_taken_for_it() {
    let path = directory("following-gone");
    let other = directory("following-other");
    let writer = Database::open(&path).expect("it opens");
    rows(
        &writer.connect(),
        "create table t (k integer); insert into t values (1)",
    );
    let reader = Database::open_read_only(&path).expect("it opens").connect();
    writer.close().expect("it closes");
    assert_eq!(rows(&reader, "select * from t"), "1");
    let writer = Database::open(&path).expect("nobody is in its way");
    rows(&writer.connect(), "insert into t values (2)");
    assert_eq!(rows(&reader, "select sum(k) from t"), "3");
    writer
        .backup(&other, &frazil::Cancel::new())
        .expect("it is copied");
    writer.close().expect("it closes");
    for name in ["segments", "log"] {
        let _ = std::fs::remove_dir_all(path.join(name));
        if other.join(name).exists() {
            std::fs::rename(other.join(name), path.join(name)).expect("it can be moved");
        }
    }
    std::fs::rename(other.join("manifest"), path.join("manifest")).expect("it can be moved");
    let error = reader
        .execute("select * from t")
        .expect_err("it is another database");
    assert!(error.message().contains("holds another database"), "{error}");
    for path in [path, other] {
        let _ = std::fs::remove_dir_all(path);
    }
}
