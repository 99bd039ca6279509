//! CHECK constraints, indexes on expressions, partial indexes and materialized views of the model.

use super::statement::{Alter, Statement};
use super::{Cell, Code, Table, World};

/// CHECK that a column is at least a number. NULL passes.
#[derive(Clone, Debug)]
pub struct Check {
    /// Identifies the constraint.
    pub number: u64,
    /// Id of the column.
    pub column: usize,
    /// The least value.
    pub least: i64,
    /// Existing rows were checked.
    pub valid: bool,
}

/// The key of an index.
#[derive(Clone, Debug)]
pub enum IndexKey {
    /// The column of an id.
    Column(usize),
    /// The sum of the columns of two ids.
    Sum(usize, usize),
}

/// An index on an expression, or a partial index.
#[derive(Clone, Debug)]
pub struct Index {
    /// Identifies the index.
    pub number: u64,
    /// Its key.
    pub key: IndexKey,
    /// WHERE the column of an id is at least a number.
    pub condition: Option<(usize, i64)>,
    /// UNIQUE.
    pub unique: bool,
}

/// A materialized view of columns of a table.
#[derive(Clone, Debug)]
pub struct View {
    /// Identifies the view.
    pub number: u64,
    /// The schema of the view.
    pub schema: &'static str,
    /// Position of the table.
    pub table: usize,
    /// Ids of the columns.
    pub columns: Vec<usize>,
    /// The names that the columns had when the view was made.
    pub names: Vec<String>,
    /// WHERE the column of an id is at least a number.
    pub condition: Option<(usize, i64)>,
    /// Its rows; `None` without data.
    pub rows: Option<Vec<Vec<Cell>>>,
}

impl View {
    /// Schema and name.
    pub fn qualified(&self) -> String {
        format!("{}.m{}", self.schema, self.number)
    }

    fn reads(&self, column: usize) -> bool {
        self.columns.contains(&column) || self.condition.is_some_and(|(read, _)| read == column)
    }
}

impl IndexKey {
    /// Ids of the columns.
    pub fn columns(&self) -> Vec<usize> {
        match self {
            IndexKey::Column(id) => vec![*id],
            IndexKey::Sum(a, b) => vec![*a, *b],
        }
    }

    /// The expression's text, or `None` if a column is not there.
    pub fn sql(&self, table: &Table) -> Option<String> {
        let names = self.columns().into_iter().map(|id| table.listed(&[id]));
        let names: Vec<String> = names.collect::<Option<_>>()?;
        Some(names.join(" + "))
    }

    /// The value for a row.
    pub fn value(&self, table: &Table, cells: &[Cell]) -> Cell {
        let values = table.values(&self.columns(), cells);
        values.into_iter().try_fold(0, |sum, cell| Some(sum + cell?))
    }
}

impl Index {
    /// True if the index has an entry of a row.
    pub fn has(&self, table: &Table, cells: &[Cell]) -> bool {
        self.condition
            .is_none_or(|condition| is_at_least(table, condition, cells))
    }

    /// True if the key or the condition reads a column.
    pub fn reads(&self, column: usize) -> bool {
        self.key.columns().contains(&column) || self.condition.is_some_and(|(read, _)| read == column)
    }

    /// True if another type of a column changes an expression of the index.
    fn computes_from(&self, column: usize) -> bool {
        let in_key = matches!(self.key, IndexKey::Sum(..)) && self.key.columns().contains(&column);
        in_key || self.condition.is_some_and(|(read, _)| read == column)
    }
}

/// A column of a row is at least a number.
fn is_at_least(table: &Table, (column, least): (usize, i64), cells: &[Cell]) -> bool {
    table.values(&[column], cells)[0].is_some_and(|n| n >= least)
}

/// WHERE of a condition, or `None` if its column is not there.
pub fn where_sql(table: &Table, condition: Option<(usize, i64)>) -> Option<String> {
    match condition {
        None => Some(String::new()),
        Some((id, least)) => Some(format!(" where {} >= {least}", table.listed(&[id])?)),
    }
}

impl Table {
    /// 23514 if a row violates a CHECK constraint.
    pub fn check(&self, cells: &[Cell]) -> Result<(), Code> {
        match self.checks.iter().any(|check| violates(self, check, cells)) {
            true => Err("23514"),
            false => Ok(()),
        }
    }

    /// Another row than `version` has the same key in a unique index.
    pub fn meets_in_index(&self, cells: &[Cell], version: u64) -> bool {
        let mut unique = self.indexes.iter().filter(|index| index.unique);
        unique.any(|index| self.meets_in(index, cells, version))
    }

    fn meets_in(&self, index: &Index, cells: &[Cell], version: u64) -> bool {
        let value = index.key.value(self, cells);
        let mut others = self.rows.iter().filter(|row| row.version != version);
        value.is_some()
            && index.has(self, cells)
            && others.any(|row| index.has(self, &row.cells) && index.key.value(self, &row.cells) == value)
    }

    fn is_violated(&self, index: &Index) -> bool {
        let mut rows = self.rows.iter();
        index.unique && rows.any(|row| self.meets_in(index, &row.cells, row.version))
    }
}

impl Statement {
    /// The name of a definition among what was [`Seen`](super::Seen).
    pub fn kind(&self) -> Option<&'static str> {
        Some(match self {
            Statement::CreateComputed(..) => "index that computes something",
            Statement::CreateView(..) => "CREATE MATERIALIZED VIEW",
            Statement::Refresh(..) => "REFRESH MATERIALIZED VIEW",
            Statement::Alter(_, Alter::AddCheck(check)) if !check.valid => "CHECK NOT VALID",
            Statement::Alter(_, Alter::Defer(..)) => "ALTER CONSTRAINT",
            _ => return None,
        })
    }
}

impl World {
    /// Makes, fills and drops indexes and materialized views; `None` for other statements.
    pub fn define_object(
        &mut self,
        statement: &Statement,
        in_use: &dyn Fn(usize) -> bool,
    ) -> Option<Result<(), Code>> {
        match statement {
            Statement::CreateComputed(at, index) => {
                if in_use(*at) {
                    return Some(Err("55006"));
                }
                let table = &mut self.tables[*at];
                if table.is_violated(index) {
                    return Some(Err("23505"));
                }
                table.indexes.push(index.clone());
            }
            Statement::DropIndex(at, number) => {
                let index = self.tables[*at]
                    .indexes
                    .iter()
                    .position(|i| i.number == *number)?;
                if in_use(*at) {
                    return Some(Err("55006"));
                }
                self.tables[*at].indexes.remove(index);
            }
            Statement::CreateView(view, has_data) => {
                let table = &self.tables[view.table];
                let name = |id: &usize| Some(table.columns[table.at(*id)?].name.clone());
                let mut view = View {
                    names: view.columns.iter().map(name).collect::<Option<_>>()?,
                    ..view.clone()
                };
                view.rows = has_data.then(|| self.rows_of(&view));
                self.views.push(view);
            }
            Statement::Refresh(number, has_data) => {
                let at = self.views.iter().position(|view| view.number == *number)?;
                let rows = has_data.then(|| self.rows_of(&self.views[at]));
                self.views[at].rows = rows;
            }
            Statement::DropView(number) => self.views.retain(|view| view.number != *number),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// The materialized view of a number.
    pub fn view(&self, number: u64) -> Option<&View> {
        self.views.iter().find(|view| view.number == number)
    }

    fn rows_of(&self, view: &View) -> Vec<Vec<Cell>> {
        let table = &self.tables[view.table];
        let is_met = |cells: &&Vec<Cell>| view.condition.is_none_or(|c| is_at_least(table, c, cells));
        let rows = table.rows.iter().map(|row| &row.cells).filter(is_met);
        rows.map(|cells| table.values(&view.columns, cells)).collect()
    }

    /// Changes CHECK constraints and what a foreign key waits for; `None` for other actions.
    pub fn alter_constraint(&mut self, at: usize, alter: &Alter) -> Option<Result<(), Code>> {
        let table = &mut self.tables[at];
        match alter {
            Alter::AddCheck(check) => {
                table.checks.push(check.clone());
                if check.valid && table.rows.iter().any(|row| violates(table, check, &row.cells)) {
                    return Some(Err("23514"));
                }
            }
            Alter::DropConstraint(number) => {
                let check = table.checks.iter().position(|check| check.number == *number)?;
                table.checks.remove(check);
            }
            Alter::Validate(number) => {
                let check = table.checks.iter().position(|check| check.number == *number)?;
                if table
                    .rows
                    .iter()
                    .any(|row| violates(table, &table.checks[check], &row.cells))
                {
                    return Some(Err("23514"));
                }
                table.checks[check].valid = true;
            }
            Alter::Defer(number, deferrable) => {
                let key = self.foreign_keys.iter_mut().find(|key| key.number == *number);
                match key {
                    Some(key) => key.deferrable = *deferrable,
                    None => return Some(Err("42809")),
                }
            }
            _ => return None,
        }
        Some(Ok(()))
    }

    /// True if a materialized view reads one of some columns.
    pub fn is_viewed(&self, at: usize, columns: impl Fn(usize) -> bool) -> bool {
        let ids = self.tables[at].columns.iter().map(|column| column.id);
        let mut read = ids.filter(|id| columns(*id));
        read.any(|id| self.views.iter().any(|view| view.table == at && view.reads(id)))
    }

    /// Takes away what goes with a column of a table.
    pub fn drop_readers(&mut self, at: usize, column: usize) {
        self.views.retain(|view| view.table != at || !view.reads(column));
        let table = &mut self.tables[at];
        table.checks.retain(|check| check.column != column);
        table.indexes.retain(|index| !index.reads(column));
    }

    /// Another type for a column whose values are there already. `None` if an index computes something from it.
    pub fn retype_objects(&self, at: usize, column: usize) -> Option<Result<(), Code>> {
        let table = &self.tables[at];
        if table.indexes.iter().any(|index| index.computes_from(column)) {
            return None;
        }
        let checks = table
            .checks
            .iter()
            .filter(|check| check.valid && check.column == column);
        let is_checked = checks.clone().count() > 0;
        let mut rows = table.rows.iter();
        let fails =
            is_checked && rows.any(|row| checks.clone().any(|check| violates(table, check, &row.cells)));
        let twice = table
            .indexes
            .iter()
            .any(|index| index.reads(column) && table.is_violated(index));
        match (fails, twice) {
            (false, false) => Some(Ok(())),
            (true, false) => Some(Err("23514")),
            (false, true) => Some(Err("23505")),
            // One or the other.
            (true, true) => None,
        }
    }

    /// A line for each CHECK constraint, sorted: name, validated.
    pub fn check_lines(&self) -> Vec<String> {
        let checks = self.tables.iter().flat_map(|table| &table.checks);
        let line = |check: &Check| format!("{} {}", World::constraint_name(check.number), check.valid);
        let mut lines: Vec<String> = checks.map(line).collect();
        lines.sort();
        lines
    }
}

fn violates(table: &Table, check: &Check, cells: &[Cell]) -> bool {
    table.values(&[check.column], cells)[0].is_some_and(|n| n < check.least)
}
