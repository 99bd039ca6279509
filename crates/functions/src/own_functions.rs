//! The lines of `built_in/own_functions.txt`: the functions of the documentation that PostgreSQL does not have, a line
//! for each signature.

use crate::built_in;
use crate::documentation::{FunctionClass, list};
use crate::typing::Volatility;
use frazil_types::Kind;
use std::fmt::Write;

/// The first number of Frazil's own functions: PostgreSQL's are below.
const FIRST_OWN: u32 = 10_000;

/// PostgreSQL's number of the pseudo-type of any argument.
const ANY: u32 = 2276;

/// The type that a signature names; `any` for words that are not one type.
fn type_written(text: &str) -> u32 {
    let named = |text: &str| {
        let kind = Kind::ALL.into_iter().find(|kind| kind.info().name == text);
        kind.or_else(|| Kind::named(text))
    };
    let found = match text.strip_suffix("[]") {
        Some(element) => named(element).map(|kind| kind.info().array_oid),
        None => built_in::pseudo_type(text).or_else(|| Some(named(text)?.info().oid)),
    };
    found.unwrap_or(ANY)
}

/// The types of the arguments of a call as the documentation writes it, and true if more arguments may follow.
fn arguments(call: &str) -> (Vec<String>, bool) {
    let list = call.split_once('(').and_then(|(_, list)| list.rsplit_once(')'));
    let (list, _) = list.unwrap_or_default();
    let mut given: Vec<&str> = list.split(", ").filter(|argument| !argument.is_empty()).collect();
    let has_more = given.last() == Some(&"…");
    given.retain(|argument| *argument != "…");
    (
        given
            .into_iter()
            .map(|argument| type_written(argument).to_string())
            .collect(),
        has_more,
    )
}

/// The lines of all functions that `is_known` does not know.
fn lines(is_known: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    let mut oids = FIRST_OWN..;
    for doc in list().filter(|doc| !is_known(doc.name)) {
        for signature in &doc.signatures {
            let (call, result) = signature.split_once(" → ").unwrap_or((signature, "any"));
            let (arguments, has_more) = arguments(call);
            let gives_rows = doc.class == FunctionClass::Rows;
            let (kind, aggregate) = match doc.class {
                FunctionClass::Scalar | FunctionClass::Rows => ('f', ""),
                FunctionClass::Aggregate => ('a', "n0"),
                FunctionClass::Window => ('w', ""),
            };
            let volatility = match doc.volatility {
                Volatility::Immutable => 'i',
                Volatility::Stable => 's',
                Volatility::Volatile => 'v',
            };
            let strict = if doc.class == FunctionClass::Scalar {
                't'
            } else {
                '-'
            };
            let _ = writeln!(
                out,
                "{}|{}|{kind}{}{volatility}{strict}-s|{aggregate}||{}|{}|{}|{}|||||",
                oids.next().unwrap_or(u32::MAX),
                doc.name,
                if gives_rows { 's' } else { '-' },
                if gives_rows { "1000" } else { "" },
                if has_more { ANY.to_string() } else { String::new() },
                type_written(result.strip_prefix("rows of ").unwrap_or(result)),
                arguments.join(" "),
            );
        }
    }
    out
}

#[test]
fn the_file_has_all_of_them() {
    let of_postgresql = |name: &str| built_in::functions_named(name).any(|function| function.oid < FIRST_OWN);
    let wanted = lines(of_postgresql);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/built_in/own_functions.txt");
    if std::env::var_os("FRAZIL_WRITE_DOCS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap();
    assert!(
        written == wanted,
        "set FRAZIL_WRITE_DOCS=1 to write own_functions.txt anew"
    );
}
