"""Whole results in other libraries' forms: every type, NULL and edge values are those of the rows."""

import builtins
import datetime
import decimal
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import types

import frazil
import numpy
import pandas
import polars
import pyarrow
import pytest

LONG = "a text that is longer than twelve bytes, ß\U0001f600"
WIDE = decimal.Decimal("12345678901234567890123456789012345.678")
#: Name, type, values: among them the least and the greatest.
COLUMNS = [
    ("o", "boolean", [True, False, None]),
    ("s", "smallint", [-(2**15), 2**15 - 1, None]),
    ("i", "integer", [-(2**31), 2**31 - 1, None]),
    ("b", "bigint", [-(2**63), 2**63 - 1, None]),
    ("f", "double precision", [1.7976931348623157e308, -5e-324, None]),
    ("n", "decimal(18,2)", [decimal.Decimal("9999999999999999.99"), decimal.Decimal("-0.01"), None]),
    ("w", "decimal(38,3)", [WIDE, -WIDE, None]),
    ("d", "date", [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
    ("z", "timestamp", [datetime.datetime.min, datetime.datetime.max, None]),
    ("t", "text", ["", LONG, None]),
    ("v", "varchar(9)", ["twelve", "ß", None]),
    ("c", "char(1)", ["x", "\U0001f600", None]),
]
NAMES = [name for name, _, _ in COLUMNS]


def filled(con, repeat=1, nulls=True):
    con.execute("create table every (k integer, " + ", ".join(f"{name} {ty}" for name, ty, _ in COLUMNS) + ")")
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    count = 3 if nulls else 2
    rows = [tuple(values[at % count] for _, _, values in COLUMNS) for at in range(count * repeat)]
    con.executemany(f"insert into every values ({marks})", [(at, *row) for at, row in enumerate(rows)])
    return rows


def every(con):
    return con.execute("select " + ", ".join(NAMES) + " from every order by k")


#: One row; one batch; some batches, made on several threads.
SIZES = [1, 100, 20_000]


@pytest.fixture(params=SIZES)
def rows(con, request):
    return filled(con, request.param)


def test_rows(con, rows):
    assert every(con).fetchall() == rows


def test_arrow(con, rows):
    table = every(con).arrow()
    assert isinstance(table, pyarrow.Table) and table.column_names == NAMES
    assert [str(field.type) for field in table.schema] == [
        "bool", "int16", "int32", "int64", "double", "decimal128(18, 2)", "decimal128(38, 3)", "date32[day]", "timestamp[us]",
        "string", "string", "string"]
    table.validate(full=True)
    assert list(zip(*(column.to_pylist() for column in table.columns))) == rows


def test_streams_and_readers(con, rows):
    reader = every(con).fetch_record_batch()
    assert isinstance(reader, pyarrow.RecordBatchReader)
    assert reader.read_all().equals(every(con).arrow())
    assert pyarrow.table(every(con)).equals(every(con).arrow())
    # A capsule may ask for other types.
    wanted = pyarrow.schema([field.with_type(pyarrow.large_string()) if field.type == pyarrow.string() else field
                             for field in every(con).arrow().schema])
    as_wanted = pyarrow.RecordBatchReader.from_stream(every(con), schema=wanted).read_all()
    assert as_wanted.schema.field("t").type == pyarrow.large_string()
    # Each batch is made when it is read, and outlives the connection.
    reader = every(con).fetch_record_batch()
    con.close()
    assert sum(batch.num_rows for batch in reader) == len(rows)


def test_polars(con, rows):
    frame = every(con).pl()
    assert isinstance(frame, polars.DataFrame) and frame.columns == NAMES
    assert frame.rows() == rows
    assert frame.schema["n"] == polars.Decimal(18, 2) and frame.schema["t"] == polars.String


def of_pandas(value):
    """A value of a frame as a row has it."""
    if value is None or value is pandas.NA or value is pandas.NaT or isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, pandas.Timestamp):
        return value.to_pydatetime()
    return value.item() if isinstance(value, numpy.generic) else value


def test_pandas(con, rows):
    frame = every(con).df(decimals="decimal")
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == NAMES
    kinds = [str(kind) for kind in frame.dtypes]
    assert kinds == ["boolean", "Int16", "Int32", "Int64", "float64", "object", "object", "datetime64[s]", "datetime64[us]", "str",
                     "str", "str"]
    for name, ty, _ in COLUMNS:
        at = NAMES.index(name)
        found = [of_pandas(value) for value in frame[name]]
        if ty == "date":
            found = [value and value.date() for value in found]
        assert found == [row[at] for row in rows], name
    floats = every(con).df()
    assert [of_pandas(value) for value in floats["n"][:3]] == [9999999999999999.99, -0.01, None]
    assert [of_pandas(value) for value in floats["w"][:3]] == [float(WIDE), -float(WIDE), None]
    with pytest.raises(ValueError, match="decimals"):
        every(con).df(decimals="int")


def test_pandas_without_null(con):
    rows = filled(con, 3, nulls=False)
    frame = every(con).df()
    assert [str(kind) for kind in frame.dtypes] == [
        "bool", "int16", "int32", "int64", "float64", "float64", "float64", "datetime64[s]", "datetime64[us]", "str", "str", "str"]
    assert frame["b"].tolist() == [row[3] for row in rows]
    # It is the caller's to change.
    frame.loc[0, "b"] = 7
    frame["i"] += 0
    assert frame["b"][0] == 7
    assert every(con).fetchone()[3] == rows[0][3]


def test_columns_of_one_name(con):
    cursor = con.execute("select 1 as a, 2 as a, 'x' as b")
    assert list(cursor.df().columns) == ["a", "a", "b"]
    assert cursor.df().iloc[0].tolist() == [1, 2, "x"]
    assert cursor.arrow().column_names == ["a", "a", "b"]
    assert set(cursor.fetchnumpy()) == {"a", "b"}


def test_numpy(con, rows):
    arrays = every(con).fetchnumpy()
    assert list(arrays) == NAMES
    kinds = {name: str(array.dtype) for name, array in arrays.items()}
    assert kinds == {"o": "bool", "s": "int16", "i": "int32", "b": "int64", "f": "float64", "n": "float64", "w": "float64",
                     "d": "datetime64[D]", "z": "datetime64[us]", "t": "object", "v": "object", "c": "object"}
    for at, (name, ty, values) in enumerate(COLUMNS):
        array = arrays[name]
        assert isinstance(array, numpy.ma.MaskedArray) and array.mask.tolist() == [row[at] is None for row in rows]
        if ty.startswith("decimal"):
            values = [value and float(value) for value in values]
        assert array[:3].tolist() == values, name


def test_numpy_without_null(con):
    rows = filled(con, 2, nulls=False)
    arrays = every(con).fetchnumpy()
    for name, array in arrays.items():
        assert type(array) is numpy.ndarray and array.flags.writeable and array.flags.c_contiguous, name
    assert arrays["b"].tolist() == [row[3] for row in rows]


def test_values_that_are_no_numbers(con):
    sql = "select * from (values ('NaN'::double precision), ('Infinity'), ('-Infinity'), (-0.0::double precision)) v (f)"
    for values in [con.execute(sql).arrow()["f"].to_pylist(), con.execute(sql).pl()["f"].to_list(),
                   con.execute(sql).df()["f"].tolist(), con.execute(sql).fetchnumpy()["f"].tolist()]:
        assert math.isnan(values[0]) and values[1:3] == [math.inf, -math.inf] and values[3] == 0


def test_dates_that_python_does_not_have(con):
    sql = "select date '0044-03-15 BC' as d, timestamp '20000-01-01 00:00:00' as z"
    assert con.execute(sql).fetchnumpy()["d"].astype(str).tolist() == ["-043-03-15"]
    assert con.execute(sql).fetchnumpy()["z"].astype("datetime64[s]").astype(int).tolist() == [568971820800]
    assert con.execute(sql).arrow()["z"].cast(pyarrow.int64()).to_pylist() == [568971820800_000000]
    assert con.execute(sql).df()["d"].astype("int64").tolist() == [numpy.datetime64("-0043-03-15", "s").astype(int)]


def test_intervals(con):
    sql = "select interval '1 month 2 days 3 microseconds' as i"
    (value,) = con.execute(sql).arrow()["i"].to_pylist()
    assert (value.months, value.days, value.nanoseconds) == (1, 2, 3000)
    # Arrow counts nanoseconds, in 64 bits.
    assert con.execute("select interval '2562047 hours' as i").arrow()["i"][0].as_py().nanoseconds == 2562047 * 3600 * 10**9
    with pytest.raises(frazil.DataError, match="out of range in Arrow.*\n.*cast it to text") as caught:
        con.execute("select interval '2562048 hours' as i").arrow()
    assert caught.value.sqlstate == "22008"
    # Polars has no type of months and days.
    assert con.execute(sql + " union all select null").pl()["i"].to_list() == ["1 mon 2 days 00:00:00.000003", None]
    assert con.execute("select array[interval '1 day', null] as i").pl()["i"].to_list() == [["1 day", None]]
    assert con.execute(sql).df()["i"].tolist() == con.execute(sql).fetchnumpy()["i"].tolist() == [con.execute(sql).fetchone()[0]]


def test_results_without_rows_or_columns(con):
    filled(con, 0)
    assert every(con).arrow().num_rows == 0 and every(con).arrow().schema.names == NAMES
    assert every(con).pl().shape == (0, len(NAMES))
    assert every(con).df().shape == (0, len(NAMES))
    assert {len(array) for array in every(con).fetchnumpy().values()} == {0}
    assert every(con).fetch_record_batch().read_all().num_rows == 0


def test_a_result_is_whole_whatever_was_fetched(con):
    filled(con, 5)
    cursor = every(con)
    cursor.fetchmany(7)
    assert len(cursor.df()) == len(cursor.pl()) == cursor.arrow().num_rows == 15
    assert len(cursor.fetchall()) == 8


def test_tables_outlive_rows_and_connection(con):
    rows = filled(con, 10_000)
    cursor = every(con)
    table, frame, polar = cursor.arrow(), cursor.df(), cursor.pl()
    cursor.close()
    con.execute("drop table every")
    con.close()
    del cursor
    assert list(zip(*(column.to_pylist() for column in table.columns))) == rows
    assert polar.rows() == rows
    assert of_pandas(frame["b"][29_998]) == 2**63 - 1


@pytest.mark.parametrize("module, form", [
    ("pandas", "df"), ("polars", "pl"), ("pyarrow", "arrow"), ("pyarrow", "fetch_record_batch"), ("numpy", "fetchnumpy")])
def test_a_library_that_is_not_there_is_named(con, monkeypatch, module, form):
    known = builtins.__import__

    def absent(name, *args, **kwargs):
        if name.partition(".")[0] == module:
            raise ImportError(name)
        return known(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"pip install {module}"):
        getattr(con.execute("select 1 as a"), form)()


def test_no_library_is_needed_to_begin_with(tmp_path):
    script = """
import sys
for name in ["numpy", "pandas", "polars", "pyarrow", "IPython"]:
    sys.modules[name] = None
import frazil
con = frazil.connect()
cursor = con.execute("select 1 as a, 'x' as b")
assert cursor.fetchall() == [(1, 'x')] and cursor._repr_html_()
"""
    subprocess.run([sys.executable, "-c", script], check=True)


# Notebooks.


def test_html_shows_the_first_rows(con):
    con.execute("create table h (a integer, b text)")
    con.executemany("insert into h values (?, ?)", [(k, f"<b>{k}</b>" if k else None) for k in range(30)])
    cursor = con.execute("select a, b, 'x' || repeat('y', 1000) as \"<c>\" from h order by a")
    cursor.fetchmany(25)
    html = cursor._repr_html_()
    assert "&lt;b&gt;1&lt;/b&gt;" in html and "<b>" not in html and "&lt;c&gt;" in html
    assert "NULL" in html and "… 10 more of 30 rows" in html and len(html) < 12_000
    assert html.count("<tr>") == 21
    assert "<p>1 row</p>" in con.execute("select 1")._repr_html_()
    assert "<p>0 rows</p>" in con.execute("select 1 where false")._repr_html_()
    assert repr(cursor) == "<frazil.Cursor: 30 rows of 3 columns>"
    assert con.execute("create table i (a integer)")._repr_html_() is None


def test_html_shows_what_python_has_no_object_for(con):
    html = con.execute("select date '0044-03-15 BC' as d, 'infinity'::timestamptz as at, time '24:00' as t, '\\x00ff'::bytea as b, true as o, "
                       "1.5::real as r, null::uuid as u, interval '1 day 2 hours' as i")._repr_html_()
    cells = re.findall("<td[^>]*>(.*?)</td>", html)
    assert cells == [con.execute("select cast(date '0044-03-15 BC' as text)").fetchone()[0], "infinity", "24:00:00", "\\x00ff", "t", "1.5", "<i>NULL</i>", "1 day 02:00:00"]
    assert re.findall('<th title="(.*?)">', html)[4:6] == ["boolean", "real"]
    assert html.count("text-align: right") == 1


def test_progress_is_shown_in_a_notebook():
    from frazil import _notebook

    shown = []

    class Handle:
        def update(self, text):
            shown.append((repr(text), text._repr_html_()))

    line = _notebook._Progress(lambda text, display_id: Handle())
    line.show("loading", 1, 4, "about 3 s left")
    line.show("", 9, 4, "")
    line.show("", 0, 0, "")
    line.close()
    assert [text for text, _ in shown] == ["loading: 25 %, about 3 s left", "running: 100 %", "running", ""]
    assert shown[0][1] == "<small>loading: 25 %, about 3 s left</small>" and shown[-1][1] == ""


def test_a_long_statement_says_how_far_it_is_in_a_notebook(endless, monkeypatch):
    """The notebook is made of what the package asks of one: IPython's shell with a kernel, and its display."""
    shown, displayed = [], []

    class Handle:
        def update(self, text):
            shown.append(repr(text))

    def display(text, display_id):
        displayed.append(repr(text))
        return Handle()

    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    timer = interrupted_soon(2.5)
    with pytest.raises(KeyboardInterrupt):
        endless.execute(ENDLESS)
    timer.join()
    assert displayed == [""] and shown[-1] == "" and len(shown) > 3
    assert all(re.fullmatch(r"[a-z0-9 ]+?(: \d+ %)?(, about \d+ (s|min|h) left)?", text) for text in shown[:-1])
    # A short one says nothing.
    del shown[:]
    endless.execute("select count(*) from n")
    assert shown == []


# Signals.

ENDLESS = "select count(*) from n x, n y, n z where x.a + y.a + z.a = 7"


@pytest.fixture
def endless(con):
    con.execute("create table n (a integer)")
    con.executemany("insert into n values (?)", ([k] for k in range(5000)))
    return con


def interrupted_soon(after=0.3):
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("use", [
    lambda con: con.execute(ENDLESS),
    lambda con: con.cursor().execute(ENDLESS),
    lambda con: con.prepare(ENDLESS).execute(),
    lambda con: con.execute("create table m as " + ENDLESS),
    lambda con: con.executemany("insert into n select count(*) from n x, n y, n z where x.a + y.a + z.a = ?", [[1], [2]]),
])
def test_ctrl_c_ends_a_statement(endless, use):
    timer = interrupted_soon()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        use(endless)
    timer.join()
    assert time.monotonic() - begun < 30
    # The connection lives on, and nothing was done.
    assert endless.execute("select count(*) from n").fetchone() == (5000,)


def test_ctrl_c_that_a_handler_takes_changes_nothing(con):
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        con.execute("create table n (a integer)")
        con.executemany("insert into n values (?)", ([k] for k in range(400)))
        timer = interrupted_soon(0.05)
        while not seen:
            assert con.execute("select count(*) from n x, n y where x.a < y.a").fetchone() == (79_800,)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_another_thread_runs(endless):
    failures = []

    def query():
        try:
            endless.execute(ENDLESS)
        except frazil.OperationalError as error:
            failures.append(error.sqlstate)

    thread = threading.Thread(target=query)
    thread.start()
    time.sleep(0.2)
    timer = interrupted_soon()
    with pytest.raises(KeyboardInterrupt):
        endless.execute("select count(*) from n x, n y where x.a = y.a")
    timer.join()
    thread.join(60)
    assert not thread.is_alive() and failures == ["57014"]


def statement_threads():
    """How many threads of this process run statements of its main thread, or wait for them."""
    names = [task.joinpath("comm") for task in pathlib.Path("/proc/self/task").iterdir()]
    return sum(name.read_text().startswith("frazil-statemen") for name in names)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="the system does not show threads")
def test_statements_of_the_main_thread_share_a_thread(con):
    con.execute("create table n (a integer)")
    con.execute("insert into n select * from generate_series(1, 1000)")
    for k in range(50):
        assert con.execute(f"select count(*) from n where a <> {k + 1}").fetchone() == (999,)
    assert 1 <= statement_threads() <= 2


def test_a_handler_runs_statements_while_one_runs(endless):
    other = frazil.connect()
    other.execute("create table m (a integer)")
    seen = []

    def handler(*_):
        other.execute("insert into m select * from generate_series(1, 10)")
        seen.append(other.execute("select sum(a), count(*) from m where a > 0").fetchone())
        endless.interrupt()

    before = signal.signal(signal.SIGINT, handler)
    try:
        for _ in range(3):
            timer = interrupted_soon(0.1)
            with pytest.raises(frazil.OperationalError) as caught:
                endless.execute(ENDLESS)
            timer.join()
            assert caught.value.sqlstate == "57014"
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [(55, 10), (110, 20), (165, 30)]


FORKING = """
import os, signal, sys, threading, frazil

def counted():
    con = frazil.connect()
    con.execute("create table n (a integer)")
    con.execute("insert into n select * from generate_series(1, 1000)")
    return con.execute("select count(*) from n where a > 10").fetchone()[0]

def forked():
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if counted() == 990 and counted() == 990 else 1)
    assert os.waitpid(child, 0)[1] == 0

assert counted() == 990
forked()
assert counted() == 990
# The thread that forks is the main one of the child.
ended = []
thread = threading.Thread(target=lambda: ended.append(forked()))
thread.start()
thread.join()
assert ended == [None]
assert counted() == 990
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_child_runs_statements_of_its_own():
    # In a process of its own, whose exit must not wait for threads that wait.
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING], capture_output=True, text=True, timeout=120
    )
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr


def test_interrupt_and_progress_from_another_thread(endless):
    seen = []

    def look():
        for _ in range(20):
            time.sleep(0.02)
            seen.append(endless.progress())
        endless.interrupt()

    thread = threading.Thread(target=look)
    thread.start()
    with pytest.raises(frazil.OperationalError) as caught:
        endless.execute(ENDLESS)
    thread.join()
    assert caught.value.sqlstate == "57014"
    assert all(isinstance(phase, str) and 0 <= done and 0 <= total for phase, done, total in seen)
