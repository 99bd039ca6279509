//! Numbers of characters of compressed strings, counted by their codes: nothing is decompressed.

use crate::block::Block;
use crate::column_buffer::ColumnBuffer;
use crate::encodings::Encoding;
use crate::format::FLAG_FSST;
use crate::unpack::for_each_row;
use frazil_kernels::unpack::expand_bits;
use frazil_kernels::{Isa, Selection};
use frazil_types::{NativeType, Result};

impl Block {
    /// Puts the number of characters of each selected string into `out`, as 64-bit integers. False, with `out` as it
    /// was, if the strings of the column are not compressed.
    ///
    /// Panics if the selection goes beyond the rows.
    pub fn text_lengths(
        &self,
        isa: Isa,
        column: usize,
        selection: Selection,
        out: &mut ColumnBuffer,
    ) -> Result<bool> {
        let entry = self.entry(column);
        let is_compressed = entry.encoding == Encoding::Raw && entry.has(FLAG_FSST);
        if !is_compressed || entry.native != NativeType::String {
            return Ok(false);
        }
        self.touch(column)?;
        let offsets = self.slice::<u32>(entry.sections.codes);
        let heap = self.section(entry.sections.heap);
        let decoder = self.decoder(column)?;
        let lengths = out.prepare::<i64>(selection.count());
        if let Selection::All { start, len } = selection {
            let offsets = &offsets[start as usize..=(start + len) as usize];
            let (first, end) = (offsets[0] as usize, offsets[len as usize] as usize);
            let mut places = Vec::new();
            decoder.characters_of_run(&heap[first..end], &mut places);
            let mut before = 0;
            for (length, &end) in lengths.iter_mut().zip(&offsets[1..]) {
                let place = places[end as usize - first];
                *length = i64::from(place - before);
                before = place;
            }
        } else {
            for_each_row(selection, |i, row| {
                let codes = Block::stored_string(offsets, heap, row);
                lengths[i] = i64::from(decoder.characters(codes));
            });
        }
        if entry.nullable() {
            let bits = self.slice::<u64>(entry.sections.bitmap);
            expand_bits(isa, bits, selection, out.validity_mut());
        }
        Ok(true)
    }
}
