//! The byte format: header and column directory, written and read (docs/format.md says it byte by byte).
//!
//! A block begins with its row count (Data Blocks, section 3.1), then one directory entry a column with
//! the encoding, the layout, the numeric SMA and where each section lies, then the string SMAs; all of
//! that is covered by the header's checksum and checked when the block is opened. The data of each
//! column follows in one extent with a checksum of its own, checked when the column is first touched.

use crate::bytes::{ALIGNMENT, BlockBytes};
use crate::encodings::Encoding;
use crate::layouts::Layout;
use frazil_types::{CHUNK_ROWS, Error, LogicalType, NativeType, READ_PADDING, Result, SqlState};

/// Marks a Data Block; the row count stands before it.
pub const MAGIC: [u8; 8] = *b"FRAZILDB";
/// The newest version this program reads. A block is written in the oldest version that has its encodings
/// and layouts.
pub const VERSION: u16 = 2;
/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;
/// Bytes of one directory entry.
pub const ENTRY_BYTES: usize = 192;
/// Most columns of a block.
pub const MAX_COLUMNS: usize = 4096;

/// Some rows are NULL.
pub const FLAG_NULLS: u8 = 1;
/// The string heap is FSST-compressed.
pub const FLAG_FSST: u8 = 2;
/// Min and max are present: the column has a value that is not NULL, and its type is ordered.
pub const FLAG_SMA: u8 = 4;
/// The strings are bytes that need not be UTF-8.
pub const FLAG_BINARY: u8 = 8;

/// An error about the bytes of a block.
pub(crate) fn corrupted(message: impl Into<String>) -> Error {
    Error::new(SqlState::DATA_CORRUPTED, message)
        .with_hint("the block is damaged or was not written by Frazil; restore it from a backup")
}

/// Where a section lies: byte offset from the start of the block and exact length. Offset 0: absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Offset from the start of the block, a multiple of 64.
    pub offset: u64,
    /// Length in bytes, padding apart.
    pub bytes: u64,
}

/// The sections of a column, in the order in which they lie in the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// Strings only: min and max, in the header's region.
    pub sma: Section,
    /// The positional SMA.
    pub psma: Section,
    /// Dictionary values, or offsets of dictionary strings; smallest values of frames; the reference and
    /// the exceptions of a patched column.
    pub dictionary: Section,
    /// Codes; raw values; offsets of raw strings.
    pub codes: Section,
    /// Bytes of strings; rows of exceptions.
    pub heap: Section,
    /// Validity bits of a raw column with NULLs, 1 = valid.
    pub bitmap: Section,
    /// FSST symbols.
    pub symbols: Section,
}

/// One column's directory entry.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnEntry {
    /// Value ↔ code.
    pub encoding: Encoding,
    /// Code ↔ bytes.
    pub layout: Layout,
    /// How values are held when unpacked.
    pub native: NativeType,
    /// Bits of a code, or of a raw value; 0 for a constant.
    pub code_bits: u8,
    /// `FLAG_*`.
    pub flags: u8,
    /// Of decimals the digits behind the point, else 0.
    pub scale: u8,
    /// Rows that are NULL.
    pub null_count: u32,
    /// Entries of the dictionary, the one of NULL not counted; exceptions of a patched column.
    pub dictionary_entries: u32,
    /// Smallest value of integers; bits of the smallest double; 0 for strings.
    pub min: i128,
    /// Largest value, likewise.
    pub max: i128,
    /// Where everything is.
    pub sections: Sections,
    /// CRC-32C of the column's extent.
    pub crc: u32,
    /// The column's extent: all sections but the SMA, with their padding.
    pub extent: Section,
    /// Bytes of the values uncompressed: native values, and for strings their bytes as well.
    pub raw_bytes: u64,
}

impl ColumnEntry {
    /// An entry without sections.
    pub fn new(encoding: Encoding, native: NativeType) -> ColumnEntry {
        ColumnEntry {
            encoding,
            layout: Layout::None,
            native,
            code_bits: 0,
            flags: 0,
            scale: 0,
            null_count: 0,
            dictionary_entries: 0,
            min: 0,
            max: 0,
            sections: Sections::default(),
            crc: 0,
            extent: Section::default(),
            raw_bytes: 0,
        }
    }

    /// The entry of the column whose sections begin `by` bytes later.
    pub(crate) fn moved(&self, by: u64) -> ColumnEntry {
        let place = |section: Section| Section {
            offset: section.offset + by,
            ..section
        };
        let Sections {
            sma,
            psma,
            dictionary,
            codes,
            heap,
            bitmap,
            symbols,
        } = self.sections;
        ColumnEntry {
            sections: Sections {
                sma: place(sma),
                psma: place(psma),
                dictionary: place(dictionary),
                codes: place(codes),
                heap: place(heap),
                bitmap: place(bitmap),
                symbols: place(symbols),
            },
            extent: place(self.extent),
            ..self.clone()
        }
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Notes that the strings need not be UTF-8, if that is so.
    pub(crate) fn mark_binary(&mut self, is_binary: bool) {
        if is_binary {
            self.flags |= FLAG_BINARY;
        }
    }

    /// True if the column's values are those of a type: held as such, and UTF-8 where the type's strings are.
    pub fn fits(&self, ty: LogicalType) -> bool {
        self.native == ty.native() && (ty.is_binary() || !self.has(FLAG_BINARY))
    }

    /// Whether some rows are NULL.
    pub fn nullable(&self) -> bool {
        self.has(FLAG_NULLS)
    }

    /// Bytes that `rows` codes or raw values take, padding apart.
    pub fn code_bytes(&self, rows: usize) -> usize {
        (rows * usize::from(self.code_bits)).div_ceil(8)
    }
}

/// The header and the directory.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Rows of the block.
    pub rows: u32,
    /// Bytes of header, directory and string SMAs, which `crc` covers.
    pub header_bytes: u32,
    /// Bytes of the whole block, its tail of readable padding included.
    pub total_bytes: u64,
    /// The columns.
    pub columns: Vec<ColumnEntry>,
}

impl Header {
    /// The version of the format that these columns need.
    fn version(&self) -> u16 {
        let newer = |e: &ColumnEntry| e.layout.is_packed() || e.encoding.since() > 1;
        1 + u16::from(self.columns.iter().any(newer))
    }
}

fn put<const N: usize>(out: &mut [u8], at: usize, bytes: [u8; N]) {
    out[at..at + N].copy_from_slice(&bytes);
}

fn get<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

fn section_list(s: &Sections) -> [Section; 7] {
    [s.sma, s.psma, s.dictionary, s.codes, s.heap, s.bitmap, s.symbols]
}

/// Writes header and directory into the first bytes of a block whose string SMAs are in place, and
/// seals them with their checksum.
pub fn write_header(header: &Header, out: &mut [u8]) {
    put(out, 0, header.rows.to_le_bytes());
    put(out, 4, (header.columns.len() as u32).to_le_bytes());
    put(out, 8, MAGIC);
    put(out, 16, header.version().to_le_bytes());
    put(out, 20, header.header_bytes.to_le_bytes());
    put(out, 24, header.total_bytes.to_le_bytes());
    for (entry, out) in header
        .columns
        .iter()
        .zip(out[HEADER_BYTES..].chunks_exact_mut(ENTRY_BYTES))
    {
        write_entry(entry, out);
    }
    seal_header(out);
}

/// Computes the header's checksum over bytes that are in place.
fn seal_header(block: &mut [u8]) {
    let header_bytes = u32::from_le_bytes(get(block, 20)) as usize;
    put(block, 32, [0; 4]);
    let crc = crc32c::crc32c(&block[..header_bytes]);
    put(block, 32, crc.to_le_bytes());
}

/// Makes the checksums of a block fit its bytes again, as far as the directory can be followed. Tests use
/// it to get hostile bytes past the checksums.
pub fn reseal(block: &mut [u8]) {
    let columns = u32::from_le_bytes(get(block, 4)) as usize;
    let header_bytes = u32::from_le_bytes(get(block, 20)) as usize;
    let directory = block.len().saturating_sub(HEADER_BYTES) / ENTRY_BYTES;
    for i in 0..columns.min(directory) {
        let at = HEADER_BYTES + i * ENTRY_BYTES;
        let start = u64::from_le_bytes(get(block, at + 168)) as usize;
        let bytes = u64::from_le_bytes(get(block, at + 176)) as usize;
        if let Some(extent) = start.checked_add(bytes).and_then(|end| block.get(start..end)) {
            let crc = crc32c::crc32c(extent);
            put(block, at + 160, crc.to_le_bytes());
        }
    }
    if (HEADER_BYTES..=block.len()).contains(&header_bytes) {
        seal_header(block);
    }
}

fn write_entry(entry: &ColumnEntry, out: &mut [u8]) {
    out[0] = entry.encoding as u8;
    out[1] = entry.layout as u8;
    out[2] = entry.native as u8;
    out[3] = entry.code_bits;
    out[4] = entry.flags;
    out[5] = entry.scale;
    put(out, 8, entry.null_count.to_le_bytes());
    put(out, 12, entry.dictionary_entries.to_le_bytes());
    put(out, 16, entry.min.to_le_bytes());
    put(out, 32, entry.max.to_le_bytes());
    for (i, section) in section_list(&entry.sections).into_iter().enumerate() {
        put(out, 48 + i * 16, section.offset.to_le_bytes());
        put(out, 56 + i * 16, section.bytes.to_le_bytes());
    }
    put(out, 160, entry.crc.to_le_bytes());
    put(out, 168, entry.extent.offset.to_le_bytes());
    put(out, 176, entry.extent.bytes.to_le_bytes());
    put(out, 184, entry.raw_bytes.to_le_bytes());
}

/// Reads and checks header and directory: everything that can be said without touching the data.
pub fn read_header(bytes: &[u8]) -> Result<Header> {
    if bytes.len() < HEADER_BYTES {
        return Err(corrupted(format!(
            "a block of {} bytes is shorter than its header of {HEADER_BYTES}",
            bytes.len()
        )));
    }
    if get::<8>(bytes, 8) != MAGIC {
        return Err(corrupted("no Data Block begins here (offset 8: wrong magic)"));
    }
    let version = u16::from_le_bytes(get(bytes, 16));
    if version == 0 || version > VERSION {
        return Err(Error::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!(
                "Data Block format version {version} is not supported; this program reads 1 to {VERSION}"
            ),
        )
        .with_hint("open it with the version of Frazil that wrote it, or a newer one"));
    }
    let rows = u32::from_le_bytes(get(bytes, 0));
    let columns = u32::from_le_bytes(get(bytes, 4)) as usize;
    let header_bytes = u32::from_le_bytes(get(bytes, 20));
    let total_bytes = u64::from_le_bytes(get(bytes, 24));
    if total_bytes != bytes.len() as u64 {
        return Err(corrupted(format!(
            "the block says it has {total_bytes} bytes (offset 24) but {} are there",
            bytes.len()
        )));
    }
    let directory = HEADER_BYTES + columns * ENTRY_BYTES;
    let region = header_bytes as usize;
    if rows == 0 || rows as usize > CHUNK_ROWS || columns > MAX_COLUMNS {
        return Err(corrupted(format!(
            "a block of {rows} rows and {columns} columns (offset 0) is out of bounds"
        )));
    }
    if region < directory || !region.is_multiple_of(ALIGNMENT) || region + READ_PADDING > bytes.len() {
        return Err(corrupted(format!(
            "the header's length {header_bytes} (offset 20) is out of bounds"
        )));
    }
    check_header_crc(&bytes[..region])?;
    let columns = (0..columns)
        .map(|i| {
            let at = HEADER_BYTES + i * ENTRY_BYTES;
            let entry = read_entry(&bytes[at..at + ENTRY_BYTES])?;
            crate::verify::check_entry(&entry, rows as usize, region, bytes.len())?;
            Ok(entry)
        })
        .enumerate()
        .map(|(i, entry)| entry.map_err(|e: Error| e.in_context(format!("column {i}"))))
        .collect::<Result<Vec<_>>>()?;
    Ok(Header {
        rows,
        header_bytes,
        total_bytes,
        columns,
    })
}

/// Reads the header of a block, which is fetched before if the block is elsewhere.
pub fn fetch_header(bytes: &BlockBytes) -> Result<Header> {
    bytes.fetch(0..HEADER_BYTES as u64)?;
    let region = || {
        let length = bytes.as_slice().get(20..24);
        // A length that is damaged is found by `read_header`.
        let length = length.map_or(0, |length| u32::from_le_bytes(get(length, 0)) as usize);
        0..length.max(HEADER_BYTES).min(bytes.as_slice().len()) as u64
    };
    let read = || read_header(bytes.as_slice());
    match bytes.check_fetched(region(), read) {
        // The length itself may have been damaged: it has been fetched anew by now.
        Err(_) if bytes.is_elsewhere() => bytes.check_fetched(region(), read),
        header => header,
    }
}

/// The part of a block that was opened which the header's checksum covers.
pub fn header_region(block: &[u8]) -> &[u8] {
    let header_bytes = u32::from_le_bytes(get(block, 20)) as usize;
    &block[..header_bytes]
}

/// The header's checksum, as it was written.
pub fn header_crc(block: &[u8]) -> u32 {
    u32::from_le_bytes(get(block, 32))
}

fn check_header_crc(region: &[u8]) -> Result<()> {
    let stored = header_crc(region);
    let mut crc = crc32c::crc32c(&region[..32]);
    crc = crc32c::crc32c_append(crc, &[0; 4]);
    crc = crc32c::crc32c_append(crc, &region[36..]);
    if crc != stored {
        return Err(corrupted(format!(
            "the header's checksum is {crc:08x} but {stored:08x} was written (offset 32)"
        )));
    }
    Ok(())
}

fn read_entry(bytes: &[u8]) -> Result<ColumnEntry> {
    let section = |i: usize| Section {
        offset: u64::from_le_bytes(get(bytes, 48 + i * 16)),
        bytes: u64::from_le_bytes(get(bytes, 56 + i * 16)),
    };
    Ok(ColumnEntry {
        encoding: Encoding::from_id(bytes[0])?,
        layout: Layout::from_id(bytes[1])?,
        native: native_from_id(bytes[2])?,
        code_bits: bytes[3],
        flags: bytes[4],
        scale: bytes[5],
        null_count: u32::from_le_bytes(get(bytes, 8)),
        dictionary_entries: u32::from_le_bytes(get(bytes, 12)),
        min: i128::from_le_bytes(get(bytes, 16)),
        max: i128::from_le_bytes(get(bytes, 32)),
        sections: Sections {
            sma: section(0),
            psma: section(1),
            dictionary: section(2),
            codes: section(3),
            heap: section(4),
            bitmap: section(5),
            symbols: section(6),
        },
        crc: u32::from_le_bytes(get(bytes, 160)),
        extent: Section {
            offset: u64::from_le_bytes(get(bytes, 168)),
            bytes: u64::from_le_bytes(get(bytes, 176)),
        },
        raw_bytes: u64::from_le_bytes(get(bytes, 184)),
    })
}

fn native_from_id(id: u8) -> Result<NativeType> {
    Ok(match id {
        1 => NativeType::Bool,
        2 => NativeType::I16,
        3 => NativeType::I32,
        4 => NativeType::I64,
        5 => NativeType::I128,
        6 => NativeType::F64,
        7 => NativeType::String,
        _ => return Err(corrupted(format!("unknown native type {id}"))),
    })
}
