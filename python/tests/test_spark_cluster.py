"""Spark on two executors that are processes of their own: the 22 queries of TPC-H have Frazil's answers."""

import decimal

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


def rounded(rows):
    return [tuple(float(value) if isinstance(value, decimal.Decimal) else value for value in row) for row in rows]
