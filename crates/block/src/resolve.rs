//! Types resolved once per call: code widths and native types become compile-time types here alone.

use crate::block::Block;
use crate::format::Section;
use frazil_kernels::Plain;

/// Runs `$body` with `$codes` bound to the codes of a column as a slice of their width.
macro_rules! dispatch_codes {
    ($block:expr, $entry:expr, $codes:ident => $body:expr) => {
        match $entry.code_bits {
            8 => {
                let $codes = $block.slice::<u8>($entry.sections.codes);
                $body
            }
            16 => {
                let $codes = $block.slice::<u16>($entry.sections.codes);
                $body
            }
            32 => {
                let $codes = $block.slice::<u32>($entry.sections.codes);
                $body
            }
            _ => {
                let $codes = $block.slice::<u64>($entry.sections.codes);
                $body
            }
        }
    };
}

/// Runs `$body` with `$T` bound to the Rust type of an integer's native type; `$other` for the rest.
macro_rules! dispatch_integer {
    ($native:expr, $T:ident => $body:expr, _ => $other:expr) => {
        match $native {
            frazil_types::NativeType::I16 => {
                type $T = i16;
                $body
            }
            frazil_types::NativeType::I32 => {
                type $T = i32;
                $body
            }
            frazil_types::NativeType::I64 => {
                type $T = i64;
                $body
            }
            frazil_types::NativeType::I128 => {
                type $T = i128;
                $body
            }
            _ => $other,
        }
    };
}

pub(crate) use {dispatch_codes, dispatch_integer};

impl Block {
    /// A section as values of `T`.
    #[inline]
    pub(crate) fn slice<T: Plain>(&self, section: Section) -> &[T] {
        let bytes = self.section(section);
        assert!(bytes.as_ptr().cast::<T>().is_aligned());
        // SAFETY: aligned as just checked, within the section, and every bit pattern of a Plain type is
        // a value.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
    }
}
