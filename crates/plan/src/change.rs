//! Changes of a table by INSERT, UPDATE and DELETE, and locks on rows by FOR UPDATE: what [`crate::operators::Write`]
//! does with each row of its input.

use crate::role::Role;
use crate::row_locks::RowLocks;
use crate::{ColumnId, Expr};
use frazil_types::{ObjectId, Span};
use std::collections::BTreeSet;

/// What a write does with the rows it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The table; the first one if rows of several are locked.
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
    /// SELECT … FOR UPDATE: locks rows of tables and returns the columns of RETURNING.
    Lock(RowLocks),
}

/// What INSERT does with a row whose key a unique index has already.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanConflict {
    /// The statement fails: 23505.
    Fail,
    /// ON CONFLICT DO NOTHING: the row is left out.
    Skip {
        /// The indexes whose keys count. In others a conflict is 23505.
        arbiters: Arbiters,
    },
    /// ON CONFLICT DO UPDATE: the row with the key is changed.
    Update(ConflictUpdate),
}

/// The unique indexes whose keys ON CONFLICT looks at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arbiters {
    /// The indexes; all unique ones if the list is empty.
    pub indexes: Vec<ObjectId>,
    /// The target as it is written. The optimizer replaces it by the indexes that match.
    pub target: Option<Box<ConflictTarget>>,
}

/// The target of ON CONFLICT: keys, and the condition of a partial index. Its expressions are over columns that stand
/// for those of the table, which no operator makes.
#[derive(Clone, Debug, PartialEq)]
pub struct ConflictTarget {
    /// The keys: columns, or expressions.
    pub keys: Vec<Expr>,
    /// WHERE: true for the rows of a partial index that is meant.
    pub predicate: Option<Expr>,
    /// The unique indexes on the columns that are among the keys.
    pub candidates: Vec<ArbiterCandidate>,
    /// The keys in the text.
    pub span: Span,
}

/// A unique index that a [`ConflictTarget`] may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct ArbiterCandidate {
    /// The index.
    pub index: ObjectId,
    /// Its keys.
    pub keys: Vec<Expr>,
    /// The condition of a partial index.
    pub condition: Option<Expr>,
}

/// ON CONFLICT DO UPDATE. A query computes what becomes of rows in the way. It is given the table's columns of each row in
/// the way, then those of the row that it stops, then a bigint, the number of the pair (`Given`'s positions go on from
/// part to part), and returns for each pair that number, WHERE, the values of SET, and the CHECK constraints of the
/// changed row.
#[derive(Clone, Debug, PartialEq)]
pub struct ConflictUpdate {
    /// The indexes whose keys count: at least one.
    pub arbiters: Arbiters,
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
            WriteKind::Lock(_) => "SELECT",
        }
    }

    /// The table whose rows change; `None` if rows are only locked.
    pub fn written_table(&self) -> Option<ObjectId> {
        match self.kind {
            WriteKind::Insert { .. } | WriteKind::Update { .. } | WriteKind::Delete { .. } => {
                Some(self.table)
            }
            WriteKind::Lock(_) => None,
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

    /// The arbiters of ON CONFLICT, if it has one.
    pub fn arbiters_mut(&mut self) -> Option<&mut Arbiters> {
        let WriteKind::Insert { conflict, .. } = &mut self.kind else {
            return None;
        };
        match conflict {
            PlanConflict::Fail => None,
            PlanConflict::Skip { arbiters } => Some(arbiters),
            PlanConflict::Update(update) => Some(&mut update.arbiters),
        }
    }

    /// The new values of a row: of INSERT for all columns of the table, of UPDATE for those that are set, else none.
    pub fn values(&self) -> Vec<ColumnId> {
        match &self.kind {
            WriteKind::Insert { columns, .. } => columns.clone(),
            WriteKind::Update { set, .. } => set.iter().map(|s| s.1).collect(),
            WriteKind::Delete { .. } | WriteKind::Lock(_) => Vec::new(),
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
    pub(crate) fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        match &self.kind {
            WriteKind::Insert { columns, .. } => columns.iter().for_each(|id| visit(Role::Read, *id)),
            WriteKind::Update { row_id, set } => {
                set.iter().for_each(|s| visit(Role::Read, s.1));
                visit(Role::Read, *row_id);
            }
            WriteKind::Delete { row_id } => visit(Role::Read, *row_id),
            WriteKind::Lock(locks) => locks.ids().for_each(|id| visit(Role::Read, id)),
        }
        self.checks.iter().for_each(|c| visit(Role::Read, c.1));
        self.returning.iter().for_each(|id| visit(Role::Passed, *id));
    }

    /// The same, to be changed.
    pub(crate) fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        match &mut self.kind {
            WriteKind::Insert { columns, .. } => columns.iter_mut().for_each(|id| visit(Role::Read, id)),
            WriteKind::Update { row_id, set } => {
                set.iter_mut().for_each(|s| visit(Role::Read, &mut s.1));
                visit(Role::Read, row_id);
            }
            WriteKind::Delete { row_id } => visit(Role::Read, row_id),
            WriteKind::Lock(locks) => locks.ids_mut().for_each(|id| visit(Role::Read, id)),
        }
        self.checks.iter_mut().for_each(|c| visit(Role::Read, &mut c.1));
        self.returning.iter_mut().for_each(|id| visit(Role::Passed, id));
    }
}
