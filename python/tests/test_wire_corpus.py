"""Statements that PostgreSQL's clients send, read from a folder outside of the repository: the one of the environment variable
FRAZIL_WIRE_CORPUS, which holds files of statements as they were captured, with comments that say how often each was seen and with
which parameters, and beside which lies the schema that they ask about, `schema.sql`. Without the variable the test is skipped."""

import os
import pathlib
import re

import pytest
from test_clients import dsn, port  # noqa: F401

CORPUS = os.environ.get("FRAZIL_WIRE_CORPUS")
LEAST_PERCENT = 97
# FunctionCall messages of large objects, and COPY, whose data are not in the files.
LEFT_OUT = re.compile(r"^\s*(copy\b|-- function call)", re.IGNORECASE)
# Errors that a statement has in PostgreSQL, too, without the statements that came before it on the wire: outside of a transaction,
# without its cursor, without its savepoint.
OF_ITS_PLACE = ("25P01", "34000", "3B001")
# Roles that the schema names.
ROLES = ("app", "reader")
PARAMETER = re.compile(r"binary x'([0-9a-f]*)'|'((?:[^']|'')*)'|(NULL)", re.IGNORECASE)


def parameters(comment):
    """The values of a comment, each with its format."""
    found = []
    for binary, text, null in PARAMETER.findall(comment):
        if null:
            found.append((None, 0))
        elif binary or not text and "binary x''" in comment:
            found.append((bytes.fromhex(binary), 1))
        else:
            found.append((text.replace("''", "'").encode(), 0))
    return found


def statements(path):
    """The statements of a file: each with its section, parameters and the types that were sent for them."""
    section, given, types, lines = "", [], None, []
    for line in [*path.read_text().splitlines(), "-- seen"]:
        if line.startswith(("-- seen", "-- ====")):
            text = "\n".join(lines).strip()
            if text:
                yield section, text.removesuffix(";"), given, types
            given, types, lines = [], None, []
        if line.startswith("-- ===="):
            section = line.strip("-= ")
        elif line.startswith("-- parameters: "):
            given = parameters(line.removeprefix("-- parameters: "))
        elif line.startswith("-- parameter types sent: "):
            types = line.removeprefix("-- parameter types sent: ").split(", ")
        elif not line.startswith(("-- seen", "-- result", "-- client", "-- captured", "-- start-up")):
            lines.append(line)


def split(script):
    """The statements of the schema."""
    return [text.strip() for text in re.split(r";\s*\n", script) if text.strip()]


@pytest.mark.skipif(not CORPUS, reason="FRAZIL_WIRE_CORPUS is not set")
def test_statements_of_clients(port):  # noqa: F811
    psycopg = pytest.importorskip("psycopg")
    from psycopg.pq import ExecStatus, TransactionStatus

    folder = pathlib.Path(CORPUS)
    connection = psycopg.connect(dsn(port), autocommit=True)
    for role in ROLES:
        connection.execute(f"create role {role}")
    missing = []
    for statement in split((folder.parent / "schema.sql").read_text()):
        try:
            connection.execute(statement)
        except psycopg.Error as error:
            missing.append(f"{error.sqlstate} {statement[:60]!r}: {str(error).splitlines()[0]}")
    oids = {name: oid for name, oid in connection.execute("select typname, oid from pg_type").fetchall()}

    def run(pg, text, given, types):
        """None, or the error of a statement."""
        if given:
            kinds = [oids.get(kind.strip(), 0) for kind in types or []]
            kinds = (kinds + [0] * len(given))[: len(given)]
            result = pg.exec_params(text.encode(), [v for v, _ in given], kinds, [f for _, f in given])
        else:
            result = pg.exec_(text.encode())
        good = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK, ExecStatus.EMPTY_QUERY)
        if result.status in good:
            return None
        state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE) or b""
        message = result.error_field(psycopg.pq.DiagnosticField.MESSAGE_PRIMARY) or b""
        return f"{state.decode()} {message.decode()}"

    counts, failures = {}, []
    for path in sorted(folder.glob("*.sql")):
        session = psycopg.connect(dsn(port), autocommit=True)
        for section, text, given, types in statements(path):
            if LEFT_OUT.match(text):
                continue
            if session.pgconn.transaction_status == TransactionStatus.INERROR:
                session.pgconn.exec_(b"rollback")
            error = run(session.pgconn, text, given, types)
            if error and error.startswith(OF_ITS_PLACE):
                continue
            good, all_ = counts.get(section, (0, 0))
            counts[section] = (good + (error is None), all_ + 1)
            if error:
                failures.append(f"{path.stem}: {error} <- {' '.join(text.split())[:400]!r}")
        session.close()
    print(f"{len(missing)} statements of the schema are refused")
    print("\n".join(missing))
    print("\n".join(failures))
    for section, (good, all_) in counts.items():
        print(f"{section}: {good} of {all_}, {100 * good / all_:.1f} %")
    good, all_ = (sum(count[i] for count in counts.values()) for i in (0, 1))
    print(f"all: {good} of {all_}, {100 * good / all_:.1f} %")
    assert good * 100 >= all_ * LEAST_PERCENT
