//! Reads a CSV file into batches.

use crate::csv_field::ColumnBuilder;
use crate::csv_splitter::{Marks, Record, Split, split};
use crate::date_form::DateForm;
use crate::file_input::{FileInput, Origin};
use crate::rejects::{OnError, Place};
use crate::text_splitter::{TextMarks, split_text};
use crate::{BatchReader, Compression, Encoding, ReadLimits};
use frazil_types::{CHUNK_ROWS, ColumnDef, Error, Reservation, Result, RowBatch, SqlState};

const BUFFER_BYTES: usize = 1 << 20;
/// Longest record, in bytes; one that is longer is most likely a quote that was never closed.
const RECORD_MAX_BYTES: usize = 1 << 30;

/// The first record of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Is a row.
    Absent,
    /// Names the columns, which a reader checks but for the case of letters.
    Checked,
    /// Names the columns, which a reader checks.
    Matched,
    /// Names the columns, and is read past.
    Skipped,
}

/// The two ways to write the fields of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// CSV: in quotes where they contain marks.
    #[default]
    Quoted,
    /// PostgreSQL's text: with backslashes in front of marks.
    Escaped,
}

/// The form of a file of text: CSV, or PostgreSQL's text format.
#[derive(Clone, Debug)]
pub struct CsvOptions {
    /// The way in which fields are written. Quotes, comments and padding are CSV's alone.
    pub records: Records,
    /// What the first record is. A writer writes the names unless it is absent.
    pub header: Header,
    /// Between fields.
    pub delimiter: u8,
    /// Around fields that contain marks.
    pub quote: u8,
    /// Before a quote within quotes.
    pub escape: u8,
    /// The unquoted text that stands for NULL.
    pub null: String,
    /// Other unquoted texts that stand for NULL when a file is read.
    pub more_nulls: Vec<String>,
    /// Lines in front of the first record that are read past, whatever is in them.
    pub skipped_lines: usize,
    /// How a file that is read is compressed; `None`: as its name says.
    pub compression: Option<Compression>,
    /// The encoding of a file that is read.
    pub encoding: Encoding,
    /// At the beginning of a line that is left out.
    pub comment: Option<u8>,
    /// Records in front of the first one that are read past.
    pub skipped: usize,
    /// Whether spaces in front of a quote are no part of the field.
    pub padded: bool,
    /// The form of the dates of each column; ISO's for those that are not listed.
    pub dates: Vec<DateForm>,
    /// For each column, true if the text of NULL is a text; not for those that are not listed.
    pub force_not_null: Vec<bool>,
    /// For each column, true if the text of NULL in quotes is NULL, too; not for those that are not listed.
    pub force_null: Vec<bool>,
    /// For each column, true if a writer quotes all values; not for those that are not listed.
    pub force_quote: Vec<bool>,
}

impl Default for CsvOptions {
    fn default() -> CsvOptions {
        CsvOptions {
            records: Records::Quoted,
            header: Header::Absent,
            delimiter: b',',
            quote: b'"',
            escape: b'"',
            null: String::new(),
            more_nulls: Vec::new(),
            skipped_lines: 0,
            compression: None,
            encoding: Encoding::Utf8,
            comment: None,
            skipped: 0,
            padded: false,
            dates: Vec::new(),
            force_not_null: Vec::new(),
            force_null: Vec::new(),
            force_quote: Vec::new(),
        }
    }
}

/// Reads records of a CSV file as rows of the given columns.
pub struct CsvReader {
    input: FileInput,
    limits: ReadLimits,
    options: CsvOptions,
    on_error: OnError,
    columns: Vec<ColumnDef>,
    buffer: Vec<u8>,
    /// Covers the buffer and the record split off it, as far as they outgrow the usual size.
    reservation: Reservation,
    start: usize,
    ended: bool,
    line: u64,
    record: Record,
    record_bytes: usize,
    bytes_read: u64,
}

impl CsvReader {
    /// Opens a file whose fields are `columns`, in that order. With a header its names must be the
    /// columns', in that order.
    pub fn open(
        origin: Origin<'_>,
        columns: &[ColumnDef],
        options: CsvOptions,
        limits: ReadLimits,
    ) -> Result<CsvReader> {
        let mut reader = CsvReader {
            input: FileInput::open(origin, options.compression, &limits)?.decoding(options.encoding),
            reservation: limits.budget.reservation(),
            limits,
            options,
            on_error: OnError::Stop,
            columns: columns.to_vec(),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            start: 0,
            ended: false,
            line: 1,
            record: Record::default(),
            record_bytes: 0,
            bytes_read: 0,
        };
        reader.fill()?;
        if reader.buffer.starts_with(b"\xef\xbb\xbf") {
            reader.start = 3;
        }
        for _ in 0..reader.options.skipped_lines {
            reader.skip_line()?;
        }
        for _ in 0..reader.options.skipped {
            reader.next_record()?;
        }
        match reader.options.header {
            Header::Absent => {}
            Header::Checked | Header::Matched => reader.check_header()?,
            Header::Skipped => drop(reader.next_record()?),
        }
        Ok(reader)
    }

    /// Says what becomes of records that are no rows. A quote that is never closed ends the file all the same.
    pub fn on_error(self, on_error: OnError) -> CsvReader {
        CsvReader { on_error, ..self }
    }

    /// Reads past the end of a line.
    fn skip_line(&mut self) -> Result<()> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start..]) {
                self.start += at + 1;
                self.line += 1;
                return Ok(());
            }
            self.start = self.buffer.len();
            if self.ended {
                return Ok(());
            }
            self.fill()?;
        }
    }

    fn check_header(&mut self) -> Result<()> {
        if self.next_record()?.is_none() {
            return Ok(());
        }
        for (i, column) in self.columns.iter().enumerate() {
            let found = if i < self.record.len() {
                String::from_utf8_lossy(self.record.field(i).0)
            } else {
                "".into()
            };
            let fits = match self.options.header {
                Header::Matched => found == column.name,
                Header::Absent | Header::Checked | Header::Skipped => {
                    found.trim().eq_ignore_ascii_case(&column.name)
                }
            };
            if !fits {
                let message = format!(
                    "column {} of the header is \"{found}\", expected \"{}\"",
                    i + 1,
                    column.name
                );
                return Err(self
                    .place(1, Error::new(SqlState::BAD_COPY_FORMAT, message))
                    .with_hint("name the file's columns in their order: COPY table (a, b, …) FROM …"));
            }
        }
        self.check_width().map_err(|e| self.place(1, e))
    }

    /// 22P04 unless the record has a field a column.
    fn check_width(&self) -> Result<()> {
        let (found, expected) = (self.record.len(), self.columns.len());
        if found == expected {
            return Ok(());
        }
        let message = if found < expected {
            format!(
                "missing data for column \"{}\": {found} fields, expected {expected}",
                self.columns[found].name
            )
        } else {
            format!("extra data after the last expected column: {found} fields, expected {expected}")
        };
        Err(Error::new(SqlState::BAD_COPY_FORMAT, message))
    }

    fn place(&self, line: u64, error: Error) -> Error {
        error.in_context(format!("file \"{}\", line {line}", self.input.path.display()))
    }

    /// Reads more bytes behind those not split yet. 53200 over the budget.
    fn fill(&mut self) -> Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let kept = self.buffer.len();
        let whole = kept + BUFFER_BYTES.max(kept);
        if whole > self.buffer.capacity() {
            // As much again for the record, whose fields are copied out of the buffer.
            let more = 2 * (whole - self.buffer.capacity());
            self.reserve(more, whole).map_err(|e| {
                self.place(self.line, e)
                    .with_detail("a record must fit into memory")
            })?;
        }
        self.buffer.resize(whole, 0);
        let mut filled = kept;
        while filled < whole {
            let n = self.input.read(&mut self.buffer[filled..], &self.limits)?;
            if n == 0 {
                self.ended = true;
                break;
            }
            filled += n;
        }
        self.buffer.truncate(filled);
        self.bytes_read += (filled - kept) as u64;
        Ok(())
    }

    /// Makes the buffer hold `whole` bytes, for which `more` bytes are reserved.
    fn reserve(&mut self, more: usize, whole: usize) -> Result<()> {
        self.reservation.grow(more)?;
        let further = whole - self.buffer.len();
        self.buffer.try_reserve_exact(further).map_err(|_| {
            let message = format!("out of memory: the system refused {whole} bytes");
            Error::new(SqlState::OUT_OF_MEMORY, message)
        })
    }

    /// Splits the next record; gives the line it begins on, or `None` at the end of the file.
    fn next_record(&mut self) -> Result<Option<u64>> {
        let marks = Marks {
            delimiter: self.options.delimiter,
            quote: self.options.quote,
            escape: self.options.escape,
            comment: self.options.comment,
            padded: self.options.padded,
        };
        loop {
            if self.start == self.buffer.len() && self.ended {
                return Ok(None);
            }
            let input = &self.buffer[self.start..];
            let outcome = match self.options.records {
                Records::Quoted => split(input, marks, self.ended, &mut self.record),
                Records::Escaped => {
                    let marks = TextMarks {
                        delimiter: self.options.delimiter,
                        null: self.options.null.as_bytes(),
                    };
                    split_text(input, marks, self.ended, &mut self.record)
                }
            };
            match outcome {
                Split::Record { bytes, lines } => {
                    let line = self.line;
                    self.start += bytes;
                    self.line += lines;
                    self.record_bytes = bytes;
                    let skips_blank = self.options.records == Records::Quoted && self.columns.len() > 1;
                    if skips_blank && self.record.is_blank_line() {
                        continue;
                    }
                    return Ok(Some(line));
                }
                Split::End => {
                    self.start = self.buffer.len();
                    self.ended = true;
                    return Ok(None);
                }
                Split::Comment { bytes } => {
                    self.start += bytes;
                    self.line += 1;
                }
                Split::Incomplete if self.buffer.len() - self.start < RECORD_MAX_BYTES => self.fill()?,
                Split::Incomplete => {
                    let message = format!("a record is longer than the limit of {RECORD_MAX_BYTES} bytes");
                    let error = Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message);
                    let error = error.with_hint("is there a quote that is never closed?");
                    return Err(self.place(self.line, error));
                }
                Split::OpenQuote => {
                    let error = Error::new(SqlState::BAD_COPY_FORMAT, "unterminated quoted field");
                    return Err(self.place(self.line, error));
                }
            }
        }
    }

    /// True if the text of NULL in a column is NULL.
    fn is_null(&self, column: usize, quoted: bool) -> bool {
        let is_set = |flags: &[bool]| flags.get(column).copied().unwrap_or(false);
        match quoted {
            true => is_set(&self.options.force_null),
            false => !is_set(&self.options.force_not_null),
        }
    }

    /// The record as a row. The error of a value comes with the column's position.
    fn push_row(&self, builders: &mut [ColumnBuilder]) -> std::result::Result<(), (Option<usize>, Error)> {
        self.check_width().map_err(|e| (None, e))?;
        for (i, builder) in builders.iter_mut().enumerate() {
            let (field, quoted) = self.record.field(i);
            let says_null = field == self.options.null.as_bytes()
                || self
                    .options
                    .more_nulls
                    .iter()
                    .any(|null| field == null.as_bytes());
            let pushed = if says_null && self.is_null(i, quoted) {
                builder.push_null()
            } else {
                builder.push(field)
            };
            pushed.map_err(|e| (Some(i), e))?;
        }
        Ok(())
    }

    /// Leaves out the record that begins on a line, or gives its error with its place.
    #[cold]
    fn skip(&self, line: u64, column: Option<usize>, error: Error) -> Result<()> {
        let record = &self.buffer[self.start - self.record_bytes..self.start];
        let place = Place {
            line,
            column: column.map(|i| &*self.columns[i].name),
            text: match column {
                Some(i) => self.record.field(i).0,
                None => record.trim_ascii_end(),
            },
        };
        self.on_error
            .skip(&self.input.path, &place, error)
            .map_err(|e| match column {
                None => self.place(line, e),
                Some(i) => {
                    let (path, name) = (self.input.path.display(), &self.columns[i].name);
                    let at = format!("file \"{path}\", line {line}, column {} (\"{name}\")", i + 1);
                    let shown = String::from_utf8_lossy(&place.text[..place.text.len().min(100)]);
                    e.in_context(at).with_detail(format!("the field is \"{shown}\""))
                }
            })
    }
}

impl BatchReader for CsvReader {
    fn next_batch(&mut self) -> Result<Option<RowBatch>> {
        let mut builders: Vec<ColumnBuilder> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, c)| {
                let dates = self.options.dates.get(i).cloned().unwrap_or_default();
                ColumnBuilder::new(c.clone(), dates, CHUNK_ROWS, &self.limits.budget)
            })
            .collect();
        let (mut rows, mut records) = (0, 0_usize);
        while rows < CHUNK_ROWS {
            if records.is_multiple_of(1024) {
                self.limits.cancel.check()?;
            }
            let Some(line) = self.next_record()? else { break };
            records += 1;
            match self.push_row(&mut builders) {
                Ok(()) => rows += 1,
                Err((column, error)) => {
                    self.skip(line, column, error)?;
                    builders.iter_mut().for_each(|builder| builder.truncate(rows));
                }
            }
        }
        let columns = builders.into_iter().map(ColumnBuilder::finish).collect();
        Ok((rows > 0).then_some(RowBatch { columns, rows }))
    }

    fn progress(&self) -> (u64, u64) {
        (
            self.bytes_read - (self.buffer.len() - self.start) as u64,
            self.input.total,
        )
    }
}
