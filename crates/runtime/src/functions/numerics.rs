//! Numbers with digits after the point of their own: `numeric` without precision.
//!
//! An operand is 16 bytes and a scale: an integer of 128 bits at that scale, or with [`OWN_SCALE`] the reference of a
//! numeric's bytes.

use super::strings::put;
use crate::abi::{PipelineContext, STATUS_OK};
use frazil_types::numeric::{Numeric, Side};
use frazil_types::value_ops::{self, ArithmeticOp};
use frazil_types::{Error, Result, StringRef};

/// The scale of an operand that is a numeric's bytes.
pub const OWN_SCALE: i32 = -1;

/// Operations by number: the index of each is its code in calls.
const OPERATIONS: [ArithmeticOp; 5] = [
    ArithmeticOp::Add,
    ArithmeticOp::Sub,
    ArithmeticOp::Mul,
    ArithmeticOp::Div,
    ArithmeticOp::Rem,
];

/// The code of an operation in [`numeric_arithmetic`].
pub fn operation_code(op: ArithmeticOp) -> u32 {
    match op {
        ArithmeticOp::Add => 0,
        ArithmeticOp::Sub => 1,
        ArithmeticOp::Mul => 2,
        ArithmeticOp::Div => 3,
        ArithmeticOp::Rem => 4,
    }
}

/// The number in an operand. Error XX001 for damaged bytes.
///
/// # Safety
/// `operand` must be valid for a read, and the string alive if it is one.
unsafe fn number(operand: *const i128, scale: i32) -> Result<Numeric> {
    // SAFETY: by contract; a reference has 16 bytes.
    unsafe {
        match u8::try_from(scale) {
            Ok(scale) => Numeric::new(operand.read_unaligned(), scale),
            Err(_) => Numeric::of_bytes(operand.cast::<StringRef>().read_unaligned().bytes()),
        }
    }
}

/// # Safety
/// `context` must be the pipeline's, `a` and `b` valid for reads, strings alive, `out` valid for a write.
pub unsafe fn numeric_arithmetic(
    context: *mut PipelineContext,
    op: u32,
    a: *const i128,
    a_scale: i32,
    b: *const i128,
    b_scale: i32,
    out: *mut StringRef,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let made = || {
            let op = OPERATIONS.get(op as usize).copied();
            let op = op.ok_or_else(|| Error::internal("an unknown operation"))?;
            value_ops::numeric(op, number(a, a_scale)?, number(b, b_scale)?)
        };
        match made() {
            Ok(number) => put(context, number.encoded().as_slice(), out),
            Err(error) => (*context).fail(error),
        }
    }
}

/// # Safety
/// `context` must be the pipeline's, `value` valid for a read, its string alive, `out` valid for a write.
pub unsafe fn numeric_bound(
    context: *mut PipelineContext,
    value: *const i128,
    scale: i32,
    above: u32,
    out: *mut i128,
) -> u32 {
    let side = if above != 0 { Side::Above } else { Side::Below };
    // SAFETY: by contract.
    unsafe {
        match number(value, OWN_SCALE) {
            Ok(number) => {
                out.write_unaligned(number.bound(scale.clamp(0, 38) as u8, side));
                STATUS_OK
            }
            Err(error) => (*context).fail(error),
        }
    }
}

/// # Safety
/// As [`numeric_arithmetic`].
pub unsafe fn numeric_with_scale(
    context: *mut PipelineContext,
    value: *const i128,
    scale: i32,
    digits: i32,
    out: *mut StringRef,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        match number(value, scale) {
            Ok(number) => put(context, number.rounded(digits).encoded().as_slice(), out),
            Err(error) => (*context).fail(error),
        }
    }
}

/// # Safety
/// The numeric must be alive, `out` valid for a write.
pub unsafe fn numeric_key(numeric: *const StringRef, out: *mut StringRef) {
    // SAFETY: by contract.
    unsafe { out.write_unaligned(numeric.read_unaligned().without_last()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::strings::tests::context;
    use std::mem::transmute;

    /// `a op b` as text, or its SQLSTATE; the operands with the scales of their texts, or with their own.
    fn computed(op: ArithmeticOp, a: &str, b: &str, own: [bool; 2]) -> String {
        let numbers = [a, b].map(|text| Numeric::read(text).unwrap());
        let bytes = numbers.map(Numeric::to_bytes);
        // SAFETY: `bytes` outlives the references.
        let references = [0, 1].map(|i| unsafe { StringRef::new(&bytes[i]) });
        let operand = |i: usize| match own[i] {
            // SAFETY: both have 16 bytes.
            true => (unsafe { transmute::<StringRef, i128>(references[i]) }, OWN_SCALE),
            false => (numbers[i].coefficient(), i32::from(numbers[i].scale())),
        };
        let ((a, a_scale), (b, b_scale)) = (operand(0), operand(1));
        context(|c| {
            let mut out = StringRef::default();
            // SAFETY: the context, the operands and their strings are alive.
            unsafe {
                match numeric_arithmetic(c, operation_code(op), &a, a_scale, &b, b_scale, &mut out) {
                    STATUS_OK => Numeric::of_bytes(out.bytes()).unwrap().to_string(),
                    _ => (*c).error.error.take().unwrap().state().0.to_owned(),
                }
            }
        })
    }

    #[test]
    fn operands_of_either_form_are_one_number() {
        use ArithmeticOp::*;
        for own in [[false, false], [false, true], [true, false], [true, true]] {
            assert_eq!(computed(Add, "1.5", "2.25", own), "3.75");
            assert_eq!(computed(Sub, "1", "2.25", own), "-1.25");
            assert_eq!(computed(Mul, "0.2", "2.50", own), "0.500");
            assert_eq!(computed(Div, "1", "3", own), "0.33333333333333333333");
            assert_eq!(computed(Rem, "-7.5", "2", own), "-1.5");
            assert_eq!(computed(Div, "1", "0", own), "22012");
            assert_eq!(
                computed(
                    Mul,
                    "99999999999999999999999999999999999999",
                    "99999999999999999999999999999999999999",
                    own
                ),
                "22003"
            );
        }
    }

    #[test]
    fn keys_are_all_bytes_but_the_last() {
        for digits in 1..=38 {
            let bytes = Numeric::read(&format!("0.{}", "7".repeat(digits)))
                .unwrap()
                .to_bytes();
            // SAFETY: `bytes` outlives the references.
            let string = unsafe { StringRef::new(&bytes) };
            for string in [string, string.as_transient()] {
                let mut out = StringRef::default();
                // SAFETY: both are alive.
                let key = unsafe {
                    numeric_key(&string, &mut out);
                    out.bytes()
                };
                assert_eq!(key, Numeric::key(&bytes));
                // SAFETY: `bytes` outlives the reference.
                let expected = unsafe { StringRef::new(key) };
                assert_eq!(out.head, expected.head);
                assert_eq!(out.is_transient(), string.is_transient() && !out.is_inline());
            }
        }
    }

    #[test]
    fn operations_have_their_codes() {
        for (code, op) in OPERATIONS.into_iter().enumerate() {
            assert_eq!(operation_code(op) as usize, code);
        }
    }
}
