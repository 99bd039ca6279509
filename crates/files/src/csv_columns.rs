//! The columns of several CSV files: each has all of them, or they are united by name.

use crate::csv_types::wider;
use crate::sniff::{CsvHints, Sniffed};
use frazil_types::{ColumnDef, Error, Result, SqlState};
use std::path::Path;

/// The columns of the files so far.
#[derive(Debug, Default)]
pub struct CsvColumns {
    pub defs: Vec<ColumnDef>,
    /// For each column, true if no file so far has a value of it, so that another file determines its type.
    are_open: Vec<bool>,
    /// Number of files with columns.
    files: usize,
}

impl CsvColumns {
    /// Takes one more file, and returns the position of each of its columns. 22P04 if its names differ from those of
    /// the files before it, unless columns are united by name.
    pub fn take(&mut self, file: &Path, found: &Sniffed, hints: &CsvHints) -> Result<Vec<usize>> {
        // An empty file has no columns.
        if found.columns.is_empty() {
            return Ok(Vec::new());
        }
        if self.files > 0 && !hints.unites {
            self.check_names(file, &found.columns)?;
        }
        self.files += 1;
        let mut places: Vec<usize> = Vec::with_capacity(found.columns.len());
        for (own, &is_open) in found.columns.iter().zip(&found.are_open) {
            let place = self.place_of(&own.name, &places);
            match place {
                None => {
                    self.defs.push(own.clone());
                    self.are_open.push(is_open);
                }
                Some(at) if self.are_open[at] => {
                    self.defs[at].ty = own.ty;
                    self.are_open[at] = is_open;
                }
                Some(at) if !is_open => self.defs[at].ty = wider(self.defs[at].ty, own.ty),
                Some(_) => {}
            }
            places.push(place.unwrap_or(self.defs.len() - 1));
        }
        Ok(places)
    }

    /// The columns, with the types that a statement gives united ones. 42703 and 22023 as of [`ColumnTypes::apply`].
    ///
    /// [`ColumnTypes::apply`]: crate::sniff::ColumnTypes::apply
    pub fn finish(mut self, hints: &CsvHints) -> Result<Vec<ColumnDef>> {
        if hints.unites {
            let what = format!("the union of {} files", self.files);
            hints.types.apply(&mut self.defs, &what)?;
        }
        Ok(self.defs)
    }

    /// The position of a column: of just this name, or of one that differs by the case of letters. `taken`: positions
    /// of other columns of the same file.
    fn place_of(&self, name: &str, taken: &[usize]) -> Option<usize> {
        let at = |same: fn(&str, &str) -> bool| {
            let mut names = self.defs.iter().enumerate();
            names.position(|(at, def)| same(&def.name, name) && !taken.contains(&at))
        };
        at(|a, b| a == b).or_else(|| at(str::eq_ignore_ascii_case))
    }

    fn check_names(&self, file: &Path, own: &[ColumnDef]) -> Result<()> {
        let names = |columns: &[ColumnDef]| columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        if names(&self.defs) == names(own) {
            return Ok(());
        }
        let message = format!(
            "file \"{}\" has the columns {}, those before it {}",
            file.display(),
            names(own).join(", "),
            names(&self.defs).join(", ")
        );
        Err(Error::new(SqlState::BAD_COPY_FORMAT, message)
            .with_hint("read_csv('path', union_by_name => true) reads the columns of all files"))
    }
}
