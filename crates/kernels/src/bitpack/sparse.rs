//! Codes one by one, where unpacking a group would fetch more than is wanted.
//!
//! Compiled without vector units, lest the compiler makes gathers of it: the loads of one row depend on
//! nothing but its position, so many rows are in flight at once.

use super::place::{GROUP, place};
use crate::packed::top;
use crate::{CodeWord, Packed};

/// The codes, in lanes of `L`, of rows `first + position`.
///
/// # Safety
/// The rows and their bytes are there, codes lie in lanes of `L`, the machine has BMI2.
#[target_feature(enable = "bmi1,bmi2")]
#[inline(never)]
pub(super) unsafe fn extract<L: CodeWord, C: CodeWord>(
    codes: Packed<'_>,
    first: usize,
    positions: &[u16],
    out: &mut [C],
) {
    let from = codes.bytes.as_ptr();
    let mask = top(codes.bits);
    for (out, &position) in out.iter_mut().zip(positions) {
        let place = place(size_of::<L>() as u32 * 8, codes.bits, first + position as usize);
        // SAFETY: by contract.
        let (low, high) = unsafe {
            (
                from.wrapping_add(place.low).cast::<L>().read_unaligned().to_u64(),
                from.wrapping_add(place.high)
                    .cast::<L>()
                    .read_unaligned()
                    .to_u64(),
            )
        };
        let code = match size_of::<L>() {
            8 => low >> place.shift | high << 1 << (63 - place.shift),
            _ => (low | high << (size_of::<L>() * 8 % 64)) >> place.shift,
        };
        *out = C::from_u64(code & mask);
    }
}

/// The lane words of `group` at positions of its rows.
///
/// # Safety
/// The machine has BMI2.
#[target_feature(enable = "bmi1,bmi2")]
#[inline(never)]
pub(super) unsafe fn take<L: CodeWord, C: CodeWord>(group: &[L; GROUP], positions: &[u16], out: &mut [C]) {
    for (out, &position) in out.iter_mut().zip(positions) {
        *out = C::from_u64(group[position as usize % GROUP].to_u64());
    }
}
