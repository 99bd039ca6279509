//! Distrust: what is checked of a block's bytes before anything relies on it. [`check_entry`] runs when
//! the block is opened and looks at the directory alone; [`Block::touch`] runs the rest once per column.
//! A block that was just built is checked as if it came from a file before it takes the place of rows, and against
//! these rows (`built.rs`).

use crate::block::Block;
use crate::bytes::ALIGNMENT;
use crate::encodings::Encoding;
use crate::encodings::decimal::{self, Ladder};
use crate::encodings::frames::FRAME;
use crate::format::{ColumnEntry, FLAG_BINARY, FLAG_FSST, FLAG_NULLS, FLAG_SMA, Section, corrupted};
use crate::layouts::Layout;
use crate::layouts::codes::{CodeScratch, dispatch_words};
use crate::psma;
use crate::resolve::{dispatch_integer, widen};
use crate::sma::{ordinal_of_f64, read_string_sma};
use frazil_kernels::{CodeWord, Isa, Selection, packed};
use frazil_types::{NativeType, READ_PADDING, Result};

fn check(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(corrupted(what)) }
}

/// Checks a directory entry of a block of `rows` rows and `total` bytes, whose header's region has
/// `region` bytes.
pub(crate) fn check_entry(entry: &ColumnEntry, rows: usize, region: usize, total: usize) -> Result<()> {
    check(
        entry.flags & !(FLAG_NULLS | FLAG_FSST | FLAG_SMA | FLAG_BINARY) == 0,
        "an unknown flag is set",
    )?;
    check(
        entry.native == NativeType::String || !entry.has(FLAG_BINARY),
        "values that are not strings are marked as bytes",
    )?;
    check_places(entry, region, total)?;
    check_nulls(entry, rows)?;
    check_bounds(entry)?;
    check_shape(entry, rows)
}

/// Every section lies in its region, aligned.
fn check_places(entry: &ColumnEntry, region: usize, total: usize) -> Result<()> {
    let within = |s: Section, start: u64, end: u64| {
        s == Section::default()
            || (s.bytes > 0
                && s.offset >= start
                && s.offset.is_multiple_of(ALIGNMENT as u64)
                && s.offset.checked_add(s.bytes).is_some_and(|e| e <= end))
    };
    let extent = entry.extent;
    let last = (total - READ_PADDING) as u64;
    let end = extent.offset.saturating_add(extent.bytes);
    check(
        extent.offset >= region as u64 && extent.offset.is_multiple_of(ALIGNMENT as u64) && end <= last,
        "the column's extent lies outside the block",
    )?;
    let s = &entry.sections;
    check(within(s.sma, 0, region as u64), "the SMA lies outside the header")?;
    let data = [s.psma, s.dictionary, s.codes, s.heap, s.bitmap, s.symbols];
    check(
        data.into_iter().all(|s| within(s, extent.offset, end)),
        "a section lies outside the column's extent",
    )?;
    let table = 256 * psma::ENTRY_BYTES as u64;
    check(
        s.psma.bytes.is_multiple_of(table) && s.psma.bytes <= 8 * table,
        "the PSMA has a wrong length",
    )
}

fn check_nulls(entry: &ColumnEntry, rows: usize) -> Result<()> {
    let nulls = entry.null_count as usize;
    check(
        entry.nullable() == (nulls > 0) && entry.has(FLAG_SMA) == (nulls < rows) && nulls <= rows,
        "the count of NULLs contradicts the flags",
    )
}

/// The SMA is ordered and within the type.
fn check_bounds(entry: &ColumnEntry) -> Result<()> {
    let fine = match entry.native {
        NativeType::String => entry.min == 0 && entry.max == 0,
        NativeType::Bool => 0 <= entry.min && entry.min <= entry.max && entry.max <= 1,
        NativeType::F64 => match (u64::try_from(entry.min), u64::try_from(entry.max)) {
            (Ok(min), Ok(max)) => ordinal_of_f64(f64::from_bits(min)) <= ordinal_of_f64(f64::from_bits(max)),
            _ => false,
        },
        native => dispatch_integer!(native,
            T => entry.min <= entry.max && T::try_from(entry.min).is_ok() && T::try_from(entry.max).is_ok(),
            _ => false),
    };
    check(fine, "the SMA is out of order or outside the type")?;
    check(
        (entry.native == NativeType::String && entry.has(FLAG_SMA)) == (entry.sections.sma.bytes > 0),
        "a string SMA is missing or out of place",
    )
}

/// Encoding, layout, code width and section lengths fit each other.
fn check_shape(entry: &ColumnEntry, rows: usize) -> Result<()> {
    let shape = Shape::new(entry, rows);
    let fits = match entry.encoding {
        Encoding::Constant => shape.fits_constant(),
        Encoding::FrameOfReference => shape.fits_frame_of_reference(),
        Encoding::Patched => shape.fits_patched(),
        Encoding::Frames => shape.fits_frames(),
        Encoding::Decimal => shape.fits_decimal(),
        Encoding::Dictionary => shape.fits_dictionary(),
        Encoding::Raw => shape.fits_raw(),
    };
    check(
        fits && (entry.encoding == Encoding::Decimal || entry.scale == 0),
        "encoding, code width and section lengths do not fit each other",
    )
}

/// An entry whose encoding, layout, code width and section lengths are held against each other.
struct Shape<'e> {
    entry: &'e ColumnEntry,
    /// Rows of the block.
    rows: u64,
    /// Codes that stand for NULL: 1 if the column is nullable, else 0.
    nullable: u64,
    /// Bytes of a value of the native type.
    native_bytes: u64,
    /// Whether codes have a width that the layout knows, and fill their section.
    codes_fit: bool,
    /// The largest code of the width; 0 unless `codes_fit`.
    largest_code: u64,
}

impl Shape<'_> {
    fn new(entry: &ColumnEntry, rows: usize) -> Shape<'_> {
        let bits = u32::from(entry.code_bits);
        let codes_fit = entry.layout != Layout::None
            && entry.layout.has_width(bits)
            && entry.sections.codes.bytes == entry.layout.bytes(rows, bits) as u64;
        Shape {
            entry,
            rows: rows as u64,
            nullable: u64::from(entry.nullable()),
            native_bytes: entry.native.size() as u64,
            codes_fit,
            largest_code: if codes_fit { packed::top(bits) } else { 0 },
        }
    }

    /// Whether any row has a value, that is, is not NULL.
    fn has_values(&self) -> bool {
        self.entry.has(FLAG_SMA)
    }

    /// Whether no strings are compressed.
    fn is_plain(&self) -> bool {
        !self.entry.has(FLAG_FSST) && self.entry.sections.symbols.bytes == 0
    }

    /// Whether codes that fit stand for values, as all encodings but constant and raw want.
    fn is_coded(&self) -> bool {
        self.codes_fit && self.has_values() && self.is_plain()
    }

    /// The largest value less the smallest, if it fits in 64 bits.
    fn span(&self) -> Option<u64> {
        let span = self.entry.max.checked_sub(self.entry.min)?;
        u64::try_from(span).ok()
    }

    fn fits_constant(&self) -> bool {
        let entry = self.entry;
        let nulls = u64::from(entry.null_count);
        entry.layout == Layout::None
            && entry.code_bits == 0
            && entry.sections.codes.bytes == 0
            && entry.min == entry.max
            && self.is_plain()
            && (nulls == 0 || nulls == self.rows)
    }

    fn fits_frame_of_reference(&self) -> bool {
        let native = self.entry.native;
        let top = self.span().and_then(|span| span.checked_add(self.nullable));
        (native.is_integer() || native == NativeType::Bool)
            && self.is_coded()
            && top.is_some_and(|top| top <= self.largest_code)
    }

    fn fits_patched(&self) -> bool {
        let sections = &self.entry.sections;
        let exceptions = u64::from(self.entry.dictionary_entries);
        self.entry.native.is_integer()
            && self.is_coded()
            && self.span().is_some()
            && self.largest_code > self.nullable
            && sections.dictionary.bytes == (1 + exceptions) * self.native_bytes
            && sections.heap.bytes == 2 * exceptions
    }

    fn fits_frames(&self) -> bool {
        let frames = self.rows.div_ceil(FRAME as u64);
        self.entry.native.is_integer()
            && self.is_coded()
            && self.span().is_some()
            && self.entry.sections.dictionary.bytes == frames * self.native_bytes
    }

    fn fits_decimal(&self) -> bool {
        let top = decimal::bounds(self.entry).map(|(min, max)| (max - min) as u64 + self.nullable);
        self.entry.native == NativeType::F64
            && self.is_coded()
            && top.is_some_and(|top| top <= self.largest_code)
    }

    fn fits_dictionary(&self) -> bool {
        let entries = u64::from(self.entry.dictionary_entries);
        let bytes = match self.entry.native {
            NativeType::String => (entries + self.nullable + 1) * 4,
            _ => (entries + self.nullable) * self.native_bytes,
        };
        self.entry.native != NativeType::Bool
            && self.is_coded()
            && entries > 0
            && entries + self.nullable - 1 <= self.largest_code
            && self.entry.sections.dictionary.bytes == bytes
    }

    fn fits_raw(&self) -> bool {
        let (entry, sections) = (self.entry, &self.entry.sections);
        let is_string = entry.native == NativeType::String;
        let (bits, bytes) = match is_string {
            true => (32, (self.rows + 1) * 4),
            false => (8 * self.native_bytes, self.rows * self.native_bytes),
        };
        entry.layout == Layout::None
            && u64::from(entry.code_bits) == bits
            && sections.codes.bytes == bytes
            && self.has_values()
            && sections.bitmap.bytes == self.nullable * self.rows.div_ceil(64) * 8
            && entry.has(FLAG_FSST) == (sections.symbols.bytes > 0)
            && (is_string || self.is_plain())
    }
}

impl Block {
    /// Checks the data of a column against its checksum and everything the readers rely on.
    pub(crate) fn verify_column(&self, column: usize) -> Result<()> {
        let entry = self.entry(column);
        let crc = crc32c::crc32c(self.section(entry.extent));
        if crc != entry.crc {
            return Err(corrupted(format!(
                "the checksum of {} bytes at offset {} is {crc:08x} but {:08x} was written",
                entry.extent.bytes, entry.extent.offset, entry.crc
            )));
        }
        self.verify_data(column)?;
        match (entry.encoding, entry.native) {
            (Encoding::Raw, NativeType::String) => self.verify_raw_strings(column),
            _ => Ok(()),
        }
    }

    /// Checks everything the readers of a column rely on, save its checksum and the bytes of raw strings.
    pub(crate) fn verify_data(&self, column: usize) -> Result<()> {
        let entry = self.entry(column);
        check(
            entry.native != NativeType::String
                || !entry.has(FLAG_SMA)
                || self.string_bounds(column).is_some(),
            "the lengths in the SMA do not add up",
        )?;
        match entry.encoding {
            Encoding::Constant => self.verify_constant(column),
            Encoding::FrameOfReference => {
                // `check_shape` saw that the difference fits.
                let top = (entry.max - entry.min) as u64 + u64::from(entry.nullable());
                self.verify_codes(entry, top)
            }
            Encoding::Dictionary => {
                let top = u64::from(entry.dictionary_entries) - 1 + u64::from(entry.nullable());
                self.verify_codes(entry, top)?;
                self.verify_dictionary(entry)
            }
            Encoding::Decimal => {
                let top = Ladder::of(entry).top + u64::from(entry.nullable());
                self.verify_codes(entry, top)
            }
            Encoding::Patched => self.verify_patched(entry),
            Encoding::Frames => self.verify_frames(entry),
            Encoding::Raw => self.verify_raw(column),
        }?;
        self.verify_psma(entry)
    }

    fn verify_constant(&self, column: usize) -> Result<()> {
        let entry = self.entry(column);
        if entry.native != NativeType::String || !entry.has(FLAG_SMA) {
            return Ok(());
        }
        let heap = self.section(entry.sections.heap);
        check(heap.len() < 1 << 31, "a string is too long")?;
        let sma = read_string_sma(self.section(entry.sections.sma));
        check(sma == Some((heap, heap)), "the SMA is not the constant's value")?;
        check(is_sound(entry, heap), "a string is not UTF-8")
    }

    fn verify_codes(&self, entry: &ColumnEntry, top: u64) -> Result<()> {
        let scratch = &mut CodeScratch::default();
        let all = Selection::all(0..self.rows());
        let (codes, _) = self.codes(entry).fetch(Isa::detect(), all, scratch);
        let (largest, zeros) = dispatch_words!(codes, codes => {
            let largest = codes.iter().copied().max().unwrap_or(0).to_u64();
            (largest, codes.iter().filter(|&&c| c == 0).count())
        });
        check(largest <= top, "a code is out of bounds")?;
        check(
            !entry.nullable() || zeros == entry.null_count as usize,
            "the count of NULLs is wrong",
        )
    }

    /// The codes of all rows.
    fn all_codes(&self, entry: &ColumnEntry) -> Vec<u64> {
        let scratch = &mut CodeScratch::default();
        let all = Selection::all(0..self.rows());
        let (codes, _) = self.codes(entry).fetch(Isa::detect(), all, scratch);
        dispatch_words!(codes, codes => codes.iter().map(|c| c.to_u64()).collect())
    }

    /// Exceptions are where the codes say, and all values lie within min and max.
    fn verify_patched(&self, entry: &ColumnEntry) -> Result<()> {
        let nullable = u64::from(entry.nullable());
        let codes = self.all_codes(entry);
        let rows = self.exception_rows(entry);
        let marker = packed::top(entry.code_bits.into());
        let is_marker = |&row: &u16| codes.get(usize::from(row)) == Some(&marker);
        check(
            rows.is_sorted_by(|a, b| a < b)
                && rows.iter().all(is_marker)
                && codes.iter().filter(|&&c| c == marker).count() == rows.len(),
            "the exceptions are not where the codes say",
        )?;
        let span = dispatch_integer!(entry.native, T => {
            let values = self.slice::<T>(entry.sections.dictionary);
            let within = |v: &T| (entry.min..=entry.max).contains(&widen(v));
            let span = entry.max.wrapping_sub(widen(&values[0])) as u64;
            values.iter().all(within).then_some(span)
        }, _ => None);
        let regular = || codes.iter().filter(|&&c| c != marker && c >= nullable);
        check(
            span.is_some_and(|span| regular().all(|&c| c - nullable <= span)),
            "a value is out of bounds",
        )?;
        self.verify_null_count(entry, &codes)
    }

    /// All values lie within min and max.
    fn verify_frames(&self, entry: &ColumnEntry) -> Result<()> {
        let nullable = u64::from(entry.nullable());
        let codes = self.all_codes(entry);
        let within = dispatch_integer!(entry.native, T => {
            let minima = self.slice::<T>(entry.sections.dictionary);
            minima.iter().zip(codes.chunks(FRAME)).all(|(minimum, codes)| {
                let minimum = widen(minimum);
                let span = entry.max.checked_sub(minimum).and_then(|s| u64::try_from(s).ok());
                let largest = codes.iter().max().copied().unwrap_or(0);
                minimum >= entry.min && span.is_some_and(|s| largest.saturating_sub(nullable) <= s)
            })
        }, _ => false);
        check(within, "a value is out of bounds")?;
        self.verify_null_count(entry, &codes)
    }

    fn verify_null_count(&self, entry: &ColumnEntry, codes: &[u64]) -> Result<()> {
        let zeros = codes.iter().filter(|&&c| c == 0).count();
        check(
            !entry.nullable() || zeros == entry.null_count as usize,
            "the count of NULLs is wrong",
        )
    }

    fn verify_dictionary(&self, entry: &ColumnEntry) -> Result<()> {
        let skip = usize::from(entry.nullable());
        let sorted = match entry.native {
            NativeType::String => {
                let offsets = self.slice::<u32>(entry.sections.dictionary);
                let heap = self.section(entry.sections.heap);
                verify_offsets(offsets, heap)?;
                verify_utf8(entry, offsets, heap)?;
                let string = |i| Block::stored_string(offsets, heap, i);
                (skip + 1..offsets.len() - 1).all(|i| string(i - 1) < string(i))
            }
            NativeType::F64 => self.slice::<f64>(entry.sections.dictionary)[skip..]
                .is_sorted_by(|a, b| ordinal_of_f64(*a) < ordinal_of_f64(*b)),
            native => dispatch_integer!(native,
                T => self.slice::<T>(entry.sections.dictionary)[skip..].is_sorted_by(|a, b| a < b),
                _ => false),
        };
        check(sorted, "the dictionary is not sorted")
    }

    fn verify_raw(&self, column: usize) -> Result<()> {
        let entry = self.entry(column);
        let rows = self.rows() as usize;
        if entry.nullable() {
            let words = self.slice::<u64>(entry.sections.bitmap);
            let valid: u32 = words.iter().map(|w| w.count_ones()).sum();
            let tail = if rows.is_multiple_of(64) {
                0
            } else {
                words[rows / 64] >> (rows % 64)
            };
            check(
                tail == 0 && valid as usize + entry.null_count as usize == rows,
                "the count of NULLs is wrong",
            )?;
        }
        match entry.native {
            NativeType::Bool => check(
                self.section(entry.sections.codes).iter().all(|&b| b <= 1),
                "a boolean is neither 0 nor 1",
            ),
            NativeType::String => verify_offsets(
                self.slice(entry.sections.codes),
                self.section(entry.sections.heap),
            ),
            _ => Ok(()),
        }
    }

    /// Strings are decompressed and UTF-8; their offsets have been checked.
    fn verify_raw_strings(&self, column: usize) -> Result<()> {
        let entry = self.entry(column);
        let offsets = self.slice::<u32>(entry.sections.codes);
        let heap = self.section(entry.sections.heap);
        if !entry.has(FLAG_FSST) {
            return verify_utf8(entry, offsets, heap);
        }
        let decoder = self.decoder(column)?;
        let mut text = Vec::new();
        for row in 0..self.rows() as usize {
            let codes = Block::stored_string(offsets, heap, row);
            let len = decoder.decoded_len(codes)?;
            check(len < 1 << 31, "a string is too long")?;
            if text.len() < codes.len() * 8 + 8 {
                text.resize(codes.len() * 8 + 8, 0);
            }
            // SAFETY: `text` has the room, and a block ends in padding behind every section.
            let decoded = unsafe { decoder.decode(codes, text.as_mut_ptr()) };
            check(is_sound(entry, &text[..decoded]), "a string is not UTF-8")?;
        }
        Ok(())
    }

    fn verify_psma(&self, entry: &ColumnEntry) -> Result<()> {
        let rows = self.rows();
        let fine = self
            .section(entry.sections.psma)
            .as_chunks::<{ psma::ENTRY_BYTES }>()
            .0
            .iter()
            .all(|e| {
                let first = u32::from(u16::from_le_bytes([e[0], e[1]]));
                let last = u32::from(u16::from_le_bytes([e[2], e[3]]));
                first > last || last < rows
            });
        check(fine, "a PSMA entry points beyond the rows")
    }
}

/// Offsets ascend from 0 to the heap's end, and no string has 2^31 bytes or more.
fn verify_offsets(offsets: &[u32], heap: &[u8]) -> Result<()> {
    check(
        offsets.first() == Some(&0)
            && offsets.last().is_some_and(|&last| last as usize == heap.len())
            && offsets.windows(2).all(|w| w[0] <= w[1] && w[1] - w[0] < 1 << 31),
        "string offsets are out of order or beyond the heap",
    )
}

/// True if the bytes can be a string of the column.
fn is_sound(entry: &ColumnEntry, bytes: &[u8]) -> bool {
    entry.has(FLAG_BINARY) || std::str::from_utf8(bytes).is_ok()
}

/// The heap is UTF-8 and no offset splits a character, unless the column holds bytes.
fn verify_utf8(entry: &ColumnEntry, offsets: &[u32], heap: &[u8]) -> Result<()> {
    if entry.has(FLAG_BINARY) {
        return Ok(());
    }
    let text = std::str::from_utf8(heap).map_err(|_| corrupted("a string is not UTF-8"))?;
    check(
        offsets.iter().all(|&o| text.is_char_boundary(o as usize)),
        "a string is not UTF-8",
    )
}
