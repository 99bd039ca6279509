//! Longest lists of a statement: PostgreSQL's limits, asked before a list is bound, so that none takes memory first.

use super::error;
use frazil_types::{Result, Span, SqlState};

/// Longest target list: the result columns of a query, with what its rows are ordered by beside them.
const MOST_TARGETS: usize = 1_664;

/// Most columns of a table or view.
const MOST_COLUMNS: usize = 1_600;

/// Most columns of an index or key, included columns counted.
const MOST_INDEX_COLUMNS: usize = 32;

/// Most arguments of a call of a function.
const MOST_ARGUMENTS: usize = 100;

/// Error 54011 if a target list has `count` entries and that is too many. `span`: where the last of them is.
pub(super) fn targets(count: usize, span: Span) -> Result<()> {
    let message = || format!("target lists can have at most {MOST_TARGETS} entries");
    at_most(MOST_TARGETS, count, SqlState::TOO_MANY_COLUMNS, message, span)
}

/// As [`targets`], for a column of `*`. FROM may have more columns than a target list, because files have as many as they
/// like: one `*` of all of them is taken.
pub(super) fn targets_of_wildcard(count: usize, in_from: usize, span: Span) -> Result<()> {
    if count <= in_from {
        return Ok(());
    }
    targets(count, span)
}

/// Error 54011 if `count` parts are too many for a row value at `span`.
pub(super) fn row_parts(count: usize, span: Span) -> Result<()> {
    let message = || format!("ROW expressions can have at most {MOST_TARGETS} entries");
    at_most(MOST_TARGETS, count, SqlState::TOO_MANY_COLUMNS, message, span)
}

/// Error 54011 if `count` columns are too many for a table or view. `span`: where the last of them is.
pub(super) fn columns(count: usize, span: Span) -> Result<()> {
    let message = || format!("tables can have at most {MOST_COLUMNS} columns");
    at_most(MOST_COLUMNS, count, SqlState::TOO_MANY_COLUMNS, message, span)
}

/// Error 54011 if `count` columns are too many for a list of column definitions in FROM.
pub(super) fn column_definitions(count: usize, span: Span) -> Result<()> {
    let message = || format!("column definition lists can have at most {MOST_COLUMNS} entries");
    at_most(MOST_COLUMNS, count, SqlState::TOO_MANY_COLUMNS, message, span)
}

/// Error 54011 if `count` columns are too many for an index, a primary key or a unique constraint at `span`.
pub(super) fn index_columns(count: usize, span: Span) -> Result<()> {
    let message = || format!("cannot use more than {MOST_INDEX_COLUMNS} columns in an index");
    at_most(
        MOST_INDEX_COLUMNS,
        count,
        SqlState::TOO_MANY_COLUMNS,
        message,
        span,
    )
}

/// Error 54023 if `count` arguments are too many for the call at `span`.
pub(super) fn arguments(count: usize, span: Span) -> Result<()> {
    let message = || format!("cannot pass more than {MOST_ARGUMENTS} arguments to a function");
    at_most(MOST_ARGUMENTS, count, SqlState::TOO_MANY_ARGUMENTS, message, span)
}

fn at_most(
    most: usize,
    count: usize,
    state: SqlState,
    message: impl FnOnce() -> String,
    span: Span,
) -> Result<()> {
    match count <= most {
        true => Ok(()),
        false => Err(error(state, message(), span)),
    }
}
