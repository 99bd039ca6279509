//! How a file is compressed, from the words of a statement.

use frazil_files::Compression;
use frazil_frontend::CopyCompression;

/// What compresses a file; `None`: what is usual for it.
pub fn compression(said: CopyCompression) -> Option<Compression> {
    Some(match said {
        CopyCompression::Usual => return None,
        CopyCompression::None => Compression::None,
        CopyCompression::Gzip => Compression::Gzip,
        CopyCompression::Zstd => Compression::Zstd,
        CopyCompression::Snappy => Compression::Snappy,
        CopyCompression::Lz4 => Compression::Lz4,
    })
}
