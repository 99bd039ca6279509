//! Statements whose text is short or flat, and whose plan is deep, wide, or reads what stands before it again and again:
//! each is answered or refused in time, in a thread with a small stack, under a memory limit.

use crate::{memory, rows};
use frazil::SqlState;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// `n` parts, of which `{i}` is the number and `{j}` the one before it.
fn parts(n: usize, part: &str, between: &str) -> String {
    let part = |i: usize| {
        part.replace("{i}", &i.to_string())
            .replace("{j}", &(i - 1).to_string())
    };
    (1..=n).map(part).collect::<Vec<_>>().join(between)
}

/// A query around a query, `n` times.
fn nested(n: usize, head: &str, core: &str, tail: &str) -> String {
    format!("{}{core}{}", head.repeat(n), tail.repeat(n))
}

fn statements() -> Vec<String> {
    let max = "(select max(y.a) + {i} from t y where y.b = t.b)";
    let one = "(select y.a + {i} from t y where y.b = t.b + {i})";
    let among = "b in (select a + {i} from t)";
    let mut all = Vec::new();
    for n in [1_000, 3_400] {
        all.push(format!("select {} from t", parts(n, among, ", ")));
    }
    all.push(format!("select {} from t", parts(4_000, max, ", ")));
    all.push(format!("select {} from t", parts(2_000, max, ", ")));
    for n in [430, 4_000] {
        all.push(format!("select coalesce({}) from t", parts(n, one, ", ")));
        all.push(format!("select a from t where {}", parts(n, among, " or ")));
    }
    for link in [
        ", lateral (select t{j}.a + 1 as a) t{i}",
        " left join lateral (select t{j}.a + 1 as a) t{i} on true",
        ", lateral (values (t{j}.a + 1)) t{i} (a)",
        ", lateral (values (t{j}.a + 1), (t{j}.a)) t{i} (a)",
    ] {
        all.push(format!("select count(*) from t t0{}", parts(56, link, "")));
    }
    let link = ", lateral (select max(x.a + t{j}.a) as a from t x) t{i}";
    all.push(format!("select count(*) from t t0{}", parts(36, link, "")));
    for tail in [
        ") q where a >= 0",
        ") q where a + a >= 0",
        ") q group by a having a >= 0",
    ] {
        let query = nested(
            52,
            "select a + a as a from (",
            "select a from t where a >= 0",
            tail,
        );
        all.push(format!("select * from ({query}) q"));
    }
    let joined = "select x.a from t x join t y on x.a = y.b";
    let query = nested(52, "select a + a - a as a from (", joined, ") q where a + a >= 0");
    all.push(format!("select count(*) from ({query}) q"));
    for n in [1_000, 6_000] {
        all.push(format!(
            "select {} from t",
            parts(n, "count(distinct a + {i})", ", ")
        ));
        let both = parts(n, "count(distinct a + {i}), sum(a + {i})", ", ");
        all.push(format!("select {both} from t group by b"));
    }
    all.push(format!(
        "select a from t order by {}",
        parts(20_000, "a + {i}", ", ")
    ));
    all.push(format!(
        "select a from t order by {}",
        parts(1_600, "a + {i}", ", ")
    ));
    all.push(format!(
        "select a from t group by a, {}",
        parts(1_600, "a % {i}", ", ")
    ));
    for kept in ["", "materialized "] {
        let link = format!(", c{{i}} as {kept}(select distinct x.a from c{{j}} x, c{{j}} y where x.a = y.a)");
        let chain = parts(80, &link, "");
        all.push(format!(
            "with c0 as (select distinct a from t){chain} select * from c80"
        ));
    }
    all
}

#[test]
fn what_doubles_or_is_wide_is_answered_or_refused_in_time() {
    // Builds without optimization take several times as long to hear of the timeout.
    let heard = Duration::from_millis(if cfg!(debug_assertions) { 4_000 } else { 2_200 });
    let work = move || {
        let c = memory();
        rows(&c, "create table t (a int, b int)");
        rows(&c, "insert into t values (1, 2), (2, 3), (3, 1)");
        rows(&c, "set memory_limit = '200MB'");
        rows(&c, "set statement_timeout = '2s'");
        let mut failed = String::new();
        for sql in statements() {
            let begun = Instant::now();
            let outcome = c.execute(&sql).map(|_| "an answer").map_err(|e| e.state());
            let took = begun.elapsed();
            let allowed = [
                SqlState::QUERY_CANCELED,
                SqlState::OUT_OF_MEMORY,
                SqlState::STATEMENT_TOO_COMPLEX,
                SqlState::TOO_MANY_COLUMNS,
                SqlState::NUMERIC_OUT_OF_RANGE,
            ];
            let is_allowed = outcome
                .as_ref()
                .map_or_else(|state| allowed.contains(state), |_| true);
            println!("{outcome:?} in {took:?}: {:.90}", sql);
            if took > heard || !is_allowed {
                let _ = writeln!(failed, "{outcome:?} in {took:?}: {:.90}", sql);
            }
        }
        assert!(failed.is_empty(), "{failed}");
    };
    let thread = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(work)
        .unwrap();
    thread.join().unwrap();
}

#[test]
fn chains_that_read_twice_are_answered() {
    let c = memory();
    rows(&c, "create table t (a int, b int)");
    rows(&c, "insert into t values (1, 2), (2, 3), (3, 1)");
    let count = |link: &str, n: usize| rows(&c, &format!("select count(*) from t t0{}", parts(n, link, "")));
    assert_eq!(count(", lateral (select t{j}.a + 1 as a) t{i}", 40), "3");
    assert_eq!(
        count(" left join lateral (select t{j}.a + 1 as a) t{i} on true", 40),
        "3"
    );
    assert_eq!(
        count(", lateral (select max(x.a + t{j}.a) as a from t x) t{i}", 30),
        "3"
    );
    let chain = parts(
        60,
        ", c{i} as (select distinct x.a from c{j} x, c{j} y where x.a = y.a)",
        "",
    );
    let sql = format!("with c0 as (select distinct a from t){chain} select sum(a) from c60");
    assert_eq!(rows(&c, &sql), "6");
    let query = nested(
        28,
        "select a + a as a from (",
        "select a from t where a >= 0",
        ") q where a >= 0",
    );
    assert_eq!(
        rows(&c, &format!("select max(a) from ({query}) q")),
        (3i64 << 28).to_string()
    );
}
