//! Codes of string columns, for readers that tell the strings of a block apart without looking at them.
//!
//! A code means a string within one block only. Blocks whose columns store equal dictionaries give equal strings
//! equal codes: [`Block::has_strings_of`] says so.

use crate::block::Block;
use crate::column_buffer::ColumnBuffer;
use crate::encodings::Encoding;
use crate::format::FLAG_SMA;
use crate::layouts::codes::dispatch_words;
use crate::unpack::for_each_row;
use frazil_kernels::{CodeWord, Isa, Selection};
use frazil_types::{NativeType, Result, StringRef};

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
