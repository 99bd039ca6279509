//! Writing rows into a file: what there is to say of it, and the writer of each form.

use crate::batch_writer::{BatchWriter, Destination};
use crate::compression::Compression;
use crate::csv_reader::CsvOptions;
use crate::csv_writer::CsvWriter;
use crate::file_output::FileOutput;
use crate::json_writer::JsonWriter;
use crate::parquet_writer::ParquetWriter;
use crate::part_file::PartFile;
use crate::pgcopy_writer::PgcopyWriter;
use frazil_types::{Error, Result, Schema};

/// What a file holds.
#[derive(Clone, Debug)]
pub enum Form {
    /// Values with a delimiter between them.
    Csv(CsvOptions, Compression),
    /// Objects of JSON: an array of them, or one a line.
    Json {
        /// Whether they are in an array.
        array: bool,
        /// Of the whole file.
        compression: Compression,
    },
    /// Parquet.
    Parquet {
        /// Of its pages.
        compression: Compression,
        /// Most rows of a row group.
        row_group_rows: usize,
    },
    /// PostgreSQL's binary form of COPY.
    Pgcopy(Compression),
}

/// A writer of rows of these columns. 0A000 for a form or compression that does not fit.
pub fn writer<'a>(
    to: Destination<'_, 'a>,
    schema: &Schema,
    form: &Form,
) -> Result<Box<dyn BatchWriter + 'a>> {
    match form {
        Form::Csv(options, compression) => {
            let output = FileOutput::new(to, *compression)?;
            Ok(Box::new(CsvWriter::new(output, schema, options.clone())?))
        }
        Form::Json { array, compression } => {
            let output = FileOutput::new(to, *compression)?;
            Ok(Box::new(JsonWriter::new(output, schema, *array)))
        }
        Form::Pgcopy(compression) => {
            let output = FileOutput::new(to, *compression)?;
            Ok(Box::new(PgcopyWriter::new(output)))
        }
        Form::Parquet {
            compression,
            row_group_rows,
        } => match to {
            Destination::File(path, cancel) => {
                let file = PartFile::create(path, cancel)?;
                let writer = ParquetWriter::create(path, file, schema, *compression, *row_group_rows)?;
                Ok(Box::new(writer))
            }
            Destination::Stream(_) => Err(Error::unsupported("Parquet without a file")
                .with_hint("name a file, or choose FORMAT csv or json")),
        },
    }
}
