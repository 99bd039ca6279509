//! The command line.

use crate::output::Mode;
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Frazil, an SQL database for transactions and analytics on one copy of the data.
#[derive(Parser)]
#[command(name = "frazil", version, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    /// What to do instead of opening the shell.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The shell's own arguments.
    #[command(flatten)]
    pub shell: ShellOptions,
}

/// Opens a database and runs SQL.
#[derive(Args)]
pub struct ShellOptions {
    /// Directory of the database, made if it does not exist, or files (CSV, JSON, Parquet) that become tables in
    /// memory, or postgresql://USER@HOST:PORT/DATABASE for a server; without it, an empty database in memory
    #[arg(value_name = "DIRECTORY|FILE|URL")]
    pub paths: Vec<PathBuf>,
    /// Open the directory for reading, also while another process writes it: it must exist, and nothing in it changes
    #[arg(long)]
    pub readonly: bool,
    /// Files that statements may name: on, off, or folders separated by commas
    #[arg(long, value_name = "WHICH", default_value = "on")]
    pub file_access: String,
    /// Run these statements and exit (may be given several times)
    #[arg(short = 'c', long = "command", value_name = "SQL")]
    pub commands: Vec<String>,
    /// Run the statements of this file and exit (may be given several times)
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Run these statements or commands first, then go on
    #[arg(long = "cmd", value_name = "SQL")]
    pub first: Vec<String>,
    /// Run this file first instead of ~/.frazilrc
    #[arg(long, value_name = "FILE")]
    pub init: Option<PathBuf>,
    /// Do not run ~/.frazilrc
    #[arg(short = 'X', long)]
    pub no_rc: bool,
    /// Format of results; every mode is also an option of its own, such as --csv
    #[arg(long, value_enum, default_value = "box")]
    pub mode: Mode,
    /// Show the time each statement takes
    #[arg(long)]
    pub timing: bool,
    /// Stop at the first error (the default)
    #[arg(long, overrides_with = "no_bail")]
    pub bail: bool,
    /// Go on after an error; the exit code is 1 in the end
    #[arg(long)]
    pub no_bail: bool,
    /// Omit the names of columns
    #[arg(long)]
    pub noheader: bool,
    /// Write only rows: no names of columns and no number of rows
    #[arg(short = 't', long)]
    pub tuples_only: bool,
    /// Write one line for each value
    #[arg(short = 'x', long)]
    pub expanded: bool,
    /// Show NULL as TEXT
    #[arg(long, value_name = "TEXT")]
    pub nullvalue: Option<String>,
    /// Separate values by TEXT in csv, list and tabs
    #[arg(short = 'F', long, value_name = "TEXT")]
    pub separator: Option<String>,
    /// Write results to this file, or to a program if it begins with |
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<String>,
    /// Set a variable (may be given several times)
    #[arg(short = 'v', long = "set", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// Write only results and errors
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// Read standard input as a script, even if it is a terminal
    #[arg(long)]
    pub batch: bool,
}

/// Options that sqlite3 writes with one dash.
const ONE_DASH: [&str; 12] = [
    "bail",
    "batch",
    "cmd",
    "header",
    "help",
    "init",
    "noheader",
    "nullvalue",
    "quiet",
    "readonly",
    "separator",
    "version",
];

/// The command line with what sqlite3's and psql's users write put into our words: `-csv` and `--csv` are
/// `--mode=csv`, `-A` is `--mode=unaligned`, `-H` is `--mode=html`, `-bail` is `--bail`.
pub fn normalized(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let modes: Vec<String> = Mode::names().collect();
    let mut out: Vec<OsString> = Vec::new();
    // The words of `frazil bench` and the like are theirs.
    let mut is_ours = true;
    for argument in arguments {
        let text = argument.to_str().unwrap_or_default();
        let name = text.trim_start_matches('-');
        let dashes = text.len() - name.len();
        is_ours = is_ours
            && (out.is_empty()
                || !matches!(
                    text,
                    "tpch" | "tpcc" | "demo" | "verify" | "dump" | "serve" | "bench" | "--"
                ));
        let given = match text {
            _ if !is_ours => argument,
            "-A" => "--mode=unaligned".into(),
            "-H" => "--mode=html".into(),
            "-header" | "--header" => continue,
            _ if matches!(dashes, 1 | 2) && modes.iter().any(|m| m == name) => {
                format!("--mode={name}").into()
            }
            _ if dashes == 1 && ONE_DASH.contains(&name) => format!("--{name}").into(),
            _ => argument,
        };
        out.push(given);
    }
    out
}

/// What `frazil` does besides being a shell.
#[derive(Subcommand)]
pub enum Command {
    /// Create TPC-H data and load it, frozen, into a database directory
    Tpch(TpchOptions),
    /// Create a TPC-C database, if the directory has none, and run its transactions
    Tpcc(TpccOptions),
    /// Load TPC-H in memory, show its compression, run its 22 queries, then open a shell on it
    Demo(DemoOptions),
    /// Check every file of a database directory, every index and every constraint; nothing is changed
    Verify(DirectoryOptions),
    /// Write a database directory as SQL that Frazil and PostgreSQL read; nothing is changed
    Dump(DumpOptions),
    /// Serve a database to PostgreSQL clients such as psql and drivers of any language
    Serve(Box<ServeOptions>),
    /// Run a benchmark experiment, e.g. tpch or plan; --help lists them
    #[command(disable_help_flag = true)]
    Bench(BenchOptions),
}

/// Arguments of `frazil tpch`.
#[derive(Args)]
pub struct TpchOptions {
    /// Size: 1 is 6 million rows of lineitem, about a gigabyte of text
    #[arg(long, default_value_t = 1.0)]
    pub scale_factor: f64,
    /// Threads that make data; all cores if not given
    #[arg(long)]
    pub threads: Option<usize>,
    /// Do not freeze what loading left hot: chunks that are not full
    #[arg(long)]
    pub hot: bool,
    /// Directory of the database
    pub directory: PathBuf,
}

/// Arguments of `frazil tpcc`.
#[derive(Args)]
#[command(after_help = "\
Each commit is durable. The twelve consistency conditions of the specification are checked in the end; the exit code
is 1 if one of them is broken. Ctrl-C ends the transactions, and what was measured is shown.

Examples:
  frazil tpcc shop.frazil --warehouses 5 --terminals 8
  frazil tpcc shop.frazil --time 0s      (check the conditions only)")]
pub struct TpccOptions {
    /// Warehouses of a new database, each about 100 MB in memory; 1 if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=1_000))]
    pub warehouses: Option<i32>,
    /// Terminals: sessions that run transactions side by side
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub terminals: u16,
    /// Time to run transactions
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub time: Duration,
    /// Wait between transactions as people at terminals do, by the specification's times
    #[arg(long)]
    pub keying: bool,
    /// Run order-status and stock-level only, which change nothing
    #[arg(long)]
    pub read_only: bool,
    /// Freeze all tables first
    #[arg(long)]
    pub freeze: bool,
    /// Divisor of items, customers and orders of a new database
    #[arg(long, hide = true, default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..=100))]
    pub reduced: i32,
    /// Directory of the database
    pub directory: PathBuf,
}

/// Arguments of `frazil demo`.
#[derive(Args)]
pub struct DemoOptions {
    /// Size, as in `frazil tpch`
    #[arg(long, default_value_t = 1.0)]
    pub scale_factor: f64,
    /// Threads; all cores if not given
    #[arg(long)]
    pub threads: Option<usize>,
}

/// Arguments of `frazil verify`.
#[derive(Args)]
pub struct DirectoryOptions {
    /// Directory of the database
    pub directory: PathBuf,
}

/// Arguments of `frazil dump`.
#[derive(Args)]
pub struct DumpOptions {
    /// If the log is damaged, write what was committed before the damage; without it nothing is written then
    #[arg(long)]
    pub salvage: bool,
    /// Write an INSERT for each row instead of COPY blocks, for programs that read SQL only
    #[arg(long)]
    pub inserts: bool,
    /// Write definitions, and no rows
    #[arg(short = 's', long)]
    pub schema_only: bool,
    /// Leave out roles, which are there where the dump is loaded
    #[arg(long)]
    pub no_roles: bool,
    /// Leave out owners: objects belong to the role that loads the dump
    #[arg(short = 'O', long)]
    pub no_owner: bool,
    /// Leave out privileges
    #[arg(short = 'x', long)]
    pub no_privileges: bool,
    /// Write to this file instead of standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Directory of the database
    pub directory: PathBuf,
    /// Tables and views; all if none is named
    pub names: Vec<String>,
}

/// Arguments of `frazil serve`.
#[derive(Args)]
#[command(after_help = "\
Without --trust-loopback clients log in as the role of --user with a password (SCRAM-SHA-256), which is read from the
environment variable FRAZIL_PASSWORD, or from the first line of the file of --password-file. At an address that other
machines reach, connections can be encrypted: with the certificate of --tls-cert and --tls-key, or with one that the
server makes for itself.

Every option can also be given as an environment variable (FRAZIL_LISTEN for --listen) or in the file of --config, in
TOML (listen = \"0.0.0.0:5433\"). The command line comes before the environment, and the environment before the file.

The first SIGTERM or Ctrl-C lets open transactions end, the second ends them at once. SIGHUP reads the certificate anew.

Examples:
  frazil serve shop.frazil --trust-loopback
  psql 'host=127.0.0.1 port=5433 dbname=shop'

  FRAZIL_PASSWORD=secret frazil serve shop.frazil --listen 0.0.0.0:5433 --user app")]
pub struct ServeOptions {
    /// Directory of the database, made if it does not exist; without it, an empty database in memory
    pub directory: Option<PathBuf>,
    /// Address to listen at; port 0 is one that the system chooses
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:5433")]
    pub listen: SocketAddr,
    /// Let programs of this machine in without a password
    #[arg(long)]
    pub trust_loopback: bool,
    /// Role that clients log in as
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// File whose first line is the password
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Certificate for TLS in PEM, followed by those that certify it
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate in PEM
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Refuse clients that do not use TLS
    #[arg(long)]
    pub tls_required: bool,
    /// Name of the database; without it, the directory's name up to its first dot, in memory frazil
    #[arg(long, value_name = "NAME")]
    pub database: Option<String>,
    /// Most clients at a time
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub max_connections: u16,
    /// Connections of these that superusers alone can take; without it 3, or all but one if there are fewer
    #[arg(long, value_name = "N")]
    pub superuser_reserved_connections: Option<u16>,
    /// Time that a client has to log in
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = login_time)]
    pub login_timeout: Duration,
    /// Time in which open transactions may end after the first SIGTERM; any if not given
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub shutdown_timeout: Option<Duration>,
    /// Address of metrics and health over HTTP: /metrics, /healthz, /readyz
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    /// Log statements that take so long or longer to standard error, as lines of JSON
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub log_slow_statements: Option<Duration>,
    /// Log slow statements with their constants and parameters
    #[arg(long)]
    pub log_values: bool,
    /// Open the directory for reading, also while another process writes it: nothing in it changes
    #[arg(long)]
    pub readonly: bool,
    /// Files that statements may name: on, off, or folders separated by commas
    #[arg(long, value_name = "WHICH", default_value = "off")]
    pub file_access: String,
    /// File of options in TOML
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Reads the time that a client has to log in: a second or more, as PostgreSQL's `authentication_timeout` has it.
fn login_time(text: &str) -> Result<Duration, String> {
    match time(text)? {
        time if time < Duration::from_secs(1) => {
            Err("no client could log in: a second is the least".to_owned())
        }
        time => Ok(time),
    }
}

/// Reads a time: a number with ms, s, min or h behind it.
fn time(text: &str) -> Result<Duration, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let milliseconds = match text[end..].trim() {
        "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => return Err("a time is a number with its unit: ms, s, min or h".to_owned()),
    };
    let number: Option<u64> = text[..end].parse().ok();
    let time = number.and_then(|number| number.checked_mul(milliseconds));
    time.map(Duration::from_millis)
        .ok_or_else(|| format!("\"{text}\" is not a time"))
}

/// Arguments of `frazil bench`, which reads them itself.
#[derive(Args)]
pub struct BenchOptions {
    /// EXPERIMENT [--scale-factor S] [--threads N] [--runs R] [--widths B,B,… | --all] [--json FILE]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("2 min"), Ok(Duration::from_secs(120)));
        for wrong in ["", "5", "s", "-1s", "1.5s", "5 days", "99999999999999999h"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_of_sqlite3_and_psql_are_understood() {
        let words = |text: &str| {
            let given = text.split(' ').map(OsString::from);
            let out: Vec<String> = normalized(given)
                .iter()
                .map(|a| a.display().to_string())
                .collect();
            out.join(" ")
        };
        assert_eq!(
            words("frazil -csv -bail -A x.db"),
            "frazil --mode=csv --bail --mode=unaligned x.db"
        );
        assert_eq!(words("frazil bench -json x"), "frazil bench -json x");
        assert_eq!(words("frazil -c --json -xt"), "frazil -c --mode=json -xt");
        assert!(
            Arguments::try_parse_from(normalized(
                ["frazil", "-bail", "-tqX"].map(OsString::from).into_iter()
            ))
            .is_ok()
        );
    }
}
