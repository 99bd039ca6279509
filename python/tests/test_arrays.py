"""Arrays as Python has them: lists out and in."""

import datetime
import decimal

import pytest

import frazil


@pytest.fixture
def con():
    return frazil.connect()


def test_arrays_are_lists(con):
    row = con.execute("""select array[1, null, 3], '{}'::text[], '{{a,"b c"},{NULL,d}}'::text[], array[1.50, 2.25], array[true, null],
        array[date '2024-02-29'], '[5:6]={1,2}'::bigint[], null::integer[]""").fetchone()
    assert row == ([1, None, 3], [], [["a", "b c"], [None, "d"]], [decimal.Decimal("1.50"), decimal.Decimal("2.25")], [True, None],
                   [datetime.date(2024, 2, 29)], [1, 2], None)


def test_lists_are_parameters(con):
    con.execute("create table t (id integer, names text[], days date[])")
    given = [1, ['a "quoted" one', None, "back\\slash", "{}", ""], [datetime.date(2024, 1, 1), None]]
    con.execute("insert into t values (?, ?, ?)", given)
    con.execute("insert into t values (2, ?, ?)", [[], ()])
    assert con.execute("select * from t order by id").fetchall() == [tuple(given), (2, [], [])]
    assert con.execute("select id from t where id = any (?) order by id", [[2, 3, None]]).fetchall() == [(2,)]
    assert con.execute("select ?::integer[]", [[[1, 2], [3, 4]]]).fetchone() == ([[1, 2], [3, 4]],)
    assert con.execute("select id from t where names = ?", [given[1]]).fetchall() == [(1,)]


@pytest.mark.parametrize("value, state", [([[1, 2], [3]], "22P02"), (["x"], "22P02"), ([1.5], "22P02")])
def test_lists_that_are_no_array_of_the_type_are_refused(con, value, state):
    with pytest.raises(frazil.DataError) as caught:
        con.execute("select ?::integer[]", [value])
    assert caught.value.sqlstate == state


def test_arrays_go_to_frames_as_lists(con):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    result = con.execute("select array[i, null] as a, case when i = 1 then array['x'] end as t from generate_series(1, 2) s (i)")
    lists = result.arrow()
    assert lists.schema.types == [pyarrow.list_(pyarrow.int32()), pyarrow.list_(pyarrow.string())]
    assert lists.to_pylist() == [{"a": [1, None], "t": ["x"]}, {"a": [2, None], "t": None}]
    again = con.execute("select a, a[1], t from lists order by 2").fetchall()
    assert again == [([1, None], 1, ["x"]), ([2, None], 2, None)]
    frame = con.execute("select array[i] as a from generate_series(1, 2) s (i)").df()
    assert isinstance(frame, pandas.DataFrame) and [list(a) for a in frame["a"]] == [[1], [2]]


def test_arrays_of_several_dimensions_are_no_lists_of_arrow(con):
    with pytest.raises(frazil.NotSupportedError):
        con.execute("select array[[1]]").arrow()
