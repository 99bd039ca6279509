"""Records PostgreSQL's answers in SQL logic tests: `python -m judge.record FILE.slt …`, from the folder `python`.

Each file is run from its beginning in an empty database of PostgreSQL (JUDGE_PG names the folder of its socket), and
its records are written anew with the answers, or with the SQLSTATE of the error. A record below a comment line
`# differs: reason` keeps the answer it has: there Frazil means to differ, and docs/sql.md says so."""

import os
import re
import sys
from pathlib import Path

import psycopg

SOCKET = os.environ.get("JUDGE_PG", "/tmp/judge-pg/socket")
# The letters that sqllogictest has for types, by PostgreSQL's oids.
LETTERS = {16: "B", 20: "I", 21: "I", 23: "I", 700: "R", 701: "R"}
KEPT = re.compile(r"# differs\b")


def connect(name):
    """A connection to an empty database."""
    admin = psycopg.connect(f"host={SOCKET} user=postgres dbname=postgres", autocommit=True)
    admin.execute(f"drop database if exists {name} with (force)")
    admin.execute(f"create database {name} template template0 locale 'C' encoding 'UTF8'")
    admin.close()
    con = psycopg.connect(f"host={SOCKET} user=postgres dbname={name}", autocommit=True)
    con.execute("set timezone = 'UTC'")
    return con


def shown(value):
    """A value's text as the runner shows it."""
    if value is None:
        return "NULL"
    return value.decode() or "(empty)"


def record(con, sql):
    """The record of one statement."""
    result = con.pgconn.exec_params(sql.encode(), None)
    ok = psycopg.pq.ExecStatus
    if result.status not in (ok.TUPLES_OK, ok.COMMAND_OK):
        state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE).decode()
        return f"statement error ({state})\n{sql}\n"
    if result.status == ok.COMMAND_OK:
        return f"statement ok\n{sql}\n"
    oids = [result.ftype(c) for c in range(result.nfields)]
    rows = [" ".join(shown(result.get_value(r, c)) for c in range(len(oids))) for r in range(result.ntuples)]
    sort = "" if re.search(r"\border\s+by\b", sql, re.I) or len(rows) < 2 else " rowsort"
    rows = sorted(rows) if sort else rows
    letters = "".join(LETTERS.get(oid, "T") for oid in oids)
    return "\n".join([f"query {letters}{sort}", sql, "----", *rows]) + "\n"


def rewrite(path):
    """Writes the file anew; gives the number of its records."""
    con = connect("record")
    out, count = [], 0
    for paragraph in re.split(r"\n\n+", path.read_text().strip()):
        comments = re.match(r"(?:#.*(?:\n|\Z))*", paragraph)[0]
        body = paragraph[len(comments):]
        if not body:
            out.append(comments)
            continue
        head, _, rest = body.partition("\n")
        sql = re.split(r"\n----(?:\n|\Z)", rest)[0].strip()
        text = record(con, sql)
        out.append(comments + (f"{body}\n" if KEPT.search(comments) else text))
        count += 1
    path.write_text("\n".join(out).rstrip("\n") + "\n")
    return count


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {rewrite(Path(name))} records")
