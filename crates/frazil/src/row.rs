//! One row of a result.

use crate::rows::Rows;
use crate::value::{FromValue, Value};
use frazil_types::{Error, LogicalType, Result, Schema, SqlState, Value as RawValue};
use std::sync::Arc;

/// A row: a value for each column.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    schema: Arc<Schema>,
    values: Vec<Value>,
}

/// A column of a result: its position, counted from 0, or its name.
pub trait ColumnIndex {
    /// The column's position. 42703 for a column that is not there, 42702 for a name that several have.
    fn position(&self, schema: &Schema) -> Result<usize>;
}

impl ColumnIndex for usize {
    fn position(&self, schema: &Schema) -> Result<usize> {
        let count = schema.columns.len();
        match *self < count {
            true => Ok(*self),
            false => Err(Error::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column {self} does not exist: the row has {count} columns, counted from 0"),
            )),
        }
    }
}

impl ColumnIndex for str {
    fn position(&self, schema: &Schema) -> Result<usize> {
        let mut found = (schema.columns.iter().enumerate()).filter(|(_, column)| column.name == self);
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Ok(at),
            (None, _) => {
                let names: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
                let message = format!("column \"{self}\" does not exist in the row");
                Err(Error::new(SqlState::UNDEFINED_COLUMN, message)
                    .with_hint(format!("its columns are {}", names.join(", "))))
            }
            (Some(_), Some(_)) => Err(Error::new(
                SqlState::AMBIGUOUS_COLUMN,
                format!("several columns of the row are called \"{self}\""),
            )
            .with_hint("name them by AS, or take them by their positions")),
        }
    }
}

impl ColumnIndex for String {
    fn position(&self, schema: &Schema) -> Result<usize> {
        self.as_str().position(schema)
    }
}

impl<I: ColumnIndex + ?Sized> ColumnIndex for &I {
    fn position(&self, schema: &Schema) -> Result<usize> {
        (**self).position(schema)
    }
}

impl Row {
    pub(crate) fn of_raw(schema: Arc<Schema>, raw: Vec<RawValue>) -> Row {
        let types = schema.columns.iter().map(|column| column.ty);
        let values = raw
            .into_iter()
            .zip(types)
            .map(|(raw, ty)| Value::from_raw(raw, ty))
            .collect();
        Row { schema, values }
    }

    /// The value of a column, by its position or its name, as a type of Rust's. 42703 and 42702 for the column, 42804
    /// for a value of another type, 22003 for a number that does not fit, 22004 for NULL, which `Option` takes.
    pub fn get<T: FromValue>(&self, column: impl ColumnIndex) -> Result<T> {
        let at = column.position(&self.schema)?;
        let in_column = |e: Error| e.in_context(format!("column \"{}\"", self.schema.columns[at].name));
        T::from_value(self.values[at].clone()).map_err(in_column)
    }

    /// The type of a column.
    pub fn ty(&self, column: impl ColumnIndex) -> Result<LogicalType> {
        let at = column.position(&self.schema)?;
        Ok(self.schema.columns[at].ty)
    }

    /// All values, in the order of the columns.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// All values, to be kept.
    pub fn into_values(self) -> Vec<Value> {
        self.values
    }

    /// Names and types of the columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

impl Rows {
    /// The rows one by one. For many rows, [`Rows::batches`] costs less.
    pub fn iter(&self) -> impl Iterator<Item = Row> + '_ {
        let schema = self.shared_schema();
        self.raw().map(move |raw| Row::of_raw(schema.clone(), raw))
    }

    /// The only row. 02000 if there is none, 21000 if there are several.
    pub fn one(&self) -> Result<Row> {
        let row = self.at_most_one()?;
        row.ok_or_else(|| {
            let error = Error::new(SqlState::NO_DATA, "the query returned no row");
            error.with_hint("Connection::query_opt takes none or one")
        })
    }

    /// The only row, or none. 21000 if there are several.
    pub fn at_most_one(&self) -> Result<Option<Row>> {
        match self.len() {
            0 | 1 => Ok(self.iter().next()),
            count => Err(Error::new(
                SqlState::CARDINALITY_VIOLATION,
                format!("the query returned {count} rows in place of one"),
            )),
        }
    }
}

impl<'r> IntoIterator for &'r Rows {
    type Item = Row;
    type IntoIter = Box<dyn Iterator<Item = Row> + 'r>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}
