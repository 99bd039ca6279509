//! Lengths of texts of which nothing else is needed, which scans count without the texts, are those of the texts.

use crate::{memory, rows};
use frazil::Connection;

/// Texts that blocks compress, find in a dictionary, or hold as one; of characters of one byte to four, NULL or not.
fn table(options: &str, count: usize) -> Connection {
    let c = memory();
    rows(
        &c,
        &format!(
            "create table t (id integer not null, k integer, url text not null, wide text, few text not null,
                 one text not null, none text,
                             code varchar(12) not null) {options}"
        ),
    );
    rows(
        &c,
        &format!(
            "insert into t select i, case when i % 13 > 0 then i * 7919 % 701 end,
                    case when i % 17 = 0 then ''
                         else 'https://site' || i % 97 || '.example.com/page-' || i * 7919 % 100003 end,
                    case when i % 7 = 0 then null when i % 5 = 0 then 'ünïcödé ' || i || ' 冰晶'
                         when i % 3 = 0 then '🧊' || i * 31 % 9973
                         else 'regular deposits sleep furiously ' || i end,
                    case i % 3 when 0 then 'é' when 1 then 'a longer text of a few' else '' end, 'Eis 冰', null,
                         'c' || i * 37 % 9999
             from generate_series(1::bigint, {count}) as g (i)"
        ),
    );
    c
}

const TEXTS: [&str; 6] = ["url", "wide", "few", "one", "none", "code"];

/// Queries about the lengths of a text `{s}`; `{n}` is another expression of its length, which needs the text.
const QUERIES: [&str; 8] = [
    "select k, sum({n}), count({n}), min({n}), max({n}) from t group by k order by k",
    "select k % 5 as m, avg({n}), count(*) from t where {s} <> '' group by m order by m",
    "select count({n}), sum({n}), max({n}) from t",
    "select sum({n}) from t where id % 1000 = 7",
    "select k, max(l), sum(l * 2 + {n}) from (select k, {s}, {n} as l
         from t where id > 2000) as q where l > 3 group by k order by k",
    "select {n} as l, count(*) from t group by l order by l",
    "select id % 3 as m, count(*) filter (where {n} > 8), max({s}) from t group by m order by m",
    "select id % 2011 as m, k, sum({n}) as n from t group by m, k order by n desc, m, k limit 50",
];

#[test]
fn lengths_that_are_counted_are_those_of_the_texts() {
    for (options, count) in [
        ("", 0),
        ("", 6_000),
        ("with (pax_rows = 256)", 4_000),
        ("with (encoding = raw)", 6_000),
    ] {
        let c = table(options, count);
        for step in [
            "",
            "delete from t where id % 50 = 3",
            "freeze table t",
            "delete from t where k < 600",
        ] {
            rows(&c, step);
            for text in TEXTS {
                for query in QUERIES {
                    let asked = |length: &str| query.replace("{n}", length).replace("{s}", text);
                    let expected = rows(&c, &asked(&format!("length({text} || '')")));
                    for stages in ["fused", "relaxed", "staged"] {
                        rows(&c, &format!("set frazil.stages = '{stages}'"));
                        let found = rows(&c, &asked(&format!("length({text})")));
                        assert_eq!(found, expected, "{options} {step} {stages} {text}: {query}");
                    }
                }
            }
        }
    }
}

#[test]
fn lengths_of_a_few_rows_are_those_of_their_texts() {
    let c = table("", 6_000);
    rows(&c, "create index on t (k)");
    for step in ["", "freeze table t"] {
        rows(&c, step);
        for text in TEXTS {
            for value in [5, 700, 9999] {
                for query in [
                    "select sum({n}), count({n}) from t where k = {v}",
                    "select id % 2 as m, sum({n}) from t where k = {v} group by m order by m",
                    "select id, {n} as l from t where k = {v} order by l desc, id limit 3",
                ] {
                    let asked =
                        |length: &str| query.replace("{n}", length).replace("{v}", &value.to_string());
                    let (found, expected) = (
                        asked(&format!("length({text})")),
                        asked(&format!("length({text} || '')")),
                    );
                    assert_eq!(rows(&c, &found), rows(&c, &expected), "{step}: {found}");
                }
            }
        }
    }
}
