//! Clients that were not written for Frazil. One that is not installed is skipped, and says so.

use crate::client::Served;
use std::process::{Command, Output};

/// Runs a program against a server; `None` if it is not installed.
pub fn run(program: &str, arguments: &[&str], served: &Served, user: &str, password: &str) -> Option<Output> {
    let mut command = Command::new(program);
    command.args(arguments);
    for (name, value) in [
        ("PGHOST", "127.0.0.1"),
        ("PGPORT", &served.address.port().to_string()),
        ("PGUSER", user),
        ("PGDATABASE", "shop"),
        ("PGPASSWORD", password),
        ("PGCONNECT_TIMEOUT", "60"),
    ] {
        command.env(name, value);
    }
    match command.output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: {program} is not installed");
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn psql_runs_a_script() {
    let served = Served::with_password("se cret");
    let script = "create table t (a integer primary key, b text);\n\
                  insert into t values (1, 'one'), (2, null);\n\
                  copy t from stdin;\n3\tthree\n\\.\n\
                  begin;\nupdate t set b = 'x' where a = 1;\nrollback;\n\
                  select * from t order by a;\n\
                  \\echo :ROW_COUNT\n\
                  copy (select a from t order by a) to stdout;\n\
                  select 1/0;\n\
                  \\echo :SQLSTATE\n\
                  \\set FETCH_COUNT 2\n\
                  select generate_series(1, 5);\n";
    let folder = std::env::temp_dir().join(format!("frazil-psql-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("script.sql");
    std::fs::write(&file, script).unwrap();
    let arguments = ["-X", "-q", "-A", "-t", "-f", file.to_str().unwrap()];
    let output = run("psql", &arguments, &served, "app", "se cret");
    let refused = run("psql", &["-X", "-c", "select 1"], &served, "app", "wrong");
    std::fs::remove_dir_all(&folder).unwrap();
    let (Some(output), Some(refused)) = (output, refused) else {
        return;
    };
    assert_eq!(
        text(&output.stdout),
        "1|one\n2|\n3|three\n3\n1\n2\n3\n22012\n1\n2\n3\n4\n5\n",
        "{}",
        text(&output.stderr)
    );
    assert!(text(&output.stderr).contains("division by zero"));
    assert!(text(&refused.stderr).contains("password authentication failed for user \"app\""));
}

#[test]
fn psycopg_runs_in_text_and_binary() {
    let has = Command::new("python3").args(["-c", "import psycopg"]).output();
    if !has.is_ok_and(|has| has.status.success()) {
        eprintln!("skipped: psycopg 3 is not installed");
        return;
    }
    let served = Served::trusting();
    let script = include_str!("psycopg_script.py");
    let Some(output) = run("python3", &["-c", script], &served, "me", "") else {
        return;
    };
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn the_database_has_the_name_by_which_it_is_served() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[crate::client::query("create table t (a integer)")]);
    for text in [
        "select current_database()",
        "select current_catalog",
        "select datname from pg_database",
        "select table_catalog from information_schema.tables where table_name = 't'",
        "select datname from pg_stat_database where datname is not null",
        "select datname from pg_stat_activity where pid = pg_backend_pid()",
    ] {
        let answer = client.ask(&[crate::client::query(text)]);
        assert_eq!(answer, "T D[shop] C[SELECT 1] ZI", "{text}");
    }
    let mut run = |text: &str| client.ask(&[crate::client::query(text)]);
    assert_eq!(run("select count(*) from shop.public.t"), "T D[0] C[SELECT 1] ZI");
    assert_eq!(run("select 'shop.public.t'::regclass"), "T D[t] C[SELECT 1] ZI");
    assert_eq!(run("select count(*) from frazil.public.t"), "E[0A000] ZI");
    assert_eq!(run("grant connect on database shop to public"), "C[GRANT] ZI");
    assert_eq!(run("comment on database shop is 'x'"), "C[COMMENT] ZI");
    assert_eq!(
        run("select pg_database_size('shop') >= 0"),
        "T D[t] C[SELECT 1] ZI"
    );
}

#[test]
fn pg_dump_reads_a_schema() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[crate::client::query(
        "create table parents (id serial primary key, gone text, name varchar(20) not null); \
         alter table parents drop column gone; \
         create table children (parent integer references parents on delete cascade, tags text[]); \
         create index on children (parent); insert into parents (name) values ('Ada'), ('it''s')",
    )]);
    let Some(output) = run("pg_dump", &["--no-owner"], &served, "me", "") else {
        return;
    };
    let dumped = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for part in [
        "CREATE TABLE public.parents (\n    id integer NOT NULL,\n    name character varying(20) NOT NULL\n);",
        "CREATE SEQUENCE public.parents_id_seq",
        "ALTER COLUMN id SET DEFAULT nextval('public.parents_id_seq'::regclass);",
        "COPY public.parents (id, name) FROM stdin;\n1\tAda\n2\tit's\n\\.",
        "SELECT pg_catalog.setval('public.parents_id_seq', 2, true);",
        "FOREIGN KEY (parent) REFERENCES public.parents(id) ON DELETE CASCADE;",
        "CREATE INDEX children_parent_idx ON public.children USING btree (parent);",
    ] {
        assert!(dumped.contains(part), "{part}:\n{dumped}");
    }
}
