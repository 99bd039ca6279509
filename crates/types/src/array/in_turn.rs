//! Arrays whose elements are read, or written, one after the other: what each would be asked is asked once for all of them.

use super::{ArrayRef, MAX_ELEMENTS, WORD, damaged, too_large, word};
use crate::{NativeType, Result};

/// The parts of an array that is read from its first element to its last.
#[derive(Clone, Copy, Debug)]
pub struct InTurn<'a> {
    /// Number of elements.
    pub count: usize,
    /// A bit an element, set where it is NULL.
    pub nulls: &'a [u8],
    /// True if a bit of an element is set.
    pub has_nulls: bool,
    /// For each element four bytes, little-endian: where its bytes end within `data`. They do not fall and stay within it.
    pub ends: &'a [u8],
    /// The bytes of the elements that are not NULL, without gaps; texts are UTF-8.
    pub data: &'a [u8],
}

impl<'a> ArrayRef<'a> {
    /// The array's parts, all elements checked. Error XX001 for bytes that are not of its elements.
    pub fn in_turn(self) -> Result<InTurn<'a>> {
        let ArrayRef {
            nulls, ends, data, ..
        } = self;
        let count = self.len();
        let null_elements = (0..nulls.len()).map(|at| {
            let bits = (count - at * 8).min(8);
            (nulls[at] & (0xff_u8 >> (8 - bits))).count_ones() as usize
        });
        let null_elements: usize = null_elements.sum();
        let is_sound = match self.element.native() {
            NativeType::String => self.has_sound_strings(),
            NativeType::Bool => data.len() == count - null_elements && data.iter().all(|byte| *byte <= 1),
            native => data.len() == (count - null_elements) * native.size(),
        };
        let has_nulls = null_elements > 0;
        let parts = InTurn {
            count,
            nulls,
            has_nulls,
            ends,
            data,
        };
        is_sound.then_some(parts).ok_or_else(|| damaged(self.element))
    }

    /// Whether ends do not fall, the last one is that of all bytes, and texts are texts.
    fn has_sound_strings(&self) -> bool {
        let ends = || (0..self.len()).map(|at| word(self.ends, at) as usize);
        let rises = ends().is_sorted() && ends().last().unwrap_or(0) == self.data.len();
        if !rises || self.element.is_binary() {
            return rises;
        }
        let text = std::str::from_utf8(self.data);
        text.is_ok_and(|text| ends().all(|end| text.is_char_boundary(end)))
    }
}

/// Where the parts of an array of one dimension lie, whose subscripts begin with 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListShape {
    count: usize,
    /// Bytes before the ends of elements.
    ends: usize,
    /// Bytes before the elements' own.
    data: usize,
    /// Bytes of the whole array.
    pub bytes: usize,
}

/// Bytes of the header of an array of one dimension.
const HEADER: usize = 3 * WORD;

impl ListShape {
    /// The shape of `count` elements, at least one, which have `data` bytes. Error 54000 for too many of either.
    pub fn of(count: usize, data: usize) -> Result<ListShape> {
        if count > MAX_ELEMENTS || u32::try_from(data).is_err() {
            return Err(too_large());
        }
        let ends = HEADER + count.div_ceil(8);
        let before = ends + count * WORD;
        Ok(ListShape {
            count,
            ends,
            data: before,
            bytes: before + data,
        })
    }

    /// Writes what comes before the elements; gives the bits of NULLs, all of them clear, the ends, and the elements' bytes.
    /// Panics unless `room` has as many bytes as the array.
    pub fn begin<'a>(&self, room: &'a mut [u8]) -> (&'a mut [u8], &'a mut [[u8; WORD]], &'a mut [u8]) {
        let (before, data) = room.split_at_mut(self.data);
        let (header, ends) = before.split_at_mut(self.ends);
        let words = [1_u32, self.count as u32, 1].map(u32::to_le_bytes);
        header[..HEADER].copy_from_slice(words.as_flattened());
        let nulls = &mut header[HEADER..];
        nulls.fill(0);
        assert_eq!(data.len(), self.bytes - self.data);
        (nulls, ends.as_chunks_mut().0, data)
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode_list;
    use super::*;
    use crate::{LogicalType, SqlState, Value};

    fn bytes(values: &[Value], element: LogicalType) -> Vec<u8> {
        encode_list(values, element).unwrap()
    }

    #[test]
    fn parts_are_what_was_encoded() {
        let ints: Vec<Value> = (0..20)
            .map(|i| if i % 9 == 3 { Value::Null } else { Value::Int(i) })
            .collect();
        let encoded = bytes(&ints, LogicalType::Integer);
        let array = ArrayRef::new(&encoded, LogicalType::Integer).unwrap();
        let parts = array.in_turn().unwrap();
        assert_eq!(
            (parts.count, parts.has_nulls, parts.data.len()),
            (20, true, 18 * 4)
        );
        let none = bytes(&[], LogicalType::Text);
        let parts = ArrayRef::new(&none, LogicalType::Text)
            .unwrap()
            .in_turn()
            .unwrap();
        assert_eq!((parts.count, parts.has_nulls), (0, false));
    }

    #[test]
    fn a_shape_is_that_of_the_encoding() {
        for count in [1, 7, 8, 9, 300] {
            let ints: Vec<Value> = (0..count as i128).map(Value::Int).collect();
            let shape = ListShape::of(count, count * 8).unwrap();
            let mut room = vec![0xff; shape.bytes];
            let (nulls, ends, data) = shape.begin(&mut room);
            assert_eq!(nulls.len(), count.div_ceil(8));
            for at in 0..count {
                ends[at] = (8 * (at as u32 + 1)).to_le_bytes();
                data[at * 8..][..8].copy_from_slice(&(at as i64).to_le_bytes());
            }
            assert_eq!(room, bytes(&ints, LogicalType::BigInt));
        }
        let state = |count, data| ListShape::of(count, data).unwrap_err().state();
        assert_eq!(state(MAX_ELEMENTS + 1, 0), SqlState::PROGRAM_LIMIT_EXCEEDED);
        assert_eq!(state(1, 1 << 32), SqlState::PROGRAM_LIMIT_EXCEEDED);
    }

    #[test]
    fn damage_is_found_before_the_first_element() {
        let texts = [Value::Text("ä".to_owned()), Value::Text("b".to_owned())];
        let sound = bytes(&texts, LogicalType::Text);
        let read = |bytes: &[u8], element| ArrayRef::new(bytes, element)?.in_turn().map(|_| ());
        assert!(read(&sound, LogicalType::Text).is_ok());
        let ends = HEADER + 1;
        // An end within a character, one that falls, one beyond the bytes, bytes that are no text, too few bytes.
        for (at, byte) in [(ends, 1), (ends, 9), (ends + WORD, 4), (ends + 2 * WORD, 0xff)] {
            let mut damaged = sound.clone();
            damaged[at] = byte;
            let error = read(&damaged, LogicalType::Text).unwrap_err();
            assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{at}");
        }
        assert!(read(&sound[..sound.len() - 1], LogicalType::Text).is_err());
        assert!(read(&sound, LogicalType::Integer).is_err());
        let mut bools = bytes(&[Value::Bool(true)], LogicalType::Boolean);
        assert!(read(&bools, LogicalType::Boolean).is_ok());
        *bools.last_mut().unwrap() = 2;
        assert!(read(&bools, LogicalType::Boolean).is_err());
    }
}
