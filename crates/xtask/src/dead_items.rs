//! Public items that nobody names: the compiler reports private ones, but believes that of a library's public items
//! others may be in need. All members of the workspace are read, so that what none of them names is dead.

use crate::modules::tokens;
use std::collections::BTreeMap;

/// Words that open an item with a name.
const ITEMS: [&str; 9] = [
    "fn", "struct", "enum", "trait", "const", "static", "type", "union", "mod",
];
/// Words between `pub` and these.
const BEFORE: [&str; 4] = ["unsafe", "async", "extern", "\"\""];

/// A public item.
struct Item {
    name: String,
    member: String,
    /// Its file.
    file: String,
}

/// The public items of the members, and how often each word occurs in their code.
#[derive(Default)]
pub struct Named {
    items: Vec<Item>,
    words: BTreeMap<String, usize>,
}

impl Named {
    /// Reads one file; what only files of tests have may be public for their sake.
    pub fn read(&mut self, member: &str, file: &str, text: &str, is_test: bool) {
        let tokens = tokens(text);
        for (at, token) in tokens.iter().enumerate() {
            if token == "pub" && !is_test {
                self.items.extend(public(&tokens[at + 1..]).map(|name| Item {
                    name: name.to_owned(),
                    member: member.to_owned(),
                    file: file.to_owned(),
                }));
            }
        }
        for token in tokens {
            *self.words.entry(token).or_default() += 1;
        }
        for word in words_of_strings(text) {
            *self.words.entry(word.to_owned()).or_default() += 1;
        }
    }

    /// The items of a crate whose names occur nowhere but where they are defined.
    pub fn dead(&self, member: &str) -> Vec<String> {
        let mut defined: BTreeMap<&str, usize> = BTreeMap::new();
        for item in &self.items {
            *defined.entry(&item.name).or_default() += 1;
        }
        let own = self.items.iter().filter(|item| item.member == member);
        own.filter(|item| self.words.get(&item.name).copied().unwrap_or(0) <= defined[item.name.as_str()])
            .map(|item| format!("{}: nobody names {}", item.file, item.name))
            .collect()
    }
}

/// The name of the item that follows `pub`; a field has none, nor has a re-export.
fn public(tokens: &[String]) -> Option<&str> {
    let mut rest = tokens.iter().map(String::as_str);
    loop {
        let word = rest.next()?;
        if BEFORE.contains(&word) {
            continue;
        }
        if !ITEMS.contains(&word) {
            return None;
        }
        return match rest.next()? {
            "fn" if word == "const" => rest.next(),
            "unsafe" if word == "const" => rest.nth(1),
            name => Some(name),
        };
    }
}

/// Words of formats: `"{name}"` names a constant or a variable.
fn words_of_strings(text: &str) -> impl Iterator<Item = &str> {
    let inside = text.split('{').skip(1);
    inside
        .filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_names_is_found() {
        let mut named = Named::default();
        let ours = "pub fn used() {}\npub const fn dead() {} // dead()\npub(crate) fn other() {}\n\
             pub struct Dead { pub field: u8 }\nimpl S { pub unsafe fn in_vain(&self) {} pub const LIMIT: u8 = 1; }\n\
             pub mod tested { }\npub use a::b;\n";
        named.read("a", "a.rs", ours, false);
        named.read(
            "b",
            "b.rs",
            "fn f() { a::used(); let s = format!(\"{LIMIT}\"); }",
            false,
        );
        named.read("b", "tests/b.rs", "use a::tested; pub fn support() {}", true);
        let dead = named.dead("a");
        assert_eq!(
            dead,
            [
                "a.rs: nobody names dead",
                "a.rs: nobody names Dead",
                "a.rs: nobody names in_vain"
            ]
        );
        assert!(named.dead("b").is_empty());
    }

    #[test]
    fn two_definitions_of_a_name_are_no_use() {
        let mut named = Named::default();
        named.read("a", "a.rs", "impl A { pub fn gives(&self) {} }", false);
        named.read("b", "b.rs", "impl B { pub fn gives(&self) {} }", false);
        assert_eq!(named.dead("a").len() + named.dead("b").len(), 2);
        named.read("b", "c.rs", "fn f() { x.gives() }", false);
        assert!(named.dead("a").is_empty());
    }
}
