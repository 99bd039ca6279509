//! The footer of a Parquet file, decoded, and what it says of each column: all that depends on the file alone, so that it can be kept
//! between statements (`footer_cache.rs`).

use crate::ReadLimits;
use crate::arrow_types::{is_nested, is_open, type_of};
use crate::open_file::OpenFile;
use crate::parquet_damage::bad_file;
use crate::parquet_intervals;
use crate::parquet_ranges::ParquetRanges;
use crate::parquet_statistics::{self, Known};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use frazil_types::{LogicalType, Result};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{LogicalType as ParquetType, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A column with fewer values than one for so many rows of a row group has the same ones in all, as far as is guessed.
const FEW_VALUES: u64 = 16;
/// Bytes of a dictionary in front of its values, at least.
const DICTIONARY_HEADER_BYTES: u64 = 16;
/// About how many bytes a column takes beside what the crate that knows the format counts: its Arrow field and its place in trees.
const COLUMN_BYTES: usize = 1024;

/// A decoded footer.
#[derive(Debug)]
pub struct Footer {
    /// Row groups, and types in which columns are read fastest.
    pub metadata: ArrowReaderMetadata,
    /// What it says of each column at the top of the schema.
    pub columns: Vec<ColumnFacts>,
}

/// What a footer says of a column.
#[derive(Debug)]
pub struct ColumnFacts {
    /// Its leaves: one unless it is nested; empty for a struct without fields.
    pub leaves: Range<usize>,
    /// The type that holds all its values; `None` if Frazil has none.
    pub ty: Option<LogicalType>,
    /// True for structs, maps and lists.
    is_nested: bool,
    /// True for intervals and lists of them, which are read as bytes (`parquet_intervals.rs`).
    pub is_interval: bool,
    /// True for a column of NULLs, or of lists of NULLs, whose type other files say.
    pub is_open: bool,
    /// Its NULLs in all row groups, if the statistics of each count them.
    pub nulls: Option<u64>,
    /// About how many values it has: what the longest dictionary has room for, if each row group has one and it is few beside the rows.
    pub distinct: Option<u64>,
    /// For each row group, what its statistics say of the values as of type `ty`.
    pub known: Vec<Option<Known>>,
}

impl Footer {
    /// The footer of a file. 22P04 if the file is not Parquet or is damaged.
    fn decode(path: &Path, file: &OpenFile, limits: &ReadLimits) -> Result<Footer> {
        let (metadata, intervals) = match file {
            OpenFile::Local(file, _) => decoded(path, file)?,
            OpenFile::Object(object, cancel) => {
                let end = ParquetRanges::of_end(object, cancel, &limits.budget);
                decoded(path, &end).map_err(|error| end.failure().unwrap_or(error))?
            }
        };
        let leaves = leaves_of(&metadata).into_iter().enumerate();
        let columns = leaves.map(|(root, leaves)| facts(&metadata, root, leaves, intervals[root]));
        Ok(Footer {
            columns: columns.collect(),
            metadata,
        })
    }

    /// A row group.
    pub fn row_group(&self, row_group: usize) -> &RowGroupMetaData {
        self.metadata.metadata().row_group(row_group)
    }

    /// For each row group, what its statistics say of a column whose values become `ty`.
    pub fn known_as(&self, root: usize, ty: LogicalType) -> Vec<Option<Known>> {
        known(&self.metadata, root, self.columns[root].plain_leaf(), ty)
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let known = self.columns.iter().flat_map(|column| &column.known);
        let known: usize = known
            .map(|known| size_of_val(known) + known.as_ref().map_or(0, Known::heap_bytes))
            .sum();
        self.metadata.metadata().memory_size() + self.columns.len() * COLUMN_BYTES + known
    }
}

impl ColumnFacts {
    /// The leaf of a column that is not nested: its statistics are those of the column.
    fn plain_leaf(&self) -> Option<usize> {
        (!self.is_nested).then_some(self.leaves.start)
    }
}

/// What a footer says of a column with these leaves.
fn facts(footer: &ArrowReaderMetadata, root: usize, leaves: Range<usize>, is_interval: bool) -> ColumnFacts {
    let field = footer.schema().field(root);
    let is_nested = is_nested(field.data_type()) || leaves.len() != 1;
    let leaf = (!is_nested).then_some(leaves.start);
    let ty = match leaf.is_some_and(|leaf| is_document(footer, leaf)) {
        true => Some(LogicalType::Jsonb),
        false if is_interval => type_of(&parquet_intervals::read_type(field.data_type())),
        false => type_of(field.data_type()),
    };
    let groups = footer.metadata().row_groups().iter();
    let nulls = groups.clone().try_fold(0_u64, |sum, group| {
        let nulls = match field.is_nullable() {
            true => group.column(leaf?).statistics()?.null_count_opt()?,
            false => 0,
        };
        sum.checked_add(nulls)
    });
    let distinct = groups.clone().try_fold(0, |most: u64, group| {
        let values = dictionary_values(group.column(leaf?))?;
        let is_few = values <= group.num_rows().unsigned_abs() / FEW_VALUES;
        is_few.then(|| most.max(values))
    });
    ColumnFacts {
        leaves,
        is_nested,
        is_interval,
        ty,
        is_open: is_open(field.data_type()),
        nulls,
        distinct,
        known: ty.map_or_else(
            || groups.map(|_| None).collect(),
            |ty| known(footer, root, leaf, ty),
        ),
    }
}

/// True for a leaf that the file marks as JSON: its values are read as jsonb, not as text.
fn is_document(footer: &ArrowReaderMetadata, leaf: usize) -> bool {
    let leaf = footer.metadata().file_metadata().schema_descr().column(leaf);
    leaf.logical_type_ref() == Some(&ParquetType::Json)
}

/// For each row group, what its statistics say of a column whose values become `ty`.
fn known(
    footer: &ArrowReaderMetadata,
    root: usize,
    leaf: Option<usize>,
    ty: LogicalType,
) -> Vec<Option<Known>> {
    let arrow = footer.schema().field(root).data_type();
    let known = |group: &RowGroupMetaData| parquet_statistics::known(group.column(leaf?), arrow, ty);
    footer.metadata().row_groups().iter().map(known).collect()
}

/// Opens a file: itself, and its footer, which may have been kept. 22P04 as of decoding it, and the errors of
/// [`OpenFile::open`].
pub(crate) fn opened_footer(path: &Path, limits: &ReadLimits) -> Result<(OpenFile, Arc<Footer>)> {
    let file = OpenFile::open(path, limits)?;
    let decode = || Footer::decode(path, &file, limits);
    let footer = match &limits.footers {
        Some(kept) => kept.footer(&file, decode)?,
        None => Arc::new(decode()?),
    };
    Ok((file, footer))
}

/// Metadata with types in which columns are read fastest: decimals that fit as 64 bits, texts as views, values for
/// dictionaries, old timestamps of 96 bits in microseconds, so that they reach beyond the year 2262; intervals as bytes,
/// with true for each such column.
fn decoded(path: &Path, file: &impl ChunkReader) -> Result<(ArrowReaderMetadata, Vec<bool>)> {
    let bad = |e: ParquetError| bad_file(path, &e);
    // Arrow's own schema in the file only helps: one that is damaged or too deep is left out.
    let without = || ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let footer = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())
        .or_else(|_| ArrowReaderMetadata::load(file, without()))
        .map_err(bad)?;
    let (footer, intervals) = parquet_intervals::without_marks(footer).map_err(bad)?;
    let fields = footer.schema().fields().iter().zip(leaves_of(&footer));
    let fields = fields.map(|(field, leaves)| {
        let physical =
            (leaves.len() == 1).then(|| (footer.parquet_schema().column(leaves.start)).physical_type());
        let ty = hinted(field.data_type(), physical);
        Field::new(field.name(), ty, field.is_nullable()).with_metadata(field.metadata().clone())
    });
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let options = ArrowReaderOptions::new().with_schema(schema.into());
    // A file whose columns are not to be had so is read as its writer had them.
    let hinted = ArrowReaderMetadata::try_new(footer.metadata().clone(), options);
    Ok((hinted.unwrap_or(footer), intervals))
}

/// The type in which values of a column are read fastest. `physical`: how the file has them, unless it is nested.
fn hinted(ty: &DataType, physical: Option<Physical>) -> DataType {
    match (ty, physical) {
        (DataType::Dictionary(_, values), _) => hinted(values, physical),
        (DataType::Decimal128(precision, scale), Some(Physical::INT32 | Physical::INT64))
            if *precision <= 18 =>
        {
            DataType::Decimal64(*precision, *scale)
        }
        (DataType::Utf8, Some(Physical::BYTE_ARRAY)) => DataType::Utf8View,
        (DataType::Timestamp(_, zone), Some(Physical::INT96)) => {
            DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
        }
        (ty, _) => ty.clone(),
    }
}

/// The leaves of each column at the top of a file's schema, which are side by side.
fn leaves_of(footer: &ArrowReaderMetadata) -> Vec<Range<usize>> {
    let schema = footer.parquet_schema();
    let mut of_root = vec![0..0; footer.schema().fields().len()];
    for leaf in 0..schema.num_columns() {
        if let Some(leaves) = of_root.get_mut(schema.get_column_root_idx(leaf)) {
            let first = if leaves.end == 0 { leaf } else { leaves.start };
            *leaves = first..leaf + 1;
        }
    }
    of_root
}

/// About how many values the dictionary of a column has room for; `None` if there is none.
fn dictionary_values(column: &ColumnChunkMetaData) -> Option<u64> {
    let bytes = (column.data_page_offset()).checked_sub(column.dictionary_page_offset()?)?;
    let each = match column.column_type() {
        Physical::INT32 | Physical::FLOAT => 4,
        Physical::INT64 | Physical::DOUBLE => 8,
        // A length and a byte at least.
        _ => 5,
    };
    let bytes = u64::try_from(bytes).ok()?.saturating_sub(DICTIONARY_HEADER_BYTES);
    Some((bytes / each).max(1))
}
