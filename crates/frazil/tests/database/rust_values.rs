//! `Value` and Rust's own types: what comes out of a result goes in as a parameter, with its value and type.

use crate::edge_values::{Edges, TYPES};
use crate::{memory, rows};
use frazil::{
    Array, Connection, Date, Decimal, FromValue, Interval, Row, SqlState, Time, Timestamp, TimestampTz,
    ToValue, Uuid, Value, params,
};

const ZONES: [&str; 3] = ["UTC", "Asia/Kathmandu", "America/New_York"];

/// The values of a type as they come out of a table `t` that holds them; NULL is the last.
fn come_out(c: &Connection, edges: &Edges) -> Vec<Value> {
    rows(c, "drop table if exists t");
    rows(c, &format!("create table t (i integer, v {})", edges.stored()));
    for at in 0..=edges.texts.len() {
        rows(c, &format!("insert into t values ({at}, {})", edges.literal(at)));
    }
    let values = c
        .query(&format!("select v::{} from t order by i", edges.ty), ())
        .expect("rows");
    values.iter().map(|row| row.values()[0].clone()).collect()
}

/// Equal, or both NaN; `Debug` tells one NaN from no other.
#[track_caller]
fn same(a: &Value, b: &Value, of: &str) {
    assert_eq!(format!("{a:?}"), format!("{b:?}"), "{of}");
}

#[test]
fn what_comes_out_goes_in() {
    let c = memory();
    for (zone, edges) in ZONES
        .iter()
        .flat_map(|zone| TYPES.iter().map(move |edges| (zone, edges)))
    {
        rows(&c, &format!("set time zone '{zone}'"));
        let values = come_out(&c, edges);
        rows(&c, "drop table if exists u");
        rows(&c, &format!("create table u (i integer, v {})", edges.stored()));
        for (at, value) in values.iter().enumerate() {
            let of = format!("{} {value:?} in {zone}", edges.ty);
            // Alone, the value types the parameter.
            let alone = c
                .query_row("select $1", [value])
                .unwrap_or_else(|e| panic!("{of}: {e:?}"));
            same(value, &alone.values()[0], &of);
            if let Some(own) = value.ty() {
                let ty = alone.ty(0).unwrap();
                assert_eq!(ty.in_zone(frazil_types::Zone::UTC), own, "{of}");
                assert_eq!(ty.kind(), edges.ty.kind(), "{of}");
            }
            if edges.ty.info().is_stored {
                c.execute_with("insert into u values ($1, $2)", params![at as i32, value])
                    .unwrap_or_else(|e| panic!("{of}: {e:?}"));
                let found = c.query_row(
                    "select count(*) from u where i = $1 and v is not distinct from $2",
                    params![at as i32, value],
                );
                // json has no equality.
                let counted = found.map(|row| row.get::<i64>(0).unwrap()).map_err(|e| e.state());
                match !matches!(edges.ty.info().order, frazil_types::Order::Absent) {
                    true => assert_eq!(counted, Ok(1), "{of}"),
                    false => assert!(counted.is_err(), "{of}"),
                }
            }
        }
        if edges.ty.info().is_stored {
            let again = c.query("select v from u order by i", ()).expect("rows");
            for (value, row) in values.iter().zip(&again) {
                same(value, &row.values()[0], &format!("{} in {zone}", edges.ty));
            }
        }
    }
}

/// Takes a value out as a Rust type, gives it back, and takes it out again.
#[track_caller]
fn round<T: FromValue + ToValue + PartialEq + std::fmt::Debug>(c: &Connection, literal: &str, expected: T) {
    let value: T = c
        .query_row(&format!("select {literal}"), ())
        .unwrap()
        .get(0)
        .unwrap();
    assert_eq!(value, expected, "{literal}");
    let again: T = c.query_row("select $1", (&value,)).unwrap().get(0).unwrap();
    assert_eq!(again, expected, "{literal} as a parameter");
    let shown = c.query_row(&format!("select $1 = {literal}"), [&value]).unwrap();
    assert!(shown.get::<bool>(0).unwrap(), "{literal}");
}

#[test]
fn rust_types_go_in_and_come_out() {
    let c = memory();
    round(&c, "true", true);
    round(&c, "7::smallint", 7_i16);
    round(&c, "-2147483648", i32::MIN);
    round(&c, "9223372036854775807", i64::MAX);
    round(&c, "2.5::real", 2.5_f32);
    round(&c, "0.1::float8", 0.1_f64);
    round(
        &c,
        "12.50",
        "12.50"
            .parse::<Decimal>()
            .and_then(|d| Decimal::with_precision(d.unscaled(), 4, 2))
            .unwrap(),
    );
    round(&c, "'größe'::text", "größe".to_owned());
    round(&c, "'\\x00ff'::bytea", vec![0_u8, 255]);
    round(&c, "date '2024-02-29'", Date::new(2024, 2, 29).unwrap());
    round(&c, "date 'infinity'", Date::INFINITY);
    round(&c, "date '-infinity'", Date::MINUS_INFINITY);
    round(&c, "timestamp 'infinity'", Timestamp::INFINITY);
    round(&c, "timestamp '-infinity'", Timestamp::MINUS_INFINITY);
    round(&c, "timestamptz 'infinity'", TimestampTz::INFINITY);
    round(&c, "timestamptz '-infinity'", TimestampTz::MINUS_INFINITY);
    round(
        &c,
        "time '23:59:59.999999'",
        Time::new(23, 59, 59, 999_999).unwrap(),
    );
    round(
        &c,
        "timestamp '2024-02-29 12:00'",
        "2024-02-29 12:00".parse::<Timestamp>().unwrap(),
    );
    round(
        &c,
        "timestamptz '2024-02-29 12:00+02'",
        "2024-02-29 10:00+00".parse::<TimestampTz>().unwrap(),
    );
    let interval = Interval {
        months: 1,
        days: -2,
        micros: 3,
    };
    round(&c, "interval '1 month -2 days 3 microseconds'", interval);
    let uuid: Uuid = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11".parse().unwrap();
    round(&c, "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", uuid);
    round(&c, "array[1, 2, 3]", vec![1_i32, 2, 3]);
    round(&c, "array[1, null]::bigint[]", vec![Some(1_i64), None]);
    round(&c, "array['a', 'b c']", vec!["a".to_owned(), "b c".to_owned()]);
    round(
        &c,
        "array[date '2024-01-01']",
        vec![Date::new(2024, 1, 1).unwrap()],
    );
    round(&c, "'{}'::float8[]", Vec::<f64>::new());
}

#[test]
fn a_value_reads_and_writes_as_sql_does() {
    let c = memory();
    let date = Date::new(2024, 2, 29).unwrap();
    assert_eq!(
        (date.to_string(), date.year_month_day()),
        ("2024-02-29".to_owned(), Some((2024, 2, 29)))
    );
    assert_eq!(
        Date::new(2023, 2, 29).unwrap_err().state(),
        SqlState::DATETIME_OVERFLOW
    );
    assert_eq!(
        Date::from_days(i32::MAX - 1).unwrap_err().state(),
        SqlState::DATETIME_OVERFLOW
    );
    let stamp = Timestamp::new(date, Time::new(1, 2, 3, 4).unwrap()).unwrap();
    assert_eq!(stamp.to_string(), "2024-02-29 01:02:03.000004");
    assert_eq!(stamp.day_and_time(), Some((date, Time::new(1, 2, 3, 4).unwrap())));
    assert_eq!(
        Timestamp::new(Date::INFINITY, Time::new(0, 0, 0, 0).unwrap())
            .unwrap_err()
            .state(),
        SqlState::DATETIME_OVERFLOW
    );
    assert_eq!(
        Time::new(24, 0, 1, 0).unwrap_err().state(),
        SqlState::DATETIME_OVERFLOW
    );
    let before = std::time::UNIX_EPOCH - std::time::Duration::from_nanos(1500);
    let instant = TimestampTz::try_from(before).unwrap();
    assert_eq!(instant.micros(), -2);
    assert_eq!(
        instant.to_system_time(),
        Some(std::time::UNIX_EPOCH - std::time::Duration::from_micros(2))
    );
    for (text, unscaled, scale) in [
        ("-12.50", -1250, 2),
        ("1e3", 1000, 0),
        ("1.5e-3", 15, 4),
        (".5", 5, 1),
    ] {
        let decimal: Decimal = text.parse().unwrap();
        assert_eq!((decimal.unscaled(), decimal.scale()), (unscaled, scale), "{text}");
        assert_eq!(decimal.to_f64(), text.parse::<f64>().unwrap());
    }
    for (text, state) in [
        ("x", SqlState::INVALID_TEXT),
        ("1e-39", SqlState::NUMERIC_OUT_OF_RANGE),
        ("1e38", SqlState::NUMERIC_OUT_OF_RANGE),
    ] {
        assert_eq!(text.parse::<Decimal>().unwrap_err().state(), state, "{text}");
    }
    let mixed = Array::new(&params![1, 2.5, None::<i32>]).unwrap();
    assert_eq!(mixed.element_type(), frazil::LogicalType::Double);
    assert_eq!(
        Array::new(&params![1, true]).unwrap_err().state(),
        SqlState::DATATYPE_MISMATCH
    );
    assert_eq!(
        Array::new(&params![mixed]).unwrap_err().state(),
        SqlState::FEATURE_NOT_SUPPORTED
    );
    // Texts in an array are read as the elements of the column.
    let found = c.query_row(
        "select date '2024-01-02' = any($1)",
        (vec!["2024-01-01", "2024-01-02"],),
    );
    assert!(found.unwrap().get::<bool>(0).unwrap());
    let json = c.query_row("select $1::jsonb", (vec![Some(1), None],)).unwrap();
    assert_eq!(json.values(), [Value::Jsonb("[1, null]".to_owned())]);
    // A fraction is not rounded where integers are wanted.
    for refused in [
        Value::from(vec![1.5_f64]),
        Array::new(&params!["1.5".parse::<Decimal>().unwrap()])
            .unwrap()
            .into(),
    ] {
        let refused = c.query("select $1::integer[]", [refused]).unwrap_err();
        assert_eq!(refused.state(), SqlState::INVALID_TEXT);
    }
    let ragged = c.query(
        "select $1::integer[]",
        (Value::Jsonb("[[1, 2], [3]]".to_owned()),),
    );
    assert_eq!(ragged.unwrap_err().state(), SqlState::INVALID_TEXT);
    let record = c.query_row("select row(1, 'a b')", ()).unwrap();
    assert_eq!(record.get::<String>(0).unwrap(), "(1,\"a b\")");
    let zero = c.query("select $1", (vec!["a\0"],)).unwrap_err();
    assert_eq!(zero.state(), SqlState::CHARACTER_NOT_IN_REPERTOIRE);
}

fn row(c: &Connection, sql: &str) -> Row {
    c.query_row(sql, ()).expect("a row")
}

#[test]
fn errors_of_get_name_column_and_type() {
    let c = memory();
    let r = row(
        &c,
        "select 1 as a, null::text as b, 70000 as c, 2.5 as d, 1 as twice, 2 as twice",
    );
    assert_eq!(
        (
            r.get::<i64>("a").unwrap(),
            r.get::<i16>(0).unwrap(),
            r.get::<u8>(0).unwrap()
        ),
        (1, 1, 1)
    );
    assert_eq!(r.get::<Option<String>>("b").unwrap(), None);
    let error = |e: frazil::Error| (e.state(), e.message().to_owned());
    let cases = [
        (
            error(r.get::<String>("b").unwrap_err()),
            SqlState::NULL_VALUE_NOT_ALLOWED,
            "column \"b\": NULL is not a value of Rust's String",
        ),
        (
            error(r.get::<i16>("c").unwrap_err()),
            SqlState::NUMERIC_OUT_OF_RANGE,
            "column \"c\": 70000 is out of range for Rust's i16",
        ),
        (
            error(r.get::<i32>("d").unwrap_err()),
            SqlState::DATATYPE_MISMATCH,
            "column \"d\": a value of type numeric cannot be taken as Rust's i32",
        ),
        (
            error(r.get::<bool>(0).unwrap_err()),
            SqlState::DATATYPE_MISMATCH,
            "column \"a\": a value of type integer cannot be taken as Rust's bool",
        ),
        (
            error(r.get::<i32>("x").unwrap_err()),
            SqlState::UNDEFINED_COLUMN,
            "column \"x\" does not exist in the row",
        ),
        (
            error(r.get::<i32>(6).unwrap_err()),
            SqlState::UNDEFINED_COLUMN,
            "column 6 does not exist: the row has 6 columns, counted from 0",
        ),
        (
            error(r.get::<i32>("twice").unwrap_err()),
            SqlState::AMBIGUOUS_COLUMN,
            "several columns of the row are called \"twice\"",
        ),
    ];
    for ((state, message), expected, text) in cases {
        assert_eq!((state, message.as_str()), (expected, text));
    }
    assert_eq!(
        c.query_row("select 1 where false", ()).unwrap_err().state(),
        SqlState::NO_DATA
    );
    assert_eq!(c.query_opt("select 1 where false", ()).unwrap(), None);
    let two = c.query_row("values (1), (2)", ()).unwrap_err();
    assert_eq!(two.state(), SqlState::CARDINALITY_VIOLATION);
    assert_eq!(
        c.query("create table t (a integer)", ()).unwrap_err().state(),
        SqlState::NO_DATA
    );
    assert_eq!(
        c.query("insert into t values ($1) returning a", (3,))
            .unwrap()
            .one()
            .unwrap()
            .get::<i32>("a")
            .unwrap(),
        3
    );
    let few = c.query("select $1, $2", (1,)).unwrap_err();
    assert_eq!(few.state(), SqlState::UNDEFINED_PARAMETER);
}

#[test]
fn a_transaction_ends_with_its_scope() {
    let c = memory();
    rows(&c, "create table t (a integer primary key)");
    let count = || {
        c.query_row("select count(*) from t", ())
            .unwrap()
            .get::<i64>(0)
            .unwrap()
    };
    {
        let transaction = c.transaction().unwrap();
        transaction.execute("insert into t values (1)").unwrap();
        assert_eq!(c.transaction().unwrap_err().state(), SqlState::ACTIVE_TRANSACTION);
    }
    assert_eq!((count(), c.in_transaction()), (0, false));
    let mut transaction = c.transaction().unwrap();
    transaction.execute("insert into t values (1)").unwrap();
    {
        let mut savepoint = transaction.savepoint().unwrap();
        savepoint.execute("insert into t values (2)").unwrap();
        let inner = savepoint.savepoint().unwrap();
        inner.execute("insert into t values (3)").unwrap();
        inner.release().unwrap();
    }
    let savepoint = transaction.savepoint().unwrap();
    assert!(savepoint.execute("insert into t values (1)").is_err());
    assert_eq!(
        savepoint.release().unwrap_err().state(),
        SqlState::IN_FAILED_TRANSACTION
    );
    let savepoint = transaction.savepoint().unwrap();
    savepoint.execute("insert into t values (4)").unwrap();
    savepoint.release().unwrap();
    transaction.commit().unwrap();
    assert_eq!(rows(&c, "select * from t order by a"), "1\n4");
    let failed = c.transaction().unwrap();
    failed.execute("insert into t values (5)").unwrap();
    assert!(failed.execute("select 1 / 0").is_err());
    assert_eq!(
        failed.commit().unwrap_err().state(),
        SqlState::IN_FAILED_TRANSACTION
    );
    c.transaction().unwrap().rollback().unwrap();
    assert_eq!((count(), c.in_transaction()), (2, false));
    // Its own statements may end it.
    let ended = c.transaction().unwrap();
    ended.execute("commit").unwrap();
    drop(ended);
    assert!(!c.in_transaction());
}
