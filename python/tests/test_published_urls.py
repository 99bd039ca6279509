"""PUBLISH TO a URL and the readers of it. The store is moto's server for S3, in a process of its own."""

import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

import frazil
import pytest

pytest.importorskip("moto.server", reason="moto[server] is not installed")
boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")

SECRET = "a-secret-that-nobody-shows"

SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
server.start()
print(*server.get_host_and_port(), flush=True)
sys.stdin.read()
server.stop()
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A client of a store with the bucket `lake`, by whose address and key this process and its children find it."""
    running = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # The server says something of its own first.
    host, port = next(line.split() for line in running.stdout if line.startswith("127."))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patched.setenv("AWS_ALLOW_HTTP", "true")
        patched.setenv("AWS_REGION", "us-east-1")
        patched.setenv("AWS_ACCESS_KEY_ID", "key")
        patched.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patched.setenv("FRAZIL_CACHE_DIR", str(tmp_path_factory.mktemp("copies")))
        client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
        client.create_bucket(Bucket="lake")
        yield client
    running.stdin.close()
    running.wait()


@pytest.fixture(scope="module")
def shop(store, tmp_path_factory):
    """A database with 200,000 rows, published to s3://lake/shop."""
    with frazil.connect(tmp_path_factory.mktemp("databases") / "shop") as con:
        con.execute("create table t (i integer primary key, s text, d date)")
        con.execute("insert into t select i, 'row ' || i, date '2024-01-01' + i / 1000 from generate_series(1, 200000) i")
        con.execute("freeze table t")
        con.execute("publish to 's3://lake/shop' keep 3")
        yield con


SUMS = "select count(*), sum(i), max(s), min(d) from t"


def test_a_published_url_is_read_as_a_folder_is(shop):
    sums = shop.execute(SUMS).fetchone()
    for url in ("s3://lake/shop", "s3://lake/shop/", "s3://lake/shop/snapshots/00000001"):
        with frazil.connect(url, read_only=True) as reader:
            assert reader.execute(SUMS).fetchone() == sums
            assert reader.execute("select s from t where i = 4711").fetchone() == ("row 4711",)
            with pytest.raises(frazil.Error) as caught:
                reader.execute("delete from t")
            assert caught.value.sqlstate == "25006"
    with frazil.connect() as other:
        assert other.execute(SUMS.replace("from t", "from published('s3://lake/shop', 't')")).fetchone() == sums


def test_an_incremental_publish_sends_what_has_changed_and_readers_follow(shop):
    with frazil.connect("s3://lake/shop", read_only=True) as reader:
        before = reader.execute(SUMS).fetchone()
        shop.execute("delete from t where i <= 2000")
        snapshot, _, _, copied, whole = shop.execute("publish to 's3://lake/shop' incremental keep 3").fetchone()
        assert snapshot == 2 and copied * 20 <= whole, (copied, whole)
        time.sleep(1.1)
        after = reader.execute(SUMS).fetchone()
        assert after == shop.execute(SUMS).fetchone() != before
    with frazil.connect("s3://lake/shop/snapshots/00000001", read_only=True) as first:
        assert first.execute(SUMS).fetchone() == before


def read(part):
    return sum(part.read().read_all().column("i").to_pylist())


def test_parts_of_a_url_are_read_by_other_processes(shop):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parts = frazil.partitions("s3://lake/shop", "t", ["i"], rows_per_part=65536)
    assert len(parts) > 1 and all(part.path.startswith("s3://lake/shop/snapshots/") for part in parts)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert sum(pool.map(read, parts)) == shop.execute("select sum(i) from t").fetchone()[0]


def refused(call):
    with pytest.raises(frazil.Error) as caught:
        call()
    assert SECRET not in str(caught.value)
    return caught.value.sqlstate


def test_what_is_wrong_is_said(store, shop, tmp_path, monkeypatch):
    assert refused(lambda: frazil.connect("s3://lake/nothing", read_only=True)) == "58P01"
    assert refused(lambda: frazil.connect("s3://nobucket/shop", read_only=True)) == "58P01"
    assert refused(lambda: frazil.connect("s3://lake/shop")) == "0A000"
    assert refused(lambda: shop.execute("publish to 's3://nobucket/shop'")) == "58P01"
    assert refused(lambda: shop.execute("publish to 's3://key:secret@lake/shop'")) == "22023"
    with frazil.connect(tmp_path / "closed", file_access="off") as con:
        assert refused(lambda: con.execute("publish to 's3://lake/other'")) == "42501"
        assert refused(lambda: con.execute("select * from published('s3://lake/shop', 't')")) == "42501"
    assert not pathlib.Path("s3:").exists()
    assert "Uploads" not in store.list_multipart_uploads(Bucket="lake")
