//! The bytes of a numeric in a column. Their first part orders and equals values as numbers, so that 1.5 and 1.50 have
//! one [key](Numeric::key); the last byte is the number of digits after the point, which only the text shows:
//!
//! | part | bytes |
//! |---|---|
//! | sign and magnitude | 128 for zero, else 128 ± (39 + the power of ten of the first digit) |
//! | digits | two a byte plus 1, the first ones first, without zeros at the end; of negative numbers 255 minus that |
//! | end | 0, of negative numbers 255; none for zero |
//! | scale | 0 to 38 |
//!
//! Nineteen digits or fewer take at most 13 bytes.

use super::{DIGITS, Numeric, fits};
use crate::decimal::POWERS_OF_TEN;
use crate::{Error, Result, SqlState};

/// The byte that zero begins with.
const ZERO: u8 = 128;
/// Added to the power of ten of the first digit, so that it is positive.
const FIRST_POWER: i32 = 39;
/// Pairs of digits that a number has at most.
const PAIRS: usize = DIGITS as usize / 2;
/// Bytes that a number has at most: the sign and magnitude, its pairs, the end and the scale.
const MOST_BYTES: usize = PAIRS + 3;

/// The bytes of a number in a column.
#[derive(Clone, Copy, Debug, Default)]
pub struct Encoded {
    bytes: [u8; MOST_BYTES],
    length: u8,
}

impl Encoded {
    fn push(&mut self, byte: u8) {
        self.bytes[usize::from(self.length)] = byte;
        self.length += 1;
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Writes the digits of a number of 18 digits, two to a place, the first ones first.
fn write_pairs(mut digits: u64, pairs: &mut [u8]) {
    for pair in pairs.iter_mut().rev() {
        *pair = (digits % 100) as u8;
        digits /= 100;
    }
}

impl Numeric {
    /// Bytes of the number in columns.
    pub fn to_bytes(self) -> Vec<u8> {
        self.encoded().as_slice().to_vec()
    }

    /// Its bytes in columns, without memory of their own.
    pub fn encoded(self) -> Encoded {
        let mut bytes = Encoded::default();
        let Some(power) = self.first_power() else {
            bytes.push(ZERO);
            bytes.push(self.scale);
            return bytes;
        };
        let start = if self.coefficient < 0 { u8::MAX } else { 0 };
        let magnitude = (FIRST_POWER + power) as u8;
        bytes.push(if self.coefficient < 0 {
            ZERO - magnitude
        } else {
            ZERO + magnitude
        });
        // All 38 places are used, so that the first digit is in the first byte; each half has 19 of them.
        let digits = self.coefficient.unsigned_abs();
        let digits =
            digits * POWERS_OF_TEN[usize::from(DIGITS) - 1 - digits.ilog10() as usize].unsigned_abs();
        let unit = POWERS_OF_TEN[18].unsigned_abs();
        let (head, tail) = (digits / unit, (digits % unit) as u64);
        // The head has 20 digits, ten pairs; the tail 18, nine pairs.
        let (first, head) = ((head / unit) as u64, (head % unit) as u64);
        let mut pairs = [0_u8; PAIRS];
        pairs[0] = first as u8;
        write_pairs(head, &mut pairs[1..10]);
        write_pairs(tail, &mut pairs[10..]);
        let count = pairs
            .iter()
            .rposition(|pair| *pair != 0)
            .map_or(0, |last| last + 1);
        for pair in &pairs[..count] {
            bytes.push(start ^ (pair + 1));
        }
        bytes.push(start);
        bytes.push(self.scale);
        bytes
    }

    /// The number that [`Numeric::to_bytes`] wrote. Error XX001 for other bytes.
    pub fn of_bytes(bytes: &[u8]) -> Result<Numeric> {
        read_bytes(bytes).ok_or_else(|| Error::new(SqlState::DATA_CORRUPTED, "a numeric value is damaged"))
    }

    /// The part of a number's bytes by which numbers are ordered and equal.
    #[inline]
    pub fn key(bytes: &[u8]) -> &[u8] {
        bytes.split_last().map_or(bytes, |(_, key)| key)
    }
}

/// The bytes of [`Numeric::to_bytes`], read; `None` for others.
fn read_bytes(bytes: &[u8]) -> Option<Numeric> {
    let (&scale, key) = bytes.split_last()?;
    if scale > DIGITS {
        return None;
    }
    let (&first, rest) = key.split_first()?;
    if first == ZERO {
        return rest.is_empty().then_some(Numeric {
            coefficient: 0,
            scale,
        });
    }
    let is_negative = first < ZERO;
    let start = if is_negative { u8::MAX } else { 0 };
    let power = i32::from(first.abs_diff(ZERO)) - FIRST_POWER;
    let (&end, pairs) = rest.split_last()?;
    if end != start || pairs.is_empty() || pairs.len() > usize::from(DIGITS) / 2 {
        return None;
    }
    // Nine pairs fit into 64 bits.
    let mut digits = 0_i128;
    for part in pairs.chunks(9) {
        let mut read = 0_u64;
        for pair in part {
            let pair = (start ^ pair).checked_sub(1).filter(|pair| *pair < 100)?;
            read = read * 100 + u64::from(pair);
        }
        digits = digits * POWERS_OF_TEN[2 * part.len()] + i128::from(read);
    }
    // The digits begin at the power of the first one; the coefficient ends at the scale.
    let missing = power + i32::from(scale) + 1 - 2 * pairs.len() as i32;
    let coefficient = match usize::try_from(missing) {
        Ok(missing) => digits.checked_mul(*POWERS_OF_TEN.get(missing)?)?,
        Err(_) => {
            let surplus = *POWERS_OF_TEN.get(missing.unsigned_abs() as usize)?;
            (digits % surplus == 0).then_some(digits / surplus)?
        }
    };
    let coefficient = if is_negative { -coefficient } else { coefficient };
    let number = fits(coefficient, scale)?;
    (number.first_power() == Some(power)).then_some(number)
}
