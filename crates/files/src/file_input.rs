//! Where a reader's bytes come from: a regular file, perhaps compressed, or something that may keep its reader waiting.

use crate::compression::Compression;
use crate::encoding::{Encoding, Transcoder};
use crate::zstd_input::ZstdInput;
use crate::{ReadLimits, io_error};
use flate2::read::MultiGzDecoder;
use frazil_types::{Error, MemoryBudget, Result, SqlState};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Bytes that the thread behind a pipe reads at once.
const PIECE_BYTES: usize = 1 << 16;
/// How long a reader waits for a pipe or a directory before it looks whether the statement is cancelled.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);

/// What a reader reads.
pub enum Origin<'a> {
    /// A file, or an object by its URL.
    File(&'a Path),
    /// Bytes of somebody else, who may make their reader wait.
    Stream(Box<dyn Read + Send>),
}

/// The bytes of a file in order.
pub(crate) struct FileInput {
    /// What errors call it.
    pub path: PathBuf,
    source: Source,
    /// Set for text in another encoding than UTF-8.
    transcoder: Option<Transcoder>,
    /// Bytes of the file; 0 where nobody knows.
    pub total: u64,
}

enum Source {
    Regular(File),
    /// The contents of a compressed regular file, or of an object.
    Decoded(Box<dyn Read + Send>),
    /// A pipe or device: a thread of its own reads it, because opening and reading it may wait for a writer for ever.
    /// Once the receiver is gone the thread ends with the next piece.
    Waiting {
        pieces: Receiver<io::Result<Vec<u8>>>,
        piece: Vec<u8>,
        at: usize,
    },
}

impl FileInput {
    /// Opens a file, whose compression its name tells if `compression` is `None`. What it takes to decompress it comes
    /// out of the budget. Errors: 58P01, 58030, and those of stores.
    pub fn open(
        origin: Origin<'_>,
        compression: Option<Compression>,
        limits: &ReadLimits,
    ) -> Result<FileInput> {
        let budget = limits.budget.clone();
        let path = match origin {
            Origin::File(path) => path,
            Origin::Stream(stream) => {
                let path = PathBuf::from("stdin");
                let source =
                    waiting(move || decoded(stream, compression.unwrap_or(Compression::None), &budget));
                let source = source.map_err(|e| io_error(&path, &e))?;
                let total = 0;
                return Ok(FileInput {
                    path,
                    source,
                    transcoder: None,
                    total,
                });
            }
        };
        let compression = compression.unwrap_or_else(|| Compression::of_path(path));
        if let Some(object) = limits.objects.find(path, &limits.cancel)? {
            let stream = decoded(
                Box::new(object.stream(&limits.cancel, &budget)?),
                compression,
                &budget,
            );
            return Ok(FileInput {
                path: path.to_path_buf(),
                source: Source::Decoded(stream.map_err(|e| io_error(path, &e))?),
                transcoder: None,
                total: match compression {
                    Compression::None => object.bytes(),
                    _ => 0,
                },
            });
        }
        let metadata = std::fs::metadata(path).map_err(|e| io_error(path, &e))?;
        let waits = !metadata.is_file() && !metadata.is_dir();
        let source = match waits {
            false => {
                let file = File::open(path).map_err(|e| io_error(path, &e))?;
                match compression {
                    Compression::None => Source::Regular(file),
                    _ => Source::Decoded(
                        decoded(Box::new(file), compression, &budget).map_err(|e| io_error(path, &e))?,
                    ),
                }
            }
            true => {
                let opened = path.to_path_buf();
                waiting(move || decoded(Box::new(File::open(opened)?), compression, &budget))
                    .map_err(|e| io_error(path, &e))?
            }
        };
        let is_counted = !waits && compression == Compression::None;
        Ok(FileInput {
            path: path.to_path_buf(),
            transcoder: None,
            source,
            total: if is_counted { metadata.len() } else { 0 },
        })
    }

    /// Reads some bytes into `to`; 0 at the end. Errors: 58030, 53200 for what cannot be decompressed within the
    /// budget, and 57014 once the statement is cancelled.
    pub fn read(&mut self, to: &mut [u8], limits: &ReadLimits) -> Result<usize> {
        let Some(mut transcoder) = self.transcoder.take() else {
            return self.read_bytes(to, limits);
        };
        let read = transcoder.read(to, &mut |bytes| self.read_bytes(bytes, limits));
        self.transcoder = Some(transcoder);
        let is_text = |e: &Error| e.state() == SqlState::CHARACTER_NOT_IN_REPERTOIRE;
        read.map_err(|e| match is_text(&e) {
            true => e.in_context(format!("file \"{}\"", self.path.display())),
            false => e,
        })
    }

    /// Says the encoding of the text.
    pub fn decoding(mut self, encoding: Encoding) -> FileInput {
        self.transcoder = (encoding != Encoding::Utf8).then(|| Transcoder::new(encoding));
        self
    }

    fn read_bytes(&mut self, to: &mut [u8], limits: &ReadLimits) -> Result<usize> {
        limits.cancel.check()?;
        let failed = |e: &io::Error| -> Error { io_error(&self.path, e) };
        let (pieces, piece, at) = match &mut self.source {
            Source::Regular(file) => {
                return loop {
                    match file.read(to) {
                        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                        read => break read.map_err(|e| failed(&e)),
                    }
                };
            }
            Source::Decoded(reader) => {
                return loop {
                    match reader.read(to) {
                        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                        read => break read.map_err(|e| failed(&e)),
                    }
                };
            }
            Source::Waiting { pieces, piece, at } => (pieces, piece, at),
        };
        while *at == piece.len() {
            match pieces.recv_timeout(PATIENCE) {
                Ok(next) => (*piece, *at) = (next.map_err(|e| failed(&e))?, 0),
                Err(RecvTimeoutError::Timeout) => limits.cancel.check()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let n = to.len().min(piece.len() - *at);
        to[..n].copy_from_slice(&piece[*at..*at + n]);
        *at += n;
        Ok(n)
    }
}

/// The bytes behind a compression.
fn decoded(
    bytes: Box<dyn Read + Send>,
    compression: Compression,
    budget: &MemoryBudget,
) -> io::Result<Box<dyn Read + Send>> {
    match compression {
        Compression::None => Ok(bytes),
        Compression::Gzip => Ok(Box::new(MultiGzDecoder::new(io::BufReader::new(bytes)))),
        Compression::Zstd => Ok(Box::new(ZstdInput::new(bytes, budget))),
        Compression::Snappy | Compression::Lz4 => {
            Err(io::Error::other("only gzip and zstd compress such files"))
        }
    }
}

/// The pieces of what `open` opens, read by a thread, at most two ahead.
fn waiting(open: impl FnOnce() -> io::Result<Box<dyn Read + Send>> + Send + 'static) -> io::Result<Source> {
    let (sender, receiver) = sync_channel(2);
    let read = move || {
        let mut file = match open() {
            Ok(file) => file,
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        loop {
            let mut piece = vec![0; PIECE_BYTES];
            let piece = match file.read(&mut piece) {
                Ok(0) => return,
                Ok(n) => {
                    piece.truncate(n);
                    Ok(piece)
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => Err(e),
            };
            let over = piece.is_err();
            // Nobody receives any more: the statement has ended.
            if sender.send(piece).is_err() || over {
                return;
            }
        }
    };
    std::thread::Builder::new()
        .name("frazil-copy".to_owned())
        .spawn(read)?;
    Ok(Source::Waiting {
        pieces: receiver,
        piece: Vec::new(),
        at: 0,
    })
}
