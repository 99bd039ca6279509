"""What statements aim at: each names some operators, frames and functions, and wherever one of these may stand it is what is
likely drawn. So those come about often, too, whose place is rare."""

from . import documents, functions

# Frames by mode: where they start, where they end or None.
STARTS = ["unbounded preceding", "{} preceding", "current row", "{} following"]
ENDS = ["{} preceding", "current row", "{} following", "unbounded following"]
MODES = ["rows", "range", "groups"]
EXCLUDED = ["current row", "group", "ties", "no others"]
SIGNS = ["=", "<>", "<", "<=", ">", ">="]
# Types of the columns of results.
SHOWN = ["bool", "i2", "i4", "i8", "dec", "f8", "text", "date", "ts"]
PLACES = ["lag", "lead", "first_value", "last_value", "nth_value", "first", "last"]
# Comparisons of rows and lists with subqueries: see grammar.py.
ONE_COLUMN = {"text": ["like any", "not like all", "ilike some", "like all"], "i4": ["in", "not in", "= some", "<> all"]}
ROW = ["in", "not in", "= any", "<> all", "=", "<", ">=", "<>", "> any", "<= all"]
FORMS = ["recursive search depth", "recursive search breadth", "recursive search and cycle", "recursive cycle", "recursive reachable", "recursive union", "recursive union all",
         "grouping sets", "rollup", "cube", "key beside a grouping set", "distinct grouping sets", "qualify", "window over groups", "rows from", "series in select", "recursion within", "changing with", "top by row_number()", "top by rank()", "top by dense_rank()"]
# The query that a leading goal wants, by the first word of its name: see Analytics.analytic.
SHAPES = {"window": (0.12, 0.5), "frame": (0.12, 0.5), "exclude": (0.12, 0.5), "qualify": (0.12, 0.5), "grouping": (0.5, 0.64), "rollup": (0.5, 0.64), "cube": (0.5, 0.64), "key": (0.5, 0.64),
          "distinct": (0.5, 0.64), "top": (0, 0.5), "series": (0.88, 1), "function": (0.88, 1), "recursion": (0.88, 1), "recursive": (0.64, 0.74), "aggregate": (0.74, 0.88),
          "rows": (0.88, 1), "parts": (0.88, 1), "array": (0.88, 1)}


def shapes(mode):
    """All frames of a mode: start and end, None where none is said."""
    return [(start, end) for at, start in enumerate(STARTS) for end in [None, *ENDS]
            if (end is None and start != "{} following") or (end is not None and at <= ENDS.index(end) + 1)]


def frame_name(mode, start, end):
    return f"frame {mode} " + " to ".join(part.format("n") for part in (start, end) if part)


FRAMES = [frame_name(mode, start, end) for mode in MODES for start, end in shapes(mode)] + [f"exclude {excluded} of {mode}" for mode in MODES for excluded in EXCLUDED]
# Those whose offsets most orders refuse: a key of numbers or of times alone has them.
RARE_FRAMES = [name for name in FRAMES if name.startswith("frame range n ")]
# Those of PostgreSQL alone.
RARE_SUBQUERIES = ["exists table", *(f"{word} subquery" for words in ONE_COLUMN.values() for word in words), *(f"row {word} subquery" for word in ROW)]
SUBQUERIES = [f"subquery {word}" for word in ("in", "not in", *(f"{sign} {word}" for sign in SIGNS for word in ("any", "all")))] + ["exists", "not exists", "exists aggregate", *RARE_SUBQUERIES]


# Rows of the parts of arrays and documents, and windows over them.
PARTS = [*(f"rows of {rows[0]}" for rows in documents.ROWS), "parts in select", "array subquery(ai)", "array subquery(at)"]
PARTS_WINDOWS = [*(f"window {name}({kind})" for name in PLACES[:5] for kind in documents.SHOWN),
                 *sorted({f"window {name}({kind})" for kind, _, _, name in documents.WINDOWS})]


def leading(aggregates, spans, kept, parts):
    """The goals of which a statement has one that decides its form, and how often each is drawn. `aggregates`: those that there are;
    `spans`: functions whose results are intervals; `kept`: whether IGNORE NULLS is there; `parts`: whether arrays and documents are."""
    places = [f"window {name}({kind})" for name in PLACES for kind in SHOWN]
    places += [f"window {name} ignore nulls({kind})" for name in PLACES[:5] for kind in SHOWN] if kept else []
    places += ["window row_number(i8)", "window rank(i8)", "window dense_rank(i8)", "window percent_rank(f8)", "window cume_dist(f8)", "window ntile(i4)", "window string_agg(text)"]
    calls = sorted({(a[3], a[0]) for a in aggregates if a[0] != "char"})
    windows = [f"window {name}({kind})" for name, kind in calls if not functions.is_no_window(name) and kind != "wide"]
    groups = [f"aggregate {name}({kind})" for name, kind in calls]
    frames = {name: 10 if name in RARE_FRAMES else 4 for name in FRAMES}
    forms = {name: 200 if name == "recursive search breadth" else 70 for name in FORMS}
    groups = {name: 8 if any(word in name for word in (" of ", "wide", "string_agg")) else 2 for name in groups}
    return {**dict.fromkeys(places, 8), **dict.fromkeys(windows, 5), **groups, **frames, **forms, **dict.fromkeys(spans, 5), **dict.fromkeys(SUBQUERIES, 27), **dict.fromkeys(RARE_SUBQUERIES, 45),
            **({name: 120 if name == "parts in select" else 25 for name in PARTS} | dict.fromkeys(PARTS_WINDOWS, 8) if parts else {})}


def kind_of(goal):
    """The type that a goal names, or None."""
    kind = goal[goal.rfind("(") + 1:-1] if goal.endswith(")") else None
    return kind if kind in [*SHOWN, *documents.SHOWN, "wide", "iv", "en"] else None


def alike(calls):
    """Functions or aggregates in lists of those that have one name and type, whatever their arguments are."""
    found = {}
    for call in calls:
        found.setdefault((call[0], call[3]), []).append(call)
    return list(found.values())


class Goals:
    """The goals that there are for a judge: `rules` are its operators and functions by their type."""

    def __init__(self, rules, aggregates, kept, parts):
        named = {kind: sorted({f"function {rule[3]}({kind})" for rule in of_kind if kind != "bool" or rule[3] not in SIGNS}) for kind, of_kind in rules.items()}
        lead = leading(aggregates, named.get("iv", []), kept, parts)
        self.leading, self.weights = list(lead), list(lead.values())
        self.of_form = {word: list(zip(*[(name, n) for name, n in lead.items() if name.split()[0] == word])) for word in ("window", "aggregate", "function") if word != "function" or named.get("iv")}
        known = {f"function {rule[3]}({kind})" for kind, of_kind in rules.items() for rule in of_kind if rule[3] in documents.NAMED}
        self.functions = alike(rule for of_kind in rules.values() for rule in of_kind)
        self.aggregates = alike(aggregates)
        rest = sorted(name for kind, names in named.items() if kind not in ("bool", "iv") for name in names if name not in known)
        # json is no result: its texts are.
        ours = sorted(name for name in known if parts and kind_of(name))
        tests = sorted(name for name in named.get("bool", []) if name not in known)
        # Of each a statement has one goal besides.
        self.beside = [tests, named.get("iv"), rest, ours, [name for name in ours if name.endswith("(bool)")], SUBQUERIES, FRAMES]

    def drawn(self, r):
        """The leading goals of a statement, which are of one form, and all that it aims at."""
        leads = r.choices(self.leading, self.weights)
        word = leads[0].split()[0]
        if word in self.of_form:
            leads += r.choices(*self.of_form[word], k=3)
        beside = {r.choice(names) for names in self.beside if names}
        return leads, {*leads, *(goal for goal in beside if leads[0] not in SUBQUERIES or goal not in SUBQUERIES)}
