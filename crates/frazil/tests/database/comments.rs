//! Comments outlive the directory's closing, whether the log or a checkpoint has them, and go with their objects.

use crate::{directory, memory, rows};
use frazil::{Connection, Database};

fn comments(c: &Connection) -> Vec<String> {
    let mut all: Vec<String> = c.comments().iter().map(|comment| comment.ddl()).collect();
    all.sort();
    all
}

#[test]
fn comments_are_read_from_the_log_and_from_a_checkpoint() {
    let path = directory("comments-reopen");
    let all = {
        let c = Database::open(&path).unwrap().connect();
        rows(
            &c,
            "create schema s; create table s.t (id integer primary key, a text unique)",
        );
        rows(
            &c,
            "create view v as select a from s.t; create sequence q; create index i on s.t (a, id)",
        );
        rows(
            &c,
            "create type mood as enum ('x'); create domain d as integer; create table gone (a integer)",
        );
        for object in [
            "schema s",
            "table s.t",
            "column s.t.a",
            "view v",
            "column v.a",
            "sequence q",
            "index s.i",
            "type mood",
            "domain d",
            "database frazil",
            "constraint t_a_key on s.t",
            "table gone",
        ] {
            rows(&c, &format!("comment on {object} is 'on ''{object}'''"));
        }
        rows(
            &c,
            "begin; comment on table s.t is 'rolled back'; drop table gone; rollback",
        );
        rows(
            &c,
            "drop table gone; comment on view v is 'before'; comment on view v is 'on ''view v'''",
        );
        comments(&c)
    };
    assert_eq!(all.len(), 11);
    assert!(
        all.contains(&"comment on column s.t.a is 'on ''column s.t.a''';".to_string()),
        "{all:?}"
    );
    assert!(all.contains(
        &"comment on constraint t_a_key on s.t is 'on ''constraint t_a_key on s.t''';".to_string()
    ));
    for _ in 0..2 {
        let c = Database::open(&path).unwrap().connect();
        assert_eq!(comments(&c), all);
        rows(&c, "checkpoint");
    }
    let c = Database::open(&path).unwrap().connect();
    rows(&c, "comment on sequence q is null; drop schema s cascade");
    drop(c);
    for _ in 0..2 {
        let c = Database::open(&path).unwrap().connect();
        assert_eq!(
            comments(&c),
            [
                "comment on database frazil is 'on ''database frazil''';",
                "comment on domain d is 'on ''domain d''';",
                "comment on type mood is 'on ''type mood''';",
            ]
        );
        rows(&c, "checkpoint");
    }
    std::fs::remove_dir_all(&path).unwrap();
}

#[test]
fn a_dump_of_comments_makes_them_again() {
    let c = memory();
    rows(
        &c,
        "create table \"a b\" (\"c d\" integer constraint \"e f\" check (\"c d\" > 0))",
    );
    rows(
        &c,
        "comment on table \"a b\" is E'two\\nlines\\\\'; comment on column \"a b\".\"c d\" is 'x'",
    );
    rows(&c, "comment on constraint \"e f\" on \"a b\" is 'y'");
    let before = comments(&c);
    assert_eq!(before.len(), 3);
    let again: Vec<String> = c.comments().iter().map(|comment| comment.ddl()).collect();
    rows(
        &c,
        "comment on table \"a b\" is null; comment on column \"a b\".\"c d\" is null",
    );
    again.iter().for_each(|sql| drop(rows(&c, sql)));
    assert_eq!(comments(&c), before);
}

#[test]
fn the_database_has_a_comment() {
    let c = memory();
    let shown = "select shobj_description((select oid from pg_database), 'pg_database')";
    assert_eq!(rows(&c, shown), "");
    rows(&c, "comment on database frazil is 'mine'");
    assert_eq!(rows(&c, shown), "mine");
    assert_eq!(rows(&c, "select description from pg_shdescription"), "mine");
    rows(&c, "comment on database another is 'ignored'");
    rows(&c, "comment on database frazil is null");
    assert_eq!(rows(&c, "select count(*) from pg_shdescription"), "0");
}
