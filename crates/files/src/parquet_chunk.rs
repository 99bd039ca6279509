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
use crate::parquet_encodings::{
    IntegerDictionary, TextDictionary, bits_for, push_codes, push_levels, push_text,
};
use arrow_buffer::{ArrowNativeType, BooleanBufferBuilder, ToByteSlice};
use bytes::Bytes;
use frazil_types::{ColumnVector, LogicalType, Native, NativeType, StringRef};
use parquet::basic::{BoundaryOrder, Encoding, PageType, Type as Physical};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::cmp::Ordering;
use std::ops::Range;

/// Rows of a page at most.
const PAGE_ROWS: usize = 1 << 14;
/// Bytes of texts from which on a page is full.
const PAGE_BYTES: usize = 1 << 20;
/// Bytes of a text that statistics hold at most.
const BOUND_BYTES: usize = 64;

/// Encodes the rows of a column, one row group after the other.
pub struct ChunkWriter {
    column: ColumnDescPtr,
    codec: PageCodec,
    values: Values,
    /// The page that rows go into.
    page: OpenPage,
    /// Pages of the row group that are whole.
    pages: Vec<WholePage>,
}

/// The values of a column, and their dictionary while there is one.
enum Values {
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

/// The least or the greatest value of a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    Integer(i64),
    Text(Vec<u8>),
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
                Values::Short(Column::new(IntegerDictionary::new(), dictionary))
            }
            (NativeType::I16 | NativeType::I32 | NativeType::I64, Physical::INT64) => {
                Values::Long(Column::new(IntegerDictionary::new(), dictionary))
            }
            (NativeType::String, Physical::BYTE_ARRAY) if ty.is_text() => {
                Values::Text(Column::new(TextDictionary::new(), dictionary))
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
                Values::Short(values) => page.add_integers::<i32>(values, column, room),
                Values::Long(values) => page.add_integers::<i64>(values, column, room),
                Values::Text(values) => page.add_texts(values, column, room),
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
            Values::Short(values) => dictionary_page(
                values.dictionary.values().to_byte_slice(),
                values.dictionary.values().len(),
            ),
            Values::Long(values) => dictionary_page(
                values.dictionary.values().to_byte_slice(),
                values.dictionary.values().len(),
            ),
            Values::Text(values) => dictionary_page(values.dictionary.page(), values.dictionary.len()),
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
            Values::Short(values) => values.reopen(IntegerDictionary::clear),
            Values::Long(values) => values.reopen(IntegerDictionary::clear),
            Values::Text(values) => values.reopen(TextDictionary::clear),
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
                Values::Short(values) => values.dictionary.values().len(),
                Values::Long(values) => values.dictionary.values().len(),
                Values::Text(values) => {
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
    let greatest = bounds.clone().map(|(_, max)| max).max();
    let range = least.zip(greatest).map(|(min, max)| (min.clone(), max.clone()));
    let (mut rows, mut nulls) = (0, 0);
    let order = boundary_order(bounds);

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
    let mut counted = Vec::new();
    let has_dictionary = dictionary.is_some();
    if let Some(dictionary) = dictionary {
        written(dictionary)?;
        encodings.push(Encoding::RLE_DICTIONARY);
        counted.push(page_count(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1));
    }
    let mut column_index = ColumnIndexBuilder::new(column.physical_type());
    column_index.set_boundary_order(order);
    let mut offset_index = OffsetIndexBuilder::new();
    let mut first = None;
    let mut of_codes = 0;
    let count = pages.len();
    for WholePage {
        page,
        rows: of_page,
        nulls: nulls_of_page,
        bounds,
    } in pages
    {
        of_codes += usize::from(page.encoding() == Encoding::RLE_DICTIONARY);
        let (offset, length) = written(page)?;
        first.get_or_insert(offset);
        offset_index.append_row_count(of_page as i64);
        offset_index.append_offset_and_size(offset as i64, length as i32);
        let is_null = bounds.is_none();
        let (min, max) = bounds.unwrap_or((Bound::Text(Vec::new()), Bound::Text(Vec::new())));
        column_index.append(
            is_null,
            shortened(min, column).0,
            lengthened(max, column).0,
            nulls_of_page as i64,
        );
        rows += of_page;
        nulls += nulls_of_page;
    }
    if of_codes > 0 {
        counted.push(page_count(
            PageType::DATA_PAGE,
            Encoding::RLE_DICTIONARY,
            of_codes,
        ));
    }
    if of_codes < count {
        counted.push(page_count(PageType::DATA_PAGE, Encoding::PLAIN, count - of_codes));
    }
    let metadata = ColumnChunkMetaData::builder(column.clone())
        .set_compression(codec.codec())
        .set_encodings(encodings)
        .set_page_encoding_stats(counted)
        .set_num_values(rows as i64)
        .set_total_compressed_size(compressed as i64)
        .set_total_uncompressed_size(uncompressed as i64)
        .set_dictionary_page_offset(has_dictionary.then_some(0))
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
            column_index: Some(column_index.build()?),
            offset_index: Some(offset_index.build()),
        },
    })
}

fn page_count(page_type: PageType, encoding: Encoding, pages: usize) -> PageEncodingStats {
    PageEncodingStats {
        page_type,
        encoding,
        count: pages as i32,
    }
}

/// Whether the bounds of pages, which those of NULLs alone have none of, rise or fall.
fn boundary_order<'a>(bounds: impl Iterator<Item = &'a (Bound, Bound)> + Clone) -> BoundaryOrder {
    let pairs = || bounds.clone().zip(bounds.clone().skip(1));
    match () {
        () if pairs().all(|(a, b)| a.0 <= b.0 && a.1 <= b.1) => BoundaryOrder::ASCENDING,
        () if pairs().all(|(a, b)| a.0 >= b.0 && a.1 >= b.1) => BoundaryOrder::DESCENDING,
        () => BoundaryOrder::UNORDERED,
    }
}

fn statistics(column: &ColumnDescPtr, range: Option<(Bound, Bound)>, nulls: u64) -> Statistics {
    let (min, max) = range.unzip();
    let nulls = Some(nulls);
    let integer = |bound: Option<Bound>| match bound {
        Some(Bound::Integer(value)) => Some(value),
        Some(Bound::Text(_)) | None => None,
    };
    match column.physical_type() {
        Physical::INT32 => {
            let short = |bound| integer(bound).map(|value| value as i32);
            Statistics::Int32(ValueStatistics::new(short(min), short(max), None, nulls, true))
        }
        Physical::INT64 => Statistics::Int64(ValueStatistics::new(
            integer(min),
            integer(max),
            None,
            nulls,
            true,
        )),
        _ => {
            let min = min.map(|min| shortened(min, column));
            let max = max.map(|max| lengthened(max, column));
            let exact = |bound: &Option<(Vec<u8>, bool)>| bound.as_ref().is_none_or(|bound| bound.1);
            let (min_is_exact, max_is_exact) = (exact(&min), exact(&max));
            let bytes = |bound: Option<(Vec<u8>, bool)>| bound.map(|bound| ByteArray::from(bound.0));
            let statistics = ValueStatistics::new(bytes(min), bytes(max), None, nulls, false);
            let statistics = statistics
                .with_min_is_exact(min_is_exact)
                .with_max_is_exact(max_is_exact);
            Statistics::ByteArray(statistics)
        }
    }
}

/// The bytes of a least value, and whether they are all: of a long text a beginning is less still.
fn shortened(bound: Bound, column: &ColumnDescPtr) -> (Vec<u8>, bool) {
    match bound {
        Bound::Integer(value) => (integer_bytes(value, column), true),
        Bound::Text(text) if text.len() <= BOUND_BYTES => (text, true),
        Bound::Text(text) => {
            let end = beginning(&text);
            (text[..end].to_vec(), false)
        }
    }
}

/// The bytes of a greatest value, and whether it is just these: of a long text, a beginning whose last character is the next one.
fn lengthened(bound: Bound, column: &ColumnDescPtr) -> (Vec<u8>, bool) {
    let text = match bound {
        Bound::Integer(value) => return (integer_bytes(value, column), true),
        Bound::Text(text) if text.len() <= BOUND_BYTES => return (text, true),
        Bound::Text(text) => text,
    };
    let start = String::from_utf8_lossy(&text[..beginning(&text)]);
    for (at, last) in start.char_indices().rev() {
        let next = char::from_u32(last as u32 + 1).filter(|next| next.len_utf8() == last.len_utf8());
        if let Some(next) = next {
            let mut greater = start[..at].to_owned();
            greater.push(next);
            return (greater.into_bytes(), false);
        }
    }
    (text, true)
}

/// Where the last character ends that lies within the first [`BOUND_BYTES`] of a longer text.
fn beginning(text: &[u8]) -> usize {
    let is_start = |&at: &usize| text[at] & 0xc0 != 0x80;
    (0..=BOUND_BYTES).rev().find(is_start).unwrap_or(0)
}

fn integer_bytes(value: i64, column: &ColumnDescPtr) -> Vec<u8> {
    match column.physical_type() {
        Physical::INT32 => (value as i32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    }
}
