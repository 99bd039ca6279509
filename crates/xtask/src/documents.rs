//! Names of files in documents and comments: whoever follows one finds a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Ends of names of files that documents speak of.
const ENDS: [&str; 4] = [".rs", ".py", ".slt", ".md"];
/// Folders that are not the tree's own.
const APART: [&str; 4] = ["target", ".git", "node_modules", ".venv"];

/// All files of the tree, by their paths from the root and without `crates` and `src`, as documents name them.
pub struct Files {
    names: Vec<String>,
}

impl Files {
    /// Lists the tree.
    pub fn list(root: &Path) -> io::Result<Files> {
        let mut names = Vec::new();
        for file in below(root)? {
            let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            names.push(shown.replacen("crates/", "", 1));
            names.push(shown.replacen("crates/", "", 1).replacen("/src/", "/", 1));
            names.push(shown);
        }
        Ok(Files { names })
    }

    /// Paths between backticks in a text that name no file.
    pub fn missing<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        quoted
            .filter(|name| is_file_name(name) && !self.has(name))
            .collect()
    }

    /// True if a file has this path, or one that ends with it.
    fn has(&self, name: &str) -> bool {
        let end = format!("/{name}");
        self.names.iter().any(|file| file == name || file.ends_with(&end))
    }
}

/// All files below a folder, but for what is built.
pub fn below(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if !entry.file_type()?.is_dir() {
                files.push(entry.path());
            } else if !APART.iter().any(|apart| name == *apart) {
                open.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// True for what can be a path in the tree, which a pattern (`*.rs`) or an end alone (`.rs`) is not.
fn is_file_name(name: &str) -> bool {
    let stem = ENDS.iter().find_map(|end| name.strip_suffix(end));
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    stem.is_some_and(|stem| !stem.is_empty() && !stem.starts_with(['/', '.']) && stem.chars().all(is_part))
}

/// The comments of a source file.
pub fn comments(text: &str) -> String {
    let lines = text.lines().filter(|line| line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_names_no_file_is_found() {
        let files = Files {
            names: [
                "crates/types/src/array/in_turn.rs",
                "types/array/in_turn.rs",
                "docs/sql.md",
            ]
            .map(str::to_owned)
            .to_vec(),
        };
        let text = "`types/array/in_turn.rs`, `in_turn.rs`, `array/in_turn.rs`, `crates/types/src/array/in_turn.rs`, \
             `turn.rs`, `types/in_turn.rs`, `*.rs`, `.rs`, `docs/sql.md` and `docs/SQL.md`, in_turns.rs";
        assert_eq!(
            files.missing(text),
            ["turn.rs", "types/in_turn.rs", "docs/SQL.md"]
        );
        assert_eq!(
            comments("//! `a.rs`\nlet b = \"`b.rs`\";\n    // c\n"),
            "//! `a.rs`\n    // c\n"
        );
    }

    #[test]
    fn the_tree_has_files() {
        let files = Files::list(&crate::root()).unwrap();
        assert!(files.has("xtask/documents.rs") && files.has("CONTRIBUTING.md") && !files.has("nothing.rs"));
    }
}
