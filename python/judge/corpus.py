"""Runs statements that clients of PostgreSQL send on a server, and counts those that it answers.

    FRAZIL_CORPUS=FOLDER python -m judge.corpus --server DSN [--judge DSN] [--schema FILE]

A file of the folder has one client's statements, each behind comments; `-- parameters: 'a', binary x'61', NULL` are the values of
`$1` and so on. A statement that PostgreSQL (`--judge`) refuses, too, does not count. Both databases must be fresh.
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import pq

VALUE = re.compile(r"binary x'([0-9a-f]*)'|'((?:[^']|'')*)'|([^,\s]+)")


@dataclass(frozen=True)
class Statement:
    """A statement of a client, with its parameters: texts, or bytes of the binary form."""

    client: str
    text: str
    values: tuple[str | bytes | None, ...]


def statements(path):
    """Yields the statements of a client's file."""
    values, lines = (), []

    def finished():
        text = "\n".join(lines).strip()
        return [Statement(path.stem, text, values)] if text else []

    for line in path.read_text().splitlines():
        if line.startswith("-- seen ") or line.startswith("-- ==== "):
            yield from finished()
            values, lines = (), []
        elif line.startswith("-- parameters: ") and not lines:
            values = tuple(value_of(found) for found in VALUE.finditer(line.removeprefix("-- parameters: ")))
        elif not (line.startswith("-- ") and not lines):
            lines.append(line)
    yield from finished()


def value_of(found):
    """Returns a parameter, `None` for NULL."""
    binary, quoted, bare = found.groups()
    if binary is not None:
        return bytes.fromhex(binary)
    if quoted is not None:
        return quoted.replace("''", "'")
    return None if bare.upper() == "NULL" else bare


def answer(connection, statement):
    """Returns `None` if the statement is answered, else SQLSTATE and message."""
    raw = connection.pgconn
    given = [value.encode() if isinstance(value, str) else value for value in statement.values]
    formats = [pq.Format.BINARY if isinstance(value, bytes) else pq.Format.TEXT for value in statement.values]
    count = max([int(n) for n in re.findall(r"\$(\d+)", statement.text)], default=0)
    text = statement.text.encode()
    if count or given:
        given, formats = (given + [None] * count)[:count], (formats + [pq.Format.TEXT] * count)[:count]
        result = raw.exec_params(text, given, param_formats=formats)
    else:
        result = raw.exec_(text)
    failed = None
    if result.status in (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE):
        fields = (pq.DiagnosticField.SQLSTATE, pq.DiagnosticField.MESSAGE_PRIMARY)
        failed = " ".join((result.error_field(field) or b"").decode() for field in fields)
    while result.status in (pq.ExecStatus.COPY_OUT, pq.ExecStatus.COPY_IN):
        if result.status == pq.ExecStatus.COPY_IN:
            raw.put_copy_end()
        else:
            while raw.get_copy_data(0)[0] > 0:
                pass
        result = raw.get_result() or result
    while raw.get_result():
        pass
    if raw.transaction_status == pq.TransactionStatus.INERROR:
        raw.exec_(b"rollback")
    return failed


def definitions(schema):
    """Returns the statements of a script, each of which ends at the end of a line, outside `$$`."""
    texts, lines = [], []
    for line in schema.splitlines():
        lines.append(line)
        text = "\n".join(lines)
        if line.rstrip().endswith(";") and text.count("$$") % 2 == 0:
            texts.append(text)
            lines = []
    return texts


def run(dsn, schema, found):
    """Returns the answer of each statement, the clients' each in a session of their own."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for text in definitions(schema):
            # What a server does not have is missing for its statements, too.
            if failed := answer(connection, Statement("schema", text, ())):
                print(f"schema: {failed}: {' '.join(text.split())[:100]}")
    answers = {}
    for client in sorted({statement.client for statement in found}):
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("set statement_timeout = '20s'")
            for statement in found:
                if statement.client == client:
                    answers[statement] = answer(connection, statement)
    return answers


def main():
    """Prints the errors by their number, and the share that is answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    parser.add_argument("--judge")
    parser.add_argument("--schema", type=Path)
    arguments = parser.parse_args()
    schema = arguments.schema.read_text() if arguments.schema else ""
    files = sorted(Path(os.environ["FRAZIL_CORPUS"]).glob("*.sql"))
    found = list(dict.fromkeys(statement for path in files for statement in statements(path)))
    ours = run(arguments.server, schema, found)
    refused = run(arguments.judge, schema, found) if arguments.judge else {}
    counted = [statement for statement in found if refused.get(statement) is None]
    errors = Counter(ours[statement] for statement in counted if ours[statement])
    for error, count in errors.most_common():
        example = next(s for s in counted if ours[s] == error)
        print(f"{count:4} {error}\n     {example.client}: {' '.join(example.text.split())[:300]}")
    answered = len(counted) - sum(errors.values())
    print(f"{answered} of {len(counted)} answered ({answered / max(1, len(counted)):.1%})")


if __name__ == "__main__":
    main()
