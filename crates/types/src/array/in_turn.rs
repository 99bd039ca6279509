//! Arrays whose elements are read, or written, one after the other: what each would be asked is asked once for all of them.

use super::{ArrayRef, MAX_ELEMENTS, Parts, WORD, damaged, head, too_large, width, word};
use crate::{NativeType, Result};

/// The parts of an array that is read from its first element to its last.
#[derive(Clone, Copy, Debug)]
pub struct InTurn<'a> {
    /// Number of elements.
    pub count: usize,
    /// A bit an element, set where it is NULL; empty where no element is.
    pub nulls: &'a [u8],
    /// For each string four bytes, little-endian: where its bytes end within `data`. They do not fall and stay within it.
    pub ends: &'a [u8],
    /// The bytes of the elements, without gaps; texts are UTF-8.
    pub data: &'a [u8],
    /// How many of these bytes an element that is NULL has: as many as others, or none.
    pub null_width: usize,
}

impl<'a> InTurn<'a> {
    /// The parts of an array of numbers of so many bytes. Only booleans have one byte. `None` for bytes that are not of such elements.
    pub fn of_width(bytes: &'a [u8], width: usize) -> Option<InTurn<'a>> {
        InTurn::of_numbers(Parts::read(bytes, width)?, width)
    }

    fn of_numbers(parts: Parts<'a>, width: usize) -> Option<InTurn<'a>> {
        let Parts {
            count,
            nulls,
            ends,
            data,
            ..
        } = parts;
        let null_elements = null_elements(nulls, count);
        let null_width = if ends.is_empty() { width } else { 0 };
        let with_bytes = if null_width == 0 {
            count - null_elements
        } else {
            count
        };
        let is_sound = data.len() == with_bytes * width && (width > 1 || data.iter().all(|byte| *byte <= 1));
        is_sound.then_some(InTurn {
            count,
            nulls: if null_elements == 0 { &[] } else { nulls },
            ends,
            data,
            null_width,
        })
    }
}

/// How many of an array's elements are NULL.
fn null_elements(nulls: &[u8], count: usize) -> usize {
    let bits = nulls.iter().enumerate().map(|(at, byte)| {
        let bits = (count - at * 8).min(8);
        (byte & (0xff_u8 >> (8 - bits))).count_ones() as usize
    });
    bits.sum()
}

impl<'a> ArrayRef<'a> {
    /// The array's parts, all elements checked. Error XX001 for bytes that are not of its elements.
    pub fn in_turn(self) -> Result<InTurn<'a>> {
        let parts = match width(self.element.native()) {
            0 => self.has_sound_strings().then_some(InTurn {
                count: self.parts.count,
                nulls: match null_elements(self.parts.nulls, self.parts.count) {
                    0 => &[],
                    _ => self.parts.nulls,
                },
                ends: self.parts.ends,
                data: self.parts.data,
                null_width: 0,
            }),
            width => InTurn::of_numbers(self.parts, width),
        };
        parts.ok_or_else(|| damaged(self.element))
    }

    /// Whether ends do not fall, the last one is that of all bytes, and texts are texts.
    fn has_sound_strings(&self) -> bool {
        let data = self.parts.data;
        let ends = || (0..self.len()).map(|at| word(self.parts.ends, at) as usize);
        let rises = ends().is_sorted() && ends().next_back().unwrap_or(0) == data.len();
        if !rises || self.element.is_binary() {
            return rises;
        }
        let text = std::str::from_utf8(data);
        text.is_ok_and(|text| ends().all(|end| text.is_char_boundary(end)))
    }
}

/// Where the parts of an array of one dimension lie, whose subscripts begin with 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListShape {
    /// The word that it begins with.
    head: u32,
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

/// An array of one dimension that is written.
#[derive(Debug)]
pub struct ListRoom<'a> {
    /// A bit an element, all of them clear, to be set where it is NULL; empty for numbers none of which is.
    pub nulls: &'a mut [u8],
    /// For each string, where its bytes end.
    pub ends: &'a mut [[u8; WORD]],
    /// The bytes of the elements. A number that is NULL has zeros.
    pub data: &'a mut [u8],
}

impl ListShape {
    /// The shape of `count` strings, at least one, which have `data` bytes. Error 54000 for too many of either.
    pub fn of_strings(count: usize, data: usize) -> Result<ListShape> {
        ListShape::of(count, 0, true, data)
    }

    /// The shape of `count` elements, at least one, of a native type that is not strings. Error 54000 for too many.
    pub fn of_numbers(count: usize, element: NativeType, has_nulls: bool) -> Result<ListShape> {
        let width = width(element);
        ListShape::of(count, width, has_nulls, count.saturating_mul(width))
    }

    fn of(count: usize, width: usize, has_nulls: bool, data: usize) -> Result<ListShape> {
        if count > MAX_ELEMENTS || u32::try_from(data).is_err() {
            return Err(too_large());
        }
        let ends = HEADER + if has_nulls { count.div_ceil(8) } else { 0 };
        let before = ends + if width == 0 { count * WORD } else { 0 };
        Ok(ListShape {
            head: head(1, width, has_nulls),
            count,
            ends,
            data: before,
            bytes: before + data,
        })
    }

    /// Writes what comes before the elements. Panics unless `room` has as many bytes as the array.
    pub fn begin<'a>(&self, room: &'a mut [u8]) -> ListRoom<'a> {
        let (before, data) = room.split_at_mut(self.data);
        let (header, ends) = before.split_at_mut(self.ends);
        let words = [self.head, self.count as u32, 1].map(u32::to_le_bytes);
        header[..HEADER].copy_from_slice(words.as_flattened());
        let nulls = &mut header[HEADER..];
        nulls.fill(0);
        assert_eq!(data.len(), self.bytes - self.data);
        let ends = ends.as_chunks_mut().0;
        ListRoom { nulls, ends, data }
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
        let parts = InTurn::of_width(&encoded, 4).unwrap();
        assert_eq!(
            (parts.count, parts.nulls.len(), parts.data.len(), parts.null_width),
            (20, 3, 20 * 4, 4)
        );
        let certain = bytes(&[Value::Int(1), Value::Int(2)], LogicalType::BigInt);
        let parts = InTurn::of_width(&certain, 8).unwrap();
        assert_eq!((parts.count, parts.nulls.len(), parts.data.len()), (2, 0, 16));
        let none = bytes(&[], LogicalType::Text);
        let parts = ArrayRef::new(&none, LogicalType::Text)
            .unwrap()
            .in_turn()
            .unwrap();
        assert_eq!((parts.count, parts.nulls.len()), (0, 0));
    }

    #[test]
    fn numbers_with_ends_have_no_bytes_for_null() {
        let shape = [1_u32, 3, 1].map(u32::to_le_bytes);
        let ends = [8_u32, 8, 16].map(u32::to_le_bytes);
        let old = |nulls: u8| [shape.as_flattened(), &[nulls], ends.as_flattened(), &[1; 16]].concat();
        let bytes = old(0b010);
        let parts = InTurn::of_width(&bytes, 8).unwrap();
        assert_eq!((parts.count, parts.nulls, parts.null_width), (3, &[0b010][..], 0));
        assert!(InTurn::of_width(&old(0), 8).is_none());
        assert!(InTurn::of_width(&old(0b011), 8).is_none());
    }

    #[test]
    fn a_shape_is_that_of_the_encoding() {
        for (count, has_nulls) in [1, 7, 8, 9, 300]
            .into_iter()
            .flat_map(|n| [(n, false), (n, true)])
        {
            let value = |i: i128| match has_nulls && i == 0 {
                true => Value::Null,
                false => Value::Int(i),
            };
            let ints: Vec<Value> = (0..count as i128).map(value).collect();
            let shape = ListShape::of_numbers(count, NativeType::I64, has_nulls).unwrap();
            let mut room = vec![0xff; shape.bytes];
            let to = shape.begin(&mut room);
            assert_eq!(to.nulls.len(), if has_nulls { count.div_ceil(8) } else { 0 });
            assert!(to.ends.is_empty());
            for at in 0..count {
                to.data[at * 8..][..8].copy_from_slice(&(at as i64).to_le_bytes());
            }
            if has_nulls {
                to.nulls[0] |= 1;
            }
            assert_eq!(room, bytes(&ints, LogicalType::BigInt));
            let texts = vec![Value::Text("ab".to_owned()); count];
            let shape = ListShape::of_strings(count, count * 2).unwrap();
            let mut room = vec![0xff; shape.bytes];
            let to = shape.begin(&mut room);
            for at in 0..count {
                to.ends[at] = (2 * (at as u32 + 1)).to_le_bytes();
                to.data[at * 2..][..2].copy_from_slice(b"ab");
            }
            assert_eq!(room, bytes(&texts, LogicalType::Text));
        }
        let state = |count, data| ListShape::of_strings(count, data).unwrap_err().state();
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
