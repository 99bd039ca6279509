//! The search path of a session: the schemas in which names without a schema are looked for.

use crate::{PUBLIC, QualifiedName, SYSTEM_SCHEMA, TEMPORARY_ALIAS, WrittenName};
use frazil_types::{Error, Result, SqlState, USER};
use std::sync::Arc;

/// The name that stands for the schema of the user's own name.
const USER_SCHEMA: &str = "$user";

/// A search path. Two are equal if they were set to the same text, in one session or in
/// sessions without temporary objects.
#[derive(Clone, Debug)]
pub struct SearchPath(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    /// The text that SHOW gives.
    text: String,
    /// The schemas in the order in which they are searched; some may not exist.
    schemas: Vec<String>,
    /// The name of the role whose schema `$user` is.
    user: String,
    /// The schema of the session's temporary objects; `None` for a path of no session.
    temporary: Option<Temporary>,
}

/// The schema of a session's temporary objects.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Temporary {
    name: String,
    /// False as long as the session has not made any.
    is_made: bool,
}

impl SearchPath {
    /// The path of a text such as `"$user", public`: names separated by commas. 22023.
    pub fn parse(text: &str) -> Result<SearchPath> {
        let names = names(text).ok_or_else(|| {
            let message = format!("invalid value for parameter \"search_path\": \"{text}\"");
            Error::new(SqlState::INVALID_PARAMETER, message).with_detail("List syntax is invalid.")
        })?;
        Ok(SearchPath::new(text, names, USER))
    }

    fn new(text: &str, names: Vec<String>, user: &str) -> SearchPath {
        let resolved = names.into_iter().map(|name| match name.as_str() {
            USER_SCHEMA => user.to_string(),
            _ => name,
        });
        SearchPath(Arc::new(Parts {
            text: text.to_string(),
            schemas: resolved.collect(),
            user: user.to_string(),
            temporary: None,
        }))
    }

    /// The name of the role whose schema `$user` is.
    pub fn user(&self) -> &str {
        &self.0.user
    }

    /// This path with the schema of a role in the place of `$user`.
    pub fn of_user(&self, user: &str) -> SearchPath {
        if user == self.user() {
            return self.clone();
        }
        let names = names(&self.0.text).unwrap_or_default();
        SearchPath::new(&self.0.text, names, user).in_session_of(self)
    }

    /// This path in a session whose temporary objects are in the schema `name`; `is_made`: there may be some.
    pub fn of_session(&self, name: &str, is_made: bool) -> SearchPath {
        let name = name.to_string();
        SearchPath(Arc::new(Parts {
            text: self.0.text.clone(),
            schemas: self.0.schemas.clone(),
            user: self.0.user.clone(),
            temporary: Some(Temporary { name, is_made }),
        }))
    }

    /// This path in the session of another path.
    pub fn in_session_of(&self, other: &SearchPath) -> SearchPath {
        match &other.0.temporary {
            Some(temporary) => self.of_session(&temporary.name, temporary.is_made),
            None => self.clone(),
        }
    }

    /// This path with those of its schemas that are kept.
    pub fn within(&self, is_kept: impl Fn(&str) -> bool) -> SearchPath {
        let kept = self.0.schemas.iter().filter(|schema| is_kept(schema));
        SearchPath(Arc::new(Parts {
            text: self.0.text.clone(),
            schemas: kept.cloned().collect(),
            user: self.0.user.clone(),
            temporary: self.0.temporary.clone(),
        }))
    }

    /// The schema of the session's temporary objects. It need not exist. `None` for a path of no session.
    pub fn temporary(&self) -> Option<&str> {
        self.0.temporary.as_ref().map(|temporary| temporary.name.as_str())
    }

    /// True if the session has made temporary objects.
    pub fn has_temporary(&self) -> bool {
        self.0
            .temporary
            .as_ref()
            .is_some_and(|temporary| temporary.is_made)
    }

    /// A schema of the path, or one that a statement writes: [`TEMPORARY_ALIAS`] is that of the session's temporary
    /// objects.
    pub fn resolved<'a>(&'a self, schema: &'a str) -> &'a str {
        match schema == TEMPORARY_ALIAS {
            true => self.temporary().unwrap_or(schema),
            false => schema,
        }
    }

    /// The path of [`PUBLIC`] alone, by which the catalog's own texts are read: those of CHECK, DEFAULT and views name
    /// objects of other schemas with their schemas.
    pub fn public() -> SearchPath {
        SearchPath::new(PUBLIC, vec![PUBLIC.to_string()], USER)
    }

    /// The text that SHOW gives.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The schemas in the order in which they are searched. Some may not exist.
    pub fn schemas(&self) -> &[String] {
        &self.0.schemas
    }

    /// Returns the objects that a written name may mean, in the order in which they are looked up. For a name without a
    /// schema, the schema of temporary objects comes first, and [`SYSTEM_SCHEMA`] last, unless the path contains them.
    pub fn candidates(&self, written: &WrittenName) -> Vec<QualifiedName> {
        if let Some(schema) = &written.schema {
            return vec![QualifiedName::new(self.resolved(schema), &written.name)];
        }
        let listed = self.schemas().iter().map(|schema| self.resolved(schema));
        let mut schemas: Vec<&str> = listed.collect();
        if let Some(temporary) = self.temporary().filter(|_| self.has_temporary())
            && !schemas.contains(&temporary)
        {
            schemas.insert(0, temporary);
        }
        if !schemas.contains(&SYSTEM_SCHEMA) {
            schemas.push(SYSTEM_SCHEMA);
        }
        let named = |schema| QualifiedName::new(schema, &written.name);
        schemas.into_iter().map(named).collect()
    }
}

impl PartialEq for SearchPath {
    fn eq(&self, other: &SearchPath) -> bool {
        fn made(path: &SearchPath) -> Option<&Temporary> {
            let temporary = path.0.temporary.as_ref();
            temporary.filter(|temporary| temporary.is_made)
        }
        // A session without temporary objects sees what every other one sees.
        Arc::ptr_eq(&self.0, &other.0)
            || self.0.text == other.0.text && self.0.schemas == other.0.schemas && made(self) == made(other)
    }
}

impl Eq for SearchPath {}

/// PostgreSQL's default.
impl Default for SearchPath {
    fn default() -> SearchPath {
        let names = [USER_SCHEMA, PUBLIC].map(str::to_string);
        SearchPath::new("\"$user\", public", names.to_vec(), USER)
    }
}

/// The names of a list that is separated by commas, folded unless quoted; `None` if it is not one.
fn names(text: &str) -> Option<Vec<String>> {
    let mut rest = text.trim_start();
    let mut names = Vec::new();
    if rest.is_empty() {
        return Some(names);
    }
    loop {
        let (name, behind) = name(rest)?;
        names.push(name);
        rest = behind.trim_start();
        if rest.is_empty() {
            return Some(names);
        }
        rest = rest.strip_prefix(',')?.trim_start();
    }
}

/// The name at the beginning of a text, and the text behind it.
fn name(text: &str) -> Option<(String, &str)> {
    let Some(mut quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| c == ',' || c.is_whitespace());
        let (name, rest) = text.split_at(end.unwrap_or(text.len()));
        return (!name.is_empty()).then(|| (name.to_lowercase(), rest));
    };
    let mut name = String::new();
    loop {
        let (part, behind) = quoted.split_once('"')?;
        name.push_str(part);
        let Some(more) = behind.strip_prefix('"') else {
            return Some((name, behind));
        };
        name.push('"');
        quoted = more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_postgresql_reads_it() {
        let schemas = |text: &str| SearchPath::parse(text).map(|path| path.schemas().join("|")).ok();
        for (text, found) in [
            ("", Some("")),
            ("s", Some("s")),
            ("S , \"T\"", Some("s|T")),
            ("\"a \"\"b\"\"\",c", Some("a \"b\"|c")),
            ("\"\"", Some("")),
            ("\"$user\", public", Some("postgres|public")),
            ("a b", None),
            ("a,", None),
            (",a", None),
            ("\"a", None),
        ] {
            assert_eq!(schemas(text).as_deref(), found, "{text}");
        }
        assert_eq!(
            SearchPath::default(),
            SearchPath::parse("\"$user\", public").unwrap()
        );
        assert_eq!(
            SearchPath::parse("a b").unwrap_err().state(),
            SqlState::INVALID_PARAMETER
        );
    }

    #[test]
    fn a_name_is_looked_for_along_the_path() {
        let path = SearchPath::parse("s, public").unwrap();
        let shown = |written: &WrittenName| {
            let found = path.candidates(written);
            found
                .iter()
                .map(QualifiedName::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut name = WrittenName::unqualified("t");
        assert_eq!(shown(&name), "s.t public.t pg_catalog.t");
        name.schema = Some("x".to_string());
        assert_eq!(
            (shown(&name), name.to_string()),
            ("x.t".to_string(), "x.t".to_string())
        );
    }
}
