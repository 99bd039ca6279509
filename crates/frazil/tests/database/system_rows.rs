//! Rows of system tables: a query for one relation makes the rows of that relation, however many others there are, and
//! computes `'name'::regclass` once.

use crate::{memory, rows};
use frazil::Connection;

/// Tables beside the one that is asked for.
const OTHERS: usize = 40;

/// A database of tables with keys, indexes, defaults and comments.
fn schema() -> Connection {
    let c = memory();
    rows(&c, "create schema sales");
    for n in 0..OTHERS {
        rows(
            &c,
            &format!(
                "create table t{n} (id bigint primary key, a integer not null default {n}, b text unique, c date);
                 create index on t{n} (c); comment on table t{n} is 'table {n}'"
            ),
        );
    }
    rows(
        &c,
        "create table sales.orders (id bigint primary key, t bigint references t7, note varchar(9) default 'none');
         create index orders_note on sales.orders (note);
         create view sales.notes as select note from sales.orders; comment on column sales.orders.note is 'a note'",
    );
    c
}

/// The rows that all scans of a query looked at.
fn scanned(c: &Connection, query: &str) -> u64 {
    let explained = rows(c, &format!("explain analyze {query}"));
    let scans = explained.lines().filter(|line| line.contains("; scan: "));
    let counts = scans.map(|line| {
        let before = line.split(" rows scanned").next().unwrap_or_default();
        let number = before.rsplit(' ').next().unwrap_or_default();
        number.parse::<u64>().unwrap_or_else(|_| panic!("{explained}"))
    });
    counts.sum()
}

/// A query about one relation, and its answer.
const QUERIES: [(&str, &str); 16] = [
    (
        "select attname, attnum from pg_attribute where attrelid = 'sales.orders'::regclass order by attnum",
        "id|1\nt|2\nnote|3",
    ),
    (
        "select attname from pg_attribute where attrelid = to_regclass('sales.orders') and attnum > 2",
        "note",
    ),
    (
        "select attname from pg_attribute where attrelid = 'sales.orders_note'::regclass::oid",
        "note",
    ),
    (
        "select count(*) from pg_attribute where attrelid in ('t3'::regclass, 't5'::regclass)",
        "8",
    ),
    (
        "select column_name, data_type from information_schema.columns where table_name = 'orders'
         and table_schema = 'sales' order by ordinal_position",
        "id|bigint\nt|bigint\nnote|character varying",
    ),
    (
        "select table_name from information_schema.tables where table_name in ('orders', 'notes') order by 1",
        "notes\norders",
    ),
    (
        "select table_schema from information_schema.views where table_name = 'notes'",
        "sales",
    ),
    (
        "select relname, relkind, relnatts from pg_class where oid = 'sales.orders'::regclass",
        "orders|r|3",
    ),
    (
        "select relname from pg_class where relname = 'orders_note' or relname = 'orders' order by 1",
        "orders\norders_note",
    ),
    (
        "select c.relname from pg_class c left join pg_namespace n on n.oid = c.relnamespace
         where c.relname operator(pg_catalog.~) '^(orders)$' collate pg_catalog.default",
        "orders",
    ),
    (
        "select indexrelid::regclass from pg_index where indrelid = 'sales.orders'::regclass order by 1",
        "sales.orders_pkey\nsales.orders_note",
    ),
    (
        "select indexname from pg_indexes where tablename = 'orders' order by 1",
        "orders_note\norders_pkey",
    ),
    (
        "select conname, contype from pg_constraint where conrelid = 'sales.orders'::regclass order by 1",
        "orders_pkey|p\norders_t_fkey|f",
    ),
    (
        "select conname from pg_constraint where confrelid = 't7'::regclass",
        "orders_t_fkey",
    ),
    (
        "select constraint_name from information_schema.table_constraints where table_name = 'orders'
         and constraint_type <> 'CHECK' order by 1",
        "orders_pkey\norders_t_fkey",
    ),
    (
        "select description from pg_description where objoid = 'sales.orders'::regclass and objsubid = 3",
        "a note",
    ),
];

#[test]
fn a_query_for_one_relation_makes_its_rows_alone() {
    for (query, answer) in QUERIES {
        // No table is kept whole.
        let c = schema();
        assert!(scanned(&c, query) <= 10, "{query}: {} rows", scanned(&c, query));
        assert_eq!(rows(&c, query), answer, "{query}");
        // With all rows at hand the answers are equal.
        for table in [
            "pg_attribute",
            "pg_class",
            "pg_index",
            "pg_constraint",
            "pg_description",
        ] {
            rows(&c, &format!("select count(*) from {table}"));
        }
        assert_eq!(rows(&c, query), answer, "{query}");
    }
}

/// Queries whose keys of joins leave few rows, and their answers.
const JOINED: [(&str, &str); 6] = [
    (
        "select a.attname from pg_attribute a join pg_class c on a.attrelid = c.oid
         where c.relname = 'orders' order by a.attnum",
        "id\nt\nnote",
    ),
    (
        "select a.attname, d.adbin from pg_class c join pg_attribute a on a.attrelid = c.oid
         left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
         where c.oid = 'sales.orders'::regclass and a.attnum > 1 order by a.attnum",
        "t|\nnote|'none'::character varying",
    ),
    (
        "select count(*) from pg_attribute a where exists
         (select 1 from pg_index i where i.indexrelid = a.attrelid and i.indrelid = 'sales.orders'::regclass)",
        "2",
    ),
    (
        "select c.relname from pg_class c join pg_index i on i.indexrelid = c.oid
         where i.indrelid = 'sales.orders'::regclass order by 1",
        "orders_note\norders_pkey",
    ),
    (
        "select k.column_name from information_schema.table_constraints c
         join information_schema.key_column_usage k on k.constraint_name = c.constraint_name
         where c.table_name = 'orders' and c.constraint_type = 'PRIMARY KEY'",
        "id",
    ),
    (
        "select count(*) from pg_class c where c.relname in ('orders', 't1') and not exists
         (select 1 from pg_constraint k where k.conrelid = c.oid and k.contype = 'f')",
        "1",
    ),
];

#[test]
fn keys_of_joins_tell_which_rows_are_made() {
    for (query, answer) in JOINED {
        let c = schema();
        assert!(scanned(&c, query) <= 20, "{query}: {} rows", scanned(&c, query));
        assert_eq!(rows(&c, query), answer, "{query}");
    }
    // Outer joins and counts keep the rows without a partner.
    let c = schema();
    let whole = "select count(*) > 40, count(i.indrelid) from pg_class c left join
                 (select * from pg_index where indrelid = 'sales.orders'::regclass) i on i.indexrelid = c.oid";
    assert_eq!(rows(&c, whole), "t|2");
    // The least attrelid is that of another table: a restriction of the subquery's rows would make it that of orders.
    rows(
        &c,
        "create table least (n integer); insert into least values (1), (2)",
    );
    let first = "select count(*) from least, lateral (select a.attrelid from pg_attribute a where a.attnum >= n
                 order by a.attrelid limit 1) x join pg_class c on c.oid = x.attrelid where c.relname = 'orders'";
    assert_eq!(rows(&c, first), "0");
    let counted = "select n > 100 from (select attrelid, count(*) over () as n from pg_attribute) a
                   join pg_class c on a.attrelid = c.oid where c.relname = 'orders' limit 1";
    assert_eq!(rows(&c, counted), "t");
}

#[test]
fn parameters_tell_which_rows_are_made() {
    let c = schema();
    rows(
        &c,
        "prepare columns (text) as select attname from pg_attribute where attrelid = $1::regclass order by attnum",
    );
    assert_eq!(rows(&c, "execute columns ('sales.orders')"), "id\nt\nnote");
    assert_eq!(rows(&c, "execute columns ('t3')"), "id\na\nb\nc");
    assert!(scanned(&c, "execute columns ('t3')") <= 10);
    rows(&c, "alter table t3 drop column b");
    assert_eq!(
        rows(&c, "execute columns ('t3')"),
        "id\na\n........pg.dropped.3........\nc"
    );
}

#[test]
fn a_statement_that_reads_a_table_twice_has_the_rows_of_both() {
    let c = schema();
    let twice = "select a.attname, b.attname from pg_attribute a, pg_attribute b
                 where a.attrelid = 't1'::regclass and b.attrelid = 'sales.orders'::regclass
                 and a.attnum = 3 and b.attnum = 3";
    assert_eq!(rows(&c, twice), "b|note");
    let nested = "select relname, (select count(*) from pg_attribute where attrelid = c.oid)
                  from pg_class c where relname = 'orders'";
    assert_eq!(rows(&c, nested), "orders|3");
    let united = "select count(*) from (select 1 from pg_class where relname = 't1'
                  union all select 1 from pg_class where relkind = 'v' and relname = 'notes') as u";
    assert_eq!(rows(&c, united), "2");
    // Each query of the statement has a plan of its own.
    rows(&c, "create table found (name text)");
    let outer = "select count(*), count(k.conname) from pg_class c left join pg_constraint k
                 on k.conrelid = c.oid and k.contype = 'f' where c.relname in ('orders', 't1')";
    assert_eq!(rows(&c, outer), "2|1");
    let written = "with one as (insert into found select relname from pg_class where relname = 't1' returning name)
                   select name, (select count(*) from pg_class where relname in ('t2', 't3', 'notes')) from one";
    assert_eq!(rows(&c, written), "t1|3");
    let whole = "select (select count(*) from pg_class where relname = 't1'), count(*) > 40 from pg_class";
    assert_eq!(rows(&c, whole), "1|t");
}

#[test]
fn calls_of_what_is_known_keep_their_errors() {
    let c = schema();
    let missing = c.execute("select attname from pg_attribute where attrelid = 'nothing'::regclass");
    assert_eq!(missing.expect_err("there is none").state().0, "42P01");
    // No row needs the value.
    let unneeded = "select count(*) from pg_class where relname = 'orders'
                    and case when relkind = 'x' then oid = 'nothing'::text::regclass else true end";
    assert_eq!(rows(&c, unneeded), "1");
    assert_eq!(
        rows(
            &c,
            "select count(*) from pg_class where oid = to_regclass('nothing')"
        ),
        "0"
    );
}
