"""Scripts: tables with keys, changes of their rows and of themselves, transactions, FREEZE between statements.

A script is drawn as it runs: what follows goes by whether a statement succeeded."""

import copy

from . import schema
from .changes import PARAMETERS, Changes, Step
from .nodes import FRAZIL, Node, form, listed

NAMES = "abcdefgh"
DEFAULTS = {
    "i2": ["7", "1 + 2"], "i4": ["7", "-1", "length('abc')", "cast(extract(year from now()) as integer) * 0 + 5", "null"], "i8": ["9", "abs(-4)"],
    "dec": ["1.5", "2 * 1.25"], "f8": ["0.5", "sqrt(4)"], "text": ["'d'", "upper('d')", "'a' || 'b'", "null"], "char": ["'d'"],
    "date": ["'2000-01-01'", "date '2000-01-01' + 1"], "ts": ["'2000-01-01 01:00:00'"], "bool": ["true", "1 = 2"],
}


class Script(Changes):
    """Draws the steps of one script: `steps()` yields each, `told` must be called with whether it succeeded before the next."""

    def __init__(self, r):
        super().__init__(r)
        self.names = 0
        self.frames = []       # (savepoint or None, the tables at its beginning)
        self.failed = False    # the transaction
        self.step_now = None
        self.done = []         # changes and queries

    def steps(self):
        for _ in range(self.r.choice([1, 2, 2, 3])):
            yield self.drawn(self.create())
            if self.tables and self.chance(0.9):
                yield self.drawn(self.insert(list(self.tables.values())[-1], plain=True))
            if self.tables and self.chance(0.08):
                yield self.drawn(self.many(list(self.tables.values())[-1]))
        for _ in range(self.r.randint(8, 24)):
            step = None
            while step is None:
                step = self.draw()
            yield self.drawn(step)
        if self.frames:
            yield self.drawn(self.end("commit"))
        for table in list(self.tables.values()):
            yield self.drawn(self.step(Node(("query",), [f"select * from {table.name}"], ["contents"])))

    def drawn(self, step):
        self.step_now = step
        return step

    def kept(self):
        return copy.deepcopy((self.tables, self.views))

    def told(self, succeeded):
        if self.step_now.query.sort[0] in ("change", "query") and not self.step_now.effect:
            self.done.append(self.step_now)
        if succeeded:
            if self.step_now.effect:
                self.step_now.effect()
        elif self.frames:
            self.failed = True

    def draw(self):
        if not self.tables:
            return self.create() if not self.failed else self.transaction()
        if self.failed and self.chance(0.75) or self.chance(0.2 if self.frames else 0.07):
            return self.transaction()
        make, = self.r.choices([m for m, _ in STEPS], [w for _, w in STEPS])
        return self.with_front(lambda: make(self)) if make in (Script.insert, Script.update, Script.delete) else make(self)

    def said(self, text, features=(), effect=None):
        return self.step(Node(("text",), [text], features or [" ".join(text.split()[:2])]), effect=effect)

    def new(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def again(self):
        """An earlier statement, with its parameters or others: its plan may be from before other columns, keys or blocks."""
        if not self.done:
            return None
        step = self.r.choice(self.done)
        values = [self.r.choice(next((p for p in PARAMETERS.values() if v in p), [v])) for v in step.parameters]
        return Step(step.query, step.ordered, values if self.chance(0.7) else step.parameters, open=step.open)

    # Transactions.

    def transaction(self):
        if not self.frames:
            # Seldom what needs a transaction, outside of one.
            return self.begin() if self.chance(0.95) else self.said(self.r.choice(["savepoint s1", "rollback to s1", "release s1"]))
        saved = [name for name, _ in self.frames if name]
        if saved and self.chance(0.5):
            return self.back_to(self.r.choice(saved)) if self.failed or self.chance(0.6) else self.release(self.r.choice(saved))
        if not self.failed and self.chance(0.6):
            name = self.r.choice(["s1", "s2", "s3"])
            return self.said(f"savepoint {name}", effect=lambda: self.frames.append((name, self.kept())))
        if self.chance(0.03):
            return self.said("rollback to nowhere")
        return self.end(self.r.choice(["commit", "commit", "rollback", "end", "abort"]))

    def begin(self):
        return self.said(self.r.choice(["begin", "start transaction"]), effect=lambda: self.frames.append((None, self.kept())))

    def end(self, word):
        def effect():
            if self.failed or word in ("rollback", "abort"):
                self.tables, self.views = self.frames[0][1]
            self.frames, self.failed = [], False
        return self.said(word, [f"failed {word}" if self.failed else word], effect)

    def place(self, name):
        return max(at for at, (saved, _) in enumerate(self.frames) if saved == name)

    def back_to(self, name):
        def effect():
            at = self.place(name)
            self.tables, self.views = copy.deepcopy(self.frames[at][1])
            self.frames = self.frames[:at + 1]
            self.failed = False
        return self.said(f"rollback to {self.r.choice(['', 'savepoint '])}{name}", ["rollback to"], effect)

    def release(self, name):
        def effect():
            self.frames = self.frames[:self.place(name)]
        return self.said(f"release {self.r.choice(['', 'savepoint '])}{name}", ["release"], effect)

    # Tables.

    def create(self):
        name = self.new("t")
        fields = [self.field(n) for n in NAMES[:self.r.choice([2, 3, 3, 4, 5])]]
        table = schema.Table(name, fields)
        items = [self.column(table, f) for f in fields]
        for _ in range(self.r.choice([0, 0, 1, 1, 2])):
            items.append(self.constraint(table))
        node = form(("change",), f"create table {name} ({{}})", listed("columns", items), features=["create table"])
        return self.step(node, effect=lambda: self.tables.__setitem__(name, table))

    def field(self, name):
        kind, = self.r.choices(schema.KINDS, schema.KIND_WEIGHTS)
        return schema.Field(name, kind, self.r.choice(schema.TYPES[kind]))

    def column(self, table, field):
        """A column's definition; what it says of keys is added to the table."""
        parts, features = [f"{field.name} {field.sql}"], []
        if self.chance(0.2):
            parts += [" default ", self.default_value(field)]
            field.default = True
            features.append("default")
        if self.chance(0.15):
            parts.append(" not null")
            field.not_null = True
        pick = self.r.random()
        keyed = field.kind in schema.KEY_KINDS
        if pick < 0.25 and keyed and not any(k.kind == "primary" for k in table.keys):
            parts.append(self.named(table, "primary", [field.name]) + "primary key")
        elif pick < 0.37:
            parts.append(self.named(table, "unique", [field.name]) + self.r.choice(["unique", "unique", "unique nulls not distinct"]))
        elif pick < 0.47:
            parts += [self.named(table, "check", [field.name]), "check (", self.check(table, [field]), ")"]
        return Node(("column",), parts, features)

    def default_value(self, field):
        return Node(("default value",), [self.r.choice(DEFAULTS[field.kind])])

    def named(self, table, kind, columns):
        """`constraint c` or nothing, where PostgreSQL's own name is known."""
        name = schema.given_name(table.name, kind, columns)
        said = self.chance(0.5) or any(k.name == name for k in table.keys)
        if said:
            name = self.new("c")
        table.add(schema.Key(name, kind, columns))
        return f" constraint {name} " if said else " "

    def constraint(self, table):
        """A key or check of a table, added to it."""
        fields = [f for f in table.fields if f.kind in schema.KEY_KINDS] or table.fields
        chosen = [f.name for f in self.r.sample(fields, min(len(fields), self.r.choice([1, 2, 2, 3])))]
        pick = self.r.random()
        listing = ", ".join(chosen)
        if pick < 0.3 and not any(k.kind == "primary" for k in table.keys):
            return Node(("constraint",), [self.named(table, "primary", chosen), f"primary key ({listing})"], ["primary key"])
        if pick < 0.7:
            nulls = self.r.choice(["", "", " nulls not distinct", " nulls distinct"])
            return Node(("constraint",), [self.named(table, "unique", chosen), f"unique{nulls} ({listing})"], [f"unique{nulls}"])
        # Its columns are known only here, so that a name of PostgreSQL's making is not.
        table.add(schema.Key(name := self.new("c"), "check", [f.name for f in table.fields]))
        return Node(("constraint",), [f"constraint {name} check (", self.check(table, table.fields), ")"], ["check"])

    def check(self, table, fields):
        """A condition that most rows satisfy, of a row alone."""
        columns = [c for c in self.columns(table) if c.name in [f.name for f in fields]]
        plain = [c for c in columns if c.kind in schema.DOMAIN]
        column = self.r.choice(plain)
        word = self.r.choice(schema.DOMAIN[column.kind])
        if self.chance(0.6):
            return Node(("expr", "bool"), [f"{column.ref} {self.r.choice(['<>', 'is distinct from'])} {word}"], type="bool")
        test = self.expr("bool", columns, 1)
        while "$" in test.text():
            self.parameters = []
            test = self.expr("bool", columns, 1)
        return form(("expr", "bool"), f"({{}} or {column.ref} is {self.r.choice(['not null', 'null'])})", test, type="bool")

    def drop(self):
        if len(self.tables) < 2 and self.chance(0.9):
            return None
        name = self.pick().name
        return self.said(f"drop table {self.r.choice(['', 'if exists '])}{name}{self.r.choice(['', '', ' cascade'])}", effect=lambda: self.tables.pop(name))

    def create_as(self):
        name, kinds = self.new("t"), self.kinds(self.r.choice([1, 2, 3]))
        query, _ = self.query(kinds, 1)
        fields = [schema.Field(n, k, schema.SQL_TYPES[k]) for n, k in zip(NAMES, kinds)]
        # Each engine has types of its own for the results of arithmetic.
        casts = ", ".join(f"cast(c{i} as {schema.SQL_TYPES[k]})" for i, k in enumerate(kinds))
        names = ", ".join(f"c{i}" for i in range(len(kinds)))
        tail = self.r.choice(["", "", "", " with no data"])
        node = form(("change",), f"create table {name} ({', '.join(NAMES[:len(kinds)])}) as select {casts} from ({{}}) q ({names}){tail}", query, features=["create table as"])
        if "$" in node.text():
            # Refused.
            self.parameters = []
            return None
        return self.step(node, effect=lambda: self.tables.__setitem__(name, schema.Table(name, fields)))

    # Views.

    def create_view(self):
        table = self.pick()
        fields = self.r.sample(table.fields, self.r.randint(1, len(table.fields)))
        old = self.r.choice(list(self.views)) if self.views and self.chance(0.3) else None
        name = old or self.new("v")
        where = self.filter(self.columns(table, "x"), none=0.4)
        node = form(("text",), f"create {'or replace ' if old else ''}view {name} as select {', '.join(f'x.{f.name}' for f in fields)} from {table.name} x{{}}", where, features=["create view"])
        if "$" in node.text():
            self.parameters = []
            return None
        view = schema.Table(name, copy.deepcopy(fields))
        view.rows = table.rows
        return self.step(node, effect=lambda: self.views.__setitem__(name, view))

    def drop_view(self):
        if not self.views:
            return None
        name = self.r.choice(list(self.views))
        return self.said(f"drop view {name}", effect=lambda: self.views.pop(name))

    def create_more(self):
        return self.create() if len(self.tables) < 4 else None

    def truncate(self):
        names = {self.pick().name for _ in range(self.r.choice([1, 1, 2]))}
        return self.said(f"truncate {self.r.choice(['', 'table '])}{', '.join(sorted(names))}")

    def freeze(self):
        """What only Frazil does, and must not be noticed."""
        table = self.pick()
        if self.chance(0.25) and not self.frames:
            # In memory it is nothing.
            word = self.r.choice(["reopen", "checkpoint"])
            return self.step(Node(("text",), ["-- opened anew" if word == "reopen" else {FRAZIL: "checkpoint", None: ""}], [word]), ours=True)
        order = f" order by {self.r.choice(table.fields).name}" if self.chance(0.3) else ""
        node = Node(("text",), [{FRAZIL: f"freeze table {table.name}{order}", None: ""}], ["freeze"])
        return self.step(node, ours=True)

    def many(self, table):
        """Thousands of rows, whose keys differ or meet nobody's."""
        digits = "(values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))"
        number = "1000 + p.n + 10 * q.n + 100 * r.n + 1000 * s.n"
        made = {"bool": f"({number}) % 3 = 0", "i2": number, "i4": number, "i8": f"cast({number} as bigint) * 1000003", "dec": f"({number}) / 2.0", "f8": f"({number}) / 8.0",
                "text": f"cast({number} as text)", "char": f"cast(({number}) % 10 as text)", "date": f"date '2010-01-01' + {number}",
                "ts": f"timestamp '2010-01-01 00:00:00' + ({number}) * interval '1 hour'"}
        cells = ", ".join(made[f.kind] for f in table.fields)
        sources = ", ".join(f"{digits} {n} (n)" for n in "pqr")
        table.rows = 3000
        return self.said(f"insert into {table.name} select {cells} from {sources}, (values (0), (1), (2)) s (n) order by {number} on conflict do nothing", ["thousands of rows"])

    # Indexes.

    def create_index(self):
        table = self.pick()
        unique = self.chance(0.35)
        fields = self.r.sample(table.fields, min(len(table.fields), self.r.choice([1, 1, 2, 3])))
        names = [f.name for f in fields]
        if self.chance(0.6) or any(k.name == schema.given_name(table.name, "index", names) for k in table.keys):
            name = said = self.new("i")
        else:
            name, said = schema.given_name(table.name, "index", names), ""
        ways = ", ".join(n + self.r.choice(["", "", " desc", " nulls first", " desc nulls last"]) for n in names)
        nulls = " nulls not distinct" if unique and self.chance(0.3) else ""
        text = f"create {'unique ' if unique else ''}index {said} on {table.name} ({ways}){nulls}"
        return self.said(text, [f"create {'unique ' if unique else ''}index"],
                          lambda: table.add(schema.Key(name, "unique index" if unique else "index", names)))

    def drop_index(self):
        table = self.pick()
        keys = [k for k in table.keys if k.kind != "check"]
        keys = [k for k in keys if not k.is_constraint()] if self.chance(0.9) else keys
        if not keys:
            return None
        key = self.r.choice(keys)
        return self.said(f"drop index {self.r.choice(['', 'if exists '])}{key.name}", effect=lambda: table.keys.remove(key))

    # ALTER TABLE.

    def alter(self):
        table = self.pick()
        before = copy.deepcopy(table)
        made = self.r.choice(ALTERS)(self, table)
        after = copy.deepcopy(table)
        table.__dict__.update(before.__dict__)
        if made is None:
            return None

        def effect():
            table.__dict__.update(after.__dict__)
            if after.name != before.name:
                self.tables = {t.name: t for t in self.tables.values()}
        action, feature = made
        node = form(("change",), f"alter table {before.name} {{}}", action if isinstance(action, Node) else Node(("text",), [action]), features=[feature])
        # Which of several columns with NULLs is named, a key that occurs twice before them, or one of several actions that fail, is open.
        return self.step(node, effect=effect, open="primary key" in node.text() or feature == "several actions")

    def add_column(self, table):
        name = next((n for n in NAMES if n not in [f.name for f in table.fields]), None)
        if name is None:
            return None
        field = self.field(name)
        table.fields.append(field)
        return form(("action",), self.r.choice(["add column {}", "add {}", "add column if not exists {}"]), self.column(table, field)), "add column"

    def drop_column(self, table):
        if len(table.fields) < 2:
            return None
        name = self.r.choice(table.fields).name
        table.drop_field(name)
        return f"drop {self.r.choice(['column ', '', 'column if exists '])}{name}{self.r.choice(['', '', ' cascade'])}", "drop column"

    def several(self, table):
        """Several actions in one statement, of columns that others of them add."""
        makers = [Script.add_column, self.r.choice(ACTIONS), self.r.choice(ACTIONS)][self.r.choice([0, 0, 1]):]
        actions = [made[0] for made in (make(self, table) for make in makers) if made]
        if len(actions) < 2:
            return None
        return listed("actions", [a if isinstance(a, Node) else Node(("text",), [a]) for a in actions]), "several actions"

    def rename_column(self, table):
        name = self.r.choice([n for n in "mnopqr" if n not in [f.name for f in table.fields]])
        old = self.r.choice(table.fields).name
        table.rename_field(old, name)
        return f"rename {self.r.choice(['', 'column '])}{old} to {name}", "rename column"

    def rename_table(self, table):
        table.name = self.new("t")
        return f"rename to {table.name}", "rename table"

    def rename_constraint(self, table):
        keys = [k for k in table.keys if k.is_constraint()]
        if not keys:
            return None
        key = self.r.choice(keys)
        old, key.name = key.name, self.new("c")
        return f"rename constraint {old} to {key.name}", "rename constraint"

    def set_default(self, table):
        field = self.r.choice(table.fields)
        if self.chance(0.35):
            field.default = False
            return f"alter {self.r.choice(['', 'column '])}{field.name} drop default", "drop default"
        field.default = True
        return form(("action",), f"alter {field.name} set default {{}}", self.default_value(field)), "set default"

    def set_not_null(self, table):
        field = self.r.choice(table.fields)
        field.not_null = self.chance(0.55)
        return f"alter column {field.name} {'set' if field.not_null else 'drop'} not null", f"{'set' if field.not_null else 'drop'} not null"

    def add_constraint(self, table):
        return form(("action",), "add {}", self.constraint(table)), "add constraint"

    def drop_constraint(self, table):
        keys = [k for k in table.keys if k.is_constraint()]
        if not keys:
            return None
        key = self.r.choice(keys)
        table.keys.remove(key)
        return f"drop constraint {self.r.choice(['', 'if exists '])}{key.name}", "drop constraint"


ACTIONS = [Script.add_column, Script.drop_column, Script.set_default, Script.set_not_null, Script.add_constraint, Script.drop_constraint]
ALTERS = [*ACTIONS, Script.add_constraint, Script.several, Script.several, Script.rename_column, Script.rename_table, Script.rename_constraint]
# What a script does, and how often.
STEPS = [(Script.insert, 30), (Script.update, 26), (Script.delete, 9), (Script.select, 7), (Script.lookup, 9), (Script.freeze, 9), (Script.create_index, 5),
         (Script.drop_index, 2), (Script.alter, 14), (Script.truncate, 1), (Script.drop, 1), (Script.create_more, 2), (Script.create_as, 2),
         (Script.create_view, 3), (Script.drop_view, 1), (Script.again, 14)]
