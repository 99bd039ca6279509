"""Which files statements may name, as a connection is opened; and that nothing the process changes later moves a database."""

import os

import pytest

import frazil


def test_a_connection_is_opened_with_the_files_that_it_may_name(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.csv").write_text("x\n1\n")
    (inside / "link.csv").symlink_to(outside / "a.csv")
    for access in ([inside], [os.fsencode(inside)], (str(inside), outside / ".." / "in"), str(inside)):
        with frazil.connect(file_access=access) as con:
            assert con.execute(f"select * from '{inside}/a.csv'").fetchall() == [(1,)]
            for path in (outside / "a.csv", inside / "link.csv", inside / ".." / "out" / "a.csv"):
                with pytest.raises(frazil.ProgrammingError) as raised:
                    con.execute(f"select * from '{path}'")
                assert raised.value.sqlstate == "42501"
                assert raised.value.hint
    with frazil.connect(tmp_path / "db", file_access="off") as con:
        for statement in (
            f"select * from '{inside}/a.csv'",
            f"copy (select 1) to '{inside}/b.csv'",
            f"backup to '{tmp_path}/copy'",
            f"publish to '{tmp_path}/published'",
            "set file_access = 'on'",
        ):
            with pytest.raises(frazil.ProgrammingError) as raised:
                con.execute(statement)
            assert raised.value.sqlstate == "42501"
    with frazil.connect(file_access="on") as con:
        con.execute("set file_access = off")
        with pytest.raises(frazil.ProgrammingError):
            con.read_csv(str(inside / "a.csv")).fetchall()
    for wrong in ([tmp_path / "nothing"], "nothing", 7, [7]):
        with pytest.raises((frazil.Error, TypeError)):
            frazil.connect(file_access=wrong)


def test_a_relative_database_stays_where_it_was_opened(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        with frazil.connect("d") as con:
            con.execute("create table t (a integer)")
            con.execute("insert into t values (?)", (int(name == "a"),))
    monkeypatch.chdir(tmp_path / "a")
    con = frazil.connect("d")
    monkeypatch.chdir(tmp_path / "b")
    before = os.umask(0o077)
    try:
        con.execute("insert into t values (7)")
        con.execute("checkpoint")
        (tmp_path / "a").rename(tmp_path / "c")
        con.execute("insert into t values (8)")
        con.close()
    finally:
        os.umask(before)
    with frazil.connect(tmp_path / "c" / "d") as con:
        assert con.execute("select a from t order by a").fetchall() == [(1,), (7,), (8,)]
    with frazil.connect(tmp_path / "b" / "d") as con:
        assert con.execute("select a from t").fetchall() == [(0,)]
