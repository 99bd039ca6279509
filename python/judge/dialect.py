"""Statements of the parts of the dialect that the grammar's expressions do not reach, by kind: schemas, whole rows, references, upserts, sequences,
system tables, lists of mixed types, grouping sets over copies, dates in every form.

`KINDS` names each kind and the method that draws it; the share of statements that these kinds get is `campaign.DIALECT`. What a statement
creates or changes is rolled back after it. `changing_kinds.py` has the kinds that change tables."""

from . import changing_kinds, grammar, places, tables
from .nodes import POSTGRES, Node, listed
from .places import SORTS
from .sources import Column, Source
from .time_texts import TimeTexts

SIGNS = ["=", "<>", "<", "<=", ">", ">="]
PATHS = ["search_path = north, public", "search_path = south, north", "search_path = public, south", 'search_path = "$user", south, public', "search_path = nowhere, south",
         'search_path = "East Side", public', "search_path = pg_catalog, north", "search_path = ''", "search_path to default"]
# Abilities for which PostgreSQL has functions in the schema public, which a path may not name; and `wider`, whose types are there.
IN_PUBLIC = {"kept", "places", "ends", "any value", "about", "quantiles", "wider"}
# Constants whose types are mixed in lists.
CONSTANTS = ["1", "0", "-1", "1.5", "1.50", "2", "null", "'1'", "'a'", "'b '", "'1.5'", "true", "1e0", "2147483648", "'2000-02-29'", "date '2000-02-29'", "timestamp '2000-02-29'",
             "cast(1 as smallint)", "cast(1 as bigint)", "cast(1.5 as real)", "cast(1.5 as numeric(5,1))", "cast(1 as numeric)", "cast('a' as char(5))", "cast('b ' as varchar(10))",
             "timestamptz '2000-02-29 00:00+00'", "interval '1 day'", "'{1,2,3}'", "array[1, 2, 3]", "cast('a' as name)", "cast(1 as oid)", "time '12:34:56.5'", "'true'"]
NUMBERS = ["i2", "i4", "i8", "num", "n1", "n4", "r4", "f8"]
EXACT = ["i2", "i4", "i8", "num", "n1", "n4"]
GROUPS = [NUMBERS, EXACT, ["tx", "vc", "ch", "nm"], ["da", "ts", "tz"], ["ti", "iv"], list(SORTS)]


class Dialect(changing_kinds.Changing, TimeTexts, grammar.Generator):
    """Draws a statement of one of the kinds. `kind` is the one to draw, or None for any."""

    def __init__(self, r, abilities=frozenset(), kind=None):
        super().__init__(r, POSTGRES, abilities - IN_PUBLIC)
        self.kind = kind or r.choice(list(KINDS))
        self.placed = None     # the search path, while a query over several schemas is drawn

    def statement(self):
        self.takes_parameters = False
        made = KINDS[self.kind](self)
        made.query = Node(made.query.sort, made.query.parts, [*made.query.features, f"kind {self.kind}"], loose=made.query.loose)
        return made

    def some(self, items, least=1, most=3):
        items = list(items)
        return self.r.sample(items, min(len(items), self.r.randint(least, most)))

    def pick(self, *items):
        return self.r.choice(items)

    def shown(self, items, tail, features=(), order=(), before=(), after=(), loose=False):
        """`select items tail`, whose items a difference can be narrowed to."""
        named = [Node(("named",), [f"{item} as c{at}"]) for at, item in enumerate(items)]
        node = Node(("query",), ["select ", listed("items", named), tail], features, loose=loose)
        return grammar.Statement(node, order, before=[Node(("text",), [text]) for text in before], after=[Node(("text",), [text]) for text in after])

    def undone(self, before, query, features=()):
        """A query after changes, all of which are rolled back."""
        query = query if isinstance(query, Node) else Node(("query",), [query], features)
        before = [Node(("text",), [text]) for text in ["begin", *before]]
        return grammar.Statement(query, before=before, after=[Node(("text",), ["rollback"])])

    # Schemas.

    def schemas(self):
        """A query of the grammar over tables of several schemas, with or without their schema's name, as the path finds them."""
        self.placed = self.pick(*PATHS)
        query, order = self.query(self.kinds(self.r.randint(1, 3)), self.pick(1, 2, 2), top=True)
        return grammar.Statement(query, order, before=[Node(("text",), [f"set {self.placed}"])], after=[Node(("text",), ["set search_path to default"])])

    def single(self, depth, small=False):
        """In a query over schemas, a table of one of them under its own name or an alias."""
        if self.placed is None or self.chance(0.25):
            return super().single(depth, small)
        name = self.pick(*places.PLACED, "north.small", "south.small", "north.busy", "south.busy", "public.small", "public.other")
        base = places.VIEWS.get(name, (name,))[0]
        columns = places.PLACED[base][0] if base in places.PLACED else tables.TABLES[base.removeprefix("public.")][0]
        schema, _, bare = name.rpartition(".")
        said = self.pick(name, name, bare)
        alias = self.alias() if self.chance(0.55) else None
        before = alias or self.pick(said, bare)
        if self.scopes or not alias and self.chance(0.3):
            # The same table twice would be ambiguous.
            alias = before = self.alias()
        found = [Column(c, *tables.COLUMNS[c], f"{before}.{c}") for c in columns]
        return Source(Node(("source", name), [f"{said} {alias or ''}"], ["table in a schema", *(["found by the path"] if said == bare else [])]), found, 24, [name])

    # Values.

    def column(self, names=None, alias="s"):
        return f"{alias}.{self.pick(*(names or SORTS))}"

    def typed(self, group):
        """A value of one of a group's types."""
        pick = self.r.random()
        name = self.pick(*group)
        if pick < 0.6:
            return f"s.{name}"
        if pick < 0.8:
            return f"cast({self.pick(*SORTS[name][1])} as {SORTS[name][0]})"
        return self.pick(*CONSTANTS) if pick < 0.9 else self.pick(*SORTS[name][1])

    def mixed_lists(self):
        """Values of several types where PostgreSQL finds a common one."""
        group = self.pick(*GROUPS)
        few = [self.typed(group) for _ in range(self.r.randint(2, 4))]
        listing, left = ", ".join(few), self.typed(group)
        whole = self.pick(f"{left} in ({listing})", f"{left} not in ({listing})", f"coalesce({listing})", f"greatest({listing})", f"least({listing})", f"nullif({left}, {few[0]})",
                          f"case when s.bo then {few[0]} else {few[1]} end", f"case {left} when {few[0]} then 1 when {few[1]} then 2 end", f"{left} between {few[0]} and {few[1]}",
                          f"{left} = any (array[{listing}])", f"{left} <> all (array[{listing}])", f"{left} is distinct from {few[0]}", f"{left} {self.pick(*SIGNS)} {few[0]}",
                          f"(s.i4, {left}) in ((1, {few[0]}), (s.i4, {few[1]}))", f"(array[{listing}])[1]", f"{left} between symmetric {few[0]} and {few[1]}")
        pick = self.r.random()
        if pick < 0.2:
            made = f" from (select s.k, {left} as v from sorts s {self.pick('union', 'union all', 'except', 'intersect')} select s.k, {few[0]} from sorts s) q"
            return self.shown(["k", "v", "pg_typeof(v)::text"], made)
        if pick < 0.3:
            rows = ", ".join(f"({item})" for item in few)
            return self.shown(["s.k", "v", "pg_typeof(v)::text"], f" from sorts s, lateral (values {rows}) q (v) where s.k < 9")
        if pick < 0.4:
            return self.shown(["s.k", "o.k"], f" from sorts s, sorts o where {left} in ({', '.join(item.replace('s.', 'o.') for item in few)}) and o.k < 5")
        return self.shown(["s.k", whole, f"pg_typeof({whole})::text"], f" from sorts s{self.pick('', ' where s.k > 7')}")

    def numerics(self):
        """Arithmetic, aggregates and comparisons of numerics with and without a precision. Quotients keep their own number of digits here."""
        free = self.chance(0.4)

        def value(depth):
            if depth == 0 or self.chance(0.25):
                return self.pick("s.num", "s.num", "1.5", "cast(7 as numeric)", "0.00010", "-2") if free else self.typed(EXACT)
            a, b = value(depth - 1), value(depth - 1)
            return self.pick(f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / nullif({b}, 0))", f"({a} % nullif({b}, 0))", f"round(cast({a} as numeric), {self.pick('0', '2', '-1', '5')})", f"trunc(cast({a} as numeric), 1)",
                             f"div({a}, nullif({b}, 0))", f"mod({a}, nullif({b}, 0))", f"abs({a})", f"sign(cast({a} as numeric))", f"(- {a})", f"greatest({a}, {b})", f"coalesce({a}, {b})", f"cast({a} as numeric({self.pick('10,2', '30,5', '6')}))",
                             f"cast({a} as numeric)", f"ceil(cast({a} as numeric))", f"floor(cast({a} as numeric))", f"trim_scale(cast({a} as numeric))")
        if self.chance(0.4):
            call = self.pick("sum", "avg", "min", "max", "count")
            inner = self.pick("", "distinct ") + value(1)
            keys = self.pick("", "s.bo", "s.ch", "s.i2")
            items = [*([keys] if keys else []), f"{call}({inner})", f"pg_typeof({call}({inner}))::text", self.pick("sum(s.num)", f"avg({value(0)})", "sum(s.n1)", "count(distinct s.n4)", f"sum({value(0)}) / nullif(count(*), 0)")]
            return self.shown(items, " from sorts s where s.k < 30" + (f" group by {keys}" if keys else ""), loose=True)
        made = value(2)
        if self.chance(0.2):
            return self.shown(["v", "count(*)"], f" from (select {made} as v from sorts s) q group by v", loose="/" in made)
        return self.shown(["s.k", made, f"{value(1)} {self.pick(*SIGNS)} {value(1)}", f"pg_typeof({made})::text"], " from sorts s", loose=True)

    def paths(self):
        """Parts of documents and arrays, named in every way, and arrays' parts under other expressions."""
        step = lambda: self.pick("'a'", "'b'", "0", "1", "-1", "2", "'k'", "'c'", "s.tx", "s.i2::integer")  # noqa: E731
        text = self.pick("{a}", "{a,b}", "{a,b,2,c}", "{0}", "{1,0}", "{-1}", "{}", "{a,-1}")
        jb = self.pick("s.jb", "s.jb", "(s).jb")
        chain = "".join(f" -> {step()}" for _ in range(self.r.randint(1, 3)))
        key = lambda: self.pick("'a'", "'b'", "0", "'0'", "1", "-1", "'k'", "s.tx", "s.i2")  # noqa: E731
        document = self.pick(f"{jb}{chain}", f"({jb}{chain} ->> {step()})", f"{jb} #> '{text}'", f"({jb} #>> '{text}')", f"({jb})[{key()}]", f"({jb})[{key()}][{key()}]", f"{jb} #> array[{self.pick(chr(39) + 'a' + chr(39), 's.tx')}]",
                             f"jsonb_path_query_first({jb}, '$.a.b[*]')", f"jsonb_typeof({jb}[{key()}])", f"({jb} - {self.pick(chr(39) + 'a' + chr(39), '0', '-1')})", f"({jb} #- '{text}')")
        at = lambda: self.pick("1", "2", "0", "-1", "3", "s.i2", "s.i4 % 3", "null", "cardinality(s.ai)")  # noqa: E731
        array = self.pick("s.ai", "s.ai", "s.tt", "(s).ai", "(s).tt", "array[s.i4, 7]", "(s.ai || s.i4)")
        part = self.pick(f"{array}[{at()}]", f"({array})[{at()}:{at()}]", f"({array})[{at()}][{at()}]", f"({array})[:{at()}]", f"({array})[{at()}:]", f"(select q.ai from sorts q where q.k = s.k)[{at()}]", f"(array[{array}])[1][{at()}]",
                         f"({array})[1:2][{at()}:2]", f"array_length(({array})[{at()}:{at()}], 1)", f"array_lower(({array})[0:1], 1)")
        if "(s.ai || s.i4)[" in part or "array[s.i4, 7][" in part:
            part = f"({part.rpartition('[')[0]})[{at()}]"
        tail = self.pick("", " where s.ai[1] = 1", " where s.tt[1] is not null", f" where {jb} is not null", " where (s.jb -> 'a') is not null or s.ai[2] > 1")
        if self.chance(0.2):
            return self.shown([f"cast({part} as text)", "count(*)", "max(s.ai[1])"], f" from sorts s{tail} group by {part}")
        if self.chance(0.2):
            table = "papers"
            item = self.pick("p.ints[1]", "p.words[p.k]", "p.jb -> 'a'", "p.jba -> 0", "p.jbo ->> 'a'", "p.ints[p.g:p.k]", "p.jba[1]", "p.jbo['a']", "p.words[1:1]", "p.ints[1] + p.k", "p.words[1] || p.t")
            return self.shown(["p.k", f"cast({item} as text)", f"sum(p.ints[1]) over (partition by p.ints[2] order by p.k, p.ints[1], p.t, p.g, p.d rows unbounded preceding) is null"], f" from {table} p")
        return self.shown(["s.k", f"cast({document} as text)", f"cast({part} as text)"], f" from sorts s{tail}")

    # Whole rows.

    def whole_rows(self):
        row = lambda: self.pick("a", "a.*", "row(a.*)", "row(a.k, a.t)", "(a.k, a.t)", "b", "(b.k, b.t)", "row(b.*)", "q", "row(1, 'a')", "(1, 'a')", "(a.k, null)", "row(a.k)")  # noqa: E731
        two = lambda: self.pick("(a.k, a.t)", "row(a.k, a.t)", "q", "row(q.*)", "(b.k, b.t)", "(1, 'a')", "(a.k, null)", "row(2, b.t)")  # noqa: E731
        query = self.pick("select q.k, q.t from small q where q.k = a.k order by 1, 2 limit 1", "select 1, 'a'", "select x from (select k, t from other) x order by 1 limit 1", "select max(q.k), max(q.t) from small q",
                          "select k, t from other where k = b.k order by k, t limit 1", "values (1, 'a')", "select null::integer, null::text")
        test = self.pick(f"{two()} {self.pick(*SIGNS)} {two()}", f"{two()} {self.pick(*SIGNS)} ({query})", f"{two()} is {self.pick('', 'not ')}distinct from {two()}", f"{row()} is {self.pick('', 'not ')}null",
                         f"{two()} in ({two()}, {two()})", f"{two()} {self.pick('in', 'not in', '= any', '< all')} (select k, t from other)", f"{two()} between {two()} and {two()}", "a = b", "a is distinct from b", "a <> b",
                         "a < b", "a in (select o from small o)", "a is not distinct from b", f"{two()} is distinct from (1, 'a')", "a = (select o from small o where o.k = a.k order by o limit 1)", f"({query}) is null",
                         "a.* = b.*", "a.* is distinct from b.*", "exists (select a.* intersect select b.*)", "exists (select a.*)", "not (a is null)", "q = q.*", f"({query}) = {two()}")
        value = self.pick("cast(a as text)", "cast(row(a.*, 1) as text)", f"cast({row()} as text)", "(a).k", "(a).t", "(b).n", "cast(coalesce(a, b) as text)", "cast(case when a.k > 2 then a else b end as text)", "cast(row_to_json(a) as text)",
                          "to_jsonb(a)", "to_jsonb(q)", "cast((select o from other o where o.k = a.k order by o limit 1) as text)", "num_nulls(a.k, a.t)", "cast(array[a, b] as text)", "concat(a, '-')", "(q).t", "cast(nullif(a, b) as text)", "cast(q as text)",
                          "jsonb_build_object('r', q)", "cast(row(a, b.k) as text)", "cast((a.k, row(a.t, null)) as text)", "pg_typeof(row(a.k))::text")
        source = self.pick("small a, small b, lateral (select a.k, b.t) q where a.k = b.k", "small a join small b using (k), lateral (select a.k, b.t) q where true", "small a left join small b on b.k = a.k + 1 cross join (select k, t from other) q where q.k < 4")
        if self.chance(0.3):
            call = self.pick("count(a)", "count(distinct q)", "cast(array_agg(q order by q) as text)", "jsonb_agg(q order by q)", "cast(json_agg(q order by q.k, q.t) as text)", "count(distinct (q.k, q.t))", "string_agg(cast(q as text), ';' order by q)",
                             "bool_and(q is not null)", "count(*) filter (where q is null)", "count(row(q.*))")
            keys = self.pick("", " group by a.k", " group by (a.k, a.t)", " group by q.k, q.t having q.k > 1")
            return self.shown([call, "count(*)"], f" from {source}{keys}")
        if self.chance(0.15):
            node = Node(("query",), [f"select {self.pick('(q).*, 1', 'q.*', '(q).*, (q).k', '(a).k, (q).*')} from {source} and {test} order by {self.pick('q', 'q desc', '(q).k, (q).t', '1, 2')}"])
            return grammar.Statement(node)
        return self.shown(["a.k", value, test], f" from {source}" + (f" and {test}" if self.chance(0.5) else ""))

    # Groups.

    def copies_of_groups(self):
        """Grouping sets whose keys are copies of each other, of expressions, or of columns that a subquery repeats."""
        # OFFSET 0: PostgreSQL 15 takes copies for one column where it merges the subquery, see grids/grouping_sets.grid.
        inner = self.pick("small s", "(select k, k as g, n, n as d, t, t as c from small offset 0) s", "(select k, k + 0 as g, n, k as d, t, reverse(t) as c from small offset 0) s", "(select k, g, n, 1 as d, t, 'x' as c from small offset 0) s",
                          "(select k, null::integer as g, n, k as d, t, t as c from edges offset 0) s", "(select k, coalesce(g, k) as g, n, g as d, t, c from small offset 0) s")
        names = ["s.k", "s.g", "s.n", "s.t", "s.k + 1", "s.k", "s.g", "coalesce(s.t, 'x')", "s.k % 2", "(s.k, s.g)", "s.d", "s.k > 2", "s.c"]
        keys = self.some(names, 2, 4)
        sets = lambda: ", ".join(self.pick(f"({', '.join(self.some(keys, 1, 2))})", "()", self.pick(*keys), f"rollup ({', '.join(self.some(keys, 1, 2))})", f"cube ({self.pick(*keys)})") for _ in range(self.r.randint(2, 4)))  # noqa: E731
        by = self.pick(f"grouping sets ({sets()})", f"rollup ({', '.join(keys)})", f"cube ({', '.join(keys[:3])})", f"{keys[0]}, grouping sets ({sets()})", f"distinct rollup ({', '.join(keys)}), cube ({keys[0]})", f"grouping sets ({sets()}), grouping sets ({sets()})")
        used = [key for key in dict.fromkeys(keys) if not key.startswith("(") and key in by]
        used = used or ["1"]
        items = [*self.some(used, 1, 3), self.pick(*used), self.pick("count(*)", "sum(s.k)", "max(s.t)", "count(distinct s.k)")]
        grouped = [key for key in used if key != "1"]
        if grouped:
            items.append(f"grouping({', '.join(self.some(grouped, 1, 2))})")
            items.append(self.pick(f"{grouped[0]} is null", f"coalesce(cast({grouped[-1]} as text), 'all')", f"case when grouping({grouped[0]}) = 1 then 'all' else cast({grouped[0]} as text) end", f"({grouped[0]}) = ({grouped[0]})"))
        having = self.pick("", "", f" having count(*) > {self.pick('0', '1', '2')}", f" having grouping({grouped[0]}) = 0" if grouped else "", f" having {grouped[0]} is not null" if grouped else "")
        where = self.pick("", " where s.k > 1", " where s.t <> 'a'", " where false")
        order = self.pick("", " order by 1", " order by 2 desc nulls last, 1")
        return self.shown(items, f" from {inner}{where} group by {by}{having}{order}")

    # System tables.

    def system_tables(self):
        """Rows of the catalog about the generator's own tables, numbers shown as names."""
        own = "n.nspname in ('north', 'south', 'East Side')"
        table = self.pick("north.owner", "south.thing", "north.depot", "sorts", "south.painted", '"East Side"."Depot"', "north.busy", "small")
        cast = self.pick(f"'{table}'::regclass", f"cast('{table}' as regclass)", f"to_regclass('{table}')", f"'{table}'::regclass::oid")
        more = self.pick("", " and a.attnotnull", " and a.attname like '%e%'", " and a.attname in ('k', 'id', 't')", " and not a.attisdropped")
        kind = self.pick("", " and c.relkind = 'r'", " and c.relkind in ('r', 'v')", " and c.relname > 'm'", " and c.relname = any (array['small', 'thing'])", " and c.oid::regclass::text like '%.s%'")
        classes = f"pg_class c join pg_namespace n on n.oid = c.relnamespace and {own}"
        made = self.pick(
            (["n.nspname", "c.relname", "c.relkind", "c.relnatts"], f" from {classes} where c.relkind in ('r', 'v', 'i'){kind}"),
            (["a.attname", "a.attnum", "a.atttypid::regtype::text", "a.attnotnull", "format_type(a.atttypid, a.atttypmod)"], f" from pg_attribute a where a.attrelid = {cast} and a.attnum > 0{more}"),
            (["c.relname", "count(*)", "max(a.attnum)"], f" from {classes} join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 where true{kind}{more} and c.relkind in ('r', 'v') group by c.relname"),
            (["t.typname", "count(*)"], f" from {classes} join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and c.relkind = 'r' join pg_type t on t.oid = a.atttypid where true{more} group by t.typname"),
            (["o.conname", "o.contype", "o.conrelid::regclass::text", "cast(o.conkey as text)", "o.confrelid = 0"], f" from pg_constraint o join {classes} on c.oid = o.conrelid where true{kind}"),
            (["i.indexrelid::regclass::text", "i.indisunique", "i.indisprimary", "i.indnatts"], f" from pg_index i join {classes} on c.oid = i.indrelid where true{kind}"),
            (["table_schema", "table_name", "column_name", "ordinal_position", "data_type", "is_nullable", "character_maximum_length", "numeric_precision", "numeric_scale"],
             f" from information_schema.columns where table_schema in ('north', 'south'){self.pick('', ' and ordinal_position < 3', ' and is_nullable = ' + chr(39) + 'NO' + chr(39))}"),
            (["table_name", "table_type"], f" from information_schema.tables where table_schema = '{self.pick('north', 'south', 'East Side', 'nowhere')}'"),
            (["k.constraint_name", "k.column_name", "k.ordinal_position", "c.constraint_type"], " from information_schema.key_column_usage k join information_schema.table_constraints c using (constraint_schema, constraint_name) where k.table_schema in ('north', 'south')"),
            (["constraint_name", "unique_constraint_name", "match_option", "update_rule", "delete_rule"], " from information_schema.referential_constraints where constraint_schema in ('north', 'south')"),
            (["e.enumlabel", "e.enumsortorder", "t.typname"], " from pg_enum e join pg_type t on t.oid = e.enumtypid where t.typname = 'colour'"),
            (["d.adrelid::regclass::text", "d.adnum"], f" from pg_attrdef d join {classes} on c.oid = d.adrelid"),
            (["sequence_schema", "sequence_name", "data_type", "start_value", "increment"], " from information_schema.sequences where sequence_schema in ('north', 'south')"),
            (["viewname", "schemaname"], " from pg_views where schemaname in ('north', 'south')"),
            (["tablename", "tableowner is null"], " from pg_tables where schemaname in ('north', 'south')"),
            (["a.attrelid::regclass::text", "a.attname"], f" from pg_attribute a where a.attrelid in ({cast}, 'north.owner'::regclass, 'south.other'::regclass::oid) and a.attnum > 0{more}"),
            (["c.oid::regclass::text", "c.oid = 'south.thing'::regclass", "c.relname = 'thing'", "c.relname::text || '!'", "length(c.relname)"], f" from {classes} where c.relkind = 'r'{kind}"),
            (["cast(pg_get_constraintdef(o.oid) as text)", "o.conname"], " from pg_constraint o where o.conrelid in ('north.owner'::regclass, 'south.thing'::regclass) and o.contype <> 'c'"),
            ([f"({cast})::text" if "oid" not in cast else f"({cast})::regclass::text", f"{self.pick(chr(39) + 'nowhere.x' + chr(39) + '::regclass::text', 'to_regclass(' + chr(39) + 'nowhere.x' + chr(39) + ')::text', 'pg_typeof(' + cast + ')::text')}"], ""),
            (["s.k", "t.typname"], f" from sorts s join pg_type t on t.oid = s.oi where t.typname {self.pick('=', '<>', '<')} {self.pick('s.nm', chr(39) + 'bool' + chr(39), 's.tx', 's.vc')}"),
        )
        path = self.pick(*PATHS[:5]) if self.chance(0.4) else None
        return self.shown(*made, before=[f"set {path}"] if path else [], after=["set search_path to default"] if path else [])


KINDS = {
    "schemas": Dialect.schemas, "mixed lists": Dialect.mixed_lists, "numerics": Dialect.numerics, "paths": Dialect.paths, "whole rows": Dialect.whole_rows,
    "copies of groups": Dialect.copies_of_groups, "system tables": Dialect.system_tables, "dates": Dialect.dates, "times": Dialect.times,
    **changing_kinds.KINDS,
}
