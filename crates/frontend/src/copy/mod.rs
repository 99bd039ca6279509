//! COPY: which file, in which form. [`statement`] reads it from its tokens, [`options`] its options, [`checks`] says
//! which go together.

mod checks;
mod options;
mod statement;

pub(crate) use statement::{Copied, CopiedTable, CopyStatement, parse, query_of};

use frazil_catalog::WrittenName;
use frazil_types::{Error, Result, SqlState};

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFormat {
    /// PostgreSQL's text: a line a row, a delimiter between values, escapes by backslashes.
    Text,
    /// Comma- (or otherwise) separated text.
    Csv,
    /// PostgreSQL's binary form.
    Binary,
    /// Objects of JSON.
    Json,
    /// Apache Parquet.
    Parquet,
}

/// The encoding of the texts that COPY reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEncoding {
    /// No ENCODING is given. A server's client reads and writes texts in its own encoding; files are UTF-8.
    Client,
    /// ENCODING is given: UTF-8.
    Utf8,
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyCompression {
    /// As is usual: by the end of the path (`.gz`, `.zst`), of Parquet by Snappy.
    Usual,
    /// Not at all.
    None,
    /// By gzip.
    Gzip,
    /// By Zstandard.
    Zstd,
    /// By Snappy.
    Snappy,
    /// By LZ4.
    Lz4,
}

impl CopyCompression {
    /// The compression of a name in lower case.
    pub(crate) fn named(name: &str) -> Option<CopyCompression> {
        Some(match name {
            "none" | "uncompressed" => CopyCompression::None,
            "gzip" | "gz" => CopyCompression::Gzip,
            "zstd" | "zst" => CopyCompression::Zstd,
            "snappy" => CopyCompression::Snappy,
            "lz4" | "lz4_raw" => CopyCompression::Lz4,
            _ => return None,
        })
    }
}

/// The other end of COPY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyEnd {
    /// A file.
    File(String),
    /// Whoever runs the statement: STDIN, STDOUT.
    Client,
}

/// How to read or write a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyOptions {
    /// Its form. Without FORMAT: what the end of the path says, else text.
    pub format: CopyFormat,
    /// Of text and CSV: whether the first line names the columns.
    pub header: CopyHeader,
    /// Of text and CSV: between fields.
    pub delimiter: char,
    /// Of CSV: around fields.
    pub quote: char,
    /// Of CSV: before a quote within a quoted field.
    pub escape: char,
    /// Of text and CSV: the text that stands for NULL; of CSV it is not quoted.
    pub null: String,
    /// TO CSV: the columns whose values are always quoted.
    pub force_quote: CopyColumns,
    /// FROM CSV: the columns in which the text of NULL is a text.
    pub force_not_null: CopyColumns,
    /// FROM CSV: the columns in which the text of NULL is NULL though it is quoted.
    pub force_null: CopyColumns,
    /// Of JSON: whether the objects are written as an array.
    pub array: bool,
    /// The encoding of its texts.
    pub encoding: CopyEncoding,
    /// How it is compressed.
    pub compression: CopyCompression,
    /// Of Parquet: most rows of a row group.
    pub row_group_rows: usize,
    /// FROM: what becomes of rows with values that are none.
    pub on_error: CopyOnError,
    /// FROM: the table that takes the rows that are left out.
    pub rejects_table: Option<WrittenName>,
    /// FROM: most rows that are left out.
    pub reject_limit: Option<u64>,
    /// TO a directory: names of the columns that its folders say.
    pub partition_by: Vec<String>,
    /// True if files in folders have these columns as well.
    pub write_partition_columns: bool,
    /// What becomes of files that are in the directory.
    pub existing: CopyExisting,
}

/// The first line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyHeader {
    /// A row.
    Absent,
    /// The names of the columns, in any case of letters.
    Names,
    /// MATCH: the very names of the columns.
    Match,
}

/// Columns that an option names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyColumns {
    /// These.
    Named(Vec<String>),
    /// All of them: `*`.
    All,
}

impl Default for CopyColumns {
    fn default() -> CopyColumns {
        CopyColumns::Named(Vec::new())
    }
}

impl CopyColumns {
    /// For each of these columns, true if it is named. 42703 for a name of none.
    pub fn among<'a>(&self, option: &str, columns: impl Iterator<Item = &'a str>) -> Result<Vec<bool>> {
        let columns: Vec<&str> = columns.collect();
        let names = match self {
            CopyColumns::All => return Ok(vec![true; columns.len()]),
            CopyColumns::Named(names) => names,
        };
        if let Some(name) = names.iter().find(|name| !columns.contains(&name.as_str())) {
            let message = format!("{option} column \"{name}\" is not a column that COPY moves");
            return Err(Error::new(SqlState::UNDEFINED_COLUMN, message));
        }
        let is_named = |column: &&str| names.iter().any(|name| name == column);
        Ok(columns.iter().map(is_named).collect())
    }

    fn is_empty(&self) -> bool {
        *self == CopyColumns::default()
    }
}

/// What becomes of rows of a file whose values are not of their columns' types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOnError {
    /// The first one ends the statement.
    Stop,
    /// They are left out.
    Ignore,
}

/// What becomes of files that are in a directory when COPY writes into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyExisting {
    /// There may be none.
    Refused,
    /// OVERWRITE_OR_IGNORE: they stay, unless one has the name of a new one.
    Kept,
    /// APPEND: all stay.
    Joined,
    /// OVERWRITE: they are removed.
    Removed,
}

/// Rows of a row group unless ROW_GROUP_SIZE says otherwise: two chunks.
const ROW_GROUP_ROWS: usize = 131_072;

impl CopyOptions {
    /// What holds without options.
    pub fn of_format(format: CopyFormat) -> CopyOptions {
        CopyOptions {
            format,
            header: CopyHeader::Absent,
            delimiter: if format == CopyFormat::Text { '\t' } else { ',' },
            quote: '"',
            escape: '"',
            null: if format == CopyFormat::Text { "\\N" } else { "" }.to_owned(),
            force_quote: CopyColumns::default(),
            force_not_null: CopyColumns::default(),
            force_null: CopyColumns::default(),
            array: false,
            encoding: CopyEncoding::Client,
            compression: CopyCompression::Usual,
            row_group_rows: ROW_GROUP_ROWS,
            on_error: CopyOnError::Stop,
            rejects_table: None,
            reject_limit: None,
            partition_by: Vec::new(),
            write_partition_columns: false,
            existing: CopyExisting::Refused,
        }
    }

    /// What the end of a path says.
    fn of_path(end: &CopyEnd) -> CopyOptions {
        let CopyEnd::File(path) = end else {
            return CopyOptions::of_format(CopyFormat::Text);
        };
        let path = path.to_lowercase();
        let bare = path
            .strip_suffix(".gz")
            .or(path.strip_suffix(".zst"))
            .unwrap_or(&path);
        let is = |ends: &[&str]| ends.iter().any(|end| bare.ends_with(end));
        CopyOptions::of_format(match () {
            () if is(&[".parquet"]) => CopyFormat::Parquet,
            () if is(&[".json", ".jsonl", ".ndjson"]) => CopyFormat::Json,
            () if is(&[".csv"]) => CopyFormat::Csv,
            () => CopyFormat::Text,
        })
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(SqlState::INVALID_PARAMETER, message)
}
