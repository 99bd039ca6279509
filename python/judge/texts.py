"""Records what PostgreSQL makes of texts: `python -m judge.texts FILE.tsv …`, from the folder `python`.

The second line of a file, behind `# `, names its columns. `text, date, time, …`: the first column is a text, and behind it stands what
it is as each of the types. `type, text, answer`: each text is read as the type in front of it. What is recorded is the value, or the
SQLSTATE behind `!`; a text that names the present is only said to be accepted: `now`. The session's zone is America/New_York."""

import re
import sys
from pathlib import Path

import psycopg

from .record import connect

ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\x0b": "\\v", "\x0c": "\\f"}


def escaped(text):
    return "".join(ESCAPES.get(c, c) for c in text)


def plain(text):
    back = {v: k for k, v in ESCAPES.items()}
    return re.sub(r"\\.", lambda m: back[m.group()], text)


def answer(cursor, text, ty):
    try:
        value = cursor.execute(f"select %s::text::{ty}::text", (text,)).fetchone()[0]
    except psycopg.Error as error:
        return "!" + error.sqlstate
    return "now" if re.search("now|today|tomorrow|yesterday", text, re.I) else escaped(value)


def record(path):
    """Writes the file anew; gives the number of its texts."""
    cursor = connect("record_texts").cursor()
    cursor.execute("set timezone = 'America/New_York'")
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    columns = lines[1].removeprefix("# ").split(", ")
    rows = []
    for line in lines[2:]:
        cells = line.split("\t")
        if columns[0] == "text":
            text = plain(cells[0])
            rows.append([escaped(text), *(answer(cursor, text, ty) for ty in columns[1:])])
        else:
            rows.append([*cells[:2], answer(cursor, plain(cells[1]), cells[0])])
    path.write_text("\n".join([*lines[:2], *("\t".join(row) for row in rows)]) + "\n", encoding="utf-8")
    return len(rows)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {record(Path(name))} texts")
