//! A snapshot that PUBLISH wrote, as its manifest and its file's name say it.

use frazil_storage::Lsn;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// The folder of the manifests of all snapshots, in a published folder.
pub(crate) const SNAPSHOTS: &str = "snapshots";

/// The file that says whose snapshots a published folder has.
pub(crate) const MARKER: &str = "published";

/// A snapshot in a published folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedSnapshot {
    /// The first snapshot of a folder has number 1, each later one the next number. In an object store numbers are left
    /// out if a PUBLISH did not end.
    pub number: u64,
    /// The end of the published database's log: the snapshot has the commits before this position.
    pub lsn: Lsn,
}

impl PublishedSnapshot {
    /// The path by which the snapshot is opened, also when the folder has later ones: `FOLDER/snapshots/00000007`.
    pub fn path(&self, folder: &Path) -> PathBuf {
        snapshot_path(folder, self.number)
    }

    pub(crate) fn write(&self) -> Json {
        json!([self.number, self.lsn.0])
    }

    /// Reads what [`PublishedSnapshot::write`] wrote. The outer `None` means that the JSON is something else.
    pub(crate) fn read(json: &Json) -> Option<Option<PublishedSnapshot>> {
        if json.is_null() {
            return Some(None);
        }
        Some(Some(PublishedSnapshot {
            number: json[0].as_u64()?,
            lsn: Lsn(json[1].as_u64()?),
        }))
    }
}

/// The path of the manifest of a snapshot.
pub(crate) fn snapshot_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(SNAPSHOTS).join(snapshot_name(number))
}

fn snapshot_name(number: u64) -> String {
    format!("{number:08}")
}

/// The number of the snapshot whose manifest has this name. `None` for names that PUBLISH does not give.
pub(crate) fn snapshot_number(name: &str) -> Option<u64> {
    let number = name.parse().ok()?;
    (number > 0 && snapshot_name(number) == name).then_some(number)
}

/// The folder and the number of the snapshot that a path names; `None` if the path does not end as those of snapshots.
pub(crate) fn named_snapshot(path: &Path) -> Option<(&Path, u64)> {
    let number = snapshot_number(path.file_name()?.to_str()?)?;
    let snapshots = path.parent()?;
    let is_one = snapshots.file_name()? == SNAPSHOTS;
    is_one.then_some((snapshots.parent()?, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_snapshot() {
        let snapshot = PublishedSnapshot {
            number: 7,
            lsn: Lsn(9),
        };
        let path = snapshot.path(Path::new("/a/b"));
        assert_eq!(path, Path::new("/a/b/snapshots/00000007"));
        assert_eq!(named_snapshot(&path), Some((Path::new("/a/b"), 7)));
        assert_eq!(
            named_snapshot(Path::new("snapshots/123456789")),
            Some((Path::new(""), 123456789))
        );
        for other in [
            "/a/snapshots/7",
            "/a/snapshots/00000000",
            "/a/segments/00000007",
            "00000007",
            "/",
            "/a/snapshots/0000007x",
        ] {
            assert_eq!(named_snapshot(Path::new(other)), None, "{other}");
        }
        assert_eq!(PublishedSnapshot::read(&snapshot.write()), Some(Some(snapshot)));
        assert_eq!(PublishedSnapshot::read(&Json::Null), Some(None));
        assert_eq!(PublishedSnapshot::read(&json!(["7", 9])), None);
    }
}
