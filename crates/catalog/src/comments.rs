//! COMMENT ON: texts about objects, by ids, so that a comment follows its object through every change of the name.
//!
//! Ids are never given again. So dropping an object does not look for its comments: those of objects that are gone are
//! never shown, and [`Catalog::restore`] forgets them.

use crate::comment::{CommentTarget, Commented, CommentedKind, Comments, NewComment};
use crate::objects::Object;
use crate::{
    Catalog, PUBLIC, QualifiedName, Relation, TypeKind, identifier, missing_schema, not_a_sequence,
    not_a_table,
};
use frazil_types::{ColumnDef, ColumnNumber, Error, ObjectId, Result, SqlState, session_settings};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A name of the catalog as SQL that means it where `public` alone is on the path.
fn shown(name: &QualifiedName) -> String {
    match name.schema == PUBLIC {
        true => identifier(&name.name),
        false => name.to_string(),
    }
}

/// The number by which the comment of a column is kept.
fn key_of(columns: &[ColumnDef], position: usize) -> ColumnNumber {
    match columns[position].number {
        ColumnNumber(0) => ColumnNumber(position as u32 + 1),
        number => number,
    }
}

impl Catalog {
    /// The comment on an object.
    pub fn comment(&self, of: Commented) -> Option<&Arc<str>> {
        self.comments.get(&of)
    }

    /// A column of a relation, by its position, as comments know it.
    pub fn column_key(&self, relation: ObjectId, position: usize) -> Option<Commented> {
        let columns = self.columns_of(relation)?;
        let number = (position < columns.len()).then(|| key_of(columns, position))?;
        Some(Commented::Column(relation, number))
    }

    /// True if a relation has the column of a comment or of privileges.
    pub(crate) fn has_column_key(&self, of: Commented, relation: ObjectId) -> bool {
        let columns = self.columns_of(relation).unwrap_or_default();
        (0..columns.len()).any(|at| of == Commented::Column(relation, key_of(columns, at)))
    }

    /// The name of the column of a comment or of privileges.
    pub fn column_of_key(&self, of: Commented) -> Option<String> {
        let relation = of.id()?;
        let columns = self.columns_of(relation)?;
        let mut all = (0..columns.len()).zip(columns);
        let found = all.find(|(at, _)| of == Commented::Column(relation, key_of(columns, *at)));
        found.map(|(_, column)| column.name.clone())
    }

    fn columns_of(&self, relation: ObjectId) -> Option<&[ColumnDef]> {
        Some(match self.relation_of(relation)? {
            Relation::Table(table) => &table.schema.columns,
            Relation::View(view) => &view.schema.columns,
        })
    }

    /// The comments on objects that there are.
    pub fn comments(&self) -> Comments {
        if self.comments.is_empty() {
            return Comments::new();
        }
        let constraints = self.tables().flat_map(|table| &table.constraints);
        let of_domains = self
            .domains()
            .flat_map(|(_, domain)| &domain.checks)
            .map(|check| check.id);
        let constraints: BTreeSet<ObjectId> = constraints
            .map(|constraint| constraint.id)
            .chain(of_domains)
            .collect();
        let is_there = |of: Commented| match of {
            Commented::Database => true,
            Commented::Object(id) => self.objects.get(id).is_some() || constraints.contains(&id),
            Commented::Column(id, number) => self.columns_of(id).is_some_and(|columns| {
                let mut positions = 0..columns.len();
                positions.any(|position| key_of(columns, position) == number)
            }),
        };
        let all = self.comments.iter().filter(|(of, _)| is_there(**of));
        all.map(|(of, text)| (*of, text.clone())).collect()
    }

    /// The comments on lasting objects; those of objects that are gone are among them.
    pub(crate) fn lasting_comments(&self) -> impl Iterator<Item = (&Commented, &Arc<str>)> {
        self.comments.iter().filter(|(of, _)| !of.is_temporary())
    }

    /// Takes the comments on temporary objects of another version.
    pub(crate) fn take_temporary_comments(&mut self, other: &Catalog) {
        let own = self.comments.keys().any(Commented::is_temporary);
        if own || other.comments.keys().any(Commented::is_temporary) {
            let comments = Arc::make_mut(&mut self.comments);
            comments.retain(|of, _| !of.is_temporary());
            let others = other.comments.iter().filter(|(of, _)| of.is_temporary());
            comments.extend(others.map(|(of, text)| (*of, text.clone())));
        }
    }

    /// Forgets the comments on temporary objects.
    pub(crate) fn forget_temporary_comments(&mut self) {
        if self.comments.keys().any(Commented::is_temporary) {
            Arc::make_mut(&mut self.comments).retain(|of, _| !of.is_temporary());
        }
    }

    /// Gives the comment on an object to the one that takes its place.
    pub(crate) fn move_comment(&mut self, from: Commented, to: Commented) {
        if self.comments.contains_key(&from) {
            let comments = Arc::make_mut(&mut self.comments);
            if let Some(text) = comments.remove(&from) {
                comments.insert(to, text);
            }
        }
    }

    /// The next version, with another comment on an object. 42P01, 42704, 3F000 and 42703 for one that there is not,
    /// 42809 for one of another kind.
    pub fn set_comment(&self, new: &NewComment) -> Result<Catalog> {
        let of = self.commented(&new.target)?;
        let mut next = self.next();
        let comments = Arc::make_mut(&mut next.comments);
        match new.text.as_deref().filter(|text| !text.is_empty()) {
            Some(text) => drop(comments.insert(of, text.into())),
            None => drop(comments.remove(&of)),
        }
        Ok(next)
    }

    fn commented(&self, target: &CommentTarget) -> Result<Commented> {
        Ok(match target {
            CommentTarget::Database => Commented::Database,
            CommentTarget::Schema(name) => match self.schema(name) {
                Some(schema) => Commented::Object(schema.id),
                None => return Err(missing_schema(name)),
            },
            CommentTarget::Relation(kind, name) => Commented::Object(self.relation_of_kind(*kind, name)?),
            CommentTarget::Column(relation, column) => self.commented_column(relation, column)?,
            CommentTarget::Type(name, only_domains) => {
                let Some(entry) = self.user_type(name) else {
                    let message = format!("type \"{}\" does not exist", name.name);
                    return Err(Error::new(SqlState::UNDEFINED_OBJECT, message));
                };
                match entry.kind {
                    TypeKind::Enum(_) if *only_domains => {
                        let message = format!("\"{}\" is not a domain", name.name);
                        return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
                    }
                    TypeKind::Enum(_) | TypeKind::Domain(_) => Commented::Object(entry.id),
                }
            }
            CommentTarget::DomainConstraint(name, domain) => {
                let Some(entry) = self.user_type(domain) else {
                    if self.has_relation(domain) {
                        let message = format!("\"{}\" is not a domain", domain.name);
                        return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
                    }
                    let message = format!("type \"{}\" does not exist", domain.name);
                    return Err(Error::new(SqlState::UNDEFINED_OBJECT, message));
                };
                let shown = identifier(&entry.name);
                let Some(of) = entry.as_domain() else {
                    let message = format!("{shown} is not a domain");
                    return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
                };
                let Some(check) = of.check(name) else {
                    let message = format!("constraint \"{name}\" for domain {shown} does not exist");
                    return Err(Error::new(SqlState::UNDEFINED_OBJECT, message));
                };
                Commented::Object(check.id)
            }
            CommentTarget::Constraint(name, table) => {
                let Some(entry) = self.find(table) else {
                    return Err(self.not_of_kind("table", table));
                };
                match entry.constraint(name) {
                    Some(constraint) => Commented::Object(constraint.id),
                    None => {
                        let message = format!(
                            "constraint \"{name}\" for table \"{}\" does not exist",
                            table.name
                        );
                        return Err(Error::new(SqlState::UNDEFINED_OBJECT, message).of_table(&table.name));
                    }
                }
            }
        })
    }

    fn relation_of_kind(&self, kind: CommentedKind, name: &QualifiedName) -> Result<ObjectId> {
        let found = match kind {
            CommentedKind::Table => self.stored(name, false),
            CommentedKind::MaterializedView => self.stored(name, true),
            CommentedKind::View => match self.relation(name) {
                Some(Relation::View(view)) => Some(view.id),
                Some(Relation::Table(_)) | None => None,
            },
            CommentedKind::Index => self.index(name).map(|index| index.id),
            CommentedKind::Sequence => self.sequence(name).map(|sequence| sequence.id),
        };
        let what = match kind {
            CommentedKind::Table => "table",
            CommentedKind::View => "view",
            CommentedKind::MaterializedView => "materialized view",
            CommentedKind::Index => "index",
            CommentedKind::Sequence => "sequence",
        };
        found.ok_or_else(|| self.not_of_kind(what, name))
    }

    /// The identity of a table, or of a materialized view.
    fn stored(&self, name: &QualifiedName, is_materialized: bool) -> Option<ObjectId> {
        let table = self
            .find(name)
            .filter(|table| table.materialized.is_some() == is_materialized);
        table.map(|table| table.id)
    }

    /// 42809 for a relation of another kind, 42P01 if there is none, 3F000 without the schema.
    fn not_of_kind(&self, what: &str, name: &QualifiedName) -> Error {
        let article = if what == "index" { "an" } else { "a" };
        match (self.has_relation(name), what) {
            (true, "table") => not_a_table(&name.name),
            (true, "sequence") => not_a_sequence(&name.name),
            (true, _) => {
                let message = format!("\"{}\" is not {article} {what}", name.name);
                Error::new(SqlState::WRONG_OBJECT_TYPE, message)
            }
            (false, _) => self.missing_relation(name),
        }
    }

    /// 42P01, or 3F000 without the schema.
    fn missing_relation(&self, name: &QualifiedName) -> Error {
        match self.schema(&name.schema) {
            None if name.schema != crate::SYSTEM_SCHEMA => missing_schema(&name.schema),
            None | Some(_) => {
                let message = format!("relation \"{}\" does not exist", name.name);
                Error::new(SqlState::UNDEFINED_TABLE, message)
            }
        }
    }

    fn commented_column(&self, relation: &QualifiedName, column: &str) -> Result<Commented> {
        let Some(found) = self.relation(relation) else {
            if self.has_relation(relation) {
                let message = format!("cannot set comment on relation \"{}\"", relation.name);
                let detail = "This operation is not supported for indexes and sequences.";
                return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message).with_detail(detail));
            }
            return Err(self.missing_relation(relation));
        };
        let columns = self.columns_of(found.id()).unwrap_or_default();
        match columns.iter().position(|c| c.name == column) {
            Some(position) => Ok(Commented::Column(found.id(), key_of(columns, position))),
            None => {
                let message = format!(
                    "column \"{column}\" of relation \"{}\" does not exist",
                    relation.name
                );
                Err(Error::new(SqlState::UNDEFINED_COLUMN, message).of_table(&relation.name))
            }
        }
    }

    /// The table, view or sequence that an object is or belongs to.
    pub fn commented_relation(&self, of: Commented) -> Option<String> {
        let id = of.id()?;
        let of_table = |id| {
            let relation = self.relation_of(id)?;
            Some(self.sql_name(relation.namespace(), relation.name()))
        };
        match self.objects.get(id) {
            Some(Object::Relation(_)) => of_table(id),
            Some(Object::Index(index)) => of_table(index.table),
            Some(Object::Sequence(sequence)) => Some(self.sql_name(sequence.namespace, &sequence.name)),
            Some(Object::Schema(_) | Object::Type(_)) => None,
            None => {
                let has = |table: &&Arc<crate::TableEntry>| table.constraints.iter().any(|c| c.id == id);
                of_table(self.tables().find(has)?.id)
            }
        }
    }

    fn sql_name(&self, namespace: ObjectId, name: &str) -> String {
        shown(&self.qualified(namespace, name))
    }

    /// Names the object of a comment as the statement does. Returns `None` if the object does not exist.
    pub fn comment_words(&self, of: Commented) -> Option<String> {
        Some(match of {
            Commented::Database => format!("database {}", identifier(&session_settings::database())),
            Commented::Column(id, number) => {
                let relation = self.relation_of(id)?;
                let columns = self.columns_of(id)?;
                let position = (0..columns.len()).find(|&at| key_of(columns, at) == number)?;
                let name = self.sql_name(relation.namespace(), relation.name());
                format!("column {name}.{}", identifier(&columns[position].name))
            }
            Commented::Object(id) => match self.objects.get(id) {
                Some(Object::Schema(schema)) => format!("schema {}", identifier(&schema.name)),
                Some(Object::Relation(relation)) => {
                    let name = self.sql_name(relation.namespace(), relation.name());
                    format!("{} {name}", relation.kind().name())
                }
                Some(Object::Index(index)) => {
                    let table = self.table_by_id(index.table)?;
                    format!("index {}", self.sql_name(table.namespace, &index.name))
                }
                Some(Object::Sequence(sequence)) => {
                    format!("sequence {}", self.sql_name(sequence.namespace, &sequence.name))
                }
                Some(Object::Type(entry)) => {
                    let name = self.sql_name(entry.namespace, &entry.name);
                    match entry.kind {
                        TypeKind::Enum(_) => format!("type {name}"),
                        TypeKind::Domain(_) => format!("domain {name}"),
                    }
                }
                None => {
                    if let Some((entry, check)) = self.check_of_domain(id) {
                        let name = self.sql_name(entry.namespace, &entry.name);
                        let check = identifier(&check.name);
                        return Some(format!("constraint {check} on domain {name}"));
                    }
                    let mut all = self
                        .tables()
                        .flat_map(|table| table.constraints.iter().map(move |c| (table, c)));
                    let (table, constraint) = all.find(|(_, constraint)| constraint.id == id)?;
                    let name = self.sql_name(table.namespace, &table.name);
                    format!("constraint {} on {name}", identifier(&constraint.name))
                }
            },
        })
    }
}
