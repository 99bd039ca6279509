//! What every breaker states of itself, once, in its file.

use crate::display_expression::Names;
use crate::{ColumnId, Expr};

/// Which rows of a breaker a pipeline reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    All,
    /// Build rows of a join that found a match.
    Matched,
    /// Build rows of a join that found none.
    Unmatched,
}

/// What a breaker evaluates for each row.
#[derive(Debug)]
pub struct Computed<'a> {
    /// The expressions; none where only the condition counts.
    pub values: Vec<&'a mut Expr>,
    /// FILTER: for other rows the expressions are not evaluated.
    pub filter: Option<&'a mut Expr>,
}

/// What every breaker states of itself. Nothing has a default: what a new one forgets does not compile.
pub trait Keeps {
    /// What it is called in the text of pipelines. Those of one name are numbered.
    fn name(&self) -> &'static str;

    /// Columns that it takes of each row, beside those in expressions.
    fn reads(&self) -> Vec<ColumnId>;

    /// The expressions that it evaluates for each row, beside those of the pipeline's sink.
    fn expressions(&self) -> Vec<&Expr>;

    /// The same, to be changed.
    fn computed_mut(&mut self) -> Vec<Computed<'_>>;

    /// True if it is handed whole vectors.
    fn takes_vectors(&self) -> bool;

    /// True if it looks up a row of its own for each row that it is handed.
    fn looks_up(&self) -> bool;

    /// Its text as the sink of a pipeline, behind its name and number. `keys` are the sink's expressions.
    fn text(&self, keys: &[Expr], names: &Names) -> String;

    /// What its rows are called in the text of a source, in front of its number.
    fn rows_text(&self, which: Which) -> &'static str;
}
