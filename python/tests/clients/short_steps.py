"""The same short work by one of several clients, on one connection: a table, rows by parameters, an error, a transaction that is
rolled back, COPY where the client has it. Usage: python short_steps.py CLIENT PORT"""

import asyncio
import io
import os
import subprocess
import sys

PARTS = {"host": "127.0.0.1", "user": "me"}
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


if __name__ == "__main__":
    os.environ.pop("PGOPTIONS", None)
    globals()[sys.argv[1]](sys.argv[2])
