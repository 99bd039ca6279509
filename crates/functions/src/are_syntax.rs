//! PostgreSQL's advanced regular expressions as the crate `regex` writes them: escapes, brackets, groups and
//! quantifiers.

use crate::are_options::{Options, invalid};
use crate::quantifiers::Quantifiers;
use frazil_types::{Error, Result};
use std::iter::Peekable;
use std::str::Chars;

/// An expression in translation.
struct Translation<'p> {
    rest: Peekable<Chars<'p>>,
    options: Options,
    quantifiers: Quantifiers,
    /// Number of groups so far that capture.
    groups: u32,
    out: String,
}

/// What stands in front of a character in brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InBrackets {
    First,
    Character,
    /// The first character of a range and its `-`.
    RangeBegun,
    Range,
}

/// What an escape stands for.
enum Escape {
    Character(char),
    /// A class, as both write it: `\d`.
    Class(char),
    /// A place, as the crate writes it.
    Place(&'static str),
}

/// The expression, behind its options, as the crate `regex` writes it. Errors: 2201B; 0A000 for back-references and
/// look-around.
pub(crate) fn translate(pattern: &str, options: Options) -> Result<String> {
    let mut translation = Translation {
        rest: pattern.chars().peekable(),
        options,
        quantifiers: Quantifiers::new(),
        groups: 0,
        out: String::with_capacity(pattern.len()),
    };
    while let Some(c) = translation.rest.next() {
        translation.part(c)?;
    }
    Ok(translation.out)
}

/// Writes a character that stands for itself.
pub(crate) fn push_literal(c: char, out: &mut String) {
    match c {
        '\0' => out.push_str(r"\x00"),
        c if regex_syntax::is_meta_character(c) => out.extend(['\\', c]),
        c => out.push(c),
    }
}

impl Translation<'_> {
    /// Writes what begins with a character.
    fn part(&mut self, c: char) -> Result<()> {
        match c {
            '\\' => self.escape(),
            '(' => self.group(),
            '[' => self.bracket(),
            c if self.options.is_expanded && c.is_whitespace() => Ok(()),
            '#' if self.options.is_expanded => {
                self.rest.by_ref().find(|c| *c == '\n');
                Ok(())
            }
            c => self.quantifiers.write(c, &mut self.rest, &mut self.out),
        }
    }

    /// Writes the beginning of a group, or passes over a comment.
    fn group(&mut self) -> Result<()> {
        if self.rest.next_if_eq(&'?').is_none() {
            self.groups += 1;
            self.out.push('(');
            self.quantifiers.constraint();
            return Ok(());
        }
        match self.rest.next() {
            Some(':') => {
                self.out.push_str("(?:");
                self.quantifiers.constraint();
                Ok(())
            }
            Some('#') => {
                self.rest.by_ref().find(|c| *c == ')');
                Ok(())
            }
            Some('=' | '!' | '<') => Err(Error::unsupported("look-around in a regular expression")),
            _ => Err(invalid("quantifier operand invalid")),
        }
    }

    /// Writes what stands behind a backslash.
    fn escape(&mut self) -> Result<()> {
        match escaped(&mut self.rest, Some(self.groups))? {
            Escape::Character(c) => push_literal(c, &mut self.out),
            Escape::Class(c) => self.out.extend(['\\', c]),
            Escape::Place(place) => {
                self.out.push_str(place);
                self.quantifiers.constraint();
                return Ok(());
            }
        }
        self.quantifiers.atom();
        Ok(())
    }

    /// Writes a bracket expression, behind its `[`.
    fn bracket(&mut self) -> Result<()> {
        for (word, place) in [("[:<:]]", r"\b{start}"), ("[:>:]]", r"\b{end}")] {
            if self.rest.clone().take(word.len()).eq(word.chars()) {
                self.rest.nth(word.len() - 1);
                self.out.push_str(place);
                self.quantifiers.constraint();
                return Ok(());
            }
        }
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
            if self.options.stops_at_newline {
                self.out.push('\n');
            }
        }
        let mut before = InBrackets::First;
        loop {
            let mut now = match before {
                InBrackets::RangeBegun => InBrackets::Range,
                InBrackets::First | InBrackets::Character | InBrackets::Range => InBrackets::Character,
            };
            match self.rest.next() {
                None => return Err(invalid("brackets [] not balanced")),
                Some(']') if before != InBrackets::First => break,
                Some('[') if self.rest.peek() == Some(&':') => self.class_name()?,
                Some('\\') => match escaped(&mut self.rest, None)? {
                    Escape::Character(c) => push_literal(c, &mut self.out),
                    Escape::Class(c) => self.out.extend(['\\', c]),
                    Escape::Place(_) => return Err(invalid("invalid escape \\ sequence")),
                },
                Some('-') if before == InBrackets::Range && self.rest.peek() != Some(&']') => {
                    return Err(invalid("invalid character range"));
                }
                Some('-') if before == InBrackets::Character && self.rest.peek() != Some(&']') => {
                    self.out.push('-');
                    now = InBrackets::RangeBegun;
                }
                Some(c) => push_literal(c, &mut self.out),
            }
            before = now;
        }
        self.out.push(']');
        self.quantifiers.atom();
        Ok(())
    }

    /// Writes `[:name:]`, behind its `[`.
    fn class_name(&mut self) -> Result<()> {
        let mut name = String::from("[");
        for c in self.rest.by_ref() {
            name.push(c);
            if c == ']' {
                break;
            }
        }
        let known = [
            "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
            "upper", "xdigit", "word",
        ];
        let bare = name.strip_prefix("[:").and_then(|name| name.strip_suffix(":]"));
        if !bare.is_some_and(|bare| known.contains(&bare)) {
            return Err(invalid("invalid character class"));
        }
        self.out.push_str(&name);
        Ok(())
    }
}

/// What stands behind a backslash. `groups`: number of groups that a back-reference may mean; `None` in brackets.
/// Errors 2201B, 0A000.
fn escaped(rest: &mut Peekable<Chars<'_>>, groups: Option<u32>) -> Result<Escape> {
    let refused = || invalid("invalid escape \\ sequence");
    let c = rest.next().ok_or_else(refused)?;
    if !c.is_ascii_alphanumeric() {
        return Ok(Escape::Character(c));
    }
    Ok(match c {
        'a' => Escape::Character('\x07'),
        'b' => Escape::Character('\x08'),
        'B' => Escape::Character('\\'),
        'c' => {
            let control = rest.next().ok_or_else(refused)? as u32 & 0x1f;
            Escape::Character(char::from(control as u8))
        }
        'e' => Escape::Character('\x1b'),
        'f' => Escape::Character('\x0c'),
        'n' => Escape::Character('\n'),
        'r' => Escape::Character('\r'),
        't' => Escape::Character('\t'),
        'v' => Escape::Character('\x0b'),
        'u' => Escape::Character(coded(rest, 16, 4, 4)?),
        'U' => Escape::Character(coded(rest, 16, 8, 8)?),
        'x' => Escape::Character(coded(rest, 16, 1, 255)?),
        'd' | 'D' | 's' | 'S' | 'w' | 'W' => Escape::Class(c),
        'A' => Escape::Place(r"\A"),
        'm' => Escape::Place(r"\b{start}"),
        'M' => Escape::Place(r"\b{end}"),
        'y' => Escape::Place(r"\b"),
        'Y' => Escape::Place(r"\B"),
        'Z' => Escape::Place(r"\z"),
        '0'..='9' => {
            let digits: String = std::iter::once(c)
                .chain(rest.clone().take_while(char::is_ascii_digit))
                .collect();
            let number = digits.parse::<u32>().unwrap_or(u32::MAX);
            match groups {
                _ if c == '0' => {}
                Some(groups) if number <= groups => {
                    return Err(Error::unsupported("a back-reference in a regular expression"));
                }
                Some(_) if digits.len() == 1 => return Err(invalid("invalid backreference number")),
                None if digits.len() == 1 => return Err(refused()),
                Some(_) | None => {}
            }
            Escape::Character(octal(c, rest)?)
        }
        _ => return Err(refused()),
    })
}

/// The character of a number with `least` to `most` digits.
fn coded(rest: &mut Peekable<Chars<'_>>, radix: u32, least: usize, most: usize) -> Result<char> {
    let (mut code, mut count) = (0_u32, 0);
    while count < most {
        let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        code = code.saturating_mul(radix).saturating_add(digit);
        rest.next();
        count += 1;
    }
    let c = char::from_u32(code).filter(|_| count >= least);
    c.ok_or_else(|| invalid("invalid escape \\ sequence"))
}

/// The character of one to three octal digits, up to 255, of which the first was taken.
fn octal(first: char, rest: &mut Peekable<Chars<'_>>) -> Result<char> {
    let mut code = first
        .to_digit(8)
        .ok_or_else(|| invalid("invalid escape \\ sequence"))?;
    for _ in 0..2 {
        match rest.peek().and_then(|c| c.to_digit(8)) {
            Some(digit) if code * 8 + digit <= 0xff => code = code * 8 + digit,
            _ => break,
        }
        rest.next();
    }
    Ok(char::from(code as u8))
}
