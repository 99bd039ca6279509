create table kinds (
  id integer primary key,
  small smallint, whole integer, big bigint,
  d9 decimal(9, 2), d38 decimal(38, 0), d decimal,
  f double precision, flag boolean,
  day date, at timestamp,
  fixed char(5), one char(1), short varchar(3), long text
);
insert into kinds values
  (1, -32768, -2147483648, -9223372036854775808, -9999999.99, -99999999999999999999999999999999999999, -0.0000000001,
   -1.7976931348623157e308, true, '4714-11-24 BC', '4714-11-24 00:00:00 BC', 'ab', 'x', 'abc', ''),
  (2, 32767, 2147483647, 9223372036854775807, 9999999.99, 99999999999999999999999999999999999999, 9999999999999999999999999999.9999999999,
   5e-324, false, '5874897-12-31', '9999-12-31 23:59:59.999999', '', '', '', ' '),
  (3, null, null, null, null, null, null, null, null, null, null, null, null, null, null),
  (4, 0, 0, 0, 0, 0, 0, 'NaN', true, '2024-02-29', '1999-12-31 23:59:60', 'ü é', 'ß', 'üöä', 'text'),
  (5, 1, 1, 1, 1, 1, 1, 'Infinity', true, '0001-01-01', '1969-12-31 23:59:59.000001', 'a', 'b', 'c', 'd'),
  (6, -1, -1, -1, -1, -1, -1, '-Infinity', true, '0001-12-31 BC', '2000-01-01', 'a', 'b', 'c', 'd'),
  (7, 1, 1, 1, 0.05, 1, 1, '-0', true, '1970-01-01', '1970-01-01', 'a', 'b', 'c', 'd'),
  (8, 1, 1, 1, 0.05, 1, 1, 0.1, true, '1970-01-01', '1970-01-01', 'a', 'b', 'c', 'd');
freeze table kinds;

create type mood as enum ('sad', 'it''s ok', 'tab	here', '\N');
create domain positive as integer check (value > 0);
create table more_kinds (
  id integer primary key, r real, d4 decimal(4, 4), clock time, instant timestamptz, span interval, u uuid,
  j json, b jsonb, bytes bytea, m mood, p positive, v varchar, ints integer[], texts text[], moods mood[], days date[],
  floats double precision[], spans interval[], instants timestamptz[]
);
insert into more_kinds values
  (1, 3.4028235e38, 0.9999, '24:00', '0001-01-01 00:00+00', '-178000000 years 3 days 00:00:00.000001', '00000000-0000-0000-0000-000000000000',
   '{"a" : "\\N",	"b":[1.50, null]}', '{"a": "\\.", "b": [1.50, null]}', '\x005c0a095c2e', 'sad', 1, '\N', '{1,NULL,-2147483648}',
   '{"a,b","","null",NULL,"\\","\t"}', '{sad,"it''s ok",NULL}', '{infinity,0044-03-15 BC}', '{NaN,-0,5e-324}', '{1 mon,-1 day}',
   '{2024-02-29 12:00:00.5+05:45}'),
  (2, -1e-45, -0.0001, '00:00', 'infinity', '0', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'null', '"\u00e9"', '\x', E'tab\there', 2147483647, E'\t\n',
   '{{1,2},{3,4}}', '{}', '{}', '{}', '{}', '{}', '{}'),
  (3, '-0', 0, '12:34:56.000001', '-infinity', '1 mon', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '[]', '{}', '\xff', '\N', 7, '',
   '[0:1]={5,6}', E'{"two\nlines","\\N"}', null, null, null, null, null),
  (4, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);

create table "select" ("from" integer, "Order" text default 'it''s', "a""b" integer default -5, "interval" date, "values" double precision default 'NaN', " " boolean default true);
insert into "select" values (1, 'x', 2, '2020-01-01', 1.5, false), (2, default, default, null, default, default);
create index "where" on "select" ("from" desc, "a""b" nulls first) include (" ");
create table "Größe ""x""" ("Ü" text unique, b integer default (1 + 2) /* three */);
insert into "Größe ""x""" values ('ß', 7), (null, default);

create table texts (id integer, t text);
insert into texts values
  (1, 'it''s'), (2, 'back\slash'), (3, e'two\nlines'), (4, e'dos\r\nlines\r'), (5, e'tab\there'), (6, '\.'), (7, e'\n\\.\n'),
  (8, ';'), (9, '-- no comment'), (10, e'\n.quit\n\\q\n'), (11, ':name :''name'''), (12, '/* open'), (13, '$$'), (14, '"'), (15, ''),
  (16, null), (17, 'NULL'), (18, '  blanks  '), (19, repeat('long ', 5000)), (20, '漢字 🦀'), (21, e'\x01\x7f'), (22, '%_\%'), (23, '$1'),
  (24, e'\r\\'''), (25, '\x41');

create table first_name (id integer primary key, n integer constraint "positive n" check (n > 0 -- so that it is
  ), gone text, u integer, constraint pair unique nulls not distinct (u, n));
insert into first_name values (1, 1, 'g', 1), (2, 2, 'h', null), (3, 3, null, 3);
create view seen as select * from first_name;
create view narrow (total, "Least") as select sum(n) over_all, min(id) from first_name where u is not null -- as said
;
create view above as select s.id, s.u, n."Least" from seen s, narrow n where s.id in (select id from first_name);
alter table first_name rename to renamed;
alter table renamed rename u to "New u";
alter table renamed add later timestamp default timestamp '2026-01-02 03:04:05';
insert into renamed (id, n) values (4, 4);
delete from renamed where id = 2;
create index on renamed (later, n desc nulls last);
create table empty (a integer not null, b decimal(5, 1) default 0.5 not null);
create view of_nothing as select a from empty;
alter table empty drop b;
create schema "Of numbers";
create sequence "Of numbers"."Next's" as smallint increment -3 minvalue -100 maxvalue 7 start 4 cache 3 cycle;
select nextval('"Of numbers"."Next''s"') from generate_series(1, 3);
create sequence fresh;
create table numbered (id serial primary key, k bigint generated always as identity (start 10 increment 10),
  d smallint generated by default as identity, n integer default nextval('"Of numbers"."Next''s"') * 2, x text);
insert into numbered (x) values ('one'), ('two');
insert into numbered (d, x) values (7, 'own');
create table made (id integer primary key, n integer, "Twice n" integer generated always as (n * 2 -- doubled
  ) stored not null, x text, label text generated always as (coalesce(x, 'none''s') || ':' || n) stored);
insert into made (id, n, x) values (1, 2, 'a'), (2, 3, null);
create index on made ("Twice n");
create table "late keys" (a integer primary key deferrable initially deferred, "b c" text, constraint "b c key" unique ("b c") deferrable);
insert into "late keys" values (1, 'x'), (2, 'y');
comment on table "late keys" is E'it''s\n"late" \\ here';
comment on column "late keys"."b c" is 'a column';
comment on constraint "b c key" on "late keys" is 'a key';
comment on database frazil is 'a database';
comment on schema public is 'a schema';
