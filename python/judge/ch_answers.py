"""DuckDB's answers to the analytical queries of the CH-benCHmark, for crates/tpcc/tests/questions.rs: `python python/judge/ch_answers.py`.

Cargo's test `writes_tables` writes the rows as CSV; DuckDB reads them and answers the queries of crates/tpcc/sql/questions.sql. The
answers are written to crates/tpcc/tests/questions_answers.txt. With `--tables DIR` the rows are read from a directory in which they are."""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

import duckdb

CRATE = pathlib.Path(__file__).resolve().parents[2] / "crates" / "tpcc"
ANSWERS = CRATE / "tests" / "questions_answers.txt"


def write_tables(directory):
    """Has Cargo's test write the rows."""
    command = ["cargo", "test", "-p", "frazil-tpcc", "--test", "questions", "--", "--exact", "writes_tables", "--ignored"]
    subprocess.run(command, check=True, cwd=CRATE, env=os.environ | {"FRAZIL_CH_TABLES": str(directory)})


def loaded(directory):
    """A database of DuckDB with the rows."""
    oracle = duckdb.connect()
    for name in ["schema.sql", "suppliers.sql"]:
        lines = (line.split("--")[0] for line in (CRATE / "sql" / name).read_text().splitlines())
        for statement in "\n".join(lines).split(";"):
            if statement.strip().startswith("create table"):
                oracle.execute(statement)
    for (table,) in oracle.execute("select table_name from duckdb_tables()").fetchall():
        oracle.execute(f"copy {table} from '{directory}/{table}.csv' (format csv, header)")
    return oracle


def questions(suppliers):
    """Names and texts of the queries."""
    parts = (CRATE / "sql" / "questions.sql").read_text().split("-- name: ")[1:]
    for part in parts:
        name, text = part.split("\n", 1)
        yield name, re.sub(r"^--.*$", "", text, flags=re.MULTILINE).replace("{suppliers}", str(suppliers))


def cell(value):
    """A value as text."""
    return "NULL" if value is None else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=pathlib.Path, help="a directory with a CSV file of each table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        if not options.tables:
            write_tables(own)
        oracle = loaded(options.tables or own)
    (suppliers,) = oracle.execute("select count(*) from supplier").fetchone()
    with ANSWERS.open("w") as out:
        for name, text in questions(suppliers):
            rows = oracle.execute(text).fetchall()
            print(f"{name}: {len(rows)} rows")
            out.write(f"-- {name}\n")
            out.writelines("|".join(map(cell, row)) + "\n" for row in rows)


if __name__ == "__main__":
    main()
