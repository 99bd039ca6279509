"""Kinds of statements that change tables, which the transaction around them takes back: references with every action, upserts behind every
form of query and beside references, sequences and identity, changes across schemas, definitions."""

ACTIONS = ["", " on delete cascade", " on delete set null", " on delete set default", " on delete restrict", " on delete no action", " on update cascade", " on update set null", " on update set default", " on update restrict",
           " on delete cascade on update cascade", " on delete set null on update cascade", " on update set null on delete set default", " on delete set null (b)", " on delete set default (a)"]
PARENTS = "(1, 10, 'a'), (2, 20, 'b'), (3, 30, null), (4, 40, 'd')"


class Changing:
    """What `dialect.Dialect` draws of changes."""

    # References.

    def family(self):
        """The statements that make and fill a parent, its child and the child's child."""
        pair = self.chance(0.35)
        action = self.pick(*ACTIONS)
        if not pair:
            action = action.partition(" (")[0]
        match = self.pick("", "", "", " match full", " match simple") if pair else self.pick("", "", " match full")
        key = f"foreign key (a, b) references pa (k, t){match}{action}" if pair else f"foreign key (a) references pa{self.pick('', ' (k)', ' (n)')}{match}{action}"
        by_n = "(n)" in key
        child = f"create table ch (id integer primary key, a integer default {self.pick('1', '10', '9', 'null')}, b text default {self.pick(chr(39) + 'a' + chr(39), 'null')}, up integer references ch{self.pick(*ACTIONS[:11])}, {key})"
        a = (lambda k: k * 10) if by_n else (lambda k: k)
        rows = [f"(1, {a(1)}, 'a', null)", f"(2, {a(1)}, 'a', 1)", f"(3, {a(2)}, 'b', 1)", f"(4, null, {self.pick('null', 'null', chr(39) + 'x' + chr(39))}, 3)", f"(5, {a(4)}, 'd', 5)"]
        grand = f"create table gr (g integer, c integer not null default 1 references ch{self.pick(*ACTIONS[:11])})"
        order = self.pick("", "", " where id < 4")
        return ["create table pa (k integer primary key, n integer unique, t text, unique (k, t))", f"insert into pa (k, n, t) values {PARENTS}", child, f"insert into ch values {', '.join(rows)}", grand,
                f"insert into gr select id * 100, id from ch{order}"]

    def family_change(self):
        k = self.pick("1", "2", "3", "4", "9")
        i = self.pick("1", "2", "3", "4", "5", "7")
        return self.pick(f"delete from pa where k = {k}", f"delete from pa where k in ({k}, 2)", "delete from pa", f"update pa set k = k + 10 where k = {k}", f"update pa set n = n + 1", f"update pa set t = 'z' where k = {k}", f"update pa set t = null where k = {k}",
                         f"update ch set a = {self.pick(k, k + '0', 'null')} where id = {i}", f"update ch set b = {self.pick(chr(39) + 'b' + chr(39), 'null')} where id = {i}", f"update ch set id = id + 5", f"update ch set id = id + 5 where id = {i}", f"delete from ch where id = {i}",
                         f"delete from ch using pa where ch.a = pa.k and pa.k = {k}", f"insert into ch values (7, {self.pick(k, k + '0', 'null')}, {self.pick(chr(39) + 'a' + chr(39), 'null', chr(39) + 'b' + chr(39))}, {i})", f"insert into gr values (1, {i})", "insert into gr default values",
                         "insert into ch (id) values (8), (9)", f"insert into ch (id, a, b) select k + 20, {self.pick('k', 'n')}, t from pa", f"update ch set up = {i} where id = {self.pick('1', '3', '5')}", f"update gr set c = c + 1", "truncate pa", "truncate ch, gr", "truncate pa cascade",
                         f"with d as (delete from pa where k = {k} returning k) insert into gr select k, {i} from d", f"with i as (insert into pa values (9, 90, 'n') returning k, n, t) insert into ch select 30, {self.pick('k', 'n')}, t, null from i",
                         f"drop table {self.pick('pa', 'ch', 'gr', 'pa cascade', 'ch cascade')}" if self.chance(0.3) else f"delete from pa where k = {k} and exists (select from ch)", f"alter table ch drop constraint {self.pick('ch_a_fkey', 'ch_up_fkey', 'ch_a_b_fkey')}" if self.chance(0.3) else f"update pa set k = 5 - k",
                         f"insert into pa values ({k}, 5, 'q') on conflict (k) do update set k = excluded.k + 20, t = excluded.t", f"insert into pa values ({k}, 5, 'q') on conflict do nothing", f"insert into ch values ({i}, {k}, 'b', null) on conflict (id) do update set a = excluded.a, b = excluded.b, up = ch.id")

    ROWS = ("select 'p' as kind, k as x, n as y, t as z, null as w from pa union all select 'c', id, a, b, up from ch union all select 'g', g, c, null, null from gr")

    def references(self):
        changes = [self.family_change() for _ in range(self.r.choice([1, 1, 2, 3]))]
        if self.chance(0.3) and changes[-1].startswith(("delete", "update")) and "using" not in changes[-1]:
            return self.undone([*self.family(), *changes[:-1]], changes[-1] + " returning *", ["change beside references"])
        return self.undone([*self.family(), *changes], self.ROWS, ["rows beside references"])

    # Upserts.

    def upserts(self):
        """ON CONFLICT behind every form of query, in tables with references or without."""
        k = lambda: self.pick("1", "2", "3", "4", "5", "9")  # noqa: E731
        form = self.pick(f"values ({k()}, 50, 'v'), ({k()}, 60, 'w')", f"(values ({k()}, 50, 'v'))", f"select {k()}, 70, 's'", f"(select {k()}, 70, 's')", "table pa", "(table pa)", f"select k, n + 1, t from pa where k <> {k()}",
                         f"select {k()}, 1, 'u' union select {k()}, 2, 'u'", f"(select {k()}, 1, 'u') union all (select 9, 2, 'u')", f"with w as (select {k()} as a, 80 as b) select a, b, 'w' from w", f"with w (a) as (values ({k()}), (9)) select a, a * 10, 'w' from w",
                         f"select g, g * 10, 'series' from generate_series({k()}, 6) g", "select distinct k, n, 'd' from pa", f"select k, max(n), min(t) from pa group by k having k > {k()}", f"(select k, n, t from pa order by k limit 2)", f"select k, n, t from pa order by k desc offset 1",
                         f"((values (1, 1, 'x')))", f"select * from (values ({k()}, 9, 'f')) f", f"values ({k()}, default, default)", f"select p.k, q.n, p.t from pa p join pa q on q.k = p.k", f"select k, sum(n) over (order by k), t from pa", f"values ({k()}, (select max(n) from pa), (select 'x'))",
                         "select k, n, t from pa except select 1, 10, 'a'", "select k, n, t from pa intersect all table pa", "select k, lead(n) over (order by k), 'w' from pa window w as ()", f"with recursive r (a) as (select {k()} union all select a + 1 from r where a < 6) select a, a, 'r' from r")
        if form.startswith(("select distinct", "select k, n, t from pa except", "select k, n, t from pa intersect", "(select", "select k, max")) or " join " in form or "union select" in form:
            # Which row is in the way of which follows from their order.
            form = f"select * from ({form}) f order by 1, 2, 3"
        target = self.pick(" (k)", " (k)", " (n)", "", " on constraint pa_pkey", " on constraint pa_n_key", " (k, t)", " (t)", " (k) where k > 0", " (n, k)", " ((k))", " on constraint nowhere")
        where = self.pick("", "", f" where pa.k < {k()}", " where excluded.n > pa.n", " where pa.t is not null", " where excluded.t is distinct from pa.t", f" where exists (select from pa q where q.k = excluded.k)")
        sets = self.pick("n = excluded.n", "n = pa.n + excluded.n, t = excluded.t || coalesce(pa.t, '')", "(n, t) = (excluded.n, 'row')", "(n, t) = row(pa.n, excluded.t)", "(n, t) = (select max(n) + 1, 'q' from pa)", "t = default", "k = excluded.k + 20", "n = n", "n = (select count(*) from ch) + excluded.k", "t = excluded.t, n = default",
                         "t = 'x', t = 'y'" if self.chance(0.2) else "t = reverse(excluded.t)", "pa.t = 'z'" if self.chance(0.2) else "t = cast(excluded as text)" if self.chance(0.3) else "t = (select string_agg(t, ',' order by k) from pa)")
        action = " do nothing" if self.chance(0.3) or not target else f" do update set {sets}{where}"
        alias = ""
        names = self.pick("", "", " (k, n, t)")
        returning = self.pick("", "", " returning *", " returning k, n, t, k > 2", " returning pa.*", " returning (pa).n, cast(pa as text)", " returning k as a, (select count(*) from ch)")
        insert = f"insert into pa{alias}{names} {form} on conflict{target}{action}"
        if returning and self.chance(0.3):
            return self.undone(self.family(), f"with up as ({insert}{returning}) select count(*), count(up) from up", ["upsert in with"])
        if returning:
            return self.undone(self.family(), insert + returning, ["upsert that returns"])
        return self.undone([*self.family(), insert], self.ROWS, ["upsert"])

    # Sequences.

    def sequences(self):
        options = self.pick("", " start 10", " increment 2", " increment -1", " minvalue 3 maxvalue 6", " minvalue 1 maxvalue 3 cycle", " start with 5 increment by 5 no cycle", " as smallint start 32766", " as smallint", " increment -2 maxvalue 10 minvalue -3 start 3", " maxvalue 2", " as integer increment 0" if self.chance(0.2) else " cache 1")
        kind = self.pick("generated always as identity", "generated by default as identity", f"generated {self.pick('always', 'by default')} as identity (start with 7 increment by 3)", "generated always as identity (maxvalue 4)", "default nextval('sq')")
        serial = self.pick("bigserial", "serial", "smallserial", f"integer {kind}", f"bigint {kind}")
        before = [f"create sequence sq{options}", f"create table it (k {serial}, v text)"]
        some = lambda: self.pick("insert into it (v) values ('a'), ('b')", "insert into it values (default, 'd')", "insert into it (k, v) values (5, 'x')", "insert into it (k, v) overriding system value values (6, 'y')", "insert into it (k, v) overriding user value values (6, 'z')",  # noqa: E731
                                 "insert into it (v) select t from small where k between 1 and 3 order by t, k", "insert into it default values", "update it set k = default", "update it set k = 3", "alter sequence sq restart", f"alter sequence sq restart with {self.pick('2', '5', '40000')}", "alter sequence sq increment 10",
                                 "alter sequence sq owned by it.k", "truncate it restart identity", "truncate it", "alter table it alter k restart with 20", "alter table it alter k drop identity", "alter table it alter k set generated always", "alter table it alter k add generated always as identity",
                                 "alter table it alter k drop default", "drop sequence sq", "savepoint s", "insert into it select * from it", "delete from it where v = 'a'", "alter sequence sq maxvalue 4", "alter sequence it_k_seq restart with 9", "alter table it drop column k" if self.chance(0.3) else "insert into it (v) values (length('sq'))",
                                 "select nextval('sq')", "select setval('sq', 5)", "select setval('sq', 3, false)", "select nextval('it_k_seq')", "create table ti (like it including identity)" if self.chance(0.3) else "select currval('sq')")
        before += [some() for _ in range(self.r.choice([0, 1, 2, 3]))]
        query = self.pick("select nextval('sq')", "select nextval('sq') from generate_series(1, 4)", "select k, v from it", "insert into it (v) values ('r') returning k, v", "insert into it (v) values ('r'), ('s') returning *", "select currval('sq')", "select currval('it_k_seq')", "select lastval()",
                          "select last_value, is_called from sq", "select last_value, is_called from it_k_seq", "select setval('sq', 4), 1", "select pg_get_serial_sequence('it', 'k')", "select s.k, nextval('sq') from (select k from small where k > 2 order by k) s where s.k < 6",
                          "select column_default, is_identity, identity_generation from information_schema.columns where table_name = 'it' and column_name = 'k'",
                          "with i as (insert into it (v) values ('w') returning k) select k, (select count(*) from it) from i", "select nextval('sq'::regclass)", "select nextval('public.sq')", "select nextval('nowhere')", "select case when true then 1 else nextval('sq') end, 1", "select coalesce(1, nextval('sq'))")
        return self.undone(before, query, [f"sequence query {query.split('(')[0][:24]}"])

    # Changes over schemas.

    def schema_changes(self):
        """Definitions and changes in schemas that the path finds."""
        path = self.pick("north, public", "south, north", '"East Side", south', "south", "mid, public")
        n = self.pick("depot", "small", "thing", "owner", "fresh", "north.depot", "south.small", "public.other", "mid.fresh", "north.nowhere", "nowhere.depot", "busy", '"East Side"."Depot"')
        some = lambda: self.pick("create schema mid", "create table fresh (k integer primary key, t text)", "create table mid.fresh (k integer)", "create table north.fresh as select k, t from small", "create view fresh_view as select * from small", f"delete from {n} where k = 4",  # noqa: E731
                                 "insert into small (k, t) values (99, 'new')", "update small set t = 'u' where k = 4", "alter table north.depot set schema south", "alter table south.small set schema north", "alter table north.small rename to big", "drop table small", "drop table south.small cascade", "drop schema north", "drop schema south cascade",
                                 "drop schema \"East Side\" cascade", "drop schema mid", "create table fresh (hue colour)", "create type colour as enum ('x')", "drop type colour", "drop type south.colour cascade", "alter table south.thing drop column owner", "insert into thing values (20, 1, 'new', 2)", "delete from owner where id = 1",
                                 "update owner set id = 7 where id = 1", "create sequence mid_counter", "create index on small (t, k)", "drop index thing_price", "create unique index on depot (k)", "alter table owner add column more integer default 3", "create table fresh (like small)", "comment on table small is 'told'",
                                 "drop view busy", "create or replace view busy as select * from depot where false", "truncate small", "create table fresh (k integer references owner)", "insert into painted (hue) values ('green')", "insert into painted (hue) values ('x')", "alter schema north rename to up" if self.chance(0.2) else "set search_path = south, public",
                                 "alter type south.colour rename value 'red' to 'crimson'", "create domain mid.pos as integer check (value > 0)", "create temporary table small (k integer)" if self.chance(0.1) else "select 1")
        before = [f"set search_path = {path}", *(some() for _ in range(self.r.choice([1, 2, 2, 3])))]
        # Whatever fails, the path is what it was.
        query = self.pick(f"select * from {n}", f"select count(*), max(k) from {n}", "select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname in ('north', 'south', 'mid', 'East Side') and c.relkind in ('r', 'v')", "select current_schema, to_regclass('small')::text, to_regclass('fresh')::text, to_regclass('north.depot')::text",
                          f"select '{n}'::regclass::text", "select id, hue from painted", "select hue > 'red', hue::text from south.painted", "select t.*, o.name from thing t left join owner o on o.id = t.owner", "select small.k, s.t from small join south.small s using (k)", "select obj_description('small'::regclass)", "select x.k from north.small x, small where small.k = x.k",
                          "select attname, attnotnull from pg_attribute where attrelid = to_regclass('fresh') and attnum > 0", "select cast(thing as text) from thing", "select current_schemas(false)::text")
        made = self.undone(before, query, ["changes over schemas"])
        made.after.append(type(made.query)(("text",), ["set search_path to default"]))
        return made

    # Definitions.

    def definitions(self):
        """Columns that are generated, altered, commented on or copied, then the rows."""
        column = self.pick("w integer generated always as (k * 2) stored", "w text generated always as (upper(t)) stored", "w numeric(8,2) default 1.5", "w varchar(3) default 'abc'", "w integer check (w > 0) default 4", "w date default date '2000-02-29'", "w integer[] default '{1,2}'", "w jsonb default '{\"a\":1}'", "w char(4) default 'ab'")
        before = [f"create table de (k integer primary key, t text, n bigint unique, {column})", "insert into de (k, t, n) values (1, 'a', 10), (2, 'b', null), (3, null, 30)"]
        some = lambda: self.pick("alter table de alter t type varchar(1)", "alter table de alter n type integer", "alter table de alter n type numeric(10,2)", "alter table de alter k type bigint", "alter table de alter t type integer using length(t)", "alter table de alter n type text", "alter table de alter t type bytea using t::bytea",  # noqa: E731
                                 "alter table de add column x integer generated always as (k + 1) stored", "alter table de alter w drop expression", "alter table de alter w drop default", "alter table de alter w set default null", "alter table de alter t set not null", "alter table de add check (k < 3)", "alter table de add constraint few check (k < 30)",
                                 "alter table de add x integer not null", "alter table de add x integer not null default 5, drop column t", "alter table de drop column w", "alter table de drop column k", "alter table de rename w to z", "alter table de rename to ed", "create table like_de (like de including all)", "create view vi as select k, t as s from de", "drop view vi", "alter view vi rename to iv",
                                 "comment on column de.t is 'text'", "create index de_t on de (t desc)", "create unique index on de (t)", "update de set k = k + 1", "update de set w = default", "insert into de values (4, 'd', 40)", "insert into de values (4, 'd', 40, default)", "insert into like_de select k, t, n from de", "delete from de where n is null", "update de set (t, n) = (select 'q', 7)",
                                 "create materialized view mv as select k from de" if self.chance(0.2) else "create table other_de as table de", "alter table de drop constraint de_pkey", "alter table de alter w type text", "alter table de alter w type integer using null", "create unique index de_low on de (lower(t))" if self.chance(0.3) else "insert into de (k) values (9)",
                                 "create index part on de (n) where n > 5" if self.chance(0.3) else "update de set t = null where k = 1", "alter table de add primary key (n)", "alter table de add unique (t, n)", "alter table if exists no_de add x integer", "alter table de alter column w set data type numeric(4,1) using 1")
        before += [some() for _ in range(self.r.choice([1, 2, 3]))]
        query = self.pick("select * from de", "select * from de", "select k, t from de where k > 1", "insert into de (k, t) values (7, 'new') returning *", "update de set k = k + 10 where k = 2 returning k, t, n", "select attname, format_type(atttypid, atttypmod), attnotnull from pg_attribute where attrelid = 'de'::regclass and attnum > 0 and not attisdropped",
                          "select * from vi", "select * from like_de", "delete from de where k = 1 returning *", "select column_name, data_type, is_generated, is_nullable from information_schema.columns where table_name = 'de'", "select conname, contype from pg_constraint where conrelid = 'de'::regclass", "select col_description('de'::regclass, 2)",
                          "select indexrelid::regclass::text, indisunique from pg_index where indrelid = 'de'::regclass", "select cast(de as text) from de", "insert into de (k, t, n) values (1, 'c', 5) on conflict (k) do update set t = excluded.t returning *", "insert into de (k, n) values (8, 10) on conflict (n) do update set n = 11 returning k, n")
        return self.undone(before, query, ["definitions"])


KINDS = {"references": Changing.references, "upserts": Changing.upserts, "sequences": Changing.sequences, "changes over schemas": Changing.schema_changes, "definitions": Changing.definitions}
