//! Names of relations while a statement is bound, and limits of the nesting of views and subqueries.

use crate::limits::Limits;
use crate::parse::MAX_DEPTH;
use frazil_catalog::{Reading, ViewEntry};
use frazil_types::{Error, Result, SqlState};
use std::cell::Cell;

/// Levels of depth that a view adds to those of its query: the calls that lead from its name to its text.
const VIEW_LEVELS: usize = 4;

/// Subqueries and dependent joins of a statement, at most. Each becomes a join around all that stood before it, so a
/// plan is as deep as they are many.
const MOST_SUBQUERIES: usize = MAX_DEPTH;

/// How the names of relations are found.
pub(crate) enum Names<'a> {
    /// In the catalog.
    Catalog,
    /// In the catalog, and what is found is noted: the query of a view that is being created.
    Noted(Vec<Reading>),
    /// Among what a view reads: its query.
    View(&'a ViewEntry),
}

/// How deep a statement and the views it reads nest, one in the other or side by side.
#[derive(Debug)]
pub(crate) struct Nesting {
    /// Levels so far.
    pub used: Cell<usize>,
    /// Levels that the stack has room for.
    pub room: usize,
    /// Levels that were asked for beyond those; 0 as long as none were.
    pub wanted: Cell<usize>,
    /// Subqueries and dependent joins so far.
    subqueries: Cell<usize>,
    /// Parts of the widest row value so far: rows are ordered by conditions that nest as deep as that.
    row: Cell<usize>,
    /// True if relations have a column that tells their rows from those that outer joins make.
    marks_rows: bool,
    /// True once a whole row asked for such a column in vain.
    wants_marks: Cell<bool>,
    /// What the statement keeps to.
    pub limits: Limits,
}

impl Nesting {
    /// A statement of some depth on a stack for `room` levels.
    pub fn new(depth: usize, room: usize, limits: Limits) -> Nesting {
        Nesting {
            used: Cell::new(depth),
            room,
            wanted: Cell::new(0),
            subqueries: Cell::new(0),
            row: Cell::new(0),
            marks_rows: false,
            wants_marks: Cell::new(false),
            limits,
        }
    }

    /// Says whether relations have a column that tells their rows from those that outer joins make.
    pub fn marking_rows(self, marks_rows: bool) -> Nesting {
        Nesting { marks_rows, ..self }
    }

    /// True if relations have such a column.
    pub fn marks_rows(&self) -> bool {
        self.marks_rows
    }

    /// True if the statement must be bound again with marked rows.
    pub fn wants_marks(&self) -> bool {
        self.wants_marks.get()
    }

    /// Asks for marked rows. An error if the statement must be bound again for them.
    pub(super) fn want_marks(&self) -> Result<()> {
        if self.marks_rows {
            return Ok(());
        }
        self.wants_marks.set(true);
        Err(Error::internal("a statement is bound again with marked rows"))
    }

    /// Counts a subquery or a dependent join. 54001.
    pub fn subquery(&self) -> Result<()> {
        let subqueries = self.subqueries.get() + 1;
        self.subqueries.set(subqueries);
        if subqueries > MOST_SUBQUERIES {
            let message = "the statement has too many subqueries";
            return Err(Error::new(SqlState::STATEMENT_TOO_COMPLEX, message)
                .with_detail(format!(
                    "{MOST_SUBQUERIES} are supported, LATERAL and those of views counted"
                ))
                .with_hint(
                    "split it into several statements, or join one subquery that returns all values",
                ));
        }
        Ok(())
    }

    /// Counts a row value of so many parts.
    pub fn row(&self, parts: usize) {
        self.row.set(self.row.get().max(parts));
    }

    /// Levels of depth of the plan that was made: those of the statement and its views, one for each subquery, and four
    /// for each part of a row value.
    pub fn plan_levels(&self) -> usize {
        self.used.get() + self.subqueries.get() + 4 * self.row.get()
    }

    /// Counts a view whose query is of some depth. 54001; an error, too, where the stack has no room for it.
    pub(super) fn enter(&self, depth: usize) -> Result<()> {
        let levels = self.used.get() + depth + VIEW_LEVELS;
        self.used.set(levels);
        if levels > MAX_DEPTH {
            let message = "the statement reads too many views, or views nested too deeply";
            return Err(Error::new(SqlState::STATEMENT_TOO_COMPLEX, message)
                .with_hint("keep the rows of a view in a table: CREATE TABLE … AS TABLE view"));
        }
        if levels > self.room {
            self.wanted.set(levels);
            return Err(Error::internal("a view is bound again on a larger stack"));
        }
        Ok(())
    }
}
