//! `frazil verify`: compares all files of a directory with their checksums, opens it read-only, and compares indexes and constraints with the
//! rows. What it did is written a line a table, faults are named, and the exit code is 1 if there are any.

use crate::arguments::DirectoryOptions;
use crate::backend::Backend;
use crate::complaint::Complaint;
use crate::opening::{self, Shown};
use crate::{interrupt, progress};
use frazil::{
    Access, Cancel, Database, Error, FileAccess, Inspection, SqlState, TableVerification, Verification,
};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Runs the command.
pub fn run(options: &DirectoryOptions) -> Result<(), Complaint> {
    interrupt::install();
    let directory = &options.directory;
    let files = inspect(directory)?;
    show_files(&files);
    let mut faults = files.findings.clone();
    match verify_contents(directory) {
        Ok(found) => {
            found.tables.iter().for_each(show_table);
            // A block that was found damaged is found so again.
            let fresh = found
                .findings
                .into_iter()
                .filter(|fault| !files.findings.contains(fault));
            faults.extend(fresh);
        }
        Err(complaint) if !complaint.state().is_of_data() => return Err(complaint),
        Err(complaint) => {
            println!("It does not open: tables, indexes and constraints were not checked.");
            // The reason may have been found in the files.
            if faults.is_empty() {
                faults.push(complaint.message().to_string());
            }
        }
    }
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    match faults.len() {
        0 => {
            println!("{} is sound.", directory.display());
            Ok(())
        }
        count => {
            let message = format!("{} has {}", directory.display(), counted(count as u64, "fault"));
            let error = Error::new(SqlState::DATA_CORRUPTED, message);
            Err(Complaint::from(
                error.with_hint("a copy that BACKUP TO made has the undamaged files"),
            ))
        }
    }
}

fn inspect(directory: &Path) -> Result<Inspection, Complaint> {
    let cancel = Cancel::new();
    let shown = Shown::new();
    let watch = |done, total| shown.show(done, total, "reading files");
    let found = interrupt::cancelling(interrupt::of(&cancel), || {
        Database::inspect(directory, &cancel, &watch)
    });
    shown.clear();
    found.map_err(Complaint::opening)
}

fn verify_contents(directory: &Path) -> Result<Verification, Complaint> {
    let database = opening::open(Some(directory), Access::Read, &FileAccess::On)?;
    let connection = database.connect();
    let found = interrupt::cancelling(connection.canceler(), || {
        progress::watching(Some(connection.progress()), &AtomicBool::new(false), || {
            connection.verify()
        })
    });
    drop(connection);
    database.close()?;
    found.map_err(Complaint::from)
}

fn show_files(files: &Inspection) {
    let bytes: u64 = files.tables.iter().map(|table| table.bytes).sum();
    println!(
        "{}, {} of blocks; {} with {} behind the last checkpoint",
        counted(files.segments, "segment"),
        counted(bytes, "byte"),
        counted(files.log_files, "log file"),
        counted(files.log_records, "commit"),
    );
    if let Some(end) = &files.log_end {
        println!(
            "{end} (as a crash leaves the last commits, none of which was acknowledged; damage of the last group of commits looks the same)"
        );
    }
}

fn show_table(table: &TableVerification) {
    let outcome = match table.faults {
        0 => "sound".to_string(),
        faults => counted(faults, "fault"),
    };
    println!(
        "table {}: {}, {}, {}, {} ({} unique), {} NOT NULL, {}, {}: {outcome}",
        table.table,
        counted(table.rows, "row"),
        counted(table.blocks, "block"),
        counted(table.hot_chunks, "hot chunk"),
        match table.indexes {
            1 => "1 index".to_string(),
            count => format!("{count} indexes"),
        },
        table.unique,
        counted(table.not_null, "column"),
        counted(table.checks, "CHECK"),
        counted(table.foreign_keys, "foreign key"),
    );
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
