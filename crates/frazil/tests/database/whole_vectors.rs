//! Sums, counts and extremes of whole columns, which kernels take a vector at a time, are those of a loop over rows.

use crate::{memory, rows};

const COLUMNS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "none", "same"];

/// The table of `count` rows; in memPAX partitions of `partition` rows if they are hot.
fn filled(count: usize, layout: &str) -> frazil::Connection {
    let c = memory();
    rows(
        &c,
        &format!(
            "create table t (id integer not null, a smallint not null, b integer, c bigint not null, d date,
                 e decimal(12, 2),
                             f bigint, none integer, same smallint not null) {layout}"
        ),
    );
    rows(
        &c,
        &format!(
            "insert into t select i, i * 31 % 60001 - 30000, case when i % 7 > 0 then i * 7919 % 100003 - 50000 end,
                    (i * 7919 % 100003 - 50000) * 90000000000000,
                         case when i % 3 > 0 then date '2020-01-01' + cast(i % 5000 as integer) end,
                    i * 13 % 9973 / 8.0,
                         case i % 4 when 0 then 9223372036854775807 when 1 then -9223372036854775807 end, null, 5
             from generate_series(1::bigint, {count}) as g (i)"
        ),
    );
    c
}

#[test]
fn whole_columns_are_aggregated_as_their_rows_are() {
    for (count, layout) in [(0, ""), (1, ""), (66_000, ""), (20_001, "with (pax_rows = 512)")] {
        let c = filled(count, layout);
        for step in [
            "hot",
            "delete from t where id % 5 = 2 or id < 900",
            "freeze table t",
            "delete from t where a > 20000",
        ] {
            if step != "hot" {
                rows(&c, step);
            }
            for column in COLUMNS {
                for from in ["t", "t where id > 15000"] {
                    let whole = format!("select min({column}), max({column}), count({column}) from {from}");
                    // The loop over rows computes an argument, and a filter keeps all of them.
                    let by_row = format!(
                        "select min({column}) filter (where id > 0), max({column}) filter (where id > 0),
                             count({column}) filter (where id > 0)
                         from {from}"
                    );
                    for threads in [1, 2] {
                        rows(&c, &format!("set threads = {threads}"));
                        assert_eq!(rows(&c, &whole), rows(&c, &by_row), "{count} {step}: {whole}");
                    }
                }
            }
            let mixed = "select count(*), sum(c), min(b), max(b), sum(a), max(d), avg(b) from t";
            let by_row =
                "select count(*), sum(c), min(b), max(b), sum(a), max(d), avg(b) from t where id * 2 > id";
            assert_eq!(rows(&c, mixed), rows(&c, by_row), "{count} {step}");
        }
    }
}
