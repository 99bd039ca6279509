"""Random queries whose answer is determined, each as a pair of texts: ours and DuckDB's.

Expressions are typed and carry bounds, so that no result overflows by chance: which of several errors
is met first is not determined, and errors have tests of their own. Kinds: small, int, big, dec (decimal),
dbl, text, ascii (texts that upper() and lower() treat alike everywhere), date, ts, bool.

Both texts differ where DuckDB is not PostgreSQL: integers divide by //, and NULLs come last in every
order unless it is told otherwise."""

import datetime
from decimal import Decimal

import generated_tables

INTEGERS = ("small", "int", "big")
LIMITS = {"small": 2**15 - 1, "int": 2**31 - 1, "big": 2**63 - 1}
SQL_TYPE = {"small": "smallint", "int": "integer", "big": "bigint", "dbl": "double precision", "text": "text",
            "ascii": "text", "date": "date", "ts": "timestamp", "bool": "boolean"}
TEXTS = ("text", "ascii")


class Expr:
    """An expression as both engines write it."""

    def __init__(self, kind, ours, theirs=None, low=None, high=None, loose=False, digits=18, scale=0, samples=()):
        self.kind, self.ours, self.theirs = kind, ours, ours if theirs is None else theirs
        # Bounds of numbers; None where arithmetic is not allowed.
        self.low, self.high = low, high
        # An average or quotient: only approximately equal, so nothing may be decided by it.
        self.loose = loose
        self.digits, self.scale = digits, scale
        self.samples = samples

    def bounded(self):
        return self.low is not None


def write(form, *parts):
    """Both texts of a form with {} for each part."""
    return form.format(*(p.ours for p in parts)), form.format(*(p.theirs for p in parts))


def literal(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime.datetime):
        return f"timestamp '{value.isoformat(sep=' ')}'"
    if isinstance(value, datetime.date):
        return f"date '{value.isoformat()}'"
    if isinstance(value, float):
        return f"cast('{value!r}' as double precision)" if value != value or abs(value) == float("inf") else f"cast({value!r} as double precision)"
    if isinstance(value, Decimal):
        return f"({value:f})" if value < 0 else f"{value:f}"
    # The least bigint cannot be written as a number: its digits alone are beyond the type.
    return f"({value})" if value < 0 else str(value)


class Source:
    """Something in FROM: its text, and its columns as expressions."""

    def __init__(self, ours, theirs, columns, rows, names):
        self.ours, self.theirs, self.columns, self.rows = ours, theirs, columns, rows
        self.names = names  # column name -> Expr, for joins on known keys


class Query:
    """A finished query."""

    def __init__(self, ours, theirs, ordered_by):
        self.ours, self.theirs, self.ordered_by = ours, theirs, ordered_by


class Generator:
    def __init__(self, random, samples):
        """`samples`: values of each column, by (table, column)."""
        self.r = random
        self.samples = samples
        self.aliases = 0

    # Sources.

    def alias(self):
        self.aliases += 1
        return f"t{self.aliases}"

    def table(self, name=None):
        name = name or self.r.choices(["facts", "mid", "dim", "tiny", "void"], [32, 36, 20, 11, 1])[0]
        alias = self.alias()
        columns = {}
        for c in generated_tables.TABLES[name][0]:
            digits, scale = decimal_of(c.sql) if c.kind == "dec" else (18, 0)
            low, high = (c.low, c.high) if c.arithmetic else (None, None)
            columns[c.name] = Expr(c.kind, f"{alias}.{c.name}", low=low, high=high, digits=digits, scale=scale,
                                   samples=self.samples[name, c.name])
        text = f"{name} {alias}" if self.r.random() < 0.5 else f"{name} as {alias}"
        return Source(text, text, list(columns.values()), generated_tables.TABLES[name][1], dict(columns, **{"": name}))

    def derived(self, depth):
        """A subquery in FROM."""
        inner = self.select(depth + 1, columns=self.r.randint(2, 4), limit=False)
        alias = self.alias()
        return self.named(inner, alias, f"({inner['ours']}) {alias}", f"({inner['theirs']}) {alias}")

    def named(self, inner, alias, ours, theirs):
        columns = []
        for i, e in enumerate(inner["exprs"]):
            columns.append(Expr(e.kind, f"{alias}.c{i}", low=e.low, high=e.high, loose=e.loose, digits=e.digits, scale=e.scale, samples=e.samples))
        return Source(ours, theirs, columns, inner["rows"], {"": "derived"})

    def join(self, depth):
        """Two or three sources joined, each on a key that does not multiply rows too much."""
        left = self.table() if self.r.random() < 0.85 else self.derived(depth)
        for _ in range(self.r.choices([1, 2], [70, 30])[0]):
            left = self.joined(left, depth)
        return left

    def joined(self, left, depth):
        right = self.table(self.r.choices(["mid", "dim", "tiny", "void"], [32, 41, 25, 2])[0])
        condition = self.key_condition(left, right)
        product = left.rows * right.rows
        if condition is None or product < 100_000 and self.r.random() < 0.2:
            if product > 100_000:
                right = self.table("tiny")
                condition = self.key_condition(left, right)
            if condition is None:
                condition = self.any_condition(left, right)
                if left.rows * right.rows > 100_000:
                    # A cross product of this size is for nobody: keep one row of the other side.
                    condition = self.single(right)
        kind = self.r.choices(["join", "inner join", "left join", "right join", "full join", "cross"], [35, 15, 30, 8, 7, 5])[0]
        if kind == "cross" and product > 40_000:
            kind = "join"
        if kind == "cross":
            return self.combined(left, right, " cross join ", None, product)
        equality = condition
        if kind != "full join" and self.r.random() < 0.3:
            scope = Source("", "", left.columns + right.columns, 1, {})
            extra = self.predicate(scope, 1, subqueries=False)
            condition = Expr("bool", *write("{} and {}", equality, extra))
        rows = min(left.rows * 16, product)
        return self.combined(left, right, f" {kind} ", condition, rows)

    def combined(self, left, right, word, condition, rows):
        texts = []
        for side in ("ours", "theirs"):
            on = f" on {getattr(condition, side)}" if condition is not None else ""
            texts.append(f"{getattr(left, side)}{word}{getattr(right, side)}{on}")
        return Source(texts[0], texts[1], left.columns + right.columns, rows, {**right.names, **left.names, "": "join"})

    def key_condition(self, left, right):
        """An equality on keys that exists between them."""
        pairs = []
        table = right.names.get("")
        if table == "mid":
            pairs = [("m", "id"), ("id", "id")]
        elif table == "dim":
            pairs = [("k", "k")]
        elif table == "tiny":
            pairs = [("g", "n"), ("n", "n"), ("word", "word")]
        elif table == "void":
            pairs = [("id", "id"), ("k", "k")]
        pairs = [(a, b) for a, b in pairs if a in left.names and b in right.names]
        if not pairs:
            return None
        a, b = self.r.choice(pairs)
        a, b = left.names[a], right.names[b]
        return Expr("bool", *write("{} = {}", *((a, b) if self.r.random() < 0.5 else (b, a))))

    def any_condition(self, left, right):
        """A condition that need not be an equality."""
        for _ in range(20):
            a, b = self.r.choice(left.columns), self.r.choice(right.columns)
            if comparable(a, b) and not a.loose and not b.loose:
                return Expr("bool", *write("{} " + self.r.choice(["<", ">=", "<>", "="]) + " {}", a, b))
        return self.single(right)

    def single(self, right):
        column = self.r.choice(right.columns)
        return Expr("bool", *write("{} is null", column))

    def source(self, depth):
        return self.r.choices([self.table, lambda: self.join(depth), lambda: self.derived(depth)],
                              [50, 40, 10 if depth < 2 else 0])[0]()

    # Values.

    def value(self, scope, kind, depth=2):
        """An expression of a kind over the columns in scope."""
        if depth <= 0 or self.r.random() < 0.35:
            return self.leaf(scope, kind)
        maker = getattr(self, f"{'integer' if kind in INTEGERS else kind}_value")
        return maker(scope, kind, depth) or self.leaf(scope, kind)

    def leaf(self, scope, kind):
        columns = [c for c in scope.columns if c.kind == kind and not c.loose]
        if kind == "text":
            columns += [c for c in scope.columns if c.kind == "ascii" and not c.loose]
        if columns and self.r.random() < 0.85:
            return self.r.choice(columns)
        return self.constant(kind)

    def constant(self, kind):
        r = self.r
        if kind in INTEGERS:
            value = r.choice([0, 1, 2, 3, 7, 10, 100, -1, -5])
            text = literal(value)
            if kind != "int":
                text = f"cast({text} as {SQL_TYPE[kind]})"
            return Expr(kind, text, low=value, high=value, samples=[value])
        if kind == "dec":
            value = Decimal(r.randint(-500, 500)).scaleb(-2)
            # Its type would depend on its digits: say it.
            return Expr(kind, f"cast({value} as decimal(9,2))", low=value, high=value, digits=9, scale=2, samples=[value])
        if kind == "dbl":
            value = r.randint(-160, 160) / 16
            return Expr(kind, literal(value), low=value, high=value, samples=[value])
        if kind == "ascii":
            value = r.choice(["alpha", "Beta", "", "x", "name 3"])
        elif kind == "text":
            value = r.choice(generated_tables.WORDS)
        elif kind == "date":
            value = datetime.date(1970, 1, 1) + datetime.timedelta(r.randint(8000, 9800))
        elif kind == "ts":
            value = datetime.datetime(2000, 1, 1) + datetime.timedelta(days=r.randint(-4000, 9000), seconds=r.randint(0, 86399))
        else:
            value = r.random() < 0.5
        return Expr(kind, literal(value), samples=[value])

    def choice_between(self, scope, kind, depth):
        """CASE, coalesce, nullif, greatest, least over values of one kind."""
        a, b = self.value(scope, kind, depth - 1), self.value(scope, kind, depth - 1)
        if kind == "dec":
            # Branches of different scales meet in a type that each engine chooses in its own way.
            a, b = self.as_decimal(a), self.as_decimal(b)
            if a is None or b is None:
                return None
        form = self.r.choice(["case", "case", "case without else", "coalesce", "nullif", "greatest", "least"])
        low = high = None
        if a.bounded() and b.bounded():
            low, high = min(a.low, b.low), max(a.high, b.high)
        merged = dict(low=low, high=high, digits=max(a.digits, b.digits), scale=max(a.scale, b.scale), samples=list(a.samples)[:20] + list(b.samples)[:20])
        if form.startswith("case"):
            test = self.predicate(scope, depth - 1, subqueries=False)
            if form == "case":
                return Expr(kind, *write("case when {} then {} else {} end", test, a, b), **merged)
            other = self.predicate(scope, 0, subqueries=False)
            return Expr(kind, *write("case when {} then {} when {} then {} end", test, a, other, b), **merged)
        return Expr(kind, *write(form + "({}, {})", a, b), **merged)

    def as_decimal(self, e):
        if not e.bounded() or max(abs(e.low), abs(e.high)) > 10**10:
            return None
        return Expr("dec", *write("cast({} as decimal(20,4))", e), low=e.low, high=e.high, digits=20, scale=4, samples=e.samples)

    def integer_value(self, scope, kind, depth):
        r = self.r
        form = r.choice(["+", "-", "*", "*", "/", "%", "neg", "abs", "choice", "convert", "length", "extract", "days", "strpos"])
        if form == "choice":
            return self.choice_between(scope, kind, depth)
        if form == "convert":
            return self.convert_to_integer(scope, kind, depth)
        if form in ("length", "extract", "days", "strpos"):
            return self.integer_of_other(scope, kind, depth, form)
        a = self.value(scope, kind, depth - 1)
        if not a.bounded():
            return None
        if form in ("neg", "abs"):
            high = max(abs(a.low), abs(a.high))
            if form == "neg":
                return fits(Expr(kind, *write("(- {})", a), low=-a.high, high=-a.low))
            return fits(Expr(kind, *write("abs({})", a), low=0, high=high))
        if form in ("/", "%"):
            divisor = r.choice([2, 3, 7, -4, 100])
            if kind == "small":
                return None
            if r.random() < 0.3:
                column = self.value(scope, kind, 0)
                b = Expr(kind, *write("nullif({}, 0)", column))
            else:
                b = Expr(kind, literal(divisor))
            bound = max(abs(a.low), abs(a.high))
            ours, theirs = (f"({a.ours} {form} {b.ours})", f"({a.theirs} {'//' if form == '/' else '%'} {b.theirs})")
            return fits(Expr(kind, ours, theirs, low=-bound, high=bound))
        b = self.value(scope, kind, depth - 1)
        if not b.bounded():
            return None
        return fits(arithmetic(kind, form, a, b))

    def convert_to_integer(self, scope, kind, depth):
        from_kind = self.r.choice(["small", "int", "big", "dec", "dbl"])
        a = self.value(scope, from_kind, depth - 1)
        if not a.bounded():
            return None
        return fits(Expr(kind, *write(f"cast({{}} as {SQL_TYPE[kind]})", a), low=int(a.low) - 1, high=int(a.high) + 1))

    def integer_of_other(self, scope, kind, depth, form):
        if form == "length":
            inner = Expr("int", *write("length({})", self.value(scope, "text", depth - 1)), low=0, high=500)
        elif form == "strpos":
            inner = Expr("int", *write("strpos({}, {})", self.value(scope, "text", depth - 1), Expr("text", literal(self.r.choice(["a", "e", " ", "o", "語", "zz"])))), low=0, high=500)
        elif form == "extract":
            field = self.r.choice(["year", "quarter", "month", "day", "dow", "doy", "hour", "minute"])
            source = "ts" if field in ("hour", "minute") else self.r.choice(["date", "ts"])
            inner = Expr("int", *write(f"extract({field} from {{}})", self.value(scope, source, depth - 1)), low=0, high=9999)
        else:
            dates = [self.value(scope, "date", 0), self.value(scope, "date", 0)]
            inner = Expr("int", *write("({} - {})", *dates), low=-4_000_000, high=4_000_000)
        if kind == "small" and inner.high > LIMITS["small"]:
            return None
        # The type of these is not the same everywhere: say it.
        return Expr(kind, *write(f"cast({{}} as {SQL_TYPE[kind]})", inner), low=inner.low, high=inner.high)

    def dec_value(self, scope, kind, depth):
        form = self.r.choice(["+", "-", "*", "*", "neg", "abs", "round", "floor", "choice", "convert"])
        if form == "choice":
            return self.choice_between(scope, kind, depth)
        if form == "convert":
            a = self.value(scope, self.r.choice(["small", "int", "big", "dec"]), depth - 1)
            return self.as_decimal(a)
        a = self.value(scope, "dec", depth - 1)
        if not a.bounded():
            return None
        if form == "neg":
            return Expr(kind, *write("(- {})", a), low=-a.high, high=-a.low, digits=a.digits, scale=a.scale)
        if form == "abs":
            return Expr(kind, *write("abs({})", a), low=0, high=max(abs(a.low), abs(a.high)), digits=a.digits, scale=a.scale)
        if form in ("round", "floor"):
            call = "round({}, 1)" if form == "round" else self.r.choice(["floor({})", "ceil({})"])
            return Expr(kind, *write(call, a), low=a.low - 1, high=a.high + 1, digits=a.digits, scale=1 if form == "round" else 0)
        b = self.value(scope, "dec", depth - 1)
        if not b.bounded():
            return None
        digits = a.digits + b.digits if form == "*" else max(a.digits - a.scale, b.digits - b.scale) + max(a.scale, b.scale) + 1
        scale = a.scale + b.scale if form == "*" else max(a.scale, b.scale)
        if digits > 30:
            return None
        result = arithmetic(kind, form, a, b)
        result.digits, result.scale = digits, scale
        return result

    def dbl_value(self, scope, kind, depth):
        form = self.r.choice(["+", "-", "*", "neg", "abs", "floor", "choice", "convert"])
        if form == "choice":
            return self.choice_between(scope, kind, depth)
        if form == "convert":
            a = self.value(scope, self.r.choice(["int", "big"]), depth - 1)
            return Expr(kind, *write("cast({} as double precision)", a), low=a.low, high=a.high) if a.bounded() else None
        a = self.value(scope, "dbl", depth - 1)
        if not a.bounded():
            return None
        if form == "neg":
            return Expr(kind, *write("(- {})", a), low=-a.high, high=-a.low)
        if form == "abs":
            return Expr(kind, *write("abs({})", a), low=0, high=max(abs(a.low), abs(a.high)))
        if form == "floor":
            return Expr(kind, *write(self.r.choice(["floor({})", "ceil({})"]), a), low=a.low - 1, high=a.high + 1)
        b = self.value(scope, "dbl", depth - 1)
        if not b.bounded():
            return None
        result = arithmetic(kind, form, a, b)
        return result if max(abs(result.low), abs(result.high)) < 1e10 else None

    def text_value(self, scope, kind, depth):
        form = self.r.choice(["||", "substring", "trim", "replace", "choice", "convert", "upper"])
        if form == "choice":
            return self.choice_between(scope, kind, depth)
        if form == "upper":
            return self.ascii_value(scope, kind, depth)
        if form == "convert":
            source = self.r.choice(["int", "big", "date", "bool", "dec"])
            a = self.value(scope, source, 0)
            return Expr(kind, *write("cast({} as text)", a))
        a = self.value(scope, "text", depth - 1)
        if form == "||":
            return Expr(kind, *write("({} || {})", a, self.value(scope, "text", 0)))
        if form == "substring":
            start, length = self.r.randint(1, 8), self.r.randint(0, 15)
            call = self.r.choice([f"substring({{}} from {start} for {length})", f"substr({{}}, {start}, {length})", f"substring({{}} from {start})"])
            return Expr(kind, *write(call, a))
        if form == "trim":
            return Expr(kind, *write(self.r.choice(["trim({})", "ltrim({})", "rtrim({})"]), a))
        return Expr(kind, *write("replace({}, 'a', 'ee')", a))

    def ascii_value(self, scope, kind, depth):
        a = self.leaf(scope, "ascii")
        return Expr(kind, *write(self.r.choice(["upper({})", "lower({})"]), a))

    def date_value(self, scope, kind, depth):
        form = self.r.choice(["days", "interval", "choice", "convert"])
        if form == "choice":
            return self.choice_between(scope, kind, depth)
        if form == "convert":
            return Expr(kind, *write("cast({} as date)", self.value(scope, "ts", depth - 1)))
        a = self.ordinary(scope, "date")
        if form == "days":
            return Expr(kind, *write(f"({{}} {self.r.choice('+-')} {self.r.randint(0, 400)})", a))
        return Expr(kind, *write(f"cast(({{}} {self.r.choice('+-')} interval '{self.r.randint(1, 30)}' {self.r.choice(['day', 'month', 'year'])}) as date)", a))

    def ts_value(self, scope, kind, depth):
        form = self.r.choice(["interval", "choice", "convert"])
        if form == "choice":
            return self.choice_between(scope, kind, depth)
        if form == "convert":
            return Expr(kind, *write("cast({} as timestamp)", self.ordinary(scope, "date")))
        a = self.ordinary(scope, "ts")
        return Expr(kind, *write(f"({{}} {self.r.choice('+-')} interval '{self.r.randint(1, 50)}' {self.r.choice(['day', 'month', 'hour', 'second'])})", a))

    def ordinary(self, scope, kind):
        """A date or timestamp to which something may be added."""
        columns = [c for c in scope.columns if c.kind == kind and c.ours.split(".")[-1] in ("day", "since", "moment")]
        return self.r.choice(columns) if columns else self.constant(kind)

    def bool_value(self, scope, kind, depth):
        return self.predicate(scope, depth - 1, subqueries=False)

    # Predicates.

    def predicate(self, scope, depth, subqueries=True):
        r = self.r
        if depth > 0 and r.random() < 0.45:
            form = r.choice(["and", "or", "or", "not"])
            a = self.predicate(scope, depth - 1, subqueries)
            if form == "not":
                return Expr("bool", *write("(not {})", a))
            return Expr("bool", *write(f"({{}} {form} {{}})", a, self.predicate(scope, depth - 1, subqueries)))
        if subqueries and r.random() < 0.18:
            found = self.subquery_predicate(scope)
            if found is not None:
                return found
        return self.simple_predicate(scope)

    def simple_predicate(self, scope):
        r = self.r
        columns = [c for c in scope.columns if not c.loose]
        if not columns:
            return Expr("bool", r.choice(["true", "1 = 1", "1 = 0"]))
        column = r.choice(columns)
        if r.random() < 0.2:
            column = self.value(scope, r.choice(["int", "big", "dec", "text", "date"]), 1)
        if column.kind == "bool":
            return Expr("bool", *write(r.choice(["{}", "(not {})", "({} is true)", "({} is not false)", "({} is null)", "({} = false)"]), column))
        form = r.choice(["compare"] * 5 + ["between"] * 3 + ["in"] * 2 + ["null", "not null", "distinct", "columns"])
        if column.kind in TEXTS and r.random() < 0.4:
            return self.like(column)
        if form == "null":
            return Expr("bool", *write("({} is null)", column))
        if form == "not null":
            return Expr("bool", *write("({} is not null)", column))
        if form == "columns":
            others = [c for c in columns if c is not column and comparable(c, column)]
            if others:
                return Expr("bool", *write(f"({{}} {r.choice(['=', '<>', '<', '<=', '>', '>='])} {{}})", column, r.choice(others)))
        if form == "between":
            a, b = self.sample(column), self.sample(column)
            return Expr("bool", *write(f"({{}} {r.choice(['', '', '', 'not '])}between {{}} and {{}})", column, a, b))
        if form == "in":
            values = [self.sample(column) for _ in range(r.randint(1, 6))]
            if r.random() < 0.1:
                values.append(Expr(column.kind, "null"))
            listed = Expr("", ", ".join(v.ours for v in values))
            return Expr("bool", *write(f"({{}} {r.choice(['', '', 'not '])}in ({{}}))", column, listed))
        if form == "distinct":
            return Expr("bool", *write(f"({{}} is {r.choice(['', 'not '])}distinct from {{}})", column, self.sample(column)))
        return Expr("bool", *write(f"({{}} {r.choice(['=', '<>', '<', '<=', '>', '>='])} {{}})", column, self.sample(column)))

    def sample(self, column):
        """A constant that the column may hold, or nearly."""
        values = [v for v in column.samples if v is not None]
        if not values:
            return self.constant(column.kind)
        value = self.r.choice(values)
        if column.kind in INTEGERS and value <= -(2**63):
            value += 1
        return Expr(column.kind, literal(value))

    def like(self, column):
        word = next((v for v in [self.r.choice(list(column.samples) or [None])] if v), "abc")
        start = self.r.randint(0, max(0, len(word) - 1))
        part = word[start:start + self.r.randint(1, 8)].replace("'", "").replace("\\", "")
        prefix = word[:self.r.randint(1, 6)].replace("'", "").replace("\\", "")
        pattern = self.r.choice([f"{prefix}%", f"%{part}%", f"%{part}", f"_{part}%", f"{prefix}_", "%", "", f"%{part[:2]}%{part[-1:]}%", "____"])
        return Expr("bool", *write(f"({{}} {self.r.choice(['', '', 'not '])}like {literal(pattern)})", column))

    def subquery_predicate(self, scope):
        r = self.r
        outer = [c for c in scope.columns if c.kind in INTEGERS and not c.loose]
        inner = self.table(r.choices(["mid", "dim", "tiny", "void"], [40, 30, 25, 5])[0])
        keys = [c for c in inner.columns if c.kind in INTEGERS]
        if not outer or not keys:
            return None
        a, b = r.choice(outer), r.choice(keys)
        where = self.predicate(inner, 1, subqueries=False)
        form = r.choice(["in", "not in", "exists", "not exists", "scalar", "correlated"])
        if form in ("in", "not in"):
            return Expr("bool", *write(f"({{}} {form} (select {{}} from {inner.ours} where {{}}))", a, b, where))
        if form in ("exists", "not exists"):
            # Correlated by an equality; at times by something more.
            more = ""
            if r.random() < 0.25:
                others = [(x, y) for x in scope.columns for y in inner.columns if x.kind == y.kind and x.kind in ("int", "date", "dec") and not x.loose]
                if others:
                    x, y = r.choice(others)
                    more = f" and {y.ours} {r.choice(['<', '<>', '>='])} {x.ours}"
            return Expr("bool", *write(f"({form} (select 1 from {inner.ours} where {{}} = {{}}{more} and {{}}))", b, a, where))
        call = r.choice([f"max({b.ours})", f"min({b.ours})", "count(*)", f"count({b.ours})"])
        if form == "scalar":
            return Expr("bool", *write(f"({{}} {r.choice(['=', '<', '>=', '<>'])} (select {call} from {inner.ours} where {{}}))", a, where))
        return Expr("bool", *write(f"({{}} {r.choice(['=', '<', '>=', '<>'])} (select {call} from {inner.ours} where {{}} = {{}} and {{}}))", a, b, a, where))

    # Queries.

    def select(self, depth=0, columns=None, limit=True):
        """A SELECT as a dict: both texts, expressions of its columns, an estimate of its rows."""
        source = self.source(depth)
        where = ""
        parts = {}
        if self.r.random() < 0.75 or source.rows > 20_000:
            condition = self.predicate(source, 2)
            parts = {"ours": f" where {condition.ours}", "theirs": f" where {condition.theirs}"}
        if self.r.random() < 0.5:
            return self.grouped(source, parts, columns)
        return self.projected(source, parts, columns)

    def kinds(self, scope):
        return sorted({c.kind for c in scope.columns if not c.loose}) or ["int"]

    def projected(self, source, where, columns):
        count = columns or self.r.randint(1, 5)
        exprs = []
        for _ in range(count):
            if self.r.random() < 0.6 or not self.kinds(source):
                exprs.append(self.r.choice(source.columns))
            elif self.r.random() < 0.12:
                exprs.append(self.scalar_subquery(source))
            else:
                exprs.append(self.value(source, self.r.choice(self.kinds(source)), 2))
        distinct = "distinct " if self.r.random() < 0.15 and not any(e.loose for e in exprs) else ""
        return self.assemble(source, where, exprs, distinct=distinct, rows=source.rows)

    def scalar_subquery(self, scope):
        inner = self.table(self.r.choice(["mid", "dim", "tiny"]))
        column = self.r.choice([c for c in inner.columns if c.kind in ("int", "dec", "date", "big")])
        outer = [c for c in scope.columns if c.kind == "int" and not c.loose]
        keys = [c for c in inner.columns if c.kind == "int"]
        call = self.r.choice(["max", "min", "count"])
        where = ""
        if outer and keys and self.r.random() < 0.6:
            where = f" where {self.r.choice(keys).ours} = {self.r.choice(outer).ours}"
        kind = "big" if call == "count" else column.kind
        return Expr(kind, f"(select {call}({column.ours}) from {inner.ours}{where})", digits=column.digits, scale=column.scale)

    def aggregate(self, scope):
        r = self.r
        call = r.choice(["count(*)", "count", "count distinct", "sum", "sum", "min", "max", "avg", "sum distinct", "filter"])
        if call == "count(*)":
            return Expr("big", "count(*)", low=0, high=10**9)
        if call == "filter":
            test = self.predicate(scope, 1, subqueries=False)
            return Expr("big", *write("count(*) filter (where {})", test), low=0, high=10**9)
        if call in ("count", "count distinct", "min", "max"):
            kinds = self.kinds(scope)
            if call in ("min", "max"):
                kinds = [k for k in kinds if k != "bool"] or ["int"]
            e = self.value(scope, r.choice(kinds), 1)
            if call == "count distinct":
                return Expr("big", *write("count(distinct {})", e), low=0, high=10**9)
            if call == "count":
                return Expr("big", *write("count({})", e), low=0, high=10**9)
            return Expr(e.kind, *write(call + "({})", e), low=e.low, high=e.high, digits=e.digits, scale=e.scale, samples=e.samples)
        kind = r.choice([k for k in ("small", "int", "big", "dec", "dbl") if k in self.kinds(scope)] or ["int"])
        e = self.value(scope, kind, 2)
        # Sums stay exact: see generated_tables.
        if not e.bounded() or max(abs(e.low), abs(e.high)) > 10**11 or (kind == "dbl" and e.samples == ()):
            e = self.constant(kind) if not any(c.kind == kind and c.bounded() for c in scope.columns) else r.choice([c for c in scope.columns if c.kind == kind and c.bounded()])
        if call == "avg":
            return Expr("dbl", *write("avg({})", e), loose=True)
        result = {"small": "big", "int": "big", "big": "dec", "dec": "dec", "dbl": "dbl"}[kind]
        distinct = "distinct " if call == "sum distinct" else ""
        return Expr(result, *write(f"sum({distinct}{{}})", e), loose=kind == "dbl")

    def grouped(self, source, where, columns):
        r = self.r
        keys = []
        for _ in range(r.choices([0, 1, 2, 3], [20, 45, 25, 10])[0]):
            good = [c for c in source.columns if not c.loose]
            if r.random() < 0.75 and good:
                keys.append(r.choice(good))
            else:
                key = self.value(source, r.choice(self.kinds(source)), 1)
                # A constant in GROUP BY is a column's number.
                if any(c.ours in key.ours for c in source.columns):
                    keys.append(key)
        keys = list({k.ours: k for k in keys}.values())
        wanted = max(1, (columns or r.randint(1, 5)) - len(keys))
        aggregates = [self.aggregate(source) for _ in range(wanted)]
        exprs = [*keys, *aggregates]
        if keys and r.random() < 0.1:
            exprs = exprs[1:]
        tail = {"ours": "", "theirs": ""}
        if keys:
            by = Expr("", *(", ".join(texts) for texts in zip(*((k.ours, k.theirs) for k in keys))))
            tail = {side: f" group by {getattr(by, side)}" for side in tail}
        if r.random() < 0.3:
            having = self.having(source)
            tail = {side: tail[side] + f" having {getattr(having, side)}" for side in tail}
        rows = source.rows if keys else 1
        return self.assemble(source, where, exprs, tail=tail, rows=rows)

    def having(self, source):
        for _ in range(5):
            e = self.aggregate(source)
            if not e.loose and e.kind in ("big", "int", "dec", "small"):
                return Expr("bool", *write(f"{{}} {self.r.choice(['>', '<', '>=', '<>'])} {self.r.choice([0, 1, 2, 10, 100])}", e))
        return Expr("bool", "count(*) > 1")

    def assemble(self, source, where, exprs, distinct="", tail=None, rows=0):
        out = {"exprs": exprs, "rows": rows}
        for side in ("ours", "theirs"):
            listed = ", ".join(f"{getattr(e, side)} as c{i}" for i, e in enumerate(exprs))
            out[side] = f"select {distinct}{listed} from {getattr(source, side)}{where.get(side, '')}{(tail or {}).get(side, '')}"
        return out

    def query(self):
        """A whole statement."""
        form = self.r.choices(["select", "set", "cte"], [78, 12, 10])[0]
        if form == "set":
            body = self.set_operation()
        elif form == "cte":
            body = self.cte()
        else:
            body = self.select()
        return self.ordered(body)

    def set_operation(self):
        kinds = [self.r.choice(["int", "text", "date", "big"]) for _ in range(self.r.randint(1, 3))]
        word = self.r.choices(["union all", "union", "intersect", "except"], [60, 20, 10, 10])[0]
        sides = []
        for _ in range(2 if word != "union all" else self.r.randint(2, 3)):
            source = self.source(1)
            condition = self.predicate(source, 1)
            exprs = [self.value(source, kind, 1) for kind in kinds]
            # The type of a column is the same on all sides: say it.
            exprs = [Expr(k, *write(f"cast({{}} as {SQL_TYPE[k]})", e)) for k, e in zip(kinds, exprs)]
            sides.append(self.assemble(source, {s: f" where {getattr(condition, s)}" for s in ("ours", "theirs")}, exprs, rows=source.rows))
        out = {"exprs": sides[0]["exprs"], "rows": sum(s["rows"] for s in sides)}
        for side in ("ours", "theirs"):
            out[side] = f" {word} ".join(s[side] for s in sides)
        return out

    def cte(self):
        """A common table expression, used once or twice."""
        inner = self.select(1, columns=self.r.randint(2, 4))
        name = f"w{self.alias()}"
        first, second = self.alias(), self.alias()
        a = self.named(inner, first, f"{name} {first}", f"{name} {first}")
        use = a
        if self.r.random() < 0.6:
            b = self.named(inner, second, f"{name} {second}", f"{name} {second}")
            pairs = [(x, y) for x, y in zip(a.columns, b.columns) if not x.loose]
            if pairs and inner["rows"] <= 3000 and self.r.random() < 0.6:
                x, y = self.r.choice(pairs)
                # A join of a table with itself on what may be one value everywhere is counted only.
                on = Expr("bool", *write("{} = {}", x, y))
                use = self.combined(a, b, " join ", on, 3000)
                body = self.assemble(use, {}, [Expr("big", "count(*)"), *([Expr(x.kind, *write("max({})", x))] if x.kind != "bool" else [])])
            else:
                count = Expr("big", f"(select count(*) from {name} {second})")
                body = self.assemble(a, {}, [*a.columns, count], rows=inner["rows"])
        else:
            body = self.projected(a, {}, None)
        for side in ("ours", "theirs"):
            body[side] = f"with {name} as ({inner[side]}) {body[side]}"
        return body

    def ordered(self, body):
        exprs = body["exprs"]
        loose = any(e.loose for e in exprs)
        if self.r.random() < 0.5:
            return Query(body["ours"], body["theirs"], None)
        every = list(range(len(exprs)))
        limited = not loose and not any(e.kind == "dbl" for e in exprs) and self.r.random() < 0.5
        by = self.r.sample(every, len(every) if limited else self.r.randint(1, len(every)))
        by = [c for c in by if not exprs[c].loose]
        if not by:
            return Query(body["ours"], body["theirs"], None)
        ours, theirs = [], []
        for column in by:
            down = self.r.random() < 0.4
            nulls = self.r.choice([None, "first", "last"])
            place = str(column + 1) if self.r.random() < 0.5 else f"c{column}"
            ours.append(place + (" desc" if down else self.r.choice(["", " asc"])) + (f" nulls {nulls}" if nulls else ""))
            # PostgreSQL's default: NULL is greater than every value.
            nulls = nulls or ("first" if down else "last")
            theirs.append(place + (" desc" if down else " asc") + f" nulls {nulls}")
        ours, theirs = f"{body['ours']} order by {', '.join(ours)}", f"{body['theirs']} order by {', '.join(theirs)}"
        if limited:
            limit = f" limit {self.r.choice([0, 1, 3, 10, 10, 100, 100, 1000, 5000])}"
            if self.r.random() < 0.3:
                limit += f" offset {self.r.choice([1, 5, 50, 1000])}"
            ours, theirs = ours + limit, theirs + limit
            by = every
        return Query(ours, theirs, by)


def decimal_of(sql):
    digits, scale = sql[len("decimal("):-1].split(",")
    return int(digits), int(scale)


def comparable(a, b):
    if a.kind in INTEGERS and b.kind in INTEGERS:
        return True
    if a.kind in TEXTS and b.kind in TEXTS:
        return True
    return a.kind == b.kind and a.kind != "bool"


def fits(e):
    """The integer expression, if its type holds its bounds."""
    return e if -LIMITS[e.kind] <= e.low and e.high <= LIMITS[e.kind] else None


def arithmetic(kind, sign, a, b):
    if sign == "+":
        low, high = a.low + b.low, a.high + b.high
    elif sign == "-":
        low, high = a.low - b.high, a.high - b.low
    else:
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        low, high = min(corners), max(corners)
    return Expr(kind, *write(f"({{}} {sign} {{}})", a, b), low=low, high=high)
