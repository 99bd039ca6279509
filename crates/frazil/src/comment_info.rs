//! Comments as COMMENT ON statements.

use crate::connection::Connection;
use frazil_catalog::Catalog;

/// A comment on an object of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentInfo {
    /// The table, view or sequence that the object is or belongs to, as SQL; `None` for other objects.
    pub relation: Option<String>,
    /// The object as COMMENT ON names it.
    pub object: String,
    /// The text.
    pub text: String,
}

impl CommentInfo {
    /// The COMMENT ON statement, with a semicolon.
    pub fn ddl(&self) -> String {
        format!(
            "comment on {} is '{}';",
            self.object,
            self.text.replace('\'', "''")
        )
    }

    /// True if the object is one of some relations, whose names are SQL, or belongs to one.
    pub fn is_of(&self, relations: &[String]) -> bool {
        self.relation
            .as_ref()
            .is_some_and(|name| relations.contains(name))
    }

    /// True for a comment on a constraint.
    pub fn is_on_constraint(&self) -> bool {
        self.object.starts_with("constraint ")
    }

    fn all(catalog: &Catalog) -> Vec<CommentInfo> {
        let comments = catalog.comments().into_iter();
        let info = |(of, text): (_, std::sync::Arc<str>)| {
            let relation = catalog.commented_relation(of);
            let object = catalog.comment_words(of)?;
            let text = text.to_string();
            Some(CommentInfo {
                relation,
                object,
                text,
            })
        };
        let mut all: Vec<CommentInfo> = comments.filter_map(info).collect();
        all.sort_by(|a, b| a.object.cmp(&b.object));
        all
    }
}

impl Connection {
    /// All comments but those on temporary objects, by what they are on.
    pub fn comments(&self) -> Vec<CommentInfo> {
        CommentInfo::all(&self.session().snapshot().catalog().lasting())
    }
}
