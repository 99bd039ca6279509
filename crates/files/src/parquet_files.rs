//! Parquet files with the columns that their folders say. Columns, row groups and files that a statement does not need
//! are not read.

use crate::ReadLimits;
use crate::folders::{ColumnSource, Folders, PathColumns, TableColumns, leave_none};
use crate::parquet_columns::ColumnsOf;
use crate::parquet_table::ParquetTable;
use frazil_types::{ColumnDef, ColumnVector, Disjunction, Reservation, Restriction, Result};
use std::path::PathBuf;

/// Parquet files, opened.
#[derive(Debug)]
pub struct ParquetFiles {
    files: ParquetTable,
    folders: Folders,
    table: TableColumns,
}

impl ParquetFiles {
    /// Opens files; `paths_say`: columns that their paths say, see [`Folders::of`];
    /// `columns_of`: which files name
    /// the columns. Errors as of [`ParquetTable::open`].
    pub fn open(
        paths: &[PathBuf],
        paths_say: &PathColumns,
        columns_of: ColumnsOf,
        limits: &ReadLimits,
    ) -> Result<ParquetFiles> {
        let folders = Folders::of(paths, paths_say)?;
        let files = ParquetTable::open(paths, columns_of, limits)?;
        let table = folders.with(files.columns());
        Ok(ParquetFiles {
            files,
            folders,
            table,
        })
    }

    /// The columns.
    pub fn columns(&self) -> &[ColumnDef] {
        &self.table.columns
    }

    /// The rows of each chunk.
    pub fn chunks(&self) -> Vec<u32> {
        self.files.chunks()
    }

    /// Least and greatest value of an integer-like column, if statistics or folders say them.
    pub fn range(&self, column: usize) -> Option<(i128, i128)> {
        match self.table.sources[column] {
            ColumnSource::File(column) => self.files.range(column),
            ColumnSource::Folder(column) => self.folders.range(column),
        }
    }

    /// About how many values a column has, if dictionaries or folders tell.
    pub fn distinct(&self, column: usize) -> Option<u64> {
        match self.table.sources[column] {
            ColumnSource::File(column) => self.files.distinct(column),
            ColumnSource::Folder(_) => None,
        }
    }

    /// NULLs of a column, if statistics count them.
    pub fn nulls(&self, column: usize) -> Option<u64> {
        match self.table.sources[column] {
            ColumnSource::File(column) => self.files.nulls(column),
            ColumnSource::Folder(_) => None,
        }
    }

    /// Whether statistics or folders say that no row of a chunk satisfies all restrictions and disjunctions.
    pub fn rules_out(
        &self,
        chunk: usize,
        restrictions: &[Restriction],
        disjunctions: &[Disjunction],
    ) -> bool {
        let (file, _) = self.files.place(chunk);
        let excluded = |r: &Restriction| match self.table.sources[r.column] {
            ColumnSource::File(column) => self.files.excludes(chunk, column, &r.kind),
            ColumnSource::Folder(column) => self.folders.excludes(file, column, &r.kind),
        };
        leave_none(restrictions, disjunctions, &excluded)
    }

    /// Whether a column of a chunk is being read, as of [`ParquetTable::is_busy`].
    pub fn is_busy(&self, chunk: usize, column: usize) -> bool {
        match self.table.sources[column] {
            ColumnSource::File(column) => self.files.is_busy(chunk, column),
            ColumnSource::Folder(_) => false,
        }
    }

    /// True if a chunk is in the row group of the chunk before it.
    pub fn reads_on(&self, chunk: usize) -> bool {
        self.files.reads_on(chunk)
    }

    /// Reads a column of a chunk, both by their position, and what it counts as. Errors as of [`ParquetTable::column`].
    pub fn column(&self, chunk: usize, column: usize) -> Result<(ColumnVector, Reservation)> {
        match self.table.sources[column] {
            ColumnSource::File(column) => self.files.column(chunk, column),
            ColumnSource::Folder(column) => {
                let (file, rows) = self.files.place(chunk);
                let made = self.folders.column(file, column, rows);
                let memory = self.files.budget().reserve(made.bytes())?;
                Ok((made, memory))
            }
        }
    }
}
