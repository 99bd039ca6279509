//! ALTER TABLE ADD COLUMN for every type: rows that lack the column have its default (a constant, NULL, or computed once), hot and
//! frozen, after every way to open a directory again, and in a backup.

use crate::directories::copy_all;
use crate::edge_values::{Edges, TYPES};
use crate::{directory, rows};
use frazil::{Connection, Database};
use std::path::Path;

/// A type that columns can have, by its name in SQL, with literals of its values.
struct Case {
    ty: String,
    literals: Vec<String>,
    is_comparable: bool,
}

/// Statements that define the types that are not built in.
const DEFINITIONS: &str = "create type size as enum ('tiny', 'it is', 'huge'); alter type size add value 'medium' before 'huge'; \
    create domain span as interval; create domain small as integer check (value < 100); \
    create domain label as varchar(9) not null; create domain sized as size";

/// Every built-in type that columns can have, enumerations, domains, and arrays.
fn cases() -> Vec<Case> {
    let case = |ty: &str, texts: &[&str]| Case {
        ty: ty.to_string(),
        literals: texts.iter().map(|text| format!("'{text}'")).collect(),
        is_comparable: true,
    };
    let built_in = |t: &Edges| Case {
        is_comparable: t.ty.is_comparable(),
        ..case(&t.ty.to_string(), t.texts)
    };
    let stored = TYPES.iter().filter(|t| t.ty.info().is_stored);
    let mut cases: Vec<Case> = stored.map(built_in).collect();
    cases.extend([
        case("size", &["tiny", "medium", "it is"]),
        case("size[]", &["{}", "{huge,NULL}"]),
        case("span", &["1 day", "-1 mons +31 days", "00:00:00"]),
        case("interval[]", &["{}", "{1 day,NULL}"]),
        case("small", &["99", "-1"]),
        case("label", &["", "nine char"]),
        case("sized", &["medium"]),
    ]);
    cases
}

/// The tables: of hot rows, of a block, of both, and one whose columns come after a checkpoint.
const TABLES: [&str; 4] = ["hot", "frozen", "mixed", "logged"];

/// Makes the tables and gives them columns of a type: a constant of each literal, NULL, computed defaults, and NOT NULL.
fn define(c: &Connection, case: &Case) {
    rows(c, DEFINITIONS);
    for table in TABLES {
        rows(c, &format!("create table {table} (i integer primary key)"));
    }
    rows(c, "insert into hot values (1), (2)");
    rows(c, "insert into frozen values (1), (2), (3); freeze frozen");
    rows(
        c,
        "insert into mixed values (1), (2); freeze mixed; insert into mixed values (3), (4); delete from mixed where i = 2",
    );
    rows(c, "insert into logged values (1), (2); checkpoint");
    let Case { ty, literals, .. } = case;
    let computed = &literals[literals.len() - 1];
    let constants = literals.iter().enumerate();
    let mut columns: Vec<String> = constants
        .map(|(n, literal)| format!("c{n} {ty} default {literal}"))
        .collect();
    columns.push(format!(
        "computed {ty} default case when random() < 2 then cast({computed} as {ty}) end"
    ));
    columns.push(format!("required {ty} not null default {}", literals[0]));
    if ty != "label" {
        columns.push(format!("nothing {ty}"));
        columns.push(format!(
            "computed_null {ty} default case when random() > 2 then cast({computed} as {ty}) end"
        ));
    }
    let actions: Vec<String> = columns
        .iter()
        .map(|column| format!("add column {column}"))
        .collect();
    for table in TABLES {
        rows(c, &format!("alter table {table} {}", actions.join(", ")));
    }
}

/// Every row of every table must show the value of each default, and be found by it.
fn check(c: &Connection, case: &Case, what: &str) {
    let Case { ty, literals, .. } = case;
    let last = &literals[literals.len() - 1];
    let one = |literal: &str| rows(c, &format!("select cast({literal} as {ty})"));
    for (table, count) in TABLES.into_iter().zip([2, 3, 3, 2]) {
        let all = |column: &str| {
            rows(
                c,
                &format!("select {column} from {table} where i < 10 order by i"),
            )
        };
        let each = |value: &str| vec![value; count].join("\n");
        for (n, literal) in literals.iter().enumerate() {
            assert_eq!(
                all(&format!("c{n}")),
                each(&one(literal)),
                "{ty} of {table}, {what}"
            );
        }
        assert_eq!(all("computed"), each(&one(last)), "{ty} of {table}, {what}");
        assert_eq!(
            all("required"),
            each(&one(&literals[0])),
            "{ty} of {table}, {what}"
        );
        if ty != "label" {
            assert_eq!(all("nothing is null"), each("t"), "{ty} of {table}, {what}");
            assert_eq!(all("computed_null is null"), each("t"), "{ty} of {table}, {what}");
        }
        let found = format!("select count(*) from {table} where i < 10 and c0 is not null");
        assert_eq!(rows(c, &found), count.to_string(), "{ty} of {table}, {what}");
        let equal = format!(
            "select count(*) from {table} where i < 10 and c0 = {}",
            literals[0]
        );
        if case.is_comparable {
            assert_eq!(rows(c, &equal), count.to_string(), "{ty} of {table}, {what}");
        }
    }
    let verified = c.verify().expect("it runs");
    assert_eq!(verified.findings, [""; 0], "{ty}, {what}");
}

fn open(path: &Path, what: &str) -> Database {
    Database::open(path).unwrap_or_else(|e| panic!("{what}: {e:?}"))
}

/// Opens the directory after each of several endings, and looks at it.
fn reopen(path: &Path, case: &Case) {
    for ending in ["nothing", "checkpoint", "close", "freeze", "late row", "backup"] {
        let what = format!("{} after {ending}", case.ty);
        let database = open(path, &what);
        let c = database.connect();
        check(&c, case, &format!("before {ending}"));
        match ending {
            "checkpoint" => drop(rows(&c, "checkpoint")),
            "freeze" => TABLES.iter().for_each(|t| drop(rows(&c, &format!("freeze {t}")))),
            "late row" => TABLES
                .iter()
                .for_each(|t| drop(rows(&c, &format!("insert into {t} (i) values (10)")))),
            "backup" => {
                let copy = path.with_extension("backup");
                rows(&c, &format!("backup to '{}'", copy.display()));
                let backup = open(&copy, &what);
                check(&backup.connect(), case, "in a backup");
                drop(backup);
                std::fs::remove_dir_all(&copy).expect("it is there");
            }
            _ => {}
        }
        drop(c);
        match ending {
            "close" | "late row" => database.close().expect("it closes"),
            _ => drop(database),
        }
    }
    let database = open(path, &case.ty);
    check(&database.connect(), case, "at last");
}

#[test]
fn columns_of_every_type_have_their_defaults_in_rows_that_were_there() {
    for case in cases() {
        let path = directory("added-columns");
        let database = open(&path, &case.ty);
        define(&database.connect(), &case);
        check(&database.connect(), &case, "in one session");
        // As a crash leaves it, with the log alone.
        let crashed = directory("added-columns-crashed");
        copy_all(&path, &crashed);
        database.close().expect("it closes");
        for path in [path, crashed] {
            reopen(&path, &case);
            std::fs::remove_dir_all(&path).expect("it is there");
        }
    }
}
