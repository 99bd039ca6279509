//! Patterns of numbers, as `to_char` and `to_number` take them.

use super::date_pattern::Ordinal;
use frazil_types::{Error, Result, SqlState};
use std::cell::RefCell;
use std::rc::Rc;

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// `9`
    Digit,
    /// `0`
    Zero,
    /// `.` or `D`
    Point,
    /// `,` or `G`
    Group,
    /// `S`
    Sign,
    /// `MI`
    Minus,
    /// `PL`
    Plus,
    /// `SG`
    PlusOrMinus,
    /// `PR`
    Brackets,
    /// `RN` or `rn`
    Roman,
    /// `TH` or `th`
    Ordinal(Ordinal),
    /// `L`: there is no currency in locale C.
    Currency,
    /// `V`, `B`, `FM`, `EEEE` and `SP`: they write nothing where they stand.
    Mark,
    Letter(char),
}

/// Where the sign of `S` goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignPlace {
    Before,
    Behind,
}

/// What a pattern asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NumberPattern {
    pub parts: Vec<Part>,
    /// Digits before the point, and behind it.
    pub before: usize,
    pub behind: usize,
    /// Digits behind `V`, by which the number is multiplied.
    pub shifted: usize,
    /// Digits in front of the first `0`, if there is one, and digits up to the last one.
    pub first_zero: Option<usize>,
    pub last_zero: usize,
    pub sign: Option<SignPlace>,
    /// Digits in front of `S`.
    pub before_sign: usize,
    pub is_tight: bool,
    pub has_point: bool,
    pub has_blank: bool,
    pub is_scientific: bool,
    pub has_brackets: bool,
    pub has_minus: bool,
    pub has_plus: bool,
    /// In small letters or in large ones.
    pub roman: Option<Ordinal>,
    has_shift: bool,
}

/// Calls `run` with a pattern: it is kept for the next row, whose pattern mostly is the same. Error 42601 for a
/// pattern that contradicts itself.
pub(super) fn with_pattern<R>(text: &str, run: impl FnOnce(&NumberPattern) -> Result<R>) -> Result<R> {
    thread_local! {
        static LAST: RefCell<(String, Rc<NumberPattern>)> = RefCell::default();
    }
    let known = LAST.with_borrow(|(known, pattern)| (known == text).then(|| pattern.clone()));
    let pattern = match known {
        Some(pattern) => pattern,
        None => {
            let pattern = Rc::new(NumberPattern::read(text)?);
            LAST.set((text.to_owned(), pattern.clone()));
            pattern
        }
    };
    run(&pattern)
}

/// Keywords, the longer ones in front. All but those of the ordinal ending and Roman numbers stand in any letters.
const KEYWORDS: &[&str] = &[
    ",", ".", "0", "9", "B", "D", "EEEE", "FM", "G", "L", "MI", "PL", "PR", "RN", "SG", "SP", "S", "TH", "V",
];

fn contradiction(message: &str) -> Error {
    Error::new(SqlState::SYNTAX_ERROR, message)
}

impl NumberPattern {
    fn read(text: &str) -> Result<NumberPattern> {
        let mut out = NumberPattern::default();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let is_there = |k: &&&str| rest.starts_with(**k) || rest.starts_with(&k.to_ascii_lowercase());
            if let Some(keyword) = KEYWORDS.iter().find(is_there) {
                let is_lower = !rest.starts_with(keyword);
                rest = &rest[keyword.len()..];
                let part = out.keyword(keyword, if is_lower { Ordinal::Lower } else { Ordinal::Upper })?;
                out.parts.push(part);
                continue;
            }
            rest = &rest[c.len_utf8()..];
            match c {
                '"' => {
                    let mut inner = rest.chars();
                    while let Some(c) = inner.next() {
                        match c {
                            '"' => break,
                            '\\' => out.parts.extend(inner.next().map(Part::Letter)),
                            c => out.parts.push(Part::Letter(c)),
                        }
                    }
                    rest = inner.as_str();
                }
                '\\' if rest.starts_with('"') => {
                    out.parts.push(Part::Letter('"'));
                    rest = &rest[1..];
                }
                c => out.parts.push(Part::Letter(c)),
            }
        }
        Ok(out)
    }

    /// Notes what a keyword asks for. Error 42601.
    fn keyword(&mut self, keyword: &str, letters: Ordinal) -> Result<Part> {
        if self.is_scientific {
            return Err(contradiction("\"EEEE\" must be the last pattern used"));
        }
        Ok(match keyword {
            "9" => {
                self.digit(false)?;
                Part::Digit
            }
            "0" => {
                self.digit(true)?;
                Part::Zero
            }
            "." | "D" => {
                self.point()?;
                Part::Point
            }
            "," | "G" => Part::Group,
            "S" => {
                self.set_sign()?;
                Part::Sign
            }
            "MI" | "PL" | "SG" => {
                if self.sign.is_some() {
                    return Err(contradiction(&format!(
                        "cannot use \"S\" and \"{keyword}\" together"
                    )));
                }
                self.has_minus |= keyword != "PL";
                self.has_plus |= keyword != "MI";
                match keyword {
                    "MI" => Part::Minus,
                    "PL" => Part::Plus,
                    _ => Part::PlusOrMinus,
                }
            }
            "PR" => {
                if self.sign.is_some() || self.has_minus || self.has_plus {
                    return Err(contradiction(
                        "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together",
                    ));
                }
                self.has_brackets = true;
                Part::Brackets
            }
            "RN" => {
                self.roman = Some(letters);
                Part::Roman
            }
            "TH" => Part::Ordinal(letters),
            "L" => Part::Currency,
            other => {
                self.mark(other)?;
                Part::Mark
            }
        })
    }

    fn digit(&mut self, is_zero: bool) -> Result<()> {
        if self.has_brackets {
            let digit = if is_zero { "0" } else { "9" };
            return Err(contradiction(&format!("\"{digit}\" must be ahead of \"PR\"")));
        }
        if is_zero && self.first_zero.is_none() && !self.has_point {
            self.first_zero = Some(self.before);
        }
        match (self.has_shift, self.has_point) {
            (true, _) if !is_zero => self.shifted += 1,
            (_, true) => self.behind += 1,
            (_, false) => self.before += 1,
        }
        if is_zero {
            self.last_zero = self.before + self.behind;
        }
        Ok(())
    }

    fn point(&mut self) -> Result<()> {
        if self.has_point {
            return Err(contradiction("multiple decimal points"));
        }
        if self.has_shift {
            return Err(contradiction("cannot use \"V\" and decimal point together"));
        }
        self.has_point = true;
        Ok(())
    }

    fn set_sign(&mut self) -> Result<()> {
        if self.sign.is_some() {
            return Err(contradiction("cannot use \"S\" twice"));
        }
        if self.has_plus || self.has_minus || self.has_brackets {
            return Err(contradiction(
                "cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together",
            ));
        }
        self.before_sign = self.before;
        self.sign = Some(match self.has_point {
            true => SignPlace::Behind,
            false => SignPlace::Before,
        });
        Ok(())
    }

    fn mark(&mut self, keyword: &str) -> Result<()> {
        match keyword {
            "FM" => self.is_tight = true,
            "B" => self.has_blank |= self.before + self.behind == 0 && self.first_zero.is_none(),
            "V" if self.has_point => {
                return Err(contradiction("cannot use \"V\" and decimal point together"));
            }
            "V" => self.has_shift = true,
            "EEEE" => {
                let with_others = self.has_blank
                    || self.is_tight
                    || self.sign.is_some()
                    || self.has_brackets
                    || self.has_minus
                    || self.has_plus
                    || self.roman.is_some()
                    || self.has_shift;
                if with_others {
                    let detail = "\"EEEE\" may only be used together with digit and decimal point patterns.";
                    let message = "\"EEEE\" is incompatible with other formats";
                    return Err(contradiction(message).with_detail(detail));
                }
                self.is_scientific = true;
            }
            _ => {}
        }
        Ok(())
    }
}
