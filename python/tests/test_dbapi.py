"""PEP 249, statement by statement."""

import datetime
import decimal
import gc
import threading
import time

import frazil
import pytest


@pytest.fixture
def con(con):
    con.execute("create table t (a integer primary key, b text)")
    return con


def rows(con, sql="select a, b from t order by a"):
    return con.execute(sql).fetchall()


# Constructors and globals of the module.


def test_the_module_says_what_it_is():
    assert frazil.apilevel == "2.0"
    assert frazil.threadsafety == 3
    assert frazil.paramstyle == "qmark"
    assert frazil.__version__.count(".") == 2


def test_connections_are_opened_by_the_module(tmp_path):
    with frazil.connect(path=str(tmp_path / "a")) as con:
        con.execute("create table t (a integer)")
    with frazil.connect(tmp_path / "a") as con:
        assert rows(con, "select count(*) from t") == [(0,)]
    with frazil.connect(tmp_path / "a", read_only=True) as con, pytest.raises(frazil.Error):
        con.execute("insert into t values (1)")
    with pytest.raises(TypeError):
        frazil.connect(17)


def test_exceptions_inherit_as_the_standard_says():
    assert issubclass(frazil.Warning, Exception) and issubclass(frazil.Error, Exception)
    assert not issubclass(frazil.Warning, frazil.Error)
    assert issubclass(frazil.InterfaceError, frazil.Error)
    assert issubclass(frazil.DatabaseError, frazil.Error)
    for name in ["DataError", "OperationalError", "IntegrityError", "InternalError", "ProgrammingError", "NotSupportedError"]:
        assert issubclass(getattr(frazil, name), frazil.DatabaseError), name
    # They are attributes of connections, too.
    con = frazil.connect()
    for name in ["Warning", "Error", "InterfaceError", "DatabaseError", "DataError", "OperationalError", "IntegrityError",
                 "InternalError", "ProgrammingError", "NotSupportedError"]:
        assert getattr(con, name) is getattr(frazil, name), name


@pytest.mark.parametrize("sql, kind, sqlstate", [
    ("select", frazil.ProgrammingError, "42601"),
    ("select * from absent", frazil.ProgrammingError, "42P01"),
    ("select absent from t", frazil.ProgrammingError, "42703"),
    ("select 1 / 0", frazil.DataError, "22012"),
    ("select 'x'::integer", frazil.DataError, "22P02"),
    ("insert into t values (null, 'x')", frazil.IntegrityError, "23502"),
    ("rollback to s", frazil.ProgrammingError, "25P01"),
    ("create table u (k integer, exclude (k with =))", frazil.NotSupportedError, "0A000"),
    ("copy t from '/absent.csv'", frazil.OperationalError, "58P01"),
])
def test_exceptions_are_those_of_the_sqlstate(con, sql, kind, sqlstate):
    with pytest.raises(kind) as caught:
        con.execute(sql)
    assert type(caught.value) is kind
    assert caught.value.sqlstate == sqlstate


def test_exceptions_say_what_they_are_about(con):
    con.execute("insert into t values (1, 'x')")
    with pytest.raises(frazil.IntegrityError) as caught:
        con.execute("insert into t values (1, 'y')")
    error = caught.value
    assert (error.sqlstate, error.table, error.constraint) == ("23505", "t", "t_pkey")
    assert "(a)=(1)" in error.detail
    with pytest.raises(frazil.InterfaceError) as caught:
        con.cursor().fetchone()
    error = caught.value
    assert (error.sqlstate, error.detail, error.hint, error.table, error.column, error.constraint) == (None,) * 6


# Connections.


def test_commit_and_rollback(con):
    con.autocommit = False
    con.execute("insert into t values (1, 'x')")
    assert con.in_transaction
    con.commit()
    assert not con.in_transaction
    con.execute("insert into t values (2, 'y')")
    con.rollback()
    con.rollback()
    con.commit()
    assert rows(con) == [(1, "x")]


def test_autocommit_is_on_unless_it_is_turned_off(con):
    assert con.autocommit is True
    other = con.duplicate()
    con.execute("insert into t values (1, 'x')")
    assert rows(other) == [(1, "x")]
    con.execute("begin")
    con.execute("insert into t values (2, 'y')")
    assert rows(other) == [(1, "x")]
    with pytest.raises(frazil.ProgrammingError):
        con.autocommit = False
    con.commit()
    assert rows(other) == [(1, "x"), (2, "y")]
    con.autocommit = False
    con.execute("begin")
    con.execute("delete from t")
    con.execute("rollback")
    assert not con.in_transaction
    assert len(rows(con)) == 2 and con.in_transaction
    con.commit()
    assert frazil.connect(autocommit=False).autocommit is False


def test_statements_that_stand_outside_of_transactions_begin_none(con, tmp_path):
    con.autocommit = False
    for sql in ["set lock_timeout = '1s'", "show lock_timeout", "checkpoint", f"backup to '{tmp_path}/copy'", f"publish to '{tmp_path}/published'", "-- nothing"]:
        try:
            con.execute(sql)
        except frazil.Error as error:
            assert error.sqlstate != "25001", sql
        assert not con.in_transaction or sql == "-- nothing", sql


def test_a_failed_transaction_has_to_be_rolled_back(con):
    con.autocommit = False
    con.execute("insert into t values (1, 'x')")
    with pytest.raises(frazil.IntegrityError):
        con.execute("insert into t values (1, 'x')")
    with pytest.raises(frazil.Error) as caught:
        con.execute("select 1")
    assert caught.value.sqlstate == "25P02"
    con.rollback()
    assert rows(con) == []


def test_closing_rolls_back(tmp_path):
    con = frazil.connect(tmp_path / "db")
    con.execute("create table t (a integer)")
    other = con.duplicate()
    other.execute("begin")
    other.execute("insert into t values (1)")
    other.close()
    con.execute("insert into t values (2)")
    con.autocommit = False
    con.execute("insert into t values (3)")
    con.close()
    con.close()
    with frazil.connect(tmp_path / "db") as con:
        assert rows(con, "select a from t") == [(2,)]


def test_what_is_closed_cannot_be_used(con):
    cursor = con.execute("select 1")
    closed = con.cursor()
    closed.close()
    closed.close()
    statement = con.prepare("select 1")
    assert closed.closed and not cursor.closed and not con.closed
    uses = [lambda: closed.execute("select 1"), lambda: closed.fetchone(), lambda: closed.setinputsizes([1]),
            lambda: closed.executemany("select ?", [[1]]), lambda: closed.__enter__(), lambda: closed.arrow(),
            lambda: closed.nextset()]
    con.close()
    assert con.closed
    uses += [lambda: con.execute("select 1"), lambda: con.cursor(), lambda: con.commit(), lambda: con.rollback(),
             lambda: con.prepare("select 1"), lambda: con.interrupt(), lambda: con.__enter__(), lambda: con.duplicate(),
             lambda: cursor.execute("select 1"), lambda: cursor.fetchone(), lambda: cursor.fetchall(), lambda: cursor.df(),
             lambda: statement.execute()]
    for use in uses:
        with pytest.raises(frazil.InterfaceError, match="closed"):
            use()


def test_a_with_block_commits_or_rolls_back_and_closes(tmp_path):
    with frazil.connect(tmp_path / "db", autocommit=False) as con:
        con.execute("create table t (a integer)")
        con.execute("insert into t values (1)")
    assert con.closed
    with pytest.raises(ZeroDivisionError):
        with frazil.connect(tmp_path / "db", autocommit=False) as con:
            con.execute("insert into t values (2)")
            raise ZeroDivisionError
    with frazil.connect(tmp_path / "db") as con:
        assert rows(con, "select a from t") == [(1,)]
        with con.cursor() as cursor:
            cursor.execute("select 1")
        assert cursor.closed
        con.close()


def test_cursors_of_a_connection_see_each_others_changes(con):
    con.autocommit = False
    one, two = con.cursor(), con.cursor()
    one.execute("insert into t values (1, 'x')")
    assert two.execute("select a from t").fetchall() == [(1,)]
    assert one.connection is con and two.connection is con
    con.rollback()
    assert two.execute("select a from t").fetchall() == []


# Cursors: attributes.


def test_description_has_seven_items_a_column(con):
    cursor = con.cursor()
    assert cursor.description is None
    cursor.execute("create table d (i integer not null, s smallint, b bigint, f double precision, n decimal(10,2), k decimal(3,3), "
                   "t text, v varchar(7), c char(3), d date, w timestamp, o boolean)")
    assert cursor.description is None
    cursor.execute("select * from d")
    assert cursor.description == [
        ("i", "integer", 11, 4, None, None, False),
        ("s", "smallint", 6, 2, None, None, True),
        ("b", "bigint", 20, 8, None, None, True),
        ("f", "double precision", 24, 8, None, None, True),
        ("n", "decimal(10,2)", 12, 8, 10, 2, True),
        ("k", "decimal(3,3)", 6, 8, 3, 3, True),
        ("t", "text", None, None, None, None, True),
        ("v", "varchar(7)", 7, None, None, None, True),
        ("c", "char(3)", 3, None, None, None, True),
        ("d", "date", 10, 4, None, None, True),
        ("w", "timestamp", 26, 8, None, None, True),
        ("o", "boolean", 5, 1, None, None, True),
    ]
    kinds = [column[1] for column in cursor.description]
    assert [kind == frazil.NUMBER for kind in kinds] == [True] * 6 + [False] * 6
    assert [kind == frazil.STRING for kind in kinds] == [False] * 6 + [True] * 3 + [False] * 3
    assert [kind == frazil.DATETIME for kind in kinds] == [False] * 9 + [True] * 2 + [False]
    assert not any(kind in (frazil.BINARY, frazil.ROWID) for kind in kinds)
    assert frazil.NUMBER != frazil.STRING and frazil.NUMBER == frazil.NUMBER and len({frazil.NUMBER, frazil.NUMBER}) == 1


def test_rowcount(con):
    cursor = con.cursor()
    assert cursor.rowcount == -1
    for sql, count in [
        ("insert into t values (1, 'x'), (2, 'y'), (3, 'z')", 3),
        ("update t set b = 'w' where a > 1", 2),
        ("update t set b = 'w' where a > 9", 0),
        ("select * from t", 3),
        ("delete from t where a = 1 returning a", 1),
        ("create table u (a integer)", -1),
        ("", -1),
    ]:
        assert cursor.execute(sql).rowcount == count, sql
    assert cursor.lastrowid is None


def test_messages(con, tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("1,x\nno,y\n3,z\n")
    cursor = con.cursor()
    assert cursor.messages == []
    cursor.execute(f"copy t from '{file}' (format csv, on_error ignore)")
    [(kind, warning)] = cursor.messages
    assert kind is frazil.Warning and isinstance(warning, frazil.Warning)
    assert str(warning) == "1 row was skipped because it could not be read"
    assert cursor.rowcount == 2
    assert cursor.execute("select 1").messages == []
    con.execute("create table p (a int); create view v as select a from p; create view w as select a from v")
    texts = [str(warning) for _, warning in cursor.execute("drop table if exists nope, p cascade").messages]
    assert texts == [
        'table "nope" does not exist, skipping',
        "drop cascades to 2 other objects\ndrop cascades to view v\ndrop cascades to view w",
    ]


def test_callproc_is_refused(con):
    for params in ([], [[1, 2]]):
        with pytest.raises(frazil.NotSupportedError, match="p"):
            con.cursor().callproc("p", *params)


# Cursors: execution.


def test_execute_gives_its_cursor(con):
    cursor = con.cursor()
    assert cursor.execute("select 1") is cursor
    assert cursor.executemany("insert into t values (?, ?)", [(1, "x")]) is cursor


@pytest.mark.parametrize("style, sql, params", [
    ("qmark", "select ?::integer, '?', ? -- ?\n + ?::integer", (1, 2, 3)),
    ("numeric", "select :1::integer, ':1', :2::integer + :3", (1, 2, 3)),
    ("named", "select :a::integer, ':a', :b::integer + :c", {"a": 1, "b": 2, "c": 3, "d": 4}),
    ("format", "select %s::integer, '%s', %s + %s::integer", (1, 2, 3)),
    ("pyformat", "select %(a)s::integer, '%(a)s', %(b)s + %(c)s::integer", {"a": 1, "b": 2, "c": 3}),
    ("numeric_dollar", "select $1::integer, '$1', $2 + $3::integer", (1, 2, 3)),
])
def test_parameters_in_every_style(con, style, sql, params):
    con.paramstyle = style
    assert con.paramstyle == style
    for _ in range(2):
        first, text, last = con.execute(sql, params).fetchone()
        assert (first, last) == (1, 5) and len(text) in (1, 2, 5)
    assert con.prepare(sql).execute(params).fetchone()[2] == 5
    con.cursor().executemany("insert into t values ($1, $2)", [(1, "x")])
    mark = {"qmark": "?", "numeric": ":1", "named": ":k", "format": "%s", "pyformat": "%(k)s", "numeric_dollar": "$1"}[style]
    sets = [{"k": k} for k in (2, 3)] if isinstance(params, dict) else [[k] for k in (2, 3)]
    assert con.cursor().executemany(f"insert into t values ({mark})", sets).rowcount == 2
    assert [a for a, _ in rows(con)] == [1, 2, 3]
    assert frazil.connect(paramstyle=style).paramstyle == style


def test_a_name_stands_for_one_value_wherever_it_is(con):
    assert con.execute("select :x + :y::integer, :x", {"x": 20, "y": 1}).fetchone() == (21, 20)
    con.paramstyle = "pyformat"
    assert con.execute("select %(x)s + %(y)s::integer, %(x)s, 7 %% 4", {"x": 20, "y": 1}).fetchone() == (21, 20, 3)
    assert con.execute("select %s - %s::integer, 7 %% 4", [20, 1]).fetchone() == (19, 3)
    # Nothing is rewritten where no parameters are given.
    assert con.execute("select 7 % 4").fetchone() == (3,)


def test_wrong_parameters(con):
    for sql, params, kind in [
        ("select ?", (), frazil.ProgrammingError),
        ("select ?", (1, 2), frazil.ProgrammingError),
        ("select ?, $1", (1,), frazil.ProgrammingError),
        ("select :a", {"b": 1}, frazil.ProgrammingError),
        ("select $1", {"a": 1}, frazil.InterfaceError),
        ("select ?", "x", frazil.InterfaceError),
        ("select ?", b"x", frazil.InterfaceError),
        ("select ?", (object(),), frazil.InterfaceError),
        ("select ?", ([object()],), frazil.InterfaceError),
        ("select ?", 7, TypeError),
    ]:
        with pytest.raises(kind):
            con.execute(sql, params)
    con.paramstyle = "format"
    for sql in ["select 7 % 4 + %s", "select %d", "select %(a)s"]:
        with pytest.raises(frazil.ProgrammingError):
            con.execute(sql, (1,))
    with pytest.raises(frazil.ProgrammingError, match="qmark"):
        con.paramstyle = "sql"
    with pytest.raises(frazil.ProgrammingError):
        frazil.connect(paramstyle="sql")


def test_values_of_python_become_values(con):
    uuid = __import__("uuid").UUID(int=7)
    for value, ty, back in [
        (None, "integer", None),
        (True, "boolean", True),
        (2**31, "bigint", 2**31),
        (-(2**63), "bigint", -(2**63)),
        (10**37, "decimal(38,0)", decimal.Decimal(10**37)),
        (1.5, "double precision", 1.5),
        (float("inf"), "double precision", float("inf")),
        ("ß\U0001f600", "text", "ß\U0001f600"),
        (decimal.Decimal("1.10"), "decimal(5,2)", decimal.Decimal("1.10")),
        (datetime.date(1, 1, 1), "date", datetime.date(1, 1, 1)),
        (datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), "timestamp", datetime.datetime.max),
        (datetime.timedelta(days=1, hours=2, microseconds=3), "interval", "1 day 02:00:00.000003"),
        (datetime.timedelta(microseconds=-1), "interval", "-1 days +23:59:59.999999"),
        (datetime.time(1, 2, 3), "text", "01:02:03"),
        (uuid, "text", str(uuid)),
        (uuid, "uuid", uuid),
        (datetime.time(23, 59, 59, 999999), "time", datetime.time(23, 59, 59, 999999)),
        (0.5, "real", 0.5),
        (b"\x00\xff", "bytea", b"\x00\xff"),
        (bytearray(b"\x00a long one, longer than twelve bytes"), "bytea", b"\x00a long one, longer than twelve bytes"),
        (memoryview(b"abc")[1:], "bytea", b"bc"),
        (b"", "bytea", b""),
    ]:
        given = con.execute(f"select cast(? as {ty})", (value,)).fetchone()[0]
        assert given == back and type(given) is type(back), value
    with pytest.raises(frazil.DataError, match="24:00"):
        con.execute("select time '24:00'").fetchone()
    assert con.execute("select ?::double precision", (float("nan"),)).fetchone()[0] != 0
    with pytest.raises(frazil.DataError):
        con.execute("select ?::bigint", (10**50,))
    for wrong in (1.5, decimal.Decimal("1.5")):
        with pytest.raises(frazil.DataError, match="invalid input syntax for type integer"):
            con.execute("select 1 where 2 = ?", (wrong,))
    assert con.execute("select 1 where 2 = ?", (2.0,)).fetchone() == (1,)
    assert con.execute("select 1 where 2 = ?::float8", (1.5,)).fetchone() is None
    with pytest.raises(frazil.DataError):
        con.execute("select ?::text", ("a\0b",))


def test_executemany_is_all_or_nothing(con):
    cursor = con.cursor()
    with pytest.raises(frazil.IntegrityError):
        cursor.executemany("insert into t values (?, ?)", [(k, "x") for k in (1, 2, 3, 2)])
    assert rows(con) == [] and not con.in_transaction
    assert cursor.rowcount == -1

    def broken():
        yield (1, "x")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cursor.executemany("insert into t values (?, ?)", broken())
    with pytest.raises(TypeError):
        cursor.executemany("insert into t values (?, ?)", [(1, "x"), 7])
    assert rows(con) == [] and not con.in_transaction
    cursor.executemany("insert into t values (?, ?)", ((k, "x") for k in range(1000)))
    assert cursor.rowcount == 1000
    cursor.executemany("update t set b = ? where a < ?", [("y", 10), ("z", 5)])
    assert cursor.rowcount == 15
    assert cursor.executemany("delete from t where a = ?", []).rowcount == 0
    assert rows(con, "select count(*), max(b) from t") == [(1000, "z")]


def test_executemany_in_a_transaction(con):
    con.autocommit = False
    con.executemany("insert into t values (?, ?)", [(1, "x"), (2, "y")])
    assert con.in_transaction
    con.rollback()
    assert rows(con) == []
    con.rollback()
    con.execute("begin")
    con.execute("insert into t values (7, 'x')")
    with pytest.raises(frazil.IntegrityError):
        con.executemany("insert into t values (?, ?)", [(8, "x"), (7, "y")])
    with pytest.raises(frazil.Error, match="25P02"):
        con.execute("select 1")
    con.rollback()


# Cursors: fetching.


def test_fetching(con):
    con.executemany("insert into t values (?, ?)", [(k, None) for k in range(10)])
    cursor = con.execute("select a from t order by a")
    assert cursor.rownumber == 0
    assert cursor.fetchone() == (0,)
    assert cursor.fetchmany(3) == [(1,), (2,), (3,)]
    assert cursor.arraysize == 1
    assert cursor.fetchmany() == [(4,)]
    cursor.arraysize = 2
    assert cursor.fetchmany() == [(5,), (6,)]
    assert cursor.fetchmany(size=0) == []
    assert cursor.rownumber == 7
    assert [row for row in cursor] == [(7,), (8,), (9,)]
    assert cursor.fetchone() is None and cursor.fetchmany(5) == [] and cursor.fetchall() == []
    assert next(cursor, None) is None and iter(cursor) is cursor
    with pytest.raises(OverflowError):
        cursor.fetchmany(-1)
    with pytest.raises(OverflowError):
        cursor.arraysize = -1


def test_fetching_many_rows_crosses_batches(con):
    con.executemany("insert into t values (?, ?)", ((k, str(k)) for k in range(70_000)))
    cursor = con.execute("select a, b from t order by a")
    seen = [cursor.fetchone()]
    while part := cursor.fetchmany(997):
        seen += part
    assert seen == [(k, str(k)) for k in range(70_000)]


def test_there_is_nothing_to_fetch(con):
    cursor = con.cursor()
    for prepare in [lambda: None, lambda: cursor.execute("insert into t values (1, 'x')"),
                    lambda: cursor.executemany("select ?", [[1]])]:
        prepare()
        for fetch in [cursor.fetchone, cursor.fetchmany, cursor.fetchall, cursor.arrow, cursor.df, cursor.fetchnumpy]:
            with pytest.raises(frazil.Error):
                fetch()
        assert cursor.description is None and cursor.rownumber is None
        assert cursor._repr_html_() is None
    # A statement that fails leaves no result of the one before.
    cursor.execute("select 1")
    with pytest.raises(frazil.Error):
        cursor.execute("select absent")
    with pytest.raises(frazil.Error):
        cursor.fetchone()


def test_nextset_goes_through_the_results_of_a_text(con):
    cursor = con.execute("insert into t values (1, 'x'); select a from t; delete from t returning b; select 7, 8; drop table t")
    assert cursor.fetchall() == [(1,)]
    assert cursor.nextset() is True and cursor.fetchall() == [("x",)]
    assert cursor.nextset() is True and cursor.fetchone() == (7, 8)
    assert cursor.nextset() is None
    assert cursor.description is not None
    assert con.execute("select 1").nextset() is None


def test_sizes_are_taken_and_ignored(con):
    cursor = con.cursor()
    assert cursor.setinputsizes([frazil.NUMBER, 20, None]) is None
    assert cursor.setoutputsize(100) is None and cursor.setoutputsize(100, 1) is None
    with pytest.raises(TypeError):
        cursor.setinputsizes(7)


# Types and constructors.


def test_constructors(con):
    ticks = time.mktime((2020, 1, 2, 3, 4, 5, 0, 0, -1))
    assert frazil.Date(2020, 1, 2) == frazil.DateFromTicks(ticks) == datetime.date(2020, 1, 2)
    assert frazil.Time(3, 4, 5) == frazil.TimeFromTicks(ticks) == datetime.time(3, 4, 5)
    assert frazil.Timestamp(2020, 1, 2, 3, 4, 5) == frazil.TimestampFromTicks(ticks) == datetime.datetime(2020, 1, 2, 3, 4, 5)
    assert frazil.Binary(b"x") == b"x"
    row = con.execute("select ?::date, ?::timestamp", (frazil.Date(2020, 1, 2), frazil.Timestamp(2020, 1, 2, 3, 4, 5))).fetchone()
    assert row == (datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5))


def test_null_is_none(con):
    con.execute("insert into t values (?, ?)", (1, None))
    assert rows(con) == [(1, None)]


# Threads.


def together(count, work):
    failures = []

    def run(number):
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert not any(thread.is_alive() for thread in threads)
    assert failures == []


def test_threads_share_a_connection(con):
    def work(number):
        for k in range(50):
            con.execute("insert into t values (?, ?)", (number * 1000 + k, "x"))
            assert con.execute("select count(*) from t where a = ?", (number * 1000 + k,)).fetchall() == [(1,)]
            gc.collect(0)

    together(4, work)
    assert rows(con, "select count(*) from t") == [(200,)]


def test_threads_share_a_cursor(con):
    con.executemany("insert into t values (?, ?)", ((k, "x") for k in range(20_000)))
    cursor = con.execute("select a from t")
    seen = []

    def work(_):
        while (row := cursor.fetchone()) is not None:
            seen.append(row[0])

    together(4, work)
    # Every row once.
    assert sorted(seen) == list(range(20_000))

    def rerun(_):
        for _ in range(50):
            cursor.execute("select a from t where a < 3")
            assert len(cursor.fetchall()) <= 3

    together(4, rerun)


def test_the_interpreter_runs_beside_a_statement(con):
    con.executemany("insert into t values (?, ?)", ((k, "x") for k in range(5000)))
    ended = threading.Event()

    def query():
        try:
            con.execute("select count(*) from t x, t y, t z where x.a + y.a + z.a = 7")
        except frazil.OperationalError as error:
            assert error.sqlstate == "57014"
            ended.set()

    thread = threading.Thread(target=query)
    thread.start()
    begun = time.monotonic()
    steps = 0
    while not ended.is_set() and time.monotonic() - begun < 60:
        steps += 1
        time.sleep(0.01)
        if steps > 10:
            con.interrupt()
    thread.join(60)
    assert ended.is_set()
