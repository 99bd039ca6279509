"""Comparison of two engines' rows: exact, save for averages, quotients and doubles (relative 1e-6)."""

import datetime
import math
from decimal import Decimal

RELATIVE = 1e-6


def plain(value):
    """A value in the form in which both engines' values compare: numbers as Decimal or float, a
    midnight as its day (date + interval is a timestamp in both, but not in every client)."""
    if isinstance(value, bool) or value is None or isinstance(value, (str, float, Decimal)):
        return value
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


def rank(value):
    """A key that orders values of one column, NULL and NaN included."""
    if value is None:
        return (2, 0)
    if isinstance(value, bool):
        return (0, int(value))
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return (0, value)


def equal(a, b, approximate):
    if a is None or b is None:
        return a is b
    if not approximate:
        return a == b
    a, b = float(a), float(b)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= RELATIVE * max(1.0, abs(a), abs(b))


def approximate_columns(rows):
    """Columns in which either engine answered with a float."""
    width = len(rows[0]) if rows else 0
    return [any(isinstance(row[c], float) for row in rows) for c in range(width)]


def difference(ours, theirs, ordered_by=None):
    """None if the rows agree as multisets, else what differs. `ordered_by`: columns by whose values
    the rows must come in the same order (`range(width)` for: row by row)."""
    ours = [tuple(map(plain, row)) for row in ours]
    theirs = [tuple(map(plain, row)) for row in theirs]
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, not {len(theirs)}: {sample(ours, theirs)}"
    if not ours:
        return None
    if len(ours[0]) != len(theirs[0]):
        return f"{len(ours[0])} columns, not {len(theirs[0])}"
    loose = approximate_columns(ours + theirs)
    for column in ordered_by or ():
        for at, (a, b) in enumerate(zip(ours, theirs)):
            if not equal(a[column], b[column], loose[column]):
                return f"order: row {at} has {a[column]!r} in column {column}, not {b[column]!r}"

    # Exact columns first: values that differ only within the tolerance then lie beside each other.
    order = sorted(range(len(loose)), key=lambda c: loose[c])

    def key(row):
        return [rank(float(row[c]) if loose[c] and row[c] is not None else row[c]) for c in order]

    for a, b in zip(sorted(ours, key=key), sorted(theirs, key=key)):
        for c in order:
            if not equal(a[c], b[c], loose[c]):
                return f"{a} is not {b} (column {c})"
    return None


def sample(ours, theirs, most=3):
    extra = [row for row in ours if row not in set(theirs)][:most]
    missing = [row for row in theirs if row not in set(ours)][:most]
    return f"not expected {extra}, missing {missing}"
