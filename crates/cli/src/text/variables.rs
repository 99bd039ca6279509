//! Variables: `\set name value`, and `:name`, `:'name'`, `:"name"` in statements and arguments, and `:{?name}` for whether there is one.

use frazil::sql_text::{TokenKind, is_of_word, tokens};
use std::collections::BTreeMap;

/// Names and texts.
#[derive(Clone, Debug, Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Gives `name` a value.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Takes `name` away.
    pub fn unset(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// `text` with variables in their places. What no variable has a value for stays as it is, as does what stands in
    /// strings and comments, and the type behind `::`.
    pub fn expand(&self, text: &str) -> String {
        if !text.contains(':') {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        let mut taken = 0;
        let mut after_colon = false;
        for token in tokens(text) {
            let is_colon = token.kind == TokenKind::Symbol && text.as_bytes()[token.range.start] == b':';
            if is_colon && !after_colon && token.range.start >= taken {
                let behind = &text[token.range.end..];
                if let Some((value, length)) = self.value(behind) {
                    out.push_str(&text[taken..token.range.start]);
                    out.push_str(&value);
                    taken = token.range.end + length;
                }
            }
            after_colon = is_colon;
        }
        out.push_str(&text[taken..]);
        out
    }

    /// What stands for the variable that `text`, behind a colon, begins with, and the bytes of its name.
    fn value(&self, text: &str) -> Option<(String, usize)> {
        if let Some(inner) = text.strip_prefix("{?") {
            let name = &inner[..inner.find('}')?];
            let is_set = self.get(name).is_some();
            return Some((if is_set { "TRUE" } else { "FALSE" }.to_owned(), name.len() + 3));
        }
        let mark = text.chars().next()?;
        if mark == '\'' || mark == '"' {
            let end = text[1..].find(mark)? + 1;
            let value = self.get(&text[1..end])?;
            let doubled = value.replace(mark, &format!("{mark}{mark}"));
            return Some((format!("{mark}{doubled}{mark}"), end + 1));
        }
        let end = text.find(|c| !is_of_word(c)).unwrap_or(text.len());
        Some((self.get(&text[..end])?.to_owned(), end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_stand_bare_or_quoted() {
        let mut variables = Variables::default();
        variables.set("n", "42");
        variables.set("s", "it's \"so\"");
        assert_eq!(
            variables.expand("select :n, :'s', :\"s\", ':n', a::n, :unknown -- :n"),
            "select 42, 'it''s \"so\"', \"it's \"\"so\"\"\", ':n', a::n, :unknown -- :n"
        );
        assert_eq!(variables.expand(":{?n} :{?m}"), "TRUE FALSE");
        variables.unset("n");
        assert_eq!(variables.expand(":n"), ":n");
    }
}
