//! Paths in documents (PostgreSQL's manual, 9.16.2): a path is read once for all rows that have it, and evaluated on
//! the binary form of each document.

mod arithmetic;
mod datetime;
mod evaluate;
mod item;
mod methods;
mod predicate;
#[cfg(test)]
mod tests;

use crate::vector::{Output, Row};
use evaluate::{Clock, Evaluation, Fault, Setting};
use frazil_types::json::{Json, LikeRegex, Path, array_of};
use frazil_types::{Error, Result, SqlState, Value};
use item::{Item, List, View};
use regex::Regex;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Paths that a thread keeps.
const KEPT: usize = 16;

/// A path with its regular expressions, each compiled when it is first needed.
pub(crate) struct Compiled {
    text: String,
    path: Path,
    patterns: Vec<OnceCell<Regex>>,
}

impl Compiled {
    fn new(text: &str) -> Result<Compiled> {
        let path = Path::new(text)?;
        let patterns = (0..path.patterns).map(|_| OnceCell::new()).collect();
        let text = text.to_owned();
        Ok(Compiled { text, path, patterns })
    }

    /// A regular expression of the path. Error 2201B.
    fn regex(&self, like: &LikeRegex) -> Result<&Regex> {
        let cell = self.patterns.get(like.slot);
        let cell = cell.ok_or_else(|| Error::internal("a pattern of another path"))?;
        if let Some(regex) = cell.get() {
            return Ok(regex);
        }
        // A point stands for the end of a line with the flag s alone.
        let has = |flag: char| like.flags.contains(flag);
        let mut flags = String::new();
        flags.extend(has('i').then_some('i'));
        if has('q') {
            flags.push('q');
        } else {
            flags.push(match (has('m'), has('s')) {
                (true, true) => 'w',
                (true, false) => 'n',
                (false, true) => 's',
                (false, false) => 'p',
            });
        }
        let regex = crate::regular_expression::compiled(&like.pattern, &flags)?;
        Ok(cell.get_or_init(|| regex))
    }
}

/// The path of a row, kept for the next rows of the vector: mostly it is the same.
fn compiled(row: &Row<'_>, out: &mut Output<'_>) -> Result<Rc<Compiled>> {
    let text = row.bytes(1);
    let kept = out.kept.clone().and_then(|kept| kept.downcast::<Compiled>().ok());
    if let Some(kept) = kept
        && kept.text.as_bytes() == text
    {
        return Ok(kept);
    }
    let found = known(std::str::from_utf8(text).unwrap_or(""))?;
    out.kept = Some(found.clone());
    Ok(found)
}

/// The path of a text, kept for the thread's next vectors.
fn known(text: &str) -> Result<Rc<Compiled>> {
    thread_local! {
        /// The one used last stands first.
        static KNOWN: RefCell<Vec<Rc<Compiled>>> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(at) = known.iter().position(|own| own.text == text) {
            known.swap(0, at);
        } else {
            known.truncate(KEPT - 1);
            known.insert(0, Rc::new(Compiled::new(text)?));
        }
        Ok(known[0].clone())
    })
}

/// How a function of paths is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `f(document, path [, variables [, silent]])`.
    Call,
    /// The same, with the statement's start behind all others: its type's zone decides.
    Zoned,
    /// `document operator path`: silent, without variables.
    Operator,
}

/// The variables of a row that has them, an object in its binary form. Error 22023 for what is no object.
fn variables<'a>(row: &'a Row<'_>) -> Result<&'a [u8]> {
    let variables = row.bytes(2);
    match Json::new(variables) {
        Json::Object(_) => Ok(variables),
        _ => {
            let detail = "Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.";
            let message = "\"vars\" argument is not an object";
            Err(Error::new(SqlState::INVALID_PARAMETER, message).with_detail(detail))
        }
    }
}

/// Evaluates the path of a row for what `use_found` makes of the items; it is given `None` where a silent call is in
/// error, with the items found before, else whether there are any. `asks`: that is all that is asked, and no item is
/// given.
#[inline]
fn evaluate<T>(
    row: &Row<'_>,
    form: Form,
    asks: bool,
    out: &mut Output<'_>,
    use_found: impl FnOnce(Option<bool>, &List<'_>, &mut Output<'_>) -> Result<T>,
) -> Result<T> {
    let given = row.arguments() - usize::from(form == Form::Zoned);
    let compiled = compiled(row, out)?;
    let context = out.context();
    let setting = Setting {
        document: row.bytes(0),
        variables: match form {
            Form::Operator => None,
            Form::Call | Form::Zoned if given > 2 => Some(variables(row)?),
            Form::Call | Form::Zoned => Some(&[]),
        },
        throws: !is_silent(row, form),
        clock: (form == Form::Zoned).then(|| Clock {
            zone: row.ty(given).zone(),
            now: row.int(given),
        }),
        poll: &|| context.check(),
    };
    let mut evaluation = Evaluation::new(&compiled, &setting);
    let mut list = List::default();
    match evaluation.run((!asks).then_some(&mut list)) {
        Ok(found) => use_found(Some(found), &list, out),
        Err(Fault::Suppressed) => use_found(None, &list, out),
        Err(Fault::Raised(error)) => Err(error),
    }
}

/// Whether a call gives NULL for errors that the document makes.
fn is_silent(row: &Row<'_>, form: Form) -> bool {
    let given = row.arguments() - usize::from(form == Form::Zoned);
    form == Form::Operator || given > 3 && row.bool(3)
}

/// Whether the path finds something.
pub(crate) fn exists(row: &Row<'_>, form: Form, out: &mut Output<'_>) -> Result<()> {
    evaluate(row, form, true, out, |found, _, out| match found {
        Some(found) => out.bool(found),
        None => out.null(),
    })
}

/// Whether the one item that the path finds is true. Error 22038 for what is not one boolean.
pub(crate) fn matches(row: &Row<'_>, form: Form, out: &mut Output<'_>) -> Result<()> {
    evaluate(row, form, false, out, |_, list, out| {
        let only = match list.items() {
            [only] => Some(only.view()),
            _ => None,
        };
        match only {
            Some(View::Boolean(value)) => out.bool(value),
            Some(View::Null) => out.null(),
            _ if is_silent(row, form) => out.null(),
            _ => {
                let message = "single boolean result is expected";
                Err(Error::new(SqlState::SINGLETON_JSON_ITEM_REQUIRED, message))
            }
        }
    })
}

/// The items as an array.
pub(crate) fn query_array(row: &Row<'_>, form: Form, out: &mut Output<'_>) -> Result<()> {
    evaluate(row, form, false, out, |_, list, out| {
        let items = list.items().iter();
        out.bytes(&array_of(
            items.map(|item| item.to_binary().into_owned()).collect(),
        ))
    })
}

/// The first item, or NULL.
pub(crate) fn query_first(row: &Row<'_>, form: Form, out: &mut Output<'_>) -> Result<()> {
    evaluate(row, form, false, out, |_, list, out| match list.items().first() {
        Some(first) => out.bytes(&first.to_binary()),
        None => out.null(),
    })
}

/// The items as values of jsonb.
pub(crate) fn query(row: &Row<'_>, form: Form, out: &mut Output<'_>) -> Result<Vec<Value>> {
    evaluate(row, form, false, out, |_, list, _| {
        let value = |item: &Item<'_>| Value::Bytes(item.to_binary().into_owned());
        Ok(list.items().iter().map(value).collect())
    })
}
