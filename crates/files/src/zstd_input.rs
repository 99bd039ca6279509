//! The bytes of a zstd file, frame by frame. A frame of some bytes may ask for a window of gigabytes: what it asks for is taken from the
//! statement's budget before it is decoded.

use frazil_types::{MemoryBudget, Reservation};
use std::io::{self, BufRead, BufReader, Read};
use zstd::stream::read::Decoder;

/// The first bytes of a frame, and of one that is to be passed over but for the lowest digit.
const MAGIC: u32 = 0xFD2F_B528;
/// Most bytes of a frame's header.
const HEADER_BYTES: usize = 18;
/// What a decoder takes beside its window: its tables, and a block that comes and one that goes.
const DECODER_BYTES: u64 = 512 << 10;
/// log₂ of the largest window that the library can have; the budget says which one it may have.
const MOST_WINDOW_LOG: u32 = 31;

type Bytes = Box<dyn Read + Send>;

/// Bytes of which the next ones can be looked at.
struct Ahead {
    seen: Vec<u8>,
    /// Bytes of `seen` that were consumed.
    at: usize,
    rest: BufReader<Bytes>,
}

impl Ahead {
    /// The next bytes, fewer than `count` at the end only.
    fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        self.seen.drain(..self.at);
        self.at = 0;
        let missing = count.saturating_sub(self.seen.len()) as u64;
        self.rest.by_ref().take(missing).read_to_end(&mut self.seen)?;
        Ok(&self.seen)
    }
}

impl Read for Ahead {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Ahead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.at < self.seen.len() {
            true => Ok(&self.seen[self.at..]),
            false => self.rest.fill_buf(),
        }
    }

    fn consume(&mut self, count: usize) {
        match self.at < self.seen.len() {
            true => self.at += count,
            false => self.rest.consume(count),
        }
    }
}

/// Where the reader stands.
enum State {
    /// In front of a frame, or at the end.
    Between(Ahead),
    Within(Decoder<'static, Ahead>),
    /// A decoder could not be made.
    Failed,
}

/// Decodes frame after frame.
pub(crate) struct ZstdInput {
    state: State,
    reservation: Reservation,
}

impl ZstdInput {
    /// The bytes behind those of a file.
    pub(crate) fn new(bytes: Bytes, budget: &MemoryBudget) -> ZstdInput {
        ZstdInput {
            state: State::Between(Ahead {
                seen: Vec::new(),
                at: 0,
                rest: BufReader::new(bytes),
            }),
            reservation: budget.reservation(),
        }
    }

    /// Makes room for what a frame with this header takes.
    fn make_room(&mut self, header: &[u8]) -> io::Result<()> {
        let needed = window(header) + DECODER_BYTES;
        let held = self.reservation.bytes();
        let more = usize::try_from(needed).unwrap_or(usize::MAX).saturating_sub(held);
        self.reservation.grow(more).map_err(|e| {
            let message = format!("a zstd frame takes {needed} bytes of memory: {}", e.message());
            io::Error::new(io::ErrorKind::OutOfMemory, message)
        })
    }

    /// Begins the next frame; false if there is none.
    fn begin(&mut self, mut ahead: Ahead) -> io::Result<bool> {
        let header = ahead.peek(HEADER_BYTES)?;
        if header.is_empty() {
            self.state = State::Between(ahead);
            return Ok(false);
        }
        self.make_room(header)?;
        let mut decoder = Decoder::with_buffer(ahead)?.single_frame();
        decoder.window_log_max(MOST_WINDOW_LOG)?;
        self.state = State::Within(decoder);
        Ok(true)
    }
}

impl Read for ZstdInput {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            if let State::Within(decoder) = &mut self.state {
                let count = decoder.read(to)?;
                if count > 0 || to.is_empty() {
                    return Ok(count);
                }
            }
            let ahead = match std::mem::replace(&mut self.state, State::Failed) {
                State::Between(ahead) => ahead,
                State::Within(decoder) => decoder.finish(),
                State::Failed => return Err(io::Error::other("it failed before")),
            };
            if !self.begin(ahead)? {
                return Ok(0);
            }
        }
    }
}

/// Bytes of the window that a frame asks for (RFC 8878, 3.1.1.1), or of all that it holds if that is said and less. 0 for what is no
/// frame, which the decoder refuses.
fn window(header: &[u8]) -> u64 {
    let Some((magic, rest)) = header.split_first_chunk() else {
        return 0;
    };
    let Some((&descriptor, mut rest)) = rest.split_first().filter(|_| u32::from_le_bytes(*magic) == MAGIC)
    else {
        return 0;
    };
    let is_single = descriptor & 0x20 != 0;
    let mut window = u64::MAX;
    if !is_single {
        let Some((&asked, behind)) = rest.split_first() else {
            return 0;
        };
        let base = 1_u64 << (10 + (asked >> 3));
        window = base + base / 8 * u64::from(asked & 7);
        rest = behind;
    }
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let (size, added) = match (descriptor >> 6, is_single) {
        (0, false) => return window,
        (0, true) => (1, 0),
        (1, _) => (2, 256),
        (2, _) => (4, 0),
        (_, _) => (8, 0),
    };
    let content = rest.get(dictionary..dictionary + size).map(|bytes| {
        let number = bytes
            .iter()
            .rev()
            .fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
        number.saturating_add(added)
    });
    window.min(content.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};

    fn read(bytes: Vec<u8>, budget: &MemoryBudget) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let mut input = ZstdInput::new(Box::new(Cursor::new(bytes)), budget);
        input.read_to_end(&mut out).map(|_| out)
    }

    /// A frame whose window is 2^`log` bytes; `is_told`: whether it says how much it holds.
    fn frame(content: &[u8], log: u32, is_told: bool) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
        encoder.window_log(log).expect("a window");
        if is_told {
            encoder
                .set_pledged_src_size(Some(content.len() as u64))
                .expect("said");
        }
        encoder.write_all(content).expect("compressed");
        encoder.finish().expect("finished")
    }

    #[test]
    fn frames_are_read_one_after_the_other() {
        let mut bytes = Vec::new();
        let mut expected: Vec<u8> = Vec::new();
        for (at, is_told) in [false, true, false, true, true].into_iter().enumerate() {
            let content = format!("{at}").repeat(at * 70_000);
            bytes.extend(frame(content.as_bytes(), 10 + 3 * at as u32, is_told));
            expected.extend(content.as_bytes());
            // A frame that is passed over.
            bytes.extend(*b"\x50\x2a\x4d\x18\x03\0\0\0abc");
        }
        let budget = MemoryBudget::new(16 << 20);
        assert!(read(bytes.clone(), &budget).expect("it is whole") == expected);
        assert_eq!(budget.used(), 0);
        read(bytes[..bytes.len() - 20].to_vec(), &budget).expect_err("the last frame ends early");
        read([&bytes, &b"more"[..]].concat(), &budget).expect_err("what follows is no frame");
        assert_eq!(read(Vec::new(), &budget).expect("nothing").len(), 0);
    }

    #[test]
    fn a_window_is_taken_from_the_budget() {
        let content = b"some text";
        let huge = frame(content, 30, false);
        assert!(huge.len() < 50 && window(&huge) == 1 << 30);
        let small = MemoryBudget::new(64 << 20);
        let error = read(huge, &small).expect_err("too much");
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        assert!(error.to_string().contains("1074266112 bytes"), "{error}");
        // Who says that little is in it needs little.
        let told = frame(content, 30, true);
        assert_eq!(read(told, &small).expect("it is small"), content);
        assert_eq!(small.peak(), DECODER_BYTES as usize + content.len());
    }
}
