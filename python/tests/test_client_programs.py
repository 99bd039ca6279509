"""Clients that are programs, or frameworks with a program of their own, with `frazil serve`: each is a script in
`python/tests/clients` whose steps report `ok NAME` or `FAIL NAME: ERROR`. A client that is not installed is skipped, by
its name; `cargo xtask clients` installs those of npm, Maven, Go and Cargo that this machine has the tools for."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import time

import pytest
from test_clients import port  # noqa: F401: a fixture

SCRIPTS = pathlib.Path(__file__).parent / "clients"
INSTALLED = pathlib.Path(os.environ.get("FRAZIL_CLIENTS", pathlib.Path(__file__).parents[2] / "target/clients"))


def program(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def installed(name, client):
    if not (INSTALLED / name).exists():
        pytest.skip(f"{client} is not installed: cargo xtask clients")
    return str(INSTALLED / name)


def check_steps(command, least, **options):
    """Runs a script; every one of its steps, of which there are at least so many, must work."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert not failed, "\n".join(failed)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert len(re.findall("^ok ", done.stdout, re.MULTILINE)) >= least, done.stdout


def psql(port, *arguments, script=None):
    environment = {
        **os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(port), "PGUSER": "me", "PGDATABASE": "frazil",
        "PSQL_PAGER": "", "PSQL_HISTORY": os.devnull,
    }
    command = [program("psql"), "-X", "-q", *arguments]
    return subprocess.run(command, input=script, capture_output=True, text=True, timeout=300, env=environment)


# psql's commands that describe, each alone and with what it takes. `+` and `S` are tried with all that have them.
DESCRIBES = """
d d+ dS d_psql_pet d+_psql_pet d_whole.psql_person d+_whole.psql_person d_psql_names d+_psql_names d_psql_numbers
d_psql_pet_pkey d_whole.* da daS dA dA+ dAc dAc+ dAf dAf+ dAo dAo+ dAp dAp+ db db+ dc dcS dc+ dconfig dconfig+ dconfig_work_mem dC dC+
dC_integer dd ddS dD dD+ dDS ddp dE dE+ des des+ det det+ deu deu+ dew dew+ df df+ dfS_abs dF dF+ dFd dFd+ dFp dFp+ dFt
dFt+ dg dg+ di di+ diS dl dl+ dL dL+ dm dm+ dn dn+ dnS do doS do_+ dO dO+ dp z dP dP+ dPi drds dRp dRp+ dRs dRs+ ds ds+ dsS
dt dt+ dtS dt_whole.* dT dT+ dTS dT+_psql_mood du du+ dv dv+ dvS dx dx+ dX dy dy+ l l+ lo_list sv_psql_names
sv+_psql_names conninfo encoding df_upper da_sum sf_initcap sf+_initcap
"""

PSQL_TABLES = """
create schema whole;
create table whole.psql_person (id serial primary key, name text not null unique, born date default current_date,
    score numeric(8, 2) check (score >= 0));
create table psql_pet (id bigint generated always as identity primary key,
    owner integer references whole.psql_person (id) on delete cascade, name varchar(20), tags text[]);
create index psql_pet_name on psql_pet (name);
create view psql_names as select name from psql_pet;
create type psql_mood as enum ('sad', 'ok');
create domain psql_positive as integer check (value > 0);
create sequence psql_numbers;
comment on table psql_pet is 'pets';
insert into whole.psql_person (name) values ('Ada');
insert into psql_pet (owner, name) select 1, 'pet ' || g from generate_series(1, 25) g;
"""


@pytest.fixture(scope="module")
def tables(port):  # noqa: F811
    done = psql(port, "-v", "ON_ERROR_STOP=1", "-f", "-", script=PSQL_TABLES)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("tables")
def test_every_describing_command_of_psql(port):  # noqa: F811
    commands = ["\\" + command.replace("_", " ", 1) for command in DESCRIBES.split()]
    commands = [command.replace("\\lo list", r"\lo_list") for command in commands]
    script = "".join(f"\\echo == {command[1:]}\n{command}\n" for command in commands)
    done = psql(port, script=script.replace("\\echo", "\\warn"))
    answers = re.findall(r"^== (.*)\n((?:(?!== ).*\n)*)", done.stderr, re.MULTILINE)
    assert len(answers) == len(commands), done.stderr
    errors = {"\\" + command: said for command, said in answers if "ERROR" in said}
    assert not errors, errors
    shown = psql(port, script="\\d psql_pet\n").stdout
    for part in ("psql_pet_pkey", "psql_pet_name", "ON DELETE CASCADE", "generated always as identity"):
        assert part in shown, shown


@pytest.mark.usefixtures("tables")
def test_copy_and_watch_and_fetch_of_psql(port, tmp_path):  # noqa: F811
    file = tmp_path / "pets.csv"
    done = psql(port, "-A", "-t", script=f"""
\\copy psql_pet (id, name) to '{file}' csv header
create temporary table psql_copy (id integer, name text);
\\copy psql_copy from '{file}' csv header
\\copy (select count(*) from psql_copy) to stdout
\\set FETCH_COUNT 7
select name from psql_pet order by id;
\\set FETCH_COUNT 0
create sequence psql_watched;
select 1 / (3 - nextval('psql_watched')) as watched \\watch 0.01
select * from psql_pet where id = 1 \\gset pet_
\\echo :pet_name
select 'select ' || g from generate_series(100, 102) g \\gexec
select g, g % 2 as odd, g * 2 from generate_series(1, 2) g \\crosstabview
select $1::integer + 1 \\bind 41 \\g
begin; select 1/0;
rollback;
\\errverbose
""")
    lines = done.stdout.splitlines()
    assert lines[0] == "25" and lines[1:26] == [f"pet {n}" for n in range(1, 26)], done
    assert "division by zero" in done.stderr and "22012" in done.stderr
    for line in ("pet 1", "100", "102"):
        assert line in lines, done


def typed(port, keys, until):  # noqa: F811
    """What psql shows at a terminal once it has shown `until`, behind the keys."""
    environment = {**os.environ, "TERM": "dumb", "PSQL_PAGER": "", "PSQL_HISTORY": os.devnull, "INPUTRC": os.devnull}
    command = [program("psql"), "-X", "-h", "127.0.0.1", "-p", str(port), "-U", "me", "frazil"]
    outer, inner = pty.openpty()
    deadline = time.monotonic() + 60

    def read(until):
        shown = ""
        while until not in shown and time.monotonic() < deadline:
            if select.select([outer], [], [], 1)[0]:
                # A bell tells that there are several completions.
                shown += os.read(outer, 4096).decode(errors="replace").replace("\a", "")
        return shown

    with subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, env=environment) as psql_process:
        read("frazil=# ")
        os.write(outer, keys.encode())
        shown = read(until)
        psql_process.kill()
    os.close(outer)
    os.close(inner)
    return shown


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("keys", "until"),
    [
        ("select * from whole.psql_p\t", "whole.psql_person"),
        ("update psql_pe\t", "psql_pet"),
        ("insert into whole.psql_p\t", "whole.psql_person"),
        ("\\d psql_na\t", "psql_names"),
        ("drop sequence psql_nu\t", "psql_numbers"),
        ("drop type psql_mo\t", "psql_mood"),
        ("alter table psql_pet drop column ta\t", "tags"),
        ("alter table psql_pet drop constraint psql_pet_o\t", "psql_pet_owner_fkey"),
        ("set search_path to who\t", "whole"),
        ("\\c fra\t", "\\c frazil"),
    ],
)
def test_completion_of_psql(port, keys, until):  # noqa: F811
    shown = typed(port, keys, until)
    assert until in shown, shown


def test_node_postgres(port):  # noqa: F811
    modules = installed("node_modules/pg", "node-postgres")
    environment = {**os.environ, "NODE_PATH": str(pathlib.Path(modules).parent)}
    check_steps([program("node"), str(SCRIPTS / "node_postgres.js"), str(port)], 15, env=environment)


def test_postgres_js(port):  # noqa: F811
    modules = installed("node_modules/postgres", "postgres.js")
    environment = {**os.environ, "NODE_PATH": str(pathlib.Path(modules).parent)}
    check_steps([program("node"), str(SCRIPTS / "postgres_js.js"), str(port)], 19, env=environment)


def test_pgx(port):  # noqa: F811
    check_steps([installed("pgx", "pgx"), str(port)], 70)


def test_pgjdbc(port):  # noqa: F811
    driver = installed("postgresql.jar", "pgjdbc")
    check_steps([program("java"), "-cp", driver, str(SCRIPTS / "Pgjdbc.java"), str(port)], 300)


def test_every_value_by_pgjdbc(port):  # noqa: F811
    """`wire_values.txt` is shared with `test_wire_values.py`. The script says the same of PostgreSQL, at another port."""
    driver = installed("postgresql.jar", "pgjdbc")
    script, values = SCRIPTS / "PgjdbcValues.java", pathlib.Path(__file__).parent / "wire_values.txt"
    check_steps([program("java"), "-cp", driver, str(script), str(port), str(values)], 9)


def test_tokio_postgres(port):  # noqa: F811
    check_steps([installed("bin/tokio_postgres_steps", "tokio-postgres"), str(port)], 18)


def test_django(port, tmp_path):  # noqa: F811
    pytest.importorskip("django")
    pytest.importorskip("psycopg")
    # Migrations are written beside the application.
    shutil.copytree(SCRIPTS / "django_shop", tmp_path / "shop")
    check_steps([sys.executable, str(SCRIPTS / "django_steps.py"), str(port)], 12, cwd=tmp_path)


def test_alembic(port, tmp_path):  # noqa: F811
    pytest.importorskip("alembic")
    pytest.importorskip("psycopg")
    check_steps([sys.executable, str(SCRIPTS / "alembic_steps.py"), str(port)], 7, cwd=tmp_path)


def test_pgcli(port):  # noqa: F811
    pytest.importorskip("pgcli")
    check_steps([sys.executable, str(SCRIPTS / "pgcli_steps.py"), str(port)], 37)


def test_scanner_of_duckdb(port):  # noqa: F811
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    try:
        connection.execute("load postgres")
    except duckdb.Error:
        pytest.skip("DuckDB's extension postgres is not installed")
    where = f"host=127.0.0.1 port={port} user=me dbname=frazil"
    connection.execute(f"attach '{where}' as there (type postgres)")
    connection.execute("create table there.public.duck as select range as a, 'x' || range as b from range(1000)")
    assert connection.execute("select count(*), max(a) from there.public.duck").fetchone() == (1000, 999)
    assert connection.execute("select b from there.public.duck where a = 5").fetchone() == ("x5",)
    for statement in (
        "insert into there.public.duck values (5000, 'y')",
        "create index duck_index on there.public.duck (a)",
        "alter table there.public.duck add column c integer",
        "alter table there.public.duck rename column c to d",
        "create view there.public.duck_view as select 1 as x",
        "create schema there.duck_schema",
        "create table there.duck_schema.duck (a integer[], b decimal(10,2), c timestamp, d uuid, e blob, f interval)",
        """insert into there.duck_schema.duck values ([1, null], 1.25, '2020-01-01 01:02:03',
            '00000000-0000-0000-0000-000000000007', '\\xAA'::blob, interval 3 days)""",
        "call postgres_execute('there', 'create table duck_keys (a integer primary key references duck_keys)')",
        "call pg_clear_cache()",
        "insert into there.public.duck_keys values (1)",
    ):
        connection.execute(statement)
    row = connection.execute("select a, b::text, d::text, e from there.duck_schema.duck").fetchone()
    assert row == ([1, None], "1.25", "00000000-0000-0000-0000-000000000007", b"\xaa")
    connection.execute("begin")
    connection.execute("insert into there.public.duck_keys values (2)")
    connection.execute("rollback")
    assert connection.execute("select a from there.public.duck_keys").fetchall() == [(1,)]
    assert connection.execute("select * from postgres_query('there', 'select 1 as a')").fetchall() == [(1,)]
    assert len(connection.execute(f"select * from postgres_scan('{where}', 'public', 'duck')").fetchall()) == 1001
    assert connection.execute("update there.public.duck set b = 'new', d = a where a < 3").fetchone() == (3,)
    assert connection.execute("delete from there.public.duck where a between 2 and 999").fetchone() == (998,)
    changed = connection.execute("select a, b, d from there.public.duck order by a").fetchall()
    assert changed == [(0, "new", 0), (1, "new", 1), (5000, "y", None)]
    connection.execute("drop table there.duck_schema.duck")
