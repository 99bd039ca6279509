//! Opens databases: shows how far opening is once it takes long, and lets Ctrl-C stop it.

use crate::complaint::Complaint;
use crate::interrupt;
use crate::progress::{self, PATIENCE};
use frazil::{Access, Cancel, Database, Error, FileAccess, OpenOptions, Opening, OpeningProgress, SqlState};
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// Opens the database of a directory, or an empty one in memory, whose statements may name the files of `files`.
pub fn open(directory: Option<&Path>, access: Access, files: &FileAccess) -> Result<Database, Complaint> {
    match (directory, access) {
        (Some(directory), _) => open_as(directory, &Opening::to(access), files),
        (None, Access::Write) => {
            let options = OpenOptions::new().file_access(files.clone());
            options.open("").map_err(Complaint::opening)
        }
        (None, Access::Read) => {
            let error = Error::new(
                SqlState::INVALID_PARAMETER,
                "--readonly takes the directory of a database",
            );
            Err(Complaint::opening(error))
        }
    }
}

/// Opens the database of a directory to read everything that is whole. What is left out is told.
pub fn salvage(directory: &Path) -> Result<Database, Complaint> {
    let opening = Opening {
        salvages: true,
        ..Opening::to(Access::Read)
    };
    let database = open_as(directory, &opening, &FileAccess::On)?;
    (database.losses().iter()).for_each(|loss| eprintln!("WARNING: {loss}"));
    Ok(database)
}

/// Opens the database of a directory as `opening` says, shows how far that is, and lets Ctrl-C stop it.
fn open_as(directory: &Path, opening: &Opening<'_>, files: &FileAccess) -> Result<Database, Complaint> {
    let cancel = Cancel::new();
    let shown = Shown::new();
    let watch = |progress: OpeningProgress| {
        let message = format!("{}, {} commits", progress.step, progress.commits);
        shown.show(progress.done, progress.total, &message);
    };
    let opening = Opening {
        cancel: cancel.clone(),
        watch: &watch,
        ..opening.clone()
    };
    let options = OpenOptions::new().file_access(files.clone());
    let opened = interrupt::cancelling(interrupt::of(&cancel), || options.open_as(directory, &opening));
    shown.clear();
    if let Ok(database) = opened.as_ref()
        && !opening.salvages
    {
        (database.damaged_tables().iter()).for_each(warn);
    }
    opened.map_err(Complaint::opening)
}

/// Tells of damage that does not keep the database from being opened.
fn warn(damage: &Error) {
    eprintln!("WARNING: {}", damage.message());
    if let Some(hint) = damage.hint() {
        eprintln!("HINT: {hint}");
    }
}

/// A bar at a terminal, once something takes long.
pub struct Shown {
    begun: Instant,
    bar: Mutex<Option<ProgressBar>>,
    is_terminal: bool,
}

impl Shown {
    /// It, not shown yet.
    pub fn new() -> Shown {
        Shown {
            begun: Instant::now(),
            bar: Mutex::new(None),
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Says how much is done of what.
    pub fn show(&self, done: u64, total: u64, what: &str) {
        if !self.is_terminal || self.begun.elapsed() < PATIENCE {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(|e| e.into_inner());
        let bar = bar.get_or_insert_with(progress::new_bar);
        bar.set_length(total);
        bar.set_position(done);
        bar.set_message(what.to_string());
    }

    /// Takes it away.
    pub fn clear(&self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(|e| e.into_inner()).take() {
            bar.finish_and_clear();
        }
    }
}
