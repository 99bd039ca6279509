"""Reads in Spark's optimized plan of a query which columns and rows of each table the query depends on, and makes plans whose
tables have a size.

A scan that leaves out the other columns and rows gives Spark the same result: the plan is equal to the query whatever a
table holds, so rows that the filter directly above a scan drops, and columns that no operator names, do not count. Spark
evaluates all of its filters again, so a scan may leave a filter out, but it must never drop a row that Spark would keep.
`filters_of` therefore takes only comparisons of types whose values compare in Frazil exactly as they do in Spark.
"""

import datetime
import decimal
import weakref

#: The types of columns that `filters_of` compares: in Frazil without sizes, in Spark without sizes. Floats are left out
#: because of NaN and -0.0, char(n) because of its blanks, timestamptz because of time zones.
COMPARED = {
    "smallint": "smallint",
    "integer": "int",
    "bigint": "bigint",
    "decimal": "decimal",
    "text": "string",
    "varchar": "string",
    "date": "date",
    "timestamp": "timestamp_ntz",
}
#: Operators by the names of Spark's expressions, each with the one that has its operands exchanged.
OPERATORS = {
    "EqualTo": ("=", "="),
    "EqualNullSafe": ("=", "="),
    "LessThan": ("<", ">"),
    "LessThanOrEqual": ("<=", ">="),
    "GreaterThan": (">", "<"),
    "GreaterThanOrEqual": (">=", "<="),
}
#: Operators that depend on those columns of their inputs alone that their expressions name.
NAMING = {"Project", "Filter", "Aggregate", "Join", "Sort", "Window", "Expand", "GlobalLimit", "LocalLimit"}
#: The metadata by which `scans` knows the columns of an outline.
MARK = "frazil.table"
#: Most values of a list of IN that a scan is given.
MOST_VALUES = 1000
EPOCH = datetime.datetime(1970, 1, 1)


def scans(plan, is_needed_above=frozenset()):
    """Yields the outlines in an optimized plan, those of its subqueries included: the mark, the names of the columns that the
    plan needs, and the condition directly above the outline with its attributes by id, or None."""
    needed = set(is_needed_above) | ids(plan.output())
    nodes = list(_nodes(plan, None))
    for node, _ in nodes:
        needed |= ids(node.references())
        if simple_name(node) not in NAMING:
            for child in each(node.children()):
                needed |= ids(child.output())
    for node, parent in nodes:
        for inner in each(node.subqueries()):
            yield from scans(inner, needed)
        mark = _mark(node)
        if mark is not None:
            names = {identity(column): column.name() for column in each(node.output())}
            columns = {name for number, name in names.items() if number in needed}
            has_filter = parent is not None and simple_name(parent) == "Filter"
            yield mark, columns, (parent.condition(), names) if has_filter else None


def outline(spark, shape, mark):
    """A frame that has the columns of a table and no rows, to plan a query. Spark's planner does not know that there are none."""
    from pyspark.sql import DataFrame, types

    marked = [types.StructField(field.name, field.dataType, field.nullable, {**field.metadata, MARK: mark}) for field in shape]
    no_rows = spark.sparkContext._jsc.emptyRDD().rdd()
    return DataFrame(spark._jsparkSession.applySchemaToPythonRDD(no_rows, types.StructType(marked).json()), spark)


def _mark(node):
    """The mark of an outline; None if a node is anything else."""
    if simple_name(node) != "LogicalRDD":
        return None
    column = next(each(node.output()), None)
    about = None if column is None else column.metadata()
    return about.getString(MARK) if about is not None and about.contains(MARK) else None


def _nodes(plan, parent):
    yield plan, parent
    for child in each(plan.children()):
        yield from _nodes(child, plan)


def filters_of(condition, names, kinds):
    """The filters, as `frazil.partitions` takes them, that rows satisfy for which a condition is true. `names`: the columns
    by the ids of their attributes; `kinds`: the types of Frazil by columns. What is not sure to mean the same is left out."""
    name = simple_name(condition)
    if name == "And":
        return filters_of(condition.left(), names, kinds) + filters_of(condition.right(), names, kinds)
    if name in ("IsNull", "IsNotNull"):
        column = _column(condition.child(), names)
        return [] if column is None else [[column, "is null" if name == "IsNull" else "is not null"]]
    if name in OPERATORS:
        as_written, exchanged = OPERATORS[name]
        left, right = condition.left(), condition.right()
        return _comparison(left, as_written, right, names, kinds) or _comparison(right, exchanged, left, names, kinds)
    if name == "In":
        listed = list(each(condition.list()))
        is_plain = all(_is_literal(value, condition.value()) for value in listed)
        return _membership(condition.value(), [value.value() for value in listed], names, kinds) if is_plain else []
    if name == "InSet":
        return _membership(condition.child(), list(each(condition.hset())), names, kinds)
    return []


def _comparison(attribute, sign, literal, names, kinds):
    column = _compared(attribute, names, kinds)
    if column is None or not _is_literal(literal, attribute):
        return []
    text = _text(literal.value(), attribute)
    return [] if text is None else [[column, sign, text]]


def _membership(attribute, values, names, kinds):
    """The filter of IN. NULL in the list makes no row satisfy the condition, so it is left out."""
    column = _compared(attribute, names, kinds)
    if column is None or len(values) > MOST_VALUES:
        return []
    texts = [_text(value, attribute) for value in values if value is not None]
    return [] if None in texts else [[column, "in", texts]]


def _column(expression, names):
    """The name of the column that an expression is; None if it is anything else."""
    return names.get(identity(expression)) if simple_name(expression) == "AttributeReference" else None


def _compared(expression, names, kinds):
    """The name of the column that an expression is, if its comparisons mean the same in Frazil."""
    column = _column(expression, names)
    kind = kinds.get(column, "").partition("(")[0]
    return column if kind in COMPARED and COMPARED[kind] == _kind(expression).partition("(")[0] else None


def _is_literal(expression, attribute):
    return simple_name(expression) == "Literal" and _kind(expression) == _kind(attribute)


def _kind(expression):
    """The type of an expression. A string with a collation of its own has other words here than "string"."""
    return expression.dataType().simpleString()


def _text(value, attribute):
    """A value of Catalyst as a text that Frazil reads as the same value; None if there is none, or for NULL."""
    if value is None:
        return None
    kind = _kind(attribute).partition("(")[0]
    if kind in ("smallint", "int", "bigint"):
        return str(int(value))
    if kind == "decimal":
        return format(decimal.Decimal(value.toString()), "f")
    if kind == "string":
        text = value.toString()
        # Java shows bytes that are not UTF-8 by the replacement character, and Frazil has no texts with a zero.
        return None if "\0" in text or "\ufffd" in text else text
    try:
        if kind == "date":
            return (EPOCH + datetime.timedelta(days=value)).date().isoformat()
        return (EPOCH + datetime.timedelta(microseconds=value)).isoformat(" ")
    except OverflowError:
        return None


def fits_word(kind):
    """True for decimals whose digits fit an integer of 8 bytes."""
    from pyspark.sql import types

    return isinstance(kind, types.DecimalType) and kind.precision <= 18


def sized(frame, shape, size):
    """The rows of a frame, of which Spark's planner knows that they have `size` bytes. It does not ask data sources in Python for
    that, and without a size it gives no join a small table whole. Decimals of `shape` that fit a word are integers in the frame."""
    spark, execution = frame.sparkSession, frame._jdf.queryExecution()
    java = _java(spark)
    # Statistics hold a number of Scala, which Python cannot hand over: those of a range are taken, whose rows have 8 bytes.
    statistics = java.some(spark.range(size // 8)._jdf.queryExecution().analyzed().stats())
    output, session = execution.analyzed().output(), spark._jsparkSession
    rows = java.rows(
        output, execution.toRdd(), java.unknown, java.unordered, False, java.none, session, statistics, java.none, False
    )
    columns = [_shown(java, attribute, field.dataType).alias(field.name) for attribute, field in zip(each(output), shape)]
    return frame_of(spark, rows).select(*columns)


def _shown(java, attribute, kind):
    """A column of Spark as its type is shown."""
    from pyspark.sql import Column

    return Column(java.column(java.decimal(attribute, kind.precision, kind.scale, True) if fits_word(kind) else attribute))


def frame_of(spark, plan):
    """The frame of a logical plan."""
    from pyspark.sql import DataFrame

    return DataFrame(_java(spark).frame(spark._jsparkSession, plan), spark)


def width(spark, shape):
    """The bytes of a row's values by Spark's estimate. The size of a table in memory counts, not that of its codes: what Spark
    gives whole to each task of a join has to fit there."""
    return _java(spark).type(shape.json()).defaultSize()


class _Java:
    """Classes and objects of Spark's virtual machine. Each step to one of them, as from `org` to `apache`, is a request."""

    def __init__(self, jvm):
        scala, sql = jvm.scala, jvm.org.apache.spark.sql
        self.some, self.none = scala.Option.apply, scala.Option.empty()
        self.unordered = getattr(getattr(scala.collection.immutable, "Nil$"), "MODULE$")
        self.unknown = sql.catalyst.plans.physical.UnknownPartitioning(0)
        self.rows = sql.execution.LogicalRDD
        self.decimal = sql.catalyst.expressions.MakeDecimal
        self.column = sql.classic.ExpressionUtils.column
        self.frame = sql.classic.Dataset.ofRows
        self.type = sql.types.DataType.fromJson


#: The classes of each virtual machine.
_KNOWN = weakref.WeakKeyDictionary()


def _java(spark):
    """The classes of a session's virtual machine, found when they are first asked for."""
    found = _KNOWN.get(spark._jvm)
    if found is None:
        found = _KNOWN[spark._jvm] = _Java(spark._jvm)
    return found


def ids(attributes):
    return {identity(attribute) for attribute in each(attributes)}


def identity(attribute):
    return attribute.exprId().id()


def simple_name(node):
    """The name of an object's class without its package."""
    return node.getClass().getSimpleName()


def each(collection):
    """The elements of a collection of Scala."""
    found = collection.iterator()
    while found.hasNext():
        yield found.next()
