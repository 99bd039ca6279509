"""Whole results as pandas', Polars' and numpy's objects."""

import importlib


def wanted(module, what):
    """A module that `what` needs. ImportError that says so."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {module}: pip install {module}", name=module) from error


def fetchnumpy(cursor):
    """Arrays by name; of several columns of one name the last one."""
    numpy = wanted("numpy", "fetchnumpy()")
    return {
        name: values if mask is None else numpy.ma.masked_array(values, mask=mask)
        for name, _, values, mask in cursor._numpy({})
    }


def pl(cursor):
    """A Polars frame."""
    polars = wanted("polars", "pl()")
    return polars.DataFrame(cursor._views())


def df(cursor, decimals):
    """A pandas frame."""
    if decimals not in ("float", "decimal"):
        raise ValueError(f'decimals is "float" or "decimal", not {decimals!r}')
    pandas = wanted("pandas", "df()")
    texts = _text_type(pandas)
    form = {"decimal_objects": decimals == "decimal", "arrow_texts": texts is not None, "dates_in_seconds": True}
    columns = cursor._numpy(form)
    made = {at: _series(pandas, kind, values, mask, texts) for at, (_, kind, values, mask) in enumerate(columns)}
    frame = pandas.DataFrame(made, copy=False)
    frame.columns = [name for name, *_ in columns]
    return frame


def _text_type(pandas):
    """The type of pandas' texts, where pandas holds them as Arrow does; None where they are objects."""
    if int(pandas.__version__.partition(".")[0]) < 3:
        return None
    kind = pandas.Series(["a"]).dtype
    return kind if getattr(kind, "storage", None) == "pyarrow" else None


def _series(pandas, kind, values, mask, texts):
    """A column of a frame: NULL is NA in those of integers and booleans, NaN, NaT or None in others."""
    if kind == "text":
        return pandas.arrays.ArrowStringArray(values, dtype=texts)
    if kind == "instant":
        return pandas.DatetimeIndex(values).tz_localize("UTC").array
    if mask is None or kind in ("double", "time", "object"):
        return values
    if kind == "flag":
        return pandas.arrays.BooleanArray(values, mask)
    return pandas.arrays.IntegerArray(values, mask)
