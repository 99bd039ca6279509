"""INSERT, UPDATE, DELETE and what stands with them, drawn over the tables of a script.

Where an answer would depend on the order in which rows are met, a statement orders them, or is marked `open`."""

import datetime

from . import grammar, schema
from .nodes import POSTGRES, Node, form, listed

INTERVALS = [
    "interval '1-2'", "interval '1 2:03:04'", "interval 'P1Y2M3DT4H5M6S'", "interval 'PT36H'", "interval '5' hour", "interval '1-2' year to month", "interval '1.5 days'",
    "interval '2 weeks ago'", "interval(1) '1.25 s'", "interval '1 day ago 2 hours ago'", "interval '3 4:05:06' day to minute", "interval '1.5 months'", "interval '-1 year +2 mons'",
    "interval '100 ms'", "interval '1 century'", "interval '-04:05'", "interval '1 day 30 minutes' ", "interval '90' second", "interval '@ 1 hour'", "interval 'P-1M'", "interval '0.1' month",
    "interval '2 yrs 1 decade'", "interval '1d+2h'", "interval '30' minute",
]
# Values of parameters that no cast gives a type.
PARAMETERS = {"i4": [0, 1, 2, 3, 5], "i8": [1, 2, 3, 10], "text": ["a", "b", "", "ab"], "date": [datetime.date(2000, 2, 29), datetime.date(1999, 12, 31)]}


class Step(grammar.Statement):
    """A statement of a script. `effect`: what it does to the schema if it succeeds. `open`: the order in which it meets rows
    decides whether it fails, or at which. `ours`: it is Frazil's alone, and must change nothing."""

    def __init__(self, query, ordered=(), parameters=(), effect=None, open=False, ours=False):
        super().__init__(query, ordered, parameters=parameters)
        self.effect, self.open, self.ours = effect, open, ours

    def with_query(self, query):
        return Step(query, (), self.parameters, self.effect, self.open, self.ours)


def joined(items, separator=", "):
    """A node that holds all of these, none of which can be left out."""
    return Node(("cells",), [p for at, item in enumerate(items) for p in ((separator, item) if at else (item,))])


def nothing(sort="nothing"):
    return Node((sort,), [], optional=True)


class Changes(grammar.Generator):
    """`tables`, `views`: the script's, by name."""

    def __init__(self, r):
        super().__init__(r, POSTGRES)
        self.tables, self.views = {}, {}

    # Sources are the script's tables.

    def single(self, depth, small=False):
        pick = self.r.random()
        if pick < 0.1 and depth > 0:
            return self.derived(depth - 1)
        if pick < 0.3 and self.ctes:
            return self.of_cte()
        if pick < 0.38 or not self.tables:
            return self.values()
        if self.views and pick < 0.5:
            return self.read(self.r.choice(list(self.views.values())), self.alias())
        return self.table(self.r.choice(list(self.tables)))

    def table(self, name):
        if not self.tables:
            return self.values()
        # What joins a large source, and is read again and again, is small.
        table = self.tables.get(name) or min(self.tables.values(), key=lambda t: t.rows)
        if table.rows > 100 and (name not in self.tables or self.scopes):
            return self.values()
        return self.read(table, self.alias())

    def read(self, table, alias):
        node = Node(("source", table.name), [f"{table.name} {self.r.choice(['', 'as '])}{alias}"], [f"table with {k.kind}" for k in table.keys])
        return grammar.Source(node, self.columns(table, alias), table.rows, [table.name])

    def columns(self, table, alias=None):
        """The columns of a table under a name, or bare."""
        return [grammar.Column(f.name, f.kind, True, f"{alias}.{f.name}" if alias else f.name) for f in table.fields]

    def parameter(self, kind):
        """A parameter whose type follows from where it stands."""
        self.parameters.append(self.r.choice(PARAMETERS[kind]))
        return Node(("expr", kind), [f"${len(self.parameters)} "], ["untyped parameter"], type=kind)

    def literal(self, kind, safe=False):
        if kind == "iv" and self.chance(0.6):
            word = self.r.choice(INTERVALS)
            return Node(("expr", kind), [word], ["interval literal"], type=kind)
        return super().literal(kind, safe)

    # Values for columns.

    def value(self, field, scope=(), depth=1):
        """What is assigned to a column: mostly a literal of its domain."""
        kind, sort = field.kind, ("expr", field.kind)
        pick = self.r.random()
        if pick < 0.06:
            return Node(sort, ["null"], ["null assigned"], type=kind)
        if pick < 0.09 and kind in schema.TOO_LARGE:
            return Node(sort, [self.r.choice(schema.TOO_LARGE[kind])], ["too large assigned"], type=kind)
        if pick < 0.14:
            return self.expr(self.r.choice(schema.ASSIGNED[kind]), scope, depth)
        if pick < (0.62 if scope else 0.22):
            return self.expr(kind, scope, depth)
        if kind in PARAMETERS and self.chance(0.12):
            return self.parameter(kind)
        if self.chance(0.01):
            # Mostly of a type that no assignment converts.
            return self.expr(self.kinds(1)[0], scope, 0)
        return Node(sort, [self.r.choice(schema.DOMAIN[kind])], ["literal assigned"], type=kind)

    def default(self, field, else_):
        """DEFAULT at times."""
        if self.chance(0.07):
            return Node(("default",), ["default"], ["default assigned"])
        return else_(field)

    def test(self, columns, depth=1):
        """A condition of rows: mostly of one column and a literal of its domain."""
        plain = [c for c in columns if c.kind in schema.DOMAIN]
        if not plain or self.chance(0.4):
            return self.expr("bool", columns, depth)
        column = self.r.choice(plain)
        words = [self.parameter(column.kind) if column.kind in PARAMETERS and self.chance(0.12) else Node(("word",), [self.r.choice(schema.DOMAIN[column.kind])])
                 for _ in range(2)]
        template = self.r.choice(["({} = {})"] * 4 + ["({} > {})", "({} <= {})", "({} <> {})", "({} in ({}, {}))", "({} between {} and {})"])
        left = Node(("expr", column.kind), [column.ref], type=column.kind)
        return form(("expr", "bool"), template, left, *words[:template.count("{}") - 1], features=["literal test"], type="bool")

    def filter(self, columns, none=0.15, depth=1):
        if self.chance(none):
            return nothing("where")
        test = self.test(columns, depth)
        if self.chance(0.2):
            test = form(("expr", "bool"), self.r.choice(["({} and {})", "({} or {})"]), test, self.test(columns, depth), type="bool")
        return form(("where",), " where {}", test, optional=True)

    # What stands around a change.

    def returning(self, scope, names=()):
        """RETURNING of expressions, or of all columns of the names."""
        if self.chance(0.55):
            return nothing("returning")
        if self.chance(0.4):
            stars = ", ".join(["*"] if not names or self.chance(0.6) else [f"{n}.*" for n in names])
            return Node(("returning",), [f" returning {stars}"], ["returning *"], optional=True)
        kinds = [self.r.choice(scope).kind for _ in range(self.r.randint(1, 3))]
        items = [form(("named",), self.r.choice(["{}", "{}" + f" as c{i}"]), self.expr(k, scope, 1)) for i, k in enumerate(kinds)]
        return form(("returning",), " returning {}", listed("items", items), features=["returning"], optional=True)

    def with_front(self, make):
        """The change that `make` draws, at times with a common table expression that it may read."""
        if not self.tables or not self.chance(0.1):
            return make()
        kinds = self.kinds(2)
        query, _ = self.query(kinds, 1)
        name = f"w{self.alias()}"
        self.ctes.append((name, kinds))
        step = make()
        self.ctes.pop()
        step.query = form(("change",), f"with {name} (c0, c1) as ({{}}) {{}}", query, step.query, features=["with before a change"])
        return step

    def pick(self):
        return self.r.choice(list(self.tables.values()))

    def step(self, node, **more):
        parameters, self.parameters = self.parameters, []
        return Step(node, parameters=parameters, **more)

    # INSERT.

    def insert(self, table=None, plain=False):
        """`plain`: rows of literals, as a table is filled."""
        table = table or self.pick()
        fields, names = self.targets(table, plain)
        alias = self.alias() if self.chance(0.2) else None
        if plain or self.chance(0.65):
            body = self.rows(fields, plain)
        elif self.chance(0.12):
            body, names = Node(("body",), ["default values"], ["insert default values"]), ""
        else:
            body = self.inserted_query(fields)
        conflict = self.conflict(table, alias) if not plain and self.chance(0.45) else nothing("conflict")
        returning = nothing("returning") if plain else self.returning(self.columns(table, alias or table.name), [alias or table.name])
        node = form(("change",), f"insert into {table.name}{f' as {alias}' if alias else ''}{names} {{}}{{}}{{}}", body, conflict, returning,
                    features=["insert"])
        return self.step(node)

    def targets(self, table, plain):
        """The columns that a row is given for, and how the statement names them."""
        if plain or self.chance(0.4):
            return list(table.fields), ""
        must = [f for f in table.fields if f.not_null and not f.default]
        chosen = [f for f in table.fields if self.chance(0.6) or f in must and self.chance(0.9)] or table.fields[:1]
        self.r.shuffle(chosen)
        return chosen, f" ({', '.join(f.name for f in chosen)})"

    def rows(self, fields, plain):
        rows = []
        for _ in range(self.r.choice([4, 6, 9]) if plain else self.r.choice([1, 1, 1, 2, 3])):
            cells = [self.plain_value(f) if plain else self.default(f, self.value) for f in fields]
            rows.append(form(("row",), "({})", joined(cells)))
        return form(("body",), "values {}", listed("rows", rows), features=["insert values"])

    def plain_value(self, field):
        word = "null" if not field.not_null and self.chance(0.12) else self.r.choice(schema.DOMAIN[field.kind])
        return Node(("word",), [word])

    def inserted_query(self, fields):
        """A query in a total order: which row is first in the way of another follows from it."""
        source = self.source(1, 2)
        items = listed("items", [self.selected(f, source) for f in fields]) if len(fields) == 1 else joined([self.selected(f, source) for f in fields])
        order = ", ".join(f"{i + 1}" for i in range(len(fields)))
        limit = self.r.choice(["", "", f" limit {self.r.randint(1, 4)}"])
        return form(("body",), "select {} from {}{}" + f" order by {order}{limit}", items, source.node, self.filter(source.columns), features=["insert select"])

    def selected(self, field, source):
        """A typed expression: a bare literal of a query is not converted as one of VALUES is."""
        kind = self.r.choice(schema.ASSIGNED[field.kind]) if self.chance(0.1) else field.kind
        if self.chance(0.25):
            return form(("expr", kind), f"cast({self.r.choice(schema.DOMAIN[kind])} as {grammar.CASTS[kind]})", type=kind)
        return self.expr(kind, source.columns, 1)

    def conflict(self, table, alias):
        """ON CONFLICT, mostly with a target that there is."""
        target, features = "", ["on conflict"]
        unique = table.unique()
        if unique and self.chance(0.85):
            key = self.r.choice(unique)
            if key.is_constraint() and self.chance(0.25):
                target = f" on constraint {key.name}"
                features.append("on conflict on constraint")
            else:
                target = f" ({', '.join(self.r.sample(key.columns, len(key.columns)))})"
        elif self.chance(0.3):
            target = f" ({self.r.choice(table.fields).name})"
        if not target and self.chance(0.97) or self.chance(0.35):
            return Node(("conflict",), [f" on conflict{target} do nothing"], [*features, "do nothing"], optional=True)
        scope = self.columns(table, alias or table.name) + self.columns(table, "excluded")
        where = self.filter(scope, none=0.65)
        return form(("conflict",), f" on conflict{target} do update set {{}}{{}}", self.assignments(table, scope, keys=0.15), where,
                    features=[*features, "do update"], optional=True)

    # SET.

    def assignments(self, table, scope, keys=0.3):
        """What SET holds. `keys`: how often columns of keys are among what changes."""
        taken = table.key_columns()
        fields = [f for f in table.fields if f.name not in taken or self.chance(keys)] or table.fields
        fields = self.r.sample(fields, min(len(fields), self.r.choice([1, 1, 2, 3])))
        items = []
        while fields:
            width = self.r.choice([1, 1, 2, 3])
            some, fields = fields[:width], fields[width:]
            items.append(self.assignment(some, scope, len(some) > 1 or self.chance(0.05)))
        return listed("assignments", items)

    def assignment(self, fields, scope, as_row):
        if not as_row:
            return form(("set",), f"{fields[0].name} = {{}}", self.default(fields[0], lambda f: self.value(f, scope, 2)))
        names = ", ".join(f.name for f in fields)
        if self.chance(0.45):
            return form(("set",), f"({names}) = ({{}})", self.set_query(fields, scope), features=["set row of a query"])
        word = self.r.choice(["", "row"]) if len(fields) > 1 else "row"
        cells = joined([self.default(f, lambda f: self.value(f, scope, 1)) for f in fields])
        return form(("set",), f"({names}) = {word}({{}})", cells, features=[f"set row{' of ROW' if word else ''}"])

    def set_query(self, fields, scope):
        """A query of one row at most, or, seldom, of several."""
        pick = self.r.random()

        def make():
            if pick < 0.15:
                return form(("query",), "select {}", joined([self.cast_to(f, self.expr(f.kind, [], 1)) for f in fields]))
            source = self.source(1, 1)
            if pick < 0.55:
                cells = [self.cast_to(f, self.extreme(f.kind, source)) for f in fields]
                return form(("query",), "select {} from {}{}", joined(cells), source.node, self.filter(source.columns))
            order = ", ".join(f"{i + 1}" for i in range(len(fields)))
            tail = "" if pick > 0.95 else f" order by {order} limit 1"
            cells = [self.cast_to(f, self.expr(f.kind, source.columns, 1)) for f in fields]
            return form(("query",), "select {} from {}{}" + tail, joined(cells), source.node, self.filter(source.columns))
        return self.inside(scope, make)

    def cast_to(self, field, node):
        """A bare literal of a query would be text."""
        return form(("cell",), f"cast({{}} as {grammar.CASTS[field.kind]})", node)

    def extreme(self, kind, source):
        """The least or largest value of a source."""
        if kind in ("bool", "char"):
            # They have none in PostgreSQL, or one of another type.
            return Node(("expr", kind), ["null"], type=kind)
        scopes, self.scopes = self.scopes, []
        node = form(("expr", kind), f"{self.r.choice(['min', 'max'])}({{}})", self.leaf(kind, source.columns), type=kind)
        self.scopes = scopes
        return node

    # UPDATE and DELETE.

    def target(self, table):
        """How the statement names the table, and the name that its columns have."""
        if self.chance(0.45):
            alias = self.alias()
            return f"{table.name} {self.r.choice(['', 'as '])}{alias}", alias
        return table.name, table.name

    def update(self):
        table = self.pick()
        head, name = self.target(table)
        own = self.columns(table, name if self.chance(0.8) else None)
        if self.chance(0.35):
            own = self.columns(table, name)
            beside, known, where = self.partners(table, own)
            middle = form(("from",), " from {}", beside, features=["update from"])
        else:
            known, middle, where = own, Node(("from",), []), self.filter(own, none=0.2, depth=2)
        sets = self.assignments(table, known)
        returning = self.returning(known, [name])
        if "returning *" in returning.features and known is own and middle.parts:
            # Of several partners any may be shown.
            returning = Node(("returning",), [f" returning {name}.*"], ["returning *"], optional=True)
        node = form(("change",), f"update {head} set {{}}{{}}{{}}{{}}", sets, middle, where, returning, features=["update"])
        return self.step(node, open=True)

    def delete(self):
        table = self.pick()
        head, name = self.target(table)
        own = self.columns(table, name)
        if self.chance(0.35):
            beside, known, where = self.partners(table, own)
            middle = form(("using",), " using {}", beside, features=["delete using"])
        else:
            known, middle, where = own, Node(("using",), []), self.filter(own, none=0.03, depth=2)
        returning = self.returning(known, [name])
        if "returning *" in returning.features and known is own and middle.parts:
            returning = Node(("returning",), [f" returning {name}.*"], ["returning *"], optional=True)
        return self.step(form(("change",), f"delete from {head}{{}}{{}}{{}}", middle, where, returning, features=["delete"]))

    def partners(self, table, own):
        """What FROM or USING holds, the columns that the statement may name, and its condition. Of a source that may give a row
        several partners only the condition names columns."""
        fields = [c for c in own if c.kind in ("i4", "i8", "text", "date", "dec")]
        if fields and self.chance(0.6):
            column = self.r.choice(fields)
            source = self.one_partner(column)
            test = Node(("expr", "bool"), [f"{column.ref} = {source.columns[0].ref}"], type="bool")
            known = own + source.columns
            if self.chance(0.4):
                test = form(("expr", "bool"), "({} and {})", test, self.test(known), type="bool")
            return source.node, known, form(("where",), " where {}", test)
        source = self.source(1, 2)
        every = own + source.columns
        if self.chance(0.15):
            return source.node, own, nothing("where")
        test = self.expr("bool", every, 1)
        pairs = [(a, b) for a in own for b in source.columns if a.kind == b.kind and isinstance(b.ref, str)]
        if pairs and self.chance(0.7):
            a, b = self.r.choice(pairs)
            test = form(("expr", "bool"), f"({a.ref} = {b.ref}{{}})", form(("more",), " and {}", test, optional=True), type="bool")
        return source.node, own, form(("where",), " where {}", test)

    def one_partner(self, column):
        """A source whose first column, of the kind of `column`, has no value twice."""
        alias, kind = self.alias(), column.kind
        other = self.kinds(1)[0]
        if self.chance(0.4):
            words = self.r.sample([w for w in schema.DOMAIN[kind] if not w.startswith("'") or kind != "i4"], 3)
            if kind == "dec":
                words = ["1.5", "2", "-3.75"]
            rows = [form(("row",), f"(cast({w} as {grammar.CASTS[kind]}), cast({{}} as {grammar.CASTS[other]}))", self.literal(other)) for w in words]
            node = form(("source", "values"), f"(values {{}}) as {alias} (c0, c1)", listed("rows", rows))
        else:
            source = self.source(1, 1)
            other = other if other != "bool" else "i8"
            call = form(("expr", other), f"{self.r.choice(['min', 'max'])}({{}})", self.expr(other, source.columns, 1), type=other)
            keys = [c for c in source.columns if c.kind == kind and isinstance(c.ref, str)]
            first = Node(("key",), [self.r.choice(keys).ref if keys else f"cast({self.r.choice(schema.DOMAIN[kind])} as {grammar.CASTS[kind]})"])
            by = form(("by",), " group by {}", first) if keys else Node(("by",), [])
            node = form(("source", "derived"), f"(select {{}}, {{}} from {{}}{{}}{{}}) as {alias} (c0, c1)", first, call, source.node, self.filter(source.columns), by)
        return grammar.Source(node, [grammar.Column("c0", kind, True, f"{alias}.c0"), grammar.Column("c1", other, False, f"{alias}.c1")], 4)

    # Rows of the tables.

    def select(self):
        kinds = self.kinds(self.r.choice([1, 2, 3]))
        query, order = self.query(kinds, self.r.choice([1, 2, 2, 3]), top=True)
        return self.step(query, ordered=order)

    def lookup(self):
        """Rows by keys, in the order of keys, the first or last of them: what indexes answer."""
        table = self.pick()
        columns = self.columns(table, table.name)
        shown = self.r.choice(["*", ", ".join(self.r.sample([c.ref for c in columns], self.r.randint(1, len(columns))))])
        where = self.filter(columns, none=0.1)
        keys = self.r.choice([k.columns for k in table.keys if k.columns] or [[columns[0].name]])
        pick = self.r.random()
        if pick < 0.2:
            column = next(c for c in columns if c.name == keys[0])
            items = "count(*)" if column.kind in ("bool", "char") else f"min({column.ref}), max({column.ref}), count(*)"
            return self.step(form(("query",), f"select {items} from {table.name}{{}}", where, features=["first and last key"]))
        if pick < 0.5:
            way = self.r.choice(["", " desc", " nulls first", " desc nulls last"])
            order = ", ".join(f"{table.name}.{c}{way}" for c in keys)
            shown = ", ".join(f"{table.name}.{c}" for c in keys)
            limit = self.r.choice(["", " limit 1", " limit 3 offset 1"])
            return self.step(form(("query",), f"select {shown} from {table.name}{{}} order by {order}{limit}", where, features=["in the order of keys"]),
                             ordered=tuple(range(len(keys))))
        return self.step(form(("query",), f"select {shown} from {table.name}{{}}", where, features=["lookup"]))
