//! The messages of statements and COPY.
//!
//! A statement is prepared without a name and described, so that its columns are known before the first row; then it is
//! bound and run. Of several statements in a text each runs by itself, as in the embedded database.

use super::errors::{error_of, interned, lost, notice_of, violation, wrong};
use super::values::Form;
use super::wire::Wire;
use crate::text::{TokenKind, tokens};
use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use frazil::{
    Block, ColumnVector, CopyStreams, Error, Notice, Notification, Outcome, RawValue as Value, Response,
    Result, RowBatch, RowSink, Schema, SqlState,
};
use frazil_types::Zone;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{DataRowBody, Message, RowDescriptionBody};
use postgres_protocol::message::frontend::{self, CopyData};
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Instant;

/// Rows that are handed over at a time.
const BATCH_ROWS: usize = 1024;
/// Bytes of rows that are handed over at a time, so that rows of large values come one by one.
const BATCH_BYTES: usize = 1 << 20;
/// Bytes of COPY in a message.
const COPY_PART: usize = 64 << 10;

/// A session behind its login.
pub struct Session {
    wire: Wire,
    block: Block,
    zone: Option<Zone>,
    is_frazil: bool,
    notifications: Vec<Notification>,
    notices: Vec<Notice>,
    /// True if the last statement gave rows, perhaps none.
    gave_rows: bool,
    is_lost: bool,
}

/// A statement of a text.
#[derive(Debug, PartialEq, Eq)]
struct Part<'a> {
    text: &'a str,
    /// Characters of the text before it.
    before: usize,
}

/// Cuts a text into its statements. A text without any is one, which the server finds empty.
fn parts(sql: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut start, mut has_words) = (0, false);
    for token in tokens(sql) {
        match token.kind {
            TokenKind::Symbol if &sql[token.range.clone()] == ";" => {
                if has_words {
                    parts.push((start, token.range.end));
                }
                (start, has_words) = (token.range.end, false);
            }
            TokenKind::Blank | TokenKind::Comment => {}
            _ => has_words = true,
        }
    }
    if has_words {
        parts.push((start, sql.len()));
    }
    match &parts[..] {
        [] | [_] => vec![Part { text: sql, before: 0 }],
        several => (several.iter())
            .map(|&(start, end)| Part {
                text: &sql[start..end],
                before: sql[..start].chars().count(),
            })
            .collect(),
    }
}

/// The name of a command and the rows that it counts: `INSERT 0 3` is INSERT and 3.
fn read_tag(tag: &str) -> (&'static str, Option<u64>) {
    let (name, rows) = match tag.rsplit_once(' ') {
        Some((name, count)) if count.bytes().all(|b| b.is_ascii_digit()) => (name, count.parse().ok()),
        Some(_) | None => (tag, None),
    };
    (interned(name.strip_suffix(" 0").unwrap_or(name)), rows)
}

/// The columns of a result.
#[derive(Clone)]
pub struct Columns {
    /// Names and types.
    pub schema: Arc<Schema>,
    /// Numbers and modifiers of the types.
    pub types: Vec<(u32, i32)>,
    forms: Vec<Form>,
}

/// Rows that arrived and are not handed over yet.
struct Pending {
    forms: Vec<Form>,
    values: Vec<Vec<Value>>,
    rows: usize,
    bytes: usize,
}

impl Pending {
    fn new(forms: Vec<Form>) -> Pending {
        let values = vec![Vec::new(); forms.len()];
        Pending {
            forms,
            values,
            rows: 0,
            bytes: 0,
        }
    }

    fn add(&mut self, row: &DataRowBody) -> Result<()> {
        let malformed = |_| violation("a row of the server cannot be read");
        let mut ranges = row.ranges();
        for (form, values) in self.forms.iter().zip(&mut self.values) {
            let range = ranges.next().map_err(malformed)?;
            let range = range.ok_or_else(|| violation("a row of the server has too few values"))?;
            values.push(match range {
                Some(range) => form.value(&row.buffer()[range])?,
                None => Value::Null,
            });
        }
        self.rows += 1;
        self.bytes += row.buffer().len();
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    /// Hands the rows over.
    fn flush(&mut self, sink: &mut dyn RowSink) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let columns = self.forms.iter().zip(&self.values);
        let batch = RowBatch {
            columns: columns
                .map(|(form, values)| ColumnVector::from_values(form.ty(), values))
                .collect(),
            rows: self.rows,
        };
        self.values.iter_mut().for_each(Vec::clear);
        (self.rows, self.bytes) = (0, 0);
        sink.rows(batch)
    }
}

impl Session {
    /// A session whose server has let the client in.
    pub fn new(wire: Wire) -> Session {
        Session {
            wire,
            block: Block::Idle,
            zone: None,
            is_frazil: false,
            notifications: Vec::new(),
            notices: Vec::new(),
            gave_rows: false,
            is_lost: false,
        }
    }

    /// The state of the transaction.
    pub fn block(&self) -> Block {
        self.block
    }

    /// True if the server is Frazil's.
    pub fn is_frazil(&self) -> bool {
        self.is_frazil
    }

    /// True once the connection broke.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// True if the last statement gave rows, perhaps none.
    pub fn gave_rows(&self) -> bool {
        self.gave_rows
    }

    /// Takes the notifications that have arrived.
    pub fn notifications(&mut self) -> Vec<Notification> {
        while !self.is_lost {
            match self.wire.arrived() {
                Ok(Some(message)) => drop(self.noted(message)),
                Ok(None) => break,
                Err(_) => self.is_lost = true,
            }
        }
        std::mem::take(&mut self.notifications)
    }

    /// Says that the client leaves.
    pub fn leave(&mut self) {
        if !self.is_lost {
            frontend::terminate(&mut self.wire.out);
            // A server that does not hear it sees the socket close.
            let _ = self.wire.send();
        }
    }

    /// Reads messages up to the first ReadyForQuery, and hands the session's own to `take`.
    pub fn until_ready(&mut self, mut take: impl FnMut(Message)) -> Result<()> {
        self.exchange(None, |_, message| {
            take(message);
            Ok(())
        })
    }

    /// Runs statements one after the other; the rows go to `sink`.
    pub fn run(
        &mut self,
        sql: &str,
        values: &[Value],
        sink: &mut dyn RowSink,
        cancel: &dyn Fn(),
    ) -> Result<Response> {
        let begun = Instant::now();
        // Notices of a statement that failed are gone, as in the embedded database.
        self.notices.clear();
        let mut outcome = Outcome::default();
        for part in parts(sql) {
            let result = self.statement(part.text, values, sink, cancel);
            outcome = result.map_err(|error| behind(error, part.before))?;
        }
        Ok(self.response(outcome, begun))
    }

    fn response(&mut self, outcome: Outcome, begun: Instant) -> Response {
        let mut response = Response {
            outcome,
            notices: std::mem::take(&mut self.notices),
            ..Response::default()
        };
        response.timing.execute = begun.elapsed();
        response
    }

    fn statement(
        &mut self,
        sql: &str,
        values: &[Value],
        sink: &mut dyn RowSink,
        cancel: &dyn Fn(),
    ) -> Result<Outcome> {
        let columns = self.prepare(sql)?;
        self.gave_rows = columns.is_some();
        let forms = columns
            .as_ref()
            .map_or_else(Vec::new, |columns| columns.forms.clone());
        let numbers = forms.iter().map(|form| form.number());
        let out = &mut self.wire.out;
        let bound = frontend::bind("", "", [], values, text, numbers, out);
        bound.map_err(|_| wrong("the values cannot be sent"))?;
        frontend::execute("", 0, out).map_err(zero_byte)?;
        frontend::sync(out);
        let mut pending = Pending::new(forms);
        let mut given = Outcome::default();
        let begun = match &columns {
            Some(columns) => sink.begin(&columns.schema),
            None => Ok(()),
        };
        self.send()?;
        let mut failed = begun.err();
        if failed.is_some() {
            cancel();
        }
        let run = self.exchange(None, |session, message| {
            if failed.is_some() {
                return Ok(());
            }
            let taken = match message {
                Message::DataRow(row) => pending.add(&row).and_then(|()| match pending.is_full() {
                    true => pending.flush(sink),
                    false => Ok(()),
                }),
                Message::CommandComplete(body) => {
                    let (tag, rows) = read_tag(body.tag().unwrap_or_default());
                    given = Outcome::Command { tag, rows };
                    pending.flush(sink)
                }
                Message::CopyInResponse(_) => session.refuse_copy(),
                Message::CopyOutResponse(_) => Err(not_copy()),
                _ => Ok(()),
            };
            if let Err(error) = taken {
                failed = Some(error);
                cancel();
            }
            Ok(())
        });
        match failed {
            Some(error) => Err(error),
            None => run.map(|()| given),
        }
    }

    /// Prepares a statement and describes its columns; `None` for a command.
    fn prepare(&mut self, sql: &str) -> Result<Option<Columns>> {
        self.check()?;
        let out = &mut self.wire.out;
        frontend::parse("", sql, [], out).map_err(zero_byte)?;
        frontend::describe(b'S', "", out).map_err(zero_byte)?;
        frontend::flush(out);
        self.send()?;
        loop {
            match self.receive()? {
                Message::RowDescription(body) => {
                    // The server waits behind the description: nothing else can be read of what it says.
                    let columns = self.columns(&body);
                    self.is_lost = columns.is_err();
                    return columns.map(Some);
                }
                Message::NoData => return Ok(None),
                Message::ErrorResponse(body) => {
                    let error = error_of(body.fields());
                    frontend::sync(&mut self.wire.out);
                    self.send().map_err(|_| error.clone())?;
                    self.exchange(Some(error), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }

    /// The columns that a statement would give.
    pub fn describe(&mut self, sql: &str) -> Result<Option<Columns>> {
        let columns = self.prepare(sql)?;
        frontend::sync(&mut self.wire.out);
        self.send()?;
        self.exchange(None, |_, _| Ok(()))?;
        Ok(columns)
    }

    fn columns(&self, body: &RowDescriptionBody) -> Result<Columns> {
        let malformed = |_| violation("the columns of the server cannot be read");
        let (mut columns, mut types, mut forms) = (Vec::new(), Vec::new(), Vec::new());
        let mut fields = body.fields();
        while let Some(field) = fields.next().map_err(malformed)? {
            let (oid, modifier) = (field.type_oid(), field.type_modifier());
            let form = Form::of(oid, modifier, self.zone);
            columns.push(form.column(field.name()));
            types.push((oid, modifier));
            forms.push(form);
        }
        Ok(Columns {
            schema: Arc::new(Schema::new(columns)),
            types,
            forms,
        })
    }

    /// Runs COPY.
    pub fn copy(&mut self, sql: &str, streams: &mut dyn CopyStreams, cancel: &dyn Fn()) -> Result<Response> {
        self.check()?;
        let begun = Instant::now();
        frontend::query(sql, &mut self.wire.out).map_err(zero_byte)?;
        self.send()?;
        let mut given = Outcome::default();
        let mut failed: Option<Error> = None;
        let run = self.exchange(None, |session, message| {
            match message {
                Message::CopyInResponse(_) => {
                    let (error, read) = session.send_rows(&mut *streams.input())?;
                    failed = read;
                    return error.map_or(Ok(()), Err);
                }
                Message::CopyData(body) if failed.is_none() => {
                    if let Err(error) = streams.output().write_all(body.data()) {
                        failed = Some(Error::new(
                            SqlState::of_io(&error),
                            format!("could not write: {error}"),
                        ));
                        cancel();
                    }
                }
                Message::CommandComplete(body) => {
                    let (tag, rows) = read_tag(body.tag().unwrap_or_default());
                    given = Outcome::Command { tag, rows };
                }
                _ => {}
            }
            Ok(())
        });
        match (failed, run) {
            (Some(error), _) if !self.is_lost => Err(error),
            (_, Err(error)) => Err(error),
            (_, Ok(())) => Ok(self.response(given, begun)),
        }
    }

    /// Sends the rows of COPY FROM STDIN until they end or the server refuses them: its error comes first, then that of
    /// reading the rows.
    fn send_rows(&mut self, input: &mut dyn Read) -> Result<(Option<Error>, Option<Error>)> {
        let mut part = vec![0; COPY_PART];
        loop {
            match self.wire.arrived().map_err(|error| self.lost(&error))? {
                Some(Message::ErrorResponse(body)) => return Ok((Some(error_of(body.fields())), None)),
                Some(message) => {
                    self.noted(message);
                    continue;
                }
                None => {}
            }
            match input.read(&mut part) {
                Ok(0) => {
                    frontend::copy_done(&mut self.wire.out);
                    self.send()?;
                    return Ok((None, None));
                }
                Ok(count) => {
                    let data = CopyData::new(&part[..count]);
                    data.map_err(|_| violation("a part of COPY is too long"))?
                        .write(&mut self.wire.out);
                    self.send()?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let told = Error::new(
                        SqlState::of_io(&error),
                        format!("could not read the rows: {error}"),
                    );
                    frontend::copy_fail(&error.to_string(), &mut self.wire.out).map_err(zero_byte)?;
                    self.send()?;
                    return Ok((None, Some(told)));
                }
            }
        }
    }

    fn refuse_copy(&mut self) -> Result<()> {
        frontend::copy_fail("the client gives no rows", &mut self.wire.out).map_err(zero_byte)?;
        // The server skips to Sync behind the failure.
        frontend::sync(&mut self.wire.out);
        self.send()?;
        Err(not_copy())
    }

    /// Reads messages up to ReadyForQuery and hands them to `take`. The first error is what is returned.
    fn exchange(
        &mut self,
        mut failed: Option<Error>,
        mut take: impl FnMut(&mut Session, Message) -> Result<()>,
    ) -> Result<()> {
        loop {
            let message = match self.receive() {
                Ok(message) => message,
                // A server that ends a session says why before it closes.
                Err(error) => return Err(failed.unwrap_or(error)),
            };
            match message {
                Message::ReadyForQuery(body) => {
                    self.block = match body.status() {
                        b'T' => Block::Open,
                        b'E' => Block::Failed,
                        _ => Block::Idle,
                    };
                    return failed.map_or(Ok(()), Err);
                }
                Message::ErrorResponse(body) => {
                    failed.get_or_insert_with(|| error_of(body.fields()));
                }
                message if failed.is_none() => failed = take(self, message).err(),
                _ => {}
            }
        }
    }

    /// The next message but for those that may come at any time, which are noted.
    fn receive(&mut self) -> Result<Message> {
        loop {
            let message = self.wire.receive().map_err(|error| self.lost(&error))?;
            if let Some(message) = self.noted(message) {
                return Ok(message);
            }
        }
    }

    /// Notes a message that may come at any time; returns another one.
    fn noted(&mut self, message: Message) -> Option<Message> {
        match message {
            Message::NoticeResponse(body) => self.notices.push(notice_of(body.fields())),
            Message::NotificationResponse(body) => self.notifications.push(Notification {
                channel: body.channel().unwrap_or_default().to_owned(),
                payload: body.message().unwrap_or_default().to_owned(),
                session: body.process_id(),
            }),
            Message::ParameterStatus(body) => match (body.name(), body.value()) {
                (Ok("TimeZone"), Ok(zone)) => self.zone = Zone::named(zone).ok(),
                (Ok("server_version"), Ok(version)) => self.is_frazil = version.contains("Frazil"),
                _ => {}
            },
            other => return Some(other),
        }
        None
    }

    /// 08003 if the connection broke before.
    fn check(&self) -> Result<()> {
        if !self.is_lost {
            return Ok(());
        }
        let error = Error::new(
            SqlState::CONNECTION_DOES_NOT_EXIST,
            "there is no connection to the server",
        );
        Err(error.with_hint("\\c connects again"))
    }

    fn send(&mut self) -> Result<()> {
        match self.wire.send() {
            Ok(()) => Ok(()),
            Err(error) => {
                // Why the server ended the session may have arrived.
                while let Ok(Some(message)) = self.wire.arrived() {
                    if let Some(Message::ErrorResponse(body)) = self.noted(message) {
                        self.is_lost = true;
                        return Err(error_of(body.fields()));
                    }
                }
                Err(self.lost(&error))
            }
        }
    }

    fn lost(&mut self, error: &io::Error) -> Error {
        self.is_lost = true;
        self.block = Block::Idle;
        lost(error)
    }
}

/// Moves the position of an error behind `before` characters.
fn behind(error: Error, before: usize) -> Error {
    match error.position() {
        Some(position) => error.at_position(position + before),
        None => error,
    }
}

/// Writes a value of a parameter as text.
fn text(value: &Value, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
    match value {
        Value::Null => Ok(IsNull::Yes),
        Value::Text(text) => {
            out.extend_from_slice(text.as_bytes());
            Ok(IsNull::No)
        }
        other => Err(format!("{other:?} is not a text").into()),
    }
}

fn zero_byte(_: io::Error) -> Error {
    wrong("the statement has a zero byte")
}

fn not_copy() -> Error {
    let error = Error::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        "COPY with the shell at its other end is not supported here",
    );
    error.with_hint("write it as a statement of its own, or with \\copy")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_into_its_statements() {
        let cut = |text: &'static str| -> Vec<(&str, usize)> {
            parts(text)
                .into_iter()
                .map(|part| (part.text, part.before))
                .collect()
        };
        assert_eq!(cut(" select 1; -- x"), [(" select 1; -- x", 0)]);
        assert_eq!(
            cut("select 'é;';select 2 ;; /* ; */"),
            [("select 'é;';", 0), ("select 2 ;", 12)]
        );
        assert_eq!(cut(""), [("", 0)]);
        assert_eq!(cut(" ; "), [(" ; ", 0)]);
    }

    #[test]
    fn tags_are_names_and_numbers() {
        for (tag, read) in [
            ("INSERT 0 3", ("INSERT", Some(3))),
            ("UPDATE 0", ("UPDATE", Some(0))),
            ("CREATE TABLE", ("CREATE TABLE", None)),
            ("COPY 12", ("COPY", Some(12))),
            ("", ("", None)),
        ] {
            assert_eq!(read_tag(tag), read);
        }
    }
}
