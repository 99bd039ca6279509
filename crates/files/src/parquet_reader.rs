//! Reads a Parquet file into batches.

use crate::parquet_column::convert;
use crate::{BatchReader, ReadLimits, io_error};
use arrow_array::{Array, RecordBatch};
use frazil_types::{CHUNK_ROWS, ColumnDef, Error, Result, RowBatch, SqlState};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Reads rows of a Parquet file as rows of the given columns.
pub struct ParquetReader {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
    limits: ReadLimits,
    columns: Vec<ColumnDef>,
    /// Position in the record batches of each of `columns`.
    sources: Vec<usize>,
    done: u64,
    total: u64,
}

impl ParquetReader {
    /// Opens a file. Columns are found by name where the file has all the names, else by position. 22P04 for a file that
    /// is not Parquet or is damaged.
    pub fn open(path: &Path, columns: &[ColumnDef], limits: ReadLimits) -> Result<ParquetReader> {
        sound(path, || ParquetReader::open_sound(path, columns, limits))
    }

    fn open_sound(path: &Path, columns: &[ColumnDef], limits: ReadLimits) -> Result<ParquetReader> {
        let file = File::open(path).map_err(|e| io_error(path, &e))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| bad_file(path, &e))?;
        let total = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let in_file = match_columns(path, builder.schema(), columns)?;
        let mut read = in_file.clone();
        read.sort_unstable();
        let sources = in_file
            .iter()
            .map(|f| read.iter().position(|r| r == f).unwrap_or(0))
            .collect();
        let mask = ProjectionMask::roots(builder.parquet_schema(), read);
        let reader = builder
            .with_projection(mask)
            .with_batch_size(CHUNK_ROWS)
            .build()
            .map_err(|e| bad_file(path, &e))?;
        Ok(ParquetReader {
            path: path.to_path_buf(),
            reader,
            limits,
            columns: columns.to_vec(),
            sources,
            done: 0,
            total,
        })
    }

    fn convert(&self, batch: &RecordBatch) -> Result<RowBatch> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for (def, &source) in self.columns.iter().zip(&self.sources) {
            let array = batch.column(source);
            let place = |row: usize| {
                format!(
                    "file \"{}\", row {}, column \"{}\"",
                    self.path.display(),
                    self.done + row as u64 + 1,
                    def.name
                )
            };
            if !def.nullable && array.null_count() > 0 {
                let row = (0..array.len()).find(|&r| array.is_null(r)).unwrap_or(0);
                let message = format!(
                    "null value in column \"{}\" violates not-null constraint",
                    def.name
                );
                return Err(Error::new(SqlState::NOT_NULL_VIOLATION, message).in_context(place(row)));
            }
            columns.push(
                convert(array, def.ty, &self.limits.budget).map_err(|(row, e)| e.in_context(place(row)))?,
            );
        }
        Ok(RowBatch {
            columns,
            rows: batch.num_rows(),
        })
    }
}

impl BatchReader for ParquetReader {
    fn next_batch(&mut self) -> Result<Option<RowBatch>> {
        self.limits.cancel.check()?;
        let path = self.path.clone();
        sound(&path, || {
            let Some(batch) = self.reader.next() else {
                return Ok(None);
            };
            let batch = batch.map_err(|e| bad_file(&path, &e))?;
            // The pages are decoded by now; what they take beside the rows made of them counts too.
            let _decoded = self.limits.budget.reserve(batch.get_array_memory_size())?;
            let rows = self.convert(&batch)?;
            self.done += rows.rows as u64;
            Ok(Some(rows))
        })
    }

    fn progress(&self) -> (u64, u64) {
        (self.done, self.total)
    }
}

/// Runs a part of the reading. The crate that knows the format panics at some damaged files: that is the file's fault, 22P04, and
/// the statement gives the reader up.
fn sound<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(ToString::to_string);
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
        let said = said.unwrap_or_else(|| "the data are inconsistent".to_owned());
        Err(bad_file(path, &format!("it is damaged ({said})")))
    })
}

fn bad_file(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::new(
        SqlState::BAD_COPY_FORMAT,
        format!("file \"{}\" is not readable as Parquet: {error}", path.display()),
    )
}

fn match_columns(path: &Path, schema: &arrow_schema::Schema, columns: &[ColumnDef]) -> Result<Vec<usize>> {
    let by_name: Option<Vec<usize>> = columns
        .iter()
        .map(|c| {
            schema
                .fields()
                .iter()
                .position(|f| f.name().eq_ignore_ascii_case(&c.name))
        })
        .collect();
    if let Some(found) = by_name {
        return Ok(found);
    }
    if schema.fields().len() == columns.len() {
        return Ok((0..columns.len()).collect());
    }
    let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    let missing = columns
        .iter()
        .find(|c| !names.iter().any(|n| n.eq_ignore_ascii_case(&c.name)));
    let message = format!(
        "file \"{}\" has no column \"{}\"; it has {}",
        path.display(),
        missing.map_or("", |c| c.name.as_str()),
        names.join(", ")
    );
    Err(Error::new(SqlState::UNDEFINED_COLUMN, message))
}
