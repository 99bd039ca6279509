//! What the operator at the root of INSERT, UPDATE and DELETE does ([`Write`]).
//!
//! What a write needs is a column of its input: new values, row ids, results of CHECK constraints, and what
//! RETURNING shows. All rows of the input are kept until the last one is computed, so that a statement reads nothing of
//! what it writes; then they are written in their order, and RETURNING shows the kept columns of those that were.
//!
//! INSERT with ON CONFLICT learns only as it writes what becomes of a row. The writer looks up which rows of the table are in the
//! way; a query of its own over those and the rows that they stop (`Write::update`) computes what DO UPDATE makes of
//! them, and another one over the rows that were written (`Write::returning`) what RETURNING shows.

use super::Aggregate;
use super::node::{Needed, Node, Role};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::write_text;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::pipeline_builder::{Builder, NeededColumns, Opened};
use crate::verify::{self, Check, Visible, defect};
use crate::{CONDITION, ColumnId, Expr, Operator, Plan};
use frazil_types::{ObjectId, Result};
use std::collections::BTreeSet;

/// Writes the rows of its input into a table, or changes or deletes the table's rows that they name.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// Input.
    pub input: Box<Operator>,
    /// What it does with a row.
    pub change: Change,
    /// Of ON CONFLICT DO UPDATE what becomes of rows that are in the way: see [`ConflictUpdate`].
    pub update: Option<Box<Plan>>,
    /// RETURNING of an INSERT with ON CONFLICT: a query over the rows that were written, whose columns
    /// ([`Operator::Given`]) are the table's.
    pub returning: Option<Box<Plan>>,
}

impl Write {
    /// Writes rows, computes nothing else.
    pub fn new(input: Operator, change: Change) -> Write {
        Write {
            input: Box::new(input),
            change,
            update: None,
            returning: None,
        }
    }

    /// The queries that are run between and after its writing.
    pub fn queries(&self) -> impl Iterator<Item = &Plan> {
        self.update.iter().chain(&self.returning).map(|plan| &**plan)
    }

    /// The same, to be changed.
    pub fn queries_mut(&mut self) -> impl Iterator<Item = &mut Plan> {
        (self.update.iter_mut().chain(&mut self.returning)).map(|plan| &mut **plan)
    }
}

impl Node for Write {
    fn inputs(&self) -> Vec<&Operator> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut Operator> {
        vec![&mut self.input]
    }

    fn passes(&self) -> Vec<&Operator> {
        vec![]
    }

    fn expressions(&self) -> Vec<&Expr> {
        vec![]
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        vec![]
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.change.ids(visit);
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.change.ids_mut(visit);
    }

    fn at_most_one_row(&self) -> bool {
        false
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty.first() == Some(&true)
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        let visible = check.tree(&self.input)?;
        for id in self.change.kept() {
            check.reads_column(id, &visible, "a write")?;
        }
        for (_, id) in &self.change.checks {
            check.is_of_type(*id, CONDITION, "a condition of a write")?;
        }
        self.queries().try_for_each(verify::plan)?;
        match (self.change.conflict_update(), &self.update) {
            (None, None) => {}
            (Some(update), Some(query)) if query.output.len() == update.width() => {}
            _ => return Err(defect("a write whose query does not compute what it sets")),
        }
        Ok(self.change.returning.iter().copied().collect())
    }

    fn null_supplied(&self) -> Vec<&Operator> {
        vec![]
    }

    fn find_nullable(&mut self, _pass: &mut Nullability<'_>) {}

    fn most_rows(&self, _of: &dyn MostRows) -> Option<u64> {
        Some(0)
    }

    fn about_rows(&self, _inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        0.0
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues) {
        for e in self.expressions() {
            pass.expression(e);
        }
    }

    fn aggregation(&self) -> Option<&Aggregate> {
        None
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        let mut text = write_text(&self.change, names);
        text[..1].make_ascii_uppercase();
        text
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, _op: &Operator, _builder: &mut Builder<'_>, _needed: &NeededColumns) -> Opened {
        unreachable!("a write below the root")
    }
}

/// What a write does with the rows it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The table.
    pub table: ObjectId,
    /// Its name, for EXPLAIN and errors.
    pub name: String,
    /// How a row changes the table.
    pub kind: WriteKind,
    /// CHECK constraints of a row to be written, by name: boolean columns. False refuses the row, NULL does not.
    pub checks: Vec<(String, ColumnId)>,
    /// Columns that RETURNING shows of each row that was written.
    pub returning: Vec<ColumnId>,
}

/// How a row of the input changes the table.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteKind {
    /// It is inserted.
    Insert {
        /// One input column for each of the table's, in order.
        columns: Vec<ColumnId>,
        /// What happens where a unique index has its key.
        conflict: PlanConflict,
    },
    /// It gives a row of the table new values. Of several rows for one row of the table one counts.
    Update {
        /// The row of the table: a column of row ids.
        row_id: ColumnId,
        /// Positions of columns in the table, and their new values.
        set: Vec<(usize, ColumnId)>,
    },
    /// It deletes a row of the table. Several rows for one row of the table count once.
    Delete {
        /// The row of the table: a column of row ids.
        row_id: ColumnId,
    },
}

/// What INSERT does with a row whose key a unique index has already.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanConflict {
    /// The statement fails: 23505.
    Fail,
    /// ON CONFLICT DO NOTHING: the row is left out.
    Skip {
        /// The indexes whose keys count; with an empty list all unique ones do. In others a conflict is 23505.
        arbiters: Vec<ObjectId>,
    },
    /// ON CONFLICT DO UPDATE: the row with the key is changed.
    Update(ConflictUpdate),
}

/// ON CONFLICT DO UPDATE. A query computes what becomes of rows in the way. It is given the table's columns of each row in
/// the way, then those of the row that it stops, then a bigint, the number of the pair (`Given`'s positions go on from
/// part to part), and returns for each pair that number, WHERE, the values of SET, and the CHECK constraints of the
/// changed row.
#[derive(Clone, Debug, PartialEq)]
pub struct ConflictUpdate {
    /// The indexes whose keys count.
    pub arbiters: Vec<ObjectId>,
    /// Whether the query returns WHERE, a boolean: a row in the way is changed where it is true. Without it each row is.
    pub has_condition: bool,
    /// Positions of the columns that are set in the table.
    pub set: Vec<usize>,
    /// Names of the CHECK constraints that the changed row may violate.
    pub checks: Vec<String>,
}

impl ConflictUpdate {
    /// Number of columns that its query returns.
    pub fn width(&self) -> usize {
        1 + usize::from(self.has_condition) + self.set.len() + self.checks.len()
    }
}

impl Change {
    /// The tag of the command.
    pub fn tag(&self) -> &'static str {
        match self.kind {
            WriteKind::Insert { .. } => "INSERT",
            WriteKind::Update { .. } => "UPDATE",
            WriteKind::Delete { .. } => "DELETE",
        }
    }

    /// ON CONFLICT DO UPDATE, if it has one.
    pub fn conflict_update(&self) -> Option<&ConflictUpdate> {
        match &self.kind {
            WriteKind::Insert {
                conflict: PlanConflict::Update(update),
                ..
            } => Some(update),
            _ => None,
        }
    }

    /// The new values of a row: of INSERT for all columns of the table, of UPDATE for those that are set, of DELETE
    /// none.
    pub fn values(&self) -> Vec<ColumnId> {
        match &self.kind {
            WriteKind::Insert { columns, .. } => columns.clone(),
            WriteKind::Update { set, .. } => set.iter().map(|s| s.1).collect(),
            WriteKind::Delete { .. } => Vec::new(),
        }
    }

    /// The columns that are kept of the input, in order: first [`Change::values`], where one may come twice, then each
    /// other column once.
    pub fn kept(&self) -> Vec<ColumnId> {
        let mut kept = self.values();
        let mut known: BTreeSet<ColumnId> = kept.iter().copied().collect();
        self.ids(&mut |_, id| {
            if known.insert(id) {
                kept.push(id);
            }
        });
        kept
    }

    /// Gives `visit` every column that it reads, those that RETURNING shows as passed.
    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        match &self.kind {
            WriteKind::Insert { columns, .. } => columns.iter().for_each(|id| visit(Role::Read, *id)),
            WriteKind::Update { row_id, set } => {
                set.iter().for_each(|s| visit(Role::Read, s.1));
                visit(Role::Read, *row_id);
            }
            WriteKind::Delete { row_id } => visit(Role::Read, *row_id),
        }
        self.checks.iter().for_each(|c| visit(Role::Read, c.1));
        self.returning.iter().for_each(|id| visit(Role::Passed, *id));
    }

    /// The same, to be changed.
    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        match &mut self.kind {
            WriteKind::Insert { columns, .. } => columns.iter_mut().for_each(|id| visit(Role::Read, id)),
            WriteKind::Update { row_id, set } => {
                set.iter_mut().for_each(|s| visit(Role::Read, &mut s.1));
                visit(Role::Read, row_id);
            }
            WriteKind::Delete { row_id } => visit(Role::Read, row_id),
        }
        self.checks.iter_mut().for_each(|c| visit(Role::Read, &mut c.1));
        self.returning.iter_mut().for_each(|id| visit(Role::Passed, id));
    }
}
