//! Rows as DataRow messages, while they are computed.

use crate::catalog_vectors;
use crate::client_text::{self, TextPlace};
use crate::output::Output;
use crate::parameters::{Format, Formats};
use frazil::{Error, Result, RowBatch, RowSink, Schema, SqlState};
use frazil_types::sql_type::{SentColumn, too_long};
use frazil_types::{ColumnVector, Texts};
use std::ops::Range;
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
    /// True for columns that are vectors of `pg_catalog`.
    vectors: Vec<bool>,
    /// Room for a row that is converted.
    row: Vec<u8>,
}

impl<'a> RowSender<'a> {
    /// Sends rows in these formats.
    pub fn new(output: &'a mut Output, heading: Heading<'a>, formats: &'a Formats) -> RowSender<'a> {
        RowSender {
            output,
            heading,
            formats,
            vectors: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Sends a part of a batch.
    pub fn part(&mut self, batch: &RowBatch, rows: Range<usize>) -> Result<()> {
        self.output.follow_encoding();
        let places = self.text_places(batch);
        let cells = batch.columns.iter().enumerate();
        let cells: Vec<_> = cells
            .map(|(at, column)| match self.formats.of(at) {
                Format::Binary => Cells::Binary(SentColumn::of(column)),
                Format::Text if self.vectors[at] => Cells::Vectors(column),
                Format::Text => Cells::Texts(column, Texts::of(column)),
            })
            .collect();
        for row in rows {
            let start = self.output.answers.len();
            if let Err(error) = self.row(&cells, row, places.as_deref()) {
                // The error takes the place of the row.
                self.output.answers.truncate(start);
                return Err(error);
            }
            self.output.send_if_full()?;
        }
        Ok(())
    }

    /// Returns the places of texts in the values of each column; `None` if texts are sent as they are.
    fn text_places(&self, batch: &RowBatch) -> Option<Vec<TextPlace>> {
        if !client_text::converts(self.output.answers.encoding) {
            return None;
        }
        let columns = batch.columns.iter().enumerate();
        let places = columns.map(|(at, column)| match self.formats.of(at) {
            Format::Text => TextPlace::Whole,
            Format::Binary => TextPlace::in_binary(column.ty()),
        });
        Some(places.collect())
    }

    fn row(&mut self, cells: &[Cells<'_>], row: usize, places: Option<&[TextPlace]>) -> Result<()> {
        let at = self.output.answers.begin(b'D');
        let out = self.output.answers.content();
        out.extend_from_slice(&(cells.len() as u16).to_be_bytes());
        for column in cells {
            column.push(out, row)?;
        }
        if let Some(places) = places {
            // The values are behind the length and the number of columns.
            client_text::row_to_latin1(out, at + 6, places, &mut self.row)?;
        }
        if out.len() - at > i32::MAX as usize {
            return Err(too_long());
        }
        self.output.answers.end(at);
        Ok(())
    }
}

/// The values of a column in a format.
enum Cells<'a> {
    Binary(SentColumn<'a>),
    Texts(&'a ColumnVector, Texts<'a>),
    /// Vectors of `pg_catalog` as texts.
    Vectors(&'a ColumnVector),
}

impl Cells<'_> {
    /// Appends the value of a row behind its length; -1 for NULL.
    fn push(&self, out: &mut Vec<u8>, row: usize) -> Result<()> {
        let column = match self {
            Cells::Binary(sent) => return sent.push(out, row),
            Cells::Texts(column, _) | Cells::Vectors(column) => column,
        };
        let at = out.len();
        out.extend_from_slice(&(-1i32).to_be_bytes());
        if column.is_null(row) {
            return Ok(());
        }
        match self {
            Cells::Texts(_, texts) => texts.push(out, row),
            _ => {
                let text = column.value(row).display(column.ty()).to_string();
                out.extend_from_slice(catalog_vectors::from_array(&text).as_bytes());
            }
        }
        let length = i32::try_from(out.len() - at - 4).map_err(|_| too_long())?;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }
}

impl RowSink for RowSender<'_> {
    fn begin(&mut self, schema: &Arc<Schema>) -> Result<()> {
        self.formats.check(schema.columns.len())?;
        let columns = 0..schema.columns.len();
        self.vectors = columns.map(|at| catalog_vectors::is_vector(schema, at)).collect();
        match self.heading {
            Heading::Sent => self.output.answers.columns(schema, |at| self.formats.of(at))?,
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
