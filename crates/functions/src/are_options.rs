//! Options of PostgreSQL's regular expressions: letters that a function is given, and those that an expression begins
//! with
//! (`***=`, `***:`, `(?n)`).

use frazil_types::{Error, Result, SqlState};

/// How an expression is read and matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Options {
    /// The expression is a text: no character has another meaning.
    pub is_literal: bool,
    pub ignores_case: bool,
    /// Blanks and comments do not count.
    pub is_expanded: bool,
    /// `.` and brackets with `^` never match a newline.
    pub stops_at_newline: bool,
    /// `^` and `$` match at each line.
    pub has_lines: bool,
}

impl Options {
    /// The options of a function's flags; `g` is the function's own. Error 22023.
    pub fn of_flags(flags: &str) -> Result<Options> {
        let mut options = Options::default();
        for flag in flags.chars().filter(|flag| *flag != 'g') {
            options.add(flag).ok_or_else(|| {
                let message = format!("invalid regular expression option: \"{flag}\"");
                Error::new(SqlState::INVALID_PARAMETER, message)
            })?;
        }
        Ok(options)
    }

    /// Adds an option by its letter; `None` if there is no such option.
    fn add(&mut self, letter: char) -> Option<()> {
        match letter {
            'i' => self.ignores_case = true,
            'c' => self.ignores_case = false,
            'n' | 'm' => (self.stops_at_newline, self.has_lines) = (true, true),
            's' => (self.stops_at_newline, self.has_lines) = (false, false),
            'p' => (self.stops_at_newline, self.has_lines) = (true, false),
            'w' => (self.stops_at_newline, self.has_lines) = (false, true),
            'x' => self.is_expanded = true,
            't' => self.is_expanded = false,
            'q' => self.is_literal = true,
            'e' => self.is_literal = false,
            _ => return None,
        }
        Some(())
    }

    /// Adds the options that an expression begins with, and returns the rest of the expression. Errors: 2201B; 0A000
    /// for basic regular
    /// expressions.
    pub fn take_prefix(&mut self, pattern: &str) -> Result<usize> {
        if self.is_literal {
            return Ok(0);
        }
        let mut at = 0;
        if let Some(rest) = pattern.strip_prefix("***") {
            match rest.as_bytes().first() {
                Some(b'=') => {
                    self.is_literal = true;
                    return Ok(4);
                }
                Some(b':') => at = 4,
                Some(b'?') => return Err(invalid("invalid regexp (reg version 0.8)")),
                _ => return Err(invalid("quantifier operand invalid")),
            }
        }
        let letters = pattern[at..].strip_prefix("(?");
        let letters = letters.filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        let Some(letters) = letters else { return Ok(at) };
        let count = letters.bytes().take_while(u8::is_ascii_alphabetic).count();
        if !letters[count..].starts_with(')') {
            return Err(invalid("invalid embedded option"));
        }
        for letter in letters[..count].chars() {
            if letter == 'b' {
                return Err(Error::unsupported("a basic regular expression"));
            }
            self.add(letter)
                .ok_or_else(|| invalid("invalid embedded option"))?;
        }
        Ok(at + 2 + count + 1)
    }
}

/// The error 2201B of an expression.
pub(crate) fn invalid(reason: &str) -> Error {
    Error::new(
        SqlState::INVALID_REGULAR_EXPRESSION,
        format!("invalid regular expression: {reason}"),
    )
}
