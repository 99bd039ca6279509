//! Rows → Parquet. Row groups are written as soon as they are full.

use crate::batch_writer::BatchWriter;
use crate::compression::Compression;
use crate::file_output::{PartFile, write_error};
use crate::to_arrow::{UUID_BYTES, arrow_schema, record_batch};
use arrow_schema::SchemaRef;
use frazil_types::{Error, LogicalType, Result, RowBatch, Schema};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Compression as Codec, LogicalType as ParquetType, Type as PhysicalType, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{SchemaDescriptor, Type};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes rows as they come.
pub struct ParquetWriter {
    path: PathBuf,
    schema: SchemaRef,
    writer: ArrowWriter<PartFile>,
}

impl ParquetWriter {
    /// Begins a file. 0A000 for a column of intervals or of arrays of them, which few readers of Parquet have.
    pub fn create(
        path: &Path,
        schema: &Schema,
        compression: Compression,
        rows: usize,
    ) -> Result<ParquetWriter> {
        if let Some(column) = schema
            .columns
            .iter()
            .find(|c| c.ty.element().unwrap_or(c.ty).is_span())
        {
            return Err(Error::unsupported(format!(
                "a column of type {} in Parquet (\"{}\")",
                column.ty, column.name
            ))
            .with_hint("cast it to text"));
        }
        let codec = match compression {
            Compression::None => Codec::UNCOMPRESSED,
            Compression::Snappy => Codec::SNAPPY,
            Compression::Lz4 => Codec::LZ4_RAW,
            Compression::Zstd => Codec::ZSTD(ZstdLevel::default()),
            Compression::Gzip => {
                return Err(
                    Error::unsupported("gzip in Parquet").with_hint("choose snappy, zstd, lz4 or none")
                );
            }
        };
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_max_row_group_row_count(Some(rows.max(1)))
            .set_created_by(format!("Frazil {}", env!("CARGO_PKG_VERSION")))
            .build();
        let arrow = arrow_schema(schema);
        let columns = parquet_schema(schema, &arrow).map_err(|e| failed(path, &e))?;
        let options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_parquet_schema(columns);
        let file = PartFile::create(path)?;
        let writer =
            ArrowWriter::try_new_with_options(file, arrow.clone(), options).map_err(|e| failed(path, &e))?;
        Ok(ParquetWriter {
            path: path.to_path_buf(),
            schema: arrow,
            writer,
        })
    }
}

/// The schema of the file. A uuid is marked as one, so that other readers take it for more than sixteen bytes.
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
        ParquetError::External(inner) => match inner.downcast_ref::<std::io::Error>() {
            Some(io) => write_error(Some(path), io),
            None => write_error(Some(path), &std::io::Error::other(inner.to_string())),
        },
        other => write_error(Some(path), &std::io::Error::other(other.to_string())),
    }
}

impl BatchWriter for ParquetWriter {
    fn write(&mut self, batch: &RowBatch) -> Result<()> {
        let batch = record_batch(&self.schema, batch)?;
        self.writer.write(&batch).map_err(|e| failed(&self.path, &e))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let ParquetWriter { path, writer, .. } = *self;
        let file = writer.into_inner().map_err(|e| failed(&path, &e))?;
        file.keep()
    }
}
