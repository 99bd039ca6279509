//! Rows → Parquet. Row groups are written as soon as they are full.

use crate::arrow_types::UUID_BYTES;
use crate::batch_writer::BatchWriter;
use crate::compression::Compression;
use crate::file_output::write_error;
use crate::in_order::in_order;
use crate::page_codec::{PageCodec, codec_of};
use crate::parquet_chunk::{Chunk, ChunkWriter};
use crate::parquet_intervals;
use crate::part_file::PartFile;
use crate::to_arrow::{ArrowForm, array_of, arrow_schema, in_column};
use arrow_array::Array;
use arrow_schema::SchemaRef;
use frazil_types::{Error, LogicalType, NativeType, Result, RowBatch, Schema};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriter, ArrowWriterOptions,
    compute_leaves,
};
use parquet::basic::{Compression as Codec, LogicalType as ParquetType, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type};
use std::collections::HashSet;
use std::hash::Hash;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows at the beginning by which it is decided how columns are encoded: they wait until they are so many.
const SAMPLE_ROWS: usize = 1 << 16;
/// A column with fewer values than one for so many rows has a dictionary.
const ROWS_PER_FEW: usize = 32;
/// One with more than one for so many rows has none: it would grow too long to be kept.
const ROWS_PER_VALUE: usize = 3;

/// Writes rows as they come.
pub struct ParquetWriter {
    path: PathBuf,
    schema: SchemaRef,
    columns: SchemaDescriptor,
    codec: Codec,
    row_group_rows: usize,
    file: State,
}

/// How far the file is.
enum State {
    /// Nothing is written: rows will tell how they are best encoded.
    Begun(PartFile),
    Open(Box<OpenFile>),
    Failed,
}

/// A file whose beginning is written.
struct OpenFile {
    file: SerializedFileWriter<PartFile>,
    factory: ArrowRowGroupWriterFactory,
    /// For each column, what encodes it if that is done here.
    own: Vec<Option<Mutex<ChunkWriter>>>,
    groups: usize,
    group: Option<Group>,
}

/// A row group that is being encoded.
struct Group {
    columns: Vec<Mutex<Option<ArrowColumnWriter>>>,
    rows: usize,
}

/// What a row group has of a column.
enum Encoded {
    Here(Box<Chunk>),
    ByCrate(Box<ArrowColumnChunk>),
}

/// Some rows of a batch.
type Rows<'a> = (&'a RowBatch, Range<usize>);

/// What the crate that knows the format says.
type Outcome<T> = std::result::Result<T, ParquetError>;

impl ParquetWriter {
    /// Begins a file; `path` is what errors call it.
    pub fn create(
        path: &Path,
        file: PartFile,
        schema: &Schema,
        compression: Compression,
        rows: usize,
    ) -> Result<ParquetWriter> {
        let Some(codec) = codec_of(compression) else {
            return Err(Error::unsupported("gzip in Parquet").with_hint("choose snappy, zstd, lz4 or none"));
        };
        let arrow = Arc::new(parquet_intervals::written_schema(&arrow_schema(schema)));
        let columns = parquet_schema(schema, &arrow).map_err(|e| failed(path, &e))?;
        Ok(ParquetWriter {
            path: path.to_path_buf(),
            schema: arrow,
            columns,
            codec,
            row_group_rows: rows.max(1),
            file: State::Begun(file),
        })
    }

    /// The file, whose columns are encoded as suits the first rows.
    fn opened(&mut self, first: &[RowBatch]) -> Result<&mut OpenFile> {
        if let State::Begun(_) = &self.file {
            let State::Begun(file) = std::mem::replace(&mut self.file, State::Failed) else {
                return Err(Error::internal("a file of Parquet is open already"));
            };
            let mut own = Vec::new();
            let mut properties = WriterProperties::builder()
                .set_compression(self.codec)
                .set_created_by(format!("Frazil version {}", env!("CARGO_PKG_VERSION")));
            for (at, field) in self.schema.fields().iter().enumerate() {
                let is_flat = !field.data_type().is_nested();
                let dictionary = !is_flat || first.is_empty() || repeats(first, at);
                if !dictionary {
                    let path = ColumnPath::from(vec![field.name().clone()]);
                    properties = properties.set_column_dictionary_enabled(path, false);
                }
                // The leaves of columns that are not nested stand behind those of the columns before them.
                let leaf = (0..self.columns.num_columns())
                    .find(|&leaf| self.columns.get_column_root_idx(leaf) == at);
                let chunks = match (first.first(), leaf) {
                    (Some(batch), Some(leaf)) if is_flat => {
                        let codec = PageCodec::new(self.codec).map_err(|e| failed(&self.path, &e))?;
                        let ty = batch.columns[at].ty();
                        ChunkWriter::new(&self.columns.column(leaf), ty, dictionary, codec)
                    }
                    _ => None,
                };
                own.push(chunks.map(Mutex::new));
            }
            let options = ArrowWriterOptions::new()
                .with_properties(properties.build())
                .with_parquet_schema(self.columns.clone());
            let writer = ArrowWriter::try_new_with_options(file, self.schema.clone(), options);
            let parts = writer.and_then(ArrowWriter::into_serialized_writer);
            let (file, factory) = parts.map_err(|e| failed(&self.path, &e))?;
            self.file = State::Open(Box::new(OpenFile {
                file,
                factory,
                own,
                groups: 0,
                group: None,
            }));
        }
        match &mut self.file {
            State::Open(open) => Ok(open),
            State::Begun(_) | State::Failed => Err(Error::internal("a file of Parquet is not open")),
        }
    }
}

/// Whether a column's first values occur often enough for a dictionary: there are few, or there are not many and new
/// ones become rare.
fn repeats(first: &[RowBatch], at: usize) -> bool {
    let rows = first
        .iter()
        .map(|batch| batch.rows)
        .sum::<usize>()
        .min(SAMPLE_ROWS);
    fn seen<'a, T: Eq + Hash>(
        first: &'a [RowBatch],
        rows: usize,
        values: impl Fn(&'a RowBatch) -> Box<dyn Iterator<Item = T> + 'a>,
    ) -> bool {
        let mut known = HashSet::new();
        let mut of_half = 0;
        for (row, value) in first.iter().flat_map(values).take(rows).enumerate() {
            if row == rows / 2 {
                of_half = known.len();
            }
            known.insert(value);
        }
        let all = known.len();
        all <= rows / ROWS_PER_FEW + 1 || all <= rows / ROWS_PER_VALUE && all - of_half <= of_half / 2
    }
    match first.first().map(|batch| batch.columns[at].native()) {
        None | Some(NativeType::Bool) => true,
        Some(NativeType::I16) => seen(first, rows, |b| Box::new(b.columns[at].values::<i16>().iter())),
        Some(NativeType::I32) => seen(first, rows, |b| Box::new(b.columns[at].values::<i32>().iter())),
        Some(NativeType::I64) => seen(first, rows, |b| Box::new(b.columns[at].values::<i64>().iter())),
        Some(NativeType::I128) => seen(first, rows, |b| Box::new(b.columns[at].values::<i128>().iter())),
        Some(NativeType::F64) => seen(first, rows, |b| {
            Box::new(b.columns[at].values::<f64>().iter().map(|v| v.to_bits()))
        }),
        Some(NativeType::String) => seen(first, rows, |b| {
            let strings = b.columns[at].strings();
            Box::new((0..b.rows).map(move |row| strings.bytes(row)))
        }),
    }
}

impl OpenFile {
    /// Encodes rows into the row group, a column on a thread.
    fn encode(&mut self, rows: &[Rows<'_>], schema: &SchemaRef, threads: usize) -> Outcome<()> {
        let group = match &mut self.group {
            Some(group) => group,
            None => {
                let columns = self.factory.create_column_writers(self.groups)?;
                self.group.insert(Group {
                    columns: columns
                        .into_iter()
                        .map(|column| Mutex::new(Some(column)))
                        .collect(),
                    rows: 0,
                })
            }
        };
        group.rows += rows.iter().map(|(_, range)| range.len()).sum::<usize>();
        let order = texts_first(rows);
        let (columns, own) = (&group.columns, &self.own);
        let encode = |at: usize| -> Outcome<()> {
            let at = order[at];
            if let Some(own) = &own[at] {
                let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
                let mut rows = rows.iter();
                return rows.try_for_each(|(batch, range)| own.write(&batch.columns[at], range.clone()));
            }
            let mut column = columns[at].lock().unwrap_or_else(PoisonError::into_inner);
            let column = column.as_mut().ok_or_else(|| gone("a column"))?;
            for (batch, range) in rows {
                let array = array_of(&batch.columns[at], ArrowForm::STREAMED);
                let array = array.and_then(|array| parquet_intervals::written(&array));
                let array = array.map_err(|e| ParquetError::External(Box::new(in_column(e, schema, at))))?;
                let field = schema.field(at);
                let array = match range.len() == batch.rows {
                    true => array,
                    false => array.slice(range.start, range.len()),
                };
                for leaf in compute_leaves(field, &array)? {
                    column.write(&leaf)?;
                }
            }
            Ok(())
        };
        in_order(threads, columns.len(), encode, |done| done)
    }

    /// Writes the row group that was encoded.
    fn close_group(&mut self, threads: usize) -> Outcome<()> {
        let Some(group) = self.group.take() else {
            return Ok(());
        };
        self.groups += 1;
        let close = |at: usize| -> Outcome<Encoded> {
            if let Some(own) = &self.own[at] {
                let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
                return Ok(Encoded::Here(Box::new(own.close()?)));
            }
            let column = group.columns[at]
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let chunk = column.ok_or_else(|| gone("a column"))?.close()?;
            Ok(Encoded::ByCrate(Box::new(chunk)))
        };
        let mut written = self.file.next_row_group()?;
        in_order(threads, group.columns.len(), close, |chunk| match chunk? {
            Encoded::Here(chunk) => {
                let Chunk { bytes, close } = *chunk;
                written.append_column(&bytes, close)
            }
            Encoded::ByCrate(chunk) => chunk.append_to_row_group(&mut written),
        })?;
        written.close()?;
        Ok(())
    }
}

/// The positions of columns, those first that take longest.
fn texts_first(rows: &[Rows<'_>]) -> Vec<usize> {
    let columns = rows.first().map_or(&[][..], |(batch, _)| &batch.columns[..]);
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|&at| columns[at].native() != NativeType::String);
    order
}

fn gone(what: &str) -> ParquetError {
    ParquetError::General(format!("{what} of the row group is written already"))
}

/// The schema of the file. A uuid is marked as one, so that other readers take it for more than sixteen bytes, and an
/// interval for more than twelve.
fn parquet_schema(
    schema: &Schema,
    arrow: &arrow_schema::Schema,
) -> std::result::Result<SchemaDescriptor, ParquetError> {
    let plain = ArrowSchemaConverter::new().convert(arrow)?;
    let root = plain.root_schema();
    let fields = root.get_fields().iter().zip(&schema.columns);
    let fields = fields.map(|(field, column)| match column.ty {
        LogicalType::Uuid => {
            let uuid = Type::primitive_type_builder(field.name(), PhysicalType::FIXED_LEN_BYTE_ARRAY)
                .with_length(UUID_BYTES)
                .with_repetition(field.get_basic_info().repetition())
                .with_logical_type(Some(ParquetType::Uuid));
            uuid.build().map(Arc::new)
        }
        LogicalType::Jsonb => {
            let document = Type::primitive_type_builder(field.name(), PhysicalType::BYTE_ARRAY)
                .with_repetition(field.get_basic_info().repetition())
                .with_logical_type(Some(ParquetType::Json));
            document.build().map(Arc::new)
        }
        ty if ty.element().unwrap_or(ty).is_span() => parquet_intervals::marked(field),
        _ => Ok(field.clone()),
    });
    let fields = fields.collect::<std::result::Result<Vec<_>, _>>()?;
    let root = Type::group_type_builder(root.name())
        .with_fields(fields)
        .build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

fn failed(path: &Path, error: &ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match (inner.downcast_ref::<Error>(), inner.downcast_ref()) {
            (Some(own), _) => own.clone(),
            (None, Some(io)) => write_error(Some(path), io),
            (None, None) => write_error(Some(path), &std::io::Error::other(inner.to_string())),
        },
        other => write_error(Some(path), &std::io::Error::other(other.to_string())),
    }
}

impl BatchWriter for ParquetWriter {
    fn write(&mut self, batches: &[RowBatch], threads: usize) -> Result<()> {
        let (path, schema, most) = (self.path.clone(), self.schema.clone(), self.row_group_rows);
        let open = self.opened(batches)?;
        let mut write = || -> Outcome<()> {
            let mut waiting: Vec<Rows<'_>> = Vec::new();
            let mut rows = open.group.as_ref().map_or(0, |group| group.rows);
            for batch in batches {
                let mut start = 0;
                while start < batch.rows {
                    let end = batch.rows.min(start + (most - rows));
                    waiting.push((batch, start..end));
                    rows += end - start;
                    start = end;
                    if rows == most {
                        open.encode(&std::mem::take(&mut waiting), &schema, threads)?;
                        open.close_group(threads)?;
                        rows = 0;
                    }
                }
            }
            match waiting.is_empty() {
                true => Ok(()),
                false => open.encode(&waiting, &schema, threads),
            }
        };
        write().map_err(|e| failed(&path, &e))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.opened(&[])?;
        let ParquetWriter { path, file, .. } = *self;
        let State::Open(mut open) = file else {
            return Err(Error::internal("a file of Parquet is not open"));
        };
        let written = open.close_group(1).and_then(|()| open.file.into_inner());
        written.map_err(|e| failed(&path, &e))?.keep()
    }
}
