"""Enumerations as Python has them: labels are texts, out and in."""

import pytest

import frazil


@pytest.fixture
def con():
    connection = frazil.connect()
    connection.execute("create type size as enum ('small', 'large', 'huge')")
    connection.execute("create table shirt (id integer, s size, list size[])")
    connection.execute("insert into shirt values (1, 'huge', '{small,NULL}'), (2, 'small', '{}'), (3, null, null)")
    return connection


def test_labels_are_texts(con):
    cursor = con.execute("select s, list from shirt order by s")
    assert [column[1] for column in cursor.description] == ["size", "size[]"]
    assert cursor.fetchall() == [("small", []), ("huge", ["small", None]), (None, None)]
    assert con.execute("select id from shirt where s = ?", ["huge"]).fetchall() == [(1,)]
    con.execute("insert into shirt values (?, ?, ?)", [4, "large", ["huge", "small"]])
    assert con.execute("select s, list from shirt where id = 4").fetchone() == ("large", ["huge", "small"])


@pytest.mark.parametrize("value, state", [("tiny", "22P02"), (1, "42804")])
def test_what_is_no_label_is_refused(con, value, state):
    with pytest.raises(frazil.Error) as caught:
        con.execute("select id from shirt where s = ?", [value])
    assert caught.value.sqlstate == state


def test_frames_have_labels_as_texts(con):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    result = con.execute("select s from shirt order by s")
    labels = result.arrow()
    assert labels.schema.types == [pyarrow.string()]
    assert labels.column(0).to_pylist() == ["small", "huge", None]
    assert con.execute("select count(*) from labels where s::size > 'small'").fetchone() == (1,)
    frame = con.execute("select s from shirt where s is not null order by s").df()
    assert isinstance(frame, pandas.DataFrame) and list(frame["s"]) == ["small", "huge"]
