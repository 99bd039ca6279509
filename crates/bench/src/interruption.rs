//! The end of an experiment by a signal: directories of its own are removed, and whoever runs all experiments is told
//! where the report is.

use crate::scratch;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The directory of the report that is being made.
static REPORT: Mutex<Option<PathBuf>> = Mutex::new(None);

fn report() -> MutexGuard<'static, Option<PathBuf>> {
    REPORT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A report that is being made, until it is dropped.
pub struct Reporting(());

impl Reporting {
    /// Notes that the report in a directory names what was measured so far, and the rest.
    pub fn to(directory: &Path) -> Reporting {
        *report() = Some(directory.to_owned());
        Reporting(())
    }
}

impl Drop for Reporting {
    fn drop(&mut self) {
        *report() = None;
    }
}

/// Cleans up behind the experiment that runs, on another thread than its own. The program is to end at once.
pub fn interrupt() {
    scratch::remove_all();
    if let Some(directory) = &*report() {
        let text = "interrupted: what was measured, and what was not, is in";
        let _ = writeln!(std::io::stderr(), "{text} {}", directory.display());
    }
}
