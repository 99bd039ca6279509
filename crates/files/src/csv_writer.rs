//! Rows → CSV, quoted as PostgreSQL's COPY quotes: a field in which a mark or a line break stands, and one that reads as
//! NULL.

use crate::batch_writer::{BatchWriter, push_text};
use crate::csv_reader::{CsvOptions, Header};
use crate::file_output::FileOutput;
use frazil_types::{Result, RowBatch, Schema};

/// Bytes of text that are handed on at once.
const PIECE_BYTES: usize = 1 << 16;

/// Writes rows as they come.
pub struct CsvWriter<'a> {
    output: FileOutput<'a>,
    options: CsvOptions,
    /// Text that is not handed on yet.
    text: String,
    /// The text of one field.
    field: String,
}

impl<'a> CsvWriter<'a> {
    /// Begins, with the header if one is wanted.
    pub fn new(output: FileOutput<'a>, schema: &Schema, options: CsvOptions) -> Result<CsvWriter<'a>> {
        let mut writer = CsvWriter {
            output,
            options,
            text: String::with_capacity(2 * PIECE_BYTES),
            field: String::new(),
        };
        if writer.options.header != Header::Absent {
            for (i, column) in schema.columns.iter().enumerate() {
                writer.separate(i);
                writer.field.clear();
                writer.field.push_str(&column.name);
                writer.push_field();
            }
            writer.text.push('\n');
        }
        Ok(writer)
    }

    fn separate(&mut self, column: usize) {
        if column > 0 {
            self.text.push(char::from(self.options.delimiter));
        }
    }

    fn push_field(&mut self) {
        let CsvOptions {
            delimiter,
            quote,
            escape,
            null,
            ..
        } = &self.options;
        let is_mark = |b: u8| b == *delimiter || b == *quote || matches!(b, b'\n' | b'\r');
        let needs_quotes = self.field == *null || self.field == "\\." || self.field.bytes().any(is_mark);
        if !needs_quotes {
            self.text.push_str(&self.field);
            return;
        }
        let (quote, escape) = (char::from(*quote), char::from(*escape));
        self.text.push(quote);
        for c in self.field.chars() {
            if c == quote || c == escape {
                self.text.push(escape);
            }
            self.text.push(c);
        }
        self.text.push(quote);
    }

    fn hand_on(&mut self) -> Result<()> {
        self.output.write(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}

impl BatchWriter for CsvWriter<'_> {
    fn write(&mut self, batch: &RowBatch) -> Result<()> {
        for row in 0..batch.rows {
            for (i, column) in batch.columns.iter().enumerate() {
                self.separate(i);
                match column.is_null(row) {
                    true => self.text.push_str(&self.options.null),
                    false => {
                        self.field.clear();
                        push_text(&mut self.field, column, row);
                        self.push_field();
                    }
                }
            }
            self.text.push('\n');
            if self.text.len() >= PIECE_BYTES {
                self.hand_on()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.hand_on()?;
        self.output.finish()
    }
}
