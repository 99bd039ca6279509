//! SQL values and vectors of them in SSA form.

use cranelift_codegen::ir::{self, types};
use frazil_types::NativeType;

/// A value with its validity. Strings are one 128-bit value: `StringRef::head` in the low half, `tail`
/// in the high half.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SqlValue {
    /// The value; anything where it is NULL.
    pub value: ir::Value,
    /// An `i8`, 1 where it is not NULL; none for a value that never is.
    pub valid: Option<ir::Value>,
    /// How it is held.
    pub native: NativeType,
}

impl SqlValue {
    /// A value that is never NULL.
    pub fn certain(value: ir::Value, native: NativeType) -> SqlValue {
        SqlValue {
            value,
            valid: None,
            native,
        }
    }

    /// A boolean that is never NULL.
    pub fn truth(value: ir::Value) -> SqlValue {
        SqlValue::certain(value, NativeType::Bool)
    }

    /// The same with another validity.
    pub fn with_valid(self, valid: Option<ir::Value>) -> SqlValue {
        SqlValue { valid, ..self }
    }
}

/// A column of a whole vector, its words in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VectorWords {
    pub values: ir::Value,
    /// None: all ones.
    pub value_mask: Option<ir::Value>,
    pub validity: ir::Value,
    /// None: all ones.
    pub validity_mask: Option<ir::Value>,
}

/// The Cranelift type of a native type.
pub(crate) fn clif_type(native: NativeType) -> ir::Type {
    match native {
        NativeType::Bool => types::I8,
        NativeType::I16 => types::I16,
        NativeType::I32 => types::I32,
        NativeType::I64 => types::I64,
        NativeType::F64 => types::F64,
        NativeType::I128 | NativeType::String => types::I128,
    }
}
