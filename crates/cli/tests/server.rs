//! The shell on a server: `frazil postgresql://…` says what the embedded database says.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A directory of a test, removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("frazil-server-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("it is made");
        Directory(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("it is written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frazil"));
        command.args(arguments).current_dir(&self.0).env("HOME", &self.0);
        for name in [
            "PGHOST",
            "PGPORT",
            "PGUSER",
            "PGPASSWORD",
            "PGDATABASE",
            "PGSSLMODE",
            "PGSSLROOTCERT",
        ] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null());
        command
    }

    /// Runs a script on a place: a URL or a directory.
    fn run(&self, place: &str, script: &str, options: &[&str]) -> Output {
        self.write("script.sql", script);
        let mut arguments = vec![place, "-f", "script.sql"];
        arguments.extend(options);
        self.command(&arguments).output().expect("the program starts")
    }

    /// The output of a script, which must not fail.
    fn out(&self, place: &str, script: &str, options: &[&str]) -> String {
        let output = self.run(place, script, options);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        String::from_utf8(output.stdout).expect("it is text")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server that takes clients.
struct Serving {
    child: Child,
    /// Its address and port.
    address: String,
}

impl Serving {
    fn start(directory: &Directory, arguments: &[&str], password: &str) -> Serving {
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--database", "shop"];
        all.extend(arguments);
        let mut command = directory.command(&all);
        if !password.is_empty() {
            command.env("FRAZIL_PASSWORD", password);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut first = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped"));
        lines.read_line(&mut first).expect("it is text");
        let address = first.split(" at ").nth(1).expect("it says where");
        let address = address
            .split([',', ' ', '\n'])
            .next()
            .expect("it says where")
            .to_owned();
        Serving { child, address }
    }

    fn trusting(directory: &Directory) -> Serving {
        Serving::start(directory, &["--trust-loopback", "--file-access", "on"], "")
    }

    fn url(&self) -> String {
        format!("postgresql://app@{}/shop", self.address)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Objects of all kinds.
const OBJECTS: &str = "\
create schema north;
create type mood as enum ('sad', 'ok', 'it''s');
create domain small as integer check (value < 100);
create sequence numbers;
create table parents (id integer primary key, name varchar(30) not null, \
  \"Odd name\" text default 'a');
create table children (id bigint generated always as identity, parent integer references parents (id), \
  price numeric(8,2)
  check (price >= 0), day date, at timestamptz, is_new boolean default true, how mood, unique (parent, day));
create index by_day on children (day desc);
create table bounded (few small);
create table north.far (a integer, b double precision, c bytea, d uuid, e interval, f jsonb, g integer[]);
create view names as select id, name from parents;
insert into parents values (1, 'one'), (2, 'two');
insert into children (parent, price, day, at, how) values (1, 1.5, '2026-01-02', '2026-01-02 03:04:05+00', 'ok'),
  (2, null, null, null, 'it''s');
insert into bounded values (7), (null);
insert into north.far values (1, 0.1, '\\x00ff', '00000000-0000-0000-0000-00000000000f', '1 month 2 days', \
  '{\"a\": [1]}',
  '{1,null,3}'), (null, 'NaN', null, null, null, null, null);
";

/// Scripts that are to have one text on both.
const SCRIPTS: &[&str] = &[
    "select * from parents order by id;\n\\x on\nselect * from parents order by id;\n",
    "select id, parent, price, day, at, is_new, how from children order by id;\n\
     select * from north.far;\nselect * from bounded;\n",
    "set time zone 'Europe/Oslo';\nselect at from children;\nset time zone default;\n",
    "\\d\n\\dt\n\\dv\n\\di\n\\ds\n\\dn\n\\dT mood\n\\dT small\n\\df abs\n\\dp\n.tables\n.tables par*\n",
    "\\d parents\n\\d children\n\\d names\n\\d north.far\n",
    ".schema parents\n.schema children\n.schema north.far\n",
    "\\d+ parents\n\\dt+\n",
    "select 1 as a, 'x' as b \\gx\nselect 2 as got \\gset\n\\echo :got\nselect 'select 3 as c; select 4 as d' \\gexec\n\
     select id, price from children \\gdesc\nselect $1::integer + 1 as n, $2 as t \\bind 41 'a b' \\g\n",
    "select * from (values ('a','x',1), ('b','y',2)) v(p, q, r) \\crosstabview\n\
     select 1 as again \\watch i=0 c=2\n",
    "begin;\ninsert into parents values (3, 'three');\nupdate parents set name = 'drei' where id = 3;\nrollback;\n\
     create table made (a integer);\ninsert into made values (1);\nselect count(*) from made;\n\
     drop table made;\n\\echo :ROW_COUNT :ERROR\n",
    "create table copied (a integer, b text);\ncopy copied from stdin;\n1\tone\n2\t\\N\n\\.\n\
     copy copied to stdout;\ncopy copied to stdout (format csv, header);\n\\copy copied to 'copied.csv' (format csv)\n\
     \\copy copied from 'copied.csv' (format csv)\nselect * from copied order by a;\n.import --csv copied.csv copied\n\
     select count(*) from copied;\ndrop table copied;\n",
    "listen here;\nnotify here, 'text';\nselect 1;\ndo_nothing_at_all;\n",
    "select 1 as one,\n  nothing_here;\n",
    "insert into parents values (1, 'again');\n",
    "select * from generate_series(1, 5000) s(n);\n",
    "select ''::text as empty, null as none, '  a' as blanks, e'two\\nlines' as lines;\n",
    "select 'parents'::regclass as class, 1::smallint, 1.5::real, 'a'::char(3), 12345678901234567890.5::numeric;\n",
    "",
];

#[test]
fn a_server_and_the_embedded_database_say_the_same() {
    let directory = Directory::new("same");
    let serving = Serving::trusting(&directory);
    directory.out("own", OBJECTS, &[]);
    directory.out(&serving.url(), OBJECTS, &[]);
    for script in SCRIPTS {
        for mode in ["-box", "-csv", "-json", "-insert", "-aligned"] {
            let here = directory.run("own", script, &[mode, "--no-bail"]);
            let there = directory.run(&serving.url(), script, &[mode, "--no-bail"]);
            let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(text(&there), text(&here), "{mode} {script}\n{}", errors(&there));
            // The number of a session is its own.
            let told = |output: &Output| -> String {
                let errors = errors(output);
                let lines = errors
                    .lines()
                    .map(|line| line.split(" from session ").next().unwrap_or_default());
                lines.collect::<Vec<_>>().join("\n")
            };
            assert_eq!(told(&there), told(&here), "{mode} {script}");
            assert_eq!(there.status.code(), here.status.code(), "{script}");
        }
    }
}

#[test]
fn long_results_take_little_memory() {
    let directory = Directory::new("long");
    let serving = Serving::trusting(&directory);
    let script = "select n, repeat('x', 1000) as filler from generate_series(1, 300000) s(n);\n";
    let output = directory.out(
        &serving.url(),
        script,
        &["-csv", "-o", "long.csv", "--cmd", ".stats on"],
    );
    assert_eq!(output, "");
    let written = std::fs::metadata(directory.0.join("long.csv"))
        .expect("it is there")
        .len();
    assert!(written > 300_000_000, "{written}");
    let told = errors(&directory.run(
        &serving.url(),
        script,
        &["-csv", "-o", "long.csv", "--cmd", ".stats on"],
    ));
    let kib = told
        .lines()
        .find_map(|line| line.strip_prefix("Most memory so far: "));
    let kib: u64 = kib
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .expect("it is told");
    assert!(kib < 200_000, "{told}");
}

#[test]
fn passwords_come_from_the_url_the_environment_and_a_file() {
    let directory = Directory::new("password");
    let serving = Serving::start(&directory, &["--user", "app"], "se:cret");
    let host = &serving.address;
    let ask = ["-c", "select 1 as a", "-csv"];
    let run = |url: &str, password: Option<&str>| {
        let mut command = directory.command(&[url]);
        command.args(ask);
        if let Some(password) = password {
            command.env("PGPASSWORD", password);
        }
        command.output().expect("it starts")
    };
    let bare = format!("postgres://app@{host}/shop");
    let good = |output: &Output| assert_eq!(output.stdout, b"a\n1\n", "{}", errors(output));
    good(&run(&format!("postgres://app:se%3Acret@{host}/shop"), None));
    good(&run(&bare, Some("se:cret")));
    let wrong = run(&bare, Some("other"));
    assert_eq!(wrong.status.code(), Some(2));
    assert!(errors(&wrong).starts_with("ERROR 28P01: "), "{}", errors(&wrong));
    let none = run(&bare, None);
    assert_eq!(none.status.code(), Some(2));
    assert!(
        errors(&none).contains("none is given\nHINT: set PGPASSWORD"),
        "{}",
        errors(&none)
    );
    directory.write(".pgpass", "*:*:shop:app:se\\:cret\n");
    let open = run(&bare, None);
    assert!(
        errors(&open).contains("has group or world access"),
        "{}",
        errors(&open)
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(directory.0.join(".pgpass"), mode).expect("it is mine");
    good(&run(&bare, None));
}

#[test]
fn tls_is_checked_as_sslmode_says() {
    let directory = Directory::new("tls");
    let serving = Serving::start(&directory, &["kept", "--user", "app", "--tls-required"], "x");
    let port = serving.address.rsplit(':').next().expect("it has a port");
    let run = |host: &str, parameters: &str| {
        let url = format!("postgresql://app:x@{host}:{port}/shop?{parameters}");
        directory
            .command(&[&url, "-c", "select 1 as a", "-csv"])
            .output()
            .expect("it starts")
    };
    for parameters in [
        "",
        "sslmode=require",
        "sslmode=verify-ca&sslrootcert=kept/server.crt",
        "sslmode=verify-full&sslrootcert=kept/server.crt",
    ] {
        let output = run("127.0.0.1", parameters);
        assert_eq!(output.stdout, b"a\n1\n", "{parameters}: {}", errors(&output));
    }
    let made = rcgen_certificate(&directory);
    for (parameters, wanted) in [
        ("sslmode=disable".to_owned(), "ERROR 28000"),
        ("sslmode=verify-full".to_owned(), "does not exist"),
        (format!("sslmode=verify-ca&sslrootcert={made}"), "TLS with"),
        (
            "sslmode=verify-ca&sslrootcert=nowhere.crt".to_owned(),
            "does not exist",
        ),
    ] {
        let output = run("127.0.0.1", &parameters);
        assert_eq!(output.status.code(), Some(2), "{parameters}");
        assert!(
            errors(&output).contains(wanted),
            "{parameters}: {}",
            errors(&output)
        );
    }
}

/// The certificate of another server.
fn rcgen_certificate(directory: &Directory) -> String {
    let other = Serving::start(directory, &["other", "--user", "app", "--tls-required"], "x");
    drop(other);
    "other/server.crt".to_owned()
}

#[test]
fn ctrl_c_cancels_and_the_session_goes_on() {
    let directory = Directory::new("cancel");
    let serving = Serving::trusting(&directory);
    directory.write("sleeps.sql", "select pg_sleep(600);\nselect 'after' as a;\n");
    let mut command = directory.command(&[&serving.url(), "-f", "sleeps.sql", "-csv", "--no-bail"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let waits =
        "select count(*) from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'";
    let begun = Instant::now();
    while directory.out(&serving.url(), waits, &["-csv", "-t"]) != "1\n" {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not begin");
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill is there").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a\nafter\n");
    assert!(
        errors(&output).starts_with("ERROR 57014: "),
        "{}",
        errors(&output)
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_reader_that_has_seen_enough_ends_a_long_result() {
    let directory = Directory::new("enough");
    let serving = Serving::trusting(&directory);
    let script = "select n from generate_series(1, 100000000) s(n) \\g |head -2\nselect 'after';\n";
    assert_eq!(
        directory.out(&serving.url(), script, &["-csv", "-t"]),
        "1\n2\nafter\n"
    );
}

#[test]
fn a_lost_connection_is_told_and_ends_a_script() {
    let directory = Directory::new("lost");
    let mut serving = Serving::trusting(&directory);
    let url = serving.url();
    let mut command = directory.command(&[&url, "-csv", "--no-bail"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(b"select 1 as a;\n").expect("it reads");
    let mut first = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped"));
    lines.read_line(&mut first).expect("it is text");
    assert_eq!(first, "a\n");
    serving.child.kill().expect("it runs");
    serving.child.wait().expect("it ends");
    input
        .write_all(b"select 2 as b;\nselect 3 as c;\n")
        .expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    let told = errors(&output);
    assert!(
        told.starts_with("ERROR 08006: ") && told.contains("HINT: \\c connects again"),
        "{told}"
    );
    assert_eq!(told.matches("ERROR").count(), 1, "{told}");
    let nobody = directory.run(&url, "select 1;", &[]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(
        errors(&nobody).starts_with("ERROR 08001: cannot connect to "),
        "{}",
        errors(&nobody)
    );
}

#[test]
fn a_terminated_session_says_why() {
    let directory = Directory::new("terminated");
    let serving = Serving::trusting(&directory);
    let output = directory.run(
        &serving.url(),
        "select pg_terminate_backend(pg_backend_pid());\nselect 1;\n",
        &["-csv"],
    );
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(
        errors(&output).starts_with("ERROR 57P01: "),
        "{}",
        errors(&output)
    );
}

#[test]
fn a_shell_goes_from_a_database_to_another() {
    let directory = Directory::new("switch");
    let serving = Serving::trusting(&directory);
    let url = serving.url();
    let script = format!(
        "create table here (a integer);\n\\c {url}\n\\conninfo\ncreate table there (a integer);\n.tables\n\
         \\c - other\nselect current_user;\n\\l\n\\c own/\n.tables\n.open {url}\n.tables\n.open\n.tables\n"
    );
    let out = directory.out("own", &script, &["-csv", "-q"]);
    let (host, port) = serving.address.split_once(':').expect("it has a port");
    let expected = format!(
        "The database is \"shop\" on the server \"{host}\", port {port}, as role \"app\".\nthere\n\
         current_user\npostgres\nName,Owner,Encoding\nshop,postgres,UTF8\n"
    );
    assert!(out.starts_with(&expected), "{out}");
}

#[test]
fn commands_without_a_meaning_on_a_server_say_so() {
    let directory = Directory::new("meaning");
    let serving = Serving::trusting(&directory);
    directory.write("new.csv", "a,b\n1,2\n");
    for (script, wanted) in [
        (
            ".dump\n",
            "ERROR 0A000: .dump is not supported on a server\nHINT: ",
        ),
        (
            ".import --csv new.csv new\n",
            "ERROR 0A000: .import into a table that does not exist is not supported on a server\nHINT: ",
        ),
        ("begin;\n\\c\n", "ERROR 25001: "),
        (
            "\\copy t from 'nowhere.csv'\n",
            "ERROR 58P01: \"nowhere.csv\" cannot be used",
        ),
        ("select 'copy t to stdout' \\gexec\n", "ERROR 42P01: "),
    ] {
        let output = directory.run(&serving.url(), script, &[]);
        assert_eq!(output.status.code(), Some(1), "{script}");
        assert!(
            errors(&output).starts_with(wanted),
            "{script}: {}",
            errors(&output)
        );
    }
    let read = directory
        .command(&[&serving.url(), "--readonly", "-c", "select 1"])
        .output()
        .expect("it starts");
    assert_eq!(read.status.code(), Some(2));
    let wrong = directory
        .command(&["postgres://u@h:x/d"])
        .output()
        .expect("it starts");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        errors(&wrong).contains("\"x\" is not a port"),
        "{}",
        errors(&wrong)
    );
}
