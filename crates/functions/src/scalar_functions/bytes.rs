//! Functions of bytes. Positions count bytes, from 1; `get_byte` and its like count from 0.

use crate::build::{TEXT, once};
use crate::convert::convert;
use crate::function::{Function, Overload, functions, rows};
use crate::type_rules::Kind::{self, BigInt, Bytea, Integer, Text};
use crate::vector::{Output, Row, check_length};
use crate::{Operand, Typing};
use frazil_plan::{Columns, Expr};
use frazil_types::sql_type::{escaped_bytes, hex_digits, write_hex};
use frazil_types::value_ops::CastLength;
use frazil_types::{Error, Result, Span, SqlState, Value};
use md5::{Digest, Md5};
use sha2::{Sha224, Sha256, Sha384, Sha512};
use std::fmt::Write;

/// Letters of base64, each for six bits.
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Letters of a line of base64, as PostgreSQL breaks it.
const BASE64_LINE: usize = 76;

/// Two values of bytes.
pub(crate) const BINARIES: &[Kind] = &[Bytea, Bytea];

/// `length` and `octet_length`.
pub(super) const LENGTH: Overload = rows(&[Bytea], |r, o| o.int(r.bytes(0).len() as i128), Integer);
/// `bit_length`.
pub(super) const BIT_LENGTH: Overload = rows(&[Bytea], |r, o| o.int(r.bytes(0).len() as i128 * 8), Integer);
/// Bytes that a digest takes between two looks at the cancel flag: about two milliseconds.
const DIGESTED_BYTES: usize = 1 << 20;

/// The digest of bytes. 57014.
pub(super) fn digest<D: Digest>(bytes: &[u8], out: &Output<'_>) -> Result<Vec<u8>> {
    let mut digest = D::new();
    for piece in bytes.chunks(DIGESTED_BYTES) {
        out.check()?;
        digest.update(piece);
    }
    Ok(digest.finalize().to_vec())
}

/// `md5`.
pub(super) const MD5: Overload = rows(
    &[Bytea],
    |r, o| hexadecimal(&digest::<Md5>(r.bytes(0), o)?, o),
    Text,
);
/// `substr` and `substring` from a position.
pub(super) const SUBSTRING: Overload = rows(&[Bytea, Integer], substring, Bytea);
/// The same, of a length.
pub(super) const SUBSTRING_OF: Overload = rows(&[Bytea, Integer, Integer], substring, Bytea);
/// `position`.
pub(super) const POSITION: Overload = rows(&[Bytea, Bytea], position, Integer);
/// `overlay`.
pub(super) const OVERLAY: Overload = rows(&[Bytea, Bytea, Integer], overlay, Bytea);
/// `overlay` of so many bytes.
pub(super) const OVERLAY_OF: Overload = rows(&[Bytea, Bytea, Integer, Integer], overlay, Bytea);
/// `btrim`.
pub(super) const TRIM: Overload = rows(&[Bytea, Bytea], |r, o| o.bytes(trimmed(r, true, true)), Bytea);
/// `ltrim`.
pub(super) const TRIM_START: Overload = rows(&[Bytea, Bytea], |r, o| o.bytes(trimmed(r, true, false)), Bytea);
/// `rtrim`.
pub(super) const TRIM_END: Overload = rows(&[Bytea, Bytea], |r, o| o.bytes(trimmed(r, false, true)), Bytea);

pub(crate) const FUNCTIONS: &[Function] = functions! {
    "bit_count", [rows(&[Bytea], bit_count, BigInt)], "number of bits that are 1";
    "decode", [rows(&[Text, Text], decode, Bytea)], "the bytes of a text in base64, escape or hex";
    "encode", [rows(&[Bytea, Text], encode, Text)], "bytes as a text in base64, escape or hex";
    "get_bit", [rows(&[Bytea, BigInt], get_bit, Integer)], "the bit with a number; bit 0 is the lowest of the first byte";
    "get_byte", [rows(&[Bytea, Integer], get_byte, Integer)], "the byte with a number; the first byte is 0";
    "set_bit", [rows(&[Bytea, BigInt, Integer], set_bit, Bytea)], "the bytes with another bit at a number";
    "set_byte", [rows(&[Bytea, Integer, Integer], set_byte, Bytea)], "the bytes with another byte at a number";
    "sha224", [rows(&[Bytea], |r, o| digest::<Sha224>(r.bytes(0), o).and_then(|d| o.bytes(&d)), Bytea)], "the SHA-224 digest";
    "sha256", [rows(&[Bytea], |r, o| digest::<Sha256>(r.bytes(0), o).and_then(|d| o.bytes(&d)), Bytea)], "the SHA-256 digest";
    "sha384", [rows(&[Bytea], |r, o| digest::<Sha384>(r.bytes(0), o).and_then(|d| o.bytes(&d)), Bytea)], "the SHA-384 digest";
    "sha512", [rows(&[Bytea], |r, o| digest::<Sha512>(r.bytes(0), o).and_then(|d| o.bytes(&d)), Bytea)], "the SHA-512 digest";
};

/// Functions behind operators, by PostgreSQL's names.
pub(crate) const OPERATORS: &[Function] = functions! {
    "byteacat", [rows(&[Bytea, Bytea], concatenation, Bytea)], "both one behind the other";
};

fn hexadecimal(bytes: &[u8], out: &mut Output) -> Result<()> {
    out.room(2 * bytes.len())?;
    for piece in bytes.chunks(ENCODED_BYTES) {
        out.check()?;
        let _ = write_hex(&mut out.scratch, piece);
    }
    out.scratch()
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(SqlState::INVALID_PARAMETER, message)
}

fn bit_count(row: &Row<'_>, out: &mut Output) -> Result<()> {
    out.int(row.bytes(0).iter().map(|b| i128::from(b.count_ones())).sum())
}

fn concatenation(row: &Row<'_>, out: &mut Output) -> Result<()> {
    check_length(row.bytes(0).len() + row.bytes(1).len())?;
    out.bytes(&[row.bytes(0), row.bytes(1)].concat())
}

/// The bytes from `start`, from 1, that are there of `length`. Error 22011 for a negative length.
impl Typing {
    /// `octet_length` of a char(n), the blanks counted that it is padded with.
    pub(crate) fn padded_octets(&self, x: Expr, columns: &mut Columns) -> Result<Expr> {
        let length = x.ty.length().unwrap_or_default();
        once(x, columns, |x, columns| {
            let text = Operand::from(convert(x, TEXT, CastLength::Refuse));
            let octets = self.call_of("octet_length", vec![text.clone()], columns)?;
            let characters = self.call_of("char_length", vec![text], columns)?;
            let padded = Expr::literal(Value::Int(length.into())).into();
            let blanks = self.infix("-", padded, characters.into(), Span::NONE, columns)?;
            let all = self.infix("+", octets.into(), blanks, Span::NONE, columns)?;
            self.settle(all)
        })
    }
}

fn part(bytes: &[u8], start: i64, length: Option<i64>) -> Result<&[u8]> {
    if length.is_some_and(|length| length < 0) {
        let message = "negative substring length not allowed";
        return Err(Error::new(SqlState::SUBSTRING_ERROR, message));
    }
    let all = bytes.len() as i64;
    let end = length.map_or(all, |length| (start - 1).saturating_add(length));
    let start = (start - 1).clamp(0, all);
    Ok(&bytes[start as usize..end.clamp(start, all) as usize])
}

fn substring(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let length = (row.arguments() > 2).then(|| row.int(2));
    out.bytes(part(row.bytes(0), row.int(1), length)?)
}

fn position(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (bytes, wanted) = (row.bytes(0), row.bytes(1));
    if wanted.is_empty() {
        return out.int(1);
    }
    let found = memchr::memmem::find(bytes, wanted);
    out.int(found.map_or(0, |at| at as i128 + 1))
}

/// overlay(bytes, with, from [, count]). Error 22011 for a position below 1.
fn overlay(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (bytes, with, from) = (row.bytes(0), row.bytes(1), row.int(2));
    let count = if row.arguments() > 3 {
        row.int(3)
    } else {
        with.len() as i64
    };
    let before = part(bytes, 1, Some(from - 1)).ok().filter(|_| from > 0);
    let message = "negative substring length not allowed";
    let before = before.ok_or_else(|| Error::new(SqlState::SUBSTRING_ERROR, message))?;
    let behind = part(bytes, from + count, None)?;
    check_length(before.len() + with.len() + behind.len())?;
    out.bytes(&[before, with, behind].concat())
}

/// The first argument without bytes of the second at its ends.
fn trimmed<'a>(row: &'a Row<'_>, start: bool, end: bool) -> &'a [u8] {
    let (mut bytes, dropped) = (row.bytes(0), row.bytes(1));
    while let [first, rest @ ..] = bytes
        && start
        && dropped.contains(first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && end
        && dropped.contains(last)
    {
        bytes = rest;
    }
    bytes
}

/// A number within `count`. Error 2202E.
fn index(number: i64, count: usize) -> Result<usize> {
    let found = usize::try_from(number).ok().filter(|&at| at < count);
    found.ok_or_else(|| {
        let last = count as i64 - 1;
        let message = format!("index {number} out of valid range, 0..{last}");
        Error::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
    })
}

fn get_byte(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let bytes = row.bytes(0);
    out.int(bytes[index(row.int(1), bytes.len())?].into())
}

fn set_byte(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let mut bytes = row.bytes(0).to_vec();
    let at = index(row.int(1), bytes.len())?;
    bytes[at] = row.int(2) as u8;
    out.bytes(&bytes)
}

fn get_bit(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let bytes = row.bytes(0);
    let at = index(row.int(1), bytes.len() * 8)?;
    out.int((bytes[at / 8] >> (at % 8) & 1).into())
}

/// set_bit(bytes, number, bit). Error 22023 for a bit that is neither 0 nor 1.
fn set_bit(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let mut bytes = row.bytes(0).to_vec();
    let at = index(row.int(1), bytes.len() * 8)?;
    let bit = 1 << (at % 8);
    match row.int(2) {
        0 => bytes[at / 8] &= !bit,
        1 => bytes[at / 8] |= bit,
        _ => return Err(invalid("new bit must be 0 or 1")),
    }
    out.bytes(&bytes)
}

fn unrecognized(format: &str) -> Error {
    invalid(format!("unrecognized encoding: \"{format}\""))
}

/// Bytes that are encoded between two looks at the cancel flag: those of whole lines of base64.
const ENCODED_BYTES: usize = BASE64_LINE / 4 * 3 * 1_024;

fn encode(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (bytes, format) = (row.bytes(0), row.text(1));
    match format.to_ascii_lowercase().as_str() {
        "hex" => hexadecimal(bytes, out),
        "escape" => {
            out.room(4 * bytes.len())?;
            for piece in bytes.chunks(ENCODED_BYTES) {
                out.check()?;
                for &byte in piece {
                    // A String takes all that is written.
                    let _ = match byte {
                        b'\\' => out.scratch.write_str("\\\\"),
                        0 | 128.. => write!(out.scratch, "\\{byte:03o}"),
                        byte => out.scratch.write_char(byte.into()),
                    };
                }
            }
            out.scratch()
        }
        "base64" => {
            out.room(bytes.len() / 3 * 4 + 4 + bytes.len() / BASE64_LINE * 2)?;
            for (at, piece) in bytes.chunks(ENCODED_BYTES).enumerate() {
                out.check()?;
                if at > 0 {
                    out.scratch.push('\n');
                }
                write_base64(piece, &mut out.scratch);
            }
            out.scratch()
        }
        _ => Err(unrecognized(format)),
    }
}

fn write_base64(bytes: &[u8], out: &mut String) {
    for (at, three) in bytes.chunks(3).enumerate() {
        if at > 0 && at % (BASE64_LINE / 4) == 0 {
            out.push('\n');
        }
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for letter in 0..4 {
            out.push(match letter > three.len() {
                true => '=',
                false => BASE64[(bits >> (18 - 6 * letter) & 63) as usize].into(),
            });
        }
    }
}

fn decode(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (text, format) = (row.text(0), row.text(1));
    match format.to_ascii_lowercase().as_str() {
        "hex" => out.bytes(&hex_digits(text)?),
        // Whatever begins with \x are other bytes when bytea reads it.
        "escape" => out.bytes(&escaped_bytes(text)?),
        "base64" => out.bytes(&read_base64(text)?),
        _ => Err(unrecognized(format)),
    }
}

/// Reads base64, blanks and line ends within it. Error 22023.
fn read_base64(text: &str) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut letters, mut end) = (0_u32, 0, 0);
    let unexpected = |c: char| {
        invalid(format!(
            "invalid symbol \"{c}\" found while decoding base64 sequence"
        ))
    };
    for c in text.chars() {
        if matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        let value = match c {
            '=' if end == 0 && letters >= 2 => {
                end = letters;
                0
            }
            '=' if end == 2 && letters == 3 => 0,
            '=' => return Err(invalid("unexpected \"=\" while decoding base64 sequence")),
            c => match BASE64.iter().position(|&b| char::from(b) == c) {
                Some(value) if end == 0 => value as u32,
                _ => return Err(unexpected(c)),
            },
        };
        bits = bits << 6 | value;
        letters += 1;
        if letters == 4 {
            let bytes = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
            out.extend_from_slice(match end {
                0 => &bytes,
                end => &bytes[..end - 1],
            });
            (bits, letters) = (0, 0);
        }
    }
    if letters != 0 {
        return Err(invalid("invalid base64 end sequence")
            .with_hint("Input data is missing padding, is truncated, or is otherwise corrupted."));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_comes_back() {
        for length in 0..200usize {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 37 + length) as u8).collect();
            let mut text = String::new();
            write_base64(&bytes, &mut text);
            assert_eq!(read_base64(&text).unwrap(), bytes);
            assert!(text.lines().all(|line| line.len() <= BASE64_LINE));
        }
        for text in ["a", "ab", "abc", "ab=", "=", "a===", "ab=c", "ab==c", "a#cd"] {
            assert_eq!(read_base64(text).unwrap_err().state().0, "22023", "{text}");
        }
    }
}
