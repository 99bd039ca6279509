//! The modules of a crate, and where each name that a file uses is defined.
//!
//! A small reader of Rust: it knows modules, items, `use` trees and paths, and nothing about types. A path is
//! followed through child modules, `pub use` at any level, and globs to the file that defines its item. Modules of
//! tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// A module's path from the crate's root; the root's own is empty.
pub type Name = Vec<String>;

/// Modules and names that the search for a path has asked for: globs may lead in circles.
type Asked = BTreeSet<(Name, String)>;

/// A crate's modules.
#[derive(Default)]
pub struct Crate {
    modules: BTreeMap<Name, Module>,
}

/// What one module has; of an inline module `file` is the module around it that is a file.
#[derive(Default)]
struct Module {
    file: Name,
    /// Names of its items.
    items: BTreeSet<String>,
    /// What its `use` declarations bring.
    imports: Vec<Import>,
    /// Paths whose names a `use …::*` brings.
    globs: Vec<Name>,
    /// Children that macros among its items may name.
    named: BTreeSet<Name>,
    /// Paths that its code has, `use` declarations apart.
    paths: BTreeSet<Name>,
}

/// A name that a `use` declaration brings.
struct Import {
    name: String,
    path: Name,
    /// True for a re-export, which hands on what others use: it counts where the name is used.
    is_handed_on: bool,
}

/// Where a path leads.
enum Place {
    Module(Name),
    /// An item that this file defines.
    Item(Name),
}

/// Reads all files below a crate's `src`.
pub fn read(src: &Path) -> io::Result<Crate> {
    let mut texts = Vec::new();
    for file in crate::tidy::sources(src)? {
        texts.push((module_of(src, &file), fs::read_to_string(&file)?));
    }
    Ok(Crate::new(&texts))
}

fn module_of(src: &Path, file: &Path) -> Name {
    let inside = file.strip_prefix(src).unwrap_or(file).with_extension("");
    let mut parts: Name = inside
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

impl Crate {
    /// Reads the texts of files by their modules.
    pub fn new(files: &[(Name, String)]) -> Crate {
        let mut all = Crate::default();
        let mut tests = Vec::new();
        for (name, text) in files {
            let tokens = tokens(text);
            let reader = &mut Reader {
                tokens: &tokens,
                at: 0,
                file: name,
                all: &mut all,
                tests: &mut tests,
            };
            reader.module(name.clone());
        }
        all.modules
            .retain(|name, _| !tests.iter().any(|test| name.starts_with(test)));
        all
    }

    /// The files whose items each file names.
    pub fn uses(&self) -> BTreeMap<Name, BTreeSet<Name>> {
        let mut all: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
        for (name, module) in &self.modules {
            let used = all.entry(module.file.clone()).or_default();
            let imports = module.imports.iter().filter(|i| !i.is_handed_on).map(|i| &i.path);
            for path in imports.chain(&module.paths) {
                if let Some(Place::Item(file)) = self.place(name, path, &mut Asked::new())
                    && file != module.file
                {
                    used.insert(file);
                }
            }
            let children = module.named.iter().filter_map(|child| self.modules.get(child));
            used.extend(children.map(|child| child.file.clone()));
        }
        all
    }

    /// Where a path leads that stands in a module; None for what other crates have, and for local names.
    fn place(&self, from: &Name, path: &[String], asked: &mut Asked) -> Option<Place> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Name::new(),
            "self" => from.clone(),
            "super" => from[..from.len().checked_sub(1)?].to_vec(),
            name => match self.member(from, name, asked)? {
                Place::Module(module) => module,
                item @ Place::Item(_) => return Some(item),
            },
        };
        while let Some((name, more)) = rest.split_first() {
            rest = more;
            if name == "super" {
                at.pop()?;
                continue;
            }
            match self.member(&at, name, asked)? {
                Place::Module(module) => at = module,
                item @ Place::Item(_) => return Some(item),
            }
        }
        Some(Place::Module(at))
    }

    /// What a module calls `name`: its child, its item, or what it imports.
    fn member(&self, of: &Name, name: &str, asked: &mut Asked) -> Option<Place> {
        let module = self.modules.get(of)?;
        let mut child = of.clone();
        child.push(name.to_owned());
        if self.modules.contains_key(&child) {
            return Some(Place::Module(child));
        }
        if module.items.contains(name) {
            return Some(Place::Item(module.file.clone()));
        }
        if !asked.insert((of.clone(), name.to_owned())) {
            return None;
        }
        for import in module.imports.iter().filter(|i| i.name == name) {
            if let Some(place) = self.place(of, &import.path, asked) {
                return Some(place);
            }
        }
        module
            .globs
            .iter()
            .find_map(|glob| match self.place(of, glob, asked)? {
                Place::Module(module) => self.member(&module, name, asked),
                Place::Item(_) => None,
            })
    }
}

/// Reads the modules of one file.
struct Reader<'a> {
    tokens: &'a [String],
    at: usize,
    file: &'a Name,
    all: &'a mut Crate,
    /// Modules of tests that are files of their own.
    tests: &'a mut Vec<Name>,
}

impl<'a> Reader<'a> {
    /// Reads to the end of the file, or of the module's braces.
    fn module(&mut self, name: Name) {
        let mut module = Module {
            file: self.file.clone(),
            ..Module::default()
        };
        let mut depth = 0;
        while let Some(token) = self.next() {
            match token {
                "{" => depth += 1,
                "}" if depth == 0 => break,
                "}" => depth -= 1,
                "mod" => self.child(&name),
                "use" => {
                    let is_handed_on = self.is_public();
                    self.use_tree(&mut Name::new(), is_handed_on, &mut module);
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" if depth == 0 => {
                    self.item(&mut module);
                }
                "!" if depth == 0 && matches!(self.peek(), Some("{" | "(")) => {
                    self.item_macro(&name, &mut module)
                }
                "macro_rules" => {
                    self.at += 1;
                    self.item(&mut module);
                }
                word if is_word(word) => self.path(word.to_owned(), &mut module),
                _ => {}
            }
        }
        self.all.modules.insert(name, module);
    }

    /// `mod NAME;` and `mod NAME { … }`; one of tests is not read.
    fn child(&mut self, of: &Name) {
        let before = self.tokens[..self.at - 1].iter().rev();
        let is_test = before
            .take(16)
            .take_while(|t| !matches!(t.as_str(), ";" | "}"))
            .any(|t| t == "test");
        let Some(child) = self.next() else { return };
        let mut name = of.clone();
        name.push(child.to_owned());
        match (self.next(), is_test) {
            (Some("{"), true) => self.skip_braces(),
            (Some("{"), false) => self.module(name),
            (Some(";"), true) => self.tests.push(name),
            _ => {}
        }
    }

    /// A macro among the items: the children that it names are used, because it makes their paths.
    fn item_macro(&mut self, of: &Name, module: &mut Module) {
        let end = self.at + closing(&self.tokens[self.at..]);
        while self.at < end
            && let Some(token) = self.next()
        {
            let mut child = of.clone();
            child.push(token.to_owned());
            module.named.insert(child);
            if is_word(token) {
                self.path(token.to_owned(), module);
            }
        }
    }

    fn skip_braces(&mut self) {
        let mut depth = 1;
        while depth > 0
            && let Some(token) = self.next()
        {
            match token {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
        }
    }

    /// True if the token read last stands behind `pub` or `pub(…)`.
    fn is_public(&self) -> bool {
        let mut before = self.tokens[..self.at - 1].iter().rev().map(String::as_str);
        match before.next() {
            Some(")") => before.take(4).any(|t| t == "pub"),
            before => before == Some("pub"),
        }
    }

    /// An item's name; in `const fn`, `const _` and `fn(…)` there is none.
    fn item(&mut self, module: &mut Module) {
        if let Some(name) = self.peek()
            && is_word(name)
            && !["fn", "unsafe", "async", "extern", "mut"].contains(&name)
        {
            module.items.insert(name.to_owned());
            self.at += 1;
        }
    }

    /// A `use` tree behind `prefix`.
    fn use_tree(&mut self, prefix: &mut Name, is_handed_on: bool, module: &mut Module) {
        let depth = prefix.len();
        loop {
            match self.next() {
                Some("{") => {
                    while self.peek().is_some_and(|t| t != "}") {
                        self.use_tree(&mut prefix.clone(), is_handed_on, module);
                        if self.peek() == Some(",") {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                Some("*") => return module.globs.push(prefix.clone()),
                Some("::") => continue,
                Some("self") if depth > 0 && self.peek() != Some("::") => {}
                Some(word) => prefix.push(word.to_owned()),
                None => return,
            }
            if self.peek() != Some("::") {
                break;
            }
        }
        let mut name = prefix.last().cloned().unwrap_or_default();
        if self.peek() == Some("as") {
            self.at += 1;
            name = self.next().unwrap_or("").to_owned();
        }
        let path = prefix.clone();
        module.imports.push(Import {
            name,
            path,
            is_handed_on,
        });
    }

    /// A path of the code that begins with `first`; not a field, nor a method.
    fn path(&mut self, first: String, module: &mut Module) {
        let before = self.at.checked_sub(2).map(|at| self.tokens[at].as_str());
        if matches!(before, Some("." | "::")) {
            return;
        }
        let mut path = vec![first];
        while self.peek() == Some("::") && self.tokens.get(self.at + 1).is_some_and(|t| is_word(t)) {
            path.push(self.tokens[self.at + 1].clone());
            self.at += 2;
        }
        module.paths.insert(path);
    }

    fn next(&mut self) -> Option<&'a str> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).map(String::as_str)
    }
}

/// The position of the bracket that closes the one that the tokens begin with.
fn closing(tokens: &[String]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" | "(" => depth += 1,
            "}" | ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The words and signs of a text, without its comments; each string, character and number is one token.
pub fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                let (token, length) = token(rest, first);
                found.push(token);
                length
            }
        };
        rest = &rest[length..];
    }
    found
}

/// The token that a text begins with, and its length in bytes.
fn token(text: &str, first: char) -> (String, usize) {
    let word = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    if let Some(end) = raw_string(text) {
        return ("\"\"".to_owned(), end);
    }
    let start = usize::from(first == 'b');
    if text[start..].starts_with('"') {
        return ("\"\"".to_owned(), start + quoted(&text[start..], '"'));
    }
    if text[start..].starts_with('\'') && is_character(&text[start..]) {
        return ("''".to_owned(), start + quoted(&text[start..], '\''));
    }
    if word > 0 {
        return (text[..word].to_owned(), word);
    }
    if let Some(lifetime) = text.strip_prefix('\'') {
        let end = lifetime.find(|c: char| !c.is_alphanumeric() && c != '_');
        let length = 1 + end.unwrap_or(lifetime.len());
        return (text[..length].to_owned(), length);
    }
    if text.starts_with("::") {
        return ("::".to_owned(), 2);
    }
    (first.to_string(), first.len_utf8())
}

/// The length of a raw string that a text begins with: `r"…"`, `br#"…"#`.
fn raw_string(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = inside.find(|c| c != '#')?;
    if !inside[hashes..].starts_with('"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let opened = text.len() - inside.len() + hashes + 1;
    let end = text[opened..].find(&close).unwrap_or(text.len() - opened);
    Some((opened + end + close.len()).min(text.len()))
}

/// The length of what is quoted, its quotes included; a backslash escapes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// True for a character's literal, false for a lifetime.
fn is_character(text: &str) -> bool {
    let mut inside = text.chars().skip(1);
    match inside.next() {
        Some('\\') => true,
        Some(_) => inside.next() == Some('\''),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn strings_characters_and_lifetimes_are_one_token() {
        let text = "&'static C /* /* */ 'x' b'\\'' r#\"a \" b\"# br\"\" \"\\\" fn\" 'a: r#type a::b // fn";
        assert_eq!(
            tokens(text),
            [
                "&", "'static", "C", "''", "''", "\"\"", "\"\"", "\"\"", "'a", ":", "r", "#", "type", "a",
                "::", "b"
            ]
        );
    }
}
