//! `to_char` of numbers.

use super::date_pattern::Ordinal;
use super::number_pattern::{NumberPattern, Part, SignPlace};
use super::show_date::ending;

/// A number as a pattern shows it.
pub(super) struct Digits {
    pub is_negative: bool,
    /// Digits and perhaps a point, no more of them behind it than the pattern has.
    pub text: String,
    /// Places behind the point that are shown where the number is too long.
    pub behind: usize,
}

/// Characters that a Roman number is written in.
const ROMAN_WIDTH: usize = 15;

/// Writes a number by a pattern that is neither Roman nor scientific.
pub(super) fn show(pattern: &NumberPattern, digits: &Digits, out: &mut String) {
    let digits_before = digits.text.find('.').unwrap_or(digits.text.len());
    let before = pattern.before + pattern.shifted;
    let is_too_long = digits_before > before;
    let text = match is_too_long {
        // What has no room is shown as such.
        true => format!("{}.{}", "#".repeat(before), "#".repeat(digits.behind)),
        false => digits.text.clone(),
    };
    let writer = Writer {
        pattern,
        is_negative: digits.is_negative,
        text: text.as_bytes(),
        at: 0,
        blanks: if is_too_long { 0 } else { before - digits_before },
        position: 0,
        is_sign_written: false,
        has_digits: false,
        is_over: false,
        last_relevant: None,
        positions: before + pattern.behind,
        sign: pattern.sign,
        has_brackets: pattern.has_brackets,
        out,
    };
    writer.write();
}

/// A number while it is written.
struct Writer<'a> {
    pattern: &'a NumberPattern,
    is_negative: bool,
    /// The number's digits and point.
    text: &'a [u8],
    /// The next of them.
    at: usize,
    /// Digits of the pattern in front of the number's.
    blanks: usize,
    /// Digits and points of the pattern that were passed.
    position: usize,
    is_sign_written: bool,
    /// Whether the digit before was one of the number's.
    has_digits: bool,
    /// The pattern has a point without digits behind it: there PostgreSQL's text ends.
    is_over: bool,
    /// The last character of the number that is not a zero at its end.
    last_relevant: Option<usize>,
    /// Places of the pattern.
    positions: usize,
    sign: Option<SignPlace>,
    has_brackets: bool,
    out: &'a mut String,
}

impl Writer<'_> {
    fn write(mut self) {
        let pattern = self.pattern;
        self.begin();
        for part in &pattern.parts {
            if self.is_over {
                break;
            }
            match part {
                Part::Digit | Part::Zero | Part::Point => self.place(*part),
                Part::Group if !self.has_digits => self.blank(),
                Part::Group => self.out.push(','),
                Part::Ordinal(letters) => self.ordinal(*letters),
                Part::Minus if self.is_negative => self.out.push('-'),
                Part::Plus if !self.is_negative => self.out.push('+'),
                Part::Minus | Part::Plus => self.blank(),
                Part::PlusOrMinus => self.out.push(if self.is_negative { '-' } else { '+' }),
                Part::Currency => self.out.push(' '),
                Part::Sign | Part::Brackets | Part::Roman | Part::Mark => {}
                Part::Letter(c) => self.out.push(*c),
            }
        }
    }

    fn begin(&mut self) {
        let pattern = self.pattern;
        if pattern.has_plus || pattern.has_minus {
            self.is_sign_written = !pattern.has_plus || pattern.has_minus;
        } else {
            if !self.is_negative && pattern.is_tight {
                self.has_brackets = false;
            }
            self.is_sign_written = !self.is_negative && pattern.is_tight && self.sign.is_none();
            if self.sign == Some(SignPlace::Before) && pattern.before + pattern.shifted == pattern.before_sign
            {
                self.sign = Some(SignPlace::Behind);
            }
        }
        if pattern.is_tight && pattern.has_point {
            self.last_relevant = self.last_relevant_digit();
        }
        if !self.is_sign_written && self.blanks == 0 {
            self.positions += 1;
        }
    }

    /// The point, or the last digit behind it that is not a 0 or that the pattern wants in any case.
    fn last_relevant_digit(&self) -> Option<usize> {
        let point = self.text.iter().position(|&b| b == b'.')?;
        let last = self
            .text
            .iter()
            .rposition(|&b| b != b'0')
            .unwrap_or(point)
            .max(point);
        let wanted = match self.pattern.last_zero > self.blanks {
            true => (self.text.len() - 1).min(self.pattern.last_zero - self.blanks),
            false => 0,
        };
        Some(last.max(wanted))
    }

    /// A blank that FM drops.
    fn blank(&mut self) {
        if !self.pattern.is_tight {
            self.out.push(' ');
        }
    }

    fn ordinal(&mut self, letters: Ordinal) {
        if self.text.first() == Some(&b'#') || self.is_negative || self.pattern.has_point {
            return;
        }
        let number = String::from_utf8_lossy(self.text);
        self.out.push_str(ending(&number, letters));
    }

    /// Whether the number is at a 0 before the point that a pattern without zeros drops.
    fn is_at_dropped_zero(&self) -> bool {
        self.pattern.first_zero.is_none()
            && self.at == 0
            && self.text.first() == Some(&b'0')
            && self.pattern.behind != 0
    }

    fn is_relevant_point(&self) -> bool {
        self.last_relevant.is_some_and(|last| self.text[last] == b'.')
    }

    fn place(&mut self, part: Part) {
        self.has_digits = false;
        let at_zeros = self
            .pattern
            .first_zero
            .is_some_and(|first| first <= self.position);
        let is_first = self.position >= self.blanks || self.pattern.first_zero == Some(self.position);
        if !self.is_sign_written && is_first && (!self.is_at_dropped_zero() || self.is_relevant_point()) {
            self.leading_sign();
        }
        match self.position < self.blanks {
            true if at_zeros => {
                self.out.push('0');
                self.has_digits = true;
            }
            true => self.blank(),
            false => self.digit_or_point(part),
        }
        if !self.is_over {
            self.trailing_sign();
        }
        self.position += 1;
    }

    fn leading_sign(&mut self) {
        match (self.sign, self.has_brackets) {
            (Some(SignPlace::Behind), _) => return,
            (Some(SignPlace::Before), _) => self.out.push(if self.is_negative { '-' } else { '+' }),
            (None, true) => self.out.push(if self.is_negative { '<' } else { ' ' }),
            (None, false) if self.is_negative => self.out.push('-'),
            (None, false) => self.blank(),
        }
        self.is_sign_written = true;
    }

    fn digit_or_point(&mut self, part: Part) {
        let next = self.text.get(self.at).copied();
        if next == Some(b'.') {
            if !self.is_relevant_point() || self.pattern.is_tight {
                self.out.push('.');
            }
        } else if self.last_relevant.is_some_and(|last| self.at > last) && part != Part::Zero {
            // A zero at the end, which FM drops.
        } else if self.is_at_dropped_zero() {
            match self.is_relevant_point() {
                true if self.pattern.is_tight => self.out.push('0'),
                _ => self.blank(),
            }
        } else if let Some(digit) = next {
            self.out.push(digit.into());
            self.has_digits = true;
        } else {
            self.is_over = true;
        }
        self.at += usize::from(next.is_some());
    }

    /// The sign behind the last digit.
    fn trailing_sign(&mut self) {
        let end = self.positions + usize::from(self.blanks > 0) + usize::from(self.pattern.has_point);
        if self.position + 2 != end || self.last_relevant == Some(self.at) {
            return;
        }
        if self.is_sign_written && self.has_brackets {
            self.out.push(if self.is_negative { '>' } else { ' ' });
        } else if self.sign == Some(SignPlace::Behind) {
            self.out.push(if self.is_negative { '-' } else { '+' });
        }
    }
}

/// Writes a number as Roman digits; one that has none as `#`.
pub(super) fn show_roman(number: Option<i64>, pattern: &NumberPattern, out: &mut String) {
    const ROMAN: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let text = match number {
        Some(mut left @ 1..4000) => {
            let mut text = String::new();
            for (value, digits) in ROMAN {
                while left >= value {
                    text.push_str(digits);
                    left -= value;
                }
            }
            text
        }
        _ => "#".repeat(ROMAN_WIDTH),
    };
    let text = match pattern.roman {
        Some(Ordinal::Lower) => text.to_ascii_lowercase(),
        _ => text,
    };
    if !pattern.is_tight {
        out.extend(std::iter::repeat_n(
            ' ',
            ROMAN_WIDTH - text.len().min(ROMAN_WIDTH),
        ));
    }
    out.push_str(&text);
}
