-- The questions of `bench shapes`: `-- name`, then one statement in a line or more. Frazil and DuckDB both run this text.
-- A question of many rows is counted and summed up, so that the result costs nothing to read.

-- groups: an integer of 100 values
select count(*), sum(s) from (select g100, sum(v) as s from facts group by g100) as q;
-- groups: an integer of 10,000 values
select count(*), sum(s), max(m) from (select g10k, sum(v) as s, max(price) as m from facts group by g10k) as q;
-- groups: an integer of 100,000 values
select count(*), sum(s) from (select g100k, sum(v) as s from facts group by g100k) as q;
-- groups: a string of 100 values
select count(*), sum(s), min(s100) from (select s100, sum(v) as s from facts group by s100) as q;
-- groups: two strings of 100 values
select count(*), sum(s) from (select s100, t100, sum(v) as s from facts group by s100, t100) as q;
-- groups: a string of 100,000 values
select count(*), sum(s), max(s100k) from (select s100k, sum(v) as s from facts group by s100k) as q;
-- groups: skewed
select count(*), sum(s), max(n) from (select zipf, sum(v) as s, count(*) as n from facts group by zipf) as q;
-- groups: unique
select count(*), sum(s) from (select id, sum(v) as s from facts group by id) as q;
-- groups: six keys
select count(*), sum(s) from (select id, g100, g10k, s100, t100, v, sum(price) as s from facts group by id, g100, g10k, s100, t100, v) as q;
-- sums: expressions
select sum(v * 3 + 1), sum(price * (1 - f)), sum(v + g100), avg(price), count(half) from facts;
-- sums: CASE
select sum(case when s100 = 'name 7' then v when t100 = 'type 9' then -v else 0 end), sum(case when v < 10 then price else 0 end) from facts;
-- distinct: an integer
select count(distinct g100k) from facts;
-- distinct: a string
select count(distinct s100k) from facts;
-- distinct: by group
select count(*), sum(n) from (select g100, count(distinct g10k) as n from facts group by g100) as q;
-- strings: equal
select count(*), sum(v) from facts where s100 = 'name 42';
-- strings: LIKE with a suffix
select count(*), sum(v) from facts where s100k like '%77';
-- strings: LIKE in the middle
select count(*), sum(v) from facts where s100k like '%s/123%';
-- strings: IN
select count(*), sum(v) from facts where s100 in ('name 1', 'name 22', 'name 33', 'nobody');
-- strings: length by group
select count(*), sum(n) from (select t100, sum(length(s100k)) as n from facts group by t100) as q;
-- filter: two ranges
select count(*), sum(price) from facts where day between date '2016-01-01' and date '2016-12-31' and v < 500;
-- join: ten rows by an integer
select count(*), sum(v) from facts, tens where facts.g100 = tens.id;
-- join: ten rows by a string
select count(*), sum(v) from facts, tens where facts.s100 = tens.name;
-- join: many rows by an integer
select count(*), sum(v), sum(kind) from facts, parents where fkey = parents.id;
-- join: many rows by a string
select count(*), sum(v), sum(kind) from facts, parents where fname = parents.name;
-- join: groups of the other side
select count(*), sum(s) from (select kind, sum(v) as s from facts, parents where fkey = parents.id group by kind) as q;
-- join: 1 % of the rows match
select count(*), sum(v) from facts, few where facts.id = few.id;
-- join: two keys
select count(*), sum(v) from facts, few where facts.id = few.id and facts.g10k = few.g10k;
-- join: left
select count(*), sum(v), count(few.id) from facts left join few on facts.id = few.id;
-- join: semi
select count(*), sum(v) from facts where exists (select 1 from few where few.id = facts.id);
-- join: anti
select count(*), sum(v) from facts where not exists (select 1 from parents where parents.id = facts.g100k and kind = 7);
-- join: a skewed key
select count(*), sum(v), sum(kind) from facts, parents where zipf = parents.id;
-- sort: an integer
select sum(v) from (select v from facts order by id offset {tenth}) as q;
-- sort: two keys
select sum(v) from (select v from facts order by g100, id offset {tenth}) as q;
-- sort: a string and a number
select sum(v) from (select v from facts order by s100k, id offset {tenth}) as q;
-- top: ten rows by a double
select id, v, f from facts order by f desc, id limit 10;
-- top: ten rows by two keys
select id, s100, v from facts order by s100, v desc, id limit 10;
-- rows: all columns of 1 % of the rows
select count(*), sum(v), sum(length(s100) + length(t100) + length(s100k) + length(fname)), sum(price), sum(f), max(day), sum(half), sum(zipf), sum(g10k), sum(g100k), sum(fkey) from facts where g100 = 42;
-- window: rank in 100 partitions
select sum(r) from (select rank() over (partition by g100 order by v) as r from facts) as q;
-- window: running sum
select sum(r) from (select sum(v) over (order by id) as r from facts) as q;
