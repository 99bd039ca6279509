//! What is told of functions: the list, its page, and the nearest name to a misspelt one.

use crate::aggregate::AGGREGATES;
use crate::json_records::JSON_RECORDS;
use crate::json_rows::JSON_ROWS;
use crate::ordered_set::HYPOTHETICAL;
use crate::rows::{ELEMENTS, EXPAND_ARRAY, ROWS_FUNCTIONS, SUBSCRIPTS};
use crate::scalar_functions;
use crate::typing::Volatility;
use crate::window::WINDOW_FUNCTIONS;
use std::fmt::Write;
use std::sync::LazyLock;

/// What documentation says of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDoc {
    /// Its name.
    pub name: &'static str,
    /// Each way to call it with its result, e.g. `left(text, integer) → text`.
    pub signatures: Vec<String>,
    /// Whether its result may change.
    pub volatility: Volatility,
    /// What it is computed over.
    pub class: FunctionClass,
    /// What it computes.
    pub description: &'static str,
}

/// What a function is computed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FunctionClass {
    /// The values of a row.
    Scalar,
    /// The rows of a group, or of a window's frame.
    Aggregate,
    /// The rows of a window.
    Window,
    /// The values of a row, as rows.
    Rows,
}

/// The function of an array's subscripts.
const SUBSCRIPTS_DOC: (&str, &str, &str) = (
    SUBSCRIPTS,
    "generate_subscripts(anyarray, integer[, boolean]) → rows of integer",
    "the subscripts of a dimension; with true in descending order",
);

const EXPAND_ARRAY_DOC: (&str, &str, &str) = (
    EXPAND_ARRAY,
    "information_schema._pg_expandarray(anyarray) → rows of (x anyelement, n integer)",
    "the elements of an array with their numbers from 1",
);

/// Functions that syntax makes, which the catalog does not call by name.
const BY_SYNTAX: &[(&str, &str, &str)] = &[
    (
        "coalesce",
        "coalesce(any, …) → any",
        "the first argument that is not NULL",
    ),
    (
        "greatest",
        "greatest(any, …) → any",
        "the largest argument that is not NULL",
    ),
    (
        "grouping",
        "grouping(any, …) → integer",
        "one bit for each argument, the lowest for the last one: 1 if the row is not grouped by it",
    ),
    (
        "least",
        "least(any, …) → any",
        "the smallest argument that is not NULL",
    ),
    (
        "nullif",
        "nullif(any, any) → any",
        "NULL if both arguments are equal, else the first one",
    ),
];

static ALL: LazyLock<Vec<FunctionDoc>> = LazyLock::new(|| {
    let scalar =
        scalar_functions::documentation()
            .into_iter()
            .map(|(name, signatures, volatility, description)| FunctionDoc {
                name,
                signatures,
                volatility,
                class: FunctionClass::Scalar,
                description,
            });
    let syntax = BY_SYNTAX
        .iter()
        .map(|&(name, signature, description)| FunctionDoc {
            name,
            signatures: vec![signature.to_string()],
            volatility: Volatility::Immutable,
            class: FunctionClass::Scalar,
            description,
        });
    let aggregates = AGGREGATES
        .iter()
        .map(|&(name, made, takes, description)| FunctionDoc {
            name,
            signatures: made.signatures(name, takes),
            volatility: Volatility::Immutable,
            class: FunctionClass::Aggregate,
            description,
        });
    let hypothetical = HYPOTHETICAL
        .iter()
        .map(|&(name, _, signature, description)| FunctionDoc {
            name,
            signatures: vec![signature.to_string()],
            volatility: Volatility::Immutable,
            class: FunctionClass::Aggregate,
            description,
        });
    let windows = WINDOW_FUNCTIONS
        .iter()
        .map(|&(name, _, calls, description)| FunctionDoc {
            name,
            signatures: calls.iter().map(|call| call.to_string()).collect(),
            volatility: Volatility::Immutable,
            class: FunctionClass::Window,
            description,
        });
    let rows = ROWS_FUNCTIONS.iter().map(|f| FunctionDoc {
        name: f.name,
        signatures: f.signatures(),
        volatility: Volatility::Immutable,
        class: FunctionClass::Rows,
        description: f.description,
    });
    let of_arrays = [SUBSCRIPTS_DOC, EXPAND_ARRAY_DOC]
        .into_iter()
        .chain(ELEMENTS.iter().map(|f| (f.0, f.1, f.3)))
        .chain(JSON_ROWS.iter().map(|f| (f.name, f.signature, f.description)))
        .chain(JSON_RECORDS.iter().map(|f| (f.name, f.signature, f.description)));
    let of_arrays = of_arrays.map(|(name, signature, description)| FunctionDoc {
        name,
        signatures: vec![signature.to_string()],
        volatility: Volatility::Immutable,
        class: FunctionClass::Rows,
        description,
    });
    let all = scalar
        .chain(syntax)
        .chain(aggregates)
        .chain(hypothetical)
        .chain(windows)
        .chain(rows)
        .chain(of_arrays);
    let mut all: Vec<FunctionDoc> = all.collect();
    all.sort_by_key(|f| (f.class, f.name));
    all
});

/// Every function by its name, then every aggregate, every other window function, every function that gives rows.
pub fn list() -> impl Iterator<Item = &'static FunctionDoc> {
    ALL.iter()
}

/// The known function whose name is nearest to a misspelt one: at most a third of its letters differ.
pub fn nearest_function(name: &str) -> Option<&'static str> {
    let most = name.chars().count().div_ceil(3).min(3);
    let near = list().map(|f| (distance(name, f.name), f.name));
    near.filter(|n| n.0 <= most && n.0 > 0).min().map(|n| n.1)
}

/// Letters to insert, delete or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut costs: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut costs[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = costs[j + 1];
            costs[j + 1] = change.min(diagonal + 1).min(costs[j] + 1);
        }
    }
    costs[b.len()]
}

/// The page `docs/functions.md`.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Functions\n\nGenerated from the table that resolves calls. Functions are immutable unless marked `stable` or \
         `volatile`.\nUnless stated otherwise, the result is NULL if an argument is NULL. Positions count characters, \
         from 1.\n",
    );
    let classes = [
        ("Scalar functions", FunctionClass::Scalar),
        ("Aggregates", FunctionClass::Aggregate),
        ("Window functions", FunctionClass::Window),
        ("Set-returning functions", FunctionClass::Rows),
    ];
    for (title, class) in classes {
        let _ = write!(out, "\n## {title}\n\n| call | meaning |\n|---|---|\n");
        for f in list().filter(|f| f.class == class) {
            let calls: Vec<String> = f
                .signatures
                .iter()
                .map(|s| format!("`{}`", s.replace('|', "\\|")))
                .collect();
            let stable = match f.volatility {
                Volatility::Immutable => "",
                Volatility::Stable => "; stable",
                Volatility::Volatile => "; volatile",
            };
            let meaning = f.description.replace('|', "\\|");
            let _ = writeln!(out, "| {} | {meaning}{stable} |", calls.join("<br>"));
        }
    }
    crate::postgresql::write_missing(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        assert_eq!(nearest_function("substing"), Some("substring"));
        assert_eq!(nearest_function("uper"), Some("upper"));
        assert_eq!(nearest_function("frobnicate"), None);
    }

    #[test]
    fn the_page_is_generated() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/functions.md");
        if std::env::var_os("FRAZIL_WRITE_DOCS").is_some() {
            std::fs::write(path, markdown()).unwrap();
        }
        let page = std::fs::read_to_string(path).unwrap();
        assert!(
            page == markdown(),
            "set FRAZIL_WRITE_DOCS=1 to write docs/functions.md anew"
        );
    }
}
