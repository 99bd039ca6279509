//! Boolean logic: negations pushed inward, constants absorbed, common parts of a disjunction pulled out
//! (TPC-H 19), equalities of one value gathered into IN, casts moved from columns to constants so that
//! comparisons become SARGable. All rules hold in Kleene's three-valued logic.

use crate::can_fail::may_fail;
use frazil_plan::each_once::{Places, each_once};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, Operator, Own, Plan, ScalarFunction, value_by_parts};
use frazil_types::date::is_finite;
use frazil_types::value_ops::casts::{self, CastMethod};
use frazil_types::{Cancel, CompareOp, LogicalType, Result, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// Simplifies every expression of a plan. Once `cancel` is set the rest of them stays as it is.
pub fn plan(plan: &mut Plan, cancel: &Cancel) {
    let (trees, columns) = plan.trees_mut();
    let columns = &*columns;
    let expression = &|e: &mut Expr| Pass::new(columns, Some(cancel)).expression(e);
    for tree in trees {
        operator(tree, expression);
    }
}

fn operator(op: &mut Operator, expression: &dyn Fn(&mut Expr)) {
    for input in op.inputs_mut() {
        operator(input, expression);
    }
    // Operands of restrictions and numbers of rows are values already.
    let has_values = matches!(
        op,
        Operator::Scan(_) | Operator::Sort(_) | Operator::TopPerGroup(_) | Operator::Limit(_)
    );
    if !has_values {
        op.expressions_mut().into_iter().for_each(expression);
    }
}

/// Simplifies one expression, its parts first.
pub fn expression(e: &mut Expr, columns: &Columns) {
    Pass::new(columns, None).expression(e);
}

/// A walk over an expression.
struct Pass<'a> {
    columns: &'a Columns,
    /// What stands in for the columns of Lets that are left out: their values are as cheap to read.
    values: HashMap<ColumnId, Expr>,
    cancel: Option<&'a Cancel>,
}

impl<'a> Pass<'a> {
    fn new(columns: &'a Columns, cancel: Option<&'a Cancel>) -> Pass<'a> {
        Pass {
            columns,
            values: HashMap::new(),
            cancel,
        }
    }

    fn expression(&mut self, e: &mut Expr) {
        if self.cancel.is_some_and(Cancel::is_set) {
            return;
        }
        loop {
            match &mut e.kind {
                ExprKind::Column(id) => {
                    if let Some(value) = self.values.get(id) {
                        *e = value.clone();
                    }
                    return;
                }
                ExprKind::Let { column, value, body } => {
                    self.expression(value);
                    if !is_simple(value) {
                        return self.expression(body);
                    }
                    let body = take_box(body);
                    self.values.insert(*column, *take_box(value));
                    *e = *body;
                }
                _ => break,
            }
        }
        for child in e.children_mut() {
            self.expression(child);
        }
        fold(e);
        if let ExprKind::Not(inner) = &mut e.kind {
            if let Some(kind) = negation(inner, self.columns) {
                e.kind = kind;
                // The negated parts of a conjunction may now fold themselves.
                e.children_mut().into_iter().for_each(|c| self.expression(c));
                expression_node(e, self.columns);
            }
        } else {
            expression_node(e, self.columns);
        }
    }
}

/// Replaces an expression of constants by its value, if it has one. Its parts are folded before. What would raise an error is
/// left as it is, so that the error comes at run time and only if the expression is reached.
pub fn fold(e: &mut Expr) {
    if matches!(e.kind, ExprKind::Constant(_)) {
        return;
    }
    if let Ok(Some(value)) = value_by_parts(e, constant) {
        *e = Expr::constant(value, e.ty).at(e.span);
    }
}

/// The constant that an expression is.
fn constant(e: &Expr) -> Result<Option<Cow<'_, Value>>> {
    Ok(e.as_constant().map(Cow::Borrowed))
}

/// Whether an expression is as cheap to read as a column.
fn is_simple(e: &Expr) -> bool {
    matches!(
        e.kind,
        ExprKind::Column(_) | ExprKind::Constant(_) | ExprKind::Parameter(_)
    )
}

fn expression_node(e: &mut Expr, columns: &Columns) {
    match &mut e.kind {
        ExprKind::And(_) => conjunction(e),
        ExprKind::Or(_) => disjunction(e, columns),
        ExprKind::Compare(..) => comparison(e),
        ExprKind::InList { value, list, negated } if list.len() == 1 => {
            let op = if *negated { CompareOp::Ne } else { CompareOp::Eq };
            let only = Expr::constant(list.remove(0), value.ty);
            e.kind = ExprKind::Compare(op, take_box(value), Box::new(only));
        }
        ExprKind::IsNull(v) if !v.nullable && !may_fail(v, columns) => {
            *e = Expr::truth(false);
        }
        ExprKind::Case { branches, .. } if branches.iter().all(|b| is_bool(&b.0, false)) => case(e),
        ExprKind::Case { branches, .. } if branches.first().is_some_and(|b| is_bool(&b.0, true)) => {
            *e = branches.remove(0).1;
        }
        _ => {}
    }
}

/// A CASE none of whose conditions can be true.
fn case(e: &mut Expr) {
    if let ExprKind::Case { otherwise, .. } = &mut e.kind {
        *e = match otherwise.take() {
            Some(result) => *result,
            None => Expr::constant(Value::Null, e.ty),
        };
    }
}

/// Whether an expression is this truth value.
pub fn is_bool(e: &Expr, wanted: bool) -> bool {
    matches!(e.kind, ExprKind::Constant(Value::Bool(b)) if b == wanted)
}

fn take_box(e: &mut Box<Expr>) -> Box<Expr> {
    std::mem::replace(e, Box::new(Expr::truth(true)))
}

/// What NOT of an expression is, if that can be said without NOT.
fn negation(inner: &mut Expr, columns: &Columns) -> Option<ExprKind> {
    let not = |e: Expr| {
        let nullable = e.nullable;
        let mut e = Expr::boolean(ExprKind::Not(Box::new(e)), nullable);
        expression(&mut e, columns);
        e
    };
    match &mut inner.kind {
        ExprKind::Constant(Value::Bool(b)) => Some(ExprKind::Constant(Value::Bool(!*b))),
        ExprKind::Constant(Value::Null) => Some(ExprKind::Constant(Value::Null)),
        ExprKind::Not(e) => Some(std::mem::replace(&mut e.kind, ExprKind::Constant(Value::Null))),
        ExprKind::Compare(op, l, r) => Some(ExprKind::Compare(op.negate(), take_box(l), take_box(r))),
        ExprKind::Function(ScalarFunction::Compare(op), sides) => Some(ExprKind::Function(
            ScalarFunction::Compare(op.negate()),
            std::mem::take(sides),
        )),
        ExprKind::Distinct { left, right, negated } => Some(ExprKind::Distinct {
            left: take_box(left),
            right: take_box(right),
            negated: !*negated,
        }),
        ExprKind::Like {
            value,
            pattern,
            escape,
            negated,
        } => Some(ExprKind::Like {
            value: take_box(value),
            pattern: std::mem::take(pattern),
            escape: *escape,
            negated: !*negated,
        }),
        ExprKind::InList { value, list, negated } => Some(ExprKind::InList {
            value: take_box(value),
            list: std::mem::take(list),
            negated: !*negated,
        }),
        ExprKind::And(list) => Some(ExprKind::Or(list.drain(..).map(not).collect())),
        ExprKind::Or(list) => Some(ExprKind::And(list.drain(..).map(not).collect())),
        _ => None,
    }
}

/// Parts of a conjunction that stay as they are: few `<>` are pushed into scans one by one.
const FEW_PARTS: usize = 16;

fn conjunction(e: &mut Expr) {
    let mut parts = Vec::new();
    for part in std::mem::replace(e, Expr::truth(true)).into_conjuncts() {
        if is_bool(&part, false) {
            *e = Expr::truth(false);
            return;
        }
        if !is_bool(&part, true) {
            parts.push(part);
        }
    }
    let mut parts = each_once(parts);
    if parts.len() > FEW_PARTS {
        parts = gather_tests(parts, Tests::Unequal);
    }
    if let Some(all) = Expr::conjunction(parts) {
        *e = all;
    }
}

/// The parts of nested disjunctions.
fn disjuncts(e: Expr) -> Vec<Expr> {
    if let ExprKind::Or(list) = e.kind {
        list.into_iter().flat_map(disjuncts).collect()
    } else {
        vec![e]
    }
}

/// A disjunction of parts; false for none.
pub fn any_of(mut parts: Vec<Expr>) -> Expr {
    match parts.len() {
        0 => Expr::truth(false),
        1 => parts.remove(0),
        _ => {
            let nullable = parts.iter().any(|p| p.nullable);
            Expr::boolean(ExprKind::Or(parts), nullable)
        }
    }
}

fn disjunction(e: &mut Expr, columns: &Columns) {
    let mut parts: Vec<Expr> = Vec::new();
    for part in disjuncts(std::mem::replace(e, Expr::truth(false))) {
        if is_bool(&part, true) {
            *e = Expr::truth(true);
            return;
        }
        if !is_bool(&part, false) {
            parts.push(part);
        }
    }
    let mut branches: Vec<Vec<Expr>> = gather_tests(each_once(parts), Tests::Equal)
        .into_iter()
        .map(Expr::into_conjuncts)
        .collect();
    // (a and b) or (a and c) = a and (b or c)
    let mut common = Vec::new();
    if branches.len() > 1 {
        let (first, others) = branches.split_at_mut(1);
        first[0].retain(|part| {
            let shared = others.iter().all(|b| b.contains(part)) && !may_fail(part, columns);
            if shared {
                common.push(part.clone());
            }
            !shared
        });
        others
            .iter_mut()
            .for_each(|b| b.retain(|part| !common.contains(part)));
    }
    let rest: Vec<Expr> = branches
        .into_iter()
        .map(|b| Expr::conjunction(b).unwrap_or(Expr::truth(true)))
        .collect();
    if !rest.iter().any(|r| is_bool(r, true)) {
        let rest = if common.is_empty() {
            rest
        } else {
            gather_tests(rest, Tests::Equal)
        };
        common.push(any_of(rest));
    }
    *e = Expr::conjunction(common).unwrap_or(Expr::truth(true));
}

/// Tests of a value with constants that are gathered into one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tests {
    /// `=` and IN, parts of a disjunction.
    Equal,
    /// `<>` and NOT IN, parts of a conjunction.
    Unequal,
}

/// `x = 1 or x in (2, 3)` becomes `x in (1, 2, 3)`, and `x <> 1 and x not in (2, 3)` `x not in (1, 2, 3)`.
fn gather_tests(parts: Vec<Expr>, tests: Tests) -> Vec<Expr> {
    let mut out: Vec<Expr> = Vec::with_capacity(parts.len());
    let mut places = Places::default();
    // Constants that the value tested at a place of `out` is compared with besides.
    let mut more: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for part in parts {
        let next = out.len();
        let earlier = tested_with(&part, tests).and_then(|(value, list)| {
            let is_tested = |at: usize| tested_with(&out[at], tests).is_some_and(|(v, _)| v == value);
            Some((places.find_or_add(value, next, is_tested)?, list))
        });
        match earlier {
            Some((at, list)) => more.entry(at).or_default().extend_from_slice(list),
            None => out.push(part),
        }
    }
    for (at, list) in more {
        out[at] = with_constants(&out[at], list, tests);
    }
    out
}

/// A test of x with constants as x and the constants.
fn tested_with(e: &Expr, tests: Tests) -> Option<(&Expr, &[Value])> {
    let wanted = match tests {
        Tests::Equal => CompareOp::Eq,
        Tests::Unequal => CompareOp::Ne,
    };
    match &e.kind {
        ExprKind::Compare(op, l, r) if *op == wanted => {
            let constant = r.as_constant().filter(|v| !v.is_null())?;
            Some((l, std::slice::from_ref(constant)))
        }
        ExprKind::InList { value, list, negated } if *negated == (tests == Tests::Unequal) => {
            Some((value, list))
        }
        _ => None,
    }
}

/// A test with the constants of another one as well.
fn with_constants(e: &Expr, more: Vec<Value>, tests: Tests) -> Expr {
    let Some((value, list)) = tested_with(e, tests) else {
        return e.clone();
    };
    let kind = ExprKind::InList {
        value: Box::new(value.clone()),
        list: each_once([list, &more].concat()),
        negated: tests == Tests::Unequal,
    };
    Expr::boolean(kind, value.nullable)
}

/// Whether an expression reads a column. Of a chain, whose first part is the chain before, the last part is asked first.
fn reads_columns(e: &Expr) -> bool {
    match e.own() {
        Own::Reads(_) => true,
        Own::Asks(_) => !e.columns_read().is_empty(),
        Own::Makes(_) | Own::Nothing => e.children().into_iter().rev().any(reads_columns),
    }
}

/// Constants to the right; `cast(x) <op> constant` becomes `x <op> constant` where that says the same.
fn comparison(e: &mut Expr) {
    let ExprKind::Compare(op, l, r) = &mut e.kind else {
        return;
    };
    if reads_columns(r) && !reads_columns(l) {
        std::mem::swap(l, r);
        *op = op.flip();
    }
    if let ExprKind::Constant(Value::Null) = r.kind
        && !l.can_fail()
    {
        *e = Expr::unknown();
        return;
    }
    while let (ExprKind::Cast(inner), ExprKind::Constant(Value::Int(v))) = (&mut l.kind, &r.kind) {
        let Some((new_op, new_value)) = uncast(*op, inner.ty, l.ty, *v) else {
            return;
        };
        let ty = inner.ty;
        *op = new_op;
        *l = take_box(inner);
        **r = Expr::constant(Value::Int(new_value), ty);
    }
}

/// The comparison on values of `from` that says what `op` with `v` says on the same values cast to `to`, a
/// type that holds all of them exactly. `None` if there is none.
fn uncast(op: CompareOp, from: LogicalType, to: LogicalType, v: i128) -> Option<(CompareOp, i128)> {
    let factor = casts::factor(from, to)?;
    let (range, wider) = (from.range()?, to.range()?);
    // A date that no timestamp is near is refused by the cast, and compares as it should without it.
    let widens = range
        .1
        .checked_mul(factor)
        .is_some_and(|greatest| greatest <= wider.1);
    let is_midnight = casts::between(from, to)?.method == CastMethod::DaysToMicros;
    if !widens && !is_midnight || is_midnight && !is_finite(i64::try_from(v).ok()?) {
        return None;
    }
    let (quotient, exact) = (v.div_euclid(factor), v.rem_euclid(factor) == 0);
    let (op, value) = match op {
        CompareOp::Eq | CompareOp::Ne if !exact => return None,
        // Values are whole multiples of the factor, so the bound may be rounded towards them.
        CompareOp::Lt | CompareOp::Ge if !exact => (op, quotient + 1),
        _ => (op, quotient),
    };
    (range.0 <= value && value <= range.1).then_some((op, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn uncast_agrees_with_the_cast() {
        let to = LogicalType::Decimal {
            precision: 12,
            scale: 1,
        };
        for op in [
            CompareOp::Eq,
            CompareOp::Ne,
            CompareOp::Lt,
            CompareOp::Le,
            CompareOp::Gt,
            CompareOp::Ge,
        ] {
            for v in -35..35i128 {
                if let Some((new_op, new_v)) = uncast(op, LogicalType::SmallInt, to, v) {
                    for x in -5..5i128 {
                        assert_eq!(
                            op.holds((x * 10).cmp(&v)),
                            new_op.holds(x.cmp(&new_v)),
                            "{op:?} {v} {x}"
                        );
                    }
                }
            }
        }
    }

    /// A predicate over three integer columns in three-valued logic.
    fn predicate() -> impl Strategy<Value = Expr> {
        let leaf = (0u32..3, 0i128..4, 0usize..3, any::<bool>()).prop_map(|(c, v, form, negated)| {
            let column = Expr {
                kind: ExprKind::Column(frazil_plan::ColumnId(c)),
                ty: LogicalType::Integer,
                nullable: true,
                span: frazil_types::Span::NONE,
            };
            let constant = Expr::constant(Value::Int(v), LogicalType::Integer);
            let kind = match form {
                0 => ExprKind::Compare(CompareOp::Eq, Box::new(column), Box::new(constant)),
                1 => ExprKind::Compare(CompareOp::Lt, Box::new(constant), Box::new(column)),
                _ => ExprKind::InList {
                    value: Box::new(column),
                    list: vec![Value::Int(v), Value::Int(v + 1)],
                    negated,
                },
            };
            Expr::boolean(kind, true)
        });
        leaf.prop_recursive(4, 24, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 2..4)
                    .prop_map(|l| Expr::boolean(ExprKind::And(l), true)),
                prop::collection::vec(inner.clone(), 2..4).prop_map(|l| Expr::boolean(ExprKind::Or(l), true)),
                inner.prop_map(|e| Expr::boolean(ExprKind::Not(Box::new(e)), true)),
            ]
        })
    }

    /// The value of a list of which one part that is `decisive` decides, then one that is unknown.
    fn decided(list: &[Expr], row: &[Option<i128>; 3], decisive: bool) -> Option<bool> {
        let parts: Vec<Option<bool>> = list.iter().map(|e| evaluate(e, row)).collect();
        if parts.contains(&Some(decisive)) {
            return Some(decisive);
        }
        (!parts.contains(&None)).then_some(!decisive)
    }

    /// The naive evaluator: true, false or unknown.
    fn evaluate(e: &Expr, row: &[Option<i128>; 3]) -> Option<bool> {
        let int = |e: &Expr| match &e.kind {
            ExprKind::Column(c) => row[c.0 as usize],
            ExprKind::Constant(Value::Int(v)) => Some(*v),
            _ => None,
        };
        match &e.kind {
            ExprKind::Constant(Value::Bool(b)) => Some(*b),
            ExprKind::Compare(op, l, r) => Some(op.holds(int(l)?.cmp(&int(r)?))),
            ExprKind::InList { value, list, negated } => {
                Some(list.contains(&Value::Int(int(value)?)) != *negated)
            }
            ExprKind::Not(e) => evaluate(e, row).map(|b| !b),
            ExprKind::And(list) => decided(list, row, false),
            ExprKind::Or(list) => decided(list, row, true),
            _ => None,
        }
    }

    #[test]
    fn long_conjunctions_of_constants_that_are_not_equal_are_one_test() {
        let mut columns = Columns::default();
        columns.add("a", LogicalType::Integer, true);
        let unequal = |v: i128| {
            let column = Expr::new(
                ExprKind::Column(frazil_plan::ColumnId(0)),
                LogicalType::Integer,
                true,
            );
            let constant = Expr::constant(Value::Int(v), LogicalType::Integer);
            let kind = ExprKind::Compare(CompareOp::Ne, Box::new(column), Box::new(constant));
            Expr::boolean(kind, true)
        };
        let parts = (1..100).chain(50..150).map(unequal);
        let mut e = Expr::conjunction(parts.collect()).expect("there are parts");
        expression(&mut e, &columns);
        let ExprKind::InList { list, negated, .. } = &e.kind else {
            panic!("{e:?}")
        };
        assert!(*negated);
        assert_eq!(*list, (1..150).map(Value::Int).collect::<Vec<_>>());
        for value in [None, Some(0), Some(1), Some(149), Some(150)] {
            let wanted = value.map(|v| !(1..150).contains(&v));
            assert_eq!(evaluate(&e, &[value, None, None]), wanted);
        }
    }

    proptest! {
        #[test]
        fn simplified_predicates_keep_the_same_rows(e in predicate()) {
            let mut columns = Columns::default();
            for name in ["a", "b", "c"] {
                columns.add(name, LogicalType::Integer, true);
            }
            let mut simple = e.clone();
            expression(&mut simple, &columns);
            let values = [None, Some(0), Some(1), Some(3), Some(4)];
            for a in values {
                for b in values {
                    for c in values {
                        let row = [a, b, c];
                        prop_assert_eq!(evaluate(&e, &row), evaluate(&simple, &row));
                    }
                }
            }
        }
    }
}
