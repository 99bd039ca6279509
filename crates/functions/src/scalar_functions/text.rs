//! Functions of strings. Positions and lengths count characters, from 1.

use super::bytes;
use super::quoting::push_literal;
use crate::build::TEXT;
use crate::build::text as text_constant;
use crate::function::{Function, Overload, build, functions, plan, rows};
use crate::pattern::starts_with;
use crate::type_rules::Kind::{self, BigInt, Boolean, Integer, Text};
use crate::vector::{Output, Row, RowFn, check_length};
use frazil_plan::{Expr, ScalarFunction};
use frazil_types::value_ops::interval_span;
use frazil_types::{Error, Result, SqlState, Value};
use md5::Md5;
use std::fmt::Write;

/// Two texts.
pub(crate) const TEXTS: &[Kind] = &[Text, Text];

const CHARACTERS: Overload = plan(&[Text], ScalarFunction::Length, Integer);
const BOTH: [Overload; 3] = [
    plan(&[Text], ScalarFunction::Trim, Text),
    plan(&[Text, Text], ScalarFunction::Trim, Text),
    bytes::TRIM,
];

pub(super) const FUNCTIONS: &[Function] = functions! {
    "ascii", [rows(&[Text], |r, o| o.int(r.text(0).chars().next().map_or(0, |c| c as i128)), Integer)],
        "the code point of the first character";
    "bit_length", [rows(&[Text], |r, o| o.int(r.text(0).len() as i128 * 8), Integer), bytes::BIT_LENGTH],
        "number of bits";
    "btrim", BOTH, "the text without blanks, or the characters of the second argument, at both ends";
    "char_length", [CHARACTERS], "number of characters";
    "character_length", [CHARACTERS], "number of characters";
    "chr", [rows(&[Integer], chr, Text)], "the character of a code point";
    "ends_with", [rows(&[Text, Text], |r, o| o.bool(r.text(0).ends_with(r.text(1))), Boolean)],
        "true if the text ends with the second";
    "initcap", [rows(&[Text], initcap, Text)], "each word with its first letter upper case, the rest lower";
    "left", [rows(&[Text, Integer], left, Text)], "the first n characters; negative: all but the last";
    "length", [CHARACTERS, bytes::LENGTH], "number of characters, or of bytes";
    "levenshtein", [rows(&[Text, Text], levenshtein, Integer)],
        "the least number of characters to insert, delete or change (Levenshtein), for texts of up to 255 characters";
    "lower", [plan(&[Text], ScalarFunction::Lower, Text)], "the text in lower case";
    "lpad", [
        build(&[Text, Integer], |a| padded("lpad", lpad, a), Text),
        rows(&[Text, Integer, Text], lpad, Text),
    ], "the text padded at the start, or truncated at the end, to n characters";
    "ltrim", [
        plan(&[Text], ScalarFunction::TrimStart, Text),
        plan(&[Text, Text], ScalarFunction::TrimStart, Text),
        bytes::TRIM_START,
    ], "the text without blanks, or the characters of the second argument, at the start";
    "md5", [rows(&[Text], md5, Text), bytes::MD5], "the MD5 digest, hexadecimal";
    "octet_length", [rows(&[Text], |r, o| o.int(r.text(0).len() as i128), Integer), bytes::LENGTH],
        "number of bytes";
    "overlay", [
        rows(&[Text, Text, Integer], overlay, Text),
        rows(&[Text, Text, Integer, Integer], overlay, Text),
        bytes::OVERLAY,
        bytes::OVERLAY_OF,
    ], "the text with a part from a position replaced by the second";
    "position", [plan(&[Text, Text], ScalarFunction::Position, Integer), bytes::POSITION],
        "the position of the second text in the first, 0 if there is none";
    "quote_literal", [rows(&[Text], quote_literal, Text)], "the value as an SQL literal";
    "repeat", [rows(&[Text, Integer], repeat, Text)], "the text n times";
    "replace", [plan(&[Text, Text, Text], ScalarFunction::Replace, Text)], "the text with every occurrence of the second replaced by the third";
    "reverse", [rows(&[Text], reverse, Text)], "the characters from the last to the first";
    "right", [rows(&[Text, Integer], right, Text)], "the last n characters; negative: all but the first";
    "rpad", [
        build(&[Text, Integer], |a| padded("rpad", rpad, a), Text),
        rows(&[Text, Integer, Text], rpad, Text),
    ], "the text padded or truncated at the end to n characters";
    "rtrim", [
        plan(&[Text], ScalarFunction::TrimEnd, Text),
        plan(&[Text, Text], ScalarFunction::TrimEnd, Text),
        bytes::TRIM_END,
    ], "the text without blanks, or the characters of the second argument, at the end";
    "split_part", [rows(&[Text, Text, Integer], split_part, Text)],
        "the n-th part between separators; negative: from the end";
    "starts_with", [build(&[Text, Text], starts_with, Boolean)], "true if the text begins with the second";
    "strpos", [plan(&[Text, Text], ScalarFunction::Position, Integer)], "the position of the second text in the first, 0 if there is none";
    "substr", [
        plan(&[Text, Integer], ScalarFunction::Substring, Text),
        plan(&[Text, Integer, Integer], ScalarFunction::Substring, Text),
        bytes::SUBSTRING,
        bytes::SUBSTRING_OF,
    ], "the part from a position, of a length";
    "to_hex", [
        rows(&[Integer], |r, o| hex(r.int(0) as u32 as u64, o), Text),
        rows(&[BigInt], |r, o| hex(r.int(0) as u64, o), Text),
    ], "the integer in hexadecimal";
    "translate", [rows(&[Text, Text, Text], translate, Text)],
        "the text with characters of the second replaced by those of the third, or removed";
    "trim", BOTH, "the text without blanks, or the characters of the second argument, at both ends";
    "upper", [plan(&[Text], ScalarFunction::Upper, Text)], "the text in upper case";
};

/// lpad and rpad with blanks.
fn padded(name: &'static str, f: RowFn, mut arguments: Vec<Expr>) -> Result<Expr> {
    arguments.push(text_constant(" "));
    Ok(crate::vector::rows(
        name,
        crate::vector::OnNull::Null,
        f,
        arguments,
        TEXT,
    ))
}

fn chr(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let invalid = |message: &str| Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message);
    match row.int(0) {
        0 => Err(invalid("null character not permitted")),
        code if code < 0 => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            "character number must be positive",
        )),
        code => {
            let c = u32::try_from(code).ok().and_then(char::from_u32);
            let c =
                c.ok_or_else(|| invalid(&format!("requested character not valid for encoding: {code}")))?;
            out.scratch.push(c);
            out.scratch()
        }
    }
}

/// Bytes between two looks at whether the statement is cancelled: some 100 µs.
const PIECE: usize = 64 << 10;

/// Where the characters of the first [`PIECE`] bytes end.
fn end_of_piece(text: &str) -> usize {
    let mut end = PIECE.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Lets `each` add to the text in the making for every character of a text. Error 57014.
fn for_chars(text: &str, out: &mut Output, mut each: impl FnMut(char, &mut String)) -> Result<()> {
    let mut rest = text;
    while !rest.is_empty() {
        out.check()?;
        let (piece, later) = rest.split_at(end_of_piece(rest));
        piece.chars().for_each(|c| each(c, &mut out.scratch));
        rest = later;
    }
    Ok(())
}

/// Adds a text `n` times to the one in the making, for which there is room. Error 57014.
fn add_repeated(text: &str, n: usize, out: &mut Output) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let at_once = (PIECE / text.len()).clamp(1, n.max(1));
    let piece = text.repeat(at_once);
    for _ in 0..n / at_once {
        out.check()?;
        out.scratch.push_str(&piece);
    }
    out.scratch.push_str(&piece[..n % at_once * text.len()]);
    Ok(())
}

fn initcap(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let mut inside = false;
    for_chars(row.text(0), out, |c, made| {
        if inside {
            made.extend(c.to_lowercase());
        } else {
            made.extend(c.to_uppercase());
        }
        inside = c.is_alphanumeric();
    })?;
    out.scratch()
}

/// Where character `n`, from 0, begins; the text's end where it has fewer.
fn byte_of(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |c| c.0)
}

/// Where the last `n` characters begin.
fn byte_from_end(text: &str, n: usize) -> usize {
    match n.checked_sub(1) {
        None => text.len(),
        Some(before) => text.char_indices().rev().nth(before).map_or(0, |c| c.0),
    }
}

fn magnitude(n: i64) -> usize {
    usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX)
}

fn left(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (text, n) = (row.text(0), row.int(1));
    let end = if n < 0 {
        byte_from_end(text, magnitude(n))
    } else {
        byte_of(text, magnitude(n))
    };
    out.text(&text[..end])
}

fn right(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (text, n) = (row.text(0), row.int(1));
    let start = if n < 0 {
        byte_of(text, magnitude(n))
    } else {
        byte_from_end(text, magnitude(n))
    };
    out.text(&text[start..])
}

/// The distance of texts up to 255 characters, as PostgreSQL's. Error 22023.
fn levenshtein(row: &Row<'_>, out: &mut Output) -> Result<()> {
    const LONGEST: usize = 255;
    let (a, b) = (row.text(0), row.text(1));
    let b: Vec<char> = b.chars().take(LONGEST + 1).collect();
    if b.len() > LONGEST || a.chars().nth(LONGEST).is_some() {
        let message = format!("levenshtein argument exceeds maximum length of {LONGEST} characters");
        return Err(Error::new(SqlState::INVALID_PARAMETER, message));
    }
    let mut costs: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut costs[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = costs[j + 1];
            costs[j + 1] = change.min(diagonal + 1).min(costs[j] + 1);
        }
    }
    out.int(costs[b.len()] as i128)
}

/// The characters that fill a text up to `n`, after it was cut; what is refused is refused before it is made.
fn pad<'a>(row: &'a Row<'_>, out: &mut Output) -> Result<(&'a str, usize)> {
    let (text, n) = (row.text(0), row.int(1).max(0));
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    check_length(n)?;
    let length = text.chars().count();
    if length >= n {
        return Ok((&text[..byte_of(text, n)], 0));
    }
    let missing = n - length;
    let filler = row.text(2);
    if filler.is_empty() {
        return Ok((text, 0));
    }
    let whole = missing / filler.chars().count().max(1) + 1;
    out.room(filler.len().saturating_mul(whole).saturating_add(text.len()))?;
    Ok((text, missing))
}

fn lpad(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (text, missing) = pad(row, out)?;
    fill(row.text(2), missing, out)?;
    out.scratch.push_str(text);
    out.scratch()
}

fn rpad(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (text, missing) = pad(row, out)?;
    out.scratch.push_str(text);
    fill(row.text(2), missing, out)?;
    out.scratch()
}

/// So many characters, those of the filler again and again.
fn fill(filler: &str, missing: usize, out: &mut Output) -> Result<()> {
    let length = filler.chars().count().max(1);
    add_repeated(filler, missing / length, out)?;
    out.scratch.push_str(&filler[..byte_of(filler, missing % length)]);
    Ok(())
}

fn md5(row: &Row<'_>, out: &mut Output) -> Result<()> {
    for byte in bytes::digest::<Md5>(row.text(0).as_bytes(), out)? {
        let _ = write!(out.scratch, "{byte:02x}");
    }
    out.scratch()
}

/// overlay(text, with, from [, count]). Error 22011 for a position below 1.
fn overlay(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (text, with, from) = (row.text(0), row.text(1), row.int(2));
    let count = if row.arguments() > 3 {
        row.int(3)
    } else {
        with.chars().count() as i64
    };
    if from < 1 {
        return Err(Error::new(
            SqlState::SUBSTRING_ERROR,
            "negative substring length not allowed",
        ));
    }
    let start = byte_of(text, magnitude(from - 1));
    let behind = from.saturating_sub(1).saturating_add(count).max(0);
    let end = byte_of(text, magnitude(behind));
    out.scratch.push_str(&text[..start]);
    out.scratch.push_str(with);
    out.scratch.push_str(&text[end..]);
    out.scratch()
}

fn quote_literal(row: &Row<'_>, out: &mut Output) -> Result<()> {
    check_length(row.text(0).len().saturating_mul(2))?;
    push_literal(row.text(0), &mut out.scratch);
    out.scratch()
}

fn repeat(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (text, n) = (row.text(0), row.int(1).max(0));
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    out.room(text.len().saturating_mul(n))?;
    add_repeated(text, n, out)?;
    out.scratch()
}

fn reverse(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let mut rest = row.text(0);
    while !rest.is_empty() {
        out.check()?;
        let mut start = rest.len().saturating_sub(PIECE);
        while !rest.is_char_boundary(start) {
            start -= 1;
        }
        let (earlier, piece) = rest.split_at(start);
        out.scratch.extend(piece.chars().rev());
        rest = earlier;
    }
    out.scratch()
}

/// Parts of a text between two looks at the cancel flag.
const POLLED_PARTS: usize = 1 << 14;

/// split_part(text, separator, n). Error 22023 for 0.
fn split_part(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (text, separator, n) = (row.text(0), row.text(1), row.int(2));
    if n == 0 {
        return Err(Error::new(
            SqlState::INVALID_PARAMETER,
            "field position must not be zero",
        ));
    }
    if separator.is_empty() {
        return out.text(if matches!(n, 1 | -1) { text } else { "" });
    }
    let part = match n > 0 {
        true => nth(text.split(separator), n, out)?,
        false => nth(text.rsplit(separator), n, out)?,
    };
    out.text(part.unwrap_or(""))
}

/// The part of a number from 1 on, whatever its sign. 57014.
fn nth<'t>(parts: impl Iterator<Item = &'t str>, n: i64, out: &Output) -> Result<Option<&'t str>> {
    let wanted = magnitude(n) - 1;
    for (at, part) in parts.enumerate() {
        if at == wanted {
            return Ok(Some(part));
        }
        if at % POLLED_PARTS == 0 {
            out.check()?;
        }
    }
    Ok(None)
}

fn hex(bits: u64, out: &mut Output) -> Result<()> {
    let _ = write!(out.scratch, "{bits:x}");
    out.scratch()
}

fn translate(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let mut to = row.text(2).chars();
    let mut becomes: Vec<(char, Option<char>)> = row.text(1).chars().map(|from| (from, to.next())).collect();
    // Of a character that is there twice the first counts.
    becomes.sort_by_key(|pair| pair.0);
    becomes.dedup_by_key(|pair| pair.0);
    for_chars(row.text(0), out, |c, made| {
        match becomes.binary_search_by_key(&c, |pair| pair.0) {
            Ok(at) => made.extend(becomes[at].1),
            Err(_) => made.push(c),
        }
    })?;
    out.scratch()
}

/// A number of the arguments, NULLs among them: FNV-1a over their bytes, whose bits are then mixed.
pub(super) fn hash(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut feed = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for argument in 0..row.arguments() {
        match row.value(argument) {
            Value::Null => feed(&[0]),
            Value::Bool(b) => feed(&[1, u8::from(b)]),
            Value::Int(v) => feed(&v.to_le_bytes()),
            // −0 is 0, and every NaN is one.
            Value::Double(v) if v.is_nan() => feed(&f64::NAN.to_le_bytes()),
            Value::Double(v) => feed(&(v + 0.0).to_le_bytes()),
            Value::Interval(i) => feed(&interval_span(i).to_le_bytes()),
            Value::Text(text) => feed(text.as_bytes()),
            Value::Bytes(bytes) => feed(&bytes),
        }
        feed(&[0xff]);
    }
    let mixed = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    out.int(i128::from((mixed ^ mixed >> 32) as i64))
}
