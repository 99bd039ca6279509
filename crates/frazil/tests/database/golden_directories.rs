//! Directories of older formats stay readable: those below `tests/golden` were written by the Frazil that wrote their
//! format first. `FRAZIL_WRITE_GOLDEN=1` writes the one of today's format if it is not there.

use crate::directories::copy_all;
use crate::{directory, rows, state};
use frazil::{Connection, Database, SqlState};
use std::path::{Path, PathBuf};

/// What made the directories, a statement each. That of version 1 has no view.
const SCRIPT: &str = include_str!("../golden/directory.sql");
/// What directories from version 3 on have beside: keys, checks, an index.
const KEYED: &str = include_str!("../golden/keyed.sql");
/// The same of version 4: columns that came and went.
const ALTERED: &str = include_str!("../golden/altered.sql");
/// The same of version 6: an enumeration.
const TYPED: &str = include_str!("../golden/typed.sql");
/// The same of version 7: arrays of numbers, frozen and hot.
const LISTED: &str = include_str!("../golden/listed.sql");

/// What made a directory of version 7 that the Frazil that wrote it did not open again: rows that lack a column of intervals.
const INTERVALS: &str = include_str!("../golden/interval_constants.sql");

/// The same of version 9: schemas, and what is in them. Version 8 is written for damaged tables alone.
const SCHEMAS: &str = include_str!("../golden/schemas.sql");

/// Directories from version 10 on have sequences and identity columns beside.
const SEQUENCES: &str = include_str!("../golden/sequences.sql");
/// Another directory of version 10 has foreign keys instead, one of which is not valid.
const FOREIGN_KEYS: &str = include_str!("../golden/foreign_keys.sql");
/// Behind it, what version 11 added: comments.
const COMMENTS: &str = include_str!("../golden/comments.sql");
/// Behind it, keys that are checked later.
const DEFERRABLE_KEYS: &str = include_str!("../golden/deferrable_keys.sql");
/// Behind it, what version 12 added: checks that are NOT VALID, partial indexes, and indexes on expressions.
const OPEN_CHECKS: &str = include_str!("../golden/open_checks.sql");
/// Behind it, what version 13 added: materialized views, with rows and without.
const MATERIALIZED: &str = include_str!("../golden/materialized.sql");
/// Beside the tables of version 10, what version 14 added: roles, owners, privileges.
const ROLES: &str = include_str!("../golden/roles.sql");

/// These statements made a directory of version 10 with numerics without precision, frozen and hot. Older
/// directories hold them as decimals.
const NUMERICS: &str = include_str!("../golden/numerics.sql");

/// The formats that directories are there for.
const VERSIONS: [u32; 9] = [1, 2, 3, 4, 5, 6, 7, 9, 10];
/// Today's format.
const NEWEST: u32 = 10;

fn golden(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/directory_v{version}"))
}

/// What a directory of any version answers.
fn check(c: &Connection, version: u32) {
    assert_eq!(
        rows(
            c,
            "select count(*), sum(id), count(name), count(price), min(price) from goods"
        ),
        "597|180567|478|448|-4.99"
    );
    assert_eq!(
        rows(
            c,
            "select * from goods where id in (1, 100, 600, 601) order by id"
        ),
        "1|a good with the number 1|0.01|2024-01-02|t\n\
         100||1.00|2024-04-10|f\n\
         600||6.00|2025-08-23|f\n\
         601|late|-4.99||"
    );
    assert_eq!(
        rows(c, "select count(*) from goods where name like '%number 7%'"),
        "8"
    );
    assert_eq!(
        rows(c, "select * from kinds"),
        "-32768|-9223372036854775808|1.5|fixed|text \"quoted\" ü|2024-02-29 23:59:59.999999|1234567890123456789012345678.0000000001\n||||||"
    );
    assert_eq!(rows(c, "select count(*) from empty"), "0");
    assert_eq!(state(c, "select * from gone"), SqlState::UNDEFINED_TABLE);
    if version > 1 {
        assert_eq!(
            rows(c, "select * from dear order by 1 desc limit 2"),
            "600|6.00\n598|5.98"
        );
    }
    if version > 2 {
        check_keyed(c, version);
    }
    if version > 5 {
        check_typed(c);
    }
    if version > 6 {
        check_listed(c);
    }
    if version > 8 {
        check_schemas(c);
    }
    if version > 9 {
        check_sequences(c);
    }
}

/// Sequences that stand where they stood, and the columns that own some.
fn check_sequences(c: &Connection) {
    assert_eq!(rows(c, "select last_value, is_called from sales.numbers"), "-8|t");
    assert_eq!(rows(c, "select last_value, is_called from fresh"), "5|f");
    assert_eq!(rows(c, "select * from owned order by id"), "1|10|one\n2|20|two");
    for (sql, wanted) in [
        ("drop sequence owned_id_seq", SqlState::DEPENDENT_OBJECTS),
        ("drop sequence owned_k_seq", SqlState::DEPENDENT_OBJECTS),
        ("insert into owned (k) values (3)", SqlState::GENERATED_ALWAYS),
    ] {
        assert_eq!(state(c, sql), wanted, "{sql}");
    }
    rows(c, "begin");
    assert_eq!(
        rows(c, "insert into owned (x) values ('more') returning k > 20"),
        "t"
    );
    rows(c, "rollback");
}

/// The table with an enumeration, which got a label when rows were there.
fn check_typed(c: &Connection) {
    assert_eq!(
        rows(c, "select m, count(*), min(id) from typed group by m order by m"),
        "sad|1000|3\nok|1000|1\nwell|1|3001\nhappy|1000|2\n|1|3002"
    );
    assert_eq!(
        rows(c, "select count(*), min(m), max(m) from moody"),
        "1001|well|happy"
    );
    assert_eq!(
        rows(
            c,
            "select list, enum_range(m) from typed where id in (1, 3001) order by id"
        ),
        "{happy,sad}|{sad,ok,well,happy}\n{well,sad}|{sad,ok,well,happy}"
    );
    assert_eq!(state(c, "drop type mood"), SqlState::DEPENDENT_OBJECTS);
}

/// The table with arrays, of which each third has a NULL.
fn check_listed(c: &Connection) {
    assert_eq!(
        rows(
            c,
            "select * from listed where id in (1, 3, 3001, 3002) order by id"
        ),
        "1|{1,2}|{1,NULL}|{0.5}|{t,NULL,f}|{one,NULL}\n\
         3|{3,NULL}|{3,NULL}|{1.5}|{t,NULL,f}|{one,NULL}\n\
         3001|{}|[2:3]={1,2}|{{1,2},{NULL,4}}||{\"\"}\n\
         3002|||||"
    );
    let sums = "select sum(u), count(*) from listed, unnest(small) u";
    assert_eq!(rows(c, sums), "133934|800");
}

/// Two schemas, in which names of the other tables come again.
fn check_schemas(c: &Connection) {
    assert_eq!(
        rows(c, "select * from sales.goods order by id"),
        "1|low|10\n2|high|20\n3|low|30"
    );
    assert_eq!(rows(c, "select * from \"Old Sales\".goods"), "7|seven");
    assert_eq!(
        rows(c, "select * from sales.dear order by id"),
        "1|10|low\n3|30|low"
    );
    assert_eq!(rows(c, "select * from seen"), "7");
    rows(c, "set search_path = \"Old Sales\", sales");
    assert_eq!(rows(c, "select note from goods"), "seven");
    assert_eq!(rows(c, "select 'low'::level < 'high', 9::sales.few"), "t|9");
    rows(c, "set search_path to default");
    for (sql, wanted) in [
        (
            "insert into sales.goods values (1, 'low', 1)",
            SqlState::UNIQUE_VIOLATION,
        ),
        (
            "insert into sales.goods values (4, 'high', 70)",
            SqlState::CHECK_VIOLATION,
        ),
        (
            "create index goods_price on sales.goods (price)",
            SqlState::DUPLICATE_TABLE,
        ),
        ("drop schema sales", SqlState::DEPENDENT_OBJECTS),
        ("select * from dropped.t", SqlState::UNDEFINED_TABLE),
    ] {
        assert_eq!(state(c, sql), wanted, "{sql}");
    }
}

/// Tables that refer to others and to themselves. What is changed is changed back.
fn check_foreign_keys(c: &Connection) {
    let makes = "select count(*), count(maker), count(distinct named), sum(part_of) from makes";
    assert_eq!(rows(c, makes), "1001|1000|1|251000");
    for sql in [
        "insert into makes (id, named) values (2000, 'nobody')",
        "insert into makes (id, maker) values (2000, 1)",
        "insert into makes (id, land, maker) values (2000, 'de', 1001)",
        "update makes set part_of = 5000 where id = 7",
        "delete from makers where name = 'one'",
        "insert into loose values ('nobody')",
        "alter table loose validate constraint loose_maker",
    ] {
        assert_eq!(state(c, sql), SqlState::FOREIGN_KEY_VIOLATION, "{sql}");
    }
    assert_eq!(state(c, "drop table makers"), SqlState::DEPENDENT_OBJECTS);
    rows(
        c,
        "begin; update makers set name = 'two' where name = 'one'; delete from makes where id = 2; \
         delete from makers where id between 500 and 509",
    );
    let after = "select count(*), count(maker), min(named), count(*) filter (where land is null) from makes";
    assert_eq!(rows(c, after), "490|479|two|11");
    rows(c, "rollback");
    assert_eq!(rows(c, makes), "1001|1000|1|251000");
}

/// The table with keys, and the columns that came and went in version 4.
fn check_keyed(c: &Connection, version: u32) {
    assert_eq!(
        rows(c, "select k, a, b from keyed where k < 5 order by k"),
        "1|10|XY\n2|21|XY\n3||XY\n4|40|own"
    );
    for (sql, state_) in [
        ("insert into keyed (k) values (3)", SqlState::UNIQUE_VIOLATION),
        (
            "insert into keyed (k, a) values (9, 21)",
            SqlState::UNIQUE_VIOLATION,
        ),
        (
            "insert into keyed (k, a) values (9, 2000)",
            SqlState::CHECK_VIOLATION,
        ),
    ] {
        assert_eq!(state(c, sql), state_, "{sql}");
    }
    let indexes = "select index_name from frazil_indexes where table_name = 'keyed' order by 1";
    assert_eq!(rows(c, indexes), "keyed_a_key\nkeyed_b\nkeyed_pkey");
    if version > 3 {
        assert_eq!(
            rows(c, "select * from keyed order by k desc limit 2"),
            "5|50|last|own|7.00|f\n4|40|own|a default of rows that were there|-1.25|f"
        );
        assert_eq!(
            rows(c, "select sum(e), count(*) from keyed where d like 'a default%'"),
            "-5.00|4"
        );
    } else {
        assert_eq!(rows(c, "select c from keyed where k = 4"), "2024-02-29");
    }
}

/// What is done with it, so that it is written again.
fn change(c: &Connection) {
    rows(c, "insert into goods (id) values (602)");
    assert_eq!(
        rows(c, "select name, price, made, new from goods where id = 602"),
        "nameless|||"
    );
    assert_eq!(rows(c, "delete from goods where id = 602"), "DELETE 1");
    assert_eq!(
        state(c, "insert into goods (name) values ('no id')"),
        SqlState::NOT_NULL_VIOLATION
    );
}

#[test]
fn directories_of_older_formats_open_and_are_written_again() {
    write_if_asked(&golden(NEWEST), SEQUENCES);
    for version in VERSIONS {
        open_and_write_again(&golden(version), &|c| check(c, version));
    }
}

/// The table with numerics, whose values have their own digits after the point.
fn check_numerics(c: &Connection) {
    assert_eq!(
        rows(
            c,
            "select * from numerics where id in (1, 2, 4, 3001, 3002) order by id"
        ),
        "1|0.5|{0.50,NULL}|1.50\n2|1.00|{1.00,NULL}|1.50\n4||{NULL,NULL}|1.50\n3001|1.0|{}|2.500\n3002|-0.00001||7"
    );
    let sums = "select sum(n), count(n), count(distinct n) from numerics where id < 3000";
    assert_eq!(rows(c, sums), "1687500.00|2250|2250");
    assert_eq!(
        rows(c, "select id from numerics where n = 1 order by id"),
        "2\n3001"
    );
    assert_eq!(rows(c, "select 0.75::share"), "0.75");
    assert_eq!(state(c, "select 1.25::share"), SqlState::CHECK_VIOLATION);
}

#[test]
fn a_directory_with_numerics_opens() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/numerics_v10");
    if std::env::var_os("FRAZIL_WRITE_GOLDEN").is_some() && !golden.exists() {
        let database = Database::open(&golden).expect("it can be made");
        rows(&database.connect(), NUMERICS);
        database.close().expect("it closes");
    }
    let path = directory("golden-numerics");
    copy_all(&golden, &path);
    for _ in 0..2 {
        let database = Database::open(&path).expect("it opens");
        let c = database.connect();
        check_numerics(&c);
        rows(&c, "insert into numerics values (4000, 0.10)");
        rows(&c, "delete from numerics where id = 4000");
        drop(c);
        database.close().expect("it closes");
    }
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn a_directory_with_foreign_keys_opens_and_is_written_again() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/directory_v10_foreign_keys");
    write_if_asked(&golden, FOREIGN_KEYS);
    open_and_write_again(&golden, &|c| {
        check(c, 9);
        check_foreign_keys(c);
    });
}

#[test]
fn a_directory_with_comments_opens_and_is_written_again() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/directory_v11_comments");
    write_if_asked(&golden, COMMENTS);
    open_and_write_again(&golden, &|c| {
        check(c, 9);
        let comments: Vec<String> = c.comments().iter().map(|comment| comment.ddl()).collect();
        assert_eq!(
            comments,
            [
                "comment on column goods.name is 'größte';",
                "comment on database frazil is 'all of it';",
                "comment on table goods is 'it''s for sale';",
                "comment on table replayed is 'from the log';",
            ]
        );
    });
}

#[test]
fn a_directory_with_deferrable_keys_opens_and_is_written_again() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/directory_v11_deferrable_keys");
    write_if_asked(&golden, DEFERRABLE_KEYS);
    open_and_write_again(&golden, &|c| {
        check(c, 9);
        check_deferrable_keys(c);
    });
}

#[test]
fn a_directory_with_open_checks_and_partial_indexes_opens_and_is_written_again() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/directory_v12");
    write_if_asked(&golden, OPEN_CHECKS);
    open_and_write_again(&golden, &|c| {
        check(c, 9);
        assert_eq!(
            rows(
                c,
                "select conname, convalidated from pg_constraint where conname in ('small', 'even') order by 1"
            ),
            "even|f\nsmall|f"
        );
        assert_eq!(
            rows(
                c,
                "select relname, indisunique, indpred is not null, indexprs is not null from pg_index \
                 join pg_class on oid = indexrelid where relname in ('amounts_note', 'amounts_large') order by 1"
            ),
            "amounts_large|t|t|t\namounts_note|t|f|t"
        );
        assert_eq!(rows(c, "select n from amounts where lower(note) = 'note 5'"), "5");
        for (sql, wanted) in [
            (
                "update amounts set note = 'x' where n = 6",
                SqlState::CHECK_VIOLATION,
            ),
            ("update amounts set of = 3 where n = 2", SqlState::CHECK_VIOLATION),
            (
                "update amounts set note = 'NOTE 4' where n = 2",
                SqlState::UNIQUE_VIOLATION,
            ),
        ] {
            assert_eq!(state(c, sql), wanted, "{sql}");
        }
    });
}

#[test]
fn a_directory_with_materialized_views_opens_and_is_written_again() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/directory_v13");
    write_if_asked(&golden, MATERIALIZED);
    open_and_write_again(&golden, &|c| {
        check(c, 9);
        assert_eq!(rows(c, "select count(*), sum(total) from sums"), "3|21");
        assert_eq!(rows(c, "select total from sums where part = 2"), "7");
        assert_eq!(
            rows(
                c,
                "select relname, relispopulated from pg_class where relkind = 'm' order by 1"
            ),
            "later|f\nsums|t"
        );
        assert_eq!(state(c, "select * from later"), SqlState::NOT_IN_STATE);
        rows(c, "refresh materialized view later");
        assert_eq!(rows(c, "select count(*) from later"), "6");
        rows(c, "refresh materialized view later with no data");
        assert_eq!(
            state(c, "insert into sums values (9, 9)"),
            SqlState::WRONG_OBJECT_TYPE
        );
        assert_eq!(state(c, "drop table amounts"), SqlState::DEPENDENT_OBJECTS);
    });
}

/// Rows of the catalog about roles, owners and privileges, for the directory of version 14.
const ROLE_ANSWERS: [(&str, &str); 6] = [
    (
        "select rolname, rolsuper, rolinherit, rolcreatedb, rolcanlogin, rolconnlimit, \
         rolvaliduntil = '2030-01-02 03:04:05Z', right(rolpassword, 5) from pg_authid where oid > 16384 order by 1",
        "Größte|t|t|f|f|-1||\nreader|f|t|f|f|-1||\nwriter|f|f|t|t|3|t|l8Ts=",
    ),
    (
        "select pg_get_userbyid(roleid), pg_get_userbyid(member), admin_option from pg_auth_members \
         where member > 16384 order by 1",
        "pg_read_all_data|reader|f\nreader|writer|t",
    ),
    (
        "select relname, pg_get_userbyid(relowner), relacl from pg_class \
         where relname in ('goods', 'fresh', 'made', 'seen', 'kinds') and relowner > 10 order by 1",
        "fresh|writer|\ngoods|writer|\nmade|Größte|\nseen|Größte|",
    ),
    (
        "select attname, attacl from pg_attribute where attacl is not null order by 1",
        "id|{reader=r*/writer}\nname|{reader=r*/writer}\nprice|{reader=w*/writer}",
    ),
    (
        "select nspname, nspacl, pg_get_userbyid(nspowner) from pg_namespace \
         where nspname in ('own', 'sales') order by 1",
        "own||writer\nsales|{postgres=UC/postgres,=U/postgres}|postgres",
    ),
    (
        "select pg_get_userbyid(defaclrole), defaclobjtype, defaclacl, datacl \
         from pg_default_acl, pg_database order by 1",
        "postgres|T|{postgres=U/postgres}|{=Tc/postgres,postgres=CTc/postgres,reader=c/postgres}\n\
         writer|r|{reader=r/writer}|{=Tc/postgres,postgres=CTc/postgres,reader=c/postgres}",
    ),
];

#[test]
fn a_directory_with_roles_opens_and_is_written_again() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/directory_v14");
    write_if_asked(&golden, &[SEQUENCES, ROLES].concat());
    open_and_write_again(&golden, &|c| {
        check(c, 10);
        for (sql, wanted) in ROLE_ANSWERS {
            assert_eq!(rows(c, sql), wanted, "{sql}");
        }
        assert_eq!(state(c, "drop role writer"), SqlState::DEPENDENT_OBJECTS);
    });
}

fn check_deferrable_keys(c: &Connection) {
    assert_eq!(
        rows(
            c,
            "select count(*), min(id), max(place - id) from places where place + id = 1002"
        ),
        "1000|2|998"
    );
    rows(c, "update places set id = 1003 - id, place = 1001 - place");
    rows(c, "update places set id = 1003 - id, place = 1001 - place");
    rows(c, "begin; insert into places values (2000, 5, 'new')");
    assert_eq!(rows(c, "select count(*) from places where place = 5"), "2");
    assert_eq!(state(c, "commit"), SqlState::UNIQUE_VIOLATION);
    for sql in [
        "insert into places values (2, 2000, 'new')",
        "insert into places values (2000, 2, 'new')",
        "insert into places values (2000, 2000, 'tag 7')",
    ] {
        assert_eq!(state(c, sql), SqlState::UNIQUE_VIOLATION, "{sql}");
    }
    let keys = "select conname, condeferrable, condeferred from pg_constraint
        where conrelid = 'places'::regclass order by 1";
    assert_eq!(rows(c, keys), "places_pkey|t|f\nplaces_place|t|t\nplaces_tag|f|f");
}

/// Checks a copy of a directory before and behind a change, twice.
fn open_and_write_again(golden: &Path, check: &dyn Fn(&Connection)) {
    let name = golden.file_name().expect("it has a name").to_string_lossy();
    let path = directory(&format!("golden-{name}"));
    copy_all(golden, &path);
    for _ in 0..2 {
        let database = Database::open(&path).expect("it opens");
        let c = database.connect();
        check(&c);
        change(&c);
        check(&c);
        drop(c);
        database.close().expect("it closes");
    }
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn a_directory_with_constant_intervals_opens() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/interval_constants_v7");
    if std::env::var_os("FRAZIL_WRITE_GOLDEN").is_some() && !golden.exists() {
        let database = Database::open(&golden).expect("it can be made");
        rows(&database.connect(), INTERVALS);
        database.close().expect("it closes");
    }
    let path = directory("golden-intervals");
    copy_all(&golden, &path);
    for round in 0..3 {
        let database = Database::open(&path).unwrap_or_else(|e| panic!("round {round}: {e:?}"));
        let c = database.connect();
        assert_eq!(
            rows(&c, "select * from waits order by id"),
            "1|one|1 day|00:00:00|02:00:00||-1 mons +31 days\n\
             2|two|1 day|00:00:00|02:00:00||-1 mons +31 days\n\
             4|four|3 days|4 days|5 days|6 days|7 days"
        );
        assert_eq!(
            rows(
                &c,
                "select count(*) from waits where n = interval '24:00' and q = '1 day'"
            ),
            "2"
        );
        assert_eq!(rows(&c, "select a from other"), "7");
        assert_eq!(c.verify().expect("it runs").findings, [""; 0]);
        // A row that is written and goes again, so that each round ends with a checkpoint.
        rows(
            &c,
            "insert into waits (id) values (5); delete from waits where id = 5",
        );
        if round == 1 {
            rows(&c, "freeze waits");
        }
        drop(c);
        database.close().expect("it closes");
    }
    let _ = std::fs::remove_dir_all(&path);
}

/// Writes a directory of today's format that is not there, with what some statements make beside the rest.
fn write_if_asked(path: &Path, more: &str) {
    if std::env::var_os("FRAZIL_WRITE_GOLDEN").is_none() || path.exists() {
        return;
    }
    let database = Database::open(path).expect("it can be made");
    let c = database.connect();
    rows(&c, SCRIPT);
    rows(
        &c,
        "create view dear as select id, price from goods where price > 1",
    );
    rows(&c, KEYED);
    rows(&c, ALTERED);
    rows(&c, TYPED);
    rows(&c, LISTED);
    rows(&c, SCHEMAS);
    rows(&c, more);
    drop(c);
    database.close().expect("it closes");
}
