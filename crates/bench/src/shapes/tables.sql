-- The tables of `bench shapes`. Frazil and DuckDB (with integer_division) both run this text, so that both hold the same rows.
-- {rows} and {tenth} are numbers of rows. Columns are independent of each other: they read different bits of
-- different multiples of the row number.

-- The large table. id is unique, and its rows are in no order.
create table facts (
    id integer not null,
    g100 integer not null,      -- 100 values
    g10k integer not null,      -- 10,000 values
    g100k integer not null,     -- 100,000 values
    zipf integer not null,      -- Zipf with exponent 1.2, at most 1,000,000
    s100 text not null,         -- 100 values
    t100 text not null,         -- 100 values
    s100k text not null,        -- 100,000 values that share a long prefix
    fkey integer not null,      -- a key of parents
    fname text not null,        -- a name of parents
    half integer,               -- NULL in two of three rows
    v integer not null,
    price decimal(12,2) not null,
    f double precision not null,
    day date not null
);
insert into facts
select cast(i * 7368787 % {rows} as integer),
       cast(x / 4096 % 100 as integer),
       cast(y / 512 % 10000 as integer),
       cast(z / 64 % 100000 as integer),
       cast(least(floor(power((w + 1) / 4294967297.0::double precision, -5.0)), 1000000.0::double precision) as integer),
       'name ' || (y / 8192 % 100),
       'type ' || (z / 2048 % 100),
       'https://example.com/pages/' || (x / 128 % 100000),
       cast(w / 4 % {tenth} as integer),
       'parent ' || (w / 4 % {tenth}),
       case when z / 32 % 3 = 0 then cast(x / 16 % 1000 as integer) end,
       cast(w / 1024 % 1000 as integer),
       cast(y / 1024 % 1000000 as decimal(12,2)) / 100,
       x / 4294967296.0::double precision,
       date '2015-01-01' + cast(z / 4096 % 3000 as integer)
from (select i, i * 2654435761 % 4294967296 as x, i * 1597334677 % 4294967296 as y,
             i * 3266489917 % 4294967296 as z, i * 668265263 % 4294967296 as w
      from (select cast(i as bigint) as i from generate_series(1, {rows}) as s (i)) as numbers) as hashed;

-- Ten rows.
create table tens (id integer not null, name text not null);
insert into tens select cast(i as integer), 'name ' || i from generate_series(0, 9) as s (i);

-- A row for each fkey.
create table parents (id integer not null, name text not null, kind integer not null);
insert into parents
select cast(i as integer), 'parent ' || i, cast(i * 2654435761 % 4294967296 / 4096 % 50 as integer)
from generate_series(0, {tenth} - 1) as s (i);

-- A row for every hundredth id of facts; every second one has the g10k of facts, too.
create table few (id integer not null, g10k integer not null);
insert into few select id, case when v < 500 then g10k else -1 end from facts where id % 100 = 0;
