//! SHOW TABLES, DESCRIBE and SUMMARIZE: of tables, views, queries and files.

use crate::{directory, memory, rows, state};
use frazil::SqlState;

#[test]
fn tables_are_those_that_people_made() {
    let c = memory();
    assert_eq!(rows(&c, "show tables"), "");
    rows(
        &c,
        "create table t (a integer); create view v as select a from t; create table \"frazil_own\" (a integer)",
    );
    assert_eq!(rows(&c, "show tables"), "frazil_own\nt\nv");
}

#[test]
fn what_has_columns_is_described() {
    let path = directory("described.csv");
    std::fs::write(&path, "day,n\n2024-02-29,7\n").expect("it is written");
    let file = path.display();
    let c = memory();
    rows(
        &c,
        "create table t (a integer not null, b decimal(8,2) default 1.5, c text)",
    );
    rows(&c, "create view v as select a, b from t");
    let table = "a|integer|NO|\nb|decimal(8,2)|YES|1.50\nc|text|YES|";
    for (of, expected) in [
        ("t", table),
        ("table t", table),
        ("v", "a|integer|YES|\nb|decimal(8,2)|YES|"),
        ("select a + 1 as n, c from t", "n|integer|NO|\nc|text|YES|"),
        ("(select 1 as x)", "x|integer|NO|"),
        (
            "with x as (select true as y) select y, y as z from x",
            "y|boolean|NO|\nz|boolean|NO|",
        ),
        ("values (1, 'a')", "column1|integer|NO|\ncolumn2|text|NO|"),
        (&format!("'{file}'"), "day|date|YES|\nn|bigint|YES|"),
        (&format!("table '{file}'"), "day|date|YES|\nn|bigint|YES|"),
        (
            &format!("read_csv('{file}', all_varchar => true)"),
            "day|text|YES|\nn|text|YES|",
        ),
        (&format!("select n from '{file}'"), "n|bigint|YES|"),
    ] {
        let described = rows(&c, &format!("describe {of}"));
        let types = |text: &str| -> Vec<String> {
            let columns = text
                .lines()
                .map(|line| line.split('|').take(2).collect::<Vec<_>>().join("|"));
            columns.collect()
        };
        assert_eq!(types(&described), types(expected), "{of}");
        if ["t", "table t"].contains(&of) {
            assert_eq!(described, expected, "{of}");
        }
    }
    // Nothing runs.
    assert!(rows(&c, "describe select 1 / 0 as n").starts_with("n|integer|"));
    for (of, expected) in [
        ("nothing", SqlState::UNDEFINED_TABLE),
        ("select nothing from t", SqlState::UNDEFINED_COLUMN),
        ("'/does/not/exist.csv'", SqlState::UNDEFINED_FILE),
        ("t u", SqlState::SYNTAX_ERROR),
        ("", SqlState::SYNTAX_ERROR),
    ] {
        assert_eq!(state(&c, &format!("describe {of}")), expected, "{of}");
        assert_eq!(state(&c, &format!("summarize {of}")), expected, "{of}");
    }
    let _ = std::fs::remove_file(&path);
}

#[test]
fn columns_are_summarized() {
    let path = directory("summarized.csv");
    std::fs::write(&path, "x\n1\n2\n").expect("it is written");
    let c = memory();
    rows(
        &c,
        "create table t (n integer, d date, s text, f double precision, b boolean, j jsonb, \"odd 'name'\" decimal(6,2)); \
         insert into t select g, date '2024-01-01' + g, 'v' || g % 3, g / 2.0, g > 2, null, g * 1.5 from generate_series(1, 4) g; \
         insert into t values (null, null, null, null, null, '{\"a\": 1}', null)",
    );
    let expected = "n|integer|1|4|4|2.5|1.2909944487358056|1|2|3|5|20.00\n\
                    d|date|2024-01-02|2024-01-05|4|||2024-01-02|2024-01-03|2024-01-04|5|20.00\n\
                    s|text|v0|v2|3||||||5|20.00\n\
                    f|double precision|0.5|2|4|1.25|0.6454972243679028|0.5|1|1.5|5|20.00\n\
                    b|boolean|||2||||||5|20.00\n\
                    j|jsonb|||1||||||5|80.00\n\
                    odd 'name'|decimal(6,2)|1.50|6.00|4|3.75|1.9364916731037085|1.50|3.00|4.50|5|20.00";
    assert_eq!(rows(&c, "summarize t"), expected);
    assert_eq!(rows(&c, "summarize select * from t -- all"), expected);
    assert_eq!(
        rows(&c, "summarize (select 1 as a, 2 as a where false)"),
        "a|integer|||0||||||0|\na|integer|||0||||||0|"
    );
    let file = rows(&c, &format!("summarize '{}'", path.display()));
    assert_eq!(file, "x|bigint|1|2|2|1.5|0.7071067811865476|1|1|2|2|0.00");
    // Every type that a column has.
    rows(
        &c,
        "create table every (a smallint, b bigint, c real, e decimal(38,10), f char(3), g varchar(5), h time, i timestamp, \
         k timestamptz, l interval, m uuid, o bytea, p json, q integer[], r text[])",
    );
    assert_eq!(rows(&c, "summarize every").lines().count(), 15);
    let _ = std::fs::remove_file(&path);
}
