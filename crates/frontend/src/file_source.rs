//! Files that a query reads as tables.

use crate::CopyCompression;
use frazil_catalog::QualifiedName;
use frazil_types::{Error, LogicalType, Result};

/// The form of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileForm {
    /// CSV.
    Csv,
    /// JSON.
    Json,
    /// Parquet.
    Parquet,
    /// A table of a folder that PUBLISH wrote.
    Published,
}

/// The types of columns that a statement says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaidTypes {
    /// None.
    None,
    /// The types of the first columns, in their order.
    InOrder(Vec<LogicalType>),
    /// The types of columns by their names.
    Named(Vec<(String, LogicalType)>),
    /// The names and types of all columns.
    All(Vec<(String, LogicalType)>),
}

/// The encoding of a file of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEncoding {
    /// UTF-8.
    Utf8,
    /// ISO 8859-1.
    Latin1,
    /// UTF-16.
    Utf16,
}

/// Files, and what is known of them; the rest is found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSource {
    /// Paths, or URLs of objects in a store, in which `*`, `?` and `[…]` stand for letters: one at least.
    pub patterns: Vec<String>,
    /// The form.
    pub form: FileForm,
    /// True if the first line names the columns, for CSV.
    pub header: Option<bool>,
    /// The mark between fields, for CSV.
    pub delimiter: Option<char>,
    /// The mark around fields, for CSV.
    pub quote: Option<char>,
    /// Of CSV: before a quote within a quoted field.
    pub escape: Option<char>,
    /// Unquoted texts that stand for NULL, for CSV.
    pub nulls: Vec<String>,
    /// The encoding, for CSV.
    pub encoding: FileEncoding,
    /// Lines in front of the table, for CSV.
    pub skip: Option<usize>,
    /// The format of dates by strptime's letters, for CSV.
    pub date_format: Option<String>,
    /// The format of timestamps, for CSV.
    pub timestamp_format: Option<String>,
    /// Types of columns, for CSV.
    pub types: SaidTypes,
    /// Of CSV: whether all columns are text.
    pub all_text: bool,
    /// Of CSV and JSON: how the files are compressed.
    pub compression: CopyCompression,
    /// Of CSV and JSON: whether records that are no rows are left out.
    pub skips_errors: bool,
    /// Whether folders such as `year=2024` are columns; if not said, they are where all files have the same.
    pub hive_partitioning: Option<bool>,
    /// True if the columns are those of all files instead of those of the first one, for CSV and Parquet.
    pub union_by_name: bool,
    /// The table, of a published folder.
    pub table: Option<QualifiedName>,
    /// The name of a column that has the path of the file of each row.
    pub filename: Option<String>,
}

impl FileSource {
    /// Files of which nothing else is known.
    pub fn new(pattern: &str, form: FileForm) -> FileSource {
        FileSource {
            patterns: vec![pattern.to_owned()],
            form,
            header: None,
            delimiter: None,
            quote: None,
            escape: None,
            nulls: Vec::new(),
            skip: None,
            encoding: FileEncoding::Utf8,
            date_format: None,
            timestamp_format: None,
            types: SaidTypes::None,
            all_text: false,
            compression: CopyCompression::Usual,
            skips_errors: false,
            hive_partitioning: None,
            union_by_name: false,
            table: None,
            filename: None,
        }
    }

    /// Files whose form the end of their names tells; `None` if it does not.
    pub fn of_pattern(pattern: &str) -> Option<FileSource> {
        let lower = pattern.to_lowercase();
        let bare = lower
            .strip_suffix(".gz")
            .or(lower.strip_suffix(".zst"))
            .unwrap_or(&lower);
        let is = |ends: &[&str]| ends.iter().any(|end| bare.ends_with(end));
        let form = match () {
            () if is(&[".parquet"]) => FileForm::Parquet,
            () if is(&[".json", ".jsonl", ".ndjson"]) => FileForm::Json,
            () if is(&[".csv", ".tsv", ".txt"]) => FileForm::Csv,
            () => return None,
        };
        Some(FileSource::new(pattern, form))
    }
}

/// 0A000 for the address of a file on another machine that is not the URL of an object in a store.
pub(crate) fn check_scheme(path: &str) -> Result<()> {
    let schemes = ["http://", "https://", "gcs://", "hf://"];
    let lower = path.to_ascii_lowercase();
    match schemes.iter().find(|scheme| lower.starts_with(**scheme)) {
        Some(scheme) => {
            let refused = Error::unsupported(format!("a remote file by {scheme}"));
            Err(refused.with_hint(
                "name an object of a store: s3://bucket/key, gs://bucket/key or az://container/key",
            ))
        }
        None => Ok(()),
    }
}
