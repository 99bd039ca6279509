//! Reads a Parquet file into batches.

use crate::open_file::OpenFile;
use crate::parquet_column::{rows_of, sources};
use crate::parquet_damage::{bad_file, sound};
use crate::parquet_intervals;
use crate::parquet_ranges::ParquetRanges;
use crate::{BatchReader, ReadLimits};
use arrow_array::RecordBatch;
use frazil_types::{CHUNK_ROWS, ColumnDef, Error, Result, RowBatch};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;
use std::path::{Path, PathBuf};

/// Reads rows of a Parquet file as rows of the given columns.
pub struct ParquetReader {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
    /// The ranges that are read of an object; `None` for a file of this machine.
    ranges: Option<ParquetRanges>,
    limits: ReadLimits,
    columns: Vec<ColumnDef>,
    /// Position in the record batches of each of `columns`.
    sources: Vec<usize>,
    /// For each column of the record batches, true if it has intervals.
    intervals: Vec<bool>,
    done: u64,
    total: u64,
}

impl ParquetReader {
    /// Opens a file. Columns are found by name where the file has all the names, else by position. 22P04 for a file that
    /// is not Parquet or is damaged, and the errors of [`OpenFile::open`].
    pub fn open(path: &Path, columns: &[ColumnDef], limits: ReadLimits) -> Result<ParquetReader> {
        sound(path, || ParquetReader::open_sound(path, columns, limits))
    }

    fn open_sound(path: &Path, columns: &[ColumnDef], limits: ReadLimits) -> Result<ParquetReader> {
        match OpenFile::open(path, &limits)? {
            OpenFile::Local(file, _) => {
                let footer = footer_of(path, &file)?;
                ParquetReader::over(path, file, footer, columns, limits, None)
            }
            OpenFile::Object(object, cancel) => {
                let end = ParquetRanges::of_end(&object, &cancel, &limits.budget);
                let footer = footer_of(path, &end).map_err(|error| end.failure().unwrap_or(error))?;
                let whole = footer.0.metadata();
                let ranges = ParquetRanges::of_columns(&object, &cancel, &limits.budget, whole);
                let shared = Some(ranges.clone());
                ParquetReader::over(path, ranges, footer, columns, limits, shared)
            }
        }
    }

    /// A reader of a file whose bytes `file` reads; `ranges`: `file`, if it is an object.
    fn over(
        path: &Path,
        file: impl ChunkReader + 'static,
        (footer, intervals): (ArrowReaderMetadata, Vec<bool>),
        columns: &[ColumnDef],
        limits: ReadLimits,
        ranges: Option<ParquetRanges>,
    ) -> Result<ParquetReader> {
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, footer);
        let total = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let in_file = sources(&format!("file \"{}\"", path.display()), builder.schema(), columns)?;
        let mut read = in_file.clone();
        read.sort_unstable();
        let sources = in_file
            .iter()
            .map(|f| read.iter().position(|r| r == f).unwrap_or(0))
            .collect();
        let intervals = read.iter().map(|&root| intervals[root]).collect();
        let mask = ProjectionMask::roots(builder.parquet_schema(), read);
        let reader = builder
            .with_projection(mask)
            .with_batch_size(CHUNK_ROWS)
            .build()
            .map_err(|e| failure_of(ranges.as_ref(), bad_file(path, &e)))?;
        Ok(ParquetReader {
            path: path.to_path_buf(),
            reader,
            ranges,
            limits,
            columns: columns.to_vec(),
            sources,
            intervals,
            done: 0,
            total,
        })
    }

    fn convert(&self, batch: &RecordBatch) -> Result<RowBatch> {
        let place = |row: usize, column: &str| {
            let row = self.done + row as u64 + 1;
            format!("file \"{}\", row {row}, column \"{column}\"", self.path.display())
        };
        let mut arrays = batch.columns().to_vec();
        for (at, array) in arrays
            .iter_mut()
            .enumerate()
            .filter(|(at, _)| self.intervals[*at])
        {
            let name = batch.schema_ref().field(at).name();
            *array = parquet_intervals::read(array).map_err(|(row, e)| e.in_context(place(row, name)))?;
        }
        let rows = batch.num_rows();
        rows_of(
            &arrays,
            rows,
            &self.columns,
            &self.sources,
            &self.limits.budget,
            &place,
        )
    }
}

/// The footer of a file, with true for each column of intervals. 22P04.
fn footer_of(path: &Path, file: &impl ChunkReader) -> Result<(ArrowReaderMetadata, Vec<bool>)> {
    let footer = ArrowReaderMetadata::load(file, ArrowReaderOptions::new());
    let footer = footer.and_then(parquet_intervals::without_marks);
    footer.map_err(|e| bad_file(path, &e))
}

/// The error of a store that a reader ended with; `error` if it was not the store.
fn failure_of(ranges: Option<&ParquetRanges>, error: Error) -> Error {
    ranges.and_then(ParquetRanges::failure).unwrap_or(error)
}

impl BatchReader for ParquetReader {
    fn next_batch(&mut self) -> Result<Option<RowBatch>> {
        self.limits.cancel.check()?;
        let path = self.path.clone();
        sound(&path, || {
            let Some(batch) = self.reader.next() else {
                return Ok(None);
            };
            let batch = batch.map_err(|e| failure_of(self.ranges.as_ref(), bad_file(&path, &e)))?;
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
