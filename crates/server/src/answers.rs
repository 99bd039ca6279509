//! The messages of the server, written to bytes.

use crate::catalog_vectors;
use crate::client_text;
use crate::parameters::Format;
use frazil::{
    Block, ClientEncoding, CopyFraming, CopyShape, Described, Error, LogicalType, Notice, Notification,
    Result, Schema, Severity,
};

/// Bytes that are to be sent.
#[derive(Default)]
pub struct Answers {
    bytes: Vec<u8>,
    /// The encoding in which the client reads texts.
    pub encoding: ClientEncoding,
}

/// The consequence of an error for its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gravity {
    /// The session goes on.
    Error,
    /// The session ends.
    Fatal,
}

impl Answers {
    /// No bytes yet, for a client that reads texts in an encoding.
    pub fn in_encoding(encoding: ClientEncoding) -> Answers {
        Answers {
            bytes: Vec::new(),
            encoding,
        }
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the bytes.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The bytes that were not taken.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Keeps the first `len` bytes, and takes back all that was written since.
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// Writes a message of a type whose content `write` appends.
    pub fn message(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
        let at = self.begin(kind);
        write(&mut self.bytes);
        self.end(at);
    }

    /// Begins a message of a type; returns where its length is.
    pub fn begin(&mut self, kind: u8) -> usize {
        self.bytes.push(kind);
        self.bytes.extend([0; 4]);
        self.bytes.len() - 4
    }

    /// The bytes, to which the content of a message is appended.
    pub fn content(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Ends the message whose length is at a place. Contents are shorter than 2 GB: each value is, and rows are
    /// checked.
    pub fn end(&mut self, at: usize) {
        let length = (self.bytes.len() - at) as u32;
        self.bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// A message without content.
    pub fn plain(&mut self, kind: u8) {
        self.message(kind, |_| {});
    }

    /// AuthenticationRequest of a kind, with what it carries.
    pub fn authentication(&mut self, kind: i32, data: &[u8]) {
        self.message(b'R', |out| {
            out.extend(kind.to_be_bytes());
            out.extend(data);
        });
    }

    /// BackendKeyData.
    pub fn key(&mut self, process: i32, key: i32) {
        self.message(b'K', |out| {
            out.extend(process.to_be_bytes());
            out.extend(key.to_be_bytes());
        });
    }

    /// Writes a message of a type whose content, with texts, `write` appends. Errors with 22P05, and writes nothing, if
    /// the client's encoding lacks a character.
    fn texts(&mut self, kind: u8, write: impl FnOnce(&mut TextsOut<'_>) -> Result<()>) -> Result<()> {
        let encoding = self.encoding;
        self.try_message(kind, |bytes| write(&mut TextsOut { encoding, bytes }))
    }

    /// Writes a message of a type whose content `write` appends. Writes nothing if that fails.
    pub fn try_message(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let start = self.bytes.len();
        let at = self.begin(kind);
        let written = write(&mut self.bytes);
        match written {
            Ok(()) => self.end(at),
            Err(_) => self.truncate(start),
        }
        written
    }

    /// ParameterStatus. Characters that the client's encoding lacks are question marks: PostgreSQL's session would fail
    /// again whenever it is ready.
    pub fn parameter(&mut self, name: &str, value: &str) {
        if self.try_parameter(name, value).is_err() {
            let _ = self.try_parameter(name, &client_text::with_question_marks(value));
        }
    }

    fn try_parameter(&mut self, name: &str, value: &str) -> Result<()> {
        self.texts(b'S', |out| {
            out.text(name)?;
            out.text(value)
        })
    }

    /// NegotiateProtocolVersion: 3.0 is spoken, and none of these options.
    pub fn negotiate(&mut self, options: &[String]) {
        self.message(b'v', |out| {
            out.extend(0i32.to_be_bytes());
            out.extend((options.len() as i32).to_be_bytes());
            options.iter().for_each(|option| text(out, option));
        });
    }

    /// ReadyForQuery.
    pub fn ready(&mut self, block: Block) {
        self.message(b'Z', |out| {
            out.push(match block {
                Block::Idle => b'I',
                Block::Open => b'T',
                Block::Failed => b'E',
            });
        });
    }

    /// CommandComplete, with PostgreSQL's tag.
    pub fn complete(&mut self, tag: &str, rows: Option<u64>) {
        self.message(b'C', |out| {
            let tag = match (tag, rows) {
                ("INSERT", Some(rows)) => format!("INSERT 0 {rows}"),
                ("SHOW" | "EXPLAIN", Some(_)) => tag.to_owned(),
                ("CREATE TABLE AS" | "CREATE MATERIALIZED VIEW", Some(rows)) => format!("SELECT {rows}"),
                (tag, Some(rows)) => format!("{tag} {rows}"),
                (tag, None) => tag.to_owned(),
            };
            text(out, &tag);
        });
    }

    /// The columns of a result: RowDescription, or NoData. The errors of [`Answers::columns`].
    pub fn described(&mut self, described: &Described, format: impl Fn(usize) -> Format) -> Result<()> {
        match described.columns() {
            Some(schema) => self.columns(schema, format)?,
            None => self.plain(b'n'),
        }
        Ok(())
    }

    /// RowDescription of columns that are sent in these formats. 22P05 for a name in characters that the client's
    /// encoding lacks.
    pub fn columns(&mut self, schema: &Schema, format: impl Fn(usize) -> Format) -> Result<()> {
        self.texts(b'T', |texts| {
            texts.bytes.extend((schema.columns.len() as u16).to_be_bytes());
            for (at, column) in schema.columns.iter().enumerate() {
                texts.text(&column.name)?;
                let out = &mut *texts.bytes;
                let origin = schema.origin(at);
                out.extend(origin.map_or(0, |origin| origin.relation).to_be_bytes());
                let number = origin.map_or(0, |origin| u16::try_from(origin.column).unwrap_or(0));
                out.extend(number.to_be_bytes());
                out.extend(catalog_vectors::oid(schema, at).to_be_bytes());
                out.extend(column.ty.info().typlen.to_be_bytes());
                out.extend(modifier(column.ty).to_be_bytes());
                out.extend(format(at).code().to_be_bytes());
            }
            Ok(())
        })
    }

    /// ParameterDescription.
    pub fn parameters(&mut self, oids: impl ExactSizeIterator<Item = u32>) {
        self.message(b't', |out| {
            out.extend((oids.len() as u16).to_be_bytes());
            oids.for_each(|oid| out.extend(oid.to_be_bytes()));
        });
    }

    /// CopyInResponse or CopyOutResponse, with one format for the whole and for each column.
    pub fn copy(&mut self, kind: u8, shape: CopyShape) {
        let format = u8::from(shape.framing == CopyFraming::Binary);
        self.message(kind, |out| {
            out.push(format);
            out.extend((shape.columns as u16).to_be_bytes());
            out.extend((0..shape.columns).flat_map(|_| [0, format]));
        });
    }

    /// ErrorResponse. Error 22P05 takes the place of one with characters that the client's encoding lacks, as in
    /// PostgreSQL.
    pub fn error(&mut self, gravity: Gravity, error: &Error) {
        if let Err(other) = self.try_error(gravity, error) {
            // Its message is ASCII.
            let _ = self.try_error(gravity, &other);
        }
    }

    fn try_error(&mut self, gravity: Gravity, error: &Error) -> Result<()> {
        let severity = match gravity {
            Gravity::Error => "ERROR",
            Gravity::Fatal => "FATAL",
        };
        let position = error.position().map(|at| at.to_string());
        // PostgreSQL names a table in the errors that name its schema, and in no others.
        let of_schema = |field| error.schema().and(field);
        self.texts(b'E', |out| {
            let fields = [
                (b'S', Some(severity)),
                (b'V', Some(severity)),
                (b'C', Some(error.state().0)),
                (b'M', Some(error.message())),
                (b'D', error.detail()),
                (b'H', error.hint()),
                (b'P', position.as_deref()),
                (b's', error.schema()),
                (b't', of_schema(error.table())),
                (b'c', of_schema(error.column())),
                (b'd', of_schema(error.data_type())),
                (b'n', of_schema(error.constraint())),
            ];
            out.fields(fields.into_iter())
        })
    }

    /// NotificationResponse. A warning with 22P05 takes the place of one with characters that the client's encoding
    /// lacks; PostgreSQL ends the session.
    pub fn notification(&mut self, notification: &Notification) {
        let told = self.texts(b'A', |out| {
            out.bytes.extend(notification.session.to_be_bytes());
            out.text(&notification.channel)?;
            out.text(&notification.payload)
        });
        if let Err(error) = told {
            self.notice(&of_error(Severity::Warning, &error));
        }
    }

    /// NoticeResponse. A notice with 22P05 takes the place of one with characters that the client's encoding lacks. The
    /// statement has succeeded; PostgreSQL's fails.
    pub fn notice(&mut self, notice: &Notice) {
        if let Err(error) = self.try_notice(notice) {
            // Its message is ASCII.
            let _ = self.try_notice(&of_error(notice.severity, &error));
        }
    }

    fn try_notice(&mut self, notice: &Notice) -> Result<()> {
        let severity = notice.severity.to_string();
        self.texts(b'N', |out| {
            let fields = [
                (b'S', Some(severity.as_str())),
                (b'V', Some(severity.as_str())),
                (b'C', Some(notice.state.0)),
                (b'M', Some(notice.message.as_str())),
                (b'D', notice.detail.as_deref()),
            ];
            out.fields(fields.into_iter())
        })
    }
}

/// The content of a message with texts, and their encoding.
struct TextsOut<'a> {
    encoding: ClientEncoding,
    bytes: &'a mut Vec<u8>,
}

impl TextsOut<'_> {
    /// Appends a text and the zero byte that ends it. 22P05 for a character that the encoding lacks.
    fn text(&mut self, said: &str) -> Result<()> {
        if !client_text::converts(self.encoding) {
            text(self.bytes, said);
            return Ok(());
        }
        let mut terminated = Vec::with_capacity(said.len() + 1);
        text(&mut terminated, said);
        client_text::to_latin1(&terminated, self.bytes)
    }

    /// Appends the fields of an error or notice that there are, each behind its kind, and the zero byte that ends them.
    /// 22P05 for a character that the encoding lacks, unless it is a sign of the database's own messages.
    fn fields<'a>(&mut self, fields: impl Iterator<Item = (u8, Option<&'a str>)>) -> Result<()> {
        for (kind, value) in fields {
            if let Some(value) = value {
                self.bytes.push(kind);
                match client_text::converts(self.encoding) {
                    false => self.text(value)?,
                    true => self.text(&client_text::spelled(value))?,
                }
            }
        }
        self.bytes.push(0);
        Ok(())
    }
}

/// A notice of an error.
fn of_error(severity: Severity, error: &Error) -> Notice {
    Notice {
        severity,
        state: error.state(),
        message: error.message().to_owned(),
        detail: None,
    }
}

/// Appends a text and the zero byte that ends it; zero bytes within are left out.
fn text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|&byte| byte != 0));
    out.push(0);
}

/// PostgreSQL's modifier of a type: the length or digits of a column; -1 without.
fn modifier(ty: LogicalType) -> i32 {
    /// PostgreSQL adds this number to lengths and digits.
    const HEADER: i32 = 4;
    /// Digits of a second that are all.
    const ALL: u8 = frazil_types::logical_type::MICRO_DIGITS;
    match ty {
        LogicalType::Varchar(length) | LogicalType::Char(length) => {
            i32::try_from(length).map_or(-1, |length| length + HEADER)
        }
        LogicalType::Decimal { precision, scale }
            if precision < frazil_types::logical_type::DECIMAL_MAX_DIGITS =>
        {
            (i32::from(precision) << 16 | i32::from(scale)) + HEADER
        }
        LogicalType::Time(digits) | LogicalType::Timestamp(digits) | LogicalType::TimestampTz(_, digits)
            if digits < ALL =>
        {
            digits.into()
        }
        _ => -1,
    }
}
