//! The pairs of the experiment, as data.

use super::pair::{Pair, Sizes};
use super::side::{Side, Work};
use crate::scratch::Scratch;
use frazil::{Connection, Database};
use frazil_types::Result;

/// Parts of a statement that makes the children: with the key, and without.
const KEY: &str = "references parent";
const NO_KEY: &str = "";

/// Values that a run takes from a sequence, at scale factor 1.
const SEQUENCE_VALUES: usize = 1_000_000;
/// Columns that are added in a run.
const COLUMNS_ADDED: usize = 50;
/// The rows of the table that gets a column, for each row of the other large tables.
const WIDER: usize = 4;

/// The pairs.
pub const PAIRS: [Pair; 8] = [
    Pair {
        name: "insert_child",
        over: "without the key",
        most: 1.6,
        sides: |sizes| {
            Ok([
                inserts(sizes, KEY, sizes.few)?,
                inserts(sizes, NO_KEY, sizes.few)?,
            ])
        },
    },
    Pair {
        name: "insert_child_of_many",
        over: "with few rows",
        most: 1.3,
        sides: |sizes| Ok([inserts(sizes, KEY, sizes.rows)?, inserts(sizes, KEY, sizes.few)?]),
    },
    Pair {
        name: "copy_children",
        over: "without the key",
        most: 1.3,
        sides: |sizes| Ok([copies(sizes, KEY)?, copies(sizes, NO_KEY)?]),
    },
    Pair {
        name: "add_foreign_key",
        over: "as long as the join",
        most: 2.0,
        sides: add_foreign_key,
    },
    Pair {
        name: "delete_parent",
        over: "without the key",
        most: 2.0,
        sides: |sizes| Ok([deletes(sizes, KEY)?, deletes(sizes, NO_KEY)?]),
    },
    Pair {
        name: "add_column",
        over: "with few rows",
        most: 2.0,
        sides: |sizes| Ok([adds_column(WIDER * sizes.rows)?, adds_column(WIDER * sizes.few)?]),
    },
    Pair {
        name: "nextval",
        over: "as long as random()",
        most: 3.0,
        sides: nextval,
    },
    Pair {
        name: "alter_type",
        over: "as long as CREATE TABLE AS",
        most: 2.0,
        sides: alter_type,
    },
];

/// Statements that make `rows` parents, and as many children whose parents are the even ones.
fn family(rows: usize, key: &str) -> Vec<String> {
    vec![
        "create table parent (k bigint primary key, v integer)".to_owned(),
        format!(
            "insert into parent select i, i % 100 from generate_series(0, {}) as s (i)",
            rows - 1
        ),
        format!("create table child (k bigint primary key, p bigint {key}, v integer)"),
        format!(
            "insert into child select i, i / 2 * 2, i % 100 from generate_series(0, {}) as s (i)",
            rows - 1
        ),
    ]
}

/// INSERT of children by the keys of random parents.
fn inserts(sizes: &Sizes, key: &str, rows: usize) -> Result<Side> {
    Side::new(&family(rows, key), |connection| {
        Ok(Work::Rows {
            statement: Box::new(connection.prepare("insert into child values ($1, $2, 7)")?),
            first: rows,
            step: 1,
            units: sizes.units,
            below: Some(rows),
        })
    })
}

/// COPY of children from a CSV file into an empty table.
fn copies(sizes: &Sizes, key: &str) -> Result<Side> {
    let files = Scratch::new()?;
    let path = files.path().join("children.csv").display().to_string();
    let written = Database::memory()?.connect();
    let children = format!(
        "select i, i::bigint * 7919 % {}, i % 100 from generate_series(0, {}) as s (i)",
        sizes.rows,
        sizes.rows - 1
    );
    written.execute(&format!("copy ({children}) to '{path}' (format csv)"))?;
    let mut setup = family(sizes.rows, key);
    setup.push("truncate child".to_owned());
    let side = Side::new(&setup, |_| {
        Ok(Work::Text(format!("copy child from '{path}' (format csv)"), 1))
    })?;
    Ok(side.then("truncate child").with_files(files))
}

/// ADD FOREIGN KEY, and the join that finds children without a parent.
fn add_foreign_key(sizes: &Sizes) -> Result<[Side; 2]> {
    let setup = family(sizes.rows, NO_KEY);
    let add = "alter table child add constraint of_parent foreign key (p) references parent";
    let join = "select count(*) from child left join parent on p = parent.k where parent.k is null and p is not null";
    let side = |text: &str| Side::new(&setup, |_| Ok(Work::Text(text.to_owned(), 1)));
    Ok([
        side(add)?.then("alter table child drop constraint of_parent"),
        side(join)?,
    ])
}

/// DELETE of parents without children by their keys. Children have an index.
fn deletes(sizes: &Sizes, key: &str) -> Result<Side> {
    // Half of the parents have no children.
    let parents = sizes.few.max(2 * sizes.units * sizes.rounds + 2);
    let mut setup = family(parents, key);
    setup.push("create index on child (p)".to_owned());
    Side::new(&setup, |connection| {
        Ok(Work::Rows {
            statement: Box::new(connection.prepare("delete from parent where k = $1")?),
            first: 1,
            step: 2,
            units: sizes.units,
            below: None,
        })
    })
}

/// ADD COLUMN with a constant. The columns go after each run.
fn adds_column(rows: usize) -> Result<Side> {
    let setup = [format!(
        "create table wide as select i as k, i % 100 as v from generate_series(1, {rows}) as s (i)"
    )];
    let added = "alter table wide add column c integer default 7; alter table wide drop column c";
    Side::new(&setup, |_| Ok(Work::Text(added.to_owned(), COLUMNS_ADDED)))
}

/// A value of a sequence for each row, and a random number, in a directory.
fn nextval(sizes: &Sizes) -> Result<[Side; 2]> {
    let values = SEQUENCE_VALUES.min(sizes.rows);
    let side = |call: &str| {
        let text = format!("select {call} from generate_series(1, {values})");
        Side::in_directory(&["create sequence s".to_owned()], |_| Ok(Work::Text(text, 1)))
    };
    Ok([side("nextval('s')")?, side("random()")?])
}

/// ALTER TYPE of a column there and back, and CREATE TABLE AS of the column.
fn alter_type(sizes: &Sizes) -> Result<[Side; 2]> {
    let setup = [format!(
        "create table t as select i::bigint as k, (i % 1000)::integer as v from generate_series(1, {}) as s (i)",
        sizes.rows
    )];
    let side = |text: &str| Side::new(&setup, |_: &Connection| Ok(Work::Text(text.to_owned(), 1)));
    Ok([
        side("alter table t alter column v type bigint using v + 1")?
            .then("alter table t alter column v type integer using v - 1")
            .counting_memory(),
        side("create table u as select (v + 1)::bigint as v from t")?
            .then("drop table u")
            .counting_memory(),
    ])
}
