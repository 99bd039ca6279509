create table keyed (k integer primary key, a integer unique, b text default upper('x' || 'y'), c date, constraint a_low check (a < 1000 or b is null));
create index keyed_b on keyed (b desc) include (a);
insert into keyed (k, a) values (1, 10), (2, 20), (3, null);
freeze table keyed;
insert into keyed values (4, 40, 'own', '2024-02-29');
update keyed set a = 21 where k = 2;
