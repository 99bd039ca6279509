//! The values of arrays: one string of bytes that holds the shape and the elements, so that whatever carries bytes carries arrays.
//!
//! ```text
//! u32 number of dimensions, at most MAX_DIMENSIONS, with PACKED and HAS_NULLS; 0 for the array without elements
//! for each dimension: u32 length, i32 lower bound
//! one bit an element, set where it is NULL, filled up to whole bytes; left out of PACKED arrays without HAS_NULLS
//! for each element, not of PACKED arrays: u32 end of its bytes within those of all elements
//! the bytes of the elements: strings as they are, all else its native bytes; of PACKED arrays zeros for NULL
//! ```
//! All numbers are little-endian. Elements stand in row-major order. Arrays are PACKED if all their elements have the same width, so
//! that an element is found by its place; a string is found by its two ends. Neighbours are not read. Until 2026-11 no array was
//! PACKED: databases hold arrays of numbers with ends, which have no bytes for NULL.

mod in_turn;
mod text;

pub use in_turn::{InTurn, ListRoom, ListShape};
pub use text::{read, write};

use crate::value_ops::order_as;
use crate::{Error, KeyPart, KeySpec, LogicalType, NativeType, Result, SqlState, Value};
use std::cmp::Ordering;

/// Most dimensions of an array, PostgreSQL's MAXDIM.
pub const MAX_DIMENSIONS: usize = 6;
/// Most elements of an array, PostgreSQL's MaxArraySize.
pub const MAX_ELEMENTS: usize = (1 << 27) - 1;

/// Bytes of a number in the header and of an element's end.
const WORD: usize = 4;
/// Beside the number of dimensions: all elements have the width of their type, and no ends.
const PACKED: u32 = 1 << 8;
/// Beside the number of dimensions of a packed array: bits that say which elements are NULL.
const HAS_NULLS: u32 = 1 << 9;
/// Where the number of dimensions stands in its word.
const RANK: u32 = 0xff;

/// One dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Number of subscripts, at least 1.
    pub length: u32,
    /// The least subscript. The greatest one is at most `i32::MAX`.
    pub lower: i32,
}

/// An array that is read where its bytes lie.
#[derive(Clone, Copy, Debug)]
pub struct ArrayRef<'a> {
    element: LogicalType,
    parts: Parts<'a>,
}

/// Where the parts of an array lie.
#[derive(Clone, Copy, Debug)]
struct Parts<'a> {
    /// Eight bytes a dimension.
    dimensions: &'a [u8],
    /// Number of elements.
    count: usize,
    /// A bit an element; empty where none is NULL.
    nulls: &'a [u8],
    /// [`WORD`] bytes an element; none of a packed array.
    ends: &'a [u8],
    /// `count` times the width of an element, if the array is packed.
    data: &'a [u8],
}

impl<'a> Parts<'a> {
    /// The parts of an array whose elements have so many bytes, 0 for strings. `None` for bytes that are not as many as they announce.
    fn read(bytes: &'a [u8], width: usize) -> Option<Parts<'a>> {
        let (head, rest) = bytes.split_first_chunk::<WORD>()?;
        let head = u32::from_le_bytes(*head);
        let rank = (head & RANK) as usize;
        let is_packed = head & PACKED != 0;
        if rank > MAX_DIMENSIONS || head & !(RANK | PACKED | HAS_NULLS) != 0 {
            return None;
        }
        let (dimensions, rest) = rest.split_at_checked(rank * 2 * WORD)?;
        let product = |n: usize, d: usize| n.checked_mul(word(dimensions, d * 2) as usize);
        let count = match rank {
            1 => word(dimensions, 0) as usize,
            _ => (0..rank).try_fold(usize::from(rank > 0), product)?,
        };
        let bits = match is_packed && head & HAS_NULLS == 0 {
            true => 0,
            false => count.div_ceil(8),
        };
        let (nulls, rest) = rest.split_at_checked(bits)?;
        let ends = if is_packed { 0 } else { count.checked_mul(WORD)? };
        let (ends, data) = rest.split_at_checked(ends)?;
        let is_sound = !is_packed || width > 0 && count.checked_mul(width) == Some(data.len());
        is_sound.then_some(Parts {
            dimensions,
            count,
            nulls,
            ends,
            data,
        })
    }
}

/// The width of elements that are held so; 0 for strings, which have none.
fn width(native: NativeType) -> usize {
    match native {
        NativeType::String => 0,
        native => native.size(),
    }
}

/// The word that an array begins with. Elements of a width make it packed.
fn head(dimensions: usize, width: usize, has_nulls: bool) -> u32 {
    let packed = match (width, has_nulls) {
        (0, _) => 0,
        (_, false) => PACKED,
        (_, true) => PACKED | HAS_NULLS,
    };
    if dimensions == 0 {
        0
    } else {
        dimensions as u32 | packed
    }
}

/// An array of one dimension in the making: elements come by their bytes, so that none has to become a value before.
#[derive(Debug)]
pub struct ArrayBuilder {
    /// Bytes of an element, 0 for strings.
    width: usize,
    nulls: Vec<u8>,
    has_nulls: bool,
    /// [`WORD`] bytes an element; none of those that have a width.
    ends: Vec<u8>,
    data: Vec<u8>,
    count: usize,
}

impl ArrayBuilder {
    /// An array without elements, which will be held so.
    pub fn new(element: NativeType) -> ArrayBuilder {
        ArrayBuilder {
            width: width(element),
            nulls: Vec::new(),
            has_nulls: false,
            ends: Vec::new(),
            data: Vec::new(),
            count: 0,
        }
    }

    /// Appends an element: the bytes of a string, or native bytes; `None` for NULL. Error 54000 for too many, or too many bytes.
    pub fn push(&mut self, element: Option<&[u8]>) -> Result<()> {
        let bit = self.count % 8;
        if bit == 0 {
            self.nulls.push(0);
        }
        match (element, self.nulls.last_mut()) {
            (Some(bytes), _) => self.data.extend_from_slice(bytes),
            (None, Some(last)) => {
                *last |= 1 << bit;
                self.has_nulls = true;
                self.data.resize(self.data.len() + self.width, 0);
            }
            (None, None) => {}
        }
        let end = u32::try_from(self.data.len()).map_err(|_| too_large())?;
        if self.width == 0 {
            self.ends.extend_from_slice(&end.to_le_bytes());
        }
        self.count += 1;
        match self.count <= MAX_ELEMENTS {
            true => Ok(()),
            false => Err(too_large()),
        }
    }

    /// Bytes that the builder takes; [`ArrayBuilder::finish`] copies them.
    pub fn bytes(&self) -> usize {
        self.nulls.capacity() + self.ends.capacity() + self.data.capacity()
    }

    /// The array, whose subscripts begin with 1.
    pub fn finish(self) -> Vec<u8> {
        if self.count == 0 {
            return 0_u32.to_le_bytes().to_vec();
        }
        let head = head(1, self.width, self.has_nulls);
        let header = [head, self.count as u32, 1].map(u32::to_le_bytes);
        let bits = if self.width == 0 || self.has_nulls {
            &self.nulls[..]
        } else {
            &[]
        };
        [header.as_flattened(), bits, &self.ends, &self.data].concat()
    }
}

/// The bytes of an array of one dimension, whose subscripts begin with 1. Error 54000.
pub fn encode_list(elements: &[Value], element: LogicalType) -> Result<Vec<u8>> {
    let length = u32::try_from(elements.len()).map_err(|_| too_large())?;
    let line = Dimension { length, lower: 1 };
    encode(
        if length == 0 {
            &[]
        } else {
            std::slice::from_ref(&line)
        },
        elements,
        element,
    )
}

/// The bytes of an array. `elements` are in row-major order, as many as the lengths of `dimensions` multiply to; without elements
/// there are no dimensions. Error 54000 for too many dimensions, elements or bytes, and for a
/// subscript beyond `i32`.
pub fn encode(dimensions: &[Dimension], elements: &[Value], element: LogicalType) -> Result<Vec<u8>> {
    check_shape(dimensions)?;
    let count: usize = dimensions.iter().map(|d| d.length as usize).product();
    let count = if dimensions.is_empty() { 0 } else { count };
    if count != elements.len() {
        let lengths = dimensions.len();
        return Err(Error::internal(format!(
            "an array of {lengths} dimensions has {} elements in place of {count}",
            elements.len()
        )));
    }
    let width = width(element.native());
    let has_nulls = elements.iter().any(Value::is_null);
    let mut out = head(dimensions.len(), width, has_nulls).to_le_bytes().to_vec();
    for dimension in dimensions {
        out.extend(dimension.length.to_le_bytes());
        out.extend(dimension.lower.to_le_bytes());
    }
    let nulls = elements.chunks(8).map(|eight| {
        let bits = eight.iter().enumerate();
        bits.fold(0, |byte, (bit, value)| byte | u8::from(value.is_null()) << bit)
    });
    if width == 0 || has_nulls {
        out.extend(nulls);
    }
    if width > 0 {
        let values = elements.iter().map(|value| match value.is_null() {
            true => 0,
            false => value.to_wide(),
        });
        values.for_each(|wide| out.extend(&wide.to_le_bytes()[..width]));
        return Ok(out);
    }
    let ends_at = out.len();
    out.resize(ends_at + count * WORD, 0);
    let data_at = out.len();
    for (at, value) in elements.iter().enumerate() {
        out.extend(value.as_bytes().unwrap_or_default());
        let end = u32::try_from(out.len() - data_at).map_err(|_| too_large())?;
        out[ends_at + at * WORD..][..WORD].copy_from_slice(&end.to_le_bytes());
    }
    Ok(out)
}

/// Looks at all elements of an array that came from elsewhere. Error XX001 for bytes that are none of such elements.
pub fn check(bytes: &[u8], element: LogicalType) -> Result<()> {
    ArrayRef::new(bytes, element)?
        .elements()
        .try_for_each(|value| value.map(drop))
}

/// Error 54000 for too many dimensions or elements, and for subscripts beyond `i32`.
pub fn check_shape(dimensions: &[Dimension]) -> Result<()> {
    if dimensions.len() > MAX_DIMENSIONS {
        return Err(too_many_dimensions(dimensions.len()));
    }
    let product = |count: usize, d: &Dimension| count.checked_mul(d.length as usize);
    match dimensions.iter().try_fold(1, product) {
        Some(count) if count <= MAX_ELEMENTS => {}
        _ => return Err(too_large()),
    }
    let beyond = |d: &&Dimension| i64::from(d.lower) + i64::from(d.length) > i64::from(i32::MAX);
    match dimensions.iter().find(beyond) {
        None => Ok(()),
        Some(d) => Err(Error::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            format!("array lower bound is too large: {}", d.lower),
        )),
    }
}

fn too_large() -> Error {
    Error::new(
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        format!("array size exceeds the maximum allowed ({MAX_ELEMENTS})"),
    )
}

/// The error 54000 of so many dimensions.
pub fn too_many_dimensions(count: usize) -> Error {
    Error::new(
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        format!("number of array dimensions ({count}) exceeds the maximum allowed ({MAX_DIMENSIONS})"),
    )
}

/// The number at a place among numbers of [`WORD`] bytes; 0 beyond them.
fn word(words: &[u8], at: usize) -> u32 {
    let bytes = words.get(at * WORD..(at + 1) * WORD);
    bytes.map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

impl<'a> ArrayRef<'a> {
    /// Reads the header of an array. Error XX001 for bytes that are too short for what they announce; elements are checked when
    /// they are read.
    pub fn new(bytes: &'a [u8], element: LogicalType) -> Result<ArrayRef<'a>> {
        let parts = Parts::read(bytes, width(element.native()));
        let array = parts.map(|parts| ArrayRef { element, parts });
        array.ok_or_else(|| damaged(element))
    }

    /// Its dimensions, outermost first; none if it has no elements.
    pub fn dimensions(&self) -> impl ExactSizeIterator<Item = Dimension> + use<'a> {
        let words = self.parts.dimensions;
        (0..words.len() / (2 * WORD)).map(move |d| Dimension {
            length: word(words, d * 2),
            lower: word(words, d * 2 + 1) as i32,
        })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.parts.count
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.parts.count == 0
    }

    /// Whether an element is NULL, by its place in row-major order from 0.
    pub fn is_null(&self, at: usize) -> bool {
        let byte = self.parts.nulls.get(at / 8);
        byte.is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    }

    /// The bytes of the element at a place in row-major order from 0; `None` for NULL and beyond the last. Error XX001 for ends that
    /// are none.
    pub fn bytes(&self, at: usize) -> Result<Option<&'a [u8]>> {
        if at >= self.len() || self.is_null(at) {
            return Ok(None);
        }
        let Parts { ends, data, .. } = self.parts;
        let range = match ends {
            [] => {
                let width = width(self.element.native());
                at * width..(at + 1) * width
            }
            ends => {
                let start = at.checked_sub(1).map_or(0, |before| word(ends, before));
                start as usize..word(ends, at) as usize
            }
        };
        let bytes = data.get(range).map(Some);
        bytes.ok_or_else(|| damaged(self.element))
    }

    /// The element at a place in row-major order from 0; NULL beyond the last. Error XX001 for bytes that are not of its type.
    pub fn get(&self, at: usize) -> Result<Value> {
        let Some(bytes) = self.bytes(at)? else {
            return Ok(Value::Null);
        };
        if self.element.native() == NativeType::String {
            return self.string(bytes);
        }
        if bytes.len() != self.element.native().size() {
            return Err(damaged(self.element));
        }
        let mut wide = [0; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        let wide = u128::from_le_bytes(wide);
        Ok(Value::from_words(
            [wide as u64, (wide >> 64) as u64],
            self.element,
        ))
    }

    fn string(&self, bytes: &[u8]) -> Result<Value> {
        if self.element.is_binary() {
            return Ok(Value::Bytes(bytes.to_owned()));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| damaged(self.element))?;
        Ok(Value::Text(text.to_owned()))
    }

    /// The error XX001 of bytes that are none of its elements.
    pub fn damaged(&self) -> Error {
        damaged(self.element)
    }

    /// The type of its elements.
    pub fn element(&self) -> LogicalType {
        self.element
    }

    /// All elements in row-major order. Error XX001.
    pub fn elements(self) -> impl Iterator<Item = Result<Value>> + use<'a> {
        (0..self.len()).map(move |at| self.get(at))
    }

    /// Orders two arrays of one element type as PostgreSQL does: by their elements, NULL behind all others and equal to NULL, then by
    /// their number, by the number of dimensions, by lengths and by lower bounds. Error XX001.
    pub fn order(&self, other: &ArrayRef<'_>) -> Result<Ordering> {
        for at in 0..self.len().min(other.len()) {
            let by_element = match (self.is_null(at), other.is_null(at)) {
                (false, false) => order_elements(&self.get(at)?, &other.get(at)?, self.element),
                (a, b) => a.cmp(&b),
            };
            if by_element.is_ne() {
                return Ok(by_element);
            }
        }
        let lengths = |array: &ArrayRef<'_>| {
            let dimensions = array.dimensions();
            (
                array.len(),
                dimensions.len(),
                dimensions.map(|d| d.length).collect::<Vec<_>>(),
            )
        };
        let lowers = |array: &ArrayRef<'_>| array.dimensions().map(|d| d.lower).collect::<Vec<_>>();
        let by_shape = lengths(self).cmp(&lengths(other));
        Ok(by_shape.then_with(|| lowers(self).cmp(&lowers(other))))
    }

    /// Bytes whose order is that of [`ArrayRef::order`]: the elements' keys, each behind a marker, a zero that ends them, and the shape.
    /// Error XX001.
    pub fn order_key(&self) -> Result<Vec<u8>> {
        let spec = KeySpec::new(vec![KeyPart {
            ty: self.element,
            nullable: true,
            descending: false,
            nulls_first: false,
        }]);
        let mut key = Vec::with_capacity(self.parts.data.len() + 2 * self.len() + WORD);
        for value in self.elements() {
            spec.encode(&[value?], &mut key);
        }
        // Markers of elements are greater.
        key.push(0);
        key.push(self.dimensions().len() as u8);
        self.dimensions().for_each(|d| key.extend(d.length.to_be_bytes()));
        let lowers = self.dimensions().map(|d| d.lower as u32 ^ 1 << 31);
        lowers.for_each(|lower| key.extend(lower.to_be_bytes()));
        Ok(key)
    }
}

/// Orders two elements that are not NULL.
pub fn order_elements(a: &Value, b: &Value, element: LogicalType) -> Ordering {
    order_as(a, b, element).unwrap_or(Ordering::Equal)
}

/// The error XX001 of bytes that are no array of such elements.
pub fn damaged(element: LogicalType) -> Error {
    Error::new(
        SqlState::DATA_CORRUPTED,
        format!("the bytes of an array of {element} are damaged"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interval;

    fn line(length: u32) -> Dimension {
        Dimension { length, lower: 1 }
    }

    #[test]
    fn elements_of_every_form_come_back() {
        let interval = Interval {
            months: -1,
            days: 2,
            micros: -3,
        };
        for (element, value) in [
            (LogicalType::Boolean, Value::Bool(true)),
            (LogicalType::SmallInt, Value::Int(-2)),
            (LogicalType::Integer, Value::Int(i32::MIN.into())),
            (LogicalType::BigInt, Value::Int(i64::MIN.into())),
            (LogicalType::Double, Value::Double(-0.5)),
            (LogicalType::Uuid, Value::Int(i128::MIN)),
            (LogicalType::Char(1), Value::Int('ß' as i128)),
            (LogicalType::Interval, Value::Interval(interval)),
            (LogicalType::Text, Value::Text("é".to_owned())),
            (LogicalType::Text, Value::Text(String::new())),
            (LogicalType::Bytea, Value::Bytes(vec![0, 255])),
        ] {
            let mut elements = vec![Value::Null; 9];
            elements[3] = value.clone();
            elements[8] = value;
            let bytes = encode(&[line(9)], &elements, element).unwrap();
            let array = ArrayRef::new(&bytes, element).unwrap();
            assert_eq!(array.dimensions().collect::<Vec<_>>(), [line(9)]);
            assert_eq!(
                array.elements().collect::<Result<Vec<_>>>().unwrap(),
                elements,
                "{element}"
            );
            assert_eq!(array.get(9).unwrap(), Value::Null);
        }
    }

    #[test]
    fn elements_by_their_bytes_make_the_same_array() {
        let null = |i: usize| i % 3 == 1;
        for (count, has_nulls) in [0, 1, 7, 8, 9, 20]
            .into_iter()
            .flat_map(|n| [(n, false), (n, true)])
        {
            let value = |i: usize, value: Value| if has_nulls && null(i) { Value::Null } else { value };
            let texts: Vec<Value> = (0..count).map(|i| value(i, Value::Text("x".repeat(i)))).collect();
            let mut builder = ArrayBuilder::new(NativeType::String);
            for value in &texts {
                builder.push(value.as_bytes()).unwrap();
            }
            let same = encode_list(&texts, LogicalType::Text).unwrap();
            assert_eq!(builder.finish(), same, "{count}");
            let ints: Vec<Value> = (0..count).map(|i| value(i, Value::Int(i as i128))).collect();
            let mut builder = ArrayBuilder::new(NativeType::I16);
            for (i, value) in ints.iter().enumerate() {
                let bytes = (i as i16).to_le_bytes();
                builder.push((!value.is_null()).then_some(&bytes[..])).unwrap();
            }
            let same = encode_list(&ints, LogicalType::SmallInt).unwrap();
            assert_eq!(builder.finish(), same, "{count}");
        }
    }

    #[test]
    fn numbers_with_ends_are_read() {
        let shape = [1_u32, 3, 1].map(u32::to_le_bytes);
        let ends = [4_u32, 4, 8].map(u32::to_le_bytes);
        let data = [7_i32, -8].map(i32::to_le_bytes);
        let bytes = [
            shape.as_flattened(),
            &[0b010],
            ends.as_flattened(),
            data.as_flattened(),
        ]
        .concat();
        let array = ArrayRef::new(&bytes, LogicalType::Integer).unwrap();
        let values = [Value::Int(7), Value::Null, Value::Int(-8)];
        assert_eq!(array.elements().collect::<Result<Vec<_>>>().unwrap(), values);
        let packed = encode_list(&values, LogicalType::Integer).unwrap();
        assert!(packed.len() < bytes.len());
        let packed = ArrayRef::new(&packed, LogicalType::Integer).unwrap();
        assert_eq!(packed.order(&array).unwrap(), Ordering::Equal);
        assert_eq!(packed.order_key().unwrap(), array.order_key().unwrap());
        // No string has a width, and what else might stand beside the number of dimensions is not known.
        for (head, element) in [
            (1 | PACKED, LogicalType::Text),
            (1 | 1 << 10, LogicalType::Integer),
        ] {
            let mut bytes = bytes.clone();
            bytes[..WORD].copy_from_slice(&u32::to_le_bytes(head));
            assert!(ArrayRef::new(&bytes, element).is_err());
        }
    }

    #[test]
    fn arrays_are_ordered_as_postgresql_orders_them() {
        let ascending = [
            "{}",
            "{1}",
            "[2:2]={1}",
            "{{1}}",
            "{1,2}",
            "{{1,2}}",
            "{{1},{2}}",
            "{1,2,0}",
            "{1,3}",
            "{1,NULL}",
            "{2}",
            "{NULL}",
        ];
        let bytes = ascending.map(|text| read(text, LogicalType::Integer).unwrap());
        let arrays = bytes
            .each_ref()
            .map(|b| ArrayRef::new(b, LogicalType::Integer).unwrap());
        for (i, a) in arrays.iter().enumerate() {
            for (j, b) in arrays.iter().enumerate() {
                assert_eq!(a.order_key().unwrap().cmp(&b.order_key().unwrap()), i.cmp(&j));
                assert_eq!(
                    a.order(b).unwrap(),
                    i.cmp(&j),
                    "{} {}",
                    ascending[i],
                    ascending[j]
                );
            }
        }
    }

    #[test]
    fn blanks_at_the_end_of_padded_elements_do_not_count() {
        let element = LogicalType::Char(3);
        let of = |text: &str| encode(&[line(1)], &[Value::Text(text.to_owned())], element).unwrap();
        let (a, b) = (of("a  "), of("a"));
        let order = ArrayRef::new(&a, element)
            .unwrap()
            .order(&ArrayRef::new(&b, element).unwrap());
        assert_eq!(order.unwrap(), Ordering::Equal);
    }

    #[test]
    fn damaged_bytes_are_an_error() {
        for (text, element) in [
            ("{{a,bc},{NULL,d}}", LogicalType::Text),
            ("{{1,2},{NULL,4}}", LogicalType::Integer),
            ("{1,2}", LogicalType::Integer),
        ] {
            damaged_array_is_an_error(read(text, element).unwrap(), element);
        }
    }

    fn damaged_array_is_an_error(bytes: Vec<u8>, element: LogicalType) {
        for length in 0..bytes.len() {
            let array = ArrayRef::new(&bytes[..length], element);
            let read = array.and_then(|array| array.elements().collect::<Result<Vec<_>>>());
            assert_eq!(read.unwrap_err().state(), SqlState::DATA_CORRUPTED, "{length}");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0xff;
            if let Ok(array) = ArrayRef::new(&bytes, element) {
                // An answer or an error, no panic.
                let _ = array.elements().collect::<Result<Vec<_>>>();
            }
        }
    }

    #[test]
    fn shapes_beyond_the_limits_are_refused() {
        let state =
            |dimensions: &[Dimension]| encode(dimensions, &[], LogicalType::Integer).unwrap_err().state();
        assert_eq!(state(&[line(1); 7]), SqlState::PROGRAM_LIMIT_EXCEEDED);
        assert_eq!(
            state(&[line(1 << 20), line(1 << 20)]),
            SqlState::PROGRAM_LIMIT_EXCEEDED
        );
        let last = Dimension {
            length: 1,
            lower: i32::MAX,
        };
        assert_eq!(state(&[last]), SqlState::PROGRAM_LIMIT_EXCEEDED);
    }
}
