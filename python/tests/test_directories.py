"""Databases on directories: paths of every kind, in memory, and in a forked child."""

import concurrent.futures
import os
import pathlib
import warnings

import frazil
import pytest


@pytest.mark.parametrize("kind", [str, os.fsencode, pathlib.Path])
def test_a_path_is_a_str_bytes_or_a_path(tmp_path, kind):
    place = kind(str(tmp_path / "größe"))
    con = frazil.connect(place)
    con.execute("create table t (a integer)")
    con.execute("insert into t values (7)")
    con.close()
    assert (tmp_path / "größe" / "manifest").exists()
    con = frazil.connect(place)
    assert con.execute("select a from t").fetchall() == [(7,)]
    con.close()


def test_what_is_no_path_is_refused():
    with pytest.raises(TypeError):
        frazil.connect(7)


@pytest.mark.parametrize("arguments", [[], [""], [b""], [":memory:"], [None]])
def test_in_memory_nothing_is_left_behind(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    con = frazil.connect(*arguments)
    con.execute("create table t (a integer)")
    con.execute("checkpoint")
    con.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_leaves_the_database_to_its_parent(tmp_path):
    con = frazil.connect(tmp_path / "db")
    con.execute("create table t (a integer)")
    con.execute("insert into t values (1)")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            con.execute("select 1")
        except frazil.Error as error:
            status = 0 if error.sqlstate == "08003" and "forked" in str(error) else 2
        del con
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    con.execute("insert into t values (2)")
    con.execute("checkpoint")
    con.close()
    con = frazil.connect(tmp_path / "db")
    assert con.execute("select count(*) from t").fetchall() == [(2,)]
    con.close()


def test_connections_to_a_directory_share_the_database(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink("db", "link")
    first = frazil.connect("db")
    first.execute("create table t (a integer)")
    others = [frazil.connect(place) for place in (tmp_path / "db", "./db/", b"db", "link")]
    for n, other in enumerate(others):
        other.execute("insert into t values (?)", (n,))
    assert first.execute("select count(*) from t").fetchone() == (4,)
    # Each has its own transaction, which ends with the connection.
    others[0].execute("begin")
    others[0].execute("delete from t")
    statement = others[0].prepare("table t")
    others[0].close()
    assert statement is not None and first.execute("delete from t where a = 0").rowcount == 1
    first.close()
    with pytest.raises(frazil.InterfaceError):
        first.execute("table t")
    others[1].execute("insert into t values (9)")
    for other in others[1:]:
        other.close()
        other.close()
    with frazil.connect("db") as con:
        assert con.execute("select a from t order by a").fetchall() == [(1,), (2,), (3,), (9,)]


def test_a_notebook_cell_runs_again(tmp_path):
    for turn in range(3):
        con = frazil.connect(tmp_path / "db")
        con.execute("create table if not exists t (a integer)")
        con.execute("insert into t values (1)")
        assert con.execute("select count(*) from t").fetchone() == (turn + 1,)
    with frazil.connect(tmp_path / "db") as inner:
        inner.execute("insert into t values (1)")
    assert con.execute("select count(*) from t").fetchone() == (4,)
    other = con.duplicate()
    con.close()
    with pytest.raises(frazil.Error) as caught:
        other.execute("table t")
    assert caught.value.sqlstate == "08003", "the last connection closes the database of its duplicates"


@pytest.mark.parametrize("options", [{"read_only": True}, {"file_access": "off"}])
def test_other_options_are_refused_with_the_way_out(tmp_path, options):
    con = frazil.connect(tmp_path / "db")
    con.execute("create table t (a integer)")
    with pytest.raises(frazil.OperationalError) as caught:
        frazil.connect(tmp_path / "db", **options)
    error = caught.value
    assert error.sqlstate == "55006" and str(tmp_path / "db") in str(error) and "close" in error.hint, str(error)
    con.close()
    with frazil.connect(tmp_path / "db", **options) as a, frazil.connect(tmp_path / "db", **options) as b:
        assert a.execute("table t").fetchall() == b.execute("table t").fetchall() == []


def test_threads_share_a_directory(tmp_path):
    frazil.connect(tmp_path / "db").execute("create table t (a integer)")

    def work(_):
        for _ in range(5):
            with frazil.connect(tmp_path / "db") as con:
                con.execute("insert into t values (1)")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    with frazil.connect(tmp_path / "db") as con:
        assert con.execute("select count(*) from t").fetchone() == (20,)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_joins_nothing_of_its_parent(tmp_path):
    con = frazil.connect(tmp_path / "db")
    con.execute("create table t (a integer)")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            frazil.connect(tmp_path / "db")
        except frazil.Error as error:
            # The process that has the directory open is the parent.
            status = 0 if error.sqlstate == "55006" and f"process {os.getppid()}" in str(error) else 2
        with frazil.connect(tmp_path / "own") as own, frazil.connect(tmp_path / "own") as shared:
            own.execute("create table t (a integer)")
            status += 4 * len(shared.execute("table t").fetchall())
        del con
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    with frazil.connect(tmp_path / "db") as other:
        other.execute("insert into t values (2)")
    assert con.execute("table t").fetchall() == [(2,)]
    con.close()
    with frazil.connect(tmp_path / "own") as own:
        assert own.execute("table t").fetchall() == []


def damaged(place):
    """A database with a damaged table t, and a whole one."""
    with frazil.connect(place) as con:
        con.execute("create table t (a integer)")
        con.execute("insert into t select * from generate_series(1, 1000)")
        con.execute("freeze table t")
    for segment in (place / "segments").iterdir():
        segment.write_bytes(b"nothing")
    with pytest.warns(frazil.Warning), frazil.connect(place) as con:
        con.execute("create table u (a integer)")


def test_damaged_tables_are_warned_of(tmp_path):
    damaged(tmp_path / "db")
    with pytest.warns(frazil.Warning, match=r"(?s)^XX001: .*\"t\"") as warned:
        con = frazil.connect(tmp_path / "db")
    assert len(warned) == 1 and warned[0].filename == __file__
    assert con.execute("table u").fetchall() == []
    con.close()
    # A filter makes it an exception; nothing is left open then.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(frazil.Warning):
            frazil.connect(tmp_path / "db")
    with pytest.warns(frazil.Warning), frazil.connect(tmp_path / "db", read_only=True) as con:
        assert con.execute("table u").fetchall() == []
