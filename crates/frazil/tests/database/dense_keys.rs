//! Joins by integer keys that lie dense: with gaps, without, and with a key that comes twice. However the table of the
//! join is addressed, and whether keys are read above it, rows are those of a join by texts, which uses a hash table.

use crate::rows;
use frazil::{Connection, Database};

const ROWS: i64 = 700;

/// A table whose rows have a number `n` and columns of many types, and rows to be joined with it.
fn filled(c: &Connection, key: &str, least: i64, build: &str) {
    rows(
        c,
        &format!(
            "drop table if exists b; drop table if exists p; \
             create table b (k {key}, t text, s smallint, i integer, l bigint, f double precision, d decimal(12,2), \
                             w decimal(30,5), y date, n integer not null); \
             create table p (k bigint, t text, m integer not null); \
             insert into b select k, k::text, nullif(n % 7, 3), n * 3, nullif(n % 5, 2) * 10000000000, n / 8.0, \
                                  n / 4.0, n * 1000000.5, date '2020-01-01' + n, n from (select k, (k - {least})::integer as n from ({build}) as g (k)) as q; \
             insert into p select k, k::text, m from (select {least} - 5 + i * 7 % {many} as k, i as m \
                                  from generate_series(0, {many}) as s (i)) as q; \
             insert into p values (null, null, -1), (9223372036854775807, '9223372036854775807', -2), \
                                  (-9223372036854775808, '-9223372036854775808', -3)",
            many = ROWS + 10
        ),
    );
}

/// Queries with `{on}` in the place of the condition.
const QUERIES: [&str; 13] = [
    "select count(*), sum(m) from p join b on {on}",
    "select count(*), sum(b.n), sum(m) from p join b on {on}",
    "select count(*), count(s), sum(s), sum(m) from p join b on {on}",
    "select count(*), sum(i), sum(l), count(l), sum(f), sum(d), sum(w), max(y) from p join b on {on}",
    "select count(*), sum(b.k), sum(p.k), sum(n) from p join b on {on}",
    "select count(*), count(n), sum(n), sum(m) from p left join b on {on}",
    "select count(*), count(n), count(m), sum(n) from p right join b on {on}",
    "select count(*), count(n), count(m), sum(n) from p full join b on {on}",
    "select count(*), sum(m) from p where exists (select 1 from b where {on})",
    "select count(*), sum(m) from p where not exists (select 1 from b where {on} and n % 2 = 0)",
    "select count(*), sum(n) from p join b on {on} and n > m % 100",
    "select s, count(*), sum(m) from p join b on {on} group by s order by s",
    "select sum(case when exists (select 1 from b where {on}) then 1 else 100 end) from p",
];

#[test]
fn dense_integer_keys_join_as_texts_do() {
    let c = Database::memory().expect("memory is there").connect();
    rows(&c, "set threads = 2");
    let keys = [
        ("smallint", -40),
        ("integer", -2_000_000_000),
        ("integer", 0),
        ("bigint", 1 << 40),
    ];
    for (at, (key, least)) in keys.into_iter().enumerate() {
        let last = least + ROWS - 1;
        let full = format!("select i from generate_series({least}::bigint, {last}) as s (i)");
        let builds = [
            full.clone(),
            format!("select i from ({full}) as q (i) where i % 11 <> 3"),
            format!("select i from ({full}) as q (i) where i <> {least} + 5 union all select {least} + 9"),
            format!("select i from ({full}) as q (i) where i = {least}"),
        ];
        for build in builds {
            filled(&c, key, least, &build);
            if at % 2 == 1 {
                rows(&c, "freeze table b; freeze table p");
            }
            for stages in ["fused", "relaxed", "staged"] {
                rows(&c, &format!("set frazil.stages = '{stages}'"));
                for query in QUERIES {
                    let by_key = rows(&c, &query.replace("{on}", "p.k = b.k"));
                    let by_text = rows(&c, &query.replace("{on}", "p.t = b.t"));
                    assert_eq!(by_key, by_text, "{key} from {least}, {build}, {stages}: {query}");
                }
            }
        }
    }
}

/// A result that is fetched in pieces goes on within the rows of a key.
#[test]
fn a_join_by_dense_keys_is_fetched_in_pieces() {
    let c = Database::memory().expect("memory is there").connect();
    filled(
        &c,
        "integer",
        0,
        &format!("select i from generate_series(0, {}) as s (i)", ROWS - 1),
    );
    rows(
        &c,
        "begin; declare found cursor for select m, i from p join b on p.k = b.k",
    );
    let (mut count, mut sum) = (0, 0);
    loop {
        let piece = rows(&c, "fetch 7 from found");
        if piece.is_empty() {
            break;
        }
        for line in piece.lines() {
            let (_, i) = line.split_once('|').expect("two cells");
            (count, sum) = (count + 1, sum + i.parse::<i64>().expect("a number"));
        }
    }
    rows(&c, "commit");
    let whole = rows(&c, "select count(*), sum(i) from p join b on p.k = b.k");
    assert_eq!(format!("{count}|{sum}"), whole);
}

/// Rows of a join's table hold integers as narrow as the bounds of their columns allow. A statement that was compiled
/// before a value outgrew them is compiled anew.
#[test]
fn payloads_outgrow_the_bounds_that_they_had() {
    let c = Database::memory().expect("memory is there").connect();
    rows(
        &c,
        "create table b (k integer, t text, i integer, l bigint, d decimal(15,2), y date); \
         create table p (k integer, t text); insert into p select i, i::text from generate_series(0, 99) as s (i); \
         insert into b select i, i::text, i, i, i, date '2000-01-01' + i from generate_series(0, 9) as s (i); \
         prepare q as select count(*), sum(i), min(i), sum(l), max(l), sum(d), min(d), min(y), max(y) \
                      from p join b on p.k = b.k; \
         prepare s as select count(*), sum(i), min(i), sum(l), max(l), sum(d), min(d), min(y), max(y) \
                      from p join b on p.t = b.t",
    );
    let values = [
        "32767, 32767, 327.67, '2050-01-01'",
        "32768, 32768, 327.68, '2089-09-18'",
        "-32768, -32768, -327.68, '1880-01-01'",
        "-32769, -32769, -327.69, '1800-01-01'",
        "2147483647, 2147483647, 21474836.47, '5874897-12-31'",
        "-2147483648, 2147483648, -21474836.49, '4713-01-01 BC'",
        "null, 9223372036854775807, 9999999999999.99, 'infinity'",
        "null, -9223372036854775808, -9999999999999.99, '-infinity'",
        "null, null, null, null",
    ];
    for (at, value) in values.iter().enumerate() {
        assert_eq!(rows(&c, "execute q"), rows(&c, "execute s"), "before {value}");
        let key = at + 10;
        rows(&c, &format!("insert into b values ({key}, '{key}', {value})"));
        assert_eq!(rows(&c, "execute q"), rows(&c, "execute s"), "after {value}");
        if at % 3 == 2 {
            rows(&c, "freeze table b");
        }
    }
}
