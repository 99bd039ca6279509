"""`python -m judge --statements 20000 --judge postgres`: runs generated statements on Frazil and a judge, and says what differs.

Needs the module frazil, and duckdb or psycopg with a PostgreSQL whose socket's folder is JUDGE_PG (`cargo xtask judge` brings the module)."""

import argparse
import collections
import re
import sys
import time

from . import engines, metamorphic, script_campaign
from .campaign import GOOD, Campaign, signature


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, default=1000)
    parser.add_argument("--scripts", type=int, default=0, help="run scripts that change tables instead; the judge is postgres or none: Frazil hot, by default settings")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--judge", choices=["duckdb", "postgres", "none"], default="duckdb", help="none: metamorphic checks")
    parser.add_argument("--module", help="a folder with another build of the module frazil")
    parser.add_argument("--minimize", action="store_true", help="make the first statement of each kind of difference small")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--kinds", default="wrong,refused,accepted,code,died", help="differences to report")
    parser.add_argument("--analytics", choices=["there", "all", "none"], default="there", help="windows, grouping sets, recursion and their like: those that both engines have, all of the judge, or none")
    parser.add_argument("--coverage", type=int, help="say how often each operator, frame and aggregate ran over rows, and list what occurred less often than this")
    options = parser.parse_args()
    engines.collect_seldom()
    if options.scripts and options.judge != "duckdb" and options.judge in [*engines.judges_there(), "none"]:
        sys.exit(min(100, script_campaign.run(options)))
    if options.judge == "none":
        sys.exit(min(100, metamorphic.run(options)))
    if options.judge not in engines.judges_there():
        sys.exit(f"{options.judge} is not installed")
    campaign = Campaign(engines.data_folder(), options.judge, options.module, options.analytics)
    kinds = collections.Counter()
    start = time.monotonic()
    for seed in range(options.seed, options.seed + options.statements):
        statement, ours, verdict = campaign.run(seed)
        if verdict.kind in options.kinds.split(","):
            sign = signature(verdict)
            kinds[sign] += 1
            if kinds[sign] <= (20 if verdict.kind == "wrong" else 2):
                print(campaign.report(seed, statement, ours, verdict, options.minimize), flush=True)
        if time.monotonic() - start > options.seconds:
            break
    summary(campaign, kinds, time.monotonic() - start)
    if options.coverage:
        print(table_of(campaign.coverage))
        # Functions that never ran over rows are counted, too.
        rows = dict.fromkeys((f"rows: {name}" for name in campaign.functions()), 0)
        rows |= {k: v for k, v in campaign.coverage.items() if k.startswith("rows: ")}
        rare = sorted((v, k) for k, v in rows.items() if v < options.coverage)
        print(f"{len(rows)} features, {len(rare)} of them less than {options.coverage} times over rows: {rare}")
    campaign.close()
    sys.exit(min(100, sum(n for kind, n in campaign.verdicts.items() if kind not in GOOD)))


# How features of operators, frames and aggregates begin; a type in parentheses behind the name is one more count of the same.
OPERATORS = ["frame ", "exclude ", "window ", "aggregate ", "recursi", "series", "rows from", "with ordinality", "rollup", "cube", "grouping", "empty grouping", "distinct grouping",
             "key beside", "named window", "partition by", "top by", "qualify", "prepared"]


def table_of(coverage):
    """Lines that say how often each operator, frame and aggregate ran in statements that gave rows, the rarest first."""
    counts = {name[len("rows: "):]: n for name, n in coverage.items() if name.startswith("rows: ")}
    kept = {name: n for name, n in counts.items() if any(name.startswith(word) for word in OPERATORS) and not re.search(r"\([a-z0-9]+\)$", name)}
    return "over rows:\n" + "\n".join(f"  {n:6} {name}" for name, n in sorted(kept.items(), key=lambda item: item[1]))


def summary(campaign, kinds, seconds):
    print(f"{campaign.count} statements in {seconds:.0f} s; answered by both {campaign.answered / max(1, campaign.count):.1%}; "
          + ", ".join(f"{kind} {n}" for kind, n in campaign.verdicts.most_common()))
    print("by kind: " + ", ".join(f"{kind} {n}" for kind, n in campaign.kinds.most_common()))
    for sign, n in kinds.most_common(40):
        print(f"  {n:5} {sign}")


if __name__ == "__main__":
    main()
