//! Stage vectors that are refilled across vectors and chunks of the source answer as stages without vectors do.

use crate::{memory, rows};

/// Queries in which few rows of many reach a boundary, with all kinds of sinks, and with values that do not outlive a
/// source vector.
const QUERIES: [&str; 22] = [
    "select count(*), sum(x), sum(y) from t join u on u.k = t.a join v on v.k = t.b where t.c % 17 = 3",
    "select count(*), sum(t.a), sum(y) from t join v on v.k = t.b and t.c % 5 > 2 join u on u.k = t.a + y - y",
    "select count(*), count(x), sum(t.c) from t left join u on u.k = t.a where t.c % 31 < 2",
    "select count(*), count(t.a), sum(y) from v left join t on v.k = t.b and t.c % 3 = 0",
    "select count(*), count(t.c), count(v.y) from t full join v on v.k = t.b",
    "select count(*), sum(c) from t where exists (select 1 from u where u.k = t.a) and c % 7 = 1",
    "select count(*), sum(c) from t where not exists (select 1 from u where u.k = t.a and u.x > 5) and c % 7 = 1",
    "select count(*), sum(c) from t where a in (select k from u) or c < 100",
    "select count(*) from u where not exists (select 1 from t where t.a = u.k and t.c % 11 = 0)",
    "select t.s, count(*), sum(x) from t join u on u.k = t.a where t.c % 13 = 0 group by t.s order by t.s",
    "select t.s || u.name, count(*) from t join u on u.k = t.a where t.c % 13 = 0 group by 1 order by 1 limit 20",
    "select u.name, count(*), max(t.c) from t join u on u.k = t.a where t.c % 13 = 0 \
     group by u.name order by 1 limit 20",
    "select t.a, sum(t.d), avg(t.d) from t join u on u.k = t.a where t.c % 5 = 0 group by t.a order by 1 limit 30",
    "select t.a, array_agg(t.c order by t.c), min(u.name) from t join u on u.k = t.a where t.c % 97 = 0 \
     group by t.a order by 1 limit 30",
    "select t.c, t.s, u.name from t join u on u.k = t.a where t.c % 501 = 7 order by t.c limit 15",
    "select t.c, u.name from t join u on u.k = t.a where t.c % 2 = 7 order by t.c",
    "select c, upper(s) from t join u on u.k = t.a where length(s || name) > 9 and t.c % 101 = 0 order by c limit 9",
    "select sum(rank) from (select rank() over (partition by u.x order by t.c) from t join u on u.k = t.a \
     where t.c % 3 = 0) r (rank)",
    "select count(*) from (select distinct t.a, u.x from t join u on u.k = t.a where t.c % 9 = 4) as d",
    "select count(*), sum(w) from (select t.w from t join u on u.k = t.a join v on v.k = t.b where t.c % 4 = 1) as q",
    "select count(*), sum(t.c) from t, t2 where t.a = t2.a and t.b = t2.b and t.c % 50 = 0 and t2.c < 3000",
    "with recursive r (k, n) as (select k, 1 from u where k < 40 \
     union all select v.k + r.k - v.k + 1, n + 1 from r join v on v.k = r.n
        where n < 50) select count(*), sum(n), sum(k) from r",
];

/// Policies, rows of a stage vector, threads, early probes.
const WAYS: [(&str, usize, usize, &str); 3] = [
    ("staged", 64, 1, "off"),
    ("staged", 5000, 2, "on"),
    ("relaxed", 1024, 1, "off"),
];

#[test]
fn refilled_vectors_answer_as_fused_stages_do() {
    let c = memory();
    rows(
        &c,
        "create table t (a bigint, b integer, c integer not null, d double precision, w decimal(30, 2), \
         s text not null)",
    );
    rows(
        &c,
        "insert into t select case when i % 19 = 0 then null else i * 7919 % 5000 end, \
         case when i % 23 = 0 then null else i % 300 end,
            i, i * 0.25, i * 1000000000000.01, 'a text of some length ' || i % 40 \
            from generate_series(1, 70000) as g (i)",
    );
    rows(&c, "create table t2 as select * from t where c <= 20000");
    rows(&c, "create table u (k bigint, x integer not null, name text)");
    rows(
        &c,
        "insert into u select i * 3, i % 50, 'name ' || i from generate_series(1, 1600) as g (i)",
    );
    rows(
        &c,
        "insert into u values (null, 1, null), (9, 7, 'a second nine'), (12, 8, null)",
    );
    rows(
        &c,
        "create table v as select i as k, i % 7 as y from generate_series(0, 200) as g (i)",
    );
    rows(&c, "delete from t where c % 1000 < 3");
    for freeze in [false, true] {
        if freeze {
            rows(&c, "freeze table t; freeze table u");
        }
        for query in QUERIES {
            rows(
                &c,
                "set frazil.stages = 'fused'; set threads = 1; set frazil.stage_rows = 1024",
            );
            let expected = rows(&c, query);
            for (policy, stage_rows, threads, early) in WAYS {
                rows(
                    &c,
                    &format!(
                        "set frazil.stages = '{policy}'; set frazil.stage_rows = {stage_rows}; set threads = {threads};
                            set frazil.early_probes = {early}"
                    ),
                );
                let found = rows(&c, query);
                assert_eq!(
                    found, expected,
                    "{policy} {stage_rows} {threads} {early} {freeze}: {query}"
                );
            }
            rows(&c, "set frazil.prefetch_rows = 0; set frazil.stages = 'staged'");
            assert_eq!(rows(&c, query), expected, "without prefetching: {query}");
            rows(&c, "reset frazil.prefetch_rows");
        }
    }
}

#[test]
fn stage_vectors_are_full_where_the_source_has_enough() {
    let c = memory();
    rows(
        &c,
        "set frazil.stages = 'staged'; set frazil.early_probes = off; set threads = 1",
    );
    rows(&c, "create table t (a integer not null, c integer not null)");
    rows(
        &c,
        "insert into t select i % 1000, i from generate_series(1, 400000) as g (i)",
    );
    rows(
        &c,
        "create table u as select i as k, i as x from generate_series(0, 999, 10) as g (i)",
    );
    rows(
        &c,
        "create table v as select i as k, i as y from generate_series(0, 999) as g (i)",
    );
    for freeze in [false, true] {
        if freeze {
            rows(&c, "freeze table t");
        }
        let query =
            "select count(*), sum(x), sum(y) from t join u on u.k = t.a join v on v.k = t.a where c % 10 = 0";
        assert_eq!(rows(&c, query), "40000|19800000|19800000");
        let text = rows(&c, &format!("explain analyze {query}"));
        let percent = text.lines().filter_map(|line| {
            let (before, _) = line.split_once(" % full")?;
            before.rsplit(' ').next()?.parse::<u64>().ok()
        });
        let fills: Vec<u64> = percent.collect();
        assert!(
            !fills.is_empty() && fills.iter().all(|&fill| fill >= 90),
            "{text}"
        );
    }
}
