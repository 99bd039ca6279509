//! FSST: strings compressed with a table of up to 255 symbols of one to eight bytes (Boncz, Neumann,
//! Leis: FSST, 2020), each string by itself, so that one is reached without its neighbours. Training
//! and compression are those of the crate `fsst-rs`; decompression is here, over a table that was
//! validated once.
//!
//! The section is `n` as u32, four zero bytes, `n` symbols of eight bytes, then `n` lengths of one byte.
//! Code 255 is the escape: the byte after it stands for itself.

use super::strings::Strings;
use crate::format::corrupted;
use frazil_kernels::like::automaton::{ByteAutomaton, CodeAutomaton};
use frazil_types::Result;
use fsst::Compressor;

/// The code that lets the next byte stand for itself.
pub const ESCAPE: u8 = 255;
/// Bytes behind a string that decompression may read.
pub const READ_BEYOND: usize = 4;
/// Heaps of fewer bytes are not worth a symbol table.
const MIN_HEAP: usize = 8192;
/// Strings compressed on trial.
const TRIAL: usize = 256;

/// The compressor of the last block of a column: the next block usually is of the same kind, and
/// training costs more than the compression of a small block.
#[derive(Default)]
pub(crate) struct Trained {
    compressor: Option<Compressor>,
    /// Compressed over plain bytes on the trial of the block it was trained on.
    ratio: f64,
}

/// A compressed heap.
pub(crate) struct Compressed {
    pub heap: Vec<u8>,
    /// End of each string in the heap.
    pub ends: Vec<u64>,
    pub symbols: Vec<u8>,
}

fn trial<'a>(strings: &Strings<'a>) -> Vec<&'a [u8]> {
    let stride = (strings.bytes.len() / TRIAL).max(1);
    strings.bytes.iter().step_by(stride).copied().collect()
}

fn ratio(compressor: &Compressor, sample: &[&[u8]]) -> f64 {
    let plain: usize = sample.iter().map(|s| s.len()).sum();
    let (mut heap, mut ends) = (Vec::new(), Vec::new());
    compressor.compress_bulk_into::<{ Compressor::DEFAULT_BULK_LANES }>(sample, &mut heap, &mut ends);
    heap.len() as f64 / plain.max(1) as f64
}

/// Compresses the strings if that makes them a tenth smaller at least.
pub(crate) fn try_compress(strings: &Strings, trained: &mut Trained) -> Option<Compressed> {
    if strings.total < MIN_HEAP {
        return None;
    }
    let sample = trial(strings);
    // A table that did not pay says nothing about the next block.
    let reusable = trained
        .compressor
        .as_ref()
        .filter(|_| trained.ratio <= 0.9)
        .is_some_and(|c| ratio(c, &sample) <= trained.ratio * 1.03 + 0.005);
    if !reusable {
        let compressor = Compressor::train(&strings.bytes);
        trained.ratio = ratio(&compressor, &sample);
        trained.compressor = Some(compressor);
    }
    let compressor = trained.compressor.as_ref()?;
    if trained.ratio > 0.9 {
        return None;
    }
    let (mut heap, mut ends) = (Vec::new(), Vec::with_capacity(strings.bytes.len()));
    compressor.compress_bulk_into::<{ Compressor::DEFAULT_BULK_LANES }>(&strings.bytes, &mut heap, &mut ends);
    let symbols = write_symbols(compressor);
    ((heap.len() + symbols.len()) * 10 <= strings.total * 9 && heap.len() < 1 << 32).then_some(Compressed {
        heap,
        ends,
        symbols,
    })
}

fn write_symbols(compressor: &Compressor) -> Vec<u8> {
    let symbols = compressor.symbol_table();
    let mut out = Vec::with_capacity(8 + symbols.len() * 9);
    out.extend((symbols.len() as u64).to_le_bytes());
    out.extend(symbols.iter().flat_map(|s| s.to_u64().to_le_bytes()));
    out.extend_from_slice(compressor.symbol_lengths());
    out
}

/// A symbol table ready for decompression.
pub(crate) struct Decoder {
    symbols: [u64; 256],
    lengths: [u8; 256],
    /// Characters that begin in each symbol.
    characters: [u8; 256],
    count: usize,
}

impl Decoder {
    /// Reads and checks the section.
    pub fn read(section: &[u8]) -> Result<Decoder> {
        let wrong = || corrupted("the FSST symbol table is damaged");
        let (count, rest) = section.split_first_chunk::<8>().ok_or_else(wrong)?;
        let count = u64::from_le_bytes(*count) as usize;
        if count > 255 || rest.len() != count * 9 {
            return Err(wrong());
        }
        let (words, lens) = rest.split_at(count * 8);
        let mut out = Decoder {
            symbols: [0; 256],
            lengths: [0; 256],
            characters: [0; 256],
            count,
        };
        for (i, (word, &len)) in words.as_chunks::<8>().0.iter().zip(lens).enumerate() {
            if !(1..=8).contains(&len) {
                return Err(wrong());
            }
            out.symbols[i] = u64::from_le_bytes(*word);
            out.lengths[i] = len;
            let begins = word[..usize::from(len)]
                .iter()
                .filter(|byte| begins_character(**byte));
            out.characters[i] = begins.count() as u8;
        }
        Ok(out)
    }

    /// An automaton over bytes as one over the codes of this table.
    pub fn over_codes(&self, automaton: &ByteAutomaton) -> CodeAutomaton {
        let words = self.symbols.map(u64::to_le_bytes);
        let symbols: Vec<&[u8]> = (words[..self.count].iter().zip(self.lengths))
            .map(|(word, len)| &word[..usize::from(len)])
            .collect();
        automaton.over_codes(&symbols, ESCAPE)
    }

    /// Length of a string once decompressed; an error if a code is unknown or an escape is last.
    pub fn decoded_len(&self, codes: &[u8]) -> Result<usize> {
        let mut len = 0;
        let mut codes = codes.iter();
        while let Some(&code) = codes.next() {
            if code == ESCAPE {
                codes
                    .next()
                    .ok_or_else(|| corrupted("an FSST string ends in an escape"))?;
                len += 1;
            } else if usize::from(code) < self.count {
                len += usize::from(self.lengths[usize::from(code)]);
            } else {
                return Err(corrupted(format!("unknown FSST code {code}")));
            }
        }
        Ok(len)
    }

    /// Number of characters of a string, whose codes are not decompressed.
    pub fn characters(&self, codes: &[u8]) -> u32 {
        let (mut count, mut rest) = (0, codes);
        while let Some((&code, behind)) = rest.split_first() {
            rest = behind;
            count += match code {
                ESCAPE => {
                    let (byte, behind) = rest.split_first().unwrap_or((&0, &[]));
                    rest = behind;
                    u32::from(begins_character(*byte))
                }
                code => u32::from(self.characters[usize::from(code)]),
            };
        }
        count
    }

    /// Counts the characters of strings that are stored one behind the other as if they were one string, which
    /// mispredicts no branch at the end of a string. `places[i]` becomes the number of characters in front of code
    /// `i`; one more place is the end.
    pub fn characters_of_run(&self, codes: &[u8], places: &mut Vec<u32>) {
        places.clear();
        places.resize(codes.len() + 1, 0);
        let (mut count, mut at) = (0_u32, 0);
        while at < codes.len() {
            if let (Some(group), Some(places)) = (
                codes[at..].first_chunk::<4>(),
                places[at..].first_chunk_mut::<4>(),
            ) && !has_escape(*group)
            {
                for (code, place) in group.iter().zip(places) {
                    *place = count;
                    count += u32::from(self.characters[usize::from(*code)]);
                }
                at += 4;
                continue;
            }
            let code = codes[at];
            places[at] = count;
            at += 1;
            if code == ESCAPE {
                // No string begins at the byte that stands for itself.
                let byte = codes.get(at).copied().unwrap_or(0);
                count += u32::from(begins_character(byte));
                at += 1;
            } else {
                count += u32::from(self.characters[usize::from(code)]);
            }
        }
        places[codes.len()] = count;
    }

    /// Decompresses `codes` to `out` and returns the length.
    ///
    /// Four codes are taken at once where none of them is an escape. The last group may reach beyond the
    /// string: its excess symbols are written and not counted, which spares a branch that would be
    /// mispredicted once a string.
    ///
    /// # Safety
    /// [`READ_BEYOND`] bytes must be readable behind `codes`, and `8 * codes.len() + 8` bytes writable at
    /// `out`. Any codes are sound to pass; those that [`Decoder::decoded_len`] refuses give garbage.
    #[inline]
    pub unsafe fn decode(&self, codes: &[u8], out: *mut u8) -> usize {
        let mut to = out;
        let mut at = 0;
        while at < codes.len() {
            // SAFETY: the bytes behind `codes` are readable by contract. Each counted code advances `to`
            // by at most 8, an escape (two codes) by 1, and a store covers 8 bytes: within the 8 bytes a
            // code and 8 more that the caller granted.
            unsafe {
                let left = codes.len() - at;
                let group = codes.as_ptr().add(at).cast::<[u8; 4]>().read();
                if !has_escape(group) {
                    for (i, code) in group.into_iter().map(usize::from).enumerate() {
                        to.cast::<u64>().write_unaligned(self.symbols[code].to_le());
                        let counts = usize::from(i < left);
                        to = to.add(usize::from(self.lengths[code]) * counts);
                    }
                    at += 4;
                    continue;
                }
                let code = usize::from(group[0]);
                if group[0] == ESCAPE {
                    to.write(if left > 1 { group[1] } else { 0 });
                    to = to.add(1);
                    at += 2;
                } else {
                    to.cast::<u64>().write_unaligned(self.symbols[code].to_le());
                    to = to.add(usize::from(self.lengths[code]));
                    at += 1;
                }
            }
        }
        // SAFETY: both are of the caller's allocation.
        unsafe { to.offset_from(out) as usize }
    }

    /// Decompresses strings that lie one behind the other as if they were one, which mispredicts no branch where a string ends.
    /// `places[i]` becomes where that begins which code `i` stands for, from `out` on; one more place is the end.
    ///
    /// # Safety
    /// As [`Decoder::decode`]; what is decompressed takes less than 4 GiB.
    pub unsafe fn decode_run(&self, codes: &[u8], out: *mut u8, places: &mut Vec<u32>) {
        places.clear();
        places.resize(codes.len() + 1, 0);
        let mut to = out;
        let mut at = 0;
        // SAFETY: as in `decode`; both ends are of the caller's allocation.
        let place = |to: *mut u8| unsafe { to.offset_from(out) as u32 };
        while at < codes.len() {
            // SAFETY: as in `decode`.
            unsafe {
                if let (Some(group), Some(places)) = (
                    codes[at..].first_chunk::<4>(),
                    places[at..].first_chunk_mut::<4>(),
                ) && !has_escape(*group)
                {
                    for (code, held) in group.iter().copied().map(usize::from).zip(places) {
                        *held = place(to);
                        to.cast::<u64>().write_unaligned(self.symbols[code].to_le());
                        to = to.add(usize::from(self.lengths[code]));
                    }
                    at += 4;
                    continue;
                }
                let code = codes[at];
                places[at] = place(to);
                at += 1;
                if code == ESCAPE {
                    // Nothing begins at the byte that stands for itself.
                    to.write(codes.get(at).copied().unwrap_or(0));
                    to = to.add(1);
                    at += 1;
                } else {
                    to.cast::<u64>()
                        .write_unaligned(self.symbols[usize::from(code)].to_le());
                    to = to.add(usize::from(self.lengths[usize::from(code)]));
                }
            }
        }
        places[codes.len()] = place(to);
    }
}

/// True for the first byte of a character in UTF-8.
#[inline]
fn begins_character(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// Whether one of four codes is the escape.
#[inline]
fn has_escape(group: [u8; 4]) -> bool {
    let word = u32::from_le_bytes(group);
    // The highest bit of each byte that is 0xff, by the classic test for a zero byte.
    (!word).wrapping_sub(0x0101_0101) & word & 0x8080_8080 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_was_compressed() {
        let texts: Vec<String> = (0..3000)
            .map(|i| format!("regular deposits sleep {} ünïcödé {i}", i * 7919 % 100))
            .collect();
        let bytes: Vec<&[u8]> = texts.iter().map(|t| t.as_bytes()).collect();
        let compressor = Compressor::train(&bytes);
        let decoder = Decoder::read(&write_symbols(&compressor)).expect("a table of ours");
        for text in &bytes {
            let mut codes = compressor.compress(text);
            let end = codes.len();
            codes.extend_from_slice(&[ESCAPE; READ_BEYOND]);
            let codes = &codes[..end];
            assert_eq!(decoder.decoded_len(codes).expect("ours"), text.len());
            let mut out = vec![0; codes.len() * 8 + 8];
            // SAFETY: `out` has the room, and four bytes are behind the codes.
            let len = unsafe { decoder.decode(codes, out.as_mut_ptr()) };
            assert_eq!(&out[..len], *text);
        }
        let (mut codes, mut ends) = (Vec::new(), vec![0]);
        for text in &bytes {
            codes.extend(compressor.compress(text));
            ends.push(codes.len());
        }
        let (mut out, mut places) = (vec![0; codes.len() * 8 + 8], Vec::new());
        // SAFETY: `out` has the room.
        unsafe { decoder.decode_run(&codes, out.as_mut_ptr(), &mut places) };
        for (text, ends) in bytes.iter().zip(ends.windows(2)) {
            assert_eq!(&out[places[ends[0]] as usize..places[ends[1]] as usize], *text);
        }
        decoder.characters_of_run(&codes, &mut places);
        for (text, ends) in texts.iter().zip(ends.windows(2)) {
            let count = text.chars().count() as u32;
            assert_eq!(decoder.characters(&codes[ends[0]..ends[1]]), count, "{text}");
            assert_eq!(places[ends[1]] - places[ends[0]], count, "{text}");
        }
    }

    #[test]
    fn refuses_damaged_tables() {
        assert!(Decoder::read(&[]).is_err());
        assert!(Decoder::read(&[1, 0, 0, 0, 0, 0, 0, 0]).is_err());
        let mut one = vec![0; 17];
        one[0] = 1;
        one[16] = 9;
        assert!(Decoder::read(&one).is_err());
        one[16] = 8;
        let decoder = Decoder::read(&one).expect("one symbol");
        assert!(decoder.decoded_len(&[1]).is_err());
        assert!(decoder.decoded_len(&[ESCAPE]).is_err());
        assert_eq!(decoder.decoded_len(&[0, ESCAPE, 7]).expect("fine"), 9);
    }
}
