//! Text in other encodings than UTF-8, which becomes UTF-8 while a file is read.

use frazil_types::{Error, Result, SqlState};

/// Bytes that are read at once.
const PIECE_BYTES: usize = 1 << 16;

/// The encoding of a file of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    #[default]
    Utf8,
    /// ISO 8859-1: a byte is a character.
    Latin1,
    /// UTF-16. The mark at the beginning tells the order of bytes; without one the low byte comes first.
    Utf16,
}

/// Turns the bytes of a file into UTF-8.
pub(crate) struct Transcoder {
    encoding: Encoding,
    /// Bytes that were read and are not decoded yet: part of a character.
    raw: Vec<u8>,
    /// True once all bytes were read.
    is_over: bool,
    /// The order of bytes of UTF-16, when the first ones were read.
    high_first: Option<bool>,
    /// Decoded text, of which `at` bytes are handed on.
    text: String,
    at: usize,
}

impl Transcoder {
    /// Before the first byte.
    pub fn new(encoding: Encoding) -> Transcoder {
        Transcoder {
            encoding,
            raw: Vec::new(),
            is_over: false,
            high_first: None,
            text: String::new(),
            at: 0,
        }
    }

    /// Fills `to` with text of the bytes that `source` gives; returns the number of bytes, 0 at the end. 22021 for
    /// bytes that are not text in the encoding.
    pub fn read(
        &mut self,
        to: &mut [u8],
        source: &mut dyn FnMut(&mut [u8]) -> Result<usize>,
    ) -> Result<usize> {
        while self.at == self.text.len() {
            self.text.clear();
            self.at = 0;
            if self.is_over {
                return Ok(0);
            }
            let kept = self.raw.len();
            self.raw.resize(kept + PIECE_BYTES, 0);
            let read = source(&mut self.raw[kept..]);
            self.raw.truncate(kept + read.as_ref().map_or(0, |count| *count));
            self.is_over = read? == 0;
            match self.encoding {
                Encoding::Utf8 | Encoding::Latin1 => self.text.extend(self.raw.drain(..).map(char::from)),
                Encoding::Utf16 => self.decode_utf16()?,
            }
        }
        let count = to.len().min(self.text.len() - self.at);
        to[..count].copy_from_slice(&self.text.as_bytes()[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }

    fn decode_utf16(&mut self) -> Result<()> {
        let begins = self.high_first.is_none();
        if begins && self.raw.len() < 2 && !self.is_over {
            return Ok(());
        }
        let high_first = *self.high_first.get_or_insert(self.raw.starts_with(b"\xfe\xff"));
        let unit = |pair: &[u8; 2]| match high_first {
            true => u16::from_be_bytes(*pair),
            false => u16::from_le_bytes(*pair),
        };
        let (pairs, rest) = self.raw.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(unit).collect();
        let mut rest = rest.to_vec();
        if self.is_over && !rest.is_empty() {
            return Err(not_utf16());
        }
        // The other half of a character may be in the next piece.
        let is_half = units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit));
        if is_half && !self.is_over {
            units.pop();
            rest.splice(0..0, pairs[pairs.len() - 1]);
        }
        let mark = usize::from(begins && units.first() == Some(&0xfeff));
        for character in char::decode_utf16(units[mark..].iter().copied()) {
            self.text.push(character.map_err(|_| not_utf16())?);
        }
        self.raw = rest;
        Ok(())
    }
}

fn not_utf16() -> Error {
    let message = "invalid byte sequence for encoding UTF-16";
    Error::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of bytes that come in pieces of a size and are taken in pieces of another one.
    fn decoded(encoding: Encoding, bytes: &[u8], given: usize, taken: usize) -> Result<String> {
        let (mut transcoder, mut rest, mut out) = (Transcoder::new(encoding), bytes, Vec::new());
        let mut source = |to: &mut [u8]| {
            let count = given.min(rest.len()).min(to.len());
            to[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            Ok(count)
        };
        let mut to = vec![0; taken];
        loop {
            match transcoder.read(&mut to, &mut source)? {
                0 => return Ok(String::from_utf8(out).expect("it is UTF-8")),
                count => out.extend_from_slice(&to[..count]),
            }
        }
    }

    #[test]
    fn every_cut_gives_the_same_text() {
        let text = "a,é\n\u{1f600},\u{feff}x\r\nß";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for given in 1..8 {
            for taken in [1, 3, 100] {
                let read = |bytes: &[u8]| decoded(Encoding::Utf16, bytes, given, taken).expect("it is text");
                assert_eq!(read(&little), text);
                assert_eq!(read(&[b"\xff\xfe", &little[..]].concat()), text);
                assert_eq!(read(&[b"\xfe\xff", &big[..]].concat()), text);
                assert_eq!(read(b""), "");
                assert_eq!(
                    decoded(Encoding::Latin1, b"\xe9\xff,a\n", given, taken).expect("any bytes are text"),
                    "éÿ,a\n"
                );
                for broken in [
                    &little[..little.len() - 1],
                    b"\x3d\xd8",
                    b"\x00\xdc\x41\x00",
                    b"\xff",
                ] {
                    let error = decoded(Encoding::Utf16, broken, given, taken).expect_err("it is cut off");
                    assert_eq!(error.state(), SqlState::CHARACTER_NOT_IN_REPERTOIRE);
                }
            }
        }
    }
}
