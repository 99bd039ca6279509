//! The bytes of PostgreSQL's COPY … (FORMAT binary) → rows. Every length is checked before memory is taken: a value's
//! bytes are taken as they arrive, out of the statement's budget.

use crate::compression::Compression;
use crate::file_input::{FileInput, Origin};
use crate::pgcopy_writer::{END, SIGNATURE};
use crate::{BatchReader, ReadLimits};
use frazil_types::{
    CHUNK_ROWS, ColumnDef, ColumnVector, Error, Reservation, Result, RowBatch, SqlState, Value,
};

/// Bytes that are read at once.
const PIECE_BYTES: usize = 1 << 16;
/// Flags that a reader must know: the upper half.
const CRITICAL: u32 = 0xffff_0000;
/// The flag of rows with oids, which PostgreSQL 12 gave up.
const WITH_OIDS: u32 = 1 << 16;

/// Reads rows of columns.
pub struct PgcopyReader {
    input: FileInput,
    limits: ReadLimits,
    columns: Vec<ColumnDef>,
    /// Bytes that were read from the input; those before `at` are used.
    piece: Vec<u8>,
    at: usize,
    /// Bytes of the input that are used.
    used: u64,
    /// Number of rows that were read.
    rows: u64,
    is_over: bool,
}

impl PgcopyReader {
    /// Opens a file or stream and reads its header. 22P04 for bytes that are not of this form; the errors of files.
    pub fn open(
        origin: Origin<'_>,
        columns: &[ColumnDef],
        compression: Option<Compression>,
        limits: ReadLimits,
    ) -> Result<PgcopyReader> {
        let mut reader = PgcopyReader {
            input: FileInput::open(origin, compression, &limits)?,
            limits,
            columns: columns.to_vec(),
            piece: Vec::new(),
            at: 0,
            used: 0,
            rows: 0,
            is_over: false,
        };
        reader.header()?;
        Ok(reader)
    }

    fn header(&mut self) -> Result<()> {
        let signature = self
            .array()
            .map_err(|_| bad("COPY file signature not recognized"))?;
        if &signature != SIGNATURE {
            return Err(bad("COPY file signature not recognized"));
        }
        let flags = self
            .array()
            .map_err(|_| bad("invalid COPY file header (missing flags)"))?;
        let flags = u32::from_be_bytes(flags);
        if flags & WITH_OIDS != 0 {
            return Err(bad("invalid COPY file header (WITH OIDS)"));
        }
        if flags & CRITICAL != 0 {
            return Err(bad("unrecognized critical flags in COPY file header"));
        }
        let length = self
            .array()
            .map_err(|_| bad("invalid COPY file header (missing length)"))?;
        let wrong = || bad("invalid COPY file header (wrong length)");
        let length = usize::try_from(i32::from_be_bytes(length)).map_err(|_| wrong())?;
        let mut memory = self.limits.budget.reservation();
        self.bytes(length, &mut memory).map(drop).map_err(|_| wrong())
    }

    /// True if a byte is left; else the end was reached.
    fn has_more(&mut self) -> Result<bool> {
        if self.at == self.piece.len() {
            self.piece.resize(PIECE_BYTES, 0);
            let count = self.input.read(&mut self.piece, &self.limits)?;
            self.piece.truncate(count);
            self.at = 0;
        }
        Ok(self.at < self.piece.len())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        for byte in &mut array {
            if !self.has_more()? {
                return Err(bad("unexpected EOF in COPY data"));
            }
            *byte = self.piece[self.at];
            self.at += 1;
        }
        self.used += N as u64;
        Ok(array)
    }

    /// The next bytes, whose memory is counted as they arrive.
    fn bytes(&mut self, length: usize, memory: &mut Reservation) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while bytes.len() < length {
            if !self.has_more()? {
                return Err(bad("unexpected EOF in COPY data"));
            }
            let count = (length - bytes.len()).min(self.piece.len() - self.at);
            memory.grow(count)?;
            bytes.extend_from_slice(&self.piece[self.at..self.at + count]);
            self.at += count;
        }
        self.used += length as u64;
        Ok(bytes)
    }

    /// Reads a row to the end of each column's values. False at the mark behind the last row, and at the end of the
    /// bytes, as in PostgreSQL: ADBC sends no mark.
    fn row(&mut self, values: &mut [Vec<Value>], memory: &mut Reservation) -> Result<bool> {
        let mut count = [0; 2];
        for byte in &mut count {
            if !self.has_more()? {
                return Ok(false);
            }
            [*byte] = self.array()?;
        }
        let count = i16::from_be_bytes(count);
        if count == END {
            if self.has_more()? {
                return Err(bad("received copy data after EOF marker"));
            }
            return Ok(false);
        }
        if usize::try_from(count) != Ok(self.columns.len()) {
            let message = format!("row field count is {count}, expected {}", self.columns.len());
            return Err(bad(message));
        }
        for (at, values) in values.iter_mut().enumerate() {
            values.push(
                self.value(at, memory)
                    .map_err(|error| self.of_column(error, at))?,
            );
        }
        Ok(true)
    }

    fn value(&mut self, at: usize, memory: &mut Reservation) -> Result<Value> {
        let length = i32::from_be_bytes(self.array()?);
        if length == -1 {
            return Ok(Value::Null);
        }
        let length = usize::try_from(length).map_err(|_| bad("invalid field size"))?;
        let bytes = self.bytes(length, memory)?;
        let ty = self.columns[at].ty;
        (ty.info().receive)(&bytes, ty)
    }

    /// An error of a column of the row that is read, with its place.
    fn of_column(&self, error: Error, at: usize) -> Error {
        let place = format!("row {}, column \"{}\"", self.rows + 1, self.columns[at].name);
        match error.state() {
            SqlState::QUERY_CANCELED | SqlState::OUT_OF_MEMORY => error,
            _ => error.in_context(place),
        }
    }
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(SqlState::BAD_COPY_FORMAT, message)
}

impl BatchReader for PgcopyReader {
    fn next_batch(&mut self) -> Result<Option<RowBatch>> {
        let mut values: Vec<Vec<Value>> = vec![Vec::new(); self.columns.len()];
        let mut memory = self.limits.budget.reservation();
        let mut rows = 0;
        while rows < CHUNK_ROWS && !self.is_over {
            match self.row(&mut values, &mut memory)? {
                true => rows += 1,
                false => self.is_over = true,
            }
            self.rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let columns = self.columns.iter().zip(&values);
        let columns = columns.map(|(column, values)| ColumnVector::from_values(column.ty, values));
        Ok(Some(RowBatch {
            columns: columns.collect(),
            rows,
        }))
    }

    fn progress(&self) -> (u64, u64) {
        (self.used, self.input.total)
    }
}
