//! Strings of raw columns: lent where the heap is uncompressed, decompressed where it is FSST.

use crate::block::Block;
use crate::column_buffer::ColumnBuffer;
use crate::format::FLAG_FSST;
use crate::unpack::for_each_row;
use frazil_kernels::Selection;
use frazil_types::{Result, StringRef};

/// Codes of a row up to which a run of rows is decompressed as one string: four bytes are kept for each code meanwhile.
const MOST_CODES_OF_RUN: usize = 64;

impl Block {
    /// References to the selected strings of a raw column that has been touched: into the block, or
    /// transient ones into the buffer's heap.
    pub(crate) fn unpack_strings(
        &self,
        column: usize,
        selection: Selection,
        rows: usize,
        out: &mut ColumnBuffer,
    ) -> Result<()> {
        let entry = self.entry(column);
        if !entry.has(FLAG_FSST) {
            let offsets = self.slice::<u32>(entry.sections.codes);
            let heap = self.section(entry.sections.heap);
            let values = out.prepare::<StringRef>(rows);
            for_each_row(selection, |i, row| {
                // SAFETY: the heap lives as long as the block; whoever keeps the reference pins it.
                values[i] = unsafe { StringRef::new(Block::stored_string(offsets, heap, row)) };
            });
            return Ok(());
        }
        let mut text = std::mem::take(&mut out.heap);
        let values = out.prepare::<StringRef>(rows);
        let mut ends = Vec::new();
        if let Selection::All { start, len } = selection
            && self.decompress_run(column, (start as usize, len as usize), &mut text, &mut ends)?
        {
            let mut start = 0;
            for (value, end) in values.iter_mut().zip(ends) {
                // SAFETY: as below.
                *value = unsafe { StringRef::new(&text[start..end as usize]) }.as_transient();
                start = end as usize;
            }
            out.heap = text;
            return Ok(());
        }
        self.decompress(column, selection, &mut text, |i, string| {
            // SAFETY: the text is not changed until the buffer is filled anew: hence transient.
            values[i] = unsafe { StringRef::new(string) }.as_transient();
        })?;
        out.heap = text;
        Ok(())
    }

    /// Puts the selected strings of a raw column one after the other: string `i` of the
    /// selection is `text[offsets[i]..offsets[i + 1]]`. NULLs are empty. The column has been touched.
    pub(crate) fn gather_text(
        &self,
        column: usize,
        selection: Selection,
        text: &mut Vec<u8>,
        offsets: &mut Vec<u32>,
    ) -> Result<()> {
        let entry = self.entry(column);
        offsets.clear();
        offsets.push(0);
        let mut end = 0;
        if entry.has(FLAG_FSST) {
            if let Selection::All { start, len } = selection
                && self.decompress_run(column, (start as usize, len as usize), text, offsets)?
            {
                return Ok(());
            }
            return self.decompress(column, selection, text, |_, string| {
                end += string.len() as u32;
                offsets.push(end);
            });
        }
        text.clear();
        let stored = self.slice::<u32>(entry.sections.codes);
        let heap = self.section(entry.sections.heap);
        for_each_row(selection, |_, row| {
            text.extend_from_slice(Block::stored_string(stored, heap, row));
            offsets.push(text.len() as u32);
        });
        Ok(())
    }

    /// [`Block::gather_text`] of rows of an FSST column from a first one on, decompressed as one string where they are short;
    /// whether they are.
    fn decompress_run(
        &self,
        column: usize,
        (first, rows): (usize, usize),
        text: &mut Vec<u8>,
        offsets: &mut Vec<u32>,
    ) -> Result<bool> {
        let entry = self.entry(column);
        let stored = &self.slice::<u32>(entry.sections.codes)[first..=first + rows];
        let (start, end) = (stored[0] as usize, stored[rows] as usize);
        if end - start > rows * MOST_CODES_OF_RUN {
            return Ok(false);
        }
        let codes = &self.section(entry.sections.heap)[start..end];
        text.clear();
        text.reserve(codes.len() * 8 + 8);
        let mut places = Vec::new();
        let decoder = self.decoder(column)?;
        // SAFETY: 8 bytes a code and 8 more were reserved; rows of a block times 8 bytes a code are far below 4 GiB. All bytes up to
        // the last place are initialised then.
        unsafe {
            decoder.decode_run(codes, text.as_mut_ptr(), &mut places);
            text.set_len(places[codes.len()] as usize);
        }
        let ends = stored[1..].iter().map(|&end| places[end as usize - start]);
        offsets.extend(ends);
        Ok(true)
    }

    /// Decompresses one string of an FSST column, whose codes are `stored`, into `text`, and returns it.
    pub(crate) fn decompress_one<'t>(
        &self,
        column: usize,
        stored: &[u8],
        text: &'t mut Vec<u8>,
    ) -> Result<&'t [u8]> {
        let decoder = self.decoder(column)?;
        text.clear();
        text.reserve(stored.len() * 8 + 8);
        // SAFETY: 8 bytes a stored byte and 8 more were reserved. A block ends in padding behind every section. The
        // bytes up to the length that `decode` returns are initialised.
        unsafe {
            let len = decoder.decode(stored, text.as_mut_ptr());
            text.set_len(len);
        }
        Ok(text)
    }

    /// Decompresses the selected strings of an FSST column one after the other into `text` and calls `f`
    /// with index and bytes of each.
    fn decompress(
        &self,
        column: usize,
        selection: Selection,
        text: &mut Vec<u8>,
        mut f: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let entry = self.entry(column);
        let offsets = self.slice::<u32>(entry.sections.codes);
        let heap = self.section(entry.sections.heap);
        let decoder = self.decoder(column)?;
        let mut stored = 0;
        match selection {
            Selection::All { start, len } => {
                stored = (offsets[(start + len) as usize] - offsets[start as usize]) as usize;
            }
            _ => for_each_row(selection, |_, row| {
                stored += (offsets[row + 1] - offsets[row]) as usize;
            }),
        }
        text.clear();
        text.reserve(stored * 8 + 8);
        let start = text.as_mut_ptr();
        let mut to = start;
        for_each_row(selection, |i, row| {
            let codes = Block::stored_string(offsets, heap, row);
            // SAFETY: 8 bytes a stored byte and 8 more were reserved, and this string takes at most
            // 8 bytes a stored byte. A block ends in padding behind every section.
            unsafe {
                let len = decoder.decode(codes, to);
                f(i, std::slice::from_raw_parts(to, len));
                to = to.add(len);
            }
        });
        // SAFETY: `decode` initialised all bytes up to `to`.
        unsafe { text.set_len(to.offset_from(start) as usize) };
        Ok(())
    }
}
