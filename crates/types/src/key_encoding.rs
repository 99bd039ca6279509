//! Byte-comparable keys: values of one or several columns as bytes whose order by `memcmp` is the order of the values.
//!
//! A key is the concatenation of its parts, one a column. A part of a nullable column begins with a marker byte, which puts
//! NULLs first or last; a column that is NOT NULL spends no byte on it. Then comes the value:
//!
//! | type | bytes |
//! |---|---|
//! | boolean | one, 0 or 1 |
//! | smallint, integer, bigint, date, timestamp, decimal, char(1) | the native integer, big-endian, its sign bit flipped |
//! | double | −0 becomes 0 and every NaN the same; then big-endian, negative numbers inverted, others with their sign bit flipped |
//! | interval | its span in microseconds ([`interval_span`]), as an integer of 16 bytes |
//! | text, varchar, char(n), bytea, arrays, jsonb | its bytes (of arrays and jsonb those of their [`order_key`]), 0x00 as 01 01 and 0x01 as 01 02, then 0x00; char(n) without its trailing blanks |
//!
//! A descending part has the bytes of its value inverted, its marker not. Values that SQL holds to be equal have equal bytes
//! (1.0 and 1.00 are the same integer, because the scale belongs to the column). No key of a spec is a proper prefix of
//! another one, since every part has a fixed length or a terminator: so bytes may follow a key, such as a row id or zeros.
//! Nothing reads a value back from a key: whoever finds a key has a row id and reads the row.

use crate::value_ops::{interval_span, order_key};
use crate::{ColumnVector, Interval, LogicalType, MatchBits, NativeType, Order, Value};
use std::borrow::Cow;

/// Marker of a value in a part of a nullable column.
const VALUE: u8 = 1;
/// Marker of NULL where NULLs come first.
const NULL_FIRST: u8 = 0;
/// Marker of NULL where NULLs come last.
const NULL_LAST: u8 = 2;
/// Ends a string.
const END: u8 = 0;
/// Precedes what stands for 0x00 ([`ESCAPED_ZERO`]) and for itself ([`ESCAPED_ONE`]) in a string.
const ESCAPE: u8 = 1;
const ESCAPED_ZERO: u8 = 1;
const ESCAPED_ONE: u8 = 2;

/// One column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// Type of the values.
    pub ty: LogicalType,
    /// True if the column may hold NULL; a part that is not nullable has no marker.
    pub nullable: bool,
    /// True if greater values have smaller keys. NULLs stay where `nulls_first` puts them.
    pub descending: bool,
    /// True if the keys of NULLs are smaller than those of all values, false if they are greater.
    pub nulls_first: bool,
}

impl KeyPart {
    /// Bytes of the value, marker apart; `None` if they depend on the value.
    fn value_bytes(&self) -> Option<usize> {
        match self.ty.native() {
            NativeType::String => None,
            native => Some(native.size()),
        }
    }

    /// First byte of the part in keys where it is not NULL; `None` if it has no marker.
    pub fn value_marker(&self) -> Option<u8> {
        self.nullable.then_some(VALUE)
    }

    /// True if a key that begins with this part has NULL in the part.
    pub fn is_null_in(&self, key: &[u8]) -> bool {
        self.nullable && key.first().is_some_and(|marker| *marker != VALUE)
    }

    /// Bytes that the part takes at the beginning of `key`.
    fn bytes_at_start(&self, key: &[u8]) -> usize {
        let marker = usize::from(self.nullable);
        let is_null = self.nullable && key[0] != VALUE;
        let end = if self.descending { !END } else { END };
        let text = || {
            key[marker..]
                .iter()
                .position(|&b| b == end)
                .map_or(key.len(), |at| at + 1)
        };
        marker
            + match self.value_bytes() {
                Some(bytes) => bytes,
                None if is_null => 0,
                None => text(),
            }
    }

    fn null_marker(&self) -> u8 {
        if self.nulls_first { NULL_FIRST } else { NULL_LAST }
    }

    /// Bytes of the string that count: char(n) without its trailing blanks, of what has an order key that key.
    fn significant<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        match self.ty.order() {
            Order::WithoutBlanks => {
                let last = text.iter().rposition(|&b| b != b' ');
                Cow::Borrowed(&text[..last.map_or(0, |last| last + 1)])
            }
            Order::Native | Order::Span | Order::Absent => Cow::Borrowed(text),
            Order::Key => order_key(text, self.ty),
        }
    }
}

/// How keys are made of values: the columns of a key, most significant first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpec {
    parts: Vec<KeyPart>,
    fixed: Option<usize>,
}

impl KeySpec {
    /// A spec of these parts.
    pub fn new(parts: Vec<KeyPart>) -> KeySpec {
        let bytes = |p: &KeyPart| Some(p.value_bytes()? + usize::from(p.nullable));
        let fixed = parts.iter().map(bytes).sum();
        KeySpec { parts, fixed }
    }

    /// The parts, most significant first.
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// Bytes that the first so many parts of a key take.
    pub fn bytes_of(&self, parts: usize, key: &[u8]) -> usize {
        let parts = self.parts[..parts].iter();
        parts.fold(0, |at, part| at + part.bytes_at_start(&key[at..]))
    }

    /// Bytes of every key; `None` if they depend on the values.
    pub fn fixed_bytes(&self) -> Option<usize> {
        self.fixed
    }

    /// Appends the key of the values, one a part, each NULL or of its part's type. Fewer values than parts make a prefix:
    /// the keys that begin with it are those of rows with these values in front.
    ///
    /// # Panics
    /// On more values than parts, on NULL in a part that is not nullable, and on a value that is not of its part's type.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) {
        assert!(
            values.len() <= self.parts.len(),
            "a key has more values than parts"
        );
        for (part, value) in self.parts.iter().zip(values) {
            encode_value(part, value, out);
        }
    }

    /// The keys of whole columns, one a part, all of as many rows. Types are looked at once a column. NULL where the part is not
    /// nullable has some key, which means nothing.
    ///
    /// # Panics
    /// If a column is not held natively as its part.
    pub fn encode_columns(&self, columns: &[&ColumnVector], out: &mut EncodedKeys) {
        assert_eq!(
            columns.len(),
            self.parts.len(),
            "a column for each part of the key"
        );
        self.encode_by(|part| columns[part], out);
    }

    /// The same, `column` being the column of a part.
    ///
    /// # Panics
    /// If a column is not held natively as its part.
    pub fn encode_by<'a>(&self, column: impl Fn(usize) -> &'a ColumnVector, out: &mut EncodedKeys) {
        out.rows = if self.parts.is_empty() { 0 } else { column(0).len() };
        out.lay_out(self, &column);
        for (i, part) in self.parts.iter().enumerate() {
            encode_column(part, column(i), out);
            out.passed += part.value_bytes().unwrap_or(0) + usize::from(part.nullable);
        }
        out.finish();
    }
}

/// Keys of many rows, one behind the other.
#[derive(Debug, Default)]
pub struct EncodedKeys {
    bytes: Vec<u8>,
    rows: usize,
    /// Bytes of each key; `None` if they differ.
    fixed: Option<usize>,
    /// Where keys differ in length, `starts[i]..starts[i + 1]` are the bytes of key `i`. While they are made: where the next part of
    /// key `i` goes.
    starts: Vec<usize>,
    /// While keys of fixed length are made: bytes of the parts that each has.
    passed: usize,
    nulls: Option<MatchBits>,
}

impl EncodedKeys {
    /// Number of keys.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key of a row.
    pub fn key(&self, row: usize) -> &[u8] {
        match self.fixed {
            Some(bytes) => &self.bytes[row * bytes..(row + 1) * bytes],
            None => &self.bytes[self.starts[row]..self.starts[row + 1]],
        }
    }

    /// True if one of the row's values is NULL.
    pub fn has_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|n| n.get(row))
    }

    /// Bytes of memory that it holds on to.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity() + self.starts.capacity() * size_of::<usize>()
    }

    /// Makes room for the keys of all rows and notes which hold NULL.
    fn lay_out<'a>(&mut self, spec: &KeySpec, column: &impl Fn(usize) -> &'a ColumnVector) {
        let rows = self.rows;
        self.starts.clear();
        self.nulls = None;
        self.fixed = spec.fixed;
        self.passed = 0;
        for nulls in (0..spec.parts.len()).filter_map(|part| column(part).nulls()) {
            let own = self.nulls.get_or_insert_with(|| MatchBits::zeros(rows));
            nulls.iter().for_each(|row| own.set(row, true));
        }
        let end = match spec.fixed {
            Some(bytes) => rows * bytes,
            None => {
                let mut end = 0;
                // One for the end of the last key.
                self.starts.reserve(rows + 1);
                for row in 0..rows {
                    self.starts.push(end);
                    let parts = spec.parts.iter().enumerate();
                    let bytes = parts.map(|(i, part)| part_bytes(part, column(i), row));
                    end += bytes.sum::<usize>();
                }
                end
            }
        };
        self.bytes.clear();
        self.bytes.resize(end, 0);
    }

    /// So many bytes of a row's key behind those that were taken; of a key of fixed length, all that the part at hand has.
    fn take(&mut self, row: usize, bytes: usize) -> &mut [u8] {
        let start = match self.fixed {
            Some(width) => row * width + self.passed,
            None => {
                self.starts[row] += bytes;
                self.starts[row] - bytes
            }
        };
        &mut self.bytes[start..start + bytes]
    }

    /// Each start has moved to its key's end, which is the next one's start.
    fn finish(&mut self) {
        if self.fixed.is_none() {
            self.starts.insert(0, 0);
        }
    }
}

/// Turns the bytes that all keys with some prefix begin with into the least bytes that are greater than all such keys. False
/// if there are none: the bytes were all 0xFF, or there were none.
pub fn after_prefix(prefix: &mut Vec<u8>) -> bool {
    while let Some(last) = prefix.pop() {
        if last < u8::MAX {
            prefix.push(last + 1);
            return true;
        }
    }
    false
}

fn encode_value(part: &KeyPart, value: &Value, out: &mut Vec<u8>) {
    if value.is_null() {
        assert!(part.nullable, "NULL in a part of a key that is not nullable");
        out.push(part.null_marker());
        out.resize(out.len() + part.value_bytes().unwrap_or(0), 0);
        return;
    }
    if part.nullable {
        out.push(VALUE);
    }
    let start = out.len();
    match (value, part.ty.native()) {
        (Value::Bool(b), NativeType::Bool) => out.push(u8::from(*b)),
        (Value::Int(v), NativeType::I16) => out.extend_from_slice(&Ordered::ordered(*v as i16)),
        (Value::Int(v), NativeType::I32) => out.extend_from_slice(&Ordered::ordered(*v as i32)),
        (Value::Int(v), NativeType::I64) => out.extend_from_slice(&Ordered::ordered(*v as i64)),
        (Value::Int(v), NativeType::I128) => out.extend_from_slice(&Ordered::ordered(*v)),
        (Value::Double(d), NativeType::F64) => out.extend_from_slice(&Ordered::ordered(*d)),
        (Value::Interval(i), NativeType::I128) => out.extend_from_slice(&Ordered::ordered(interval_span(*i))),
        (Value::Text(_) | Value::Bytes(_), NativeType::String) => {
            let text = part.significant(value.as_bytes().unwrap_or_default());
            out.resize(start + string_bytes(&text), 0);
            write_string(&text, &mut out[start..]);
        }
        (value, native) => unreachable!("{value:?} in a key's part that is held as {native:?}"),
    }
    if part.descending {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}

fn encode_column(part: &KeyPart, column: &ColumnVector, out: &mut EncodedKeys) {
    match part.ty.native() {
        NativeType::Bool => encode_fixed(part, column, out, |row| [column.values::<u8>()[row]]),
        NativeType::I16 => encode_fixed(part, column, out, ordered_values::<i16, 2>(column)),
        NativeType::I32 => encode_fixed(part, column, out, ordered_values::<i32, 4>(column)),
        NativeType::I64 => encode_fixed(part, column, out, ordered_values::<i64, 8>(column)),
        NativeType::F64 => encode_fixed(part, column, out, ordered_values::<f64, 8>(column)),
        NativeType::I128 if part.ty.is_span() => {
            let values = column.values::<i128>();
            let span = |row: usize| interval_span(Interval::from_native(values[row])).ordered();
            encode_fixed(part, column, out, span);
        }
        NativeType::I128 => encode_fixed(part, column, out, ordered_values::<i128, 16>(column)),
        NativeType::String => encode_strings(part, column, out),
    }
}

fn ordered_values<T: crate::Native + Ordered<N>, const N: usize>(
    column: &ColumnVector,
) -> impl Fn(usize) -> [u8; N] {
    let values = column.values::<T>();
    |row| values[row].ordered()
}

fn encode_fixed<const N: usize>(
    part: &KeyPart,
    column: &ColumnVector,
    out: &mut EncodedKeys,
    value: impl Fn(usize) -> [u8; N],
) {
    let marker = usize::from(part.nullable);
    for row in 0..column.len() {
        let place = out.take(row, marker + N);
        if part.nullable {
            let null = column.is_null(row);
            place[0] = if null { part.null_marker() } else { VALUE };
            if null {
                continue;
            }
        }
        let mut bytes = value(row);
        if part.descending {
            bytes = bytes.map(|b| !b);
        }
        place[marker..].copy_from_slice(&bytes);
    }
}

fn encode_strings(part: &KeyPart, column: &ColumnVector, out: &mut EncodedKeys) {
    for row in 0..column.len() {
        if part.nullable {
            let null = column.is_null(row);
            out.take(row, 1)[0] = if null { part.null_marker() } else { VALUE };
            if null {
                continue;
            }
        }
        let text = text_of(part, column, row);
        let place = out.take(row, string_bytes(&text));
        write_string(&text, place);
        if part.descending {
            place.iter_mut().for_each(|b| *b = !*b);
        }
    }
}

/// Bytes of a row's part, marker included.
fn part_bytes(part: &KeyPart, column: &ColumnVector, row: usize) -> usize {
    let marker = usize::from(part.nullable);
    marker
        + match part.value_bytes() {
            Some(bytes) => bytes,
            None if part.nullable && column.is_null(row) => 0,
            None => string_bytes(&text_of(part, column, row)),
        }
}

/// The bytes of a row's string that count in a key. NULL in a part that is not nullable, which a row has that is going to be
/// refused or was deleted before, counts as the empty string: nobody asks for the key of such a row.
fn text_of<'a>(part: &KeyPart, column: &'a ColumnVector, row: usize) -> Cow<'a, [u8]> {
    match column.is_null(row) {
        true => Cow::Borrowed(&[]),
        false => part.significant(column.string(row)),
    }
}

/// Bytes of a string in a key: escapes and terminator included.
fn string_bytes(text: &[u8]) -> usize {
    text.len() + text.iter().filter(|&&b| b <= ESCAPE).count() + 1
}

/// Writes a string of a key into as many bytes as [`string_bytes`] says.
fn write_string(text: &[u8], place: &mut [u8]) {
    if place.len() == text.len() + 1 {
        place[..text.len()].copy_from_slice(text);
    } else {
        let mut at = 0;
        for &byte in text {
            if byte <= ESCAPE {
                place[at] = ESCAPE;
                place[at + 1] = if byte == ESCAPE { ESCAPED_ONE } else { ESCAPED_ZERO };
                at += 2;
            } else {
                place[at] = byte;
                at += 1;
            }
        }
    }
    place[place.len() - 1] = END;
}

/// A number as bytes that are ordered as the numbers are.
trait Ordered<const N: usize>: Copy {
    fn ordered(self) -> [u8; N];
}

macro_rules! ordered_integers {
    ($($int:ty => $bytes:literal),*) => {
        $(impl Ordered<$bytes> for $int {
            fn ordered(self) -> [u8; $bytes] {
                (self ^ <$int>::MIN).to_be_bytes()
            }
        })*
    };
}

ordered_integers! { i16 => 2, i32 => 4, i64 => 8, i128 => 16 }

impl Ordered<8> for f64 {
    fn ordered(self) -> [u8; 8] {
        // Adding 0 turns −0 into 0.
        let bits = if self.is_nan() {
            f64::NAN.to_bits() & (u64::MAX >> 1)
        } else {
            (self + 0.0).to_bits()
        };
        let sign = 1u64 << 63;
        (if bits & sign != 0 { !bits } else { bits | sign }).to_be_bytes()
    }
}
