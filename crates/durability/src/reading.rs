//! Reading a directory: its manifest, the tables that the manifest names, and the log behind them.

use crate::manifest::Manifest;
use crate::opening::Opening;
use crate::recovery::{Failure, Recovered, log_path, recover};
use crate::restore::{self, Faults, Restored};
use crate::salvage::Losses;
use crate::state::State;
use frazil_catalog::Catalog;
use frazil_types::{Error, ObjectId, Result, SqlState};
use frazil_vfs::{Vfs, io_error, read_file};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// The manifest of a directory that is only read.
pub(crate) fn read_manifest(vfs: &dyn Vfs, path: &Path) -> Result<Manifest> {
    let manifest_path = path.join("manifest");
    match read_file(vfs, &manifest_path)? {
        Some(bytes) => Manifest::from_bytes(&manifest_path, &bytes),
        None => {
            refuse_without_manifest(vfs, path)?;
            Err(absent(path, "holds no database"))
        }
    }
}

/// The tables of a manifest with what the log has behind it, and their indexes. A table that fails at any of this is
/// damaged, and the work begins anew without it.
pub(crate) fn restore_and_recover(
    vfs: &Arc<dyn Vfs>,
    path: &Path,
    mut manifest: Manifest,
    opening: &Opening<'_>,
) -> Result<(Restored, Recovered)> {
    let mut faults = Faults::new();
    loop {
        let losses = opening.salvages.then(Losses::default);
        let restore = || restore::restore(&**vfs, path, manifest, &faults, losses);
        let mut restored = opening.cancel.during(restore)?;
        let (table, error) = match recover(vfs, path, &mut restored, opening) {
            // Salvage needs no index: it reads whole tables, and rows that indexes would refuse.
            Ok(recovered) if !opening.builds_indexes() => return Ok((restored, recovered)),
            Ok(recovered) => {
                let commits = recovered.report.commits;
                match restore::build_indexes(&mut restored.tables, opening, commits) {
                    Ok(()) => return Ok((restored, recovered)),
                    Err(failed) => failed,
                }
            }
            Err(Failure::Table(table, error)) => (table, error),
            Err(Failure::All(error)) => return Err(error),
        };
        if !error.state().is_damage() || faults.contains_key(&table) {
            return Err(error);
        }
        faults.insert(table, error);
        manifest = restored.state.manifest;
    }
}

/// The errors of the statements of tables that cannot be read.
pub(crate) fn faults_of(catalog: &Catalog, state: &State) -> BTreeMap<ObjectId, Error> {
    let name = |id| catalog.table_by_id(id).map_or("", |entry| entry.name.as_str());
    let damaged = state.damaged.iter();
    damaged.map(|(id, table)| (*id, table.fault(name(*id)))).collect()
}

pub(crate) fn absent(path: &Path, what: &str) -> Error {
    let message = format!("directory \"{}\" {what}", path.display());
    Error::new(SqlState::UNDEFINED_FILE, message)
        .with_hint("a directory that is opened read-only must exist: open it for writing first")
}

/// The names in a directory.
pub(crate) fn names_in(vfs: &dyn Vfs, directory: &Path) -> Result<Vec<OsString>> {
    vfs.list(directory)
        .map_err(|e| io_error("open directory", directory, &e))
}

/// Segments or a log without a manifest: the data is there, what it means is not.
pub(crate) fn refuse_without_manifest(vfs: &dyn Vfs, path: &Path) -> Result<()> {
    let log = log_path(path);
    let is_there = (vfs.entry(&log)).map_err(|e| io_error("open directory", &log, &e))?;
    let has_log = is_there.is_some() && !names_in(vfs, &log)?.is_empty();
    let segments = path.join("segments");
    let is_there = (vfs.entry(&segments)).map_err(|e| io_error("open directory", &segments, &e))?;
    let has_segments = is_there.is_some() && !names_in(vfs, &segments)?.is_empty();
    match !has_log && !has_segments {
        true => Ok(()),
        // The manifest of the empty database was written before the first segment and the first file of the log.
        false => Err(Error::new(
            SqlState::UNDEFINED_FILE,
            format!(
                "the manifest of database directory \"{}\" is missing",
                path.display()
            ),
        )
        .with_hint("restore the file \"manifest\" from a copy of the directory")),
    }
}
