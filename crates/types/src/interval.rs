//! Spans of time as values.

/// A span of time: months, days and microseconds, as PostgreSQL keeps them apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Whole months.
    pub months: i32,
    /// Whole days.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

impl Interval {
    /// Its 16 native bytes: months, days, microseconds from the lowest byte up.
    pub fn to_native(self) -> i128 {
        (u128::from(self.months as u32)
            | u128::from(self.days as u32) << 32
            | u128::from(self.micros as u64) << 64) as i128
    }

    /// The interval of 16 native bytes.
    pub fn from_native(native: i128) -> Interval {
        let n = native as u128;
        Interval {
            months: n as u32 as i32,
            days: (n >> 32) as u32 as i32,
            micros: (n >> 64) as u64 as i64,
        }
    }
}
