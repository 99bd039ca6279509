//! CSV and JSON files as the source of a table: found by a pattern, looked at, and read.

use crate::compression::Compression;
use crate::csv_reader::{CsvOptions, CsvReader};
use crate::file_input::Origin;
use crate::sniff::{CsvHints, Sample, Sniffed, sniff, wider};
use crate::{BatchReader, ReadLimits, io_error, json_reader};
use frazil_types::{ColumnDef, Error, Reservation, Result, RowBatch, SqlState};
use std::path::{Path, PathBuf};

/// What the files of a source hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceForm {
    /// CSV.
    Csv(CsvHints),
    /// JSON.
    Json(Option<Compression>),
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

/// The files of a pattern, by name: `*`, `?` and `[…]` stand for letters, `**` for directories. 58P01 if there is none.
pub fn files_of(pattern: &str) -> Result<Vec<PathBuf>> {
    if !pattern.contains(['*', '?', '[']) || Path::new(pattern).exists() {
        return Ok(vec![PathBuf::from(pattern)]);
    }
    let paths = glob::glob(pattern).map_err(|e| {
        let message = format!("\"{pattern}\" is not a pattern of files: {e}");
        Error::new(SqlState::INVALID_PARAMETER, message)
    })?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|e| io_error(e.path(), e.error()))?;
        if path.is_file() {
            files.push(path);
        }
    }
    match files.is_empty() {
        true => Err(Error::new(
            SqlState::UNDEFINED_FILE,
            format!("no file matches \"{pattern}\""),
        )),
        false => Ok(files),
    }
}

/// Reads all rows of files. CSV whose first megabyte misleads about a type is looked at as a whole and read again.
pub fn load(files: &[PathBuf], form: &SourceForm, limits: &ReadLimits) -> Result<Loaded> {
    match form {
        SourceForm::Csv(hints) => match load_csv(files, hints, Sample::First, limits) {
            Err(error) if is_of_type(error.state()) && files.iter().all(|f| f.is_file()) => {
                load_csv(files, hints, Sample::All, limits)
            }
            done => done,
        },
        SourceForm::Json(compression) => load_json(files, *compression, limits),
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

fn load_csv(files: &[PathBuf], hints: &CsvHints, sample: Sample, limits: &ReadLimits) -> Result<Loaded> {
    let mut found: Vec<(&PathBuf, CsvOptions)> = Vec::new();
    let mut columns: Option<Vec<ColumnDef>> = None;
    for file in files {
        let Sniffed {
            options,
            columns: own,
            ..
        } = sniff(file, hints, sample, limits)?;
        columns = Some(match columns {
            None => own,
            // An empty file has no columns of its own.
            Some(known) if own.is_empty() => known,
            Some(known) => unified(known, own, file)?,
        });
        found.push((file, options));
    }
    let mut loaded = Loaded::new(columns.unwrap_or_default(), limits);
    if loaded.columns.is_empty() {
        let message = format!("file \"{}\" is empty", files[0].display());
        return Err(Error::new(SqlState::BAD_COPY_FORMAT, message));
    }
    for (file, options) in found {
        let mut reader = CsvReader::open(Origin::File(file), &loaded.columns, options, limits.clone())?;
        loaded.take(&mut reader)?;
    }
    Ok(loaded)
}

fn load_json(files: &[PathBuf], compression: Option<Compression>, limits: &ReadLimits) -> Result<Loaded> {
    let mut read = Vec::new();
    let mut columns: Vec<ColumnDef> = Vec::new();
    for file in files {
        let json = json_reader::read(file, compression, limits)?;
        for own in &json.columns {
            match columns.iter_mut().find(|c| c.name == own.name) {
                Some(known) => known.ty = wider(known.ty, own.ty),
                None => columns.push(own.clone()),
            }
        }
        read.push((file, json));
    }
    let mut loaded = Loaded::new(columns, limits);
    for (file, json) in read {
        for batch in json.batches(&loaded.columns, file)? {
            loaded.push(batch)?;
        }
    }
    Ok(loaded)
}

/// The columns of two files, which must have the same names.
fn unified(known: Vec<ColumnDef>, own: Vec<ColumnDef>, file: &Path) -> Result<Vec<ColumnDef>> {
    let names = |columns: &[ColumnDef]| columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    if names(&known) != names(&own) {
        let message = format!(
            "file \"{}\" has the columns {}, those before it {}",
            file.display(),
            names(&own).join(", "),
            names(&known).join(", ")
        );
        return Err(Error::new(SqlState::BAD_COPY_FORMAT, message));
    }
    let columns = known.into_iter().zip(own).map(|(a, b)| ColumnDef {
        ty: wider(a.ty, b.ty),
        ..a
    });
    Ok(columns.collect())
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

    fn take(&mut self, reader: &mut dyn BatchReader) -> Result<()> {
        while let Some(batch) = reader.next_batch()? {
            self.push(batch)?;
        }
        Ok(())
    }
}
