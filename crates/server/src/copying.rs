//! COPY … FROM STDIN and TO STDOUT: bytes of the client as a reader, and a writer to the client.

use crate::client_text::{self, ClientText, TextPlace};
use crate::copy_rows::{CopyRows, HEADER};
use crate::messages::Message;
use crate::output::{CopyPart, Output, gone};
use frazil::{ClientEncoding, CopyFraming, CopyShape, CopyStreams, Error, Result, Schema, SqlState};
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
    conversion: Conversion,
    /// True once a row could not be converted: no row behind it is sent.
    has_failed: bool,
    failure: Failure,
}

/// The conversion of COPY's bytes between UTF-8 and the client's encoding.
enum Conversion {
    /// None: the client's texts are UTF-8, or COPY's data are not in its encoding.
    None,
    /// All bytes are text.
    All,
    /// Binary: each value has its texts in the place of its column. `header` bytes come before the next row.
    Values { places: Vec<TextPlace>, header: usize },
}

impl Conversion {
    /// The conversion of COPY of a shape. `schema` is that of rows that go out. 0A000 for rows in binary form that come
    /// in.
    fn new(encoding: ClientEncoding, shape: CopyShape, schema: Option<&Schema>) -> Result<Conversion> {
        let is_binary = shape.framing == CopyFraming::Binary;
        match (client_text::converts(encoding), schema) {
            (false, _) => Ok(Conversion::None),
            (true, Some(schema)) if is_binary => {
                let columns = schema.columns.iter();
                Ok(Conversion::Values {
                    places: columns.map(|column| TextPlace::in_binary(column.ty)).collect(),
                    header: HEADER,
                })
            }
            (true, None) if is_binary => {
                let what = format!(
                    "COPY FROM STDIN in binary format with client_encoding {}",
                    encoding.name()
                );
                Err(Error::unsupported(what)
                    .with_hint("use the text or CSV format, or SET client_encoding = UTF8"))
            }
            (true, _) if shape.is_encoded => Ok(Conversion::All),
            (true, _) => Ok(Conversion::None),
        }
    }

    /// Appends a row for the client to a message. 22P05 for a character that the client's encoding lacks.
    fn push_row(&mut self, row: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self {
            Conversion::None => out.extend_from_slice(row),
            Conversion::All => client_text::to_latin1(row, out)?,
            Conversion::Values { places, header } => {
                // The values are behind their number, and that of the first row behind the header.
                let values = (std::mem::take(header) + 2).min(row.len());
                let start = out.len() + values;
                out.extend_from_slice(row);
                client_text::row_to_latin1(out, start, places, &mut Vec::new())?;
            }
        }
        Ok(())
    }
}

/// Why the client's bytes ended, if it was not their end.
type Failure = Arc<Mutex<Option<Error>>>;

impl<'a> Copying<'a> {
    /// Bytes of a shape, to which rows of `schema` go out. 0A000 for bytes that cannot be converted to the client's
    /// encoding.
    pub fn new(
        output: &'a mut Output,
        queue: &'a mut VecDeque<Message>,
        shape: CopyShape,
        schema: Option<&Schema>,
    ) -> Result<Copying<'a>> {
        Ok(Copying {
            conversion: Conversion::new(output.answers.encoding, shape, schema)?,
            output,
            queue,
            shape,
            rows: CopyRows::new(shape.framing),
            is_open: false,
            has_failed: false,
            failure: Arc::default(),
        })
    }

    /// Tells the client that bytes come, if it was not told.
    pub fn open(&mut self) {
        if !std::mem::replace(&mut self.is_open, true) {
            self.output.answers.copy(b'H', self.shape);
        }
    }

    /// Tells the client that all bytes came. 22P05 for a character that the client's encoding lacks.
    pub fn close(&mut self) -> Result<()> {
        self.open();
        let rest = self.rows.rest();
        if !rest.is_empty() {
            let conversion = &mut self.conversion;
            self.output
                .answers
                .try_message(b'd', |out| conversion.push_row(rest, out))?;
        }
        self.output.answers.plain(b'c');
        Ok(())
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
            encoding: self.output.answers.encoding,
            is_converted: matches!(self.conversion, Conversion::All),
            failure: self.failure.clone(),
        })
    }

    fn output(&mut self) -> &mut dyn Write {
        self
    }
}

impl Write for Copying<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_failed {
            // Writers with a buffer try again when they are dropped.
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.open();
        self.rows.add(bytes);
        while let Some(row) = self.rows.row() {
            let conversion = &mut self.conversion;
            let answers = &mut self.output.answers;
            if let Err(error) = answers.try_message(b'd', |out| conversion.push_row(row, out)) {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.has_failed = true;
                return Err(io::ErrorKind::InvalidData.into());
            }
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
    encoding: ClientEncoding,
    /// True if the client's bytes are text in its encoding, to be read as UTF-8.
    is_converted: bool,
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
                Some(CopyPart::Bytes(part)) => self.take(part),
                Some(CopyPart::GivenUp(reason)) => self.fail(given_up(reason, self.encoding)),
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
    /// Takes the next bytes.
    fn take(&mut self, part: Vec<u8>) {
        (self.part, self.read) = (part, 0);
        if self.is_converted {
            let mut text = Vec::with_capacity(self.part.len());
            client_text::push_latin1(&self.part, &mut text);
            self.part = text;
        }
    }

    fn fail(&mut self, error: Error) {
        self.parts = None;
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

/// The error 57014 of a client that gave up; 22021 if its reason is not a text in its encoding.
fn given_up(reason: ClientText, encoding: ClientEncoding) -> Error {
    match reason.decode(encoding) {
        Ok(reason) => Error::new(
            SqlState::QUERY_CANCELED,
            format!("COPY from stdin failed: {reason}"),
        ),
        Err(error) => error,
    }
}
