//! A model of tables with foreign keys: rows in lists, and PostgreSQL's queue of checks and actions, written without a
//! line of the engine. Tests run [`Statement`]s on a database and on a [`Model`], and compare rows, constraints and
//! SQLSTATEs.
//!
//! A statement writes its rows one after the other. Each write appends events to a queue: the actions of foreign keys
//! that refer to the row, then the checks of the row's own foreign keys, then rechecks of deferrable unique keys, each
//! group in the order in which the constraints were made. The queue is worked off from its front; an action's own
//! writes append to its end. Checks of deferred constraints wait in a second queue until COMMIT or SET CONSTRAINTS.
//!
//! The order in which a statement meets rows is open. [`Model::predict`] tries several orders, and gives no prediction
//! if they end differently: such a statement is left out.

mod alter;
mod events;
mod generate;
mod objects;
mod predict;
mod statement;

pub use generate::{Case, generate};
pub use objects::{Check, Index, IndexKey, View};
pub use predict::{Model, Prediction};
pub use statement::{Alter, Change, Condition, Conflict, Expression, Statement};

use std::collections::BTreeMap;

/// SQLSTATE of an error.
pub type Code = &'static str;

/// A value of a column; `None` is NULL.
pub type Cell = Option<i64>;

/// A column of integers.
#[derive(Clone, Debug)]
pub struct Column {
    /// Identifies the column in its model; never given to another one.
    pub id: usize,
    /// The column's name now.
    pub name: String,
    /// `bigint`, not `integer`.
    pub wide: bool,
    /// NOT NULL.
    pub not_null: bool,
    /// The value of DEFAULT.
    pub default: Cell,
    /// GENERATED ALWAYS AS twice the column of this id.
    pub doubles: Option<usize>,
}

/// The time of a constraint's check: `None` if it is not deferrable, else true for INITIALLY DEFERRED.
pub type Deferrable = Option<bool>;

/// A primary key (the first of its table) or a unique key.
#[derive(Clone, Debug)]
pub struct UniqueKey {
    /// Identifies the constraint; constraints made later have greater numbers.
    pub number: u64,
    /// Ids of the columns.
    pub columns: Vec<usize>,
    /// The time of its check.
    pub deferrable: Deferrable,
}

/// A version of a row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Identifies the version; every change of a row makes a version of a new number.
    pub version: u64,
    /// The open transaction wrote it.
    pub own: bool,
    /// One cell a column.
    pub cells: Vec<Cell>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its schema.
    pub schema: &'static str,
    /// Its name now.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its keys.
    pub keys: Vec<UniqueKey>,
    /// Its CHECK constraints.
    pub checks: Vec<Check>,
    /// Its indexes on expressions and its partial indexes.
    pub indexes: Vec<Index>,
    /// Its rows in the order in which they were written.
    pub rows: Vec<Row>,
}

/// Tells what becomes of the children of a row that is deleted, or whose key changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Error unless no child is left when the check comes.
    NoAction,
    /// Error if there is a child.
    Restrict,
    /// The children are deleted, or get the new key.
    Cascade,
    /// The columns of these ids become NULL; an empty list is the whole key.
    SetNull(Vec<usize>),
    /// The columns of these ids get their defaults; an empty list is the whole key.
    SetDefault(Vec<usize>),
}

/// A foreign key.
#[derive(Clone, Debug)]
pub struct ForeignKey {
    /// Identifies the constraint; constraints made later have greater numbers.
    pub number: u64,
    /// Position of the table that refers.
    pub child: usize,
    /// Ids of its columns.
    pub columns: Vec<usize>,
    /// Position of the table that is referred to.
    pub parent: usize,
    /// Ids of its columns, as many.
    pub key: Vec<usize>,
    /// MATCH FULL.
    pub full: bool,
    /// ON DELETE.
    pub on_delete: Action,
    /// ON UPDATE.
    pub on_update: Action,
    /// The time of its check.
    pub deferrable: Deferrable,
    /// Existing rows were checked.
    pub valid: bool,
}

/// Everything that a transaction can change.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The tables.
    pub tables: Vec<Table>,
    /// Foreign keys in the order of their numbers.
    pub foreign_keys: Vec<ForeignKey>,
    /// Materialized views.
    pub views: Vec<View>,
    /// Number of the next version, column or constraint.
    pub next: u64,
}

/// Counts of what happened, by name; a test prints them.
pub type Seen = BTreeMap<&'static str, u64>;

impl World {
    /// A number that nothing has yet.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The name of a constraint.
    pub fn constraint_name(number: u64) -> String {
        format!("k{number}")
    }

    /// Rows of each table and of each materialized view that has data, by its qualified name, as text in order: the
    /// names of its columns, then sorted rows.
    pub fn shown(&self) -> BTreeMap<String, (Vec<String>, Vec<Vec<String>>)> {
        let table = |t: &Table| {
            let mut rows: Vec<Vec<String>> = t.rows.iter().map(|row| shown(&row.cells)).collect();
            rows.sort();
            let names = t.columns.iter().map(|c| c.name.clone()).collect();
            (t.qualified(), (names, rows))
        };
        let view = |v: &View| {
            let mut rows: Vec<Vec<String>> = v.rows.as_ref()?.iter().map(|row| shown(row)).collect();
            rows.sort();
            Some((v.qualified(), (v.names.clone(), rows)))
        };
        let tables = self.tables.iter().map(table);
        tables.chain(self.views.iter().filter_map(view)).collect()
    }

    /// A line for each foreign key, sorted: name, MATCH, ON UPDATE, ON DELETE, deferrable, initially deferred,
    /// validated, in the letters of `pg_constraint`.
    pub fn foreign_key_lines(&self) -> Vec<String> {
        let letter = |action: &Action| match action {
            Action::NoAction => 'a',
            Action::Restrict => 'r',
            Action::Cascade => 'c',
            Action::SetNull(_) => 'n',
            Action::SetDefault(_) => 'd',
        };
        let line = |k: &ForeignKey| {
            let (name, full) = (World::constraint_name(k.number), if k.full { 'f' } else { 's' });
            let (update, delete) = (letter(&k.on_update), letter(&k.on_delete));
            let (deferrable, deferred) = (k.deferrable.is_some(), k.deferrable == Some(true));
            format!(
                "{name} {full} {update} {delete} {deferrable} {deferred} {}",
                k.valid
            )
        };
        let mut lines: Vec<String> = self.foreign_keys.iter().map(line).collect();
        lines.sort();
        lines
    }
}

fn shown(cells: &[Cell]) -> Vec<String> {
    let text = |cell: &Cell| cell.map_or("NULL".to_string(), |n| n.to_string());
    cells.iter().map(text).collect()
}

impl Table {
    /// Schema and name.
    pub fn qualified(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }

    /// Position of a column by its id.
    pub fn at(&self, id: usize) -> Option<usize> {
        self.columns.iter().position(|c| c.id == id)
    }

    /// Values of columns, all of which the table has.
    fn values(&self, columns: &[usize], cells: &[Cell]) -> Vec<Cell> {
        let value = |id: &usize| cells[self.at(*id).expect("a column of the table")];
        columns.iter().map(value).collect()
    }

    /// Names of columns, all of which the table has, with commas between.
    pub fn names(&self, columns: &[usize]) -> String {
        let name = |id: &usize| {
            self.columns[self.at(*id).expect("a column of the table")]
                .name
                .as_str()
        };
        columns.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}
