//! The locking clauses of a query while it is bound: FOR UPDATE and the like.

use frazil_plan::{LockStrength, LockWait, LockedTable};
use frazil_types::Span;

/// A locking clause.
#[derive(Clone)]
pub(super) struct LockingClause {
    pub strength: LockStrength,
    pub wait: LockWait,
    /// The relations behind OF; with an empty list all are locked.
    pub of: Vec<LockedName>,
}

/// A relation behind OF.
#[derive(Clone)]
pub(super) struct LockedName {
    pub name: String,
    pub span: Span,
    /// True once FROM has the relation.
    pub is_found: bool,
}

/// The locking clauses of a query, and the tables that they lock so far.
#[derive(Clone, Default)]
pub(super) struct Locking {
    pub clauses: Vec<LockingClause>,
    pub tables: Vec<LockedTable>,
    /// True if a query around this one locks the rows of the view or subquery that it is.
    pub from_above: bool,
}
