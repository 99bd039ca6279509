"""PostgreSQL's clients, unmodified, with `frazil serve`. A client that is not installed is skipped, by its name.

The program is the one of the environment variable FRAZIL_PROGRAM, which `cargo xtask test` sets; without it, the one of the
profile `checked`."""

import asyncio
import io
import os
import pathlib
import shutil
import subprocess

import pytest

PROGRAM = pathlib.Path(
    os.environ.get("FRAZIL_PROGRAM", pathlib.Path(__file__).parents[2] / "target/checked/frazil")
)


@pytest.fixture(scope="module")
def port():
    """The port of a server of an empty database in memory."""
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    command = [str(PROGRAM), "serve", "--listen", "127.0.0.1:0", "--trust-loopback"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        line = server.stdout.readline()
        yield int(line.split(" at 127.0.0.1:")[1].split()[0])
        server.kill()


def dsn(port):
    return f"host=127.0.0.1 port={port} dbname=frazil user=me"


def url(port, driver=""):
    return f"postgresql{driver}://me@127.0.0.1:{port}/frazil"


def test_psycopg(port):
    psycopg = pytest.importorskip("psycopg")
    from psycopg.rows import dict_row

    with psycopg.connect(dsn(port)) as connection:
        connection.execute("create table three (a int primary key, b text)")
        with connection.cursor() as cursor:
            cursor.executemany("insert into three values (%s, %s)", [(n, str(n)) for n in range(100)])
            with cursor.copy("copy three from stdin (format binary)") as copy:
                copy.set_types(["int4", "text"])
                copy.write_row((100, None))
            with cursor.copy("copy three to stdout") as copy:
                assert sum(1 for _ in copy.rows()) == 101
        with connection.pipeline():
            cursors = [connection.execute("select %s::int", (n,)) for n in range(20)]
        assert [cursor.fetchone() for cursor in cursors] == [(n,) for n in range(20)]
        with connection.cursor("named", scrollable=True) as cursor:
            cursor.execute("select a from three order by a")
            assert len(cursor.fetchmany(30)) == 30
            cursor.scroll(-10)
            assert cursor.fetchone() == (20,)
        with pytest.raises(psycopg.errors.UniqueViolation) as caught, connection.transaction():
            connection.execute("insert into three values (1)")
        assert caught.value.diag.constraint_name == "three_pkey"
        row = connection.cursor(row_factory=dict_row, binary=True).execute("select 1 as one").fetchone()
        assert row == {"one": 1}


def test_latin1(port):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(dsn(port), client_encoding="latin1", autocommit=True) as connection:
        assert connection.info.encoding == "iso8859-1"
        for binary in (False, True):
            given = ("é", ["ü", None, "a"])
            row = connection.execute("select %s::text, %s::text[], length(%s)", (*given, "é"), binary=binary).fetchone()
            assert row == (*given, 1)
        with pytest.raises(psycopg.errors.UntranslatableCharacter):
            connection.execute(r"select U&'\20ac'")
        with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="é"):
            connection.execute("select 'é'::integer")
        connection.execute("create temporary table é (ü text)")
        with connection.cursor().copy("copy é from stdin") as copy:
            copy.write("ÿ\n")
        with connection.cursor().copy("copy é to stdout") as copy:
            assert b"".join(bytes(piece) for piece in copy) == b"\xff\n"
        connection.execute("set client_encoding to utf8")
        assert connection.execute("select ü || '€' from é").fetchone() == ("ÿ€",)
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="LATIN2"):
            connection.execute("set client_encoding to 'LATIN2'")


def test_psql_in_latin1(port):
    psql = shutil.which("psql") or pytest.skip("psql is not installed")
    script = "\\encoding\nselect 'é' as ü, length('é');\n".encode("latin1")
    environment = os.environ | {"PGCLIENTENCODING": "LATIN1"}
    done = subprocess.run([psql, "-XqtA", dsn(port)], input=script, capture_output=True, env=environment, timeout=60)
    assert (done.stdout, done.stderr) == (b"LATIN1\n\xe9|1\n", b"")


def test_psycopg2(port):
    psycopg2 = pytest.importorskip("psycopg2")
    from psycopg2 import extras

    connection = psycopg2.connect(dsn(port))
    cursor = connection.cursor()
    cursor.execute("create table two (a int primary key, b text)")
    extras.execute_values(cursor, "insert into two values %s", [(n, str(n)) for n in range(100)])
    extras.execute_batch(cursor, "update two set b = %s where a = %s", [("x", 1), ("y", 2)])
    cursor.execute("select b from two where a = any(%s) order by a", ([1, 2],))
    assert cursor.fetchall() == [("x",), ("y",)]
    connection.commit()
    for options in ({}, {"scrollable": True}):
        with connection.cursor("named", **options) as named:
            named.itersize = 10
            named.execute("select a from two order by a")
            assert len(list(named)) == 100
            if options:
                named.scroll(7, mode="absolute")
                assert named.fetchone() == (7,)
    copied = io.StringIO()
    cursor.copy_expert("copy two to stdout csv", copied)
    assert copied.getvalue().count("\n") == 100
    cursor.copy_from(io.StringIO("1000\tz\n"), "two")
    with pytest.raises(psycopg2.errors.DivisionByZero):
        cursor.execute("select 1/0")
    connection.rollback()
    connection.set_session(isolation_level="REPEATABLE READ", readonly=True)
    cursor.execute("select %s::jsonb, %s, array[1, null]", (extras.Json({"a": 1}), True))
    assert cursor.fetchone() == ({"a": 1}, True, [1, None])
    extras.register_default_jsonb(connection)
    connection.close()


def test_asyncpg(port):
    asyncpg = pytest.importorskip("asyncpg")
    where = {"host": "127.0.0.1", "port": port, "user": "me", "database": "frazil", "ssl": False}

    async def rows(connection):
        await connection.execute("create table asynchronous (a int primary key, b text, c timestamptz)")
        values = [(n, str(n)) for n in range(50)]
        await connection.executemany("insert into asynchronous values ($1, $2)", values)
        async with connection.transaction():
            read = [row["a"] async for row in connection.cursor("select a from asynchronous order by a", prefetch=7)]
            assert read == list(range(50))
            cursor = await connection.cursor("select a from asynchronous order by a")
            assert await cursor.forward(3) == 3
            assert [row["a"] for row in await cursor.fetch(10)] == list(range(3, 13))
            await cursor.forward(5)
            assert (await cursor.fetchrow())["a"] == 18
        statement = await connection.prepare("select $1::int[] as x, $2::text as y")
        assert [a.type.name for a in statement.get_attributes()] == ["int4[]", "text"]
        assert list((await statement.fetchrow([1, None, 2], "q"))["x"]) == [1, None, 2]
        await connection.copy_records_to_table("asynchronous", records=[(1000, "z")], columns=["a", "b"])
        out = io.BytesIO()
        await connection.copy_from_query("select a from asynchronous", output=out, format="csv")
        assert out.getvalue().count(b"\n") == 51
        source = io.BytesIO(b"2000,q\n")
        await connection.copy_to_table("asynchronous", source=source, columns=["a", "b"], format="csv")

    async def transactions(connection):
        async with connection.transaction():
            with pytest.raises(asyncpg.DivisionByZeroError):
                async with connection.transaction():
                    await connection.execute("select 1/0")
            assert await connection.fetchval("select count(*) from asynchronous") == 52
        heard = asyncio.Event()
        await connection.add_listener("channel", lambda *_: heard.set())
        await connection.execute("notify channel, 'x'")
        await asyncio.wait_for(heard.wait(), 60)
        await connection.reset()

    async def everything():
        connection = await asyncpg.connect(**where)
        await rows(connection)
        await transactions(connection)
        await connection.close()
        async with asyncpg.create_pool(min_size=2, max_size=4, **where) as pool:
            assert await pool.fetchval("select 1") == 1

    asyncio.run(everything())


def test_pg8000(port):
    pg8000 = pytest.importorskip("pg8000")
    import pg8000.native

    connection = pg8000.connect(user="me", host="127.0.0.1", port=port, database="frazil")
    cursor = connection.cursor()
    cursor.execute("create table eight (a int primary key, b text)")
    cursor.executemany("insert into eight values (%s, %s)", [(1, "a"), (2, None)])
    connection.commit()
    cursor.execute("copy eight from stdin", stream=io.BytesIO(b"3\tq\n"))
    cursor.execute("select * from eight order by a")
    assert [tuple(row) for row in cursor.fetchall()] == [(1, "a"), (2, None), (3, "q")]
    connection.close()
    native = pg8000.native.Connection("me", host="127.0.0.1", port=port, database="frazil")
    assert native.run("select :a::int as x", a=3) == [[3]]
    native.run("listen channel")
    native.run("notify channel, 'x'")
    native.run("select 1")
    assert [notification[1] for notification in native.notifications] == ["channel"]
    native.close()


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "pg8000"])
def test_sqlalchemy(port, driver):
    sa = pytest.importorskip("sqlalchemy")
    pytest.importorskip(driver)
    orm = pytest.importorskip("sqlalchemy.orm")
    engine = sa.create_engine(url(port, f"+{driver}"))
    base = orm.declarative_base()
    users, addresses = f"users_{driver}", f"addresses_{driver}"

    class User(base):
        __tablename__ = users
        id = sa.Column(sa.Integer, primary_key=True)
        name = sa.Column(sa.String(30), unique=True)
        addresses = orm.relationship("Address", back_populates="user")

    class Address(base):
        __tablename__ = addresses
        id = sa.Column(sa.Integer, primary_key=True)
        user_id = sa.Column(sa.ForeignKey(f"{users}.id"), index=True)
        price = sa.Column(sa.Numeric(10, 2), server_default="0")
        user = orm.relationship("User", back_populates="addresses")

    base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add(User(name="x", addresses=[Address(), Address()]))
        session.add_all([User(name=str(n)) for n in range(20)])
        session.commit()
        user = session.scalars(sa.select(User).where(User.name == "x")).one()
        user.name = "y"
        session.delete(user.addresses[0])
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(sa.join(User, Address))) == 1
    inspector = sa.inspect(engine)
    assert {users, addresses} <= set(inspector.get_table_names())
    assert [c["name"] for c in inspector.get_columns(addresses)] == ["id", "user_id", "price"]
    assert inspector.get_pk_constraint(users)["constrained_columns"] == ["id"]
    assert [key["referred_table"] for key in inspector.get_foreign_keys(addresses)] == [users]
    assert [u["column_names"] for u in inspector.get_unique_constraints(users)] == [["name"]]
    indexes = inspector.get_indexes(addresses)
    assert [index["column_names"] for index in indexes] == [["user_id"]]
    reflected = sa.MetaData()
    reflected.reflect(engine, only=[users, addresses])
    assert reflected.tables[addresses].c.price.type.scale == 2
    engine.dispose()


def test_pandas(port):
    pandas = pytest.importorskip("pandas")
    sa = pytest.importorskip("sqlalchemy")
    pytest.importorskip("psycopg")
    engine = sa.create_engine(url(port, "+psycopg"))
    times = pandas.to_datetime(["2020-01-01"] * 3)
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], "c": times})
    frame.to_sql("pandas_rows", engine, if_exists="replace", index=False)
    frame.to_sql("pandas_rows", engine, if_exists="append", index=False, method="multi")
    assert len(pandas.read_sql("select * from pandas_rows", engine)) == 6
    pieces = pandas.read_sql("select * from pandas_rows", engine, chunksize=2)
    assert [len(piece) for piece in pieces] == [2, 2, 2]
    engine.dispose()


def test_adbc(port):
    adbc = pytest.importorskip("adbc_driver_postgresql.dbapi")
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": [1, 2], "b": ["x", None]})
    with adbc.connect(url(port)) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("adbc_rows", table, mode="create")
            cursor.adbc_ingest("adbc_rows", table, mode="append")
            cursor.executemany("insert into adbc_rows values ($1, $2)", [(5, "a"), (6, "b")])
            connection.commit()
            cursor.execute("select a, b from adbc_rows where a <= $1 order by a", [5])
            assert cursor.fetch_arrow_table().to_pydict() == {"a": [1, 1, 2, 2, 5], "b": ["x", "x", None, None, "a"]}
        assert connection.adbc_get_table_schema("adbc_rows").names == ["a", "b"]
        objects = connection.adbc_get_objects(table_name_filter="adbc_rows").read_all().to_pylist()
        assert "adbc_rows" in str(objects)


def test_connectorx(port):
    connectorx = pytest.importorskip("connectorx")
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("pyarrow")
    with psycopg.connect(dsn(port)) as connection:
        connection.execute("create table x as select g as a, g::text as b from generate_series(1, 100) g")
    for protocol in ("binary", "csv", "cursor"):
        read = connectorx.read_sql(url(port), "select a, b from x", protocol=protocol, return_type="arrow")
        assert read.num_rows == 100, protocol
    read = connectorx.read_sql(url(port), "select a, b from x", partition_on="a", partition_num=3, return_type="arrow")
    assert read.num_rows == 100


def test_polars(port):
    polars = pytest.importorskip("polars")
    pytest.importorskip("adbc_driver_postgresql")
    pytest.importorskip("connectorx")
    frame = polars.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]})
    frame.write_database("polars_rows", url(port), engine="adbc", if_table_exists="replace")
    for engine in ("adbc", "connectorx"):
        read = polars.read_database_uri("select a, b from polars_rows order by a", url(port), engine=engine)
        assert read.rows() == frame.rows(), engine


def test_pgbench(port):
    program = shutil.which("pgbench")
    if program is None:
        pytest.skip("pgbench is not installed")

    def run(*arguments):
        where = ["-h", "127.0.0.1", "-p", str(port), "-U", "me"]
        done = subprocess.run([program, *where, *arguments, "frazil"], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr
        return done.stdout

    run("-i", "-s", "1")
    for protocol in ("simple", "extended", "prepared"):
        for script in ("tpcb-like", "simple-update", "select-only"):
            out = run("-n", "-M", protocol, "-b", script, "-t", "20", "-c", "2")
            assert "actually processed: 40/40" in out, out
