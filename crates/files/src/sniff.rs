//! Finds out what a CSV file looks like: delimiter, quote, header, and a type for each column that all its values have.
//!
//! A delimiter is right if it cuts all lines into as many fields, and of several the one that cuts most. A first line is a
//! header if one of its fields does not fit the type of those below; where all columns are text nothing tells, and there is
//! taken to be one. A number with a leading zero is text: it is a code, and would lose the zero.

use crate::compression::Compression;
use crate::csv_reader::{CsvOptions, Header};
use crate::csv_splitter::{Marks, Record, Split, split};
use crate::file_input::{FileInput, Origin};
use crate::{ReadLimits, io_error};
use frazil_types::{ColumnDef, Error, LogicalType, Result, SqlState, date, value_ops};
use std::collections::HashSet;
use std::path::Path;

/// Delimiters in the order in which they are preferred.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Quotes in the order in which they are preferred.
const QUOTES: [u8; 2] = [b'"', b'\''];
/// Bytes of a file that are looked at, unless all are.
const SAMPLE_BYTES: usize = 1 << 20;
/// Lines that decide on delimiter and quote.
const DIALECT_LINES: usize = 200;

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
    /// The text that stands for NULL; the empty one if not said.
    pub null: Option<String>,
    /// Whether all columns are text.
    pub all_text: bool,
    /// How the file is compressed; by its name if not said.
    pub compression: Option<Compression>,
}

/// How much of a file is looked at.
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
    /// Its columns.
    pub columns: Vec<ColumnDef>,
    /// Lines that were looked at, the header among them.
    pub lines: usize,
}

/// Types that a column's values have so far; the first that is left becomes the column's.
#[derive(Clone, Copy, Debug)]
struct Fits {
    boolean: bool,
    bigint: bool,
    double: bool,
    date: bool,
    timestamp: bool,
    /// Whether there was a value at all.
    any: bool,
}

impl Fits {
    const ALL: Fits = Fits {
        boolean: true,
        bigint: true,
        double: true,
        date: true,
        timestamp: true,
        any: false,
    };

    fn take(&mut self, text: &str) {
        self.any = true;
        let text = text.trim();
        self.boolean =
            self.boolean && (text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false"));
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        let is_number = !is_code && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        self.bigint = self.bigint && is_number && text.parse::<i64>().is_ok();
        self.double = self.double && is_number && value_ops::read_double(text).is_ok();
        let has_date = text.len() >= 10 && text.is_char_boundary(10) && text.as_bytes()[4] == b'-';
        self.date = self.date && has_date && text.len() == 10 && date::parse_date(text).is_ok();
        self.timestamp = self.timestamp && has_date && date::parse_timestamp(text).is_ok();
    }

    fn ty(self) -> LogicalType {
        match self {
            Fits { any: false, .. } => LogicalType::Text,
            Fits { boolean: true, .. } => LogicalType::Boolean,
            Fits { bigint: true, .. } => LogicalType::BigInt,
            Fits { double: true, .. } => LogicalType::Double,
            Fits { date: true, .. } => LogicalType::Date,
            Fits { timestamp: true, .. } => LogicalType::Timestamp,
            _ => LogicalType::Text,
        }
    }
}

/// Looks at a file. 22P04 for bytes that are no text, 53200 if all of it is asked for and there is no room.
pub fn sniff(path: &Path, hints: &CsvHints, sample: Sample, limits: &ReadLimits) -> Result<Sniffed> {
    let bytes = read(path, hints, sample, limits)?;
    let is_whole = sample == Sample::All || bytes.len() < SAMPLE_BYTES;
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        let message = format!("file \"{}\" is UTF-16 text", path.display());
        return Err(Error::new(SqlState::BAD_COPY_FORMAT, message).with_hint("convert it to UTF-8"));
    }
    let marks = dialect(text, hints, is_whole);
    let records = records(text, marks, is_whole, usize::MAX, limits)?;
    let null = hints.null.clone().unwrap_or_default();
    let width = records.first().map_or(0, Vec::len);
    let (mut below, mut all) = (vec![Fits::ALL; width], vec![Fits::ALL; width]);
    for (at, record) in records.iter().enumerate() {
        for ((column, below), all) in record.iter().zip(&mut below).zip(&mut all) {
            let is_null = !column.is_quoted && column.text == null;
            if !is_null && at > 0 {
                below.take(&column.text);
            }
            if !is_null {
                all.take(&column.text);
            }
        }
    }
    let header = hints
        .header
        .unwrap_or_else(|| has_header(records.first(), &below, records.len()));
    let types = if header { below } else { all };
    let names = match records.first() {
        Some(first) if header => names(first),
        _ => (0..width).map(|i| format!("column{i}")).collect(),
    };
    let columns = names.into_iter().zip(types).map(|(name, fits)| {
        let ty = if hints.all_text {
            LogicalType::Text
        } else {
            fits.ty()
        };
        ColumnDef::new(name, ty)
    });
    Ok(Sniffed {
        options: CsvOptions {
            header: if header { Header::Skipped } else { Header::Absent },
            delimiter: marks.delimiter,
            quote: marks.quote,
            escape: marks.escape,
            null,
            compression: hints.compression,
        },
        columns: columns.collect(),
        lines: records.len(),
    })
}

fn read(path: &Path, hints: &CsvHints, sample: Sample, limits: &ReadLimits) -> Result<Vec<u8>> {
    let mut input = FileInput::open(Origin::File(path), hints.compression)?;
    let mut reserved = limits.budget.reservation();
    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        if sample == Sample::First && start >= SAMPLE_BYTES {
            break;
        }
        reserved.grow(SAMPLE_BYTES)?;
        bytes.resize(start + SAMPLE_BYTES, 0);
        let count = input.read(&mut bytes[start..], limits)?;
        bytes.truncate(start + count);
        if count == 0 {
            break;
        }
    }
    if path.is_dir() {
        return Err(io_error(path, &std::io::Error::other("it is a directory")));
    }
    Ok(bytes)
}

struct Field {
    text: String,
    is_quoted: bool,
}

/// The records of a text, at most `most`; the last one of a text that is cut off is left out.
fn records(
    text: &[u8],
    marks: Marks,
    is_whole: bool,
    most: usize,
    limits: &ReadLimits,
) -> Result<Vec<Vec<Field>>> {
    let (mut at, mut record, mut all) = (0, Record::default(), Vec::new());
    while at < text.len() && all.len() < most {
        if all.len() % 1024 == 0 {
            limits.cancel.check()?;
        }
        let Split::Record { bytes, .. } = split(&text[at..], marks, is_whole, &mut record) else {
            break;
        };
        at += bytes;
        if record.is_blank_line() {
            continue;
        }
        let fields = (0..record.len()).map(|i| {
            let (bytes, is_quoted) = record.field(i);
            Field {
                text: String::from_utf8_lossy(bytes).into_owned(),
                is_quoted,
            }
        });
        all.push(fields.collect());
    }
    Ok(all)
}

/// Delimiter and quote: those that cut most lines into as many fields.
fn dialect(text: &[u8], hints: &CsvHints, is_whole: bool) -> Marks {
    let delimiters = hints.delimiter.map_or(DELIMITERS.to_vec(), |d| vec![d]);
    let quotes = hints.quote.map_or(QUOTES.to_vec(), |q| vec![q]);
    let mut best: Option<((usize, usize), Marks)> = None;
    for quote in quotes {
        for &delimiter in &delimiters {
            let escape = hints.escape.unwrap_or(quote);
            let marks = Marks {
                delimiter,
                quote,
                escape,
            };
            let score = score(text, marks, is_whole);
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, marks));
            }
        }
    }
    best.map_or(
        Marks {
            delimiter: b',',
            quote: b'"',
            escape: b'"',
        },
        |found| found.1,
    )
}

/// How well marks cut a text: the share of lines with as many fields as the first, in percent of those that were cut, and
/// the number of fields. Marks that cut nothing are worst.
fn score(text: &[u8], marks: Marks, is_whole: bool) -> (usize, usize) {
    // Without a limit on time nothing can fail: there are few lines.
    let Ok(records) = records(text, marks, is_whole, DIALECT_LINES, &ReadLimits::default()) else {
        return (0, 0);
    };
    let width = records.first().map_or(0, Vec::len);
    if width < 2 {
        return (0, width);
    }
    let same = records.iter().filter(|r| r.len() == width).count();
    (same * 100 / records.len(), width)
}

fn has_header(first: Option<&Vec<Field>>, below: &[Fits], lines: usize) -> bool {
    let Some(first) = first else {
        return false;
    };
    let distinct: HashSet<&str> = first.iter().map(|f| f.text.as_str()).collect();
    let are_distinct = distinct.len() == first.len();
    let is_empty = |field: &Field| field.text.trim().is_empty();
    let is_name = |field: &Field| {
        let mut fits = Fits::ALL;
        fits.take(&field.text);
        is_empty(field) || fits.ty() == LogicalType::Text
    };
    let are_names = first.iter().all(is_name) && !first.iter().all(is_empty);
    let differs = first.iter().zip(below).any(|(field, fits)| {
        let mut with = *fits;
        with.take(&field.text);
        !is_empty(field) && fits.any && fits.ty() != LogicalType::Text && with.ty() != fits.ty()
    });
    let is_all_text = below.iter().all(|fits| fits.ty() == LogicalType::Text);
    are_names && (differs || (are_distinct && (is_all_text || lines == 1)))
}

/// Names of columns: in lower case where that keeps them apart, so that they are found without quotes.
fn names(first: &[Field]) -> Vec<String> {
    let given: Vec<String> = first.iter().map(|f| f.text.trim().to_owned()).collect();
    let folded: HashSet<String> = given.iter().map(|n| n.to_lowercase()).collect();
    let folds = folded.len() == given.len();
    let mut seen = HashSet::new();
    let named = given.into_iter().enumerate().map(|(i, name)| {
        let base = match (name.is_empty(), folds) {
            (true, _) => format!("column{i}"),
            (false, true) => name.to_lowercase(),
            (false, false) => name,
        };
        let mut unique = base.clone();
        let mut number = 1;
        while !seen.insert(unique.clone()) {
            unique = format!("{base}_{number}");
            number += 1;
        }
        unique
    });
    named.collect()
}

/// The type that has the values of both.
pub fn wider(a: LogicalType, b: LogicalType) -> LogicalType {
    use LogicalType::{BigInt, Date, Double, Text, Timestamp};
    match (a, b) {
        (a, b) if a == b => a,
        (BigInt, Double) | (Double, BigInt) => Double,
        (Date, Timestamp) | (Timestamp, Date) => Timestamp,
        _ => Text,
    }
}
