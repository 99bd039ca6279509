//! What every operator states of itself, once, in its file.
//!
//! Only [`Node::recursion`] and [`Node::recursion_mut`] have defaults: what a new operator forgets does not compile. What walks over trees asks for it
//! here instead of knowing operators: which columns are made and read, what is visible, renaming, pruning; and so do EXPLAIN and the
//! builder of pipelines.
//!
//! Operators do not know each other, nor the list of all of them ([`crate::Operator`]), which is above them: an operator is made
//! over inputs of any type `T` that is a [`Tree`].

use crate::display_expression::Names;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::role::Role;
use crate::verify::{Check, Visible};
use crate::{ColumnId, Columns, Expr};
use frazil_types::Result;
use std::any::Any;
use std::collections::BTreeSet;

/// A tree of operators: an operator with its inputs.
pub trait Tree: Sized + 'static {
    /// What the operator states of itself.
    fn node(&self) -> &(dyn Node<Self> + 'static);

    /// The same, to be changed.
    fn node_mut(&mut self) -> &mut (dyn Node<Self> + 'static);
}

/// The operator at the root of a tree, if it is an `N`.
pub fn as_operator<T: Tree, N: 'static>(op: &T) -> Option<&N> {
    let node: &dyn Any = op.node();
    node.downcast_ref()
}

/// Columns visible above an operator.
pub fn visible<T: Tree>(op: &T) -> Vec<ColumnId> {
    let mut found = Vec::new();
    add_visible(op, &mut found);
    found
}

/// Adds the columns visible above an operator to a list: one list for a whole tree, so that a deep one is walked in linear
/// time.
fn add_visible<T: Tree>(op: &T, found: &mut Vec<ColumnId>) {
    let node = op.node();
    for input in node.passes() {
        add_visible(input, found);
    }
    node.ids(&mut |role, id| {
        if role.is_visible() {
            found.push(id);
        }
    });
}

/// Columns that an operator makes itself.
pub fn makes<T: Tree>(op: &T) -> Vec<ColumnId> {
    let mut made = Vec::new();
    op.node().ids(&mut |role, id| {
        if role == Role::Made {
            made.push(id);
        }
    });
    made
}

/// Columns that an operator reads itself, those of its inputs and those it only passes on not counted.
pub fn reads<T: Tree>(op: &T) -> Vec<ColumnId> {
    let node = op.node();
    let mut read: Vec<ColumnId> = (node.expressions().into_iter())
        .flat_map(Expr::columns_read)
        .collect();
    node.ids(&mut |role, id| {
        if role.is_read() {
            read.push(id);
        }
    });
    read
}

/// Columns that a tree's operators make, those of subqueries in its expressions not counted.
pub fn columns_made<T: Tree>(op: &T) -> BTreeSet<ColumnId> {
    of_tree(op, &makes)
}

/// Columns that a tree's operators read, whoever makes them.
pub(crate) fn columns_read<T: Tree>(op: &T) -> BTreeSet<ColumnId> {
    of_tree(op, &reads)
}

/// Columns of all operators of a tree. They are put into a set once, at the end: a set for each operator would be filled
/// as often as the tree is deep.
fn of_tree<T: Tree>(op: &T, of: &dyn Fn(&T) -> Vec<ColumnId>) -> BTreeSet<ColumnId> {
    fn collect<T: Tree>(op: &T, of: &dyn Fn(&T) -> Vec<ColumnId>, found: &mut Vec<ColumnId>) {
        found.extend(of(op));
        op.node()
            .inputs()
            .into_iter()
            .for_each(|input| collect(input, of, found));
    }
    let mut found = Vec::new();
    collect(op, of, &mut found);
    found.into_iter().collect()
}

/// Columns that a tree reads and does not make: its outer references.
pub fn free_columns<T: Tree>(op: &T) -> BTreeSet<ColumnId> {
    let made = columns_made(op);
    let mut read = columns_read(op);
    read.retain(|id| !made.contains(id));
    read
}

/// Recomputes which columns and expressions of a tree may be NULL, inputs first.
pub(crate) fn find_nullable<T: Tree>(op: &mut T, pass: &mut Nullability<'_>) {
    for input in op.node_mut().inputs_mut() {
        find_nullable(input, pass);
    }
    op.node_mut().find_nullable(pass);
}

/// Rows of a recursive query under construction, told apart from those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecursionId(pub usize);

/// Columns that somebody above reads.
pub trait Needed {
    /// True if somebody reads the column.
    fn contains(&self, id: ColumnId) -> bool;

    /// Notes that somebody reads the columns.
    fn add(&mut self, ids: &[ColumnId]);
}

/// An operator over inputs of type `T`: [`Tree::node`] gives it.
pub trait Node<T>: Any {
    /// Its inputs; of a join the build side first.
    fn inputs(&self) -> Vec<&T>;

    /// Its inputs, to be changed.
    fn inputs_mut(&mut self) -> Vec<&mut T>;

    /// The inputs all of whose columns are visible above it, in the order in which they are shown.
    fn passes(&self) -> Vec<&T>;

    /// The clause, in PostgreSQL's words, that makes its rows of several rows of a table: a query that locks rows
    /// cannot have one.
    fn unlockable(&self) -> Option<&'static str> {
        None
    }

    /// Whether it leaves out rows by their number.
    fn limits_rows(&self) -> bool {
        false
    }

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
    fn null_supplied(&self) -> Vec<&T>;

    /// Recomputes whether its expressions, and the columns that it makes, may be NULL; those of its inputs are known.
    fn find_nullable(&mut self, pass: &mut Nullability<'_>);

    /// How many rows it gives at most, as long as what `of` says of tables holds; `None` if that is not known.
    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64>;

    /// About how many rows it gives where its inputs give so many.
    fn about_rows(&self, inputs: &[f64], of: &dyn AboutRows) -> f64;

    /// Says what may be estimated of the columns that it makes where its inputs give so many rows.
    fn learn(&self, inputs: &[f64], facts: &mut dyn Facts);

    /// Says what its expressions are, and what the columns that it makes are made of, so that bounds of their values are
    /// proved; those of its inputs are known.
    fn find_bounds(&self, pass: &mut dyn KnownValues<T>);

    /// Its text in EXPLAIN, in one line.
    fn text(&self, names: &Names, columns: &Columns) -> String;

    /// What EXPLAIN prints in front of input `i`.
    fn input_title(&self, i: usize) -> &'static str;

    /// The pipelines that give its rows, of which those above need the columns `needed`. `op` is the operator itself.
    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened;

    /// Drops the columns that it makes and nobody needs, where that is possible and worth it. Adds to `needed` what columns
    /// that stay read, where that is not in [`Node::expressions`] or [`Node::ids`] as read.
    fn prune(&mut self, needed: &mut dyn Needed);
}
