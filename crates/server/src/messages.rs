//! The messages of clients, read from bytes.

use crate::client_text::ClientText;
use frazil::{Error, Result, SqlState};
use frazil_types::sql_type::utf8;

/// A message of a client behind its start-up.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// A text of statements.
    Query(ClientText),
    /// A statement to be prepared by a name, which may be empty, with the numbers of its parameters' types.
    Parse {
        name: ClientText,
        text: ClientText,
        types: Vec<u32>,
    },
    /// Values for a statement's parameters, which become a portal.
    Bind(Bind),
    /// Types are asked for.
    Describe(Target, ClientText),
    /// A portal is to be run, for at most `most_rows` rows; 0: all.
    Execute { portal: ClientText, most_rows: u32 },
    /// A statement or portal is to be forgotten.
    Close(Target, ClientText),
    /// The end of messages that belong together.
    Sync,
    /// Answers are wanted at once.
    Flush,
    /// Bytes of COPY.
    CopyData(Vec<u8>),
    /// The end of COPY's bytes.
    CopyDone,
    /// COPY is given up, for this reason.
    CopyFail(ClientText),
    /// A function of the fast path.
    FunctionCall,
    /// A message of the login.
    Password(Vec<u8>),
    /// The client leaves.
    Terminate,
    /// A message of this type whose content cannot be read.
    Unreadable(u8, Error2),
}

/// An error that is compared by its state.
#[derive(Debug)]
pub struct Error2(pub Error);

impl PartialEq for Error2 {
    fn eq(&self, other: &Error2) -> bool {
        self.0.state() == other.0.state()
    }
}

/// The content of Bind.
#[derive(Debug, PartialEq)]
pub struct Bind {
    /// The name of the portal.
    pub portal: ClientText,
    /// The name of the statement.
    pub statement: ClientText,
    /// The formats of the values: none (all text), one for all, or one for each.
    pub formats: Vec<i16>,
    /// The values, `None` for NULL.
    pub values: Vec<Option<Vec<u8>>>,
    /// The formats of the results: none (all text), one for all, or one for each.
    pub results: Vec<i16>,
}

/// The kind of object that Describe and Close name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A prepared statement.
    Statement,
    /// A portal.
    Portal,
}

/// The content of a message from front to back.
pub struct Content<'a>(pub &'a [u8]);

impl<'a> Content<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// A byte.
    pub fn byte(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    fn i16(&mut self) -> Result<i16> {
        self.array().map(i16::from_be_bytes)
    }

    /// A number.
    pub fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A text that ends with a zero byte. 08P01 without one, 22021 if it is not UTF-8.
    pub fn text(&mut self) -> Result<String> {
        utf8(self.terminated()?).map(str::to_owned)
    }

    /// A text in the client's encoding that ends with a zero byte. 08P01 without one.
    fn client_text(&mut self) -> Result<ClientText> {
        self.terminated().map(|text| ClientText(text.to_owned()))
    }

    /// The bytes before the next zero byte. 08P01 without one.
    fn terminated(&mut self) -> Result<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0);
        let end = end.ok_or_else(|| violation("invalid string in message"))?;
        let text = self.bytes(end)?;
        self.byte()?;
        Ok(text)
    }

    /// Items behind their number. Memory is taken as they are read, not as they are announced.
    fn items<T>(&mut self, read: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        // Numbers of items are unsigned.
        let count = self.i16()? as u16;
        (0..count).map(|_| read(self)).collect()
    }

    fn value(&mut self) -> Result<Option<Vec<u8>>> {
        match self.i32()? {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length).map_err(|_| cut_off())?;
                self.bytes(length).map(|bytes| Some(bytes.to_owned()))
            }
        }
    }

    fn target(&mut self) -> Result<Target> {
        match self.byte()? {
            b'S' => Ok(Target::Statement),
            b'P' => Ok(Target::Portal),
            other => Err(violation(format!("invalid subtype {other} of a message"))),
        }
    }

    /// 08P01 if bytes are left.
    pub fn end(&self) -> Result<()> {
        match self.0 {
            [] => Ok(()),
            _ => Err(violation("invalid message format")),
        }
    }
}

/// The error 08P01 of a message that is not what the protocol says.
pub fn violation(message: impl Into<String>) -> Error {
    Error::new(SqlState::PROTOCOL_VIOLATION, message)
}

fn cut_off() -> Error {
    violation("insufficient data left in message")
}

impl Message {
    /// Reads the content of a message of a type. `None` for a type that there is not.
    pub fn read(kind: u8, content: &[u8]) -> Option<Message> {
        let mut content = Content(content);
        let message = match kind {
            b'Q' => content.client_text().map(Message::Query),
            b'P' => Message::parse(&mut content),
            b'B' => Message::bind(&mut content),
            b'D' => Message::describe(&mut content),
            b'E' => Message::execute(&mut content),
            b'C' => Message::close(&mut content),
            b'S' => Ok(Message::Sync),
            b'H' => Ok(Message::Flush),
            b'd' => return Some(Message::CopyData(content.0.to_owned())),
            b'c' => Ok(Message::CopyDone),
            b'f' => content.client_text().map(Message::CopyFail),
            b'F' => return Some(Message::FunctionCall),
            b'p' => return Some(Message::Password(content.0.to_owned())),
            b'X' => return Some(Message::Terminate),
            _ => return None,
        };
        let message = message.and_then(|message| content.end().map(|()| message));
        Some(message.unwrap_or_else(|error| Message::Unreadable(kind, Error2(error))))
    }

    fn parse(content: &mut Content<'_>) -> Result<Message> {
        Ok(Message::Parse {
            name: content.client_text()?,
            text: content.client_text()?,
            types: content.items(|content| content.i32().map(|oid| oid as u32))?,
        })
    }

    fn bind(content: &mut Content<'_>) -> Result<Message> {
        Ok(Message::Bind(Bind {
            portal: content.client_text()?,
            statement: content.client_text()?,
            formats: content.items(Content::i16)?,
            values: content.items(Content::value)?,
            results: content.items(Content::i16)?,
        }))
    }

    fn describe(content: &mut Content<'_>) -> Result<Message> {
        Ok(Message::Describe(content.target()?, content.client_text()?))
    }

    fn execute(content: &mut Content<'_>) -> Result<Message> {
        Ok(Message::Execute {
            portal: content.client_text()?,
            // Zero and less mean all.
            most_rows: u32::try_from(content.i32()?).unwrap_or(0),
        })
    }

    fn close(content: &mut Content<'_>) -> Result<Message> {
        Ok(Message::Close(content.target()?, content.client_text()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil::ClientEncoding;

    fn state(kind: u8, content: &[u8]) -> SqlState {
        match Message::read(kind, content) {
            Some(Message::Unreadable(of, error)) if of == kind => error.0.state(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn messages_that_lie_are_errors() {
        assert_eq!(state(b'Q', b"select 1"), SqlState::PROTOCOL_VIOLATION);
        assert_eq!(state(b'Q', b"select 1\0x"), SqlState::PROTOCOL_VIOLATION);
        assert_eq!(state(b'P', b"\0select\0\xff\xff"), SqlState::PROTOCOL_VIOLATION);
        assert_eq!(
            state(b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xff"),
            SqlState::PROTOCOL_VIOLATION
        );
        assert_eq!(
            state(b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xfe"),
            SqlState::PROTOCOL_VIOLATION
        );
        assert_eq!(state(b'D', b"Xa\0"), SqlState::PROTOCOL_VIOLATION);
        assert_eq!(state(b'E', b"\0\0"), SqlState::PROTOCOL_VIOLATION);
        assert_eq!(state(b'S', b"x"), SqlState::PROTOCOL_VIOLATION);
        assert_eq!(Message::read(b'z', b""), None);
    }

    #[test]
    fn texts_are_decoded_when_their_message_runs() {
        let Some(Message::Query(text)) = Message::read(b'Q', b"a\xff\0") else {
            panic!("a message that is whole");
        };
        let decoded = |encoding| ClientText(text.0.clone()).decode(encoding);
        let states =
            [ClientEncoding::Utf8, ClientEncoding::SqlAscii].map(|e| decoded(e).map_err(|e| e.state()));
        assert_eq!(states, [const { Err(SqlState::CHARACTER_NOT_IN_REPERTOIRE) }; 2]);
        assert_eq!(decoded(ClientEncoding::Latin1).unwrap(), "aÿ");
    }

    #[test]
    fn every_message_that_is_cut_off_is_an_error_or_shorter() {
        let bind = b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\x01\0\x01";
        let Some(Message::Bind(read)) = Message::read(b'B', bind) else {
            panic!("a message that is whole");
        };
        assert_eq!(read.values, [Some(b"ab".to_vec()), None]);
        assert_eq!((read.formats, read.results), (vec![1], vec![1]));
        for end in 0..bind.len() {
            assert_eq!(state(b'B', &bind[..end]), SqlState::PROTOCOL_VIOLATION, "{end}");
        }
    }
}
