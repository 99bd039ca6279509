create domain amount as integer default 1;
create table amounts (n integer primary key, of amount not null, note text);
insert into amounts select n, n, 'Note ' || n from generate_series(1, 6) x(n);
alter domain amount add constraint even check (value % 2 = 0) not valid;
alter table amounts add constraint small check (n < 4) not valid;
create unique index amounts_note on amounts (lower(note));
create unique index amounts_large on amounts ((of / 2)) where n > 4;
