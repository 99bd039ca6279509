//! The binary form of jsonb. A value is a tag byte and
//!
//! - null, false, true: nothing more;
//! - a number, a string: its characters;
//! - an array: the number of elements, the end of each, the elements;
//! - an object: the number of members, the end of each key, the end of each value, keys, values.
//!
//! Numbers and ends are `u32`, little-endian; ends count bytes from the first element, key or value, so that the
//! place of each is known without reading another. Keys are unique, and ordered as PostgreSQL orders them: by length, then
//! by bytes.

use super::{number, text};
use crate::{Error, Result, SqlState};
use std::cmp::Ordering;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const NUMBER: u8 = 3;
const STRING: u8 = 4;
const ARRAY: u8 = 5;
const OBJECT: u8 = 6;

/// Bytes of a count or an end.
const WORD: usize = 4;

/// Most keys of an object among which one is looked for from the first on: their ends lie within two lines of the cache.
const SCANNED_KEYS: usize = 24;

/// A value of jsonb, where it lies.
#[derive(Clone, Copy, Debug)]
pub enum Json<'a> {
    /// null.
    Null,
    /// true or false.
    Boolean(bool),
    /// A number's digits, without an exponent.
    Number(&'a str),
    /// A string's characters.
    String(&'a str),
    /// An array.
    Array(Array<'a>),
    /// An object.
    Object(Object<'a>),
}

/// A value of jsonb, where it lies, its characters as bytes: nothing is decoded.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a> {
    /// null.
    Null,
    /// true or false.
    Boolean(bool),
    /// A number's digits, without an exponent.
    Number(&'a [u8]),
    /// A string's characters in UTF-8.
    String(&'a [u8]),
    /// An array.
    Array(Array<'a>),
    /// An object.
    Object(Object<'a>),
}

/// The elements of an array.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a>(Parts<'a>);

/// The members of an object, ordered by key.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    keys: Parts<'a>,
    values: Parts<'a>,
}

/// Byte strings behind one another.
#[derive(Clone, Copy, Debug)]
struct Parts<'a> {
    /// The end of each.
    ends: &'a [u8],
    bytes: &'a [u8],
}

impl<'a> Parts<'a> {
    #[inline]
    fn len(self) -> usize {
        self.ends.len() / WORD
    }

    /// The part at `index`, empty if the bytes do not hold it.
    #[inline]
    fn get(self, index: usize) -> &'a [u8] {
        let start = index.checked_sub(1).map_or(0, |before| word(self.ends, before));
        self.bytes.get(start..word(self.ends, index)).unwrap_or(&[])
    }
}

/// The `index`th word; 0 if there is none.
#[inline]
fn word(bytes: &[u8], index: usize) -> usize {
    match bytes.get(index * WORD..index * WORD + WORD) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]) as usize,
        _ => 0,
    }
}

impl<'a> Stored<'a> {
    /// The value in its binary form. Bytes that are not such a form give some value, null where none can be told.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Stored<'a> {
        let Some((&tag, rest)) = bytes.split_first() else {
            return Stored::Null;
        };
        match tag {
            FALSE => Stored::Boolean(false),
            TRUE => Stored::Boolean(true),
            NUMBER => Stored::Number(rest),
            STRING => Stored::String(rest),
            ARRAY => Stored::Array(Array(container(rest, 1)[0])),
            OBJECT => {
                let [keys, values] = container(rest, 2);
                Stored::Object(Object { keys, values })
            }
            _ => Stored::Null,
        }
    }
}

/// The characters of a number or a string; empty for bytes that are not UTF-8.
pub fn characters(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or("")
}

impl<'a> Json<'a> {
    /// The value in its binary form, as [`Stored::new`] finds it.
    pub fn new(bytes: &'a [u8]) -> Json<'a> {
        match Stored::new(bytes) {
            Stored::Null => Json::Null,
            Stored::Boolean(value) => Json::Boolean(value),
            Stored::Number(digits) => Json::Number(characters(digits)),
            Stored::String(text) => Json::String(characters(text)),
            Stored::Array(array) => Json::Array(array),
            Stored::Object(object) => Json::Object(object),
        }
    }

    /// The name of its kind, as jsonb_typeof gives it.
    pub fn kind(self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Boolean(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }
}

/// The one or two lists of parts of a container's bytes behind its tag; the second is empty for an array.
#[inline]
fn container(bytes: &[u8], lists: usize) -> [Parts<'_>; 2] {
    let empty = Parts {
        ends: &[],
        bytes: &[],
    };
    let ends = word(bytes, 0) * WORD;
    let split = || {
        let (ends_first, rest) = bytes.get(WORD..)?.split_at_checked(ends)?;
        if lists == 1 {
            return Some([
                Parts {
                    ends: ends_first,
                    bytes: rest,
                },
                empty,
            ]);
        }
        let (ends_second, rest) = rest.split_at_checked(ends)?;
        let first = (ends / WORD)
            .checked_sub(1)
            .map_or(0, |last| word(ends_first, last));
        let (first, second) = rest.split_at_checked(first)?;
        let first = Parts {
            ends: ends_first,
            bytes: first,
        };
        Some([
            first,
            Parts {
                ends: ends_second,
                bytes: second,
            },
        ])
    };
    split().unwrap_or([empty, empty])
}

impl<'a> Array<'a> {
    /// Number of elements.
    #[inline]
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The binary form of the element at `index` from 0, or from the end if negative.
    #[inline]
    pub fn get(self, index: i64) -> Option<&'a [u8]> {
        let from_end = || index.checked_add(self.len() as i64);
        let index = if index < 0 { from_end()? } else { index };
        let index = usize::try_from(index).ok().filter(|&i| i < self.len())?;
        Some(self.0.get(index))
    }

    /// The binary forms of its elements.
    #[inline]
    pub fn elements(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).map(move |index| self.0.get(index))
    }
}

impl<'a> Object<'a> {
    /// Number of members.
    #[inline]
    pub fn len(self) -> usize {
        self.keys.len()
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The binary form of the value of a key.
    #[inline]
    pub fn get(self, key: &str) -> Option<&'a [u8]> {
        self.position(key.as_bytes()).map(|index| self.values.get(index))
    }

    /// The position of a key. Of few keys, whose lengths ascend, each is passed by its length alone.
    #[inline]
    fn position(self, key: &[u8]) -> Option<usize> {
        if self.len() > SCANNED_KEYS {
            return self.position_of_many(key);
        }
        let mut start = 0;
        for index in 0..self.len() {
            let end = word(self.keys.ends, index);
            match end.wrapping_sub(start).cmp(&key.len()) {
                Ordering::Less => {}
                Ordering::Equal if self.keys.bytes.get(start..end) == Some(key) => return Some(index),
                Ordering::Equal => {}
                Ordering::Greater => return None,
            }
            start = end;
        }
        None
    }

    fn position_of_many(self, key: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match order_of_keys(self.keys.get(middle), key) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Its keys with the binary forms of their values.
    #[inline]
    pub fn members(self) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let key = move |index| characters(self.keys.get(index));
        (0..self.len()).map(move |index| (key(index), self.values.get(index)))
    }
}

/// Shorter keys stand first, equally long ones by their bytes.
fn order_of_keys(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// The binary form of a JSON text. Errors 22P02 with line and column in its detail, 22P05 for U+0000, 22003 for a number
/// beyond numeric, 54001 for one that nests too deeply.
pub fn binary_of_text(text: &str) -> Result<Vec<u8>> {
    text::read(text, &mut Binary)
}

/// The binary form of an array of these elements.
pub fn array_of(elements: Vec<Vec<u8>>) -> Vec<u8> {
    text::Build::array(&mut Binary, elements)
}

/// The binary form of an object of these members, of which the last of equal keys stays.
pub fn object_of(members: Vec<(String, Vec<u8>)>) -> Vec<u8> {
    text::Build::object(&mut Binary, members)
}

/// The binary form of a string of these characters.
pub fn string_of(text: &str) -> Vec<u8> {
    text::Build::string(&mut Binary, text)
}

/// The binary form of a number of these digits, as [`Json::Number`] has them.
pub fn number_of(digits: &str) -> Vec<u8> {
    tagged(NUMBER, digits.as_bytes())
}

/// The binary form of true or false, or of null.
pub fn scalar_of(value: Option<bool>) -> Vec<u8> {
    vec![match value {
        None => NULL,
        Some(false) => FALSE,
        Some(true) => TRUE,
    }]
}

/// Checks that bytes are the binary form of a value: the one that [`binary_of_text`] makes of its text. Error 22P03.
pub fn check_binary(bytes: &[u8]) -> Result<()> {
    let invalid = || Error::new(SqlState::INVALID_BINARY, "the bytes are not a jsonb");
    let mut text = String::new();
    if !is_sound(bytes, 1) || super::write_compact(&mut text, bytes).is_err() {
        return Err(invalid());
    }
    match binary_of_text(&text) {
        Ok(same) if same == bytes => Ok(()),
        _ => Err(invalid()),
    }
}

/// Whether the parts of each container fill it, and no more of them lie within one another than in a text; `depth`: how deep this one
/// lies.
fn is_sound(bytes: &[u8], depth: usize) -> bool {
    let mut inner = |part: &[u8]| is_sound(part, depth + 1);
    match Json::new(bytes) {
        Json::Array(_) | Json::Object(_) if depth > text::MAX_DEPTH => false,
        Json::Array(array) => {
            let parts: usize = array.elements().map(|element| element.len() + WORD).sum();
            1 + WORD + parts == bytes.len() && array.elements().all(&mut inner)
        }
        Json::Object(object) => {
            let part = |(key, value): (&str, &[u8])| key.len() + value.len() + 2 * WORD;
            1 + WORD + object.members().map(part).sum::<usize>() == bytes.len()
                && object.members().all(|(_, value)| inner(value))
        }
        Json::Null | Json::Boolean(_) | Json::Number(_) | Json::String(_) => true,
    }
}

/// Builds the binary form.
struct Binary;

impl text::Build for Binary {
    type Value = Vec<u8>;
    const WANTS_CHARACTERS: bool = true;

    fn null(&mut self) -> Vec<u8> {
        vec![NULL]
    }

    fn boolean(&mut self, value: bool) -> Vec<u8> {
        vec![if value { TRUE } else { FALSE }]
    }

    fn number(&mut self, text: &str) -> Result<Vec<u8>> {
        Ok(tagged(NUMBER, number::plain(text)?.as_bytes()))
    }

    fn string(&mut self, text: &str) -> Vec<u8> {
        tagged(STRING, text.as_bytes())
    }

    fn array(&mut self, elements: Vec<Vec<u8>>) -> Vec<u8> {
        let mut out = counted(ARRAY, elements.len());
        push_ends(&mut out, elements.iter().map(Vec::len));
        out.extend(elements.iter().flatten());
        out
    }

    fn object(&mut self, mut members: Vec<(String, Vec<u8>)>) -> Vec<u8> {
        // The last of equal keys stays: the sort is stable, and the first of equal ones is kept of the list reversed.
        members.reverse();
        members.sort_by(|(a, _), (b, _)| order_of_keys(a.as_bytes(), b.as_bytes()));
        members.dedup_by(|(a, _), (b, _)| a == b);
        let mut out = counted(OBJECT, members.len());
        push_ends(&mut out, members.iter().map(|(key, _)| key.len()));
        push_ends(&mut out, members.iter().map(|(_, value)| value.len()));
        out.extend(members.iter().flat_map(|(key, _)| key.bytes()));
        out.extend(members.iter().flat_map(|(_, value)| value));
        out
    }
}

fn tagged(tag: u8, bytes: &[u8]) -> Vec<u8> {
    [&[tag], bytes].concat()
}

fn counted(tag: u8, count: usize) -> Vec<u8> {
    tagged(tag, &(count as u32).to_le_bytes())
}

fn push_ends(out: &mut Vec<u8>, lengths: impl Iterator<Item = usize>) {
    let mut end = 0;
    for length in lengths {
        end += length as u32;
        out.extend(end.to_le_bytes());
    }
}
