//! Pipelines that need the first rows of their scan only: those that end in a sorter with LIMIT, or in the least or greatest value of
//! columns of the scan. Where an index has the order, the scan gives so many rows, and more if they turn out to be too few.

use crate::breakers::lays::row_counts;
use crate::plan_state::PlanState;
use frazil_plan::aggregates::{End, GroupState};
use frazil_plan::breakers::{GroupTable, SortTable};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Source};
use frazil_plan::{AggregateCall, ColumnId};
use frazil_runtime::breakers::{Partial, part_as};
use frazil_runtime::{AggregateTable, Sorter};
use frazil_storage::{OrderColumn, TableScan};
use frazil_types::Result;

/// Rows asked for at first beyond those that are needed: some of them may be filtered out.
const SPARE_ROWS: u64 = 16;
/// By how much more is asked for next.
const GROWTH: u64 = 8;

/// The first rows that a pipeline wants of its scan.
#[derive(Clone, Debug)]
pub struct FirstRows {
    /// One of a sorter; one of each least or greatest value.
    orders: Vec<Vec<OrderColumn>>,
    /// Rows of each order that are asked for.
    rows: u64,
    /// Rows that the sink needs to have, if it is a sorter.
    needed: u64,
    /// Whether operators may drop rows.
    filtered: bool,
}

impl FirstRows {
    /// What a pipeline wants; `None` if it needs all rows. Errors: 2201W, 2201X for a negative LIMIT or OFFSET.
    pub fn of(plan: &PipelinePlan, pipeline: usize, state: &PlanState) -> Result<Option<FirstRows>> {
        let found = &plan.pipelines[pipeline];
        let Some((id, breaker)) = plan.filled(found) else {
            return Ok(None);
        };
        let Some(orders) = orders_of(plan, pipeline).filter(|_| found.operators.iter().all(passes_on)) else {
            return Ok(None);
        };
        let fills = |other: &&Pipeline| other.sink.breaker() == Some(id);
        let mut fillers = plan.pipelines.iter().filter(fills);
        if fillers.nth(1).is_some() {
            return Ok(None);
        }
        let needed = match breaker.sorter() {
            Some(table) => match row_counts(state.values(), &table.limit, &table.offset)? {
                (Some(limit), offset) if limit > 0 => limit.saturating_add(offset),
                _ => return Ok(None),
            },
            None => 1,
        };
        let filtered = !found.operators.is_empty();
        Ok(Some(FirstRows {
            orders,
            rows: needed.saturating_add(if filtered { SPARE_ROWS } else { 0 }),
            needed,
            filtered,
        }))
    }

    /// The scan for these rows.
    pub(crate) fn restrict(&self, scan: TableScan) -> TableScan {
        scan.with_first_rows(&self.orders, self.rows, self.filtered)
    }

    /// Whether what workers put into the sink is what all rows would have made of it.
    pub fn suffice(&self, partials: &[Box<dyn Partial>]) -> bool {
        let groups: Vec<&AggregateTable> = partials.iter().filter_map(|p| part_as(&**p)).collect();
        if let Some(first) = groups.first() {
            let found = |state: usize| groups.iter().any(|g| g.has_state(state));
            return (0..first.spec().states.len()).all(found);
        }
        let sorters = partials.iter().filter_map(|p| part_as::<Sorter>(&**p));
        sorters.map(|sorter| sorter.pages.rows() as u64).sum::<u64>() >= self.needed
    }

    /// The same with more rows.
    pub fn more(self) -> FirstRows {
        FirstRows {
            rows: self.rows.saturating_add(SPARE_ROWS).saturating_mul(GROWTH),
            ..self
        }
    }
}

/// The orders of which the breaker that a pipeline fills needs the first rows of its scan alone; `None` if it needs all
/// rows.
pub(crate) fn orders_of(plan: &PipelinePlan, pipeline: usize) -> Option<Vec<Vec<OrderColumn>>> {
    let found = &plan.pipelines[pipeline];
    let Source::Scan { columns, .. } = &found.source else {
        return None;
    };
    let place = |id: ColumnId| columns.iter().find(|c| c.0 == id).map(|c| c.1);
    let (_, breaker) = plan.filled(found)?;
    match (breaker.sorter(), breaker.groups()) {
        (Some(table), _) => order_of(table, place).map(|order| vec![order]),
        (_, Some(table)) => ends_of(table, place),
        (None, None) => None,
    }
}

/// Whether an operator only passes rows on, or drops them: it leaves no trace of rows elsewhere.
fn passes_on(operator: &PipelineOperator) -> bool {
    match operator {
        PipelineOperator::Filter(_)
        | PipelineOperator::Map(_)
        | PipelineOperator::Call(_)
        | PipelineOperator::Expand(_) => true,
        PipelineOperator::Probe { kind, .. } => !kind.marks_build_rows(),
    }
}

/// The order of a sorter that has a limit for all rows, up to its first key that is not a column of the scan.
fn order_of(sort: &SortTable, place: impl Fn(ColumnId) -> Option<usize>) -> Option<Vec<OrderColumn>> {
    if sort.groups > 0 || sort.limit.is_none() {
        return None;
    }
    // A column that is not there has no index: rows that are equal in those before it are all wanted.
    let order = sort.keys.iter().map(|key| OrderColumn {
        column: place(key.column).unwrap_or(usize::MAX),
        descending: key.descending,
        nulls_first: Some(key.nulls_first),
    });
    Some(order.collect())
}

/// The orders in which the values of an aggregation without groups come first, if it has least and greatest values of columns
/// alone.
fn ends_of(table: &GroupTable, place: impl Fn(ColumnId) -> Option<usize>) -> Option<Vec<Vec<OrderColumn>>> {
    if !table.groups.is_empty() || table.aggregates.is_empty() {
        return None;
    }
    let end = |(_, call): &(ColumnId, AggregateCall)| {
        let GroupState::End(end) = call.function.info().state else {
            return None;
        };
        let column = call.argument.as_ref()?.as_column();
        let column = place(column.filter(|_| call.filter.is_none())?)?;
        Some(vec![OrderColumn {
            column,
            descending: end == End::Greatest,
            nulls_first: None,
        }])
    };
    table.aggregates.iter().map(end).collect()
}
