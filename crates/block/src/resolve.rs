//! Types resolved once per call: native types become compile-time types here, the words of codes in
//! [`crate::layouts::codes`].

use crate::block::Block;
use crate::format::{ColumnEntry, Section};
use crate::layouts::Layout;
use crate::layouts::codes::Codes;
use frazil_kernels::plain::Codes as Words;
use frazil_kernels::{Packed, Plain};

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

pub(crate) use dispatch_integer;

/// An integer as the widest.
pub(crate) fn widen<T: Copy + Into<i128>>(value: &T) -> i128 {
    (*value).into()
}

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

    /// The codes of a coded column, whatever their layout.
    #[inline]
    pub(crate) fn codes(&self, entry: &ColumnEntry) -> Codes<'_> {
        let section = entry.sections.codes;
        if entry.layout != Layout::BytePacked {
            let packed = Packed {
                bytes: self.section(section),
                rows: self.rows() as usize,
                bits: entry.code_bits.into(),
            };
            return Codes::Packed(entry.layout, packed);
        }
        Codes::Words(match entry.code_bits {
            8 => Words::W8(self.slice(section)),
            16 => Words::W16(self.slice(section)),
            32 => Words::W32(self.slice(section)),
            _ => Words::W64(self.slice(section)),
        })
    }
}
