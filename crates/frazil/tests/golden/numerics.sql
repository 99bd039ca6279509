create domain share as numeric check (value <= 1);
create table numerics (id integer not null, n numeric, list numeric[], kept numeric default 1.50);
insert into numerics (id, n, list) select i, case when i % 4 <> 0 then i * 0.50 end, array[case when i % 4 <> 0 then i * 0.50 end, null] from generate_series(1, 2999) g (i);
freeze table numerics;
create index numerics_n on numerics (n);
insert into numerics values (3001, 1.0, '{}', 2.500), (3002, '1e-5', null, 7);
update numerics set n = -n where id = 3002;
update numerics set n = 0.5 where id = 1;
