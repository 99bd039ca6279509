"""Files that Frazil wrote: every type comes back equal, and DuckDB, pandas, pyarrow and Polars read the same values."""

import csv
import datetime
import decimal
import gzip
import json
import math
import uuid

import duckdb
import frazil
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
import pytest

#: Texts that files have trouble with: marks of CSV, of JSON and of COPY, line ends, and what looks like another type.
HARD_TEXTS = [
    "", "NULL", "null", "\\N", "\\.", ",", '"', '""', "'", "a\nb", "a\r\nb", "\r", " ", "  x  ", "\\", "\t", "#x", "ß\U0001f600", 'a,"b"\n',
    "true", "1", "007", "2024-01-01", "NaN", "x" * 100_000, "\x01", "\ufeff", "\u2028", "{}", "[1]", '{"a": "b"}', "-", "a;b|c"]

#: Type and texts of values: among them the least, the greatest, and what only this type has.
TYPES = {
    "boolean": ["true", "false"],
    "smallint": ["-32768", "32767", "0"],
    "integer": ["-2147483648", "2147483647", "0"],
    "bigint": ["-9223372036854775808", "9223372036854775807", "0"],
    "real": ["3.4028235e38", "-1e-45", "1.1754944e-38", "-0", "0.1", "16777217", "NaN", "Infinity", "-Infinity"],
    "double precision": ["1.7976931348623157e308", "-5e-324", "2.2250738585072014e-308", "-0", "0.1", "9007199254740993", "NaN", "Infinity",
                         "-Infinity"],
    "decimal(4,4)": ["0.0001", "-0.9999", "0"],
    "decimal(18,2)": ["9999999999999999.99", "-9999999999999999.99", "-0.01", "0"],
    "decimal(38,3)": ["99999999999999999999999999999999999.999", "-99999999999999999999999999999999999.999", "0.001"],
    "decimal(38,0)": ["99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "1"],
    "date": ["0001-01-01", "9999-12-31", "1969-12-31", "2024-02-29", "1582-10-10", "0044-03-15 BC", "5874897-12-31", "infinity", "-infinity"],
    "time": ["00:00", "23:59:59.999999", "12:34:56.5", "24:00"],
    "timestamp": ["0001-01-01", "9999-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999", "2024-02-29 12:00:00.5", "0044-03-15 01:02:03 BC",
                  "294246-12-31 23:59:59.999999", "infinity", "-infinity"],
    "timestamptz": ["0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00", "2024-02-29 12:00:00.5+05:45", "2024-03-31 02:30 Europe/Oslo",
                    "294246-12-31 23:59:59.999999+00", "infinity", "-infinity"],
    "interval": ["1 month", "-1 month", "1 month 2 days 03:04:05.678901", "-178000000 years", "2147483647 days", "0", "1 day -00:00:00.000001"],
    "text": HARD_TEXTS,
    "varchar(9)": ["", "twelve", "ß\U0001f600", " a "],
    "char(1)": ["x", "\U0001f600", ""],
    "char(5)": ["", "ab", "ß", " x"],
    "uuid": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    "integer[]": ["{}", "{1,NULL,-2147483648}", "{{1,2},{3,4}}", "[0:1]={5,6}"],
    "text[]": ["{}", '{"a,b","","null",NULL,"{x}","q\\"\\\\","a b"}', "{ß😀}"],
    "decimal(38,3)[]": ["{99999999999999999999999999999999999.999,-0.001}"],
    "timestamptz[]": ['{"2024-02-29 12:00:00.5+05:45",infinity}'],
    "double precision[]": ["{NaN,Infinity,-0,0.1}"],
    "boolean[]": ["{t,f,NULL}"],
    "date[]": ["{0001-01-01,9999-12-31}"],
    # As it was written, blanks and line ends, and keys that come twice.
    "json": ['{"b" : 1.50, "a":[null, {"x": "\\u00e4\\ud83d\\ude00"}], "b": 2}', "[]", " [ 1,\n\t2 ] ", "-0.0",
             "1e0005", '""', '"a\\"b\\\\c,\\u0001"', "[[[]],{}]", "9" * 300, "false"],
    "jsonb": ['{"b": 1.50, "a": [null, {"x": "ä\U0001f600"}], "b": 2}', "{}", "[1, [2, [3, []]], {}]", "-1.00",
              "12345678901234567890.123456789", '""', '"a\\"b\\\\c,\\u0001\\n"',
              "true", '{"": null, "k": {"k": {"k": []}}}', "9" * 300, '"' + "x" * 100_000 + '"'],
    "bytea": ["\\x", "\\x00", "\\xff00fe", "\\x5c5c", "\\x22", "\\x41424344454647484950515253"],
}

#: The end of a file's name, and what COPY has to be told.
FORMS = {
    "csv": "(header true)",
    "csv.gz": "(header true)",
    "csv.zst": "(delimiter ';', quote '''', null 'nil')",
    "json": "(array true)",
    "jsonl": "",
    "jsonl.gz": "",
    "parquet": "",
    "zstd.parquet": "(compression zstd, row_group_size 2)",
    "plain.parquet": "(compression none)",
}


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def options(form, is_out):
    """The options of a form, without those that COPY has in one direction only."""
    said = FORMS[form]
    return said if is_out or "header" in said or "null" in said else ""


def filled(con, name, values, nulls):
    """A table of one column, its values and NULL, in order by k."""
    con.execute(f"create table {name} (k integer, v {values[0]})")
    texts = [literal(text) for text in values[1]] + ["null"] * nulls
    if texts:
        con.execute(f"insert into {name} values " + ", ".join(f"({k}, {text})" for k, text in enumerate(texts)))


def texts_of(con, table):
    return con.execute(f"select k, v::text from {table} order by k").fetchall()


# Round trips.


#: Only instants have to do with the session's zone.
KINDS_AND_ZONES = [(kind, "UTC") for kind in TYPES] + [("timestamptz", "Asia/Kathmandu")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind, zone", KINDS_AND_ZONES)
def test_what_is_written_comes_back_equal(con, tmp_path, kind, zone, form):
    con.execute(f"set time zone '{zone}'")
    path = literal(str(tmp_path / f"f.{form}"))
    for at, (values, nulls) in enumerate([(TYPES[kind], 0), (TYPES[kind], 2), ([], 3), ([], 0)]):
        filled(con, f"t{at}", (kind, values), nulls)
        con.execute(f"create table u{at} (k integer, v {kind})")
        # Parquet has no negative intervals and no microseconds of them, and no arrays of several dimensions or with bounds.
        lacks = kind in ("interval", "integer[]") and values
        if lacks and "parquet" in form:
            with pytest.raises(frazil.Error, match="cast it to text"):
                con.execute(f"copy t{at} to {path} {options(form, True)}")
            if kind == "integer[]":
                for shape in ["several dimensions", "begin with 0"]:
                    with pytest.raises(frazil.NotSupportedError, match=shape):
                        array = "[0:1]={5,6}" if "0" in shape else "{{1},{2}}"
                        con.execute(f"copy (select '{array}'::integer[] as v) to {path} {options(form, True)}")
            con.execute(f"copy (select k, v::text as v from t{at}) to {path} {options(form, True)}")
            con.execute(f"insert into u{at} select k, v::{kind} from {path}")
        else:
            con.execute(f"copy t{at} to {path} {options(form, True)}")
            con.execute(f"copy u{at} from {path} {options(form, False)}")
        # In a file of JSON a document has no blanks around it, and no line ends.
        in_json = kind == "json" and "json" in form
        wanted = [(k, v.strip().replace("\n", " ") if in_json and v else v) for k, v in texts_of(con, f"t{at}")]
        assert texts_of(con, f"u{at}") == wanted
        # Equal also where the texts of two values are; json has no equality.
        value = "v::jsonb" if in_json else "v::text" if kind == "json" else "v"
        alike = f"select count(*) from t{at} t join u{at} u on t.k = u.k and t.{value} is not distinct from u.{value}"
        assert con.execute(alike).fetchone() == (len(values) + nulls,)


@pytest.mark.parametrize("kind", TYPES)
def test_parquet_says_its_types(con, tmp_path, kind):
    """A file of Parquet that is read without a table has the types and values of its own table; char, varchar and json are text."""
    # A blank char(1) is a blank, as a text the empty one; lists have one dimension.
    texts = [text for text in TYPES[kind] if (kind, text) != ("char(1)", "") and not text.startswith(("{{", "[0"))]
    # Intervals count milliseconds and are not negative.
    texts = [text for text in texts if kind != "interval" or not ("-" in text or "." in text)]
    filled(con, "t", (kind, texts), 1)
    path = literal(str(tmp_path / "t.parquet"))
    con.execute(f"copy t to {path}")
    read = con.execute(f"select * from {path}")
    wanted = "text" if "char" in kind or "json" in kind else "timestamp with time zone" if kind == "timestamptz" else kind
    found = read.description[1][1]
    assert found in (wanted, kind)
    con.execute(f"create table u as select * from {path}")
    assert texts_of(con, "u") == texts_of(con, "t")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_many_rows_come_back_equal(con, tmp_path, form):
    """Several row groups, and pieces of CSV that several threads read."""
    con.execute("create table t (k integer, b bigint, f double precision, n decimal(18,2), d date, at timestamp, s text, o boolean)")
    con.execute("insert into t select i, nullif(i::bigint * 7919 % 100003, 5), sqrt(i), (i % 1000)::decimal / 7, date '2000-01-01' + i % 9000, "
                "timestamp '2000-01-01' + i * interval '17 s', case when i % 11 = 0 then null else repeat('ab\"', i % 9) || i end, i % 3 = 0 "
                "from generate_series(1, 300000) s(i)")
    con.execute("create table u as select * from t where false")
    path = literal(str(tmp_path / f"t.{form}"))
    con.execute(f"copy t to {path} {options(form, True)}")
    con.execute(f"copy u from {path} {options(form, False)}")
    assert con.execute("select count(*) from u").fetchone() == (300_000,)
    assert con.execute("select count(*) from (select * from t except all select * from u) x").fetchone() == (0,)


def test_names_of_columns_come_back(con, tmp_path):
    names = ['"A b"', '"a,b"', '"a""b"', '"größe"', '"select"', '"line\nend"', '"1"', '"Mixed"']
    con.execute("create table t (" + ", ".join(f"{name} integer" for name in names) + ")")
    con.execute("insert into t values (" + ", ".join(str(at) for at in range(len(names))) + ")")
    con.execute("create table u as select * from t where false")
    for form in ["csv", "json", "parquet"]:
        path = literal(str(tmp_path / f"t.{form}"))
        con.execute(f"copy t to {path} {options(form, True)}")
        con.execute(f"copy u from {path} {options(form, False)}")
        read = f"read_csv({path}, header => true)" if form == "csv" else path
        assert con.execute(f"select * from {read}").fetchall() == [tuple(range(len(names)))]
    assert con.execute("select * from u").fetchall() == [tuple(range(len(names)))] * 3
    assert duckdb.sql(f"from '{tmp_path}/t.parquet'").columns == [column[0] for column in con.execute("select * from t").description]


# Others read what Frazil wrote.

#: Of each type values that Python has, as it has them.
SHARED = {
    "o boolean": [True, False],
    "s smallint": [-(2**15), 2**15 - 1],
    "i integer": [-(2**31), 2**31 - 1],
    "b bigint": [-(2**63), 2**63 - 1],
    "r real": [0.5, -3.4028234663852886e38],
    "f double precision": [1.7976931348623157e308, -5e-324],
    "n decimal(18,2)": [decimal.Decimal("9999999999999999.99"), decimal.Decimal("-0.01")],
    "w decimal(38,3)": [decimal.Decimal("12345678901234567890123456789012345.678"), decimal.Decimal("-0.001")],
    "d date": [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)],
    "ti time": [datetime.time(0, 0), datetime.time(23, 59, 59, 999999)],
    "z timestamp": [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)],
    "tz timestamptz": [datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc),
                       datetime.datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=datetime.timezone.utc)],
    "t text": ["", 'a,"b"\n\\ß\U0001f600'],
    "v varchar(9)": ["twelve", "null"],
    "c char(1)": ["x", "\U0001f600"],
    "u uuid": [uuid.UUID(int=0), uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")],
    "x bytea": [b"", b"\xff\x00\xfe"],
}
NAMES = [column.split()[0] for column in SHARED]
ROWS = [*zip(*SHARED.values()), (None,) * len(SHARED)]


@pytest.fixture
def shared(con):
    con.execute("set time zone 'UTC'")
    con.execute("create table shared (k integer, " + ", ".join(SHARED) + ")")
    marks = ", ".join("?" * (len(SHARED) + 1))
    con.executemany(f"insert into shared values ({marks})", [(k, *row) for k, row in enumerate(ROWS)])
    assert con.execute(f"select {', '.join(NAMES)} from shared order by k").fetchall() == ROWS
    return con


def written(con, path, said=""):
    con.execute(f"copy (select {', '.join(NAMES)} from shared order by k) to {literal(str(path))} {said}")
    return str(path)


@pytest.fixture
def duck():
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    yield connection
    connection.close()


def plain(value):
    """A value as a row has it, whatever the library's own object for it is."""
    if value is None or value is pandas.NA or value is pandas.NaT or isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, pandas.Timestamp):
        value = value.to_pydatetime()
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.timezone.utc)
    return value.item() if hasattr(value, "item") else value


def same(rows, wanted=ROWS):
    rows = [tuple(plain(value) for value in row) for row in rows]
    assert len(rows) == len(wanted)
    for row, expected in zip(rows, wanted):
        for name, value, other in zip(NAMES, row, expected):
            assert (value, type(value)) == (other, type(other)), name


@pytest.mark.parametrize("said", ["", "(compression zstd)", "(compression lz4)", "(compression none)", "(row_group_size 1)"])
def test_others_read_parquet(shared, duck, tmp_path, said):
    path = written(shared, tmp_path / "t.parquet", said)
    same(duck.execute(f"from '{path}'").fetchall())
    types = [row[1] for row in duck.execute(f"describe from '{path}'").fetchall()]
    assert types == ["BOOLEAN", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(18,2)", "DECIMAL(38,3)", "DATE", "TIME", "TIMESTAMP",
                     "TIMESTAMP WITH TIME ZONE", "VARCHAR", "VARCHAR", "VARCHAR", "UUID", "BLOB"]
    table = pyarrow.parquet.read_table(path)
    same(zip(*(column.to_pylist() for column in table.columns)))
    assert [str(kind) for kind in table.schema.types][-2:] == ["extension<arrow.uuid>", "binary"]
    # pandas and Polars have no uuid.
    as_bytes = [tuple(value.bytes if isinstance(value, uuid.UUID) else value for value in row) for row in ROWS]
    frame = pandas.read_parquet(path, dtype_backend="pyarrow")
    same(frame.itertuples(index=False, name=None), as_bytes if isinstance(frame["u"][0], bytes) else ROWS)
    same(polars.read_parquet(path).rows(), as_bytes)


def test_others_read_csv(shared, duck, tmp_path):
    """Each is told the types, because CSV has none: texts are as COPY of PostgreSQL writes them, and NULL is not the empty text."""
    path = written(shared, tmp_path / "t.csv", "(header true)")
    types = {column.split()[0]: column.split(" ", 1)[1] for column in SHARED} | {"x": "varchar", "tz": "timestamptz"}
    told = ", ".join(f"'{name}': '{kind}'" for name, kind in types.items())
    rows = duck.execute(f"from read_csv('{path}', columns = {{{told}}}, header = true, allow_quoted_nulls = false)").fetchall()
    same([row[:-1] + (of_hex(row[-1]),) for row in rows])
    # Texts, quoted or not: what stands in the file for each value.
    texts = [tuple(None if value is None else text_of(value) for value in row) for row in ROWS]
    frame = pandas.read_csv(path, dtype=str, keep_default_na=False, na_values=[], quoting=csv.QUOTE_MINIMAL)
    assert [tuple(row) for row in frame.itertuples(index=False)] == [tuple(value or "" for value in row) for row in texts]
    options = pyarrow.csv.ConvertOptions(column_types={name: pyarrow.string() for name in NAMES}, strings_can_be_null=True,
                                         quoted_strings_can_be_null=False, null_values=[""])
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    table = pyarrow.csv.read_csv(path, convert_options=options, parse_options=parse)
    assert list(zip(*(column.to_pylist() for column in table.columns))) == texts
    # What it finds out by itself.
    found = pandas.read_csv(path)
    assert found["i"].tolist()[:2] == [-(2**31), 2**31 - 1] and found["t"][1] == ROWS[1][NAMES.index("t")]
    columns = polars.read_csv(path, infer_schema=False)
    assert columns["t"][1] == ROWS[1][NAMES.index("t")] and columns["w"].to_list() == [row[NAMES.index("w")] for row in texts]


def text_of(value):
    """The text that PostgreSQL has for a value of Python."""
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, float):
        return {-3.4028234663852886e38: "-3.4028235e+38"}.get(value, repr(value))
    if isinstance(value, datetime.datetime):
        text = value.replace(tzinfo=None).isoformat(" ")
        return text + ("+00" if value.tzinfo else "")
    return str(value)


def of_hex(text):
    return text and bytes.fromhex(text.removeprefix("\\x")) if text is not None else None


@pytest.mark.parametrize("name, said", [("t.jsonl", ""), ("t.json", "(array true)"), ("t.jsonl.gz", "")])
def test_others_read_json(shared, duck, tmp_path, name, said):
    path = written(shared, tmp_path / name, said)
    told = ", ".join(f"{column.split()[0]}: '{'varchar' if column.startswith('x ') else column.split(' ', 1)[1]}'" for column in SHARED)
    rows = duck.execute(f"from read_json('{path}', columns = {{{told}}})").fetchall()
    at = {name: NAMES.index(name) for name in NAMES}
    # DuckDB reads numbers of JSON with a fraction as doubles.
    rounded = [at["n"], at["w"]]
    for row, wanted in zip(rows, ROWS):
        assert all(row[i] == wanted[i] or math.isclose(row[i], wanted[i], rel_tol=1e-15) for i in rounded)
    same([tuple(wanted[i] if i in rounded else of_hex(value) if i == at["x"] else value for i, value in enumerate(row))
          for row, wanted in zip(rows, ROWS)])
    # Python's own reader, with decimals.
    opener = gzip.open if name.endswith("gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        text = file.read()
    objects = json.loads(text, parse_float=decimal.Decimal) if said else [json.loads(line, parse_float=decimal.Decimal) for line in text.splitlines()]
    assert [list(row) for row in objects] == [NAMES] * len(ROWS)
    for k, row in enumerate(objects):
        for column, value in zip(NAMES, ROWS[k]):
            found = row[column]
            if isinstance(value, (bool, int, decimal.Decimal)) or value is None:
                assert (found, type(found)) == (value, type(value)), column
            elif isinstance(value, float):
                assert float(found) == value or column == "r" and math.isclose(float(found), value, rel_tol=1e-7), column
            else:
                assert found == text_of(value), column
    if not said:
        table = pyarrow.json.read_json(path)
        assert table["b"].to_pylist() == [row[at["b"]] for row in ROWS] and table["t"].to_pylist() == [row[at["t"]] for row in ROWS]
    # pandas' reader of JSON takes integers of up to 64 bits, as doubles where there is NULL, and no denormal doubles.
    narrow = str(tmp_path / f"narrow.{name}")
    shared.execute(f"copy (select i, b, t, o from shared where i is not null order by k) to {literal(narrow)} {said}")
    frame = pandas.read_json(narrow, lines=not said, dtype_backend="pyarrow")
    assert list(frame.columns) == ["i", "b", "t", "o"]
    for column in frame.columns:
        assert [plain(value) for value in frame[column]] == [row[at[column]] for row in ROWS[:2]], column


def test_others_read_arrays(con, duck, tmp_path):
    con.execute("create table t (k integer, i integer[], s text[], d decimal(8,2)[])")
    rows = [(1, [1, None, 3], ["a", "b,c", ""], [decimal.Decimal("0.25")]), (2, [], None, [None])]
    con.execute("insert into t values (1, '{1,NULL,3}', array['a', 'b,c', ''], '{0.25}'), (2, '{}', null, '{NULL}')")
    for name in ["t.parquet", "t.jsonl"]:
        con.execute(f"copy (select * from t order by k) to {literal(str(tmp_path / name))}")
    assert duck.execute(f"from '{tmp_path}/t.parquet'").fetchall() == rows
    told = "{k: 'integer', i: 'integer[]', s: 'varchar[]', d: 'decimal(8,2)[]'}"
    assert duck.execute(f"from read_json('{tmp_path}/t.jsonl', columns = {told})").fetchall() == rows
    table = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    assert list(zip(*(column.to_pylist() for column in table.columns))) == rows
    frame = polars.read_parquet(tmp_path / "t.parquet")
    assert frame.rows() == rows
    with open(tmp_path / "t.jsonl", encoding="utf-8") as file:
        assert [json.loads(line)["i"] for line in file] == [[1, None, 3], []]
    # DuckDB's come in.
    con.execute("create table u as select * from t where false")
    for form in ["parquet", "json"]:
        duck.execute(f"copy (from '{tmp_path}/t.parquet') to '{tmp_path}/u.{form}'")
        con.execute(f"copy u from {literal(str(tmp_path / f'u.{form}'))}")
    assert con.execute("select count(*) from u join t on u.k = t.k and u.i = t.i and u.d = t.d and u.s is not distinct from t.s").fetchone() == (4,)


#: json and jsonb: what is written, and what Python's reader makes of it.
DOCUMENTS = ['{"b": 1.5, "a": [null, "\\u00e4\\ud83d\\ude00"]}', None, "[]", "12345678901234567", '"x,\\"y\\"\\n"', "{}",
             "[[], {}, [true, false]]", "-0.25", '{"": {"a,b": []}}', "false"]


def loaded(texts):
    """Documents as Python has them."""
    return [None if text is None else json.loads(text) for text in texts]


@pytest.fixture
def papers(con):
    con.execute("create table papers (k integer, j json, b jsonb)")
    con.executemany("insert into papers values (?, ?, ?)", [(k, text, text) for k, text in enumerate(DOCUMENTS)])
    assert con.execute("select j::text from papers order by k").fetchall() == [(text,) for text in DOCUMENTS]
    assert con.execute("select j, b from papers order by k").fetchall() == [(value, value) for value in loaded(DOCUMENTS)]
    return con


def test_others_read_documents_in_parquet(papers, duck, tmp_path):
    path = str(tmp_path / "t.parquet")
    papers.execute(f"copy (select * from papers order by k) to {literal(path)}")
    texts = papers.execute("select k, j::text, b::text from papers order by k").fetchall()
    assert duck.execute(f"from '{path}'").fetchall() == texts
    inner = f"select json_extract(j, '$.a[0]')::varchar, json_extract_string(b, '$.a[1]') from '{path}' where k = 0"
    assert duck.execute(inner).fetchone() == ("null", "ä\U0001f600")
    table = pyarrow.parquet.read_table(path)
    assert list(zip(*(column.to_pylist() for column in table.columns))) == texts
    assert polars.read_parquet(path).rows() == texts
    frame = pandas.read_parquet(path, dtype_backend="pyarrow")
    assert [tuple(plain(value) for value in row) for row in frame.itertuples(index=False, name=None)] == texts
    for column in (1, 2):
        assert loaded(row[column] for row in texts) == loaded(DOCUMENTS)
    # What others write, as json or as text, comes in.
    duck.execute(f"create table t as select k, j::json as j, b::json as b from '{path}'")
    polars.read_parquet(path).write_parquet(tmp_path / "polars.parquet")
    duck.execute(f"copy t to '{tmp_path}/duck.parquet'")
    for name in ("polars", "duck"):
        papers.execute(f"create table {name} as select * from papers where false")
        papers.execute(f"copy {name} from {literal(str(tmp_path / f'{name}.parquet'))}")
        assert papers.execute(f"select k, j::text, b::text from {name} order by k").fetchall() == texts


def test_others_read_documents_in_csv(papers, duck, tmp_path):
    path = str(tmp_path / "t.csv")
    papers.execute(f"copy (select * from papers order by k) to {literal(path)} (header true)")
    texts = papers.execute("select k, j::text, b::text from papers order by k").fetchall()
    assert duck.execute(f"from read_csv('{path}', columns = {{k: 'integer', j: 'json', b: 'json'}}, header = true)").fetchall() == texts
    types = {"j": pyarrow.string(), "b": pyarrow.string()}
    options = pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""])
    table = pyarrow.csv.read_csv(path, convert_options=options, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True))
    assert list(zip(*(column.to_pylist() for column in table.columns))) == texts
    assert polars.read_csv(path, schema_overrides={"j": polars.String, "b": polars.String}).rows() == texts
    frame = pandas.read_csv(path, dtype={"j": str, "b": str}, keep_default_na=False)
    assert [tuple(row) for row in frame.itertuples(index=False)] == [(k, j or "", b or "") for k, j, b in texts]


@pytest.mark.parametrize("name, said", [("t.jsonl", ""), ("t.json", "(array true)")])
def test_others_read_documents_in_json(papers, duck, tmp_path, name, said):
    """They are members of the objects, not texts in them."""
    path = str(tmp_path / name)
    papers.execute(f"copy (select * from papers order by k) to {literal(path)} {said}")
    wanted = loaded(DOCUMENTS)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    rows = json.loads(text) if said else [json.loads(line) for line in text.splitlines()]
    assert rows == [{"k": k, "j": value, "b": value} for k, value in enumerate(wanted)]
    told = "{k: 'integer', j: 'json', b: 'json'}"
    found = duck.execute(f"select k, j::varchar, b::varchar from read_json('{path}', columns = {told}) order by k").fetchall()
    assert [(k, *loaded([j, b])) for k, j, b in found] == [(k, value, value) for k, value in enumerate(wanted)]
    # pyarrow and Polars want one form of a column; pandas takes any.
    narrow = str(tmp_path / f"narrow.{name}")
    papers.execute(f"copy (select k, j, b from papers where j::text like '{{%a%' order by k) to {literal(narrow)} {said}")
    frame = pandas.read_json(narrow, lines=not said)
    objects = [value for value in wanted if isinstance(value, dict) and value]
    assert frame["j"].tolist() == objects and frame["b"].tolist() == objects
    lines = str(tmp_path / "lines.jsonl")
    papers.execute(f"copy (select k, j, b from papers where k = 7) to {literal(lines)}")
    assert pyarrow.json.read_json(lines).to_pylist() == [{"k": 7, "j": -0.25, "b": -0.25}]
    assert polars.read_ndjson(lines).rows() == [(7, -0.25, -0.25)]
    # DuckDB's come in.
    duck.execute(f"create table t as from read_json('{path}', columns = {told})")
    duck.execute(f"copy t to '{tmp_path}/duck.json'")
    papers.execute("create table u as select * from papers where false")
    papers.execute(f"copy u from {literal(str(tmp_path / 'duck.json'))}")
    assert papers.execute("select k, j, b from u order by k").fetchall() == [(k, value, value) for k, value in enumerate(wanted)]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_others_read_folders(con, duck, tmp_path, form):
    con.execute("create table t (year integer, region text, amount decimal(8,2))")
    con.execute("insert into t values (2023, 'north', 1.50), (2023, 'south/east', 2), (2024, null, 3), (2024, 'é=%', 4.25)")
    where = tmp_path / "out"
    con.execute(f"copy t to {literal(str(where))} (format {form}, partition_by (year, region){', header true' if form == 'csv' else ''})")
    read = f"read_{form}('{where}/*/*/*.{form}', hive_partitioning = true)"
    rows = duck.execute(f"select year, region, cast(amount as decimal(8,2)) from {read} order by amount").fetchall()
    assert rows == con.execute("select year, region, amount from t order by amount").fetchall()
    again = con.execute(f"select year, region, amount::decimal(8,2) from '{where}/*/*/*.{form}' order by 3").fetchall()
    assert again == rows
    if form == "parquet":
        dataset = pyarrow.parquet.read_table(where, partitioning="hive")
        assert sorted(dataset["amount"].to_pylist()) == [row[2] for row in rows]
        assert sorted(set(dataset["year"].to_pylist())) == [2023, 2024]


# Frazil reads what others wrote.


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_files_of_duckdb_come_in_equal(shared, duck, tmp_path, form):
    """By way of a table of DuckDB that has the rows of Frazil's."""
    first = written(shared, tmp_path / "first.parquet")
    duck.execute(f"create table t as from '{first}'")
    if form != "parquet":
        duck.execute("alter table t alter x type varchar using '\\x' || lower(hex(x))")
    second = str(tmp_path / f"second.{form}")
    duck.execute(f"copy t to '{second}'")
    shared.execute("create table back as select * from shared where false")
    said = "(header true)" if form == "csv" else ""
    shared.execute(f"copy back ({', '.join(NAMES)}) from {literal(second)} {said}")
    same(shared.execute(f"select {', '.join(NAMES)} from back").fetchall())


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_parquet_of_others_comes_in_equal(shared, tmp_path, library):
    table = shared.execute(f"select {', '.join(NAMES)} from shared order by k").arrow()
    path = str(tmp_path / "t.parquet")
    match library:
        case "pandas":
            table.to_pandas(types_mapper=pandas.ArrowDtype).to_parquet(path)
        case "polars":
            polars.from_arrow(table).write_parquet(path)
        case "pyarrow":
            pyarrow.parquet.write_table(table, path)
    shared.execute("create table back as select * from shared where false")
    shared.execute(f"copy back ({', '.join(NAMES)}) from {literal(path)}")
    same(shared.execute(f"select {', '.join(NAMES)} from back").fetchall())


def test_texts_in_parquet_become_what_they_show(con, tmp_path):
    """Polars has no uuid and no interval; how it holds texts is its own affair."""
    path = str(tmp_path / "t.parquet")
    rows = [("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "1 mon 2 days", "\\xff00"), (None, None, None)]
    frame = polars.DataFrame(rows, schema=["u", "i", "x"], orient="row")
    frame.write_parquet(path)
    con.execute("create table t (u uuid, i interval, x bytea)")
    con.execute(f"copy t from {literal(path)}")
    assert con.execute("select u::text, i::text, x::text from t").fetchall() == rows
    for bad, sqlstate in [({"u": [b"short"]}, "22P02"), ({"u": ["no uuid"]}, "22P02"), ({"i": ["no interval"]}, "22007")]:
        polars.DataFrame(bad).write_parquet(path)
        (name,) = bad
        with pytest.raises(frazil.DataError, match=f'row 1, column "{name}"') as caught:
            con.execute(f"copy t ({name}) from {literal(path)}")
        assert caught.value.sqlstate == sqlstate
