//! Grouping sets with an aggregate of distinct values: where rows are many for each group by all columns and the value, they are
//! grouped by these first, and each set from those groups. In each a value comes once, so that it is still there to be counted
//! in coarser ones; all other aggregates come from parts.

use crate::cardinality::Estimator;
use crate::distinct_aggregates::filtered_argument;
use crate::partial_aggregates::{Parts, merged};
use frazil_plan::operators::{Aggregate, GroupingSets};
use frazil_plan::{AggregateCall, ColumnId, Columns, Expr};

/// Rows for each group by all columns from which on several sets are grouped from these groups: below, making them costs more
/// than reading the rows for each set.
pub const ROWS_OF_A_GROUP: f64 = 4.0;

/// Grouping sets of groups in place of rows, and what is computed above them. They stay as they are if that does not pay, and where
/// distinct values are not those of one expression, or an aggregate does not come from parts.
pub fn grouped_first(
    mut sets: GroupingSets,
    columns: &mut Columns,
    estimator: &Estimator<'_>,
) -> (GroupingSets, Vec<(ColumnId, Expr)>) {
    let Some(value) = distinct_value(&sets.all.aggregates) else {
        return (sets, vec![]);
    };
    let mut keys = sets.all.groups.clone();
    keys.extend(sets.all.aggregates.first().map(|a| (a.0, value.clone())));
    let rows = estimator.rows(&sets.all.input, columns);
    if estimator.groups(&keys, rows, columns) * ROWS_OF_A_GROUP > rows {
        return (sets, vec![]);
    }
    for (id, e) in &mut keys {
        let label = columns[*id].label.clone();
        *id = columns.add(label, e.ty, e.nullable);
    }
    let value_id = keys[keys.len() - 1].0;
    let (mut below, mut above, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for (id, call) in sets.all.aggregates {
        let Some(parts) = Parts::of(&call) else {
            let argument = Some(Expr::column(value_id, columns));
            let call = AggregateCall {
                argument,
                filter: None,
                ..call
            };
            above.push((id, call));
            continue;
        };
        let mut values = Vec::with_capacity(parts.calls.len());
        for part in &parts.calls {
            let of_part = columns.add("partial", part.ty, !part.function.counts());
            let of_all = columns.add(part.function.name(), part.ty, true);
            above.push((of_all, merged(part, Expr::column(of_part, columns))));
            below.push((of_part, part.clone()));
            values.push(Expr::column(of_all, columns));
        }
        after.push((id, parts.value(values)));
    }
    for ((_, e), (id, _)) in sets.all.groups.iter_mut().zip(&keys) {
        *e = Expr::column(*id, columns);
    }
    sets.all.aggregates = above;
    sets.all.input = Box::new(Aggregate::above(*sets.all.input, keys, below));
    (sets, after)
}

/// The expression whose distinct values are aggregated; `None` if there are several or none, or an aggregate of all values does
/// not come from parts.
fn distinct_value(aggregates: &[(ColumnId, AggregateCall)]) -> Option<Expr> {
    let mut found: Option<Expr> = None;
    for (_, call) in aggregates {
        if !call.distinct {
            Parts::of(call)?;
            continue;
        }
        if call.argument.is_none() || call.second.is_some() || !call.order.is_empty() {
            return None;
        }
        let value = filtered_argument(&mut call.clone()).ok()?;
        match &found {
            Some(known) if *known != value => return None,
            _ => found = Some(value),
        }
    }
    found
}
