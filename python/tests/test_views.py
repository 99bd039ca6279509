"""Views: read like tables, and what a program sees of them."""

import frazil
import pytest


def refused(con, sql):
    with pytest.raises(frazil.Error) as error:
        con.execute(sql)
    return error.value


def test_a_view_is_read_like_a_table(con):
    con.execute("create table t (a integer not null, b varchar(5), d decimal(6,2))")
    con.execute("insert into t values (1, 'x', 1.5), (2, null, 2.5)")
    con.execute("create view v (n, name, twice) as select a, b, d * 2 from t")
    cursor = con.execute("select * from v order by n")
    assert [column[0] for column in cursor.description] == ["n", "name", "twice"]
    assert [tuple(map(str, row)) for row in cursor.fetchall()] == [("1", "x", "3.00"), ("2", "None", "5.00")]
    assert con.execute("describe v").fetchall()[1][:2] == ("name", "varchar(5)")
    assert ("v",) in con.execute("show tables").fetchall()


def test_a_prepared_statement_notices_that_its_view_was_replaced(con):
    con.execute("create table t (a integer); insert into t values (1), (2), (3)")
    con.execute("create view v as select a from t where a > 1")
    query = con.prepare("select sum(a) from v where a <> $1")
    assert query.execute([0]).fetchone() == (5,)
    con.execute("create or replace view v as select a + 10 as a from t")
    assert query.execute([11]).fetchone() == (25,)
    con.execute("drop view v")
    with pytest.raises(frazil.Error) as error:
        query.execute([0])
    assert error.value.sqlstate == "42P01"


def test_errors_say_what_depends_on_what(con):
    con.execute("create table t (a integer); create view v as select a from t; create view w as table v")
    error = refused(con, "drop table t")
    assert error.sqlstate == "2BP01" and "view w depends on view v" in str(error)
    assert refused(con, "drop table v").sqlstate == "42809"
    assert refused(con, "create or replace view v as select a::text as a from t").sqlstate == "42P16"
    assert refused(con, "insert into v values (1)").sqlstate == "0A000"
    con.execute("drop table t cascade")
    assert refused(con, "select * from w").sqlstate == "42P01"
