"""The data source of Spark: every type with NULL and its ends, columns and conditions that reach the scan, and those that must not."""

import datetime
import decimal
import json
import os
import random

import frazil
import pytest

import spark_session
from spark_session import load

spark_session.skip_without_spark()
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def spark():
    with spark_session.session("local[2]") as session:
        yield session


TYPES = {
    "b boolean": ("boolean", [("true", True), ("false", False)]),
    "i smallint": ("smallint", [("-32768", -32768), ("32767", 32767)]),
    "n integer": ("int", [("-2147483648", -(2**31)), ("2147483647", 2**31 - 1)]),
    "l bigint": ("bigint", [("-9223372036854775808", -(2**63)), ("9223372036854775807", 2**63 - 1)]),
    "r real": ("float", [("1.5", 1.5), ("-Infinity", float("-inf"))]),
    "f double precision": ("double", [("1e300", 1e300), ("-0.0", 0.0)]),
    "x decimal(38, 3)": (
        "decimal(38,3)",
        [(v, decimal.Decimal(v)) for v in ("99999999999999999999999999999999999.999", "-0.001")],
    ),
    "y numeric": ("string", [("0.0000001", "0.0000001"), ("1" * 30, "1" * 30)]),
    "t text": ("string", [("it''s \\ ü\U0001f600", "it's \\ ü\U0001f600"), ("", "")]),
    "w varchar(9)": ("string", [("nine char", "nine char"), (" ", " ")]),
    "c char(3)": ("string", [("ab", "ab"), ("abc", "abc")]),
    "k char(1)": ("string", [("a", "a"), ("ü", "ü")]),
    "a bytea": ("binary", [("\\x00ff27", b"\x00\xff'"), ("", b"")]),
    "d date": ("date", [("0001-01-01", datetime.date(1, 1, 1)), ("9999-12-31", datetime.date(9999, 12, 31))]),
    "h time": ("string", [("23:59:59.999999",) * 2, ("00:00", "00:00:00")]),
    "p timestamp": (
        "timestamp_ntz",
        [("1582-10-04 00:00", datetime.datetime(1582, 10, 4)), ("9999-12-31 23:59:59.999999", datetime.datetime.max)],
    ),
    "z timestamptz": (
        "timestamp",
        [("2024-03-31 01:00:00+00", datetime.datetime(2024, 3, 31, 1)), ("1969-12-31 23:59:59+00", datetime.datetime(1969, 12, 31, 23, 59, 59))],
    ),
    "v interval": ("string", [("1 mon -2 days 03:00:00", "1 mon -2 days +03:00:00"), ("00:00", "00:00:00")]),
    "u uuid": ("string", [("00000000-0000-0000-0000-00000000000a",) * 2, ("f" * 8 + "-ffff-ffff-ffff-" + "f" * 12,) * 2]),
    "m mood": ("string", [("sad", "sad"), ("happy", "happy")]),
    "q integer[]": ("array<int>", [("{1,NULL,3}", [1, None, 3]), ("{}", [])]),
    "qt text[]": ("array<string>", [('{"a,b",""}', ["a,b", ""]), ("{NULL}", [None])]),
    "qu uuid[]": ("string", [("{00000000-0000-0000-0000-00000000000a}",) * 2, ("{}", "{}")]),
    "j json": ("string", [('{"a":  1}', '{"a":  1}'), ("null", "null")]),
    "o jsonb": ("string", [('{"a": 1}', '{"a": 1}'), ("[]", "[]")]),
}


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """A table with a column of each type: two values, NULL, and the two values once more."""
    place = tmp_path_factory.mktemp("spark") / "types"
    names = [column.split()[0] for column in TYPES]
    rows = [", ".join("'" + values[at][0] + "'" for _, values in TYPES.values()) for at in (0, 1)]
    with frazil.connect(place) as con:
        con.execute("create type mood as enum ('sad', 'ok', 'happy')")
        con.execute(f"create table t (id integer not null, {', '.join(TYPES)})")
        for at, row in enumerate([rows[0], rows[1], ", ".join(["null"] * len(names)), rows[0], rows[1]]):
            con.execute(f"insert into t values ({at}, {row})")
        con.execute("freeze table t")
        con.execute(f"insert into t select id + 5, {', '.join(names)} from t")
        con.execute("create view w as select * from t; create table empty (a integer, s text)")
        con.execute("create table ends (d date, z timestamp, h time)")
        con.execute("insert into ends values ('infinity', '-infinity', '24:00')")
        con.execute('create table "Odd" ("select" integer, "a b" text); insert into "Odd" values (1, \'x\')')
        con.execute('create table odd (a integer); create table "we`ird" (a integer); insert into "we`ird" values (5)')
    return place


def test_every_type_travels(spark, typed):
    frame = load(spark, typed, "t")
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema}
    assert kinds == {"id": "int", **{column.split()[0]: kind for column, (kind, _) in TYPES.items()}}
    assert not frame.schema["id"].nullable and frame.schema["b"].nullable
    found = sorted(frame.collect(), key=lambda row: row["id"])
    assert len(found) == 10
    for row in found:
        for column, (_, values) in TYPES.items():
            expected = [values[0][1], values[1][1], None][row["id"] % 5 % 3]
            value = row[column.split()[0]]
            assert (bytes(value) if isinstance(value, bytearray) else value) == expected, column


def test_columns_and_sizes_that_a_reader_gives(spark, typed):
    frame = load(spark, typed, "t", columns="id,t")
    assert frame.columns == ["id", "t"]
    assert [row["id"] for row in frame.where("id >= 3 and id < 5 and t is not null").collect()] == [3, 4]
    assert load(spark, typed, "empty").collect() == []
    shape = load(spark, typed, "t", columns="t,id").schema
    assert spark.read.format("frazil").schema(shape).option("table", "t").load(str(typed)).columns == ["t", "id"]
    odd = load(spark, typed, "Odd").where("`select` = 1 and `a b` = 'x'").collect()
    assert [tuple(row) for row in odd] == [(1, "x")]
    assert load(spark, typed, "t", parts=1).rdd.getNumPartitions() == 1
    assert load(spark, typed, "t", rowsPerPart=1).rdd.getNumPartitions() == 2


def test_frames_with_filters_keep_them_apart(spark, typed):
    """Spark does not take two frames for one, in a union or a join, if they differ in their filters alone."""

    def ids(*filters):
        return load(spark, typed, "t", columns="id", filters=json.dumps(filters))

    low, high = ids(["id", "<", 3]), ids(["id", ">=", 3], ["id", "in", [2, 4, None, 8]])
    rows = low.select("id").union(high).union(ids(["x", "=", -0.001], ["t", "is not null"])).union(ids(["m", "is null"]))
    assert [row["id"] for row in rows.collect()] == [0, 1, 2, 4, 8, 1, 4, 6, 9, 2, 7]
    assert low.join(high.withColumnRenamed("id", "other")).count() == 6
    assert low.groupBy().count().crossJoin(high.groupBy().count()).first() == (3, 2)
    assert ids(["id", "<", 3], ["id", ">", 3]).collect() == []


def test_one_frame_with_several_conditions(spark, typed):
    """Each place of a query where a frame occurs has its own conditions."""
    frame = load(spark, typed, "t", columns="id,t,x")
    parts = [("id < 3", [0, 1, 2]), ("id >= 8", [8, 9]), ("t = ''", [1, 4, 6, 9]), ("x < 0 and id > 1", [4, 6, 9]), ("t is null", [2, 7])]
    union = frame.where(parts[0][0])
    for condition, _ in parts[1:]:
        union = union.union(frame.where(condition))
    assert [row["id"] for row in union.collect()] == [number for _, expected in parts for number in expected]
    pairs = frame.where("id < 4").alias("a").join(frame.where("id > 2").alias("b"), "id")
    assert [row["id"] for row in pairs.collect()] == [3]


#: The columns of the table of random values, with values whose order or equality is easily mistaken.
VALUES = {
    "i smallint": ["-32768", "0", "7", "32767"],
    "n integer": ["-2147483648", "-1", "5", "2147483647"],
    "l bigint": ["-9223372036854775808", "9007199254740993", "9223372036854775807", "5"],
    "x decimal(15, 2)": ["-0.01", "0.05", "0.06", "9999999999999.99"],
    "y decimal(38, 3)": ["0.050", "0.051", "-99999999999999999999999999999999999.999"],
    "f double precision": ["NaN", "-0.0", "0.0", "Infinity", "1.5", "-Infinity"],
    "r real": ["NaN", "-0.0", "0.1", "Infinity"],
    "t text": ["", "a", "A", "a ", "ab", "\uff5e", "\U0001f600", "it''s \\ x", "5", "05"],
    "w varchar(3)": ["", "a", "abc", "\u00fc", " "],
    "c char(3)": ["", "a", "abc", "a\t"],
    "d date": ["0001-01-01", "1582-10-04", "2024-02-29", "9999-12-31"],
    "p timestamp": ["1582-10-04 23:59:59.999999", "1970-01-01", "2024-03-31 02:30:00"],
    "z timestamptz": ["2024-03-31 01:00:00+00", "1969-12-31 23:59:59+00"],
    "b boolean": ["true", "false"],
    "u uuid": ["00000000-0000-0000-0000-00000000000a", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "a bytea": ["\\x", "\\x00ff"],
}
#: Columns whose comparisons reach the scan.
COMPARED = {"i", "n", "l", "x", "y", "t", "w", "d", "p"}
#: Types of Spark by columns, for literals.
LITERALS = {column.split()[0]: column.split(maxsplit=1)[1] for column in VALUES}
LITERALS.update(n="int", f="double", r="float", t="string", w="string", c="string", p="timestamp_ntz", z="timestamp", u="string", a="binary")


@pytest.fixture(scope="module")
def values(tmp_path_factory):
    """A table `v` of random values and NULL, frozen and hot, and a small one, `s`."""
    place = tmp_path_factory.mktemp("spark") / "values"
    random_of = random.Random(54)
    with frazil.connect(place) as con:
        con.execute(f"create table v (id integer not null, {', '.join(VALUES)}); create table s (id integer, t text, k integer)")
        for number in range(120):
            row = [random_of.choice([*own, None]) for own in VALUES.values()]
            texts = ["null" if value is None else f"'{value}'" for value in row]
            con.execute(f"insert into v values ({number}, {', '.join(texts)})")
            if number == 90:
                con.execute("freeze table v")
        con.execute("insert into s select i, case when i % 3 > 0 then 'a' end, i % 4 from generate_series(0, 9) r(i)")
    return place


def literal(column, text):
    """A literal of Spark of the column's type."""
    if column == "a":
        return f"X'{text[2:]}'"
    quoted = "'" + text.replace("''", "'").replace("\\", "\\\\").replace("'", "\\'") + "'"
    return quoted if LITERALS[column] == "string" else f"cast({quoted} as {LITERALS[column]})"


def simple_conditions():
    """A column, and a condition that is a simple comparison of it."""
    for column, own in VALUES.items():
        column = column.split()[0]
        operands = [literal(column, text) for text in own]
        for at, sign in enumerate(["=", "<", "<=", ">", ">=", "<=>"]):
            yield column, f"{column} {sign} {operands[at % len(operands)]}"
        yield column, f"{operands[-1]} > {column}"
        yield column, f"{column} in ({', '.join(operands)}, null)"
        yield column, f"{column} between {operands[0]} and {operands[-1]}"


def other_conditions():
    """Conditions that no scan evaluates as they are, and random ones of simple ones."""
    yield from ["id % 3 = 1", "n % 7 > 5", "cast(n as string) > '5'", "try_cast(t as int) = 5", "n > 4.5", "x > 0.051", "l > 1.5e0"]
    yield from ["c < 'a '", "c = 'a'", "c >= 'a'", "n > l", "i = n", "not (n > 3)"]
    yield from ["not (n = 5 or t = 'a')", "not (t <=> null)", "n is null or n > 3"]
    yield from ["t like 'a%'", "t <=> null", "b", "not b", "b = true", "f = 0", "f > 1.5", "f = 'NaN'"]
    yield from ["isnan(f)", "d > '2024-01-01'", "p > d", "z > p"]
    yield from ["upper(t) = 'A'", "t collate UTF8_LCASE = 'A'", "i > 70000", "i > -70000", "n in (1, null)", "n not in (5)", "coalesce(n, 5) = 5"]
    yield from ["d in (" + ", ".join(f"date'2024-02-{day:02}'" for day in range(1, 30)) + ")", "n in (" + ", ".join(map(str, range(20))) + ", null)"]
    yield from ["t in (" + ", ".join(f"'{letter}'" for letter in "abcdefghijklmn") + ")", "n = cast(null as int)"]
    yield from ["x in (0.05, 0.06, 7)", "t > 'a\\u0000'"]
    random_of = random.Random(7)
    simple = [condition for _, condition in simple_conditions()]
    for _ in range(60):
        picked = random_of.sample(simple, 3)
        shape = random_of.choice(["{} and {}", "{} or {}", "not ({} and {})", "not ({}) and {}", "({} or {}) and {}", "{} and ({}) is not true"])
        yield shape.format(*picked)


def test_filters_of_a_condition_keep_its_rows(spark, values):
    """The filters that `sql` finds for a condition drop no row for which Spark finds the condition true; where the condition is a
    comparison of a type that compares in Spark as in Frazil, they are the condition."""
    from frazil import _frazil, _spark_plans

    frame = load(spark, values, "v")
    _spark_plans.outline(spark, frame.schema, "v").createOrReplaceTempView("v_of_test")
    simple = list(simple_conditions())
    conditions = [condition for _, condition in simple] + list(other_conditions())
    with _frazil.open_reader(values) as connection:
        kinds = {name: kind for name, kind, _ in _frazil.columns(connection, "v")}
    truths = frame.selectExpr("id", *[f"({condition}) as c{at}" for at, condition in enumerate(conditions)]).collect()
    wrong, none = [], set()
    for at, found in enumerate(scans_of(spark, "v_of_test", conditions)):
        condition = conditions[at]
        filters = _spark_plans.filters_of(*found[0][2], kinds) if found and found[0][2] else []
        kept = {row[0] for row in rows_of(values, "v", ["id"], filters)}
        true = {row["id"] for row in truths if row[at + 1]}
        is_exact = at < len(simple) and simple[at][0] in COMPARED and found
        if not true <= kept or is_exact and true != kept:
            wrong.append((condition, filters, true ^ kept))
        if not any(sign not in ("is null", "is not null") for _, sign, *_ in filters):
            none.add(condition)
    assert wrong == []
    # Comparisons of the other types do not reach the scan.
    assert {condition for column, condition in simple if column not in COMPARED} <= none


def scans_of(spark, view, conditions):
    """The scans that are left of a query for each condition. Spark optimizes the queries as branches of one, which is faster."""
    from frazil import _spark_plans

    found = {}
    for first in range(0, len(conditions), 50):
        some = enumerate(conditions[first : first + 50], first)
        text = " union all ".join(f"select id as c{at} from {view} where {condition}" for at, condition in some)
        for branch in _spark_plans.each(spark.sql(text)._jdf.queryExecution().optimizedPlan().children()):
            (column,) = _spark_plans.each(branch.output())
            found[column.name()] = list(_spark_plans.scans(branch))
    # A branch that no row satisfies is gone.
    return [found.get(f"c{at}", []) for at in range(len(conditions))]


def rows_of(place, table, columns, filters):
    tables = [part.read().read_all() for part in frazil.partitions(place, table, columns, filters)]
    return [tuple(row.values()) for found in tables for row in found.to_pylist()]


#: Queries whose tables occur several times or in unusual places.
QUERIES = [
    "select a.id, b.id from v a join v b on a.id = b.id + 1 where a.n > 0 and b.n < 0",
    "select id from v where n > 0 union all select id from v where n < 0 union all select -id from s where k = 1",
    "select a.id, b.id from v a join v b on a.id = b.id + 1 where a.n > 0 and b.n > 0 and b.x < 5 and a.t is not null",
    "select id from v where n = 5 and x > (select min(x) from v where n = 5)",
    "select id from v where n = 5 and exists (select 1 from v w where w.id = v.id + 1 and w.x > 0)",
    "select id, (select max(w.id) from v w where w.t = s.t and w.n = 5) from s where k > 1",
    "select id from v where x > (select avg(x) from v where n = 5) or n in (select k from s where id > 3)",
    "with c as (select * from v where n > 0) select c.id, d.id from c join c d on c.id = d.id where d.t = 'a'",
    "select s.id, v.id from s left join v on s.id = v.id and v.n > 0 where s.k <> 1",
    "select s.id, v.id from s full join v on s.id = v.id and v.n > 0 and s.k = 1",
    "table s union all table s",
    "select count(*) from (table v except table v)",
    "select id from (select id, u, t from v where t is not null or d is null) where id < 9",
    "select * except (k) from s natural join (select id, n from v where n is null)",
    "select count(*), count(n), max(f) from v",
    "select k, count(*) from s where false group by all",
    "select s.id, y.m from s, lateral (select max(v.n) m from v where v.id = s.id) y where s.k = 2",
    "select (select count(*) from v where n > 0), (select count(*) from v where n < 0), (select max(id) from v where n = 5)",
    "select id from v where f = cast('NaN' as double) or r <=> cast('NaN' as float) or not (c < 'a ')",
    "select id from (select * from v where id < 30 limit 100) where n <=> 5",
    "from s |> where k = 1 |> extend id + 1 as more |> drop t",
    "select * from s pivot (count(t) for k in (1, 2))",
]


def test_queries_have_the_rows_that_they_have_without_filters(spark, values):
    import frazil.spark

    for table in ("v", "s"):
        load(spark, values, table).createOrReplaceTempView(table)
    views = {view.name for view in spark.catalog.listTables()}
    for query in QUERIES:
        found = sorted(map(repr, frazil.spark.sql(spark, values, query).collect()))
        assert found == sorted(map(repr, spark.sql(query).collect())), query
    assert {view.name for view in spark.catalog.listTables()} == views


def filters_given(monkeypatch):
    """The filters that `sql` gives the scans of tables, by their names, from now on."""
    import frazil.spark

    given = {}
    planned = frazil.spark._Table.planned_frame

    def noted(table, *arguments):
        given[table.name] = table.filters
        return planned(table, *arguments)

    monkeypatch.setattr(frazil.spark._Table, "planned_frame", noted)
    return given


def test_a_scan_has_the_conditions_of_all_places_of_its_table(spark, values, monkeypatch):
    import frazil.spark

    seen = filters_given(monkeypatch)
    for query, filters in [
        ("select id from v where n > 0", [["n", "is not null"], ["n", ">", "0"]]),
        ("select id from v where n > 0 and x < 5 union all select id from v where n > 0", [["n", "is not null"], ["n", ">", "0"]]),
        ("select id from v where n > 0 union all select id from v where n > 1", [["n", "is not null"]]),
        ("select id from v where n > 0 union all select id from v", []),
        ("select 1 from v where n > 0 and false", []),
    ]:
        frazil.spark.sql(spark, values, query)
        assert sorted(seen["v"]) == sorted(filters), query


def test_decimals_that_travel_as_integers_are_the_same(spark, tmp_path):
    import frazil.spark

    kinds = ["decimal(1, 1)", "decimal(9, 2)", "decimal(15, 2)", "decimal(18, 0)", "decimal(18, 18)", "decimal(19, 2)"]
    ends = ["0.9", "9999999.99", "9999999999999.99", "9" * 18, "0." + "9" * 18, "9" * 17 + ".99"]
    columns = ", ".join(f"d{at} {kind}" for at, kind in enumerate(kinds))
    with frazil.connect(tmp_path / "db") as con:
        con.execute(f"create table d (id integer, {columns})")
        con.execute("insert into d select i, " + ", ".join(f"case when i % 3 > 0 then (i % 200 - 100) * {end}::{kind} / 100 end" for end, kind in zip(ends, kinds))
                    + " from generate_series(1, 3000) i")
        con.execute("insert into d values (0" + "".join(f", {end}" for end in ends) + "), (-1" + "".join(f", -{end}" for end in ends) + ")")
        con.execute("create table none (d decimal(9, 2)); freeze table d")
        expected = con.execute("select * from d where d2 < 5 or d2 is null order by id").fetchall()
    query = "select * from d where d2 < 5 or d2 is null order by id"
    assert [tuple(row) for row in frazil.spark.sql(spark, tmp_path / "db", query).collect()] == expected
    assert frazil.spark.sql(spark, tmp_path / "db", "select sum(d1), max(d1) from d where d1 > 0 and d3 < 0").first()[0] is None
    assert frazil.spark.sql(spark, tmp_path / "db", "select d, count(*) over () from none").collect() == []


def test_a_small_table_is_given_whole_to_a_join(spark, values):
    import frazil.spark

    # The names of small tables do not change the order in which conditions connect the tables.
    frame = frazil.spark.sql(spark, values, "select a.id from v a, v b, s where a.id = s.id and s.k = b.n")
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "BroadcastHashJoin" in plan and "SortMergeJoin" not in plan and "NestedLoop" not in plan, plan


def test_the_size_of_a_table_is_that_of_its_values_in_memory(spark, tmp_path):
    """A column that its codes make small is not small in the memory of each task of a join."""
    import frazil.spark
    from frazil import _spark_plans

    with frazil.connect(tmp_path / "db") as con:
        con.execute("create table same (k bigint not null, d date not null)")
        con.execute("insert into same select 7, date '2024-01-01' + i / 40000 from generate_series(0, 199999) r(i)")
        con.execute("freeze table same order by d")

    def size(query):
        plan = frazil.spark.sql(spark, tmp_path / "db", query)._jdf.queryExecution().optimizedPlan()
        leaf = next(iter(_spark_plans.each(plan.collectLeaves())))
        return leaf.stats().sizeInBytes()

    assert size("select k from same") == 200_000 * 8
    assert size("select k, d from same") == 200_000 * 12
    # Chunks that a filter rules out do not count.
    assert 40_000 * 12 <= size("select k from same where d = date '2024-01-05'") < 120_000 * 12


def test_a_query_is_what_it_says(spark, values, typed):
    import frazil.spark
    from pyspark.errors import AnalysisException, ParseException

    # A view of the session is hidden, and there afterwards.
    spark.range(3).createOrReplaceTempView("s")
    ordered = frazil.spark.sql(spark, str(values), "-- last first\nselect id from s where k = 1 order by id desc -- all\n;\n")
    assert [row["id"] for row in ordered.collect()] == [9, 5, 1]
    assert spark.sql("select count(*) from s").first()[0] == 3
    # The frame is a frame as any other.
    assert ordered.union(ordered).where("id > 1").count() == 4
    assert frazil.spark.sql(spark, values, "select 1").first()[0] == 1
    assert frazil.spark.sql(spark, typed, "select `a b` from `Odd` where `select` = 1").first()[0] == "x"
    assert frazil.spark.sql(spark, typed, "select a from `we``ird`").first()[0] == 5
    assert frazil.spark.sql(spark, os.fsencode(typed), "select count(*) from odd").first()[0] == 0
    with pytest.raises(ValueError, match='does not tell the tables "Odd" and "odd" apart'):
        frazil.spark.sql(spark, typed, "select * from ODD")
    # A word is a name only as a whole.
    assert frazil.spark.sql(spark, typed, "select 'oddly'").first()[0] == "oddly"
    with pytest.raises(ParseException, match="line 2, pos"):
        frazil.spark.sql(spark, values, "select id\nfron s where")
    for command in ("create view w as select * from s", "insert into s select * from s", "drop view s"):
        with pytest.raises(ParseException):
            frazil.spark.sql(spark, values, command)
    with pytest.raises(AnalysisException, match="`zz`"):
        frazil.spark.sql(spark, values, "select zz from s")


def test_query_6_reads_the_columns_and_blocks_that_it_needs(spark, tmp_path, monkeypatch):
    """The bytes that Spark's tasks read, counted by Frazil's scans."""
    import frazil.spark

    with frazil.connect(tmp_path / "db") as con:
        con.execute("""
            create table lineitem (l_orderkey integer, l_quantity decimal(15, 2), l_extendedprice decimal(15, 2), l_discount decimal(15, 2),
                l_shipdate date, l_comment varchar(44));
            insert into lineitem select i, i % 50, i * 7 % 100000 / 3.0, i % 11 / 100.0, date '1992-01-01' + i / 240, 'comment ' || i * 977 % 65537
                from generate_series(1, 600000) r(i);
            freeze table lineitem order by l_shipdate;
        """)
        query = """
            select sum(l_extendedprice * l_discount) as revenue from lineitem where l_shipdate >= date '1994-01-01'
            and l_shipdate < date '1994-01-01' + interval '1' year and l_discount between 0.06 - 0.01 and 0.06 + 0.01 and l_quantity < 24"""
        expected = con.execute(query).fetchone()
    filters = filters_given(monkeypatch)
    assert tuple(frazil.spark.sql(spark, tmp_path / "db", query).first()) == expected
    given = {"path": str(tmp_path / "db"), "table": "lineitem", "filters": json.dumps(filters["lineitem"])}
    columns = load(spark, tmp_path / "db", "lineitem", columns="l_quantity,l_extendedprice,l_discount,l_shipdate").schema
    reader = frazil.spark.FrazilDataSource(given).reader(columns)
    parts = [part.value for part in reader.partitions()]
    for part in parts:
        part.read().read_all()
    chunks, read = (sum(getattr(part.counts, name) for part in parts) for name in ("chunks", "bytes"))
    whole = frazil.partitions(tmp_path / "db", "lineitem")
    # 365 of 2,500 days are in two or three of ten blocks.
    assert chunks <= 3 and read * 5 < sum(part.bytes for part in whole), (chunks, read, whole)


def test_a_query_that_counts_reads_the_narrowest_column(spark, values):
    import frazil.spark

    frame = frazil.spark.sql(spark, values, "select count(*) from v")
    plan = frame._jdf.queryExecution().optimizedPlan().toString()
    assert "LogicalRDD [b#" in plan, plan
    assert frame.first()[0] == 120


def test_what_is_wrong_is_said(spark, typed):
    def refused(table="t", schema=None, read=False, **options):
        with pytest.raises(Exception) as caught:
            reader = spark.read.format("frazil")
            for name, value in {"table": table, **options}.items():
                reader = reader if value is None else reader.option(name, value)
            reader = reader.schema(schema) if schema else reader
            frame = reader.load(str(typed))
            frame.collect() if read or schema else None
        return str(caught.value)

    assert '"w" is not a table' in refused("w")
    assert 'table "nothing" does not exist' in refused("nothing")
    assert 'table "t" has no column "zz"' in refused(columns="zz")
    assert 'the format "frazil" needs the option "table"' in refused(None)
    assert 'column "id" of table "t" is int, not string' in refused(schema="id string")
    assert 'column "d" has an infinite value' in refused("ends", columns="d", read=True)
    assert 'column "z" has an infinite value' in refused("ends", columns="z", read=True)
    assert 'the option "filters" is a list in JSON, such as' in refused(filters="id > 3")
    assert 'the option "filters" is a list in JSON, such as' in refused(filters='{"id": 3}')
    assert 'table "t" has no column "zz"' in refused(filters='[["zz", "=", 3]]', read=True)
    assert "is not a filter: " in refused(filters='[["id", "like", 3]]', read=True)
    assert "NULL" in refused(filters='[["id", "=", null]]', read=True)
    texts = load(spark, typed, "ends", texts="d,z").collect()
    assert [tuple(row) for row in texts] == [("infinity", "-infinity", "24:00:00")]
