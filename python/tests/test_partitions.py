"""Parts of tables: other processes read them, and together they have the rows of their snapshot, each once."""

import concurrent.futures
import datetime
import decimal
import multiprocessing
import os
import pickle
import threading

import frazil
import pyarrow
import pytest


@pytest.fixture
def folder(tmp_path):
    """A directory with a table of 300,000 rows, whose blocks are in the order of k."""
    place = tmp_path / "sales"
    with frazil.connect(place) as con:
        con.execute("""
            create table t (k integer, v decimal(12, 2), s text, d date);
            insert into t select i, i / 4.0, case when i % 10 > 0 then 'group ' || i % 7 end, date '2020-01-01' + i / 1000
            from generate_series(1, 300000) r(i);
            freeze table t;
            delete from t where k % 1000 = 5;
            create view w as select * from t;
        """)
    return place


def rows_of(parts):
    tables = [part.read().read_all() for part in parts]
    return sorted(row for table in tables for row in zip(*(column.to_pylist() for column in table.columns)))


def read_pickled(text):
    part = pickle.loads(text)
    table = part.read().read_all()
    return table.num_rows, part.counts


def test_parts_have_each_row_once(folder):
    parts = frazil.partitions(folder, "t", ["k", "v"], parts=3)
    assert len(parts) == 3
    assert [part.counts for part in parts] == [None] * 3
    found = rows_of(parts)
    with frazil.connect(folder, read_only=True) as con:
        assert found == con.execute("select k, v from t order by k").fetchall()
    assert sum(part.counts.rows for part in parts) == 300000
    assert all(part.bytes > 0 and part.rows >= part.counts.rows - 1000 for part in parts)
    assert str(parts[0]).startswith("<frazil.Part of t: chunks 0 to 1 of commit ")


def test_filters_and_columns_reach_the_scan(folder):
    all_of_it = frazil.partitions(folder, "t")
    assert [type(part) for part in all_of_it] == [frazil.Part]
    rows_of(all_of_it)
    filters = [("k", ">=", 290000), ("s", "in", ["group 3", "group 4", None]), ("d", "<", datetime.date(2020, 10, 20)), ("v", "is not null")]
    some = frazil.partitions(str(folder), "t", ["v"], filters)
    found = rows_of(some)
    with frazil.connect(folder, read_only=True) as con:
        sql = "select v from t where k >= 290000 and s in ('group 3', 'group 4') and d < '2020-10-20' order by v"
        assert found == con.execute(sql).fetchall() and len(found) > 100
    assert sum(part.counts.bytes for part in some) * 4 < all_of_it[0].counts.bytes
    assert sum(part.counts.chunks for part in some) == 1
    assert rows_of(frazil.partitions(folder, "t", ["k"], [("v", "=", decimal.Decimal("0.25"))])) == [(1,)]
    assert frazil.partitions(folder, "t", ["k"], [("k", ">", 5), ("k", "<", 5)]) == []
    as_texts = frazil.partitions(folder, "t", ["d"], [("k", "<=", 1)], texts=["d"])
    assert rows_of(as_texts) == [("2020-01-01",)]


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_other_processes_read_parts(folder, start):
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"the system does not {start}")
    parts = frazil.partitions(folder, "t", rows_per_part=70000)
    assert len(parts) == 5
    parts[0].read().read_all()
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context(start)) as pool:
        found = list(pool.map(read_pickled, map(pickle.dumps, parts)))
    assert sum(rows for rows, _ in found) == 299700
    assert all(isinstance(counts, frazil.ReadCounts) and counts.chunks == 1 for _, counts in found)


def test_threads_read_parts_side_by_side(folder):
    parts = frazil.partitions(folder, "t", ["k"], rows_per_part=1)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        tables = list(pool.map(lambda part: part.read(threads=1).read_all(), parts * 20))
    assert sum(table.num_rows for table in tables) == 299700 * 20


def test_a_snapshot_that_is_gone_is_an_error_elsewhere(folder):
    parts = frazil.partitions(folder, "t", ["k"])
    with frazil.connect(folder) as con:
        con.execute("delete from t where k > 1000")
    # This process holds the snapshot.
    assert len(rows_of(parts)) == 299700
    assert len(rows_of(frazil.partitions(folder, "t", ["k"]))) == 999
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(frazil.OperationalError, match="the snapshot of the part .* is gone"):
            pool.submit(read_pickled, pickle.dumps(parts[0])).result()


def test_parts_of_a_published_folder_are_read_as_long_as_keep_says(folder, tmp_path):
    published = tmp_path / "published"
    with frazil.connect(folder) as con, concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        con.execute(f"publish to '{published}' keep 2")
        parts = frazil.partitions(published, "t", ["k"])
        assert [part.path for part in parts] == [str(published / "snapshots" / "00000001")]
        con.execute(f"delete from t where k > 1000; publish to '{published}' incremental keep 2")
        assert pool.submit(read_pickled, pickle.dumps(parts[0])).result()[0] == 299700
        assert len(rows_of(frazil.partitions(published, "t", ["k"]))) == 999
        assert frazil.partitions(parts[0].path, "t", ["k"])[0].path == parts[0].path
        con.execute(f"publish to '{published}' incremental keep 1")
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(frazil.OperationalError, match="has no snapshot 1"):
            pool.submit(read_pickled, pickle.dumps(parts[0])).result()


def test_what_is_wrong_is_said(folder, tmp_path):
    def refused(*arguments, **named):
        with pytest.raises((frazil.Error, ValueError)) as caught:
            frazil.partitions(*arguments, **named)
        return str(caught.value).splitlines()[0]

    assert refused(folder, "w") == '42809: "w" is not a table'
    assert refused(folder, "x") == '42P01: table "x" does not exist'
    assert refused(folder, "t", ["a"]) == '42703: table "t" has no column "a"'
    assert refused(folder, "t", [("k")] * 2) == '42701: column "k" is named twice'
    assert refused(folder, "t", []) == '22023: no column of table "t" is named to be read'
    assert refused(folder, "t", filters=[("k", "~", 1)]).startswith("('k', '~', 1) is not a filter: ")
    assert refused(folder, "t", filters=[("k",)]).startswith("('k',) is not a filter: ")
    assert refused(folder, "t", filters=[("k", "=")]).startswith("('k', '=') is not a filter: ")
    assert "NULL" in refused(folder, "t", filters=[("k", "=", None)])
    assert "parts is at least 1" in refused(folder, "t", parts=0)
    assert "give one of them" in refused(folder, "t", parts=1, rows_per_part=5)
    assert "does not exist" in refused(tmp_path / "nowhere", "t")


def test_every_type_travels(folder):
    with frazil.connect(folder) as con:
        con.execute("""
            create type mood as enum ('sad', 'ok');
            create table e (b boolean, i smallint, l bigint, r real, f double precision, x decimal(30, 3), y numeric, c char(3), a bytea,
                h time, p timestamp, z timestamptz, v interval, u uuid, m mood, q integer[], j jsonb);
            insert into e values (true, 1, 2, 1.5, 2.5, 1.125, 0.5, 'a', '\\x00', '12:00', '2020-01-01', '2020-01-01 00:00+00', '1 day',
                '00000000-0000-0000-0000-000000000001', 'ok', '{1,null}', '{"a": 1}');
            insert into e (b) values (null), (null);
        """)
        expected = con.execute("select * from e").arrow()
    (part,) = frazil.partitions(folder, "e")
    assert isinstance(part.read(), pyarrow.RecordBatchReader)
    assert part.read().read_all().equals(expected)


def test_a_forked_child_reads_what_its_parent_reads(folder):
    parts = frazil.partitions(folder, "t", ["k"], parts=2)
    parts[0].read().read_all()
    stop = threading.Event()
    reading = threading.Thread(target=lambda: [parts[1].read().read_all() for _ in iter(stop.is_set, True)])
    reading.start()
    try:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    status = 0 if parts[0].read().read_all().num_rows > 100000 else 2
                finally:
                    os._exit(status)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        reading.join()
