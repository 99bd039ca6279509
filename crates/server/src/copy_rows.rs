//! The rows of COPY … TO STDOUT among its bytes: PostgreSQL sends each row as a message, and drivers rely on that.

use frazil::CopyFraming;
use memchr::{memchr, memchr3};
use std::ops::Range;

/// Bytes of the binary format's header as `frazil` writes it: signature, flags, and no more.
pub const HEADER: usize = 19;

/// Finds the ends of rows in bytes that arrive in any pieces.
pub struct CopyRows {
    framing: CopyFraming,
    bytes: Vec<u8>,
    /// Position in `bytes` of the row that is looked for.
    start: usize,
    /// Position of the next look; beyond the end of `bytes` within a long value.
    at: usize,
    /// CSV: true inside quotes.
    is_quoted: bool,
    /// Binary: values of the row that were not seen; `None` before their number.
    values: Option<i16>,
}

impl CopyRows {
    /// No bytes yet, of rows that are told apart in this way.
    pub fn new(framing: CopyFraming) -> CopyRows {
        CopyRows {
            framing,
            bytes: Vec::new(),
            start: 0,
            // The header goes with the first row.
            at: if framing == CopyFraming::Binary { HEADER } else { 0 },
            is_quoted: false,
            values: None,
        }
    }

    /// Adds bytes, and forgets the rows that were found.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.at -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next row that is whole.
    pub fn row(&mut self) -> Option<&[u8]> {
        let end = match self.framing {
            CopyFraming::Lines => self.line(),
            CopyFraming::Quoted { quote, escape } => self.quoted_line(quote, escape),
            CopyFraming::Binary => self.binary(),
        }?;
        let row = std::mem::replace(&mut self.start, end)..end;
        Some(&self.bytes[row])
    }

    /// The bytes behind the last row that is whole.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn line(&mut self) -> Option<usize> {
        let end = memchr(b'\n', &self.bytes[self.at..]);
        self.at = end.map_or(self.bytes.len(), |end| self.at + end + 1);
        end.map(|_| self.at)
    }

    /// A quote within quotes is doubled, which leaves the state as it is, or has the escape before it.
    fn quoted_line(&mut self, quote: u8, escape: u8) -> Option<usize> {
        while let Some(next) = memchr3(b'\n', quote, escape, self.bytes.get(self.at..)?) {
            self.at += next;
            let byte = self.bytes[self.at];
            if self.is_quoted && byte == escape && escape != quote {
                // The byte behind the escape says nothing; it may still be on its way.
                self.bytes.get(self.at + 1)?;
                self.at += 2;
                continue;
            }
            self.is_quoted ^= byte == quote;
            self.at += 1;
            if byte == b'\n' && !self.is_quoted {
                return Some(self.at);
            }
        }
        self.at = self.bytes.len();
        None
    }

    fn number<const N: usize>(&self) -> Option<[u8; N]> {
        let place: Range<usize> = self.at..self.at + N;
        self.bytes.get(place)?.try_into().ok()
    }

    /// A row is the number of its values, and each value behind its length. The mark of the end is a number alone.
    fn binary(&mut self) -> Option<usize> {
        loop {
            match self.values {
                None => {
                    let count = i16::from_be_bytes(self.number()?);
                    self.at += 2;
                    self.values = Some(count.max(0));
                }
                Some(0) if self.at <= self.bytes.len() => {
                    self.values = None;
                    return Some(self.at);
                }
                Some(0) => return None,
                Some(left) => {
                    let length = i32::from_be_bytes(self.number()?);
                    self.at += 4 + usize::try_from(length).unwrap_or(0);
                    self.values = Some(left - 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_testkit::Random;

    /// The rows of bytes that arrive in pieces of random lengths.
    fn rows_of(framing: CopyFraming, bytes: &[u8], random: &mut Random) -> Vec<Vec<u8>> {
        let (mut rows, mut found, mut rest) = (CopyRows::new(framing), Vec::new(), bytes);
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(1 + random.index(rest.len().min(9)));
            rows.add(piece);
            while let Some(row) = rows.row() {
                found.push(row.to_vec());
            }
            rest = behind;
        }
        assert!(rows.rest().is_empty());
        found
    }

    #[test]
    fn rows_are_told_apart_in_any_pieces() {
        let mut random = Random::new(3);
        let quoted = CopyFraming::Quoted {
            quote: b'"',
            escape: b'"',
        };
        let escaped = CopyFraming::Quoted {
            quote: b'\'',
            escape: b'\\',
        };
        let header = [7; HEADER];
        let first = [&header[..], &[0, 2, 0, 0, 0, 3, 0, 1, 2, 255, 255, 255, 255]].concat();
        let binary = [&first[..], &[0, 1, 0, 0, 0, 0], &[0, 0], &[255, 255]];
        for _ in 0..50 {
            for (framing, rows) in [
                (CopyFraming::Lines, vec![&b"a\\nb\tc\n"[..], b"\n", b"\"x\n"]),
                (quoted, vec![b"a,\"b\n\"\"\n\",c\n", b"\n", b"\"\"\n"]),
                (escaped, vec![b"'a\\'\n\\\\',\"\n", b"x\n"]),
                (CopyFraming::Binary, binary.to_vec()),
            ] {
                assert_eq!(rows_of(framing, &rows.concat(), &mut random), rows, "{framing:?}");
            }
        }
    }
}
