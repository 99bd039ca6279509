//! Least and greatest values of whole columns: loops without a branch, which compilers turn into vector instructions.

/// A value of an integer column.
pub trait Bounded: Copy + Ord {
    /// No value is less.
    const LEAST: Self;
    /// No value is greater.
    const GREATEST: Self;
}

macro_rules! bounded {
    ($($ty:ty),*) => { $(
        impl Bounded for $ty {
            const LEAST: $ty = <$ty>::MIN;
            const GREATEST: $ty = <$ty>::MAX;
        }
    )* };
}
bounded!(i16, i32, i64);

/// An end of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// The least value.
    Least,
    /// The greatest value.
    Greatest,
}

impl Extreme {
    /// The value at this end; of no values the one at the other end of the type.
    pub fn of<T: Bounded>(self, values: &[T]) -> T {
        let values = values.iter().copied();
        match self {
            Extreme::Least => values.fold(T::GREATEST, T::min),
            Extreme::Greatest => values.fold(T::LEAST, T::max),
        }
    }

    /// The value at this end of those that are valid (1; 0: not), and their number.
    pub fn of_valid<T: Bounded>(self, values: &[T], validity: &[u8]) -> (T, u64) {
        let pairs = values.iter().copied().zip(validity.iter().copied());
        let value = match self {
            Extreme::Least => {
                let kept = pairs.map(|(value, valid)| if valid == 0 { T::GREATEST } else { value });
                kept.fold(T::GREATEST, T::min)
            }
            Extreme::Greatest => {
                let kept = pairs.map(|(value, valid)| if valid == 0 { T::LEAST } else { value });
                kept.fold(T::LEAST, T::max)
            }
        };
        (value, validity.iter().map(|&valid| u64::from(valid)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Bounded + std::fmt::Debug>(values: &[T]) {
        for len in [0, 1, 2, 7, 8, 9, 63, 64, 65, values.len()] {
            let values = &values[..len.min(values.len())];
            let (least, greatest) = (values.iter().copied().min(), values.iter().copied().max());
            assert_eq!(Extreme::Least.of(values), least.unwrap_or(T::GREATEST));
            assert_eq!(Extreme::Greatest.of(values), greatest.unwrap_or(T::LEAST));
            for stride in [1, 2, 3] {
                let validity: Vec<u8> = (0..values.len()).map(|row| u8::from(row % stride == 1)).collect();
                let valid = values.iter().zip(&validity).filter(|(_, valid)| **valid == 1);
                let valid: Vec<T> = valid.map(|(&value, _)| value).collect();
                for end in [Extreme::Least, Extreme::Greatest] {
                    let wanted = (end.of(&valid), valid.len() as u64);
                    assert_eq!(end.of_valid(values, &validity), wanted);
                }
            }
        }
    }

    #[test]
    fn extremes_are_those_of_the_values() {
        let mixed = |i: i64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64);
        let mut wide: Vec<i64> = (0..500).map(mixed).collect();
        check(&wide);
        check(&wide.iter().map(|&v| v as i32).collect::<Vec<_>>());
        check(&wide.iter().map(|&v| v as i16).collect::<Vec<_>>());
        wide[77] = i64::MIN;
        wide[78] = i64::MAX;
        check(&wide);
        check(&[i64::MAX; 100]);
        check(&[i64::MIN; 100]);
    }
}
