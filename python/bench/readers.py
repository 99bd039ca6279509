"""Readers beside the process that writes a directory: `python python/bench/readers.py`.

*Throughput*: a process on one core commits single rows, each durable, alone and beside readers on the other cores: some that
do nothing after a first query, and some that scan the table again and again. In each round the three cases come in turns, and
the first one changes from round to round. A ratio is the writer's rate beside readers over its rate alone: the geometric mean
of the rounds, and the least and greatest of them.

*Freshness*: one process commits rows and notes when each commit returned, and a reader asks for the row by its key until it sees
it. Printed are the median and the 95th percentile of the time between.

The exit code is 1 if a bound is missed."""

import argparse
import math
import multiprocessing
import os
import statistics
import sys
import tempfile
import time

import frazil

#: Least rate of a writer beside readers over that of a writer alone.
LEAST_RATE = 0.95
#: Most milliseconds from a commit to the first answer that shows it, at the median.
MOST_LAG = 20.0
ROWS = 300_000


def fill(place):
    with frazil.connect(place) as con:
        con.execute("create table t (k integer primary key, v bigint not null, s text not null)")
        con.execute(f"insert into t select i, i * 7, 'row ' || i from generate_series(1, {ROWS}) as g (i)")
        con.execute("freeze table t")


def write(place, core, seconds, rates):
    """Commits updates and inserts of one row for some seconds, and gives the rate."""
    os.sched_setaffinity(0, {core})
    with frazil.connect(place) as con:
        con.execute("set threads = 1")
        next_key = con.execute("select max(k) from t").fetchone()[0]
        end = time.perf_counter() + seconds
        begun, commits = time.perf_counter(), 0
        while time.perf_counter() < end:
            next_key += 1
            con.execute("insert into t values ($1, $1, 'new')", [next_key])
            con.execute("update t set v = v + 1 where k = $1", [next_key * 7919 % ROWS + 1])
            commits += 2
        rates.put(commits / (time.perf_counter() - begun))


def read(place, cores, scans, ready, stop):
    """Opens the directory, and then waits, or scans until it is told to stop."""
    os.sched_setaffinity(0, cores)
    con = frazil.connect(place, read_only=True)
    con.execute("set threads = 1")
    con.execute("select count(*) from t").fetchall()
    ready.release()
    while not stop.is_set():
        if scans:
            con.execute("select count(*), sum(v), max(s) from t").fetchall()
        else:
            stop.wait(0.1)
    con.close()


def rate(place, cores, readers, scans, seconds):
    """The writer's commits in a second beside some readers."""
    context = multiprocessing.get_context("spawn")
    ready, stop, rates = context.Semaphore(0), context.Event(), context.Queue()
    own = [context.Process(target=read, args=(place, cores[1:], scans, ready, stop)) for _ in range(readers)]
    for process in own:
        process.start()
    for _ in own:
        ready.acquire()
    writer = context.Process(target=write, args=(place, cores[0], seconds, rates))
    writer.start()
    found = rates.get(timeout=10 * seconds + 60)
    stop.set()
    for process in [writer, *own]:
        process.join()
    return found


def throughput(place, cores, rounds, seconds):
    cases = {"alone": (0, False), "4 readers that wait": (4, False), "4 readers that scan": (4, True)}
    rates = {name: [] for name in cases}
    for turn in range(rounds):
        names = list(cases)
        for name in names[turn % 3 :] + names[: turn % 3]:
            rates[name].append(rate(place, cores, *cases[name], seconds))
    missed = False
    for name in list(cases)[1:]:
        ratios = [beside / alone for beside, alone in zip(rates[name], rates["alone"])]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        missed |= mean < LEAST_RATE
        print(f"{name}: {mean:.2f} of the rate alone ({min(ratios):.2f} to {max(ratios):.2f}), wanted {LEAST_RATE}")
    print(f"alone: {statistics.median(rates['alone']):,.0f} durable commits a second")
    return missed


def commit(place, core, count, times):
    os.sched_setaffinity(0, {core})
    with frazil.connect(place) as con:
        for at in range(count):
            con.execute("insert into t values ($1, 0, 'seen')", [-1 - at])
            times.put(time.monotonic())
            time.sleep(0.02)


def freshness(place, cores, count):
    context = multiprocessing.get_context("spawn")
    times = context.Queue()
    con = frazil.connect(place, read_only=True)
    con.execute("select count(*) from t").fetchall()
    os.sched_setaffinity(0, cores[1:])
    writer = context.Process(target=commit, args=(place, cores[0], count, times))
    writer.start()
    seen = []
    for at in range(count):
        while not con.execute("select 1 from t where k = $1", [-1 - at]).fetchall():
            pass
        seen.append(time.monotonic())
    lags = [max(0.0, 1000 * (now - times.get())) for now in seen]
    writer.join()
    con.close()
    lags.sort()
    median = statistics.median(lags)
    print(f"a commit is seen after {median:.2f} ms at the median, {lags[int(0.95 * count)]:.2f} ms at the 95th percentile, wanted {MOST_LAG:.0f}")
    return median > MOST_LAG


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="time of a case in a round")
    parser.add_argument("--commits", type=int, default=300, help="commits whose way to a reader is timed")
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("a writer and its readers need a core each")
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "db")
        fill(place)
        missed = throughput(place, cores, args.rounds, args.seconds)
        missed |= freshness(place, cores, args.commits)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
