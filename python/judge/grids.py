"""Records PostgreSQL's answers in grids: `python -m judge.grids FILE.grid …`, from the folder `python`.

A grid is a statement for every choice of one entry of each axis: crates/frazil/tests/database/grids.rs runs them. Its file has the
sections `[setup]`, `[axis NAME]` (an entry a line: its name and texts, between bars), `[cell]` and `[statement N]` (the text of one
cell, and a statement around up to N of them), `[differs]` (cells where Frazil means to answer otherwise, with the reason), and
`[answers]`: a line for each choice of all axes but the last, whose entries' answers stand in it, between tabs. An answer is the
cell's values row by row, or `!` and the SQLSTATE."""

import itertools
import re
import sys
from pathlib import Path

import psycopg

from .record import connect


def sections(text):
    """The lines of each section by its title, in order."""
    found = {}
    for line in text.splitlines():
        if title := re.fullmatch(r"\[(.+)\]", line):
            lines = found.setdefault(title[1], [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return found


def axes(grid):
    """Each axis' name and entries: a name with its texts."""
    for title, lines in grid.items():
        if title.startswith("axis "):
            yield title[5:], [[part.strip() for part in re.split(r" \| ", line)] for line in lines]


def put(text, names, choice):
    """A text with the entries' texts in the place of `{axis}`, the first of several, and `{axis.2}` and so on. An entry may name
    another axis."""
    for name, (_, *texts) in [*zip(names, choice)] * 2:
        for at, given in enumerate(texts, 1):
            text = text.replace(f"{{{name}.{at}}}", given)
        text = text.replace(f"{{{name}}}", texts[0])
    return text


def answer(con, sql):
    """What a statement of one cell answers, as the grid's file has it."""
    result = con.pgconn.exec_params(sql.encode(), None)
    if result.status != psycopg.pq.ExecStatus.TUPLES_OK:
        return "!" + result.error_field(psycopg.pq.DiagnosticField.SQLSTATE).decode()
    values = [result.get_value(row, 0) for row in range(result.ntuples)]
    return "/".join("NULL" if value is None else value.decode() for value in values)


def record(path):
    """Writes the answers of a grid anew; gives their number."""
    text = path.read_text()
    grid = sections(text)
    con = connect("grid")
    for sql in grid["setup"]:
        con.execute(sql)
    (title,) = [title for title in grid if title.startswith("statement ")]
    names, entries = zip(*axes(grid))
    lines, count = [], 0
    for choice in itertools.product(*entries[:-1]):
        answers = []
        for last in entries[-1]:
            cell = put(grid["cell"][0], names, [*choice, last])
            answers.append(answer(con, grid[title][0].replace("{cell}", cell)))
        lines.append("; ".join(entry[0] for entry in choice) + ":\t" + "\t".join(answers))
        count += len(answers)
    path.write_text(text.partition("[answers]\n")[0] + "[answers]\n" + "\n".join(lines) + "\n")
    return count


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {record(Path(name))} answers")
