//! Reading redo. Every byte is checked: what is not redo is an error, never a panic.

use super::columns::RedoColumns;
use super::kind;
use super::write::LoadedBlock;
use crate::log::{RedoPlace, SegmentPlace};
use frazil_block::{Block, BlockBytes};
use frazil_catalog::Position;
use frazil_types::{CHUNK_ROWS, ColumnNumber, Error, ObjectId, Result, RowId, SqlState};

/// Something that a transaction did.
#[derive(Clone, Debug)]
pub enum Change<'a> {
    /// Rows were inserted.
    Insert {
        /// Into this table.
        table: ObjectId,
        /// Id of the first one; the others follow in its chunk.
        first: RowId,
        /// The rows.
        columns: RedoColumns<'a>,
    },
    /// Rows were deleted.
    Delete {
        /// From this table.
        table: ObjectId,
        /// Their ids.
        rows: Vec<RowId>,
    },
    /// The catalog is another one: what changed, as [`crate::Durability::catalog_change`] writes it.
    Catalog(&'a [u8]),
    /// Chunks are gone; others have their rows, if there are any.
    Removed {
        /// Their table.
        table: ObjectId,
        /// Their numbers.
        chunks: Vec<u32>,
    },
    /// There is another chunk, whose block lies in a segment.
    Load {
        /// Its table.
        table: ObjectId,
        /// The block.
        block: LoadedBlock,
    },
    /// A sequence stands at a position: the values up to it are given, or may be.
    Sequence {
        /// The sequence.
        sequence: ObjectId,
        /// The position.
        position: Position,
    },
    /// More changes are in a segment, and are done in the place of this one.
    Elsewhere(RedoPlace),
    /// A column got values for the rows that a chunk had.
    Filled {
        /// The table.
        table: ObjectId,
        /// Number of the chunk.
        chunk: u32,
        /// The column.
        column: ColumnNumber,
        /// A block of the column.
        block: Block,
    },
    /// All rows of this table were removed.
    Truncate(ObjectId),
    /// Rows of this table came into blocks, or into others, with the ids that they had.
    Held(ObjectId),
}

/// The changes of a transaction, in order. XX001, with the byte, where the bytes are not redo; nothing follows that.
pub fn changes(redo: &[u8]) -> impl Iterator<Item = Result<Change<'_>>> {
    changes_at(redo, 0)
}

/// As [`changes`], of redo that is a part of another one's, from byte `offset` on.
pub fn changes_at(redo: &[u8], offset: usize) -> impl Iterator<Item = Result<Change<'_>>> {
    each(Bytes { bytes: redo, offset }, entry)
}

/// A change that is not read yet.
#[derive(Clone, Copy, Debug)]
pub struct RawChange<'a> {
    /// The table whose rows it changes, and nothing else; `None`: it may need what lies outside of the table.
    pub table: Option<ObjectId>,
    /// What [`changes_at`] reads.
    pub bytes: &'a [u8],
    /// Where they begin in the transaction's redo.
    pub offset: usize,
}

/// The changes of a transaction, in order, not read. XX001, with the byte, where the bytes are not redo; nothing follows that.
pub fn raw_changes(redo: &[u8]) -> impl Iterator<Item = Result<RawChange<'_>>> {
    each(
        Bytes {
            bytes: redo,
            offset: 0,
        },
        |rest| {
            let (offset, bytes) = (rest.offset, rest.bytes);
            let kind = rest.u8()?;
            let length = rest.u32()? as usize;
            let mut body = Bytes {
                offset: rest.offset,
                bytes: rest.take(length)?,
            };
            let table = match kind {
                kind::INSERT | kind::DELETE | kind::TRUNCATE | kind::REMOVED | kind::HELD | kind::FILLED => {
                    Some(ObjectId(body.u32()?))
                }
                // Changes that are read tell those that are known from others.
                _ => None,
            };
            Ok(RawChange {
                table,
                bytes: &bytes[..rest.offset - offset],
                offset,
            })
        },
    )
}

/// What `next` reads from the front, until the end or an error.
fn each<'a, T>(
    mut rest: Bytes<'a>,
    next: impl Fn(&mut Bytes<'a>) -> Result<T>,
) -> impl Iterator<Item = Result<T>> {
    std::iter::from_fn(move || {
        if rest.bytes.is_empty() {
            return None;
        }
        let read = next(&mut rest);
        if read.is_err() {
            rest.bytes = &[];
        }
        Some(read)
    })
}

fn entry<'a>(rest: &mut Bytes<'a>) -> Result<Change<'a>> {
    let kind = rest.u8()?;
    let length = rest.u32()? as usize;
    let mut body = Bytes {
        offset: rest.offset,
        bytes: rest.take(length)?,
    };
    let change = match kind {
        kind::INSERT => return insert(body),
        kind::DELETE => Change::Delete {
            table: ObjectId(body.u32()?),
            rows: {
                let rows = body.u32()? as usize;
                body.row_ids(rows)?
            },
        },
        kind::CATALOG => Change::Catalog(body.take(length)?),
        kind::REMOVED => Change::Removed {
            table: ObjectId(body.u32()?),
            chunks: {
                let chunks = body.u32()? as usize;
                body.numbers(chunks)?
            },
        },
        kind::LOAD => Change::Load {
            table: ObjectId(body.u32()?),
            block: load(&mut body)?,
        },
        kind::SEQUENCE => Change::Sequence {
            sequence: ObjectId(body.u32()?),
            position: Position {
                value: body.u64()? as i64,
                is_called: body.u8()? != 0,
            },
        },
        kind::FILLED => return filled(body),
        kind::ELSEWHERE => Change::Elsewhere(elsewhere(&mut body)?),
        kind::TRUNCATE => Change::Truncate(ObjectId(body.u32()?)),
        kind::HELD => Change::Held(ObjectId(body.u32()?)),
        _ => {
            return Err(body
                .damaged(&format!(
                    "an entry of kind {kind}, which this Frazil does not know"
                ))
                .with_hint("open the directory with the version of Frazil that wrote it"));
        }
    };
    body.end("the entry")?;
    Ok(change)
}

fn insert(mut body: Bytes<'_>) -> Result<Change<'_>> {
    let (table, chunk, offset) = (body.u32()?, body.u32()?, body.u16()?);
    let (rows, columns) = (body.u32()? as usize, body.u16()? as usize);
    if rows == 0 || usize::from(offset) + rows > CHUNK_ROWS {
        return Err(body.damaged(&format!("{rows} rows from offset {offset} of a chunk on")));
    }
    Ok(Change::Insert {
        table: ObjectId(table),
        first: RowId::new(chunk, offset),
        columns: RedoColumns {
            rows,
            columns,
            bytes: body,
        },
    })
}

fn filled(mut body: Bytes<'_>) -> Result<Change<'_>> {
    let (table, chunk, column) = (body.u32()?, body.u32()?, body.u32()?);
    let rest = body.take(body.bytes.len())?;
    let block = Block::open(BlockBytes::copy_of(rest))
        .and_then(|block| block.verify().map(|()| block))
        .map_err(|e| body.damaged(e.message()))?;
    Ok(Change::Filled {
        table: ObjectId(table),
        chunk,
        column: ColumnNumber(column),
        block,
    })
}

fn elsewhere(body: &mut Bytes<'_>) -> Result<RedoPlace> {
    let redo = RedoPlace {
        place: SegmentPlace {
            segment: body.u64()?,
            offset: body.u64()?,
            bytes: body.u64()?,
        },
        checksum: body.u32()?,
        used: body.u64()?,
    };
    match redo.used <= redo.place.bytes {
        true => Ok(redo),
        false => Err(body.damaged("more redo counts than a segment has")),
    }
}

fn load(body: &mut Bytes<'_>) -> Result<LoadedBlock> {
    let (chunk, rows) = (body.u32()?, body.u32()?);
    if rows == 0 || rows as usize > CHUNK_ROWS {
        return Err(body.damaged(&format!("a chunk of {rows} rows")));
    }
    Ok(LoadedBlock {
        chunk,
        rows,
        checksum: body.u32()?,
        place: SegmentPlace {
            segment: body.u64()?,
            offset: body.u64()?,
            bytes: body.u64()?,
        },
    })
}

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a> {
    bytes: &'a [u8],
    /// Bytes of the redo in front of them.
    offset: usize,
}

impl<'a> Bytes<'a> {
    /// The next `len` bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.bytes.split_at_checked(len) else {
            return Err(self.damaged(&format!(
                "{len} bytes are expected, {} are there",
                self.bytes.len()
            )));
        };
        self.bytes = rest;
        self.offset += len;
        Ok(taken)
    }

    fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN]> {
        let mut array = [0; LEN];
        array.copy_from_slice(self.take(LEN)?);
        Ok(array)
    }

    pub fn u8(&mut self) -> Result<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<u32>> {
        let bytes = self.take(count.saturating_mul(4))?;
        let numbers = bytes.as_chunks::<4>().0.iter();
        Ok(numbers.map(|number| u32::from_le_bytes(*number)).collect())
    }

    fn row_ids(&mut self, rows: usize) -> Result<Vec<RowId>> {
        let bytes = self.take(rows.saturating_mul(8))?;
        let ids = bytes.as_chunks::<8>().0.iter();
        Ok(ids.map(|id| RowId(u64::from_le_bytes(*id))).collect())
    }

    /// Errors with XX001 if bytes are left after `what`.
    pub fn end(&self, what: &str) -> Result<()> {
        match self.bytes.len() {
            0 => Ok(()),
            more => Err(self.damaged(&format!("{more} bytes behind {what}"))),
        }
    }

    /// XX001 for what stands here.
    pub fn damaged(&self, what: &str) -> Error {
        Error::new(
            SqlState::DATA_CORRUPTED,
            format!(
                "a log record is damaged at byte {} of its redo: {what}",
                self.offset
            ),
        )
    }
}
