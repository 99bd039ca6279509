//! Keys of indexes of every type, and what is asked of them.

/// The values of a row with number `n`, as a query's columns: every type a key may have, each value rare, some NULL.
pub const COLUMNS: &str = "n as id,
    case when n % 11 = 0 then null when n > 19900 then 32767 - n % 3 else n / 4 end::smallint as s,
    case when n % 13 = 0 then null else (n - 10000) * 1000003::bigint end as b,
    case when n % 17 = 0 then null else n * 0.25 - 1000 end::decimal(12,2) as d,
    case when n % 19 = 0 then null else n * 1000000007.125 end::decimal(30,3) as w,
    case when n in (5, 6005) then 'NaN'::double precision when n in (7, 7007) then -0e0 when n in (8, 9009) then 0e0
         when n = 9 then 'Infinity' when n = 10 then '-Infinity' when n % 23 = 0 then null
         else n * 0.5e0 + 1 end as x,
    case when n = 77 then '' when n % 29 = 0 then null else n / 5 || '  ' end::char(6) as c,
    case when n in (31, 32) then 'ä' when n = 33 then '' when n % 2 = 0 then 'a' else chr(66 + n % 20) end::char(1) as l,
    case when n = 99 then '' when n % 31 = 0 then null else 'text ' || n / 3 || repeat('é', n % 3) end as t,
    case when n % 37 = 0 then null else date '1990-01-01' + n / 6 end as day,
    case when n % 41 = 0 then null else timestamp '2000-01-01' + interval '1 minute' * (n / 2) end as ts,
    n % 2 = 0 as f";

/// Keys of indexes with the predicates that ask for few of their rows. `true`: the index must be used, with rows enough.
pub const KEYS: [(&str, &[(&str, bool)]); 22] = [
    (
        "id",
        &[
            ("id = 4711", true),
            ("id = 4711.0", false),
            ("id = 4711.5", false),
            ("id in (3, 19999, 3, null, 70000)", true),
            ("id in (3, null)", true),
            ("id in (null)", false),
            ("id = 3 or null", true),
            ("id not in (3, null)", false),
            ("id in (3, 19999, 3, 70000)", true),
            ("id in (3, 3000000000)", false),
            ("id not in (3, 4)", false),
            ("id between 100 and 109", true),
            ("id between 109 and 100", false),
            ("id between 100 and 109 and id <> 105", true),
            ("id > 19990", true),
            ("id >= 19990 and id < 19995", true),
            ("id < 7 and f", true),
            ("id > 10 and id < 9", false),
            ("id < 3 or id > 19997", false),
            ("id = 5 or id = 6", false),
            ("id = 5 and id = 6", false),
            ("id = null", false),
            ("id > 3000000000", false),
            ("id < 5 and id < 3000000000", false),
            ("id = 5 and id < 3000000000", false),
            ("id > 19995 and id > -3000000000", false),
            ("id > 19996 and t like 'text 66%'", true),
        ],
    ),
    (
        "s desc",
        &[
            ("s = 77", true),
            ("s < 3", true),
            ("s <= 2", true),
            ("s > 32766", false),
            ("s >= 32767", false),
            ("s = 32768", false),
            ("s > 32767", false),
            ("s < -32768", false),
            ("s between 70 and 73", true),
            ("s in (1, 2, 40000)", false),
            ("s = 70000 or s = 1", false),
        ],
    ),
    (
        "s nulls first",
        &[
            ("s < 3", true),
            ("s is null and id < 100", false),
            ("s between 1 and 2", true),
        ],
    ),
    (
        "s desc nulls last",
        &[
            ("s < 3", true),
            ("s between -5 and 2", true),
            ("s is not null and s < 2", true),
        ],
    ),
    (
        "b",
        &[
            ("b = -10000030", false),
            ("b = -9999*1000003::bigint", false),
            ("b > 9990 * 1000003::bigint", true),
        ],
    ),
    (
        "b desc",
        &[
            ("b > 9990 * 1000003::bigint", true),
            ("b < -9990000000", true),
            ("b = 5", true),
        ],
    ),
    (
        "d",
        &[
            ("d = 100.25", true),
            ("d = 100.250", false),
            ("d = 100.251", false),
            ("d < -999", true),
            ("d <= -999.005", false),
            ("d > 3997.501", false),
            ("d in (1, 1.5, 1.251)", false),
            ("d between 1 and 2", false),
            ("d = 1e0::double precision", false),
            ("d > 99999999999999", false),
        ],
    ),
    (
        "w desc",
        &[
            ("w = 1000000007.125", true),
            ("w < 5000000000", false),
            ("w > 19995000000000.5", false),
        ],
    ),
    (
        "x",
        &[
            ("x = 0", false),
            ("x = -0.0::double precision", false),
            ("x = 'NaN'", true),
            ("x >= 'NaN'", true),
            ("x > 'NaN'", true),
            ("x > 'Infinity'", true),
            ("x > 9999", false),
            ("x < 3", false),
            ("x <= '-Infinity'", true),
            ("x < '-Infinity'", true),
            ("x >= 0 and x <= 0", false),
            ("x between 'NaN' and 'NaN'", false),
            ("x in (0, 'NaN', 3.5)", false),
        ],
    ),
    (
        "x desc nulls last",
        &[
            ("x = 0", false),
            ("x >= 'NaN'", true),
            ("x > 9999", false),
            ("x < 0", false),
            ("x < 3", false),
        ],
    ),
    (
        "c",
        &[
            ("c = '40'", true),
            ("c = '40    '", true),
            ("c = '40        '", false),
            ("c = ''", false),
            ("c > '9998'", false),
            ("c <= '1'", false),
            ("c between '300' and '3001 '", false),
            ("c in ('7', '8   ', 'a longer text')", false),
            ("c like '300%'", false),
            ("c = 'a longer text'", false),
            ("c::text = '40'", false),
        ],
    ),
    (
        "c desc",
        &[
            ("c = '40'", true),
            ("c < '1 '", false),
            ("c > '3999'", false),
            ("c >= '3999'", false),
        ],
    ),
    (
        "l, x",
        &[
            ("l = 'ä'", true),
            ("l = ''", false),
            ("l = 'ä' and x > 3", true),
            ("l = 'ab' and x > 3", false),
            ("l in ('ä', 'ab') and x > 3", false),
            ("l > 'z'", false),
            ("l = 'a' and x < 4", false),
            ("l = 'C' and x = 2.5", false),
            ("l = ' ' and x > 9", false),
        ],
    ),
    (
        "t",
        &[
            ("t = 'text 100'", true),
            ("t = 'text 100é'", true),
            ("t = ''", true),
            ("t < 'text 10'", false),
            ("t > 'text 9999'", false),
            ("t between 'text 100' and 'text 100éé'", false),
            ("t like 'text 100_'", false),
            ("t like 'text 123%'", false),
            ("t in ('', 'text 7', 'text 7 ', null)", false),
        ],
    ),
    (
        "t desc nulls last",
        &[
            ("t = 'text 100'", true),
            ("t < 'text 0é'", false),
            ("t > 'text 999'", false),
        ],
    ),
    (
        "day",
        &[
            ("day = date '1991-05-05'", true),
            ("day < date '1990-01-03'", true),
            ("day between date '1990-01-02' and date '1990-01-03'", true),
            ("day = timestamp '1991-05-05 00:00:00'", false),
            ("day < timestamp '1990-01-01 12:00:00'", false),
        ],
    ),
    (
        "ts desc",
        &[
            ("ts = timestamp '2000-01-01 00:30:00'", true),
            ("ts < timestamp '2000-01-01 00:05:00'", true),
        ],
    ),
    (
        "f, day",
        &[
            ("f and day = date '1991-05-05'", false),
            ("f = true and day < date '1990-01-03'", false),
            ("not f and day = date '1991-05-05'", false),
        ],
    ),
    (
        "s, day desc, t",
        &[
            ("s = 77", true),
            ("s = 77 and day is null", true),
            ("s = 77 and day = date '1990-02-21'", true),
            ("s = 77 and day < date '1990-02-21'", true),
            ("s = 77 and day >= date '1990-02-21' and t > 'text 103'", true),
            (
                "s in (77, 78) and day in (date '1990-02-21', date '1990-02-22') and t = 'text 104'",
                true,
            ),
            ("s = 77 and t = 'text 103'", true),
            ("s = 40000 and day < date '1990-02-21'", false),
            ("s in (40000, null) and day < date '1990-02-21'", false),
            ("s = null and day < date '1990-02-21'", false),
            ("s < 3 and day = date '1990-01-01'", true),
            ("day = date '1990-02-21'", false),
        ],
    ),
    (
        "t desc nulls last, d desc",
        &[
            ("t = 'text 100' and d <= -925", false),
            ("t = 'text 100éé' and d is null", true),
            ("t = 'text 100' and d > 1e9", false),
        ],
    ),
    (
        "c desc, s desc nulls last",
        &[
            ("c = '40  ' and s >= 50", true),
            ("c = '40' and s < 51", true),
            ("c in ('40', '41') and s = 50", true),
        ],
    ),
    (
        "day nulls first, b desc nulls last",
        &[
            ("day = date '1990-01-02' and b < 0", true),
            (
                "day in (date '1990-01-02', date '1990-01-05') and b > -9992000000",
                true,
            ),
        ],
    ),
];
