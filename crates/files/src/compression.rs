//! How files are compressed.

use std::path::Path;

/// How bytes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// Of CSV and JSON, the whole file.
    Gzip,
    /// Of CSV and JSON the whole file, of Parquet its pages.
    Zstd,
    /// Of Parquet, its pages.
    Snappy,
    /// Of Parquet, its pages.
    Lz4,
}

impl Compression {
    /// What the name of a file ends with that is compressed as a whole; nothing for what compresses pages of Parquet.
    pub fn extension(self) -> &'static str {
        match self {
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
            Compression::None | Compression::Snappy | Compression::Lz4 => "",
        }
    }

    /// What the end of a file's name says.
    pub fn of_path(path: &Path) -> Compression {
        let end = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match end.as_deref() {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstd,
            _ => Compression::None,
        }
    }
}
