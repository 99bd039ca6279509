create type mood as enum ('sad', 'ok', 'happy');
create table typed (id integer primary key, m mood default 'ok', list mood[]);
insert into typed select i, case i % 3 when 0 then 'sad' when 1 then 'ok' else 'happy' end::mood, array['happy', 'sad']::mood[] from generate_series(1, 3000) s(i);
freeze table typed;
alter type mood add value 'well' before 'happy';
insert into typed values (3001, 'well', '{well,sad}'), (3002, null, null);
create view moody as select id, m from typed where m > 'ok';
