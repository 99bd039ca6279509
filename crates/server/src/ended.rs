//! The end of a session.

use frazil::Error;
use std::io;

/// Why a session ended.
#[derive(Debug)]
pub enum Ended {
    /// The client left.
    Gone,
    /// An error, which the client is told.
    Told(Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Ended {
        Ended::Told(error)
    }
}

impl From<io::Error> for Ended {
    fn from(_: io::Error) -> Ended {
        Ended::Gone
    }
}
