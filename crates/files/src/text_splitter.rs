//! Splits PostgreSQL's text format into fields: a line a row, a delimiter between fields, escapes by backslashes. A
//! field that is as it stands the text of NULL is NULL; `\.` alone in a line ends the rows.

use crate::csv_splitter::{Record, Split};
use memchr::{memchr, memchr3};

/// Marks of the format.
#[derive(Clone, Copy, Debug)]
pub struct TextMarks<'a> {
    /// Between fields.
    pub delimiter: u8,
    /// The text that stands for NULL, before escapes are read.
    pub null: &'a [u8],
}

/// The line behind the last row.
const END: &[u8] = b"\\.";

/// Splits the first record off `input`. `last`: nothing follows the input.
pub fn split_text(input: &[u8], marks: TextMarks<'_>, last: bool, record: &mut Record) -> Split {
    record.clear();
    if let Some(end) = end_mark(input, last) {
        return end;
    }
    let (mut at, mut begin, mut lines) = (0, 0, 1);
    loop {
        let rest = &input[at..];
        let mark = memchr3(b'\\', marks.delimiter, b'\n', rest);
        let found = memchr(b'\r', &rest[..mark.unwrap_or(rest.len())]).or(mark);
        let Some(found) = found else {
            if !last {
                return Split::Incomplete;
            }
            record.extend(rest);
            record.end_text_field(&input[begin..], marks.null);
            let bytes = input.len();
            return Split::Record { bytes, lines };
        };
        record.extend(&rest[..found]);
        at += found;
        let byte = input[at];
        if byte == b'\\' {
            // The longest escape, and a byte that is none of it.
            if !last && input.len() < at + 5 {
                return Split::Incomplete;
            }
            let (value, length) = escaped(&input[at + 1..]);
            lines += u64::from(value == Some(b'\n') && length == 1 && input[at + 1] == b'\n');
            record.extend(&[value.unwrap_or(b'\\')]);
            at += 1 + length;
            continue;
        }
        record.end_text_field(&input[begin..at], marks.null);
        at += 1;
        if byte == marks.delimiter {
            begin = at;
            continue;
        }
        if byte == b'\r' {
            match input.get(at) {
                Some(b'\n') => at += 1,
                None if !last => return Split::Incomplete,
                Some(_) | None => {}
            }
        }
        return Split::Record { bytes: at, lines };
    }
}

/// The end of the rows, if it is in the first line; `Incomplete` where more input may tell.
fn end_mark(input: &[u8], last: bool) -> Option<Split> {
    if !last && input.len() < END.len() + 1 && END.starts_with(&input[..input.len().min(END.len())]) {
        return Some(Split::Incomplete);
    }
    let behind = input.strip_prefix(END)?;
    matches!(behind.first(), None | Some(b'\n' | b'\r')).then_some(Split::End)
}

/// The byte that an escape behind a backslash means, and the length of the escape. `None` at the end of the input.
fn escaped(input: &[u8]) -> (Option<u8>, usize) {
    let Some(&first) = input.first() else {
        return (None, 0);
    };
    let digits = |from: usize, most: usize, radix: u32| {
        let digit = |b: &u8| char::from(*b).to_digit(radix);
        let values: Vec<u32> = input[from..].iter().take(most).map_while(digit).collect();
        let value = values.iter().fold(0, |value, digit| value * radix + digit);
        (value as u8, values.len())
    };
    match first {
        b'b' => (Some(8), 1),
        b'f' => (Some(12), 1),
        b'n' => (Some(b'\n'), 1),
        b'r' => (Some(b'\r'), 1),
        b't' => (Some(b'\t'), 1),
        b'v' => (Some(11), 1),
        b'0'..=b'7' => {
            let (value, count) = digits(0, 3, 8);
            (Some(value), count)
        }
        b'x' => match digits(1, 2, 16) {
            (_, 0) => (Some(b'x'), 1),
            (value, count) => (Some(value), 1 + count),
        },
        other => (Some(other), 1),
    }
}

/// Appends a text with escapes for what the format gives a meaning.
pub fn push_escaped(out: &mut Vec<u8>, text: &[u8], delimiter: u8) {
    for &byte in text {
        let letter = match byte {
            8 => b'b',
            12 => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            11 => b'v',
            b'\\' => b'\\',
            byte if byte == delimiter => byte,
            byte => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_testkit::Random;

    const MARKS: TextMarks<'_> = TextMarks {
        delimiter: b'\t',
        null: b"\\N",
    };

    fn fields(input: &[u8]) -> (Vec<Option<Vec<u8>>>, Split) {
        let mut record = Record::default();
        let split = split_text(input, MARKS, true, &mut record);
        let field = |i| match record.field(i) {
            (_, false) => None,
            (bytes, true) => Some(bytes.to_vec()),
        };
        ((0..record.len()).map(field).collect(), split)
    }

    #[test]
    fn escapes_nulls_and_line_ends_are_postgresqls() {
        let some = |text: &str| Some(text.as_bytes().to_vec());
        let (found, split) = fields(b"a\\tb\t\\N\t\t\\\\N\\101\\x4a\\q\r\nrest");
        assert_eq!(found, [some("a\tb"), None, some(""), some("\\NAJq")]);
        assert_eq!(split, Split::Record { bytes: 24, lines: 1 });
        assert_eq!(fields(b"a\\\nb\n").0, [some("a\nb")]);
        assert_eq!(fields(b"a\\\nb\n").1, Split::Record { bytes: 5, lines: 2 });
        assert_eq!(fields(b"last\\").0, [some("last\\")]);
        assert_eq!(fields(b"\\.\nmore").1, Split::End);
        assert_eq!(fields(b"\\.").1, Split::End);
    }

    #[test]
    fn what_is_written_is_read_and_a_cut_is_incomplete_or_the_same() {
        let mut random = Random::new(48);
        for _ in 0..2000 {
            let alphabet = b"ab\\\t\n\r.N0x7\x08\x0b\x0c,";
            let field = |random: &mut Random| {
                let length = random.index(6);
                let letters = (0..length).map(|_| alphabet[random.index(alphabet.len())]);
                letters.collect::<Vec<u8>>()
            };
            let count = 1 + random.index(3);
            let values: Vec<Option<Vec<u8>>> = (0..count)
                .map(|_| (random.index(4) > 0).then(|| field(&mut random)))
                .collect();
            let mut text = Vec::new();
            for (i, value) in values.iter().enumerate() {
                if i > 0 {
                    text.push(b'\t');
                }
                match value {
                    Some(value) => push_escaped(&mut text, value, b'\t'),
                    None => text.extend_from_slice(b"\\N"),
                }
            }
            text.push(b'\n');
            let (found, split) = fields(&text);
            assert_eq!(found, values, "{text:?}");
            let mut record = Record::default();
            for cut in 0..text.len() {
                let of_part = split_text(&text[..cut], MARKS, false, &mut record);
                assert!(
                    of_part == Split::Incomplete || of_part == split,
                    "{text:?} at {cut}"
                );
            }
        }
    }
}
