//! `frazil verify`, `frazil dump`, `--readonly`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A directory of a test, removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("frazil-care-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("it is made");
        Directory(path)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frazil"));
        command.args(arguments).env("FRAZILRC", "/dev/null");
        command.current_dir(&self.0).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// A shell that has opened its database and waits for statements.
    fn open(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdin = child.stdin.as_mut().expect("it is piped");
        stdin
            .write_all(b"select 1 as a;\n")
            .and_then(|()| stdin.flush())
            .expect("it reads");
        let mut answer = [0; 4];
        child
            .stdout
            .as_mut()
            .expect("it is piped")
            .read_exact(&mut answer)
            .expect("it answers");
        assert_eq!(&answer, b"a\n1\n");
        child
    }

    /// What it writes, which must not fail.
    fn out(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        String::from_utf8(output.stdout).expect("it is text")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const SETUP: &str = "create table t (k integer primary key, v integer not null check (v > 0), s text); create index on t (s); \
    insert into t values (1, 1, 'one'), (2, 2, null); freeze table t; insert into t values (3, 3, 'three')";

#[test]
fn a_sound_directory_is_told_so() {
    let directory = Directory::new("sound");
    directory.out(&["db", "-q", "-c", SETUP]);
    let told = directory.out(&["verify", "db"]);
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[0].starts_with("1 segment, ") && lines[0].contains("log file"),
        "{told}"
    );
    assert_eq!(
        lines[1],
        "table t: 3 rows, 1 block, 1 hot chunk, 2 indexes (1 unique), 2 columns NOT NULL, 1 CHECK, \
         0 foreign keys: sound"
    );
    assert_eq!(lines[2], "db is sound.");
    assert_eq!(lines.len(), 3);
}

#[test]
fn faults_are_named_and_the_exit_code_tells() {
    let directory = Directory::new("faults");
    directory.out(&["db", "-q", "-c", SETUP]);
    let segment = directory.0.join("db/segments/00000001.seg");
    let good = std::fs::read(&segment).expect("it is there");
    let mut bad = good.clone();
    let at = bad.len() - 70;
    bad[at] ^= 4;
    std::fs::write(&segment, &bad).expect("it can be written");
    let output = directory.run(&["verify", "db"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("FAULT: \"") && told.contains("/db/segments/00000001.seg\", block at offset "),
        "{told}"
    );
    assert!(told.contains("table \"t\", chunk "), "{told}");
    assert!(
        stderr(&output).contains("ERROR XX001: db has "),
        "{}",
        stderr(&output)
    );
    // A table that cannot be read is told, too.
    std::fs::write(&segment, &good[..100]).expect("it can be written");
    let output = directory.run(&["verify", "db"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("FAULT: table \"t\" cannot be read: ") && told.contains("00000001.seg"),
        "{told}"
    );
    assert!(
        stderr(&output).starts_with("WARNING: table \"t\" cannot be read: "),
        "{}",
        stderr(&output)
    );
    std::fs::write(&segment, &good).expect("it can be written");
    directory.out(&["verify", "db"]);
    assert_eq!(directory.run(&["verify", "nothing"]).status.code(), Some(3));
    assert!(!directory.0.join("nothing").exists());
}

#[test]
fn a_directory_is_read_by_several_beside_a_writer() {
    let directory = Directory::new("shared");
    directory.out(&["db", "-q", "-c", SETUP]);
    let read = ["db", "-readonly", "-csv", "-c", "select count(*) from t"];
    let mut writer = directory.open(&["db", "-csv"]);
    let locked = |arguments: &[&str]| {
        let output = directory.run(arguments);
        (output.status.code(), stderr(&output))
    };
    let pid = format!("in use by process {}, since 20", writer.id());
    let (code, told) = locked(&["db", "-c", "select 1"]);
    assert!(code == Some(3) && told.contains(&pid), "{told}");
    assert_eq!(locked(&["verify", "db"]).0, Some(3));
    assert_eq!(locked(&["dump", "--salvage", "db"]).0, Some(3));
    // A reader is not kept away.
    assert_eq!(directory.out(&read), "count\n3\n");
    assert!(directory.out(&["dump", "db"]).contains("copy t"));
    drop(writer.stdin.take());
    writer.wait().expect("it ends");
    assert_eq!(directory.out(&read), "count\n3\n");
    let mut reader = directory.open(&["db", "--readonly", "-csv"]);
    directory.out(&["db", "-c", "insert into t values (4, 4, 'four')"]);
    assert_eq!(directory.out(&read), "count\n4\n");
    directory.out(&["verify", "db"]);
    drop(reader.stdin.take());
    reader.wait().expect("it ends");
    let refused = directory.run(&["db", "-readonly", "-c", "delete from t"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).starts_with("ERROR 25006: "),
        "{}",
        stderr(&refused)
    );
    assert_eq!(
        directory.run(&["-readonly", "-c", "select 1"]).status.code(),
        Some(3)
    );
}

/// Everything that a dump has to carry: all types with their greatest and least values, names and texts that are hard to write, defaults, keys, views
/// over what was renamed or has more columns now.
const HARD: &str = include_str!("dump/hard.sql");

/// The dump of a database that a script makes.
fn dump_of(directory: &Directory, script: &Path, database: &str) -> String {
    directory.out(&[database, "-q", "-f", &script.display().to_string()]);
    directory.out(&["dump", database])
}

/// The schema and rows of an application as `pg_dump --inserts --no-owner --no-acl` of PostgreSQL 15 prints them: two
/// schemas, an enumeration, domains, sequences, identity, serial and generated columns, checks, foreign keys with all
/// kinds of actions, indexes, views and comments.
const APPLICATION: &str = include_str!("dump/application.sql");
/// The dump of that application. PostgreSQL loads it, too, and `pg_dump` then prints the first file again, except that
/// the default of a domain has the domain's digits.
const APPLICATION_AGAIN: &str = include_str!("dump/application_again.sql");

#[test]
fn what_pg_dump_writes_of_an_application_is_loaded_and_dumped() {
    let directory = Directory::new("application");
    let texts = [("first.sql", APPLICATION), ("again.sql", APPLICATION_AGAIN)];
    for (file, text) in texts {
        std::fs::write(directory.0.join(file), text).expect("it can be written");
        let database = file.trim_end_matches(".sql");
        assert_eq!(
            dump_of(&directory, Path::new(file), database),
            APPLICATION_AGAIN,
            "{file}"
        );
        for (sql, code) in [
            ("insert into stock.placed values (3, 'C', 1)", "23503"),
            ("delete from stock.depot where id = 1", "23503"),
            ("update stock.item set tax = 1", "428C9"),
            ("insert into stock.depot (id, name) values (9, 'West')", "428C9"),
            ("update stock.item set price = -1", "23514"),
            ("update sales.customer set mail = 'nobody'", "23514"),
            ("insert into sales.customer (mail) values (null)", "23505"),
            (
                "insert into sales.line values (1000, 3, 'A-000001', null)",
                "23502",
            ),
        ] {
            let refused = directory.run(&[database, "-c", sql]);
            let said = stderr(&refused);
            assert!(
                said.starts_with(&format!("ERROR {code}")),
                "{file}: {sql}: {said}"
            );
        }
        let next = "delete from sales.invoice where number = 1000; \
                    insert into sales.invoice (customer_id, day) values (1, '2024-03-01') returning number; \
                    insert into stock.depot (name) values ('West') returning id; \
                    select count(*) from sales.line";
        let shown = directory.out(&[database, "-csv", "-q", "-c", next]);
        assert_eq!(shown, "number\n1010\nid\n3\ncount\n1\n", "{file}");
    }
}

#[test]
fn a_dump_makes_a_database_of_the_same_dump() {
    let directory = Directory::new("dump");
    std::fs::write(directory.0.join("hard.sql"), HARD).expect("it can be written");
    let dump = dump_of(&directory, Path::new("hard.sql"), "db");
    std::fs::write(directory.0.join("dump.sql"), &dump).expect("it can be written");
    let again = dump_of(&directory, Path::new("dump.sql"), "again");
    assert_eq!(dump, again);
    // Statements instead of blocks make the same database, too.
    let statements = directory.out(&["dump", "--inserts", "db"]);
    assert!(!statements.contains("from stdin") && dump.contains("copy texts (id, t) from stdin;"));
    std::fs::write(directory.0.join("inserts.sql"), &statements).expect("it can be written");
    assert_eq!(dump_of(&directory, Path::new("inserts.sql"), "third"), dump);
    // Rows are the same, types and NULLs included.
    let rows = |database: &str, table: &str| {
        let query = format!("select * from {table} order by 1");
        directory.out(&[database, "--mode", "quote", "-c", &query])
    };
    let tables = [
        "kinds",
        "more_kinds",
        "\"select\"",
        "\"Größe \"\"x\"\"\"",
        "texts",
        "renamed",
        "seen",
        "narrow",
        "above",
        "made",
    ];
    for table in tables {
        assert_eq!(rows("db", table), rows("again", table), "{table}");
    }
    for (sql, code) in [
        ("insert into renamed (id, n) values (1, 1)", "23505"),
        ("insert into renamed (id, n) values (77, -1)", "23514"),
        ("insert into renamed (id) values (null)", "23502"),
        ("insert into made values (3, 1, 2)", "428C9"),
    ] {
        let refused = directory.run(&["again", "-c", sql]);
        assert!(
            stderr(&refused).starts_with(&format!("ERROR {code}")),
            "{sql}: {}",
            stderr(&refused)
        );
    }
    // Some of it, into a file.
    directory.out(&["dump", "db", "-o", "part.sql", "narrow", "renamed"]);
    let part = std::fs::read_to_string(directory.0.join("part.sql")).expect("it is there");
    assert!(
        part.contains("create view narrow")
            && part.contains("create table renamed")
            && !part.contains("kinds"),
        "{part}"
    );
    assert!(stderr(&directory.run(&["dump", "db", "nothing"])).starts_with("ERROR 42P01"));
    directory.out(&["verify", "again"]);
}

/// A log that is damaged is refused with a way out, and what was committed before the damage can be had as SQL.
#[test]
fn a_damaged_log_is_named_and_salvaged() {
    let directory = Directory::new("log");
    directory.out(&["db", "-q", "-c", "create table t (k integer primary key, s text)"]);
    let mut writer = directory.open(&["db", "-csv"]);
    let stdin = writer.stdin.as_mut().expect("it is piped");
    for k in 1..6 {
        writeln!(stdin, "insert into t values ({k}, 'number {k}');").expect("it reads");
    }
    writeln!(stdin, "select 77777;").expect("it reads");
    let mut said = String::new();
    let stdout = writer.stdout.as_mut().expect("it is piped");
    while !said.contains("77777") {
        let mut byte = [0];
        stdout.read_exact(&mut byte).expect("it answers");
        said.push(byte[0] as char);
    }
    writer.kill().and_then(|()| writer.wait()).expect("it dies");
    let bytes_of = |path: &Path| std::fs::read(path).expect("it can be read");
    let names = std::fs::read_dir(directory.0.join("db/log"))
        .expect("it is there")
        .flatten();
    let holds = |path: &PathBuf| bytes_of(path).windows(8).any(|part| part == b"number 4");
    let log = names
        .map(|name| name.path())
        .find(holds)
        .expect("it was committed");
    let mut bytes = bytes_of(&log);
    let at = bytes
        .windows(8)
        .position(|part| part == b"number 4")
        .expect("it is there");
    bytes[at] ^= 1;
    std::fs::write(&log, &bytes).expect("it can be written");
    let name = format!(
        "log file \"{}/db/log/{}\"",
        directory.0.display(),
        log.file_name().expect("it has one").display()
    );
    for arguments in [
        &["db", "-c", "select 1"][..],
        &["dump", "db"],
        &["db", "-readonly", "-c", "select 1"],
    ] {
        let output = directory.run(arguments);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {told}");
        assert!(
            told.starts_with(&format!("ERROR XX001: {name} is damaged between offsets ")),
            "{told}"
        );
        assert!(
            told.contains("HINT: ") && told.contains("BACKUP TO") && told.contains("--salvage"),
            "{told}"
        );
    }
    let output = directory.run(&["verify", "db"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains(&format!("FAULT: {name} is damaged between offsets ")),
        "{told}"
    );
    let output = directory.run(&["dump", "--salvage", "db"]);
    let (sql, told) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{told}");
    let left_out = format!("commits are left out: {name} is damaged");
    assert!(told.starts_with(&format!("WARNING: {left_out}")), "{told}");
    assert!(sql.starts_with(&format!("-- left out: {left_out}")), "{sql}");
    assert!(
        sql.contains("number 3") && !sql.contains("number 4") && !sql.contains("number 5"),
        "{sql}"
    );
    assert!(bytes_of(&log) == bytes, "it stays as it is");
    // Where nothing is damaged it is a dump, and nothing is told.
    bytes[at] ^= 1;
    std::fs::write(&log, &bytes).expect("it can be written");
    let output = directory.run(&["dump", "--salvage", "db"]);
    assert_eq!(stderr(&output), "");
    assert!(String::from_utf8_lossy(&output.stdout).contains("number 5"));
    directory.out(&["verify", "db"]);
}

/// One bit of a column is flipped: all the rest is dumped, and can be loaded.
#[test]
fn a_damaged_column_is_left_out_of_what_is_salvaged() {
    let directory = Directory::new("column");
    let setup = "create table a (k integer primary key, s text not null); \
        insert into a select n, 'the text of row ' || n * 7919 from generate_series(1, 500) n; freeze table a; \
        create table b (k integer primary key); insert into b values (1), (2); freeze table b; checkpoint; insert into a values (1000, 'hot')";
    directory.out(&["db", "-q", "-c", setup]);
    let whole = directory.out(&["dump", "db"]);
    let segment = directory.0.join("db/segments/00000001.seg");
    let mut bytes = std::fs::read(&segment).expect("it is there");
    let at = bytes
        .windows(8)
        .rposition(|part| part == b"the text")
        .expect("it is there");
    bytes[at] ^= 1;
    std::fs::write(&segment, &bytes).expect("it can be written");
    let output = directory.run(&["dump", "--salvage", "db"]);
    let (sql, told) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr(&output),
    );
    assert_eq!(output.status.code(), Some(0), "{told}");
    let loss = "table \"a\": rows 0 to 499 of chunk 0 have NULL in column \"s\": ";
    assert!(told.starts_with(&format!("WARNING: {loss}")), "{told}");
    assert!(told.contains("NOT NULL of column \"s\" is left out"), "{told}");
    assert!(sql.contains(&format!("-- left out: {loss}")), "{sql}");
    std::fs::write(directory.0.join("salvaged.sql"), &sql).expect("it can be written");
    directory.out(&["again", "-q", "-f", "salvaged.sql"]);
    let counts = "select count(*), sum(k), count(s), max(s) from a; select count(*) from b";
    let found = directory.out(&["again", "-csv", "-noheader", "-c", counts]);
    assert_eq!(found, "501,126250,1,hot\n2\n");
    // The directory stays as it is, and what is whole stays what it is.
    assert_eq!(std::fs::read(&segment).expect("it is there"), bytes);
    bytes[at] ^= 1;
    std::fs::write(&segment, &bytes).expect("it can be written");
    assert_eq!(directory.out(&["dump", "--salvage", "db"]), whole);
}

/// What the machine does not give is no fault of the directory, and a full disk is told as such.
#[test]
fn what_the_machine_refuses_is_told_by_its_code() {
    let directory = Directory::new("refused");
    directory.out(&["db", "-q", "-c", SETUP]);
    let program = env!("CARGO_BIN_EXE_frazil");
    let mut refused = 0;
    for limit in 4..18 {
        let script = format!("ulimit -n {limit}; exec '{program}' verify db");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(&directory.0);
        let output = command.stdin(Stdio::null()).output().expect("it starts");
        let (said, told) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert!(!said.contains("FAULT"), "{limit}: {said}");
        if output.status.code() != Some(0) {
            let is_named = told.starts_with("ERROR 53000: ") && told.contains("Too many open files");
            assert!(is_named, "{limit}: {told}");
            refused += 1;
        }
    }
    assert!((1..14).contains(&refused), "{refused}");
    let full = directory.run(&["dump", "db", "-o", "/dev/full"]);
    assert_eq!(full.status.code(), Some(1));
    assert!(
        stderr(&full).starts_with("ERROR 53100: could not write \"/dev/full\": "),
        "{}",
        stderr(&full)
    );
    let script = format!("'{program}' dump db > /dev/full");
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(&directory.0)
        .output();
    let told = stderr(&output.expect("it starts"));
    assert!(told.starts_with("ERROR 53100: "), "{told}");
}

/// With few descriptors a statement is refused by name, or done; what was acknowledged is there afterwards, and the directory is sound.
#[test]
fn a_process_without_descriptors_loses_nothing() {
    let directory = Directory::new("descriptors");
    directory.out(&["db", "-q", "-c", "create table t (k integer primary key, s text)"]);
    let program = env!("CARGO_BIN_EXE_frazil");
    let (mut refused, mut kept) = (0, 0);
    for limit in 3..16 {
        let insert = format!(
            "insert into t select {limit} * 100 + x, repeat('x', 3000) from (values (1), (2), (3), (4), (5), (6), (7), (8)) v (x)"
        );
        let script = format!(
            "ulimit -n {limit}; exec '{program}' db -q -c \"{insert}\" -c \"freeze table t\" -c checkpoint -c \"copy t to '/dev/null' (format csv)\""
        );
        let mut command = Command::new("sh");
        command
            .args(["-c", &script])
            .env("FRAZILRC", "/dev/null")
            .current_dir(&directory.0);
        let output = command.stdin(Stdio::null()).output().expect("it starts");
        let told = stderr(&output);
        if output.status.code() != Some(0) {
            // With fewer than four the system does not start the program.
            let is_unstarted = told.contains("error while loading shared libraries");
            let is_named = told.starts_with("ERROR 53000: ") && told.contains("Too many open files");
            assert!(is_unstarted || is_named, "{limit}: {:?}: {told}", output.status);
            refused += 1;
        }
        let count = directory.out(&[
            "db",
            "-readonly",
            "-csv",
            "--noheader",
            "-c",
            &format!("select count(*) from t where k / 100 = {limit}"),
        ]);
        assert!(["0\n", "8\n"].contains(&count.as_str()), "{limit}: {count}");
        kept += u32::from(count == "8\n");
        assert!(
            count == "8\n" || output.status.code() != Some(0),
            "{limit}: it was acknowledged"
        );
    }
    assert!(refused > 0 && kept > 0, "{refused} {kept}");
    directory.out(&["verify", "db"]);
}

/// Roles of each kind, owners and privileges on objects of each kind.
const ROLES: &str = include_str!("dump/roles.sql");

/// Those roles, of a dump that PostgreSQL loaded, as its own dump prints them.
const GLOBALS: &str = include_str!("dump/globals.sql");

/// Roles, owners and privileges as the catalog shows them.
const RIGHTS: [&str; 10] = [
    "select setdatabase, pg_get_userbyid(setrole), setconfig from pg_db_role_setting order by 1, 2",
    "select rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolconnlimit, rolpassword, \
     rolvaliduntil from pg_authid where rolname like 'du%' order by 1",
    "select r.rolname, m.rolname, admin_option from pg_auth_members join pg_roles r on r.oid = roleid \
     join pg_roles m on m.oid = member where m.rolname like 'du%' order by 1, 2",
    "select relname, pg_get_userbyid(relowner), relacl from pg_class where relname like 'du%' or relname = 'u' \
     order by 1",
    "select attname, attacl from pg_attribute where attacl is not null order by 1",
    "select nspname, pg_get_userbyid(nspowner), nspacl from pg_namespace order by 1",
    "select typname, pg_get_userbyid(typowner), typacl from pg_type where typname in ('mood', 'du_d') order by 1",
    "select pg_get_userbyid(defaclrole), defaclobjtype, defaclacl from pg_default_acl order by 1, 2",
    "select datacl, pg_get_userbyid(datdba) from pg_database",
    "select id, name from du_t order by 1",
];

#[test]
fn a_dump_keeps_roles_owners_and_privileges() {
    let directory = Directory::new("dump-roles");
    std::fs::write(directory.0.join("roles.sql"), ROLES).expect("it can be written");
    let dump = dump_of(&directory, Path::new("roles.sql"), "db");
    std::fs::write(directory.0.join("dump.sql"), &dump).expect("it can be written");
    assert_eq!(dump_of(&directory, Path::new("dump.sql"), "again"), dump);
    for query in RIGHTS {
        let of = |database: &str| directory.out(&[database, "-csv", "-c", query]);
        assert_eq!(of("db"), of("again"), "{query}");
    }
    // PostgreSQL's dump makes the same roles; passwords have other salts.
    std::fs::write(directory.0.join("globals.sql"), GLOBALS).expect("it can be written");
    directory.out(&["third", "-q", "-f", "globals.sql"]);
    let roles = RIGHTS[1].replace("rolpassword", "length(rolpassword)");
    for query in [roles.as_str(), RIGHTS[2]] {
        let of = |database: &str| directory.out(&[database, "-csv", "-c", query]);
        assert_eq!(of("db"), of("third"), "{query}");
    }
    // Parts of it.
    let without = |options: &[&str]| directory.out(&[&["dump"], options, &["db"]].concat());
    let bare = without(&["--no-roles", "-O", "-x", "-s"]);
    for word in [
        "create role",
        "owner to",
        "grant ",
        "revoke ",
        "from stdin",
        "setval",
    ] {
        assert!(dump.contains(word) && !bare.contains(word), "{word}: {bare}");
    }
    assert!(bare.contains("create table du_t"));
    let some = directory.out(&["dump", "db", "du_t"]);
    for (word, is_there) in [
        ("alter table du_t owner to du_owner;", true),
        ("to du_group with grant option;", true),
        ("create role", false),
        ("du_v", false),
        ("default privileges", false),
    ] {
        assert_eq!(some.contains(word), is_there, "{word}: {some}");
    }
}
