//! Common table expressions in sight, and what their rows are.

use super::written::Written;
use frazil_plan::operators::RecursionId;
use frazil_plan::{ColumnId, SharedId};
use frazil_types::{LogicalType, ObjectId, Origin};
use sqlparser::ast::Cte as SqlCte;

/// A common table expression in sight.
pub(super) struct Cte<'a> {
    pub name: String,
    pub definition: &'a SqlCte,
    /// How many queries surround its definition.
    pub depth: usize,
    /// How many common table expressions its definition sees: those before it; of WITH RECURSIVE all of the clause.
    pub sees: usize,
    pub rows: Rows,
}

/// Where its rows come from.
#[derive(Clone)]
pub(super) enum Rows {
    /// A shared subplan and its columns.
    Shared(SharedId, Vec<(String, ColumnId)>),
    /// Its definition, bound anew.
    Anew,
    /// The same of a definition that reads itself.
    AnewRecursive,
    /// Of WITH RECURSIVE: its definition is bound when it is read first.
    Pending,
    /// Its definition is being bound, and may not read it: why.
    Closed(&'static str),
    /// It writes, and returns rows.
    Returned(Returned),
    /// It writes, and returns nothing.
    Silent,
    /// Its turn is being bound: the rows of the turn before.
    Turn(RecursionId, TurnColumns),
}

/// The columns of a turn's rows.
#[derive(Clone)]
pub(super) struct TurnColumns {
    /// Names and types.
    pub all: Vec<(String, LogicalType)>,
    /// How many of them the query sees; SEARCH and CYCLE read those behind.
    pub shown: usize,
}

/// A WITH query that writes, all of which is bound but the types of parameters.
pub(super) struct PendingWrite {
    pub name: String,
    pub table: ObjectId,
    pub written: Written,
}

/// What a WITH query returns: a table, and its columns.
#[derive(Clone)]
pub(super) struct Returned {
    pub table: ObjectId,
    /// Names, types and origins.
    pub columns: Vec<(String, LogicalType, Option<Origin>)>,
}
