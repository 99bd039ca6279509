//! Queries find indexes on expressions and partial indexes, and answer as without them.

use crate::lookups::answer;
use crate::{memory, rows};
use frazil::Connection;
use frazil_testkit::Random;

/// A table of 5,000 rows, in which one of 7 rows has no text, and one of 10 no number.
fn table(c: &Connection) {
    rows(
        c,
        "create table t (id integer, email text, a integer, b bigint, d date, done boolean,
            name varchar(20))",
    );
    rows(
        c,
        "insert into t select n, case when n % 7 > 0 then 'User' || n % 900 || '@X' end,
            case when n % 10 > 0 then n % 400 end, n * 3, date '2020-01-01' + n % 1000, n % 50 > 0, 'U' || n % 800
            from generate_series(1, 5000) g (n)",
    );
}

/// True if a query reads rows of the index `k`.
fn uses(c: &Connection, query: &str) -> bool {
    let plan = rows(c, &format!("explain analyze {query}"));
    plan.contains("rows of index k") || plan.contains("by index k")
}

/// Texts that follow CREATE INDEX, with predicates that the index serves, and predicates that it does not serve.
const INDEXES: [(&str, &[&str], &[&str]); 14] = [
    (
        "(lower(email))",
        &[
            "lower(email) = 'user77@x'",
            "'user77@x' = lower(email) and a > 3",
            "lower(email) in ('user77@x', 'user78@x')",
            "lower(t.email) = 'user78@x'",
        ],
        &["upper(email) = 'USER77@X'", "email = 'User77@X'"],
    ),
    (
        "((a + b))",
        &["a + b = 8", "8 = a + b and id > 3"],
        &["b + a = 8", "a + b is null"],
    ),
    ("((a % 100), id)", &["a % 100 = 7 and id < 100"], &["a % 99 = 7"]),
    (
        "(coalesce(a, -1), id)",
        &["coalesce(a, -1) = 77"],
        &["coalesce(a, -2) = 77"],
    ),
    (
        "((case when a > 390 then a end))",
        &["case when a > 390 then a end = 395"],
        &["case when a > 391 then a end = 395"],
    ),
    (
        "(id) where not done",
        &[
            "not done and id < 200",
            "not done and id = 50 and a is null",
            "done = false and id < 200",
            "true <> done and id = 50",
        ],
        &["id < 20", "done and id < 20", "done <> false and id < 20"],
    ),
    (
        "(id) where a > 300",
        &[
            "a > 390 and id = 50",
            "a = 350 and id = 50",
            "a in (301, 350) and id = 50",
        ],
        &[
            "a > 299 and id < 20",
            "a in (300, 350) and id < 20",
            "a < 350 and id < 20",
        ],
    ),
    (
        "(id) where email is not null",
        &[
            "email = 'User77@X' and id = 77",
            "lower(email) like 'user7%' and id = 77",
        ],
        &[
            "email is null and id < 20",
            "coalesce(email, 'x') = 'x' and id < 20",
        ],
    ),
    (
        "(lower(email)) where a = 77 or a = 78",
        &["lower(email) = 'user78@x' and a = 78"],
        &[
            "lower(email) = 'user78@x' and a = 79",
            "lower(email) = 'user78@x'",
        ],
    ),
    (
        "(id) where b > 100 and email <> 'User5@X'",
        &["b > 100 and id = 50 and email = 'User50@X'"],
        &["b > 100 and id < 60", "b > 99 and id < 60 and email = 'User50@X'"],
    ),
    // As pg_dump writes them.
    (
        "(lower((name)::text))",
        &["lower(name) = 'u77'", "lower(name::text) = 'u77'"],
        &["upper(name) = 'U77'"],
    ),
    (
        "(lower(name))",
        &["lower((name)::text) = 'u77'"],
        &["name = 'U77'"],
    ),
    (
        "(id) where ((name)::text = 'U77'::text)",
        &["name = 'U77' and id < 900"],
        &["name = 'U78' and id < 20"],
    ),
    ("(id) where true", &["id = 77"], &["a = 77"]),
];

#[track_caller]
fn ask_all(c: &Connection) {
    let mut wrong = Vec::new();
    for (index, served, others) in INDEXES {
        rows(c, &format!("create index k on t {index}"));
        for (predicates, expected) in [(served, true), (others, false)] {
            for predicate in predicates {
                let query = format!("select id, email, a from t where {predicate} order by id");
                answer(c, &query);
                if uses(c, &query) != expected {
                    wrong.push(format!("{index}: {predicate}: used {}", !expected));
                }
            }
        }
        rows(c, "drop index k");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn predicates_find_the_index_of_their_expression() {
    let c = memory();
    table(&c);
    ask_all(&c);
}

#[test]
fn predicates_find_the_index_of_their_expression_in_frozen_rows() {
    let c = memory();
    table(&c);
    rows(&c, "freeze table t");
    ask_all(&c);
}

#[test]
fn one_row_is_looked_up_by_a_unique_expression() {
    let c = memory();
    table(&c);
    rows(&c, "create unique index k on t ((id * 2)) where b > 5");
    let query = "select a from t where id * 2 = 42 and b > 7";
    let plan = rows(&c, &format!("explain {query}"));
    assert!(plan.contains("looked up by index k"), "{plan}");
    assert_eq!(answer(&c, query), answer(&c, "select a from t where id = 21"));
    let plan = rows(&c, "explain select a from t where id * 2 = 42");
    assert!(!plan.contains("index k"), "{plan}");
}

#[test]
fn parameters_and_writes_find_the_index() {
    let c = memory();
    table(&c);
    rows(&c, "create index k on t (lower(email))");
    rows(&c, "prepare p as select count(*) from t where lower(email) = $1");
    assert_eq!(
        rows(&c, "execute p ('user77@x')"),
        rows(&c, "select count(*) from t where email = 'User77@X'")
    );
    rows(&c, "update t set email = 'Gone' where lower(email) = 'user77@x'");
    assert_eq!(rows(&c, "execute p ('user77@x')").trim(), "0");
    assert!(uses(&c, "select id from t where lower(email) = 'gone'"));
    rows(&c, "delete from t where lower(email) = 'gone'");
    assert_eq!(rows(&c, "execute p ('gone')").trim(), "0");
}

#[test]
fn an_expression_that_fails_outside_of_the_partial_index_is_not_read_there() {
    let c = memory();
    table(&c);
    rows(&c, "insert into t (id, a) values (-1, 0)");
    rows(&c, "create index k on t ((1000 / a)) where a > 0");
    assert_eq!(answer(&c, "select count(*) from t where 1000 / a = 5"), "22012");
    answer(&c, "select count(*) from t where 1000 / a = 5 and a > 0");
    rows(&c, "update t set a = null where a = 0");
    answer(&c, "select count(*) from t where 1000 / a = 5");
}

/// Random predicates over rows that change have the same rows with four indexes and without.
#[test]
fn random_predicates_over_changing_rows_have_one_answer() {
    let c = memory();
    table(&c);
    rows(
        &c,
        "create index k on t (lower(email)); create index k1 on t ((a + b)) where not done;
         create index k2 on t ((a % 10), id) where a > 100; create index k3 on t ((b - id)) where email is not null",
    );
    let mut random = Random::new(49);
    const PARTS: [&str; 14] = [
        "lower(email) = 'user%@x'",
        "lower(email) > 'user%'",
        "a + b = %",
        "a + b < %",
        "a % 10 = 3",
        "a > %",
        "a = %",
        "a in (101, %, 350)",
        "not done",
        "b - id = %",
        "email is not null",
        "email <> 'User%@X'",
        "(a > 200 or a = 150)",
        "coalesce(done, false)",
    ];
    let part = |random: &mut Random| {
        let part = PARTS[random.below(PARTS.len() as u64) as usize];
        match part.contains("% 10") {
            true => part.to_string(),
            false => part.replace('%', &random.below(450).to_string()),
        }
    };
    for turn in 0..120 {
        let (first, second) = (part(&mut random), part(&mut random));
        let joined = if random.below(4) == 0 { "or" } else { "and" };
        answer(
            &c,
            &format!("select id, a, b from t where {first} {joined} {second} order by id"),
        );
        match turn % 12 {
            3 => drop(rows(
                &c,
                &format!("update t set a = a + 7, done = not done where {first}"),
            )),
            5 => drop(rows(
                &c,
                &format!("update t set email = upper(email) || 'z' where {second} and id % 3 = 0"),
            )),
            7 => drop(rows(
                &c,
                &format!("delete from t where {first} and {second} and id % 5 = 0"),
            )),
            9 => drop(rows(
                &c,
                "insert into t select id + 10000, email, a - 1, b, d, done from t where id % 97 = 0",
            )),
            11 if turn == 59 => drop(rows(&c, "freeze table t")),
            _ => {}
        }
    }
}
