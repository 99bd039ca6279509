"""`python -m judge.hostile --seconds 1800`: statements that are deep, long, huge or broken, under a memory limit and with timeouts.

What must hold: no signal ends the process, no panic reaches the text of an error, resident memory stays below the limit
and what the process needs besides, and a timeout is heard. Frazil runs in a process of its own, which measures itself."""

import argparse
import collections
import ctypes
import os
import random
import re
import resource
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import engines, grammar, tables
from .functions import operators
from .nodes import POSTGRES

MEMORY_LIMIT = 200  # MB, of the database
BESIDES = 150  # MB, of the process beyond it
HEARD = 0.1  # seconds after its timeout in which a statement must have ended
TIMEOUTS = ["300ms", "1s", "2s"]
KILLED = 60  # seconds after which a statement counts as hung
ROWS = 200_000
KEPT = 5  # statements after which what they wrote is dropped
LARGE = 4 << 20  # bytes of what they wrote that are dropped at once

LIBC = ctypes.CDLL(None)

EDGES = [
    "null", "0", "-1", "1", "2147483647", "-2147483648", "9223372036854775807", "-9223372036854775808", "99999999999999999999999999999999999999",
    "0.00000000000000000000000000000000000001", "'NaN'::float8", "'Infinity'::float8", "1e308::float8", "5e-324::float8", "''", "'a'", "'%'", "'\\'",
    "repeat('x', 1000000)", "repeat('ü', 100000)", "date '0001-01-01'", "date '9999-12-31'", "date '5874897-12-31'", "timestamp '294276-12-31 23:59:59.999999'",
    "interval '178000000 years'", "interval '-1 day'", "true", "x.a", "x.t", "x.d",
]
# Functions of any number of arguments.
VARIADIC = [
    "concat", "concat_ws", "format", "greatest", "least", "coalesce", "hash", "num_nulls", "num_nonnulls", "json_build_array", "json_build_object", "jsonb_build_array", "jsonb_build_object",
    "json_extract_path", "json_extract_path_text", "jsonb_extract_path", "jsonb_extract_path_text",
]
KEYWORDS = (
    "select from where group by having order limit offset union all intersect except with recursive as on using join left right full cross lateral in "
    "exists any between like is not null and or case when then else end cast values insert into delete table create drop begin commit rollback explain "
    "analyze copy set show ( ) , ; . * + - / % || = <> < > :: $1 $99999999999 'x' \"x\" 1 1e999 -- /* */ e'\\x' u&'\\0041' x'ff' [ ] { } @ # ? ! ~ ^ & |"
).split(" ")


class Texts:
    """Draws statements. What a statement is made to strain is its name."""

    def __init__(self, r):
        self.r = r

    def draw(self):
        makers = [self.deep, self.chain, self.long, self.elements, self.wide, self.many, self.doubling, self.cross, self.strings, self.edges, self.generated, self.broken, self.noise, self.written, self.numerics, self.sequences, self.keys, self.catalogs, self.settings]
        maker = self.r.choice(makers)
        return maker.__name__, maker()

    def size(self, most):
        """Mostly moderate, sometimes the most."""
        return max(1, int(most ** self.r.uniform(0.2, 1.0)))

    def deep(self):
        n = self.size(60_000)
        left, core, right = self.r.choice([
            ("(", "1", ")"), ("not ", "true", ""), ("- ", "1", ""), ("+", "1", ""), ("abs(", "1", ")"), ("coalesce(", "a", ", 1)"), ("coalesce(null, ", "a", ")"),
            ("case when a > 1 then ", "1", " else 2 end"), ("case a when 1 then 2 else ", "1", " end"), ("(select ", "1", ")"), ("(select a + ", "1", " from x limit 1)"),
            ("cast(", "1", " as bigint)"), ("greatest(1, ", "a", ")"), ("nullif(", "a", ", 7)"), ("upper(", "t", ")"), ("(a, ", "1", ")"), ("exists (select ", "1", ")"),
            ("a in (", "1", ")"), ("array[", "1", "]"), ("(values (", "1", "))"), ("a = any (select ", "1", ")"), ("row(", "1", ")"),
        ])
        if self.r.random() < 0.3:
            left, core, right = self.r.choice([
                ("select * from (", "select 1", ") q"), ("with c as (", "select 1", ") select * from c"), ("(", "select 1", ")"), ("explain ", "select 1", ""),
                ("select 1 union all (", "select 1", ")"), ("select * from x join (", "select * from x", ") q using (a)"), ("select 1 where exists (", "select 1", ")"),
                ("select * from x, lateral (", "select 1", ") q"), ("create table deep as ", "select 1", ""), ("/* ", "select 1", " */"),
            ])
            return left * n + core + right * n
        return f"select {left * n}{core}{right * n} from x limit 1"

    def chain(self):
        n = self.size(100_000)
        link = self.r.choice(["+ a", "- 1", "* 1", "|| 'x'", "and a > 1", "or a = 1", "= 1", "::bigint", "is null", "% 7", "and not a in (1)", "or t like 'a%'", "between 1 and 2"])
        return f"select count(*) from x where (a {f' {link}' * n}) is not null"

    def long(self):
        n = self.size(200_000)
        return self.r.choice([
            lambda: f"select count(*) from x where a in ({','.join(str(self.r.randint(0, 10**9)) for _ in range(n))})",
            lambda: f"select count(*) from x where t in ({','.join(repr(str(i)) for i in range(n))})",
            lambda: f"select count(*) from (values {','.join(f'({i}, {i * 2})' for i in range(n))}) v (p, q)",
            lambda: f"select {','.join(['a'] * min(n, 20_000))} from x limit 3",
            lambda: f"select {','.join(f'a + {i}' for i in range(min(n, 20_000)))} from x limit 3",
            lambda: f"select {','.join(f'sum(a + {i})' for i in range(min(n, 5_000)))} from x",
            lambda: " union all ".join(["select a from x"] * min(n, 5_000)),
            lambda: " union ".join(["select 1"] * min(n, 5_000)),
            lambda: " intersect ".join(["select a from x"] * min(n, 300)),
            lambda: f"with {','.join(f'c{i} as (select a from c{i - 1})' if i else 'c0 as (select a from x)' for i in range(min(n, 3_000)))} select count(*) from c{min(n, 3_000) - 1}",
            lambda: f"select greatest({','.join(['a'] * min(n, 50_000))}) from x limit 1",
            lambda: f"select concat({','.join(['t'] * min(n, 50_000))}) from x limit 1",
            lambda: f"select case {' '.join(f'when a = {i} then {i}' for i in range(min(n, 50_000)))} end from x limit 1",
            lambda: f"select '{'x' * (n * 100)}'",
            lambda: f"select 1 as {'y' * n}",
            lambda: ";".join(["select 1"] * min(n, 20_000)),
            lambda: f"select count(*) from x where t like '{'%a' * min(n, 20_000)}'",
            lambda: f"select count(*) from x where t ~ '{'(a|b)*' * min(n, 3_000)}'",
            lambda: f"select {'9' * min(n, 100_000)}",
            lambda: f"select 1.{'0' * min(n, 100_000)}1",
        ])()

    def elements(self):
        """A list, or the arguments of a function that takes any number of them, of 10^5 elements; of literals 10^6."""
        literal = self.r.choice(["{i}", "{i}.25", "{i}.5::float8", "'t{i}'", "null", "true", "date '2024-01-01'", "'{i}'::jsonb", "array[{i}]"])
        computed = self.r.choice(["a", "t", "d", "a + {i}", "t || {i}", "nullif(a, {i})", "upper(t)", "case when a = {i} then t end"])
        kind = self.r.randrange(3)
        n = self.size(1_000_000 if kind == 0 else 100_000)
        odd = self.r.randrange(n)
        part = lambda i: (computed if kind == 1 or kind == 2 and i == odd else literal).replace("{i}", str(i))
        listed = ",".join(part(i) for i in range(n))
        function = self.r.choice(VARIADIC)
        first = {"concat_ws": "',', ", "format": "'%s', "}.get(function, f"'{{}}'::{function.split('_')[0]}, " if "path" in function else "")
        x = self.r.choice(["a", "t", "d", "a + 1", "d::float8", "upper(t)"])
        return self.r.choice([
            f"select {function}({first}{listed}) is null from x limit 2", f"select {function}({first}{listed}) is null from x limit 2", f"select {function}({first}variadic array[{listed}]) is null from x limit 2",
            f"select cardinality(array[{listed}]) from x limit 2", f"select count(*) from x, unnest(array[{listed}]) u where a < 3", f"select count(*) from x where {x} = any (array[{listed}])",
            f"select count(*) from x where {x} <> all (array[{listed}])", f"select count(*) from x where {x} in ({listed})", f"select count(*) from x where {x} not in ({listed})",
            f"select {x} in ({listed}), {x} not in ({listed}) from x limit 2", f"select greatest({listed}), least({listed}) from x limit 2", f"select coalesce({listed}) from x limit 2",
            f"select count(*) from x where {' or '.join(f'({x}) = {part(i)}' for i in range(min(n, 100_000)))}", f"select count(*) from x where {' and '.join(f'({x}) <> {part(i)}' for i in range(min(n, 100_000)))}",
            f"select case {' '.join(f'when a = {i} then {part(i)}' for i in range(min(n, 100_000)))} end from x limit 2", f"select count(*) from (values {','.join(f'({part(i)})' for i in range(n))}) v" if kind == 0 else f"select row({listed}) = row({listed}) from x limit 2",
            f"select array[array[{listed}], array[{listed}]] is null from x limit 2", f"select count(*) from x group by array[{listed}]", f"select string_agg(t, ',' order by array[{listed}]) from x", f"insert into w (a) values {','.join(f'({part(i)})' for i in range(n))}",
        ])

    def wide(self):
        n = min(self.size(400), 200)
        return self.r.choice([
            lambda: f"select count(*) from {', '.join(f'(select a from x limit 2) q{i}' for i in range(n // 4 + 1))}",
            lambda: f"select count(*) from x x0 {' '.join(f'join x x{i} on x{i}.a = x{i - 1}.a' for i in range(1, n // 4 + 2))}",
            lambda: f"select count(*) from x x0 {' '.join(f'left join x x{i} on x{i}.a = x{i - 1}.a and x{i}.a < 3' for i in range(1, n // 4 + 2))}",
            lambda: f"select a from x group by a, {', '.join(f'a + {i}' for i in range(n))} limit 1",
            lambda: f"select a from x order by {', '.join(f'(a + {i}) % 17' for i in range(n))} limit 1",
            lambda: f"select {', '.join(f'(select max(a) from x where a < {i})' for i in range(n))}",
            lambda: f"select count(*) from x where {' or '.join(f'a = (select max(y.a) from x y where y.a < x.a + {i})' for i in range(n // 20 + 1))}",
            lambda: f"select {', '.join(f'count(distinct a % {i + 1})' for i in range(n))} from x",
        ])()

    def many(self):
        """Many subqueries, aggregates or keys side by side: the plan is deep or wide where the text is flat."""
        n = self.size(6_000)
        joined = self.r.choice([", ", " or ", " and ", " + "])
        predicate = self.r.choice(["a in (select a + {i} from x)", "a not in (select a + {i} from x)", "exists (select 1 from x y where y.a = x.a + {i})", "a > all (select {i})",
                                   "a = any (select y.a from x y where y.d = x.d + {i})"])
        scalar = self.r.choice(["(select max(y.a) + {i} from x y where y.a = x.a)", "(select y.a from x y where y.a = x.a + {i} limit 1)", "(select count(*) from x y where y.a < {i})",
                                "(select x.a + {i})"])
        parts = lambda part, by: by.join(part.replace("{i}", str(i)) for i in range(n))
        return self.r.choice([
            lambda: f"select {parts(predicate, ', ')} from x limit 3",
            lambda: f"select a from x where {parts(predicate, joined if joined[1:-1] in ('or', 'and') else ' or ')} limit 3",
            lambda: f"select {parts(scalar, joined if joined in (', ', ' + ') else ', ')} from x limit 3",
            lambda: f"select coalesce({parts(scalar, ', ')}) from x limit 3",
            lambda: f"select case {parts('when ' + predicate + ' then {i}', ' ')} end from x limit 3",
            lambda: f"select {parts('count(distinct a + {i})', ', ')} from x",
            lambda: f"select {parts('count(distinct a + {i}), sum(a + {i})', ', ')} from x group by d",
            lambda: f"select a from x order by {parts('a % ({i} + 1)', ', ')} limit 3",
            lambda: f"select a from x group by a, {parts('a % ({i} + 1)', ', ')} limit 3",
        ])()

    def doubling(self):
        """Chains whose each link reads the one before it twice, or hands on an expression that grows."""
        n = self.size(200)
        chain = lambda first, link: first + "".join(link.replace("{i}", str(i)).replace("{j}", str(i - 1)) for i in range(1, n + 1))
        read = self.r.choice(["select distinct p.a from c{j} p, c{j} q where p.a = q.a", "select a from c{j} union select a + 1 from c{j}", "select a from c{j} where a in (select a from c{j})",
                              "select max(a) as a from c{j} where a > (select min(a) from c{j})"])
        kept = self.r.choice(["", " materialized", " not materialized"])
        table = "(select a from x limit 3)"
        nested = lambda part: self.r.choice(["select count(*) from ({})", "select max(a) from ({})"]).format(part)
        grown = self.r.choice(["a + a", "case when a > 1 then a else -a end", "a - a + a", "greatest(a, a)"])
        condition = self.r.choice(["where a >= 0", "group by a having a >= 0", "where a in (select a from x)", "", "where a = a"])
        return self.r.choice([
            lambda: chain(f"with c0 as{kept} (select distinct a from {table} t)", f", c{{i}} as{kept} ({read})") + f" select count(*) from c{n}",
            lambda: chain(f"select count(*) from {table} t0", ", lateral (select t{j}.a + 1 as a) t{i}"),
            lambda: chain(f"select count(*) from {table} t0", " left join lateral (select t{j}.a + 1 as a) t{i} on true"),
            lambda: chain(f"select count(*) from {table} t0", ", lateral (values (t{j}.a + 1), (t{j}.a)) t{i} (a)"),
            lambda: chain(f"select count(*) from {table} t0", f", lateral (select max(x.a + t{{j}}.a) as a from {table} x) t{{i}}"),
            lambda: chain(f"select count(*) from {table} t0", f", lateral (select a from {table} x where x.a = t{{j}}.a) t{{i}}"),
            lambda: nested(f"select {grown} as a from (" * n + f"select a from {table} t" + f" {condition}) q" * n) + " r",
        ])()

    def cross(self):
        source = self.r.choice(["x, x y", "x, x y, x z", "x join x y on x.a < y.a", "x join x y on x.a % 3 = y.a % 3", "x, lateral (select * from x y where y.a <> x.a) y"])
        return self.r.choice([
            f"select count(*) from {source}", f"select x.a, y.t from {source}", f"select sum(x.a + y.a) from {source}", f"select x.a + y.a, count(*) from {source} group by 1",
            f"select distinct x.t || y.t from {source}", f"select x.a from {source} order by y.a, x.t", f"select string_agg(x.t, ',') from {source}",
            f"select x.a from {source} order by y.t limit 10", f"create table made as select x.a from {source}", f"select x.a from {source} offset 1000000000000",
            f"select count(distinct x.a * 1000000 + y.a) from {source}", f"select max(x.t || y.t) from {source}", f"insert into w select x.a, x.t, x.d from {source}",
            f"select count(*) from x where a in (select x.a + y.a from {source})", f"select x.a from {source} union select y.a + 1 from {source}",
        ])

    def strings(self):
        n = self.size(2_000_000_000)
        return self.r.choice([
            f"select length(repeat('x', {n}))", f"select length(repeat(repeat('x', {self.size(100_000)}), {self.size(100_000)}))", f"select lpad('x', {n}, 'ab')",
            f"select length(rpad(t, {n})) from x", f"select max(repeat(t, {self.size(10_000)})) from x", f"select repeat(t, {self.size(10_000)}) from x order by 1",
            f"select replace(repeat('a', {self.size(10_000_000)}), 'a', repeat('b', {self.size(10_000)}))", f"select count(*) from x where repeat(t, {self.size(10_000)}) like '%z%z%z%z%'",
            f"select regexp_replace(repeat('a', {self.size(10_000_000)}), '(a*)*b', 'x')", f"select md5(repeat('x', {self.size(100_000_000)}))",
            f"select string_agg(repeat(t, {self.size(100_000)}), '') from x", f"select distinct repeat(t, {self.size(5_000)}) from x",
            f"select repeat(t, {self.size(5_000)}), count(*) from x group by 1", f"select reverse(repeat(t, {self.size(100_000)})) from x limit 5",
            f"select split_part(repeat('a,', {self.size(10_000_000)}), ',', {n})", f"select substring(repeat('ü', {self.size(10_000_000)}) from {n})", f"select translate(repeat('abc', {self.size(10_000_000)}), 'abc', 'xyz')",
        ])

    def edges(self):
        def one(depth):
            if depth == 0 or self.r.random() < 0.2:
                return self.r.choice(EDGES)
            _, template, arguments, _, _ = self.r.choice(operators())
            template = template[None] if isinstance(template, dict) else template
            words = [self.r.choice(a[1:-1].split()) if a[0] in "'\"" else one(depth - 1) for a in arguments]
            words = [f"'{w}'" if a[0] == '"' else w for a, w in zip(arguments, words)]
            return template.format(*words)
        return f"select {one(self.r.randint(1, 5))} from x limit {self.r.randint(0, 1000)}"

    def generated(self):
        statement = grammar.Generator(self.r, POSTGRES).statement()
        return statement.query.text(POSTGRES)

    def broken(self):
        """A generated statement with some words left out, doubled, exchanged or put in."""
        words = re.findall(r"'[^']*'|\w+|\S|\s+", self.generated())
        for _ in range(self.r.randint(1, 5)):
            at, other = self.r.randrange(len(words)), self.r.randrange(len(words))
            kind = self.r.randrange(5)
            if kind == 0:
                words[at] = ""
            elif kind == 1:
                words[at] *= 2
            elif kind == 2:
                words[at], words[other] = words[other], words[at]
            elif kind == 3:
                words[at] = f" {self.r.choice(KEYWORDS)} "
            else:
                words[at:at] = words[other:other + 10]
        return "".join(words)

    def noise(self):
        n = self.size(20_000)
        if self.r.random() < 0.5:
            return " ".join(self.r.choice(KEYWORDS) for _ in range(n))
        alphabet = self.r.choice(["'\"\\$;-/*()", "abc 123'\"(),;", "\u0000\u0001\t\n'\"", "äöü日本語\u200b\ufeff'\"$$", "$a$", "((((((,", "e'\\u'"])
        return "select " + "".join(self.r.choice(alphabet) for _ in range(n))

    def written(self):
        n = self.size(100_000)
        return self.r.choice([
            f"insert into w values {','.join(f'({i}, repeat(chr(97), {self.r.randint(0, 50)}), {i})' for i in range(n))}", "insert into w select a, t, d from x", "delete from w",
            "delete from w where a % 2 = 0", "delete from w using x where w.a = x.a", "freeze table w", "begin", "commit", "rollback", "drop table if exists made", "drop table if exists deep",
            f"create table made ({','.join(f'c{i} integer' for i in range(min(n, 3000)))})", "insert into w values (1, 'x', 1 / 0)", f"insert into w (a) values {','.join(['(1)'] * n)}",
            "checkpoint", f"copy w from '/nowhere/{'x' * min(n, 5000)}.csv'",
        ])

    def numerics(self):
        """Numerics of many digits, and what makes them longer."""
        one = lambda: self.r.choice(["1" * self.size(60), "0." + "0" * self.size(60) + "1", "9" * self.size(38), "1e" + str(self.size(60)), "1e-" + str(self.size(60)), "0.000", "'NaN'", "d", "a"])
        number = lambda: f"{one()}::numeric"
        n = self.size(20_000)
        return self.r.choice([
            lambda: f"select {number()} {self.r.choice('+-*/%')} {number()} from x limit 2", lambda: f"select round({number()}, {self.r.randint(-2**31, 2**31 - 1)}) from x limit 2",
            lambda: f"select {self.r.choice(['sqrt', 'exp', 'ln', 'trim_scale', 'scale', 'min_scale', 'ceil', 'factorial', 'width_bucket', 'to_char'])}({number()}) from x limit 2",
            lambda: f"select power({number()}, {number()}) from x limit 2", lambda: f"select {' * '.join([number()] * min(n, 2000))} from x limit 2", lambda: f"select sum(v), avg(v), stddev(v) from (select {number()} v from x) q",
            lambda: f"select count(*) from generate_series({number()}, {number()}, {number()})", lambda: f"select v, count(*) from (select a::numeric / {number()} v from x) q group by v order by v limit 3",
            lambda: f"select {number()}::numeric({self.r.randint(-5, 50)}, {self.r.randint(-50, 50)})", lambda: f"select to_char({number()}, '{'9' * n}')", lambda: f"select count(distinct a * {number()}) from x",
        ])()

    def sequences(self):
        n = self.size(10_000)
        number = self.r.choice(["1", "-1", "0", "9223372036854775807", "-9223372036854775808", str(n)])
        return self.r.choice([
            f"create sequence if not exists s increment {number} cache {abs(int(number)) or 1}", "select nextval('s') from x", f"select count(nextval('s')) from generate_series(1, {n * 100})", f"select setval('s', {number}) from x",
            f"alter sequence s minvalue {number}", f"alter sequence s restart {number}", "drop sequence if exists s", "select currval('s'), lastval()", f"select nextval('{'s' * n}')", "create table made (i serial, j int generated always as identity)",
            "insert into made (j) select a from x", "insert into made select from x", "truncate made restart identity", "; ".join(f"create sequence s{i}; drop sequence s{i}" for i in range(min(n, 300))),
        ])

    def keys(self):
        n = self.size(3_000)
        return self.r.choice([
            "create table made (i int primary key, up int references made on delete cascade)", f"insert into made select v, v - 1 from generate_series(1, {n * 20}) v", "insert into made values (0, null)", "delete from made where i = 0", "delete from made",
            f"update made set i = i + {n}", "drop table if exists made cascade", "truncate made cascade", "create table deep (i int references made on update cascade on delete set null)", "insert into deep select i from made",
            f"create table made (i int primary key, {', '.join(f'c{i} int references made' for i in range(min(n, 800)))})", "alter table deep add foreign key (i) references made not valid", "alter table deep validate constraint deep_i_fkey", "drop table if exists deep",
        ])

    def catalogs(self):
        tables = ["pg_catalog.pg_class", "pg_catalog.pg_attribute", "pg_catalog.pg_type", "pg_catalog.pg_proc", "pg_catalog.pg_constraint", "pg_catalog.pg_index", "pg_catalog.pg_namespace", "pg_catalog.pg_settings", "information_schema.columns",
                  "information_schema.tables", "frazil_blocks"]
        one, other = self.r.choice(tables), self.r.choice(tables)
        n = self.size(1_000)
        return self.r.choice([
            f"select * from {one}", f"select count(*) from {one} p, {other} q, {one} r", f"select p from {one} p order by p::text desc", f"select count(*) from {one} p join {other} q on p::text < q::text",
            f"select {', '.join([f'(select count(*) from {one} p where p::text > x.t)'] * min(n, 50))} from x limit 3", f"select {'-'.join(['1'] * n)}::regclass", f"select '{'p' * n}'::regclass", f"select {self.r.choice(['pg_get_constraintdef', 'pg_get_indexdef', 'pg_get_expr', 'format_type', 'obj_description', 'pg_table_is_visible', 'has_table_privilege'])}({self.r.choice(EDGES)}, {self.r.choice(EDGES)})",
            f"select string_agg(p::text, '') from {one} p, generate_series(1, {n * 10})", f"delete from {one}", f"insert into {one} select * from {one}",
        ])

    def settings(self):
        n = self.size(100_000)
        name = self.r.choice(["work_mem", "search_path", "time zone", "datestyle", "application_name", "app.user", "lock_timeout", "extra_float_digits", "client_encoding", "frazil.threads", "x" * n])
        return self.r.choice([
            f"set {name} = {self.r.choice(EDGES)}", f"set local {name} to '{'x' * n}'", f"show {name}", "show all", f"reset {name}", "discard all", f"select set_config('{name}', repeat('x', {n * 100}), {self.r.choice(['true', 'false'])})", f"select current_setting('{name}', true) from x",
            f"set search_path = {', '.join(f's{i}' for i in range(n))}", f"select set_config('app.a' || a, t, false) from x",
        ])


class Target:
    """The process under test."""

    def __init__(self):
        # What is resident is to be what Frazil holds: the module's allocator gives freed memory back at once, Python's before
        # each statement.
        environment = {**os.environ, "MIMALLOC_PURGE_DELAY": "0"}
        self.child = subprocess.Popen([sys.executable, "-m", "judge.hostile", "--child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        engines.receive(self.child.stdout)

    def run(self, timeout, sql):
        """(error's code, its text, seconds, resident megabytes before it and at most), or how the process ended."""
        engines.send(self.child.stdin, (timeout, sql))
        if not select.select([self.child.stdout], [], [], KILLED)[0]:
            self.child.kill()
        try:
            return engines.receive(self.child.stdout)
        except EOFError:
            return "died", f"status {self.child.wait()}", 0.0, 0.0, 0.0


def child():
    """Serves statements from the standard input."""
    import frazil
    con = frazil.connect(":memory:")
    con.execute(f"set memory_limit = '{MEMORY_LIMIT}MB'")
    with tempfile.TemporaryDirectory() as folder:
        tables.write(Path(folder))
        engines.load(con, folder, frozen=True)
    con.execute("create table x (a integer not null, t text, d decimal(12,2))")
    digits = "(values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))"
    places = ", ".join(f"{digits} d{i} (v)" for i in range(5))
    number = " + ".join(f"d{i}.v * {10**i}" for i in range(5))
    con.execute(f"insert into x select {number}, 'row ' || ({number}), ({number}) / 7.0 from {places}, (values (1), (2)) twice (n)")
    assert con.execute("select count(*) from x").fetchone()[0] == ROWS
    engines.send(sys.stdout.buffer, "ready")
    count = 0
    while True:
        try:
            timeout, sql = engines.receive(sys.stdin.buffer)
        except EOFError:
            return
        settle(con, timeout)
        if count % KEPT == 0 or written(con) > LARGE:
            anew(con)
            settle(con, timeout)
        count += 1
        forget_peak()
        before = peak()
        code, text, begun = None, "", time.monotonic()
        try:
            con.execute(sql)
        except Exception as error:
            code, text = getattr(error, "sqlstate", None) or type(error).__name__, str(error)[:2000]
        seconds = time.monotonic() - begun
        engines.send(sys.stdout.buffer, (code, text, seconds, before, peak()))


def written(con):
    """Bytes of the tables that statements write to; none if the transaction has failed."""
    import frazil
    try:
        return con.execute("select coalesce(sum(bytes), 0) from frazil_blocks where table_name in ('w', 'made', 'deep')").fetchone()[0]
    except frazil.Error:
        return 0


def anew(con):
    """Tables that statements write to, empty: what they hold is the user's, and in no budget."""
    import frazil
    try:
        con.execute("rollback")
    except frazil.Error:
        pass
    con.execute(f"reset all; set memory_limit = '{MEMORY_LIMIT}MB'")
    con.execute("drop table if exists w, made, deep cascade; drop sequence if exists s cascade; create table w (a integer, t text, d decimal(12,2))")


def settle(con, timeout):
    """Sets the timeout, and the limit, which RESET and DISCARD forget; a transaction that failed refuses that, and is ended."""
    import frazil
    try:
        con.execute(f"set statement_timeout = '{timeout}'; set memory_limit = '{MEMORY_LIMIT}MB'")
    except frazil.Error:
        con.execute("rollback")
        con.execute(f"set statement_timeout = '{timeout}'; set memory_limit = '{MEMORY_LIMIT}MB'")


def forget_peak():
    LIBC.malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def peak():
    """Most megabytes resident since `forget_peak`."""
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024


def faults(got, timeout, sql):
    """What is wrong with how a statement went."""
    code, text, seconds, _, resident = got
    limit = float(timeout[:-2]) / 1000 if timeout.endswith("ms") else float(timeout[:-1])
    # Each statement of a script has that time.
    limit *= sql.count(";") + 1
    if code == "died":
        yield "died"
    if code in ("XX000", "PanicException", "Error") or "panick" in text:
        yield "panic"
    if resident > MEMORY_LIMIT + BESIDES:
        yield "memory"
    if seconds > limit + HEARD:
        yield "deaf"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--statements", type=int, default=10**9)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        return child()
    target, found, codes, begun, most = Target(), collections.Counter(), collections.Counter(), time.monotonic(), 0.0
    count = 0
    for seed in range(options.seed, options.seed + options.statements):
        if time.monotonic() - begun > options.seconds:
            break
        r = random.Random(f"hostile {seed}")
        name, sql = Texts(r).draw()
        timeout = r.choice(TIMEOUTS)
        got = target.run(timeout, sql)
        count += 1
        codes[got[0] or "answered"] += 1
        most = max(most, got[4])
        for fault in faults(got, timeout, sql):
            found[fault] += 1
            print(f"seed {seed}: {fault} ({name}, {len(sql)} bytes): {got[0]} {got[1][:300]!r}, {got[2]:.2f} s of {timeout}, {got[3]:.0f} to {got[4]:.0f} MB\n  {sql[:150]!r}", flush=True)
        if got[0] == "died":
            target = Target()
    print(f"{count} statements in {time.monotonic() - begun:.0f} s, at most {most:.0f} MB resident: faults {dict(found)}; {codes.most_common()}")
    sys.exit(min(100, sum(found.values())))


if __name__ == "__main__":
    main()
