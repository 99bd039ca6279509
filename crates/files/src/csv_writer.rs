//! Rows → CSV and PostgreSQL's text format, with escapes or quoted as PostgreSQL's COPY does: a field in which a mark
//! or a line break stands, and one that reads as NULL.

use crate::batch_writer::{BatchWriter, pieces};
use crate::csv_reader::{CsvOptions, Header, Records};
use crate::file_output::FileOutput;
use crate::in_order::in_order;
use crate::text_splitter::push_escaped;
use frazil_types::{ColumnVector, Result, RowBatch, Schema, Texts};
use std::ops::Range;

/// Bytes of text that are handed on at once.
const PIECE_BYTES: usize = 1 << 16;
/// Rows that a thread writes at once.
const PIECE_ROWS: usize = 2048;

/// Writes rows as they come.
pub struct CsvWriter<'a> {
    output: FileOutput<'a>,
    options: CsvOptions,
    /// Text that is not handed on yet.
    text: Vec<u8>,
}

impl<'a> CsvWriter<'a> {
    /// Begins, with the header if one is wanted.
    pub fn new(output: FileOutput<'a>, schema: &Schema, options: CsvOptions) -> Result<CsvWriter<'a>> {
        let mut text = Vec::with_capacity(2 * PIECE_BYTES);
        if options.header != Header::Absent {
            for (i, column) in schema.columns.iter().enumerate() {
                if i > 0 {
                    text.push(options.delimiter);
                }
                push_field(&mut text, column.name.as_bytes(), false, &options);
            }
            text.push(b'\n');
        }
        Ok(CsvWriter {
            output,
            options,
            text,
        })
    }

    fn hand_on(&mut self) -> Result<()> {
        self.output.write(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

/// Appends a field, in quotes where it needs them or `always`; in the text format with escapes.
fn push_field(out: &mut Vec<u8>, field: &[u8], always: bool, options: &CsvOptions) {
    if options.records == Records::Escaped {
        push_escaped(out, field, options.delimiter);
        return;
    }
    let CsvOptions {
        delimiter,
        quote,
        escape,
        null,
        ..
    } = options;
    // Without a branch, so that it is a loop over vectors.
    let is_mark = |b: u8| (b == *delimiter) | (b == *quote) | (b == b'\n') | (b == b'\r');
    let has_mark = field.iter().fold(false, |any, &b| any | is_mark(b));
    if !always && !has_mark && field != null.as_bytes() && field != b"\\." {
        out.extend_from_slice(field);
        return;
    }
    out.push(*quote);
    for &b in field {
        if b == *quote || b == *escape {
            out.push(*escape);
        }
        out.push(b);
    }
    out.push(*quote);
}

/// True if numbers, dates with BC, times and infinities need no quotes: none of their characters is a mark.
fn marks_no_digits(options: &CsvOptions) -> bool {
    let is_apart = |b: u8| !b.is_ascii_digit() && !b"+-.: inftyBC".contains(&b);
    if options.records == Records::Escaped {
        return is_apart(options.delimiter);
    }
    let null = options.null.bytes();
    is_apart(options.delimiter) && is_apart(options.quote) && { null }.all(is_apart)
}

/// Appends some rows of a batch.
fn push_rows(out: &mut Vec<u8>, batch: &RowBatch, rows: Range<usize>, options: &CsvOptions) {
    let digits_are_plain = marks_no_digits(options);
    let columns = batch.columns.iter().enumerate().map(|(i, column)| {
        let texts = Texts::of(column);
        let always = options.force_quote.get(i).copied().unwrap_or(false);
        let is_plain = texts.is_of_digits() && digits_are_plain && !always;
        (column, texts, is_plain, always)
    });
    let columns: Vec<(&ColumnVector, Texts<'_>, bool, bool)> = columns.collect();
    let mut field = Vec::new();
    for row in rows {
        for (i, (column, texts, is_plain, always)) in columns.iter().enumerate() {
            if i > 0 {
                out.push(options.delimiter);
            }
            if column.is_null(row) {
                out.extend_from_slice(options.null.as_bytes());
            } else if *is_plain {
                texts.push(out, row);
            } else if let Texts::Strings(strings) = texts {
                push_field(out, strings.string(row), *always, options);
            } else {
                field.clear();
                texts.push(&mut field, row);
                push_field(out, &field, *always, options);
            }
        }
        out.push(b'\n');
    }
}

impl BatchWriter for CsvWriter<'_> {
    fn write(&mut self, batches: &[RowBatch], threads: usize) -> Result<()> {
        self.hand_on()?;
        let pieces: Vec<(&RowBatch, Range<usize>)> = pieces(batches, PIECE_ROWS).collect();
        let (options, output) = (&self.options, &mut self.output);
        if threads <= 1 {
            for (batch, rows) in pieces {
                push_rows(&mut self.text, batch, rows, options);
                output.write(&self.text)?;
                self.text.clear();
            }
            return Ok(());
        }
        let text_of = |piece: usize| {
            let (batch, rows) = &pieces[piece];
            let mut text = Vec::with_capacity(2 * PIECE_BYTES);
            push_rows(&mut text, batch, rows.clone(), options);
            text
        };
        in_order(threads, pieces.len(), text_of, |text| output.write(&text))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.hand_on()?;
        self.output.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{LogicalType, Value};

    #[test]
    fn an_infinite_day_that_reads_as_null_is_quoted() {
        let days = [i32::MAX, i32::MIN, 0].map(|day| Value::Int(day.into()));
        let batch = RowBatch {
            columns: vec![ColumnVector::from_values(LogicalType::Date, &days)],
            rows: 3,
        };
        let options = CsvOptions {
            null: "infinity".to_owned(),
            ..CsvOptions::default()
        };
        let mut out = Vec::new();
        push_rows(&mut out, &batch, 0..3, &options);
        assert_eq!(out, b"\"infinity\"\n-infinity\n1970-01-01\n");
    }
}
