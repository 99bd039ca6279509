//! Columns of strings: constant, ordered dictionary, or raw with offsets and a heap that is
//! FSST-compressed where it pays.

use super::{EncodedColumn, Encoding, constant, fsst, string_dictionary};
use crate::cost_model::{Column, Shape};
use crate::format::{ColumnEntry, FLAG_FSST, FLAG_NULLS, FLAG_SMA};
use crate::input::{Valid, is_valid};
use frazil_types::{Error, NativeType, Result, SqlState, StringRef};

/// Strings of a block, viewed as bytes; those of NULL rows are empty.
pub(crate) struct Strings<'a> {
    pub refs: &'a [StringRef],
    pub bytes: Vec<&'a [u8]>,
    pub valid: Option<&'a Valid>,
    pub total: usize,
}

impl<'a> Strings<'a> {
    fn new(refs: &'a [StringRef], valid: Option<&'a Valid>) -> Strings<'a> {
        let bytes: Vec<&[u8]> = refs
            .iter()
            .enumerate()
            .map(|(row, s)| {
                if is_valid(valid, row) {
                    // SAFETY: the maker of the input vouches that its strings live as long as it.
                    unsafe { s.bytes() }
                } else {
                    &[][..]
                }
            })
            .collect();
        let total = bytes.iter().map(|b| b.len()).sum();
        Strings {
            refs,
            bytes,
            valid,
            total,
        }
    }

    /// Smallest and largest valid string.
    fn bounds(&self) -> Option<(&'a [u8], &'a [u8])> {
        let rows = || (0..self.refs.len()).filter(|&row| is_valid(self.valid, row));
        let first = rows().next()?;
        let (mut min, mut max) = (first, first);
        for row in rows() {
            let s = self.refs[row];
            // SAFETY: as in `new`.
            unsafe {
                if s.compare(self.refs[min]).is_lt() {
                    min = row;
                } else if s.compare(self.refs[max]).is_gt() {
                    max = row;
                }
            }
        }
        Some((self.bytes[min], self.bytes[max]))
    }
}

/// What a column of strings could be held as.
enum Plan<'a> {
    Constant(&'a [u8]),
    Dictionary(string_dictionary::Distinct<'a>),
    Raw,
}

impl<'a> Strings<'a> {
    /// A dictionary where it pays or is asked for, else raw.
    fn plans(&self, column: &Column, bounds: (&'a [u8], &'a [u8])) -> Vec<Plan<'a>> {
        if bounds.0 == bounds.1 && self.valid.is_none() && column.admits(Encoding::Constant) {
            return vec![Plan::Constant(bounds.0)];
        }
        let wanted = column.options.encoding == Some(Encoding::Dictionary) || column.must_have_codes();
        let distinct = match column.admits(Encoding::Dictionary) {
            true if wanted => string_dictionary::find(self, self.bytes.len()),
            true => string_dictionary::find_if_it_pays(self),
            false => None,
        };
        match distinct {
            Some(distinct) => vec![Plan::Dictionary(distinct)],
            None if column.admits(Encoding::Raw) && !column.must_have_codes() => vec![Plan::Raw],
            None => Vec::new(),
        }
    }

    fn shape(&self, plan: &Plan) -> Shape {
        let (encoding, beside) = match plan {
            Plan::Dictionary(distinct) => return distinct.shape(self.valid.is_some()),
            Plan::Constant(value) => (Encoding::Constant, value.len()),
            // Compression is taken to halve.
            Plan::Raw => (Encoding::Raw, 4 * (self.bytes.len() + 1) + self.total / 2),
        };
        Shape {
            encoding,
            largest: None,
            beside,
            exceptions: 0,
        }
    }
}

/// What a column of strings could be held as; `None` if all are NULL.
pub(crate) fn shapes(refs: &[StringRef], valid: Option<&Valid>, column: &Column) -> Option<Vec<Shape>> {
    let strings = Strings::new(refs, valid);
    let plans = strings.plans(column, strings.bounds()?);
    Some(plans.iter().map(|p| strings.shape(p)).collect())
}

/// Encodes strings; without a symbol table to be used or made they stay as they are.
pub(crate) fn encode(
    refs: &[StringRef],
    valid: Option<&Valid>,
    column: &Column,
    with_psma: bool,
    trained: Option<&mut fsst::Trained>,
) -> Result<EncodedColumn> {
    let strings = Strings::new(refs, valid);
    if strings.total >= 1 << 32 {
        return Err(Error::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            format!(
                "{} bytes of strings in one column exceed the 4 GiB of a block",
                strings.total
            ),
        )
        .with_hint("freeze smaller chunks"));
    }
    let Some((min, max)) = strings.bounds() else {
        return Ok(constant::encode_null(NativeType::String, refs.len()));
    };
    let mut plans = strings.plans(column, (min, max));
    let found: Vec<Shape> = plans.iter().map(|p| strings.shape(p)).collect();
    let Some(chosen) = column.choose(&found) else {
        let pinned = Encoding::ALL.map(|e| column.pinned(e));
        let fitting = pinned.iter().flat_map(|c| strings.plans(c, (min, max)));
        let fitting: Vec<Shape> = fitting.map(|p| strings.shape(&p)).collect();
        return Err(column.refusal(&fitting));
    };
    let mut entry = ColumnEntry::new(chosen.encoding, NativeType::String);
    entry.layout = chosen.layout;
    entry.code_bits = chosen.bits as u8;
    entry.flags = FLAG_SMA | if valid.is_some() { FLAG_NULLS } else { 0 };
    entry.null_count = valid.map_or(0, |v| v.nulls as u32);
    let mut out = match plans.swap_remove(chosen.shape) {
        Plan::Constant(value) => return Ok(constant::encode_string(value)),
        Plan::Dictionary(distinct) => string_dictionary::encode(&strings, entry, distinct, with_psma),
        Plan::Raw => encode_raw(&strings, entry, trained),
    };
    out.sma = crate::sma::string_sma(min, max);
    Ok(out)
}

fn encode_raw(
    strings: &Strings,
    mut entry: ColumnEntry,
    trained: Option<&mut fsst::Trained>,
) -> EncodedColumn {
    entry.code_bits = 32;
    let compressed = trained.and_then(|trained| fsst::try_compress(strings, trained));
    if compressed.is_some() {
        entry.flags |= FLAG_FSST;
    }
    let mut out = EncodedColumn::new(entry);
    out.bitmap = strings.valid.map_or(Vec::new(), Valid::to_bytes);
    out.codes.reserve(4 * strings.bytes.len() + 4);
    out.codes.extend(0u32.to_le_bytes());
    match compressed {
        Some(c) => {
            out.codes
                .extend(c.ends.iter().flat_map(|&end| (end as u32).to_le_bytes()));
            out.heap = c.heap;
            out.symbols = c.symbols;
        }
        None => {
            out.heap.reserve(strings.total);
            for bytes in &strings.bytes {
                out.heap.extend_from_slice(bytes);
                out.codes.extend((out.heap.len() as u32).to_le_bytes());
            }
        }
    }
    out
}
