//! Files that statements may name: all, those in some folders, or none.
//!
//! Whoever embeds a database decides it when he opens one; a session can only narrow it. A path is compared as the
//! system would walk it, after links and `..`, so that neither leads out of a folder. Objects of stores are files, too:
//! a folder may be the URL of one.

use crate::object_files::{is_object, url_of};
use frazil_objects::ObjectUrl;
use frazil_types::{Error, Result, SqlState};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Links that a path may lead through; the system's own limit on Linux.
const MOST_LINKS: usize = 40;

/// Files that statements may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FileAccess {
    /// All that the process may open.
    #[default]
    On,
    /// Files in these folders and the folders below them. The paths are absolute, without links. URLs name the objects
    /// below a key of a store (`s3://bucket/folder`).
    Folders(Arc<[PathBuf]>),
    /// None.
    Off,
}

impl FileAccess {
    /// Access to folders, which must be there: 58P01, 42809 for a file. Relative ones are those of the working directory of
    /// now. A URL of a folder in a store is not looked up; 22023 if it names none.
    pub fn to_folders<P: AsRef<Path>>(folders: &[P]) -> Result<FileAccess> {
        let resolved = |folder: &P| {
            let folder = folder.as_ref();
            if let Some(url) = url_of(folder)? {
                return Ok(PathBuf::from(url.to_string()));
            }
            let failed = |e: &io::Error| {
                let message = format!("file_access: could not open folder \"{}\": {e}", folder.display());
                Error::new(SqlState::of_io(e), message)
            };
            let found = folder.canonicalize().map_err(|e| failed(&e))?;
            match found.is_dir() {
                true => Ok(found),
                false => Err(failed(&io::ErrorKind::NotADirectory.into())),
            }
        };
        let folders = folders.iter().map(resolved).collect::<Result<Vec<_>>>()?;
        Ok(FileAccess::Folders(folders.into()))
    }

    /// Reads the text of the setting: `on`, `off`, or folders with commas between them.
    pub fn of_text(text: &str) -> Result<FileAccess> {
        match text.trim().to_lowercase().as_str() {
            "on" | "true" => Ok(FileAccess::On),
            "off" | "false" => Ok(FileAccess::Off),
            "" => Err(Error::new(
                SqlState::INVALID_PARAMETER,
                "file_access takes on, off, or folders separated by commas",
            )),
            _ => {
                let folders: Vec<&str> = text.split(',').map(str::trim).collect();
                FileAccess::to_folders(&folders)
            }
        }
    }

    /// The access `to`, if it gives no more files than this one: 42501 otherwise.
    pub fn narrowed(&self, to: FileAccess) -> Result<FileAccess> {
        let is_narrower = match (self, &to) {
            (FileAccess::On, _) | (_, FileAccess::Off) => true,
            (FileAccess::Folders(_), FileAccess::Folders(inner)) => inner.iter().all(|f| self.has(f)),
            (FileAccess::Folders(_), FileAccess::On) => false,
            (FileAccess::Off, FileAccess::On | FileAccess::Folders(_)) => false,
        };
        match is_narrower {
            true => Ok(to),
            false => Err(Error::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("file_access cannot be widened from \"{self}\" to \"{to}\""),
            )
            .with_hint("set it when the database is opened; a session can only narrow it")),
        }
    }

    /// True if a path without links is in one of the folders, or all paths are allowed.
    fn has(&self, resolved: &Path) -> bool {
        match self {
            FileAccess::On => true,
            FileAccess::Folders(folders) => folders.iter().any(|folder| resolved.starts_with(folder)),
            FileAccess::Off => false,
        }
    }

    /// 42501 for a path that a statement may not name. Nothing is said of whether anything is there.
    pub fn check(&self, path: &Path) -> Result<()> {
        let is_allowed = match self {
            FileAccess::On => true,
            FileAccess::Off => false,
            // A key has no links, and none with `..` in it is read or written.
            FileAccess::Folders(_) if is_object(path) => self.has(path),
            FileAccess::Folders(_) => walked(path).is_ok_and(|resolved| self.has(&resolved)),
        };
        if is_allowed {
            return Ok(());
        }
        // A URL that holds a password is refused without being shown.
        path.to_str().and_then(ObjectUrl::parse).transpose()?;
        Err(self.denied(path))
    }

    /// The same for a pattern of files: all that its letters may stand for is in an allowed folder.
    pub fn check_pattern(&self, pattern: &str) -> Result<()> {
        if let Some(url) = ObjectUrl::parse(pattern) {
            // A key has no parts that lead up.
            let fixed = PathBuf::from(url?.fixed_prefix().to_string());
            return self.check(&fixed).map_err(|_| self.denied(Path::new(pattern)));
        }
        let is_wild = |part: &Component<'_>| {
            let text = part.as_os_str().as_encoded_bytes();
            text.iter().any(|byte| b"*?[".contains(byte))
        };
        let parts = || Path::new(pattern).components();
        let fixed: PathBuf = parts().take_while(|part| !is_wild(part)).collect();
        let mut wild = parts().skip_while(|part| !is_wild(part));
        let leads_up = wild.any(|part| part == Component::ParentDir);
        match (self, leads_up) {
            (FileAccess::On, _) => Ok(()),
            (_, true) => Err(self.denied(Path::new(pattern))),
            (_, false) if fixed.as_os_str().is_empty() => {
                (self.check(Path::new("."))).map_err(|_| self.denied(Path::new(pattern)))
            }
            (_, false) => (self.check(&fixed)).map_err(|_| self.denied(Path::new(pattern))),
        }
    }

    fn denied(&self, path: &Path) -> Error {
        let hint = match self {
            FileAccess::On | FileAccess::Off => {
                "allow the file when the database is opened: file_access = on, or the folders to allow"
                    .to_owned()
            }
            FileAccess::Folders(_) => {
                format!("put it into {self}, or open the database with its folder in file_access")
            }
        };
        let message = format!(
            "permission denied for file \"{}\": file_access is {self}",
            path.display()
        );
        Error::new(SqlState::INSUFFICIENT_PRIVILEGE, message).with_hint(hint)
    }
}

impl fmt::Display for FileAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileAccess::On => f.write_str("on"),
            FileAccess::Off => f.write_str("off"),
            FileAccess::Folders(folders) => {
                let shown: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
                f.write_str(&shown.join(", "))
            }
        }
    }
}

/// A path as the system walks it: absolute, without links, `.` and `..`. What is not there stands as it is named.
fn walked(path: &Path) -> io::Result<PathBuf> {
    let mut done = PathBuf::from("/");
    let mut waiting: VecDeque<OsString> = parts(&std::path::absolute(path)?).collect();
    let mut links = 0;
    while let Some(part) = waiting.pop_front() {
        if part == ".." {
            done.pop();
            continue;
        }
        done.push(&part);
        match done.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(io::Error::other("too many levels of symbolic links"));
                }
                let target = done.read_link()?;
                done.pop();
                if target.is_absolute() {
                    done = PathBuf::from("/");
                }
                parts(&target).rev().for_each(|part| waiting.push_front(part));
            }
            Ok(_) => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

/// Names of a path, without the root and `.`.
fn parts(path: &Path) -> std::vec::IntoIter<OsString> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some(OsStr::new("..").to_os_string()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    names.collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_dots_do_not_lead_out_of_a_folder() {
        let base = std::env::temp_dir().join(format!("frazil-access-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        std::fs::create_dir_all(base.join("in/deep")).expect("it is made");
        std::fs::create_dir_all(base.join("into")).expect("it is made");
        std::fs::create_dir_all(base.join("out/in")).expect("it is made");
        let link = |to: &str, at: &str| symlink(to, base.join(at)).expect("it is linked");
        link("../out", "in/leads_out");
        link("in", "leads_in");
        link("missing/../../out/new", "in/dangling");
        link("deep", "in/inside");
        link("round", "in/round");
        let access = FileAccess::to_folders(&[base.join("leads_in")]).expect("it is there");
        for allowed in [
            "in/x",
            "in/deep/x",
            "in/new/x",
            "in/inside/x",
            "leads_in/x",
            "in/../in/x",
            "out/../in/x",
            "in",
        ] {
            access
                .check(&base.join(allowed))
                .unwrap_or_else(|e| panic!("{allowed}: {e:?}"));
        }
        for denied in [
            "x",
            "into/x",
            "out/x",
            "in/../x",
            "in/leads_out/x",
            "in/leads_out",
            "in/dangling",
            "in/inside/../../x",
            "in/leads_out/in/x",
            "in/round",
            "in/deep/../../out/x",
        ] {
            let error = access.check(&base.join(denied)).expect_err(denied);
            assert_eq!(error.state(), SqlState::INSUFFICIENT_PRIVILEGE, "{denied}");
            assert!(error.hint().is_some(), "{denied}");
        }
        let pattern = |text: &str| {
            access
                .check_pattern(&base.join(text).display().to_string())
                .is_ok()
        };
        assert!(pattern("in/*.csv") && pattern("in/**/*.csv") && pattern("in/deep/../*.csv"));
        assert!(!pattern("*/x.csv") && !pattern("i*/x.csv") && !pattern("in/*/../../x") && !pattern("out/*"));
        assert!(access.check_pattern("*.csv").is_err() && access.check(Path::new("x")).is_err());
        let _ = std::fs::remove_dir_all(&base);
    }

    #[test]
    fn folders_of_stores_are_prefixes_of_keys() {
        let access = FileAccess::of_text("/tmp, s3://lake/sales").expect("folders");
        assert_eq!(
            access.to_string(),
            format!("{}, s3://lake/sales", canonical("/tmp"))
        );
        for allowed in [
            "s3://lake/sales/x.csv",
            "s3://lake/sales/2024/x.csv",
            "s3://lake/sales",
        ] {
            access.check(Path::new(allowed)).expect(allowed);
        }
        for denied in [
            "s3://lake/x.csv",
            "s3://lake/sales2/x",
            "s3://other/sales/x",
            "gs://lake/sales/x",
        ] {
            let error = access.check(Path::new(denied)).expect_err(denied);
            assert_eq!(error.state(), SqlState::INSUFFICIENT_PRIVILEGE);
        }
        for (pattern, is_allowed) in [
            ("s3://lake/sales/*.csv", true),
            ("s3://lake/sales/**/x-?.csv", true),
            ("s3://lake/sales*/x.csv", false),
            ("s3://lake/*", false),
        ] {
            assert_eq!(access.check_pattern(pattern).is_ok(), is_allowed, "{pattern}");
            assert!(FileAccess::On.check_pattern(pattern).is_ok());
            assert!(FileAccess::Off.check_pattern(pattern).is_err());
        }
        let local = FileAccess::of_text("/").expect("a folder");
        assert!(
            local.check(Path::new("s3://lake/x")).is_err(),
            "a store is not below the root"
        );
        assert!(local.narrowed(access.clone()).is_err() && FileAccess::On.narrowed(access.clone()).is_ok());
        let inner = FileAccess::of_text("s3://lake/sales/2024").expect("a folder");
        assert!(access.narrowed(inner).is_ok());
        assert!(FileAccess::of_text("s3://key:secret@lake/x").is_err());
    }

    fn canonical(path: &str) -> String {
        Path::new(path)
            .canonicalize()
            .expect("it is there")
            .display()
            .to_string()
    }

    #[test]
    fn access_is_only_narrowed() {
        let text = |text: &str| FileAccess::of_text(text).expect(text);
        let narrowed = |from: &str, to: &str| text(from).narrowed(text(to)).is_ok();
        for (from, to) in [
            ("on", "off"),
            ("on", "/"),
            ("/", "/usr, /tmp"),
            ("/tmp", "off"),
            ("off", "OFF"),
            ("on", "on"),
        ] {
            assert!(narrowed(from, to), "{from} {to}");
        }
        for (from, to) in [
            ("off", "on"),
            ("/tmp", "on"),
            ("off", "/tmp"),
            ("/usr", "/"),
            ("/usr", "/usr, /tmp"),
        ] {
            assert!(!narrowed(from, to), "{from} {to}");
        }
        for wrong in ["", " ", "/does/not/exist", "/dev/null", "/tmp,"] {
            assert!(FileAccess::of_text(wrong).is_err(), "{wrong}");
        }
    }
}
