//! The list of all operators: the tree that `frontend` makes and `optimizer` rewrites.
//!
//! A column made by an operator is visible to everything above it until an operator that makes new
//! rows ([`Aggregate`], [`UnionAll`]) ends it. There is no operator that only
//! drops or renames columns: liveness decides what is carried.
//!
//! The list is above its operators: a file of [`crate::operators`] knows neither the list nor another operator. What stands here
//! needs several operators, or makes one of parts.

use crate::nullability::Nullability;
use crate::operators::{Given, Node, Scan, Shared, Tree, Turn, Values, find_nullable, node};
use crate::operators::{
    aggregate, dependent_join, expand, filter, grouping_sets, join, limit, map, recursion, sort,
    top_per_group, union_all, window, write,
};
use crate::subquery::{Subquery, SubqueryKind, SubqueryTree};
use crate::{
    AggregateCall, COUNT, ColumnId, Columns, Expr, Frame, JoinKind, SharedId, SortKey, WindowCall,
    WindowFunction, plan,
};
use frazil_types::{ObjectId, Value};
use std::any::Any;
use std::collections::BTreeSet;

/// Rows for which a predicate is true: `operators/filter.rs`.
pub type Filter = filter::Filter<Operator>;
/// Adds computed columns: `operators/map.rs`.
pub type Map = map::Map<Operator>;
/// Joins two inputs: `operators/join.rs`.
pub type Join = join::Join<Operator>;
/// LATERAL: `operators/dependent_join.rs`.
pub type DependentJoin = dependent_join::DependentJoin<Operator>;
/// Groups: `operators/aggregate.rs`.
pub type Aggregate = aggregate::Aggregate<Operator>;
/// GROUPING SETS: `operators/grouping_sets.rs`.
pub type GroupingSets = grouping_sets::GroupingSets<Operator>;
/// Orders rows: `operators/sort.rs`.
pub type Sort = sort::Sort<Operator>;
/// The first rows of each group: `operators/top_per_group.rs`.
pub type TopPerGroup = top_per_group::TopPerGroup<Operator>;
/// Window functions: `operators/window.rs`.
pub type Window = window::Window<Operator>;
/// WITH RECURSIVE: `operators/recursion.rs`.
pub type Recursion = recursion::Recursion<Operator>;
/// Some rows: `operators/limit.rs`.
pub type Limit = limit::Limit<Operator>;
/// Rows of functions: `operators/expand.rs`.
pub type Expand = expand::Expand<Operator>;
/// All rows of all inputs: `operators/union_all.rs`.
pub type UnionAll = union_all::UnionAll<Operator>;
/// INSERT, UPDATE, DELETE: `operators/write.rs`.
pub type Write = write::Write<Operator>;
/// A whole statement: `plan.rs`.
pub type Plan = plan::Plan<Operator>;

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

impl Tree for Operator {
    fn node(&self) -> &(dyn Node<Operator> + 'static) {
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

    fn node_mut(&mut self) -> &mut (dyn Node<Operator> + 'static) {
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
}

impl Operator {
    /// [`Plan::for_each_scan`] of a tree.
    fn for_each_scan(&self, visit: &mut dyn FnMut(&Scan)) {
        if let Operator::Scan(scan) = self {
            visit(scan);
        }
        if let Some(write) = self.write() {
            write.queries().for_each(|plan| plan.for_each_scan(visit));
        }
        self.inputs()
            .into_iter()
            .for_each(|input| input.for_each_scan(visit));
    }

    /// The scan that it is, or filters, with the predicate of the filter.
    pub fn filtered_scan(&self) -> Option<(&Scan, Option<&Expr>)> {
        let (mut scan, mut predicate) = (self, None);
        if let Operator::Filter(filter) = self {
            (scan, predicate) = (&*filter.input, Some(&filter.predicate));
        }
        if let Operator::Scan(scan) = scan {
            return Some((scan, predicate));
        }
        None
    }

    /// The inner join that it is.
    pub fn inner_join(&self) -> Option<&Join> {
        if let Operator::Join(join) = self
            && join.kind == JoinKind::Inner
        {
            return Some(join);
        }
        None
    }

    /// The scans whose rows it joins by inner joins, filters, or computes columns of.
    pub fn joined_scans(&self) -> Vec<&Scan> {
        if let Operator::Scan(scan) = self {
            return vec![scan];
        }
        let hands_on = matches!(self, Operator::Filter(_) | Operator::Map(_)) || self.inner_join().is_some();
        let inputs = if hands_on { self.inputs() } else { Vec::new() };
        inputs.into_iter().flat_map(Operator::joined_scans).collect()
    }

    /// The change of a statement that writes or locks rows: the root of its plan.
    pub fn write(&self) -> Option<&Write> {
        let Operator::Write(write) = self else {
            return None;
        };
        Some(write)
    }

    /// [`Operator::write`], to be changed.
    pub fn write_mut(&mut self) -> Option<&mut Write> {
        let Operator::Write(write) = self else {
            return None;
        };
        Some(write)
    }

    /// It as a join, to be changed.
    pub fn join_mut(&mut self) -> Option<&mut Join> {
        let Operator::Join(join) = self else {
            return None;
        };
        Some(join)
    }

    /// It as a filter, to be changed.
    pub fn filter_mut(&mut self) -> Option<&mut Filter> {
        let Operator::Filter(filter) = self else {
            return None;
        };
        Some(filter)
    }

    /// What it states of itself.
    pub fn node(&self) -> &dyn Node<Operator> {
        Tree::node(self)
    }

    /// The same, to be changed.
    pub fn node_mut(&mut self) -> &mut dyn Node<Operator> {
        Tree::node_mut(self)
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
        node::visible(self)
    }

    /// Columns that it makes itself.
    pub fn makes(&self) -> Vec<ColumnId> {
        node::makes(self)
    }

    /// Columns that it reads itself, those of its inputs and those it only passes on not counted.
    pub fn reads(&self) -> Vec<ColumnId> {
        node::reads(self)
    }

    /// The keys by which its rows are ordered: those of a sort, which maps above it keep.
    pub fn order(&self) -> &[SortKey] {
        match self {
            Operator::Sort(node) => &node.keys,
            Operator::Map(node) => node.input.order(),
            Operator::Scan(_)
            | Operator::Values(_)
            | Operator::Given(_)
            | Operator::Filter(_)
            | Operator::Join(_)
            | Operator::DependentJoin(_)
            | Operator::Aggregate(_)
            | Operator::GroupingSets(_)
            | Operator::Window(_)
            | Operator::Expand(_)
            | Operator::TopPerGroup(_)
            | Operator::Limit(_)
            | Operator::UnionAll(_)
            | Operator::Shared(_)
            | Operator::Recursion(_)
            | Operator::Turn(_)
            | Operator::Write(_) => &[],
        }
    }

    /// The aggregates that it computes over groups of its rows.
    pub fn aggregates(&self) -> &[(ColumnId, AggregateCall)] {
        match self {
            Operator::Aggregate(node) => &node.aggregates,
            Operator::GroupingSets(node) => &node.all.aggregates,
            Operator::Scan(_)
            | Operator::Values(_)
            | Operator::Given(_)
            | Operator::Filter(_)
            | Operator::Map(_)
            | Operator::Join(_)
            | Operator::DependentJoin(_)
            | Operator::Sort(_)
            | Operator::TopPerGroup(_)
            | Operator::Window(_)
            | Operator::Recursion(_)
            | Operator::Turn(_)
            | Operator::Limit(_)
            | Operator::Expand(_)
            | Operator::UnionAll(_)
            | Operator::Shared(_)
            | Operator::Write(_) => &[],
        }
    }

    /// Gives `visit` the shared subplans that a tree reads.
    pub fn shared_read(&self, visit: &mut dyn FnMut(SharedId)) {
        if let Operator::Shared(shared) = self {
            visit(shared.id);
        }
        self.inputs()
            .into_iter()
            .for_each(|input| input.shared_read(visit));
    }

    /// True if it gives rows of functions.
    pub fn gives_rows_of_functions(&self) -> bool {
        matches!(self, Operator::Expand(_))
    }

    /// Its rows with a number each, and the column of the numbers.
    pub fn numbered(self, columns: &mut Columns) -> (Operator, ColumnId) {
        let number = columns.add("number", COUNT, false);
        let call = WindowCall {
            function: WindowFunction::RowNumber,
            arguments: vec![],
            filter: None,
            ignore_nulls: false,
            frame: Frame::to_peers(),
            ty: COUNT,
        };
        let op = Operator::Window(Window {
            input: Box::new(self),
            partition: vec![],
            order: vec![],
            calls: vec![(number, call)],
            most: None,
        });
        (op, number)
    }

    /// The scan whose rows it passes on, if it only filters them and computes further columns.
    pub fn passed_scan_mut(&mut self) -> Option<&mut Scan> {
        if let Operator::Filter(filter) = self {
            return filter.input.passed_scan_mut();
        }
        if let Operator::Map(map) = self {
            return map.input.passed_scan_mut();
        }
        let Operator::Scan(scan) = self else {
            return None;
        };
        Some(scan)
    }

    /// The row that it gives, if all it does is to count the rows of a table whose number `rows` knows.
    pub fn known_counts(&self, rows: impl Fn(ObjectId) -> Option<u64>) -> Option<Operator> {
        let Operator::Aggregate(node) = self else {
            return None;
        };
        let Operator::Scan(scan) = &*node.input else {
            return None;
        };
        if !node.counts_all_rows() || !scan.is_whole_table() {
            return None;
        }
        let rows = rows(scan.table)?;
        let count = |call: &AggregateCall| Expr::constant(Value::Int(rows.into()), call.ty);
        let (columns, row) = (node.aggregates.iter())
            .map(|(id, call)| (*id, count(call)))
            .unzip();
        let rows = vec![row];
        Some(Operator::Values(Values { columns, rows }))
    }
}

impl Plan {
    /// Calls a function with every scan, those of queries of a [`Write`] as well.
    pub fn for_each_scan(&self, visit: &mut dyn FnMut(&Scan)) {
        self.trees().for_each(|tree| tree.for_each_scan(visit));
    }
}

impl Aggregate {
    /// Groups of an operator's rows.
    pub fn above(
        input: Operator,
        groups: Vec<(ColumnId, Expr)>,
        aggregates: Vec<(ColumnId, AggregateCall)>,
    ) -> Operator {
        Operator::Aggregate(Aggregate {
            input: Box::new(input),
            groups,
            aggregates,
        })
    }
}

impl Map {
    /// Computed columns above an operator, if there are any.
    pub fn above(input: Operator, expressions: Vec<(ColumnId, Expr)>) -> Operator {
        if expressions.is_empty() {
            return input;
        }
        let input = Box::new(input);
        Operator::Map(Map { input, expressions })
    }
}

impl Values {
    /// No rows.
    pub fn nothing(columns: Vec<ColumnId>) -> Operator {
        let rows = vec![];
        Operator::Values(Values { columns, rows })
    }
}

impl SubqueryTree for Operator {
    fn columns_made(&self) -> BTreeSet<ColumnId> {
        node::columns_made(self)
    }

    fn columns_read(&self) -> BTreeSet<ColumnId> {
        node::columns_read(self)
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        find_nullable(self, pass);
    }

    fn copied(&self) -> Box<dyn SubqueryTree> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn SubqueryTree) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref() == Some(self)
    }
}

/// No other type than [`Operator`] is a [`SubqueryTree`].
const ONLY_OPERATORS: &str = "the tree of a subquery that is not an operator";

impl Subquery {
    /// A subquery of the rows of `root`, with its result columns.
    pub fn new(kind: SubqueryKind, root: Operator, columns: Vec<ColumnId>) -> Subquery {
        Subquery {
            kind,
            tree: Box::new(root),
            columns,
        }
    }

    /// Its rows.
    pub fn root(&self) -> &Operator {
        let tree: &dyn Any = &*self.tree;
        tree.downcast_ref()
            .unwrap_or_else(|| unreachable!("{ONLY_OPERATORS}"))
    }

    /// Its rows, to be changed.
    pub fn root_mut(&mut self) -> &mut Operator {
        let tree: &mut dyn Any = &mut *self.tree;
        tree.downcast_mut()
            .unwrap_or_else(|| unreachable!("{ONLY_OPERATORS}"))
    }

    /// What is asked of its rows, and its rows.
    pub fn into_parts(self) -> (SubqueryKind, Operator) {
        let tree: Box<dyn Any> = self.tree;
        match tree.downcast::<Operator>() {
            Ok(root) => (self.kind, *root),
            Err(_) => unreachable!("{ONLY_OPERATORS}"),
        }
    }
}
