//! Hashes of keys: one definition, simple enough that generated code repeats it.
//!
//! ```text
//! hash(x)       = p ^ (p >> 32)  with  p = (x ^ SEED) * MULTIPLIER      (64 bits, wrapping)
//! combine(h, x) = hash(rotate_left(h, 31) ^ x)
//! ```
//!
//! so `hash(x) = combine(0, x)`, and a key of several columns folds them from 0. The words of a value:
//!
//! | type | words |
//! |---|---|
//! | bool | 0 or 1 |
//! | i16, i32, i64 | sign-extended |
//! | f64 | its bits; −0 as 0, every NaN as [`CANONICAL_NAN`] |
//! | i128 | the low, then the high 64 bits |
//! | string to 12 bytes | `StringRef::head`, `StringRef::tail` |
//! | longer string | `StringRef::head`, then its bytes by eight (little-endian, the last padded by zeros) |
//! | NULL of any type | [`NULL_WORD`] |
//!
//! The upper bits are the better ones: a directory of 2^k slots takes `hash >> (64 - k)`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::isa::dispatch;
use crate::{Isa, Kernel, Plain, counters};
use frazil_types::StringRef;

/// Keeps small keys away from zero.
pub const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
/// An odd constant with well-spread bits.
pub const MULTIPLIER: u64 = 0xD6E8_FEB8_6659_FD93;
/// How far the hash so far is rotated before the next word.
pub const ROTATION: u32 = 31;
/// Hashed in place of NULL, so that all NULLs fall into one group. An arbitrary constant.
pub const NULL_WORD: u64 = 0x6E75_6C6C_4E55_4C4C;
/// Hashed in place of every NaN, because all NaNs are equal.
pub const CANONICAL_NAN: u64 = 0x7FF8_0000_0000_0000;

/// The hash of one word.
#[inline(always)]
pub const fn hash_u64(word: u64) -> u64 {
    let p = (word ^ SEED).wrapping_mul(MULTIPLIER);
    p ^ (p >> 32)
}

/// The hash so far, and a further word.
#[inline(always)]
pub const fn combine(hash: u64, word: u64) -> u64 {
    hash_u64(hash.rotate_left(ROTATION) ^ word)
}

/// A key type that is hashed by value.
pub trait HashKey: Plain {
    /// `hash` with the words of this value folded in.
    fn fold(self, hash: u64) -> u64;
}

macro_rules! hash_key {
    ($($type:ty => |$v:ident| $word:expr),* $(,)?) => {
        $(
            impl HashKey for $type {
                #[inline(always)]
                fn fold(self, hash: u64) -> u64 {
                    let $v = self;
                    combine(hash, $word)
                }
            }
        )*
    };
}

hash_key! {
    u8 => |v| u64::from(v),
    i16 => |v| i64::from(v) as u64,
    i32 => |v| i64::from(v) as u64,
    i64 => |v| v as u64,
    u64 => |v| v,
    f64 => |v| double_word(v),
}

impl HashKey for i128 {
    #[inline(always)]
    fn fold(self, hash: u64) -> u64 {
        combine(combine(hash, self as u64), (self >> 64) as u64)
    }
}

/// The word of a double: equal doubles (as PostgreSQL compares them) have equal words.
#[inline(always)]
pub fn double_word(v: f64) -> u64 {
    if v.is_nan() {
        CANONICAL_NAN
    } else {
        (v + 0.0).to_bits()
    }
}

/// The hash of a string's bytes, the same as that of a [`StringRef`] to them.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    // SAFETY: the reference is used only while `bytes` is borrowed.
    unsafe { fold_string(0, StringRef::new(bytes)) }
}

/// `hash` with a string folded in.
///
/// # Safety
/// The string's bytes must be alive.
#[inline]
pub unsafe fn fold_string(hash: u64, string: StringRef) -> u64 {
    let hash = combine(hash, string.head);
    if string.is_inline() {
        return combine(hash, string.tail);
    }
    // SAFETY: by contract.
    scalar::fold_bytes(hash, unsafe { string.bytes_outside() })
}

/// Hashes of a column: `out[i]` of `values[i]`. `validity` holds a byte a row, 0 for NULL.
pub fn hash_column<T: HashKey>(isa: Isa, values: &[T], validity: Option<&[u8]>, out: &mut [u64]) {
    out[..values.len()].fill(0);
    combine_column(isa, values, validity, out);
}

/// Folds a further column into the hashes of its rows.
pub fn combine_column<T: HashKey>(isa: Isa, values: &[T], validity: Option<&[u8]>, hashes: &mut [u64]) {
    let isa = counters::enter(Kernel::Hash, isa);
    dispatch!(
        isa,
        combine_column(values, validity, hashes),
        otherwise scalar::combine_column(values, validity, hashes),
    );
}

/// Hashes of a column of strings.
///
/// # Safety
/// The bytes of every string that is not NULL must be alive.
pub unsafe fn hash_strings(isa: Isa, strings: &[StringRef], validity: Option<&[u8]>, out: &mut [u64]) {
    out[..strings.len()].fill(0);
    // SAFETY: by contract.
    unsafe { combine_strings(isa, strings, validity, out) }
}

/// Folds a further column of strings into the hashes of its rows.
///
/// # Safety
/// The bytes of every string that is not NULL must be alive.
pub unsafe fn combine_strings(isa: Isa, strings: &[StringRef], validity: Option<&[u8]>, hashes: &mut [u64]) {
    counters::enter(Kernel::Hash, isa);
    // A string is a chain of dependent multiplications: wider vectors do not help.
    // SAFETY: by contract.
    unsafe { scalar::combine_strings(strings, validity, hashes) }
}
