"""Questions of many shapes beside DuckDB, in one run: `python python/bench/shapes.py --rows 10000000`.

Tables and questions are those of `frazil bench shapes` (crates/bench/src/shapes); with `--set hits` those of `frazil bench hits`.
Both engines run the text that makes the tables, so that both hold the same rows. Frazil holds them hot, frozen, or frozen with raw
strings. In each round both engines answer each question in turn, and the one that begins changes from round to round. A ratio is
DuckDB's time over Frazil's: the geometric mean of the rounds, with its 95 % confidence interval. With `--cpu` times are those of the
processor, which vary less if other programs run. Answers must agree to ten significant digits. The exit code is 1 if a question fails
or differs, or if a verdict is "missed"."""

import argparse
import dataclasses
import json
import math
import pathlib
import statistics
import sys
import time

import duckdb

from tpcds import Module, Shell, plain, strangers

TEXTS = pathlib.Path(__file__).resolve().parents[2] / "crates" / "bench" / "src" / "shapes"
FORMS = ["hot", "frozen", "raw"]


@dataclasses.dataclass
class QuestionSet:
    """Tables and the questions about them."""

    folder: pathlib.Path
    #: The tables, with their columns of strings.
    tables: dict
    #: The geometric mean and the worst ratio that Frazil is to reach.
    mean_wanted: float
    worst_wanted: float

    def statements(self, rows):
        """The statements that make and fill the tables."""
        lines = (line.split("--")[0] for line in (self.folder / "tables.sql").read_text().splitlines())
        return [part.strip() for part in with_rows("\n".join(lines), rows).split(";") if part.strip()]

    def questions(self, rows, only):
        """Texts of the questions by their names."""
        found = {}
        for line in (self.folder / "questions.sql").read_text().split("\n\n", 1)[1].splitlines():
            if line.startswith("-- "):
                name = line.removeprefix("-- ")
                found[name] = ""
            else:
                found[name] += with_rows(line.rstrip(";"), rows) + " "
        return {name: text for name, text in found.items() if name.startswith(only)}


SETS = {
    "shapes": QuestionSet(TEXTS, {"facts": ["s100", "t100", "s100k", "fname"], "tens": ["name"], "parents": ["name"], "few": []}, 2.0, 1.2),
    "hits": QuestionSet(TEXTS / "hits", {"hits": ["url", "title", "referrer", "phrase"]}, 2.0, 1.0),
}
#: Quantiles of Student's t for 95 % intervals, by degrees of freedom.
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]


class DuckDB:
    """DuckDB in memory."""

    def __init__(self):
        self.con = duckdb.connect()
        self.con.execute("set integer_division = true")
        self.con.execute("set default_null_order = 'nulls_last_on_asc_first_on_desc'")

    def run(self, sql):
        return self.con.execute(sql).fetchall()

    def processor_time(self):
        return time.process_time()


def with_rows(text, rows):
    """A text whose numbers of rows are filled in."""
    return text.replace("{rows}", str(rows)).replace("{tenth}", str(rows // 10))


def load(us, questions, rows, form):
    """Fills the tables of Frazil, and freezes them if the form says so."""
    us.run("set frazil.freeze_after = off")
    us.run("set frazil.refreeze_budget = off")
    for text in questions.statements(rows):
        us.run(text)
    for table, strings in questions.tables.items():
        for column in strings if form == "raw" else []:
            us.run(f"alter table {table} set (\"encoding.{column}\" = 'raw')")
        if form != "hot":
            us.run(f"freeze table {table}")


def milliseconds(engine, text, of_processor):
    """The time that a question takes, by the clock or of the processor."""
    clock = engine.processor_time if of_processor else time.perf_counter
    begun = clock()
    engine.run(text)
    return max(1e3 * (clock() - begun), 1e-3)


def ratio(pairs):
    """Geometric mean of DuckDB's times over Frazil's, and the ends of its interval."""
    logs = [math.log(theirs / ours) for ours, theirs in pairs]
    mean = statistics.mean(logs)
    half = math.inf
    if len(logs) > 1:
        half = STUDENT[min(len(logs) - 1, len(STUDENT)) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half) if half < math.inf else math.inf


def measured(text, us, them, rounds, of_processor):
    """Pairs of milliseconds, the number of rows, and what is wrong with the answer."""
    theirs = them.run(text)
    try:
        ours = us.run(text)
    except Exception as error:
        return [], len(theirs), str(error).split("\n")[0]
    if len(ours) != len(theirs) or strangers([tuple(map(plain, r)) for r in ours], [tuple(map(plain, r)) for r in theirs]):
        return [], len(theirs), f"answers {ours[:2]}; DuckDB answers {theirs[:2]}"
    pairs = []
    for turn in range(rounds):
        engines = [us, them] if turn % 2 == 0 else [them, us]
        times = [milliseconds(engine, text, of_processor) for engine in engines]
        pairs.append(tuple(times if turn % 2 == 0 else reversed(times)))
    return pairs, len(theirs), ""


def verdict(ratios, wanted):
    """The geometric mean, the worst question, and the verdict against what is wanted."""
    mean = statistics.geometric_mean(r[0] for r in ratios.values())
    worst = min(ratios, key=lambda name: ratios[name][0])
    reached = mean >= wanted.mean_wanted and ratios[worst][0] >= wanted.worst_wanted
    print(f"geometric mean {mean:.2f}× (wanted {wanted.mean_wanted}×), worst {ratios[worst][0]:.2f}× (wanted {wanted.worst_wanted}×): {worst}; "
          f"{'reached' if reached else 'missed'}")
    return {"mean": mean, "worst": worst, "reached": reached}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, default="shapes", help="the tables and questions")
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the large table")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds of each question")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--form", choices=FORMS, action="append", help="how Frazil holds the tables; all three by default")
    parser.add_argument("--only", default="", help="questions whose names begin with this text")
    parser.add_argument("--cpu", action="store_true", help="compare times of the processor")
    parser.add_argument("--json", type=pathlib.Path, help="also write the times to this file")
    parser.add_argument("--program", help="Frazil's program, run instead of the module; its answers come as JSON")
    options = parser.parse_args()
    asked = SETS[options.set]
    texts = asked.questions(options.rows, options.only)
    if not texts or options.rounds < 1 or options.rows < 1000:
        parser.error("there must be a question, a round and 1,000 rows")
    report, failed = {}, False
    them = DuckDB()
    for text in asked.statements(options.rows):
        them.run(text)
    for form in options.form or FORMS:
        us = Shell(options.program, ":memory:") if options.program else Module(":memory:")
        load(us, asked, options.rows, form)
        for engine in (us, them):
            engine.run(f"set threads = {options.threads}")
        print(f"\n{form}, {options.rows:,} rows, threads = {options.threads}\n{'Frazil ms':>10}{'DuckDB ms':>11}{'ratio':>7}  interval")
        ratios, report[form] = {}, {}
        for name, text in texts.items():
            pairs, rows, wrong = measured(text, us, them, options.rounds, options.cpu)
            report[form][name] = {"pairs": pairs, "rows": rows, "wrong": wrong}
            if wrong:
                failed = True
                print(f"{name}: {wrong[:300]}", flush=True)
                continue
            ratios[name] = mean, low, high = ratio(pairs)
            ours, theirs = (statistics.median(side) for side in zip(*pairs))
            print(f"{ours:10.1f}{theirs:11.1f}{mean:7.2f}  [{low:.2f}, {high:.2f}]  {name}, {rows} rows", flush=True)
        if ratios:
            report[form]["verdict"] = verdict(ratios, asked)
            failed = failed or not report[form]["verdict"]["reached"]
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
