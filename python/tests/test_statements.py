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


def test_dates_that_python_has_no_object_for_are_refused_by_name(con):
    for first, last in [("date '0001-01-01'", "date '9999-12-31'"),
                        ("timestamp '0001-01-01 00:00:00'", "timestamp '9999-12-31 23:59:59.999999'")]:
        assert len(con.execute(f"select {first}, {last}").fetchone()) == 2
        for beyond in [f"{first} - 1" if first.startswith("date") else f"{first} - interval '1 us'",
                       f"{last} + 1" if first.startswith("date") else f"{last} + interval '1 us'"]:
            with pytest.raises(frazil.DataError, match="out of Python's range") as caught:
                con.execute(f"select {beyond}").fetchall()
            assert caught.value.sqlstate == "22008"
            assert con.execute(f"select cast({beyond} as text)").fetchone()[0]
    with pytest.raises(frazil.DataError, match="0044-03-15 BC"):
        con.execute("select date '0044-03-15 BC'").fetchone()


def test_numbers_are_taken_for_text(con):
    con.execute("create table texts (v text, w varchar(4), c char(2))")
    con.execute("insert into texts values ($1, $2, $3)", [17, 1.5, True and 7])
    assert con.execute("select v, w, c from texts where v = $1", [17]).fetchall() == [("17", "1.5", "7")]
    assert con.execute("select $1::text || '.'", [False]).fetchone() == ("false.",)
    with pytest.raises(frazil.DataError) as caught:
        con.execute("insert into texts (w) values ($1)", [12345])
    assert caught.value.sqlstate == "22001"
