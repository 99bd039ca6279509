"""The join graphs of the Join Order Benchmark beside DuckDB, in one run: `python python/bench/job.py --titles 1362000`.

Tables and questions are those of `frazil bench job` (crates/bench/src/job): all tables together have some 29 rows for each title, 40
million by default. Both engines run the text that makes the tables, so that both hold the same rows; Frazil freezes them. Each
question's answer, and the number of rows below its aggregates, must be DuckDB's. In each round both engines answer in turn, and the
one that begins changes from round to round. A ratio is DuckDB's time over Frazil's: the geometric mean of the rounds. With `--cpu`
times are those of the processor.

`--estimates` shows a q-error for each join of Frazil's plans: the greater of estimate and rows over the lesser, both at least 1.
DuckDB counts the rows of a join by the question's own predicates. The exit code is 1 if a question fails or differs."""

import argparse
import json
import math
import pathlib
import re
import statistics
import sys

from shapes import DuckDB, measured, ratio
from tpcds import Module, Shell

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "crates" / "bench" / "src" / "job"


class Question:
    """A question, taken apart at its commas and ANDs."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        outputs, rest = text.removeprefix("select ").split(" from ", 1)
        relations, where = rest.split(" where ", 1)
        #: Tables by alias, in the order of FROM.
        self.tables = {alias: table for table, alias in re.findall(r"(\w+) as (\w+)", relations)}
        self.predicates = list(conjuncts(where))
        self.counted = f"select count(*), {outputs} from {rest}"

    def count(self, aliases):
        """A query that counts the rows of a join of some of the relations."""
        tables = ", ".join(f"{self.tables[alias]} as {alias}" for alias in self.tables if alias in aliases)
        inside = [p for p in self.predicates if set(re.findall(r"(\w+)\.\w+", without_texts(p))) <= aliases]
        return f"select count(*) from {tables}" + (" where " + " and ".join(inside) if inside else "")


def without_texts(predicate):
    """A predicate without its string constants."""
    return re.sub(r"'[^']*'", "''", predicate)


def conjuncts(where):
    """The parts between the ANDs that are in no parentheses and belong to no BETWEEN."""
    part, depth, ranges = "", 0, False
    for word in re.findall(r"'[^']*'|\w+|\s+|.", where.strip()):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == "and" and depth == 0 and not ranges:
            yield part.strip()
            part = ""
            continue
        ranges = word == "between" or ranges and word != "and"
        part += word
    yield part.strip()


def questions(only=""):
    """The questions by name."""
    found, family, within = {}, "", True
    for line in (FOLDER / "questions.sql").read_text().split("\n\n", 1)[1].splitlines():
        if line.startswith("-- family "):
            family, within = "", True
        elif line.startswith("-- "):
            name, within = line.removeprefix("-- "), False
            found[name] = family
        elif within:
            family += line + " "
        else:
            found[name] += line + " "
    return [Question(name, text.strip()) for name, text in found.items() if name.startswith(only)]


def statements(titles, seed):
    """The statements that make and fill the tables."""
    lines = (line for line in (FOLDER / "tables.sql").read_text().splitlines() if not line.startswith("--"))
    text = "\n".join(lines).replace("{titles}", str(titles)).replace("{seed}", str(seed))
    return [part.strip() for part in text.split(";") if part.strip()]


def columns(engine):
    """The number of columns of each table."""
    return dict(engine.con.execute("select table_name, count(*) from information_schema.columns group by table_name").fetchall())


class Plan:
    """A plan's joins, each with its estimate and the aliases below."""

    def __init__(self, lines, question, widths):
        self.lines, self.question = lines, question
        starts, at = {}, 0
        for alias, table in question.tables.items():
            starts[alias] = range(at, at + widths[table])
            at += widths[table]
        self.starts = starts

    def joins(self):
        """Pairs of an estimate and a set of aliases."""
        for at, line in enumerate(self.lines):
            found = re.search(r"^\s*(?:build: |probe: )?Join .*\[(\d+) rows\]", line)
            if found:
                yield int(found.group(1)), self.below(at)

    def below(self, at):
        """Aliases of the scans that are indented more than a line."""
        depth = indent(self.lines[at])
        aliases = set()
        for line in self.lines[at + 1 :]:
            if indent(line) <= depth:
                break
            aliases |= self.alias(line)
        return frozenset(aliases)

    def alias(self, line):
        """The alias of a scan. Columns of a table that occurs twice have numbers, which count all columns in the order of FROM."""
        found = re.search(r"Scan (\w+) \(([^)]*)\)", line)
        if not found:
            return set()
        named = {alias for alias, table in self.question.tables.items() if table == found.group(1)}
        numbers = [int(number) for number in re.findall(r"#(\d+)", found.group(2))]
        exact = {alias for alias in named if numbers and numbers[0] in self.starts[alias]}
        return exact or named


def indent(line):
    return len(line) - len(line.lstrip())


def q_errors(question, us, them, widths):
    """The q-error of each join of a plan, the lowest join first."""
    rows = us.run("explain " + question.text)
    plan = Plan([row[0] for row in rows], question, widths)
    for estimate, aliases in sorted(plan.joins(), key=lambda join: len(join[1])):
        ((exact,),) = them.run(question.count(aliases))
        yield max(max(estimate, 1) / max(exact, 1), max(exact, 1) / max(estimate, 1)), estimate, exact, aliases


def show_estimates(asked, us, them):
    """Prints the q-errors of all joins, and their quantiles."""
    widths, found = columns(them), []
    for question in asked:
        errors = list(q_errors(question, us, them, widths))
        found += [error for error, *_ in errors]
        for error, estimate, exact, aliases in errors:
            print(f"{question.name:>4}  q-error {error:10.2f}  estimate {estimate:>12,}  rows {exact:>12,}  {' '.join(sorted(aliases))}")
    found.sort()
    median, late = found[len(found) // 2], found[len(found) * 95 // 100]
    print(f"{len(found)} joins: median q-error {median:.2f} (wanted 2), 95th percentile {late:.2f} (wanted 30), greatest {found[-1]:.2f}")
    return {"joins": len(found), "median": median, "percentile_95": late, "greatest": found[-1]}


def compare(question, us, them, options):
    """Pairs of milliseconds, the rows below the aggregates, and what is wrong."""
    pairs, rows, wrong = measured(question.counted, us, them, 0, options.cpu)
    if wrong:
        return pairs, 0, wrong
    ((rows, *_),) = them.run(question.counted)
    pairs, _, wrong = measured(question.text, us, them, options.rounds, options.cpu)
    return pairs, rows, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--titles", type=int, default=1_362_000, help="rows of title; all tables have some 29 times as many")
    parser.add_argument("--seed", type=int, default=1, help="the number that the rows follow from")
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds of each question")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="questions whose names begin with this text")
    parser.add_argument("--estimates", action="store_true", help="show the q-errors of all joins, and no times")
    parser.add_argument("--cpu", action="store_true", help="compare times of the processor")
    parser.add_argument("--json", type=pathlib.Path, help="also write the times to this file")
    parser.add_argument("--program", help="Frazil's program, run instead of the module; its answers come as JSON")
    options = parser.parse_args()
    asked = questions(options.only)
    if not asked or options.rounds < 1 or not 1_000 <= options.titles <= 7_000_000:
        parser.error("there must be a question, a round, and from 1,000 to 7,000,000 titles")
    us, them = Shell(options.program, ":memory:") if options.program else Module(":memory:"), DuckDB()
    for text in statements(options.titles, options.seed):
        us.run(text)
        them.run(text)
    for table in columns(them):
        us.run(f"freeze table {table}")
    for engine in (us, them):
        engine.run(f"set threads = {options.threads}")
    if options.estimates:
        report = show_estimates(asked, us, them)
    else:
        report = show_times(asked, us, them, options)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    sys.exit(1 if any(entry.get("wrong") for entry in report.values() if isinstance(entry, dict)) else 0)


def show_times(asked, us, them, options):
    """Prints the times of all questions, and their geometric mean."""
    print(f"{options.titles:,} titles, threads = {options.threads}\n{'Frazil ms':>10}{'DuckDB ms':>11}{'ratio':>7}  interval")
    report, ratios = {}, {}
    for question in asked:
        pairs, rows, wrong = compare(question, us, them, options)
        report[question.name] = {"pairs": pairs, "rows": rows, "wrong": wrong}
        if wrong:
            print(f"{question.name}: {wrong[:300]}", flush=True)
            continue
        ratios[question.name] = mean, low, high = ratio(pairs)
        ours, theirs = (statistics.median(side) for side in zip(*pairs))
        print(f"{ours:10.1f}{theirs:11.1f}{mean:7.2f}  [{low:.2f}, {high:.2f}]  {question.name}, {rows} rows", flush=True)
    if ratios:
        mean = math.exp(statistics.mean(math.log(r[0]) for r in ratios.values()))
        worst = min(ratios, key=lambda name: ratios[name][0])
        empty = [name for name, entry in report.items() if not entry["wrong"] and entry["rows"] == 0]
        print(f"{len(ratios)} of {len(asked)} equal; geometric mean {mean:.2f}× (wanted 1.5×), worst {ratios[worst][0]:.2f}× (wanted 0.5×): {worst}")
        print(f"without rows: {' '.join(empty) or 'none'}")
    return report


if __name__ == "__main__":
    main()
