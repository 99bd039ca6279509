//! Errors of the operating system as errors of an experiment.

use frazil_types::{Error, SqlState};

/// The error of an operation that failed, with the SQLSTATE 58030.
pub fn io_error(what: String, error: &std::io::Error) -> Error {
    Error::new(SqlState::IO_ERROR, format!("{what}: {error}"))
}
