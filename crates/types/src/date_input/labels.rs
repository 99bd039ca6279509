//! Numbers behind labels, as in `y2001m02d04` and `J2451187`.

use super::decoded::{Decode, Refusal};
use super::fields::{DATE, DAY, Fields, HOUR, MINUTE, MONTH, Set, TIME, YEAR};
use super::numbers::{fraction, integer};
use super::words::Label;
use crate::date::MICROS_PER_DAY;

impl Fields {
    /// Sets the field of a label to the number behind it.
    pub fn labelled(&mut self, label: Label, text: &str) -> Decode<Set> {
        let (value, rest) = integer(text, Refusal::Field)?;
        let may_have_fraction = match label {
            Label::Julian | Label::Time | Label::Second => true,
            Label::Year | Label::Month | Label::Day | Label::Hour | Label::Minute | Label::Other => false,
        };
        if !(rest.is_empty() || may_have_fraction && rest.starts_with('.')) {
            return Err(Refusal::Syntax);
        }
        let (field, sets) = match label {
            Label::Year => (&mut self.year, YEAR),
            // Behind a month and an hour `m` labels minutes.
            Label::Month if self.has(MONTH | HOUR) => (&mut self.minute, MINUTE),
            Label::Month => (&mut self.month, MONTH),
            Label::Day => (&mut self.day, DAY),
            Label::Hour => (&mut self.hour, HOUR),
            Label::Minute => (&mut self.minute, MINUTE),
            Label::Second => return self.seconds(value, rest),
            Label::Julian => return self.julian(value, rest),
            Label::Time => {
                let sets = self.number_field(text, self.set | DATE)?;
                return if sets == TIME {
                    Ok(TIME)
                } else {
                    Err(Refusal::Syntax)
                };
            }
            Label::Other => return Err(Refusal::Syntax),
        };
        *field = value;
        Ok(sets)
    }

    /// A Julian day, whose fraction is the time since midnight.
    fn julian(&mut self, number: i32, rest: &str) -> Decode<Set> {
        self.set_julian(number);
        if rest.is_empty() {
            return Ok(DATE);
        }
        self.set_clock((fraction(rest)? * MICROS_PER_DAY as f64) as i64);
        Ok(DATE | TIME)
    }
}
