"""A campaign of scripts: each runs in an empty database of Frazil and of its judge, and after every statement rows, counts, errors and
the names in errors are compared. A script that differs is made short, then its statements small.

The judge is PostgreSQL or, where there is none, Frazil itself with no setting changed and nothing frozen."""

import collections
import random
import re
import time

from . import engines
from .campaign import GOOD, RUN_TIME, Verdict, judged, settings, signature, with_parameters
from .nodes import POSTGRES, minimize
from .scripts import Script

VIOLATED = re.compile(r"23...")
# Runs of a script that making it small may take.
RUNS = 400


def compared(ours, theirs, step, dialect):
    """How two answers to a step compare."""
    if step.ours:
        # In a transaction that failed nothing is done.
        return Verdict("same") if ours.error in (None, "25P02") else Verdict("refused", f"{ours.error} {ours.text}")
    codes = (ours.error, theirs.error)
    if all(codes) and all(RUN_TIME.fullmatch(c) or VIOLATED.fullmatch(c) for c in codes) and ours.error != theirs.error:
        # PostgreSQL writes a row before it computes the next one. It checks the rows of a table in their order there.
        if step.open or any(c.startswith("22") for c in codes) or "select" in step.query.text():
            return Verdict("tolerated", "which of two errors comes first")
    if ours.error == "42P10" and theirs.error:
        return Verdict("tolerated", "PostgreSQL looks for the index of ON CONFLICT last")
    if all(codes) and {c[:2] for c in codes} == {"22", "42"}:
        return Verdict("tolerated", "a literal that its type does not have, or what else is wrong with the statement")
    if all(codes) and ours.error != theirs.error and "several actions" in step.features() and ours.error != "XX000":
        return Verdict("tolerated", "which of several actions fails")
    if set(codes) <= {"42703", "42P01", "42704"} and len(set(codes)) == 2:
        return Verdict("tolerated", "which of two names is missed first")
    if ours.error == "0A000" and "only column" in ours.text:
        return Verdict("tolerated", "a table keeps a column")
    if ours.error is None and ours.count == 0 and (theirs.error or "").startswith("22"):
        return Verdict("tolerated", "PostgreSQL computes constants before it looks for rows")
    if step.open and "23505" in codes and None in codes:
        return Verdict("tolerated", "whether a key is free when its row is met")
    verdict = judged(ours, theirs, step, dialect)
    if verdict.kind == "error" and VIOLATED.fullmatch(ours.error) and ours.names != theirs.names:
        return Verdict("tolerated", "which row comes first") if step.open else Verdict("names", f"{ours.error} {ours.names}, not {theirs.names}")
    if verdict.kind == "same" and theirs.count >= 0 and step.query.sort == ("change",) and ours.count != theirs.count:
        return Verdict("count", f"{ours.count} rows counted, not {theirs.count}")
    return verdict


def sign(found):
    """What makes two differences the same."""
    verdict = found.verdict
    return f"{verdict.kind} {found.ours.error} {found.theirs.error}" if verdict.kind in ("code", "names") else signature(verdict)


class Difference:
    """The first step of a script whose answers differ, with both."""

    def __init__(self, at, verdict, ours, theirs):
        self.at, self.verdict, self.ours, self.theirs = at, verdict, ours, theirs


class ScriptCampaign:
    def __init__(self, judge, path=None):
        self.judge = engines.Postgres(None) if judge == POSTGRES else engines.Frazil(None, path=path)
        self.frazil = engines.Frazil(None, path=path)
        self.verdicts = collections.Counter()
        self.coverage = collections.Counter()
        self.scripts = 0

    def close(self):
        self.judge.close()
        self.frazil.close()

    def begin(self, seed):
        r = random.Random(f"settings {seed}")
        self.judge.fresh()
        self.frazil.fresh(durable=r.random() < 0.25)
        self.frazil.set(settings(r))

    def answers(self, step):
        if "reopen" in step.query.features:
            return self.frazil.reopen() if self.frazil.place else engines.Answer([]), engines.Answer([])
        ours = self.frazil.run(*with_parameters(step.query.text(self.frazil.dialect), step.parameters))
        if step.ours:
            return ours, engines.Answer([])
        return ours, self.judge.run(*with_parameters(step.query.text(self.judge.dialect), step.parameters))

    def run(self, seed):
        """Runs the script of a seed; gives its steps, and the difference if there is one."""
        self.begin(seed)
        self.scripts += 1
        script, done = Script(random.Random(f"script {seed}")), []
        for step in script.steps():
            done.append(step)
            ours, theirs = self.answers(step)
            verdict = compared(ours, theirs, step, self.judge.dialect)
            self.verdicts[verdict.kind] += 1
            if not theirs.error:
                self.coverage.update({f for f in step.features() if not f.startswith(("function", "type", "literal"))})
            if verdict.kind not in GOOD:
                return done, Difference(len(done) - 1, verdict, ours, theirs)
            if bool(ours.error) != bool(theirs.error) and not step.ours:
                # The databases are no longer the same.
                break
            script.told(not theirs.error)
        return done, None

    def again(self, seed, steps):
        """The difference of steps that are there already."""
        self.begin(seed)
        for at, step in enumerate(steps):
            ours, theirs = self.answers(step)
            verdict = compared(ours, theirs, step, self.judge.dialect)
            if verdict.kind not in GOOD:
                return Difference(at, verdict, ours, theirs)
            if bool(ours.error) != bool(theirs.error) and not step.ours:
                return None
        return None

    def minimized(self, seed, steps, found):
        """The steps and their difference made as small as they can be with a difference of the same kind."""
        wanted, runs = sign(found), 0
        steps = steps[:found.at + 1]

        def fails(steps):
            nonlocal runs, found
            runs += 1
            now = self.again(seed, steps)
            if now is None or sign(now) != wanted:
                return False
            found = now
            return True
        width = max(1, len(steps) // 2)
        while runs < RUNS:
            start, shorter = 0, False
            while start < len(steps) and runs < RUNS:
                rest = steps[:start] + steps[start + width:]
                if rest and fails(rest):
                    steps, shorter = rest[:found.at + 1], True
                else:
                    start += width
            if width == 1 and not shorter:
                break
            width = max(1, width // 2)
        for at in range(len(steps) - 1, -1, -1):
            def with_query(query, at=at):
                return [*steps[:at], steps[at].with_query(query), *steps[at + 1:]]
            steps = with_query(minimize(steps[at].query, lambda query: fails(with_query(query)), RUNS // 8))
        # The answers of what is left.
        return steps, self.again(seed, steps) or found

    def report(self, seed, steps, found, small):
        if small:
            steps, found = self.minimized(seed, steps, found)
        lines = [f"seed {seed}, {found.verdict.kind}: {found.verdict.text[:300]}"]
        for step in steps:
            sql, values = with_parameters(step.query.text(self.frazil.dialect), step.parameters)
            lines.append(f"  {sql};" + (f" -- parameters {values}" if values else ""))
        return "\n".join([*lines, f"  Frazil: {answered(found.ours)}", f"  {'PostgreSQL' if self.judge.dialect == POSTGRES else 'Frazil unchanged'}: {answered(found.theirs)}"])


def answered(answer):
    """An answer in a line of a report."""
    return f"{answer!r} {answer.names}" if answer.error else f"{answer!r}, counted {answer.count}"


def run(options):
    """Runs scripts and prints what differs; gives the number of differences."""
    campaign = ScriptCampaign(options.judge, options.module)
    kinds, start = collections.Counter(), time.monotonic()
    for seed in range(options.seed, options.seed + options.scripts):
        steps, found = campaign.run(seed)
        if found:
            kinds[sign(found)] += 1
            if kinds[sign(found)] <= (20 if found.verdict.kind == "wrong" else 3):
                print(campaign.report(seed, steps, found, options.minimize), flush=True)
        if time.monotonic() - start > options.seconds:
            break
    campaign.close()
    print(f"{campaign.scripts} scripts, {sum(campaign.verdicts.values())} statements in {time.monotonic() - start:.0f} s; "
          + ", ".join(f"{kind} {n}" for kind, n in campaign.verdicts.most_common()))
    for kind, n in kinds.most_common(40):
        print(f"  {n:5} {kind}")
    if options.coverage:
        print(f"{len(campaign.coverage)} features, less than {options.coverage} times: {sorted((n, f) for f, n in campaign.coverage.items() if n < options.coverage)}")
    return sum(kinds.values())
