"""Values on their way through Python's objects, frames and files, under sessions of several zones."""

import datetime
import decimal

import pytest

ZONES = ["UTC", "Asia/Kathmandu", "America/New_York"]
INSTANTS = ["1970-01-01 00:00:00+00", "2021-01-05 10:11:12.123456+00", "2021-07-05 23:30:00+00", "2021-11-07 05:30:00+00", "2021-11-07 06:30:00+00"]


def connected(con, zone):
    con.execute(f"set timezone = '{zone}'")
    con.execute("drop table if exists instants")
    con.execute("create table instants (n integer not null, at timestamptz)")
    rows = ", ".join(f"({n}, '{at}')" for n, at in enumerate(INSTANTS))
    con.execute(f"insert into instants values {rows}, ({len(INSTANTS)}, null)")
    return con


def same(con, name="frame", frame=None):
    """Number of rows of a frame or file whose instant is that of the table."""
    sql = f"select count(*) from {name} f join instants i on f.n = i.n and f.at is not distinct from i.at"
    return con.execute(sql).fetchone()[0]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("other", ZONES)
def test_instants_keep_their_place_in_frames(con, zone, other):
    connected(con, zone)
    pandas_frame = con.execute("select * from instants order by n").df()
    assert str(pandas_frame["at"].dtype) == "datetime64[us, UTC]"
    polars_frame = con.execute("select * from instants order by n").pl()
    con.execute(f"set timezone = '{other}'")
    assert same(con, frame=pandas_frame) == len(INSTANTS) + 1
    assert same(con, frame=polars_frame) == len(INSTANTS) + 1


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_instants_keep_their_place_in_files(con, tmp_path, zone, kind):
    connected(con, zone)
    path = tmp_path / f"instants.{kind}"
    options = "(header true)" if kind == "csv" else ""
    con.execute(f"copy (select * from instants order by n) to '{path}' {options}")
    con.execute("set timezone = 'Australia/Lord_Howe'")
    assert same(con, f"'{path}'") == len(INSTANTS) + 1


@pytest.mark.parametrize("zone", ZONES)
def test_instants_keep_their_place_as_objects(con, zone):
    connected(con, zone)
    for n, at in con.execute("select * from instants").fetchall():
        found = con.execute("select n from instants where at is not distinct from ?", (at,)).fetchone()
        assert found == (n,), at


@pytest.mark.parametrize(
    ("sql", "values", "answer"),
    [
        ("select greatest(?, ?)", (9, 10), 10),
        ("select least(?, ?)", (9, 10), 9),
        ("select coalesce(?, ?)", (None, 10), 10),
        ("select nullif(?, ?)", (9, 10), 9),
        ("select case when true then ? else ? end", (9, 10), 9),
        ("select max(x) from (values (?), (?)) v(x)", (9, 10), 10),
        ("select x from (values (?), (?)) v(x) order by x limit 1", (9, 10), 9),
        ("select jsonb_build_object('a', ?)::text", (1,), '{"a": 1}'),
        ("select jsonb_build_array(?, ?, ?)::text", (1, True, "x"), '[1, true, "x"]'),
        ("select to_jsonb(?)::text", (1.5,), "1.5"),
        ("select array[?, ?]", (9, 10), [9, 10]),
        ("select greatest(?, ?)", (9.5, 10.25), 10.25),
        ("select greatest(?, ?)", (2**40, 9), 2**40),
        ("select greatest(?, ?)", ("9", "10"), "9"),
        ("select ? || ?", (9, 10), "910"),
        ("select upper(?)", ("x",), "X"),
        ("select length(?)", (1234,), 4),
        ("select 'a' = ?", ("a",), True),
    ],
)
def test_parameters_have_the_types_of_their_values(con, sql, values, answer):
    # Twice, and between texts: what was compiled for one kind of values does not serve another.
    assert con.execute(sql, values).fetchone()[0] == answer
    texts = tuple(None if value is None else str(value) for value in values)
    try:
        con.execute(sql, texts).fetchone()
    except Exception:  # noqa: BLE001 - a text need not do
        pass
    assert con.execute(sql, values).fetchone()[0] == answer


def test_dates_and_decimals_come_back(con):
    con.execute("create table t (d date, m numeric(12, 2), s timestamp)")
    row = (datetime.date(2021, 1, 5), decimal.Decimal("12.50"), datetime.datetime(2021, 1, 5, 10, 11, 12, 5))
    con.execute("insert into t values (?, ?, ?)", row)
    assert con.execute("select * from t").fetchone() == row
    assert con.execute("select count(*) from t where d = ? and m = ? and s = ?", row).fetchone() == (1,)
