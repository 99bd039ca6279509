//! Small Materialized Aggregates: min and max of a column (Data Blocks, section 3.2). Those of
//! integers and doubles stand in the directory; those of strings in a section of the header's region:
//! two u32 lengths, then the bytes of min and max.

use crate::block::Block;
use crate::format::{FLAG_BINARY, FLAG_SMA};
use frazil_types::{NativeType, Value};

/// The section of a string SMA.
pub(crate) fn string_sma(min: &[u8], max: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 + min.len() + max.len());
    out.extend((min.len() as u32).to_le_bytes());
    out.extend((max.len() as u32).to_le_bytes());
    out.extend(min);
    out.extend(max);
    out
}

/// Min and max in a string SMA; `None` if the lengths do not add up.
pub(crate) fn read_string_sma(section: &[u8]) -> Option<(&[u8], &[u8])> {
    let (min_len, rest) = section.split_first_chunk::<4>()?;
    let (max_len, rest) = rest.split_first_chunk::<4>()?;
    let (min, max) = rest.split_at_checked(u32::from_le_bytes(*min_len) as usize)?;
    (max.len() == u32::from_le_bytes(*max_len) as usize).then_some((min, max))
}

/// Unsigned numbers in the order of doubles as PostgreSQL orders them: NaN is greatest, all NaNs are
/// equal. −0.0 comes before 0.0 here; comparisons that must not tell them apart widen their bounds
/// ([`ordinal_bounds_of_f64`]).
#[inline]
pub fn ordinal_of_f64(v: f64) -> u64 {
    if v.is_nan() {
        return u64::MAX;
    }
    let bits = v.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The double of an ordinal.
#[inline]
pub fn f64_of_ordinal(ordinal: u64) -> f64 {
    if ordinal == u64::MAX {
        return f64::NAN;
    }
    f64::from_bits(if ordinal >> 63 == 1 {
        ordinal & !(1 << 63)
    } else {
        !ordinal
    })
}

/// First and last ordinal of doubles that are equal to `v` in SQL. All NaNs are: what is below them ends
/// with infinity.
pub fn ordinal_bounds_of_f64(v: f64) -> (u64, u64) {
    if v.is_nan() {
        (ordinal_of_f64(f64::INFINITY) + 1, u64::MAX)
    } else if v == 0.0 {
        (ordinal_of_f64(-0.0), ordinal_of_f64(0.0))
    } else {
        (ordinal_of_f64(v), ordinal_of_f64(v))
    }
}

impl Block {
    /// Min and max of a column: `None` when all values are NULL. Strings are lent from the header.
    pub fn string_bounds(&self, column: usize) -> Option<(&[u8], &[u8])> {
        let entry = self.entry(column);
        if entry.native != NativeType::String || !entry.has(FLAG_SMA) {
            return None;
        }
        read_string_sma(self.section(entry.sections.sma))
    }

    /// Min and max of an integer column (booleans as 0 and 1).
    pub fn int_bounds(&self, column: usize) -> Option<(i128, i128)> {
        let entry = self.entry(column);
        let integer = entry.native.is_integer() || entry.native == NativeType::Bool;
        (integer && entry.has(FLAG_SMA)).then_some((entry.min, entry.max))
    }

    /// Min and max of a column as values.
    pub fn bounds(&self, column: usize) -> Option<(Value, Value)> {
        let entry = self.entry(column);
        if !entry.has(FLAG_SMA) {
            return None;
        }
        Some(match entry.native {
            NativeType::String => {
                let (min, max) = self.string_bounds(column)?;
                let string = |b: &[u8]| match entry.has(FLAG_BINARY) {
                    true => Value::Bytes(b.to_vec()),
                    false => Value::Text(String::from_utf8_lossy(b).into_owned()),
                };
                (string(min), string(max))
            }
            NativeType::F64 => (
                Value::Double(f64::from_bits(entry.min as u64)),
                Value::Double(f64::from_bits(entry.max as u64)),
            ),
            NativeType::Bool => (Value::Bool(entry.min != 0), Value::Bool(entry.max != 0)),
            _ => (Value::Int(entry.min), Value::Int(entry.max)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_of_doubles_keep_their_order() {
        let ordered = [
            f64::NEG_INFINITY,
            f64::MIN,
            -1.5,
            -f64::MIN_POSITIVE,
            -5e-324,
            -0.0,
            0.0,
            5e-324,
            1.0,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
        ];
        for pair in ordered.windows(2) {
            assert!(ordinal_of_f64(pair[0]) < ordinal_of_f64(pair[1]), "{pair:?}");
        }
        for v in &ordered[..11] {
            assert_eq!(f64_of_ordinal(ordinal_of_f64(*v)).to_bits(), v.to_bits());
        }
        assert!(f64_of_ordinal(u64::MAX).is_nan());
        assert_eq!(ordinal_of_f64(-f64::NAN), u64::MAX);
    }

    #[test]
    fn string_sma_reads_back() {
        let section = string_sma(b"", b"abc");
        assert_eq!(read_string_sma(&section), Some((&b""[..], &b"abc"[..])));
        assert_eq!(read_string_sma(&section[..9]), None);
        assert_eq!(read_string_sma(&[]), None);
    }
}
