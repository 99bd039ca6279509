//! Rows of a file that cannot be read, where a statement says that they are to be left out.

use crate::csv_types::Form;
use frazil_types::{ColumnDef, Error, MemoryBudget, Reservation, Result, SqlState};
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What becomes of rows that cannot be read.
#[derive(Clone, Debug, Default)]
pub enum OnError {
    /// The first one ends the statement.
    #[default]
    Stop,
    /// They are left out, and told.
    Skip(Arc<Rejects>),
}

/// Which rows are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// Those with a value that its column's type does not have: what PostgreSQL leaves out.
    Values,
    /// Also records of too few or too many fields, and those that are no text.
    Records,
}

/// A row that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// The file, as the statement names it.
    pub file: String,
    /// The line that the row begins on; the first one is 1.
    pub line: u64,
    /// The column whose value is wrong; `None` if the record is.
    pub column: Option<String>,
    /// The value, or the record.
    pub text: String,
    /// What is wrong.
    pub reason: String,
}

impl Reject {
    /// Names and types of what is kept of a row, in the order of [`Reject`]'s fields.
    pub fn columns() -> Vec<ColumnDef> {
        [
            ("file", Form::Words),
            ("line", Form::Whole),
            ("column", Form::Words),
            ("text", Form::Words),
            ("reason", Form::Words),
        ]
        .map(|(name, form)| ColumnDef::new(name, form.ty()))
        .to_vec()
    }

    fn bytes(&self) -> usize {
        let column = self.column.as_ref().map_or(0, String::len);
        size_of::<Reject>() + self.file.len() + column + self.text.len() + self.reason.len()
    }
}

/// The rows that a statement left out.
#[derive(Debug)]
pub struct Rejects {
    skipped: Skipped,
    /// Whether they are kept, and not only counted.
    keeps: bool,
    /// Most rows that are left out.
    limit: Option<u64>,
    found: Mutex<Found>,
}

#[derive(Debug)]
struct Found {
    count: u64,
    kept: Vec<Reject>,
    /// The memory of those that are kept.
    reservation: Reservation,
}

impl Rejects {
    /// None yet. `keeps`: whether they are kept, within `budget`, or counted only.
    pub fn new(skipped: Skipped, keeps: bool, limit: Option<u64>, budget: &MemoryBudget) -> Rejects {
        Rejects {
            skipped,
            keeps,
            limit,
            found: Mutex::new(Found {
                count: 0,
                kept: Vec::new(),
                reservation: budget.reservation(),
            }),
        }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many rows were left out.
    pub fn count(&self) -> u64 {
        self.found().count
    }

    /// Those that were kept, which are let go.
    pub fn take(&self) -> Vec<Reject> {
        std::mem::take(&mut self.found().kept)
    }

    /// Whether a row with this error is left out: constraints, memory and what ends a statement are no matter of its text.
    fn skips(&self, state: SqlState) -> bool {
        let is_of_record =
            [SqlState::BAD_COPY_FORMAT, SqlState::CHARACTER_NOT_IN_REPERTOIRE].contains(&state);
        match is_of_record {
            true => self.skipped == Skipped::Records,
            false => state.is_data_exception(),
        }
    }

    fn add(&self, reject: Reject) -> Result<()> {
        let mut found = self.found();
        if self.limit.is_some_and(|limit| found.count >= limit) {
            let (limit, reason) = (found.count, reject.reason);
            let message = format!("skipped more than REJECT_LIMIT ({limit}) rows: {reason}");
            return Err(Error::new(SqlState::INVALID_TEXT, message));
        }
        if self.keeps {
            found.reservation.grow(reject.bytes()).map_err(|e| {
                e.with_detail("rows that cannot be read are kept in memory until the end of the file")
                    .with_hint("REJECT_LIMIT stops a statement that skips too many rows")
            })?;
            found.kept.push(reject);
        }
        found.count += 1;
        Ok(())
    }
}

/// Where an error lies in a file.
pub(crate) struct Place<'a> {
    /// The line that the row begins on.
    pub line: u64,
    /// The column, if a value is wrong.
    pub column: Option<&'a str>,
    /// The value, or the record.
    pub text: &'a [u8],
}

impl OnError {
    /// Notes a row that is left out. If it is not to be, the `error` comes back.
    pub(crate) fn skip(&self, file: &std::path::Path, place: &Place<'_>, error: Error) -> Result<()> {
        let rejects = match self {
            OnError::Skip(rejects) if rejects.skips(error.state()) => rejects,
            OnError::Skip(_) | OnError::Stop => return Err(error),
        };
        rejects.add(Reject {
            file: file.display().to_string(),
            line: place.line,
            column: place.column.map(str::to_owned),
            // A text has no character 0.
            text: String::from_utf8_lossy(place.text).replace('\0', "\u{fffd}"),
            reason: error.message().to_owned(),
        })
    }
}
