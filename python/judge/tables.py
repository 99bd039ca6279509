"""The tables that generated statements read: edge values of every type, NULLs, no row, one row, many rows in blocks.

Columns have the same names in several tables, so that USING and NATURAL joins find them. `safe` columns hold small values:
arithmetic on them seldom overflows. The rows follow from a fixed seed; every engine loads the same CSV files."""

import csv
import random

from . import documents, wider

# Types by the names that the generator uses, and how SQL writes them.
SQL_TYPES = {
    "bool": "boolean", "i2": "smallint", "i4": "integer", "i8": "bigint", "dec": "decimal(9,2)", "wide": "decimal(38,6)",
    "f8": "double precision", "text": "text", "char": "char(5)", "date": "date", "ts": "timestamp", **documents.SQL_TYPES, **wider.SQL_TYPES,
}
NULL = None
DATES = ["1970-01-01", "2000-02-29", "1999-12-31", "2024-02-29", "2026-01-31", "0001-01-01", "9999-12-31"]
SAFE_DATES = ["1970-01-01", "2000-02-29", "1999-12-31", "2024-02-29", "2026-01-31", "2026-03-01", "1969-12-31"]
MOMENTS = [f"{day} {time}" for day in SAFE_DATES for time in ("00:00:00", "23:59:59.999999", "12:34:56.5")]
TEXTS = ["", "a", "ab", "abc", "B", "b", " x ", "a%c", "a_c", "äöü", "日本語", "twelve bytes", "thirteen byte", "x" * 40, "100", "-7", "2020-01-01", "1e3"]
CHARS = ["a", "ab", "b", "abcde", "", "A"]
EDGES = {
    "i2": [-32768, -32767, -1, 0, 1, 32766, 32767],
    "i4": [-(2**31), -(2**31) + 1, -1, 0, 1, 2**31 - 2, 2**31 - 1],
    "i8": [-(2**63), -(2**63) + 1, -(2**31) - 1, -1, 0, 1, 2**31, 2**53 + 1, 2**63 - 2, 2**63 - 1],
    "dec": ["-9999999.99", "-0.01", "0.00", "0.01", "1.50", "9999999.99"],
    "wide": ["-" + "9" * 32 + ".999999", "-0.000001", "0", "0.000001", "1.5", "9" * 32 + ".999999"],
    "f8": ["NaN", "Infinity", "-Infinity", "-0.0", "0.0", "1e308", "-1e308", "5e-324", "1.5", "-0.1"],
    "date": DATES,
}

# Columns by name: type, whether arithmetic on it is safe.
COLUMNS = {
    "k": ("i4", True), "g": ("i2", True), "n": ("i8", True), "d": ("dec", True), "f": ("f8", True), "b": ("bool", True),
    "t": ("text", True), "c": ("char", True), "dt": ("date", True), "ts": ("ts", True),
    "x2": ("i2", False), "x4": ("i4", False), "x8": ("i8", False), "xd": ("dec", False), "xw": ("wide", False),
    "xf": ("f8", False), "xdt": ("date", False),
    "ints": ("ai", True), "words": ("at", True), **{kind: (kind, True) for kind in ("js", "jsa", "jso", "jb", "jba", "jbo")},
    **{name: (kind, True) for name, kind in wider.COLUMNS.items()},
}

# Tables: columns, rows, share of NULLs, columns that are NOT NULL.
TABLES = {
    "edges": ([c for c, (kind, _) in COLUMNS.items() if kind not in (*documents.SQL_TYPES, *wider.SQL_TYPES)], 40, 0.15, []),
    "small": (["k", "g", "n", "d", "f", "b", "t", "c", "dt", "ts"], 24, 0.1, ["k"]),
    "other": (["k", "t", "n", "dt", "x8", "d"], 16, 0.2, []),
    "pairs": (["k", "g", "x4"], 12, 0.25, ["g"]),
    "one": (["k", "d", "t", "xf", "b"], 1, 0.0, []),
    "void": (["k", "n", "t", "d", "dt", "f"], 0, 0.0, []),
    "nulls": (["k", "t", "x8", "b", "dt", "f", "d"], 5, 1.0, []),
    "many": (["k", "g", "n", "d", "t", "dt", "b"], 100_000, 0.02, ["n"]),
    "papers": (["k", "g", "t", "d", "ints", "words", "js", "jsa", "jso", "jb", "jba", "jbo"], 80, 0.08, []),
    "moods": (["k", "g", "t", "d", "f", "dt", "ts", "ints", "jb", "jba", "jbo", *wider.COLUMNS], 60, 0.1, []),
}
LARGE = "many"
# Tables of types that PostgreSQL alone has as Frazil does.
PAPERS = ["papers", "moods"]

# Views with the columns and rows of a table: the table, and the view's query. Some statements read them in its place.
VIEWS = {
    "small_view": ("small", "select * from small"),
    "edges_view": ("edges", "select * from edges where k > 3 union all select * from edges where k <= 3 or k is null"),
    "other_view": ("other", "with o as (select * from other) select o.* from o left join one on false"),
    "pairs_below": ("pairs", "table pairs"),
    "pairs_view": ("pairs", "select * from pairs_below where k is null or k = k"),
}
VIEW_OF = {table: view for view, (table, _) in VIEWS.items()}


def value(r, name, row):
    """A value of a column as CSV has it."""
    kind, safe = COLUMNS[name]
    if kind in documents.SQL_TYPES:
        return documents.value(r, kind)
    if kind in wider.SQL_TYPES:
        return r.choice(wider.EDGES[kind])
    if not safe:
        return r.choice(EDGES[kind])
    if kind == "i4":
        return r.randint(-2, 12)
    if kind == "i2":
        return r.randint(-3, 4)
    if kind == "i8":
        return r.choice([row, r.randint(-50, 50), r.randint(0, 3)])
    if kind == "dec":
        return f"{r.randint(-2000, 2000) / 100:.2f}"
    if kind == "f8":
        return r.randint(-64, 64) / 16
    if kind == "bool":
        return r.choice(["true", "false"])
    if kind == "char":
        return r.choice(CHARS)
    if kind == "date":
        return r.choice(SAFE_DATES)
    if kind == "ts":
        return r.choice(MOMENTS)
    return r.choice(TEXTS)


def ddl(table):
    columns, _, _, not_null = TABLES[table]
    listed = ", ".join(f"{c} {SQL_TYPES[COLUMNS[c][0]]}{' not null' if c in not_null else ''}" for c in columns)
    return f"create table {table} ({listed})"


def views():
    """The statements that create the views, in order."""
    return [f"create view {view} as {query}" for view, (_, query) in VIEWS.items()]


def write(folder):
    """Writes each table as a CSV file; NULL is the unquoted word \\N."""
    for table, (columns, rows, share, not_null) in TABLES.items():
        with open(folder / f"{table}.csv", "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
            r = random.Random(f"rows of {table}")
            for row in range(rows):
                out.writerow(["\\N" if c not in not_null and r.random() < share else value(r, c, row) for c in columns])
