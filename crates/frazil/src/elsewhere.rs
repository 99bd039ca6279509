//! Published folders in object stores, which are named by their URLs where others are named by paths.

use frazil_durability::Directory;
use frazil_objects::{ObjectUrl, ObjectVfs, url_path};
use frazil_types::{Cancel, Error, Result, SqlState};
use frazil_vfs::{Access, Vfs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// True for the URL of an object store, which is not a path of the operating system.
pub(crate) fn is_url(path: &Path) -> bool {
    path.to_str().is_some_and(ObjectUrl::is_url)
}

/// The file system of a URL and the folder in it; `None` for a path of the operating system. `cancel` stops calls of
/// the file system. 22023 for a URL that names no folder.
pub(crate) fn folder_at(path: &Path, cancel: &Cancel) -> Result<Option<(Arc<dyn Vfs>, PathBuf)>> {
    let Some(url) = path.to_str().and_then(ObjectUrl::parse).transpose()? else {
        return Ok(None);
    };
    let vfs = ObjectVfs::open(&url, cancel)?;
    Ok(Some((Arc::new(vfs), url_path(&url))))
}

/// 0A000 for a URL where a directory of the operating system is needed, 22023 for one that holds a password.
pub(crate) fn refuse_url(path: &Path, what: &str, hint: &str) -> Result<()> {
    match path.to_str().and_then(ObjectUrl::parse).transpose()? {
        None => Ok(()),
        Some(url) => {
            let message = format!("{what} in an object store is not supported: \"{url}\"");
            Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message).with_hint(hint))
        }
    }
}

/// 0A000 for a database in an object store that is to be written.
pub(crate) fn check_readable(path: &Path, access: Access) -> Result<()> {
    match access {
        Access::Read => Ok(()),
        Access::Write => refuse_url(
            path,
            "writing a database",
            "open the published folder read-only; PUBLISH TO 'URL' writes snapshots to it",
        ),
    }
}

/// 22023 for what was opened in an object store and is not a published folder: a log there belongs to no writer.
pub(crate) fn check_published(path: &Path, directory: &Directory) -> Result<()> {
    match directory.published().is_some() || !is_url(path) {
        true => Ok(()),
        false => {
            let message = format!("\"{}\" is not a published folder", path.display());
            Err(Error::new(SqlState::INVALID_PARAMETER, message)
                .with_hint("PUBLISH TO 'URL' writes one; copy the directory to a disk to open it"))
        }
    }
}
