//! Bytes that arrived and are not read as messages yet.
//!
//! A client that is logged in may send messages of up to 1 GB. What has arrived of a long one counts against the
//! memory that statements share. A message that finds no room there becomes an error in its place, and the rest of its
//! bytes are dropped as they arrive: the session stays in step with its client.

use crate::messages::{Error2, Message, violation};
use frazil::{Error, Result};
use frazil_types::{MemoryBudget, Reservation};
use std::collections::VecDeque;
use std::ops::Range;

/// Bytes before the content of a message: its type and its length.
const HEAD: usize = 5;
/// Most bytes of a message's content: PostgreSQL's limit of 1 GB.
const LONGEST: usize = (1 << 30) - 1;
/// Most bytes of a message that has no business being long.
const LONGEST_PLAIN: usize = 30_000;
/// Most bytes of a start-up packet.
const LONGEST_START: usize = 10_000;
/// Bytes that are kept beyond the message that is awaited: a client that sends ahead waits then.
pub const AHEAD: usize = 64 << 10;

/// Bytes in the order in which they arrived.
#[derive(Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// Bytes that were read as messages.
    read: usize,
    /// Bytes of the content of a CopyData message that have not arrived: what has arrived of it was read.
    awaited: usize,
    /// Bytes of the content of a message that found no room in memory, and that have not arrived: they are dropped.
    dropped: usize,
    /// Bytes of long messages that were read, as long as the queue may have them.
    queued: usize,
    /// The memory of bytes that arrived and of long messages. `None` until the client is logged in: strangers have no
    /// business with long messages.
    memory: Option<Reservation>,
}

impl Inbox {
    /// Adds bytes that arrived.
    pub fn add(&mut self, bytes: &[u8]) {
        if self.read > 0 {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Lets messages be long from now on, because the client is logged in. They count against `budget`.
    pub fn trust(&mut self, budget: &MemoryBudget) {
        self.memory = Some(budget.reservation());
    }

    /// Holds memory for `bytes` bytes, and for no more than these. 53200 if memory lacks room for more of them; a few
    /// bytes do not count.
    fn hold(&mut self, bytes: usize) -> Result<()> {
        let Some(memory) = &mut self.memory else {
            return Ok(());
        };
        let (wanted, held) = (if bytes > AHEAD { bytes } else { 0 }, memory.bytes());
        match wanted.checked_sub(held) {
            Some(more) => memory.grow(more),
            None => {
                memory.shrink(held - wanted);
                Ok(())
            }
        }
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.read..]
    }

    /// True while more bytes are welcome although nobody waits for a message.
    pub fn has_room(&self) -> bool {
        self.rest().len() < AHEAD
    }

    /// Takes all messages that are whole. 08P01 for a type or a length that cannot be, which ends the session; messages
    /// before it are taken.
    pub fn messages(&mut self, queue: &mut VecDeque<Message>) -> Result<()> {
        if queue.is_empty() {
            self.queued = 0;
        }
        loop {
            if self.awaited > 0 {
                self.rest_of_data(queue);
            }
            if self.dropped > 0 {
                let count = self.dropped.min(self.rest().len());
                (self.read, self.dropped) = (self.read + count, self.dropped - count);
            }
            if let Some(Message::CopyData(data)) = queue.back_mut() {
                self.more_data(data);
            }
            match self.message()? {
                Some(message) => queue.push_back(message),
                None => break,
            }
        }
        if self.read == self.bytes.len() {
            // A session that waits keeps no memory.
            self.bytes = Vec::new();
            self.read = 0;
        }
        // Gives back what is not needed anymore. Bytes that come to it here are few.
        let _ = self.hold(self.rest().len() + self.queued);
        Ok(())
    }

    /// Reads what has arrived of a CopyData message that began before.
    fn rest_of_data(&mut self, queue: &mut VecDeque<Message>) {
        let part = &self.rest()[..self.awaited.min(self.rest().len())];
        match queue.back_mut() {
            _ if part.is_empty() => return,
            Some(Message::CopyData(data)) => data.extend_from_slice(part),
            _ => queue.push_back(Message::CopyData(part.to_vec())),
        }
        let count = part.len();
        (self.read, self.awaited) = (self.read + count, self.awaited - count);
    }

    /// Appends the content of CopyData messages that follow CopyData, up to a bound: COPY reads bytes, and most clients
    /// send a message for each row.
    fn more_data(&mut self, data: &mut Vec<u8>) {
        while data.len() < AHEAD
            && let Some(content) = self.next_data()
        {
            data.extend_from_slice(&self.bytes[content.clone()]);
            self.read = content.end;
        }
    }

    /// The place in `bytes` of the next message's content, if it is CopyData and whole, and none is awaited.
    fn next_data(&self) -> Option<Range<usize>> {
        if self.awaited > 0 {
            return None;
        }
        let (&[kind, ref length @ ..], _) = self.rest().split_first_chunk::<HEAD>()?;
        let start = self.read + HEAD;
        let end = start + length_of(length).ok()?;
        (kind == b'd' && end <= self.bytes.len()).then_some(start..end)
    }

    fn message(&mut self) -> Result<Option<Message>> {
        if self.awaited > 0 || self.dropped > 0 {
            return Ok(None);
        }
        let rest = self.rest();
        let Some(head) = rest.first_chunk::<HEAD>() else {
            return Ok(None);
        };
        let (kind, length) = (head[0], length_of(&head[1..])?);
        let longest = match kind {
            b'Q' | b'P' | b'B' | b'd' | b'F' if self.memory.is_some() => LONGEST,
            b'Q' | b'P' | b'B' | b'd' | b'F' => LONGEST_PLAIN,
            b'D' | b'E' | b'C' | b'S' | b'H' | b'c' | b'f' | b'p' | b'X' => LONGEST_PLAIN,
            _ => return Err(violation(format!("invalid frontend message type {kind}"))),
        };
        if length > longest {
            return Err(violation("invalid message length"));
        }
        let arrived = rest.len() - HEAD;
        if kind == b'd' && (1..length).contains(&arrived) {
            // COPY reads bytes: what has arrived of a message takes no memory while the others are on their way.
            let data = rest[HEAD..].to_vec();
            self.awaited = length - arrived;
            self.read = self.bytes.len();
            return Ok(Some(Message::CopyData(data)));
        }
        // A message that is read is copied.
        let is_whole = arrived >= length;
        let copied = if is_whole && length > AHEAD { length } else { 0 };
        if let Err(error) = self.hold(HEAD + arrived + copied + self.queued) {
            self.drop_message(length, arrived);
            let error = error.with_detail(format!("The client sent a message of {length} bytes."));
            return Ok(Some(Message::Unreadable(kind, Error2(error))));
        }
        if !is_whole {
            return Ok(None);
        }
        let message = Message::read(kind, &self.rest()[HEAD..HEAD + length]);
        (self.read, self.queued) = (self.read + HEAD + length, self.queued + copied);
        let unknown = || violation(format!("invalid frontend message type {kind}"));
        message.map(Some).ok_or_else(unknown)
    }

    /// Drops the next message, of whose content `arrived` bytes have arrived, if not those of messages behind it.
    fn drop_message(&mut self, length: usize, arrived: usize) {
        self.dropped = length.saturating_sub(arrived);
        self.read += HEAD + length.min(arrived);
    }

    /// Takes a start-up packet: its content without its length. 08P01 for a length that cannot be.
    pub fn start_packet(&mut self) -> Result<Option<Vec<u8>>> {
        let rest = self.rest();
        if rest.len() < HEAD - 1 {
            return Ok(None);
        }
        let length = length_of(rest).map_err(of_start)?;
        if !(4..=LONGEST_START).contains(&length) {
            return Err(violation("invalid length of startup packet"));
        }
        let content = rest.get(4..4 + length).map(<[u8]>::to_vec);
        self.read += content.as_ref().map_or(0, |_| 4 + length);
        Ok(content)
    }

    /// The first byte.
    pub fn first(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    /// Takes all bytes.
    pub fn take_all(&mut self) -> Vec<u8> {
        let rest = self.rest().to_vec();
        *self = Inbox::default();
        rest
    }

    /// True if no byte is left.
    pub fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }
}

fn of_start(_: Error) -> Error {
    violation("invalid length of startup packet")
}

/// The length of a content whose length field these bytes begin with, which counts itself.
fn length_of(bytes: &[u8]) -> Result<usize> {
    let field = bytes.first_chunk().map_or(0, |field| i32::from_be_bytes(*field));
    let length = usize::try_from(field)
        .ok()
        .and_then(|length| length.checked_sub(4));
    length.ok_or_else(|| violation("invalid message length"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_whole_however_they_arrive() {
        let sent = b"Q\0\0\0\x06a\0S\0\0\0\x04X\0\0\0\x04";
        let (mut inbox, mut queue) = (Inbox::default(), VecDeque::new());
        for byte in sent {
            inbox.add(&[*byte]);
            inbox.messages(&mut queue).unwrap();
        }
        let expected = [Message::Query("a".to_owned()), Message::Sync, Message::Terminate];
        assert_eq!(queue, expected);
        assert!(inbox.is_empty());
    }

    #[test]
    fn rows_of_copy_are_one_message() {
        let sent = b"S\0\0\0\x04d\0\0\0\x06a\nd\0\0\0\x06b\nd\0\0\0\x04d\0\0\0\x05cc\0\0\0\x04d\0\0\0\x03";
        let (mut inbox, mut queue) = (Inbox::default(), VecDeque::new());
        inbox.add(sent);
        // The last length cannot be.
        assert!(inbox.messages(&mut queue).is_err());
        let data = Message::CopyData(b"a\nb\nc".to_vec());
        assert_eq!(queue, [Message::Sync, data, Message::CopyDone]);
    }

    #[test]
    fn a_long_message_of_copy_is_read_as_it_arrives() {
        let (mut inbox, mut queue) = (Inbox::default(), VecDeque::new());
        inbox.trust(&MemoryBudget::unlimited());
        let mut whole = b"d\0\x01\0\x04".to_vec();
        whole.extend((0..1 << 16).map(|at| at as u8));
        whole.extend(b"d\0\0\0\x05xc\0\0\0\x04");
        let mut data = Vec::new();
        for part in whole.chunks(1000) {
            inbox.add(part);
            inbox.messages(&mut queue).unwrap();
            assert!(inbox.rest().len() < HEAD, "{}", inbox.rest().len());
            while let Some(Message::CopyData(part)) =
                queue.pop_front_if(|m| matches!(m, Message::CopyData(_)))
            {
                data.extend(part);
            }
        }
        assert_eq!(queue, [Message::CopyDone]);
        assert_eq!(data.len(), (1 << 16) + 1);
        assert!(
            data[..1 << 16]
                .iter()
                .enumerate()
                .all(|(at, byte)| *byte == at as u8)
        );
        assert_eq!(data.last(), Some(&b'x'));
    }

    #[test]
    fn lengths_that_cannot_be_end_the_session() {
        for sent in [
            &b"Q\0\0\0\x03"[..],
            b"Q\xff\xff\xff\xff",
            b"Q\x7f\xff\xff\xff",
            b"S\0\x7f\xff\xff",
            b"z\0\0\0\x04",
        ] {
            let mut inbox = Inbox::default();
            inbox.trust(&MemoryBudget::unlimited());
            inbox.add(sent);
            assert!(inbox.messages(&mut VecDeque::new()).is_err(), "{sent:?}");
        }
        let mut stranger = Inbox::default();
        stranger.add(b"Q\0\0\x80\0");
        assert!(stranger.messages(&mut VecDeque::new()).is_err());
        for sent in [&b"\0\0\0\x07"[..], b"\xff\xff\xff\xff", b"\0\0\xff\xff", b"GET "] {
            let mut inbox = Inbox::default();
            inbox.add(sent);
            assert!(inbox.start_packet().is_err(), "{sent:?}");
        }
    }

    #[test]
    fn a_message_that_finds_no_room_is_an_error_in_its_place() {
        let budget = MemoryBudget::new(1 << 20);
        let (mut inbox, mut queue) = (Inbox::default(), VecDeque::new());
        inbox.trust(&budget);
        let text = |length: usize| {
            let mut sent = vec![b'Q'];
            sent.extend((length as i32 + 4).to_be_bytes());
            sent.extend(std::iter::repeat_n(b'x', length - 1));
            sent.push(0);
            sent
        };
        let sent = [text(3 << 20), b"S\0\0\0\x04".to_vec(), text(400 << 10), text(10)].concat();
        for part in sent.chunks(10_000) {
            inbox.add(part);
            inbox.messages(&mut queue).unwrap();
            assert!(inbox.bytes.len() < (1 << 20) + 10_000 && budget.used() <= 1 << 20);
        }
        let Some(Message::Unreadable(b'Q', error)) = queue.pop_front() else {
            panic!("{queue:?}");
        };
        assert_eq!(error.0.state(), frazil::SqlState::OUT_OF_MEMORY);
        assert_eq!(queue.pop_front(), Some(Message::Sync));
        assert!(matches!(&queue[0], Message::Query(text) if text.len() == (400 << 10) - 1));
        assert!(matches!(&queue[1], Message::Query(text) if text.len() == 9));
        // Messages that wait are held, those that were run are not.
        assert!(budget.used() >= 400 << 10, "{}", budget.used());
        queue.clear();
        inbox.messages(&mut queue).unwrap();
        assert_eq!(budget.used(), 0);
        // A client that leaves gives its memory back.
        inbox.add(&text(500 << 10)[..300 << 10]);
        inbox.messages(&mut queue).unwrap();
        assert!(budget.used() >= 300 << 10, "{}", budget.used());
        drop(inbox);
        assert_eq!(budget.used(), 0);
    }
}
