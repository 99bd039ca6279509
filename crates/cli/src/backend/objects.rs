//! Objects of a database as the shell shows them.

use frazil::identifier;

/// The kind of a table or view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// A table.
    Table,
    /// A view.
    View,
    /// A materialized view.
    Materialized,
}

impl RelationKind {
    /// Its name in lists.
    pub fn name(self) -> &'static str {
        match self {
            RelationKind::Table => "table",
            RelationKind::View => "view",
            RelationKind::Materialized => "materialized view",
        }
    }

    /// Its name at the beginning of a title.
    pub fn title(self) -> &'static str {
        match self {
            RelationKind::Table => "Table",
            RelationKind::View => "View",
            RelationKind::Materialized => "Materialized view",
        }
    }
}

/// A table or view in a list.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The name of its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: RelationKind,
    /// Rows of a table.
    pub rows: Option<u64>,
    /// Names of its columns.
    pub columns: Vec<String>,
}

impl Relation {
    /// Its name as SQL text: quoted where necessary, and with its schema unless that is `public`.
    pub fn sql_name(&self) -> String {
        match self.schema.as_str() {
            "public" => identifier(&self.name),
            schema => format!("{}.{}", identifier(schema), identifier(&self.name)),
        }
    }
}

/// A table or view with all that belongs to it.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The name of its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: RelationKind,
    /// Rows of a table.
    pub rows: Option<u64>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Indexes of a table.
    pub indexes: Vec<Index>,
    /// Checks of a table by name.
    pub checks: Vec<Constraint>,
    /// Foreign keys of a table by name.
    pub foreign_keys: Vec<Constraint>,
    /// The query of a view.
    pub query: Option<String>,
}

/// A column of a table or view.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: String,
    /// False for NOT NULL.
    pub nullable: bool,
    /// The expression that gives its values if none is given, or the clause of an identity or generated column.
    pub default: Option<String>,
    /// `default` as a clause of CREATE TABLE: `default 1`, `generated always as identity`.
    pub clause: Option<String>,
}

/// An index of a table.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// The rule that the index enforces, with a comma and a blank behind it: `PRIMARY KEY, `. Empty if it enforces
    /// nothing.
    pub kind: &'static str,
    /// Its columns and what follows them, as SQL: `(a, b DESC) INCLUDE (c)`.
    pub columns: String,
    /// ` DEFERRABLE` and ` DEFERRABLE INITIALLY DEFERRED`; empty for an index that refuses rows at once.
    pub deferral: String,
}

/// A check or foreign key of a table.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Its name.
    pub name: String,
    /// Its condition as SQL.
    pub definition: String,
}

/// An index in a list of all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedIndex {
    /// The name of its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// The name of its table.
    pub table: String,
    /// Its columns and what follows them, as SQL.
    pub columns: String,
}

/// A sequence.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// The name of its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// The column that owns it: `table.column`.
    pub owner: Option<String>,
}

/// A type that a statement defined.
#[derive(Clone, Debug)]
pub struct DefinedType {
    /// The name of its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// The labels of an enumeration, with commas between them; the base type of a domain.
    pub of: String,
}

/// A form of a call of a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The name with arguments.
    pub call: String,
    /// Its kind: `function`, `aggregate`, `window`, `rows`.
    pub kind: &'static str,
    /// The result of the call, described in a line.
    pub description: String,
}
