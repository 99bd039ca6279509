"""Files beside DuckDB, in one run: `python python/bench/files.py [ROUNDS [SCALE_FACTOR [THREADS …]]]` prints milliseconds and ratios.

CSV of TPC-H's lineitem and of 100 columns is loaded into tables of databases in directories, aggregates are computed straight from a
Parquet file that DuckDB wrote and from one that Frazil wrote, and lineitem is copied out as CSV and Parquet. Each round runs both engines
in turn; the ratio is DuckDB's time over Frazil's in the median round, with the least and the greatest; the last line is the geometric mean.
"""

import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import duckdb
import frazil

LINEITEM = """l_orderkey bigint not null, l_partkey bigint not null, l_suppkey bigint not null, l_linenumber integer not null,
    l_quantity decimal(15,2) not null, l_extendedprice decimal(15,2) not null, l_discount decimal(15,2) not null,
    l_tax decimal(15,2) not null, l_returnflag varchar(1) not null, l_linestatus varchar(1) not null, l_shipdate date not null,
    l_commitdate date not null, l_receiptdate date not null, l_shipinstruct varchar(25) not null, l_shipmode varchar(10) not null,
    l_comment varchar(44) not null"""
#: Types of the 100 columns, over and over, and a value of row k in each.
WIDE = [
    ("integer", "{k} % 1000"), ("bigint", "{k} * 1000003"), ("double", "{k} / 7.0"), ("decimal(12,2)", "({k} % 100000) / 100.0"),
    ("date", "date '2020-01-01' + ({k} % 2000)::integer"), ("varchar", "'text ' || ({k} % 977)"),
]
WIDE_ROWS = 200_000
QUERIES = {
    "count": "select count(*) from '{file}'",
    "sum of a column": "select sum(l_extendedprice) from '{file}'",
    "Q1": """select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),
        avg(l_quantity), avg(l_discount), count(*) from '{file}' where l_shipdate <= date '1998-09-02' group by 1, 2 order by 1, 2""",
    "Q6": """select sum(l_extendedprice * l_discount) from '{file}' where l_shipdate >= date '1994-01-01'
        and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 and l_quantity < 24""",
    "texts": "select l_shipmode, count(*), min(l_comment) from '{file}' group by 1 order by 1",
}


def wide_types(engine):
    names = {"double": "double precision"} if engine == "frazil" else {}
    return ", ".join(f"c{at} {names.get(ty, ty)}" for at, (ty, _) in ((at, WIDE[at % len(WIDE)]) for at in range(100)))


def make_files(directory, scale_factor):
    """lineitem and the wide table as CSV without a header."""
    program = pathlib.Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run([program, "parquet", "-s", str(scale_factor), "-T", "lineitem", "-o", directory], check=True, capture_output=True)
    with duckdb.connect() as con:
        con.execute(f"create table l ({LINEITEM})")
        con.execute(f"insert into l select * from '{directory / 'lineitem.parquet'}'")
        con.execute(f"copy l to '{directory / 'lineitem.csv'}' (header false)")
        con.execute(f"copy l to '{directory / 'theirs.parquet'}'")
        values = ", ".join(WIDE[at % len(WIDE)][1].format(k=f"(k + {at})") for at in range(100))
        con.execute(f"copy (select {values} from range({WIDE_ROWS}) r(k)) to '{directory / 'wide.csv'}' (header false)")


class Engine:
    """One of the two, with a database in a directory."""

    def __init__(self, directory, threads):
        self.directory, self.threads = directory, threads

    def opened(self, name):
        """A new database."""
        path = self.directory / f"{type(self).__name__}-{name}"
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
        con = self.connect(str(path))
        con.execute(f"set threads = {self.threads}")
        return con

    def load(self, file, types):
        """Milliseconds of loading a file into a table of a new database."""
        con = self.opened("load")
        con.execute(f"create table t ({types})")
        time_taken = timed(lambda: con.execute(f"copy t from '{self.directory / file}' (header false)"))
        con.close()
        return time_taken


class Frazil(Engine):
    connect = staticmethod(frazil.connect)
    wide = wide_types("frazil")


class DuckDB(Engine):
    connect = staticmethod(duckdb.connect)
    wide = wide_types("duckdb")


def timed(work):
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)


def cases(engines, directory):
    """Names, and what each engine does, which gives its milliseconds."""
    yield "load lineitem", [lambda e=e: e.load("lineitem.csv", LINEITEM) for e in engines]
    yield "load 100 columns", [lambda e=e: e.load("wide.csv", e.wide) for e in engines]
    held = [e.opened("held") for e in engines]
    for con in held:
        con.execute(f"create table l ({LINEITEM})")
        con.execute(f"copy l from '{directory / 'lineitem.csv'}' (header false)")
    for form in ["csv", "parquet"]:
        def copied(con, at, form=form):
            return timed(lambda: con.execute(f"copy l to '{directory / f'out{at}.{form}'}'"))
        yield f"copy to {form}", [lambda con=con, at=at, copied=copied: copied(con, at) for at, con in enumerate(held)]
    held[0].execute(f"copy l to '{directory / 'ours.parquet'}'")
    for whose in ["theirs", "ours"]:
        for name, sql in QUERIES.items():
            sql = sql.format(file=directory / f"{whose}.parquet")
            answers = [con.execute(sql).fetchall() for con in held]
            assert len(answers[0]) == len(answers[1]), name
            yield f"{name}, {whose}.parquet", [lambda con=con, sql=sql: timed(lambda: con.execute(sql).fetchall()) for con in held]
    for con in held:
        con.close()


def main():
    given = [float(a) for a in sys.argv[1:]] + [None, None]
    rounds, scale_factor = int(given[0] or 7), given[1] or 1
    all_threads = [int(t) for t in given[2:] if t] or [1, 2]
    with tempfile.TemporaryDirectory() as home:
        directory = pathlib.Path(home)
        make_files(directory, scale_factor)
        ratios_of_all = []
        for threads in all_threads:
            print(f"{f'{threads} threads':28}{'Frazil':>10}{'DuckDB':>10}   DuckDB / Frazil, {rounds} rounds; of the minima")
            for name, (ours, theirs) in cases([Frazil(directory, threads), DuckDB(directory, threads)], directory):
                ours(), theirs()
                pairs = [(ours(), theirs()) for _ in range(rounds)]
                ratios = sorted(b / a for a, b in pairs)
                us_ms, them_ms = (statistics.median(side) for side in zip(*pairs))
                least = min(b for _, b in pairs) / min(a for a, _ in pairs)
                median = statistics.median(ratios)
                ratios_of_all.append(median)
                print(f"{name:28}{us_ms:8.1f}ms{them_ms:8.1f}ms   {median:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}); {least:.2f}", flush=True)
        print(f"geometric mean {math.exp(statistics.mean(map(math.log, ratios_of_all))):.2f}, least {min(ratios_of_all):.2f}")


if __name__ == "__main__":
    main()
