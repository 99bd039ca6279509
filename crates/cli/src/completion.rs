//! What Tab offers: keywords, tables, columns, functions, settings, commands of the shell and files.

use crate::backend::{self, Backend};
use crate::commands::{self, Takes};
use crate::keywords;
use crate::output::Mode;
use crate::text::{Token, TokenKind, tokens, unquoted};
use frazil::identifier;
use std::path::Path;

/// What may stand at a place, and the byte of the line where it begins.
pub struct Offer {
    /// The byte of the line that what is offered replaces, up to the cursor.
    pub start: usize,
    /// What may stand there, in order.
    pub words: Vec<String>,
}

/// A table or view with the names that the statement gives it.
struct Relation {
    names: Vec<String>,
    columns: Vec<String>,
}

/// What may follow `line`, which ends at the cursor; `before`: the lines of the statement above it; `behind`: the rest
/// of the line.
pub fn complete(backend: &dyn Backend, before: &str, line: &str, behind: &str) -> Offer {
    let begins_command = line.trim_start().starts_with(['\\', '.']);
    if begins_command && before.trim().is_empty() {
        return command(backend, line);
    }
    let text = format!("{before}{line}");
    let all: Vec<Token> = tokens(&text).collect();
    let last = all.last();
    if let Some(open) = last.filter(|t| t.kind == TokenKind::Text && !t.closed) {
        return files(&text[open.range.start + 1..], line);
    }
    if last.is_some_and(|t| t.kind == TokenKind::Comment) {
        return offer(line, "", Vec::new());
    }
    let is_word = |t: &&Token| t.kind == TokenKind::Word || (t.kind == TokenKind::QuotedName && !t.closed);
    let prefix = last.filter(is_word).map_or("", |t| &text[t.range.clone()]);
    let earlier: Vec<&Token> = (all.iter())
        .filter(|t| t.range.end <= text.len() - prefix.len())
        .filter(|t| !matches!(t.kind, TokenKind::Blank | TokenKind::Comment))
        .collect();
    let statement = Statement {
        backend,
        text: &text,
        earlier: &earlier,
        relations: relations(backend, &format!("{text}{behind}")),
    };
    offer(line, prefix, statement.words(prefix))
}

fn offer(line: &str, prefix: &str, mut words: Vec<String>) -> Offer {
    words.sort();
    words.dedup();
    Offer {
        start: line.len() - prefix.len(),
        words,
    }
}

struct Statement<'a> {
    backend: &'a dyn Backend,
    text: &'a str,
    /// What stands before the word that is being typed, without blanks and comments.
    earlier: &'a [&'a Token],
    /// Tables and views that the statement names.
    relations: Vec<Relation>,
}

impl Statement<'_> {
    /// The token that is `back` tokens before the word; the nearest is 1.
    fn back(&self, back: usize) -> &str {
        let token = self.earlier.len().checked_sub(back).map(|at| self.earlier[at]);
        token.map_or("", |t| &self.text[t.range.clone()])
    }

    /// The keyword that the clause begins with in which the word stands.
    fn clause(&self) -> &str {
        let clauses = [
            "select", "from", "where", "by", "having", "on", "set", "values", "limit",
        ];
        let words = self.earlier.iter().rev().map(|t| &self.text[t.range.clone()]);
        let mut words = words.filter(|w| clauses.iter().any(|c| c.eq_ignore_ascii_case(w)));
        words.next().unwrap_or_default()
    }

    fn words(&self, prefix: &str) -> Vec<String> {
        let previous = self.back(1);
        if previous == "." {
            return self.columns_of(&unquoted(self.back(2)), prefix);
        }
        let mut words = Vec::new();
        let is_settings = ["set", "show", "reset"]
            .iter()
            .any(|w| w.eq_ignore_ascii_case(previous));
        if is_settings && self.earlier.len() == 1 {
            words.extend(frazil::settings());
            return starting(words, prefix);
        }
        let is_next_table = previous == "," && self.clause().eq_ignore_ascii_case("from");
        words.extend(relation_names(self.backend));
        if keywords::comes_before_relation(previous) || is_next_table {
            words.extend(frazil::system_tables().map(str::to_owned));
            return starting(words, prefix);
        }
        words.extend(self.relations.iter().flat_map(|r| r.columns.clone()));
        if prefix.is_empty() && !self.relations.is_empty() {
            return starting(words, prefix);
        }
        words.extend(frazil::functions().map(|f| format!("{}(", f.name)));
        let is_upper = prefix.starts_with(|c: char| c.is_uppercase());
        words.extend(keywords::all().map(|k| if is_upper { k.to_uppercase() } else { k.to_owned() }));
        starting(words, prefix)
    }

    fn columns_of(&self, name: &str, prefix: &str) -> Vec<String> {
        let named = self
            .relations
            .iter()
            .filter(|r| r.names.iter().any(|n| n == name));
        starting(named.flat_map(|r| r.columns.clone()).collect(), prefix)
    }
}

fn starting(words: Vec<String>, prefix: &str) -> Vec<String> {
    let prefix = prefix.to_lowercase();
    let mut words = words;
    words.retain(|word| word.to_lowercase().starts_with(&prefix));
    words
}

fn relation_names(backend: &dyn Backend) -> Vec<String> {
    // Without an answer nothing is offered.
    let relations = backend.relations().unwrap_or_default();
    relations.iter().map(backend::Relation::sql_name).collect()
}

/// The tables and views that a statement names, each with the alias behind it.
fn relations(backend: &dyn Backend, text: &str) -> Vec<Relation> {
    let words: Vec<&str> = (tokens(text))
        .filter(|t| !matches!(t.kind, TokenKind::Blank | TokenKind::Comment | TokenKind::Text))
        .map(|t| &text[t.range])
        .collect();
    let all = backend.relations().unwrap_or_default();
    let mut found: Vec<Relation> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let folded = unquoted(word);
        let Some(relation) = all.iter().find(|relation| relation.name == folded) else {
            continue;
        };
        let mut behind = words[at + 1..].iter().filter(|w| !w.eq_ignore_ascii_case("as"));
        let alias = behind
            .next()
            .filter(|w| w.starts_with(|c: char| c.is_alphabetic()));
        let alias = alias.filter(|w| !keywords::is_keyword(w)).map(|w| unquoted(w));
        found.push(Relation {
            names: alias.into_iter().chain([folded]).collect(),
            columns: relation.columns.iter().map(|name| identifier(name)).collect(),
        });
    }
    found
}

/// Commands of the shell and their arguments.
fn command(backend: &dyn Backend, line: &str) -> Offer {
    let typed = line.trim_start();
    let Some(blank) = typed.find(char::is_whitespace) else {
        let names = commands::all().flat_map(|c| c.names).map(|n| (*n).to_owned());
        let names = names.filter(|n| n.starts_with(typed)).collect();
        return offer(line, typed, names);
    };
    let argument = &typed[typed.rfind(char::is_whitespace).map_or(0, |at| at + 1)..];
    let words = match commands::named(&typed[..blank]).map(|c| c.takes) {
        Some(Takes::Relations) => relation_names(backend),
        Some(Takes::OneOf(words)) => words.iter().map(|w| (*w).to_owned()).collect(),
        Some(Takes::Mode) => Mode::names().collect(),
        Some(Takes::File | Takes::Line) => return files(argument.trim_start_matches('\''), line),
        Some(Takes::Words) | None => Vec::new(),
    };
    offer(line, argument, starting(words, argument))
}

/// Files whose path begins with `path`; directories end in a slash.
fn files(path: &str, line: &str) -> Offer {
    let (directory, name) = match path.rfind('/') {
        Some(slash) => path.split_at(slash + 1),
        None => ("", path),
    };
    let searched = if directory.is_empty() {
        Path::new(".")
    } else {
        Path::new(directory)
    };
    let entries = std::fs::read_dir(searched).into_iter().flatten().flatten();
    let mut words = Vec::new();
    for entry in entries {
        let Ok(file) = entry.file_name().into_string() else {
            continue;
        };
        let is_hidden = file.starts_with('.') && !name.starts_with('.');
        if file.starts_with(name) && !is_hidden {
            let slash = if entry.path().is_dir() { "/" } else { "" };
            words.push(format!("{file}{slash}"));
        }
    }
    offer(line, name, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil::Database;

    fn offered(line: &str) -> Vec<String> {
        let database = Database::memory().expect("it opens");
        let connection = database.connect();
        connection
            .execute("create table lines (price integer, \"Part no\" text)")
            .expect("it is made");
        connection
            .execute("create table orders (total integer)")
            .expect("it is made");
        complete(&connection, "", line, "").words
    }

    #[test]
    fn places_get_what_may_stand_there() {
        assert_eq!(offered("select * from li"), ["lines"]);
        assert_eq!(offered("select * from lines l, o"), ["orders"]);
        assert_eq!(
            offered("select l. from lines l where l."),
            ["\"Part no\"", "price"]
        );
        assert_eq!(offered("select pri"), Vec::<String>::from(["primary".to_owned()]));
        assert_eq!(
            offered("select count(*) from lines where pri"),
            ["price", "primary"]
        );
        assert_eq!(offered("SELECT * FR"), ["FREEZE", "FROM"]);
        assert_eq!(offered("select * from frazil_i"), ["frazil_indexes"]);
        assert_eq!(offered("select regexp_l"), ["regexp_like("]);
        assert_eq!(offered("set frazil.stages").len(), 0);
        assert_eq!(offered("show mem"), ["memory_limit"]);
        assert_eq!(offered("\\dt or"), ["orders"]);
        assert_eq!(offered(".mode jsonl"), ["jsonlines"]);
        assert_eq!(offered("\\tim"), ["\\timing"]);
        assert_eq!(offered("select 1 -- fr"), Vec::<String>::new());
    }

    #[test]
    fn files_are_offered_in_strings_and_behind_commands() {
        let directory = std::env::temp_dir().join(format!("frazil-complete-{}", std::process::id()));
        std::fs::create_dir_all(directory.join("inner")).expect("it is made");
        std::fs::write(directory.join("in.csv"), "").expect("it is written");
        let path = directory.display();
        assert_eq!(offered(&format!("copy t from '{path}/in")), ["in.csv", "inner/"]);
        assert_eq!(offered(&format!("\\i {path}/in.")), ["in.csv"]);
        let _ = std::fs::remove_dir_all(&directory);
    }
}
