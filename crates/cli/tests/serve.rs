//! `frazil serve`: options from three places, certificates, signals.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A directory of a test, removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("frazil-serve-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("it is made");
        Directory(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("it is written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frazil"));
        command.arg("serve").args(arguments).current_dir(&self.0);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The complaint of a program that does not begin to serve.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).expect("it is text")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server that has said its first line.
struct Serving {
    child: Child,
    first: String,
    rest: BufReader<std::process::ChildStdout>,
    errors: BufReader<std::process::ChildStderr>,
}

impl Serving {
    fn start(mut command: Command) -> Serving {
        let mut child = command.spawn().expect("it starts");
        let mut rest = BufReader::new(child.stdout.take().expect("it is piped"));
        let errors = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut first = String::new();
        rest.read_line(&mut first).expect("it is text");
        Serving {
            child,
            first,
            rest,
            errors,
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args([name, &pid]).status();
        assert!(status.expect("kill is there").success());
    }

    fn error_line(&mut self) -> String {
        let mut line = String::new();
        self.errors.read_line(&mut line).expect("it is text");
        line
    }

    /// Ends it by SIGTERM; returns the rest of its output.
    fn end(mut self) -> String {
        self.signal("-TERM");
        assert!(self.child.wait().expect("it ends").success());
        let mut rest = String::new();
        self.rest.read_to_string(&mut rest).expect("it is text");
        rest
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_command_line_comes_before_the_environment_and_that_before_the_file() {
    let directory = Directory::new("places");
    let options = "listen = \"127.0.0.1:0\"\ndatabase = \"of_file\"\nmax_connections = 7\nuser = \"app\"\n";
    directory.write("options.toml", options);
    directory.write("secret", "se cret\n");
    directory.write("password.toml", &format!("{options}password_file = \"secret\"\n"));
    let of_file = Serving::start(directory.command(&["--config", "password.toml"]));
    assert!(
        of_file
            .first
            .starts_with("serving database \"of_file\" at 127.0.0.1:"),
        "{}",
        of_file.first
    );
    assert!(of_file.first.contains("to the role \"app\""), "{}", of_file.first);
    of_file.end();
    let mut command = directory.command(&["--user", "typed"]);
    command
        .env("FRAZIL_CONFIG", "options.toml")
        .env("FRAZIL_PASSWORD", "x");
    command
        .env("FRAZIL_DATABASE", "of_environment")
        .env("FRAZIL_READONLY", "off")
        .env("FRAZIL_METRICS", "");
    let mixed = Serving::start(command);
    assert!(mixed.first.contains("\"of_environment\""), "{}", mixed.first);
    assert!(mixed.first.contains("to the role \"typed\""), "{}", mixed.first);
    mixed.end();
}

#[test]
fn a_wrong_option_is_named_with_its_place() {
    let directory = Directory::new("wrong");
    directory.write("options.toml", "\nlisen = \"127.0.0.1:0\"\n");
    let told = directory.refused(&["--config", "options.toml"]);
    assert!(
        told.contains("\"options.toml\", line 2: there is no option \"lisen\""),
        "{told}"
    );
    let told = directory.refused(&["--config", "nowhere.toml"]);
    assert!(
        told.contains("the file of options \"nowhere.toml\" cannot be read"),
        "{told}"
    );
    let output = directory
        .command(&[])
        .env("FRAZIL_LISTEN", "here")
        .output()
        .expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains("the environment variable FRAZIL_LISTEN: invalid value 'here'"),
        "{told}"
    );
    for (arguments, expected) in [
        (
            &["--trust-loopback", "--user", "app"][..],
            "leave one of them out",
        ),
        (&["--password-file", "x"], "--password-file needs --user"),
        (&["--tls-key", "x"], "--tls-cert and --tls-key need each other"),
        (&["--log-values"], "--log-values needs --log-slow-statements"),
        (&["--readonly"], "--readonly needs the directory"),
        (&["--login-timeout", "0s"], "a second is the least"),
        (&["--login-timeout", "5"], "a time is a number with its unit"),
    ] {
        let told = directory.refused(arguments);
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_certificate_is_made_where_others_reach_the_server() {
    let directory = Directory::new("certificate");
    let command = || {
        let mut command = directory.command(&["shop", "--listen", "0.0.0.0:0", "--user", "app"]);
        command.env("FRAZIL_PASSWORD", "x");
        command
    };
    let mut first = Serving::start(command());
    assert!(
        first.first.ends_with(", with TLS for clients that ask for it\n"),
        "{}",
        first.first
    );
    let made = std::fs::read(directory.0.join("shop/server.crt")).expect("it is made");
    first.signal("-HUP");
    let told = first.error_line();
    assert!(
        told.starts_with("new connections have the certificate of \"shop/server.crt\""),
        "{told}"
    );
    directory.write("shop/server.crt", "nothing");
    first.signal("-HUP");
    let told = first.error_line();
    assert!(
        told.starts_with("WARNING: the server keeps its certificate: "),
        "{told}"
    );
    std::fs::write(directory.0.join("shop/server.crt"), &made).expect("it is written");
    assert_eq!(first.end(), "self-signed certificate: shop/server.crt\n");
    Serving::start(command()).end();
    assert_eq!(
        std::fs::read(directory.0.join("shop/server.crt")).expect("it is there"),
        made
    );
    let arguments = [
        "--listen",
        "127.0.0.1:0",
        "--trust-loopback",
        "--metrics",
        "127.0.0.1:0",
    ];
    let mut local = Serving::start(directory.command(&arguments));
    assert!(!local.first.contains("TLS"), "{}", local.first);
    local.signal("-HUP");
    assert_eq!(local.error_line(), "there is no certificate to be read anew\n");
    let rest = local.end();
    assert!(
        rest.starts_with("metrics and health: http://127.0.0.1:"),
        "{rest}"
    );
    let check = Command::new(env!("CARGO_BIN_EXE_frazil"))
        .args(["verify", "shop"])
        .current_dir(&directory.0)
        .output();
    assert!(check.expect("it starts").status.success());
}

#[test]
fn systemd_is_told() {
    let directory = Directory::new("systemd");
    let socket = UnixDatagram::bind(directory.0.join("notify")).expect("it is bound");
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("it is set");
    let mut command = directory.command(&["--listen", "127.0.0.1:0", "--trust-loopback"]);
    command.env("NOTIFY_SOCKET", directory.0.join("notify"));
    let serving = Serving::start(command);
    let heard = || {
        let mut bytes = [0; 100];
        let count = socket.recv(&mut bytes).expect("it is told");
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    };
    assert_eq!(heard(), "READY=1");
    serving.end();
    assert_eq!(heard(), "STOPPING=1");
}

/// A session that is logged in and waits.
fn waiting_session(address: &str) -> TcpStream {
    let mut session = TcpStream::connect(address).expect("it listens");
    let parameters = b"\0\x03\0\0user\0app\0\0";
    let length = u32::try_from(parameters.len() + 4).expect("it is short");
    session.write_all(&length.to_be_bytes()).expect("it is open");
    session.write_all(parameters).expect("it is open");
    let mut said = Vec::new();
    while !said.ends_with(b"Z\0\0\0\x05I") {
        let mut part = [0; 4096];
        let count = session.read(&mut part).expect("it answers");
        assert!(count > 0, "{}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&part[..count]);
    }
    session
}

/// Resident bytes of a process.
fn resident(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    1024 * kilobytes
        .expect("the system tells")
        .trim()
        .parse::<u64>()
        .expect("it is a number")
}

/// The program raises the limit of open files for its clients. A session that waits holds no thread and at most
/// 64 KiB.
#[test]
fn hundreds_of_sessions_wait_in_little_memory() {
    let directory = Directory::new("waiting");
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -S -n 64; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_frazil"),
    ]);
    command.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--trust-loopback",
        "--max-connections",
        "420",
    ]);
    command.current_dir(&directory.0).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let serving = Serving::start(command);
    let address = serving.first.split(" at ").nth(1).expect("it says where");
    let address = address
        .split([',', ' ', '\n'])
        .next()
        .expect("it says where")
        .to_owned();
    let mut sessions: Vec<TcpStream> = (0..20).map(|_| waiting_session(&address)).collect();
    let before = resident(&serving.child);
    sessions.extend((0..400).map(|_| waiting_session(&address)));
    let each = resident(&serving.child).saturating_sub(before) / 400;
    println!("{each} bytes a session");
    assert!(each <= 64 << 10, "{each} bytes a session");
    drop(sessions);
    serving.end();
}

#[test]
fn too_few_open_files_are_told() {
    let directory = Directory::new("few-files");
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -n 256; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_frazil"),
    ]);
    command.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--trust-loopback",
        "--max-connections",
        "420",
    ]);
    command.current_dir(&directory.0).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut serving = Serving::start(command);
    let warning = serving.error_line();
    let expected = "warning: the system allows 256 open files, too few for 420 clients: ";
    assert!(warning.starts_with(expected), "{warning}");
    serving.end();
}

#[test]
fn a_server_outlives_those_who_listen_to_it() {
    let directory = Directory::new("unheard");
    let mut command = directory.command(&["--listen", "127.0.0.1:0", "--trust-loopback", "--tls-required"]);
    let mut child = command.spawn().expect("it starts");
    drop(child.stderr.take());
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    out.read_line(&mut first).expect("it is text");
    drop(out);
    let address = first.split(" at ").nth(1).expect("it says where");
    let address = address.split([',', ' ', '\n']).next().expect("it says where");
    let kill = |name: &str| {
        let status = Command::new("kill")
            .args([name, &child.id().to_string()])
            .status();
        assert!(status.expect("kill is there").success());
    };
    kill("-HUP");
    std::net::TcpStream::connect(address).expect("it listens");
    kill("-TERM");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
