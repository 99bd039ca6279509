//! Rows → JSON: an object a row, in an array or a line each. Numbers keep all their digits; NaN and infinities are
//! strings, because JSON has no numbers for them.

use crate::batch_writer::{BatchWriter, pieces, push_text};
use crate::file_output::FileOutput;
use crate::in_order::in_order;
use crate::json_arrays::push_array;
use crate::json_text::{push_scalar, push_string};
use frazil_types::{ColumnVector, Error, NativeType, Result, RowBatch, Schema, Texts};
use std::ops::Range;

/// Bytes of text that a piece takes, by estimate.
const PIECE_BYTES: usize = 1 << 17;
/// Rows that a thread writes at once.
const PIECE_ROWS: usize = 1024;

/// Writes rows as they come.
pub struct JsonWriter<'a> {
    output: FileOutput<'a>,
    /// `"name":` of each column.
    names: Vec<String>,
    is_array: bool,
    is_first: bool,
}

impl<'a> JsonWriter<'a> {
    /// Begins.
    pub fn new(output: FileOutput<'a>, schema: &Schema, is_array: bool) -> JsonWriter<'a> {
        let names = schema.columns.iter().map(|c| quoted(&c.name) + ":");
        JsonWriter {
            output,
            names: names.collect(),
            is_array,
            is_first: true,
        }
    }
}

/// How the values of a column become JSON.
enum Values<'a> {
    /// Numbers, as their texts are.
    Numbers(Texts<'a>),
    /// Days and moments: texts without a mark, in quotes.
    Moments(Texts<'a>),
    /// Texts.
    Strings(&'a ColumnVector),
    /// What is looked at value by value.
    Others(&'a ColumnVector),
}

impl<'a> Values<'a> {
    fn of(column: &'a ColumnVector) -> Values<'a> {
        match Texts::of(column) {
            texts if texts.is_of_digits() && column.ty().is_numeric() => Values::Numbers(texts),
            texts if texts.is_of_digits() => Values::Moments(texts),
            Texts::Strings(column) => Values::Strings(column),
            _ => Values::Others(column),
        }
    }

    /// Appends the value of a row, which is not NULL. `scratch` is anybody's.
    fn push(&self, out: &mut Vec<u8>, row: usize, scratch: &mut String) -> Result<()> {
        match self {
            Values::Numbers(texts) => texts.push(out, row),
            Values::Moments(texts) => {
                out.push(b'"');
                texts.push(out, row);
                out.push(b'"');
            }
            Values::Strings(column) => push_string(out, column.text(row)),
            Values::Others(column) => return push_other(out, column, row, scratch),
        }
        Ok(())
    }
}

/// The JSON of a value, as COPY writes it: arrays and documents are JSON's own. Errors: XX001 for an array that is
/// damaged.
pub fn json_of(column: &ColumnVector, row: usize) -> Result<String> {
    if column.is_null(row) {
        return Ok("null".to_owned());
    }
    let mut out = Vec::new();
    push_value(&mut out, column, row, &mut String::new())?;
    String::from_utf8(out).map_err(|_| Error::internal("JSON that is not UTF-8"))
}

/// Appends the JSON of a value that is not NULL, as [`json_of`] gives it. `scratch` is anybody's.
pub(crate) fn push_value(
    out: &mut Vec<u8>,
    column: &ColumnVector,
    row: usize,
    scratch: &mut String,
) -> Result<()> {
    Values::of(column).push(out, row, scratch)
}

fn push_other(out: &mut Vec<u8>, column: &ColumnVector, row: usize, scratch: &mut String) -> Result<()> {
    scratch.clear();
    push_text(scratch, column, row);
    let ty = column.ty();
    if ty.document().is_some() {
        // Between tokens a blank is as good as the end of a line, and strings hold none.
        out.extend(scratch.bytes().map(|b| match b {
            b'\n' | b'\r' => b' ',
            b => b,
        }));
        return Ok(());
    }
    if let Some(element) = ty.element() {
        return push_array(out, column.string(row), element, scratch);
    }
    let is_finite = ty.native() != NativeType::F64 || column.values::<f64>()[row].is_finite();
    push_scalar(out, scratch, ty, is_finite);
    Ok(())
}

/// The objects of some rows of a batch; in an array each has a comma before it.
fn objects(batch: &RowBatch, rows: Range<usize>, names: &[String], is_array: bool) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(PIECE_BYTES);
    let mut scratch = String::new();
    let columns: Vec<(&ColumnVector, Values<'_>)> =
        batch.columns.iter().map(|c| (c, Values::of(c))).collect();
    let (begin, end): (&[u8], &[u8]) = match is_array {
        true => (b",\n{", b"}"),
        false => (b"{", b"}\n"),
    };
    for row in rows {
        out.extend_from_slice(begin);
        for (i, ((column, values), name)) in columns.iter().zip(names).enumerate() {
            if i > 0 {
                out.push(b',');
            }
            out.extend_from_slice(name.as_bytes());
            match column.is_null(row) {
                true => out.extend_from_slice(b"null"),
                false => values.push(&mut out, row, &mut scratch)?,
            }
        }
        out.extend_from_slice(end);
    }
    Ok(out)
}

impl BatchWriter for JsonWriter<'_> {
    fn write(&mut self, batches: &[RowBatch], threads: usize) -> Result<()> {
        let pieces: Vec<(&RowBatch, Range<usize>)> = pieces(batches, PIECE_ROWS).collect();
        let JsonWriter {
            output,
            names,
            is_array,
            is_first,
        } = self;
        let text_of = |piece: usize| {
            let (batch, rows) = &pieces[piece];
            objects(batch, rows.clone(), names, *is_array)
        };
        in_order(threads, pieces.len(), text_of, |text| {
            let text = text?;
            let first = std::mem::replace(is_first, false);
            match *is_array && first {
                true => {
                    output.write(b"[")?;
                    output.write(&text[1..])
                }
                false => output.write(&text),
            }
        })
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        match (self.is_array, self.is_first) {
            (true, true) => self.output.write(b"[]\n")?,
            (true, false) => self.output.write(b"\n]\n")?,
            (false, _) => {}
        }
        self.output.finish()
    }
}

fn quoted(text: &str) -> String {
    // A string always has a JSON form.
    serde_json::to_string(text).unwrap_or_default()
}
