//! The encodings of Parquet's pages that are written here: dictionaries and the codes of their values, values themselves, and which
//! rows are NULL. (Apache Parquet, "Encodings": PLAIN, RLE_DICTIONARY and the hybrid of runs and packed bits.)

use arrow_buffer::BooleanBuffer;
use frazil_kernels::hash::hash_bytes;
use frazil_types::StringRef;
use std::ops::Range;

/// Values of a dictionary at most: their codes fit in sixteen bits.
const MOST_VALUES: usize = 1 << 16;
/// Bytes of a dictionary at most: a reader holds it while it reads the column.
const MOST_BYTES: usize = 1 << 20;
/// Codes that are packed together.
const GROUP: usize = 8;
/// Equal codes from so many on become a run.
const LEAST_RUN: usize = 2 * GROUP;

/// 2^64 over the golden ratio, by which hashes are multiplied (Knuth, "Sorting and Searching", 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Finds values that were seen before: open addressing with linear probing, never more than half full.
#[derive(Debug)]
struct Codes {
    /// The code of a value, and one more: zero is an empty slot. As many as a power of two.
    slots: Vec<u32>,
    /// The hash of each code's value.
    hashes: Vec<u64>,
}

impl Codes {
    const SLOTS: usize = 1 << 10;

    fn new() -> Codes {
        Codes {
            slots: vec![0; Codes::SLOTS],
            hashes: Vec::new(),
        }
    }

    /// The code of a value, and whether it is new; `None` if it is and there is no room. `same`: whether the value of a code is this one.
    #[inline]
    fn code(&mut self, hash: u64, has_room: bool, same: impl Fn(usize) -> bool) -> Option<(u32, bool)> {
        let mask = self.slots.len() - 1;
        let mut slot = self.first_slot(hash);
        loop {
            match self.slots[slot] {
                0 => break,
                taken if same(taken as usize - 1) => return Some((taken - 1, false)),
                _ => slot = (slot + 1) & mask,
            }
        }
        if !has_room {
            return None;
        }
        let code = self.hashes.len() as u32;
        self.hashes.push(hash);
        self.slots[slot] = code + 1;
        if self.hashes.len() * 2 > self.slots.len() {
            self.grow();
        }
        Some((code, true))
    }

    /// Where a value is looked for first: by the uppermost bits of a product, which all bits of the value reach.
    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        (hash >> (u64::BITS - self.slots.len().trailing_zeros())) as usize
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots.clear();
        self.slots.resize(mask + 1, 0);
        for (code, &hash) in self.hashes.iter().enumerate() {
            let mut slot = self.first_slot(hash);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = code as u32 + 1;
        }
    }

    fn clear(&mut self) {
        self.slots.clear();
        self.slots.resize(Codes::SLOTS, 0);
        self.hashes.clear();
    }
}

/// The dictionary of integers of a column chunk.
#[derive(Debug)]
pub struct IntegerDictionary<T> {
    codes: Codes,
    values: Vec<T>,
}

impl<T: Copy + Eq + Into<i64>> IntegerDictionary<T> {
    pub fn new() -> IntegerDictionary<T> {
        IntegerDictionary {
            codes: Codes::new(),
            values: Vec::new(),
        }
    }

    /// Appends the codes of values, as many as the dictionary has room for, and says of how many it had.
    pub fn encode(&mut self, values: &[T], out: &mut Vec<u32>) -> usize {
        for (at, &value) in values.iter().enumerate() {
            let known = &self.values;
            let hash = (value.into() as u64).wrapping_mul(GOLDEN);
            let has_room = known.len() < MOST_VALUES;
            let Some((code, new)) = self.codes.code(hash, has_room, |code| known[code] == value) else {
                return at;
            };
            if new {
                self.values.push(value);
            }
            out.push(code);
        }
        values.len()
    }

    /// The values, by their codes.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.codes.clear();
        self.values.clear();
    }
}

/// The dictionary of texts of a column chunk.
#[derive(Debug)]
pub struct TextDictionary {
    codes: Codes,
    /// Each value as it was found: of a short one it is all there is to know. The pointer of a long one is never followed.
    found: Vec<StringRef>,
    /// Where the bytes of each value lie in `page`.
    places: Vec<Range<usize>>,
    /// The values as PLAIN has them.
    page: Vec<u8>,
}

impl TextDictionary {
    pub fn new() -> TextDictionary {
        TextDictionary {
            codes: Codes::new(),
            found: Vec::new(),
            places: Vec::new(),
            page: Vec::new(),
        }
    }

    /// The code of a text, whose bytes are these; `None` if it is new and there is no room for it.
    #[inline]
    pub fn code(&mut self, text: StringRef, bytes: &[u8]) -> Option<u32> {
        let TextDictionary {
            codes,
            found,
            places,
            page,
        } = self;
        let has_room = found.len() < MOST_VALUES && page.len() + bytes.len() <= MOST_BYTES;
        let (code, new) = match text.is_inline() {
            true => {
                let hash = (text.head ^ text.tail.rotate_left(29)).wrapping_mul(GOLDEN);
                codes.code(hash, has_room, |code| found[code] == text)
            }
            false => codes.code(hash_bytes(bytes), has_room, |code| {
                found[code].head == text.head && page[places[code].clone()] == *bytes
            }),
        }?;
        if new {
            found.push(text);
            push_text(page, text, bytes);
            places.push(page.len() - bytes.len()..page.len());
        }
        Some(code)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// The bytes of a code's value.
    pub fn bytes(&self, code: usize) -> &[u8] {
        &self.page[self.places[code].clone()]
    }

    /// The values as PLAIN has them.
    pub fn page(&self) -> &[u8] {
        &self.page
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.codes.clear();
        self.found.clear();
        self.places.clear();
        self.page.clear();
    }
}

/// Appends a text as PLAIN has it: its length in four bytes, and its bytes. A short one lies so in the reference.
#[inline]
pub fn push_text(out: &mut Vec<u8>, text: StringRef, bytes: &[u8]) {
    let start = out.len();
    match text.is_inline() {
        true => {
            let both = u128::from(text.head) | u128::from(text.tail) << 64;
            out.extend_from_slice(&both.to_le_bytes());
            out.truncate(start + 4 + bytes.len());
        }
        false => {
            out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            out.extend_from_slice(bytes);
        }
    }
}

/// Bits that codes of so many values take: one at least, because readers differ about none.
pub fn bits_for(values: usize) -> u32 {
    (usize::BITS - values.saturating_sub(1).leading_zeros()).max(1)
}

/// Appends codes of so many bits, sixteen at most: how many there are, then packed groups of eight and runs of equal ones by turns.
pub fn push_codes(out: &mut Vec<u8>, codes: &[u32], bits: u32) {
    let (mut packed, mut at) = (0, 0);
    while at + LEAST_RUN <= codes.len() {
        let first = codes[at];
        if !codes[at..at + LEAST_RUN].iter().all(|&code| code == first) {
            at += GROUP;
            continue;
        }
        push_packed(out, &codes[packed..at], bits);
        let more = codes[at..].iter().take_while(|&&code| code == first).count();
        push_run(out, more, first, bits);
        at += more;
        packed = at;
    }
    push_packed(out, &codes[packed..], bits);
}

fn push_run(out: &mut Vec<u8>, count: usize, value: u32, bits: u32) {
    push_varint(out, count << 1);
    out.extend_from_slice(&value.to_le_bytes()[..bits.div_ceil(8) as usize]);
}

/// Groups of eight codes; the last one ends with zeros.
fn push_packed(out: &mut Vec<u8>, codes: &[u32], bits: u32) {
    if codes.is_empty() {
        return;
    }
    push_varint(out, codes.len().div_ceil(GROUP) << 1 | 1);
    let group_bytes = bits as usize;
    let (groups, rest) = codes.as_chunks::<GROUP>();
    match bits {
        ..=8 => {
            for group in groups {
                let joined = (0..GROUP).fold(0, |all, at| all | u64::from(group[at]) << (at as u32 * bits));
                let start = out.len();
                out.extend_from_slice(&joined.to_le_bytes());
                out.truncate(start + group_bytes);
            }
        }
        _ => groups.iter().for_each(|group| push_wide_group(out, group, bits)),
    }
    if !rest.is_empty() {
        let mut last = [0; GROUP];
        last[..rest.len()].copy_from_slice(rest);
        push_wide_group(out, &last, bits);
    }
}

/// A group of eight codes of up to sixteen bits.
fn push_wide_group(out: &mut Vec<u8>, group: &[u32; GROUP], bits: u32) {
    let joined = (0..GROUP).fold(0, |all, at| all | u128::from(group[at]) << (at as u32 * bits));
    let start = out.len();
    out.extend_from_slice(&joined.to_le_bytes());
    out.truncate(start + bits as usize);
}

/// Appends which of the rows have a value, as levels of a column that may be NULL: their length in four bytes, and a bit each.
pub fn push_levels(out: &mut Vec<u8>, valid: &BooleanBuffer) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let set = valid.count_set_bits();
    if set == valid.len() || set == 0 {
        push_run(out, valid.len(), (set > 0).into(), 1);
    } else {
        push_varint(out, valid.len().div_ceil(GROUP) << 1 | 1);
        out.extend_from_slice(&valid.sliced()[..valid.len().div_ceil(GROUP)]);
    }
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Seven bits a byte, the lowest first.
fn push_varint(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Greatest number of slots that lie side by side and are taken.
    fn longest_row(codes: &Codes) -> usize {
        let rows = codes.slots.split(|&slot| slot == 0);
        rows.map(<[u32]>::len).max().unwrap_or(0)
    }

    #[test]
    fn values_that_differ_in_few_bits_spread_over_the_slots() {
        for shift in [0, 4, 20, 32, 40, 48] {
            let values: Vec<i64> = (0..5000).map(|value| value << shift).collect();
            let mut dictionary = IntegerDictionary::new();
            let mut codes = Vec::new();
            assert_eq!(dictionary.encode(&values, &mut codes), values.len());
            assert!(codes.iter().copied().eq(0..5000));
            let longest = longest_row(&dictionary.codes);
            assert!(
                longest < 100,
                "{longest} slots in a row with values shifted by {shift}"
            );
        }
        let texts: [fn(usize) -> String; 4] = [
            |value| format!("{value:04}"),
            |value| format!("{value:08}"),
            |value| format!("2020-01-01{value:02}"),
            |value| format!("AAAAAAAAAAA{value:05}"),
        ];
        for text in texts {
            let mut dictionary = TextDictionary::new();
            for text in (0..5000).map(text) {
                let column = frazil_types::ColumnVector::from_values(
                    frazil_types::LogicalType::Text,
                    &[frazil_types::Value::Text(text.clone())],
                );
                let found = column.values::<StringRef>()[0];
                assert!(dictionary.code(found, text.as_bytes()).is_some());
            }
            let longest = longest_row(&dictionary.codes);
            assert!(
                longest < 100,
                "{longest} slots in a row with texts like {}",
                text(7)
            );
        }
    }

    #[test]
    fn codes_are_packed_and_runs_are_counted() {
        let mut out = Vec::new();
        // Apache Parquet, "Run Length Encoding / Bit-Packing Hybrid": the numbers 0 to 7 of three bits each.
        push_codes(&mut out, &[0, 1, 2, 3, 4, 5, 6, 7], 3);
        assert_eq!(out, [0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        out.clear();
        push_codes(&mut out, &[5; 100], 9);
        assert_eq!(out, [200, 1, 5, 0]);
    }
}
