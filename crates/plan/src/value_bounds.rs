//! Value bounds: the smallest and largest integer a value can be.
//!
//! Two things are told apart. A range is **proved** where the exact result of an expression lies in it, and it lies
//! in the type's own range: then no check is needed, and the value may be held in as many bits as the range takes.
//! Where the exact result may leave the type, all that is known is the **type**, and only because the result is
//! checked: no check may be left out for it. [`ValueBounds`] is the one or the other, so that nobody takes a type
//! for a proof.

use frazil_types::LogicalType;

/// An inclusive range of integer-like values (decimals unscaled).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Smallest.
    pub min: i128,
    /// Largest.
    pub max: i128,
}

/// What is known of the values of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueBounds {
    /// The exact result lies in the range, which lies in the type's range: no check is needed.
    Proved(Bounds),
    /// The result is of its type because it is checked. No check may be left out.
    Type(Bounds),
    /// The type is not integer-like, or nothing is known.
    Unknown,
}

impl ValueBounds {
    /// The range that makes a check needless, if there is one.
    pub fn proved(self) -> Option<Bounds> {
        match self {
            ValueBounds::Proved(bounds) => Some(bounds),
            ValueBounds::Type(_) | ValueBounds::Unknown => None,
        }
    }

    /// The range of the value once it came about, checked or not: what whoever computes with it starts from.
    pub fn range(self) -> Option<Bounds> {
        match self {
            ValueBounds::Proved(bounds) | ValueBounds::Type(bounds) => Some(bounds),
            ValueBounds::Unknown => None,
        }
    }

    /// Nothing but the type.
    pub fn of_type(ty: LogicalType) -> ValueBounds {
        of_type(ty).map_or(ValueBounds::Unknown, ValueBounds::Type)
    }

    /// Bounds of a `ty` whose exact result lies in `exact`. `None` (beyond i128) proves nothing: the type's range.
    pub fn of_exact(exact: Option<Bounds>, ty: LogicalType) -> ValueBounds {
        match (exact, of_type(ty)) {
            (Some(exact), Some(ty)) if exact.within(ty) => ValueBounds::Proved(exact),
            (_, Some(ty)) => ValueBounds::Type(ty),
            (_, None) => ValueBounds::Unknown,
        }
    }
}

impl Bounds {
    /// A single value.
    pub fn exactly(value: i128) -> Bounds {
        Bounds {
            min: value,
            max: value,
        }
    }

    /// Whether every value fits in an `i64`.
    pub fn fits_i64(self) -> bool {
        self.min >= i128::from(i64::MIN) && self.max <= i128::from(i64::MAX)
    }

    /// Whether all of it lies in `other`.
    pub fn within(self, other: Bounds) -> bool {
        other.min <= self.min && self.max <= other.max
    }

    /// Whether a value lies in it.
    pub fn contains(self, value: i128) -> bool {
        Bounds::exactly(value).within(self)
    }

    /// The smallest range that holds both.
    pub fn union(self, other: Bounds) -> Bounds {
        Bounds {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// The values that lie in both, if there are any.
    pub fn intersection(self, other: Bounds) -> Option<Bounds> {
        let both = Bounds {
            min: self.min.max(other.min),
            max: self.max.min(other.max),
        };
        (both.min <= both.max).then_some(both)
    }

    /// Number of values, if it fits in 64 bits.
    pub fn width(self) -> Option<u64> {
        u64::try_from(self.max.checked_sub(self.min)?.checked_add(1)?).ok()
    }

    /// Bounds of a sum of up to `rows` values (0 included, for no rows), and of each of its partial sums.
    pub fn sum_over(self, rows: u64) -> Option<Bounds> {
        let rows = i128::from(rows);
        Some(Bounds {
            min: self.min.min(0).checked_mul(rows)?,
            max: self.max.max(0).checked_mul(rows)?,
        })
    }

    /// Bounds of the multiples by a factor that is not negative. `None` beyond 128 bits.
    pub fn times(self, factor: i128) -> Option<Bounds> {
        Some(Bounds {
            min: self.min.checked_mul(factor)?,
            max: self.max.checked_mul(factor)?,
        })
    }

    /// Bounds of the same values at another scale. `None` beyond 128 bits.
    pub fn rescaled(self, from: u8, to: u8) -> Option<Bounds> {
        Some(Bounds {
            min: frazil_types::decimal::rescale(self.min, from, to)?,
            max: frazil_types::decimal::rescale(self.max, from, to)?,
        })
    }

    /// Bounds of the negated values. `None` beyond 128 bits.
    pub(crate) fn negated(self) -> Option<Bounds> {
        Some(Bounds {
            min: self.max.checked_neg()?,
            max: self.min.checked_neg()?,
        })
    }

    /// Bounds of `f` of one value from each range, worked out from its results at the four pairs of their ends. They
    /// hold if `f` is monotonic in each of its arguments. `None` if `f` gives `None` for a pair of ends.
    pub(crate) fn corners(self, other: Bounds, f: impl Fn(i128, i128) -> Option<i128>) -> Option<Bounds> {
        let mut out: Option<Bounds> = None;
        for a in [self.min, self.max] {
            for b in [other.min, other.max] {
                let v = Bounds::exactly(f(a, b)?);
                out = Some(out.map_or(v, |o| o.union(v)));
            }
        }
        out
    }
}

/// Bounds every value of a type has.
pub fn of_type(ty: LogicalType) -> Option<Bounds> {
    ty.range().map(|(min, max)| Bounds { min, max })
}
