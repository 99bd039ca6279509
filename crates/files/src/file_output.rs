//! Where a writer's bytes go: a file that has its name only when it is whole, or somebody else.

use crate::batch_writer::Destination;
use crate::compression::Compression;
use crate::object_files::own_error;
use crate::part_file::PartFile;
use flate2::write::GzEncoder;
use frazil_types::{Error, Result, SqlState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes that are handed to the system at once.
const BUFFER_BYTES: usize = 1 << 18;
/// zstd's default, which is about as fast as a disk.
const ZSTD_LEVEL: i32 = 3;

/// The error for bytes that the system does not take; the error of a store, if it is one.
pub fn write_error(path: Option<&Path>, error: &io::Error) -> Error {
    if let Some(own) = own_error(error) {
        return own;
    }
    let message = match path {
        Some(path) => format!("could not write file \"{}\": {error}", path.display()),
        None => format!("could not write: {error}"),
    };
    Error::new(SqlState::of_io(error), message)
}

/// The last of the layers that bytes go through.
enum Raw<'a> {
    File(Box<PartFile>),
    Stream(Box<dyn Write + 'a>),
}

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Raw::File(file) => file.write(bytes),
            Raw::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Raw::File(file) => file.flush(),
            Raw::Stream(stream) => stream.flush(),
        }
    }
}

enum Layers<'a> {
    Plain(BufWriter<Raw<'a>>),
    Gzip(GzEncoder<BufWriter<Raw<'a>>>),
    Zstd(zstd::Encoder<'static, BufWriter<Raw<'a>>>),
}

/// Takes the bytes of a text form and compresses them.
pub struct FileOutput<'a> {
    path: Option<PathBuf>,
    layers: Layers<'a>,
}

impl<'a> FileOutput<'a> {
    /// Begins. 0A000 for what compresses pages of Parquet only.
    pub fn new(to: Destination<'_, 'a>, compression: Compression) -> Result<FileOutput<'a>> {
        let (path, raw) = match to {
            Destination::File(path, cancel) => {
                let file = PartFile::create(path, cancel)?;
                (Some(path.to_path_buf()), Raw::File(Box::new(file)))
            }
            Destination::Stream(stream) => (None, Raw::Stream(stream)),
        };
        let buffered = BufWriter::with_capacity(BUFFER_BYTES, raw);
        let layers = match compression {
            Compression::None => Layers::Plain(buffered),
            Compression::Gzip => Layers::Gzip(GzEncoder::new(buffered, flate2::Compression::default())),
            Compression::Zstd => {
                let encoder = zstd::Encoder::new(buffered, ZSTD_LEVEL);
                Layers::Zstd(encoder.map_err(|e| write_error(path.as_deref(), &e))?)
            }
            Compression::Snappy | Compression::Lz4 => {
                return Err(Error::unsupported("this compression of CSV and JSON")
                    .with_hint("choose gzip, zstd or none"));
            }
        };
        Ok(FileOutput { path, layers })
    }

    /// Takes bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.layers {
            Layers::Plain(out) => out.write_all(bytes),
            Layers::Gzip(out) => out.write_all(bytes),
            Layers::Zstd(out) => out.write_all(bytes),
        };
        written.map_err(|e| write_error(self.path.as_deref(), &e))
    }

    /// Writes what is held, and gives the file its name.
    pub fn finish(self) -> Result<()> {
        let failed = |e: io::Error| write_error(self.path.as_deref(), &e);
        let buffered = match self.layers {
            Layers::Plain(out) => out,
            Layers::Gzip(out) => out.finish().map_err(failed)?,
            Layers::Zstd(out) => out.finish().map_err(failed)?,
        };
        match buffered.into_inner().map_err(|e| failed(e.into_error()))? {
            Raw::File(file) => file.keep(),
            Raw::Stream(mut stream) => stream.flush().map_err(failed),
        }
    }
}
