//! The work of a thread to which a socket is lent: messages, until none comes for a moment.

use crate::ended::Ended;
use crate::messages::Message;
use crate::output::Output;
use crate::registry::Registry;
use crate::session::{Flow, Session};
use crate::wire::{self, Line};
use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time after which the client of a statement is watched: the system tells the task of each packet then, which costs as
/// much as a short statement.
const LONG: Duration = Duration::from_millis(100);

/// A session with the messages that are to be run, and the way to its client.
pub struct Work {
    /// The session.
    pub session: Box<Session>,
    /// The messages.
    pub queue: VecDeque<Message>,
    /// The way to the client.
    pub output: Output,
    /// The progress, for the task.
    pub pulse: Arc<Pulse>,
    /// The sessions of the server, whose phase says that it ends.
    pub registry: Arc<Registry>,
}

/// Work that is done.
pub struct Done {
    /// The session.
    pub session: Box<Session>,
    /// The messages that were not run.
    pub queue: VecDeque<Message>,
    /// The socket, unless the task has it.
    pub line: Option<Line>,
    /// An error ends the session.
    pub ended: Result<(), Ended>,
}

/// The progress of a thread: a number that is odd while messages are run, and another one for the next messages.
#[derive(Debug, Default)]
pub struct Pulse(AtomicU64);

impl Pulse {
    fn beat(&self) {
        // The number is a hint: nothing else is read because of it.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn number(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Work {
    /// Runs messages until none comes for a moment, or something else has to be looked at.
    pub fn run(mut self) -> Done {
        let ended = self.run_all();
        Done {
            session: self.session,
            queue: self.queue,
            line: self.output.into_line(),
            ended,
        }
    }

    fn run_all(&mut self) -> Result<(), Ended> {
        let limit = self.session.transaction_limit();
        loop {
            self.pulse.beat();
            let flow = self.session.run(&mut self.queue, &mut self.output);
            self.pulse.beat();
            match flow {
                Ok(Flow::Continue) => {}
                Ok(Flow::End) | Err(_) => return Err(Ended::Gone),
            }
            let goes_on = self.queue.is_empty()
                && !self.session.is_ending()
                && self.session.transaction_limit() == limit
                && self.registry.is_running();
            let Some(line) = self.output.line().filter(|_| goes_on) else {
                return Ok(());
            };
            if !line.messages(&mut self.queue)? {
                return Ok(());
            }
        }
    }
}

/// Waits until the client leaves while a thread runs a statement that takes long.
pub async fn left(stream: Arc<TcpStream>, pulse: Arc<Pulse>) {
    let mut last = 0;
    loop {
        let number = pulse.number();
        let is_long = number == last && number % 2 == 1;
        last = number;
        match is_long {
            false => tokio::time::sleep(LONG).await,
            true => {
                if tokio::time::timeout(LONG, wire::left(&stream)).await.is_ok() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_is_odd_while_messages_are_run() {
        let pulse = Pulse::default();
        assert_eq!(pulse.number() % 2, 0);
        pulse.beat();
        assert_eq!(pulse.number() % 2, 1);
    }
}
