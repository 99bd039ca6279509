//! Enumerations: what becomes of them in transactions, after a cut of the power, in files, and of what needs them.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, RawValue as Value, SqlState};
use frazil_testkit::SimVfs;
use std::path::Path;

/// A type, and a table with it.
const SHIRTS: &str = "create type size as enum ('small', 'large', 'huge'); \
    create table shirt (id integer primary key, s size not null default 'large', all_sizes size[]); \
    insert into shirt values (1, 'huge', '{small,huge}'), (2, 'small', null), (3, default, '{}')";

const ALL: &str = "select id, s, all_sizes from shirt order by s, id";

fn over(sim: &SimVfs) -> Connection {
    let c = Database::open_over(sim.vfs(), Path::new("/db"))
        .expect("it opens")
        .connect();
    rows(&c, "set max_wal_size = off; set checkpoint_timeout = off");
    c
}

#[test]
fn what_a_transaction_does_to_a_type_is_undone_with_it() {
    let database = Database::memory().expect("memory is there");
    let (c, other) = (database.connect(), database.connect());
    rows(&c, SHIRTS);
    rows(
        &c,
        "begin; alter type size add value 'tiny' before 'small'; insert into shirt values (4, 'tiny', '{tiny}')",
    );
    assert_eq!(
        rows(&c, ALL),
        "4|tiny|{tiny}\n2|small|\n3|large|{}\n1|huge|{small,huge}"
    );
    assert_eq!(state(&other, "select 'tiny'::size"), SqlState::INVALID_TEXT);
    rows(&c, "rollback");
    assert_eq!(state(&c, "select 'tiny'::size"), SqlState::INVALID_TEXT);
    assert_eq!(rows(&c, ALL), "2|small|\n3|large|{}\n1|huge|{small,huge}");
    // Another label takes the number that the first one had.
    rows(
        &c,
        "alter type size add value 'mini' before 'small'; insert into shirt values (4, 'mini', null)",
    );
    assert_eq!(rows(&c, "select min(s), max(s) from shirt"), "mini|huge");
    rows(&c, "begin; create type gone as enum ('x'); rollback");
    assert_eq!(state(&c, "select 'x'::gone"), SqlState::UNDEFINED_OBJECT);
    rows(
        &c,
        "begin; savepoint a; alter type size rename value 'mini' to 'tiny'; rollback to a; commit",
    );
    assert_eq!(rows(&c, "select s from shirt where id = 4"), "mini");
}

#[test]
fn types_are_there_after_a_cut_of_the_power() {
    for freeze in [false, true] {
        let sim = SimVfs::new(7);
        let c = over(&sim);
        for sql in [
            SHIRTS,
            if freeze { "freeze table shirt" } else { "select 1" },
            "alter type size add value 'medium' after 'small'",
            "insert into shirt values (4, 'medium', '{medium,NULL}')",
            "create index by_size on shirt (s desc)",
            "create type level as enum ('low'); create view v as select s, 'low'::level as l from shirt",
            "alter type size rename value 'huge' to 'vast'",
            "create type gone as enum ('x')",
            "drop type gone",
            "begin; alter type size add value 'never'; rollback",
        ] {
            rows(&c, sql);
        }
        let wanted = "2|small|\n4|medium|{medium,NULL}\n3|large|{}\n1|vast|{small,vast}";
        let check = |c: &Connection| {
            assert_eq!(rows(c, ALL), wanted);
            assert_eq!(
                rows(c, "select s, l from v where s >= 'large' order by s"),
                "large|low\nvast|low"
            );
            assert_eq!(
                rows(c, "select enum_range(null::size)"),
                "{small,medium,large,vast}"
            );
            assert_eq!(rows(c, "select id from shirt where s = 'vast'"), "1");
            assert_eq!(state(c, "select 'x'::gone"), SqlState::UNDEFINED_OBJECT);
            assert_eq!(state(c, "drop type level"), SqlState::DEPENDENT_OBJECTS);
        };
        check(&c);
        let sim = sim.restart_after_power_cut();
        let c = over(&sim);
        assert_ne!(rows(&c, "select recovered_commits from frazil_wal"), "0");
        check(&c);
        rows(&c, "checkpoint");
        check(&c);
        let sim = sim.restart_after_power_cut();
        let c = over(&sim);
        check(&c);
        // Numbers are not given again.
        rows(
            &c,
            "create type fresh as enum ('y'); drop view v; drop type level",
        );
        assert_eq!(rows(&c, "select 'y'::fresh, enum_last(null::size)"), "y|vast");
        assert_eq!(rows(&c, ALL), wanted);
    }
}

#[test]
fn files_have_labels_as_texts() {
    let folder = directory("enumerations");
    std::fs::create_dir_all(&folder).expect("a directory");
    let c = memory();
    rows(&c, SHIRTS);
    rows(&c, "create table copy (id integer, s size, all_sizes size[])");
    for format in ["csv", "json", "parquet"] {
        let path = folder.join(format!("shirt.{format}"));
        let path = path.display();
        rows(&c, &format!("copy shirt to '{path}' (format {format})"));
        rows(&c, &format!("copy copy from '{path}' (format {format})"));
        assert_eq!(
            rows(&c, "select * from copy order by s, id"),
            rows(&c, ALL),
            "{format}"
        );
        rows(&c, "truncate copy");
    }
    let parquet = folder.join("shirt.parquet");
    assert_eq!(
        rows(
            &c,
            &format!(
                "select pg_typeof(s), max(s) from '{}' group by 1",
                parquet.display()
            )
        ),
        "text|small"
    );
    let wrong = folder.join("wrong.csv");
    std::fs::write(&wrong, "1,small,\n2,tiny,\n").expect("written");
    let copy = format!("copy copy from '{}'", wrong.display());
    assert_eq!(state(&c, &copy), SqlState::INVALID_TEXT);
    assert_eq!(rows(&c, &format!("{copy} (on_error ignore)")), "COPY 1");
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn what_needs_a_type_keeps_it_or_goes_with_it() {
    let c = memory();
    rows(&c, SHIRTS);
    rows(
        &c,
        "create view of_text as select id, s::text as t from shirt; create view casting as select 'huge'::size as s",
    );
    let error = c.execute("drop type size").expect_err("it is needed");
    assert_eq!(error.state(), SqlState::DEPENDENT_OBJECTS);
    assert_eq!(
        error.detail(),
        Some(
            "column all_sizes of table shirt depends on type size\ncolumn s of table shirt depends on type size\n\
             view casting depends on type size"
        )
    );
    assert_eq!(state(&c, "drop type size, nothing"), SqlState::UNDEFINED_OBJECT);
    rows(&c, "begin; drop type size cascade");
    assert_eq!(rows(&c, "select * from shirt order by id"), "1\n2\n3");
    assert_eq!(state(&c, "select * from of_text"), SqlState::UNDEFINED_TABLE);
    rows(&c, "rollback; begin; drop type if exists nothing, size cascade");
    assert_eq!(state(&c, "select * from casting"), SqlState::UNDEFINED_TABLE);
    rows(&c, "rollback");
    assert_eq!(rows(&c, "select * from casting"), "huge");
    assert_eq!(rows(&c, ALL), "2|small|\n3|large|{}\n1|huge|{small,huge}");
    rows(&c, "drop view of_text, casting; drop table shirt; drop type size");
    assert_eq!(state(&c, "drop type size"), SqlState::UNDEFINED_OBJECT);
    assert_eq!(rows(&c, "drop type if exists size"), "DROP TYPE");
}

#[test]
fn a_name_that_a_text_has_stays() {
    let c = memory();
    rows(&c, SHIRTS);
    rows(
        &c,
        "create table checked (s size, check (s > 'small'::size)); create view v as select id from shirt where s = 'huge'",
    );
    for sql in [
        "alter type size rename value 'small' to 'little'",
        "alter type size rename value 'huge' to 'vast'",
        "alter type size rename to width",
    ] {
        assert_eq!(state(&c, sql), SqlState::FEATURE_NOT_SUPPORTED, "{sql}");
    }
    rows(&c, "alter type size rename value 'large' to 'big'");
    assert_eq!(rows(&c, "select s from shirt where id = 3"), "big");
    assert_eq!(
        state(&c, "insert into checked values ('small')"),
        SqlState::CHECK_VIOLATION
    );
    rows(
        &c,
        "drop table checked; drop view v; alter type size rename to \"Width of it\"",
    );
    assert_eq!(
        rows(
            &c,
            "select pg_typeof(s), pg_typeof(all_sizes), 'big'::\"Width of it\" from shirt where id = 1"
        ),
        "\"Width of it\"|\"Width of it\"[]|big"
    );
    assert_eq!(
        state(&c, "create table \"Width of it\" (a integer)"),
        SqlState::DUPLICATE_OBJECT
    );
    assert_eq!(
        state(&c, "create view \"Width of it\" as select 1"),
        SqlState::DUPLICATE_OBJECT
    );
}

#[test]
fn labels_are_parameters_and_keys() {
    let c = memory();
    rows(&c, SHIRTS);
    let text = |text: &str| Value::Text(text.to_string());
    for (given, wanted) in [
        (text("huge"), None),
        (text("tiny"), Some(SqlState::INVALID_TEXT)),
        (Value::Int(1), Some(SqlState::DATATYPE_MISMATCH)),
    ] {
        let found = c.execute_with("select id from shirt where s = $1", &[given]);
        assert_eq!(found.err().map(|e| e.state()), wanted);
    }
    rows(
        &c,
        "create table price (s size primary key, cents integer); insert into price values ('huge', 3), ('large', 2), ('small', 1)",
    );
    assert_eq!(
        state(&c, "insert into price values ('huge', 4)"),
        SqlState::UNIQUE_VIOLATION
    );
    assert_eq!(
        rows(
            &c,
            "insert into price values ('huge', 5) on conflict (s) do update set cents = excluded.cents returning s, cents"
        ),
        "huge|5"
    );
    assert_eq!(rows(&c, "select cents from price where s = 'huge'"), "5");
    assert_eq!(
        rows(&c, "select id, cents from shirt join price using (s) order by id"),
        "1|5\n2|1\n3|2"
    );
    assert_eq!(
        rows(
            &c,
            "prepare p(size) as select cents from price where s = $1; execute p('small')"
        ),
        "1"
    );
    assert_eq!(state(&c, "execute p('tiny')"), SqlState::INVALID_TEXT);
    assert_eq!(state(&c, "select 1::size"), SqlState::CANNOT_COERCE);
    assert_eq!(
        state(&c, "select 'small'::size::integer"),
        SqlState::CANNOT_COERCE
    );
    assert_eq!(state(&c, "select enum_first(1)"), SqlState::UNDEFINED_FUNCTION);
    rows(&c, "create type nothing as enum ()");
    assert_eq!(
        state(&c, "select enum_first(null::nothing)"),
        SqlState::NOT_IN_STATE
    );
    assert_eq!(
        rows(
            &c,
            "select enum_range(null::nothing), enum_range('large'::size, null), enum_range(null, 'large'::size)"
        ),
        "{}|{large,huge}|{small,large}"
    );
}
