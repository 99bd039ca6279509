//! Rows → the bytes of PostgreSQL's COPY … (FORMAT binary): a signature, each row as the number of its values and the
//! values in the forms of the protocol, and a mark behind the last row.

use crate::batch_writer::{BatchWriter, pieces};
use crate::file_output::FileOutput;
use crate::in_order::in_order;
use frazil_types::sql_type::SentColumn;
use frazil_types::{Result, RowBatch};
use std::ops::Range;

/// The first bytes: they change if something on the way takes them for text.
pub const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// The number of values that marks the end.
pub const END: i16 = -1;
/// Bytes of a row that a piece takes, by estimate.
const PIECE_BYTES: usize = 1 << 17;
/// Rows that a thread writes at once.
const PIECE_ROWS: usize = 1024;

/// Writes rows as they come.
pub struct PgcopyWriter<'a> {
    output: FileOutput<'a>,
    is_first: bool,
}

impl<'a> PgcopyWriter<'a> {
    /// Begins.
    pub fn new(output: FileOutput<'a>) -> PgcopyWriter<'a> {
        PgcopyWriter {
            output,
            is_first: true,
        }
    }

    fn begin(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.is_first, false) {
            return Ok(());
        }
        // No flags, and nothing more of a header.
        self.output.write(&[SIGNATURE, &[0; 8][..]].concat())
    }
}

/// Appends rows of a batch. The errors of types without a binary form.
fn rows(out: &mut Vec<u8>, batch: &RowBatch, rows: Range<usize>) -> Result<()> {
    let columns: Vec<_> = batch.columns.iter().map(SentColumn::of).collect();
    for row in rows {
        out.extend((columns.len() as i16).to_be_bytes());
        for column in &columns {
            column.push(out, row)?;
        }
    }
    Ok(())
}

impl BatchWriter for PgcopyWriter<'_> {
    fn write(&mut self, batches: &[RowBatch], threads: usize) -> Result<()> {
        self.begin()?;
        let pieces: Vec<(&RowBatch, Range<usize>)> = pieces(batches, PIECE_ROWS).collect();
        let bytes_of = |piece: usize| {
            let (batch, of_piece) = &pieces[piece];
            let mut bytes = Vec::with_capacity(PIECE_BYTES);
            rows(&mut bytes, batch, of_piece.clone()).map(|()| bytes)
        };
        let output = &mut self.output;
        in_order(threads, pieces.len(), bytes_of, |bytes| output.write(&bytes?))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.begin()?;
        self.output.write(&END.to_be_bytes())?;
        self.output.finish()
    }
}
