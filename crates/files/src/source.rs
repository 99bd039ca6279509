//! CSV and JSON files as the source of a table: found by a pattern, looked at, and read.

use crate::compression::Compression;
use crate::csv_columns::CsvColumns;
use crate::csv_reader::CsvReader;
use crate::csv_types::wider;
use crate::file_input::{Origin, PATIENCE};
use crate::folders::{Folders, PathColumns, TableColumns};
use crate::object_files::is_object;
use crate::rejects::{OnError, Rejects, Skipped};
use crate::sniff::{CsvHints, Sample, Sniffed, sniff};
use crate::{BatchReader, ReadLimits, io_error, json_reader};
use frazil_objects::ObjectUrl;
use frazil_types::{
    ColumnDef, ColumnVector, Disjunction, Error, Reservation, Restriction, Result, RowBatch, SqlState,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};

/// What the files of a source hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceForm {
    /// CSV.
    Csv(CsvHints),
    /// JSON.
    Json {
        /// How it is compressed; by its name if not said.
        compression: Option<Compression>,
        /// Whether lines that are no objects are left out.
        skips: bool,
    },
}

/// The rows of files.
pub struct Loaded {
    /// Their columns.
    pub columns: Vec<ColumnDef>,
    /// The rows.
    pub batches: Vec<RowBatch>,
    /// The memory that they take.
    pub reservation: Reservation,
}

/// The files or objects of a pattern, by name: `*`, `?` and `[…]` stand for letters, `**` for directories. 58P01 if there
/// is none, 42501 if one of them is not allowed, 57014 once the statement is cancelled, and the errors of stores.
pub fn files_of(pattern: &str, limits: &ReadLimits) -> Result<Vec<PathBuf>> {
    limits.access.check_pattern(pattern)?;
    let files = found(pattern, limits)?;
    files.iter().try_for_each(|file| limits.access.check(file))?;
    Ok(files)
}

/// A thread of its own looks into directories: the system does not answer within any time, and a pattern may lead
/// through millions of files before it finds one.
fn found(pattern: &str, limits: &ReadLimits) -> Result<Vec<PathBuf>> {
    if let Some(url) = ObjectUrl::parse(pattern) {
        return limits.objects.matching(&url?, &limits.cancel);
    }
    if !pattern.contains(['*', '?', '[']) || Path::new(pattern).exists() {
        return Ok(vec![PathBuf::from(pattern)]);
    }
    let paths = glob::glob(pattern).map_err(|e| {
        let message = format!("\"{pattern}\" is not a pattern of files: {e}");
        Error::new(SqlState::INVALID_PARAMETER, message)
    })?;
    let (sender, receiver) = channel();
    let look = move || {
        for path in paths {
            let file = match path {
                Ok(path) => path.is_file().then_some(Ok(path)),
                Err(e) => Some(Err(io_error(e.path(), e.error()))),
            };
            // Nobody receives any more: the statement has ended.
            if file.is_some_and(|file| sender.send(file).is_err()) {
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("frazil-files".to_owned());
    thread.spawn(look).map_err(|e| io_error(Path::new(pattern), &e))?;
    let mut files = Vec::new();
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(file) => files.push(file?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        limits.cancel.check()?;
    }
    match files.is_empty() {
        true => Err(Error::new(
            SqlState::UNDEFINED_FILE,
            format!("no file matches \"{pattern}\""),
        )),
        false => Ok(files),
    }
}

/// Reads all rows of files, whose paths may say columns as well ([`Folders::of`]). CSV whose first megabyte misleads
/// about a type is looked at as a whole and read again.
pub fn load(
    files: &[PathBuf],
    form: &SourceForm,
    paths_say: &PathColumns,
    limits: &ReadLimits,
) -> Result<Loaded> {
    match form {
        SourceForm::Csv(hints) => {
            let all =
                |sample| CsvFiles::look(files, hints, paths_say, sample, limits)?.read(&|_| true, limits);
            match all(Sample::First) {
                Err(error)
                    if is_of_type(error.state())
                        && !hints.skips
                        && files.iter().all(|f| f.is_file() || is_object(f)) =>
                {
                    all(Sample::All)
                }
                done => done,
            }
        }
        SourceForm::Json { compression, skips } => {
            load_json(files, *compression, &on_error(*skips, limits), paths_say, limits)
        }
    }
}

/// What becomes of records that are no rows.
fn on_error(skips: bool, limits: &ReadLimits) -> OnError {
    match skips {
        false => OnError::Stop,
        true => OnError::Skip(Arc::new(Rejects::new(
            Skipped::Records,
            false,
            None,
            &limits.budget,
        ))),
    }
}

/// Whether an error says that a value is not of its column's type.
fn is_of_type(state: SqlState) -> bool {
    [
        SqlState::INVALID_TEXT,
        SqlState::NUMERIC_OUT_OF_RANGE,
        SqlState::INVALID_DATETIME,
        SqlState::DATETIME_OVERFLOW,
    ]
    .contains(&state)
}

/// CSV files that were looked at, whose rows are read when it is known which files are needed.
#[derive(Debug)]
pub struct CsvFiles {
    files: Vec<CsvFile>,
    /// Whether records that are no rows are left out.
    skips: bool,
    /// Number of columns that the files have.
    width: usize,
    folders: Folders,
    table: TableColumns,
}

/// A CSV file that was looked at.
#[derive(Debug)]
struct CsvFile {
    path: PathBuf,
    found: Sniffed,
    /// The position among the columns of all files of each of its columns.
    places: Vec<usize>,
}

impl CsvFiles {
    /// Looks at files. 22P04 for files without columns, or with other ones than those before them unless columns are
    /// united by name.
    pub fn look(
        files: &[PathBuf],
        hints: &CsvHints,
        paths_say: &PathColumns,
        sample: Sample,
        limits: &ReadLimits,
    ) -> Result<CsvFiles> {
        let folders = Folders::of(files, paths_say)?;
        let mut looked: Vec<CsvFile> = Vec::new();
        let mut columns = CsvColumns::default();
        for path in files {
            let found = sniff(path, hints, sample, limits)?;
            let places = columns.take(path, &found, hints)?;
            let path = path.clone();
            looked.push(CsvFile { path, found, places });
        }
        let own = columns.finish(hints)?;
        if own.is_empty() {
            let message = format!("file \"{}\" is empty", files[0].display());
            return Err(Error::new(SqlState::BAD_COPY_FORMAT, message));
        }
        for CsvFile { found, places, .. } in &mut looked {
            let typed = found
                .columns
                .iter()
                .zip(places.iter())
                .map(|(column, &at)| ColumnDef {
                    ty: own[at].ty,
                    ..column.clone()
                });
            match hints.unites {
                true => found.retype(typed.collect(), &hints.moments),
                false => found.columns = typed.collect(),
            }
        }
        Ok(CsvFiles {
            files: looked,
            skips: hints.skips,
            table: folders.with(&own),
            width: own.len(),
            folders,
        })
    }

    /// The columns of the files and of their folders.
    pub fn columns(&self) -> &[ColumnDef] {
        &self.table.columns
    }

    /// The number of files.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Whether folders say that no row of a file satisfies all restrictions and disjunctions.
    pub fn rules_out(&self, file: usize, restrictions: &[Restriction], disjunctions: &[Disjunction]) -> bool {
        self.folders
            .rule_out(file, &self.table, restrictions, disjunctions)
    }

    /// Reads the rows of the files that are wanted, by their position.
    pub fn read(&self, wanted: &dyn Fn(usize) -> bool, limits: &ReadLimits) -> Result<Loaded> {
        let mut loaded = Loaded::new(self.table.columns.clone(), limits);
        let has_rows = |(at, file): &(usize, &CsvFile)| wanted(*at) && !file.places.is_empty();
        for (at, file) in self.files.iter().enumerate().filter(has_rows) {
            let Sniffed { columns, options, .. } = &file.found;
            let reader = CsvReader::open(Origin::File(&file.path), columns, options.clone(), limits.clone())?;
            let mut reader = reader.on_error(on_error(self.skips, limits));
            while let Some(batch) = reader.next_batch()? {
                let mut own: Vec<Option<ColumnVector>> = (0..self.width).map(|_| None).collect();
                for (&place, column) in file.places.iter().zip(batch.columns) {
                    own[place] = Some(column);
                }
                loaded.push(self.folders.widened(at, &self.table, own, batch.rows))?;
            }
        }
        Ok(loaded)
    }

    /// As [`CsvFiles::read`], where columns cannot have other types any more: an error says what helps.
    pub fn read_as_looked_at(&self, wanted: &dyn Fn(usize) -> bool, limits: &ReadLimits) -> Result<Loaded> {
        self.read(wanted, limits).map_err(|error| match is_of_type(error.state()) {
            true => error.with_hint(
                "types come from the first megabyte of each file; read_csv('path', all_text => true) reads text",
            ),
            false => error,
        })
    }
}

fn load_json(
    files: &[PathBuf],
    compression: Option<Compression>,
    on_error: &OnError,
    paths_say: &PathColumns,
    limits: &ReadLimits,
) -> Result<Loaded> {
    let folders = Folders::of(files, paths_say)?;
    let mut read = Vec::new();
    let mut own_columns: Vec<ColumnDef> = Vec::new();
    for file in files {
        let json = json_reader::read(Origin::File(file), compression, on_error, limits)?;
        for own in &json.columns {
            match own_columns.iter_mut().find(|c| c.name == own.name) {
                Some(known) => known.ty = wider(known.ty, own.ty),
                None => own_columns.push(own.clone()),
            }
        }
        read.push(json);
    }
    let table = folders.with(&own_columns);
    let mut loaded = Loaded::new(table.columns.clone(), limits);
    for (at, json) in read.into_iter().enumerate() {
        for batch in json.batches(&own_columns, limits)? {
            let own = batch.columns.into_iter().map(Some).collect();
            loaded.push(folders.widened(at, &table, own, batch.rows))?;
        }
    }
    Ok(loaded)
}

impl Loaded {
    fn new(columns: Vec<ColumnDef>, limits: &ReadLimits) -> Loaded {
        Loaded {
            columns,
            batches: Vec::new(),
            reservation: limits.budget.reservation(),
        }
    }

    fn push(&mut self, batch: RowBatch) -> Result<()> {
        let bytes: usize = batch.columns.iter().map(|c| c.bytes()).sum();
        self.reservation.grow(bytes)?;
        self.batches.push(batch);
        Ok(())
    }
}
