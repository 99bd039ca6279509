//! A model of tables with keys: rows in a map, and PostgreSQL's rules for what a statement does to them, written without
//! a line of the engine. Tests run [`Statement`]s on a database and on a [`Model`], and compare.
//!
//! A model tells what a statement must do ([`Model::predict`]); the caller then tells what it did ([`Model::went`]). Where
//! PostgreSQL's answer depends on the order in which a statement meets rows, both outcomes are right.

mod changes;
mod conflicts;
mod generate;
mod predict;
mod statement;

pub use generate::{Case, generate};
pub use predict::{Done, Model, Prediction};
pub use statement::{Change, Condition, Conflict, Expression, Mapping, OnConflict, Source, Statement};

use std::collections::BTreeMap;
use std::fmt;

/// A value of a column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// NULL; equal to itself here.
    Null,
    /// An integer, or the hundredths of a decimal.
    Int(i64),
    /// A text.
    Text(String),
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `integer`.
    Integer,
    /// `varchar(n)` with n = [`TEXT_LENGTH`].
    Text,
    /// `decimal(12,2)`; its cells are hundredths.
    Decimal,
}

/// Characters that a text column holds at most.
pub const TEXT_LENGTH: usize = 6;

/// A column; column `i` is named `c` and `i`.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its type.
    pub kind: Kind,
    /// Whether it is NOT NULL.
    pub not_null: bool,
    /// What DEFAULT stands for.
    pub default: Cell,
}

/// A unique key, or an index without that property.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name, and that of its constraint.
    pub name: String,
    /// Positions of its columns.
    pub columns: Vec<usize>,
    /// Whether two rows may not have the same values.
    pub unique: bool,
    /// Whether a NULL equals another one.
    pub nulls_equal: bool,
    /// Whether a constraint made it, and not CREATE INDEX.
    pub constraint: bool,
}

/// What a table is: columns and a CHECK constraint; keys are part of [`State`].
#[derive(Clone, Debug)]
pub struct Shape {
    /// The columns.
    pub columns: Vec<Column>,
    /// `check (c > bound)` of an integer column, by position.
    pub check: Option<(usize, i64)>,
}

/// A row: one cell a column.
pub type Row = Vec<Cell>;

/// What a transaction sees: keys and rows by an identity that no other row ever has.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Keys and indexes, in the order of their creation.
    pub keys: Vec<Key>,
    /// Rows.
    pub rows: BTreeMap<u64, Row>,
    /// The identity of the next row.
    pub next: u64,
}

impl Cell {
    /// The value as a literal of SQL.
    pub fn literal(&self, kind: Kind) -> String {
        match self {
            Cell::Null => "null".to_string(),
            Cell::Text(text) => format!("'{}'", text.replace('\'', "''")),
            cell => cell.shown(kind),
        }
    }

    /// The value as results show it.
    pub fn shown(&self, kind: Kind) -> String {
        match (self, kind) {
            (Cell::Null, _) => "NULL".to_string(),
            (Cell::Text(text), _) => text.clone(),
            (Cell::Int(n), Kind::Decimal) => {
                let sign = if *n < 0 { "-" } else { "" };
                format!("{sign}{}.{:02}", n.abs() / 100, n.abs() % 100)
            }
            (Cell::Int(n), _) => n.to_string(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Integer => f.write_str("integer"),
            Kind::Text => write!(f, "varchar({TEXT_LENGTH})"),
            Kind::Decimal => f.write_str("decimal(12,2)"),
        }
    }
}

impl Key {
    /// The values of a row under this key; `None` if no other row can have them: one is NULL, and NULLs are distinct.
    pub fn of(&self, row: &Row) -> Option<Vec<Cell>> {
        let values: Vec<Cell> = self.columns.iter().map(|c| row[*c].clone()).collect();
        (self.nulls_equal || !values.contains(&Cell::Null)).then_some(values)
    }

    /// Its columns as SQL lists them.
    pub fn list(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|c| format!("c{c}")).collect();
        names.join(", ")
    }

    fn nulls(&self) -> &'static str {
        match self.nulls_equal {
            true => " nulls not distinct",
            false => "",
        }
    }

    /// The statement that makes an index of it.
    pub fn create_index(&self) -> String {
        let unique = if self.unique { "unique " } else { "" };
        let (name, list, nulls) = (&self.name, self.list(), self.nulls());
        format!("create {unique}index {name} on t ({list}){nulls}")
    }
}

impl Shape {
    /// The statement that makes the table `t` with those of `keys` that constraints make. The first of them is the
    /// primary key if all its columns are NOT NULL.
    pub fn create_table(&self, keys: &[Key]) -> String {
        let columns = self.columns.iter().enumerate().map(|(i, c)| {
            let null = if c.not_null { " not null" } else { "" };
            let default = match &c.default {
                Cell::Null => String::new(),
                value => format!(" default {}", value.literal(c.kind)),
            };
            format!("c{i} {}{default}{null}", c.kind)
        });
        let keys = keys.iter().filter(|k| k.constraint).enumerate().map(|(i, k)| {
            let primary = i == 0 && k.columns.iter().all(|c| self.columns[*c].not_null);
            let (name, list) = (&k.name, k.list());
            match primary {
                true => format!("constraint {name} primary key ({list})"),
                false => format!("constraint {name} unique{} ({list})", k.nulls()),
            }
        });
        let check = self.check.iter();
        let check = check.map(|(c, bound)| format!("constraint t_check check (c{c} > {bound})"));
        let parts: Vec<String> = columns.chain(keys).chain(check).collect();
        format!("create table t ({})", parts.join(", "))
    }

    /// Rows as results show them, sorted.
    pub fn shown<'a>(&self, rows: impl Iterator<Item = &'a Row>) -> Vec<Vec<String>> {
        let row = |row: &Row| {
            let cells = row.iter().zip(&self.columns);
            cells.map(|(cell, c)| cell.shown(c.kind)).collect()
        };
        let mut shown: Vec<Vec<String>> = rows.map(row).collect();
        shown.sort();
        shown
    }
}

impl State {
    /// Adds a row and gives it an identity.
    pub fn add(&mut self, row: Row) -> u64 {
        self.next += 1;
        self.rows.insert(self.next, row);
        self.next
    }

    /// A row other than `besides` that has the same values as `row` under `key`, which is unique.
    pub fn rival(&self, key: &Key, row: &Row, besides: Option<u64>) -> Option<u64> {
        let values = key.of(row)?;
        let same = |(id, other): (&u64, &Row)| {
            (Some(*id) != besides && key.of(other).as_ref() == Some(&values)).then_some(*id)
        };
        self.rows.iter().find_map(same)
    }

    /// Whether a row other than `besides` has the values of `row` under any unique key.
    pub fn meets(&self, row: &Row, besides: Option<u64>) -> bool {
        let mut unique = self.keys.iter().filter(|k| k.unique);
        unique.any(|key| self.rival(key, row, besides).is_some())
    }
}
