"""Statements drawn from the whole dialect: typed expressions over columns in scope, clauses, subqueries at any depth.

A generator is made for a judge: what DuckDB writes in another way has two texts, what it does not know is left out for it."""

from . import documents, functions, tables, wider
from .analytics import Analytics
from .goals import ONE_COLUMN, RARE_SUBQUERIES, ROW, SUBQUERIES, Goals, alike, kind_of
from .nodes import DUCKDB, POSTGRES, Node, form, listed
from .sources import CASTS, Column, Source, both, is_bare

TYPES = ["bool", "i2", "i4", "i8", "dec", "wide", "f8", "text", "char", "date", "ts", "iv"]
# Types that result columns, groups and set operations are drawn from.
PLAIN = ["bool", "i2", "i4", "i8", "dec", "f8", "text", "date", "ts"]
TYPE_WEIGHTS = [8, 6, 24, 12, 12, 8, 18, 8, 6]
# Most aggregates of statistics are doubles.
ANALYTIC_WEIGHTS = [10, 4, 20, 16, 12, 28, 14, 6, 5]
COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]
# At most so many rows of a product of tables.
PRODUCT = 20_000


class Statement:
    """What is run and judged: statements before and after (for INSERT and DELETE), the query, values of parameters, and
    the columns by which the query's result is ordered, all of them or a prefix. `prepared`: the query runs by PREPARE and EXECUTE."""

    def __init__(self, query, ordered=(), before=(), after=(), parameters=(), prepared=False):
        self.query, self.ordered, self.before, self.after, self.parameters = query, ordered, before, after, parameters
        self.prepared = prepared

    def features(self):
        own = ["prepared"] if self.prepared else []
        return own + [feature for node in self.query.walk() for feature in node.features]


class Generator(Analytics):
    """`judge`: the engine whose answers will be compared. `r`: random.Random. `abilities`: those of analytics.py that it draws."""

    def __init__(self, r, judge, abilities=frozenset()):
        self.r, self.judge, self.abilities = r, judge, abilities
        self.aliases = 0
        self.parameters = []
        self.takes_parameters = True
        self.rules = RULES["wider" if self.can("wider") else judge]
        self.scopes = []      # scopes of the queries around, outermost first
        self.ctes = []        # (name, kinds)
        # The goals of a statement, and those that its columns have: the first one decides its form.
        self.lead, self.leads, self.goals = None, [], frozenset()
        self.slides = True    # whether frames may slide

    # Small choices.

    def chance(self, share):
        return self.r.random() < share

    def alias(self):
        self.aliases += 1
        return f"s{self.aliases}"

    def kinds(self, count):
        if self.can("wider") and self.chance(0.3):
            return self.r.choices([*PLAIN, "jb", "en"], [*ANALYTIC_WEIGHTS, 20, 50], k=count)
        if self.can("documents") and self.chance(0.2):
            return self.r.choices([*PLAIN, "jb", "ai", "at"], [*ANALYTIC_WEIGHTS, 30, 18, 18], k=count)
        if self.can("spans") and self.chance(0.2 if self.goals else 0.1):
            return self.r.choices([*PLAIN, "iv"], [*ANALYTIC_WEIGHTS, 12], k=count)
        return self.r.choices(PLAIN, ANALYTIC_WEIGHTS if self.abilities else TYPE_WEIGHTS, k=count)

    def knows_more(self):
        """Whether the judge knows what PostgreSQL knows."""
        return self.judge != DUCKDB

    # Expressions.

    def expr(self, kind, scope, depth, safe=False):
        """An expression of a type over a scope (a list of columns)."""
        if depth <= 0 or self.chance(0.3):
            return self.leaf(kind, scope, safe)
        if self.lead == "recursion within" and kind in ("i4", "i8") and not self.scopes and self.can("recursion within") and self.chance(0.5):
            return self.recursion_within(kind, scope)
        if self.chance(0.06) and depth > 1:
            made = self.scalar_subquery(kind, scope, depth - 1)
            if made:
                return made
        if kind == "bool" and self.chance(0.35 if self.goals else 0.2) and depth > 1:
            return self.subquery_test(scope, depth - 1)
        if kind in documents.ARRAYS and self.can("documents") and self.chance(0.5 if self.lead == f"array subquery({kind})" else 0.06):
            return self.inside(scope, lambda: self.array_subquery(kind))
        rules = self.rules.get(kind)
        if not rules:
            return self.leaf(kind, scope, safe)
        aimed = self.aim(rules, lambda rule: [f"function {rule[3]}({kind})"]) if self.goals else None
        _, template, arguments, name, _ = aimed or self.r.choice(rules)
        parts = [self.argument(a, scope, depth - 1) for a in arguments]
        return form(("expr", kind), template, *parts, features=[f"function {name}", f"function {name}({kind})"], type=kind)

    def argument(self, wanted, scope, depth):
        if wanted[0] in "'\"":
            word = self.r.choice(wanted.strip("'\"").split())
            return Node(("word", wanted), [f"'{word}'" if wanted[0] == '"' else word])
        if wanted.endswith("."):
            # A fraction of a power of two: sums of such are exact, and equal ones have no deviation.
            return self.leaf(wanted[:-1], scope, safe=True)
        if wanted.endswith("!"):
            return self.expr(wanted[:-1], scope, min(depth, 1), safe=True)
        if wanted == "any":
            return self.expr(self.kinds(1)[0], scope, depth)
        if wanted in functions.WORDS:
            word = self.r.choice(functions.WORDS[wanted])
            if "{i4}" in word:
                inner = self.leaf("i4", scope, True)
                return form(("word", wanted), word.replace("{i4}", "{}"), inner)
            return Node(("word", wanted), [word])
        return self.expr(wanted, scope, depth)

    def leaf(self, kind, scope, safe=False):
        columns = [c for c in scope if c.kind == kind and (c.safe or not safe)]
        outer = [c for s in self.scopes for c in s if c.kind == kind and (c.safe or not safe)] if self.chance(0.25) else []
        if outer and self.chance(0.6):
            column = self.r.choice(outer)
            return Node(("expr", kind), [column.ref], ["correlated"], type=kind)
        if columns and self.chance(0.8):
            column = self.r.choice(columns)
            ref = column.ref
            node = ref if isinstance(ref, Node) else Node(("expr", kind), [ref], type=kind)
            return Node(("expr", kind), [node] if isinstance(ref, Node) else [ref], [f"type {kind}"], type=kind)
        return self.literal(kind, safe)

    def literal(self, kind, safe=False):
        if self.takes_parameters and self.chance(0.05) and kind in PARAMETERS:
            self.parameters.append(self.r.choice(PARAMETERS[kind]))
            return Node(("expr", kind), [f"cast(${len(self.parameters)} as {CASTS[kind]})"], ["parameter"], type=kind)
        edges = not safe and self.chance(0.15)
        word = self.r.choice((functions.EDGE_LITERALS if edges else functions.LITERALS)[kind])
        return Node(("expr", kind), [word], [f"literal {kind}"], type=kind)

    # Subqueries in expressions.

    def inside(self, scope, make):
        """What `make` gives with `scope` as the scope around."""
        self.scopes.append(scope)
        made = make()
        self.scopes.pop()
        return made

    def scalar_subquery(self, kind, scope, depth):
        """One row for certain: an aggregate, or LIMIT 1 over a total order."""
        if kind in ("char", "iv", "wide", *documents.SQL_TYPES, *wider.SQL_TYPES) and kind not in documents.SHOWN:
            return None
        if self.can("recursion within") and kind in ("i4", "i8") and self.chance(0.35):
            return self.recursion_within(kind, scope)

        def make():
            source = self.source(depth - 1, 1)
            where = self.where(source, depth - 1)
            if self.chance(0.25):
                item = self.expr(kind, source.columns, depth - 1)
                return form(("expr", kind), "(select {} as v from {}{} order by v limit 1)", item, source.node, where,
                            features=["scalar subquery with limit"], type=kind)
            calls = [a for a in self.aggregates() if a[0] == kind and not self.is_loose_call(a)]
            if not calls:
                return None
            return form(("expr", kind), "(select {} from {}{})", self.call(self.r.choice(calls), source.columns, depth - 1),
                        source.node, where, features=["scalar subquery"], type=kind)
        return self.inside(scope, make)

    def subquery_test(self, scope, depth):
        r = self.r
        aimed = self.aim(SUBQUERIES, lambda name: [name])

        def make_exists():
            source = self.source(depth - 1, 1)
            where = self.where(source, depth - 1, always=True)
            if self.chance(0.15) or aimed == "exists aggregate":
                return form(("expr", "bool"), "exists (select count(*) from {}{})", source.node, where, features=["exists aggregate"], type="bool")
            return form(("expr", "bool"), "exists (select 1 from {}{})", source.node, where, features=["exists"], type="bool")

        def make_in(operator):
            kind = r.choice(["i4", "i8", "text", "date"])
            source = self.source(depth - 1, 1)
            item = self.expr(kind, source.columns, depth - 1)
            where = self.where(source, depth - 1)
            return kind, form(("query", kind), "select {} from {}{}", item, source.node, where), operator
        if self.knows_more() and (aimed in RARE_SUBQUERIES if aimed else self.chance(0.3)):
            return self.rare_subquery_test(scope, depth, aimed)
        if "exists" in aimed if aimed else self.chance(0.32):
            made = self.inside(scope, make_exists)
            return form(("expr", "bool"), "(not {})", made, features=["not exists"], type="bool") if aimed == "not exists" or self.chance(0.3) else made
        operator = r.choices(["in", "not in", "any", "all"], [20, 12, 34, 34])[0]
        if aimed and aimed.startswith("subquery"):
            operator = aimed[len("subquery "):]
        kind, query, operator = self.inside(scope, lambda: make_in(operator))
        left = self.expr(kind, scope, 1)
        if operator in ("any", "all"):
            operator = f"{r.choice(COMPARISONS)} {operator}"
        return form(("expr", "bool"), f"({{}} {operator} ({{}}))", left, query, features=[f"subquery {operator}"], type="bool")

    def rare_subquery_test(self, scope, depth, aimed=None):
        """What DuckDB lacks: rows against a subquery's, LIKE ANY, subqueries that are VALUES, TABLE or set operations."""
        pick = self.r.random()
        words = aimed[:-len(" subquery")].removeprefix("row ") if aimed else None
        if aimed:
            pick = 0 if aimed == "exists table" else 1 if aimed.startswith("row ") else 0.2 if words in ONE_COLUMN["text"] else 0.3
        if pick < 0.1:
            source = self.single(0)
            name = source.tables_in and source.node.text().split()[0]
            return Node(("expr", "bool"), [f"exists (table {name})"] if name else ["exists (values (1))"], ["exists table"], type="bool")
        kinds = ["text"] if pick < 0.25 else self.r.choice([["i4"], ["i8"]]) if pick < 0.4 else self.r.choice([["i4", "text"], ["i8", "date"], ["i4", "i4"]])
        operator = words or self.r.choice(ONE_COLUMN["text"] if pick < 0.25 else ONE_COLUMN["i4"] if pick < 0.4 else ROW)
        one = operator in COMPARISONS
        query = self.inside(scope, lambda: self.tested_query(kinds, depth, one))
        left = self.r.choice(["({})", "row({})"]) if len(kinds) > 1 else "{}"
        cells = [part for at, kind in enumerate(kinds) for part in ((", ", self.expr(kind, scope, 1)) if at else (self.expr(kind, scope, 1),))]
        return form(("expr", "bool"), f"({left} {operator} ({{}}))", Node(("cells",), cells), query,
                    features=[f"{'row ' if len(kinds) > 1 else ''}{operator} subquery"], type="bool")

    def tested_query(self, kinds, depth, one):
        """A query of these types, of one row at most if `one`."""
        if self.chance(0.15):
            return form(("query", *kinds), "{} order by " + ", ".join(str(at + 1) for at in range(len(kinds))) + " limit 1", self.values_query(kinds)) if one else self.values_query(kinds)
        source = self.source(max(0, depth - 1), 1)
        where = self.where(source, depth - 1)
        # A bare literal would be text.
        items = [form(("cell",), f"cast({{}} as {CASTS[kind]})", self.expr(kind, source.columns, 1)) for kind in kinds]
        node = form(("query", *kinds), "select {} from {}{}", Node(("cells",), [p for at, c in enumerate(items) for p in ((", ", c) if at else (c,))]), source.node, where)
        if one:
            return form(("query", *kinds), "{}" + f" order by {', '.join(str(at + 1) for at in range(len(kinds)))} limit 1", node)
        if self.chance(0.2):
            return form(("query", *kinds), f"{{}} {self.r.choice(['union', 'union all', 'except', 'intersect'])} {{}}", node, self.values_query(kinds), features=["set operation in a subquery"])
        return node

    # FROM.

    def source(self, depth, most=3):
        source = self.single(depth)
        count = self.r.choices([1, 2, 3], [60, 30, 10])[0]
        for _ in range(min(count, most) - 1):
            source = self.joined(source, depth)
            # JOIN binds closer than a comma: its condition would not see what stands before the comma.
            if "comma" in source.node.features:
                break
        return source

    def single(self, depth, small=False):
        if self.can("series") and self.chance(0.08):
            return self.series()
        if self.can("documents"):
            aimed = self.lead and self.lead.startswith(("rows of", "parts"))
            if self.chance(0.25 if aimed else 0.04):
                return self.rows_of_parts()
            if self.chance(0.5 if aimed else 0.25):
                return self.table("moods" if self.can("wider") and self.chance(0.7) else "papers")
        pick = self.r.random()
        if pick < 0.12 and depth > 0:
            return self.derived(depth - 1)
        if pick < 0.16 and self.ctes:
            return self.of_cte()
        if pick < 0.19:
            return self.values()
        names = [name for name in tables.TABLES if name not in tables.PAPERS]
        weights = [30, 26, 14, 12, 6, 3, 4, 0 if small or self.scopes else 5]
        return self.table(self.r.choices(names, weights)[0])

    def table(self, name):
        alias = self.alias()
        columns = tables.TABLES[name][0]
        found = [Column(c, tables.COLUMNS[c][0], tables.COLUMNS[c][1], f"{alias}.{c}") for c in columns]
        word = self.r.choice(["", "as "])
        # Not by chance, so that the statements of a seed stay what they were.
        view = tables.VIEW_OF.get(name) if self.aliases % 6 == 0 else None
        features = [f"table {name}"] + (["view"] if view else [])
        sample = ""
        if not view and self.can("sample") and self.chance(0.03):
            sample = self.r.choice([" tablesample bernoulli (100)", " tablesample system (100) repeatable (3)", " tablesample bernoulli (0)", " tablesample system (0)"])
            features.append("table sample")
        node = Node(("source", name), [f"{view or name} {word}{alias}{sample}"], features)
        return Source(node, found, max(1, tables.TABLES[name][1]), [name])

    def derived(self, depth):
        """A subquery in FROM; at times LATERAL is not said, so that it sees nothing of what stands beside it."""
        kinds = self.kinds(self.r.randint(1, 3))
        scopes, self.scopes = self.scopes, list(self.scopes)
        query, _ = self.query(kinds, depth, limit=True)
        self.scopes = scopes
        alias = self.alias()
        names = [f"c{i}" for i in range(len(kinds))]
        node = form(("source", "derived"), "({}) as " + f"{alias} ({', '.join(names)})", query, features=["subquery in from"])
        # All rows of a large table may come out of it.
        is_large = any("table many" in part.features for part in query.walk())
        rows = tables.TABLES["many"][1] if is_large else 60
        return Source(node, [Column(n, k, False, f"{alias}.{n}") for n, k in zip(names, kinds)], rows)

    def of_cte(self):
        name, kinds = self.r.choice(self.ctes)
        alias = self.alias()
        node = Node(("source", name), [f"{name} {alias}"], ["common table expression read"])
        return Source(node, [Column(f"c{i}", k, False, f"{alias}.c{i}") for i, k in enumerate(kinds)], 60)

    def values(self):
        kinds = self.kinds(self.r.randint(1, 3))
        alias = self.alias()
        rows = []
        for _ in range(self.r.randint(1, 4)):
            cells = [form(("cell", k), f"cast({{}} as {CASTS[k]})", self.literal(k)) for k in kinds]
            rows.append(form(("row",), "({})", Node(("cells",), [p for at, c in enumerate(cells) for p in ((", ", c) if at else (c,))])))
        names = [f"v{i}" for i in range(len(kinds))]
        node = form(("source", "values"), "(values {}) as " + f"{alias} ({', '.join(names)})", listed("rows", rows), features=["values in from"])
        return Source(node, [Column(n, k, False, f"{alias}.{n}") for n, k in zip(names, kinds)], 4)

    def joined(self, left, depth):
        beside = self.series_beside(left) if self.can("series") and self.chance(0.06) else None
        if beside:
            return beside
        aimed = self.lead and self.lead.startswith(("rows of", "parts"))
        if self.can("documents") and left.rows <= 1000 and self.chance(0.6 if aimed else 0.1):
            return self.rows_of_parts(left)
        right = self.single(depth, small=True)
        if left.rows * right.rows > PRODUCT:
            right = self.table("one") if left.rows > 1000 else self.table("pairs")
        shared = self.shared(left, right)
        pick = self.r.random()
        kind = self.r.choices(["join", "left join", "right join", "full join"], [40, 30, 12, 18])[0]
        if shared and pick < 0.3:
            return self.using(left, right, shared, kind)
        if pick < 0.38:
            template, name = self.r.choice([("{} cross join {}", "cross join"), ("{}, {}", "comma")])
            node = form(("source", "join"), template, left.node, right.node, features=[name])
            return Source(node, both(left, right), left.rows * right.rows)
        if not self.knows_more() and pick < 0.45:
            word = self.r.choice(["semi join", "anti join"])
            exists = "exists" if word == "semi join" else "not exists"
            template = {
                # PostgreSQL arbitrates, and has no such join.
                POSTGRES: f"{{}} join lateral (select where {exists} (select from {{}} where {{}})) as {self.alias()} on true",
                None: f"{{}} {word} {{}} on {{}}",
            }
            node = form(("source", "join"), template, left.node, right.node, self.condition(left, right, depth), features=[word])
            return Source(node, left.columns, left.rows)
        if pick < 0.52 and depth > 0:
            return self.lateral(left, depth)
        columns = both(left, right)
        condition = self.condition(left, right, depth, equality=kind == "full join")
        word = kind if kind == "join" else self.r.choice([kind, kind.replace(" ", " outer ")])
        node = form(("source", "join"), f"{{}} {word} {{}} on {{}}", left.node, right.node, condition, features=[kind])
        return Source(node, columns, min(left.rows * 8, left.rows * right.rows))

    def shared(self, left, right):
        """Columns of one name and type that occur once on each side."""
        def once(source):
            names = [c.name for c in source.columns]
            return {c.name: c for c in source.columns if names.count(c.name) == 1}
        a, b = once(left), once(right)
        return [n for n in a if n in b and a[n].kind == b[n].kind and a[n].kind not in ("char", "f8", *documents.UNORDERED)]

    def using(self, left, right, shared, kind):
        all_names = [c.name for c in left.columns] + [c.name for c in right.columns]
        natural = self.chance(0.4) and len(left.columns) < 12 and all(all_names.count(n) == 1 or n in shared for n in all_names)
        # NATURAL joins by every name that both have.
        chosen = shared if natural else self.r.sample(shared, min(len(shared), self.r.choice([1, 1, 1, 2])))
        a = {c.name: c for c in left.columns}
        merged = [Column(n, a[n].kind, a[n].safe, n) for n in chosen]
        rest = [c for c in both(left, right) if c.name not in chosen]
        # A qualified name still reaches one side.
        qualified = [c for c in left.columns + right.columns if c.name in chosen and not is_bare(c)]
        if natural:
            node = form(("source", "join"), f"{{}} natural {kind} {{}}", left.node, right.node, features=["natural join", f"natural {kind}"])
        else:
            node = form(("source", "join"), f"{{}} {kind} {{}} using ({', '.join(chosen)})", left.node, right.node, features=["join using", f"{kind} using"])
        columns = merged * 3 + rest + qualified
        return Source(node, columns, min(left.rows * 8, left.rows * right.rows))

    def lateral(self, left, depth):
        kinds = self.kinds(1)

        def make():
            source = self.source(depth - 1, 1)
            item = self.expr(kinds[0], source.columns, 1)
            where = self.where(source, depth - 1, always=True)
            limit = self.r.choice(["", " order by v limit 2", " order by v desc limit 1"])
            # Two of them would multiply the rows of a large table by hundreds.
            if left.rows > 1000:
                limit = limit or " order by v limit 3"
            return form(("query", kinds[0]), "select {} as v from {}{}" + limit, item, source.node, where)
        scope = [c for c in left.columns if isinstance(c.ref, str)]
        query = self.inside(scope, make)
        alias = self.alias()
        word = self.r.choice(["cross join lateral ({}) " + alias, "left join lateral ({}) " + alias + " on true"])
        node = form(("source", "join"), "{} " + word, left.node, query, features=["lateral"])
        return Source(node, left.columns + [Column("v", kinds[0], False, f"{alias}.v")], left.rows * 4)

    def condition(self, left, right, depth, equality=False):
        columns = both(left, right)
        kinds = {c.kind for c in columns if c in left.columns} & {c.kind for c in columns if c in right.columns} - {"char"}
        pairs = [k for k in ("i4", "i2", "i8", "date", "text", "dec") if k in kinds]
        if pairs and (equality or self.chance(0.8)):
            kind = self.r.choice(pairs)
            a = self.r.choice([c for c in columns if c in left.columns and c.kind == kind])
            b = self.r.choice([c for c in columns if c in right.columns and c.kind == kind])
            test = Node(("expr", "bool"), [f"{self.ref(a)} = {self.ref(b)}"], ["equality join"], type="bool")
            if equality or self.chance(0.6):
                return test
            return form(("expr", "bool"), "({} and {})", test, self.expr("bool", columns, 1), type="bool")
        if equality:
            return Node(("expr", "bool"), ["true"], type="bool")
        return self.expr("bool", columns, min(depth, 2))

    def ref(self, column):
        return column.ref if isinstance(column.ref, str) else column.ref.text()

    def where(self, source, depth, always=False):
        if not always and self.chance(0.4):
            return Node(("where",), [], optional=True)
        if self.goals and not self.scopes and self.chance(0.7 if self.lead in SUBQUERIES else 0.2):
            test = self.subquery_test(source.columns, max(1, depth - 1))
            if self.chance(0.6):
                # Rows that pass one of two tests: few pass most comparisons with a subquery.
                test = form(("expr", "bool"), "({} or {})", test, self.expr("bool", source.columns, 1), type="bool")
        else:
            test = self.expr("bool", source.columns, max(1, depth))
        return form(("where",), " where {}", test, features=["where"], optional=True)

    # Queries.

    def call(self, aggregate, scope, depth, filtered=True):
        kind, template, arguments, name = aggregate
        parts = []
        for wanted in arguments:
            place = int(wanted[5:] or -1) if wanted.startswith("same") else None
            parts.append(self.argument(wanted, scope, min(depth, 1)) if place is None else parts[place])
        loose = self.is_loose_call(aggregate)
        node = form(("expr", kind), template, *parts, features=[f"aggregate {name}", f"aggregate {name}({kind})"], type=kind, loose=loose)
        # FILTER stands behind the call itself.
        within = isinstance(template, str) and template.startswith(WITHIN)
        if filtered and not within and self.chance(0.1):
            # An aggregate, which a column of groups may be, does not stand in FILTER.
            test = self.expr("bool", [c for c in scope if isinstance(c.ref, str)], 1)
            node = form(("expr", kind), "{} filter (where {})", node, test, features=["aggregate filter"], type=kind)
        return node

    def is_loose_call(self, aggregate):
        """Whether the last digits of an aggregate are open."""
        kind, template, _, name = aggregate
        return name in functions.LOOSE or kind == "f8" and "sum(" in template

    def query(self, kinds, depth, limit=False, top=False):
        """A query with columns of these types, and its order if it has one."""
        made = self.analytic(kinds, depth, limit, top) if self.abilities else None
        if made:
            return made
        pick = self.r.random()
        if pick < 0.1 and depth > 0:
            body = self.set_operation(kinds, depth)
        elif pick < 0.16 and depth > 0 and not self.scopes:
            return self.with_cte(kinds, depth, limit, top)
        elif pick < 0.19 and top:
            body = self.values_query(kinds)
        elif pick < 0.45:
            body = self.grouped(kinds, depth)
        else:
            body = self.plain(kinds, depth)
        return self.ordered(body, len(kinds), limit, top)

    def items(self, exprs):
        named = [form(("named",), "{}" + f" as c{i}", e) for i, e in enumerate(exprs)]
        return listed("items", named)

    def plain(self, kinds, depth, source=None):
        source = source or self.source(depth)
        where = self.where(source, depth)
        exprs = [self.expr(k, source.columns, depth) for k in kinds]
        if self.can("series in select") and "i4" in kinds and self.chance(0.8 if self.lead == "series in select" else 0.2):
            exprs[kinds.index("i4")] = self.series_item()
            return form(("query", *kinds), "select {} from {}{}", self.items(exprs), source.node, where)
        shown = [kind for kind in kinds if kind in documents.SHOWN_ROWS] if self.can("documents") else []
        if shown and self.chance(0.6 if self.lead == "parts in select" else 0.04):
            kind = self.r.choice(shown)
            name, template, wanted, _ = self.r.choice(documents.SHOWN_ROWS[kind])
            parts = [self.expr(k, [c for c in source.columns if isinstance(c.ref, str)], 1) for k in wanted]
            exprs[kinds.index(kind)] = form(("expr", kind), template, *parts, features=["parts in select", f"{name} in select"], type=kind)
            return form(("query", *kinds), "select {} from {}{}", self.items(exprs), source.node, where)
        distinct = "distinct " if self.chance(0.12) else ""
        features = ["select distinct"] if distinct else ["select"]
        if self.chance(0.06) and all(isinstance(c.ref, str) for c in source.columns):
            return self.distinct_on(source, where, exprs, kinds)
        return form(("query", *kinds), f"select {distinct}{{}} from {{}}{{}}", self.items(exprs), source.node, where, features=features)

    def distinct_on(self, source, where, exprs, kinds):
        """The first row of each group by a total order of what is shown."""
        by = ", ".join(f"{i + 1}" for i in range(len(exprs)))
        if exprs[0].text().lstrip("-").isdigit():
            # A bare number would be a position.
            exprs[0] = form(exprs[0].sort, "({} + 0)", exprs[0], type=exprs[0].type)
        return form(("query", *kinds), f"select distinct on ({{}}) {{}} from {{}}{{}} order by {{}}, {by}",
                    exprs[0], self.items(exprs), source.node, where, exprs[0], features=["distinct on"])

    def grouped(self, kinds, depth, source=None, sets=False):
        """GROUP BY columns, expressions, ordinals and duplicates, or grouping sets; HAVING."""
        source = source or self.source(depth)
        where = self.where(source, depth)
        scopes, self.scopes = self.scopes, []
        keys = []
        for kind in self.kinds(self.r.choices([0, 1, 2, 3], [4, 26, 40, 30] if sets else [20, 45, 25, 10])[0]):
            columns = [c for c in source.columns if c.kind == kind and isinstance(c.ref, str)]
            if columns and self.chance(0.7):
                keys.append(Node(("expr", kind), [self.r.choice(columns).ref], ["group by column"], type=kind))
            elif columns:
                key = self.expr(kind, source.columns, 2)
                # A constant is a position in GROUP BY, and a subquery is nobody's key.
                if not any(f in key.text() for f in ("select", "$")) and any(self.ref(c) in key.text() for c in source.columns):
                    key.features = list(key.features) + ["group by expression"]
                    keys.append(key)
        self.scopes = scopes
        groups = [Column(None, k.type, False, k) for k in keys]
        exprs = [self.over_groups(kind, groups, source, depth) for kind in kinds]
        if sets and keys:
            exprs = [self.grouping(keys) if kind == "i4" and self.chance(0.5) else e for kind, e in zip(kinds, exprs)]
            return form(("query", *kinds), "select {} from {}{}{}{}", self.items(exprs), source.node, where, self.sets(keys), self.having(keys, groups, source, depth))
        listing = [Node(("key",), [key]) for key in keys]
        if keys and self.chance(0.15):
            listing.append(Node(("key",), [self.r.choice(keys)], ["group by duplicate"]))
        if self.chance(0.2 if self.goals else 0.1) and keys:
            # A position stands for an item that is one of the keys.
            exprs[0] = keys[0]
            if kinds[0] == keys[0].type:
                listing[0] = Node(("key",), ["1"], ["group by position"])
            else:
                exprs[0] = self.over_groups(kinds[0], groups, source, depth)
        by = form(("by",), " group by {}", listed("keys", listing), features=["group by"]) if keys else Node(("by",), [])
        having = self.having((), groups, source, depth)
        return form(("query", *kinds), "select {} from {}{}{}{}", self.items(exprs), source.node, where, by, having, features=["aggregation"])

    def having(self, keys, groups, source, depth):
        """`keys`: those of grouping sets, if there are some."""
        if not self.chance(0.2):
            return Node(("having",), [], optional=True)
        test = self.over_groups("bool", groups, source, depth)
        if keys and self.chance(0.5):
            test = form(("expr", "bool"), f"({{}} {self.r.choice(['=', '<>', '<'])} {self.r.choice('012')})", self.grouping(keys), type="bool")
        return form(("having",), " having {}", test, features=["having"], optional=True)

    def over_groups(self, kind, groups, source, depth):
        """An expression of keys and aggregates."""
        keys = [g for g in groups if g.kind == kind]
        if keys and self.chance(0.5):
            return self.r.choice(keys).ref
        if any(a[0] == kind for a in self.aggregates()) and self.chance(0.85):
            return self.call(self.aggregate(kind), source.columns, depth)
        if kind == "bool":
            left = self.r.choice([a for a in self.aggregates() if a[0] in ("i4", "i8", "text") and not self.is_loose_call(a)])
            node = self.call(left, source.columns, depth)
            return form(("expr", "bool"), f"({{}} {self.r.choice(COMPARISONS)} {{}})", node, self.literal(left[0]), type="bool")
        rules = [rule for rule in self.rules.get(kind, []) if all(a.rstrip("!") in TYPES for a in rule[2])]
        if rules and groups and self.chance(0.6):
            _, template, arguments, name, _ = self.r.choice(rules)
            parts = []
            for a in arguments:
                keys = [g for g in groups if g.kind == a.rstrip("!")]
                parts.append(self.r.choice(keys).ref if keys else self.literal(a.rstrip("!"), safe=True))
            return form(("expr", kind), template, *parts, features=[f"function {name}"], type=kind)
        return self.literal(kind)

    def set_operation(self, kinds, depth):
        words = ["union", "union all", "intersect", "except", "union all"]
        if self.knows_more():
            words += ["except all", "intersect all"]
        if self.goals:
            words += [word for word in words if word.startswith("intersect")] * 2
        word = self.r.choice(words)
        sides = [self.plain(kinds, depth - 1) if self.chance(0.7) else self.grouped(kinds, depth - 1) for _ in range(2)]
        sides = [form(("query", *kinds), "({})", s) if "distinct on" in s.features else s for s in sides]
        node = form(("query", *kinds), f"{{}} {word} {{}}", *sides, features=[word])
        if self.chance(0.15):
            third = self.plain(kinds, depth - 1)
            third = form(("query", *kinds), "({})", third)
            node = form(("query", *kinds), f"({{}}) {self.r.choice(words)} {{}}", node, third, features=["nested set operation"])
        return node

    def with_cte(self, kinds, depth, limit, top):
        inner = self.kinds(self.r.randint(1, 3))
        query, _ = self.query(inner, depth - 1)
        name = f"w{self.alias()}"
        names = ", ".join(f"c{i}" for i in range(len(inner)))
        self.ctes.append((name, inner))
        body, order = self.query(kinds, depth - 1, limit, top)
        self.ctes.pop()
        return form(("query", *kinds), f"with {name} ({names}) as ({{}}) {{}}", query, body, features=["with"]), order

    def values_query(self, kinds):
        rows = []
        for _ in range(self.r.randint(1, 4)):
            cells = [form(("cell", k), f"cast({{}} as {CASTS[k]})", self.literal(k)) for k in kinds]
            rows.append(form(("row",), "({})", Node(("cells",), [p for at, c in enumerate(cells) for p in ((", ", c) if at else (c,))])))
        return form(("query", *kinds), "values {}", listed("rows", rows), features=["values"])

    def ordered(self, body, width, limit, top):
        """ORDER BY positions, and names at times, with LIMIT and OFFSET over a total order."""
        if "distinct on" in body.features:
            return body, ()
        loose = body.is_loose()
        limited = (limit or top) and not loose and self.chance(0.2)
        if not limited and (not top or self.chance(0.5)):
            return body, ()
        columns = list(range(width))
        self.r.shuffle(columns)
        if not limited:
            columns = columns[:self.r.randint(1, width)]
        keys, features = [], ["order by"]
        named = "values" not in body.features
        for column in columns:
            place = f"c{column}" if named and self.chance(0.4) else f"{column + 1}"
            way = self.r.choice(["", " asc", " desc"])
            nulls = self.r.choice(["", "", " nulls first", " nulls last"])
            features += [f"order{way}{nulls}"]
            keys.append(place + way + nulls)
        tail = " order by " + ", ".join(keys)
        if limited:
            features.append("limit")
            count = self.r.choice(["0", "1", "3", "10", "1 + 1", "null" if self.knows_more() else "5"])
            tail += f" limit {count}" if self.chance(0.8) or not self.knows_more() else f" fetch first {count if count.isdigit() else 2} rows only"
            if self.chance(0.3):
                tail += f" offset {self.r.choice(['0', '1', '5'])}"
                features.append("offset")
        order = () if loose else tuple(columns)
        node = form(body.sort, "{}{}", body, Node(("order",), [tail], features, optional=True))
        return node, order

    # Statements.

    def statement(self):
        if self.abilities and self.chance(0.9):
            self.leads, self.goals = self.known_goals().drawn(self.r)
            self.lead = self.leads[0]
        counts = [40, 30, 20, 10] if not self.abilities else [5, 15, 25, 55] if len(self.leads) > 1 else [15, 25, 30, 30]
        kinds = self.kinds(self.r.choices([1, 2, 3, 4], counts)[0])
        if self.lead in ("series in select", "recursion within"):
            kinds[0] = "i4"
        for at, wanted in enumerate(filter(None, map(kind_of, self.leads))):
            if at < len(kinds) and self.chance(0.9):
                kinds[at] = wanted
        if self.can("documents") and self.lead:
            asked = [kind_of(goal) for goal in sorted(self.goals) if goal.rsplit("(", 1)[0].removeprefix("function ") in documents.NAMED]
            asked = [kind for kind in asked if kind and kind not in kinds]
            if asked and self.chance(0.7):
                kinds[-1] = self.r.choice(asked)
            if self.lead.startswith("array subquery") or self.lead == "parts in select":
                kinds[0] = kind_of(self.lead) or self.r.choice(list(documents.SHOWN_ROWS))
        if self.can("documents") and self.can("json") and self.can("arrays") and self.chance(0.7 if self.can("wider") else 0.34):
            query, order = self.many_calls()
            return Statement(query, order, parameters=self.parameters)
        if self.can("changing") and (self.lead == "changing with" or self.chance(0.01)):
            return self.changing()
        if self.chance(0.04):
            return self.change()
        query, order = self.query(kinds, self.r.choices([1, 2, 3], [30, 50, 20])[0], top=True)
        return Statement(query, order, parameters=self.parameters, prepared=self.knows_more() and bool(self.abilities) and self.chance(0.05))

    def many_calls(self):
        """A query whose columns are calls alone, of functions or of aggregates, so that each occurs often enough over rows."""
        r, of_groups = self.r, self.chance(0.25)
        source = self.table(r.choice(["moods", "moods", "moods", "edges"] if self.can("wider") else ["papers", "papers", "edges", "edges", "small"]))
        if self.chance(0.2):
            source = self.rows_of_parts(source)
        scope = source.columns
        if of_groups:
            exprs = [self.call(r.choice(calls), scope, 1) for calls in r.sample(self.known_goals().aggregates, 6)] + self.wider_calls(scope)
            keys = [c for c in scope if c.kind in ("i2", "bool") and isinstance(c.ref, str)] if self.chance(0.6) else []
            tail = f" group by {r.choice(keys).ref}" if keys else ""
        else:
            few = r.sample(WIDER, 15) if self.can("wider") else r.sample(self.known_goals().functions, 20)
            exprs = [self.rule_call(r.choice(rules), scope) for rules in few]
            tail = ""
        # json is shown as its text, and so are arrays of enumerations, which the judge's module does not know.
        exprs = [form(("expr", "text"), "cast({} as text)", e, type="text") if e.type in [*documents.UNORDERED, "ea"] else e for e in exprs]
        kinds = [e.type for e in exprs]
        where = self.where(source, 1) if self.chance(0.3) else Node(("where",), [], optional=True)
        body = form(("query", *kinds), "select {} from {}{}" + tail, self.items(exprs), source.node, where,
                    features=["many aggregates" if of_groups else "many calls"])
        return self.ordered(body, len(kinds), False, True)

    def wider_calls(self, scope):
        calls = functions.ANALYTIC_AGGREGATES["wider"] if self.can("wider") else []
        return [self.call(call, scope, 1) for call in self.r.sample(calls, min(3, len(calls)))]

    def rule_call(self, rule, scope):
        kind, template, arguments, name, _ = rule
        parts = [self.argument(wanted, scope, 1) for wanted in arguments]
        return form(("expr", kind), template, *parts, features=[f"function {name}", f"function {name}({kind})"], type=kind)

    def known_goals(self):
        """The goals of this judge and these abilities."""
        key = self.judge, self.abilities
        if key not in GOALS:
            GOALS[key] = Goals(self.rules, self.aggregates(), self.can("kept"), self.can("documents"))
        return GOALS[key]

    def changing(self):
        """A query that reads what a change in its WITH returns, and the table as it was before; undone after it."""
        self.takes_parameters = False
        name = self.r.choice(["small", "other", "pairs", "edges"] + (["papers"] if self.can("documents") else []))
        columns = tables.TABLES[name][0]
        own = [Column(c, *tables.COLUMNS[c], c) for c in columns]
        shown = self.r.sample([c for c in own if c.kind in PLAIN], self.r.randint(1, 3))
        pick = self.r.random()
        if pick < 0.35:
            change = form(("change",), f"delete from {name}{{}}", self.where(Source(None, own, 0), 2), features=["changing with delete"])
        elif pick < 0.7:
            changed = self.r.choice([c for c in own if c.name not in tables.TABLES[name][3]])
            change = form(("change",), f"update {name} set {changed.name} = {{}}{{}}", self.expr(changed.kind, own, 1, safe=changed.safe), self.where(Source(None, own, 0), 2), features=["changing with update"])
        else:
            change = self.insertion(name, columns, "changing with insert")
        alias = f"w{self.alias()}"
        names = ", ".join(f"c{at}" for at in range(len(shown)))
        self.ctes.append((alias, [c.kind for c in shown]))
        kinds = self.kinds(self.r.randint(1, 3))
        source = self.of_cte() if self.chance(0.6) else self.joined(self.of_cte(), 0)
        body, order = self.ordered(self.grouped(kinds, 1, source=source) if self.chance(0.4) else self.plain(kinds, 1, source=source), len(kinds), True, True)
        query = form(("query", *kinds), f"with {alias} ({names}) as ({{}} returning {', '.join(c.name for c in shown)}) {{}}", change, body, features=["changing with"])
        return Statement(query, order, before=[Node(("text",), ["begin"])], after=[Node(("text",), ["rollback"])])

    def change(self):
        """INSERT or DELETE, then the rows of the table; undone after it. Parameters are those of queries alone."""
        self.takes_parameters = False
        name = self.r.choice(["small", "other", "pairs", "edges"] + (["papers"] if self.can("documents") else []))
        columns = tables.TABLES[name][0]
        if self.chance(0.5):
            source = self.table(name)
            source.columns = [Column(c.name, c.kind, c.safe, c.name) for c in source.columns]
            test = self.expr("bool", source.columns, 2)
            change = form(("change",), f"delete from {name} where {{}}", test, features=["delete"])
        else:
            change = self.insertion(name, columns, "insert")
        query = Node(("query",), [f"select {', '.join(columns)} from {name}"])
        return Statement(query, before=[Node(("text",), ["begin"]), change], after=[Node(("text",), ["rollback"])], parameters=())

    def insertion(self, name, columns, feature):
        chosen = self.r.sample(columns, self.r.randint(1, len(columns)))
        chosen += [c for c in tables.TABLES[name][3] if c not in chosen]
        kinds = [tables.COLUMNS[c][0] for c in chosen]
        source = self.table(self.r.choice(["small", "edges", "one"]) if name != "papers" else "papers")
        exprs = [self.expr(k, source.columns, 1) for k in kinds]
        cells = Node(("cells",), [p for at, c in enumerate(exprs) for p in ((", ", c) if at else (c,))])
        return form(("change",), f"insert into {name} ({', '.join(chosen)}) select {{}} from {{}}{{}}", cells, source.node, self.where(source, 1), features=[feature])


# How calls begin whose aggregate stands within.
WITHIN = ("cast(", "cardinality(", "array_length(", "array_to_string(", "json_array_length(", "jsonb_array_length(")
# By judge and abilities.
GOALS = {}
PARAMETERS = {"i4": [0, 1, 7, -3], "i8": [1, 2**40], "text": ["a", "", "ab"], "f8": [1.5, -0.25],
              "jb": ['{"a": [1, null]}', "[]", '"x"'], "ai": ["{1,NULL}", "{}"]}
RULES = {judge: {} for judge in ("postgres", DUCKDB)}
for rule in functions.operators():
    for judge in RULES:
        if rule[4] == "both" or judge == "postgres":
            RULES[judge].setdefault(rule[0], []).append(rule)
RULES["wider"] = {kind: list(rules) for kind, rules in RULES["postgres"].items()}
for rule in wider.rules():
    RULES["wider"].setdefault(rule[0], []).append(rule)
WIDER = alike(wider.rules())
# These, whose arguments are often refused, or NULL, are drawn twice as often.
SELDOM = {"jsonb_path_exists", "jsonb_path_exists with vars", "cast integer[] to decimal(9,1)[]"}
WIDER += [rules for rules in WIDER if rules[0][3] in SELDOM]
