//! Subqueries and dependent joins become joins without outer references.
//!
//! From the inside out: a subquery's own subqueries go first, then it is joined with the rows around it. What an
//! expression asked of it becomes a column of that join:
//!
//! - EXISTS, IN, ANY as a conjunct of a filter: semi join; negated: anti join, which asks that the condition is false;
//! - ANY with `<`, `<=`, `>` or `>=`, and so ALL, by one value of all rows, or of each group: [`extreme`];
//! - the same anywhere else: mark join, whose column stands for the predicate; where the condition may be unknown, one
//!   mark for true and one for unknown;
//! - a scalar subquery: outer join on groups, each with one row. Aggregates of no rows are put in where no group
//!   matches (count: 0). What gives several rows is aggregated too: the value and how many there are, so that error
//!   21000 is raised where the value is read, and nowhere else. An uncorrelated one is computed once for the plan, and
//!   [`checks`] raise its error.
//!
//! [`lift`] finds the simple correlations, [`domain`] serves all others. The result is as naive as what was bound:
//! join conditions are residuals until predicates are pushed down.

mod cheap;
mod checks;
mod domain;
mod extreme;
mod gate;
mod lift;
mod numbers;
mod parts;
mod places;
mod recursion;
mod scalar;
mod site;

pub use cheap::is_cheap;

use crate::can_fail::may_fail;
use crate::limits;
use crate::pushdown::take;
use crate::rename;
use crate::value_bounds;
use crate::volatile::is_volatile;
use frazil_plan::operators::{Aggregate, DependentJoin, Filter, Join, Limit, Map, Sort};
use frazil_plan::subquery::has_subquery;
use frazil_plan::{
    ColumnId, Columns, Expr, ExprKind, Grid, JoinKind, Operator, Plan, RowCount, Statistics, Subquery,
    SubqueryKind, free_columns,
};
use frazil_types::{Cancel, CompareOp, Error, Result, SqlState, Value};
use lift::Wanted;
use site::{Outer, Site};

/// Conditions that subqueries of a plan may stand behind, all together. A subquery in the last part of OR, CASE or
/// COALESCE is computed for rows that pass all parts before it: each part is copied into those behind it, unless the
/// optimizer can fold them.
const MOST_GUARDS: usize = 100_000;

/// Columns that unnesting may add to a plan, of about 300 bytes each. Each subquery that reads outer columns copies the
/// values of those before it, so that a list of about 550 subqueries reaches this number.
const MOST_ADDED: usize = 400_000;

/// Unnests all subqueries of a plan.
pub fn plan(plan: &mut Plan, statistics: &dyn Statistics, cancel: &Cancel) -> Result<()> {
    if !plan.trees().any(concerns) {
        return Ok(());
    }
    // What columns hold tells which expressions cannot fail.
    if plan.trees().any(is_nested) {
        value_bounds::propagate(plan, statistics, Grid::Exact);
    }
    let (mut shared, mut moved) = (Vec::new(), Vec::new());
    let mut subqueries = std::mem::take(&mut plan.subqueries);
    let bound = subqueries.len();
    let most_columns = plan.columns.len() + MOST_ADDED;
    let mut unnesting = Unnesting {
        columns: &mut plan.columns,
        subqueries: &mut subqueries,
        shared: &mut shared,
        shared_may_fail: Vec::new(),
        is_nested: false,
        guards: 0,
        most_columns,
        cancel,
    };
    // What a tree comes to share goes in front of it.
    for mut tree in std::mem::take(&mut plan.shared) {
        rename::move_shared(&mut tree, &moved);
        let tree = unnesting.nested_tree(tree)?;
        moved.push(unnesting.share(tree));
    }
    for i in 0..bound {
        let mut tree = take(&mut unnesting.subqueries[i].0);
        rename::move_shared(&mut tree, &moved);
        let tree = unnesting.tree(tree)?;
        unnesting.subqueries[i].0 = tree;
    }
    rename::move_shared(&mut plan.root, &moved);
    cancel.check()?;
    let root = unnesting.tree(take(&mut plan.root))?;
    plan.root = root;
    plan.shared = shared;
    plan.subqueries = subqueries;
    Ok(())
}

/// Whether a tree has a subquery in an expression, or a join whose one side depends on the other.
fn is_nested(op: &Operator) -> bool {
    matches!(op, Operator::DependentJoin(_))
        || op.expressions().into_iter().any(has_subquery)
        || op.inputs().into_iter().any(is_nested)
}

/// Whether a tree has something that this pass rewrites: what is nested, or numbers of rows.
fn concerns(op: &Operator) -> bool {
    matches!(
        op,
        Operator::DependentJoin(_) | Operator::Sort(_) | Operator::Limit(_)
    ) || op.expressions().into_iter().any(has_subquery)
        || op.inputs().into_iter().any(concerns)
}

/// What is rewritten.
struct Unnesting<'a> {
    columns: &'a mut Columns,
    subqueries: &'a mut Vec<(Operator, ColumnId)>,
    shared: &'a mut Vec<Operator>,
    /// Whether something in shared subplan `i` may fail.
    shared_may_fail: Vec<bool>,
    /// True inside a subquery: it may never be evaluated, so nothing that can fail may be computed early.
    is_nested: bool,
    /// Conditions that subqueries stand behind, of all so far.
    guards: usize,
    /// Columns that the plan may have.
    most_columns: usize,
    cancel: &'a Cancel,
}

/// A subquery's rows in a form that a join takes: conditions tie them to the outer rows.
struct Tied {
    op: Operator,
    conjuncts: Vec<Expr>,
}

/// Whether a predicate stands as it is or below NOT.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plain,
    Negated,
}

impl Unnesting<'_> {
    /// A tree without subqueries and dependent joins.
    fn tree(&mut self, op: Operator) -> Result<Operator> {
        let mut op = self.filtered_before(limits::unless_unasked(op));
        let depends = matches!(op, Operator::DependentJoin(_));
        for input in op.inputs_mut() {
            let tree = match depends {
                true => self.nested_tree(take(input))?,
                false => self.tree(take(input))?,
            };
            *input = tree;
        }
        // What is constant cannot fail: it does not keep conditions from being lifted.
        op.expressions_mut().into_iter().for_each(fold_constants);
        self.cancel.check()?;
        if let Operator::DependentJoin(_) = op {
            return self.lateral(op);
        }
        if matches!(op, Operator::Sort(_) | Operator::Limit(_)) {
            return self.operator(op);
        }
        if !op.expressions().into_iter().any(has_subquery) {
            return Ok(op);
        }
        self.operator(op)
    }

    /// [`Self::tree`] for what is computed only if a row asks.
    fn nested_tree(&mut self, op: Operator) -> Result<Operator> {
        let was_nested = std::mem::replace(&mut self.is_nested, true);
        let tree = self.tree(op);
        self.is_nested = was_nested;
        // Who asked looks through all of it.
        self.cancel.check()?;
        tree
    }

    /// Conditions on the outer rows of a dependent join are asked before it: what may fail in it is computed for rows
    /// that pass them.
    fn filtered_before(&self, op: Operator) -> Operator {
        let Operator::Filter(Filter { input, predicate }) = op else {
            return op;
        };
        let input = *input;
        let Operator::DependentJoin(DependentJoin {
            outer,
            inner,
            condition,
            keep_outer,
        }) = input
        else {
            let input = Box::new(input);
            return Operator::Filter(Filter { input, predicate });
        };
        let visible = outer.visible();
        let of_outer = |e: &Expr| {
            !has_subquery(e)
                && !may_fail(e, self.columns)
                && e.columns_read().iter().all(|id| visible.contains(id))
        };
        let (before, after) = predicate.into_conjuncts().into_iter().partition(of_outer);
        let join = Operator::DependentJoin(DependentJoin {
            outer: Box::new(filtered(*outer, before)),
            inner,
            condition,
            keep_outer,
        });
        filtered(join, after)
    }

    fn lateral(&mut self, op: Operator) -> Result<Operator> {
        let Operator::DependentJoin(DependentJoin {
            outer,
            inner,
            condition,
            keep_outer,
        }) = op
        else {
            return Err(Error::internal("not a dependent join"));
        };
        let (mut outer, mut inner) = (*outer, *inner);
        if lift::is_expansion(&inner) && !condition.as_ref().is_some_and(has_subquery) {
            if !keep_outer {
                return Ok(lift::expanded_inner(outer, inner, condition));
            }
            match self.keeping_expansion(outer, inner, condition.as_ref()) {
                Ok(op) => return Ok(op),
                Err(back) => (outer, inner) = back,
            }
        }
        let kind = match keep_outer {
            true => JoinKind::ProbeOuter,
            false => JoinKind::Inner,
        };
        let Tied {
            op: inner,
            mut conjuncts,
        } = self.tied(Outer::all(&mut outer), inner, Wanted::Rows)?;
        conjuncts.extend(condition.into_iter().flat_map(Expr::into_conjuncts));
        let op = join(kind, inner, outer, conjuncts);
        match op.expressions().into_iter().any(has_subquery) {
            true => self.operator(op),
            false => Ok(op),
        }
    }

    /// Rows of a tree without references to `outer`. What may fail in it is computed only if `outer` has a row that
    /// passes its guards.
    fn tied(&mut self, mut outer: Outer, mut inner: Operator, wanted: Wanted) -> Result<Tied> {
        self.cancel.check()?;
        let free = free_columns(&inner);
        let depends = outer.op.visible().iter().any(|c| free.contains(c));
        let safe = !self.tree_may_fail(&inner) || outer.guards.is_empty() && outer.op.surely_has_a_row();
        if !depends && (safe || self.checked_apart(&outer, &mut inner)?) {
            return Ok(Tied {
                op: inner,
                conjuncts: vec![],
            });
        }
        if depends
            && !is_volatile(&inner)
            && let Some(lifted) = lift::lift(&inner, wanted, self.columns)
            && (safe || !self.tree_may_fail(&lifted.op))
        {
            return Ok(Tied {
                op: lifted.op,
                conjuncts: lifted.conjuncts,
            });
        }
        let domain = self.domain(&mut outer, &inner);
        let keys = domain.keys.clone();
        let dependent = self.for_domain(inner, domain)?;
        let conjuncts = (keys.iter())
            .map(|outer| {
                let (made, outer) = (
                    Expr::column(dependent.names[outer], self.columns),
                    Expr::column(*outer, self.columns),
                );
                same(made, outer)
            })
            .collect();
        Ok(Tied {
            op: dependent.op,
            conjuncts,
        })
    }

    /// Rows for which a conjunct with a subquery in it is true.
    fn conjunct(&mut self, op: Operator, e: Expr) -> Result<Operator> {
        let (mut e, mut sign) = (e, Sign::Plain);
        while let ExprKind::Not(inner) = e.kind {
            e = *inner;
            sign = match sign {
                Sign::Plain => Sign::Negated,
                Sign::Negated => Sign::Plain,
            };
        }
        match e.kind {
            ExprKind::Subquery(subquery) if subquery.kind != SubqueryKind::Scalar => {
                self.semi(op, *subquery, sign)
            }
            ExprKind::And(parts) if sign == Sign::Plain => {
                parts.into_iter().try_fold(op, |op, part| self.conjunct(op, part))
            }
            kind => {
                let e = Expr { kind, ..e };
                let e = if sign == Sign::Negated { not(e) } else { e };
                let mut site = Site::new(op);
                let e = self.expression(&mut site, e)?;
                Ok(filtered(site.op, vec![e]))
            }
        }
    }

    /// A subquery's tree without subqueries, and the condition asked of its rows. A condition that holds subqueries
    /// itself is computed in the tree.
    fn asked(&mut self, subquery: Subquery) -> Result<(Operator, Option<Expr>)> {
        let (kind, mut root) = subquery.into_parts();
        let mut condition = match kind {
            SubqueryKind::Any(condition) => Some(condition),
            SubqueryKind::Scalar | SubqueryKind::Exists => None,
        };
        if let Some(e) = &mut condition
            && has_subquery(e)
        {
            let id = self.columns.add_mark("any", true);
            let computed = std::mem::replace(e, Expr::column(id, self.columns));
            root = mapped(root, vec![(id, computed)]);
        }
        Ok((self.nested_tree(root)?, condition))
    }

    fn semi(&mut self, mut op: Operator, subquery: Subquery, sign: Sign) -> Result<Operator> {
        let (root, condition) = self.asked(subquery)?;
        if condition.is_none() {
            let Some(root) = existing(root) else {
                let kept = matches!(sign, Sign::Plain);
                return Ok(filtered(op, vec![Expr::truth(kept)]));
            };
            return self.exists(op, root, sign);
        }
        let condition = condition.unwrap_or_else(|| Expr::truth(true));
        let (root, condition) = self.as_extreme(root, condition, Some(sign));
        if self.gives_one_row(&root) {
            let mut site = Site::new(op);
            let e = self.of_one_row(&mut site, root, condition)?;
            let e = if sign == Sign::Negated { not(e) } else { e };
            return Ok(filtered(site.op, vec![e]));
        }
        let Tied {
            op: inner,
            mut conjuncts,
        } = self.tied(Outer::all(&mut op), root, Wanted::Existence)?;
        if sign == Sign::Plain {
            conjuncts.extend(condition.into_conjuncts());
            return Ok(join(JoinKind::ProbeSemi, inner, op, conjuncts));
        }
        if conjuncts.is_empty()
            && condition.nullable
            && let Some(key) = null_aware_key(&condition, &inner)
        {
            return Ok(self.null_aware(JoinKind::ProbeAnti, inner, op, key, vec![]));
        }
        conjuncts.push(not_false(condition));
        Ok(join(JoinKind::ProbeAnti, inner, op, conjuncts))
    }

    fn exists(&mut self, mut op: Operator, root: Operator, sign: Sign) -> Result<Operator> {
        let Tied { op: inner, conjuncts } = self.tied(Outer::all(&mut op), root, Wanted::Existence)?;
        let inner = if conjuncts.is_empty() {
            first_row(inner)
        } else {
            inner
        };
        let kind = match sign {
            Sign::Plain => JoinKind::ProbeSemi,
            Sign::Negated => JoinKind::ProbeAnti,
        };
        Ok(join(kind, inner, op, conjuncts))
    }

    /// A subquery in an expression: the expression that stands for it over the site's rows.
    fn value(&mut self, site: &mut Site, subquery: Subquery) -> Result<Expr> {
        self.fold_guards(site);
        self.guards += site.guards.conjuncts().len();
        if self.guards > MOST_GUARDS || self.columns.len() > self.most_columns {
            let message = "the statement has too many subqueries that depend on those before them";
            return Err(Error::new(SqlState::STATEMENT_TOO_COMPLEX, message).with_hint(
                "split it into several statements, or join one subquery that returns all values",
            ));
        }
        let value = if subquery.kind == SubqueryKind::Scalar {
            self.scalar(site, subquery)?
        } else {
            match self.asked(subquery)? {
                (root, None) => self.exists_value(site, root)?,
                (root, Some(condition)) => {
                    let (root, condition) = self.as_extreme(root, condition, None);
                    self.any_value(site, root, condition)?
                }
            }
        };
        site.keep(&value);
        Ok(value)
    }

    fn exists_value(&mut self, site: &mut Site, root: Operator) -> Result<Expr> {
        let Some(root) = existing(root) else {
            return Ok(Expr::truth(true));
        };
        let Tied { op, mut conjuncts } = self.tied(site.outer(), root, Wanted::Existence)?;
        let inner = if conjuncts.is_empty() { first_row(op) } else { op };
        self.guard(&mut conjuncts, &site.guards.conjuncts());
        let mark = self.columns.add_mark("exists", false);
        site.op = join(JoinKind::ProbeMark(mark), inner, take(&mut site.op), conjuncts);
        Ok(Expr::column(mark, self.columns))
    }

    fn any_value(&mut self, site: &mut Site, root: Operator, condition: Expr) -> Result<Expr> {
        if self.gives_one_row(&root) {
            return self.of_one_row(site, root, condition);
        }
        let Tied { op: inner, conjuncts } = self.tied(site.outer(), root, Wanted::Existence)?;
        let outer = take(&mut site.op);
        let mark = self.columns.add_mark("any", condition.nullable);
        let fails = crate::can_fail::may_fail(&condition, self.columns);
        if conjuncts.is_empty()
            && condition.nullable
            && let Some(key) = null_aware_key(&condition, &inner)
        {
            let guards = site.guards.conjuncts();
            site.op = self.null_aware(JoinKind::ProbeMark(mark), inner, outer, key, guards);
        } else {
            let mut conjuncts = conjuncts;
            if fails {
                conjuncts.splice(0..0, site.guards.conjuncts());
            }
            self.guard(&mut conjuncts, &site.guards.conjuncts());
            site.op = self.three_valued(mark, inner, outer, conjuncts, condition);
        }
        Ok(Expr::column(mark, self.columns))
    }

    /// Lets conditions that may fail be asked only where the guards hold.
    fn guard(&self, conjuncts: &mut Vec<Expr>, guards: &[Expr]) {
        if conjuncts
            .iter()
            .any(|e| crate::can_fail::may_fail(e, self.columns))
        {
            conjuncts.splice(0..0, guards.iter().cloned());
        }
    }

    /// A join by a key, inner side first, that may be unknown. A key of the outer side that may fail is computed where
    /// the inner side has a row to compare with and the guards hold.
    fn null_aware(
        &mut self,
        kind: JoinKind,
        mut inner: Operator,
        mut outer: Operator,
        mut key: (Expr, Expr),
        mut guards: Vec<Expr>,
    ) -> Operator {
        if crate::can_fail::may_fail(&key.1, self.columns) {
            let (again, _) = self.second_reading(&mut Outer::all(&mut inner), None);
            let is_some = self.columns.add_mark("some", false);
            outer = join(JoinKind::ProbeMark(is_some), first_row(again), outer, vec![]);
            guards.push(Expr::column(is_some, self.columns));
            let is_asked = Expr::conjunction(guards).unwrap_or_else(|| Expr::truth(true));
            key.1 = case(is_asked, key.1, None);
        }
        Operator::Join(Join {
            kind,
            build: Box::new(inner),
            probe: Box::new(outer),
            keys: vec![key],
            residual: None,
            null_aware: true,
            in_order: false,
            first: None,
        })
    }

    /// Adds to each outer row whether `condition` is true for any inner row with which the conjuncts hold: NULL where
    /// it is true for none and unknown for one.
    fn three_valued(
        &mut self,
        mark: ColumnId,
        mut inner: Operator,
        outer: Operator,
        conjuncts: Vec<Expr>,
        condition: Expr,
    ) -> Operator {
        let with = |e: Expr| conjuncts.iter().cloned().chain([e]).collect::<Vec<_>>();
        if !condition.nullable {
            return join(JoinKind::ProbeMark(mark), inner, outer, with(condition));
        }
        let (again, names) = self.second_reading(&mut Outer::all(&mut inner), None);
        let mut flag = |label: &str| self.columns.add_mark(label, false);
        let (yes, unknown) = (flag("true"), flag("unknown"));
        let unknowns = with(is_null(condition.clone()));
        let unknowns = unknowns.into_iter().map(|e| rename::renamed(e, &names));
        let op = join(JoinKind::ProbeMark(yes), inner, outer, with(condition));
        let op = join(JoinKind::ProbeMark(unknown), again, op, unknowns.collect());
        let null = Expr::unknown();
        let (yes, unknown) = (
            Expr::column(yes, self.columns),
            Expr::column(unknown, self.columns),
        );
        let e = case(
            yes,
            Expr::truth(true),
            Some(case(unknown, null, Some(Expr::truth(false)))),
        );
        mapped(op, vec![(mark, e)])
    }
}

/// Folds the constant parts of an expression, those inside subqueries apart.
fn fold_constants(e: &mut Expr) {
    e.children_mut().into_iter().for_each(fold_constants);
    crate::simplify::fold(e);
}

/// What has a row exactly where the tree has one, but computes less; `None` where there always is a row.
fn existing(op: Operator) -> Option<Operator> {
    if let Operator::Map(Map { input, .. }) = op {
        return existing(*input);
    }
    let keeps_the_first = |limit: &Option<RowCount>, offset: &RowCount| {
        offset.is_zero() && limit.as_ref().is_none_or(at_least_one)
    };
    let is_unlimited = matches!(&op,
        Operator::Sort(Sort { limit, offset, .. }) | Operator::Limit(Limit { limit, offset, .. })
            if keeps_the_first(limit, offset));
    if is_unlimited && let Operator::Sort(Sort { input, .. }) | Operator::Limit(Limit { input, .. }) = op {
        return existing(*input);
    }
    if let Operator::Aggregate(Aggregate { input, groups, .. }) = op {
        return if groups.is_empty() { None } else { existing(*input) };
    }
    Some(op)
}

fn at_least_one(limit: &RowCount) -> bool {
    limit.constant().is_some_and(|n| n > 0)
}

fn first_row(op: Operator) -> Operator {
    Operator::Limit(Limit {
        input: Box::new(op),
        limit: Some(RowCount::Constant(1)),
        offset: RowCount::Constant(0),
    })
}

/// The key, inner side first, of a condition `inner = outer` that may be unknown.
fn null_aware_key(condition: &Expr, inner: &Operator) -> Option<(Expr, Expr)> {
    let ExprKind::Compare(CompareOp::Eq, l, r) = &condition.kind else {
        return None;
    };
    let own = inner.visible();
    let within = |e: &Expr| e.columns_read().iter().all(|c| own.contains(c));
    let without = |e: &Expr| !e.columns_read().iter().any(|c| own.contains(c));
    let (inner, outer) = match (within(l) && without(r), within(r) && without(l)) {
        (true, _) => (l, r),
        (_, true) => (r, l),
        _ => return None,
    };
    let pair = ((**inner).clone(), (**outer).clone());
    Some(crate::pushdown::same_native(pair.0, pair.1))
}

/// A join on a conjunction.
fn join(kind: JoinKind, build: Operator, probe: Operator, conjuncts: Vec<Expr>) -> Operator {
    let conjuncts = conjuncts.into_iter().flat_map(Expr::into_conjuncts).collect();
    Operator::Join(Join {
        kind,
        build: Box::new(build),
        probe: Box::new(probe),
        keys: vec![],
        residual: Expr::conjunction(conjuncts),
        null_aware: false,
        in_order: false,
        first: None,
    })
}

/// A Map above `op`, if there is anything to compute.
fn mapped(op: Operator, expressions: Vec<(ColumnId, Expr)>) -> Operator {
    if expressions.is_empty() {
        return op;
    }
    Operator::Map(Map {
        input: Box::new(op),
        expressions,
    })
}

/// A Filter above `op`, if there is anything to ask.
fn filtered(op: Operator, conjuncts: Vec<Expr>) -> Operator {
    let conjuncts = conjuncts.into_iter().flat_map(Expr::into_conjuncts).collect();
    match Expr::conjunction(conjuncts) {
        Some(predicate) => Operator::Filter(Filter {
            input: Box::new(op),
            predicate,
        }),
        None => op,
    }
}

fn not(e: Expr) -> Expr {
    let nullable = e.nullable;
    Expr::boolean(ExprKind::Not(Box::new(e)), nullable)
}

fn is_null(e: Expr) -> Expr {
    Expr::boolean(ExprKind::IsNull(Box::new(e)), false)
}

fn compare(op: CompareOp, l: Expr, r: Expr) -> Expr {
    let nullable = l.nullable || r.nullable;
    Expr::boolean(ExprKind::Compare(op, Box::new(l), Box::new(r)), nullable)
}

/// Equality for which NULL equals NULL.
fn same(l: Expr, r: Expr) -> Expr {
    let kind = ExprKind::Distinct {
        left: Box::new(l),
        right: Box::new(r),
        negated: true,
    };
    Expr::boolean(kind, false)
}

fn case(condition: Expr, then: Expr, otherwise: Option<Expr>) -> Expr {
    let nullable = then.nullable || otherwise.as_ref().is_none_or(|e| e.nullable);
    let ty = then.ty;
    let kind = ExprKind::Case {
        branches: vec![(condition, then)],
        otherwise: otherwise.map(Box::new),
    };
    Expr::new(kind, ty, nullable)
}

/// True where a condition is true or unknown, false elsewhere.
fn not_false(e: Expr) -> Expr {
    if !e.nullable {
        return e;
    }
    case(not(e), Expr::truth(false), Some(Expr::truth(true)))
}

/// A grouped count where there may be no group.
fn count_or_zero(count: ColumnId, columns: &Columns) -> Expr {
    let e = Expr::column(count, columns);
    let zero = Expr::constant(Value::Int(0), e.ty);
    case(is_null(e.clone()), zero, Some(e))
}
