create table places (id integer, place integer, tag text, constraint places_pkey primary key (id) deferrable);
alter table places add constraint places_place unique (place) deferrable initially deferred;
alter table places add constraint places_tag unique (tag);
insert into places select n, n, 'tag ' || n from generate_series(1, 1000) x(n);
freeze places;
update places set id = id + 1, place = 1001 - place;
create unique index places_both on places (place, tag);
