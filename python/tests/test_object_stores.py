"""Files of an object store: read, written, refused. The store is moto's server for S3 in this process, or one that answers as it is told."""

import os
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import book
import frazil
import pytest

SECRET = "a-secret-that-nobody-shows"


@pytest.fixture
def variables(monkeypatch):
    """Sets the environment that a store at a port is found by."""

    def set_for(port, **more):
        usual = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }
        for name, value in {**usual, **more}.items():
            monkeypatch.setenv(name, value)

    return set_for


@pytest.fixture(scope="module")
def moto():
    """A store with the bucket `lake`: a client, and the port."""
    server = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    _, port = running.get_host_and_port()
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key=SECRET,
    )
    client.create_bucket(Bucket="lake")
    yield client, port
    running.stop()


@pytest.fixture
def store(moto, variables):
    client, port = moto
    variables(port)
    return client


@pytest.fixture
def told(variables):
    """Starts a store that answers the n-th request by (status, body) of a function; None: never."""
    servers, ended = [], threading.Event()

    def start(answer):
        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                self.server.requests += 1
                answered = answer(self.server.requests)
                if answered is None:
                    ended.wait(60)
                    return
                status, body = answered
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", '"v1"')
                self.send_header("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
                if status == 206:
                    self.send_header("Content-Range", f"bytes 0-{len(body) - 1}/{len(body)}")
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads, server.requests = True, 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        variables(server.server_port)
        return server

    yield start
    ended.set()
    for server in servers:
        server.shutdown()


@pytest.fixture
def rows(con):
    con.execute("create table t (i integer, s text, d date)")
    con.execute("insert into t select i, 'row ' || i, date '2024-01-01' + i / 1000 from generate_series(1, 200000) r(i)")
    return con


def refused(con, sql):
    with pytest.raises(frazil.Error) as caught:
        con.execute(sql).fetchall()
    assert SECRET not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("form", ["csv", "parquet", "json", "csv.gz", "csv.zst"])
def test_rows_go_out_and_come_back(store, rows, form):
    rows.execute(f"copy t to 's3://lake/out/t.{form}'")
    read = rows.execute(f"select count(*), sum(i), max(s) from 's3://lake/out/t.{form}'").fetchall() if not form.startswith("csv") else None
    assert read in (None, [(200000, 20000100000, "row 99999")])
    rows.execute("create table u (i integer, s text, d date)")
    rows.execute(f"copy u from 's3://lake/out/t.{form}'")
    assert rows.execute("select count(*) from (table t except table u) x").fetchone() == (0,)


def test_large_objects_come_and_go_in_parts(store, con):
    con.execute("copy (select i, repeat('x', 90) as s from generate_series(1, 400000) r(i)) to 's3://lake/large.csv' (header)")
    assert store.head_object(Bucket="lake", Key="large.csv")["ETag"].endswith('-5"')
    assert con.execute("select count(*), sum(i), min(length(s)) from 's3://lake/large.csv'").fetchone() == (400000, 80000200000, 90)


def test_patterns_and_functions(store, rows):
    for part in range(3):
        rows.execute(f"copy (select * from t where i % 3 = {part}) to 's3://lake/parts/part-{part}.parquet'")
        rows.execute(f"copy (select * from t where i % 3 = {part}) to 's3://lake/parts/part-{part}.csv' (header)")
    assert rows.execute("select count(*) from 's3://lake/parts/part-*.parquet'").fetchone() == (200000,)
    assert rows.execute("select count(*) from read_csv('s3://lake/parts/part-[01].csv')").fetchone() == (133333,)
    assert rows.execute("select sum(i) from 's3://lake/**/part-?.parquet' where i > 199990").fetchone() == (1999955,)


def test_what_others_wrote_is_read(store, con):
    pyarrow = pytest.importorskip("pyarrow")
    from io import BytesIO

    from pyarrow import parquet

    for year in (2023, 2024):
        file = BytesIO()
        parquet.write_table(pyarrow.table({"a": list(range(year))}), file, row_group_size=500)
        store.put_object(Bucket="lake", Key=f"others/year={year}/a b%20ü.parquet", Body=file.getvalue())
    con.execute("create table t as select * from 's3://lake/others/*/*.parquet' where year = 2024")
    assert con.execute("select count(*), max(a), min(year) from t").fetchone() == (2024, 2023, 2024)


def test_an_object_is_whole_or_not_there(store, rows):
    sql = "copy (select 1 / (i - 190000), repeat('x', 100) from t) to 's3://lake/half.csv'"
    assert refused(rows, sql).sqlstate == "22012"
    assert "Contents" not in store.list_objects_v2(Bucket="lake", Prefix="half")
    assert not store.list_multipart_uploads(Bucket="lake").get("Uploads")


def test_what_is_wrong_is_said(store, rows, tmp_path):
    assert refused(rows, "select * from 's3://lake/none.csv'").sqlstate == "58P01"
    assert refused(rows, "select * from 's3://lake/none-*.csv'").sqlstate == "58P01"
    assert refused(rows, "select * from 's3://nobucket/x.csv'").sqlstate == "58P01"
    assert refused(rows, "select * from 's3://nobucket/*.csv'").sqlstate == "58P01"
    assert refused(rows, "copy t to 's3://nobucket/x.csv'").sqlstate == "58P01"
    with frazil.connect(file_access="off") as con:
        assert refused(con, "select * from 's3://lake/out/t.csv'").sqlstate == "42501"
    with frazil.connect(file_access=[str(tmp_path)]) as con:
        assert refused(con, "select * from 's3://lake/out/t.csv'").sqlstate == "42501"


def test_an_object_that_changes_is_never_mixed(store, rows):
    rows.execute("copy t to 's3://lake/changing.parquet'")
    for _ in range(3):
        rows.execute("copy (select * from t limit 10) to 's3://lake/changing.parquet'")
        assert rows.execute("select count(*) from 's3://lake/changing.parquet'").fetchone() == (10,)
        rows.execute("copy t to 's3://lake/changing.parquet'")
        assert rows.execute("select count(distinct i) from 's3://lake/changing.parquet'").fetchone() == (200000,)


def test_wrong_credentials_are_an_error_with_a_way_out(told, con):
    told(lambda _: (403, b"<Error><Code>InvalidAccessKeyId</Code><Message>" + SECRET.encode() + b"</Message></Error>"))
    for sql in ("select * from 's3://lake/*.csv'", "copy (select 1) to 's3://lake/x.csv'"):
        error = refused(con, sql)
        assert error.sqlstate == "42501"
        assert "InvalidAccessKeyId" in str(error)
        assert "AWS_ACCESS_KEY_ID" in str(error)


def test_a_store_that_is_busy_is_asked_again(told, con):
    body = b"a\n1\n2\n"
    server = told(lambda number: (503, b"<Error><Code>SlowDown</Code></Error>") if number % 3 else (206, body))
    assert con.execute("select sum(a) from 's3://lake/x.csv'").fetchone() == (3,)
    assert server.requests >= 6


def test_a_statement_timeout_ends_the_waiting_for_a_store(told, con):
    told(lambda _: None)
    con.execute("set statement_timeout = '1s'")
    begun = time.monotonic()
    assert refused(con, "select * from 's3://lake/x.csv'").sqlstate == "57014"
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("sql", ["select * from 's3://lake/x.csv'", "copy (select 1) to 's3://lake/x.csv'"])
def test_ctrl_c_ends_the_waiting_for_a_store(told, sql):
    server = told(lambda _: None)
    with subprocess.Popen(
        [book.program(), "-X", "-c", sql], env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as shell:
        until = time.monotonic() + 60
        while not server.requests and time.monotonic() < until:
            time.sleep(0.01)
        assert server.requests
        pressed = time.monotonic()
        shell.send_signal(signal.SIGINT)
        _, said = shell.communicate(timeout=60)
        # The program's own end is in it.
        assert time.monotonic() - pressed < 1.5
    assert "57014" in said or "cancel" in said, said
