//! What every operator states of itself, once, in its file.
//!
//! Nothing has a default: what a new operator forgets does not compile. What walks over trees asks for it here instead of
//! knowing operators: which columns are made and read, what is visible, renaming, pruning; and so do EXPLAIN and the builder of pipelines.

use super::{Aggregate, RecursionId};
use crate::display_expression::Names;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::pipeline_builder::{Builder, NeededColumns, Opened};
use crate::verify::{Check, Visible};
use crate::{ColumnId, Columns, Expr, Operator};
use frazil_types::Result;

/// What an operator does with a column that it names beside its expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It makes the column.
    Made,
    /// It makes the column, and names it another time.
    MadeAlready,
    /// It reads a column of an input.
    Read,
    /// It reads a column of an input, which is visible above it though others of that input are not.
    Passed,
    /// It reads a column of a shared subplan, which has ids of its own.
    Stored,
}

impl Role {
    /// True if the column is one of an input.
    pub fn is_read(self) -> bool {
        match self {
            Role::Read | Role::Passed => true,
            Role::Made | Role::MadeAlready | Role::Stored => false,
        }
    }

    /// True if the column is visible above an operator that names it so.
    pub fn is_visible(self) -> bool {
        match self {
            Role::Made | Role::Passed => true,
            Role::MadeAlready | Role::Read | Role::Stored => false,
        }
    }
}

/// Columns that somebody above reads.
pub trait Needed {
    /// True if somebody reads the column.
    fn contains(&self, id: ColumnId) -> bool;

    /// Notes that somebody reads the columns.
    fn add(&mut self, ids: &[ColumnId]);
}

/// An operator: [`Operator::node`] gives it.
pub trait Node {
    /// Its inputs; of a join the build side first.
    fn inputs(&self) -> Vec<&Operator>;

    /// Its inputs, to be changed.
    fn inputs_mut(&mut self) -> Vec<&mut Operator>;

    /// The inputs all of whose columns are visible above it, in the order in which they are shown.
    fn passes(&self) -> Vec<&Operator>;

    /// The expressions it evaluates itself, those of restrictions included.
    fn expressions(&self) -> Vec<&Expr>;

    /// The same, to be changed.
    fn expressions_mut(&mut self) -> Vec<&mut Expr>;

    /// Gives `visit` the columns that it names itself, beside those in its expressions, with their roles. Made ones
    /// come in the order in which they are shown.
    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId));

    /// The same, to be changed.
    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId));

    /// The recursion that it is, or whose last rows it gives.
    fn recursion(&self) -> Option<RecursionId> {
        None
    }

    /// The same, to be changed.
    fn recursion_mut(&mut self) -> Option<&mut RecursionId> {
        None
    }

    /// True if it surely gives no second row.
    fn at_most_one_row(&self) -> bool;

    /// True if it surely gives a row.
    fn surely_has_a_row(&self) -> bool;

    /// True if it gives no row where input `i` gives none for each `empty[i]` that is true. `empty` is as long as
    /// [`Node::inputs`].
    fn is_empty_where(&self, empty: &[bool]) -> bool;

    /// Checks what it says of itself and of the columns that it reads, those of its inputs first; gives the columns visible
    /// above it. Error: an internal one that says what is malformed.
    fn verify(&self, check: &mut Check<'_>) -> Result<Visible>;

    /// The inputs whose columns are NULL in some of its rows, since such a row has none of theirs.
    fn null_supplied(&self) -> Vec<&Operator>;

    /// Recomputes whether its expressions, and the columns that it makes, may be NULL; those of its inputs are known.
    fn find_nullable(&mut self, pass: &mut Nullability<'_>);

    /// How many rows it gives at most, as long as what `of` says of tables holds; `None` if that is not known.
    fn most_rows(&self, of: &dyn MostRows) -> Option<u64>;

    /// About how many rows it gives where its inputs give so many.
    fn about_rows(&self, inputs: &[f64], of: &dyn AboutRows) -> f64;

    /// Says what may be estimated of the columns that it makes where its inputs give so many rows.
    fn learn(&self, inputs: &[f64], facts: &mut dyn Facts);

    /// Says what its expressions are, and what the columns that it makes are made of, so that bounds of their values are
    /// proved; those of its inputs are known.
    fn find_bounds(&self, pass: &mut dyn KnownValues);

    /// The aggregation that it is, or whose groups it makes.
    fn aggregation(&self) -> Option<&Aggregate>;

    /// Its text in EXPLAIN, in one line.
    fn text(&self, names: &Names, columns: &Columns) -> String;

    /// What EXPLAIN prints in front of input `i`.
    fn input_title(&self, i: usize) -> &'static str;

    /// The pipelines that give its rows, of which those above need the columns `needed`. `op` is the operator itself.
    fn open(&self, op: &Operator, builder: &mut Builder<'_>, needed: &NeededColumns) -> Opened;

    /// Drops the columns that it makes and nobody needs, where that is possible and worth it. Adds to `needed` what columns
    /// that stay read, where that is not in [`Node::expressions`] or [`Node::ids`] as read.
    fn prune(&mut self, needed: &mut dyn Needed);
}
