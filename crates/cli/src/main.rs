//! The program `frazil`: a shell on a database directory, a server on it, what checks one and writes it as SQL, TPC-H
//! and TPC-C on demand, a demonstration, the benchmarks.
#![forbid(unsafe_code)]

mod arguments;
mod backend;
mod branches;
mod commands;
mod complaint;
mod completion;
mod copying;
mod demo;
mod dump;
mod editor;
mod highlight;
mod interrupt;
mod keywords;
mod notify;
mod open_files;
mod opening;
mod output;
mod pager;
mod place;
mod progress;
mod remote;
mod running;
mod script;
mod serve;
mod serve_options;
mod shell;
mod start;
mod switching;
mod target;
mod text;
mod tpcc;
mod tpch;
mod verify;

use arguments::Command;
use std::process::ExitCode;

// Row pages, strings and batches are allocated and freed on all threads, which mimalloc does best.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = serve_options::parse(arguments::normalized(std::env::args_os()));
    let outcome = match &arguments.command {
        Some(Command::Tpch(options)) => tpch::run(options),
        Some(Command::Tpcc(options)) => tpcc::run(options),
        Some(Command::Demo(options)) => demo::run(options),
        Some(Command::Verify(options)) => verify::run(options),
        Some(Command::Dump(options)) => dump::run(options),
        Some(Command::Serve(options)) => serve::run(options),
        Some(Command::Bench(options)) => run_bench(&options.arguments),
        None => start::run(&arguments.shell),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            failure.exit_code()
        }
    }
}

fn run_bench(arguments: &[String]) -> Result<(), complaint::Complaint> {
    interrupt::install();
    interrupt::leaving(frazil_bench::interrupt, || frazil_bench::run(arguments))
        .map_err(complaint::Complaint::from)
}
