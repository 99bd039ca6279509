"""The book's reference pages are complete: settings with defaults, SQLSTATEs, the shell's commands and options."""

import re
import subprocess
from pathlib import Path

import book
import frazil
import pytest

TREE = Path(__file__).parents[2]
# Defaults that depend on the machine.
OF_THE_MACHINE = {"threads", "memory_limit", "frazil.isa"}

def page(name):
    return book.prose(book.PAGES / name)


def rows(text):
    """Cells of all rows of a page's tables."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def settings():
    """(name, default) of each row of the page."""
    named = [cells for cells in rows(page("settings.md")) if re.fullmatch(r"`[a-z_.]+`", cells[0])]
    return [(cells[0].strip("`"), cells[2].split(":")[0].strip("`")) for cells in named]


@pytest.mark.parametrize(("name", "default"), settings())
def test_a_setting_has_the_default_of_its_page(con, name, default):
    shown = con.execute(f"show {name}").fetchone()[0]
    if name not in OF_THE_MACHINE:
        assert shown == ("" if default == "empty" else default)


def test_the_page_lists_every_setting_once(con):
    # PostgreSQL leaves these out of SHOW ALL.
    known = ["default_with_oids", "is_superuser", "role", "session_authorization"]
    known += [name.lower() for name, *_ in con.execute("show all")]
    names = [name for name, _ in settings()]
    assert sorted(names) == sorted(known)


def test_the_page_of_errors_lists_every_state_once():
    source = (TREE / "crates" / "types" / "src" / "error.rs").read_text()
    known = set(re.findall(r'^    [A-Z_]+ = "([0-9A-Z]{5})";$', source, re.M))
    # Some crates have constants of their own for states that few others give.
    others = (file.read_text() for file in sorted((TREE / "crates").glob("*/src/**/*.rs")))
    known |= {state for text in others for state in re.findall(r'^(?:pub )?const [A-Z_]+: SqlState = SqlState\("(\w{5})"\);$', text, re.M)}
    listed = [cells[0] for cells in rows(page("errors.md")) if re.fullmatch(r"[0-9A-Z]{5}", cells[0])]
    assert len(known) > 80
    assert sorted(listed) == sorted(known)


def test_the_page_of_the_shell_names_every_command_and_option():
    def answer(*arguments, typed=""):
        program = [book.program(), *arguments]
        return subprocess.run(program, input=typed, capture_output=True, text=True, timeout=60, check=True).stdout

    lines = [line[2:42] for line in answer("--batch", "-X", typed=".help\n").splitlines() if line.startswith("  ")]
    commands = re.findall(r"[\\.][\w?!+]+", "\n".join(lines))
    options = re.findall(r"^ +(?:(-\w), )?(--[\w-]+)", answer("--help"), re.M)
    listed = set(re.findall(r"[\\.][\w?!+]+|--?\w[\w-]*", page("shell.md")))
    assert len(commands) > 80
    assert len(options) > 20
    assert {*commands, *(word for pair in options for word in pair if word)} <= listed
