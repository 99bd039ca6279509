//! Group keys that follow from other keys of their aggregation: `group by ip, ip - 1`, `group by day, 1`,
//! `group by moment, extract(minute from moment)`.
//!
//! Such a key does not tell groups apart. A map above the aggregation computes it once for each group, so that rows are
//! hashed and compared by the remaining keys alone. The key must be computed from columns that are keys themselves. It
//! must not fail, because fewer rows ask for it above. Equal values of these columns must be one value: 0 and −0 are a
//! single group, but their reciprocals differ.

use crate::can_fail::may_fail;
use crate::pushdown::take;
use crate::volatile::calls_volatile;
use frazil_plan::operators::{Aggregate, Map};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, Operator, Plan};
use frazil_types::LogicalType;

/// Moves keys that follow from others above their aggregation.
pub fn plan(plan: &mut Plan) {
    let (trees, columns) = plan.trees_mut();
    trees.for_each(|tree| operator(tree, columns));
}

fn operator(op: &mut Operator, columns: &Columns) {
    op.inputs_mut()
        .into_iter()
        .for_each(|input| operator(input, columns));
    let Operator::Aggregate(aggregate) = op else {
        return;
    };
    let derived = take_derived(aggregate, columns);
    if !derived.is_empty() {
        *op = Map::above(take(op), derived);
    }
}

/// Takes the keys that follow from others out of an aggregation, as expressions over those that are left. At least one
/// key is left: an aggregation without keys has a group even if it has no rows.
fn take_derived(aggregate: &mut Aggregate, columns: &Columns) -> Vec<(ColumnId, Expr)> {
    let mut known: Vec<(ColumnId, ColumnId)> = vec![];
    for (made, key) in &aggregate.groups {
        if let Some(column) = key.as_column()
            && equal_is_same(key.ty)
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

/// True if values of a type that are equal are the same in every respect, so that functions give one value for all of
/// them.
fn equal_is_same(ty: LogicalType) -> bool {
    match ty {
        LogicalType::Boolean
        | LogicalType::SmallInt
        | LogicalType::Integer
        | LogicalType::BigInt
        | LogicalType::Decimal { .. }
        | LogicalType::Date
        | LogicalType::Time(_)
        | LogicalType::Timestamp(_)
        | LogicalType::TimestampTz(..)
        | LogicalType::Varchar(_)
        | LogicalType::Text
        | LogicalType::Uuid
        | LogicalType::Bytea
        | LogicalType::Enum(_)
        | LogicalType::Oid
        | LogicalType::Name
        | LogicalType::Regclass
        | LogicalType::Regtype
        | LogicalType::Regproc
        | LogicalType::Regnamespace
        | LogicalType::Regprocedure
        | LogicalType::Regoperator
        | LogicalType::Tid
        | LogicalType::Xid
        | LogicalType::Cid => true,
        // 0 and −0; 1.0 and 1.00; a month and 30 days; blanks at the end; and what is made of such values.
        LogicalType::Real
        | LogicalType::Double
        | LogicalType::Numeric
        | LogicalType::Interval
        | LogicalType::Char(_)
        | LogicalType::Json
        | LogicalType::Jsonb
        | LogicalType::JsonPath
        | LogicalType::Array(_)
        | LogicalType::Record
        | LogicalType::InternalChar => false,
    }
}
