//! Sums of whole columns. They are exact: no sum of 2^31 values overflows 128 bits.
//!
//! Loops over words without a branch or a carry, which compilers turn into vector instructions: 64-bit values are
//! added up as halves, each in a word of its own.

/// A value of an integer column.
pub trait Summed: Copy {
    /// The sum of values, as many as a vector has at most.
    fn sum(values: &[Self]) -> i128;
    /// The value where `valid` is 1, zero where it is 0.
    fn if_valid(self, valid: u8) -> Self;
}

macro_rules! narrow {
    ($($ty:ty),*) => { $(
        impl Summed for $ty {
            fn sum(values: &[$ty]) -> i128 {
                values.iter().map(|&value| i64::from(value)).sum::<i64>().into()
            }

            fn if_valid(self, valid: u8) -> $ty {
                self & <$ty>::from(valid).wrapping_neg()
            }
        }
    )* };
}
narrow!(i16, i32);

impl Summed for i64 {
    fn sum(values: &[i64]) -> i128 {
        // Moved by 2^63 they are unsigned, and so are their halves.
        const MOVED: u64 = 1 << 63;
        let (mut low, mut high) = (0_u64, 0_u64);
        for &value in values {
            let moved = value as u64 ^ MOVED;
            low += moved & u64::from(u32::MAX);
            high += moved >> 32;
        }
        (i128::from(high) << 32) + i128::from(low) - (i128::from(MOVED) * values.len() as i128)
    }

    fn if_valid(self, valid: u8) -> i64 {
        self & i64::from(valid).wrapping_neg()
    }
}

/// Values that are added up at once, so that what is made of them stays in the first cache.
const STEP: usize = 512;

/// The sum of the values that are valid (1; 0: not), and their number.
pub fn sum_valid<T: Summed + Default>(values: &[T], validity: &[u8]) -> (i128, u64) {
    let (mut sum, mut count) = (0, 0);
    let mut kept = [T::default(); STEP];
    for (values, validity) in values.chunks(STEP).zip(validity.chunks(STEP)) {
        for ((kept, &value), &valid) in kept.iter_mut().zip(values).zip(validity) {
            *kept = value.if_valid(valid);
        }
        sum += T::sum(&kept[..values.len()]);
        count += validity.iter().map(|&valid| u64::from(valid)).sum::<u64>();
    }
    (sum, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Summed + Default + Into<i128>>(values: &[T]) {
        for len in [0, 1, 2, 511, 512, 513, values.len()] {
            let values = &values[..len.min(values.len())];
            let all: i128 = values.iter().map(|&value| value.into()).sum();
            assert_eq!(T::sum(values), all);
            let validity: Vec<u8> = (0..values.len()).map(|row| u8::from(row % 3 != 1)).collect();
            let valid = values.iter().zip(&validity).filter(|(_, valid)| **valid == 1);
            let wanted: i128 = valid.clone().map(|(&value, _)| value.into()).sum();
            assert_eq!(sum_valid(values, &validity), (wanted, valid.count() as u64));
        }
    }

    #[test]
    fn sums_are_exact_at_the_edges() {
        let edges = [i64::MIN, i64::MAX, -1, 0, 1, 1 << 32, -(1 << 32), u32::MAX.into()];
        let wide: Vec<i64> = edges.iter().copied().cycle().take(2000).collect();
        check(&wide);
        check(&[i64::MIN; 1000]);
        check(&[i64::MAX; 1000]);
        check(&wide.iter().map(|&v| v as i32).collect::<Vec<_>>());
        check(&[i32::MIN; 1000]);
        check(&wide.iter().map(|&v| v as i16).collect::<Vec<_>>());
        check(&[i16::MAX; 1000]);
    }
}
