//! Splits filters over scans into restrictions, which storage evaluates on codes, and the rest
//! (Data Blocks, section 3.4).
//!
//! A restriction is true exactly where the conjunct it replaces is true: rows whose value is NULL
//! satisfy neither. The same holds of a disjunction whose alternatives are conjunctions of what could be
//! restrictions: it goes to storage as a whole, any other stays a filter. What a disjunction says of each
//! of several columns alone becomes a restriction beside it, which is quicker to test and rules out more.

use crate::can_fail::may_fail;
use crate::key_lookups;
use crate::pushdown::{place, take};
use crate::simplify::is_bool;
use frazil_plan::each_once::each_once;
use frazil_plan::operators::{Filter, Scan, ScanRestrictionKind};
use frazil_plan::verify::comparable;
use frazil_plan::{
    ColumnId, Columns, Expr, ExprKind, Operator, Plan, ScanDisjunction, ScanRestriction, Statistics, bounds,
};
use frazil_types::{CompareOp, LogicalType, Value};

/// `x NOT IN (…)` of up to so many values becomes as many restrictions.
const MAX_NOT_IN: usize = 4;

/// Splits the filters of a plan.
pub fn plan(plan: &mut Plan) {
    split_those(plan, &|_, _, _| true);
}

/// Splits the filters over scans of which a unique index finds the only row. Such a scan becomes a lookup, however
/// scans evaluate predicates.
pub fn plan_lookups(plan: &mut Plan, statistics: &dyn Statistics) {
    split_those(plan, &|scan, predicate, columns| {
        let made: Vec<ColumnId> = scan.columns.iter().map(|c| c.0).collect();
        let mut split = Split::default();
        split.conjuncts(predicate.clone().into_conjuncts(), &made, columns);
        let mut restrictions = Vec::new();
        split.finish(&mut restrictions, columns);
        key_lookups::finds_row(scan.table, &scan.columns, &restrictions, statistics)
    });
}

/// Decides by a scan and the predicate above it if the predicate is split.
type Choice<'c> = &'c dyn Fn(&Scan, &Expr, &Columns) -> bool;

fn split_those(plan: &mut Plan, is_chosen: Choice<'_>) {
    let (trees, columns) = plan.trees_mut();
    for tree in trees {
        operator(tree, columns, is_chosen);
    }
}

fn operator(op: &mut Operator, columns: &Columns, is_chosen: Choice<'_>) {
    if let Operator::Filter(Filter { input, predicate }) = op
        && let Operator::Scan(scan) = &mut **input
        && is_chosen(scan, predicate, columns)
    {
        let Scan {
            columns: made,
            row_id,
            restrictions,
            disjunctions,
            places,
            ..
        } = scan;
        let made: Vec<ColumnId> = made.iter().map(|c| c.0).collect();
        let whole = std::mem::replace(predicate, Expr::unknown());
        let conjuncts = whole.into_conjuncts();
        places.extend(row_id.iter().flat_map(|id| places_in(&conjuncts, *id, columns)));
        let mut split = Split::default();
        split.conjuncts(conjuncts, &made, columns);
        split.implications(&made, columns);
        split.disjunctions(&made, columns);
        let rest = split.finish(restrictions, columns);
        disjunctions.append(&mut split.disjunctions);
        let scan = take(input);
        *op = place(scan, rest, columns);
        return;
    }
    (op.inputs_mut().into_iter()).for_each(|input| operator(input, columns, is_chosen));
}

/// Conditions of conjuncts on the row id: values that it is equal to, and ends of ranges.
fn places_in(conjuncts: &[Expr], row_id: ColumnId, columns: &Columns) -> Vec<ScanRestriction> {
    let says = |restriction: &ScanRestriction| match &restriction.kind {
        ScanRestrictionKind::Compare(op, _) => *op != CompareOp::Ne,
        ScanRestrictionKind::Between(..) | ScanRestrictionKind::In(_) => true,
        ScanRestrictionKind::IsNull
        | ScanRestrictionKind::IsNotNull
        | ScanRestrictionKind::Prefix(_)
        | ScanRestrictionKind::Like { .. } => false,
    };
    let found = conjuncts
        .iter()
        .filter_map(|e| restriction(e, &[row_id], columns));
    found.flatten().filter(says).collect()
}

/// A filter that is taken apart.
#[derive(Default)]
pub struct Split {
    /// Restrictions that hold together.
    pub restrictions: Vec<ScanRestriction>,
    ranges: Vec<Range>,
    /// Disjunctions of restrictions.
    pub disjunctions: Vec<ScanDisjunction>,
    /// Predicates that a scan cannot test.
    pub rest: Vec<Expr>,
}

/// Takes a predicate on the columns `made` of a scan apart.
pub fn split(predicate: &Expr, made: &[ColumnId], columns: &Columns) -> Split {
    let mut split = Split::default();
    split.conjuncts(predicate.clone().into_conjuncts(), made, columns);
    split.disjunctions(made, columns);
    let mut restrictions = Vec::new();
    split.rest = split.finish(&mut restrictions, columns);
    split.restrictions = restrictions;
    split
}

impl Split {
    /// Takes in what can be a restriction; the others are the rest.
    fn conjuncts(&mut self, conjuncts: Vec<Expr>, made: &[ColumnId], columns: &Columns) {
        for conjunct in conjuncts.into_iter().flat_map(without_never) {
            if let Some((column, op, value)) = integer_bound(&conjunct, made)
                && range_of(&mut self.ranges, column).narrow(op, value)
            {
                continue;
            }
            match restriction(&conjunct, made, columns) {
                Some(mut found) => self.restrictions.append(&mut found),
                None => self.rest.push(conjunct),
            }
        }
    }

    /// Takes in what disjunctions of the rest say of single columns. Where one speaks of a single column, it
    /// is that column's restriction itself if it can be one.
    fn implications(&mut self, made: &[ColumnId], columns: &Columns) {
        for conjunct in self.rest.iter().filter(|e| is_disjunction(e)) {
            let read = conjunct.columns_read();
            if may_fail(conjunct, columns)
                || read.len() == 1 && disjunction(conjunct, made, columns).is_some()
            {
                continue;
            }
            for id in read.into_iter().filter(|id| made.contains(id)) {
                match domain(conjunct, id) {
                    Some(Domain::List(list)) => self.restrictions.push(ScanRestriction {
                        column: id,
                        kind: ScanRestrictionKind::In(list),
                    }),
                    Some(Domain::Range(low, high)) => {
                        let range = range_of(&mut self.ranges, id);
                        range.low = max_some(range.low, low);
                        range.high = min_some(range.high, high);
                    }
                    None => {}
                }
            }
        }
    }

    /// Moves disjunctions of what could be restrictions out of the rest.
    fn disjunctions(&mut self, made: &[ColumnId], columns: &Columns) {
        for conjunct in std::mem::take(&mut self.rest) {
            match disjunction(&conjunct, made, columns) {
                Some(found) => self.disjunctions.push(found),
                None => self.rest.push(conjunct),
            }
        }
    }

    /// Appends all restrictions and gives the rest.
    fn finish(&mut self, restrictions: &mut Vec<ScanRestriction>, columns: &Columns) -> Vec<Expr> {
        restrictions.append(&mut self.restrictions);
        let mut rest = std::mem::take(&mut self.rest);
        for range in std::mem::take(&mut self.ranges) {
            match range.kind(columns[range.column].ty) {
                Some(kind) => restrictions.push(ScanRestriction {
                    column: range.column,
                    kind,
                }),
                None => rest.push(Expr::truth(false)),
            }
        }
        rest
    }
}

/// The conjuncts of a predicate without alternatives of a disjunction that are true of no row: `x in (1, null)` is true where `x = 1`
/// is.
fn without_never(mut conjunct: Expr) -> Vec<Expr> {
    if let ExprKind::Or(list) = &mut conjunct.kind {
        let never = |e: &Expr| matches!(e.kind, ExprKind::Constant(Value::Null)) || is_bool(e, false);
        list.retain(|alternative| !never(alternative));
        if list.len() == 1 {
            return list.remove(0).into_conjuncts();
        }
        if list.is_empty() {
            return vec![Expr::truth(false)];
        }
    }
    vec![conjunct]
}

/// A disjunction as restrictions; `None` if a part of it cannot be one.
fn disjunction(e: &Expr, made: &[ColumnId], columns: &Columns) -> Option<ScanDisjunction> {
    let ExprKind::Or(list) = &e.kind else {
        return None;
    };
    let mut alternatives = Vec::with_capacity(list.len());
    for alternative in list {
        let mut split = Split::default();
        split.conjuncts(alternative.clone().into_conjuncts(), made, columns);
        let mut restrictions = Vec::new();
        match &split.finish(&mut restrictions, columns)[..] {
            [] if !restrictions.is_empty() => alternatives.push(restrictions),
            // No value is in the range asked for.
            [never] if is_bool(never, false) => {}
            _ => return None,
        }
    }
    (alternatives.len() > 1).then_some(ScanDisjunction { alternatives })
}

/// The range gathered for a column.
fn range_of(ranges: &mut Vec<Range>, column: ColumnId) -> &mut Range {
    let at = ranges
        .iter()
        .position(|r| r.column == column)
        .unwrap_or(ranges.len());
    if at == ranges.len() {
        ranges.push(Range::of(column));
    }
    &mut ranges[at]
}

fn is_disjunction(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Or(_))
}

/// Bounds of one column gathered from several conjuncts.
struct Range {
    column: ColumnId,
    low: Option<i128>,
    high: Option<i128>,
}

impl Range {
    fn of(column: ColumnId) -> Range {
        Range {
            column,
            low: None,
            high: None,
        }
    }

    /// Takes a comparison in; not if its bound is at the very end of the integers.
    fn narrow(&mut self, op: CompareOp, v: i128) -> bool {
        let (low, high) = match op {
            CompareOp::Ge => (Some(v), None),
            CompareOp::Gt => (v.checked_add(1), None),
            CompareOp::Le => (None, Some(v)),
            CompareOp::Lt => (None, v.checked_sub(1)),
            _ => (None, None),
        };
        self.low = max_some(self.low, low);
        self.high = min_some(self.high, high);
        low.is_some() || high.is_some()
    }

    /// The restriction; `None` if no value is in the range.
    fn kind(&self, ty: LogicalType) -> Option<ScanRestrictionKind> {
        let limits = bounds::of_type(ty)?;
        let constant = |v: i128| Expr::constant(Value::Int(v), ty);
        let low = self.low.filter(|v| *v > limits.min);
        let high = self.high.filter(|v| *v < limits.max);
        match (low, high) {
            (Some(low), Some(high)) if low > high => None,
            (Some(low), _) if low > limits.max => None,
            (_, Some(high)) if high < limits.min => None,
            (Some(low), Some(high)) if low == high => {
                Some(ScanRestrictionKind::Compare(CompareOp::Eq, constant(low)))
            }
            (Some(low), Some(high)) => Some(ScanRestrictionKind::Between(constant(low), constant(high))),
            (Some(low), None) => Some(ScanRestrictionKind::Compare(CompareOp::Ge, constant(low))),
            (None, Some(high)) => Some(ScanRestrictionKind::Compare(CompareOp::Le, constant(high))),
            (None, None) => Some(ScanRestrictionKind::IsNotNull),
        }
    }
}

fn max_some(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    a.max(b)
}

fn min_some(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn scanned(e: &Expr, made: &[ColumnId]) -> Option<ColumnId> {
    e.as_column().filter(|id| made.contains(id))
}

/// `column < constant` and its like, of an integer-like column.
fn integer_bound(e: &Expr, made: &[ColumnId]) -> Option<(ColumnId, CompareOp, i128)> {
    let ExprKind::Compare(op, l, r) = &e.kind else {
        return None;
    };
    let ordered = !matches!(op, CompareOp::Eq | CompareOp::Ne);
    let Some(Value::Int(v)) = r.as_constant() else {
        return None;
    };
    let is_bound = ordered && bounds::of_type(l.ty).is_some();
    is_bound.then_some((scanned(l, made)?, *op, *v))
}

/// The restrictions that together say what a conjunct says.
fn restriction(e: &Expr, made: &[ColumnId], columns: &Columns) -> Option<Vec<ScanRestriction>> {
    let on = |column: ColumnId, kind: ScanRestrictionKind| Some(vec![ScanRestriction { column, kind }]);
    match &e.kind {
        ExprKind::Compare(op, l, r) => match (scanned(l, made), scanned(r, made)) {
            (Some(column), _) if is_operand(r, columns[column].ty) => {
                on(column, ScanRestrictionKind::Compare(*op, (**r).clone()))
            }
            (_, Some(column)) if is_operand(l, columns[column].ty) => {
                on(column, ScanRestrictionKind::Compare(op.flip(), (**l).clone()))
            }
            _ => None,
        },
        ExprKind::InList {
            value,
            list,
            negated: false,
        } => on(scanned(value, made)?, ScanRestrictionKind::In(list.clone())),
        ExprKind::InList { value, list, .. } if list.len() <= MAX_NOT_IN => {
            let column = scanned(value, made)?;
            let ty = columns[column].ty;
            let differs = |v: &Value| ScanRestriction {
                column,
                kind: ScanRestrictionKind::Compare(CompareOp::Ne, Expr::constant(v.clone(), ty)),
            };
            Some(list.iter().map(differs).collect())
        }
        ExprKind::IsNull(v) => on(scanned(v, made)?, ScanRestrictionKind::IsNull),
        ExprKind::Not(inner) => {
            let ExprKind::IsNull(v) = &inner.kind else {
                return None;
            };
            on(scanned(v, made)?, ScanRestrictionKind::IsNotNull)
        }
        ExprKind::Like {
            value,
            pattern,
            escape,
            negated,
        } => {
            let column = scanned(value, made)?;
            let is_text = columns[column].ty.is_text();
            is_text
                .then(|| on(column, like(pattern, *escape, *negated)?))
                .flatten()
        }
        _ => None,
    }
}

/// Whether an expression can be an operand of a restriction on a column of type `ty`: a value known when the
/// pipeline opens, in the column's own form. (Values of a wider decimal may not fit the column.)
fn is_operand(e: &Expr, ty: LogicalType) -> bool {
    let same_form = e.ty.native() == ty.native() && comparable(e.ty, ty);
    match &e.kind {
        ExprKind::Constant(Value::Int(v)) => {
            comparable(e.ty, ty) && bounds::of_type(ty).is_some_and(|b| b.min <= *v && *v <= b.max)
        }
        ExprKind::Constant(v) => !v.is_null() && same_form && !ty.is_span(),
        ExprKind::Parameter(_) | ExprKind::ScalarSubquery(_) => same_form,
        _ => false,
    }
}

/// The restriction of a LIKE; `None` for a pattern that only the runtime judges, such as one that ends in
/// its escape character.
fn like(pattern: &str, escape: Option<char>, negated: bool) -> Option<ScanRestrictionKind> {
    let mut rewritten = String::new();
    let mut literal = String::new();
    let mut wildcards = 0;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            let escaped = chars.next()?;
            literal.push(escaped);
            if matches!(escaped, '%' | '_' | '\\') {
                rewritten.push('\\');
            }
            rewritten.push(escaped);
        } else {
            match c {
                '%' | '_' => wildcards += 1,
                '\\' => {
                    rewritten.push('\\');
                    literal.push(c);
                }
                _ => literal.push(c),
            }
            rewritten.push(c);
        }
    }
    let prefix = wildcards == 1 && rewritten.ends_with('%') && !rewritten.ends_with("\\%");
    Some(match (wildcards, negated) {
        (1, false) if prefix => ScanRestrictionKind::Prefix(literal),
        _ => ScanRestrictionKind::Like {
            pattern: rewritten,
            negated,
        },
    })
}

/// Values a column can have where a predicate is true.
enum Domain {
    List(Vec<Value>),
    Range(Option<i128>, Option<i128>),
}

/// What a predicate implies for one column.
fn domain(e: &Expr, column: ColumnId) -> Option<Domain> {
    let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(id) if id == column);
    match &e.kind {
        ExprKind::And(list) => list.iter().filter_map(|e| domain(e, column)).reduce(intersection),
        ExprKind::Or(list) => {
            let all: Option<Vec<Domain>> = list.iter().map(|e| domain(e, column)).collect();
            match union(all?)? {
                Domain::Range(None, None) => None,
                some => Some(some),
            }
        }
        ExprKind::Compare(op, l, r) if is_column(l) => match (&r.kind, op) {
            (ExprKind::Constant(v), CompareOp::Eq) if !v.is_null() => Some(Domain::List(vec![v.clone()])),
            (ExprKind::Constant(Value::Int(v)), _) if *op != CompareOp::Ne => {
                let mut range = Range::of(column);
                range
                    .narrow(*op, *v)
                    .then_some(Domain::Range(range.low, range.high))
            }
            _ => None,
        },
        ExprKind::InList {
            value,
            list,
            negated: false,
        } if is_column(value) => Some(Domain::List(list.clone())),
        _ => None,
    }
}

fn intersection(a: Domain, b: Domain) -> Domain {
    match (a, b) {
        (Domain::Range(l, h), Domain::Range(m, i)) => Domain::Range(max_some(l, m), min_some(h, i)),
        (list @ Domain::List(_), _) | (_, list) => list,
    }
}

/// Values that any of some domains has, or a range around them; `None` where there is none.
fn union(domains: Vec<Domain>) -> Option<Domain> {
    if domains.iter().all(|d| matches!(d, Domain::List(_))) {
        let lists = domains.into_iter().filter_map(|d| match d {
            Domain::List(list) => Some(list),
            Domain::Range(..) => None,
        });
        return Some(Domain::List(each_once(lists.flatten().collect())));
    }
    let mut ranges = domains.iter().map(range_around);
    let first = ranges.next()??;
    let (low, high) = ranges.try_fold(first, |(low, high), next| {
        let (l, h) = next?;
        let low = low.zip(l).map(|(a, b)| a.min(b));
        Some((low, high.zip(h).map(|(a, b)| a.max(b))))
    })?;
    Some(Domain::Range(low, high))
}

/// The least and the greatest value, where there are such; `None` for what has no order of integers.
fn range_around(domain: &Domain) -> Option<(Option<i128>, Option<i128>)> {
    match domain {
        Domain::Range(low, high) => Some((*low, *high)),
        Domain::List(list) => {
            let int = |v: &Value| match v {
                Value::Int(v) => Some(*v),
                _ => None,
            };
            let values: Vec<i128> = list.iter().map(int).collect::<Option<_>>()?;
            Some((values.iter().min().copied(), values.iter().max().copied()))
        }
    }
}
