"""Frames out and in beside DuckDB, in one run: `python python/bench/frames.py [ROUNDS]` prints milliseconds and ratios.

Results of 1 M rows of eight columns become frames of pandas and Polars, Arrow tables and numpy's arrays (the time includes the
query that reads the rows), and a pandas frame of 10 M rows is summed by its name. Each round runs both engines in turn; the ratio is
DuckDB's time over Frazil's in the median round, with the least and the greatest.
"""

import statistics
import sys
import time

import duckdb
import frazil
import numpy
import pandas

ROWS = 1_000_000
SUMMED = 10_000_000
THREADS = 2

numbers = numpy.arange(SUMMED)
#: What both engines sum, by this name.
summed = pandas.DataFrame({"b": numbers, "f": numbers * 0.5, "h": numpy.where(numbers % 5 == 0, numpy.nan, numbers)})


def table(con):
    """A table of eight columns of as many types."""
    numbers = numpy.arange(ROWS)
    frame = pandas.DataFrame({
        "i": (numbers * 7919 % 1_000_003).astype("int32"),
        "b": numbers * 1_000_003,
        "f": numbers * 0.25,
        "g": (numbers % 1000) / 7,
        "d": numbers.astype("datetime64[s]"),
        "n": numbers,
        "t": [f"text {k % 1000}" for k in range(ROWS)],
        "u": [f"a longer text with the number {k}" for k in range(ROWS)],
    })
    con.register("frame", frame)
    con.execute("create table rows as select i, b, f, g, cast(d as timestamp) as d, cast(n as decimal(15,2)) as n, t, u from frame")
    con.unregister("frame")


def cases(us, them):
    """Names, and what each engine does."""
    rows = "select * from rows"
    yield "pandas", lambda: us.execute(rows).df(), lambda: them.sql(rows).df()
    yield "polars", lambda: us.execute(rows).pl(), lambda: them.sql(rows).pl()
    yield "arrow", lambda: us.execute(rows).arrow(), lambda: them.sql(rows).to_arrow_table()
    yield "numpy", lambda: us.execute(rows).fetchnumpy(), lambda: them.sql(rows).fetchnumpy()
    for column in ("b", "f", "h"):
        name = f"sum of 10 M rows by name, {summed[column].dtype}{' with NaN' if column == 'h' else ''}"
        yield name, lambda column=column: total(us, column), lambda column=column: total(them, column)


def total(con, column):
    """A column of the module's frame."""
    return con.execute(f"select sum({column}) from summed").fetchall()


def timed(work):
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    us, them = frazil.connect(), duckdb.connect()
    us.execute(f"set threads = {THREADS}")
    them.execute(f"set threads = {THREADS}")
    table(us)
    table(them)
    print(f"{'':34}{'Frazil':>10}{'DuckDB':>10}   DuckDB / Frazil, {rounds} rounds")
    for name, ours, theirs in cases(us, them):
        timed(ours), timed(theirs)
        pairs = [(timed(ours), timed(theirs)) for _ in range(rounds)]
        ratios = sorted(b / a for a, b in pairs)
        us_ms, them_ms = (statistics.median(side) for side in zip(*pairs))
        print(f"{name:34}{us_ms:8.1f}ms{them_ms:8.1f}ms   {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
