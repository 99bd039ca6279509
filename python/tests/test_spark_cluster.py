"""Spark on two executors that are processes of their own: the 22 queries of TPC-H have Frazil's answers."""

import decimal
import os
import signal
import subprocess

import frazil
import pytest

import answers
import spark_session
import tpch_data

spark_session.skip_without_spark()
pytestmark = pytest.mark.filterwarnings("ignore")

#: Queries with averages and quotients, whose digits Spark limits otherwise.
ROUNDED = {1, 8, 14, 17}


@pytest.fixture(scope="module")
def spark():
    with spark_session.session("local-cluster[2,1,1024]") as session:
        yield session


@pytest.fixture(scope="module")
def tpch(tmp_path_factory):
    """A published snapshot."""
    files = tpch_data.generate(tmp_path_factory.mktemp("tpch"))
    place = files / "published"
    with frazil.connect(files / "db") as con:
        for table in tpch_data.TABLES:
            con.execute(tpch_data.ddl(table))
            con.execute(f"insert into {table} select * from '{files / table}.parquet'")
            con.execute(f"freeze table {table}" + (" order by l_shipdate" if table == "lineitem" else ""))
        con.execute(f"publish to '{place}'")
    return place


def test_tpch_has_the_same_answers(spark, tpch):
    import frazil.spark

    failed = {}
    with frazil.connect(tpch, read_only=True) as con:
        for number in range(1, 23):
            text = tpch_data.query(number)
            expected = con.execute(text).fetchall()
            found = [tuple(row) for row in frazil.spark.sql(spark, tpch, text).collect()]
            if number in ROUNDED:
                expected, found = rounded(expected), rounded(found)
            wrong = answers.difference(found, expected)
            if wrong:
                failed[number] = wrong
    assert failed == {}


def test_an_executor_that_is_killed_changes_no_answer(spark, tpch, tmp_path):
    """Spark runs the task again that an executor left in the middle of its rows, and what it had read is not counted twice."""
    killed = str(tmp_path / "killed")

    def kills_its_executor(batches):
        for at, batch in enumerate(batches):
            if at == 1:
                try:
                    os.close(os.open(killed, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    yield batch
                    continue
                # The parent forks the interpreters of tasks; its own is the executor.
                parent, command = process("ppid=", os.getppid()), "args="
                assert "CoarseGrainedExecutorBackend" in process(command, parent)
                os.kill(int(parent), signal.SIGKILL)
            yield batch

    def process(what, pid):
        return subprocess.run(["ps", "-ww", "-o", what, "-p", str(pid)], capture_output=True, text=True, check=True).stdout.strip()

    lines = spark_session.load(spark, tpch, "lineitem", columns="l_orderkey,l_quantity")
    counted = lines.mapInArrow(kills_its_executor, lines.schema).selectExpr("count(*)", "sum(l_orderkey)", "sum(l_quantity)").first()
    with frazil.connect(tpch, read_only=True) as con:
        expected = con.execute("select count(*), sum(l_orderkey), sum(l_quantity) from lineitem").fetchone()
    assert os.path.exists(killed)
    assert tuple(counted) == expected


def rounded(rows):
    return [tuple(float(value) if isinstance(value, decimal.Decimal) else value for value in row) for row in rows]
