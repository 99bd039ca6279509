//! Finds out what a CSV file looks like: its form (`csv_dialect.rs`), whether its first line names the columns, and a
//! type for each column that all its values have (`csv_types.rs`).
//!
//! A first line is a header if one of its fields does not fit the type of those below; where all columns are text
//! nothing tells, and there is taken to be one.

use crate::compression::Compression;
use crate::csv_dialect::{Dialect, dialect, each_record, texts};
use crate::csv_reader::{CsvOptions, Header};
use crate::csv_splitter::Record;
use crate::csv_types::{Fits, Form};
use crate::date_form::DateForm;
use crate::date_pattern::DatePattern;
use crate::encoding::Encoding;
use crate::file_input::{FileInput, Origin};
use crate::{ReadLimits, io_error};
use frazil_types::{ColumnDef, Error, LogicalType, Reservation, Result, SqlState};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Bytes of a file that are looked at, unless all are.
const SAMPLE_BYTES: usize = 1 << 20;
/// Bytes of a file that are looked at for the end of its first record: eight times as many each time.
const LONGEST_FIRST: usize = SAMPLE_BYTES << 6;

/// What is known of a CSV file beforehand; the rest is found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvHints {
    /// Whether the first line names the columns.
    pub header: Option<bool>,
    /// Between fields.
    pub delimiter: Option<u8>,
    /// Around fields.
    pub quote: Option<u8>,
    /// Before a quote within a quoted field; the quote if not said.
    pub escape: Option<u8>,
    /// The texts that stand for NULL; the empty one if none is said.
    pub nulls: Vec<String>,
    /// Lines in front of the table, which are read past; found out if not said.
    pub skip: Option<usize>,
    /// Types of columns that are said.
    pub types: ColumnTypes,
    /// Formats of dates and times that are said.
    pub moments: Moments,
    /// Whether all columns are text.
    pub all_text: bool,
    /// How the file is compressed; by its name if not said.
    pub compression: Option<Compression>,
    /// The encoding of the file.
    pub encoding: Encoding,
    /// Whether records that are no rows of the types that the first megabyte told are left out.
    pub skips: bool,
    /// True if columns of several files are matched by name, and a file may lack some of them.
    pub unites: bool,
}

/// Formats of dates and times, as far as they are said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// The format of dates.
    pub date: Option<Arc<DatePattern>>,
    /// The format of timestamps.
    pub timestamp: Option<Arc<DatePattern>>,
}

impl Moments {
    /// A column before its first value: it may hold any of these formats.
    fn fits(&self) -> Fits {
        let mut fits = Fits::ALL;
        fits.said_date = self.date.is_some();
        fits.said_timestamp = self.timestamp.is_some();
        fits
    }

    /// Takes one more value into account.
    fn take(&self, fits: &mut Fits, text: &str) {
        fits.take(text);
        let has =
            |pattern: &Option<Arc<DatePattern>>| pattern.as_ref().is_some_and(|p| p.to_iso(text).is_some());
        fits.said_date = fits.said_date && has(&self.date);
        fits.said_timestamp = fits.said_timestamp && has(&self.timestamp);
    }

    /// The type of a column, and the form of its dates.
    fn ty(&self, fits: Fits) -> (LogicalType, DateForm) {
        match (&self.date, &self.timestamp) {
            (Some(date), _) if fits.any && fits.said_date => (Form::Day.ty(), DateForm::Said(date.clone())),
            (_, Some(moment)) if fits.any && fits.said_timestamp => {
                (Form::Moment.ty(), DateForm::Said(moment.clone()))
            }
            _ => fits.ty(),
        }
    }

    /// The form of the dates of a column whose type is said, and whose values looked like those of `found`.
    fn form(&self, said: LogicalType, found: LogicalType, form: DateForm) -> DateForm {
        let pattern = match said {
            ty if ty == found => None,
            ty if ty.is_day() => self.date.as_ref(),
            ty if ty.is_local_time() || ty.is_zoned() => self.timestamp.as_ref(),
            _ => None,
        };
        pattern.map_or(form, |pattern| DateForm::Said(pattern.clone()))
    }
}

/// The types of a CSV file's columns, as far as they are said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ColumnTypes {
    /// All are found out.
    #[default]
    Found,
    /// The types of the first columns, in their order.
    InOrder(Vec<LogicalType>),
    /// The types of columns by their names.
    Named(Vec<(String, LogicalType)>),
    /// The names and types of all columns.
    All(Vec<(String, LogicalType)>),
}

impl ColumnTypes {
    /// Gives columns of `what`, a file or several, the types that are said. 42703 for a name that no column has, 22023
    /// for more types than columns.
    pub(crate) fn apply(&self, columns: &mut Vec<ColumnDef>, what: &str) -> Result<()> {
        match self {
            ColumnTypes::Found => {}
            ColumnTypes::InOrder(types) => {
                if types.len() > columns.len() {
                    let (types, columns) = (types.len(), columns.len());
                    let message = format!("{types} types for {what} of {columns} columns");
                    return Err(Error::new(SqlState::INVALID_PARAMETER, message));
                }
                columns
                    .iter_mut()
                    .zip(types)
                    .for_each(|(column, ty)| column.ty = *ty);
            }
            ColumnTypes::Named(types) => {
                for (name, ty) in types {
                    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
                    let found = names.iter().position(|n| n == name);
                    let found = found.or_else(|| names.iter().position(|n| n.eq_ignore_ascii_case(name)));
                    let at = found.ok_or_else(|| {
                        let names = names.join(", ");
                        let message = format!("{what} has no column \"{name}\"; it has {names}");
                        Error::new(SqlState::UNDEFINED_COLUMN, message)
                    })?;
                    columns[at].ty = *ty;
                }
            }
            ColumnTypes::All(all) => {
                *columns = all
                    .iter()
                    .map(|(name, ty)| ColumnDef::new(name.clone(), *ty))
                    .collect();
            }
        }
        Ok(())
    }
}

/// The part of a file that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Its first megabyte.
    First,
    /// All of it.
    All,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Sniffed {
    /// How to read the file.
    pub options: CsvOptions,
    /// Its columns. They have the types that a statement gives, unless it unites the columns of several files.
    pub columns: Vec<ColumnDef>,
    /// For each column, true if it has no value from which its type follows.
    pub are_open: Vec<bool>,
    /// Lines that were looked at, the header among them.
    pub lines: usize,
}

/// Looks at a file. 22P04 for bytes that are no text, and for a first record that is longer than [`LONGEST_FIRST`];
/// 53200 if all of the file is asked for and there is no room.
pub fn sniff(path: &Path, hints: &CsvHints, sample: Sample, limits: &ReadLimits) -> Result<Sniffed> {
    let mut most = match sample {
        Sample::First => SAMPLE_BYTES,
        Sample::All => usize::MAX,
    };
    loop {
        let (bytes, _reserved) = read(path, hints, most, limits)?;
        let is_whole = bytes.len() < most;
        if let Some(found) = look_at(&bytes, is_whole, path, hints, limits)? {
            return Ok(found);
        }
        // The first record is longer than what was read.
        let refused = |what: &str| {
            let message = format!("file \"{}\" {what}", path.display());
            Error::new(SqlState::BAD_COPY_FORMAT, message)
        };
        if bytes.contains(&0) {
            return Err(refused("is not text: it contains zero bytes"));
        }
        if most >= LONGEST_FIRST {
            let error = refused("has a first record of more than 64 MB");
            return Err(error.with_hint("is there a quote that is never closed?"));
        }
        most *= 8;
    }
}

/// What the records of a table have told so far.
#[derive(Default)]
struct Seen {
    /// The fields of the first record.
    first: Option<Vec<String>>,
    /// For each of its columns what all records but the first, and what all records hold.
    below: Vec<Fits>,
    all: Vec<Fits>,
    lines: usize,
}

impl Seen {
    fn take(&mut self, record: &Record, hints: &CsvHints) {
        let CsvHints { nulls, moments, .. } = hints;
        let width = self.first.get_or_insert_with(|| texts(record)).len();
        self.below.resize(width, moments.fits());
        self.all.resize(width, moments.fits());
        for at in 0..width.min(record.len()) {
            let (bytes, is_quoted) = record.field(at);
            let text = String::from_utf8_lossy(bytes);
            let is_null = nulls.iter().any(|null| *null == text) || (nulls.is_empty() && text.is_empty());
            if !is_quoted && is_null {
                continue;
            }
            if self.lines > 0 {
                moments.take(&mut self.below[at], &text);
            }
            moments.take(&mut self.all[at], &text);
        }
        self.lines += 1;
    }
}

/// What the bytes at the beginning of a file tell; `None` if they are not a whole record.
fn look_at(
    bytes: &[u8],
    is_whole: bool,
    path: &Path,
    hints: &CsvHints,
    limits: &ReadLimits,
) -> Result<Option<Sniffed>> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        let message = format!("file \"{}\" is UTF-16 text", path.display());
        return Err(Error::new(SqlState::BAD_COPY_FORMAT, message)
            .with_hint("read it with read_csv('path', encoding => 'utf-16')"));
    }
    let text = match after_lines(text, hints.skip.unwrap_or(0)) {
        Some(text) => text,
        None if is_whole => &[],
        None => return Ok(None),
    };
    let dialect = dialect(text, hints, is_whole, &limits.cancel)?;
    let Dialect { marks, skipped, .. } = dialect;
    let (mut seen, mut passed) = (Seen::default(), 0);
    each_record(text, marks, is_whole, &limits.cancel, &mut |record| {
        match passed < skipped {
            true => passed += 1,
            false => seen.take(record, hints),
        }
        true
    })?;
    let Seen {
        first,
        below,
        all,
        lines,
    } = seen;
    if lines == 0 && !is_whole {
        return Ok(None);
    }
    let width = first.as_ref().map_or(0, Vec::len);
    let header = hints
        .header
        .unwrap_or_else(|| has_header(first.as_ref(), &below, lines, &hints.moments));
    let types = if header { below } else { all };
    let names = match &first {
        Some(first) if header => names(first),
        _ => (0..width).map(|i| unnamed(i, width)).collect(),
    };
    let are_open = types.iter().map(|fits| !fits.any && !hints.all_text);
    let are_open: Vec<bool> = are_open.collect();
    let types = types.into_iter().map(|fits| match hints.all_text {
        true => (Form::Words.ty(), DateForm::Iso),
        false => hints.moments.ty(fits),
    });
    let (types, dates): (Vec<LogicalType>, Vec<DateForm>) = types.unzip();
    let columns = names.into_iter().zip(types);
    let columns: Vec<ColumnDef> = columns.map(|(name, ty)| ColumnDef::new(name, ty)).collect();
    let mut sniffed = Sniffed {
        options: options(hints, &dialect, header, dates),
        columns,
        are_open,
        lines,
    };
    sniffed.apply(hints, path)?;
    Ok(Some(sniffed))
}

impl Sniffed {
    /// Gives the columns the types that a statement says, unless it speaks of the columns of several files. 42703 and
    /// 22023 as of [`ColumnTypes::apply`].
    fn apply(&mut self, hints: &CsvHints, path: &Path) -> Result<()> {
        match &hints.types {
            ColumnTypes::Found => return Ok(()),
            ColumnTypes::InOrder(_) | ColumnTypes::Named(_) if hints.unites => return Ok(()),
            ColumnTypes::InOrder(_) | ColumnTypes::Named(_) | ColumnTypes::All(_) => {}
        }
        let mut said = self.columns.clone();
        hints
            .types
            .apply(&mut said, &format!("file \"{}\"", path.display()))?;
        self.are_open = vec![false; said.len()];
        self.retype(said, &hints.moments);
        Ok(())
    }

    /// Gives the columns other types, and their dates the formats that a statement says for these types.
    pub(crate) fn retype(&mut self, columns: Vec<ColumnDef>, moments: &Moments) {
        let found = std::mem::replace(&mut self.columns, columns);
        let dates = std::mem::take(&mut self.options.dates);
        let said = self.columns.iter().zip(found).zip(dates);
        let dates = said.map(|((said, found), form)| moments.form(said.ty, found.ty, form));
        self.options.dates = dates.collect();
    }
}

/// The form of a file of this dialect, with or without a header.
fn options(hints: &CsvHints, dialect: &Dialect, header: bool, dates: Vec<DateForm>) -> CsvOptions {
    let Dialect { marks, skipped, .. } = *dialect;
    CsvOptions {
        header: if header { Header::Skipped } else { Header::Absent },
        delimiter: marks.delimiter,
        quote: marks.quote,
        escape: marks.escape,
        null: hints.nulls.first().cloned().unwrap_or_default(),
        more_nulls: hints.nulls.iter().skip(1).cloned().collect(),
        skipped_lines: hints.skip.unwrap_or(0),
        compression: hints.compression,
        encoding: hints.encoding,
        comment: marks.comment,
        skipped,
        padded: marks.padded,
        dates,
        ..CsvOptions::default()
    }
}

/// The text behind its first `lines` lines; `None` if it has fewer.
fn after_lines(text: &[u8], lines: usize) -> Option<&[u8]> {
    match lines.checked_sub(1) {
        None => Some(text),
        Some(last) => memchr::memchr_iter(b'\n', text)
            .nth(last)
            .map(|end| &text[end + 1..]),
    }
}

/// The first `most` bytes of a file, and the memory that they take.
fn read(path: &Path, hints: &CsvHints, most: usize, limits: &ReadLimits) -> Result<(Vec<u8>, Reservation)> {
    let input = FileInput::open(Origin::File(path), hints.compression, limits)?;
    let mut input = input.decoding(hints.encoding);
    let mut reserved = limits.budget.reservation();
    let mut bytes = Vec::new();
    'pieces: while bytes.len() < most {
        let start = bytes.len();
        if start + SAMPLE_BYTES > bytes.capacity() {
            let more = bytes.capacity().max(SAMPLE_BYTES);
            reserved.grow(more).map_err(|e| {
                e.in_context(format!("file \"{}\"", path.display()))
                    .with_detail("what the first megabyte does not determine is detected from the whole file")
            })?;
            bytes.reserve_exact(more);
        }
        bytes.resize(start + SAMPLE_BYTES, 0);
        let mut filled = start;
        while filled < bytes.len() {
            let count = input.read(&mut bytes[filled..], limits)?;
            filled += count;
            if count == 0 {
                bytes.truncate(filled);
                break 'pieces;
            }
        }
    }
    if path.is_dir() {
        return Err(io_error(path, &std::io::Error::other("it is a directory")));
    }
    Ok((bytes, reserved))
}

fn has_header(first: Option<&Vec<String>>, below: &[Fits], lines: usize, moments: &Moments) -> bool {
    let Some(first) = first else {
        return false;
    };
    let distinct: HashSet<&str> = first.iter().map(String::as_str).collect();
    let are_distinct = distinct.len() == first.len();
    let is_empty = |field: &String| field.trim().is_empty();
    let is_name = |field: &String| {
        let mut fits = Fits::ALL;
        fits.take(field);
        let form = fits.form().0;
        is_empty(field) || form == Form::Words || (form == Form::Truth && !is_truth(field))
    };
    let are_names = first.iter().all(is_name) && !first.iter().all(is_empty);
    let differs = first.iter().zip(below).any(|(field, fits)| {
        let mut with = *fits;
        moments.take(&mut with, field);
        let ty = moments.ty(*fits).0;
        !is_empty(field) && fits.any && ty != Form::Words.ty() && moments.ty(with) != moments.ty(*fits)
    });
    let is_all_text = below.iter().all(|fits| moments.ty(*fits).0 == Form::Words.ty());
    are_names && (differs || (are_distinct && (is_all_text || lines == 1)))
}

/// Whether a text can only be a boolean; `t`, `f`, `yes` and `no` are names as well.
fn is_truth(text: &str) -> bool {
    ["true", "false"]
        .iter()
        .any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// Names of columns. They are in lower case where that keeps different ones apart, so that they are found without
/// quotes; what has no name is called by its position, and a name that was there gets a number, as DuckDB has it: `a`,
/// `column1`, `a_1` for `a,,a`.
fn names(first: &[String]) -> Vec<String> {
    let given: Vec<&str> = first.iter().map(|field| field.trim()).collect();
    let mut written: HashMap<String, HashSet<&str>> = HashMap::new();
    for &name in &given {
        written.entry(name.to_lowercase()).or_default().insert(name);
    }
    let (mut seen, mut repeats) = (HashSet::new(), HashMap::new());
    let named = given.iter().enumerate().map(|(i, name)| {
        let folded = name.to_lowercase();
        let mut unique = match name.is_empty() {
            true => unnamed(i, given.len()),
            false if written[&folded].len() > 1 => (*name).to_owned(),
            false => folded,
        };
        while !seen.insert(unique.clone()) {
            let number = repeats.entry(unique.clone()).or_insert(0);
            *number += 1;
            unique = format!("{unique}_{number}");
        }
        unique
    });
    named.collect()
}

/// The name of a column without one: its position, of as many digits as the last one has, so that names are ordered as
/// columns.
fn unnamed(position: usize, width: usize) -> String {
    let digits = width.saturating_sub(1).max(1).ilog10() as usize + 1;
    format!("column{position:0digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Headers, and the names that DuckDB 1.5.5 gives their columns, save that it knows no names that differ by the
    /// case of letters.
    const HEADERS: [(&str, &str); 18] = [
        ("a,,a", "a,column1,a_1"),
        ("a,a,a_1", "a,a_1,a_1_1"),
        ("a,a_1,a", "a,a_1,a_1_1"),
        ("a_1,a,a", "a_1,a,a_1_1"),
        ("a,,a,,a", "a,column1,a_1,column3,a_2"),
        (",b,", "column0,b,column2"),
        (",,", "column0,column1,column2"),
        ("x,x,x", "x,x_1,x_2"),
        (" a ,b, b", "a,b,b_1"),
        ("column1,,x", "column1,column1_1,x"),
        ("column1,,", "column1,column1_1,column2"),
        ("1a,select,b", "1a,select,b"),
        ("a b,a b,A-B", "a b,a b_1,a-b"),
        (
            "a,b,c,d,e,f,g,h,i,j,k,,",
            "a,b,c,d,e,f,g,h,i,j,k,column11,column12",
        ),
        (",b,c,d,e,f,g,h,i,j,k", "column00,b,c,d,e,f,g,h,i,j,k"),
        (",b,c,d,e,f,g,h,i,j", "column0,b,c,d,e,f,g,h,i,j"),
        ("Id,Name,Name", "id,name,name_1"),
        // Ours: other names than DuckDB's A_1.
        ("a,A,B,a", "a,A,b,a_1"),
    ];

    #[test]
    fn columns_are_called_as_by_duckdb() {
        for (header, expected) in HEADERS {
            let first: Vec<String> = header.split(',').map(str::to_owned).collect();
            assert_eq!(names(&first).join(","), expected, "{header}");
        }
        assert_eq!(unnamed(0, 1), "column0");
        assert_eq!(unnamed(7, 101), "column007");
    }
}
