//! COMMENT ON: the object that its name means by the session's path.

use super::naming::{schema_name, to_drop, type_to_drop};
use crate::parse::{CommentOn, CommentedName};
use crate::{CatalogView, Definition, Statement};
use frazil_catalog::{CommentTarget, NewComment, WrittenName};
use frazil_types::session_settings;

/// A comment. The catalog finds the object, or misses it.
pub(crate) fn comment_on(catalog: &dyn CatalogView, written: &CommentOn) -> Statement {
    let resolved = |name: &WrittenName| to_drop(catalog, name);
    let target = match &written.object {
        CommentedName::Database(name) if *name == session_settings::database() => CommentTarget::Database,
        // As in PostgreSQL, a dump of a database loads into one of another name.
        CommentedName::Database(_) => return Statement::checked("COMMENT"),
        CommentedName::Schema(name) => CommentTarget::Schema(schema_name(catalog, name)),
        CommentedName::Relation(kind, name) => CommentTarget::Relation(*kind, resolved(name)),
        CommentedName::Column(relation, column) => CommentTarget::Column(resolved(relation), column.clone()),
        CommentedName::Type(name, only_domains) => {
            CommentTarget::Type(type_to_drop(catalog, name), *only_domains)
        }
        CommentedName::DomainConstraint(name, domain) => {
            CommentTarget::DomainConstraint(name.clone(), type_to_drop(catalog, domain))
        }
        CommentedName::Constraint(name, table) => CommentTarget::Constraint(name.clone(), resolved(table)),
    };
    let text = written.text.clone();
    Definition::CommentOn(NewComment { target, text }).into()
}
