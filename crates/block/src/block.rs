//! An opened block: its bytes, its directory, and what is prepared lazily per column.
//!
//! A block shows its columns in the order of its directory, unless [`Block::showing`] made another view of the same bytes: some
//! of the columns in another order, and constants among them. Everything but [`Block::bytes`] goes by what is shown.

use crate::bytes::{AlignedBytes, BlockBytes};
use crate::encodings::Encoding;
use crate::encodings::constant::Constant;
use crate::encodings::fsst::Decoder;
use crate::format::{self, ColumnEntry, FLAG_FSST, FLAG_SMA, Section};
use crate::layouts::Layout;
use frazil_types::{Error, NativeType, READ_PADDING, Result, StringRef, Value};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A Data Block. Cheap to clone; references into it (dictionary strings, lent columns) live as long as
/// any clone.
#[derive(Clone)]
pub struct Block(Arc<Inner>);

struct Inner {
    bytes: BlockBytes,
    rows: u32,
    /// The columns of the directory, in its order, then those that were added beside it.
    stored: Arc<[Arc<Column>]>,
    /// Bytes of the blocks that [`Block::with_columns`] added. Their offsets begin where the block ends.
    added: Arc<AlignedBytes>,
    /// The columns that are shown.
    columns: Arc<[Arc<Column>]>,
    /// Sections of constants that are shown and not stored. Their offsets begin behind `added`.
    beside: AlignedBytes,
}

/// A column that a block shows.
#[derive(Clone, Debug)]
pub enum ShownColumn {
    /// The one at a position of the directory, or, behind it, of the columns that were added.
    Stored(usize),
    /// One whose rows all have one value, which the block does not store.
    Constant(Constant),
}

/// A column: its directory entry, and what is prepared of it.
struct Column {
    entry: ColumnEntry,
    /// Its bytes were checked, or made by this process.
    trusted: AtomicBool,
    /// References to the dictionary's strings, by code.
    strings: OnceLock<Box<[StringRef]>>,
    decoder: OnceLock<Box<Decoder>>,
}

/// How one column of a block is stored, for `frazil_blocks`.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnInfo {
    /// Value ↔ code.
    pub encoding: Encoding,
    /// Code ↔ bytes.
    pub layout: Layout,
    /// How values are held when unpacked.
    pub native: NativeType,
    /// Bits of a code or raw value; 0 for a constant.
    pub bits: u8,
    /// Whether strings are FSST-compressed.
    pub compressed: bool,
    /// Bytes in the block, SMA, PSMA and directory entry included.
    pub bytes: u64,
    /// Bytes of the same values uncompressed.
    pub raw_bytes: u64,
    /// Smallest and largest value; `None` when all are NULL.
    pub bounds: Option<(Value, Value)>,
    /// Rows that are NULL.
    pub null_count: u32,
    /// Distinct values, where the encoding knows them.
    pub distinct: Option<u32>,
}

impl Column {
    /// A column of which nothing is known but its entry.
    fn new(entry: ColumnEntry) -> Column {
        Column {
            entry,
            trusted: AtomicBool::new(false),
            strings: OnceLock::new(),
            decoder: OnceLock::new(),
        }
    }

    /// A column whose bytes were checked, or made by this process.
    fn trusted(entry: ColumnEntry) -> Column {
        let column = Column::new(entry);
        column.trusted.store(true, Ordering::Relaxed);
        column
    }
}

impl Block {
    /// Opens the bytes of a block; checks its header, and leaves each column to its first touch.
    pub fn open(bytes: BlockBytes) -> Result<Block> {
        let header = format::fetch_header(&bytes)?;
        let columns: Arc<[Arc<Column>]> = (header.columns.into_iter())
            .map(|entry| Arc::new(Column::new(entry)))
            .collect();
        Ok(Block(Arc::new(Inner {
            bytes,
            rows: header.rows,
            stored: columns.clone(),
            added: Arc::default(),
            columns,
            beside: AlignedBytes::default(),
        })))
    }

    /// The same bytes, which show these columns. An internal error for a position that the directory does not have.
    pub fn showing(&self, columns: &[ShownColumn]) -> Result<Block> {
        let mut beside = AlignedBytes::default();
        let mut shown = Vec::with_capacity(columns.len());
        for column in columns {
            shown.push(match column {
                ShownColumn::Stored(position) => (self.0.stored.get(*position))
                    .ok_or_else(|| Error::internal("a block is to show a column that it does not store"))?
                    .clone(),
                ShownColumn::Constant(constant) => Arc::new(self.constant(constant, &mut beside)),
            });
        }
        // Readers of strings may look beyond the last one.
        beside.extend_zeroed(READ_PADDING);
        Ok(Block(Arc::new(Inner {
            bytes: self.0.bytes.clone(),
            rows: self.0.rows,
            stored: self.0.stored.clone(),
            added: self.0.added.clone(),
            columns: shown.into(),
            beside,
        })))
    }

    /// A block that stores the columns of other blocks of as many rows behind its own, and shows all of them. Nobody
    /// can write it: [`Block::bytes`] lack the added columns. An internal error if a block has other rows, or shows
    /// other columns than it stores; XX001 if one is damaged.
    pub fn with_columns(&self, others: &[Block]) -> Result<Block> {
        let mut added = AlignedBytes::default();
        added.extend(self.0.added.as_slice());
        // References to strings point into `added`, which is another one now.
        let end = self.bytes().len() as u64;
        let again = |column: &Arc<Column>| match column.entry.extent.offset < end {
            true => column.clone(),
            false => Arc::new(Column::trusted(column.entry.clone())),
        };
        let mut stored: Vec<Arc<Column>> = self.0.stored.iter().map(again).collect();
        for other in others {
            let is_whole = other.0.added.is_empty() && other.0.beside.is_empty();
            if other.rows() != self.rows() || !is_whole {
                return Err(Error::internal(
                    "columns of another block do not fit beside those of a block",
                ));
            }
            other.verify()?;
            added.align();
            let moved = (self.bytes().len() + added.len()) as u64;
            added.extend(other.bytes());
            let moved = |column: &Arc<Column>| Arc::new(Column::trusted(column.entry.moved(moved)));
            stored.extend(other.0.stored.iter().map(moved));
        }
        // Readers of strings may look beyond the last one.
        added.extend_zeroed(READ_PADDING);
        let stored: Arc<[Arc<Column>]> = stored.into();
        Ok(Block(Arc::new(Inner {
            bytes: self.0.bytes.clone(),
            rows: self.0.rows,
            columns: stored.clone(),
            stored,
            added: Arc::new(added),
            beside: AlignedBytes::default(),
        })))
    }

    /// Bytes of columns that were added to those of the directory.
    pub fn added_bytes(&self) -> usize {
        self.0.added.len()
    }

    /// A column of one value, whose sections are appended to those beside the block.
    fn constant(&self, constant: &Constant, beside: &mut AlignedBytes) -> Column {
        let rows = u64::from(self.rows());
        let encoded = constant.encode(self.rows() as usize);
        let end = (self.bytes().len() + self.0.added.len()) as u64;
        let mut place = |bytes: &[u8]| match bytes.len() as u64 {
            0 => Section::default(),
            bytes_there => {
                let offset = end + beside.len() as u64;
                beside.extend(bytes);
                beside.align();
                Section {
                    offset,
                    bytes: bytes_there,
                }
            }
        };
        let mut entry = encoded.entry;
        entry.sections.sma = place(&encoded.sma);
        entry.sections.heap = place(&encoded.heap);
        entry.raw_bytes = rows * (constant.native().size() + encoded.heap.len()) as u64;
        Column::trusted(entry)
    }

    /// Opens bytes that the builder of this process has just made.
    pub(crate) fn open_trusted(bytes: BlockBytes) -> Result<Block> {
        let block = Block::open(bytes)?;
        for column in block.0.columns.iter() {
            column.trusted.store(true, Ordering::Relaxed);
        }
        Ok(block)
    }

    /// Number of rows.
    pub fn rows(&self) -> u32 {
        self.0.rows
    }

    /// Number of columns that are shown.
    pub fn columns(&self) -> usize {
        self.0.columns.len()
    }

    /// Number of columns in the directory, and of those that were added.
    pub fn stored_columns(&self) -> usize {
        self.0.stored.len()
    }

    /// All bytes, as they are to be written to a file (at an offset that is a multiple of 64). Columns that were
    /// added lie elsewhere.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes.as_slice()
    }

    /// The header, the directory of its columns and the bounds of strings: the checksums of all columns are among the
    /// bytes.
    pub fn header(&self) -> &[u8] {
        format::header_region(self.bytes())
    }

    /// The checksum of its header, which has those of its columns: a block of other values has another one.
    pub fn checksum(&self) -> u32 {
        format::header_crc(self.bytes())
    }

    /// A column's directory entry.
    pub fn entry(&self, column: usize) -> &ColumnEntry {
        &self.0.columns[column].entry
    }

    /// Native type of a column.
    pub fn native(&self, column: usize) -> NativeType {
        self.entry(column).native
    }

    /// How a column is stored.
    pub fn column_info(&self, column: usize) -> ColumnInfo {
        let entry = self.entry(column);
        ColumnInfo {
            encoding: entry.encoding,
            layout: entry.layout,
            native: entry.native,
            bits: entry.code_bits,
            compressed: entry.has(FLAG_FSST),
            bytes: entry.extent.bytes + entry.sections.sma.bytes + format::ENTRY_BYTES as u64,
            raw_bytes: entry.raw_bytes,
            bounds: self.bounds(column),
            null_count: entry.null_count,
            distinct: match entry.encoding {
                Encoding::Constant => Some(u32::from(entry.has(FLAG_SMA))),
                Encoding::Dictionary => Some(entry.dictionary_entries),
                _ => None,
            },
        }
    }

    /// Checks every column's bytes now.
    pub fn verify(&self) -> Result<()> {
        (0..self.columns()).try_for_each(|column| self.touch(column))
    }

    /// True if its bytes are fetched from elsewhere when they are read.
    pub fn is_elsewhere(&self) -> bool {
        self.0.bytes.is_elsewhere()
    }

    /// Checks a column's bytes if no one has yet. An error names the column; the caller adds the file
    /// and the block.
    #[inline]
    pub fn touch(&self, column: usize) -> Result<()> {
        if self.0.columns[column].trusted.load(Ordering::Acquire) {
            return Ok(());
        }
        let extent = self.entry(column).extent;
        let check = || self.verify_column(column);
        let is_stored = extent.offset < self.bytes().len() as u64;
        let checked = match is_stored {
            // Whole vectors are loaded, so bytes behind the last section are read, too.
            true => {
                let end = extent.offset + extent.bytes + READ_PADDING as u64;
                self.0.bytes.check_fetched(extent.offset..end, check)
            }
            false => check(),
        };
        checked.map_err(|e| e.in_context(format!("column {column}")))?;
        self.0.columns[column].trusted.store(true, Ordering::Release);
        Ok(())
    }

    /// Bytes of a section; its place was checked when the block was opened.
    #[inline]
    pub(crate) fn section(&self, section: Section) -> &[u8] {
        let (start, bytes) = (section.offset as usize, self.0.bytes.as_slice());
        match start.checked_sub(bytes.len()) {
            None => &bytes[start..start + section.bytes as usize],
            Some(start) => self.section_beside(start, section.bytes as usize),
        }
    }

    /// Bytes of a section that begins `start` bytes behind the end of the block.
    fn section_beside(&self, start: usize, bytes: usize) -> &[u8] {
        let added = self.0.added.as_slice();
        match start.checked_sub(added.len()) {
            None => &added[start..start + bytes],
            Some(start) => &self.0.beside.as_slice()[start..start + bytes],
        }
    }

    /// Decoder of a column whose heap is FSST-compressed.
    pub(crate) fn decoder(&self, column: usize) -> Result<&Decoder> {
        let cell = &self.0.columns[column].decoder;
        if let Some(decoder) = cell.get() {
            return Ok(decoder);
        }
        let decoder = Decoder::read(self.section(self.entry(column).sections.symbols))?;
        Ok(cell.get_or_init(|| Box::new(decoder)))
    }

    /// The string of a slot of an offsets section, as stored (FSST codes where compressed).
    /// The column has been touched.
    #[inline]
    pub(crate) fn stored_string<'a>(offsets: &[u32], heap: &'a [u8], slot: usize) -> &'a [u8] {
        &heap[offsets[slot] as usize..offsets[slot + 1] as usize]
    }

    /// References by code into the heap of a dictionary or constant string column, prepared once.
    /// The column has been touched.
    pub(crate) fn prepared_strings(&self, column: usize) -> &[StringRef] {
        self.0.columns[column].strings.get_or_init(|| {
            let entry = self.entry(column);
            let heap = self.section(entry.sections.heap);
            if entry.encoding == Encoding::Constant {
                // SAFETY: the heap lives as long as the block; whoever keeps the reference pins it.
                return Box::new([unsafe { StringRef::new(heap) }]);
            }
            let offsets = self.slice::<u32>(entry.sections.dictionary);
            (0..offsets.len() - 1)
                // SAFETY: as above.
                .map(|i| unsafe { StringRef::new(Block::stored_string(offsets, heap, i)) })
                .collect()
        })
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({} rows × {} columns)", self.rows(), self.columns())
    }
}
