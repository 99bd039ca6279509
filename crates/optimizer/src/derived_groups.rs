//! Group keys that follow from other keys of their aggregation: `group by ip, ip - 1`, `group by day, 1`,
//! `group by moment, extract(minute from moment)`.
//!
//! Such a key does not tell groups apart. A map above the aggregation computes it once for each group, so that rows are
//! hashed and compared by the remaining keys alone. The key must be computed from columns that are keys themselves. It
//! must not fail, because fewer rows ask for it above. Equal values of these columns must be one value: 0 and −0 are a
//! single group, but their reciprocals differ.

use crate::can_fail::may_fail;
use crate::volatile::calls_volatile;
use frazil_plan::operators::Aggregate;
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, Plan};

/// Moves keys that follow from others above their aggregation.
pub fn plan(plan: &mut Plan) {
    let (trees, columns) = plan.trees_mut();
    trees.for_each(|tree| tree.rewrite_aggregations(&mut |aggregate| take_derived(aggregate, columns)));
}

/// Takes the keys that follow from others out of an aggregation, as expressions over those that are left. At least one
/// key is left: an aggregation without keys has a group even if it has no rows.
fn take_derived(aggregate: &mut Aggregate, columns: &Columns) -> Vec<(ColumnId, Expr)> {
    let mut known: Vec<(ColumnId, ColumnId)> = vec![];
    for (made, key) in &aggregate.groups {
        if let Some(column) = key.as_column()
            && key.ty.equal_is_same()
            && !known.iter().any(|(of, _)| *of == column)
        {
            known.push((column, *made));
        }
    }
    let mut derived = vec![];
    let mut left = vec![];
    for (made, key) in std::mem::take(&mut aggregate.groups) {
        let tells_apart = known.iter().any(|(_, id)| *id == made);
        match above(&key, &known, columns).filter(|_| !tells_apart) {
            Some(above) => derived.push((made, key, above)),
            None => left.push((made, key)),
        }
    }
    if left.is_empty() && !derived.is_empty() {
        let (made, key, _) = derived.remove(0);
        left.push((made, key));
    }
    aggregate.groups = left;
    derived
        .into_iter()
        .map(|(made, _, above)| (made, above))
        .collect()
}

/// A key as an expression over the groups of `known` columns; `None` if it does not follow from them.
fn above(key: &Expr, known: &[(ColumnId, ColumnId)], columns: &Columns) -> Option<Expr> {
    let group_of = |column: ColumnId| known.iter().find(|(of, _)| *of == column).map(|(_, id)| *id);
    if !key.columns_read().into_iter().all(|id| group_of(id).is_some()) {
        return None;
    }
    let mut asks = false;
    key.walk(&mut |part| asks |= matches!(part.kind, ExprKind::Subquery(_)));
    if asks || calls_volatile(key) || may_fail(key, columns) {
        return None;
    }
    let mut above = key.clone();
    above.replace_columns(&|column| Some(Expr::column(group_of(column)?, columns)));
    Some(above)
}
