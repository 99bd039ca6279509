//! Gives new files their places in a directory, step by step, each of which can be taken back: what was there before
//! goes only when all new files stand, and comes back if one of them cannot.

use crate::partitioned_writer::Existing;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Names of old files in the hidden folder begin so.
const OLD: &str = "old-";

/// True if the file of the hidden folder is an old one.
pub(crate) fn is_old(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(OLD.as_bytes())
}

/// New files on their way into a directory. Dropped before [`Placement::keep`], it leaves the directory as it was.
pub(crate) struct Placement<'a> {
    directory: &'a Path,
    /// A folder of the directory, where old files wait until they may go.
    hidden: &'a Path,
    existing: Existing,
    steps: Vec<Step>,
    set_aside: usize,
}

/// What was done, and can be taken back.
enum Step {
    /// A folder was made.
    Made(PathBuf),
    /// A new file got its place.
    Placed(PathBuf),
    /// What was at a place waits at another one.
    SetAside { from: PathBuf, at: PathBuf },
}

impl Step {
    /// What cannot be taken back stays: there is nobody who could do more.
    fn take_back(&self) {
        let _ = match self {
            Step::Made(path) => std::fs::remove_dir(path),
            Step::Placed(path) => std::fs::remove_file(path),
            Step::SetAside { from, at } => std::fs::rename(at, from),
        };
    }
}

impl Drop for Placement<'_> {
    fn drop(&mut self) {
        self.steps.iter().rev().for_each(Step::take_back);
    }
}

impl<'a> Placement<'a> {
    /// Nothing is placed yet; `hidden` is a folder of `directory`.
    pub(crate) fn new(directory: &'a Path, hidden: &'a Path, existing: Existing) -> Placement<'a> {
        Placement {
            directory,
            hidden,
            existing,
            steps: Vec::new(),
            set_aside: 0,
        }
    }

    /// Moves the files of a folder, as `year=2024/region=north`, to their places there: `data_0.parquet` and so on, for
    /// the `end` "parquet".
    pub(crate) fn place(&mut self, folder: &str, files: &[PathBuf], end: &str) -> io::Result<()> {
        let folder = self.folder(folder)?;
        let mut number = 0;
        for file in files {
            let named = |number: usize| folder.join(format!("data_{number}.{end}"));
            while self.existing == Existing::Joined && named(number).exists() {
                number += 1;
            }
            let place = named(number);
            match std::fs::symlink_metadata(&place) {
                Ok(old) if old.is_file() => self.spare(&place)?,
                Ok(old) if old.is_symlink() || self.existing == Existing::Removed => {
                    self.set_aside(&place)?
                }
                _ => {}
            }
            std::fs::rename(file, &place)?;
            self.steps.push(Step::Placed(place));
            number += 1;
        }
        Ok(())
    }

    /// Takes away what was in the directory before, if it is to be removed, and keeps the new files.
    pub(crate) fn keep(mut self) -> io::Result<()> {
        if self.existing == Existing::Removed {
            let placed = self.steps.iter().filter_map(|step| match step {
                Step::Placed(path) => Some(path.clone()),
                Step::Made(_) | Step::SetAside { .. } => None,
            });
            let files: HashSet<PathBuf> = placed.collect();
            let above = files.iter().flat_map(|file| file.ancestors().skip(1));
            let folders: HashSet<PathBuf> = above.map(Path::to_path_buf).collect();
            self.sweep(self.directory, &files, &folders)?;
        }
        self.steps.clear();
        Ok(())
    }

    /// Sets aside all that is in a folder but new files and the folders above them.
    fn sweep(
        &mut self,
        folder: &Path,
        files: &HashSet<PathBuf>,
        folders: &HashSet<PathBuf>,
    ) -> io::Result<()> {
        // Listed first: what happens to a folder that changes while it is listed depends on the system.
        let entries: Vec<_> = std::fs::read_dir(folder)?.collect::<io::Result<_>>()?;
        for entry in entries {
            let path = entry.path();
            if path == self.hidden || files.contains(&path) {
                continue;
            }
            match folders.contains(&path) {
                true => self.sweep(&path, files, folders)?,
                false => self.set_aside(&path)?,
            }
        }
        Ok(())
    }

    /// The path of a folder, which is made with all above it. What stands in the way is set aside if it is to be
    /// removed.
    fn folder(&mut self, folder: &str) -> io::Result<PathBuf> {
        let mut path = self.directory.to_path_buf();
        for name in folder.split('/') {
            path.push(name);
            let old = std::fs::symlink_metadata(&path);
            if self.existing == Existing::Removed && old.as_ref().is_ok_and(|old| !old.is_dir()) {
                self.set_aside(&path)?;
            }
            match std::fs::create_dir(&path) {
                Ok(()) => self.steps.push(Step::Made(path.clone())),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(e) => return Err(e),
            }
        }
        Ok(path)
    }

    /// A place where old files wait.
    fn waiting_place(&mut self) -> PathBuf {
        self.set_aside += 1;
        self.hidden.join(format!("{OLD}{}", self.set_aside))
    }

    /// Moves what is at a place to where it waits.
    fn set_aside(&mut self, from: &Path) -> io::Result<()> {
        let at = self.waiting_place();
        std::fs::rename(from, &at)?;
        let from = from.to_path_buf();
        self.steps.push(Step::SetAside { from, at });
        Ok(())
    }

    /// Keeps the file of a place that a new one is about to take: a reader finds the old one or the new one at any
    /// time, where the file system has links.
    fn spare(&mut self, from: &Path) -> io::Result<()> {
        let at = self.waiting_place();
        if std::fs::hard_link(from, &at).is_err() {
            return self.set_aside(from);
        }
        let from = from.to_path_buf();
        self.steps.push(Step::SetAside { from, at });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn listed(folder: &Path, above: &str, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = format!("{above}{}", path.file_name().expect("a name").to_string_lossy());
            match path.is_dir() {
                true if name == "hidden" => {}
                true => listed(&path, &format!("{name}/"), found),
                false => found.push(format!("{name}: {}", fs::read_to_string(&path).expect("text"))),
            }
        }
        found.sort();
    }

    fn files(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        listed(folder, "", &mut found);
        found
    }

    /// A directory with an old file in the place of a new one, one beside it, and a file where a folder is to be.
    fn old(name: &str) -> (PathBuf, PathBuf, Vec<PathBuf>) {
        let directory = std::env::temp_dir().join(format!("frazil-placement-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        let hidden = directory.join("hidden");
        fs::create_dir_all(directory.join("a=1")).expect("made");
        fs::create_dir_all(&hidden).expect("made");
        fs::write(directory.join("a=1/data_0.csv"), "old").expect("written");
        fs::write(directory.join("a=1/other.csv"), "other").expect("written");
        fs::write(directory.join("a=2"), "file").expect("written");
        let new: Vec<PathBuf> = (0..3).map(|i| hidden.join(i.to_string())).collect();
        new.iter()
            .for_each(|path| fs::write(path, "new").expect("written"));
        (directory, hidden, new)
    }

    const OLD: [&str; 3] = ["a=1/data_0.csv: old", "a=1/other.csv: other", "a=2: file"];

    #[test]
    fn old_files_go_when_the_new_ones_stand() {
        let (directory, hidden, new) = old("kept");
        let mut placement = Placement::new(&directory, &hidden, Existing::Removed);
        placement.place("a=1", &new[..1], "csv").expect("placed");
        let other = "a=1/other.csv: other".to_owned();
        assert!(files(&directory).contains(&other), "they stay until all stand");
        placement.place("a=2/b=1", &new[1..], "csv").expect("placed");
        placement.keep().expect("kept");
        let expected = [
            "a=1/data_0.csv: new",
            "a=2/b=1/data_0.csv: new",
            "a=2/b=1/data_1.csv: new",
        ];
        assert_eq!(files(&directory), expected);
        fs::remove_dir_all(&directory).expect("removed");
    }

    #[test]
    fn what_cannot_be_placed_leaves_what_was_there() {
        for existing in [Existing::Removed, Existing::Kept, Existing::Joined] {
            let (directory, hidden, new) = old(&format!("failed-{existing:?}"));
            let mut placement = Placement::new(&directory, &hidden, existing);
            placement.place("a=1", &new[..1], "csv").expect("placed");
            let missing = [new[1].clone(), hidden.join("missing")];
            placement
                .place("a=3/b=1", &missing, "csv")
                .expect_err("one is missing");
            drop(placement);
            assert_eq!(files(&directory), OLD, "{existing:?}");
            assert!(!directory.join("a=3").exists(), "{existing:?}");
            fs::remove_dir_all(&directory).expect("removed");
        }
    }

    #[test]
    fn a_file_where_a_folder_must_be_is_in_the_way_unless_it_is_to_go() {
        let (directory, hidden, new) = old("in-the-way");
        let mut placement = Placement::new(&directory, &hidden, Existing::Kept);
        placement.place("a=1", &new[..1], "csv").expect("placed");
        placement
            .place("a=2", &new[1..], "csv")
            .expect_err("a file is in the way");
        drop(placement);
        assert_eq!(files(&directory), OLD);
        fs::remove_dir_all(&directory).expect("removed");
    }
}
