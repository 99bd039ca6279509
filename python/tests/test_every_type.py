"""Values at the edges of every type, and NULL, through objects, frames and files, under sessions of three zones: each
value comes back as it was. Values that a way cannot carry are listed below, and in docs/python.md."""

import frazil
import pytest

ZONES = ["UTC", "Asia/Kathmandu", "America/New_York"]
VALUES = {
    "boolean": ["true", "false"],
    "smallint": ["-32768", "32767", "0"],
    "integer": ["-2147483648", "2147483647"],
    "bigint": ["-9223372036854775808", "9223372036854775807"],
    "real": ["1.5", "3.4028235e38", "-1e-45", "Infinity", "NaN", "-0"],
    "double precision": ["0.1", "1.7976931348623157e308", "5e-324", "-Infinity", "NaN", "-0"],
    "decimal(10,2)": ["99999999.99", "-0.01", "0"],
    "decimal(38,0)": ["9" * 38, "-" + "9" * 38],
    "decimal(38,38)": ["0." + "9" * 38],
    "text": ["", "a b", "größe", 'it\'s "q",\\N', "NULL", "\t\n", " pad "],
    "varchar(5)": ["abcde", ""],
    "char(4)": ["ab", "abcd", ""],
    "date": ["0001-01-01", "9999-12-31", "1970-01-01", "2000-02-29", "0044-03-15 BC", "infinity", "-infinity", "5874897-12-31"],
    "time": ["00:00:00", "23:59:59.999999", "24:00:00"],
    "timestamp": ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2021-03-28 02:30:00", "0044-03-15 12:00:00 BC",
                  "1969-12-31 23:59:59.999999", "infinity", "-infinity"],
    "timestamptz": ["0001-01-02 00:00:00+00", "9999-12-30 23:59:59.999999+00", "2021-11-07 05:30:00+00", "2021-11-07 06:30:00+00",
                    "0044-03-15 12:00:00+00 BC", "infinity", "-infinity"],
    "interval": ["1 year 2 mons 3 days 04:05:06.789", "-1 days +00:00:01", "0", "1000000 hours", "178956970 years 7 mons"],
    "uuid": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000"],
    "bytea": ["", "\\x00ff", "\\x6162"],
    "jsonb": ['{"a": [1, null, "x"]}', "null", '"text"', "1.50", "[]", "true"],
    "json": ['{"a":1, "a":2}', "null", '"t"', '{"b" : 1.50}'],
    "integer[]": ["{1,NULL,3}", "{}", "{-2147483648}"],
    "text[]": ['{a,"b c",NULL,""}', "{}"],
    "timestamptz[]": ['{"2021-11-07 05:30:00+00"}'],
    "date[]": ["{2020-01-01,NULL}"],
    "decimal(10,2)[]": ["{1.50,NULL}"],
    "mood": ["sad", "ok"],
}

# Values that a way cannot carry, and what becomes of them: an SQLSTATE, or None for NULL.
BEYOND = {
    ("objects", "date"): dict.fromkeys(["0044-03-15 BC", "infinity", "-infinity", "5874897-12-31"], "22008"),
    ("objects", "time"): {"24:00:00": "22008"},
    ("objects", "timestamp"): dict.fromkeys(["0044-03-15 12:00:00 BC", "infinity", "-infinity"], "22008"),
    ("objects", "timestamptz"): dict.fromkeys(["0044-03-15 12:00:00+00 BC", "infinity", "-infinity"], "22008"),
    ("pandas", "real"): {"NaN": None},
    ("pandas", "double precision"): {"NaN": None},
    ("pandas", "date"): dict.fromkeys(["infinity", "-infinity", "5874897-12-31"], "22003"),
    ("pandas", "time"): {"24:00:00": "22008"},
    ("pandas", "timestamp"): {"-infinity": None},
    ("pandas", "timestamptz"): {"-infinity": None},
    ("Polars", "time"): {"24:00:00": None},
    ("Parquet", "interval"): dict.fromkeys(["-1 days +00:00:01", "1000000 hours"], "22008"),
    ("JSON", "jsonb"): {"null": None},
    ("JSON", "json"): {"null": None},
}
# Types whose values come as something else that SQL does not cast back, or as what json.loads makes of them.
OTHERS = {("Polars", "uuid"), ("objects", "json"), ("objects", "jsonb"), ("pandas", "json"), ("pandas", "jsonb")}


@pytest.fixture(params=ZONES)
def con(con, request):
    con.execute(f"set timezone = '{request.param}'")
    con.execute("create type mood as enum ('sad', 'ok')")
    return con


def source(con, kind, values):
    con.execute(f"drop table if exists source; create table source (n integer, v {kind})")
    for n, value in enumerate([*values, None]):
        con.execute(f"insert into source values (?, ?::text::{kind})", (n, value))
    return dict(con.execute("select n, v::text from source").fetchall())


def by_objects(con, kind, _):
    rows = con.execute("select n, v from source").fetchall()
    return {n: con.execute(f"select (?::{kind})::text", (value,)).fetchone()[0] for n, value in rows}


def by_frame(made):
    def way(con, kind, _):
        con.register("frame", made(con.execute("select * from source")))
        return dict(con.execute(f"select n, v::{kind}::text from frame").fetchall())
    return way


def by_file(ending, options):
    def way(con, kind, folder):
        path = folder / f"rows.{ending}"
        con.execute(f"copy source to '{path}' {options}")
        con.execute(f"drop table if exists back; create table back (n integer, v {kind})")
        con.execute(f"copy back from '{path}' {options}")
        return dict(con.execute("select n, v::text from back").fetchall())
    return way


WAYS = {
    "objects": by_objects,
    "pandas": by_frame(lambda cursor: cursor.df(decimals="decimal")),
    "Polars": by_frame(lambda cursor: cursor.pl()),
    "Arrow": by_frame(lambda cursor: cursor.arrow()),
    "Parquet": by_file("parquet", ""),
    "CSV": by_file("csv", "(header true)"),
    "JSON": by_file("json", ""),
    "text": by_file("txt", "(format text)"),
}


CASES = [(way, kind) for way in WAYS for kind in VALUES if (way, kind) not in OTHERS]


@pytest.mark.parametrize("way, kind", CASES)
def test_values_come_back_as_they_were(con, tmp_path, way, kind):
    beyond = BEYOND.get((way, kind), {})
    texts = source(con, kind, [value for value in VALUES[kind] if value not in beyond])
    if not beyond or len(beyond) < len(VALUES[kind]):
        assert WAYS[way](con, kind, tmp_path) == texts
    for value, state in beyond.items():
        texts = source(con, kind, [value])
        if state is None:
            assert WAYS[way](con, kind, tmp_path) == {n: None for n in texts}, value
            continue
        with pytest.raises(frazil.Error) as caught:
            WAYS[way](con, kind, tmp_path)
        assert caught.value.sqlstate == state, value


@pytest.mark.parametrize("kind", ["json", "jsonb"])
def test_json_comes_as_json_loads_makes_it(con, kind):
    source(con, kind, ['{"a": [1, null, "x"]}', "[]", '{"b": 1.5}'])
    expected = [{"a": [1, None, "x"]}, [], {"b": 1.5}, None]
    assert [v for _, v in con.execute("select * from source order by n").fetchall()] == expected
    assert con.execute("select v from source where n = 2").df()["v"].tolist() == [{"b": 1.5}]


def test_uuids_come_to_polars_as_bytes(con):
    source(con, "uuid", VALUES["uuid"])
    con.register("frame", con.execute("select * from source").pl())
    same = "encode(f.v, 'hex') is not distinct from replace(s.v::text, '-', '')"
    assert con.execute(f"select count(*) from frame f join source s on f.n = s.n and {same}").fetchone() == (3,)
