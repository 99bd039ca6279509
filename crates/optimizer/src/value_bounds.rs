//! Proves bounds of the values in every column, bottom-up from the bounds statistics give for base
//! columns, and bounds on the rows an operator can give. Code for bounded values needs no overflow
//! checks, and sums of them over a bounded number of rows no 128 bits (DESIGN: Exactness).
//!
//! Every bound here is a proof under the plan's assumptions, never an estimate. What is assumed of tables is
//! rounded outward as far as nothing is lost: [`choose_grid`] takes the widest grid under which as much is proved
//! as without rounding.

use frazil_plan::aggregates::Aggregated;
use frazil_plan::assumptions::{Assumption, ceiling_of_rows};
use frazil_plan::bounds::{self, Part};
use frazil_plan::facts::{KnownValues, MostRows};
use frazil_plan::operators::{Scan, Shared};
use frazil_plan::{AggregateCall, Bounds, ColumnId, Columns, Expansion, Expr, ExprKind, Grid};
use frazil_plan::{Operator, Plan, SharedId, Statistics, ValueBounds, WindowCall, WindowFunction};
use frazil_types::{Cancel, NativeType, ObjectId, Result, Value};

/// Numbers of possible keys up to which groups are addressed by an array, always and at all.
const POSSIBLE_GROUPS: [u64; 2] = [1 << 12, 1 << 23];

/// Sets what is known of the values of every column: `bounds`, assumed of base columns on the grid, and `observed`.
/// Where the plan's columns say that proofs are forgotten, it sets `observed` alone.
pub fn propagate(plan: &mut Plan, statistics: &dyn Statistics, grid: Grid) {
    proofs(plan, statistics, grid);
}

/// The widest grid under which as much is proved as by the exact bounds. Sets what is known of the values of every
/// column, as [`propagate`] does on that grid. 57014 once `cancel` is set, which is asked for each grid.
pub fn choose_grid(plan: &mut Plan, statistics: &dyn Statistics, cancel: &Cancel) -> Result<Grid> {
    let most = proofs(plan, statistics, Grid::Exact);
    for grid in Grid::ALL {
        cancel.check()?;
        if proofs(plan, statistics, grid) == most {
            return Ok(grid);
        }
    }
    // Not reached: the last of all grids is the exact one.
    Ok(Grid::Exact)
}

/// Sets what is known of the values of every column on a grid, and counts the things that a proof is good for.
fn proofs(plan: &mut Plan, statistics: &dyn Statistics, grid: Grid) -> usize {
    let shared = plan.shared.len();
    let (trees, columns) = plan.trees_mut();
    let mut pass = Pass {
        columns,
        rows: RowBounds::of_statistics(statistics),
        grid,
        proofs: 0,
    };
    for (i, tree) in trees.enumerate() {
        pass.tree(tree);
        if i < shared {
            let rows = pass.rows.of(tree);
            pass.rows.shared.push(rows);
        }
    }
    pass.proofs
}

/// What the plan relies on: bounds and NOT NULL of the columns it scans, and where it aggregates, the most rows of
/// the tables below.
pub fn assumptions(plan: &Plan, statistics: &dyn Statistics) -> Vec<Assumption> {
    let mut all = Assumptions {
        plan,
        statistics,
        aggregated: vec![false; plan.shared.len()],
        found: Vec::new(),
    };
    plan.unshared_trees()
        .for_each(|tree| all.mark_shared(tree, false));
    // A shared subplan is read by later ones alone: by the time it is looked through, all its readers are.
    for (id, tree) in plan.shared.iter().enumerate().rev() {
        let aggregated = all.aggregated[id];
        all.mark_shared(tree, aggregated);
    }
    for (id, tree) in plan.shared.iter().enumerate() {
        let aggregated = all.aggregated[id];
        all.of_tree(tree, aggregated);
    }
    plan.unshared_trees().for_each(|tree| all.of_tree(tree, false));
    all.found
}

/// What is proved of an expression's values, and what of those that were seen.
type Known = (ValueBounds, Option<Bounds>);

struct Assumptions<'a> {
    plan: &'a Plan,
    statistics: &'a dyn Statistics,
    /// Whether rows of shared subplan `i` are aggregated, in it or by a reader at any distance.
    aggregated: Vec<bool>,
    found: Vec<Assumption>,
}

impl Assumptions<'_> {
    /// Marks the shared subplans of which a tree aggregates rows.
    fn mark_shared(&mut self, op: &Operator, below_aggregate: bool) {
        if let Operator::Shared(Shared { id, .. }) = op {
            self.aggregated[id.0] |= below_aggregate;
        }
        let below = below_aggregate || matches!(op, Operator::Aggregate(_));
        for input in op.inputs() {
            self.mark_shared(input, below);
        }
    }

    fn of_tree(&mut self, op: &Operator, below_aggregate: bool) {
        if let Operator::Scan(Scan { table, columns, .. }) = op {
            self.of_scan(*table, columns);
            if below_aggregate {
                let ceiling = ceiling_of_rows(self.statistics.row_count(*table));
                self.add(Assumption::Rows {
                    table: *table,
                    ceiling,
                });
            }
        }
        let below = below_aggregate || matches!(op, Operator::Aggregate(_));
        for input in op.inputs() {
            self.of_tree(input, below);
        }
    }

    fn of_scan(&mut self, table: ObjectId, columns: &[(ColumnId, usize)]) {
        for &(id, column) in columns {
            let info = &self.plan.columns[id];
            if let Some(bounds) = info.bounds {
                self.add(Assumption::Bounds {
                    table,
                    column,
                    bounds,
                });
            }
            if !info.nullable {
                self.add(Assumption::NotNull { table, column });
            }
        }
    }

    fn add(&mut self, assumption: Assumption) {
        if !self.found.contains(&assumption) {
            self.found.push(assumption);
        }
    }
}

/// How many rows operators give at most, as long as tables stay below their ceilings.
pub struct RowBounds<'a> {
    statistics: &'a dyn Statistics,
    shared: Vec<Option<u64>>,
}

impl<'a> RowBounds<'a> {
    fn of_statistics(statistics: &'a dyn Statistics) -> RowBounds<'a> {
        RowBounds {
            statistics,
            shared: Vec::new(),
        }
    }

    /// For the trees of a plan.
    pub fn new(plan: &Plan, statistics: &'a dyn Statistics) -> RowBounds<'a> {
        let mut bounds = RowBounds::of_statistics(statistics);
        for tree in &plan.shared {
            let rows = bounds.of(tree);
            bounds.shared.push(rows);
        }
        bounds
    }

    /// The most rows an operator can give; `None` if unknown.
    pub fn of(&self, op: &Operator) -> Option<u64> {
        op.node().most_rows(self)
    }
}

impl MostRows<Operator> for RowBounds<'_> {
    fn operator(&self, op: &Operator) -> Option<u64> {
        self.of(op)
    }

    fn table(&self, table: ObjectId) -> u64 {
        ceiling_of_rows(self.statistics.row_count(table))
    }

    fn shared(&self, id: SharedId) -> Option<u64> {
        self.shared.get(id.0).copied().flatten()
    }
}

struct Pass<'a> {
    columns: &'a mut Columns,
    rows: RowBounds<'a>,
    grid: Grid,
    /// Things that a proof is good for: expressions without a check, wide values in 64 bits, groups in an array.
    proofs: usize,
}

impl Pass<'_> {
    fn set(&mut self, id: ColumnId, known: ValueBounds, observed: Option<Bounds>) {
        let proofs = !self.columns.proofs_forgotten();
        let info = &mut self.columns[id];
        info.bounds = known.proved().filter(|_| proofs);
        info.observed = observed;
        let wide = info.ty.native() == NativeType::I128;
        self.proofs += usize::from(wide && info.native() != NativeType::I128);
    }

    /// What is known of an expression. Sets the columns that it makes for itself.
    fn known(&mut self, e: &Expr) -> Known {
        let mut made = Vec::new();
        let mut proofs = 0;
        let known = bounds::each_part(e, self.columns, &mut |part, known| match part {
            Part::Let(column) => made.push((column, known)),
            Part::Expression(part) if matches!(part.kind, ExprKind::Column(_)) => {}
            Part::Expression(_) => {
                proofs += usize::from(known.proved().is_some());
                proofs += usize::from(known.proved().is_some_and(Bounds::fits_i64));
            }
        });
        self.proofs += proofs;
        for (column, known) in made {
            self.set(column, known, None);
        }
        (known, bounds::expected(e, self.columns))
    }

    fn tree(&mut self, op: &Operator) {
        for input in op.inputs() {
            self.tree(input);
        }
        // Before unnesting, what subqueries read of the rows around them is known by now.
        op.expressions().into_iter().for_each(|e| self.subqueries(e));
        op.node().find_bounds(self);
    }

    /// The trees of subqueries in an expression.
    fn subqueries(&mut self, e: &Expr) {
        if let ExprKind::Subquery(subquery) = &e.kind {
            self.tree(subquery.root());
        }
        e.children().into_iter().for_each(|c| self.subqueries(c));
    }
}

impl KnownValues<Operator> for Pass<'_> {
    fn expression(&mut self, e: &Expr) {
        self.known(e);
    }

    fn unknown(&mut self, id: ColumnId) {
        self.set(id, ValueBounds::Unknown, None);
    }

    /// What statistics say of a column holds for its values, of which none is outside its type.
    fn base_column(&mut self, id: ColumnId, table: ObjectId, position: usize) {
        let found = self.rows.statistics.bounds(table, position);
        let ty = bounds::of_type(self.columns[id].ty);
        let within = |b: Bounds| ty.and_then(|ty| b.intersection(ty));
        let known = match found.map(|b| self.grid.around(b)).and_then(within) {
            Some(bounds) => ValueBounds::Proved(bounds),
            None => ValueBounds::Unknown,
        };
        self.set(id, known, found.and_then(within));
    }

    fn computed(&mut self, id: ColumnId, e: &Expr) {
        let (known, observed) = self.known(e);
        self.set(id, known, observed);
    }

    fn any_of(&mut self, id: ColumnId, list: &[&Expr]) {
        let (mut known, mut observed) = (Vec::new(), Vec::new());
        for e in list.iter().filter(|e| !is_null(e)) {
            let (k, o) = self.known(e);
            known.push(k.range());
            observed.push(o);
        }
        let known = ValueBounds::of_exact(union(known.into_iter()), self.columns[id].ty);
        self.set(id, known, union(observed.into_iter()));
    }

    fn same(&mut self, made: ColumnId, from: ColumnId) {
        let from = &self.columns[from];
        let known = from.bounds.map_or(ValueBounds::Unknown, ValueBounds::Proved);
        let observed = from.observed;
        self.set(made, known, observed);
    }

    fn union(&mut self, made: ColumnId, from: &[ColumnId]) {
        let parts = || from.iter().map(|id| &self.columns[*id]);
        let known = union(parts().map(|c| c.bounds.or(bounds::of_type(c.ty))));
        let observed = union(parts().map(|c| c.observed));
        let known = ValueBounds::of_exact(known, self.columns[made].ty);
        self.set(made, known, observed);
    }

    fn expansion(&mut self, expansion: &Expansion) {
        for (id, call) in &expansion.calls {
            let of: Vec<Known> = call.arguments.iter().map(|e| self.known(e)).collect();
            let mut at = of.iter();
            let known = call.bounds(&mut |_| at.next().and_then(|known| known.0.range()));
            let mut at = of.iter();
            let observed = call.bounds(&mut |_| at.next().and_then(|known| known.1));
            let known = ValueBounds::of_exact(known, call.ty);
            self.proofs += usize::from(known.proved().is_some());
            self.set(*id, known, observed);
        }
        if let Some(id) = expansion.ordinality {
            let rows = expansion.rows().and_then(|rows| i64::try_from(rows).ok());
            let rows = rows.map(|rows| Bounds {
                min: 1,
                max: i128::from(rows.max(1)),
            });
            self.set(id, ValueBounds::of_exact(rows, Expansion::NUMBER), rows);
        }
    }

    fn windows(&mut self, input: &Operator, calls: &[(ColumnId, WindowCall)]) {
        let rows = self.rows.of(input);
        for (id, call) in calls {
            let known: Vec<_> = call.expressions().map(|e| (self.known(e), e)).collect();
            let values = |of: &dyn Fn(&Known) -> Option<Bounds>| {
                let list = known.iter().take(call.arguments.len());
                let values = list.enumerate().filter(|(i, (_, e))| *i != 1 && !is_null(e));
                union(values.map(|(_, (known, _))| of(known)))
            };
            let of = |values: Option<Bounds>| match call.function {
                WindowFunction::Aggregate(function) => {
                    let ty = call.arguments.first().map(|e| e.ty);
                    let argument = values.zip(ty);
                    (function.info().bounds)(&Aggregated {
                        argument,
                        rows,
                        ty: call.ty,
                    })
                }
                WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank => {
                    Some(Bounds {
                        min: 1,
                        max: rows.map_or(i64::MAX.into(), |rows| i128::from(rows).clamp(1, i64::MAX.into())),
                    })
                }
                WindowFunction::Lag
                | WindowFunction::Lead
                | WindowFunction::FirstValue
                | WindowFunction::LastValue
                | WindowFunction::NthValue => values,
                WindowFunction::PercentRank | WindowFunction::CumeDist | WindowFunction::Ntile => None,
            };
            let proved = ValueBounds::of_exact(of(values(&|known| known.0.range())), call.ty);
            let observed = of(values(&|known| known.1));
            self.proofs += usize::from(proved.proved().is_some());
            self.set(*id, proved, observed);
        }
    }

    fn aggregate(
        &mut self,
        input: &Operator,
        groups: &[(ColumnId, Expr)],
        aggregates: &[(ColumnId, AggregateCall)],
    ) {
        let mut possible = Some(1u64);
        for (id, e) in groups {
            self.computed(*id, e);
            let width = match e.ty.is_condition() {
                true => Some(2),
                false => self.columns[*id].bounds.and_then(Bounds::width),
            };
            possible = possible
                .zip(width)
                .and_then(|(n, w)| n.checked_mul(w.checked_add(1)?));
        }
        for limit in POSSIBLE_GROUPS {
            self.proofs += usize::from(possible.is_some_and(|n| n <= limit));
        }
        let rows = self.rows.of(input);
        for (id, call) in aggregates {
            let argument = call.argument.as_ref().map(|e| (self.known(e), e.ty));
            for e in call.expressions().skip(usize::from(call.argument.is_some())) {
                self.known(e);
            }
            let bounds = call.function.info().bounds;
            let of = |argument| {
                let exact = bounds(&Aggregated {
                    argument,
                    rows,
                    ty: call.ty,
                });
                ValueBounds::of_exact(exact, call.ty)
            };
            let known = of(argument.and_then(|((known, _), ty)| Some((known.range()?, ty))));
            let observed = of(argument.and_then(|((_, observed), ty)| Some((observed?, ty)))).proved();
            self.proofs += usize::from(known.proved().is_some());
            self.set(*id, known, observed);
        }
    }
}

fn is_null(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Constant(Value::Null))
}

/// The range that holds all ranges; `None` for none, or if any is unknown.
fn union(mut all: impl Iterator<Item = Option<Bounds>>) -> Option<Bounds> {
    let first = all.next()??;
    all.try_fold(first, |a, b| Some(a.union(b?)))
}
