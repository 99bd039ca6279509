//! Blocks in place in a mapped segment file.

use frazil_block::{Block, BlockBytes, FetchBytes};
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::MappedFile;
use std::ops::Range;
use std::sync::Arc;

/// Opens the block of `len` bytes at `offset` of a segment; its header is checked, the rest at first
/// touch. Errors name file and offset.
pub fn open_block(file: &Arc<MappedFile>, offset: u64, len: u64) -> Result<Block> {
    let place = || format!("\"{}\", block at offset {offset}", file.path().display());
    let end = offset.checked_add(len).and_then(|e| usize::try_from(e).ok());
    let Some(bytes) = end.and_then(|end| file.bytes().get(offset as usize..end)) else {
        return Err(Error::new(
            SqlState::DATA_CORRUPTED,
            format!(
                "{}: the block's {len} bytes reach beyond the file's {}: it was truncated",
                place(),
                file.bytes().len()
            ),
        ));
    };
    // SAFETY: the bytes belong to the mapping, which `file` keeps alive and nobody writes to.
    let bytes = unsafe { BlockBytes::from_mapping(bytes.as_ptr(), bytes.len(), file.clone()) };
    let bytes = bytes.map(|bytes| match file.is_filled_when_read() {
        true => bytes.fetched_by(Arc::new(Elsewhere {
            file: file.clone(),
            offset,
        })),
        false => bytes,
    });
    bytes.and_then(Block::open).map_err(|e| e.in_context(place()))
}

/// A block in a segment that is filled as it is read.
struct Elsewhere {
    file: Arc<MappedFile>,
    /// Byte of the segment at which the block begins.
    offset: u64,
}

impl FetchBytes for Elsewhere {
    fn fetch(&self, range: Range<u64>) -> Result<()> {
        self.file
            .fetch(self.offset + range.start..self.offset + range.end)
    }

    fn fetch_anew(&self, range: Range<u64>) -> Result<()> {
        let range = self.offset + range.start..self.offset + range.end;
        self.file.fetch_anew(range).map(drop)
    }
}
