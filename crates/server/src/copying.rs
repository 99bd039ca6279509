//! COPY … FROM STDIN and TO STDOUT: bytes of the client as a reader, and a writer to the client.

use crate::copy_rows::CopyRows;
use crate::messages::Message;
use crate::output::{CopyPart, Output, gone};
use frazil::{CopyShape, CopyStreams, Error};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::Receiver;

/// The bytes of COPY between a statement and its client.
pub struct Copying<'a> {
    output: &'a mut Output,
    /// The messages behind the one that runs the statement: those of COPY among them.
    queue: &'a mut VecDeque<Message>,
    shape: CopyShape,
    /// Bytes for the client, row by row.
    rows: CopyRows,
    /// True once the client was told that bytes come.
    is_open: bool,
    failure: Failure,
}

/// Why the client's bytes ended, if it was not their end.
type Failure = Arc<Mutex<Option<Error>>>;

impl<'a> Copying<'a> {
    /// Bytes of a shape.
    pub fn new(output: &'a mut Output, queue: &'a mut VecDeque<Message>, shape: CopyShape) -> Copying<'a> {
        Copying {
            output,
            queue,
            shape,
            rows: CopyRows::new(shape.framing),
            is_open: false,
            failure: Arc::default(),
        }
    }

    /// Tells the client that bytes come, if it was not told.
    pub fn open(&mut self) {
        if !std::mem::replace(&mut self.is_open, true) {
            self.output.answers.copy(b'H', self.shape);
        }
    }

    /// Tells the client that all bytes came.
    pub fn close(&mut self) {
        self.open();
        let rest = self.rows.rest();
        if !rest.is_empty() {
            self.output.answers.message(b'd', |out| out.extend(rest));
        }
        self.output.answers.plain(b'c');
    }

    /// The reason why the client's bytes ended early; else the statement's own error.
    pub fn error(&self, error: Error) -> Error {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.unwrap_or(error)
    }
}

impl CopyStreams for Copying<'_> {
    fn input(&mut self) -> Box<dyn Read + Send> {
        self.output.answers.copy(b'G', self.shape);
        let parts = self.output.copy_in(std::mem::take(self.queue));
        Box::new(Input {
            parts: parts.ok(),
            part: Vec::new(),
            read: 0,
            failure: self.failure.clone(),
        })
    }

    fn output(&mut self) -> &mut dyn Write {
        self
    }
}

impl Write for Copying<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open();
        self.rows.add(bytes);
        while let Some(row) = self.rows.row() {
            self.output.answers.message(b'd', |out| out.extend(row));
            let sent = self.output.send_if_full();
            sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The client's bytes.
struct Input {
    /// `None` behind the last part.
    parts: Option<Receiver<CopyPart>>,
    part: Vec<u8>,
    /// Bytes of the part that were read.
    read: usize,
    failure: Failure,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.part.len() {
            let Some(parts) = &mut self.parts else {
                let failed = self
                    .failure
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .is_some();
                return if failed {
                    Err(io::ErrorKind::BrokenPipe.into())
                } else {
                    Ok(0)
                };
            };
            match parts.blocking_recv() {
                Some(CopyPart::Bytes(part)) => (self.part, self.read) = (part, 0),
                Some(CopyPart::Done) => self.parts = None,
                Some(CopyPart::Failed(error)) => self.fail(error),
                None => self.fail(gone()),
            }
        }
        let count = buffer.len().min(self.part.len() - self.read);
        buffer[..count].copy_from_slice(&self.part[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

impl Input {
    fn fail(&mut self, error: Error) {
        self.parts = None;
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}
