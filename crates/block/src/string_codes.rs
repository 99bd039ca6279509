//! Codes of string columns, for readers that tell the strings of a block apart without looking at them.
//!
//! A code means a string within one block only. Blocks whose columns store equal dictionaries give equal strings
//! equal codes: [`Block::has_strings_of`] says so.

use crate::block::Block;
use crate::column_buffer::ColumnBuffer;
use crate::encodings::Encoding;
use crate::format::{FLAG_FSST, FLAG_SMA};
use crate::layouts::codes::dispatch_words;
use crate::unpack::for_each_row;
use frazil_kernels::{CodeWord, Isa, Selection};
use frazil_types::{NativeType, Result, StringRef};

/// Most stored bytes that a word of [`Block::stored_words`] holds.
pub const STORED_BYTES: usize = 12;
/// The place of the highest byte of a word, the number of its stored bytes plus one.
const COUNT_SHIFT: u32 = 120;
/// The highest byte of the word of NULL: no string has as many stored bytes.
const NULL_COUNT: u8 = u8::MAX;

/// True for the word of [`Block::stored_words`] that stands for NULL.
pub fn is_null_word(word: u128) -> bool {
    (word >> COUNT_SHIFT) as u8 == NULL_COUNT
}

impl Block {
    /// Returns the number of codes of a string column, that of NULL included: the entries of its dictionary, or 1 for a
    /// constant. Returns `None` if the column holds no strings or has no codes. XX001 if its bytes are damaged.
    pub fn string_codes(&self, column: usize) -> Result<Option<usize>> {
        let entry = self.entry(column);
        if entry.native != NativeType::String {
            return Ok(None);
        }
        match entry.encoding {
            Encoding::Constant => {
                self.touch(column)?;
                Ok(Some(1))
            }
            Encoding::Dictionary => {
                self.touch(column)?;
                Ok(Some(self.prepared_strings(column).len()))
            }
            _ => Ok(None),
        }
    }

    /// Adds `scale` times the code of the `i`-th selected row to `out[i]`. The column is one for which
    /// [`Block::string_codes`] returned a number; `buffer` is scratch. Panics if the selection goes beyond the
    /// rows.
    pub fn add_string_codes(
        &self,
        isa: Isa,
        column: usize,
        selection: Selection<'_>,
        scale: u32,
        buffer: &mut ColumnBuffer,
        out: &mut [u32],
    ) {
        let entry = self.entry(column);
        if entry.encoding != Encoding::Dictionary {
            return;
        }
        let (words, chosen) = self.codes(entry).fetch(isa, selection, &mut buffer.codes);
        dispatch_words!(words, codes => match chosen {
            Selection::All { start, len } => {
                let codes = &codes[start as usize..(start + len) as usize];
                out.iter_mut().zip(codes).for_each(|(sum, code)| *sum += code.to_u64() as u32 * scale);
            }
            _ => for_each_row(chosen, |i, row| out[i] += codes[row].to_u64() as u32 * scale),
        });
    }

    /// Returns the string of a code; `None` for NULL. It lives as long as the block. The code is below
    /// [`Block::string_codes`].
    pub fn string_of_code(&self, column: usize, code: usize) -> Option<StringRef> {
        let entry = self.entry(column);
        let is_null = match entry.encoding {
            Encoding::Constant => !entry.has(FLAG_SMA),
            _ => entry.nullable() && code == 0,
        };
        (!is_null).then(|| self.prepared_strings(column)[code])
    }

    /// Returns the symbol table of a column whose strings are stored compressed; `None` for other columns. Equal
    /// bytes mean equal strings in all columns with equal tables. XX001 if its bytes are damaged.
    pub fn stored_symbols(&self, column: usize) -> Result<Option<&[u8]>> {
        let entry = self.entry(column);
        let is_stored = entry.encoding == Encoding::Raw && entry.native == NativeType::String;
        if !is_stored || !entry.has(FLAG_FSST) {
            return Ok(None);
        }
        self.touch(column)?;
        Ok(Some(self.section(entry.sections.symbols)))
    }

    /// Puts a word for each selected row of a column with [`Block::stored_symbols`] into `out`: the bytes of its string
    /// as stored, the lowest first, and their number plus one in the highest byte; 0 for more than [`STORED_BYTES`].
    /// The word of NULL is one for which [`is_null_word`] is true.
    pub fn stored_words(&self, column: usize, selection: Selection<'_>, out: &mut [u128]) {
        let entry = self.entry(column);
        let ends = self.slice::<u32>(entry.sections.codes);
        let heap = self.section(entry.sections.heap);
        let word = |row: usize| {
            let (start, end) = (ends[row] as usize, ends[row + 1] as usize);
            let bytes = end - start;
            if bytes > STORED_BYTES {
                return 0;
            }
            let stored = match heap[start..].first_chunk::<16>() {
                Some(chunk) => u128::from_le_bytes(*chunk) & ((1 << (bytes * 8)) - 1),
                None => {
                    let mut chunk = [0; 16];
                    chunk[..bytes].copy_from_slice(&heap[start..end]);
                    u128::from_le_bytes(chunk)
                }
            };
            stored | (bytes as u128 + 1) << COUNT_SHIFT
        };
        if !entry.nullable() {
            return for_each_row(selection, |i, row| out[i] = word(row));
        }
        let valid = self.slice::<u64>(entry.sections.bitmap);
        for_each_row(selection, |i, row| {
            let is_valid = valid[row / 64] >> (row % 64) & 1 == 1;
            out[i] = if is_valid {
                word(row)
            } else {
                u128::from(NULL_COUNT) << COUNT_SHIFT
            };
        });
    }

    /// Appends the string of a word of [`Block::stored_words`] that is neither 0 nor NULL's to `out`. Bits between the
    /// stored bytes and the highest byte are ignored.
    pub fn text_of_word(&self, column: usize, word: u128, out: &mut Vec<u8>) -> Result<()> {
        let stored = word.to_le_bytes();
        let bytes = usize::from(stored[15]).saturating_sub(1).min(STORED_BYTES);
        let decoder = self.decoder(column)?;
        out.reserve(bytes * 8 + 8);
        // SAFETY: READ_BEYOND of the 16 bytes are behind the stored ones, 12 at most; 8 bytes a code and 8 more
        // were reserved, and `decode` returns how many it has written.
        unsafe {
            let end = out.as_mut_ptr().add(out.len());
            let written = decoder.decode(&stored[..bytes], end);
            out.set_len(out.len() + written);
        }
        Ok(())
    }

    /// Returns true if every code of `column` means the string, or the NULL, that it means in a column of another
    /// block. Both columns have codes.
    pub fn has_strings_of(&self, column: usize, other: &Block, other_column: usize) -> bool {
        let (entry, others) = (self.entry(column), other.entry(other_column));
        entry.encoding == others.encoding
            && entry.nullable() == others.nullable()
            && entry.has(FLAG_SMA) == others.has(FLAG_SMA)
            && self.section(entry.sections.dictionary) == other.section(others.sections.dictionary)
            && self.section(entry.sections.heap) == other.section(others.sections.heap)
    }
}

#[cfg(test)]
mod tests {
    use super::is_null_word;
    use crate::column_buffer::ColumnBuffer;
    use crate::{Block, BlockBuilder, BuildOptions, ColumnInput};
    use frazil_kernels::{Isa, Selection};
    use frazil_types::{ColumnVector, LogicalType, StringRef, Value};

    /// A block of one column: each row's string, or NULL.
    fn block(rows: &[Option<&str>]) -> Block {
        let value = |row: &Option<&str>| row.map_or(Value::Null, |text| Value::Text(text.to_owned()));
        let values: Vec<Value> = rows.iter().map(value).collect();
        let column = ColumnVector::from_values(LogicalType::Text, &values);
        let input = ColumnInput::of_vector(&column, 0..rows.len());
        BlockBuilder::new(BuildOptions::default())
            .build(&[input])
            .expect("a block")
    }

    /// The string of each selected row, by its code.
    fn by_codes(block: &Block, selection: Selection<'_>) -> Vec<Option<String>> {
        let codes = block.string_codes(0).expect("whole bytes").expect("codes");
        let mut out = vec![0; selection.count()];
        block.add_string_codes(Isa::detect(), 0, selection, 3, &mut ColumnBuffer::new(), &mut out);
        let text = |string: StringRef| {
            // SAFETY: the block is alive.
            String::from_utf8_lossy(unsafe { string.bytes() }).into_owned()
        };
        let string = |tripled: u32| {
            let code = tripled as usize / 3;
            assert!(tripled.is_multiple_of(3) && code < codes);
            block.string_of_code(0, code).map(text)
        };
        out.into_iter().map(string).collect()
    }

    #[test]
    fn codes_lead_to_the_strings_of_the_rows() {
        let words = [
            Some("ice"),
            Some(""),
            Some("a string of more than twelve bytes"),
            Some("frazil"),
        ];
        for (nulls, one) in [(false, false), (true, false), (false, true), (true, true)] {
            let row = |i: usize| match i % 5 {
                4 if nulls => None,
                _ if one && nulls => None,
                _ if one => words[0],
                n => words[n % 4],
            };
            let rows: Vec<Option<&str>> = (0..1000).map(row).collect();
            let block = block(&rows);
            let expected = |at: &[u16]| -> Vec<Option<String>> {
                at.iter()
                    .map(|&i| rows[usize::from(i)].map(str::to_owned))
                    .collect()
            };
            let all: Vec<u16> = (0..1000).collect();
            assert_eq!(
                by_codes(&block, Selection::All { start: 0, len: 1000 }),
                expected(&all)
            );
            let some = [1, 4, 9, 64, 999];
            assert_eq!(by_codes(&block, Selection::Positions(&some)), expected(&some));
            let bits = Selection::Bits {
                words: &[0b10010, 1],
                start: 0,
                len: 128,
            };
            assert_eq!(by_codes(&block, bits), expected(&[1, 4, 64]));
        }
    }

    #[test]
    fn words_of_compressed_strings_lead_to_them() {
        let text = |i: usize| match i % 100 {
            99 => "as long as no word can be: ".to_owned() + &"xyzzy, quux; ".repeat(i % 7 + 9),
            98 => String::new(),
            _ => format!("https://example.com/pages/{}", i * 7919 % 5000),
        };
        let texts: Vec<String> = (0..4000).map(text).collect();
        let rows: Vec<Option<&str>> = texts.iter().map(|text| Some(text.as_str())).collect();
        let block = block(&rows);
        assert!(block.stored_symbols(0).expect("whole bytes").is_some());
        let mut words = vec![0; 4000];
        block.stored_words(0, Selection::All { start: 0, len: 4000 }, &mut words);
        let (mut held, mut found) = (0, Vec::new());
        for (row, &word) in words.iter().enumerate().filter(|(_, word)| **word != 0) {
            found.clear();
            block.text_of_word(0, word, &mut found).expect("a decoder");
            assert_eq!(found, texts[row].as_bytes());
            held += 1;
        }
        assert!((3000..4000).contains(&held), "{held}");
        for (row, word) in words.iter().enumerate() {
            let other = &words[(row + 1250) % 4000];
            let is_same = texts[row] == texts[(row + 1250) % 4000];
            assert!(*word == 0 || is_same == (word == other));
        }
    }

    #[test]
    fn null_has_a_word_of_its_own() {
        let texts: Vec<Option<String>> = (0..4000)
            .map(|i| (i % 3 != 1).then(|| format!("https://example.com/pages/{}", i * 7919 % 3000)))
            .collect();
        let rows: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
        let block = block(&rows);
        assert!(block.stored_symbols(0).expect("whole bytes").is_some());
        let positions: Vec<u16> = (0..4000).filter(|i| i % 7 < 4).collect();
        for selection in [
            Selection::All { start: 0, len: 4000 },
            Selection::All {
                start: 1000,
                len: 100,
            },
            Selection::Positions(&positions),
        ] {
            let mut words = vec![0; selection.count()];
            block.stored_words(0, selection, &mut words);
            let row_of = |at: usize| match selection {
                Selection::All { start, .. } => start as usize + at,
                _ => usize::from(positions[at]),
            };
            for (at, &word) in words.iter().enumerate() {
                let row = rows[row_of(at)];
                assert_eq!(is_null_word(word), row.is_none());
                if let (Some(row), true) = (row, word != 0) {
                    let mut found = Vec::new();
                    block.text_of_word(0, word, &mut found).expect("a decoder");
                    assert_eq!(found, row.as_bytes());
                }
            }
        }
    }

    #[test]
    fn equal_dictionaries_are_told_from_others() {
        let of = |words: &[Option<&'static str>]| {
            block(&words.iter().cycle().take(900).copied().collect::<Vec<_>>())
        };
        let (a, b) = (
            of(&[Some("x"), Some("y"), Some("z")]),
            of(&[Some("z"), Some("y"), Some("x")]),
        );
        assert!(a.has_strings_of(0, &b, 0));
        for other in [
            of(&[Some("x"), Some("y")]),
            of(&[Some("x"), Some("y"), None]),
            of(&[Some("x"), Some("y"), Some("a")]),
            of(&[Some("xy"), Some(""), Some("z")]),
            of(&[Some("x")]),
            of(&[None]),
        ] {
            assert!(!a.has_strings_of(0, &other, 0) && !other.has_strings_of(0, &a, 0));
        }
    }
}
