create table makers (id integer, land varchar(2), name text, primary key (land, id), unique (name));
create table makes (
  id integer primary key,
  maker integer,
  land varchar(2),
  named varchar(20) default 'one' constraint makes_named references makers (name) on update cascade on delete set default,
  part_of integer references makes on delete cascade,
  constraint makes_maker foreign key (land, maker) references makers match full on delete set null (maker, land)
);
insert into makers select n, 'de', case n when 1 then 'one' else 'maker ' || n end from generate_series(1, 1000) x(n);
insert into makes select n, n, 'de', 'one', nullif(n / 2, 0) from generate_series(1, 1000) x(n);
freeze makers;
freeze makes;
create table loose (maker text);
insert into loose values ('nobody'), ('maker 2');
alter table loose add constraint loose_maker foreign key (maker) references makers (name) not valid;
insert into makes values (1001, null, null, null, 1000);
