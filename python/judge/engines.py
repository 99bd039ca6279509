"""The engines: each loads the same tables, runs statements, and gives rows or an error.

Frazil runs in a process of its own, so that a crash is an answer like any other."""

import gc
import importlib.util
import json
import os
import pickle
import select
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from . import places, tables, wider
from .nodes import DUCKDB, FRAZIL, POSTGRES

SOCKET = os.environ.get("JUDGE_PG", "/tmp/judge-pg/socket")
TIMEOUT = 20  # seconds a statement may take
PATIENCE = 10  # further seconds in which Frazil must have heard its timeout


class Answer:
    """Rows and how many a change counted, or an error's code, text, and the constraint, table and column that it names.
    `died`: the process ended."""

    def __init__(self, rows=None, error=None, text="", count=None, names=(None, None, None)):
        self.rows, self.error, self.text, self.count, self.names = rows, error, text, count, names

    def __repr__(self):
        if self.error:
            return f"ERROR {self.error} {self.text[:200]}"
        return f"{len(self.rows)} rows {self.rows[:4]}"


class Frazil:
    """`folder`: where the tables are, or None for an empty database. `frozen`: tables are frozen after loading. `path`: a
    folder that holds another build of the module."""

    dialect = FRAZIL

    def __init__(self, folder, frozen=False, path=None):
        self.folder, self.frozen, self.path = folder, frozen, path
        self.settings = {}
        self.place = None
        self.start()

    def start(self):
        folders = [self.path, str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, folders)), RUST_BACKTRACE="0")
        self.child = subprocess.Popen([sys.executable, "-m", "judge.engines", str(self.folder or ""), str(int(self.frozen))],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        try:
            receive(self.child.stdout)
        except EOFError:
            raise RuntimeError("Frazil's process did not load the tables: python -m judge.engines says why") from None

    def run(self, sql, parameters=()):
        try:
            send(self.child.stdin, (sql, list(parameters)))
            if not select.select([self.child.stdout], [], [], TIMEOUT + PATIENCE)[0]:
                self.child.kill()
            got = receive(self.child.stdout)
        except (BrokenPipeError, EOFError):
            # Status -9: it was killed here, because it did not hear its timeout.
            status = self.child.wait()
            self.start()
            for name, value in self.settings.items():
                self.run(f"set {name} = '{value}'")
            return Answer(error="died", text=f"the process ended with status {status}")
        return Answer(*got)

    def fresh(self, durable=False):
        """Begins an empty database, in memory or in a directory."""
        before, self.settings = self.place, {}
        self.place = tempfile.TemporaryDirectory(prefix="judge") if durable else None
        answer = self.reopen()
        if answer.error:
            raise RuntimeError(f"no empty database: {answer}")
        if before:
            before.cleanup()

    def reopen(self):
        """Closes the database, and opens what its directory holds."""
        answer = self.run(None, [f"{self.place.name}/data" if self.place else ":memory:"])
        settings, self.settings = self.settings, {}
        self.set(settings)
        return answer

    def set(self, settings):
        for name, value in settings.items():
            if self.settings.get(name) != value:
                self.run(f"set {name} = '{value}'")
        self.settings.update(settings)

    def close(self):
        self.child.stdin.close()
        self.child.wait()
        if self.place:
            self.place.cleanup()


def collect_seldom():
    """Rows by the hundred thousand are no garbage: looking for cycles among them took a third of a campaign."""
    gc.set_threshold(500_000, 20, 1_000)


def send(file, value):
    data = pickle.dumps(value)
    file.write(struct.pack("<I", len(data)) + data)
    file.flush()


def flat(rows):
    """The rows with arrays as texts, which may be keys."""
    if not any(type(value) is list for row in rows for value in row):
        return rows
    return [tuple(repr(value) if type(value) is list else value for value in row) for row in rows]


def receive(file):
    head = file.read(4)
    if len(head) < 4:
        raise EOFError
    return pickle.loads(file.read(struct.unpack("<I", head)[0]))


def load(con, folder, frozen):
    """Makes the types, tables and views of the generated statements in Frazil."""
    for statement in wider.TYPES:
        con.execute(statement)
    for table, (_, rows, _, _) in tables.TABLES.items():
        con.execute(tables.ddl(table))
        con.execute(f"copy {table} from '{folder}/{table}.csv' (format csv, header false, null '\\N')")
        if frozen and rows:
            con.execute(f"freeze table {table}")
    for statement in tables.views() + places.definitions():
        con.execute(statement)
    if frozen:
        for table in places.tables_to_freeze():
            con.execute(f"freeze table {table}")


def frazil_child(folder, frozen):
    """Serves statements from the standard input: what Frazil's process does."""
    import frazil
    collect_seldom()
    # Documents stay texts, as PostgreSQL's do.
    json.loads = str

    def connected(place=":memory:"):
        con = frazil.connect(place)
        if folder:
            load(con, folder, frozen)
        con.execute("set synchronous_commit = off")
        con.execute(f"set statement_timeout = '{TIMEOUT}s'")
        con.execute("set memory_limit = '2GB'")
        return con
    con = connected()
    send(sys.stdout.buffer, "ready")
    while True:
        try:
            sql, parameters = receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            if sql is None:
                con.close()
                con = connected(*parameters)
                sql, parameters = "select 1", ()
            cursor = con.execute(sql, parameters) if parameters else con.execute(sql)
            got = (flat(cursor.fetchall()) if cursor.description else [], None, "", cursor.rowcount)
        except Exception as error:
            names = tuple(getattr(error, name, None) for name in ("constraint", "table", "column"))
            got = (None, getattr(error, "sqlstate", None) or type(error).__name__, str(error).split("\n")[0], None, names)
        send(sys.stdout.buffer, got)


def ends_of_arrays():
    """Aggregates of PostgreSQL for IGNORE NULLS: the n-th value that is not NULL, from the first or the last row."""
    out = []
    for n in (1, 2, 3):
        out += [
            f"create function first_{n}(anyarray, anyelement) returns anyarray language sql immutable as 'select case when $2 is null or cardinality($1) = {n} then $1 else $1 || $2 end'",
            f"create function last_{n}(anyarray, anyelement) returns anyarray language sql immutable as 'select case when $2 is null then $1 else ($2 || $1)[1:{n}] end'",
            f"create function value_{n}(anyarray) returns anyelement language sql immutable as 'select $1[{n}]'",
            f"create aggregate kept_{n}(anyelement) (sfunc = first_{n}, stype = anyarray, initcond = '{{}}', finalfunc = value_{n})",
            f"create aggregate back_{n}(anyelement) (sfunc = last_{n}, stype = anyarray, initcond = '{{}}', finalfunc = value_{n})",
        ]
    return out


def aggregates_of_places():
    """first, last, arg_min and arg_max for PostgreSQL."""
    out = [
        "create function first_state(anyarray, anyelement) returns anyarray language sql immutable as 'select coalesce($1, array[$2])'",
        "create function last_state(anyarray, anyelement) returns anyarray language sql immutable as 'select array[$2]'",
        "create aggregate first(anyelement) (sfunc = first_state, stype = anyarray, finalfunc = value_1)",
        "create aggregate last(anyelement) (sfunc = last_state, stype = anyarray, finalfunc = value_1)",
    ]
    for sign, names in (("<", ("arg_min", "min_by")), (">", ("arg_max", "max_by"))):
        test = f"$2 is null or $3 is null or not coalesce($3 {sign} $1[2], true)"
        out.append(f"create function {names[0]}_state(anyarray, anyelement, anyelement) returns anyarray language sql immutable as 'select case when {test} then $1 else array[$2, $3] end'")
        out += [f"create aggregate {name}(anyelement, anyelement) (sfunc = {names[0]}_state, stype = anyarray, finalfunc = value_1)" for name in names]
    return out


# What PostgreSQL has no word for.
KEPT = ends_of_arrays() + aggregates_of_places()


class Postgres:
    """`folder`: where the tables are, or None for an empty database."""

    dialect = POSTGRES

    def __init__(self, folder):
        import psycopg
        name = f"judge_{os.getpid()}"
        admin = psycopg.connect(f"host={SOCKET} user=postgres dbname=postgres", autocommit=True)
        admin.execute(f"drop database if exists {name} with (force)")
        admin.execute(f"create database {name} template template0 locale 'C' encoding 'UTF8'")
        self.admin, self.name = admin, name
        self.con = psycopg.connect(f"host={SOCKET} user=postgres dbname={name}", autocommit=True)
        self.con.cursor_factory = psycopg.RawCursor
        # As its text, which Frazil gives too: Python has no months.
        self.con.adapters.register_loader("interval", psycopg.types.string.TextLoader)
        # Python has no decimals for the numbers of documents.
        for name in ("json", "jsonb"):
            self.con.adapters.register_loader(name, psycopg.types.string.TextLoader)
        # The plan of a prepared statement may not change its columns: a script changes them.
        self.con.prepare_threshold = None
        self.con.execute("set timezone = 'UTC'")
        self.con.execute("set client_min_messages = error")
        if folder:
            self.load(folder)
        self.con.execute(f"set statement_timeout = '{TIMEOUT}s'")

    def load(self, folder):
        for statement in wider.TYPES:
            self.con.execute(statement)
        for table in tables.TABLES:
            self.con.execute(tables.ddl(table))
            with self.con.cursor().copy(f"copy {table} from stdin (format csv, null '\\N')") as copy:
                copy.write((folder / f"{table}.csv").read_text(encoding="utf-8"))
        for statement in tables.views() + places.definitions() + KEPT:
            self.con.execute(statement)
        self.con.execute("analyze")

    def fresh(self):
        """Begins an empty database."""
        self.con.execute("rollback")
        self.con.execute("drop schema public cascade")
        self.con.execute("create schema public")

    def run(self, sql, parameters=()):
        try:
            cursor = self.con.execute(sql, list(parameters) or None)
            return Answer(flat(cursor.fetchall()) if cursor.description else [], count=cursor.rowcount)
        except Exception as error:
            named = getattr(error, "diag", None)
            names = tuple(getattr(named, f"{name}_name", None) for name in ("constraint", "table", "column"))
            return Answer(error=getattr(error, "sqlstate", None) or type(error).__name__, text=str(error).split("\n")[0], names=names)

    def close(self):
        self.con.close()
        self.admin.execute(f"drop database if exists {self.name} with (force)")
        self.admin.close()


class DuckDB:
    dialect = DUCKDB

    def __init__(self, folder):
        import duckdb
        self.con = duckdb.connect()
        self.con.execute("set default_null_order = 'nulls_last_on_asc_first_on_desc'")
        self.con.execute("set threads = 1")
        for table in tables.TABLES.keys() - set(tables.PAPERS):
            self.con.execute(tables.ddl(table))
            self.con.execute(f"copy {table} from '{folder}/{table}.csv' (auto_detect false, header false, nullstr '\\N', quote '\"', escape '\"', delimiter ',')")
        for view in tables.views():
            self.con.execute(view)

    def run(self, sql, parameters=()):
        timer = threading.Timer(TIMEOUT, self.con.interrupt)
        timer.start()
        try:
            cursor = self.con.execute(sql, list(parameters)) if parameters else self.con.execute(sql)
            return Answer(cursor.fetchall() if cursor.description else [])
        except Exception as error:
            return Answer(error=type(error).__name__, text=str(error).split("\n")[0])
        finally:
            timer.cancel()

    def close(self):
        self.con.close()


def judges_there():
    """The judges that this machine has."""
    found = []
    if importlib.util.find_spec("duckdb"):
        found.append(DUCKDB)
    if importlib.util.find_spec("psycopg") and postgres_answers():
        found.append(POSTGRES)
    return found


def postgres_answers():
    """A server that was killed leaves its socket's file behind: only a connection tells."""
    import psycopg
    try:
        psycopg.connect(f"host={SOCKET} user=postgres dbname=postgres", connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def open_judge(name, folder):
    return {POSTGRES: Postgres, DUCKDB: DuckDB}[name](folder)


def data_folder():
    """A new folder with the tables as CSV files."""
    folder = Path(tempfile.mkdtemp(prefix="judge"))
    tables.write(folder)
    return folder


if __name__ == "__main__":
    frazil_child(sys.argv[1], sys.argv[2] == "1")
