//! Circles of imports among the files of a crate: files that reach each other by `use` or by paths can only be understood
//! together. A circle of more than [`FILES`] files is a violation; those that stand are listed, and may only shrink.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Most files that may import each other in a circle.
const FILES: usize = 5;
/// Circles that are known: a crate, and the number of files in all its circles of more than [`FILES`] files.
const KNOWN: [(&str, usize); 1] = [("block", 24)];

/// A module's path from the crate's root; the root's own is empty.
type Module = Vec<String>;

/// Checks one crate's `src`; gives one line for each circle that is too large.
pub fn check(folder: &Path, member: &str, violations: &mut Vec<String>) -> io::Result<()> {
    let files = modules(&folder.join("src"))?;
    let imports = imports(&files);
    let mut large: Vec<Vec<&Module>> = circles(&imports);
    large.retain(|circle| circle.len() > FILES);
    let found: usize = large.iter().map(Vec::len).sum();
    let known = KNOWN.iter().find(|(name, _)| *name == member).map_or(0, |k| k.1);
    if found < known {
        violations.push(format!(
            "crates/{member}: {found} files in circles, fewer than the {known} that xtask's circles.rs lists: lower its number"
        ));
    }
    if found > known {
        for circle in large {
            let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
            violations.push(format!(
                "crates/{member}: a circle of {} files, {found} in all with {known} known: {}",
                names.len(),
                names.join(", ")
            ));
        }
    }
    Ok(())
}

/// The text of each module, without its comments and tests, by its path.
fn modules(src: &Path) -> io::Result<BTreeMap<Module, String>> {
    let mut found = BTreeMap::new();
    let mut open = vec![src.to_path_buf()];
    while let Some(folder) = open.pop() {
        if !folder.exists() {
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path)?;
                found.insert(module_of(src, &path), code_of(&text));
            }
        }
    }
    Ok(found)
}

fn module_of(src: &Path, file: &Path) -> Module {
    let inside: PathBuf = file.strip_prefix(src).unwrap_or(file).with_extension("");
    let mut parts: Module = inside
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// A file's code: no comments, no module of tests.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or("");
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

/// Which modules each module imports. What the root re-exports counts as the module that has it.
fn imports(files: &BTreeMap<Module, String>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let mut reexports = BTreeMap::new();
    let root = Module::new();
    for path in files
        .get(&root)
        .map(|text| paths(text, "pub use "))
        .unwrap_or_default()
    {
        if let Some(name) = path.last() {
            reexports.insert(name.clone(), path.clone());
        }
    }
    let mut all = BTreeMap::new();
    for (module, text) in files {
        let mut reached = BTreeSet::new();
        for path in ["crate::", "super::"].iter().flat_map(|start| paths(text, start)) {
            let Some(absolute) = absolute(module, &path) else {
                continue;
            };
            let absolute = match absolute.as_slice() {
                [name] => reexports.get(name).unwrap_or(&absolute),
                _ => &absolute,
            };
            if let Some(target) = module_that_has(files, absolute)
                && target != module
                && !target.is_empty()
            {
                reached.insert(target);
            }
        }
        all.insert(module, reached);
    }
    all
}

/// The path from the root of a path that begins with `crate` or `super`; None above the root.
fn absolute(module: &Module, path: &[String]) -> Option<Module> {
    let mut at = match path.first().map(String::as_str) {
        Some("super") => module.clone(),
        _ => Module::new(),
    };
    for part in path {
        match part.as_str() {
            "super" => drop(at.pop()?),
            "crate" => at.clear(),
            part => at.push(part.to_owned()),
        }
    }
    Some(at)
}

/// The file with the longest path that an item's path begins with.
fn module_that_has<'a>(files: &'a BTreeMap<Module, String>, item: &[String]) -> Option<&'a Module> {
    (0..=item.len())
        .rev()
        .find_map(|n| files.get_key_value(&item[..n]).map(|(module, _)| module))
}

/// All paths in a text that begin with `start`, the branches of a use-tree apart.
fn paths(text: &str, start: &str) -> Vec<Module> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(start) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let prefix = if start.ends_with("::") {
            vec![start.trim_end_matches(':').to_owned()]
        } else {
            Vec::new()
        };
        branches(&text[at + start.len()..], prefix, &mut found);
    }
    found
}

/// Reads a path or a use-tree; gives the rest of the text behind it.
fn branches<'a>(text: &'a str, prefix: Module, found: &mut Vec<Module>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = branches(rest, prefix.clone(), found).trim_start();
            match rest.strip_prefix(',') {
                Some(more) if !more.trim_start().starts_with('}') => rest = more,
                Some(more) => return more.trim_start().strip_prefix('}').unwrap_or(more),
                None => return rest.strip_prefix('}').unwrap_or(rest),
            }
        }
    }
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    let mut path = prefix;
    if end > 0 && &text[..end] != "self" {
        path.push(text[..end].to_owned());
    }
    match text[end..].strip_prefix("::") {
        Some(rest) if end > 0 => branches(rest, path, found),
        _ => {
            found.push(path);
            &text[end..]
        }
    }
}

/// The strongly connected parts of more than one module.
fn circles<'a>(imports: &BTreeMap<&'a Module, BTreeSet<&'a Module>>) -> Vec<Vec<&'a Module>> {
    let reach: BTreeMap<&Module, BTreeSet<&Module>> = imports
        .keys()
        .map(|module| (*module, reachable(imports, module)))
        .collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (module, reached) in &reach {
        if seen.contains(module) || !reached.contains(module) {
            continue;
        }
        let circle: Vec<&Module> = reached
            .iter()
            .copied()
            .filter(|other| reach[other].contains(module))
            .collect();
        seen.extend(circle.iter().copied());
        found.push(circle);
    }
    found
}

/// The modules that a module imports, directly or not.
fn reachable<'a>(
    imports: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
    from: &Module,
) -> BTreeSet<&'a Module> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Module> = imports[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(imports[next].iter().copied());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(texts: &[(&str, &str)]) -> BTreeMap<Module, String> {
        let module = |name: &str| {
            name.split("::")
                .filter(|p| !p.is_empty())
                .map(str::to_owned)
                .collect()
        };
        texts
            .iter()
            .map(|(name, text)| (module(name), code_of(text)))
            .collect()
    }

    fn names(circles: Vec<Vec<&Module>>) -> Vec<Vec<String>> {
        let joined = |circle: Vec<&Module>| circle.iter().map(|m| m.join("::")).collect();
        circles.into_iter().map(joined).collect()
    }

    #[test]
    fn a_circle_is_found_through_trees_reexports_and_super() {
        let files = files(&[
            ("", "mod a;\npub use a::{Thing, other::{Deep, Deeper}};"),
            ("a", "use crate::{b::{self, Kind}, c};"),
            ("b", "fn f() { super::c::g() }"),
            ("c", "use crate::Thing; // use crate::d;"),
            ("d", "use crate::a::Thing;"),
        ]);
        let imports = imports(&files);
        assert_eq!(names(circles(&imports)), [["a", "b", "c"]]);
    }

    #[test]
    fn a_line_is_no_circle() {
        let files = files(&[
            ("", ""),
            ("a", "use crate::b;"),
            ("b", "use crate::c::X;"),
            ("c", ""),
        ]);
        assert!(circles(&imports(&files)).is_empty());
    }
}
