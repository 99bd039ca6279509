//! Parts of tables: together they have the rows of their snapshot that satisfy the filters, each once, and they are
//! read in that snapshot alone.

use crate::{directory, memory, rows, state};
use frazil::{
    Access, Connection, Database, FilterTest, Opening, Part, PartFilter, PartRequest, PartSize, ReadCounts,
    SqlState, Value,
};

fn request(table: &str, columns: &[&str], filters: &[(&str, FilterTest)]) -> PartRequest {
    let filter = |(column, test): &(&str, FilterTest)| PartFilter {
        column: (*column).to_owned(),
        test: test.clone(),
    };
    PartRequest {
        table: table.to_owned(),
        columns: (!columns.is_empty()).then(|| columns.iter().map(|&name| name.to_owned()).collect()),
        texts: Vec::new(),
        filters: filters.iter().map(filter).collect(),
        size: PartSize::Parts(4),
    }
}

/// The rows of parts, as lines in order, and what was read for them.
fn read(c: &Connection, parts: &[Part]) -> (Vec<String>, ReadCounts) {
    let (mut lines, mut sum) = (Vec::new(), ReadCounts::default());
    for part in parts {
        let response = c
            .read_part(&part.snapshot, &part.sql)
            .expect("the snapshot is there");
        sum.chunks += response.reads.chunks;
        sum.skipped_chunks += response.reads.skipped_chunks;
        sum.bytes += response.reads.bytes;
        let rows = response.outcome.into_rows().expect("a query");
        assert!(rows.len() as u64 <= part.rows, "{part:?}: {}", rows.len());
        let types: Vec<_> = rows.schema().columns.iter().map(|column| column.ty).collect();
        lines.extend(rows.raw().map(|row| {
            let cells = row.iter().zip(&types).map(|(cell, &ty)| match cell.is_null() {
                true => String::new(),
                false => cell.display(ty).to_string(),
            });
            cells.collect::<Vec<String>>().join("|")
        }));
    }
    lines.sort_unstable();
    (lines, sum)
}

/// The lines of a query, in order.
fn lines(c: &Connection, sql: &str) -> Vec<String> {
    let shown = rows(c, sql);
    // The last rows may be NULL alone.
    let mut lines: Vec<String> = shown.split('\n').map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// Fills t (k, v, s) with chunks that are frozen in the order of k, rows that are deleted, and rows that are hot.
fn fill(c: &Connection) {
    rows(
        c,
        "create table t (k integer, v decimal(12, 2), s text);
         insert into t select i, i / 4, case when i % 10 > 0 then 'group ' || i % 7 end
         from generate_series(1, 300000) r(i);
         freeze table t;
         delete from t where k between 60000 and 140000 or k % 1000 = 5;
         insert into t select i, null, 'hot' from generate_series(300001, 300100) r(i)",
    );
}

#[test]
fn parts_have_each_row_once() {
    let c = memory();
    fill(&c);
    let parts = c.partitions(&request("t", &[], &[])).expect("a table");
    assert_eq!(parts.len(), 4);
    let (found, _) = read(&c, &parts);
    assert_eq!(found, lines(&c, "select k, v, s from t"));
    let mut one = request("t", &["s"], &[]);
    one.size = PartSize::Rows(u64::MAX);
    let parts = c.partitions(&one).expect("a table");
    assert_eq!(parts.len(), 1);
    assert_eq!(read(&c, &parts).0, lines(&c, "select s from t"));
    one.size = PartSize::Rows(1);
    let each = c.partitions(&one).expect("a table");
    let chunks = rows(
        &c,
        "select count(distinct chunk) from frazil_blocks where rows > deleted_rows",
    );
    assert_eq!(each.len().to_string(), chunks);
    assert_eq!(read(&c, &each).0, lines(&c, "select s from t"));
    for count in 1..=2 * each.len() {
        one.size = PartSize::Parts(count);
        let parts = c.partitions(&one).expect("a table");
        assert_eq!(parts.len(), count.min(each.len()));
        assert!(
            parts.is_sorted_by(|one, next| one.chunks.end() < next.chunks.start()),
            "{parts:?}"
        );
        let sum = |parts: &[Part], of: fn(&Part) -> u64| parts.iter().map(of).sum::<u64>();
        assert_eq!(sum(&parts, |part| part.rows), sum(&each, |part| part.rows));
        assert_eq!(sum(&parts, |part| part.bytes), sum(&each, |part| part.bytes));
    }
    rows(&c, "create table none (a integer)");
    assert_eq!(
        c.partitions(&request("none", &[], &[])).expect("a table"),
        Vec::<Part>::new()
    );
}

#[test]
fn blocks_without_rows_and_columns_that_are_not_named_are_not_read() {
    let c = memory();
    fill(&c);
    let late = [("k", FilterTest::GreaterOrEqual(Value::Integer(290_000)))];
    let all = c.partitions(&request("t", &[], &[])).expect("a table");
    let some = c.partitions(&request("t", &["v"], &late)).expect("a table");
    assert!(some.len() < all.len(), "{some:?}");
    let (found, counts) = read(&c, &some);
    assert_eq!(found, lines(&c, "select v from t where k >= 290000"));
    let (_, whole) = read(&c, &all);
    assert!(counts.bytes * 4 < whole.bytes, "{counts:?} {whole:?}");
    assert_eq!(counts.skipped_chunks, 0);
    let (_, narrow) = read(&c, &c.partitions(&request("t", &["s"], &[])).expect("a table"));
    assert!(narrow.bytes * 3 < whole.bytes, "{narrow:?} {whole:?}");
    // The estimate knows the columns, too.
    let bytes = |parts: &[Part]| parts.iter().map(|part| part.bytes).sum::<u64>();
    let one = c.partitions(&request("t", &["s"], &[])).expect("a table");
    assert!(bytes(&one) * 3 < bytes(&all));
    let never = [
        ("k", FilterTest::Less(Value::Integer(5))),
        ("k", FilterTest::Greater(Value::Integer(5))),
    ];
    assert_eq!(
        c.partitions(&request("t", &[], &never)).expect("a table"),
        Vec::<Part>::new()
    );
}

#[test]
fn filters_mean_what_sql_means() {
    let c = memory();
    rows(
        &c,
        "create type mood as enum ('sad', 'ok', 'happy');
         create table f (b boolean, i smallint, n integer, l bigint, r real, d double precision, x decimal(20, 3),
           y numeric, t text, c char(5), a bytea, g date, h time, p timestamp, z timestamptz, v interval, u uuid,
           m mood, q integer[], j jsonb);
         insert into f values
           (true, -5, 7, 9000000000, 1.5, 'NaN', 12345678901234567.125, 1e-7, 'it''s \\ \"x\"', 'ab', '\\x00ff',
            '2024-02-29', '23:59:59.999999', 'infinity', '2024-02-29 12:00:00+02', '1 mon 2 days', gen_random_uuid(),
            'ok', '{1,NULL,3}', '{\"a\": 1}'),
           (false, 5, -7, -9000000000, '-Infinity', -0.0, -1, 0, '', 'ab   ', '', '-infinity', '00:00', '1999-12-31',
            'epoch', '-1 day', '00000000-0000-0000-0000-000000000000', 'sad', '{}', '[]'),
           (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
            null, null);
         freeze table f; insert into f select * from f",
    );
    let columns = lines(
        &c,
        "select column_name from information_schema.columns where table_name = 'f'",
    );
    columns.iter().for_each(|column| assert_filters(&c, column));
}

/// Compares filters of a column with SQL's conditions: with its own values and with NULL, over frozen and hot rows. A
/// single query has the counts of all conditions, because compiling queries takes most of the time.
fn assert_filters(c: &Connection, column: &str) {
    let own = format!("select {column} from f where {column} is not null limit 2");
    let own = c.query(&own, ()).expect("a column");
    let values: Vec<Value> = (&own)
        .into_iter()
        .map(|row| row.get(0).expect("a value"))
        .collect();
    let [one, other] = &values[..] else {
        panic!("{column}: {values:?}");
    };
    let tests = [
        ("= $1", FilterTest::Equal(one.clone())),
        ("< $1", FilterTest::Less(one.clone())),
        (">= $1", FilterTest::GreaterOrEqual(one.clone())),
        ("<= $2", FilterTest::LessOrEqual(other.clone())),
        ("> $2", FilterTest::Greater(other.clone())),
        ("= $2", FilterTest::In(vec![Value::Null, other.clone()])),
        ("is null", FilterTest::IsNull),
        ("is not null", FilterTest::IsNotNull),
        ("is null and false", FilterTest::In(Vec::new())),
    ];
    let counts = tests
        .iter()
        .map(|(test, _)| format!("count(*) filter (where {column} {test})"));
    let counts = format!("select {} from f", counts.collect::<Vec<_>>().join(", "));
    let counts = c.query(&counts, (one.clone(), other.clone())).expect(column);
    let counts = (&counts).into_iter().next().expect("a row");
    for (at, (_, test)) in tests.into_iter().enumerate() {
        let about = format!("{column}: {test:?}");
        let parts = c.partitions(&request("f", &[column], &[(column, test)]));
        let found = read(c, &parts.expect(&about)).0.len();
        assert_eq!(found as i64, counts.get::<i64>(at).expect("a number"), "{about}");
    }
}

#[test]
fn other_things_than_tables_are_refused_by_name() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer, \"B c\" text); create view w as select * from t;
         create materialized view m as select * from t; create sequence q; create schema s; create table s.t (z date)",
    );
    let refused = |table: &str, columns: &[&str], filters: &[(&str, FilterTest)]| {
        let error = c.partitions(&request(table, columns, filters)).expect_err(table);
        format!("{}: {}", error.state(), error.message())
    };
    assert_eq!(refused("w", &[], &[]), "42809: \"w\" is not a table");
    assert_eq!(refused("m", &[], &[]), "42809: \"m\" is not a table");
    assert_eq!(refused("q", &[], &[]), "42809: \"q\" is not a table");
    assert_eq!(refused("x", &[], &[]), "42P01: table \"x\" does not exist");
    assert_eq!(
        refused("t", &["b"], &[]),
        "42703: table \"t\" has no column \"b\""
    );
    assert_eq!(
        refused("t", &["a", "a"], &[]),
        "42701: column \"a\" is named twice"
    );
    let filter = [("ctid", FilterTest::IsNull)];
    assert_eq!(
        refused("t", &["a"], &filter),
        "42703: table \"t\" has no column \"ctid\""
    );
    let null = [("a", FilterTest::Equal(Value::Null))];
    assert!(refused("t", &["a"], &null).starts_with("22004: "));
    let word = [("a", FilterTest::Equal(Value::Text("x".into())))];
    assert!(refused("t", &["a"], &word).starts_with("22P02: "));
    rows(
        &c,
        "insert into s.t values ('2024-01-01'); insert into t values (1, 'x')",
    );
    let parts = c
        .partitions(&request("s.t", &["z"], &[]))
        .expect("a table of a schema");
    assert_eq!(read(&c, &parts).0, ["2024-01-01"]);
    let parts = c
        .partitions(&request("t", &["B c"], &[]))
        .expect("a column that is quoted");
    assert_eq!(read(&c, &parts).0, ["x"]);
    rows(
        &c,
        "create role reader; grant select (a) on t to reader; set role reader",
    );
    assert!(refused("t", &["B c"], &[]).starts_with("42501: "));
    assert_eq!(
        c.partitions(&request("t", &["a"], &[])).expect("a right").len(),
        1
    );
}

#[test]
fn a_part_is_read_in_its_own_snapshot_alone() {
    let c = memory();
    fill(&c);
    let other = c.database().connect();
    rows(&other, "begin isolation level repeatable read");
    let parts = other.partitions(&request("t", &["k"], &[])).expect("a table");
    let expected = lines(&c, "select k from t");
    rows(&c, "delete from t where k % 2 = 0");
    assert_eq!(read(&other, &parts).0, expected);
    assert_eq!(other.snapshot_id().expect("it is open"), parts[0].snapshot);
    assert_ne!(c.snapshot_id().expect("a statement sees one"), parts[0].snapshot);
    let gone = |c: &Connection, part: &Part| {
        let error = c
            .read_part(&part.snapshot, &part.sql)
            .expect_err("another snapshot");
        assert_eq!(error.state(), SqlState::NOT_IN_STATE);
        error.message().to_owned()
    };
    assert!(gone(&c, &parts[0]).contains("is gone"));
    rows(&other, "commit");
    gone(&other, &parts[0]);
    let elsewhere = directory("parts of another database");
    let foreign = Database::open(&elsewhere).expect("a directory").connect();
    assert!(gone(&foreign, &parts[0]).contains("another database"));
    rows(&c, "begin; insert into t values (1)");
    assert_eq!(
        c.partitions(&request("t", &["k"], &[]))
            .expect_err("changes")
            .state(),
        SqlState::FEATURE_NOT_SUPPORTED
    );
    assert_eq!(state(&c, "select 1"), SqlState("25P02"));
}

#[test]
fn another_process_reads_parts_of_the_files() {
    let path = directory("parts that others read");
    let database = Database::open(&path).expect("a directory");
    let writer = database.connect();
    fill(&writer);
    let expected = lines(&writer, "select k, s from t where s = 'group 3'");
    drop(writer);
    database.close().expect("it is written");
    let group = [("s", FilterTest::Equal(Value::Text("group 3".into())))];
    let parts = {
        let planner = Database::open_read_only(&path).expect("to read").connect();
        planner
            .partitions(&request("t", &["k", "s"], &group))
            .expect("a table")
    };
    let reader = Database::open_read_only(&path).expect("to read").connect();
    assert_eq!(read(&reader, &parts).0, expected);
}

/// A reader without indexes scans tables, also when it has followed a writer, and no setting makes it ask indexes.
#[test]
fn a_reader_without_indexes_scans_tables() {
    let path = directory("reader without indexes");
    let writer = Database::open(&path).expect("a directory").connect();
    rows(
        &writer,
        "create table t (k integer primary key, v integer);
         insert into t select i, i from generate_series(1, 1000) r(i)",
    );
    let opening = Opening {
        without_indexes: true,
        ..Opening::to(Access::Read)
    };
    let reader = Database::open_as(&path, &opening).expect("to read").connect();
    let found = |reader: &Connection| {
        let by_key = rows(reader, "select v from t where k = 500");
        let greatest = rows(reader, "select max(k) from t");
        let joined = rows(
            reader,
            "select count(*) from t a join t b on b.k = a.v where a.k > 998",
        );
        [by_key, greatest, joined].join("/")
    };
    assert_eq!(found(&reader), "500/1000/2");
    rows(
        &writer,
        "update t set v = 7 where k = 500; insert into t values (2000, 1)",
    );
    rows(&reader, "set frazil.use_indexes = on");
    assert_eq!(found(&reader), "7/2000/3");
    rows(
        &writer,
        "checkpoint; delete from t where k = 2000; checkpoint; delete from t where k = 1000; checkpoint",
    );
    assert_eq!(found(&reader), "7/999/1");
    assert!(
        Database::open_as(
            &path,
            &Opening {
                access: Access::Write,
                ..opening
            }
        )
        .is_err(),
        "it is written"
    );
}

/// Parts of a published folder are read in their snapshot as long as KEEP leaves it there.
#[test]
fn parts_of_a_published_snapshot_outlive_the_next_one() {
    let path = directory("parts of snapshots");
    let folder = path.join("published");
    let publish = format!("publish to '{}' incremental keep 2", folder.display());
    let writer = Database::open(path.join("db")).expect("a directory").connect();
    fill(&writer);
    rows(&writer, &publish);
    let expected = lines(&writer, "select k from t");
    let planner = Database::open_read_only(&folder).expect("to read").connect();
    let parts = planner.partitions(&request("t", &["k"], &[])).expect("a table");
    let snapshot = planner.database().published_snapshot().expect("it is published");
    rows(&writer, &format!("delete from t where k % 2 = 0; {publish}"));
    let reader = Database::open_read_only(snapshot.path(&folder))
        .expect("it is kept")
        .connect();
    assert_eq!(read(&reader, &parts).0, expected);
    let newest = Database::open_read_only(&folder).expect("to read").connect();
    let error = newest
        .read_part(&parts[0].snapshot, &parts[0].sql)
        .expect_err("another snapshot");
    assert_eq!(error.state(), SqlState::NOT_IN_STATE);
}

#[test]
fn names_and_literals_of_the_query_are_quoted() {
    let c = memory();
    rows(
        &c,
        "create table \"T\" (a text, \"B\" bytea); insert into \"T\" values ('it''s \\ 1', '\\x00')",
    );
    let test = |test: FilterTest| ("a", test);
    let filters = [
        test(FilterTest::Equal(Value::Text("it's \\ 1".to_owned()))),
        test(FilterTest::In(vec![
            Value::Null,
            Value::Text("it's \\ 1".to_owned()),
        ])),
        test(FilterTest::IsNotNull),
        ("B", FilterTest::GreaterOrEqual(Value::Bytea(vec![0]))),
    ];
    let mut asked = request("T", &[], &filters);
    asked.texts = vec!["B".to_owned()];
    let parts = c.partitions(&asked).expect("a table");
    assert_eq!(
        parts[0].sql,
        "select a, \"B\"::text as \"B\" from public.\"T\" where ctid between '(0,1)'::tid and '(1,32768)'::tid \
         and a = E'it''s \\\\ 1' and a in (null, E'it''s \\\\ 1') and a is not null and \"B\" >= E'\\\\x00'::bytea"
    );
    assert_eq!(read(&c, &parts).0, ["it's \\ 1|\\x00"]);
}
