//! Rows → files in folders that say the values of some columns: `year=2024/region=north/data_0.parquet`.
//!
//! Rows wait in memory, folder by folder, until they take [`HELD_BYTES`]; then the folders with most of them are
//! written. At most [`MOST_OPEN`] files are open: one that was written longest ago is closed for another, and if its
//! folder gets more rows, they go into a further file. All files are written in a hidden folder of the directory. They
//! get their places when the last one is whole, so that a statement that fails leaves what was there before.

use crate::batch_writer::{BatchWriter, Destination, push_text};
use crate::claimed_name::{self, Claimed, Kind};
use crate::file_output::write_error;
use crate::folders::{NULL_FOLDER, escaped};
use crate::in_order::in_order;
use crate::object_files::is_object;
use crate::placement::{self, Placement};
use crate::writer::{Form, writer};
use frazil_types::{
    Cancel, ColumnVector, Error, MemoryBudget, NativeType, Reservation, Result, RowBatch, Schema, SqlState,
    Value,
};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that are open at a time; a process may have 1,024 by default.
const MOST_OPEN: usize = 64;
/// Bytes of rows that wait for their files.
const HELD_BYTES: usize = 64 << 20;
/// Bytes that a part of the rows of a folder takes beside its values, by estimate.
const PART_BYTES: usize = 256;

/// What becomes of files that are in the directory already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// There may be none.
    Refused,
    /// They stay, unless one has the name of a new one.
    Kept,
    /// All stay: new ones have other names.
    Joined,
    /// They are removed once the new ones stand.
    Removed,
}

/// How rows are spread over folders.
#[derive(Clone, Debug)]
pub struct Partitioning {
    /// The columns that the folders say, the outermost folder first; no two are the same.
    pub keys: Vec<usize>,
    /// Whether the files have these columns as well.
    pub keep_keys: bool,
    /// What becomes of files that are there.
    pub existing: Existing,
}

/// Writes rows as they come.
pub struct PartitionedWriter {
    form: Form,
    partitioning: Partitioning,
    columns: Arc<Columns>,
    schema: Schema,
    /// Threads that rows were last written on.
    threads: usize,
    /// Positions in `folders` by the folder's path.
    places: HashMap<String, usize>,
    folders: Vec<FolderRows>,
    open: usize,
    /// Counts what is written to any file.
    clock: u64,
    held: usize,
    reservation: Reservation,
    files: usize,
    // Dropped last, when no file is open any more.
    staging: Staging,
}

/// Which columns the folders say, and which the files have.
struct Columns {
    /// The columns that the folders say, the outermost folder first, with their names as folders have them.
    keys: Vec<(usize, String)>,
    /// Positions of the columns that the files have.
    written: Vec<usize>,
}

/// Rows of one batch that belong to one folder.
struct Part {
    folder: String,
    rows: RowBatch,
    bytes: usize,
}

/// What there is of one folder.
#[derive(Default)]
struct FolderRows {
    path: String,
    held: Vec<RowBatch>,
    held_bytes: usize,
    open: Option<Box<dyn BatchWriter>>,
    /// When it was written to.
    used: u64,
    /// Its files, in the hidden folder.
    files: Vec<PathBuf>,
}

/// The hidden folder, which goes with all that is left in it. Its paths are absolute: the working directory may change
/// meanwhile.
struct Staging {
    hidden: Claimed,
    directory: PathBuf,
    /// What the statement calls the directory.
    shown: PathBuf,
    /// Whether the directory was made for these files.
    is_made: bool,
    is_done: bool,
}

/// A file in the hidden folder that says that all new files have their places: old ones in the folder are not needed
/// any more.
const DONE: &str = "done";

/// Hidden folders.
struct HiddenFolders;

impl Kind for HiddenFolders {
    fn make(&self, path: &Path) -> io::Result<File> {
        std::fs::create_dir(path)?;
        File::open(path)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        match path.symlink_metadata()?.is_dir() {
            true => File::open(path),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// One with old files whose process died while it gave new ones their places stays: nobody else has the old files.
    fn remove(&self, path: &Path) -> io::Result<bool> {
        let is_done = path.join(DONE).exists();
        for entry in std::fs::read_dir(path)? {
            if !is_done && placement::is_old(&entry?.file_name()) {
                return Ok(false);
            }
        }
        std::fs::remove_dir_all(path).map(|()| true)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What cannot be removed is removed by the next one that writes the directory.
        let _ = std::fs::remove_dir_all(&self.hidden.path);
        if self.is_made && !self.is_done {
            // Unless somebody else has put a file there meanwhile.
            let _ = std::fs::remove_dir(&self.directory);
        }
    }
}

impl PartitionedWriter {
    /// Begins to write into a directory, which is made if it is not there. 58P02 for one that is not empty or a file,
    /// where that is refused; 0A000 for a form that does not fit, and for a folder of an object store; 58P01, 58030.
    pub fn create(
        directory: &Path,
        schema: &Schema,
        form: &Form,
        partitioning: Partitioning,
        budget: &MemoryBudget,
    ) -> Result<PartitionedWriter> {
        if is_object(directory) {
            let what = "PARTITION_BY into an object store";
            return Err(Error::unsupported(what)
                .with_hint("write a folder and copy it to the store, or one object for each value"));
        }
        let is_key = |i: &usize| partitioning.keys.contains(i);
        let written: Vec<usize> = (0..schema.columns.len())
            .filter(|i| partitioning.keep_keys || !is_key(i))
            .collect();
        let columns = written.iter().map(|&i| schema.columns[i].clone());
        let own = Schema::new(columns.collect());
        let keys = partitioning.keys.iter();
        let keys = keys
            .map(|&key| (key, escaped(&schema.columns[key].name)))
            .collect();
        let staging = Staging::begin(directory, partitioning.existing)?;
        let writer = PartitionedWriter {
            form: form.clone(),
            partitioning,
            columns: Arc::new(Columns { keys, written }),
            schema: own,
            threads: 1,
            places: HashMap::new(),
            folders: Vec::new(),
            open: 0,
            clock: 0,
            held: 0,
            reservation: budget.reservation(),
            files: 0,
            staging,
        };
        Ok(writer)
    }

    /// Writes the rows that a folder holds, and lets them go.
    fn flush(&mut self, at: usize, threads: usize) -> Result<()> {
        if self.folders[at].open.is_none() {
            if self.open == MOST_OPEN {
                self.close_oldest()?;
            }
            let path = self.staging.hidden.path.join(self.files.to_string());
            // The file is one of this machine, where nobody waits for anything.
            let cancel = Cancel::new();
            let to = Destination::File(&path, &cancel);
            let writer = writer(to, &self.schema, &self.form)?;
            self.files += 1;
            self.folders[at].open = Some(writer);
            self.folders[at].files.push(path);
            self.open += 1;
        }
        self.clock += 1;
        let folder = &mut self.folders[at];
        folder.used = self.clock;
        self.held -= folder.held_bytes;
        folder.held_bytes = 0;
        let held = std::mem::take(&mut folder.held);
        match &mut folder.open {
            Some(writer) => writer.write(&held, threads),
            None => Ok(()),
        }
    }

    /// Hands rows to their folder, where they wait.
    fn hold(&mut self, part: Part, threads: usize) -> Result<()> {
        let place = match self.places.get(&part.folder) {
            Some(place) => *place,
            None => {
                self.places.insert(part.folder.clone(), self.folders.len());
                self.folders.push(FolderRows {
                    path: part.folder,
                    ..FolderRows::default()
                });
                self.folders.len() - 1
            }
        };
        self.reservation.grow(part.bytes)?;
        self.held += part.bytes;
        self.folders[place].held_bytes += part.bytes;
        self.folders[place].held.push(part.rows);
        match self.held > HELD_BYTES {
            true => self.flush_most(threads),
            false => Ok(()),
        }
    }

    fn close_oldest(&mut self) -> Result<()> {
        let open = self.folders.iter_mut().filter(|folder| folder.open.is_some());
        match open.min_by_key(|folder| folder.used) {
            Some(oldest) => {
                self.open -= 1;
                oldest.open.take().map_or(Ok(()), |writer| writer.finish())
            }
            None => Ok(()),
        }
    }

    /// Writes the folders with most rows, until the others hold at most half of what may wait.
    fn flush_most(&mut self, threads: usize) -> Result<()> {
        let mut by_size: Vec<usize> = (0..self.folders.len()).collect();
        by_size.sort_by_key(|&at| std::cmp::Reverse(self.folders[at].held_bytes));
        for at in by_size {
            if self.held <= HELD_BYTES / 2 {
                break;
            }
            self.flush(at, threads)?;
        }
        let spare = self.reservation.bytes().saturating_sub(self.held);
        self.reservation.shrink(spare);
        Ok(())
    }
}

impl BatchWriter for PartitionedWriter {
    fn write(&mut self, batches: &[RowBatch], threads: usize) -> Result<()> {
        self.threads = threads;
        let columns = Arc::clone(&self.columns);
        let parts_of = |batch: usize| columns.parts(&batches[batch]);
        in_order(threads, batches.len(), parts_of, |parts| {
            parts.into_iter().try_for_each(|part| self.hold(part, threads))
        })
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        // Those that are open are not to be closed for others.
        let mut order: Vec<usize> = (0..self.folders.len()).collect();
        order.sort_by_key(|&at| self.folders[at].open.is_none());
        for at in order {
            if !self.folders[at].held.is_empty() {
                self.flush(at, self.threads)?;
            }
            if let Some(writer) = self.folders[at].open.take() {
                self.open -= 1;
                writer.finish()?;
            }
        }
        let PartitionedWriter {
            folders,
            form,
            partitioning,
            staging,
            ..
        } = *self;
        let files = folders
            .iter()
            .map(|folder| (folder.path.as_str(), &folder.files[..]));
        staging.place(files, &extension(&form), partitioning.existing)
    }
}

impl Columns {
    /// The rows of a batch by their folders, in the order in which these come first.
    fn parts(&self, batch: &RowBatch) -> Vec<Part> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut found: Vec<(String, Vec<usize>)> = Vec::new();
        let (mut path, mut text) = (String::new(), String::new());
        for row in 0..batch.rows {
            self.folder(batch, row, &mut path, &mut text);
            let place = match places.get(&path) {
                Some(place) => *place,
                None => {
                    places.insert(path.clone(), found.len());
                    found.push((path.clone(), Vec::new()));
                    found.len() - 1
                }
            };
            found[place].1.push(row);
        }
        let part = |(folder, rows): (String, Vec<usize>)| {
            let mut bytes = PART_BYTES;
            let columns = self.written.iter().map(|&column| {
                let (part, taken) = part(&batch.columns[column], &rows);
                bytes += taken;
                part
            });
            let rows = RowBatch {
                columns: columns.collect(),
                rows: rows.len(),
            };
            Part { folder, rows, bytes }
        };
        found.into_iter().map(part).collect()
    }

    /// The folder of a row, with all above it. `text` is anybody's.
    fn folder(&self, batch: &RowBatch, row: usize, path: &mut String, text: &mut String) {
        path.clear();
        for (key, name) in &self.keys {
            let column = &batch.columns[*key];
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(name);
            path.push('=');
            if column.is_null(row) {
                path.push_str(NULL_FOLDER);
                continue;
            }
            text.clear();
            push_text(text, column, row);
            match text == NULL_FOLDER {
                // Not NULL, but a text of that name.
                true => path.push_str(&NULL_FOLDER.replacen('_', "%5F", 1)),
                false => path.push_str(&escaped(text)),
            }
        }
    }
}

/// Some rows of a column, and the bytes that they take. Texts are copied: the batch's are let go.
fn part(column: &ColumnVector, rows: &[usize]) -> (ColumnVector, usize) {
    if column.native() != NativeType::String {
        let part = column.selected(rows);
        let bytes = part.bytes();
        return (part, bytes);
    }
    let values: Vec<Value> = rows.iter().map(|&row| column.value(row)).collect();
    let long = rows.iter().filter(|&&row| !column.is_null(row));
    let bytes: usize = long.map(|&row| column.string(row).len()).sum();
    let part = ColumnVector::from_values(column.ty(), &values);
    let bytes = bytes + part.bytes();
    (part, bytes)
}

/// What the names of files of a form end with.
fn extension(form: &Form) -> String {
    let (name, compression) = match form {
        Form::Csv(_, compression) => ("csv", *compression),
        Form::Json { compression, .. } => ("json", *compression),
        Form::Pgcopy(compression) => ("bin", *compression),
        Form::Parquet { .. } => return "parquet".to_owned(),
    };
    format!("{name}{}", compression.extension())
}

impl Staging {
    fn begin(directory: &Path, existing: Existing) -> Result<Staging> {
        let failed = |e: io::Error| write_error(Some(directory), &e);
        let shown = directory.to_path_buf();
        let directory = std::path::absolute(directory).map_err(failed)?;
        let is_made = match std::fs::metadata(&directory) {
            Ok(found) if !found.is_dir() => return Err(in_the_way(&shown, "is a file")),
            Ok(_) => false,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::fs::create_dir(&directory).map_err(failed)?;
                true
            }
            Err(error) => return Err(failed(error)),
        };
        let claimed = claimed_name::claim(&directory, "copy", &HiddenFolders).map_err(failed)?;
        let staging = Staging {
            hidden: claimed,
            directory,
            shown,
            is_made,
            is_done: false,
        };
        match existing == Existing::Refused && staging.has_others()? {
            true => Err(in_the_way(&staging.shown, "is not empty").with_hint(
                "OVERWRITE removes existing files, OVERWRITE_OR_IGNORE keeps files of other names, APPEND keeps all",
            )),
            false => Ok(staging),
        }
    }

    /// True if the directory holds something else than the hidden folder.
    fn has_others(&self) -> Result<bool> {
        let failed = |e: io::Error| write_error(Some(&self.shown), &e);
        for entry in std::fs::read_dir(&self.directory).map_err(failed)? {
            if entry.map_err(failed)?.path() != self.hidden.path {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives the files their places. If that fails, what was in the directory is there as before.
    fn place<'a>(
        mut self,
        files: impl Iterator<Item = (&'a str, &'a [PathBuf])>,
        end: &str,
        existing: Existing,
    ) -> Result<()> {
        let mut placement = Placement::new(&self.directory, &self.hidden.path, existing);
        for (folder, files) in files {
            placement
                .place(folder, files, end)
                .map_err(|e| write_error(Some(&self.shown.join(folder)), &e))?;
        }
        let failed = |e: io::Error| write_error(Some(&self.shown), &e);
        placement.keep().map_err(failed)?;
        self.is_done = true;
        // It tells the next one that this folder may go, should this process die before it is gone.
        let _ = File::create(self.hidden.path.join(DONE));
        Ok(())
    }
}

fn in_the_way(directory: &Path, what: &str) -> Error {
    let message = format!("directory \"{}\" {what}", directory.display());
    Error::new(SqlState::DUPLICATE_FILE, message)
}
