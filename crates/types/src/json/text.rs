//! Reads JSON texts. One reader serves both types: what becomes of its values is a [`Build`]'s.

use crate::{Error, Result, SqlState};

/// Arrays and objects that may lie within one another, the outermost counted. Deeper texts are refused (54001), so that
/// whatever walks a value may recurse.
pub const MAX_DEPTH: usize = 1_000;

/// Makes something of the values of a text.
pub(super) trait Build {
    /// What a JSON value becomes.
    type Value;
    /// Whether the builder wants the characters of strings: escapes are then resolved, and those that stand for no
    /// character refused.
    const WANTS_CHARACTERS: bool;
    /// null.
    fn null(&mut self) -> Self::Value;
    /// true or false.
    fn boolean(&mut self, value: bool) -> Self::Value;
    /// A number as written. Error 22003 if it is beyond numeric.
    fn number(&mut self, text: &str) -> Result<Self::Value>;
    /// A string's characters; empty unless [`Build::WANTS_CHARACTERS`].
    fn string(&mut self, text: &str) -> Self::Value;
    /// An array of elements in the order of the text.
    fn array(&mut self, elements: Vec<Self::Value>) -> Self::Value;
    /// An object of members in the order of the text; keys may come more than once.
    fn object(&mut self, members: Vec<(String, Self::Value)>) -> Self::Value;
}

/// A builder that keeps nothing.
struct Nothing;

impl Build for Nothing {
    type Value = ();
    const WANTS_CHARACTERS: bool = false;
    fn null(&mut self) {}
    fn boolean(&mut self, _: bool) {}
    fn number(&mut self, _: &str) -> Result<()> {
        Ok(())
    }
    fn string(&mut self, _: &str) {}
    fn array(&mut self, _: Vec<()>) {}
    fn object(&mut self, _: Vec<(String, ())>) {}
}

/// Checks that a text is JSON. Errors 22P02, with line and column in its detail, and 54001.
pub fn check(text: &str) -> Result<()> {
    read(text, &mut Nothing)
}

/// Reads a text that is one JSON value. Errors 22P02, 22P05, 22003, 54001.
pub(super) fn read<B: Build>(text: &str, build: &mut B) -> Result<B::Value> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(build, 0)?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.unexpected("end of input")),
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Byte of the text that comes next.
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next byte that is not blank, which stays the next.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes the next byte that is not blank if it is `byte`.
    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Reads a value inside `depth` arrays and objects.
    fn value<B: Build>(&mut self, build: &mut B, depth: usize) -> Result<B::Value> {
        match self.peek() {
            Some(b'{') => self.object(build, depth + 1),
            Some(b'[') => self.array(build, depth + 1),
            Some(b'"') => Ok(build.string(&self.string(B::WANTS_CHARACTERS)?)),
            Some(b'-' | b'0'..=b'9') => {
                let number = self.number()?;
                // As in PostgreSQL, a byte that begins no token is seen before the number is found too large.
                let begins_token = |byte: u8| byte.is_ascii_alphanumeric() || b"[]{}:,\"-".contains(&byte);
                match self.peek() {
                    Some(byte) if !begins_token(byte) => Err(self.unexpected("end of number")),
                    _ => build.number(number),
                }
            }
            Some(_) => {
                let start = self.at;
                match self.word() {
                    "null" => Ok(build.null()),
                    "true" => Ok(build.boolean(true)),
                    "false" => Ok(build.boolean(false)),
                    _ => {
                        self.at = start;
                        Err(self.unexpected("JSON value"))
                    }
                }
            }
            None => Err(self.unexpected("JSON value")),
        }
    }

    fn enters(&mut self, depth: usize) -> Result<()> {
        self.at += 1;
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("JSON nests more than {MAX_DEPTH} arrays and objects");
        Err(Error::new(SqlState::STATEMENT_TOO_COMPLEX, message).with_detail(self.place()))
    }

    fn array<B: Build>(&mut self, build: &mut B, depth: usize) -> Result<B::Value> {
        self.enters(depth)?;
        let mut elements = Vec::new();
        if self.takes(b']') {
            return Ok(build.array(elements));
        }
        loop {
            elements.push(self.value(build, depth)?);
            if self.takes(b']') {
                return Ok(build.array(elements));
            }
            if !self.takes(b',') {
                return Err(self.unexpected("\",\" or \"]\""));
            }
        }
    }

    fn object<B: Build>(&mut self, build: &mut B, depth: usize) -> Result<B::Value> {
        self.enters(depth)?;
        let mut members = Vec::new();
        if self.takes(b'}') {
            return Ok(build.object(members));
        }
        loop {
            if self.peek() != Some(b'"') {
                let what = if members.is_empty() {
                    "string or \"}\""
                } else {
                    "string"
                };
                return Err(self.unexpected(what));
            }
            let key = self.string(B::WANTS_CHARACTERS)?;
            if !self.takes(b':') {
                return Err(self.unexpected("\":\""));
            }
            members.push((key, self.value(build, depth)?));
            if self.takes(b'}') {
                return Ok(build.object(members));
            }
            if !self.takes(b',') {
                return Err(self.unexpected("\",\" or \"}\""));
            }
        }
    }

    /// Takes letters, digits, `_` and what is beyond ASCII: what PostgreSQL shows as one token.
    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii());
        let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// Takes a number by JSON's grammar: no plus, no zero before other digits, digits on both sides of a point.
    fn number(&mut self) -> Result<&'a str> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digits = |at: usize| bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut at = start + usize::from(bytes[start] == b'-');
        let whole = digits(at);
        let mut is_valid = whole == 1 || whole > 1 && bytes[at] != b'0';
        at += whole;
        if bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            is_valid &= fraction > 0;
            at += 1 + fraction;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            at += 1;
            at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
            let exponent = digits(at);
            is_valid &= exponent > 0;
            at += exponent;
        }
        self.at = at;
        let is_valid = self.word().is_empty() && is_valid;
        let text = &self.text[start..self.at];
        if is_valid {
            return Ok(text);
        }
        self.at = start;
        Err(self.invalid(format!("Token \"{text}\" is invalid.")))
    }

    /// Takes a string with its quotes, and gives its characters if they are wanted.
    fn string(&mut self, wants_characters: bool) -> Result<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest
                .bytes()
                .take_while(|&b| b >= 0x20 && b != b'"' && b != b'\\')
                .count();
            if wants_characters {
                out.push_str(&rest[..plain]);
            }
            self.at += plain;
            match rest.as_bytes().get(plain) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.extend(self.escape(wants_characters)?),
                Some(byte) => {
                    let detail = format!("Character with value 0x{byte:02x} must be escaped.");
                    return Err(self.invalid(detail));
                }
                None => return Err(self.invalid("The input string ended unexpectedly.".to_owned())),
            }
        }
    }

    /// Takes a backslash and what belongs to it; gives the character if characters are wanted.
    fn escape(&mut self, wants_character: bool) -> Result<Option<char>> {
        let Some(c) = self.text[self.at + 1..].chars().next() else {
            return Err(self.invalid("The input string ended unexpectedly.".to_owned()));
        };
        let character = match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.code_point(wants_character),
            _ => return Err(self.invalid(format!("Escape sequence \"\\{c}\" is invalid."))),
        };
        self.at += 2;
        Ok(wants_character.then_some(character))
    }

    /// Takes `\u` and four hexadecimal digits.
    fn unit(&mut self) -> Result<u32> {
        let digits = self.text.as_bytes().get(self.at + 2..self.at + 6);
        let digits = digits.filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let unit = digits.map(|d| {
            d.iter()
                .fold(0, |n, &d| n << 4 | char::from(d).to_digit(16).unwrap_or(0))
        });
        let unit = unit
            .ok_or_else(|| self.invalid("\"\\u\" must be followed by four hexadecimal digits.".to_owned()))?;
        self.at += 6;
        Ok(unit)
    }

    /// Takes the escape of a character, which beyond U+FFFF is a pair of surrogates. Error 22P05 for U+0000.
    fn code_point(&mut self, wants_character: bool) -> Result<Option<char>> {
        let first = self.unit()?;
        if !wants_character {
            return Ok(None);
        }
        let code = match first {
            0 => {
                let error = Error::new(
                    SqlState::UNTRANSLATABLE_CHARACTER,
                    "unsupported Unicode escape sequence",
                );
                let detail = format!("\\u0000 cannot be converted to text. {}", self.place());
                return Err(error.with_detail(detail));
            }
            0xd800..=0xdbff if self.text[self.at..].starts_with("\\u") => match self.unit()? {
                second @ 0xdc00..=0xdfff => 0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff)),
                _ => first,
            },
            _ => first,
        };
        let character = char::from_u32(code).ok_or_else(|| match first {
            0xdc00.. => self.invalid("Unicode low surrogate must follow a high surrogate.".to_owned()),
            _ => self.invalid("Unicode high surrogate must be followed by a low surrogate.".to_owned()),
        })?;
        Ok(Some(character))
    }

    /// The error of what comes next, where `expected` should stand.
    fn unexpected(&mut self, expected: &str) -> Error {
        let Some(byte) = self.peek() else {
            return self.invalid("The input string ended unexpectedly.".to_owned());
        };
        let start = self.at;
        let word = self.word();
        self.at = start;
        let detail = match byte {
            b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"' => {
                format!("Expected {expected}, but found \"{}\".", char::from(byte))
            }
            _ if matches!(word, "null" | "true" | "false") => {
                format!("Expected {expected}, but found \"{word}\".")
            }
            _ if word.is_empty() => format!("Token \"{}\" is invalid.", char::from(byte)),
            _ => format!("Token \"{word}\" is invalid."),
        };
        self.invalid(detail)
    }

    /// The error 22P02 of what stands at the reader's place.
    fn invalid(&self, detail: String) -> Error {
        let detail = format!("{detail} {}", self.place());
        Error::new(SqlState::INVALID_TEXT, "invalid input syntax for type json").with_detail(detail)
    }

    /// Line and column, in characters, of what comes next; both count from one.
    fn place(&self) -> String {
        let before = &self.text[..self.at.min(self.text.len())];
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.rsplit('\n').next().unwrap_or("").chars().count();
        format!("JSON data, line {line}, column {column}.")
    }
}
