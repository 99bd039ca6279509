//! Columns of strings: constant, ordered dictionary, or raw with offsets and a heap that is
//! FSST-compressed where it pays.

use super::{EncodedColumn, Encoding, constant, fsst, string_dictionary};
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

/// Encodes strings.
pub(crate) fn encode(
    refs: &[StringRef],
    valid: Option<&Valid>,
    with_psma: bool,
    trained: &mut fsst::Trained,
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
    if min == max && valid.is_none() {
        return Ok(constant::encode_string(min));
    }
    let mut entry = ColumnEntry::new(Encoding::Raw, NativeType::String);
    entry.flags = FLAG_SMA | if valid.is_some() { FLAG_NULLS } else { 0 };
    entry.null_count = valid.map_or(0, |v| v.nulls as u32);
    let sma = crate::sma::string_sma(min, max);
    let mut out = match string_dictionary::try_encode(&strings, &entry, with_psma) {
        Some(encoded) => encoded,
        None => encode_raw(&strings, entry, trained),
    };
    out.sma = sma;
    Ok(out)
}

fn encode_raw(strings: &Strings, mut entry: ColumnEntry, trained: &mut fsst::Trained) -> EncodedColumn {
    entry.code_bits = 32;
    let compressed = fsst::try_compress(strings, trained);
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
