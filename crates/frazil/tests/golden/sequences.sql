create sequence sales.numbers as smallint increment -3 minvalue -100 maxvalue 1 start 1 cache 5 cycle;
select nextval('sales.numbers') from generate_series(1, 4);
create sequence fresh start 5;
create table owned (id serial, k bigint generated always as identity (start 10 increment 10), x text);
insert into owned (x) values ('one'), ('two');
