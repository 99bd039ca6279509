//! CSV, JSON and Parquet ↔ vectors: readers that give a table's columns as [`RowBatch`]es, writers that take them.
//!
//! A reader checks every value at the door; its errors name file, line or row, column and value.
#![forbid(unsafe_code)]

mod arrow_numerics;
mod arrow_types;
mod batch_writer;
mod claimed_name;
mod compression;
mod csv_columns;
mod csv_dialect;
mod csv_field;
mod csv_reader;
mod csv_splitter;
mod csv_types;
mod csv_writer;
mod date_form;
mod date_pattern;
mod documents;
mod encoding;
mod file_access;
mod file_input;
mod file_output;
mod folders;
mod footer_cache;
mod in_order;
mod json_arrays;
mod json_reader;
mod json_text;
mod json_writer;
mod lists;
mod object_files;
mod open_file;
mod page_codec;
mod parquet_bounds;
mod parquet_chunk;
mod parquet_column;
mod parquet_columns;
mod parquet_damage;
mod parquet_encodings;
mod parquet_files;
mod parquet_footer;
mod parquet_intervals;
mod parquet_numbers;
mod parquet_ranges;
mod parquet_reader;
mod parquet_statistics;
mod parquet_table;
mod parquet_writer;
mod part_file;
mod partitioned_writer;
mod pgcopy_reader;
mod pgcopy_writer;
mod placement;
mod rejects;
mod sniff;
mod source;
mod text_splitter;
mod to_arrow;
mod writer;
mod zstd_input;

pub use arrow_types::type_of;
pub use batch_writer::{BatchWriter, Destination};
pub use compression::Compression;
pub use csv_reader::{CsvOptions, CsvReader, Header, Records};
pub use date_form::DateForm;
pub use date_pattern::DatePattern;
pub use encoding::Encoding;
pub use file_access::FileAccess;
pub use file_input::Origin;
pub use folders::{Folders, PathColumns};
pub use footer_cache::FooterCache;
pub use json_reader::JsonReader;
pub use json_writer::json_of;
pub use object_files::{ObjectFiles, is_object_url};
pub use parquet_column::{BytesOf, column_of, rows_of, sources};
pub use parquet_columns::ColumnsOf;
pub use parquet_files::ParquetFiles;
pub use parquet_reader::ParquetReader;
pub use partitioned_writer::{Existing, PartitionedWriter, Partitioning};
pub use pgcopy_reader::PgcopyReader;
pub use rejects::{OnError, Reject, Rejects, Skipped};
pub use sniff::{ColumnTypes, CsvHints, Moments, Sample, Sniffed, sniff};
pub use source::{CsvFiles, Loaded, SourceForm, files_of, load};
pub use to_arrow::{ArrowBatches, ArrowTexts, arrow_schema, record_batch};
pub use writer::{Form, writer};

use frazil_types::{Cancel, Error, MemoryBudget, Result, RowBatch, SqlState};
use std::path::Path;
use std::sync::Arc;

/// Rows of a file, batch by batch.
pub trait BatchReader: Send {
    /// The next rows, at most [`CHUNK_ROWS`](frazil_types::CHUNK_ROWS); all but the last batch are full.
    /// `None` at the end.
    fn next_batch(&mut self) -> Result<Option<RowBatch>>;
    /// Work done so far and in all, in one unit (bytes or rows).
    fn progress(&self) -> (u64, u64);
}

/// What a reader runs under: its statement's cancel flag and memory budget, and what was kept of files by statements
/// before.
#[derive(Clone, Debug)]
pub struct ReadLimits {
    /// Polled while the reader waits for its file, and for each batch.
    pub cancel: Cancel,
    /// Where the reader takes what it holds of the file.
    pub budget: MemoryBudget,
    /// Footers of Parquet files, kept between statements.
    pub footers: Option<Arc<FooterCache>>,
    /// Files that the statement may name.
    pub access: FileAccess,
    /// Objects of stores that the statement has met.
    pub objects: ObjectFiles,
}

impl Default for ReadLimits {
    /// Never cancelled, without a limit; nothing is kept.
    fn default() -> ReadLimits {
        ReadLimits {
            cancel: Cancel::new(),
            budget: MemoryBudget::unlimited(),
            footers: None,
            access: FileAccess::On,
            objects: ObjectFiles::default(),
        }
    }
}

/// The error for a folder in the place of a file. 42809.
fn folder(path: &Path) -> Error {
    let message = format!("\"{}\" is a folder, not a file", path.display());
    let hint = format!(
        "name the files in it by a pattern: '{}'",
        path.join("*").display()
    );
    Error::new(SqlState::WRONG_OBJECT_TYPE, message).with_hint(hint)
}

/// The error for a file that the operating system refuses to open or read; the error of a store, if it is one.
pub(crate) fn io_error(path: &Path, error: &std::io::Error) -> Error {
    if let Some(own) = object_files::own_error(error) {
        return own;
    }
    if error.kind() == std::io::ErrorKind::IsADirectory {
        return folder(path);
    }
    Error::new(
        SqlState::of_io(error),
        format!("could not read file \"{}\": {error}", path.display()),
    )
}
