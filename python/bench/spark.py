"""Spark on a directory of Frazil beside Spark on sorted Parquet files with the same rows: TPC-H, `python python/bench/spark.py FOLDER`.

FOLDER gets the data unless it has them: `db` (Frazil's directory) and a Parquet file a table, both with lineitem and orders in the order of their
dates. In each round both sides run each query in turn, and the side that begins changes from round to round. A ratio is the shortest time on
Frazil over the shortest on Parquet. The answers are compared with Frazil's own. The exit code is 1 if an answer differs or a bound is missed."""

import argparse
import decimal
import math
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "tests"))
import answers  # noqa: E402
import frazil  # noqa: E402
import frazil.spark  # noqa: E402
import tpch_data  # noqa: E402

#: Most that the geometric mean of the queries may be, and query 6.
BOUNDS = {"mean": 1.3, 6: 1.0}
ORDERS = {"lineitem": "l_shipdate", "orders": "o_orderdate"}
#: Rows of a row group: those of a chunk, so that both sides skip alike.
GROUP = 65_536
#: Queries with averages and quotients, whose digits Spark limits otherwise.
ROUNDED = {1, 8, 14, 17}


def make(folder):
    if (folder / "db").exists():
        return
    raw = folder / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    tpch_data.generate(raw)
    with frazil.connect(folder / "db") as con:
        for table in tpch_data.TABLES:
            con.execute(tpch_data.ddl(table))
            order = f" order by {ORDERS[table]}" if table in ORDERS else ""
            con.execute(f"insert into {table} select * from '{raw / table}.parquet'{order}")
            con.execute(f"freeze table {table}{order}")
            con.execute(f"copy (select * from {table}{order}) to '{folder / table}.parquet' (format parquet, row_group_size {GROUP})")


def session(cores):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(frazil.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.driver.memory": "2g",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,2048]").appName("frazil bench")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def on_frazil(spark, folder, text):
    return frazil.spark.sql(spark, str(folder / "db"), text).collect()


def on_parquet(spark, folder, text):
    for table in tpch_data.TABLES:
        if table in text:
            spark.read.parquet(str(folder / f"{table}.parquet")).createOrReplaceTempView(table)
    return spark.sql(text).collect()


def timed(run, *arguments):
    begun = time.perf_counter()
    rows = run(*arguments)
    return time.perf_counter() - begun, [tuple(row) for row in rows]


def differs(number, found, expected):
    if number in ROUNDED:
        found, expected = ([tuple(float(v) if isinstance(v, decimal.Decimal) else v for v in row) for row in rows] for rows in (found, expected))
    return answers.difference(found, expected)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--scale", type=float, default=1.0)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--queries", default=",".join(map(str, range(1, 23))))
    given = arguments.parse_args()
    tpch_data.SCALE_FACTOR = given.scale
    make(given.folder)
    spark = session(2)
    frazil.spark.register(spark)
    queries = [int(number) for number in given.queries.split(",")]
    sides = [on_frazil, on_parquet]
    times, wrong = {}, []
    with frazil.connect(given.folder / "db", read_only=True) as con:
        expected = {number: con.execute(tpch_data.query(number)).fetchall() for number in queries}
    # The first query starts the executors' interpreters.
    for side in sides:
        side(spark, given.folder, tpch_data.query(6))
    for turn in range(given.rounds):
        for number in queries:
            for side in sides if turn % 2 == 0 else sides[::-1]:
                try:
                    took, rows = timed(side, spark, given.folder, tpch_data.query(number))
                except Exception as error:  # noqa: BLE001 - Py4J's errors share no other class
                    wrong.append(f"query {number} {side.__name__}: {str(error)[:500]}")
                    times.setdefault((number, side), []).append(math.inf)
                    continue
                times.setdefault((number, side), []).append(took)
                difference = differs(number, rows, expected[number])
                if difference:
                    wrong.append(f"query {number} {side.__name__}: {difference}")
                print(f"round {turn + 1}, query {number} {side.__name__}: {took:.2f} s", file=sys.stderr, flush=True)
    spark.stop()
    ratios = {}
    for number in queries:
        ours, theirs = (min(times[number, side]) for side in sides)
        ratios[number] = ours / theirs
        spread = max(max(times[number, side]) / min(times[number, side]) for side in sides)
        print(f"query {number:2}: Frazil {ours:6.2f} s, Parquet {theirs:6.2f} s, ratio {ours / theirs:5.2f} (rounds differ by up to {spread:.2f})")
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    print(f"geometric mean {mean:.2f}, bound {BOUNDS['mean']}")
    missed = [f"geometric mean {mean:.2f}"] if mean > BOUNDS["mean"] else []
    missed += [f"query 6 {ratios[6]:.2f}"] if ratios.get(6, 0) > BOUNDS[6] else []
    for line in [*wrong, *(f"bound missed: {what}" for what in missed)]:
        print(line)
    return 1 if wrong or missed else 0


if __name__ == "__main__":
    sys.exit(main())
