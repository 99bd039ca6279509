"""What analysts ask for: windows with every frame, grouping sets, recursive queries, rows from functions, and aggregates of statistics,
texts and ordered sets.

Each is an ability. A campaign draws those that its engines have, which a probe of each tells (`--analytics there`), all that its judge
has, to see what Frazil refuses (`all`), or none. Answers may not depend on the order of rows that tie: where they would, a window is
ordered by all columns that its query reads, so that rows which tie are alike."""

from . import documents, functions, goals, wider
from .goals import ENDS, EXCLUDED, STARTS
from .nodes import DUCKDB, POSTGRES, Node, form, listed
from .sources import CASTS, Column, Source

# A statement that an engine answers if it has the ability. None: it has another text for it, or what engines.KEPT makes in PostgreSQL.
PROBES = {
    "windows": "select sum(x) over (partition by x order by x), lag(x) over (order by x) from (values (1)) v (x)",
    "frames": "select sum(x) over (order by x groups between 1 preceding and 1 following exclude ties) from (values (1)) v (x)",
    "qualify": {POSTGRES: None, None: "select x from (values (1)) v (x) qualify rank() over (order by x) = 1"},
    "kept": {POSTGRES: None, DUCKDB: "select lag(x ignore nulls) over (order by x) from (values (1)) v (x)", None: "select lag(x) ignore nulls over (order by x) from (values (1)) v (x)"},
    "grouping sets": "select x, grouping(x) from (values (1)) v (x) group by grouping sets (rollup (x), cube (x), ())",
    "distinct sets": "select x from (values (1)) v (x) group by distinct rollup (x), cube (x)",
    "recursion": "with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) select n from r",
    "cycle": "with recursive r (n) as (select 1 union all select 1 from r) cycle n set looped using way select n, looped from r",
    "search": "with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) search depth first by n set place select n from r order by place",
    "recursion within": "select (with recursive r (n) as (select x union all select n + 1 from r where n < 3) select max(n) from r) from (values (1)) v (x)",
    "series": "select s.v, o from generate_series(1, 2) with ordinality s (v, o)",
    "series of times": "select v from generate_series(timestamp '2000-01-01', timestamp '2000-01-02', interval '1 hour') s (v)",
    "series in select": "select generate_series(1, 2) + 1 from (values (1)) v (x)",
    "rows from": "select a, b, o from rows from (generate_series(1, 2), generate_series(1, 3)) with ordinality s (a, b, o)",
    "spans": "select sum(x), avg(x), min(x), max(x) from (values (interval '1 day')) v (x)",
    "logic": "select bool_and(x = 1), bool_or(x = 1), bit_and(x), bit_or(x), bit_xor(x) from (values (1)) v (x)",
    "every": "select every(x = 1) from (values (1)) v (x)",
    "statistics": "select stddev(x), stddev_pop(x), variance(x), var_pop(x) from (values (1)) v (x)",
    "regression": "select covar_pop(x, x), covar_samp(x, x), regr_sxx(x, x), regr_count(x, x) from (values (cast(1 as double precision))) v (x)",
    # NULL where all values are equal, which casts to a date as NaN (DuckDB's answer) does not.
    "slopes": "select cast(cast(corr(x, x) as text) as date), cast(cast(regr_slope(x, x) as text) as date) from (values (cast(1 as double precision))) v (x)",
    "texts": "select string_agg(distinct x, ',' order by x) from (values ('a')) v (x)",
    "ordered sets": "select percentile_cont(0.5) within group (order by x), percentile_disc(0.5) within group (order by x), mode() within group (order by x) from (values (1)) v (x)",
    "hypothetical": "select rank(1) within group (order by x), cume_dist(1) within group (order by x) from (values (1)) v (x)",
    "quantiles": {POSTGRES: None, None: "select median(x), quantile_cont(x, 0.25), quantile_disc(x, 0.5), quantile(x, 0.3) from (values (1)) v (x)"},
    "pairs": "select count(distinct (x, x)) from (values (1)) v (x)",
    "other types": "select min(cast(x as time)), min(cast('a' as char(5))), max(cast(1 as real)) from (values (timestamp '2000-01-01 00:00:00')) v (x)",
    "any value": {POSTGRES: None, None: "select any_value(x) from (values (1)) v (x)"},
    "places": "select arg_min(x, x), max_by(x, x) from (values (1)) v (x)",
    "ends": "select first(x order by x), last(x order by x) from (values (1)) v (x)",
    "about": {POSTGRES: None, None: "select approx_count_distinct(x) from (values (1)) v (x)"},
    "sample": "select k from one tablesample bernoulli (100)",
    "changing": "with d (k) as (delete from void returning k) select k from d",
    "arrays": {DUCKDB: "select DuckDB writes them in another way",
               None: "select array_agg(distinct x order by x), min(array[x]) from (values (1)) v (x)"},
    "json": {DUCKDB: "select DuckDB has no jsonb", None: "select json_agg(x order by x), jsonb_object_agg(x, x) from (values (1)) v (x)"},
    "documents": {DUCKDB: "select DuckDB has no jsonb",
                  None: "select v, o, key, value from unnest(array[1], array['a']) with ordinality a (v, w, o), "
                        "jsonb_each('{\"a\":1}'::jsonb)"},
    "wider": {DUCKDB: "select DuckDB has no jsonpath", None: "select enum_first(mood), little, jsonb_path_query_first(jb, '$') from moods"},
    "series of decimals": "select v from generate_series(1.5, 3, 0.5) s (v)",
}
# Types that RANGE takes offsets for, and the offsets.
OFFSETS = {
    "i2": ["1", "2", "0"], "i4": ["1", "3", "0", "1 + 1"], "i8": ["1", "10", "0"], "dec": ["0.5", "2.25", "0"], "f8": ["cast(0.5 as double precision)", "cast(2 as double precision)"],
    "date": ["interval '1 day'", "interval '1 month'", "interval '40 days'"], "ts": ["interval '12 hours'", "interval '1 day'", "interval '1 month'"],
}
# What asks for a form of grouping sets, see Analytics.sets.
SETS = {"rollup": 0, "cube": 0.42, "key beside a grouping set": 0.5, "grouping sets": 0.9}
COUNTS = ["1", "1", "2", "3", "0", "1 + 1"]
# Functions of places in an order: result, template, arguments. `kind`: the one that is asked for.
PLACES = [
    ("i8", "row_number()", []), ("i4", "ntile({})", ["count"]), ("kind", "lag({})", ["kind"]), ("kind", "lead({})", ["kind"]), ("kind", "lag({}, {})", ["kind", "offset"]),
    ("kind", "lead({}, {}, {})", ["kind", "offset", "kind literal"]), ("kind", "first_value({})", ["kind"]), ("kind", "last_value({})", ["kind"]), ("kind", "nth_value({}, {})", ["kind", "position"]),
]
# Those that may pass over NULLs: Frazil's text, DuckDB's, and of the aggregates that PostgreSQL is given the one that gives the value.
# `frame`: the one of lag and lead, which take no notice of frames.
BEFORE, BEHIND = " rows between unbounded preceding and 1 preceding", " rows between 1 following and unbounded following"
KEPT = [("first_value({}) ignore nulls", "first_value({} ignore nulls)", "kept_1", None), ("last_value({}) ignore nulls", "last_value({} ignore nulls)", "back_1", None),
        ("nth_value({}, 2) ignore nulls", "nth_value({}, 2 ignore nulls)", "kept_2", None), ("nth_value({}, 3) ignore nulls", "nth_value({}, 3 ignore nulls)", "kept_3", None),
        ("lag({}) ignore nulls", "lag({} ignore nulls)", "back_1", BEFORE), ("lag({}, 2) ignore nulls", "lag({}, 2 ignore nulls)", "back_2", BEFORE),
        ("lead({}) ignore nulls", "lead({} ignore nulls)", "kept_1", BEHIND), ("lead({}, 3) ignore nulls", "lead({}, 3 ignore nulls)", "kept_3", BEHIND)]
# Aggregates of the order of rows.
ROWS_IN_ORDER = [("kind", "first({})", ["kind"]), ("kind", "last({})", ["kind"])]
RANKS = [("i8", "rank()"), ("i8", "dense_rank()"), ("f8", "percent_rank()"), ("f8", "cume_dist()")]


def abilities(which, engines):
    """The abilities of all engines; `which`: there, all (what the judge, the first one, has), or none."""
    if which == "none":
        return frozenset()
    asked = engines if which == "there" else engines[:1]
    return frozenset(name for name in PROBES if all(has(engine, name) for engine in asked))


def has(engine, ability):
    """Whether an engine has an ability."""
    probe = PROBES[ability]
    if not isinstance(probe, str):
        probe = probe.get(engine.dialect, probe[None])
    return probe is None or not engine.run(probe).error


class Window:
    """What stands behind OVER. `total`: rows that tie are alike. `ordered`: there is an order. `rows`: the frame counts rows, so
    that places in the order matter. `parts`: partition and order, without the frame. `few`: its query has few rows."""

    def __init__(self, node, total, ordered, rows, parts):
        self.node, self.total, self.ordered, self.rows, self.parts = node, total, ordered, rows, parts
        self.few = False


class Analytics:
    """The part of the generator that draws them; `self.abilities` are those it may draw."""

    def can(self, ability):
        return ability in self.abilities

    def aim(self, options, features):
        """One of the options that are a goal of the statement, which `features` says of one, or None: these goals are not asked for now."""
        if not self.goals or self.chance(0.1):
            return None
        wanted = [option for option in options if any(feature in self.goals for feature in features(option))]
        return self.r.choice(wanted) if wanted else None

    def analytic(self, kinds, depth, limit, top):
        """A query with one of the abilities, and its order; None for any other."""
        pick = self.r.random()
        shape = goals.SHAPES.get(self.lead.split()[0]) if self.lead else None
        if shape and self.chance(0.9):
            pick = shape[0] + pick * (shape[1] - shape[0])
        if self.can("windows") and pick < 0.5:
            over_groups = pick < 0.12 or self.lead == "window over groups"
            body = self.windowed_top(kinds, depth) if pick < 0.06 and depth > 0 or self.lead and self.lead.startswith("top") else self.windowed_groups(kinds, depth) if over_groups else self.windowed(kinds, depth)
        elif self.can("grouping sets") and 0.5 <= pick < 0.64:
            body = self.grouped(kinds, depth, sets=True)
        elif self.can("recursion") and 0.64 <= pick < 0.74 and not self.scopes and not self.ctes:
            return self.with_recursive(kinds, depth, limit, top)
        elif 0.74 <= pick < 0.88:
            body = self.grouped(kinds, depth)
        else:
            return None
        return self.ordered(body, len(kinds), limit, top)

    def aggregates(self):
        return [a for group in self.aggregate_groups() for a in group]

    def aggregate_groups(self):
        """Every engine's aggregates, then those of each ability."""
        return [functions.AGGREGATES] + [calls for name, calls in functions.ANALYTIC_AGGREGATES.items() if self.can(name)]

    def aggregate(self, kind):
        """An aggregate of a type, or None: first its group, because some groups are large."""
        groups = [[a for a in group if a[0] == kind] for group in self.aggregate_groups()]
        groups = [group for group in groups if group]
        aimed = self.aim([a for group in groups for a in group], lambda a: [f"aggregate {a[3]}({kind})"])
        if aimed:
            return aimed
        return self.r.choice(self.r.choice(groups) if len(groups) > 1 else groups[0]) if groups else None

    # Windows.

    def few(self, source):
        """Some of a source's columns, which a query with windows reads alone."""
        columns = [c for c in source.columns if isinstance(c.ref, str) and c.kind not in documents.UNORDERED]
        return self.r.sample(columns, min(len(columns), self.r.randint(1, 5)))

    def windowed(self, kinds, depth):
        source = self.source(depth)
        where = self.where(source, depth) if not self.lead or self.chance(0.6) else Node(("where",), [], optional=True)
        scope = self.few(source)
        windows, named = self.windows(scope, scope, source.rows > 1000)
        exprs = [self.windowed_expr(kind, scope, windows) for kind in kinds]
        loose = any(e.is_loose() for e in exprs)
        distinct = "distinct " if not loose and self.chance(0.1) else ""
        if self.can("qualify") and not loose and self.chance(0.7 if self.lead == "qualify" else 0.12):
            return self.qualified(kinds, distinct, self.items(exprs), (source.node, where, named), self.window_test(scope, windows))
        return form(("query", *kinds), f"select {distinct}{{}} from {{}}{{}}{{}}", self.items(exprs), source.node, where, named, features=["window query"])

    def qualified(self, kinds, distinct, items, tail, test):
        """QUALIFY; PostgreSQL filters the rows of a subquery."""
        names = ", ".join(f"c{at}" for at in range(len(kinds)))
        if self.chance(0.5):
            # By a name of the select list.
            start, end = f"select {distinct}{names} from (select {{}}, {{}} as kept from {{}}{{}}{{}}", f") {self.alias()}"
            template = {None: start + " qualify kept" + end, POSTGRES: start + end + " where kept"}
            return form(("query", *kinds), template, items, test, *tail, features=["window query", "qualify", "qualify by a name"])
        text = test.text()
        template = {None: f"select {distinct}{{}} from {{}}{{}}{{}} qualify {text}", DUCKDB: f"select {distinct}{{}} from {{}}{{}}{{}} qualify {test.text(DUCKDB)}",
                    POSTGRES: f"select {distinct}{names} from (select {{}}, {test.text(POSTGRES)} as kept from {{}}{{}}{{}}) {self.alias()} where kept"}
        below = [feature for node in test.walk() for feature in node.features]
        return form(("query", *kinds), template, items, *tail, features=["window query", "qualify", *below])

    def windowed_top(self, kinds, depth):
        """The first rows of each partition by a rank computed below."""
        source = self.source(depth - 1)
        where = self.where(source, depth - 1)
        scope = self.few(source)
        window = self.window(scope, scope, ordered=True)
        calls = ["row_number()", "rank()"] if window.total else ["rank()", "dense_rank()"]
        call = self.aim(calls, lambda c: [f"top by {c}"]) or self.r.choice(calls)
        exprs = [self.expr(kind, scope, 1) for kind in kinds]
        rank = form(("named",), f"{call} over {{}} as place", window.node)
        inner = form(("inner",), "select {}, {} from {}{}", self.items(exprs), rank, source.node, where)
        names = ", ".join(f"c{i}" for i in range(len(kinds)))
        test = self.r.choice(["place <= 3", "place = 1", "place < 2", "place between 2 and 3"])
        return form(("query", *kinds), f"select {names} from ({{}}) {self.alias()} where {test}", inner, features=[f"top by {call}"])

    def windowed_groups(self, kinds, depth):
        """Windows over groups: aggregates are their arguments, the keys tell groups apart."""
        source = self.source(depth)
        where = self.where(source, depth)
        columns = [c for c in source.columns if isinstance(c.ref, str) and c.kind not in documents.UNORDERED]
        keys = self.r.sample(columns, min(len(columns), self.r.randint(1, 3)))
        plain = [a for a in functions.AGGREGATES if not self.is_loose_call(a)]
        calls = [self.call(self.r.choice(plain), source.columns, 1) for _ in range(self.r.randint(1, 2))]
        scope = keys + [Column(None, node.type, False, node) for node in calls]
        windows, named = self.windows(scope, keys, source.rows > 1000)
        exprs = [self.windowed_expr(kind, scope, windows) for kind in kinds]
        by = listed("keys", [Node(("key",), [key.ref]) for key in keys])
        return form(("query", *kinds), "select {} from {}{} group by {}{}", self.items(exprs), source.node, where, by, named, features=["window over groups"])

    def windows(self, scope, telling, large=False):
        """Windows to choose among, and the clause that names some of them. `large`: over many rows, for which a judge adds up most
        frames that do not only grow anew for each row."""
        made, clause, shared = [], [], None
        self.slides = not large or self.chance(0.1)
        for _ in range(self.r.randint(1, 3)):
            window = self.window(scope, telling)
            # Of rows that are alike, places in one order say nothing of places in another.
            window.total &= not any(other.total for other in made)
            if self.chance(0.2):
                name = f"w{self.alias()}"
                clause.append(form(("window",), name + " as {}", window.node, features=["named window"]))
                window.node = Node(("over",), [name])
            made.append(window)
        if self.chance(0.15):
            # A window that another one is made from: it has the partition, the other one order and frame.
            shared, base = f"w{self.alias()}", self.r.choice(scope)
            clause.append(form(("window",), shared + " as (partition by {})", self.name_of(base), features=["named window"]))
            window = self.window(scope, telling, base=shared)
            window.total &= not any(other.total for other in made)
            made.append(window)
        for window in made:
            window.few = not large
        self.slides = True
        return made, form(("windows",), " window {}", listed("windows", clause)) if clause else Node(("windows",), [])

    def name_of(self, column):
        return Node(("expr", column.kind), [column.ref], type=column.kind)

    def window(self, scope, telling, ordered=False, base=None):
        """A window over columns of `scope`; rows that agree in all of `telling` are alike."""
        r, parts, features = self.r, [base] if base else [], ["window from a window"] if base else []
        styles = ["none", "total", "keys", "range"]
        style = r.choices(styles, [0 if ordered else 6, 42, 10, 42])[0]
        wanted = self.lead.split() if self.lead else [""]
        if wanted[0] in ("frame", "exclude") and self.chance(0.7):
            style = "range" if "range" in wanted else "total"
        elif wanted[0] == "window" and self.chance(0.7):
            style = "total"
        partition = [] if base else [self.name_of(c) if self.chance(0.85) else self.expr(c.kind, scope, 1) for c in r.sample(scope, min(len(scope), r.choices([0, 1, 2], [35, 45, 20])[0]))]
        if partition:
            parts.append(form(("partition",), "partition by {}", listed("partition", partition), features=["partition by"]))
        offsets = [c for c in scope if c.kind in OFFSETS]
        if style == "range" and not offsets:
            style = "keys"
        keys = {"none": [], "range": [r.choice(offsets)] if offsets else [], "keys": r.sample(scope, min(len(scope), r.choice([1, 1, 2])))}.get(style)
        if style == "total":
            rest = [c for c in telling]
            r.shuffle(rest)
            extra = [c for c in scope if c not in rest and self.chance(0.5)]
            keys = extra + rest
        items = [self.sort_key(c, scope, style) for c in keys]
        if items:
            # A total order may not lose a key.
            order = Node(("order",), [p for at, item in enumerate(items) for p in ((", ", item) if at else (item,))])
            parts.append(form(("order",), "order by {}", order, features=["window order"]))
        frame, rows = self.frame(style, keys)
        said = parts + [frame] if frame else parts
        node = Node(("over",), ["(", *[p for at, part in enumerate(said) for p in ((" ", part) if at else (part,))], ")"], features)
        return Window(node, style == "total", bool(items), rows, parts if not base else None)

    def sort_key(self, column, scope, style):
        way = self.r.choice(["", "", " desc"]) + self.r.choice(["", "", " nulls first", " nulls last"])
        key = self.name_of(column) if style != "keys" or self.chance(0.8) else self.expr(column.kind, scope, 1)
        return form(("sort key",), "{}" + way, key)

    def frame(self, style, keys):
        """A frame's node or None, and whether it counts rows."""
        if self.chance(0.12):
            return None, False
        modes = {"none": ["rows", "range"], "total": ["rows", "rows", "rows", "range"], "keys": ["range"], "range": ["range", "range", "range"]}[style]
        groups = ["groups"] * (3 if style == "total" else 1) if self.can("frames") and style != "none" else []
        mode = self.r.choice(modes + groups)
        wanted = [m for m in modes + groups if self.lead and self.lead.startswith(("frame", "exclude")) and m in self.lead.split()]
        if wanted and self.chance(0.8):
            mode = wanted[0]
        counted = mode in ("rows", "groups") and style != "none" or mode == "range" and style == "range"
        amounts = OFFSETS[keys[0].kind] if mode == "range" and style == "range" else COUNTS
        start, end = self.frame_shape(mode, style, counted)
        amount = self.r.choice(amounts) if self.chance(0.98) or mode == "range" else "-1"
        said = [start.format(amount)] + ([end.format(self.r.choice(amounts))] if end else [])
        text = f"{mode} between {' and '.join(said)}" if end else f"{mode} {said[0]}"
        features = [goals.frame_name(mode, start, end)]
        if self.can("frames") and style != "none" and self.slides and self.chance(0.4):
            excluded = self.aim(EXCLUDED, lambda e: [f"exclude {e} of {mode}"]) or self.r.choice(EXCLUDED)
            text += f" exclude {excluded}"
            features.append(f"exclude {excluded} of {mode}")
        return Node(("frame",), [text], features, optional=style != "total"), mode == "rows" and style != "none"

    def frame_shape(self, mode, style, counted):
        """Where a frame starts and ends; `counted`: offsets may be said."""
        if style == "none":
            # Without an order, places within a partition are open.
            return STARTS[0], "unbounded following"
        shapes = [shape for shape in goals.shapes(mode) if counted or not any(part and "{" in part for part in shape)]
        if not self.slides:
            shapes = [shape for shape in shapes if shape[0] == STARTS[0] or mode == "rows" and shape[1] and ("{" in shape[1] or shape[1] == "current row")]
        aimed = self.aim(shapes, lambda shape: [goals.frame_name(mode, *shape)])
        if aimed:
            return aimed
        starts = [s for s in STARTS if any(first == s for first, _ in shapes)]
        start, = self.r.choices(starts, [3 if "{" in s and mode != "groups" else 2 for s in starts])
        ends = [end for first, end in shapes if first == start]
        return start, None if None in ends and self.chance(0.35) else self.r.choice([end for end in ends if end])

    def windowed_expr(self, kind, scope, windows):
        """A window call of a type, at times within another expression; a plain expression where none has the type."""
        if self.chance(0.05 if self.lead and self.lead.startswith("window") else 0.15):
            return self.expr(kind, scope, 1)
        node = self.window_call(kind, scope, windows)
        if node is None:
            return self.window_test(scope, windows) if kind == "bool" else self.expr(kind, scope, 1)
        if self.chance(0.15):
            return form(("expr", kind), "coalesce({}, {})", node, self.literal(kind, safe=True), type=kind)
        return node

    def window_test(self, scope, windows):
        """A comparison of a window call."""
        call = self.window_call(self.r.choice(["i8", "i4"]), scope, windows) or self.literal("i4")
        return form(("expr", "bool"), f"({{}} {self.r.choice(['=', '<=', '>', '<>'])} {{}})", call, Node(("word", "count"), [self.r.choice(["1", "2", "5"])]), type="bool")

    def window_calls(self, kind, window):
        """Calls over a window that have a type, in groups that are drawn alike: template, arguments (None: an aggregate's), name."""
        groups = []
        if window.ordered:
            groups.append([(t, [], t.split("(")[0]) for k, t in RANKS if k == kind])
        plain = kind not in ("char", "iv", "wide")
        scalar = plain and kind not in documents.ARRAYS
        if window.total and plain:
            groups += [[(t, a, t.split("(")[0]) for k, t, a in PLACES if k == wanted] for wanted in ("kind", kind)]
        if window.total and scalar and self.can("kept"):
            groups.append([(call, ["kind"], call[0].split("(")[0] + " ignore nulls") for call in KEPT if call[3] is None or window.parts])
        if window.total and scalar and self.can("ends"):
            groups.append([(t, a, t.split("(")[0]) for _, t, a in ROWS_IN_ORDER])
        if window.total and window.few and kind == "text" and self.can("texts"):
            groups.append([("string_agg({}, ',')", ["kind"], "string_agg")])
        if window.total and window.few and self.can("arrays" if kind in documents.ARRAYS else "json"):
            groups.append([(template, [wanted], name) for result, template, wanted, name in documents.WINDOWS if result == kind])
        if window.total or not window.rows:
            groups += [[(a, None, a[3]) for a in group if a[0] == kind and not functions.is_no_window(a[3])] for group in self.aggregate_groups()]
            if kind == "f8" and self.can("regression"):
                # Eleven functions share one type.
                calls = functions.ANALYTIC_AGGREGATES["regression"] + (functions.ANALYTIC_AGGREGATES["slopes"] if self.can("slopes") else [])
                groups.append([(a, None, a[3]) for a in calls if a[0] == kind])
        return [group for group in groups if group]

    def window_call(self, kind, scope, windows):
        window = self.r.choice(windows)
        groups = self.window_calls(kind, window)
        aimed = self.aim([(w, call) for w in windows for group in self.window_calls(kind, w) for call in group], lambda option: [f"window {option[1][2]}({kind})"])
        if not groups and not aimed:
            return None
        window, (template, arguments, name) = aimed or (window, self.r.choice(self.r.choice(groups)))
        features = [f"window {name}", f"window {name}({kind})"]
        if arguments is None:
            call = self.call(template, scope, 1)
            filtered = "aggregate filter" in call.features
            return form(("expr", kind), "{} over {}", call, window.node, features=features + (["window filter"] if filtered else []), type=kind, loose=call.loose)
        parts = [self.literal(kind, True) if a == "kind literal" else self.argument(kind if a == "kind" else a, scope, 1) for a in arguments]
        if "over" in template:
            return form(("expr", kind), template, *parts, window.node, features=features, type=kind)
        if kind == "text" and arguments:
            # A bare literal has no type.
            parts[0] = form(("expr", kind), "cast({} as text)", parts[0], type=kind)
        if name.endswith("ignore nulls"):
            return self.kept_call(kind, template, parts, window, features)
        return form(("expr", kind), template + " over {}", *parts, window.node, features=features, type=kind)

    def kept_call(self, kind, call, parts, window, features):
        """A call with IGNORE NULLS; PostgreSQL has aggregates for it, for lag and lead with a frame of their own."""
        text, duckdb, aggregate, frame = call
        over = window.node
        if frame:
            over = Node(("over",), ["(", *[p for at, part in enumerate(window.parts) for p in ((" ", part) if at else (part,))], {POSTGRES: frame}, ")"])
        template = {None: text + " over {}", DUCKDB: duckdb + " over {}", POSTGRES: aggregate + "({}) over {}"}
        return form(("expr", kind), template, *parts, over, features=features, type=kind)

    # Grouping sets.

    def sets(self, keys):
        """GROUP BY's list with some of the keys in sets."""
        names = [key.text() for key in keys]
        pick = self.r.random()
        if self.lead in SETS and self.chance(0.6):
            pick = SETS[self.lead]
        if self.can("distinct sets") and self.chance(0.6 if self.lead == "distinct grouping sets" else 0.12):
            words = [self.r.choice(["rollup", "cube"]) for _ in range(2)]
            some_keys = Node(("set",), ["(", keys[0], ")"])
            whole = Node(("set",), ["(", *[p for at, key in enumerate(keys) for p in ((", ", key) if at else (key,))], ")"])
            return form(("by",), f" group by distinct {words[0]} {{}}, {words[1]} {{}}", some_keys, whole, features=["distinct grouping sets"])

        def some():
            return self.r.sample(keys, self.r.randint(0, len(keys)))

        def row(chosen):
            return Node(("set",), ["(", *[p for at, key in enumerate(chosen) for p in ((", ", key) if at else (key,))], ")"])
        if pick < 0.25 or len(names) == 1 and pick < 0.4:
            return form(("by",), " group by rollup {}", row(keys), features=["rollup"])
        if pick < 0.45:
            return form(("by",), " group by cube {}", row(keys), features=["cube"])
        if pick < 0.65 and len(keys) > 1:
            return form(("by",), f" group by {{}}, {self.r.choice(['rollup', 'cube'])} {{}}", keys[0], row(keys[1:]), features=["key beside a grouping set"])
        listing = [row(some()) for _ in range(self.r.randint(1, 3))]
        if self.chance(0.25):
            listing.append(form(("set",), f"{self.r.choice(['rollup', 'cube'])} {{}}", row(some() or keys)))
        features = ["grouping sets"] + (["empty grouping set"] if any(n.text() == "()" for n in listing) else [])
        # Each key is in some set: else it would be no key.
        listing.append(row(keys))
        self.r.shuffle(listing)
        return form(("by",), " group by grouping sets ({})", listed("sets", listing), features=features)

    def grouping(self, keys):
        chosen = self.r.sample(keys, self.r.randint(1, len(keys)))
        cells = Node(("cells",), [p for at, key in enumerate(chosen) for p in ((", ", key) if at else (key,))])
        return form(("expr", "i4"), "cast(grouping({}) as integer)", cells, features=["grouping()"], type="i4")

    # Recursion.

    def with_recursive(self, kinds, depth, limit, top):
        """A query that reads a recursive one: counting with values beside it, or the pairs that a graph's edges connect."""
        name = f"w{self.alias()}"
        pick = self.r.random()
        if self.lead and self.lead.startswith("recursive") and self.chance(0.7):
            pick = {"search": 0.5 + pick * 0.15, "cycle": 0.81 + pick * 0.19, "reachable": 0.66 + pick * 0.13, "union": pick * 0.45}[self.lead.split()[1]]
        if pick < 0.45:
            node, inner = self.counting(name)
        elif pick < 0.65 and self.can("search"):
            node, inner = self.searched(name, self.can("cycle") and pick > 0.57)
        else:
            node, inner = self.reachable(name, self.can("cycle") and pick > 0.8)
        self.ctes.append((name, inner))
        alias = self.alias()
        source = Source(Node(("source", name), [f"{name} {alias}"], ["recursive query read"]),
                        [Column(f"c{i}", k, False, f"{alias}.c{i}") for i, k in enumerate(inner)], 60)
        if self.chance(0.3):
            source = self.joined(source, depth)
        body = self.grouped(kinds, depth, source=source) if self.chance(0.4) else self.plain(kinds, depth, source=source)
        body, order = self.ordered(body, len(kinds), limit, top)
        self.ctes.pop()
        return form(("query", *kinds), "with recursive {} {}", node, body), order

    def counting(self, name):
        r, inner = self.r, self.kinds(self.r.randint(0, 2))
        word = r.choice(["union all", "union all", "union"])
        scope = [Column("c0", "i4", True, f"{name}.c0")] + [Column(f"c{i}", k, False, f"{name}.c{i}") for i, k in enumerate(inner, 1)]
        first = "".join(f", cast({self.literal(k, True).text()} as {CASTS[k]})" for k in inner)
        if "$" in first:
            first = "".join(f", cast(null as {CASTS[k]})" for k in inner)
        steps = [form(("cell",), f", cast({{}} as {CASTS[k]})", self.expr(k, scope, 1)) for k in inner]
        begin = r.choice(["select 1", "select 0", "values (1", "select -2"])
        first = f"{begin}{first}{')' if begin.startswith('values') else ''}"
        # Two rows to begin with, a branch that doubles them, a row that is joined.
        more = r.choice(["", "", " union all " + first.replace(begin, "select 2", 1) if not begin.startswith("values") else ""])
        last = r.randint(1, 6)
        from_ = r.choice([name, name, f"{name} join (values (1), (2)) b (x) on b.x <= {name}.c0", f"(select * from {name} where c0 < 5) {name}"])
        names = ", ".join(c.name for c in scope)
        node = form(("recursive",), f"{name} ({names}) as ({'(' if more else ''}{first}{more}{')' if more else ''} {word} select {name}.c0 + 1{{}} from {from_} where {name}.c0 < {last})",
                    Node(("cells",), steps), features=[f"recursive {word}"])
        return node, ["i4", *inner]

    def searched(self, name, cycle):
        """Paths of a small graph, numbered in the order of SEARCH: rows with equal paths are alike. A second definition gives the numbers."""
        r, inner = self.r, f"{name}_rows"
        way = r.choice(["depth", "breadth"])
        by = r.choice(["c0, c1", "c1, c0"])
        start = r.choice(["k = 1", "k < 3", "g = 1"])
        graph = "(select distinct k, g, t from small where k between 0 and 5) e"
        mark = r.choice([("", "false"), ("to 'Y' default 'N'", "'N'"), ("to 1 default 0", "0")])
        clauses = f"search {way} first by {by} set place"
        if cycle:
            clauses += f" cycle c0 set looped {mark[0]} using way"
        more = " and c2 < 3" if not cycle or self.chance(0.5) else ""
        body = (f"{inner} (c0, c1, c2) as (select k, cast(g as bigint), 1 from {graph} where {start} union all "
                f"select e.k, cast(e.g as bigint), r.c2 + 1 from {inner} r join {graph} on e.g = r.c0 where r.c2 < 6{more}) {clauses}")
        shown = "cast(row_number() over (order by place, c0, c1, c2) as integer), cast(way as text)" if cycle else "cast(row_number() over (order by place, c0, c1, c2) as integer), cast(c0 as text)"
        kept = f" where looped = {mark[1]}" if cycle and self.chance(0.5) else ""
        node = Node(("recursive",), [f"{body}, {name} (c0, c1, c2, c3) as (select c0, c1, {shown} from {inner}{kept})"],
                    [f"recursive search {way}"] + (["recursive search and cycle"] if cycle else []))
        return node, ["i4", "i8", "i4", "text"]

    def recursion_within(self, kind, scope):
        """A recursive query that reads columns of the query around it."""
        name = f"w{self.alias()}"
        first, last = (self.leaf("i4", scope, True) for _ in range(2))
        word = self.r.choice(["union all", "union"])
        call = self.r.choice(["max(n)", "min(n)", "sum(n)", "count(*)"] if kind == "i8" else ["max(n)", "min(n)"])
        step = self.r.choice([f"select n + 1 from {name} where n < least({{}}, 9)", f"select n + v from {name}, (values (1), (2)) b (v) where n < least({{}}, 6)",
                              f"select {name}.n + 1 from {name} join pairs on pairs.k = {name}.n where n <= {{}}"])
        as_kind = "" if call == "count(*)" else f"cast({call} as {CASTS[kind]})"
        return form(("expr", kind), f"(with recursive {name} (n) as (select greatest({{}}, -3) {word} {step}) select {as_kind or call} from {name})",
                    first, last, features=["recursion within"], type=kind)

    def reachable(self, name, cycle):
        table, a, b = self.r.choice([("pairs", "k", "g"), ("small", "k", "g"), ("pairs", "g", "k"), ("other", "k", "n")])
        word = "union all" if cycle else "union"
        tail = f" cycle c0, c1 set c2 using way_{name}" if cycle else ""
        start = self.r.choice(["", f" where {a} < 3", f" where {b} = 1"])
        keep = " and e.{b} < 12".replace("{b}", b) if self.chance(0.3) else ""
        body = (f"select {a}, cast({b} as bigint) from {table}{start} {word} "
                f"select {name}.c0, cast(e.{b} as bigint) from {name} join {table} e on e.{a} = {name}.c1{keep}")
        if cycle:
            # Every path is a row: from few rows only.
            body = body.replace(f" from {table}{start} ", f" from {table} where {a} = {self.r.choice([1, 2, 3])} ", 1).replace(table + " e", "(select distinct * from pairs where k < 4) e", 1)
            body = body.replace(f"e.{a} =", "e.k =", 1).replace(f"e.{b} as", "e.g as", 1).replace(f"e.{b} <", "e.g <")
        node = Node(("recursive",), [f"{name} (c0, c1) as ({body}){tail}"], ["recursive cycle" if cycle else "recursive reachable"])
        # The first column is as wide as its table has it.
        wide = {"k": "i4", "g": "i2"}[a]
        return node, [wide, "i8"] + (["bool"] if cycle else [])

    # Rows from functions.

    def series(self):
        """generate_series in FROM, at times with its rows numbered."""
        kind = self.r.choice(["i4", "i4", "i8"] + (["ts"] if self.can("series of times") else []) + (["dec"] if self.can("series of decimals") else []))
        low, high = self.r.choice([("1", "5"), ("3", "3"), ("2", "1"), ("-2", "2"), ("0", "null")])
        step = self.r.choice(["", "", ", 2", ", -1", ", 3"])
        if kind == "i8":
            low, high = f"cast({low} as bigint)", f"cast({high} as bigint)"
        elif kind == "ts":
            low, high = "timestamp '2000-02-28 00:00:00'", f"timestamp '2000-03-0{self.r.randint(1, 4)} 12:00:00'"
            step = self.r.choice([", interval '1 day'", ", interval '8 hours'", ", interval '-1 day'", ", interval '1 month'"])
        elif kind == "dec":
            low, high = self.r.choice([("1.5", "4"), ("-0.25", "0.5"), ("3", "1.0")])
            step = self.r.choice(["", ", 0.5", ", 0.25", ", -1"])
        elif high == "null":
            high = "cast(null as integer)"
        alias, ordinal = self.alias(), self.chance(0.3)
        if kind == "i4" and self.can("rows from") and self.chance(0.3):
            text = f"rows from (generate_series({low}, {high}{step}), generate_series(1, {self.r.choice(['2', '4'])})) with ordinality as {alias} (v, w, o)"
            columns = [Column(name, k, True, f"{alias}.{name}") for name, k in (("v", "i4"), ("w", "i4"), ("o", "i8"))]
            return Source(Node(("source", "series"), [text], ["rows from"]), columns, 6)
        text = f"generate_series({low}, {high}{step}){' with ordinality' if ordinal else ''} as {alias} (v{', o' if ordinal else ''})"
        columns = [Column("v", kind, True, f"{alias}.v")] + ([Column("o", "i8", True, f"{alias}.o")] if ordinal else [])
        return Source(Node(("source", "series"), [text], ["series", f"series of {kind}"] + (["with ordinality"] if ordinal else [])), columns, 6)

    def series_beside(self, left):
        """A series whose end is a column of what stands before it."""
        columns = [c for c in left.columns if c.kind in ("i2", "i4") and c.safe and isinstance(c.ref, str)]
        if not columns or left.rows > 1000:
            return None
        alias = self.alias()
        word, name = self.r.choice([(", ", "comma"), (" cross join ", "cross join")])
        node = form(("source", "join"), f"{{}}{word}generate_series(1, {self.r.choice(columns).ref}) as {alias} (v)", left.node, features=["series beside", name])
        return Source(node, left.columns + [Column("v", "i4", True, f"{alias}.v")], left.rows * 4)

    def rows_of_parts(self, left=None):
        """The elements or members of arrays and documents in FROM: of literals, or of columns of what stands before them."""
        known = documents.ROWS + wider.ROWS * 2 if self.can("wider") else documents.ROWS
        name, template, wanted, columns = self.aim(documents.ROWS, lambda rows: [f"rows of {rows[0]}"]) or self.r.choice(known)
        scope = [c for c in left.columns if isinstance(c.ref, str)] if left else []
        parts = [self.argument(kind, scope, 1) for kind in wanted]
        alias, features, columns = self.alias(), [f"rows of {name}"], list(columns)
        call = form(("rows",), template, *parts)
        if self.chance(0.15):
            other = self.r.choice(["generate_series(1, 3)", "unnest(array[5, 6])", "generate_series(2, 1)"])
            call, columns = form(("rows",), f"rows from ({{}}, {other})", call), [*columns, ("y", "i4")]
            features.append("rows from of parts")
        # json alone is nothing that a window could be ordered by.
        if self.chance(0.3) or all(kind in documents.UNORDERED for _, kind in columns):
            call, columns = form(("rows",), "{} with ordinality", call), [*columns, ("o", "i8")]
            features.append("parts with ordinality")
        own = "each" in name and len(columns) == 2 and self.chance(0.5)
        names = "" if own else f" ({', '.join(column for column, _ in columns)})"
        found = [Column(column, kind, False, f"{alias}.{column}") for column, kind in columns]
        node = form(("source", "rows"), f"{{}} as {alias}{names}", call, features=features)
        if left is None:
            return Source(node, found, 6)
        join = self.r.choice(documents.BESIDE)
        word = "comma" if "{}, " in join else "left join" if "left" in join else "join" if "{} join" in join else "cross join"
        return Source(form(("source", "join"), join, left.node, node, features=["parts beside", word]), left.columns + found, left.rows * 4)

    def array_subquery(self, kind):
        """The rows of a subquery as an array, in an order that its elements have."""
        def make():
            source = self.source(1, 1)
            item = form(("cell",), f"cast({{}} as {CASTS[documents.ARRAYS[kind]]})", self.expr(documents.ARRAYS[kind], source.columns, 1))
            where = self.where(source, 1)
            limit = self.r.choice(["", "", " desc limit 3", " nulls first limit 5"]) if source.rows < 1000 else " limit 4"
            template = "array(select {} from {}{} order by 1" + limit + ")"
            return form(("expr", kind), template, item, source.node, where, features=[f"array subquery({kind})"], type=kind)
        return make()

    def series_item(self):
        return Node(("expr", "i4"), [f"generate_series({self.r.choice(['1, 2', '1, 3', '2, 1', '0, 4, 2'])})"], ["series in select"], type="i4")
