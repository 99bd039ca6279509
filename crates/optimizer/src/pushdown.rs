//! Filters pushed down to where their columns are made, join conditions taken apart, outer joins made
//! inner where NULLs cannot survive.
//!
//! An expression that can fail never moves below a join or an aggregation: those rows might not reach it.
//! Each stays a filter of its own, above those that cannot fail.

use crate::can_fail::may_fail;
use crate::series_range;
use crate::simplify::{self, any_of, is_bool};
use frazil_plan::operators::{
    Aggregate, Expand, Filter, GroupingSets, Join, Map, Sort, UnionAll, Values, Window,
};
use frazil_plan::{
    ColumnId, Columns, Expr, ExprKind, JoinKind, Operator, Plan, RowCount, ScalarFunction, bounds,
};
use frazil_types::{CompareOp, LogicalType, NativeType, Span, Value};
use std::collections::HashMap;

/// Pushes the filters of a plan down.
pub fn plan(plan: &mut Plan) {
    let (trees, columns) = plan.trees_mut();
    for tree in trees {
        let whole = take(tree);
        *tree = push(whole, Vec::new(), columns);
    }
}

/// Takes an operator out of its place; what is left there is never run.
pub fn take(op: &mut Operator) -> Operator {
    std::mem::replace(op, Values::nothing(vec![]))
}

/// Whether an operator is known to give no rows.
fn is_nothing(op: &Operator) -> bool {
    matches!(op, Operator::Values(Values { rows, .. }) if rows.is_empty())
}

/// Filters that one list of predicates becomes at most: passes over a plan call themselves for each.
const MAX_FILTERS: usize = 64;

/// Puts predicates on top of an operator: first those that cannot fail, then each of the others as a
/// filter of its own. Where there are too many for that, a filter tests several, one after the other.
pub fn place(op: Operator, predicates: Vec<Expr>, columns: &Columns) -> Operator {
    if predicates
        .iter()
        .any(|p| is_bool(p, false) || matches!(p.kind, ExprKind::Constant(Value::Null)))
    {
        return Values::nothing(op.visible());
    }
    let (late, safe): (Vec<Expr>, Vec<Expr>) = predicates
        .into_iter()
        .filter(|p| !is_bool(p, true))
        .partition(|p| may_fail(p, columns));
    let filter = |input: Operator, predicate: Expr| {
        Operator::Filter(Filter {
            input: Box::new(input),
            predicate,
        })
    };
    let op = match Expr::conjunction(safe) {
        Some(predicate) => filter(op, predicate),
        None => op,
    };
    let each = late.len().div_ceil(MAX_FILTERS).max(1);
    let mut late = late.into_iter();
    std::iter::from_fn(|| Expr::conjunction(late.by_ref().take(each).collect())).fold(op, filter)
}

/// Whether an expression reads nothing but these columns, and at least one.
fn reads_only(e: &Expr, visible: &[ColumnId]) -> bool {
    let read = e.columns_read();
    !read.is_empty() && read.iter().all(|id| visible.contains(id))
}

/// An operator with predicates on top, pushed as far down as they may go.
pub fn push(op: Operator, mut predicates: Vec<Expr>, columns: &Columns) -> Operator {
    match op {
        Operator::Filter(Filter { input, predicate }) => {
            let mut own = predicate.into_conjuncts();
            own.append(&mut predicates);
            push(*input, own, columns)
        }
        Operator::Map(Map { input, expressions }) => push_map(*input, expressions, predicates, columns),
        Operator::Join(_) => push_join(normalized(op), predicates, columns),
        Operator::Aggregate(Aggregate {
            input,
            groups,
            aggregates,
        }) => {
            let (below, above) = of_groups(predicates, &groups, columns);
            let input = Box::new(push(*input, below, columns));
            let op = Operator::Aggregate(Aggregate {
                input,
                groups,
                aggregates,
            });
            place(op, above, columns)
        }
        Operator::GroupingSets(sets) => push_sets(sets, predicates, columns),
        Operator::Sort(Sort {
            input,
            keys,
            limit: None,
            offset: RowCount::Constant(0),
        }) => Operator::Sort(Sort {
            input: Box::new(push(*input, predicates, columns)),
            keys,
            limit: None,
            offset: RowCount::Constant(0),
        }),
        Operator::Window(window) => push_window(window, predicates, columns),
        Operator::Expand(expand) => push_expand(expand, predicates, columns),
        Operator::UnionAll(UnionAll {
            inputs,
            columns: made,
        }) => push_union(inputs, made, predicates, columns),
        // What they give may change if rows go before, or there is nothing below them.
        mut other @ (Operator::Scan(_)
        | Operator::Values(_)
        | Operator::Given(_)
        | Operator::DependentJoin(_)
        | Operator::Sort(_)
        | Operator::TopPerGroup(_)
        | Operator::Limit(_)
        | Operator::Shared(_)
        | Operator::Recursion(_)
        | Operator::Turn(_)
        | Operator::Write(_)) => {
            for input in other.inputs_mut() {
                let whole = take(input);
                *input = push(whole, Vec::new(), columns);
            }
            place(other, predicates, columns)
        }
    }
}

/// Below functions that give rows goes what does not read what they give; a range of a series becomes its ends.
fn push_expand(expand: Expand, predicates: Vec<Expr>, columns: &Columns) -> Operator {
    let Expand { input, mut expansion } = expand;
    let own = input.visible();
    let goes = |e: &Expr| reads_only(e, &own) && !may_fail(e, columns);
    let (below, above): (Vec<Expr>, Vec<Expr>) = predicates.into_iter().partition(goes);
    let mut left = Vec::new();
    for predicate in above {
        match series_range::narrowed(&expansion, &predicate) {
            Some(narrowed) => expansion = narrowed,
            None => left.push(predicate),
        }
    }
    let input = Box::new(push(*input, below, columns));
    place(Operator::Expand(Expand { input, expansion }), left, columns)
}

/// Predicates on groups, as ones on the rows that are grouped, and all others.
fn of_groups<'a>(
    predicates: Vec<Expr>,
    groups: impl IntoIterator<Item = &'a (ColumnId, Expr)>,
    columns: &Columns,
) -> (Vec<Expr>, Vec<Expr>) {
    let (mut below, mut above) = (Vec::new(), Vec::new());
    let groups: Vec<&(ColumnId, Expr)> = groups.into_iter().collect();
    let ids: Vec<ColumnId> = groups.iter().map(|g| g.0).collect();
    let definitions = Definitions::new(groups);
    let lowered = |e: &Expr| {
        let lowered = definitions.substituted_if_short(e);
        lowered.filter(|e| !may_fail(e, columns))
    };
    for predicate in predicates {
        match lowered(&predicate).filter(|_| reads_only(&predicate, &ids)) {
            Some(lowered) => below.push(lowered),
            None => {
                below.extend(implied(&predicate, &ids, columns).and_then(|e| lowered(&e)));
                above.push(predicate);
            }
        }
    }
    (below, above)
}

/// Below grouping sets goes what reads groups of all of them.
fn push_sets(mut sets: GroupingSets, predicates: Vec<Expr>, columns: &Columns) -> Operator {
    let in_all = sets.in_all().map(|at| &sets.all.groups[at]);
    let (below, above) = of_groups(predicates, in_all, columns);
    let input = take(&mut sets.all.input);
    *sets.all.input = push(input, below, columns);
    place(Operator::GroupingSets(sets), above, columns)
}

/// Below a window goes what whole partitions satisfy or not.
fn push_window(window: Window, predicates: Vec<Expr>, columns: &Columns) -> Operator {
    let goes = |e: &Expr| reads_only(e, &window.partition) && !may_fail(e, columns);
    let (mut below, above): (Vec<Expr>, Vec<Expr>) = predicates.into_iter().partition(goes);
    below.extend(
        above
            .iter()
            .filter_map(|e| implied(e, &window.partition, columns)),
    );
    let wanted = above.iter().filter_map(|e| greatest_rank(e, &window));
    let op = Operator::Window(Window {
        most: wanted.chain(window.most).min_by_key(|m| m.1),
        input: Box::new(push(*window.input, below, columns)),
        ..window
    });
    place(op, above, columns)
}

/// The greatest rank that satisfies a predicate, if it is one on a rank that a window makes.
fn greatest_rank(e: &Expr, window: &Window) -> Option<(ColumnId, u64)> {
    let ExprKind::Compare(op, l, r) = &e.kind else {
        return None;
    };
    let (op, column, constant) = match (&l.kind, &r.kind) {
        (ExprKind::Column(id), ExprKind::Constant(Value::Int(n))) => (*op, *id, *n),
        (ExprKind::Constant(Value::Int(n)), ExprKind::Column(id)) => (op.flip(), *id, *n),
        _ => return None,
    };
    let found = window.calls.iter().find(|c| c.0 == column)?;
    let most = match op {
        CompareOp::Eq | CompareOp::Le => constant,
        CompareOp::Lt => constant.checked_sub(1)?,
        CompareOp::Ne | CompareOp::Gt | CompareOp::Ge => return None,
    };
    (found.1.function.is_rank()).then(|| (column, u64::try_from(most.max(0)).unwrap_or(u64::MAX)))
}

/// Parts of an expression that takes the place of a shorter one, at most. Conditions of people have fewer, and a condition
/// that doubles with each query it passes stops after a few of them.
const MOST_PARTS: usize = 100;

/// What columns are computed from. A definition may read columns defined before it.
pub struct Definitions<'a>(HashMap<ColumnId, Definition<'a>>);

/// What a column is computed from.
struct Definition<'a> {
    e: &'a Expr,
    /// Parts of the expression once columns in it are replaced by their definitions.
    parts: usize,
}

impl<'a> Definitions<'a> {
    /// Of these columns.
    pub fn new(definitions: impl IntoIterator<Item = &'a (ColumnId, Expr)>) -> Definitions<'a> {
        let mut known = Definitions(HashMap::new());
        for (id, e) in definitions {
            let parts = known.parts(e);
            known.0.insert(*id, Definition { e, parts });
        }
        known
    }

    /// The definition of a column.
    fn of(&self, id: ColumnId) -> Option<&'a Expr> {
        self.0.get(&id).map(|definition| definition.e)
    }

    /// Parts that an expression has once columns in it are replaced.
    fn parts(&self, e: &Expr) -> usize {
        let mut parts = 0usize;
        e.walk(&mut |part| {
            let defined = part.as_column().and_then(|id| self.0.get(&id));
            parts = parts.saturating_add(defined.map_or(1, |definition| definition.parts));
        });
        parts
    }

    /// Whether an expression becomes long where columns in it are replaced: what is copied into each reader may double
    /// from query to query.
    pub fn makes_long(&self, e: &Expr) -> bool {
        let parts = self.parts(e);
        let grows = || {
            let mut before = 0;
            e.walk(&mut |_| before += 1);
            parts > before
        };
        parts > MOST_PARTS && grows()
    }

    /// An expression with columns replaced by what they are computed from; `None` if that makes it long.
    fn substituted_if_short(&self, e: &Expr) -> Option<Expr> {
        (!self.makes_long(e)).then(|| self.substituted(e))
    }

    /// An expression with columns replaced by what they are computed from.
    pub fn substituted(&self, e: &Expr) -> Expr {
        let mut out = e.clone();
        out.replace_columns(&|id| self.of(id).map(|definition| self.substituted(definition)));
        out
    }
}

fn push_map(
    input: Operator,
    expressions: Vec<(ColumnId, Expr)>,
    predicates: Vec<Expr>,
    columns: &Columns,
) -> Operator {
    let over_scan = matches!(input, Operator::Scan(_));
    let (mut below, mut above) = (Vec::new(), Vec::new());
    let definitions = Definitions::new(&expressions);
    for predicate in predicates {
        let read = predicate.columns_read();
        let read: Vec<&Expr> = read.into_iter().filter_map(|id| definitions.of(id)).collect();
        let renamed = (read.iter()).all(|e| matches!(e.kind, ExprKind::Column(_) | ExprKind::Constant(_)));
        // Over a scan nothing is gained by computing a value twice.
        let worth = renamed || !over_scan;
        let mut lowered = definitions.substituted_if_short(&predicate);
        if read.iter().any(|e| matches!(e.kind, ExprKind::Constant(_))) {
            (lowered.iter_mut()).for_each(|e| simplify::expression(e, columns));
        }
        match lowered.filter(|e| read.is_empty() || worth && !may_fail(e, columns)) {
            Some(lowered) => below.push(lowered),
            None => above.push(predicate),
        }
    }
    let input = Box::new(push(input, below, columns));
    let is_empty = is_nothing(&input);
    let op = Operator::Map(Map { input, expressions });
    match is_empty {
        true => Values::nothing(op.visible()),
        false => place(op, above, columns),
    }
}

fn push_union(
    inputs: Vec<(Operator, Vec<ColumnId>)>,
    made: Vec<ColumnId>,
    predicates: Vec<Expr>,
    columns: &Columns,
) -> Operator {
    let (above, below): (Vec<Expr>, Vec<Expr>) = predicates
        .into_iter()
        .partition(|p| may_fail(p, columns) || p.columns_read().is_empty());
    let inputs: Vec<_> = inputs
        .into_iter()
        .map(|(input, from)| {
            let names: Vec<(ColumnId, Expr)> = made
                .iter()
                .zip(&from)
                .map(|(m, f)| (*m, Expr::column(*f, columns)))
                .collect();
            let names = Definitions::new(&names);
            let own = below.iter().map(|p| names.substituted(p)).collect();
            (push(input, own, columns), from)
        })
        .filter(|(input, _)| !is_nothing(input))
        .collect();
    if inputs.is_empty() {
        return Values::nothing(made);
    }
    place(
        Operator::UnionAll(UnionAll {
            inputs,
            columns: made,
        }),
        above,
        columns,
    )
}

/// A join that keeps its left side is turned so that this side is the probe; which side is built is
/// decided by estimates later.
pub fn normalized(mut op: Operator) -> Operator {
    let Operator::Join(join) = &mut op else {
        return op;
    };
    join.kind = match join.kind {
        JoinKind::BuildOuter => JoinKind::ProbeOuter,
        JoinKind::BuildSemi => JoinKind::ProbeSemi,
        JoinKind::BuildAnti => JoinKind::ProbeAnti,
        JoinKind::Inner
        | JoinKind::ProbeOuter
        | JoinKind::FullOuter
        | JoinKind::ProbeSemi
        | JoinKind::ProbeAnti
        | JoinKind::ProbeMark(_) => return op,
    };
    std::mem::swap(&mut join.build, &mut join.probe);
    join.keys.iter_mut().for_each(|(b, p)| std::mem::swap(b, p));
    op
}

/// The parts of a join while predicates are sorted to its sides.
struct Sides {
    build: Vec<ColumnId>,
    probe: Vec<ColumnId>,
    to_build: Vec<Expr>,
    to_probe: Vec<Expr>,
    keys: Vec<(Expr, Expr)>,
    residual: Vec<Expr>,
    above: Vec<Expr>,
}

fn push_join(op: Operator, predicates: Vec<Expr>, columns: &Columns) -> Operator {
    let Operator::Join(Join {
        mut kind,
        build,
        probe,
        keys,
        residual,
        mut null_aware,
        in_order: _,
        first: _,
    }) = op
    else {
        return op;
    };
    let mut sides = Sides {
        build: build.visible(),
        probe: probe.visible(),
        to_build: vec![],
        to_probe: vec![],
        keys,
        residual: vec![],
        above: vec![],
    };
    if kind == JoinKind::ProbeOuter && predicates.iter().any(|p| rejects_null(p, &sides.build)) {
        kind = JoinKind::Inner;
    }
    // NOT IN without NULLs on either side is a plain anti join.
    null_aware &= sides.keys.iter().any(|(b, p)| b.nullable || p.nullable);
    let conditions = residual.map_or(vec![], Expr::into_conjuncts);
    match kind {
        JoinKind::Inner => sides.inner(conditions, predicates, columns),
        JoinKind::FullOuter => {
            for p in conditions {
                match sides.as_keys(&p).filter(|_| !may_fail(&p, columns)) {
                    Some(keys) => sides.keys.extend(keys),
                    None => sides.residual.push(p),
                }
            }
            sides.keys_that_may_fail(kind);
            sides.above = predicates;
        }
        _ => {
            sides.conditions(kind, null_aware, conditions, columns);
            for p in predicates {
                if reads_only(&p, &sides.probe) && !may_fail(&p, columns) {
                    if !null_aware {
                        sides.to_build.extend(sides.of_partners(&p, columns));
                    }
                    sides.to_probe.push(p);
                } else {
                    sides.to_probe.extend(implied(&p, &sides.probe, columns));
                    sides.above.push(p);
                }
            }
        }
    }
    null_aware &= matches!(kind, JoinKind::ProbeAnti | JoinKind::ProbeMark(_));
    let op = Operator::Join(Join {
        kind,
        build: Box::new(push(*build, sides.to_build, columns)),
        probe: Box::new(push(*probe, sides.to_probe, columns)),
        keys: sides.keys,
        residual: Expr::conjunction(sides.residual),
        null_aware,
        in_order: false,
        first: None,
    });
    place(op, sides.above, columns)
}

impl Sides {
    /// An inner join: conditions and filters are one set of conjuncts.
    fn inner(&mut self, conditions: Vec<Expr>, predicates: Vec<Expr>, columns: &Columns) {
        let (late, safe): (Vec<Expr>, Vec<Expr>) = conditions
            .into_iter()
            .chain(predicates)
            .partition(|p| may_fail(p, columns));
        self.above = late;
        for p in safe {
            if reads_only(&p, &self.build) {
                self.to_build.push(p);
            } else if reads_only(&p, &self.probe) {
                self.to_probe.push(p);
            } else if let Some(keys) = self.as_keys(&p) {
                self.keys.extend(keys);
            } else {
                self.to_build.extend(implied(&p, &self.build, columns));
                self.to_probe.extend(implied(&p, &self.probe, columns));
                self.residual.push(p);
            }
        }
    }

    /// `build expression = probe expression`, or null-safe equality, as keys.
    fn as_keys(&self, p: &Expr) -> Option<Vec<(Expr, Expr)>> {
        let (l, r, nulls) = match &p.kind {
            ExprKind::Compare(CompareOp::Eq, l, r) => (l, r, false),
            ExprKind::Distinct {
                left,
                right,
                negated: true,
            } => (left, right, left.nullable && right.nullable),
            _ => return None,
        };
        let (build, probe) = if reads_only(l, &self.build) && reads_only(r, &self.probe) {
            (l, r)
        } else if reads_only(r, &self.build) && reads_only(l, &self.probe) {
            (r, l)
        } else {
            return None;
        };
        let (build, probe) = same_native((**build).clone(), (**probe).clone());
        match nulls {
            false => Some(vec![(build, probe)]),
            true => null_safe_keys(build, probe),
        }
    }

    /// What a comparison of a key with constants says of the build side: rows whose key does not satisfy it are
    /// partners of none that do.
    fn of_partners(&self, p: &Expr, columns: &Columns) -> Option<Expr> {
        let compared = match &p.kind {
            ExprKind::Compare(_, l, r) if r.columns_read().is_empty() => l,
            ExprKind::InList { value, .. } => value,
            _ => return None,
        };
        let (build, key) = self.keys.iter().find(|(_, probe)| probe.kind == compared.kind)?;
        let ExprKind::Column(key_id) = key.kind else {
            return None;
        };
        let mut of_build = p.clone();
        of_build.replace_columns(&|id| (id == key_id).then(|| build.clone()));
        (build.ty == key.ty && !may_fail(&of_build, columns)).then_some(of_build)
    }

    /// The join's own conditions, where one side is kept.
    fn conditions(&mut self, kind: JoinKind, null_aware: bool, conditions: Vec<Expr>, columns: &Columns) {
        for p in conditions {
            if null_aware || may_fail(&p, columns) {
                self.residual.push(p);
            } else if reads_only(&p, &self.build) {
                self.to_build.push(p);
            } else if kind == JoinKind::ProbeSemi && reads_only(&p, &self.probe) {
                self.to_probe.push(p);
            } else if let Some(keys) = self.as_keys(&p) {
                self.keys.extend(keys);
            } else {
                self.to_build.extend(implied(&p, &self.build, columns));
                self.residual.push(p);
            }
        }
        // A mark is of an expression, which is not asked for where there is nothing to compare with.
        if !null_aware && !matches!(kind, JoinKind::ProbeMark(_)) {
            self.keys_that_may_fail(kind);
        }
    }

    /// Makes keys of equalities that may fail, where there is no other key: pairs of all rows would take far longer than
    /// the keys of each side, and the same rows fail. Of a semi or anti join only those that come first: the conditions
    /// of a subquery come before the one around it, which must not see the rows that they drop.
    fn keys_that_may_fail(&mut self, kind: JoinKind) {
        if !self.keys.is_empty() {
            return;
        }
        let is_ordered = matches!(kind, JoinKind::ProbeSemi | JoinKind::ProbeAnti);
        for p in std::mem::take(&mut self.residual) {
            match self
                .as_keys(&p)
                .filter(|_| !is_ordered || self.residual.is_empty())
            {
                Some(keys) => self.keys.extend(keys),
                None => self.residual.push(p),
            }
        }
    }
}

/// Equality for which NULL equals NULL, as two equalities of what is never NULL: whether a value is NULL, and the value
/// with one of its type in place of NULL.
fn null_safe_keys(build: Expr, probe: Expr) -> Option<Vec<(Expr, Expr)>> {
    let filler = match build.ty.native() {
        NativeType::Bool => Value::Bool(false),
        NativeType::F64 => Value::Double(0.0),
        NativeType::String if build.ty.is_binary() => Value::Bytes(Vec::new()),
        NativeType::String => Value::Text(String::new()),
        _ if build.ty.scale().is_some() || bounds::of_type(build.ty).is_some() => Value::Int(0),
        _ => return None,
    };
    let is_null = |e: &Expr| Expr::boolean(ExprKind::IsNull(Box::new(e.clone())), false);
    let filled = |e: Expr| {
        let ty = e.ty;
        let kind = ExprKind::Case {
            branches: vec![(is_null(&e), Expr::constant(filler.clone(), ty))],
            otherwise: Some(Box::new(e)),
        };
        Expr::new(kind, ty, false)
    };
    let nulls = (is_null(&build), is_null(&probe));
    Some(vec![(filled(build), filled(probe)), nulls])
}

/// Two keys in one native form: of decimals of different width the narrower is cast.
pub fn same_native(a: Expr, b: Expr) -> (Expr, Expr) {
    let widen = |e: Expr, ty: LogicalType| Expr {
        nullable: e.nullable,
        kind: ExprKind::Cast(Box::new(e)),
        ty,
        span: Span::NONE,
    };
    match (a.ty.decimal_digits(), b.ty.decimal_digits()) {
        (Some((p, _)), Some((q, _))) if a.ty.native() != b.ty.native() => {
            let (a_ty, b_ty) = (a.ty, b.ty);
            if p < q {
                (widen(a, b_ty), b)
            } else {
                (a, widen(b, a_ty))
            }
        }
        _ => (a, b),
    }
}

/// Whether a predicate cannot be true when all these columns are NULL.
pub fn rejects_null(p: &Expr, side: &[ColumnId]) -> bool {
    /// NULL if any column of the side it reads is.
    fn is_strict(e: &Expr, side: &[ColumnId]) -> bool {
        match &e.kind {
            ExprKind::Column(id) => side.contains(id),
            ExprKind::Arithmetic(_, l, r) => is_strict(l, side) || is_strict(r, side),
            ExprKind::Negate(v) | ExprKind::Cast(v) | ExprKind::Extract(_, v) => is_strict(v, side),
            ExprKind::AddInterval(v, _) => is_strict(v, side),
            ExprKind::Function(f, list) => {
                *f != ScalarFunction::Single && list.iter().any(|e| is_strict(e, side))
            }
            _ => false,
        }
    }
    match &p.kind {
        ExprKind::Compare(_, l, r) => is_strict(l, side) || is_strict(r, side),
        ExprKind::Function(ScalarFunction::Compare(_), _) => is_strict(p, side),
        ExprKind::Like { value, .. } | ExprKind::InList { value, .. } => is_strict(value, side),
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::IsNull(v) => is_strict(v, side),
            _ => false,
        },
        ExprKind::Or(list) => list.iter().all(|e| rejects_null(e, side)),
        ExprKind::And(list) => list.iter().any(|e| rejects_null(e, side)),
        _ => false,
    }
}

/// What a disjunction over several relations says of these columns alone: (a1 and b1) or (a2 and b2)
/// implies a1 or a2 (TPC-H 7 and 19).
pub fn implied(p: &Expr, side: &[ColumnId], columns: &Columns) -> Option<Expr> {
    let ExprKind::Or(branches) = &p.kind else {
        return None;
    };
    let mut parts = Vec::new();
    for branch in branches {
        let own: Vec<Expr> = branch
            .clone()
            .into_conjuncts()
            .into_iter()
            .filter(|c| reads_only(c, side) && !may_fail(c, columns))
            .collect();
        parts.push(Expr::conjunction(own)?);
    }
    let mut out = any_of(parts);
    simplify::expression(&mut out, columns);
    (out.ty.is_condition() && !is_bool(&out, true)).then_some(out)
}
