//! Errors and notices of a server, and those of the connection to it.

use fallible_iterator::FallibleIterator;
use frazil::{Error, Notice, Severity, SqlState};
use postgres_protocol::message::backend::ErrorFields;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, PoisonError};

/// Most texts that [`interned`] keeps: PostgreSQL has 260 SQLSTATEs and 180 command tags.
const MOST_INTERNED: usize = 4096;

/// A text that lives as long as the program: SQLSTATEs and command tags, of which a server has few. Texts beyond
/// [`MOST_INTERNED`] are `?????`.
pub fn interned(text: &str) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = texts.get(text) {
        return known;
    }
    if texts.len() >= MOST_INTERNED {
        return "?????";
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    texts.insert(kept);
    kept
}

/// 22023: something wrong in a URL or a setting of the connection.
pub fn wrong(message: impl Into<String>) -> Error {
    Error::new(SqlState::INVALID_PARAMETER, message)
}

/// 08P01: bytes that are not what the protocol says.
pub fn violation(what: impl Into<String>) -> Error {
    Error::new(SqlState::PROTOCOL_VIOLATION, what)
}

/// 08006: the connection broke.
pub fn lost(error: &io::Error) -> Error {
    let message = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => format!("the connection to the server is lost: {error}"),
    };
    Error::new(SqlState::CONNECTION_FAILURE, message).with_hint("\\c connects again")
}

/// The fields of an error or a notice.
#[derive(Default)]
struct Fields {
    severity: String,
    state: String,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
    position: Option<usize>,
    table: Option<String>,
    column: Option<String>,
    constraint: Option<String>,
}

impl Fields {
    fn read(mut fields: ErrorFields<'_>) -> Fields {
        let mut read = Fields::default();
        // A message that is cut off keeps the fields before.
        while let Ok(Some(field)) = fields.next() {
            let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                b'S' => read.severity = text,
                b'C' => read.state = text,
                b'M' => read.message = text,
                b'D' => read.detail = Some(text),
                b'H' => read.hint = Some(text),
                b'P' => read.position = text.parse().ok(),
                b't' => read.table = Some(text),
                b'c' => read.column = Some(text),
                b'n' => read.constraint = Some(text),
                _ => {}
            }
        }
        read
    }

    fn state(&self) -> SqlState {
        SqlState(interned(&self.state))
    }
}

/// The error that a server tells.
pub fn error_of(fields: ErrorFields<'_>) -> Error {
    let fields = Fields::read(fields);
    let mut error = Error::new(fields.state(), fields.message);
    if let Some(detail) = fields.detail {
        error = error.with_detail(detail);
    }
    if let Some(hint) = fields.hint {
        error = error.with_hint(hint);
    }
    if let Some(position) = fields.position {
        error = error.at_position(position);
    }
    if let Some(table) = fields.table {
        error = error.of_table(table);
    }
    if let Some(column) = fields.column {
        error = error.of_column(column);
    }
    if let Some(constraint) = fields.constraint {
        error = error.of_constraint(constraint);
    }
    error
}

/// The notice that a server tells.
pub fn notice_of(fields: ErrorFields<'_>) -> Notice {
    let fields = Fields::read(fields);
    let message = match &fields.hint {
        Some(hint) if fields.detail.is_none() => format!("{}\nHINT: {hint}", fields.message),
        _ => fields.message.clone(),
    };
    Notice {
        severity: match fields.severity.as_str() {
            "WARNING" => Severity::Warning,
            _ => Severity::Notice,
        },
        state: fields.state(),
        message,
        detail: fields.detail,
    }
}
