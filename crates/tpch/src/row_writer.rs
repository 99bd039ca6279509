//! Writes rows value by value into columns.

use frazil_types::{ColumnVector, NativeType, RowBatch, Schema, StringVectorBuilder};
use std::fmt::{Display, Write};

/// A column under construction.
enum Column {
    Int(frazil_types::LogicalType, Vec<i32>),
    Long(frazil_types::LogicalType, Vec<i64>),
    Text(StringVectorBuilder),
}

/// Takes the values of a row in the order of its columns, then the next row's.
pub struct RowWriter {
    columns: Vec<Column>,
    at: usize,
    text: String,
}

impl RowWriter {
    /// A writer of rows of `schema`, about `capacity` of them.
    pub fn new(schema: &Schema, capacity: usize) -> RowWriter {
        let columns = schema.columns.iter().map(|c| match c.ty.native() {
            NativeType::I32 => Column::Int(c.ty, Vec::with_capacity(capacity)),
            NativeType::I64 => Column::Long(c.ty, Vec::with_capacity(capacity)),
            _ => Column::Text(StringVectorBuilder::new(c.ty, capacity)),
        });
        RowWriter {
            columns: columns.collect(),
            at: 0,
            text: String::new(),
        }
    }

    fn next(&mut self) -> &mut Column {
        let at = self.at;
        self.at = if at + 1 == self.columns.len() { 0 } else { at + 1 };
        &mut self.columns[at]
    }

    /// An integer, a date as days since 1970, a decimal in its smallest unit.
    pub fn int(&mut self, value: i64) {
        match self.next() {
            // TPC-H keys fit 32 bits up to scale factor 300; beyond, the schema would say bigint.
            Column::Int(_, values) => values.push(value as i32),
            Column::Long(_, values) => values.push(value),
            Column::Text(_) => unreachable!("the schema has a string here"),
        }
    }

    /// A string; of one character where the column is char(1).
    pub fn text(&mut self, value: &str) {
        match self.next() {
            Column::Text(builder) => builder.push(value),
            Column::Int(_, values) => values.push(value.chars().next().map_or(32, |c| c as i32)),
            Column::Long(..) => unreachable!("the schema has a number here"),
        }
    }

    /// A string as something formats itself.
    pub fn display(&mut self, value: &dyn Display) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        // Writing to a String cannot fail.
        let _ = write!(text, "{value}");
        self.text(&text);
        self.text = text;
    }

    /// The rows written.
    pub fn finish(self, rows: usize) -> RowBatch {
        let columns = self.columns.into_iter().map(|column| match column {
            Column::Text(builder) => builder.finish(),
            Column::Int(ty, values) => {
                let mut out = ColumnVector::new(ty, values.len());
                out.resize(values.len());
                out.values_mut::<i32>().copy_from_slice(&values);
                out
            }
            Column::Long(ty, values) => {
                let mut out = ColumnVector::new(ty, values.len());
                out.resize(values.len());
                out.values_mut::<i64>().copy_from_slice(&values);
                out
            }
        });
        RowBatch {
            columns: columns.collect(),
            rows,
        }
    }
}
