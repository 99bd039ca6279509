//! Operators: the tree that `frontend` makes and `optimizer` rewrites.
//!
//! A column made by an operator is visible to everything above it until an operator that makes new
//! rows ([`Aggregate`], [`UnionAll`]) ends it. There is no operator that only
//! drops or renames columns: liveness decides what is carried.

use crate::operators::{
    Aggregate, DependentJoin, Expand, Filter, Given, GroupingSets, Join, Limit, Map, Node, Recursion, Role,
    Scan, Shared, Sort, TopPerGroup, Turn, UnionAll, Values, Window, Write,
};
use crate::{ColumnId, Columns, Expr};
use frazil_types::LogicalType;

/// A scalar subquery of the plan: index into [`Plan::subqueries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubqueryId(pub usize);

/// A subplan computed once and read several times: index into [`Plan::shared`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedId(pub usize);

/// A whole statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The operator tree.
    pub root: Operator,
    /// Every column in it.
    pub columns: Columns,
    /// What the statement returns: names and columns. Of INSERT, UPDATE and DELETE what RETURNING shows, unless a query of
    /// the [`Write`] makes that.
    pub output: Vec<(String, ColumnId)>,
    /// Scalar subqueries: a tree and its one column. More than one row is error 21000.
    pub subqueries: Vec<(Operator, ColumnId)>,
    /// Subplans read by [`Shared`].
    pub shared: Vec<Operator>,
    /// Types of the parameters.
    pub parameters: Vec<LogicalType>,
}

impl Plan {
    /// Its trees, each before those that read what it computes: shared subplans, scalar subqueries, the root. Queries of a
    /// [`Write`] are plans of their own.
    pub fn trees(&self) -> impl Iterator<Item = &Operator> {
        self.shared.iter().chain(self.unshared_trees())
    }

    /// The trees that are no shared subplans: scalar subqueries, then the root.
    pub fn unshared_trees(&self) -> impl Iterator<Item = &Operator> {
        let subqueries = self.subqueries.iter().map(|s| &s.0);
        subqueries.chain([&self.root])
    }

    /// Calls a function with every scan, those of queries of a [`Write`] as well.
    pub fn for_each_scan(&self, visit: &mut dyn FnMut(&Scan)) {
        self.trees().for_each(|tree| tree.for_each_scan(visit));
    }

    /// As [`Plan::trees`], to be changed, and beside them the columns.
    pub fn trees_mut(&mut self) -> (impl Iterator<Item = &mut Operator>, &mut Columns) {
        let subqueries = self.subqueries.iter_mut().map(|s| &mut s.0);
        let trees = self.shared.iter_mut().chain(subqueries);
        (trees.chain([&mut self.root]), &mut self.columns)
    }
}

/// An operator with its inputs: one of [`crate::operators`], a file each, which says what it means.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// Rows of a table.
    Scan(Scan),
    /// Rows of expressions without columns.
    Values(Values),
    /// Rows that whoever runs the plan gives.
    Given(Given),
    /// Rows for which a predicate is true.
    Filter(Filter),
    /// Adds computed columns.
    Map(Map),
    /// Joins two inputs.
    Join(Join),
    /// LATERAL, until it is unnested.
    DependentJoin(DependentJoin),
    /// Groups.
    Aggregate(Aggregate),
    /// GROUPING SETS, until they are aggregations.
    GroupingSets(GroupingSets),
    /// Orders rows, perhaps only the first ones.
    Sort(Sort),
    /// The first rows of each group.
    TopPerGroup(TopPerGroup),
    /// Adds columns of window functions.
    Window(Window),
    /// WITH RECURSIVE.
    Recursion(Recursion),
    /// The rows of the turn before.
    Turn(Turn),
    /// Some rows.
    Limit(Limit),
    /// Each row as often as functions give rows for it.
    Expand(Expand),
    /// All rows of all inputs.
    UnionAll(UnionAll),
    /// Rows of a shared subplan.
    Shared(Shared),
    /// INSERT, UPDATE, DELETE: the root of a plan.
    Write(Box<Write>),
}

impl Operator {
    /// [`Plan::for_each_scan`] of a tree.
    fn for_each_scan(&self, visit: &mut dyn FnMut(&Scan)) {
        if let Operator::Scan(scan) = self {
            visit(scan);
        }
        if let Operator::Write(write) = self {
            write.queries().for_each(|plan| plan.for_each_scan(visit));
        }
        self.inputs()
            .into_iter()
            .for_each(|input| input.for_each_scan(visit));
    }

    /// What it states of itself.
    pub fn node(&self) -> &dyn Node {
        match self {
            Operator::Scan(node) => node,
            Operator::Values(node) => node,
            Operator::Given(node) => node,
            Operator::Filter(node) => node,
            Operator::Map(node) => node,
            Operator::Join(node) => node,
            Operator::DependentJoin(node) => node,
            Operator::Aggregate(node) => node,
            Operator::GroupingSets(node) => node,
            Operator::Sort(node) => node,
            Operator::TopPerGroup(node) => node,
            Operator::Window(node) => node,
            Operator::Recursion(node) => node,
            Operator::Turn(node) => node,
            Operator::Limit(node) => node,
            Operator::Expand(node) => node,
            Operator::UnionAll(node) => node,
            Operator::Shared(node) => node,
            Operator::Write(node) => &**node,
        }
    }

    /// The same, to be changed.
    pub fn node_mut(&mut self) -> &mut dyn Node {
        match self {
            Operator::Scan(node) => node,
            Operator::Values(node) => node,
            Operator::Given(node) => node,
            Operator::Filter(node) => node,
            Operator::Map(node) => node,
            Operator::Join(node) => node,
            Operator::DependentJoin(node) => node,
            Operator::Aggregate(node) => node,
            Operator::GroupingSets(node) => node,
            Operator::Sort(node) => node,
            Operator::TopPerGroup(node) => node,
            Operator::Window(node) => node,
            Operator::Recursion(node) => node,
            Operator::Turn(node) => node,
            Operator::Limit(node) => node,
            Operator::Expand(node) => node,
            Operator::UnionAll(node) => node,
            Operator::Shared(node) => node,
            Operator::Write(node) => &mut **node,
        }
    }

    /// Whether it surely has no second row.
    pub fn at_most_one_row(&self) -> bool {
        self.node().at_most_one_row()
    }

    /// True if it surely gives a row.
    pub fn surely_has_a_row(&self) -> bool {
        self.node().surely_has_a_row()
    }

    /// Its inputs; of a join the build side first.
    pub fn inputs(&self) -> Vec<&Operator> {
        self.node().inputs()
    }

    /// Its inputs, to be changed.
    pub fn inputs_mut(&mut self) -> Vec<&mut Operator> {
        self.node_mut().inputs_mut()
    }

    /// The expressions it evaluates itself, those of restrictions included.
    pub fn expressions(&self) -> Vec<&Expr> {
        self.node().expressions()
    }

    /// The same, to be changed.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        self.node_mut().expressions_mut()
    }

    /// Columns visible above it.
    pub fn visible(&self) -> Vec<ColumnId> {
        let mut found = Vec::new();
        self.add_visible(&mut found);
        found
    }

    /// Adds the columns visible above it to a list: one list for a whole tree, so that a deep one is walked in linear
    /// time.
    fn add_visible(&self, found: &mut Vec<ColumnId>) {
        let node = self.node();
        for input in node.passes() {
            input.add_visible(found);
        }
        node.ids(&mut |role, id| {
            if role.is_visible() {
                found.push(id);
            }
        });
    }

    /// Columns that it makes itself.
    pub fn makes(&self) -> Vec<ColumnId> {
        let mut made = Vec::new();
        self.node().ids(&mut |role, id| {
            if role == Role::Made {
                made.push(id);
            }
        });
        made
    }

    /// Columns that it reads itself, those of its inputs and those it only passes on not counted.
    pub fn reads(&self) -> Vec<ColumnId> {
        let node = self.node();
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
}
