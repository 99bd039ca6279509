//! The rules of the tree that the compiler does not check: see ARCHITECTURE.md, "Invariants".

use crate::dead_items::Named;
use crate::documents::{self, Files};
use crate::house::NO_PRODUCT;
use crate::ratchets::Ratchets;
use crate::{circles, citations, functions, modules, phrases, wildcards};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Longest source file, tests apart.
const FILE_LINES: usize = 700;
/// Most columns of a line, in characters.
const COLUMNS: usize = 120;
/// Crates that may hold unsafe code.
const UNSAFE_CRATES: [&str; 10] = [
    "types", "vfs", "kernels", "block", "mvcc", "index", "storage", "runtime", "codegen", "python",
];
/// Crates that reach a database's files through `vfs` alone.
const BEHIND_VFS: [&str; 2] = ["storage", "durability"];
/// Calls that give the cells of a hot chunk, and the files that may make them: those behind `ChunkView`, and generated
/// code's source, which reads them through a `Lease`.
const CELLS: [&str; 4] = [".first_cell(", ".value_ptr(", ".cells::<", ".validity_cells("];
const READERS_OF_CELLS: [&str; 8] = [
    "storage/src/chunk_view.rs",
    "storage/src/filled_column.rs",
    "storage/src/hot_chunk.rs",
    "storage/src/hot_match.rs",
    "storage/src/read_chunk.rs",
    "storage/src/row_fetch.rs",
    "storage/src/fetched_column.rs",
    "runtime/src/scan_source.rs",
];
/// The clock on the wall, and the files that may ask it or convert its times: for what they show, because a statement
/// asks for it, or to compare it with the times of files, which are told by no other. It jumps, so
/// nothing is ordered or timed by it.
const WALL_CLOCK: &str = "SystemTime";
const READERS_OF_THE_CLOCK: [&str; 10] = [
    "durability/src/checkpoint.rs",
    "durability/src/progress.rs",
    "files/src/footer_cache.rs",
    "objects/src/object_cache.rs",
    "frazil/src/parameters.rs",
    "frazil/src/value/moments.rs",
    "types/src/statement_clock.rs",
    "frazil/src/system_tables/state.rs",
    "vfs/src/system_lock.rs",
    "functions/src/scalar_functions/clock.rs",
];
/// Names that say nothing.
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "common", "helpers", "helper", "misc"];

/// What a look at the whole tree found.
pub struct Found {
    /// One line for each violation, those of ratchets apart.
    pub violations: Vec<String>,
    /// Numbers that only shrink, a rule and a crate each.
    pub ratchets: Ratchets,
}

/// Checks the whole tree; gives one line for each violation.
pub fn check(root: &Path) -> io::Result<Vec<String>> {
    let mut found = look(root)?;
    found.violations.extend(found.ratchets.violations());
    Ok(found.violations)
}

/// Looks at the whole tree.
pub fn look(root: &Path) -> io::Result<Found> {
    let mut violations = Vec::new();
    let mut ratchets = Ratchets::read(root)?;
    let members = members(root)?;
    check_strata(root, &members, &mut violations)?;
    let files = Files::list(root)?;
    check_documents(root, &files, &mut violations)?;
    let mut named = Named::default();
    for member in &members {
        let folder = root.join("crates").join(member);
        check_unsafe_policy(&folder, member, &mut violations)?;
        circles::check(&modules::read(&folder.join("src"))?, member, &mut ratchets);
        let mut counted = Counted::default();
        let mut arms = wildcards::GROWING.map(|_| Vec::new());
        for file in sources(&folder)? {
            let text = fs::read_to_string(&file)?;
            let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            named.read(member, &shown, &text, is_test(&file));
            for wrong in citations::wrong(&documents::comments(&text)) {
                violations.push(format!("{shown}: {wrong}"));
            }
            for name in files.missing(&documents::comments(&text)) {
                violations.push(format!("{shown}: a comment names {name}, which does not exist"));
            }
            check_file(&shown, &file, member, &text, &mut violations);
            counted.count(&shown, &text, is_test(&file));
            for (arms, name) in arms
                .iter_mut()
                .zip(wildcards::GROWING)
                .filter(|_| !is_test(&file))
            {
                let lines = wildcards::arms(name, &text).into_iter();
                arms.extend(lines.map(|line| format!("{shown}:{line}")));
            }
        }
        counted.into_ratchets(member, &mut ratchets);
        if !NO_PRODUCT.contains(&member.as_str()) {
            for (arms, name) in arms.into_iter().zip(wildcards::GROWING) {
                ratchets.cases(&format!("arms_for_all_others_of_{name}"), member, arms);
            }
        }
    }
    for member in &members {
        ratchets.cases("dead_items", member, named.dead(member));
    }
    Ok(Found { violations, ratchets })
}

/// What the files of a crate have against the rules that are ratchets.
#[derive(Default)]
struct Counted {
    long_functions: Vec<String>,
    long_lines: Vec<String>,
    phrases: Vec<String>,
}

impl Counted {
    fn count(&mut self, shown: &str, text: &str, is_test: bool) {
        for (line, lines) in functions::too_long(text).into_iter().filter(|_| !is_test) {
            self.long_functions
                .push(format!("{shown}:{line}: a function of {lines} lines"));
        }
        for (line, columns) in too_wide(text) {
            self.long_lines.push(format!("{shown}:{line}: {columns} columns"));
        }
        for (line, wrong) in phrases::found(text) {
            self.phrases.push(format!("{shown}:{line}: {wrong}"));
        }
    }

    fn into_ratchets(self, member: &str, ratchets: &mut Ratchets) {
        ratchets.cases("long_functions", member, self.long_functions);
        ratchets.cases("long_lines", member, self.long_lines);
        ratchets.cases("phrases", member, self.phrases);
    }
}

/// Lines of more than [`COLUMNS`] columns: the number of each, from 1, and its columns.
fn too_wide(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let columns = text.lines().map(|line| line.chars().count());
    columns
        .enumerate()
        .map(|(at, columns)| (at + 1, columns))
        .filter(|(_, columns)| *columns > COLUMNS)
}

/// Names of the workspace's members, in their order.
pub(crate) fn members(root: &Path) -> io::Result<Vec<String>> {
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    let list = manifest
        .split("members = [")
        .nth(1)
        .and_then(|rest| rest.split(']').next())
        .unwrap_or("");
    Ok(list
        .split('"')
        .filter_map(|part| part.strip_prefix("crates/"))
        .map(str::to_string)
        .collect())
}

/// A crate depends only on crates above it: the members' order is the strata's.
fn check_strata(root: &Path, members: &[String], violations: &mut Vec<String>) -> io::Result<()> {
    for (at, member) in members.iter().enumerate() {
        let manifest = fs::read_to_string(root.join("crates").join(member).join("Cargo.toml"))?;
        let normal = manifest
            .split("[dependencies]")
            .nth(1)
            .unwrap_or("")
            .split("\n[")
            .next()
            .unwrap_or("");
        for line in normal.lines() {
            let name = line.split(['.', ' ', '=']).next().unwrap_or("");
            let short = name.strip_prefix("frazil-").unwrap_or(name);
            if members[at..].iter().any(|m| m == short) && name.starts_with("frazil") {
                violations.push(format!(
                    "crates/{member}/Cargo.toml: depends on {short}, which is not above it"
                ));
            }
        }
    }
    Ok(())
}

/// The documents' links to files lead somewhere, and so do the names of files between backticks.
fn check_documents(root: &Path, files: &Files, violations: &mut Vec<String>) -> io::Result<()> {
    let all = documents::below(root)?;
    for file in all.iter().filter(|f| f.extension().is_some_and(|e| e == "md")) {
        let text = fs::read_to_string(file)?;
        let folder = file.parent().unwrap_or(root);
        let shown = file.strip_prefix(root).unwrap_or(file).display();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or(target);
            if !path.contains("://") && !folder.join(path).exists() {
                violations.push(format!("{shown}: a link leads nowhere: {target}"));
            }
        }
        let mut cited = citations::wrong(&text);
        if file.ends_with("docs/papers.md") {
            cited.extend(citations::wrong_in_tables(&text));
        }
        violations.extend(cited.iter().map(|wrong| format!("{shown}: {wrong}")));
        // The book's readers have files of their own.
        let is_ours = |name: &&str| name.ends_with(".rs") || !file.starts_with(root.join("docs/book"));
        for name in files.missing(&text).into_iter().filter(is_ours) {
            violations.push(format!("{shown}: names {name}, which does not exist"));
        }
    }
    Ok(())
}

fn check_unsafe_policy(folder: &Path, member: &str, violations: &mut Vec<String>) -> io::Result<()> {
    if UNSAFE_CRATES.contains(&member) {
        return Ok(());
    }
    for name in ["lib.rs", "main.rs"] {
        let file = folder.join("src").join(name);
        if file.exists() && !fs::read_to_string(&file)?.contains("#![forbid(unsafe_code)]") {
            violations.push(format!("crates/{member}/src/{name}: does not forbid unsafe code"));
        }
    }
    Ok(())
}

pub(crate) fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn is_test(file: &Path) -> bool {
    file.components().any(|c| c.as_os_str() == "tests")
}

fn check_file(shown: &str, file: &Path, member: &str, text: &str, violations: &mut Vec<String>) {
    let is_test = is_test(file);
    let stem = file.file_stem().and_then(|s| s.to_str()).unwrap_or("");
    if EMPTY_NAMES.contains(&stem) {
        violations.push(format!("{shown}: a name that says nothing"));
    }
    if !text.starts_with("//!") {
        violations.push(format!("{shown}: does not open with a //! line"));
    }
    let lines = text
        .split("#[cfg(test)]\nmod ")
        .next()
        .unwrap_or("")
        .lines()
        .count();
    if !is_test && lines > FILE_LINES {
        violations.push(format!("{shown}: {lines} lines, more than {FILE_LINES}"));
    }
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        if (code.contains("core::arch") || code.contains("std::arch"))
            && !["kernels", "xtask"].contains(&member)
        {
            violations.push(format!("{shown}:{}: core::arch outside kernels", number + 1));
        }
        if code.contains("std::fs") && !is_test && BEHIND_VFS.contains(&member) && number < lines {
            violations.push(format!(
                "{shown}:{}: files of a database are vfs's business",
                number + 1
            ));
        }
        let reads_cells = CELLS.iter().any(|call| code.contains(call));
        if reads_cells && member != "xtask" && !READERS_OF_CELLS.iter().any(|f| shown.ends_with(f)) {
            violations.push(format!(
                "{shown}:{}: cells of a chunk are read beside ChunkView",
                number + 1
            ));
        }
        let is_product = !is_test && !["xtask", "bench", "testkit", "cli"].contains(&member);
        let asks_clock = is_product && code.contains(WALL_CLOCK);
        if asks_clock && !READERS_OF_THE_CLOCK.iter().any(|f| shown.ends_with(f)) {
            violations.push(format!(
                "{shown}:{}: the clock on the wall jumps: Instant does not",
                number + 1
            ));
        }
        if ["todo!(", "unimplemented!("].iter().any(|m| code.contains(m)) && member != "xtask" {
            violations.push(format!("{shown}:{}: unfinished", number + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters() {
        let wide = format!("{}\n{}\n{}\n", "é".repeat(COLUMNS), "x".repeat(COLUMNS + 1), "x");
        assert_eq!(too_wide(&wide).collect::<Vec<_>>(), [(2, COLUMNS + 1)]);
    }
}
