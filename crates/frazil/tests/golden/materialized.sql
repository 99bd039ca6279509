create table amounts (n integer primary key, of integer not null, note text);
insert into amounts select n, n, 'note ' || n from generate_series(1, 6) x(n);
create materialized view sums as select n % 3 as part, sum(of) as total from amounts group by 1;
create unique index sums_part on sums (part);
create materialized view later as select n, note from amounts with no data;
