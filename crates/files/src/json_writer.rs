//! Rows → JSON: an object a row, in an array or a line each. Numbers keep all their digits; NaN and infinities are
//! strings, because JSON has no numbers for them.

use crate::batch_writer::{BatchWriter, push_text};
use crate::file_output::FileOutput;
use crate::json_arrays::push_array;
use frazil_types::{ColumnVector, LogicalType, NativeType, Result, RowBatch, Schema};

/// Bytes of text that are handed on at once.
const PIECE_BYTES: usize = 1 << 16;

/// Writes rows as they come.
pub struct JsonWriter<'a> {
    output: FileOutput<'a>,
    /// `"name":` of each column.
    names: Vec<String>,
    is_array: bool,
    is_first: bool,
    /// Text that is not handed on yet.
    text: String,
    /// The text of one value.
    value: String,
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
            text: String::with_capacity(2 * PIECE_BYTES),
            value: String::new(),
        }
    }

    fn push_value(&mut self, column: &ColumnVector, row: usize) -> Result<()> {
        if column.is_null(row) {
            self.text.push_str("null");
            return Ok(());
        }
        self.value.clear();
        push_text(&mut self.value, column, row);
        let ty = column.ty();
        if matches!(ty, LogicalType::Json | LogicalType::Jsonb) {
            // Between tokens a blank is as good as the end of a line, and strings hold none.
            self.text.push_str(&self.value.replace(['\n', '\r'], " "));
            return Ok(());
        }
        if let Some(element) = ty.element() {
            return push_array(&mut self.text, column.string(row), element, &self.value);
        }
        let is_finite = ty.native() != NativeType::F64 || column.values::<f64>()[row].is_finite();
        push_scalar(&mut self.text, &self.value, ty, is_finite);
        Ok(())
    }

    fn push_rows(&mut self, batch: &RowBatch) -> Result<()> {
        for row in 0..batch.rows {
            self.text.push_str(match (self.is_array, self.is_first) {
                (true, true) => "[\n{",
                (true, false) => ",\n{",
                (false, _) => "{",
            });
            self.is_first = false;
            for (i, column) in batch.columns.iter().enumerate() {
                if i > 0 {
                    self.text.push(',');
                }
                self.text.push_str(&self.names[i]);
                self.push_value(column, row)?;
            }
            self.text.push_str(if self.is_array { "}" } else { "}\n" });
            if self.text.len() >= PIECE_BYTES {
                self.hand_on()?;
            }
        }
        Ok(())
    }

    fn hand_on(&mut self) -> Result<()> {
        self.output.write(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}

impl BatchWriter for JsonWriter<'_> {
    fn write(&mut self, batches: &[RowBatch], _threads: usize) -> Result<()> {
        batches.iter().try_for_each(|batch| self.push_rows(batch))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.text.push_str(match (self.is_array, self.is_first) {
            (true, true) => "[]\n",
            (true, false) => "\n]\n",
            (false, _) => "",
        });
        self.hand_on()?;
        self.output.finish()
    }
}

/// Appends a value that is not NULL and no array, by its text; a number that is not finite is a string.
pub(crate) fn push_scalar(out: &mut String, text: &str, ty: LogicalType, is_finite: bool) {
    match ty {
        LogicalType::Boolean => out.push_str(if text == "t" { "true" } else { "false" }),
        ty if ty.is_numeric() && is_finite => out.push_str(text),
        _ => push_string(out, text),
    }
}

/// Appends a string.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push_str(&quoted(text));
}

fn quoted(text: &str) -> String {
    // A string always has a JSON form.
    serde_json::to_string(text).unwrap_or_default()
}
