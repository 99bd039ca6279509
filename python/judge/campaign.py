"""A campaign: statements by seed, each judged, differences minimized, coverage counted."""

import collections
import random
import re

from . import analytics, answers, dialect, engines, grammar
from .nodes import DUCKDB, POSTGRES, minimize

# What a difference may be put down to: each is a line of docs/sql.md, "Where answers differ from PostgreSQL".
RUN_TIME = re.compile(r"22...|21000|23502|23514")
# Errors of values and of keys: which of two comes first is open.
OF_ROWS = re.compile(r"22...|21000|23...")
SET_OPERATION = re.compile(r"\b(union|except|intersect)\b")
# Where one of several values that are equal stands for all of them.
STANDS_FOR = re.compile(r"group by|distinct|limit|fetch|min|max|any_value|first|last|mode|percentile|union|except|intersect|greatest|least|nullif|partition")
# Statements that docs/sql.md lists as not supported yet.
NOT_YET = re.compile(r"NOT VALID|LIKE …|ALTER (VIEW|SCHEMA|DOMAIN)|MATERIALIZED|[Tt]emporary|TEMP|partial index|index on an expression|target of ON CONFLICT")
STATISTICS = re.compile(r"\b(stddev|var|covar|regr|corr)\w*\(")
# This share of statements draws what analytics.py adds, and this one, before it, what wider.py adds.
ANALYTIC = 0.75
# Before both, this share draws a kind of dialect.py.
DIALECT = 0.3
WIDER = 0.45
STAGES = ["relaxed", "relaxed", "fused", "staged"]
SCANS = ["psma", "psma", "sma", "blocks", "sarg", "vectorized"]


class Verdict:
    """`kind`: same, error (both refuse), tolerated, unjudged, wrong, refused, accepted, code, died."""

    def __init__(self, kind, text=""):
        self.kind, self.text = kind, text


GOOD = ("same", "error", "tolerated", "unjudged")


def settings(r):
    return {"frazil.stages": r.choice(STAGES), "frazil.scan": r.choice(SCANS), "threads": r.choice(["1", "2"]),
            "frazil.window_rows": r.choice(["64", "4096", "65536"]), "frazil.early_probes": r.choice(["on", "on", "off"]),
            "frazil.codes_travel": r.choice(["on", "on", "off"])}


def answer(engine, statement, query):
    """What an engine says to a statement: the error of the first part that fails, or the rows of the query."""
    for part in statement.before:
        got = engine.run(part.text(engine.dialect))
        if got.error:
            break
    else:
        sql, parameters = with_parameters(query.text(engine.dialect), statement.parameters)
        got = prepared(engine, sql, parameters) if statement.prepared else engine.run(sql, parameters)
    for part in statement.after:
        engine.run(part.text(engine.dialect))
    return got


def prepared(engine, sql, parameters):
    """What PREPARE and EXECUTE of a query say."""
    got = engine.run(f"prepare kept as {sql}")
    if not got.error:
        values = ", ".join("'" + v.replace("'", "''") + "'" if isinstance(v, str) else str(v) for v in parameters)
        got = engine.run(f"execute kept ({values})" if values else "execute kept")
        engine.run("deallocate kept")
    return got


def with_parameters(sql, parameters):
    """The text with its parameters numbered from 1, and their values: some of those drawn may be in no part that is left."""
    used = sorted({int(n) for n in re.findall(r"\$(\d+) ", sql)})
    for new, old in enumerate(used, 1):
        sql = sql.replace(f"${old} ", f"${new} ")
    return sql, [parameters[n - 1] for n in used]


def judged(ours, theirs, statement, dialect):
    """How two answers compare."""
    if ours.error == "ValueError" or theirs.error == "DataError":
        return Verdict("unjudged", "Python has no such date")
    if ours.error == "died" or ours.error in ("XX000", "PanicException"):
        return Verdict("died", ours.text)
    if theirs.error and dialect == DUCKDB:
        # Which error is DuckDB's own matter; its decimals, casts and parameters have limits of their own.
        return Verdict("error" if ours.error else "unjudged", theirs.text)
    if theirs.error == "22003" and not ours.error and STATISTICS.search(statement.query.text()):
        return Verdict("tolerated", "PostgreSQL's sums of squares of doubles overflow")
    if "marks some parameters by $" in ours.text:
        return Verdict("unjudged", "? is a parameter for Frazil's module where there are values, and an operator of jsonb for the judge's")
    if ours.error == "0A000" and re.search(r"decimal (NaN|infinity)|decimal of (NaN|infinity)", ours.text, re.I):
        return Verdict("tolerated", "decimals have neither NaN nor infinity")
    if ours.error == "22003" and "overflows numeric format" in ours.text:
        return Verdict("tolerated", "numerics have 38 digits")
    if ours.error == "22003" and ours.text.endswith("OID out of range"):
        return Verdict("tolerated", "an oid has no negative numbers")
    if ours.error == "0A000" and NOT_YET.search(ours.text):
        return Verdict("tolerated", "not supported yet")
    if theirs.error == "XX000":
        return Verdict("unjudged", "an error of PostgreSQL's own: " + theirs.text)
    if theirs.error in ("42P21", "42P22"):
        return Verdict("tolerated", "collations, which there are none of")
    if theirs.error in ("57014", "53100", "53200", "54000") or ours.error in ("57014", "53100", "53200"):
        return Verdict("unjudged", f"{ours} / {theirs}")
    if ours.error and theirs.error:
        if ours.error == theirs.error:
            return Verdict("error")
        if all(is_run_time(error) or OF_ROWS.fullmatch(error.error) for error in (ours, theirs)):
            return Verdict("tolerated", "which of two run-time errors comes first")
        return Verdict("code", f"{ours.error} {ours.text}, not {theirs.error} {theirs.text}")
    if theirs.error:
        if is_run_time(theirs):
            # PostgreSQL evaluates what is constant before it knows that there are no rows.
            return Verdict("tolerated", "a run-time error in what need not be evaluated") if skippable(theirs.error, statement) or not ours.rows else Verdict("accepted", f"{theirs.error} {theirs.text}")
        return Verdict("accepted", f"{theirs.error} {theirs.text}")
    if ours.error:
        if is_run_time(ours) and skippable(ours.error, statement):
            return Verdict("tolerated", f"{ours.error}: a run-time error in what need not be evaluated")
        return Verdict("refused", f"{ours.error} {ours.text}")
    wrong = answers.difference(ours.rows, theirs.rows, statement.ordered, statement.query.is_loose())
    if wrong and dialect == DUCKDB and "Decimal" in wrong and "sum(" in statement.query.text() and SET_OPERATION.search(statement.query.text()):
        return Verdict("unjudged", "DuckDB unites decimals of 38 digits with others by rounding those")
    if wrong and not wrong.startswith("order") and STANDS_FOR.search(statement.query.text()) and answers.agrees_by_length(ours.rows, theirs.rows, statement.query.is_loose()):
        return Verdict("same")
    return Verdict("wrong", wrong) if wrong else Verdict("same")


def is_run_time(answer):
    """Whether an error is of values: several dimensions of an array are what a function does not take, and whether a path of
    jsonpath gets to a variable that nobody gave depends on its document."""
    return (RUN_TIME.fullmatch(answer.error) or answer.error == "0A000" and "multidimensional" in answer.text
            or answer.error == "42704" and "jsonpath variable" in answer.text)


def skippable(code, statement):
    """Whether an engine may pass over the expression that fails: several conditions, rows that their first parts order, or columns and rows nobody reads."""
    text = " ".join(part.text() for part in [*statement.before, statement.query])
    in_order = any(feature.startswith("function row ") for feature in statement.features())
    return code != "21000" and (in_order or any(word in text for word in (" and ", " or ", "case ", "coalesce", " where ", " on ", " filter ", "limit", "having", "distinct", "exists", "in (select")))


def statement_of(seed, judge, abilities):
    """The statement of a seed: of a kind of dialect.py, or what the grammar draws with some of the abilities."""
    r = random.Random(f"dialect {seed}")
    if judge == POSTGRES and abilities and r.random() < DIALECT:
        return dialect.Dialect(r, abilities).statement()
    r = random.Random(f"wider {seed}")
    if "wider" in abilities and r.random() < WIDER:
        return grammar.Generator(r, judge, abilities).statement()
    r = random.Random(f"analytics {seed}")
    if abilities and r.random() < ANALYTIC:
        return grammar.Generator(r, judge, abilities - {"wider"}).statement()
    return grammar.Generator(random.Random(f"statement {seed}"), judge).statement()


def kind_of(statement):
    """The kind of dialect.py that a statement is, or "grammar"."""
    return next((f.removeprefix("kind ") for f in statement.query.features if f.startswith("kind ")), "grammar")


class Campaign:
    """`hot` and `frozen`: Frazil with the same tables, in two states. `judge`: who decides. `arbiter`: PostgreSQL, if it is
    there, where DuckDB and Frazil differ: what it says is right. `which`: the abilities that are
    drawn, see analytics.py."""

    def __init__(self, folder, judge, path=None, which="there"):
        self.judge_name = judge
        self.judge = engines.open_judge(judge, folder)
        self.arbiter = None
        if judge == DUCKDB and POSTGRES in engines.judges_there():
            self.arbiter = engines.open_judge(POSTGRES, folder)
        self.frazils = [engines.Frazil(folder, False, path), engines.Frazil(folder, True, path)]
        self.abilities = analytics.abilities(which, [self.judge, *self.frazils[:1]])
        self.verdicts = collections.Counter()
        self.coverage = collections.Counter()
        self.kinds = collections.Counter()
        self.answered = 0
        self.count = 0
        self.reports = []

    def close(self):
        for engine in filter(None, [self.judge, self.arbiter, *self.frazils]):
            engine.close()

    def functions(self):
        """The features of all operators and functions that are drawn."""
        rules = grammar.RULES["wider" if "wider" in self.abilities else self.judge_name]
        return {f"function {rule[3]}" for of_kind in rules.values() for rule in of_kind}

    def statement(self, seed):
        return statement_of(seed, self.judge_name, self.abilities)

    def run(self, seed):
        """Judges the statement of a seed; gives its verdict."""
        r = random.Random(f"settings {seed}")
        statement = self.statement(seed)
        ours = self.frazils[r.random() < 0.5]
        ours.set(settings(r))
        theirs = answer(self.judge, statement, statement.query)
        mine = answer(ours, statement, statement.query)
        verdict = judged(mine, theirs, statement, self.judge.dialect)
        if self.arbiter and verdict.kind in ("wrong", "refused", "accepted", "code"):
            arbitrated = judged(mine, answer(self.arbiter, statement, statement.query), statement, POSTGRES)
            if arbitrated.kind in GOOD and arbitrated.kind != "unjudged":
                verdict = Verdict("tolerated", "PostgreSQL agrees with Frazil, and DuckDB does not")
        self.count += 1
        self.kinds[kind_of(statement)] += 1
        self.verdicts[verdict.kind] += 1
        if not theirs.error and not mine.error:
            self.answered += 1
            for feature in set(statement.features()):
                self.coverage[feature] += 1
            if mine.rows:
                for feature in set(statement.features()):
                    self.coverage["rows: " + feature] += 1
        return statement, ours, verdict

    def minimized(self, statement, ours, verdict):
        """The statement made as small as it can be with a difference of the same kind."""
        def fails(tree):
            # Without its order: a smaller statement may have lost what it was ordered by.
            smaller = grammar.Statement(tree, (), statement.before, statement.after, statement.parameters, statement.prepared)
            theirs = answer(self.judge, smaller, tree)
            if theirs.error and verdict.kind != "accepted" and verdict.kind != "code":
                return False
            now = judged(answer(ours, smaller, tree), theirs, smaller, self.judge.dialect)
            return now.kind == verdict.kind and signature(now) == signature(verdict)
        return minimize(statement.query, fails, 250)

    def report(self, seed, statement, ours, verdict, small):
        query = self.minimized(statement, ours, verdict) if small else statement.query
        before = "; ".join(part.text() for part in statement.before)
        state = "frozen" if ours.frozen else "hot"
        return f"seed {seed}, {state}, {verdict.kind}: {verdict.text[:300]}\n  {before}{'; ' if before else ''}{query.text()}" + (f"\n  parameters {statement.parameters}" if statement.parameters else "")


def signature(verdict):
    """What makes two differences the same: their kind, the code and the words of the message without names and numbers."""
    if verdict.kind == "wrong":
        return "wrong"
    return verdict.kind + re.sub(r'"[^"]*"|\d+|s\d+\.\w+|\(.*\)', "", verdict.text)[:60]
