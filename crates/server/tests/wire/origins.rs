//! RowDescription names the table and the column that a column shows. The answers are PostgreSQL 15's.

use crate::client::{Answer, Client, Served, describe, parse, query, sync};
use frazil_testkit::Random;
use std::collections::HashMap;

/// A client of a database with tables `t` (a, c, d: numbers 1, 3, 4) and `u`, and views `v` and `w`.
fn client(served: &Served) -> Client {
    let mut client = served.client();
    let answers = client.ask(&[query(
        "create table t (a int, b text, c varchar(5));
         alter table t drop column b; alter table t add column d int;
         create table u (a int, e text);
         create view v as select a, a as a2, c, d + 1 as x from t;
         create view w as select * from v",
    )]);
    assert!(answers.ends_with("C[CREATE VIEW] C[CREATE VIEW] ZI"), "{answers}");
    client
}

/// The name of each relation by its oid.
fn names(client: &mut Client) -> HashMap<u32, String> {
    client.send(&query("select oid, relname from pg_class"));
    let rows = client.until_ready().into_iter().filter(|answer| answer.0 == b'D');
    rows.map(|row| {
        let values = row.values();
        (values[0].parse().unwrap(), values[1].clone())
    })
    .collect()
}

/// The origins in a RowDescription: `t.1`, and `-` for a column without one.
fn origins(description: &Answer, names: &HashMap<u32, String>) -> String {
    let mut rest = &description.1[2..];
    let mut origins = Vec::new();
    while !rest.is_empty() {
        let name = rest.iter().position(|&byte| byte == 0).unwrap();
        let fields = &rest[name + 1..];
        let relation = u32::from_be_bytes(fields[..4].try_into().unwrap());
        let column = i16::from_be_bytes(fields[4..6].try_into().unwrap());
        origins.push(match (relation, column) {
            (0, 0) => "-".to_owned(),
            _ => format!("{}.{column}", names.get(&relation).map_or("?", |name| name)),
        });
        rest = &fields[18..];
    }
    origins.join(" ")
}

/// The oids of the types in a RowDescription.
fn types(description: &Answer) -> Vec<u32> {
    // Behind each column's name: the relation's oid, the column's number, the type's oid.
    let mut rest = &description.1[2..];
    let mut types = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        types.push(u32::from_be_bytes(rest[end + 7..end + 11].try_into().unwrap()));
        rest = &rest[end + 19..];
    }
    types
}

/// The origins of a statement's columns by the simple protocol, and by Describe before it runs, which must agree.
fn told(client: &mut Client, names: &HashMap<u32, String>, text: &str) -> String {
    let described = |answers: &[Answer]| answers.iter().find(|a| a.0 == b'T').map(|a| origins(a, names));
    client.send(&[parse("", text, &[]), describe('S', ""), sync()].concat());
    let before = described(&client.until_ready());
    client.send(&query(text));
    let answers = client.until_ready();
    assert_eq!(described(&answers), before, "{text}");
    before.unwrap_or_else(|| {
        panic!(
            "{text}: {:?}",
            answers.iter().map(Answer::short).collect::<Vec<_>>()
        )
    })
}

#[test]
fn columns_keep_their_table_through_a_query() {
    let served = Served::trusting();
    let mut client = client(&served);
    let names = names(&mut client);
    for (text, origins) in [
        ("select a, c, d, a + 1 from t", "t.1 t.3 t.4 -"),
        ("select a::int, c::text, c::varchar(3) from t", "t.1 - -"),
        ("select * from v", "v.1 v.2 v.3 v.4"),
        ("select * from w", "w.1 w.2 w.3 w.4"),
        ("select x.* from (select a as q, d from t) x", "t.1 t.4"),
        ("select * from t join u using (a)", "t.1 t.3 t.4 u.2"),
        ("select * from t full join u using (a)", "- t.3 t.4 u.2"),
        ("select * from t left join u on t.a = u.a", "t.1 t.3 t.4 u.1 u.2"),
        ("select * from t natural right join u", "u.1 t.3 t.4 u.2"),
        (
            "with z as (select a, c from t) select z.a, y.c from z, z y",
            "t.1 t.3",
        ),
        (
            "with recursive r as (select a from t union all select a + 1 from r where a < 3) select a from r",
            "-",
        ),
        ("select a from t union select a from u", "-"),
        ("select a from t union all select a from t", "-"),
        ("select a from t intersect select a from u", "-"),
        ("select a from t except all select a from u", "-"),
        ("select distinct a from t", "t.1"),
        ("select distinct on (a) c, a from t order by a", "t.3 t.1"),
        ("select a, count(*), max(c) from t group by a", "t.1 - -"),
        ("select a, c from t group by rollup(a, c)", "t.1 t.3"),
        ("select a from t order by c limit 1", "t.1"),
        ("select (select a from t limit 1) from u", "-"),
        (
            "select x.a from u, lateral (select t.a from t where t.a = u.a) x",
            "t.1",
        ),
        ("select x.q from u, lateral (select u.a as q from t) x", "u.1"),
        ("select column1 from (values (1)) s", "-"),
        ("select g from generate_series(1, 2) g", "-"),
        ("select a as zz, count(*) over () from t", "t.1 -"),
        ("select * from (select a from t union select 1) x", "-"),
        ("table t", "t.1 t.3 t.4"),
        ("select * from t where a = 1 and d = a", "t.1 t.3 t.4"),
        (
            "select relname, oid from pg_class limit 0",
            "pg_class.2 pg_class.1",
        ),
        (
            "select table_name from information_schema.tables limit 0",
            "tables.3",
        ),
    ] {
        assert_eq!(told(&mut client, &names, text), origins, "{text}");
    }
}

#[test]
fn returning_shows_columns_of_the_table_that_is_written() {
    let served = Served::trusting();
    let mut client = client(&served);
    let names = names(&mut client);
    client.ask(&[query("insert into u values (7, 'x')")]);
    for (text, origins) in [
        ("insert into t (a) values (1) returning a, c, a + 1", "t.1 t.3 -"),
        (
            "insert into t (d, a) select a, a from u returning a, d",
            "t.1 t.4",
        ),
        (
            "insert into t (a) values (2) on conflict do nothing returning *",
            "t.1 t.3 t.4",
        ),
        ("update t set a = d, d = a returning d, t.*", "t.4 t.1 t.3 t.4"),
        (
            "update t set d = u.a, a = u.a from u returning t.a, t.d, u.a",
            "t.1 t.4 u.1",
        ),
        (
            "with i as (insert into t (a) values (5) returning a, c as cc) select * from i",
            "t.1 t.3",
        ),
        ("delete from t using u returning t.a, u.e", "t.1 u.2"),
    ] {
        assert_eq!(told(&mut client, &names, text), origins, "{text}");
    }
}

/// A query around another one, whose columns are called x1, x2 …, with columns of these names. Some queries hide
/// where values come from.
fn wrapped(inner: &str, columns: usize, random: &mut Random) -> (String, bool) {
    let list = (1..=columns)
        .map(|at| format!("x{at}"))
        .collect::<Vec<_>>()
        .join(", ");
    match random.below(9) {
        0 => (format!("select * from ({inner}) q"), false),
        1 => (format!("with q as ({inner}) select {list} from q"), false),
        2 => (
            format!("with q as materialized ({inner}) select q.* from q, (select 1) one"),
            false,
        ),
        3 => (format!("select distinct {list} from ({inner}) q"), false),
        4 => (
            format!("select {list} from ({inner}) q group by {list} order by 1 limit 3"),
            false,
        ),
        5 => (format!("select q.* from u left join ({inner}) q on true"), false),
        6 => (
            format!("select q.* from u cross join lateral ({inner}) q where u.a > 0"),
            false,
        ),
        7 => (
            format!("select * from ({inner}) q union all select * from ({inner}) r"),
            true,
        ),
        _ => (
            format!("select * from ({inner}) q intersect select * from ({inner}) r"),
            true,
        ),
    }
}

#[test]
fn generated_queries_keep_origins() {
    let served = Served::trusting();
    let mut client = client(&served);
    let names = names(&mut client);
    let mut random = Random::new(20_261_128);
    let known = [
        ("t.a", "t.1"),
        ("t.d", "t.4"),
        ("u.e", "u.2"),
        ("t.a + 1", "-"),
        ("v.x", "v.4"),
        ("v.a2", "v.2"),
    ];
    for _ in 0..60 {
        let columns = 1 + random.below(4) as usize;
        let chosen: Vec<_> = (0..columns)
            .map(|_| known[random.below(known.len() as u64) as usize])
            .collect();
        let list = chosen
            .iter()
            .enumerate()
            .map(|(at, (text, _))| format!("{text} as x{}", at + 1));
        let mut text = format!("select {} from t, u, v", list.collect::<Vec<_>>().join(", "));
        let mut is_hidden = false;
        for _ in 0..random.below(4) {
            let (around, hides) = wrapped(&text, columns, &mut random);
            (text, is_hidden) = (around, is_hidden || hides);
        }
        let expected = chosen
            .iter()
            .map(|(_, origin)| if is_hidden { "-" } else { origin });
        assert_eq!(
            told(&mut client, &names, &text),
            expected.collect::<Vec<_>>().join(" "),
            "{text}"
        );
    }
}

#[test]
fn vectors_of_the_catalog_have_types_and_texts_of_postgresql() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query(
        "create table t (a integer, b text, c integer, primary key (c, a))",
    )]);
    let text = "select v.indkey, v.indoption, v.indclass, conkey, conkey::text from \
                (select * from pg_index where indrelid = 't'::regclass) v, pg_constraint \
                where conrelid = 't'::regclass";
    client.send(&query(text));
    let answers = client.until_ready();
    assert_eq!(types(&answers[0]), [22, 22, 30, 1005, 25]);
    let values = answers[1].values();
    assert_eq!(
        [&values[0], &values[1], &values[3], &values[4]],
        ["3 1", "0 0", "{3,1}", "{3,1}"]
    );
    assert_eq!(values[2].split(' ').count(), 2);
}

#[test]
fn types_that_statements_define_are_told_by_their_numbers_in_pg_type() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query(
        "create type mood as enum ('sad', 'ok'); create domain calm as mood; create table t (m mood, c calm)",
    )]);
    client.send(&query("select oid, typarray from pg_type where typname = 'mood'"));
    let number = |text: &String| text.parse::<u32>().unwrap();
    let known: Vec<u32> = client.until_ready()[1].values().iter().map(number).collect();
    let [mood, moods] = known[..] else {
        panic!("{known:?}")
    };
    client.send(&query(
        "select 'ok'::mood, m, array[m], '{sad}'::mood[], c from t",
    ));
    let answers = client.until_ready();
    assert_eq!(types(&answers[0]), [mood, mood, moods, moods, mood]);
    let text = "select 1 from t where m = $1 and m = any ($2)";
    client.send(&[parse("", text, &[]), describe('S', ""), sync()].concat());
    let answers = client.until_ready();
    let parameters = answers
        .iter()
        .find(|answer| answer.0 == b't')
        .expect("they are told");
    let told: Vec<u32> = parameters.1[2..]
        .chunks_exact(4)
        .map(|oid| u32::from_be_bytes(oid.try_into().unwrap()))
        .collect();
    assert_eq!(told, [mood, moods]);
}
