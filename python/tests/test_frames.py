"""Frames of other libraries as tables: by their variables' names, registered, appended; and files as results."""

import datetime
import decimal
import gc
import math
import sys
import threading

import frazil
import numpy
import pandas
import polars
import pyarrow
import pytest

from test_results import COLUMNS, NAMES, every, filled

of_module = pandas.DataFrame({"a": [1, 2, 3]})


def test_variables_are_tables(con):
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]})
    assert con.execute("select sum(a), count(b), count(*) from frame").fetchone() == (6, 2, 3)
    assert con.execute("select f.a from frame f join of_module o on f.a = o.a where f.a > ?", [1]).fetchall() == [(2,), (3,)]
    assert con.cursor().execute("select max(a) from of_module").fetchone() == (3,)
    statement = con.prepare("select count(*) from frame where a > $1")
    assert statement.execute([1]).fetchone() == (2,)
    frame = pandas.DataFrame({"a": [7]})
    assert statement.execute([1]).fetchone() == (1,)


def test_names_are_looked_for_in_order(con):
    def inside():
        frame = pandas.DataFrame({"a": [1]})
        return con.execute("select a from frame").fetchone()[0]

    assert inside() == 1
    # Variables of a caller's caller are not seen, nor are those that hold something else.
    frame, number = pandas.DataFrame({"a": [2]}), 7

    def blind():
        return con.execute("select a from frame")

    with pytest.raises(frazil.ProgrammingError) as caught:
        blind()
    assert caught.value.sqlstate == "42P01"
    with pytest.raises(frazil.ProgrammingError, match="42P01"):
        con.execute("select * from number")
    # A table goes before a registered frame, which goes before a variable.
    con.register("frame", pandas.DataFrame({"a": [3]}))
    assert con.execute("select a from frame").fetchone() == (3,)
    assert blind().fetchone() == (3,)
    con.execute("create table frame (a integer)")
    assert con.execute("select a from frame").fetchone() is None
    con.execute("drop table frame")
    con.unregister("frame")
    assert con.execute("select a from frame").fetchone() == (2,)
    with pytest.raises(frazil.ProgrammingError, match="frame"):
        con.unregister("frame")


def test_variables_of_other_threads(con):
    seen = []

    def work():
        mine = pandas.DataFrame({"a": range(100_000)})
        seen.append(con.execute("select sum(a) from mine").fetchone()[0])

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert seen == [4999950000] * 4


@pytest.mark.parametrize("repeat", [1, 100, 50_000])
@pytest.mark.parametrize("form", ["arrow", "pl", "df", "reader", "cursor", "batch"])
def test_results_come_back_as_they_were(con, form, repeat):
    rows = filled(con, repeat)
    cursor = every(con)
    frame = {
        "arrow": lambda: cursor.arrow(),
        "pl": lambda: cursor.pl(),
        "df": lambda: cursor.df(decimals="decimal"),
        "reader": lambda: cursor.fetch_record_batch(),
        "cursor": lambda: cursor,
        "batch": lambda: cursor.arrow().combine_chunks().to_batches()[0],
    }[form]()
    again = con.execute("select * from frame")
    found = again.fetchall()
    if form == "df":
        # pandas' decimals have no precision; dates are timestamps.
        date = NAMES.index("d")
        found = [(*row[:date], row[date] and row[date].date(), *row[date + 1:]) for row in found]
    assert found == rows
    kinds = {column[0]: column[1] for column in again.description}
    assert kinds["i"] == "integer" and kinds["s"] == "smallint" and kinds["b"] == "bigint" and kinds["t"] == "text"
    if form != "df":
        assert kinds["w"] == "decimal(38,3)" and kinds["d"] == "date"
    if form == "reader":
        # It was read: nothing is left.
        assert con.execute("select count(*) from frame").fetchone() == (0,)


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 8191, 8192, 8193, 65_535, 65_536, 65_600, 65_601, 200_000])
def test_rows_of_every_number(con, rows):
    numbers = numpy.arange(rows, dtype="int64")
    frame = pandas.DataFrame({"a": numbers, "f": numbers * 0.5, "i": numbers.astype("int32"), "s": numbers.astype("int16"),
                              "o": numbers % 2 == 0, "t": pandas.Series([f"text number {k}" for k in range(rows)], dtype="str")})
    frame.loc[frame.index % 7 == 3, "f"] = numpy.nan
    assert con.execute("select count(*), count(f), coalesce(sum(a), 0), min(t), count(case when o then 1 end), sum(i) from frame"
                       ).fetchone()[:3] == (rows, rows - len(range(3, rows, 7)), sum(range(rows)))
    assert con.execute("select * from frame").df().shape == frame.shape
    back = con.execute("select a, f, i, s, o, t from frame order by a").fetchall()
    assert [row[0] for row in back] == list(range(rows))
    assert all((row[1] is None) == (row[0] % 7 == 3) and row[5] == f"text number {row[0]}" for row in back)
    some = con.execute("select a from frame where a between 60000 and 66000 and t like '%9' and f is not null order by a").fetchall()
    assert [a for a, in some] == [a for a in range(60_000, min(66_001, rows)) if a % 10 == 9 and a % 7 != 3]


def test_slices_strides_and_chunks(con):
    numbers = numpy.arange(300_000, dtype="int64")
    columns = numpy.arange(60_000, dtype="float64").reshape(20_000, 3)
    strided = pandas.DataFrame(columns, columns=["a", "b", "c"])
    assert con.execute("select sum(b) from strided").fetchone() == (float(columns[:, 1].sum()),)
    backwards = pandas.DataFrame({"a": numbers[::-1]})
    assert con.execute("select count(*), sum(a), min(a) from backwards").fetchone() == (300_000, int(numbers.sum()), 0)
    part = pyarrow.table({"a": numbers, "t": [str(k) for k in numbers]}).slice(12_345, 200_001)
    expected = list(range(12_345, 212_346))
    assert con.execute("select a, t from part").fetchall() == [(k, str(k)) for k in expected]
    chunked = pyarrow.table({"a": pyarrow.chunked_array([[1, None], [], [3], list(range(10_000))])})
    assert con.execute("select count(*), count(a), sum(a) from chunked").fetchone() == (10_003, 10_002, 49_995_004)
    nothing = pyarrow.table({"a": pyarrow.chunked_array([], type=pyarrow.int64())})
    assert con.execute("select count(*) from nothing").fetchone() == (0,)


def test_types_of_numpy_and_pandas(con):
    frame = pandas.DataFrame({
        "i8": numpy.array([-128, 127], "int8"),
        "u8": numpy.array([0, 255], "uint8"),
        "u16": numpy.array([0, 65535], "uint16"),
        "u32": numpy.array([0, 2**32 - 1], "uint32"),
        "u64": numpy.array([0, 2**64 - 1], "uint64"),
        "f32": numpy.array([1.5, numpy.nan], "float32"),
        "ns": pandas.to_datetime(["2020-01-01 00:00:00.000001001", None]),
        "s": numpy.array(["2020-01-01", "NaT"], "datetime64[s]"),
        "zone": pandas.to_datetime(["2020-01-01 12:00", None]).tz_localize("Europe/Oslo"),
        "kind": pandas.Categorical(["x", None]),
        "object": numpy.array(["a", None], dtype=object),
        "dates": [datetime.date(2020, 1, 1), None],
        "exact": [decimal.Decimal("1.25"), None],
        "nullable": pandas.array([2**62, None], "Int64"),
        "flag": pandas.array([True, None], "boolean"),
        "arrow": pandas.array(["z", None], pandas.ArrowDtype(pyarrow.string())),
        "none": [None, None],
    })
    one, two = con.execute("select * from frame").fetchall()
    assert one == (-128, 0, 0, 0, 0, 1.5, datetime.datetime(2020, 1, 1, 0, 0, 0, 1), datetime.datetime(2020, 1, 1),
                   datetime.datetime(2020, 1, 1, 11, tzinfo=datetime.timezone.utc), "x", "a", datetime.date(2020, 1, 1), decimal.Decimal("1.25"), 2**62, True, "z", None)
    assert two == (127, 255, 65535, 2**32 - 1, 2**64 - 1, *[None] * 12)
    assert con.execute("select u64 + 1 from frame where u64 > 0").fetchone() == (decimal.Decimal(2**64),)


def test_types_of_polars(con):
    frame = polars.DataFrame({"k": ["x", "y", None], "n": [1, None, 3], "f": [1.5, math.nan, None]}).with_columns(
        c=polars.col("k").cast(polars.Categorical), e=polars.col("k").cast(polars.Enum(["x", "y"])))
    rows = con.execute("select k, n, c, e, f from frame").fetchall()
    assert rows[0] == ("x", 1, "x", "x", 1.5) and rows[2] == (None, 3, None, None, None)
    # Polars tells NaN from null.
    assert math.isnan(rows[1][4])
    lazy = frame.lazy().filter(polars.col("n") == 3)
    assert con.execute("select n from lazy").fetchall() == [(3,)]
    dictionary = pyarrow.table({"d": pyarrow.array(["x", "y", "x"]).dictionary_encode()})
    assert con.execute("select d, count(*) from dictionary group by d order by d").fetchall() == [("x", 2), ("y", 1)]


def test_only_what_is_read_is_converted(con):
    made = []

    class Watched:
        def __arrow_c_stream__(self, requested_schema=None):
            made.append(1)
            return pyarrow.table({"a": [1]}).__arrow_c_stream__(requested_schema)

    thing = Watched()
    assert con.execute("select a from thing").fetchall() == [(1,)] and made == [1]
    wide = pandas.DataFrame({f"c{k}": numpy.arange(10) for k in range(300)})
    assert con.execute("select c7 from wide where c299 > 7").fetchall() == [(8,), (9,)]


@pytest.mark.parametrize("frame, match", [
    (pandas.DataFrame({"mixed": [1, "x", 2.5]}), "mixed"),
    (pandas.DataFrame({"things": [object()]}), "things"),
    (pandas.DataFrame({"z": [1j]}), "z"),
    (pandas.DataFrame({"huge": [10**40]}), "huge"),
])
def test_columns_that_are_no_tables_columns(con, frame, match):
    with pytest.raises((frazil.ProgrammingError, frazil.NotSupportedError), match=match):
        con.execute("select count(*) from frame")
    with pytest.raises((frazil.ProgrammingError, frazil.NotSupportedError), match=match):
        con.register("registered", frame)
        con.execute("select count(*) from registered")


@pytest.mark.parametrize("frame", [
    pandas.DataFrame({"s": [{"a": 1, "b": ["x", None]}, None], "l": [[[1]], []], "c": pandas.Categorical(["x", None])}),
    polars.DataFrame({"s": [{"a": 1, "b": ["x", None]}, None], "l": [[[1]], []], "c": ["x", None]}, schema_overrides={"c": polars.Categorical}),
    pyarrow.table({"s": [{"a": 1, "b": ["x", None]}, None], "l": [[[1]], []], "c": pyarrow.array(["x", None]).dictionary_encode()}),
])
def test_nested_columns_are_documents(con, frame):
    assert con.execute("select * from frame").fetchall() == [({"a": 1, "b": ["x", None]}, [[1]], "x"), (None, [], None)]
    assert con.execute("select s->'b'->>0 from frame where c = 'x'").fetchall() == [("x",)]


def test_a_column_of_no_type_is_refused_when_it_is_read(con):
    months = pyarrow.array([(1, 2, 3)], pyarrow.month_day_nano_interval())
    union = pyarrow.UnionArray.from_dense(pyarrow.array([0], pyarrow.int8()), pyarrow.array([0], pyarrow.int32()), [pyarrow.array([1])])
    frame = pyarrow.table({"x": [7], "u": union, "m": months})
    assert con.execute("select count(*), max(x) from frame").fetchone() == (1, 7)
    with pytest.raises(frazil.NotSupportedError, match='column "u" of type .* in frame "frame"'):
        con.execute("select * from frame").fetchall()


@pytest.mark.parametrize("frame", [
    pandas.DataFrame({"span": [datetime.timedelta(1), None, datetime.timedelta(microseconds=-1)]}),
    polars.DataFrame({"span": [datetime.timedelta(1), None, datetime.timedelta(microseconds=-1)]}),
    pyarrow.table({"span": pyarrow.array([datetime.timedelta(1), None, datetime.timedelta(microseconds=-1)], pyarrow.duration("us"))}),
])
def test_spans_of_time_are_intervals(con, frame):
    found = con.execute("select cast(max(span) as text), cast(min(span) as text), count(span) from frame").fetchall()
    assert found == [("24:00:00", "-00:00:00.000001", 2)]


def test_a_value_that_does_not_fit_is_named_with_its_row(con):
    frame = pyarrow.table({"z": pyarrow.array([0] * 70_000 + [2**62], pyarrow.timestamp("s"))})
    with pytest.raises(frazil.DataError, match="row 70001.*z"):
        con.execute("select max(z) from frame")
    assert con.execute("select count(*) from frame").fetchone() == (70_001,)


def test_things_that_are_no_frames(con):
    for thing in [7, "x", [1, 2], {"a": [1]}, None, object(), numpy.arange(3)]:
        with pytest.raises(TypeError):
            con.register("x", thing)
    for use in [lambda: con.execute("insert into of_module values (1)"), lambda: con.execute("delete from of_module"),
                lambda: con.execute("create view v as select * from of_module"), lambda: con.execute("drop table of_module")]:
        with pytest.raises(frazil.Error) as caught:
            use()
        assert caught.value.sqlstate in ("42501", "42809", "0A000", "42P01"), caught.value
    with pytest.raises(frazil.Error):
        con.execute("select absent from of_module")
    con.close()
    with pytest.raises(frazil.InterfaceError):
        con.register("x", of_module)
    with pytest.raises(frazil.InterfaceError):
        con.append("x", of_module)


def test_streams_that_fail(con):
    def batches():
        yield pyarrow.record_batch({"a": [1]})
        raise ZeroDivisionError("by the stream")

    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"a": pyarrow.int64()}), batches())
    with pytest.raises(frazil.Error, match="by the stream"):
        con.execute("select count(*) from reader")


def test_frames_become_tables(con):
    frame = pandas.DataFrame({"b": ["x", "y"], "a": [1, 2]})
    con.execute("create table made as select * from frame")
    con.execute("create table t (a integer, b text, c integer default 7)")
    assert con.append("t", frame) == 2
    assert con.append("t", polars.DataFrame({"B": ["z"], "A": [3]})) == 1
    assert con.append("T", pyarrow.table({"x": [4], "y": ["w"], "z": [8]})) == 1
    assert con.execute("select * from t order by a").fetchall() == [(1, "x", 7), (2, "y", 7), (3, "z", 7), (4, "w", 8)]
    con.execute("insert into t select a + 10, b, null from frame")
    assert con.execute("select count(*) from t").fetchone() == (6,)
    with pytest.raises(frazil.Error):
        con.append("t", pandas.DataFrame({"a": [1], "other": [2]}).astype(str))
    with pytest.raises(frazil.Error):
        con.append("absent", frame)
    with pytest.raises(TypeError):
        con.append("t", [1])
    con.execute('create table "Odd ""name" ("A b" integer primary key)')
    assert con.append('Odd "name', pandas.DataFrame({"A b": [1, 2]})) == 2
    with pytest.raises(frazil.IntegrityError):
        con.append('Odd "name', pandas.DataFrame({"A b": [3, 1]}))
    assert con.execute('select count(*) from "Odd ""name"').fetchone() == (2,)
    con.autocommit = False
    con.append("t", frame)
    con.rollback()
    assert con.execute("select count(*) from t").fetchone() == (6,)


def test_what_was_read_outlives_its_frame(con):
    def texts():
        frame = polars.DataFrame({"t": [f"a text that is longer than twelve {k}" for k in range(100_000)]})
        return con.execute("select t, 'x' || t from frame where t like '%7'")

    cursor = texts()
    gc.collect()
    junk = [bytearray(1 << 20) for _ in range(50)]
    assert all(t.endswith("7") and x == "x" + t for t, x in cursor.fetchall())
    del junk


def test_registered_frames_live_as_long_as_their_name(con):
    frame = pandas.DataFrame({"a": [1]})
    con.register("Registered name", frame)
    before = sys.getrefcount(frame)
    assert con.execute('select * from "Registered name"').fetchall() == [(1,)]
    con.register("Registered name", pandas.DataFrame({"a": [2]}))
    assert con.execute('select * from "Registered name"').fetchall() == [(2,)]
    assert con.duplicate().execute("select 1").fetchone() == (1,)
    gc.collect()
    assert sys.getrefcount(frame) <= before


def test_plans_over_frames(con):
    con.execute("create table t (k integer primary key, v text)")
    con.executemany("insert into t values (?, ?)", [(k, f"v{k}") for k in range(1000)])
    keys = pandas.DataFrame({"k": [5, 7, 5, None]})
    assert con.execute("select t.v from t join keys on t.k = keys.k order by 1").fetchall() == [("v5",), ("v5",), ("v7",)]
    assert con.execute("select count(*) from t where k in (select k from keys)").fetchone() == (2,)
    assert con.execute("select count(*) from keys x, keys y where x.k = y.k").fetchone() == (5,)
    assert con.execute("update t set v = 'new' from keys where t.k = keys.k").rowcount == 2
    assert con.execute("select k, count(*) over (partition by k) from keys order by k limit 1").fetchone() == (5, 2)
    assert con.execute("with w as (select k from keys union all select k from t) select count(*) from w").fetchone() == (1004,)
    assert "keys" in "\n".join(row[0] for row in con.execute("explain select * from keys").fetchall())
    for threads in (1, 4):
        for isa_stage in ("set frazil.pax_code = off", "set frazil.pax_code = default"):
            con.execute(f"set threads = {threads}")
            try:
                con.execute(isa_stage)
            except frazil.Error:
                pass
            big = pandas.DataFrame({"a": numpy.arange(300_000), "f": numpy.ones(300_000)})
            assert con.execute("select sum(a), sum(f), count(*) from big where a % 3 = 0").fetchone() == (14999850000, 100000.0, 100000)


def test_memory_limits_and_cancels_are_heard(con):
    frame = pandas.DataFrame({"t": ["a text that is longer than twelve bytes"] * 3_000_000})
    con.execute("set memory_limit = '16MB'")
    with pytest.raises(frazil.OperationalError, match="53200"):
        con.execute("select count(*) from frame where t like '%x' or length(t) > 3")
    con.execute("set memory_limit = '1GB'")
    assert con.execute("select count(*) from frame where t like '%bytes'").fetchone() == (3_000_000,)


# Files.


def test_files_are_read_by_their_form(con, tmp_path):
    (tmp_path / "a b's.csv").write_text("k;v\n1;x\n2;y\n")
    assert con.read_csv(tmp_path / "a b's.csv").fetchall() == [(1, "x"), (2, "y")]
    assert con.read_csv(str(tmp_path / "*.csv"), header=False, delim=";", all_varchar=True).fetchall()[0] == ("k", "v")
    (tmp_path / "c.json").write_text('{"k": 1, "v": "x"}\n')
    assert con.read_json(tmp_path / "c.json").fetchall() == [(1, "x")]
    con.execute(f"copy (select 7 as k) to '{tmp_path}/d.parquet' (format parquet)")
    assert con.read_parquet(tmp_path / "d.parquet").df()["k"].tolist() == [7]
    with pytest.raises(frazil.OperationalError, match="58P01"):
        con.read_csv(tmp_path / "absent.csv")
    with pytest.raises(frazil.Error, match="22023"):
        con.read_csv(tmp_path / "a b's.csv", colour="red")
    with pytest.raises(TypeError):
        con.read_csv(7)
