//! Integers and texts → column chunks of Parquet.
//!
//! The crate that knows the format writes files, row groups, headers of pages and footers, and columns of all other types. Those that
//! most columns are of are encoded here, straight from the vectors that a query gives: texts are not copied into Arrow's arrays
//! first, a value is found in its column's dictionary by one probe of a table made for that, and statistics come of whole vectors. Pages
//! are short, so that what is encoded is still in the processor's cache when it is compressed.
//!
//! A page is of the first version of the format, which every reader has: levels where the column may be NULL, and values; the codes of
//! a dictionary while it has room, and the values themselves behind that.

use crate::page_codec::PageCodec;
use crate::parquet_bounds::{Bound, bound_bytes, boundary_order, lengthened, shortened, statistics};
use crate::parquet_encodings::{
    IntegerDictionary, TextDictionary, bits_for, push_codes, push_levels, push_text,
};
use arrow_buffer::{ArrowNativeType, BooleanBufferBuilder, ToByteSlice};
use bytes::Bytes;
use frazil_types::{ColumnVector, LogicalType, Native, NativeType, StringRef};
use parquet::basic::{Encoding, PageType, Type as Physical};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::cmp::Ordering;
use std::ops::Range;

/// Rows of a page at most.
const PAGE_ROWS: usize = 1 << 14;
/// Bytes of texts from which on a page is full.
const PAGE_BYTES: usize = 1 << 20;

/// Encodes the rows of a column, one row group after the other.
pub struct ChunkWriter {
    column: ColumnDescPtr,
    codec: PageCodec,
    values: Coding,
    /// The page that rows go into.
    page: OpenPage,
    /// Pages of the row group that are whole.
    pages: Vec<WholePage>,
}

/// The values of a column, and their dictionary while there is one.
enum Coding {
    Short(Column<IntegerDictionary<i32>>),
    Long(Column<IntegerDictionary<i64>>),
    Text(Column<TextDictionary>),
}

struct Column<D> {
    dictionary: D,
    /// Whether the column is to have one.
    wanted: bool,
    /// Whether values of the row group still go into it.
    is_open: bool,
}

impl<D> Column<D> {
    fn new(dictionary: D, wanted: bool) -> Column<D> {
        Column {
            dictionary,
            wanted,
            is_open: wanted,
        }
    }

    /// Makes it ready for the next row group.
    fn reopen(&mut self, clear: impl Fn(&mut D)) {
        clear(&mut self.dictionary);
        self.is_open = self.wanted;
    }
}

/// A page that rows are still added to.
struct OpenPage {
    rows: usize,
    nulls: usize,
    valid: BooleanBufferBuilder,
    codes: Vec<u32>,
    plain: Vec<u8>,
    bounds: Option<(Bound, Bound)>,
    /// What is compressed: memory that the next page takes again.
    encoded: Vec<u8>,
}

/// A page as it will lie in the file.
struct WholePage {
    page: CompressedPage,
    rows: usize,
    nulls: usize,
    bounds: Option<(Bound, Bound)>,
}

/// What a row group has of a column.
pub struct Chunk {
    pub bytes: Bytes,
    pub close: ColumnCloseResult,
}

/// An integer as the file has it.
trait Stored: Copy + Ord + Into<i64> + ArrowNativeType {
    /// A value that the type holds.
    fn of(value: i64) -> Self;
}

impl Stored for i32 {
    fn of(value: i64) -> i32 {
        value as i32
    }
}

impl Stored for i64 {
    fn of(value: i64) -> i64 {
        value
    }
}

impl ChunkWriter {
    /// A writer of columns of this type; `None` for one that the format's crate writes. `dictionary`: whether values are worth one.
    pub fn new(
        column: &ColumnDescPtr,
        ty: LogicalType,
        dictionary: bool,
        codec: PageCodec,
    ) -> Option<ChunkWriter> {
        let values = match (ty.native(), column.physical_type()) {
            (NativeType::I16 | NativeType::I32 | NativeType::I64, Physical::INT32) => {
                Coding::Short(Column::new(IntegerDictionary::new(), dictionary))
            }
            (NativeType::I16 | NativeType::I32 | NativeType::I64, Physical::INT64) => {
                Coding::Long(Column::new(IntegerDictionary::new(), dictionary))
            }
            (NativeType::String, Physical::BYTE_ARRAY) if ty.is_text() => {
                Coding::Text(Column::new(TextDictionary::new(), dictionary))
            }
            _ => return None,
        };
        Some(ChunkWriter {
            column: column.clone(),
            codec,
            values,
            page: OpenPage::new(),
            pages: Vec::new(),
        })
    }

    /// Adds rows of a column to the row group.
    pub fn write(&mut self, column: &ColumnVector, mut rows: Range<usize>) -> Result<()> {
        while !rows.is_empty() {
            let room = rows.start..rows.end.min(rows.start + (PAGE_ROWS - self.page.rows));
            let page = &mut self.page;
            let (taken, is_open) = match &mut self.values {
                Coding::Short(values) => page.add_integers::<i32>(values, column, room),
                Coding::Long(values) => page.add_integers::<i64>(values, column, room),
                Coding::Text(values) => page.add_texts(values, column, room),
            };
            page.add_levels(column, rows.start..rows.start + taken);
            rows.start += taken;
            if page.rows == PAGE_ROWS || page.plain.len() >= PAGE_BYTES || !is_open {
                self.end_page()?;
            }
        }
        Ok(())
    }

    /// Ends the row group.
    pub fn close(&mut self) -> Result<Chunk> {
        self.end_page()?;
        let dictionary = match &self.values {
            Coding::Short(values) => dictionary_page(
                values.dictionary.values().to_byte_slice(),
                values.dictionary.values().len(),
            ),
            Coding::Long(values) => dictionary_page(
                values.dictionary.values().to_byte_slice(),
                values.dictionary.values().len(),
            ),
            Coding::Text(values) => dictionary_page(values.dictionary.page(), values.dictionary.len()),
        };
        let dictionary = dictionary.map(|(bytes, values)| {
            let buf = Bytes::copy_from_slice(self.codec.compress(bytes)?);
            let page = Page::DictionaryPage {
                buf,
                num_values: values as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            Ok::<_, ParquetError>(CompressedPage::new(page, bytes.len()))
        });
        let chunk = joined(
            &self.column,
            &self.codec,
            dictionary.transpose()?,
            std::mem::take(&mut self.pages),
        );
        match &mut self.values {
            Coding::Short(values) => values.reopen(IntegerDictionary::clear),
            Coding::Long(values) => values.reopen(IntegerDictionary::clear),
            Coding::Text(values) => values.reopen(TextDictionary::clear),
        }
        chunk
    }

    /// Compresses the page that rows went into.
    fn end_page(&mut self) -> Result<()> {
        let page = &mut self.page;
        if page.rows == 0 {
            return Ok(());
        }
        let valid = page.valid.finish();
        page.encoded.clear();
        if self.column.max_def_level() > 0 {
            push_levels(&mut page.encoded, &valid);
        }
        let encoding = match page.codes.is_empty() {
            true => Encoding::PLAIN,
            false => Encoding::RLE_DICTIONARY,
        };
        if !page.codes.is_empty() {
            let values = match &self.values {
                Coding::Short(values) => values.dictionary.values().len(),
                Coding::Long(values) => values.dictionary.values().len(),
                Coding::Text(values) => {
                    page.bounds = bounds_of_codes(&page.codes, &values.dictionary);
                    values.dictionary.len()
                }
            };
            let bits = bits_for(values);
            page.encoded.push(bits as u8);
            push_codes(&mut page.encoded, &page.codes, bits);
        }
        let whole = match page.encoded.is_empty() {
            // Nothing stands in front of the values.
            true => &page.plain,
            false => {
                page.encoded.extend_from_slice(&page.plain);
                &page.encoded
            }
        };
        let buf = Bytes::copy_from_slice(self.codec.compress(whole)?);
        let data = Page::DataPage {
            buf,
            num_values: page.rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.pages.push(WholePage {
            page: CompressedPage::new(data, whole.len()),
            rows: page.rows,
            nulls: page.nulls,
            bounds: page.bounds.take(),
        });
        page.codes.clear();
        page.plain.clear();
        (page.rows, page.nulls) = (0, 0);
        Ok(())
    }
}

impl OpenPage {
    fn new() -> OpenPage {
        OpenPage {
            rows: 0,
            nulls: 0,
            valid: BooleanBufferBuilder::new(0),
            codes: Vec::new(),
            plain: Vec::new(),
            bounds: None,
            encoded: Vec::new(),
        }
    }

    /// Adds integers of these rows: of how many, and whether the page may go on.
    fn add_integers<T: Stored>(
        &mut self,
        values: &mut Column<IntegerDictionary<T>>,
        column: &ColumnVector,
        rows: Range<usize>,
    ) -> (usize, bool) {
        let stored: Vec<T> = match column.native() {
            NativeType::I16 => stored::<i16, T>(column, rows.clone()),
            NativeType::I32 => stored::<i32, T>(column, rows.clone()),
            _ => stored::<i64, T>(column, rows.clone()),
        };
        let encoded = match values.is_open {
            true => values.dictionary.encode(&stored, &mut self.codes),
            false => {
                self.plain.extend_from_slice(stored.to_byte_slice());
                stored.len()
            }
        };
        let encoded = &stored[..encoded];
        if let (Some(min), Some(max)) = (encoded.iter().min(), encoded.iter().max()) {
            let bound = |&value: &T| Bound::Integer(value.into());
            self.widen(bound(min), bound(max));
        }
        if encoded.len() < stored.len() {
            values.is_open = false;
            return (rows_of(column, rows, encoded.len()), false);
        }
        (rows.len(), true)
    }

    /// Adds texts of these rows: of how many, and whether the page may go on.
    fn add_texts(
        &mut self,
        values: &mut Column<TextDictionary>,
        column: &ColumnVector,
        rows: Range<usize>,
    ) -> (usize, bool) {
        let (texts, strings) = (column.values::<StringRef>(), column.strings());
        let nulls = column.nulls();
        let first = rows.start;
        if values.is_open {
            for row in rows.clone() {
                if nulls.is_some_and(|nulls| nulls.get(row)) {
                    continue;
                }
                match values.dictionary.code(texts[row], strings.bytes(row)) {
                    Some(code) => self.codes.push(code),
                    None => {
                        values.is_open = false;
                        return (row - first, false);
                    }
                }
            }
            // What is least and greatest is found when the page ends, among fewer.
            return (rows.len(), true);
        }
        let mut bounds: Option<(usize, usize)> = None;
        let mut taken = rows.len();
        for row in rows {
            if nulls.is_some_and(|nulls| nulls.get(row)) {
                continue;
            }
            push_text(&mut self.plain, texts[row], strings.bytes(row));
            let less = |a: usize, b: usize| match prefix(texts[a]).cmp(&prefix(texts[b])) {
                Ordering::Equal => strings.bytes(a) < strings.bytes(b),
                decided => decided.is_lt(),
            };
            match &mut bounds {
                None => bounds = Some((row, row)),
                Some((min, max)) => {
                    if less(row, *min) {
                        *min = row;
                    } else if less(*max, row) {
                        *max = row;
                    }
                }
            }
            if self.plain.len() >= PAGE_BYTES {
                taken = row + 1 - first;
                break;
            }
        }
        if let Some((min, max)) = bounds {
            let bound = |row| Bound::Text(strings.bytes(row).to_vec());
            self.widen(bound(min), bound(max));
        }
        (taken, true)
    }

    fn widen(&mut self, min: Bound, max: Bound) {
        self.bounds = Some(match self.bounds.take() {
            Some((least, greatest)) => (least.min(min), greatest.max(max)),
            None => (min, max),
        });
    }

    fn add_levels(&mut self, column: &ColumnVector, rows: Range<usize>) {
        self.rows += rows.len();
        match column.nulls() {
            None => self.valid.append_n(rows.len(), true),
            Some(nulls) => {
                for row in rows {
                    let is_null = nulls.get(row);
                    self.nulls += usize::from(is_null);
                    self.valid.append(!is_null);
                }
            }
        }
    }
}

/// The first four bytes of a text as a number that orders as they do.
fn prefix(text: StringRef) -> u32 {
    ((text.head >> 32) as u32).swap_bytes()
}

/// The values of rows that are not NULL, as the file has them: a decimal of few digits takes four bytes there.
fn stored<N: Native + Into<i64>, T: Stored>(column: &ColumnVector, rows: Range<usize>) -> Vec<T> {
    let values = &column.values::<N>()[rows.clone()];
    match column.nulls() {
        None => values.iter().map(|&value| T::of(value.into())).collect(),
        Some(nulls) => {
            let there = rows.zip(values).filter(|(row, _)| !nulls.get(*row));
            there.map(|(_, &value)| T::of(value.into())).collect()
        }
    }
}

/// How many of the rows stand in front of the one whose value comes behind so many.
fn rows_of(column: &ColumnVector, rows: Range<usize>, values: usize) -> usize {
    let there = rows.clone().filter(|&row| !column.is_null(row));
    there
        .skip(values)
        .map(|row| row - rows.start)
        .next()
        .unwrap_or(rows.len())
}

/// The least and the greatest of the texts that codes stand for.
fn bounds_of_codes(codes: &[u32], dictionary: &TextDictionary) -> Option<(Bound, Bound)> {
    let mut seen = vec![false; dictionary.len()];
    for &code in codes {
        seen[code as usize] = true;
    }
    let texts = || {
        (0..seen.len())
            .filter(|&code| seen[code])
            .map(|code| dictionary.bytes(code))
    };
    let bound = |text: &[u8]| Bound::Text(text.to_vec());
    Some((bound(texts().min()?), bound(texts().max()?)))
}

/// A dictionary that has values.
fn dictionary_page(bytes: &[u8], values: usize) -> Option<(&[u8], usize)> {
    (values > 0).then_some((bytes, values))
}

/// Pages one behind the other, and what a footer says of them.
fn joined(
    column: &ColumnDescPtr,
    codec: &PageCodec,
    dictionary: Option<CompressedPage>,
    pages: Vec<WholePage>,
) -> Result<Chunk> {
    let bounds = pages.iter().filter_map(|page| page.bounds.as_ref());
    let least = bounds.clone().map(|(min, _)| min).min();
    let greatest = bounds.map(|(_, max)| max).max();
    let range = least.zip(greatest).map(|(min, max)| (min.clone(), max.clone()));
    let rows: usize = pages.iter().map(|page| page.rows).sum();
    let nulls: usize = pages.iter().map(|page| page.nulls).sum();
    let column_index = column_index(column, &pages).build()?;
    let counted = page_counts(dictionary.is_some(), &pages);

    let mut bytes = TrackedWrite::new(Vec::new());
    let mut writer = SerializedPageWriter::new(&mut bytes);
    let (mut compressed, mut uncompressed) = (0, 0);
    let mut written = |page: CompressedPage| -> Result<(u64, usize)> {
        let spec = writer.write_page(page)?;
        compressed += spec.compressed_size;
        uncompressed += spec.uncompressed_size;
        Ok((spec.offset, spec.compressed_size))
    };
    let mut encodings = vec![Encoding::PLAIN, Encoding::RLE];
    let dictionary_offset = dictionary.is_some().then_some(0);
    if let Some(dictionary) = dictionary {
        written(dictionary)?;
        encodings.push(Encoding::RLE_DICTIONARY);
    }
    let mut offset_index = OffsetIndexBuilder::new();
    let mut first = None;
    for WholePage { page, rows, .. } in pages {
        let (offset, length) = written(page)?;
        first.get_or_insert(offset);
        offset_index.append_row_count(rows as i64);
        offset_index.append_offset_and_size(offset as i64, length as i32);
    }
    let metadata = ColumnChunkMetaData::builder(column.clone())
        .set_compression(codec.codec())
        .set_encodings(encodings)
        .set_page_encoding_stats(counted)
        .set_num_values(rows as i64)
        .set_total_compressed_size(compressed as i64)
        .set_total_uncompressed_size(uncompressed as i64)
        .set_dictionary_page_offset(dictionary_offset)
        .set_data_page_offset(first.unwrap_or(0) as i64)
        .set_statistics(statistics(column, range, nulls as u64))
        .build()?;
    Ok(Chunk {
        bytes: Bytes::from(bytes.into_inner()?),
        close: ColumnCloseResult {
            bytes_written: compressed as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: Some(column_index),
            offset_index: Some(offset_index.build()),
        },
    })
}

/// The bounds and the NULLs of each page, by which readers pass pages over.
fn column_index(column: &ColumnDescPtr, pages: &[WholePage]) -> ColumnIndexBuilder {
    let of_page = |page: &WholePage| {
        let (min, max) = page.bounds.as_ref()?;
        Some((shortened(min).0, lengthened(max).0))
    };
    let bounds: Vec<_> = pages.iter().map(of_page).collect();
    let mut index = ColumnIndexBuilder::new(column.physical_type());
    index.set_boundary_order(boundary_order(&bounds));
    for (page, bounds) in pages.iter().zip(&bounds) {
        let (min, max) = match bounds {
            Some((min, max)) => (bound_bytes(min, column), bound_bytes(max, column)),
            None => (Vec::new(), Vec::new()),
        };
        index.append(bounds.is_none(), min, max, page.nulls as i64);
    }
    index
}

/// How many pages there are of each kind and encoding.
fn page_counts(has_dictionary: bool, pages: &[WholePage]) -> Vec<PageEncodingStats> {
    let of = |encoding| {
        let pages = pages.iter().filter(|page| page.page.encoding() == encoding);
        (PageType::DATA_PAGE, encoding, pages.count())
    };
    let dictionary = (
        PageType::DICTIONARY_PAGE,
        Encoding::PLAIN,
        usize::from(has_dictionary),
    );
    let counts = [dictionary, of(Encoding::RLE_DICTIONARY), of(Encoding::PLAIN)];
    let counts = counts.into_iter().filter(|(_, _, count)| *count > 0);
    let counts = counts.map(|(page_type, encoding, count)| PageEncodingStats {
        page_type,
        encoding,
        count: count as i32,
    });
    counts.collect()
}
