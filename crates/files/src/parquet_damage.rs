//! Errors of Parquet files that are damaged, panics of the crate that knows the format among them.

use frazil_types::{Error, Result, SqlState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Runs a part of the reading. The crate that knows the format panics at some damaged files: that is the file's fault, 22P04, and
/// the statement gives the reader up.
pub(crate) fn sound<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(ToString::to_string);
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
        let said = said.unwrap_or_else(|| "the data are inconsistent".to_owned());
        Err(bad_file(path, &format!("it is damaged ({said})")))
    })
}

/// The error for a file that cannot be read as Parquet. 22P04.
pub(crate) fn bad_file(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::new(
        SqlState::BAD_COPY_FORMAT,
        format!("file \"{}\" is not readable as Parquet: {error}", path.display()),
    )
}
