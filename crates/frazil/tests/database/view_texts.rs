//! The text that a view is shown and dumped with, behind renames of what it reads: a view that is made of it over the
//! tables as they are gives the same rows.

use crate::{memory, rows};
use frazil::Connection;

const TABLES: &str = "create schema s; create table t (a integer, b integer); create table s.t (c integer, a integer); \
     create table k (id integer); insert into t values (1, 2), (3, 4); insert into s.t values (7, 1), (8, 9); \
     insert into k values (1); create view s.below as select a, a + b as ab from public.t";

/// Queries of views.
const QUERIES: [&str; 17] = [
    "select a from public.t",
    "select public.t.a, t.b, x.c from public.t join s.t x using (a)",
    "select public.t.* from PUBLIC . \"t\" where exists (select 1 from s.t where s.t.a = public.t.a)",
    "with q as (select b from t) select q.b, k.id from q, k, public.t p where p.b = q.b",
    "with recursive t as (select a from public.t union select a + 1 from t where a < 5) select * from t",
    "select s.t.*, public.t.b from s.t, public.t, (select max(a) m from t) z where z.m = public.t.a -- the end",
    "with t as (select a from t) select a from t",
    "with q as (select 1 as one), k as (select id from k) select * from q, k, s.t",
    "table s.t",
    "select x.a from only (s.t) x union all select a from only s.t",
    "select s.a from t s join s.t x on true",
    "select a from (values (1)) public (t), public.t",
    "select t.*, k.* from t, k",
    "select ab from s.below, s.t where s.below.a = s.t.a",
    "select count(*) from ((s.t join k on id = t.a) left join public.t as z on z.a = t.a)",
    "select (select max(c) from s.t where t.a = y.a), t_1.a from public.t y, t t_1",
    "select 'public.t' as text, a /* public.t */ from public.t",
];

/// Changes of names.
const RENAMES: [&str; 7] = [
    "alter table public.t rename a to x",
    "alter table public.t rename to tt",
    "alter schema s rename to z",
    "alter table k set schema s; create table k (other text)",
    "alter table s.t rename c to \"C d\"",
    "alter table public.t add d integer default 5",
    "alter view s.below rename to above",
];

fn rename(c: &Connection, choice: usize) {
    // The schema is renamed last, as the others name it.
    for at in [0, 4, 3, 5, 6, 1, 2] {
        if choice & 1 << at != 0 {
            rows(c, RENAMES[at]);
        }
    }
}

#[test]
fn views_made_of_their_texts_read_the_same() {
    let mut restated = 0;
    let of_few = |choice: &usize| choice.count_ones() <= 2 || choice.count_ones() as usize == RENAMES.len();
    for choice in (0..1 << RENAMES.len()).filter(of_few) {
        let (first, second) = (memory(), memory());
        rows(&first, TABLES);
        rows(&second, TABLES);
        for (at, query) in QUERIES.iter().enumerate() {
            rows(&first, &format!("create view v{at} as {query}"));
        }
        let read = |c: &Connection, at: usize| rows(c, &format!("select v::text from v{at} v order by 1"));
        let before: Vec<String> = (0..QUERIES.len()).map(|at| read(&first, at)).collect();
        rename(&first, choice);
        rename(&second, choice);
        for (at, query) in QUERIES.iter().enumerate() {
            let ddl = first.view(&format!("v{at}")).expect("it is there").ddl();
            restated += usize::from(!ddl.contains(query));
            rows(&second, &ddl);
            for c in [&first, &second] {
                assert_eq!(read(c, at), before[at], "{query}\nchoice {choice}\n{ddl}");
            }
        }
    }
    assert!(restated > 200, "{restated} texts were written anew");
}
