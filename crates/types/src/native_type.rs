//! How values are held in memory, and the one macro that dispatches on it.

use crate::StringRef;

/// The machine representation of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum NativeType {
    /// One byte, 0 or 1.
    Bool = 1,
    /// Two bytes.
    I16 = 2,
    /// Four bytes: integer, date, char(1) as its code point.
    I32 = 3,
    /// Eight bytes: bigint, timestamp, decimal to 18 digits.
    I64 = 4,
    /// Sixteen bytes: wide decimals.
    I128 = 5,
    /// IEEE 754 double.
    F64 = 6,
    /// A [`StringRef`], 16 bytes.
    String = 7,
}

impl NativeType {
    /// Bytes of one value.
    #[inline]
    pub const fn size(self) -> usize {
        match self {
            NativeType::Bool => 1,
            NativeType::I16 => 2,
            NativeType::I32 => 4,
            NativeType::I64 | NativeType::F64 => 8,
            NativeType::I128 | NativeType::String => 16,
        }
    }

    /// Whether it is an integer (decimals, dates and code points included, booleans not).
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            NativeType::I16 | NativeType::I32 | NativeType::I64 | NativeType::I128
        )
    }

    /// True if it is an integer whose bytes can hold a value.
    pub fn holds(self, value: i128) -> bool {
        match self {
            NativeType::I16 => i16::try_from(value).is_ok(),
            NativeType::I32 => i32::try_from(value).is_ok(),
            NativeType::I64 => i64::try_from(value).is_ok(),
            NativeType::I128 => true,
            NativeType::Bool | NativeType::F64 | NativeType::String => false,
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that holds values of one [`NativeType`]. All are plain bytes without padding.
pub trait Native:
    sealed::Sealed + Copy + Send + Sync + Default + PartialEq + std::fmt::Debug + 'static
{
    /// The native type it stands for.
    const TYPE: NativeType;
}

macro_rules! native {
    ($($rust:ty => $variant:ident),* $(,)?) => {
        $(
            impl sealed::Sealed for $rust {}
            impl Native for $rust {
                const TYPE: NativeType = NativeType::$variant;
            }
        )*
    };
}

native! { u8 => Bool, i16 => I16, i32 => I32, i64 => I64, i128 => I128, f64 => F64, StringRef => String }

/// Runs `$body` with `$T` bound to the Rust type of a [`NativeType`]: the one place where a run-time
/// type becomes a compile-time one.
#[macro_export]
macro_rules! dispatch_native {
    ($native:expr, $T:ident => $body:expr) => {
        match $native {
            $crate::NativeType::Bool => {
                type $T = u8;
                $body
            }
            $crate::NativeType::I16 => {
                type $T = i16;
                $body
            }
            $crate::NativeType::I32 => {
                type $T = i32;
                $body
            }
            $crate::NativeType::I64 => {
                type $T = i64;
                $body
            }
            $crate::NativeType::I128 => {
                type $T = i128;
                $body
            }
            $crate::NativeType::F64 => {
                type $T = f64;
                $body
            }
            $crate::NativeType::String => {
                type $T = $crate::StringRef;
                $body
            }
        }
    };
}
