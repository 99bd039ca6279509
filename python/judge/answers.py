"""Values as all engines write them, and what of two answers differs."""

import collections
import datetime
import math
import re
from decimal import Decimal

# Averages and quotients keep fewer digits here than PostgreSQL's numeric, and doubles are added in another order.
RELATIVE = 1e-6
DAY = 86_400_000_000
NAN = math.nan
# Intervals are texts, of which several may be equally long.
INTERVAL = re.compile(r"(?=.)(?:(-?\d+) years? ?)?(?:(-?\d+) mons? ?)?(?:(-?\d+) days? ?)?(?:(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?))?")
# Numbers of documents are equal whatever the zeros behind their point.
ZEROS, POINT = re.compile(r"(\.\d*?)0+(?!\d)"), re.compile(r"\.(?!\d)")


def by_length(value):
    """An interval as its length, the numbers of a document without zeros at their end, and any other value as it is."""
    found = INTERVAL.fullmatch(value) if isinstance(value, str) else None
    if not found:
        return POINT.sub("", ZEROS.sub(r"\1", value)) if isinstance(value, str) and value[:1] in "{[0123456789-" else value
    years, months, days, sign, hours, minutes, seconds = found.groups()
    time = ((int(hours or 0) * 60 + int(minutes or 0)) * 60 + Decimal(seconds or 0)) * 1_000_000
    return "interval", ((int(years or 0) * 12 + int(months or 0)) * 30 + int(days or 0)) * DAY + int(-time if sign else time)


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
        # One object for every NaN: it is then equal to itself, in rows and as a key.
        return NAN if math.isnan(value) else value or 0.0
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
    if isinstance(value, (float, int, Decimal)):
        # As they are: neighbours among large decimals are one double.
        return (1, math.inf) if math.isnan(value) else (0, value)
    return (1, str(value))


def close(a, b):
    if a is None or b is None or isinstance(a, (str, bool, tuple)) or isinstance(b, (str, bool, tuple)):
        return a == b and isinstance(a, bool) == isinstance(b, bool)
    if not isinstance(a, float) and not isinstance(b, float) and a == b:
        return True
    a, b = float(a), float(b)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= RELATIVE * max(1.0, abs(a), abs(b))


def equal(a, b, loose):
    if isinstance(a, float) or isinstance(b, float) or loose:
        return close(a, b)
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def columns(rows):
    """The columns of rows, their values in the form in which they compare."""
    def column(values):
        kinds = set(map(type, values))
        # Whole numbers and decimals compare as they are; `plain` costs more than the comparison.
        if kinds <= {int, Decimal, type(None)} or kinds <= {bool, type(None)}:
            return values
        if float in kinds:
            return tuple(map(plain, values))
        known = {value: plain(value) for value in set(values)}
        return tuple(map(known.__getitem__, values))
    return [column(values) for values in zip(*rows)]


def same(ours, theirs):
    """Whether columns hold the same rows to the last digit, in whatever order."""
    if any((bool in set(map(type, a))) != (bool in set(map(type, b))) for a, b in zip(ours, theirs)):
        return False
    return collections.Counter(zip(*ours)) == collections.Counter(zip(*theirs))


def difference(ours, theirs, ordered=(), loose=False):
    """None if the rows agree as multisets, and in the order of the columns `ordered`; else a line that says what differs."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, not {len(theirs)}: {ours[:3]} … {theirs[:3]}"
    if ours and len(ours[0]) != len(theirs[0]):
        return f"{len(ours[0])} columns, not {len(theirs[0])}"
    ours, theirs = columns(ours), columns(theirs)
    # A statement that was made smaller may have lost columns.
    for c in (c for c in ordered if c < len(ours)):
        for at, (a, b) in enumerate(zip(ours[c], theirs[c])):
            if not equal(a, b, loose) and not equal(by_length(a), by_length(b), loose):
                return f"order: row {at} has {a!r}, not {b!r}"
    return None if same(ours, theirs) else unlike(list(zip(*ours)), list(zip(*theirs)), loose)


def agrees_by_length(ours, theirs, loose):
    """Whether the rows agree as multisets if intervals are what their lengths are."""
    ours, theirs = ([[by_length(v) for v in row] for row in zip(*columns(rows))] for rows in (ours, theirs))
    return len(ours) == len(theirs) and unlike(ours, theirs, loose) is None


def unlike(ours, theirs, loose):
    """The first rows that differ by more than numbers may."""
    # Rows that differ in the last digits of a double do not sort alike: of those whose other columns agree, any may be the same.
    doubles = {c for row in (*ours, *theirs) for c, v in enumerate(row) if isinstance(v, float)}

    def key(row):
        return [rank(v) for c, v in enumerate(row) if c not in doubles], [rank(v) for c, v in enumerate(row) if c in doubles]
    pairs = list(zip(sorted(ours, key=key), sorted(theirs, key=key)))
    apart = [(a, b) for a, b in pairs if not all(equal(x, y, loose) for x, y in zip(a, b))]
    left = [b for _, b in apart]
    for a, b in apart:
        at = next((i for i, other in enumerate(left) if all(equal(x, y, loose) for x, y in zip(a, other))), None)
        if at is None:
            return f"{a} is not {b}"
        left.pop(at)
    return None
