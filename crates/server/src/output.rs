//! The way of answers from the thread that runs statements to the socket: the thread's own, or the task's.

use crate::answers::Answers;
use crate::client_text::ClientText;
use crate::messages::Message;
use crate::wire::Line;
use frazil::{Activity, Error, Result, SqlState};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Bytes that are sent in one go.
const BLOCK: usize = 32 << 10;
/// Most blocks on the way to the task. A client that reads slowly holds its statement back then.
const BLOCKS: usize = 4;
/// Parts of COPY's input on the way.
const PARTS: usize = 4;

/// A message of the thread to the task.
pub enum Outgoing {
    /// Bytes for the client.
    Bytes(Vec<u8>),
    /// COPY … FROM STDIN wants the client's bytes.
    CopyIn(CopyIn),
}

/// The request of COPY … FROM STDIN for the client's bytes.
pub struct CopyIn {
    /// Takes the bytes.
    pub parts: Sender<CopyPart>,
    /// Messages that come before those of the socket.
    pub queue: VecDeque<Message>,
    /// The socket; `None` if the task has it.
    pub line: Option<Line>,
}

/// A message of the task to COPY … FROM STDIN.
pub enum CopyPart {
    /// Bytes of the client.
    Bytes(Vec<u8>),
    /// No more bytes come.
    Done,
    /// The client gave up, for a reason.
    GivenUp(ClientText),
    /// The client sent something else.
    Failed(Error),
}

/// Answers on their way.
pub struct Output {
    /// Those that were not sent yet.
    pub answers: Answers,
    /// The socket; `None` once the task has it back, and writes what is sent.
    line: Option<Line>,
    /// The session's activity: it says if somebody ends the session.
    activity: Arc<Activity>,
    sender: Sender<Outgoing>,
}

impl Output {
    /// A way to a socket, and the end at which the task takes what is sent to it.
    pub fn new(line: Line, activity: Arc<Activity>) -> (Output, Receiver<Outgoing>) {
        let (sender, receiver) = channel(BLOCKS);
        let output = Output {
            answers: Answers::default(),
            line: Some(line),
            activity,
            sender,
        };
        (output, receiver)
    }

    /// Writes texts in the encoding that the client reads from now on: `client_encoding`.
    pub fn follow_encoding(&mut self) {
        self.answers.encoding = self.activity.client_encoding();
    }

    /// The socket, unless the task has it.
    pub fn line(&mut self) -> Option<&mut Line> {
        self.line.as_mut()
    }

    /// Takes the socket, unless the task has it.
    pub fn into_line(self) -> Option<Line> {
        self.line
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
        let Some(line) = &mut self.line else {
            let sent = self.sender.blocking_send(Outgoing::Bytes(self.answers.take()));
            return sent.map_err(|_| gone());
        };
        let written = line.write(self.answers.bytes(), &self.activity);
        self.answers.truncate(0);
        written.map_err(|_| gone())
    }

    /// Asks the task for the client's bytes, before which the messages of a queue come, and leaves the socket to it.
    /// 08006 if the client is gone.
    pub fn copy_in(&mut self, queue: VecDeque<Message>) -> Result<Receiver<CopyPart>> {
        self.send()?;
        let (parts, receiver) = channel(PARTS);
        let line = self.line.take();
        let wanted = Outgoing::CopyIn(CopyIn { parts, queue, line });
        let sent = self.sender.blocking_send(wanted);
        sent.map(|()| receiver).map_err(|_| gone())
    }
}

/// The error 08006 of a client that is gone.
pub fn gone() -> Error {
    Error::new(SqlState::CONNECTION_FAILURE, "connection to client lost")
}
