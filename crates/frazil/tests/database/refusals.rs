//! The lists of what is not there yet, in README, docs and book: every item has a statement here, which is refused with
//! 0A000.
//!
//! A list is the paragraph behind a line `<!-- refused -->`: items with commas between them, and a full stop.

use crate::{memory, rows};
use frazil::SqlState;
use std::path::Path;

/// The documents that have such a list.
const DOCUMENTS: [&str; 5] = [
    "README.md",
    "docs/sql.md",
    "docs/book/src/coming-from-postgresql.md",
    "docs/book/src/coming-from-duckdb.md",
    "docs/book/src/coming-from-sqlite.md",
];

/// What the statements work on.
const TABLES: &str =
    "create table t (a integer primary key, b integer, c integer[]); create table u (a integer);
    create view v as select a from t; create domain d as integer";

/// Items in lower case, without marks, and statements of each that must be refused.
const ITEMS: &[(&str, &[&str])] = &[
    (
        "not valid of primary and unique keys",
        &[
            "alter table u add primary key (a) not valid",
            "alter table u add unique (a) not valid",
        ],
    ),
    (
        "exclude constraints",
        &[
            "create table x (a integer, exclude using gist (a with =))",
            "alter table u add exclude (a with =)",
        ],
    ),
    (
        "set default of a column of a view",
        &["alter view v alter a set default 1"],
    ),
    (
        "changes through views",
        &["insert into v values (1)", "update v set a = 1", "delete from v"],
    ),
    ("recursive views", &["create recursive view x (n) as select 1"]),
    (
        "with check option",
        &["create view x as select a from t where a > 1 with check option"],
    ),
    (
        "definitions in create schema",
        &["create schema s create table t (a integer)"],
    ),
    (
        "rules",
        &["create rule r as on insert to t do nothing", "drop rule r on t"],
    ),
    (
        "triggers",
        &[
            "create trigger g before insert on t execute function f()",
            "drop trigger g on t",
        ],
    ),
    (
        "functions of your own",
        &[
            "create function f() returns integer as 'select 1' language sql",
            "create or replace procedure p() language sql as ''",
            "create aggregate x (integer) (sfunc = f, stype = integer)",
        ],
    ),
    (
        "where current of",
        &[
            "update t set a = 1 where current of c",
            "delete from t where current of c",
        ],
    ),
    (
        "update … set a[1]",
        &["update t set c[1] = 2", "insert into t (c[1]) values (1)"],
    ),
    (
        "merge",
        &["merge into t using u on t.a = u.a when matched then delete"],
    ),
    (
        "explain of statements whose with queries write",
        &["explain with x as (delete from t returning a) select a from x"],
    ),
    ("full text search", &["select cast('a' as tsvector)"]),
    ("pivot", &["pivot t on a"]),
    (
        "structs",
        &[
            "create table x (a struct(b integer))",
            "select null::struct(b integer)",
        ],
    ),
    ("maps", &["create table x (a map(text, integer))"]),
    ("hugeint", &["select cast(1 as hugeint)"]),
    (
        "unsigned integers",
        &["select cast(1 as utinyint)", "create table x (a ubigint)"],
    ),
    ("macros", &["create macro f(a) as a + 1"]),
    ("attach", &["attach 'x.db' as x", "detach x"]),
    (
        "extensions",
        &["install httpfs", "load httpfs", "create extension x"],
    ),
    (
        "files by http",
        &[
            "select * from 'https://example.org/x.parquet'",
            "copy t from 'https://example.org/y.csv'",
        ],
    ),
    ("using sample", &["select * from t using sample 10"]),
    ("from t without select", &["from t"]),
    ("pragma", &["pragma table_info(t)"]),
    ("replace into", &["replace into u values (1)"]),
    ("insert or …", &["insert or ignore into u values (1)"]),
    (
        "autoincrement",
        &["create table x (a integer primary key autoincrement)"],
    ),
];

/// The items of the lists of a document.
fn items(document: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lists = text.split("<!-- refused -->").skip(1);
    let paragraphs = lists.map(|list| list.trim_start().split("\n\n").next().unwrap_or_default());
    let items = paragraphs.flat_map(|paragraph| {
        let list = paragraph
            .trim()
            .strip_suffix('.')
            .expect("a list ends with a full stop");
        list.split(',')
            .map(|item| {
                item.replace('`', "")
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .to_lowercase()
            })
            .collect::<Vec<_>>()
    });
    items.collect()
}

#[test]
fn what_is_said_not_to_be_there_is_refused() {
    let mut wrong = Vec::new();
    for document in DOCUMENTS {
        let items = items(document);
        assert!(!items.is_empty(), "{document} has no list");
        for item in items {
            let Some((_, statements)) = ITEMS.iter().find(|known| known.0 == item) else {
                wrong.push(format!("{document}: \"{item}\" has no statement in this test"));
                continue;
            };
            for sql in *statements {
                let c = memory();
                rows(&c, TABLES);
                match c.execute(sql) {
                    Ok(_) => wrong.push(format!("{document}: {item}: {sql} is there")),
                    Err(e) if e.state() == SqlState::FEATURE_NOT_SUPPORTED => {}
                    Err(e) => wrong.push(format!("{document}: {item}: {sql}: {} {e}", e.state())),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
