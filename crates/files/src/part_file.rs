//! A file that is being written under another name in its directory, and gets its own when it is whole; or an object of
//! a store, which appears when it is whole.
//!
//! A link stays a link: what it leads to is written. Pipes and devices are opened and written as they are, and so is
//! what this process has open already (`/dev/stdout`, `/dev/fd/3`), at the place where its descriptor stands.

use crate::claimed_name::{self, Claimed, Kind};
use crate::file_output::write_error;
use crate::object_files::url_of;
use frazil_objects::{ObjectStore, Upload};
use frazil_types::{Cancel, Result};
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// Links that a path may lead through; the system's own limit on Linux.
const MOST_LINKS: usize = 40;

/// A file or object that is being written. Dropped before it is kept, it is removed, and what was there before stays.
#[derive(Debug)]
pub struct PartFile {
    /// What the statement calls it.
    path: PathBuf,
    to: To,
}

/// The place that the bytes go to.
#[derive(Debug)]
enum To {
    /// A file of this machine; `None` for what is written as it is.
    File(Option<Part>, File),
    /// An object, which appears when it is finished.
    Object(Box<Upload>),
}

/// A name until the file is whole, and the one that it gets then. Both are absolute: the working directory may change
/// meanwhile.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    target: PathBuf,
    is_placed: bool,
}

/// What a path leads to.
enum Target {
    /// A file of this path, which is no link, and what there is of it.
    File(PathBuf, Option<Metadata>),
    /// A pipe or device.
    Special(PathBuf),
    /// What this process has open by a number.
    Descriptor(PathBuf, u32),
}

impl PartFile {
    /// Begins a file, or an object by its URL, for which nobody waits once `cancel` is set. Errors: 58P01, 58030, 53100,
    /// and those of stores.
    pub fn create(path: &Path, cancel: &Cancel) -> Result<PartFile> {
        if let Some(url) = url_of(path)? {
            let upload = ObjectStore::open(&url)?.upload(&url, cancel)?;
            return Ok(PartFile {
                path: path.to_path_buf(),
                to: To::Object(Box::new(upload)),
            });
        }
        PartFile::begin(path).map_err(|e| write_error(Some(path), &e))
    }

    fn begin(path: &Path) -> io::Result<PartFile> {
        let (part, file) = match target_of(path)? {
            Target::File(target, old) => {
                let Claimed { path, file } = claim_beside(&target, old.as_ref())?;
                let is_placed = false;
                (
                    Some(Part {
                        path,
                        target,
                        is_placed,
                    }),
                    file,
                )
            }
            Target::Special(path) => (None, File::options().write(true).open(path)?),
            Target::Descriptor(path, number) => (None, opened_again(&path, number)?),
        };
        Ok(PartFile {
            path: path.to_path_buf(),
            to: To::File(part, file),
        })
    }

    /// Gives the file its name, or lets the object appear.
    pub fn keep(self) -> Result<()> {
        match self.to {
            To::File(Some(part), _) => part.place().map_err(|e| write_error(Some(&self.path), &e)),
            To::File(None, _) => Ok(()),
            To::Object(upload) => upload.finish(),
        }
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::File(_, file) => file.write(bytes),
            To::Object(upload) => {
                upload.write(bytes).map_err(io::Error::other)?;
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File(_, file) => file.flush(),
            // Parts go when they are full.
            To::Object(_) => Ok(()),
        }
    }
}

impl Part {
    /// Moves the file to its place.
    fn place(mut self) -> io::Result<()> {
        let moved = std::fs::rename(&self.path, &self.target);
        self.is_placed = moved.is_ok();
        moved
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_placed {
            // What cannot be removed is removed by the next one that writes the file.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Follows links to what is going to be written. A link to nothing leads to a new file.
fn target_of(path: &Path) -> io::Result<Target> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut at = std::path::absolute(path)?;
    for _ in 0..MOST_LINKS {
        if let Some(number) = descriptor(&at) {
            return Ok(Target::Descriptor(at, number));
        }
        match std::fs::symlink_metadata(&at) {
            Ok(found) if found.is_symlink() => {
                let to = std::fs::read_link(&at)?;
                at = at.parent().unwrap_or(Path::new("/")).join(to);
            }
            Ok(found) if found.is_file() => return Ok(Target::File(at, Some(found))),
            Ok(_) => return Ok(Target::Special(at)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Target::File(at, None)),
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// The number of the descriptor that a path names: `/proc/self/fd/1`, by whatever links.
fn descriptor(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = path.parent()?.canonicalize().ok()?;
    let own = format!("/proc/{}/fd", std::process::id());
    (folder == Path::new(&own)).then_some(number)
}

/// Another handle of what this process has open.
fn opened_again(path: &Path, number: u32) -> io::Result<File> {
    match number {
        1 => io::stdout().as_fd().try_clone_to_owned().map(File::from),
        2 => io::stderr().as_fd().try_clone_to_owned().map(File::from),
        // At the end: where its descriptor stands is not known.
        _ => File::options().append(true).open(path),
    }
}

/// Makes the file that is going to replace `target`, with the owner and permissions of the `old` one.
fn claim_beside(target: &Path, old: Option<&Metadata>) -> io::Result<Claimed> {
    if old.is_some() {
        // Who may not write a file may not replace it.
        File::options().write(true).open(target)?;
    }
    let name = target.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let folder = target.parent().unwrap_or(Path::new("/"));
    let claimed = claimed_name::claim(folder, &name.to_string_lossy(), &Parts)?;
    if let Some(old) = old {
        let own = claimed.file.metadata()?;
        let is_same = (own.uid(), own.gid()) == (old.uid(), old.gid());
        // Without the right to give it away it belongs to who writes it. A new owner does not run as the old one.
        let is_given = is_same || fchown(&claimed.file, Some(old.uid()), Some(old.gid())).is_ok();
        let mode = if is_given { 0o7777 } else { 0o777 };
        let _ = claimed
            .file
            .set_permissions(Permissions::from_mode(old.mode() & mode));
    }
    Ok(claimed)
}

/// Files that are not whole.
struct Parts;

impl Kind for Parts {
    fn make(&self, path: &Path) -> io::Result<File> {
        File::create_new(path)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        if path.symlink_metadata()?.is_file() {
            File::options().write(true).open(path)
        } else {
            Err(io::Error::other("it is not a file"))
        }
    }

    fn remove(&self, path: &Path) -> io::Result<bool> {
        std::fs::remove_file(path).map(|()| true)
    }
}
