"""Tables of Frazil as a data source of Spark 4.

    import frazil.spark

    frazil.spark.register(spark)
    lines = spark.read.format("frazil").option("table", "lineitem").load("/data/sales")
    frazil.spark.sql(spark, "/data/sales", "select count(*) from lineitem where l_quantity < 5").show()

Executors open the directory to be read, each for itself, so all of them must find it under its path. Rows travel as
batches of Arrow. Options of the format:

table            the table: its name, alone or behind its schema and a dot
columns          names of columns to read, separated by commas; by default all
filters          conditions that all rows satisfy, in JSON, as `frazil.partitions` takes them:
                 [["day", ">=", "2024-05-05"], ["customer", "is not null"]]. Other rows are not there, and blocks that the
                 conditions rule out are not read
texts            names of columns to read as strings
rowsPerPart      rows of a partition; by default about a million
parts            the number of partitions, at most, in the place of rowsPerPart

`sql` finds the columns and conditions by itself. Spark does not tell data sources that are written in Python which columns
a query needs, and it evaluates the conditions of a frame itself: Spark 4 keeps the conditions that it pushes down to such a
source once for all places where a query has the frame, so that a union of two selections would have the rows of one.
"""

import decimal
import json
import math
import os
import re
import uuid

import numpy
import pyarrow
import pyarrow.compute
from pyspark.sql import datasource, types
from pyspark.sql.pandas.types import to_arrow_schema

from . import _frazil, _spark_plans
from ._partitions import ROWS, lasting, partitions

__all__ = ["FrazilDataSource", "register", "sql"]

#: Types of Frazil and of Spark that have the same values.
SAME = {
    "boolean": types.BooleanType(),
    "smallint": types.ShortType(),
    "integer": types.IntegerType(),
    "bigint": types.LongType(),
    "oid": types.LongType(),
    "real": types.FloatType(),
    "double precision": types.DoubleType(),
    "text": types.StringType(),
    "varchar": types.StringType(),
    "bytea": types.BinaryType(),
    "date": types.DateType(),
    "timestamp": types.TimestampNTZType(),
    "timestamptz": types.TimestampType(),
}


def register(spark):
    """Makes the format "frazil" known to a session."""
    spark.dataSource.register(FrazilDataSource)


def sql(spark, path, query):
    """The result of a query of Spark's SQL over the tables of a directory. In the query their names hide the session's
    views and tables. The columns that the query does not need are not read, and neither are blocks that the query's
    conditions rule out."""
    query = query.rstrip().rstrip(";")
    tables, path = _tables_in(lasting(path), query)
    if not hasattr(spark, "_jsparkSession"):
        # Spark Connect does not show its plans.
        register(spark)
        return _run_connected(spark, path, query, tables)
    # Spark names the place of a syntax error in the query as it was written.
    spark._jsparkSession.sessionState().sqlParser().parseQuery(query)
    # The names of the tables hide nothing in the session of the caller.
    inner = type(spark)(spark.sparkContext, spark._jsparkSession.cloneSession())
    outlines = {table.name: _spark_plans.outline(inner, table.shape, table.name) for table in tables}
    found = list(_spark_plans.scans(_run(inner, query, outlines)._jdf.queryExecution().optimizedPlan()))
    for table in tables:
        table.narrow([scan for scan in found if scan[0] == table.name])
    planned = _run(inner, query, {table.name: table.planned_frame(inner, path) for table in tables})
    return _spark_plans.frame_of(spark, planned._jdf.queryExecution().analyzed())


_TABLES = "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'"


def _tables_in(path, query):
    """The tables whose names are in a query, and the path of their snapshot, if a published folder has more than one."""
    with _frazil.open_reader(path) as connection:
        names = _named([name for (name,) in connection.execute(_TABLES).fetchall()], query)
        tables = [_Table(name, _frazil.columns(connection, name)) for name in names]
        return tables, os.fspath(_frazil.snapshot_path(connection, path) or path)


def _named(names, query):
    """The tables that a query may name. ValueError if Spark would take two of them for one."""
    found = {}
    for name in names:
        if _occurs(name, query, re.IGNORECASE):
            found.setdefault(name.lower(), []).append(name)
    return [_as_written(alike, query) for alike in found.values()]


def _as_written(alike, query):
    """The one of several names, which differ in the case of letters alone, that a query has."""
    written = alike if len(alike) == 1 else [name for name in alike if _occurs(name, query)]
    if len(written) != 1:
        names = " and ".join(f'"{name}"' for name in alike)
        raise ValueError(f'Spark does not tell the tables {names} apart: read them by spark.read.format("frazil")')
    return written[0]


def _occurs(name, query, flags=0):
    """True if a name may be in a query: as a word, or in backquotes, where a backquote is written twice."""
    if re.fullmatch(r"\w+", name):
        return re.search(rf"(?<!\w){name}(?!\w)", query, flags) is not None
    return re.search(f"{re.escape(_quoted(name)[1:-1])}|{re.escape(name)}", query, flags) is not None


def _run(spark, query, frames):
    """The frame of a query in a session whose views are tables."""
    for name, frame in frames.items():
        frame.createOrReplaceTempView(_quoted(name))
    return spark.sql(_whole(query))


def _whole(query):
    """A query that refuses commands, and text after its end."""
    return f"select * from (\n{query}\n)"


def _run_connected(spark, path, query, tables):
    """The frame of a query in which tables hide what the session calls by their names."""
    views = [(table, f"frazil_{uuid.uuid4().hex}") for table in tables]
    try:
        for table, view in views:
            table.whole_frame(spark, path).createOrReplaceTempView(view)
        hiding = ", ".join(f"{_quoted(table.name)} as (table {view})" for table, view in views)
        return spark.sql(f"with {hiding} {_whole(query)}" if tables else _whole(query))
    finally:
        for _, view in views:
            spark.catalog.dropTempView(view)


class _Table:
    """A table as `sql` shows it to a query."""

    def __init__(self, name, columns):
        self.name = name
        #: The types of the columns in Frazil.
        self.kinds = {column: kind for column, kind, _ in columns}
        #: All columns.
        self.shape = _shape(columns, ())
        #: The columns that are read.
        self.read = self.shape
        #: The filters of the scan.
        self.filters = []

    def narrow(self, scans):
        """Leaves out the columns that no scan of the table needs, and the rows that fail a condition that all scans have."""
        needed = {column for _, columns, _ in scans for column in columns}
        # Some column has to be read, even if a query just counts rows.
        needed = needed or {_narrowest(self.shape)}
        self.read = types.StructType([field for field in self.shape if field.name in needed])
        found = [[] if above is None else _spark_plans.filters_of(*above, self.kinds) for _, _, above in scans]
        self.filters = [one for one in found[0] if all(one in others for others in found)] if found else []

    def whole_frame(self, spark, path):
        return spark.read.format("frazil").schema(self.shape).option("table", self.name).load(path)

    def planned_frame(self, spark, path):
        """The table for Spark's planner: it knows the size of the rows, and decimals that have few digits travel as integers."""
        shape = types.StructType([_as_word(field) if _spark_plans.fits_word(field.dataType) else field for field in self.read])
        parts, rows = self._parts(path, spark.sparkContext.defaultParallelism)
        frame = spark.range(0, len(parts), 1, max(1, len(parts))).mapInArrow(_reading(parts, shape), shape)
        return self._with_all_columns(_spark_plans.sized(frame, self.read, rows * _spark_plans.width(spark, self.read)))

    def _parts(self, path, cores):
        """The parts of the chunks that the filters leave, as many for each core, and their rows."""
        asked = (path, self.name), self.read, self.kinds, self.filters
        parts = _parts(*asked)
        rows = sum(part.rows for part in parts)
        return parts if len(parts) % cores == 0 else _parts(*asked, parts=cores * math.ceil(rows / ROWS / cores)), rows

    def _with_all_columns(self, frame):
        """All columns: NULL in the place of those that are not read, because a query may name columns whose values do not count."""
        read = {field.name for field in self.read}
        columns = [
            _quoted(field.name) if field.name in read else f"cast(null as {field.dataType.simpleString()}) as {_quoted(field.name)}"
            for field in self.shape
        ]
        return frame.selectExpr(*columns)


def _parts(place, shape, kinds, filters, **sizes):
    """The parts of a table that have the columns of a shape."""
    texts = [field.name for field in shape if _is_text(kinds[field.name], field.dataType)]
    return partitions(*place, [field.name for field in shape], filters, texts=texts, **sizes)


def _quoted(name):
    return "`" + name.replace("`", "``") + "`"


def _narrowest(shape):
    sizes = ["boolean", "short", "integer", "date", "float", "long", "double"]
    kinds = {field.name: field.dataType.typeName() for field in shape}
    return min(kinds, key=lambda name: sizes.index(kinds[name]) if kinds[name] in sizes else len(sizes))


class FrazilDataSource(datasource.DataSource):
    """A table of a directory of Frazil."""

    @classmethod
    def name(cls):
        return "frazil"

    def _option(self, name):
        value = self.options.get(name)
        if value is None:
            raise ValueError(f'the format "frazil" needs the option "{name}": .option("table", "lineitem").load("/data/sales")')
        return value

    def _names(self, option):
        names = self.options.get(option)
        return None if names is None else [name.strip() for name in names.split(",") if name.strip()]

    def _filters(self):
        text = self.options.get("filters")
        if text is None:
            return []
        try:
            filters = json.loads(text, parse_float=decimal.Decimal)
        except ValueError:
            filters = None
        if not isinstance(filters, list) or not all(isinstance(condition, list) for condition in filters):
            raise ValueError(f'the option "filters" is a list in JSON, such as [["day", ">=", "2024-05-05"]], not {text}')
        return [tuple(condition) for condition in filters]

    def schema(self):
        """The table's columns, or those that are asked for."""
        self._filters()
        shape, _ = self._own()
        wanted = self._names("columns")
        if wanted is None:
            return shape
        own = {field.name: field for field in shape}
        return types.StructType([own[_known(name, own, self._option("table"))] for name in wanted])

    def _own(self):
        """All columns as Spark has them, and their types in Frazil."""
        with _frazil.open_reader(self._option("path")) as connection:
            columns = _frazil.columns(connection, self._option("table"))
        kinds = {name: kind for name, kind, _ in columns}
        texts = [_known(name, kinds, self._option("table")) for name in self._names("texts") or ()]
        return _shape(columns, texts), kinds

    def reader(self, schema):
        """Reads the columns of a schema, which are the table's or some of them."""
        shape, kinds = self._own()
        own = {field.name: field for field in shape}
        for field in schema:
            known = own[_known(field.name, own, self._option("table"))]
            if known.dataType != field.dataType:
                both = f"{known.dataType.simpleString()}, not {field.dataType.simpleString()}"
                raise TypeError(f'column "{field.name}" of table "{self._option("table")}" is {both}')
        sizes = {"rows_per_part": self.options.get("rowsPerPart"), "parts": self.options.get("parts")}
        asked = {name: int(size) for name, size in sizes.items() if size is not None}
        return Reader((self._option("path"), self._option("table")), schema, kinds, self._filters(), asked)


def _known(name, own, table):
    if name not in own:
        raise ValueError(f'table "{table}" has no column "{name}"')
    return name


def _shape(columns, texts):
    fields = [types.StructField(name, types.StringType() if name in texts else _type(kind), null) for name, kind, null in columns]
    return types.StructType(fields)


def _type(kind):
    """Spark's type for a type of Frazil: a string where Spark has none with the same values."""
    if kind.endswith("[]"):
        element = _type(kind[:-2])
        return types.StringType() if _is_text(kind[:-2], element) else types.ArrayType(element)
    name, _, sizes = kind.partition("(")
    if name == "decimal" and sizes:
        precision, scale = sizes.rstrip(")").split(",")
        return types.DecimalType(int(precision), int(scale))
    return SAME.get(name, types.StringType())


def _is_text(kind, of_spark):
    """True if values travel as texts: those of a type that is no string, and has no type in Spark."""
    return isinstance(of_spark, types.StringType) and kind.partition("(")[0] not in ("text", "varchar")


class Reader(datasource.DataSourceReader):
    """Reads a table part by part."""

    def __init__(self, place, schema, kinds, filters, sizes):
        self.place, self.schema, self.kinds, self.filters, self.sizes = place, schema, kinds, filters, sizes

    def partitions(self):
        found = _parts(self.place, self.schema, self.kinds, self.filters, **self.sizes)
        # Spark reads a partition of None if there is none.
        return [datasource.InputPartition(part) for part in found] or [datasource.InputPartition(None)]

    def read(self, partition):
        if partition.value is None:
            return
        yield from _batches(partition.value, self.schema)


def _reading(parts, schema):
    """Reads the parts whose numbers are in the batches that a task has."""

    def read(batches):
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from _batches(parts[number], schema)

    return read


def _batches(part, schema):
    """The rows of a part as Spark's types."""
    shape = to_arrow_schema(schema, timezone="UTC")
    # Spark runs a task on each core.
    for batch in part.read(threads=1):
        arrays = [_array(field, array) for field, array in zip(shape, batch.columns)]
        yield pyarrow.RecordBatch.from_arrays(arrays, schema=shape)


def _as_word(field):
    """The field of a decimal that travels as an integer: its digits without the point."""
    return types.StructField(field.name, types.LongType(), field.nullable)


def _array(field, array):
    """An array as Spark has its type. ValueError for a value that Spark does not have."""
    kind = field.type
    _refuse_ends(field.name, array)
    if pyarrow.types.is_decimal(array.type) and pyarrow.types.is_int64(kind):
        return _low_words(array)
    return array if array.type == kind else array.cast(kind)


def _low_words(array):
    """The digits of decimals that have 18 of them at most, as integers: the low 8 bytes of each."""
    validity, values = array.buffers()
    words = numpy.frombuffer(values, numpy.int64, 2 * len(array), 16 * array.offset)[::2]
    if array.null_count == 0:
        validity = None
    elif array.offset:
        validity = array.is_valid().buffers()[1]
    return pyarrow.Array.from_buffers(pyarrow.int64(), len(array), [validity, pyarrow.py_buffer(numpy.ascontiguousarray(words))])


def _refuse_ends(name, array):
    """Refuses infinite dates and timestamps."""
    kind = array.type
    if pyarrow.types.is_list(kind):
        return _refuse_ends(name, array.values)
    if not (pyarrow.types.is_date(kind) or pyarrow.types.is_timestamp(kind)):
        return None
    width = 32 if pyarrow.types.is_date(kind) else 64
    ends = [-(1 << width - 1), (1 << width - 1) - 1]
    plain = array.view(pyarrow.int32() if width == 32 else pyarrow.int64())
    if pyarrow.compute.any(pyarrow.compute.is_in(plain, value_set=pyarrow.array(ends, plain.type))).as_py():
        raise ValueError(f'column "{name}" has an infinite value, which Spark does not have: read it as a string with the option "texts"')
    return None
