//! The shell: a database, and what people have said of how statements run and results are shown.

use crate::backend::Backend;
use crate::branches::Branches;
use crate::complaint::Complaint;
use crate::output::Display;
use crate::place::Place;
use crate::target::Output;
use crate::text::Variables;
use frazil::{Connection, Error, RawValue as Value, SqlState};
use std::sync::Arc;

/// Whether to go on reading.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Read on.
    More,
    /// Leave the shell.
    Leave,
}

/// A database, and what people have said of how statements run and results are shown.
pub struct Shell {
    /// Where statements run.
    pub backend: Arc<dyn Backend>,
    /// Where the database is.
    pub place: Place,
    /// Whether it is said what files and databases were opened.
    pub tells_opened: bool,
    /// How results look.
    pub display: Display,
    /// Where results go.
    pub output: Output,
    /// What `\set` has set.
    pub variables: Variables,
    /// Whether times are shown.
    pub timing: bool,
    /// Whether rows and memory are shown.
    pub stats: bool,
    /// Whether a script ends at its first error.
    pub bail: bool,
    /// Whether nothing but results and errors is said.
    pub quiet: bool,
    /// The statement that ran last, for `\g` and `\watch`.
    pub last: Option<String>,
    /// Whether an error was told that did not end the script.
    pub failed: bool,
    /// A COPY FROM STDIN whose rows come next.
    pub copying: Option<String>,
    /// Conditionals of the file or terminal that is read.
    pub branches: Branches,
    /// The key of `\restrict`, until `\unrestrict`: no other command runs.
    pub restricted_by: Option<String>,
    /// Values of `\bind` for the next statement.
    pub bound: Option<Vec<Value>>,
    /// Files that are being read by one another.
    pub depth: usize,
}

impl Shell {
    /// A shell on a database, writing boxes.
    pub fn new(backend: impl Backend + 'static) -> Shell {
        Shell {
            backend: Arc::new(backend),
            place: Place::memory(),
            tells_opened: false,
            display: Display::default(),
            output: Output::new(),
            variables: Variables::default(),
            timing: false,
            stats: false,
            bail: true,
            quiet: false,
            last: None,
            failed: false,
            copying: None,
            branches: Branches::default(),
            restricted_by: None,
            bound: None,
            depth: 0,
        }
    }

    /// The connection, for a command that reads the database's files or memory. 0A000 if it runs in another process.
    /// `way_out`: what does the work there.
    pub fn embedded(&self, command: &str, way_out: &str) -> Result<Connection, Complaint> {
        let connection = self.backend.embedded().cloned();
        connection.ok_or_else(|| {
            let message = format!("{command} is not supported on a server");
            Complaint::from(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message).with_hint(way_out))
        })
    }

    /// Tells of an error and goes on, if the shell does so.
    pub fn go_on(&mut self, result: Result<Next, Complaint>) -> Result<Next, Complaint> {
        match result {
            Err(complaint) if self.backend.is_lost() => Err(complaint.of_connection()),
            Err(complaint) if !self.bail => {
                complaint.print();
                self.failed = true;
                Ok(Next::More)
            }
            result => result,
        }
    }
}
