//! Rows as DataRow messages, while they are computed.

use crate::catalog_vectors;
use crate::output::Output;
use crate::parameters::{Format, Formats};
use frazil::{Error, LogicalType, Result, RowBatch, RowSink, Schema, SqlState};
use frazil_types::sql_type::{send_sized, too_long};
use frazil_types::{ColumnVector, Value};
use std::fmt::Write;
use std::sync::Arc;

/// The treatment of columns when rows begin.
pub enum Heading<'a> {
    /// RowDescription is sent: the simple protocol.
    Sent,
    /// Nothing is sent; the columns must have the types that were described.
    Known(Option<&'a Schema>),
}

/// Sends rows to a client.
pub struct RowSender<'a> {
    /// The way to the client.
    pub output: &'a mut Output,
    /// The treatment of the columns.
    pub heading: Heading<'a>,
    /// The formats of the columns.
    pub formats: &'a Formats,
    /// The types of the columns.
    types: Vec<LogicalType>,
    /// True for columns that are vectors of `pg_catalog`.
    vectors: Vec<bool>,
    scratch: String,
}

impl<'a> RowSender<'a> {
    /// Sends rows in these formats.
    pub fn new(output: &'a mut Output, heading: Heading<'a>, formats: &'a Formats) -> RowSender<'a> {
        RowSender {
            output,
            heading,
            formats,
            types: Vec::new(),
            vectors: Vec::new(),
            scratch: String::new(),
        }
    }

    /// Sends a part of a batch.
    pub fn part(&mut self, batch: &RowBatch, rows: std::ops::Range<usize>) -> Result<()> {
        for row in rows {
            let start = self.output.answers.len();
            if let Err(error) = self.row(&batch.columns, row) {
                // The error takes the place of the row.
                self.output.answers.truncate(start);
                return Err(error);
            }
            self.output.send_if_full()?;
        }
        Ok(())
    }

    fn row(&mut self, columns: &[ColumnVector], row: usize) -> Result<()> {
        let at = self.output.answers.begin(b'D');
        let out = self.output.answers.content();
        out.extend((columns.len() as u16).to_be_bytes());
        for (column, values) in columns.iter().enumerate() {
            let (value, ty) = (values.value(row), self.types[column]);
            match self.formats.of(column) {
                Format::Binary => send_sized(out, &value, ty)?,
                Format::Text if self.vectors[column] && value != Value::Null => {
                    let text = catalog_vectors::from_array(&value.display(ty).to_string());
                    text_sized(out, &Value::Text(text), ty, &mut self.scratch)?;
                }
                Format::Text => text_sized(out, &value, ty, &mut self.scratch)?,
            }
        }
        if out.len() - at > i32::MAX as usize {
            return Err(too_long());
        }
        self.output.answers.end(at);
        Ok(())
    }
}

/// Appends the text of a value behind its length; -1 for NULL.
fn text_sized(out: &mut Vec<u8>, value: &Value, ty: LogicalType, scratch: &mut String) -> Result<()> {
    let text = match value {
        Value::Null => {
            out.extend((-1i32).to_be_bytes());
            return Ok(());
        }
        Value::Text(text) => text.as_str(),
        other => {
            scratch.clear();
            write!(scratch, "{}", other.display(ty))
                .map_err(|_| Error::internal("a value without a text"))?;
            scratch.as_str()
        }
    };
    let length = i32::try_from(text.len()).map_err(|_| too_long())?;
    out.extend(length.to_be_bytes());
    out.extend(text.as_bytes());
    Ok(())
}

impl RowSink for RowSender<'_> {
    fn begin(&mut self, schema: &Arc<Schema>) -> Result<()> {
        self.formats.check(schema.columns.len())?;
        self.types = schema.columns.iter().map(|column| column.ty).collect();
        let columns = 0..schema.columns.len();
        self.vectors = columns.map(|at| catalog_vectors::is_vector(schema, at)).collect();
        match self.heading {
            Heading::Sent => self.output.answers.columns(schema, |at| self.formats.of(at)),
            Heading::Known(described) => {
                let oids = |schema: &Schema| schema.columns.iter().map(|c| c.ty.oid()).collect::<Vec<_>>();
                if described.is_some_and(|described| oids(described) != oids(schema)) {
                    let message = "cached plan must not change result type";
                    return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message)
                        .with_hint("prepare the statement again: a table that it reads has changed"));
                }
            }
        }
        Ok(())
    }

    fn rows(&mut self, batch: RowBatch) -> Result<()> {
        self.part(&batch, 0..batch.rows)
    }
}
