"""Tables for generated queries: NULLs, extremes, skew, constants, clustered and random columns, texts
from one byte to beyond every inline limit. Made from a fixed seed, as Arrow tables.

Doubles that are summed are multiples of 1/16 and small enough for every sum to be exact, so that
the order of additions cannot be seen."""

import datetime
import random
from decimal import Decimal

import pyarrow as pa

FACTS_ROWS = 70_000  # more than one chunk
MID_ROWS = 3_000

EPOCH = datetime.date(1970, 1, 1)
WORDS = ["", "a", "ab", "abc", "abcdefghijkl", "abcdefghijklm", "special requests", "pending packages",
         "100%", "under_score", "  padded  ", "Zebra", "zebra", "quick brown foxes", "äpfel", "żółw", "日本語のテキスト",
         "the slyly ironic deposits sleep furiously among the accounts", "b" * 40]


class Column:
    """A column: name, kind (see query_generator), SQL type, whether it may be NULL, bounds of its
    numbers, and whether arithmetic may use it (extremes are for comparisons, MIN, MAX and groups)."""

    def __init__(self, name, kind, sql, nullable, make, low=None, high=None, arithmetic=True, arrow=None):
        self.name, self.kind, self.sql, self.nullable, self.make = name, kind, sql, nullable, make
        self.low, self.high, self.arithmetic, self.arrow = low, high, arithmetic, arrow


def skewed(r, most):
    """Small numbers often: about Zipf."""
    return min(most, int((most + 1) ** r.random()) - 1)


def nulls(share, make):
    return lambda r, i: None if r.random() < share else make(r, i)


def money(r, i, high=10_000_000):
    return Decimal(r.randint(-high * 100, high * 100)).scaleb(-2)


def day(low, high):
    return lambda r, i: EPOCH + datetime.timedelta(r.randint(low, high))


def text(r, i):
    word = WORDS[skewed(r, len(WORDS) - 1)]
    return word if r.random() < 0.7 else f"{word} {r.randint(0, 99)}"


def ascii_text(r, i):
    return r.choice(["alpha", "beta", "Gamma", "delta", "epsilon-long-enough-not-to-be-inline", "", "BETA", "Al"])


def extreme(low, high):
    special = [low, low + 1, -1, 0, 1, high - 1, high]
    return lambda r, i: r.choice(special) if r.random() < 0.6 else r.randint(low, high)


def strange_double(r, i):
    special = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 5e-324, 1.7976931348623157e308, 1.5, -1e-300]
    return r.choice(special) if r.random() < 0.7 else r.uniform(-1, 1)


def wide(r, i):
    return Decimal(r.randint(-(10**31), 10**31)).scaleb(-6)


def instant(r, i):
    base = datetime.datetime(2000, 1, 1)
    return base + datetime.timedelta(days=r.randint(-4000, 9000), microseconds=r.randint(0, 86_399) * 1_000_000 + r.choice([0, 1, 999_999]))


DECIMAL = pa.decimal128
INT, BIG, SMALL = pa.int32(), pa.int64(), pa.int16()

FACTS = [
    Column("id", "int", "integer", False, lambda r, i: i, 0, FACTS_ROWS, arrow=INT),
    Column("k", "int", "integer", True, nulls(0.05, lambda r, i: skewed(r, 200)), 0, 200, arrow=INT),
    Column("m", "int", "integer", False, lambda r, i: (i * 7919) % (MID_ROWS + 500), 0, MID_ROWS + 500, arrow=INT),
    Column("g", "small", "smallint", True, nulls(0.1, lambda r, i: r.randint(-3, 6)), -3, 6, arrow=SMALL),
    Column("v", "int", "integer", True, nulls(0.02, lambda r, i: r.randint(-10_000, 10_000)), -10_000, 10_000, arrow=INT),
    Column("w", "big", "bigint", False, lambda r, i: r.randint(-(10**9), 10**9), -(10**9), 10**9, arrow=BIG),
    Column("x_int", "int", "integer", True, nulls(0.1, extreme(-(2**31), 2**31 - 1)), arithmetic=False, arrow=INT),
    Column("x_big", "big", "bigint", True, nulls(0.1, extreme(-(2**63), 2**63 - 1)), arithmetic=False, arrow=BIG),
    Column("p", "dec", "decimal(15,2)", True, nulls(0.03, money), -(10**7), 10**7, arrow=DECIMAL(15, 2)),
    Column("q", "dec", "decimal(9,4)", False, lambda r, i: Decimal(r.randint(0, 100_000)).scaleb(-4), 0, 10, arrow=DECIMAL(9, 4)),
    Column("wide", "dec", "decimal(38,6)", True, nulls(0.2, wide), arithmetic=False, arrow=DECIMAL(38, 6)),
    Column("d", "dbl", "double precision", True, nulls(0.05, lambda r, i: r.randint(-1_600_000, 1_600_000) / 16), -(10**5), 10**5, arrow=pa.float64()),
    Column("x_dbl", "dbl", "double precision", True, nulls(0.1, strange_double), arithmetic=False, arrow=pa.float64()),
    Column("s", "text", "text", True, nulls(0.05, text), arrow=pa.string()),
    Column("word", "ascii", "varchar(40)", False, ascii_text, arrow=pa.string()),
    Column("c", "ascii", "char(1)", True, nulls(0.05, lambda r, i: "ANRX"[skewed(r, 3)]), arithmetic=False, arrow=pa.string()),
    Column("u", "text", "text", False, lambda r, i: f"row {i} " + "x" * (i % 50), arrow=pa.string()),
    Column("day", "date", "date", True, nulls(0.02, lambda r, i: EPOCH + datetime.timedelta(8000 + i // 40 + r.randint(0, 30))), arrow=pa.date32()),
    Column("x_day", "date", "date", True, nulls(0.3, lambda r, i: r.choice([datetime.date.min, datetime.date.max, EPOCH])), arithmetic=False, arrow=pa.date32()),
    Column("moment", "ts", "timestamp", True, nulls(0.05, instant), arrow=pa.timestamp("us")),
    Column("flag", "bool", "boolean", True, nulls(0.2, lambda r, i: r.random() < 0.3), arrow=pa.bool_()),
    Column("seven", "int", "integer", False, lambda r, i: 7, 7, 7, arrow=INT),
    Column("nothing", "int", "integer", True, lambda r, i: None, 0, 0, arrow=INT),
]

MID = [
    Column("id", "int", "integer", False, lambda r, i: i, 0, MID_ROWS, arrow=INT),
    Column("k", "int", "integer", True, nulls(0.05, lambda r, i: r.randint(0, 220)), 0, 220, arrow=INT),
    Column("n", "big", "bigint", True, nulls(0.1, lambda r, i: skewed(r, 40) - 10), -10, 30, arrow=BIG),
    Column("p", "dec", "decimal(15,2)", True, nulls(0.1, lambda r, i: money(r, i, 1000)), -1000, 1000, arrow=DECIMAL(15, 2)),
    Column("d", "dbl", "double precision", True, nulls(0.1, lambda r, i: r.randint(-160, 160) / 16), -10, 10, arrow=pa.float64()),
    Column("s", "text", "text", True, nulls(0.1, text), arrow=pa.string()),
    Column("word", "ascii", "varchar(40)", True, nulls(0.1, ascii_text), arrow=pa.string()),
    Column("day", "date", "date", True, nulls(0.1, day(8000, 9800)), arrow=pa.date32()),
    Column("flag", "bool", "boolean", False, lambda r, i: r.random() < 0.5, arrow=pa.bool_()),
]

DIM = [
    Column("k", "int", "integer", False, lambda r, i: i, 0, 200, arrow=INT),
    Column("name", "ascii", "varchar(25)", False, lambda r, i: f"name {i % 37}", arrow=pa.string()),
    Column("s", "text", "text", True, nulls(0.1, text), arrow=pa.string()),
    Column("weight", "dec", "decimal(9,4)", True, nulls(0.1, lambda r, i: Decimal(r.randint(-9999, 9999)).scaleb(-4)), -1, 1, arrow=DECIMAL(9, 4)),
    Column("g", "small", "smallint", True, nulls(0.1, lambda r, i: r.randint(-3, 8)), -3, 8, arrow=SMALL),
    Column("since", "date", "date", True, nulls(0.2, day(8000, 9800)), arrow=pa.date32()),
]

TINY = [
    Column("n", "int", "integer", True, nulls(0.25, lambda r, i: r.randint(0, 6)), 0, 6, arrow=INT),
    Column("word", "ascii", "text", True, nulls(0.25, ascii_text), arrow=pa.string()),
    Column("day", "date", "date", True, nulls(0.25, day(8000, 9800)), arrow=pa.date32()),
]

TABLES = {
    "facts": (FACTS, FACTS_ROWS),
    "mid": (MID, MID_ROWS),
    "dim": (DIM, 200),
    "tiny": (TINY, 12),
    "void": (MID, 0),
}


def ddl(table):
    columns = ", ".join(f"{c.name} {c.sql}{'' if c.nullable else ' not null'}" for c in TABLES[table][0])
    return f"create table {table} ({columns})"


def rows(table):
    """The rows of a table as an Arrow table."""
    columns, count = TABLES[table]
    arrays = []
    for column in columns:
        r = random.Random(f"{table}.{column.name}")
        arrays.append(pa.array([column.make(r, i) for i in range(count)], type=column.arrow))
    return pa.table(arrays, names=[c.name for c in columns])
