//! Which of PostgreSQL 15's functions and operators are there: those of its manual's chapters 9.3 to 9.19 and 9.26,
//! by name.
//!
//! `names.txt` is what a server answers to `names.sql`; `left_out.txt` names, with a reason each, what of it belongs
//! to other chapters or is internal.

use crate::documentation::list;
use crate::{Operand, Typing, scalar_functions};
use frazil_plan::{Columns, Expr};
use frazil_types::{Category, Kind, LogicalType, Result, Span, SqlState, Value};
use std::fmt::Write;

const NAMES: &str = include_str!("names.txt");
const LEFT_OUT: &str = include_str!("left_out.txt");

/// A function or an operator of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Function(&'static str),
    Operator(&'static str),
}

impl Name {
    fn text(self) -> &'static str {
        match self {
            Name::Function(name) | Name::Operator(name) => name,
        }
    }

    fn is_there(self) -> bool {
        match self {
            Name::Function(name) => has_function(name),
            Name::Operator(name) => has_operator(name),
        }
    }
}

/// All names, those of other chapters among them.
fn all_names() -> impl Iterator<Item = Name> {
    NAMES.lines().filter_map(|line| match line.split_once(' ') {
        Some(("function", name)) => Some(Name::Function(name)),
        Some(("operator", name)) => Some(Name::Operator(name)),
        _ => None,
    })
}

/// What stands in `left_out.txt`: names, and beginnings of names with `*` behind them.
fn left_out() -> impl Iterator<Item = &'static str> {
    let lines = LEFT_OUT.lines().filter(|line| !line.starts_with(['#', ':']));
    lines.flat_map(str::split_whitespace)
}

/// Whether an entry of `left_out.txt` means a name.
fn means(entry: &str, name: Name) -> bool {
    match (name, entry.strip_suffix('*')) {
        (Name::Function(name), Some(beginning)) => name.starts_with(beginning),
        _ => entry == name.text(),
    }
}

/// Names of the chapters.
fn names() -> impl Iterator<Item = Name> {
    all_names().filter(|name| !left_out().any(|entry| means(entry, *name)))
}

fn has_function(name: &str) -> bool {
    list().any(|f| f.name == name) || scalar_functions::cast_function(name).is_some()
}

/// Whether some operands have the operator.
fn has_operator(name: &str) -> bool {
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    let null = |ty: LogicalType| -> Operand { Expr::constant(Value::Null, ty).into() };
    let exists = |tried: Result<Operand>| {
        let state = tried.err().map(|e| e.state());
        state.is_none_or(|state| {
            state != SqlState::UNDEFINED_FUNCTION && state != SqlState::AMBIGUOUS_FUNCTION
        })
    };
    let types: Vec<LogicalType> = Kind::ALL.iter().filter_map(|kind| sample(*kind)).collect();
    types.iter().any(|l| {
        exists(typing.prefix(name, null(*l), Span::NONE, columns))
            || types
                .iter()
                .any(|r| exists(typing.infix(name, null(*l), null(*r), Span::NONE, columns)))
    })
}

/// A type of a kind.
fn sample(kind: Kind) -> Option<LogicalType> {
    if kind.category() == Category::Array {
        return Some(LogicalType::TEXT_ARRAY);
    }
    [&[][..], &[38, 10]]
        .into_iter()
        .find_map(|modifiers| (kind.info().of_modifiers)(modifiers))
}

/// The chapter of `docs/functions.md` that lists what is not there.
pub(crate) fn write_missing(out: &mut String) {
    let (there, missing): (Vec<Name>, Vec<Name>) = names().partition(|name| name.is_there());
    let _ = write!(
        out,
        "\n## Missing functions of PostgreSQL\n\nOf the {} functions and operators in chapters 9.3 to 9.19 and 9.26 of \
         PostgreSQL 15's manual (without XML, text search, geometry, network addresses and ranges), {} exist by name. \
         Missing:\n\n",
        there.len() + missing.len(),
        there.len()
    );
    let list: Vec<String> = missing
        .iter()
        .map(|name| format!("`{}`", name.text().replace('|', "\\|")))
        .collect();
    let _ = writeln!(out, "{}", list.join(", "));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Least part of the names that is there, in percent: it only rises.
    const LEAST_PERCENT: usize = 91;

    #[test]
    fn most_of_postgresqls_functions_are_there() {
        let (there, all) = (names().filter(|name| name.is_there()).count(), names().count());
        println!(
            "{there} of {all} names: {:.1} %",
            100.0 * there as f64 / all as f64
        );
        assert!(there * 100 >= all * LEAST_PERCENT, "{there} of {all}");
    }

    #[test]
    fn what_is_left_out_is_among_the_names() {
        for entry in left_out() {
            assert!(all_names().any(|name| means(entry, name)), "{entry}");
        }
    }

    #[test]
    fn operators_are_looked_for_among_all_types() {
        assert!(["+", "||/", "~", "!~~*", "^@"].iter().all(|op| has_operator(op)));
        assert!(!has_operator("+-+"));
    }
}
