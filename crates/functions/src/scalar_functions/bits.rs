//! Operators on the bits of integers.

use crate::function::{Function, rows};
use crate::type_rules::Kind::{BigInt, Integer, SmallInt};
use crate::vector::{Output, Row};
use frazil_types::{NativeType, Result};

/// The overloads of a function of two integers of one width.
macro_rules! of_widths {
    ($f:expr) => {
        &[
            rows(&[SmallInt, SmallInt], $f, SmallInt),
            rows(&[Integer, Integer], $f, Integer),
            rows(&[BigInt, BigInt], $f, BigInt),
        ]
    };
}

/// The overloads of a shift.
macro_rules! of_shifts {
    ($f:expr) => {
        &[
            rows(&[SmallInt, Integer], $f, SmallInt),
            rows(&[Integer, Integer], $f, Integer),
            rows(&[BigInt, Integer], $f, BigInt),
        ]
    };
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "bit_and_of",
        overloads: of_widths!(|row, out| out.int((row.int(0) & row.int(1)).into())),
        description: "bits set in both",
    },
    Function {
        name: "bit_or_of",
        overloads: of_widths!(|row, out| out.int((row.int(0) | row.int(1)).into())),
        description: "bits set in either",
    },
    Function {
        name: "bit_xor_of",
        overloads: of_widths!(|row, out| out.int((row.int(0) ^ row.int(1)).into())),
        description: "bits set in one",
    },
    Function {
        name: "bit_not_of",
        overloads: &[
            rows(&[SmallInt], |row, out| out.int((!row.int(0)).into()), SmallInt),
            rows(&[Integer], |row, out| out.int((!row.int(0)).into()), Integer),
            rows(&[BigInt], |row, out| out.int((!row.int(0)).into()), BigInt),
        ],
        description: "bits not set",
    },
    Function {
        name: "shift_left",
        overloads: of_shifts!(shift_left),
        description: "bits moved up",
    },
    Function {
        name: "shift_right",
        overloads: of_shifts!(shift_right),
        description: "bits moved down, the sign kept",
    },
];

// The machine takes a shift modulo the width; a smallint is shifted as an integer.

fn shift_left(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (value, by) = (row.int(0), row.int(1) as u32);
    out.int(match out.ty().native() {
        NativeType::I16 => i128::from((value as i32).wrapping_shl(by) as i16),
        NativeType::I32 => (value as i32).wrapping_shl(by).into(),
        _ => value.wrapping_shl(by).into(),
    })
}

fn shift_right(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (value, by) = (row.int(0), row.int(1) as u32);
    out.int(match out.ty().native() {
        NativeType::I16 => i128::from((value as i32).wrapping_shr(by) as i16),
        NativeType::I32 => (value as i32).wrapping_shr(by).into(),
        _ => value.wrapping_shr(by).into(),
    })
}
