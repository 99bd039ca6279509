//! Notices and warnings of statements that succeeded.

use frazil_types::{Error, SqlState};
use std::fmt;

/// The weight of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something to know.
    Notice,
    /// Something that is probably not as it was meant.
    Warning,
}

/// A remark of a statement that succeeded: that a transaction was open already, that rows of a file were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its weight.
    pub severity: Severity,
    /// PostgreSQL's code; `00000` where it has none.
    pub state: SqlState,
    /// Its text.
    pub message: String,
    /// More lines about it.
    pub detail: Option<String>,
}

impl Notice {
    /// A notice without a code.
    pub(crate) fn new(message: impl Into<String>) -> Notice {
        Notice {
            severity: Severity::Notice,
            state: SqlState::SUCCESSFUL_COMPLETION,
            message: message.into(),
            detail: None,
        }
    }

    /// A notice with the code that an error of its kind has.
    pub(crate) fn of_state(state: SqlState, message: impl Into<String>) -> Notice {
        Notice {
            state,
            ..Notice::new(message)
        }
    }

    /// The notice with a detail.
    pub(crate) fn with_detail(self, detail: String) -> Notice {
        Notice {
            detail: Some(detail),
            ..self
        }
    }

    /// A warning.
    pub(crate) fn warning(state: SqlState, message: impl Into<String>) -> Notice {
        Notice {
            severity: Severity::Warning,
            state,
            message: message.into(),
            detail: None,
        }
    }

    /// An error that is only a warning here.
    pub(crate) fn of_error(error: &Error) -> Notice {
        Notice::warning(error.state(), error.message())
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Notice => "NOTICE",
            Severity::Warning => "WARNING",
        })
    }
}

/// As the shell shows it: `WARNING: there is no transaction in progress`, with the detail on lines of its own.
impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.message)?;
        match &self.detail {
            Some(detail) => write!(f, "\nDETAIL: {detail}"),
            None => Ok(()),
        }
    }
}
