alter table keyed add column d text default 'a default of rows that were there', add column e decimal(30,2) not null default -1.25, add column f double precision;
alter table keyed drop column c;
insert into keyed values (5, 50, 'last', 'own', 7, 0.5);
alter table keyed add column g smallint default 3, add column h boolean default false;
alter table keyed drop column f, drop column g;
