//! The messages of the program when something fails, and its exit codes: 1 for a failed statement, 2 for a wrong
//! command line (clap) and, as in psql, for a server that is not there or is gone, 3 for a database or file that cannot
//! be opened, 130 after Ctrl-C.

use frazil::sql_text::pointer;
use frazil::{Error, SqlState};
use std::process::ExitCode;

/// A failure with what it takes to show it.
pub struct Complaint {
    error: Error,
    statement: Option<String>,
    code: u8,
    /// Set where the user was told already.
    is_told: bool,
}

impl From<Error> for Complaint {
    fn from(error: Error) -> Complaint {
        Complaint {
            error,
            statement: None,
            code: 1,
            is_told: false,
        }
    }
}

impl From<std::io::Error> for Complaint {
    fn from(error: std::io::Error) -> Complaint {
        Complaint::from(Error::new(SqlState::of_io(&error), error.to_string()))
    }
}

impl Complaint {
    /// A database or file that cannot be opened, or that Ctrl-C stopped the opening of.
    pub fn opening(error: Error) -> Complaint {
        let code = match error.state() {
            SqlState::QUERY_CANCELED => 130,
            _ => 3,
        };
        Complaint {
            code,
            ..Complaint::from(error)
        }
    }

    /// A server that does not let the shell in, or a connection to one that broke.
    pub fn of_connection(self) -> Complaint {
        Complaint { code: 2, ..self }
    }

    /// The same of a database or file that cannot be opened; the statement that tried is none of the user's.
    pub fn into_opening(self) -> Complaint {
        Complaint::opening(self.error)
    }

    /// What a script ends with that went on after errors: they were told when they happened.
    pub fn told() -> Complaint {
        Complaint {
            is_told: true,
            ..Complaint::from(Error::new(SqlState::INTERNAL_ERROR, "a statement failed"))
        }
    }

    /// A mistake in a command of the shell.
    pub fn usage(message: impl Into<String>) -> Complaint {
        Complaint::from(Error::new(SqlState::INVALID_PARAMETER, message.into()))
    }

    /// The SQLSTATE.
    pub fn state(&self) -> SqlState {
        self.error.state()
    }

    /// What happened, in a line.
    pub fn message(&self) -> &str {
        self.error.message()
    }

    /// Remembers the statement, to point into it.
    pub fn of_statement(mut self, statement: &str) -> Complaint {
        self.statement = Some(statement.to_owned());
        self
    }

    /// Forgets the statement: a command made it, and nobody typed it.
    pub fn without_statement(mut self) -> Complaint {
        self.statement = None;
        self
    }

    /// The exit code.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }

    /// Writes it to standard error.
    pub fn print(&self) {
        if !self.is_told {
            eprint!("{}", self.text());
        }
    }

    /// The message, the line it speaks of, detail and hint.
    pub fn text(&self) -> String {
        let mut out = format!("ERROR {}: {}\n", self.error.state(), self.error.message());
        if let (Some(statement), Some(position)) = (&self.statement, self.error.position()) {
            out.push_str(&pointer(statement, position));
            out.push('\n');
        }
        if let Some(detail) = self.error.detail() {
            out.push_str(&format!("DETAIL: {detail}\n"));
        }
        if let Some(hint) = self.error.hint() {
            out.push_str(&format!("HINT: {hint}\n"));
        }
        out
    }
}
