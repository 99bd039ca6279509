//! A table of a published snapshot, read by itself: no other table is opened, no index is built, nothing is locked and
//! nothing is written.

use crate::manifest::{Manifest, TableRecord};
use crate::published_folder::{open_snapshot_manifest, snapshot_at};
use crate::reading::read_manifest;
use crate::restore::{restore_alone, restore_catalog};
use crate::state::named_segments;
use frazil_catalog::{QualifiedName, TableEntry};
use frazil_storage::TableSnapshot;
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{HeldDirectory, ReadOnlyVfs, Vfs, hold_directory};
use std::path::Path;
use std::sync::Arc;

/// Most times that a snapshot is read anew because a PUBLISH replaced it meanwhile.
const MOST_SNAPSHOTS: usize = 100;

/// The rows of a table in a published folder, as of its newest snapshot, or in a snapshot of the folder. The table has
/// no indexes. 42P01 without such a table, 22023 for something else than a published folder, 58P01 for one that is not
/// there, XX001 if the table is damaged.
pub fn published_table(vfs: &dyn Vfs, path: &Path, name: &QualifiedName) -> Result<TableSnapshot> {
    let (folder, number) = match snapshot_at(vfs, path)? {
        Some((folder, number)) => (folder, Some(number)),
        None => (path, None),
    };
    let HeldDirectory { vfs, path } = hold_directory(vfs, folder)?;
    let vfs = ReadOnlyVfs::of(vfs);
    let mut tries = 0;
    loop {
        let manifest = manifest_of(&vfs, &path, number)?;
        match restored(&vfs, &path, &manifest, name) {
            // The segments of a snapshot go when a PUBLISH has replaced it.
            Err(e) if e.state().is_damage() && tries < MOST_SNAPSHOTS => {
                if manifest_of(&vfs, &path, number)?.published == manifest.published {
                    return Err(e);
                }
                tries += 1;
            }
            restored => return restored,
        }
    }
}

fn manifest_of(vfs: &dyn Vfs, folder: &Path, number: Option<u64>) -> Result<Manifest> {
    let manifest = match number {
        Some(number) => open_snapshot_manifest(vfs, folder, number)?,
        None => read_manifest(vfs, folder)?,
    };
    match manifest.published {
        Some(_) => Ok(manifest),
        None => {
            let message = format!("\"{}\" is not a published folder", folder.display());
            Err(Error::new(SqlState::INVALID_PARAMETER, message)
                .with_hint("PUBLISH TO 'folder' makes one; open the directory of a database read-only"))
        }
    }
}

fn restored(
    vfs: &dyn Vfs,
    folder: &Path,
    manifest: &Manifest,
    name: &QualifiedName,
) -> Result<TableSnapshot> {
    let catalog = restore_catalog(manifest);
    let entry = catalog.table(name)?;
    let record = manifest.tables.iter().find(|record| record.entry.id == entry.id);
    let Some(record) = record else {
        let message = format!("table \"{}\" is damaged in \"{}\"", name.name, folder.display());
        return Err(Error::new(SqlState::DATA_CORRUPTED, message));
    };
    let bare = TableRecord {
        entry: TableEntry {
            indexes: Vec::new(),
            constraints: Vec::new(),
            ..record.entry.clone()
        },
        ..record.clone()
    };
    restore_alone(vfs, folder, &bare, named_segments(manifest).len())
}

/// Opens a table of a published folder of the operating system: see [`published_table`].
pub fn open_published_table(path: &Path, name: &QualifiedName) -> Result<TableSnapshot> {
    let vfs: Arc<dyn Vfs> = Arc::new(frazil_vfs::SystemVfs::default());
    published_table(&*vfs, path, name)
}
