//! Builds a block: encodes each column the way that is asked for or costs least, and lays the sections
//! out.

use crate::block::Block;
use crate::build_options::BuildOptions;
use crate::bytes::{ALIGNMENT, AlignedBytes, BlockBytes};
use crate::column_buffer::ColumnBuffer;
use crate::cost_model::{Candidate, Column, Shape};
use crate::encodings::numbers::{Numbers, Scratch, of_doubles, of_integers};
use crate::encodings::{EncodedColumn, constant, fsst, strings};
use crate::format::{self, ENTRY_BYTES, HEADER_BYTES, Header, Section};
use crate::input::{ColumnInput, Valid, Values};
use frazil_types::{CHUNK_ROWS, Error, NativeType, READ_PADDING, Result};

/// Builds blocks of one table, one after the other: scratch memory and trained symbol tables are
/// reused. One per worker.
#[derive(Default)]
pub struct BlockBuilder {
    options: BuildOptions,
    scratch: Scratch,
    trained: Vec<fsst::Trained>,
    decoded: ColumnBuffer,
}

impl BlockBuilder {
    /// A builder.
    pub fn new(options: BuildOptions) -> BlockBuilder {
        BlockBuilder {
            options,
            ..BlockBuilder::default()
        }
    }

    /// Builds a block of 1 to 65,536 rows. All columns have the same number of rows. Every value is read back before
    /// the block is handed out: XX000 naming the column if one does not come back.
    pub fn build(&mut self, columns: &[ColumnInput]) -> Result<Block> {
        let rows = columns.first().map_or(0, ColumnInput::rows);
        if rows == 0 || rows > CHUNK_ROWS || columns.len() > format::MAX_COLUMNS {
            return Err(Error::internal(format!(
                "a block of {rows} rows and {} columns was to be built",
                columns.len()
            )));
        }
        if columns.iter().any(|c| c.rows() != rows) {
            return Err(Error::internal("the columns of a block differ in length"));
        }
        self.trained
            .resize_with(columns.len().max(self.trained.len()), Default::default);
        let encoded = columns
            .iter()
            .enumerate()
            .map(|(i, column)| self.encode(i, column))
            .collect::<Result<Vec<_>>>()?;
        let block = Block::open_trusted(BlockBytes::from_aligned(assemble(rows as u32, encoded)))?;
        block.check_holds(columns, &mut self.decoded)?;
        Ok(block)
    }

    fn encode(&mut self, i: usize, column: &ColumnInput) -> Result<EncodedColumn> {
        let valid = column.valid();
        let valid = valid.as_ref();
        let mut about = about(&self.options, i, column.rows, column.ty.native());
        let (psma, scratch, trained) = (self.options.psma, &mut self.scratch, &mut self.trained[i]);
        // Arrays of numbers are read where they lie: decompressing them takes several times as long as adding up their elements.
        let is_of_numbers = (column.ty.element()).is_some_and(|e| e.native() != NativeType::String);
        let mut encode = |about: &Column| match column.values {
            Values::String(v) => {
                let trained = (!is_of_numbers).then_some(&mut *trained);
                strings::encode(v, valid, about, psma, trained)
            }
            _ => with_numbers(column, valid, scratch, |numbers, codes| {
                numbers.encode(about, psma, codes)
            })
            .unwrap_or_else(|| Ok(constant::encode_null(column.ty.native(), column.rows))),
        };
        let mut encoded = encode(&about);
        if about.is_refusal(&encoded) && about.give_way() {
            encoded = encode(&about);
        }
        let mut encoded = encoded.map_err(|e| column.blame(i, e))?;
        encoded.entry.mark_binary(column.ty.is_binary());
        let strings = match column.values {
            Values::String(v) => v
                .iter()
                .enumerate()
                .filter(|&(row, s)| !s.is_inline() && crate::input::is_valid(valid, row))
                .map(|(_, s)| s.len())
                .sum(),
            _ => 0,
        };
        encoded.entry.raw_bytes = (column.native_bytes() + strings) as u64;
        Ok(encoded)
    }

    /// The ways to hold a column of a block, with their predicted costs, the chosen one marked.
    pub fn candidates(&mut self, i: usize, column: &ColumnInput) -> Vec<Candidate> {
        let valid = column.valid();
        let valid = valid.as_ref();
        let mut about = about(&self.options, i, column.rows, column.ty.native());
        let mut candidates = |about: &Column| {
            let shapes = match column.values {
                Values::String(v) => strings::shapes(v, valid, about),
                _ => with_numbers(column, valid, &mut self.scratch, |numbers, _| {
                    numbers.shapes(about)
                }),
            };
            shapes.map_or_else(|| about.of_nulls(), |shapes| about.candidates(&shapes))
        };
        let found = candidates(&about);
        if found.iter().all(|c| !c.chosen) && about.give_way() {
            return candidates(&about);
        }
        found
    }
}

impl Block {
    /// How a column is held, and what that is predicted to cost under the options.
    pub fn held_as(&self, i: usize, options: &BuildOptions) -> Candidate {
        let entry = self.entry(i);
        let about = about(options, i, self.rows() as usize, entry.native);
        about.predict(0, &Shape::of(entry), entry.layout)
    }
}

/// What the choice of a column depends on.
fn about(options: &BuildOptions, i: usize, rows: usize, native: NativeType) -> Column<'_> {
    Column {
        rows,
        native,
        options: options.column(i),
        must: options.must(i),
        purpose: options.purpose_of(i),
        weights: options.weights_of(i),
        calibration: &options.calibration,
    }
}

/// Makes numbers of a column that holds no strings; `None` if all values are NULL.
fn with_numbers<R>(
    column: &ColumnInput,
    valid: Option<&Valid>,
    scratch: &mut Scratch,
    then: impl FnOnce(&Numbers, &mut Vec<u64>) -> R,
) -> Option<R> {
    match column.values {
        Values::Bool(v) => of_integers(v, valid, scratch, u8::to_le_bytes, then),
        Values::I16(v) => of_integers(v, valid, scratch, i16::to_le_bytes, then),
        Values::I32(v) => of_integers(v, valid, scratch, i32::to_le_bytes, then),
        Values::I64(v) => of_integers(v, valid, scratch, i64::to_le_bytes, then),
        Values::I128(v) => of_integers(v, valid, scratch, i128::to_le_bytes, then),
        Values::F64(v) => of_doubles(v, valid, scratch, then),
        Values::String(_) => None,
    }
}

/// Appends a section; an empty one has no place.
fn place(out: &mut AlignedBytes, bytes: &[u8]) -> Section {
    if bytes.is_empty() {
        return Section::default();
    }
    let offset = out.len() as u64;
    out.extend(bytes);
    out.align();
    Section {
        offset,
        bytes: bytes.len() as u64,
    }
}

fn assemble(rows: u32, mut columns: Vec<EncodedColumn>) -> AlignedBytes {
    let directory = HEADER_BYTES + columns.len() * ENTRY_BYTES;
    let payload: usize = columns
        .iter()
        .map(|c| {
            [
                &c.sma,
                &c.psma,
                &c.dictionary,
                &c.codes,
                &c.heap,
                &c.bitmap,
                &c.symbols,
            ]
            .map(|s| s.len().next_multiple_of(ALIGNMENT))
            .iter()
            .sum::<usize>()
        })
        .sum();
    let mut out = AlignedBytes::with_capacity(directory.next_multiple_of(ALIGNMENT) + payload + READ_PADDING);
    out.extend_zeroed(directory);
    out.align();
    for column in &mut columns {
        column.entry.sections.sma = place(&mut out, &column.sma);
    }
    let header_bytes = out.len() as u32;
    for column in &mut columns {
        let start = out.len();
        let sections = &mut column.entry.sections;
        sections.psma = place(&mut out, &column.psma);
        sections.dictionary = place(&mut out, &column.dictionary);
        sections.codes = place(&mut out, &column.codes);
        sections.heap = place(&mut out, &column.heap);
        sections.bitmap = place(&mut out, &column.bitmap);
        sections.symbols = place(&mut out, &column.symbols);
        column.entry.extent = Section {
            offset: start as u64,
            bytes: (out.len() - start) as u64,
        };
        column.entry.crc = crc32c::crc32c(&out.as_slice()[start..]);
    }
    out.extend_zeroed(READ_PADDING);
    let header = Header {
        rows,
        header_bytes,
        total_bytes: out.len() as u64,
        columns: columns.into_iter().map(|c| c.entry).collect(),
    };
    format::write_header(&header, out.as_mut_slice());
    out
}
