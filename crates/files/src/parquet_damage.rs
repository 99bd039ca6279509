//! Errors of Parquet files that are damaged, panics of the crate that knows the format among them. Messages are
//! Frazil's: the crate's speak of its own code.

use arrow_schema::ArrowError;
use frazil_types::{Error, Result, SqlState};
use parquet::errors::ParquetError;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Runs a part of the reading. The crate that knows the format panics at some damaged files: that is the file's fault, 22P04, and
/// the statement gives the reader up.
pub(crate) fn sound<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(bad_file(path, &DAMAGED)))
}

const DAMAGED: &str = "it is damaged";

/// Reasons why a file is not readable.
pub(crate) trait Reason {
    /// The reason in Frazil's words.
    fn words(&self) -> Cow<'_, str>;
}

impl Reason for &str {
    fn words(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl Reason for String {
    fn words(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl Reason for ParquetError {
    fn words(&self) -> Cow<'_, str> {
        let words = match self {
            ParquetError::External(error) => match error.downcast_ref::<std::io::Error>() {
                Some(error) => return Cow::Owned(error.to_string()),
                None => DAMAGED,
            },
            ParquetError::EOF(_) | ParquetError::NeedMoreData(_) | ParquetError::NeedMoreDataRange(_) => {
                "it ends too early"
            }
            ParquetError::NYI(_) => "it uses a part of the format that is not supported",
            ParquetError::General(text) if text.contains("encrypt") => "it is encrypted",
            // The crate may add kinds.
            _ => DAMAGED,
        };
        Cow::Borrowed(words)
    }
}

impl Reason for ArrowError {
    fn words(&self) -> Cow<'_, str> {
        match self {
            ArrowError::IoError(_, error) => Cow::Owned(error.to_string()),
            // All other kinds are about the bytes of the file.
            _ => Cow::Borrowed(DAMAGED),
        }
    }
}

/// The error for a file that cannot be read as Parquet. 22P04.
pub(crate) fn bad_file(path: &Path, reason: &dyn Reason) -> Error {
    Error::new(
        SqlState::BAD_COPY_FORMAT,
        format!(
            "file \"{}\" is not readable as Parquet: {}",
            path.display(),
            reason.words()
        ),
    )
}
