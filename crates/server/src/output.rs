//! The way of answers from the thread that runs statements to the task that writes to the socket.

use crate::answers::Answers;
use crate::messages::Message;
use frazil::{Error, Result, SqlState};
use std::collections::VecDeque;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Bytes that are sent in one go.
const BLOCK: usize = 32 << 10;
/// Blocks on the way: a client that reads slowly holds its statement back after so many.
const BLOCKS: usize = 4;
/// Parts of COPY's input on the way.
const PARTS: usize = 4;

/// A message of the thread to the task.
pub enum Outgoing {
    /// Bytes for the client.
    Bytes(Vec<u8>),
    /// COPY … FROM STDIN wants the client's bytes. The messages of the queue come before those of the socket.
    CopyIn(Sender<CopyPart>, VecDeque<Message>),
}

/// A message of the task to COPY … FROM STDIN.
pub enum CopyPart {
    /// Bytes of the client.
    Bytes(Vec<u8>),
    /// No more bytes come.
    Done,
    /// The client gave up, or sent something else.
    Failed(Error),
}

/// Answers on their way.
pub struct Output {
    /// Those that were not sent yet.
    pub answers: Answers,
    sender: Sender<Outgoing>,
}

impl Output {
    /// A way and its end.
    pub fn new() -> (Output, Receiver<Outgoing>) {
        let (sender, receiver) = channel(BLOCKS);
        let answers = Answers::default();
        (Output { answers, sender }, receiver)
    }

    /// Sends what there is once it is enough. 08006 if the client is gone.
    pub fn send_if_full(&mut self) -> Result<()> {
        match self.answers.len() >= BLOCK {
            true => self.send(),
            false => Ok(()),
        }
    }

    /// Sends what there is. 08006 if the client is gone.
    pub fn send(&mut self) -> Result<()> {
        if self.answers.len() == 0 {
            return Ok(());
        }
        let bytes = self.answers.take();
        self.sender
            .blocking_send(Outgoing::Bytes(bytes))
            .map_err(|_| gone())
    }

    /// Asks for the client's bytes, before which the messages of a queue come. 08006 if the client is gone.
    pub fn copy_in(&mut self, queue: VecDeque<Message>) -> Result<Receiver<CopyPart>> {
        self.send()?;
        let (sender, receiver) = channel(PARTS);
        let sent = self.sender.blocking_send(Outgoing::CopyIn(sender, queue));
        sent.map(|()| receiver).map_err(|_| gone())
    }
}

/// The error 08006 of a client that is gone.
pub fn gone() -> Error {
    Error::new(SqlState::CONNECTION_FAILURE, "connection to client lost")
}
