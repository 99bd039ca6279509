create table listed (id integer primary key, small integer[], large bigint[], fine double precision[], truths boolean[], texts text[]);
insert into listed select i, array[i, case when i % 3 <> 0 then i + 1 end], array[i, null], array[i / 2.0], array[true, null, false], array['one', null] from generate_series(1, 400) s(i);
freeze table listed;
insert into listed values (3001, '{}', '[2:3]={1,2}', '{{1,2},{null,4}}', null, '{""}'), (3002, null, null, null, null, null);
