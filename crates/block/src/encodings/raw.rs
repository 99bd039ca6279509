//! Raw: values of fixed size in their native form, for what no encoding makes smaller. NULLs are in a
//! bitmap, and their values are zero.

use crate::input::{Valid, is_valid};
use frazil_types::Native;

/// The bytes of native values, zero where NULL.
pub(crate) fn encode<T: Native, const N: usize>(
    values: &[T],
    valid: Option<&Valid>,
    to_bytes: impl Fn(T) -> [u8; N],
) -> Vec<u8> {
    let mut out = vec![0; values.len() * N];
    let chunks = out.as_chunks_mut::<N>().0;
    for (row, (chunk, &value)) in chunks.iter_mut().zip(values).enumerate() {
        if is_valid(valid, row) {
            *chunk = to_bytes(value);
        }
    }
    out
}
