//! Directories for what an experiment writes.

use frazil_types::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Directories that are there, so that an interrupted experiment leaves none.
#[derive(Debug, Default)]
pub struct Own(Arc<Mutex<Vec<PathBuf>>>);

/// The directories of all experiments.
static OWN: LazyLock<Own> = LazyLock::new(Own::default);

impl Own {
    fn list(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a directory and lists it.
    pub fn make(&self) -> Result<Scratch> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("frazil-bench-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)
            .map_err(|e| crate::io_errors::io_error(format!("cannot make {}", path.display()), &e))?;
        self.list().push(path.clone());
        Ok(Scratch {
            path,
            listed_in: Own(self.0.clone()),
        })
    }

    /// Removes all directories that are there.
    pub fn remove_all(&self) {
        for path in self.list().drain(..) {
            // A directory that cannot be removed stays in the temporary directory, whose owner clears it.
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Removes the directories of all experiments.
pub fn remove_all() {
    OWN.remove_all();
}

/// A directory of its own under the system's temporary one, removed at the end.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    listed_in: Own,
}

impl Scratch {
    /// Makes one.
    pub fn new() -> Result<Scratch> {
        OWN.make()
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of all files in it.
    pub fn bytes(&self) -> Result<u64> {
        bytes_under(&self.path)
            .map_err(|e| crate::io_errors::io_error(format!("cannot read {}", self.path.display()), &e))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.listed_in.list().retain(|path| *path != self.path);
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn bytes_under(path: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() {
            bytes_under(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_experiment_leaves_no_directories() {
        let own = Own::default();
        let [first, second] = [(); 2].map(|()| own.make().expect("it is made"));
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists() && second.path().exists());
        assert_eq!(own.list().len(), 1);
        let others = Scratch::new().expect("it is made");
        own.remove_all();
        assert!(!second.path().exists() && others.path().exists());
        assert!(own.list().is_empty());
    }
}
