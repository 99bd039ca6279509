"""Parquet files that others made: every column is equal to pyarrow's, or is named in an error while all others answer."""

import datetime
import decimal
import importlib
import json
import math
import struct
import uuid

import duckdb
import frazil
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

ROWS = 40
UTC = datetime.timezone.utc


def every(step, make):
    """`make(row)` for each row, and None at every `step`th one."""
    return [None if row % step == 0 else make(row) for row in range(ROWS)]


#: Values by Arrow's types that are not nested.
PLAIN = {
    "boolean": (pyarrow.bool_(), every(3, lambda row: row % 2 == 0)),
    "tiny": (pyarrow.int8(), every(4, lambda row: row - 20)),
    "small": (pyarrow.int16(), every(4, lambda row: row * 800 - 16000)),
    "whole": (pyarrow.int32(), list(range(ROWS))),
    "big": (pyarrow.int64(), every(5, lambda row: (row - 20) << 55)),
    "utiny": (pyarrow.uint8(), every(5, lambda row: 255 - row)),
    "usmall": (pyarrow.uint16(), every(5, lambda row: 65535 - row)),
    "uwhole": (pyarrow.uint32(), every(5, lambda row: 4294967295 - row)),
    "ubig": (pyarrow.uint64(), every(5, lambda row: 18446744073709551615 - row)),
    "half": (pyarrow.float16(), every(6, lambda row: row / 8)),
    "single": (pyarrow.float32(), every(6, lambda row: row / 3)),
    "float": (pyarrow.float64(), every(6, lambda row: row / 3 if row != 7 else math.nan)),
    "text": (pyarrow.string(), every(7, lambda row: "é" * (row % 20))),
    "long": (pyarrow.large_string(), every(7, lambda row: f"a text of more than twelve bytes {row}")),
    "bytes": (pyarrow.binary(), every(7, lambda row: bytes([row, 255]))),
    "fixed": (pyarrow.binary(3), every(7, lambda row: bytes([row, 0, 1]))),
    "day": (pyarrow.date32(), every(8, lambda row: datetime.date(1960 + row, 2, 28))),
    "day64": (pyarrow.date64(), every(8, lambda row: datetime.date(1960 + row, 2, 28))),
    "seconds": (pyarrow.timestamp("s"), every(9, lambda row: datetime.datetime(1950 + row, 1, 1, 23, 59, 59))),
    "millis": (pyarrow.timestamp("ms"), every(9, lambda row: datetime.datetime(1950 + row, 1, 1, 1, 2, 3, 4000))),
    "micros": (pyarrow.timestamp("us"), every(9, lambda row: datetime.datetime(1950 + row, 1, 1, 1, 2, 3, 4))),
    "nanos": (pyarrow.timestamp("ns"), every(9, lambda row: datetime.datetime(1950 + row, 1, 1, 1, 2, 3, 4))),
    "instant": (pyarrow.timestamp("us", "UTC"), every(9, lambda row: datetime.datetime(1950 + row, 1, 1, 1, 2, 3, 4, UTC))),
    "berlin": (pyarrow.timestamp("ms", "Europe/Berlin"), every(9, lambda row: datetime.datetime(1950 + row, 7, 1, 1, tzinfo=UTC))),
    "time": (pyarrow.time64("us"), every(9, lambda row: datetime.time(row % 24, 1, 2, 3))),
    "time32": (pyarrow.time32("ms"), every(9, lambda row: datetime.time(row % 24, 1, 2, 3000))),
    "money": (pyarrow.decimal128(9, 2), every(6, lambda row: decimal.Decimal(row * 7 - 100) / 100)),
    "wide": (pyarrow.decimal128(38, 10), every(6, lambda row: decimal.Decimal(row * 10**20 + 1).scaleb(-10))),
    "wider": (pyarrow.decimal256(60, 4), every(6, lambda row: decimal.Decimal(row * 10**20 + 1).scaleb(-4))),
    "nothing": (pyarrow.null(), [None] * ROWS),
    "category": (pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), every(4, lambda row: "ABC"[row % 3])),
    "numbers": (pyarrow.dictionary(pyarrow.int32(), pyarrow.int64()), every(4, lambda row: row % 5)),
}

LEAVES = [("a", pyarrow.int32()), ("b", pyarrow.string()), ("c", pyarrow.timestamp("us"))]


def leaf(row):
    return {"a": row, "b": None if row % 4 else f'"{row}"\\\n', "c": datetime.datetime(2000, 1, 1, 0, 0, row % 60, 5)}


#: Values by Arrow's nested types.
NESTED = {
    "list": (pyarrow.list_(pyarrow.int64()), every(4, lambda row: [None if i == 2 else i for i in range(row % 5)])),
    "large": (pyarrow.large_list(pyarrow.string()), every(4, lambda row: ["x,", "", None][: row % 4])),
    "pair": (pyarrow.list_(pyarrow.float64(), 2), every(4, lambda row: [row, -row])),
    "lists": (pyarrow.list_(pyarrow.list_(pyarrow.int32())), every(4, lambda row: [[1], None, [], [row, None]][: row % 5])),
    "struct": (pyarrow.struct(LEAVES), every(3, leaf)),
    "structs": (pyarrow.list_(pyarrow.struct(LEAVES)), every(3, lambda row: [leaf(i) if i % 3 else None for i in range(row % 4)])),
    "deep": (pyarrow.struct([("s", pyarrow.struct([("l", pyarrow.list_(pyarrow.struct(LEAVES)))]))]),
             every(5, lambda row: {"s": None if row % 2 else {"l": [leaf(row)]}})),
    "map": (pyarrow.map_(pyarrow.string(), pyarrow.float64()), every(3, lambda row: [(f"k{i}", i / 2) for i in range(row % 4)])),
    "maps": (pyarrow.map_(pyarrow.int32(), pyarrow.list_(pyarrow.string())), every(3, lambda row: [(i, ["v", None]) for i in range(row % 3)])),
    "empty": (pyarrow.list_(pyarrow.null()), every(3, lambda row: [None] * (row % 3))),
    "categories": (pyarrow.list_(pyarrow.dictionary(pyarrow.int8(), pyarrow.string())), None),
}


def table(*kinds):
    arrays = {}
    for kind in kinds:
        for name, (ty, values) in kind.items():
            if values is None:
                items = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, None, 0], pyarrow.int8()), ["p", "q"])
                offsets = pyarrow.array([min(row // 4, 4) for row in range(ROWS + 1)], pyarrow.int32())
                arrays[name] = pyarrow.ListArray.from_arrays(offsets, items)
            else:
                arrays[name] = pyarrow.array(values, ty)
    return pyarrow.table(arrays)


def pyarrow_file(kinds, **options):
    return lambda path: pyarrow.parquet.write_table(table(*kinds), path, **options)


def pandas_file(frame, **options):
    return lambda path: frame().to_parquet(path, **options)


def polars_file(frame, **options):
    return lambda path: frame().write_parquet(path, **options)


def duckdb_file(query, options=""):
    return lambda path: duckdb.connect().execute(f"copy ({query}) to '{path}' (format parquet{options})")


def pandas_frame():
    frame = table(PLAIN).select(["boolean", "whole", "float", "text", "micros", "instant", "category"]).to_pandas()
    frame["objects"] = [None if row % 3 else [row] for row in range(ROWS)]
    frame["nullable"] = pandas.array(every(3, lambda row: row), "Int64")
    frame["period"] = pandas.period_range("2020-01", periods=ROWS, freq="M")
    frame["interval"] = pandas.interval_range(0, ROWS)
    return frame


def polars_frame():
    frame = polars.from_arrow(table(PLAIN, NESTED).drop(["wider", "half", "map", "maps", "empty", "nothing", "categories"]))
    return frame.with_columns(
        polars.col("text").cast(polars.Categorical).alias("categorical"),
        polars.Series("enum", every(4, lambda row: "ab"[row % 2]), dtype=polars.Enum(["a", "b"])),
        polars.Series("duration", every(4, lambda row: datetime.timedelta(row)), dtype=polars.Duration("us")),
        polars.Series("array", every(4, lambda row: [row, 2]), dtype=polars.Array(polars.Int16, 2)),
    )


DUCKDB = """select i::tinyint as tiny, i::bigint as big, i::hugeint as huge, i::uinteger as ui, i / 3 as d, (i / 8)::decimal(9,3) as money,
    'text ' || i as t, case when i % 3 = 0 then null else i end as holes, date '2020-01-01' + i::int as day,
    timestamp '2020-01-01 01:02:03.4' + to_hours(i) as moment, timestamptz '2020-01-01 01:02:03.4+00' as instant, time '01:02:03' as clock,
    ['a', null] as list, [[i]] as lists, {'a': i, 'b': 'x'} as row, map {i: 'v'} as map, i % 2 = 0 as flag, '\\xAA'::blob as bytes,
    (case when i % 2 = 0 then 'even' else 'odd' end)::enum('even', 'odd') as parity, to_days(i::int) as span,
    'd6f2a1c0-0000-0000-0000-00000000000a'::uuid as id, '{"a": 1}'::json as document from range(40) r(i)"""


def files():
    """Sixty files and more: name and what writes it."""
    for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]:
        for version in ["1.0", "2.0"]:
            yield f"pyarrow {codec} pages {version}", pyarrow_file([PLAIN, NESTED], compression=codec, data_page_version=version)
        yield f"pandas {codec}", pandas_file(pandas_frame, compression=None if codec == "none" else codec)
        name = "uncompressed" if codec == "none" else codec
        yield f"polars {codec}", polars_file(polars_frame, compression=name)
        yield f"duckdb {codec}", duckdb_file(DUCKDB, f", compression {name}")
    for version in ["1.0", "2.4", "2.6"]:
        yield f"pyarrow version {version}", pyarrow_file([PLAIN, NESTED], version=version)
    for dictionary in [True, False]:
        yield f"pyarrow dictionary {dictionary}", pyarrow_file([PLAIN, NESTED], use_dictionary=dictionary)
    for encoding, names in [
        ("DELTA_BINARY_PACKED", ["whole", "big", "day", "micros"]), ("BYTE_STREAM_SPLIT", ["single", "float", "whole", "fixed"]),
        ("DELTA_BYTE_ARRAY", ["text", "long", "bytes"]), ("DELTA_LENGTH_BYTE_ARRAY", ["text", "long"]), ("PLAIN", ["whole", "text"]),
    ]:
        encodings = {name: encoding for name in names}
        yield f"pyarrow {encoding}", pyarrow_file([PLAIN], use_dictionary=False, column_encoding=encodings)
    yield "pyarrow int96", pyarrow_file([PLAIN, NESTED], use_deprecated_int96_timestamps=True)
    for unit in ["ms", "us"]:
        yield f"pyarrow coerced to {unit}", pyarrow_file([PLAIN], coerce_timestamps=unit, allow_truncated_timestamps=True)
    yield "pyarrow without Arrow's schema", pyarrow_file([PLAIN, NESTED], store_schema=False)
    yield "pyarrow decimals as integers", pyarrow_file([PLAIN], store_decimal_as_integer=True)
    yield "pyarrow names of lists", pyarrow_file([NESTED], use_compliant_nested_type=False)
    yield "pyarrow index of pages", pyarrow_file([PLAIN, NESTED], write_page_index=True, data_page_size=64)
    yield "pyarrow checksums", pyarrow_file([PLAIN], write_page_checksum=True)
    for size in [1, 7, 1000]:
        yield f"pyarrow groups of {size}", pyarrow_file([PLAIN, NESTED], row_group_size=size)
    yield "pyarrow empty", lambda path: pyarrow.parquet.write_table(table(PLAIN, NESTED).slice(0, 0), path)
    yield "pyarrow sliced", lambda path: pyarrow.parquet.write_table(table(PLAIN, NESTED).slice(11, 9), path)
    yield "pyarrow no group", lambda path: pyarrow.parquet.ParquetWriter(path, table(PLAIN, NESTED).schema).close()
    for name, frame in [
        ("index", lambda: pandas.DataFrame({"x": [1, 2]}, index=pandas.Index(["a", "b"], name="k"))),
        ("levels", lambda: pandas.DataFrame({"x": [1, 2]}, index=pandas.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["p", "q"]))),
        ("categories", lambda: pandas.DataFrame({"c": pandas.Categorical(["b", None, "a"], ordered=True), "i": pandas.Categorical([3, 1, 3])})),
        ("arrow types", lambda: table(PLAIN, NESTED).to_pandas(types_mapper=pandas.ArrowDtype)),
        ("no rows", lambda: pandas.DataFrame({"x": pandas.Series([], dtype="float64")})),
        ("names", lambda: pandas.DataFrame({"A": [1], "a": [2], "é ü": ["x"], "": [None]})),
        ("dicts", lambda: pandas.DataFrame({"d": [{"a": 1}, {"b": [None, "x"]}, None]})),
    ]:
        yield f"pandas {name}", pandas_file(frame)
    yield "polars statistics", polars_file(polars_frame, statistics="full", row_group_size=9)
    yield "polars by pyarrow", polars_file(polars_frame, use_pyarrow=True)
    yield "polars no rows", polars_file(lambda: polars_frame().clear())
    yield "duckdb lz4_raw", duckdb_file(DUCKDB, ", compression lz4_raw")
    for version in ["V1", "V2"]:
        yield f"duckdb {version}", duckdb_file(DUCKDB, f", parquet_version {version}, row_group_size 10")
    yield "duckdb no rows", duckdb_file(f"from ({DUCKDB}) limit 0")


def fastparquet_file(frame, **options):
    def write(path):
        importlib.import_module("fastparquet").write(path, frame(), **options)

    return write


#: Files of fastparquet.
FASTPARQUET = [("fastparquet", {}), ("fastparquet gzip", {"compression": "GZIP"}), ("fastparquet objects", {"object_encoding": "json"})]


def all_files():
    yield from files()
    for name, options in FASTPARQUET:
        frame = lambda: pandas_frame().drop(columns=["objects", "period", "interval"])
        yield name, fastparquet_file(frame, **options)


def in_json(value):
    """What a value is in JSON, as Frazil writes it."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN" if math.isnan(value) else value)
        case dict():
            return {str(key): in_json(item) for key, item in value.items()}
        case list():
            return [in_json(item) for item in value]
        case bytes():
            return "\\x" + value.hex()
        case datetime.datetime():
            return value.isoformat(" ")
        case datetime.date():
            return value.isoformat()
    raise AssertionError(f"{value!r} has no JSON here")


def is_list_of_values(ty):
    is_list = pyarrow.types.is_list(ty) or pyarrow.types.is_large_list(ty) or pyarrow.types.is_fixed_size_list(ty)
    return is_list and not pyarrow.types.is_nested(ty.value_type)


def objects(value, ty):
    """A value of pyarrow's with its maps as dicts."""
    if value is None:
        return None
    if pyarrow.types.is_map(ty):
        return {key: objects(item, ty.item_type) for key, item in value}
    if pyarrow.types.is_struct(ty):
        return {field.name: objects(value[field.name], field.type) for field in ty}
    if pyarrow.types.is_nested(ty):
        return [objects(item, ty.value_type) for item in value]
    return value


def wanted(column):
    """pyarrow's values as Frazil gives them."""
    ty = column.type
    if isinstance(ty, pyarrow.BaseExtensionType):
        ty = ty.storage_type
        column = column.cast(ty)
    if pyarrow.types.is_timestamp(ty) and ty.unit == "ns":
        ty = pyarrow.timestamp("us", ty.tz)
        column = column.cast(ty, safe=False)
    values = column.to_pylist()
    if pyarrow.types.is_fixed_size_binary(ty) and ty.byte_width == 12:
        return [None if value is None else days_text(value) for value in values]
    if pyarrow.types.is_nested(ty) and not is_list_of_values(ty):
        return [None if value is None else in_json(objects(value, ty)) for value in values]
    return values


def days_text(value):
    """Days of Parquet's interval, whose bytes pyarrow gives, as Frazil shows them."""
    months, days, millis = struct.unpack("<III", value)
    assert months == millis == 0
    return "00:00:00" if days == 0 else "1 day" if days == 1 else f"{days} days"


def texts_of_json(path):
    """The columns that a file marks as JSON: Frazil reads them as jsonb, pyarrow as text."""
    schema = pyarrow.parquet.ParquetFile(path).schema
    columns = [schema.column(i) for i in range(len(schema.names))]
    return {column.path for column in columns if column.logical_type.type == "JSON"}


def plain(value):
    """A value in a form in which those of both are equal."""
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case float():
            return struct.unpack("f", struct.pack("f", value))[0] if abs(value) < 1e38 else value
        case datetime.datetime(tzinfo=zone) if zone is not None:
            # pyarrow gives timestamps of 96 bits without their zone.
            return value.astimezone(UTC).replace(tzinfo=None)
        case datetime.timedelta():
            return f"{value.days * 24}:00:00"
        case uuid.UUID():
            return value.bytes
        case list():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
    return value


def given(con, path, name):
    """A column's values, or the error that names it."""
    quoted = '"' + name.replace('"', '""') + '"'
    try:
        rows = con.execute(f"select {quoted} from '{path}'").fetchall()
    except frazil.Error as error:
        assert error.sqlstate == "0A000" and f'column "{name}"' in str(error), error
        return error
    return [row[0] for row in rows]


FILES = dict(all_files())


def test_there_are_sixty_files():
    assert len(list(files())) >= 60


@pytest.mark.parametrize("name", FILES)
def test_every_column_is_pyarrows(con, tmp_path, name):
    path = str(tmp_path / "t.parquet")
    FILES[name](path)
    read = pyarrow.parquet.read_table(path)
    con.execute("set timezone = 'UTC'")
    assert con.execute(f"select count(*) from '{path}'").fetchone() == (read.num_rows,)
    columns = [column[0] for column in con.execute(f"select * from '{path}' limit 0").description]
    refused = set()
    for mine, theirs in zip(columns, read.column_names, strict=True):
        assert mine in (theirs, theirs.lower())
        column = read[theirs]
        values = given(con, path, mine)
        if isinstance(values, frazil.Error):
            refused.add(mine)
            continue
        theirs_plain = [plain(value) for value in wanted(column)]
        # fastparquet writes the older mark alone, and also marks booleans and numbers: they stay text.
        if theirs in texts_of_json(path) and "fastparquet" not in name:
            theirs_plain = [None if text is None else json.loads(text) for text in theirs_plain]
        assert [plain(value) for value in values] == theirs_plain, mine
    assert not refused


@pytest.mark.parametrize("first, second, expected", [
    ([None], ["x"], [None, "x"]),
    ([None], [[1, 2]], [None, [1, 2]]),
    ([[], [None]], [[1, 2]], [[], [None], [1, 2]]),
    ([1], [0.5], [1.0, 0.5]),
    ([0.5], [1], [0.5, 1.0]),
    ([1], [decimal.Decimal("1.25")], [decimal.Decimal(1), decimal.Decimal("1.25")]),
    ([decimal.Decimal("1.2")], [decimal.Decimal("100.25")], [decimal.Decimal("1.2"), decimal.Decimal("100.25")]),
    ([datetime.date(2024, 2, 29)], [datetime.datetime(2024, 2, 29, 1)],
     [datetime.datetime(2024, 2, 29), datetime.datetime(2024, 2, 29, 1)]),
    ([None], [{"a": 1}], [None, {"a": 1}]),
    ([{"a": 1}], [{"b": [True]}], [{"a": 1}, {"b": [True]}]),
])
def test_files_have_one_type_together(con, tmp_path, first, second, expected):
    for name, values in [("1", first), ("2", second)]:
        pyarrow.parquet.write_table(pyarrow.table({"x": values}), tmp_path / f"{name}.parquet")
    rows = con.execute(f"select x from '{tmp_path}/*.parquet'")
    assert [row[0] for row in rows.fetchall()] == expected


def test_columns_of_all_files_are_united_by_name(con, tmp_path):
    pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2], "b": ["x", None]}), tmp_path / "1.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"c": [True], "A": [2.5]}), tmp_path / "2.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"b": ["y"]}), tmp_path / "3.parquet")
    pattern = f"{tmp_path}/*.parquet"
    united = f"read_parquet('{pattern}', union_by_name => true)"
    rows = [(1.0, "x", None), (2.0, None, None), (2.5, None, True), (None, "y", None)]
    assert con.execute(f"select * from {united}").fetchall() == rows
    assert [column[0] for column in con.execute(f"select * from {united}").description] == ["a", "b", "c"]
    assert con.execute(f"select count(*), count(a), count(c) from {united} where c is null").fetchone() == (3, 2, 0)
    assert con.execute(f"select a from {united} where a > 2").fetchall() == [(2.5,)]
    assert con.execute(f"select b from {united} where c").fetchall() == [(None,)]
    assert duckdb.sql(f"select a, b, c from read_parquet('{pattern}', union_by_name => true)").fetchall() == rows
    with pytest.raises(frazil.Error, match='2.parquet" has no column "b"; it has c, A') as caught:
        con.execute(f"select * from '{pattern}'")
    assert caught.value.sqlstate == "42703"
    assert "union_by_name" in str(caught.value.hint)


def test_a_column_that_is_not_read_is_not_refused(con, tmp_path):
    """A struct of 1,000 levels, and numbers of more digits than decimals have."""
    path = str(tmp_path / "t.parquet")
    ty, value = pyarrow.int32(), 1
    for _ in range(1000):
        ty, value = pyarrow.struct([("s", ty)]), {"s": value}
    wide = pyarrow.array([decimal.Decimal(10**50), decimal.Decimal(1)], pyarrow.decimal256(60, 0))
    frame = pyarrow.table({"deep": pyarrow.array([value, None], ty), "x": [1, 2], "wide": wide})
    pyarrow.parquet.write_table(frame, path)
    assert con.execute(f"select count(*), sum(x) from '{path}'").fetchone() == (2, 3)
    for column, sqlstate in [("deep", "0A000"), ("wide", "22003")]:
        with pytest.raises(frazil.Error, match=f'column "{column}"') as caught:
            con.execute(f"select {column} from '{path}'").fetchall()
        assert caught.value.sqlstate == sqlstate
        assert path in str(caught.value)


#: Intervals that Parquet's twelve bytes hold.
INTERVALS = ["0 seconds", "1 month 2 days 3.5 seconds", "14 months", "400 days", "25 hours", "0.001 seconds", "1193:02:47.295",
             "2147483647 months", "2147483647 days"]


def test_intervals_of_duckdb_are_intervals(con, tmp_path):
    """Alone and in lists, in a query and in COPY; the bytes that DuckDB writes, and ours that DuckDB reads."""
    theirs, ours = tmp_path / "theirs.parquet", tmp_path / "ours.parquet"
    rows = ", ".join(f"({at}, interval '{text}')" for at, text in enumerate(INTERVALS)) + f", ({len(INTERVALS)}, null)"
    query = f"select k, v, case when k % 2 = 0 then array[v, null] end as l from (values {rows}) t(k, v)"
    duckdb.sql(f"copy ({query}) to '{theirs}' (format parquet)")
    con.execute(f"create table t as {query}")
    con.execute(f"copy t to '{ours}'")
    con.execute("create table u (k integer, v interval, l interval[])")
    con.execute(f"copy u from '{theirs}'")
    expected = con.execute("select k, v::text, l::text from t order by k").fetchall()
    for source in ["u", f"'{theirs}'", f"'{ours}'"]:
        assert con.execute(f"select k, v::text, l::text from {source} order by k").fetchall() == expected
        names = [column[1] for column in con.execute(f"select v, l from {source}").description]
        assert names == ["interval", "interval[]"]
        assert con.execute(f"select count(*) from {source} where v >= interval '400 days'").fetchone() == (4,)
    shown = "select k, v::varchar, l::varchar from '{}' order by k"
    assert duckdb.sql(shown.format(ours)).fetchall() == duckdb.sql(shown.format(theirs)).fetchall()
    for path in [theirs, ours]:
        assert pyarrow.parquet.ParquetFile(path).schema.column(1).converted_type == "INTERVAL"


@pytest.mark.parametrize("value, said", [
    ("-1 months", "-1 mons cannot be stored in Parquet, which has no negative"),
    ("-1 days", "has no negative"), ("-1 ms", "has no negative"), ("1 month -00:00:01", "has no negative"),
    ("1 us", "00:00:00.000001 cannot be stored in Parquet, which counts milliseconds"),
    ("1 day 00:00:00.0015", "counts milliseconds"), ("1193:02:47.296", "at most 4294967295 milliseconds"),
])
def test_intervals_that_parquet_lacks_are_refused(con, tmp_path, value, said):
    for expression in [f"interval '{value}'", f"array[null, interval '{value}']"]:
        with pytest.raises(frazil.Error, match=said) as caught:
            con.execute(f"copy (select {expression} as v) to '{tmp_path}/t.parquet'")
        assert caught.value.sqlstate == "22008"
        assert 'column "v"' in str(caught.value)
        assert "cast it to text" in caught.value.hint
    assert not (tmp_path / "t.parquet").exists()


def test_an_interval_beyond_the_type_is_named(con, tmp_path):
    """Parquet's months and days have no sign; only the column with the value is refused."""
    path = str(tmp_path / "t.parquet")
    duckdb.sql(f"copy (select 1 as k, interval '7 months' as v) to '{path}' (format parquet, compression uncompressed)")
    with open(path, "rb") as file:
        content = file.read()
    months = struct.pack("<III", 7, 0, 0)
    assert content.count(months) >= 1
    with open(path, "wb") as file:
        file.write(content.replace(months, struct.pack("<III", 1 << 31, 0, 0)))
    assert con.execute(f"select k from '{path}'").fetchall() == [(1,)]
    with pytest.raises(frazil.Error, match='row 1, column "v": an interval of 2147483648 months') as caught:
        con.execute(f"select v from '{path}'").fetchall()
    assert caught.value.sqlstate == "22008"
