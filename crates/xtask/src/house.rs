//! What one addition costs: in how many files of the product each operator of the plan is named.
//!
//! A file names an operator where its code, tests and comments apart, has `Operator::NAME` (a variant of the plan's
//! enum), or where it is the operator's own file in `plan/src/operators`. [`MOST_FILES`] is a ratchet: it is what the tree
//! has, and only ever gets less. The aim is [`AIM`].

use crate::tidy::{members, sources};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// Files that the operator named in most of them is named in.
const MOST_FILES: usize = 27;
/// Files that all operators together are named in, each counted once for each operator.
const ALL_FILES: usize = 247;
/// Files that an operator may be named in, once what it means is said in its own.
const AIM: usize = 8;

/// Crates that are not the product: they test and measure it.
const NO_PRODUCT: [&str; 3] = ["testkit", "bench", "xtask"];

/// Operators by name, with the files that name them, their paths from the root.
pub type Named = BTreeMap<String, Vec<String>>;

/// Looks through the tree.
pub fn operators(root: &Path) -> io::Result<Named> {
    let enumeration = fs::read_to_string(root.join("crates/plan/src/operator.rs"))?;
    let mut named: Named = variants(&enumeration)
        .map(|name| (name.to_string(), Vec::new()))
        .collect();
    for member in members(root)? {
        if NO_PRODUCT.contains(&member.as_str()) {
            continue;
        }
        for file in sources(&root.join("crates").join(&member).join("src"))? {
            let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            let text = fs::read_to_string(&file)?;
            let code = code(&text);
            for (name, files) in &mut named {
                if is_named(name, &code) || shown == own_file(name) {
                    files.push(shown.clone());
                }
            }
        }
    }
    Ok(named)
}

/// One line for each operator, those in most files first, and a sum.
pub fn shown(named: &Named) -> String {
    let mut by_count: Vec<(usize, &str)> = named.iter().map(|(name, f)| (f.len(), name.as_str())).collect();
    by_count.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let lines = by_count
        .iter()
        .map(|(count, name)| format!("{count:4} files name {name}\n"));
    format!(
        "{}{:4} in all; an operator is to be named in at most {AIM}\n",
        lines.collect::<String>(),
        all(named)
    )
}

/// One line for each number that is not the one listed here.
pub fn check(named: &Named) -> Vec<String> {
    let most = named.values().map(Vec::len).max().unwrap_or(0);
    let numbers = [
        ("MOST_FILES", most, MOST_FILES),
        ("ALL_FILES", all(named), ALL_FILES),
    ];
    let wrong = numbers.into_iter().filter(|(_, found, listed)| found != listed);
    wrong
        .map(|(name, found, listed)| match found > listed {
            true => format!(
                "operators are named in more files ({name}: {found}, {listed} before): say in the operator's own file what it means\n{}",
                shown(named)
            ),
            false => format!("operators are named in fewer files: {name} in xtask's house.rs is {found} now"),
        })
        .collect()
}

fn all(named: &Named) -> usize {
    named.values().map(Vec::len).sum()
}

/// Names of the variants of the enum `Operator`.
fn variants(text: &str) -> impl Iterator<Item = &str> {
    let body = text.split("pub enum Operator {").nth(1).unwrap_or("");
    let body = body.split("\n}").next().unwrap_or("");
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    lines.filter_map(|line| line.split_once('(').map(|(name, _)| name))
}

/// The file of an operator.
fn own_file(name: &str) -> String {
    let mut file = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !file.is_empty() {
            file.push('_');
        }
        file.push(c.to_ascii_lowercase());
    }
    format!("crates/plan/src/operators/{file}.rs")
}

/// A file without its comments and its tests.
fn code(text: &str) -> String {
    let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let lines = product
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// True if the code has `Operator::name`, not as a part of longer words.
fn is_named(name: &str, code: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let path = format!("Operator::{name}");
    code.match_indices(&path).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + path.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_word_is_no_name() {
        assert!(is_named("Map", "match op { Operator::Map(map) => 1 }"));
        assert!(!is_named("Map", "PipelineOperator::Map(x)"));
        assert!(!is_named("Map", "Operator::Mapping"));
    }

    #[test]
    fn variants_and_their_files() {
        let text =
            "pub enum Operator {\n    /// Rows (of a table).\n    Scan(Scan),\n    UnionAll(UnionAll),\n}\n";
        assert_eq!(variants(text).collect::<Vec<_>>(), ["Scan", "UnionAll"]);
        assert_eq!(own_file("UnionAll"), "crates/plan/src/operators/union_all.rs");
    }

    #[test]
    fn comments_and_tests_are_left_out() {
        let text = "//! Operator::A\nlet a = Operator::B;\n#[cfg(test)]\nmod tests { Operator::C }\n";
        let code = code(text);
        assert!(is_named("B", &code) && !is_named("A", &code) && !is_named("C", &code));
    }
}
