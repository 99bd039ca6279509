//! Reads a Parquet file into batches.

use crate::parquet_column::{rows_of, sources};
use crate::parquet_damage::{bad_file, sound};
use crate::parquet_intervals;
use crate::{BatchReader, ReadLimits, io_error};
use arrow_array::RecordBatch;
use frazil_types::{CHUNK_ROWS, ColumnDef, Result, RowBatch};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Reads rows of a Parquet file as rows of the given columns.
pub struct ParquetReader {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
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
    /// is not Parquet or is damaged.
    pub fn open(path: &Path, columns: &[ColumnDef], limits: ReadLimits) -> Result<ParquetReader> {
        sound(path, || ParquetReader::open_sound(path, columns, limits))
    }

    fn open_sound(path: &Path, columns: &[ColumnDef], limits: ReadLimits) -> Result<ParquetReader> {
        let file = File::open(path).map_err(|e| io_error(path, &e))?;
        let footer = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
        let footer = footer.and_then(parquet_intervals::without_marks);
        let (footer, intervals) = footer.map_err(|e| bad_file(path, &e))?;
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
            .map_err(|e| bad_file(path, &e))?;
        Ok(ParquetReader {
            path: path.to_path_buf(),
            reader,
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
