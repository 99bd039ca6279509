//! The words of a path.

use crate::{Error, Result, SqlState};

/// A word of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or keyword, its escapes resolved.
    Word(String),
    /// The characters of a string in quotes.
    String(String),
    /// The name of a variable.
    Variable(String),
    /// A number without a sign, as written.
    Number(String),
    /// `$`, `@`, an operator, a parenthesis.
    Symbol(&'static str),
    End,
}

/// Symbols, of which the first that fits is taken.
const SYMBOLS: &[&str] = &[
    "&&", "||", "!=", "!", "**", "*", "<=", "<>", "<", "==", ">=", ">", "?", "%", "$", ".", "[", "]", "{",
    "}", "(", ")", "@", ",", ":", "-", "+", "/", "=", "&", "|", "#",
];

pub(super) struct Lexer<'a> {
    text: &'a str,
    /// Byte of the text that comes next.
    at: usize,
}

/// Whether a byte may stand in a name.
fn is_other(byte: u8) -> bool {
    !b"?%$.[]{}()|&!=<>@#,*:-+/\\\" \t\n\r\x0c".contains(&byte)
}

fn is_blank(byte: u8) -> bool {
    b" \t\n\r\x0c".contains(&byte)
}

/// An error 42601 of a path.
pub(super) fn syntax(message: impl Into<String>) -> Error {
    Error::new(SqlState::SYNTAX_ERROR, message)
}

/// The error 22P02 of what no text holds.
pub(super) fn invalid(detail: String) -> Error {
    Error::new(SqlState::INVALID_TEXT, "invalid input syntax for type jsonpath").with_detail(detail)
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The next word. Errors 42601, 22P02, 22P05.
    pub fn next(&mut self) -> Result<Token> {
        self.skip_blanks()?;
        let rest = self.rest();
        let is_digit = |at: usize| rest.get(at).is_some_and(u8::is_ascii_digit);
        match rest.first() {
            None => Ok(Token::End),
            Some(b'"') => Ok(Token::String(self.quoted(1)?)),
            Some(b'$') if rest.get(1) == Some(&b'"') => Ok(Token::Variable(self.quoted(2)?)),
            Some(b'$') if rest.get(1).is_some_and(|b| is_other(*b)) => {
                self.at += 1;
                Ok(Token::Variable(self.run().to_owned()))
            }
            Some(_) if is_digit(0) || rest[0] == b'.' && is_digit(1) => self.number(),
            Some(byte) if is_other(*byte) || *byte == b'\\' => self.word(),
            Some(_) => {
                let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(symbol.as_bytes()));
                let symbol = symbol.ok_or_else(|| Error::internal("a byte that begins no word"))?;
                self.at += symbol.len();
                Ok(Token::Symbol(symbol))
            }
        }
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            self.at += self.rest().iter().take_while(|b| is_blank(**b)).count();
            if !self.rest().starts_with(b"/*") {
                return Ok(());
            }
            let end = self.text[self.at + 2..].find("*/");
            let end = end.ok_or_else(|| syntax("unexpected end of comment at end of jsonpath input"))?;
            self.at += 2 + end + 2;
        }
    }

    /// Takes bytes that may stand in a name.
    fn run(&mut self) -> &'a str {
        let length = self.rest().iter().take_while(|b| is_other(**b)).count();
        let run = &self.text[self.at..self.at + length];
        self.at += length;
        run
    }

    /// Takes a name or keyword.
    fn word(&mut self) -> Result<Token> {
        let mut word = String::new();
        loop {
            word.push_str(self.run());
            match self.rest().first() {
                Some(b'\\') => word.push(self.escape()?),
                _ => return Ok(Token::Word(word)),
            }
        }
    }

    /// Takes a string whose characters begin behind `opening` bytes.
    fn quoted(&mut self, opening: usize) -> Result<String> {
        self.at += opening;
        let mut string = String::new();
        loop {
            let plain = self.rest().iter().take_while(|b| !b"\\\"".contains(b)).count();
            string.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match self.rest().first() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(_) => string.push(self.escape()?),
                None => return Err(syntax("unexpected end of quoted string at end of jsonpath input")),
            }
        }
    }

    /// Takes a number, or a name that begins with digits.
    fn number(&mut self) -> Result<Token> {
        let rest = self.rest();
        let digits = |at: usize| rest[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        // A zero stands before no other digits.
        let mut length = if rest[0] == b'0' { 1 } else { digits(0) };
        if rest.get(length) == Some(&b'.') {
            length += 1 + digits(length + 1);
        }
        if matches!(rest.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits((length + 1 + sign).min(rest.len()));
            if exponent > 0 {
                length += 1 + sign + exponent;
            } else if sign > 0 {
                let shown = &self.text[self.at..self.at + length + 2];
                return Err(syntax(format!(
                    "invalid numeric literal at or near \"{shown}\" of jsonpath input"
                )));
            }
        }
        let has_junk = rest.get(length).is_some_and(|b| is_other(*b) || *b == b'\\');
        let name = rest.iter().take_while(|b| is_other(**b)).count();
        if name > length + usize::from(has_junk) {
            return self.word();
        }
        let shown = &self.text[self.at..self.at + length];
        if has_junk {
            let message =
                format!("trailing junk after numeric literal at or near \"{shown}\" of jsonpath input");
            return Err(syntax(message));
        }
        self.at += length;
        Ok(Token::Number(shown.to_owned()))
    }

    /// Takes a backslash and what belongs to it. Errors 42601, 22P02, 22P05.
    fn escape(&mut self) -> Result<char> {
        let Some(c) = self.text[self.at + 1..].chars().next() else {
            return Err(syntax("unexpected end after backslash at end of jsonpath input"));
        };
        let character = match c {
            'u' => return self.code_point(),
            'x' => {
                let digits = self.rest().get(2..4).and_then(hexadecimal);
                let code = digits.ok_or_else(|| self.bad_escape("invalid hexadecimal character sequence"))?;
                self.at += 4;
                return character(code);
            }
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            other => other,
        };
        self.at += 1 + c.len_utf8();
        Ok(character)
    }

    fn bad_escape(&self, what: &str) -> Error {
        let shown: String = self.text[self.at..].chars().take(6).collect();
        syntax(format!("{what} at or near \"{shown}\" of jsonpath input"))
    }

    /// Takes `\u` and its digits: four, or up to six in braces.
    fn unit(&mut self) -> Result<u32> {
        let rest = self.rest();
        let (digits, length) = if rest.get(2) == Some(&b'{') {
            let end = rest.iter().position(|b| *b == b'}').unwrap_or(0);
            (rest.get(3..end).filter(|d| (1..=6).contains(&d.len())), end + 1)
        } else {
            (rest.get(2..6), 6)
        };
        let unit = digits.and_then(hexadecimal);
        let unit = unit.ok_or_else(|| self.bad_escape("invalid Unicode escape sequence"))?;
        self.at += length;
        Ok(unit)
    }

    /// Takes the escape of a character, which may be a pair of surrogates.
    fn code_point(&mut self) -> Result<char> {
        let first = self.unit()?;
        match first {
            0xd800..=0xdbff if self.rest().starts_with(b"\\u") => match self.unit()? {
                second @ 0xdc00..=0xdfff => character(0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff))),
                _ => character(first),
            },
            _ => character(first),
        }
    }
}

/// The number of hexadecimal digits.
fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let digit = |d: &u8| char::from(*d).to_digit(16);
    digits.iter().try_fold(0, |n, d| Some(n << 4 | digit(d)?))
}

/// The character of a code. Errors 22P05 for 0, 22P02 for half of a pair, 42601 beyond Unicode.
fn character(code: u32) -> Result<char> {
    if code == 0 {
        let message = "unsupported Unicode escape sequence";
        return Err(Error::new(SqlState::UNTRANSLATABLE_CHARACTER, message)
            .with_detail("\\u0000 cannot be converted to text."));
    }
    char::from_u32(code).ok_or_else(|| match code {
        0xd800..=0xdbff => invalid("Unicode low surrogate must follow a high surrogate.".to_owned()),
        0xdc00..=0xdfff => invalid("Unicode low surrogate must follow a high surrogate.".to_owned()),
        _ => syntax("invalid Unicode code point"),
    })
}
