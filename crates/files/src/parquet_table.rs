//! Parquet files as the rows of a table: a column of a row group is read when somebody first asks for it, and row groups whose
//! statistics rule all their rows out are not read at all.
//!
//! A row group is cut into chunks of at most [`CHUNK_ROWS`] rows, in the order of the file. Each column of a row group has a decoder
//! of its own, which goes from chunk to chunk: one worker best reads all chunks of a row group; where row groups are few, workers at
//! neighbouring chunks follow each other through its columns, each through those first that nobody reads.

use crate::arrow_types::is_nested;
use crate::in_order::in_order;
use crate::object_files::is_object;
use crate::open_file::OpenFile;
use crate::parquet_column::nothing;
use crate::parquet_columns::{Columns, ColumnsOf, roots_of};
use crate::parquet_damage::{bad_file, sound};
use crate::parquet_footer::{ColumnFacts, Footer, opened_footer};
use crate::parquet_intervals;
use crate::parquet_statistics::Known;
use crate::{ReadLimits, column_of};
use arrow_array::ArrayRef;
use arrow_schema::DataType;
use bytes::{Buf, Bytes, buf};
use frazil_types::{
    CHUNK_ROWS, ColumnDef, ColumnVector, Error, MemoryBudget, Reservation, RestrictionKind, Result,
};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};

/// Rows of a row group beyond which its footer is not believed: pages count their rows in 31 bits.
const MOST_ROWS: u64 = 1 << 31;
/// Objects of a store whose footers are read at a time: each is an answer to wait for.
const FOOTERS_AT_ONCE: usize = 16;
/// Bytes that a chunk takes for each of its columns before any is read, by estimate.
const CHUNK_COLUMN_BYTES: usize = 128;

/// Parquet files, opened.
#[derive(Debug)]
pub struct ParquetTable {
    columns: Vec<ColumnDef>,
    files: Vec<OneFile>,
    chunks: Vec<Chunk>,
    limits: ReadLimits,
    buffers: Buffers,
    /// The memory of the chunks.
    memory: Reservation,
}

/// Where the rows of a chunk lie.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    file: usize,
    row_group: usize,
    /// Which of the chunks of its row group it is.
    piece: usize,
    rows: usize,
    /// Rows of the file in front of it.
    before: u64,
}

#[derive(Debug)]
struct OneFile {
    path: PathBuf,
    file: OpenFile,
    footer: Arc<Footer>,
    /// Position in the file of each of the table's columns; `None` for one that the file lacks.
    roots: Vec<Option<usize>>,
    /// For each of the table's columns that has another type than the file's, what the statistics of each row group say of its values.
    widened: Vec<Option<Vec<Option<Known>>>>,
    /// For each row group, the decoder of each of the table's columns; made when the first of them is read.
    decoders: Vec<OnceLock<Decoders>>,
}

/// The decoders of a row group's columns.
type Decoders = Box<[Mutex<Option<Decoder>>]>;

impl OneFile {
    /// What the statistics of a row group say of a column of the table.
    fn known(&self, row_group: usize, column: usize) -> Option<&Known> {
        let of_groups = match &self.widened[column] {
            Some(widened) => widened,
            None => &self.facts(column)?.known,
        };
        of_groups[row_group].as_ref()
    }

    /// What the footer says of a column of the table; `None` if the file lacks the column.
    fn facts(&self, column: usize) -> Option<&ColumnFacts> {
        Some(&self.footer.columns[self.roots[column]?])
    }

    fn decoders(&self, row_group: usize) -> &Decoders {
        let made = || self.roots.iter().map(|_| Mutex::new(None)).collect();
        self.decoders[row_group].get_or_init(made)
    }
}

/// A file, before it is known which columns the table has.
struct Opened {
    path: PathBuf,
    file: OpenFile,
    footer: Arc<Footer>,
}

/// Reads a column of a row group from front to back.
struct Decoder {
    reader: ParquetRecordBatchReader,
    /// The piece that comes next.
    next: usize,
    /// Pieces that were passed and not asked for yet.
    passed: HashMap<usize, ArrayRef>,
    /// The memory of what was passed.
    memory: Reservation,
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a decoder at piece {}", self.next)
    }
}

/// Memory for encoded columns: what one does not need any more the next one takes, so that it is not made and cleared for each.
#[derive(Clone, Debug)]
struct Buffers {
    free: Arc<Mutex<Vec<Buffer>>>,
    budget: MemoryBudget,
}

#[derive(Debug)]
struct Buffer {
    bytes: Vec<u8>,
    memory: Reservation,
}

/// An encoded column of a row group.
struct Encoded {
    buffer: Option<Buffer>,
    length: usize,
    from: Buffers,
}

impl Buffers {
    /// Bytes of a file. 53200 over the memory limit.
    fn read(&self, file: &OneFile, start: u64, length: usize) -> Result<Encoded> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let used = free.pop();
        drop(free);
        let mut buffer = used.unwrap_or_else(|| Buffer {
            bytes: Vec::new(),
            memory: self.budget.reservation(),
        });
        if buffer.bytes.len() < length {
            buffer.memory.grow(length - buffer.bytes.len())?;
            buffer.bytes.resize(length, 0);
        }
        let to = &mut buffer.bytes[..length];
        file.file.read_at(&file.path, start, to)?;
        Ok(Encoded {
            buffer: Some(buffer),
            length,
            from: self.clone(),
        })
    }
}

impl AsRef<[u8]> for Encoded {
    fn as_ref(&self) -> &[u8] {
        let buffer = self.buffer.as_ref();
        buffer.map_or(&[], |buffer| &buffer.bytes[..self.length])
    }
}

impl Drop for Encoded {
    fn drop(&mut self) {
        let mut free = self.from.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.extend(self.buffer.take());
    }
}

/// Bytes of a file from one of its bytes on.
struct FilePart {
    start: u64,
    file_bytes: u64,
    bytes: Bytes,
}

impl Length for FilePart {
    fn len(&self) -> u64 {
        self.file_bytes
    }
}

impl ChunkReader for FilePart {
    type T = buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let at = start.checked_sub(self.start).map(|at| at as usize);
        match at.filter(|&at| at <= self.bytes.len()) {
            Some(at) => Ok(self.bytes.slice(at..).reader()),
            None => Err(outside(start)),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let at = start.checked_sub(self.start).map(|at| at as usize);
        let range = at.and_then(|at| Some(at..at.checked_add(length)?));
        match range.filter(|range| range.end <= self.bytes.len()) {
            Some(range) => Ok(self.bytes.slice(range)),
            None => Err(outside(start)),
        }
    }
}

fn outside(start: u64) -> ParquetError {
    ParquetError::EOF(format!(
        "a page at byte {start} does not lie in its column of the row group"
    ))
}

impl ParquetTable {
    /// Opens files. The first one names the columns, in lower case where that keeps them apart, and the others have
    /// these; with [`ColumnsOf::AllFiles`] the columns are those of all files, and NULL
    /// where a file lacks one. A column of a type that
    /// Frazil does not have is refused when it is read. 22P04 for a file that is not Parquet or is damaged, 42703 for
    /// one that lacks a column.
    pub fn open(paths: &[PathBuf], columns_of: ColumnsOf, limits: &ReadLimits) -> Result<ParquetTable> {
        let mut columns = Columns::default();
        let mut opened: Vec<Opened> = Vec::new();
        let at_once = match paths.iter().any(|path| is_object(path)) {
            true => FOOTERS_AT_ONCE,
            false => 1,
        };
        let open = |at: usize| {
            limits.cancel.check()?;
            sound(&paths[at], || opened_footer(&paths[at], limits))
        };
        in_order(at_once, paths.len(), open, |file: Result<_>| {
            let (file, footer) = file?;
            let path = paths[opened.len()].clone();
            columns.take(&path, &footer, columns_of)?;
            opened.push(Opened { path, file, footer });
            Ok::<(), Error>(())
        })?;
        let mut table = ParquetTable {
            columns: columns.defs,
            files: Vec::new(),
            chunks: Vec::new(),
            memory: limits.budget.reservation(),
            limits: limits.clone(),
            buffers: Buffers {
                free: Arc::default(),
                budget: limits.budget.clone(),
            },
        };
        for opened in opened {
            let roots = roots_of(
                &opened.path,
                opened.footer.metadata.schema(),
                &table.columns,
                columns_of,
            )?;
            sound(&opened.path.clone(), || table.add(opened, roots))?;
        }
        for column in 0..table.columns.len() {
            table.columns[column].nullable = table.nulls(column) != Some(0);
        }
        Ok(table)
    }

    /// What its columns count against.
    pub(crate) fn budget(&self) -> &MemoryBudget {
        &self.limits.budget
    }

    /// The columns.
    pub fn columns(&self) -> &[ColumnDef] {
        &self.columns
    }

    /// The rows of each chunk.
    pub fn chunks(&self) -> Vec<u32> {
        self.chunks.iter().map(|chunk| chunk.rows as u32).collect()
    }

    /// Least and greatest value of an integer column, if the statistics of all row groups say them. They hold: a column that is read is
    /// checked against them.
    pub fn range(&self, column: usize) -> Option<(i128, i128)> {
        let mut range: Option<(i128, i128)> = None;
        for file in &self.files {
            for row_group in 0..file.decoders.len() {
                let (min, max) = file.known(row_group, column)?.integers()?;
                range = Some(range.map_or((min, max), |range| (range.0.min(min), range.1.max(max))));
            }
        }
        range
    }

    /// About how many values a column has, if all row groups have dictionaries of them: no more than the longest one has room for,
    /// if that is few beside the rows, which others then have as well.
    pub fn distinct(&self, column: usize) -> Option<u64> {
        let mut distinct = self.files.iter().map(|file| file.facts(column)?.distinct);
        distinct.try_fold(0, |most, of_file| Some(most.max(of_file?)))
    }

    /// Rows whose value of a column is NULL, if the statistics of all row groups say it.
    pub fn nulls(&self, column: usize) -> Option<u64> {
        let mut nulls = self.files.iter().map(|file| file.facts(column)?.nulls);
        nulls.try_fold(0_u64, |sum, of_file| sum.checked_add(of_file?))
    }

    /// The position of a chunk's file, and its rows.
    pub fn place(&self, chunk: usize) -> (usize, usize) {
        let Chunk { file, rows, .. } = self.chunks[chunk];
        (file, rows)
    }

    /// Whether the statistics say that no row of a chunk satisfies a restriction of a column.
    pub fn excludes(&self, chunk: usize, column: usize, kind: &RestrictionKind) -> bool {
        let Chunk { file, row_group, .. } = self.chunks[chunk];
        let known = self.files[file].known(row_group, column);
        known.is_some_and(|known| known.excludes(kind))
    }

    /// True if somebody reads a column of the row group of a chunk, so that another reader of it has to wait.
    pub fn is_busy(&self, chunk: usize, column: usize) -> bool {
        let Chunk { file, row_group, .. } = self.chunks[chunk];
        let decoders = self.files[file].decoders[row_group].get();
        decoders.is_some_and(|of| matches!(of[column].try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// True if a chunk is in the row group of the chunk before it, so that the reader of that one goes on without
    /// waiting.
    pub fn reads_on(&self, chunk: usize) -> bool {
        self.chunks[chunk].piece > 0
    }

    /// Reads a column of a chunk, both by their position, and what it counts as. 22P04 for what is damaged, 22003 and
    /// the like with file, row and column for values that the column's type does not have, 53200 over the memory limit.
    pub fn column(&self, chunk: usize, column: usize) -> Result<(ColumnVector, Reservation)> {
        self.limits.cancel.check()?;
        let place = self.chunks[chunk];
        let file = &self.files[place.file];
        sound(&file.path, || {
            if file.roots[column].is_none() {
                let made = nothing(self.columns[column].ty, place.rows);
                let memory = self.limits.budget.reserve(made.bytes())?;
                return Ok((made, memory));
            }
            let array = self.decoded(file, place, column)?;
            // What is decoded takes memory beside the column made of it.
            let _decoded = self.limits.budget.reserve(array.get_array_memory_size())?;
            let def = &self.columns[column];
            if !def.nullable && array.logical_null_count() > 0 {
                let what = format!(
                    "column \"{}\" has NULLs that its statistics do not count",
                    def.name
                );
                return Err(bad_file(&file.path, &what));
            }
            let in_place = |row: usize, error: Error| {
                let row = place.before + row as u64 + 1;
                let path = file.path.display();
                error.in_context(format!("file \"{path}\", row {row}, column \"{}\"", def.name))
            };
            let array = match file.facts(column).is_some_and(|facts| facts.is_interval) {
                true => parquet_intervals::read(&array).map_err(|(row, error)| in_place(row, error))?,
                false => array,
            };
            let known = file.known(place.row_group, column);
            let bounds = known.and_then(Known::integers);
            let made = column_of(&array, def.ty, bounds, &self.limits.budget);
            let made = made.map_err(|(row, error)| in_place(row, error))?;
            if let Some(known) = known
                && !known.holds(&made)
            {
                let what = format!("column \"{}\" has values outside of its statistics", def.name);
                return Err(bad_file(&file.path, &what));
            }
            let memory = self.limits.budget.reserve(made.bytes())?;
            Ok((made, memory))
        })
    }

    fn add(&mut self, opened: Opened, roots: Vec<Option<usize>>) -> Result<()> {
        let Opened { path, file, footer } = opened;
        let mut before = 0;
        let row_groups = footer.metadata.metadata().row_groups();
        for (row_group, metadata) in row_groups.iter().enumerate() {
            let rows = u64::try_from(metadata.num_rows()).ok().filter(|&n| n < MOST_ROWS);
            let Some(rows) = rows else {
                let what = format!(
                    "row group {row_group} says that it has {} rows",
                    metadata.num_rows()
                );
                return Err(bad_file(&path, &what));
            };
            let chunks = (rows as usize).div_ceil(CHUNK_ROWS);
            self.memory
                .grow(chunks * (self.columns.len() + 1) * CHUNK_COLUMN_BYTES)?;
            self.chunks.extend((0..chunks).map(|piece| Chunk {
                file: self.files.len(),
                row_group,
                piece,
                rows: CHUNK_ROWS.min(rows as usize - piece * CHUNK_ROWS),
                before: before + (piece * CHUNK_ROWS) as u64,
            }));
            before += rows;
        }
        let decoders = row_groups.iter().map(|_| OnceLock::new()).collect();
        let columns = self.columns.iter().zip(&roots);
        let widened = columns.map(|(def, &root)| {
            let root = root?;
            let is_own = footer.columns[root].ty == Some(def.ty);
            (!is_own).then(|| footer.known_as(root, def.ty))
        });
        let widened = widened.collect();
        self.files.push(OneFile {
            path,
            file,
            footer,
            roots,
            widened,
            decoders,
        });
        Ok(())
    }

    /// The values of a column of a chunk as they are in the file.
    fn decoded(&self, file: &OneFile, place: Chunk, column: usize) -> Result<ArrayRef> {
        let mut slot = file.decoders(place.row_group)[column]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // After an error, and behind the last piece, the decoder is gone.
        let mut decoder = match slot.take() {
            Some(known) if known.next <= place.piece || known.passed.contains_key(&place.piece) => known,
            _ => self.decoder(file, place.row_group, column)?,
        };
        let found = match decoder.passed.remove(&place.piece) {
            Some(array) => array,
            None => loop {
                let array = decoder.next(file)?;
                if decoder.next > place.piece {
                    break array;
                }
                decoder.memory.grow(array.get_array_memory_size())?;
                decoder.passed.insert(decoder.next - 1, array);
            },
        };
        if found.len() != place.rows {
            let what = format!("row group {} has fewer rows than it says", place.row_group);
            return Err(bad_file(&file.path, &what));
        }
        let rows = file.footer.row_group(place.row_group).num_rows() as usize;
        if decoder.next * CHUNK_ROWS < rows || !decoder.passed.is_empty() {
            *slot = Some(decoder);
        }
        Ok(found)
    }

    /// Begins to read a column of a row group. 0A000 for a column of a type or compression that Frazil does not have.
    fn decoder(&self, file: &OneFile, row_group: usize, column: usize) -> Result<Decoder> {
        let name = &self.columns[column].name;
        let bad = |e: ParquetError| bad_file(&file.path, &e);
        let absent = || Error::internal("a column that a file lacks is read");
        let root = file.roots[column].ok_or_else(absent)?;
        let facts = &file.footer.columns[root];
        if facts.ty.is_none() {
            let ty = kind_of(file.footer.metadata.schema().field(root).data_type());
            let what = format!("column \"{name}\" of {ty} in file \"{}\"", file.path.display());
            let hint = "leave the column out of the select list; all other columns can be read";
            return Err(Error::unsupported(what).with_hint(hint));
        }
        let group = file.footer.row_group(row_group);
        let (mut start, mut end) = (u64::MAX, 0);
        for leaf in group.columns().get(facts.leaves.clone()).unwrap_or_default() {
            if let Compression::LZO = leaf.compression() {
                let what = format!(
                    "LZO, by which column \"{name}\" of file \"{}\" is compressed,",
                    file.path.display()
                );
                return Err(Error::unsupported(what));
            }
            let (first, length) = leaf.byte_range();
            start = start.min(first);
            end = end.max(first.saturating_add(length));
        }
        if end > file.file.bytes() {
            let what = format!("row group {row_group} ends behind the file");
            return Err(bad_file(&file.path, &what));
        }
        let start = start.min(end);
        let encoded = self.buffers.read(file, start, (end - start) as usize)?;
        let part = FilePart {
            start,
            file_bytes: file.file.bytes(),
            bytes: Bytes::from_owner(encoded),
        };
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(part, file.footer.metadata.clone());
        let mask = ProjectionMask::roots(builder.parquet_schema(), [root]);
        let reader = builder
            .with_row_groups(vec![row_group])
            .with_projection(mask)
            .with_batch_size(CHUNK_ROWS)
            .build()
            .map_err(bad)?;
        Ok(Decoder {
            reader,
            next: 0,
            passed: HashMap::new(),
            memory: self.limits.budget.reservation(),
        })
    }
}

impl Decoder {
    /// The next piece.
    fn next(&mut self, file: &OneFile) -> Result<ArrayRef> {
        let batch = match self.reader.next() {
            Some(Ok(batch)) => batch,
            Some(Err(error)) => return Err(bad_file(&file.path, &error)),
            None => return Err(bad_file(&file.path, &"a row group has fewer rows than it says")),
        };
        self.next += 1;
        Ok(batch.column(0).clone())
    }
}

/// Names a type of Arrow in errors, without the fields of a nested one.
fn kind_of(ty: &DataType) -> String {
    match ty {
        DataType::Struct(_) => {
            "a struct with a type that Frazil does not have, or of too many levels".to_owned()
        }
        ty if is_nested(ty) => {
            "a list or map of a type that Frazil does not have, or of too many levels".to_owned()
        }
        ty => format!("type {ty}"),
    }
}
