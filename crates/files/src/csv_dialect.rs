//! The dialect of a CSV file: its delimiter, quote, escape and comment characters, and the lines before its table.

use crate::csv_splitter::{Marks, Record, Split, split};
use crate::sniff::CsvHints;
use frazil_types::{Cancel, Result};

/// Delimiters in the order in which they are preferred.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Quotes in the order in which they are preferred.
const QUOTES: [u8; 2] = [b'"', b'\''];
/// Begins lines that are no rows.
const COMMENT: u8 = b'#';
/// Bytes between two looks at the cancel flag.
const POLLED_BYTES: usize = 1 << 14;
/// Lines that decide.
const LINES: usize = 200;
/// Lines in front of a table that are read past at most.
const MOST_SKIPPED: usize = 20;

/// The form of a file.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// What has a meaning.
    pub marks: Marks,
    /// Records in front of the table.
    pub skipped: usize,
    score: Score,
}

/// The fit of a dialect to a text: first the number of records per thousand that have as many fields as the table's
/// first record, then the number of fields. A dialect that splits no record fits worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    alike: usize,
    width: usize,
}

impl Score {
    fn is_perfect(self) -> bool {
        self.alike == 1000
    }
}

/// Hands each record of a text to `visit` until that wants no more; the last one of a text that is cut off is left out.
/// 57014.
pub fn each_record(
    text: &[u8],
    marks: Marks,
    is_whole: bool,
    cancel: &Cancel,
    visit: &mut dyn FnMut(&Record) -> bool,
) -> Result<()> {
    let (mut at, mut polled, mut record) = (0, 0, Record::default());
    while at < text.len() {
        if at >= polled {
            cancel.check()?;
            polled = at + POLLED_BYTES;
        }
        match split(&text[at..], marks, is_whole, &mut record) {
            Split::Record { bytes, .. } => at += bytes,
            Split::Comment { bytes } => {
                at += bytes;
                continue;
            }
            Split::Incomplete | Split::OpenQuote | Split::End => break,
        }
        if !record.is_blank_line() && !visit(&record) {
            break;
        }
    }
    Ok(())
}

/// The texts of a record's fields; bytes that are no text are replaced.
pub fn texts(record: &Record) -> Vec<String> {
    let text = |i| String::from_utf8_lossy(record.field(i).0).into_owned();
    (0..record.len()).map(text).collect()
}

/// The form that cuts most records into as many fields. Of several that do, the plainest with most fields. 57014.
pub fn dialect(text: &[u8], hints: &CsvHints, is_whole: bool, cancel: &Cancel) -> Result<Dialect> {
    let delimiters = hints.delimiter.map_or(DELIMITERS.to_vec(), |d| vec![d]);
    let quotes = hints.quote.map_or(QUOTES.to_vec(), |q| vec![q]);
    let mut best: Option<Dialect> = None;
    for quote in quotes {
        for &delimiter in &delimiters {
            let plain = Marks {
                delimiter,
                quote,
                escape: hints.escape.unwrap_or(quote),
                comment: None,
                padded: false,
            };
            if hints.quote.is_none() && tears(text, plain, is_whole, cancel)? {
                continue;
            }
            let tried = tried(text, plain, is_whole, cancel)?;
            let found = refined(text, hints, tried, is_whole, cancel)?;
            if best.is_none_or(|known| found.score > known.score) {
                best = Some(found);
            }
        }
    }
    best.map_or_else(|| tried(text, Marks::default(), is_whole, cancel), Ok)
}

/// True if a form of a rarer quote cuts a field apart that the usual quote holds together, such as `"Smith, John"`.
fn tears(text: &[u8], marks: Marks, is_whole: bool, cancel: &Cancel) -> Result<bool> {
    let usual = QUOTES[0];
    let is_begun =
        |field: &[u8]| field.first() == Some(&usual) && (field.len() == 1 || field.last() != Some(&usual));
    let (mut records, mut found) = (0, false);
    if marks.quote != usual {
        each_record(text, marks, is_whole, cancel, &mut |record| {
            records += 1;
            found = (0..record.len()).any(|at| is_begun(record.field(at).0));
            !found && records < LINES
        })?;
    }
    Ok(found)
}

/// A form with what else makes more of the records alike: another escape, spaces in front of quotes, comments.
fn refined(
    text: &[u8],
    hints: &CsvHints,
    mut best: Dialect,
    is_whole: bool,
    cancel: &Cancel,
) -> Result<Dialect> {
    let contains = |what: &[u8]| memchr::memmem::find(text, what).is_some();
    let Marks { delimiter, quote, .. } = best.marks;
    if contains(&[delimiter, b' ', quote]) {
        let padded = tried(
            text,
            Marks {
                padded: true,
                ..best.marks
            },
            is_whole,
            cancel,
        )?;
        if padded.score >= best.score {
            best = padded;
        }
    }
    if hints.escape.is_none() && contains(&[b'\\', quote]) {
        let escaped = tried(
            text,
            Marks {
                escape: b'\\',
                ..best.marks
            },
            is_whole,
            cancel,
        )?;
        if escaped.score > best.score {
            best = escaped;
        }
    }
    if text.starts_with(&[COMMENT]) || contains(&[b'\n', COMMENT]) || contains(&[b'\r', COMMENT]) {
        let commented = tried(
            text,
            Marks {
                comment: Some(COMMENT),
                ..best.marks
            },
            is_whole,
            cancel,
        )?;
        let is_better = !best.score.is_perfect() || best.skipped > 0;
        if is_better && commented.score.is_perfect() && commented.skipped == 0 {
            best = commented;
        }
    }
    Ok(best)
}

fn tried(text: &[u8], marks: Marks, is_whole: bool, cancel: &Cancel) -> Result<Dialect> {
    let mut widths: Vec<usize> = Vec::new();
    each_record(text, marks, is_whole, cancel, &mut |record| {
        widths.push(record.len());
        widths.len() < LINES
    })?;
    let skipped = title(&widths);
    let width = widths.get(skipped).copied().unwrap_or(0);
    let same = widths[skipped..].iter().filter(|&&w| w == width).count();
    let score = match width {
        0 | 1 => Score { alike: 0, width },
        // A line that is read past makes the form a worse one.
        _ => Score {
            alike: same * 1000 / widths.len(),
            width,
        },
    };
    Ok(Dialect {
        marks,
        skipped,
        score,
    })
}

/// Records of one field in front of a table of more, all of whose records have as many fields.
fn title(widths: &[usize]) -> usize {
    let alone = widths.iter().take_while(|&&width| width == 1).count();
    let table = &widths[alone..];
    let is_table = table.len() >= 2 && table.iter().all(|width| *width == table[0]);
    if is_table && alone <= MOST_SKIPPED {
        alone
    } else {
        0
    }
}
