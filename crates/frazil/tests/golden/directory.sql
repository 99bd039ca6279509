create table goods (id integer not null, name varchar(40) default 'nameless', price decimal(8,2), made date, new boolean);
create table gone (a integer);
create table empty (a integer, b text);
create table kinds (a smallint, b bigint, c double precision, d char(8), e text, f timestamp, g decimal(38,10));
create table digits (d integer);
insert into digits values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
insert into goods
select n, case when n % 5 <> 0 then 'a good with the number ' || n end, case when n % 4 <> 3 then n / 100.0 end, date '2024-01-01' + n, n % 2 = 1
from (select 1 + a.d + 10 * b.d + 100 * c.d as n from digits a cross join digits b cross join digits c) numbers where n <= 300;
delete from goods where id in (7, 8);
freeze table goods;
delete from goods where id = 9;
insert into goods
select n, case when n % 5 <> 0 then 'a good with the number ' || n end, case when n % 4 <> 3 then n / 100.0 end, date '2024-01-01' + n, n % 2 = 1
from (select 1 + a.d + 10 * b.d + 100 * c.d as n from digits a cross join digits b cross join digits c) numbers where n > 300 and n <= 600;
delete from goods where id = 310;
insert into goods values (601, 'late', -4.99, null, null);
insert into kinds values (-32768, -9223372036854775808, 1.5, 'fixed', 'text "quoted" ü', '2024-02-29 23:59:59.999999', 1234567890123456789012345678.0000000001), (null, null, null, null, null, null, null);
insert into gone values (1);
drop table gone;
