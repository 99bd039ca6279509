//! An opened block: its bytes, its directory, and what is prepared lazily per column.

use crate::bytes::BlockBytes;
use crate::encodings::Encoding;
use crate::encodings::fsst::Decoder;
use crate::format::{self, ColumnEntry, FLAG_FSST, FLAG_SMA, Header, Section};
use crate::layouts::Layout;
use frazil_types::{NativeType, Result, StringRef, Value};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A Data Block. Cheap to clone; references into it (dictionary strings, lent columns) live as long as
/// any clone.
#[derive(Clone)]
pub struct Block(Arc<Inner>);

struct Inner {
    bytes: BlockBytes,
    header: Header,
    columns: Box<[ColumnState]>,
}

/// What is known of a column beyond the directory.
#[derive(Default)]
struct ColumnState {
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

impl Block {
    /// Opens the bytes of a block; checks its header, and leaves each column to its first touch.
    pub fn open(bytes: BlockBytes) -> Result<Block> {
        let header = format::read_header(bytes.as_slice())?;
        let columns = header.columns.iter().map(|_| ColumnState::default()).collect();
        Ok(Block(Arc::new(Inner {
            bytes,
            header,
            columns,
        })))
    }

    /// Opens bytes that the builder of this process has just made.
    pub(crate) fn open_trusted(bytes: BlockBytes) -> Result<Block> {
        let block = Block::open(bytes)?;
        for column in &block.0.columns {
            column.trusted.store(true, Ordering::Relaxed);
        }
        Ok(block)
    }

    /// Number of rows.
    pub fn rows(&self) -> u32 {
        self.0.header.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.0.header.columns.len()
    }

    /// All bytes, as they are to be written to a file (at an offset that is a multiple of 64).
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes.as_slice()
    }

    /// A column's directory entry.
    pub fn entry(&self, column: usize) -> &ColumnEntry {
        &self.0.header.columns[column]
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

    /// Checks a column's bytes if no one has yet. An error names the column; the caller adds the file
    /// and the block.
    #[inline]
    pub fn touch(&self, column: usize) -> Result<()> {
        if self.0.columns[column].trusted.load(Ordering::Acquire) {
            return Ok(());
        }
        self.verify_column(column)
            .map_err(|e| e.in_context(format!("column {column}")))?;
        self.0.columns[column].trusted.store(true, Ordering::Release);
        Ok(())
    }

    /// Bytes of a section; its place was checked when the block was opened.
    #[inline]
    pub(crate) fn section(&self, section: Section) -> &[u8] {
        let start = section.offset as usize;
        &self.0.bytes.as_slice()[start..start + section.bytes as usize]
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
