//! Paths in documents (PostgreSQL's manual, 9.16.2): a path is read once for all rows that have it, and evaluated on the binary form
//! of each document.

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
use frazil_types::json::{Json, LikeRegex, Object, Path, array_of};
use frazil_types::{Error, Result, SqlState, Value};
use item::{Item, List};
use regex::Regex;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Paths that a thread keeps.
const KEPT: usize = 16;

/// A path with its regular expressions, each compiled when it is first needed.
pub(crate) struct Compiled {
    path: Path,
    patterns: Vec<OnceCell<Regex>>,
}

impl Compiled {
    fn new(text: &str) -> Result<Compiled> {
        let path = Path::new(text)?;
        let patterns = (0..path.patterns).map(|_| OnceCell::new()).collect();
        Ok(Compiled { path, patterns })
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
            flags.extend(has('m').then_some('w'));
            flags.extend((!has('s')).then_some('p'));
        }
        let regex = crate::regular_expression::compiled(&like.pattern, &flags)?;
        Ok(cell.get_or_init(|| regex))
    }
}

/// The path of a text, kept for the next rows: mostly it is the same.
fn compiled(text: &str) -> Result<Rc<Compiled>> {
    thread_local! {
        /// The one used last stands first.
        static KNOWN: RefCell<Vec<(String, Rc<Compiled>)>> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(at) = known.iter().position(|(own, _)| own == text) {
            known.swap(0, at);
        } else {
            known.truncate(KEPT - 1);
            known.insert(0, (text.to_owned(), Rc::new(Compiled::new(text)?)));
        }
        Ok(known[0].1.clone())
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

/// The arguments of a row.
struct Arguments<'a> {
    document: &'a [u8],
    path: &'a str,
    variables: Option<Object<'a>>,
    is_silent: bool,
    clock: Option<Clock>,
}

impl<'a> Arguments<'a> {
    /// Error 22023 for variables that are no object.
    fn of(row: &'a Row<'_>, form: Form) -> Result<Arguments<'a>> {
        let given = row.arguments() - usize::from(form == Form::Zoned);
        let path = std::str::from_utf8(row.bytes(1)).unwrap_or("");
        let variables = match (given > 2).then(|| Json::new(row.bytes(2))) {
            Some(Json::Object(object)) => Some(object),
            Some(_) => {
                let detail = "Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.";
                let message = "\"vars\" argument is not an object";
                return Err(Error::new(SqlState::INVALID_PARAMETER, message).with_detail(detail));
            }
            None => None,
        };
        Ok(Arguments {
            document: row.bytes(0),
            path,
            variables,
            is_silent: form == Form::Operator || given > 3 && row.bool(3),
            clock: (form == Form::Zoned).then(|| Clock {
                zone: row.ty(given).zone(),
                now: row.int(given),
            }),
        })
    }

    /// Evaluates the path for what `use_found` makes of the items; `None` if a silent call is in error. `asks`: whether there is one
    /// is all that is asked.
    fn evaluate<T>(
        &self,
        asks: bool,
        out: &Output<'_>,
        use_found: impl FnOnce(std::result::Result<bool, ()>, &List<'_>) -> Result<T>,
    ) -> Result<T> {
        let compiled = compiled(self.path)?;
        let poll = || out.check();
        let mut evaluation = Evaluation::new(
            &compiled,
            Setting {
                document: self.document,
                variables: self.variables,
                throws: !self.is_silent,
                clock: self.clock,
                poll: &poll,
            },
        );
        let mut list = List::default();
        let found = evaluation.run((!asks).then_some(&mut list));
        match found {
            Ok(found) => use_found(Ok(found), &list),
            Err(Fault::Suppressed) => use_found(Err(()), &list),
            Err(Fault::Raised(error)) => Err(error),
        }
    }
}

/// Whether the path finds something.
pub(crate) fn exists(row: &Row<'_>, form: Form, out: &mut Output<'_>) -> Result<()> {
    let found = Arguments::of(row, form)?.evaluate(true, out, |found, _| Ok(found.ok()))?;
    match found {
        Some(found) => out.bool(found),
        None => out.null(),
    }
}

/// Whether the one item that the path finds is true. Error 22038 for what is not one boolean.
pub(crate) fn matches(row: &Row<'_>, form: Form, out: &mut Output<'_>) -> Result<()> {
    let arguments = Arguments::of(row, form)?;
    let truth = arguments.evaluate(false, out, |_, list| match list.items() {
        [Item::Boolean(value)] => Ok(Some(*value)),
        [Item::Null] => Ok(None),
        _ if arguments.is_silent => Ok(None),
        _ => {
            let message = "single boolean result is expected";
            Err(Error::new(SqlState::SINGLETON_JSON_ITEM_REQUIRED, message))
        }
    })?;
    match truth {
        Some(truth) => out.bool(truth),
        None => out.null(),
    }
}

/// The items as an array.
pub(crate) fn query_array(row: &Row<'_>, form: Form, out: &mut Output<'_>) -> Result<()> {
    let array = Arguments::of(row, form)?.evaluate(false, out, |_, list| {
        let items = list.items().iter();
        Ok(array_of(
            items.map(|item| item.to_binary().into_owned()).collect(),
        ))
    })?;
    out.bytes(&array)
}

/// The first item, or NULL.
pub(crate) fn query_first(row: &Row<'_>, form: Form, out: &mut Output<'_>) -> Result<()> {
    let first = Arguments::of(row, form)?.evaluate(false, out, |_, list| {
        Ok(list.items().first().map(|item| item.to_binary().into_owned()))
    })?;
    match first {
        Some(first) => out.bytes(&first),
        None => out.null(),
    }
}

/// The items as values of jsonb.
pub(crate) fn query(row: &Row<'_>, form: Form, out: &Output<'_>) -> Result<Vec<Value>> {
    Arguments::of(row, form)?.evaluate(false, out, |_, list| {
        let value = |item: &Item<'_>| Value::Bytes(item.to_binary().into_owned());
        Ok(list.items().iter().map(value).collect())
    })
}
