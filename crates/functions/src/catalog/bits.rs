//! Operators on the bits of integers.

use super::{Function, Overload, Run};
use crate::type_rules::Kind::{self, BigInt, Integer, SmallInt};
use crate::vector::{Output, Row, RowFn};
use frazil_types::{NativeType, Result};

const fn overload(parameters: &'static [Kind], f: RowFn, gives: Kind) -> Overload {
    Overload {
        parameters,
        run: Run::Rows(f, gives),
    }
}

/// The overloads of a function of two integers of one width.
macro_rules! of_widths {
    ($f:expr) => {
        &[
            overload(&[SmallInt, SmallInt], $f, SmallInt),
            overload(&[Integer, Integer], $f, Integer),
            overload(&[BigInt, BigInt], $f, BigInt),
        ]
    };
}

/// The overloads of a shift.
macro_rules! of_shifts {
    ($f:expr) => {
        &[
            overload(&[SmallInt, Integer], $f, SmallInt),
            overload(&[Integer, Integer], $f, Integer),
            overload(&[BigInt, Integer], $f, BigInt),
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
            overload(&[SmallInt], |row, out| out.int((!row.int(0)).into()), SmallInt),
            overload(&[Integer], |row, out| out.int((!row.int(0)).into()), Integer),
            overload(&[BigInt], |row, out| out.int((!row.int(0)).into()), BigInt),
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
