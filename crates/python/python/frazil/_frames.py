"""Frames of other libraries as tables, and files as results."""

import itertools
import sys
import threading

from ._results import wanted


def variable(name, is_of_main):
    """What a variable of the caller holds, described; None if it holds no frame. Its own variables go before those of its module."""
    frame = sys._current_frames().get(threading.main_thread().ident) if is_of_main else sys._getframe(1)
    if frame is None:
        return None
    for scope in (frame.f_locals, frame.f_globals):
        if name in scope:
            found = described(scope[name])
            if found is not None:
                return found
    return None


def described(thing):
    """A stream of Arrow, or a schema, the number of rows, flags of columns in which NaN is NULL, and a function from a column's position
    to its array; None for what is no frame."""
    library, kind = type(thing).__module__.partition(".")[0], type(thing).__name__
    if library == "pandas" and kind == "DataFrame":
        return _pandas(thing)
    if library == "polars" and kind == "LazyFrame":
        thing, kind = thing.collect(), "DataFrame"
    if library == "polars" and kind == "DataFrame":
        return _polars(thing)
    if library == "pyarrow" and kind == "Table":
        return _pyarrow(thing)
    if hasattr(thing, "__arrow_c_stream__") or hasattr(thing, "__arrow_c_array__") and kind == "RecordBatch":
        return thing
    return None


def _pyarrow(table):
    """Columns with a dictionary become plain ones."""
    pyarrow = sys.modules["pyarrow"]
    for at, field in enumerate(table.schema):
        if pyarrow.types.is_dictionary(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(field.type.value_type))
    return table


def _polars(frame):
    """Categories become texts."""
    polars = sys.modules["polars"]
    categories = [name for name, kind in frame.schema.items() if isinstance(kind, (polars.Categorical, polars.Enum))]
    return frame.with_columns(polars.col(categories).cast(polars.String)) if categories else frame


def _pandas(frame):
    """Columns of numbers are taken when they are read, all others now, because their values say what they are."""
    pyarrow = wanted("pyarrow", "reading frames of pandas")
    arrays, fields, nans = {}, [], []
    for at, name in enumerate(frame.columns):
        kind = frame.dtypes.iloc[at]
        if getattr(kind, "kind", "O") in "iufb" and type(kind).__module__.partition(".")[0] == "numpy":
            arrow = pyarrow.from_numpy_dtype(kind)
        else:
            arrays[at] = _array(pyarrow, frame, at)
            arrow = arrays[at].type
        nans.append(arrow == pyarrow.float64() and at not in arrays)
        fields.append(pyarrow.field(str(name), arrow))

    def column(at):
        if at in arrays:
            return arrays[at]
        return pyarrow.array(frame.iloc[:, at].to_numpy(copy=False), from_pandas=not nans[at])

    return pyarrow.schema(fields), len(frame), nans, column


def _array(pyarrow, frame, at):
    """A column whose values say what they are. TypeError that names it."""
    try:
        array = pyarrow.array(frame.iloc[:, at], from_pandas=True)
    except (pyarrow.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise TypeError(f'column "{frame.columns[at]}" of {frame.dtypes.iloc[at]}: {error}') from error
    if isinstance(array, pyarrow.ChunkedArray):
        array = array.combine_chunks()
        array = array if isinstance(array, pyarrow.Array) else pyarrow.concat_arrays(array.chunks)
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array


_numbers = itertools.count(1)


def quoted(name):
    """A name as SQL writes it: what is a word folds as SQL's names do."""
    if name.isidentifier() and name.isascii():
        return name
    return '"' + name.replace('"', '""') + '"'


def append(connection, table, frame):
    """Inserts the rows of a frame: by name where the table has all of its columns, else in order."""
    source = f"frame appended {next(_numbers)}"
    connection.register(source, frame)
    try:
        names = [column[0] for column in connection.execute(f'select * from "{source}" limit 0').description]
        known = {column[0].lower(): column[0] for column in connection.execute(f"select * from {quoted(table)} limit 0").description}
        into = ""
        if all(name.lower() in known for name in names):
            into = " (" + ", ".join('"' + known[name.lower()].replace('"', '""') + '"' for name in names) + ")"
        return connection.execute(f'insert into {quoted(table)}{into} select * from "{source}"').rowcount
    finally:
        connection.unregister(source)


def read(connection, function, path, options):
    """The rows of files as a result."""
    import os

    path = os.fsdecode(path)
    arguments = "".join(f", {name} => {_literal(value)}" for name, value in options.items())
    return connection.execute(f"select * from {function}({_literal(path)}{arguments})")


def _literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return "'" + str(value).replace("'", "''") + "'"
