//! `to_number`: reading a number by a pattern. As in PostgreSQL, what is not a part of a number need not be that of
//! the pattern.

use super::number_pattern::{NumberPattern, Part};
use frazil_types::{Error, Result, SqlState};

/// A number while it is read.
struct Reader<'t> {
    pattern: &'t NumberPattern,
    rest: &'t str,
    is_negative: Option<bool>,
    digits: String,
    before: usize,
    behind: usize,
    has_point: bool,
}

/// The digits of the number that a text shows by a pattern, with sign and point. Errors: 22P02 where there are none,
/// 22003 for more before the point than the pattern has.
pub(super) fn read(text: &str, pattern: &NumberPattern) -> Result<String> {
    let mut reader = Reader {
        pattern,
        rest: text,
        is_negative: None,
        digits: String::new(),
        before: 0,
        behind: 0,
        has_point: false,
    };
    for part in &pattern.parts {
        if reader.rest.is_empty() {
            break;
        }
        reader.part(*part);
    }
    if reader.before + reader.behind == 0 {
        let message = "invalid input syntax for type numeric: \" \"";
        return Err(Error::new(SqlState::INVALID_TEXT, message));
    }
    let whole = reader
        .digits
        .split('.')
        .next()
        .unwrap_or("")
        .trim_start_matches('0');
    if whole.len() > pattern.before + pattern.shifted {
        return Err(Error::new(
            SqlState::NUMERIC_OUT_OF_RANGE,
            "numeric field overflow",
        ));
    }
    let sign = if reader.is_negative == Some(true) { "-" } else { "" };
    Ok(format!("{sign}{}", reader.digits.trim_end_matches('.')))
}

impl Reader<'_> {
    fn part(&mut self, part: Part) {
        match part {
            Part::Digit | Part::Zero | Part::Point => self.place(part),
            Part::Group if self.rest.starts_with(',') => self.skip(),
            Part::Group | Part::Sign | Part::Brackets | Part::Mark => {}
            Part::Minus => match self.rest.starts_with('-') {
                true => self.take_sign(),
                false => self.skip_others(1),
            },
            Part::Plus => match self.rest.starts_with('+') {
                true => self.take_sign(),
                false => self.skip_others(1),
            },
            Part::PlusOrMinus => match self.rest.starts_with(['+', '-']) {
                true => self.take_sign(),
                false => self.skip_others(1),
            },
            Part::Ordinal(_) => self.skip_others(2),
            Part::Currency => self.skip_others(1),
            // Whatever stands in its place.
            Part::Letter(_) => self.skip(),
            Part::Roman => {}
        }
    }

    fn skip(&mut self) {
        let mut rest = self.rest.chars();
        rest.next();
        self.rest = rest.as_str();
    }

    /// Passes over characters that no number has.
    fn skip_others(&mut self, count: usize) {
        for _ in 0..count {
            if !self
                .rest
                .starts_with(|c: char| c.is_ascii_digit() || ".,+-".contains(c))
            {
                self.skip();
            }
        }
    }

    fn take_sign(&mut self) {
        self.is_negative = Some(self.rest.starts_with(['-', '<']));
        self.skip();
    }

    fn place(&mut self, part: Part) {
        if self.rest.starts_with(' ') {
            self.skip();
        }
        let is_sign =
            |rest: &str| rest.starts_with(['-', '+']) || self.pattern.has_brackets && rest.starts_with('<');
        let is_first = self.before + self.behind == 0;
        if self.is_negative.is_none() && part != Part::Point && is_first && is_sign(self.rest) {
            self.take_sign();
        }
        let mut is_read = false;
        match self.rest.chars().next() {
            Some(digit) if digit.is_ascii_digit() => {
                if self.has_point && self.behind == self.pattern.behind {
                    return;
                }
                self.digits.push(digit);
                match self.has_point {
                    true => self.behind += 1,
                    false => self.before += 1,
                }
                is_read = true;
            }
            Some('.') if self.pattern.has_point && !self.has_point => {
                self.digits.push('.');
                self.has_point = true;
                is_read = true;
            }
            _ => {}
        }
        if self.is_negative.is_none() && self.before + self.behind > 0 {
            self.sign_behind(is_read);
        }
        if !self.rest.is_empty() {
            self.skip();
        }
    }

    /// The sign behind the last digit: of `S` where no other digit follows, else of `MI` and its like where the
    /// pattern has more digits than the number.
    fn sign_behind(&mut self, is_read: bool) {
        let next = self.rest.get(1..).unwrap_or("");
        if self.pattern.sign.is_some() && is_read {
            if next.starts_with(['-', '+']) {
                self.is_negative = Some(next.starts_with('-'));
                self.skip();
            }
        } else if !is_read
            && self.pattern.sign.is_none()
            && (self.pattern.has_plus || self.pattern.has_minus)
            && self.rest.starts_with(['-', '+'])
        {
            self.is_negative = Some(self.rest.starts_with('-'));
        }
    }
}
