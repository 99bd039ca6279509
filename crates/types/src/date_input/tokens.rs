//! Cuts the text of a date or time into tokens.

use super::decoded::{Decode, Refusal};
use super::words::word;

/// Tokens that a text may have.
const MOST_TOKENS: usize = 25;

/// The kind of a token, by its characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Digits, perhaps with a point.
    Number,
    /// A word.
    Word,
    /// Parts with `-`, `/` or `.` between them, or a zone's name.
    Date,
    /// Digits with colons.
    Time,
    /// A signed number: an offset from UTC.
    Offset,
    /// A signed word.
    SignedWord,
}

/// A token, in lower case.
#[derive(Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub text: String,
}

/// The characters that are left, and the room that the tokens have.
struct Scanner<'t> {
    rest: std::iter::Peekable<std::str::Bytes<'t>>,
    /// Bytes that are left of the room.
    room: usize,
}

fn is_blank(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

impl Scanner<'_> {
    fn next_is(&mut self, is: impl Fn(u8) -> bool) -> bool {
        self.rest.peek().is_some_and(|c| is(*c))
    }

    /// Moves the next character to the token, in lower case.
    fn take(&mut self, token: &mut String) -> Decode<()> {
        let Some(c) = self.rest.next() else { return Ok(()) };
        self.room = self
            .room
            .checked_sub(1)
            .filter(|room| *room > 0)
            .ok_or(Refusal::Syntax)?;
        token.push(char::from(c.to_ascii_lowercase()));
        Ok(())
    }

    fn take_while(&mut self, token: &mut String, is: impl Fn(u8) -> bool) -> Decode<()> {
        while self.next_is(&is) {
            self.take(token)?;
        }
        Ok(())
    }

    /// A token that begins with a digit.
    fn of_digits(&mut self, token: &mut String) -> Decode<TokenKind> {
        self.take_while(token, |c| c.is_ascii_digit())?;
        match self.rest.peek().copied() {
            Some(b':') => {
                self.take_while(token, |c| c.is_ascii_digit() || c == b':' || c == b'.')?;
                Ok(TokenKind::Time)
            }
            Some(separator @ (b'-' | b'/' | b'.')) => self.date(separator, token),
            _ => Ok(TokenKind::Number),
        }
    }

    /// The rest of a number with `separator` behind it: a date, or a number with a fraction.
    fn date(&mut self, separator: u8, token: &mut String) -> Decode<TokenKind> {
        self.take(token)?;
        if !self.next_is(|c| c.is_ascii_digit()) {
            self.take_while(token, |c| c.is_ascii_alphanumeric() || c == separator)?;
            return Ok(TokenKind::Date);
        }
        self.take_while(token, |c| c.is_ascii_digit())?;
        if self.next_is(|c| c == separator) {
            self.take_while(token, |c| c.is_ascii_digit() || c == separator)?;
            return Ok(TokenKind::Date);
        }
        Ok(match separator {
            b'.' => TokenKind::Number,
            _ => TokenKind::Date,
        })
    }

    /// A token that begins with a letter: a word, a date such as `jan-8-2021`, or a zone such as `america/new_york`.
    fn of_letters(&mut self, token: &mut String) -> Decode<TokenKind> {
        self.take_while(token, |c| c.is_ascii_alphabetic())?;
        let goes_on = match self.rest.peek().copied() {
            Some(b'-' | b'/' | b'.') => true,
            // Digits belong to a name unless the word has a meaning of its own, as in `y2001m02d04`.
            Some(b'+' | b'0'..=b'9') => word(token).is_none(),
            _ => false,
        };
        if !goes_on {
            return Ok(TokenKind::Word);
        }
        let is_part =
            |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'/' | b'_' | b'.' | b':');
        self.take_while(token, is_part)?;
        Ok(TokenKind::Date)
    }

    /// A token that begins with a sign.
    fn of_sign(&mut self, token: &mut String) -> Decode<TokenKind> {
        self.take(token)?;
        while self.next_is(is_blank) {
            self.rest.next();
        }
        if self.next_is(|c| c.is_ascii_digit()) {
            self.take_while(token, |c| c.is_ascii_digit() || matches!(c, b':' | b'.' | b'-'))?;
            return Ok(TokenKind::Offset);
        }
        if self.next_is(|c| c.is_ascii_alphabetic()) {
            self.take_while(token, |c| c.is_ascii_alphabetic())?;
            return Ok(TokenKind::SignedWord);
        }
        Err(Refusal::Syntax)
    }
}

/// The tokens of a text. Refuses characters that are neither letters, digits, blanks nor punctuation of ASCII, and
/// tokens that have
/// more than `room` bytes in sum.
pub(super) fn tokens(text: &str, room: usize) -> Decode<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut scanner = Scanner {
        rest: text.bytes().peekable(),
        room,
    };
    while let Some(c) = scanner.rest.peek().copied() {
        let is_separator = c.is_ascii_punctuation() && !matches!(c, b'.' | b'+' | b'-');
        if is_blank(c) || is_separator {
            scanner.rest.next();
            continue;
        }
        if tokens.len() >= MOST_TOKENS {
            return Err(Refusal::Syntax);
        }
        let mut token = String::new();
        let kind = match c {
            b'0'..=b'9' => scanner.of_digits(&mut token)?,
            b'.' => {
                scanner.take(&mut token)?;
                scanner.take_while(&mut token, |c| c.is_ascii_digit())?;
                TokenKind::Number
            }
            b'+' | b'-' => scanner.of_sign(&mut token)?,
            c if c.is_ascii_alphabetic() => scanner.of_letters(&mut token)?,
            _ => return Err(Refusal::Syntax),
        };
        scanner.room = scanner.room.checked_sub(1).ok_or(Refusal::Syntax)?;
        tokens.push(Token { kind, text: token });
    }
    Ok(tokens)
}
