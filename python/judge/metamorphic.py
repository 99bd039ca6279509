"""Checks that need no judge: what must give the same rows whatever it gives.

TLP (Rigger and Su 2020): the rows of a query are those for which a condition is true, false, or unknown. NoREC (same authors):
rows that pass WHERE are as many as those for which the condition, as a column, is true. And no setting, nor whether
rows are hot or frozen, changes an answer."""

import collections
import random
import time

from . import analytics, answers, engines, grammar
from .campaign import settings, with_parameters
from .nodes import POSTGRES


class Checker:
    def __init__(self, folder, path=None, which="there"):
        self.frazils = [engines.Frazil(folder, frozen, path) for frozen in (False, True)]
        self.abilities = analytics.abilities(which, self.frazils[:1])
        self.counts = collections.Counter()

    def close(self):
        for engine in self.frazils:
            engine.close()

    def check(self, seed):
        """None, or what is wrong with the statements of a seed."""
        r = random.Random(f"metamorphic {seed}")
        check = r.choice([self.tlp, self.norec, self.alike])
        engine = r.choice(self.frazils)
        engine.set(settings(r))
        return check(r, engine)

    def tlp(self, r, engine):
        g = grammar.Generator(r, POSTGRES)
        source = g.source(2)
        test = g.expr("bool", source.columns, 3).text()
        items = ", ".join(g.expr(k, source.columns, 1).text() for k in g.kinds(2))
        whole = f"select {items} from {source.node.text()}"
        parts = [f"{whole} where {test}", f"{whole} where not {test}", f"{whole} where {test} is null"]
        got = [engine.run(*with_parameters(sql, g.parameters)) for sql in [whole, *parts]]
        self.counts["tlp"] += 1
        if any(a.error for a in got):
            self.counts["tlp refused"] += 1
            return died(got, [whole, *parts])
        wrong = answers.difference([row for a in got[1:] for row in a.rows], got[0].rows)
        return wrong and f"TLP: {wrong}\n  {whole}\n  {test}"

    def norec(self, r, engine):
        g = grammar.Generator(r, POSTGRES)
        source = g.source(2)
        test = g.expr("bool", source.columns, 3).text()
        pair = [f"select count(*) from {source.node.text()} where {test}", f"select count(case when {test} then 1 end) from {source.node.text()}"]
        got = [engine.run(*with_parameters(sql, g.parameters)) for sql in pair]
        self.counts["norec"] += 1
        if any(a.error for a in got):
            self.counts["norec refused"] += 1
            return died(got, pair)
        return None if got[0].rows == got[1].rows else f"NoREC: {got[0].rows} is not {got[1].rows}\n  {pair[0]}"

    def alike(self, r, engine):
        """Two states of the rows, two draws of the settings."""
        statement = grammar.Generator(r, POSTGRES, self.abilities if self.abilities and r.random() < 0.5 else frozenset()).statement()
        if statement.before:
            return None
        sql, got = statement.query.text(), []
        for engine in self.frazils:
            engine.set(settings(r))
            got.append(engine.run(*with_parameters(sql, statement.parameters)))
        self.counts["alike"] += 1
        if any(a.error for a in got):
            self.counts["alike refused"] += 1
            codes = {a.error for a in got}
            # Which rows meet an error first, and whether, may depend on the plan.
            allowed = len(codes) == 1 or all(c is None or c.startswith("22") or c in ("57014", "53200") for c in codes)
            return died(got, [sql]) or (None if allowed else f"alike: {got}\n  {sql}")
        wrong = answers.difference(got[0].rows, got[1].rows, statement.ordered, statement.query.is_loose())
        return wrong and f"alike: {wrong}\n  {self.frazils[0].settings} hot, {self.frazils[1].settings} frozen\n  {sql}"


def died(got, texts):
    for answer, sql in zip(got, texts * len(got)):
        if answer.error in ("died", "XX000"):
            return f"{answer.error} {answer.text}\n  {sql}"
    return None


def run(options):
    """Runs checks and prints what is wrong; gives their number."""
    checker = Checker(engines.data_folder(), options.module, options.analytics)
    wrong, start = 0, time.monotonic()
    for seed in range(options.seed, options.seed + options.statements):
        found = checker.check(seed)
        if found:
            wrong += 1
            print(f"seed {seed}: {found}", flush=True)
        if time.monotonic() - start > options.seconds:
            break
    checker.close()
    print(f"{wrong} wrong; {dict(checker.counts)}")
    return wrong
