//! What one addition costs: in how many files of the product each operator of the plan is named, each breaker, each aggregate and each type.
//!
//! A file names an operator where its code, tests and comments apart, has `Operator::NAME` (a variant of the plan's
//! enum), or where it is the operator's own file. Breakers likewise: the plan's `Breaker::NAME`, the code generator's
//! `Layout::NAME`, and the files and folders that have their names; and types, as `LogicalType::NAME` or
//! `Kind::NAME`. A name that is imported (`use Kind::{Integer, Text}`, `use LogicalType::*`) is named, too, where it
//! stands bare. Tables of signatures are apart: a function is what its arguments' types are, so that its row must say
//! them. The numbers of a [`House`] are ratchets: they are what the tree has, and only ever get less.

use crate::tidy::{members, sources};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// Things that are variants of an enum, and files of their own.
pub struct House {
    /// What one is called.
    what: &'static str,
    /// The file of the enum.
    list: &'static str,
    /// Enums that have a variant for each; the first one is that of the list.
    enums: &'static [&'static str],
    /// Where files, or folders, of their names are: each counts once.
    own: &'static [&'static str],
    /// Folders and files of tables whose rows have them as data: these are not counted.
    tables: &'static [&'static str],
    /// Files that the one named in most of them is named in.
    most: usize,
    /// Files that all together are named in, each counted once for each of them.
    all: usize,
    /// Files that one may be named in, once what it means is said in its own.
    aim: usize,
}

/// Operators of the plan.
pub const OPERATORS: House = House {
    what: "operator",
    list: "crates/plan/src/operator.rs",
    enums: &["Operator"],
    own: &["crates/plan/src/operators"],
    tables: &[],
    most: 22,
    all: 234,
    aim: 8,
};

/// What keeps the rows of pipelines.
pub const BREAKERS: House = House {
    what: "breaker",
    list: "crates/plan/src/breakers/mod.rs",
    enums: &["Breaker", "Layout"],
    own: &[
        "crates/plan/src/breakers",
        "crates/runtime/src/breakers",
        "crates/codegen/src/breakers",
    ],
    tables: &[],
    most: 6,
    all: 30,
    aim: 6,
};

/// Aggregates of groups and frames.
pub const AGGREGATES: House = House {
    what: "aggregate",
    list: "crates/plan/src/aggregates/mod.rs",
    enums: &["AggregateFunction"],
    own: &["crates/plan/src/aggregates"],
    tables: &[],
    most: 4,
    all: 67,
    aim: 4,
};

/// Types of columns and expressions.
pub const TYPES: House = House {
    what: "type",
    list: "crates/types/src/logical_type.rs",
    enums: &["LogicalType", "Kind"],
    own: &["crates/types/src/sql_type"],
    tables: &[
        "crates/functions/src/scalar_functions/",
        "crates/functions/src/operators.rs",
        "crates/functions/src/rows.rs",
        "crates/functions/src/json_rows.rs",
        "crates/frazil/src/value/",
    ],
    most: 20,
    all: 322,
    aim: 10,
};

/// Crates that are not the product: they test and measure it.
pub(crate) const NO_PRODUCT: [&str; 3] = ["testkit", "bench", "xtask"];

/// Variants by name, with the files that name them, their paths from the root.
pub type Named = BTreeMap<String, Vec<String>>;

/// Looks through the tree.
pub fn named(house: &House, root: &Path) -> io::Result<Named> {
    let list = fs::read_to_string(root.join(house.list))?;
    let mut named: Named = variants(house.enums[0], &list)
        .map(|name| (name.to_string(), Vec::new()))
        .collect();
    for member in members(root)? {
        if NO_PRODUCT.contains(&member.as_str()) {
            continue;
        }
        for file in sources(&root.join("crates").join(&member).join("src"))? {
            let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            let text = fs::read_to_string(&file)?;
            if house.tables.iter().any(|table| shown.starts_with(table)) {
                continue;
            }
            let code = code(&text);
            for (name, files) in &mut named {
                let own = house
                    .own
                    .iter()
                    .find_map(|folder| own_place(folder, name, &shown));
                let is_named = || house.enums.iter().any(|e| is_named(e, name, &code));
                match own {
                    Some(place) if !files.contains(&place) => files.push(place),
                    None if is_named() => files.push(shown.clone()),
                    Some(_) | None => {}
                }
            }
        }
    }
    Ok(named)
}

/// One line for each, those in most files first, and a sum.
pub fn shown(house: &House, named: &Named) -> String {
    let mut by_count: Vec<(usize, &str)> = named.iter().map(|(name, f)| (f.len(), name.as_str())).collect();
    by_count.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let lines = by_count
        .iter()
        .map(|(count, name)| format!("{count:4} files name {} {name}\n", house.what));
    format!(
        "{}{:4} in all; one is to be named in at most {}\n",
        lines.collect::<String>(),
        all(named),
        house.aim
    )
}

/// One line for each number that is not the one listed here.
pub fn check(house: &House, named: &Named) -> Vec<String> {
    let most = named.values().map(Vec::len).max().unwrap_or(0);
    let numbers = [("most", most, house.most), ("all", all(named), house.all)];
    let wrong = numbers.into_iter().filter(|(_, found, listed)| found != listed);
    wrong
        .map(|(name, found, listed)| match found > listed {
            true => format!(
                "{}s are named in more files ({name}: {found}, {listed} before): say in its own file what one means\n{}",
                house.what,
                shown(house, named)
            ),
            false => format!(
                "{}s are named in fewer files: {name} in xtask's house.rs is {found} now",
                house.what
            ),
        })
        .collect()
}

fn all(named: &Named) -> usize {
    named.values().map(Vec::len).sum()
}

/// Names of the variants of an enum.
fn variants<'t>(name: &str, text: &'t str) -> impl Iterator<Item = &'t str> {
    let head = format!("pub enum {name} {{");
    let body = text.split(&head).nth(1).unwrap_or("");
    let body = body.split("\n}").next().unwrap_or("");
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let names = lines.filter_map(|line| line.split(['(', ' ', ',']).next());
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// A variant's file, or folder, below `folder`, if `file` is that or lies in it.
fn own_place(folder: &str, name: &str, file: &str) -> Option<String> {
    let own = format!("{folder}/{}", snake(name));
    let rest = file.strip_prefix(&own)?;
    (rest == ".rs" || rest.starts_with('/')).then_some(own)
}

/// A name as files have it.
fn snake(name: &str) -> String {
    let mut file = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !file.is_empty() {
            file.push('_');
        }
        file.push(c.to_ascii_lowercase());
    }
    file
}

/// A file without its comments and its tests.
fn code(text: &str) -> String {
    let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let lines = product
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// True if the code has `enumeration::name`, or imports the name and has it bare; not as a part of longer words.
fn is_named(enumeration: &str, name: &str, code: &str) -> bool {
    let path = format!("{enumeration}::{name}");
    has_word(&path, code, false) || (is_imported(enumeration, name, code) && has_word(name, code, true))
}

/// True if a `use` of the code brings the name of a variant: alone, in a list, or all of the enum's.
fn is_imported(enumeration: &str, name: &str, code: &str) -> bool {
    let statements = code.split(';').map(str::trim);
    let uses = statements.filter_map(|s| s.rsplit_once("use ").map(|(_, path)| path));
    uses.filter_map(|path| path.rsplit_once(&format!("{enumeration}::")))
        .any(|(before, names)| {
            !before.ends_with(is_word)
                && names
                    .split(|c: char| !is_word(c) && c != '*')
                    .any(|n| n == name || n == "*")
        })
}

/// True if the code has the word; `bare`: not behind `::`, nor in a `use`.
fn has_word(word: &str, code: &str, bare: bool) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        let statement = before.rsplit(';').next().unwrap_or(before).trim_start();
        let is_bare = !before.ends_with("::") && !statement.starts_with("use ");
        !before.ends_with(is_word) && !after.starts_with(is_word) && (!bare || is_bare)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_word_is_no_name() {
        assert!(is_named(
            "Operator",
            "Map",
            "match op { Operator::Map(map) => 1 }"
        ));
        assert!(!is_named("Operator", "Map", "PipelineOperator::Map(x)"));
        assert!(!is_named("Operator", "Map", "Operator::Mapping"));
    }

    #[test]
    fn an_imported_name_is_named_where_it_stands_bare() {
        let list = "use crate::rules::Kind::{self, Integer, Text};\nfn f() -> Kind {\n    Integer\n}\n";
        assert!(is_named("Kind", "Integer", list));
        assert!(!is_named("Kind", "Text", list) && !is_named("Kind", "Date", list));
        let all = "fn f() {\n    let n = 1;\n    use LogicalType::*;\n    g(Text, Other::Date)\n}\n";
        assert!(is_named("LogicalType", "Text", all));
        assert!(!is_named("LogicalType", "Date", all) && !is_named("Type", "Text", all));
    }

    #[test]
    fn variants_and_their_files() {
        let text =
            "pub enum Operator {\n    /// Rows (of a table).\n    Scan(Scan),\n    UnionAll(UnionAll),\n}\n";
        assert_eq!(
            variants("Operator", text).collect::<Vec<_>>(),
            ["Scan", "UnionAll"]
        );
        let text =
            "pub enum Type {\n    Date,\n    Decimal {\n        /// Digits.\n        scale: u8,\n    },\n}\n";
        assert_eq!(variants("Type", text).collect::<Vec<_>>(), ["Date", "Decimal"]);
        let own = |file: &str| own_place("plan/operators", "UnionAll", file);
        assert_eq!(
            own("plan/operators/union_all.rs"),
            own("plan/operators/union_all/rows.rs")
        );
        assert!(own("plan/operators/union_all.rs").is_some());
        assert_eq!(own("plan/operators/union_all_of.rs"), None);
    }

    #[test]
    fn comments_and_tests_are_left_out() {
        let text = "//! Operator::A\nlet a = Operator::B;\n#[cfg(test)]\nmod tests { Operator::C }\n";
        let code = code(text);
        assert!(
            is_named("Operator", "B", &code)
                && !is_named("Operator", "A", &code)
                && !is_named("Operator", "C", &code)
        );
    }
}
