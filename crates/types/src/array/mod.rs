//! The values of arrays: one string of bytes that holds the shape and the elements, so that whatever carries bytes carries arrays.
//!
//! ```text
//! u32 number of dimensions, at most MAX_DIMENSIONS; 0 for the array without elements
//! for each dimension: u32 length, i32 lower bound
//! one bit an element, set where it is NULL, filled up to whole bytes
//! for each element: u32 end of its bytes within those of all elements
//! the bytes of the elements: strings as they are, all else its native bytes
//! ```
//! All numbers are little-endian. Elements stand in row-major order. An element is found by its two ends, without its
//! neighbours being read.

mod in_turn;
mod text;

pub use in_turn::{InTurn, ListShape};
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
    /// Eight bytes a dimension.
    dimensions: &'a [u8],
    nulls: &'a [u8],
    /// [`WORD`] bytes an element.
    ends: &'a [u8],
    data: &'a [u8],
}

/// An array of one dimension in the making: elements come by their bytes, so that none has to become a value before.
#[derive(Debug, Default)]
pub struct ArrayBuilder {
    nulls: Vec<u8>,
    /// [`WORD`] bytes an element.
    ends: Vec<u8>,
    data: Vec<u8>,
    count: usize,
}

impl ArrayBuilder {
    /// Appends an element: the bytes of a string, or native bytes; `None` for NULL. Error 54000 for too many, or too many bytes.
    pub fn push(&mut self, element: Option<&[u8]>) -> Result<()> {
        let bit = self.count % 8;
        if bit == 0 {
            self.nulls.push(0);
        }
        match (element, self.nulls.last_mut()) {
            (Some(bytes), _) => self.data.extend_from_slice(bytes),
            (None, Some(last)) => *last |= 1 << bit,
            (None, None) => {}
        }
        let end = u32::try_from(self.data.len()).map_err(|_| too_large())?;
        self.ends.extend_from_slice(&end.to_le_bytes());
        self.count += 1;
        match self.count <= MAX_ELEMENTS {
            true => Ok(()),
            false => Err(too_large()),
        }
    }

    /// The array, whose subscripts begin with 1.
    pub fn finish(self) -> Vec<u8> {
        if self.count == 0 {
            return 0_u32.to_le_bytes().to_vec();
        }
        let header = [1_u32, self.count as u32, 1].map(u32::to_le_bytes);
        [header.as_flattened(), &self.nulls, &self.ends, &self.data].concat()
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
    let mut out = (dimensions.len() as u32).to_le_bytes().to_vec();
    for dimension in dimensions {
        out.extend(dimension.length.to_le_bytes());
        out.extend(dimension.lower.to_le_bytes());
    }
    let nulls = elements.chunks(8).map(|eight| {
        let bits = eight.iter().enumerate();
        bits.fold(0, |byte, (bit, value)| byte | u8::from(value.is_null()) << bit)
    });
    out.extend(nulls);
    let ends_at = out.len();
    out.resize(ends_at + count * WORD, 0);
    let data_at = out.len();
    for (at, value) in elements.iter().enumerate() {
        push_element(&mut out, value, element);
        let end = u32::try_from(out.len() - data_at).map_err(|_| too_large())?;
        out[ends_at + at * WORD..][..WORD].copy_from_slice(&end.to_le_bytes());
    }
    Ok(out)
}

/// Writes the bytes of an element behind those before it; none of NULL.
fn push_element(out: &mut Vec<u8>, value: &Value, element: LogicalType) {
    match value.as_bytes() {
        Some(bytes) => out.extend(bytes),
        None if value.is_null() => {}
        None => out.extend(&value.to_wide().to_le_bytes()[..element.native().size()]),
    }
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
        let array = || {
            let (rank, rest) = bytes.split_at_checked(WORD)?;
            let rank = word(rank, 0) as usize;
            if rank > MAX_DIMENSIONS {
                return None;
            }
            let (dimensions, rest) = rest.split_at_checked(rank * 2 * WORD)?;
            let product = |n: usize, d: usize| n.checked_mul(word(dimensions, d * 2) as usize);
            let count = (0..rank).try_fold(usize::from(rank > 0), product)?;
            let (nulls, rest) = rest.split_at_checked(count.div_ceil(8))?;
            let (ends, data) = rest.split_at_checked(count.checked_mul(WORD)?)?;
            Some(ArrayRef {
                element,
                dimensions,
                nulls,
                ends,
                data,
            })
        };
        array().ok_or_else(|| damaged(element))
    }

    /// Its dimensions, outermost first; none if it has no elements.
    pub fn dimensions(&self) -> impl ExactSizeIterator<Item = Dimension> + use<'a> {
        let words = self.dimensions;
        (0..words.len() / (2 * WORD)).map(move |d| Dimension {
            length: word(words, d * 2),
            lower: word(words, d * 2 + 1) as i32,
        })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.ends.len() / WORD
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether an element is NULL, by its place in row-major order from 0.
    pub fn is_null(&self, at: usize) -> bool {
        self.nulls
            .get(at / 8)
            .is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    }

    /// The bytes of the element at a place in row-major order from 0; `None` for NULL and beyond the last. Error XX001 for ends that
    /// are none.
    pub fn bytes(&self, at: usize) -> Result<Option<&'a [u8]>> {
        if at >= self.len() || self.is_null(at) {
            return Ok(None);
        }
        let start = at.checked_sub(1).map_or(0, |before| word(self.ends, before));
        let range = start as usize..word(self.ends, at) as usize;
        self.data
            .get(range)
            .map(Some)
            .ok_or_else(|| damaged(self.element))
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
        let mut key = Vec::with_capacity(self.data.len() + 2 * self.len() + WORD);
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
        for count in [0, 1, 7, 8, 9, 20] {
            let values: Vec<Value> = (0..count)
                .map(|i| {
                    if i % 3 == 1 {
                        Value::Null
                    } else {
                        Value::Text("x".repeat(i))
                    }
                })
                .collect();
            let mut builder = ArrayBuilder::default();
            for value in &values {
                builder.push(value.as_bytes()).unwrap();
            }
            assert_eq!(
                builder.finish(),
                encode_list(&values, LogicalType::Text).unwrap(),
                "{count}"
            );
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
        let bytes = read("{{a,bc},{NULL,d}}", LogicalType::Text).unwrap();
        for length in 0..bytes.len() {
            let array = ArrayRef::new(&bytes[..length], LogicalType::Text);
            let read = array.and_then(|array| array.elements().collect::<Result<Vec<_>>>());
            assert_eq!(read.unwrap_err().state(), SqlState::DATA_CORRUPTED, "{length}");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0xff;
            if let Ok(array) = ArrayRef::new(&bytes, LogicalType::Text) {
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
