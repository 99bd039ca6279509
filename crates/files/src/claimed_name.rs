//! Names beside a file or folder for what is being written and is not whole yet: `.NAME.0.part`, `.NAME.1.part`
//! and so on.
//!
//! The writer holds the lock of the claimed file or folder. If its process is killed, the lock is free, and the next
//! writer removes the leftover. On a file system without locks nothing is removed.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Names that are tried. As many writers of one place at a time are an error.
const MOST: u32 = 10_000;
/// Bytes of the place's name that its names begin with: names of files have at most 255.
const NAME_BYTES: usize = 200;

/// A kind of entry that can have a claimed name: a file or a folder.
pub(crate) trait Kind {
    /// Makes it. `AlreadyExists` if the name is taken.
    fn make(&self, path: &Path) -> io::Result<File>;
    /// Opens one that is there, to lock it.
    fn open(&self, path: &Path) -> io::Result<File>;
    /// Removes one that a dead process left behind. False if it stays, because it holds more than what was being
    /// written.
    fn remove(&self, path: &Path) -> io::Result<bool>;
}

/// A name and what has it, locked as long as the file is open.
#[derive(Debug)]
pub(crate) struct Claimed {
    /// The path.
    pub path: PathBuf,
    /// The file or folder that was made.
    pub file: File,
}

/// The `number`th name for `name` in a folder.
fn numbered(folder: &Path, name: &str, number: u32) -> PathBuf {
    let end = name.floor_char_boundary(NAME_BYTES);
    folder.join(format!(".{}.{number}.part", &name[..end]))
}

/// Claims the first name that is free, and removes what dead processes have left on the way there and right behind it.
pub(crate) fn claim(folder: &Path, name: &str, kind: &dyn Kind) -> io::Result<Claimed> {
    for number in 0..MOST {
        let path = numbered(folder, name, number);
        if let Some(file) = claim_name(&path, kind)? {
            let behind = (number + 1..MOST).map(|number| numbered(folder, name, number));
            let is_left = |path: &PathBuf| path.symlink_metadata().is_ok();
            // The next writer tries again to remove this leftover.
            behind
                .take_while(is_left)
                .for_each(|path| drop(remove_left(&path, kind)));
            return Ok(Claimed { path, file });
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes something of a name; `None` if somebody else has the name.
fn claim_name(path: &Path, kind: &dyn Kind) -> io::Result<Option<File>> {
    loop {
        match kind.make(path) {
            Ok(file) => {
                // Another writer that checks for leftovers holds the lock for a moment.
                if file.lock().is_err() || has_name(&file, path) {
                    return Ok(Some(file));
                }
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                if !remove_left(path, kind)? {
                    return Ok(None);
                }
            }
            Err(e) => return Err(e),
        }
    }
}

/// Removes what has a name if its writer is dead. True if nothing has the name any more.
fn remove_left(path: &Path, kind: &dyn Kind) -> io::Result<bool> {
    let file = match kind.open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
        // Another user's, or something else of that name.
        Err(_) => return Ok(false),
        Ok(file) => file,
    };
    match file.try_lock() {
        Ok(()) if has_name(&file, path) => kind.remove(path),
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => Ok(false),
    }
}

/// True if a path leads to an open file.
fn has_name(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Files;

    impl Kind for Files {
        fn make(&self, path: &Path) -> io::Result<File> {
            File::create_new(path)
        }

        fn open(&self, path: &Path) -> io::Result<File> {
            File::options().write(true).open(path)
        }

        fn remove(&self, path: &Path) -> io::Result<bool> {
            std::fs::remove_file(path).map(|()| true)
        }
    }

    #[test]
    fn names_of_the_living_stay_and_those_of_the_dead_go() {
        let folder = std::env::temp_dir().join(format!("frazil-claims-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("it is made");
        let names = || {
            let entries = std::fs::read_dir(&folder).expect("it is listed");
            let mut names: Vec<String> = entries
                .map(|e| {
                    e.expect("it is listed")
                        .file_name()
                        .to_string_lossy()
                        .into_owned()
                })
                .collect();
            names.sort();
            names.join(" ")
        };
        for left in [".a.csv.0.part", ".a.csv.1.part", ".a.csv.2.part", ".b.csv.0.part"] {
            std::fs::write(folder.join(left), "left").expect("it is written");
        }
        let first = claim(&folder, "a.csv", &Files).expect("it is free");
        assert_eq!(first.file.metadata().expect("it is there").len(), 0, "it is new");
        assert_eq!(names(), ".a.csv.0.part .b.csv.0.part");
        let second = claim(&folder, "a.csv", &Files).expect("there is another name");
        assert_eq!(names(), ".a.csv.0.part .a.csv.1.part .b.csv.0.part");
        drop(first);
        let third = claim(&folder, "a.csv", &Files).expect("the first one is over");
        assert_eq!(third.path, folder.join(".a.csv.0.part"));
        assert_eq!(second.file.metadata().expect("it is there").nlink(), 1);
        let long = "é".repeat(120);
        let claimed = claim(&folder, &long, &Files).expect("the name is cut");
        assert!(claimed.path.as_os_str().len() < folder.as_os_str().len() + 220);
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn threads_that_claim_at_once_get_names_of_their_own() {
        let folder = std::env::temp_dir().join(format!("frazil-claiming-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("it is made");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let claimed = claim(&folder, "a", &Files).expect("there is a name");
                        assert!(has_name(&claimed.file, &claimed.path));
                        std::fs::remove_file(&claimed.path).expect("it is there");
                    }
                });
            }
        });
        let left = std::fs::read_dir(&folder).expect("it is listed").count();
        assert_eq!(left, 0);
        let _ = std::fs::remove_dir_all(&folder);
    }
}
