"""Paths in 1 M JSON documents beside DuckDB, in one run: `python python/bench/json_paths.py [ROUNDS]` prints milliseconds and ratios.

Frazil reads jsonb by PostgreSQL's paths, DuckDB its JSON by its own; both give the same answer, which is checked before anything is
timed. Each round runs both engines in turn; the ratio is DuckDB's time over Frazil's in the median round, with the least and the
greatest.
"""

import statistics
import sys
import time

import duckdb
import frazil

ROWS = 1_000_000
THREADS = 2

#: A document of a customer, an array of two items, tags and what no path asks for.
DOCUMENTS = f"""
    select '{{"id": ' || i || ', "customer": {{"name": "customer ' || i % 9973 || '", "city": "city ' || i % 97 || '"}},
        "items": [{{"price": ' || i % 1000 || ', "count": ' || i % 7 || '}}, {{"price": ' || i % 313 || ', "count": 1}}],
        "tags": ["t' || i % 5 || '", "u' || i % 3 || '"], "note": "a longer text that lies in each of the documents"}}' as d
    from generate_series(1, {ROWS}) as g(i)"""

#: Names, Frazil's query and DuckDB's.
CASES = [
    (
        "a member of a member",
        """select count(*) from docs where jsonb_path_query_first(d, '$.customer.city') = '"city 7"'""",
        """select count(*) from docs where json_extract_string(d, '$.customer.city') = 'city 7'""",
    ),
    (
        "a number in a filter",
        "select count(*) from docs where d @? '$ ? (@.id > 900000)'",
        "select count(*) from docs where cast(json_extract(d, '$.id') as bigint) > 900000",
    ),
    (
        "an element by its position",
        "select count(*) from docs where d @@ '$.items[1].price < 100'",
        "select count(*) from docs where cast(json_extract(d, '$.items[1].price') as bigint) < 100",
    ),
    (
        "a filter over an array",
        "select count(*) from docs where d @? '$.items[*] ? (@.price > 990)'",
        "select count(*) from docs where list_max(cast(json_extract(d, '$.items[*].price') as bigint[])) > 990",
    ),
    (
        "two members",
        """select count(*) from docs where d @? '$ ? (@.tags[0] == "t1" && @.customer.city starts with "city 1")'""",
        """select count(*) from docs where json_extract_string(d, '$.tags[0]') = 't1'
            and starts_with(json_extract_string(d, '$.customer.city'), 'city 1')""",
    ),
    (
        "a sum of numbers",
        "select sum(cast(jsonb_path_query_first(d, '$.items[0].price') as bigint)) from docs",
        "select sum(cast(json_extract(d, '$.items[0].price') as bigint)) from docs",
    ),
]


def answer(con, query):
    """The one number that a query gives."""
    return int(con.execute(query).fetchall()[0][0])


def timed(con, query):
    begun = time.perf_counter()
    answer(con, query)
    return 1000 * (time.perf_counter() - begun)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    us, them = frazil.connect(), duckdb.connect()
    us.execute(f"set threads = {THREADS}")
    them.execute(f"set threads = {THREADS}")
    us.execute(f"create table docs as select cast(d as jsonb) as d from ({DOCUMENTS}) as made")
    them.execute(f"create table docs as select cast(d as json) as d from ({DOCUMENTS}) as made")
    print(f"{'':30}{'Frazil':>10}{'DuckDB':>10}   DuckDB / Frazil, {rounds} rounds")
    medians = []
    for name, ours, theirs in CASES:
        assert answer(us, ours) == answer(them, theirs), name
        pairs = [(timed(us, ours), timed(them, theirs)) for _ in range(rounds)]
        ratios = sorted(b / a for a, b in pairs)
        us_ms, them_ms = (statistics.median(side) for side in zip(*pairs))
        medians.append(statistics.median(ratios))
        print(f"{name:30}{us_ms:8.1f}ms{them_ms:8.1f}ms   {medians[-1]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    print(f"geometric mean {statistics.geometric_mean(medians):.2f}")


if __name__ == "__main__":
    main()
