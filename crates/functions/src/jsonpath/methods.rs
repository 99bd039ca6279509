//! Methods of items.

use super::arithmetic::whole;
use super::evaluate::{Evaluation, Outcome};
use super::item::{Item, List, Pair, View};
use crate::scalar_functions::{read_by, read_iso};
use frazil_types::json::{Method, Step, characters};
use frazil_types::{Error, SqlState, value_ops};
use std::rc::Rc;

/// Digits of a double that become a number's.
const DOUBLE_DIGITS: usize = 15;

/// Whether a method of an array, in lax mode, is one of its elements.
pub(super) fn goes_through(method: Method) -> bool {
    match method {
        Method::Type | Method::Size => false,
        Method::Double | Method::Ceiling | Method::Floor | Method::Abs | Method::KeyValue => true,
    }
}

impl<'a> Evaluation<'a> {
    /// Takes what a method gives of an item through the steps.
    pub fn method(
        &mut self,
        method: Method,
        rest: &'a [Step],
        item: &Item<'a>,
        found: Option<&mut List<'a>>,
    ) -> Outcome {
        let name = method.name();
        let made = match (method, item.number()) {
            (Method::Type, _) => Item::String(item.kind().into()),
            (Method::Size, _) => match item.array() {
                Some(array) => Item::Number(array.len().to_string().into()),
                None if self.is_lax => Item::Number("1".into()),
                None => {
                    return self.misfit_of_method(SqlState::JSON_ARRAY_NOT_FOUND, name, "an array");
                }
            },
            (Method::KeyValue, _) => return self.key_value(rest, item, found),
            (Method::Double, _) => self.double(item)?,
            (Method::Abs, Some(digits)) => Item::Number(digits.trim_start_matches('-').to_owned().into()),
            (Method::Ceiling | Method::Floor, Some(digits)) => {
                Item::Number(whole(digits, method == Method::Ceiling)?.into())
            }
            (Method::Abs | Method::Ceiling | Method::Floor, None) => {
                return Err(self.fault(SqlState::NON_NUMERIC_JSON_ITEM, || {
                    format!("jsonpath item method .{name}() can only be applied to a numeric value")
                }));
            }
        };
        self.next(rest, &made, found)
    }

    /// A double as a number: of a number itself, if it is in a double's range.
    fn double(&self, item: &Item<'a>) -> Result<Item<'a>, super::evaluate::Fault> {
        let read = |text: &str| {
            let value = value_ops::read_double(text).ok();
            value.filter(|value| value.is_finite())
        };
        match item.view() {
            View::Number(digits) if read(characters(digits)).is_some() => Ok(item.clone()),
            View::Number(_) => Err(self.fault(SqlState::NON_NUMERIC_JSON_ITEM, || {
                "numeric argument of jsonpath item method .double() is out of range for type double precision"
                    .to_owned()
            })),
            View::String(text) => match read(characters(text)) {
                Some(value) => Ok(Item::Number(digits_of(value)?.into())),
                None => Err(self.fault(SqlState::NON_NUMERIC_JSON_ITEM, || {
                    "string argument of jsonpath item method .double() is not a valid representation of a \
                     double precision number"
                        .to_owned()
                })),
            },
            _ => Err(self.fault(SqlState::NON_NUMERIC_JSON_ITEM, || {
                "jsonpath item method .double() can only be applied to a string or numeric value".to_owned()
            })),
        }
    }

    fn misfit_of_method(&self, state: SqlState, name: &str, what: &str) -> Outcome {
        Err(self.fault(state, || {
            format!("jsonpath item method .{name}() can only be applied to {what}")
        }))
    }

    /// Takes the members of an object through the steps, each as an object of its key, its value and an id.
    fn key_value(&mut self, rest: &'a [Step], item: &Item<'a>, mut found: Option<&mut List<'a>>) -> Outcome {
        let (id, members): (i64, Vec<(&'a str, Item<'a>)>) = match (item, item.view()) {
            (Item::Stored(binary), View::Object(object)) => {
                let members = object.members().map(|(key, value)| (key, Item::Stored(value)));
                (self.id_at(binary.as_ptr() as usize), members.collect())
            }
            (_, View::Pair(pair)) => (Evaluation::id_of_made(pair.own), pair.members().into()),
            _ => return self.misfit_of_method(SqlState::JSON_OBJECT_NOT_FOUND, "keyvalue", "an object"),
        };
        if found.is_none() && rest.is_empty() {
            return Ok(!members.is_empty());
        }
        let mut is_found = false;
        for (key, value) in members {
            let own = self.next_object;
            self.next_object += 1;
            let pair = Pair { id, key, value, own };
            is_found = self.next(rest, &Item::Pair(Rc::new(pair)), found.as_deref_mut())?;
            if is_found && found.is_none() {
                return Ok(true);
            }
        }
        Ok(is_found)
    }

    /// Takes the moment that a string shows through the steps.
    pub fn datetime(
        &mut self,
        template: Option<&str>,
        rest: &'a [Step],
        item: &Item<'a>,
        found: Option<&mut List<'a>>,
    ) -> Outcome {
        let state = SqlState::INVALID_JSON_DATETIME;
        let Some(text) = item.string() else {
            return self.misfit_of_method(state, "datetime", "a string");
        };
        let moment = match template {
            Some(template) => read_by(text, template).map_err(|error| match self.throws {
                true => super::evaluate::Fault::Raised(error),
                false => super::evaluate::Fault::Suppressed,
            })?,
            None => match read_iso(text) {
                Some(moment) => moment,
                None if !self.throws => return Err(super::evaluate::Fault::Suppressed),
                None => {
                    let message = format!("datetime format is not recognized: \"{text}\"");
                    let hint = "Use a datetime template argument to specify the input data format.";
                    return Err(Error::new(state, message).with_hint(hint).into());
                }
            },
        };
        self.next(rest, &Item::Datetime(moment), found)
    }
}

/// The digits of a double, of which 15 count.
fn digits_of(value: f64) -> frazil_types::Result<String> {
    let shown = format!("{value:.0$e}", DOUBLE_DIGITS - 1);
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    frazil_types::json::plain_number(&format!("{mantissa}e{exponent}"))
}
