"""Databases on directories: paths of every kind, in memory, and in a forked child."""

import os
import pathlib

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
