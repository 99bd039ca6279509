//! Cursors that pause: the pieces are the rows of the whole, however they are cut, and what a paused cursor holds is
//! little, counted, and no thread.

use crate::{memory, process_of_its_own, rows, state};
use frazil::{Connection, SqlState};
use frazil_testkit::Random;

/// Queries with different last pipelines: scans, joins that multiply rows, breakers, limits, unions, recursion.
/// Each has an end, which a run reaches.
const QUERIES: [&str; 19] = [
    "select a, s from t",
    "select a from t where a % 1999 = 3",
    "select a from t where a < 0",
    "select x.a, y.v from t x, (values (1), (2), (3)) y(v) where x.a < 5000",
    "select x.a, generate_series(1, x.a % 50) from t x where x.a < 700",
    "select a, s from t order by s desc",
    "select a % 977, count(*), max(s) from t group by a % 977",
    "select a from t limit 9000 offset 3000",
    "select a from t where a < 100 union all select -a from t union all select 7 from t where a > 19900",
    "with recursive r(n) as (values (1) union all select n + 1 from r where n < 3000) select n from r",
    "select x.a, y.s from t x left join (select * from t where a % 3 = 0) y on x.a = y.a",
    "select a, sum(a) over (order by a) from t",
    "select x.a, y.a, x.s || y.a from t x, t y where x.a < 7 and y.a < 3000",
    "select x.a, y.a from t x join t y on x.a > y.a and x.a < y.a + 9 where x.a < 3000",
    "select x.a, y.a, z.a from t x left join t y on y.a < x.a - 90, t z where x.a < 110 and z.a < 90",
    "select x.a, y.a from (select * from t where a < 90) x full join \
     (select * from t where a < 4000) y on x.a > y.a * 7",
    "select x.a, y.a from (select a % 3 as k, a from t where a < 9000) x join \
     (select a % 3 as k, a from t where a < 6) y on x.k = y.k",
    "select x.a, e, n from t x, lateral \
     unnest(array(select g || 'th' from generate_series(1, x.a) g)) with ordinality u(e, n) where x.a < 150",
    "select x.a, d, y.a from t x, \
     generate_series(timestamp '2024-01-31', timestamp '2026-01-31', interval '1 month') d, t y \
     where x.a < 9 and y.a < 30",
];

/// Queries one source row of which makes more rows than a cursor may hold under `memory_limit`.
const MANY_OF_ONE: [&str; 8] = [
    "select * from t x, t y",
    "select * from t x, t y where x.a <> y.a",
    "select * from t x join t y on x.a <= y.a + 19000",
    "select * from t x left join t y on x.a >= y.a or x.a is null",
    "select * from t x, generate_series(1, 100000000) g",
    "select * from t x, unnest(array(select a from t)) u, t z",
    "select * from (select a, a / 20000 as k from t) x join (select a, s, a / 20000 as k from t) y on x.k = y.k",
    "select x.a, upper(y.s), z.s from t x, t y, t z where length(x.s || y.s || z.s) > 3",
];

fn numbers() -> Connection {
    let c = memory();
    rows(&c, "set threads = 2");
    rows(
        &c,
        "create table t as select g::int as a, 'row ' || g as s from generate_series(0, 19999) g",
    );
    c
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// A random number of rows, small ones and large ones alike.
fn piece(random: &mut Random) -> u64 {
    let bits = 1 + random.below(14);
    1 + random.below(1 << bits)
}

#[test]
fn pieces_of_any_size_are_the_rows_of_the_whole() {
    let c = numbers();
    for seed in 0..2 {
        let mut random = Random::new(seed);
        rows(&c, "begin");
        // All cursors are open at the same time, and are fetched from by turns.
        for (at, sql) in QUERIES.iter().enumerate() {
            let scroll = ["", "scroll", "no scroll"][random.index(3)];
            rows(&c, &format!("declare c{at} {scroll} cursor for {sql}"));
        }
        let mut taken: Vec<Option<String>> = vec![Some(String::new()); QUERIES.len()];
        let mut given = vec![String::new(); QUERIES.len()];
        while taken.iter().any(Option::is_some) {
            let at = random.index(QUERIES.len());
            let Some(so_far) = &mut taken[at] else { continue };
            let piece = match random.below(20) {
                0 => "all".to_owned(),
                _ => piece(&mut random).to_string(),
            };
            let more = rows(&c, &format!("fetch {piece} from c{at}"));
            match more.is_empty() {
                true => given[at] = taken[at].take().unwrap_or_default(),
                false => *so_far += &format!("{more}\n"),
            }
        }
        rows(&c, "commit");
        for (sql, given) in QUERIES.iter().zip(&given) {
            let whole = rows(&c, sql);
            assert_eq!(sorted(given), sorted(&whole), "seed {seed}: {sql}");
            if sql.contains("order by s") {
                assert_eq!(given.trim_end(), whole, "seed {seed}: {sql}");
            }
        }
    }
}

#[test]
fn a_row_is_fetched_without_all_pairs_of_a_vector() {
    let c = numbers();
    rows(&c, "set memory_limit = '24MB'");
    for sql in MANY_OF_ONE {
        rows(&c, &format!("begin; declare c cursor for {sql}"));
        for _ in 0..3 {
            assert_eq!(rows(&c, "fetch 1 from c").lines().count(), 1, "{sql}");
        }
        assert_eq!(rows(&c, "fetch 5000 from c").lines().count(), 5000, "{sql}");
        rows(&c, "rollback");
        assert_eq!(rows(&c, &format!("{sql} limit 3")).lines().count(), 3, "{sql}");
    }
}

#[test]
fn volatile_columns_of_a_row_are_the_same_in_all_pieces() {
    let c = numbers();
    rows(&c, "begin");
    let x = "(select a, random() as r from t) x";
    rows(
        &c,
        &format!("declare c cursor for select x.a, r from {x}, (select a from t where a < 3000) y"),
    );
    let mut given = Vec::new();
    while given.len() < 20_000 {
        given.extend(rows(&c, "fetch 700 from c").lines().map(str::to_owned));
    }
    given.sort();
    given.dedup();
    let mut outer: Vec<&str> = given.iter().filter_map(|line| line.split('|').next()).collect();
    outer.dedup();
    assert_eq!(given.len(), outer.len());
}

#[test]
fn an_error_in_a_later_piece_leaves_the_other_cursors() {
    let c = numbers();
    rows(&c, "begin; declare good cursor for select a from t order by a");
    rows(
        &c,
        "declare bad cursor for select 1 / (a - 19990), s, s || a from t",
    );
    assert_eq!(rows(&c, "fetch 1 from bad"), "0|row 0|row 00");
    rows(&c, "savepoint before");
    assert_eq!(state(&c, "move all in bad"), SqlState::DIVISION_BY_ZERO);
    assert_eq!(state(&c, "fetch from bad").0, "25P02");
    rows(&c, "rollback to before");
    assert_eq!(state(&c, "fetch from bad"), SqlState::NOT_IN_STATE);
    rows(&c, "rollback to before");
    assert_eq!(rows(&c, "fetch 2 from good"), "0\n1");
}

#[test]
fn what_paused_cursors_hold_counts_against_the_limit() {
    let c = numbers();
    rows(&c, "set memory_limit = '12MB'; begin");
    let open = |at: usize| {
        let declared = format!("declare c{at} cursor for select x.a, x.s, x.s || x.a from t x");
        c.execute(&declared)?;
        c.execute(&format!("fetch 10 from c{at}"))
    };
    let mut count = 0;
    let error = loop {
        rows(&c, "savepoint s");
        match open(count) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
        assert!(count < 1_000, "nothing is counted");
    };
    assert_eq!(error.state(), SqlState::OUT_OF_MEMORY);
    assert!(count >= 12, "a paused cursor holds more than 1 MB: {count}");
    rows(&c, "rollback to s");
    rows(&c, "close c0");
    let text = rows(&c, &format!("fetch 1 from c{}", count - 1));
    assert_eq!(text.split('|').count(), 3);
    rows(&c, "rollback");
    assert!(open(0).is_err_and(|error| error.state().0 == "25P01"));
    rows(&c, "begin");
    assert!(open(0).is_ok(), "what the cursors held was not given back");
}

#[test]
fn a_paused_cursor_has_no_thread() {
    process_of_its_own("paused_cursors::threads_of_a_hundred_paused_cursors");
}

#[test]
#[ignore = "counts the threads of its process: run by a_paused_cursor_has_no_thread"]
fn threads_of_a_hundred_paused_cursors() {
    let threads = || std::fs::read_dir("/proc/self/task").map(Iterator::count).ok();
    let c = numbers();
    rows(&c, "begin; declare first cursor for select * from t");
    rows(
        &c,
        "fetch 10 from first; move 5000 in first; select count(*) from t",
    );
    let before = threads();
    for at in 0..100 {
        rows(&c, &format!("declare c{at} cursor for select * from t"));
        rows(&c, &format!("fetch {} from c{at}", 1 + at * 50));
    }
    assert_eq!(threads(), before);
}
