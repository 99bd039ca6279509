"""pgcli: what it asks for completion, and its commands that describe. Usage: python pgcli_steps.py PORT"""

import pathlib
import sys

from pgcli.pgexecute import PGExecute
from pgspecial.main import PGSpecial

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from steps import finish, step

there = PGExecute("frazil", "me", None, "127.0.0.1", sys.argv[1], None)
special = PGSpecial()
METADATA = """search_path schemata tables views table_columns view_columns databases full_databases foreignkeys functions
datatypes casing get_timezone"""
COMMANDS = r"""\d \d+ \d_cli_pets \d+_cli_pets \d_cli_names \d+_cli_names \d_cli_pets_pkey \d_cli_numbers \dt \dt+ \dv \dv+
\ds \ds+ \di \di+ \df \df+ \df_upper \sf_initcap \dn \dn+ \du \du+ \l \l+ \dT \dT+ \db \dx \dD \dE \dp \ddp \dm \dF \timing"""


def run(statement):
    results = there.run(statement, special, on_error_resume=False)
    for _, rows, _, status, _, is_done, _ in results:
        assert is_done, status
        if rows is not None:
            list(rows)


def metadata(name):
    found = getattr(there, name)()
    return found if isinstance(found, str) else list(found)


for made in (
    "create table cli_pets (id integer primary key, name text)",
    "create view cli_names as select name from cli_pets",
    "create sequence cli_numbers",
):
    step(made, lambda made=made: run(made))
for asked in METADATA.split():
    step(asked, lambda asked=asked: metadata(asked))
step("view_definition", lambda: there.view_definition("cli_names"))
for command in COMMANDS.split():
    step(command, lambda command=command: run(command.replace("_", " ", 1)))
finish()
