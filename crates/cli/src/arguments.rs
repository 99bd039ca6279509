//! The command line.

use crate::output::Mode;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

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
    /// Directory of the database, made if it does not exist; without it, an empty database in memory
    pub directory: Option<PathBuf>,
    /// Run these statements and leave (may be given several times)
    #[arg(short = 'c', long = "command", value_name = "SQL")]
    pub commands: Vec<String>,
    /// Run the statements of this file and leave (may be given several times)
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How results are written
    #[arg(long, value_enum, default_value = "box")]
    pub mode: Mode,
    /// Show the time each statement takes
    #[arg(long)]
    pub timing: bool,
}

/// What `frazil` does besides being a shell.
#[derive(Subcommand)]
pub enum Command {
    /// Make TPC-H data and load it, frozen, into a database directory
    Tpch(TpchOptions),
    /// Load TPC-H in memory, show its compression, run its 22 queries, then open a shell on it
    Demo(DemoOptions),
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
    /// Leave the tables hot instead of freezing them
    #[arg(long)]
    pub hot: bool,
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

/// Arguments of `frazil bench`, which reads them itself.
#[derive(Args)]
pub struct BenchOptions {
    /// EXPERIMENT [--scale-factor S] [--threads N] [--runs R] [--widths B,B,… | --all] [--json FILE]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}
