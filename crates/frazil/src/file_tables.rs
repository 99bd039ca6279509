//! Files that a statement reads as tables, and lets go when it ends. CSV and JSON are read as a whole when the statement names them; of
//! Parquet the footer is read then, and a column of a row group when a scan first needs it.

use crate::compression::compression;
use crate::made_table;
use frazil_files::{CsvHints, ParquetTable, ReadLimits, SourceForm, files_of, load};
use frazil_frontend::{FileForm, FileSource, TableEntry};
use frazil_storage::{LentCells, LentRows, TableSnapshot};
use frazil_types::{Error, ObjectId, Reservation, Restriction, Result, Schema, SqlState};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Files, or patterns of files, that a statement names at most.
const MOST: usize = 64;
/// Ids of files in plans count down from here: system tables have those above.
const FILE_ID: u32 = u32::MAX - 1024;

/// A file that was read.
#[derive(Debug)]
struct FileTable {
    source: FileSource,
    rows: Arc<TableSnapshot>,
    /// What its rows are read from as they are needed, if it is Parquet.
    parquet: Option<Arc<ParquetRows>>,
    /// The memory that its rows take.
    _memory: Option<Reservation>,
}

/// The rows of Parquet files.
#[derive(Debug)]
struct ParquetRows(ParquetTable);

impl LentRows for ParquetRows {
    fn column(&self, chunk: usize, column: usize) -> Result<LentCells> {
        Ok(LentCells::of_column(self.0.column(chunk, column)?))
    }

    fn rules_out(&self, chunk: usize, restrictions: &[Restriction]) -> bool {
        self.0.rules_out(chunk, restrictions)
    }
}

/// The files of one statement.
#[derive(Debug)]
pub struct FileTables {
    limits: ReadLimits,
    tables: [OnceLock<FileTable>; MOST],
}

impl FileTables {
    /// No files yet; those that are read obey `limits`.
    pub fn new(limits: ReadLimits) -> FileTables {
        FileTables {
            limits,
            tables: [const { OnceLock::new() }; MOST],
        }
    }

    /// Whether an id is that of a file.
    pub fn is_file(id: ObjectId) -> bool {
        place(id).is_some()
    }

    /// Whether the statement names a file.
    pub fn is_empty(&self) -> bool {
        self.tables[0].get().is_none()
    }

    /// The rows of a file.
    pub fn find(&self, id: ObjectId) -> Option<&Arc<TableSnapshot>> {
        self.tables[place(id)?].get().map(|table| &table.rows)
    }

    /// Whether a file's columns are read when a scan needs them.
    pub fn is_lazy(&self, id: ObjectId) -> bool {
        let table = place(id).and_then(|place| self.tables[place].get());
        table.is_some_and(|table| table.parquet.is_some())
    }

    /// Least and greatest value of a column of such a file, if its footer says them.
    pub fn range(&self, id: ObjectId, column: usize) -> Option<(i128, i128)> {
        self.tables[place(id)?].get()?.parquet.as_ref()?.0.range(column)
    }

    /// The table of a file, which is read unless the statement has named it before. 54000 for too many.
    pub fn table(&self, source: &FileSource) -> Result<TableEntry> {
        for (place, table) in self.tables.iter().enumerate() {
            let table = match table.get() {
                Some(known) if known.source == *source => known,
                Some(_) => continue,
                None => {
                    let read = read(source, &self.limits)?;
                    table.get_or_init(|| read)
                }
            };
            return Ok(TableEntry {
                id: ObjectId(FILE_ID - place as u32),
                name: name(&source.pattern),
                schema: table.rows.schema().clone(),
                row_count: table.rows.rows(),
                constraints: Vec::new(),
                indexes: Vec::new(),
            });
        }
        let message = format!("a statement reads at most {MOST} files or patterns of files");
        Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
    }
}

fn place(id: ObjectId) -> Option<usize> {
    let place = FILE_ID.checked_sub(id.0)? as usize;
    (place < MOST).then_some(place)
}

/// What a file is called where no alias is given: its name up to the first dot, as `orders` for `data/orders.csv.gz`.
fn name(pattern: &str) -> String {
    let file = Path::new(pattern)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    file.split('.').next().unwrap_or_default().to_lowercase()
}

fn read(source: &FileSource, limits: &ReadLimits) -> Result<FileTable> {
    let mark = |c: Option<char>| c.and_then(|c| u8::try_from(c).ok());
    let form = match source.form {
        FileForm::Parquet => return open_parquet(source, limits),
        FileForm::Json => SourceForm::Json(compression(source.compression)),
        FileForm::Csv => SourceForm::Csv(CsvHints {
            header: source.header,
            delimiter: mark(source.delimiter),
            quote: mark(source.quote),
            escape: mark(source.escape),
            null: source.null.clone(),
            all_text: source.all_text,
            compression: compression(source.compression),
        }),
    };
    let loaded = load(&files_of(&source.pattern)?, &form, limits)?;
    let schema = Schema::new(loaded.columns);
    let rows = made_table::make(&name(&source.pattern), schema, loaded.batches, &limits.cancel)?;
    Ok(FileTable {
        source: source.clone(),
        rows,
        parquet: None,
        _memory: Some(loaded.reservation),
    })
}

fn open_parquet(source: &FileSource, limits: &ReadLimits) -> Result<FileTable> {
    let opened = ParquetTable::open(&files_of(&source.pattern)?, limits)?;
    let schema = Schema::new(opened.columns().to_vec());
    let table = made_table::make(&name(&source.pattern), schema, Vec::new(), &limits.cancel)?;
    let chunks = opened.chunks();
    let parquet = Arc::new(ParquetRows(opened));
    let lender: Arc<dyn LentRows> = parquet.clone();
    let rows = TableSnapshot::lent(table.table().clone(), &chunks, &lender)?;
    Ok(FileTable {
        source: source.clone(),
        rows: Arc::new(rows),
        parquet: Some(parquet),
        _memory: None,
    })
}
