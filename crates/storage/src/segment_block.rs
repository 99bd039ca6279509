//! Blocks in place in a mapped segment file.

use frazil_block::{Block, BlockBytes};
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::MappedFile;
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
    bytes.and_then(Block::open).map_err(|e| e.in_context(place()))
}
