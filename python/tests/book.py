"""The book's examples: fenced blocks of its pages, run as a reader types them.

A block's language says who runs it: `sh` a shell of the system, `sql` the program `frazil`, `python` this interpreter. A block
`text` behind it holds what is shown. Blocks of `rust` are doctests of the crate `frazil`, which names their pages. Without one a block shows nothing but the tags of commands (`INSERT 3`). In a `text` block `…`
stands for any characters of a line, and a line that is `…` alone for any lines.

An `sh` block that is a single call of `frazil` without statements opens the program; the `sql` blocks that follow go to it until
they leave it with `\\q`. Where none is open, an `sql` block opens a database in memory. A comment `<!-- not run: reason -->` in front
of a block says why it is not run. Every other block must be one that is.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

BOOK = Path(__file__).parents[2] / "docs" / "book"
PAGES = BOOK / "src"
RUN_BY = ("sh", "sql", "python")
FENCE = re.compile(r"(?:<!-- not run: (?P<reason>[^\n]*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
# What commands say of themselves: CREATE TABLE, INSERT 3, COPY 200000.
TAGS = re.compile(r"(?:[A-Z]+(?: [A-Z]+)*(?: \d+)?\n)*")
PATIENCE = 120


@dataclass
class Block:
    """A fenced block. `line` is that of its first line in the page, from 1; `start` and `end` bound its text in the page."""

    page: Path
    line: int
    language: str
    text: str
    reason: str | None
    start: int
    end: int

    def __str__(self):
        return f"{self.page.relative_to(BOOK)}:{self.line}"


def blocks(page):
    """The blocks of a page, in order."""
    whole = page.read_text()
    found = []
    for match in FENCE.finditer(whole):
        start, end = match.span("text")
        line = whole.count("\n", 0, start) + 1
        found.append(Block(page, line, match["language"], match["text"], match["reason"], start, end))
    return found


def examples(page):
    """Blocks that are run, each with the `text` block that holds what it shows, or None; and those that are not run."""
    run, passed_over = [], []
    for block in blocks(page):
        if block.reason is not None:
            passed_over.append(block)
        elif block.language == "rust":
            continue
        elif block.language in RUN_BY:
            run.append([block, None])
        elif block.language == "text" and run and run[-1][1] is None and not passed_over_between(run[-1][0], block):
            run[-1][1] = block
        else:
            raise ValueError(f"{block}: a block {block.language!r} that nothing runs: say why in a comment before it")
    return run, passed_over


def passed_over_between(first, second):
    """True if another block begins between the two."""
    return "```" in first.page.read_text()[first.end + 3 : second.start - len("```text\n")]


def pages():
    """Every page that SUMMARY.md names, in its order."""
    return [PAGES / name for name in re.findall(r"\]\(([^)]+\.md)\)", (PAGES / "SUMMARY.md").read_text())]


def prose(page):
    """A page without its blocks; with the file that it includes, if it is nothing else."""
    text = page.read_text()
    included = re.search(r"^\{\{#include (\S+)\}\}$", text, re.M)
    if included:
        text = (page.parent / included[1]).read_text()
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def anchors(page):
    """Names of a page's headings, as mdBook makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.M)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def sittings():
    """Pages that one reader works through in one directory: those of `tutorial/` together, every other page alone."""
    together = {}
    for page in pages():
        name = str(page.relative_to(PAGES))
        together.setdefault("tutorial" if name.startswith("tutorial/") else name.removesuffix(".md"), []).append(page)
    return together


def program():
    """The program `frazil`: FRAZIL_PROGRAM, or the one that the tests built beside this interpreter's environment."""
    named = os.environ.get("FRAZIL_PROGRAM")
    path = Path(named) if named else Path(sys.prefix).parent / "checked" / "frazil"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: FRAZIL_PROGRAM names the program, `cargo build --profile checked --workspace` builds it")
    return path


class Sitting:
    """A reader in a directory, with the program in reach. Use it as a context."""

    def __init__(self, directory):
        self.directory = directory
        self.shell = None
        self.names = {"__name__": "__main__"}
        self.environment = {**os.environ, "FRAZILRC": "/dev/null", "TZ": "UTC"}
        commands = directory.with_name(directory.name + "-commands")
        commands.mkdir()
        (commands / "frazil").symlink_to(program())
        python = Path(sys.executable).parent
        self.environment["PATH"] = os.pathsep.join([str(commands), str(python), self.environment["PATH"]])

    def __enter__(self):
        self.before = os.getcwd(), os.environ["PATH"]
        os.chdir(self.directory)
        os.environ["PATH"] = self.environment["PATH"]
        return self

    def __exit__(self, *_):
        directory, os.environ["PATH"] = self.before
        os.chdir(directory)
        self.leave()

    def turn_page(self):
        """Leaves the program and forgets Python's names; files stay."""
        self.leave()
        self.names = {"__name__": "__main__"}

    def leave(self):
        if self.shell is not None:
            self.shell.leave()
            self.shell = None

    def run(self, block):
        """What a block shows."""
        if block.language == "sql":
            return self.run_sql(block.text)
        if block.language == "python":
            return self.run_python(block)
        words = shlex.split(block.text, comments=True)
        if block.text.count("\n") == 1 and words[0] == "frazil" and not set(words) & {"-c", "-f", "<", "|", ">", "--help", "--version", "tpch", "verify", "dump"}:
            self.leave()
            self.shell = Shell(words[1:], self.environment)
            return ""
        return self.run_command(block.text)

    def run_command(self, text):
        done = subprocess.run(["bash", "-e", "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=self.environment, timeout=PATIENCE, encoding="utf-8", check=False)
        return done.stdout

    def run_sql(self, text):
        if self.shell is None:
            self.shell = Shell([], self.environment)
        shown = self.shell.run(text)
        if self.shell.was_left:
            self.leave()
        return shown

    def run_python(self, block):
        shown = io.StringIO()
        try:
            with contextlib.redirect_stdout(shown):
                exec(compile(block.text, str(block), "exec"), self.names)
        except Exception as error:
            # The last line of a traceback; those of the error's own text follow it.
            kind = type(error)
            shown.write(f"{kind.__module__}.{kind.__qualname__}: {error}\n" if kind.__module__ != "builtins" else f"{kind.__qualname__}: {error}\n")
        return shown.getvalue()


class Shell:
    """The program as a script uses it that goes on after errors, as a person does."""

    def __init__(self, arguments, environment):
        self.process = subprocess.Popen(["frazil", "--batch", "--no-bail", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env=environment, encoding="utf-8")
        self.count = 0
        self.was_left = False

    def run(self, text):
        """What statements and commands show, until the program has read them all or has been left."""
        self.count += 1
        mark = f"--- end of block {self.count} ---"
        clock = threading.Timer(PATIENCE, self.process.kill)
        clock.start()
        try:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.write(f"{text}\\echo '{mark}'\n")
                self.process.stdin.flush()
            lines = []
            for line in self.process.stdout:
                if line == mark + "\n":
                    return "".join(lines)
                lines.append(line)
            self.was_left = True
            if self.process.wait(PATIENCE) == -signal.SIGKILL:
                raise TimeoutError(f"the program did not answer within {PATIENCE} s to\n{text}after\n{''.join(lines)}")
            return "".join(lines)
        finally:
            clock.cancel()

    def leave(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


def agrees(expected, shown):
    """Whether a block shows what the page says, blanks at the ends of lines apart."""
    if expected is None:
        return TAGS.fullmatch(shown) is not None
    pattern = "".join(line_pattern(line) for line in expected.splitlines())
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in shown.splitlines())) is not None


def line_pattern(line):
    if line.strip() == "…":
        return "(?:.*\n)*"
    return ".*".join(re.escape(part) for part in line.rstrip().split("…")) + "\n"
