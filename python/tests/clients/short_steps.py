"""The same short work by one of several clients, on one connection: a table, rows by parameters, an error, a transaction that is
rolled back, COPY where the client has it. Usage: python short_steps.py CLIENT PORT. The exit code is 77 if the client is not installed."""

import asyncio
import io
import os
import pathlib
import shutil
import subprocess
import sys

PARTS = {"host": "127.0.0.1", "user": "me"}
SCRIPTS = pathlib.Path(__file__).parent
INSTALLED = pathlib.Path(os.environ.get("FRAZIL_CLIENTS", SCRIPTS.parents[2] / "target/clients"))
NOT_INSTALLED = 77
TABLE = "create table short (id integer primary key, name text, price numeric(10,2), at timestamp)"


def psql(port):
    script = f"""{TABLE};
insert into short values (1, 'one', 1.50, '2024-01-02 03:04:05'), (2, null, null, null);
select * from short order by id;
select 1 / 0;
begin;
delete from short;
rollback;
\\copy short (id, name) from pstdin
\\copy short to stdout
\\d short
\\dt
"""
    where = f"host=127.0.0.1 port={port} user=me dbname=frazil sslmode=disable gssencmode=disable"
    script = script.replace("from pstdin", "from stdin") .replace("\\copy short to", "7\tseven\n\\.\n\\copy short to", 1)
    subprocess.run(["psql", "-X", "-q", where], input=script, text=True, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def psycopg(port):
    import psycopg

    where = f"host=127.0.0.1 port={port} user=me dbname=frazil sslmode=disable gssencmode=disable"
    with psycopg.connect(where, autocommit=True) as connection:
        connection.execute(TABLE)
        for row in ((1, "one", 1.5), (2, None, None)):
            connection.execute("insert into short (id, name, price) values (%s, %s, %s)", row)
        for binary in (False, True):
            connection.execute("select * from short order by id", binary=binary).fetchall()
        try:
            connection.execute("select %s / 0", (1,))
        except psycopg.errors.DivisionByZero:
            pass
        try:
            with connection.transaction():
                connection.execute("delete from short")
                raise psycopg.Rollback
        except psycopg.Rollback:
            pass
        with connection.cursor().copy("copy short (id, name) from stdin") as copy:
            copy.write_row((7, "seven"))
        with connection.cursor().copy("copy short to stdout (format binary)") as copy:
            b"".join(copy)
        with connection.pipeline():
            for n in range(3):
                connection.execute("select %s::int", (n,))


def psycopg2(port):
    import psycopg2

    connection = psycopg2.connect(port=port, dbname="frazil", sslmode="disable", gssencmode="disable", **PARTS)
    cursor = connection.cursor()
    cursor.execute(TABLE)
    cursor.execute("insert into short (id, name, price) values (%s, %s, %s)", (1, "one", 1.5))
    connection.commit()
    try:
        cursor.execute("select %s / 0", (1,))
    except psycopg2.errors.DivisionByZero:
        connection.rollback()
    cursor.copy_expert("copy short (id, name) from stdin", io.StringIO("7\tseven\n"))
    cursor.copy_expert("copy short to stdout", io.StringIO())
    named = connection.cursor("named")
    named.execute("select * from short order by id")
    named.fetchall()
    connection.rollback()
    connection.close()


def asyncpg(port):
    import asyncpg

    async def work():
        connection = await asyncpg.connect(port=port, database="frazil", ssl=False, **PARTS)
        await connection.execute(TABLE)
        await connection.executemany("insert into short (id, name) values ($1, $2)", [(1, "one"), (2, None)])
        await connection.fetch("select * from short where id = any($1::int[]) order by id", [1, 2])
        try:
            await connection.fetch("select $1::int / 0", 1)
        except asyncpg.DivisionByZeroError:
            pass
        transaction = connection.transaction()
        await transaction.start()
        async for _ in connection.cursor("select generate_series(1, 60) as n"):
            pass
        await transaction.rollback()
        await connection.copy_records_to_table("short", records=[(7, "seven")], columns=["id", "name"])
        await connection.reset()
        await connection.close()

    asyncio.run(work())


def pg8000(port):
    import pg8000.native

    connection = pg8000.native.Connection("me", host="127.0.0.1", port=int(port), database="frazil", ssl_context=False)
    connection.run(TABLE)
    connection.run("insert into short (id, name) values (:id, :name)", id=1, name="one")
    connection.run("select * from short where id = :id", id=1)
    try:
        connection.run("select 1 / :zero::int", zero=0)
    except pg8000.native.DatabaseError:
        pass
    connection.run("copy short (id, name) from stdin", stream=io.BytesIO(b"7\tseven\n"))
    connection.run("copy short to stdout", stream=io.BytesIO())
    connection.close()


def tool(name, *arguments, file=None, **options):
    """Runs a program, or ends this one if it or a file that it needs is not installed."""
    if shutil.which(name) is None or not pathlib.Path(file or SCRIPTS).exists():
        sys.exit(NOT_INSTALLED)
    subprocess.run([name, *map(str, arguments)], check=True, **options)


def url(port, driver=""):
    return f"postgresql{driver}://me@127.0.0.1:{port}/frazil"


def pgbench(port):
    """The built-in scripts in each protocol, on tables of few rows, which are not pgbench's own."""
    where = ["-h", "127.0.0.1", "-p", port, "-U", "me"]
    tables = """
create table pgbench_branches (bid integer primary key, bbalance integer, filler char(88));
create table pgbench_tellers (tid integer primary key, bid integer, tbalance integer, filler char(84));
create table pgbench_accounts (aid integer primary key, bid integer, abalance integer, filler char(84));
create table pgbench_history (tid integer, bid integer, aid integer, delta integer, mtime timestamp, filler char(22));
insert into pgbench_branches values (1, 0);
"""
    tool("psql", *where, "-d", "frazil", "-Xq", "-c", tables)
    for mode in ("simple", "extended", "prepared"):
        for script in ("tpcb-like", "select-only"):
            seed = "--random-seed=7"
            tool("pgbench", *where, "-n", "-M", mode, "-b", script, "-t", "3", seed, "frazil", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def pg(port):
    modules = INSTALLED / "node_modules"
    tool("node", SCRIPTS / "short.js", "pg", port, file=modules / "pg", env={**os.environ, "NODE_PATH": str(modules)})


def postgres_js(port):
    modules = INSTALLED / "node_modules"
    tool("node", SCRIPTS / "short.js", "postgres", port, file=modules / "postgres", env={**os.environ, "NODE_PATH": str(modules)})


def pgjdbc(port):
    driver = INSTALLED / "postgresql.jar"
    tool("java", "-cp", driver, SCRIPTS / "ShortPgjdbc.java", port, file=driver)


def pgx(port):
    tool(str(INSTALLED / "pgx"), port, "short")


def tokio_postgres(port):
    tool(str(INSTALLED / "bin/tokio_postgres_steps"), port, "short")


def adbc(port):
    import adbc_driver_postgresql.dbapi as adbc
    import pyarrow

    with adbc.connect(url(port)) as connection, connection.cursor() as cursor:
        rows = pyarrow.table({"id": pyarrow.array([1, 2], pyarrow.int32()), "name": ["one", None]})
        cursor.adbc_ingest("short", rows, mode="create")
        connection.commit()
        cursor.execute("select * from short where id = $1", (1,))
        assert cursor.fetch_arrow_table().num_rows == 1
        connection.rollback()


def connectorx(port):
    import connectorx

    psycopg(port)
    for protocol in ("binary", "cursor", "csv"):
        found = connectorx.read_sql(url(port) + "?sslmode=disable", "select id, name from short order by id", protocol=protocol, return_type="arrow")
        assert found.num_rows == 3


def sqlalchemy(port):
    """The core, the object-relational mapper and reflection."""
    import sqlalchemy
    from sqlalchemy import orm

    engine = sqlalchemy.create_engine(url(port, "+psycopg"))
    base = orm.declarative_base()

    class Short(base):
        __tablename__ = "short"
        id = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
        name = sqlalchemy.Column(sqlalchemy.Text, unique=True)

    base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add_all([Short(name="one"), Short(name=None)])
        session.commit()
        session.query(Short).filter_by(name="one").one().name = "two"
        session.commit()
    sqlalchemy.Table("short", sqlalchemy.MetaData(), autoload_with=engine)
    base.metadata.drop_all(engine)
    engine.dispose()


def alembic(port):
    import sqlalchemy
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    engine = sqlalchemy.create_engine(url(port, "+psycopg"))
    with engine.begin() as connection:
        context = MigrationContext.configure(connection)
        operations = Operations(context)
        operations.create_table("short", sqlalchemy.Column("id", sqlalchemy.Integer, primary_key=True))
        operations.add_column("short", sqlalchemy.Column("name", sqlalchemy.Text))
        operations.create_index("short_name", "short", ["name"])
        assert len(compare_metadata(context, sqlalchemy.MetaData())) == 2
        operations.drop_table("short")
    engine.dispose()


def django(port):
    import django
    from django.conf import settings

    where = {"ENGINE": "django.db.backends.postgresql", "HOST": "127.0.0.1", "PORT": port, "NAME": "frazil", "USER": "me"}
    settings.configure(DATABASES={"default": where}, USE_TZ=True)
    django.setup()
    from django.db import connection, models, transaction

    class Short(models.Model):
        name = models.TextField(null=True, db_index=True)

        class Meta:
            app_label = "short"

    with connection.schema_editor() as editor:
        editor.create_model(Short)
    Short.objects.bulk_create([Short(name="one"), Short(name=None)])
    assert Short.objects.filter(name__icontains="ON").update(name="two") == 1
    with transaction.atomic():
        Short.objects.all().delete()
        transaction.set_rollback(True)
    with connection.cursor() as cursor:
        introspection = connection.introspection
        introspection.get_table_description(cursor, "short_short")
        introspection.get_constraints(cursor, "short_short")
    connection.close()


def pgcli(port):
    from pgcli.pgexecute import PGExecute
    from pgspecial.main import PGSpecial

    there, special = PGExecute("frazil", "me", None, "127.0.0.1", port, None), PGSpecial()
    for statement in (TABLE, "select * from short", r"\dt", r"\d short"):
        for _, rows, _, _, _, _, _ in there.run(statement, special):
            list(rows or ())
    for asked in (there.search_path, there.schemata, there.tables, there.foreignkeys, there.databases):
        list(asked())
    there.conn.close()


def pandas(port):
    import pandas
    import sqlalchemy

    engine = sqlalchemy.create_engine(url(port, "+psycopg"))
    pandas.DataFrame({"id": [1, 2], "name": ["one", None]}).to_sql("short", engine, index=False)
    assert len(pandas.read_sql("select * from short order by id", engine)) == 2
    engine.dispose()


def polars(port):
    import polars

    polars.DataFrame({"id": [1, 2], "name": ["one", None]}).write_database("short", url(port), engine="adbc")
    for engine in ("adbc", "connectorx"):
        place = url(port) + ("?sslmode=disable" if engine == "connectorx" else "")
        assert len(polars.read_database_uri("select * from short order by id", place, engine=engine)) == 2


#: Clients with a recording.
CLIENTS = {
    client.__name__: client
    for client in (psql, psycopg, psycopg2, asyncpg, pg8000, pgbench, pg, postgres_js, pgjdbc, pgx, tokio_postgres, adbc, connectorx,
                   sqlalchemy, alembic, django, pgcli, pandas, polars)
}

if __name__ == "__main__":
    os.environ.pop("PGOPTIONS", None)
    # The bytes of a recording are not encrypted.
    os.environ |= {"PGSSLMODE": "disable", "PGGSSENCMODE": "disable"}
    try:
        CLIENTS[sys.argv[1]](sys.argv[2])
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(NOT_INSTALLED)
