//! Workers with a database each, in processes of their own: the baseline of workers that share a database.
//!
//! The experiment starts its own program with [`SERVE`] and the name of a unit. The process says `ready`, then runs as
//! many transactions as each line of its input says, and answers each line with `done`.

use super::worker::{Unit, Worker};
use crate::io_errors::io_error;
use frazil::Database;
use frazil_types::{Error, Result, SqlState};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// First argument of `bench` in the process of a peer.
pub const SERVE: &str = "writers-peer";

const READY: &str = "ready";
const DONE: &str = "done";

/// Serves as a peer until the input ends.
pub fn serve(unit: &str, input: impl BufRead, mut out: impl Write) -> Result<()> {
    let unit = Unit::named(unit).ok_or_else(|| {
        Error::new(
            SqlState::INVALID_PARAMETER,
            format!("{unit} is not a unit of writers"),
        )
    })?;
    let database = Database::memory()?;
    let mut worker = Worker::new(&database, 0)?;
    let mut say = |word: &str| {
        let said = writeln!(out, "{word}").and_then(|()| out.flush());
        said.map_err(|e| io_error("cannot answer".to_owned(), &e))
    };
    say(READY)?;
    for line in input.lines() {
        let line = line.map_err(|e| io_error("cannot read the number of transactions".to_owned(), &e))?;
        let transactions = line.trim().parse().map_err(|_| {
            Error::new(
                SqlState::INVALID_PARAMETER,
                format!("\"{line}\" is not a number of transactions"),
            )
        })?;
        worker.run(unit, transactions)?;
        say(DONE)?;
    }
    Ok(())
}

/// A worker with a database of its own.
pub enum Peer {
    /// In a process.
    Process {
        child: Child,
        input: Option<ChildStdin>,
        output: BufReader<ChildStdout>,
    },
    /// In this process.
    Thread(Unit, Box<Worker>),
}

impl Peer {
    /// Starts a peer: a process of `program`, or a database of this process.
    pub fn start(program: Option<&Path>, unit: Unit) -> Result<Peer> {
        let Some(program) = program else {
            let database = Database::memory()?;
            return Ok(Peer::Thread(unit, Box::new(Worker::new(&database, 0)?)));
        };
        let failed = |e: &std::io::Error| io_error(format!("cannot start {}", program.display()), e);
        let mut child = Command::new(program)
            .args(["bench", SERVE, unit.name()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| failed(&e))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::internal("a process has its pipes"));
        };
        let mut peer = Peer::Process {
            child,
            input: Some(input),
            output: BufReader::new(output),
        };
        peer.expect(READY)?;
        Ok(peer)
    }

    /// Runs transactions.
    pub fn run(&mut self, transactions: usize) -> Result<()> {
        match self {
            Peer::Thread(unit, worker) => worker.run(*unit, transactions),
            Peer::Process { input, .. } => {
                let input = input
                    .as_mut()
                    .ok_or_else(|| Error::internal("a peer has ended"))?;
                let sent = writeln!(input, "{transactions}").and_then(|()| input.flush());
                sent.map_err(|e| io_error("cannot write to a peer".to_owned(), &e))?;
                self.expect(DONE)
            }
        }
    }

    /// Waits for an answer.
    fn expect(&mut self, word: &str) -> Result<()> {
        let Peer::Process { output, .. } = self else {
            return Ok(());
        };
        let mut line = String::new();
        let read = output.read_line(&mut line);
        read.map_err(|e| io_error("cannot read from a peer".to_owned(), &e))?;
        match line.trim() == word {
            true => Ok(()),
            false => Err(Error::internal(format!("a peer answered \"{}\"", line.trim()))),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Peer::Process { child, input, .. } = self {
            // The end of its input ends the process; one that failed has ended.
            drop(input.take());
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_answers_each_line() {
        let mut out = Vec::new();
        serve("20_statements", &b"3\n1\n"[..], &mut out).unwrap();
        assert_eq!(out, b"ready\ndone\ndone\n");
        assert!(serve("rows", &b""[..], Vec::new()).is_err());
        assert!(serve("single_row", &b"many\n"[..], Vec::new()).is_err());
    }
}
