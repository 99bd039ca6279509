"""Joins by inequalities beside DuckDB, and beside PostgreSQL with an index: `python python/bench/joins.py --rows 20000 --rows 1000000`.

The tables are those of `frazil bench joins` (crates/bench/src/joins.rs): `points` and `spans`, in which a span holds one point on average. In each round
all engines answer each question in turn, and another one begins. A ratio is the time of the better of the others over Frazil's: the geometric mean of the
rounds, with its 95 % confidence interval. Answers must agree. `--postgresql DSN` takes an empty database, in which the tables and an index on `spans (low)`
are made. A question that takes another engine longer than `--patience` seconds is asked only once there. The exit code is 1 if an answer differs or if
Frazil is slower than the better of the others."""

import argparse
import json
import pathlib
import statistics
import sys

import duckdb

from shapes import ratio
from tpcds import Module, Shell, timed

MODULUS = 1_000_003
#: Questions: name, text, and the text for DuckDB, where it has a join of its own for that.
QUESTIONS = [
    ("between two columns", "select count(*), sum(points.id) from points, spans where at >= low and at <= high", None),
    ("between, left join", "select count(*), count(spans.id) from points left join spans on at >= low and at <= high", None),
    ("between doubles", "select count(*), sum(points.id) from points, spans where f >= low_f and f < high_f", None),
    ("exists", "select count(*) from points where exists (select 1 from spans where at >= low and at <= high)", None),
    ("not exists", "select count(*) from points where not exists (select 1 from spans where at < low)", None),
    ("either of two", "select count(*), sum(points.id) from points, spans where at = low or points.id = spans.high", None),
    ("latest before", "select count(*), sum(last.id) from points, lateral (select id from spans where low <= at order by low desc limit 1) as last",
     "select count(*), sum(spans.id) from points asof join spans on low <= at"),
    ("latest before, by a key",
     "select count(*), sum(last.id) from points, lateral (select id from spans where spans.few = points.few and low <= at order by low desc limit 1) as last",
     "select count(*), sum(spans.id) from points asof join spans on spans.few = points.few and low <= at"),
    ("greater than all", "select count(*) from points where at > all (select high from spans where few = 1)", None),
    ("less than any, by a key", "select count(*) from points where at < any (select low from spans where spans.few = points.few)", None),
]


def statements(rows):
    """The statements that make the tables. Values of `low` differ, so that the latest span is one."""
    width = max(MODULUS // rows, 1)
    at, low = f"i * 7368787 % {MODULUS}", f"i * 15485863 % {MODULUS}"
    numbers = f"(select cast(i as bigint) as i from generate_series(1, {rows}) as s (i)) as n"
    return [
        f"create table points as select i as id, cast({at} as integer) as at, cast({at} as double precision) as f, cast(i % 3 as integer) as few from {numbers}",
        f"create table spans as select i as id, cast({low} as integer) as low, cast({low} + {width} as integer) as high, cast(i % 3 as integer) as few, "
        f"cast({low} as double precision) as low_f, cast({low} + {width} as double precision) as high_f from {numbers}",
    ]


class DuckDB:
    """DuckDB in memory."""

    name = "DuckDB"

    def __init__(self):
        self.con = duckdb.connect()

    def run(self, sql):
        return self.con.execute(sql).fetchall()


class PostgreSQL:
    """PostgreSQL, with an index for the questions that look a span up."""

    name = "PostgreSQL"

    def __init__(self, dsn):
        import psycopg

        self.con = psycopg.connect(dsn, autocommit=True)

    def run(self, sql):
        cursor = self.con.execute(sql)
        return cursor.fetchall() if cursor.description else []


def load(engines, rows, threads):
    """Fills the tables of all engines."""
    for engine in engines:
        for text in statements(rows):
            engine.run(text)
        if isinstance(engine, PostgreSQL):
            engine.run("create index spans_low on spans (low)")
            engine.run("vacuum analyze points, spans")
            engine.run(f"set max_parallel_workers_per_gather = {threads - 1}")
        else:
            engine.run(f"set threads = {threads}")


def measured(question, engines, rounds, patience):
    """Milliseconds of each engine in each round, and what is wrong with an answer."""
    name, text, of_duckdb = question
    texts = [of_duckdb if of_duckdb and isinstance(engine, DuckDB) else text for engine in engines]
    times, answers = [[] for _ in engines], []
    for at, engine in enumerate(engines):
        answer, milliseconds = timed(lambda at=at, engine=engine: engine.run(texts[at]))
        answers.append([[None if value is None else int(value) for value in row] for row in answer])
        if milliseconds > patience * 1000:
            times[at] = [milliseconds] * rounds
    wrong = next((f"{answers[0]}; {engines[at].name} answers {a}" for at, a in enumerate(answers) if a != answers[0]), "")
    for turn in range(rounds):
        for step in range(len(engines)):
            at = (step + turn) % len(engines)
            if len(times[at]) < rounds:
                times[at].append(timed(lambda at=at: engines[at].run(texts[at]))[1])
    return times, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, action="append", help="rows of each table; 20,000 and 1,000,000 by default")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds of each question")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="questions whose names begin with this text")
    parser.add_argument("--patience", type=float, default=10, help="seconds after which a question is not asked again")
    parser.add_argument("--postgresql", help="connection to an empty database of PostgreSQL")
    parser.add_argument("--json", type=pathlib.Path, help="also write the times to this file")
    parser.add_argument("--program", help="Frazil's program, run instead of the module; its answers come as JSON")
    options = parser.parse_args()
    report, failed = {}, False
    for rows in options.rows or [20_000, 1_000_000]:
        us = Shell(options.program, ":memory:") if options.program else Module(":memory:")
        us.name = "Frazil"
        engines = [us, DuckDB()]
        if options.postgresql:
            engines.append(PostgreSQL(options.postgresql))
            engines[-1].run("drop table if exists points, spans")
        load(engines, rows, options.threads)
        print(f"\n{rows:,} rows and {rows:,}, threads = {options.threads}")
        print("".join(f"{engine.name + ' ms':>15}" for engine in engines) + f"{'ratio':>8}  interval", flush=True)
        for question in QUESTIONS:
            if not question[0].startswith(options.only):
                continue
            times, wrong = measured(question, engines, options.rounds, options.patience)
            medians = [statistics.median(side) for side in times]
            best = min(range(1, len(engines)), key=lambda at: medians[at])
            mean, low, high = ratio(list(zip(times[0], times[best])))
            report[f"{question[0]}, {rows} rows"] = {"times": times, "ratio": [mean, low, high], "wrong": wrong}
            failed = failed or bool(wrong) or mean < 1
            print("".join(f"{m:15.1f}" for m in medians) + f"{mean:8.2f}  [{low:.2f}, {high:.2f}]  {question[0]}", flush=True)
            if wrong:
                print(f"  answers differ: {wrong[:300]}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
