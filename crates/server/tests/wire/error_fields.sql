-- The tables of error_fields.txt.
create schema "S x";
create schema other;
create table "S x".p (a integer primary key, b integer not null unique, c integer constraint c_pos check (c >
    0), d text);
create table "S x".k (a integer, p integer constraint to_p references "S x".p, q integer, r integer, foreign
    key (q) references "S x".p (b) deferrable initially deferred);
create table t (a integer primary key, b varchar(3), unique (b, a));
create unique index t_low on t ((lower(b)));
create domain other.d as integer constraint d_pos check (value > 0);
create domain other.nn as text not null;
create domain dd as integer constraint d_pos check (value > 0) constraint small check (value < 100);
create table other.w (v other.d, n other.nn, m dd default 1, g integer generated always as (1) stored);
insert into "S x".p values (1, 1, 1), (2, 2, null);
insert into "S x".k values (1, 1, 1);
insert into t values (1, 'a'), (2, 'b');
create table other.loose (a integer, b integer, c text);
insert into other.loose values (1, null, 'x'), (1, 2, 'y');
create table other.mf2 (a integer, b integer, primary key (a, b));
create table other.mf (a integer, b integer, foreign key (a, b) references other.mf2 (a, b) match full);
