//! Commands of the shell, in scripts.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A directory of a test, removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("frazil-commands-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("it is made");
        Directory(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("it is written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("it is there")
    }

    /// Runs a script in this directory.
    fn run(&self, script: &str, options: &[&str]) -> Output {
        self.write("script.sql", script);
        Command::new(env!("CARGO_BIN_EXE_frazil"))
            .args(["-f", "script.sql"])
            .args(options)
            .env("HOME", &self.0)
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .output()
            .expect("the program starts")
    }

    /// What a script writes, which must not fail.
    fn out(&self, script: &str, options: &[&str]) -> String {
        let output = self.run(script, options);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("it is text")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn results_go_to_files_and_programs() {
    let directory = Directory::new("output");
    let script = "select 1 as a \\g one.csv\nselect 2 as a \\g |tr 2 3\n\\o two.csv\nselect 4 as a;\n\\o\n\
                  .once three.csv\nselect 5 as a;\nselect 6 as a;\n\\p\n";
    assert_eq!(directory.out(script, &["-csv"]), "a\n3\na\n6\nselect 6 as a;\n");
    assert_eq!(directory.read("one.csv"), "a\n1\n");
    assert_eq!(directory.read("two.csv"), "a\n4\n");
    assert_eq!(directory.read("three.csv"), "a\n5\n");
}

/// What is expected here is what psql writes, save of the last.
#[test]
fn values_become_columns() {
    let directory = Directory::new("crosstab");
    let rows = "select * from (values ('north','q1',10,1), ('south','q2',null,2), ('north','q2',7,2), (null,'q1',3,1), \
                ('north',null,4,0)) v(region, quarter, sales, rank)";
    let script = format!(
        "{rows} \\crosstabview region quarter sales\n{rows} \\crosstabview 1 2 3 rank\n\
         select * from (values (0,1,'v1'), (1,0,'v2'), (1,1,'v3')) v(half, odd, name);\n\\t\n\\crosstabview 2 1\n"
    );
    let expected = " region | q1 | q2 |   \n--------+----+----+---\n north  | 10 |  7 | 4\n south  |    |    |  \n\
                    \x20       |  3 |    |  \n(3 rows)\n region |   | q1 | q2 \n--------+---+----+----\n north  | 4 | 10 |  7\n\
                    \x20south  |   |    |   \n        |   |  3 |   \n(3 rows)\n half | odd | name \n------+-----+------\n\
                    \x20   0 |   1 | v1\n    1 |   0 | v2\n    1 |   1 | v3\n(3 rows)\n   1 | v1 | v3\n   0 |    | v2\n";
    assert_eq!(directory.out(&script, &["-aligned"]), expected);
    let lines = directory.out(&format!("{rows} \\crosstabview 1 2 3\n"), &["-jsonlines"]);
    assert!(
        lines.starts_with("{\"region\":\"north\",\"q1\":10,\"q2\":7,"),
        "{lines}"
    );
    let columns = "select a, a + 1 as b, 0 as c from generate_series(1, 1601) s(a) \\crosstabview\n";
    for (script, wanted) in [
        (
            "select * from (values (1,2,3), (1,2,4)) v(a, b, c) \\crosstabview\n",
            "several values for row \"1\" and column \"2\"",
        ),
        (columns, "\"b\" has more than 1600 values"),
        (
            "select 1 as a, 2 as b, 3 as c \\crosstabview 1 2 3 3 3\n",
            "at most four columns",
        ),
        ("\\crosstabview\n", "there is no statement for \\crosstabview"),
    ] {
        let failed = directory.run(script, &[]);
        let told = String::from_utf8_lossy(&failed.stderr);
        assert!(failed.status.code() == Some(1) && told.contains(wanted), "{told}");
    }
}

#[test]
fn variables_stand_in_statements_and_arguments() {
    let directory = Directory::new("variables");
    let script = "\\set n 'it''s'\nselect :'n' as text, :number as n;\nselect 7 as x, null as y \\gset got_\n\
                  \\echo :got_x :got_y\nselect 1 as a, 2 as b\n\\gx\n\\unset n\n\\echo :n\n\\echo :ROW_COUNT :ERROR\n";
    assert_eq!(
        directory.out(script, &["-aligned", "-t", "-v", "number=42"]),
        " it's | 42\n7 :got_y\n-[ RECORD 1 ]\na | 1\nb | 2\n:n\n1 false\n"
    );
    let failed = directory.run("select 1 where false \\gset\n", &[]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&failed.stderr)
            .contains("\\gset takes a statement that gives one row, not 0")
    );
}

#[test]
fn dumps_make_the_database_anew() {
    let directory = Directory::new("dump");
    let script = "create table \"T x\" (i integer not null, d decimal(10,2) default 1.5, f double precision, b boolean, \
                  t text, c char(3), day date, at timestamp);\n\
                  insert into \"T x\" values (1, 2.50, 'NaN', true, e'it''s\\nnew', 'ab', '2024-02-29', '2024-02-29 12:30:00.5'), \
                  (2, null, '-0', false, '', null, '0044-03-15 BC', null);\n\
                  create view v as select i from \"T x\";\n.dump\n";
    let dump = directory.out(script, &["-q"]);
    let block = "copy \"T x\" (i, d, f, b, t, c, day, at) from stdin;\n\
                 1\t2.50\tNaN\tt\tit's\\nnew\tab\t2024-02-29\t2024-02-29 12:30:00.5\n\
                 2\t\\N\t-0\tf\t\t\\N\t0044-03-15 BC\t\\N\n\\.\n";
    assert!(dump.contains(block), "{dump}");
    let again = directory.out(&format!("{dump}\n.dump\n"), &["-q"]);
    assert_eq!(dump, again);
    // By statements, which make the same database.
    let statements = directory.out(&format!("{dump}\n.dump --inserts\n"), &["-q"]);
    let row = "INSERT INTO \"T x\" VALUES(1,2.50,'NaN',true,'it''s\nnew','ab','2024-02-29','2024-02-29 12:30:00.5');";
    assert!(statements.contains(row), "{statements}");
    assert_eq!(directory.out(&format!("{statements}\n.dump\n"), &["-q"]), dump);
    let missing = directory.run(".dump nothing\n", &[]);
    assert!(String::from_utf8_lossy(&missing.stderr).starts_with("ERROR 42P01"));
}

#[test]
fn dumps_make_schemas_anew() {
    let directory = Directory::new("dump-schemas");
    let script = "create schema \"S 1\"; create schema r; create type r.m as enum ('a', 'b');\n\
                  create table t (i integer); insert into t values (1);\n\
                  create table \"S 1\".t (k r.m default 'a'::r.m check (k <> 'b'::r.m));\n\
                  insert into \"S 1\".t values ('a');\n\
                  set search_path = \"S 1\", r;\n\
                  create view v as select k, 'b'::m as l from t;\nset search_path to default;\n.dump\n";
    let dump = directory.out(script, &["-q"]);
    assert!(dump.contains("create schema \"S 1\";"), "{dump}");
    let again = directory.out(
        &format!("{dump}\n.dump\nselect * from \"S 1\".v;\n"),
        &["-q", "-csv"],
    );
    assert_eq!(format!("{dump}k,l\na,b\n"), again);
    let missing = directory.run(&format!("{dump}\n.dump r.t\n"), &["-q"]);
    assert!(String::from_utf8_lossy(&missing.stderr).starts_with("ERROR 42P01"));
}

#[test]
fn a_description_names_parents_as_the_search_path_finds_them() {
    let directory = Directory::new("described-parents");
    let script = "create schema s; create table t (a integer primary key); create table s.w (a integer primary key);\n\
                  create table s.u (a integer references t); create table v (a integer references s.w);\n";
    let described = |path: &str| {
        let script = format!("{script}set search_path = {path};\n\\d s.u\n\\d public.v\n");
        let shown = directory.out(&script, &["-q"]);
        let parents = shown.lines().filter_map(|line| line.split_once("REFERENCES "));
        parents.map(|(_, parent)| parent.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(described("public"), ["t(a)", "s.w(a)"]);
    assert_eq!(described("s"), ["public.t(a)", "w(a)"]);
    assert_eq!(described("s, public"), ["t(a)", "w(a)"]);
}

#[test]
fn files_are_loaded_and_run() {
    let directory = Directory::new("files");
    directory.write("rows.csv", "a,b\n1,one\n2,\"t;wo\"\n");
    directory.write("rows.tsv", "3\tthree\n");
    directory.write("inner.sql", "select count(*) as n from t;\n");
    let script = "create table t (a integer, b text);\n\\copy t from 'rows.csv' (header)\n.import --skip 1 --csv rows.csv t\n\
                  .mode tabs\n.import rows.tsv t\n\\i inner.sql\n.headers off\nselect * from t where a > 1 order by a;\n";
    assert_eq!(
        directory.out(script, &["-csv"]),
        "n\n5\n2\tt;wo\n2\tt;wo\n3\tthree\n"
    );
}

#[test]
fn an_import_that_fails_shows_no_statement_that_nobody_typed() {
    let directory = Directory::new("failing-import");
    let output = directory.run(".import nothing.csv t\n", &[]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.starts_with("ERROR 58P01: could not read file \"nothing.csv\""),
        "{told}"
    );
    assert!(!told.contains("LINE 1"), "{told}");
}

/// What `pg_dump` of PostgreSQL 15 writes of a table, with its settings, keys, an index and a view.
const PG_DUMP: &str = r#"\restrict Hc9I88TwKeg0vfm4

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.items (
    id integer NOT NULL,
    name text,
    price numeric(8,2) DEFAULT 1.5 NOT NULL,
    tags text[]
);
CREATE VIEW public.cheap AS
 SELECT items.id
   FROM public.items
  WHERE (items.price < (3)::numeric);
COPY public.items (id, name, price, tags) FROM stdin;
1	a\tb\\c	2.50	{x,"y z"}
2	\N	3.00	\N
\.
ALTER TABLE ONLY public.items
    ADD CONSTRAINT items_pkey PRIMARY KEY (id);
CREATE INDEX items_name_idx ON public.items USING btree (name);
REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT SELECT,INSERT ON TABLE public.items TO PUBLIC;

\unrestrict Hc9I88TwKeg0vfm4
"#;

#[test]
fn no_command_runs_in_the_restricted_part_of_a_script() {
    let directory = Directory::new("restricted");
    for (script, wanted) in [
        (
            "\\restrict a\n\\! echo no\n",
            "\\! is not allowed between \\restrict and \\unrestrict",
        ),
        ("\\restrict a\n.shell echo no\n", ".shell is not allowed between"),
        (
            "\\restrict a\n\\restrict b\n",
            "\\restrict is not allowed between",
        ),
        ("\\restrict a\n\\unrestrict b\n", "\\unrestrict: wrong key"),
        ("\\unrestrict a\n", "\\unrestrict stands without its \\restrict"),
        ("\\restrict\n", "\\restrict takes a key"),
    ] {
        let output = directory.run(script, &[]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(wanted), "{script}: {told}");
        assert_eq!(output.status.code(), Some(1), "{script}");
        assert!(
            !String::from_utf8_lossy(&output.stdout).contains("no"),
            "{script}"
        );
    }
    let output = directory.run("\\restrict a\nselect 1;\n\\unrestrict a\n\\echo done\n", &[]);
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("done\n"));
}

#[test]
fn what_pg_dump_writes_is_loaded() {
    let directory = Directory::new("pg_dump");
    directory.write("dump.sql", PG_DUMP);
    let script =
        "\\i dump.sql\nselect * from items order by id;\nselect * from cheap;\ncopy items to stdout;\n";
    let shown = directory.run(script, &["-q", "-csv"]);
    assert_eq!(String::from_utf8_lossy(&shown.stderr), "");
    assert_eq!(
        String::from_utf8_lossy(&shown.stdout),
        "id,name,price,tags\n1,a\tb\\c,2.50,\"{x,\"\"y z\"\"}\"\n2,,3.00,\nid\n1\n1\ta\\tb\\\\c\t2.50\t{x,\"y z\"}\n2\t\\N\t3.00\t\\N\n"
    );
}

#[test]
fn copy_reads_the_rows_behind_it_and_writes_where_results_go() {
    let directory = Directory::new("copy");
    let script = "create table t (a integer, b text);\ncopy t from stdin (format csv, null 'nil'); select count(*) as n from t;\n1,one\n\
                  2,nil\n3,\"a;\"\"b\"\n\\.\ncopy (select * from t order by a) to stdout (format csv, header, delimiter '|');\n\
                  copy t to 'all.jsonl';\ncopy t to 'all.csv.gz';\ncopy t from 'all.csv.gz';\n\\copy t from stdin csv\n7,x\n\\.\n\
                  select count(*) as n from t;\n";
    let expected = "CREATE TABLE\nCOPY 3\n n \n---\n 3\n(1 row)\na|b\n1|one\n2|\n3|\"a;\"\"b\"\nCOPY 3\nCOPY 3\nCOPY 3\n\
                    COPY 1\n n \n---\n 7\n(1 row)\n";
    assert_eq!(directory.out(script, &["-aligned"]), expected);
    let lines = "{\"a\":1,\"b\":\"one\"}\n{\"a\":2,\"b\":null}\n{\"a\":3,\"b\":\"a;\\\"b\"}\n";
    assert_eq!(directory.read("all.jsonl"), lines);
    directory.write("rows.csv", "5\tf\\\\i\\tve\n\\N\t\\N\n");
    let piped = Command::new(env!("CARGO_BIN_EXE_frazil"))
        .args([
            "-X",
            "-c",
            "create table t (a integer, b text); copy t from stdin; copy t to stdout",
        ])
        .stdin(std::fs::File::open(directory.0.join("rows.csv")).expect("it is there"))
        .output()
        .expect("the program starts");
    assert_eq!(
        String::from_utf8_lossy(&piped.stdout),
        "CREATE TABLE\nCOPY 2\n5\tf\\\\i\\tve\n\\N\t\\N\n"
    );
    let failed = directory.run(
        "create table t (a integer);\ncopy t from stdin;\n1\nx\n\\.\n",
        &["-q"],
    );
    assert!(String::from_utf8_lossy(&failed.stderr).contains("file \"stdin\", line 2, column 1 (\"a\")"));
    let skipped = directory.run(
        "create table t (a integer);\n\\copy t from stdin (on_error ignore, rejects_table bad)\n1\nx\n\\.\n\
         select line, \"text\" from bad;\n",
        &["-q", "-csv"],
    );
    assert_eq!(
        String::from_utf8_lossy(&skipped.stderr),
        "NOTICE: 1 row was skipped because it could not be read\n"
    );
    assert_eq!(String::from_utf8_lossy(&skipped.stdout), "line,text\n2,x\n");
    let heard = directory.run("listen a;\nnotify a, 'x';\n", &["-q"]);
    let shown = String::from_utf8_lossy(&heard.stderr);
    assert!(
        shown.starts_with("Notification \"a\" with payload \"x\" from session "),
        "{shown}"
    );
    let broken = directory.run(
        "copy (select 1 / x from (values (1), (0)) v(x)) to 'broken.csv';\n",
        &[],
    );
    assert_eq!(broken.status.code(), Some(1));
    let left: Vec<String> = (std::fs::read_dir(&directory.0).expect("it is there").flatten())
        .map(|entry| entry.file_name().display().to_string())
        .filter(|name| name.contains("broken"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn scripts_stop_at_errors_or_go_on() {
    let directory = Directory::new("bail");
    let script = "select 1 as a;\nselect nothing;\n\\nonsense\nselect 2 as a;\n";
    let stopped = directory.run(script, &["-csv", "-bail"]);
    assert_eq!(
        (stopped.status.code(), &stopped.stdout[..]),
        (Some(1), &b"a\n1\n"[..])
    );
    let went_on = directory.run(script, &["-csv", "--no-bail"]);
    assert_eq!(
        (went_on.status.code(), &went_on.stdout[..]),
        (Some(1), &b"a\n1\na\n2\n"[..])
    );
    let told = String::from_utf8_lossy(&went_on.stderr);
    assert!(
        told.contains("ERROR 42703") && told.contains("unknown command \\nonsense"),
        "{told}"
    );
    let set = directory.run(&format!("\\set ON_ERROR_STOP off\n{script}\\q\n"), &["-csv"]);
    assert_eq!(
        (set.status.code(), &set.stdout[..]),
        (Some(1), &b"a\n1\na\n2\n"[..])
    );
}

#[test]
fn the_start_file_is_run_unless_it_is_not_wanted() {
    let directory = Directory::new("rc");
    directory.write(".frazilrc", ".mode csv\ncreate table t (a integer);\n\\set x 5\n");
    directory.write("other.rc", "\\set x 6\n");
    let script = "select :x as x;\n";
    assert_eq!(directory.out(script, &[]), "x\n5\n");
    assert_eq!(directory.out(script, &["-init", "other.rc", "-csv"]), "x\n6\n");
    assert_eq!(directory.run(script, &["-X"]).status.code(), Some(1));
}

#[test]
fn widths_and_null_are_as_people_say() {
    let directory = Directory::new("looks");
    let rows = "select 1 as a, 'some words' as b, null as c;\n";
    let script = format!(
        ".mode column\n.width 3 -6\n.nullvalue none\n{rows}.width\n\\pset format aligned\n{rows}\\t\n{rows}\\a\n{rows}"
    );
    let expected = "a         b  c   \n---  ------  ----\n1    some w  none\n       ords      \n\
                    \x20a |     b      |  c   \n---+------------+------\n 1 | some words | none\n(1 row)\n\
                    \x201 | some words | none\n1|some words|none\n";
    assert_eq!(directory.out(&script, &[]), expected);
    let failed = directory.run(".mode nothing\n", &[]);
    assert!(
        String::from_utf8_lossy(&failed.stderr)
            .contains("there is no mode nothing; there are aligned, box, column, csv")
    );
}

#[test]
fn rows_and_memory_are_told_apart_from_results() {
    let directory = Directory::new("stats");
    let script = "create table t (a integer);\n.stats on\ninsert into t values (1), (2), (3);\nselect a from t where a > 1;\n\
                  .stats off\nselect 4 as a;\n";
    let output = directory.run(script, &["-csv"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a\n2\n3\na\n4\n");
    let told = String::from_utf8_lossy(&output.stderr);
    let rows: Vec<&str> = told.lines().filter(|line| line.starts_with("Rows")).collect();
    assert_eq!(rows, ["Rows: 3", "Rows: 2"]);
    let memory = told
        .lines()
        .filter_map(|line| line.strip_prefix("Most memory so far: "));
    assert_eq!(memory.filter(|size| size.ends_with(" KiB")).count(), 2, "{told}");
}

#[test]
fn people_are_told_what_there_is() {
    let directory = Directory::new("lists");
    let script =
        "\\df lef*\n\\dn\n\\l\n\\help mode\n\\conninfo\n\\! echo from a program\n\\timing on \\echo two\n";
    let mode = format!(
        "{:<40}form of results; TABLE is what INSERT statements name",
        ".mode [MODE [TABLE]]"
    );
    let expected = format!(
        "Name,Call,Type,Description\nleft,\"left(text, integer) → text\",function,the first n characters; negative: all \
         but the last\nName\npublic\nDirectory,Tables,Views\nin memory,0,0\n{mode}\nThe database is in memory.\n\
         from a program\ntwo\n"
    );
    assert_eq!(directory.out(script, &["-csv"]), expected);
}

#[test]
fn a_file_is_a_table_of_a_database_in_memory() {
    let directory = Directory::new("opened");
    directory.write("Orders.csv", "id,what\n1,bolt\n2,\"nut, M4\"\n");
    directory.write("1 more.jsonl", "{\"a\":1,\"b\":{\"c\":[2]}}\n");
    let out = |script: &str, file: &str| directory.out(script, &["-csv", file]);
    assert_eq!(
        out(
            "select * from orders;\ncopy orders to 'o.parquet';\n",
            "Orders.csv"
        ),
        "id,what\n1,bolt\n2,\"nut, M4\"\n"
    );
    assert_eq!(
        out("select id from o where what like 'nut%';\n", "o.parquet"),
        "id\n2\n"
    );
    assert_eq!(
        out("select b from \"1 more\";\n", "1 more.jsonl"),
        "b\n\"{\"\"c\"\": [2]}\"\n"
    );
    // Nothing is made of a name that was mistyped, and what is wrong with a file is told.
    for (file, said) in [
        ("order.csv", "58P01: could not read file \"order.csv\""),
        ("order.json.gz", "58P01: could not read file \"order.json.gz\""),
        ("bad.csv", "22P04: file \"bad.csv\" is empty"),
    ] {
        directory.write("bad.csv", "");
        let output = directory.run("select 1;\n", &[file]);
        assert_eq!(output.status.code(), Some(3), "{file}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(said), "{told}");
    }
    assert!(!directory.0.join("order.csv").exists());
}

#[test]
fn tables_and_views_are_shown_in_full() {
    let directory = Directory::new("in_full");
    let script = "create table t (a integer primary key, b varchar(9) default 'x', c decimal(8,2) check (c > 0),\n\
                  unique (a, b) deferrable initially deferred);\n\
                  insert into t select i, 'z', 1.50 from generate_series(1, 70000) s(i);\n\
                  create view v as select a, b from t;\nfreeze table t;\n\\d+ t\n\\d+ v\n\\dp t\n\\z v\n\\ds\n\\dT *char*\n\\dT int8\n\
                  create type size as enum ('s', 'l');\n\\dT s*e\n";
    let expected = "Table \"public.t\"\nColumn,Type,Nullable,Default,Encoding,Bytes,Raw bytes\n\
        a,integer,not null,\"\",frames of reference,#,#\n\
        b,varchar(9),\"\",'x',constant,#,#\n\
        c,\"decimal(8,2)\",\"\",\"\",constant,#,#\n\
        Indexes:\n    \"t_pkey\" PRIMARY KEY, btree (a)\n    \
        \"t_a_b_key\" UNIQUE CONSTRAINT, btree (a, b) DEFERRABLE INITIALLY DEFERRED\n\
        Check constraints:\n    \"t_c_check\" CHECK (c > 0)\n\
        View \"public.v\"\nColumn,Type\na,integer\nb,varchar(9)\nView definition:\n select a, b from t\n\
        Schema,Name,Type,Access privileges\npublic,t,table,\nSchema,Name,Type,Access privileges\npublic,v,view,\n\
        Schema,Name,Type,Owned by\n\
        Schema,Name,Other names,In columns,Elements\n\
        pg_catalog,character,\"char, bpchar\",yes,\"\"\n\
        pg_catalog,character varying,\"varchar, char varying\",yes,\"\"\n\
        pg_catalog,\"\"\"char\"\"\",\"\",yes,\"\"\n\
        Schema,Name,Other names,In columns,Elements\npg_catalog,bigint,int8,yes,\"\"\n\
        Schema,Name,Other names,In columns,Elements\npublic,size,\"\",yes,\"s, l\"\n";
    let out = directory.out(script, &["-csv", "-q"]);
    let shown = out.split_once("Table \"").map_or("", |(_, shown)| shown);
    // Numbers of bytes are the encodings' affair.
    let lines = format!("Table \"{shown}");
    let lines: Vec<String> = (lines.lines())
        .map(|line| match line.rsplitn(3, ',').collect::<Vec<_>>()[..] {
            [raw, bytes, before] if [raw, bytes].iter().all(|n| n.parse::<u64>().is_ok_and(|n| n > 0)) => {
                format!("{before},#,#")
            }
            _ => line.to_owned(),
        })
        .collect();
    assert_eq!(lines.join("\n") + "\n", expected);
    let all = directory.out("\\d+\n\\dt+ t\n", &["-csv", "-q"]);
    assert_eq!(all, "Schema,Name,Type,Rows,Bytes\nSchema,Name,Type,Rows,Bytes\n");
    let help = directory.out("\\?\n", &[]);
    for command in [
        "\\d+ [NAME]",
        "\\dT [PATTERN]",
        "\\ds [PATTERN]",
        "\\dp \\z [PATTERN]",
        "\\dt+ [PATTERN]",
    ] {
        assert!(help.contains(command), "{command}\n{help}");
    }
}

#[test]
fn a_copy_that_is_ended_leaves_nothing() {
    let directory = Directory::new("ended");
    let query = "select g, repeat('x', 100) from generate_series(1, 1000000000) g";
    for (name, number) in [("TERM", 143), ("HUP", 129), ("INT", 1)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_frazil"))
            .args(["-X", "-c", &format!("copy ({query}) to 'x.csv'")])
            .current_dir(&directory.0)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let left = || std::fs::read_dir(&directory.0).expect("it is listed").count();
        let begun = std::time::Instant::now();
        while left() == 0 {
            assert!(begun.elapsed().as_secs() < 60, "it begins to write");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let killed = Command::new("kill")
            .args([&format!("-{name}"), &child.id().to_string()])
            .status();
        assert!(killed.expect("kill starts").success());
        assert_eq!(child.wait().expect("it ends").code(), Some(number), "{name}");
        assert_eq!(left(), 0, "{name}");
    }
}
