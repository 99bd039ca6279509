"""Prepared statements: compiled once, run many times."""

import frazil
import pytest


def test_a_statement_is_prepared_once_and_run_with_many_parameters(con):
    con.execute("create table t (a integer not null, b varchar(5), c decimal(6,2), d date)")
    insert = con.prepare("insert into t values ($1, $2, $3, $4)")
    assert insert.execute([1, "one", 1.5, "2020-01-02"]).rowcount == 1
    assert insert.executemany([[i, None, i, None] for i in range(2, 100)]) == 98
    total = con.prepare("select count(*), sum(c) from t where a > $1")
    assert total.execute([50]).fetchall() == con.execute("select count(*), sum(c) from t where a > 50").fetchall()
    with pytest.raises(frazil.Error) as error:
        insert.execute([None, "none", 1, None])
    assert error.value.sqlstate == "23502"
    with pytest.raises(frazil.Error) as error:
        insert.execute([1, "too long", 1, None])
    assert error.value.sqlstate == "22001"
    assert total.execute([0]).fetchone()[0] == 99


def test_executemany_runs_a_statement_for_each_set_of_parameters(con):
    con.execute("create table t (a bigint)")
    cursor = con.cursor()
    cursor.executemany("insert into t values ($1)", [[i] for i in range(1000)])
    assert cursor.rowcount == 1000
    assert con.execute("select sum(a) from t").fetchone()[0] == 499500
    with pytest.raises(frazil.Error):
        cursor.executemany("select 1; select 2", [[]])
