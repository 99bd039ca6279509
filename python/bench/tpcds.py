"""TPC-DS beside DuckDB, in one run: `python python/bench/tpcds.py DIR` compares the answers of the 99 queries and their times.

Data and texts come from the packages duckdb and duckdb-extension-tpcds, of one version; DIR keeps the data as Parquet and as DuckDB's own file. Frazil
loads the Parquet files, with the primary keys of TPC-DS, and freezes the tables. Both engines put NULLs last in ascending order and divide
integers by integers, as PostgreSQL does. Answers must agree to ten significant digits, in the columns that ORDER BY names also in their order; rows that LIMIT
cuts off from others alike may be any of those. Each round runs both engines in turn, from the text to the rows as Python's values. The ratio is
DuckDB's time over Frazil's in the median round. The exit code is 1 if a query fails, differs or runs out of time."""

import argparse
import collections
import datetime
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import threading
import time
from decimal import Decimal

import duckdb

KEYS = {
    "call_center": "cc_call_center_sk",
    "catalog_page": "cp_catalog_page_sk",
    "catalog_returns": "cr_item_sk, cr_order_number",
    "catalog_sales": "cs_item_sk, cs_order_number",
    "customer": "c_customer_sk",
    "customer_address": "ca_address_sk",
    "customer_demographics": "cd_demo_sk",
    "date_dim": "d_date_sk",
    "household_demographics": "hd_demo_sk",
    "income_band": "ib_income_band_sk",
    "inventory": "inv_date_sk, inv_item_sk, inv_warehouse_sk",
    "item": "i_item_sk",
    "promotion": "p_promo_sk",
    "reason": "r_reason_sk",
    "ship_mode": "sm_ship_mode_sk",
    "store": "s_store_sk",
    "store_returns": "sr_item_sk, sr_ticket_number",
    "store_sales": "ss_item_sk, ss_ticket_number",
    "time_dim": "t_time_sk",
    "warehouse": "w_warehouse_sk",
    "web_page": "wp_web_page_sk",
    "web_returns": "wr_item_sk, wr_order_number",
    "web_sales": "ws_item_sk, ws_order_number",
    "web_site": "web_site_sk",
}
#: Numbers that differ by more than this part of the greater differ in their first ten digits.
TOLERANCE = 5e-10


class Module:
    """Frazil in this process."""

    def __init__(self, database):
        import frazil

        self.con = frazil.connect(database)

    def run(self, sql):
        cursor = self.con.execute(sql)
        return cursor.fetchall() if cursor.description else []

    def processor_time(self):
        return time.process_time()


class Shell:
    """Frazil's program, which reads statements from a pipe and writes each row as a JSON object."""

    def __init__(self, program, database):
        database = [] if database == ":memory:" else [database]
        self.child = subprocess.Popen([program, "-X", "--mode", "jsonlines", "--cmd", ".bail off", *database], text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, sql):
        self.child.stdin.write(f"{sql}\n;\n\\echo end of the answer\n")
        self.child.stdin.flush()
        lines = []
        for line in self.child.stdout:
            if line == "end of the answer\n":
                break
            lines.append(line)
        else:
            raise SystemExit(f"Frazil ended: {''.join(lines)}")
        if lines and not lines[0].startswith("{"):
            raise RuntimeError(lines[0].strip())
        return [tuple(json.loads(line, parse_float=Decimal, object_pairs_hook=lambda pairs: [v for _, v in pairs])) for line in lines]

    def processor_time(self):
        # What clock_getcpuclockid(3) makes of a process: Python has it of threads only.
        return time.clock_gettime(~self.child.pid << 3 | 2)


class DuckDB:
    """DuckDB on the file of its data, with TPC-DS's texts."""

    def __init__(self, folder, scale):
        self.con = duckdb.connect(str(folder / f"tpcds-{scale:g}.duckdb"))
        # The package of the extension has nothing but its file.
        import duckdb_extension_tpcds

        file = next(pathlib.Path(duckdb_extension_tpcds.__file__).parent.rglob("tpcds.duckdb_extension"))
        self.con.execute(f"load '{file}'")
        self.con.execute("set default_null_order = 'nulls_last_on_asc_first_on_desc'")
        self.con.execute("set integer_division = true")
        if not self.con.execute("select 1 from duckdb_tables() where table_name = 'web_site'").fetchall():
            self.con.execute(f"call dsdgen(sf = {scale:g})")
            self.con.execute("checkpoint")

    def texts(self):
        """The queries by their numbers."""
        found = self.con.execute("select query_nr, query from tpcds_queries()").fetchall()
        return {number: text.strip().rstrip(";").strip() for number, text in found}

    def run(self, sql, timeout=math.inf):
        timer = threading.Timer(min(timeout, threading.TIMEOUT_MAX), self.con.interrupt)
        timer.start()
        try:
            return self.con.execute(sql).fetchall()
        finally:
            timer.cancel()

    def processor_time(self):
        return time.process_time()

    def names(self):
        """Columns of the last answer."""
        return [column[0].lower() for column in self.con.description]


def load(us, them, folder):
    """Makes Frazil's tables as DuckDB has them, if they are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    if us.run("select 1 as is_there from frazil_indexes where table_name = 'web_site'"):
        return
    for table, key in KEYS.items():
        file = folder / f"{table}.parquet"
        if not file.exists():
            part = file.with_suffix(".part")
            them.run(f"copy {table} to '{part}' (format parquet)")
            part.rename(file)
        columns = ", ".join(f"{row[0]} {row[1]}" for row in them.run(f"describe {table}"))
        us.run(f"create table {table} ({columns}, primary key ({key}))")
        us.run(f"copy {table} from '{file}'")
        us.run(f"freeze table {table}")


def plain(value):
    """A value as both engines have it: text, a number or None."""
    return str(value) if isinstance(value, datetime.date) else value


def close(a, b):
    """Whether values agree to ten digits."""
    if isinstance(a, (int, float, Decimal)) and isinstance(b, (int, float, Decimal)):
        return a == b or abs(float(a) - float(b)) <= TOLERANCE * max(abs(float(a)), abs(float(b)))
    return a == b


def texts_of(row):
    """What must be equal in rows that agree: all but the numbers."""
    return tuple(v if v is None or isinstance(v, str) else 0 for v in row)


def strangers(ours, theirs):
    """Rows of ours that theirs do not have, or not so often."""
    left = collections.defaultdict(list)
    for row in theirs:
        left[texts_of(row)].append(row)
    found = []
    for row in ours:
        alike = left[texts_of(row)]
        at = next((i for i, other in enumerate(alike) if all(map(close, row, other))), None)
        found.append(row) if at is None else alike.pop(at)
    return found


def split_at_commas(text):
    """The parts of a list whose commas stand outside of parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def without_limit(text):
    return re.sub(r"\blimit\s+\d+\s*$", "", text, flags=re.IGNORECASE)


def ordered_by(text, names):
    """The columns of the answer that ORDER BY names, or numbers, at the end of the text."""
    ends = [m.end() for m in re.finditer(r"\border\s+by\b", text, re.IGNORECASE)]
    ends = [at for at in ends if text[at:].count("(") == text[at:].count(")")]
    keys = split_at_commas(without_limit(text)[ends[-1]:]) if ends else []
    keys = [re.sub(r"\s+(asc|desc|nulls\s+(first|last))\b", "", key.strip().lower()) for key in keys]
    return [int(k) - 1 if k.isdigit() else names.index(k) for k in keys if k.isdigit() or names.count(k) == 1]


def difference(text, ours, theirs, them):
    """What of two answers differs, or the empty text."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, not {len(theirs)}: {ours[:1]}, {theirs[:1]}"
    ours, theirs = ([tuple(map(plain, row)) for row in rows] for rows in (ours, theirs))
    for c in ordered_by(text, them.names()):
        for at, (a, b) in enumerate(zip(ours, theirs)):
            if not close(a[c], b[c]):
                return f"row {at}, column {c + 1}, is {a[c]!r}, not {b[c]!r}"
    strange = strangers(ours, theirs)
    if strange and without_limit(text) != text:
        strange = strangers(ours, [tuple(map(plain, row)) for row in them.run(without_limit(text))])
    return f"{strange[0]} is a row of Frazil's alone; DuckDB has {theirs[:1]}" if strange else ""


def timed(work, clock=time.perf_counter):
    """What some work gives, and the milliseconds that it took."""
    begun = clock()
    answer = work()
    return answer, 1000 * (clock() - begun)


def measured(text, us, them, options):
    """The result of a query: milliseconds of both, number of rows, and what is wrong with it."""
    def clocked(engine):
        clock = engine.processor_time if options.processor else time.perf_counter
        return timed(lambda: engine.run(text), clock)

    theirs, their_time = clocked(them)
    try:
        ours, our_time = clocked(us)
    except Exception as error:
        return None, their_time, len(theirs), str(error).split("\n")[0]
    wrong = difference(text, ours, theirs, them)
    pairs = [(clocked(us)[1], clocked(them)[1]) for _ in range(options.rounds)]
    pairs = sorted(pairs or [(our_time, their_time)], key=lambda pair: pair[1] / pair[0])
    return *pairs[len(pairs) // 2], len(theirs), wrong


def numbers(text):
    """Of a list such as 1,5-9."""
    ends = [part.split("-") for part in text.split(",")]
    return [n for part in ends for n in range(int(part[0]), int(part[-1]) + 1)]


def summary(results):
    """Prints the mean and the slowest queries, and what is wrong; gives the exit code."""
    ratios = {n: theirs / ours for n, (ours, theirs, _, wrong) in results.items() if ours and not wrong}
    wrong = [n for n, result in results.items() if result[3]]
    if ratios:
        print(f"{len(ratios)} of {len(results)} agree; geometric mean {statistics.geometric_mean(ratios.values()):.2f} times DuckDB's speed")
        print("below 0.5:", ", ".join(f"{n} ({r:.2f})" for n, r in sorted(ratios.items(), key=lambda i: i[1]) if r < 0.5) or "none")
    print("fail or differ:", ", ".join(map(str, wrong)) or "none")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="keeps the data")
    parser.add_argument("--scale", type=float, default=1, help="scale factor")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds; 0 times the run that is compared")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processor", action="store_true", help="compare processor time instead of elapsed time: for a busy machine")
    parser.add_argument("--queries", type=numbers, default=range(1, 100), help="such as 1,5-9")
    parser.add_argument("--timeout", type=int, default=60, help="seconds that Frazil has for a query")
    parser.add_argument("--memory", default="8GB", help="memory_limit of both")
    parser.add_argument("--database", default=":memory:", help="a directory that keeps Frazil's tables")
    parser.add_argument("--program", help="Frazil's program, run instead of the module; its answers come as JSON")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    us = Shell(options.program, options.database) if options.program else Module(options.database)
    them = DuckDB(options.folder, options.scale)
    _, loading = timed(lambda: load(us, them, options.folder / f"parquet-{options.scale:g}"))
    print(f"Frazil loaded in {loading / 1000:.1f} s")
    for setting in (f"threads = {options.threads}", f"memory_limit = '{options.memory}'"):
        us.run(f"set {setting}")
        them.run(f"set {setting}")
    us.run(f"set statement_timeout = '{options.timeout}s'")
    texts, results = them.texts(), {}
    print(f"{'query':>5}{'Frazil ms':>11}{'DuckDB ms':>11}{'ratio':>7}{'rows':>7}")
    for n in options.queries:
        results[n] = ours, theirs, rows, wrong = measured(texts[n], us, them, options)
        times = f"{ours:11.1f}{theirs:11.1f}{theirs / ours:7.2f}" if ours else f"{'':11}{theirs:11.1f}{'':7}"
        print(f"{n:5}{times}{rows:7}  {wrong[:300]}", flush=True)
    sys.exit(summary(results))


if __name__ == "__main__":
    main()
