comment on database frazil is 'all of it';
comment on table goods is 'it''s for sale';
comment on column goods.name is 'größte';
comment on view dear is 'gone';
comment on view dear is null;
create table replayed (a integer);
comment on table replayed is 'from the log';
