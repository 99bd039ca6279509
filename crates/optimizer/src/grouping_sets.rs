//! Grouping sets become aggregations whose rows are put together.
//!
//! A set is grouped from the groups of a finer one where all aggregates come from parts of the rows, as rows are many and
//! groups few. The finer groups are a shared subplan, of partial aggregates:
//!
//! ```text
//! rollup (a, b): avg(c)
//! = (a, b, s / n of 0) + (a, null, s / n of 1) + (null, null, s / n of 2)
//!   0: s := sum(c), n := count(c) by a, b of the rows
//!   1: s := sum(s), n := sum(n) by a of 0
//!   2: s := sum(s), n := sum(n) of 1
//! ```
//!
//! Sets of which none is finer than the others are grouped from the rows, or from groups by all their columns if these are
//! few. With other aggregates each set is grouped from the rows, or as [`grouping_distinct`] has it.

use crate::cardinality::Estimator;
use crate::grouping_branches::{Branches, Made, apart};
use crate::grouping_distinct::{self, ROWS_OF_A_GROUP};
use crate::partial_aggregates::{Parts, merged};
use crate::prune;
use crate::pushdown::{self, take};
use crate::rename::{Names, copied, rename_in, renamed};
use crate::shared_trees;
use crate::unnest::is_cheap;
use crate::value_bounds;
use frazil_plan::each_once::Places;
use frazil_plan::operators::{Aggregate, GroupingSets, Map, Shared};
use frazil_plan::{
    AggregateCall, ColumnId, Columns, Expr, ExprKind, Grid, Operator, Plan, SharedId, Statistics,
    nullable_columns,
};
use frazil_types::{Cancel, Result};
use std::collections::BTreeSet;

/// Makes the grouping sets of a plan without subqueries in its expressions aggregations. 57014 once `cancel` is set.
pub fn plan(plan: &mut Plan, statistics: &dyn Statistics, cancel: &Cancel) -> Result<()> {
    if !has_sets(plan) {
        return Ok(());
    }
    // Conditions on columns of all sets go below them while they are one operator. What columns hold tells which cannot fail.
    value_bounds::propagate(plan, statistics, Grid::Exact);
    pushdown::plan(plan);
    let estimator = Estimator::new(plan, statistics);
    shared_trees::rewrite(plan, &mut |tree, columns, shared| {
        let mut pass = Pass {
            columns,
            shared,
            estimator: &estimator,
            cancel,
        };
        pass.tree(tree)
    })?;
    prune::plan(plan);
    nullable_columns::recompute(plan);
    Ok(())
}

/// Whether a plan has grouping sets, in subqueries of its expressions or elsewhere.
pub fn has_sets(plan: &Plan) -> bool {
    fn below(op: &Operator) -> bool {
        matches!(op, Operator::GroupingSets(_))
            || op.inputs().into_iter().any(below)
            || op.expressions().into_iter().any(inside)
    }
    fn inside(e: &Expr) -> bool {
        let mut found = false;
        e.walk(&mut |part| found |= matches!(&part.kind, ExprKind::Subquery(s) if below(s.root())));
        found
    }
    plan.trees().any(below)
}

/// Whether a tree reads the rows of a recursion's turn.
pub fn reads_turns(op: &Operator) -> bool {
    matches!(op, Operator::Turn(_)) || op.inputs().into_iter().any(reads_turns)
}

struct Pass<'a> {
    columns: &'a mut Columns,
    shared: &'a mut Vec<Operator>,
    estimator: &'a Estimator<'a>,
    cancel: &'a Cancel,
}

/// A set, each once.
struct Set {
    groups: Vec<usize>,
    /// The groups as bits: bit `at % 64` of word `at / 64`.
    bits: Vec<u64>,
    /// How often it is asked for.
    times: usize,
    /// The set whose groups it is grouped from; `None`: from the rows.
    from: Option<usize>,
    /// How many sets are grouped from its groups.
    children: usize,
}

impl Set {
    /// Some of so many groups.
    fn new(groups: Vec<usize>, of: usize, times: usize) -> Set {
        let mut bits = vec![0; of.div_ceil(64)];
        groups.iter().for_each(|at| bits[at / 64] |= 1 << (at % 64));
        Set {
            groups,
            bits,
            times,
            from: None,
            children: 0,
        }
    }

    /// Whether all its groups are in another.
    fn is_part(&self, of: &Set) -> bool {
        self.bits.iter().zip(&of.bits).all(|(own, of)| own & !of == 0)
    }
}

/// What the rows of each set are aggregated to, and what becomes of that in the end.
struct Calls {
    /// Over the rows.
    calls: Vec<AggregateCall>,
    /// For each aggregate its parts, and which calls they are; `None` where the calls are the aggregates.
    parts: Option<Vec<(Parts, Vec<usize>)>>,
}

impl Calls {
    /// The calls for aggregates.
    fn of(aggregates: &[(ColumnId, AggregateCall)]) -> Calls {
        let parts: Option<Vec<Parts>> = aggregates.iter().map(|a| Parts::of(&a.1)).collect();
        let Some(parts) = parts else {
            return Calls {
                calls: aggregates.iter().map(|a| a.1.clone()).collect(),
                parts: None,
            };
        };
        let (mut calls, mut places) = (Vec::<AggregateCall>::new(), Places::default());
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            let mut which = Vec::with_capacity(part.calls.len());
            for call in &part.calls {
                let next = calls.len();
                let known = places.find_or_add(call, next, |place| calls[place] == *call);
                which.push(known.unwrap_or_else(|| {
                    calls.push(call.clone());
                    next
                }));
            }
            all.push((part, which));
        }
        Calls {
            calls,
            parts: Some(all),
        }
    }

    /// The aggregates' values of the columns that the calls made.
    fn values(&self, made: &[ColumnId], columns: &Columns) -> Vec<Expr> {
        let column = |at: &usize| Expr::column(made[*at], columns);
        match &self.parts {
            None => made.iter().map(|id| Expr::column(*id, columns)).collect(),
            Some(parts) => (parts.iter())
                .map(|(part, which)| part.value(which.iter().map(column).collect()))
                .collect(),
        }
    }
}

/// The groups of a set, or the rows: a tree, or a shared one.
enum Rows {
    Tree(Option<Operator>),
    Shared(SharedId),
}

/// The groups of a set with the columns in them.
struct Grouped {
    rows: Rows,
    groups: Vec<ColumnId>,
    calls: Vec<ColumnId>,
}

/// The sets of an operator, each once, larger ones first.
fn each_once(sets: &GroupingSets) -> Vec<Set> {
    let mut all: Vec<&Vec<usize>> = sets.sets.iter().collect();
    all.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    let mut order: Vec<Set> = Vec::with_capacity(all.len());
    for groups in all {
        match order.last_mut().filter(|last| last.groups == *groups) {
            Some(last) => last.times += 1,
            None => order.push(Set::new(groups.clone(), sets.all.groups.len(), 1)),
        }
    }
    order
}

/// The rows that are grouped, read for each set that is grouped from them.
enum Readings {
    /// Trees, each with its names of the rows' columns.
    Trees(Vec<(Operator, Names)>),
    /// A shared subplan, and the columns of it that are read.
    Shared(SharedId, Vec<ColumnId>),
}

impl Readings {
    /// Of the input of an aggregation, which is left without it, for the sets that are grouped from it.
    fn of(all: &mut Aggregate, order: &[Set], pass: &mut Pass<'_>) -> Readings {
        let input = take(&mut all.input);
        let times = order.iter().filter(|set| set.from.is_none()).count();
        if times > 1 && !is_cheap(&input) {
            let parts = all.aggregates.iter().flat_map(|a| a.1.expressions());
            let read = all.groups.iter().map(|g| &g.1).chain(parts);
            let read: BTreeSet<ColumnId> = read.flat_map(Expr::columns_read).collect();
            pass.shared.push(input);
            return Readings::Shared(SharedId(pass.shared.len() - 1), read.into_iter().collect());
        }
        let copies = (1..times).map(|_| copied(&input, pass.columns));
        let mut trees: Vec<(Operator, Names)> = copies.collect();
        trees.push((input, Names::new()));
        Readings::Trees(trees)
    }

    /// The next reading, and its names of the rows' columns.
    fn next(&mut self, pass: &mut Pass<'_>) -> (Operator, Names) {
        match self {
            Readings::Trees(trees) => {
                let next = trees.pop();
                next.unwrap_or_else(|| unreachable!("rows that are read more often than they are there"))
            }
            Readings::Shared(id, read) => {
                let columns = pass.anew(read);
                let names = columns.iter().map(|(made, stored)| (*stored, *made)).collect();
                (Operator::Shared(Shared { id: *id, columns }), names)
            }
        }
    }
}

impl Pass<'_> {
    fn tree(&mut self, mut op: Operator) -> Result<Operator> {
        self.cancel.check()?;
        for input in op.inputs_mut() {
            *input = self.tree(take(input))?;
        }
        let Operator::GroupingSets(sets) = op else {
            return Ok(op);
        };
        // A shared subplan has the rows of one turn.
        match reads_turns(&sets.all.input) {
            true => Ok(apart(sets, self.columns)),
            false => self.lowered(sets),
        }
    }

    fn lowered(&mut self, sets: GroupingSets) -> Result<Operator> {
        let (mut sets, after) = grouping_distinct::grouped_first(sets, self.columns, self.estimator);
        let calls = Calls::of(&sets.all.aggregates);
        let rows = self.estimator.rows(&sets.all.input, self.columns);
        let order = match calls.parts {
            Some(_) => self.chained(&sets, rows)?,
            None => each_once(&sets),
        };
        let mut input = Readings::of(&mut sets.all, &order, self);
        let mut branches = Branches::of(&sets);
        let mut known: Vec<Grouped> = Vec::with_capacity(order.len());
        for set in &order {
            self.cancel.check()?;
            let (op, groups, made) = match set.from {
                None => self.of_rows(&set.groups, &sets.all, &calls, &mut input),
                Some(finer) => self.of_groups(set, &order[finer], &mut known[finer], &calls),
            };
            let mut grouped = Grouped {
                groups,
                calls: made,
                rows: match set.children + set.times > 1 {
                    true => {
                        self.shared.push(op);
                        Rows::Shared(SharedId(self.shared.len() - 1))
                    }
                    false => Rows::Tree(Some(op)),
                },
            };
            for _ in 0..set.times {
                let all: Vec<usize> = (0..grouped.groups.len()).collect();
                let (op, groups, made) = self.read(&mut grouped, &all);
                let values = calls.values(&made, self.columns);
                branches.add(op, &set.groups, Made { groups, values }, &sets, self.columns);
            }
            known.push(grouped);
        }
        Ok(Map::above(branches.together(), after))
    }

    /// The sets, finer ones before those that are grouped from them.
    fn chained(&self, sets: &GroupingSets, rows: f64) -> Result<Vec<Set>> {
        let mut order = each_once(sets);
        let groups_of = |set: &[usize]| {
            let groups: Vec<_> = set.iter().map(|at| sets.all.groups[*at].clone()).collect();
            self.estimator.groups(&groups, rows, self.columns)
        };
        let is_finest = |at: &usize| order[..*at].iter().all(|finer| !order[*at].is_part(finer));
        if (0..order.len()).filter(is_finest).count() > 1 {
            let all: Vec<usize> = (0..sets.all.groups.len()).collect();
            if groups_of(&all) * ROWS_OF_A_GROUP <= rows {
                let of = all.len();
                order.insert(0, Set::new(all, of, 0));
            }
        }
        let sizes: Vec<f64> = order.iter().map(|set| groups_of(&set.groups)).collect();
        for at in 1..order.len() {
            self.cancel.check()?;
            let finer = (0..at).filter(|finer| order[at].is_part(&order[*finer]));
            let from = finer.min_by(|a, b| sizes[*a].total_cmp(&sizes[*b]));
            order[at].from = from;
            if let Some(from) = from {
                order[from].children += 1;
            }
        }
        Ok(order)
    }

    /// Groups a set from the rows: the tree, its groups and what the calls made.
    fn of_rows(
        &mut self,
        set: &[usize],
        all: &Aggregate,
        calls: &Calls,
        input: &mut Readings,
    ) -> (Operator, Vec<ColumnId>, Vec<ColumnId>) {
        let (rows, names) = input.next(self);
        let mut groups = Vec::with_capacity(set.len());
        for at in set {
            let (id, e) = &all.groups[*at];
            let made = self
                .columns
                .add(self.columns[*id].label.clone(), e.ty, e.nullable);
            groups.push((made, renamed(e.clone(), &names)));
        }
        let renamed_call = |call: &AggregateCall| {
            let mut call = call.clone();
            call.expressions_mut().for_each(|e| rename_in(e, &names));
            (call.function.name().to_string(), call)
        };
        let made = calls.calls.iter().map(renamed_call).collect();
        self.aggregation(rows, groups, made)
    }

    /// Groups a set from the groups of a finer one: the tree, its groups and what the merged calls made.
    fn of_groups(
        &mut self,
        set: &Set,
        finer: &Set,
        rows: &mut Grouped,
        calls: &Calls,
    ) -> (Operator, Vec<ColumnId>, Vec<ColumnId>) {
        let places = set
            .groups
            .iter()
            .filter_map(|at| finer.groups.binary_search(at).ok());
        let (rows, from, parts) = self.read(rows, &places.collect::<Vec<_>>());
        let mut groups = Vec::with_capacity(from.len());
        for id in from {
            let e = Expr::column(id, self.columns);
            let label = self.columns[id].label.clone();
            groups.push((self.columns.add(label, e.ty, e.nullable), e));
        }
        let pairs = calls.calls.iter().zip(parts);
        let made = pairs.map(|(call, id)| {
            let label = self.columns[id].label.clone();
            (label, merged(call, Expr::column(id, self.columns)))
        });
        let made = made.collect();
        self.aggregation(rows, groups, made)
    }

    fn aggregation(
        &mut self,
        input: Operator,
        groups: Vec<(ColumnId, Expr)>,
        calls: Vec<(String, AggregateCall)>,
    ) -> (Operator, Vec<ColumnId>, Vec<ColumnId>) {
        let mut aggregates = Vec::with_capacity(calls.len());
        for (label, call) in calls {
            let of_all = groups.is_empty() || call.filter.is_some();
            let nullable = of_all || call.argument.as_ref().is_some_and(|e| e.nullable);
            let nullable = nullable && !call.function.counts();
            let id = self.columns.add(label, call.ty, nullable);
            aggregates.push((id, call));
        }
        let made = aggregates.iter().map(|a| a.0).collect();
        let keys = groups.iter().map(|g| g.0).collect();
        (Aggregate::above(input, groups, aggregates), keys, made)
    }

    /// The groups of a set once more: the columns at these places of them, and all that the calls made.
    fn read(&mut self, grouped: &mut Grouped, places: &[usize]) -> (Operator, Vec<ColumnId>, Vec<ColumnId>) {
        let groups: Vec<ColumnId> = places.iter().map(|at| grouped.groups[*at]).collect();
        match &mut grouped.rows {
            Rows::Tree(tree) => {
                let op = tree.as_mut().map(take);
                let op = op.unwrap_or_else(|| unreachable!("groups that are read twice and not shared"));
                (op, groups, grouped.calls.clone())
            }
            Rows::Shared(id) => {
                let id = *id;
                let stored: Vec<ColumnId> = groups.iter().chain(&grouped.calls).copied().collect();
                let columns = self.anew(&stored);
                let made: Vec<ColumnId> = columns.iter().map(|c| c.0).collect();
                let (groups, calls) = made.split_at(groups.len());
                (
                    Operator::Shared(Shared { id, columns }),
                    groups.to_vec(),
                    calls.to_vec(),
                )
            }
        }
    }

    /// New columns beside those of a shared subplan.
    fn anew(&mut self, stored: &[ColumnId]) -> Vec<(ColumnId, ColumnId)> {
        let mut made = Vec::with_capacity(stored.len());
        for id in stored {
            let info = self.columns[*id].clone();
            made.push((self.columns.add(info.label, info.ty, info.nullable), *id));
        }
        made
    }
}
