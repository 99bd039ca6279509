"""Questions of many shapes beside DuckDB, in one run: `python python/bench/shapes.py --rows 10000000`.

Tables and questions are those of `frazil bench shapes` (crates/bench/src/shapes). Both engines run the text that makes the tables, so that
both hold the same rows. Frazil holds them hot, frozen, or frozen with raw strings. In each round both engines answer each question in turn,
and the one that begins changes from round to round. A ratio is DuckDB's time over Frazil's: the geometric mean of the rounds, with its 95 %
confidence interval. Answers must agree to ten significant digits. The exit code is 1 if a question fails or differs, or if a verdict is "missed"."""

import argparse
import json
import math
import pathlib
import statistics
import sys

import duckdb

from tpcds import Module, Shell, plain, strangers, timed

TEXTS = pathlib.Path(__file__).resolve().parents[2] / "crates" / "bench" / "src" / "shapes"
NAMES = ["facts", "tens", "parents", "few"]
STRINGS = [("facts", "s100"), ("facts", "t100"), ("facts", "s100k"), ("facts", "fname"), ("tens", "name"), ("parents", "name")]
FORMS = ["hot", "frozen", "raw"]
#: The geometric mean and the worst ratio that Frazil is to reach.
MEAN_WANTED, WORST_WANTED = 2.0, 1.2
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


def with_rows(text, rows):
    """A text whose numbers of rows are filled in."""
    return text.replace("{rows}", str(rows)).replace("{tenth}", str(rows // 10))


def statements(rows):
    """The statements that make and fill the tables."""
    lines = (line.split("--")[0] for line in (TEXTS / "tables.sql").read_text().splitlines())
    return [part.strip() for part in with_rows("\n".join(lines), rows).split(";") if part.strip()]


def questions(rows, only):
    """Texts of the questions by their names."""
    found = {}
    for line in (TEXTS / "questions.sql").read_text().split("\n\n", 1)[1].splitlines():
        if line.startswith("-- "):
            name = line.removeprefix("-- ")
            found[name] = ""
        else:
            found[name] += with_rows(line.rstrip(";"), rows) + " "
    return {name: text for name, text in found.items() if name.startswith(only)}


def load(us, them, rows, form):
    """Fills the tables of both engines, and freezes those of Frazil if the form says so."""
    us.run("set frazil.freeze_after = off")
    us.run("set frazil.refreeze_budget = off")
    for text in statements(rows):
        us.run(text)
        them.run(text)
    if form == "raw":
        for table, column in STRINGS:
            us.run(f"alter table {table} set (\"encoding.{column}\" = 'raw')")
    if form != "hot":
        for table in NAMES:
            us.run(f"freeze table {table}")


def ratio(pairs):
    """Geometric mean of DuckDB's times over Frazil's, and the ends of its interval."""
    logs = [math.log(theirs / ours) for ours, theirs in pairs]
    mean = statistics.mean(logs)
    half = math.inf
    if len(logs) > 1:
        half = STUDENT[min(len(logs) - 1, len(STUDENT)) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half) if half < math.inf else math.inf


def measured(text, us, them, rounds):
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
        times = [timed(lambda engine=engine: engine.run(text))[1] for engine in engines]
        pairs.append(tuple(times if turn % 2 == 0 else reversed(times)))
    return pairs, len(theirs), ""


def verdict(ratios):
    """The geometric mean, the worst question, and the verdict against what is wanted."""
    mean = statistics.geometric_mean(r[0] for r in ratios.values())
    worst = min(ratios, key=lambda name: ratios[name][0])
    reached = mean >= MEAN_WANTED and ratios[worst][0] >= WORST_WANTED
    print(f"geometric mean {mean:.2f}× (wanted {MEAN_WANTED}×), worst {ratios[worst][0]:.2f}× (wanted {WORST_WANTED}×): {worst}; "
          f"{'reached' if reached else 'missed'}")
    return {"mean": mean, "worst": worst, "reached": reached}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the large table")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds of each question")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--form", choices=FORMS, action="append", help="how Frazil holds the tables; all three by default")
    parser.add_argument("--only", default="", help="questions whose names begin with this text")
    parser.add_argument("--json", type=pathlib.Path, help="also write the times to this file")
    parser.add_argument("--program", help="Frazil's program, run instead of the module; its answers come as JSON")
    options = parser.parse_args()
    texts = questions(options.rows, options.only)
    if not texts or options.rounds < 1 or options.rows < 1000:
        parser.error("there must be a question, a round and 1,000 rows")
    report, failed = {}, False
    for form in options.form or FORMS:
        us, them = Shell(options.program, ":memory:") if options.program else Module(":memory:"), DuckDB()
        load(us, them, options.rows, form)
        for engine in (us, them):
            engine.run(f"set threads = {options.threads}")
        print(f"\n{form}, {options.rows:,} rows, threads = {options.threads}\n{'Frazil ms':>10}{'DuckDB ms':>11}{'ratio':>7}  interval")
        ratios, report[form] = {}, {}
        for name, text in texts.items():
            pairs, rows, wrong = measured(text, us, them, options.rounds)
            report[form][name] = {"pairs": pairs, "rows": rows, "wrong": wrong}
            if wrong:
                failed = True
                print(f"{name}: {wrong[:300]}", flush=True)
                continue
            ratios[name] = mean, low, high = ratio(pairs)
            ours, theirs = (statistics.median(side) for side in zip(*pairs))
            print(f"{ours:10.1f}{theirs:11.1f}{mean:7.2f}  [{low:.2f}, {high:.2f}]  {name}, {rows} rows", flush=True)
        if ratios:
            report[form]["verdict"] = verdict(ratios)
            failed = failed or not report[form]["verdict"]["reached"]
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
