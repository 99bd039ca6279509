//! One tree that has all mutants, of which at most one is awake in a process.
//!
//! A place of one mutant may lie within that of another one, or be the same. So the longest places come first, and
//! whatever an earlier mutant made of the text has the later place in it, perhaps in both of its forms: the later
//! mutant is put into each. That is right because never two mutants are awake.
//!
//! The copy is built in the target directory of the tree, so that what others wrote is built once. The crates of the
//! copy have a version of their own there: cargo would take what it built of one tree for what it built of the other.
//! All are built by one command for the whole workspace, which asks for test programs by their names, so that features
//! of dependencies are those of the tree. So the tests within a crate become a program with a name.

use super::{Fault, SWITCH, WITHIN, all};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable of the environment with the number of the mutant that is awake.
pub(super) const ASKED: &str = "FRAZIL_MUTANT";

/// The end of `lib.rs` in the copy of each crate that has mutants.
const ASKING: &str = "
pub(crate) mod mutant {
    static ASKED: std::sync::LazyLock<Option<u32>> =
        std::sync::LazyLock::new(|| std::env::var(\"FRAZIL_MUTANT\").ok()?.parse().ok());

    pub(crate) fn is(number: u32) -> bool {
        *ASKED == Some(number)
    }
}
";

/// The text before the version of a crate, and the end of the versions of the copy.
const VERSION_OF: &str = "version = \"";
const OF_COPY: &str = "-mutants";

/// The text of a place with both forms, for the mutant of a number.
fn both_forms(number: u32, line: &str, fault: Fault) -> String {
    let text = match fault {
        Fault::Dropped => format!("if !{SWITCH} {{ {line} }}"),
        Fault::Replaced(other) => format!("if {SWITCH} {{ {other} }} else {{ {line} }}"),
        Fault::Preceded(before) => format!("if {SWITCH} {{ {before} }}\n{line}"),
        Fault::Both(text) => text.to_string(),
    };
    text.replace(SWITCH, &format!("crate::mutant::is({number})"))
}

/// Puts the faults of one file into its text: `places` are the numbers of mutants, their lines and faults. Errors name
/// lines that are not there, or several times, and lines that another mutant takes away.
fn with_all(file: &str, text: &str, mut places: Vec<(u32, &str, Fault)>) -> Result<String, Vec<String>> {
    let mut wrong = Vec::new();
    for (_, line, _) in &places {
        match text.matches(line).count() {
            1 => {}
            count => wrong.push(format!("{file}: {count} times in it: {line}")),
        }
    }
    places.sort_by_key(|(_, line, _)| Reverse(line.len()));
    let mut text = text.to_string();
    for (number, line, fault) in places {
        if wrong.is_empty() && !text.contains(line) {
            wrong.push(format!("{file}: no longer in it with other mutants: {line}"));
        }
        text = text.replace(line, &both_forms(number, line, fault));
    }
    match wrong.is_empty() {
        true => Ok(text),
        false => Err(wrong),
    }
}

/// The files of the tree that differ with all mutants, by their paths below the root. Errors are those of
/// [`super::check`].
pub(super) fn of(root: &Path) -> Result<BTreeMap<PathBuf, String>, Vec<String>> {
    let mut files: BTreeMap<&str, Vec<(u32, &str, Fault)>> = BTreeMap::new();
    for (number, mutant) in all() {
        let places = mutant.places.iter();
        let places = places.map(|&(line, fault)| (number, line, fault));
        files.entry(mutant.file).or_default().extend(places);
    }
    let crates: BTreeSet<&str> = (files.keys().filter_map(|file| file.split('/').next())).collect();
    let mut texts = BTreeMap::new();
    let mut wrong = Vec::new();
    let read = |path: &Path| {
        let text = fs::read_to_string(root.join(path));
        text.map_err(|e| format!("{}: {e}", path.display()))
    };
    for (file, places) in files {
        let path = Path::new("crates").join(file);
        match read(&path)
            .map_err(|e| vec![e])
            .and_then(|text| with_all(file, &text, places))
        {
            Ok(text) => drop(texts.insert(path, text)),
            Err(errors) => wrong.extend(errors),
        }
    }
    for name in crates {
        let path = Path::new("crates").join(name).join("src/lib.rs");
        match texts.remove(&path).map_or_else(|| read(&path), Ok) {
            Ok(text) => drop(texts.insert(path, text + ASKING)),
            Err(error) => wrong.push(error),
        }
    }
    let within: BTreeSet<_> = (all().filter(|(_, mutant)| mutant.program.0 == WITHIN))
        .map(|(_, mutant)| (mutant.tested_in(), mutant.target()))
        .collect();
    for (folder, target) in within {
        let path = Path::new("crates").join(folder).join("Cargo.toml");
        match read(&path) {
            Ok(text) => {
                let program = format!("\n[[test]]\nname = \"{target}\"\npath = \"src/lib.rs\"\n");
                drop(texts.insert(path, text + &program));
            }
            Err(error) => wrong.push(error),
        }
    }
    for name in ["Cargo.toml", "Cargo.lock"] {
        match read(Path::new(name)) {
            Ok(text) => drop(texts.insert(PathBuf::from(name), of_copy(&text))),
            Err(error) => wrong.push(error),
        }
    }
    match wrong.is_empty() {
        true => Ok(texts),
        false => Err(wrong),
    }
}

/// The text of the workspace's `Cargo.toml` or `Cargo.lock`, in which our crates have the version of the copy.
fn of_copy(text: &str) -> String {
    let is_ours = |paragraph: &&str| {
        let is_locked = paragraph.starts_with("[[package]]") && !paragraph.contains("\nsource = ");
        is_locked || paragraph.starts_with("[workspace.package]")
    };
    let versioned = |paragraph: &str| {
        let (before, rest) = paragraph.split_once(VERSION_OF)?;
        let (version, rest) = rest.split_once('"')?;
        Some(format!("{before}{VERSION_OF}{version}{OF_COPY}\"{rest}"))
    };
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let ours = Some(paragraph).filter(is_ours).and_then(versioned);
        ours.unwrap_or_else(|| paragraph.to_string())
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Makes `copy` a copy of what is tracked or new in the tree, with all mutants. Files that need not change are left
/// alone, so that little is built again.
pub(super) fn write(root: &Path, copy: &Path) -> Result<(), String> {
    let mut mutated = of(root).map_err(|wrong| wrong.join("\n"))?;
    let failed = |e: io::Error| format!("{}: {e}", copy.display());
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("git: {e}"))?;
    for name in String::from_utf8_lossy(&listed.stdout).split_terminator('\0') {
        let bytes = match mutated.remove(Path::new(name)) {
            Some(text) => text.into_bytes(),
            // The file is listed although it was removed.
            None => match fs::read(root.join(name)) {
                Ok(bytes) => bytes,
                Err(_) => continue,
            },
        };
        let to = copy.join(name);
        if fs::read(&to).is_ok_and(|old| old == bytes) {
            continue;
        }
        if let Some(directory) = to.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
        }
        fs::write(&to, bytes).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Fault::{Both, Dropped, Preceded, Replaced};
    use super::*;

    #[test]
    fn each_fault_stands_beside_its_line() {
        let forms = |fault| both_forms(7, "a();", fault);
        assert_eq!(forms(Dropped), "if !crate::mutant::is(7) { a(); }");
        assert_eq!(
            forms(Replaced("b();")),
            "if crate::mutant::is(7) { b(); } else { a(); }"
        );
        assert_eq!(forms(Preceded("b();")), "if crate::mutant::is(7) { b(); }\na();");
        assert_eq!(
            forms(Both("f(MUTANT || c, MUTANT);")),
            "f(crate::mutant::is(7) || c, crate::mutant::is(7));"
        );
    }

    #[test]
    fn places_within_places_and_equal_ones_are_all_in_the_text() {
        let places = vec![(1, "a();", Dropped), (2, "a(); b();", Replaced("b(); a();"))];
        let text = with_all("f", "x(); a(); b();", places).unwrap();
        let a = "if !crate::mutant::is(1) { a(); }";
        assert_eq!(
            text,
            format!("x(); if crate::mutant::is(2) {{ b(); {a} }} else {{ {a} b(); }}")
        );
        let places = vec![(1, "a();", Dropped), (2, "a();", Preceded("c();"))];
        let text = with_all("f", "a();", places).unwrap();
        let a = "if crate::mutant::is(2) { c(); }\na();";
        assert_eq!(text, format!("if !crate::mutant::is(1) {{ {a} }}"));
    }

    #[test]
    fn only_our_crates_have_the_version_of_the_copy() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.2\"\nsource = \"registry\"\n\n\
                    [[package]]\nname = \"frazil\"\nversion = \"0.1.0\"\n";
        assert_eq!(of_copy(lock), lock.replace("0.1.0", "0.1.0-mutants"));
        let manifest = "[workspace]\n\n[workspace.package]\nversion = \"0.1.0\"\n\n[workspace.dependencies]\na = \"1\"\n";
        assert_eq!(of_copy(manifest), manifest.replace("0.1.0", "0.1.0-mutants"));
    }

    #[test]
    fn a_line_that_is_not_there_once_is_an_error() {
        let wrong = |text, places| with_all("f", text, places).unwrap_err();
        assert_eq!(
            wrong("b();", vec![(1, "a();", Dropped)]),
            ["f: 0 times in it: a();"]
        );
        assert_eq!(
            wrong("a(); a();", vec![(1, "a();", Dropped)]),
            ["f: 2 times in it: a();"]
        );
        let gone = vec![(1, "a();", Dropped), (2, "(a();)", Both("(b();)"))];
        assert_eq!(
            wrong("(a();)", gone),
            ["f: no longer in it with other mutants: a();"]
        );
    }
}
