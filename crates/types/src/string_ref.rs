//! Strings by reference: 16 bytes that hold a short string whole, or length, prefix and pointer.
//!
//! Equality of two strings is decided by the first eight bytes (length and prefix) in most cases, and
//! strings of up to twelve bytes never leave the register pair. A string whose bytes live only as
//! long as the current stage vector (it was decompressed into a scratch buffer) is **transient**: bit
//! 63 of its pointer is set. Whoever keeps a string longer copies it if it is transient.

use std::cmp::Ordering;

/// Strings of up to this many bytes are held inline.
pub const INLINE_BYTES: usize = 12;
/// Marks, in the pointer, bytes that live for this stage vector only.
pub const TRANSIENT_BIT: u64 = 1 << 63;

/// A string: `[len: u32][12 bytes inline]` or `[len: u32][4-byte prefix][pointer: u64]`.
///
/// Inline strings are padded with zero bytes, so equal strings of up to 12 bytes are equal as two
/// 64-bit words.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
pub struct StringRef {
    /// Length in bytes in the low half, the first four bytes of the string in the high half.
    pub head: u64,
    /// The other eight inline bytes, or the pointer with [`TRANSIENT_BIT`].
    pub tail: u64,
}

// SAFETY: a StringRef is a borrow whose lifetime the holder of the underlying memory guards, exactly
// as with `&[u8]`, which is Send and Sync.
unsafe impl Send for StringRef {}
// SAFETY: see above; nothing is written through it.
unsafe impl Sync for StringRef {}

impl StringRef {
    /// A reference to `bytes`; they are copied if they fit inline.
    ///
    /// # Safety
    /// Unless `bytes` fits inline, it must outlive every use of the reference.
    /// Its length must fit in 31 bits.
    #[inline]
    pub unsafe fn new(bytes: &[u8]) -> StringRef {
        debug_assert!(bytes.len() < 1 << 31);
        if bytes.len() <= INLINE_BYTES {
            return StringRef::inline(bytes);
        }
        let prefix = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        StringRef {
            head: bytes.len() as u64 | u64::from(prefix) << 32,
            tail: bytes.as_ptr() as u64,
        }
    }

    /// A short string, held whole. Panics above [`INLINE_BYTES`].
    #[inline]
    pub fn inline(bytes: &[u8]) -> StringRef {
        let len = bytes.len();
        assert!(len <= INLINE_BYTES);
        let payload = payload(bytes);
        StringRef {
            head: len as u64 | u64::from(payload as u32) << 32,
            tail: (payload >> 32) as u64,
        }
    }

    /// A string that outlives the program.
    pub fn from_static(text: &'static str) -> StringRef {
        // SAFETY: static bytes outlive every use.
        unsafe { StringRef::new(text.as_bytes()) }
    }

    /// Length in bytes.
    #[inline]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        (self.head as u32) as usize
    }

    /// Whether the bytes are held in the reference itself.
    #[inline]
    pub fn is_inline(self) -> bool {
        self.len() <= INLINE_BYTES
    }

    /// Whether the bytes live for the current stage vector only.
    #[inline]
    pub fn is_transient(self) -> bool {
        !self.is_inline() && self.tail & TRANSIENT_BIT != 0
    }

    /// The same string marked transient (inline strings stay as they are).
    #[inline]
    pub fn as_transient(self) -> StringRef {
        if self.is_inline() {
            self
        } else {
            StringRef {
                head: self.head,
                tail: self.tail | TRANSIENT_BIT,
            }
        }
    }

    /// The bytes.
    ///
    /// # Safety
    /// The referenced bytes must be alive, and stay so while the result is used.
    #[inline]
    pub unsafe fn bytes(&self) -> &[u8] {
        let start = if self.is_inline() {
            (self as *const StringRef).cast::<u8>().wrapping_add(4)
        } else {
            (self.tail & !TRANSIENT_BIT) as *const u8
        };
        // SAFETY: inline bytes lie within self (4 + 12 = 16); others are alive by contract.
        unsafe { std::slice::from_raw_parts(start, self.len()) }
    }

    /// The bytes of a string that is not inline. Takes no address of the reference, which therefore stays in registers.
    ///
    /// # Safety
    /// The string must not be inline, and its bytes must be alive for `'a`.
    #[inline]
    pub unsafe fn bytes_outside<'a>(self) -> &'a [u8] {
        debug_assert!(!self.is_inline());
        // SAFETY: by contract.
        unsafe { std::slice::from_raw_parts((self.tail & !TRANSIENT_BIT) as *const u8, self.len()) }
    }

    /// The string without its last byte, which it has; transient if this one is.
    ///
    /// # Safety
    /// The string must have a byte, and the referenced bytes must be alive. The result is valid as long as they are.
    #[inline]
    pub unsafe fn without_last(self) -> StringRef {
        let length = self.len() - 1;
        if length > INLINE_BYTES {
            return StringRef {
                head: self.head - 1,
                tail: self.tail,
            };
        }
        // SAFETY: by contract.
        StringRef::inline(unsafe { &self.bytes()[..length] })
    }

    /// The text.
    ///
    /// # Safety
    /// As [`StringRef::bytes`]; and the bytes must be UTF-8, which blocks and loaders validate at the door.
    #[inline]
    pub unsafe fn text(&self) -> &str {
        // SAFETY: by contract.
        unsafe { std::str::from_utf8_unchecked(self.bytes()) }
    }

    /// Equality of bytes.
    ///
    /// # Safety
    /// Both strings must be alive.
    #[inline]
    pub unsafe fn equal(self, other: StringRef) -> bool {
        if self.head != other.head {
            return false;
        }
        if self.is_inline() {
            return self.tail == other.tail;
        }
        // SAFETY: by contract; the heads, and so the lengths, are equal.
        unsafe { self.bytes_outside() == other.bytes_outside() }
    }

    /// Order by bytes.
    ///
    /// # Safety
    /// Both strings must be alive.
    #[inline]
    pub unsafe fn compare(self, other: StringRef) -> Ordering {
        let (a, b) = ((self.head >> 32) as u32, (other.head >> 32) as u32);
        if a != b {
            return a.swap_bytes().cmp(&b.swap_bytes());
        }
        if self.is_inline() && other.is_inline() {
            // Bytes behind the end are zero: where they decide nothing, the longer one goes on with zeros, or both are equal.
            let rest = self.tail.swap_bytes().cmp(&other.tail.swap_bytes());
            return rest.then(self.len().cmp(&other.len()));
        }
        if !self.is_inline() && !other.is_inline() {
            // SAFETY: by contract.
            return unsafe { self.bytes_outside().cmp(other.bytes_outside()) };
        }
        // SAFETY: by contract.
        unsafe { self.bytes().cmp(other.bytes()) }
    }
}

/// Up to [`INLINE_BYTES`] bytes as a number, the first one lowest. Two loads that overlap spare a copy of unknown length.
#[inline]
fn payload(bytes: &[u8]) -> u128 {
    let len = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        return u128::from(first) | u128::from(last) << (8 * (len - 8));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return (u64::from(first) | u64::from(last) << (8 * (len - 4))).into();
    }
    match *bytes {
        [] => 0,
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, ..] => u32::from_le_bytes([a, b, c, 0]).into(),
    }
}

/// The first sixteen bytes as a number of their order: the first byte is the highest, zeros follow a shorter string.
/// Loads that overlap spare a copy of unknown length.
#[inline]
pub fn leading_bytes(bytes: &[u8]) -> u128 {
    let len = bytes.len();
    if let Some(first) = bytes.first_chunk() {
        return u128::from_be_bytes(*first);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u64::from_be_bytes(*first), u64::from_be_bytes(*last));
        return u128::from(first) << 64 | (u128::from(last) << (8 * (16 - len))) & u128::from(u64::MAX);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u32::from_be_bytes(*first), u32::from_be_bytes(*last));
        let last = (u64::from(last) << (8 * (8 - len))) & u64::from(u32::MAX);
        return u128::from(u64::from(first) << 32 | last) << 64;
    }
    bytes
        .iter()
        .rev()
        .fold(0, |word, &byte| word >> 8 | u128::from(byte) << 120)
}

impl PartialEq for StringRef {
    /// Identity of the reference, not of the text: see [`StringRef::equal`].
    fn eq(&self, other: &StringRef) -> bool {
        self.head == other.head && self.tail == other.tail
    }
}

impl std::fmt::Debug for StringRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StringRef({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<Vec<u8>> {
        let mut out: Vec<Vec<u8>> = (0..20).map(|n| (0..n).map(|i| b'a' + i).collect()).collect();
        for zeros in [
            &b"abc\0"[..],
            b"abc\0\0",
            b"abcdefg\0",
            b"abcdefgh\0\0\0\0",
            b"\0",
            b"\0\0\0\0\0",
        ] {
            out.push(zeros.to_vec());
        }
        out.push(b"abcdefghijklmnopqrstuvwxyz".to_vec());
        out.push("\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}".as_bytes().to_vec());
        out
    }

    #[test]
    fn leading_bytes_are_padded_by_zeros() {
        for text in texts() {
            for cut in 0..text.len() {
                let bytes = &text[cut..];
                let mut padded = [0; 16];
                let len = bytes.len().min(16);
                padded[..len].copy_from_slice(&bytes[..len]);
                assert_eq!(leading_bytes(bytes), u128::from_be_bytes(padded), "{bytes:?}");
            }
        }
        assert_eq!(leading_bytes(b""), 0);
    }

    #[test]
    fn compares_as_bytes_do() {
        let texts = texts();
        for a in &texts {
            for b in &texts {
                // SAFETY: `texts` outlives the references.
                unsafe {
                    let (x, y) = (StringRef::new(a), StringRef::new(b));
                    assert_eq!(x.equal(y), a == b);
                    assert_eq!(x.compare(y), a.cmp(b));
                    assert_eq!(x.as_transient().compare(y), a.cmp(b));
                    assert_eq!(x.bytes(), &a[..]);
                    if !x.is_inline() {
                        assert_eq!(x.as_transient().bytes_outside(), &a[..]);
                    }
                }
            }
        }
    }
}
