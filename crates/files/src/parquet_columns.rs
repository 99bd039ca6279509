//! The columns of a table of Parquet files: of the first one, or of all.

use crate::arrow_types::wider;
use crate::parquet_footer::Footer;
use arrow_schema::Schema;
use frazil_types::{ColumnDef, Error, LogicalType, Result, SqlState};
use std::collections::HashSet;
use std::path::Path;

/// Selects the files that name the columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnsOf {
    /// The first one; the others must have these columns, and may have more.
    FirstFile,
    /// All: where a file lacks a column it is NULL.
    AllFiles,
}

/// The columns of the files so far.
#[derive(Debug, Default)]
pub struct Columns {
    pub defs: Vec<ColumnDef>,
    /// For each whether no file says its type: all files so far have NULLs only.
    are_open: Vec<bool>,
}

impl Columns {
    /// Takes one more file. Its columns are added to those of the files before, if those of all are asked for. 22P04
    /// for a file without columns.
    pub fn take(&mut self, path: &Path, footer: &Footer, columns_of: ColumnsOf) -> Result<()> {
        let schema = footer.metadata.schema();
        if schema.fields().is_empty() {
            let message = format!("file \"{}\" has no columns", path.display());
            return Err(Error::new(SqlState::BAD_COPY_FORMAT, message));
        }
        let is_first = self.defs.is_empty();
        for ((name, field), facts) in names(schema)
            .into_iter()
            .zip(schema.fields())
            .zip(&footer.columns)
        {
            let ty = facts.ty.unwrap_or(LogicalType::UNTYPED);
            let at = match is_first {
                true => None,
                false => self.place_of(field.name()),
            };
            match at {
                None if is_first || columns_of == ColumnsOf::AllFiles => {
                    self.defs.push(ColumnDef::new(name, ty));
                    self.are_open.push(facts.is_open);
                }
                None => {}
                Some(at) if self.are_open[at] => {
                    self.defs[at].ty = ty;
                    self.are_open[at] = facts.is_open;
                }
                Some(at) if !facts.is_open && facts.ty.is_some() => {
                    self.defs[at].ty = wider(self.defs[at].ty, ty);
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn place_of(&self, field: &str) -> Option<usize> {
        let at = |same: fn(&str, &str) -> bool| self.defs.iter().position(|def| same(&def.name, field));
        at(|a, b| a == b).or_else(|| at(str::eq_ignore_ascii_case))
    }
}

/// The names of a file's columns, in lower case where that keeps them apart.
fn names(schema: &Schema) -> Vec<String> {
    let fields = schema.fields();
    let folded: HashSet<String> = fields.iter().map(|f| f.name().to_lowercase()).collect();
    let folds = folded.len() == fields.len();
    let name = |field: &arrow_schema::FieldRef| match folds {
        true => field.name().to_lowercase(),
        false => field.name().clone(),
    };
    fields.iter().map(name).collect()
}

/// The position in a file of each column: by name, in just these letters if there is one. Of the columns of
/// all files one may lack some. 42703 for a name that is not there.
pub fn roots_of(
    path: &Path,
    schema: &Schema,
    columns: &[ColumnDef],
    columns_of: ColumnsOf,
) -> Result<Vec<Option<usize>>> {
    let root = |column: &ColumnDef| {
        let at = |same: fn(&str, &str) -> bool| {
            let mut fields = schema.fields().iter();
            fields.position(|field| same(field.name(), &column.name))
        };
        let found = at(|a, b| a == b)
            .or_else(|| at(str::eq_ignore_ascii_case))
            .or_else(|| at(|a, b| a.to_lowercase() == b.to_lowercase()));
        match found {
            None if columns_of == ColumnsOf::FirstFile => Err(lacking(path, schema, &column.name)),
            found => Ok(found),
        }
    };
    columns.iter().map(root).collect()
}

fn lacking(path: &Path, schema: &Schema, name: &str) -> Error {
    let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    let message = format!(
        "file \"{}\" has no column \"{name}\"; it has {}",
        path.display(),
        names.join(", ")
    );
    Error::new(SqlState::UNDEFINED_COLUMN, message)
        .with_hint("read_parquet('path', union_by_name => true) reads the columns of all files")
}
