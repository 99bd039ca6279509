"""Values as all engines write them, and what of two answers differs."""

import datetime
import math
from decimal import Decimal

# Averages and quotients keep fewer digits here than PostgreSQL's numeric, and doubles are added in another order.
RELATIVE = 1e-6
DAY = 86_400_000_000


def plain(value):
    """A value in the one form in which engines' values compare; numbers are floats only where an engine says so."""
    if value is None or isinstance(value, (bool, Decimal)):
        return value
    if isinstance(value, str):
        # The padding of char(n) is not a part of its value.
        return value.rstrip(" ")
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        return 0.0 if value == 0 else value
    if isinstance(value, datetime.datetime):
        return value.isoformat() if value.time() != datetime.time() else value.date().isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return "interval", (value.days * DAY + value.seconds * 1_000_000 + value.microseconds)
    return str(value)


def rank(value):
    """A key that orders the values of one column."""
    if value is None:
        return (2, "")
    if isinstance(value, bool):
        return (0, str(value))
    if isinstance(value, (float, Decimal)):
        # As they are: neighbours among large decimals are one double.
        return (1, math.inf) if math.isnan(value) else (0, value)
    return (1, str(value))


def close(a, b):
    if a is None or b is None or isinstance(a, (str, bool, tuple)) or isinstance(b, (str, bool, tuple)):
        return a == b and isinstance(a, bool) == isinstance(b, bool)
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        if a == b:
            return True
    a, b = float(a), float(b)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= RELATIVE * max(1.0, abs(a), abs(b))


def equal(a, b, loose):
    if isinstance(a, float) or isinstance(b, float) or loose:
        return close(a, b)
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def difference(ours, theirs, ordered=(), loose=False):
    """None if the rows agree as multisets, and in the order of the columns `ordered`; else a line that says what differs."""
    ours = [tuple(map(plain, row)) for row in ours]
    theirs = [tuple(map(plain, row)) for row in theirs]
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, not {len(theirs)}: {ours[:3]} … {theirs[:3]}"
    if ours and len(ours[0]) != len(theirs[0]):
        return f"{len(ours[0])} columns, not {len(theirs[0])}"
    for at, (a, b) in enumerate(zip(ours, theirs)):
        # A statement that was made smaller may have lost columns.
        for column in (c for c in ordered if c < len(a)):
            if not equal(a[column], b[column], loose):
                return f"order: row {at} has {a[column]!r}, not {b[column]!r}"

    # Columns that hold doubles on either side come last: rows that differ in the last digits then lie beside each other.
    doubles = {c for row in (*ours, *theirs) for c, v in enumerate(row) if isinstance(v, float)}

    def key(row):
        return [rank(v) for c, v in enumerate(row) if c not in doubles], [rank(v) for c, v in enumerate(row) if c in doubles]
    for a, b in zip(sorted(ours, key=key), sorted(theirs, key=key)):
        if len(a) != len(b) or not all(equal(x, y, loose) for x, y in zip(a, b)):
            return f"{a} is not {b}"
    return None
