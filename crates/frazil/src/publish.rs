//! PUBLISH: snapshots in a folder, which others open read-only.

use crate::database::Database;
use crate::elsewhere;
use crate::rows::{Response, table_rows};
use crate::session::Session;
use crate::system_tables;
use frazil_durability::{CopyWatch, Directory, Publication, PublishOptions, PublishedSnapshot};
use frazil_frontend::PublishStatement;
use frazil_objects::{ObjectUrl, url_path};
use frazil_types::{Cancel, Error, Result, Schema, SqlState, Value};
use frazil_vfs::{SystemVfs, Vfs};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Instant;

impl Database {
    /// Publishes what is committed to a folder, while others read and write: [`Database::open_read_only`] opens the
    /// folder, which shows its newest snapshot, and the paths of single snapshots ([`PublishedSnapshot::path`]). The
    /// folder may be the URL of an object store, as `s3://bucket/shop`.
    ///
    /// 22023 for a folder that holds something else than snapshots of this database, or is inside the database
    /// directory; 55006 while somebody else publishes to it; 0A000 in memory; 25006 if the database is only read; XX001
    /// if a table is damaged; 57014 if it is stopped. After an error the newest snapshot is the one before, unless the
    /// error is one of the last sync, which leaves the new one or the one before. For a URL also 08001 if the store
    /// does not answer, 42501 if it denies access, and 53400 if it wants fewer requests.
    ///
    /// ```
    /// # fn main() -> frazil::Result<()> {
    /// # let directory = std::env::temp_dir().join(format!("frazil-publish-doc-{}", std::process::id()));
    /// # let _ = std::fs::remove_dir_all(&directory);
    /// # let (directory, folder) = (directory.join("shop"), directory.join("published"));
    /// let database = frazil::Database::open(&directory)?;
    /// database.connect().execute("create table t (a integer); insert into t values (1)")?;
    /// database.publish(&folder, &frazil::PublishOptions::default(), &frazil::Cancel::new())?;
    /// let reader = frazil::Database::open_read_only(&folder)?;
    /// let row = reader.connect().query_row("select a from t", ())?;
    /// assert_eq!(row.get::<i32>("a")?, 1);
    /// # std::fs::remove_dir_all(directory.parent().unwrap()).map_err(|e| frazil::Error::internal(e.to_string()))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn publish(
        &self,
        folder: impl AsRef<Path>,
        options: &PublishOptions,
        cancel: &Cancel,
    ) -> Result<Publication> {
        self.publish_watched(folder.as_ref(), options, CopyWatch::stopped_by(cancel))
    }

    /// Publishes to a folder of another file system than the operating system's, as [`Database::publish`] does: tests
    /// have one that fails.
    pub fn publish_over(
        &self,
        vfs: &dyn Vfs,
        folder: &Path,
        options: &PublishOptions,
        cancel: &Cancel,
    ) -> Result<Publication> {
        self.check_process()?;
        match self.directory() {
            Some(directory) => directory.publish_over(vfs, folder, options, CopyWatch::stopped_by(cancel)),
            None => Err(in_memory()),
        }
    }

    fn publish_watched(
        &self,
        folder: &Path,
        options: &PublishOptions,
        watch: CopyWatch<'_>,
    ) -> Result<Publication> {
        self.check_process()?;
        match self.directory() {
            Some(directory) => match elsewhere::folder_at(folder, watch.cancel)? {
                Some((vfs, folder)) => directory.publish_over(&*vfs, &folder, options, watch),
                None => directory.publish(folder, options, watch),
            },
            None => Err(in_memory()),
        }
    }

    /// True if a path is the URL of an object store. Published folders there are opened read-only.
    pub fn is_url(path: impl AsRef<Path>) -> bool {
        elsewhere::is_url(path.as_ref())
    }

    /// True if a path leads to a snapshot in a published folder, which [`Database::open_read_only`] opens. The path is
    /// that of a file.
    pub fn is_snapshot_path(path: impl AsRef<Path>) -> bool {
        Directory::is_snapshot(&SystemVfs::default(), path.as_ref()).unwrap_or(false)
    }

    /// The path or URL by which others open the published snapshot that the next statement sees if no PUBLISH comes
    /// before it: later snapshots do not take its place there. `None` unless a published folder is open, by this path
    /// or URL.
    pub fn snapshot_path(&self, folder: impl AsRef<Path>) -> Option<PathBuf> {
        let directory = self.directory().filter(|directory| directory.moves_on())?;
        let published = directory.published()?;
        Some(match folder.as_ref().to_str().and_then(ObjectUrl::parse) {
            Some(Ok(url)) => published.path(&url_path(&url)),
            Some(Err(_)) | None => published.path(folder.as_ref()),
        })
    }

    /// The published snapshot that the next statement sees if no PUBLISH comes before it; `None` unless a published
    /// folder or a snapshot in one is open.
    pub fn published_snapshot(&self) -> Option<PublishedSnapshot> {
        self.directory()?.published()
    }
}

fn in_memory() -> Error {
    let message = "a database in memory has no blocks to publish";
    Error::new(SqlState::FEATURE_NOT_SUPPORTED, message)
        .with_hint("open it in a directory, or COPY tables to Parquet files")
}

/// Runs PUBLISH. 25001 inside a transaction.
pub fn run(session: &Session, statement: &PublishStatement, started: Instant) -> Result<Response> {
    session.refuse_transaction("PUBLISH")?;
    let folder = Path::new(&statement.folder);
    session.settings().file_access.check(folder)?;
    let default = PublishOptions::default();
    let options = PublishOptions {
        is_incremental: statement.is_incremental,
        keep: statement.keep.unwrap_or(default.keep),
    };
    let (progress, seen) = (session.progress(), Cell::new((0, 0)));
    progress.enter("copying blocks");
    let watch = CopyWatch {
        cancel: session.cancel(),
        watch: &|done, total| {
            let (before, expected) = seen.replace((done, total));
            progress.expect(total - expected);
            progress.advance(done - before);
        },
    };
    let made = session.database().publish_watched(folder, &options, watch)?;
    let row = [
        made.snapshot,
        made.lsn.0,
        made.blocks,
        made.bytes,
        made.total_bytes,
    ];
    let row = row.map(|number| Value::Int(number.into())).to_vec();
    Ok(table_rows(schema()?, &[row], started).of_command("PUBLISH"))
}

/// The columns of PUBLISH's result.
pub fn schema() -> Result<Schema> {
    system_tables::schema(&[
        ("snapshot", "bigint"),
        ("lsn", "bigint"),
        ("blocks_copied", "bigint"),
        ("bytes_copied", "bigint"),
        ("bytes", "bigint"),
    ])
}
