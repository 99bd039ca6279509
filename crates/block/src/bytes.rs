//! The bytes of a block: shared, immutable, 64-byte aligned, from memory or from a mapped file.

use frazil_types::{Error, Result, SqlState};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Alignment of a block and of every section in it, in bytes: one AVX-512 register, one cache line.
pub const ALIGNMENT: usize = 64;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; ALIGNMENT]);

/// A growing buffer of bytes whose start is 64-byte aligned.
#[derive(Default)]
pub struct AlignedBytes {
    lines: Vec<Line>,
    len: usize,
}

impl AlignedBytes {
    /// An empty buffer with room for `bytes`.
    pub fn with_capacity(bytes: usize) -> AlignedBytes {
        AlignedBytes {
            lines: Vec::with_capacity(bytes.div_ceil(ALIGNMENT)),
            len: 0,
        }
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `lines` holds at least `len` initialised bytes, and u8 has no alignment.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }

    /// The bytes, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }

    /// Grows by `bytes` zero bytes, which are returned.
    pub fn extend_zeroed(&mut self, bytes: usize) -> &mut [u8] {
        let start = self.len;
        self.len += bytes;
        self.lines
            .resize(self.len.div_ceil(ALIGNMENT), Line([0; ALIGNMENT]));
        &mut self.as_mut_slice()[start..]
    }

    /// Appends `bytes`.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.extend_zeroed(bytes.len()).copy_from_slice(bytes);
    }

    /// Pads with zero bytes to the next multiple of [`ALIGNMENT`].
    pub fn align(&mut self) {
        self.len = self.lines.len() * ALIGNMENT;
    }
}

impl std::fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AlignedBytes({})", self.len)
    }
}

/// Brings bytes of a block that is elsewhere. Places are bytes from the block's first on.
pub trait FetchBytes: Send + Sync {
    /// Makes the bytes of a range readable.
    fn fetch(&self, range: Range<u64>) -> Result<()>;

    /// Brings the bytes of a range once more, because some of them are damaged.
    fn fetch_anew(&self, range: Range<u64>) -> Result<()>;
}

/// Shared immutable bytes of one block. Cheap to clone; the owner lives as long as the last clone.
#[derive(Clone)]
pub struct BlockBytes {
    start: *const u8,
    len: usize,
    /// Brings the bytes that are read; `None`: all are there.
    fetch: Option<Arc<dyn FetchBytes>>,
    _owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the bytes are immutable and the owner is Send and Sync.
unsafe impl Send for BlockBytes {}
// SAFETY: see above.
unsafe impl Sync for BlockBytes {}

impl BlockBytes {
    /// Takes a buffer that is aligned already, e.g. one that the builder made.
    pub fn from_aligned(bytes: AlignedBytes) -> BlockBytes {
        let owner = Arc::new(bytes);
        BlockBytes {
            start: owner.as_slice().as_ptr(),
            len: owner.len(),
            fetch: None,
            _owner: owner,
        }
    }

    /// Copies bytes of any alignment.
    pub fn copy_of(bytes: &[u8]) -> BlockBytes {
        let mut aligned = AlignedBytes::with_capacity(bytes.len());
        aligned.extend(bytes);
        BlockBytes::from_aligned(aligned)
    }

    /// Lends bytes of a mapping that `owner` keeps alive. An error if they are not 64-byte aligned.
    ///
    /// # Safety
    /// `start..start + len` must be readable and must not change while `owner` lives.
    pub unsafe fn from_mapping(
        start: *const u8,
        len: usize,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Result<BlockBytes> {
        if !start.addr().is_multiple_of(ALIGNMENT) {
            return Err(Error::new(
                SqlState::DATA_CORRUPTED,
                "a block does not begin at a multiple of 64 bytes",
            ));
        }
        Ok(BlockBytes {
            start,
            len,
            fetch: None,
            _owner: owner,
        })
    }

    /// These bytes, which `fetch` brings when they are first read.
    pub fn fetched_by(self, fetch: Arc<dyn FetchBytes>) -> BlockBytes {
        BlockBytes {
            fetch: Some(fetch),
            ..self
        }
    }

    /// Makes the bytes of a range readable.
    #[inline]
    pub(crate) fn fetch(&self, range: Range<u64>) -> Result<()> {
        match &self.fetch {
            None => Ok(()),
            Some(fetch) => fetch.fetch(range),
        }
    }

    /// True if the bytes are fetched from elsewhere.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.fetch.is_some()
    }

    /// Checks the bytes of a range, which are fetched before. If they are damaged and there is another copy elsewhere,
    /// that one is fetched and checked.
    pub(crate) fn check_fetched<T>(&self, range: Range<u64>, check: impl Fn() -> Result<T>) -> Result<T> {
        self.fetch(range.clone())?;
        match (check(), &self.fetch) {
            (Err(_), Some(fetch)) => {
                fetch.fetch_anew(range)?;
                check()
            }
            (checked, _) => checked,
        }
    }

    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: by construction the owner keeps `len` immutable bytes alive at `start`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl std::fmt::Debug for BlockBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BlockBytes({})", self.len)
    }
}
