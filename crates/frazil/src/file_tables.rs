//! Files that a statement reads as tables, and lets go when it ends. CSV and JSON are read as a whole when the
//! statement names them; of Parquet the footer is read then, and a column of a row group when a scan first needs it.
//! The files may be objects of a store, named by URLs. CSV in folders that say columns is looked at then, and of its
//! files those are read that a plan needs (`file_restrictions.rs`).

use crate::compression::compression;
use crate::elsewhere;
use crate::file_restrictions;
use crate::made_table;
use crate::slots::Slots;
use frazil_catalog::{QualifiedName, SYSTEM_SCHEMA};
use frazil_durability::{open_published_table, published_table};
use frazil_files::{
    ColumnTypes, ColumnsOf, CsvFiles, CsvHints, DatePattern, Encoding, Folders, Loaded, Moments,
    ParquetFiles, PathColumns, ReadLimits, Sample, SourceForm, files_of, load,
};
use frazil_frontend::{FileEncoding, FileForm, FileSource, SaidTypes, TableEntry};
use frazil_plan::Plan;
use frazil_storage::{LentCells, LentRows, TableSnapshot};
use frazil_types::{
    ColumnDef, Disjunction, Error, ObjectId, Reservation, Restriction, Result, Schema, SqlState, Value,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files, or patterns of files, that a statement names at most.
const MOST: usize = 64;
/// Ids of files in plans count down from here: system tables have those above.
const FILE_ID: u32 = u32::MAX - 1024;

/// Files that a statement names.
#[derive(Debug)]
struct FileTable {
    source: FileSource,
    schema: Arc<Schema>,
    rows: FileRows,
}

/// Where the rows of files come from.
#[derive(Debug)]
enum FileRows {
    /// They were read.
    Read(ReadRows),
    /// Parquet: they are read as they are needed.
    Parquet(Arc<ParquetRows>, Arc<TableSnapshot>),
    /// CSV in folders that say columns: a plan tells which files are needed.
    Waiting(CsvFiles, Mutex<Option<(Vec<bool>, ReadRows)>>),
}

/// Rows that were read.
#[derive(Debug)]
struct ReadRows {
    rows: Arc<TableSnapshot>,
    /// The memory that they take.
    _memory: Reservation,
}

/// The rows of Parquet files.
#[derive(Debug)]
struct ParquetRows(ParquetFiles);

impl LentRows for ParquetRows {
    fn column(&self, chunk: usize, column: usize) -> Result<LentCells> {
        let (made, memory) = self.0.column(chunk, column)?;
        Ok(LentCells::of_column(made, Some(memory)))
    }

    fn is_busy(&self, chunk: usize, column: usize) -> bool {
        self.0.is_busy(chunk, column)
    }

    fn reads_on(&self, chunk: usize) -> bool {
        self.0.reads_on(chunk)
    }

    fn rules_out(&self, chunk: usize, restrictions: &[Restriction], disjunctions: &[Disjunction]) -> bool {
        self.0.rules_out(chunk, restrictions, disjunctions)
    }
}

impl FileTable {
    /// The rows, if they were read.
    fn rows(&self) -> Option<Arc<TableSnapshot>> {
        match &self.rows {
            FileRows::Read(read) => Some(read.rows.clone()),
            FileRows::Parquet(_, rows) => Some(rows.clone()),
            FileRows::Waiting(_, read) => lock(read).as_ref().map(|(_, read)| read.rows.clone()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The files of one statement.
#[derive(Debug)]
pub struct FileTables {
    limits: ReadLimits,
    tables: Slots<FileTable, MOST>,
}

impl FileTables {
    /// No files yet; those that are read obey `limits`.
    pub fn new(limits: ReadLimits) -> FileTables {
        FileTables {
            limits,
            tables: Slots::new(),
        }
    }

    /// Whether an id is that of a file.
    pub fn is_file(id: ObjectId) -> bool {
        place(id).is_some()
    }

    /// Whether the statement names a file.
    pub fn is_empty(&self) -> bool {
        self.tables.get(0).is_none()
    }

    /// The rows of a file, if they were read.
    pub fn find(&self, id: ObjectId) -> Option<Arc<TableSnapshot>> {
        self.tables.get(place(id)?)?.rows()
    }

    /// Whether a file's columns are read when a scan needs them.
    pub fn is_lazy(&self, id: ObjectId) -> bool {
        let table = place(id).and_then(|place| self.tables.get(place));
        table.is_some_and(|table| matches!(table.rows, FileRows::Parquet(..)))
    }

    /// Least and greatest value of a column of such a file, if its footer or folder says them.
    pub fn range(&self, id: ObjectId, column: usize) -> Option<(i128, i128)> {
        match &self.tables.get(place(id)?)?.rows {
            FileRows::Parquet(parquet, _) => parquet.0.range(column),
            FileRows::Read(_) | FileRows::Waiting(..) => None,
        }
    }

    /// About how many values a column of such a file has, and how many NULLs, if its footer says so.
    pub fn about(&self, id: ObjectId, column: usize) -> (Option<u64>, Option<u64>) {
        match place(id).and_then(|place| self.tables.get(place)) {
            Some(FileTable {
                rows: FileRows::Parquet(parquet, _),
                ..
            }) => (parquet.0.distinct(column), parquet.0.nulls(column)),
            _ => (None, None),
        }
    }

    /// Whether there are files whose rows are read only when a plan says which it needs.
    pub fn waits_for_plans(&self) -> bool {
        let mut tables = self.tables.filled();
        tables.any(|(_, table)| matches!(table.rows, FileRows::Waiting(..)))
    }

    /// Reads the rows of such files that a plan needs; the tables that have more rows now. What a statement's earlier
    /// plans needed stays.
    pub fn read_for(&self, plan: &Plan, parameters: &[Value]) -> Result<Vec<ObjectId>> {
        let mut changed = Vec::new();
        for (place, table) in self.tables.filled() {
            let FileRows::Waiting(files, read) = &table.rows else {
                continue;
            };
            let id = ObjectId(FILE_ID - place as u32);
            let mut wanted = file_restrictions::wanted(plan, id, files, parameters);
            let mut read = lock(read);
            if let Some((known, _)) = &*read {
                let is_read = |(wanted, known): (&bool, &bool)| *known || !*wanted;
                if wanted.iter().zip(known).all(is_read) {
                    continue;
                }
                (wanted.iter_mut().zip(known)).for_each(|(wanted, known)| *wanted |= *known);
            }
            let loaded = files.read_as_looked_at(&|file| wanted[file], &self.limits)?;
            *read = Some((wanted, made(&table.source, loaded, &self.limits)?));
            changed.push(id);
        }
        Ok(changed)
    }

    /// The table of a file, which is read unless the statement has named it before. 54000 for too many.
    pub fn table(&self, source: &FileSource) -> Result<TableEntry> {
        for (place, table) in self.tables.places().iter().enumerate() {
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
                oid: None,
                schema_name: SYSTEM_SCHEMA.to_owned(),
                name: (source.table.as_ref()).map_or_else(|| name(&source.patterns[0]), |t| t.name.clone()),
                schema: table.schema.clone(),
                hidden: Vec::new(),
                row_count: table.rows().map_or(0, |rows| rows.rows()),
                constraints: Vec::new(),
                indexes: Vec::new(),
                materialized: None,
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

/// The files of a source: those of each pattern, in the order of the patterns.
fn files(source: &FileSource, limits: &ReadLimits) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for pattern in &source.patterns {
        files.extend(files_of(pattern, limits)?);
    }
    Ok(files)
}

fn paths_say(source: &FileSource) -> PathColumns {
    PathColumns {
        folders: source.hive_partitioning,
        filename: source.filename.clone(),
    }
}

/// The format of dates or times that a text says. 22023.
fn pattern(said: Option<&String>) -> Result<Option<Arc<DatePattern>>> {
    said.map(|text| DatePattern::new(text).map(Arc::new)).transpose()
}

fn types(said: &SaidTypes) -> ColumnTypes {
    match said {
        SaidTypes::None => ColumnTypes::Found,
        SaidTypes::InOrder(types) => ColumnTypes::InOrder(types.clone()),
        SaidTypes::Named(types) => ColumnTypes::Named(types.clone()),
        SaidTypes::All(columns) => ColumnTypes::All(columns.clone()),
    }
}

fn read(source: &FileSource, limits: &ReadLimits) -> Result<FileTable> {
    let mark = |c: Option<char>| c.and_then(|c| u8::try_from(c).ok());
    if let Some(table) = &source.table {
        return published(source, table, limits);
    }
    let files = files(source, limits)?;
    let paths_say = paths_say(source);
    let form = match source.form {
        FileForm::Parquet => return open_parquet(source, &files, limits),
        FileForm::Published => return Err(Error::internal("a published folder is read without a table")),
        FileForm::Json => SourceForm::Json {
            compression: compression(source.compression),
            skips: source.skips_errors,
        },
        FileForm::Csv => {
            let hints = CsvHints {
                header: source.header,
                delimiter: mark(source.delimiter),
                quote: mark(source.quote),
                escape: mark(source.escape),
                nulls: source.nulls.clone(),
                skip: source.skip,
                encoding: match source.encoding {
                    FileEncoding::Utf8 => Encoding::Utf8,
                    FileEncoding::Latin1 => Encoding::Latin1,
                    FileEncoding::Utf16 => Encoding::Utf16,
                },
                types: types(&source.types),
                moments: Moments {
                    date: pattern(source.date_format.as_ref())?,
                    timestamp: pattern(source.timestamp_format.as_ref())?,
                },
                all_text: source.all_text,
                compression: compression(source.compression),
                skips: source.skips_errors,
                unites: source.union_by_name,
            };
            if !Folders::of_keys(&files, source.hive_partitioning)?.is_empty() {
                let looked = CsvFiles::look(&files, &hints, &paths_say, Sample::First, limits)?;
                return Ok(FileTable {
                    source: source.clone(),
                    schema: Arc::new(Schema::new(looked.columns().to_vec())),
                    rows: FileRows::Waiting(looked, Mutex::default()),
                });
            }
            SourceForm::Csv(hints)
        }
    };
    let read = made(source, load(&files, &form, &paths_say, limits)?, limits)?;
    Ok(FileTable {
        source: source.clone(),
        schema: read.rows.schema().clone(),
        rows: FileRows::Read(read),
    })
}

/// A table of a published folder. 0A000 if a column is of a type that the folder's database defines.
fn published(source: &FileSource, table: &QualifiedName, limits: &ReadLimits) -> Result<FileTable> {
    let folder = Path::new(&source.patterns[0]);
    limits.access.check(folder)?;
    let rows = match elsewhere::folder_at(folder, &limits.cancel)? {
        Some((vfs, folder)) => published_table(&*vfs, &folder, table)?,
        None => open_published_table(folder, table)?,
    };
    let rows = Arc::new(rows);
    let columns = rows.table().entry().schema.columns.iter();
    let column = |c: &ColumnDef| ColumnDef {
        nullable: c.nullable,
        ..ColumnDef::new(c.name.clone(), c.ty)
    };
    let columns: Vec<ColumnDef> = columns.map(column).collect();
    let is_defined = |column: &&ColumnDef| column.ty.element().unwrap_or(column.ty).enumeration().is_some();
    if let Some(column) = columns.iter().find(is_defined) {
        let what = format!(
            "column \"{}\" of an enumeration in a published folder",
            column.name
        );
        return Err(Error::unsupported(what).with_hint("open the folder read-only"));
    }
    Ok(FileTable {
        source: source.clone(),
        schema: Arc::new(Schema::new(columns)),
        rows: FileRows::Read(ReadRows {
            rows,
            _memory: limits.budget.reservation(),
        }),
    })
}

/// Rows as a table.
fn made(source: &FileSource, loaded: Loaded, limits: &ReadLimits) -> Result<ReadRows> {
    let schema = Schema::new(loaded.columns);
    let (name, mut memory) = (name(&source.patterns[0]), loaded.reservation);
    let rows = made_table::make(&name, schema, loaded.batches, Some(&mut memory), &limits.cancel)?;
    Ok(ReadRows {
        rows,
        _memory: memory,
    })
}

fn open_parquet(source: &FileSource, files: &[PathBuf], limits: &ReadLimits) -> Result<FileTable> {
    let columns_of = match source.union_by_name {
        true => ColumnsOf::AllFiles,
        false => ColumnsOf::FirstFile,
    };
    let opened = ParquetFiles::open(files, &paths_say(source), columns_of, limits)?;
    let schema = Schema::new(opened.columns().to_vec());
    let name = name(&source.patterns[0]);
    let table = made_table::make(&name, schema, Vec::new(), None, &limits.cancel)?;
    let chunks = opened.chunks();
    let parquet = Arc::new(ParquetRows(opened));
    let lender: Arc<dyn LentRows> = parquet.clone();
    let rows = TableSnapshot::lent(table.table().clone(), &chunks, &lender)?;
    Ok(FileTable {
        source: source.clone(),
        schema: rows.schema().clone(),
        rows: FileRows::Parquet(parquet, Arc::new(rows)),
    })
}
